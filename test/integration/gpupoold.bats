#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gpupoold as a process: the simulated driver below it, the fake kubelet before it. What happens to a node while
# Pods run: the daemon is never restarted for it, and no Pod loses a card.
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

# No device has two holders; the Pods named still have as many as they had.
no_double() {
	local pod
	for pod in "$@"; do ids_of "$pod"; done | sort | uniq -d | not grep .
}

@test "eight cards: two Pods get different ones, a third gets none of theirs, and what ends is free again" {
	begin
	run_pod one $GPU=2
	run_pod two $GPU=1
	no_double one two
	# The answer names what the CDI spec has.
	kubelet answer one main $GPU
	for name in $(tr ' ' '\n' <<<"$REPLY" | sed -n 's/^cdi:k8s.device-plugin.nvidia.com\/gpu=//p'); do
		seen /run/cdi/k8s.device-plugin.nvidia.com-gpu.json | jq -e --arg name "$name" \
			'.devices[] | select(.name == $name)' >/dev/null
	done
	[ "$(grep -o cdi: <<<"$REPLY" | wc -l)" = 2 ]
	admit three main:$GPU=6
	[[ $REPLY == "rejected: "* ]]
	soon 3 is 3 metric gpupool_devices_held mode=\"whole\"
	kubelet end one
	soon 8 is 1 metric gpupool_devices_held mode=\"whole\"
	run_pod four $GPU=7
	soon 5 ready
	[ "$(scrape readyz)" = "ok: 8 cards, 1 resource listed" ]
	node_stop
	[ "$NODE_STATUS" = 0 ]
	not says error
	# A stop leaves no socket behind.
	[ "$(inside find $PLUGINS -name 'gpupool*' | wc -l)" = 0 ]
}

@test "the kubelet restarts again and again: listed at once, and who held a card holds it" {
	begin
	run_pod one $GPU=3
	held=$(ids_of one)
	for _ in $(seq "$(scaled 10)") again; do
		kubelet kill
		kubelet start
		soon 5 counts_are $GPU 8 8
		[ "$(ids_of one)" = "$held" ]
	done
	run_pod two $GPU=5
	no_double one two
	[ "$(metric gpupool_streams)" = 1 ]
}

@test "kubelet.sock is removed under a living kubelet: nothing is lost, and nobody registers twice" {
	begin
	before=$(metric gpupool_registrations_total)
	inside rm $PLUGINS/kubelet.sock
	run_pod one $GPU=2
	[ "$(metric gpupool_registrations_total)" = "$before" ]
	[ "$(counts $GPU)" = "8 8" ]
}

@test "the kubelet drops the plugin: registered again once the old stream has ended" {
	begin
	run_pod one $GPU=2
	kubelet disconnect $GPU
	soon 10 counts_are $GPU 8 8
	soon 5 kubelet expect streams 1
	run_pod two $GPU=6
	no_double one two
}

@test "the daemon is killed: the next one lists from what it knows, and what was granted stays granted" {
	begin
	run_pod one $GPU=3
	node_stop KILL
	# The list must not need the driver.
	driver_fault hang
	node_start
	soon 5 kubelet_lists_all
	admit two main:$GPU=6
	[[ $REPLY == "rejected: "* ]]
	driver_fault recover
	soon 10 counts_are $GPU 8 8
	run_pod three $GPU=5
	no_double one three
}
kubelet_lists_all() { [[ "$(counts $GPU)" == "8 "* ]]; }

# strace ends alone; the daemon below it is known by its lock.
kill_traced() {
	local pid
	pid=$(seen /run/state/gpupoold.lock)
	[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = gpupoold ] || return 0
	kill -KILL "$pid" 2>/dev/null || true
	wait_for 5 not kill -0 "$pid"
}

@test "killed at the n-th system call of its state writes: no card has two holders, and none is lost" {
	command -v strace >/dev/null || skip "needs strace"
	kubelet start
	local calls n kills=0 step=$((${GPUPOOL_TEST_SCALE:-1} >= 100 ? 1 : 4))
	# Those of its start come first: lists of files, specs, the inventory; then the ledger's. One worker: strace counts
	# the calls of each thread.
	for calls in fsync rename,renameat,renameat2; do
		for ((n = 2; n <= 26; n += step)); do
			NODE_WRAP=(env UV_THREADPOOL_SIZE=1 strace -f -qq -o /dev/null -e "trace=$calls" -e "inject=$calls:signal=KILL:when=$n")
			node_start
			NODE_WRAP=()
			all=()
			wait_for 5 counts_are $GPU 8 8 || true
			for i in 1 2 3; do
				admit "$calls-$n-$i" main:$GPU=1
				all+=("$calls-$n-$i")
				[ "$REPLY" = running ] || break
			done
			[ "$REPLY" = running ] || kills=$((kills + 1))
			node_stop KILL
			kill_traced
			# What the kubelet thinks it gave is held by the next daemon, too, and nothing else is.
			node_start
			soon 10 counts_are $GPU 8 8
			no_double "${all[@]}"
			soon 15 is "$(for pod in "${all[@]}"; do ids_of "$pod"; done | wc -l)" metric gpupool_devices_held mode=\"whole\"
			for pod in "${all[@]}"; do kubelet end "$pod"; done
			soon 15 is 0 metric gpupool_devices_held mode=\"whole\"
			node_stop
			inside rm -rf /run/gpupool
		done
	done
	echo "killed $kills times"
	[ $kills -ge 3 ]
}

@test "a card is lost and comes back: seven, then eight; who holds it keeps it in the list" {
	begin
	run_pod one $GPU=2
	lost=$(ids_of one | head -1)
	driver_fault lost --card "$lost"
	soon 5 counts_are $GPU 8 7
	[ "$(metric gpupool_card_health "$lost" state=\"lost\")" = 1 ]
	[ "$(metric gpupool_cards state=\"healthy\")" = 7 ]
	[ "$(metric gpupool_xid_errors_total "$lost")" = 1 ]
	[ "$(metric DCGM_FI_DEV_XID_ERRORS "$lost")" = 79 ]
	# What is sick hides nobody, and is given to nobody.
	run_pod two $GPU=6
	no_double one two
	not metric DCGM_FI_DEV_GPU_TEMP "$lost"
	driver_fault recover --card "$lost"
	soon 5 counts_are $GPU 8 8
	[ "$(metric gpupool_card_health "$lost" state=\"healthy\")" = 1 ]
}

@test "an XID of the card stays until a reset, one of a program is only counted" {
	begin
	driver_fault xid --xid 13 --card 1
	soon 5 is 13 metric DCGM_FI_DEV_XID_ERRORS gpu=\"1\"
	[ "$(counts $GPU)" = "8 8" ]
	inside "$SIMDRIVER" set --root "$DRIVER" energy=5000 --card 2
	soon 5 is 5000 metric DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION gpu=\"2\"
	driver_fault xid --xid 62 --card 2
	soon 5 counts_are $GPU 8 7
	# A restart of the daemon is no cure.
	node_stop
	node_start
	soon 10 counts_are $GPU 8 7
	sleep 2
	[ "$(counts $GPU)" = "8 7" ]
	says "XID 62"
	# The counters begin anew: it was reset.
	inside "$SIMDRIVER" set --root "$DRIVER" energy=10 --card 2
	soon 5 counts_are $GPU 8 8
}

@test "XIDs are switched off and on as with NVIDIA's plugin" {
	export DP_DISABLE_HEALTHCHECKS=62 DP_ENABLE_HEALTHCHECKS=
	begin
	driver_fault xid --xid 62 --card 2
	soon 5 is 62 metric DCGM_FI_DEV_XID_ERRORS gpu=\"2\"
	[ "$(counts $GPU)" = "8 8" ]
	node_stop
	export DP_DISABLE_HEALTHCHECKS=all DP_ENABLE_HEALTHCHECKS=13
	node_start
	soon 10 counts_are $GPU 8 8
	soon 5 says_events_again
	driver_fault xid --xid 13 --card 2
	soon 5 counts_are $GPU 8 7
}
says_events_again() { [ "$(seen "$LOG" | grep -c 'are listened to')" -ge 2 ]; }

@test "an XID on a card with ten replicas marks all ten" {
	inside sh -c 'cat >/run/config.yaml' <<-END
		version: v1
		sharing:
		  timeSlicing:
		    resources:
		    - {name: nvidia.com/gpu, replicas: 10}
	END
	kubelet start
	node_start --config-file=/run/config.yaml
	soon 10 counts_are $GPU 80 80
	driver_fault xid --xid 62 --card 0
	soon 5 counts_are $GPU 80 70
	run_pod one $GPU=5
}

@test "NVML hangs for a while: the kubelet is answered all the time, and all is well again afterwards" {
	begin
	run_pod one $GPU=1
	driver_fault hang
	soon 8 counts_are $GPU 8 0
	# The kubelet restarts meanwhile: the list is there at once, from memory.
	kubelet kill
	kubelet start
	soon 3 counts_are $GPU 8 0
	curl -sf --max-time 1 "http://127.0.0.1:$PORT/healthz"
	scrape readyz | grep -q "waiting for the driver"
	[ "$(metric gpupool_waiting step=\"driver\")" = 1 ]
	# Helpers do not pile up.
	[ "$(pgrep -P "$DAEMON" -c gpupool-nvml)" -le 3 ]
	driver_fault recover
	soon 10 counts_are $GPU 8 8
	run_pod two $GPU=7
	no_double one two
}

# From here on nothing is looked at but by the pause between two looks.
after_a_look() {
	soon 15 says "events of 8 cards"
	LOOKS=$(metric gpupool_probes_total)
	soon 15 looks_are 2
	soon 15 looks_are 3
}
looks_are() { [ "$(metric gpupool_probes_total)" -ge $((LOOKS + $1)) ]; }

@test "with nothing configured a driver that hangs is seen within five seconds, and all comes back after a minute" {
	NODE_LOOKS=()
	local lasts=$((${GPUPOOL_TEST_SCALE:-1} >= 100 ? 60 : 12))
	begin
	run_pod one $GPU=1
	after_a_look
	driver_fault hang --for $((lasts * 1000))
	soon 5 counts_are $GPU 8 0
	soon $((lasts + 5)) counts_are $GPU 8 8
	[ "$(pgrep -P "$DAEMON" -c gpupool-nvml)" -le 3 ]
	run_pod two $GPU=7
	no_double one two
	# Once more, as soon as the first time when the looks have not become slow meanwhile.
	after_a_look
	driver_fault hang --card 4
	soon 10 counts_are $GPU 8 7
}

@test "a driver that nobody used takes its time to begin, and is not taken to hang for it" {
	NODE_LOOKS=()
	kubelet start
	driver_fault hang --for 4000
	node_start
	soon 20 counts_are $GPU 8 8
	after_a_look
	# The child that listens to events, which keeps the driver in use, begins anew.
	kill -HUP "$DAEMON"
	driver_fault hang --for 6000
	not wait_for 9 counts_are $GPU 8 0
	not says "no answer"
}

@test "one card hangs: it alone is not given any more" {
	begin
	driver_fault hang --card 4
	soon 8 counts_are $GPU 8 7
	run_pod one $GPU=7
	driver_fault recover --card 4
	soon 10 counts_are $GPU 8 8
}

@test "the driver goes away, has other versions, and comes back: waits and says on which step" {
	begin
	driver_fault missing
	soon 8 counts_are $GPU 0 0
	scrape readyz | grep -q "waiting for the driver"
	soon 3 says "waiting for the driver"
	driver_fault recover
	soon 10 counts_are $GPU 8 8
	driver_fault mismatch
	soon 8 counts_are $GPU 8 0
	soon 3 says "Reload the kernel module or reboot"
	driver_fault recover
	soon 10 counts_are $GPU 8 8
	soon 5 ready
}

waits_for_driver() { scrape readyz | grep -q "waiting for the driver: .*offers no cards"; }

@test "no driver at the start: waits, and lists the cards when it comes; or ends, as the peer, when told to" {
	driver_fault missing
	kubelet start
	node_start --fail-on-init-error=true
	wait "$DAEMON" && status=0 || status=$?
	[ "$status" = 1 ]
	node_start
	soon 5 waits_for_driver
	kill -0 "$DAEMON"
	driver_fault recover
	soon 5 counts_are $GPU 8 8
	soon 5 ready
}

@test "the disk is full: an Allocate is refused with the reason, nothing is lost, and it works again afterwards" {
	inside mkdir -p /run/state
	inside mount -t tmpfs -o size=64k tmpfs /run/state
	begin
	run_pod one $GPU=1
	inside sh -c 'head -c 100000 /dev/zero >/run/state/full 2>/dev/null || true'
	admit two main:$GPU=1
	[[ $REPLY == *"the grant cannot be written down"*"No space left"* ]]
	[ "$(metric gpupool_ledger_failures_total)" -ge 1 ]
	[ "$(metric gpupool_refusals_total class=\"ledger cannot be written\")" = 1 ]
	inside rm /run/state/full
	run_pod three $GPU=7
	no_double one three
	node_stop KILL
	node_start
	soon 10 counts_are $GPU 8 8
	soon 5 is 8 metric gpupool_devices_held mode=\"whole\"
}

@test "the machine boots again: specs are there before the kubelet is told, and the Pods keep their cards" {
	begin
	run_pod one $GPU=2
	held=$(ids_of one)
	node_stop KILL
	kubelet kill
	kubelet reboot
	inside rm -rf /run/gpupool /run/cdi
	# A kubelet admits the Pods that are there once it has started its runtime.
	kubelet set admit_delay_ms 3000
	# The runtime starts later than the daemon.
	kubelet cdi away
	node_start
	kubelet start
	soon 2 counts_are $GPU 8 8
	kubelet cdi on
	inside test -s /run/cdi/k8s.device-plugin.nvidia.com-gpu.json
	[ "$(seen "$LOG" | grep -n 'CDI specs in' | tail -1 | cut -d: -f1)" -lt "$(seen "$LOG" | grep -n 'took the registration' | tail -1 | cut -d: -f1)" ]
	soon 10 is "$held" ids_of one
	is running kubelet state one
	run_pod two $GPU=6
	no_double one two
}

@test "the clock jumps by a year, there and back: nothing is freed, nothing is given twice" {
	local library=/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1
	[ -e $library ] || skip "needs libfaketime"
	inside sh -c 'echo +0 >/run/clock'
	NODE_WRAP=(env LD_PRELOAD=$library FAKETIME_TIMESTAMP_FILE=/run/clock FAKETIME_NO_CACHE=1 DONT_FAKE_MONOTONIC=1
		ASAN_OPTIONS=verify_asan_link_order=0)
	begin
	NODE_WRAP=()
	run_pod one $GPU=2
	for jump in +365d -365d +0; do
		inside sh -c "echo $jump >/run/clock"
		sleep 2
		[ "$(counts $GPU)" = "8 8" ]
		[ "$(metric gpupool_devices_held mode=\"whole\")" = 2 ]
		age=$(metric gpupool_probe_age_seconds)
		[ "${age%.*}" -lt 5 ]
	done
	run_pod two $GPU=6
	no_double one two
}

@test "somebody removes or changes a CDI spec: it is there again within seconds" {
	begin
	local spec=/run/cdi/k8s.device-plugin.nvidia.com-gpu.json
	good=$(seen $spec)
	inside rm $spec
	soon 5 inside test -s $spec
	inside sh -c "echo '{}' >$spec"
	soon 5 is "$good" seen $spec
	[ "$(metric gpupool_cdi_writes_total)" -ge 3 ]
}

@test "SIGHUP: a good configuration counts, a broken one is told and the last good one stays" {
	inside sh -c 'echo "version: v1" >/run/config.yaml'
	begin --config-file=/run/config.yaml
	inside sh -c 'cat >/run/config.yaml' <<-END
		version: v1
		sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 2}]}}
	END
	kill -HUP "$DAEMON"
	soon 8 counts_are $GPU 16 16
	inside sh -c 'echo "version: v7" >/run/config.yaml'
	kill -HUP "$DAEMON"
	soon 5 says "the configuration of before stays in force"
	[ "$(metric gpupool_config_ok)" = 0 ]
	[ "$(metric gpupool_config_reads_total result=\"refused\")" = 1 ]
	[ "$(counts $GPU)" = "16 16" ]
	inside sh -c 'echo "version: v1" >/run/config.yaml'
	kill -HUP "$DAEMON"
	soon 8 counts_are $GPU 8 8
	[ "$(metric gpupool_config_ok)" = 1 ]
}

@test "one instance a node: the second says who runs and ends" {
	begin
	first=$DAEMON
	node_start --metrics-address=
	wait "$DAEMON" && status=0 || status=$?
	[ "$status" = 1 ]
	says "another gpupoold, process $first runs on this node"
	DAEMON=$first
	[ "$(counts $GPU)" = "8 8" ]
}

@test "the runtime says whether CDI is on: that decides how devices are given, and units need it" {
	inside sh -c 'cat >/run/config.yaml' <<-END
		version: v1
		gpupool: {mode: slices}
	END
	kubelet cdi off
	kubelet start
	node_start --config-file=/run/config.yaml
	soon 10 says "the container runtime says that CDI is off"
	soon 5 says "CDI"
	[ "$(counts $UNITS)" = "0 0" ]
	node_stop
	kubelet cdi on
	node_start --config-file=/run/config.yaml
	soon 15 counts_are $UNITS 640 640
	run_pod one $UNITS=12
	run_pod two $UNITS=12
	# Both on one card.
	[ "$(for pod in one two; do ids_of $pod; done | sed 's/::.*//' | sort -u | wc -l)" = 1 ]
	kubelet answer one main $UNITS
	size=${REPLY%% *}
	[ "${size#bytes:}" -lt 512 ]
}

use_card() { # CARD [GROUP]: a process on it, in that cgroup, until unuse_card
	rm -f "$BATS_TEST_TMPDIR/use"
	mkfifo "$BATS_TEST_TMPDIR/use"
	inside env LD_LIBRARY_PATH=$DRIVER/usr/lib/x86_64-linux-gnu sh -c '[ -z "$1" ] || echo $$ >"$1/cgroup.procs"; shift; exec "$@"' \
		- "${2:-}" "$BUILD/test/lib/cuda_probe" --device "$1" alloc $((5 << 30)) hold <"$BATS_TEST_TMPDIR/use" 3>&- 7>&- 8<&- &
	exec 5>"$BATS_TEST_TMPDIR/use"
	soon 15 is_used "$1"
}
pod_group() { # UID: a cgroup of that Pod
	GROUP=/sys/fs/cgroup/pids
	[ -e $GROUP/cgroup.procs ] || GROUP=/sys/fs/cgroup
	GROUP+=/gpupool-test-$$/pod$1
	mkdir -p "$GROUP" || skip "cgroups cannot be made here"
}
number_of() { # the card's, by its UUID
	scrape metrics | sed -n "s/^gpupool_card_health{gpu=\"\([0-9]*\)\",UUID=\"$1\",state=\"healthy\".*/\1/p"
}
unuse_card() { exec 5>&-; }
# A file that comes begins a look.
is_used() { inside sh -c "rm -f $DRIVER/dev/nvidia-hint; : >$DRIVER/dev/nvidia-hint"; [ "$(metric DCGM_FI_DEV_FB_USED gpu=\"$1\")" -ge 5120 ]; }

@test "a process without a grant: no new slice of its card until it ends" {
	inside sh -c 'echo "{version: v1, gpupool: {mode: slices}}" >/run/config.yaml'
	kubelet start
	node_start --config-file=/run/config.yaml
	soon 15 counts_are $UNITS 640 640
	use_card 2
	soon 5 counts_are $UNITS 640 560
	unuse_card
	soon 5 counts_are $UNITS 640 640
	# Of the Pod that holds a slice of the card it is none; on another card it is.
	run_pod one $UNITS=12
	card=$(number_of "$(ids_of one | sed 's/::.*//; q')")
	soon 5 inside grep -q 00000001-0000-4000-8000-000000000000 /run/state/ledger
	pod_group 00000001-0000-4000-8000-000000000000
	use_card "$card" "$GROUP"
	not wait_for 3 counts_are $UNITS 640 560
	unuse_card
	use_card $(((card + 1) % 8)) "$GROUP"
	soon 5 counts_are $UNITS 640 560
	unuse_card
	soon 5 counts_are $UNITS 640 640
	wait_for 5 rmdir -p --ignore-fail-on-non-empty "$GROUP"
}

@test "a Pod that has ended was no use without a grant until the next look at the card" {
	NODE_LOOKS=(--probe-period=1h)
	inside sh -c 'echo "{version: v1, gpupool: {mode: slices}}" >/run/config.yaml'
	kubelet start
	node_start --config-file=/run/config.yaml
	soon 15 counts_are $UNITS 640 640
	run_pod one $UNITS=12
	soon 5 inside grep -q 00000001-0000-4000-8000-000000000000 /run/state/ledger
	pod_group 00000001-0000-4000-8000-000000000000
	use_card "$(number_of "$(ids_of one | sed 's/::.*//; q')")" "$GROUP"
	sleep 1
	LOOKS=$(metric gpupool_probes_total)
	unuse_card
	wait_for 5 rmdir -p --ignore-fail-on-non-empty "$GROUP"
	kubelet end one
	soon 8 is 0 metric gpupool_devices_held mode=\"slices\"
	not looks_are 1
	[ "$(counts $UNITS)" = "640 640" ]
}

@test "in a container: what the host has beside its driver is found where the host's root is seen" {
	kubelet start
	inside mkdir -p /run/host
	inside mount --rbind / /run/host
	inside mount -t tmpfs tmpfs /run/host/tmp
	inside mkdir /run/host/tmp/nvidia-mps
	node_start --driver-root=$DRIVER --driver-root-ctr-path=/run/host$DRIVER
	soon 15 counts_are $GPU 8 8
	seen /run/cdi/k8s.device-plugin.nvidia.com-gpu.json | jq -r '.. | objects | .hostPath // empty' >"$BATS_TEST_TMPDIR/paths"
	grep -qx /tmp/nvidia-mps "$BATS_TEST_TMPDIR/paths"
	grep -qx $DRIVER/dev/nvidia0 "$BATS_TEST_TMPDIR/paths"
	not grep ^/run/host "$BATS_TEST_TMPDIR/paths"
}

@test "without CDI the kubelet's answer has everything" {
	kubelet cdi off
	begin
	run_pod one $GPU=1
	kubelet answer one main $GPU
	grep -q 'device:/run/driver/dev/nvidia[0-7]:' <<<"$REPLY"
	grep -q 'mount:/run/driver/usr/lib/x86_64-linux-gnu/libcuda.so' <<<"$REPLY"
	not grep -q cdi: <<<"$REPLY"
}

@test "MIG: eight whole cards become 24 instances and whole cards again, while a Pod keeps its card" {
	begin --mig-strategy=mixed
	run_pod one $GPU=1
	held=$(ids_of one)
	for card in $(scrape metrics | grep -o '^gpupool_card_health{gpu="[0-9]*",UUID="[^"]*",state="healthy"' | sed 's/.*UUID="\([^"]*\)".*/\1/'); do
		[ "$card" = "$held" ] || inside "$SIMDRIVER" mig --root "$DRIVER" 3g.40gb,2g.20gb,2g.20gb --card "$card"
	done
	soon 8 counts_are nvidia.com/mig-2g.20gb 14 14
	soon 5 counts_are nvidia.com/mig-3g.40gb 7 7
	soon 8 counts_are $GPU 1 1
	run_pod two nvidia.com/mig-2g.20gb=1
	kubelet answer two main nvidia.com/mig-2g.20gb
	name=$(grep -o 'MIG-[^ ]*' <<<"$REPLY")
	seen /run/cdi/k8s.device-plugin.nvidia.com-gpu.json | jq -e --arg name "$name" '.devices[] | select(.name == $name)' >/dev/null
	# An XID of a card marks all of its instances, and nobody else's.
	other=$(scrape metrics | grep -o '^gpupool_card_health{gpu="[0-9]*",UUID="[^"]*"' | sed 's/.*UUID="\([^"]*\)".*/\1/' | sort -u | grep -v "$held" | head -1)
	driver_fault xid --xid 62 --card "$other"
	soon 5 counts_are nvidia.com/mig-2g.20gb 14 12
	soon 5 counts_are nvidia.com/mig-3g.40gb 7 6
	kubelet end two
	soon 10 is 0 metric gpupool_devices_held resource=\"nvidia.com/mig-2g.20gb\" mode=\"mig\"
	for card in $(scrape metrics | grep -o '^gpupool_card_health{gpu="[0-9]*",UUID="[^"]*",state="healthy"' | sed 's/.*UUID="\([^"]*\)".*/\1/'); do
		[ "$card" = "$held" ] || inside "$SIMDRIVER" mig --root "$DRIVER" off --card "$card"
	done
	soon 10 counts_are nvidia.com/mig-3g.40gb 0 0
	soon 10 counts_are $GPU 8 7
	[ "$(ids_of one)" = "$held" ]
}

@test "another plugin takes the resource: it is named, and ours is back once it is gone" {
	begin
	nsenter -t "$NAMESPACE" -m --wd="$PWD" -- "$BUILD/test/lib/device_plugin_probe" "$PLUGINS" $GPU=3 >"$BATS_TEST_TMPDIR/rival" 2>&1 3>&- 7>&- 8<&- &
	rival=$!
	soon 10 counts_are $GPU 3 3
	admit one main:$GPU=1
	soon 10 rivals_named
	says "$rival"
	kill -KILL $rival
	wait $rival || true
	soon 15 counts_are $GPU 8 8
	run_pod two $GPU=2
}
rivals_named() { [ "$(metric gpupool_rivals_total)" -ge 1 ]; }

@test "the driver is upgraded under it: cards are back, specs and metrics are of the new one, and the Pods keep theirs" {
	begin
	run_pod one $GPU=2
	held=$(ids_of one)
	seen /run/cdi/k8s.device-plugin.nvidia.com-gpu.json >"$BATS_TEST_TMPDIR/old"
	metric DCGM_FI_DEV_GPU_TEMP DCGM_FI_DRIVER_VERSION=\"535.183.01\"
	inside "$SIMDRIVER" stop --root "$DRIVER" --remove
	soon 8 counts_are $GPU 8 0
	inside "$SIMDRIVER" start --root "$DRIVER" --profile a100-80 --version 535.216.01 3>&- >/dev/null
	soon 10 counts_are $GPU 8 8
	soon 5 metric DCGM_FI_DEV_GPU_TEMP DCGM_FI_DRIVER_VERSION=\"535.216.01\"
	not grep -q 535.216.01 "$BATS_TEST_TMPDIR/old"
	seen /run/cdi/k8s.device-plugin.nvidia.com-gpu.json | grep -q 535.216.01
	[ "$(ids_of one)" = "$held" ]
	run_pod two $GPU=6
	no_double one two
}

@test "a first start without a runtime: cards are listed at once, an Allocate waits for the decision" {
	kubelet cdi away
	kubelet start
	node_start
	soon 2 counts_are $GPU 8 8
	kubelet send one main:$GPU=1
	sleep 1
	is waiting kubelet state one
	kubelet cdi on
	kubelet wait idle
	is running kubelet state one
	kubelet answer one main $GPU
	grep -q cdi: <<<"$REPLY"
	# The next start knows it, also where nobody says it.
	node_stop
	kubelet cdi away
	node_start
	soon 5 counts_are $GPU 8 8
	run_pod two $GPU=1
	kubelet answer two main $GPU
	grep -q cdi: <<<"$REPLY"
}
