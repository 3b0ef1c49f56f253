#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gpupoold on a real node on which things go wrong: driver, disk, kubelet, a rival. Running Pods never notice, and the node
# says what is true again when it is over.
load ../lib/common
load ../lib/driver
load cluster

setup_file() {
	cluster_start a100-80
	[ -n "${ABSENT:-}" ] || plugin_start --probe-timeout=2s --probe-period=1s
}

teardown_file() {
	cluster_stop
}

setup() {
	cluster_needed
	wait_for 20 node_has $GPU 8 8
	pod_start stays "$(gpus 2)"
	stays >"$BATS_TEST_TMPDIR/stays"
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED:-}" ] || plugin_said
	[ -n "${ABSENT:-}" ] || pods_end
}

stays() {
	pod_field stays '.status.phase + (.status.containerStatuses[0] | " \(.containerID) \(.restartCount)")'
	granted stays
	cards_seen stays
}

undisturbed() {
	stays | diff "$BATS_TEST_TMPDIR/stays" -
}

# A Pod that asks for no card is not kept waiting by what is wrong with cards.
others_start() {
	pod_start other
	pod_end other
}

@test "the driver hangs: the kubelet does not, and all is well when it answers again" {
	driver hang
	wait_for 10 eval '! node_has $GPU 8 8'
	SECONDS=0
	others_start
	[ $SECONDS -lt 20 ]
	undisturbed
	driver recover
	wait_for 20 node_has $GPU 8 8
	undisturbed
}

@test "the driver is unloaded and comes back as another version" {
	driver missing
	wait_for 10 node_has $GPU 8 0
	undisturbed
	driver recover
	wait_for 20 node_has $GPU 8 8
	driver mismatch
	wait_for 10 node_has $GPU 8 0
	driver recover
	wait_for 20 node_has $GPU 8 8
	undisturbed
	pod_start six "$(gpus 6)"
	sees_its_cards six
}

@test "an XID of the card itself takes that card away until the driver is loaded again, one of a program does not" {
	free=$(comm -23 <(seq 0 7) <(cards_granted stays | tr ' ' '\n' | sort) | head -n 1)
	driver xid --xid 31 --card "$free"
	driver xid --xid 62 --card "$free"
	wait_for 8 node_has $GPU 8 7
	pod_start five "$(gpus 5)"
	not grep -w "$free" <<<"$(cards_granted five)"
	pod_end five
	undisturbed
	node_has $GPU 8 7
	driver missing
	wait_for 10 node_has $GPU 8 0
	driver recover
	wait_for 30 node_has $GPU 8 8
	undisturbed
}

@test "the disk of the ledger is full: no grant that it could not keep, and none is lost" {
	node sh -c 'dd if=/dev/zero of=/var/lib/gpupool/fill bs=64k 2>/dev/null || :'
	pod_create refused "$(gpus 1)"
	wait_for 20 eval '[ "$(pod_field refused .status.phase)" = Failed ]'
	[[ $(pod_field refused .status.message) == *"No space left"* ]]
	undisturbed
	node rm /var/lib/gpupool/fill
	pod_start six "$(gpus 6)"
	sees_its_cards six
	undisturbed
}

@test "the kubelet has lost its checkpoint: what runs keeps its cards, nobody else gets them" {
	cluster stop kubelet
	node rm $CHECKPOINT
	cluster start kubelet
	wait_for 20 registered_again
	wait_for 10 node_has $GPU 8 8
	pod_start six "$(gpus 6)"
	[ -z "$(comm -12 <(cards_granted six | tr ' ' '\n') <(sed 1,3d "$BATS_TEST_TMPDIR/stays" | tr ' ' '\n'))" ]
	[ "$(cards_seen stays)" = "$(tail -n 1 "$BATS_TEST_TMPDIR/stays")" ]
}

@test "another plugin takes the resource: it is named, and ours is back when it has gone" {
	rogue -devices other=/dev/null
	wait_for 10 node_has $GPU 1 1
	wait_for 10 grep -q rogue.sock "$GPUPOOL_CLUSTER/logs/gpupoold.log"
	undisturbed
	cluster kill rogue
	node rm -f /var/lib/kubelet/device-plugins/rogue.sock
	wait_for 20 node_has $GPU 8 8
	undisturbed
}
