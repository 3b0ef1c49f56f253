#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Hostile files, full disks, closed descriptors, planted state: one clear sentence each, soon, in
# little memory, and nothing is left behind.
load ../lib/common
load ../lib/driver

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	namespace_start
	driver_start a100-80
}

teardown_file() {
	namespace_stop
}

setup() {
	needs_containers
	cd /
}

# No byte of OUTPUT is obeyed by a terminal, and all of it is UTF-8.
shown_plainly() { # FILE
	! LC_ALL=C grep -nP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]' "$1" &&
		iconv -f UTF-8 -t UTF-8 "$1" >/dev/null
}

@test "hostile manifests: a sentence that names the file, soon; no terminal is commanded" {
	local directory=$BATS_TEST_TMPDIR/files out=$BATS_TEST_TMPDIR/out file code count=0
	mkdir "$directory"
	"$ROOT/test/lib/hostile_manifests" "$directory"
	for file in "$directory"/*.yaml; do
		code=0
		# Sanitizers are slow: without them it is a tenth of this.
		inside timeout 20 gpupool apply --dry-run -f "$file" >"$out" 2>&1 3>&- || code=$?
		shown_plainly "$out" || { echo "${file##*/}"; return 1; }
		case $file in
		*.refused.yaml) [ $code = 1 ] || [ $code = 4 ] ;;
		*) [ $code = 0 ] ;;
		esac || { echo "${file##*/}: $code"; head -c 2000 "$out"; return 1; }
		# One sentence of ours: of a reason, or with the file's name.
		[ $code = 0 ] || grep -q "^refused: \|$file" "$out" ||
			grep -q 'workingDir' "$out" || { echo "${file##*/}"; cat "$out"; return 1; }
		not grep -q '^gpupool: all is well' "$out" || { echo "${file##*/}"; return 1; }
		count=$((count + 1))
	done
	[ $count -gt 120 ]
}

@test "the same without sanitizers: less than 2 s and 200 MiB each" {
	local directory=$BATS_TEST_TMPDIR/files program=$ROOT/build/release/bin/gpupool
	[ -x "$program" ] || program=$ROOT/build/release/cmd/gpupool/gpupool
	[ -x "$program" ] || skip "no release build here"
	mkdir "$directory"
	"$ROOT/test/lib/hostile_manifests" "$directory"
	inside python3 - "$program" "$directory"/*.refused.yaml 3>&- <<-'END'
		import os, subprocess, sys, time
		for path in sys.argv[2:]:
		    child = subprocess.Popen([sys.argv[1], "apply", "--dry-run", "-f", path],
		                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		    _, _, use = os.wait4(child.pid, 0)
		    seconds, mebibytes = use.ru_utime + use.ru_stime, use.ru_maxrss >> 10
		    if seconds > 2 or mebibytes > 200:
		        sys.exit("%s: %.1f s, %d MiB" % (path, seconds, mebibytes))
	END
}

@test "1 GiB: sparse, from a pipe, without end; directories, devices, sockets" {
	local file=$BATS_TEST_TMPDIR/large
	truncate -s 1G "$file"
	run inside timeout 20 gpupool apply -f "$file"
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"'$file' is larger than 16777216 bytes"* ]]
	run inside timeout 20 sh -c 'head -c 1073741824 /dev/zero | gpupool apply -f -'
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"larger than 16777216 bytes"* ]]
	run inside timeout 20 gpupool apply -f - </dev/zero
	[ "$status" = 1 ]
	for file in /dev/zero /proc /dev/null /no/such ''; do
		run inside timeout 20 gpupool apply -f "$file"
		echo "$output"
		[ "$status" = 1 ]
		[ "${#lines[@]}" = 1 ]
	done
}

@test "closed descriptors: none of ours takes their place" {
	for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- >&- 2>&-'; do
		run inside timeout 20 sh -c "gpupool run --gpus 1 -- sh -c '
			ls -l /proc/self/fd >/run/seen' $closed"
		[ "$status" = 0 ]
		inside cat /run/seen
		not inside grep -q gpupool /run/seen
		[ "$(inside grep -c ' -> ' /run/seen)" -le 4 ]
	done
	nothing_left
}

@test "an output that cannot be written is a failure with one sentence" {
	for command in inventory 'inventory --json' 'run --dry-run --gpus 1 -- true' --help; do
		run inside sh -c "gpupool $command >/dev/full"
		echo "$output"
		[ "$status" = 1 ]
		[ "$(grep -c 'cannot write to standard output' <<<"$output")" = 1 ]
	done
}

@test "few open files, no room, nothing writable: one sentence, nothing left" {
	for count in 6 8 10 12; do
		run inside sh -c "ulimit -n $count; gpupool run --gpus 1 -- true"
		echo "$count: $output"
		[ "$status" != 0 ]
		nothing_left
	done
	local row
	# In a run directory of its own: sizes and numbers of files from nothing to nearly enough.
	for row in size=4k size=16k size=24k size=32k nr_inodes=2 nr_inodes=3 nr_inodes=4 nr_inodes=5 \
		nr_inodes=6 nr_inodes=8 nr_inodes=10 ro; do
		run inside unshare -m --propagation private sh -c '
			mount -t tmpfs -o mode=755,"$1" none /run/gpupool
			gpupool run --gpus 1 -- true && exit 0
			find /run/gpupool -mindepth 2; exit 1' - $row
		echo "$row: $output"
		[ "$status" = 1 ]
		not grep -q '^/run/gpupool' <<<"$output"
		grep -qi '^gpupool: .*\(no space left\|Read-only\|store init state\|no message in its log\)' <<<"$output"
	done
}

# planted COMMANDS SENTENCE: in a fresh run directory with COMMANDS done; SENTENCE '' if it must work.
planted() {
	run inside timeout 20 unshare -m --propagation private sh -c '
		mount -t tmpfs -o mode=755 none /run/gpupool
		cd /run/gpupool && mkdir -p containers/x runtime && eval "$1"
		exec gpupool run --gpus 1 -- true' - "$1"
	echo "$1: $status $output"
	if [ -z "$2" ]; then
		[ "$status" = 0 ]
		return
	fi
	[ "$status" = 1 ]
	[ "$(grep -c "^gpupool: .*$2" <<<"$output")" = 1 ]
}

@test "planted state: refused by name, or cleared away; never followed" {
	local unknown='nothing is granted while it is unknown what a container holds'
	planted 'echo garbage >containers/x/grant.json' "$unknown"
	planted ': >containers/x/grant.json' "$unknown"
	planted 'truncate -s 2G containers/x/grant.json' "$unknown"
	planted 'mkfifo containers/x/grant.json' "no regular file; $unknown"
	planted 'ln -s /dev/zero containers/x/grant.json' "$unknown"
	planted 'mkdir containers/x/grant.json' "$unknown"
	planted 'rmdir containers/x; ln -s /etc containers/x' 'remove /run/gpupool/containers/x by hand'
	planted 'rm -r containers; ln -s /etc containers' 'cannot read /run/gpupool/containers'
	planted 'chmod 777 containers' 'can be written by others'
	planted 'mkdir -p containers/x/rootfs/etc' 'remove /run/gpupool/containers/x by hand'
	planted 'ln -s /etc containers/x/rootfs' 'remove /run/gpupool/containers/x by hand'
	planted 'mkfifo lock' 'the lock /run/gpupool/lock is no regular file'
	planted 'ln -s /run/victim lock' 'cannot open the lock'
	planted 'mkdir lock' 'cannot open the lock'
	planted 'head -c 100000 /dev/urandom >lock' ''
	planted 'mkdir -- containers/-x "containers/a b" containers/--help "containers/$(printf "a\033\nb")"' ''
	planted 'mkdir containers/$(printf "a%.0s" $(seq 255))' ''
	planted 'mkdir runtime/x; mkfifo runtime/x/state.json' ''
	planted 'echo "{\"owner\":{\"pid\":1,\"start\":1}}" >containers/x/grant.json' ''
	planted 'echo "{\"owner\":{\"pid\":-1,\"start\":1}}" >containers/x/grant.json' ''
	planted 'ln -s /run/victim inventory.json' ''
	inside test ! -e /run/victim
	[ -d /etc/default ]
}

@test "a program of the caller's PATH or loader never runs with root's rights" {
	local evil=$BATS_TEST_TMPDIR/evil name
	mkdir "$evil"
	for name in runc crun gpupool-nvml nvidia-smi sh; do
		printf '#!/bin/bash\n: >%s/ran\nexit 1\n' "$evil" >"$evil/$name"
		chmod 755 "$evil/$name"
	done
	run inside env PATH="$evil" "$BIN/gpupool" run --gpus 1 -- /bin/true
	echo "$output"
	[ "$status" = 0 ]
	[ ! -e "$evil/ran" ]
	run inside env HOME=/no TMPDIR=/no GCONV_PATH="$evil" LANG=xx gpupool run -- \
		sh -c 'env | grep -E "^(LD_|SUDO_|GPUPOOL_|NVIDIA_[^V])"; echo end'
	echo "$output"
	[ "${lines[-1]}" = end ]
	not grep -qE '^(SUDO_|GPUPOOL_)' <<<"$output"
}

@test "image directories: relative, by a link, with commas; and what is none" {
	local image="$BATS_TEST_TMPDIR/a,b:c\\d e" file=$BATS_TEST_TMPDIR/file
	mkdir -p "$image" "$BATS_TEST_TMPDIR/host"
	cp "$BUILD/test/lib/device_probe" "$image/probe"
	cp "$BUILD/test/lib/device_probe" "$BATS_TEST_TMPDIR/host/probe"
	ln -s "$image" "$BATS_TEST_TMPDIR/link"
	: >"$file"
	cd "$BATS_TEST_TMPDIR"
	for image in "$image" "${image##*/}" link ./host; do
		run inside gpupool run --image "$image" -- /probe open /etc/passwd
		echo "$output"
		[ "$status" = 0 ]
		grep -q '^/etc/passwd ENOENT' <<<"$output"
	done
	for image in "$file" /no/such '' / /proc; do
		run inside gpupool run --image "$image" -- /probe status
		echo "$output"
		[ "$status" = 1 ]
		[ "$(grep -c '^gpupool: container' <<<"$output")" = 1 ]
	done
	nothing_left
}
