#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# src/abi/*.h against NVIDIA's own headers, where they can be had: numbers, layouts, prototypes.
load ../lib/common
bats_require_minimum_version 1.5.0

get_header() {
	header=$("$ROOT/test/lib/vendor_header" "$@" 2>"$BATS_TEST_TMPDIR/why") || skip "$(cat "$BATS_TEST_TMPDIR/why")"
}

# cuda.h renames functions by macros; this one switches them off.
compare_cuda() {
	"$ROOT/test/lib/abi_compare" "$1" "$header" "$ROOT/test/data/abi/cuda.map" -D__CUDA_API_VERSION_INTERNAL
}

compare_nvml() {
	"$ROOT/test/lib/abi_compare" "$1" "$header" "$ROOT/test/data/abi/nvml.map" -I"$ROOT/src" -DNVML_NO_UNVERSIONED_FUNC_DEFS
}

@test "abi/cuda.h agrees with NVIDIA's cuda.h" {
	get_header nvidia-cuda-runtime-cu12 12.9.79 cuda.h
	compare_cuda "$ROOT/src/abi/cuda.h"
}

@test "abi/nvml.h and abi/nvml_mig.h agree with NVIDIA's nvml.h" {
	get_header nvidia-nvml-dev-cu12 12.9.79 nvml.h
	compare_nvml "$ROOT/src/abi/nvml.h"
	compare_nvml "$ROOT/src/abi/nvml_mig.h"
}

@test "the comparison notices a wrong number, field, parameter and a function that is not there" {
	local wrong=$BATS_TEST_TMPDIR/wrong.h
	get_header nvidia-cuda-runtime-cu12 12.9.79 cuda.h
	sed 's/CUDA_ERROR_OUT_OF_MEMORY, 2/CUDA_ERROR_OUT_OF_MEMORY, 20/' "$ROOT/src/abi/cuda.h" >"$wrong"
	run -1 compare_cuda "$wrong"
	[[ $output == *"CUDA_ERROR_OUT_OF_MEMORY: ours 20, real 2"* ]]
	sed 's/bytes\[16\]/bytes[8]/' "$ROOT/src/abi/cuda.h" >"$wrong"
	run -1 compare_cuda "$wrong"
	[[ $output == *"sizeof struct CUuuid_st: ours 8, real 16"* ]]
	sed 's/cuDeviceTotalMem_v2(size_t \*bytes, int/cuDeviceTotalMem_v2(size_t *bytes, long/' "$ROOT/src/abi/cuda.h" >"$wrong"
	run -1 compare_cuda "$wrong"
	[[ $output == *"cuDeviceTotalMem_v2: ours"* ]]
	sed 's/cuInit(/cuInit_v7(/' "$ROOT/src/abi/cuda.h" >"$wrong"
	run -1 compare_cuda "$wrong"
	[[ $output == *"cuInit_v7: ours"*"absent"* ]]
}
