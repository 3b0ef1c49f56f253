#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The simulator on a cluster as kubectl prints it.

bats_require_minimum_version 1.5.0
load ../lib/common

setup() {
	[ -x "$BIN/gpupool" ] || { echo "$BIN/gpupool is not built"; return 1; }
	cd "$BATS_TEST_DIRNAME/../data/clusters" || return 1
}

# The value of KEY of the JSON object in $output.
number() {
	printf '%s' "$output" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

@test "a cluster as kubectl prints it: JSON, YAML and standard input say the same" {
	run --separate-stderr gpupool sim run --cluster mixed.json --json
	[ "$status" -eq 0 ]
	[ "$(number pods_running)" = 14 ]
	[ "$(number pods_placed)" = 4 ]
	[[ $stderr == "gpupool: read: 12 nodes with 25 cards; 18 Pods, of which 14 run already"* ]]
	[[ $(number notes) == *"5 Pods run on cards that are not known"* ]]
	checksum=$(number checksum) allocated=$(number allocated_percent)
	for input in "--cluster mixed.yaml" "--cluster -" \
		"--nodes mixed.json --pods mixed.yaml"; do
		# shellcheck disable=SC2086
		run --separate-stderr gpupool sim run $input --json <mixed.json
		[ "$status" -eq 0 ]
		[ "$(number checksum)" = "$checksum" ]
		[ "$(number allocated_percent)" = "$allocated" ]
	done
}

@test "a cluster that is cut off or broken is one sentence" {
	head -c 20000 mixed.json >"$BATS_TEST_TMPDIR/cut.json"
	run gpupool sim run --cluster "$BATS_TEST_TMPDIR/cut.json"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output =~ cut.json:[0-9]+:[0-9]+:\ the\ text\ ends ]]
	sed 's/31850m/-1/' mixed.yaml >"$BATS_TEST_TMPDIR/negative.yaml"
	run gpupool sim run --cluster "$BATS_TEST_TMPDIR/negative.yaml"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output =~ negative.yaml:[0-9]+:\ node\ hami-1:\ cpu,\ memory\ or\ pods ]]
}

@test "every question can be asked of a cluster" {
	run --separate-stderr gpupool sim run --cluster mixed.json --record "$BATS_TEST_TMPDIR/log"
	[ "$status" -eq 0 ]
	run gpupool sim replay "$BATS_TEST_TMPDIR/log"
	[ "$status" -eq 0 ]
	[[ $output == *"decisions, all equal" ]]
	run --separate-stderr gpupool sim fit --cluster mixed.json --ask '12 GiB' --json
	[ "$status" -eq 0 ]
	[ "$(number count)" -gt 0 ]
	run --separate-stderr gpupool sim fragments --cluster mixed.yaml --json
	[ "$status" -eq 0 ]
	run --separate-stderr gpupool sim whatif --cluster mixed.json --remove-nodes kai-1 --json
	[ "$status" -eq 0 ]
	run --separate-stderr gpupool sim compare --cluster mixed.json --seeds 1 --csv
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 3 ]
}
