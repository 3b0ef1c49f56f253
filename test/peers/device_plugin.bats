#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The configuration of gpupoold against what NVIDIA's device plugin (v0.20, commit 1b826acc) made of the same command lines,
# environments and files, as recorded in test/data/plugin_config/recorded.json. Its module cannot be fetched by Go everywhere;
# where GPUPOOL_TEST_DEVICE_PLUGIN names the program, the record is compared with it too.
load ../lib/common

COMPARE=$ROOT/test/peers/device_plugin/compare
RECORD=$ROOT/test/data/plugin_config/recorded.json

@test "each case means what it means to NVIDIA's plugin, or is a listed difference" {
	run "$COMPARE" check "$BIN/gpupoold" "$RECORD"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" =~ ([0-9]+)\ cases,\ ([0-9]+)\ refused,\ ([0-9]+)\ listed ]]
	[ "${BASH_REMATCH[1]}" -ge 444 ]
	[ "${BASH_REMATCH[2]}" -ge 60 ]
	[ "${BASH_REMATCH[3]}" -le 13 ]
}

# wrong TEXT: a gpupoold with this change in front of it is noticed.
wrong() {
	printf '#!/bin/sh\n%s\nexec "%s" "$@"\n' "$1" "$BIN/gpupoold" >"$BATS_TEST_TMPDIR/wrong"
	chmod +x "$BATS_TEST_TMPDIR/wrong"
	run "$COMPARE" check "$BATS_TEST_TMPDIR/wrong" "$RECORD"
	[ "$status" -ne 0 ]
	[[ "$output" == *"$2"* ]]
}

@test "control: a variable that does not count is noticed" {
	wrong 'unset DRIVER_ROOT_CTR_PATH' '"DRIVER_ROOT_CTR_PATH"'
}

@test "control: an environment that is stronger than the command line is noticed" {
	wrong '[ -z "${MIG_STRATEGY:-}" ] || set -- "$@" "--mig-strategy=$MIG_STRATEGY"' 'flags.migStrategy'
}

@test "the record is what NVIDIA's plugin says" {
	[ -x "${GPUPOOL_TEST_DEVICE_PLUGIN:-}" ] || skip "GPUPOOL_TEST_DEVICE_PLUGIN names no program"
	[ "$(id -u)" = 0 ] || skip "needs root: the plugin may write CDI specs, which go nowhere here"
	unshare -m sh -ec 'mkdir -p /run/cdi && mount -t tmpfs tmpfs /run/cdi; exec "$@"' - \
		"$COMPARE" record "$GPUPOOL_TEST_DEVICE_PLUGIN" >"$BATS_TEST_TMPDIR/record"
	cmp "$RECORD" "$BATS_TEST_TMPDIR/record"
}
