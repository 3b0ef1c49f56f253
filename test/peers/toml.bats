#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Our TOML against the public suite toml-test, in its form for TOML 1.0.
load ../lib/common

setup_file() {
	SUITE=$("$ROOT/test/peers/toml/build") || SUITE_ABSENT=$SUITE
	export SUITE SUITE_ABSENT
}

setup() {
	[ -z "${SUITE_ABSENT:-}" ] || skip "$SUITE_ABSENT"
	export NO_COLOR=1
}

# counted WORD: how many cases of this kind passed; all of them, or the test fails.
counted() {
	[[ $output =~ $1\ tests:\ *([0-9]+)\ passed,\ *0\ failed ]]
	echo "${BASH_REMATCH[1]}"
}

@test "every valid text means what toml-test says, every invalid one is refused" {
	run "$SUITE" test -toml 1.0 -timeout 20s -decoder "$BUILD/test/peers/toml_tagged"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(counted ' valid')" -ge 205 ]
	[ "$(counted invalid)" -ge 474 ]
}

@test "the suite notices a reader that takes everything and one that changes a value" {
	local reader=$BUILD/test/peers/toml_tagged
	printf '#!/bin/sh\n"%s" 2>/dev/null || echo "{}"\n' "$reader" >"$BATS_TEST_TMPDIR/lenient"
	printf '#!/bin/sh\n"%s" | sed "s/true/false/"\n' "$reader" >"$BATS_TEST_TMPDIR/wrong"
	chmod +x "$BATS_TEST_TMPDIR"/{lenient,wrong}
	run "$SUITE" test -toml 1.0 -timeout 20s -run 'invalid/table/*' -decoder "$BATS_TEST_TMPDIR/lenient"
	[ "$status" -ne 0 ]
	run "$SUITE" test -toml 1.0 -timeout 20s -run 'valid/bool/*' -decoder "$BATS_TEST_TMPDIR/wrong"
	[ "$status" -ne 0 ]
}
