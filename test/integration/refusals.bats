#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Every row of test/data/refusals.yaml: the Pod is applied on the simulated driver, and what gpupool says is
# compared with the row, field by field. test/unit/test_refusals.c runs the same rows in process.
load ../lib/common
load ../lib/driver

ROWS=$ROOT/test/data/refusals.yaml
PROBE=$BUILD/test/lib/device_probe
CUDA=$BUILD/test/lib/cuda_probe

setup() {
	needs_containers
	namespace_start
}

teardown() {
	exec 7>&- 8>&-
	namespace_stop
}

wait_for() { # SECONDS COMMAND...
	local limit=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $limit ] || return 1
		read -rt 0.05 <> <(:) || true
	done
}

field() { # ROW EXPRESSION
	jq -r "$2 // empty" <<<"$1"
}

# The row's reason with what only the running machine knows: its name, and the number of a process.
expected() { # ROW
	jq -S --arg node "$(hostname)" --arg pid "${FOREIGN:-none}" '.reason | map_values(
		if type == "string" then gsub("{node}"; $node) | gsub("{pid}"; $pid)
		else . end)' <<<"$1"
}

# The row's holder runs, and the gpupool that made it is killed, so that the pool's lock is free.
hold_start() { # ROW
	rm -f "$BATS_TEST_TMPDIR"/{fifo,pid,hold.out}
	field "$1" .hold | sed "s|PROBE|$PROBE|" >"$BATS_TEST_TMPDIR/hold.yaml"
	mkfifo "$BATS_TEST_TMPDIR/fifo"
	exec 8<>"$BATS_TEST_TMPDIR/fifo"
	inside sh -c 'echo $$ >"$1"; exec gpupool apply -f "$2"' - "$BATS_TEST_TMPDIR/pid" \
		"$BATS_TEST_TMPDIR/hold.yaml" <"$BATS_TEST_TMPDIR/fifo" >"$BATS_TEST_TMPDIR/hold.out" 2>&1 3>&- 8>&- &
	HOLDER=$!
	wait_for 20 grep -q holding "$BATS_TEST_TMPDIR/hold.out"
	kill -9 "$(<"$BATS_TEST_TMPDIR/pid")"
	wait "$HOLDER" 2>/dev/null || true
}

hold_stop() {
	exec 8>&-
	wait_for 20 inside sh -c '! gpupool inventory --json | jq -e ".grants | length > 0"'
}

foreign_start() { # CARD MIB
	rm -f "$BATS_TEST_TMPDIR"/{foreign,foreign.out,foreign.pid}
	mkfifo "$BATS_TEST_TMPDIR/foreign"
	exec 7<>"$BATS_TEST_TMPDIR/foreign"
	inside cp "$CUDA" /run/cuda_probe
	inside env LD_LIBRARY_PATH="$DRIVER/usr/lib/x86_64-linux-gnu" sh -c 'echo $$ >"$1"; shift; exec "$@"' - \
		"$BATS_TEST_TMPDIR/foreign.pid" /run/cuda_probe --device "$1" alloc $(($2 << 20)) hold \
		<"$BATS_TEST_TMPDIR/foreign" >"$BATS_TEST_TMPDIR/foreign.out" 3>&- 7>&- &
	FOREIGN_JOB=$!
	wait_for 20 grep -q allocated "$BATS_TEST_TMPDIR/foreign.out"
	FOREIGN=$(<"$BATS_TEST_TMPDIR/foreign.pid")
}

foreign_stop() {
	exec 7>&-
	wait "$FOREIGN_JOB"
	FOREIGN=
}

fault_start() { # WORDS
	local words
	read -ra words <<<"$1"
	case ${words[0]:-} in
	"") ;;
	foreign) foreign_start "${words[1]}" "${words[2]}" ;;
	lost) driver_fault lost $([ "${words[1]}" = all ] || echo "--card ${words[1]}") ;;
	*) driver_fault "${words[0]}" ;;
	esac >/dev/null
}

fault_stop() { # WORDS
	case $1 in
	"") ;;
	foreign*) foreign_stop ;;
	*) driver_fault recover >/dev/null ;;
	esac
}

# Prints what gpupool said; the exit code is gpupool's.
apply_row() { # ROW
	local file=$BATS_TEST_TMPDIR/pods.yaml code=0
	if [ -n "$(field "$1" .file)" ]; then
		file=$ROOT/$(field "$1" .file)
	else
		field "$1" .pods >"$file"
	fi
	[ -z "$(field "$1" .hold)" ] || hold_start "$1"
	fault_start "$(field "$1" .fault)"
	inside gpupool apply --json --no-wait -f "$file" 2>"$BATS_TEST_TMPDIR/said" || code=$?
	EXPECTED=$(expected "$1")
	fault_stop "$(field "$1" .fault)"
	[ -z "$(field "$1" .hold)" ] || hold_stop
	return $code
}

run_row() { # ROW; 0: as the row says
	local code=0 answer
	apply_row "$1" >"$BATS_TEST_TMPDIR/answer" || code=$?
	answer=$(jq -S . "$BATS_TEST_TMPDIR/answer")
	if [ "$answer" = "$EXPECTED" ] && [ "$code" = "$(field "$1" .exit)" ]; then
		return 0
	fi
	echo "not as the row says: $(field "$1" .name) (exit $code)"
	cat "$BATS_TEST_TMPDIR/said"
	diff <(cat <<<"$EXPECTED") <(cat <<<"$answer") || true
	return 1
}

run_rows() { # MACHINE
	local row bad=0 count=0
	driver_start "$1"
	while IFS= read -r row; do
		count=$((count + 1))
		run_row "$row" || bad=$((bad + 1))
	done < <("$BUILD/test/lib/refusal_rows" "$ROWS" | jq -c --arg machine "$1" \
		'.[] | select(.machine == $machine and (.cards | not))')
	echo "$count rows, $bad not as they say"
	[ "$count" -gt 0 ] && [ "$bad" = 0 ]
}

@test "refusals on a100-80" {
	run_rows a100-80
}

@test "refusals on t4" {
	run_rows t4
}

@test "refusals on mixed" {
	run_rows mixed
}

@test "control: a row with another number, word or exit code turns red" {
	local row change
	driver_start a100-80
	row=$("$BUILD/test/lib/refusal_rows" "$ROWS" | jq -c '.[] | select(.name == "16 cards on a machine of 8")')
	run_row "$row"
	for change in .reason.wanted=17 .reason.total=9 .reason.have=1 '.reason.class="cards"' .exit=5 \
		'.reason.kubernetes|=sub("0/1"; "0/2")' '.reason.sentence|=sub("16"; "17")' 'del(.reason.node)'; do
		if run_row "$(jq -c "$change" <<<"$row")" >/dev/null; then
			echo "not noticed: $change"
			return 1
		fi
	done
}
