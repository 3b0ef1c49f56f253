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

@test "short offers, Pods that linger, one ID for two, a checkpoint that is gone" {
	start_plugin nvidia.com/gpu=4
	run "$lib/fake_kubelet" "$folder" "$data/hostile.scenario"
	[ "$status" = 0 ] || { echo "$output"; return 1; }
	grep -q '^twice gpu-.: b, c' <<<"$output"
	grep -q '^twice gpu-.: d, e' <<<"$output"
	grep -q '^twice gpu-.: [cde], f' <<<"$output"
}

@test "an expectation that is not met ends the scenario with its line" {
	printf 'kubelet start\nexpect streams 1\n' >"$folder/scenario"
	run "$lib/fake_kubelet" "$folder" "$folder/scenario"
	[ "$status" = 1 ]
	[[ $output == *"scenario:2: expect streams 1: 0 streams are open"* ]]
}

@test "commands as they come, and a container runtime" {
	start_plugin nvidia.com/gpu=2
	printf '%s\n' 'kubelet start' 'wait listed nvidia.com/gpu 2' 'counts nvidia.com/gpu' 'pod a c:nvidia.com/gpu=2' \
		'state a' 'state b' 'pod b c:nvidia.com/gpu=1' 'state b' 'holders' 'streams' 'answer a c nvidia.com/gpu' 'cdi away' 'nonsense' |
		"$lib/fake_kubelet" --log "$folder/log" --cri "$folder/cri.sock" --cdi on "$folder" - "$folder/resources.sock" \
			>"$folder/answers"
	cat "$folder/answers"
	diff - "$folder/answers" <<-'END'
		ok
		ok
		capacity 2 allocatable 2 node 0 0
		ok
		running
		none
		ok
		rejected: requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0
		1 a/c:nvidia.com/gpu={gpu-0,gpu-1}
		1
		bytes:0
		ok
		failed: there is no command 'nonsense'
	END
	grep -q '^Allocate nvidia.com/gpu {gpu-0,gpu-1} -> ok' "$folder/log"
}
