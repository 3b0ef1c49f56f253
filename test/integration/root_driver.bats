#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The driver installed at /, as packages do it: nothing needs --driver-root, nothing is mounted.
load ../lib/common

at_root() {
	BUILD=$BUILD "$ROOT/test/lib/driver_at_root" "$@"
}

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare -m true 2>/dev/null || skip "needs mount namespaces (CAP_SYS_ADMIN)"
}

@test "inventory finds the driver at /, and does not call it real" {
	run at_root a100-80 "$BIN/gpupool" inventory --json
	echo "$output"
	[ "$status" = 0 ]
	jq -e '.cards | length == 8' <<<"$output"
	jq -e '.driverRoot == "/" or .driver_root == "/"' <<<"$output"
	run at_root a100-80 "$BIN/gpupool" inventory
	[[ $output == *"driver root /,"*", simulated"* ]]
}

@test "image host: nodes and masks only, no mount, no path of ours" {
	run at_root a100-80 "$BIN/gpupool" run --gpus 1 --dry-run --json -- true
	echo "$output"
	[ "$status" = 0 ]
	jq -e '[.containers[].plan.edits[] | select(.kind == "mount")] | length == 0' <<<"$output"
	jq -e '[.containers[].plan.edits[] | select(.kind == "device")] | length >= 2' <<<"$output"
	not grep -q /var/lib/gpupool/host <<<"$output"
	run at_root a100-80 "$BIN/gpupool" run --gpus 1 -- sh -c 'nvidia-smi -L; ls /dev'
	echo "$output"
	[ "$status" = 0 ]
	[ "$(grep -c 'UUID: GPU-' <<<"$output")" = 1 ]
	[ "$(grep -cE '^nvidia[0-9]+$' <<<"$output")" = 1 ]
}

@test "the demo reads back what was granted" {
	run at_root mixed "$BIN/gpupool" demo
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"facts read back (simulated), 0 not as granted"* ]]
}
