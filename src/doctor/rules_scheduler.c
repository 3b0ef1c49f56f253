/* SPDX-License-Identifier: Apache-2.0 */
/* Causes in the link scheduler. How to add one: rule.h. */
#include "doctor/rule.h"

const struct rule doctor_rules_scheduler[] = {
	{ .code = "gpu_request_without_limit",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Limit must be set for non overcommitable",
		   "resources.limits: Required value: Limit must be set" },
	  .sure = { "@pod.gpu.requests_without_limits" },
	  .explains = { "insufficient_gpu", "pod_without_gpu_request" },
	  .cause = "The container names the GPU under requests only. A GPU cannot be "
		   "over-committed, so Kubernetes demands it under limits, and the API server "
		   "refuses the Pod.",
	  .cure = { "Write the GPU under resources.limits (the request then follows by itself) and "
		    "apply again" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/"
		    "validation.go" },
	{ .code = "gpu_count_fractional",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "resources.limits[*Invalid value*must be an integer",
		   "resources.requests[*Invalid value*must be an integer", "@pod.gpu.fractional" },
	  .sure = { "@pod.gpu.fractional" },
	  .explains = { "insufficient_gpu" },
	  .cause = "The Pod asks for a part of a GPU (like 0.5 or 500m). Counts of an extended "
		   "resource are whole numbers, so the object is refused when it is submitted.",
	  .cure = { "Ask for a whole number: limits: {nvidia.com/gpu: 1}",
		    "For a part of a card use time-slicing, MPS, MIG or a memory slice: limits: "
		    "{gpupool.io/gpu-memory: 8}" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/"
		    "validation.go" },
	{ .code = "gpu_request_differs_from_limit",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "must be equal to nvidia.com/", "must be equal to*/gpu limit",
		   "must be equal to*/mig-*limit", "@pod.gpu.requests_differ" },
	  .sure = { "@pod.gpu.requests_differ" },
	  .explains = { "insufficient_gpu" },
	  .cause = "The container's request and limit for the GPU are different numbers. A GPU "
		   "cannot be over-committed, so both must be the same, and the object is refused "
		   "by validation.",
	  .cure = { "Write the same number under requests and limits, or only the limit, and apply "
		    "again" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/"
		    "validation.go" },
	{ .code = "gpu_resource_name_wrong",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "must be a standard resource for containers",
		   "must be a standard resource type or fully qualified",
		   "follow extended resource name standard" },
	  .explains = { "insufficient_gpu", "gpu_resource_not_on_any_node" },
	  .cause = "The GPU's resource is misspelt in the Pod. Kubernetes knows no such resource, "
		   "so it refuses the Pod or never finds a node for it.",
	  .cure = { "kubectl get nodes -o json | grep -o '\"nvidia.com/[^\"]*' | sort -u",
		    "Use that name under limits, usually nvidia.com/gpu" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/"
		    "validation.go" },
	{ .code = "gpu_resource_not_on_any_node",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@pod.resource_unknown" },
	  .any = { "Insufficient nvidia.com/", "Insufficient amd.com/", "Insufficient*/gpu",
		   "Insufficient*/mig-" },
	  .absent = { "@node.gpu.none", "@pod.gpu.fractional", "Successfully assigned" },
	  .sure = { "@node.resource_zero", "Preemption is not helpful for scheduling" },
	  .explains = { "insufficient_gpu", "node_without_gpu" },
	  .cause = "The Pod asks for a GPU resource that no node of the evidence advertises. The "
		   "nodes have GPUs under another name (for example shared replicas or MIG "
		   "instances).",
	  .cure = { "kubectl get nodes -o json | grep -o '\"nvidia.com/[^\"]*\": *\"[0-9]*\"' | "
		    "sort | uniq -c",
		    "Ask for a resource that stands there, or change the sharing or MIG "
		    "configuration of the plugin" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus" },
	{ .code = "gpu_request_over_node",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@pod.gpu.over_node" },
	  .any = { "Insufficient nvidia.com/gpu", "Insufficient*/gpu",
		   "Preemption is not helpful for scheduling" },
	  .absent = { "node unregistered", "maximum request size for shared resources",
		      "Successfully assigned" },
	  .sure = { "Preemption is not helpful for scheduling" },
	  .explains = { "insufficient_gpu", "gpus_all_held", "hami_count_over_cards" },
	  .cause = "One Pod asks for more GPUs than any single node has. A Pod runs on one node, "
		   "so it waits for ever, however many GPUs the cluster has in sum.",
	  .cure = { "kubectl get nodes -o "
		    "custom-columns=NAME:.metadata.name,GPU:.status.allocatable.nvidia\\\\.com/gpu",
		    "Ask for at most that number, and spread the job over several Pods" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/noderesources/fit.go" },
	{ .code = "gpus_all_held",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "Insufficient nvidia.com/gpu", "@node.gpu.full" },
	  .absent = { "@node.gpu.free" },
	  .explains = { "insufficient_gpu" },
	  .cause = "All GPUs of the nodes are held by other Pods. A whole card goes to one Pod, "
		   "whether it uses it or not; the Pod waits until one ends.",
	  .cure = { "kubectl get pods -A -o json | jq -r '.items[] | "
		    "select(.spec.containers[].resources.limits[\"nvidia.com/gpu\"]) | "
		    ".metadata.namespace + \"/\" + .metadata.name + \" \" + (.spec.nodeName // "
		    "\"-\") + \" \" + .status.phase'",
		    "End a Pod that needs none, add a node, or share the cards (time-slicing, MPS, "
		    "MIG, memory slices)" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/noderesources/fit.go" },
	{ .code = "card_believed_shared",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "Insufficient nvidia.com/gpu", "@node.gpu.full", "@node.gpu.allocatable=1" },
	  .absent = { "@node.gpu.free", "@plugin.sharing", "@node.label.shared",
		      "@pod.gpu.over_node" },
	  .explains = { "insufficient_gpu", "gpus_all_held" },
	  .cause = "The node has one GPU and a Pod holds it. A limit of nvidia.com/gpu: 1 takes "
		   "the whole card, so a second Pod cannot join it, even when the card is idle.",
	  .cure = { "Let several Pods share the card: time-slicing (sharing.timeSlicing.resources "
		    "with replicas) or MPS in the device plugin's configuration, or memory slices",
		    "Or end the Pod that holds it: kubectl describe node NODE | grep -A20 "
		    "'Non-terminated Pods'" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus" },
	{ .code = "cpu_short",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "Insufficient cpu" },
	  .any = { "@pod.gpu", "@pod.resource", "@node.gpu.some", "nvidia.com/gpu" },
	  .absent = { "Insufficient nvidia.com/", "@node.gpu.full", "Successfully assigned" },
	  .sure = { "@node.cpu_full", "@pod.cpu_over_node", "@node.gpu.free" },
	  .explains = { "insufficient_gpu" },
	  .cause =
		  "GPUs are free, but the nodes that have them lack the CPU that the Pod requests.",
	  .cure = { "kubectl describe node NODE | grep -A12 'Allocated resources'",
		    "Lower the Pod's CPU request, or move Pods without a GPU off the GPU nodes "
		    "(taint them: kubectl taint node NODE nvidia.com/gpu=present:NoSchedule)" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/noderesources/fit.go" },
	{ .code = "memory_short",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "Insufficient memory" },
	  .any = { "@pod.gpu", "@pod.resource", "@node.gpu.some", "nvidia.com/gpu" },
	  .absent = { "Insufficient nvidia.com/", "@node.gpu.full", "Successfully assigned",
		      "Insufficient cpu" },
	  .sure = { "@node.memory_full", "@pod.memory_over_node", "@node.gpu.free" },
	  .explains = { "insufficient_gpu" },
	  .cause = "GPUs are free, but the nodes that have them lack the host memory that the Pod "
		   "requests.",
	  .cure = { "kubectl describe node NODE | grep -A12 'Allocated resources'",
		    "Lower the Pod's memory request, or move Pods without a GPU off the GPU "
		    "nodes" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/noderesources/fit.go" },
	{ .code = "gpu_node_short_of_cpu_or_memory",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "Insufficient nvidia.com/gpu" },
	  .any = { "@node.cpu_full", "@pod.cpu_over_node", "@node.memory_full",
		   "@pod.memory_over_node" },
	  .absent = { "@node.gpu.full", "Successfully assigned" },
	  .sure = { "Insufficient cpu", "Insufficient memory" },
	  .explains = { "insufficient_gpu" },
	  .cause = "The node that has a free GPU has no CPU or memory left for the Pod; only the "
		   "nodes without GPUs are refused for the GPU.",
	  .cure = { "kubectl describe node NODE | grep -A12 'Allocated resources'",
		    "Lower the Pod's CPU or memory request, or move Pods without a GPU off that "
		    "node" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/noderesources/fit.go" },
	{ .code = "gpu_taint_untolerated",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "untolerated taint {nvidia.com/gpu", "had taint {nvidia.com/gpu",
		   "untolerated taint {gpu", "had taint {gpu", "untolerated taint {sku: gpu",
		   "had taint {sku: gpu", "untolerated taint {dedicated", "had taint {dedicated",
		   "untolerated taint {amd.com/gpu", "untolerated taint {nvidia" },
	  .absent = { "Successfully assigned" },
	  .sure = { "@node.gpu_taint", "@pod.taint_untolerated" },
	  .explains = { "insufficient_gpu", "affinity_matches_no_node", "taint_unknown",
			"gpus_all_held" },
	  .cause = "The GPU nodes carry a taint and the Pod has no toleration for it, so the "
		   "scheduler keeps it away from the only nodes that have GPUs.",
	  .cure = { "kubectl get nodes -o "
		    "custom-columns=NAME:.metadata.name,TAINTS:.spec.taints[*].key",
		    "Add to the Pod: tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: "
		    "NoSchedule}] (with the key found)" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/tainttoleration/taint_toleration.go" },
	{ .code = "gpu_taint_unnamed",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "had untolerated taint(s)", "@pod.taint_untolerated" },
	  .absent = { "Successfully assigned" },
	  .sure = { "@node.gpu_taint" },
	  .explains = { "insufficient_gpu", "affinity_matches_no_node", "taint_unknown",
			"gpus_all_held" },
	  .cause = "The scheduler refuses nodes for a taint (this release does not print which), "
		   "and every GPU node of the evidence has one that the Pod does not tolerate.",
	  .cure = { "kubectl get nodes -o "
		    "custom-columns=NAME:.metadata.name,TAINTS:.spec.taints[*].key",
		    "Add to the Pod: tolerations: [{key: KEY, operator: Exists}]" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/tainttoleration/taint_toleration.go" },
	{ .code = "gpu_node_not_ready",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "untolerated taint {node.kubernetes.io/not-ready",
		   "untolerated taint {node.kubernetes.io/unreachable",
		   "untolerated taint {node.kubernetes.io/disk-pressure",
		   "untolerated taint {node.kubernetes.io/memory-pressure",
		   "had taint {node.kubernetes.io/not-ready",
		   "had taint {node.kubernetes.io/unreachable",
		   "had taint {node.kubernetes.io/disk-pressure",
		   "had taint {node.kubernetes.io/memory-pressure",
		   "node(s) had unknown conditions" },
	  .absent = { "Successfully assigned" },
	  .sure = { "@node.not_ready", "NodeNotReady", "Kubelet stopped posting node status",
		    "NodeHasDiskPressure" },
	  .explains = { "insufficient_gpu", "taint_unknown", "node_without_gpu" },
	  .cause = "A node is not ready or under pressure, and Kubernetes tainted it, so nothing "
		   "is placed there. The GPU is not the fault; the node is.",
	  .cure = { "kubectl get nodes; kubectl describe node NODE | grep -A12 Conditions",
		    "journalctl -u kubelet -n 100 (on the node); free disk or memory, or start the "
		    "kubelet again" },
	  .source =
		  "https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/" },
	{ .code = "gpu_node_cordoned",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "node(s) were unschedulable",
		   "untolerated taint {node.kubernetes.io/unschedulable",
		   "had taint {node.kubernetes.io/unschedulable" },
	  .absent = { "Successfully assigned" },
	  .sure = { "@node.unschedulable" },
	  .explains = { "insufficient_gpu", "taint_unknown", "affinity_matches_no_node" },
	  .cause = "A node is cordoned (SchedulingDisabled), so no new Pod is placed there. "
		   "Drains, upgrades of the driver and MIG changes leave nodes like that when they "
		   "stop half way.",
	  .cure = { "kubectl get nodes | grep SchedulingDisabled", "kubectl uncordon NODE" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/nodeunschedulable/node_unschedulable.go" },
	{ .code = "gpu_model_selector_unmet",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "node affinity" },
	  .any = { "@pod.selector_unmet=*gpu.product*", "@pod.selector_unmet=*gpu.memory*",
		   "@pod.selector_unmet=*accelerator*", "@pod.selector_unmet=*gpu.family*" },
	  .absent = { "@node.label.shared", "Successfully assigned" },
	  .explains = { "insufficient_gpu", "affinity_matches_no_node" },
	  .cause = "The Pod asks by label for a GPU model that no node of the evidence carries: "
		   "the label's value is spelt in another way, or there is no such card.",
	  .cure = { "kubectl get nodes -L nvidia.com/gpu.product,nvidia.com/gpu.memory",
		    "Use a value from that list in the Pod's nodeSelector or affinity" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/"
		    "gpu-feature-discovery" },
	{ .code = "affinity_matches_no_node",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "didn't match Pod's node affinity", "didn't match node selector",
		   "didn't match Pod's node selector",
		   "didn't match scheduler-enforced node affinity", "pod affinity terms conflict" },
	  .absent = { "Insufficient nvidia.com/", "Successfully assigned",
		      "nvidia-device-plugin*didn't match" },
	  .sure = { "@pod.selector_unmet" },
	  .explains = { "insufficient_gpu", "taint_unknown" },
	  .cause = "The Pod's nodeSelector or node affinity fits no node that could take it. "
		   "Usually a label is misspelt, or nobody (GPU feature discovery, the cloud) put "
		   "it on the node.",
	  .cure = { "kubectl get pod POD -o jsonpath='{.spec.nodeSelector} "
		    "{.spec.affinity.nodeAffinity}'",
		    "kubectl get nodes --show-labels",
		    "Correct the selector, or label the node: kubectl label node NODE KEY=VALUE" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/nodeaffinity/node_affinity.go" },
	{ .code = "gpu_quota_used_up",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "exceeded quota*requests.nvidia.com/",
		   "exceeded quota*/gpu=", "exceeded quota*/mig-" },
	  .absent = { "@quota.gpu_zero" },
	  .sure = { "@quota.gpu_full", "FailedCreate" },
	  .explains = { "insufficient_gpu" },
	  .cause =
		  "The namespace's ResourceQuota for GPUs is used up, so the API server refuses to "
		  "create the Pod. No Pod appears; the message stands on the Job or ReplicaSet.",
	  .cure = { "kubectl describe quota -n NAMESPACE",
		    "End Pods of the namespace, or raise requests.nvidia.com/gpu in the quota" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/plugin/pkg/admission/"
		    "resourcequota/controller.go" },
	{ .code = "gpu_quota_zero",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "exceeded quota" },
	  .any = { "@quota.gpu_zero", "limited: requests.nvidia.com/gpu=0" },
	  .sure = { "@quota.gpu_zero", "FailedCreate" },
	  .explains = { "insufficient_gpu", "gpu_quota_used_up" },
	  .cause = "The namespace's ResourceQuota allows no GPUs at all, so every Pod with a GPU "
		   "is refused there.",
	  .cure = { "kubectl describe quota -n NAMESPACE",
		    "Raise requests.nvidia.com/gpu in that quota, or use a namespace that has "
		    "GPUs" },
	  .source = "https://kubernetes.io/docs/concepts/policy/resource-quotas/" },
	{ .code = "quota_needs_limits",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "failed quota*must specify" },
	  .sure = { "FailedCreate", "@seen.quota" },
	  .cause = "The namespace has a quota on CPU or memory, and the Pod does not say how much "
		   "of them it wants. The API server refuses such Pods, GPU or not.",
	  .cure = { "kubectl describe quota,limitrange -n NAMESPACE",
		    "Add requests and limits for cpu and memory to every container" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/"
		    "apiserver/pkg/admission/plugin/resourcequota/controller.go" },
	{ .code = "limit_range_refuses",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "usage per Container is*but limit is", "usage per Container is*but request is",
		   "usage per Pod is*but limit is", "usage per Pod is*but request is" },
	  .sure = { "LimitRange", "FailedCreate" },
	  .cause = "A LimitRange of the namespace allows less (or more) of a resource per "
		   "container or Pod than this Pod asks for, so it is refused.",
	  .cure = { "kubectl describe limitrange -n NAMESPACE",
		    "Ask for a number within the range, or change the LimitRange" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/plugin/pkg/admission/"
		    "limitranger/admission.go" },
	{ .code = "out_of_gpu_on_node",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "OutOfnvidia.com/gpu", "Node didn't have enough resource: nvidia.com/",
		   "Node didn't have enough resource:*/gpu", "@pod.status=OutOf*gpu*" },
	  .sure = { "@pod.node_name", "@pod.scheduler", "nodeName:" },
	  .explains = { "insufficient_gpu", "no_healthy_devices" },
	  .cause = "The kubelet refused the Pod because the node's GPUs are all held. It was sent "
		   "there without the scheduler's count: spec.nodeName is set, or two schedulers "
		   "place Pods on the same node.",
	  .cure = { "kubectl get pod POD -o jsonpath='{.spec.nodeName} {.spec.schedulerName}'",
		    "Use nodeSelector in place of nodeName, let one scheduler place all GPU Pods, "
		    "and delete the failed Pod" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/lifecycle/"
		    "predicate.go" },
	{ .code = "hami_node_name_set",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "pod has node assigned" },
	  .sure = { "@pod.node_name", "vgpu.hami.io" },
	  .explains = { "hami_no_device_chosen", "insufficient_gpu" },
	  .cause = "The Pod sets spec.nodeName, which passes the scheduler by. The vGPU webhook "
		   "refuses such Pods, because only its scheduler can choose a device for them.",
	  .cure = { "Remove nodeName and use nodeSelector: {kubernetes.io/hostname: NODE} (or node "
		    "affinity)" },
	  .source = "https://github.com/Project-HAMi/HAMi/blob/master/pkg/scheduler/webhook.go" },
	{ .code = "scheduler_absent",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@pod.scheduler", "Events: <none>" },
	  .any = { "@pod.status=Pending", "Status: Pending" },
	  .absent = { "Successfully assigned", "@pod.gated" },
	  .cause = "The Pod names a scheduler (spec.schedulerName), and nothing has looked at it: "
		   "it is Pending without any event. No scheduler of that name runs.",
	  .cure = { "kubectl get pod POD -o jsonpath='{.spec.schedulerName}'; kubectl get pods -A "
		    "| grep -i -E 'scheduler|volcano|hami|kai'",
		    "Start that scheduler, or remove schedulerName from the Pod" },
	  .source = "https://kubernetes.io/docs/tasks/extend-kubernetes/"
		    "configure-multiple-schedulers/" },
	{ .code = "pod_gated",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "non-empty scheduling gates", "waiting for scheduling gates", "@pod.gated" },
	  .absent = { "kueue.x-k8s.io" },
	  .sure = { "@pod.gated", "SchedulingGated" },
	  .cause = "The Pod has a scheduling gate. Until the controller that set it removes it, no "
		   "scheduler looks at the Pod.",
	  .cure = { "kubectl get pod POD -o jsonpath='{.spec.schedulingGates[*].name}'",
		    "Look at the controller that owns that gate: its log, its queue, its quota" },
	  .source = "https://kubernetes.io/docs/concepts/scheduling-eviction/"
		    "pod-scheduling-readiness/" },
	{ .code = "kueue_quota_used_up",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "insufficient unused quota for*in flavor",
		   "insufficient unused quota*more needed",
		   "Pending the preemption of*workload(s)" },
	  .absent = { "request > maximum capacity" },
	  .sure = { "kueue.x-k8s.io", "ClusterQueue", "SchedulingGated" },
	  .explains = { "pod_gated", "kueue_waits" },
	  .cause = "Kueue holds the job back: the quota of its ClusterQueue for that flavor is in "
		   "use. It starts when others end or are preempted.",
	  .cure = { "kubectl get clusterqueue -o "
		    "custom-columns=NAME:.metadata.name,PENDING:.status.pendingWorkloads,ADMITTED:."
		    "status.admittedWorkloads",
		    "kubectl describe workload -n NAMESPACE",
		    "Raise nominalQuota, allow borrowing in the cohort, or wait" },
	  .source = "https://github.com/kubernetes-sigs/kueue/blob/main/pkg/scheduler/"
		    "flavorassigner/flavorassigner.go" },
	{ .code = "kueue_request_over_quota",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "insufficient quota for*request > maximum capacity",
		   "insufficient quota for*in flavor*previously considered podsets requests" },
	  .sure = { "kueue.x-k8s.io", "ClusterQueue", "LocalQueue" },
	  .explains = { "pod_gated", "kueue_waits", "kueue_quota_used_up" },
	  .cause = "The job asks for more GPUs than its queue could ever give (quota and borrowing "
		   "together), so Kueue never admits it.",
	  .cure = { "kubectl get clusterqueue NAME -o yaml | grep -A6 nominalQuota",
		    "Make the job smaller, or raise nominalQuota or borrowingLimit" },
	  .source = "https://github.com/kubernetes-sigs/kueue/blob/main/pkg/scheduler/"
		    "flavorassigner/flavorassigner.go" },
	{ .code = "kueue_queue_missing",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "LocalQueue*doesn't exist", "ClusterQueue*doesn't exist",
		   "ClusterQueue*is inactive", "LocalQueue*is inactive",
		   "flavor*not found*ClusterQueue", "references missing ResourceFlavor" },
	  .sure = { "kueue.x-k8s.io", "Inadmissible" },
	  .explains = { "pod_gated", "kueue_waits" },
	  .cause = "The job names a queue that does not exist, or whose ClusterQueue is not active "
		   "(a ResourceFlavor or admission check is missing), so Kueue never admits it.",
	  .cure = { "kubectl get localqueue -A; kubectl get clusterqueue,resourceflavor",
		    "Correct the label kueue.x-k8s.io/queue-name, or create what is missing" },
	  .source =
		  "https://github.com/kubernetes-sigs/kueue/blob/main/pkg/scheduler/scheduler.go" },
	{ .code = "volcano_queue_used_up",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "queue resource quota insufficient" },
	  .sure = { "pod group is not ready", "tasks in gang unschedulable",
		    "@pod.scheduler=volcano" },
	  .explains = { "gang_incomplete", "insufficient_gpu" },
	  .cause = "Volcano keeps the group out of its queue: the queue's capability (or deserved "
		   "share) is used up by what is already in it.",
	  .cure = { "kubectl get queue QUEUE -o yaml",
		    "Raise spec.capability of the queue, end jobs in it, or use another queue" },
	  .source = "https://github.com/volcano-sh/volcano/blob/master/pkg/scheduler/plugins/"
		    "capacity/capacity.go" },
	{ .code = "volcano_queue_missing",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unable to find job queue", "can only submit job to queue with state",
		   "can not submit job to root queue", "queues.scheduling.volcano.sh*not found" },
	  .sure = { "volcano.sh denied the request", "status is Closed" },
	  .cause = "The job names a Volcano queue that does not exist or is closed, so the webhook "
		   "refuses it.",
	  .cure = { "kubectl get queue", "Name an open queue, or make one: kubectl apply a Queue "
					 "of scheduling.volcano.sh/v1beta1" },
	  .source = "https://github.com/volcano-sh/volcano/blob/master/pkg/webhooks/admission/jobs/"
		    "validate/admit_job.go" },
	{ .code = "gang_incomplete",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "tasks in gang unschedulable", "pod group is not ready",
		   "waiting for minCount pods from a gang",
		   "pod group*to appear in scheduling queue" },
	  .absent = { "queue resource quota insufficient" },
	  .sure = { "minAvailable", "minMember", "Insufficient nvidia.com/" },
	  .explains = { "insufficient_gpu" },
	  .cause = "The Pods belong to a group that starts together, and the cluster cannot hold "
		   "all of them at once. One Pod would fit; the group waits.",
	  .cure = { "kubectl get podgroup -A; kubectl describe podgroup NAME -n NAMESPACE",
		    "Lower minAvailable (minMember), make the Pods smaller, or free GPUs until all "
		    "fit at once" },
	  .source = "https://github.com/volcano-sh/volcano/blob/master/pkg/scheduler/api/"
		    "job_info.go" },
	{ .code = "kai_queue_limit",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "quota has reached the allowable limit of GPUs",
		   "Non-preemptible workload is over quota",
		   "are already allocated for non-preemptible pods" },
	  .sure = { "kai-scheduler", "kai.scheduler/queue", "NonPreemptibleOverQuota",
		    "OverLimit" },
	  .explains = { "insufficient_gpu" },
	  .cause = "The KAI queue may not take more GPUs: its limit is reached, or the workload "
		   "may not be preempted and the queue's own quota is in use.",
	  .cure = { "kubectl get queues.scheduling.run.ai NAME -o yaml",
		    "Raise quota or limit of the queue, or submit the workload with a preemptible "
		    "priority class (train)" },
	  .source = "https://github.com/NVIDIA/KAI-Scheduler/tree/main/pkg/scheduler/plugins/"
		    "proportion" },
	{ .code = "kai_queue_missing",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "Queue*does not exist" },
	  .any = { "kai-scheduler", "kai.scheduler", "runai/queue", "PodGroup",
		   "QueueDoesNotExist" },
	  .absent = { "device class*does not exist", "LocalQueue" },
	  .explains = { "insufficient_gpu" },
	  .cause = "The Pod names a queue that KAI does not have, so it is never considered.",
	  .cure = { "kubectl get queues.scheduling.run.ai",
		    "Correct the label kai.scheduler/queue on the Pod, or create the queue" },
	  .source = "https://github.com/NVIDIA/KAI-Scheduler/tree/main/pkg/scheduler/cache" },
	{ .code = "volume_keeps_pod",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unbound immediate PersistentVolumeClaims", "had volume node affinity conflict",
		   "match PersistentVolume's node affinity",
		   "didn't find available persistent volumes to bind",
		   "persistentvolumeclaim*not found", "had no available volume zone",
		   "did not have enough free storage", "bound to non-existent pv",
		   "node(s) had no available disk", "ReadWriteOncePod access mode already in-use",
		   "node(s) exceed max volume count" },
	  .absent = { "Successfully assigned" },
	  .sure = { "@pod.status=Pending", "ProvisioningFailed", "WaitForFirstConsumer" },
	  .explains = { "insufficient_gpu", "taint_unknown" },
	  .cause = "A volume keeps the Pod from its node: its claim is not bound, or its disk can "
		   "be used only on nodes (or in a zone) without a free GPU.",
	  .cure = { "kubectl get pvc -n NAMESPACE; kubectl describe pvc NAME -n NAMESPACE",
		    "Use a storage class with volumeBindingMode: WaitForFirstConsumer, or storage "
		    "that the GPU nodes can reach" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/volumebinding/binder.go" },
	{ .code = "pod_anti_affinity",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "didn't match pod anti-affinity rules",
		   "didn't satisfy existing pods anti-affinity rules",
		   "didn't match pod affinity rules",
		   "didn't match pod topology spread constraints" },
	  .absent = { "Insufficient nvidia.com/", "Successfully assigned" },
	  .sure = { "podAntiAffinity", "topologySpreadConstraints", "podAffinity" },
	  .explains = { "insufficient_gpu", "taint_unknown" },
	  .cause = "The Pod must not stand beside (or must stand beside) certain other Pods, and "
		   "no node with a free GPU satisfies that.",
	  .cure = { "kubectl get pod POD -o yaml | grep -A12 -E "
		    "'podAntiAffinity|podAffinity|topologySpreadConstraints'",
		    "Make the rule preferred, or run fewer replicas than there are GPU nodes" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/interpodaffinity/filtering.go" },
	{ .code = "node_pod_limit",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "node(s) are available: Too many pods", "# Too many pods" },
	  .absent = { "Successfully assigned" },
	  .sure = { "@node.gpu.free", "@pod.gpu" },
	  .explains = { "insufficient_gpu", "affinity_matches_no_node" },
	  .cause = "The node runs as many Pods as its kubelet allows (maxPods, or the addresses "
		   "that the cloud's network gives), so it takes no more, free GPU or not.",
	  .cure = { "kubectl get node NODE -o jsonpath='{.status.allocatable.pods}'",
		    "Raise maxPods of the kubelet (with enough Pod addresses), or move Pods away" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/noderesources/fit.go" },
	{ .code = "pod_preempted",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Preempted by*on node", "reason: PreemptionByScheduler",
		   "preempting to accommodate a higher priority pod",
		   "Preempted in order to admit critical pod" },
	  .sure = { "@pod.gpu", "DisruptionTarget", "Preempting" },
	  .cause = "The Pod ran and was ended to make room for one with a higher priority.",
	  .cure = { "kubectl get priorityclass; kubectl get pod POD -o jsonpath='{.spec.priority}'",
		    "Give the Pod a priority class that others cannot preempt, or more GPUs to the "
		    "cluster" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "preemption/preemption.go" },
	{ .code = "scheduler_extender_unreachable",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "/filter: dial tcp", "/filter: context deadline exceeded", "/bind: dial tcp",
		   "/filter: net/http: TLS handshake",
		   "/filter: x509:", "/filter: http: server gave HTTP response to HTTPS client",
		   "/filter: EOF", "with extender at URL" },
	  .sure = { "FailedScheduling", "SchedulerError", "connection refused" },
	  .explains = { "insufficient_gpu" },
	  .cause = "The scheduler asks an extender (a vGPU or topology scheduler) for every GPU "
		   "Pod, and that service does not answer. No GPU Pod can be placed until it does.",
	  .cure = { "kubectl get pods,svc,endpoints -A | grep -i -E "
		    "'hami|vgpu|gpushare|extender|scheduler'",
		    "kubectl logs -n NAMESPACE deploy/EXTENDER --tail=50",
		    "Start the extender again, or remove it from the scheduler's configuration" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/"
		    "extender.go" },
	{ .code = "admission_webhook_unreachable",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "failed calling webhook" },
	  .sure = { "no endpoints available for service", "connect: connection refused",
		    "context deadline exceeded", "certificate signed by unknown authority",
		    "certificate has expired", "not found" },
	  .cause = "An admission webhook does not answer, and the API server refuses every object "
		   "that it should see. No Pod is created.",
	  .cure = { "kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations",
		    "kubectl get pods -n NAMESPACE (of the service that the message names); start "
		    "it again or renew its certificate",
		    "If it is a leftover of something uninstalled: kubectl delete "
		    "mutatingwebhookconfiguration NAME" },
	  .source = "https://kubernetes.io/docs/reference/access-authn-authz/"
		    "extensible-admission-controllers/" },
	{ .code = "policy_needs_limits",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "resource requests and limits are required",
		   "validation.gatekeeper.sh denied the request*has no", "has no resource limits",
		   "has no cpu limit", "has no memory limit",
		   "container*does not have*limits defined", "must have CPU and memory",
		   "kyverno*denied the request*limits", "rule*validate-resources failed" },
	  .sure = { "validate.kyverno.svc", "validation.gatekeeper.sh", "denied the request" },
	  .cause = "An admission policy of the cluster (Kyverno, Gatekeeper or the like) refuses "
		   "containers that do not say how much CPU and memory they take. The GPU is not "
		   "the reason.",
	  .cure = { "kubectl get clusterpolicy,constraints (which policy the message names)",
		    "Add requests and limits for cpu and memory to every container, also init "
		    "containers and those of the operator (its chart has values for them), or "
		    "exclude the namespace from the policy" },
	  .source = "https://kyverno.io/policies/best-practices/require-pod-requests-limits/"
		    "require-pod-requests-limits/" },
	{ .code = "node_disk_short",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Insufficient ephemeral-storage" },
	  .absent = { "Insufficient nvidia.com/", "Successfully assigned" },
	  .sure = { "ephemeral-storage:", "@pod.status=Pending" },
	  .explains = { "affinity_matches_no_node", "taint_unknown" },
	  .cause = "The Pod asks for more local disk (ephemeral-storage) than the nodes that it "
		   "could use have left. The GPU is not the reason.",
	  .cure = { "kubectl describe node NODE | grep -A10 'Allocated resources' (the row "
		    "ephemeral-storage)",
		    "Ask for less ephemeral-storage, or give the Pod a volume" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/noderesources/fit.go" },
	{ .code = "node_name_unmet",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "didn't match the requested node name", "Predicate NodeName failed" },
	  .absent = { "Successfully assigned" },
	  .sure = { "@pod.node_name", "nodeName:" },
	  .explains = { "insufficient_gpu", "taint_unknown" },
	  .cause = "The Pod names its node (spec.nodeName), and no node has that name: it is "
		   "misspelt, or the node left the cluster.",
	  .cure = { "kubectl get nodes",
		    "Take nodeName out of the Pod, and choose nodes by a label (nodeSelector)" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/nodename/node_name.go" },
	{ .code = "host_port_taken",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "didn't have free ports for the requested pod ports",
		   "Predicate NodePorts failed" },
	  .absent = { "Insufficient nvidia.com/", "Successfully assigned" },
	  .sure = { "hostPort:", "hostNetwork: true", "Host Port:" },
	  .explains = { "affinity_matches_no_node", "taint_unknown" },
	  .cause = "The Pod wants a port of the node itself (hostPort or hostNetwork), and another "
		   "Pod on each possible node has it. The GPU is not the reason.",
	  .cure = { "kubectl get pods -A -o wide --field-selector spec.nodeName=NODE (which Pods "
		    "run there with hostNetwork)",
		    "Take hostPort out of the Pod (a Service reaches it without), or choose "
		    "another port" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/nodeports/node_ports.go" },
	{ .code = "node_lacks_feature",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "didn't match Pod's required features", "node declared features check failed" },
	  .absent = { "Insufficient nvidia.com/", "Successfully assigned" },
	  .sure = { "declaredFeatures", "@pod.status=Pending" },
	  .explains = { "affinity_matches_no_node", "taint_unknown" },
	  .cause = "The Pod uses something that the kubelets of the nodes do not declare "
		   "(status.declaredFeatures): they are older than the control plane, or their "
		   "feature gate is off.",
	  .cure = { "kubectl get nodes -o "
		    "custom-columns=NAME:.metadata.name,VERSION:.status.nodeInfo.kubeletVersion,"
		    "FEATURES:.status.declaredFeatures",
		    "Bring the kubelets to the control plane's release, or take the feature out of "
		    "the Pod" },
	  .source = "https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/"
		    "5328-node-declared-features" },
	{ .code = "gpu_count_negative",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "resources.limits[*/*Invalid value*must be greater than or equal to 0",
		   "resources.requests[*/*Invalid value*must be greater than or equal to 0" },
	  .sure = { "resources.limits[nvidia.com/", "resources.requests[nvidia.com/" },
	  .explains = { "insufficient_gpu" },
	  .cause = "The Pod asks for a negative number of GPUs (usually a template's arithmetic), "
		   "so it is refused when it is submitted.",
	  .cure = { "Ask for a whole number of 0 or more: limits: {nvidia.com/gpu: 1}",
		    "helm template CHART | grep -B3 nvidia.com/gpu (what the template makes of its "
		    "values)" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/"
		    "validation.go" },
	{ .code = "gpu_at_pod_level",
	  .link = REASON_LINK_SCHEDULER,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "spec.resources.limits[*/*Unsupported value",
		   "spec.resources.requests[*/*Unsupported value",
		   "spec.resources.limits*Unsupported value: nvidia.com/",
		   "spec.resources.requests*Unsupported value: nvidia.com/" },
	  .sure = { "spec.resources.limits[nvidia.com/", "spec.resources.requests[nvidia.com/" },
	  .explains = { "gpu_resource_name_wrong" },
	  .cause = "The GPU stands under the resources of the whole Pod (spec.resources), which "
		   "takes only CPU, memory and huge pages. A GPU belongs to a container.",
	  .cure = { "Move nvidia.com/gpu to spec.containers[].resources.limits of the container "
		    "that uses it" },
	  .source = "https://kubernetes.io/docs/concepts/configuration/"
		    "manage-resources-containers/" },
	{ .code = NULL },
};
