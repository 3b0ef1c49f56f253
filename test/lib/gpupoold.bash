# SPDX-License-Identifier: Apache-2.0
# For tests of gpupoold as a process, after `load ../lib/common` and `load ../lib/driver`. Everything is below /run
# of the test's own namespace:
#   node_start [ARGS...]     gpupoold with these options; DAEMON is its process, $LOG what it says. NODE_LOOKS: how it
#                            looks at the driver, more often than by default
#   node_stop [SIGNAL]       ends it; NODE_STATUS is its exit status
#   needs_node               skips where there can be no node; setup_node PROFILE; teardown_node
#   begin [ARGS...]          a kubelet and the daemon, all cards listed
#   kubelet_start_process    the fake kubelet (test/lib/fake_kubelet_main.c); it does not run yet
#   kubelet COMMAND...       one command of its; REPLY is the answer, and printed. Fails when that is "failed: ..."
#   admit NAME CONTAINER:RESOURCE=N...  a Pod; REPLY is running, or rejected: and why
#   run_pod NAME REQUEST     a Pod with one container "main", which must run
#   ids_of NAME              the IDs of cards and instances that it holds, a line each
#   counts RESOURCE          CAPACITY ALLOCATABLE of the plugin's last list
#   counts_are RESOURCE CAPACITY ALLOCATABLE
#   scrape PATH              what the daemon's HTTP server says
#   metric NAME [LABELS...]  the value of the series whose labels contain all of LABELS
#   is COMMAND... ; TEXT     see below
#   soon SECONDS COMMAND...  wait_for, and says what was there when it fails
GPU=nvidia.com/gpu
UNITS=gpupool.io/gpu-memory
PLUGINS=/run/kubelet/device-plugins
LOG=/run/gpupoold.log
NODE_LOOKS=(--probe-period=1s --probe-timeout=2s)
PORT=$((20000 + BASHPID % 20000)) # of this machine: other files run meanwhile

# A file that is written in the namespace, read from outside of it.
seen() { cat "/proc/$NAMESPACE/root$1" 2>/dev/null; }

kubelet_start_process() {
	inside mkdir -p "$PLUGINS" /run/kubelet/pod-resources /run/cri
	rm -f "$BATS_FILE_TMPDIR/to" "$BATS_FILE_TMPDIR/from"
	mkfifo "$BATS_FILE_TMPDIR/to" "$BATS_FILE_TMPDIR/from"
	nsenter -t "$NAMESPACE" -m --wd="$PWD" -- "$BUILD/test/lib/fake_kubelet" --log /run/kubelet.log --cri /run/cri/cri.sock --cdi on \
		"$PLUGINS" - /run/kubelet/pod-resources/kubelet.sock <"$BATS_FILE_TMPDIR/to" >"$BATS_FILE_TMPDIR/from" 3>&- &
	KUBELET=$!
	exec 7>"$BATS_FILE_TMPDIR/to" 8<"$BATS_FILE_TMPDIR/from"
}

kubelet() {
	case $1 in start | kill | restart) set -- kubelet "$1" ;; esac
	echo "$*" >&7
	IFS= read -rt 40 -u 8 REPLY || {
		echo "the fake kubelet gave no answer to: $*" >&2
		return 1
	}
	echo "$REPLY"
	[[ $REPLY != "failed: "* ]]
}

admit() {
	kubelet pod "$@" >/dev/null && kubelet state "$1"
}

run_pod() {
	admit "$1" "main:$2"
	[ "$REPLY" = running ]
}

ids_of() {
	kubelet holders | tr ' ' '\n' | sed -n "s|^$1/[^{]*{\(.*\)}$|\1|p" | tr , '\n' | grep -e '^GPU-' -e '^MIG-'
}

counts() {
	local words
	read -ra words < <(kubelet counts "$1")
	echo "${words[1]} ${words[3]}"
}

kubelet_stop_process() {
	exec 7>&- 8<&-
	kill "$KUBELET" 2>/dev/null || true
	wait "$KUBELET" 2>/dev/null || true
}

node_start() {
	inside mkdir -p /run/state
	# No function: DAEMON is then the daemon itself, and not a shell that waits for it.
	nsenter -t "$NAMESPACE" -m --wd="$PWD" -- \
		env GPUPOOL_DRIVER_ROOT="$DRIVER" NODE_NAME=node-1 "${NODE_WRAP[@]}" "$BIN/gpupoold" \
		--kubelet-socket="$PLUGINS/kubelet.sock" \
		--pod-resources-socket=/run/kubelet/pod-resources/kubelet.sock --cri-socket=/run/cri/cri.sock \
		--state-directory=/run/state --cdi-directory=/run/cdi --metrics-address=127.0.0.1:$PORT \
		"${NODE_LOOKS[@]}" "$@" 2>>"/proc/$NAMESPACE/root$LOG" 3>&- 7>&- 8<&- &
	DAEMON=$!
}

node_stop() {
	kill "-${1:-TERM}" "$DAEMON" 2>/dev/null || true
	NODE_STATUS=0
	wait "$DAEMON" || NODE_STATUS=$?
}

scrape() { curl -sS --max-time 5 "http://127.0.0.1:$PORT/$1"; }

metric() {
	local name=$1 line
	shift
	while IFS= read -r line; do
		case $line in "$name "* | "$name{"*) ;; *) continue ;; esac
		local label all=1
		for label in "$@"; do
			[[ $line == *"$label"* ]] || all=0
		done
		if [ $all = 1 ]; then
			echo "${line##* }"
			return 0
		fi
	done < <(scrape metrics)
	return 1
}

is() { # WANTED COMMAND...: it prints just that
	ACTUAL=$("${@:2}")
	[ "$ACTUAL" = "$1" ]
}

soon() { # SECONDS COMMAND...
	wait_for "$@" || {
		echo "not within $1 s: ${*:2}" >&2
		echo "it is: ${ACTUAL-}" >&2
		seen "$LOG" | tail -20 >&2
		return 1
	}
}

counts_are() { is "$2 $3" counts "$1"; }
says() { seen "$LOG" | grep -qF -- "$1"; }
ready() { scrape readyz | grep -q '^ok'; }

needs_node() {
	[ "$(id -u)" = 0 ] || skip "needs root (device nodes)"
	unshare -m true 2>/dev/null || skip "needs mount namespaces"
}

begin() {
	kubelet start
	node_start "$@"
	soon 15 counts_are $GPU 8 8
}

setup_node() { # PROFILE
	namespace_start
	driver_start "$1"
	kubelet_start_process
}

teardown_node() {
	[ "${BATS_TEST_COMPLETED:-}" = 1 ] || seen "$LOG" | tail -30
	[ -z "${DAEMON:-}" ] || node_stop KILL
	kubelet_stop_process
	namespace_stop
}
