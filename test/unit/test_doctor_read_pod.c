/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_of.h"
#include "test.h"

#include "base/base.h"

static const struct reading readings[] = {
	{ "limit only",
	  NULL,
	  "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: c\n"
	  "    image: nvidia/cuda:12.4.1-base-ubuntu22.04\n    resources:\n      limits:\n"
	  "        nvidia.com/gpu: 1\n",
	  { "pod.resource=nvidia.com/gpu", "pod.gpu=1", "seen.pod", "pod.no_runtime_class",
	    "pod.image=nvidia/cuda:*", "pod.image_cuda=12.4.1" },
	  { "pod.gpu.many", "pod.gpu.fractional", "pod.no_gpu",
	    "pod.gpu.requests_without_limits" } },
	{ "requests only, as JSON",
	  NULL,
	  "{\n  \"kind\": \"Pod\",\n  \"spec\": {\n    \"containers\": [\n      {\n"
	  "        \"name\": \"c\",\n        \"resources\": {\n          \"requests\": {\n"
	  "            \"example.org/gpu\": \"2\"\n          }\n        }\n      }\n    ]\n  "
	  "}\n}\n",
	  { "pod.gpu.requests_without_limits=example.org/gpu", "pod.gpu=2", "pod.gpu.many=2" },
	  { "pod.no_gpu" } },
	{ "the kubelet's record, a card given twice",
	  NULL,
	  "{\"Data\":{\"PodDeviceEntries\":[{\"PodUID\":\"0d7\",\"ContainerName\":\"a\","
	  "\"ResourceName\":"
	  "\"nvidia.com/"
	  "gpu\",\"DeviceIDs\":{\"-1\":[\"GPU-4f\"]}},{\"PodUID\":\"91b\",\"ResourceName\":"
	  "\"nvidia.com/gpu\",\"DeviceIDs\":{\"0\":[\"GPU-11\",\"GPU-4f\"]}}]}}\n",
	  { "kubelet.device_twice=GPU-4f" },
	  { "kubelet.device_twice=GPU-11" } },
	{ "the kubelet's record, one Pod, other resources, another file",
	  NULL,
	  "{\"PodUID\":\"0d7\",\"ResourceName\":\"nvidia.com/gpu\",\"DeviceIDs\":[\"GPU-4f\"]}\n"
	  "{\"PodUID\":\"0d7\",\"ResourceName\":\"nvidia.com/gpu\",\"DeviceIDs\":[\"GPU-4f\"]}\n"
	  "{\"PodUID\":\"1\",\"ResourceName\":\"example.com/nic\",\"DeviceIDs\":[\"0\"]}\n"
	  "{\"PodUID\":\"2\",\"ResourceName\":\"example.com/nic\",\"DeviceIDs\":[\"0\"]}\n%%% b\n"
	  "{\"PodUID\":\"91b\",\"ResourceName\":\"nvidia.com/gpu\",\"DeviceIDs\":[\"GPU-4f\"]}\n",
	  { NULL },
	  { "kubelet.device_twice" } },
	{ "one line of JSON",
	  NULL,
	  "{\"kind\":\"Pod\",\"spec\":{\"containers\":[{\"resources\":{\"limits\":"
	  "{\"nvidia.com/gpu\":\"0.5\"}}},{\"resources\":{}}]}}\n",
	  { "pod.gpu.fractional=0.5" },
	  { "pod.gpu.many" } },
	{ "flow",
	  NULL,
	  "resources: {limits: {nvidia.com/gpu: 500m}}\n",
	  { "pod.gpu.fractional=500m" },
	  { NULL } },
	{ "no limits line",
	  NULL,
	  "resources:\n      nvidia.com/gpu: 1\n",
	  { NULL },
	  { "pod.gpu" } },
	{ "numbers differ",
	  NULL,
	  "resources:\n  limits:\n    nvidia.com/gpu: 3\n  requests:\n    nvidia.com/gpu: 1\n",
	  { "pod.gpu.requests_differ=1 3" },
	  { "pod.gpu.requests_without_limits" } },
	{ "two containers, one GPU each",
	  NULL,
	  "containers:\n- name: a\n  resources:\n    limits:\n      nvidia.com/gpu: 1\n"
	  "- name: b\n  resources:\n    limits:\n      nvidia.com/gpu: \"1\"\n    requests:\n"
	  "      nvidia.com/gpu: \"1\"\n",
	  { "pod.gpu=1" },
	  { "pod.gpu.requests_differ", "pod.gpu.requests_without_limits", "pod.gpu.many" } },
	{ "describe without indents",
	  NULL,
	  "Name: a\nNamespace: default\nStatus: Running\nContainers:\nmain:\nImage: "
	  "busybox\nLimits:\n"
	  "nvidia.com/gpu: 2\nRequests:\nnvidia.com/gpu: 2\nEnvironment:\n"
	  "NVIDIA_VISIBLE_DEVICES: all\nTolerations: nvidia.com/gpu:NoSchedule op=Exists\n",
	  { "pod.gpu.many=2", "pod.visible_devices=all", "pod.tolerates=nvidia.com/gpu",
	    "pod.runs_with_gpu", "pod.status=Running", "pod.image=busybox" },
	  { "pod.gpu.requests_differ" } },
	{ "environment, as YAML",
	  NULL,
	  "kind: Pod\nspec:\n  nodeName: node-1\n  runtimeClassName: nvidia\n  containers:\n  - "
	  "env:\n"
	  "    - name: NVIDIA_DRIVER_CAPABILITIES\n      value: utility,video\n"
	  "    - name: OTHER\n      value: compute\n",
	  { "pod.no_compute=utility,video", "pod.no_graphics", "pod.node_name=node-1",
	    "pod.runtime_class=nvidia" },
	  { "pod.no_video", "pod.no_runtime_class" } },
	{ "node name of a Pod that an API server knows",
	  NULL,
	  "kind: Pod\nmetadata:\n  uid: 1-2\nspec:\n  nodeName: node-1\n",
	  { NULL },
	  { "pod.node_name" } },
	{ "a Pod without a GPU",
	  NULL,
	  "kind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - image: busybox\n",
	  { "pod.no_gpu=web" },
	  { "pod.gpu" } },
	{ "the plugin's own template",
	  NULL,
	  "kind: DaemonSet\nmetadata:\n  name: nvidia-device-plugin\nspec:\n  template:\n    "
	  "spec:\n"
	  "      affinity:\n        nodeAffinity:\n"
	  "          requiredDuringSchedulingIgnoredDuringExecution:\n            "
	  "nodeSelectorTerms:\n"
	  "            - matchExpressions:\n              - key: nvidia.com/gpu.present\n"
	  "      containers:\n      - image: nvcr.io/nvidia/k8s-device-plugin:v0.16.2\n"
	  "      volumes:\n      - hostPath:\n          path: /var/lib/kubelet/device-plugins\n",
	  { "plugin.node_affinity=nvidia.com/gpu.present", "plugin.version=0.16.2",
	    "plugin.kind=nvidia", "plugin.image=nvcr.io/nvidia/k8s-device-plugin",
	    "plugin.kubelet_path" },
	  { "pod.no_gpu", "kubelet.root", "pod.image" } },
};

TEST(pods_are_read)
{
	readings_check(readings, ARRAY_SIZE(readings));
}
