#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gpupoold as a process, around which somebody does what nobody should: files that are no files, resources of
# others, floods. Nothing is taken from others, nothing hangs, nothing is granted twice.
load ../lib/common
load ../lib/driver
load ../lib/gpupoold
bats_require_minimum_version 1.5.0

setup() {
	needs_node
	setup_node a100-80
}

teardown() {
	teardown_node
}

@test "a resource of somebody else below nvidia.com/ is his, also after gpupoold started again" {
	begin
	nsenter -t "$NAMESPACE" -m --wd="$PWD" -- "$BUILD/test/lib/device_plugin_probe" "$PLUGINS" nvidia.com/hostdev=3 >"$BATS_TEST_TMPDIR/other" 2>&1 3>&- 7>&- 8<&- &
	other=$!
	soon 10 counts_are nvidia.com/hostdev 3 3
	run_pod one nvidia.com/hostdev=1
	node_stop
	node_start
	soon 15 counts_are $GPU 8 8
	sleep 2
	[ "$(counts nvidia.com/hostdev)" = "3 3" ]
	run_pod two nvidia.com/hostdev=1
	kill "$other"
	wait "$other" || true
}

@test "a pipe that nobody writes stands where a file was: nothing hangs, and all is well again by itself" {
	inside mkdir -p /run/state /run/gpupool /run/cdi
	inside sh -c 'echo "version: v1" >/run/config.yaml'
	inside mkfifo /run/state/ledger /run/gpupool/inventory.json /run/cdi/k8s.device-plugin.nvidia.com-gpu.json
	begin --config-file=/run/config.yaml
	says "/run/state/ledger.damaged"
	soon 5 inside test -f /run/cdi/k8s.device-plugin.nvidia.com-gpu.json
	soon 5 inside test -f /run/gpupool/inventory.json
	run_pod one $GPU=1
	inside rm /run/config.yaml
	inside mkfifo /run/config.yaml
	kill -HUP "$DAEMON"
	soon 5 says "the configuration of before stays in force"
	inside rm $PLUGINS/kubelet_internal_checkpoint
	inside mkfifo $PLUGINS/kubelet_internal_checkpoint
	sleep 1
	curl -sf --max-time 5 "http://127.0.0.1:$PORT/healthz"
	run_pod two $GPU=7
	inside rm -f /run/state/ledger /run/cdi/k8s.device-plugin.nvidia.com-gpu.json
	inside mkfifo /run/state/ledger /run/cdi/k8s.device-plugin.nvidia.com-gpu.json
	soon 5 inside test -f /run/cdi/k8s.device-plugin.nvidia.com-gpu.json
	kubelet end two
	soon 10 inside test -f /run/state/ledger
	soon 10 is 1 metric gpupool_devices_held mode=\"whole\"
	soon 5 ready
	run_pod three $GPU=7
}

@test "directories where files should be: said, and over once they are gone" {
	begin
	inside rm /run/cdi/k8s.device-plugin.nvidia.com-gpu.json
	inside mkdir /run/cdi/k8s.device-plugin.nvidia.com-gpu.json
	soon 5 says "k8s.device-plugin.nvidia.com-gpu.json': Is a directory"
	inside rmdir /run/cdi/k8s.device-plugin.nvidia.com-gpu.json
	soon 5 ready
	run_pod one $GPU=1
	inside rm /run/state/ledger
	inside mkdir /run/state/ledger
	admit two main:$GPU=1
	[[ $REPLY == "rejected: "*"Is a directory"* ]]
	inside rmdir /run/state/ledger
	run_pod three $GPU=1
	soon 5 is 2 metric gpupool_devices_held mode=\"whole\"
}

@test "what is no ledger is moved away at the start, and one that cannot be read is not guessed" {
	kubelet start
	inside mkdir -p /run/state/ledger/inside
	node_start
	soon 15 counts_are $GPU 8 8
	says "/run/state/ledger.damaged"
	run_pod one $GPU=3
	soon 5 inside grep -q podUID /run/state/ledger
	node_stop KILL
	# The name is taken by a directory now.
	inside sh -c 'head -c 9000000 /dev/zero >/run/state/ledger'
	node_start
	wait "$DAEMON" && status=0 || status=$?
	[ "$status" = 1 ]
	says "remove /run/state/ledger.damaged"
	inside rm -r /run/state/ledger.damaged
	node_start
	soon 15 is 3 metric gpupool_devices_held mode=\"whole\"
	node_stop KILL
	inside ln -sf ledger /run/state/ledger
	node_start
	wait "$DAEMON" && status=0 || status=$?
	[ "$status" = 1 ]
	says "make it readable"
	inside test -L /run/state/ledger
}

@test "the state directory is removed while it runs: made again with its lock, and one daemon remains" {
	begin
	run_pod one $GPU=2
	inside rm -rf /run/state
	run_pod two $GPU=1
	inside test -s /run/state/ledger
	first=$DAEMON
	node_start --metrics-address=
	wait "$DAEMON" && status=0 || status=$?
	[ "$status" = 1 ]
	says "another gpupoold, process $first runs on this node"
	DAEMON=$first
	node_stop KILL
	node_start
	soon 15 counts_are $GPU 8 8
	soon 5 is 3 metric gpupool_devices_held mode=\"whole\"
}

@test "the state directory is moved away and another daemon has the new one: nothing is granted until that one is gone" {
	begin
	run_pod one $GPU=2
	soon 5 inside grep -q podUID /run/state/ledger
	inside mkdir /run/next
	nsenter -t "$NAMESPACE" -m -- sh -c 'exec 9>/run/next/gpupoold.lock; flock 9; exec sleep 100' 3>&- 7>&- 8<&- &
	other=$!
	soon 5 inside sh -c '! flock -n /run/next/gpupoold.lock true'
	inside mv /run/state /run/away
	inside mv /run/next /run/state
	admit two main:$GPU=1
	[[ $REPLY == "rejected: "*"another gpupoold"* ]]
	scrape readyz | grep -q "waiting for the ledger"
	kill $other
	soon 10 ready
	run_pod three $GPU=6
}

@test "a release that a full disk kept from being written down is written once there is room" {
	inside mkdir -p /run/state
	inside mount -t tmpfs -o size=64k tmpfs /run/state
	begin
	run_pod one $GPU=1
	inside sh -c 'head -c 100000 /dev/zero >/run/state/full 2>/dev/null || true'
	kubelet end one
	soon 15 is 0 metric gpupool_devices_held mode=\"whole\"
	soon 5 says "waiting for the ledger"
	inside rm /run/state/full
	soon 10 ready
	not inside grep -q GPU- /run/state/ledger
}

@test "killed in floods of Allocates: no card has two holders, and what Pods hold is what the ledger has" {
	kubelet start
	local round i held
	for round in $(seq "$(scaled 300)") again; do
		node_start
		soon 15 counts_are $GPU 8 8
		for i in 1 2 3 4 5 6; do kubelet send "p$round-$i" main:$GPU=1 >/dev/null; done
		sleep 0.0$((RANDOM % 10))
		node_stop KILL
		kubelet wait idle >/dev/null
		node_start
		soon 15 counts_are $GPU 8 8
		for i in 1 2 3 4 5 6; do ids_of "p$round-$i" || true; done >"$BATS_TEST_TMPDIR/held"
		sort "$BATS_TEST_TMPDIR/held" | uniq -d | not grep .
		held=$(wc -l <"$BATS_TEST_TMPDIR/held")
		soon 15 is "$held" metric gpupool_devices_held mode=\"whole\"
		echo "round $round: $held held"
		for i in 1 2 3 4 5 6; do kubelet end "p$round-$i" >/dev/null || true; done
		soon 15 is 0 metric gpupool_devices_held mode=\"whole\"
		node_stop KILL
	done
}
