/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_of.h"
#include "test.h"

#include "base/base.h"

static const struct reading readings[] = {
	{ "modules by grep",
	  NULL,
	  "--- lsmod | grep nvidia\nnvidia_drm\nnvidia_modeset\nnvidia\n",
	  { "driver.module=nvidia_drm", "driver.loaded", "seen.lsmod" },
	  { "driver.not_loaded", "driver.nouveau", "driver.no_uvm" } },
	{ "modules without nvidia",
	  NULL,
	  "Module                  Size  Used by\nnouveau 2306048 1\ni2c_algo_bit 16384 1 nouveau\n"
	  "drm_ttm_helper 16384 1 nouveau\nttm 106496 2 drm_ttm_helper,nouveau\nkvm 1 0\n--- "
	  "lsmod\n"
	  "a 1 0\nb 1 0\nc 1 0\nd 1 0\ne 1 0\n",
	  { "driver.not_loaded", "driver.nouveau" },
	  { "driver.loaded" } },
	{ "modules without uvm",
	  NULL,
	  "nvidia_drm 77824 0\nnvidia_modeset 1306624 1 nvidia_drm\nnvidia 56725504 1 "
	  "nvidia_modeset\n",
	  { "driver.no_uvm" },
	  { "driver.not_loaded" } },
	{ "kernel",
	  NULL,
	  "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC "
	  "2023\n"
	  "[  12.3] NVRM: Xid (PCI:0000:41:00): 79, pid='<unknown>', GPU has fallen off the bus.\n",
	  { "driver.module_version=535.54.03", "driver.closed_module", "kernel.xid=79",
	    "driver.loaded" },
	  { "driver.open_module", "driver.versions_differ" } },
	{ "open module",
	  NULL,
	  "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.86.10  Release Build\n",
	  { "driver.open_module", "driver.module_version=570.86.10" },
	  { "driver.closed_module" } },
	{ "mismatch",
	  NULL,
	  "Nov 30 10:00:00 a kernel: NVRM: API mismatch: the client has the version 570.195.03, "
	  "but\n"
	  "NVRM: this kernel module has the version 570.124.06.  Please\n",
	  { "driver.versions_differ=570.124.06 570.195.03" },
	  { NULL } },
	{ "a cut version is the same version",
	  NULL,
	  "NVRM: this kernel module has the version 570.195.03.\nNVML library version: 570.195\n",
	  { "driver.library_version=570.195" },
	  { "driver.versions_differ" } },
	{ "libraries",
	  NULL,
	  "--- container: ls /usr/lib/x86_64-linux-gnu | grep -E 'libnvidia-ml|libcuda'\n"
	  "libnvidia-ml.so.1\nlibdxcore.so\n",
	  { "host.no_libcuda", "host.library=libnvidia-ml.so.1" },
	  { "host.library=libcuda*" } },
	{ "libraries of a compat folder",
	  NULL,
	  "lrwxrwxrwx 1 root root 12 Jan 1 00:00 /usr/local/cuda/compat/libcuda.so.1 -> "
	  "libcuda.so.555.42.02\n",
	  { "host.compat_libcuda", "image.compat" },
	  { "driver.library_version" } },
	{ "ldconfig -p",
	  NULL,
	  "\tlibcuda.so.1 (libc6,x86-64) => /usr/local/cuda/lib64/stubs/libcuda.so.1\n",
	  { "host.stub_libcuda" },
	  { "host.no_libcuda" } },
	{ "device nodes",
	  NULL,
	  "--- ls -l /dev/nvidia*\ncrw-rw-rw- 1 root root 195, 0 Jan 1 00:00 /dev/nvidia0\n"
	  "crw-rw-rw- 1 root root 195, 255 Jan 1 00:00 /dev/nvidiactl\n",
	  { "host.no_uvm_node", "host.dev_node=nvidiactl" },
	  { "host.no_dev_nodes" } },
	{ "no device nodes",
	  NULL,
	  "ls: cannot access '/dev/nvidia*': No such file or directory\n",
	  { "host.no_dev_nodes" },
	  { NULL } },
	{ "sockets",
	  NULL,
	  "--- ls /var/lib/kubelet/device-plugins\nkubelet.sock\nkubelet_internal_checkpoint\n",
	  { "plugin.no_socket" },
	  { "plugin.socket" } },
	{ "cgroups",
	  NULL,
	  "--- stat -fc %T /sys/fs/cgroup\ncgroup2fs\n",
	  { "host.cgroup=v2" },
	  { "host.cgroup=v1" } },
	{ "versions",
	  NULL,
	  "--- nvidia-container-cli -V\ncli-version: 1.17.8\nlib-version: 1.17.8\n"
	  "--- kubelet --version\n1.10.11+nvidia\n--- versions\nv1.30.1\nHAMi v2.5.0, Kubernetes "
	  "1.31.6\n"
	  "--- dpkg -l | grep nvidia\nii  nvidia-driver-535   535.54.03-0ubuntu1   amd64  driver\n"
	  "--- uname -r\n5.10.16.3-microsoft-standard-WSL2\n",
	  { "toolkit.version=1.17.8", "toolkit.before=1.18", "kubelet.version=1.10.11",
	    "kubernetes.version=1.30.1", "hami.version=2.5.0", "driver.package_version=535.54.03",
	    "host.wsl" },
	  { "toolkit.before=1.14", "kubernetes.before=1.20" } },
	{ "history",
	  NULL,
	  "--- shell history on the node\nsudo nvidia-ctk runtime configure --runtime=containerd\n"
	  "systemctl daemon-reload\n",
	  { "host.command=daemon_reload", "host.command=configure_runtime", "host.no_restart" },
	  { "host.command=reboot" } },
	{ "history with a restart",
	  NULL,
	  "$ nvidia-ctk runtime configure --runtime=docker\n$ sudo systemctl restart docker\n",
	  { "host.command=restart_docker" },
	  { "host.no_restart" } },
	{ "SELinux",
	  NULL,
	  "--- getenforce\nEnforcing\ntype=AVC msg=audit(1611137309.671:5406): avc:  denied  { "
	  "read } for "
	  "comm=\"nvidia-smi\" scontext=system_u:system_r:container_t:s0\n",
	  { "host.selinux=enforcing", "host.selinux_denied" },
	  { NULL } },
	{ "plugin's log",
	  NULL,
	  "I0120 07:09:15.6 1 server.go:146] Registered device plugin for 'nvidia.com/gpu' with "
	  "Kubelet\n",
	  { "plugin.registered=nvidia.com/gpu", "plugin.ok", "seen.plugin_log" },
	  { NULL } },
	{ "service",
	  NULL,
	  "--- systemctl status nvidia-fabricmanager\n   Active: inactive (dead)\n"
	  "Unit nvidia-persistenced.service could not be found.\n",
	  { "host.service=nvidia-fabricmanager inactive",
	    "host.service=nvidia-persistenced not_found" },
	  { NULL } },
	{ "nothing printed",
	  NULL,
	  "$ lspci | grep -i nvidia\n$ ls /etc/cdi\n$ uname -r\n5.15.0-25-generic\n",
	  { "driver.no_card", "cdi.dir_empty", "kernel.release=5.15.0-25-generic" },
	  { NULL } },
	{ "PCI",
	  NULL,
	  "01:00.0 3D controller: NVIDIA Corporation GA100\n\tKernel driver in use: vfio-pci\n"
	  "\t\tLnkSta: Speed 8GT/s, Width x4 (downgraded)\n",
	  { "driver.vfio", "card.pcie_width_low", "seen.lspci" },
	  { "driver.no_card" } },
};

TEST(hosts_are_read)
{
	readings_check(readings, ARRAY_SIZE(readings));
}
