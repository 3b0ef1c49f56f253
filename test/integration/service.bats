#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The rights that deploy/gpupoold.service leaves suffice for what is done with them.
load ../lib/common
load ../lib/driver

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	namespace_start
	driver_start t4
}

teardown_file() {
	[ "$(id -u)" = 0 ] || return 0
	inside "$SIMDRIVER" stop --root "$DRIVER" --remove 3>&- || true
	namespace_stop
}

setup() {
	needs_containers
	# "-all,+sys_admin,+syslog"
	RIGHTS=-all$(sed -n 's/^CapabilityBoundingSet=//p' "$ROOT/deploy/gpupoold.service" | tr ' ' '\n' |
		sed 's/^CAP_\(.*\)/,+\L\1/' | tr -d '\n')
	[[ "$RIGHTS" == *,+* ]]
}

with_rights() {
	inside setpriv --bounding-set "${LIMIT:-$RIGHTS}" --inh-caps -all --no-new-privs "$@"
}

@test "the limit holds: no device node can be made" {
	with_rights grep '^CapEff' /proc/self/status
	not with_rights mknod "/run/node" c 195 7
	inside mknod /run/node c 195 7
}

@test "the driver tells the same cards" {
	inside gpupool inventory --json | jq 'del(.. | .since?)' >"$BATS_TEST_TMPDIR/all"
	with_rights gpupool inventory --json | jq 'del(.. | .since?)' >"$BATS_TEST_TMPDIR/limited"
	[ "$(jq '.cards | length' "$BATS_TEST_TMPDIR/all")" -ge 1 ]
	diff "$BATS_TEST_TMPDIR/all" "$BATS_TEST_TMPDIR/limited"
}

@test "another user's process can be named, which without the rights it cannot" {
	local pid
	setpriv --reuid 65534 --clear-groups sleep 60 >/dev/null 2>&1 3>&- &
	pid=$!
	wait_for 5 grep -q "^Uid:.65534" "/proc/$pid/status"
	with_rights readlink "/proc/$pid/fd/1"
	LIMIT=-all
	not with_rights readlink "/proc/$pid/fd/1"
	kill "$pid"
}
