#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gpupool and its runtime killed, hanging and lying at each step: the next command finds and clears
# away what is left, and grants what is free; no more and no less.
load ../lib/common
load ../lib/driver

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	namespace_start
	driver_start a100-80
	# On /run, which the container sees: the wrapper reads its mode there.
	inside mkdir -p /run/broken
	inside ln -s "$ROOT/test/lib/broken_runtime" /run/broken/runc
}

teardown_file() {
	namespace_stop
}

setup() {
	needs_containers
	cd /
}

# Of the containers of this file alone, which are all named kills-...: others run meanwhile.
cgroups_none_left() {
	! cgroups_empty | grep /default-kills- | grep .
}

# All 8 cards can be had now: nothing holds one, and nothing is left over.
all_free() {
	run inside timeout 20 gpupool run --gpus 8 --name kills-next -- true
	echo "next command: $status $output"
	[ "$status" = 0 ]
	nothing_left
}

# killed_at CALLS N [STRACE-OPTION]: gpupool is killed at its Nth system call among CALLS.
# 1 when it ended before.
killed_at() {
	local code=0
	inside timeout 30 strace -qq $3 -o /dev/null -e trace="$1" -e inject="$1:signal=KILL:when=$2" \
		gpupool run --gpus 8 --name kills-killed -- true </dev/null >/dev/null 2>&1 3>&- || code=$?
	echo "kill at $1 $2: $code"
	[ $code = 137 ]
}

@test "kill -9 at the n-th system call of each kind: the next command clears away and grants" {
	command -v strace >/dev/null || skip "needs strace"
	local step kinds=0
	# Each n in soak, some of them in test.
	step=$((${GPUPOOL_TEST_SCALE:-1} >= 100 ? 1 : 9))
	for calls in mkdir rename,renameat unlink,unlinkat clone,clone3,fork,vfork write,pwrite64; do
		for ((n = 1; n < 100; n += step)); do
			# The sanitizers read their own options with some of these calls.
			killed_at "$calls" "$n" || break
			kinds=$((kinds + 1))
			all_free
		done
	done
	echo "killed $kinds times"
	[ $kinds -ge 4 ]
}

@test "the runtime and its children killed at the n-th mount and clone" {
	command -v strace >/dev/null || skip "needs strace"
	for calls in mount clone,clone3; do
		for ((n = 1; n <= $(scaled 200); n++)); do
			killed_at "$calls" "$n" -f || true
			wait_for 5 inside timeout 20 gpupool run --gpus 8 --name kills-x -- true
			all_free
		done
	done
}

# broken MODE: gpupool with the runtime broken in that way, at most 20 s.
broken() {
	inside sh -c 'echo "$1" >/run/broken/mode' - "$1"
	run inside timeout 20 gpupool run --runtime /run/broken/runc --gpus 8 --name kills-broken -- true
	echo "$1: $status $output"
}

@test "a runtime that fails, lies or is killed: one sentence, status 1, nothing left" {
	local row
	while read -r mode sentence; do
		broken "$mode"
		[ "$status" = 1 ]
		[ "$(grep -c "^gpupool: .*$sentence" <<<"$output")" = 1 ]
		nothing_left
	done <<-'END'
		fails runc create failed: it left no message in its log
		killed runc was ended by signal 9
		killed-after runc was ended by signal 9
		killed-within runc was ended by signal 9
		killed-late runc was ended by signal 9
		garbage the runtime wrote no process number to
		no-number cannot read .*/pid
		stranger the runtime wrote process 1 to .*, which is none that it made
		long-number larger than 32 bytes
		dies runc start failed
		no-start runc start failed
	END
	all_free
}

@test "a runtime whose delete fails: done without it" {
	broken no-delete
	[ "$status" = 0 ]
	nothing_left
}

@test "what a runtime says commands no terminal" {
	broken log
	[ "$status" = 1 ]
	[[ $output == *"runc create failed: evil ?[31m ? ?"* ]]
	not grep -q $'\x1b\|\xc2\x9b' <<<"$output"
}

@test "a runtime that hangs: one Ctrl-C ends it and what it started" {
	local out=$BATS_TEST_TMPDIR/out job=$BATS_TEST_TMPDIR/job inside shell
	inside sh -c 'echo hangs >/run/broken/mode'
	inside sh -c 'echo $$ >"$1"; exec gpupool run --runtime /run/broken/runc --name kills-x --gpus 8 -- true' \
		- "$job" >"$out" 2>&1 3>&- &
	inside=$!
	wait_for 10 pgrep -f '^/bin/bash /run/broken/runc .*kills-x'
	shell=$(pgrep -f '^/bin/bash /run/broken/runc .*kills-x')
	wait_for 10 pgrep -P "$shell" sleep
	kill -INT "$(cat "$job")"
	wait $inside && false || [ $? = 1 ]
	cat "$out"
	grep -q 'runc create was interrupted by signal 2' "$out"
	not kill -0 "$shell" 2>/dev/null
	not pgrep -P "$shell" sleep
	all_free
}

@test "a runtime's state that it cannot read any more keeps nobody out" {
	inside sh -c 'mkdir -p /run/gpupool/containers/x/rootfs /run/gpupool/runtime/x
		echo garbage >/run/gpupool/runtime/x/state.json'
	all_free
	inside sh -c 'mkdir -p /run/gpupool/containers/x/rootfs /run/gpupool/runtime/x
		mkfifo /run/gpupool/runtime/x/state.json'
	all_free
}

@test "cgroups and processes of a container that nobody remembers are ended" {
	[ -d /sys/fs/cgroup/devices ] || skip "no cgroup v1 here"
	local group=/sys/fs/cgroup/devices/gpupool/forgotten freezer=/sys/fs/cgroup/freezer/gpupool/forgotten
	inside gpupool run --name kills-x -- true
	mkdir -p "$group/below" "$freezer"
	sleep 1000 3>&- &
	local one=$!
	sleep 1000 3>&- &
	local two=$!
	echo $one >"$group/cgroup.procs"
	echo $two >"$group/below/cgroup.procs"
	echo $one >"$freezer/cgroup.procs"
	echo FROZEN >"$freezer/freezer.state"
	inside mkdir -p /run/gpupool/containers/forgotten
	all_free
	not kill -0 $one 2>/dev/null || [ "$(awk '{print $3}' /proc/$one/stat)" = Z ]
	not kill -0 $two 2>/dev/null || [ "$(awk '{print $3}' /proc/$two/stat)" = Z ]
	[ ! -e "$group" ]
	[ ! -e "$freezer" ]
}

@test "a file that is named like a cgroup's list of processes ends nobody" {
	[ -d /sys/fs/cgroup/unified ] || skip "needs a host with cgroup v1 and v2"
	sleep 600 3>&- &
	local bystander=$!
	# Where the hybrid tree is covered, plain directories can stand in its place.
	run inside unshare -m sh -c '
		mount -t tmpfs tmpfs /sys/fs/cgroup/unified
		mkdir -p /sys/fs/cgroup/unified/gpupool/default-kills-plain /run/gpupool/containers/default-kills-plain
		echo "$2" >/sys/fs/cgroup/unified/gpupool/default-kills-plain/cgroup.procs
		exec "$1" run --name kills-next -- true' - "$BIN/gpupool" "$bystander"
	echo "$output"
	[ "$status" = 0 ]
	kill "$bystander" # it lives
	wait "$bystander" || [ $? = 143 ]
	nothing_left
}

@test "crun leaves nothing below the tree that is hidden from it" {
	needs_containers crun
	[ -d /sys/fs/cgroup/unified ] || skip "needs a host with cgroup v1 and v2"
	local name=kills-crun-$$ # what another build left there before is not ours
	inside gpupool run --runtime crun --name "$name" -- true
	run inside unshare -m sh -c '
		umount -l /sys/fs/cgroup/unified && ls -A /sys/fs/cgroup/unified/gpupool'
	grep "$name" <<<"$output" && return 1
	nothing_left
}

@test "two at once want all cards: one after the other, both get them" {
	local n first second
	for ((n = 0; n < $(scaled 300); n++)); do
		inside gpupool run --gpus 8 --name kills-x -- true </dev/null >/dev/null 2>&1 3>&- &
		first=$!
		inside gpupool run --gpus 8 --name kills-x -- true </dev/null >/dev/null 2>&1 3>&- &
		second=$!
		wait $first
		wait $second
	done
	nothing_left
}

@test "one of two containers cannot be made: the other does not start" {
	cat >"$BATS_TEST_TMPDIR/pod.yaml" <<-EOF
		apiVersion: v1
		kind: Pod
		metadata: {name: kills-half}
		spec:
		  containers:
		  - {name: good, image: any, command: [touch, /run/good-ran]}
		  - {name: bad, image: any, command: [/no/such]}
	EOF
	run inside gpupool apply -f "$BATS_TEST_TMPDIR/pod.yaml"
	echo "$output"
	[ "$status" != 0 ]
	inside test ! -e /run/good-ran
	all_free
}

@test "children that outlive the command end with the container" {
	run inside gpupool run --gpus 8 --name kills-x -- sh -c 'setsid sleep 1001 & setsid nohup sleep 1001 >/dev/null 2>&1 & exit 4'
	echo "$output"
	[ "$status" = 4 ]
	wait_for 2 sh -c '! pgrep -f "^sleep 1001$"'
	all_free
}

@test "a command that closes its descriptors, and readers that went away" {
	run inside gpupool run --name kills-x -- sh -c 'exec <&- >&- 2>&-; exit 6'
	[ "$status" = 6 ]
	run inside timeout 20 sh -c 'gpupool run --name kills-x -- yes 2>/dev/null | head -1
		gpupool apply -f "$1" 2>/dev/null | head -1
		gpupool inventory | head -1' - "$ROOT/docs/examples/two-slices.yaml"
	echo "$output"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 3 ]
	all_free
}
