#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Pods in a user namespace: root inside is nobody outside, and no device node can be made there.
load ../lib/common
load ../lib/driver
load ../lib/cri
bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	engine_find module || { export ABSENT=$WHY; return 0; }
	namespace_start
	driver_start t4
	dev_private
	handler runc runc
	handler newer "$MODULES/runc"
	handler gpupool "$BIN/gpupool-runtime"
	engine_start
	image_sandbox
	image_tools tools
	inside gpupool inventory >/dev/null
	inside sh -c 'mkdir -p /etc/nvidia-container-runtime && cat >/etc/nvidia-container-runtime/config.toml' <<-EOF
		accept-nvidia-visible-devices-as-volume-mounts = true
		[nvidia-container-runtime]
		runtimes = ["$([ ! -x "$MODULES/runc" ] || echo "$MODULES/runc\", \"")runc"]
	EOF
}

teardown_file() {
	engine_stop
	namespace_stop
}

setup() {
	needs_containers runc
	[ -z "${ABSENT:-}" ] || skip "$ABSENT"
	needs_device_rules
	[ -e /proc/self/ns/user ] || skip "this kernel has no user namespaces"
	USER_NAMESPACE='.linux.security_context.namespace_options.userns_options = {mode: 0,
		uids: [{container_id: 0, host_id: 100000, length: 65536}],
		gids: [{container_id: 0, host_id: 100000, length: 65536}]}'
}

teardown() {
	pod_stop
}

pod_of_user() { # HANDLER FILTER
	pod_start "$1" "$USER_NAMESPACE" || { echo "$SAID"; return 1; }
	container_start "$USER_NAMESPACE | $2" || { echo "$SAID"; return 1; }
	grep -q ' 100000 ' "/proc/$(container_pid)/uid_map"
}

# The nodes are those of the driver root; the runtime binds them from /dev, since it cannot make any.
cdi() { # CARD...
	jq -n --arg root $DRIVER '{cdiVersion: "0.5.0", kind: "example.com/card", devices: [{name: "one", containerEdits: {
		deviceNodes: [$ARGS.positional[] | {path: "/dev/nvidia\(.)", hostPath: "\($root)/dev/nvidia\(.)", permissions: "rw"}],
		mounts: [{hostPath: "\($root)/proc/driver/nvidia/version", containerPath: "/opt/version",
			options: ["ro", "bind"]}]}}]}' --args "$@" >"$BATS_TEST_TMPDIR/cdi.json"
	inside cp "$BATS_TEST_TMPDIR/cdi.json" /etc/cdi/example.json
}

CARD='.image.image = "localhost/tools:1" | .CDI_devices = [{name: "example.com/card=one"}]'

# Nodes cannot be made inside, so what the cgroup allows is read outside.
seen_and_allowed() {
	echo "$(cards_seen) allowed $(cards_allowed)"
}

one_card() { # HANDLER
	cdi 0
	pod_of_user "$1" "$CARD"
	run seen_and_allowed
	echo "$output"
	[ "$output" = "nvidia0=0 reached allowed 0" ]
	see $PROBE open /dev/nvidia0 | grep -qx "/dev/nvidia0 ENXIO"
	see /bin/cat /opt/version | grep -q ^NVRM
}

@test "a card of a CDI spec, Debian's runc" {
	one_card runc
}

@test "a card of a CDI spec, a newer runc" {
	[ -x "$MODULES/runc" ] || skip "needs a C compiler, to build runc"
	one_card newer
}

@test "control: a second card is seen" {
	cdi 0 1
	pod_of_user runc "$CARD"
	run seen_and_allowed
	echo "$output"
	[ "$output" = "nvidia0=0 nvidia1=1 reached allowed 0 1" ]
}

# The last test: it takes the nodes out of /dev, as on a machine whose driver lives in a root of its own.
@test "a card by the wrapper and the volume list, from a driver root whose nodes are not in /dev" {
	inside sh -c 'rm -r /dev/nvidia*'
	pod_of_user gpupool '.image.image = "localhost/tools:1" | .mounts = [{host_path: "/dev/null",
		container_path: "/var/run/nvidia-container-devices/1"}]'
	run seen_and_allowed
	echo "$output"
	[ "$output" = "nvidia1=1 reached allowed 1" ]
	see $PROBE open /dev/nvidia1 | grep -qx "/dev/nvidia1 ENXIO"
	[ "$(see /dlopen_probe libcuda.so.1 libnvidia-ml.so.1 | grep -c ^ok)" = 2 ]
	[ "$(see nvidia-smi -L | grep -c GPU-)" = 1 ]
}
