#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Image roots made to lead a runtime out: whatever stands where the driver's files go, nothing outside of the
# container changes, and the command runs or one sentence says why not.
load ../lib/common
load ../lib/driver
load ../lib/roots
bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	namespace_start
	driver_start t4
}

teardown_file() {
	namespace_stop
}

setup() {
	needs_containers runc
	needs_containers crun
	# What an attacker wants to change: a folder of the host, named by the image's links.
	VICTIM=$BATS_TEST_TMPDIR/victim
	mkdir -p "$VICTIM/folder/empty" "$VICTIM/folder/full"
	echo precious | tee "$VICTIM/file" >"$VICTIM/folder/full/libcuda.so.1"
	ln -s file "$VICTIM/link"
	mkfifo "$VICTIM/fifo"
	snapshot "$VICTIM" >"$BATS_TEST_TMPDIR/before"
	root_distroless
	ATTACK=$ROOTS/attack
}

fresh_attack() {
	inside rm -rf "$ATTACK"
	inside cp -al $ROOTS/distroless "$ATTACK"
	inside mkdir -p "$ATTACK/opt/elsewhere"
}

# The names of what is mounted, in places of the host that links of the images lead to.
strays() {
	inside find /dev /sys/fs/cgroup /opt -maxdepth 3 \( -name 'lib*.so*' -o -name 'nvidia-smi' -o -name '*.icd' -o \
		-name 'gsp_*' -o -name socket -o -name nvidia-persistenced \) 2>/dev/null
}

nothing_changed() {
	snapshot "$VICTIM" | diff "$BATS_TEST_TMPDIR/before" - || return 1
	! strays | grep . || return 1
	! inside sh -c 'ls /run/gpupool/containers /run/gpupool/runtime 2>/dev/null' | grep -v : | grep .
}

# ran_or_said STATUS ERRORS: the command ran, or gpupool says why not in one sentence.
ran_or_said() {
	case $1 in
	0) grep -qx "/dev/nvidia0 ENXIO" "$BATS_TEST_TMPDIR/out" ;;
	1) [ "$(grep -c '^gpupool: ' <(grep -vE '^gpupool: (note: |card |[0-9]+ cards )' "$2"))" = 1 ] ;;
	4) [ "$(grep -c '^refused: ' "$2")" = 1 ] ;;
	*) return 1 ;;
	esac
}

# Each makes $1, a path in the image, into something else.
relative_link() { ln -s "$(realpath -ms --relative-to="$(dirname "$1")" "$ATTACK/opt/elsewhere")" "$1"; }
link_inside() { ln -s /opt/elsewhere "$1"; }
link_to_host() { ln -s "$VICTIM/folder/empty" "$1"; }
link_upwards() { ln -s "../../../../../../../../..$VICTIM/folder/full" "$1"; }
link_to_file() { ln -s "$VICTIM/file" "$1"; }
loop() { ln -s "$(basename "$1")" "$1"; }
fifo() { mkfifo "$1"; }
directory() { mkdir -p "$1/sub"; }
link_by_root() { ln -s "/proc/1/root$VICTIM/folder/empty" "$1"; }
link_by_descriptor() { ln -s /proc/self/fd/7 "$1"; }
link_to_dev() { ln -s /dev "$1"; }
regular_file() { echo text >"$1"; }
link_to_cgroups() { ln -s /sys/fs/cgroup "$1"; }
SHAPES=(relative_link link_inside link_to_host link_upwards link_to_file loop fifo directory link_by_root
	link_by_descriptor link_to_dev regular_file link_to_cgroups)

# Where the plan mounts: directories, then files.
PLACES=(/usr/local/nvidia/lib64 /lib/$TRIPLET/libcuda.so.1 /usr/bin /run/nvidia-persistenced/socket /lib/$TRIPLET
	/usr/local/nvidia/lib64/libnvidia-ml.so.1 /lib/firmware /etc/OpenCL/vendors/nvidia.icd /usr/local
	/usr/bin/nvidia-smi /run)

attack() { # SHAPE PLACE
	fresh_attack
	export -f "$1"
	export ATTACK VICTIM
	inside bash -ec 'path=$ATTACK$2
		mkdir -p "$(dirname "$path")"
		[ ! -d "$path" ] || { cp -a "$path/." "$ATTACK/opt/elsewhere/"; rm -r "$path"; }
		"$1" "$path"' - "$1" "$2"
}

# Two of the places for each shape in `make test`, all in `make soak`; it counts what happened.
attack_all() { # RUNTIME
	local shape place status number=0 notes=0 take i
	take=$(scaled $((${#PLACES[@]} * 20)))
	[ "$take" -le "${#PLACES[@]}" ] || take=${#PLACES[@]}
	REACHED=()
	for shape in "${SHAPES[@]}"; do
		for ((i = 0; i < take; i++)); do
			place=${PLACES[$((number++ % ${#PLACES[@]}))]}
			attack $shape "$place"
			status=0
			inside gpupool run --runtime "$1" --image "$ATTACK" --gpus 1 -- /device_probe open /dev/nvidia0 \
				>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/errors" 7<"$VICTIM" || status=$?
			echo "$1: $place is $shape: $status $(tail -1 "$BATS_TEST_TMPDIR/out") $(tail -1 "$BATS_TEST_TMPDIR/errors")"
			REACHED[status]=$((${REACHED[status]:-0} + 1))
			! grep -q "^gpupool: note: .* is not mounted: " "$BATS_TEST_TMPDIR/errors" || notes=$((notes + 1))
			ran_or_said $status "$BATS_TEST_TMPDIR/errors"
			nothing_changed
		done
	done
	echo "# $1: $number roots, statuses ${!REACHED[*]}: ${REACHED[*]}; $notes with a file left out and noted" >&3
	[ "${REACHED[0]:-0}" -ge $((number * 9 / 10)) ] && [ "$notes" -ge $((number / 4)) ]
}

@test "13 shapes where the files go: runc" {
	attack_all runc
}

@test "13 shapes where the files go: crun" {
	attack_all crun
}

@test "/dev, /proc and /sys that are links, files or pipes are refused, with and without a card" {
	local name shape cards
	for name in dev proc sys; do
		for shape in relative_link link_inside link_to_host link_upwards link_to_file loop fifo link_to_dev regular_file; do
			attack $shape /$name
			for cards in "--gpus 1" ""; do
				run -4 --separate-stderr inside gpupool run $cards --image "$ATTACK" -- /dlopen_probe libcuda.so.1
				[[ $stderr == *"bad_root"*"/$name is "* ]]
				nothing_changed
			done
		done
	done
}

@test "a folder whose name looks like options of a mount is taken as it is" {
	local runtime folder
	folder="$ROOTS/a,lowerdir=\$VICTIM:b\\054c d"
	fresh_attack
	inside mv "$ATTACK" "$folder"
	for runtime in runc crun; do
		run -0 --separate-stderr inside gpupool run --runtime $runtime --image "$folder" --gpus 1 -- /dlopen_probe libcuda.so.1
		[[ $output == "ok libcuda.so.1 "* ]]
		nothing_changed
	done
}

@test "a working directory that leads below /proc is refused" {
	local directory
	fresh_attack
	inside ln -s /proc/self/fd "$ATTACK/opt/fd"
	for directory in /proc/self/fd/7 /opt/fd/7 /opt/elsewhere/../../proc/self; do
		pod "$ATTACK" -- /dlopen_probe libcuda.so.1
		jq --arg directory "$directory" '.spec.containers[0].workingDir = $directory' \
			"$BATS_FILE_TMPDIR/pod.yaml" >"$BATS_TEST_TMPDIR/pod.yaml"
		run -4 inside gpupool apply --image "$ATTACK" -f "$BATS_TEST_TMPDIR/pod.yaml"
		echo "$output"
		[[ $output == *"lies below /proc"* ]]
	done
}

@test "control: a byte changed in place, and a name on the host, are noticed" {
	nothing_changed
	touch -r "$VICTIM/file" "$BATS_TEST_TMPDIR/time"
	printf P | dd of="$VICTIM/file" conv=notrunc status=none
	touch -r "$BATS_TEST_TMPDIR/time" "$VICTIM/file"
	run ! nothing_changed
	echo "$output"
	printf p | dd of="$VICTIM/file" conv=notrunc status=none
	touch -r "$BATS_TEST_TMPDIR/time" "$VICTIM/file"
	nothing_changed
	inside mount -t tmpfs tmpfs /opt
	inside touch /opt/libcuda.so.1
	run ! nothing_changed
	[[ $output == *"/opt/libcuda.so.1"* ]]
	inside umount /opt
}

# Why the check is there: the same root, given to the runtime past gpupool.
@test "control: without the refusal, Debian 12's runc writes through an image's /dev link" {
	attack link_to_host /dev
	spec_of $ROOTS/distroless >"$BATS_TEST_TMPDIR/spec"
	run run_bundle runc "$ATTACK" "$BATS_TEST_TMPDIR/spec"
	echo "$output"
	! nothing_changed || skip "this runc refuses by itself: $(runc --version | head -1)"
}
