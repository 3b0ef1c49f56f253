#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Evidence of somebody who means harm, or of a machine that wrote junk.

bats_require_minimum_version 1.5.0
load ../lib/common

MESSAGE='Failed to initialize NVML: Driver/library version mismatch'

setup() {
	[ -x "$BIN/gpupool" ] || { echo "$BIN/gpupool is not built"; return 1; }
	cd "$BATS_TEST_TMPDIR" || return
}

# The program's exit code, and at most MIB of memory. Runs it with standard input as it is.
within() { # MIB COMMAND...
	python3 -c '
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
if used > int(sys.argv[1]):
    sys.exit("%d MiB are too much" % used)
sys.exit(code)' "$@"
}

# No byte of $output is obeyed by a terminal, and all of it is UTF-8.
is_safe() {
	iconv -f UTF-8 -t UTF-8 <<<"$output" >/dev/null || return 1
	! LC_ALL=C grep -q -a $'[\x01-\x08\x0b-\x1f\x7f]' <<<"$output"
}

@test "binary junk is no verdict, and hides none" {
	python3 -c '
import random, sys
random.seed(7)
sys.stdout.buffer.write(random.randbytes(4 << 20))' >junk.bin
	run -3 gpupool doctor --from junk.bin
	is_safe
	{ cat junk.bin; printf '\n%s\n' "$MESSAGE"; cat junk.bin; } >mixed.bin
	for how in '' --json; do
		run -1 gpupool doctor --from mixed.bin $how
		[[ $output == *driver_library_mismatch* ]] && is_safe
	done
}

@test "a line without an end takes no memory, and what stands before it is found" {
	# A quarter of it is more than may be held, too.
	[ "${GPUPOOL_TEST_SCALE:-1}" -ge 100 ] && size=1G || size=256M
	{ echo "$MESSAGE"; head -c $size /dev/zero | tr '\0' a; } |
		(run -1 within 200 gpupool doctor --from -; [[ $output == *driver_library_mismatch* ]])
	truncate -s $size sparse
	run -3 within 200 gpupool doctor --from sparse
}

@test "bombs of zip and tar end early" {
	python3 -c '
import io, zipfile
data = bytes(200 << 20)
for layer in range(2):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for i in range(1 if layer == 0 else 8):
            z.writestr("%d" % i, data)
    data = out.getvalue()
open("bomb.zip", "wb").write(data)'
	python3 -c '
import io, tarfile
with tarfile.open("bomb.tgz", "w:gz") as t:
    for i in range(30000):
        t.addfile(tarfile.TarInfo("d/%d" % i))'
	for bomb in bomb.zip bomb.tgz; do
		run -3 timeout 120 bash -c "$(declare -f within); within 250 gpupool doctor --from $bomb"
		[[ $output == *'left out: '* ]] && is_safe
	done
}

@test "nothing of an archive is written, whatever its members are called" {
	mkdir here && cd here || return
	python3 -c '
import io, tarfile
text = b"'"$MESSAGE"'\n"
with tarfile.open("../evil.tar", "w") as t:
    for name in ("../above", "/tmp/gpupool-absolute", "a/../../b", "\x1b[2Jc\nd"):
        info = tarfile.TarInfo(name)
        info.size = len(text)
        t.addfile(info, io.BytesIO(text))
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    t.addfile(link)'
	for how in '' --json; do
		run -1 gpupool doctor --from ../evil.tar $how
		[[ $output == *driver_library_mismatch* ]] && [[ $output != *root:x* ]]
		is_safe
	done
	[ -z "$(ls -A)" ] && [ ! -e ../above ] && [ ! -e ../b ] && [ ! -e /tmp/gpupool-absolute ]
}

@test "no secret is printed, before or behind what is quoted, or in a name" {
	local secrets=(
		'Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJoIn0.SECRETSECRET'
		'Authorization: Basic dXNlcjpTRUNSRVRTRUNSRVQ='
		'--token abcdef.SECRET0123456789' 'docker login -u me -p hunterSECRET' '--password=hunterSECRET'
		'password: hunterSECRET' '"password": "hunter SECRET two"' 'DB_PASSWORD=hunterSECRET'
		'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYSECRET' 'AKIAIOSFODNN7SECRETT'
		'NGC_API_KEY: nvapi-SECRETabcdefghijklmnopqrstuvwxyz' 'hf_SECRETabcdefghijklmnopqrstuvw'
		'https://user:''hunterSECRET@git.example/a' 'sshpass -p hunterSECRET ssh node'
		'{"auths":{"nvcr.io":{"auth":"SECRETSECRETSECRET"}}}' 'token: SECRETabcdef0123456789'
		'{"name":"API_TOKEN","value":"hunterSECRET"}' 'client-key-data: U0VDUkVUSECRETSECRETSECRET'
		'-----BEGIN PRIVATE KEY-----\nMIIESECRET\n-----END PRIVATE KEY-----'
		'curl -u admin:hunterSECRET http://x' 'redis://:hunterSECRET@cache:6379/0'
	)
	local secret how
	for secret in "${secrets[@]}"; do
		printf '%s %s\n' "$secret" "$MESSAGE" >before.txt
		printf '%s %s\n' "$MESSAGE" "$secret" >behind.txt
		for how in '' --json; do
			run -1 gpupool doctor --from before.txt --from behind.txt $how
			[[ $output == *driver_library_mismatch* ]] || return 1
			# The variable's own name is no secret.
			output=${output//AWS_SECRET_ACCESS_KEY/}
			[[ $output != *SECRET* ]] || { echo "shown: $secret"; return 1; }
		done
	done
	echo "$MESSAGE" >'token=SECRETabcdef0123456789.txt'
	run -1 gpupool doctor --from 'token=SECRETabcdef0123456789.txt' --json
	[[ $output != *SECRETabcdef* ]]
}
