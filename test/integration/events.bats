#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Events of the simulated driver, through gpupool-nvml --events and through the kernel's log.
load ../lib/common
load ../lib/driver
bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" = 0 ] || skip "needs root (device nodes)"
	unshare -m true 2>/dev/null || skip "needs mount namespaces (CAP_SYS_ADMIN)"
}

setup() {
	namespace_start
	WORK=$BATS_TEST_TMPDIR
}

teardown() {
	[ -z "${WATCHER:-}" ] || kill "$WATCHER" 2>/dev/null || true
	namespace_stop
}

# watch ARGS...: events_probe in the background; its lines in $WORK/seen, its life is descriptor 7.
watch() {
	rm -f "$WORK/life"
	mkfifo "$WORK/life"
	inside env GPUPOOL_NVML_HELPER="$BIN/gpupool-nvml" "$BUILD/test/lib/events_probe" --root "$DRIVER" "$@" \
		<"$WORK/life" >"$WORK/seen" 2>"$WORK/errors" 3>&- &
	WATCHER=$!
	exec 7>"$WORK/life"
	export WATCHER
}

seen() { # PATTERN: a line of it comes within 5 s
	wait_for 5 grep -qx -- "$1" "$WORK/seen" || { cat "$WORK/seen" "$WORK/errors"; return 1; }
}

uuid_of() {
	inside env LD_LIBRARY_PATH=$DRIVER/usr/lib/x86_64-linux-gnu "$DRIVER/usr/bin/nvidia-smi" -i "$1" \
		--query-gpu=uuid --format=csv,noheader
}

@test "an XID comes with its card, and only with that" {
	driver_start mixed
	watch
	seen 'ready count=5'
	driver_fault xid --xid 48 --card 1
	uuid=$(uuid_of 1)
	seen "xid index=1 uuid=$uuid bus=0000:31:00.0 data=48"
	driver_fault xid --xid 13 --card 0
	seen "xid index=0 uuid=.* bus=0000:17:00.0 data=13"
	[ "$(grep -c '^xid' "$WORK/seen")" = 2 ]
}

@test "a card that falls off the bus is told, and the others go on telling" {
	driver_start a100-80
	watch
	seen 'ready count=8'
	driver_fault lost --card 3
	seen 'xid index=3 .* data=79'
	seen 'lost index=3 .* text=GPU is lost'
	driver_fault xid --xid 31 --card 4
	seen 'xid index=4 .* data=31'
	[ "$(grep -c '^lost' "$WORK/seen")" = 1 ]
	run grep -c '^end' "$WORK/seen"
	[ "$output" = 0 ]
}

@test "a card that hangs keeps only a watcher that touches it" {
	driver_start t4
	driver_fault hang --card 2
	watch --skip 4
	seen 'ready count=3'
	driver_fault xid --xid 62 --card 3
	seen 'xid index=3 .* data=62'
}

@test "the end of the driver is told, and its coming back is seen by a new child" {
	driver_start t4
	watch
	seen 'ready count=4'
	driver_fault missing
	seen 'end text=.*'
	wait "$WATCHER"
	[ "$(tail -n 1 "$WORK/seen")" = reaped ]
	watch
	seen 'end text=Driver Not Loaded'
	driver_fault recover
	watch
	seen 'ready count=4'
}

@test "the child has no CAP_MKNOD, no environment, and goes the moment that it is stopped" {
	driver_start t4
	watch
	seen 'ready count=4'
	child=$(head -n 1 "$WORK/seen")
	mask=$(sed -n 's/^CapEff:\t//p' "/proc/$child/status")
	[ $((0x$mask >> 27 & 1)) = 0 ]
	[ -z "$(tr '\0' '\n' <"/proc/$child/environ")" ]
	echo stop >&7
	wait "$WATCHER"
	[ "$(tail -n 1 "$WORK/seen")" = reaped ]
	[ ! -e "/proc/$child" ]
}

@test "the child dies with who started it" {
	driver_start t4
	watch
	seen 'ready count=4'
	child=$(head -n 1 "$WORK/seen")
	kill -9 "$(sed -n 's/^PPid:\t//p' "/proc/$child/status")"
	gone() { ! kill -0 "$child" 2>/dev/null; }
	wait_for 5 gone
}

@test "a memory error is told, counted and logged" {
	driver_start a100-80
	watch
	seen 'ready count=8'
	driver_fault ecc --card 2
	seen 'ecc index=2 uuid=GPU-.*'
	seen 'xid index=2 .* data=48'
	run inside gpupool inventory
	grep -E '^2 .* suspect: .*1 uncorrected' <<<"$output" || { echo "$output"; false; }
}

@test "a driver that hangs for a time goes on by itself, and tells what happened meanwhile" {
	driver_start t4
	watch
	seen 'ready count=4'
	driver_fault hang --for 700
	local before=${EPOCHREALTIME/./}
	uuid_of 0 >/dev/null
	local after=${EPOCHREALTIME/./}
	[ $((after - before)) -gt 400000 ]
	driver_fault xid --xid 45 --card 1
	seen 'xid index=1 .* data=45'
}

@test "an upgraded driver: the old child ends, a new one and the inventory have the new version" {
	driver_start t4
	watch
	seen 'ready count=4'
	inside "$SIMDRIVER" stop --root "$DRIVER" 3>&-
	seen 'end text=.*'
	run inside gpupool inventory
	[[ $output == *"no NVIDIA driver"* || $output == *"Driver Not Loaded"* ]] || { echo "$output"; false; }
	inside "$SIMDRIVER" start --root "$DRIVER" --profile t4 --version 535.216.01 3>&- >/dev/null
	watch
	seen 'ready count=4'
	run -0 inside gpupool inventory
	[[ ${lines[0]} == *"driver 535.216.01, kernel module 535.216.01"* ]] || { echo "$output"; false; }
	driver_fault mismatch # of the upgraded one: what runs goes on, what starts is told
	driver_fault xid --xid 13 --card 0
	seen 'xid index=0 .* data=13'
	run inside gpupool inventory
	[[ $output == *"differ"* ]] || { echo "$output"; false; }
	driver_fault recover
	run -0 inside gpupool inventory
	[[ ${lines[0]} == *"kernel module 535.216.01"* ]]
}
