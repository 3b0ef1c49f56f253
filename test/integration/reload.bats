#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# `systemctl daemon-reload` writes a container's device rules again as its spec has them. Cards that stand in
# the spec stay; cards that a hook added to the cgroup later are lost ("Failed to initialize NVML: Unknown Error").
# There is no systemd here: the rules are written by hand as it does.
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
	inside sh -c 'cat >/etc/cdi/example.json' <<-EOF
		{"cdiVersion": "0.5.0", "kind": "example.com/card", "devices": [{"name": "one", "containerEdits":
		{"deviceNodes": [{"path": "/dev/nvidia0", "type": "c", "major": 195, "permissions": "rw"}]}}]}
	EOF
}

teardown_file() {
	engine_stop
	namespace_stop
}

setup() {
	needs_containers runc
	[ -z "${ABSENT:-}" ] || skip "$ABSENT"
	needs_device_rules
	pod_start
}

teardown() {
	pod_stop
}

@test "a card of a CDI spec stays usable" {
	container_start '.CDI_devices = [{name: "example.com/card=one"}]'
	rules_again
	[ "$(cards_seen)" = "nvidia0=0 reached 0" ]
}

@test "control: a card that was added to the cgroup only is lost" {
	container_start '.CDI_devices = [{name: "example.com/card=one"}]'
	echo "c 195:3 rw" >"$(container_cgroup devices)/devices.allow"
	[ "$(cards_seen)" = "nvidia0=0 reached 0 3" ]
	rules_again
	[ "$(cards_seen)" = "nvidia0=0 reached 0" ]
}
