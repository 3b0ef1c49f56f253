/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_of.h"
#include "test.h"

#include "base/base.h"

static const struct reading readings[] = {
	{ "version 2, not the default",
	  NULL,
	  "--- cat /etc/containerd/config.toml\nversion = 2\n"
	  "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\n  default_runtime_name = \"runc\"\n"
	  "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n"
	  "  SystemdCgroup = true\n"
	  "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\n"
	  "  runtime_type = \"io.containerd.runc.v2\"\n"
	  "  [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia.options]\n"
	  "    BinaryName = \"/usr/bin/nvidia-container-runtime\"\n    SystemdCgroup = false\n",
	  { "containerd.config_version=2", "containerd.section=grpc_cri",
	    "containerd.nvidia=nvidia", "containerd.nvidia_not_default=runc",
	    "containerd.systemd_cgroup=false", "containerd.systemd_cgroup_differs",
	    "containerd.no_imports", "containerd.file=etc",
	    "containerd.binary=*nvidia-container-runtime" },
	  { "containerd.section_ignored", "containerd.no_nvidia", "containerd.default_undefined",
	    "runtime.ok" } },
	{ "version 3, the default, imported",
	  NULL,
	  "version = 3\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n"
	  "[plugins.'io.containerd.cri.v1.runtime'.containerd]\n  default_runtime_name = 'nvidia'\n"
	  "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia.options]\n"
	  "  BinaryName = '/usr/local/nvidia/toolkit/nvidia-container-runtime'\n"
	  "[plugins.'io.containerd.cri.v1.runtime']\n  enable_cdi = true\n",
	  { "containerd.nvidia_default", "containerd.imports=/etc/*", "containerd.section=cri_v1",
	    "containerd.cdi=true", "runtime.ok" },
	  { "containerd.nvidia_not_default", "containerd.no_imports",
	    "containerd.section_ignored" } },
	{ "version 3 with the sections of version 2",
	  NULL,
	  "version = "
	  "3\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia.options]\n"
	  "BinaryName = \"/usr/bin/nvidia-container-runtime\"\n",
	  { "containerd.section_ignored=3" },
	  { "runtime.ok" } },
	{ "a fragment without a version",
	  NULL,
	  "--- grep nvidia /var/lib/rancher/k3s/agent/etc/containerd/config.toml\n"
	  "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.\"nvidia\"]\n"
	  "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.\"nvidia\".options]\n"
	  "  BinaryName = \"/usr/bin/nvidia-container-runtime\"\n"
	  "--- /etc/containerd/config.toml\ndisabled_plugins = [\"cri\"]\nversion = 1\n[plugins]\n"
	  "  [plugins.cri]\n    [plugins.cri.containerd]\n      [plugins.cri.containerd.runtimes]\n"
	  "        [plugins.cri.containerd.runtimes.nvidia]\n"
	  "          runtime_type = \"io.containerd.runc.v2\"\n",
	  { "containerd.nvidia_not_default", "containerd.file=k3s", "distribution=k3s",
	    "containerd.wrong_file=k3s", "containerd.cri_disabled", "containerd.config_version=1" },
	  { "containerd.section_ignored" } },
	{ "the old table of the default",
	  NULL,
	  "[plugins]\n  [plugins.cri]\n    [plugins.cri.containerd]\n"
	  "      [plugins.cri.containerd.default_runtime]\n"
	  "        runtime_type = \"io.containerd.runtime.v1.linux\"\n"
	  "        [plugins.cri.containerd.default_runtime.options]\n"
	  "          Runtime = \"/usr/local/nvidia/toolkit/nvidia-container-runtime\"\n"
	  "      [plugins.cri.containerd.runtimes]\n        "
	  "[plugins.cri.containerd.runtimes.nvidia]\n"
	  "          [plugins.cri.containerd.runtimes.nvidia.options]\n"
	  "            Runtime = \"/usr/local/nvidia/toolkit/nvidia-container-runtime\"\n",
	  { "containerd.old_default", "containerd.nvidia_not_default",
	    "containerd.config_version=1" },
	  { "containerd.default_runtime", "containerd.default_undefined" } },
	{ "a drop-in that nobody reads",
	  NULL,
	  "--- /etc/containerd/config.toml\ndisabled_plugins = [\n  \"cri\",\n]\n"
	  "--- ls /etc/containerd/conf.d\n99-nvidia.toml\n"
	  "--- grep -n imports /etc/containerd/config.toml\n(no output)\n",
	  { "containerd.cri_disabled", "containerd.no_imports", "containerd.drop_in=99-nvidia.toml",
	    "containerd.drop_in_unread" },
	  { "containerd.imports" } },
	{ "CRI-O",
	  NULL,
	  "[crio.runtime]\ndefault_runtime = \"runc\"\n[crio.runtime.runtimes.runc]\n"
	  "runtime_path = \"/usr/bin/runc\"\n",
	  { "crio.default_runtime=runc", "crio.no_nvidia" },
	  { "crio.nvidia", "containerd.nvidia" } },
	{ "toolkit",
	  NULL,
	  "#accept-nvidia-visible-devices-as-volume-mounts = true\n"
	  "accept-nvidia-visible-devices-envvar-when-unprivileged = false\n[nvidia-container-cli]\n"
	  "no-cgroups = true\nldconfig = \"@/sbin/ldconfig\"\n[nvidia-container-runtime]\n"
	  "mode = \"cdi\"\n",
	  { "toolkit.no_cgroups", "toolkit.env_refused", "toolkit.mode=cdi",
	    "toolkit.ldconfig=@*" },
	  { "toolkit.volume_mounts" } },
	{ "daemon.json",
	  NULL,
	  "--- cat /etc/docker/daemon.json\n{\n    \"exec-opts\": "
	  "[\"native.cgroupdriver=systemd\"],\n"
	  "    \"default-runtime\": \"runc\",\n    \"runtimes\": {\n        \"nvidia\": {\n"
	  "            \"args\": [],\n            \"path\": \"nvidia-container-runtime\"\n"
	  "        }\n    }\n}\n",
	  { "docker.nvidia", "docker.default_runtime=runc", "docker.cgroup_driver=systemd" },
	  { "docker.no_nvidia", "containerd.nvidia" } },
	{ "docker info",
	  NULL,
	  " Server Version: 24.0.5\n Cgroup Driver: cgroupfs\n Cgroup Version: 2\n"
	  " Runtimes: io.containerd.runc.v2 runc\n Default Runtime: runc\n"
	  " Docker Root Dir: /var/snap/docker/common/var-lib-docker\n",
	  { "docker.no_nvidia", "host.cgroup=v2", "docker.version=24.0.5", "docker.snap" },
	  { "docker.nvidia", "kubernetes.version" } },
	{ "docker inspect",
	  NULL,
	  "        \"HostConfig\": {\n            \"Runtime\": \"runc\",\n"
	  "            \"ShmSize\": 67108864,\n            \"DeviceRequests\": [\n                "
	  "{\n"
	  "                    \"Capabilities\": [\n                        [\n"
	  "                            \"gpu\",\n                            \"utility\"\n"
	  "                        ]\n                    ],\n                }\n            ]\n   "
	  "     },\n"
	  "        \"Config\": {\n            \"Env\": [\n"
	  "                \"NVIDIA_VISIBLE_DEVICES=void\",\n            ]\n",
	  { "docker.container_runtime=runc", "docker.no_compute=gpu,utility", "pod.shm_small",
	    "pod.visible_devices=void" },
	  { "docker.no_device_request" } },
	{ "docker inspect of --gpus all",
	  NULL,
	  "\"Capabilities\":[[\"gpu\"]]\n",
	  { "docker.capabilities=gpu" },
	  { "docker.no_compute" } },
	{ "CDI, stale",
	  NULL,
	  "--- cat /etc/cdi/nvidia.yaml\ncdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n"
	  "- containerEdits:\n    deviceNodes:\n    - path: /dev/nvidia0\n  name: \"0\"\n- name: "
	  "all\n"
	  "containerEdits:\n  hooks:\n  - args:\n    - nvidia-cdi-hook\n    - update-ldcache\n"
	  "  mounts:\n  - containerPath: /usr/lib/libcuda.so.535.54.03\n"
	  "    hostPath: /usr/lib/libcuda.so.535.54.03\n"
	  "--- nvidia-smi\n| NVIDIA-SMI 535.86.10  Driver Version: 535.86.10  CUDA Version: 12.2 "
	  "|\n",
	  { "cdi.kind=nvidia.com/gpu", "cdi.device=all", "cdi.device=0", "cdi.version=0.5.0",
	    "cdi.driver_version=535.54.03", "cdi.stale", "cdi.hook=update-ldcache" },
	  { "cdi.no_devices" } },
	{ "CDI list",
	  NULL,
	  "INFO[0000] Found 2 CDI devices\nnvidia.com/gpu=0\nnvidia.com/gpu=all\n",
	  { "cdi.device=all", "seen.cdi_list" },
	  { "cdi.no_devices", "seen.node_labels" } },
};

TEST(runtimes_are_read)
{
	readings_check(readings, ARRAY_SIZE(readings));
}
