#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# MIG on the simulated driver, from nvidia-smi to a container of runc: what is created is in the inventory, and a
# container that got one instance can open, see and use that one alone.
load ../lib/common
load ../lib/driver
load ../lib/roots
bats_require_minimum_version 1.5.0

TOOL=$BUILD/test/lib/cdi_tool
WRAPPER=$BIN/gpupool-runtime

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	namespace_start
	driver_start a100-80
}

teardown_file() {
	namespace_stop
}

setup() {
	needs_containers runc
	cd "$BATS_TEST_TMPDIR"
	export NVIDIA_CTK_CONFIG_FILE_PATH=$PWD/none.toml GPUPOOL_CONFIG=$PWD/config.yaml
	BUNDLE=$PWD/bundle
	layout off
}

layout() { # LAYOUT [CARD]
	inside "$SIMDRIVER" mig --root "$DRIVER" "$1" --card "${2:-1}" 3>&-
}

smi() {
	inside env LD_LIBRARY_PATH="$DRIVER/usr/lib/x86_64-linux-gnu" "$DRIVER/usr/bin/nvidia-smi" "$@" 3>&-
}

inventory() { # a jq filter on it
	inside gpupool inventory --json | jq -r "$1"
}

# instances: "INDEX PROFILE GPU-INSTANCE COMPUTE-INSTANCE GPU-MINOR COMPUTE-MINOR" of card 1.
instances() {
	inventory '.cards[1].instances[] | "\(.index) \(.profile) \(.gpuInstance) \(.computeInstance) \(.gpuMinor) \(.computeMinor)"'
}

mig_uuid() { # INDEX
	inventory ".cards[1].instances[$1].uuid"
}

# A root with a C library, where a CUDA program and nvidia-smi run.
image() {
	root_distroless
	[ -n "${IMAGE:-}" ] || IMAGE=$ROOTS/distroless
	put "$PROBES"/cuda_probe /
}

@test "nvidia-smi makes and destroys instances, in the words of the real one" {
	run -0 smi -i 1 -mig 1
	[ "${lines[0]}" = "Enabled MIG Mode for GPU 00000000:0F:00.0" ]
	run -0 smi mig -cgi 9,2g.20gb:0,19 -C -i 1
	[ "${lines[0]}" = "Successfully created GPU instance ID  1 on GPU  1 using profile MIG 3g.40gb (ID  9)" ]
	[ "${lines[1]}" = "Successfully created compute instance ID  0 on GPU  1 GPU instance ID  1 using profile MIG 3g.40gb (ID  2)" ]
	[ "${lines[2]}" = "Successfully created GPU instance ID  5 on GPU  1 using profile MIG 2g.20gb (ID 14)" ]
	[ "${lines[4]}" = "Successfully created GPU instance ID 13 on GPU  1 using profile MIG 1g.10gb (ID 19)" ]
	run -0 smi mig -lgi
	[ "${lines[5]}" = "|   1  MIG 3g.40gb          9        1          4:4     |" ]
	[ "${lines[7]}" = "|   1  MIG 2g.20gb         14        5          0:2     |" ]
	run -0 smi mig -lgipp
	grep -qx 'GPU  1 Profile ID  9 Placements: {0,4}:4' <<<"$output"
	grep -qx 'GPU  1 Profile ID  0 Placement : {0}:8' <<<"$output"
	run -0 smi mig -lgip
	grep -qF '|   1  MIG 1g.10gb       19     1/7        9.62       No     14     0     0   |' <<<"$output"
	run -23 smi mig -cgi 9 -C
	[ "${lines[0]}" = "Unable to create a GPU instance on GPU  1 using profile 9: Insufficient Resources" ]
	run -19 smi mig -dgi -gi 13
	[ "${lines[0]}" = "Unable to destroy GPU instance ID 13 from GPU  1: In use by another client" ]
	run -0 smi mig -dci -gi 13
	[ "${lines[0]}" = "Successfully destroyed compute instance ID  0 from GPU  1 GPU instance ID 13" ]
	run -0 smi mig -dgi -gi 13
	[ "${lines[0]}" = "Successfully destroyed GPU instance ID 13 from GPU  1" ]
	run -0 smi -i 1 -L
	[ "${#lines[@]}" = 3 ]
	[[ ${lines[1]} == "  MIG 3g.40gb     Device  0: (UUID: MIG-"*")" ]]
	run -0 smi -i 1 -mig 0
	[[ ${lines[0]} == "Warning: MIG mode is in pending disable state for GPU 00000000:0F:00.0:In use by another client" ]]
	smi mig -dci >/dev/null
	smi mig -dgi >/dev/null
	run -6 smi mig -lgi
	[ "$output" = "No GPU instances found: Not Found" ]
	run -0 smi -i 1 -mig 0
	run -6 smi mig -lgi
	[ "$output" = "No MIG-enabled devices found." ]
}

@test "instances are in the inventory, with the nodes that the module names, and changes of the layout are seen" {
	local before after index profile gi ci gpu compute
	before=$(inventory .migGeneration)
	layout '3g.40gb,1g.10gb*2'
	run -0 instances
	[ "${#lines[@]}" = 3 ]
	while read -r index profile gi ci gpu compute; do
		inside grep -qx "gpu1/gi$gi/access $gpu" "$DRIVER/proc/driver/nvidia-caps/mig-minors"
		inside grep -qx "gpu1/gi$gi/ci$ci/access $compute" "$DRIVER/proc/driver/nvidia-caps/mig-minors"
		inside test -c "$DRIVER/dev/nvidia-caps/nvidia-cap$gpu"
		inside test -c "$DRIVER/dev/nvidia-caps/nvidia-cap$compute"
	done <<<"$output"
	[ "$(inventory '[.cards[].instances // [] | length] | add')" = 3 ]
	[ "$(inventory '.cards[1] | .mode + " " + (.migEnabled | tostring)')" = "mig true" ]
	diff <(inventory '.cards[1].instances[].uuid') \
		<(smi -L | sed -n 's/.*Device .*(UUID: \(MIG-.*\))/\1/p')
	run -0 inside gpupool inventory
	grep -qE "^1:0 +3g.40gb +$(mig_uuid 0) +1 +0\$" <<<"$output" || { echo "$output"; false; }
	after=$(inventory .migGeneration)
	[ "$before" != "$after" ]
	layout '1g.10gb*2'
	[ "$(inventory .migGeneration)" != "$after" ]
	layout '3g.40gb,1g.10gb*2'
	[ "$(inventory .migGeneration)" = "$after" ]
	layout off
	[ "$(inventory .migGeneration)" = "$before" ]
}

@test "a list of cards of before a change is not believed, and what is gone is refused" {
	layout '1g.10gb*2'
	local gone
	gone=$(mig_uuid 1)
	inside gpupool inventory >/dev/null
	layout '1g.10gb'
	image
	bundle_with "$gone"
	run -1 inside "$WRAPPER" --root /run/mig-state run --bundle "$BUNDLE" mig
	echo "$output"
	[[ $output == *"$gone"* ]]
}

# bundle_with DEVICES COMMAND...: a bundle that asks for them by variable.
bundle_with() {
	local devices=$1
	shift
	mkdir -p "$BUNDLE"
	rm -f "$BUNDLE/config.json"
	(cd "$BUNDLE" && runc spec)
	jq --arg root "$IMAGE" --arg devices "$devices" '.root = {path: $root} | .process.terminal = false |
		.process.args = $ARGS.positional | .linux.cgroupsPath = "/gpupool-mig" |
		.process.env += ["NVIDIA_VISIBLE_DEVICES=" + $devices, "NVIDIA_DRIVER_CAPABILITIES=compute,utility"]' \
		"$BUNDLE/config.json" --args -- "${@:-/nothing}" >"$BUNDLE/changed"
	mv "$BUNDLE/changed" "$BUNDLE/config.json"
}

by_wrapper() {
	inside gpupool inventory >/dev/null
	bundle_with "$@"
	inside "$WRAPPER" --root /run/mig-state run --bundle "$BUNDLE" "mig-$BATS_TEST_NUMBER" 3>&-
}

@test "a container that asks for one instance sees, opens and uses that one alone" {
	image
	layout '3g.40gb,1g.10gb*2'
	local uuid own others
	uuid=$(mig_uuid 1)
	run -0 by_wrapper "$uuid" /usr/bin/nvidia-smi -L
	echo "$output"
	[ "${#lines[@]}" = 2 ]
	[ "${lines[1]}" = "  MIG 1g.10gb     Device  0: (UUID: $uuid)" ]
	run -0 by_wrapper 1:1 /usr/bin/nvidia-smi -L
	[ "${lines[1]}" = "  MIG 1g.10gb     Device  0: (UUID: $uuid)" ]
	run -0 by_wrapper "$uuid" /usr/bin/nvidia-smi
	grep -qF '0MiB /  9856MiB' <<<"$output"
	grep -qF '|                  N/A |     N/A' <<<"$output" # of the card it is not told
	[ "$(grep -c MiB <<<"$output")" = 1 ]
	run -0 by_wrapper "$uuid" /cuda_probe alloc-until-fail
	echo "$output"
	[ "$(jq -r .total <<<"${lines[-1]}")" = $((9856 << 20)) ]

	# The nodes themselves: those of the instance, of its card, and no other of either.
	own=$(instances | awk '$1 == 1 { print $5, $6 }')
	others=$(instances | awk '$1 != 1 { print $5, $6 }' | xargs)
	run -0 by_wrapper "$uuid" /device_probe open $(printf '/dev/nvidia-caps/nvidia-cap%s ' $own $others) /dev/nvidia{0..7}
	echo "$output"
	for node in $own; do grep -qE "^/dev/nvidia-caps/nvidia-cap$node (ENXIO|OK)$" <<<"$output"; done
	for node in $others; do grep -qx "/dev/nvidia-caps/nvidia-cap$node ENOENT" <<<"$output"; done
	[ "$(grep -cE '^/dev/nvidia[0-7] (ENXIO|OK)$' <<<"$output")" = 1 ]
}

@test "another instance's node, brought into the container, is refused by the kernel, and gives no instance" {
	image
	layout '3g.40gb,1g.10gb*2'
	local uuid other node mounts=
	uuid=$(mig_uuid 1)
	other=$(mig_uuid 2)
	inside gpupool inventory >/dev/null
	for node in $(instances | awk '$1 == 2 { print $5, $6 }'); do
		inside chmod 0666 "$DRIVER/dev/nvidia-caps/nvidia-cap$node" # only the kernel's rule is left
		mounts+="{destination: \"/dev/nvidia-caps/nvidia-cap$node\", type: \"bind\", options: [\"bind\"],
			source: \"$DRIVER/dev/nvidia-caps/nvidia-cap$node\"},"
	done
	bundle_with "$uuid" /device_probe open $(instances | awk '{ print "/dev/nvidia-caps/nvidia-cap" $5 }')
	jq ".mounts += [${mounts%,}]" "$BUNDLE/config.json" >"$BUNDLE/changed"
	mv "$BUNDLE/changed" "$BUNDLE/config.json"
	cp "$BUNDLE/config.json" smuggled.json
	run -0 inside "$WRAPPER" --root /run/mig-state run --bundle "$BUNDLE" mig-smuggled
	echo "$output"
	grep -qx "/dev/nvidia-caps/nvidia-cap$(instances | awk '$1 == 2 { print $5 }') EPERM" <<<"$output"
	grep -qE "^/dev/nvidia-caps/nvidia-cap$(instances | awk '$1 == 1 { print $5 }') (ENXIO|OK)$" <<<"$output"

	jq '.process.args = ["/usr/bin/nvidia-smi", "-L"]' smuggled.json >"$BUNDLE/config.json"
	run -0 inside "$WRAPPER" --root /run/mig-state run --bundle "$BUNDLE" mig-smuggled
	[ "${lines[1]}" = "  MIG 1g.10gb     Device  0: (UUID: $uuid)" ]
	[ "${#lines[@]}" = 2 ]
	jq --arg other "$other" '.process.args = ["/cuda_probe", "alloc", "1000"] |
		.process.env += ["CUDA_VISIBLE_DEVICES=" + $other]' smuggled.json >"$BUNDLE/config.json"
	run inside "$WRAPPER" --root /run/mig-state run --bundle "$BUNDLE" mig-smuggled
	echo "$output"
	[ "$status" != 0 ]
}

# contained DEVICE COMMAND...: a container that got the CDI device, without wrapper.
contained() {
	local device=$1
	shift
	runc spec --bundle .
	jq '.process.args = $ARGS.positional | .process.terminal = false | .root.readonly = false
		| .mounts |= map(select(.type != "cgroup"))' config.json --args -- "$@" >base.json
	inside "$TOOL" inject base.json specs "$device" >given.json
	run_bundle runc "$IMAGE" given.json
}

@test "the CDI device of an instance does the same" {
	image
	layout '3g.40gb,1g.10gb*2'
	mkdir -p specs
	inside gpupool cdi generate --output specs/nvidia.yaml
	local uuid
	uuid=$(mig_uuid 0)
	run -0 contained "nvidia.com/gpu=$uuid" /usr/bin/nvidia-smi -L
	echo "$output"
	[ "${lines[1]}" = "  MIG 3g.40gb     Device  0: (UUID: $uuid)" ]
	[ "${#lines[@]}" = 2 ]
	rm -f config.json
	run -0 contained "nvidia.com/gpu=1:2" /device_probe open \
		$(instances | awk '{ print "/dev/nvidia-caps/nvidia-cap" $6 }')
	[ "$(grep -cE ' (ENXIO|OK)$' <<<"$output")" = 1 ]
	[ "$(grep -c ENOENT <<<"$output")" = 2 ]
	layout '1g.10gb'
	run inside gpupool cdi diff specs/nvidia.yaml
	echo "$output"
	[ "$status" != 0 ]
	grep -qF "$uuid" <<<"$output"
}

@test "a program has one MIG device: by UUID, by the old name, or the first; a card in MIG mode is none" {
	layout '3g.40gb,1g.10gb' 1
	local uuid card
	uuid=$(mig_uuid 1)
	card=$(inventory '.cards[1].uuid')
	total() { # CUDA_VISIBLE_DEVICES
		inside env LD_LIBRARY_PATH="$DRIVER/usr/lib/x86_64-linux-gnu" CUDA_VISIBLE_DEVICES="$1" \
			"$BUILD/test/lib/cuda_probe" alloc 1048576 | jq -r .total
	}
	[ "$(total "$uuid")" = $((9856 << 20)) ]
	[ "$(total "MIG-$card/$(instances | awk '$1 == 1 { print $3 }')/0")" = $((9856 << 20)) ]
	[ "$(total "$(mig_uuid 0),$uuid")" = $((40192 << 20)) ]
	[ "$(total 1)" = $((40192 << 20)) ]
	[ "$(total 0)" = $((81050 << 20)) ]
	run inside env LD_LIBRARY_PATH="$DRIVER/usr/lib/x86_64-linux-gnu" CUDA_VISIBLE_DEVICES="$card" \
		"$BUILD/test/lib/cuda_probe" alloc 1048576
	[ "$status" != 0 ]
}

@test "an XID of an instance names it, in NVML's event and in the kernel's log" {
	layout '1g.10gb*2'
	mkfifo life
	inside env GPUPOOL_NVML_HELPER="$BIN/gpupool-nvml" "$BUILD/test/lib/events_probe" --root "$DRIVER" <life >seen 3>&- &
	exec 7>life
	mkfifo life2
	inside "$BUILD/test/lib/events_probe" --root "$DRIVER" --kmsg <life2 >logged 3>&- &
	exec 8>life2
	wait_for 5 grep -qx 'ready count=8' seen
	wait_for 5 grep -qx open logged
	driver_fault xid --xid 94 --card 1 --instance 7/0
	wait_for 5 grep -qE '^xid index=1 uuid=GPU-.* gi=7 ci=0 data=94$' seen
	wait_for 5 grep -qE '^xid bus=0000:0f:00.0 gi=7 ci=0 data=94 text=pid=' logged
	driver_fault hang --card 1
	driver_fault xid --xid 62 --card 1
	wait_for 5 grep -qE '^xid bus=0000:0f:00.0 data=62 ' logged # also while the driver hangs
	driver_fault recover
	layout '1g.10gb'
	wait_for 5 grep -qE '^mig index=1 uuid=GPU-' seen
	exec 7>&- 8>&-
}

@test "a driver that starts with a layout, and one that is unloaded: its instances are gone" {
	local root=$PWD/second
	inside unshare -m sh -c '
		mount -t tmpfs tmpfs /run/nvidia-persistenced
		"$1" start --root "$2" --profile a100-80 --mig 0=1g.10gb*7 --mig 3=empty >/dev/null &&
		export LD_LIBRARY_PATH="$2/usr/lib/x86_64-linux-gnu"
		"$2/usr/bin/nvidia-smi" -L | grep -c MIG
		"$2/usr/bin/nvidia-smi" --query-gpu=mig.mode.current --format=csv,noheader | grep -c Enabled
		"$1" mig --root "$2" 1g.10gb && "$2/usr/bin/nvidia-smi" -L | grep -c MIG
		"$1" mig --root "$2" 1g.10gb*7 --card 0 && "$1" mig --root "$2" off --card 5
		"$1" fault --root "$2" mismatch; ls "$2/proc/driver/nvidia/capabilities/gpu0/mig" | wc -l
		"$1" fault --root "$2" missing; "$1" fault --root "$2" recover
		"$2/usr/bin/nvidia-smi" -L | grep -c MIG
		ls "$2/proc/driver/nvidia/capabilities/gpu0/mig" | wc -l
		"$1" stop --root "$2" --remove' - "$SIMDRIVER" "$root" >out 2>&1 3>&- || true
	cat out
	[ "$(xargs <out)" = "7 2 8 7 0 0" ]
}
