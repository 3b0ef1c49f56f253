#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# deploy/gpupoold.yaml and the image of dev/image on a real node.
load ../lib/common
load ../lib/driver
load cluster

NAMESPACE_OF_DAEMON=gpupool-system

setup_file() {
	cluster_start
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

# The manifest with a container that checks its configuration; FILTER of sed changes more.
manifest() {
	sed "s,^\( *\)imagePullPolicy: .*,\1imagePullPolicy: Never\n\1args: [--check],; ${1:-}" "$ROOT/deploy/gpupoold.yaml"
}

daemon_logs() {
	kubectl logs -n $NAMESPACE_OF_DAEMON daemonset/gpupoold 2>&1
}

daemon_said() { # TEXT
	[[ "$(daemon_logs)" == *"$1"* ]]
}

@test "the API server takes the manifest, each field of it" {
	kubectl create namespace $NAMESPACE_OF_DAEMON
	kubectl apply --server-side --dry-run=server --validate=strict -f - <"$ROOT/deploy/gpupoold.yaml"
}

@test "control: a field that does not exist is noticed" {
	not kubectl apply --server-side --dry-run=server --validate=strict -f - \
		< <(sed 's/^      hostPID:/      hostPIDs:/' "$ROOT/deploy/gpupoold.yaml")
}

@test "a Pod of it starts on the node from the image, with its mounts, and reads the ConfigMap" {
	node test -d /var/lib/kubelet/device-plugins
	manifest | kubectl apply -f - >/dev/null
	wait_for 60 daemon_said '# file: /etc/gpupool/config.yaml' ||
		{ kubectl describe pods -n $NAMESPACE_OF_DAEMON | tail -n 30; daemon_logs; return 1; }
	daemon_logs | grep -qx '  migStrategy: "none" # file'
	# What its mounts made on the host.
	node test -d /var/lib/gpupool -a -d /run/gpupool -a -d /run/cdi
	kubectl get pods -n $NAMESPACE_OF_DAEMON -o json | jq -e '.items | length == 1 and
		.[0].spec.priority >= 2000000000 and .[0].spec.nodeName == "node-a"'
}

@test "a changed ConfigMap is what the next start reads" {
	manifest 's/migStrategy: none/migStrategy: mixed/' | kubectl apply -f - >/dev/null
	kubectl rollout restart -n $NAMESPACE_OF_DAEMON daemonset/gpupoold
	wait_for 90 daemon_said 'migStrategy: "mixed" # file'
	kubectl delete namespace $NAMESPACE_OF_DAEMON --timeout=60s
}
