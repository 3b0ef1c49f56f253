#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What a newcomer types before anything else: the installer of packages, make install, make demo.

load ../lib/common

install_packages=$ROOT/test/lib/install

# A PATH whose first folder answers for some programs.
pretend() { # PROGRAM SCRIPT
	mkdir -p "$BATS_TEST_TMPDIR/first"
	printf '#!/bin/sh\n%s\n' "$2" >"$BATS_TEST_TMPDIR/first/$1"
	chmod +x "$BATS_TEST_TMPDIR/first/$1"
	PATH=$BATS_TEST_TMPDIR/first:$PATH
}

@test "packages: nothing is done, without a word, when all is there" {
	pretend apt-get 'echo apt-get was called; exit 1'
	pretend dpkg-query 'shift 2; for p in "$@"; do echo "$p installed"; done'
	run "$install_packages"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "packages: what is missing is installed, and only of the named groups" {
	pretend id 'echo 0'
	pretend dpkg-query 'shift 2; for p in "$@"; do [ "$p" = runc ] && [ ! -e "$0.done" ] || echo "$p installed"; done'
	pretend apt-get "echo \"\$@\" >>\"\$0.log\"; touch '$BATS_TEST_TMPDIR/first/dpkg-query.done'"
	run "$install_packages" demo
	[ "$status" -eq 0 ]
	[ "$(cat "$BATS_TEST_TMPDIR/first/apt-get.log")" = "install -y --no-install-recommends runc" ]
	rm "$BATS_TEST_TMPDIR/first/dpkg-query.done" "$BATS_TEST_TMPDIR/first/apt-get.log"
	run "$install_packages" build
	[ "$status" -eq 0 ]
	[ ! -e "$BATS_TEST_TMPDIR/first/apt-get.log" ]
}

@test "packages: the lists are fetched when the first installation fails" {
	pretend id 'echo 0'
	pretend dpkg-query 'shift 2; for p in "$@"; do [ "$p" = runc ] && [ ! -e "$0.done" ] || echo "$p installed"; done'
	pretend apt-get "echo \"\$1\" >>\"\$0.log\"
		case \$1:\$(grep -c update \"\$0.log\") in
		install:0) exit 100 ;;
		install:1) touch '$BATS_TEST_TMPDIR/first/dpkg-query.done' ;;
		esac"
	run "$install_packages" demo
	[ "$status" -eq 0 ]
	[ "$(tr '\n' ' ' <"$BATS_TEST_TMPDIR/first/apt-get.log")" = "install update install " ]
}

@test "packages: a user who is not root is told what to install, exit 3" {
	pretend id 'echo 1000'
	pretend dpkg-query 'shift 2; for p in "$@"; do [ "$p" = runc ] || echo "$p installed"; done'
	run "$install_packages" demo
	[ "$status" -eq 3 ]
	[[ $output == *"missing: runc"*"apt-get install runc"* ]]
}

@test "packages: a package that apt cannot install is one sentence and exit 1" {
	pretend id 'echo 0'
	pretend dpkg-query 'shift 2; for p in "$@"; do [ "$p" = runc ] || echo "$p installed"; done'
	pretend apt-get 'exit 100'
	run "$install_packages" demo
	[ "$status" -eq 1 ]
	[[ $output == *"could not install runc"* ]]
}

@test "packages: a machine that is not Debian is told so, exit 3" {
	local program
	mkdir "$BATS_TEST_TMPDIR/only"
	for program in sh awk dirname mktemp; do
		ln -s "$(command -v $program)" "$BATS_TEST_TMPDIR/only/"
	done
	run env PATH="$BATS_TEST_TMPDIR/only" "$install_packages" demo
	[ "$status" -eq 3 ]
	[[ $output == *"not Debian"*runc* ]]
}

@test "packages: a group that does not exist is wrong usage, exit 2" {
	run "$install_packages" coffee
	[ "$status" -eq 2 ]
	[[ $output == *"no group 'coffee'"* ]]
}

@test "make: every target that is announced has a rule" {
	local target
	for target in $(sed -n 's/^\.PHONY: //p' "$ROOT/Makefile"); do
		grep -q "^$target:" "$ROOT/Makefile" || { echo "no rule for $target"; return 1; }
	done
}

@test "make install: programs, man page and completion, and the installed program works" {
	NVIDIA_NAMES=1 make -C "$ROOT" --no-print-directory install DESTDIR="$BATS_TEST_TMPDIR/root" PREFIX=/opt/gpupool
	local place=$BATS_TEST_TMPDIR/root/opt/gpupool
	[ -x "$place/bin/gpupool" ]
	[ -x "$place/bin/gpupool-nvml" ]
	grep -q '^\.TH' "$place/share/man/man1/gpupool.1"
	bash -n "$place/share/bash-completion/completions/gpupool"
	"$place/bin/gpupool" --version | grep -q '^gpupool [0-9]'
	[ -x "$ROOT/build/bin/gpupool" ]
	! ldd "$place/bin/gpupool" | grep -q asan
	grep -q '^\.TH' "$place/share/man/man8/gpupool-runtime.8"
	"$place/bin/gpupool-runtime" --help | grep -q '^Usage: gpupool-runtime'
	not ldd "$place/bin/gpupool-runtime"
	"$place/bin/nvidia-cdi-hook" 2>&1 | grep -q 'does nothing here'
	"$place/bin/gpupoold" --version | grep -q '^gpupoold [0-9]'
	grep -q '^\.TH' "$place/share/man/man8/gpupoold.8"
	bash -n "$place/share/bash-completion/completions/gpupoold"
	grep -qx 'ExecStart=/opt/gpupool/bin/gpupoold' "$place/lib/systemd/system/gpupoold.service"
	grep -qx 'ExecStart=/opt/gpupool/bin/gpupool inventory' "$place/lib/systemd/system/gpupool-inventory.service"
}

@test "the unit that takes the inventory at boot is one that systemd takes, and one with a slip is told" {
	command -v systemd-analyze >/dev/null || skip "there is no systemd-analyze"
	local unit=$BATS_TEST_TMPDIR/gpupool-inventory.service
	sed "s|^ExecStart=/usr/bin/|ExecStart=$BIN/|" "$ROOT/deploy/gpupool-inventory.service" >"$unit"
	run systemd-analyze verify --man=no "$unit"
	echo "$output"
	[ "$status" = 0 ]
	[ -z "$output" ]
	# The control: a program that is not there, and a key that there is none of.
	sed -i "s|^ExecStart=.*|ExecStart=$BIN/gpupol inventory|; s|^Type=|Tipe=|" "$unit"
	run systemd-analyze verify --man=no "$unit"
	echo "$output"
	[[ $output == *gpupol* && $output == *Tipe* ]]
}

@test "make demo: without a driver and without root it names the right and exits with 3" {
	[ ! -r /proc/driver/nvidia/version ] || skip "this machine has a real driver"
	pretend id 'echo 1000'
	run env -u GPUPOOL_DRIVER_ROOT "$ROOT/dev/demo" t4
	[ "$status" -eq 3 ]
	[[ $output == *CAP_MKNOD*"sudo make demo PROFILE=t4"* ]]
}
