#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The schema of PoolNode and an object of it, by the API server's own checks (k8s.io/apiextensions-apiserver, a Go module).
load ../lib/common

setup_file() {
	command -v go >/dev/null || return 0
	export PEER=$BATS_FILE_TMPDIR/peer
	(cd "$ROOT/test/peers/crd" && GOTOOLCHAIN=local timeout 400 nice go build -o "$PEER" .) >"$BATS_FILE_TMPDIR/why" 2>&1 || true
}

setup() {
	command -v go >/dev/null || skip "Go is not installed"
	[ -x "$PEER" ] || skip "k8s.io/apiextensions-apiserver cannot be built: $(tail -n 1 "$BATS_FILE_TMPDIR/why")"
	crd=$ROOT/deploy/crds/poolnodes.yaml object=$ROOT/test/fuzz/corpus/poolnode/two-cards.json
	changed=$BATS_TEST_TMPDIR/changed
}

@test "the API server takes the definition, and an object without dropping a field" {
	run "$PEER" "$crd" "$object"
	echo "$output"
	[ "$output" = valid ]
}

@test "control: a schema that is not structural is refused" {
	sed '0,/^ *health:$/{/^ *health:$/{n;s/type: [a-z]*/title: x/}}' "$crd" >"$changed"
	not cmp -s "$crd" "$changed"
	run "$PEER" "$changed"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"must not be empty for specified object fields"* ]]
}

@test "control: an object that the schema does not know is refused" {
	sed 's/"mode":"auto"/"mode":"half"/' "$object" >"$changed"
	run "$PEER" "$crd" "$changed"
	[ "$status" -eq 1 ]
	[[ $output == *'status.cards[0].mode: Unsupported value: "half"'* ]]
	sed 's/"mode":"auto"/"mode":"auto","rack":"r1"/' "$object" >"$changed"
	run "$PEER" "$crd" "$changed"
	[ "$status" -eq 1 ]
	[[ $output == *'fields that would be dropped: [status.cards[0].rack]'* ]]
}
