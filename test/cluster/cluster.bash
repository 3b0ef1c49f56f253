# SPDX-License-Identifier: Apache-2.0
# For tests with a real Kubernetes, after `load ../lib/common` and `load ../lib/driver` (for wait_for):
#   cluster_start [PROFILE]     in setup_file: one for the file, with the simulated driver of PROFILE
#   cluster_needed              in setup: skips where it is not possible, with the reason
#   cluster_stop                ends it, and fails when something of it is left
#   cluster COMMAND             restart kubelet, reboot ...: test/cluster/cluster says what there is
#   node COMMAND...             runs on the node, as a host's program
#   kubectl ARGUMENTS...        as administrator
#   pod NAME [FILTER]           prints a Pod that waits; FILTER changes its JSON. C is its container: '.spec.containers[0]'
#   pod_start NAME [FILTER]     creates it and waits until it runs
#   pod_field NAME FILTER       a field of it, now
#   pod_end NAME...             deletes at once and waits until they are gone
#   see NAME COMMAND...         runs in its container
#   node_has RESOURCE CAPACITY ALLOCATABLE    the node says so, now; for wait_for
cluster_start() {
	local status=0 said
	GPUPOOL_CLUSTER=$BATS_FILE_TMPDIR/cluster
	export GPUPOOL_CLUSTER
	said=$(cluster up --minor "${GPUPOOL_CLUSTER_MINOR:-1.37}" --limit 0) || status=$?
	case $status in
	0) ;;
	77) export ABSENT=${said##*$'\n'}; return 0 ;;
	*) echo "$said" >&2; return 1 ;;
	esac
	[ $# = 0 ] || cluster driver "$1"
}

cluster_needed() {
	[ -z "${ABSENT:-}" ] || skip "$ABSENT"
}

cluster() {
	"$ROOT/test/cluster/cluster" "$@" 3>&-
}

cluster_stop() {
	local group
	[ -n "${GPUPOOL_CLUSTER:-}" ] && [ -f "$GPUPOOL_CLUSTER/cgroup" ] || return 0
	group=$(cat "$GPUPOOL_CLUSTER/cgroup")
	cluster down
	not grep -F "$GPUPOOL_CLUSTER" /proc/self/mountinfo
	[ -z "$(find /sys/fs/cgroup -name "$group" -print -quit)" ]
}

node() {
	cluster in "$@"
}

kubectl() {
	node kubectl "$@"
}

pod() { # NAME [FILTER]
	jq -n --arg name "$1" '{apiVersion: "v1", kind: "Pod", metadata: {name: $name, namespace: "default"},
		spec: {terminationGracePeriodSeconds: 0, restartPolicy: "Never", containers: [{name: "main",
			image: "localhost/busybox:1", imagePullPolicy: "Never", command: ["sleep", "86400"]}]}}' |
		jq "def C: .spec.containers[0]; ${2:-.}"
}

pod_create() { # NAME [FILTER]
	pod "$@" | kubectl create -f - >/dev/null
}

pod_start() { # NAME [FILTER]
	pod_create "$@"
	pod_runs "$1"
}

pod_runs() { # NAME
	kubectl wait --for=jsonpath='{.status.phase}'=Running "pod/$1" --timeout=60s >/dev/null ||
		{ kubectl describe pod "$1" | tail -n 30 >&2; return 1; }
}

pod_field() {
	kubectl get pod "$1" -o json | jq -r "$2"
}

pod_end() {
	kubectl delete pod --grace-period=1 --timeout=60s "$@" >/dev/null
}

see() {
	local name=$1
	shift
	kubectl exec "$name" -- "$@"
}

node_has() { # RESOURCE CAPACITY ALLOCATABLE
	[ "$(kubectl get node node-a -o json | jq -r --arg name "$1" \
		'.status | "\(.capacity[$name]) \(.allocatable[$name])"')" = "$2 $3" ]
}
