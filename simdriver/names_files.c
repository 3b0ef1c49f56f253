/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a driver ships besides libraries, and the links of the two layouts. Debian's alternatives:
 * the postinst scripts of nvidia-alternative 535.261.03 and glx-alternative-nvidia. RHEL: as
 * names_libraries.c.
 *
 * How to add: one row; layouts is a set of bits, since and until are driver branches.
 */
#include "names.h"

#define DEBIAN (1U << NAMES_DEBIAN)
#define RHEL   (1U << NAMES_RHEL)
#define BOTH   (DEBIAN | RHEL)

static const char shell_script[] = "#!/bin/sh\nexit 0\n";
static const char egl_vendor[] = "{ \"file_format_version\": \"1.0.0\",\n"
				 "  \"ICD\": { \"library_path\": \"libEGL_nvidia.so.0\" } }\n";
static const char egl_wayland[] =
	"{ \"file_format_version\": \"1.0.0\",\n"
	"  \"ICD\": { \"library_path\": \"libnvidia-egl-wayland.so.1\" } }\n";
static const char egl_gbm[] = "{ \"file_format_version\": \"1.0.0\",\n"
			      "  \"ICD\": { \"library_path\": \"libnvidia-egl-gbm.so.1\" } }\n";
static const char vulkan_icd[] = "{ \"file_format_version\": \"1.0.1\",\n"
				 "  \"ICD\": { \"library_path\": \"libGLX_nvidia.so.0\",\n"
				 "           \"api_version\": \"1.3\" } }\n";
static const char vulkan_layers[] = "{ \"file_format_version\": \"1.0.0\", \"layers\": [] }\n";
static const char opencl_icd[] = "libnvidia-opencl.so.1\n";
static const char xorg_output[] = "Section \"OutputClass\"\n"
				  "\tIdentifier \"nvidia\"\n"
				  "\tMatchDriver \"nvidia-drm\"\n"
				  "\tDriver \"nvidia\"\n"
				  "EndSection\n";

const struct names_file names_files[] = {
	{ "usr/lib/nvidia/current/nvidia-smi", NAMES_PROGRAM, NULL, DEBIAN, 0, 0 },
	{ "usr/lib/nvidia/current/nvidia-debugdump", NAMES_PROGRAM, NULL, DEBIAN, 0, 0 },
	{ "usr/lib/nvidia/current/nvidia-settings", NAMES_PROGRAM, NULL, DEBIAN, 0, 0 },
	{ "usr/lib/nvidia/current/nvidia-bug-report.sh", NAMES_TEXT, shell_script, DEBIAN, 0, 0 },
	{ "usr/bin/nvidia-smi", NAMES_PROGRAM, NULL, RHEL, 0, 0 },
	{ "usr/bin/nvidia-debugdump", NAMES_PROGRAM, NULL, RHEL, 0, 0 },
	{ "usr/bin/nvidia-settings", NAMES_PROGRAM, NULL, RHEL, 0, 0 },
	{ "usr/bin/nvidia-bug-report.sh", NAMES_TEXT, shell_script, RHEL, 0, 0 },
	{ "usr/bin/nvidia-ngx-updater", NAMES_PROGRAM, NULL, RHEL, 0, 0 },
	{ "usr/bin/nvidia-cuda-mps-server", NAMES_PROGRAM, NULL, RHEL, 0, 0 },
	{ "usr/sbin/nvidia-cuda-mps-server", NAMES_PROGRAM, NULL, DEBIAN, 0, 0 },
	{ "usr/bin/nvidia-cuda-mps-control", NAMES_PROGRAM, NULL, BOTH, 0, 0 },
	{ "usr/bin/nvidia-persistenced", NAMES_PROGRAM, NULL, BOTH, 0, 0 },
	{ "usr/bin/nvidia-modprobe", NAMES_PROGRAM, NULL, BOTH, 0, 0 },
	{ "usr/bin/nvidia-xconfig", NAMES_PROGRAM, NULL, BOTH, 0, 0 },
	{ "usr/lib/firmware/nvidia/%v/gsp_ga10x.bin", NAMES_BYTES, NULL, BOTH, 0, 0 },
	{ "usr/lib/firmware/nvidia/%v/gsp_tu10x.bin", NAMES_BYTES, NULL, BOTH, 0, 0 },
	{ "usr/lib/x86_64-linux-gnu/nvidia/current/nvoptix.bin", NAMES_BYTES, NULL, DEBIAN, 0, 0 },
	{ "usr/share/nvidia/nvoptix.bin", NAMES_BYTES, NULL, RHEL, 0, 0 },
	{ "usr/share/nvidia/nvidia-application-profiles-%v-rc", NAMES_TEXT, "{}\n", RHEL, 0, 0 },
	{ "usr/share/glvnd/egl_vendor.d/10_nvidia.json", NAMES_TEXT, egl_vendor, BOTH, 0, 0 },
	{ "usr/share/egl/egl_external_platform.d/10_nvidia_wayland.json", NAMES_TEXT, egl_wayland,
	  BOTH, 0, 0 },
	{ "usr/share/egl/egl_external_platform.d/15_nvidia_gbm.json", NAMES_TEXT, egl_gbm, BOTH, 0,
	  0 },
	{ "usr/share/vulkan/icd.d/nvidia_icd.json", NAMES_TEXT, vulkan_icd, BOTH, 0, 0 },
	{ "usr/share/vulkan/implicit_layer.d/nvidia_layers.json", NAMES_TEXT, vulkan_layers, BOTH,
	  0, 0 },
	{ "etc/OpenCL/vendors/nvidia.icd", NAMES_TEXT, opencl_icd, BOTH, 0, 0 },
	{ "etc/nvidia/current/nvidia-drm-outputclass.conf", NAMES_TEXT, xorg_output, DEBIAN, 0, 0 },
	{ "usr/share/X11/xorg.conf.d/nvidia-drm-outputclass.conf", NAMES_TEXT, xorg_output, RHEL, 0,
	  0 },
};

const size_t names_file_count = sizeof(names_files) / sizeof(names_files[0]);

const struct names_link names_links[] = {
	{ "bin", "usr/bin", BOTH, 0, 0 },
	{ "sbin", "usr/sbin", BOTH, 0, 0 },
	{ "lib", "usr/lib", BOTH, 0, 0 },
	{ "lib64", "usr/lib64", BOTH, 0, 0 },
	{ "usr/lib/x86_64-linux-gnu/nvidia/current/nvidia-drm_gbm.so", "libnvidia-allocator.so.%v",
	  DEBIAN, 0, 0 },
	{ "usr/lib/i386-linux-gnu/nvidia/current/nvidia-drm_gbm.so", "libnvidia-allocator.so.%v",
	  DEBIAN, 0, 0 },
	{ "usr/lib64/gbm/nvidia-drm_gbm.so", "../libnvidia-allocator.so.1", RHEL, 0, 0 },
	{ "usr/lib/gbm/nvidia-drm_gbm.so", "../libnvidia-allocator.so.1", RHEL, 0, 0 },
	{ "usr/lib64/libGLX_indirect.so.0", "libGLX_nvidia.so.%v", RHEL, 0, 0 },
	{ "usr/share/nvidia/nvidia-application-profiles-rc", "nvidia-application-profiles-%v-rc",
	  RHEL, 0, 0 },
};

const size_t names_link_count = sizeof(names_links) / sizeof(names_links[0]);

const struct names_alternative names_alternatives[] = {
	{ "nvidia", "usr/lib/nvidia/nvidia", "usr/lib/nvidia/current" },
	{ "nvidia", "usr/lib/nvidia/libglxserver_nvidia.so",
	  "usr/lib/nvidia/current/libglxserver_nvidia.so" },
	{ "nvidia", "usr/lib/nvidia/nvidia_drv.so", "usr/lib/nvidia/current/nvidia_drv.so" },
	{ "nvidia", "%l/vdpau/libvdpau_nvidia.so.1", "%l/nvidia/current/libvdpau_nvidia.so.1" },
	{ "nvidia", "%l/libGLX_nvidia.so.0", "%l/nvidia/current/libGLX_nvidia.so.0" },
	{ "nvidia", "%l/libEGL_nvidia.so.0", "%l/nvidia/current/libEGL_nvidia.so.0" },
	{ "nvidia", "%l/libGLESv1_CM_nvidia.so.1", "%l/nvidia/current/libGLESv1_CM_nvidia.so.1" },
	{ "nvidia", "%l/libGLESv2_nvidia.so.2", "%l/nvidia/current/libGLESv2_nvidia.so.2" },
	{ "nvidia", "%l/libcuda.so.1", "%l/nvidia/current/libcuda.so.1" },
	{ "nvidia", "%l/libcuda.so", "%l/nvidia/current/libcuda.so" },
	{ "nvidia", "%l/libcudadebugger.so.1", "%l/nvidia/current/libcudadebugger.so.1" },
	{ "nvidia", "%l/libnvcuvid.so.1", "%l/nvidia/current/libnvcuvid.so.1" },
	{ "nvidia", "%l/libnvcuvid.so", "%l/nvidia/current/libnvcuvid.so" },
	{ "nvidia", "%l/libnvidia-allocator.so.1", "%l/nvidia/current/libnvidia-allocator.so.1" },
	{ "nvidia", "%l/libnvidia-api.so.1", "%l/nvidia/current/libnvidia-api.so.1" },
	{ "nvidia", "%l/libnvidia-encode.so.1", "%l/nvidia/current/libnvidia-encode.so.1" },
	{ "nvidia", "%l/libnvidia-fbc.so.1", "%l/nvidia/current/libnvidia-fbc.so.1" },
	{ "nvidia", "%l/libnvidia-ml.so.1", "%l/nvidia/current/libnvidia-ml.so.1" },
	{ "nvidia", "%l/libnvidia-ngx.so.1", "%l/nvidia/current/libnvidia-ngx.so.1" },
	{ "nvidia", "%l/libnvidia-nvvm.so.4", "%l/nvidia/current/libnvidia-nvvm.so.4" },
	{ "nvidia", "%l/libnvidia-nvvm.so.%v", "%l/nvidia/current/libnvidia-nvvm.so.%v" },
	{ "nvidia", "%l/libnvidia-opencl.so.1", "%l/nvidia/current/libnvidia-opencl.so.1" },
	{ "nvidia", "%l/libnvidia-opticalflow.so.1",
	  "%l/nvidia/current/libnvidia-opticalflow.so.1" },
	{ "nvidia", "%l/libnvidia-ptxjitcompiler.so.1",
	  "%l/nvidia/current/libnvidia-ptxjitcompiler.so.1" },
	{ "nvidia", "%l/libnvoptix.so.1", "%l/nvidia/current/libnvoptix.so.1" },
	{ "nvidia", "%l/gbm/nvidia-drm_gbm.so", "%l/nvidia/current/nvidia-drm_gbm.so" },
	{ "nvidia", "%l/nvidia/libnvidia-cfg.so.1", "%l/nvidia/current/libnvidia-cfg.so.1" },
	{ "nvidia", "usr/share/nvidia/nvoptix.bin",
	  "usr/lib/x86_64-linux-gnu/nvidia/current/nvoptix.bin" },
	{ "nvidia", "usr/bin/nvidia-smi", "usr/lib/nvidia/current/nvidia-smi" },
	{ "nvidia", "usr/bin/nvidia-debugdump", "usr/lib/nvidia/current/nvidia-debugdump" },
	{ "nvidia", "usr/bin/nvidia-settings", "usr/lib/nvidia/current/nvidia-settings" },
	{ "nvidia", "usr/lib/nvidia/nvidia-bug-report.sh",
	  "usr/lib/nvidia/current/nvidia-bug-report.sh" },
	{ "nvidia", "etc/nvidia/nvidia-drm-outputclass.conf",
	  "etc/nvidia/current/nvidia-drm-outputclass.conf" },
	{ "glx", "usr/lib/glx", "usr/lib/nvidia" },
	{ "glx", "%l/libGLX_indirect.so.0", "%l/libGLX_nvidia.so.0" },
	{ "glx", "%l/libnvidia-cfg.so.1", "%l/nvidia/libnvidia-cfg.so.1" },
	{ "glx", "usr/bin/nvidia-bug-report.sh", "usr/lib/nvidia/nvidia-bug-report.sh" },
	{ "glx", "usr/lib/xorg/modules/drivers/nvidia_drv.so", "usr/lib/nvidia/nvidia_drv.so" },
	{ "glx", "usr/lib/xorg/modules/extensions/libglxserver_nvidia.so",
	  "usr/lib/nvidia/libglxserver_nvidia.so" },
	{ "glx", "usr/share/X11/xorg.conf.d/nvidia-drm-outputclass.conf",
	  "etc/nvidia/nvidia-drm-outputclass.conf" },
};

const size_t names_alternative_count = sizeof(names_alternatives) / sizeof(names_alternatives[0]);
