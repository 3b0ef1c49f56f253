#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A newcomer's machine: a minimal Debian in a folder, in mount, PID, IPC and UTS namespaces of its own,
# where this repository is cloned and `make demo` is typed. Prints TAP. Packages come from where this
# machine's own apt gets them (its configuration is copied at run time).
#
# test/fresh.sh [MAKE-ARGUMENTS...]: other words for make than `demo`.
set -uo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)

skip() {
	echo "1..0 # SKIP $1"
	exit 0
}

copy_apt() { # ROOT
	local item
	rm -f "$1/etc/apt/sources.list"
	for item in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf /etc/apt/apt.conf.d \
		/etc/apt/auth.conf.d /etc/apt/preferences.d /etc/apt/trusted.gpg.d /etc/apt/keyrings \
		/usr/share/keyrings /etc/ssl/certs/ca-certificates.crt /etc/resolv.conf /etc/hosts; do
		[ -e "$item" ] || continue
		mkdir -p "$1$(dirname "$item")"
		cp -rLf --no-preserve=ownership -T "$item" "$1$item"
	done
	# What packages of this machine, not of the fresh one, put there.
	rm -f "$1"/etc/apt/apt.conf.d/{20packagekit,50appstream}
}

# The second life of this script, inside the namespaces: builds /dev and /proc, pivots, runs the words.
if [ "${1:-}" = --inside ]; then
	set -e
	root=$2
	shift 2
	mount --bind "$root" "$root"
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount -t tmpfs -o mode=755 tmpfs "$root/dev"
	mkdir "$root/dev/pts" "$root/dev/shm"
	mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
	mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
	for node in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
		IFS=: read -r name major minor <<<"$node"
		mknod -m 666 "$root/dev/$name" c "$major" "$minor"
	done
	ln -s pts/ptmx "$root/dev/ptmx"
	ln -s /proc/self/fd "$root/dev/fd"
	mkdir -p "$root/mnt/source" "$root/mnt/old"
	mount --bind -o ro "$(git -C "$top" rev-parse --path-format=absolute --git-common-dir)" "$root/mnt/source"
	cd "$root"
	pivot_root . mnt/old
	cd /
	umount -l /mnt/old
	exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
fi

[ "$(id -u)" = 0 ] || skip "a fresh Debian needs root"
for tool in unshare git; do
	command -v "$tool" >/dev/null || skip "$tool is not installed; run test/lib/install soak"
done
base=$("$top/test/lib/debian_base" 2>&1) || skip "${base##*$'\n'}"
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
cp -a "$base/." "$work"
copy_apt "$work"
commit=$(git -C "$top" rev-parse HEAD)

inside() {
	unshare --mount --propagation private --pid --fork --kill-child --ipc --uts \
		"$top/test/fresh.sh" --inside "$work" "$@" </dev/null >"$work.log" 2>&1
}

number=0
failed=0
step() { # TITLE COMMAND...
	local title=$1
	number=$((number + 1))
	shift
	if [ "$failed" != 0 ]; then
		echo "not ok $number - $title"
		echo "# not tried, an earlier step failed"
	elif inside "$@"; then
		echo "ok $number - $title"
	else
		echo "not ok $number - $title"
		tail -n 80 "$work.log" | sed 's/^/# /'
		failed=1
	fi
	rm -f "$work.log"
}

words=("$@")
[ ${#words[@]} -gt 0 ] || words=(demo)
echo 1..3
step "a newcomer installs git and make" \
	sh -c 'apt-get update && apt-get install -y --no-install-recommends git make'
step "clones the repository" sh -c "git clone -q /mnt/source /srv/gpupool && cd /srv/gpupool && git checkout -q $commit"
step "make ${words[*]} exits with 0" make -C /srv/gpupool "${words[@]}"
exit $failed
