#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Debian's containerd 1.6, asked as the kubelet asks it. It knows no CDI: what a container gets, the program
# that its runtime handler names must put into the spec.
load ../lib/common
load ../lib/driver
load ../lib/cri
load ../lib/roots
bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	engine_find debian || { export ABSENT=$WHY; return 0; }
	namespace_start
	driver_start t4
	dev_private
	handler runc runc
	handler gpupool "$BIN/gpupool-runtime" 'container_annotations = ["cdi.k8s.io/*"]'
	handler plain "$BIN/gpupool-runtime"
	handler podwide "$BIN/gpupool-runtime" 'pod_annotations = ["cdi.k8s.io/*"]'
	handler noted $CRI/noted
	handler watched $CRI/watched 'container_annotations = ["cdi.k8s.io/*"]'
	# Programs that note how they are called, and the spec before the next program sees it.
	inside sh -c 'cat >$0/noted; chmod 755 $0/noted' $CRI <<-EOF
		#!/bin/sh
		echo "\$*" >>$CRI/calls
		exec runc "\$@"
	EOF
	inside sh -c 'cat >$0/watched; chmod 755 $0/watched' $CRI <<-EOF
		#!/bin/sh
		bundle=\$(echo "\$*" | sed -n 's/.* create --bundle \([^ ]*\) .*/\1/p')
		[ -z "\$bundle" ] || stat -c "%i %y %a %u:%g" "\$bundle/config.json" >$CRI/before
		exec "$BIN/gpupool-runtime" "\$@"
	EOF
	engine_start
	image_sandbox
	image_tools tools
	image_tools greedy NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=all CUDA_VERSION=12.2.0
	inside gpupool inventory --json >"$BATS_FILE_TMPDIR/inventory"
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
	policy
}

uuid() { # INDEX
	jq -r ".cards[$1].uuid" "$BATS_FILE_TMPDIR/inventory"
}

# policy [LINE...]: the administrator's file; without lines there is none.
policy() {
	inside sh -c 'rm -rf /etc/nvidia-container-runtime'
	[ $# = 0 ] || printf '%s\n' "$@" | inside sh -c 'mkdir /etc/nvidia-container-runtime &&
		cat >/etc/nvidia-container-runtime/config.toml'
}

# asks HANDLER FILTER: a container of that Pod, of the tools' image unless FILTER says other.
asks() {
	pod_start "$1" || { echo "$SAID"; return 1; }
	container_start ".image.image = \"localhost/tools:1\" | $2" || { echo "$SAID"; return 1; }
}

annotation() { # NAME...
	echo ".annotations = {\"cdi.k8s.io/gpupool\": \"$(IFS=,; echo "$*")\"}"
}

# The list that the kubelet makes of a device plugin's answer: /dev/null at the name of each card.
volume_list() { # UUID...
	printf '%s\n' "$@" | jq -Rc '[inputs | {host_path: "/dev/null",
		container_path: "/var/run/nvidia-container-devices/\(.)"}]' -n | sed 's/^/.mounts += /'
}

# Everything that a container needs of card INDEX: the node, the rule, libraries that load, nvidia-smi.
works_with() { # INDEX...
	local index expected=reached nodes=
	for index in "$@"; do
		nodes="${nodes}nvidia$index=$index "
		expected="$expected $index"
	done
	run cards_seen
	echo "$output"
	[ "$output" = "$nodes$expected" ] || return 1
	[ ! -e /sys/fs/cgroup/devices ] || [ "$(cards_allowed)" = "$*" ] || { cards_allowed; return 1; }
	see $PROBE open /dev/nvidiactl | grep -qx "/dev/nvidiactl ENXIO" || return 1
	see /dlopen_probe libcuda.so.1 libnvidia-ml.so.1 >"$BATS_TEST_TMPDIR/loaded" || return 1
	[ "$(grep -c ^ok "$BATS_TEST_TMPDIR/loaded")" = 2 ] || { cat "$BATS_TEST_TMPDIR/loaded"; return 1; }
	see nvidia-smi -L >"$BATS_TEST_TMPDIR/smi" || return 1
	diff <(for index in "$@"; do uuid "$index"; done) <(grep -o 'GPU-[0-9a-f-]*' "$BATS_TEST_TMPDIR/smi")
}

@test "a Pod starts, is looked into and leaves nothing" {
	pod_start
	container_start
	[ "$(cards_seen)" = "reached" ]
	pod_stop
	engine_nothing_left
}

@test "it passes by what a CDI spec would give" {
	inside sh -c 'echo "{\"cdiVersion\": \"0.5.0\", \"kind\": \"example.com/card\", \"devices\": [{\"name\": \"one\",
		\"containerEdits\": {\"deviceNodes\": [{\"path\": \"/dev/nvidia0\", \"type\": \"c\", \"major\": 195}]}}]}" \
		>/etc/cdi/example.json'
	pod_start
	container_start '.CDI_devices = [{name: "example.com/card=one"}] |
		.annotations = {"cdi.k8s.io/test": "example.com/card=one"}'
	[ "$(cards_seen)" = "reached" ]
}

@test "a handler of its own: the named program is called with the bundle, and nothing is lost" {
	pod_start noted
	container_start
	see $PROBE status | grep -q ^CapEff
	pod_stop
	inside grep -E "create --bundle $CRI/state/[^ ]*/k8s.io/[0-9a-f]{64} " $CRI/calls
	inside grep -E " delete " $CRI/calls
	engine_nothing_left
}

@test "through the wrapper, nothing asked: no card, and the spec is the one that containerd wrote" {
	asks watched .
	[ "$(cards_seen)" = "reached" ]
	written_file | inside diff $CRI/before -
}

written_file() {
	inside stat -c "%i %y %a %u:%g" "$(container_bundle)/config.json"
}

@test "control: the file of a container that asks for a card is another one, with the same rights" {
	asks watched "$(annotation nvidia.com/gpu=1)"
	[ "$(written_file | cut -d' ' -f1)" != "$(inside cut -d' ' -f1 $CRI/before)" ]
	[ "$(written_file | cut -d' ' -f5-)" = "$(inside cut -d' ' -f5- $CRI/before)" ]
}

@test "through the wrapper: a card by CDI annotation, by index and by UUID" {
	asks gpupool "$(annotation nvidia.com/gpu=1)"
	works_with 1
	container_stop
	container_start ".image.image = \"localhost/tools:1\" | $(annotation "nvidia.com/gpu=$(uuid 0)" nvidia.com/gpu=1)"
	works_with 0 1
	pod_stop
	engine_nothing_left
}

@test "through the wrapper: two containers of a Pod have their own cards each" {
	asks gpupool "$(annotation nvidia.com/gpu=1)"
	local first=$CONTAINER
	container_start ".metadata.name = \"second\" | .log_path = \"second\" | .image.image = \"localhost/tools:1\" |
		$(annotation nvidia.com/gpu=3)"
	works_with 3
	CONTAINER=$first
	works_with 1
}

@test "control: without container_annotations the annotation does not arrive, and there is no card" {
	asks plain "$(annotation nvidia.com/gpu=1)"
	[ "$(cards_seen)" = "reached" ]
}

@test "through the wrapper: a card by the kubelet's volume list, where the administrator lets it count" {
	policy 'accept-nvidia-visible-devices-as-volume-mounts = true'
	asks plain "$(volume_list "$(uuid 1)")"
	works_with 1
	container_stop
	policy
	container_start ".image.image = \"localhost/tools:1\" | $(volume_list "$(uuid 1)")"
	[ "$(cards_seen)" = "reached" ]
}

@test "through the wrapper: the environment asks for nothing in Kubernetes, neither the image's nor the Pod's" {
	asks gpupool '.image.image = "localhost/greedy:1"'
	[ "$(cards_seen)" = "reached" ]
	container_stop
	container_start '.image.image = "localhost/tools:1" | .envs = [{key: "NVIDIA_VISIBLE_DEVICES", value: "all"}]'
	[ "$(cards_seen)" = "reached" ]
	container_stop
	container_start ".image.image = \"localhost/greedy:1\" | $(annotation nvidia.com/gpu=1)"
	works_with 1
}

@test "control: where the administrator lets the environment count, it does" {
	inside sh -c 'mkdir -p /etc/gpupool && echo "runtime: {accept-env-in-kubernetes: true}" >/etc/gpupool/config.yaml'
	asks gpupool '.image.image = "localhost/greedy:1"'
	inside rm /etc/gpupool/config.yaml
	works_with 0 1 2 3
}

@test "through the wrapper: the card is usable after a daemon-reload" {
	needs_device_rules
	asks gpupool "$(annotation nvidia.com/gpu=1)"
	rules_again
	works_with 1
}

@test "through the wrapper: a volume at /usr/lib64 stays as it is" {
	mkdir "$BATS_TEST_TMPDIR/volume"
	cp -L /lib64/ld-linux-x86-64.so.2 "$BATS_TEST_TMPDIR/volume/"
	snapshot "$BATS_TEST_TMPDIR/volume" >"$BATS_TEST_TMPDIR/before"
	asks gpupool "$(annotation nvidia.com/gpu=1) |
		.mounts = [{host_path: \"$BATS_TEST_TMPDIR/volume\", container_path: \"/usr/lib64\"}]"
	works_with 1
	pod_stop
	snapshot "$BATS_TEST_TMPDIR/volume" | diff "$BATS_TEST_TMPDIR/before" -
}

# As some clouds tell their users to bring the driver's files.
@test "through the wrapper: a volume at /usr/local/nvidia stays as it is" {
	mkdir -p "$BATS_TEST_TMPDIR/volume/lib64"
	snapshot "$BATS_TEST_TMPDIR/volume" >"$BATS_TEST_TMPDIR/before"
	asks gpupool "$(annotation nvidia.com/gpu=1) |
		.mounts = [{host_path: \"$BATS_TEST_TMPDIR/volume\", container_path: \"/usr/local/nvidia\"}]"
	works_with 1
	pod_stop
	snapshot "$BATS_TEST_TMPDIR/volume" | diff "$BATS_TEST_TMPDIR/before" -
}

@test "through the wrapper: with the machine's /dev as a volume nothing is made there" {
	inside ls -l /dev >"$BATS_TEST_TMPDIR/before"
	asks gpupool "$(annotation nvidia.com/gpu=1) | .mounts = [{host_path: \"/dev\", container_path: \"/dev\"}]"
	inside ls -l /dev | diff "$BATS_TEST_TMPDIR/before" -
	[ "$(cards_seen)" = "nvidia0=0 nvidia1=1 nvidia2=2 nvidia3=3 reached 1" ]
	see nvidia-smi -L | grep -o 'GPU-[0-9a-f-]*' | diff <(uuid 1) -
}

@test "through the wrapper: a read-only root and a user who is not root" {
	asks gpupool "$(annotation nvidia.com/gpu=1) | .linux.security_context = {readonly_rootfs: true,
		run_as_user: {value: 1000}, run_as_group: {value: 1000}, no_new_privs: true}"
	see $PROBE open /dev/nvidia1 /dev/nvidiactl /dev/nvidia0 >"$BATS_TEST_TMPDIR/opened"
	diff "$BATS_TEST_TMPDIR/opened" - <<-EOF
		/dev/nvidia1 ENXIO
		/dev/nvidiactl ENXIO
		/dev/nvidia0 ENOENT
	EOF
	see $PROBE status | grep -P '^Uid:\t1000\t'
	see nvidia-smi -L | grep -o 'GPU-[0-9a-f-]*' | diff <(uuid 1) -
	not see /bin/sh -c ': >/new'
}

@test "through the wrapper: a user's own mount at one of our paths stays the user's" {
	echo "the user's own" >"$BATS_TEST_TMPDIR/own"
	asks gpupool "$(annotation nvidia.com/gpu=1) |
		.mounts = [{host_path: \"$BATS_TEST_TMPDIR/own\", container_path: \"/usr/bin/nvidia-smi\"}]"
	see /bin/cat /usr/bin/nvidia-smi | grep -qx "the user's own"
	[ "$(cards_seen)" = "nvidia1=1 reached 1" ]
}

@test "through the wrapper: crun, as the administrator says" {
	needs_containers crun
	policy '[nvidia-container-runtime]' 'runtimes = ["crun"]'
	# crun refuses a mixture of both kinds of cgroups.
	inside sh -c '! [ -d /sys/fs/cgroup/unified ] || mount -t tmpfs tmpfs /sys/fs/cgroup/unified'
	asks gpupool "$(annotation nvidia.com/gpu=1)"
	works_with 1
	inside test -f "/run/containerd/runc/k8s.io/$CONTAINER/status" # crun's, runc has a state.json
	pod_stop
	engine_nothing_left
}

@test "through the wrapper: a privileged container sees the machine's nodes, as it does without us" {
	pod_start gpupool '.linux.security_context.privileged = true'
	container_start '.image.image = "localhost/tools:1" | .linux.security_context.privileged = true'
	[ "$(cards_seen)" = "nvidia0=0 nvidia1=1 nvidia2=2 nvidia3=3 reached 0 1 2 3 4 5 6 7" ]
	container_stop
	container_start ".image.image = \"localhost/tools:1\" | .linux.security_context.privileged = true |
		$(annotation nvidia.com/gpu=1)"
	see nvidia-smi -L | grep -o 'GPU-[0-9a-f-]*' | grep -qx "$(uuid 1)"
}

@test "through the wrapper: a card that is not there stops the container with a sentence" {
	not asks gpupool "$(annotation nvidia.com/gpu=77)"
	[[ $SAID == *"the container asks for 77, which is none of the 4 cards"* ]]
}

@test "through the wrapper: an image that needs a newer driver is stopped with a sentence, another one is not" {
	not asks gpupool "$(annotation nvidia.com/gpu=1) | .envs = [{key: \"NVIDIA_REQUIRE_CUDA\", value: \"cuda>=12.4\"}]"
	echo "$SAID"
	[[ $SAID == *"CUDA >= 12.4"*"offers 12.2"* ]]
	container_stop
	container_start "$(annotation nvidia.com/gpu=1) | .image.image = \"localhost/tools:1\" |
		.envs = [{key: \"NVIDIA_REQUIRE_CUDA\", value: \"cuda>=12.2\"}]"
	works_with 1
}

@test "through the wrapper: without an inventory file the cards are those that the kernel module lists" {
	inside mv /run/gpupool/inventory.json $CRI/kept.json
	asks gpupool "$(annotation nvidia.com/gpu=1)" || true
	inside mv $CRI/kept.json /run/gpupool/inventory.json
	works_with 1
}

# What a device plugin does that hands over the nodes and the list (PASS_DEVICE_SPECS of NVIDIA's).
@test "through the wrapper: a card that is in the Pod's devices already is there once" {
	policy 'accept-nvidia-visible-devices-as-volume-mounts = true'
	asks plain "$(volume_list "$(uuid 1)") | .devices = [\"/dev/nvidia1\", \"/dev/nvidiactl\" |
		{host_path: ., container_path: ., permissions: \"rw\"}]"
	works_with 1
	[ "$(container_spec | jq '[.linux.devices[] | select(.path == "/dev/nvidia1")] | length')" = 1 ]
}

@test "through the wrapper: devices alone, without a list, stay as they are" {
	asks plain '.devices = [{host_path: "/dev/nvidia2", container_path: "/dev/nvidia2", permissions: "rw"}]'
	[ "$(cards_seen)" = "nvidia2=2 reached 2" ]
}

@test "through the wrapper: the sandbox gets nothing, whatever the Pod's annotations say" {
	pod_start podwide '.annotations = {"cdi.k8s.io/gpupool": "nvidia.com/gpu=1"}'
	container_start '.image.image = "localhost/tools:1"'
	works_with 1
	inside cat "$CRI/state/io.containerd.runtime.v2.task/k8s.io/$POD/config.json" >"$BATS_TEST_TMPDIR/sandbox"
	jq -e '.annotations["cdi.k8s.io/gpupool"] == "nvidia.com/gpu=1"' "$BATS_TEST_TMPDIR/sandbox"
	not grep -F nvidia1 "$BATS_TEST_TMPDIR/sandbox"
	not jq -e '.linux.devices[]? | select(.major == 195)' "$BATS_TEST_TMPDIR/sandbox"
}

# The rows of docs/library-targets.md that are measured with gpupool itself, through the wrapper.
row_holds() { # NAME TITLE [VARIABLE=VALUE...]
	local row variables
	variables=$(printf '%s\n' NVIDIA_DRIVER_CAPABILITIES=all "${@:3}" |
		jq -Rnc '[inputs | {key: sub("=.*"; ""), value: sub("^[^=]*="; "")}]')
	asks gpupool "$(annotation nvidia.com/gpu=1) | .image.image = \"localhost/${1//_/-}:1\" | .envs = $variables"
	row=$(image_row "$2")
	echo "measured: $row"
	pod_stop
	grep -F "$row" "$ROOT/docs/library-targets.md"
}

@test "through the wrapper: libraries in RHEL-like and distroless images" {
	images_of_roots distroless
	row_holds distroless "distroless: a C library and its loader, no shell"
	can_rhel || skip "$WHY"
	images_of_roots rhel
	row_holds rhel "RHEL-like: glibc with RHEL's directories"
}

@test "through the wrapper: libraries in Debian, and beside other libraries" {
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

@test "through the wrapper: musl images get devices" {
	can_musl || skip "$WHY"
	images_of_roots musl
	asks gpupool "$(annotation nvidia.com/gpu=1) | .image.image = \"localhost/musl:1\""
	[ "$(cards_seen)" = "nvidia1=1 reached 1" ]
	run see /dlopen_probe libofmusl.so.1 libcuda.so.1
	echo "$output"
	[[ $output == *"ok libofmusl.so.1"*"no libcuda.so.1 "*"No such file"* ]]
}
