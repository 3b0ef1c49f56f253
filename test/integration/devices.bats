#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# No container can open a card that it was not granted: asked from inside, of the kernel.
load ../lib/common
load ../lib/driver

PROBE=$BUILD/test/lib/device_probe
CARDS=8

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	namespace_start
	driver_start a100-80
	# An image root that holds nothing but the probe.
	IMAGE=$BATS_FILE_TMPDIR/image
	mkdir -p "$IMAGE/tmp"
	cp "$PROBE" "$IMAGE/probe"
	export IMAGE
}

teardown_file() {
	namespace_stop
}

# devices_check OUTPUT MINOR...: every one of the 8 cards is reached exactly if it is in the list.
devices_check() {
	local output=$1 minor answer wrong=0
	shift
	for ((minor = 0; minor < CARDS; minor++)); do
		answer=$(grep -E "^(/dev/nvidia$minor|195:$minor) " <<<"$output" | head -1 | cut -d' ' -f2)
		case " $* " in
		*" $minor "*) [[ $answer == ENXIO || $answer == OK ]] || wrong=1 ;;
		*) [[ $answer == EPERM || $answer == ENOENT ]] || wrong=1 ;;
		esac
		[ $wrong = 0 ] || { echo "card minor $minor answered '$answer', granted: $*"; return 1; }
	done
}

paths() {
	local minor
	for ((minor = 0; minor < CARDS; minor++)); do echo "/dev/nvidia$minor"; done
}

as_shipped() { # RUNTIME
	local output
	output=$(inside gpupool run --runtime "$1" --image "$IMAGE" --gpus 2 -- \
		/probe open $(paths) -- nodes / -- status)
	echo "$output"
	devices_check "$output" 0 1
	[ "$(grep -c '^/.* 195:[0-7]$' <<<"$output")" = 2 ]
	grep -q '^CapEff:.*0000000000000000' <<<"$output"
	grep -q '^NoNewPrivs:.*1' <<<"$output"
}

# The product's own spec, with CAP_MKNOD and `c *:* m` added, as a hostile tenant would want it.
spec_with_mknod() { # RUNTIME BUNDLE [JQ-FILTER]
	local fifo=$BATS_TEST_TMPDIR/fifo out=$BATS_TEST_TMPDIR/hold holder
	mkdir -p "$2/rootfs/tmp"
	cp "$PROBE" "$2/rootfs/probe"
	mkfifo "$fifo"
	inside gpupool run --runtime "$1" --image "$IMAGE" --gpus 2 -- /probe hold \
		<"$fifo" >"$out" 2>&1 3>&- &
	holder=$!
	exec 8>"$fifo"
	timeout 20 sh -c 'until grep -qs holding "$1"; do read -t 1 _ || :; done </dev/zero' - "$out" ||
		{ cat "$out"; return 1; }
	inside sh -c 'cat /run/gpupool/containers/*/config.json' | jq --arg root "$2/rootfs" '
		.root.path = $root | .linux.cgroupsPath = "/gpupool-test" |
		.process.capabilities = (["bounding", "effective", "permitted"] |
			map({key: ., value: ["CAP_MKNOD"]}) | from_entries) |
		.process.args = ["/probe", "mknod", "/tmp", "0", "1", "2", "3", "4", "5", "6", "7"] |
		.linux.resources.devices += [{"allow": true, "type": "c", "access": "m"}] |
		'"${3:-.}" >"$2/config.json"
	exec 8>&-
	wait "$holder"
}

with_mknod() { # RUNTIME
	local output
	spec_with_mknod "$1" "$BATS_TEST_TMPDIR/bundle"
	output=$(run_bundle "$1" "$BATS_TEST_TMPDIR/bundle")
	echo "$output"
	devices_check "$output" 0 1
	not grep -q mknod <<<"$output" # the node itself could be made: only the rule said no
}

# The runtime in a mount namespace of its own, as gpupool calls it.
run_bundle() { # RUNTIME BUNDLE
	nsenter -t "$NAMESPACE" -m -- unshare -m sh -c '
		case $1 in crun) mount -t tmpfs tmpfs /sys/fs/cgroup/unified 2>/dev/null ;; esac
		exec "$1" --root /run/test-state run --bundle "$2" mknod-test' - "$1" "$2"
}

@test "runc: as shipped, exactly the granted cards open" {
	needs_containers runc
	as_shipped runc
}

@test "crun: as shipped, exactly the granted cards open" {
	needs_containers crun
	as_shipped crun
}

@test "runc: with CAP_MKNOD and every mknod allowed, only the granted cards open" {
	needs_containers runc
	with_mknod runc
}

@test "crun: with CAP_MKNOD and every mknod allowed, only the granted cards open" {
	needs_containers crun
	with_mknod crun
}

@test "control: an extra device rule turns the check red" {
	needs_containers runc
	spec_with_mknod runc "$BATS_TEST_TMPDIR/bundle" \
		'.linux.resources.devices += [{"allow": true, "type": "c", "major": 195, "minor": 5, "access": "rw"}]'
	run devices_check "$(run_bundle runc "$BATS_TEST_TMPDIR/bundle")" 0 1
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"minor 5 answered 'ENXIO'"* ]]
}

@test "control: a swapped card turns the check red" {
	needs_containers runc
	local output
	output=$(inside gpupool run --runtime runc --image "$IMAGE" --gpus 2 -- /probe open $(paths))
	not devices_check "$output" 0 2
}

@test "no grant, no node, whatever the environment says" {
	needs_containers runc
	local manifest=$BATS_TEST_TMPDIR/pod.yaml
	cat >"$manifest" <<-EOF
		apiVersion: v1
		kind: Pod
		metadata: {name: wants-all}
		spec:
		  containers:
		  - name: main
		    image: any
		    command: [/probe, open, $(paths | paste -sd,), /dev/nvidiactl, --, nodes, /]
		    env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
	EOF
	run inside gpupool apply --image "$IMAGE" -f "$manifest"
	echo "$output"
	[ "$status" = 0 ]
	[ "$(grep -c ENOENT <<<"$output")" = 9 ]
	not grep -q ' 195:' <<<"$output"
	grep -q '^end of nodes' <<<"$output"
}

@test "image host: a node that lies elsewhere on the disk is refused" {
	needs_containers runc
	inside mknod -m 666 /run/stray0 c 195 0
	inside mknod -m 666 /run/stray5 c 195 5
	run inside gpupool run --gpus 1 -- "$PROBE" open /run/stray0 /run/stray5 -- nodes /dev
	echo "$output"
	[ "$status" = 0 ]
	grep -q '^/run/stray0 ENXIO' <<<"$output"
	grep -q '^/run/stray5 EPERM' <<<"$output"
	[ "$(grep -c '^/dev/nvidia[0-7] 195' <<<"$output")" = 1 ]
}

@test "cgroup v2: runc's program lets the granted cards through and no other" {
	needs_containers runc
	run nsenter -t "$NAMESPACE" -m -- unshare -m sh -c '
		mount -t cgroup2 none /sys/fs/cgroup || exit 77
		exec "$@"' - "$BIN/gpupool" run --runtime runc --image "$IMAGE" --gpus 2 -- \
		/probe open $(paths)
	echo "$output"
	[ "$status" != 77 ] || skip "cgroup2 cannot be mounted here"
	[ "$status" = 0 ]
	devices_check "$output" 0 1
}

@test "cgroup v2: crun" {
	needs_containers crun
	run nsenter -t "$NAMESPACE" -m -- unshare -m sh -c '
		mount -t cgroup2 none /sys/fs/cgroup || exit 77
		exec "$@"' - "$BIN/gpupool" run --runtime crun --image "$IMAGE" --gpus 2 -- \
		/probe open $(paths)
	echo "$output"
	[ "$status" = 0 ] || skip "crun on v2 is not allowed here: $(tail -1 <<<"$output")"
	devices_check "$output" 0 1
}
