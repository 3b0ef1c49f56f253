#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The planner's questions: how many more fit, where room is stranded, what if.

load ../lib/common

setup() {
	[ -x "$BIN/gpupool" ] || { echo "$BIN/gpupool is not built"; return 1; }
	cd "$BATS_TEST_TMPDIR" || return 1
	# Two nodes of four cards; cards of this format have 1000 GiB.
	printf 'sn,cpu_milli,memory_mib,gpu,model\nb,8000,8000,4,T4\na,8000,8000,4,P100\n' >n.csv
	# One Pod of a whole card, one of 60 % of one.
	printf '%s\n' name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec one,1000,100,1,1000,T4 \
		part,7000,100,1,600,P100 >p.csv
}

# The value of the expression over the JSON object d in $output.
value() {
	python3 -c 'import json, sys; d = json.loads(sys.argv[1]); print(eval(sys.argv[2]))' "$output" "$1"
}

@test "sim fit counts, names nodes and says what stops the next" {
	run gpupool sim fit --nodes n.csv --pods p.csv --ask '2 cards'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = '4 more Pods fit: 2 whole cards each.' ]
	[[ $output == *'not enough free cards      2'* ]]
	run gpupool sim fit --nodes n.csv --pods p.csv --ask '2 cards' --arrival 0 --json
	[ "$(value 'd["count"]')" = 2 ]
	[ "$(value 'd["reason"]["code"]')" = cards_busy ]
	[ "$(value 'd["refused_by"]')" = "[{'class': 'not enough free cards', 'nodes': 2}]" ]
	run gpupool sim fit --nodes n.csv --pods p.csv --pod part --arrival 0 --csv
	[ "$output" = $'node,model,cards,pods\na,P100,4,0\nb,T4,4,0' ]
	run gpupool sim fit --nodes n.csv --pods p.csv --ask '400 GiB' --arrival 0 --json
	[ "$(value 'd["models"]')" = "[{'model': 'P100', 'pods': 7}, {'model': 'T4', 'pods': 6}]" ]
}

@test "sim fit reads a Pod from a manifest" {
	cat >pod.yaml <<-'END'
		apiVersion: v1
		kind: Pod
		metadata: {name: train}
		spec:
		  containers:
		  - name: main
		    image: none
		    resources: {limits: {nvidia.com/gpu: 3, cpu: 2}}
	END
	run gpupool sim fit --nodes n.csv --pods p.csv --pod-file pod.yaml --json
	[ "$status" -eq 0 ]
	[ "$(value 'd["count"]')" = 2 ]
	[[ $(value 'd["reason"]["sentence"]') == *default/train* ]]
}

@test "sim fit says how far it is when that is wanted" {
	run gpupool sim fit --cluster-text '500 nodes of 64 h100' --ask '2 GiB' --progress \
		--limit 600000
	[ "$status" -eq 0 ]
	[[ ${lines[0]} =~ ^gpupool:\ [0-9]+\ Pods,\ [0-9]+\ s$ ]]
}

@test "models of one name and two sizes are told apart" {
	run gpupool sim fragments --cluster-text '1 node of 1 x 8 GiB; 1 node of 1 x 9 GiB; 1 Pod of 1 card'
	[[ $output == *'x (8 GiB)'*'x (9 GiB)'* ]]
}

@test "sim fit answers bad questions in one sentence" {
	run gpupool sim fit --nodes n.csv --pods p.csv
	[ "$status" -eq 2 ]
	run gpupool sim fit --nodes n.csv --pods p.csv --ask '2 cows'
	[ "$status" -eq 2 ]
	[[ $output == *"'2 cows' is no Pod in few words; write"* ]]
	run gpupool sim fit --nodes n.csv --pods p.csv --pod nobody
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	echo 'kind: Node' >node.yaml
	run gpupool sim fit --nodes n.csv --pods p.csv --pod-file node.yaml
	[ "$status" -eq 1 ]
	[[ $output == *"node.yaml:1: kind is 'Node'; write one Pod"* ]]
}

@test "sim fragments: where room is, why it is of no use, and the sum" {
	cat >c.yaml <<-'END'
		nodes:
		- {name: cpu, gpus: 4, model: h100, cpu: 8}
		- {name: compute, gpus: 1, model: h100, cpu: 8}
		pods:
		- {name: big, gpus: 1, cpu: 4}
		- {name: slice, gpu-memory: 20Gi, gpu-compute: 50, cpu: 4}
		- {name: eats, cpu: 6, node: cpu}
		- {name: holds, gpu-memory: 10Gi, gpu-compute: 90, cpu: 4, node: compute}
	END
	run gpupool sim fragments --cluster c.yaml
	[ "$status" -eq 0 ]
	[[ $output == *$'\ntoo little CPU of the node      4               4  316              4.0\n'* ]]
	[[ $output == *$'\ncompute used up                 1               0   69              0.1\n'* ]]
	[[ $output == *$'\ntogether                        5               4  385              4.1\n'* ]]
	[[ $output == *'4 cards, too little CPU of the node: 2 CPUs left'* ]]
	run gpupool sim fragments --cluster c.yaml --json
	[ "$(value 'd["stranded_memory_gib"], d["stranded_compute_cards"], d["blocked_by_node_gib"]')" = '(69, 0.0, 316)' ]
	[ "$(value 'sum(n["free"]["gib"] for n in d["nodes"])')" = 385 ]
	[ "$(value 'sum(c["gib"] for c in d["free_by_cause"].values())')" = 385 ]
	run gpupool sim fragments --cluster c.yaml --csv
	[ "${#lines[@]}" -eq 3 ]
	python3 - "$output" <<-'END'
		import csv, sys
		rows = list(csv.DictReader(sys.argv[1].splitlines()))
		assert [r["node"] for r in rows] == ["compute", "cpu"], rows
		assert rows[1]["cpu_gib"] == "316" and rows[0]["compute_used_up_gib"] == "69", rows
	END
}

@test "sim whatif: changes in words, figures before and after" {
	run gpupool sim whatif --cluster-text '2 nodes of 8 h100; 9 Pods of 2 cards; 12 Pods of 9 GiB' \
		--add-nodes '1 node of 8 h100' --slices off
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = '1 node is added, with 8 cards: 1 node of 8 h100.' ]
	[[ $output == *'12 Pods: a slice of 9 GiB is 1 whole card now.'* ]]
	run gpupool sim whatif --cluster-text '1 node of 2 h100; 20 Pods of 9 GiB' --json \
		--mig-file <(echo '# all alike'; echo '  h100=1g.10gb*7   # seven each')
	[ "$(value 'd["before"]["pods_placed"], d["after"]["pods_placed"], d["difference"]["pods_placed"]')" = '(16, 14, -2)' ]
	[ "$(value 'd["changes"][1]')" = '20 Pods: a slice of 9 GiB is 1 of 1g.10gb now.' ]
	run gpupool sim whatif --nodes n.csv --pods p.csv --remove-nodes a --arrival 0 --csv
	[ "${lines[0]}" = figure,before,after,difference ]
	[[ $output == *$'\npods_placed,2.0000,1.0000,-1.0000\n'* ]]
}

@test "sim whatif: another policy is another run on the same arrivals" {
	cd "$BATS_TEST_DIRNAME/../data/openb" || return 1
	files=(--nodes openb_node_list_gpu_node.csv --pods openb_pod_list_default.csv)
	run gpupool sim whatif "${files[@]}" --policy fgd/bestfit --seed 43 --json
	[ "$status" -eq 0 ]
	before=$(value 'd["before"]["checksum"]') after=$(value 'd["after"]["checksum"]')
	run gpupool sim run "${files[@]}" --seed 43 --json
	[ "$(value 'd["checksum"]')" = "$before" ]
	run gpupool sim run "${files[@]}" --policy fgd --ties bestfit --seed 43 --json
	[ "$(value 'd["checksum"]')" = "$after" ]
}

@test "sim whatif answers bad changes in one sentence" {
	run gpupool sim whatif --nodes n.csv --pods p.csv
	[ "$status" -eq 2 ]
	run gpupool sim whatif --nodes n.csv --pods p.csv --policy best
	[ "$status" -eq 2 ]
	run gpupool sim whatif --nodes n.csv --pods p.csv --remove-nodes 3
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	run gpupool sim whatif --nodes n.csv --pods p.csv --mig-file nowhere
	[ "$status" -eq 1 ]
	[[ $output == *nowhere* ]]
}
