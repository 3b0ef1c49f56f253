# SPDX-License-Identifier: Apache-2.0
# For tests with a simulated driver, after `load ../lib/common`. Each file gets a mount namespace
# with a /run of its own, so that several drivers, locks and containers never meet:
#   namespace_start            NAMESPACE, the process that keeps it; inside COMMAND... runs in it
#   driver_start PROFILE       a driver root at $DRIVER (GPUPOOL_DRIVER_ROOT is set)
#   driver_fault ARGS...       `simdriver fault` on it
#   namespace_stop             ends all of it
# needs_containers skips a test where this machine cannot make containers.
SIMDRIVER=$BUILD/simdriver/simdriver
DRIVER=/run/driver
export GPUPOOL_DRIVER_ROOT=$DRIVER

namespace_start() {
	local ready=$BATS_FILE_TMPDIR/ready
	rm -f "$ready"
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

needs_containers() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v "${1:-runc}" >/dev/null || skip "needs ${1:-runc}"
	unshare -m true 2>/dev/null || skip "needs mount namespaces (CAP_SYS_ADMIN)"
}
