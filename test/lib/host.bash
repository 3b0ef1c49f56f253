# SPDX-License-Identifier: Apache-2.0
# A host that shows what was written to it, after `load ../lib/driver`: instead of namespace_start
#   host_start       the namespace's root is a layer above this machine's: what anybody writes, renames or deletes
#                    there lands in the layer, and nothing of it on this machine. /dev is a copy, /run is empty;
#                    the tests' own folder and the programs' are as outside.
#   host_mark        remembers the layer, /dev, the mounts and the cgroups named /gpupool-hostile
#   host_changes     prints what differs since host_mark; nothing when nothing does
# can_host says first whether it can be made, or why not in $WHY.
HOST_LAYER=/run/layer

can_host() {
	local try=$BATS_FILE_TMPDIR/try
	mkdir -p "$try"
	WHY=$(unshare -m --propagation private sh -ec '
		mount -t tmpfs tmpfs "$1"
		mkdir "$1/upper" "$1/work" "$1/root"
		mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" overlay "$1/root"' - "$try" 2>&1) ||
		{ WHY="no layer can be made above the root of this machine: $WHY"; return 1; }
}

host_start() {
	local ready=$BATS_FILE_TMPDIR/ready base=$BATS_FILE_TMPDIR/host
	rm -f "$ready"
	mkdir -p "$base"
	cgroups_empty >"$BATS_FILE_TMPDIR/cgroups"
	unshare -m --propagation private sh -ec '
		ready=$1 base=$2
		shift 2
		mount -t tmpfs -o mode=0755 tmpfs "$base"
		mkdir "$base/upper" "$base/work" "$base/root"
		root=$base/root
		mount -t overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" overlay "$root"
		for path in /proc /sys "$@"; do
			mkdir -p "$root$path"
			mount --rbind "$path" "$root$path"
		done
		mount -t tmpfs -o mode=0755 tmpfs "$root/dev"
		cp -a /dev/. "$root/dev/" 2>/dev/null || :
		mount -t tmpfs -o mode=0755 tmpfs "$root/run"
		mkdir "$root/run/layer" "$root/run/old"
		mount --bind "$base/upper" "$root/run/layer"
		cd "$root"
		pivot_root . run/old
		umount -l /run/old
		rmdir /run/old
		: >/tmp/once && rm /tmp/once # programs may make and delete what they need there
		: >"$ready"
		exec sleep 86400' - "$ready" "$base" "$BATS_RUN_TMPDIR" "$BUILD" "$ROOT" >/dev/null 2>"$ready.errors" 3>&- &
	NAMESPACE=$!
	export NAMESPACE
	for _ in $(seq 200); do
		[ -e "$ready" ] && return 0
		kill -0 "$NAMESPACE" 2>/dev/null || { cat "$ready.errors"; return 1; }
		read -rt 0.05 <> <(:) || true
	done
	return 1
}

host_state() {
	inside sh -c '
		find "$1" -mindepth 1 -printf "layer %P %y %m %U:%G %s %l\n" -type f -exec sha256sum {} +
		find /dev -printf "dev %P %y %m %U:%G %l\n"
		sed "s/^[0-9]* [0-9]* /mount /" /proc/self/mountinfo
		find /sys/fs/cgroup -maxdepth 3 -type d -path "*/gpupool-hostile*" -printf "cgroup %p\n" 2>/dev/null' - $HOST_LAYER | sort
}

host_mark() {
	host_state >"$BATS_TEST_TMPDIR/host"
}

host_changes() {
	host_state | diff "$BATS_TEST_TMPDIR/host" - | grep '^[<>]'
}
