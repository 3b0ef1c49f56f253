#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gpupoold on a real node with eight cards: what Pods get, and that they keep it whatever is restarted.
load ../lib/common
load ../lib/driver
load cluster

setup_file() {
	export GPUPOOL_CLUSTER_KUBELET="topologyManagerPolicy: best-effort" # asks for the NUMA node of what is held, too
	cluster_start a100-80
	[ -n "${ABSENT:-}" ] || plugin
}

teardown_file() {
	cluster_stop
}

setup() {
	cluster_needed
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED:-}" ] || plugin_said
	[ -n "${ABSENT:-}" ] || pods_end
}

plugin() { # INDEX...: cards in slices
	plugin_config "$@"
	plugin_start
}

# Of each Pod: container, restarts, cards; what nothing may change.
held() {
	kubectl get pods -o json | jq -r '.items[] | "\(.metadata.name) \(.status.phase) " +
		(.status.containerStatuses[0] | "\(.containerID) \(.restartCount)")' | while read -r name phase rest; do
		echo "$name $phase $rest $(granted "$name" 3<&- </dev/null | xargs) sees $(cards_seen "$name" </dev/null)"
	done
}

@test "eight cards are allocatable within 5 s" {
	wait_for 6 node_has $GPU 8 8
}

@test "a Pod with two cards sees exactly its two" {
	pod_start two "$(gpus 2)"
	[ "$(granted two | wc -l)" = 2 ]
	sees_its_cards two
}

@test "two Pods of one card each: different cards" {
	pod_start a "$(gpus 1)"
	pod_start b "$(gpus 1)"
	sees_its_cards a
	sees_its_cards b
	[ "$(granted a)" != "$(granted b)" ]
}

@test "two containers of one Pod: each its own cards" {
	pod_start pair "$(gpus 1) | .spec.containers += [C * {name: \"second\", resources: {limits: {\"$GPU\": 2}}}]"
	[ "$(granted pair | sort -u | wc -l)" = 3 ]
	for container in main second; do
		kubectl exec pair -c $container -- device_probe nodes /dev | awk '$2 ~ /^195:[0-7]$/ { print $2 }'
	done | sort >"$BATS_TEST_TMPDIR/seen"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/seen")" = 3 ]
	[ "$(uniq -d "$BATS_TEST_TMPDIR/seen")" = "" ]
}

@test "a Pod for nine of eight cards: Pending, with the scheduler's words" {
	pod_create nine "$(gpus 9)"
	wait_for 20 eval '[[ $(pod_field nine ".status.conditions[]?.message") == *"0/1 nodes are available: 1 Insufficient nvidia.com/gpu"* ]]'
	[ "$(pod_field nine .status.phase)" = Pending ]
}

@test "a Pod without a grant sees no card, whatever its variables say" {
	pod_start nothing 'C.env = [{name: "NVIDIA_VISIBLE_DEVICES", value: "all"}]'
	[ "$(cards_seen nothing)" = "" ]
}

@test "the kubelet is restarted while Pods run: eight cards again, Pods as they were" {
	pod_start a "$(gpus 3)"
	pod_start b "$(gpus 1)"
	held >"$BATS_TEST_TMPDIR/before"
	for _ in $(seq "$(scaled 10)"); do
		cluster restart kubelet
		wait_for 15 registered_again
		wait_for 6 node_has $GPU 8 8
		wait_for 20 eval 'held | diff "$BATS_TEST_TMPDIR/before" -'
		held | diff "$BATS_TEST_TMPDIR/before" -
	done
	pod_start c "$(gpus 4)"
	sees_its_cards c
	[ "$({ granted a; granted b; granted c; } | sort -u | wc -l)" = 8 ]
}

@test "the kubelet's socket is removed: nothing is lost" {
	pod_start a "$(gpus 1)"
	held >"$BATS_TEST_TMPDIR/before"
	node rm /var/lib/kubelet/device-plugins/kubelet.sock
	pod_start b "$(gpus 1)"
	sees_its_cards b
	pod_end b
	node_has $GPU 8 8
	held | diff "$BATS_TEST_TMPDIR/before" -
	cluster restart kubelet
	wait_for 15 registered_again
	wait_for 6 node_has $GPU 8 8
}

@test "the daemon is killed while Pods run: eight cards again, Pods as they were" {
	pod_start a "$(gpus 5)"
	held >"$BATS_TEST_TMPDIR/before"
	for _ in $(seq "$(scaled 10)"); do
		cluster kill gpupoold
		wait_for 6 node_has $GPU 8 0
		held | diff "$BATS_TEST_TMPDIR/before" -
		cluster start gpupoold
		wait_for 6 node_has $GPU 8 8
		held | diff "$BATS_TEST_TMPDIR/before" -
	done
	pod_start b "$(gpus 3)"
	sees_its_cards b
	[ "$({ granted a; granted b; } | sort -u | wc -l)" = 8 ]
}

@test "a card is lost and comes back: seven, then eight" {
	pod_start a "$(gpus 1)"
	card=$(cards_granted a)
	other=$(((card + 1) % 8))
	driver lost --card $other
	wait_for 8 node_has $GPU 8 7
	pod_start six "$(gpus 6)"
	sees_its_cards six
	not grep -w $other <<<"$(cards_granted six)"
	driver recover
	wait_for 20 node_has $GPU 8 8
}

@test "a card that a Pod holds is lost while the kubelet is restarted: the kubelet lives, the Pod runs" {
	pod_start a "$(gpus 2)"
	before=$(container_of a)
	card=$(cards_granted a)
	driver lost --card "${card%% *}"
	wait_for 8 node_has $GPU 8 7
	cluster restart kubelet
	wait_for 15 registered_again
	wait_for 6 node_has $GPU 8 7
	wait_for 20 see a true
	driver recover
	wait_for 20 node_has $GPU 8 8
	[ "$(container_of a)" = "$before" ]
}

@test "memory: two Pods with 12 GiB share one card, a Pod for 81 of 80 GiB is Pending" {
	plugin 6 7
	wait_for 6 node_has $MEMORY 160 160
	wait_for 8 node_has $GPU 6 6
	pod_start a "$(gpus 12 $MEMORY)"
	pod_start b "$(gpus 12 $MEMORY)"
	sees_its_cards a $MEMORY
	sees_its_cards b $MEMORY
	[ "$(cards_granted a $MEMORY)" = "$(cards_granted b $MEMORY)" ]
	[ "$({ granted a $MEMORY; granted b $MEMORY; } | sort -u | wc -l)" = 24 ]
	pod_start whole "$(gpus 6)"
	sees_its_cards whole
	[ "$(cards_granted whole)" = "0 1 2 3 4 5" ]
}

@test "memory: what fits on no card together is refused with the reason, not given of two cards" {
	pod_start most "$(gpus 70 $MEMORY)"
	pod_start more "$(gpus 70 $MEMORY)"
	[ "$(cards_granted most $MEMORY)" != "$(cards_granted more $MEMORY)" ]
	pod_create none "$(gpus 20 $MEMORY)" # 10 of each card are free: enough for the scheduler
	wait_for 20 eval '[ "$(pod_field none .status.phase)" = Failed ]'
	[[ $(pod_field none .status.message) == *"10 GiB free"* ]]
	pod_start fits "$(gpus 10 $MEMORY)"
}

@test "memory: kubelet and daemon are restarted, the held units stay held" {
	pod_start a "$(gpus 30 $MEMORY)"
	held >"$BATS_TEST_TMPDIR/before"
	cluster kill gpupoold
	cluster restart kubelet
	cluster start gpupoold
	wait_for 10 node_has $MEMORY 160 160
	pod_start b "$(gpus 80 $MEMORY)"
	pod_start c "$(gpus 50 $MEMORY)"
	[ "$({ granted a $MEMORY; granted b $MEMORY; granted c $MEMORY; } | sort -u | wc -l)" = 160 ]
	[ "$(cards_granted a $MEMORY)" = "$(cards_granted c $MEMORY)" ]
	pod_end b c
	held | diff "$BATS_TEST_TMPDIR/before" -
}

@test "a reboot with the daemon up before the kubelet: the Pod starts again with its cards" {
	plugin
	wait_for 8 node_has $GPU 8 8
	pod_start again "$(gpus 2) | .spec.restartPolicy = \"Always\""
	before=$(granted again)
	cluster reboot --off
	cluster driver a100-80
	cluster start gpupoold # no runtime is there yet to say how devices are given: the list does not wait for that
	cluster boot
	wait_for 60 restarted again || { pod_field again .status >&2; return 1; }
	[ "$(granted again)" = "$before" ]
	sees_its_cards again
}

@test "Pods come and go: no card has two holders, none is lost" {
	wait_for 8 node_has $GPU 8 8
	for round in $(seq "$(scaled 100)"); do
		for name in a b c; do
			pod_create $name "$(gpus $((RANDOM % 3 + 1)))" # 9 at most: the last may have to wait
		done
		wait_for 60 eval '[ "$(kubectl get pods -o json | jq "[.items[] | select(.status.phase == \"Running\")] | length")" -ge 2 ]'
		[ -z "$({ granted a; granted b; granted c; } | sort | uniq -d)" ]
		pod_end a b c
	done
	pod_start all "$(gpus 8)"
	sees_its_cards all
}
