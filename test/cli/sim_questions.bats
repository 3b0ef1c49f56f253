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
