#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# CDI specs by our code and by the library that containerd, CRI-O and Docker read them with
# (tags.cncf.io/container-device-interface, a Go module): what is a spec, which devices there are, what a container gets.
load ../lib/common
load ../lib/driver

OURS=$BUILD/test/lib/cdi_tool
CASES=$ROOT/test/peers/cdi_cases

setup_file() {
	command -v go >/dev/null || return 0
	export PEER=$BATS_FILE_TMPDIR/peer
	(cd "$ROOT/test/peers/cdi" && GOTOOLCHAIN=local timeout 400 nice go build -o "$PEER" .) >"$BATS_FILE_TMPDIR/why" 2>&1 || true
}

setup() {
	command -v go >/dev/null || skip "Go is not installed"
	[ -x "$PEER" ] || skip "tags.cncf.io/container-device-interface cannot be built: $(tail -n 1 "$BATS_FILE_TMPDIR/why")"
	cd "$BATS_TEST_TMPDIR"
}

# Refused by us alone, as docs/cdi.md says: numbers, truth values and nulls where a string belongs, fractions where a
# whole number does, and keys of annotations that Kubernetes would not take.
BY_DESIGN='must be a (string|number)|annotations has "'

# agree PEER OURS: the same verdicts and lowest versions but for BY_DESIGN; prints what was compared.
agree() {
	paste -d'\t' "$1" "$2" | awk -F'\t' -v design="$BY_DESIGN" '
		{ split($1, peer, " "); split($2, ours, " ") }
		peer[1] != ours[1] { print "not the same file: " $0; bad = 1; next }
		peer[2] == "valid" && ours[2] == "valid" { same += peer[3] == ours[3]; if (peer[3] != ours[3]) { print; bad = 1 }; next }
		peer[2] == "refused" && ours[2] == "refused" { refused++; next }
		ours[2] == "refused" && $2 ~ design { stricter++; next }
		{ print "they differ: " $0; bad = 1 }
		END { print same + 0 " taken, " refused + 0 " refused, " stricter + 0 " stricter"; exit bad }'
}

verdicts() { # SPECS...
	"$PEER" validate "$@" >peer
	"$OURS" validate "$@" >ours
}

@test "specs of every shape are taken and refused alike" {
	mkdir cases
	"$CASES" "$ROOT/test/fuzz/corpus/cdi/everything.json" cases
	verdicts cases/*.json
	run agree peer ours
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output =~ ^([0-9]+)\ taken,\ ([0-9]+)\ refused,\ ([0-9]+)\ stricter$ ]]
	[ "${BASH_REMATCH[1]}" -gt 200 ] && [ "${BASH_REMATCH[2]}" -gt 800 ] && [ "${BASH_REMATCH[3]}" -gt 50 ]
}

@test "control: one verdict or version that is another is seen" {
	mkdir cases
	"$CASES" "$ROOT/test/fuzz/corpus/cdi/everything.json" cases
	verdicts cases/*.json
	awk '!done && /refused/ { sub(/refused.*/, "valid 0.3.0"); done = 1 } { print }' ours >changed
	not agree peer changed
	awk '!done && /valid 0.7.0/ { sub(/0.7.0/, "0.6.0"); done = 1 } { print }' ours >changed
	not cmp -s ours changed
	not agree peer changed
	awk '!done && /valid/ { sub(/valid.*/, "refused for no reason"); done = 1 } { print }' ours >changed
	not agree peer changed
}

@test "the same devices of several directories" {
	local text='{"cdiVersion":"0.5.0","kind":"a.b/c","devices":[{"name":"%s","containerEdits":{"env":["A=%s"]}},
		{"name":"%s","containerEdits":{"env":["A=%s"]}}]}' first='' second=''
	mkdir one two
	printf "$text" both 1 one 1 >one/a.json
	printf "$text" clash 1 x 1 >one/b.json
	printf "$text" clash 2 y 1 >one/c.yaml
	printf "$text" both 2 clash 3 >two/a.json
	echo '{' >two/b.json
	cp one/a.json one/a.txt
	mkdir one/d.json
	for order in "one two" "two one" one two; do
		"$PEER" devices $order >peer
		"$OURS" devices $order >ours 2>notes
		echo "$order: $(tr '\n' ' ' <ours)"
		cmp peer ours
		first+=$(wc -l <ours)
	done
	[ "$first" = 4442 ] # a control of the cases: they do clash
}

# A container's spec for the edits: with a variable, a device, a rule and mounts of its own.
config() {
	cat <<-'END'
		{"ociVersion": "1.0.2", "root": {"path": "r"}, "process": {"args": ["a"], "cwd": "/", "env": ["PATH=/bin", "A=b"],
		   "user": {"uid": 0, "gid": 0}},
		 "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
		   {"destination": "/usr/share/x/y/z", "type": "bind", "source": "/a", "options": ["rbind"]}],
		 "linux": {"devices": [{"path": "/dev/fuse", "type": "c", "major": 10, "minor": 229, "fileMode": 438, "uid": 0, "gid": 0}],
		   "resources": {"devices": [{"allow": false, "access": "rwm"}]}}}
	END
}

# The same container? What one of them leaves to the runtime's default and the other writes is alike, and the order
# of mounts is (the library sorts all of them by depth).
same_container() { # ONE OTHER
	local form='.linux.devices |= (map({fileMode: 438, uid: 0, gid: 0} + .) | sort) | .mounts |= sort_by(.destination)
		| .linux.resources.devices |= sort | .process.env |= sort'
	diff <(jq -S "$form" "$1") <(jq -S "$form" "$2")
}

@test "a container gets the same edits" {
	config >config.json
	mkdir specs
	cat >specs/a.json <<-'END'
		{"cdiVersion": "0.7.0", "kind": "a.b/c", "containerEdits": {"env": ["PATH=/new", "NEW=1"]},
		 "devices": [{"name": "x", "containerEdits": {"env": ["NEW=2"], "additionalGids": [7, 8],
		   "deviceNodes": [{"path": "/dev/nvidia0", "type": "c", "major": 195, "minor": 0, "permissions": "rw"},
		     {"path": "/dev/other", "hostPath": "/dev/null"}],
		   "mounts": [{"hostPath": "/usr/lib/a", "containerPath": "/usr/lib64/b", "options": ["ro", "rbind"]}]}},
		  {"name": "y", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia1", "type": "c", "major": 195, "minor": 1,
		     "fileMode": 384, "uid": 5, "gid": 6}]}}]}
	END
	"$PEER" inject config.json specs a.b/c=x a.b/c=y >peer
	"$OURS" inject config.json specs a.b/c=x a.b/c=y >ours
	same_container peer ours
	# and they are edited
	[ "$(jq '.linux.devices | length' ours)" -gt "$(jq '.linux.devices | length' config.json)" ]
	jq '.linux.devices[0].minor = 9' ours >changed
	not same_container peer changed
}

@test "what gpupool writes for a machine is a spec, and gives a container the same" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare -m true 2>/dev/null || skip "needs mount namespaces (CAP_SYS_ADMIN)"
	namespace_start
	driver_start mixed
	mkdir specs
	inside gpupool cdi generate --output "$PWD/specs/all.yaml"
	inside gpupool cdi generate --class other --output "$PWD/specs/all.json"
	verdicts specs/*
	agree peer ours
	grep -c 'valid 0.5.0' peer | grep -qx 2
	config >config.json
	for name in nvidia.com/gpu=0 nvidia.com/other=all; do
		inside "$PEER" inject config.json specs $name >peer
		inside "$OURS" inject config.json specs $name >ours
		same_container peer ours
	done
	[ "$(jq '[.linux.devices[] | select(.path | test("nvidia[0-9]"))] | length' ours)" -eq 5 ]
	namespace_stop
}
