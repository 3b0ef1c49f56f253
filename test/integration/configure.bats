#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gpupool configure with real containerds: found among the processes, its file changed, its own program
# asked, and after a start a Pod of the new runtime class gets its card. There is no systemd here, so the
# restart is the test's.
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
	# The daemon takes a while to end, and as long as it runs it is found.
	wait_for 10 alone 0
}

# start KIND: that containerd, with runc alone, and a record of its file.
start() {
	engine_find "$1" || skip "$WHY"
	handler runc runc
	engine_start
	# Of the test before; /etc and /var/lib are this file's own from here on.
	inside rm -rf /etc/containerd/conf.d /var/lib/gpupool/configure
	image_sandbox
	inside cat /etc/containerd/config.toml >"$BATS_TEST_TMPDIR/before"
	inside gpupool inventory --json >"$BATS_TEST_TMPDIR/inventory"
	# containerd 2.x resolves the annotation itself, before the runtime does.
	inside gpupool cdi generate --output /etc/cdi/nvidia.yaml
}

alone() {
	[ "$(pgrep -cx containerd --ns "$NAMESPACE" --nslist mnt)" = "$1" ]
}

configure() {
	inside gpupool configure --runtime containerd --config /etc/containerd/config.toml "$@" 3>&-
}

# again: what systemctl restart would do.
again() {
	kill "$ENGINE_PID"
	wait "$ENGINE_PID" || true
	engine_run
}

card_of_class() {
	not pod_start nvidia
	grep -q "no runtime for .*nvidia.* is configured" <<<"$SAID"
	configure --runtime-path "$BIN/gpupool-runtime" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/said" ||
		{ cat "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/said" >&2; return 1; }
	grep -qx done "$BATS_TEST_TMPDIR/out"
	grep -q 'no unit of systemd' "$BATS_TEST_TMPDIR/said"
	# It was asked: else a note says why not.
	not grep -q 'cannot be asked' "$BATS_TEST_TMPDIR/said"
	again
	pod_start nvidia
	container_start '.annotations = {"cdi.k8s.io/x": "nvidia.com/gpu=0"}'
	[ "$(cards_seen)" = "nvidia0=0 reached 0" ]
	pod_stop
	pod_start runc
	container_start
	[ "$(cards_seen)" = "reached" ]
	pod_stop
}

one_way_and_back() {
	configure --runtime-path "$BIN/gpupool-runtime" --json >"$BATS_TEST_TMPDIR/json"
	[ "$(jq '.changes | length' "$BATS_TEST_TMPDIR/json")" = 0 ]
	run -0 configure --check
	grep -q "runtimeClassName nvidia gets: its cards, through $BIN/gpupool-runtime" <<<"$output"
	configure --undo >"$BATS_TEST_TMPDIR/out"
	inside cat /etc/containerd/config.toml | cmp - "$BATS_TEST_TMPDIR/before"
	not inside test -e /etc/containerd/conf.d/99-nvidia.toml
	not inside test -e /var/lib/gpupool/configure/containerd.json
	again
	not pod_start nvidia
}

@test "containerd 1.6: the file itself is changed, and a Pod of the class gets its card" {
	start debian
	card_of_class
	not inside test -e /etc/containerd/conf.d
	one_way_and_back
}

@test "containerd 2.x: a file of our own, and a Pod of the class gets its card" {
	start module
	card_of_class
	inside test -e /etc/containerd/conf.d/99-nvidia.toml
	one_way_and_back
}

@test "where a file cannot be written, the sentence is why, and not that it cannot be put back" {
	local host=$BATS_TEST_TMPDIR/host
	mkdir -p "$host"/{etc/docker,proc,usr/bin,var/lib}
	echo '{}' >"$host/etc/docker/daemon.json"
	run -3 inside unshare -m sh -c 'mount --bind "$1/etc" "$1/etc" && mount -o remount,bind,ro "$1/etc" || exit 77
		exec gpupool configure --host-root "$1" --runtime docker --config /etc/docker/daemon.json \
			--runtime-path /usr/bin/gpupool-runtime 3>&-' - "$host"
	echo "$output"
	[[ $output == *"daemon.json': Read-only file system"*"; all files are as before"* ]]
	[ "$(cat "$host/etc/docker/daemon.json")" = '{}' ]
	[ -z "$(ls -A "$host/var/lib/gpupool/configure")" ]
}

@test "a file that the containerd does not start with is put back" {
	start module
	# Understood by us, refused by it: a drop-in of a higher version than the first file's.
	inside sh -c 'mkdir -p /etc/containerd/conf.d
		echo "version = 99" >/etc/containerd/conf.d/50-x.toml'
	run -1 configure --runtime-path "$BIN/gpupool-runtime"
	grep -q 'all files are as before' <<<"$output"
	inside cat /etc/containerd/config.toml | cmp - "$BATS_TEST_TMPDIR/before"
	not inside test -e /etc/containerd/conf.d/99-nvidia.toml
}
