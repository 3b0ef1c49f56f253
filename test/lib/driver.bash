# SPDX-License-Identifier: Apache-2.0
# For tests with a simulated driver, after `load ../lib/common`. Each file gets a mount namespace
# with a /run of its own, so that several drivers, locks and containers never meet:
#   namespace_start            NAMESPACE, the process that keeps it; inside COMMAND... runs in it
#   driver_start PROFILE       a driver root at $DRIVER (GPUPOOL_DRIVER_ROOT is set)
#   driver_fault ARGS...       `simdriver fault` on it
#   namespace_stop             ends all of it
#   nothing_left               no directory, runtime state, process or cgroup of a container is left
#   wait_for SECONDS COMMAND   until it succeeds
# needs_containers skips a test where this machine cannot make containers.
SIMDRIVER=$BUILD/simdriver/simdriver
DRIVER=/run/driver
export GPUPOOL_DRIVER_ROOT=$DRIVER

namespace_start() {
	local ready=$BATS_FILE_TMPDIR/ready
	rm -f "$ready"
	cgroups_empty >"$BATS_FILE_TMPDIR/cgroups"
	unshare -m --propagation private sh -c '
		mount -t tmpfs -o mode=0755 tmpfs /run && : >"$1" && exec sleep 86400' - "$ready" \
		>/dev/null 2>&1 3>&- &
	NAMESPACE=$!
	export NAMESPACE
	for _ in $(seq 200); do
		[ -e "$ready" ] && return 0
		kill -0 "$NAMESPACE" || return 1
		read -rt 0.05 <> <(:) || true
	done
	return 1
}

inside() {
	nsenter -t "$NAMESPACE" -m --wd="$PWD" -- "$@"
}

driver_start() {
	inside "$SIMDRIVER" start --profile "$1" --root "$DRIVER" 3>&- >/dev/null
}

driver_fault() {
	inside "$SIMDRIVER" fault --root "$DRIVER" "$@" 3>&-
}

namespace_stop() {
	[ -n "${NAMESPACE:-}" ] || return 0
	inside "$SIMDRIVER" stop --root "$DRIVER" >/dev/null 2>&1 || true
	kill "$NAMESPACE" 2>/dev/null || true
	wait "$NAMESPACE" 2>/dev/null || true
	NAMESPACE=
}

wait_for() { # SECONDS COMMAND...
	local limit=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $limit ] || return 1
		read -rt 0.05 <> <(:) || true
	done
}

# Cgroups that no process is in and that were not there before: other test files run meanwhile, and
# theirs have processes, but for a moment.
cgroups_empty() {
	find /sys/fs/cgroup/*/gpupool /sys/fs/cgroup/gpupool -mindepth 1 -type d 2>/dev/null |
		while read -r group; do
			grep -q . "$group/cgroup.procs" 2>/dev/null || echo "$group"
		done
}

cgroups_none_left() {
	! cgroups_empty | grep -vxFf "$BATS_FILE_TMPDIR/cgroups" | grep .
}

nothing_left() {
	inside sh -c 'ls -A /run/gpupool/containers /run/gpupool/runtime 2>/dev/null' | grep -v : | grep . &&
		return 1
	inside grep -F /run/gpupool/ /proc/self/mountinfo && return 1
	wait_for 3 cgroups_none_left || cgroups_none_left
}

needs_containers() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v "${1:-runc}" >/dev/null || skip "needs ${1:-runc}"
	unshare -m true 2>/dev/null || skip "needs mount namespaces (CAP_SYS_ADMIN)"
}
