#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Debian's containerd 1.6, asked as the kubelet asks it. It knows no CDI: what a container gets, the program
# that its runtime handler names must put into the spec.
load ../lib/common
load ../lib/driver
load ../lib/cri
bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	engine_find debian || { export ABSENT=$WHY; return 0; }
	namespace_start
	handler runc runc
	handler noted $CRI/noted
	inside sh -c "mkdir -p $CRI && printf '%s\n' '#!/bin/sh' 'echo \"\$*\" >>$CRI/calls' 'exec runc \"\$@\"' >$CRI/noted &&
		chmod 755 $CRI/noted"
	engine_start
	image_sandbox
}

teardown_file() {
	engine_stop
	namespace_stop
}

setup() {
	needs_containers runc
	[ -z "${ABSENT:-}" ] || skip "$ABSENT"
}

teardown() {
	pod_stop
}

@test "a Pod starts, is looked into and leaves nothing" {
	pod_start
	container_start
	[ "$(cards_seen)" = "reached" ]
	pod_stop
	engine_nothing_left
}

@test "it passes by what a CDI spec would give" {
	inside sh -c 'echo "{\"cdiVersion\": \"0.5.0\", \"kind\": \"example.com/card\", \"devices\": [{\"name\": \"one\",
		\"containerEdits\": {\"deviceNodes\": [{\"path\": \"/dev/nvidia0\", \"type\": \"c\", \"major\": 195}]}}]}" \
		>/etc/cdi/example.json'
	pod_start
	container_start '.CDI_devices = [{name: "example.com/card=one"}] |
		.annotations = {"cdi.k8s.io/test": "example.com/card=one"}'
	[ "$(cards_seen)" = "reached" ]
}

@test "a handler of its own: the named program is called with the bundle, and nothing is lost" {
	pod_start noted
	container_start
	see $PROBE status | grep -q ^CapEff
	pod_stop
	inside grep -E "create --bundle $CRI/state/[^ ]*/k8s.io/[0-9a-f]{64} " $CRI/calls
	inside grep -E " delete " $CRI/calls
	engine_nothing_left
}
