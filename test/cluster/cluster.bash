# SPDX-License-Identifier: Apache-2.0
# For tests with a real Kubernetes, after `load ../lib/common` and `load ../lib/driver` (for wait_for):
#   cluster_start [PROFILE]     in setup_file: one for the file, with the simulated driver of PROFILE
#                               GPUPOOL_CLUSTER_KUBELET: lines for the kubelet's configuration
#   cluster_needed              in setup: skips where it is not possible, with the reason
#   cluster_stop                ends it, and fails when something of it is left
#   cluster COMMAND             restart kubelet, reboot ...: test/cluster/cluster says what there is
#   node COMMAND...             runs on the node, as a host's program
#   kubectl ARGUMENTS...        as administrator
#   pod NAME [FILTER]           prints a Pod that waits; FILTER changes its JSON. C is its container: '.spec.containers[0]'
#   pod_start NAME [FILTER]     creates it and waits until it runs
#   pod_field NAME FILTER       a field of it, now
#   container_of NAME           its container and how often it was started again: what nothing may change
#   restarted NAME              it was started again, and runs; for wait_for
#   pod_end NAME...             deletes at once and waits until they are gone
#   see NAME COMMAND...         runs in its container
#   gpus COUNT [RESOURCE]       a filter for pod: its container asks for so many
#   granted NAME [RESOURCE]     the IDs that the kubelet's checkpoint has for the Pod, sorted, one a line
#   cards_granted NAME [RESOURCE]   the minor numbers of the cards of these IDs: "0 3"
#   cards_seen NAME             those that its container has a node of and can reach; a node made by itself counts too
#   sees_its_cards NAME [RESOURCE]  both are the same, and not none; else it says how they differ
#   rogue ARGUMENTS...          starts the plugin of kubernetes-1.37/rogue as service `rogue`
#   plugin_start OPTION...      gpupoold as service, with the configuration that plugin_config wrote
#   plugin_said                 the end of its log, for a case that failed
#   registered_again            the kubelet of now, counted from its start, took a registration
#   driver FAULT...             of the simulated driver; pods_end deletes all Pods
#   node_has RESOURCE CAPACITY ALLOCATABLE    the node says so, now; for wait_for
cluster_start() {
	local status=0 said
	export GPUPOOL_CLUSTER=$BATS_FILE_TMPDIR/cluster GPUPOOL_CLUSTER_OWNER=$$
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

restarted() { # NAME
	[ "$(pod_field "$1" '.status.containerStatuses[0] | "\(.restartCount > 0) \(.state | has("running"))"')" = "true true" ]
}

container_of() { # NAME
	pod_field "$1" '.status.containerStatuses[0] | "\(.containerID) \(.restartCount)"'
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

gpus() { # COUNT [RESOURCE]
	echo "C.resources.limits = {\"${2:-nvidia.com/gpu}\": $1}"
}

CHECKPOINT=/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint

granted() { # NAME [RESOURCE]
	local uid
	uid=$(pod_field "$1" .metadata.uid)
	node cat $CHECKPOINT | jq -r --arg uid "$uid" --arg resource "${2:-nvidia.com/gpu}" '.Data.PodDeviceEntries[] |
		select(.PodUID == $uid and .ResourceName == $resource) | .DeviceIDs[][]' | sort
}

cards_granted() { # NAME [RESOURCE]
	local ids
	ids=$(granted "$@" | sed 's/::.*//' | sort -u)
	node gpupool inventory --json | jq -r '.cards[] | "\(.uuid) \(.minor)"' |
		awk -v ids="$ids" 'BEGIN { split(ids, list, "\n"); for (i in list) want[list[i]] } $1 in want { print $2 }' |
		sort -n | xargs
}

# "0 3" when the nodes /dev/nvidia0 and 3 are there and can be opened, and no other card can.
cards_seen() { # NAME
	see "$1" device_probe nodes /dev -- mknod /dev {0..7} | awk '
		$2 ~ /^195:[0-7]$/ { sub("195:", "", $2); if ($1 != "/dev/nvidia" $2) wrong = wrong " " $1 "=" $2; node[$2] = 1 }
		$1 ~ /^195:/ && $2 == "ENXIO" { sub("195:", "", $1); reached[$1] = 1 }
		$1 ~ /^195:/ && $2 !~ /^(ENXIO|EPERM|[0-7])$/ { wrong = wrong " " $0 }
		END { for (i = 0; i < 8; i++) if (i in node || i in reached) print i (i in node ? "" : " without node") \
			(i in reached ? "" : " not reached")
		if (wrong) print "wrong:" wrong }' | xargs
}

sees_its_cards() { # NAME [RESOURCE]
	local want seen
	want=$(cards_granted "$@") seen=$(cards_seen "$1") || return 1
	[ -n "$want" ] && [ "$want" = "$seen" ] && return
	echo "Pod $1: granted '$want', sees '$seen'" >&2
	return 1
}

rogue() {
	[ -x "$BATS_FILE_TMPDIR/rogue" ] || (cd "$ROOT/test/cluster/kubernetes-1.37" && GOTOOLCHAIN=local CGO_ENABLED=0 \
		GOFLAGS='-mod=readonly -buildvcs=false' nice go build -trimpath -gcflags=all=-dwarf=false \
		-o "$BATS_FILE_TMPDIR/rogue" ./rogue)
	cluster service rogue "$BATS_FILE_TMPDIR/rogue" "$@"
}

GPU=nvidia.com/gpu
MEMORY=gpupool.io/gpu-memory

plugin_config() { # INDEX...: cards in slices
	local card
	{
		echo "version: v1"
		[ $# = 0 ] || printf 'gpupool:\n  cards:\n'
		for card; do
			echo "  - {index: $card, mode: slices}"
		done
	} | node sh -c 'cat >/etc/gpupool/config.yaml'
}

plugin_start() { # OPTION...
	cluster stop gpupoold 2>/dev/null || : # the first time there is none
	cluster service gpupoold "$BIN/gpupoold" "$@"
}

plugin_said() {
	grep -v ') is here' "$GPUPOOL_CLUSTER/logs/gpupoold.log" | tail -n 20 >&2
}

registered_again() {
	kubectl get --raw /api/v1/nodes/node-a/proxy/metrics |
		grep -q '^kubelet_device_plugin_registration_total{resource_name="nvidia.com/gpu"} [1-9]'
}

driver() {
	node "$SIMDRIVER" fault --root /run/driver "$@"
}

pods_end() {
	kubectl delete pods --all --grace-period=1 --timeout=60s >/dev/null 2>&1 || :
}
