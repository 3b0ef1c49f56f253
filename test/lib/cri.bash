# SPDX-License-Identifier: Apache-2.0
# For tests with a real containerd, after `load ../lib/common` and `load ../lib/driver` and namespace_start.
# The daemon, its shims and what they make live in the file's mount namespace: /run, /etc and /var/lib are its own.
#   engine_find debian|module    finds containerd 1.6 or 2.x, with crictl; else says in $WHY why not
#   handler NAME BINARY [KEYS]   a runtime handler, before engine_start; KEYS are more lines of its section
#   engine_start                 starts it, with /etc/containerd/config.toml; engine_restart; dev_private, before: the simulated driver's nodes are in /dev
#   image_import NAME ROOT [VARIABLE=VALUE...]   an image of the files in ROOT (image_sandbox, image_tools)
#   images_of_roots NAME...      images of roots of roots.bash, which must be loaded
#   pod_start [HANDLER [FILTER]]       a Pod without a network of its own, in $POD; FILTER changes its JSON
#   container_start [FILTER]           a container in it that waits, in $CONTAINER; what went wrong in $SAID
#   see COMMAND...                     runs it inside the container
#   cards_seen                         which cards it can name and reach: "nvidia0=0 reached 0"
#   rules_again                        what systemd does to the container's device rules at a daemon-reload
#   container_stop, pod_stop, engine_stop; engine_nothing_left
# Nothing comes from a registry and no CNI plugin is used.
CRI=/run/cri
PROBE=/device_probe

engine_find() {
	MODULES=$("$ROOT/test/peers/containerd/build") || { WHY=$MODULES; return 1; }
	ENGINE=$MODULES ENGINE_KIND=$1
	[ "$1" != debian ] || ENGINE=$("$ROOT/test/lib/debian_containerd") || { WHY=${ENGINE#*: }; return 1; }
	export MODULES ENGINE ENGINE_KIND
	HANDLERS=$BATS_FILE_TMPDIR/handlers
	export HANDLERS CRI_CGROUP=gpupool-cri-$$
	: >"$HANDLERS"
}

# The section of the configuration that holds the runtimes, and the one that holds the rest.
cri_section() {
	case $ENGINE_KIND in
	debian) echo "plugins.\"io.containerd.grpc.v1.cri\"" ;;
	module) echo "plugins.\"io.containerd.cri.v1.runtime\"" ;;
	esac
}

handler() { # NAME BINARY [KEYS]
	local section
	section=$(cri_section).containerd.runtimes.$1
	cat >>"$HANDLERS" <<-EOF
		[$section]
		runtime_type = "io.containerd.runc.v2"
		${3:-}
		[$section.options]
		BinaryName = "$2"
	EOF
}

# The root lacks CAP_SYS_RESOURCE on some machines, so no score is lowered.
engine_config() {
	local version=2 sandbox='sandbox_image = "localhost/sandbox:1"' section cdi=
	section=$(cri_section)
	if [ "$ENGINE_KIND" = module ]; then
		version=3 sandbox= cdi='cdi_spec_dirs = ["/etc/cdi", "/run/cdi"]'
	fi
	cat <<-EOF
		version = $version
		root = "$CRI/root"
		state = "$CRI/state"
		[grpc]
		address = "$CRI/socket"
		[plugins."io.containerd.internal.v1.opt"]
		path = "$CRI/opt"
		[plugins."io.containerd.nri.v1.nri"]
		disable = true
		[$section]
		restrict_oom_score_adj = true
		${ENGINE_KEYS:-}
		$sandbox
		$cdi
		[$section.cni]
		conf_dir = "$CRI/no-network"
	EOF
	[ "$ENGINE_KIND" != module ] || cat <<-EOF
		[plugins."io.containerd.cri.v1.images".pinned_images]
		sandbox = "localhost/sandbox:1"
	EOF
	cat "$HANDLERS"
}

# etc_private: an /etc and a /var/lib of this namespace, above the machine's.
etc_private() {
	inside test ! -e $CRI/private || return 0
	inside sh -ec 'for place in /etc /var/lib; do
			layer=$0/private$place
			mkdir -p "$layer/upper" "$layer/work"
			mount -t overlay -o "lowerdir=$place,upperdir=$layer/upper,workdir=$layer/work" overlay $place
		done
		rm -rf /etc/cdi /etc/containerd /etc/crictl.yaml /etc/gpupool /etc/nvidia-container-runtime /var/lib/gpupool
		mkdir /etc/cdi /etc/containerd' "$CRI"
}

# dev_private: a /dev of this namespace with the nodes of the machine and of the simulated driver, as a
# machine has it whose driver is in its root.
dev_private() {
	inside sh -ec 'mkdir -p "$0/dev" && mount -t tmpfs -o mode=0755 tmpfs "$0/dev"
		cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/fd /dev/stdin /dev/stdout /dev/stderr "$0/dev/"
		for name in pts shm mqueue; do
			[ ! -d "/dev/$name" ] || { mkdir "$0/dev/$name" && mount --rbind "/dev/$name" "$0/dev/$name"; }
		done
		cp -a /dev/ptmx "$0/dev/"; cp -a "$1"/dev/nvidia* "$0/dev/"; mount --move "$0/dev" /dev' $CRI "$DRIVER"
}

engine_start() {
	etc_private
	engine_config | inside sh -c "cat >/etc/containerd/config.toml; mkdir -p $CRI/logs /run/cdi; : >$CRI/crictl.yaml"
	engine_run
}

engine_run() {
	PATH=$ENGINE:$PATH nsenter -t "$NAMESPACE" -m -- "$ENGINE/containerd" --config /etc/containerd/config.toml \
		>"$BATS_FILE_TMPDIR/containerd.log" 2>&1 3>&- &
	ENGINE_PID=$!
	export ENGINE_PID
	wait_for 30 engine_answers || { tail -n 20 "$BATS_FILE_TMPDIR/containerd.log" >&2; return 1; }
}

engine_answers() {
	kill -0 "$ENGINE_PID" || return 0
	crictl info
}

crictl() {
	inside "$MODULES/crictl" --config $CRI/crictl.yaml --runtime-endpoint unix://$CRI/socket \
		--image-endpoint unix://$CRI/socket --timeout 30s "$@" 3>&-
}

# image_describe FOLDER NAME LAYER... [-- VARIABLE=VALUE...]: an image of layers in FOLDER, to be loaded.
image_describe() {
	local folder=$1 name=$2 layers=()
	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		layers+=("$1")
		shift
	done
	(cd "$folder" && sha256sum "${layers[@]}") | jq -Rn --arg probe $PROBE '{architecture: "amd64", os: "linux",
		config: {Env: $ARGS.positional[1:], Cmd: [$probe, "wait"]},
		rootfs: {type: "layers", diff_ids: [inputs | "sha256:" + .[:64]]}}' --args -- "${@:---}" >"$folder/$name.json"
	jq -nc --arg name "$name" '{Config: "\($name).json", RepoTags: ["localhost/\($name):1"],
		Layers: $ARGS.positional}' --args -- "${layers[@]}" >"$folder/$name.entry"
}

# image_load FOLDER: a docker archive of the described ones, imported.
image_load() {
	(cd "$1" && jq -s . ./*.entry >manifest.json && tar -cf image.tar ./*.json ./*.tar)
	inside "$ENGINE/ctr" -a $CRI/socket -n k8s.io images import "$1/image.tar" >"$1/said" 2>&1 3>&- ||
		{ cat "$1/said" >&2; return 1; }
	rm -r "$1"
}

layer() { # ROOT ARCHIVE
	[ -e "$2" ] || inside tar -C "$1" --numeric-owner --owner=0 --group=0 -cf - . >"$2"
}

image_import() { # NAME ROOT [VARIABLE=VALUE...]
	local folder=$BATS_FILE_TMPDIR/image
	mkdir -p "$folder"
	layer "$2" "$folder/layer.tar"
	image_describe "$folder" "$1" layer.tar -- "${@:3}"
	image_load "$folder"
}

# images_of_roots NAME...: of what root_NAME of roots.bash makes; the Debian below several is one layer.
images_of_roots() {
	local folder=$BATS_FILE_TMPDIR/roots root name
	mkdir -p "$folder"
	for root in "$@"; do
		name=${root//_/-}
		"root_$root"
		if inside test -d "$ROOTS/.$name/upper"; then
			layer "$DEBIAN" "$folder/base.tar"
			layer "$ROOTS/.$name/upper" "$folder/$name.tar"
			image_describe "$folder" "$name" base.tar "$name.tar"
		else
			layer "$ROOTS/$name" "$folder/$name.tar"
			image_describe "$folder" "$name" "$name.tar"
		fi
	done
	image_load "$folder"
}

# image_row TITLE: what programs in $CONTAINER find of the libraries that are mounted, as a row of
# docs/library-targets.md.
image_row() {
	local list=$BATS_TEST_TMPDIR/list out=$BATS_TEST_TMPDIR/out first
	container_spec | jq -r '.mounts[] | "\(.destination) \(.source)"' | only_libraries >"$list"
	[ "$(wc -l <"$list")" -ge 40 ] || { cat "$list" >&2; return 1; }
	see /dlopen_probe $(asked_of "$list") libcuda.so.1 >"$out" 2>"$BATS_TEST_TMPDIR/errors" || true
	grep -q '^[on][ko] ' "$out" || { cat "$BATS_TEST_TMPDIR/errors" >&2; return 1; }
	first=$(awk '$2 == "libcuda.so.1" { print $3; exit }' "$out")
	echo "| $1 | \`$(directory_of "$list")\` | \`$first\` | $(verdict "$list" "$out") |"
}

# The sandbox's image holds the static probe, which waits.
image_sandbox() {
	mkdir -p "$BATS_FILE_TMPDIR/sandbox"
	cp "$BUILD/test/lib/device_probe" "$BATS_FILE_TMPDIR/sandbox/"
	image_import sandbox "$BATS_FILE_TMPDIR/sandbox"
}

# An image with the C library and a few programs of this machine, in the directories of a merged /usr.
image_tools() { # NAME [VARIABLE=VALUE...]
	local root=$BATS_FILE_TMPDIR/tools directory program
	for directory in bin lib lib64; do
		mkdir -p "$root/usr/$directory" && ln -sfn "usr/$directory" "$root/$directory"
	done
	for program in cat env ls sh; do
		cp -L "$(command -v $program)" "$root/bin/"
		ldd "$(command -v $program)" | grep -o '/lib[^ ]*' | xargs -I{} cp -L --parents {} "$root/"
	done
	cp -L --parents /lib/*-linux-gnu/lib{m.so.6,dl.so.2,rt.so.1,pthread.so.0} "$root/"
	mkdir -p "$root/tmp" "$root/etc"
	cp "$BUILD"/test/lib/{device,dlopen}_probe "$root/"
	image_import "$1" "$root" "${@:2}"
}

pod_start() { # [HANDLER [FILTER]]
	POD_FILE=$BATS_TEST_TMPDIR/pod.json
	jq -n --arg name "pod-$BATS_SUITE_TEST_NUMBER" --arg uid "$(cat /proc/sys/kernel/random/uuid)" \
		--arg cgroup "/$CRI_CGROUP" --arg logs $CRI/logs \
		"{metadata: {name: \$name, uid: \$uid, namespace: \"default\", attempt: 0}, log_directory: \$logs,
			linux: {cgroup_parent: \$cgroup, security_context: {namespace_options: {network: 2}}}} |
			${2:-.}" >"$POD_FILE"
	POD=$(crictl runp ${1:+--runtime "$1"} "$POD_FILE" 2>"$BATS_TEST_TMPDIR/said") || pod_failed
}

pod_failed() {
	SAID=$(cat "$BATS_TEST_TMPDIR/said") POD=
	return 1
}

container_start() { # [FILTER]
	local file=$BATS_TEST_TMPDIR/container.json
	jq -n "{metadata: {name: \"main\", attempt: 0}, image: {image: \"localhost/sandbox:1\"},
		command: [\"$PROBE\", \"wait\"], log_path: \"log\", linux: {}} | ${1:-.}" >"$file"
	CONTAINER=$(crictl create --no-pull "$POD" "$file" "$POD_FILE" 2>"$BATS_TEST_TMPDIR/said") &&
		crictl start "$CONTAINER" >"$BATS_TEST_TMPDIR/said" 2>&1 && return
	SAID=$(cat "$BATS_TEST_TMPDIR/said")
	return 1
}

see() {
	crictl exec "$CONTAINER" "$@"
}

# The nodes of cards in /dev, then the cards that a node made by the container itself reaches.
cards_seen() {
	see $PROBE nodes /dev -- mknod /dev {0..7} >"$BATS_TEST_TMPDIR/seen" || return 1
	sort "$BATS_TEST_TMPDIR/seen" | awk '$2 ~ /^195:/ && $2 !~ /:25[0-9]$/ { sub("/dev/", "", $1); sub("195:", "", $2); nodes = nodes $1 "=" $2 " " }
		$1 ~ /^195:/ && $2 == "ENXIO" { sub("195:", "", $1); cards = cards " " $1 }
		$1 ~ /^195:/ && $2 !~ /^(ENXIO|EPERM)$/ { strange = strange " " $0 }
		END { print nodes "reached" cards strange }'
}

# The process of the container as this machine counts, and its folder below a controller of cgroup v1.
container_pid() {
	crictl inspect "$CONTAINER" | jq .info.pid
}

container_cgroup() { # CONTROLLER
	local group
	group=$(awk -F: -v controller="$1" '$2 == controller { print $3 }' "/proc/$(container_pid)/cgroup")
	echo "/sys/fs/cgroup/$1$group"
}

container_bundle() {
	echo "$CRI/state/io.containerd.runtime.v2.task/k8s.io/$CONTAINER"
}

container_spec() {
	inside cat "$(container_bundle)/config.json"
}

# The cards that the container's cgroup allows, as this machine sees it: "0 3".
cards_allowed() {
	awk -F'[ :]' '/^c 195:/ && ($3 < 250 || $3 == "*") { print $3 }' "$(container_cgroup devices)/devices.list" |
		sort -n | xargs
}

needs_device_rules() {
	[ -e /sys/fs/cgroup/devices/devices.list ] || skip "needs the devices controller of cgroup v1"
}

# What runc and crun allow every container by themselves.
RUNTIME_RULES=("c *:* m" "b *:* m" "c 1:3 rwm" "c 1:5 rwm" "c 1:7 rwm" "c 1:8 rwm" "c 1:9 rwm" "c 5:0 rwm"
	"c 5:2 rwm" "c 10:200 rwm" "c 136:* rwm")

# Everything is taken away and what the container's spec says is given again; what somebody added to the
# cgroup without the spec is lost.
rules_again() {
	local folder rule
	folder=$(container_cgroup devices)
	echo a >"$folder/devices.deny"
	for rule in "${RUNTIME_RULES[@]}"; do
		echo "$rule" >"$folder/devices.allow" || return 1
	done
	container_spec | jq -r '.linux.resources.devices[] | select(.allow) |
		"\(.type // "a") \(.major // -1):\(.minor // -1) \(.access // "rwm")"' | sed 's/-1/*/g' |
		while read -r rule; do
			echo "$rule" >"$folder/devices.allow" || return 1
		done
}

container_stop() {
	[ -n "${CONTAINER:-}" ] || return 0
	crictl rm --force "$CONTAINER" >/dev/null 2>&1
	CONTAINER=
}

pod_stop() {
	[ -n "${POD:-}" ] || return 0
	crictl rmp --force "$POD" >/dev/null 2>&1
	POD= CONTAINER=
}

# Every process in the namespace but the one that keeps it: the daemon, shims.
engine_processes() {
	local here process
	here=$(readlink "/proc/$NAMESPACE/ns/mnt")
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/ns/mnt" 2>/dev/null)" = "$here" ] || continue
		case $(tr '\0' ' ' <"$process/cmdline" 2>/dev/null) in
		*containerd*) echo "${process#/proc/}" ;;
		esac
	done
}

engine_restart() {
	kill "$ENGINE_PID"
	wait_for 10 engine_ended || return 1
	engine_run
}

# Pods first, since a shim outlives its daemon.
engine_stop() {
	local pid
	[ -n "${ENGINE_PID:-}" ] || return 0
	crictl rmp --all --force >/dev/null 2>&1 || true
	kill "$ENGINE_PID" 2>/dev/null || true
	wait_for 10 engine_ended || true
	for pid in $(engine_processes); do
		kill -KILL "$pid" 2>/dev/null || true
	done
	find /sys/fs/cgroup/{,*/}"$CRI_CGROUP" -depth -type d -exec rmdir {} + 2>/dev/null || true
	ENGINE_PID=
}

engine_ended() {
	! kill -0 "$ENGINE_PID"
}

# No container, process, mount or cgroup of a Pod is left; a shim needs a moment to end.
engine_nothing_left() {
	wait_for 5 engine_is_bare || engine_is_bare
}

engine_is_bare() {
	[ -z "$(crictl pods -q)$(crictl ps -aq)" ] || return 1
	[ "$(engine_processes | wc -l)" = 1 ] || { engine_processes; return 1; }
	! inside grep -E "$CRI/(state|root)/[^ ]*(rootfs|/shm)" /proc/self/mountinfo || return 1
	! find /sys/fs/cgroup/{,*/}"$CRI_CGROUP" -mindepth 1 -type d 2>/dev/null | grep .
}
