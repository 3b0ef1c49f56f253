#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The probe against NVIDIA's own mock libnvidia-ml: a second opinion beside the simulated driver.
load ../lib/common
bats_require_minimum_version 1.5.0

setup_file() {
	MOCK=$("$ROOT/test/peers/mocknvml/build") || MOCK_ABSENT=$MOCK
	export MOCK MOCK_ABSENT
}

setup() {
	[ -z "${MOCK_ABSENT:-}" ] || skip "$MOCK_ABSENT"
	WORK=$BATS_TEST_TMPDIR
	chmod 755 "$WORK"
	mkdir -p "$WORK"/root/{usr/lib64,proc/driver/nvidia/gpus,sys/bus/pci/devices}
	cp "$MOCK/libnvidia-ml.so.1" "$WORK/root/usr/lib64/"
}

# machine NAME: the mock's description NAME from now on.
machine() {
	cp "$MOCK/configs/mock-nvml-config-$1.yaml" "$WORK/machine.yaml"
	# The helper's environment is empty by design; the mock is told through a wrapper.
	printf '#!/bin/sh\nexec env MOCK_NVML_CONFIG=%s %s "$@"\n' "$WORK/machine.yaml" \
		"$BIN/gpupool-nvml" >"$WORK/helper"
	chmod +x "$WORK/helper"
	export GPUPOOL_NVML_HELPER=$WORK/helper
}

# fault INDEX MODE: of that card in the description.
fault() {
	sed -i "s/^  - index: $1\$/&\n    failure:\n      mode: $2/" "$WORK/machine.yaml"
	grep -q "mode: $2" "$WORK/machine.yaml"
}

probe() { "$BUILD/test/lib/inventory_probe" "$WORK/root" >"$WORK/inventory" 2>"$WORK/words"; }

inventory() {
	python3 -c "
import json
all = json.load(open('$WORK/inventory'))
cards = all['cards']
print($1)"
}

@test "each machine that NVIDIA's mock describes is read as described" {
	for file in "$MOCK"/configs/mock-nvml-config-{a100,h100,l40s,t4,b200}.yaml; do
		[ -f "$file" ] || continue
		name=${file##*config-}
		machine "${name%.yaml}"
		probe
		grep -qx "reason none " "$WORK/words"
		# UUID and minor of each device, from the description.
		sed -n '/^devices:/,/^[a-z]*:$/s/^    \(uuid\|minor_number\): *"\?\([^"]*\)"\?$/\2/p' "$file" |
			paste -d' ' - - >"$WORK/wanted"
		inventory '"\n".join("%s %d" % (c["uuid"], c["minor"]) for c in cards)' >"$WORK/seen"
		[ -s "$WORK/wanted" ]
		diff "$WORK/wanted" "$WORK/seen"
		[ "$(inventory '{c["health"] for c in cards}')" = "{'healthy'}" ]
		[ "$(inventory 'all["driverVersion"]')" = "$(sed -n 's/^  driver_version: "\(.*\)"/\1/p' "$file")" ]
		[ "$(inventory '{c["model"] for c in cards}')" = "{'$(sed -n 's/^  name: "\(.*\)"/\1/p' "$file" | head -1)'}" ]
	done
}

@test "NVLinks of a DGX A100: 12 between each pair, as from the simulated driver" {
	machine a100
	probe
	[ "$(inventory '{(l["kind"], l["lanes"]) for c in cards for l in c["links"]}')" = "{('NVLINK', 12)}" ]
}

@test "a card that NVIDIA's mock loses is lost, the others are healthy" {
	for mode in lost fallen_off_bus; do
		machine a100
		fault 3 "$mode"
		probe
		[ "$(inventory '[c["index"] for c in cards if c["health"] != "healthy"]')" = "[3]" ]
		[[ "$(inventory 'cards[3]["health"] + ": " + cards[3]["cause"]')" = "lost: "*"(NVML 15)" ]]
	done
}

@test "uncorrectable memory errors make a card suspect" {
	machine a100
	fault 5 ecc_uncorrectable
	probe
	[ "$(inventory '[(c["index"], c["health"]) for c in cards if c["health"] != "healthy"]')" = "[(5, 'suspect')]" ]
	[[ "$(inventory 'cards[5]["cause"]')" = *"uncorrected memory errors"* ]]
}
