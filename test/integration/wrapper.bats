#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gpupool-runtime in the place of runc and crun: what a container gets, what stays as it was, what is refused.
load ../lib/common
load ../lib/driver

PROBE=$BUILD/test/lib/device_probe
WRAPPER=$BIN/gpupool-runtime
CARDS=8

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	namespace_start
	driver_start a100-80
	inside gpupool inventory >/dev/null
}

teardown_file() {
	namespace_stop
}

setup() {
	needs_containers runc
	BUNDLE=$BATS_TEST_TMPDIR/bundle
	LOG=$BATS_TEST_TMPDIR/log
	export NVIDIA_CTK_CONFIG_FILE_PATH=$BATS_TEST_TMPDIR/none.toml GPUPOOL_CONFIG=$BATS_TEST_TMPDIR/config.yaml
}

# bundle FILTER [COMMAND...]: a bundle as containerd leaves it, its spec changed by a jq filter.
bundle() {
	local filter=$1
	shift
	mkdir -p "$BUNDLE/rootfs"/{dev,proc,sys,tmp,etc} "$BUNDLE/rootfs/lib/x86_64-linux-gnu"
	cp "$PROBE" "$BUNDLE/rootfs/probe"
	: >"$BUNDLE/rootfs/lib/x86_64-linux-gnu/libc.so.6" # by its name libraries find their directory
	[ $# -gt 0 ] || set -- /probe open $(paths)
	rm -f "$BUNDLE/config.json"
	(cd "$BUNDLE" && runc spec)
	jq -c '.process.args = $ARGS.positional | .process.terminal = false | .root.readonly = false |
		.linux.cgroupsPath = "/gpupool-wrapper" | .process.oomScoreAdj = 100 |
		.linux.resources.memory = {limit: 536870912} | .annotations = {"z.last": "1", "a.first": "2"} |
		'"$filter" "$BUNDLE/config.json" --args -- "$@" |
		# jq rounds what Go and we do not.
		sed 's/"limit":536870912/"limit":536870912,"swap":9223372036854775807/' >"$BUNDLE/spec"
	cp "$BUNDLE/spec" "$BUNDLE/config.json"
	chmod 0640 "$BUNDLE/config.json"
	chown 3:4 "$BUNDLE/config.json"
}

env_is() { # NAME=VALUE...: a jq filter
	printf '.process.env += %s' "$(jq -nc '$ARGS.positional' --args -- "$@")"
}

paths() {
	local minor
	for ((minor = 0; minor < CARDS; minor++)); do echo "/dev/nvidia$minor"; done
}

# wrapped RUNTIME ARGUMENT...: the wrapper with that runtime alone, as a shim calls it.
wrapped() {
	local runtime=$1
	shift
	[ "$runtime" = - ] || printf 'runtime:\n  runtimes: [%s]\n' "$runtime" >"$GPUPOOL_CONFIG"
	nsenter -t "$NAMESPACE" -m --wd="$BUNDLE" -- unshare -m sh -c '
		case $1 in crun) mount -t tmpfs tmpfs /sys/fs/cgroup/unified 2>/dev/null ;; esac
		shift
		exec "$@"' - "$runtime" "$WRAPPER" "$@" 3>&- 4>&-
}

container() { # RUNTIME: makes and runs the bundle's container, then it is gone
	wrapped "$1" --root /run/wrapper-state --log "$LOG" --log-format json run --bundle "$BUNDLE" wrapped
}

# reached OUTPUT MINOR...: exactly these of the 8 cards are.
reached() {
	local output=$1 minor answer
	shift
	for ((minor = 0; minor < CARDS; minor++)); do
		answer=$(grep -E "^/dev/nvidia$minor " <<<"$output" | cut -d' ' -f2)
		case " $* " in
		*" $minor "*) [[ $answer == ENXIO || $answer == OK ]] ;;
		*) [[ $answer == EPERM || $answer == ENOENT ]] ;;
		esac || { echo "card minor $minor answered '$answer', wanted: $*"; echo "$output"; return 1; }
	done
}

file_is() { # what of the file must stay
	stat -c '%i %y %s %a %u:%g' "$BUNDLE/config.json"
	sha256sum <"$BUNDLE/config.json"
}

log_error() {
	jq -rs 'map(select(.level == "error")) | .[-1].msg' "$LOG"
}

# refused RUNTIME TEXT: no container, one sentence on standard error and in the log, the file as it was.
refused() {
	local before=$(file_is)
	run container "$1"
	echo "$output"
	[ "$status" = 1 ]
	grep -qF -- "$2" <<<"$output"
	grep -qF -- "$2" <<<"$(log_error)"
	jq -es 'map(select(.level == "error")) | length == 1 and (.[0].time | fromdate) > 0' "$LOG"
	[ "$(file_is)" = "$before" ]
	ls -A "$BUNDLE" | sort | tr '\n' ' ' | grep -qx 'config.json rootfs spec '
}

asks_for_nothing() { # RUNTIME
	bundle .
	local before=$(file_is)
	run container "$1"
	reached "$output"
	[ "$status" = 0 ]
	[ "$(file_is)" = "$before" ]
}

asks_for_two() { # RUNTIME
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=1,3 NVIDIA_DRIVER_CAPABILITIES=compute)" \
		/probe open $(paths) /dev/nvidiactl -- nodes /
	run container "$1"
	echo "$output"
	[ "$status" = 0 ]
	reached "$output" 1 3
	[ "$(grep -cE '^/.* 195:[0-7]$' <<<"$output")" = 2 ]
	[ "$(stat -c '%a %u:%g' "$BUNDLE/config.json")" = "640 3:4" ]
	grep -q '"swap":9223372036854775807' "$BUNDLE/config.json"
	# All but the edits, in its order.
	diff <(jq -c --stream . "$BUNDLE/spec") <(jq -c '
		.process.env |= map(select(test("^(NVIDIA_VISIBLE_DEVICES=void|TRITON_LIBCUDA_PATH=.*)$") | not)) |
		.process.env += ["NVIDIA_VISIBLE_DEVICES=1,3"] | .process.env = .process.env[:-2] + [.process.env[-1], .process.env[-2]] |
		.mounts |= map(select(.source | tostring | test("^/run/(driver|nvidia-persistenced)/") | not)) |
		.linux.resources.devices |= map(select(.allow | not)) | del(.linux.devices) |
		.linux.maskedPaths |= map(select(startswith("/proc/driver/nvidia/gpus/") | not))' \
		"$BUNDLE/config.json" | jq -c --stream .)
}

@test "runc: a container that asks for nothing starts from the very same file" {
	asks_for_nothing runc
}

@test "crun: a container that asks for nothing starts from the very same file" {
	needs_containers crun
	asks_for_nothing crun
}

@test "runc: two cards asked for are reached and no other; the rest of the spec stays" {
	asks_for_two runc
}

@test "crun: two cards asked for are reached and no other; the rest of the spec stays" {
	needs_containers crun
	asks_for_two crun
}

@test "create and start, as containerd calls them, with a bundle named in each way" {
	local way
	for way in "--bundle $BUNDLE" "--bundle=$BUNDLE" "-b $BUNDLE" "-bundle $BUNDLE" ""; do
		bundle "$(env_is NVIDIA_VISIBLE_DEVICES=2)" /probe hold
		wrapped runc --root /run/wrapper-state --log "$LOG" create $way --pid-file "$BATS_TEST_TMPDIR/pid" \
			wrapped </dev/null >/dev/null 2>&1
		jq -e '[.linux.devices[].path] | index("/dev/nvidia2")' "$BUNDLE/config.json"
		wrapped runc --root /run/wrapper-state state wrapped | jq -e '.status == "created"'
		wrapped runc --root /run/wrapper-state delete -f wrapped
	done
}

@test "a spec with a NUL in a key, or a number out of range, is refused as it is" {
	bundle .
	sed -i 's/"z.last"/"z\\u0000"/' "$BUNDLE/config.json"
	refused runc "a NUL character"
	rm "$LOG"
	bundle .
	sed -i 's/9223372036854775807/18446744073709551616/' "$BUNDLE/config.json"
	refused runc "out of range"
}

@test "a device that is not here, a capability that nobody knows: one sentence, in the log too" {
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=17)"
	refused runc "17"
	rm "$LOG"
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0 NVIDIA_DRIVER_CAPABILITIES=computing)"
	refused runc "computing"
}

@test "a root whose /dev is a link is refused, and nothing is made where it leads" {
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0)"
	mkdir "$BATS_TEST_TMPDIR/aimed"
	rmdir "$BUNDLE/rootfs/dev"
	ln -s "$BATS_TEST_TMPDIR/aimed" "$BUNDLE/rootfs/dev"
	refused runc "/dev is a link"
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/aimed")" ]
}

@test "a volume over /dev and a working directory below /proc are refused" {
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0) | .mounts += [{destination: \"/dev\", source: \"/tmp\", type: \"bind\", options: [\"rbind\"]}]"
	refused runc "mounts a volume at"
	rm "$LOG"
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0) | .process.cwd = \"/proc/self/fd/8\""
	refused runc "below /proc"
}

@test "without an inventory file the sentence says how to take one" {
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=MIG-11111111-2222-3333-4444-555555555555)"
	GPUPOOL_RUN_DIR=$BATS_TEST_TMPDIR/empty refused runc "gpupool inventory"
}

@test "the hook of NVIDIA's toolkit is taken out, others stay" {
	bundle '.hooks = {prestart: [{path: "/usr/bin/nvidia-container-runtime-hook", args: ["x", "prestart"]}],
		poststop: [{path: "/bin/true"}]}'
	run container runc
	echo "$output"
	[ "$status" = 0 ]
	reached "$output"
	jq -e '.hooks == {prestart: [], poststop: [{path: "/bin/true"}]}' "$BUNDLE/config.json"
}

@test "as nvidia-cdi-hook it does nothing and says so" {
	ln -s "$WRAPPER" "$BATS_TEST_TMPDIR/nvidia-cdi-hook"
	run "$BATS_TEST_TMPDIR/nvidia-cdi-hook" update-ldcache --folder /x
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 1 ]
}

# A runtime that says how it was called.
told() {
	TOLD=$BATS_TEST_TMPDIR/told
	cat >"$TOLD" <<-'SCRIPT'
		#!/bin/bash
		printf 'argument <%s>\n' "$@"
		for ((fd = 0; fd < 64; fd++)); do [ ! -e /proc/$$/fd/$fd ] || echo "descriptor $fd"; done
		env -0 | sort -z | sha256sum
	SCRIPT
	chmod +x "$TOLD"
	printf 'runtime:\n  runtimes: [%s]\n' "$TOLD" >"$GPUPOOL_CONFIG"
}

@test "the runtime gets the caller's arguments and environment; every other command passes untouched" {
	told
	local command wrapped direct
	bundle .
	for command in "--root /x --log $LOG state id" "--debug exec -e A=b --preserve-fds 2 id create --bundle /none" \
		"kill id" "--version" "" "create --help x --bundle=$BUNDLE"; do
		wrapped=$(NOTIFY_SOCKET=/a XDG_RUNTIME_DIR=/b inside "$WRAPPER" $command)
		direct=$(NOTIFY_SOCKET=/a XDG_RUNTIME_DIR=/b inside "$TOLD" $command)
		diff <(grep -v descriptor <<<"$direct") <(grep -v descriptor <<<"$wrapped")
		[[ $command == create* ]] || diff <(echo "$direct") <(echo "$wrapped")
	done
}

is_edited() { # FILE
	jq -e '[.linux.devices[]?.path] | index("/dev/nvidia0")' "$1" >/dev/null
}

@test "the bundle is found on every command line that runc or crun take" {
	told
	local line
	for line in "--root /x --log-format json --log $LOG --systemd-cgroup create --bundle $BUNDLE id" \
		"--debug --log=$LOG create id -b $BUNDLE" "--criu create run --bundle $BUNDLE id" \
		"--rootless true --cgroup-manager run run -d --pid-file create --console-socket /y --bundle=$BUNDLE id" \
		"-root /x create --no-pivot --preserve-fds 1 -bundle $BUNDLE id" "create -f config.json -b=$BUNDLE id" \
		"--debug -- create --bundle $BUNDLE id" "create --help=false --bundle $BUNDLE -h=0 id" \
		"run --bundle /none --bundle= id" "create --config $BUNDLE/config.json --bundle $BUNDLE id" \
		"create -b$BUNDLE id" "run -f$BUNDLE/config.json -b$BUNDLE id"; do
		bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0)"
		(cd "$BUNDLE" && inside "$WRAPPER" $line >/dev/null)
		is_edited "$BUNDLE/config.json" || { echo "not edited: $line"; return 1; }
	done
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0)"
	mv "$BUNDLE/config.json" "$BUNDLE/other.json"
	# crun takes it from where the caller is, not from the bundle.
	mkdir -p "$BATS_TEST_TMPDIR/caller/a"
	cp "$BUNDLE/other.json" "$BATS_TEST_TMPDIR/caller/a"
	(cd "$BATS_TEST_TMPDIR/caller" && inside "$WRAPPER" create --config a/other.json -b "$BUNDLE" id >/dev/null)
	is_edited "$BATS_TEST_TMPDIR/caller/a/other.json"
	[ "$(ls -A "$BATS_TEST_TMPDIR/caller" "$BATS_TEST_TMPDIR/caller/a" | grep -c json)" = 1 ]
	not is_edited "$BUNDLE/other.json"
	for line in "create --bundle $BUNDLE --help" "run -h -b $BUNDLE" "--root create start --bundle $BUNDLE" \
		"exec --bundle $BUNDLE id create" "--log create --bundle $BUNDLE" "-- state create -b $BUNDLE"; do
		bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0)"
		inside "$WRAPPER" $line >/dev/null
		cmp "$BUNDLE/spec" "$BUNDLE/config.json" || { echo "edited: $line"; return 1; }
	done
}

@test "a C library that cannot be looked for is not absent: no container instead of one without libraries" {
	command -v strace >/dev/null || skip "needs strace"
	told
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0)"
	# The sanitizers read their own options with some of these calls, so the call is looked for first.
	inside strace -qq -o "$BATS_TEST_TMPDIR/calls" -e trace=openat2 "$WRAPPER" create --bundle "$BUNDLE" id >/dev/null
	is_edited "$BUNDLE/config.json"
	local n=$(grep -n 'libc\.so\.6' "$BATS_TEST_TMPDIR/calls" | head -1 | cut -d: -f1)
	[ -n "$n" ] || skip "this kernel has no openat2"
	cp "$BUNDLE/spec" "$BUNDLE/config.json"
	run inside strace -qq -o /dev/null -e trace=openat2 -e inject=openat2:error=EMFILE:when="$n" \
		"$WRAPPER" create --bundle "$BUNDLE" id
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"cannot look at "*"libc.so.6 of the image: Too many open files"* ]]
	cmp "$BUNDLE/spec" "$BUNDLE/config.json"
}

@test "descriptors that the caller hands on stay open, all others are closed" {
	told
	bundle .
	calls() {
		inside "$WRAPPER" create "$@" --bundle "$BUNDLE" id 3</dev/null 4</dev/null 5</dev/null 6</dev/null |
			sed -n 's/descriptor //p' | tr '\n' ' '
	}
	[ "$(calls)" = "0 1 2 " ]
	[ "$(calls --preserve-fds 2)" = "0 1 2 3 4 " ]
	[ "$(calls --preserve-fds=1)" = "0 1 2 3 " ]
	[ "$(LISTEN_FDS=1 calls --preserve-fds 2)" = "0 1 2 3 4 5 " ]
}

@test "it never becomes itself" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s "$WRAPPER" "$BATS_TEST_TMPDIR/bin/runc"
	run env PATH="$BATS_TEST_TMPDIR/bin:$PATH" "$WRAPPER" --version
	echo "$output"
	[ "$status" = 0 ]
	grep -q '^runc version' <<<"$output"
	local name
	for name in "$BATS_TEST_TMPDIR/bin/runc" "$WRAPPER" nvidia-container-runtime; do
		printf 'runtime:\n  runtimes: [%s]\n' "$name" >"$GPUPOOL_CONFIG"
		run timeout 10 "$WRAPPER" --version
		echo "$output"
		[ "$status" = 1 ]
		grep -q "no container runtime found: looked for $name" <<<"$output"
	done
}

@test "a broken configuration stops no container from being stopped, and starts none" {
	bundle .
	echo 'disable-require = 1' >"$NVIDIA_CTK_CONFIG_FILE_PATH"
	run wrapped - --root /run/wrapper-state list
	[ "$status" = 0 ]
	refused - "none.toml:1: disable-require must be true or false"
}

@test "csv, the mode for Tegra boards, is refused to whoever asks for cards, and in --check; others pass" {
	printf '[nvidia-container-runtime]\nmode = "csv"\n' >"$NVIDIA_CTK_CONFIG_FILE_PATH"
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0)"
	refused - 'mode = "csv" of nvidia-container-runtime is for Tegra boards'
	bundle .
	told
	inside "$WRAPPER" create --bundle "$BUNDLE" id >/dev/null
	printf '#!/bin/sh\necho runc version 1.4.3\n' >"$TOLD"
	run inside "$WRAPPER" --check
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *'mode = "csv" is for Tegra boards: no container gets a card here'* ]]
}

@test "in Kubernetes the image's list of cards counts only where the administrator said so" {
	local kubernetes='.annotations = {"io.kubernetes.cri.container-type": "container"}'
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=all) | $kubernetes"
	local before=$(file_is)
	run container runc
	reached "$output"
	[ "$(file_is)" = "$before" ]
	grep -q warning "$LOG"
	printf 'runtime:\n  accept-env-in-kubernetes: true\n  log-file: %s\n' "$BATS_TEST_TMPDIR/own" >"$GPUPOOL_CONFIG"
	run wrapped - --root /run/wrapper-state run --bundle "$BUNDLE" wrapped
	reached "$output" 0 1 2 3 4 5 6 7
	sed -i 's/=all"/=99"/' "$BUNDLE/spec" && cp "$BUNDLE/spec" "$BUNDLE/config.json"
	run wrapped - run --bundle "$BUNDLE" wrapped
	[ "$status" = 1 ]
	grep -q 'level=error msg=".*99' "$BATS_TEST_TMPDIR/own"
}

@test "--explain says each edit and its reason, and changes nothing" {
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0)"
	local before=$(file_is)
	run inside "$WRAPPER" --explain --bundle "$BUNDLE"
	echo "$output"
	[ "$status" = 0 ]
	grep -q '/dev/nvidia0 ' <<<"$output"
	grep -q 'is granted' <<<"$output"
	inside "$WRAPPER" --explain --json --bundle "$BUNDLE" | jq -e '.changed and (.plan.edits | length > 5)'
	[ "$(file_is)" = "$before" ]
	run inside "$WRAPPER" --explain --bundle "$BATS_TEST_TMPDIR/none"
	[ "$status" = 1 ]
	run inside "$WRAPPER" --explain --bundles
	[ "$status" = 2 ]
}

@test "without the inventory file cards come from the kernel, and the log says why" {
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=2,5)"
	GPUPOOL_RUN_DIR=$BATS_TEST_TMPDIR/empty run container runc
	echo "$output"
	[ "$status" = 0 ]
	reached "$output" 2 5
	jq -rs 'map(select(.level == "warning").msg) | join(" ")' "$LOG" |
		grep -q "kernel tells of: .*/empty/inventory.json"
}

@test "--check says what is here and what it lacks" {
	run inside "$WRAPPER" --check
	echo "$output"
	[ "$status" = 0 ]
	grep -q "^runtime: /.*/runc, runc $(runc --version | sed -n 's/runc version //p')" <<<"$output"
	grep -qF "kernel: Linux $(uname -r)" <<<"$output"
	grep -q "^cards: 8, driver .* by the inventory file" <<<"$output"
	printf 'a = 1\n' >"$NVIDIA_CTK_CONFIG_FILE_PATH"
	told
	printf '#!/bin/sh\necho runc version 1.1.11\n' >"$TOLD"
	run inside "$WRAPPER" --check
	echo "$output"
	[ "$status" = 1 ]
	grep -q "warning: runc 1.1.11 .*CVE-2024-21626" <<<"$output"
	grep -q "warning: .*none.toml:1: the key a is not known" <<<"$output"
	# One that never answers is not waited for.
	printf '#!/bin/sh\nexec sleep 60\n' >"$TOLD"
	run timeout 20 env PATH="$PATH" "$WRAPPER" --check
	[ "$status" = 1 ]
}

@test "a CDI device of another vendor is added by its spec; hooks are refused" {
	mkdir "$BATS_TEST_TMPDIR/cdi"
	printf '[nvidia-container-runtime.modes.cdi]\nspec-dirs = ["%s"]\n' "$BATS_TEST_TMPDIR/cdi" \
		>"$NVIDIA_CTK_CONFIG_FILE_PATH"
	jq -n '{cdiVersion: "0.5.0", kind: "acme.org/nic", devices: [
		{name: "a", containerEdits: {deviceNodes: [{path: "/dev/nvidia6", type: "c", major: 195, minor: 6, permissions: "rw"}]}},
		{name: "b", containerEdits: {hooks: [{hookName: "createContainer", path: "/bin/false"}]}}]}' \
		>"$BATS_TEST_TMPDIR/cdi/acme.json"
	bundle '.annotations["cdi.k8s.io/a"] = "acme.org/nic=a,nvidia.com/gpu=1"'
	run container runc
	reached "$output" 1 6
	bundle '.annotations["cdi.k8s.io/a"] = "acme.org/nic=b"'
	refused runc "hook"
	rm "$LOG"
	bundle '.annotations["cdi.k8s.io/a"] = "acme.org/nic=c"'
	refused runc "acme.org/nic=c, which no spec file in $BATS_TEST_TMPDIR/cdi has"
}

# test/data/oci/docker-gpus.json: the parts that dockerd writes for --gpus '"device=0,2","capabilities=utility"'
# with a CUDA image (moby daemon/nvidia_linux.go, daemon/oci_linux.go, profiles): its variables come after the
# image's, the hook after that of its network.
@test "docker run --gpus: what Docker's variables say is given, and its hook is taken out" {
	told
	bundle .
	jq -c --arg root "$BUNDLE/rootfs" '.root.path = $root' "$ROOT/test/data/oci/docker-gpus.json" >"$BUNDLE/spec"
	cp "$BUNDLE/spec" "$BUNDLE/config.json"
	inside "$WRAPPER" --log "$LOG" --log-format json create --bundle "$BUNDLE" id
	jq -e '[.linux.devices[].path | select(test("nvidia[0-9]"))] == ["/dev/nvidia0", "/dev/nvidia2"] and
		(.hooks.prestart | length == 1 and (.[0].args[0] == "libnetwork-setkey")) and
		([.process.env[] | select(startswith("NVIDIA_VISIBLE_DEVICES="))] | unique) == ["NVIDIA_VISIBLE_DEVICES=void"] and
		([.mounts[].destination | select(test("libcuda.so|libnvidia-ml.so.1$")) | sub(".*/"; "")] | unique) == ["libnvidia-ml.so.1"]' \
		"$BUNDLE/config.json"
	grep -q 'nvidia-container-runtime-hook is taken out' "$LOG"
	# The same once more asks for nothing: all is there.
	local before=$(file_is)
	inside "$WRAPPER" create --bundle "$BUNDLE" id
	[ "$(file_is)" = "$before" ]
}

@test "what an image requires is checked before anything is given; NVIDIA_DISABLE_REQUIRE starts it all the same" {
	local driver=$(inside gpupool inventory --json | jq -r .driverVersion)
	local cuda=$(inside gpupool inventory --json | jq -r '"\(.cudaMajor).\(.cudaMinor)"')
	[[ $driver =~ ^[0-9]+\. && $cuda =~ ^[0-9]+\.[0-9]+$ ]]
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0 "NVIDIA_REQUIRE_CUDA=cuda>=$cuda brand=tesla,driver>=1,driver<2")"
	run container runc
	reached "$output" 0
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0 "NVIDIA_REQUIRE_CUDA=cuda>=13.4 driver<2")"
	refused runc "image needs CUDA >= 13.4, driver $driver offers $cuda: use driver >= 615 or an older image"
	rm "$LOG"
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0 NVIDIA_REQUIRE_ARCH='arch>=99')"
	refused runc "image needs compute capability >= 99, card 0 (GPU-"
	rm "$LOG"
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0 NVIDIA_REQUIRE_X='cuda>>1')"
	refused runc "NVIDIA_REQUIRE_X: 'cuda>>1' is no condition"
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0 NVIDIA_REQUIRE_CUDA='cuda>=13.4' NVIDIA_DISABLE_REQUIRE=true)"
	run container runc
	reached "$output" 0
}

@test "what is missing or broken ends in one sentence, and no runtime is started" {
	told
	local row what text
	for row in "rm -r $BUNDLE:cannot open the bundle" "rm $BUNDLE/config.json:cannot read config.json of the bundle" \
		"truncate -s 0 $BUNDLE/config.json:config.json:1:1" "truncate -s 10M $BUNDLE/config.json:larger than" \
		"rm $BUNDLE/config.json; mkdir $BUNDLE/config.json:no regular file" \
		"rm $BUNDLE/config.json; mkfifo $BUNDLE/config.json:no regular file" \
		"rm -r $BUNDLE/rootfs:cannot open the container's root rootfs" \
		"mv $BUNDLE/config.json $BUNDLE/real; ln -s real $BUNDLE/config.json:is a link"; do
		rm -rf "$BUNDLE" "$LOG"
		bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0)"
		what=${row%%:*} text=${row#*:}
		sh -c "$what"
		run inside timeout 20 "$WRAPPER" --log "$LOG" --log-format json create --bundle "$BUNDLE" id
		echo "$what: $output"
		[ "$status" = 1 ]
		[ "${#lines[@]}" = 1 ]
		grep -qF "$text" <<<"$output"
		grep -qF "$text" <<<"$(log_error)"
	done
}

@test "a broken inventory file is said and passed over" {
	mkdir "$BATS_TEST_TMPDIR/run"
	echo '{"version": 1' >"$BATS_TEST_TMPDIR/run/inventory.json"
	echo '[]' >"$BATS_TEST_TMPDIR/run/driver-files.json"
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=4)"
	GPUPOOL_RUN_DIR=$BATS_TEST_TMPDIR/run run container runc
	reached "$output" 4
	grep -q "inventory.json" "$LOG"
}

@test "none: the driver's files and control nodes, no card" {
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=none)" /probe open $(paths) /dev/nvidiactl
	run container runc
	echo "$output"
	[ "$status" = 0 ]
	reached "$output"
	grep -q '^/dev/nvidiactl ENXIO' <<<"$output"
	jq -e '[.mounts[].destination | select(test("libcuda.so.1$"))] | length > 0' "$BUNDLE/config.json"
}

@test "a container in a user namespace: the card's node of the host is bound, with its rule" {
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=6) | .linux.namespaces += [{type: \"user\"}] |
		.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings |
		.mounts |= map(select(.type != \"sysfs\" and .type != \"cgroup\"))"
	chmod 0711 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR" "$BUNDLE"
	chown -R 100000:100000 "$BUNDLE/rootfs"
	run container runc
	echo "$output"
	[ "$status" = 0 ]
	reached "$output" 6
	jq -e '(.linux.devices // [] | length) == 0 and
		any(.mounts[]; .destination == "/dev/nvidia6" and .source == "/run/driver/dev/nvidia6")' "$BUNDLE/config.json"
}

@test "devices beside the cards: only for who asks, outside Kubernetes; the sentence when they are not here" {
	inside sh -c 'mkdir -p $0/dev/nvidia-caps-imex-channels && mknod -m 0666 $0/dev/nvidia-fs0 c 509 0 &&
		mknod -m 0666 $0/dev/gdrdrv c 508 0 && mknod -m 0666 $0/dev/nvidia-caps-imex-channels/channel5 c 507 5' "$DRIVER"
	nodes() { jq -r '[.linux.devices[].path | select(test("nvidia-fs|gdrdrv|imex"))] | sort | join(" ")' "$BUNDLE/config.json"; }
	told
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0)"
	inside "$WRAPPER" create --bundle "$BUNDLE" id >/dev/null
	[ "$(nodes)" = "" ]
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0 NVIDIA_GDS=enabled NVIDIA_GDRCOPY=enabled NVIDIA_IMEX_CHANNELS=5)"
	inside "$WRAPPER" create --bundle "$BUNDLE" id >/dev/null
	[ "$(nodes)" = "/dev/gdrdrv /dev/nvidia-caps-imex-channels/channel5 /dev/nvidia-fs0" ]
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=0 NVIDIA_IMEX_CHANNELS=6)"
	run inside "$WRAPPER" create --bundle "$BUNDLE" id
	echo "$output"
	grep -q "channel6\|channel 6" <<<"$output"
}

@test "a container with a /dev that has the nodes, as privileged Pods have the host's: the rules are all that is added" {
	local dev=$BATS_TEST_TMPDIR/dev
	nsenter -t "$NAMESPACE" -m cp -a /run/driver/dev "$dev"
	mknod "$dev/null" c 1 3
	bundle "$(env_is NVIDIA_VISIBLE_DEVICES=2) | .mounts = [.mounts[] | select(.destination | startswith(\"/dev\") | not)] +
		[{destination: \"/dev\", source: \"$dev\", type: \"bind\", options: [\"rbind\"]}]"
	local before=$(ls -lR "$dev")
	run container runc
	echo "$output"
	[ "$status" = 0 ]
	reached "$output" 2
	[ "$(grep -c ' EPERM' <<<"$output")" = 7 ]
	jq -e '(.linux.devices // [] | length) == 0 and ([.mounts[] | select(.destination | startswith("/dev"))] | length) == 1' \
		"$BUNDLE/config.json"
	[ "$(ls -lR "$dev")" = "$before" ]
}
