#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Device rules of cgroup v2, which are programs in the kernel and no lists: containerd 1.6, the wrapper and
# runc in a mount namespace where /sys/fs/cgroup is version 2, as on newer distributions.
load ../lib/common
load ../lib/driver
load ../lib/cri
bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	engine_find debian || { export ABSENT=$WHY; return 0; }
	namespace_start
	inside mount -t cgroup2 none /sys/fs/cgroup || { export ABSENT="cgroup v2 cannot be mounted here"; return 0; }
	driver_start t4
	handler runc runc
	handler gpupool "$BIN/gpupool-runtime" 'container_annotations = ["cdi.k8s.io/*"]'
	# The controllers of a mixed machine are in version 1, so no resources can be set.
	ENGINE_KEYS='disable_cgroup = true' engine_start
	image_sandbox
	inside gpupool inventory >/dev/null
}

teardown_file() {
	engine_stop
	namespace_stop
}

setup() {
	needs_containers runc
	[ -z "${ABSENT:-}" ] || skip "$ABSENT"
}

teardown() {
	pod_stop
}

# cards_of HANDLER [CARD]: what a container of it sees that asks for CARD.
cards_of() {
	pod_start "$1" || { echo "$SAID"; return 1; }
	container_start "${2:+.annotations = {\"cdi.k8s.io/gpupool\": \"$2\"\}}" || { echo "$SAID"; return 1; }
	grep -q '^0::/[0-9a-f]\{64\}$' "/proc/$(container_pid)/cgroup"
	cards_seen
	pod_stop
}

@test "the card that was asked for, and no other" {
	run -0 cards_of gpupool nvidia.com/gpu=1
	[ "$output" = "nvidia1=1 reached 1" ]
}

@test "control: another card and two cards are seen, and none where nothing is asked" {
	run -0 cards_of gpupool nvidia.com/gpu=2
	[ "$output" = "nvidia2=2 reached 2" ]
	run -0 cards_of gpupool nvidia.com/gpu=0,nvidia.com/gpu=3
	[ "$output" = "nvidia0=0 nvidia3=3 reached 0 3" ]
	run -0 cards_of gpupool
	[ "$output" = "reached" ]
	run -0 cards_of runc nvidia.com/gpu=1
	[ "$output" = "reached" ]
}
