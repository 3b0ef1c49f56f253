/* SPDX-License-Identifier: Apache-2.0 */
/* Causes in the link injection. How to add one: rule.h. */
#include "doctor/rule.h"

const struct rule doctor_rules_injection[] = {
	{ .code = "cdi_device_unknown",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unresolvable CDI devices nvidia.com/",
		   "unresolvable CDI devices management.nvidia.com",
		   "unresolvable CDI devices k8s.device-plugin.nvidia.com",
		   "unresolvable CDI devices runtime.nvidia.com",
		   "could not resolve CDI devices: [nvidia.com/",
		   "failed to inject CDI devices: unresolvable",
		   "stat nvidia.com/gpu=*no such file or directory" },
	  .absent = { "k8s.gpu.nvidia.com/claim", "CDI support is explicitly disabled" },
	  .sure = { "@cdi.no_devices", "@cdi.dir_empty", "Found 0 CDI devices" },
	  .explains = { "cdi_spec_stale", "wrapper_fails" },
	  .cause = "The container asks for a CDI device that no specification on this node has: "
		   "none was generated, it was lost at a reboot (/var/run is memory), or the MIG "
		   "layout changed since.",
	  .cure = { "nvidia-ctk cdi list",
		    "nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml (or systemctl "
		    "restart nvidia-cdi-refresh)",
		    "For devices of the device plugin restart its Pod, for management.nvidia.com "
		    "the operator's toolkit Pod" },
	  .source = "https://github.com/cncf-tags/container-device-interface/blob/main/pkg/cdi/"
		    "cache.go" },
	{ .code = "cdi_spec_stale",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "failed to fulfil mount request: open*libnvidia-*no such file or directory",
		   "failed to fulfil mount request: open*libcuda.so*no such file or directory",
		   "failed to fulfil mount request*nvidia*no such file or directory",
		   "error mounting*libnvidia-*to rootfs*no such file or directory",
		   "error mounting*libcuda.so*to rootfs*no such file or directory",
		   "error mounting*nvidia*to rootfs*no such file or directory",
		   "error creating mount source path*nvidia",
		   "cannot stat*libcuda.so.#: No such file or directory",
		   "failed to stat CDI host device /dev/dri", "@cdi.stale" },
	  .absent = { "imex-channels", "nvidia-container-cli", "unresolvable CDI devices" },
	  .cause = "The CDI specification on the node names driver files that no longer exist: the "
		   "driver was upgraded or moved after the specification was written.",
	  .cure = { "grep -o 'libcuda.so.[0-9.]*' /etc/cdi/*.yaml /var/run/cdi/* | sort -u; "
		    "nvidia-smi --query-gpu=driver_version --format=csv,noheader",
		    "nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml, and remove the old "
		    "file from /etc/cdi",
		    "systemctl enable --now nvidia-cdi-refresh.path nvidia-cdi-refresh.service; "
		    "restart the device plugin if it wrote the file" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/1828" },
	{ .code = "cdi_spec_invalid",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "failed to load CDI Spec", "failed to parse CDI Spec", "failed to read CDI Spec",
		   "invalid CDI Spec:", "the spec version must be at least",
		   "unknown field*CDI Spec" },
	  .absent = { "failed to save CDI spec" },
	  .sure = { "unresolvable CDI devices", "invalid version" },
	  .explains = { "cdi_device_unknown" },
	  .cause = "A CDI specification on the node cannot be read: it is damaged, or made for a "
		   "newer version of CDI than this container engine knows. Its devices do not "
		   "exist for the engine.",
	  .cure = { "head -3 /etc/cdi/* /var/run/cdi/*; containerd --version",
		    "Make it anew with the toolkit: nvidia-ctk cdi generate "
		    "--output=/var/run/cdi/nvidia.yaml (it writes the lowest version that will "
		    "do), "
		    "or update the engine" },
	  .source = "https://github.com/cncf-tags/container-device-interface/blob/main/pkg/cdi/"
		    "spec.go" },
	{ .code = "cdi_devices_conflict",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "conflicting device*(specs", "conflicting device nvidia.com/gpu" },
	  .explains = { "cdi_device_unknown" },
	  .cause = "Two CDI files of one folder name the same device, so the engine takes neither. "
		   "An old file was left beside the new one.",
	  .cure = { "ls -l /etc/cdi /var/run/cdi; grep -l 'nvidia.com/gpu' /etc/cdi/* "
		    "/var/run/cdi/*",
		    "Remove the older file; keep only what nvidia-cdi-refresh (or nvidia-ctk cdi "
		    "generate) writes" },
	  .source = "https://github.com/cncf-tags/container-device-interface/blob/main/pkg/cdi/"
		    "cache.go" },
	{ .code = "cdi_disabled",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "requested but CDI support is explicitly disabled",
		   "could not select device driver cdi", "adding custom device nvidia.com/gpu=",
		   "adding custom device*nvidia.com/gpu=all: no such file" },
	  .sure = { "@containerd.cdi=false", "@docker.cdi=false" },
	  .explains = { "cdi_device_unknown" },
	  .cause = "The container is given CDI devices, and the container engine has CDI switched "
		   "off (or is too old to know it).",
	  .cure = { "containerd 1.7: enable_cdi = true in the CRI section; Docker before 28.3: "
		    "\"features\": {\"cdi\": true} in daemon.json",
		    "systemctl restart containerd (or docker)" },
	  .source = "https://github.com/containerd/containerd/blob/main/internal/cri/server/"
		    "container_create_linux.go" },
	{ .code = "containerd_too_old_for_cdi",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@containerd.version=1.6.*" },
	  .any = { "@plugin.device_list_strategy=cdi-cri",
		   "@plugin.device_list_strategy=cdi-annotations", "@cdi.kind" },
	  .absent = { "@plugin.device_list_strategy=envvar", "@injection.ok" },
	  .sure = { "nvidia-smi: executable file not found", "no CUDA-capable device is detected",
		    "libcuda.so.1: cannot open shared object file",
		    "@driver.smi_error_container=not_found" },
	  .explains = { "toolkit_validation_fails", "nvidia_not_default_runtime" },
	  .cause = "The device plugin hands out CDI devices, and containerd 1.6 does not know CDI: "
		   "it ignores them without a word, so the container starts without a GPU.",
	  .cure = { "containerd --version",
		    "Update containerd to 1.7 (with enable_cdi = true) or 2.x, or set "
		    "deviceListStrategy: envvar with the nvidia runtime" },
	  .source = "https://github.com/containerd/containerd/blob/main/docs/cri/config.md" },
	{ .code = "cdi_hook_too_old",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "No help topic for" },
	  .any = { "podman", "docker", "nvidia.com/gpu=", "--device", "@engine=docker",
		   "@engine=podman", "@plugin.device_list_strategy=cdi*", "nvidia-ctk cdi",
		   "@toolkit.before" },
	  .absent = { "dra-driver", "gpu.nvidia.com", "resourceclaim", "@dra.pod",
		      "@dra.slice_driver", "@dra.cdi_kind" },
	  .sure = { "@toolkit.before" },
	  .cause = "The CDI specification was made by a newer toolkit than the nvidia-cdi-hook (or "
		   "nvidia-ctk) that the node has: the hook does not know one of the commands it "
		   "is called with.",
	  .cure = { "nvidia-ctk --version; nvidia-cdi-hook --version",
		    "Update nvidia-container-toolkit on the node to the version that wrote the "
		    "specification, then make it anew: nvidia-ctk cdi generate "
		    "--output=/var/run/cdi/nvidia.yaml" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/pull/927" },
	{ .code = "image_needs_newer_driver",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "requirement error: unsatisfied condition: cuda",
		   "unsatisfied condition: cuda>=", "unsatisfied condition: driver>=",
		   "requirements not met: unsatisfied condition" },
	  .absent = { "unsatisfied condition: brand", "unsatisfied condition: arch" },
	  .sure = { "please update your driver to a newer version", "@image.cuda_newer" },
	  .explains = { "wrapper_fails" },
	  .cause = "The image says (NVIDIA_REQUIRE_CUDA) that it needs a newer CUDA than the "
		   "node's driver offers, so the container is not started.",
	  .cure = { "nvidia-smi (CUDA Version) against the image's tag",
		    "Update the driver of the node, or use an image with an older CUDA",
		    "If the image runs all the same (CUDA minor version compatibility): set "
		    "NVIDIA_DISABLE_REQUIRE=1 in the container" },
	  .source = "https://github.com/NVIDIA/libnvidia-container/blob/main/src/cli/configure.c" },
	{ .code = "image_needs_other_card",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unsatisfied condition: brand", "unsatisfied condition: arch" },
	  .explains = { "image_needs_newer_driver", "wrapper_fails" },
	  .cause = "The image says (NVIDIA_REQUIRE_*) that it runs only on other kinds of cards "
		   "(brand or architecture) than this node has.",
	  .cure = { "nvidia-smi --query-gpu=name,compute_cap --format=csv",
		    "Let the Pod run on nodes with such cards (nodeSelector "
		    "nvidia.com/gpu.product), or set NVIDIA_DISABLE_REQUIRE=1 in the container" },
	  .source = "https://github.com/NVIDIA/libnvidia-container/blob/main/src/cli/configure.c" },
	{ .code = "device_id_unknown",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "device error: unknown device id", "device error:*unknown device",
		   "nvidia-container-cli: device error" },
	  .absent = { "/var/run/nvidia-container-devices", "no-gpu-has-" },
	  .sure = { "@pod.visible_devices=GPU-*" },
	  .explains = { "two_plugins", "wrapper_fails" },
	  .cause = "The container is to get a GPU by a UUID or index that this machine does not "
		   "have: a stale list (the card was replaced, MIG was changed), or an image or "
		   "Pod that sets NVIDIA_VISIBLE_DEVICES itself.",
	  .cure = { "nvidia-smi -L; kubectl get pod POD -o yaml | grep -A1 NVIDIA_VISIBLE_DEVICES",
		    "Remove that variable from Pod and image, restart the device plugin, and make "
		    "the Pod anew" },
	  .source = "https://github.com/NVIDIA/libnvidia-container/blob/main/src/cli/common.c" },
	{ .code = "gpushare_no_memory",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unknown device id: no-gpu-has-", "no-gpu-has-*MiB-to-run",
		   "no-gpu-has-*GiB-to-run" },
	  .explains = { "device_id_unknown", "wrapper_fails" },
	  .cause = "The gpushare plugin found no GPU with the memory that was asked for and "
		   "answered with a device name that does not exist: the Pod was not placed by the "
		   "gpushare scheduler extender, or its book of memory is wrong.",
	  .cure = { "kubectl get pod POD -o jsonpath='{.spec.schedulerName} "
		    "{.metadata.annotations}' (it needs the extender's annotations)",
		    "Configure kube-scheduler with the gpushare extender and restart it, then make "
		    "the Pod anew" },
	  .source = "https://github.com/AliyunContainerService/gpushare-scheduler-extender/issues/"
		    "80" },
	{ .code = "volume_mount_list_refused",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "device error:*/var/run/nvidia-container-devices",
		   "unknown device id: /var/run/nvidia-container-devices",
		   "/var/run/nvidia-container-devices: unknown device" },
	  .sure = { "@toolkit.volume_mounts=false", "@plugin.device_list_strategy=volume-mounts" },
	  .explains = { "device_id_unknown", "wrapper_fails" },
	  .cause = "The device plugin hands the GPU list over by volume mounts, and the node's "
		   "container toolkit is not set to read them, so it takes the folder's name for a "
		   "device.",
	  .cure = { "nvidia-ctk config --in-place --set "
		    "accept-nvidia-visible-devices-as-volume-mounts=true",
		    "Or set deviceListStrategy: envvar (or cdi-cri) for the device plugin" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/README.md" },
	{ .code = "device_list_refused",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Ignoring devices requested by environment variable(s) in unprivileged "
		   "container",
		   "Ignoring request by environment variable(s) in unprivileged container",
		   "insufficient privileges to read device list from NVIDIA_VISIBLE_DEVICES",
		   "@toolkit.env_refused" },
	  .absent = { "@plugin.device_list_strategy=volume-mounts",
		      "@plugin.device_list_strategy=cdi-cri",
		      "@plugin.device_list_strategy=cdi-annotations" },
	  .explains = { "toolkit_validation_fails", "volume_mount_list_refused", "wrapper_fails" },
	  .cause = "The toolkit of this node takes no GPU list from a container's environment "
		   "unless it is privileged, and the device plugin gives the list in just that "
		   "way. So Pods start without GPUs.",
	  .cure = { "grep accept-nvidia /etc/nvidia-container-runtime/config.toml",
		    "Set deviceListStrategy: volume-mounts (with "
		    "accept-nvidia-visible-devices-as-volume-mounts=true) or cdi-cri for the "
		    "device "
		    "plugin",
		    "Or: nvidia-ctk config --in-place --set "
		    "accept-nvidia-visible-devices-envvar-when-unprivileged=true" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/internal/config/"
		    "image/cuda_image.go" },
	{ .code = "cgroup_v2_unknown_to_toolkit",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "cgroup subsystem devices not found", "container error: cgroup subsystem" },
	  .sure = { "@host.cgroup=v2", "cgroup2fs", "@toolkit.before=1.8*" },
	  .explains = { "node_without_gpu", "wrapper_fails", "insufficient_gpu" },
	  .cause = "The node uses cgroup v2, and its libnvidia-container is older than 1.8, which "
		   "knows only the devices controller of cgroup v1.",
	  .cure = { "nvidia-container-cli -V; stat -fc %T /sys/fs/cgroup",
		    "Update nvidia-container-toolkit and libnvidia-container (1.8.0 or later), or "
		    "boot with systemd.unified_cgroup_hierarchy=0" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/235" },
	{ .code = "image_has_driver_files",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "mount error: file creation failed:*file exists",
		   "nvidia-container-cli*file creation failed*libnvidia-ml.so",
		   "nvidia-container-cli*file creation failed*libcuda.so",
		   "file creation failed*libnvidia-*file exists",
		   "file creation failed*libcuda*file exists" },
	  .absent = { "read-only file system" },
	  .sure = { "@host.wsl" },
	  .explains = { "toolkit_mount_fails", "wrapper_fails" },
	  .cause = "The image itself contains NVIDIA driver libraries (a driver package was "
		   "installed in it, or a running GPU container was committed), so the host's "
		   "cannot be put there.",
	  .cure = { "docker run --rm --entrypoint sh IMAGE -c 'ls -l "
		    "/usr/lib/x86_64-linux-gnu/libnvidia-* /usr/lib/x86_64-linux-gnu/libcuda.so*'",
		    "Delete them in the image (rm /usr/lib/x86_64-linux-gnu/libnvidia-*.so* "
		    "/usr/lib/x86_64-linux-gnu/libcuda.so*) and build it without packages that "
		    "pull "
		    "in the driver" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/289" },
	{ .code = "root_file_system_read_only",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "nvidia-container-cli*read-only file system",
		   "mount error*read-only file system",
		   "failed to create ld.so.conf.d*read-only file system",
		   "update-ldcache*read-only file system",
		   "create-symlinks*read-only file system" },
	  .absent = { "device-plugins" },
	  .explains = { "toolkit_mount_fails", "wrapper_fails" },
	  .cause = "The toolkit must make mount points, links or the library cache in the "
		   "container's root, and that is read-only on the host (a snapshot or volume "
		   "mounted read-only, or a volume over /usr or /etc).",
	  .cure = { "kubectl get pod POD -o yaml | grep -B2 -A4 -E 'mountPath: /(usr|etc|lib)'",
		    "Mount the volume elsewhere than over /usr, /lib or /etc, and let the engine's "
		    "storage be writable" },
	  .source = "https://github.com/NVIDIA/libnvidia-container/blob/main/src/nvc_mount.c" },
	{ .code = "ldconfig_missing",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "ldcache error: open failed: /sbin/ldconfig",
		   "ldcache error: open failed:*ldconfig*no such file",
		   "ldconfig.real: no such file or directory", "error reading host ldconfig",
		   "ldcache error: process*failed with error code: 127" },
	  .absent = { "failed with error code: 1" },
	  .explains = { "ldconfig_fails", "wrapper_fails" },
	  .cause = "The toolkit is told to run an ldconfig that this host does not have "
		   "(/sbin/ldconfig.real is Ubuntu's name for it; others have /sbin/ldconfig).",
	  .cure = { "ls -l /sbin/ldconfig /sbin/ldconfig.real",
		    "nvidia-ctk config --in-place --set "
		    "nvidia-container-cli.ldconfig=@/sbin/ldconfig" },
	  .source = "https://github.com/NVIDIA/libnvidia-container/blob/main/src/nvc_ldcache.c" },
	{ .code = "ldconfig_fails",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "ldcache error: process /sbin/ldconfig*failed with error code: 1",
		   "ldcache error: process /usr/sbin/ldconfig*failed with error code: 1",
		   "ldcache error: process*terminated with signal",
		   "error updating ldcache: exit status",
		   "ldcache error: process*failed with error code" },
	  .absent = { "failed with error code: 127" },
	  .explains = { "wrapper_fails" },
	  .cause = "ldconfig failed in the container's root: the image's libraries or its "
		   "/etc/ld.so.conf are damaged, the disk is full, or the image is so large that "
		   "the limit on ldconfig's memory or time is hit.",
	  .cure = { "docker run --rm --entrypoint sh IMAGE -c 'ldconfig; echo $?'; df -h /var/lib",
		    "Rebuild the image with a working ldconfig, free the disk, update "
		    "libnvidia-container" },
	  .source = "https://github.com/NVIDIA/libnvidia-container/blob/main/src/nvc_ldcache.c" },
	{ .code = "selinux_denied",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "avc: denied*comm=nvidia-*container_t",
		   "avc: denied*container_t*container_runtime_tmpfs_t",
		   "avc: denied*container_t*xserver_misc_device_t",
		   "avc: denied*nvidia*container_t", "avc: denied*container_t*nvidia",
		   "@host.selinux_denied" },
	  .absent = { "device-plugins", "permissive=1" },
	  .sure = { "@host.selinux=enforcing" },
	  .explains = { "nvml_no_permission", "nvml_unknown_error" },
	  .cause = "SELinux on the node forbids the container (type container_t) the NVIDIA files "
		   "or devices that were put into it. Privileged Pods are not affected, so the "
		   "plugin may look well.",
	  .cure = { "ausearch -m avc -ts recent | grep -i nvidia",
		    "setsebool -P container_use_devices on; restorecon -R /dev /usr/lib64",
		    "For /proc/driver/nvidia install a policy module (audit2allow -M nvidia_proc), "
		    "or run the Pod with seLinuxOptions type nvidia_container_t" },
	  .source = "https://github.com/NVIDIA/libnvidia-container/issues/126" },
	{ .code = "cgroup_devices_lost",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "NVML: Unknown Error" },
	  .any = { "@driver.cards_host", "@driver.ok", "@host.command=daemon_reload",
		   "systemctl daemon-reload", "systemd*Reloading", "systemctl set-property",
		   "@host.no_dev_char", "@driver.smi_error_container=unknown_error" },
	  .absent = { "@toolkit.no_cgroups", "@kubelet.cpu_policy=static",
		      "--cpu-manager-policy=static", "fallen off the bus",
		      "Unable to determine the device handle", "cgroups = true" },
	  .sure = { "@host.command=daemon_reload", "systemctl daemon-reload", "@host.no_dev_char" },
	  .explains = { "nvml_unknown_error", "plugin_health_wait_error" },
	  .cause = "The running container lost its right to open the GPU devices: its cgroup was "
		   "written anew (systemctl daemon-reload, an update of a unit), and systemd's "
		   "list never had the devices that the old hook added. On the host all is well.",
	  .cure = { "kubectl delete pod POD (or start the container anew): a new one works until "
		    "the next reload",
		    "For good use CDI (device plugin with deviceListStrategy cdi-cri), or have the "
		    "devices in the specification (passDeviceSpecs: true; docker run --device "
		    "/dev/nvidia0 ...)",
		    "nvidia-ctk system create-dev-char-symlinks --create-all" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/48" },
	{ .code = "cpu_manager_takes_devices",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "NVML: Unknown Error" },
	  .any = { "@kubelet.cpu_policy=static", "--cpu-manager-policy=static",
		   "cpuManagerPolicy: static" },
	  .absent = { "passDeviceSpecs: true", "@plugin.pass_specs=true", "@toolkit.no_cgroups" },
	  .sure = { "@plugin.pass_specs=false" },
	  .explains = { "nvml_unknown_error", "cgroup_devices_lost" },
	  .cause = "The kubelet's static CPU manager updates the container's cgroup every few "
		   "seconds, and with it takes away the GPU devices that the old hook had added. "
		   "The Pod works for some seconds only.",
	  .cure = { "helm upgrade nvdp nvdp/nvidia-device-plugin --reuse-values --set "
		    "compatWithCPUManager=true (that is passDeviceSpecs with privileges)",
		    "kubectl delete pod POD" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/README.md" },
	{ .code = "device_node_permissions",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "crw-rw----*195," },
	  .any = { "NVML: Insufficient Permissions", "no CUDA-capable device is detected",
		   "NVML: Unknown Error" },
	  .sure = { "NVreg_DeviceFileMode", "DeviceFileMode: 432", "Insufficient Permissions" },
	  .explains = { "nvml_no_permission" },
	  .cause = "The device files of the cards are open to one group only (the driver's option "
		   "NVreg_DeviceFileMode), and the container's user is not in that group.",
	  .cure = { "ls -ln /dev/nvidia*; grep -i DeviceFile /proc/driver/nvidia/params",
		    "Give the Pod the group: securityContext.supplementalGroups: [GID], or set "
		    "NVreg_DeviceFileMode=0666 and reload the driver" },
	  .source = "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/"
		    "nvidia/nv-reg.h" },
	{ .code = "capability_unknown",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unsupported capabilities found in", "unknown driver capability" },
	  .explains = { "wrapper_fails" },
	  .cause = "NVIDIA_DRIVER_CAPABILITIES of the image or Pod has a word that the toolkit "
		   "does not know or does not allow, so the container is not started.",
	  .cure = { "kubectl get pod POD -o yaml | grep -A1 NVIDIA_DRIVER_CAPABILITIES",
		    "Set it to words of this list: "
		    "compute,utility,video,graphics,display,ngx,compat32 (or all)" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/cmd/"
		    "nvidia-container-runtime-hook/container_config.go" },
	{ .code = "mig_monitor_unprivileged",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "cannot set MIG_CONFIG_DEVICES in non privileged container",
		   "cannot set MIG_MONITOR_DEVICES in non privileged container" },
	  .explains = { "wrapper_fails" },
	  .cause = "The container asks to configure or watch MIG (NVIDIA_MIG_CONFIG_DEVICES or "
		   "NVIDIA_MIG_MONITOR_DEVICES), which the toolkit gives to privileged containers "
		   "only.",
	  .cure = { "Set securityContext.privileged: true (or add the capability SYS_ADMIN) for "
		    "that container, or remove the variable" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/cmd/"
		    "nvidia-container-runtime-hook/container_config.go" },
	{ .code = "cdi_vendors_mixed",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "requesting a CDI device with vendor runtime.nvidia.com is not supported",
		   "is not supported when requesting other CDI devices" },
	  .explains = { "wrapper_fails" },
	  .cause = "One container asks for GPUs in two ways at once: by the environment (which "
		   "this toolkit turns into CDI devices of runtime.nvidia.com) and by CDI device "
		   "names.",
	  .cure = { "Keep one: remove NVIDIA_VISIBLE_DEVICES from Pod and image (or set it to "
		    "void), or remove the --device / CDI request" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/internal/"
		    "modifier/cdi.go" },
	{ .code = "mig_device_nodes_missing",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "nvidia-caps/nvidia-cap#: no such file or directory",
		   "nvidia-caps/nvidia-cap#*no such file or directory",
		   "failed to stat CDI host device /dev/nvidia-caps",
		   "stat failed: /proc/driver/nvidia/capabilities/*no such file or directory" },
	  .absent = { "imex-channels", "missing MIG GPU instance capability path" },
	  .explains = { "cdi_spec_stale", "device_nodes_missing", "toolkit_mount_fails",
			"wrapper_fails" },
	  .cause = "The device files of a MIG instance (/dev/nvidia-caps/nvidia-capN) do not "
		   "exist: the instances were changed after the list or CDI specification was "
		   "made, or nobody created the nodes.",
	  .cure = { "nvidia-smi mig -lgi; cat /proc/driver/nvidia-caps/mig-minors | head; ls "
		    "/dev/nvidia-caps",
		    "nvidia-modprobe -f /proc/driver/nvidia/capabilities/gpu0/mig/gi1/access (for "
		    "each instance), then nvidia-ctk cdi generate "
		    "--output=/var/run/cdi/nvidia.yaml",
		    "Restart the device plugin so that it lists the instances that exist now" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/1828" },
	{ .code = "image_musl",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Error relocating*libnvidia-", "Error relocating*libcuda.so",
		   "Error relocating*nvidia-smi",
		   "ld-linux-x86-64.so.2: No such file or directory (needed by*nvidia",
		   "ld-linux-x86-64.so.2*needed by*libnvidia",
		   "ld-linux-x86-64.so.2*needed by*libcuda", "Error loading shared library*libcuda",
		   "Error loading shared library*nvidia-smi" },
	  .sure = { "@pod.image_musl" },
	  .cause = "The image is built on musl (Alpine), and NVIDIA's driver libraries need glibc: "
		   "they are in the container, and cannot be loaded.",
	  .cure = { "docker run --rm --entrypoint cat IMAGE /etc/os-release",
		    "Use an image with glibc (debian, ubuntu, ubi)" },
	  .source = "https://github.com/NVIDIA/nvidia-docker/wiki/Frequently-Asked-Questions" },
	{ .code = "pod_without_gpu_request",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@pod.no_gpu" },
	  .any = { "nvidia-smi: executable file not found", "nvidia-smi: not found",
		   "nvidia-smi: command not found", "no CUDA-capable device is detected",
		   "libcuda.so.1: cannot open shared object file",
		   "Found no NVIDIA driver on your system", "CUDA driver library not found" },
	  .absent = { "@pod.gpu", "@pod.claim", "@pod.runs_with_gpu" },
	  .sure = { "@node.gpu.free", "@node.gpu.some" },
	  .explains = { "toolkit_validation_fails" },
	  .cause = "The container asks for no GPU: neither nvidia.com/gpu under its limits nor a "
		   "claim. So it was given none.",
	  .cure = { "Add to the container: resources: {limits: {nvidia.com/gpu: 1}}" },
	  .source = "https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/" },
	{ .code = "visible_devices_none",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "no CUDA-capable device is detected" },
	  .any = { "@pod.visible_devices=none", "NVIDIA_VISIBLE_DEVICES=none" },
	  .absent = { "@cdi.kind", "@plugin.device_list_strategy=cdi*" },
	  .cause = "The Pod or image sets NVIDIA_VISIBLE_DEVICES to none, which overrides what the "
		   "device plugin gives: the container gets driver libraries and no card.",
	  .cure = { "kubectl get pod POD -o yaml | grep -A1 NVIDIA_VISIBLE_DEVICES",
		    "Remove the variable from Pod and image (in Kubernetes the device plugin sets "
		    "it)" },
	  .source = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/"
		    "docker-specialized.html" },
	{ .code = "cdi_annotation_invalid",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "failed to parse CDI device annotations", "invalid CDI device name",
		   "CDI annotation failed", "unqualified device*missing vendor",
		   "unqualified device*missing class" },
	  .explains = { "cdi_device_unknown" },
	  .cause = "A Pod or plugin asks for a CDI device by a name that is none: it must be "
		   "vendor/class=device, as nvidia.com/gpu=0.",
	  .cure = { "kubectl get pod POD -o yaml | grep -A1 cdi.k8s.io",
		    "Correct the annotation or the --device argument; nvidia-ctk cdi list shows "
		    "the "
		    "names" },
	  .source = "https://github.com/cncf-tags/container-device-interface/blob/main/pkg/cdi/"
		    "annotations.go" },
	{ .code = "unrequested_gpus_visible",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@pod.no_gpu", "@pod.visible_devices=all" },
	  .any = { "@driver.cards_container", "@driver.ok" },
	  .absent = { "@pod.gpu", "@pod.privileged" },
	  .cause = "The Pod asks for no GPU and sees all of them: its image or environment sets "
		   "NVIDIA_VISIBLE_DEVICES=all, and the toolkit believes any container. Such Pods "
		   "use cards that others were given.",
	  .cure = { "Set NVIDIA_VISIBLE_DEVICES=void in that container",
		    "For good: nvidia-ctk config --in-place --set "
		    "accept-nvidia-visible-devices-envvar-when-unprivileged=false, with "
		    "deviceListStrategy volume-mounts or cdi-cri for the device plugin" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/61" },
	{ .code = "host_library_cache_missing",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "error loading ldcache: open /etc/ld.so.cache",
		   "/etc/ld.so.cache: no such file or directory", "open failed: /etc/ld.so.cache",
		   "nvidia-container-cli*/etc/ld.so.cache*no such file" },
	  .explains = { "wrapper_fails", "toolkit_mount_fails" },
	  .cause = "The toolkit looks for the driver's libraries in the host's /etc/ld.so.cache, "
		   "and this system (read-only or without ldconfig, as Talos) has none. With the "
		   "capability 'graphics' some releases need it.",
	  .cure = { "Ask for compute,utility only: NVIDIA_DRIVER_CAPABILITIES=compute,utility",
		    "Or update the toolkit, or use CDI with --library-search-path (nvidia-ctk cdi "
		    "generate --library-search-path=DIR)" },
	  .source = "https://github.com/siderolabs/extensions/issues/171" },
	{ .code = "host_library_cache_incomplete",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "missing library libcuda.so" },
	  .any = { "nvc_info.c", "nvidia-container-cli",
		   "libcuda.so.1: cannot open shared object file" },
	  .sure = { "libcuda.so.1: cannot open shared object file" },
	  .cause = "nvidia-container-cli does not find libcuda in the host's library cache, so it "
		   "puts only a part of the driver's libraries into containers: the host's cache "
		   "is old, or its driver installation incomplete.",
	  .cure = { "ldconfig -p | grep -E 'libcuda.so|libnvidia-ml'; nvidia-container-cli -k -d "
		    "/dev/tty list",
		    "Run ldconfig on the host; if it does not list libcuda, install the driver's "
		    "compute libraries (libnvidia-compute-BRANCH, nvidia-driver-cuda-libs)" },
	  .source = "https://github.com/NVIDIA/libnvidia-container/blob/main/src/nvc_info.c" },
	{ .code = "toolkit_driver_root_wrong",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "initialization error: change root failed",
		   "change root failed: no such file or directory",
		   "nvidia-container-cli*change root failed", "failed to locate driver libraries",
		   "/run/nvidia/driver/sbin/ldconfig*no such file",
		   "/run/nvidia/driver/sbin/ldconfig.real: no such file",
		   "stat failed: /run/nvidia/driver", "open failed: /run/nvidia/driver" },
	  .explains = { "wrapper_fails", "operator_waits", "driver_validation_waits",
			"node_without_gpu", "insufficient_gpu", "ldconfig_missing" },
	  .cause = "The container toolkit looks for the driver in a root folder (the line 'root' "
		   "in its configuration, usually /run/nvidia/driver) that does not exist or is "
		   "empty: the driver is elsewhere, or its Pod is gone.",
	  .cure = { "grep -n root /etc/nvidia-container-runtime/config.toml; ls /run/nvidia/driver",
		    "Driver on the host: nvidia-ctk config --in-place --set "
		    "nvidia-container-cli.root=/ (for gpu-operator --set driver.enabled=false, so "
		    "that the toolkit is told so)",
		    "Driver of the operator: kubectl get pods -n gpu-operator -l "
		    "app=nvidia-driver-daemonset" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/134" },
	{ .code = "container_cli_needs_library",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "nvidia-container-cli: error while loading shared libraries: libelf",
		   "nvidia-container-cli: error while loading shared libraries: libtirpc",
		   "nvidia-container-cli: error while loading shared libraries: libseccomp",
		   "nvidia-container-cli: error while loading shared libraries: libcap",
		   "nvidia-container-cli:*version GLIBC_*not found",
		   "nvidia-container-cli: symbol lookup error",
		   "libnvidia-container.so.1: undefined symbol",
		   "error while loading shared libraries: libelf.so" },
	  .absent = { "libnvidia-container.so.1: cannot open" },
	  .explains = { "wrapper_fails", "container_cli_missing", "node_without_gpu",
			"insufficient_gpu" },
	  .cause = "nvidia-container-cli does not start, because a library of the host that it "
		   "needs is missing or is another build than it was made for (libelf, libseccomp, "
		   "glibc).",
	  .cure = { "ldd $(which nvidia-container-cli); ldd "
		    "/usr/lib/x86_64-linux-gnu/libnvidia-container.so.1",
		    "Install the missing library, or the toolkit's packages that are made for this "
		    "distribution's release" },
	  .source = "https://github.com/siderolabs/extensions/issues/751" },
	{ .code = "toolkit_root_without_driver",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "load library failed: libnvidia-ml.so.1" },
	  .any = { "@toolkit.root=/run/nvidia/driver*", "root = \"/run/nvidia/driver\"",
		   "/run/nvidia/driver" },
	  .absent = { "@docker.desktop", "@docker.snap" },
	  .sure = { "@driver.ok" },
	  .explains = { "driver_not_installed", "wrapper_fails", "operator_waits",
			"driver_not_loaded", "plugin_without_nvml", "node_without_gpu",
			"insufficient_gpu" },
	  .cause = "The container toolkit looks for the driver below /run/nvidia/driver, and there "
		   "is none: the driver is installed on the host itself, or the operator's driver "
		   "Pod is gone.",
	  .cure = { "nvidia-smi; ls /run/nvidia/driver; grep -n root "
		    "/etc/nvidia-container-runtime/config.toml",
		    "Driver on the host: helm upgrade ... --set driver.enabled=false (the toolkit "
		    "is then told root = \"/\"), or nvidia-ctk config --in-place --set "
		    "nvidia-container-cli.root=/" },
	  .source = "https://github.com/NVIDIA/nvidia-docker/issues/683" },
	{ .code = "sandboxutils_crashes",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "_Cfunc_nvSandboxUtilsShutdown", "_Cfunc_nvSandboxUtilsInit",
		   "nvsandboxutils*free(): invalid pointer",
		   "free(): invalid pointer*nvsandboxutils", "nvsandboxutils*SIGSEGV" },
	  .sure = { "did not terminate successfully: exit status 2",
		    "signal arrived during cgo execution" },
	  .explains = { "wrapper_fails", "cdi_device_unknown" },
	  .cause = "The container toolkit crashes inside of the driver's library "
		   "libnvidia-sandboxutils, which some releases of the driver have with an error "
		   "in it, so no container with a GPU starts.",
	  .cure = { "nvidia-ctk --version; nvidia-smi (1.17.5 to 1.17.9 do not call that library)",
		    "Upgrade the driver of the node, or the toolkit to a release after 1.18.0",
		    "nvidia-ctk cdi generate --feature-flag=disable-nvsandboxutils "
		    "--output=/var/run/cdi/nvidia.yaml (a specification without it)" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/1398" },
	{ .code = "image_cannot_run_smi",
	  .link = REASON_LINK_INJECTION,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "exec /usr/bin/nvidia-smi: no such file or directory",
		   "/usr/bin/nvidia-smi: cannot execute: required file not found" },
	  .absent = { "toolkit is not ready", "error validating toolkit installation",
		      "needed by*nvidia" },
	  .sure = { "cannot execute: required file not found" },
	  .cause = "The image cannot run the nvidia-smi that was put into it: it has no glibc "
		   "(Alpine, busybox, scratch, distroless), or its PATH lacks /usr/bin. The card "
		   "itself may be there.",
	  .cure = { "Use an image with glibc (debian, ubuntu, ubi), and call /usr/bin/nvidia-smi "
		    "by "
		    "its whole path",
		    "kubectl exec POD -- ls -l /dev/nvidiactl /usr/bin/nvidia-smi" },
	  .source = "https://github.com/NVIDIA/nvidia-docker/wiki/Frequently-Asked-Questions" },
	{ .code = NULL },
};
