#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Each key of gpupoold's configuration at a running daemon: a row with two values, and what is seen of each. A row is
#   KEY | WITH | VALUE | SEEN | VALUE | SEEN
# WITH is what else the file says, JSON as the values are. The name of the function that has the rows says what is
# looked at, see_NAME does it. The last test compares the rows with the keys that there are.
# How to add a key: a row where its effect shows, or a line in idle_rows.
load ../lib/common
load ../lib/driver
load ../lib/gpupoold
bats_require_minimum_version 1.5.0

setup() {
	needs_node
	DAEMON=
	PODS=0
}

teardown() {
	[ -z "${NAMESPACE:-}" ] || teardown_node
}

# What gpupoold sends: no flag and no variable names anything, the file alone counts.
base() {
	jq -n --arg port $PORT '{version: "v1",
		flags: {nvidiaDriverRoot: "/run/driver"},
		gpupool: {probePeriod: "1s", probeTimeout: "2s", metricsAddress: "127.0.0.1:\($port)", paths: {
			kubeletSocket: "/run/kubelet/device-plugins/kubelet.sock",
			podResourcesSocket: "/run/kubelet/pod-resources/kubelet.sock", criSocket: "/run/cri/cri.sock",
			stateDirectory: "/run/state", cdiDirectory: "/run/cdi"}}}'
}

write_config() { # WITH KEY VALUE: KEY may be empty
	base | jq --argjson with "$1" --arg key "$2" --argjson value "${3:-null}" \
		'. * $with | if $key == "" then . else 
			setpath($key | split(".") | map(tonumber? // .); $value) end' \
		>"/proc/$NAMESPACE/root/run/config.json"
}

daemon_start() { # [ARGS...]
	nsenter -t "$NAMESPACE" -m --wd="$PWD" -- env -u GPUPOOL_DRIVER_ROOT NODE_NAME=node-1 "${NODE_WRAP[@]}" \
		"$BIN/gpupoold" --config-file=/run/config.json "$@" 2>>"/proc/$NAMESPACE/root$LOG" 3>&- 7>&- 8<&- &
	DAEMON=$!
}

daemon_stop() {
	[ -z "$DAEMON" ] || node_stop
	DAEMON=
}

reads() { scrape metrics | sed -n 's/^gpupool_config_reads_total{result="good"} //p'; }

# The running daemon reads it, or one starts.
configure() { # WITH KEY VALUE
	local before
	write_config "$@"
	if [ -n "$DAEMON" ]; then
		before=$(reads)
		kill -HUP "$DAEMON"
		soon 5 is $((before + 1)) reads
	else
		daemon_start
		soon 10 kubelet_knows
	fi
}
kubelet_knows() { [ "$(kubelet streams)" != 0 ]; }

# rows NAME: each row of NAME_rows is seen twice.
check_rows() {
	local key with first one second two wrong=0 row
	while IFS= read -r row; do
		IFS=$'\t' read -r key with first one second two <<<"${row// | /$'\t'}"
		[ "$one" != "$two" ] || { echo "$key: both values are to show the same" >&2; wrong=1; }
		check_value "$1" "$key" "$with" "$first" "$one" || wrong=1
		check_value "$1" "$key" "$with" "$second" "$two" || wrong=1
	done < <("$1_rows")
	[ $wrong = 0 ]
}

check_value() { # NAME KEY WITH VALUE SEEN
	"see_$1" "$3" "$2" "$4" "$5"
	[ "$SEEN" = "$5" ] || {
		echo "$2: $4 with $3" >&2
		diff <(tr ' ' '\n' <<<"$5") <(tr ' ' '\n' <<<"$SEEN") | sed -n 's/^</wanted:/p; s/^>/seen:  /p' >&2
		return 1
	}
}

# ---- Allocate's answer: for one card, number 3 ----

answer_rows() {
	local cards='"gpupool": {"mode": "excluded", "cards": [{"index": 3, "mode": "whole"}]}'
	local variable='"flags": {"plugin": {"deviceListStrategy": ["envvar"]}}'
	local cdi='"flags": {"plugin": {"deviceListStrategy": ["cdi-cri"]}}'
	local both='"flags": {"plugin": {"deviceListStrategy": ["cdi-cri", "envvar"]}}'
	local annotations='"flags": {"plugin": {"deviceListStrategy": ["cdi-annotations"]}}'
	local control='device=/run/driver/dev/nvidiactl device=/run/driver/dev/nvidia-uvm device=/run/driver/dev/nvidia-uvm-tools device=/run/driver/dev/nvidia-modeset'
	local list=flags.plugin.deviceListStrategy volumes=/var/run/nvidia-container-devices
	cat <<-END
		$list | {$cards} | ["envvar"] | env=NVIDIA_VISIBLE_DEVICES=UUID | ["volume-mounts"] | env=NVIDIA_VISIBLE_DEVICES=$volumes mount=/dev/null:$volumes/UUID
		$list | {$cards} | ["cdi-annotations"] | annotation=cdi.k8s.io/nvidia-device-plugin_N=k8s.device-plugin.nvidia.com/gpu=UUID | ["cdi-cri"] | cdi=k8s.device-plugin.nvidia.com/gpu=UUID
		$list | {$cards} | ["cdi-annotations", "cdi-cri"] | cdi=k8s.device-plugin.nvidia.com/gpu=UUID annotation=cdi.k8s.io/nvidia-device-plugin_N=k8s.device-plugin.nvidia.com/gpu=UUID | ["cdi-cri", "envvar"] | cdi=k8s.device-plugin.nvidia.com/gpu=UUID env=NVIDIA_VISIBLE_DEVICES=UUID
		$list | {$cards} | ["auto"] | cdi=k8s.device-plugin.nvidia.com/gpu=UUID | ["kubelet"] | env=NVIDIA_VISIBLE_DEVICES=void env=TRITON_LIBCUDA_PATH=/usr/lib64 device=/run/driver/dev/nvidia3 $control FILES
		flags.plugin.deviceIDStrategy | {$cards, $variable} | "uuid" | env=NVIDIA_VISIBLE_DEVICES=UUID | "index" | env=NVIDIA_VISIBLE_DEVICES=3
		flags.plugin.deviceIDStrategy | {$cards, $both} | "uuid" | cdi=k8s.device-plugin.nvidia.com/gpu=UUID env=NVIDIA_VISIBLE_DEVICES=UUID | "index" | cdi=k8s.device-plugin.nvidia.com/gpu=UUID env=NVIDIA_VISIBLE_DEVICES=3
		flags.plugin.deviceIDStrategy | {$cards, ${variable/envvar/volume-mounts}} | "uuid" | env=NVIDIA_VISIBLE_DEVICES=$volumes mount=/dev/null:$volumes/UUID | "index" | env=NVIDIA_VISIBLE_DEVICES=$volumes mount=/dev/null:$volumes/3
		flags.plugin.passDeviceSpecs | {$cards, $variable} | false | env=NVIDIA_VISIBLE_DEVICES=UUID | true | env=NVIDIA_VISIBLE_DEVICES=UUID $control device=/run/driver/dev/nvidia3
		flags.gdrcopyEnabled | {$cards, $cdi} | false | cdi=k8s.device-plugin.nvidia.com/gpu=UUID | true | cdi=k8s.device-plugin.nvidia.com/gpu=UUID cdi=k8s.device-plugin.nvidia.com/gdrcopy=all env=NVIDIA_GDRCOPY=enabled
		flags.gdsEnabled | {$cards, $annotations} | false | annotation=cdi.k8s.io/nvidia-device-plugin_N=k8s.device-plugin.nvidia.com/gpu=UUID | true | env=NVIDIA_GDS=enabled annotation=cdi.k8s.io/nvidia-device-plugin_N=k8s.device-plugin.nvidia.com/gpu=UUID,k8s.device-plugin.nvidia.com/gds=all
		flags.mofedEnabled | {$cards, $variable} | false | env=NVIDIA_VISIBLE_DEVICES=UUID | true | env=NVIDIA_MOFED=enabled env=NVIDIA_VISIBLE_DEVICES=UUID
		flags.plugin.cdiAnnotationPrefix | {$cards, $annotations} | "cdi.k8s.io/" | annotation=cdi.k8s.io/nvidia-device-plugin_N=k8s.device-plugin.nvidia.com/gpu=UUID | "other.org/" | annotation=other.org/nvidia-device-plugin_N=k8s.device-plugin.nvidia.com/gpu=UUID
		imex.channelIDs | {$cards, $cdi} | [] | cdi=k8s.device-plugin.nvidia.com/gpu=UUID | [0] | cdi=k8s.device-plugin.nvidia.com/gpu=UUID cdi=k8s.device-plugin.nvidia.com/imex-channel=0
		imex.channelIDs | {$cards, $variable} | [] | env=NVIDIA_VISIBLE_DEVICES=UUID | [0] | env=NVIDIA_VISIBLE_DEVICES=UUID env=NVIDIA_IMEX_CHANNELS=0
	END
}

# The channel's node is not there: left out, or named, so that the container fails and says so.
missing_rows() {
	cat <<-'END'
		imex.required | {"imex": {"channelIDs": [0]}, "flags": {"plugin": {"deviceListStrategy": ["cdi-cri"]}}} | false | cdi=k8s.device-plugin.nvidia.com/gpu=UUID | true | cdi=k8s.device-plugin.nvidia.com/gpu=UUID cdi=k8s.device-plugin.nvidia.com/imex-channel=0
	END
}
see_missing() { see_answer "$@"; }

see_answer() {
	local pod=answer-$((PODS += 1))
	configure "$1" "$2" "$3"
	run_pod $pod $GPU=1
	kubelet answer $pod main $GPU >/dev/null
	SEEN=$(answer_words | paste -sd' ')
	kubelet end $pod
}

# The answer in REPLY, a word a line, as the rows have it: CDI devices first; files of the driver are one word.
answer_words() {
	tr ' ' '\n' <<<"$REPLY" |
		sed -E "/^bytes:/d; s/^(device:[^:]*):.*/\1/; s/^(mount:.*):r[ow]$/\1/; s/^(cdi|env|annotation|device|mount):/\1=/
			s/$UUID/UUID/; s/_[0-9a-f]{16}=/_N=/" |
		awk '/^mount=\/run/ { files = 1; next } { rank = index("cdi env ann dev mou", substr($0, 1, 3)); print rank, NR, $0 }
			END { if (files) print 99, 0, "FILES" }' | sort -n -k1,1 -k2,2 | cut -d' ' -f3-
}

# Where the host has the card's node, by each way to give it; it is a look at the machine that finds it.
root_rows() {
	local cards='"gpupool": {"mode": "excluded", "cards": [{"index": 3, "mode": "whole"}]}' strategy
	for strategy in '"deviceListStrategy": ["envvar"], "passDeviceSpecs": true' '"deviceListStrategy": ["kubelet"]' \
		'"deviceListStrategy": ["cdi-cri"]'; do
		echo "flags.nvidiaDevRoot | {$cards, \"flags\": {\"plugin\": {$strategy}}} | \"\" | /run/driver/dev/nvidia3 | \"/run/elsewhere\" | /run/elsewhere/dev/nvidia3"
	done
}

see_root() {
	local pod=root-$((PODS += 1)) looks
	configure "$1" "$2" "$3"
	looks=$(metric gpupool_probes_total)
	soon 8 looked_since "$looks"
	run_pod $pod $GPU=1
	if [[ $1 == *cdi-cri* ]]; then
		SEEN=$(seen /run/cdi/k8s.device-plugin.nvidia.com-gpu.json |
			jq -r '[.. | objects | .hostPath // empty | select(endswith("/dev/nvidia3"))] | unique | join(" ")')
	else
		SEEN=$(kubelet answer $pod main $GPU | tr ' ' '\n' | sed -n 's/^device:\([^:]*nvidia3\):.*/\1/p')
	fi
	kubelet end $pod
}
looked_since() { [ "$(metric gpupool_probes_total)" -ge $(($1 + 2)) ]; }

node_of_extras() {
	setup_node a100-80
	inside mkdir -p $DRIVER/dev/infiniband $DRIVER/dev/nvidia-caps-imex-channels
	inside mknod $DRIVER/dev/gdrdrv c 236 0
	inside mknod $DRIVER/dev/nvidia-fs0 c 237 0
	inside mknod $DRIVER/dev/infiniband/uverbs0 c 231 192
	inside mknod $DRIVER/dev/nvidia-caps-imex-channels/channel0 c 238 0
	kubelet start
}

@test "what Allocate answers, by strategy and by what is to be in it" {
	node_of_extras
	configure '{"gpupool": {"mode": "excluded", "cards": [{"index": 3, "mode": "whole"}]}}'
	soon 8 counts_are $GPU 1 1
	UUID=$(seen /run/gpupool/inventory.json | grep -o 'GPU-[0-9a-f-]*' | awk '!there[$0]++' | sed -n 4p)
	check_rows answer
	# The kubelet's answer has the nodes anyway: each stands once.
	write_config '{}'
	see_answer '{"flags": {"plugin": {"passDeviceSpecs": true}}, "gpupool": {"mode": "excluded", "cards": [{"index": 3, "mode": "whole"}]}}' \
		flags.plugin.deviceListStrategy '["kubelet"]'
	tr ' ' '\n' <<<"$SEEN" | grep -q device=/run/driver/dev/nvidia3
	tr ' ' '\n' <<<"$SEEN" | sort | uniq -d | not grep .
	check_rows root
}

# ---- what is listed ----

list_rows() {
	local two='"sharing": {"timeSlicing": {"resources": [{"name": "nvidia.com/gpu", "replicas": 2}]}}'
	cat <<-END
		flags.migStrategy | {} | "none" | gpu=8 | "mixed" | gpu=7 mig-3g.40gb=1 mig-2g.20gb=1
		sharing.timeSlicing.resources | {} | [{"name": "nvidia.com/gpu", "replicas": 2}] | gpu=16 | [{"name": "gpu", "replicas": 3}] | gpu=24
		sharing.timeSlicing.resources.0.devices | {$two} | "all" | gpu=16 | [0, 1] | gpu=10
		sharing.timeSlicing.resources.0.rename | {$two} | "nvidia.com/gpu" | gpu=16 | "nvidia.com/part" | part=16
		sharing.timeSlicing.renameByDefault | {$two} | true | gpu.shared=16 | false | gpu=16
		gpupool.cards | {} | [{"index": 0, "mode": "excluded"}] | gpu=7 | [{"model": "*", "mode": "slices"}] | units=560
		gpupool.mode | {} | "excluded" | nothing | "whole" | gpu=8
		flags.plugin.containerDriverRoot | {"flags": {"nvidiaDriverRoot": "/run/nothing"}} | "/run/nobody" | nothing | "/run/driver" | gpu=8
		flags.nvidiaDriverRoot | {} | "/run/nothing" | nothing | "/run/driver" | gpu=8
		gpupool.paths.nvmlHelper | {} | "/bin/false" | nothing | "" | gpu=8
		flags.deviceDiscoveryStrategy | {} | "nvml" | gpu=8 | "tegra" | refused
	END
}

all_counts() {
	local resource count out=
	[ "$(metric gpupool_config_ok)" = 1 ] || { echo refused; return; }
	for resource in gpu gpu.shared part mig-3g.40gb mig-2g.20gb; do
		count=$(counts nvidia.com/$resource)
		[ "${count#* }" = 0 ] || out+=" $resource=${count#* }"
	done
	count=$(counts $UNITS)
	[ "${count#* }" = 0 ] || out+=" units=${count#* }"
	[ -n "$out" ] || out=nothing
	echo "${out# }"
}

see_list() {
	write_config "$1" "$2" "$3"
	kill -HUP "$DAEMON"
	wait_for 8 is "$4" all_counts || true
	SEEN=$ACTUAL
}

# ---- which Pod gets what ----

pod_rows() {
	local two='"sharing": {"timeSlicing": {"resources": [{"name": "nvidia.com/gpu", "replicas": 2}]}}'
	cat <<-END
		flags.plugin.sharedDevicesAllocationPolicy | {$two} | "distributed" | 2 cards, two running | "packed" | 1 cards, two running
		sharing.timeSlicing.failRequestsGreaterThanOne | {$two} | false | 2 cards, two running | true | 2 cards, two rejected
	END
}

see_pod() {
	local first=pod-$((PODS += 1)) second=pod-$((PODS += 1)) third=pod-$((PODS += 1))
	configure "$1" "$2" "$3"
	soon 8 counts_are $GPU 16 16
	run_pod $first $GPU=1
	run_pod $second $GPU=1
	SEEN=$(for pod in $first $second; do ids_of $pod; done | grep -o 'GPU-[0-9a-f-]*' | sort -u | wc -l)
	admit $third main:$GPU=2
	SEEN+=" cards, two ${REPLY%%[: ]*}"
	for pod in $first $second $third; do kubelet end $pod; done
}

# ---- XIDs ----

xid_rows() {
	cat <<-END
		gpupool.health.disableXIDs | {} | [] | sick | [62] | fine
		gpupool.health.enableXIDs | {"gpupool": {"health": {"disableXIDs": [62]}}} | [] | fine | [62] | sick
	END
}

# A card for each value: what was told of one stays.
see_xid() {
	configure "$1" "$2" "$3"
	driver_fault xid --xid 62 --card $((CARD += 1))
	soon 5 is 62 metric DCGM_FI_DEV_XID_ERRORS gpu=\"$CARD\"
	[ "$4" = fine ] || wait_for 5 is 1 metric gpupool_card_health gpu=\"$CARD\" state=\"suspect\" || true
	SEEN=fine
	is 0 metric gpupool_card_health gpu=\"$CARD\" state=\"suspect\" || SEEN=sick
}

@test "what is listed" {
	setup_node a100-80
	kubelet start
	inside "$SIMDRIVER" mig --root "$DRIVER" 3g.40gb,2g.20gb --card 7
	configure '{}'
	soon 8 counts_are $GPU 8 8
	check_rows list
	# A configuration that was refused is none: what was good before counts.
	is 0 metric gpupool_config_ok
}

@test "which Pod gets what, which XIDs count" {
	setup_node a100-80
	kubelet start
	configure '{}'
	soon 8 counts_are $GPU 8 8
	CARD=0
	check_rows pod
	check_rows xid
	UUID='GPU-[0-9a-f-]*'
	check_rows missing
}

# ---- at the start ----

start_rows() {
	cat <<-END
		flags.failOnInitError | {"flags": {"nvidiaDriverRoot": "/run/nothing"}} | true | ends | false | stays
		sharing.mps | {} | {"resources": [{"name": "gpu", "replicas": 2}]} | ends | null | lists
		gpupool.paths.kubeletSocket | {} | "" | no_kubelet | "$PLUGINS/kubelet.sock" | lists
		gpupool.metricsAddress | {} | "" | no_metrics | "127.0.0.1:$PORT" | metrics
		gpupool.paths.criSocket | {} | "/run/nobody.sock" | no_runtime | "/run/cri/cri.sock" | asks_runtime
		gpupool.paths.stateDirectory | {} | "/run/x1" | file /run/x1 gpupoold.lock | "/run/x2" | file /run/x2 gpupoold.lock
		gpupool.paths.runDirectory | {} | "/run/x3" | file /run/x3 inventory.json | "/run/x4" | file /run/x4 inventory.json
		gpupool.paths.cdiDirectory | {} | "/run/x5" | file /run/x5 k8s.device-plugin.nvidia.com-gpu.json | "/run/x6" | file /run/x6 k8s.device-plugin.nvidia.com-gpu.json
		gpupool.probePeriod | {} | "1s" | looks_again | "1h" | looks_no_more
		gpupool.probeTimeout | {} | "300ms" | waits_for 0.3 | "1500ms" | waits_for 1.5
	END
}

ended() { not kill -0 "$DAEMON"; }
ends() { wait_for 5 ended; local status=0; wait "$DAEMON" || status=$?; DAEMON=; [ $status = 1 ]; }
stays() { wait_for 5 says "waiting for the driver" && kill -0 "$DAEMON"; }
lists() { wait_for 8 counts_are $GPU 8 8; }
no_kubelet() { wait_for 5 metric gpupool_card_health gpu=\"0\" && is 0 kubelet streams; }
metrics() { wait_for 5 metric gpupool_config_ok; }
no_metrics() { lists && not scrape metrics 2>/dev/null; }
asks_runtime() { wait_for 5 says "devices are given by CDI"; }
no_runtime() { lists && not says "devices are given by CDI"; }
file() { wait_for 5 inside test -e "$1/$2"; }
# Those of the start are over: what events begin is looked at once more.
first_looks() { wait_for 20 says "events of 8 cards" && sleep 3; }
looks() { metric gpupool_probes_total; }
looks_again() { local before; lists && first_looks && before=$(looks) && wait_for 30 looked_since "$before"; }
looks_no_more() { local before; lists && first_looks && before=$(looks) && sleep 8 && is "$before" looks; }
waits_for() { lists && driver_fault hang && wait_for 20 says "the driver gave no answer in $1 s"; }

see_start() { # WITH KEY VALUE SEEN
	inside sh -c ': >'$LOG
	write_config "$1" "$2" "$3"
	daemon_start
	SEEN=not\ $4
	if $4; then SEEN=$4; fi
	driver_fault recover
	daemon_stop
	inside rm -rf /run/state /run/gpupool
}

@test "what shows at the start: paths, addresses, periods, and whether it runs at all" {
	setup_node a100-80
	kubelet start
	check_rows start
}

@test "command line before environment before file" {
	node_of_extras
	write_config '{"flags": {"plugin": {"passDeviceSpecs": true, "deviceIDStrategy": "uuid", "deviceListStrategy": ["kubelet"]}}}'
	NODE_WRAP=(DEVICE_ID_STRATEGY=index DEVICE_LIST_STRATEGY=volume-mounts)
	daemon_start --device-list-strategy=envvar
	NODE_WRAP=()
	soon 8 counts_are $GPU 8 8
	run_pod one $GPU=8
	kubelet answer one main $GPU >/dev/null
	# Of the file: the nodes; of the environment: the indexes; of the command line: that a variable has them.
	UUID=none answer_words >"$BATS_TEST_TMPDIR/answer"
	[ "$(grep -c '^device=/run/driver/dev/nvidia[0-9]$' "$BATS_TEST_TMPDIR/answer")" = 8 ]
	grep -qx env=NVIDIA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 "$BATS_TEST_TMPDIR/answer"
	not grep ^mount= "$BATS_TEST_TMPDIR/answer"
}

# ---- is there a row of each ----

# No effect by design: a note says it. (KEY VALUE)
idle_rows() {
	cat <<-'END'
		flags.mpsRoot "/run/mps"
		flags.plugin.nvidiaCTKPath "/bin/hook"
		gpupool.ignored.cdiFeatureFlags ["one"]
		gpupool.ignored.cdiDisableHooks ["all"]
		flags.useNodeFeatureAPI false
		flags.gfd.oneshot true
		flags.gfd.noTimestamp true
		flags.gfd.sleepInterval "5s"
		flags.gfd.outputFile "/run/gfd"
		flags.gfd.machineTypeFile "/run/machine"
		resources.gpus [{"pattern":"*","name":"gpu"}]
		resources.mig [{"pattern":"*","name":"gpu"}]
	END
}

# Shown elsewhere: gpupoold.bats reads --config-file; gpupoold_metrics.bats has names of Pods, which only the socket of
# pod-resources tells.
elsewhere() { printf '%s\n' config-file gpupool.paths.podResourcesSocket; }

# All keys: those of --check, and those of the page that are more than one value.
all_keys() {
	"$BIN/gpupoold" --config-file= --check --json | jq -r '.sources | keys[]'
	awk -F'|' '/^## What is more than one value/ { on = 1 } /^## On a node/ { on = 0 }
		on && /^\| `/ { print $2 }' "$ROOT/docs/gpupoold.md" | grep -o '`[^`]*`' | tr -d '`' |
		sed 's/^\./sharing.timeSlicing.resources[]./'
}

rows_of_keys() {
	{ answer_rows; root_rows; missing_rows; list_rows; pod_rows; xid_rows; start_rows; } | sed 's/ | .*//'
	idle_rows | sed 's/ .*//'
	elsewhere
}

plain() { sed 's/\[\]//; s/\.0\././' | sort -u; }

@test "each key has a row, and what has no effect says so" {
	local key value
	all_keys | plain >"$BATS_TEST_TMPDIR/keys"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/keys")" -gt 40 ]
	rows_of_keys | plain >"$BATS_TEST_TMPDIR/rows"
	comm -23 "$BATS_TEST_TMPDIR/keys" "$BATS_TEST_TMPDIR/rows" | not grep .
	while read -r key value; do
		jq -n --arg key "$key" --argjson value "$value" '{version: "v1"} | setpath($key | split("."); $value)' \
			>"$BATS_TEST_TMPDIR/config.json"
		"$BIN/gpupoold" --config-file="$BATS_TEST_TMPDIR/config.json" --check --json |
			jq -e '.notes[] | select(test("no effect"))' >/dev/null || { echo "$key has no note" >&2; false; }
	done < <(idle_rows)
}
