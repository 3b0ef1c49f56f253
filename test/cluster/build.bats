#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The build of Kubernetes where it cannot be finished: it stops in time and says how far it got.
load ../lib/common

setup() {
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	command -v go >/dev/null || skip "no Go here"
	GOMODCACHE=$(go env GOMODCACHE) GOCACHE=$(go env GOCACHE)
	export GOMODCACHE GOCACHE
}

build() {
	"$ROOT/test/cluster/build" "$@" 2>"$BATS_TEST_TMPDIR/errors"
}

@test "no time is allowed: nothing is built" {
	run build --limit 0
	[ "$status" = 77 ]
	[[ $output == "cold build: 0 of 6 programs of Kubernetes 1.37."* ]]
	[ ! -e "$XDG_CACHE_HOME" ]
}

@test "time runs out: it ends, and the next call goes on" {
	export GOCACHE=$BATS_TEST_TMPDIR/go
	SECONDS=0
	run build --limit 5
	[ "$status" = 77 ]
	[ $SECONDS -lt 30 ]
	[[ $output == "cold build: 0 of 6 programs of Kubernetes 1.37."*" (etcd: "*" packages)" ]]
	first=$(sed 's/.*etcd: \([0-9]*\) of \([0-9]*\) .*/\1 \2/' <<<"$output")
	[ "${first% *}" -gt 0 ]
	run build --limit 0
	[[ $output == *" (etcd: ${first% *} of ${first#* } packages)" ]]
	run build --limit 5
	[ "$(sed 's/.*etcd: [0-9]* of \([0-9]*\) .*/\1/' <<<"$output")" -lt "${first#* }" ]
}

@test "the modules cannot be had: it says so" {
	GOPROXY=off GOMODCACHE=$BATS_TEST_TMPDIR/modules GOCACHE=$BATS_TEST_TMPDIR/go run build --limit 30
	[ "$status" = 77 ]
	[[ $output == "the Go modules of etcd cannot be had: "* ]]
}

@test "a program that does not compile is an error, not a reason to skip" {
	mkdir -p "$BATS_TEST_TMPDIR/test/cluster/kubernetes-1.37"
	cp "$ROOT/test/cluster/build" "$BATS_TEST_TMPDIR/test/cluster/"
	cp "$ROOT/test/cluster/kubernetes-1.37/"go.* "$BATS_TEST_TMPDIR/test/cluster/kubernetes-1.37/"
	mkdir "$BATS_TEST_TMPDIR/test/cluster/etcd"
	printf 'module a\n\ngo 1.26\n\nrequire go.etcd.io/etcd/server/v3 v3.0.0\nreplace go.etcd.io/etcd/server/v3 => ./broken\n' \
		>"$BATS_TEST_TMPDIR/test/cluster/etcd/go.mod"
	: >"$BATS_TEST_TMPDIR/test/cluster/etcd/go.sum"
	mkdir "$BATS_TEST_TMPDIR/test/cluster/etcd/broken"
	printf 'module go.etcd.io/etcd/server/v3\n' >"$BATS_TEST_TMPDIR/test/cluster/etcd/broken/go.mod"
	printf 'package main\n\nfunc main() { none() }\n' >"$BATS_TEST_TMPDIR/test/cluster/etcd/broken/main.go"
	run "$BATS_TEST_TMPDIR/test/cluster/build" --limit 60
	[ "$status" = 1 ]
	[[ $output == *"etcd does not compile"*"undefined: none"* ]]
}

@test "a minor that is not there, or a limit that is no number, is a mistake of the caller" {
	run build --minor 1.12
	[ "$status" = 2 ]
	run build --limit soon
	[ "$status" = 2 ]
	run build --limit
	[ "$status" = 2 ]
}
