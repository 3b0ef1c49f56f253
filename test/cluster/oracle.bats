#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the tests of gpupoold look with, tried on a foreign plugin: right answers pass, a card too many and a wrong card
# are seen.
load ../lib/common
load ../lib/driver
load cluster

setup_file() {
	cluster_start a100-80
	[ -n "${ABSENT:-}" ] || DEVICES=$(node gpupool inventory --json | jq -r '[.cards[] | "\(.uuid)=/dev/nvidia\(.minor)"] | join(",")')
	export DEVICES
}

teardown_file() {
	cluster_stop
}

setup() {
	cluster_needed
}

teardown() {
	cluster stop rogue || :
	pods_end
}

# A plugin that is gone leaves the node without; the next one is only there when the node says 8 again.
plugin() {
	wait_for 20 eval '! node_has nvidia.com/gpu 8 8'
	rogue -devices "$DEVICES" "$@"
	wait_for 20 node_has nvidia.com/gpu 8 8
}

@test "an honest plugin: the Pod sees the cards that the kubelet's checkpoint has for it" {
	plugin
	pod_start two "$(gpus 2)"
	[ "$(granted two | wc -l)" = 2 ]
	[ "$(cards_seen two | wc -w)" = 2 ]
	sees_its_cards two
	pod_start one "$(gpus 1)"
	sees_its_cards one
	[ -z "$(comm -12 <(granted one) <(granted two))" ]
}

@test "control: a plugin that gives another card" {
	plugin -swap
	pod_start swapped "$(gpus 1)"
	run sees_its_cards swapped
	[ "$status" = 1 ]
	[[ $output =~ "Pod swapped: granted '"[0-7]"', sees '"[0-7]"'" ]]
}

@test "control: a plugin that gives a card too many" {
	plugin -extra
	pod_start greedy "$(gpus 1)"
	run sees_its_cards greedy
	[ "$status" = 1 ]
	[[ $output =~ "Pod greedy: granted '"[0-7]"', sees '"[0-7]" "[0-7]"'" ]]
}

@test "control: a container with a node that its group forbids" {
	plugin
	pod_start forbidden "$(gpus 1)"
	group=$(node sh -c 'find /sys/fs/cgroup/devices/kubepods -path "*'"$(pod_field forbidden .metadata.uid)"'*" -name devices.list' |
		xargs -n 1 dirname)
	[ -n "$group" ]
	node sh -c 'for group; do echo "c 195:* rwm" >"$group/devices.deny"; done' - $group
	run sees_its_cards forbidden
	[ "$status" = 1 ]
	[[ $output == *"not reached"* ]]
}
