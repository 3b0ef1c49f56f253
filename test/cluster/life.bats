#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The test cluster begins and ends: twice, by hand, with its owner, and where it cannot.
load ../lib/common
load ../lib/driver
load cluster

setup_file() {
	cluster_start
	[ -n "${ABSENT:-}" ] || cluster_stop
}

setup() {
	cluster_needed
	export GPUPOOL_CLUSTER=$BATS_TEST_TMPDIR/cluster
}

teardown() {
	cluster_stop
}

start() {
	cluster up --minor "${GPUPOOL_CLUSTER_MINOR:-1.37}" --limit 0
}

# Processes of the test that have to do with the cluster, as the machine counts.
processes() {
	pgrep -f -- "$GPUPOOL_CLUSTER" || :
}

@test "it is not up: each command says so, and ending it is no mistake" {
	for command in status "in true" "start kubelet" reboot "driver t4"; do
		run cluster $command
		[ "$status" = 1 ]
		[[ $output == *"not up"* ]]
	done
	run cluster down
	[ "$status" = 0 ]
}

@test "it begins once, ends within 10 s, leaves nothing, and begins again" {
	run cluster up --minor 1.12
	[ "$status" = 2 ]
	start
	run start
	[ "$status" = 1 ]
	[[ $output == *"it is up already"* ]]
	run cluster status
	[[ $output == *"node-a"*"Ready"* ]]
	SECONDS=0
	cluster_stop
	[ $SECONDS -le 10 ]
	[ -z "$(processes)" ]
	start
}

@test "its owner is killed: it ends" {
	sleep 1000 3>&- &
	GPUPOOL_CLUSTER_OWNER=$! start
	group=$(cat "$GPUPOOL_CLUSTER/cgroup")
	mv "$GPUPOOL_CLUSTER/pid" "$BATS_TEST_TMPDIR/" # as when its folder is deleted meanwhile
	kill -KILL $!
	wait_for 10 eval '[ -z "$(processes)$(find /sys/fs/cgroup -name "$group")" ]'
}

@test "an unknown service, an unknown command" {
	start
	run cluster restart kubelets
	[ "$status" = 1 ]
	[[ $output == *"there is no service 'kubelets'"* ]]
	run cluster dance
	[ "$status" = 2 ]
	[[ $output == *"cluster up"* ]]
}

@test "a part that ends at once is named, with the end of its log, and nothing is left" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\n[ "$1" != genrsa ] || echo no key >"$3"\necho 0123456789abcdef\n' >"$BATS_TEST_TMPDIR/bin/openssl"
	chmod +x "$BATS_TEST_TMPDIR/bin/openssl"
	SECONDS=0
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run start
	[ "$status" = 1 ]
	[ $SECONDS -lt 40 ]
	[[ $output == *"cluster: kube-apiserver has ended, or is not ready"*"service-account.key"* ]]
	[ -z "$(processes)" ]
	[ ! -e "$GPUPOOL_CLUSTER/cgroup" ]
}

@test "a program that is missing: the reason is one sentence" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	for program in bash sh sed cat dirname readlink id; do ln -s "$(command -v $program)" "$BATS_TEST_TMPDIR/bin/"; done
	PATH=$BATS_TEST_TMPDIR/bin run start
	[ "$status" = 77 ]
	[ "$output" = "a test cluster needs busybox; test/lib/install test installs it" ]
}
