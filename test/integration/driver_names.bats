#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Driver roots made from recorded names agree with what the distributions' packages hold.
load ../lib/common
bats_require_minimum_version 1.5.0

setup() {
	tree=$BATS_TEST_TMPDIR/root
	names=$BUILD/simdriver/simdriver-names
}

soname_of() {
	readelf -d "$1" 2>/dev/null | sed -n 's/.*soname: \[\(.*\)\]/\1/p'
}

# Every recorded file and link is in the tree with its SONAME or target.
compare_with_record() {
	local kind path value found count=0
	while read -r kind path value; do
		case $kind in
		file) found=$(soname_of "$tree/$path"); [ -f "$tree/$path" ] || found=absent ;;
		link) found=$(readlink "$tree/$path" || echo absent) ;;
		*) continue ;;
		esac
		[ "${found:--}" = "$value" ] || { echo "$path: recorded $value, made $found"; return 1; }
		count=$((count + 1))
	done <"$1"
	echo "$count names compared"
	[ "$count" -ge 25 ]
}

# Every library file in the tree is recorded: nothing is invented.
nothing_else() {
	local path
	while read -r path; do
		grep -qF " $path " "$1" || { echo "$path: in no package"; return 1; }
	done < <(cd "$tree" && find usr -type f -name '*.so*' -path "$2" -printf '%p\n')
}

check_debian() {
	local version=$1 data=$ROOT/test/data/driver-names
	"$names" --version "$version" --layout debian --root "$tree"
	compare_with_record "$data/debian-$version-amd64.txt"
	compare_with_record "$data/debian-$version-i386.txt"
	nothing_else "$data/debian-$version-i386.txt" '*/i386-linux-gnu/*'
	find "$tree/usr/lib/i386-linux-gnu" -depth -delete
	nothing_else "$data/debian-$version-amd64.txt" '*'
}

@test "names: Debian 535 as in its packages" {
	check_debian 535.261.03
}

@test "names: Debian 550 as in its packages" {
	check_debian 550.163.01
}

@test "names: the comparison notices a wrong SONAME, a wrong link and an invented file" {
	local record=$BATS_TEST_TMPDIR/record data=$ROOT/test/data/driver-names
	"$names" --version 550.163.01 --layout debian --root "$tree"
	sed 's/libcuda\.so\.1$/libcuda.so.2/' "$data/debian-550.163.01-amd64.txt" >"$record"
	run ! compare_with_record "$record"
	ln -sfn nowhere "$tree/usr/lib/x86_64-linux-gnu/nvidia/current/nvidia-drm_gbm.so"
	run ! compare_with_record "$data/debian-550.163.01-amd64.txt"
	: >"$tree/usr/lib/x86_64-linux-gnu/libnvidia-invented.so.550.163.01"
	run ! nothing_else "$data/debian-550.163.01-amd64.txt" '*/x86_64-linux-gnu/*'
}

@test "names: Debian reaches libcuda through /etc/alternatives, inside its root only" {
	"$names" --version 535.261.03 --layout debian --root "$tree"
	[ "$(readlink "$tree/usr/lib/x86_64-linux-gnu/libcuda.so.1")" = /etc/alternatives/nvidia--libcuda.so.1-x86_64-linux-gnu ]
	[ "$(readlink "$tree/etc/alternatives/nvidia--libcuda.so.1-x86_64-linux-gnu")" = /usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1 ]
	[ "$(chroot_realpath usr/lib/x86_64-linux-gnu/libcuda.so)" = usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.535.261.03 ]
	[ "$(chroot_realpath usr/lib/x86_64-linux-gnu/libnvidia-cfg.so.1)" = usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-cfg.so.535.261.03 ]
	[ "$(chroot_realpath usr/lib/x86_64-linux-gnu/gbm/nvidia-drm_gbm.so)" = usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-allocator.so.535.261.03 ]
	[ "$(chroot_realpath usr/bin/nvidia-smi)" = usr/lib/nvidia/current/nvidia-smi ]
}

# Follows links as a process inside the root would.
chroot_realpath() {
	local path=$1 target
	while [ -L "$tree/$path" ]; do
		target=$(readlink "$tree/$path")
		case $target in
		/*) path=${target#/} ;;
		*) path=$(dirname "$path")/$target ;;
		esac
	done
	echo "$path"
}

@test "names: no link of a tree leads nowhere" {
	local version layout link broken=0
	for version in 535.261.03 550.163.01; do
		for layout in debian rhel; do
			tree=$BATS_TEST_TMPDIR/$version-$layout
			"$names" --version "$version" --layout "$layout" --root "$tree"
			while read -r link; do
				[ -e "$tree/$(chroot_realpath "$link")" ] || { echo "$layout: $link"; broken=1; }
			done < <(cd "$tree" && find . -type l -printf '%P\n')
		done
	done
	[ "$broken" = 0 ]
}

@test "names: RHEL keeps all in /usr/lib64, gbm/ and vdpau/ beside" {
	local lib=$tree/usr/lib64
	"$names" --version 535.261.03 --layout rhel --root "$tree"
	[ "$(soname_of "$lib/libcuda.so.535.261.03")" = libcuda.so.1 ]
	[ "$(soname_of "$lib/gbm/nvidia-drm_gbm.so")" = libnvidia-allocator.so.1 ]
	[ "$(soname_of "$lib/vdpau/libvdpau_nvidia.so.535.261.03")" = libvdpau_nvidia.so.1 ]
	[ -z "$(soname_of "$lib/libnvidia-vulkan-producer.so.535.261.03")" ]
	[ "$(readlink "$lib/libnvidia-vulkan-producer.so")" = libnvidia-vulkan-producer.so.535.261.03 ]
	[ ! -e "$lib/libnvidia-gpucomp.so.535.261.03" ]
	[ "$(readelf -h "$tree/usr/lib/libcuda.so.1" | awk '/Class:/ {print $2}')" = ELF32 ]
	"$names" --version 550.163.01 --layout rhel --root "$tree-550"
	[ "$(soname_of "$tree-550/usr/lib64/libnvidia-gpucomp.so.550.163.01")" = libnvidia-gpucomp.so.550.163.01 ]
	[ ! -e "$tree-550/usr/lib64/libnvidia-vulkan-producer.so.550.163.01" ]
}

@test "names: glibc loads every 64-bit stub; the wrong word size is refused" {
	local probe=$BUILD/test/lib/dlopen_probe
	"$names" --version 550.163.01 --layout rhel --root "$tree"
	find "$tree/usr/lib64" -name '*.so*' | xargs "$probe" | tee "$BATS_TEST_TMPDIR/out"
	[ "$(grep -c '^ok ' "$BATS_TEST_TMPDIR/out")" -ge 60 ]
	run ! "$probe" "$tree/usr/lib/libcuda.so.1"
	[[ $output == *ELFCLASS32* ]]
}

@test "names: musl refuses every stub, as it refuses the real files" {
	command -v musl-gcc >/dev/null || skip "there is no musl-gcc"
	"$names" --version 550.163.01 --layout rhel --root "$tree"
	musl-gcc -o "$BATS_TEST_TMPDIR/probe" "$ROOT/test/lib/dlopen_probe.c"
	find "$tree/usr/lib64" -name '*.so*' | xargs "$BATS_TEST_TMPDIR/probe" >"$BATS_TEST_TMPDIR/out" || true
	[ "$(grep -c 'gnu_get_libc_version: symbol not found' "$BATS_TEST_TMPDIR/out")" = "$(wc -l <"$BATS_TEST_TMPDIR/out")" ]
	[ -s "$BATS_TEST_TMPDIR/out" ]
}

@test "names: programs of the tree run" {
	"$names" --version 550.163.01 --layout rhel --root "$tree"
	"$tree/usr/bin/nvidia-smi"
}

@test "names: wrong arguments are refused, and nothing is replaced" {
	run -2 "$names" --version 999.1 --layout debian --root "$tree"
	[[ $output == *"535 and 550"* ]]
	run -2 "$names" --version 535.261.03 --layout suse --root "$tree"
	run -2 "$names" --version 535/../x --layout debian --root "$tree"
	run -2 "$names"
	"$names" --version 535.261.03 --layout debian --root "$tree"
	run -1 "$names" --version 535.261.03 --layout debian --root "$tree"
	[[ $output == *"File exists"* ]]
}
