/* SPDX-License-Identifier: Apache-2.0 */
/* Causes in the link sharing. How to add one: rule.h. */
#include "doctor/rule.h"

const struct rule doctor_rules_sharing[] = {
	{ .code = "shared_request_over_one",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "maximum request size for shared resources is 1" },
	  .sure = { "@pod.gpu.many", "@plugin.fail_many=true", "@plugin.sharing=mps" },
	  .explains = { "no_healthy_devices", "insufficient_gpu", "devices_unavailable" },
	  .cause =
		  "The Pod asks for more than one replica of a shared GPU. Replicas are turns on "
		  "the same card, not more of it, and the plugin refuses more than one a container "
		  "(with MPS always, with time-slicing when failRequestsGreaterThanOne is set).",
	  .cure = { "Ask for exactly 1 of the shared resource in each container",
		    "For whole cards use nodes (or a plugin configuration, label "
		    "nvidia.com/device-plugin.config) without sharing" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/rm/rm.go" },
	{ .code = "replica_memory_shared",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "CUDA*out of memory" },
	  .any = { "@plugin.sharing=time*", "@node.label.shared", "@plugin.replicas",
		   "@node.resource=*gpu.shared" },
	  .absent = { "@plugin.sharing=mps", "HAMI-core" },
	  .sure = { "@card.memory_full", "CUDA out of memory", "CUDA_ERROR_OUT_OF_MEMORY" },
	  .explains = { "cuda_out_of_memory", "model_needs_more_cache" },
	  .cause = "The GPU is shared by time-slicing. All replicas see the whole memory of the "
		   "same card and nothing divides it, so one Pod runs out of what another took.",
	  .cure = { "nvidia-smi --query-compute-apps=pid,used_memory,name --format=csv (on the "
		    "node)",
		    "Use fewer replicas, or a kind of sharing with limits: MIG, MPS (it divides "
		    "memory by the replicas), memory slices (gpupool.io/gpu-memory)" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing" },
	{ .code = "replicas_renamed",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@node.resource=*/gpu.shared" },
	  .any = { "Insufficient nvidia.com/gpu", "Insufficient*/gpu" },
	  .absent = { "Insufficient nvidia.com/gpu.shared", "@pod.resource=*/gpu.shared",
		      "@pod.runs_with_gpu" },
	  .sure = { "@plugin.renamed", "renameByDefault: true" },
	  .explains = { "insufficient_gpu", "node_without_gpu", "gpu_resource_not_on_any_node",
			"gpus_all_held" },
	  .cause = "The node's replicas are advertised as nvidia.com/gpu.shared (renameByDefault), "
		   "and the Pod asks for nvidia.com/gpu, of which there is none.",
	  .cure = { "Ask for nvidia.com/gpu.shared: 1",
		    "Or set renameByDefault: false in the plugin's configuration" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/api/config/v1/"
		    "replicas.go" },
	{ .code = "mps_root_missing",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "using MPS requires --mps-root", "requires --mps-root to be specified" },
	  .sure = { "@plugin.sharing=mps", "sharing: mps:" },
	  .explains = { "plugin_config_invalid", "plugin_flag_invalid", "node_without_gpu",
			"mps_daemon_not_ready" },
	  .cause = "The plugin's configuration shares by MPS, but the plugin was started without "
		   "the MPS folder (--mps-root). The static manifest has neither that flag nor the "
		   "MPS control daemon; only the Helm chart brings both.",
	  .cure = { "helm upgrade -i nvdp nvdp/nvidia-device-plugin -n nvidia-device-plugin "
		    "--create-namespace --set-file config.map.config=CONFIG.yaml",
		    "Or set MPS_ROOT=/run/nvidia/mps with that host folder mounted, and run the "
		    "mps-control-daemon DaemonSet beside it" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/cmd/"
		    "nvidia-device-plugin/main.go" },
	{ .code = "mps_selinux_refused",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "error setting SELinux context", "lsetxattr /mps*permission denied",
		   "lsetxattr*/pipe: permission denied" },
	  .sure = { "Failed to start MPS daemon", "Failed to start one or more MPS",
		    "@host.selinux=enforcing" },
	  .explains = { "mps_binary_missing", "mps_daemon_not_ready", "selinux_denied" },
	  .cause = "The MPS control daemon wants to give its pipe folder an SELinux label and the "
		   "node's policy refuses it (usual on immutable systems). So MPS never starts "
		   "there.",
	  .cure = { "Use a release of the node's operating system that supports MPS by its own "
		    "settings (Bottlerocket has some since late 2025)",
		    "Or a node whose policy lets a privileged container relabel, or time-slicing "
		    "in place of MPS" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/cmd/mps-control-daemon/"
		    "mps/daemon.go" },
	{ .code = "mps_binary_missing",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "nvidia-cuda-mps-control: executable file not found",
		   "nvidia-cuda-mps-control: command not found",
		   "nvidia-cuda-mps-control: not found", "nvidia-cuda-mps-server: No such file" },
	  .sure = { "failed to start NVIDIA MPS command", "Failed to start MPS daemon" },
	  .explains = { "mps_daemon_not_ready" },
	  .cause = "The program nvidia-cuda-mps-control is not where the MPS daemon runs. It comes "
		   "from the driver's package by injection; that container got no driver files, or "
		   "the node's driver was installed without it.",
	  .cure = { "ls /usr/bin/nvidia-cuda-mps-* (on the node)",
		    "Install the driver's compute utilities (Debian, Ubuntu: "
		    "nvidia-compute-utils-BRANCH; nvidia-cuda-mps), and run the daemon under the "
		    "nvidia runtime" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/cmd/mps-control-daemon/"
		    "mps/daemon.go" },
	{ .code = "mps_with_mig",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "--mig-strategy=mixed is not supported with MPS",
		   "sharing using MPS is not supported for MIG devices",
		   "MPS sharing is not supported for MIG devices",
		   "MPS is not yet supported when using featureGates.DynamicMIG",
		   "not supported for mig devices" },
	  .sure = { "@plugin.sharing=mps", "@card.mig=enabled", "@plugin.mig_strategy=mixed" },
	  .explains = { "mps_daemon_not_ready", "plugin_flag_invalid", "plugin_config_invalid" },
	  .cause = "MPS and MIG are configured for the same cards, and the plugin serves MPS only "
		   "on whole cards.",
	  .cure = { "Turn MIG off on the cards that MPS should share (nvidia-smi -mig 0), or share "
		    "MIG instances by time-slicing" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/rm/rm.go" },
	{ .code = "mps_too_many_replicas",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "maximum allowed replicas exceeded", "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED",
		   "cudaErrorMpsMaxClientsReached", "maximum number of clients allowed on MPS",
		   "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED" },
	  .sure = { "@plugin.replicas", "invalid MPS configuration" },
	  .explains = { "mps_daemon_not_ready", "plugin_config_invalid" },
	  .cause = "More clients are wanted on one card than MPS serves (48 on Volta and later, 16 "
		   "before; the plugin counts a V100 among the older).",
	  .cure = { "Lower sharing.mps.resources.replicas to 48 (16 on older cards) or less",
		    "Close idle clients; a client is every process with a CUDA context" },
	  .source = "https://docs.nvidia.com/deploy/mps/index.html" },
	{ .code = "mps_daemon_not_ready",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "error waiting for MPS daemon", "error checking MPS daemon health",
		   "MPS daemon is not healthy", "CUDA_ERROR_MPS_SERVER_NOT_READY",
		   "cudaErrorMpsServerNotReady" },
	  .absent = { "--mps-root", "executable file not found" },
	  .sure = { "@mps.daemon_absent", "@mps.pod=CrashLoopBackOff", "nvidia.com/mps.capable" },
	  .explains = { "node_without_gpu", "plugin_no_devices", "mps_client_cannot_connect" },
	  .cause = "The plugin shares by MPS and its control daemon is not running on that node. "
		   "The daemon's DaemonSet goes only to nodes with the label "
		   "nvidia.com/mps.capable=true.",
	  .cure = { "kubectl get pods -A -o wide | grep mps-control-daemon; kubectl get node NODE "
		    "-L nvidia.com/mps.capable",
		    "kubectl label node NODE nvidia.com/mps.capable=true (GPU feature discovery "
		    "sets it), and look at that Pod's log" },
	  .source =
		  "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/plugin/mps.go" },
	{ .code = "mps_client_cannot_connect",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "MPS client failed to connect to the MPS control daemon",
		   "CUDA_ERROR_MPS_CONNECTION_FAILED", "cudaErrorMpsConnectionFailed",
		   "remote procedural call between the MPS server and the MPS client failed",
		   "CUDA_ERROR_MPS_RPC_FAILURE", "cudaErrorMpsRpcFailure",
		   "Cannot find MPS control daemon process" },
	  .sure = { "@pod.mps_pipe", "CUDA_MPS_PIPE_DIRECTORY" },
	  .explains = { "cuda_devices_busy", "cuda_unknown_error" },
	  .cause = "The program is told to use MPS (a pipe folder is set or mounted), and no MPS "
		   "server answers there: it died, runs as another user, or the folder is another "
		   "one.",
	  .cure = { "echo get_server_list | nvidia-cuda-mps-control (on the node, with the same "
		    "CUDA_MPS_PIPE_DIRECTORY)",
		    "Restart the control daemon's Pod, then the clients; client and server must "
		    "share the IPC namespace and /dev/shm" },
	  .source = "https://docs.nvidia.com/deploy/mps/index.html" },
	{ .code = "compute_mode_exclusive",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "busy or unavailable" },
	  .any = { "@card.compute_mode=exclusive*", "EXCLUSIVE_PROCESS", "Exclusive_Process",
		   "E. Process", "CUDA_MPS_PIPE_DIRECTORY" },
	  .absent = { "MPS client failed to connect" },
	  .sure = { "@card.compute_mode=exclusive*" },
	  .explains = { "cuda_devices_busy" },
	  .cause = "The card's compute mode is Exclusive_Process: one process only, or the MPS "
		   "server. A second program without MPS is turned away.",
	  .cure = { "nvidia-smi -q -d COMPUTE",
		    "nvidia-smi -c DEFAULT (left over from MPS), or give the container MPS: "
		    "CUDA_MPS_PIPE_DIRECTORY and its mounts" },
	  .source = "https://docs.nvidia.com/deploy/mps/index.html" },
	{ .code = "mig_types_differ_for_single",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "More than one MIG device type present on node", "-MIG-INVALID" },
	  .sure = { "@plugin.mig_strategy=single", "@card.mig_profiles_differ", "strategy: single",
		    "Invalid configuration detected for mig-strategy=single" },
	  .explains = { "node_without_gpu", "plugin_no_devices", "mig_config_failed",
			"mig_no_instances" },
	  .cause = "The plugin runs with the MIG strategy 'single', which wants the same profile "
		   "on every card of the node, and the node has instances of different sizes.",
	  .cure = { "nvidia-smi mig -lgi",
		    "kubectl label node NODE nvidia.com/mig.config=all-1g.5gb --overwrite (one "
		    "profile for all), or use the strategy mixed" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/rm/"
		    "device_map.go" },
	{ .code = "mig_on_some_cards_only",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "all devices on the node must be configured with the same migEnabled value" },
	  .sure = { "@card.mig_mixed", "@plugin.mig_strategy=single", "strategy: single" },
	  .explains = { "mixed_models", "node_without_gpu", "plugin_no_devices" },
	  .cause = "The MIG strategy is 'single', and MIG is on for some of the node's cards and "
		   "off for others. That strategy wants all or none.",
	  .cure = { "nvidia-smi --query-gpu=index,mig.mode.current --format=csv",
		    "Turn MIG on for all cards (nvidia-smi -mig 1), or use the strategy mixed" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/rm/"
		    "device_map.go" },
	{ .code = "mig_no_instances",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "has no MIG devices configured", "@card.mig_empty",
		   "but no configured MIG devices", "No GPU instances found: Not Found" },
	  .absent = { "More than one MIG device type" },
	  .sure = { "@card.mig_empty",
		    "At least one device with migEnabled=true was not configured correctly",
		    "No devices found. Waiting indefinitely", "@host.command=reboot",
		    "no CUDA-capable device is detected" },
	  .explains = { "plugin_no_devices", "node_without_gpu", "no_cuda_device",
			"mig_config_failed" },
	  .cause = "MIG is on for a card, and no instance was made on it. Such a card offers "
		   "nothing, neither itself nor parts. Instances do not survive a reboot.",
	  .cure = { "nvidia-smi mig -lgi",
		    "nvidia-smi mig -cgi 19,19,19,19,19,19,19 -C (seven 1g), or label the node: "
		    "nvidia.com/mig.config=all-1g.5gb",
		    "Or turn MIG off: nvidia-smi -mig 0" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/rm/"
		    "device_map.go" },
	{ .code = "mig_reset_refused",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "GPUs could not be reset", "error resetting all GPUs",
		   "could not be reset because",
		   "mode is in pending enable state*In use by another client",
		   "mode is in pending disable state*In use by another client",
		   ".0: In use by another client", "being used by one or more other processes" },
	  .sure = { "@driver.module=nvidia_drm", "@host.command=mig_mode", "nvidia-mig-parted" },
	  .explains = { "mig_config_failed", "mig_mode_pending", "driver_module_in_use",
			"card_needs_reset" },
	  .cause = "Changing the MIG mode resets the GPU, and something still has it open, so the "
		   "reset is refused: a process, a monitoring daemon, or the loaded module "
		   "nvidia_drm, which counts as a client of every card.",
	  .cure = { "fuser -v /dev/nvidia*; lsmod | grep nvidia_drm",
		    "systemctl stop nvidia-persistenced nvsm nvidia-dcgm dcgm-exporter; modprobe "
		    "-r nvidia_drm nvidia_modeset",
		    "nvidia-mig-parted apply (again), or nvidia-smi --gpu-reset",
		    "modprobe nvidia_drm; start the services again" },
	  .source = "https://github.com/NVIDIA/mig-parted/issues/181" },
	{ .code = "mig_mode_pending",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "is in pending enable state", "is in pending disable state", "@card.mig=pending",
		   "mig mode enable is pending",
		   "MIG mode change did not take effect after rebooting" },
	  .sure = { "@card.mig=pending", "Reboot the system or try nvidia-smi --gpu-reset" },
	  .explains = { "mig_config_failed", "mig_no_instances", "card_needs_reset" },
	  .cause = "The MIG mode was switched and the switch waits for a reset of the GPU (in a "
		   "virtual machine: for its reboot). Until then the old mode holds.",
	  .cure = { "nvidia-smi --query-gpu=index,mig.mode.current,mig.mode.pending --format=csv",
		    "nvidia-smi --gpu-reset -i GPU with no client on it, or reboot the machine" },
	  .source = "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/index.html" },
	{ .code = "mig_not_possible",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "cannot set MIG mode on non MIG-capable GPU",
		   "cannot set MIG config on non MIG-capable GPU",
		   "Unable to enable MIG Mode*Not Supported", "MIG mode is not supported",
		   "hardware does not support MIG" },
	  .sure = { "@card.mig_unable", "@node.label.mig_capable=false", "@card.kind=geforce" },
	  .explains = { "mig_config_failed", "mig_mode_pending" },
	  .cause = "MIG was asked for on a card that has none. Only A100, A30, H100, H200, B200 "
		   "and a few others can be divided so.",
	  .cure = { "nvidia-smi --query-gpu=name,mig.mode.current --format=csv ([N/A]: no MIG)",
		    "Use another kind of sharing there (time-slicing, MPS, memory slices), and "
		    "take that node out of the MIG configuration" },
	  .source = "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/index.html" },
	{ .code = "mig_config_unknown",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "selected mig-config not present",
		   "Unable to validate the selected MIG configuration" },
	  .sure = { "@node.label.mig_state=failed", "error selecting MIG config",
		    "@node.label.mig_config" },
	  .explains = { "mig_config_failed" },
	  .cause = "The node's label nvidia.com/mig.config names a layout that the MIG manager's "
		   "ConfigMap does not have.",
	  .cure = { "kubectl get node NODE -L nvidia.com/mig.config; kubectl get cm -n "
		    "gpu-operator default-mig-parted-config -o yaml | grep -E '^      "
		    "[a-z0-9.-]+:'",
		    "kubectl label node NODE nvidia.com/mig.config=NAME --overwrite, with a name "
		    "from that list" },
	  .source = "https://github.com/NVIDIA/mig-parted/blob/main/cmd/nvidia-mig-parted/apply/"
		    "apply.go" },
	{ .code = "mig_instance_held",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Unable to destroy GPU instance*In use by another client",
		   "Unable to destroy a GPU instance*In use by another client",
		   "Unable to destroy compute instance*In use by another client",
		   "Unable to destroy a compute instance*In use by another client",
		   "Unable to create a GPU instance*In use by another client",
		   "error clearing MigConfig*In use",
		   "exceeded maximum attempts to clear MigConfig",
		   "Failed to destroy GPU instances: In use by another client" },
	  .sure = { "@node.label.mig_state=failed", "@card.process", "Failed to destroy",
		    "Failed to create GPU instances" },
	  .explains = { "mig_config_failed", "mig_reset_refused" },
	  .cause = "A MIG instance (or the card) is in use by a process, so the layout cannot be "
		   "changed: instances go only when nobody is on them.",
	  .cure = { "nvidia-smi (which processes, with GI and CI); kubectl get pods -A "
		    "--field-selector spec.nodeName=NODE",
		    "End those Pods (kubectl drain NODE --ignore-daemonsets), then change the "
		    "layout" },
	  .source = "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/index.html" },
	{ .code = "mig_layout_does_not_fit",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Unable to create a GPU instance*Insufficient Resources",
		   "Failed to create GPU instances: Insufficient Resources",
		   "cannot configure as a subset of any valid configuration",
		   "Unable to create a GPU instance*Invalid Argument",
		   "Failed to create GPU instances: Invalid Argument",
		   "error attempting multiple config orderings" },
	  .sure = { "@node.label.mig_state=failed", "Successfully created GPU instance",
		    "all orderings failed" },
	  .explains = { "mig_config_failed" },
	  .cause = "The wanted instances do not fit on the card: too many slices, a profile that "
		   "this card does not have, or small ones placed first that leave no room for a "
		   "large one.",
	  .cure = { "nvidia-smi mig -lgip; nvidia-smi mig -lgipp (possible places)",
		    "nvidia-smi mig -dci; nvidia-smi mig -dgi; create the largest profile first" },
	  .source = "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/index.html" },
	{ .code = "mig_count_stale",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@node.mig_stale" },
	  .any = { "@host.command=mig_create", "@host.command=mig_destroy",
		   "@host.command=mig_mode", "@node.label.mig_state=success",
		   "Insufficient nvidia.com/mig-", "Insufficient nvidia.com/gpu" },
	  .absent = { "@node.label.mig_state=pending", "@node.label.mig_state=rebooting" },
	  .explains = { "insufficient_gpu", "gpus_all_held", "node_without_gpu" },
	  .cause = "The MIG layout was changed and the node still advertises the old one: the "
		   "device plugin looks at the cards only when it starts.",
	  .cure = { "nvidia-smi -L; kubectl get node NODE -o jsonpath='{.status.allocatable}'",
		    "kubectl delete pod -n NAMESPACE -l app=nvidia-device-plugin-daemonset "
		    "--field-selector spec.nodeName=NODE" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/992" },
	{ .code = "hami_count_over_cards",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@pod.gpu.many" },
	  .any = { "node unregistered", "NodeInsufficientDevice",
		   "request devices nums cannot exceed the total number of devices" },
	  .sure = { "hami-scheduler", "No preemption victims found for incoming pod",
		    "NodeInsufficientDevice", "@hami.version", "@pod.hami" },
	  .explains = { "insufficient_gpu", "hami_no_device_chosen", "hami_node_has_fewer_cards",
			"hami_node_not_registered" },
	  .cause = "In this vGPU scheme the count means distinct physical cards. A container that "
		   "asks for more than the node has cards never fits, however many replicas the "
		   "node advertises. 'node unregistered' speaks of the nodes without GPUs.",
	  .cure = { "Ask for nvidia.com/gpu: 1 and size it: nvidia.com/gpumem (MiB), "
		    "nvidia.com/gpucores (percent)",
		    "Or use a node with that many cards" },
	  .source = "https://github.com/Project-HAMi/HAMi/issues/620" },
	{ .code = "hami_node_has_fewer_cards",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "NodeInsufficientDevice",
		   "request devices nums cannot exceed the total number of devices" },
	  .sure = { "hami-scheduler", "@pod.gpu.many" },
	  .explains = { "hami_no_device_chosen", "insufficient_gpu" },
	  .cause = "The container asks for more cards than the node has. In HAMi the count means "
		   "distinct physical cards, not shares.",
	  .cure = { "Ask for as many as the node has cards, usually 1, and size them by "
		    "nvidia.com/gpumem and nvidia.com/gpucores" },
	  .source =
		  "https://github.com/Project-HAMi/HAMi/blob/master/pkg/device/common/common.go" },
	{ .code = "hami_node_not_registered",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "node unregistered" },
	  .any = { "@hami.pod=CrashLoopBackOff", "@hami.pod=Pending",
		   "hami-device-plugin*CrashLoopBackOff", "@plugin.absent",
		   "Failed to register annotation", "hami-device-plugin*ImagePullBackOff" },
	  .absent = { "@pod.gpu.many" },
	  .explains = { "hami_no_device_chosen", "insufficient_gpu" },
	  .cause = "HAMi's scheduler knows no devices of the GPU nodes: its device plugin does not "
		   "run there (its DaemonSet goes to nodes with the label gpu=on) and so did not "
		   "register them.",
	  .cure = { "kubectl get pods -A -o wide | grep hami-device-plugin; kubectl get node NODE "
		    "-L gpu",
		    "kubectl label node NODE gpu=on",
		    "kubectl get node NODE -o yaml | grep hami.io/node-nvidia-register (empty: "
		    "look at the plugin's log)" },
	  .source = "https://github.com/Project-HAMi/HAMi#label-your-nodes" },
	{ .code = "hami_memory_short",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "CardInsufficientMemory", "card Insufficient remaining memory" },
	  .sure = { "hami-scheduler", "FilteringFailed", "@pod.hami" },
	  .explains = { "hami_no_device_chosen", "insufficient_gpu" },
	  .cause = "No card has as much memory left as the container asks for (nvidia.com/gpumem "
		   "in MiB a card; without it, the whole card).",
	  .cure = { "kubectl get node NODE -o "
		    "jsonpath='{.metadata.annotations.hami\\\\.io/node-nvidia-register}'",
		    "Ask for less nvidia.com/gpumem, or end a Pod that holds memory" },
	  .source =
		  "https://github.com/Project-HAMi/HAMi/blob/master/pkg/device/common/common.go" },
	{ .code = "hami_cores_short",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "CardInsufficientCore", "card insufficient remaining core",
		   "ExclusiveDeviceAllocateConflict",
		   "the container wants exclusive access to an entire card" },
	  .sure = { "hami-scheduler", "FilteringFailed", "@pod.hami" },
	  .explains = { "hami_no_device_chosen", "insufficient_gpu" },
	  .cause =
		  "No card has as much compute left as the container asks for. 100 percent of "
		  "nvidia.com/gpucores means a card for itself, and every card has somebody on it.",
	  .cure = { "Ask for less nvidia.com/gpucores, or none to share what is idle",
		    "Or wait until a card is empty" },
	  .source =
		  "https://github.com/Project-HAMi/HAMi/blob/master/pkg/device/common/common.go" },
	{ .code = "hami_replicas_used_up",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "CardTimeSlicingExhausted", "CardComputeUnitsExhausted" },
	  .sure = { "hami-scheduler", "FilteringFailed", "@pod.hami" },
	  .explains = { "hami_no_device_chosen", "insufficient_gpu" },
	  .cause = "Every card carries as many Pods as HAMi allows on it (deviceSplitCount, 10 by "
		   "default), whatever memory is left.",
	  .cure = { "Raise devicePlugin.deviceSplitCount of the chart and restart the device "
		    "plugin, or end Pods" },
	  .source =
		  "https://github.com/Project-HAMi/HAMi/blob/master/pkg/device/common/common.go" },
	{ .code = "hami_card_filtered_out",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "CardTypeMismatch", "CardUuidMismatch", "card type mismatch",
		   "CardNotFoundCustomFilterRule" },
	  .sure = { "hami-scheduler", "use-gputype", "use-gpuuuid", "FilteringFailed" },
	  .explains = { "hami_no_device_chosen", "insufficient_gpu" },
	  .cause = "The Pod names cards by type or UUID in its annotations (or the node keeps "
		   "cards back), and none of the node's cards passes that.",
	  .cure = { "kubectl get pod POD -o yaml | grep -E 'use-gputype|nouse-gputype|use-gpuuuid'",
		    "Correct the annotation; the types are in the node's annotation "
		    "hami.io/node-nvidia-register" },
	  .source =
		  "https://github.com/Project-HAMi/HAMi/blob/master/pkg/device/common/common.go" },
	{ .code = "hami_card_unhealthy",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "CardNotHealth", "Device is unhealthy, cleaning up node" },
	  .sure = { "hami-scheduler", "@kernel.xid" },
	  .explains = { "hami_no_device_chosen", "insufficient_gpu" },
	  .cause = "HAMi's device plugin reports the card as unhealthy, so its scheduler passes it "
		   "by.",
	  .cure = { "nvidia-smi; dmesg | grep Xid (on the node)",
		    "kubectl delete pod -n kube-system -l "
		    "app.kubernetes.io/component=hami-device-plugin --field-selector "
		    "spec.nodeName=NODE once the card is good" },
	  .source =
		  "https://github.com/Project-HAMi/HAMi/blob/master/pkg/device/common/common.go" },
	{ .code = "hami_quota_full",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "ResourceQuotaNotFit",
		   "vgpu.hami.io denied the request: exceeding resource quota",
		   "denied the request: exceeding resource quota" },
	  .sure = { "@seen.quota", "hami-scheduler" },
	  .explains = { "hami_no_device_chosen", "insufficient_gpu" },
	  .cause = "The namespace's quota on GPU memory or compute (HAMi counts "
		   "limits.nvidia.com/gpumem and gpucores) does not hold this Pod as well.",
	  .cure = { "kubectl describe quota -n NAMESPACE",
		    "Ask for less, end Pods, or raise limits.nvidia.com/gpumem in the quota" },
	  .source = "https://github.com/Project-HAMi/HAMi/blob/master/pkg/scheduler/webhook.go" },
	{ .code = "hami_privileged",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "vgpu.hami.io denied the request: container*is privileged",
		   "Denying admission as container*is privileged" },
	  .sure = { "@pod.privileged" },
	  .cause = "The Pod asks for a vGPU and is privileged. A privileged container sees all "
		   "cards, so HAMi refuses it.",
	  .cure = { "Remove securityContext.privileged, or leave the Pod out of HAMi: label "
		    "hami.io/webhook: ignore and a whole card" },
	  .source = "https://github.com/Project-HAMi/HAMi/blob/master/pkg/scheduler/webhook.go" },
	{ .code = "hami_node_locked",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "has been locked within", "failed to set node lock", "nodelock*contention",
		   "node lock contention", "Failed to lock node" },
	  .sure = { "hami-scheduler", "hami.io/mutex.lock", "FailedBinding", "BindingFailed" },
	  .explains = { "hami_no_device_chosen" },
	  .cause = "HAMi binds one Pod at a time on a node and marks the node with a lock. The one "
		   "that holds it has not finished (or died), so the others wait up to five "
		   "minutes.",
	  .cure = { "kubectl get node NODE -o yaml | grep hami.io/mutex.lock",
		    "Look at the device plugin's log on that node; if nothing is being bound: "
		    "kubectl annotate node NODE hami.io/mutex.lock-",
		    "A newer HAMi retries faster" },
	  .source = "https://github.com/Project-HAMi/HAMi/blob/master/pkg/util/nodelock/"
		    "nodelock.go" },
	{ .code = "hami_old_release_lost_devices",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "requested number of devices unavailable for" },
	  .any = { "@hami.version", "@pod.hami", "hami-device-plugin", "hami-scheduler", "hami.io/",
		   "@plugin.kind=hami", "volcano.sh/vgpu" },
	  .absent = { "@plugin.two", "@node.gpu.unhealthy" },
	  .explains = { "devices_unavailable", "no_healthy_devices", "two_plugins",
			"unhealthy_never_recovers", "plugin_endpoint_stopped" },
	  .cause = "The kubelet's devices and the vGPU plugin's book disagree: the plugin (an old "
		   "release does this) kept devices as taken that no Pod has, so the kubelet finds "
		   "none available.",
	  .cure = { "Upgrade HAMi (2.5.1 is reported good): helm upgrade hami hami-charts/hami -n "
		    "kube-system",
		    "Until then restart its device plugin on the node: kubectl delete pod -n "
		    "kube-system -l app.kubernetes.io/component=hami-device-plugin "
		    "--field-selector spec.nodeName=NODE" },
	  .source = "https://github.com/Project-HAMi/HAMi/issues/596" },
	{ .code = "hami_memory_limit",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "HAMI-core ERROR*OOM", "HAMI-core*Device # OOM", "allocator.c:#)]: Device # OOM",
		   "4pdvGPU ERROR*OOM" },
	  .sure = { "CUDA_DEVICE_MEMORY_LIMIT", "@pod.hami" },
	  .explains = { "cuda_out_of_memory", "cuda_unknown_error", "replica_memory_shared" },
	  .cause = "The container reached the memory that was asked for in the Pod "
		   "(nvidia.com/gpumem); HAMi's library refuses what goes beyond. The card itself "
		   "has more.",
	  .cure = { "env | grep CUDA_DEVICE_MEMORY_LIMIT; nvidia-smi (in the container)",
		    "Ask for more nvidia.com/gpumem (contexts and NCCL buffers count), or make the "
		    "program smaller",
		    "If the number in the message is absurd (near 2^64) it is a known counter "
		    "fault: upgrade HAMi" },
	  .source =
		  "https://github.com/Project-HAMi/HAMi-core/blob/main/src/allocator/allocator.c" },
	{ .code = "hami_library_missing",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "libvgpu.so*cannot be preloaded", "libvgpu.so: cannot open shared object file",
		   "/usr/local/vgpu*no such file or directory", "mount*libvgpu.so*no such file" },
	  .sure = { "ld.so.preload", "@pod.hami" },
	  .cause = "HAMi's limiting library libvgpu.so is not on the node where the container "
		   "expects it, so it is not loaded and limits do not hold.",
	  .cure = { "ls -l /usr/local/vgpu (on the node)",
		    "Restart HAMi's device plugin Pod on that node (its start copies the library); "
		    "on read-only systems set devicePlugin.libPath to a writable folder" },
	  .source = "https://github.com/Project-HAMi/HAMi/issues/2017" },
	{ .code = "volcano_vgpu_over_cards",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "no enough gpu cards on node", "not enough gpu cards" },
	  .sure = { "volcano.sh/vgpu-number", "@pod.scheduler=volcano" },
	  .explains = { "insufficient_gpu", "gang_incomplete", "volcano_vgpu_does_not_fit" },
	  .cause = "The container asks for more cards (vgpu-number) than the node has. The number "
		   "counts distinct physical cards, not the replicas that the node advertises.",
	  .cure = { "Set volcano.sh/vgpu-number: 1 and size it with volcano.sh/vgpu-memory and "
		    "vgpu-cores, or use a node with more cards" },
	  .source = "https://github.com/volcano-sh/volcano/issues/2907" },
	{ .code = "volcano_vgpu_does_not_fit",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "not enough gpu fitted on this node", "hami-vgpuDeviceSharing error",
		   "vgpuDeviceSharing error", "deviceSharing error" },
	  .sure = { "volcano.sh/vgpu", "@pod.scheduler=volcano" },
	  .explains = { "insufficient_gpu", "gang_incomplete" },
	  .cause = "No card of the node has enough memory, compute or places left for the vGPU "
		   "that the Pod asks for.",
	  .cure = { "kubectl get node NODE -o yaml | grep volcano.sh/node-vgpu-register",
		    "Ask for less volcano.sh/vgpu-memory or vgpu-cores, or end a Pod on that "
		    "node" },
	  .source = "https://github.com/volcano-sh/volcano/blob/master/pkg/scheduler/api/devices/"
		    "nvidia/vgpu/utils.go" },
	{ .code = "volcano_vgpu_not_set_up",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "node not initialized with device", "not initialized with devicehamivgpu",
		   "not initialized with devicegpushare", "Insufficient volcano.sh/vgpu-number",
		   "Insufficient volcano.sh/vgpu-memory" },
	  .absent = { "no enough gpu cards on node" },
	  .sure = { "@pod.scheduler=volcano", "VGPUEnable" },
	  .explains = { "insufficient_gpu", "gang_incomplete" },
	  .cause = "Volcano's scheduler has no vGPU devices for the node: the plugin deviceshare "
		   "is not enabled in its configuration, or the volcano-vgpu-device-plugin does "
		   "not run there.",
	  .cure = { "kubectl get cm -n volcano-system volcano-scheduler-configmap -o yaml | grep "
		    "-A4 deviceshare (deviceshare.VGPUEnable: true)",
		    "kubectl get pods -n kube-system -o wide | grep volcano-device-plugin",
		    "kubectl rollout restart deploy/volcano-scheduler -n volcano-system after a "
		    "change" },
	  .source = "https://github.com/volcano-sh/volcano/issues/4416" },
	{ .code = "gpushare_memory_short",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Insufficient aliyun.com/gpu-mem", "Insufficient GPU Memory in one device" },
	  .sure = { "aliyun.com/gpu-mem", "gpushare" },
	  .explains = { "insufficient_gpu" },
	  .cause = "No single card has as much memory left as the Pod asks for (aliyun.com/gpu-mem "
		   "counts GiB on one card). Free memory on several cards does not add up.",
	  .cure = { "kubectl inspect gpushare -d",
		    "Ask for less aliyun.com/gpu-mem, or end a Pod on that card" },
	  .source = "https://github.com/AliyunContainerService/gpushare-scheduler-extender/blob/"
		    "master/pkg/scheduler/gpushare-predicate.go" },
	{ .code = "kai_sharing_off",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "with gpu sharing request, while GPU sharing is disabled",
		   "while GPU sharing is disabled" },
	  .sure = { "gpu-fraction", "kai-scheduler" },
	  .cause = "The Pod asks for a part of a GPU (gpu-fraction or gpu-memory), and this KAI "
		   "installation has GPU sharing switched off.",
	  .cure = { "helm upgrade kai-scheduler ... --set global.gpuSharing=true" },
	  .source =
		  "https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/gpu-sharing/README.md" },
	{ .code = "vgpu_unlicensed",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .slow = true,
	  .any = { "@card.licence=unlicensed", "vGPU Software Licensed Product*Unlicensed",
		   "License Status*: Unlicensed", "Failed to acquire license from",
		   "Valid GRID license not found", "Unable to acquire*license*nvidia-gridd",
		   "nvidia-gridd*Failed to acquire" },
	  .sure = { "@card.licence=unlicensed", "nvidia-gridd", "@card.kind=vgpu" },
	  .cause = "The virtual GPU of this machine has no licence. After some minutes the driver "
		   "lowers its frame rate and then its clocks and refuses further CUDA contexts.",
	  .cure = { "nvidia-smi -q | grep -i -A2 license; journalctl -u nvidia-gridd -n 30",
		    "Put the client token into /etc/nvidia/ClientConfigToken, set FeatureType in "
		    "/etc/nvidia/gridd.conf",
		    "systemctl restart nvidia-gridd" },
	  .source = "https://docs.nvidia.com/vgpu/latest/grid-licensing-user-guide/index.html" },
	{ .code = "sharing_config_not_read",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "sharing: {timeSlicing: {}", "@plugin.replicas" },
	  .any = { "Insufficient nvidia.com/gpu", "nvidia-device-plugin.yml" },
	  .absent = { "maximum request size for shared resources", "@node.label.shared" },
	  .explains = { "gpus_all_held", "insufficient_gpu", "card_believed_shared" },
	  .cause = "A configuration for time-slicing exists, and the running plugin has none (its "
		   "log prints an empty sharing.timeSlicing): it is the static manifest, or its "
		   "chart points to another ConfigMap, so nothing is shared.",
	  .cure = { "kubectl get ds -A -o yaml | grep -E "
		    "'image:.*device-plugin|CONFIG_FILE|configMap' -A2",
		    "Delete the static DaemonSet and install the chart with the file: helm upgrade "
		    "-i nvdp nvdp/nvidia-device-plugin -n nvidia-device-plugin --set "
		    "config.name=CONFIGMAP (or --set-file config.map.config=FILE)" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/615" },
	{ .code = "too_many_devices_for_grpc",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "grpc: received message larger than max",
		   "trying to send message larger than max",
		   "message larger than max (# vs. 4194304)" },
	  .sure = { "ListAndWatch ended unexpectedly", "volcano.sh/vgpu-memory",
		    "aliyun.com/gpu-mem" },
	  .explains = { "plugin_endpoint_stopped", "plugin_stream_lost", "insufficient_gpu",
			"volcano_vgpu_not_set_up", "node_without_gpu" },
	  .cause = "The vGPU plugin advertises a device for every MiB (or so) of memory, and the "
		   "list is larger than the 4 MiB that the kubelet takes. It drops the list, so "
		   "the resource stays at 0.",
	  .cure = { "Use a larger unit: --gpu-memory-factor=10 or deviceConfig gpuMemoryFactor "
		    "(volcano-vgpu), --memory-unit=GiB (gpushare); at most about 60000 devices a "
		    "node",
		    "Restart the plugin and write requests in the new unit" },
	  .source = "https://github.com/Project-HAMi/volcano-vgpu-device-plugin/issues/99" },
	{ .code = "mig_profile_name_differs",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Unsupported MIG Device specified*expected*instead",
		   "MIG profile*not found on this GPU", "mig: invalid profile",
		   "Error getting GPU instance profile info for*ERROR_NOT_SUPPORTED" },
	  .sure = { "@node.label.mig_state=failed", "nvidia-mig-manager",
		    "@node.label.mig_config" },
	  .explains = { "mig_config_failed", "mig_config_unknown", "mig_layout_does_not_fit" },
	  .cause = "The layout names a MIG profile that this card has under another name. The "
		   "name's memory is worked out from what the driver reports, which some drivers "
		   "and cards round in another way (7g.79gb for 7g.80gb).",
	  .cure = { "nvidia-smi mig -lgip (the names on this node)",
		    "Use a layout with that name: own ConfigMap for the MIG manager "
		    "(migManager.config.name), or a newer gpu-operator and driver" },
	  .source = "https://github.com/NVIDIA/gpu-operator/issues/351" },
	{ .code = "gpu_manager_chose_another_card",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Nvidia node mismatch for pod", "candidate pod*is not correct",
		   "pick up:*predicate: /dev/" },
	  .sure = { "tencent.com/vcuda", "UnexpectedAdmissionError" },
	  .explains = { "no_healthy_devices", "devices_unavailable" },
	  .cause = "gpu-manager on the node and its scheduler extender (gpu-admission) chose "
		   "different cards for the Pod, and it is refused. The extender's book is out of "
		   "step, or Pods went past it.",
	  .cure = { "kubectl get pods -A --field-selector spec.nodeName=NODE -o yaml | grep "
		    "tencent.com/predicate-gpu-idx",
		    "Delete the failed Pods; restart gpu-admission and gpu-manager; let all GPU "
		    "Pods go through that extender" },
	  .source = "https://github.com/tkestack/gpu-manager/blob/master/pkg/services/allocator/"
		    "nvidia/allocator.go" },
	{ .code = "hami_core_lock_dead",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Fail to lock shrreg in # seconds", "Lock shrreg timeout, try fix" },
	  .sure = { "HAMI-core Warn", "4pdvGPU Warn" },
	  .explains = { "hami_memory_limit" },
	  .cause = "A process of the container was killed while it held the lock of HAMi's shared "
		   "record, and the others wait for it: they hang, and do not come back by "
		   "themselves.",
	  .cure = { "kubectl delete pod POD (its record is made anew)",
		    "Upgrade HAMi; its later releases take the lock back from processes that are "
		    "gone" },
	  .source = "https://github.com/Project-HAMi/HAMi-core/issues/86" },
	{ .code = "hami_core_illegal_device",
	  .link = REASON_LINK_SHARING,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "Illegal device id" },
	  .any = { "HAMI-core", "libvgpu", "4pdvGPU" },
	  .sure = { "Segmentation fault", "SIGSEGV", "multiprocess_memory_limit.c" },
	  .explains = { "nccl_without_network" },
	  .cause = "HAMi's library in the container counts memory to a card that does not exist: "
		   "it misreads newer calls for memory (cuMemCreate, as NCCL and llama.cpp use "
		   "them), and the program crashes.",
	  .cure = { "Upgrade HAMi (its library libvgpu.so on the nodes), and make the Pod anew",
		    "Until then set NCCL_CUMEM_ENABLE=0 in the container, or "
		    "CUDA_DISABLE_CONTROL=true, that is without limits" },
	  .source = "https://github.com/Project-HAMi/HAMi-core/issues/276" },
	{ .code = NULL },
};
