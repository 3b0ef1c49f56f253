#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A real containerd 2.x, asked as the kubelet asks it. It applies CDI specs itself, so no wrapper runs here.
load ../lib/common
load ../lib/driver
load ../lib/cri
load ../lib/roots
bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	engine_find module || { export ABSENT=$WHY; return 0; }
	namespace_start
	driver_start t4
	handler runc runc
	handler both "$BIN/gpupool-runtime" 'container_annotations = ["cdi.k8s.io/*"]'
	engine_start
	image_sandbox
	image_tools tools
	inside gpupool inventory --json >"$BATS_FILE_TMPDIR/inventory"
	inside gpupool cdi generate --output /etc/cdi/nvidia.yaml
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

# cdi NODE:MINOR...: a spec written by hand: example.com/card=one has these nodes.
cdi() {
	local nodes
	nodes=$(printf '%s\n' "$@" | jq -Rn '[inputs | split(":") |
		{path: "/dev/\(.[0])", type: "c", major: 195, minor: (.[1] | tonumber), permissions: "rw"}]')
	jq -n --argjson nodes "$nodes" '{cdiVersion: "0.5.0", kind: "example.com/card", devices: [{name: "one",
		containerEdits: {deviceNodes: $nodes, env: ["CARD=one"]}}]}' >"$BATS_TEST_TMPDIR/cdi.json"
	inside cp "$BATS_TEST_TMPDIR/cdi.json" /etc/cdi/example.json
}

@test "a Pod starts, is looked into and leaves nothing" {
	pod_start
	container_start
	[ "$(cards_seen)" = "reached" ]
	pod_stop
	engine_nothing_left
}

@test "a device of a CDI spec, by the field of the request: this node and no other" {
	cdi nvidia0:0
	pod_start
	container_start '.image.image = "localhost/tools:1" | .CDI_devices = [{name: "example.com/card=one"}]'
	run cards_seen
	echo "$output"
	[ "$output" = "nvidia0=0 reached 0" ]
	see $PROBE open /dev/nvidia0 | grep -qx "/dev/nvidia0 ENXIO"
	see /bin/env | grep -qx CARD=one
}

@test "control: a second device, and another card at the same path, are seen" {
	pod_start
	cdi nvidia0:0 nvidia7:7
	container_start '.CDI_devices = [{name: "example.com/card=one"}]'
	[ "$(cards_seen)" = "nvidia0=0 nvidia7=7 reached 0 7" ]
	container_stop
	cdi nvidia0:1
	container_start '.CDI_devices = [{name: "example.com/card=one"}]'
	[ "$(cards_seen)" = "nvidia0=1 reached 1" ]
}

@test "control: a rule without a node is seen, too" {
	needs_device_rules
	cdi nvidia0:0
	pod_start
	container_start '.CDI_devices = [{name: "example.com/card=one"}]'
	echo "c 195:3 rw" >"$(container_cgroup devices)/devices.allow"
	[ "$(cards_seen)" = "nvidia0=0 reached 0 3" ]
}

@test "a CDI name that no spec has stops the container with a sentence" {
	cdi nvidia0:0
	pod_start
	not container_start '.CDI_devices = [{name: "example.com/card=two"}]'
	[[ $SAID == *"unresolvable CDI devices example.com/card=two"* ]]
}

# A library of ours at a path of the image, by CDI.
cdi_library() { # CONTAINER_PATH
	echo "a driver's library" >"$BATS_TEST_TMPDIR/library"
	jq -n --arg from "$BATS_TEST_TMPDIR/library" --arg to "$1" '{cdiVersion: "0.5.0", kind: "example.com/card",
		devices: [{name: "one", containerEdits: {mounts: [{hostPath: $from, containerPath: $to,
			options: ["ro", "bind"]}]}}]}' >"$BATS_TEST_TMPDIR/cdi.json"
	inside cp "$BATS_TEST_TMPDIR/cdi.json" /etc/cdi/example.json
}

with_mount() { # FROM TO
	container_start ".image.image = \"localhost/tools:1\" | .CDI_devices = [{name: \"example.com/card=one\"}] |
		.mounts = [{host_path: \"$1\", container_path: \"$2\"}]"
}

@test "what CDI alone leaves to the runtime: a mount point is made in a user's volume" {
	cdi_library /opt/lib/libcuda.so.1
	mkdir "$BATS_TEST_TMPDIR/volume"
	pod_start
	with_mount "$BATS_TEST_TMPDIR/volume" /opt/lib
	[ -f "$BATS_TEST_TMPDIR/volume/libcuda.so.1" ]
	see /bin/cat /opt/lib/libcuda.so.1 | grep -qx "a driver's library"
}

@test "what CDI alone does with a user's mount at the same path: it is replaced" {
	cdi_library /opt/lib/libcuda.so.1
	echo "the user's own" >"$BATS_TEST_TMPDIR/own"
	pod_start
	with_mount "$BATS_TEST_TMPDIR/own" /opt/lib/libcuda.so.1
	see /bin/cat /opt/lib/libcuda.so.1 | grep -qx "a driver's library"
}

uuid() { # INDEX
	jq -r ".cards[$1].uuid" "$BATS_FILE_TMPDIR/inventory"
}

cdi_devices() { # NAME...
	printf '%s\n' "$@" | jq -Rnc '[inputs | {name: "nvidia.com/gpu=\(.)"}]' | sed 's/^/.CDI_devices = /'
}

# Everything that a container needs of these cards: nodes, rules, libraries that load, nvidia-smi.
works_with() { # INDEX...
	local expected=reached nodes= index
	for index in "$@"; do
		nodes="${nodes}nvidia$index=$index "
		expected="$expected $index"
	done
	run cards_seen
	echo "$output"
	[ "$output" = "$nodes$expected" ] || return 1
	[ "$(see /dlopen_probe libcuda.so.1 libnvidia-ml.so.1 | grep -c ^ok)" = 2 ] || return 1
	see nvidia-smi -L >"$BATS_TEST_TMPDIR/smi" || return 1
	diff <(for index in "$@"; do uuid "$index"; done) <(grep -o 'GPU-[0-9a-f-]*' "$BATS_TEST_TMPDIR/smi")
}

@test "the spec that gpupool generates: cards by index, by UUID, all" {
	pod_start
	container_start ".image.image = \"localhost/tools:1\" | $(cdi_devices 1)"
	works_with 1
	container_stop
	container_start ".image.image = \"localhost/tools:1\" | $(cdi_devices "$(uuid 2)" 0)"
	works_with 0 2
	container_stop
	container_start ".image.image = \"localhost/tools:1\" | $(cdi_devices all)"
	works_with 0 1 2 3
	pod_stop
	engine_nothing_left
}

# containerd 2.x applies a CDI annotation itself and hands it on when it is told to.
@test "CDI and the wrapper, both asked for the same card: it is there once" {
	pod_start both
	container_start ".image.image = \"localhost/tools:1\" | .annotations = {\"cdi.k8s.io/gpupool\": \"nvidia.com/gpu=1\"}" ||
		{ echo "$SAID"; false; }
	works_with 1
	[ "$(container_spec | jq '[.linux.devices[] | select(.path == "/dev/nvidia1")] | length')" = 1 ]
	container_spec | jq -r '.mounts[].destination' | sort | uniq -d
	[ -z "$(container_spec | jq -r '.mounts[].destination' | sort | uniq -d)" ]
}

@test "control: a generated spec with two cards swapped is found out" {
	inside cp /etc/cdi/nvidia.yaml $CRI/kept.yaml
	inside sed -i 's/minor: 1$/minor: x/; s/minor: 2$/minor: 1/; s/minor: x$/minor: 2/; s/nvidia1$/nvidia9/
		s/nvidia2$/nvidia1/; s/nvidia9$/nvidia2/' /etc/cdi/nvidia.yaml
	pod_start
	container_start ".image.image = \"localhost/tools:1\" | $(cdi_devices 1)" || echo "$SAID"
	inside cp $CRI/kept.yaml /etc/cdi/nvidia.yaml
	not works_with 1
	works_with 2 || [ "$(cards_seen)" = "nvidia2=2 reached 2" ]
}

# The rows of docs/library-targets.md with CDI alone.
row_holds() { # NAME TITLE [VARIABLE=VALUE...]
	local row variables
	variables=$(printf '%s\n' NVIDIA_DRIVER_CAPABILITIES=all "${@:3}" |
		jq -Rnc '[inputs | {key: sub("=.*"; ""), value: sub("^[^=]*="; "")}]')
	pod_start
	container_start "$(cdi_devices 1) | .image.image = \"localhost/${1//_/-}:1\" | .envs = $variables" || { echo "$SAID"; return 1; }
	row=$(image_row "CDI: $2" | sed -E 's/^(\| CDI: .* )\| `[^`]*` (\| `[^`]*` \|)/\1\2/') # everywhere, so no directory
	echo "measured: $row"
	pod_stop
	grep -xF "$row" "$ROOT/docs/library-targets.md"
}

@test "by CDI: libraries in RHEL-like and distroless images" {
	images_of_roots distroless
	row_holds distroless "distroless: a C library and its loader, no shell"
	can_rhel || skip "$WHY"
	images_of_roots rhel
	row_holds rhel "RHEL-like: glibc with RHEL's directories"
}

@test "by CDI: libraries in Debian, and beside other libraries" {
	can_debian || skip "$WHY"
	images_of_roots debian older_libcuda stub_libcuda leftover dangling own_driver
	row_holds debian "Debian 12"
	row_holds older_libcuda "older \`libcuda.so.1\` in the cache"
	row_holds older_libcuda "the same, with the variable of CUDA images" "$CUDA_PATH"
	row_holds stub_libcuda "CUDA's stub \`libcuda.so\` in the cache"
	row_holds leftover "empty \`libcuda.so.1\` left by an earlier container"
	row_holds dangling "dangling links at \`libcuda.so.1\`, \`libnvidia-ml.so.1\`"
	row_holds own_driver "own driver package, 510, in the same directory"
}
