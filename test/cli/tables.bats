#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Help, man page, completion and README speak of the same commands and options.

load ../lib/common

setup() {
	[ -x "$BIN/gpupool" ] || { echo "$BIN/gpupool is not built"; return 1; }
}

in_help() {
	gpupool --help | sed -nE '/^Commands:/,/^$/s/^  ([a-z-]+( [a-z-]+)?)(  .*|$)/\1/p'
}

in_man() {
	gpupool --print-man | tr -d '\\' | sed -n '/^# COMMANDS/,$s/^## //p'
}

# What the completion offers after the words "$@".
completed() {
	gpupool --print-completion | bash -c '
		source /dev/stdin
		COMP_WORDS=(gpupool "$@")
		COMP_CWORD=$#
		_gpupool
		[ "${#COMPREPLY[@]}" -gt 0 ] && printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}

# A name that offers names is a group: "sim run".
in_completion() {
	local name words word
	for name in $(completed '' | grep -v -e '^-' -e '^help$'); do
		words=$(completed "$name" '' | grep -v '^-') || { echo "$name"; continue; }
		for word in $words; do echo "$name $word"; done
	done
}

in_readme() {
	sed -nE 's/^\| `gpupool ([a-z-]+( [a-z-]+)?)` .*/\1/p' "${1:-$ROOT/README.md}"
}

options_in_help() {
	gpupool $1 --help | sed -nE '/^Options:/,/^$/s/^  (-., |    )(--[a-z-]+).*/\2/p'
}

options_in_man() {
	gpupool --print-man | tr -d '\\' | awk -v command="$1" '
		/^## / { here = substr($0, 4) == command }
		here' | sed -nE 's/^(\*-.\*, )?\*(--[a-z-]+)\*.*/\2/p'
}

# Both lists hold the same lines, and at least one.
same() { # WHAT FIRST SECOND
	[ -n "$2" ] || { echo "$1: the first list is empty"; return 1; }
	diff <(sort <<<"$2") <(sort <<<"$3") || { echo "$1: the lists differ"; return 1; }
}

@test "the man page has the commands of the help" {
	same "man page" "$(in_help)" "$(in_man)"
}

@test "the completion has the commands of the help" {
	same "completion" "$(in_help)" "$(in_completion)"
}

@test "the man page names that of the runtime" {
	gpupool --print-man | sed -n '/^# SEE ALSO/,$p' | grep -q 'gpupool-runtime\*(8)'
}

@test "the README has the commands of the help" {
	same "README" "$(in_help)" "$(in_readme)"
}

@test "control: a README without one command is noticed" {
	local page=$BATS_TEST_TMPDIR/README.md
	grep -v '^| `gpupool run`' "$ROOT/README.md" >"$page"
	! same "README" "$(in_help)" "$(in_readme "$page")"
}

@test "each command's options are the same in help, man page and completion" {
	local name
	in_help | while read -r name; do
		same "man page of $name" "$(options_in_help "$name")" \
			"$(echo --help; options_in_man "$name")"
		same "completion of $name" "$(options_in_help "$name")" "$(completed $name --)"
	done
}

@test "the man page is one that scdoc accepts" {
	command -v scdoc >/dev/null || skip "scdoc is not installed"
	gpupool --print-man | scdoc | grep -q '^\.TH'
}

@test "a command that does not exist is wrong usage, exit 2" {
	run gpupool does-not-exist
	[ "$status" -eq 2 ]
}
