#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Roots of every kind through gpupool-runtime: the same libraries at the same places as by gpupool apply, of
# which roots.bats shows what programs find there. One root is run to the end, with both runtimes.
load ../lib/common
load ../lib/driver
load ../lib/roots

WRAPPER=$BIN/gpupool-runtime

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
	export NVIDIA_CTK_CONFIG_FILE_PATH=$BATS_TEST_TMPDIR/none.toml GPUPOOL_CONFIG=$BATS_TEST_TMPDIR/config.yaml
	BUNDLE=$BATS_TEST_TMPDIR/bundle
}

# bundle_of IMAGE VARIABLE=VALUE... [-- COMMAND...]
bundle_of() {
	local image=$1 variables=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do variables+=("$1"); shift; done
	[ $# = 0 ] || shift
	mkdir -p "$BUNDLE"
	rm -f "$BUNDLE/config.json"
	(cd "$BUNDLE" && runc spec)
	jq --arg root "$image" --argjson env "$(jq -nc '$ARGS.positional' --args -- "${variables[@]}")" \
		'.root = {path: $root} | .process.terminal = false | .process.args = $ARGS.positional |
		.process.env += $env | .linux.cgroupsPath = "/gpupool-wrapper-roots"' \
		"$BUNDLE/config.json" --args -- "${@:-/nothing}" >"$BUNDLE/changed"
	mv "$BUNDLE/changed" "$BUNDLE/config.json"
}

by_wrapper() { # IMAGE VARIABLE=VALUE...
	bundle_of "$1" NVIDIA_VISIBLE_DEVICES=0 "${@:2}"
	inside "$WRAPPER" --explain --json --bundle "$BUNDLE" | tee "$BATS_TEST_TMPDIR/explained" |
		jq -r '.plan.edits[] | select(.kind == "mount") | "\(.path) \(.source)"' | only_libraries
}

# same_as_apply ROOT [LEAST]: with all capabilities and with those for compute alone.
same_as_apply() {
	local set least=${2:-40}
	"root_$1"
	for set in all compute; do
		libraries "$IMAGE" NVIDIA_DRIVER_CAPABILITIES=$set | sort >"$BATS_TEST_TMPDIR/apply"
		by_wrapper "$IMAGE" NVIDIA_DRIVER_CAPABILITIES=$set | sort >"$BATS_TEST_TMPDIR/wrapper"
		diff "$BATS_TEST_TMPDIR/apply" "$BATS_TEST_TMPDIR/wrapper"
		[ $set != all ] || [ "$(wc -l <"$BATS_TEST_TMPDIR/wrapper")" -ge "$least" ]
	done
}

@test "an image without a shell" {
	same_as_apply distroless
}

@test "Debian, with its own driver, with an older or a stub libcuda in its cache, with empty and dangling names" {
	can_debian || skip "$WHY"
	local root
	for root in debian older_libcuda stub_libcuda leftover dangling own_driver; do
		same_as_apply $root 30
	done
}

@test "RHEL's directories" {
	can_rhel || skip "$WHY"
	same_as_apply rhel
}

@test "musl: device nodes, no library and one sentence" {
	can_musl || skip "$WHY"
	same_as_apply musl 0
	[ ! -s "$BATS_TEST_TMPDIR/wrapper" ]
	jq -e '[.plan.edits[] | select(.kind == "device").path] | index("/dev/nvidia0")' "$BATS_TEST_TMPDIR/explained"
	jq -e '[.plan.notes[] | select(test("musl image"))] | length == 1' "$BATS_TEST_TMPDIR/explained"
}

# loads RUNTIME: libcuda is found by its name in the image's own loader, and the card is reached.
loads() {
	root_distroless
	bundle_of "$IMAGE" NVIDIA_VISIBLE_DEVICES=3 -- /dlopen_probe libcuda.so.1 libnvidia-ml.so.1
	printf 'runtime:\n  runtimes: [%s]\n' "$1" >"$GPUPOOL_CONFIG"
	nsenter -t "$NAMESPACE" -m --wd="$BUNDLE" -- unshare -m sh -c '
		case $1 in crun) mount -t tmpfs tmpfs /sys/fs/cgroup/unified 2>/dev/null ;; esac
		exec "$2" --root /run/wrapper-roots run --bundle "$3" loads' - "$1" "$WRAPPER" "$BUNDLE"
}

@test "runc and crun behind the wrapper: what was mounted loads" {
	local runtime output
	for runtime in runc crun; do
		command -v $runtime >/dev/null || continue
		output=$(loads $runtime)
		echo "$output"
		[ "$(grep -c '^ok lib' <<<"$output")" = 2 ]
	done
}
