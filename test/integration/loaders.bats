#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Each injected library is opened by its name, by a small program, in roots with the loaders of different
# distributions. The driver root holds stubs with the real names of a release; runc and crun start the
# containers. docs/library-targets.md has the table of results.
load ../lib/common
load ../lib/driver
bats_require_minimum_version 1.5.0

NAMES=$BUILD/simdriver/simdriver-names
SPEC=$BUILD/test/lib/inject_spec
PROBE=$BUILD/test/lib/dlopen_probe
TRIPLET=x86_64-linux-gnu

setup() {
	needs_containers
	driver=$BATS_TEST_TMPDIR/driver
	image=$BATS_TEST_TMPDIR/image
	bundle=$BATS_TEST_TMPDIR/bundle
	mkdir -p "$image" "$bundle"
}

# A driver root with all names of a release and the nodes of one card.
make_driver() { # VERSION LAYOUT
	"$NAMES" --version "$1" --layout "$2" --root "$driver"
	mkdir -p "$driver/dev"
	mknod "$driver/dev/nvidia0" c 195 0
	mknod "$driver/dev/nvidiactl" c 195 255
	mknod "$driver/dev/nvidia-uvm" c 510 0
}

# The C library of this machine and nothing else, as distroless images have it.
make_distroless() {
	mkdir -p "$image/usr/lib/$TRIPLET" "$image/lib64"
	ln -s usr/lib "$image/lib"
	cp "/lib/$TRIPLET/libc.so.6" "/lib/$TRIPLET/libdl.so.2" "$image/usr/lib/$TRIPLET/"
	cp -L /lib64/ld-linux-x86-64.so.2 "$image/lib64/"
	cp "$PROBE" "$image/probe"
}

# The same with ldconfig and a cache.
make_debian() {
	make_distroless
	mkdir -p "$image/bin" "$image/sbin" "$image/etc/ld.so.conf.d" "$image/tmp" "$image/var/cache/ldconfig"
	cp -L /sbin/ldconfig "$image/sbin/ldconfig"
	printf '%s\n' 'include /etc/ld.so.conf.d/*.conf' >"$image/etc/ld.so.conf"
	printf '%s\n' "/lib/$TRIPLET" "/usr/lib/$TRIPLET" >"$image/etc/ld.so.conf.d/$TRIPLET.conf"
	chroot "$image" /sbin/ldconfig
}

make_rhel() {
	local folder
	folder=$("$ROOT/test/lib/rhel_glibc") || skip "the RHEL-like C library is built by make soak"
	mkdir -p "$image/usr/lib64"
	ln -s usr/lib64 "$image/lib64"
	cp -L "$folder"/lib64/*.so.* "$image/usr/lib64/"
	cp "$PROBE" "$image/probe"
}

# Both runtimes, each in a mount namespace without the hybrid cgroup2 mount, which crun refuses.
start() { # RUNTIME
	unshare -m --propagation private sh -c '
		mount -t tmpfs tmpfs /sys/fs/cgroup/unified 2>/dev/null
		exec "$1" --root "$2" run --bundle "$3" "gpupool-loaders-$$"' - \
		"$1" "$BATS_TEST_TMPDIR/state" "$bundle"
}

runtimes() {
	local name
	for name in runc crun; do
		command -v $name >/dev/null && echo $name
	done
}

# Asks for every library that the plan mounts; all come from where they were mounted.
opens_all() { # CAPABILITIES MINIMUM
	local runtime name path
	"$SPEC" "$driver" "$image" "$1" "$bundle" /probe >"$BATS_TEST_TMPDIR/libraries"
	# gbm/, vdpau/ and the X server's modules are opened by their path, the others by name
	while read -r name path; do
		case $path in
		*/gbm/* | */vdpau/* | */xorg/modules/*) echo "$path" ;;
		*) echo "$name" ;;
		esac
	done <"$BATS_TEST_TMPDIR/libraries" >"$BATS_TEST_TMPDIR/wanted"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/wanted")" -ge "$2" ]
	"$SPEC" "$driver" "$image" "$1" "$bundle" /probe $(cat "$BATS_TEST_TMPDIR/wanted") >/dev/null
	for runtime in $(runtimes); do
		run -0 start "$runtime"
		echo "$runtime: $(grep -c '^ok ' <<<"$output") of $(wc -l <"$BATS_TEST_TMPDIR/wanted") opened"
		[ "$(grep -c '^ok ' <<<"$output")" = "$(wc -l <"$BATS_TEST_TMPDIR/wanted")" ]
	done
}

# Where a name was found, with the first runtime.
finds() { # NAME EXPECTED-PREFIX [VARIABLE=VALUE]
	"$SPEC" "$driver" "$image" compute,utility "$bundle" /probe "$1" >/dev/null
	[ -z "${3:-}" ] || sed -i "s|\"PATH=[^\"]*\"|&, \"$3\"|" "$bundle/config.json"
	run -0 start runc
	echo "$output"
	[[ $output == "ok $1 $2"* ]]
}

@test "loaders: Debian-like root, all libraries of 535 and 550 in both layouts" {
	make_debian
	for release in "535.261.03 debian" "550.163.01 rhel"; do
		make_driver $release
		opens_all all 35
		opens_all compute,utility 10
		rm -rf "$driver"
	done
}

@test "loaders: distroless root" {
	make_distroless
	make_driver 535.261.03 debian
	opens_all all 35
}

@test "loaders: read-only root" {
	make_distroless
	make_driver 535.261.03 debian
	"$SPEC" "$driver" "$image" compute,utility "$bundle" /probe libcuda.so.1 libnvidia-ml.so.1 >/dev/null
	sed -i 's/"readonly": *false/"readonly":true/' "$bundle/config.json"
	grep -q '"readonly": *true' "$bundle/config.json"
	for runtime in $(runtimes); do
		run -0 start "$runtime"
		[ "$(grep -c '^ok ' <<<"$output")" = 2 ]
	done
}

@test "loaders: RHEL-like root" {
	make_rhel
	make_driver 550.163.01 rhel
	opens_all all 35
	finds libcuda.so.1 /lib64/libcuda.so.1
}

@test "loaders: an older libcuda in the image's cache wins, and loses with CUDA images' variable" {
	make_debian
	make_driver 550.163.01 rhel
	mkdir -p "$image/usr/local/cuda/compat"
	cp "$driver/usr/lib64/libcuda.so.550.163.01" "$image/usr/local/cuda/compat/libcuda.so.1"
	echo /usr/local/cuda/compat >"$image/etc/ld.so.conf.d/000-compat.conf"
	chroot "$image" /sbin/ldconfig
	finds libcuda.so.1 /usr/local/cuda/compat/libcuda.so.1
	finds libcuda.so.1 /usr/local/nvidia/lib64/libcuda.so.1 LD_LIBRARY_PATH=/usr/local/nvidia/lib:/usr/local/nvidia/lib64
}

@test "loaders: the image's own driver package in the same directory is covered" {
	make_debian
	make_driver 550.163.01 rhel
	"$NAMES" --version 535.261.03 --layout rhel --root "$BATS_TEST_TMPDIR/old"
	cp "$BATS_TEST_TMPDIR/old/usr/lib64/libcuda.so.535.261.03" "$image/usr/lib/$TRIPLET/"
	ln -s libcuda.so.535.261.03 "$image/usr/lib/$TRIPLET/libcuda.so.1"
	chroot "$image" /sbin/ldconfig
	cp /bin/cat "$image/bin/cat"
	finds libcuda.so.1 "/lib/$TRIPLET/libcuda.so.1"
	"$SPEC" "$driver" "$image" compute "$bundle" /bin/cat "/usr/lib/$TRIPLET/libcuda.so.1" >/dev/null
	start runc >"$BATS_TEST_TMPDIR/seen"
	cmp "$BATS_TEST_TMPDIR/seen" "$driver/usr/lib64/libcuda.so.550.163.01"
}

@test "loaders: Triton's look-up: ldconfig -p lists nothing, TRITON_LIBCUDA_PATH has libcuda.so.1" {
	make_debian
	make_driver 535.261.03 debian
	"$SPEC" "$driver" "$image" compute,utility "$bundle" /sbin/ldconfig -p >/dev/null
	run -0 start runc
	[[ $output != *libcuda* ]]
	run -0 python3 -c '
import json, sys
env = dict(e.split("=", 1) for e in json.load(open(sys.argv[1]))["process"]["env"])
print(env["TRITON_LIBCUDA_PATH"])' "$bundle/config.json"
	finds "$output/libcuda.so.1" "$output/libcuda.so.1"
}

@test "loaders: ldconfig works in the container, and lists the libraries then" {
	make_debian
	make_driver 535.261.03 debian
	"$SPEC" "$driver" "$image" compute,utility "$bundle" /sbin/ldconfig >/dev/null
	run -0 start runc
	"$SPEC" "$driver" "$image" compute,utility "$bundle" /sbin/ldconfig -p >/dev/null
	run -0 start runc
	[[ $output == *"libcuda.so.1"* ]]
}

@test "loaders: a musl root gets device nodes and one sentence" {
	command -v musl-gcc >/dev/null || skip "there is no musl-gcc"
	make_driver 535.261.03 debian
	mkdir -p "$image/lib"
	cp -L /lib/ld-musl-x86_64.so.1 "$image/lib/"
	musl-gcc -o "$image/probe" "$ROOT/test/lib/dlopen_probe.c"
	run -0 --separate-stderr "$SPEC" "$driver" "$image" compute,utility "$bundle" /probe libcuda.so.1
	[ -z "$output" ]
	[[ $stderr == *"musl image: NVIDIA's libraries need glibc"* ]]
	jq -e '[.linux.devices[].path] | index("/dev/nvidia0")' "$bundle/config.json"
	run -1 start runc
	[[ $output == "no libcuda.so.1"* ]]
}

@test "loaders: an image whose /dev is a link is refused, and nothing appears behind the link" {
	make_distroless
	make_driver 535.261.03 debian
	mkdir "$BATS_TEST_TMPDIR/outside"
	ln -s "$BATS_TEST_TMPDIR/outside" "$image/dev"
	run -4 "$SPEC" "$driver" "$image" compute,utility "$bundle" /probe libcuda.so.1
	[[ $output == *"/dev is a link"* ]]
	[ ! -e "$bundle/config.json" ]
	[ -z "$(ls "$BATS_TEST_TMPDIR/outside")" ]
}
