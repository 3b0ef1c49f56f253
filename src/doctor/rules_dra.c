/* SPDX-License-Identifier: Apache-2.0 */
/* Causes in the link dra. How to add one: rule.h. */
#include "doctor/rule.h"

const struct rule doctor_rules_dra[] = {
	{ .code = "dra_gpus_switched_off",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@dra.gpus_enabled=false" },
	  .any = { "@dra.class_wanted=gpu.*", "@dra.class_wanted=mig.*", "@dra.class_missing",
		   "device class*does not exist", "deviceClassName: gpu.nvidia.com",
		   "deviceClassName: mig.nvidia.com" },
	  .absent = { "@dra.slice_driver=gpu.*" },
	  .sure = { "@dra.no_slices", "@dra.class_missing", "@dra.gpus_override=true" },
	  .explains = { "dra_class_missing", "dra_claims_not_allocated", "dra_no_slices",
			"node_without_gpu", "dra_only_compute_domains", "dra_gpu_class_missing" },
	  .cause = "The DRA driver was installed with its part for GPUs switched off "
		   "(resources.gpus.enabled: false), so only the classes and slices of "
		   "ComputeDomains exist. gpuResourcesEnabledOverride alone does not switch it on.",
	  .cure = { "helm upgrade nvidia-dra-driver-gpu nvidia/nvidia-dra-driver-gpu -n "
		    "nvidia-dra-driver-gpu --reuse-values --set resources.gpus.enabled=true --set "
		    "gpuResourcesEnabledOverride=true",
		    "kubectl get deviceclasses; kubectl get resourceslices (gpu.nvidia.com must "
		    "appear)" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/438" },
	{ .code = "dra_override_missing",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "this DRA driver cannot be deployed alongside",
		   "--set 'gpuResourcesEnabledOverride=true'" },
	  .sure = { "resources.gpus.enabled=true" },
	  .explains = { "dra_class_missing", "dra_no_slices" },
	  .cause = "The chart refuses to install: the GPU part of the DRA driver and the device "
		   "plugin cannot serve the same node, and it wants a word that the device plugin "
		   "is off.",
	  .cure = { "Take the device plugin off the nodes that DRA shall serve (gpu-operator: "
		    "--set devicePlugin.enabled=false)",
		    "helm install ... --set gpuResourcesEnabledOverride=true",
		    "Or only ComputeDomains: --set resources.gpus.enabled=false" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/main/"
		    "deployments/helm/dra-driver-nvidia-gpu/templates/validation.yaml" },
	{ .code = "dra_class_missing",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "device class*does not exist", "deviceclasses.resource.k8s.io*not found",
		   "@dra.class_missing" },
	  .absent = { "@dra.gpus_enabled=false", "@dra.api_absent", "@dra.class=compute-domain*" },
	  .sure = { "@dra.class_missing" },
	  .explains = { "dra_claims_not_allocated", "dra_no_slices" },
	  .cause = "The claim names a device class that the cluster does not have: the DRA driver "
		   "is not installed, its GPU part is off, or the name is spelt in another way.",
	  .cure = { "kubectl get deviceclasses",
		    "Name one of these in deviceClassName, or install the driver: helm install "
		    "nvidia-dra-driver-gpu nvidia/nvidia-dra-driver-gpu -n nvidia-dra-driver-gpu "
		    "--create-namespace --set gpuResourcesEnabledOverride=true" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/dynamicresources/dynamicresources.go" },
	{ .code = "dra_no_slices",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@dra.no_slices" },
	  .any = { "cannot allocate all claims", "@dra.claim=pending", "@dra.pod=CrashLoopBackOff",
		   "@dra.pod=Init:*" },
	  .absent = { "@dra.gpus_enabled=false", "@dra.class_missing",
		      "device class*does not exist", "@dra.slice_driver=compute-domain*" },
	  .sure = { "@dra.pod=CrashLoopBackOff", "@dra.pod=Init:*", "cannot allocate all claims" },
	  .explains = { "dra_claims_not_allocated", "insufficient_gpu", "node_without_gpu" },
	  .cause =
		  "No node publishes GPUs to DRA: there is no ResourceSlice of gpu.nvidia.com. The "
		  "driver's kubelet plugin does not run on the GPU nodes, finds no card there, or "
		  "its part for GPUs is switched off (then there may be slices of ComputeDomains).",
	  .cure = { "kubectl get pods -n nvidia-dra-driver-gpu -o wide; kubectl logs -n "
		    "nvidia-dra-driver-gpu ds/nvidia-dra-driver-gpu-kubelet-plugin -c gpus "
		    "--tail=40",
		    "helm get values -a -n nvidia-dra-driver-gpu nvidia-dra-driver-gpu | grep -A1 "
		    "gpus: (enabled must be true)",
		    "kubectl get resourceslices -o wide" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/wiki" },
	{ .code = "dra_devices_taken",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "cannot allocate all claims" },
	  .any = { "@dra.claim=allocated*", "allocated,reserved" },
	  .absent = { "@dra.no_slices", "@dra.class_missing" },
	  .explains = { "dra_claims_not_allocated", "insufficient_gpu" },
	  .cause = "All devices that would satisfy the claim are allocated to other claims.",
	  .cure = { "kubectl get resourceclaims -A",
		    "Delete the Pods (and claims) that need none any more, or ask for another "
		    "device: fewer, another selector" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/dynamicresources/dynamicresources.go" },
	{ .code = "dra_api_absent",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "server doesn't have a resource type*resourceslices",
		   "server doesn't have a resource type*deviceclasses",
		   "server doesn't have a resource type*resourceclaims",
		   "server doesn't have a resource type*deviceclass",
		   "no matches for kind ResourceClaim", "no matches for kind DeviceClass",
		   "no matches for kind ResourceClaimTemplate",
		   "could not find the requested resource*resource.k8s.io",
		   "the server could not find the requested resource (get resourceslices",
		   "@dra.api_absent" },
	  .sure = { "@kubernetes.before", "@dra.api_version" },
	  .explains = { "dra_claims_not_allocated", "dra_class_missing", "dra_no_slices",
			"dra_driver_not_registered" },
	  .cause = "The API server does not serve DRA's objects, or not in the version that was "
		   "asked for: Kubernetes is older than 1.34 (v1), or the gate "
		   "DynamicResourceAllocation and the API group resource.k8s.io are not switched "
		   "on.",
	  .cure = { "kubectl api-resources --api-group=resource.k8s.io; kubectl version",
		    "Upgrade to 1.34 or later; before that start the API server with "
		    "--runtime-config=resource.k8s.io/v1beta1=true and the gate "
		    "DynamicResourceAllocation=true everywhere",
		    "Write the apiVersion that the server has in claim and class" },
	  .source = "https://kubernetes.io/docs/concepts/scheduling-eviction/"
		    "dynamic-resource-allocation/" },
	{ .code = "dra_driver_not_registered",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "DRA driver*is not registered",
		   "not found in the list of registered DRA plugins", "DRA plugin*not registered" },
	  .absent = { "@dra.api_absent" },
	  .sure = { "@dra.pod=CrashLoopBackOff", "@dra.pod=Pending", "@dra.pod=Init:*",
		    "FailedPrepareDynamicResources" },
	  .explains = { "dra_prepare_failed" },
	  .cause = "The scheduler gave the Pod a device on this node, and the kubelet there knows "
		   "no DRA driver of that name: the driver's Pod is not running or could not "
		   "register.",
	  .cure = { "kubectl get pods -n nvidia-dra-driver-gpu -o wide",
		    "ls /var/lib/kubelet/plugins_registry (on the node: gpu.nvidia.com-reg.sock)",
		    "kubectl delete pod -n nvidia-dra-driver-gpu POD (of that node)" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/dra/"
		    "manager.go" },
	{ .code = "dra_hook_too_old",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "No help topic for" },
	  .any = { "dra-driver", "resourceclaim", "@dra.pod", "@dra.cdi_kind", "@pod.claim",
		   "gpu.nvidia.com", "gpu-test", "@dra.class_wanted", "nvidia-dra" },
	  .sure = { "@toolkit.before=1.18*", "disable-device-node-modification",
		    "@dra.pod=Running" },
	  .explains = { "cdi_hook_too_old", "cdi_hook_fails", "dra_prepare_failed" },
	  .cause = "The DRA driver's CDI specification calls a hook that only newer container "
		   "toolkits have, and the nvidia-cdi-hook on the node is older, so the container "
		   "does not start.",
	  .cure = { "nvidia-ctk --version (on the node); nvidia-cdi-hook --help | grep "
		    "disable-device-node-modification",
		    "apt-get install --only-upgrade nvidia-container-toolkit || dnf upgrade "
		    "nvidia-container-toolkit (1.18 or later)",
		    "kubectl delete pod POD" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/568" },
	{ .code = "dra_mig_unmanaged",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "MIG devices found that aren't prepared to any claim",
		   "found that aren't prepared to any claim" },
	  .sure = { "@host.command=mig_create", "@dra.pod=CrashLoopBackOff",
		    "unable to sync prepared devices" },
	  .explains = { "dra_no_slices", "dra_driver_not_registered" },
	  .cause = "MIG instances were made by hand before the DRA driver started. This generation "
		   "of the driver makes instances itself and refuses to run beside any that belong "
		   "to no claim.",
	  .cure = { "nvidia-smi mig -dci; nvidia-smi mig -dgi (on the node, with no Pod on the "
		    "instances)",
		    "kubectl delete pod -n nvidia-dra-driver POD (the kubelet plugin, so that it "
		    "starts again)",
		    "Or a later release of the driver, which takes static MIG" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/149" },
	{ .code = "dra_claim_not_created",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "FailedResourceClaimCreation", "ResourceClaim not created yet",
		   "resourceclaimtemplates.resource.k8s.io*not found",
		   "resourceclaimtemplate.resource.k8s.io*not found",
		   "waiting for dynamic resource controller to create the resourceclaim",
		   "resourceclaim.resource.k8s.io*not found",
		   "resourceclaims.resource.k8s.io*not found" },
	  .absent = { "server doesn't have a resource type" },
	  .sure = { "@pod.claim", "PodResourceClaim" },
	  .explains = { "dra_claims_not_allocated" },
	  .cause = "The Pod refers to a claim or claim template that does not exist in its "
		   "namespace.",
	  .cure = { "kubectl get resourceclaims,resourceclaimtemplates -n NAMESPACE",
		    "Create it there, or correct resourceClaimName or resourceClaimTemplateName in "
		    "the Pod" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/"
		    "resourceclaim/controller.go" },
	{ .code = "dra_claim_not_reserved",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "is not allowed to use ResourceClaim", "no allocation set in ResourceClaim",
		   "claim not yet allocated", "ResourceClaim*: not allocated" },
	  .sure = { "@pod.node_name", "FailedPrepareDynamicResources" },
	  .explains = { "dra_prepare_failed" },
	  .cause = "The Pod reached its node without a scheduler that allocates and reserves "
		   "claims: spec.nodeName is set, or the named scheduler knows no DRA.",
	  .cure = { "kubectl get pod POD -o jsonpath='{.spec.nodeName} {.spec.schedulerName}'; "
		    "kubectl get resourceclaim -n NAMESPACE",
		    "Use nodeSelector in place of nodeName, and the default scheduler" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/dra/"
		    "manager.go" },
	{ .code = "dra_settings_conflict",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "has conflicting configuration with already prepared claim",
		   "cannot apply GpuConfig to device", "cannot apply MigDeviceConfig to device",
		   "error decoding config parameters", "invalid config source",
		   "strict decoding error: unknown field spec.devices" },
	  .sure = { "FailedPrepareDynamicResources", "GpuConfig" },
	  .explains = { "dra_prepare_failed" },
	  .cause = "The claim's opaque configuration (sharing, time-slice, MPS) cannot be used: it "
		   "contradicts that of another claim on the same card, or it is for another kind "
		   "of device or not readable.",
	  .cure = { "kubectl get resourceclaim NAME -n NAMESPACE -o yaml | grep -A15 config",
		    "Give all claims on that card the same sharing, of apiVersion "
		    "resource.nvidia.com/v1beta1" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/main/cmd/"
		    "gpu-kubelet-plugin/device_state.go" },
	{ .code = "dra_feature_gate_off",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "is selected as the GPU sharing strategy, but the*feature gate is not enabled",
		   "GPU sharing strategy, but the*feature gate", "feature gate validation failed",
		   "is currently mutually exclusive with",
		   "--consumable-shares requires feature gate",
		   "MPS sharing is not supported when consumable shares is enabled" },
	  .sure = { "@feature_gate", "featureGates" },
	  .explains = { "dra_prepare_failed", "dra_no_slices", "dra_settings_conflict" },
	  .cause = "A feature of the DRA driver that is used (time-slicing settings, MPS, dynamic "
		   "MIG, consumable shares) is off by default, or excludes another one that is on.",
	  .cure = { "helm get values nvidia-dra-driver-gpu -n nvidia-dra-driver-gpu",
		    "helm upgrade ... --set featureGates.MPSSupport=true (or TimeSlicingSettings, "
		    "DynamicMIG); DynamicMIG excludes MPSSupport, PassthroughSupport and "
		    "NVMLDeviceHealthCheck" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/main/pkg/"
		    "featuregates/featuregates.go" },
	{ .code = "dra_mps_not_ready",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "MPS control daemon is not yet ready", "control daemon not yet ready",
		   "mps-control-daemon-*forbidden",
		   "mps-control-daemon-*unable to validate against any security context "
		   "constraint" },
	  .absent = { "error waiting for MPS daemon" },
	  .sure = { "FailedPrepareDynamicResources", "NodePrepareResources" },
	  .explains = { "dra_prepare_failed", "mps_daemon_not_ready" },
	  .cause = "For a claim with MPS the DRA driver starts a privileged control daemon of its "
		   "own and waits for it. That Pod does not become ready: refused by policy "
		   "(OpenShift), no image, or MPS fails.",
	  .cure = { "kubectl get deploy,pods -n nvidia-dra-driver-gpu | grep mps-control-daemon; "
		    "kubectl describe pod -n nvidia-dra-driver-gpu MPS-POD",
		    "OpenShift: oc adm policy add-scc-to-user privileged -z SERVICEACCOUNT -n "
		    "nvidia-dra-driver-gpu" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/1212" },
	{ .code = "dra_claim_spec_lost",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "unresolvable CDI devices k8s.gpu.nvidia.com/",
		   "unresolvable CDI devices*/claim=",
		   "unresolvable CDI devices*nvidia.com/claim" },
	  .sure = { "@host.command=reboot", "@cdi.dir_empty", "CreateContainerError" },
	  .explains = { "cdi_device_unknown", "dra_prepare_failed", "cdi_disabled" },
	  .cause = "The claim is prepared in the driver's book, and its CDI file under "
		   "/var/run/cdi is gone: that folder does not survive a reboot, and the driver "
		   "did not write it again.",
	  .cure = { "ls /var/run/cdi (on the node)",
		    "kubectl delete pod POD, so that its claim is prepared anew; if it stays: "
		    "restart the driver's kubelet plugin on that node" },
	  .source = "https://github.com/kubernetes/kubernetes/issues/141433" },
	{ .code = "dra_checkpoint_broken",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "checkpoint failed checksum verification",
		   "unable to sync prepared devices from checkpoint",
		   "unable to get checkpoint: checkpoint is corrupted",
		   "unable to get checkpoint*checkpoint is not found",
		   "unable to update checkpoint" },
	  .absent = { "kubelet_internal_checkpoint" },
	  .sure = { "@dra.pod=CrashLoopBackOff", "dra-driver", "gpu-kubelet-plugin" },
	  .explains = { "dra_no_slices", "dra_driver_not_registered", "kubelet_checkpoint_broken" },
	  .cause = "The DRA driver's own file of prepared claims cannot be read: written by "
		   "another release, or cut off. It does not start with it.",
	  .cure = { "ls -l /var/lib/kubelet/plugins/gpu.nvidia.com/checkpoint.json (on the node)",
		    "Drain the node, move that file away, and restart the driver's Pod" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/main/cmd/"
		    "gpu-kubelet-plugin/device_state.go" },
	{ .code = "dra_driver_root_wrong",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Has the NVIDIA GPU driver been set up? It is expected to be installed under",
		   "expected to be installed under NVIDIA_DRIVER_ROOT",
		   "review the DRA driver's nvidiaDriverRoot", "Hint: NVIDIA_DRIVER_ROOT is set to",
		   "failed to locate driver libraries", "failed to locate nvidia-smi" },
	  .sure = { "@dra.driver_root", "@dra.pod=Init:*", "/driver-root" },
	  .explains = { "dra_no_slices", "dra_driver_not_registered", "driver_not_installed",
			"dra_only_compute_domains" },
	  .cause = "The DRA driver looks for the GPU driver under another root than it has: "
		   "nvidiaDriverRoot says the host's / where gpu-operator has it in "
		   "/run/nvidia/driver, or the other way round.",
	  .cure = { "ls /run/nvidia/driver/usr/bin/nvidia-smi /usr/bin/nvidia-smi (on the node: "
		    "which one exists)",
		    "helm upgrade nvidia-dra-driver-gpu ... --reuse-values --set "
		    "nvidiaDriverRoot=/run/nvidia/driver (or /)" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/main/hack/"
		    "kubelet-plugin-prestart.sh" },
	{ .code = "dra_compute_domain_not_ready",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "error asserting ComputeDomain Ready", "current node not ready in ComputeDomain",
		   "label already exists for a different ComputeDomain",
		   "channel # already allocated by claim" },
	  .sure = { "compute-domain", "FailedPrepareDynamicResources" },
	  .explains = { "dra_prepare_failed" },
	  .cause = "The Pod uses a ComputeDomain, and not all of its nodes have a working IMEX "
		   "daemon yet, or this node already belongs to another domain.",
	  .cure = { "kubectl get computedomains -A -o yaml | grep -A10 status",
		    "kubectl get pods -n nvidia-dra-driver-gpu -o wide | grep "
		    "computedomain-daemon; nvidia-imex-ctl -N (in it)",
		    "One ComputeDomain a node at a time: end the older one" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/main/cmd/"
		    "compute-domain-kubelet-plugin/computedomain.go" },
	{ .code = "dra_imex_unavailable",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "feature requires GPU driver version >=", "host nvidia-imex daemon not ready",
		   "host nvidia-imex daemon readiness check failed",
		   "imex configuration validation failed" },
	  .sure = { "compute-domain", "@driver.version" },
	  .explains = { "dra_prepare_failed", "dra_compute_domain_not_ready" },
	  .cause = "ComputeDomains need nvidia-imex and a driver of 570.158.01 or later on every "
		   "node of the domain, and this node does not have them.",
	  .cure = { "nvidia-smi --query-gpu=driver_version --format=csv,noheader; systemctl status "
		    "nvidia-imex",
		    "Upgrade the driver, or switch the feature off: --set "
		    "featureGates.IMEXDaemonsWithDNSNames=false" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/main/cmd/"
		    "compute-domain-kubelet-plugin/driver.go" },
	{ .code = "dra_device_tainted",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "DeviceTaintManagerEviction", "gpu.nvidia.com/xid", "gpu.nvidia.com/gpu-lost",
		   "key: gpu.nvidia.com/unmonitored" },
	  .sure = { "@kernel.xid", "NoSchedule", "NoExecute", "NVRM: Xid" },
	  .explains = { "dra_claims_not_allocated" },
	  .cause = "The DRA driver saw an error on the card and tainted its device, so it is not "
		   "allocated any more (or its Pods are evicted). The taint stays until the "
		   "driver's plugin restarts.",
	  .cure = { "kubectl get resourceslices -o yaml | grep -B12 -A4 'gpu.nvidia.com/xid'; "
		    "dmesg | grep Xid (on the node)",
		    "Reset the card (nvidia-smi --gpu-reset -i GPU) or reboot, then restart the "
		    "driver's kubelet plugin there" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/main/cmd/"
		    "gpu-kubelet-plugin/device_health.go" },
	{ .code = "dra_selector_matches_none",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "CEL expression*runtime error", "selector #: CEL",
		   "no such key: *device.attributes", "unknown error when evaluating CEL",
		   "selector*CEL runtime error" },
	  .sure = { "cannot allocate all claims", "device.attributes" },
	  .explains = { "dra_claims_not_allocated" },
	  .cause = "The selector of the claim or class (a CEL expression) fails on the devices, "
		   "usually for an attribute that this driver does not publish or that is of "
		   "another type.",
	  .cure = { "kubectl get resourceslices -o yaml | grep -A30 attributes",
		    "Use device.attributes['gpu.nvidia.com'].NAME with a name from there, versions "
		    "by compareTo(semver(...))" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/"
		    "dynamic-resource-allocation/structured/allocator.go" },
	{ .code = "dra_claim_stuck_unprepare",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Failed to unprepare dynamic resources", "unprepare dynamic resources:",
		   "NodeUnprepareResources failed for ResourceClaim",
		   "NodeUnprepareResources: rpc error" },
	  .sure = { "Terminating", "@dra.pod=CrashLoopBackOff", "FailedKillPod" },
	  .cause = "A Pod cannot end, because the DRA driver does not take its device back: it is "
		   "not running on the node or fails at it. The device stays taken.",
	  .cure = { "kubectl get pods -n nvidia-dra-driver-gpu -o wide; kubectl logs -n "
		    "nvidia-dra-driver-gpu POD -c gpus --tail=40",
		    "Start the driver again on that node; the kubelet retries by itself" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/dra/"
		    "manager.go" },
	{ .code = "dra_imex_address_family",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "Address family not supported by protocol*50005",
		   "50005: Address family not supported by protocol", "last error: UNKNOWN: ipv6",
		   "imex*Address family not supported", "Query Status returned error code: 14" },
	  .sure = { "nvidia-imex-ctl", "Startup probe failed", "compute-domain-daemon" },
	  .explains = { "dra_compute_domain_not_ready", "dra_prepare_failed" },
	  .cause = "The ComputeDomain's daemon or its probe uses an IPv6 address, and the node has "
		   "no IPv6 (or the other way round), so the IMEX daemon never counts as ready.",
	  .cure = { "cat /proc/sys/net/ipv6/conf/all/disable_ipv6 (on the node)",
		    "Upgrade the DRA driver to 25.3.1 or later (it binds to the Pod's own "
		    "address), or switch IPv6 on in the node's kernel" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/328" },
	{ .code = "dra_imex_no_own_address",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "No matching network interface found for any IP",
		   "no matching network interface found*node configuration file" },
	  .sure = { "nodes_config.cfg", "compute-domain", "IMEX version" },
	  .explains = { "dra_compute_domain_not_ready", "dra_prepare_failed",
			"dra_imex_unavailable" },
	  .cause = "None of the addresses in the IMEX daemon's node list belongs to this node (or "
		   "Pod): it started before it had its address, or the list is of another network.",
	  .cure = { "cat /etc/nvidia-imex/nodes_config.cfg (in the ComputeDomain: "
		    "/imexd/nodes_config.cfg); ip -br address",
		    "Correct the list, or restart the daemon once the interface is up (systemctl "
		    "restart nvidia-imex; delete the daemon's Pod)" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/289" },
	{ .code = "dra_host_imex_runs",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "nvidia-imex.service" },
	  .any = { "compute-domain", "ComputeDomain", "imex-channel", "computedomain-daemon" },
	  .absent = { "inactive (dead)", "nvidia-imex.service could not be found",
		      "HostManagedIMEXDaemon", "hostManaged" },
	  .sure = { "active (running)", "NV_ERR_STATE_IN_USE" },
	  .explains = { "dra_compute_domain_not_ready", "dra_prepare_failed",
			"dra_imex_unavailable" },
	  .cause = "The service nvidia-imex of the host runs. The driver serves one IMEX daemon "
		   "only, so the one that the DRA driver starts for a ComputeDomain does not come "
		   "up.",
	  .cure = { "systemctl disable --now nvidia-imex.service && systemctl mask "
		    "nvidia-imex.service (on every node)",
		    "kubectl delete pod -n nvidia-dra-driver-gpu -l "
		    "resource.nvidia.com/computeDomain (the daemons, so that they start again)" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/524" },
	{ .code = "dra_not_enabled_for_operator",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "DRA driver is enabled in ClusterPolicy but Dynamic Resource Allocation is not "
		   "enabled",
		   "failed to validate DRA",
		   "Dynamic Resource Allocation is not enabled in the kubernetes cluster" },
	  .sure = { "ClusterPolicy validation failed", "@kubernetes.before", "ReconcileFailed" },
	  .explains = { "dra_api_absent", "dra_no_slices", "dra_class_missing" },
	  .cause = "gpu-operator was told to run the DRA driver, and this cluster does not serve "
		   "Dynamic Resource Allocation, so the operator stops at its ClusterPolicy.",
	  .cure = { "kubectl api-resources --api-group=resource.k8s.io",
		    "Upgrade Kubernetes to 1.34 or later (or enable the gate and the API group), "
		    "or switch the DRA driver off: kubectl patch clusterpolicy/cluster-policy "
		    "--type=merge -p "
		    "'{\"spec\":{\"draDriver\":{\"gpus\":{\"enabled\":false},\"computeDomains\":{"
		    "\"enabled\":false}}}}'" },
	  .source = "https://github.com/NVIDIA/gpu-operator/pull/1541" },
	{ .code = "dra_spec_before_device_nodes",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .seen = { "@host.no_dev_nodes" },
	  .any = { "dra-driver", "@pod.claim", "@dra.slice_driver=gpu.*", "resourceclaim",
		   "k8s.gpu.nvidia.com", "@dra.cdi_kind" },
	  .absent = { "@driver.smi_error_host=not_loaded", "@dra.class_missing" },
	  .sure = { "@driver.loaded", "Could not locate /dev/nvidia",
		    "no CUDA-capable device is detected" },
	  .explains = { "device_nodes_missing", "no_cuda_device", "dra_prepare_failed",
			"uvm_not_loaded" },
	  .cause = "The DRA driver wrote its CDI specification before the node had any "
		   "/dev/nvidia* (the module is loaded, but nothing had opened it yet), so the "
		   "first Pods get a claim without devices.",
	  .cure = { "nvidia-modprobe -u -c=0 (on the node), or enable nvidia-persistenced so that "
		    "the nodes exist after each boot",
		    "kubectl delete pod -n nvidia-dra-driver-gpu POD (the kubelet plugin of that "
		    "node), then the Pods that lack devices" },
	  .source = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/1380" },
	{ .code = "dra_claim_full",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "resourceclaim in use",
		   "claim already reserved for the maximum number of consumers",
		   "status.reservedFor: Too many" },
	  .absent = { "Successfully assigned" },
	  .sure = { "@dra.claim=*reserved*", "reservedFor:" },
	  .explains = { "dra_claims_not_allocated" },
	  .cause =
		  "The claim is allocated and cannot be reserved for one more Pod: a ResourceClaim "
		  "takes at most 256 of them, and Pods that ended may still stand in its list.",
	  .cure = { "kubectl get resourceclaim NAME -n NAMESPACE -o "
		    "jsonpath='{.status.reservedFor[*].name}'",
		    "Delete Pods that ended, or use a second claim (or a ResourceClaimTemplate, "
		    "that is one for each Pod)" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/dynamicresources/dynamicresources.go" },
	{ .code = "dra_allocation_times_out",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "timed out trying to allocate devices", "timed out trying to allocate" },
	  .absent = { "Successfully assigned" },
	  .sure = { "DynamicResources", "filterTimeout" },
	  .explains = { "dra_claims_not_allocated" },
	  .cause = "The scheduler did not find devices for the claim within its time (10 s a "
		   "node): the claim has so many requests, constraints or selectors over so many "
		   "devices that trying them all takes longer.",
	  .cure = { "kubectl get resourceslices -o wide; kubectl get resourceclaim NAME -n "
		    "NAMESPACE -o yaml (how many requests and constraints)",
		    "Make the claim narrower: fewer requests, a selector that leaves few devices",
		    "filterTimeout of the plugin DynamicResources in the scheduler's configuration "
		    "gives it more time" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/"
		    "plugins/dynamicresources/dynamicresources.go" },
	{ .code = "dra_old_claim_prepared",
	  .link = REASON_LINK_DRA,
	  .certainty = CERTAINTY_LIKELY,
	  .any = { "old ResourceClaim with same name*still exists",
		   "still exists (previous pod force-deleted" },
	  .sure = { "FailedPrepareDynamicResources", "--force" },
	  .explains = { "dra_prepare_failed", "dra_claim_not_created" },
	  .cause = "The kubelet still holds a claim of the same name from a Pod that was deleted "
		   "by force, and gives the new Pod no device until the old one is taken back.",
	  .cure = { "kubectl get pods -n nvidia-dra-driver-gpu -o wide (the DRA driver must run on "
		    "that node to take the old claim back)",
		    "Wait a minute; if it stays: systemctl restart kubelet (on that node)",
		    "Delete Pods without --force --grace-period=0" },
	  .source = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/cm/dra/"
		    "manager.go" },
	{ .code = NULL },
};
