#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A real containerd 2.x, asked as the kubelet asks it. It applies CDI specs itself, so no wrapper runs here.
load ../lib/common
load ../lib/driver
load ../lib/cri
bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	engine_find module || { export ABSENT=$WHY; return 0; }
	namespace_start
	handler runc runc
	engine_start
	image_sandbox
	image_tools tools
}

teardown_file() {
	engine_stop
	namespace_stop
}

setup() {
	needs_containers runc
	[ -z "${ABSENT:-}" ] || skip "$ABSENT"
}

teardown() {
	pod_stop
}

# cdi NODE:MINOR...: a spec written by hand: example.com/card=one has these nodes.
cdi() {
	local nodes
	nodes=$(printf '%s\n' "$@" | jq -Rn '[inputs | split(":") |
		{path: "/dev/\(.[0])", type: "c", major: 195, minor: (.[1] | tonumber), permissions: "rw"}]')
	jq -n --argjson nodes "$nodes" '{cdiVersion: "0.5.0", kind: "example.com/card", devices: [{name: "one",
		containerEdits: {deviceNodes: $nodes, env: ["CARD=one"]}}]}' >"$BATS_TEST_TMPDIR/cdi.json"
	inside cp "$BATS_TEST_TMPDIR/cdi.json" /etc/cdi/example.json
}

@test "a Pod starts, is looked into and leaves nothing" {
	pod_start
	container_start
	[ "$(cards_seen)" = "reached" ]
	pod_stop
	engine_nothing_left
}

@test "a device of a CDI spec, by the field of the request: this node and no other" {
	cdi nvidia0:0
	pod_start
	container_start '.image.image = "localhost/tools:1" | .CDI_devices = [{name: "example.com/card=one"}]'
	run cards_seen
	echo "$output"
	[ "$output" = "nvidia0=0 reached 0" ]
	see $PROBE open /dev/nvidia0 | grep -qx "/dev/nvidia0 ENXIO"
	see /bin/env | grep -qx CARD=one
}

@test "control: a second device, and another card at the same path, are seen" {
	pod_start
	cdi nvidia0:0 nvidia7:7
	container_start '.CDI_devices = [{name: "example.com/card=one"}]'
	[ "$(cards_seen)" = "nvidia0=0 nvidia7=7 reached 0 7" ]
	container_stop
	cdi nvidia0:1
	container_start '.CDI_devices = [{name: "example.com/card=one"}]'
	[ "$(cards_seen)" = "nvidia0=1 reached 1" ]
}

@test "control: a rule without a node is seen, too" {
	needs_device_rules
	cdi nvidia0:0
	pod_start
	container_start '.CDI_devices = [{name: "example.com/card=one"}]'
	echo "c 195:3 rw" >"$(container_cgroup devices)/devices.allow"
	[ "$(cards_seen)" = "nvidia0=0 reached 0 3" ]
}

@test "a CDI name that no spec has stops the container with a sentence" {
	cdi nvidia0:0
	pod_start
	not container_start '.CDI_devices = [{name: "example.com/card=two"}]'
	[[ $SAID == *"unresolvable CDI devices example.com/card=two"* ]]
}

# A library of ours at a path of the image, by CDI.
cdi_library() { # CONTAINER_PATH
	echo "a driver's library" >"$BATS_TEST_TMPDIR/library"
	jq -n --arg from "$BATS_TEST_TMPDIR/library" --arg to "$1" '{cdiVersion: "0.5.0", kind: "example.com/card",
		devices: [{name: "one", containerEdits: {mounts: [{hostPath: $from, containerPath: $to,
			options: ["ro", "bind"]}]}}]}' >"$BATS_TEST_TMPDIR/cdi.json"
	inside cp "$BATS_TEST_TMPDIR/cdi.json" /etc/cdi/example.json
}

with_mount() { # FROM TO
	container_start ".image.image = \"localhost/tools:1\" | .CDI_devices = [{name: \"example.com/card=one\"}] |
		.mounts = [{host_path: \"$1\", container_path: \"$2\"}]"
}

@test "what CDI alone leaves to the runtime: a mount point is made in a user's volume" {
	cdi_library /opt/lib/libcuda.so.1
	mkdir "$BATS_TEST_TMPDIR/volume"
	pod_start
	with_mount "$BATS_TEST_TMPDIR/volume" /opt/lib
	[ -f "$BATS_TEST_TMPDIR/volume/libcuda.so.1" ]
	see /bin/cat /opt/lib/libcuda.so.1 | grep -qx "a driver's library"
}

@test "what CDI alone does with a user's mount at the same path: it is replaced" {
	cdi_library /opt/lib/libcuda.so.1
	echo "the user's own" >"$BATS_TEST_TMPDIR/own"
	pod_start
	with_mount "$BATS_TEST_TMPDIR/own" /opt/lib/libcuda.so.1
	see /bin/cat /opt/lib/libcuda.so.1 | grep -qx "a driver's library"
}
