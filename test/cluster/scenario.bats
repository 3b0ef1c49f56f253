#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The same scenarios on the fake kubelet and on a real one: what the plugin was asked must be the same, call by call for
# each resource, with IDs as sets. The plugin is test/lib/device_plugin_probe in both.
load ../lib/common
load ../lib/driver
load cluster

DATA=$ROOT/test/data/kubelet
FOLDER=/var/lib/kubelet/device-plugins

setup_file() {
	cluster_start
}

teardown_file() {
	cluster_stop
}

setup() {
	cluster_needed
	cp "$BUILD/test/lib/device_plugin_probe" "$BATS_TEST_TMPDIR/probe"
}

teardown() {
	[ -z "${ABSENT:-}" ] || return 0
	cluster stop probe || :
	kubectl delete pods --all --grace-period=1 >/dev/null 2>&1 || :
}

on_fake() { # SCENARIO RESOURCE=COUNT...: the log is $BATS_TEST_TMPDIR/fake
	local scenario=$1 folder=$BATS_TEST_TMPDIR/folder plugin
	shift
	mkdir "$folder"
	"$BATS_TEST_TMPDIR/probe" "$folder" "$@" "$BATS_TEST_TMPDIR/fake" >/dev/null 3>&- &
	plugin=$!
	"$BUILD/test/lib/fake_kubelet" "$folder" "$DATA/$scenario" >/dev/null
	kill $plugin
	wait $plugin || :
}

# The words of a Pod in a scenario as a filter for pod(): "init:i:RESOURCE=1 c:RESOURCE=2".
pod_filter() {
	printf '%s\n' "$@" | jq -Rn '[inputs | capture("^(?<kind>init:|sidecar:)?(?<name>[^:]+)(:(?<requests>.*))?$") | {
		kind: (.kind // ""), container: ({name: .name, image: "localhost/busybox:1", imagePullPolicy: "Never",
			resources: {limits: ([(.requests // "") | split(",")[] | split("=") | {(.[0]): .[1]}] | add // {})}} +
			(if .kind == "init:" then {command: ["true"]} else {command: ["sleep", "86400"]} end) +
			(if .kind == "sidecar:" then {restartPolicy: "Always"} else {} end))}] |
		{initContainers: [.[] | select(.kind != "") | .container], containers: [.[] | select(.kind == "") | .container]}'
}

# Past the scheduler, which would keep a Pod that has no room from the kubelet.
real_pod() { # NAME WORDS...
	local name=$1
	shift
	pod_create "$name" ".spec.nodeName = \"node-a\" | .spec += $(pod_filter "$@")"
	wait_for 60 eval "case \$(pod_field $name .status.phase) in Running|Failed) ;; *) false ;; esac"
}

real_held() { # RESOURCE: IDs of Pods that run
	local uids
	uids=$(kubectl get pods -o json | jq -c '[.items[] | select(.status.phase == "Running") | .metadata.uid]')
	node cat $CHECKPOINT | jq -r --argjson uids "$uids" --arg resource "$1" '[.Data.PodDeviceEntries[] |
		select(.ResourceName == $resource and (.PodUID as $uid | $uids | index($uid))) | .DeviceIDs[][]] | unique | length'
}

real_line() { # WORDS of a line
	local name
	case "$1 $2" in
	"kubelet start") cluster status >/dev/null; node test -S $FOLDER/kubelet.sock && [ -z "${killed:-}" ] || cluster start kubelet ;;
	"kubelet kill") cluster kill kubelet; killed=1 ;;
	"kubelet restart") cluster restart kubelet ;;
	"wait listed") wait_for 60 node_has "$3" $(($4 + ${5:-0})) "$4" ;;
	"wait idle") : ;;
	"expect node"|"expect now") wait_for 30 node_has "$3" "$4" "$5" ;;
	"expect admitted") [ "$(pod_field "$3" .status.phase)" = Running ] ;;
	"expect rejected")
		name=$3
		shift 3
		[ "$(pod_field "$name" .status.phase)" = Failed ]
		[[ $(pod_field "$name" .status.message) == *"$*"* ]] ;;
	"expect held") [ "$(real_held "$3")" = "$4" ] ;;
	"remove socket") node rm $FOLDER/kubelet.sock ;;
	pod\ *) shift; real_pod "$@" ;;
	end\ *) pod_end "$2" ;;
	advance\ *) : ;;
	pause\ *) sleep "$(awk -v ms="$2" 'BEGIN { print ms / 1000 }')" ;;
	*) echo "this scenario is not for a real kubelet: $*"; return 1 ;;
	esac
}

on_real() { # SCENARIO RESOURCE=COUNT...: the log is $BATS_TEST_TMPDIR/real
	local scenario=$1 line
	shift
	killed=
	cluster service probe "$BATS_TEST_TMPDIR/probe" $FOLDER "$@" "$BATS_TEST_TMPDIR/real"
	while IFS= read -r line <&4; do
		line=${line%%#*}
		# shellcheck disable=SC2086
		[ -z "${line//[[:space:]]/}" ] || real_line $line || { echo "on the real kubelet: $line"; return 1; }
	done 4<"$DATA/$scenario"
	cluster stop probe
}

agree() { # RESOURCE=COUNT...
	local pair resource
	for pair in "$@"; do
		resource=${pair%=*}
		diff <(grep -F " $resource" "$BATS_TEST_TMPDIR/fake") <(grep -F " $resource" "$BATS_TEST_TMPDIR/real") ||
			{ echo "what was asked of $resource differs: < fake kubelet, > real one"; return 1; }
	done
}

compare() { # SCENARIO RESOURCE=COUNT...
	on_fake "$@"
	on_real "$@"
	agree "${@:2}"
}

@test "everyday life of a node" {
	compare everyday.scenario nvidia.com/gpu=4
	[ "$(grep -c '^Allocate' "$BATS_TEST_TMPDIR/real")" = 3 ]
	# Control: one other choice is seen.
	sed -i 's/^Allocate nvidia.com\/gpu {gpu-1,gpu-2}/Allocate nvidia.com\/gpu {gpu-1,gpu-3}/' "$BATS_TEST_TMPDIR/fake"
	run agree nvidia.com/gpu=4
	[ "$status" = 1 ]
}

@test "init containers and sidecars" {
	compare init.scenario nvidia.com/gpu=4
	[ "$(grep -c '^Allocate' "$BATS_TEST_TMPDIR/real")" -ge 6 ]
}

@test "two resources in a Pod, a removed socket, a kubelet that is away" {
	compare several.scenario nvidia.com/gpu=4 gpupool.io/gpu-memory=24
}
