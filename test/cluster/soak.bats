#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Pods come and go on a real node with cards of every mode: after each one nothing is held twice and nothing that is held is
# missing in the ledger; in the end gpupoold needs no more memory and no more descriptors.
load ../lib/common
load ../lib/driver
load cluster

SHARED=nvidia.com/gpu.shared
MORE_BYTES=16384 # of heap, from WARM_PODS to all
WARM_PODS=160    # each connection of the kubelet's keeps the last 100 streams that ended
LEDGER=/var/lib/gpupool/ledger

setup_file() {
	cluster_start a100-80
	[ -z "${ABSENT:-}" ] || return 0
	node sh -c 'cat >/etc/gpupool/config.yaml' <<-END
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
	# What threads keep ready for the next time counts as in use, and is another number each time.
	cluster service gpupoold env GLIBC_TUNABLES=glibc.malloc.tcache_count=0 "$ROOT/build/release/bin/gpupoold"
}

teardown_file() {
	cluster_stop
}

setup() {
	cluster_needed
	[ -x "$ROOT/build/release/bin/gpupoold" ] || skip "needs build/release: make build"
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED:-}" ] || plugin_said
	[ -n "${ABSENT:-}" ] || pods_end
}

# "POD ID", a line for each device that the kubelet's checkpoint gives to a Pod that runs.
holders() {
	local pods
	pods=$(kubectl get pods -o json | jq '[.items[] | select(.status.phase == "Running") | .metadata.uid]')
	node cat $CHECKPOINT | jq -r --argjson pods "$pods" '.Data.PodDeviceEntries[] | select(.PodUID | IN($pods[])) |
		"\(.PodUID) \(.DeviceIDs[][])"'
}

# Of lines POD ID: a card, or an instance of it, and a part of it; one part twice.
twice() {
	awk '{ card = $2; sub("::.*", "", card); if ($2 in seen) print "both have", $2; seen[$2] = 1
		if (card == $2) whole[card] = 1; else part[card] = 1 }
		END { for (card in whole) if (card in part) print "a whole and a part of", card }'
}

nothing_twice_nothing_lost() {
	local ledger id
	holders >"$BATS_TEST_TMPDIR/holders"
	ledger=$(node cat $LEDGER)
	[ -z "$(twice <"$BATS_TEST_TMPDIR/holders")" ] || { twice <"$BATS_TEST_TMPDIR/holders" >&2; return 1; }
	while read -r _ id; do
		[[ $ledger == *"\"$id\""* ]] || { echo "the ledger has not $id" >&2; return 1; }
	done <"$BATS_TEST_TMPDIR/holders"
	[ -s "$BATS_TEST_TMPDIR/holders" ]
}

metrics() {
	node curl -sS --max-time 5 http://127.0.0.1:9400/metrics
}

nobody_holds() {
	node head -n 1 $LEDGER | grep -q '"entries":0'
}

measure() { # HEAP and DESCRIPTORS: the least of some looks, since a probe may be under way
	local value pid
	pods_end
	wait_for 30 nobody_holds
	pid=$(node cat /var/lib/gpupool/gpupoold.lock)
	HEAP= DESCRIPTORS=
	for _ in 1 2 3 4 5 6 7 8; do
		sleep 0.4
		value=$(metrics | awk '$1 == "gpupool_heap_in_use_bytes" { printf "%d", $2 }')
		[ "${HEAP:-$value}" -lt "$value" ] || HEAP=$value
		value=$(node ls "/proc/$pid/fd" | wc -l)
		[ "${DESCRIPTORS:-$value}" -lt "$value" ] || DESCRIPTORS=$value
	done
}

requests=("$(gpus 1)" "$(gpus 12 $MEMORY)" "$(gpus 1 $SHARED)" "$(gpus 2)" "$(gpus 40 $MEMORY)" "$(gpus 2 $SHARED)")

pods() { # FROM TO: two that were there before stay beside each
	local i
	for ((i = $1; i <= $2; i++)); do
		pod_start "pod-$i" "${requests[i % ${#requests[@]}]}"
		nothing_twice_nothing_lost
		running+=("pod-$i")
		if [ ${#running[@]} -gt 2 ]; then
			pod_end "${running[0]}"
			running=("${running[@]:1}")
		fi
	done
}

@test "500 Pods of every kind: nothing is held twice, nothing is lost, no memory and no descriptor is kept" {
	local count first heap descriptors running=()
	count=$(scaled 500)
	first=$((count > WARM_PODS ? WARM_PODS : (count + 9) / 10))
	wait_for 20 node_has $GPU 4 4
	wait_for 10 node_has $SHARED 8 8
	wait_for 10 node_has $MEMORY 160 160
	pods 1 $first
	measure
	heap=$HEAP descriptors=$DESCRIPTORS running=()
	pods $((first + 1)) "$count"
	measure
	echo "# $count Pods; heap in use $heap bytes after $first, $HEAP after all; descriptors $descriptors, $DESCRIPTORS" | tee /dev/fd/3
	[ "$DESCRIPTORS" = "$descriptors" ]
	[ "$HEAP" -gt 0 ]
	if [ "$count" -gt $WARM_PODS ]; then
		[ $((HEAP - heap)) -lt $MORE_BYTES ]
		[ $((heap - HEAP)) -lt $MORE_BYTES ]
	fi
}
