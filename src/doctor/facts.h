/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What readers found in evidence, in one list of words that the rules share: numbers compared,
 * absence noticed, formats understood. A fact is a key with or without a value. A rule asks with
 * "@key" (told with any value) or "@key=glob" (a value that fits, '*' is any text, case does not
 * count).
 *
 * How to add a fact: one row below, a facts_tell() in a reader (read_*.c) or in combine.c, and a
 * case in the reader's test.
 *
 * A row: M(name, "key", "what it says, and its values", "who tells it").
 * Absence is told only by a reader that saw where it should have stood, at the end of that block.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* clang-format off */
#define FACTS(M) \
	/* Which kinds of evidence there were, so that absence means something. */ \
	M(SEEN_POD, "seen.pod", "a Pod, or a template of one, as YAML, JSON or describe", "kubernetes") \
	M(SEEN_POD_TABLE, "seen.pod_table", "rows of kubectl get pods", "tables") \
	M(SEEN_NODE, "seen.node", "a node with its Capacity or Allocatable", "kubernetes") \
	M(SEEN_NODE_TABLE, "seen.node_table", "rows of kubectl get nodes", "tables") \
	M(SEEN_NODE_LABELS, "seen.node_labels", "labels of a node", "kubernetes, labels") \
	M(SEEN_EVENTS, "seen.events", "events, of describe or of get events", "tables") \
	M(SEEN_DAEMONSET, "seen.daemonset", "a DaemonSet as YAML, JSON, describe or a row", "kubernetes, tables") \
	M(SEEN_RUNTIMECLASS, "seen.runtimeclass", "RuntimeClasses, or the rows of get runtimeclass", "kubernetes, tables") \
	M(SEEN_PLUGIN_CONFIG, "seen.plugin_config", "a configuration of the device plugin (version: v1)", "kubernetes") \
	M(SEEN_HELM_VALUES, "seen.helm_values", "values of a chart", "kubernetes") \
	M(SEEN_CONTAINERD_CONFIG, "seen.containerd_config", "lines of a containerd config.toml", "runtime") \
	M(SEEN_CRIO_CONFIG, "seen.crio_config", "lines of a crio.conf", "runtime") \
	M(SEEN_DOCKER_DAEMON, "seen.docker_daemon", "a Docker daemon.json", "runtime") \
	M(SEEN_DOCKER_INFO, "seen.docker_info", "docker info", "runtime") \
	M(SEEN_DOCKER_INSPECT, "seen.docker_inspect", "docker inspect of a container", "runtime") \
	M(SEEN_TOOLKIT_CONFIG, "seen.toolkit_config", "nvidia-container-runtime/config.toml", "runtime") \
	M(SEEN_CDI_SPEC, "seen.cdi_spec", "a CDI specification", "runtime") \
	M(SEEN_CDI_LIST, "seen.cdi_list", "nvidia-ctk cdi list", "runtime") \
	M(SEEN_SMI, "seen.smi", "nvidia-smi in any form with at least one card", "smi") \
	M(SEEN_SMI_DETAIL, "seen.smi_detail", "nvidia-smi -q or -x: pages that name persistence, ECC, clocks and links", "smi") \
	M(SEEN_LSMOD, "seen.lsmod", "lsmod, or /proc/modules", "host") \
	M(SEEN_LSPCI, "seen.lspci", "output of lspci", "host") \
	M(SEEN_KERNEL_LOG, "seen.kernel_log", "lines of dmesg or of the kernel in the journal", "host") \
	M(SEEN_PLUGIN_LOG, "seen.plugin_log", "lines of NVIDIA's device plugin", "host") \
	M(SEEN_DEVICECLASS, "seen.deviceclass", "device classes of DRA", "kubernetes, tables") \
	M(SEEN_RESOURCESLICE, "seen.resourceslice", "resource slices of DRA", "kubernetes, tables") \
	M(SEEN_RESOURCECLAIM, "seen.resourceclaim", "a resource claim or its template", "kubernetes, tables") \
	M(SEEN_PLUGIN_SOCKETS, "seen.plugin_sockets", "the kubelet's folder of device plugins was listed", "host") \
	M(SEEN_DEV_NODES, "seen.dev_nodes", "/dev/nvidia* was listed", "host") \
	M(SEEN_QUOTA, "seen.quota", "a ResourceQuota", "kubernetes") \
	/* Links that positively work. */ \
	M(DRIVER_OK, "driver.ok", "nvidia-smi lists cards, or the module is loaded and has cards", "smi, combine") \
	M(RUNTIME_OK, "runtime.ok", "the engine's configuration makes nvidia the default, or has it and a RuntimeClass or CDI leads there", "combine") \
	M(PLUGIN_OK, "plugin.ok", "capacity = allocatable > 0 of a GPU resource on every node that has one, or the plugin's log says registered", "combine, host") \
	M(SCHEDULER_OK, "scheduler.ok", "a Pod that asks for a GPU was assigned or runs", "combine") \
	M(INJECTION_OK, "injection.ok", "nvidia-smi lists cards in a container, or a GPU Pod started", "combine") \
	M(CUDA_OK, "cuda.ok", "a CUDA program says it works (Test PASSED, Result = PASS, True after is_available)", "host") \
	M(SHARING_OK, "sharing.ok", "replicas, MIG resources or an MPS daemon stand as configured", "combine") \
	M(DRA_OK, "dra.ok", "a gpu.nvidia.com device class and slice stand, or a claim is allocated", "combine") \
	/* Driver. */ \
	M(DRIVER_VERSION, "driver.version", "version that the running driver says (nvidia-smi, /proc)", "smi, host") \
	M(DRIVER_BRANCH, "driver.branch", "its first number: 470, 535, 570", "smi, host") \
	M(DRIVER_MODULE_VERSION, "driver.module_version", "version of the loaded kernel module (/proc/driver/nvidia/version, dmesg, /sys/module)", "host") \
	M(DRIVER_DISK_VERSION, "driver.disk_version", "version of the module on disk (modinfo, dkms)", "host") \
	M(DRIVER_LIBRARY_VERSION, "driver.library_version", "version of the user-space libraries (file names, NVML library version)", "host, smi") \
	M(DRIVER_PACKAGE_VERSION, "driver.package_version", "version of an installed driver package", "host") \
	M(DRIVER_VERSIONS_DIFFER, "driver.versions_differ", "module and libraries of one source have different versions: \"570.124.06 570.195\"", "combine") \
	M(DRIVER_DISK_NEWER, "driver.disk_newer", "the module on disk is another than the loaded one", "combine") \
	M(DRIVER_NODES_DIFFER, "driver.nodes_differ", "nodes report different driver versions", "combine") \
	M(DRIVER_CUDA_VERSION, "driver.cuda_version", "newest CUDA that this driver runs, as nvidia-smi says", "smi") \
	M(DRIVER_OPEN_MODULE, "driver.open_module", "the open kernel modules are loaded", "host") \
	M(DRIVER_CLOSED_MODULE, "driver.closed_module", "the proprietary kernel modules are loaded", "host") \
	M(DRIVER_NOT_LOADED, "driver.not_loaded", "lsmod without nvidia, or no /proc/driver/nvidia/version", "host") \
	M(DRIVER_LOADED, "driver.loaded", "lsmod or /proc name the nvidia module", "host") \
	M(DRIVER_MODULE, "driver.module", "a loaded module: nvidia, nvidia_uvm, nvidia_drm, nvidia_modeset, nvidia_peermem, nouveau, vfio_pci", "host") \
	M(DRIVER_NO_UVM, "driver.no_uvm", "the row of nvidia in lsmod names its users, and nvidia_uvm is none of them", "host") \
	M(DRIVER_NOUVEAU, "driver.nouveau", "nouveau is loaded", "host") \
	M(DRIVER_VFIO, "driver.vfio", "the card is bound to vfio-pci", "host") \
	M(DRIVER_NO_CARD, "driver.no_card", "a whole lspci without an NVIDIA device", "host") \
	M(DRIVER_DKMS, "driver.dkms", "state in dkms status: added, built, installed, broken", "host") \
	M(DRIVER_SMI_ERROR, "driver.smi_error", "why nvidia-smi failed: mismatch, not_loaded, unknown_error, no_permission, no_library, no_devices, lost, no_handle, not_found, hung, not_supported, insufficient_power", "smi") \
	M(DRIVER_SMI_ERROR_HOST, "driver.smi_error_host", "the same, below a heading that says host or node", "smi") \
	M(DRIVER_SMI_ERROR_CONTAINER, "driver.smi_error_container", "the same, below a heading that says container, pod, docker run or kubectl exec", "smi") \
	M(DRIVER_CARDS, "driver.cards", "number of cards in one listing", "smi") \
	M(DRIVER_CARDS_HOST, "driver.cards_host", "number of cards below a heading that says host or node", "smi") \
	M(DRIVER_CARDS_CONTAINER, "driver.cards_container", "number of cards below a heading that says container", "smi") \
	M(DRIVER_OLD_FOR_KERNEL, "driver.old_for_kernel", "the kernel is 5.18 or newer and the driver older than 510, or 6.8 and older than 535.161", "combine") \
	M(DRIVER_POD, "driver.pod", "STATUS of a driver DaemonSet's Pod (Running, CrashLoopBackOff, ImagePullBackOff, Init:0/1, ...)", "tables") \
	/* One card. */ \
	M(CARD_MODEL, "card.model", "name of a card: NVIDIA A100-SXM4-40GB", "smi, labels") \
	M(CARD_MODELS_DIFFER, "card.models_differ", "cards of one listing have different names", "smi") \
	M(CARD_KIND, "card.kind", "geforce, quadro, rtx, tesla, datacenter, jetson, vgpu", "smi, labels") \
	M(CARD_ARCHITECTURE, "card.architecture", "kepler, maxwell, pascal, volta, turing, ampere, ada, hopper, blackwell", "smi, labels") \
	M(CARD_NVSWITCH, "card.nvswitch", "a model that sits behind NVSwitches in HGX and DGX: SXM of A100, A800, H100, H200, H800, B200", "smi") \
	M(CARD_LOST, "card.lost", "nvidia-smi says a GPU is lost, or prints ERR!", "smi") \
	M(CARD_MIG, "card.mig", "enabled, disabled, pending", "smi") \
	M(CARD_MIG_EMPTY, "card.mig_empty", "MIG is enabled on a card of a listing that shows no instance", "smi") \
	M(CARD_MIG_MIXED, "card.mig_mixed", "some cards of a listing have MIG enabled and some not", "smi") \
	M(CARD_MIG_PROFILE, "card.mig_profile", "profile of an instance: 1g.5gb", "smi, labels, kubernetes") \
	M(CARD_MIG_PROFILES_DIFFER, "card.mig_profiles_differ", "one listing has instances of several profiles", "smi") \
	M(CARD_MIG_UNABLE, "card.mig_unable", "the card has no MIG (N/A in nvidia-smi)", "smi") \
	M(CARD_COMPUTE_MODE, "card.compute_mode", "default, exclusive_process, exclusive_thread, prohibited", "smi") \
	M(CARD_PERSISTENCE, "card.persistence", "on, off", "smi") \
	M(CARD_ECC_UNCORRECTED, "card.ecc_uncorrected", "a count of uncorrectable errors above 0: volatile, aggregate", "smi") \
	M(CARD_REMAP_PENDING, "card.remap_pending", "a row remap waits for a reset", "smi") \
	M(CARD_REMAP_FAILED, "card.remap_failed", "a row remap failed", "smi") \
	M(CARD_REMAPPED, "card.remapped", "rows were remapped for uncorrectable errors", "smi") \
	M(CARD_RETIRE_PENDING, "card.retire_pending", "a page waits to be retired", "smi") \
	M(CARD_THROTTLE, "card.throttle", "active: hw_thermal, sw_thermal, hw_slowdown, hw_power_brake, sw_power_cap, sync_boost, applications_clocks, display_clocks (idle is none)", "smi") \
	M(CARD_PCIE_WIDTH_LOW, "card.pcie_width_low", "fewer lanes than the card can: \"4x of 16x\"", "smi, host") \
	M(CARD_PCIE_SPEED_LOW, "card.pcie_speed_low", "an older PCIe generation than the card can, at full clocks: \"1 of 4\"", "smi, host") \
	M(CARD_HOT, "card.hot", "85 degrees C or more", "smi") \
	M(CARD_MEMORY_FULL, "card.memory_full", "95 % or more of its memory is used", "smi") \
	M(CARD_BUSY, "card.busy", "95 % or more utilisation", "smi") \
	M(CARD_PROCESS, "card.process", "name of a process on a card (last part of its path)", "smi") \
	M(CARD_PROCESS_KIND, "card.process_kind", "C, G, C+G, M+C", "smi") \
	M(CARD_FABRIC, "card.fabric", "completed, in_progress, not_started, not_supported", "smi") \
	M(CARD_LICENCE, "card.licence", "vGPU: licensed, unlicensed", "smi") \
	M(CARD_POWER_LIMIT_LOW, "card.power_limit_low", "the limit set is below 80 % of the default one", "smi") \
	M(CARD_UNKNOWN_TO_DRIVER, "card.unknown_to_driver", "architecture newer than the branch knows, or older than it still serves: \"blackwell 535\"", "combine") \
	/* Kernel and host. */ \
	M(KERNEL_XID, "kernel.xid", "number of an Xid: 13, 31, 43, 48, 63, 64, 74, 79, 94, 95, 119", "host") \
	M(KERNEL_RELEASE, "kernel.release", "release of the running kernel", "host, kubernetes") \
	M(HOST_WSL, "host.wsl", "the kernel is that of WSL 2", "host") \
	M(HOST_OS, "host.os", "ubuntu, debian, rhel, rocky, centos, fedora, amazon, talos, bottlerocket, coreos, cos, flatcar, sles, nixos, microos", "host, kubernetes") \
	M(HOST_SECURE_BOOT, "host.secure_boot", "enabled, disabled", "host") \
	M(HOST_CGROUP, "host.cgroup", "v1, v2", "host, runtime") \
	M(HOST_SELINUX, "host.selinux", "enforcing, permissive, disabled", "host") \
	M(HOST_APPARMOR_DENIED, "host.apparmor_denied", "an AppArmor denial that names nvidia or the runtime", "host") \
	M(HOST_SELINUX_DENIED, "host.selinux_denied", "an AVC denial that names nvidia or a container's type", "host") \
	M(HOST_NO_DEV_NODES, "host.no_dev_nodes", "ls /dev/nvidia*: no such file", "host") \
	M(HOST_DEV_NODE, "host.dev_node", "nvidiactl, nvidia-uvm, nvidia-modeset, nvidia0 (of any number), nvidia-caps", "host") \
	M(HOST_NO_UVM_NODE, "host.no_uvm_node", "/dev/nvidia0 was listed and /dev/nvidia-uvm not", "host") \
	M(HOST_LIBRARY, "host.library", "a driver library in a listing, without its version: libcuda.so.1", "host") \
	M(HOST_NO_LIBCUDA, "host.no_libcuda", "a listing of libraries has libnvidia-ml and not libcuda", "host") \
	M(HOST_STUB_LIBCUDA, "host.stub_libcuda", "libcuda is found in a stubs folder", "host") \
	M(HOST_COMPAT_LIBCUDA, "host.compat_libcuda", "libcuda is found in a compat folder", "host") \
	M(HOST_COMMAND, "host.command", "in a history: reboot, daemon_reload, restart_containerd, restart_docker, restart_kubelet, restart_crio, mig_create, mig_destroy, mig_mode, configure_runtime, upgrade_packages, driver_install, driver_unload, gpu_reset, persistence", "host") \
	M(HOST_NO_RESTART, "host.no_restart", "a history configures a runtime and no restart follows", "host") \
	M(HOST_SERVICE, "host.service", "\"name state\" of systemctl: nvidia-persistenced, nvidia-fabricmanager, containerd, docker, kubelet, crio; active, inactive, failed, not_found", "host") \
	M(HOST_FABRIC_VERSION, "host.fabric_version", "version of Fabric Manager", "host") \
	M(HOST_FABRIC_DIFFERS, "host.fabric_differs", "Fabric Manager has another version than the driver", "combine") \
	M(HOST_IOMMU, "host.iommu", "the kernel's command line turns it on", "host") \
	M(HOST_NO_DEV_CHAR, "host.no_dev_char", "/dev/char has no link to the nvidia nodes", "host") \
	M(HOST_OOM, "host.oom", "the kernel's or cgroup's OOM killer ended a process", "host") \
	/* containerd. */ \
	M(CONTAINERD_VERSION, "containerd.version", "version of containerd", "runtime, kubernetes") \
	M(CONTAINERD_CONFIG_VERSION, "containerd.config_version", "1, 2, 3, 4; a file without the line is 1", "runtime") \
	M(CONTAINERD_SECTION, "containerd.section", "which spelling of CRI's section a file uses: cri, grpc_cri, cri_v1", "runtime") \
	M(CONTAINERD_SECTION_IGNORED, "containerd.section_ignored", "the section does not belong to the version that the file says, so containerd does not read it", "runtime") \
	M(CONTAINERD_CRI_DISABLED, "containerd.cri_disabled", "disabled_plugins has cri", "runtime") \
	M(CONTAINERD_IMPORTS, "containerd.imports", "the imports line", "runtime") \
	M(CONTAINERD_NO_IMPORTS, "containerd.no_imports", "a main configuration without imports, or a grep for it that found none", "runtime") \
	M(CONTAINERD_DROP_IN, "containerd.drop_in", "a file below conf.d, or named *nvidia.toml", "runtime, host") \
	M(CONTAINERD_DROP_IN_UNREAD, "containerd.drop_in_unread", "there is a drop-in, and the main file imports none", "combine") \
	M(CONTAINERD_DEFAULT, "containerd.default_runtime", "default_runtime_name", "runtime") \
	M(CONTAINERD_RUNTIME, "containerd.runtime", "name of a runtime in a configuration", "runtime") \
	M(CONTAINERD_NVIDIA, "containerd.nvidia", "a runtime whose binary is nvidia-container-runtime, by name", "runtime") \
	M(CONTAINERD_NO_NVIDIA, "containerd.no_nvidia", "a configuration with a CRI section and no such runtime", "runtime") \
	M(CONTAINERD_NVIDIA_NOT_DEFAULT, "containerd.nvidia_not_default", "a configuration has it, and its default is another or none", "runtime") \
	M(CONTAINERD_NVIDIA_DEFAULT, "containerd.nvidia_default", "default_runtime_name names the nvidia runtime", "runtime") \
	M(CONTAINERD_DEFAULT_UNDEFINED, "containerd.default_undefined", "default_runtime_name names a runtime that the file does not have", "runtime") \
	M(CONTAINERD_OLD_DEFAULT, "containerd.old_default", "the nvidia binary stands in the table default_runtime, which containerd no longer reads", "runtime") \
	M(CONTAINERD_BINARY, "containerd.binary", "BinaryName or Runtime of a runtime", "runtime") \
	M(CONTAINERD_SHIM, "containerd.shim", "runtime_type of the nvidia runtime", "runtime") \
	M(CONTAINERD_SYSTEMD_CGROUP, "containerd.systemd_cgroup", "true, false; of the nvidia runtime", "runtime") \
	M(CONTAINERD_SYSTEMD_CGROUP_DIFFERS, "containerd.systemd_cgroup_differs", "nvidia's and another runtime's SystemdCgroup differ", "runtime") \
	M(CONTAINERD_CDI, "containerd.cdi", "enable_cdi: true, false", "runtime") \
	M(CONTAINERD_FILE, "containerd.file", "whose file it is by its path: etc, k3s, rke2, k0s, microk8s", "runtime") \
	M(CONTAINERD_WRONG_FILE, "containerd.wrong_file", "/etc/containerd/config.toml was edited where k3s, rke2, k0s or microk8s read their own", "combine") \
	M(CONTAINERD_OPTIONS_MISSING, "containerd.options_missing", "a runtime called nvidia without BinaryName, so it is plain runc", "runtime") \
	/* Docker, CRI-O, podman, the toolkit. */ \
	M(DOCKER_DEFAULT, "docker.default_runtime", "default runtime of daemon.json or docker info", "runtime") \
	M(DOCKER_NVIDIA, "docker.nvidia", "Docker has a runtime nvidia", "runtime") \
	M(DOCKER_NO_NVIDIA, "docker.no_nvidia", "daemon.json or docker info without one", "runtime") \
	M(DOCKER_CGROUP_DRIVER, "docker.cgroup_driver", "systemd, cgroupfs", "runtime") \
	M(DOCKER_VERSION, "docker.version", "server version", "runtime") \
	M(DOCKER_CDI, "docker.cdi", "features.cdi or CDI spec directories: true, false", "runtime") \
	M(DOCKER_ROOTLESS, "docker.rootless", "docker info says rootless", "runtime") \
	M(DOCKER_DESKTOP, "docker.desktop", "Docker Desktop", "runtime") \
	M(DOCKER_SNAP, "docker.snap", "Docker from a snap", "runtime, host") \
	M(DOCKER_CONTAINER_RUNTIME, "docker.container_runtime", "HostConfig.Runtime of a container", "runtime") \
	M(DOCKER_NO_DEVICE_REQUEST, "docker.no_device_request", "a container without DeviceRequests", "runtime") \
	M(DOCKER_CAPABILITIES, "docker.capabilities", "what a container's device request asks for: \"gpu,utility\"", "runtime") \
	M(DOCKER_NO_COMPUTE, "docker.no_compute", "that list names driver capabilities without compute", "runtime") \
	M(CRIO_DEFAULT, "crio.default_runtime", "default_runtime", "runtime") \
	M(CRIO_NVIDIA, "crio.nvidia", "CRI-O has a runtime nvidia", "runtime") \
	M(CRIO_NO_NVIDIA, "crio.no_nvidia", "a configuration with runtimes and none is nvidia", "runtime") \
	M(CRIO_HOOKS, "crio.hooks", "hooks_dir, or an oci-nvidia-hook.json", "runtime") \
	M(TOOLKIT_VERSION, "toolkit.version", "version of the container toolkit or libnvidia-container", "host") \
	M(TOOLKIT_BEFORE, "toolkit.before", "it is older than: 1.8 (cgroup v2), 1.14, 1.16.2 (CVE-2024-0132), 1.17.8 (CVE-2025-23266), 1.18 (hook disable-device-node-modification)", "combine") \
	M(TOOLKIT_MODE, "toolkit.mode", "auto, legacy, csv, cdi, jit-cdi", "runtime") \
	M(TOOLKIT_NO_CGROUPS, "toolkit.no_cgroups", "no-cgroups = true", "runtime") \
	M(TOOLKIT_ENV_REFUSED, "toolkit.env_refused", "accept-nvidia-visible-devices-envvar-when-unprivileged = false", "runtime") \
	M(TOOLKIT_VOLUME_MOUNTS, "toolkit.volume_mounts", "accept-nvidia-visible-devices-as-volume-mounts: true, false", "runtime") \
	M(TOOLKIT_LDCONFIG, "toolkit.ldconfig", "the ldconfig line", "runtime") \
	M(TOOLKIT_ROOT, "toolkit.root", "root or driver root of the toolkit", "runtime") \
	M(TOOLKIT_ABSENT, "toolkit.absent", "nvidia-ctk or nvidia-container-cli: command not found", "host") \
	M(TOOLKIT_POD, "toolkit.pod", "STATUS of a toolkit DaemonSet's Pod", "tables") \
	M(VALIDATOR_POD, "validator.pod", "STATUS of an operator's validator Pod", "tables") \
	M(ENGINE, "engine", "what a node says it runs: containerd, cri-o, docker", "kubernetes, tables") \
	M(DISTRIBUTION, "distribution", "k3s, rke2, k0s, microk8s, kind, minikube, openshift, eks, gke, aks, talos, docker-desktop", "kubernetes, runtime, host") \
	/* CDI. */ \
	M(CDI_KIND, "cdi.kind", "nvidia.com/gpu, k8s.device-plugin.nvidia.com/gpu, k8s.gpu.nvidia.com/device, ...", "runtime") \
	M(CDI_DEVICE, "cdi.device", "name of a device of a spec or list: 0, all, GPU-..., 0:0", "runtime") \
	M(CDI_NO_DEVICES, "cdi.no_devices", "a spec or list without devices (Found 0 CDI devices)", "runtime") \
	M(CDI_VERSION, "cdi.version", "cdiVersion", "runtime") \
	M(CDI_DRIVER_VERSION, "cdi.driver_version", "driver version in the host paths of a spec", "runtime") \
	M(CDI_STALE, "cdi.stale", "that version is not the driver's: \"535.54 535.86\"", "combine") \
	M(CDI_HOOK, "cdi.hook", "a hook's sub-command: update-ldcache, create-symlinks, ...", "runtime") \
	M(CDI_DIR_EMPTY, "cdi.dir_empty", "ls of /etc/cdi or /var/run/cdi shows nothing or no such folder", "host") \
	M(CDI_FILE, "cdi.file", "a file below /etc/cdi or /var/run/cdi", "host, runtime") \
	/* RuntimeClass. */ \
	M(RUNTIMECLASS, "runtimeclass", "name of a RuntimeClass that exists", "kubernetes, tables") \
	M(RUNTIMECLASS_HANDLER, "runtimeclass.handler", "its handler", "kubernetes, tables") \
	M(RUNTIMECLASS_NO_NVIDIA, "runtimeclass.no_nvidia", "a list of RuntimeClasses without nvidia (also \"No resources found\")", "tables") \
	M(RUNTIMECLASS_HANDLER_MISSING, "runtimeclass.handler_missing", "its handler is in no configuration that was seen", "combine") \
	/* Device plugin. */ \
	M(PLUGIN_POD, "plugin.pod", "STATUS of a device plugin's Pod (Running, CrashLoopBackOff, Pending, ...)", "tables, kubernetes") \
	M(PLUGIN_NOT_READY, "plugin.not_ready", "a device plugin's Pod or DaemonSet with fewer ready than wanted", "tables") \
	M(PLUGIN_NO_PODS, "plugin.no_pods", "its DaemonSet wants none: DESIRED 0", "tables, kubernetes") \
	M(PLUGIN_RESTARTS, "plugin.restarts", "RESTARTS of its Pod above 0", "tables") \
	M(PLUGIN_ABSENT, "plugin.absent", "a listing of all Pods or DaemonSets has none", "tables") \
	M(PLUGIN_IMAGE, "plugin.image", "image of the plugin without its version", "kubernetes, host") \
	M(PLUGIN_VERSION, "plugin.version", "its version: 0.16.2", "kubernetes, host") \
	M(PLUGIN_TWO, "plugin.two", "two device plugins for the same resource on one node: two DaemonSets, two sockets, or two kinds", "tables, host, combine") \
	M(PLUGIN_KIND, "plugin.kind", "nvidia, gke, hami, volcano, gpushare, kai, koordinator, aws, azure, gpupool", "tables, kubernetes") \
	M(PLUGIN_RUNTIME_CLASS, "plugin.runtime_class", "runtimeClassName of the plugin's template", "kubernetes") \
	M(PLUGIN_NODE_AFFINITY, "plugin.node_affinity", "label that its node affinity asks for", "kubernetes") \
	M(PLUGIN_NODE_SELECTOR, "plugin.node_selector", "label that its nodeSelector asks for", "kubernetes, tables") \
	M(PLUGIN_AFFINITY_UNMET, "plugin.affinity_unmet", "labels of nodes were seen, and none has one of those", "combine") \
	M(PLUGIN_KUBELET_PATH, "plugin.kubelet_path", "host folder that it mounts for its socket", "kubernetes") \
	M(PLUGIN_UNPRIVILEGED, "plugin.unprivileged", "its template says privileged: false or drops all capabilities", "kubernetes") \
	M(PLUGIN_STRATEGY, "plugin.device_list_strategy", "envvar, volume-mounts, cdi-annotations, cdi-cri", "kubernetes, host") \
	M(PLUGIN_MIG_STRATEGY, "plugin.mig_strategy", "none, single, mixed", "kubernetes, host, labels") \
	M(PLUGIN_SHARING, "plugin.sharing", "time_slicing, mps", "kubernetes, labels") \
	M(PLUGIN_REPLICAS, "plugin.replicas", "replicas of a sharing configuration", "kubernetes, labels") \
	M(PLUGIN_RENAMED, "plugin.renamed", "renameByDefault, or a rename", "kubernetes") \
	M(PLUGIN_FAIL_MANY, "plugin.fail_many", "failRequestsGreaterThanOne: true, false", "kubernetes") \
	M(PLUGIN_PASS_SPECS, "plugin.pass_specs", "passDeviceSpecs / PASS_DEVICE_SPECS: true, false", "kubernetes, host") \
	M(PLUGIN_FAIL_ON_INIT, "plugin.fail_on_init", "failOnInitError: true, false", "kubernetes, host") \
	M(PLUGIN_REGISTERED, "plugin.registered", "its log says it registered with the kubelet; resource", "host") \
	M(PLUGIN_SOCKET, "plugin.socket", "a socket in the kubelet's folder, by name", "host") \
	M(PLUGIN_NO_SOCKET, "plugin.no_socket", "the folder was listed, and has no socket but the kubelet's", "host") \
	M(PLUGIN_CONFIG_LABEL, "plugin.config_label", "nvidia.com/device-plugin.config of a node", "labels") \
	M(PLUGIN_CONFIG_NAME, "plugin.config_name", "a configuration's name in its ConfigMap", "kubernetes") \
	M(PLUGIN_CONFIG_UNKNOWN, "plugin.config_unknown", "the label names a configuration that the ConfigMap does not have", "combine") \
	M(PLUGIN_MPS_ROOT, "plugin.mps_root", "mpsRoot or MPS_ROOT", "kubernetes") \
	M(MPS_POD, "mps.pod", "STATUS of an MPS control daemon's Pod", "tables") \
	M(MPS_DAEMON_ABSENT, "mps.daemon_absent", "sharing by MPS, and the listing of DaemonSets or Pods has no mps-control-daemon", "combine") \
	M(KUBELET_VERSION, "kubelet.version", "version of a kubelet", "kubernetes, tables, host") \
	M(KUBELET_CGROUP_DRIVER, "kubelet.cgroup_driver", "systemd, cgroupfs", "runtime, host") \
	M(KUBELET_CGROUP_DIFFERS, "kubelet.cgroup_differs", "the kubelet's and the engine's cgroup driver differ", "combine") \
	M(KUBELET_CPU_POLICY, "kubelet.cpu_policy", "none, static", "kubernetes") \
	M(KUBELET_TOPOLOGY_POLICY, "kubelet.topology_policy", "none, best-effort, restricted, single-numa-node", "kubernetes") \
	M(KUBELET_DEVICE_TWICE, "kubelet.device_twice", "a GPU that the kubelet's checkpoint gives to two Pods", "plugin") \
	M(KUBELET_ROOT, "kubelet.root", "a root that is not /var/lib/kubelet", "host, kubernetes") \
	M(NFD_POD, "nfd.pod", "STATUS of a node-feature-discovery Pod", "tables") \
	M(NFD_ABSENT, "nfd.absent", "node labels were seen, and none is of node-feature-discovery", "kubernetes, labels") \
	M(OPERATOR_POD, "operator.pod", "STATUS of gpu-operator's own Pod", "tables") \
	M(HELM_CHART, "helm.chart", "\"name version\" of a release: gpu-operator v24.9.0", "host, tables") \
	/* Node. */ \
	M(NODE_GPU_CAPACITY, "node.gpu.capacity", "GPUs in Capacity (the resource that ends in /gpu)", "kubernetes") \
	M(NODE_GPU_ALLOCATABLE, "node.gpu.allocatable", "GPUs in Allocatable", "kubernetes") \
	M(NODE_GPU_NONE, "node.gpu.none", "a Capacity or Allocatable without any GPU resource", "kubernetes") \
	M(NODE_GPU_NOWHERE, "node.gpu.nowhere", "no node of all that were seen has a GPU resource", "combine") \
	M(NODE_GPU_SOME, "node.gpu.some", "a GPU resource with more than 0", "kubernetes, tables") \
	M(NODE_GPU_ZERO, "node.gpu.zero", "a GPU resource with 0 allocatable on a node where no other has more", "kubernetes, tables") \
	M(NODE_GPU_UNHEALTHY, "node.gpu.unhealthy", "allocatable below capacity: \"7 of 8\"", "combine") \
	M(NODE_GPU_FULL, "node.gpu.full", "all GPUs are allocated to Pods (Allocated resources)", "combine") \
	M(NODE_GPU_FREE, "node.gpu.free", "GPUs that no Pod holds: a number above 0", "combine") \
	M(NODE_GPU_FEWER_THAN_CARDS, "node.gpu.fewer_than_cards", "fewer than nvidia-smi lists on the host, without MIG and sharing: \"3 of 4\"", "combine") \
	M(NODE_GPU_MORE_THAN_CARDS, "node.gpu.more_than_cards", "more than nvidia-smi lists: replicas, or a stale count", "combine") \
	M(NODE_MIG_STALE, "node.mig_stale", "mig resources or counts that differ from the instances that nvidia-smi lists", "combine") \
	M(NODE_RESOURCE, "node.resource", "a GPU resource that a node has: nvidia.com/gpu, nvidia.com/gpu.shared, nvidia.com/mig-1g.5gb", "kubernetes") \
	M(NODE_RESOURCE_ZERO, "node.resource_zero", "a GPU resource that a node has with 0", "kubernetes") \
	M(NODE_TAINT, "node.taint", "key of a taint", "kubernetes") \
	M(NODE_GPU_TAINT, "node.gpu_taint", "a taint whose key names gpu or nvidia", "kubernetes") \
	M(NODE_UNSCHEDULABLE, "node.unschedulable", "cordoned", "kubernetes, tables") \
	M(NODE_NOT_READY, "node.not_ready", "a node that is not Ready", "kubernetes, tables") \
	M(NODE_CPU_FULL, "node.cpu_full", "95 % or more of its CPU is requested", "kubernetes") \
	M(NODE_MEMORY_FULL, "node.memory_full", "95 % or more of its memory is requested", "kubernetes") \
	M(NODE_LABEL_GPU, "node.label.gpu_present", "nvidia.com/gpu.present: true, false", "labels") \
	M(NODE_LABEL_PCI, "node.label.pci", "feature.node.kubernetes.io/pci-*10de*.present", "labels") \
	M(NODE_NO_GPU_LABELS, "node.no_gpu_labels", "labels of a node were seen, and none begins with nvidia.com/", "labels") \
	M(NODE_LABEL_COUNT, "node.label.count", "nvidia.com/gpu.count", "labels") \
	M(NODE_LABEL_PRODUCT, "node.label.product", "nvidia.com/gpu.product", "labels") \
	M(NODE_LABEL_SHARED, "node.label.shared", "product with -SHARED", "labels") \
	M(NODE_LABEL_MIG_CONFIG, "node.label.mig_config", "nvidia.com/mig.config", "labels") \
	M(NODE_LABEL_MIG_STATE, "node.label.mig_state", "nvidia.com/mig.config.state: success, failed, pending, rebooting", "labels") \
	M(NODE_LABEL_MIG_CAPABLE, "node.label.mig_capable", "nvidia.com/mig.capable: true, false", "labels") \
	M(NODE_LABEL_DEPLOY, "node.label.deploy", "\"component value\" of nvidia.com/gpu.deploy.*: driver pre-installed, device-plugin false, ...", "labels") \
	M(NODE_LABEL_WORKLOAD, "node.label.workload", "nvidia.com/gpu.workload.config: container, vm-passthrough, vm-vgpu", "labels") \
	M(NODE_LABEL_UPGRADE, "node.label.upgrade", "nvidia.com/gpu-driver-upgrade-state", "labels") \
	M(NODE_MODELS_DIFFER, "node.models_differ", "nodes have different products", "combine") \
	M(NODE_CLOUD, "node.cloud", "aws, gcp, azure", "kubernetes, labels") \
	/* Pod. */ \
	M(POD_RESOURCE, "pod.resource", "a GPU resource that a Pod asks for: nvidia.com/gpu, nvidia.com/mig-1g.5gb, gpu.shared", "kubernetes") \
	M(POD_GPU, "pod.gpu", "how many it asks for: 1, 2, 0.5", "kubernetes") \
	M(POD_NO_GPU, "pod.no_gpu", "a whole Pod that asks for no GPU resource and no claim", "kubernetes") \
	M(POD_GPU_MANY, "pod.gpu.many", "more than one of a resource", "kubernetes") \
	M(POD_GPU_FRACTIONAL, "pod.gpu.fractional", "a number that is not whole: 0.5, 500m", "kubernetes") \
	M(POD_REQUESTS_ONLY, "pod.gpu.requests_without_limits", "a GPU below requests and not below limits", "kubernetes") \
	M(POD_REQUESTS_DIFFER, "pod.gpu.requests_differ", "requests and limits name different numbers of it: \"1 3\"", "kubernetes") \
	M(POD_GPU_OVER_NODE, "pod.gpu.over_node", "more than any node seen has: \"16 8\"", "combine") \
	M(POD_RESOURCE_UNKNOWN, "pod.resource_unknown", "asks for a GPU resource that no node seen has", "combine") \
	M(POD_STATUS, "pod.status", "STATUS or reason of a GPU Pod or of any Pod that is no component: Pending, CrashLoopBackOff, UnexpectedAdmissionError, OutOfnvidia.com/gpu", "tables, kubernetes") \
	M(POD_RUNTIME_CLASS, "pod.runtime_class", "runtimeClassName", "kubernetes") \
	M(POD_NO_RUNTIME_CLASS, "pod.no_runtime_class", "a whole Pod with a GPU and without runtimeClassName", "kubernetes") \
	M(POD_RUNTIME_CLASS_MISSING, "pod.runtime_class_missing", "names a RuntimeClass that the listing does not have", "combine") \
	M(POD_NODE_NAME, "pod.node_name", "spec.nodeName of a template or manifest (no status)", "kubernetes") \
	M(POD_NODE_SELECTOR, "pod.node_selector", "\"key=value\" of its nodeSelector, or a key of its node affinity", "kubernetes") \
	M(POD_SELECTOR_UNMET, "pod.selector_unmet", "labels of nodes were seen, and none has \"key=value\"", "combine") \
	M(POD_TOLERATES, "pod.tolerates", "key of a toleration; * for all", "kubernetes") \
	M(POD_TAINT_UNTOLERATED, "pod.taint_untolerated", "every GPU node seen has this taint, and the Pod does not tolerate it", "combine") \
	M(POD_SCHEDULER, "pod.scheduler", "schedulerName other than default-scheduler", "kubernetes") \
	M(POD_PRIVILEGED, "pod.privileged", "privileged: true", "kubernetes") \
	M(POD_VISIBLE_DEVICES, "pod.visible_devices", "NVIDIA_VISIBLE_DEVICES of its or a container's environment: all, none, void, a UUID, an index", "kubernetes, runtime, host") \
	M(POD_CUDA_VISIBLE_DEVICES, "pod.cuda_visible_devices", "CUDA_VISIBLE_DEVICES; \"\" is said as empty", "kubernetes, runtime, host") \
	M(POD_CAPABILITIES, "pod.capabilities", "NVIDIA_DRIVER_CAPABILITIES", "kubernetes, runtime, host") \
	M(POD_NO_COMPUTE, "pod.no_compute", "that list has neither compute nor all", "kubernetes, runtime, host") \
	M(POD_NO_GRAPHICS, "pod.no_graphics", "it has neither graphics nor all", "kubernetes, runtime, host") \
	M(POD_NO_VIDEO, "pod.no_video", "it has neither video nor all", "kubernetes, runtime, host") \
	M(POD_IMAGE, "pod.image", "image of a container", "kubernetes, runtime") \
	M(POD_IMAGE_MUSL, "pod.image_musl", "an alpine image", "kubernetes, runtime") \
	M(POD_IMAGE_CUDA, "pod.image_cuda", "CUDA version in an image's tag or in CUDA_VERSION: 12.8", "kubernetes, runtime, host") \
	M(POD_LD_PRELOAD, "pod.ld_preload", "LD_PRELOAD", "kubernetes, runtime, host") \
	M(POD_LD_LIBRARY_PATH, "pod.ld_library_path", "LD_LIBRARY_PATH", "kubernetes, runtime, host") \
	M(POD_SHM_SMALL, "pod.shm_small", "/dev/shm of 64 MiB", "host, runtime") \
	M(POD_HOST_IPC, "pod.host_ipc", "hostIPC: true", "kubernetes") \
	M(POD_HOST_PID, "pod.host_pid", "hostPID: true", "kubernetes") \
	M(POD_MPS_PIPE, "pod.mps_pipe", "CUDA_MPS_PIPE_DIRECTORY", "kubernetes, host") \
	M(POD_GATED, "pod.gated", "a scheduling gate", "kubernetes, tables") \
	M(POD_CLAIM, "pod.claim", "uses a resource claim", "kubernetes") \
	M(POD_OOM_KILLED, "pod.oom_killed", "reason OOMKilled or exit code 137", "kubernetes, tables") \
	M(POD_EXIT_CODE, "pod.exit_code", "exit code of a container, not 0", "kubernetes") \
	M(POD_CPU_OVER_NODE, "pod.cpu_over_node", "asks for more CPU than any node seen has", "combine") \
	M(POD_MEMORY_OVER_NODE, "pod.memory_over_node", "asks for more memory than any node seen has", "combine") \
	M(POD_RUNS_WITH_GPU, "pod.runs_with_gpu", "a Pod that asks for a GPU is Running or Succeeded", "kubernetes") \
	M(POD_HAMI, "pod.hami", "asks for nvidia.com/gpumem, gpucores or another dialect of shared memory", "kubernetes") \
	M(QUOTA_GPU, "quota.gpu", "\"used hard\" of a quota on GPUs", "kubernetes") \
	M(QUOTA_GPU_FULL, "quota.gpu_full", "a quota on GPUs with used >= hard", "kubernetes") \
	M(QUOTA_GPU_ZERO, "quota.gpu_zero", "a quota that allows no GPUs", "kubernetes") \
	M(IMAGE_CUDA_NEWER, "image.cuda_newer", "CUDA of the image is newer than what the driver runs: \"12.8 12.2\"", "combine") \
	M(IMAGE_COMPAT, "image.compat", "the image has a folder cuda/compat", "host, runtime") \
	/* DRA. */ \
	M(DRA_CLASS, "dra.class", "name of a device class that exists", "kubernetes, tables") \
	M(DRA_CLASS_WANTED, "dra.class_wanted", "deviceClassName of a request", "kubernetes") \
	M(DRA_CLASS_MISSING, "dra.class_missing", "wanted, and the listing of classes does not have it", "combine") \
	M(DRA_SLICE_DRIVER, "dra.slice_driver", "driver of a resource slice: gpu.nvidia.com, compute-domain.nvidia.com", "kubernetes, tables") \
	M(DRA_NO_SLICES, "dra.no_slices", "a listing of slices without gpu.nvidia.com (also \"No resources found\")", "tables, combine") \
	M(DRA_GPUS_ENABLED, "dra.gpus_enabled", "resources.gpus.enabled of the chart: true, false", "kubernetes") \
	M(DRA_OVERRIDE, "dra.gpus_override", "gpuResourcesEnabledOverride: true, false", "kubernetes") \
	M(DRA_DRIVER_ROOT, "dra.driver_root", "nvidiaDriverRoot of the chart", "kubernetes") \
	M(DRA_CLAIM_STATE, "dra.claim", "STATE of a claim: pending, allocated,reserved, ...", "tables, kubernetes") \
	M(DRA_API_ABSENT, "dra.api_absent", "the server has no resource type resourceslices, deviceclasses or resourceclaims", "host") \
	M(DRA_API_VERSION, "dra.api_version", "apiVersion of a claim, class or slice: v1alpha3, v1beta1, v1beta2, v1", "kubernetes") \
	M(DRA_POD, "dra.pod", "STATUS of a DRA driver's Pod", "tables") \
	M(DRA_CDI_KIND, "dra.cdi_kind", "a CDI device of DRA: k8s.gpu.nvidia.com/claim", "runtime") \
	/* Versions of the control plane and others. */ \
	M(KUBERNETES_VERSION, "kubernetes.version", "server version, without the v", "kubernetes, tables, host") \
	M(KUBERNETES_BEFORE, "kubernetes.before", "it is older than: 1.10, 1.11, 1.20, 1.26, 1.32, 1.34", "combine") \
	M(HAMI_VERSION, "hami.version", "version of HAMi", "host, tables") \
	M(HAMI_POD, "hami.pod", "STATUS of a HAMi scheduler's or device plugin's Pod", "tables") \
	M(FEATURE_GATE, "feature_gate", "\"name=true|false\" of a feature-gates list", "kubernetes, host")
/* clang-format on */

enum fact_key {
#define FACT_NAME(name, key, says, teller) FACT_##name,
	FACTS(FACT_NAME)
#undef FACT_NAME
		FACT_MAX,
	FACT_INVALID = -22,
};

#define FACT_VALUE_MAX 192 /* bytes of a value, its terminator counted; more is cut */
#define FACT_TEXT_MAX  300 /* bytes of the line that is kept */
#define FACT_KEY_MAX   64  /* values of one key; what comes later is dropped */

/* Where a line stands; all of it stays the caller's. */
struct fact_place {
	const char *source;
	uint64_t line; /* from 1 */
	const char *text;
	size_t length;
};

struct fact {
	enum fact_key key;
	char *value; /* "" where the key says it all */
	char *source;
	uint64_t line;
	char *text; /* as it stood, cut: secrets and control characters are still in it */
};

struct facts; /* owns all strings of its facts */

struct facts *facts_new(void); /* NULL: no memory */
void facts_free(struct facts *facts);
DEFINE_CLEANUP(struct facts, facts_free)
#define autofacts cleanup(facts_freep) struct facts

/*
 * A key with the same value is kept once, where it was told first. VALUE NULL is "". Returns 0 or
 * -ENOMEM, and on failure changes nothing.
 */
int facts_tell(struct facts *facts, enum fact_key key, const char *value,
	       const struct fact_place *where);
size_t facts_count(const struct facts *facts);
const struct fact *facts_at(const struct facts *facts, size_t index); /* in order of telling */

/* CONDITION: "key" or "key=glob", without the '@'. The first that fits, or NULL. */
const struct fact *facts_match(const struct facts *facts, const char *condition);
/* The first of KEY whose value fits GLOB; GLOB NULL: any. */
const struct fact *facts_first(const struct facts *facts, enum fact_key key, const char *glob);

const char *fact_key_name(enum fact_key key);       /* "pod.gpu.many"; "invalid" */
const char *fact_key_says(enum fact_key key);       /* what it says and its values */
enum fact_key fact_key_find(const char *condition); /* up to '='; FACT_INVALID */
/* Whether "key" or "key=glob" names a key of the list. */
bool fact_condition_known(const char *condition);
