#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gpupool run and apply on a simulated driver: statuses, rights, slices, locks, kills.
load ../lib/common
load ../lib/driver

PROBE=$BUILD/test/lib/device_probe
CUDA=$BUILD/test/lib/cuda_probe

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	export POD=run-$$ # cgroups are the machine's: other tests have theirs beside ours
	namespace_start
	driver_start a100-80
}

teardown_file() {
	namespace_stop
}

setup() {
	needs_containers
}

@test "the command's status is returned, whatever it is" {
	for wanted in 0 1 3 5 77 255; do
		run inside gpupool run --name "$POD" -- sh -c "exit $wanted"
		[ "$status" = "$wanted" ]
	done
	nothing_left
}

# The runtime says it in its words, gpupool what to do; 127 and 126 as from a shell.
@test "a command that does not exist or is no program: what to do, nothing left" {
	local runtime row
	for runtime in runc crun; do
		command -v $runtime >/dev/null || continue
		for row in /no/such/command:127:"there is no command /no/such/command in it" \
			no-such-command:127:"there is no command no-such-command in it" \
			/etc/passwd:126:"/etc/passwd cannot be executed"; do
			run inside sh -c 'gpupool run --runtime "$1" --name "$2" -- "$3"; echo "status $?"' \
				- $runtime "$POD" "${row%%:*}"
			echo "$output"
			[[ $output == *"status $(cut -d: -f2 <<<"$row")" ]]
			[ "$(grep -c "^gpupool: .*$(cut -d: -f3 <<<"$row")" <<<"$output")" = 1 ]
		done
	done
	nothing_left
}

@test "two Pods of which one cannot be made: no wait for the other, nothing left" {
	cat >"$BATS_TEST_TMPDIR/two.yaml" <<-END
		{apiVersion: v1, kind: Pod, metadata: {name: $POD-one},
		 spec: {containers: [{name: main, image: host, command: [sleep, "60"]}]}}
		---
		{apiVersion: v1, kind: Pod, metadata: {name: $POD-two},
		 spec: {containers: [{name: main, image: host, command: [/no/such/command]}]}}
	END
	run inside timeout --signal KILL 30 gpupool apply -f "$BATS_TEST_TMPDIR/two.yaml"
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"/no/such/command"* ]]
	nothing_left
}

@test "several containers: every byte of a line arrives, the last without a line feed, and long ones in pieces" {
	cat >"$BATS_TEST_TMPDIR/bytes.yaml" <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: $POD-bytes}
		spec:
		  containers:
		  - {name: a, image: host, command: [printf, 'x\\000y\\nlast']}
		  - {name: b, image: host, command: [sh, -c, 'head -c 40000 /dev/zero | tr "\\000" z']}
	END
	inside gpupool apply -f "$BATS_TEST_TMPDIR/bytes.yaml" >"$BATS_TEST_TMPDIR/out" 2>/dev/null
	[ "$(grep -ac "^\[$POD-bytes/a\] x.y$" "$BATS_TEST_TMPDIR/out")" = 1 ]
	[ "$(grep -ac "^\[$POD-bytes/a\] last$" "$BATS_TEST_TMPDIR/out")" = 1 ]
	[ "$(tr -cd z <"$BATS_TEST_TMPDIR/out" | wc -c)" = 40000 ]
	[ "$(grep -ac "^\[$POD-bytes/b\] z" "$BATS_TEST_TMPDIR/out")" = 3 ]
}

@test "a container without a card is no riddle to the next command" {
	local fifo=$BATS_TEST_TMPDIR/fifo
	mkfifo "$fifo"
	inside gpupool run --name "$POD" -- "$PROBE" hold <"$fifo" 3>&- &
	local job=$!
	exec 8>"$fifo"
	wait_for 20 inside sh -c 'ls /run/gpupool/containers/default-$POD-*/pid'
	run inside gpupool inventory
	echo "$output"
	exec 8>&-
	wait "$job"
	[ "$status" = 0 ]
}

@test "whatever state the caller leaves: closed descriptors, SIGCHLD ignored, a strict umask" {
	# Both closed: what was opened next had their numbers, and the helper lost its socket.
	run inside sh -c 'gpupool run --name "$POD" --gpus 1 -- true <&- >&-'
	echo "$output"
	[ "$status" = 0 ]
	# No exit status could be waited for.
	run inside python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])' gpupool run --name "$POD" -- sh -c 'exit 7'
	echo "$output"
	[ "$status" = 7 ]
	# The directories on the way to the driver's files were root's alone.
	run inside sh -c 'umask 077; SUDO_UID=65534 SUDO_GID=65534 exec gpupool run --name "$POD" --gpus 1 -- nvidia-smi -L'
	echo "$output"
	[ "$status" = 0 ]
	nothing_left
}

@test "run --json: a refusal is JSON too" {
	inside gpupool run --name "$POD" --json --gpu-memory 13 --slice-cards 2 -- true >"$BATS_TEST_TMPDIR/out" && false || [ $? = 4 ]
	[ "$(jq -r .code "$BATS_TEST_TMPDIR/out")" = bad_request ]
}

@test "a runtime that we do not know is a slip of the pen, not a machine without one" {
	run inside gpupool run --name "$POD" --runtime podman -- true
	echo "$output"
	[ "$status" = 2 ]
	[[ $output == *"unknown runtime podman; give runc, crun, or an absolute path"* ]]
}

@test "the caller is who called sudo, without capabilities, in the caller's directory" {
	cd /usr/share
	run inside env SUDO_UID=65534 SUDO_GID=65534 gpupool run --name "$POD" --gpus 1 -- "$PROBE" status -- open /dev/nvidia0 /dev/nvidia1
	echo "$output"
	[ "$status" = 0 ]
	grep -q '^Uid:.65534.65534' <<<"$output"
	grep -q '^CapEff:.0000000000000000' <<<"$output"
	grep -q '^CapBnd:.0000000000000000' <<<"$output"
	grep -q '^NoNewPrivs:.1' <<<"$output"
	grep -q '^Cwd: /usr/share$' <<<"$output"
	grep -q '^/dev/nvidia0 ENXIO' <<<"$output"
	grep -q '^/dev/nvidia1 ENOENT' <<<"$output"
}

@test "apply: a Pod without workingDir starts in the caller's directory, with one where it says" {
	local manifest=$BATS_TEST_TMPDIR/pod.yaml
	cat >"$manifest" <<-EOF
		apiVersion: v1
		kind: Pod
		metadata: {name: "$POD"}
		spec:
		  containers:
		  - {name: here, image: any, command: [pwd]}
		  - {name: there, image: any, command: [pwd], workingDir: /usr/lib}
	EOF
	cd /usr/share
	run inside gpupool apply -f "$manifest"
	echo "$output"
	[ "$status" = 0 ]
	grep -q '/here\] /usr/share$' <<<"$output"
	grep -q '/there\] /usr/lib$' <<<"$output"
}

@test "a directory that the caller cannot enter is refused before anything is made" {
	local directory=$BATS_TEST_TMPDIR/private
	mkdir -m 0700 "$directory"
	cd "$directory"
	run inside env SUDO_UID=65534 SUDO_GID=65534 gpupool run --name "$POD" -- true
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"cannot enter the working directory $directory"* ]]
	nothing_left
}

@test "image host: what the command writes lands on the host, as the caller" {
	# Not below the folder of bats, which is closed to other users.
	local directory code=0 owner=
	directory=$(mktemp -d)
	chown 65534:65534 "$directory"
	(cd "$directory" && inside env SUDO_UID=65534 SUDO_GID=65534 gpupool run --name "$POD" -- sh -c 'echo mine >file') || code=$?
	[ "$code" != 0 ] || owner=$(stat -c %u "$directory/file"):$(cat "$directory/file")
	rm -rf "$directory"
	[ "$code" = 0 ]
	[ "$owner" = 65534:mine ]
}

@test "image directory: nothing is written into it" {
	local image=$BATS_TEST_TMPDIR/image before
	mkdir -p "$image/tmp"
	cp "$PROBE" "$image/probe"
	before=$(find "$image" -printf '%p %y %m %T@\n' | sort)
	run inside gpupool run --name "$POD" --gpus 1 --image "$image" -- /probe mknod /tmp 0 -- nodes /
	echo "$output"
	[ "$status" = 0 ]
	[ "$(find "$image" -printf '%p %y %m %T@\n' | sort)" = "$before" ]
}

@test "what is no image says so" {
	run inside gpupool run --name "$POD" --image / -- true
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"the image / is this machine's own root; write --image host"* ]]
	run inside gpupool run --name "$POD" --image /proc -- true
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"copy it to an ordinary file system"* ]]
	run inside gpupool run --name "$POD" --image /no/such/folder -- true
	[ "$status" = 1 ]
	[[ $output == *"give host or a directory"* ]]
	nothing_left
}

@test "two slices on one card at once; the screen says that nothing enforces them" {
	run inside gpupool apply -f "$ROOT/docs/examples/two-slices.yaml"
	echo "$output"
	[ "$status" = 0 ]
	[ "$(grep -c 'enforcement: none (reserved only)' <<<"$output")" = 2 ]
	[ "$(grep -o 'UUID: GPU-[0-9a-f-]*' <<<"$output" | sort -u | wc -l)" = 1 ]
	[ "$(grep -c '^\[slice-12/main\] GPU 0' <<<"$output")" = 1 ]
	[ "$(grep -c '^\[slice-20/main\] GPU 0' <<<"$output")" = 1 ]
}

# The day a slice is enforced, this case must be turned round.
@test "30 GiB in a slice of 12 GiB succeeds, and the plan said none" {
	[ -x "$CUDA" ] || skip "cuda_probe is not built"
	run inside gpupool run --name "$POD" --gpu-memory 12 -- "$CUDA" alloc $((30 << 30))
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"enforcement: none (reserved only)"* ]]
	run inside gpupool run --name "$POD" --dry-run --gpu-memory 12 -- true
	[[ $output == *"enforcement: none (reserved only)"* ]]
}

@test "while a slice runs, inventory shows it with its enforcement" {
	local fifo=$BATS_TEST_TMPDIR/fifo
	mkfifo "$fifo"
	inside gpupool run --name "$POD" --gpu-memory 12 --name "$POD-held" -- "$PROBE" hold <"$fifo" 3>&- &
	local job=$!
	exec 8>"$fifo"
	wait_for 20 inside sh -c 'gpupool inventory | grep -q default/$POD-held'
	run inside gpupool inventory
	echo "$output"
	[[ $output == *"default/$POD-held main: 12 GiB of card"*"enforcement: none (reserved only)"* ]]
	[ "$(inside gpupool inventory --json | jq '.grants | length')" = 1 ]
	[ "$(inside gpupool inventory --poolnode | jq '[.status.cards[].grants[]] | length')" = 1 ]
	[ "$(inside gpupool inventory --poolnode | jq '.status.summary.grantedGiB')" = 12 ]
	# What is shown can be asked about: seven of eight cards are free.
	inside sh -c 'gpupool inventory --poolnode | gpupool sim fit --cluster - --ask "1 card" --json' >"$BATS_TEST_TMPDIR/fit"
	[ "$(jq .count "$BATS_TEST_TMPDIR/fit")" = 7 ] || { cat "$BATS_TEST_TMPDIR/fit"; false; }
	exec 8>&-
	wait "$job"
	[ "$(inside gpupool inventory --json | jq '.grants | length')" = 0 ]
	nothing_left
}

@test "the inventory is left for those who may not ask the driver" {
	inside rm -f /run/gpupool/inventory.json
	inside gpupool run --name "$POD" --gpus 1 -- true
	[ "$(inside jq '.cards | length' /run/gpupool/inventory.json)" = 8 ]
	[ "$(inside stat -c %a /run/gpupool/inventory.json)" = 644 ]
	# A search where no driver is says nothing of the one that is there; that it is gone does.
	mkdir "$BATS_TEST_TMPDIR/nothing"
	run inside gpupool inventory --driver-root "$BATS_TEST_TMPDIR/nothing"
	[ "$status" -eq 3 ]
	[ "$(inside jq '.cards | length' /run/gpupool/inventory.json)" = 8 ]
	driver_fault missing
	run inside gpupool inventory --driver-root "$BATS_TEST_TMPDIR/nothing"
	driver_fault recover
	[ "$status" -eq 3 ]
	[ "$(inside jq -r '.driverRoot' /run/gpupool/inventory.json)" = "$BATS_TEST_TMPDIR/nothing" ]
	inside gpupool inventory >/dev/null
	[ "$(inside jq '.cards | length' /run/gpupool/inventory.json)" = 8 ]
	# Whoever may not write there can still look.
	inside setpriv --reuid 65534 --regid 65534 --clear-groups "$BIN/gpupool" inventory >/dev/null
}

@test "one command at a time: --no-wait exits 5 and names the holder" {
	local fifo=$BATS_TEST_TMPDIR/fifo
	mkfifo "$fifo"
	inside gpupool run --name "$POD" --name "$POD-held" -- "$PROBE" hold <"$fifo" 3>&- &
	local job=$!
	exec 8>"$fifo"
	wait_for 20 inside sh -c 'ls /run/gpupool/containers/*/pid'
	run inside gpupool run --name "$POD" --no-wait -- true
	echo "$output"
	[ "$status" = 5 ]
	[[ $output == *"held by another gpupool, process"* ]]
	exec 8>&-
	wait "$job"
	run inside gpupool run --name "$POD" --no-wait -- true
	[ "$status" = 0 ]
}

# start_run ARGS...: gpupool run --name "$POD" in the background; $JOB is its own process.
start_run() {
	rm -f "$BATS_TEST_TMPDIR/pid"
	inside sh -c 'echo $$ >"$1"; shift; exec gpupool run --name "$POD" "$@"' - "$BATS_TEST_TMPDIR/pid" "$@" <&0 \
		>"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	SHELL_JOB=$!
	wait_for 20 test -s "$BATS_TEST_TMPDIR/pid"
	JOB=$(cat "$BATS_TEST_TMPDIR/pid")
}

@test "a signal that the command handles is passed on" {
	start_run -- sh -c 'trap "exit 9" TERM; echo ready; while :; do sleep 0.1; done'
	wait_for 20 grep -q ready "$BATS_TEST_TMPDIR/out"
	kill -TERM "$JOB"
	wait "$SHELL_JOB" && false || [ $? = 9 ]
	nothing_left
}

# The runtime's start has not ended when the command's first words come.
@test "a signal in the first moment of a command is the command's" {
	local fifo=$BATS_TEST_TMPDIR/fifo line job pid
	mkfifo "$fifo"
	exec 8<>"$fifo"
	for _ in $(seq 15); do
		inside sh -c 'echo $$ >"$1"; exec gpupool run --name "$POD" -- sh -c "$2"' - "$BATS_TEST_TMPDIR/pid" \
			'trap "exit 9" TERM; echo ready; while :; do sleep 0.05; done' >"$fifo" 2>/dev/null 3>&- &
		job=$!
		read -r line <&8
		[ "$line" = ready ]
		read -r pid <"$BATS_TEST_TMPDIR/pid"
		kill -TERM "$pid"
		wait "$job" && false || [ $? = 9 ]
	done
	exec 8>&-
	nothing_left
}

@test "a signal that the command does not handle ends it, as it would outside" {
	for signal in INT TERM HUP QUIT; do
		start_run -- sh -c 'echo ready; exec sleep 600'
		wait_for 20 grep -q ready "$BATS_TEST_TMPDIR/out"
		kill -s $signal "$JOB"
		wait "$SHELL_JOB" && false || [ $? = $((128 + $(kill -l $signal))) ]
	done
	nothing_left
}

@test "a command that ignores signals is killed by the third" {
	start_run -- sh -c 'trap "" TERM; echo ready; while :; do sleep 0.1; done'
	wait_for 20 grep -q ready "$BATS_TEST_TMPDIR/out"
	for _ in 1 2 3; do kill -TERM "$JOB"; read -rt 0.2 <> <(:) || true; done
	wait "$SHELL_JOB" && false || [ $? = 137 ]
	nothing_left
}

# kill -9 of gpupool: the container runs on and holds its cards; once it ended, all is cleared away.
@test "kill -9 of gpupool: what its container holds stays held until it ends" {
	local fifo=$BATS_TEST_TMPDIR/fifo child
	mkfifo "$fifo"
	exec 8<>"$fifo"
	start_run --gpus 8 --name "$POD-orphan" -- "$PROBE" hold <"$fifo"
	wait_for 20 grep -q holding "$BATS_TEST_TMPDIR/out"
	kill -9 "$JOB"
	wait_for 5 inside sh -c 'gpupool inventory | grep -q "its gpupool is gone"'
	run inside gpupool run --name "$POD" --gpus 1 -- true
	echo "$output"
	[ "$status" = 5 ]
	[[ $output == *"not enough free cards"* ]]
	inside sh -c 'kill -9 $(cat /run/gpupool/containers/*-orphan-*/pid)'
	exec 8>&-
	wait_for 10 inside gpupool run --name "$POD" --gpus 8 -- true
	nothing_left
}

@test "without root: run says what is missing, shows no plan, and refuses first what fits nowhere" {
	run inside setpriv --reuid 65534 --regid 65534 --clear-groups "$BIN/gpupool" run --gpus 1 -- true
	echo "$output"
	[ "$status" = 3 ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == *"--dry-run shows the plan"*"run this with sudo"* ]]
	run inside setpriv --reuid 65534 --regid 65534 --clear-groups "$BIN/gpupool" run --gpus 99 -- true
	[ "$status" = 4 ]
}

@test "a refused file: the sentence begins with its name and line" {
	sed 's/gpu: 1/gpu: "one"/' "$ROOT/docs/examples/one-card.yaml" >"$BATS_TEST_TMPDIR/pod.yaml"
	run inside gpupool apply -f "$BATS_TEST_TMPDIR/pod.yaml"
	echo "$output"
	[ "$status" = 4 ]
	[[ $output == *"gpupool:    $BATS_TEST_TMPDIR/pod.yaml:13: container nvidia-smi of Pod default/one-card: "* ]]
}

@test "options that do not go together are usage errors, in the words of the options" {
	local row
	for row in "-g 1 -m 8:whole cards" "-g all:not 'all'" "-g 1.5:gpu-memory GiB for a part" \
		"--gpu-compute 25:--gpu-compute shapes a slice" "-g 1 --slice-cards 2:add --gpu-memory" \
		"--gpu-model A*:add --gpus N or --gpu-memory" "--gpu-uuid GPU-1:none is asked for"; do
		# shellcheck disable=SC2086
		run "$BIN/gpupool" run ${row%%:*} -- true
		echo "$output"
		[ "$status" = 2 ]
		[[ $output == *"${row#*:}"* ]]
	done
}

@test "a signal while the runtime still ends its start reaches the command all the same" {
	inside sh -c 'cat >/run/runc' <<-'EOF'
		#!/bin/sh
		/usr/sbin/runc "$@" || exit
		case " $* " in *" start "*) sleep 1 ;; esac
	EOF
	inside chmod +x /run/runc
	start_run --runtime /run/runc -- sh -c 'echo ready; exec sleep 600'
	wait_for 20 grep -q ready "$BATS_TEST_TMPDIR/out"
	kill -INT "$JOB"
	wait "$SHELL_JOB" && false || [ $? = 130 ]
	inside rm /run/runc
	nothing_left
}
