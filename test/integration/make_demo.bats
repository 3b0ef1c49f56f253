#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# `make demo` as a newcomer types it: the simulated driver is started, and always stopped again.

load ../lib/common
load ../lib/driver

setup_file() {
	needs_containers
	make -C "$ROOT" --no-print-directory build
	namespace_start
}

teardown_file() {
	namespace_stop
}

setup() {
	needs_containers
	[ ! -r /proc/driver/nvidia/version ] || skip "this machine has a real driver"
	mkdir -p "$BATS_TEST_TMPDIR/tmp"
}

# dev/demo in the namespace, with a folder for temporary files of its own.
demo() {
	inside env -u GPUPOOL_DRIVER_ROOT TMPDIR="$BATS_TEST_TMPDIR/tmp" "$ROOT/dev/demo" "$@"
}

nothing_is_left() {
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/tmp")" ] || { ls -R "$BATS_TEST_TMPDIR/tmp" | head; return 1; }
	not pgrep -f "nvidia-persistenced --root $BATS_TEST_TMPDIR/tmp"
}

@test "make demo: every profile shows its cards, all facts are as granted, nothing is left" {
	local row
	for row in "a100-80:NVIDIA A100-SXM4-80GB" "h100:NVIDIA H100 80GB HBM3" "t4:Tesla T4" "mixed:Tesla T4"; do
		run demo "${row%%:*}"
		[ "$status" -eq 0 ] || { echo "$output"; return 1; }
		[[ $output == *"${row#*:}"* ]]
		grep -qE '^[1-9][0-9]* facts read back \(simulated\), 0 not as granted$' <<<"$output"
		nothing_is_left
	done
}

@test "make demo: a profile that does not exist is exit 3, with the reason, and nothing is left" {
	run demo no-such-profile
	[ "$status" -eq 3 ]
	[[ $output == *no-such-profile* ]]
	nothing_is_left
}

@test "make demo: an interrupt stops the driver too" {
	local out=$BATS_TEST_TMPDIR/out
	# A process group of its own, as a terminal's job has; each word replaces the one before it.
	(exec setsid nsenter -t "$NAMESPACE" -m --wd="$PWD" -- env -u GPUPOOL_DRIVER_ROOT \
		TMPDIR="$BATS_TEST_TMPDIR/tmp" "$ROOT/dev/demo" a100-80 >"$out" 2>&1 3>&-) &
	local demo=$!
	for _ in $(seq 400); do
		grep -q '^\$ gpupool apply' "$out" && break
		read -rt 0.05 <> <(:) || true
	done
	grep -q '^\$ gpupool apply' "$out"
	kill -TERM -- "-$demo"
	local code=0
	wait "$demo" || code=$?
	[ "$code" -eq 143 ] || { echo "exit status $code"; return 1; }
	nothing_is_left
}
