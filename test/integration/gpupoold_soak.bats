#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gpupoold as a process through thousands of Pods on cards of every mode: after each one nothing is held twice and
# nothing that is held is missing in the ledger; in the end it needs no more memory and no more descriptors.
load ../lib/common
load ../lib/driver
load ../lib/gpupoold
bats_require_minimum_version 1.5.0

SHARED=nvidia.com/gpu.shared
MORE_BYTES=16384 # of heap, from a tenth of the Pods to all
# So many at least are there before: each connection of the kubelet's keeps the last 100 streams that ended, since a frame
# for one of those is another mistake than one for a stream that never was.
WARM_PODS=160

setup() {
	needs_node
	setup_node a100-80
	inside sh -c 'cat >/run/config.yaml' <<-END
		version: v1
		sharing:
		  timeSlicing:
		    resources:
		    - {name: nvidia.com/gpu, rename: $SHARED, replicas: 4, devices: [4, 5]}
		gpupool:
		  cards:
		  - {index: 6, mode: slices}
		  - {index: 7, mode: slices}
	END
}

teardown() {
	teardown_node
}

# What the next Pod asks for; of all together somewhat more than the node has, so that some are rejected.
requests=("main:$GPU=1" "main:$UNITS=12" "main:$SHARED=1" "main:$GPU=2" "main:$UNITS=40" "main:$SHARED=2"
	"main:$UNITS=3 second:$GPU=1" "init:first:$SHARED=1 main:$UNITS=7")

end_one() { # of those that run, any
	local at=$((RANDOM % ${#running[@]}))
	kubelet end "${running[at]}" >/dev/null
	running[at]=${running[-1]}
	unset 'running[-1]'
}

pods() { # FROM TO
	local i
	for ((i = $1; i <= $2; i++)); do
		while [ ${#running[@]} -gt $((3 + RANDOM % 6)) ]; do end_one; done
		admit "pod-$i" ${requests[RANDOM % ${#requests[@]}]} >/dev/null
		case $REPLY in
		running) running+=("pod-$i") ran=$((ran + 1)) ;;
		rejected*) kubelet end "pod-$i" >/dev/null ;;
		*) echo "pod-$i: $REPLY"; return 1 ;;
		esac
		kubelet check /run/state/ledger >/dev/null || { echo "after pod-$i: $REPLY"; return 1; }
	done
}

held_by_nobody() {
	local mode
	for mode in whole slices replicas; do
		is 0 metric gpupool_devices_held "mode=\"$mode\"" || return 1
	done
}

# HEAP and DESCRIPTORS when nobody holds anything: the least of some looks, since a probe may be under way.
measure() {
	local value
	while [ ${#running[@]} -gt 0 ]; do end_one; done
	soon 20 held_by_nobody
	HEAP= DESCRIPTORS=
	for _ in $(seq 12); do
		sleep 0.23
		value=$(metric gpupool_heap_in_use_bytes)
		[ "${HEAP:-$value}" -lt "$value" ] || HEAP=$value
		value=$(ls "/proc/$DAEMON/fd" | wc -l)
		[ "${DESCRIPTORS:-$value}" -lt "$value" ] || DESCRIPTORS=$value
	done
	echo "heap in use $HEAP bytes, $DESCRIPTORS descriptors"
}

soak() { # PODS: of the programs in $BIN
	local count=$1 first heap descriptors ran=0 running=()
	first=$((count / 10 < WARM_PODS ? WARM_PODS : count / 10))
	[ "$count" -ge $((first + 100)) ] || count=$((first + 100))
	RANDOM=${GPUPOOL_TEST_SEED:-1}
	kubelet start
	node_start --config-file=/run/config.yaml
	soon 15 counts_are $GPU 4 4
	soon 5 counts_are $SHARED 8 8
	soon 5 counts_are $UNITS 160 160
	pods 1 $first
	# A ledger that lacks what is held would be seen.
	not kubelet check /run/config.yaml
	[[ $REPLY == *"and the ledger has it not" ]]
	measure
	heap=$HEAP descriptors=$DESCRIPTORS
	pods $((first + 1)) "$count"
	measure
	echo "# $count Pods, $ran ran; heap in use $heap bytes after $first, $HEAP after all; descriptors $descriptors, $DESCRIPTORS" |
		tee "/dev/fd/3"
	[ $ran -gt $((count / 2)) ]
	[ $((HEAP - heap)) -lt $MORE_BYTES ]
	[ $((heap - HEAP)) -lt $MORE_BYTES ]
	[ "$DESCRIPTORS" = "$descriptors" ]
	node_stop
	[ "$NODE_STATUS" = 0 ]
	not says error
}

@test "10,000 Pods of every kind: nothing is held twice, nothing is lost, no memory and no descriptor is kept" {
	[ -x "$ROOT/build/release/bin/gpupoold" ] || skip "needs build/release: make build"
	# What threads keep ready for the next time counts as in use, and is another number each time.
	NODE_WRAP=(env GLIBC_TUNABLES=glibc.malloc.tcache_count=0)
	BIN=$ROOT/build/release/bin soak "$(scaled 10000)"
}

@test "the same with the sanitizers' programs" {
	soak "$(scaled 1000)"
}
