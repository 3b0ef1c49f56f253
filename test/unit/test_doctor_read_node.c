/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_of.h"
#include "test.h"

#include "base/base.h"

static const struct reading readings[] = {
	{ "describe",
	  NULL,
	  "Name:               gpu-1\n"
	  "Labels:             beta.kubernetes.io/arch=amd64\n"
	  "                    nvidia.com/gpu.count=2\n"
	  "                    nvidia.com/gpu.present=true\n"
	  "                    nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB-SHARED\n"
	  "Annotations:        nvidia.com/gpu.deploy.driver: x\n"
	  "Taints:             nvidia.com/gpu=present:NoSchedule\n"
	  "                    example.org/other:NoExecute\n"
	  "Unschedulable:      true\n"
	  "Capacity:\n  cpu:                32\n  memory:             264074052Ki\n"
	  "  nvidia.com/gpu:     8\n  pods:               110\n"
	  "Allocatable:\n  cpu:                32\n  nvidia.com/gpu:     0\n"
	  "System Info:\n  Kernel Version:             5.15.0-25-generic\n"
	  "  OS Image:                   Ubuntu 22.04 LTS\n"
	  "  Container Runtime Version:  containerd://1.7.2-k3s1\n"
	  "  Kubelet Version:            v1.30.1+k3s1\n",
	  { "node.gpu.capacity=8", "node.gpu.allocatable=0", "node.gpu.zero=nvidia.com/gpu",
	    "node.gpu_taint=nvidia.com/gpu", "node.taint=example.org/other", "node.unschedulable",
	    "node.label.shared", "card.model=NVIDIA-A100-SXM4-40GB", "card.architecture=ampere",
	    "distribution=k3s", "kubelet.version=1.30.1", "engine=containerd" },
	  { "node.gpu.none", "node.no_gpu_labels" } },
	{ "node without GPUs",
	  NULL,
	  "Capacity:\n  cpu:                32\n  ephemeral-storage:  1951312988Ki\n"
	  "  memory:             264074052Ki\n  pods:               110\n",
	  { "node.gpu.none", "seen.node" },
	  { "node.gpu.some", "seen.node_labels" } },
	{ "as YAML",
	  NULL,
	  "kind: Node\nmetadata:\n  labels:\n    kubernetes.io/hostname: a\n  name: a\nspec:\n"
	  "  taints:\n  - effect: NoSchedule\n    key: nvidia.com/gpu\nstatus:\n  allocatable:\n"
	  "    cpu: \"8\"\n    memory: 1Gi\n    pods: \"110\"\n    nvidia.com/mig-1g.5gb: \"7\"\n",
	  { "node.no_gpu_labels", "node.resource=nvidia.com/mig-1g.5gb", "node.gpu_taint",
	    "nfd.absent" },
	  { "node.gpu.none", "node.gpu.allocatable" } },
	{ "quota",
	  NULL,
	  "kind: ResourceQuota\nspec:\n  hard:\n    requests.nvidia.com/gpu: \"4\"\nstatus:\n"
	  "  hard:\n    requests.nvidia.com/gpu: \"4\"\n  used:\n    requests.nvidia.com/gpu: "
	  "\"4\"\n",
	  { "quota.gpu_full=4 of 4" },
	  { "quota.gpu_zero", "node.resource" } },
	{ "another vendor's prefix",
	  NULL,
	  "Allocatable:\n  example.org/gpu:  7\n",
	  { "node.gpu.allocatable=7", "node.gpu.some" },
	  { "node.gpu.zero" } },
};

TEST(nodes_are_read)
{
	readings_check(readings, ARRAY_SIZE(readings));
}
