/* SPDX-License-Identifier: Apache-2.0 */
/* What is seen of the link plugin and has several causes. How to add one: rule.h. */
#include "doctor/rule.h"

const struct symptom doctor_symptoms_plugin[] = {
	{ .code = "plugin_without_nvml",
	  .link = REASON_LINK_PLUGIN,
	  .any = { "could not load NVML library",
		   "Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND",
		   "nvml init failed: ERROR_LIBRARY_NOT_FOUND",
		   "failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND",
		   "did you set the docker default runtime to nvidia",
		   "did you configure the NVIDIA Container Toolkit",
		   "Incompatible strategy detected auto", "Incompatible platform detected",
		   "NVML not detected" },
	  .remain = { "nvidia_not_default_runtime", "driver_not_installed",
		      "other_engine_configured" },
	  .ask = { { "kubectl get pod -n kube-system PLUGIN-POD -o "
		     "jsonpath='{.spec.runtimeClassName}'; containerd config dump | grep -E "
		     "'default_runtime_name|runtimes.nvidia'",
		     "whether the plugin runs under the nvidia runtime: neither a RuntimeClass nor "
		     "a "
		     "default means it does not." },
		   { "nvidia-smi", "whether the host has a working driver at all." } },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/plugin/"
		    "factory.go" },
	{ .code = "plugin_no_devices",
	  .link = REASON_LINK_PLUGIN,
	  .any = { "No devices found. Waiting indefinitely" },
	  .remain = { "plugin_before_driver", "nvidia_not_default_runtime",
		      "driver_not_installed" },
	  .ask = { { "nvidia-smi -L (on the node)", "cards listed now: the plugin came too early, "
						    "restart it; an error: the driver." },
		   { "kubectl logs -n kube-system PLUGIN-POD | head -30",
		     "an NVML error before that line: the plugin runs without the nvidia "
		     "runtime." } },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/cmd/"
		    "nvidia-device-plugin/main.go" },
	{ .code = "plugin_cannot_register",
	  .link = REASON_LINK_PLUGIN,
	  .any = { "Could not register device plugin", "Could not contact Kubelet, retrying" },
	  .absent = { "unknown service" },
	  .remain = { "kubelet_socket_dead", "kubelet_root_elsewhere", "socket_folder_rights" },
	  .ask = { { "ls -l /var/lib/kubelet/device-plugins; systemctl status kubelet",
		     "no kubelet.sock: another root folder; a socket that refuses: a dead "
		     "kubelet." } },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/plugin/"
		    "server.go" },
	{ .code = "plugin_daemonset_empty",
	  .link = REASON_LINK_PLUGIN,
	  .any = { "@plugin.no_pods" },
	  .remain = { "plugin_affinity_no_label", "plugin_switched_off", "plugin_pod_refused" },
	  .ask = { { "kubectl describe ds -n NAMESPACE NAME; kubectl get nodes --show-labels",
		     "which label its node affinity or selector asks for, and whether a node has "
		     "it; "
		     "or why its Pods are refused (events)." } },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/607" },
	{ .code = "no_healthy_devices",
	  .link = REASON_LINK_PLUGIN,
	  .any = { "UnexpectedAdmissionError" },
	  .absent = { "GetPreferredAllocation", "maximum request size for shared resources",
		      "requested number of devices unavailable", "kubelet_internal_checkpoint" },
	  .remain = { "admitted_before_plugin", "plugin_endpoint_stopped", "two_plugins" },
	  .ask = { { "kubectl describe pod POD | grep -A3 Message",
		     "which of the kubelet's reasons it was." },
		   { "kubectl get node NODE -o jsonpath='{.status.allocatable}'",
		     "GPUs are there: only the Pod must be made anew; none: the plugin is "
		     "down." } },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/"
		    "devicemanager/manager.go" },
	{ .code = "devices_unavailable",
	  .link = REASON_LINK_PLUGIN,
	  .any = { "requested number of devices unavailable for" },
	  .remain = { "two_plugins", "unhealthy_never_recovers", "plugin_endpoint_stopped" },
	  .ask = { { "kubectl get ds -A | grep -i -E 'device-plugin|hami'; kubectl describe node "
		     "NODE | grep -A8 Allocat",
		     "whether two plugins offer the resource, and how many devices are "
		     "allocatable." },
		   { "kubectl get pods -A --field-selector spec.nodeName=NODE -o wide",
		     "which Pods hold the devices." } },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/"
		    "devicemanager/manager.go" },
	{ .code = "node_without_gpu",
	  .link = REASON_LINK_PLUGIN,
	  .any = { "@node.gpu.none" },
	  .absent = { "@node.gpu.some", "@dra.slice_driver" },
	  .remain = { "plugin_before_driver", "nvidia_not_default_runtime",
		      "plugin_affinity_no_label" },
	  .ask = { { "kubectl get pods -A -o wide | grep -i device-plugin",
		     "no plugin Pod on the node: labels, taints or RuntimeClass keep it away." },
		   { "kubectl logs -n kube-system PLUGIN-POD | tail -20",
		     "what the plugin found: no NVML, no devices, or a failed registration." } },
	  .source = "https://github.com/NVIDIA/k8s-device-plugin/issues/285" },
	{ .code = NULL },
};
