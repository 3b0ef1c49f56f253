/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/driver_table.h"

#define COMPUTE  CAPABILITY_COMPUTE
#define UTILITY  CAPABILITY_UTILITY
#define VIDEO    CAPABILITY_VIDEO
#define GRAPHICS CAPABILITY_GRAPHICS
#define DISPLAY  CAPABILITY_DISPLAY
#define NGX      CAPABILITY_NGX

/*
 * How to add a library: one row under its capability. Give .name only where the SONAME is not what
 * programs open, .versioned where another library opens <base>.so.<driver version> although the
 * SONAME is shorter. test/unit/test_driver_files.c has a row of expected names for each.
 */
const struct library_row library_rows[] = {
	{ "libnvidia-ml", LIBRARY_DRIVER, UTILITY, .cuda_search = true },
	{ "libnvidia-cfg", LIBRARY_DRIVER, UTILITY },
	{ "libnvidia-nscq", LIBRARY_DRIVER, UTILITY },
	{ "libnvidia-sandboxutils", LIBRARY_DRIVER, UTILITY },

	/* video: the encoders are CUDA programs */
	{ "libcuda", LIBRARY_DRIVER, COMPUTE | VIDEO, .cuda_search = true, .also = "libcuda.so" },
	{ "libcudadebugger", LIBRARY_DRIVER, COMPUTE | VIDEO },
	{ "libnvidia-opencl", LIBRARY_DRIVER, COMPUTE | VIDEO },
	{ "libnvidia-gpucomp", LIBRARY_DRIVER, COMPUTE | VIDEO | GRAPHICS | DISPLAY },
	{ "libnvidia-ptxjitcompiler", LIBRARY_DRIVER, COMPUTE | VIDEO },
	{ "libnvidia-fatbinaryloader", LIBRARY_DRIVER, COMPUTE | VIDEO },
	{ "libnvidia-allocator", LIBRARY_DRIVER, COMPUTE | VIDEO | GRAPHICS | DISPLAY },
	{ "libnvidia-compiler", LIBRARY_DRIVER, COMPUTE | VIDEO },
	{ "libnvidia-pkcs11", LIBRARY_DRIVER, COMPUTE | VIDEO, .versioned = true },
	{ "libnvidia-pkcs11-openssl3", LIBRARY_DRIVER, COMPUTE | VIDEO, .versioned = true },
	/* libnvidia-opencl opens it by its full version, libcuda by its SONAME */
	{ "libnvidia-nvvm", LIBRARY_DRIVER, COMPUTE | VIDEO, .versioned = true },
	{ "libnvidia-nvvm70", LIBRARY_OWN, COMPUTE | VIDEO },
	{ "libnvidia-tileiras", LIBRARY_DRIVER, COMPUTE | VIDEO },

	{ "libvdpau_nvidia", LIBRARY_DRIVER, VIDEO, .directory = "vdpau/",
	  .name = "libvdpau_nvidia.so.1" },
	{ "libnvidia-encode", LIBRARY_DRIVER, VIDEO },
	{ "libnvidia-opticalflow", LIBRARY_DRIVER, VIDEO, .also = "libnvidia-opticalflow.so" },
	{ "libnvcuvid", LIBRARY_DRIVER, VIDEO },

	{ "libnvidia-eglcore", LIBRARY_DRIVER, GRAPHICS | DISPLAY },
	{ "libnvidia-glcore", LIBRARY_DRIVER, GRAPHICS | DISPLAY },
	{ "libnvidia-tls", LIBRARY_DRIVER, GRAPHICS | DISPLAY },
	{ "libnvidia-glsi", LIBRARY_DRIVER, GRAPHICS | DISPLAY },
	{ "libnvidia-fbc", LIBRARY_DRIVER, GRAPHICS | DISPLAY },
	{ "libnvidia-ifr", LIBRARY_DRIVER, GRAPHICS | DISPLAY },
	{ "libnvidia-rtcore", LIBRARY_DRIVER, GRAPHICS | DISPLAY },
	{ "libnvoptix", LIBRARY_DRIVER, GRAPHICS | DISPLAY },
	{ "libGLX_nvidia", LIBRARY_DRIVER, GRAPHICS | DISPLAY, .also = "libGLX_indirect.so.0" },
	{ "libEGL_nvidia", LIBRARY_DRIVER, GRAPHICS | DISPLAY },
	{ "libGLESv2_nvidia", LIBRARY_DRIVER, GRAPHICS | DISPLAY },
	{ "libGLESv1_CM_nvidia", LIBRARY_DRIVER, GRAPHICS | DISPLAY },
	{ "libnvidia-glvkspirv", LIBRARY_DRIVER, GRAPHICS | DISPLAY },
	{ "libnvidia-cbl", LIBRARY_DRIVER, GRAPHICS | DISPLAY },
	{ "libnvidia-egl-gbm", LIBRARY_OWN, GRAPHICS | DISPLAY },
	{ "libnvidia-egl-wayland", LIBRARY_OWN, GRAPHICS | DISPLAY },
	{ "libnvidia-egl-wayland2", LIBRARY_OWN, GRAPHICS | DISPLAY },
	{ "libnvidia-egl-xcb", LIBRARY_OWN, GRAPHICS | DISPLAY },
	{ "libnvidia-egl-xlib", LIBRARY_OWN, GRAPHICS | DISPLAY },
	{ "libnvidia-api.so.1", LIBRARY_EXACT, GRAPHICS | DISPLAY },
	/* no SONAME; the Vulkan driver opens this name */
	{ "libnvidia-vulkan-producer", LIBRARY_DRIVER, GRAPHICS | DISPLAY,
	  .name = "libnvidia-vulkan-producer.so" },
	/* its SONAME is libnvidia-allocator.so.1; Mesa's GBM opens gbm/<driver>_gbm.so */
	{ "nvidia-drm_gbm.so", LIBRARY_EXACT, GRAPHICS | DISPLAY, .directory = "gbm/",
	  .name = "nvidia-drm_gbm.so" },

	{ "libnvidia-ngx", LIBRARY_DRIVER, NGX },
	{ 0 },
};

/* How to add a program: one row; it is looked for in the directories below. */
const struct binary_row binary_rows[] = {
	{ "nvidia-smi", UTILITY },
	{ "nvidia-debugdump", UTILITY },
	{ "nvidia-persistenced", UTILITY },
	{ "nv-fabricmanager", UTILITY },
	{ "nvidia-imex", UTILITY },
	{ "nvidia-imex-ctl", UTILITY },
	{ "nvidia-cuda-mps-control", COMPUTE },
	{ "nvidia-cuda-mps-server", COMPUTE },
	{ 0 },
};

/* How to add a config file: one row; its target is fixed, its place on the host is searched. */
const struct config_row config_rows[] = {
	{ "/etc/OpenCL/vendors/nvidia.icd", "OpenCL/vendors/nvidia.icd", COMPUTE, false },
	{ "/usr/share/glvnd/egl_vendor.d/10_nvidia.json", "glvnd/egl_vendor.d/10_nvidia.json",
	  GRAPHICS | DISPLAY, false },
	{ "/usr/share/egl/egl_external_platform.d/15_nvidia_gbm.json",
	  "egl/egl_external_platform.d/15_nvidia_gbm.json", GRAPHICS | DISPLAY, false },
	{ "/usr/share/egl/egl_external_platform.d/10_nvidia_wayland.json",
	  "egl/egl_external_platform.d/10_nvidia_wayland.json", GRAPHICS | DISPLAY, false },
	{ "/usr/share/egl/egl_external_platform.d/09_nvidia_wayland2.json",
	  "egl/egl_external_platform.d/09_nvidia_wayland2.json", GRAPHICS | DISPLAY, false },
	{ "/usr/share/egl/egl_external_platform.d/20_nvidia_xcb.json",
	  "egl/egl_external_platform.d/20_nvidia_xcb.json", GRAPHICS | DISPLAY, false },
	{ "/usr/share/egl/egl_external_platform.d/20_nvidia_xlib.json",
	  "egl/egl_external_platform.d/20_nvidia_xlib.json", GRAPHICS | DISPLAY, false },
	{ "/usr/share/nvidia/nvoptix.bin", "nvidia/nvoptix.bin", GRAPHICS, false },
	{ "/etc/vulkan/icd.d/nvidia_icd.json", "vulkan/icd.d/nvidia_icd.json", GRAPHICS | DISPLAY,
	  true },
#if defined(__aarch64__)
	{ "/etc/vulkan/icd.d/nvidia_icd.aarch64.json", "vulkan/icd.d/nvidia_icd.aarch64.json",
	  GRAPHICS | DISPLAY, true },
#else
	{ "/etc/vulkan/icd.d/nvidia_icd.x86_64.json", "vulkan/icd.d/nvidia_icd.x86_64.json",
	  GRAPHICS | DISPLAY, true },
#endif
	{ "/etc/vulkan/icd.d/nvidia_layers.json", "vulkan/icd.d/nvidia_layers.json",
	  GRAPHICS | DISPLAY, true },
	{ "/etc/vulkan/implicit_layer.d/nvidia_layers.json",
	  "vulkan/implicit_layer.d/nvidia_layers.json", GRAPHICS | DISPLAY, true },
	{ "/usr/share/X11/xorg.conf.d/10-nvidia.conf", "X11/xorg.conf.d/10-nvidia.conf", DISPLAY,
	  false },
	{ "/usr/share/X11/xorg.conf.d/nvidia-drm-outputclass.conf",
	  "X11/xorg.conf.d/nvidia-drm-outputclass.conf", DISPLAY, false },
	{ "/etc/cufile.json", "cufile.json", 0, false, GATED_GDS },
	{ 0 },
};

/* How to add a module of the X server: one row. Source: the container toolkit, discover/graphics.go. */
const struct module_row module_rows[] = {
	{ "drivers", "nvidia_drv.so", false, DISPLAY },
	{ "extensions", "libglxserver_nvidia.so", true, DISPLAY },
	{ 0 },
};

const char *const module_flat_directories[] = {
	"/usr/lib/" LIBRARY_TRIPLET "/nvidia/xorg",
	"/usr/lib64/nvidia/xorg",
	"/usr/lib/nvidia/xorg",
	NULL,
};

const char *const module_directories[] = {
	"/usr/lib/" LIBRARY_TRIPLET "/xorg/modules",
	"/usr/lib/" LIBRARY_TRIPLET "/xorg/modules/updates",
	"/usr/lib/xorg/modules",
	"/usr/lib/xorg/modules/updates",
	"/usr/lib64/xorg/modules",
	"/usr/lib64/xorg/modules/updates",
	"/usr/X11R6/lib/modules",
	"/usr/X11R6/lib64/modules",
	NULL,
};

/* How to add a socket: one row. /tmp is everybody's: a directory there counts only as root's. */
const struct socket_row socket_rows[] = {
	{ "/run/nvidia-persistenced/socket", "/var/run/nvidia-persistenced/socket", 0, false },
	{ "/run/nvidia-fabricmanager/socket", "/var/run/nvidia-fabricmanager/socket", 0, false },
	{ "/tmp/nvidia-mps", NULL, COMPUTE, true },
	{ "/run/udev", NULL, 0, true, GATED_GDS },
	{ 0 },
};

const char *const library_directories[] = {
	DRIVER_LIBRARY_DIRECTORIES,
	"/usr/lib/" LIBRARY_TRIPLET_32,
	"/usr/lib/" LIBRARY_TRIPLET_32 "/nvidia/current",
	"/usr/lib32",
	NULL,
};

const char *const binary_directories[] = {
	"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", NULL,
};

const char *const config_directories[] = { "/etc", "/usr/local/share", "/usr/share", NULL };

const char *const loader_directories[] = {
	"/usr/lib/" LIBRARY_TRIPLET,
	"/lib/" LIBRARY_TRIPLET,
	"/usr/lib64",
	"/lib64",
	"/usr/lib",
	"/lib",
	NULL,
};

const char *const loader_directories_32[] = {
	"/usr/lib/" LIBRARY_TRIPLET_32, "/lib/" LIBRARY_TRIPLET_32, "/usr/lib32", "/usr/lib", NULL,
};

const char *const static_directories[] = { "/usr/lib/" LIBRARY_TRIPLET, "/usr/lib64", NULL };
