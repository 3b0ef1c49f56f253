#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Why a Pod gets its place, or none: from the command line.

load ../lib/common

setup() {
	[ -x "$BIN/gpupool" ] || { echo "$BIN/gpupool is not built"; return 1; }
	openb="$BATS_TEST_DIRNAME/../data/openb"
	few='2 nodes of 2 h100; 3 nodes of 4 t4; 3 Pods of 4 cards; 3 Pods of 60 GiB'
}

# Do the counts of the object in $output add up to all nodes and cards? Those of its parts, too?
add_up() {
	printf '%s' "$output" >"$BATS_TEST_TMPDIR/said.json"
	python3 - "$BATS_TEST_TMPDIR/said.json" <<'END'
import json, sys
said = json.load(open(sys.argv[1], encoding="utf-8"))
assert sum(c["nodes"] for c in said["classes"]) + said["nodes_that_fit"] == said["node_count"]
assert (sum(c["cards"] for c in said["classes"]) + said["cards_that_serve"]
        + said["cards_kept_by_their_node"]) == said["card_count"]
assert len(said["nodes"]) == said["node_count"]
for entry in said["classes"]:
    assert entry["nodes"] == sum(n.get("code") == entry["code"] for n in said["nodes"])
    assert entry["cards"] == sum(c.get("code") == entry["code"] for n in said["nodes"] for c in n["cards"])
assert said["cards_that_serve"] == sum(n["cards_serving"] for n in said["nodes"] if n["fits"])
assert all(n["cards_serving"] == sum(c["serves"] for c in n["cards"]) for n in said["nodes"])
ranks = [n["rank"] for n in said["nodes"] if n["fits"]]
assert ranks == list(range(1, len(ranks) + 1))
if ranks:
    assert said["nodes"][0]["node"] == said["chosen_node"]
    values = [n["value"] for n in said["nodes"] if n["fits"]]
    assert values == sorted(values, reverse=True)
END
}

arrived() {
	printf '%s' "$output" | python3 -c 'import json, sys
said = json.load(sys.stdin)
print(said["pods_placed_before"] + said["pods_failed_before"])'
}

@test "a Pod that fits: the node, the cards and their worth; exit 0" {
	run gpupool sim explain --cluster-text "$few" --arrival 0 --ask '1 card' --per-node --per-card
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = 'One more Pod asks for 1 whole card: it fits.' ]
	[ "${lines[1]}" = '1/5 nodes fit: 4 not enough free cards.' ]
	[[ ${lines[2]} == 'One more Pod gets node node-0000'*', card '*'. By policy default it is worth '*'; no other node fits.' ]]
	[[ $output == *'would serve, but its node does not fit '*'0 '*'0'* ]]
	[[ $output == *' serves '* ]]
}

@test "refused now is exit 5, for ever exit 4, with the sentence" {
	run gpupool sim explain --cluster-text "$few" --arrival 0 --ask '2 cards'
	[ "$status" -eq 5 ]
	[ "${lines[0]}" = 'One more Pod asks for 2 whole cards: it does not fit now.' ]
	[ "${lines[1]}" = '0/5 nodes fit: 5 not enough free cards.' ]
	[[ ${lines[2]} == 'One more Pod wants 2 free cards, node-0000'*' has 1 of 2. Wait for '* ]]
	run gpupool sim explain --cluster-text "$few" --ask '5 cards'
	[ "$status" -eq 4 ]
	[[ ${lines[0]} == *'it can never fit here.' ]]
	[[ $output == *'has the most of them where it may run, 4. Ask for at most 4.'* ]]
}

@test "the counts of the object add up, whatever is asked" {
	for ask in '1 card' '2 cards' '5 cards' '12 GiB' '60 GiB 30 %' '90 GiB' '1 1g.10gb'; do
		run gpupool sim explain --cluster-text "$few" --arrival 0 --ask "$ask" --json
		[ "$status" -eq 0 ] || [ "$status" -eq 4 ] || [ "$status" -eq 5 ]
		add_up
	done
}

@test "why a Pod of a trace fails where it arrives" {
	files=(--nodes "$openb/openb_node_list_gpu_node.csv" --pods "$openb/openb_pod_list_default.csv")
	run gpupool sim explain "${files[@]}" --arrival 130 --ask '8 cards' --json
	[ "$status" -eq 5 ]
	add_up
	all=$(arrived)
	run gpupool sim explain "${files[@]}" --arrival 130 --pod openb-pod-0017 --json
	before=$(arrived)
	[ "$before" -gt 0 ]
	[ "$before" -lt "$all" ]
}

@test "a Pod of two containers is explained by nodes alone" {
	cat >"$BATS_TEST_TMPDIR/pod.yaml" <<'END'
apiVersion: v1
kind: Pod
metadata: {name: pair}
spec:
  containers:
  - {name: one, image: x, resources: {limits: {nvidia.com/gpu: 1}}}
  - {name: two, image: x, resources: {limits: {nvidia.com/gpu: 1}}}
END
	run gpupool sim explain --cluster-text "$few" --arrival 0 --pod-file "$BATS_TEST_TMPDIR/pod.yaml" --per-card
	[ "$status" -eq 5 ]
	[[ $output == *'0/5 nodes fit: '* ]]
	[[ $output != *CARDS* ]]
	[[ $output != *' serves '* ]]
	run gpupool sim explain --cluster-text "$few" --arrival 0 --pod-file "$BATS_TEST_TMPDIR/pod.yaml" --json
	[[ $output != *'"serves"'* ]]
}

@test "rows of nodes and of cards as CSV" {
	run gpupool sim explain --cluster-text "$few" --arrival 0 --ask '1 card' --csv
	[ "${lines[0]}" = 'node,rank,value,cards_serving,code,wanted,have,total' ]
	[ "${#lines[@]}" -eq 6 ]
	run gpupool sim explain --cluster-text "$few" --arrival 0 --ask '1 card' --csv --per-card
	[ "${lines[0]}" = 'node,card,uuid,code,wanted,have,total' ]
	[ "${#lines[@]}" -eq 17 ]
	[[ $output == *,cards_busy,* ]]
}

@test "bad questions are one sentence" {
	run gpupool sim explain --cluster-text "$few"
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	run gpupool sim explain --cluster-text "$few" --ask '2 cows'
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	run gpupool sim explain --cluster-text "$few" --pod nobody
	[ "$status" -eq 1 ]
	[[ $output == *'no Pod is named nobody'* ]]
	run gpupool sim explain --cluster-text "$few" --pod pod-000001 --arrival 3
	[ "$status" -eq 1 ]
	[[ $output == *'not among those that arrive'* ]]
}
