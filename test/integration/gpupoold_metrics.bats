#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# /metrics of gpupoold: each series moves when what it is of moves, and what nobody tells is absent.
load ../lib/common
load ../lib/driver
load ../lib/gpupoold
bats_require_minimum_version 1.5.0

setup() {
	needs_node
}

teardown() {
	teardown_node
}

begin() { # PROFILE
	setup_node "$1"
	kubelet start
	node_start
	soon 10 listed
}
listed() { [ "$(metric gpupool_streams)" = 1 ]; }

# A line: the series, the value of the simulated driver, what is set, what is read. Two rounds: a series that
# shows a constant fails.
rows() {
	cat <<-'END'
		DCGM_FI_DEV_SM_CLOCK clock-graphics 1111 1111 1222 1222
		DCGM_FI_DEV_MEM_CLOCK clock-memory 1313 1313 1414 1414
		DCGM_FI_DEV_GPU_TEMP temperature 61 61 62 62
		DCGM_FI_DEV_SLOWDOWN_TEMP slowdown 75 75 76 76
		DCGM_FI_DEV_SHUTDOWN_TEMP shutdown 77 77 78 78
		DCGM_FI_DEV_POWER_USAGE power 123500 123.5 200000 200
		DCGM_FI_DEV_ENFORCED_POWER_LIMIT power-limit 250000 250 300000 300
		DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION energy 7000000 7000000 7000001 7000001
		DCGM_FI_DEV_GPU_UTIL utilization 33 33 44 44
		DCGM_FI_DEV_MEM_COPY_UTIL memory-utilization 11 11 12 12
		DCGM_FI_DEV_ENC_UTIL encoder 21 21 22 22
		DCGM_FI_DEV_DEC_UTIL decoder 23 23 24 24
		DCGM_FI_DEV_FB_RESERVED reserved 104857600 100 209715200 200
		DCGM_FI_DEV_BAR1_USED bar1-used 2097152 2 4194304 4
		DCGM_FI_DEV_PSTATE pstate 2 2 5 5
		DCGM_FI_DEV_CLOCK_THROTTLE_REASONS clock-reasons 4 4 64 64
		DCGM_FI_DEV_FAN_SPEED fan 50 50 60 60
		DCGM_FI_DEV_PCIE_REPLAY_COUNTER pcie-replay 3 3 4 4
		DCGM_FI_DEV_PCIE_LINK_GEN pcie-generation 1 1 2 2
		DCGM_FI_DEV_PCIE_LINK_WIDTH pcie-width 2 2 4 4
		DCGM_FI_DEV_ECC_SBE_VOL_TOTAL ecc-sbe-volatile 5 5 6 6
		DCGM_FI_DEV_ECC_DBE_VOL_TOTAL ecc-dbe-volatile 1 1 2 2
		DCGM_FI_DEV_ECC_SBE_AGG_TOTAL ecc-sbe-aggregate 7 7 8 8
		DCGM_FI_DEV_ECC_DBE_AGG_TOTAL ecc-dbe-aggregate 2 2 3 3
	END
}
rows_hbm() {
	cat <<-'END'
		DCGM_FI_DEV_MEMORY_TEMP memory-temperature 71 71 72 72
		DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS remapped-correctable 3 3 4 4
		DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS remapped-uncorrectable 1 1 2 2
		DCGM_FI_DEV_ROW_REMAP_PENDING remapped-pending 0 0 1 1
		DCGM_FI_DEV_ROW_REMAP_FAILURE remapped-failed 0 0 1 1
		gpupool_card_nvlink_transmit_bytes_total nvlink-tx 1000 1024000 2000 2048000
		gpupool_card_nvlink_receive_bytes_total nvlink-rx 1001 1025024 2001 2049024
	END
}
rows_t4() {
	cat <<-'END'
		DCGM_FI_DEV_RETIRED_SBE retired-sbe 3 3 4 4
		DCGM_FI_DEV_RETIRED_DBE retired-dbe 1 1 2 2
		DCGM_FI_DEV_RETIRED_PENDING retired-pending 0 0 1 1
	END
}

sim_set() { inside "$SIMDRIVER" set --root "$DRIVER" "$@"; }

# Sets all values of one round, then reads all: a scrape for each row would take minutes.
check_rows() { # ROWS-FUNCTION
	local name value a A b B round wanted page line
	for round in 1 2; do
		while read -r name value a A b B; do
			sim_set "$value=$([ $round = 1 ] && echo "$a" || echo "$b")" --card 1
		done < <("$1")
		wanted=$(metric gpupool_probes_total)
		soon 10 probed_since "$wanted"
		page=$(scrape metrics)
		while read -r name value a A b B; do
			[ $round = 1 ] || A=$B
			line=$(grep "^$name{gpu=\"1\"" <<<"$page")
			[ "${line##* }" = "$A" ] || {
				echo "$name: wanted $A after $value, is: $line"
				return 1
			}
			# Another card has its own.
			line=$(grep "^$name{gpu=\"0\"" <<<"$page") || continue
			[ "${line##* }" != "$A" ] || [ "$A" = 0 ] || {
				echo "$name: card 0 has what card 1 was given: $line"
				return 1
			}
		done < <("$1")
	done
}
probed_since() { [ "$(metric gpupool_probes_total)" -ge $(($1 + 2)) ]; }

@test "each number of a card with HBM moves" {
	begin a100-80
	check_rows rows
	check_rows rows_hbm
	# Pages are retired by older cards only: absent, not 0.
	not metric DCGM_FI_DEV_RETIRED_SBE
}

@test "each number of a card without HBM moves" {
	begin t4
	check_rows rows
	check_rows rows_t4
	not metric DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS
	not metric DCGM_FI_DEV_MEMORY_TEMP
}

@test "memory, holders and Pods move" {
	begin a100-80
	used=$(metric DCGM_FI_DEV_FB_USED gpu=\"0\")
	[ "$(metric DCGM_FI_DEV_FB_TOTAL gpu=\"0\")" = 81920 ]
	mkfifo "$BATS_TEST_TMPDIR/hold"
	inside env LD_LIBRARY_PATH=$DRIVER/usr/lib/x86_64-linux-gnu "$BUILD/test/lib/cuda_probe" --device 0 alloc $((5 << 30)) hold \
		<"$BATS_TEST_TMPDIR/hold" 3>&- &
	exec 5>"$BATS_TEST_TMPDIR/hold"
	soon 5 more_used
	exec 5>&-
	soon 5 is "$used" metric DCGM_FI_DEV_FB_USED gpu=\"0\"
	# Labels of the Pod that alone holds the card, as dcgm-exporter has them.
	run_pod one $GPU=1
	card=$(ids_of one)
	soon 20 metric DCGM_FI_DEV_GPU_TEMP "$card" pod=\"one\" container=\"main\"
	[ "$(metric gpupool_pod_devices "$card" pod=\"one\")" = 1 ]
	[ "$(metric gpupool_pod_memory_granted_bytes "$card" pod=\"one\")" = $((80 << 30)) ]
	[ "$(metric gpupool_allocations_total)" = 1 ]
	[ "$(metric gpupool_devices_held)" = 1 ]
	kubelet end one
	soon 20 not metric DCGM_FI_DEV_GPU_TEMP pod=\"one\"
	soon 20 is 0 metric gpupool_devices_held
	# Of two cards each is told.
	run_pod two $GPU=2
	for card in $(ids_of two); do
		soon 20 metric DCGM_FI_DEV_GPU_TEMP "$card" pod=\"two\"
		[ "$(metric gpupool_pod_devices "$card" pod=\"two\")" = 1 ]
		[ "$(metric gpupool_pod_memory_granted_bytes "$card" pod=\"two\")" = $((80 << 30)) ]
	done
}
more_used() { [ "$(metric DCGM_FI_DEV_FB_USED gpu=\"0\")" -ge $((used + 5120)) ]; }

@test "what promtool reads pages with takes ours" {
	promtool=$("$ROOT/test/peers/promtool/build") || skip "$promtool"
	begin a100-80
	driver_fault xid --xid 13 --card 1
	soon 5 is 13 metric DCGM_FI_DEV_XID_ERRORS gpu=\"1\"
	scrape metrics >"$BATS_TEST_TMPDIR/page"
	# 3: opinions about names, which are DCGM's; 1: it cannot be read.
	code=0
	"$promtool" <"$BATS_TEST_TMPDIR/page" >"$BATS_TEST_TMPDIR/out" 2>&1 || code=$?
	[ $code = 0 ] || [ $code = 3 ]
	not grep -v -e ^DCGM_FI_DEV_ -e camelCase "$BATS_TEST_TMPDIR/out"
	# Control: one line that is twice there, one without a value.
	{ cat "$BATS_TEST_TMPDIR/page"; tail -1 "$BATS_TEST_TMPDIR/page"; } | not "$promtool"
	echo 'gpupool_x{a="b} 1' | not "$promtool"
}

@test "the page holds for a reader that knows only the format" {
	begin a100-80
	scrape metrics >"$BATS_TEST_TMPDIR/page"
	"$ROOT/test/lib/metrics_page" <"$BATS_TEST_TMPDIR/page"
	# Controls.
	sed 's/^gpupool_ready 1$/gpupool_ready one/; s/^gpupool_ready 0$/gpupool_ready one/' "$BATS_TEST_TMPDIR/page" | not "$ROOT/test/lib/metrics_page"
	{ cat "$BATS_TEST_TMPDIR/page"; grep '^gpupool_ready' "$BATS_TEST_TMPDIR/page"; } | not "$ROOT/test/lib/metrics_page"
	grep -v '^# TYPE gpupool_ready ' "$BATS_TEST_TMPDIR/page" | not "$ROOT/test/lib/metrics_page"
}
