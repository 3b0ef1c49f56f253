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

@test "bench place of several clusters is a table, or an array of the objects that each gives alone" {
	run gpupool bench place --nodes 40,20,80 --pods 2000 --json
	[ "$status" -eq 0 ]
	holds '[each["nodes"] for each in it] == [40, 20, 80]'
	holds 'all(each["placed"] + each["refused"] == 2000 for each in it)'
	several=$output
	run gpupool bench place --nodes 20 --pods 2000 --json
	holds 'it["nodes"] == 20'
	[ "$(checksum "$output")" = "$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])[1]["checksum"])' "$several")" ]
	run gpupool bench place --nodes 40,20,80 --pods 2000
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 4 ]
	[[ ${lines[0]} =~ ^\ *NODES\ +X\ NODES\ +DECISIONS/S\ +US\ EACH\ +X\ COST\ +P50\ US\ +P99\ US ]]
	[[ ${lines[1]} =~ ^\ *40\ +1\ +[0-9]+\ +[0-9.]+\ +1\.00\  ]]
	[[ ${lines[2]} =~ ^\ *20\ +0\.5\  ]]
}

@test "bench place --plot draws microseconds over nodes" {
	command -v gnuplot >/dev/null || skip "gnuplot is not installed; run test/lib/install demo"
	out="$BATS_TEST_TMPDIR/plots"
	run gpupool bench place --nodes 20,40,80 --cards 4 --pods 2000 --policy fgd --plot "$out"
	[ "$status" -eq 0 ]
	grep -q 'nodes of 4 cards, 50 to 95 % full, 2000 decisions each, policy fgd, ties name' "$out/placement.svg"
	[ -s "$out/placement.png" ]
	# The rows are those of the table, and the last line grows as the cluster does.
	python3 - "$out/placement.csv" "$output" <<-'EOF'
		import csv, sys
		rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(open(sys.argv[1]))]
		printed = [line.split() for line in sys.argv[2].splitlines()[1:]]
		assert [row["nodes"] for row in rows] == [20, 40, 80], rows
		for row, words in zip(rows, printed, strict=True):
		    assert abs(row["mean_us"] - float(words[3])) < 0.006, (row, words)
		    assert abs(row["p50_us"] - float(words[5])) < 0.006 and abs(row["p99_us"] - float(words[6])) < 0.006
		    assert 0 < row["p50_us"] <= row["p99_us"]
		    assert abs(row["as_the_cluster_us"] - rows[0]["mean_us"] * row["nodes"] / 20) < 0.01, row
	EOF
}

@test "bench place says what sizes it does not take, before it measures" {
	for nodes in 0 5,0 100001 x 5,,6 ''; do
		run gpupool bench place --nodes "$nodes"
		[ "$status" -eq 2 ] || { echo "--nodes '$nodes': $status"; return 1; }
		[[ $output == "gpupool: --nodes wants "* ]]
	done
	run gpupool bench place --nodes 1..65
	[ "$status" -eq 2 ]
	[[ $output == "gpupool: --nodes names 65 clusters; write at most 64" ]]
	run gpupool bench place --nodes 50 --plot "$BATS_TEST_TMPDIR/plots"
	[ "$status" -eq 2 ]
	[[ $output == "gpupool: --plot draws several clusters; write for example --nodes 100,1000,10000" ]]
	[ ! -e "$BATS_TEST_TMPDIR/plots" ]
}
