/* SPDX-License-Identifier: Apache-2.0 */
/* What is seen of the link dra and has several causes. How to add one: rule.h. */
#include "doctor/rule.h"

const struct symptom doctor_symptoms_dra[] = {
	{ .code = "dra_gpu_class_missing",
	  .link = REASON_LINK_DRA,
	  .seen = { "@dra.class=compute-domain*" },
	  .any = { "@dra.class_missing", "device class*does not exist" },
	  .remain = { "dra_gpus_switched_off", "dra_driver_root_wrong" },
	  .ask = { { "helm get values -a nvidia-dra-driver-gpu -n nvidia-dra-driver-gpu | grep -A3 "
		     "-E 'gpus:|Override'",
		     "enabled: false: the GPU part was installed switched off." } },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/438" },
	{ .code = "dra_only_compute_domains",
	  .link = REASON_LINK_DRA,
	  .seen = { "@dra.no_slices", "@dra.slice_driver=compute-domain*" },
	  .any = { "@dra.class_wanted=gpu.*", "@pod.claim", "@dra.claim=pending",
		   "cannot allocate all claims" },
	  .remain = { "dra_gpus_switched_off", "dra_driver_root_wrong" },
	  .ask = { { "helm get values -a nvidia-dra-driver-gpu -n nvidia-dra-driver-gpu | grep -A3 "
		     "-E 'gpus:|Override'",
		     "enabled: false: the GPU part was installed switched off." },
		   { "kubectl get pods -n nvidia-dra-driver-gpu -o wide; kubectl logs -n "
		     "nvidia-dra-driver-gpu ds/nvidia-dra-driver-gpu-kubelet-plugin -c gpus "
		     "--tail=40",
		     "no container gpus: switched off; an error in it: why it finds no card." } },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/438" },
	{ .code = "dra_claims_not_allocated",
	  .link = REASON_LINK_DRA,
	  .any = { "cannot allocate all claims", "resourceclaim not available on the node",
		   "cannot schedule extended resource claim", "node(s) cannot fit resource",
		   "# cannot fit resource", "@dra.claim=pending" },
	  .absent = { "Successfully assigned" },
	  .remain = { "dra_no_slices", "dra_devices_taken", "dra_class_missing" },
	  .ask = { { "kubectl get resourceslices -o wide; kubectl get deviceclasses",
		     "no slice of gpu.nvidia.com: the driver publishes nothing; no class: it is "
		     "not installed (or its GPU part is off)." },
		   { "kubectl get resourceclaims -A",
		     "all devices allocated to others, or a selector that fits none." } },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/dynamicresources/dynamicresources.go" },
	{ .code = "dra_prepare_failed",
	  .link = REASON_LINK_DRA,
	  .any = { "FailedPrepareDynamicResources", "NodePrepareResources failed for ResourceClaim",
		   "Failed to prepare dynamic resources" },
	  .remain = { "dra_driver_not_registered", "dra_settings_conflict",
		      "dra_driver_root_wrong" },
	  .ask = { { "kubectl describe pod POD | grep -A2 FailedPrepare",
		     "the driver's own words for this claim." },
		   { "kubectl logs -n nvidia-dra-driver-gpu "
		     "ds/nvidia-dra-driver-gpu-kubelet-plugin -c gpus --tail=60",
		     "why it could not prepare it." } },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/dra/"
		    "manager.go" },
	{ .code = NULL },
};
