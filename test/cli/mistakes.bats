#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What an administrator mistypes beside containerd, Docker and CRI-O: each slip has a sentence and its exit code. No root,
# no engine and no driver.
load ../lib/common
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir run bundle
	export GPUPOOL_RUN_DIR=$PWD/run
	echo '{}' >daemon.json
}

configure() {
	run "$BIN/gpupool" configure "$@"
	echo "$output"
}

@test "configure: names and paths that nobody could use" {
	configure --runtime-class --runtime-name A_b
	[ "$status" -eq 2 ]
	[[ $output == *"'A_b' can be no handler of a RuntimeClass"* ]]
	configure --runtime-class --runtime-name our-cards
	[ "$status" -eq 0 ]
	[[ $output == *"handler: our-cards" ]]
	configure --runtime docker --config "$PWD/daemon.json" --runtime-path bin/gpupool-runtime --dry-run
	[ "$status" -eq 2 ]
	[[ $output == *"--runtime-path wants an absolute path, not 'bin/gpupool-runtime'"* ]]
}

@test "configure: an engine that does not run is not restarted, and a program that is not there is said" {
	configure --runtime docker --config "$PWD/daemon.json" --runtime-path "$PWD/gpupool-runtme" --dry-run
	[ "$status" -eq 0 ]
	[[ $output == *"gpupool-runtme is not there; until it is, no container of this runtime starts"* ]]
	[[ $output == *"engine: docker, which does not run here"* ]]
	[[ $output == *"restart: none, since it does not run" ]]
	configure --runtime docker --config "$PWD/daemon.json" --runtime-path "$BIN/gpupool-runtime" --dry-run --json
	jq -e ".restart == \"reload\" and .endsContainers == false and .runs == false" <<<"$output"
	[ "$(cat daemon.json)" = '{}' ]
	configure --runtime docker --config "$PWD/daemon.json" --runtime-path "$BIN/gpupool-runtime" --dry-run
	[[ $output != *"is not there"* ]]
}

@test "gpupool-runtime: the bundle by its short name, and which configuration was read" {
	run "$BIN/gpupool-runtime" --explain -b bundle
	[ "$status" -eq 1 ]
	[[ $output == *"bundle bundle: cannot read config.json"*"name the bundle by --bundle" ]]
	run "$BIN/gpupool-runtime" --explain -b
	[ "$status" -eq 2 ]
	command -v runc >/dev/null || skip "no runc"
	NVIDIA_CTK_CONFIG_FILE_PATH=$PWD/none GPUPOOL_CONFIG=$PWD/none run "$BIN/gpupool-runtime" --check
	grep -qx "configuration: no file; the defaults hold" <<<"$output"
	echo 'runtimes: [crun]' >ours.yaml
	: >theirs.toml
	NVIDIA_CTK_CONFIG_FILE_PATH=$PWD/theirs.toml GPUPOOL_CONFIG=$PWD/ours.yaml run "$BIN/gpupool-runtime" --check
	echo "$output"
	grep -qx "configuration: $PWD/theirs.toml, $PWD/ours.yaml" <<<"$output"
	grep -q "ours.yaml has no section runtime, so that nothing in it counts here" <<<"$output"
}
