/* SPDX-License-Identifier: Apache-2.0 */
/* What is seen of the link sharing and has several causes. How to add one: rule.h. */
#include "doctor/rule.h"

const struct symptom doctor_symptoms_sharing[] = {
	{ .code = "cuda_devices_busy",
	  .link = REASON_LINK_SHARING,
	  .any = { "CUDA-capable devices are busy or unavailable",
		   "CUDA-capable device(s) is/are busy or unavailable",
		   "cudaErrorDevicesUnavailable", "CUDA_ERROR_DEVICE_UNAVAILABLE" },
	  .remain = { "compute_mode_exclusive", "mps_client_cannot_connect", "mig_no_instances" },
	  .ask = { { "nvidia-smi --query-gpu=index,compute_mode,mig.mode.current --format=csv",
		     "Exclusive_Process: one process or MPS only; MIG Enabled: the program was "
		     "given the card in place of an instance." },
		   { "env | grep CUDA_MPS (in the container)",
		     "a pipe folder: the program is to use MPS, so its server must run." } },
	  .source = "https://docs.nvidia.com/deploy/mps/index.html" },
	{ .code = "mig_config_failed",
	  .link = REASON_LINK_SHARING,
	  .any = { "@node.label.mig_state=failed", "nvidia.com/mig.config.state=failed",
		   "node label to failed" },
	  .remain = { "mig_reset_refused", "mig_config_unknown", "mig_layout_does_not_fit" },
	  .ask = { { "kubectl logs -n gpu-operator ds/nvidia-mig-manager --tail=60",
		     "'could not be reset' and clients, 'not present' for a name, or 'Insufficient "
		     "Resources' for a layout." } },
	  .source = "https://github.com/NVIDIA/mig-parted/blob/main/deployments/container/"
		    "reconfigure-mig.sh" },
	{ .code = "hami_no_device_chosen",
	  .link = REASON_LINK_SHARING,
	  .any = { "node unregistered", "vgpu.hami.io denied the request",
		   "no available node, # nodes do not meet" },
	  .remain = { "hami_count_over_cards", "hami_node_not_registered", "hami_memory_short" },
	  .ask = { { "kubectl logs -n kube-system deploy/hami-scheduler -c vgpu-scheduler-extender "
		     "--tail=100 | grep -E 'Insufficient|Mismatch|Exhausted|unregistered'",
		     "which of HAMi's reasons each GPU node gave; 'node unregistered' is only said "
		     "of nodes without devices." },
		   { "kubectl get nodes -L gpu; kubectl get pod POD -o "
		     "jsonpath='{.spec.containers[*].resources.limits}'",
		     "whether the GPU nodes are labelled gpu=on, and how many cards the Pod "
		     "wants." } },
	  .source = "https://github.com/Project-HAMi/HAMi/blob/master/pkg/scheduler/scheduler.go" },
	{ .code = NULL },
};
