#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The simulated driver root: libnvidia-ml as the real one is made, the module's one truth, faults while
# programs run, hostile clients, nvidia-smi.
load ../lib/common
bats_require_minimum_version 1.5.0

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root (device nodes)"
	WORK=$BATS_TEST_TMPDIR
	SIMDRIVER=$BUILD/simdriver/simdriver
	export WORK SIMDRIVER probe=$BUILD/test/lib/cuda_probe
	cat >"$WORK/lib.sh" <<-'EOF'
		set -eu
		SMI=$DRIVER_ROOT/usr/bin/nvidia-smi
		fault() { "$SIMDRIVER" fault --root "$DRIVER_ROOT" "$@"; }
		memory() { "$SMI" -i "$1" --query-gpu=memory.used --format=csv,noheader,nounits; }
		# hold CARD MIB: a CUDA program that keeps so much; HOLDER is its process, fd 5 its life
		hold() {
			rm -f "$WORK/hold"; mkfifo "$WORK/hold"
			"$probe" --device "$1" alloc $(($2 << 20)) hold <"$WORK/hold" >"$WORK/held" &
			HOLDER=$!
			exec 5>"$WORK/hold"
			while ! grep -qs allocated "$WORK/held"; do kill -0 $HOLDER; done
		}
	EOF
}

# with PROFILE: runs the script on standard input where the driver of that profile runs
with() {
	{ echo ". $WORK/lib.sh"; cat; } >"$WORK/script"
	timeout -k 5 60 "$ROOT/test/lib/with_driver" "$1" bash "$WORK/script" 3>&-
}

exports_of() { nm -D --defined-only "$1" | awk '{print $3}' | LC_ALL=C sort; }

@test "libnvidia-ml exports the names of 535.261.03 and of 550.163.01, no more and no less" {
	diff <(exports_of "$BUILD/simdriver/libnvidia-ml-535.so") "$ROOT/test/data/nvml-exports/535.261.03.txt"
	diff <(exports_of "$BUILD/simdriver/libnvidia-ml-550.so") "$ROOT/test/data/nvml-exports/550.163.01.txt"
	run ! diff <(exports_of "$BUILD/simdriver/libnvidia-ml-550.so") "$ROOT/test/data/nvml-exports/535.261.03.txt"
}

@test "libnvidia-ml has the SONAME and needs of the real one, no version node, and GLIBC_2.17 at most" {
	local branch library newest
	for branch in 535 550; do
		library=$BUILD/simdriver/libnvidia-ml-$branch.so
		readelf -dW "$library" | grep -F 'soname: [libnvidia-ml.so.1]'
		[ "$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | LC_ALL=C sort | xargs)" = \
			"libc.so.6 libdl.so.2 libm.so.6 libpthread.so.0 librt.so.1" ]
		run ! grep -F 'Version definition' <(readelf -VW "$library")
		newest=$(readelf -VW "$library" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
		[ "$(printf '%s\nGLIBC_2.17\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.17 ]
	done
}

@test "libnvidia-ml does not load under musl, for the reason of the real one" {
	command -v musl-gcc >/dev/null || skip "there is no musl-gcc"
	musl-gcc -o "$WORK/probe" "$ROOT/test/lib/dlopen_probe.c"
	run -1 "$WORK/probe" "$BUILD/simdriver/libnvidia-ml-535.so"
	[[ $output == *dlvsym*"symbol not found"* || $output == *gnu_get_libc_version*"symbol not found"* ]]
}

@test "every profile: nodes, procfs, sysfs and NVML tell the same" {
	local profile
	for profile in a100-80 h100 t4 mixed; do
		with "$profile" <<-'EOF'
			"$SMI" --query-gpu=pci.bus_id,minor,uuid,name --format=csv,noheader |
			while IFS=', ' read -r bus minor uuid name; do
				address=$(echo "${bus#0000}" | tr A-F a-f)
				file=$DRIVER_ROOT/proc/driver/nvidia/gpus/$address/information
				grep -q "Device Minor: *.*$minor\$" "$file"
				grep -q "$uuid" "$file"
				[ "$(stat -c %t:%T "$DRIVER_ROOT/dev/nvidia$minor")" = "c3:$(printf %x "$minor")" ]
				[ "$(cat "$DRIVER_ROOT/sys/bus/pci/devices/$address/vendor")" = 0x10de ]
				grep -qx '[01]' "$DRIVER_ROOT/sys/bus/pci/devices/$address/numa_node"
				echo "$address"
			done >"$WORK/seen"
			ls "$DRIVER_ROOT/proc/driver/nvidia/gpus" | diff - "$WORK/seen"
			[ "$(ls "$DRIVER_ROOT"/dev/nvidia[0-9]* | wc -l)" = "$(wc -l <"$WORK/seen")" ]
			version=$("$SMI" --query-gpu=driver_version --format=csv,noheader | sort -u)
			grep -q "Kernel Module  $version " "$DRIVER_ROOT/proc/driver/nvidia/version"
			[ -f "$DRIVER_ROOT/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.$version" ]
			[ -f "$DRIVER_ROOT/lib/firmware/nvidia/$version/gsp_ga10x.bin" ]
		EOF
	done
}

@test "a card is shown when its node can be opened: gone, forbidden, mine" {
	run -0 with a100-80 <<-'EOF'
		rm "$DRIVER_ROOT/dev/nvidia0"
		chmod 0600 "$DRIVER_ROOT/dev/nvidia1"
		chmod 0755 "$DRIVER_ROOT"
		"$SMI" -L | wc -l
		# Opening as nobody: the mode decides. SETPCAP is not needed, root keeps nothing.
		setpriv --reuid 65534 --regid 65534 --clear-groups "$SMI" -L | wc -l
		rm "$DRIVER_ROOT"/dev/nvidia[0-7]
		"$SMI" || echo "status $?"
		rm "$DRIVER_ROOT/dev/nvidiactl"
		"$SMI" || echo "status $?"
	EOF
	[ "${lines[0]}" = 7 ]
	[ "${lines[1]}" = 6 ]
	[ "${lines[2]}" = "No devices were found" ]
	[ "${lines[3]}" = "status 6" ]
	[[ ${lines[4]} == "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."* ]]
	[ "${lines[5]}" = "status 9" ]
}

# What a container has that mounts the host's root elsewhere: the real library asks for nodes there, and for no socket.
@test "a root that is mounted elsewhere, without the host's /run, is reached through its nodes alone" {
	run -0 with a100-80 <<-'EOF'
		mkdir "$WORK/elsewhere"
		mount --rbind -o ro "$DRIVER_ROOT" "$WORK/elsewhere"
		mount -t tmpfs tmpfs /run/nvidia-persistenced
		export LD_LIBRARY_PATH=$WORK/elsewhere/usr/lib/x86_64-linux-gnu
		"$SMI" -L | wc -l
		rm "$DRIVER_ROOT/dev/nvidia3"
		"$SMI" -L | wc -l
		fault missing
		"$SMI" -L || echo "status $?"
		fault recover
		rm "$DRIVER_ROOT/dev/nvidiactl"
		"$SMI" -L || echo "status $?"
		umount /run/nvidia-persistenced
	EOF
	[ "${lines[0]} ${lines[1]}" = "8 7" ]
	[ "$(grep -c '^status 9$' <<<"$output")" = 2 ]
}

@test "two clients and a kill -9: memory is free the moment its process is gone" {
	run -0 with t4 <<-'EOF'
		context=$("$probe" --device 1 alloc 1048576 >/dev/null; memory 1)
		[ "$context" = 0 ]
		hold 1 1000; first=$HOLDER; one=$(memory 1)
		exec 6>&5; hold 1 500; second=$HOLDER
		echo "$(($(memory 1) - one > 500))" "$(memory 0)"
		"$SMI" --query-compute-apps=pid --format=csv,noheader | sort -n | xargs
		echo $first $second | xargs -n 1 | sort -n | xargs
		kill -9 $first; wait $first || true
		[ "$("$SMI" --query-compute-apps=pid --format=csv,noheader)" = $second ]
		kill -9 $second; wait $second || true
		echo "left $(memory 1)"
	EOF
	[ "${lines[0]}" = "1 0" ]
	[ "${lines[1]}" = "${lines[2]}" ]
	[[ $output == *"left 0"* ]]
}

@test "with a delay, memory of an ended process is free later" {
	run -0 with t4 <<-'EOF'
		fault delay --delay-free 700
		hold 0 1000
		kill -9 $HOLDER; wait $HOLDER || true
		[ "$(memory 0)" -gt 1000 ] && echo still
		for _ in $(seq 100); do [ "$(memory 0)" != 0 ] || { echo free; break; }; read -rt 0.05 <> <(:) || true; done
	EOF
	[[ $output == *still*free* ]]
}

@test "faults: lost, missing and mismatch with the texts and exit statuses of the real nvidia-smi" {
	run -0 with a100-80 <<-'EOF'
		fault lost --card 3; "$SMI" || echo "status $?"
		fault recover --card 3; "$SMI" -L | wc -l
		fault mismatch; "$SMI" || echo "status $?"
		sed -n 's/.*Kernel Module  \([^ ]*\).*/\1/p' "$DRIVER_ROOT/proc/driver/nvidia/version"
		fault missing; "$SMI" || echo "status $?"; ls "$DRIVER_ROOT/proc/driver" | wc -l
		fault recover; "$SMI" -L | wc -l
		sed -n 's/.*Kernel Module  \([^ ]*\).*/\1/p' "$DRIVER_ROOT/proc/driver/nvidia/version"
	EOF
	[ "${lines[0]}" = "Unable to determine the device handle for GPU0000:4E:00.0: GPU is lost.  Reboot the system to recover this GPU" ]
	[ "${lines[1]}" = "status 15" ]
	[ "${lines[2]}" = 8 ]
	[ "${lines[3]}" = "Failed to initialize NVML: Driver/library version mismatch" ]
	[ "${lines[4]}" = "status 18" ]
	[ "${lines[5]}" = 535.161.08 ]
	[[ ${lines[6]} == "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."* ]]
	[ "${lines[7]}" = "status 9" ]
	[ "${lines[8]}" = 0 ]
	[ "${lines[9]}" = 8 ]
	[ "${lines[10]}" = 535.183.01 ]
}

@test "a hung card blocks what touches it and nothing else; a hung driver blocks all; kill -9 works" {
	run -0 with a100-80 <<-'EOF'
		fault hang --card 2
		timeout -s KILL 1 "$SMI" -L >/dev/null || echo "blocked $?"
		timeout -s KILL 10 python3 - <<-'PY'
		import ctypes
		nvml = ctypes.CDLL("libnvidia-ml.so.1")
		card, name = ctypes.c_void_p(), ctypes.create_string_buffer(96)
		assert nvml.nvmlInitWithFlags(2) == 0  # NVML_INIT_FLAG_NO_ATTACH
		for index in (0, 1, 3):
		    assert nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(card)) == 0
		    assert nvml.nvmlDeviceGetName(card, name, 96) == 0
		print("others answer")
		PY
		fault recover --card 2
		fault hang
		"$SMI" -L >"$WORK/out" & waiting=$!
		timeout -s KILL 1 "$SMI" -L >/dev/null || echo "blocked $?"
		fault recover
		wait $waiting
		wc -l <"$WORK/out"
	EOF
	echo "$output"
	[ "$(grep -c '^blocked 137$' <<<"$output")" = 2 ]
	[[ $output == *"others answer"* ]]
	[ "${lines[-1]}" = 8 ]
}

@test "hostile clients hurt nobody: garbage, silence, a flood of connections, control requests" {
	run -0 with t4 <<-EOF
		python3 - $(scaled 4000) <<-'PY'
		import os, random, socket, struct, sys
		path = "/run/nvidia-persistenced/socket"
		def connect():
		    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		    s.connect(path)
		    return s
		random.seed(7)
		kept = [connect() for _ in range(int(sys.argv[1]))]
		for i in range(200):
		    s = connect()
		    try:
		        for _ in range(3):
		            s.send(random.randbytes(random.choice([0, 1, 7, 135, 136, 137, 4096])))
		    except OSError:
		        pass
		    s.close()
		size = 136
		def request(operation, **more):
		    return struct.pack("<IHHIIQQQ88s", 0x53444756, 1, operation, more.get("card", 0), more.get("kind", 0),
		                       more.get("bytes", 0), more.get("handle", 0), more.get("value", 0), b"")
		assert len(request(1)) == struct.calcsize("<IHHIIQQQ88s")
		for operation in list(range(0, 12)) + [64, 65, 255, 65535]:
		    s = connect()
		    s.send(request(operation, card=random.getrandbits(32), kind=random.getrandbits(32),
		                   bytes=random.getrandbits(64), handle=random.getrandbits(64)))
		    s.settimeout(5)
		    reply = s.recv(65536)
		    assert len(reply) > 16, operation
		    if operation in (64, 65):
		        assert struct.unpack_from("<IHHI", reply)[3] == 8, "control request by a tenant"
		# A client that asks and never reads is dropped, not waited for.
		s = connect()
		s.settimeout(5)
		try:
		    for _ in range(100000):
		        s.send(request(1))
		    print("never dropped")
		except OSError:
		    print("dropped")
		print("connections", len(kept))
		PY
		"\$SMI" -L | wc -l
	EOF
	echo "$output"
	[ "${lines[0]}" = dropped ]
	[ "${lines[2]}" = 4 ]
}

@test "a process in a PID namespace of its own is known to itself by its number there" {
	run -0 with t4 <<-'EOF'
		hold 0 100
		unshare --pid --fork --mount-proc sh -c '
			"$1" --query-compute-apps=pid --format=csv,noheader | wc -l
			mkfifo "$WORK/in"; "$probe" --device 0 alloc 1048576 hold <"$WORK/in" >"$WORK/own" & own=$!
			exec 6>"$WORK/in"; while ! grep -qs allocated "$WORK/own"; do kill -0 $own; done
			[ "$("$1" --query-compute-apps=pid --format=csv,noheader)" = "$own" ] && echo known' - "$SMI"
	EOF
	[ "${lines[0]}" = 0 ]
	[ "${lines[1]}" = known ]
}

@test "nvidia-smi: table, list, XML, queries, topology" {
	run -0 with mixed <<-'EOF'
		hold 4 300
		"$SMI" >"$WORK/table"; "$SMI" -q -x >"$WORK/xml"; "$SMI" topo -m >"$WORK/topo"; "$SMI" -L
		"$SMI" --query-gpu=index,memory.total --format=csv,nounits
		"$SMI" -i 4 --query-gpu=name,fan.speed --format=csv,noheader
		"$SMI" --query-gpu=nonsense --format=csv || echo "status $?"
		"$SMI" --query-gpu=name || echo "status $?"
		echo $HOLDER >"$WORK/pid"
	EOF
	[ "${lines[0]}" = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-88e8190d-6a85-ad6f-46dc-2deea6416f39)" ]
	[ "${lines[5]}" = "index, memory.total [MiB]" ] || [ "${lines[5]}" = "index, memory.total" ]
	[ "${lines[10]}" = "4, 23034" ]
	[ "${lines[11]}" = "NVIDIA L4, [N/A]" ]
	[ "${lines[12]}" = 'Field "nonsense" is not a valid field to query.' ]
	[[ $output == *"status 2"*"status 2"* ]]
	# Every line of the table is as wide as its rule.
	[ "$(sed 1d "$WORK/table" | awk '{print length}' | sort -u)" = 91 ]
	grep -qE "^\|    4   N/A  N/A  +$(cat "$WORK/pid")      C   .* [0-9]+MiB \|$" "$WORK/table"
	[ "$(sed -n 's/^GPU0\t X \t\(NV4\)\t.*/\1/p' "$WORK/topo")" = NV4 ]
	run -0 python3 - "$WORK/xml" "$(cat "$WORK/pid")" <<-'EOF'
		import sys, xml.etree.ElementTree as tree
		log = tree.parse(sys.argv[1]).getroot()
		cards = log.findall("gpu")
		assert log.findtext("attached_gpus") == "5" == str(len(cards))
		assert log.findtext("driver_version") == "550.90.07" and log.findtext("cuda_version") == "12.4"
		last = cards[4]
		assert last.get("id") == "00000000:CA:00.0" and last.findtext("product_name") == "NVIDIA L4"
		assert last.findtext("minor_number") == "3" and last.findtext("pci/pci_device_id") == "27B810DE"
		assert last.findtext("fb_memory_usage/total") == "23034 MiB"
		assert [p.findtext("pid") for p in last.findall("processes/process_info")] == [sys.argv[2]]
		print("ok")
	EOF
}

@test "nvidia-ml-py reads the simulated NVML, events too" {
	local python=${XDG_CACHE_HOME:-$HOME/.cache}/gpupool/nvidia-ml-py
	if ! [ -e "$python/pynvml.py" ]; then
		timeout 120 pip3 install --quiet --no-deps --target "$python" nvidia-ml-py >"$WORK/pip" 2>&1 ||
			skip "nvidia-ml-py cannot be had: $(tail -n 1 "$WORK/pip")"
	fi
	run with a100-80 <<-EOF
		PYTHONPATH=$python python3 - <<-'PY'
		import os, subprocess, pynvml as n
		n.nvmlInit()
		assert n.nvmlSystemGetDriverVersion() == "535.183.01" and n.nvmlDeviceGetCount() == 8
		assert n.nvmlSystemGetCudaDriverVersion_v2() == 12020
		a, b = n.nvmlDeviceGetHandleByIndex(1), n.nvmlDeviceGetHandleByIndex(4)
		assert n.nvmlDeviceGetName(a) == "NVIDIA A100-SXM4-80GB"
		assert n.nvmlDeviceGetIndex(n.nvmlDeviceGetHandleByUUID(n.nvmlDeviceGetUUID(b))) == 4
		assert n.nvmlDeviceGetIndex(n.nvmlDeviceGetHandleByPciBusId("0000:87:00.0")) == 4
		assert n.nvmlDeviceGetIndex(n.nvmlDeviceGetHandleBySerial(n.nvmlDeviceGetSerial(b))) == 4
		pci = n.nvmlDeviceGetPciInfo(a)
		assert (pci.busId, pci.busIdLegacy, pci.pciDeviceId) == ("00000000:0F:00.0", "0000:0F:00.0", 0x20B210DE)
		one, two = n.nvmlDeviceGetMemoryInfo(a), n.nvmlDeviceGetMemoryInfo(a, n.nvmlMemory_v2)
		assert one.total == two.total == 81920 << 20 and one.used == two.used + two.reserved
		assert n.nvmlDeviceGetTopologyCommonAncestor(a, b) == n.NVML_TOPOLOGY_SYSTEM
		assert all(n.nvmlDeviceGetNvLinkState(a, i) == 1 for i in range(12))
		assert n.nvmlDeviceGetP2PStatus(a, b, n.NVML_P2P_CAPS_INDEX_NVLINK) == n.NVML_P2P_STATUS_OK
		assert n.nvmlDeviceGetMigMode(a) == [0, 0] and n.nvmlDeviceGetMaxMigDeviceCount(a) == 0
		assert n.nvmlDeviceGetCudaComputeCapability(a) == (8, 0)
		assert list(n.nvmlDeviceGetCpuAffinity(b, 4)) == [0, 2**64 - 1, 0, 2**64 - 1]
		assert list(n.nvmlDeviceGetRemappedRows(a)) == [0, 0, 0, 0]
		for call in (n.nvmlDeviceGetFanSpeed, n.nvmlDeviceGetBridgeChipInfo):
		    try:
		        call(a); raise SystemExit(call.__name__)
		    except n.NVMLError_NotSupported:
		        pass
		try:
		    n.nvmlDeviceGetNumaNodeId(a); raise SystemExit("a function that 535 does not have")
		except n.NVMLError_FunctionNotFound:
		    pass
		events = n.nvmlEventSetCreate()
		n.nvmlDeviceRegisterEvents(b, n.nvmlEventTypeXidCriticalError, events)
		def fault(*words):
		    subprocess.run([os.environ["SIMDRIVER"], "fault", "--root", os.environ["DRIVER_ROOT"], *words], check=True)
		try:
		    n.nvmlEventSetWait_v2(events, 10); raise SystemExit("an event from nowhere")
		except n.NVMLError_Timeout:
		    pass
		fault("xid", "--xid", "13", "--card", "0")
		fault("xid", "--xid", "31", "--card", "4")
		data = n.nvmlEventSetWait_v2(events, 10000)
		assert (n.nvmlDeviceGetIndex(data.device), data.eventData) == (4, 31)
		fault("lost", "--card", "1")
		for call in (n.nvmlDeviceGetMemoryInfo, n.nvmlDeviceGetName, n.nvmlDeviceGetTemperature):
		    try:
		        call(a, 0) if call is n.nvmlDeviceGetTemperature else call(a); raise SystemExit(call.__name__)
		    except n.NVMLError_GpuIsLost:
		        pass
		assert n.nvmlDeviceGetName(b)
		n.nvmlShutdown()
		print("read")
		PY
	EOF
	echo "$output"
	[ "${lines[-1]}" = read ]
}

@test "the tool refuses folders of others, wrong words, and says what it needs" {
	mkdir "$WORK/other"
	echo mine >"$WORK/other/file"
	run -1 "$SIMDRIVER" start --root "$WORK/other" --profile t4
	[[ $output == *"is not empty and was not made by simdriver (it holds file)"* ]]
	[ "$(ls "$WORK/other")" = file ]
	run -2 "$SIMDRIVER" start --root "$WORK/x" --profile nonsense
	[[ $output == *"there is no profile nonsense"* ]]
	run -2 "$SIMDRIVER" fault --root "$WORK/x" melt
	[[ $output == *"there is no fault melt"* ]]
	run -2 "$SIMDRIVER" fault --root "$WORK/x" missing --card 1
	run -2 "$SIMDRIVER" start --root "$WORK/x"
	run -2 "$SIMDRIVER"
	run -1 "$SIMDRIVER" status --root "$WORK/other"
	run -1 "$SIMDRIVER" stop --root "$WORK/other" --remove
	[ -e "$WORK/other/file" ]
	run -0 "$SIMDRIVER" --help
	run -0 "$SIMDRIVER" profiles
	[ "${#lines[@]}" = 4 ]
	mkdir "$WORK/nobody"
	chown 65534 "$WORK/nobody"
	chmod 0711 "$WORK"
	cp "$SIMDRIVER" "$WORK/nobody/simdriver"
	if setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$WORK/nobody/simdriver"; then
		run -1 setpriv --reuid 65534 --regid 65534 --clear-groups "$WORK/nobody/simdriver" \
			start --root "$WORK/nobody/root" --profile t4
		[[ $output == *"this needs root (CAP_MKNOD); run simdriver as root"* ]]
	fi
}

@test "start over an own root builds it anew; a second driver for it, or in its namespace, is refused" {
	run -0 with t4 <<-'EOF'
		"$SIMDRIVER" start --root "$DRIVER_ROOT" --profile h100 || echo "status $?"
		mkdir "$WORK/second"
		"$SIMDRIVER" start --root "$WORK/second" --profile h100 || echo "status $?"
		"$SIMDRIVER" stop --root "$DRIVER_ROOT"
		"$SMI" -L || echo "status $?"
		"$SIMDRIVER" start --root "$DRIVER_ROOT" --profile h100 >/dev/null
		"$SMI" -L | wc -l
	EOF
	[[ ${lines[0]} == *"a driver runs already for "* ]]
	[[ $output == *"another one answers already at /run/nvidia-persistenced/socket"* ]]
	[ "${lines[-1]}" = 8 ]
}
