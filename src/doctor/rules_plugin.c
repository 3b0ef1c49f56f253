/* SPDX-License-Identifier: Apache-2.0 */
/* Causes in the link plugin. How to add one: rule.h. */
#include "doctor/rule.h"

const struct rule doctor_rules_plugin[] = {
	{ .code = "plugin_affinity_no_label",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@plugin.no_pods" },
	  .any = { "@plugin.affinity_unmet", "feature.node.kubernetes.io/pci-10de.present",
		   "nvidia.com/gpu.present", "@nfd.absent", "@node.no_gpu_labels",
		   "@plugin.node_affinity" },
	  .absent = { "nvidia.com/gpu.present=true",
		      "feature.node.kubernetes.io/pci-10de.present=true",
		      "@node.label.gpu_present=true", "paused-for-mig-change" },
	  .sure = { "@plugin.affinity_unmet", "@node.no_gpu_labels", "@nfd.absent" },
	  .explains = { "plugin_daemonset_empty", "node_without_gpu", "insufficient_gpu" },
	  .cause = "The device plugin's DaemonSet asks for a node label (nvidia.com/gpu.present, "
		   "or a PCI label of node-feature-discovery), and no node has it. So no plugin "
		   "Pod is ever made.",
	  .cure = { "kubectl label node NODE nvidia.com/gpu.present=true",
		    "Or deploy node-feature-discovery with the chart: helm upgrade nvdp "
		    "nvdp/nvidia-device-plugin --set gfd.enabled=true" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/607" },
	{ .code = "plugin_switched_off",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "@node.label.deploy=device-plugin paused*",
		   "@node.label.deploy=device-plugin false", "@node.label.deploy=operands false",
		   "nvidia.com/gpu.deploy.device-plugin=paused-for-mig-change",
		   "nvidia.com/gpu.deploy.device-plugin=false",
		   "nvidia.com/gpu.deploy.device-plugin: false",
		   "nvidia.com/gpu.deploy.operands=false", "nvidia.com/gpu.deploy.operands: false",
		   "nvidia.com/gpu.deploy.device-plugin: paused-for",
		   "Operands are disabled for node", "Disabling all operands for node" },
	  .sure = { "@plugin.no_pods" },
	  .explains = { "plugin_daemonset_empty", "node_without_gpu", "insufficient_gpu",
			"plugin_affinity_no_label" },
	  .cause = "A label of the node switches the device plugin off there (deploy=false, or "
		   "paused for a change of the MIG layout that never ended).",
	  .cure = { "kubectl get node NODE --show-labels | tr ',' '\\n' | grep deploy",
		    "kubectl label node NODE nvidia.com/gpu.deploy.device-plugin=true "
		    "nvidia.com/gpu.deploy.operands- --overwrite",
		    "If it was paused, see why the MIG change did not end: kubectl logs -n "
		    "gpu-operator ds/nvidia-mig-manager" },
	  .source =
		  "https://github.com/NVIDIA/gpu-operator/blob/main/controllers/state_manager.go" },
	{ .code = "operator_sees_no_gpu_node",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "No GPU node can be found in the cluster",
		   "No GPU node in the cluster, do not create DaemonSets",
		   "no nodes found with GPU present", "Number of nodes with GPU label*NodeCount: 0",
		   "No GPU node found, watching for new nodes" },
	  .sure = { "@nfd.absent", "@node.no_gpu_labels" },
	  .explains = { "plugin_daemonset_empty", "node_without_gpu", "plugin_affinity_no_label",
			"insufficient_gpu" },
	  .cause = "The operator finds no node with the label that node-feature-discovery gives to "
		   "machines with an NVIDIA card, so it deploys nothing. NFD does not run there, "
		   "or does not see the card.",
	  .cure = { "kubectl get nodes -l feature.node.kubernetes.io/pci-10de.present=true",
		    "kubectl get pods -A | grep node-feature-discovery; lspci -nn | grep 10de",
		    "kubectl label node NODE feature.node.kubernetes.io/pci-10de.present=true "
		    "(until NFD runs)" },
	  .source =
		  "https://github.com/NVIDIA/gpu-operator/blob/main/controllers/state_manager.go" },
	{ .code = "kubelet_too_old_for_plugin",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unknown service v1beta1.Registration",
		   "code = Unimplemented desc = unknown service v1beta" },
	  .explains = { "plugin_cannot_register", "node_without_gpu", "insufficient_gpu" },
	  .cause = "The plugin speaks the device plugin API v1beta1, and this kubelet does not "
		   "serve it: the kubelet is older than the plugin release needs (1.10 needs the "
		   "plugin's 1.10 release).",
	  .cure = { "kubectl get nodes (column VERSION)",
		    "Use the plugin image made for that Kubernetes version, or upgrade the "
		    "kubelets" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/109" },
	{ .code = "plugin_too_old_for_kubelet",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unknown service deviceplugin.Registration",
		   "requested API version*is not supported by kubelet",
		   "is not supported by kubelet. Supported version is" },
	  .explains = { "plugin_cannot_register", "node_without_gpu", "insufficient_gpu" },
	  .cause = "The plugin is so old that it speaks an alpha version of the device plugin API, "
		   "which this kubelet does not serve any more.",
	  .cure = { "kubectl get ds -A -o wide | grep device-plugin",
		    "Deploy a current release: helm upgrade -i nvdp nvdp/nvidia-device-plugin -n "
		    "nvidia-device-plugin --create-namespace" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/156" },
	{ .code = "kubelet_socket_dead",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "kubelet.sock: connect: connection refused",
		   "device-plugins/kubelet.sock*connection refused" },
	  .absent = { "device-plugins/kubelet.sock: connect: no such file" },
	  .sure = { "Could not register device plugin", "Could not contact Kubelet" },
	  .explains = { "plugin_cannot_register", "node_without_gpu", "insufficient_gpu" },
	  .cause = "The kubelet's socket for device plugins exists, but nobody listens on it: it "
		   "is left over from a kubelet that ended or hangs, so the plugin cannot "
		   "register.",
	  .cure = { "systemctl status kubelet; ls -l /var/lib/kubelet/device-plugins",
		    "systemctl restart kubelet",
		    "kubectl rollout restart -n kube-system ds/nvidia-device-plugin-daemonset" },
	  .source = "https://github.com/kubernetes/kubernetes/issues/125506" },
	{ .code = "kubelet_root_elsewhere",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "kubelet.sock: connect: no such file or directory",
		   "device-plugins/kubelet.sock*no such file or directory",
		   "failed to create FS watcher*no such file or directory" },
	  .absent = { "connection refused" },
	  .sure = { "@kubelet.root", "--root-dir" },
	  .explains = { "plugin_cannot_register", "node_without_gpu", "insufficient_gpu" },
	  .cause = "The plugin finds no kubelet.sock in /var/lib/kubelet/device-plugins: this "
		   "kubelet has another root folder (k0s, microk8s, --root-dir), or the DaemonSet "
		   "does not mount that folder.",
	  .cure = { "ps -ef | grep -o 'root-dir[= ][^ ]*'; find / -name kubelet.sock -path "
		    "'*device-plugins*' 2>/dev/null",
		    "Mount that folder into the plugin at /var/lib/kubelet/device-plugins "
		    "(hostPath "
		    "in its DaemonSet), or link /var/lib/kubelet to it" },
	  .source = "https://github.com/k3s-io/k3s/issues/451" },
	{ .code = "socket_folder_rights",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "device-plugins/*bind: permission denied", "device-plugins*permission denied",
		   "failed to create FS watcher*permission denied", "Failed to created FS watcher",
		   "kubelet.sock: connect: permission denied",
		   "device-plugins/*operation not permitted",
		   "device-plugins/*read-only file system" },
	  .sure = { "avc: denied", "@plugin.unprivileged", "@host.selinux=enforcing" },
	  .explains = { "plugin_cannot_register", "node_without_gpu", "insufficient_gpu",
			"selinux_denied" },
	  .cause = "The plugin may not make or open its socket in the kubelet's folder: it runs "
		   "without the rights for it (not root, a read-only mount), or SELinux forbids "
		   "it.",
	  .cure = { "ls -ldZ /var/lib/kubelet/device-plugins; kubectl get ds -n kube-system "
		    "nvidia-device-plugin-daemonset -o yaml | grep -A6 securityContext",
		    "Run the plugin as root with a writable mount of that folder; on SELinux hosts "
		    "with seLinuxOptions type container_device_plugin_t or privileged: true" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/55" },
	{ .code = "plugin_before_driver",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "No devices found. Waiting indefinitely" },
	  .any = { "@driver.ok", "@host.command=driver_install" },
	  .absent = { "more than one MIG device type", "has no MIG devices",
		      "@plugin.mig_strategy=single", "@card.mig_empty",
		      "@containerd.nvidia_not_default" },
	  .sure = { "@driver.ok" },
	  .explains = { "plugin_no_devices", "node_without_gpu", "insufficient_gpu",
			"plugin_without_nvml" },
	  .cause = "The plugin started before the driver was ready, found no card, and waits for "
		   "ever: it never looks again. The driver works by now.",
	  .cure = { "kubectl rollout restart -n kube-system ds/nvidia-device-plugin-daemonset",
		    "kubectl get node NODE -o jsonpath='{.status.allocatable}'" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/221" },
	{ .code = "unhealthy_never_recovers",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "XidCriticalError: Xid=", "device marked unhealthy:",
		   "marking device as unhealthy", "Marking device*as unhealthy" },
	  .absent = { "fallen off the bus", "Marking all devices as unhealthy" },
	  .sure = { "@node.gpu.unhealthy" },
	  .explains = { "insufficient_gpu", "no_healthy_devices", "devices_unavailable" },
	  .cause = "The device plugin marked a GPU unhealthy after an Xid error. It never takes "
		   "that back by itself, so allocatable stays below capacity although the card may "
		   "be well again.",
	  .cure = { "nvidia-smi -q -d ECC,ROW_REMAPPER; dmesg | grep Xid",
		    "Once the card is well (reset it if not): kubectl delete pod -n kube-system "
		    "PLUGIN-POD",
		    "Xids that are only a program's fault can be left out: DP_DISABLE_HEALTHCHECKS "
		    "in the plugin's environment" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/1014" },
	{ .code = "plugin_health_wait_error",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Error waiting for event:*Marking all devices as unhealthy",
		   "Marking all devices as unhealthy" },
	  .absent = { "GPU is lost" },
	  .sure = { "Unknown Error" },
	  .explains = { "unhealthy_never_recovers", "no_healthy_devices", "insufficient_gpu",
			"devices_unavailable", "plugin_stream_lost" },
	  .cause = "The plugin lost its contact to the driver (waiting for events failed), and "
		   "marked every GPU of the node unhealthy. It stays so until the plugin is "
		   "started anew. A reload of systemd that takes the devices from the plugin's own "
		   "cgroup does this.",
	  .cure = { "kubectl exec -n kube-system PLUGIN-POD -- nvidia-smi -L",
		    "kubectl delete pod -n kube-system PLUGIN-POD",
		    "For good: run the plugin with passDeviceSpecs and CDI, so that its devices "
		    "stand in the container's specification" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/rm/health.go" },
	{ .code = "admitted_before_plugin",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "no healthy devices present; cannot allocate unhealthy devices",
		   "cannot allocate unregistered device",
		   "previously allocated devices are no longer healthy",
		   "cannot allocate unhealthy devices", "can't allocate unregistered device",
		   "unknown device nvidia.com/" },
	  .absent = { "marking device as unhealthy", "device marked unhealthy",
		      "Marking all devices", "fallen off the bus", "Xid (PCI",
		      "ListAndWatch ended unexpectedly" },
	  .sure = { "@host.command=reboot", "@host.command=restart_kubelet" },
	  .explains = { "no_healthy_devices", "insufficient_gpu" },
	  .cause = "After a restart of the node or the kubelet, the kubelet admitted the Pod "
		   "before the device plugin had registered again, and found no healthy device. "
		   "Such a Pod stays failed for good, although the GPUs are back.",
	  .cure = { "kubectl get node NODE -o jsonpath='{.status.allocatable}' (the GPUs must be "
		    "there again)",
		    "kubectl delete pod POD (a Deployment or Job makes it anew; a bare Pod must be "
		    "applied again)" },
	  .source = "https://github.com/kubernetes/kubernetes/issues/125579" },
	{ .code = "plugin_endpoint_stopped",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "ListAndWatch ended unexpectedly for device plugin",
		   "unknown Device Plugin nvidia.com/", "endpoint*has been stopped",
		   "Mark all resources Unhealthy for resource", "Endpoint became unhealthy",
		   "endpoint not found in cache for a registered resource" },
	  .absent = { "@host.command=reboot" },
	  .sure = { "@plugin.pod=CrashLoopBackOff", "@plugin.not_ready" },
	  .explains = { "no_healthy_devices", "insufficient_gpu", "admitted_before_plugin",
			"plugin_stream_lost", "node_without_gpu" },
	  .cause = "The kubelet lost its connection to the device plugin: the plugin's Pod ended, "
		   "was evicted or restarts. Until it registers again all its devices count as "
		   "unhealthy.",
	  .cure = { "kubectl get pods -A -o wide | grep device-plugin",
		    "kubectl logs -n kube-system PLUGIN-POD --previous",
		    "kubectl rollout restart -n kube-system ds/nvidia-device-plugin-daemonset" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/"
		    "devicemanager/manager.go" },
	{ .code = "plugin_stream_lost",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@node.gpu.zero", "@plugin.registered" },
	  .absent = { "@node.resource=*.shared", "@node.resource=*/mig-*",
		      "device marked unhealthy", "Marking all devices", "@plugin.two",
		      "No devices found. Waiting indefinitely" },
	  .sure = { "@plugin.pod=Running", "@driver.ok" },
	  .explains = { "insufficient_gpu", "no_healthy_devices" },
	  .cause = "The plugin runs and registered once, but the kubelet counts 0 of its devices: "
		   "the stream between them ended, and the plugin registers again only when "
		   "kubelet.sock is made anew.",
	  .cure = { "kubectl rollout restart -n kube-system ds/nvidia-device-plugin-daemonset",
		    "If that does not help: systemctl restart kubelet" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/1228" },
	{ .code = "two_plugins",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "@plugin.two", "invalid allocation request for*unknown device",
		   "invalid request: unknown device",
		   "invalid allocation request: unknown device" },
	  .explains = { "plugin_stream_lost", "devices_unavailable", "insufficient_gpu",
			"plugin_endpoint_stopped" },
	  .cause = "Two device plugins register the same resource on a node (the operator's and a "
		   "Helm chart's, or a cloud's own). The kubelet keeps the last one only, and "
		   "device names of one reach the other.",
	  .cure = { "kubectl get ds -A | grep -i -E 'device-plugin|hami|gpu'",
		    "Keep one: helm uninstall nvdp -n nvidia-device-plugin, or --set "
		    "devicePlugin.enabled=false for gpu-operator, or label the node out of the "
		    "cloud's DaemonSet",
		    "systemctl restart kubelet" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/255" },
	{ .code = "plugin_config_unknown",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "specified config*does not exist", "@plugin.config_unknown" },
	  .absent = { "ComputeInstance" },
	  .explains = { "plugin_no_devices", "node_without_gpu", "insufficient_gpu",
			"plugin_daemonset_empty" },
	  .cause = "The node's label nvidia.com/device-plugin.config names a configuration that "
		   "the plugin's ConfigMap does not have, so the plugin does not start there.",
	  .cure = { "kubectl get node NODE -o "
		    "jsonpath='{.metadata.labels.nvidia\\.com/device-plugin\\.config}'; kubectl "
		    "get "
		    "cm -A | grep device-plugin",
		    "kubectl label node NODE nvidia.com/device-plugin.config=NAME --overwrite (a "
		    "key of the ConfigMap), or remove it: nvidia.com/device-plugin.config-" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/cmd/config-manager/"
		    "main.go" },
	{ .code = "plugin_config_none",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "no config was set, no default was provided, and all fallbacks failed",
		   "no configuration files available", "More than one configuration was found:" },
	  .absent = { "Falling back to an empty configuration", "specified config" },
	  .explains = { "plugin_no_devices", "node_without_gpu", "plugin_daemonset_empty",
			"insufficient_gpu" },
	  .cause = "The plugin has several configurations and no rule which one is the default for "
		   "nodes without a label, so it does not start there.",
	  .cure = { "helm upgrade nvdp nvdp/nvidia-device-plugin --reuse-values --set "
		    "config.default=NAME",
		    "Or label each node: kubectl label node NODE "
		    "nvidia.com/device-plugin.config=NAME" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/cmd/config-manager/"
		    "main.go" },
	{ .code = "plugin_config_invalid",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unable to parse config file", "error parsing config file",
		   "unable to load config: unable to finalize config",
		   "unknown version:", "number of replicas must be >= 2", "no replicas specified",
		   "no resource name specified", "incorrect format for resource name",
		   "resources must have a*field set" },
	  .absent = { "--mps-root" },
	  .explains = { "plugin_no_devices", "node_without_gpu", "insufficient_gpu" },
	  .cause = "The plugin's configuration file cannot be read: wrong indentation, a missing "
		   "'version: v1', or a value that is not allowed (replicas must be 2 or more).",
	  .cure = { "kubectl get cm -n NAMESPACE NAME -o yaml",
		    "Correct it (version: v1; sharing.timeSlicing.resources: [{name: "
		    "nvidia.com/gpu, replicas: 4}]) and restart the DaemonSet" },
	  .source =
		  "https://github.com/NVIDIA/k8s-device-plugin/blob/main/api/config/v1/config.go" },
	{ .code = "plugin_flag_invalid",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unknown MIG strategy", "invalid --mig-strategy option",
		   "invalid --device-list-strategy option", "invalid --device-id-strategy option",
		   "invalid --device-discovery-strategy option",
		   "invalid --shared-devices-allocation-policy option",
		   "options are only supported on NVML-based systems", "invalid deviceListStrategy",
		   "invalid device list strategy" },
	  .absent = { "--mps-root" },
	  .explains = { "plugin_no_devices", "node_without_gpu", "insufficient_gpu",
			"plugin_config_invalid" },
	  .cause = "A flag or environment variable of the device plugin has a value that it does "
		   "not know, so it ends at once.",
	  .cure = { "kubectl get ds -A -o yaml | grep -E -A1 "
		    "'MIG_STRATEGY|DEVICE_LIST_STRATEGY|DEVICE_ID_STRATEGY|DISCOVERY'",
		    "Allowed: MIG_STRATEGY none, single, mixed; DEVICE_LIST_STRATEGY envvar, "
		    "volume-mounts, cdi-annotations, cdi-cri; DEVICE_ID_STRATEGY uuid, index" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/cmd/"
		    "nvidia-device-plugin/main.go" },
	{ .code = "plugin_one_card_stops_all",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "error building GPU device map", "error getting device handle for index",
		   "error getting device paths", "error building GPU Device: error getting",
		   "error getting GPU device minor number",
		   "error while creating plugin: failed to get device",
		   "failed to get device handle" },
	  .absent = { "GPU is lost", "Insufficient Permissions", "GPU requires reset",
		      "minor number: Not Supported" },
	  .sure = { "Unknown Error", "RmInitAdapter failed" },
	  .explains = { "plugin_no_devices", "node_without_gpu", "insufficient_gpu",
			"plugin_without_nvml" },
	  .cause = "The plugin could not ask one card for its properties, and gives up the whole "
		   "list then: one bad card hides all good ones of the node.",
	  .cure = { "nvidia-smi -L; dmesg | grep -E 'NVRM|Xid' (which card does not answer)",
		    "Reset or remove that card, or leave it out by "
		    "NVIDIA_VISIBLE_DEVICES=UUID,UUID "
		    "in the plugin's environment, then restart the plugin" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/338" },
	{ .code = "plugin_on_wsl",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "error getting GPU device minor number: Not Supported",
		   "Getting GPU device minor number: Not Supported",
		   "get minor number*Not Supported" },
	  .sure = { "@host.wsl" },
	  .explains = { "plugin_one_card_stops_all", "plugin_no_devices", "node_without_gpu",
			"insufficient_gpu" },
	  .cause = "The node runs in WSL 2, where cards have no minor number; this release of the "
		   "plugin cannot count them there.",
	  .cure = { "Use a plugin release with WSL support (0.15 or later) under the nvidia "
		    "runtime" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/332" },
	{ .code = "plugin_mig_permission",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "error building MIG device map*Insufficient Permissions",
		   "error visiting MIG*Insufficient Permissions",
		   "error getting MIG*Insufficient Permissions",
		   "missing MIG GPU instance capability path", "Insufficient Permissions*MIG",
		   "unable to get MIG*Insufficient Permissions" },
	  .explains = { "plugin_no_devices", "node_without_gpu", "insufficient_gpu",
			"nvml_no_permission", "plugin_one_card_stops_all" },
	  .cause = "The plugin may not look at MIG instances: its container lacks the MIG monitor "
		   "capability, because it is neither privileged nor given "
		   "NVIDIA_MIG_MONITOR_DEVICES=all.",
	  .cure = { "Run the plugin privileged (helm: --set securityContext.privileged=true, or "
		    "compatWithCPUManager=true), or with CAP_SYS_ADMIN",
		    "ls -l /dev/nvidia-caps; cat /proc/driver/nvidia-caps/mig-minors" },
	  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/1740" },
	{ .code = "preferred_allocation_fails",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "GetPreferredAllocation rpc failed",
		   "error getting list of preferred allocation devices",
		   "unable to get device link information",
		   "unable to retrieve list of available devices" },
	  .absent = { "GPU is lost", "fallen off the bus" },
	  .sure = { "error calling nvml.Init" },
	  .explains = { "insufficient_gpu", "nvml_unknown_error" },
	  .cause = "The kubelet asks the plugin which GPUs to take, and the plugin cannot answer "
		   "because one of its calls to the driver fails (a bad card, or the plugin's "
		   "container lost its devices). Every GPU Pod of the node is refused.",
	  .cure = { "kubectl exec -n kube-system PLUGIN-POD -- nvidia-smi; dmesg | grep -E "
		    "'NVRM|Xid'",
		    "kubectl delete pod -n kube-system PLUGIN-POD; if a card is bad, reset it or "
		    "cordon the node" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/2038" },
	{ .code = "plugin_server_crashes",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "has repeatedly crashed recently. Quitting",
		   "GRPC server for*crashed with error" },
	  .absent = { "permission denied" },
	  .explains = { "plugin_endpoint_stopped", "node_without_gpu", "no_healthy_devices",
			"insufficient_gpu" },
	  .cause = "The plugin's server socket was taken away again and again (somebody cleans the "
		   "kubelet's folder, or a second plugin uses the same socket name), and the "
		   "plugin gave up.",
	  .cure = { "kubectl get ds -A | grep -i device-plugin; ls -l "
		    "/var/lib/kubelet/device-plugins",
		    "Remove the second plugin or the cleaning job, then: kubectl rollout restart "
		    "-n "
		    "kube-system ds/nvidia-device-plugin-daemonset" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/plugin/"
		    "server.go" },
	{ .code = "plugin_cdi_not_written",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unable to create cdi spec file", "failed to save CDI spec",
		   "unable to create cdi handler", "failed to create nvcdi library",
		   "error creating CDI" },
	  .absent = { "error generating CDI specification" },
	  .explains = { "plugin_no_devices", "node_without_gpu", "insufficient_gpu",
			"cdi_device_unknown" },
	  .cause = "The plugin is to hand out CDI devices and cannot write their specification: "
		   "the driver root it was given is wrong, or /var/run/cdi is not mounted or not "
		   "writable.",
	  .cure = { "kubectl get ds -n kube-system nvidia-device-plugin-daemonset -o yaml | grep "
		    "-A3 -E 'cdi|driver-root|DRIVER_ROOT'",
		    "Mount /var/run/cdi and the driver root as the Helm chart does, and set "
		    "nvidiaDriverRoot to where the driver is (/ or /run/nvidia/driver)" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/cdi/cdi.go" },
	{ .code = "plugin_pod_refused",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "nvidia-device-plugin*is forbidden: violates PodSecurity",
		   "nvidia-device-plugin*unable to validate against any security context "
		   "constraint",
		   "nvidia-device-plugin*unable to validate against any pod security policy",
		   "nvdp-*is forbidden: violates PodSecurity",
		   "gpu-feature-discovery*is forbidden: violates PodSecurity",
		   "nvidia-driver-daemonset*is forbidden: violates PodSecurity",
		   "nvidia-container-toolkit*is forbidden: violates PodSecurity",
		   "violates PodSecurity*volume device-plugin" },
	  .explains = { "plugin_daemonset_empty", "node_without_gpu", "insufficient_gpu" },
	  .cause = "The namespace's Pod Security (or OpenShift's constraints) forbids what the "
		   "plugin's Pod needs (host folders, privileges), so its DaemonSet makes no Pods.",
	  .cure = { "kubectl label ns NAMESPACE pod-security.kubernetes.io/enforce=privileged "
		    "--overwrite",
		    "On OpenShift: oc adm policy add-scc-to-user privileged -z SERVICEACCOUNT -n "
		    "NAMESPACE" },
	  .source = "https://kubernetes.io/docs/concepts/security/pod-security-admission/" },
	{ .code = "plugin_priority_quota",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "insufficient quota to match these scopes: [{PriorityClass",
		   "insufficient quota to match these scopes*PriorityClass In" },
	  .sure = { "system-node-critical" },
	  .explains = { "plugin_daemonset_empty", "node_without_gpu", "insufficient_gpu",
			"plugin_affinity_no_label" },
	  .cause = "The plugin's Pods have the priority class system-node-critical, which this "
		   "cluster allows only in namespaces with a quota for it (so on GKE), so none are "
		   "made.",
	  .cure = { "kubectl create quota critical -n NAMESPACE --hard=pods=100 "
		    "--scopes=PriorityClass (GKE: a ResourceQuota whose scopeSelector names "
		    "system-node-critical and system-cluster-critical)" },
	  .source = "https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-operator" },
	{ .code = "plugin_image_missing",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Failed to pull image*k8s-device-plugin",
		   "Back-off pulling image*k8s-device-plugin", "k8s-device-plugin:*not found",
		   "Failed to pull image*gpu-device-plugin",
		   "k8s-device-plugin:*manifest unknown" },
	  .sure = { "@plugin.pod=ImagePullBackOff", "@plugin.pod=ErrImagePull" },
	  .explains = { "plugin_daemonset_empty", "node_without_gpu", "insufficient_gpu" },
	  .cause = "The device plugin's image cannot be fetched (wrong tag, an old registry, no "
		   "internet or no proxy on the node), so no plugin runs.",
	  .cure = { "kubectl describe pod -n NAMESPACE PLUGIN-POD | tail -5",
		    "Use an image of nvcr.io/nvidia/k8s-device-plugin that exists, or push it to a "
		    "registry that the node reaches and set image.repository" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/README.md" },
	{ .code = "plugin_wrong_architecture",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "exec format error" },
	  .any = { "nvidia-device-plugin", "k8s-device-plugin", "gpu-feature-discovery" },
	  .sure = { "@plugin.pod=CrashLoopBackOff" },
	  .explains = { "node_without_gpu", "insufficient_gpu" },
	  .cause = "The device plugin's image is for another processor architecture than the "
		   "node's (amd64 on arm64, or the reverse).",
	  .cure = { "kubectl get nodes -L kubernetes.io/arch",
		    "Use an image tag that has the node's architecture "
		    "(nvcr.io/nvidia/k8s-device-plugin from 0.12 on has both)" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/RELEASE.md" },
	{ .code = "plugin_volume_mounts_unprivileged",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "ERROR_LIBRARY_NOT_FOUND" },
	  .any = { "@plugin.device_list_strategy=volume-mounts", "volume-mounts" },
	  .absent = { "@containerd.nvidia_not_default" },
	  .sure = { "@plugin.unprivileged", "@toolkit.env_refused" },
	  .explains = { "plugin_without_nvml", "plugin_no_devices", "node_without_gpu",
			"insufficient_gpu" },
	  .cause = "The toolkit takes GPU lists from volume mounts only, and the plugin itself "
		   "asks by its environment without being privileged: so it gets no driver "
		   "libraries and finds no NVML.",
	  .cure = { "helm upgrade nvdp nvdp/nvidia-device-plugin --reuse-values --set "
		    "securityContext.privileged=true (or compatWithCPUManager=true)" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/856" },
	{ .code = "kubelet_checkpoint_broken",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "failed to write checkpoint file kubelet_internal_checkpoint",
		   "kubelet_internal_checkpoint*checkpoint is corrupted",
		   "checkpoint is corrupted*device",
		   "Failed to read data from checkpoint*kubelet_internal_checkpoint",
		   "could not restore state from checkpoint*device",
		   "kubelet_internal_checkpoint*no space left" },
	  .sure = { "no space left on device" },
	  .explains = { "node_without_gpu", "insufficient_gpu", "admitted_before_plugin" },
	  .cause = "The kubelet cannot read or write its record of given devices "
		   "(kubelet_internal_checkpoint): the disk is full or the file is damaged.",
	  .cure = { "df -h /var/lib/kubelet; ls -l /var/lib/kubelet/device-plugins",
		    "Free the disk; for a damaged file drain the node, remove "
		    "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint, and restart the "
		    "kubelet" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/"
		    "devicemanager/manager.go" },
	{ .code = "topology_not_aligned",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Resources cannot be allocated with Topology locality",
		   "TopologyAffinityError" },
	  .sure = { "@kubelet.topology_policy" },
	  .explains = { "insufficient_gpu" },
	  .cause = "The kubelet's topology manager is strict (restricted or single-numa-node), and "
		   "the Pod's CPUs and GPUs do not fit on one NUMA node of this machine.",
	  .cure = { "nvidia-smi topo -m; grep topologyManager /var/lib/kubelet/config.yaml",
		    "Ask for less (GPUs and CPUs of one NUMA node), or set topologyManagerPolicy: "
		    "best-effort and restart the kubelet; then delete the failed Pod" },
	  .source = "https://kubernetes.io/docs/tasks/administer-cluster/topology-manager/" },
	{ .code = "mixed_models",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Multiple device types detected",
		   "all devices on the node must be configured with the same migEnabled value",
		   "Not all GPU devices belong to the same class" },
	  .sure = { "@card.models_differ" },
	  .cause = "The node has cards of different kinds. Its labels (gpu.product, gpu.memory) "
		   "can name only one of them, and the plugin counts all as the same "
		   "nvidia.com/gpu, so a Pod may get the other kind.",
	  .cure = { "nvidia-smi -L; kubectl get node NODE -L "
		    "nvidia.com/gpu.product,nvidia.com/gpu.count",
		    "Give each node one model, or leave the odd card out: "
		    "NVIDIA_VISIBLE_DEVICES=UUID,UUID in the environment of plugin and "
		    "gpu-feature-discovery" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/731" },
	{ .code = "gfd_without_nfd",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "failed to get NodeFeature object", "failed to create NodeFeature object",
		   "nodefeatures.nfd.k8s-sigs.io is forbidden",
		   "the server could not find the requested resource*nodefeatures",
		   "no matches for kind NodeFeature" },
	  .explains = { "plugin_affinity_no_label" },
	  .cause = "gpu-feature-discovery cannot hand its labels to node-feature-discovery: NFD's "
		   "NodeFeature resource is not installed, or its service account may not write "
		   "it. So nodes get no nvidia.com labels.",
	  .cure = { "kubectl get crd nodefeatures.nfd.k8s-sigs.io; kubectl get pods -A | grep "
		    "node-feature-discovery",
		    "Install NFD (helm: --set nfd.enabled=true), or set useNodeFeatureAPI: false "
		    "with a shared features.d folder" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/lm/output.go" },
	{ .code = "imex_channel_missing",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "requested IMEX channel*does not exist", "error querying IMEX channels",
		   "nvidia-caps-imex-channels/channel#: no such file or directory",
		   "invalid IMEX channel IDs" },
	  .absent = { "Ignoring requested IMEX channel" },
	  .explains = { "plugin_no_devices", "node_without_gpu", "toolkit_mount_fails",
			"insufficient_gpu" },
	  .cause = "The plugin (or container) is to hand out an IMEX channel, and the node has no "
		   "such device: the channel was not created, or the driver has no IMEX.",
	  .cure = { "ls -l /dev/nvidia-caps-imex-channels",
		    "nvidia-modprobe -i 0:1 (or the module option NVreg_CreateImexChannel0=1), or "
		    "set imex.required: false" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/imex/imex.go" },
	{ .code = "plugin_answer_invalid",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "no containers return in allocation response",
		   "unexpectedly allocated less resources than required",
		   "Update plugin resources failed",
		   "no devices found allocated in local cache for pod",
		   "PreStartContainer rpc failed" },
	  .absent = { "maximum request size for shared resources" },
	  .explains = { "no_healthy_devices", "insufficient_gpu" },
	  .cause = "The device plugin gave the kubelet an answer that it cannot use (an empty or "
		   "too short one, or a failed PreStartContainer). This plugin release and this "
		   "kubelet do not fit, or the plugin has a defect.",
	  .cure = { "kubectl logs -n kube-system PLUGIN-POD --tail=50; journalctl -u kubelet "
		    "--since -15min | grep -i device",
		    "Update the device plugin to its newest release and restart it; then delete "
		    "the "
		    "failed Pod" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/"
		    "devicemanager/manager.go" },
	{ .code = "container_request_changed",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "changed request for resource" },
	  .any = { "nvidia.com/", "UnexpectedAdmissionError", "Allocate failed due to" },
	  .explains = { "no_healthy_devices" },
	  .cause = "A container asks for another number of GPUs than the kubelet has written down "
		   "for the same container of the same Pod (a static Pod was edited), and the "
		   "kubelet refuses that.",
	  .cure = { "kubectl delete pod POD (for a static Pod: move its manifest out of "
		    "/etc/kubernetes/manifests, wait, and put it back)" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/"
		    "devicemanager/manager.go" },
	{ .code = "config_manager_cannot_signal",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "error sending signal: error finding pid",
		   "error finding pid: no process found" },
	  .explains = { "plugin_config_unknown" },
	  .cause = "The side container that follows the node's label for the plugin's "
		   "configuration cannot signal the plugin, so a new configuration does not take "
		   "effect: the Pod does not share its process namespace.",
	  .cure = { "Set shareProcessNamespace: true in the plugin's Pod (the Helm chart does), "
		    "then restart the DaemonSet" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/cmd/config-manager/"
		    "main.go" },
	{ .code = "plugin_taint_untolerated",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@plugin.no_pods" },
	  .any = { "@node.gpu_taint", "Taints:*gpu*:NoSchedule", "Taints:*gpu*:NoExecute" },
	  .absent = { "feature.node.kubernetes.io/pci-10de.present", "key: nvidia.com/gpu.present",
		      "@plugin.affinity_unmet", "@pod.tolerates=nvidia.com/gpu" },
	  .explains = { "plugin_daemonset_empty", "node_without_gpu", "insufficient_gpu" },
	  .cause = "The GPU nodes have a taint that the device plugin's DaemonSet does not "
		   "tolerate, so it makes no Pod there and the nodes offer no GPU.",
	  .cure = { "kubectl describe node NODE | grep Taints; kubectl get ds -A -o yaml | grep "
		    "-A8 "
		    "tolerations",
		    "Add the toleration to the plugin: helm upgrade nvdp nvdp/nvidia-device-plugin "
		    "--reuse-values --set "
		    "'tolerations[0].key=KEY,tolerations[0].operator=Exists'" },
	  .source =
		  "https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/" },
	{ .code = "inotify_used_up",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "failed to create FS watcher*too many open files",
		   "Failed to created FS watcher*too many open files",
		   "inotify_init*too many open files", "inotify_add_watch*no space left on device",
		   "error creating file watcher*too many open files",
		   "too many open files*device-plugins", "device-plugins*too many open files",
		   "failed to create fsnotify watcher: too many open files" },
	  .explains = { "plugin_cannot_register", "node_without_gpu", "insufficient_gpu",
			"socket_folder_rights" },
	  .cause = "The node's inotify instances or watches are used up, so the plugin (or the "
		   "kubelet) cannot watch the kubelet's folder and does not start.",
	  .cure = { "sysctl fs.inotify.max_user_instances fs.inotify.max_user_watches",
		    "sysctl -w fs.inotify.max_user_instances=8192 "
		    "fs.inotify.max_user_watches=1048576 (and a file in /etc/sysctl.d), then "
		    "restart the plugin's Pod" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/watch/"
		    "watchers.go" },
	{ .code = "kubelet_gate_off",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "Could not contact Kubelet, retrying" },
	  .any = { "DevicePlugins=false", "DevicePlugins: false",
		   "@feature_gate=DevicePlugins=false", "@kubernetes.before=1.10" },
	  .absent = { "unknown service" },
	  .sure = { "DevicePlugins=false", "@feature_gate=DevicePlugins=false" },
	  .explains = { "plugin_cannot_register", "kubelet_root_elsewhere", "kubelet_socket_dead",
			"node_without_gpu", "insufficient_gpu" },
	  .cause = "The kubelet's feature gate DevicePlugins is off (as it is by default before "
		   "Kubernetes 1.10), so the kubelet serves no device plugin.",
	  .cure = { "Start the kubelet with --feature-gates=DevicePlugins=true (Environment in "
		    "/etc/systemd/system/kubelet.service.d), then: systemctl daemon-reload && "
		    "systemctl restart kubelet",
		    "Better: upgrade the cluster" },
	  .source = "https://kubernetes.io/docs/reference/command-line-tools-reference/"
		    "feature-gates/" },
	{ .code = "kubelet_keeps_devices",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "requested number of devices unavailable for" },
	  .any = { "@node.gpu.free", "@host.command=restart_kubelet",
		   "Failed to allocate device plugin resource" },
	  .absent = { "@pod.hami", "@hami.pod", "@hami.version", "@plugin.two",
		      "device marked unhealthy", "hami-scheduler" },
	  .sure = { "@node.gpu.free" },
	  .explains = { "devices_unavailable", "no_healthy_devices" },
	  .cause = "The kubelet counts devices as given that no Pod holds any more (an allocation "
		   "failed half way, or a record was left over), so the Pod is refused although "
		   "the node has free GPUs.",
	  .cure = { "kubectl describe node NODE | grep -A8 'Allocated resources'",
		    "systemctl restart kubelet (on that node), then delete the failed Pod" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/"
		    "devicemanager/manager.go" },
	{ .code = "kubelet_hook_failed",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Internal PreCreateContainer hook failed",
		   "Internal PreStartContainer hook failed", "PreCreateHookError",
		   "PreStartHookError" },
	  .sure = { "kubelet_internal_checkpoint", "cpu_manager_state", "memory_manager_state" },
	  .cause = "The kubelet's own managers of CPUs, memory or devices failed for this "
		   "container before it was made: their records on the node and the Pod do not fit "
		   "each other.",
	  .cure = { "journalctl -u kubelet --since -10min | grep -i -E 'manager|hook'",
		    "kubectl drain NODE; rm /var/lib/kubelet/cpu_manager_state "
		    "/var/lib/kubelet/memory_manager_state; systemctl restart kubelet (after a "
		    "change of these policies)" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kuberuntime/"
		    "kuberuntime_container.go" },
	{ .code = "xid_marks_one_replica",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "device marked unhealthy: GPU-*::#", "device marked unhealthy: MIG-*::#",
		   "device marked unhealthy: *gpu.shared*::#" },
	  .absent = { "fallen off the bus", "Marking all devices as unhealthy" },
	  .sure = { "XidCriticalError: Xid=", "@node.gpu.unhealthy" },
	  .explains = { "unhealthy_never_recovers", "insufficient_gpu", "no_healthy_devices",
			"devices_unavailable" },
	  .cause = "The card is shared, and after its error the plugin took out only the replica "
		   "that its log names: the other replicas of the same bad card are given to Pods "
		   "as before.",
	  .cure = { "nvidia-smi -q -d ECC,ROW_REMAPPER; dmesg | grep Xid (on the node: what the "
		    "card has)",
		    "kubectl cordon NODE, and delete the Pods of that card",
		    "kubectl delete pod -n NAMESPACE PLUGIN-POD once the card is well (it never "
		    "looks again)" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/1929" },
	{ .code = "two_pods_on_one_card",
	  .link = REASON_LINK_PLUGIN,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "@kubelet.device_twice" },
	  .sure = { "@host.command=reboot" },
	  .explains = { "cuda_out_of_memory" },
	  .cause = "The kubelet's record gives one GPU to two Pods, usually since a reboot after "
		   "which the plugin named its cards anew, so both compute on the same card.",
	  .cure = { "kubectl get pods -A -o custom-columns=UID:.metadata.uid,NAME:.metadata.name "
		    "(the two Pods of the record)",
		    "kubectl delete pod POD (one of the two), and see whether its successor gets "
		    "another card",
		    "deviceIDStrategy: uuid in the plugin's configuration: an index can be another "
		    "card after a reboot" },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/536" },
	{ .code = NULL },
};
