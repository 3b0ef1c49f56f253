#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# From inside a container, as user 0 and as user 65534, in image host and in an image directory:
# no way leads to a card that was not granted, nor to what says who holds what.
load ../lib/common
load ../lib/driver

ESCAPE=$BUILD/test/lib/escape_probe
DEVICES=/sys/fs/cgroup/devices

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	namespace_start
	driver_start a100-80
	IMAGE=$BATS_FILE_TMPDIR/image
	mkdir -p "$IMAGE/tmp" "$IMAGE/run"
	chmod 1777 "$IMAGE/tmp"
	cp "$ESCAPE" "$IMAGE/probe"
	export IMAGE
	# Reachable by every user, whatever the folders above the build are.
	inside cp "$ESCAPE" /run/probe
}

teardown_file() {
	namespace_stop
}

setup() {
	needs_containers
	cd /
}

# attempt USER IMAGE ARGS...: the probe in a container that holds card 0.
attempt() {
	local user=$1 image=$2 probe=/probe
	shift 2
	[ "$image" != host ] || probe=/run/probe
	run inside env SUDO_UID="$user" SUDO_GID="$user" gpupool run --image "$image" --gpus 1 \
		-- $probe "$@"
	echo "as user $user in $image: $output"
	[ "$status" = 0 ]
}

# Each test body sees every kind of caller and root.
everywhere() { # FUNCTION
	local user image
	for user in 0 65534; do
		for image in host "$IMAGE"; do
			"$1" "$user" "$image"
		done
	done
}

no_descriptors() {
	attempt "$@" descriptors
	[[ $output == *"end of descriptors"* ]]
	not grep -q '^descriptor ' <<<"$output"
}

@test "no descriptor but the three comes in" {
	exec 7</dev/null 9>/dev/null
	everywhere no_descriptors
	exec 7<&- 9>&-
}

no_join() {
	attempt "$@" join $DEVICES/cgroup.procs $DEVICES/tasks /sys/fs/cgroup/cgroup.procs \
		/sys/fs/cgroup/unified/cgroup.procs -- open /run/driver/dev/nvidia5 /dev/nvidia0
	not grep -q '^join .*: done' <<<"$output"
	grep -Eq '^open /run/driver/dev/nvidia5: (EPERM|ENOENT)' <<<"$output"
	grep -q '^open /dev/nvidia0: ENXIO' <<<"$output"
}

@test "nobody leaves the device cgroup" {
	everywhere no_join
}

@test "cgroup v2: user 0 does not leave its group" {
	run nsenter -t "$NAMESPACE" -m -- unshare -m sh -c '
		mount -t cgroup2 none /sys/fs/cgroup || exit 77
		exec "$@"' - "$BIN/gpupool" run --runtime runc --gpus 1 -- /run/probe \
		join /sys/fs/cgroup/cgroup.procs -- open /run/driver/dev/nvidia5 /dev/nvidia0
	echo "$output"
	[ "$status" != 77 ] || skip "cgroup2 cannot be mounted here"
	[ "$status" = 0 ]
	grep -q '^join .*: EROFS' <<<"$output"
	grep -q '^open /run/driver/dev/nvidia5: EPERM' <<<"$output"
	grep -q '^open /dev/nvidia0: ENXIO' <<<"$output"
}

@test "crun: user 0 does not leave its group" {
	needs_containers crun
	run inside gpupool run --runtime crun --gpus 1 -- /run/probe descriptors -- join $DEVICES/cgroup.procs \
		-- remount /sys /dev -- mknod /tmp 5 -- open /run/driver/dev/nvidia5 /dev/nvidia0
	echo "$output"
	[ "$status" = 0 ]
	not grep -Eq '^descriptor|: done' <<<"$output"
	grep -q '^open /run/driver/dev/nvidia5: EPERM' <<<"$output"
	grep -q '^open /dev/nvidia0: ENXIO' <<<"$output"
}

# A second place with the cgroups, as a chroot or another container engine would have one.
@test "nobody leaves the device cgroup through another mount of it" {
	[ -d $DEVICES ] || skip "no cgroup v1 here"
	inside sh -c 'mkdir -p "/run/a place/devices" && mount -t cgroup -o devices none "/run/a place/devices"'
	attempt 0 host join "/run/a place/devices/cgroup.procs" -- open /run/driver/dev/nvidia5
	inside umount "/run/a place/devices"
	grep -q '^join .*: EROFS' <<<"$output"
	grep -q '^open /run/driver/dev/nvidia5: EPERM' <<<"$output"
}

@test "control: with its cgroups left writable, user 0 reaches another card" {
	[ -d $DEVICES ] || skip "no cgroup v1 here"
	# A bind of the file itself keeps its own flags: what the product would look like without its cure.
	inside sh -c ': >/run/way-out && mount --bind '$DEVICES'/cgroup.procs /run/way-out'
	run inside sh -c 'exec 3>&-; unshare -m --propagation unchanged sh -c "
		mkdir '$DEVICES'/gpupool-control; echo \$\$ >'$DEVICES'/gpupool-control/cgroup.procs
		echo c 195:5 rwm >'$DEVICES'/gpupool-control/devices.deny
		/run/probe open /run/driver/dev/nvidia5 -- join /run/way-out -- open /run/driver/dev/nvidia5"'
	echo "$output"
	inside umount /run/way-out
	rmdir $DEVICES/gpupool-control
	[ "$(grep '^open' <<<"$output" | paste -sd' ')" = \
		"open /run/driver/dev/nvidia5: EPERM open /run/driver/dev/nvidia5: ENXIO" ]
}

no_write() {
	attempt "$@" write /proc/sysrq-trigger x /proc/sys/kernel/core_pattern '|/bin/false' \
		/proc/sys/kernel/modprobe /bin/false /sys/kernel/uevent_helper /bin/false \
		/sys/fs/cgroup/memory/release_agent /bin/false \
		/sys/fs/cgroup/memory/notify_on_release 1 /sys/power/state x \
		/sys/devices/system/cpu/cpu1/online 1 /sys/kernel/mm/ksm/run 1 \
		/sys/bus/pci/rescan 1
	not grep -q ': done' <<<"$output"
}

@test "nobody writes into the kernel's files" {
	everywhere no_write
}

@test "nobody changes who holds what" {
	local fifo=$BATS_TEST_TMPDIR/fifo id
	run inside gpupool run --gpus 1 -- sh -c '
		find /run/gpupool/containers /run/gpupool/runtime -mindepth 1 2>&1
		touch /run/gpupool/containers/x /run/gpupool/runtime/x 2>&1
		stat -c "%F" /run/gpupool/lock'
	echo "$output"
	[ "$(grep -c 'Read-only file system' <<<"$output")" = 2 ]
	not grep -q '^/run/gpupool' <<<"$output"
	[[ $output == *"character special file"* ]]
}

@test "another user cannot hold the lock of the pool" {
	inside gpupool run -- true
	run inside setpriv --reuid 65534 --regid 65534 --clear-groups flock -n /run/gpupool/lock true
	[ "$status" != 0 ]
	[[ $output == *"Permission denied"* ]]
}

no_remount() {
	attempt "$@" remount /sys $DEVICES /dev /proc /proc/sys -- mounts -- mknod /tmp 5
	not grep -q ': done' <<<"$output"
}

@test "nobody mounts, unmounts or makes a node" {
	everywhere no_remount
}

# Full rights over one's own namespaces: what counts must be locked even then.
no_userns() {
	attempt "$@" userns -- remount /sys $DEVICES /dev /proc/sys -- devices -- mknod /tmp 5 -- \
		open /run/driver/dev/nvidia5 /dev/nvidia0
	not grep -Eq '^(remount|umount|allow|join|mknod) .*: done' <<<"$output"
	grep -Eq '^open /run/driver/dev/nvidia5: (EPERM|ENOENT)' <<<"$output"
	grep -q '^open /dev/nvidia0: ENXIO' <<<"$output"
}

@test "a user namespace gives nothing" {
	everywhere no_userns
}

@test "processes of the host can be neither seen nor traced" {
	local outside=$BASHPID
	for user in 0 65534; do
		run inside env SUDO_UID=$user SUDO_GID=$user gpupool run -- sh -c "
			ls -d /proc/[0-9]* | wc -l; /run/probe trace $outside; ls /proc/$outside/fd"
		echo "$output"
		[[ $output == *"trace $outside: ESRCH"* ]]
		[[ $output == *"/proc/$outside/fd"*"No such file"* ]]
	done
}

@test "setuid programs give no rights" {
	inside sh -c 'cp "$(command -v id)" /run/setuid-id && chmod 4755 /run/setuid-id'
	run inside setpriv --reuid 65534 --regid 65534 --clear-groups /run/setuid-id -u
	[ "$output" = 0 ] # control: the file works outside
	run inside env SUDO_UID=65534 SUDO_GID=65534 gpupool run -- /run/setuid-id -u
	echo "$output"
	[ "${lines[-1]}" = 65534 ]
}

@test "no key press is put into the caller's terminal" {
	command -v script >/dev/null || skip "needs script(1)"
	for user in 0 65534; do
		run inside env SUDO_UID=$user SUDO_GID=$user script -qec \
			"$BIN/gpupool run -- /run/probe type" /dev/null
		output=${output//$'\r'/}
		echo "$output"
		[ "$(grep -Ec '^(type|take) .*: (EPERM|EIO|EINVAL)$' <<<"$output")" = 3 ]
	done
}

@test "with another's directory as the image, nothing of the host is in sight" {
	run inside gpupool run --image "$IMAGE" -- /probe open /run/driver/dev/nvidia0 \
		/proc/1/root/run/driver/dev/nvidia0 /sys/fs/cgroup/devices /dev/vda /dev/mem
	echo "$output"
	[ "$(grep -c ': ENOENT' <<<"$output")" = 5 ]
}
