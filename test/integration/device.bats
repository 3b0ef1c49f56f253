#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The probe and its helper against the simulated driver, each test in a mount namespace of its own.
load ../lib/common
bats_require_minimum_version 1.5.0

setup() {
	[ "$(id -u)" = 0 ] || skip "making device nodes needs root"
	unshare -m true 2>/dev/null || skip "no right to make a mount namespace"
	export DRIVER=$BUILD/simdriver/simdriver PROBE=$BUILD/test/lib/inventory_probe
	export GPUPOOL_NVML_HELPER=$BIN/gpupool-nvml WORK=$BATS_TEST_TMPDIR
	export ROOT_OF_DRIVER=$WORK/root
	[ -x "$DRIVER" ] || skip "no simulated driver is built"
	# A folder that others may change is no driver root; bats makes its own with the umask.
	chmod 755 "$WORK"
}

# with_driver PROFILE SCRIPT: runs SCRIPT (bash, with the functions of this file) beside a driver.
with_driver() {
	unshare -m --propagation private bash -euo pipefail -c "
		$(declare -f probe inventory fault helper_of wait_for bits_absent refuse)
		mount -t tmpfs tmpfs /run
		trap '\"\$DRIVER\" stop --root \"\$ROOT_OF_DRIVER\" >/dev/null 2>&1 || true' EXIT
		\"\$DRIVER\" start --root \"\$ROOT_OF_DRIVER\" --profile $1 >\"\$WORK/start\"
		$2"
}

# probe [DEADLINE_MS]: the inventory to $WORK/inventory, its reason and time to $WORK/words.
probe() {
	"$PROBE" "$ROOT_OF_DRIVER" "${1:-1000}" >"$WORK/inventory" 2>"$WORK/words" || {
		cat "$WORK/words"
		return 1
	}
}

# inventory EXPRESSION: prints it, with `cards` and `all` bound.
inventory() {
	python3 -c "
import json, sys
all = json.load(open('$WORK/inventory'))
cards = all['cards']
print($1)"
}

fault() { "$DRIVER" fault --root "$ROOT_OF_DRIVER" "$@" >/dev/null; }

# wait_for COMMAND...: until it succeeds, for ten seconds at most.
wait_for() {
	for _ in $(seq 200); do
		"$@" && return 0
		sleep 0.05
	done
	echo "never true: $*"
	return 1
}

# refuse COMMAND...: a command that must fail (set -e lets a line that begins with ! pass).
refuse() {
	if "$@"; then
		echo "succeeded: $*"
		return 1
	fi
}

# The helper of the probe with this PID that holds the driver, to $WORK/helper; before it a short one
# reads procfs and ends.
helper_of() {
	local pid line
	for pid in $(pgrep -P "$1" -x gpupool-nvml); do
		line=$(tr "\\0" " " <"/proc/$pid/cmdline") 2>/dev/null || continue
		case $line in
		"" | *" --proc "*) ;;
		*) echo "$pid" ;;
		esac
	done >"$WORK/helper"
	[ -s "$WORK/helper" ]
}

# bits_absent HEX BIT...: true when none of the bits is set.
bits_absent() {
	local hex=$1 bit
	shift
	for bit; do
		[ $((0x$hex >> bit & 1)) = 0 ] || return 1
	done
}

profile_is_read() {
	with_driver "$1" '
		probe
		grep -qx "reason none " "$WORK/words"
		inventory "\"\n\".join(\"%d %s %s %s %s nvidia%d %d\" % (c[\"index\"], c[\"model\"], c[\"uuid\"],
			c[\"busId\"], c[\"health\"], c[\"minor\"], c[\"memoryBytes\"] >> 20) for c in cards)" >"$WORK/seen"
		# What the driver printed at its start, in the same words.
		sed -n "s/^ *\([0-9]\+\)  \(.*[^ ]\) \+\(GPU-[^ ]*\)  \([^ ]*\)  .dev.nvidia\([0-9]*\)  \([0-9]*\) MiB .*/\1 \2 \3 \4 healthy nvidia\5 \6/p" \
			"$WORK/start" >"$WORK/wanted"
		diff "$WORK/wanted" "$WORK/seen"
		[ -s "$WORK/wanted" ]
		[ "$(inventory "all[\"real\"]")" = False ]'
}

@test "every profile is read as the driver describes it" {
	for profile in $("$DRIVER" profiles | awk '{print $1}'); do
		profile_is_read "$profile"
		rm -rf "$ROOT_OF_DRIVER"
	done
}

@test "links: 12 NVLinks between all pairs of eight cards, the same in both directions" {
	with_driver a100-80 '
		probe
		[ "$(inventory "{(l[\"kind\"], l[\"lanes\"]) for c in cards for l in c[\"links\"]}")" = "{('\''NVLINK'\'', 12)}" ]
		[ "$(inventory "[len(c[\"links\"]) for c in cards]")" = "[7, 7, 7, 7, 7, 7, 7, 7]" ]'
}

@test "links: a mixed machine is symmetric and has no NVLink to cards without it" {
	with_driver mixed '
		probe
		[ "$(inventory "all(d[\"links\"] for d in cards) if 0 else \
			[(i, l[\"peer\"]) for i, c in enumerate(cards) for l in c[\"links\"] \
			if not [b for b in cards[l[\"peer\"]][\"links\"] if b[\"peer\"] == i and \
			(b[\"kind\"], b[\"lanes\"]) == (l[\"kind\"], l[\"lanes\"])]]")" = "[]" ]
		[ "$(inventory "[sum(l[\"lanes\"] for l in c[\"links\"]) for c in cards]")" = "[4, 4, 0, 0, 0]" ]'
}

@test "a healthy probe of eight cards takes less than 100 ms" {
	with_driver a100-80 '
		for _ in 1 2 3 4 5; do
			probe
			sed -n "s/^took \([0-9]*\) ms/\1/p" "$WORK/words"
		done | sort -n >"$WORK/times"
		cat "$WORK/times"
		[ "$(head -1 "$WORK/times")" -lt 100 ]'
}

@test "one card hangs: it is lost with its identity, the others are healthy" {
	with_driver a100-80 '
		fault hang --card 2
		probe 1000
		grep -qx "reason none " "$WORK/words"
		[ "$(inventory "[c[\"index\"] for c in cards if c[\"health\"] == \"healthy\"]")" = "[0, 1, 3, 4, 5, 6, 7]" ]
		[ "$(inventory "cards[2][\"health\"] + \": \" + cards[2][\"cause\"]")" = "lost: the driver gave no answer in 1 s" ]
		grep -qF "$(inventory "cards[2][\"uuid\"]")" "$WORK/start"
		fault recover
		probe 1000
		[ "$(inventory "{c[\"health\"] for c in cards}")" = "{'\''healthy'\''}" ]'
}

@test "the whole driver hangs: one deadline, then a reason" {
	with_driver a100-80 '
		fault hang
		probe 1000
		grep -q "^reason driver_hung .*no answer" "$WORK/words"
		[ "$(sed -n "s/^took \([0-9]*\) ms/\1/p" "$WORK/words")" -lt 8000 ]
		[ "$(inventory "{c[\"health\"] for c in cards}")" = "{'\''lost'\''}" ]'
}

@test "a card is lost: the driver's words are its cause" {
	with_driver a100-80 '
		fault lost --card 5
		probe
		grep -qx "reason none " "$WORK/words"
		[ "$(inventory "[i for i, c in enumerate(cards) if c[\"health\"] == \"lost\"]")" = "[5]" ] ||
			[ "$(inventory "[c[\"busId\"] for c in cards if c[\"health\"] == \"lost\"]")" = "['\''0000:90:00.0'\'']" ]
		[ "$(inventory "sum(c[\"health\"] == \"healthy\" for c in cards)")" = 7 ]
		[ "$(inventory "[c[\"cause\"] for c in cards if c[\"health\"] == \"lost\"][0]")" != "" ]'
}

@test "the module is unloaded while programs run: no driver, with what the bus shows" {
	with_driver t4 '
		fault missing
		probe
		cat "$WORK/words"
		grep -q "^reason no_driver 4 NVIDIA devices on the PCI bus, no kernel module loaded" "$WORK/words"
		[ "$(inventory "len(cards)")" = 0 ]'
}

@test "module and library differ: both versions are named, and NVML is not asked" {
	with_driver h100 '
		fault mismatch --version 535.54.03
		GPUPOOL_NVML_HELPER=/bin/false probe
		cat "$WORK/words"
		grep -qx "reason driver_mismatch module 535.54.03, libraries 550.90.07" "$WORK/words"
		[ "$(inventory "{c[\"health\"] for c in cards}")" = "{'\''suspect'\''}" ]
		fault recover
		probe
		grep -qx "reason none " "$WORK/words"'
}

@test "the helper is killed from outside: that card alone is suspect" {
	with_driver a100-80 '
		fault hang --card 3
		"$PROBE" "$ROOT_OF_DRIVER" 9000 >"$WORK/inventory" 2>"$WORK/words" &
		wait_for helper_of $!
		sleep 0.5
		kill -9 "$(cat "$WORK/helper")"
		wait $!
		[ "$(inventory "[(c[\"index\"], c[\"health\"]) for c in cards if c[\"health\"] != \"healthy\"]")" = "[(3, '\''suspect'\'')]" ]
		[[ "$(inventory "cards[3][\"cause\"]")" = *"died of signal 9"* ]]'
}

@test "the helper cannot make nodes or load modules, and holds nothing of its parent" {
	with_driver a100-80 '
		fault hang
		exec 17</etc/passwd
		SECRET=1 "$PROBE" "$ROOT_OF_DRIVER" 9000 >"$WORK/inventory" 2>"$WORK/words" &
		probe=$!
		wait_for helper_of $probe
		sleep 0.5
		helper=$(cat "$WORK/helper")
		for set in CapBnd CapPrm CapEff CapInh; do
			bits_absent "$(sed -n "s/^$set:\t//p" "/proc/$helper/status")" 27 16
		done
		# The negative control: the probe itself has them.
		refuse bits_absent "$(sed -n "s/^CapPrm:\t//p" "/proc/$probe/status")" 27
		grep -qx "NoNewPrivs:	1" "/proc/$helper/status"
		[ "$(readlink "/proc/$helper/cwd")" = / ]
		[ ! -e "/proc/$helper/fd/17" ]
		for fd in 0 1 2; do [ "$(readlink "/proc/$helper/fd/$fd")" = /dev/null ]; done
		[ "$(wc -c <"/proc/$helper/environ")" = 0 ]
		# It does not outlive its parent.
		kill -9 $probe
		wait_for test ! -e "/proc/$helper"'
}

@test "a process on a card is shown with its owner and memory, until it ends" {
	with_driver t4 '
		chmod 755 "$ROOT_OF_DRIVER"
		chmod a+x "$BATS_RUN_TMPDIR" "${WORK%/*}" # for the tenant, who is somebody else
		mkfifo "$WORK/hold"
		cp "$BUILD/test/lib/cuda_probe" "$WORK/tenant"
		LD_LIBRARY_PATH=$ROOT_OF_DRIVER/usr/lib/x86_64-linux-gnu setpriv --reuid 1234 --clear-groups \
			"$WORK/tenant" --device 1 alloc 1073741824 hold <"$WORK/hold" >"$WORK/tenant.out" &
		tenant=$!
		exec 9>"$WORK/hold"
		wait_for grep -q allocated "$WORK/tenant.out"
		probe
		[ "$(inventory "[len(c[\"processes\"]) for c in cards]")" = "[0, 1, 0, 0]" ]
		[ "$(inventory "[(p[\"pid\"], p[\"uid\"], p[\"granted\"]) for p in cards[1][\"processes\"]]")" = "[($tenant, 1234, False)]" ]
		[ "$(inventory "cards[1][\"processes\"][0][\"usedMiB\"] >= 1024")" = True ]
		[ "$(inventory "cards[1][\"usedBytes\"] - cards[0][\"usedBytes\"] >= 1 << 30")" = True ]
		[[ "$(inventory "cards[1][\"processes\"][0][\"name\"]")" = *tenant ]]
		exec 9>&-
		wait $tenant
		probe
		[ "$(inventory "[len(c[\"processes\"]) for c in cards]")" = "[0, 0, 0, 0]" ]'
}

# Killed without waiting for it: it may be on its way out when the probe has its answer.
@test "no helper is left behind" {
	with_driver a100-80 '
		fault hang --card 0
		probe 300
		wait_for bash -c "! pgrep -x gpupool-nvml -s 0"
		fault hang
		probe 300
		wait_for bash -c "! pgrep -x gpupool-nvml -s 0"'
}

@test "no driver root: the reason says what was searched" {
	mkdir -p "$ROOT_OF_DRIVER"/{proc/driver,sys/bus/pci/devices}
	run -0 --separate-stderr "$PROBE" "$ROOT_OF_DRIVER"
	[[ $stderr = *"reason no_driver no NVIDIA device on the PCI bus"*"no libnvidia-ml.so.1 under $ROOT_OF_DRIVER"* ]] ||
		[ -e /proc/driver/nvidia ]
}

@test "the helper links the C library only" {
	[ ! -x "$ROOT/build/release/bin/gpupool-nvml" ] ||
		[ "$(readelf -d "$ROOT/build/release/bin/gpupool-nvml" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')" = libc.so.6 ]
	run -0 "$BIN/gpupool-nvml" --help
	run -0 "$BIN/gpupool-nvml" --version
	run -2 "$BIN/gpupool-nvml"
	run -2 "$BIN/gpupool-nvml" --fd 0 --library /lib/none </dev/null
}
