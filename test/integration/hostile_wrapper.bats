#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gpupool-runtime and images made to lead it out: whatever they hold, no file, node, mount or cgroup of the host
# changes, and the container runs or one sentence says why not. Each attack works on test/lib/naive_inject first.
load ../lib/common
load ../lib/driver
load ../lib/host
bats_require_minimum_version 1.5.0

PROBE=$BUILD/test/lib/device_probe
WRAPPER=$BIN/gpupool-runtime
NAIVE=$ROOT/test/lib/naive_inject
CANARY=/opt/gpupool-canary
TRIPLET=x86_64-linux-gnu

setup_file() {
	[ "$(id -u)" = 0 ] && can_host || return 0
	host_start
	driver_start t4
	inside gpupool inventory >/dev/null
	canary
	# The attacker's library and program: they write to the host when somebody there runs them.
	gcc -shared -fPIC -x c -o "$BATS_FILE_TMPDIR/planted.so" - <<-SOURCE
		#include <fcntl.h>
		#include <unistd.h>
		__attribute__((constructor)) static void planted(void)
		{
			close(open("$CANARY/planted", O_CREAT | O_WRONLY, 0600));
		}
	SOURCE
	printf '#!/bin/sh\n: >%s/planted\n' $CANARY >"$BATS_FILE_TMPDIR/planted"
	chmod +x "$BATS_FILE_TMPDIR/planted"
}

# What an image aims at: files of the host, some of which have the names of the driver's.
canary() {
	inside sh -ec 'rm -rf "$1"
		mkdir -p "$1/lib" "$1/full" "$1/nvidia"
		echo precious | tee "$1/file" "$1/full/libcuda.so.1" "$1/full/nvidia-smi" >"$1/full/ld.so.cache"
		(umask 077 && echo the-secret-of-the-host >"$1/secret")' - $CANARY
}

teardown_file() {
	namespace_stop
}

setup() {
	needs_containers runc
	can_host || skip "$WHY"
	BUNDLE=$BATS_TEST_TMPDIR/bundle
	IMAGE=$BUNDLE/rootfs
	LOG=$BATS_TEST_TMPDIR/log
	export NVIDIA_CTK_CONFIG_FILE_PATH=$BATS_TEST_TMPDIR/none.toml GPUPOOL_CONFIG=$BATS_TEST_TMPDIR/config.yaml
	export LC_ALL=C
}

# image: a fresh one, with the C library's name, so that libraries find their folder.
image() {
	rm -rf "$BUNDLE"
	mkdir -p "$IMAGE"/{dev,proc,sys,tmp,etc,run,opt,usr/bin,usr/local,usr/lib/$TRIPLET} "$IMAGE$CANARY"/{lib,full}
	cp "$PROBE" "$IMAGE/probe"
	: >"$IMAGE/usr/lib/$TRIPLET/libc.so.6"
	ENVIRONMENT=(PATH=/usr/bin:/bin NVIDIA_VISIBLE_DEVICES=0)
	FILTER=.
}

bundle() {
	rm -f "$BUNDLE/config.json"
	(cd "$BUNDLE" && runc spec)
	jq -c '.process.args = ["/probe", "open", "/dev/nvidia0", "/dev/nvidia1"] | .process.terminal = false |
		.root.readonly = false | .process.oomScoreAdj = 100 | .linux.cgroupsPath = "/gpupool-hostile" |
		.process.env = $ARGS.positional | '"$FILTER" "$BUNDLE/config.json" --args -- "${ENVIRONMENT[@]}" \
		>"$BUNDLE/spec"
	mv "$BUNDLE/spec" "$BUNDLE/config.json"
}

# link PATH TARGET: PATH of the image becomes a link; what was there is also where the target is inside.
link() {
	rm -rf "$IMAGE$1"
	mkdir -p "$(dirname "$IMAGE$1")"
	ln -s "$2" "$IMAGE$1"
}

# The attacks. How to add one: a function, a word in ATTACKS; the naive injector must fall for it.
dev_is_a_link() { link /dev $CANARY/lib; }
dev_is_a_link_upwards() { link /dev ../../../../../../../../../../../../../../..$CANARY/lib; }
proc_is_a_link() { link /proc $CANARY/lib; }
sys_is_a_link() { link /sys $CANARY/lib; }
dev_is_a_link_to_a_magic_link() { link /dev /proc/self/root$CANARY/lib; }
usr_lib_is_a_link() { link /usr/lib $CANARY/lib; }
libraries_are_a_link() { link /usr/lib/$TRIPLET $CANARY/lib; }
libraries_are_a_link_upwards() { link /usr/lib/$TRIPLET ../../../../../../../../../../../../../../..$CANARY/full; }
libraries_by_the_first_process() { link /usr/lib/$TRIPLET /proc/1/root$CANARY/lib; }
lib64_alone_is_a_link() {
	rm -r "$IMAGE/usr/lib/$TRIPLET"
	link /usr/lib64 $CANARY/full
}
nvidia_is_a_link() { link /usr/local/nvidia $CANARY/nvidia; }
nvidia_lib64_is_a_link() { link /usr/local/nvidia/lib64 $CANARY/full; }
programs_are_a_link() { link /usr/bin $CANARY/lib; }
etc_is_a_link() { link /etc $CANARY/lib; }
run_is_a_link() { link /run $CANARY/lib; }
firmware_is_a_link() { link /lib/firmware $CANARY/lib; }
library_is_a_link() {
	link /usr/lib/$TRIPLET/libcuda.so.1 $CANARY/new-library
}
program_is_a_link() { link /usr/bin/nvidia-smi $CANARY/new-program; }
link_over_a_link() {
	link /opt/one $CANARY/lib
	link /usr/lib/$TRIPLET ../../opt/one
}
cache_is_a_link() { link /etc/ld.so.cache $CANARY/full/ld.so.cache; }
socket_is_a_link() { link /run/nvidia-persistenced $CANARY/lib; }
compat_is_a_secret() {
	mkdir -p "$IMAGE/usr/local/cuda/compat"
	link /usr/local/cuda/compat/libcuda.so.1 $CANARY/secret
}
target_with_a_newline() { link /usr/local/cuda/compat/libcuda.so.1 libcuda.so.470$'\n'$CANARY/new-name; }
preload() {
	cp "$BATS_FILE_TMPDIR/planted.so" "$IMAGE/planted.so"
	ENVIRONMENT+=(LD_PRELOAD=./planted.so)
}
audit() {
	cp "$BATS_FILE_TMPDIR/planted.so" "$IMAGE/planted.so"
	ENVIRONMENT+=(LD_AUDIT=./planted.so)
}
function_of_the_shell() { ENVIRONMENT+=("BASH_FUNC_uname%%=() { : >$CANARY/planted; }"); }
shell_start_file() {
	cp "$BATS_FILE_TMPDIR/planted" "$IMAGE/planted"
	ENVIRONMENT+=(BASH_ENV=./planted)
}
program_path() {
	cp "$BATS_FILE_TMPDIR/planted" "$IMAGE/uname"
	ENVIRONMENT+=(PATH=.)
}
planted_ldconfig() {
	mkdir -p "$IMAGE/sbin"
	cp "$BATS_FILE_TMPDIR/planted" "$IMAGE/sbin/ldconfig"
}
directory_below_proc() {
	FILTER='.process.cwd = "/proc/self/fd/7"'
}
pipe_for_configuration() { mkfifo "$IMAGE/etc/ld.so.conf"; }
huge_configuration() { truncate -s 1T "$IMAGE/etc/ld.so.conf"; }
loop() { link /opt/cuda cuda; }

ATTACKS=(dev_is_a_link dev_is_a_link_upwards proc_is_a_link sys_is_a_link dev_is_a_link_to_a_magic_link
	usr_lib_is_a_link libraries_are_a_link libraries_are_a_link_upwards libraries_by_the_first_process
	lib64_alone_is_a_link nvidia_is_a_link nvidia_lib64_is_a_link programs_are_a_link etc_is_a_link run_is_a_link
	firmware_is_a_link library_is_a_link program_is_a_link link_over_a_link cache_is_a_link socket_is_a_link
	compat_is_a_secret target_with_a_newline preload audit function_of_the_shell shell_start_file program_path planted_ldconfig
	directory_below_proc)
# These take time or memory of whoever reads them.
TRAPS=(pipe_for_configuration huge_configuration loop)

attack() { # NAME
	image
	"$1"
	bundle
}

# With a folder of the host left open, as a careless caller does; the first process is of this host, too.
naively() {
	nsenter -t "$NAMESPACE" -m -- unshare -m -p -f --mount-proc --kill-child --propagation private sh -c 'exec 7<"$1"
		exec timeout 3 "$2" "$3" "$4"' - $CANARY "$NAIVE" "$BUNDLE" "$DRIVER" >"$BATS_TEST_TMPDIR/naive" 2>&1
}

# started RUNTIME: through the wrapper; the container's answers are in $output.
started() {
	printf 'runtime:\n  runtimes: [%s]\n' "$1" >"$GPUPOOL_CONFIG"
	rm -f "$LOG"
	run nsenter -t "$NAMESPACE" -m -- unshare -m --propagation private sh -c '
		case $1 in crun) mount -t tmpfs tmpfs /sys/fs/cgroup/unified 2>/dev/null ;; esac
		exec 7<"$2"
		shift 2
		exec timeout 20 "$@"' - "$1" $CANARY "$WRAPPER" --root /run/hostile-state --log "$LOG" --log-format json \
		run --bundle "$BUNDLE" hostile 3>&- 4>&-
	inside rm -rf /run/hostile-state
}

# The container ran, with its card and no other, or there is one sentence.
ran_or_said() {
	case $status in
	0) grep -qx "/dev/nvidia0 ENXIO" <<<"$output" && grep -qE "^/dev/nvidia1 (ENOENT|EPERM)$" <<<"$output" ;;
	1) jq -es 'map(select(.level == "error")) | length == 1 and (.[0].msg | length > 20)' "$LOG" ;;
	*) return 1 ;;
	esac
}

# What the host keeps must not be in the image afterwards either.
secret_is_out() {
	grep -rqs the-secret-of-the-host "$IMAGE/tmp" "$IMAGE/usr" <<<""
}

withstands() { # RUNTIME NAME...
	local runtime=$1 name ran=0 said=0
	shift
	for name; do
		attack $name
		host_mark
		started $runtime
		echo "$runtime, $name: $status $output $(jq -r .msg "$LOG" 2>/dev/null | tail -1)"
		ran_or_said
		not host_changes
		not secret_is_out
		[ "$status" = 0 ] && ran=$((ran + 1)) || said=$((said + 1))
	done
	echo "# $runtime: $ran images ran, $said were refused in one sentence" >&3
	[ $ran -ge $(($# / 3)) ]
}

@test "each attack works on an injector that follows paths, runs hooks and reads the image" {
	local name
	for name in "${ATTACKS[@]}"; do
		attack $name
		canary
		host_mark
		naively || :
		echo "$name: $(cat "$BATS_TEST_TMPDIR/naive")"
		host_changes || secret_is_out
	done
	for name in "${TRAPS[@]}"; do
		attack $name
		local status=0
		naively || status=$?
		echo "$name: $status"
		[ $status = 124 ]
	done
	echo "# ${#ATTACKS[@]} attacks reached the host, ${#TRAPS[@]} traps held it" >&3
}

@test "runc: no attack changes anything on the host" {
	withstands runc "${ATTACKS[@]}" "${TRAPS[@]}"
}

@test "crun: no attack changes anything on the host" {
	needs_containers crun
	withstands crun "${ATTACKS[@]}" "${TRAPS[@]}"
}

# A volume of two containers, in which one changes a folder for a link and back while the other starts. NVIDIA's
# folder of the image is in it.
shared_volume() {
	image
	rm -rf "$BATS_TEST_TMPDIR/volume"
	mkdir -p "$BATS_TEST_TMPDIR/volume/nvidia/lib64" "$IMAGE$CANARY/lib"
	ln -s $CANARY "$BATS_TEST_TMPDIR/volume/link"
	FILTER=".mounts += [{destination: \"/usr/local\", source: \"$BATS_TEST_TMPDIR/volume\", type: \"bind\",
		options: [\"rbind\", \"rw\"]}]"
	bundle
}

swapping() { # COMMAND...: while nvidia and link change places
	local status=0 swap input=$BATS_TEST_TMPDIR/input
	rm -f "$input"
	mkfifo "$input"
	"$BUILD/test/lib/swap" "$BATS_TEST_TMPDIR/volume/nvidia" "$BATS_TEST_TMPDIR/volume/link" <"$input" \
		>"$BATS_TEST_TMPDIR/swapped" 2>&1 3>&- &
	swap=$!
	exec 9>"$input"
	"$@" || status=$?
	exec 9>&-
	wait $swap
	return $status
}

start_many() { # COUNT
	local number
	for ((number = 0; number < $1; number++)); do
		shared_volume_again
		started runc
		ran_or_said || { echo "start $number: $status $output"; return 1; }
		[ "$status" != 0 ] || RAN=$((RAN + 1))
	done
}

# The spec as the caller wrote it.
shared_volume_again() { cp "$BATS_TEST_TMPDIR/before" "$BUNDLE/config.json"; }

@test "a shared volume over a folder of ours, in which somebody swaps a folder for a link" {
	local count=$(scaled 1000)
	RAN=0
	shared_volume
	cp "$BUNDLE/config.json" "$BATS_TEST_TMPDIR/before"
	host_mark
	swapping start_many $count
	not host_changes
	[ $RAN = $count ]
	[ "$(cat "$BATS_TEST_TMPDIR/swapped")" -gt $count ]
	echo "# $RAN starts, $(cat "$BATS_TEST_TMPDIR/swapped") swaps" >&3
}

# Why ours stay out of volumes: the same starts with one mount of ours below it.
fall_for_it() {
	local number
	for ((number = 0; number < 200; number++)); do
		nsenter -t "$NAMESPACE" -m -- unshare -m --propagation private sh -c 'cd "$1" &&
			runc --root /run/hostile-state run --bundle "$1" hostile' - "$BUNDLE" >/dev/null 2>&1 3>&- 4>&- || :
		[ -z "$(host_changes)" ] || { echo "# the host's file was there after $((number + 1)) starts" >&3; return 0; }
	done
	return 1
}

@test "control: with a mount point below the volume Debian 12's runc makes a file on the host" {
	shared_volume
	jq --arg source "$PROBE" '.mounts += [{destination: "/usr/local/nvidia/lib64/libcuda.so.1", source: $source,
		type: "bind", options: ["bind", "ro"]}]' "$BUNDLE/config.json" >"$BATS_TEST_TMPDIR/spec"
	cp "$BATS_TEST_TMPDIR/spec" "$BUNDLE/config.json"
	inside mkdir -p $CANARY/lib64
	host_mark
	swapping fall_for_it || skip "not seen in 200 starts: $(runc --version | head -1)"
}

@test "control: a file, a node, a mount, a cgroup and a deleted file of the host are noticed" {
	image
	host_mark
	not host_changes
	inside touch $CANARY/lib/new
	host_changes
	host_mark
	inside mknod /dev/new c 195 9
	host_changes
	host_mark
	inside mount -t tmpfs tmpfs $CANARY/lib
	host_changes
	inside umount $CANARY/lib
	not host_changes
	inside rm $CANARY/lib/new /usr/share/doc/bats/copyright
	host_changes
	host_mark
	mkdir /sys/fs/cgroup/pids/gpupool-hostile
	host_changes
	rmdir /sys/fs/cgroup/pids/gpupool-hostile
}
