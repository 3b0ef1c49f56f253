#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The service file and the image of gpupoold, as far as no root and no container engine is needed.

load ../lib/common

setup() {
	PROGRAMS=$ROOT/build/release/bin
	[ -x "$PROGRAMS/gpupoold" ] || PROGRAMS=$BIN
}

# The unit with a program that is there, as `make install` writes it.
unit() { # FILTER
	sed "s,/usr/bin/gpupoold,$PROGRAMS/gpupoold,; ${1:-}" "$ROOT/deploy/gpupoold.service" >"$BATS_TEST_TMPDIR/gpupoold.service"
	SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$BATS_TEST_TMPDIR/gpupoold.service" 2>&1
}

@test "systemd takes the service file without a word" {
	command -v systemd-analyze >/dev/null || skip "systemd-analyze is not installed"
	run unit
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "control: a slip in the service file is noticed" {
	command -v systemd-analyze >/dev/null || skip "systemd-analyze is not installed"
	run unit 's/^KillMode=.*/KillMode=mxied/'
	[ -n "$output" ]
	run unit 's/^RestartSec/RestratSec/'
	[ -n "$output" ]
}

@test "the image is the same for the same programs, and names what it holds" {
	local one=$BATS_TEST_TMPDIR/one.tar other=$BATS_TEST_TMPDIR/sub/other.tar
	run "$ROOT/dev/image" --bin "$PROGRAMS" --output "$one"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == "localhost/gpupoold:$("$PROGRAMS/gpupoold" --version | cut -d' ' -f2) in "* ]]
	(umask 077; TZ=Asia/Tokyo "$ROOT/dev/image" --bin "$PROGRAMS" --output "$other")
	cmp "$one" "$other"
}

@test "the image holds its programs, what they load, the licences, and nothing of the machine" {
	local archive=$BATS_TEST_TMPDIR/image.tar names=$BATS_TEST_TMPDIR/names layer name
	"$ROOT/dev/image" --bin "$PROGRAMS" --output "$archive"
	layer=$(tar -xOf "$archive" index.json | jq -r '.manifests[0].digest' | sed 's,:,/,')
	layer=$(tar -xOf "$archive" "blobs/$layer" | jq -r '.layers[0].digest' | sed 's,:,/,')
	tar -xOf "$archive" "blobs/$layer" | tar -t >"$names"
	for name in usr/bin/gpupoold usr/bin/gpupool-nvml usr/bin/gpupool-runtime usr/share/doc/gpupool/LICENSE; do
		grep -qx "$name" "$names" || { echo "$name is not there"; return 1; }
	done
	grep -q '^usr/lib/.*/libc.so.6$' "$names"
	grep -q '^usr/lib/.*/libjson-c.so' "$names"
	not grep -vE '^(dev|etc|etc/gpupool|driver-root|proc|run|run/gpupool|sys|tmp|var|var/.*|usr|usr/bin|usr/lib|usr/lib64|usr/share|usr/share/doc|usr/(lib|share/doc)/[^/]*)/$|^lib(64)?$|^usr/(bin|lib|lib64|share/doc)/' "$names"
	tar -xOf "$archive" "blobs/$layer" | tar -tv | awk '$2 != "0/0" || $4 != "1970-01-01" { print; bad = 1 } END { exit bad }'
}

@test "each blob of the image has the name of its digest" {
	local archive=$BATS_TEST_TMPDIR/image.tar name count=0
	"$ROOT/dev/image" --bin "$PROGRAMS" --output "$archive"
	for name in $(tar -tf "$archive" | grep '^blobs/sha256/.'); do
		[ "$(tar -xOf "$archive" "$name" | sha256sum | cut -d' ' -f1)" = "${name##*/}" ]
		count=$((count + 1))
	done
	[ "$count" -eq 3 ]
}

@test "without programs there is no image, and one sentence" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	run "$ROOT/dev/image" --bin "$BATS_TEST_TMPDIR/empty" --output "$BATS_TEST_TMPDIR/none.tar"
	[ "$status" -eq 1 ]
	[ ! -e "$BATS_TEST_TMPDIR/none.tar" ]
}
