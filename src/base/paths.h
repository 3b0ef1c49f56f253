/* SPDX-License-Identifier: Apache-2.0 */
/* Every path, file name and environment variable that users see, in one place. */
#pragma once

#define PATH_CONFIG "/etc/gpupool/config.yaml"
/* NVIDIA's own; read by gpupool-runtime */
#define PATH_TOOLKIT_CONFIG "/etc/nvidia-container-runtime/config.toml"

#define PATH_RUN         "/run/gpupool"
#define NAME_INVENTORY   "inventory.json" /* below the run directory */
#define PATH_STATE       "/var/lib/gpupool"
#define PATH_HOST_DRIVER "/var/lib/gpupool/host" /* bin/ and lib64/ of a driver not at / */
#define PATH_CONFIGURE   PATH_STATE "/configure" /* what was there before gpupool configure */
#define PATH_LIBEXEC     "/usr/libexec/gpupool"
#define PATH_CDI         "/etc/cdi"     /* CDI specs that stay */
#define PATH_CDI_RUN     "/var/run/cdi" /* and those of this boot, which are stronger */

#define PATH_KUBELET_SOCKET "/var/lib/kubelet/device-plugins/kubelet.sock"
#define PATH_POD_RESOURCES  "/var/lib/kubelet/pod-resources/kubelet.sock"

/* Below the run directory, beside the inventory. */
#define NAME_DRIVER_FILES "driver-files.json"

#define ENV_CONFIG      "GPUPOOL_CONFIG" /* instead of PATH_CONFIG */
#define ENV_DRIVER_ROOT "GPUPOOL_DRIVER_ROOT"
#define ENV_RUN_DIR     "GPUPOOL_RUN_DIR"     /* instead of /run/gpupool, for tests and users */
#define ENV_NVML_HELPER "GPUPOOL_NVML_HELPER" /* path of the gpupool-nvml program */
#define ENV_SLICE       "GPUPOOL_SLICE"       /* in containers: "<card UUID>.m<lowest unit>" */
#define ENV_MEMORY_MIB  "GPUPOOL_MEMORY_MIB"  /* in containers: of the slice */
#define ENV_CDI_STAMP   "GPUPOOL_CDI_STAMP"   /* in containers: of which driver the CDI spec is */

#define ENV_NODE_NAME "NODE_NAME" /* what the cluster calls this machine */

#define NAME_NVML_HELPER "gpupool-nvml"
