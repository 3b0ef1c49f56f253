#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# MIG on a real node: cards become instances and cards again while Pods run and the daemon stays.
load ../lib/common
load ../lib/driver
load cluster

PROFILE=nvidia.com/mig-2g.20gb

setup_file() {
	cluster_start a100-80
	[ -n "${ABSENT:-}" ] || plugin_start --mig-strategy=mixed --probe-period=1s
}

teardown_file() {
	cluster_stop
}

setup() {
	cluster_needed
	wait_for 20 node_has $GPU 8 8
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED:-}" ] || plugin_said
	[ -n "${ABSENT:-}" ] || pods_end
}

layout() { # LAYOUT CARD...
	local card
	for card in "${@:2}"; do
		node "$SIMDRIVER" mig --root /run/driver "$1" --card "$card"
	done
}

daemon() {
	node pgrep -x gpupoold
}

@test "eight cards become 24 instances and eight cards again, each within 5 s, and the daemon is the same" {
	before=$(daemon)
	layout '2g.20gb*3' {0..7}
	wait_for 7 node_has $PROFILE 24 24
	wait_for 7 node_has $GPU 0 0
	pod_start instances "$(gpus 2 $PROFILE)"
	granted instances $PROFILE | grep -c '^MIG-' | grep -x 2
	[ "$(see instances ls /dev/nvidia-caps | wc -l)" = 4 ] # an instance has a node, and its compute instance another
	pod_end instances
	layout off {0..7}
	wait_for 7 node_has $GPU 8 8
	wait_for 7 node_has $PROFILE 0 0
	pod_start cards "$(gpus 8)"
	sees_its_cards cards
	[ "$(daemon)" = "$before" ]
}

@test "seven cards change while a Pod holds the eighth: it is not disturbed, and its card is not offered" {
	pod_start stays "$(gpus 1)"
	card=$(cards_granted stays)
	before=$(container_of stays)
	others=$(seq 0 7 | grep -vx "$card")
	layout '2g.20gb*3' $others
	wait_for 7 node_has $PROFILE 21 21
	wait_for 7 node_has $GPU 1 1
	sees_its_cards stays
	cluster restart kubelet
	wait_for 15 registered_again
	wait_for 7 node_has $PROFILE 21 21
	layout off $others
	wait_for 10 node_has $GPU 8 8
	sees_its_cards stays
	[ "$(container_of stays)" = "$before" ]
}
