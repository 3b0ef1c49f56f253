#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What `gpupool bench` prints; how fast it is, is judged by bench/bench_place.c.

load ../lib/common

setup() {
	[ -x "$BIN/gpupool" ] || { echo "$BIN/gpupool is not built"; return 1; }
}

# Is EXPRESSION true of the JSON object `it` in $output?
holds() {
	python3 -c 'import json, sys; it = json.loads(sys.argv[1]); sys.exit(not eval(sys.argv[2]))' \
		"$output" "$1" || { echo "not so: $1"; echo "$output"; return 1; }
}

checksum() {
	python3 -c 'import json, sys; print(json.loads(sys.argv[1])["checksum"])' "$1"
}

bench() {
	run gpupool bench place --nodes 40 --cards 8 --pods 3000 --json "$@"
	[ "$status" -eq 0 ]
}

@test "bench place prints one object with the fields that scripts read" {
	bench
	holds 'it["placed"] + it["refused"] == 3000 and it["placed"] > 1000 and it["refused"] > 10'
	holds '0 < it["p50_us"] <= it["p99_us"] and it["decisions_per_second"] > 100'
	holds 'it["rss_mib"] > 1 and len(it["checksum"]) == 16'
}

@test "bench place keeps the cluster between half and 95 % full, as far as one Pod allows" {
	bench --pods 20000
	holds '47 <= it["fill_least_percent"] < 60 and 90 < it["fill_most_percent"] <= 98'
}

@test "bench place decides the same each time, otherwise with another seed or policy" {
	bench
	first=$output
	bench
	[ "$(checksum "$output")" = "$(checksum "$first")" ]
	bench --seed 43
	[ "$(checksum "$output")" != "$(checksum "$first")" ]
	bench --policy spread
	[ "$(checksum "$output")" != "$(checksum "$first")" ]
}

@test "bench place takes clusters of one card, and says what it does not take" {
	bench --nodes 1 --cards 1
	run gpupool bench place --nodes 0
	[ "$status" -eq 2 ]
	run gpupool bench place --cards 65
	[ "$status" -eq 2 ]
}
