#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The simulated libcuda: the file as the real one is made, and a small program on it.
load ../lib/common
bats_require_minimum_version 1.5.0

setup() {
	probe=$BUILD/test/lib/cuda_probe
	check=$BUILD/test/lib/cuda_check
	export probe check
}

with_driver() {
	"$ROOT/test/lib/with_driver" "$@"
}

# json EXPRESSION: of the object on the last line of $output, which Python sees as o
json() {
	printf '%s\n' "$output" | tail -n 1 | python3 -c "import json, sys; o = json.load(sys.stdin); print($1)"
}

exports_of() {
	nm -D --defined-only "$1" | awk '{print $3}' | LC_ALL=C sort
}

@test "libcuda exports the names of 535.261.03 and of 550.163.01, no more and no less" {
	diff <(exports_of "$BUILD/simdriver/libcuda-535.so") "$ROOT/test/data/cuda-exports/535.261.03.txt"
	diff <(exports_of "$BUILD/simdriver/libcuda-550.so") "$ROOT/test/data/cuda-exports/550.163.01.txt"
	run ! diff <(exports_of "$BUILD/simdriver/libcuda-550.so") "$ROOT/test/data/cuda-exports/535.261.03.txt"
}

@test "cuGetProcAddress answers as the real libraries do, for every name, version and stream kind" {
	local branch version
	for version in 535.261.03 550.163.01; do
		branch=${version%%.*}
		"$ROOT/test/lib/cuda_lookup_record" "$BUILD/simdriver/libcuda-$branch.so" \
			"$ROOT/test/data/cuda-exports/$version.txt" >"$BATS_TEST_TMPDIR/$branch"
		diff "$BATS_TEST_TMPDIR/$branch" "$ROOT/test/data/cuda-lookup/$version.txt"
	done
	run ! diff -q "$BATS_TEST_TMPDIR/550" "$ROOT/test/data/cuda-lookup/535.261.03.txt"
}

@test "libcuda has the SONAME and needs of the real one, no version node, and GLIBC_2.17 at most" {
	local branch library newest
	for branch in 535 550; do
		library=$BUILD/simdriver/libcuda-$branch.so
		readelf -dW "$library" | grep -F 'soname: [libcuda.so.1]'
		[ "$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | LC_ALL=C sort | xargs)" = \
			"libc.so.6 libdl.so.2 libm.so.6 libpthread.so.0 librt.so.1" ]
		run ! grep -F 'Version definition' <(readelf -VW "$library")
		newest=$(readelf -VW "$library" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
		[ "$(printf '%s\nGLIBC_2.17\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.17 ]
	done
}

@test "libcuda does not load under musl, for the reason of the real one" {
	command -v musl-gcc >/dev/null || skip "there is no musl-gcc"
	musl-gcc -o "$BATS_TEST_TMPDIR/probe" "$ROOT/test/lib/dlopen_probe.c"
	run -1 "$BATS_TEST_TMPDIR/probe" "$BUILD/simdriver/libcuda-535.so"
	[[ $output == *"symbol not found"* ]]
	[[ $output == *"__register_atfork"* || $output == *"dladdr"* || $output == *"dlvsym"* ]]
}

@test "a CUDA program, case by case, on 535" {
	with_driver a100-80 "$check"
}

@test "a CUDA program, case by case, on 550" {
	with_driver h100 "$check"
}

@test "a card whose node is gone is not there; without any there is no device" {
	run -0 with_driver a100-80 sh -c 'rm "$DRIVER_ROOT"/dev/nvidia[0-24-7]; $probe'
	[ "$(json 'o["count"]')" = 1 ]
	[ "$(json 'o["devices"][0]["pci"]')" = 0000:4e:00.0 ]
	run -0 with_driver a100-80 sh -c 'rm "$DRIVER_ROOT"/dev/nvidia[0-7]; $probe || true'
	[ "$(json 'o["error"], o["call"]')" = "CUDA_ERROR_NO_DEVICE init" ]
}

@test "CUDA_VISIBLE_DEVICES takes numbers and UUIDs, in its order, up to the first wrong entry" {
	local wanted count row rows=(
		"3,1|2|0000:4e:00.0" "0|1|0000:07:00.0" "2,9,1|1|0000:47:00.0" "1,1|1|0000:0f:00.0"
		"GPU-e78cd50e|1|0000:4e:00.0" "GPU-ebb622c3-b6b7-d98d-579b-6c5a5d12f805,0|2|0000:90:00.0"
		" 3 , 1|2|0000:4e:00.0" "0,GPU-|1|0000:07:00.0" "-1|0|" "|0|" "GPU-0000|0|" "MIG-0|0|" "03|0|"
	)
	for row in "${rows[@]}"; do
		IFS='|' read -r wanted count address <<<"$row"
		printf 'CUDA_VISIBLE_DEVICES="%s" $probe || true\n' "$wanted"
	done >"$BATS_TEST_TMPDIR/script"
	with_driver a100-80 sh "$BATS_TEST_TMPDIR/script" >"$BATS_TEST_TMPDIR/out"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" = "${#rows[@]}" ]
	for row in "${rows[@]}"; do
		IFS='|' read -r wanted count address <<<"$row"
		read -r output <&4
		echo "'$wanted': $output"
		if [ "$count" = 0 ]; then
			[ "$(json 'o["error"]')" = CUDA_ERROR_NO_DEVICE ]
		else
			[ "$(json 'o["count"]')" = "$count" ]
			[ "$(json 'o["devices"][0]["pci"]')" = "$address" ]
		fi
	done 4<"$BATS_TEST_TMPDIR/out"
}

@test "memory: what is allocated is gone for others until the program ends" {
	cat >"$BATS_TEST_TMPDIR/script" <<-'EOF'
		$probe --device 0
		mkfifo "$DRIVER_ROOT/hold"
		$probe alloc 32212254720 hold <"$DRIVER_ROOT/hold" >"$DRIVER_ROOT/held" &
		exec 5>"$DRIVER_ROOT/hold"
		while ! grep -qs allocated "$DRIVER_ROOT/held"; do kill -0 $! || exit 1; done
		cat "$DRIVER_ROOT/held"
		$probe --device 0
		exec 5>&-
		wait $!
		rm "$DRIVER_ROOT/hold" "$DRIVER_ROOT/held"
	EOF
	with_driver a100-80 sh "$BATS_TEST_TMPDIR/script" >"$BATS_TEST_TMPDIR/out"
	output=$(python3 - "$BATS_TEST_TMPDIR/out" <<-'EOF'
		import json, sys
		before, held, during = [json.loads(line) for line in open(sys.argv[1])]
		free = before["devices"][0]["free"]
		context = before["devices"][0]["total"] - free
		assert held["free"] == free - 30 * 2**30, held
		assert during["devices"][0]["free"] == free - 30 * 2**30 - context, during
		print("ok")
	EOF
	)
	[ "$output" = ok ]
}

@test "memory: a card is filled to its last 2 MiB, then CUDA_ERROR_OUT_OF_MEMORY" {
	run -0 with_driver t4 sh -c '$probe alloc-until-fail 2097152'
	[ "$(json 'o["stopped_by"]')" = CUDA_ERROR_OUT_OF_MEMORY ]
	[ "$(json 'o["free_after"] < 2**21 and o["allocated"] + o["free_after"] == o["free_before"]')" = True ]
}

@test "faults: mismatch is 803, a missing module and a lost card leave no device, full is out of memory" {
	cat >"$BATS_TEST_TMPDIR/script" <<-'EOF'
		fault() { "$SIMDRIVER" fault --root "$DRIVER_ROOT" "$@" >/dev/null; }
		fault mismatch; $probe; fault recover
		fault missing; $probe; fault recover
		fault lost; $probe; fault recover
		fault lost --card 0; $probe; fault recover
		fault full --card 0; $probe alloc 1048576; fault recover
		$probe
	EOF
	with_driver a100-80 sh "$BATS_TEST_TMPDIR/script" >"$BATS_TEST_TMPDIR/out"
	output=$(python3 - "$BATS_TEST_TMPDIR/out" <<-'EOF'
		import json, sys
		rows = [json.loads(line) for line in open(sys.argv[1])]
		print(*[row.get("code", row.get("count")) for row in rows])
	EOF
	)
	[ "$output" = "803 100 100 7 2 8" ]
}

@test "faults while a program works: hung until recovered, lost for good, the other cards go on" {
	cat >"$BATS_TEST_TMPDIR/script" <<-'EOF'
		fault() { "$SIMDRIVER" fault --root "$DRIVER_ROOT" "$@" >/dev/null; }
		cd "$1"
		mkfifo in in2 out
		$probe --device 0 work 10000000 <in >out &
		$probe --device 1 work 10000000 <in2 >other &
		exec 5>in 6>in2 7<out
		answer() { timeout "$1" head -n 1 <&7 || echo nothing; }
		answer 10
		echo >&5; answer 10
		fault hang --card 0
		echo >&5; answer 1
		fault recover
		answer 10
		fault lost --card 0
		echo >&5; answer 10
		echo >&6
		exec 5>&- 6>&-
		wait
		cat other
	EOF
	run -0 with_driver a100-80 bash "$BATS_TEST_TMPDIR/script" "$BATS_TEST_TMPDIR"
	echo "$output"
	[ "${lines[0]}" = '{"allocated": 10000000}' ]
	[ "${lines[1]}" = '{"worked": true}' ]
	[ "${lines[2]}" = nothing ]
	[ "${lines[3]}" = '{"worked": true}' ]
	[[ ${lines[4]} == *CUDA_ERROR_UNKNOWN* ]]
	[ "${lines[5]}" = '{"allocated": 10000000}' ]
	[ "${lines[6]}" = '{"worked": true}' ]
}

@test "one truth: NVML sees the context, the memory and the process of a CUDA program" {
	cat >"$BATS_TEST_TMPDIR/one_truth.py" <<-'EOF'
		import ctypes, os, sys, time
		nvml = ctypes.CDLL("libnvidia-ml.so.1")
		cuda = ctypes.CDLL("libcuda.so.1")
		class Memory(ctypes.Structure):
		    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]
		class Process(ctypes.Structure):
		    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("gi", ctypes.c_uint),
		                ("ci", ctypes.c_uint)]
		card, memory, context, address = ctypes.c_void_p(), Memory(), ctypes.c_void_p(), ctypes.c_uint64()
		def ok(result):
		    assert result == 0, result
		def used():
		    ok(nvml.nvmlDeviceGetMemoryInfo(card, ctypes.byref(memory)))
		    return memory.used
		def processes():
		    count, rows = ctypes.c_uint(16), (Process * 16)()
		    ok(nvml.nvmlDeviceGetComputeRunningProcesses_v3(card, ctypes.byref(count), rows))
		    return {row.pid: row.used for row in rows[:count.value]}
		ok(nvml.nvmlInit_v2())
		ok(nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(card)))
		ok(cuda.cuInit(0))
		empty = used()
		assert processes() == {}
		ok(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
		cost = used() - empty
		assert cost > 100 * 2**20, cost
		ok(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(3 * 2**30)))
		assert used() - empty == cost + 3 * 2**30
		assert processes() == {os.getpid(): cost + 3 * 2**30}, processes()
		free, total = ctypes.c_size_t(), ctypes.c_size_t()
		ok(cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)))
		assert free.value == memory.free, (free.value, memory.free)
		ok(cuda.cuCtxDestroy_v2(context))
		assert used() == empty and processes() == {}
		uuid, name = (ctypes.c_ubyte * 16)(), ctypes.create_string_buffer(96)
		ok(cuda.cuDeviceGetUuid_v2(uuid, 0))
		ok(nvml.nvmlDeviceGetUUID(card, name, 96))
		assert name.value.decode().replace("-", "") == "GPU" + bytes(uuid).hex()
		print("one truth")
	EOF
	run -0 with_driver a100-80 python3 "$BATS_TEST_TMPDIR/one_truth.py"
	[ "${lines[-1]}" = "one truth" ]
}
