#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What programs find in image roots of every kind, through gpupool itself with runc and crun. The rows of
# docs/library-targets.md are measured again and compared; where a root cannot be made its test is skipped.
load ../lib/common
load ../lib/driver
load ../lib/roots
bats_require_minimum_version 1.5.0

TABLE=$ROOT/docs/library-targets.md
NAMES=$BUILD/simdriver/simdriver-names
SPEC=$BUILD/test/lib/inject_spec
LIBRARIES_MIN=40 # of the simulated driver with all capabilities

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	namespace_start
	driver_start a100-80
}

teardown_file() {
	namespace_stop
}

setup() {
	needs_containers runc
	needs_containers crun
}

# needs ROOT: makes it, or skips the test.
needs() {
	local why=$1
	case $1 in
	debian* | older* | stub* | leftover | dangling | own_driver) why=debian ;;
	distroless) why= ;;
	esac
	[ -z "$why" ] || "can_$why" || skip "$WHY"
	"root_$1"
}

# measure TITLE RUN IMAGE [VARIABLE=VALUE...]: prints the row. RUN RUNTIME IMAGE NAME... starts the probe.
measure() {
	local title=$1 how=$2 image=$3 list=$BATS_TEST_TMPDIR/list runtime first directory name
	shift 3
	VARIABLES=("$@" NVIDIA_DRIVER_CAPABILITIES=all)
	libraries "$image" "${VARIABLES[@]}" >"$list"
	directory=$(directory_of "$list")
	[ "$(wc -l <"$list")" -ge $LIBRARIES_MIN ]
	# Programs ask for these, wherever the mount had to go.
	for name in libcuda.so libnvidia-ml.so; do
		grep -q "^$directory/$name\.1 " "$list" ||
			grep -m1 "/$name\.[0-9.]*$" "$list" | sed "s|^[^ ]*|$directory/$name.1|" >>"$list"
	done
	for runtime in runc crun; do
		"$how" $runtime "$image" $(asked_of "$list") >"$BATS_TEST_TMPDIR/$runtime" 2>"$BATS_TEST_TMPDIR/errors" ||
			grep -q '^[on][ko] ' "$BATS_TEST_TMPDIR/$runtime" || { cat "$BATS_TEST_TMPDIR/errors" >&2; return 1; }
	done
	first=$(awk '$2 == "libcuda.so.1" { print $3; exit }' "$BATS_TEST_TMPDIR/runc")
	echo "| $title | \`$directory\` | \`$first\` | $(verdict "$list" "$BATS_TEST_TMPDIR/runc") |" \
		"$(verdict "$list" "$BATS_TEST_TMPDIR/crun") |"
}

by_product() { # RUNTIME IMAGE NAME...
	local runtime=$1 image=$2 probe=/dlopen_probe
	shift 2
	[ "$image" != host ] || probe=$PROBES/dlopen_probe
	pod "$image" "${VARIABLES[@]}" -- $probe "$@"
	inside gpupool apply --runtime "$runtime" --image "$image" -f "$BATS_FILE_TMPDIR/pod.yaml"
}

by_readonly_spec() { # RUNTIME IMAGE NAME...
	by_hand "$1" "$2" '.root.readonly = true' /dlopen_probe "${@:3}"
}

# row_holds TITLE RUN IMAGE [VARIABLE=VALUE...]: the row in the documentation is what is measured now.
row_holds() {
	local row
	row=$(measure "$@")
	echo "measured: $row"
	echo "$TABLE: $(grep -F "| $1 |" "$TABLE")"
	grep -qxF "$row" "$TABLE"
}

@test "Debian" {
	needs debian
	row_holds "Debian 12" by_product "$IMAGE"
}

@test "distroless" {
	needs distroless
	row_holds "distroless: a C library and its loader, no shell" by_product "$IMAGE"
}

@test "read-only root by the spec" {
	needs debian
	row_holds "Debian 12, \`root.readonly\` in the spec" by_readonly_spec "$IMAGE"
}

@test "read-only file system" {
	needs debian_readonly
	row_holds "Debian 12 on a read-only file system" by_product "$IMAGE"
}

@test "RHEL-like" {
	needs rhel
	row_holds "RHEL-like: glibc with RHEL's directories" by_product "$IMAGE"
}

@test "an older libcuda in the image's cache" {
	needs older_libcuda
	row_holds "older \`libcuda.so.1\` in the cache" by_product "$IMAGE"
	row_holds "the same, with the variable of CUDA images" by_product "$IMAGE" "$CUDA_PATH"
}

@test "CUDA's stub in the image's cache" {
	needs stub_libcuda
	row_holds "CUDA's stub \`libcuda.so\` in the cache" by_product "$IMAGE"
	row_holds "the same stub, with the variable of CUDA images" by_product "$IMAGE" "$CUDA_PATH"
}

@test "empty files left over from an earlier container" {
	needs leftover
	row_holds "empty \`libcuda.so.1\` left by an earlier container" by_product "$IMAGE"
}

@test "links that lead to nothing" {
	needs dangling
	row_holds "dangling links at \`libcuda.so.1\`, \`libnvidia-ml.so.1\`" by_product "$IMAGE"
}

@test "the image's own driver package" {
	needs own_driver
	row_holds "own driver package, 510, in the same directory" by_product "$IMAGE"
}

@test "image host, the driver elsewhere" {
	row_holds "image \`host\`, driver root elsewhere" by_product host
}

@test "control: a mount that is dropped, swapped or elsewhere turns the measurement red" {
	needs distroless
	local list=$BATS_TEST_TMPDIR/list out=$BATS_TEST_TMPDIR/out
	libraries "$IMAGE" NVIDIA_DRIVER_CAPABILITIES=all >"$list"
	by_hand runc "$IMAGE" . /dlopen_probe $(asked_of "$list") >"$out"
	[ "$(verdict "$list" "$out")" = all ]
	by_hand runc "$IMAGE" '.mounts |= map(select(.destination | endswith("/libnvidia-ml.so.1") | not))' \
		/dlopen_probe $(asked_of "$list") >"$out" || true
	[ "$(verdict "$list" "$out")" = "all but libnvidia-ml.so.1 /usr/local/nvidia/lib64/libnvidia-ml.so.1" ]
	by_hand runc "$IMAGE" '(.mounts[] | select(.destination | endswith("gnu/libcuda.so.1")) | .source) |=
		sub("libcuda"; "libnvidia-ml")' /dlopen_probe $(asked_of "$list") >"$out" || true
	[ "$(verdict "$list" "$out")" = "all but libcuda.so.1" ]
	by_hand runc "$IMAGE" '(.mounts[] | .destination) |= sub("^/lib/x86_64-linux-gnu/"; "/usr/lib64/")' \
		/dlopen_probe libcuda.so.1 libnvidia-ml.so.1 >"$out" || true
	[ "$(grep -c '^no .*cannot open shared object' "$out")" = 2 ]
}

# Every title in the table is measured above, and nothing else stands there.
@test "the table has no row that is not measured" {
	local title
	while read -r title; do
		grep -qF "row_holds \"${title//\`/\\\`}\"" "$BATS_TEST_FILENAME" || { echo "no test measures: $title"; return 1; }
	done < <(sed -n '/^| image/,/^$/{ s/^| \([^|]*\) |.*/\1/p }' "$TABLE" | tail -n +3)
	[ "$(grep -c '^	row_holds "' "$BATS_TEST_FILENAME")" = "$(sed -n '/^| image/,/^$/p' "$TABLE" | tail -n +3 | grep -c '^|')" ]
}

@test "musl: devices, one sentence, and libraries that would not load" {
	needs musl
	local list=$BATS_TEST_TMPDIR/list mounts runtime
	for runtime in runc crun; do
		run -1 --separate-stderr inside gpupool run --runtime $runtime --image "$IMAGE" --gpus 1 -- \
			/dlopen_probe libofmusl.so.1 libcuda.so.1
		echo "$output" "$stderr"
		[[ $output == *"ok libofmusl.so.1"*"no libcuda.so.1 "*"No such file"* ]]
		[[ $stderr == *"note: musl image: NVIDIA's libraries need glibc, so the container gets device nodes only."* ]]
	done
	run -0 inside gpupool run --image "$IMAGE" --gpus 1 -- /device_probe open /dev/nvidia0 /dev/nvidia1
	[[ $output == *"/dev/nvidia0 ENXIO"*"/dev/nvidia1 ENOENT"* ]]
	# As the real ones do: what they need of glibc is not there.
	root_distroless
	libraries "$IMAGE" NVIDIA_DRIVER_CAPABILITIES=all >"$list"
	root_musl
	mounts=$(jq -Rn '[inputs | split(" ") | {destination: ("/usr/lib/" + (.[0] | split("/") | last)),
		source: .[1], type: "bind", options: ["bind", "ro"]}]' "$list")
	for runtime in runc crun; do
		run -1 by_hand $runtime "$IMAGE" ".mounts += $mounts" /dlopen_probe libofmusl.so.1 $(sed 's/ .*//; s|.*/||' "$list")
		echo "$output"
		[[ $output == "ok libofmusl.so.1"* ]]
		[ "$(grep -c ': symbol not found$' <<<"$output")" = "$(wc -l <"$list")" ]
	done
}

@test "run: the default capabilities, and nothing of the others" {
	needs debian
	local runtime list=$BATS_TEST_TMPDIR/list out=$BATS_TEST_TMPDIR/out
	inside gpupool run --dry-run --json --image "$IMAGE" --gpus 1 -- true |
		jq -r '.containers[0].plan.edits[] | select(.kind == "mount") | "\(.path) \(.source)"' | only_libraries >"$list"
	for runtime in runc crun; do
		inside gpupool run --runtime $runtime --image "$IMAGE" --gpus 1 -- /dlopen_probe $(asked_of "$list") >"$out"
		[ "$(verdict "$list" "$out")" = all ]
		inside gpupool run --runtime $runtime --image "$IMAGE" --gpus 1 -- \
			/dlopen_probe libnvidia-encode.so.1 libGLX_nvidia.so.0 >"$out" || true
		[ "$(grep -c '^no ' "$out")" = 2 ]
	done
}

# Elsewhere than in gpupool run, which lays a layer above every image.
@test "a root that the runtime itself cannot write: the start fails, with one sentence" {
	needs debian
	local runtime
	for runtime in runc crun; do
		ROOT_OPTION=ro run -1 by_hand $runtime "$IMAGE" . /dlopen_probe libcuda.so.1
		echo "$output"
		[ "${#lines[@]}" = 1 ]
		[[ $output == *"$TRIPLET/lib"*": "[Rr]"ead-only file system"* || $output == *"$TRIPLET/lib"*"No such file"* ]]
	done
}

@test "nvidia-smi lists the granted card and no other" {
	needs debian
	local wanted runtime
	wanted=$(inside gpupool inventory --json | jq -r '.cards[2] | .uuid')
	for runtime in runc crun; do
		run -0 --separate-stderr inside gpupool run --runtime $runtime --image "$IMAGE" --gpus 1 --gpu-uuid "$wanted" -- nvidia-smi -L
		echo "$output"
		[ "${#lines[@]}" = 1 ]
		[[ ${lines[0]} == "GPU 0: "*"(UUID: $wanted)" ]]
	done
}

@test "a caller who is not root finds the same, and cannot rebuild the cache" {
	needs debian
	local list=$BATS_TEST_TMPDIR/list out=$BATS_TEST_TMPDIR/out runtime
	libraries "$IMAGE" >"$list"
	for runtime in runc crun; do
		inside env SUDO_UID=65534 SUDO_GID=65534 gpupool run --runtime $runtime --image "$IMAGE" --gpus 1 -- \
			sh -c '/dlopen_probe "$@"; id -u; nvidia-smi -L; ldconfig 2>/dev/null || echo refused; /dlopen_probe libcuda.so.1' - \
			$(asked_of "$list") >"$out" 2>/dev/null
		cat "$out"
		[ "$(verdict "$list" <(grep -B99 '^65534$' "$out"))" = all ]
		[ "$(sed -n '/^65534$/,$p' "$out" | cut -c1-7 | paste -sd' ')" = "65534 GPU 0:  refused ok libc" ]
	done
}

# look_up EXPECTED STATUS [VARIABLE=VALUE...]
look_up() {
	local wanted=$1 status_wanted=$2
	shift 2
	pod "$IMAGE" "$@" -- /triton_lookup
	run -"$status_wanted" --separate-stderr inside gpupool apply --image "$IMAGE" -f "$BATS_FILE_TMPDIR/pod.yaml"
	echo "$*: $output"
	[ "$output" = "$wanted" ]
}

@test "Triton finds libcuda by its variable, and in CUDA images without it" {
	needs debian
	look_up "/usr/lib/$TRIPLET" 0
	look_up /opt/own 1 TRITON_LIBCUDA_PATH=/opt/own # the image's own value stays
	look_up /usr/local/nvidia/lib64 0 TRITON_LIBCUDA_PATH= "$CUDA_PATH"
	look_up "" 1 TRITON_LIBCUDA_PATH= # why the variable is needed
}

@test "ldconfig in the container ends with 0, lists the libraries and breaks nothing" {
	needs debian
	local runtime
	for runtime in runc crun; do
		run -0 --separate-stderr inside gpupool run --runtime $runtime --image "$IMAGE" --gpus 1 -- sh -c '
			ldconfig -p | grep -c "libcuda\.so\.1"; ldconfig && echo rebuilt &&
			ldconfig -p | grep "libcuda\.so\.1" | sort && /dlopen_probe libcuda.so.1 libnvidia-ml.so.1 libcuda.so'
		echo "$output"
		[ "${lines[0]}" = 0 ]
		[ "${lines[1]}" = rebuilt ]
		[[ ${lines[2]} == *"libcuda.so.1 (libc6,x86-64) => /lib/$TRIPLET/libcuda.so.1" ]]
		[ "$(grep -c '^ok ' <<<"$output")" = 3 ]
	done
}

@test "a package is installed in the container, whose trigger runs ldconfig; the image stays as it was" {
	needs debian
	local package=$BATS_FILE_TMPDIR/package runtime
	mkdir -p "$package/DEBIAN" "$package/usr/lib/$TRIPLET"
	printf '%s\n' 'Package: small' 'Version: 1' 'Architecture: all' 'Maintainer: nobody <nobody@localhost>' \
		'Description: a library' >"$package/DEBIAN/control"
	echo 'activate-noawait ldconfig' >"$package/DEBIAN/triggers"
	stub "$package/usr/lib/$TRIPLET/libsmall.so.1" libsmall.so.1
	dpkg-deb --root-owner-group -b "$package" "$BATS_FILE_TMPDIR/small.deb"
	put "$BATS_FILE_TMPDIR/small.deb" /
	for runtime in runc crun; do
		run -0 inside gpupool run --runtime $runtime --image "$IMAGE" --gpus 1 -- \
			sh -ec 'dpkg -i /small.deb; ldconfig -p | grep libsmall; /dlopen_probe libsmall.so.1 libcuda.so.1'
		echo "$output"
		[[ $output == *"Processing triggers for libc-bin"* ]]
		[ "$(grep -c '^ok ' <<<"$output")" = 2 ]
		inside test ! -e "$IMAGE/usr/lib/$TRIPLET/libsmall.so.1"
	done
}

# real_driver VERSION LAYOUT: a driver root with the names of a release, and nodes of one card.
real_driver() {
	DRIVER_FILES=$BATS_TEST_TMPDIR/$1-$2
	"$NAMES" --version "$1" --layout "$2" --root "$DRIVER_FILES"
	mkdir "$DRIVER_FILES/dev"
	mknod "$DRIVER_FILES/dev/nvidia0" c 195 0
	mknod "$DRIVER_FILES/dev/nvidiactl" c 195 255
	mknod "$DRIVER_FILES/dev/nvidia-uvm" c 510 0
}

# Belong to a desktop's settings program, or to the distribution: no container needs them.
NOT_INJECTED='libOpenCL\.so|libnvidia-gtk|libnvidia-wayland-client'

# targets_of DIRECTORY: "TARGET SOURCE" of every 64-bit library of the driver root, read from the files and
# not from the product's tables: a library goes to its SONAME, but for three, and modules to where the image's X
# server looks: its ModulePath is <libdir>/xorg/modules, with /usr/lib as Debian's libdir.
targets_of() {
	local file name modules=/usr/lib/xorg/modules
	[ "$1" != /usr/lib64 ] || modules=/usr/lib64/xorg/modules
	find "$DRIVER_FILES" -type f -name '*.so*' | grep -vE "$NOT_INJECTED" | while read -r file; do
		readelf -h "$file" | grep -q 'Class: *ELF64' || continue
		name=$(readelf -d "$file" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
		case $file in
		*/libvdpau_nvidia.so.*) name=vdpau/$name ;;
		*/libnvidia-vulkan-producer.so.*) name=libnvidia-vulkan-producer.so ;;
		*/nvidia-drm_gbm.so) name=gbm/nvidia-drm_gbm.so ;;
		*/nvidia_drv.so) echo "$modules/drivers/nvidia_drv.so $file"; continue ;;
		*/libglxserver_nvidia.so.*) echo "$modules/extensions/libglxserver_nvidia.so $file"; continue ;;
		esac
		echo "$1/$name $file"
	done
	# Debian has a link there, to the library whose SONAME this one has.
	find "$DRIVER_FILES" -type l -path '*64*/gbm/nvidia-drm_gbm.so' | head -1 | grep -q . || return 0
	echo "$1/gbm/nvidia-drm_gbm.so $(find "$DRIVER_FILES" -type f -name 'libnvidia-allocator.so.*' -path '*64*')"
}

# more_names DIRECTORY: what else programs and libraries of the driver open, one regular expression a line.
more_names() {
	printf '%s\n' "$1/libGLX_indirect\.so\.0" "$1/libnvidia-nvvm\.so\.[0-9.]+" "$1/libnvidia-pkcs11[a-z0-9-]*\.so\.[0-9.]+" \
		'/usr/local/nvidia/lib64/libcuda\.so\.1' '/usr/local/nvidia/lib64/libnvidia-ml\.so\.1'
	find "$DRIVER_FILES" -type l -name 'lib*.so' -printf "$1/%f\n" | sort -u
	echo "$1/(libcuda|libnvidia-opticalflow)\.so"
}

# Each library of the driver root is at its target and nowhere unexpected, and loads.
lands() { # DIRECTORY CAPABILITIES
	local list=$BATS_TEST_TMPDIR/list out=$BATS_TEST_TMPDIR/out bundle=$BATS_TEST_TMPDIR/plan wanted runtime
	wanted=$BATS_TEST_TMPDIR/wanted
	mkdir -p "$bundle"
	inside "$SPEC" "$DRIVER_FILES" "$IMAGE" "$2" "$bundle" /dlopen_probe >/dev/null
	jq "${CHANGE:-.}" "$bundle/config.json" >"$bundle/changed"
	jq -r '.mounts[] | "\(.destination) \(.source)"' "$bundle/changed" | only_libraries | sort >"$list"
	targets_of "$1" | sort >"$wanted"
	if [ "$2" = all ]; then
		comm -23 "$wanted" "$list" | sed 's/^/not at its target: /' | tee "$out"
		[ ! -s "$out" ] || return 1
		[ "$(wc -l <"$wanted")" -ge 28 ] || return 1
	fi
	comm -13 "$wanted" "$list" | grep -vxE "$(more_names "$1" | sed 's/$/ .*/' | paste -sd'|')" | sed 's/^/unexpected: /' | tee "$out"
	[ ! -s "$out" ] || return 1
	jq '.process.args += $ARGS.positional' "$bundle/changed" --args -- $(asked_of "$list") >"$bundle/asking"
	for runtime in runc crun; do
		run_bundle $runtime "$IMAGE" "$bundle/asking" >"$out"
		echo "$DRIVER_FILES, $2, $runtime: $(wc -l <"$list") names, $(verdict "$list" "$out")"
		[ "$(verdict "$list" "$out")" = all ]
	done
}

# The libraries that compute and utility need, of every release.
BASE='libcuda.so libcuda.so.1 libcudadebugger.so.1 libnvidia-cfg.so.1 libnvidia-ml.so libnvidia-ml.so.1
libnvidia-nvvm.so.4 libnvidia-opencl.so.1 libnvidia-ptxjitcompiler.so.1'

lands_both() { # DIRECTORY VERSION LAYOUT
	local name
	real_driver "$2" "$3"
	lands "$1" all
	lands "$1" compute,utility
	for name in $BASE; do
		grep -q "^$1/$name " "$BATS_TEST_TMPDIR/list" || { echo "$name is not injected"; return 1; }
	done
	! grep -E 'GL|vdpau|gbm|encode|ngx' "$BATS_TEST_TMPDIR/list"
}

@test "Debian: names of 535 and 550, both layouts of the host" {
	local version layout
	needs debian
	for version in 535.261.03 550.163.01; do
		for layout in debian rhel; do
			lands_both "/usr/lib/$TRIPLET" $version $layout
		done
	done
}

@test "RHEL-like: names of 535 and 550, both layouts of the host" {
	local version layout
	needs rhel
	for version in 535.261.03 550.163.01; do
		for layout in debian rhel; do
			lands_both /usr/lib64 $version $layout
		done
	done
}

@test "control: a library that is missing, or at its SONAME where it must not be, is noticed" {
	needs distroless
	real_driver 550.163.01 rhel
	lands "/lib/$TRIPLET" all
	CHANGE='(.mounts[].destination) |= sub("encode.so.1$"; "encode.so.2")'
	run lands "/lib/$TRIPLET" all
	[[ $status != 0 && $output == "not at its target: /lib/$TRIPLET/libnvidia-encode.so.1 "* ]]
	CHANGE='(.mounts[].destination) |= sub("gbm/nvidia-drm_gbm.so$"; "libnvidia-allocator.so.1")'
	run lands "/lib/$TRIPLET" all
	[[ $status != 0 && $output == "not at its target: /lib/$TRIPLET/gbm/nvidia-drm_gbm.so "* ]]
	CHANGE='.mounts += [.mounts[] | select(.destination | endswith("/libcuda.so.1")) | .destination += "234"]'
	run lands "/lib/$TRIPLET" all
	[[ $status != 0 && $output == "unexpected: /lib/$TRIPLET/libcuda.so.1234 "* ]]
}

# targets_32: as targets_of, of the 32-bit libraries.
targets_32() {
	local file name
	find "$DRIVER_FILES" -type f -name '*.so*' | grep -vE "$NOT_INJECTED" | while read -r file; do
		readelf -h "$file" | grep -q 'Class: *ELF32' || continue
		name=$(readelf -d "$file" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
		[[ $file != */libvdpau_nvidia.so.* ]] || name=vdpau/$name
		echo "/usr/lib/i386-linux-gnu/$name"
	done | sort
}

# A 64-bit program cannot load them; its loader's refusal says that they are there and what they are.
@test "compat32: 32-bit libraries go where the image's 32-bit C library is, and nowhere without one" {
	needs distroless
	local layout plan list=$BATS_TEST_TMPDIR/list
	inside cp -al "$IMAGE" $ROOTS/compat32
	IMAGE=$ROOTS/compat32
	put_text /usr/lib/i386-linux-gnu/libc.so.6 "of 32 bits"
	for layout in debian rhel; do
		real_driver 550.163.01 $layout
		plan=$BATS_TEST_TMPDIR/plan-$layout
		mkdir "$plan"
		run -0 inside "$SPEC" "$DRIVER_FILES" $ROOTS/distroless compute,compat32 "$plan" /dlopen_probe
		echo "$output"
		[[ $output == *"note: compat32: the image has no 32-bit C library"* ]]
		inside "$SPEC" "$DRIVER_FILES" "$IMAGE" all "$plan" /dlopen_probe >/dev/null
		jq -r '.mounts[] | .destination' "$plan/config.json" | grep /i386-linux-gnu/ | sort >"$list"
		targets_32 >"$plan/wanted"
		[ "$(wc -l <"$plan/wanted")" -ge 15 ]
		run -0 comm -23 "$plan/wanted" "$list"
		[ "$output" = "" ]
		jq '.process.args += $ARGS.positional' "$plan/config.json" --args -- $(cat "$list") >"$plan/asking"
		run -1 run_bundle runc "$IMAGE" "$plan/asking"
		[ "$(grep -c 'wrong ELF class: ELFCLASS32$' <<<"$output")" = "$(wc -l <"$list")" ]
	done
}

# The last one: it changes the driver of this file's namespace.
@test "a driver of 550, all its libraries by gpupool itself" {
	needs distroless
	local list=$BATS_TEST_TMPDIR/list runtime
	inside "$SIMDRIVER" stop --root "$DRIVER"
	driver_start h100
	VARIABLES=(NVIDIA_DRIVER_CAPABILITIES=all)
	libraries "$IMAGE" "${VARIABLES[@]}" >"$list"
	[ "$(wc -l <"$list")" -ge $LIBRARIES_MIN ]
	grep -q '/libcuda\.so\.550\.' "$list"
	grep -q '^[^ ]*/libnvidia-gpucomp\.so\.550\.' "$list"
	for runtime in runc crun; do
		by_product $runtime "$IMAGE" $(asked_of "$list") >"$BATS_TEST_TMPDIR/out"
		[ "$(verdict "$list" "$BATS_TEST_TMPDIR/out")" = all ]
	done
}
