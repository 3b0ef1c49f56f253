#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# `gpupool configure` on a real containerd: its file, read by the daemon, makes a handler that gives cards.
load ../lib/common
load ../lib/driver
load ../lib/cri
bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	namespace_start
	driver_start t4
}

teardown_file() {
	namespace_stop
}

setup() {
	needs_containers runc
}

teardown() {
	pod_stop
	engine_stop
	inside rm -rf $CRI/root $CRI/state
}

configure() {
	inside gpupool configure --runtime containerd --config /etc/containerd/config.toml --restart never "$@"
}

no_handler() {
	not pod_start nvidia
	echo "$SAID"
	[[ $SAID == *"no runtime for "*nvidia*" is configured"* ]]
}

# No such handler, then it works, then there is none again.
made_and_taken_back() { # debian|module
	engine_find "$1" || skip "$WHY"
	handler runc runc
	engine_start
	image_sandbox
	image_tools tools
	inside gpupool inventory >/dev/null
	inside sh -c 'mkdir -p /etc/nvidia-container-runtime &&
		echo "accept-nvidia-visible-devices-as-volume-mounts = true" >/etc/nvidia-container-runtime/config.toml'
	inside cat /etc/containerd/config.toml >"$BATS_TEST_TMPDIR/original"
	no_handler
	configure
	configure | grep -x "nothing to change"
	engine_restart
	pod_start nvidia || { echo "$SAID"; return 1; }
	container_start '.image.image = "localhost/tools:1" |
		.mounts = [{host_path: "/dev/null", container_path: "/var/run/nvidia-container-devices/1"}]'
	[ "$(cards_seen)" = "nvidia1=1 reached 1" ]
	pod_stop
	pod_start runc
	container_start
	[ "$(cards_seen)" = "reached" ]
	pod_stop
	configure --undo
	inside cat /etc/containerd/config.toml | diff "$BATS_TEST_TMPDIR/original" -
	engine_restart
	no_handler
}

@test "containerd 1.6" {
	made_and_taken_back debian
}

@test "containerd 2.x" {
	made_and_taken_back module
}
