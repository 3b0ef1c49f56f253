/* SPDX-License-Identifier: Apache-2.0 */
/* What is seen of the link driver and has several causes. How to add one: rule.h. */
#include "doctor/rule.h"

const struct symptom doctor_symptoms_driver[] = {
	{ .code = "driver_not_loaded",
	  .link = REASON_LINK_DRIVER,
	  .any = { "couldn't communicate with the NVIDIA driver", "nvml error: driver not loaded",
		   "Failed to initialize NVML: Driver Not Loaded",
		   "nvml init failed: Driver Not Loaded", "ERROR_DRIVER_NOT_LOADED",
		   "@driver.smi_error=not_loaded", "@driver.not_loaded" },
	  .remain = { "kernel_without_module", "secure_boot_refuses_module", "nouveau_has_card" },
	  .ask = { { "modprobe nvidia; dmesg | tail -20",
		     "'not found' is a kernel without the module, 'Key was rejected' or 'Operation "
		     "not permitted' is Secure Boot, 'No such device' with nouveau in lsmod is a "
		     "card that nouveau holds." },
		   { "dkms status; uname -r", "for which kernels the module was built." } },
	  .source = "https://github.com/NVIDIA/go-nvml/blob/main/pkg/nvml/const.go" },
	{ .code = "driver_container_fails",
	  .link = REASON_LINK_DRIVER,
	  .any = { "nvidia-driver-daemonset*CrashLoopBackOff", "@driver.pod=CrashLoopBackOff",
		   "@driver.pod=Error", "@driver.pod=Init:CrashLoopBackOff" },
	  .remain = { "driver_build_failed", "kernel_headers_missing", "driver_module_in_use" },
	  .ask = { { "kubectl logs -n gpu-operator ds/nvidia-driver-daemonset -c nvidia-driver-ctr "
		     "--previous --tail=40",
		     "the step at which it stopped: resolving the kernel, compiling, unloading or "
		     "loading." } },
	  .source = "https://github.com/NVIDIA/gpu-driver-container/blob/main/ubuntu22.04/"
		    "nvidia-driver" },
	{ .code = "driver_validation_waits",
	  .link = REASON_LINK_DRIVER,
	  .any = { "failed to validate the driver, retrying after",
		   "error validating driver installation",
		   "waiting for driver container to be ready" },
	  .remain = { "driver_not_installed", "kernel_without_module", "driver_build_failed" },
	  .ask = { { "kubectl get pods -n gpu-operator -l app=nvidia-driver-daemonset; nvidia-smi",
		     "whether the operator's driver Pod failed, or a host driver does not "
		     "answer." },
		   { "lsmod | grep -E 'nvidia|nouveau'; dmesg | grep NVRM",
		     "whether the module is loaded, and what it says." } },
	  .source =
		  "https://github.com/NVIDIA/gpu-operator/blob/main/cmd/nvidia-validator/main.go" },
	{ .code = "nvml_fails_on_host",
	  .link = REASON_LINK_DRIVER,
	  .any = { "nvml error: unknown error", "nvml error: gpu is lost",
		   "detection error: nvml error", "Unable to determine the device handle for",
		   "nvidia-smi*No devices were found", "No devices were found" },
	  .absent = { "No devices found. Waiting" },
	  .remain = { "card_does_not_start", "card_off_the_bus", "no_nvidia_card" },
	  .ask = { { "dmesg | grep -E 'NVRM|Xid' | tail -20",
		     "why the driver does not start the card (RmInitAdapter), or lost it (Xid "
		     "79)." },
		   { "lspci -nn -d 10de:", "whether the machine has the card at all." } },
	  .source = "https://github.com/NVIDIA/open-gpu-kernel-modules/issues/326" },
	{ .code = "driver_module_does_not_load",
	  .link = REASON_LINK_DRIVER,
	  .any = { "Unable to load the kernel module nvidia.ko",
		   "Unable to load the nvidia kernel module", "nvidia kernel module*load error" },
	  .remain = { "nouveau_has_card", "secure_boot_refuses_module", "compiler_differs" },
	  .ask = { { "tail -40 /var/log/nvidia-installer.log",
		     "after 'Kernel module load error': No such device is another driver on the "
		     "card "
		     "(nouveau); Operation not permitted or Key was rejected is Secure Boot; "
		     "Invalid "
		     "module format is a wrong build." },
		   { "lsmod | grep nouveau; mokutil --sb-state",
		     "which of the first two it is." } },
	  .source = "https://github.com/NVIDIA/gpu-operator/issues/8" },
	{ .code = "smi_not_on_host",
	  .link = REASON_LINK_DRIVER,
	  .any = { "nvidia-smi: command not found", "nvidia-smi: not found" },
	  .absent = { "@driver.ok", "@pod.no_gpu", "@driver.smi_error_container=not_found" },
	  .remain = { "driver_not_installed", "no_nvidia_card", "image_cannot_run_smi" },
	  .ask = { { "lspci -nn -d 10de:; cat /proc/driver/nvidia/version (on the node)",
		     "no line of lspci: no node with a card; no version: no driver is installed or "
		     "loaded." },
		   { "ls -l /dev/nvidiactl /usr/bin/nvidia-smi; echo $PATH (where it was typed)",
		     "in a container with the first and without the second: the image, its PATH, "
		     "or what the runtime or CDI specification puts in." } },
	  .source = "https://docs.nvidia.com/deploy/nvidia-smi/index.html" },
	{ .code = NULL },
};
