#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Pictures of the simulator: files that others can read, and a sentence where they cannot be drawn.

load ../lib/common

setup() {
	[ -x "$BIN/gpupool" ] || { echo "$BIN/gpupool is not built"; return 1; }
	cluster='9 nodes of 4 T4; 2 nodes of 8 h100; 30 Pods of 4 GiB; 9 Pods of 3 cards'
	out=$BATS_TEST_TMPDIR/plots
}

need_gnuplot() {
	command -v gnuplot >/dev/null || skip "gnuplot is not installed; run test/lib/install demo"
}

# A PATH with gpupool and without gnuplot.
hide_gnuplot() {
	mkdir -p "$BATS_TEST_TMPDIR/bin"
	ln -sf "$BIN/gpupool" "$BATS_TEST_TMPDIR/bin/gpupool"
	PATH=$BATS_TEST_TMPDIR/bin
}

# Each NAME has a PNG of some size that is not of one colour, an SVG that is well-formed, a table with
# a header, and the script that drew it.
pictures() { # NAME...
	python3 - "$out" "$@" <<-'EOF'
		import csv, struct, sys, xml.dom.minidom, zlib
		folder = sys.argv[1]
		for name in sys.argv[2:]:
		    png = open("%s/%s.png" % (folder, name), "rb").read()
		    assert png[:8] == b"\x89PNG\r\n\x1a\n" and png[12:16] == b"IHDR", name
		    width, height = struct.unpack(">II", png[16:24])
		    assert width >= 600 and height >= 200, (name, width, height)
		    data, at = b"", 8
		    while at < len(png):
		        length, kind = struct.unpack(">I4s", png[at:at + 8])
		        body = png[at + 8:at + 8 + length]
		        assert zlib.crc32(kind + body) == struct.unpack(">I", png[at + 8 + length:at + 12 + length])[0]
		        data += body if kind == b"IDAT" else b""
		        at += 12 + length
		    assert len(set(zlib.decompress(data))) > 8, name
		    svg = xml.dom.minidom.parse("%s/%s.svg" % (folder, name)).documentElement
		    assert svg.tagName == "svg" and svg.getElementsByTagName("text"), name
		    rows = list(csv.reader(open("%s/%s.csv" % (folder, name))))
		    assert len(rows) > 2 and len({len(row) for row in rows}) == 1, name
		    assert "plot '%s.csv'" % name in open("%s/%s.gnuplot" % (folder, name)).read(), name
	EOF
}

@test "sim run --plot draws allocation, fragmentation and the cards" {
	need_gnuplot
	run gpupool sim run --cluster-text "$cluster" --seeds 1..3 --plot "$out"
	echo "$output"
	[ "$status" -eq 0 ]
	pictures allocation fragmentation cards
	grep -q 'policy default, ties name, mean of 3 seeds, 1 to 3' "$out/allocation.svg"
	grep -q 'T4 (9 nodes)' "$out/cards.svg"
	grep -q '<image style=.image-rendering:pixelated' "$out/cards.svg"
	# A card a row: what is left of all of them is what is free.
	python3 - "$out/cards.csv" <<-'EOF'
		import csv, sys
		rows = [row for row in csv.DictReader(open(sys.argv[1])) if row["node"]]
		assert len(rows) == 9 * 4 + 2 * 8, len(rows)
		assert {row["card"] for row in rows if "H100" in row["model"]} == set("01234567")
	EOF
}

@test "the cards of the picture are those of the run" {
	need_gnuplot
	run gpupool sim run --cluster-text "$cluster" --json --plot "$out"
	[ "$status" -eq 0 ]
	python3 - "$out/cards.csv" "$(jq .unallocated_gpus <<<"$output")" <<-'EOF'
		import csv, sys
		left = sum(float(row["left_percent"]) for row in csv.DictReader(open(sys.argv[1])) if row["node"])
		assert abs(left / 100 - float(sys.argv[2])) < 0.05, (left, sys.argv[2])
	EOF
}

@test "sim compare --plot has a curve a policy, and files of its own a list" {
	need_gnuplot
	cd "$ROOT/test/data/openb"
	head -n 2000 openb_pod_list_default.csv >"$BATS_TEST_TMPDIR/a.csv"
	head -n 2000 openb_pod_list_gpushare100.csv >"$BATS_TEST_TMPDIR/b 'c.csv"
	head -n 100 openb_node_list_gpu_node.csv >"$BATS_TEST_TMPDIR/nodes.csv"
	run gpupool sim compare --nodes "$BATS_TEST_TMPDIR/nodes.csv" --seeds 1,2 --policies fgd/bestfit,bestfit,random \
		--pods "$BATS_TEST_TMPDIR/a.csv,$BATS_TEST_TMPDIR/b 'c.csv" --plot "$out"
	echo "$output"
	[ "$status" -eq 0 ]
	pictures a-allocation a-fragmentation b__c-allocation b__c-fragmentation
	head -n 1 "$out/a-allocation.csv" | grep -q '^arrived_percent,fgd/bestfit allocated_percent,'
	[ "$(wc -l <"$out/a-allocation.csv")" -eq 131 ]
	grep -q "b 'c, mean of 2 seeds" "$out/b__c-allocation.svg"
}

@test "a replay is drawn over time" {
	need_gnuplot
	cd "$ROOT/test/data/openb"
	run gpupool sim run --nodes openb_node_list_gpu_node.csv --pods openb_pod_list_default.csv --replay --plot "$out"
	[ "$status" -eq 0 ]
	pictures allocation fragmentation
	head -n 1 "$out/allocation.csv" | grep -q '^hours,'
}

@test "without gnuplot the figures are there, one sentence says what to install, exit 3" {
	local path=$PATH
	hide_gnuplot
	run "$BIN/gpupool" sim run --cluster-text "$cluster" --plot "$out"
	PATH=$path
	[ "$status" -eq 3 ]
	[ "$(grep -c '^gpupool:' <<<"$output")" -eq 1 ]
	[[ $output == *"gpupool: plots are drawn by gnuplot, which is not in PATH; install it (Debian: apt-get install gnuplot-nox)"* ]]
	[ -s "$out/allocation.csv" ]
}

@test "what gnuplot says is passed on" {
	mkdir -p "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\necho "line 7: no such terminal" >&2\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/gnuplot"
	chmod +x "$BATS_TEST_TMPDIR/bin/gnuplot"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run gpupool sim run --cluster-text "$cluster" --plot "$out"
	[ "$status" -eq 1 ]
	[[ $output == *"gnuplot cannot draw $out/allocation.gnuplot: line 7: no such terminal"* ]]
}

@test "a directory that cannot be made is one sentence" {
	: >"$BATS_TEST_TMPDIR/file"
	run gpupool sim run --cluster-text "$cluster" --plot "$BATS_TEST_TMPDIR/file/plots"
	[ "$status" -eq 1 ]
	[ "$(grep -c '^gpupool:' <<<"$output")" -eq 1 ]
}
