#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# deploy/gpupoold.yaml and the image of dev/image on a real node, up to Pods that get cards.
load ../lib/common
load ../lib/driver
load cluster

NAMESPACE_OF_DAEMON=gpupool-system

setup_file() {
	cluster_start a100-80
	[ -z "${ABSENT:-}" ] || return 0
	local programs=$ROOT/build/release/bin
	[ -x "$programs/gpupoold" ] || programs=$BIN
	"$ROOT/dev/image" --bin "$programs" --output "$BATS_FILE_TMPDIR/gpupoold.tar" >&2
	node ctr -n k8s.io images import "$BATS_FILE_TMPDIR/gpupoold.tar" >&2
}

teardown_file() {
	cluster_stop
}

setup() {
	cluster_needed
}

# The manifest with the keys that its text names for a driver that is not in /; MORE goes below gpupool.
manifest() { # [MORE]
	local keys="nvidiaDriverRoot: /run/driver\n      plugin: {containerDriverRoot: /driver-root/run/driver}"
	keys+="\n    gpupool: {paths: {criSocket: /driver-root/run/containerd/containerd.sock}${1:-}}"
	sed "s|^      migStrategy: none|&\n      $keys|" "$ROOT/deploy/gpupoold.yaml"
}

daemon_logs() {
	kubectl logs -n $NAMESPACE_OF_DAEMON daemonset/gpupoold 2>&1
}

@test "the API server takes the manifest, each field of it" {
	kubectl create namespace $NAMESPACE_OF_DAEMON
	kubectl apply --server-side --dry-run=server --validate=strict -f - <"$ROOT/deploy/gpupoold.yaml"
}

@test "control: a field that does not exist is noticed" {
	not kubectl apply --server-side --dry-run=server --validate=strict -f - \
		< <(sed 's/^      hostPID:/      hostPIDs:/' "$ROOT/deploy/gpupoold.yaml")
}

failed_with() {
	{
		kubectl describe pods -n $NAMESPACE_OF_DAEMON | tail -n 30
		daemon_logs | tail -n 30
		kubectl get node node-a -o json | jq -c .status.allocatable
	} >&2
	return 1
}

@test "a Pod of it starts on the node from the image, with its mounts, and lists the cards" {
	manifest | kubectl apply -f - >/dev/null
	wait_for 60 node_has $GPU 8 8 || failed_with
	# What its mounts made on the host.
	node test -d /var/lib/gpupool -a -S /var/lib/kubelet/device-plugins/kubelet.sock -a -s /run/gpupool/inventory.json
	kubectl get pods -n $NAMESPACE_OF_DAEMON -o json | jq -e '.items | length == 1 and
		.[0].spec.priority >= 2000000000 and .[0].spec.nodeName == "node-a"'
	kubectl rollout status -n $NAMESPACE_OF_DAEMON daemonset/gpupoold --timeout=30s
}

@test "a Pod with two cards runs and sees them, and no other" {
	pod_start two "$(gpus 2)" || failed_with
	sees_its_cards two
	[ "$(cards_seen two | wc -w)" = 2 ]
}

@test "a card that is lost is told to the kubelet, and is back when it answers" {
	driver lost --card 7
	wait_for 30 node_has $GPU 8 7 || failed_with
	driver recover
	wait_for 60 node_has $GPU 8 8 || failed_with
}

@test "a changed ConfigMap is what the next start reads; the Pod keeps its cards" {
	local before
	before=$(cards_granted two)
	manifest ", cards: [{index: 7, mode: slices}]" | kubectl apply -f - >/dev/null
	kubectl rollout restart -n $NAMESPACE_OF_DAEMON daemonset/gpupoold
	kubectl rollout status -n $NAMESPACE_OF_DAEMON daemonset/gpupoold --timeout=60s
	wait_for 60 node_has $GPU 7 7 || failed_with
	[ "$(cards_granted two)" = "$before" ]
	sees_its_cards two
	pod_end two
	kubectl delete namespace $NAMESPACE_OF_DAEMON --timeout=60s
}
