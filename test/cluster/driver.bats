#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The simulated driver on the node, before any plugin: what gpupoold will find there.
load ../lib/common
load ../lib/driver
load cluster

setup_file() {
	cluster_start a100-80
}

teardown_file() {
	cluster_stop
}

setup() {
	cluster_needed
}

@test "the node's programs find 8 cards and their nodes" {
	[ "$(node gpupool inventory --json | jq '.cards | length')" = 8 ]
	[ "$(node sh -c 'ls -d /dev/nvidia[0-9]' | wc -l)" = 8 ]
}

@test "a container that containerd starts with a CDI device reaches that card alone" {
	cluster stop kubelet # which ends what it does not know
	node gpupool cdi generate --output /etc/cdi/nvidia.yaml
	jq -n '{metadata: {name: "cdi", uid: "cdi", namespace: "default", attempt: 0}, log_directory: "/var/log/pods",
		linux: {cgroup_parent: "/node", security_context: {namespace_options: {network: 2}}}}' >"$BATS_TEST_TMPDIR/pod"
	jq -n '{metadata: {name: "main", attempt: 0}, image: {image: "localhost/busybox:1"}, command: ["sleep", "86400"],
		log_path: "cdi", linux: {}, CDI_devices: [{name: "nvidia.com/gpu=3"}]}' >"$BATS_TEST_TMPDIR/container"
	pod=$(node crictl runp "$BATS_TEST_TMPDIR/pod")
	container=$(node crictl create --no-pull "$pod" "$BATS_TEST_TMPDIR/container" "$BATS_TEST_TMPDIR/pod")
	node crictl start "$container"
	[ "$(node crictl exec "$container" device_probe nodes /dev | cards)" = "/dev/nvidia3" ]
	[ "$(node crictl exec "$container" device_probe mknod /dev 0 1 2 3 4 5 6 7 | awk '$2 == "ENXIO" { print $1 }')" = 195:3 ]
	node crictl rmp --force "$pod"
	cluster start kubelet
}

cards() {
	awk '$2 ~ /^195:[0-7]$/ { print $1 }' | sort | xargs
}

@test "a card that is lost is seen on the node" {
	node "$SIMDRIVER" fault --root /run/driver lost --card 2
	[ "$(node gpupool inventory --json | jq -c '[.cards[] | select(.health != "healthy") | .index]')" = "[2]" ]
	node "$SIMDRIVER" fault --root /run/driver recover
	[ "$(node gpupool inventory --json | jq -c '[.cards[] | select(.health != "healthy")]')" = "[]" ]
}

@test "the driver is there again after a reboot" {
	cluster reboot
	[ "$(node gpupool inventory --json | jq '.cards | length')" = 8 ]
	kubectl wait --for=condition=Ready node/node-a --timeout=60s
}
