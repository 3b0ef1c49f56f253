#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The simulator from the command line, on the openb traces.

load ../lib/common

setup() {
	[ -x "$BIN/gpupool" ] || { echo "$BIN/gpupool is not built"; return 1; }
	cd "$BATS_TEST_DIRNAME/../data/openb" || return 1
	nodes=openb_node_list_gpu_node.csv pods=openb_pod_list_default.csv
}

# The number KEY of the JSON object in $output.
number() {
	python3 -c 'import json, sys; print(json.loads(sys.argv[1])[sys.argv[2]])' "$output" "$1"
}

@test "sim run prints one object with the fields that scripts read" {
	run gpupool sim run --nodes $nodes --pods $pods --policy fgd --ties bestfit --seed 42 \
		--arrival 130 --json
	[ "$status" -eq 0 ]
	for key in policy ties seed arrived_percent allocated_percent unallocated_gpus \
		fragmented_percent pods_placed pods_failed seconds; do
		number "$key"
	done
	python3 -c "assert 95.0 < $(number allocated_percent) < 95.8"
}

@test "the same run gives the same answers, another seed others" {
	run gpupool sim run --nodes $nodes --pods $pods --seed 42 --json
	first=$(number checksum)
	run gpupool sim run --nodes $nodes --pods $pods --seed 42 --json
	[ "$(number checksum)" = "$first" ]
	run gpupool sim run --nodes $nodes --pods $pods --seed 43 --json
	[ "$(number checksum)" != "$first" ]
}

@test "the default policy places more than fgd on the same arrivals" {
	run gpupool sim run --nodes $nodes --pods $pods --seed 44 --json
	ours=$(number allocated_percent)
	run gpupool sim run --nodes $nodes --pods $pods --policy fgd --ties bestfit --seed 44 --json
	python3 -c "assert $ours > $(number allocated_percent)"
}

@test "bad input is one sentence with file and line" {
	printf 'sn,cpu_milli,gpu,model\nn,1,1,T4\n' >"$BATS_TEST_TMPDIR/nodes.csv"
	run gpupool sim run --nodes "$BATS_TEST_TMPDIR/nodes.csv" --pods $pods
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *nodes.csv:1:*memory_mib* ]]
	sed '5s/,1,460,/,1,-460,/' $pods | sed '3s/,1,460,/,1,-460,/' >"$BATS_TEST_TMPDIR/pods.csv"
	run gpupool sim run --nodes $nodes --pods "$BATS_TEST_TMPDIR/pods.csv"
	[ "$status" -eq 1 ]
	[[ $output == *pods.csv:3:* ]]
	run gpupool sim run --nodes $nodes --pods $pods --policy best
	[ "$status" -eq 2 ]
}
