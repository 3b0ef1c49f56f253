#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The test cluster itself: a node without GPUs, Pods on it, and that nothing of the machine is touched.
load ../lib/common
load ../lib/driver
load cluster

setup_file() {
	machine >"$BATS_FILE_TMPDIR/machine"
	cluster_start
}

teardown_file() {
	cluster_stop
}

setup() {
	cluster_needed
}

# What the kubelet and container engines are known to change: kernel settings, interfaces, mounts, folders.
machine() {
	grep . /proc/sys/vm/overcommit_memory /proc/sys/kernel/panic{,_on_oops} /proc/sys/kernel/keys/root_max{keys,bytes}
	ls /sys/class/net
	awk '{ print $5 }' /proc/self/mountinfo | sort
	ls -d /var/lib/{kubelet,containerd,gpupool} /run/containerd /etc/{cni,cdi,containerd,gpupool} /var/log/pods 2>/dev/null || :
}

@test "the node is Ready within 60 s, of the version asked for" {
	[ "$(kubectl get nodes -o json | jq -r '.items[] | "\(.metadata.name) \(.status.conditions[] |
		select(.type == "Ready").status)"')" = "node-a True" ]
	[[ $(kubectl get node node-a -o jsonpath='{.status.nodeInfo.kubeletVersion}') == v${GPUPOOL_CLUSTER_MINOR:-1.37}.* ]]
	[[ $(kubectl get node node-a -o jsonpath='{.status.nodeInfo.containerRuntimeVersion}') == containerd://*2.* ]]
	[[ $(cat "$GPUPOOL_CLUSTER/ready") =~ after\ ([0-9]+)\ s ]]
	[ "${BASH_REMATCH[1]}" -le 60 ]
}

@test "a Pod on the node's network runs" {
	pod_start plain '.spec.hostNetwork = true'
	see plain ip -4 address show lo | grep -F 10.99.0.1
	pod_end plain
}

@test "a Pod with a network of its own reaches the node" {
	pod_start own
	[ "$(pod_field own .status.podIP)" = "$(see own ip -4 address show eth0 | sed -n 's,.*inet \([0-9.]*\)/.*,\1,p')" ]
	see own ping -c 1 -W 5 10.99.0.1
	pod_end own
}

@test "a Pod asks for what no node has: Pending, with the scheduler's words" {
	pod_create greedy 'C.resources.limits = {"example.com/card": 1}'
	wait_for 20 eval '[[ $(pod_field greedy ".status.conditions[]?.message") == *"Insufficient example.com/card"* ]]'
	[ "$(pod_field greedy .status.phase)" = Pending ]
	pod_end greedy
}

@test "the kubelet is restarted: the Pod's container stays" {
	pod_start stays
	before=$(container_of stays)
	cluster restart kubelet
	wait_for 30 see stays true
	kubectl wait --for=condition=Ready node/node-a --timeout=30s
	[ "$(container_of stays)" = "$before" ]
	pod_end stays
}

@test "a reboot: /run and the boot ID are new, nothing runs, and a Pod that may is started again" {
	pod_start again '.spec.restartPolicy = "Always"'
	boot=$(node cat /proc/sys/kernel/random/boot_id)
	node touch /run/before
	cluster reboot --off
	not node test -e /run/before
	[ "$(node cat /proc/sys/kernel/random/boot_id)" != "$boot" ]
	not node pgrep -f 'sleep 86400'
	cluster boot
	wait_for 60 restarted again
	see again true
	pod_end again
}

@test "nothing of the machine is changed, and nothing that was orphaned stays a zombie" {
	machine | diff "$BATS_FILE_TMPDIR/machine" -
	[ "$(node ps -eo stat= | grep -c ^Z)" = 0 ]
}
