# SPDX-License-Identifier: Apache-2.0
# Image roots for tests, after `load ../lib/common` and `load ../lib/driver`. root_NAME makes one below
# /run/roots of the file's namespace, the first time, and leaves its path in $IMAGE; can_NAME says first
# whether it can be made here, or why not in $WHY. Every root has /dlopen_probe and, static, /device_probe.
# How to add a root: a function here, a row in docs/library-targets.md, a test of that row in roots.bats.
TRIPLET=x86_64-linux-gnu
ROOTS=/run/roots
PROBES=$BUILD/test/lib
CUDA_PATH=LD_LIBRARY_PATH=/usr/local/nvidia/lib:/usr/local/nvidia/lib64

# once NAME: true the first time, with an empty $IMAGE.
once() {
	IMAGE=$ROOTS/$1
	inside test -e "$IMAGE" && return 1
	inside mkdir -p "$IMAGE"
}

put() { # FILE... DIRECTORY, below $IMAGE
	local directory=$IMAGE${!#}
	inside mkdir -p "$directory"
	inside cp -L "${@:1:$#-1}" "$directory/"
}

put_text() { # PATH TEXT, below $IMAGE
	inside sh -c 'mkdir -p "$(dirname "$1")" && printf "%s\n" "$2" >"$1"' - "$IMAGE$1" "$2"
}

# stub LIBRARY SONAME: a library that does nothing, as CUDA's stubs and other drivers' libraries here.
stub() {
	mkdir -p "$(dirname "$1")"
	echo 'int a_library_of_the_image(void) { return 1; }' |
		gcc -shared -fPIC -x c -o "$1" -Wl,-soname,"$2" -
}

# The C library of this machine and nothing else: no shell, no /usr.
root_distroless() {
	once distroless || return 0
	put /lib/$TRIPLET/lib{c.so.6,m.so.6,dl.so.2,rt.so.1,pthread.so.0} /lib/$TRIPLET
	put /lib64/ld-linux-x86-64.so.2 /lib64
	put "$PROBES"/{dlopen,device}_probe /
}

can_debian() {
	DEBIAN=$("$ROOT/test/lib/debian_base" 2>&1) || { WHY=${DEBIAN##*$'\n'}; return 1; }
}

# debian_above LAYER: an overlay over the cached Debian at $IMAGE.
debian_above() {
	inside mkdir -p "$1/upper" "$1/work"
	inside mount -t overlay -o "lowerdir=$DEBIAN,upperdir=$1/upper,workdir=$1/work" overlay "$IMAGE"
	put "$PROBES"/{dlopen,device}_probe "$ROOT/test/lib/triton_lookup" /
}

root_debian() {
	once debian || return 0
	debian_above $ROOTS/.debian
}

# The same on a file system that cannot be written, as squashfs and erofs images.
root_debian_readonly() {
	root_debian
	once debian-readonly || return 0
	inside mount --bind $ROOTS/debian "$IMAGE"
	inside mount -o remount,ro,bind "$IMAGE"
}

# Libraries of an image in a directory that its ld.so.cache lists.
with_cached_library() { # NAME LIBRARY SONAME
	once "$1" || return 0
	debian_above "$ROOTS/.$1"
	stub "$BATS_FILE_TMPDIR/$1.so" "$3"
	inside mkdir -p "$(dirname "$IMAGE$2")"
	inside cp "$BATS_FILE_TMPDIR/$1.so" "$IMAGE$2"
	put_text /etc/ld.so.conf.d/000-cuda.conf "$(dirname "$2")"
	inside chroot "$IMAGE" /sbin/ldconfig
}

# CUDA's forward compatibility package, and the stubs of its development package.
root_older_libcuda() {
	with_cached_library older-libcuda /usr/local/cuda-11.4/compat/libcuda.so.1 libcuda.so.1
}

root_stub_libcuda() {
	with_cached_library stub-libcuda /usr/local/cuda-12.2/lib64/stubs/libcuda.so libcuda.so.1
}

# What a committed container leaves: empty mount points.
root_leftover() {
	once leftover || return 0
	debian_above $ROOTS/.leftover
	inside touch "$IMAGE/usr/lib/$TRIPLET/libcuda.so.1" "$IMAGE/usr/lib/$TRIPLET/libnvidia-ml.so.1"
}

# A driver's package whose files were deleted and whose links were not.
root_dangling() {
	once dangling || return 0
	debian_above $ROOTS/.dangling
	inside ln -s libcuda.so.510.47.03 "$IMAGE/usr/lib/$TRIPLET/libcuda.so.1"
	inside ln -s /opt/driver/libnvidia-ml.so.1 "$IMAGE/usr/lib/$TRIPLET/libnvidia-ml.so.1"
}

# Another driver's package, installed in the image.
root_own_driver() {
	once own-driver || return 0
	debian_above $ROOTS/.own-driver
	local name
	for name in libcuda libnvidia-ml; do
		stub "$BATS_FILE_TMPDIR/own/$name.so.510.47.03" $name.so.1
		put "$BATS_FILE_TMPDIR/own/$name.so.510.47.03" "/usr/lib/$TRIPLET"
		inside ln -s $name.so.510.47.03 "$IMAGE/usr/lib/$TRIPLET/$name.so.1"
		inside ln -s $name.so.1 "$IMAGE/usr/lib/$TRIPLET/$name.so"
	done
	inside chroot "$IMAGE" /sbin/ldconfig
}

can_rhel() {
	RHEL=$("$ROOT/test/lib/rhel_glibc" 2>&1) || { WHY=${RHEL##*$'\n'}; return 1; }
}

# A glibc with the directories of Fedora, RHEL and UBI.
root_rhel() {
	once rhel || return 0
	put "$RHEL"/lib64/* /usr/lib64
	put "$RHEL/sbin/ldconfig" /usr/sbin
	inside ln -s usr/lib64 "$IMAGE/lib64"
	inside ln -s usr/sbin "$IMAGE/sbin"
	put "$PROBES"/{dlopen,device}_probe /
}

can_musl() {
	command -v musl-gcc >/dev/null || { WHY="there is no musl-gcc; run test/lib/install test"; return 1; }
}

root_musl() {
	once musl || return 0
	musl-gcc -o "$BATS_FILE_TMPDIR/dlopen_probe" "$ROOT/test/lib/dlopen_probe.c"
	echo 'int a_musl_library(void) { return 1; }' |
		musl-gcc -shared -fPIC -x c -o "$BATS_FILE_TMPDIR/libofmusl.so.1" -
	put /lib/ld-musl-x86_64.so.1 /lib
	put "$BATS_FILE_TMPDIR/libofmusl.so.1" /usr/lib
	put "$BATS_FILE_TMPDIR/dlopen_probe" "$PROBES/device_probe" /
}

# pod IMAGE [VARIABLE=VALUE...] -- COMMAND...: a Pod with one card.
pod() {
	local variables='[]' image=$1 variable
	shift
	while [ "$1" != -- ]; do
		variable=$1
		variables=$(jq -c --arg name "${variable%%=*}" --arg value "${variable#*=}" \
			'. + [{name: $name, value: $value}]' <<<"$variables")
		shift
	done
	shift
	jq -n --argjson env "$variables" '{apiVersion: "v1", kind: "Pod", metadata: {name: "roots"},
		spec: {containers: [{name: "main", image: "any", command: $ARGS.positional, env: $env,
			resources: {limits: {"nvidia.com/gpu": 1}}}]}}' --args -- "$@" >"$BATS_FILE_TMPDIR/pod.yaml"
}

# libraries IMAGE [VARIABLE=VALUE...]: "PATH SOURCE" of every library that the plan mounts.
libraries() {
	pod "$@" -- /nothing
	inside gpupool apply --dry-run --json --image "$1" -f "$BATS_FILE_TMPDIR/pod.yaml" 2>/dev/null |
		jq -r '.containers[0].plan.edits[] | select(.kind == "mount") | "\(.path) \(.source)"' | only_libraries
}

only_libraries() {
	grep -E '^[^ ]*/[^/ ]*\.so[^/ ]* '
}

# The directory where most of the libraries go.
directory_of() { # LIBRARIES
	sed 's|/[^/]* .*||' "$1" | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }'
}

# How a program asks for each: by its name, but by its path in a folder that no loader searches.
asked_of() { # LIBRARIES
	awk -v directory="$(directory_of "$1")" '{
		name = $1; sub(".*/", "", name)
		print $1 == directory "/" name ? name : $1 }' "$1"
}

# What the probe did not get from the driver, of what `asked_of` asked: "all", "none", "all but A B".
verdict() { # LIBRARIES OUTPUT
	paste -d' ' <(asked_of "$1") <(sed 's/^[^ ]* //' "$1" | inside xargs stat -L -c %d:%i) |
		awk 'FNR == NR { if ($1 == "ok") got[$2] = $4; next }
			{ count++ }
			got[$1] != $2 || $2 == "" { lost = lost " " $1; without++ }
			END { print without == count ? "none" : without ? "all but" lost : "all" }' "$2" -
}

# The spec that the product writes for IMAGE, to be run by hand with changes.
spec_of() { # IMAGE
	local spec fifo=$BATS_TEST_TMPDIR/fifo out=$BATS_TEST_TMPDIR/hold holder
	spec=$BATS_FILE_TMPDIR/spec-$(basename "$1")
	[ -e "$spec" ] || {
		mkfifo "$fifo"
		pod "$1" NVIDIA_DRIVER_CAPABILITIES=all -- /device_probe hold
		inside gpupool apply --image "$1" -f "$BATS_FILE_TMPDIR/pod.yaml" <"$fifo" >"$out" 2>&1 3>&- &
		holder=$!
		exec 8>"$fifo"
		timeout 20 sh -c 'until grep -qs holding "$1"; do sleep 0.05; done' - "$out" || cat "$out"
		inside sh -c 'cat /run/gpupool/containers/*/config.json' >"$spec" || rm "$spec"
		exec 8>&-
		wait "$holder" || true
		rm -f "$fifo"
	}
	cat "$spec"
}

# run_bundle RUNTIME IMAGE SPEC [OPTION]: runs a spec in a throw-away layer above IMAGE, which OPTION, such
# as ro, makes a mount with that option.
run_bundle() {
	local bundle=$BATS_TEST_TMPDIR/bundle
	mkdir -p "$bundle/rootfs" "$bundle/layers"
	jq --arg root "$bundle/rootfs" '.root.path = $root | .linux.cgroupsPath = "/gpupool-roots"' \
		"$3" >"$bundle/config.json"
	nsenter -t "$NAMESPACE" -m -- unshare -m --propagation private sh -ec '
		mount -t tmpfs tmpfs "$3/layers"
		mkdir "$3/layers/upper" "$3/layers/work"
		mount -t overlay -o "lowerdir=$2,upperdir=$3/layers/upper,workdir=$3/layers/work" overlay "$3/rootfs"
		[ -z "$4" ] || mount -o "remount,$4" "$3/rootfs"
		case $1 in crun) mount -t tmpfs tmpfs /sys/fs/cgroup/unified 2>/dev/null || : ;; esac
		exec "$1" --root /run/roots-state run --bundle "$3" roots' - "$1" "$2" "$bundle" "${4:-}"
}

# by_hand RUNTIME IMAGE FILTER COMMAND...: the product's own spec, changed by a jq filter.
by_hand() {
	local runtime=$1 image=$2 filter=$3
	shift 3
	spec_of "$image" >"$BATS_TEST_TMPDIR/spec" || return 1
	jq ".process.args = \$ARGS.positional | $filter" "$BATS_TEST_TMPDIR/spec" --args -- "$@" \
		>"$BATS_TEST_TMPDIR/changed"
	run_bundle "$runtime" "$image" "$BATS_TEST_TMPDIR/changed" "${ROOT_OPTION:-}"
}

# What stands in a folder: names, kinds, rights, times, targets, contents.
snapshot() {
	find "$1" -printf '%P %y %m %U:%G %s %T@ %l\n' | sort
	find "$1" -type f -exec sha256sum {} + | sort
}
