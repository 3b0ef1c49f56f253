/* SPDX-License-Identifier: Apache-2.0 */
/* What is seen of the link cuda and has several causes. How to add one: rule.h. */
#include "doctor/rule.h"

const struct symptom doctor_symptoms_cuda[] = {
	{ .code = "libcuda_missing",
	  .link = REASON_LINK_CUDA,
	  .any = { "libcuda.so.1: cannot open shared object file",
		   "Could not load dynamic library libcuda.so", "Unable to load libcuda.so",
		   "libcuda.so: cannot open shared object file", "@host.no_libcuda" },
	  .remain = { "driver_capabilities_variable", "pod_without_gpu_request",
		      "nvidia_not_default_runtime" },
	  .ask = { { "nvidia-smi -L; env | grep NVIDIA_ (in the container)",
		     "cards listed: NVIDIA_DRIVER_CAPABILITIES (or docker's device request) lacks "
		     "compute; not found: nothing was injected." },
		   { "kubectl get pod POD -o jsonpath='{.spec.runtimeClassName} "
		     "{.spec.containers[*].resources.limits}'",
		     "whether the container asks for a GPU, and which runtime starts it." } },
	  .source = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/"
		    "docker-specialized.html" },
	{ .code = "no_cuda_device",
	  .link = REASON_LINK_CUDA,
	  .any = { "no CUDA-capable device is detected", "CUDA_ERROR_NO_DEVICE",
		   "cudaErrorNoDevice", "No CUDA GPUs are available" },
	  .absent = { "@kernel.xid=79" },
	  .remain = { "pod_without_gpu_request", "cuda_visible_devices_hides", "uvm_not_loaded" },
	  .ask = { { "nvidia-smi -L; ls -l /dev/nvidia*; env | grep -E 'VISIBLE_DEVICES' (in the "
		     "container)",
		     "no nodes: no GPU was given; nodes without nvidia-uvm: the module is not "
		     "loaded; all there: CUDA_VISIBLE_DEVICES hides them." } },
	  .source = "https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html" },
	{ .code = "cuda_unknown_error",
	  .link = REASON_LINK_CUDA,
	  .any = { "CUDA unknown error - this may be due to an incorrectly set up environment",
		   "CUDA_ERROR_UNKNOWN", "failed call to cuInit: UNKNOWN ERROR",
		   "cuInit*returned 999", "Error 999:" },
	  .remain = { "uvm_not_loaded", "card_off_the_bus", "cgroup_devices_lost" },
	  .ask = { { "dmesg | grep -E 'NVRM|nvidia' | tail",
		     "an Xid: the card or a program; nothing: the module nvidia-uvm or its node." },
		   { "ls -l /dev/nvidia-uvm; rmmod nvidia_uvm && modprobe nvidia_uvm",
		     "whether it works after the module was loaded again (after suspend it must "
		     "be)." } },
	  .source = "https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html" },
	{ .code = NULL },
};
