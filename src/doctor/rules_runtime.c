/* SPDX-License-Identifier: Apache-2.0 */
/* Causes in the link runtime. How to add one: rule.h. */
#include "doctor/rule.h"

const struct rule doctor_rules_runtime[] = {
	{ .code = "runtime_handler_missing",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "no runtime for nvidia is configured", "no runtime for nvidia-*is configured",
		   "failed to find runtime handler nvidia from runtime list",
		   "failed to find runtime handler nvidia-", "RuntimeHandler nvidia not supported",
		   "@runtimeclass.handler_missing" },
	  .absent = { "@containerd.wrong_file", "@distribution=k3s", "@distribution=rke2",
		      "@distribution=microk8s", "@distribution=k0s", "@containerd.nvidia" },
	  .sure = { "@containerd.no_nvidia", "@crio.no_nvidia" },
	  .explains = { "node_without_gpu", "driver_validation_waits", "operator_waits",
			"insufficient_gpu" },
	  .cause = "The Pod's RuntimeClass asks for a runtime 'nvidia' that the container engine "
		   "of this node does not have. Its configuration was never written on this node, "
		   "or was overwritten.",
	  .cure = { "nvidia-ctk runtime configure --runtime=containerd (or crio)",
		    "systemctl restart containerd (or crio)",
		    "containerd config dump | grep -A3 'runtimes.nvidia' (or crio status config)" },
	  .source = "https://github.com/containerd/containerd/blob/main/internal/cri/config/"
		    "config.go" },
	{ .code = "wrong_containerd_configured",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "no runtime for nvidia is configured" },
	  .any = { "@containerd.wrong_file", "@distribution=k3s", "@distribution=rke2",
		   "@distribution=k0s", "@distribution=microk8s", "rancher/k3s/agent",
		   "rancher/rke2/agent", "/run/k3s/containerd", "/var/snap/microk8s",
		   "/run/k0s/containerd", "microk8s kubectl" },
	  .sure = { "@containerd.wrong_file" },
	  .explains = { "runtime_unknown_though_configured", "runtime_handler_missing",
			"runtime_not_restarted", "containerd_dropin_not_read",
			"nvidia_not_default_runtime", "node_without_gpu", "operator_waits",
			"insufficient_gpu" },
	  .cause = "This distribution (k3s, rke2, k0s, microk8s) runs its own containerd with its "
		   "own configuration, and that has no nvidia runtime. What stands in "
		   "/etc/containerd/config.toml is not read.",
	  .cure = { "grep -rn nvidia /var/lib/rancher/*/agent/etc/containerd/config.toml "
		    "/etc/k0s/containerd.d "
		    "/var/snap/microk8s/current/args/containerd-template.toml",
		    "Install the container toolkit in the usual place and restart k3s or rke2 "
		    "(they "
		    "add the runtime themselves); for k0s write /etc/k0s/containerd.d/nvidia.toml",
		    "With gpu-operator set the toolkit's CONTAINERD_CONFIG and CONTAINERD_SOCKET "
		    "to "
		    "the distribution's paths" },
	  .source = "https://github.com/NVIDIA/gpu-operator/issues/992" },
	{ .code = "runtime_not_restarted",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@host.no_restart" },
	  .any = { "no runtime for nvidia is configured", "failed to find runtime handler nvidia",
		   "unknown or invalid runtime name: nvidia", "Unknown runtime specified nvidia",
		   "could not load NVML library",
		   "Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND" },
	  .sure = { "@containerd.nvidia", "@docker.nvidia", "@crio.nvidia",
		    "@containerd.nvidia_default" },
	  .explains = { "runtime_unknown_though_configured", "runtime_handler_missing",
			"docker_runtime_missing", "plugin_without_nvml",
			"nvidia_not_default_runtime", "node_without_gpu", "insufficient_gpu" },
	  .cause = "The nvidia runtime was added to the engine's configuration, but the engine was "
		   "not restarted since, so it does not know it yet.",
	  .cure = { "systemctl restart containerd (or docker, or crio)", "kubectl delete pod POD" },
	  .source = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/"
		    "install-guide.html" },
	{ .code = "runtimeclass_missing",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "RuntimeClass nvidia not found", "runtimeclass.node.k8s.io nvidia not found",
		   "runtimeclasses.node.k8s.io nvidia not found",
		   "pod rejected: RuntimeClass*not found", "@pod.runtime_class_missing" },
	  .sure = { "@runtimeclass.no_nvidia" },
	  .explains = { "plugin_daemonset_empty", "node_without_gpu", "insufficient_gpu" },
	  .cause = "The Pod names a RuntimeClass that does not exist in this cluster. Without the "
		   "object the API server refuses the Pod.",
	  .cure = { "kubectl get runtimeclass",
		    "printf 'apiVersion: node.k8s.io/v1\\nkind: RuntimeClass\\nmetadata: {name: "
		    "nvidia}\\nhandler: nvidia\\n' | kubectl apply -f -" },
	  .source = "https://kubernetes.io/docs/concepts/containers/runtime-class/" },
	{ .code = "old_default_runtime_table",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "@containerd.old_default",
		   "default_runtime.options] BinaryName = /*nvidia-container-runtime",
		   "default_runtime.options] Runtime = /*nvidia-container-runtime",
		   "plugins.cri.containerd.default_runtime]*nvidia-container-runtime",
		   "plugins.cri.containerd.default_runtime]*containerd*nvidia-container-runtime" },
	  .sure = { "could not load NVML library", "@node.gpu.none" },
	  .explains = { "plugin_without_nvml", "nvidia_not_default_runtime", "plugin_no_devices",
			"node_without_gpu", "containerd_section_ignored", "insufficient_gpu" },
	  .cause = "The configuration sets the table default_runtime, which this containerd no "
		   "longer reads; it looks for default_runtime_name. So Pods still run with plain "
		   "runc and see no GPU.",
	  .cure = { "In /etc/containerd/config.toml write default_runtime_name = \"nvidia\" in the "
		    "section ending in .containerd, and drop the default_runtime table (nvidia-ctk "
		    "runtime configure --runtime=containerd --set-as-default does it)",
		    "systemctl restart containerd" },
	  .source = "https://github.com/containerd/containerd/issues/5042" },
	{ .code = "nvidia_not_default_runtime",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@containerd.nvidia_not_default" },
	  .any = { "could not load NVML library",
		   "Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND",
		   "nvml init failed: ERROR_LIBRARY_NOT_FOUND",
		   "did you set the docker default runtime to nvidia",
		   "did you configure the NVIDIA Container Toolkit",
		   "Incompatible strategy detected auto", "Incompatible platform detected",
		   "nvidia-smi: executable file not found in $PATH",
		   "exec: nvidia-smi: executable file not found",
		   "@driver.smi_error_container=not_found", "@node.gpu.none" },
	  .absent = { "runtimeClassName: nvidia", "@plugin.runtime_class=nvidia",
		      "@containerd.old_default", "@containerd.drop_in_unread" },
	  .sure = { "@pod.no_runtime_class", "could not load NVML library" },
	  .explains = { "plugin_without_nvml", "plugin_no_devices", "node_without_gpu",
			"toolkit_validation_fails", "operator_waits", "insufficient_gpu" },
	  .cause = "containerd knows the nvidia runtime but does not use it by default, and the "
		   "Pod (here usually the device plugin) names no RuntimeClass. So it runs under "
		   "plain runc and sees neither driver nor card.",
	  .cure = { "Set runtimeClassName: nvidia in the device plugin's DaemonSet and in GPU Pods "
		    "(helm upgrade nvdp nvdp/nvidia-device-plugin --set runtimeClassName=nvidia)",
		    "Or make it the default: nvidia-ctk runtime configure --runtime=containerd "
		    "--set-as-default && systemctl restart containerd (for k3s in "
		    "config.toml.tmpl, "
		    "or --default-runtime nvidia)" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/406" },
	{ .code = "containerd_cri_disabled",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "disabled_plugins = [\"cri\"]" },
	  .any = { "unknown service runtime.v1.RuntimeService",
		   "unknown service runtime.v1alpha2.RuntimeService", "99-nvidia.toml",
		   "nvidia-ctk runtime configure", "containerd/conf.d",
		   "Wrote updated config to /etc/containerd" },
	  .absent = { "could not load NVML library", "@distribution=k3s", "@distribution=rke2",
		      "rancher/k3s", "[plugins.cri.containerd.runtimes" },
	  .sure = { "@containerd.no_imports", "unknown service runtime.v1" },
	  .explains = { "containerd_dropin_not_read", "node_without_gpu", "runtime_handler_missing",
			"insufficient_gpu" },
	  .cause =
		  "The packaged configuration of containerd disables its CRI plugin "
		  "(disabled_plugins = [\"cri\"]). The kubelet cannot use it so, and a drop-in for "
		  "the nvidia runtime is not read by that file.",
	  .cure = { "containerd config default > /etc/containerd/config.toml (or remove \"cri\" "
		    "from "
		    "disabled_plugins)",
		    "nvidia-ctk runtime configure --runtime=containerd && grep imports "
		    "/etc/containerd/config.toml",
		    "systemctl restart containerd kubelet" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/1430" },
	{ .code = "containerd_dropin_not_read",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@containerd.drop_in_unread" },
	  .absent = { "@containerd.cri_disabled" },
	  .sure = { "no runtime for nvidia is configured", "could not load NVML library",
		    "@node.gpu.none", "@containerd.no_imports" },
	  .explains = { "runtime_unknown_though_configured", "runtime_handler_missing",
			"plugin_without_nvml", "node_without_gpu", "nvidia_not_default_runtime",
			"runtime_not_restarted", "insufficient_gpu" },
	  .cause = "The nvidia runtime stands in a drop-in file (conf.d/99-nvidia.toml), but the "
		   "main configuration of containerd imports no such folder, so it is never read.",
	  .cure = { "Put this line at the top of /etc/containerd/config.toml: imports = "
		    "[\"/etc/containerd/conf.d/*.toml\"]",
		    "systemctl restart containerd", "containerd config dump | grep -A3 nvidia" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/1430" },
	{ .code = "containerd_section_ignored",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@containerd.section_ignored" },
	  .any = { "@containerd.nvidia", "nvidia-container-runtime" },
	  .sure = { "no runtime for nvidia is configured", "could not load NVML library" },
	  .explains = { "runtime_unknown_though_configured", "plugin_without_nvml",
			"node_without_gpu", "runtime_handler_missing", "insufficient_gpu" },
	  .cause = "The nvidia runtime stands in a section whose name belongs to another version "
		   "of containerd's configuration than the file's 'version' line says, so "
		   "containerd ignores it.",
	  .cure = { "containerd --version; grep -n -E '^version|plugins' "
		    "/etc/containerd/config.toml",
		    "Write the section for the file's version (1: plugins.cri; 2: "
		    "plugins.\"io.containerd.grpc.v1.cri\"; 3: "
		    "plugins.\"io.containerd.cri.v1.runtime\"), or let containerd config migrate "
		    "rewrite the file",
		    "systemctl restart containerd" },
	  .source = "https://github.com/containerd/containerd/blob/main/docs/cri/config.md" },
	{ .code = "containerd_config_broken",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "containerd: failed to load TOML", "failed to load TOML from /etc/containerd",
		   "failed to load TOML: /etc/containerd", "invalid plugin config",
		   "drop-in config version*higher than root config version",
		   "containerd*toml: expected", "invalid disabled plugin URI" },
	  .absent = { "failed to start CNI" },
	  .explains = { "node_without_gpu", "runtime_handler_missing", "containerd_cri_disabled",
			"insufficient_gpu" },
	  .cause = "containerd does not start: its configuration cannot be read after it was "
		   "edited (a table defined twice, a drop-in of a newer version, or a typing "
		   "error).",
	  .cure = { "containerd config dump > /dev/null",
		    "Correct the line that it names in /etc/containerd/config.toml or "
		    "conf.d/*.toml "
		    "(a backup is best), then: systemctl restart containerd" },
	  .source = "https://github.com/containerd/containerd/blob/main/cmd/containerd/server/"
		    "config/config.go" },
	{ .code = "docker_daemon_json_broken",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unable to configure the Docker daemon with file",
		   "the following directives are specified both as a flag and in the configuration "
		   "file",
		   "error reading the Docker daemon configuration",
		   "failed to start daemon*daemon.json" },
	  .explains = { "docker_runtime_missing", "node_without_gpu", "insufficient_gpu" },
	  .cause = "Docker does not start: /etc/docker/daemon.json cannot be read after it was "
		   "edited (a comma or brace is wrong), or says again what the service's command "
		   "line says.",
	  .cure = { "python3 -m json.tool /etc/docker/daemon.json",
		    "Correct the file, then: systemctl restart docker" },
	  .source = "https://docs.docker.com/engine/daemon/troubleshoot/" },
	{ .code = "docker_runtime_missing",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unknown or invalid runtime name: nvidia", "Unknown runtime specified nvidia",
		   "unknown or invalid runtime name nvidia" },
	  .absent = { "@host.no_restart" },
	  .sure = { "@docker.no_nvidia" },
	  .cause = "Docker has no runtime called nvidia: /etc/docker/daemon.json does not define "
		   "it (or Docker was not restarted since it does).",
	  .cure = { "nvidia-ctk runtime configure --runtime=docker", "systemctl restart docker",
		    "docker info | grep -i runtime" },
	  .source = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/"
		    "install-guide.html" },
	{ .code = "docker_has_no_gpu_driver",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "could not select device driver*with capabilities: [[gpu",
		   "could not select device driver*with capabilities: [[compute",
		   "could not select device driver*capabilities: [[gpu]]",
		   "linux runtime spec devices: could not select device driver" },
	  .absent = { "could not select device driver cdi" },
	  .sure = { "@toolkit.absent", "@docker.no_nvidia" },
	  .cause = "Docker finds no nvidia-container-runtime-hook, which serves --gpus: the NVIDIA "
		   "Container Toolkit is not installed on this machine, or Docker was not "
		   "restarted after it was.",
	  .cure = { "apt-get install nvidia-container-toolkit || dnf install "
		    "nvidia-container-toolkit",
		    "nvidia-ctk runtime configure --runtime=docker && systemctl restart docker" },
	  .source = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/"
		    "install-guide.html" },
	{ .code = "runtime_binary_missing",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "exec /usr/bin/nvidia-container-runtime: no such file or directory",
		   "exec: nvidia-container-runtime: executable file not found",
		   "fork/exec*nvidia-container-runtime: no such file or directory",
		   "fork/exec*nvidia-container-runtime*no such file or directory",
		   "stat*nvidia-container-runtime: no such file or directory",
		   "exec: nvidia-container-runtime-hook: executable file not found",
		   "nvidia-container-runtime-hook: no such file or directory",
		   "nvidia-cdi-hook: no such file or directory",
		   "exec*nvidia-cdi-hook: no such file or directory",
		   "stat*nvidia-ctk: no such file or directory",
		   "exec*nvidia-ctk: no such file or directory" },
	  .sure = { "@toolkit.absent" },
	  .explains = { "node_without_gpu", "plugin_without_nvml", "wrapper_fails",
			"insufficient_gpu" },
	  .cause = "The engine is configured for a program of the NVIDIA Container Toolkit that "
		   "does not exist on this node: the toolkit was removed, or its DaemonSet has not "
		   "put it there (again).",
	  .cure = { "ls -l /usr/bin/nvidia-c* /usr/local/nvidia/toolkit",
		    "Install nvidia-container-toolkit on the host, or wait for the operator's "
		    "toolkit Pod: kubectl get pods -n gpu-operator -l "
		    "app=nvidia-container-toolkit-daemonset",
		    "If the toolkit is gone on purpose, take the nvidia runtime out of the "
		    "engine's "
		    "configuration and restart the engine" },
	  .source = "https://github.com/NVIDIA/gpu-operator/issues/991" },
	{ .code = "container_cli_missing",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "couldn't find binary nvidia-container-cli in PATH",
		   "exec: nvidia-container-cli: executable file not found",
		   "nvidia-container-cli: command not found",
		   "error while loading shared libraries: libnvidia-container.so.1",
		   "fork/exec*nvidia-container-cli: no such file or directory" },
	  .absent = { "nvidia-container-cli: initialization error" },
	  .explains = { "node_without_gpu", "wrapper_fails", "insufficient_gpu" },
	  .cause = "The hook starts nvidia-container-cli and does not find it, or its library "
		   "libnvidia-container.so.1: the packages libnvidia-container-tools and "
		   "libnvidia-container1 are missing or half upgraded.",
	  .cure = { "apt-get install --reinstall libnvidia-container-tools libnvidia-container1 "
		    "nvidia-container-toolkit",
		    "nvidia-container-cli info" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/cmd/"
		    "nvidia-container-runtime-hook/main.go" },
	{ .code = "low_level_runtime_missing",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "no runtime binary found from candidate list",
		   "error constructing low-level runtime", "error locating runtime" },
	  .explains = { "node_without_gpu", "wrapper_fails", "insufficient_gpu" },
	  .cause = "nvidia-container-runtime is only a wrapper and finds no real runtime to hand "
		   "over to: neither runc nor crun is on its PATH.",
	  .cure = { "which runc crun",
		    "Install runc, or name the real one: nvidia-ctk config --in-place --set "
		    "nvidia-container-runtime.runtimes=/usr/local/sbin/runc" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/internal/oci/"
		    "runtime_low_level.go" },
	{ .code = "toolkit_config_broken",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "couldn't open required configuration file",
		   "nvidia-container-runtime/config.toml*toml",
		   "nvidia-container-runtime*error loading config",
		   "error getting hook config: failed to load config",
		   "failed to create NVIDIA Container Runtime: error loading config",
		   "Invalid value for config option",
		   "nvidia-container-runtime: error loading config" },
	  .explains = { "wrapper_fails" },
	  .cause = "The toolkit's own configuration /etc/nvidia-container-runtime/config.toml is "
		   "missing or cannot be read, so every start of a container with this runtime "
		   "fails.",
	  .cure = { "nvidia-ctk --quiet config > /tmp/config.toml && diff /tmp/config.toml "
		    "/etc/nvidia-container-runtime/config.toml",
		    "nvidia-ctk --quiet config --output "
		    "/etc/nvidia-container-runtime/config.toml" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/cmd/"
		    "nvidia-container-runtime-hook/hook_config.go" },
	{ .code = "hook_called_in_cdi_mode",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "invoking the NVIDIA Container Runtime Hook directly",
		   "Please use the NVIDIA Container Runtime (e.g. specify the --runtime=nvidia "
		   "flag) instead" },
	  .explains = { "wrapper_fails" },
	  .cause = "The toolkit is set to CDI mode, and the container was started with --gpus, "
		   "which calls the old hook. In that mode the hook refuses to work.",
	  .cure = { "Start with docker run --runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all (or "
		    "--device nvidia.com/gpu=all)",
		    "Or: nvidia-ctk config --in-place --set nvidia-container-runtime.mode=auto" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/cmd/"
		    "nvidia-container-runtime-hook/hook_config.go" },
	{ .code = "cgroup_driver_differs",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "expected cgroupsPath to be of format slice:prefix:name for systemd cgroups",
		   "cgroupsPath*for systemd cgroups, got", "@containerd.systemd_cgroup_differs",
		   "@kubelet.cgroup_differs", "misconfiguration: kubelet cgroup driver",
		   "is different from docker cgroup driver" },
	  .explains = { "cgroup_devices_lost" },
	  .cause = "The runtime and the kubelet (or two runtimes of one engine) use different "
		   "cgroup drivers, systemd and cgroupfs. Containers fail at start, or lose their "
		   "devices later.",
	  .cure = { "grep -n -i cgroup /var/lib/kubelet/config.yaml /etc/containerd/config.toml "
		    "/etc/docker/daemon.json",
		    "Set SystemdCgroup = true in the options of runc and of nvidia alike, then: "
		    "systemctl restart containerd kubelet" },
	  .source = "https://kubernetes.io/docs/setup/production-environment/container-runtimes/" },
	{ .code = "rootless_needs_no_cgroups",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "bpf_prog_query(BPF_CGROUP_DEVICE) failed: operation not permitted",
		   "failed to add device rules*operation not permitted",
		   "open failed: /sys/fs/cgroup/devices/*devices.allow: permission denied" },
	  .absent = { "@toolkit.no_cgroups" },
	  .sure = { "@docker.rootless", "rootless" },
	  .explains = { "toolkit_mount_fails", "wrapper_fails" },
	  .cause = "The toolkit may not change the container's device cgroup, because the engine "
		   "runs rootless or inside an unprivileged container (LXC). It must be told not "
		   "to try.",
	  .cure = { "nvidia-ctk config --in-place --set nvidia-container-cli.no-cgroups=true (for "
		    "rootless Docker with "
		    "--config=$HOME/.config/nvidia-container-runtime/config.toml)",
		    "Or use CDI: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml; docker run "
		    "--device nvidia.com/gpu=all" },
	  .source = "https://github.com/NVIDIA/libnvidia-container/issues/154" },
	{ .code = "cgroup_device_program_refused",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unable to generate new device filter program",
		   "unable to replace original device filters program",
		   "bpf_prog_query(BPF_CGROUP_DEVICE) failed: function not implemented",
		   "unable to create new device filters program",
		   "unable to attach new device filters program" },
	  .explains = { "cgroup_v2_unknown_to_toolkit", "toolkit_mount_fails", "wrapper_fails" },
	  .cause = "The toolkit's change of the container's device program (cgroup v2, eBPF) is "
		   "refused by this kernel, because of its age, a missing option or JIT hardening.",
	  .cure = { "sysctl net.core.bpf_jit_harden; uname -r; nvidia-container-cli -V",
		    "Update libnvidia-container (1.8.1 or later), or sysctl -w "
		    "net.core.bpf_jit_harden=1",
		    "Or use CDI, which changes no running cgroup: nvidia-ctk runtime configure "
		    "--cdi.enabled" },
	  .source = "https://github.com/NVIDIA/libnvidia-container/issues/176" },
	{ .code = "no_cgroups_set",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@toolkit.no_cgroups" },
	  .any = { "Failed to initialize NVML: Unknown Error", "no CUDA-capable device is detected",
		   "@driver.smi_error=unknown_error" },
	  .absent = { "rootless", "@docker.rootless" },
	  .explains = { "nvml_unknown_error", "cgroup_devices_lost" },
	  .cause = "The toolkit is configured with no-cgroups = true, which is for rootless "
		   "engines only. The container gets the device files and no permission to open "
		   "them.",
	  .cure = { "nvidia-ctk config --in-place --set nvidia-container-cli.no-cgroups=false",
		    "Start the container again" },
	  .source = "https://github.com/NVIDIA/libnvidia-container/issues/154" },
	{ .code = "docker_sandbox_hides_driver",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@docker.desktop" },
	  .any = { "load library failed: libnvidia-ml.so.1",
		   "libnvidia-ml.so.1: cannot open shared object file",
		   "could not select device driver", "driver not loaded",
		   "unknown or invalid runtime name: nvidia" },
	  .absent = { "@host.wsl" },
	  .explains = { "driver_not_installed", "driver_not_loaded", "docker_has_no_gpu_driver",
			"docker_runtime_missing" },
	  .cause = "This is Docker Desktop for Linux, which runs its containers in a virtual "
		   "machine of its own. That machine has no NVIDIA driver, so no container can get "
		   "the card.",
	  .cure = { "docker context use default", "Install Docker Engine (docker-ce) beside or "
						  "instead of Docker Desktop, and the "
						  "NVIDIA Container Toolkit" },
	  .source = "https://github.com/docker/desktop-linux/issues/39" },
	{ .code = "docker_snap_hides_driver",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@docker.snap" },
	  .any = { "load library failed: libnvidia-ml.so.1",
		   "libnvidia-ml.so.1: cannot open shared object file",
		   "could not select device driver", "unknown or invalid runtime name: nvidia",
		   "nvidia-container-runtime*no such file or directory",
		   "executable file not found in $PATH" },
	  .explains = { "driver_not_installed", "driver_not_loaded", "docker_has_no_gpu_driver",
			"docker_runtime_missing", "runtime_binary_missing" },
	  .cause = "Docker comes from a snap, whose confinement hides the host's driver and the "
		   "container toolkit from it.",
	  .cure = { "snap remove docker",
		    "Install Docker Engine from its own repository (docker-ce), then: nvidia-ctk "
		    "runtime configure --runtime=docker && systemctl restart docker" },
	  .source = "https://github.com/docker-snap/docker-snap/blob/main/README.md" },
	{ .code = "other_engine_configured",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@docker.default_runtime=nvidia" },
	  .any = { "@engine=containerd", "@engine=cri-o" },
	  .absent = { "@containerd.nvidia", "@containerd.nvidia_default", "@crio.nvidia",
		      "@engine=docker" },
	  .sure = { "could not load NVML library", "did you set the docker default runtime",
		    "@node.gpu.none" },
	  .explains = { "plugin_without_nvml", "node_without_gpu", "plugin_no_devices",
			"nvidia_not_default_runtime", "insufficient_gpu" },
	  .cause = "The nvidia runtime was configured for Docker, but the kubelet of this node "
		   "does not use Docker: it talks to containerd or CRI-O, which know nothing of "
		   "it.",
	  .cure = { "kubectl get nodes -o wide (column CONTAINER-RUNTIME)",
		    "nvidia-ctk runtime configure --runtime=containerd --set-as-default (or "
		    "--runtime=crio)",
		    "systemctl restart containerd (or crio)" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/README.md" },
	{ .code = "default_runtime_undefined",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "@containerd.default_undefined",
		   "invalid plugin config: no corresponding runtime configured in",
		   "no corresponding runtime configured in*default_runtime_name",
		   "default_runtime set to*but no runtime entry" },
	  .explains = { "containerd_config_broken", "node_without_gpu", "runtime_handler_missing",
			"insufficient_gpu" },
	  .cause = "The configuration names a default runtime that it does not define (a "
		   "runtimes.nvidia table is missing), so the engine starts no Pod, or does not "
		   "start at all.",
	  .cure = { "nvidia-ctk runtime configure --runtime=containerd --set-as-default",
		    "systemctl restart containerd" },
	  .source = "https://github.com/containerd/containerd/blob/main/internal/cri/config/"
		    "config.go" },
	{ .code = "nvidia_runtime_is_runc",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@containerd.options_missing" },
	  .sure = { "could not load NVML library", "@node.gpu.none",
		    "executable file not found in $PATH" },
	  .explains = { "plugin_without_nvml", "node_without_gpu", "toolkit_validation_fails",
			"nvidia_not_default_runtime", "insufficient_gpu" },
	  .cause = "The runtime called nvidia has no BinaryName, so it is plain runc under another "
		   "name: Pods start and see no GPU.",
	  .cure = { "nvidia-ctk runtime configure --runtime=containerd",
		    "systemctl restart containerd",
		    "containerd config dump | grep -A12 'runtimes.nvidia' (it must show BinaryName "
		    "= \"/usr/bin/nvidia-container-runtime\")" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/tree/main/pkg/config/"
		    "engine/containerd" },
	{ .code = "toolkit_cannot_reach_engine",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unable to restart containerd", "unable to restart docker",
		   "unable to restart crio", "Error signaling containerd", "Error signaling docker",
		   "unable to dial: dial unix*containerd.sock", "unable to load containerd config",
		   "unable to setup runtime: unable to" },
	  .absent = { "@containerd.section_ignored" },
	  .sure = { "no such file or directory", "connection refused" },
	  .explains = { "driver_validation_waits", "node_without_gpu", "runtime_handler_missing",
			"operator_waits", "insufficient_gpu" },
	  .cause = "The operator's toolkit Pod cannot reach the container engine: its socket or "
		   "configuration file is at another path than it was told (k3s, rke2, microk8s, a "
		   "moved root), so the nvidia runtime is never set up.",
	  .cure = { "ps -ef | grep containerd (the paths after -c and -a)",
		    "helm upgrade ... --set "
		    "'toolkit.env[0].name=CONTAINERD_SOCKET,toolkit.env[0].value=/run/k3s/"
		    "containerd/containerd.sock' "
		    "and CONTAINERD_CONFIG likewise" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/cmd/"
		    "nvidia-ctk-installer/container/runtime/containerd/containerd_linux.go" },
	{ .code = "pod_network_missing",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "cni plugin not initialized", "NetworkPluginNotReady",
		   "failed to setup network for sandbox", "cni config uninitialized",
		   "network plugin is not ready", "failed to set up sandbox container*network" },
	  .absent = { "NetworkReady=true" },
	  .explains = { "node_without_gpu", "plugin_cannot_register", "insufficient_gpu" },
	  .cause = "The node has no working Pod network (its CNI plugin is missing or not ready), "
		   "so no Pod with a network of its own starts there, GPU or not.",
	  .cure = { "kubectl get pods -n kube-system -o wide | grep -E "
		    "'calico|flannel|cilium|weave|cni'",
		    "ls /etc/cni/net.d; install or repair the CNI plugin, and restart containerd "
		    "if "
		    "its configuration was overwritten" },
	  .source = "https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/"
		    "network-plugins/" },
	{ .code = "docker_default_not_nvidia",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@docker.nvidia" },
	  .any = { "could not load NVML library",
		   "Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND",
		   "nvml init failed: ERROR_LIBRARY_NOT_FOUND",
		   "did you set the docker default runtime to nvidia",
		   "did you configure the NVIDIA Container Toolkit",
		   "Incompatible strategy detected auto" },
	  .absent = { "@docker.default_runtime=nvidia", "@engine=containerd", "@engine=cri-o",
		      "runtimeClassName: nvidia", "@host.no_restart", "@docker.desktop" },
	  .sure = { "@docker.default_runtime=runc", "@engine=docker" },
	  .explains = { "plugin_without_nvml", "plugin_no_devices", "node_without_gpu",
			"insufficient_gpu" },
	  .cause = "Docker knows the nvidia runtime but does not use it by default, and the "
		   "kubelet cannot ask for it per Pod there. So the device plugin runs under plain "
		   "runc and finds no NVML.",
	  .cure = { "nvidia-ctk runtime configure --runtime=docker --set-as-default",
		    "systemctl restart docker",
		    "kubectl rollout restart -n kube-system ds/nvidia-device-plugin-daemonset" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/README.md" },
	{ .code = "crio_default_not_nvidia",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@crio.nvidia" },
	  .any = { "could not load NVML library",
		   "Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND",
		   "nvml init failed: ERROR_LIBRARY_NOT_FOUND",
		   "did you configure the NVIDIA Container Toolkit",
		   "Incompatible strategy detected auto",
		   "exec: nvidia-smi: executable file not found" },
	  .absent = { "@crio.default_runtime=nvidia", "runtimeClassName: nvidia",
		      "@host.no_restart", "@plugin.runtime_class=nvidia" },
	  .sure = { "@crio.default_runtime", "@engine=cri-o" },
	  .explains = { "plugin_without_nvml", "plugin_no_devices", "node_without_gpu",
			"insufficient_gpu", "toolkit_validation_fails" },
	  .cause = "CRI-O knows the nvidia runtime but does not use it by default, and the Pod "
		   "names no RuntimeClass. So it runs under plain runc or crun and sees neither "
		   "driver nor card.",
	  .cure = { "Set runtimeClassName: nvidia in the device plugin's DaemonSet and in GPU Pods",
		    "Or: nvidia-ctk runtime configure --runtime=crio --set-as-default && systemctl "
		    "restart crio" },
	  .source = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/"
		    "install-guide.html" },
	{ .code = "crio_hooks_folder_unread",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "hooks_dir" },
	  .any = { "oci-nvidia-hook.json", "hooks_dir was not set", "could not load NVML library",
		   "nvidia-smi: executable file not found", "toolkit is not ready" },
	  .absent = { "@crio.nvidia", "@crio.default_runtime=nvidia",
		      "hooks_dir = [\"/run/containers/oci/hooks.d",
		      "hooks_dir = [ \"/usr/share/containers/oci/hooks.d\", "
		      "\"/run/containers/oci/hooks.d" },
	  .sure = { "/run/containers/oci/hooks.d" },
	  .explains = { "toolkit_validation_fails", "plugin_without_nvml", "operator_waits",
			"node_without_gpu", "insufficient_gpu" },
	  .cause = "CRI-O does not read the folder (/run/containers/oci/hooks.d) into which the "
		   "toolkit put its hook, so containers start without it and see no GPU.",
	  .cure = { "grep -A4 hooks_dir /etc/crio/crio.conf /etc/crio/crio.conf.d/*; ls "
		    "/run/containers/oci/hooks.d",
		    "printf '[crio.runtime]\\nhooks_dir = [\"/usr/share/containers/oci/hooks.d\", "
		    "\"/run/containers/oci/hooks.d\"]\\n' > "
		    "/etc/crio/crio.conf.d/99-nvidia-hooks.conf "
		    "&& systemctl restart crio" },
	  .source = "https://github.com/NVIDIA/gpu-operator/issues/172" },
	{ .code = "toolkit_restarts_engine",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "error reading from server: EOF" },
	  .any = { "Sending SIGHUP signal to containerd", "Successfully signaled containerd",
		   "Restarting containerd", "nvidia-toolkit*Restarting" },
	  .sure = { "containerd.sock: connect: connection refused",
		    "containerd.service: Scheduled restart", "Stopping containerd" },
	  .cause = "The operator's toolkit Pod restarts containerd each time it starts or ends, "
		   "and other Pods of the node that were just being made fail or hang in the "
		   "middle of it.",
	  .cure = { "kubectl delete pod -n NAMESPACE POD (those that hang in Init or Pending)",
		    "journalctl -u containerd | grep -c 'Starting containerd' (more than one or "
		    "two a day: find out why the toolkit Pod restarts)",
		    "Install the toolkit on the node, and set toolkit.enabled=false for the "
		    "operator" },
	  .source = "https://github.com/NVIDIA/gpu-operator/issues/991" },
	{ .code = "docker_features_dropped",
	  .link = REASON_LINK_RUNTIME,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "nvidia-ctk runtime configure*--cdi.enabled" },
	  .any = { "turn on the containerd image store", "not supported for the docker driver",
		   "does not currently support exporting manifest lists",
		   "containerd-snapshotter*no longer" },
	  .sure = { "Wrote updated config to /etc/docker/daemon.json", "daemon.json" },
	  .cause = "nvidia-ctk runtime configure --cdi.enabled wrote Docker's daemon.json anew, "
		   "and kept only its own feature 'cdi': others that were set there "
		   "(containerd-snapshotter, buildkit) are gone.",
	  .cure = { "jq .features /etc/docker/daemon.json",
		    "Add what is missing beside it: {\"features\": {\"cdi\": true, "
		    "\"containerd-snapshotter\": true}}",
		    "systemctl restart docker" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/pkg/config/"
		    "engine/docker/docker.go" },
	{ .code = NULL },
};
