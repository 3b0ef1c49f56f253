#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# src/wire against others: grpc-go as client and server, an old grpc-go whose :authority has slashes, grpc-js, h2spec.
load ../lib/common

OURS=$BUILD/test/peers/grpc_tool

build() { # NAME PACKAGE: the program $BATS_FILE_TMPDIR/NAME, or why not in NAME.why
	(cd "$ROOT/test/peers/$1" && GOTOOLCHAIN=local timeout 400 nice go build -o "$BATS_FILE_TMPDIR/$1" "$2") \
		>"$BATS_FILE_TMPDIR/$1.why" 2>&1 || true
}

setup_file() {
	command -v go >/dev/null || return 0
	if "$ROOT/test/peers/grpc/build" >"$BATS_FILE_TMPDIR/grpc.why"; then
		ln -s "$(cat "$BATS_FILE_TMPDIR/grpc.why")" "$BATS_FILE_TMPDIR/grpc"
	fi
	build grpc_old .
	build h2spec github.com/summerwind/h2spec/cmd/h2spec
}

# needs NAME...: skips where one of the programs is not there.
needs() {
	command -v go >/dev/null || skip "Go is not installed"
	local name
	for name; do
		[ -x "$BATS_FILE_TMPDIR/$name" ] || skip "$name cannot be built: $(tail -n 1 "$BATS_FILE_TMPDIR/$name.why")"
	done
	PEER=$BATS_FILE_TMPDIR/grpc
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	SOCKET=$PWD/s.sock
	mkfifo input output
}

# Both end with the test: their standard input does.
start() { # COMMAND...: waits for its first line, which is in $FIRST
	"$@" <input >output 2>errors 3>&- &
	SERVER=$!
	exec 8>input 9<output
	read -r -t 20 FIRST <&9
}

stop() { # the rest of what it printed is in $REST
	exec 8>&-
	REST=$(cat <&9)
	exec 9<&-
	wait "$SERVER"
}

teardown() {
	exec 8>&- 9<&-
	[ -z "${SERVER:-}" ] || wait "$SERVER" || true
}

# all_ok LEAST: each line of $output says ok, and there are so many.
all_ok() {
	echo "$output"
	[ "$status" -eq 0 ]
	not grep -qv '^ok ' <<<"$output"
	[ "$(grep -c '^ok ' <<<"$output")" -ge "$1" ]
}

@test "grpc-go calls our server" {
	needs grpc
	start "$OURS" server "$SOCKET"
	[ "$FIRST" = ready ]
	run "$PEER" client "$SOCKET"
	all_ok 27
	stop
	[[ $REST =~ ^([0-9]+)\ handled,\ 2\ cancelled ]]
	[ "${BASH_REMATCH[1]}" -gt 500 ]
	[ ! -e "$SOCKET" ]
}

@test "control: grpc-go sees a server that answers otherwise" {
	needs grpc
	start "$OURS" server "$SOCKET" 100000
	run "$PEER" client "$SOCKET"
	[ "$status" -eq 1 ]
	grep -q '^not ok echo of 1048576' <<<"$output"
	grep -q '^ok echo of 65536' <<<"$output"
	stop
}

@test "a grpc-go whose :authority is the path of the socket calls our server" {
	needs grpc_old
	start "$OURS" server "$SOCKET"
	run "$BATS_FILE_TMPDIR/grpc_old" "$SOCKET"
	all_ok 1
	stop
}

@test "grpc-go does not read: its connection ends, and the server goes on" {
	needs grpc
	start "$OURS" server "$SOCKET"
	run timeout 60 "$PEER" slow "$SOCKET"
	all_ok 1
	stop
	[ "$REST" = "1 handled, 1 cancelled, last send -105" ] # ENOBUFS
}

peer_server() {
	start sh -c 'echo ready; exec "$@"' sh "$PEER" server "$SOCKET"
	local i
	for i in $(seq 100); do
		[ ! -S "$SOCKET" ] || return 0
		read -r -t 0.1 <&9 || true
	done
	false
}

@test "our client calls grpc-go" {
	needs grpc
	peer_server
	run "$OURS" client "$SOCKET"
	all_ok 18
	stop
	grep -q '^cancelled: context canceled' errors
}

@test "our client when grpc-go takes no more calls" {
	needs grpc
	peer_server
	mkfifo told
	"$OURS" goaway "$SOCKET" >told 3>&- &
	{
		read -r -t 20 line
		[ "$line" = kept ]
		printf g >&8
		output=$(cat)
	} <told
	wait $!
	status=$?
	all_ok 3
	stop || true
}

@test "grpc-js calls our server" {
	command -v npm >/dev/null || skip "npm is not installed"
	cp "$ROOT"/test/peers/grpc_js/* .
	timeout 200 npm ci --prefer-offline --ignore-scripts --no-audit --no-fund >npm.log 2>&1 ||
		skip "grpc-js cannot be installed: $(tail -n 1 npm.log)"
	start "$OURS" server "$SOCKET"
	run timeout 60 node client.js "$SOCKET"
	all_ok 9
	stop
}

# h2spec's one case that fails, and why: nghttp2 takes HEADERS with a smaller stream number for trailers that crossed
# our RST_STREAM and ignores them (comment in nghttp2_session_on_request_headers_received()); RFC 9113, 5.1.1 wants
# the connection ended. No harm comes of it: the stream is closed and nothing is opened.
KNOWN='Sends stream identifier that is numerically smaller than previous'

@test "h2spec" {
	needs grpc h2spec
	start "$OURS" server "$SOCKET"
	mkfifo port stay
	"$PEER" bridge "$SOCKET" <stay >port 3>&- &
	exec 7>stay
	read -r -t 20 PORT <port
	run timeout 120 "$BATS_FILE_TMPDIR/h2spec" --strict -h 127.0.0.1 -p "$PORT" -o 2
	exec 7>&-
	sed -n '/^Failures/,$p' <<<"$output"
	[[ $output =~ ([0-9]+)\ tests,\ ([0-9]+)\ passed,\ ([0-9]+)\ skipped,\ ([0-9]+)\ failed ]]
	[ "${BASH_REMATCH[2]}" -ge 145 ] && [ "${BASH_REMATCH[3]}" -eq 0 ]
	failures=$(sed -n '/^Failures/,$p' <<<"$output" | grep '× ')
	[ "$(grep -c . <<<"$failures")" -eq 1 ]
	grep -qF "$KNOWN" <<<"$failures"
	run "$PEER" client "$SOCKET" # and after all of that
	all_ok 27
	stop
}
