/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_of.h"
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "doctor/facts.h"
#include "doctor/read.h"

#define NODE(name, count, rest)                                                                 \
	"Name: " name "\n" rest "Capacity:\n  cpu: 8\n  memory: 16Gi\n  nvidia.com/gpu: " count \
	"\nAllocatable:\n  cpu: 8\n  memory: 16Gi\n  nvidia.com/gpu: " count "\n"
#define POD(count)                                                                         \
	"--- pod\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - resources:\n" \
	"      limits:\n        nvidia.com/gpu: " count "\n"

static const struct reading readings[] = {
	{ "a whole node",
	  NULL,
	  NODE("a", "8", ""),
	  { "plugin.ok" },
	  { "node.gpu.unhealthy", "node.gpu.nowhere" } },
	{ "one less than the capacity",
	  NULL,
	  "Capacity:\n  nvidia.com/gpu:             8\nAllocatable:\n  nvidia.com/gpu:             "
	  "7\n",
	  { "node.gpu.unhealthy=7 of 8" },
	  { "plugin.ok", "node.gpu.zero" } },
	{ "no node has any",
	  NULL,
	  "Name: a\nCapacity:\n  cpu: 8\n  memory: 1Gi\nName: b\nCapacity:\n  cpu: 8\n  memory: "
	  "1Gi\n",
	  { "node.gpu.nowhere" },
	  { "plugin.ok" } },
	{ "one of two has none",
	  NULL,
	  "Name: a\nCapacity:\n  cpu: 8\n  memory: 1Gi\n" NODE("b", "1", ""),
	  { "node.gpu.none=a", "plugin.ok" },
	  { "node.gpu.nowhere" } },
	{ "more than a node has",
	  NULL,
	  NODE("a", "4", "") POD("8"),
	  { "pod.gpu.over_node=8 4" },
	  { "pod.resource_unknown" } },
	{ "as many as a node has",
	  NULL,
	  NODE("a", "4", "") POD("4"),
	  { "pod.gpu.many=4" },
	  { "pod.gpu.over_node", "pod.taint_untolerated" } },
	{ "more CPU than a node has",
	  NULL,
	  NODE("a", "4", "") "--- pod\nresources:\n  limits:\n    nvidia.com/gpu: 1\n  requests:\n"
			     "    cpu: 9\n    memory: 15Gi\n    nvidia.com/gpu: 1\n",
	  { "pod.cpu_over_node" },
	  { "pod.memory_over_node" } },
	{ "none of one resource, some of another",
	  NULL,
	  "Name: a\nAllocatable:\n  cpu: 8\n  nvidia.com/gpu: 0\n  nvidia.com/gpu.shared: 8\n",
	  { "node.gpu.some=nvidia.com/gpu.shared", "node.resource_zero=nvidia.com/gpu" },
	  { "node.gpu.zero" } },
	{ "a taint that is not tolerated",
	  NULL,
	  NODE("a", "4", "Taints: dedicated=ml:NoSchedule\n") POD("1"),
	  { "pod.taint_untolerated=dedicated" },
	  { NULL } },
	{ "a taint, and a fragment of a Pod",
	  NULL,
	  NODE("a", "4", "Taints: dedicated=ml:NoSchedule\n") "--- pod\nresources:\n  limits:\n"
							      "    nvidia.com/gpu: 1\n",
	  { "node.taint=dedicated", "pod.gpu=1" },
	  { "pod.taint_untolerated" } },
	{ "one of two nodes is tainted",
	  NULL,
	  NODE("a", "4", "Taints: dedicated=ml:NoSchedule\n") NODE("b", "4", "") POD("1"),
	  { "node.taint=dedicated" },
	  { "pod.taint_untolerated" } },
	{ "a resource that no node has",
	  NULL,
	  NODE("a", "4", "") "--- pod\nresources:\n  limits:\n    nvidia.com/mig-1g.5gb: 1\n",
	  { "pod.resource_unknown=nvidia.com/mig-1g.5gb" },
	  { NULL } },
	{ "an image newer than the driver",
	  NULL,
	  "| NVIDIA-SMI 535.86.10  Driver Version: 535.86.10  CUDA Version: 12.2 |\n--- pod\n"
	  "image: nvidia/cuda:12.8.0-base-ubuntu22.04\n",
	  { "image.cuda_newer=12.8.0 12.2" },
	  { NULL } },
	{ "an image as new as the driver",
	  NULL,
	  "| NVIDIA-SMI 535.86.10  Driver Version: 535.86.10  CUDA Version: 12.2 |\n--- pod\n"
	  "image: nvidia/cuda:12.2.2-base-ubuntu22.04\n",
	  { "pod.image_cuda=12.2.2" },
	  { "image.cuda_newer" } },
	{ "a card that the branch does not know",
	  NULL,
	  "Driver Version : 535.86.10\nProduct Name : NVIDIA B200\n",
	  { "card.unknown_to_driver=blackwell 535" },
	  { NULL } },
	{ "a card of another listing",
	  NULL,
	  "| NVIDIA-SMI 410.104  Driver Version: 410.104 |\n--- other\nDriver Version : 570.86.10\n"
	  "Product Name : NVIDIA H100 80GB HBM3\n",
	  { "driver.version=410.104", "card.architecture=hopper" },
	  { "card.unknown_to_driver" } },
	{ "a node of another file",
	  "a.txt",
	  POD("8") "%%% b.txt\n" NODE("b", "4", ""),
	  { "pod.gpu=8" },
	  { "pod.gpu.over_node" } },
	{ "a node of another file of the folder",
	  "all/pods/a.txt",
	  POD("8") "%%% all/b.txt\n" NODE("b", "4", ""),
	  { "pod.gpu.over_node=8 4" },
	  { NULL } },
	{ "versions of two hosts in one file",
	  NULL,
	  "this kernel module has the version 535.54.03.\nNVML library version: 535.54\n"
	  "this kernel module has the version 570.86.10.\nNVML library version: 570.86.10\n",
	  { "driver.module_version=570.86.10" },
	  { "driver.versions_differ" } },
	{ "a card that it knows",
	  NULL,
	  "Driver Version : 535.86.10\nProduct Name : Tesla T4\n",
	  { "driver.ok" },
	  { "card.unknown_to_driver" } },
	{ "the host failed and the container works",
	  NULL,
	  "--- container: nvidia-smi -L\nGPU 0: Tesla T4 (UUID: GPU-1)\n--- host: nvidia-smi\n"
	  "Failed to initialize NVML: Driver/library version mismatch\n",
	  { "injection.ok" },
	  { "driver.ok" } },
	{ "fewer than the host has",
	  NULL,
	  "--- host: nvidia-smi -L\nGPU 0: Tesla T4 (UUID: GPU-1)\nGPU 1: Tesla T4 (UUID: GPU-2)\n"
	  "--- kubectl describe node\n" NODE("a", "1", ""),
	  { "node.gpu.fewer_than_cards=1 of 2" },
	  { NULL } },
	{ "an affinity that no node meets",
	  NULL,
	  "--- daemonset affinity (fragment)\nrequiredDuringSchedulingIgnoredDuringExecution:\n"
	  "  nodeSelectorTerms:\n  - matchExpressions:\n    - key: "
	  "feature.node.kubernetes.io/pci-10de.present\n"
	  "      operator: In\n--- kubectl describe node\nName: a\n"
	  "Labels: kubernetes.io/hostname=a\n",
	  { "plugin.node_affinity=feature.node.kubernetes.io/pci-10de.present",
	    "plugin.affinity_unmet", "nfd.absent", "node.no_gpu_labels" },
	  { "pod.selector_unmet" } },
	{ "an affinity that a node meets",
	  NULL,
	  "--- daemonset affinity (fragment)\n  nodeSelectorTerms:\n  - matchExpressions:\n"
	  "    - key: nvidia.com/gpu.present\n--- kubectl describe node\nName: a\n"
	  "Labels: nvidia.com/gpu.present=true\n",
	  { "node.label.gpu_present=true" },
	  { "plugin.affinity_unmet" } },
	{ "drivers of nodes",
	  NULL,
	  "Name: a\nLabels: nvidia.com/cuda.driver-version.full=535.54.03\nCapacity:\n  cpu: 1\n"
	  "Name: b\nLabels: nvidia.com/cuda.driver-version.full=550.90.07\nCapacity:\n  cpu: 1\n",
	  { "driver.nodes_differ=550.90.07" },
	  { NULL } },
	{ "MPS without its daemon",
	  NULL,
	  "sharing:\n  mps:\n    resources:\n    - name: nvidia.com/gpu\n      replicas: 10\n"
	  "--- kubectl get ds\n"
	  "NAME                   DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE "
	  "SELECTOR\n"
	  "nvidia-device-plugin   1         1         1       1            1           <none>\n",
	  { "plugin.sharing=mps", "plugin.replicas=10", "mps.daemon_absent" },
	  { "plugin.sharing=time_slicing" } },
};

TEST(sources_are_compared)
{
	readings_check(readings, ARRAY_SIZE(readings));
}

static int read_all(struct facts *facts, struct readers *readers)
{
	static const char *const lines[] = { "kind: Node",
					     "metadata:",
					     "  name: a",
					     "  labels:",
					     "    nvidia.com/gpu.present: \"true\"",
					     "status:",
					     "  capacity:",
					     "    nvidia.com/gpu: 8",
					     "---",
					     "nvidia-device-plugin  0/1  Error" };
	int r = readers_source(readers, "a");

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(lines); i++)
		r = readers_line(readers, lines[i], strlen(lines[i]), i + 1);
	(void)facts;
	return r == 0 ? readers_end(readers) : r;
}

TEST(readers_survive_no_memory)
{
	for (unsigned n = 0;; n++) {
		autofacts *facts = facts_new();
		struct readers *readers;
		int r = -ENOMEM;

		assert_non_null(facts);
		fault_arm(n);
		readers = readers_new(facts);
		if (readers)
			r = read_all(facts, readers);
		readers_free(readers);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 20);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

TEST(an_object_is_quoted_by_its_name)
{
	static const char *const lines[] = {
		"apiVersion: v1", "kind: Node",  "metadata:",  "  name: a",
		"status:",        "  capacity:", "    cpu: 8", "    memory: 1Gi"
	};
	autofacts *facts = facts_new();
	autoreaders *readers = facts ? readers_new(facts) : NULL;

	assert_non_null(readers);
	assert_int_equal(readers_source(readers, "a"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_int_equal(readers_line(readers, lines[i], strlen(lines[i]), i + 1), 0);
	assert_int_equal(readers_end(readers), 0);
	assert_int_equal(facts_match(facts, "node.gpu.none")->line, 4);
	assert_string_equal(facts_match(facts, "node.gpu.none")->text, "  name: a");
}
