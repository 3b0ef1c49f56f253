#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# dev/results, with one list and one seed: its figures are those of the simulator.

load ../lib/common

setup() {
	[ -x "$BIN/gpupool" ] || { echo "$BIN/gpupool is not built"; return 1; }
	command -v gnuplot >/dev/null || skip "gnuplot is not installed; run test/lib/install demo"
	out=$BATS_TEST_TMPDIR/docs data=$ROOT/test/data/openb
}

results() {
	"$ROOT/dev/results" --gpupool "$BIN/gpupool" --out "$out" --lists default --seeds 42..42 --others 52..53 "$@"
}

# The allocation of a run of POLICY with more options.
allocated() { # POLICY OPTION...
	local policy=$1
	shift
	gpupool sim run --nodes "$data/openb_node_list_gpu_node.csv" --pods "$data/openb_pod_list_default.csv" \
		--policy "$policy" --seed 42 --json "$@" | jq -r '.allocated_percent * 100 | round / 100'
}

@test "the page and its pictures are written, with the figures of the runs" {
	results
	cat "$out/results.md"
	grep -q "^| default |.* $(allocated dotprod --original) (.* $(allocated fgd --original) (" "$out/results.md"
	grep -q "^| default |.* $(allocated fgd --ties bestfit) | $(allocated default --ties bestfit) | +" "$out/results.md"
	# One shuffle: random is far on it, and nobody else.
	grep -q '^5 of 6 cells are within 0.5 points' "$out/results.md"
	[ "$(grep -o '[a-z]* on default is not reproduced' "$out/results.md")" = "random on default is not reproduced" ]
	local picture
	for picture in $(sed -n 's/.*](results\/\(.*\.svg\)).*/\1/p' "$out/results.md"); do
		python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$out/results/$picture"
	done
	[ "$(find "$out/results" -type f | wc -l)" -eq 5 ]
}

@test "control: a cell that is far from the published one is listed, with what other seeds say" {
	mkdir "$BATS_TEST_TMPDIR/data"
	ln -s "$data"/openb_node_list_gpu_node.csv "$data"/openb_pod_list_default.csv "$BATS_TEST_TMPDIR/data"
	sed '/^openb_pod_list_default,FGD,/s/,[^,]*,\([^,]*\)$/,97.000,\1/' "$data/expected_alloc_paper.csv" \
		>"$BATS_TEST_TMPDIR/data/expected_alloc_paper.csv"
	results --data "$BATS_TEST_TMPDIR/data"
	grep -q '^4 of 6 cells are within 0.5 points' "$out/results.md"
	grep -q '^\* \*\*fgd on default is not reproduced\*\*: .* 2 other shuffles (seeds 52 to 53)' "$out/results.md"
}

# "POLICY on LIST `CHECKSUM`" of PAGE whose run decides otherwise by now.
outdated() { # PAGE
	local policy list checksum
	while read -r policy _ list checksum; do
		[ "$(gpupool sim run --nodes "$data/openb_node_list_gpu_node.csv" --pods "$data/openb_pod_list_$list.csv" \
			--policy "$policy" --ties bestfit --seed 42 --json | jq -r .checksum)" = "$checksum" ] || echo "$policy on $list"
	done < <(grep -o '[a-z]* on [a-z0-9]* `[0-9a-f]\{16\}`' "$1" | tr -d '`')
}

@test "docs/results.md is of the policies as they are; else run dev/results" {
	[ "$(grep -o ' on [a-z0-9]* `[0-9a-f]\{16\}`' "$ROOT/docs/results.md" | wc -l)" -eq 4 ]
	[ -z "$(outdated "$ROOT/docs/results.md")" ]
	# Control: a page of other decisions.
	echo 'fgd on default `0123456789abcdef`' >"$BATS_TEST_TMPDIR/page"
	[ "$(outdated "$BATS_TEST_TMPDIR/page")" = "fgd on default" ]
}
