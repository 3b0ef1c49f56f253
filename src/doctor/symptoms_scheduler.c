/* SPDX-License-Identifier: Apache-2.0 */
/* What is seen of the link scheduler and has several causes. How to add one: rule.h. */
#include "doctor/rule.h"

const struct symptom doctor_symptoms_scheduler[] = {
	{ .code = "gpu_limit_missing",
	  .link = REASON_LINK_SCHEDULER,
	  .any = { "@pod.gpu.requests_without_limits" },
	  .remain = { "gpu_request_without_limit", "gpu_request_differs_from_limit" },
	  .ask = { { "kubectl apply --dry-run=server -f FILE",
		     "the API server's own word on requests and limits." },
		   { "kubectl get pod POD -o jsonpath='{.spec.containers[*].resources}'",
		     "whether the GPU stands under limits as well." } },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/"
		    "validation.go" },
	{ .code = "insufficient_gpu",
	  .link = REASON_LINK_SCHEDULER,
	  .any = { "Insufficient nvidia.com/gpu", "Insufficient nvidia.com/mig-",
		   "Insufficient amd.com/gpu" },
	  .absent = { "Successfully assigned" },
	  .remain = { "gpus_all_held", "gpu_request_over_node", "plugin_before_driver" },
	  .ask = { { "kubectl get nodes -o "
		     "custom-columns=NAME:.metadata.name,GPU:.status.allocatable.nvidia\\\\.com/"
		     "gpu",
		     "no number on the GPU nodes: the device plugin does not work there; a number "
		     "below the request: the Pod is too large for a node." },
		   { "kubectl describe node NODE | grep -A12 'Allocated resources'",
		     "which of cpu, memory and nvidia.com/gpu is used up on the node that has the "
		     "cards." } },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/noderesources/fit.go" },
	{ .code = "taint_unknown",
	  .link = REASON_LINK_SCHEDULER,
	  .any = { "had untolerated taint(s)", "node(s) had taints that the pod didn't tolerate" },
	  .absent = { "Successfully assigned" },
	  .remain = { "gpu_taint_untolerated", "gpu_node_not_ready", "gpu_node_cordoned" },
	  .ask = { { "kubectl get nodes -o "
		     "custom-columns=NAME:.metadata.name,TAINTS:.spec.taints[*].key",
		     "which taint keeps the Pod away from the GPU nodes." } },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/tainttoleration/taint_toleration.go" },
	{ .code = "kueue_waits",
	  .link = REASON_LINK_SCHEDULER,
	  .any = { "kueue.x-k8s.io/admission", "Not admitted yet, waiting for",
		   "couldn't assign flavors to pod set" },
	  .remain = { "kueue_quota_used_up", "kueue_request_over_quota", "kueue_queue_missing" },
	  .ask = { { "kubectl get workloads -n NAMESPACE -o yaml | grep -A3 QuotaReserved",
		     "Kueue's own sentence: unused quota, maximum capacity, or a queue that does "
		     "not exist." } },
	  .source = "https://kueue.sigs.k8s.io/docs/tasks/troubleshooting/troubleshooting_jobs/" },
	{ .code = NULL },
};
