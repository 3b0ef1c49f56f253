/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_of.h"
#include "test.h"

#include "base/base.h"

static const struct reading readings[] = {
	{ "Pods without a header",
	  NULL,
	  "gpu-pod   0/1   UnexpectedAdmissionError\nnvidia-device-plugin-xxxxx   1/1   Running\n"
	  "pod/nvidia-driver-daemonset   0/1   CrashLoopBackOff\n",
	  { "pod.status=UnexpectedAdmissionError", "plugin.pod=Running",
	    "driver.pod=CrashLoopBackOff", "plugin.kind=nvidia" },
	  { "plugin.not_ready", "plugin.absent" } },
	{ "Pods of all namespaces",
	  NULL,
	  "NAMESPACE     NAME      READY   STATUS    RESTARTS      AGE\n"
	  "kube-system   a         1/1     Running   4 (65s ago)   2m\n"
	  "kube-system   b         1/1     Running   0             2m\n"
	  "kube-system   c         1/1     Running   0             2m\n"
	  "kube-system   d         1/1     Running   0             2m\n"
	  "default       gpu-pod   0/1     Pending   0             2m\n",
	  { "plugin.absent", "pod.status=Pending" },
	  { "plugin.pod" } },
	{ "two plugins on one node",
	  NULL,
	  "NAME                          READY   STATUS             RESTARTS   AGE   IP        "
	  "NODE\n"
	  "nvidia-device-plugin-ds-abc   1/1     Running            0          2m    10.0.0.1  "
	  "gpu-1\n"
	  "hami-device-plugin-xyz        1/1     Running            3          2m    10.0.0.2  "
	  "gpu-1\n",
	  { "plugin.two" },
	  { "plugin.not_ready" } },
	{ "two plugins on different nodes",
	  NULL,
	  "NAME                          READY   STATUS    RESTARTS   AGE   IP         NODE\n"
	  "nvidia-device-plugin-ds-abc   1/1     Running   0          2m    10.0.0.1   gpu-1\n"
	  "hami-device-plugin-xyz        1/1     Running   0          2m    10.0.0.2   gpu-2\n",
	  { "plugin.pod=Running" },
	  { "plugin.two" } },
	{ "DaemonSets",
	  NULL,
	  "NAME                        DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE "
	  "SELECTOR\n"
	  "nvdp-nvidia-device-plugin   0         0         0       0            0           "
	  "<none>\n",
	  { "plugin.no_pods=nvdp-nvidia-device-plugin", "seen.daemonset" },
	  { "plugin.two" } },
	{ "nodes",
	  NULL,
	  "NAME    STATUS                     ROLES    AGE   VERSION\n"
	  "gpu-1   Ready,SchedulingDisabled   <none>   5d    v1.27.4+k3s1\n"
	  "gpu-2   NotReady                   <none>   5d    v1.27.4+k3s1\n",
	  { "node.unschedulable=gpu-1", "node.not_ready=gpu-2", "distribution=k3s",
	    "kubelet.version=1.27.4" },
	  { NULL } },
	{ "DRA without GPUs",
	  NULL,
	  "--- kubectl get deviceclasses\nNAME                                        AGE\n"
	  "compute-domain-daemon.nvidia.com            38m\n--- kubectl get resourceslices\n"
	  "NAME                                      NODE      DRIVER                      POOL    "
	  "  AGE\n"
	  "node-1-compute-domain.nvidia.com-z9csl    node-1    compute-domain.nvidia.com   node-1  "
	  "  39m\n"
	  "--- helm values\ngpuResourcesEnabledOverride: true\nresources:\n  gpus:\n    enabled: "
	  "false\n"
	  "  computeDomains:\n    enabled: true\n--- pod claim\ndeviceClassName: gpu.nvidia.com\n",
	  { "dra.class=compute-domain-daemon.nvidia.com", "dra.no_slices", "dra.gpus_enabled=false",
	    "dra.class_missing=gpu.nvidia.com", "dra.gpus_override=true" },
	  { "dra.gpus_enabled=true", "dra.ok" } },
	{ "runtime classes",
	  NULL,
	  "NAME    HANDLER   AGE\nkata    kata      5d\n",
	  { "runtimeclass.no_nvidia", "runtimeclass=kata" },
	  { NULL } },
	{ "heads without their rows",
	  NULL,
	  "--- kubectl get resourceslices\nNAME   NODE   DRIVER   POOL   AGE\n"
	  "--- kubectl get runtimeclass\nNAME    HANDLER   AGE\n",
	  { NULL },
	  { "dra.no_slices", "runtimeclass.no_nvidia" } },
	{ "nothing found",
	  NULL,
	  "--- kubectl get runtimeclass\nNo resources found\n",
	  { "runtimeclass.no_nvidia" },
	  { NULL } },
	{ "events",
	  NULL,
	  "Warning  UnexpectedAdmissionError  84s  kubelet  Allocate failed due to no healthy "
	  "devices\n"
	  "Normal   Scheduled  84s  default-scheduler  Successfully assigned default/a to b\n",
	  { "seen.events", "pod.status=UnexpectedAdmissionError" },
	  { NULL } },
	{ "allocated resources",
	  NULL,
	  "Name: gpu-1\nAllocatable:\n  cpu:  4\n  nvidia.com/gpu:  2\nAllocated resources:\n"
	  "  Resource           Requests     Limits\n  cpu                3950m (98%)  0 (0%)\n"
	  "  memory             1Gi (5%)     0 (0%)\n  nvidia.com/gpu     2            2\n",
	  { "node.gpu.full=2 of 2", "node.cpu_full" },
	  { "node.memory_full", "node.gpu.free" } },
	{ "quota",
	  NULL,
	  "Name:                    q\nResource                 Used  Hard\n--------               "
	  "  ---   ---\n"
	  "requests.nvidia.com/gpu  4     4\n",
	  { "quota.gpu_full=4 of 4" },
	  { NULL } },
	{ "count by custom columns",
	  NULL,
	  "NAME     GPU\ngpu-1    <none>\ngpu-2    4\n",
	  { "node.gpu.none=gpu-1", "node.gpu.some" },
	  { "node.gpu.zero" } },
	{ "capacity and allocatable by custom columns",
	  NULL,
	  "NAME   CAPACITY   ALLOCATABLE\ncp-1   <none>     <none>\ngpu-1  8          8\n",
	  { "plugin.ok", "node.gpu.none=cp-1" },
	  { "node.gpu.unhealthy" } },
	{ "one of them is short",
	  NULL,
	  "NAME   CAPACITY   ALLOCATABLE\ngpu-1  8          8\ngpu-2  8          7\n",
	  { "node.gpu.unhealthy=7 of 8" },
	  { "plugin.ok" } },
	{ "charts",
	  NULL,
	  "--- helm\nnvidia-device-plugin 0.15.0\n"
	  "NAME NAMESPACE REVISION UPDATED STATUS CHART APP VERSION\n"
	  "gpu-op gpu-operator 1 2024-01-01 deployed gpu-operator-v24.9.0 v24.9.0\n",
	  { "helm.chart=nvidia-device-plugin 0.15.0", "helm.chart=gpu-operator 24.9.0" },
	  { NULL } },
};

TEST(tables_are_read)
{
	readings_check(readings, ARRAY_SIZE(readings));
}
