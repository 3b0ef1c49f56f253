#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Our YAML against kubectl's reader (sigs.k8s.io/yaml, a Go module), over random texts.
load ../lib/common

setup_file() {
	command -v go >/dev/null || return 0
	export PEER=$BATS_FILE_TMPDIR/peer
	(cd "$ROOT/test/peers/yaml" && GOTOOLCHAIN=local timeout 120 nice go build -o "$PEER" .) >"$BATS_FILE_TMPDIR/why" 2>&1 || true
}

need_peer() {
	command -v go >/dev/null || skip "Go is not installed"
	[ -x "$PEER" ] || skip "sigs.k8s.io/yaml cannot be built: $(tail -n 1 "$BATS_FILE_TMPDIR/why")"
}

@test "random texts mean the same to kubectl and to us" {
	need_peer
	count=$(scaled 400000)
	"$ROOT/test/peers/yaml_compare" "$BUILD/test/peers/yaml_texts" "$PEER" "$count" "${SEED:-$RANDOM}"
}

@test "the comparison notices one text that means something else" {
	need_peer
	cat >"$BATS_TEST_TMPDIR/odd" <<-EOF
		#!/bin/sh
		"$BUILD/test/peers/yaml_texts" | sed '/^{"a":\[/{s/true/false/;s/\[[0-9]/["x",0/;}'
	EOF
	chmod +x "$BATS_TEST_TMPDIR/odd"
	run "$ROOT/test/peers/yaml_compare" "$BATS_TEST_TMPDIR/odd" "$PEER" 400 1
	[ "$status" -eq 1 ]
	[[ $output == *"ours {"* ]]
}
