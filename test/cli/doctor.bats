#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# gpupool doctor as people and scripts use it. What it finds in which text is the unit tests' subject.

bats_require_minimum_version 1.5.0
load ../lib/common

setup() {
	[ -x "$BIN/gpupool" ] || { echo "$BIN/gpupool is not built"; return 1; }
	cd "$BATS_TEST_TMPDIR" || return
	cat >broken.txt <<-'END'
		$ nvidia-smi
		Failed to initialize NVML: Driver/library version mismatch
		NVML library version: 570.195
	END
	echo 'a line about something else' >other.txt
}

# What --json prints must have these keys and types, and no others.
is_verdict() {
	python3 -c '
import json, sys
v = json.load(sys.stdin)
links = ["driver", "runtime", "plugin", "scheduler", "injection", "cuda", "sharing", "dra"]
assert list(v) == ["chain", "first_broken", "findings", "ask"], list(v)
assert [c["link"] for c in v["chain"]] == links
assert all(sorted(c) == ["link", "state"] for c in v["chain"])
assert all(c["state"] in ("ok", "broken", "suspect", "unknown") for c in v["chain"])
assert v["first_broken"] in links + [None]
for f in v["findings"]:
    assert list(f) == ["code", "link", "certainty", "cause", "cure", "evidence"], list(f)
    assert f["link"] in links and f["certainty"] in ("certain", "likely", "possible")
    assert f["cause"] and f["cure"] and all(type(c) is str for c in f["cure"])
    assert f["evidence"]
    for e in f["evidence"]:
        assert list(e) == ["source", "line", "text"] and type(e["line"]) is int and e["line"] > 0
for a in v["ask"]:
    assert list(a) == ["command", "tells"]
exec(sys.argv[1])' "$1"
}

@test "what is broken is said with its lines and its cure, and the exit code is 1" {
	run -1 gpupool doctor --from broken.txt
	[[ ${lines[0]} == *"driver"*"runtime"*"plugin"*"scheduler"* ]]
	[[ ${lines[1]} == *"injection"*"cuda"*"sharing"*"dra"* ]]
	[[ $output == *'The link "driver" is broken: driver_library_mismatch ('* ]]
	[[ $output == *'broken.txt:2: Failed to initialize NVML: Driver/library version mismatch'* ]]
	[[ $output == *'Cure:'*'reboot'* ]]
}

@test "scripts get one object of fixed form" {
	run -1 --separate-stderr gpupool doctor --from broken.txt --json
	[ -z "$stderr" ]
	is_verdict 'assert v["first_broken"] == "driver" and v["ask"] == []' <<<"$output"
	run -3 --separate-stderr gpupool doctor --from other.txt --json
	is_verdict 'assert v["first_broken"] is None and not v["findings"] and v["ask"]' <<<"$output"
}

@test "a pipe, a file, a folder and several of them say the same" {
	gpupool doctor --from broken.txt --json >file.json || true
	mkdir -p folder/below && cp broken.txt folder/below && cp other.txt folder
	for way in '--from -' '--from folder' '--from folder/' '--from other.txt --from broken.txt'; do
		run -1 gpupool doctor $way --json <broken.txt
		is_verdict 'assert v["findings"][0]["code"] == "driver_library_mismatch"
assert v["findings"][0]["evidence"][0]["line"] == 2' <<<"$output"
	done
	for way in broken.txt - 'folder other.txt' '--from other.txt broken.txt' '-- broken.txt'; do
		run -1 gpupool doctor --json $way <broken.txt
		is_verdict 'assert v["findings"][0]["code"] == "driver_library_mismatch"' <<<"$output"
	done
	run -1 gpupool doctor --from <(cat broken.txt)
	run -1 gpupool doctor --from folder
	[[ $output == *'folder/below/broken.txt:2: '* ]]
}

@test "archives, and archives in them, are looked into" {
	tar czf t.tar.gz broken.txt other.txt && gzip -k broken.txt && tar cf outer.tar other.txt t.tar.gz
	python3 -c 'import zipfile; zipfile.ZipFile("z.zip", "w").write("broken.txt")'
	for name in t.tar.gz broken.txt.gz outer.tar z.zip; do
		run -1 gpupool doctor --from "$name"
		run -1 gpupool doctor --from - <"$name"
		[[ $output == *driver_library_mismatch* ]]
	done
	run -1 gpupool doctor --from outer.tar
	[[ $output == *'outer.tar!t.tar.gz!broken.txt:2: '* ]]
}

@test "a damaged archive and a bomb are left out, and what lies beside them is read" {
	mkdir folder && cp broken.txt folder && tar cz broken.txt | head -c 100 >folder/cut.tar.gz
	yes 'a line of a log that says nothing of cards' | head -c 100M | gzip >folder/bomb.gz
	run -1 gpupool doctor --from folder
	[[ $output == *'left out: folder/bomb.gz unpacks to more than it should'* ]]
	[[ $output == *'left out: folder/cut.tar.gz is damaged'* ]]
	[[ $output == *driver_library_mismatch* ]]
	run -3 gpupool doctor --from folder/bomb.gz
}

@test "a folder's links lead nowhere" {
	mkdir folder && ln -s ../broken.txt folder/link && cp other.txt folder && mkfifo folder/pipe
	run -3 timeout 20 gpupool doctor --from folder
	ln -s "$PWD" folder/round
	run -3 timeout 20 gpupool doctor --from folder
}

@test "with too little it says what would tell more, and the exit code is 3" {
	run -3 gpupool doctor --from other.txt
	[[ $output == *'kubectl describe pod POD'* ]]
	run -3 gpupool doctor --from /dev/null
	run -3 gpupool doctor --from - </dev/null
}

@test "a Pod that does not run is not called healthy, though no link is broken" {
	for reason in ImagePullBackOff ErrImagePull CrashLoopBackOff; do
		cat >pod.txt <<-END
			Name:             first
			Namespace:        default
			Node:             node-a/10.99.0.1
			Status:           Pending
			Containers:
			  main:
			    Image:         registry.example/train:1
			    State:          Waiting
			      Reason:       $reason
			    Ready:          False
			    Limits:
			      nvidia.com/gpu:  1
			Events:
			  Type     Reason      Age  From               Message
			  ----     ------      ---  ----               -------
			  Normal   Scheduled   23s  default-scheduler  Successfully assigned default/first to node-a
		END
		run -3 gpupool doctor pod.txt
		[[ ${lines[0]} == *'scheduler ✓'* || ${lines[0]} == *'scheduler [ok]'* ]]
		[[ $output == *'chain from driver to Pod'* && $output != *'Nothing broken'* ]]
		run -3 gpupool doctor --json pod.txt
		is_verdict 'assert not v["findings"] and len(v["ask"]) == 1' <<<"$output"
	done
	sed -e 's/Pending/Running/' -e 's/Waiting/Running/' -e '/Reason: *Crash/d' -e 's/False/True/' pod.txt >good.txt
	run -0 gpupool doctor good.txt
}

@test "mistakes of the command line are 2, and name what to type" {
	run -2 gpupool doctor
	[[ $output == *'--from FILE'* ]]
	run -2 gpupool doctor --list broken.txt
	[[ $output == *"'broken.txt' was given; remove it"* ]]
	run -2 gpupool doctor broken.txt gone.txt
	[[ $output == *'gone.txt'*'No such file'* ]]
	run -2 gpupool doctor --from absent.txt
	[[ $output == *'absent.txt'*'No such file'* ]]
	run -2 gpupool doctor --explain no_such_code
	[[ $output == *'--list'* ]]
}

@test "what cannot be read is left out and said" {
	[ "$(id -u)" != 0 ] || command -v setpriv >/dev/null || skip "root reads everything"
	mkdir folder && cp broken.txt other.txt folder && chmod 0 folder/other.txt && chmod -R a+rX .
	chmod 0 folder/other.txt
	if [ "$(id -u)" = 0 ]; then
		chmod a+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
		run -1 setpriv --reuid 65534 --clear-groups --inh-caps -all \
			"$BIN/gpupool" doctor --from folder
	else
		run -1 gpupool doctor --from folder
	fi
	[[ $output == *'left out: cannot open folder/other.txt: Permission denied'* ]]
	[[ $output == *'driver_library_mismatch'* ]]
}

@test "marks are ASCII where the terminal knows no more" {
	LC_ALL=C run -1 gpupool doctor --from broken.txt
	[[ ${lines[0]} == 'driver [X] > runtime [ ] >'* ]]
	((${#lines[0]} < 80 && ${#lines[1]} < 80))
	LC_ALL=C.UTF-8 run -1 gpupool doctor --from broken.txt
	[[ ${lines[0]} == 'driver ✗ → runtime · → plugin · → scheduler ·' ]]
	[[ ${lines[1]} == '  → injection · → cuda · → sharing · → dra ·' ]]
}

@test "no escape of the evidence or of its name reaches the terminal" {
	local name=$'a\e[31mb.txt'
	printf 'x \e[2J Driver/library version mismatch \e]0;title\a\xff\n' >"$name"
	for how in '' --json; do
		run -1 gpupool doctor --from "$name" $how
		[[ $output == *driver_library_mismatch* ]]
		[[ $output != *$'\e'* ]] && [[ $output != *$'\a'* ]]
		iconv -f UTF-8 -t UTF-8 <<<"$output" >/dev/null
	done
}

@test "secrets of the evidence are not repeated" {
	local token=eyJhbGciOiJSUzI1NiIsImtpZCI6IiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl
	echo "Authorization: Bearer $token: Driver/library version mismatch password=hunter2secret" >secret.txt
	for how in '' --json; do
		run -1 gpupool doctor --from secret.txt $how
		[[ $output != *eyJhbGci* ]] && [[ $output != *hunter2secret* ]]
	done
}

@test "every cause of the list can be explained" {
	run -0 gpupool doctor --list
	local count=$((${#lines[@]} - 1))
	[[ ${lines[-1]} == "$count causes;"* ]]
	run -0 gpupool doctor --list --json
	python3 -c '
import json, sys
causes = json.load(sys.stdin)["causes"]
assert len(causes) == int(sys.argv[1]), len(causes)
assert all(c["code"] and c["cause"] and c["cure"] and c["source"] for c in causes)' "$count" <<<"$output"
	for code in $(gpupool doctor --list | awk '{ print $2 }' | sed '$d' | sort -R | head -n 5); do
		run -0 gpupool doctor --explain "$code"
		[[ $output == "$code: the link "* ]] && [[ $output == *'Cure:'* ]]
		run -0 gpupool doctor --explain "$code" --json
		[[ $(python3 -c 'import json, sys; print(json.load(sys.stdin)["code"])' <<<"$output") == "$code" ]]
	done
}

@test "a full disk is no verdict" {
	run -3 bash -c 'gpupool doctor --from broken.txt >/dev/full'
}
