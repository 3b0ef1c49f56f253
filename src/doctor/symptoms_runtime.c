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
	{ .code = "wrapper_fails",
	  .link = REASON_LINK_RUNTIME,
	  .any = { "nvidia-container-runtime did not terminate successfully",
		   "nvidia-container-runtime did not terminate sucessfully",
		   "error executing hook*nvidia-container",
		   "error running hook*nvidia-container-cli" },
	  .absent = { "mount error" },
	  .remain = { "toolkit_config_broken", "low_level_runtime_missing", "cdi_device_unknown" },
	  .ask = { { "journalctl -u containerd -u crio -u docker --since -10min | grep -i nvidia",
		     "the whole message of the wrapper, of which the event shows the beginning." },
		   { "nvidia-container-cli info; nvidia-ctk cdi list",
		     "whether the toolkit works at all, and which CDI devices there are." } },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/internal/runtime/"
		    "runtime.go" },
	{ .code = "operator_waits",
	  .link = REASON_LINK_RUNTIME,
	  .any = { "waiting for nvidia container stack to be setup",
		   "waiting for toolkit to be ready" },
	  .remain = { "toolkit_cannot_reach_engine", "driver_not_installed",
		      "runtime_handler_missing" },
	  .ask = { { "kubectl get pods -n gpu-operator -o wide",
		     "which of driver, toolkit and validator is the first that does not run." },
		   { "ls /run/nvidia/validations",
		     "which steps were done: driver-ready, toolkit-ready." } },
	  .source = "https://github.com/NVIDIA/gpu-operator/tree/main/assets" },
	{ .code = "runtime_unknown_though_configured",
	  .link = REASON_LINK_RUNTIME,
	  .seen = { "no runtime for nvidia is configured" },
	  .any = { "@containerd.nvidia", "@containerd.nvidia_default" },
	  .remain = { "runtime_not_restarted", "wrong_containerd_configured",
		      "containerd_dropin_not_read" },
	  .ask = { { "containerd config dump | grep -A3 nvidia",
		     "nothing: this containerd does not read the file (its own configuration, or "
		     "no "
		     "import); the runtime is there: restart it." },
		   { "ps -ef | grep '[c]ontainerd .*-c\\|[k]3s\\|[r]ke2\\|[k]0s\\|[m]icrok8s'",
		     "which configuration file the running containerd was given." } },
	  .source = "https://github.com/NVIDIA/gpu-operator/issues/992" },
	{ .code = NULL },
};
