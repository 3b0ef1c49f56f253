/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a driver that are in places of their own: modules of the X server, the driver of Windows. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "found.h"
#include "inject/driver_table.h"
#include "inject/inject.h"
#include "tree.h"

#define V       "535.261.03"
#define TRIPLET "usr/lib/" LIBRARY_TRIPLET

/* Where packages put the modules of the X server, by the container toolkit and the packages' own lists. */
static const struct {
	const char *driver, *extension; /* files */
	const char *link, *target;      /* NULL: none */
} module_cases[] = {
	{ "usr/lib/xorg/modules/drivers/nvidia_drv.so",
	  "usr/lib/xorg/modules/extensions/libglxserver_nvidia.so." V, NULL, NULL },
	{ TRIPLET "/nvidia/xorg/nvidia_drv.so", TRIPLET "/nvidia/xorg/libglxserver_nvidia.so." V,
	  NULL, NULL },
	{ "usr/lib64/xorg/modules/drivers/nvidia_drv.so",
	  "usr/lib64/xorg/modules/updates/extensions/libglxserver_nvidia.so." V, NULL, NULL },
	{ "usr/X11R6/lib64/modules/drivers/nvidia_drv.so",
	  "usr/lib/nvidia/xorg/libglxserver_nvidia.so." V, NULL, NULL },
	/* a link without the version */
	{ TRIPLET "/xorg/modules/drivers/nvidia_drv.so", "usr/lib/nvidia/current/libglxserver.x",
	  "usr/lib/xorg/modules/extensions/libglxserver_nvidia.so",
	  "/usr/lib/nvidia/current/libglxserver.x" },
};

static void check_module(const struct driver_files *files, const char *tree, const char *name,
			 const char *source)
{
	char path[256];

	for (int wide = 0; wide < 2; wide++) {
		snprintf(path, sizeof(path), "/usr/lib%s/xorg/modules/%s", wide ? "64" : "", name);
		const struct driver_file *file = found_named(files, DRIVER_MODULE, 0, path);

		if (!file)
			fail_msg("%s was not found", path);
		snprintf(path, sizeof(path), "%s/%s", tree, source);
		assert_string_equal(file->source, path);
		assert_int_equal(file->capabilities, CAPABILITY_DISPLAY);
		assert_int_equal(file->names.count, 2);
	}
}

TEST(modules_of_the_x_server)
{
	for (size_t i = 0; i < ARRAY_SIZE(module_cases); i++) {
		cleanup(driver_files_freep) struct driver_files *files = NULL, *few = NULL;
		char tree[TREE_PATH_MAX];

		tree_make(tree);
		tree_library(tree, "usr/lib64/libcuda.so." V, "libcuda.so.1", 64);
		tree_library(tree, "usr/lib64/libnvidia-ml.so." V, "libnvidia-ml.so.1", 64);
		tree_file(tree, module_cases[i].driver, "x");
		tree_file(tree, module_cases[i].extension, "x");
		/* of another version, and no file */
		tree_file(tree, "usr/lib/xorg/modules/extensions/libglxserver_nvidia.so.1.2", "x");
		tree_directory(tree, "usr/lib64/nvidia/xorg/nvidia_drv.so");
		if (module_cases[i].link)
			tree_link(tree, module_cases[i].link, module_cases[i].target);
		files = found_in(tree, V);
		check_module(files, tree, "drivers/nvidia_drv.so", module_cases[i].driver);
		check_module(files, tree, "extensions/libglxserver_nvidia.so",
			     module_cases[i].extension);
		assert_int_equal(driver_files_find(tree, V, CAPABILITY_DEFAULT, &few, NULL), 0);
		for (size_t k = 0; k < few->count; k++)
			assert_int_not_equal(few->items[k].kind, DRIVER_MODULE);
		tree_remove(tree);
	}
}

#define STORE     "drivers/nv_dispi.inf_amd64_a1"
#define WSL_STORE "/usr/lib/wsl/" STORE

/* What NVIDIA's toolkit mounts on WSL2 (pkg/nvcdi/driver-wsl.go), at the same paths; by name what programs load. */
static const struct found_row wsl_rows[] = {
	{ DRIVER_CONFIG, 0, WSL_STORE "/libcuda_loader.so", STORE "/libcuda_loader.so" },
	{ DRIVER_CONFIG, 0, WSL_STORE "/libcuda.so.1.1", STORE "/libcuda.so.1.1" },
	{ DRIVER_CONFIG, 0, WSL_STORE "/libnvidia-ptxjitcompiler.so.1",
	  STORE "/libnvidia-ptxjitcompiler.so.1" },
	{ DRIVER_CONFIG, 0, WSL_STORE "/libnvidia-ml_loader.so", STORE "/libnvidia-ml_loader.so" },
	{ DRIVER_CONFIG, 0, WSL_STORE "/libnvidia-ml.so.1", STORE "/libnvidia-ml.so.1" },
	{ DRIVER_CONFIG, 0, "/usr/lib/wsl/lib/libdxcore.so", "lib/libdxcore.so" },
	{ DRIVER_CONFIG, 0, WSL_STORE "/libnvdxgdmal.so.1", STORE "/libnvdxgdmal.so.1" },
	{ DRIVER_CONFIG, 0, WSL_STORE "/nvcubins.bin", STORE "/nvcubins.bin" },
	{ DRIVER_CONFIG, 0, WSL_STORE "/nvidia-smi", STORE "/nvidia-smi" },
	{ DRIVER_BINARY, 0, "nvidia-smi", STORE "/nvidia-smi" },
	{ DRIVER_LIBRARY, 64, "libcuda.so.1", STORE "/libcuda_loader.so" },
	{ DRIVER_LIBRARY, 64, "libcuda.so", STORE "/libcuda_loader.so" },
	{ DRIVER_LIBRARY, 64, "libnvidia-ml.so.1", STORE "/libnvidia-ml_loader.so" },
	{ DRIVER_LIBRARY, 64, "libdxcore.so", "lib/libdxcore.so" },
};

static void make_wsl(const char *tree)
{
	static const char *const files[] = { "libcuda.so.1.1",
					     "libnvidia-ptxjitcompiler.so.1",
					     "libnvidia-ml_loader.so",
					     "libnvidia-ml.so.1",
					     "libnvdxgdmal.so.1",
					     "nvcubins.bin",
					     "libother.so" };
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), STORE "/%s", files[i]);
		tree_file(tree, path, "x");
	}
	tree_file(tree, STORE "/libcuda_loader.so", "new loader");
	tree_program(tree, STORE "/nvidia-smi");
	tree_file(tree, "lib/libcuda.so.1.1", "new loader");
	tree_file(tree, "lib/libnvidia-ml.so.1", "x");
	tree_file(tree, "lib/libdxcore.so", "x");
	tree_file(tree, "drivers/other.inf/libcuda.so.1.1", "x");
}

TEST(the_driver_of_windows)
{
	static const char *const older[] = { "drivers/nv_dispi.inf_amd64_00", "drivers/nv_zz" };
	char tree[TREE_PATH_MAX], path[128];

	tree_make(tree);
	make_wsl(tree);
	for (size_t i = 0; i <= ARRAY_SIZE(older); i++) {
		cleanup(driver_files_freep) struct driver_files *files = NULL, *few = NULL;

		files = found_in(tree, i == 1 ? "560.94" : NULL);
		assert_string_equal(files->version, i == 1 ? "560.94" : "");
		found_exactly(files, tree, wsl_rows, ARRAY_SIZE(wsl_rows));
		/* the one of which lib/ has the loader, and a word about the others */
		assert_int_equal(files->notes.count, i > 0);
		assert_int_equal(driver_files_find(tree, NULL, CAPABILITY_UTILITY, &few, NULL), 0);
		assert_null(found_named(few, DRIVER_LIBRARY, 64, "libcuda.so.1"));
		assert_non_null(found_named(few, DRIVER_LIBRARY, 64, "libnvidia-ml.so.1"));
		if (i == ARRAY_SIZE(older))
			break;
		snprintf(path, sizeof(path), "%s/libcuda_loader.so", older[i]);
		tree_file(tree, path, "older");
	}
	tree_remove(tree);
}
