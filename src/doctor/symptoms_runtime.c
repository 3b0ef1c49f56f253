/* SPDX-License-Identifier: Apache-2.0 */
/* What is seen of the link runtime and has several causes. How to add one: rule.h. */
#include "doctor/rule.h"

const struct symptom doctor_symptoms_runtime[] = {
	{ .code = "toolkit_validation_fails",
	  .link = REASON_LINK_RUNTIME,
	  .any = { "toolkit is not ready", "error validating toolkit installation",
		   "exec: nvidia-smi: executable file not found in $PATH",
		   "@driver.smi_error_container=not_found" },
	  .remain = { "nvidia_not_default_runtime", "runtime_handler_missing",
		      "pod_without_gpu_request" },
	  .ask = { { "containerd config dump | grep -B2 -A8 nvidia",
		     "whether the nvidia runtime exists, and is the default." },
		   { "kubectl get pod POD -o jsonpath='{.spec.runtimeClassName} "
		     "{.spec.containers[*].resources.limits}'",
		     "whether the Pod names the RuntimeClass and asks for a GPU." } },
	  .source =
		  "https://github.com/NVIDIA/gpu-operator/blob/main/cmd/nvidia-validator/main.go" },
	{ .code = NULL },
};
