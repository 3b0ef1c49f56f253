#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A CDI spec of a machine's cards, given to real containers of runc and crun without any hook or wrapper: what they can
# open, load and run. The devices are put into the container's spec by our own code; test/peers/cdi.bats compares that
# with the library of containerd.
load ../lib/common
load ../lib/driver
load ../lib/roots
bats_require_minimum_version 1.5.0

TOOL=$BUILD/test/lib/cdi_tool

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	namespace_start
	driver_start mixed
}

teardown_file() {
	namespace_stop
}

setup() {
	needs_containers runc
	cd "$BATS_TEST_TMPDIR"
	mkdir specs
}

# contained RUNTIME IMAGE DEVICES COMMAND...: runs it in a container that has the devices, a comma list, and CAP_MKNOD.
contained() {
	local runtime=$1 image=$2 devices=${3//,/ }
	shift 3
	[ -e base.json ] || runc spec --bundle . && mv config.json base.json 2>/dev/null || true
	jq '.process.args = $ARGS.positional | .process.terminal = false | .root.readonly = false
		| .process.capabilities |= map_values(. + ["CAP_MKNOD"])
		| .mounts |= map(select(.type != "cgroup"))' base.json --args -- "$@" >config.json
	inside "$TOOL" inject config.json specs $devices >given.json || return 1
	run_bundle "$runtime" "$image" given.json
}

generate() { # OPTION...
	inside gpupool cdi generate --output specs/nvidia.yaml "$@"
}

each_runtime() {
	echo runc
	! command -v crun >/dev/null || echo crun
}

# card INDEX: its UUID; minor INDEX: the number of its node.
card() {
	inside gpupool inventory --json | jq -r ".cards[] | select(.index == $1) | .uuid"
}

minor() {
	inside gpupool inventory --json | jq -r ".cards[] | select(.index == $1) | .minor"
}

@test "a container reaches the card that it was given, under each name, and no other" {
	root_distroless
	generate --device-name-strategy index --device-name-strategy uuid --device-name-strategy type-index
	local granted=$(minor 0) name runtime i
	[ "$granted" != 0 ] # index and minor differ on this machine, so neither stands for the other
	for runtime in $(each_runtime); do
		for name in 0 gpu0 "$(card 0)"; do
			contained $runtime "$IMAGE" nvidia.com/gpu=$name /device_probe nodes /dev -- \
				open /dev/nvidiactl /dev/nvidia-uvm -- mknod /dev 0 1 2 3 4 >out
			cat out
			grep -E '^/dev/nvidia[0-9]' out | cut -d' ' -f1 | grep -qx "/dev/nvidia$granted"
			grep -qx '/dev/nvidiactl ENXIO' out
			grep -qx '/dev/nvidia-uvm ENXIO' out
			for i in 0 1 2 3 4; do
				if [ $i = "$granted" ]; then grep -qx "195:$i ENXIO open" out
				else grep -qx "195:$i EPERM open" out; fi
			done
		done
	done
}

@test "two cards, and all of them" {
	root_distroless
	generate
	contained runc "$IMAGE" nvidia.com/gpu=1,nvidia.com/gpu=3 /device_probe mknod /dev 0 1 2 3 4 >out
	cat out
	[ "$(grep -c 'ENXIO open' out)" -eq 2 ]
	grep -qx "195:$(minor 1) ENXIO open" out
	grep -qx "195:$(minor 3) ENXIO open" out
	contained runc "$IMAGE" nvidia.com/gpu=all /device_probe mknod /dev 0 1 2 3 4 >out
	[ "$(grep -c 'ENXIO open' out)" -eq 5 ]
}

@test "other modes: what manages cards, channels, storage, network, copies" {
	root_distroless
	inside sh -c 'mkdir -p /run/driver/dev/nvidia-caps-imex-channels /run/driver/dev/infiniband
		mknod /run/driver/dev/nvidia-caps-imex-channels/channel3 c 195 103
		mknod /run/driver/dev/infiniband/uverbs0 c 195 104; mknod /run/driver/dev/infiniband/rdma_cm c 195 105
		mknod /run/driver/dev/gdrdrv c 195 106; mknod /run/driver/dev/nvidia-fs0 c 195 107'
	local mode
	for mode in management imex mofed gdrcopy gds; do
		inside gpupool cdi generate --mode $mode --output specs/$mode.yaml
	done
	inside gpupool cdi validate specs/*
	contained runc "$IMAGE" nvidia.com/imex-channel=3,nvidia.com/mofed=all,nvidia.com/gdrcopy=all,nvidia.com/gds=all \
		/device_probe mknod /dev 0 1 2 103 104 105 106 107 -- nodes /dev >out
	cat out
	[ "$(grep -c 'ENXIO open' out)" -eq 5 ]
	[ "$(grep -c '195:[012] EPERM open' out)" -eq 3 ]
	grep -qx '/dev/infiniband/uverbs0 195:104' out
	contained runc "$IMAGE" management.nvidia.com/gpu=all /device_probe mknod /dev 0 1 2 3 4 103 104 106 107 -- \
		open /dev/nvidia-caps/nvidia-cap1 /dev/nvidiactl >out
	cat out
	[ "$(grep -c '195:[01234] ENXIO open' out)" -eq 5 ]
	grep -qx '195:103 ENXIO open' out
	grep -qx '195:104 EPERM open' out
	grep -qx '/dev/nvidia-caps/nvidia-cap1 ENXIO' out
	inside sh -c 'rm -r /run/driver/dev/nvidia-caps-imex-channels /run/driver/dev/infiniband /run/driver/dev/gdrdrv /run/driver/dev/nvidia-fs0'
	run inside gpupool cdi diff --spec-dir specs
	[ "$status" -eq 1 ]
	[[ $output == *"specs/gdrcopy.yaml: /run/driver/dev/gdrdrv is gone; the spec gives it as /dev/gdrdrv."* ]]
}

@test "control: without the device, or with another one, the same probe turns red" {
	root_distroless
	generate
	sed -i '/^- name: "0"$/,/^- name/ s/minor: .*/minor: 9/' specs/nvidia.yaml
	contained runc "$IMAGE" nvidia.com/gpu=0 /device_probe mknod /dev "$(minor 0)" 9 >out
	cat out
	grep -qx "195:$(minor 0) EPERM open" out
	grep -qx '195:9 ENXIO open' out
}

@test "libraries load and nvidia-smi shows the card" {
	can_debian || skip "$WHY"
	root_debian
	generate
	local runtime
	for runtime in $(each_runtime); do
		contained $runtime "$IMAGE" nvidia.com/gpu=2 /dlopen_probe libcuda.so.1 libnvidia-ml.so.1 libcuda.so \
			libnvidia-ptxjitcompiler.so.1 libEGL_nvidia.so.0 /usr/lib/x86_64-linux-gnu/vdpau/libvdpau_nvidia.so.1 >out || { cat out; false; }
		contained $runtime "$IMAGE" nvidia.com/gpu=2 nvidia-smi -L >out
		cat out
		[ "$(wc -l <out)" -eq 1 ]
		grep -q "$(card 2)" out
	done
}

@test "the same in a root with RHEL's directories" {
	can_rhel || skip "$WHY"
	root_rhel
	generate
	contained runc "$IMAGE" nvidia.com/gpu=0 /dlopen_probe libcuda.so.1 libnvidia-ml.so.1 libcuda.so >out || { cat out; false; }
}

@test "hooks of another's spec are refused with one sentence, and nothing is run" {
	root_distroless
	generate
	printf '  hooks:\n  - {hookName: createContainer, path: /bin/touch, args: [touch, %s/ran]}\n' "$PWD" >>specs/nvidia.yaml
	inside gpupool cdi validate specs/nvidia.yaml
	run contained runc "$IMAGE" nvidia.com/gpu=0 /device_probe open /dev/nvidiactl
	[ "$status" -ne 0 ]
	[[ $output == *"the CDI device has hooks, which would run programs of the host"* ]]
	[ ! -e ran ]
}

@test "the file is written whole, for everybody to read, and stands out by its stamp" {
	generate
	[ "$(stat -c %a specs/nvidia.yaml)" = 644 ]
	[ "$(ls specs)" = nvidia.yaml ]
	grep -q 'GPUPOOL_CDI_STAMP=driver:550.90.07,mig:0000000000000000' specs/nvidia.yaml
	inside gpupool cdi generate --output "$PWD/made/for/x.yaml"
	[ "$(stat -c %a made/for)" = 755 ]
	run inside gpupool cdi generate --output /proc/none/x.yaml
	[ "$status" -eq 1 ]
	run inside gpupool cdi generate --mode gdrcopy
	[ "$status" -eq 3 ]
	[[ $output == *"there is no /dev/gdrdrv; load the module gdrdrv"* ]]
	run inside gpupool cdi generate --device-id 9
	[ "$status" -eq 3 ]
	[[ $output == *"no device is called 9"* ]]
	run inside gpupool cdi generate --device-name-strategy colour
	[ "$status" -eq 2 ]
	run inside gpupool cdi generate --capabilities colour
	[ "$status" -eq 2 ]
	[[ $output == *'--capabilities: the unknown word "colour"'* ]]
	# a name that no runtime reads; a place that is not the caller's
	run inside gpupool cdi generate --output specs/x.yml
	[ "$status" -eq 0 ]
	[[ $output == *"runtimes read names that end in .yaml or .json, and pass over specs/x.yml"* ]]
	rm specs/x.yml
	run inside setpriv --reuid 65534 --regid 65534 --clear-groups "$BIN/gpupool" cdi generate --output /etc/none/x.yaml
	[ "$status" -eq 3 ]
	# nothing there is said, and is no failure
	mkdir empty
	run inside gpupool cdi list --spec-dir empty
	[ "$status" -eq 0 ]
	[[ $output == *"no CDI device is there"* ]]
	# standard output is the spec alone
	inside gpupool cdi generate --format json 2>/dev/null | jq -e '.devices | length == 11' >/dev/null
}

@test "what is stale is said, and the exit code tells it" {
	generate
	run inside gpupool cdi diff --spec-dir specs
	[ "$status" -eq 0 ]
	[ "$output" = "specs/nvidia.yaml: up to date" ]
	sed -i 's/550\.90\.07,mig:0000/550.90.06,mig:1000/; /^- name: "0"$/,/^- name/ s/minor: .*/minor: 9/; s|/libEGL_nvidia.so.550|/libEGL_nvidia.so.540|
		s/^- name: "4"/- name: "7"/; /^- name: "3"/,/^- name/ s|dev/nvidia|dev/nvidia7|' specs/nvidia.yaml
	run inside gpupool cdi diff --spec-dir specs
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"The spec is of driver 550.90.06; this machine has 550.90.07."* ]]
	[[ $output == *"/libEGL_nvidia.so.540.90.07 is gone; the spec mounts it at /usr/lib/"* ]]
	[[ $output == *"dev/nvidia$(minor 0) is device 195:$(minor 0), and the spec says 195:9."* ]]
	[[ $output == *"This machine has no device 7."* ]]
	[[ $output == *"/libEGL_nvidia.so.550.90.07."* ]]
	[ "$(inside gpupool cdi diff --spec-dir specs --json | jq -r '."specs/nvidia.yaml"[0]')" = \
		"The spec is of driver 550.90.06; this machine has 550.90.07." ]
	# a card that is lost, and is well again
	generate
	driver_fault lost --card 1
	run inside gpupool cdi diff specs/nvidia.yaml
	driver_fault recover
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"The spec has card 1 ($(card 1)), which is lost: "* ]]
	inside gpupool cdi diff specs/nvidia.yaml
	run inside gpupool cdi diff --spec-dir "$PWD/absent"
	[ "$status" -eq 3 ]
	[[ $output == *"no CDI spec with devices of NVIDIA is there"* ]]
}

@test "the devices of all specs are listed, and what a runtime leaves out is named" {
	generate --device-name-strategy type-index
	run inside gpupool cdi list --spec-dir specs
	[ "$status" -eq 0 ]
	[ "$output" = "$(printf 'nvidia.com/gpu=%s\n' all gpu0 gpu1 gpu2 gpu3 gpu4)" ]
	cp specs/nvidia.yaml specs/again.yaml
	sed -i '/^- name: gpu0/,/^- name: gpu1/ s/gpu1/gpu9/' specs/again.yaml
	echo '{' >specs/bad.json
	run inside gpupool cdi list --spec-dir specs
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"nvidia.com/gpu=gpu0 is in two files of one directory, specs/again.yaml and specs/nvidia.yaml"* ]]
	[[ $output == *"specs/bad.json:2:1: "* ]]
	[ "$(inside gpupool cdi list --spec-dir specs --json 2>/dev/null | jq -r '.devices[].name')" = \
		"$(printf 'nvidia.com/gpu=%s\n' gpu1 gpu9)" ]
}
