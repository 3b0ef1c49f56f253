#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gpupool demo: each machine, and where the right to make containers is missing.
load ../lib/common
load ../lib/driver

setup() {
	needs_containers
}

teardown() {
	namespace_stop
}

demo_on() { # PROFILE
	namespace_start
	driver_start "$1"
	run inside gpupool demo
	echo "$output"
	[ "$status" = 0 ]
	[[ $output =~ ([0-9]+)\ facts\ read\ back\ \(simulated\),\ 0\ not\ as\ granted ]]
	[ "${BASH_REMATCH[1]}" -ge 8 ]
	# What stands on the screen as the kernel's word is labelled.
	not grep -E '^ +real ' <<<"$output"
}

@test "a100-80: two whole cards, one, two slices on one card, six refusals" {
	demo_on a100-80
	[ "$(grep -c '^refused:' <<<"$output")" = 6 ]
	[ "$(grep -c 'kubernetes: ' <<<"$output")" = 6 ]
	[ "$(grep -c 'enforcement: none (reserved only)' <<<"$output")" -ge 2 ]
	grep -q '| GPU  Name  ' <<<"$output" # the Pod's own nvidia-smi table
	[[ $output =~ ([0-9]+)\ facts ]] && [ "${BASH_REMATCH[1]}" = 16 ]
}

@test "h100: other cards, another driver" {
	demo_on h100
	grep -q 'NVIDIA H100 80GB HBM3' <<<"$output"
	grep -q 'driver 550' <<<"$output"
}

@test "t4: a slice that no card here can hold is refused, the rest runs" {
	demo_on t4
	grep -q 'Tesla T4' <<<"$output"
	grep -q 'this machine is too small for this Pod' <<<"$output"
}

@test "mixed: several models" {
	demo_on mixed
	grep -q 'A100' <<<"$output"
	grep -q 'Tesla T4' <<<"$output"
}

@test "control: a fact that differs from the grant fails the demo" {
	namespace_start
	driver_start a100-80
	# Every card lies on the host's own /dev too, and the cgroup of the container is opened wide
	# behind gpupool's back, between making the container and looking at it.
	inside sh -c 'cat >/run/runc <<-"EOF"
		#!/bin/sh
		/usr/sbin/runc "$@" || exit
		case " $* " in *" create "*)
			for id; do :; done
			echo "c 195:5 rw" >/sys/fs/cgroup/devices/gpupool/$id/devices.allow ;;
		esac
	EOF
	chmod +x /run/runc'
	[ -w /sys/fs/cgroup/devices ] || skip "needs cgroup v1"
	run inside gpupool demo --runtime /run/runc
	echo "$output"
	[ "$status" = 1 ]
	grep -q 'c 195:5 rw.*NOT AS GRANTED' <<<"$output"
}

@test "without root: the plan, the missing right, exit 3" {
	namespace_start
	driver_start a100-80
	run inside setpriv --reuid 65534 --regid 65534 --clear-groups "$BIN/gpupool" demo
	echo "$output"
	[ "$status" = 3 ]
	grep -q '^  /dev/nvidia0 ' <<<"$output"
	grep -q 'containers need root' <<<"$output"
}

@test "root without CAP_SYS_ADMIN: the plan, the missing right, exit 3" {
	namespace_start
	driver_start a100-80
	run inside setpriv --bounding-set -sys_admin "$BIN/gpupool" demo
	echo "$output"
	[ "$status" = 3 ]
	grep -q 'CAP_SYS_ADMIN' <<<"$output"
}
