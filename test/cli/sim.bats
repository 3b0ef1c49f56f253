#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The simulator from the command line, on the openb traces.

bats_require_minimum_version 1.5.0
load ../lib/common

setup() {
	[ -x "$BIN/gpupool" ] || { echo "$BIN/gpupool is not built"; return 1; }
	cd "$BATS_TEST_DIRNAME/../data/openb" || return 1
	nodes=openb_node_list_gpu_node.csv pods=openb_pod_list_default.csv
}

# The number KEY of the JSON object in $output.
number() {
	printf '%s' "$output" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

@test "sim compare --replay names no arrival: its figures are means over time" {
	cluster='1 node of 4 h100; 300 Pods of 12 GiB'
	run gpupool sim compare --cluster-text "$cluster" --replay --load 110 --seeds 42
	[ "$status" -eq 0 ]
	[[ ${lines[1]} =~ ^text\ +default\ +-\ +[0-9.]+\  ]] || { echo "${lines[1]}"; return 1; }
	run gpupool sim compare --cluster-text "$cluster" --replay --load 110 --seeds 42 --csv
	[[ ${lines[1]} == text,default,,* ]]
	run gpupool sim compare --cluster-text "$cluster" --replay --load 110 --seeds 42 --json
	[ "$(jq '.rows[0].arrived_percent' <<<"$output")" = null ]
	run gpupool sim compare --cluster-text "$cluster" --arrival 50 --seeds 42
	[[ ${lines[1]} =~ ^text\ +default\ +50\  ]]
}

@test "sim run prints one object with the fields that scripts read" {
	run gpupool sim run --nodes $nodes --pods $pods --policy fgd --ties bestfit --seed 42 \
		--arrival 130 --json
	[ "$status" -eq 0 ]
	for key in policy ties seed arrived_percent allocated_percent unallocated_gpus \
		fragmented_percent pods_placed pods_failed seconds; do
		number "$key"
	done
	python3 -c "assert 95.0 < $(number allocated_percent) < 95.8"
}

@test "the same run gives the same answers, another seed others" {
	run gpupool sim run --nodes $nodes --pods $pods --seed 42 --json
	first=$(number checksum)
	run gpupool sim run --nodes $nodes --pods $pods --seed 42 --json
	[ "$(number checksum)" = "$first" ]
	run gpupool sim run --nodes $nodes --pods $pods --seed 43 --json
	[ "$(number checksum)" != "$first" ]
}

@test "the default policy places more than fgd on the same arrivals" {
	run gpupool sim run --nodes $nodes --pods $pods --seed 44 --json
	ours=$(number allocated_percent)
	run gpupool sim run --nodes $nodes --pods $pods --policy fgd --ties bestfit --seed 44 --json
	python3 -c "assert $ours > $(number allocated_percent)"
}

@test "bad input is one sentence with file and line" {
	printf 'sn,cpu_milli,gpu,model\nn,1,1,T4\n' >"$BATS_TEST_TMPDIR/nodes.csv"
	run gpupool sim run --nodes "$BATS_TEST_TMPDIR/nodes.csv" --pods $pods
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *nodes.csv:1:*memory_mib* ]]
	sed '5s/,1,460,/,1,-460,/' $pods | sed '3s/,1,460,/,1,-460,/' >"$BATS_TEST_TMPDIR/pods.csv"
	run gpupool sim run --nodes $nodes --pods "$BATS_TEST_TMPDIR/pods.csv"
	[ "$status" -eq 1 ]
	[[ $output == *pods.csv:3:* ]]
	run gpupool sim run --nodes $nodes --pods $pods --policy best
	[ "$status" -eq 2 ]
}

@test "MIG instances lie where there is a place, and count by memory slices" {
	table() {
		run gpupool sim run --cluster-text "$1" --json
		[ "$status" -eq 0 ]
		[ "$(number pods_placed) $(number pods_failed) $(number allocated_percent)" = "$2" ]
	}
	table "2 nodes of 8 A100 in MIG; 5 Pods of 2 1g.10gb" "5 0 7.8125"
	[ "$(number arrived_percent)" = 7.8125 ]
	table "2 nodes of 8 A100 in MIG; 200 Pods of 2 1g.10gb" "56 144 87.5"
	table "1 node of 2 A100 in MIG; 2 Pods of 1 4g.40gb; 3 Pods of 1 3g.40gb" "4 1 100.0"
	table "2 nodes of 8 A100; 5 Pods of 2 1g.10gb" "0 5 0.0"
	table "2 nodes of 8 A100 in MIG; 5 Pods of 1 card" "0 5 0.0"
}

@test "all containers of a Pod on one node, or none" {
	pod() { # NAME WHOLE WHOLE
		printf '%s\n' --- "apiVersion: v1" "kind: Pod" "metadata: {name: $1}" "spec:" "  containers:"
		printf '  - {name: c%s, image: i, resources: {limits: {nvidia.com/gpu: %s}}}\n' 1 "$2" 2 "$3"
	}
	{ pod p 1 1; pod q 2 1; pod r 1 2; } >"$BATS_TEST_TMPDIR/pods.yaml"
	echo "3 nodes of 3 h100; 1 node of 2 h100" >"$BATS_TEST_TMPDIR/nodes"
	run --separate-stderr gpupool sim run --nodes "$BATS_TEST_TMPDIR/nodes" --pods "$BATS_TEST_TMPDIR/pods.yaml" \
		--arrival 0 --json
	[ "$status" -eq 0 ]
	[ "$(number pods_placed) $(number pods_failed)" = "3 0" ]
	python3 -c "assert abs($(number arrived_percent) - 800/11) < 1e-3"
	python3 -c "assert abs($(number allocated_percent) - 800/11) < 1e-3"
}

@test "a cluster in few words, as text, as a file and from standard input" {
	words="20 nodes of 8 h100; 300 Pods of 12 GiB"
	run gpupool sim run --cluster-text "$words" --json
	[ "$status" -eq 0 ]
	[ "$(number pods_placed)" = 300 ]
	[ "$(number arrived_percent)" = 28.5 ] # the list as it is: 300 x 15 % of 160 cards
	first=$(number checksum)
	echo "$words" >"$BATS_TEST_TMPDIR/words"
	run gpupool sim run --cluster "$BATS_TEST_TMPDIR/words" --json
	[ "$(number checksum)" = "$first" ]
	run gpupool sim run --cluster - --json <"$BATS_TEST_TMPDIR/words"
	[ "$(number checksum)" = "$first" ]
	run gpupool sim run --cluster-text "$words" --arrival 130 --json
	[ "$(number pods_failed)" -gt 0 ]
	run gpupool sim compare --cluster "$BATS_TEST_TMPDIR/words" --seeds 1..2 --csv
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 3 ]
}

@test "nodes and Pods from different kinds of inputs" {
	run gpupool sim run --nodes $nodes --cluster-text "50 Pods of 1 card" --json
	[ "$status" -eq 0 ]
	[ "$(number pods_placed)" = 50 ]
	printf 'nodes:\n- {gpus: 8, model: h100}\npods:\n- {count: 9, gpus: 1}\n' \
		>"$BATS_TEST_TMPDIR/cluster.yaml"
	run gpupool sim run --nodes "$BATS_TEST_TMPDIR/cluster.yaml" --pods $pods --arrival 0 --json
	[ "$status" -eq 0 ]
	python3 -c "assert $(number pods_placed) + $(number pods_failed) == 8152"
	run gpupool sim run --cluster "$BATS_TEST_TMPDIR/cluster.yaml" --json
	[ "$(number pods_placed)" = 8 ]
	[ "$(number pods_failed)" = 1 ]
}

@test "replay of a short YAML with times" {
	printf '%s\n' 'nodes:' '- {gpus: 1, model: t4}' 'pods:' '- {gpus: 1, created: 1, end: 5}' \
		'- {gpus: 1, created: 3, end: 9}' '- {gpus: 1, created: 6, end: 9}' \
		>"$BATS_TEST_TMPDIR/cluster.yaml"
	run gpupool sim run --cluster "$BATS_TEST_TMPDIR/cluster.yaml" --replay --json
	[ "$status" -eq 0 ]
	[ "$(number pods_placed)" = 2 ]
	[ "$(number pods_failed)" = 1 ]
}

@test "inputs that cannot be read are one sentence" {
	run gpupool sim run
	[ "$status" -eq 2 ]
	[[ $output == *"'sim run' wants --nodes FILE and --pods FILE, --cluster FILE, or"* ]]
	run gpupool sim run --nodes - --pods -
	[ "$status" -eq 2 ]
	[[ $output == *"standard input can be read once"* ]]
	run gpupool sim compare --nodes - --pods a.csv,b.csv
	[ "$status" -eq 2 ]
	[[ $output == *"standard input can be read once"* ]]
	run gpupool sim run --cluster-text "2 nodes of 8 h100" --arrival all
	[ "$status" -eq 2 ]
	[[ $output == *"--arrival 'all' is no whole number from 0 to 1000; write one" ]]
	run gpupool sim run --cluster $nodes
	[ "$status" -eq 1 ]
	[[ $output == *"openb_node_list_gpu_node.csv:1: a CSV file has nodes or Pods, not both; "* ]]
	run gpupool sim run --pods $pods --cluster-text "5 Pods of 1 card"
	[ "$status" -eq 1 ]
	[[ $output == *"no nodes; name a file that has some" ]]
	run gpupool sim run --nodes /nonexistent --pods $pods
	[ "$status" -eq 1 ]
	[[ $output == *"cannot open /nonexistent"* ]]
	run gpupool sim run --nodes / --pods $pods
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "a recorded run replays to the same answers and the same checksum" {
	log=$BATS_TEST_TMPDIR/log
	for how in "--policy default" "--policy fgd" "--policy fgd --ties random" \
		"--policy bestfit --original" "--replay --wait"; do
		run gpupool sim run --nodes $nodes --pods $pods $how --record "$log" --json
		[ "$status" -eq 0 ]
		first=$(number checksum)
		run gpupool sim replay "$log" --json
		[ "$status" -eq 0 ]
		[ "$(number checksum)" = "$first" ]
	done
	run gpupool sim replay "$log"
	[ "$status" -eq 0 ]
	[[ $output =~ ^[0-9]+" decisions, all equal"$ ]]
	run gpupool sim replay - <"$log"
	[ "$status" -eq 0 ]
}

@test "one node changed in a log is found, with its line" {
	log=$BATS_TEST_TMPDIR/log
	gpupool sim run --nodes $nodes --pods $pods --ties random --record "$log" >/dev/null
	line=$(grep -n '"event":"decide".*"placements"' "$log" | sed -n '5000s/:.*//p')
	sed -i -E "${line}s/\"node\":([0-9]+)/\"node\":9\1/" "$log"
	run gpupool sim replay "$log"
	[ "$status" -eq 1 ]
	[[ ${lines[0]} == "$log:$line: "* ]]
	[[ ${lines[1]} == *'"node":9'* && ${lines[2]} == *'"event":"decide"'* ]]
	run gpupool sim replay "$log" --json
	[ "$status" -eq 1 ]
	[ "$(number equal)" = False ]
	[ "$(number line)" -eq "$line" ]
}

@test "a log that is cut, of another version or on a full disk is one sentence" {
	log=$BATS_TEST_TMPDIR/log
	gpupool sim run --cluster-text '2 nodes of 2 h100; 9 Pods of 12 GiB' --record "$log" >/dev/null
	run gpupool sim replay "$log"
	[ "$output" = "9 decisions, all equal" ]
	whole=$(wc -l <"$log")
	for kept in 1 3 $((whole - 1)); do
		head -n "$kept" "$log" >"$log.cut"
		run gpupool sim replay "$log.cut"
		[ "$status" -eq 1 ]
		[[ $output == *"log.cut:$kept: the log breaks off here"* ]]
	done
	head -c -20 "$log" >"$log.cut"
	run gpupool sim replay "$log.cut"
	[ "$status" -eq 1 ]
	[[ $output == *"log.cut:$whole:"* ]]
	sed "$((whole - 1))d" "$log" >"$log.cut"
	run gpupool sim replay "$log.cut"
	[ "$status" -eq 1 ]
	[[ $output == *"log.cut:$((whole - 1)): the end counts other lines"* ]]
	sed 's/"version":1}/"version":2}/' "$log" >"$log.cut"
	run gpupool sim replay "$log.cut"
	[ "$status" -eq 1 ]
	[[ $output == *"version 2, and this program reads version 1"* ]]
	run gpupool sim replay "$nodes"
	[ "$status" -eq 1 ]
	run gpupool sim run --nodes $nodes --pods $pods --record /dev/full
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"/dev/full: cannot write the log of decisions: No space left on device"* ]]
	run gpupool sim run --nodes $nodes --pods $pods --seeds 1..2 --record "$log"
	[ "$status" -eq 2 ]
	run gpupool sim replay
	[ "$status" -eq 2 ]
	run gpupool sim replay /nonexistent
	[ "$status" -eq 1 ]
}

@test "look-ahead and moves place more than the default policy alone, moves within their share" {
	run gpupool sim run --nodes $nodes --pods $pods --ties bestfit --seed 42 --json
	[ "$(number look_ahead)" = 1 ]
	[ "$(number pods_moved)" = 0 ]
	alone=$(number allocated_percent)
	run gpupool sim run --nodes $nodes --pods $pods --ties bestfit --seed 42 --look-ahead 64 --json
	[ "$status" -eq 0 ]
	python3 -c "assert $(number allocated_percent) > $alone + 0.03"
	first=$(number checksum)
	run gpupool sim run --nodes $nodes --pods $pods --ties bestfit --seed 42 --look-ahead 64 --json
	[ "$(number checksum)" = "$first" ]
	run gpupool sim run --nodes $nodes --pods $pods --ties bestfit --seed 42 --moves 1 --json
	[ "$status" -eq 0 ]
	python3 -c "assert $(number allocated_percent) > $alone + 0.05"
	python3 -c "assert 0 < $(number pods_moved) * 100 <= $(number pods_placed)"
	run gpupool sim compare --nodes $nodes --pods $pods --seeds 42 --csv \
		--policies default/bestfit,default/bestfit+look-ahead,default/bestfit+look-ahead=8+moves=1
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 4 ]
	for bad in default+moves=101 default+look-ahead=0 default+luck; do
		run gpupool sim compare --nodes $nodes --pods $pods --policies $bad
		[ "$status" -eq 2 ]
		[ "${#lines[@]}" -eq 1 ]
	done
	run gpupool sim run --nodes $nodes --pods $pods --replay --look-ahead 64
	[ "$status" -eq 1 ]
	[[ $output == *"leave --look-ahead out"* ]]
	run gpupool sim run --nodes $nodes --pods $pods --moves 1 --record "$BATS_TEST_TMPDIR/log"
	[ "$status" -eq 2 ]
	[[ $output == *"a log of decisions knows no moves; "* ]]
	[ ! -e "$BATS_TEST_TMPDIR/log" ]
	run gpupool sim run --cluster-text '2 nodes of 8 h100' --moves 4
	[ "$status" -eq 1 ]
	[[ $output == *"no Pod asks for cards"*"leave --look-ahead and --moves out" ]]
}

@test "options that would be passed over are refused" {
	for wrong in --wait '--load 110' '--replay --arrival 130'; do
		# shellcheck disable=SC2086 # several words
		run gpupool sim run --nodes $nodes --pods $pods $wrong
		[ "$status" -eq 2 ]
		[ "${#lines[@]}" -eq 1 ]
	done
}

@test "lists of Pods are made from a seed, and replays fill the cluster by a load" {
	list=$BATS_TEST_TMPDIR/pods.csv
	gpupool sim generate --nodes $nodes --seed 941 >"$list"
	[ "$(wc -l <"$list")" -eq 8001 ]
	cmp "$list" <(gpupool sim generate --nodes $nodes --seed 941)
	! cmp -s "$list" <(gpupool sim generate --nodes $nodes --seed 942)
	run gpupool sim generate --nodes $nodes --seed 941 --json
	[ "$(number seed)" = 941 ]
	run gpupool sim run --nodes $nodes --pods "$list" --replay --load 110 --moves 1 --json
	[ "$status" -eq 0 ]
	python3 -c "assert 60 < $(number allocated_percent) < 100 and $(number pods_moved) > 0"
	python3 -c "assert $(number pods_placed) + $(number pods_failed) == 24000"
	run gpupool sim generate
	[ "$status" -eq 2 ]
	[[ $output == *"'sim generate' wants --nodes FILE"* ]]
	run gpupool sim run --nodes $nodes --pods openb_pod_list_multigpu20.csv --replay
	[ "$status" -eq 1 ]
	[[ $output == *"--load 110"* ]]
}

@test "gangs are placed as a whole, in one rack, and their log replays" {
	cat >"$BATS_TEST_TMPDIR/cluster.json" <<-JSON
	$(python3 - <<'PY'
import json
nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n%d" % i, "labels": {
    "rack": "r%d" % (i // 2), "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.count": "4",
    "nvidia.com/gpu.memory": "81920"}}, "status": {"allocatable": {"nvidia.com/gpu": "4", "cpu": "64",
    "memory": "512Gi", "pods": "110"}}} for i in range(5)]
pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s-%d" % (gang, i), "namespace": "default",
    "annotations": {"gpupool.io/gang": gang, "gpupool.io/gang-size": str(size), "gpupool.io/gang-domain": "rack"}},
    "spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": str(cards)}}}]}}
    for gang, size, count, cards in (("a", 4, 4, 2), ("b", 3, 3, 4), ("c", 9, 2, 1)) for i in range(count)]
print(json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes + pods}))
PY
)
	JSON
	log=$BATS_TEST_TMPDIR/log
	run --separate-stderr gpupool sim run --cluster "$BATS_TEST_TMPDIR/cluster.json" --record "$log" --json
	[ "$status" -eq 0 ]
	# a fills a rack; b wants three nodes and a rack has two; c is never whole.
	[ "$(number pods_placed)" -eq 4 ]
	[ "$(number pods_failed)" -eq 5 ]
	first=$(number checksum)
	[ "$(grep -c '"reason":"gang_size","wanted":12,"have":8,"total":3' "$log")" -eq 1 ]
	run gpupool sim replay "$log" --json
	[ "$status" -eq 0 ]
	[ "$(number checksum)" = "$first" ]
	run gpupool sim run --cluster-text '4 nodes of 8 h100; 5 gangs of 4 Pods of 2 cards' --json
	[ "$(number pods_placed)" -eq 16 ]
	run gpupool sim run --cluster-text '4 nodes of 8 h100; 5 gangs of 4 Pods of 2 cards' --look-ahead 8
	[ "$status" -eq 1 ]
	[[ $output == *gangs* ]]
}

@test "numbers of CPUs that no machine has are no trouble to any policy" {
	cat >"$BATS_TEST_TMPDIR/large.yaml" <<'YAML'
nodes:
- {count: 2, gpus: 2, model: a100, cpu: 9000000000000}
pods:
- {count: 2, gpus: 1, cpu: 9000000000000}
- {count: 2, gpu-memory: 3Gi, cpu: 9000000000}
YAML
	for policy in default random dotprod gpuclustering gpupacking bestfit fgd binpack spread topology; do
		run gpupool sim run --cluster "$BATS_TEST_TMPDIR/large.yaml" --policy $policy --json
		[ "$status" -eq 0 ]
		[ "$(number pods_placed)" -ge 2 ]
	done
}
