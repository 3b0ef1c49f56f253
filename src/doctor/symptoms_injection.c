/* SPDX-License-Identifier: Apache-2.0 */
/* What is seen of the link injection and has several causes. How to add one: rule.h. */
#include "doctor/rule.h"

const struct symptom doctor_symptoms_injection[] = {
	{ .code = "nvml_unknown_error",
	  .link = REASON_LINK_INJECTION,
	  .any = { "NVML: Unknown Error", "@driver.smi_error=unknown_error" },
	  .remain = { "cgroup_devices_lost", "no_cgroups_set", "cpu_manager_takes_devices" },
	  .ask = { { "nvidia-smi (on the node, outside of containers)",
		     "cards listed: the container lost its devices; the same error: the driver." },
		   { "grep no-cgroups /etc/nvidia-container-runtime/config.toml; grep "
		     "cpuManagerPolicy /var/lib/kubelet/config.yaml",
		     "no-cgroups = true, or the static CPU manager; neither: a reload of the "
		     "cgroup "
		     "(systemctl daemon-reload)." } },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/48" },
	{ .code = "nvml_no_permission",
	  .link = REASON_LINK_INJECTION,
	  .any = { "NVML: Insufficient Permissions", "nvml error: insufficient permissions",
		   "@driver.smi_error=no_permission", "@driver.smi_error_container=no_permission" },
	  .remain = { "device_node_permissions", "selinux_denied", "plugin_mig_permission" },
	  .ask = { { "ls -lZn /dev/nvidia*; ausearch -m avc -ts recent | grep -i nvidia",
		     "files of one group only (0660), or a denial of SELinux." },
		   { "nvidia-smi -L (on the node)", "MIG instances there: the container lacks "
						    "their nodes below /dev/nvidia-caps." } },
	  .source = "https://github.com/NVIDIA/go-nvml/blob/main/pkg/nvml/const.go" },
	{ .code = "toolkit_mount_fails",
	  .link = REASON_LINK_INJECTION,
	  .any = { "nvidia-container-cli: mount error",
		   "nvidia-container-cli*mount operation failed" },
	  .absent = { "bpf_prog" },
	  .remain = { "image_has_driver_files", "root_file_system_read_only",
		      "mig_device_nodes_missing" },
	  .ask = { { "journalctl -u containerd -u docker --since -10min | grep "
		     "'nvidia-container-cli'",
		     "the file that could not be made or found, and why." },
		   { "docker run --rm --gpus all nvidia/cuda:12.4.1-base-ubuntu22.04 nvidia-smi",
		     "works: the other image has driver files of its own; fails too: the host." } },
	  .source = "https://github.com/NVIDIA/libnvidia-container/blob/main/src/nvc_mount.c" },
	{ .code = "cdi_hook_fails",
	  .link = REASON_LINK_INJECTION,
	  .seen = { "No help topic for" },
	  .remain = { "cdi_hook_too_old", "dra_hook_too_old" },
	  .ask = { { "nvidia-cdi-hook --version; nvidia-ctk --version",
		     "a version older than what wrote the CDI specification." },
		   { "grep -l SUBCOMMAND /var/run/cdi/* /etc/cdi/*",
		     "which specification calls the hook: one of the DRA driver "
		     "(k8s.gpu.nvidia.com-claim), or nvidia.yaml." } },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/pull/927" },
	{ .code = NULL },
};
