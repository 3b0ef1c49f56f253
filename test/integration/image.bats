#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The image of gpupoold (dev/image) in a real containerd 2.x, with the mounts of the DaemonSet.
load ../lib/common
load ../lib/driver
load ../lib/cri
bats_require_minimum_version 1.5.0

setup_file() {
	local programs=$ROOT/build/release/bin
	[ -x "$programs/gpupoold" ] || programs=$BIN
	export ARCHIVE=$BATS_FILE_TMPDIR/gpupoold.tar
	"$ROOT/dev/image" --bin "$programs" --output "$ARCHIVE" >"$BATS_FILE_TMPDIR/said"
	export IMAGE=localhost/gpupoold:${VERSION:=$("$programs/gpupoold" --version | cut -d' ' -f2)}
	export VERSION
	[ "$(id -u)" = 0 ] || return 0
	engine_find module || { export ABSENT=$WHY; return 0; }
	namespace_start
	handler runc runc
	engine_start
	image_sandbox
	inside "$ENGINE/ctr" -a $CRI/socket -n k8s.io images import "$ARCHIVE" >>"$BATS_FILE_TMPDIR/said" 2>&1 3>&-
}

teardown_file() {
	[ "$(id -u)" = 0 ] && [ -z "${ABSENT:-}" ] || return 0
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

# What the image's program prints with these arguments, and its status; $FILTER changes the container.
printed() {
	local words
	words=$(printf '%s\n' "$@" | jq -Rn '[inputs]')
	container_start ".image.image = \"$IMAGE\" | .command = [\"/usr/bin/gpupoold\"] | .args = $words |
		.log_path = \"log-$BATS_TEST_NUMBER\" | ${FILTER:-.}" ||
		{ echo "$SAID"; return 1; }
	wait_for 20 ended
	inside cat "$CRI/logs/log-$BATS_TEST_NUMBER" | cut -d' ' -f4-
	return "$(crictl inspect "$CONTAINER" | jq .status.exitCode)"
}

ended() {
	[ "$(crictl inspect "$CONTAINER" | jq -r .status.state)" = CONTAINER_EXITED ]
}

# Each mount of the DaemonSet, from folders of the test.
mounts() {
	local place
	sed -nE 's/^ +mountPath: (.*)/\1/p' "$ROOT/deploy/gpupoold.yaml" | while read -r place; do
		inside mkdir -p "/run/host$place"
		jq -n --arg place "$place" '{container_path: $place, host_path: "/run/host\($place)"}'
	done | jq -s .
}

@test "the archive has the name that the DaemonSet asks for" {
	grep -q "^ *image: $IMAGE\$" "$ROOT/deploy/gpupoold.yaml"
	inside "$ENGINE/ctr" -a $CRI/socket -n k8s.io images ls -q 3>&- | grep -qx "$IMAGE"
}

@test "gpupoold runs in the image" {
	pod_start
	run printed --version
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "gpupoold $VERSION" ]
}

@test "a wrong command line ends with its status" {
	pod_start
	run printed --mig-stratgy=none
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean --mig-strategy?" ]]
}

@test "with the mounts of the DaemonSet and a root that cannot be written it finds its file" {
	local mounted
	mounted=$(mounts)
	[ "$(jq length <<<"$mounted")" -ge 7 ]
	inside sh -c 'echo "flags: {migStrategy: mixed}" >/run/host/etc/gpupool/config.yaml'
	FILTER=".mounts = $mounted | .linux.security_context = {readonly_rootfs: true, privileged: false}"
	pod_start
	run printed --check
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *'migStrategy: "mixed" # file'* ]]
}

@test "the helper of the driver runs in the image" {
	pod_start
	FILTER='.command = ["/usr/bin/gpupool-nvml"] | .args = ["--version"]'
	run printed
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "gpupool-nvml $VERSION" ]
}
