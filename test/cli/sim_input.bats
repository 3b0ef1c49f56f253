#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Inputs of the simulator that are wrong: each is one sentence with the file and the line.
#
# How to add one: a row `option | text as printf reads it | what the sentence has after the file's name`.

bats_require_minimum_version 1.5.0
load ../lib/common

setup() {
	[ -x "$BIN/gpupool" ] || { echo "$BIN/gpupool is not built"; return 1; }
	cd "$BATS_TEST_TMPDIR" || return 1
	printf 'sn,cpu_milli,memory_mib,gpu,model\nn,9000,9000,2,T4\n' >good-nodes
	printf 'name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,500\n' >good-pods
}

# The sentence about the file `input`, given with OPTION beside whole inputs.
complain() { # OPTION PATTERN COMMAND...
	local option=$1 pattern=$2
	shift 2
	case $option in
	--nodes) set -- "$@" --nodes input --pods good-pods ;;
	--pods) set -- "$@" --nodes good-nodes --pods input ;;
	--cluster) set -- "$@" --cluster input ;;
	*) echo "unknown option $option" && return 1 ;;
	esac
	run --separate-stderr timeout 60 gpupool "$@"
	if [ "$status" -ne 1 ] || [ -n "$output" ] || [ "${#stderr_lines[@]}" -ne 1 ] ||
		[[ $stderr != "gpupool: input"$pattern ]]; then
		printf '%s\nstatus %s\n%s\n%s\nis not: gpupool: input%s\n' "$*" "$status" "$output" \
			"$stderr" "$pattern"
		return 1
	fi
}

# Every row is tried; those that are wrong are named.
table() {
	local rows=0 wrong=0 option text pattern
	while IFS='|' read -r option text pattern; do
		[ -n "$option" ] || continue
		# shellcheck disable=SC2059
		printf "$text" >input
		complain "$option" "$pattern" sim run || wrong=$((wrong + 1))
		rows=$((rows + 1))
	done
	echo "$rows rows, $wrong wrong"
	[ "$rows" -gt 5 ] && [ "$wrong" -eq 0 ]
}

N='sn,cpu_milli,memory_mib,gpu,model\n'
P='name,cpu_milli,memory_mib,num_gpu,gpu_milli\n'
T='name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time\n'

@test "CSV of nodes" {
	table <<-END
		--nodes|sn,cpu_milli,gpu\nn,1,1\n|:1: columns are missing: memory_mib, model;*
		--nodes|${P}p,1,1,1,500\n|:1: columns are missing: sn, gpu, model;*
		--nodes|sn,sn,memory_mib,gpu,model\n|:1: two columns are named sn;*
		--nodes|${N}a,1,1,1,T4\n\nb,1,1,1\n|:4: 4 fields where the first line has 5;*
		--nodes|${N}a,1,1,1,T4,9\n|:2: 6 fields where the first line has 5;*
		--nodes|${N}a,1,1,1,T4\nb,-1,1,1,T4\n|:3: cpu_milli '-1' is no whole number*
		--nodes|${N}a,1,-1,1,T4\n|:2: memory_mib '-1' is no whole number*
		--nodes|${N}a,1,1,-1,T4\n|:2: gpu '-1' is no whole number from 0 to 64;*
		--nodes|${N}a,1,1,65,T4\n|:2: gpu '65' is no whole number from 0 to 64;*
		--nodes|${N}a,1.5,1,1,T4\n|:2: cpu_milli '1.5' is no whole number*
		--nodes|${N}a,99999999999999999999,1,1,T4\n|:2: cpu_milli '9999*' is no whole number*
		--nodes|${N}a,1,1,1,\n|:2: model '' is no model*
		--nodes|${N},1,1,1,T4\n|:2: sn '' is no name*
		--nodes|${N}a,1,1,1,T4\nb,1,1,1,T4\na,1,1,1,T4\n|:4: two nodes are named a;*
		--nodes|${N}"a,1,1,1,T4\n|:2: a quoted field does not end*
		--nodes|${N}a\001,1,1,1,T4\n|:2: sn 'a?' has the control character 0x01; remove it
		--nodes|${N}a\000b,1,1,1,T4\n|:2: a zero byte;*
	END
}

@test "CSV of Pods" {
	table <<-END
		--pods|name,cpu_milli\np,1\n|:1: columns are missing: memory_mib, num_gpu, gpu_milli;*
		--pods|${P}p,1,1,1,500\np,1,1,1,500\n|:3: two Pods are named p;*
		--pods|${P}p,1,1,-1,500\n|:2: num_gpu '-1' is no whole number*
		--pods|${P}p,1,1,1,-500\n|:2: gpu_milli '-500' is no whole number*
		--pods|${P}p,1,1,1,1001\n|:2: gpu_milli '1001' is no whole number from 0 to 1000;*
		--pods|${P}p,1,1,1,0\n|:2: gpu_milli '0' is nothing of each of 1 cards;*
		--pods|${P}p,1,1,0,500\n|:2: gpu_milli '500' is a part of a card, and num_gpu is 0;*
		--pods|${P}p,1,1,99,1000\n|:2: num_gpu '99' is no whole number*
		--pods|${P}p\t,1,1,1,500\n|:2: name 'p?' has the control character 0x09; remove it
		--pods|${P}p,1,1|:2: 3 fields where the first line has 5;*
		--pods|${P},1,1,1,500\n|:2: name '' is no name;*
		--pods|${T}p,1,1,1,500,9,3\n|:2: deletion_time '3' is before creation_time 9;*
		--pods|${T}p,1,1,1,500,-9,3\n|:2: creation_time '-9' is no whole number*
		--pods|${P}"p",1,1,1,500\n"p"x,1,1,1,500\n|:3: a quoted field does not end*
	END
}

@test "a cluster in few words and as short YAML" {
	table <<-END
		--cluster|20 nodes of 8 h100; 300 Pods of|:1: '300 Pods of' is not understood;*
		--cluster|20 nodes of 8 h100\n\n-3 Pods of 12 GiB\n|:3: '-3 Pods of 12 GiB' is not understood;*
		--cluster|2 nodes of 8 nix|:1: the memory of the model 'nix' is not known here;*
		--cluster|100000 nodes of 64 h100|:1: more than 100000 nodes or 1000000 cards in all;*
		--cluster|nodes:\n- {gpus: 1, model: t4}\npods:\n- {count: -1, gpus: 1}\n|:4: count '-1' is no whole number*
		--cluster|nodes:\n- {name: a}\n- {name: a}\n|:3: two nodes are named a;*
		--cluster|nodes:\n- {count: 2}\npods:\n- {name: p}\n- {name: p}\n|:5: two Pods are named p;*
		--cluster|nodes:\n- {count: 2, gpus: 8|:[23]:*: no valid YAML: *
		--cluster|nodes:\n- {cuont: 2}\n|:2: nodes have no field 'cuont'; they have count,*
		--cluster|nodes: 3\n|:1: nodes is no list;*
		--cluster|nodes:\n- {gpus: 1, model: t4, cpu: -4}\n|:2: cpu '-4' is negative;*
		--cluster|nodes:\n- {gpus: 1, model: t4, memory: lots}\n|:2: memory 'lots' is no quantity;*
		--cluster|hello|:1: *
		--cluster|nodes:\n\000|* NUL byte;*
	END
}

# What kubectl prints: nodes and Pods, each on a line.
NODE='{"kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","nvidia.com/gpu":"2"}}}'
POD='{"kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"m"}]}}'
LIST='{"kind":"List","items":[\n'

@test "nodes and Pods as kubectl prints them" {
	table <<-END
		--cluster|$LIST$NODE,\n$POD,\n$POD]}|:4: two Pods are named default/p;*
		--cluster|$LIST$NODE,\n$NODE]}|:3: two nodes are named n;*
		--cluster|$LIST$NODE,\n{"kind":"Pod","met|:3:*may be cut off
		--cluster|$LIST$NODE,\n$POD|:3:*may be cut off
		--cluster|$LIST$NODE,|:*may be cut off
		--cluster|$LIST${NODE/\"4\"/\"-4\"}]}|:2: node n: cpu, memory or pods below *
		--cluster|$LIST${NODE/\"2\"/\"-2\"}]}|:2: node n: nvidia.com/gpu below *
		--cluster|$LIST${NODE/\"name\":\"n\"/}]}|:2: node: metadata.name has to be a name*
		--cluster|$LIST$NODE,\n${POD/\"name\":\"p\"/}]}|:3: Pod: metadata.name is missing;*
		--cluster|$LIST$NODE,\n7]}|:3: no object of Kubernetes;*
		--cluster|[1, 2]|:1:*
		--cluster|$LIST$NODE,,\n$POD]}|:2:*
		--cluster|apiVersion: v1\nkind: List\nitems:\n- $NODE\n- $NODE\n|:5: two nodes are named n;*
		--cluster|apiVersion: v1\nkind: List\nitems:\n- kind: Node\n  metadata: {name: a\n|:6:1: no valid YAML: *
	END
}

@test "any name that is read can be recorded and replayed" {
	printf '%b' "${N}rack 1/node,9000,9000,2,T4\nrack_1,9000,9000,2,T 4\n" >input
	run gpupool sim run --nodes input --pods good-pods --record log
	[ "$status" -eq 0 ]
	run gpupool sim replay log
	[ "$status" -eq 0 ]
	printf '%b' "$LIST$NODE,\n$POD]}" >input
	run gpupool sim run --cluster input --record log
	[ "$status" -eq 0 ]
	run gpupool sim replay log
	[ "$status" -eq 0 ]
}

@test "what is no text, or too long a line" {
	head -c 100000 /dev/urandom >input
	complain --cluster '*' sim run
	{ cat good-nodes; head -c 2000000 /dev/zero | tr '\0' a; } >input
	complain --nodes ':3: the line is longer than 1048576 bytes;*' sim run
	: >input
	complain --nodes ' is empty;*' sim run
	rm input
	mkdir input
	run --separate-stderr gpupool sim run --nodes input --pods good-pods
	[ "$status" -eq 1 ]
	[[ $stderr == "gpupool: cannot read input: Is a directory" ]]
}

@test "every command that reads a cluster says the same" {
	for command in run compare; do
		printf '%b' "${N}a,1,1,1,T4\na,1,1,1,T4\n" >input
		complain --nodes ':3: two nodes are named a;*' sim $command
		printf '%b' "${P}p,1,1,1,1001\n" >input
		complain --pods ':2: gpu_milli *' sim $command
	done
}
