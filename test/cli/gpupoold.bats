#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The command line of gpupoold: help, man page, completion, --check and its exit codes.

load ../lib/common

setup() {
	[ -x "$BIN/gpupoold" ] || { echo "$BIN/gpupoold is not built"; return 1; }
	FILE=$BATS_TEST_TMPDIR/config.yaml
}

# Without what the caller's environment may hold.
daemon() {
	env -i LC_ALL=C.UTF-8 "$BIN/gpupoold" "$@"
}

options_in_help() {
	daemon --help | grep -oE '^  (-., )?--[a-z-]+(, --[a-z-]+)*' | grep -oE -e '--[a-z-]+'
}

options_in_man() {
	daemon --print-man | tr -d '\\' | grep -E '^\*--' | grep -oE -e '\*--[a-z-]+\*' | tr -d '*'
}

completed() { # WORDS BEFORE THE CURSOR...
	daemon --print-completion | bash -c '
		source /dev/stdin
		COMP_WORDS=(gpupoold "$@")
		COMP_CWORD=$#
		_gpupoold
		printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}

same() { # WHAT FIRST SECOND
	[ -n "$2" ] || { echo "$1: the first list is empty"; return 1; }
	diff <(sort <<<"$2") <(sort <<<"$3") || { echo "$1: the lists differ"; return 1; }
}

@test "man page and completion have the options of the help" {
	same "man page" "$(options_in_help)" "$(options_in_man)"
	same "completion" "$(options_in_help)" "$(completed --)"
}

@test "the completion knows the words of an option" {
	[ "$(completed --mig-strategy = m)" = mixed ]
	[ "$(completed --device-id-strategy '')" = "$(printf 'uuid\nindex')" ]
}

@test "the help has its groups, and no line is longer than a screen" {
	daemon --help >"$FILE"
	local group
	for group in Actions 'What is listed' 'What a container gets' 'The driver' 'Health and metrics' \
		'Files and sockets' 'Accepted, without effect' 'Sections of the file'; do
		grep -qx "$group:" "$FILE" || { echo "no group $group"; return 1; }
	done
	not grep -E '^.{121}' "$FILE"
}

@test "the man page is one that scdoc accepts" {
	command -v scdoc >/dev/null || skip "scdoc is not installed"
	daemon --print-man | scdoc | grep -q '^\.TH "gpupoold" "8"'
}

@test "the sections of the file are in the help and the man page, too" {
	local help man
	help=$(daemon --help | sed -n '/^Sections of the file/,$s/^  \([a-z][^ ]*\)$/\1/p')
	man=$(daemon --print-man | tr -d '\\' | sed -n '/^## Sections of the file/,/^# /s/^\*\(.*\)\*$/\1/p')
	same "sections" "$help" "$man"
	same "sections" "$help" "$(printf '%s\n' version sharing.timeSlicing sharing.mps gpupool.cards resources.gpus \
		resources.mig runtime)"
}

@test "the example of the man page is a file that counts" {
	daemon --print-man | sed -n '/^```$/,/^```$/p' | grep -v '^```' >"$FILE"
	[ -s "$FILE" ]
	run daemon --config-file "$FILE" --check
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *'migStrategy: "mixed" # file'* ]]
}

@test "the version is that of gpupool" {
	[ "$(daemon --version)" = "gpupoold $(gpupool --version | cut -d' ' -f2)" ]
	[ "$(daemon -v)" = "$(daemon --version)" ]
}

@test "--check prints what counts, with its source, and ends with 0" {
	printf 'flags: {migStrategy: single, failOnInitError: true}\n' >"$FILE"
	run env -i CONFIG_FILE="$FILE" MIG_STRATEGY=mixed "$BIN/gpupoold" --check --probe-period=7s
	echo "$output"
	[ "$status" -eq 0 ]
	grep -qx "# file: $FILE" <<<"$output"
	grep -qx '  migStrategy: "mixed" # environment' <<<"$output"
	grep -qx '  failOnInitError: true # file' <<<"$output"
	grep -qx '  probePeriod: "7s" # command line' <<<"$output"
	grep -qx '  probeTimeout: "10s" # default' <<<"$output"
}

@test "what --check prints is a file that says the same" {
	printf 'sharing: {timeSlicing: {resources: [{name: gpu, replicas: 4}]}}\n' >"$FILE"
	daemon --config-file "$FILE" --mig-strategy=single --check | grep -v '^# file' >"$FILE.again"
	daemon --config-file "$FILE.again" --check | grep -v '^# file' >"$FILE.third"
	diff <(sed 's/ # .*//' "$FILE.again") <(sed 's/ # .*//' "$FILE.third")
	grep -q 'replicas: 4' "$FILE.third"
}

@test "--check --json is JSON with config, sources and notes" {
	daemon --check --json --mps-root=/mps | python3 -c '
import json, sys
report = json.load(sys.stdin)
assert report["config"]["flags"]["mpsRoot"] == "/mps", report
assert report["sources"]["flags.mpsRoot"] == "command line", report
assert report["sources"]["flags.migStrategy"] == "default", report
assert report["file"] == "", report
assert report["notes"] == ["mps-root (the command line) has no effect: gpupoold does not share cards by MPS yet"], report
'
}

@test "a JSON file counts as a YAML file does, also one with tabs" {
	printf '{\n\t"version": "v1",\n\t"flags": {"migStrategy": "mixed"}\n}\n' >"$FILE"
	daemon --config-file "$FILE" --check | grep -qx '  migStrategy: "mixed" # file'
}

@test "a broken file ends with 1 and one sentence" {
	printf 'version: v1\nflags:\n  migStrategi: mixed\n' >"$FILE"
	run daemon --config-file "$FILE" --check
	[ "$status" -eq 1 ]
	[ "$output" = "gpupoold: $FILE:3: flags.migStrategi: there is no such key; did you mean flags.migStrategy?" ]
}

@test "a file that is not there ends with 1" {
	run daemon --config-file "$BATS_TEST_TMPDIR/none.yaml" --check
	[ "$status" -eq 1 ]
	[[ "$output" == *"none.yaml': No such file or directory; check the path" ]]
}

@test "a wrong environment ends with 1, a wrong command line with 2" {
	run env -i MIG_STRATEGY=foo "$BIN/gpupoold" --check
	[ "$status" -eq 1 ]
	run daemon --mig-strategy=foo --check
	[ "$status" -eq 2 ]
	run daemon --mig-stratgy=none
	[ "$status" -eq 2 ]
	run daemon frobnicate
	[ "$status" -eq 2 ]
}

@test "what this version does not have is printed, then refused with 1" {
	run daemon --check --card-mode=auto
	[ "$status" -eq 1 ]
	[[ "$output" == *'mode: "auto" # command line'* ]]
	[[ "$output" == *"gpupoold: card mode auto needs the planner"* ]]
}

@test "output that cannot be written is a failure" {
	run bash -c '"$1" --check >/dev/full' - "$BIN/gpupoold"
	[ "$status" -eq 1 ]
	[[ "$output" == *"standard output could not be written"* ]]
}
