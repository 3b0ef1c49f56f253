/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "found.h"
#include "inject/driver_table.h"
#include "inject/inject.h"
#include "inject/library_header.h"
#include "tree.h"

#define V       "535.261.03"
#define TRIPLET "usr/lib/" LIBRARY_TRIPLET
#define CURRENT TRIPLET "/nvidia/current"

/* The two layouts in small: files in two directories and absolute links, and all in one. */
static void make_debian(const char *tree)
{
	tree_library(tree, CURRENT "/libcuda.so." V, "libcuda.so.1", 64);
	tree_link(tree, CURRENT "/libcuda.so.1", "libcuda.so." V);
	tree_link(tree, CURRENT "/libcuda.so", "libcuda.so.1");
	tree_library(tree, CURRENT "/libnvidia-ml.so." V, "libnvidia-ml.so.1", 64);
	tree_library(tree, CURRENT "/libnvidia-allocator.so." V, "libnvidia-allocator.so.1", 64);
	tree_link(tree, CURRENT "/nvidia-drm_gbm.so", "libnvidia-allocator.so." V);
	tree_library(tree, CURRENT "/libvdpau_nvidia.so." V, "libvdpau_nvidia.so.1", 64);
	tree_library(tree, CURRENT "/libnvidia-vulkan-producer.so." V, NULL, 64);
	tree_library(tree, CURRENT "/libnvidia-nvvm.so." V, "libnvidia-nvvm.so.4", 64);
	tree_library(tree, TRIPLET "/libnvidia-eglcore.so." V, "libnvidia-eglcore.so." V, 64);
	tree_library(tree, TRIPLET "/libnvidia-egl-gbm.so.1.1.0", "libnvidia-egl-gbm.so.1", 64);
	tree_link(tree, TRIPLET "/libnvidia-egl-gbm.so.1", "libnvidia-egl-gbm.so.1.1.0");
	tree_library(tree, "usr/lib/i386-linux-gnu/nvidia/current/libcuda.so." V, "libcuda.so.1",
		     32);
	tree_link(tree, TRIPLET "/libcuda.so.1", "/etc/alternatives/cuda");
	tree_link(tree, "etc/alternatives/cuda", "/" CURRENT "/libcuda.so.1");
	tree_link(tree, TRIPLET "/gbm/nvidia-drm_gbm.so", "/" CURRENT "/nvidia-drm_gbm.so");
	tree_link(tree, TRIPLET "/vdpau/libvdpau_nvidia.so.1",
		  "/" CURRENT "/libvdpau_nvidia.so." V);
	tree_program(tree, "usr/lib/nvidia/current/nvidia-smi");
	tree_link(tree, "etc/alternatives/smi", "/usr/lib/nvidia/current/nvidia-smi");
	tree_link(tree, "usr/bin/nvidia-smi", "/etc/alternatives/smi");
	tree_file(tree, "usr/lib/firmware/nvidia/" V "/gsp_ga10x.bin", "x");
	tree_link(tree, "lib", "usr/lib");
	tree_file(tree, "etc/OpenCL/vendors/nvidia.icd", "libnvidia-opencl.so.1\n");
}

static void make_rhel(const char *tree)
{
	tree_library(tree, "usr/lib64/libcuda.so." V, "libcuda.so.1", 64);
	tree_link(tree, "usr/lib64/libcuda.so.1", "libcuda.so." V);
	tree_library(tree, "usr/lib64/libnvidia-ml.so." V, "libnvidia-ml.so.1", 64);
	tree_library(tree, "usr/lib64/vdpau/libvdpau_nvidia.so." V, "libvdpau_nvidia.so.1", 64);
	tree_library(tree, "usr/lib64/libnvidia-allocator.so." V, "libnvidia-allocator.so.1", 64);
	tree_link(tree, "usr/lib64/gbm/nvidia-drm_gbm.so", "../libnvidia-allocator.so." V);
	tree_library(tree, "usr/lib/libcuda.so." V, "libcuda.so.1", 32);
	tree_link(tree, "lib64", "usr/lib64");
	tree_program(tree, "usr/bin/nvidia-smi");
}

static const struct found_row debian_rows[] = {
	{ DRIVER_LIBRARY, 64, "libcuda.so.1", CURRENT "/libcuda.so." V },
	{ DRIVER_LIBRARY, 64, "libcuda.so", CURRENT "/libcuda.so." V },
	{ DRIVER_LIBRARY, 64, "libnvidia-ml.so.1", CURRENT "/libnvidia-ml.so." V },
	{ DRIVER_LIBRARY, 64, "libnvidia-allocator.so.1", CURRENT "/libnvidia-allocator.so." V },
	{ DRIVER_LIBRARY, 64, "gbm/nvidia-drm_gbm.so", CURRENT "/libnvidia-allocator.so." V },
	{ DRIVER_LIBRARY, 64, "vdpau/libvdpau_nvidia.so.1", CURRENT "/libvdpau_nvidia.so." V },
	{ DRIVER_LIBRARY, 64, "libnvidia-vulkan-producer.so",
	  CURRENT "/libnvidia-vulkan-producer.so." V },
	{ DRIVER_LIBRARY, 64, "libnvidia-nvvm.so.4", CURRENT "/libnvidia-nvvm.so." V },
	{ DRIVER_LIBRARY, 64, "libnvidia-nvvm.so." V, CURRENT "/libnvidia-nvvm.so." V },
	{ DRIVER_LIBRARY, 64, "libnvidia-eglcore.so." V, TRIPLET "/libnvidia-eglcore.so." V },
	{ DRIVER_LIBRARY, 64, "libnvidia-egl-gbm.so.1", TRIPLET "/libnvidia-egl-gbm.so.1.1.0" },
	{ DRIVER_LIBRARY, 32, "libcuda.so.1",
	  "usr/lib/i386-linux-gnu/nvidia/current/libcuda.so." V },
	{ DRIVER_LIBRARY, 32, "libcuda.so", "usr/lib/i386-linux-gnu/nvidia/current/libcuda.so." V },
	{ DRIVER_BINARY, 0, "nvidia-smi", "usr/lib/nvidia/current/nvidia-smi" },
	{ DRIVER_FIRMWARE, 0, "/lib/firmware/nvidia/" V "/gsp_ga10x.bin",
	  "usr/lib/firmware/nvidia/" V "/gsp_ga10x.bin" },
	{ DRIVER_CONFIG, 0, "/etc/OpenCL/vendors/nvidia.icd", "etc/OpenCL/vendors/nvidia.icd" },
};

static const struct found_row rhel_rows[] = {
	{ DRIVER_LIBRARY, 64, "libcuda.so.1", "usr/lib64/libcuda.so." V },
	{ DRIVER_LIBRARY, 64, "libcuda.so", "usr/lib64/libcuda.so." V },
	{ DRIVER_LIBRARY, 64, "libnvidia-ml.so.1", "usr/lib64/libnvidia-ml.so." V },
	{ DRIVER_LIBRARY, 64, "vdpau/libvdpau_nvidia.so.1",
	  "usr/lib64/vdpau/libvdpau_nvidia.so." V },
	{ DRIVER_LIBRARY, 64, "libnvidia-allocator.so.1", "usr/lib64/libnvidia-allocator.so." V },
	{ DRIVER_LIBRARY, 64, "gbm/nvidia-drm_gbm.so", "usr/lib64/libnvidia-allocator.so." V },
	{ DRIVER_LIBRARY, 32, "libcuda.so.1", "usr/lib/libcuda.so." V },
	{ DRIVER_LIBRARY, 32, "libcuda.so", "usr/lib/libcuda.so." V },
	{ DRIVER_BINARY, 0, "nvidia-smi", "usr/bin/nvidia-smi" },
};

TEST(driver_files_of_two_layouts)
{
	static void (*const make[])(const char *) = { make_debian, make_rhel };
	static const struct {
		const struct found_row *rows;
		size_t count;
	} expected[] = { { debian_rows, ARRAY_SIZE(debian_rows) },
			 { rhel_rows, ARRAY_SIZE(rhel_rows) } };

	for (size_t i = 0; i < ARRAY_SIZE(make); i++) {
		char tree[TREE_PATH_MAX];

		tree_make(tree);
		make[i](tree);
		for (int with_version = 0; with_version < 2; with_version++) {
			struct driver_files *files = found_in(tree, with_version ? V : NULL);

			assert_string_equal(files->version, V);
			assert_int_equal(files->notes.count, 0);
			found_exactly(files, tree, expected[i].rows, expected[i].count);
			driver_files_free(files);
		}
		tree_remove(tree);
	}
}

/* Where NVML is looked for (abi/driver_place.h), the other files are looked for too: a driver that
 * the inventory finds and injection does not would give cards that nobody can use. */
TEST(driver_files_are_found_wherever_nvml_is)
{
	static const char *const places[] = { DRIVER_LIBRARY_DIRECTORIES };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		cleanup(driver_files_freep) struct driver_files *files = NULL;
		struct error error = ERROR_INIT;
		char tree[TREE_PATH_MAX], path[256];

		tree_make(tree);
		snprintf(path, sizeof(path), "%s/libnvidia-ml.so." V, places[i] + 1);
		tree_library(tree, path, "libnvidia-ml.so.1", 64);
		print_message("# %s\n", places[i]);
		if (driver_files_find(tree, NULL, CAPABILITY_ALL, &files, &error) < 0)
			print_error("%s\n", error.message);
		assert_non_null(files);
		assert_string_equal(files->version, V);
		assert_int_equal(files->items[0].kind, DRIVER_LIBRARY);
		tree_remove(tree);
	}
}

TEST(driver_files_are_read_through_a_linked_root)
{
	char tree[TREE_PATH_MAX], path[128];

	tree_make(tree);
	make_rhel(tree);
	tree_link(tree, "self", ".");
	snprintf(path, sizeof(path), "%s/self/", tree);
	struct driver_files *files = found_in(path, V);
	found_exactly(files, tree, rhel_rows, ARRAY_SIZE(rhel_rows));
	assert_string_equal(files->root, path);
	driver_files_free(files);
	tree_remove(tree);
}

/* A library that leads out of the driver root is looked for inside it, and never used. */
TEST(driver_files_stay_inside_the_root)
{
	char tree[TREE_PATH_MAX], other[TREE_PATH_MAX], target[128];

	tree_make(tree);
	tree_make(other);
	make_rhel(tree);
	tree_library(other, "libnvidia-cfg.so." V, "libnvidia-cfg.so.1", 64);
	snprintf(target, sizeof(target), "%s/libnvidia-cfg.so." V, other);
	tree_link(tree, "usr/lib64/libnvidia-cfg.so." V, target);
	snprintf(target, sizeof(target), "../../../../../../../..%s/libnvidia-cfg.so." V, other);
	tree_link(tree, "usr/lib64/libnvidia-ngx.so." V, target);
	tree_link(tree, "usr/lib64/libnvidia-tls.so." V, "/proc/self/root/etc/passwd");
	struct driver_files *files = found_in(tree, V);
	found_exactly(files, tree, rhel_rows, ARRAY_SIZE(rhel_rows));
	assert_int_equal(files->notes.count, 3);
	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].kind != DRIVER_SOCKET)
			assert_int_equal(strncmp(files->items[i].source, tree, strlen(tree)), 0);
	driver_files_free(files);
	tree_remove(other);
	tree_remove(tree);
}

TEST(driver_files_broken_ones_are_left_out_and_named)
{
	char tree[TREE_PATH_MAX];

	tree_make(tree);
	make_rhel(tree);
	tree_file(tree, "usr/lib64/libnvidia-cfg.so." V, "");
	tree_file(tree, "usr/lib64/libnvidia-encode.so." V,
		  "not a library at all, but long enough "
		  "for the header of one, which is 64");
	tree_directory(tree, "usr/lib64/libnvcuvid.so." V);
	tree_fifo(tree, "usr/lib64/libnvidia-ngx.so." V);
	tree_link(tree, "usr/lib64/libnvidia-tls.so." V, "libnvidia-tls.so." V);
	struct driver_files *files = found_in(tree, V);
	found_exactly(files, tree, rhel_rows, ARRAY_SIZE(rhel_rows));
	assert_int_equal(files->notes.count, 5);
	for (size_t i = 0; i < files->notes.count; i++)
		assert_non_null(strstr(files->notes.items[i], tree));
	driver_files_free(files);
	tree_remove(tree);
}

/* Two releases side by side: only the wanted one, and without a wish the one that programs get. */
TEST(driver_files_of_one_version_only)
{
	char tree[TREE_PATH_MAX];

	tree_make(tree);
	make_rhel(tree);
	tree_library(tree, "usr/lib64/libcuda.so.550.163.01", "libcuda.so.1", 64);
	tree_library(tree, "usr/lib64/libnvidia-ml.so.550.163.01", "libnvidia-ml.so.1", 64);
	struct driver_files *files = found_in(tree, NULL);
	assert_string_equal(files->version, V);
	driver_files_free(files);
	files = found_in(tree, "550.163.01");
	assert_int_equal(found_named(files, DRIVER_LIBRARY, 64, "libcuda.so.1") != NULL, 1);
	assert_non_null(
		strstr(found_named(files, DRIVER_LIBRARY, 64, "libcuda.so.1")->source, "550"));
	assert_null(found_named(files, DRIVER_LIBRARY, 64, "vdpau/libvdpau_nvidia.so.1"));
	driver_files_free(files);
	tree_remove(tree);
}

/* Copies of one library in two directories: the first counts, and each name is there once. */
TEST(driver_files_first_copy_counts)
{
	char tree[TREE_PATH_MAX];

	tree_make(tree);
	make_rhel(tree);
	tree_library(tree, TRIPLET "/libcuda.so." V, "libcuda.so.1", 64);
	tree_library(tree, TRIPLET "/libnvidia-ml.so." V, "libnvidia-ml.so.1", 64);
	tree_library(tree, "usr/lib64/libnvidia-egl-gbm.so.1.1.0", "libnvidia-egl-gbm.so.1", 64);
	tree_library(tree, "usr/lib64/libnvidia-egl-gbm.so.1.1.2", "libnvidia-egl-gbm.so.1", 64);
	tree_link(tree, "usr/lib64/libnvidia-egl-gbm.so.1", "libnvidia-egl-gbm.so.1.1.2");
	struct driver_files *files = found_in(tree, V);
	const struct driver_file *gbm =
		found_named(files, DRIVER_LIBRARY, 64, "libnvidia-egl-gbm.so.1");
	assert_non_null(gbm);
	assert_non_null(strstr(gbm->source, "1.1.2"));
	assert_non_null(
		strstr(found_named(files, DRIVER_LIBRARY, 64, "libcuda.so.1")->source, "/lib64/"));
	for (size_t i = 0; i < files->count; i++)
		for (size_t j = 0; j < files->items[i].names.count; j++)
			assert_ptr_equal(found_named(files, files->items[i].kind,
						     files->items[i].bits,
						     files->items[i].names.items[j]),
					 &files->items[i]);
	driver_files_free(files);
	tree_remove(tree);
}

TEST(driver_files_absent)
{
	static const struct {
		const char *version;
		int r;
		const char *message;
	} rows[] = {
		{ NULL, -ENOENT, "no libnvidia-ml and no libcuda" },
		{ "535", -ENOENT, "no library of driver version 535" },
		{ "../etc", -EINVAL, "no driver version" },
	};
	char tree[TREE_PATH_MAX];
	struct driver_files *files = NULL;
	struct error error = ERROR_INIT;

	tree_make(tree);
	tree_directory(tree, "usr/lib64");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(
			driver_files_find(tree, rows[i].version, CAPABILITY_ALL, &files, &error),
			rows[i].r);
		assert_non_null(strstr(error.message, rows[i].message));
	}
	tree_remove(tree);
	assert_int_equal(driver_files_find(tree, NULL, CAPABILITY_ALL, &files, &error), -ENOENT);
	assert_non_null(strstr(error.message, "--driver-root"));
	assert_null(files);
}

TEST(driver_files_nodes_are_known_by_their_numbers)
{
	char tree[TREE_PATH_MAX];

	tree_make(tree);
	make_rhel(tree);
	if (!tree_node(tree, "dev/nvidia0", 195, 0)) {
		tree_remove(tree);
		skip();
	}
	tree_node(tree, "dev/nvidia7", 195, 6);
	tree_node(tree, "dev/nvidiactl", 195, 255);
	tree_node(tree, "dev/nvidia-uvm", 510, 0);
	tree_node(tree, "dev/nvidia123456", 195, 1);
	tree_node(tree, "dev/nvidia-caps", 195, 1);
	tree_file(tree, "dev/nvidia3", "");
	tree_link(tree, "dev/nvidia4", "nvidia0");
	struct driver_files *files = found_in(tree, V);
	assert_int_equal(driver_files_node(files, "nvidia7")->minor, 6);
	assert_int_equal(driver_files_node(files, "nvidia-uvm")->major, 510);
	assert_int_equal(driver_files_node(files, "nvidia4")->minor, 0);
	assert_int_equal(strncmp(driver_files_node(files, "nvidia0")->path, tree, strlen(tree)), 0);
	assert_null(driver_files_node(files, "nvidia3"));
	assert_null(driver_files_node(files, "nvidia123456"));
	assert_null(driver_files_node(files, "nvidia-caps"));
	assert_int_equal(files->notes.count, 1);
	driver_files_free(files);
	tree_remove(tree);
}

TEST(driver_files_sockets)
{
	char tree[TREE_PATH_MAX];

	tree_make(tree);
	make_rhel(tree);
	tree_socket(tree, "run/nvidia-persistenced/socket");
	tree_file(tree, "run/nvidia-fabricmanager/socket", "no socket");
	tree_directory(tree, "tmp/nvidia-mps");
	assert_true(geteuid() != 0 || chown(tree, 0, 0) == 0);
	struct driver_files *files = found_in(tree, V);
	const struct driver_file *file =
		found_named(files, DRIVER_SOCKET, 0, "/run/nvidia-persistenced/socket");
	assert_non_null(file);
	assert_int_equal(strncmp(file->source, tree, strlen(tree)), 0);
	assert_null(found_named(files, DRIVER_SOCKET, 0, "/run/nvidia-fabricmanager/socket"));
	assert_int_equal(found_named(files, DRIVER_SOCKET, 0, "/tmp/nvidia-mps") != NULL,
			 geteuid() == 0);
	assert_true(files->notes.count > 0);
	driver_files_free(files);
	if (geteuid() == 0) { /* a directory in /tmp that somebody else made is not taken */
		char path[128];

		snprintf(path, sizeof(path), "%s/tmp/nvidia-mps", tree);
		assert_int_equal(chown(path, 12345, 12345), 0);
		files = found_in(tree, V);
		assert_null(found_named(files, DRIVER_SOCKET, 0, "/tmp/nvidia-mps"));
		driver_files_free(files);
	}
	tree_remove(tree);
}

TEST(driver_files_firmware_in_the_kernels_order)
{
	char tree[TREE_PATH_MAX];

	tree_make(tree);
	make_rhel(tree);
	tree_file(tree, "lib/firmware/nvidia/" V "/gsp_a.bin", "x");
	tree_file(tree, "lib/firmware/updates/nvidia/" V "/gsp_b.bin", "x");
	tree_file(tree, "lib/firmware/updates/nvidia/" V "/other.bin", "x");
	struct driver_files *files = found_in(tree, V);
	assert_null(found_named(files, DRIVER_FIRMWARE, 0, "/lib/firmware/nvidia/" V "/gsp_a.bin"));
	assert_non_null(
		found_named(files, DRIVER_FIRMWARE, 0, "/lib/firmware/nvidia/" V "/gsp_b.bin"));
	assert_null(found_named(files, DRIVER_FIRMWARE, 0, "/lib/firmware/nvidia/" V "/other.bin"));
	driver_files_free(files);
	tree_file(tree, "opt/firmware/nvidia/" V "/gsp_c.bin", "x");
	tree_file(tree, "sys/module/firmware_class/parameters/path", "/opt/firmware\n");
	files = found_in(tree, V);
	assert_null(found_named(files, DRIVER_FIRMWARE, 0, "/lib/firmware/nvidia/" V "/gsp_b.bin"));
	assert_non_null(
		found_named(files, DRIVER_FIRMWARE, 0, "/lib/firmware/nvidia/" V "/gsp_c.bin"));
	driver_files_free(files);
	tree_remove(tree);
}

/* Every row of the table is found under the name that programs open. */
TEST(driver_files_every_row_of_the_table)
{
	char tree[TREE_PATH_MAX];
	size_t rows = 0;

	tree_make(tree);
	for (const struct library_row *row = library_rows; row->base; row++, rows++) {
		char path[256], soname[128];

		snprintf(soname, sizeof(soname), "%s.so.9", row->base);
		if (row->version == LIBRARY_EXACT)
			snprintf(path, sizeof(path), "usr/lib64/%s%s",
				 row->directory ? row->directory : "", row->base);
		else
			snprintf(path, sizeof(path), "usr/lib64/%s.so.%s", row->base,
				 row->version == LIBRARY_OWN ? "9.1" : V);
		tree_library(tree, path, soname, 64);
	}
	struct driver_files *files = found_in(tree, V);
	for (const struct library_row *row = library_rows; row->base; row++) {
		char name[256];

		snprintf(name, sizeof(name), "%s%s%s", row->directory ? row->directory : "",
			 row->name ? row->name : row->base, row->name ? "" : ".so.9");
		const struct driver_file *file = found_named(files, DRIVER_LIBRARY, 64, name);
		if (!file)
			fail_msg("%s: %s was not found", row->base, name);
		assert_int_equal(file->capabilities, row->capabilities);
		if (row->also)
			assert_ptr_equal(found_named(files, DRIVER_LIBRARY, 64, row->also), file);
	}
	assert_true(rows > 40);
	driver_files_free(files);
	tree_remove(tree);
}

/* A search for some capabilities finds what the whole search has of them, and nothing else. */
TEST(driver_files_for_capabilities)
{
	static const unsigned sets[] = { CAPABILITY_UTILITY, CAPABILITY_DEFAULT, CAPABILITY_VIDEO,
					 CAPABILITY_GRAPHICS };
	char tree[TREE_PATH_MAX];

	tree_make(tree);
	make_debian(tree);
	tree_library(tree, "usr/lib64/libnvcuvid.so." V, "libnvcuvid.so.1", 64);
	tree_library(tree, "usr/lib64/libnvidia-eglcore.so." V, "libnvidia-eglcore.so." V, 64);
	struct driver_files *all = found_in(tree, V);
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		unsigned wanted = sets[i] | CAPABILITY_UTILITY; /* without it there is no driver */
		struct driver_files *files = NULL;
		size_t expected = 0, found = 0;

		assert_int_equal(driver_files_find(tree, V, sets[i], &files, NULL), 0);
		for (size_t k = 0; k < all->count; k++) {
			const struct driver_file *file = &all->items[k];

			if (file->kind != DRIVER_LIBRARY || !(file->capabilities & wanted))
				continue;
			expected++;
			const struct driver_file *same = found_named(
				files, DRIVER_LIBRARY, file->bits, file->names.items[0]);
			assert_non_null(same);
			assert_string_equal(same->source, file->source);
			assert_int_equal(same->names.count, file->names.count);
		}
		for (size_t k = 0; k < files->count; k++)
			found += files->items[k].kind == DRIVER_LIBRARY;
		assert_int_equal(found, expected);
		assert_true(expected > 0);
		driver_files_free(files);
	}
	driver_files_free(all);
	tree_remove(tree);
}

TEST(driver_files_survive_every_failed_allocation)
{
	char tree[TREE_PATH_MAX];
	unsigned n = 0;

	tree_make(tree);
	make_debian(tree);
	tree_socket(tree, "run/nvidia-persistenced/socket");
	tree_file(tree, "usr/lib64/libnvidia-cfg.so." V, "");
	tree_node(tree, "dev/nvidia0", 195, 0);
	for (;; n++) {
		struct driver_files *files = NULL;
		struct error error = ERROR_INIT;

		fault_arm(n);
		int r = driver_files_find(tree, NULL, CAPABILITY_ALL, &files, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			driver_files_free(files);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(files);
	}
	assert_true(n > 200);
	tree_remove(tree);
}

static int read_bytes(const unsigned char *bytes, size_t length, struct elf_facts *facts,
		      struct error *error)
{
	char path[] = "/tmp/gpupool-test-XXXXXX";
	autoclose int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, bytes, length), length);
	return elf_read(fd, "lib", facts, error);
}

TEST(library_headers)
{
	static const char *const names[] = { "libcuda.so.1", "libnvidia-eglcore.so." V, NULL };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		for (int bits = 32; bits <= 64; bits += 32) {
			unsigned char bytes[1024];
			struct elf_facts facts;
			size_t length = tree_library_bytes(bytes, names[i], bits);

			assert_int_equal(read_bytes(bytes, length, &facts, NULL), 0);
			assert_int_equal(facts.bits, bits);
			assert_string_equal(facts.soname, names[i] ? names[i] : "");
		}
	}
}

/* The reader takes what the real tool chain makes. */
TEST(library_headers_of_this_machine)
{
	autoclose int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	autoclose int libc = open("/lib/" LIBRARY_TRIPLET "/libc.so.6", O_RDONLY | O_CLOEXEC);
	struct elf_facts facts;

	if (libc < 0)
		skip();
	assert_int_equal(elf_read(libc, "libc", &facts, NULL), 0);
	assert_string_equal(facts.soname, "libc.so.6");
	assert_int_equal(facts.machine, ELF_MACHINE);
	assert_true(elf_read(fd, "self", &facts, NULL) <= 0);
}

/* Cut anywhere and with any byte changed: an answer or a sentence, never a crash. */
TEST(library_headers_broken_in_every_place)
{
	unsigned char bytes[1024];

	for (int bits = 32; bits <= 64; bits += 32) {
		size_t length = tree_library_bytes(bytes, "libcuda.so.1", bits), refused = 0;

		for (size_t cut = 0; cut < length - 1; cut++) {
			struct elf_facts facts;
			struct error error = ERROR_INIT;

			int r = read_bytes(bytes, cut, &facts, &error);
			assert_int_equal(r, -ENOEXEC);
			assert_non_null(strstr(error.message, "lib is not a usable library"));
		}
		for (size_t at = 0; at < 400; at++) {
			unsigned char old = bytes[at];

			for (unsigned value = 0; value < 256; value += 85) {
				struct elf_facts facts;

				bytes[at] = (unsigned char)value;
				refused += read_bytes(bytes, length, &facts, NULL) < 0;
			}
			bytes[at] = old;
		}
		assert_true(refused > 50);
	}
}

TEST(library_headers_hostile_names)
{
	static const char *const names[] = {
		"../../etc/passwd", "a/b", ".", "..", "a b", "a\nb", "\xff"
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		unsigned char bytes[1024];
		struct elf_facts facts;
		size_t length = tree_library_bytes(bytes, names[i], 64);

		assert_int_equal(read_bytes(bytes, length, &facts, NULL), -ENOEXEC);
	}
}

/* Minor and bus address, "" none, of what is found; a row without a name must not be. */
static const struct {
	const char *path; /* below dev */
	unsigned major, minor, gated;
	const char *bus_id;
	bool found;
} node_cases[] = {
	{ "nvidia0", 195, 0, 0, "", true },
	{ "nvidia123456", 195, 1, 0, "", false },
	{ "nvidiactl", 195, 255, 0, "", true },
	{ "nvidia-uvm", 511, 0, 0, "", true },
	{ "nvidia-fs0", 510, 0, GATED_GDS, "", true },
	{ "nvidia-fs", 510, 1, 0, "", false },
	{ "nvidia-nvswitchctl", 509, 255, GATED_NVSWITCH, "", true },
	{ "nvidia-nvswitch3", 509, 3, GATED_NVSWITCH, "", true },
	{ "gdrdrv", 508, 0, GATED_GDRCOPY, "", true },
	{ "gdrdrv0", 508, 1, 0, "", false },
	{ "dxg", 10, 125, 0, "", true },
	{ "nvidia-caps/nvidia-cap1", 507, 1, GATED_MIG_CONFIG, "", true },
	{ "nvidia-caps/nvidia-cap7", 507, 7, GATED_MIG_MONITOR, "", true },
	{ "nvidia-caps/nvidia-cap30", 507, 30, 0, "", true },
	{ "nvidia-caps/nvidia0", 507, 31, 0, "", false },
	{ "nvidia-caps-imex-channels/channel2047", 506, 2047, 0, "", true },
	{ "infiniband/uverbs1", 231, 193, GATED_MOFED, "", true },
	{ "infiniband/rdma_cm", 10, 59, GATED_MOFED, "", true },
	{ "infiniband/umad0", 231, 0, 0, "", false },
	{ "dri/card1", 226, 1, 0, "0000:07:00.0", true },
	{ "dri/renderD128", 226, 128, 0, "0000:07:00.0", true },
	{ "dri/card2", 226, 2, 0, "", true }, /* sysfs says nothing of it */
	{ "dri/card3", 226, 3, 0, "", true }, /* a platform device */
	{ "dri/by-path", 226, 9, 0, "", false },
	{ "uverbs0", 231, 194, 0, "", false }, /* in another directory */
};

static void make_node_links(const char *tree)
{
	tree_link(tree, "sys/class/drm/card1",
		  "../../devices/pci0000:00/0000:00:03.0/0000:07:00.0/drm/card1");
	tree_link(tree, "sys/class/drm/renderD128",
		  "../../devices/pci0000:00/0000:07:00.0/drm/renderD128");
	tree_link(tree, "sys/class/drm/card2", "../../devices/0000:08:00.0/drm/card9");
	tree_link(tree, "sys/class/drm/card3", "../../devices/platform/vgem/drm/card3");
	tree_file(tree, "proc/driver/nvidia/capabilities/mig/config",
		  "DeviceFileMinor: 1\nDeviceFileMode: 256\n");
	tree_file(tree, "proc/driver/nvidia/capabilities/mig/monitor", "DeviceFileMinor: 7\n");
}

static void check_node_case(const struct driver_files *files, const char *tree, size_t row)
{
	const struct driver_node *node = driver_files_node(files, node_cases[row].path);
	char path[256];

	if (!node_cases[row].found && node)
		fail_msg("%s was found", node->path);
	if (!node_cases[row].found)
		return;
	if (!node)
		fail_msg("%s was not found", node_cases[row].path);
	snprintf(path, sizeof(path), "%s/dev/%s", tree, node_cases[row].path);
	assert_string_equal(node->path, path);
	assert_int_equal(node->major, node_cases[row].major);
	assert_int_equal(node->minor, node_cases[row].minor);
	assert_int_equal(node->gated, node_cases[row].gated);
	assert_string_equal(node->bus_id, node_cases[row].bus_id);
}

TEST(nodes_of_every_kind)
{
	cleanup(driver_files_freep) struct driver_files *files = NULL;
	char tree[TREE_PATH_MAX], path[128];
	bool made = true;

	tree_make(tree);
	make_rhel(tree);
	make_node_links(tree);
	for (size_t i = 0; made && i < ARRAY_SIZE(node_cases); i++) {
		snprintf(path, sizeof(path), "dev/%s", node_cases[i].path);
		made = tree_node(tree, path, node_cases[i].major, node_cases[i].minor);
	}
	if (made) {
		files = found_in(tree, V);
		for (size_t i = 0; i < ARRAY_SIZE(node_cases); i++) {
			print_message("# %s\n", node_cases[i].path);
			check_node_case(files, tree, i);
		}
		snprintf(path, sizeof(path), "%s/dev/gdrdrv", tree);
		assert_int_equal(chmod(path, 0640), 0);
		assert_int_equal(chown(path, 7, 8), 0);
		driver_files_free(TAKE_PTR(files));
		files = found_in(tree, V);
		const struct driver_node *node = driver_files_node(files, "gdrdrv");
		assert_int_equal(node->mode, 0640);
		assert_int_equal(node->uid, 7);
		assert_int_equal(node->gid, 8);
	}
	tree_remove(tree);
	if (!made)
		skip();
}

/* The files beside gated nodes are only for who asks for these. */
TEST(files_that_are_asked_for)
{
	cleanup(driver_files_freep) struct driver_files *files = NULL;
	char tree[TREE_PATH_MAX];

	tree_make(tree);
	make_rhel(tree);
	tree_file(tree, "etc/cufile.json", "{}\n");
	tree_directory(tree, "run/udev");
	files = found_in(tree, V);
	const struct driver_file *config = found_named(files, DRIVER_CONFIG, 0, "/etc/cufile.json");
	assert_non_null(config);
	assert_int_equal(config->gated, GATED_GDS);
	const struct driver_file *udev = found_named(files, DRIVER_SOCKET, 0, "/run/udev");
	assert_int_equal(udev != NULL, geteuid() == 0); /* a directory of root */
	if (udev)
		assert_int_equal(udev->gated, GATED_GDS);
	assert_int_equal(found_named(files, DRIVER_BINARY, 0, "nvidia-smi")->gated, 0);
	tree_remove(tree);
}
