#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Plugins of src/kubelet against the fake kubelet, each a process of its own; scenarios in test/data/kubelet.
load ../lib/common

setup() {
	lib=$BUILD/test/lib
	data=$ROOT/test/data/kubelet
	folder=$(mktemp -d)
	plugin=
}

teardown() {
	if [ -n "$plugin" ]; then
		kill "$plugin"
		wait "$plugin" || true
	fi
	rm -rf "$folder"
}

start_plugin() { # RESOURCE=COUNT...
	"$lib/device_plugin_probe" "$folder" "$@" >"$folder/said" 2>&1 3>&- &
	plugin=$!
}

@test "everyday life of a node" {
	start_plugin nvidia.com/gpu=4
	run "$lib/fake_kubelet" "$folder" "$data/everyday.scenario"
	[ "$status" = 0 ] || { echo "$output"; return 1; }
	[ "$(grep -c '^Allocate ' <<<"$output")" = 3 ]
	[ "$(grep -c '^Register ' <<<"$output")" = 2 ]
}

@test "the same seed gives the same log" {
	start_plugin nvidia.com/gpu=4
	FAKE_KUBELET_SEED=7 "$lib/fake_kubelet" "$folder" "$data/everyday.scenario" >"$folder/one"
	rm "$folder/kubelet_internal_checkpoint"
	FAKE_KUBELET_SEED=7 "$lib/fake_kubelet" "$folder" "$data/everyday.scenario" >"$folder/two"
	diff "$folder/one" "$folder/two"
}

@test "restarts, removed sockets, ended streams, slow dials" {
	start_plugin nvidia.com/gpu=4
	run "$lib/fake_kubelet" "$folder" "$data/restarts.scenario"
	[ "$status" = 0 ] || { echo "$output"; cat "$folder/said"; return 1; }
	[ "$(grep -c '^Allocate ' <<<"$output")" = 1 ]
	! grep -q '^refused' "$folder/said"
}

@test "init containers and sidecars" {
	start_plugin nvidia.com/gpu=4
	run "$lib/fake_kubelet" "$folder" "$data/init.scenario"
	[ "$status" = 0 ] || { echo "$output"; return 1; }
}

@test "a damaged checkpoint puts devices in two hands, and that is seen" {
	start_plugin nvidia.com/gpu=4
	run "$lib/fake_kubelet" "$folder" "$data/forgotten.scenario"
	[ "$status" = 0 ] || { echo "$output"; return 1; }
	grep -q '^twice gpu-' <<<"$output"
	grep -v '^allow' "$data/forgotten.scenario" >"$folder/strict"
	rm "$folder/kubelet_internal_checkpoint"
	run "$lib/fake_kubelet" "$folder" "$folder/strict"
	[ "$status" = 1 ]
	[[ $output == *"is in the hands of Pods a and b"* ]]
}

@test "an expectation that is not met ends the scenario with its line" {
	printf 'kubelet start\nexpect streams 1\n' >"$folder/scenario"
	run "$lib/fake_kubelet" "$folder" "$folder/scenario"
	[ "$status" = 1 ]
	[[ $output == *"scenario:2: expect streams 1: 0 streams are open"* ]]
}
