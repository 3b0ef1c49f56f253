/* SPDX-License-Identifier: Apache-2.0 */
/* The kept list of a driver's files: it says what a search would say, or nothing. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject/driver_table.h"
#include "inject/inject.h"
#include "found.h"
#include "tree.h"

#define V       "535.261.03"
#define TRIPLET "usr/lib/" LIBRARY_TRIPLET
#define CURRENT TRIPLET "/nvidia/current"

struct place {
	char tree[TREE_PATH_MAX];
	char list[TREE_PATH_MAX + 32]; /* beside the driver root, in a directory of its own */
	char run[TREE_PATH_MAX];
};

static void make_driver(const char *tree)
{
	tree_library(tree, CURRENT "/libcuda.so." V, "libcuda.so.1", 64);
	tree_link(tree, CURRENT "/libcuda.so.1", "libcuda.so." V);
	tree_library(tree, CURRENT "/libnvidia-ml.so." V, "libnvidia-ml.so.1", 64);
	tree_library(tree, CURRENT "/libvdpau_nvidia.so." V, "libvdpau_nvidia.so.1", 64);
	tree_library(tree, TRIPLET "/libnvidia-eglcore.so." V, "libnvidia-eglcore.so." V, 64);
	tree_file(tree, TRIPLET "/libnvidia-rtcore.so." V, "broken");
	tree_library(tree, "usr/lib32/libcuda.so." V, "libcuda.so.1", 32);
	tree_link(tree, TRIPLET "/libcuda.so.1", "/etc/alternatives/cuda");
	tree_link(tree, "etc/alternatives/cuda", "/" CURRENT "/libcuda.so.1");
	tree_link(tree, TRIPLET "/vdpau/libvdpau_nvidia.so.1",
		  "/" CURRENT "/libvdpau_nvidia.so." V);
	tree_program(tree, "usr/lib/nvidia/current/nvidia-smi");
	tree_link(tree, "etc/alternatives/smi", "/usr/lib/nvidia/current/nvidia-smi");
	tree_link(tree, "usr/bin/nvidia-smi", "/etc/alternatives/smi");
	tree_link(tree, "bin", "usr/bin");
	tree_file(tree, "usr/lib/firmware/nvidia/" V "/gsp_ga10x.bin", "x");
	tree_link(tree, "lib", "usr/lib");
	tree_file(tree, "etc/OpenCL/vendors/nvidia.icd", "libnvidia-opencl.so.1\n");
	tree_file(tree, "usr/lib/xorg/modules/drivers/nvidia_drv.so", "x");
	tree_file(tree, "etc/passwd", "root:x:0:0::/:/bin/sh\n");
	tree_directory(tree, "usr/local/bin");
	tree_directory(tree, "tmp");
	tree_directory(tree, "dev");
	tree_directory(tree, "run");
	tree_directory(tree, "sys");
	tree_directory(tree, "var/lib");
}

/* As if all of it had been made long ago: what was changed a moment ago is not kept. */
static void settle(const char *tree)
{
	char *copy = strdup(tree), *const roots[] = { copy, NULL };
	const struct timespec long_ago[2] = { { .tv_sec = 1700000000 }, { .tv_sec = 1700000000 } };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	assert_non_null(fts);
	for (FTSENT *entry = fts_read(fts); entry; entry = fts_read(fts))
		if (entry->fts_info != FTS_D)
			assert_int_equal(
				utimensat(AT_FDCWD, entry->fts_path, long_ago, AT_SYMLINK_NOFOLLOW),
				0);
	fts_close(fts);
	free(copy);
}

static void place_make(struct place *place)
{
	tree_make(place->tree);
	tree_make(place->run);
	snprintf(place->list, sizeof(place->list), "%s/list.json", place->run);
	make_driver(place->tree);
	settle(place->tree);
}

static void place_remove(const struct place *place)
{
	tree_remove(place->tree);
	tree_remove(place->run);
}

static void keep(const struct place *place)
{
	struct error error = ERROR_INIT;

	if (driver_files_keep(place->list, place->tree, V, &error) < 0)
		fail_msg("%s", error.message);
}

static int read_list(const struct place *place, unsigned capabilities, struct driver_files **ret,
		     struct error *error)
{
	*ret = NULL;
	return driver_files_read(place->list, place->tree, NULL, V, capabilities, ret, error);
}

static void must_be_equal(const struct driver_files *left, const struct driver_files *right)
{
	assert_string_equal(left->root, right->root);
	assert_string_equal(left->version, right->version);
	assert_int_equal(left->count, right->count);
	for (size_t i = 0; i < left->count; i++) {
		const struct driver_file *a = &left->items[i], *b = &right->items[i];

		assert_string_equal(a->source, b->source);
		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->capabilities, b->capabilities);
		assert_int_equal(a->bits, b->bits);
		assert_int_equal(a->cuda_search, b->cuda_search);
		assert_int_equal(a->directory, b->directory);
		assert_int_equal(a->names.count, b->names.count);
		for (size_t k = 0; k < a->names.count; k++)
			assert_string_equal(a->names.items[k], b->names.items[k]);
	}
	assert_int_equal(left->node_count, right->node_count);
	for (size_t i = 0; i < left->node_count; i++)
		assert_string_equal(left->nodes[i].path, right->nodes[i].path);
}

TEST(it_says_what_a_search_says)
{
	static const unsigned sets[] = { CAPABILITY_ALL, CAPABILITY_DEFAULT, CAPABILITY_COMPUTE,
					 CAPABILITY_GRAPHICS | CAPABILITY_COMPAT32, 0 };
	struct place place;

	place_make(&place);
	keep(&place);
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		cleanup(driver_files_freep) struct driver_files *kept = NULL, *found = NULL;
		struct error error = ERROR_INIT;

		print_message("# capabilities %u\n", sets[i]);
		if (read_list(&place, sets[i], &kept, &error) < 0)
			fail_msg("%s", error.message);
		assert_int_equal(driver_files_find(place.tree, V, sets[i], &found, NULL), 0);
		must_be_equal(kept, found);
		/* What is broken is told, whoever searched. */
		assert_int_equal(kept->notes.count, 1);
		assert_non_null(strstr(kept->notes.items[0], "libnvidia-rtcore"));
	}
	place_remove(&place);
}

TEST(the_version_is_the_lists_where_none_is_known)
{
	cleanup(driver_files_freep) struct driver_files *files = NULL;
	struct place place;

	place_make(&place);
	keep(&place);
	assert_int_equal(
		driver_files_read(place.list, place.tree, NULL, "", CAPABILITY_ALL, &files, NULL),
		0);
	assert_string_equal(files->version, V);
	place_remove(&place);
}

enum change { MAKE, LINK, DELETE, RETARGET, RENAME };

static const struct {
	enum change change;
	const char *path, *other;
	int r;
} changes[] = {
	/* the driver's own directories */
	{ MAKE, TRIPLET "/libnvidia-ptxjitcompiler.so." V, NULL, -ESTALE },
	{ DELETE, CURRENT "/libvdpau_nvidia.so." V, NULL, -ESTALE },
	{ RENAME, CURRENT, TRIPLET "/nvidia/old", -ESTALE },
	{ MAKE, TRIPLET "/gbm/nvidia-drm_gbm.so", NULL, -ESTALE },
	{ DELETE, "usr/lib32/libcuda.so." V, NULL, -ESTALE },
	/* links, each on its way */
	{ RETARGET, "etc/alternatives/cuda", "/usr/lib32/libcuda.so." V, -ESTALE },
	{ RETARGET, "etc/alternatives/smi", "/usr/lib/nvidia/other", -ESTALE },
	{ RETARGET, "lib", "usr/lib32", -ESTALE },
	{ DELETE, "bin", NULL, -ESTALE },
	{ DELETE, "usr/lib/nvidia/current/nvidia-smi", NULL, -ESTALE },
	/* what was not there */
	{ MAKE, "usr/local/share/glvnd/egl_vendor.d/10_nvidia.json", NULL, -ESTALE },
	{ MAKE, "usr/local/bin/nvidia-smi", NULL, -ESTALE },
	{ MAKE, "usr/lib64/libcuda.so." V, NULL, -ESTALE },
	{ LINK, "lib64", "usr/lib64x", -ESTALE },
	{ MAKE, "lib/firmware/updates/nvidia/" V "/gsp_ga10x.bin", NULL, -ESTALE },
	{ MAKE, "sys/module/firmware_class/parameters/path", "/opt/firmware\n", -ESTALE },
	{ MAKE, "etc/cufile.json", NULL, -ESTALE },
	{ MAKE, "etc/vulkan/icd.d/nvidia_icd.json", NULL, -ESTALE }, /* for graphics only */
	{ MAKE, "usr/local/sbin/nvidia-cuda-mps-server", NULL, -ESTALE },
	{ MAKE, TRIPLET "/nvidia/xorg/nvidia_drv.so", NULL, -ESTALE },
	{ MAKE, "usr/lib/xorg/modules/extensions/libglxserver_nvidia.so." V, NULL, -ESTALE },
	{ DELETE, "usr/lib/xorg/modules/drivers/nvidia_drv.so", NULL, -ESTALE },
	/* what nobody looked at */
	{ MAKE, "etc/shadow", NULL, 0 },
	{ DELETE, "etc/passwd", NULL, 0 },
	{ LINK, "etc/alternatives/editor", "/usr/bin/vi", 0 },
	{ MAKE, "usr/share/doc/x", NULL, -ESTALE }, /* /usr/share itself was not there */
	{ MAKE, "tmp/x", NULL, 0 },
	{ MAKE, "var/lib/x", NULL, 0 },
	{ MAKE, "usr/lib/nvidia/x", NULL, 0 },
};

static void change_tree(const char *tree, size_t row)
{
	const char *path = changes[row].path, *other = changes[row].other;
	char full[512], to[512];

	snprintf(full, sizeof(full), "%s/%s", tree, path);
	snprintf(to, sizeof(to), "%s/%s", tree, other ? other : "");
	switch (changes[row].change) {
	case MAKE:
		tree_file(tree, path, other ? other : "x");
		break;
	case LINK:
		tree_link(tree, path, other);
		break;
	case DELETE:
		assert_int_equal(unlink(full), 0);
		break;
	case RETARGET:
		assert_int_equal(unlink(full), 0);
		tree_link(tree, path, other);
		break;
	case RENAME:
		assert_int_equal(rename(full, to), 0);
		break;
	}
}

/* A list that is said to hold for some capabilities says what a search for them finds. */
static void must_hold_for_each(const struct place *place)
{
	for (unsigned capabilities = 0; capabilities <= CAPABILITY_ALL; capabilities++) {
		cleanup(driver_files_freep) struct driver_files *kept = NULL, *found = NULL;

		if (read_list(place, capabilities, &kept, NULL) < 0)
			continue;
		assert_int_equal(driver_files_find(place->tree, V, capabilities, &found, NULL), 0);
		must_be_equal(kept, found);
	}
}

TEST(what_changed_is_noticed)
{
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		cleanup(driver_files_freep) struct driver_files *kept = NULL, *found = NULL;
		struct error error = ERROR_INIT;
		struct place place;

		print_message("# %s\n", changes[i].path);
		place_make(&place);
		keep(&place);
		change_tree(place.tree, i);
		int r = read_list(&place, CAPABILITY_ALL, &kept, &error);
		if (r != changes[i].r)
			fail_msg("%d: %s", r, error.message);
		if (r < 0)
			assert_non_null(strstr(error.message, "gpupool inventory"));
		driver_files_free(TAKE_PTR(kept));
		must_hold_for_each(&place);
		/* With the search behind it the answer is right either way. */
		r = driver_files_find_kept(place.list, place.tree, NULL, V, CAPABILITY_ALL, &kept,
					   NULL);
		assert_int_equal(driver_files_find(place.tree, V, CAPABILITY_ALL, &found, NULL), r);
		if (r == 0)
			must_be_equal(kept, found);
		place_remove(&place);
	}
}

TEST(another_root_and_another_version)
{
	cleanup(driver_files_freep) struct driver_files *kept = NULL;
	struct place place, other;
	struct error error = ERROR_INIT;

	place_make(&place);
	place_make(&other);
	keep(&place);
	assert_int_equal(driver_files_read(place.list, other.tree, NULL, V, 1, &kept, &error),
			 -ESTALE);
	assert_non_null(strstr(error.message, "another driver root"));
	assert_int_equal(
		driver_files_read(place.list, place.tree, NULL, "550.1.2", 1, &kept, &error),
		-ESTALE);
	assert_non_null(strstr(error.message, "another driver version"));
	assert_int_equal(driver_files_read(other.list, other.tree, NULL, V, 1, &kept, NULL),
			 -ENOENT);
	place_remove(&place);
	place_remove(&other);
}

TEST(it_is_written_once_and_again_after_a_change)
{
	cleanup(driver_files_freep) struct driver_files *kept = NULL;
	struct place place;
	struct stat first, second;

	place_make(&place);
	keep(&place);
	assert_int_equal(stat(place.list, &first), 0);
	assert_int_equal(first.st_mode & 07777, 0644);
	keep(&place);
	assert_int_equal(stat(place.list, &second), 0);
	assert_int_equal(first.st_ino, second.st_ino);
	tree_library(place.tree, TRIPLET "/libnvidia-nvvm.so." V, "libnvidia-nvvm.so.4", 64);
	keep(&place); /* changed a moment ago: not kept yet */
	assert_int_equal(read_list(&place, CAPABILITY_ALL, &kept, NULL), -ESTALE);
	settle(place.tree);
	keep(&place);
	assert_int_equal(read_list(&place, CAPABILITY_ALL, &kept, NULL), 0);
	place_remove(&place);
}

TEST(nodes_and_sockets_are_looked_for_each_time)
{
	cleanup(driver_files_freep) struct driver_files *kept = NULL;
	struct place place;

	place_make(&place);
	keep(&place);
	tree_socket(place.tree, "run/nvidia-persistenced/socket");
	bool nodes = tree_node(place.tree, "dev/nvidia3", 195, 3);
	assert_int_equal(read_list(&place, CAPABILITY_ALL, &kept, NULL), 0);
	assert_int_equal(driver_files_node(kept, "nvidia3") != NULL, nodes);
	const struct driver_file *last = &kept->items[kept->count - 1];
	assert_int_equal(last->kind, DRIVER_SOCKET);
	assert_non_null(strstr(last->source, place.tree));
	place_remove(&place);
}

/* A container sees the driver's root below the host's: what is in its own root is nobody's. */
TEST(what_the_driver_root_lacks_is_where_the_host_is_seen)
{
	cleanup(driver_files_freep) struct driver_files *kept = NULL, *searched = NULL;
	char host[TREE_PATH_MAX], driver[TREE_PATH_MAX + 8], socket[TREE_PATH_MAX + 64];
	struct place place;

	place_make(&place);
	keep(&place);
	tree_make(host);
	tree_socket(host, "run/nvidia-fabricmanager/socket");
	bool nodes = tree_node(host, "dev/nvidia3", 195, 3);
	snprintf(socket, sizeof(socket), "%s/run/nvidia-fabricmanager/socket", host);
	assert_int_equal(
		driver_files_read(place.list, place.tree, host, V, CAPABILITY_ALL, &kept, NULL), 0);
	const struct driver_file *found =
		found_named(kept, DRIVER_SOCKET, 0, "/run/nvidia-fabricmanager/socket");
	assert_non_null(found);
	assert_string_equal(found->source, socket);
	assert_int_equal(driver_files_node(kept, "nvidia3") != NULL, nodes);
	/* The driver's root is the host's: nothing is looked for twice. */
	snprintf(driver, sizeof(driver), "%s/", place.tree);
	tree_file(place.tree, "run/nvidia-fabricmanager/socket", "no socket");
	assert_int_equal(driver_files_find_kept(place.list, place.tree, driver, V, CAPABILITY_ALL,
						&searched, NULL),
			 0);
	assert_null(found_named(searched, DRIVER_SOCKET, 0, "/run/nvidia-fabricmanager/socket"));
	unsigned notes = 0;
	for (size_t i = 0; i < searched->notes.count; i++)
		notes += strstr(searched->notes.items[i], "fabricmanager") != NULL;
	assert_int_equal(notes, 1);
	tree_remove(host);
	place_remove(&place);
}

TEST(who_may_write_it)
{
	cleanup(driver_files_freep) struct driver_files *kept = NULL;
	struct error error = ERROR_INIT;
	struct place place;
	char real[sizeof(place.list) + 8];

	place_make(&place);
	keep(&place);
	assert_int_equal(chmod(place.list, 0664), 0);
	assert_int_equal(read_list(&place, 1, &kept, &error), -EPERM);
	assert_non_null(strstr(error.message, "mode 0664"));
	assert_int_equal(chmod(place.list, 0644), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(place.list, 12345, 0), 0);
		assert_int_equal(read_list(&place, 1, &kept, &error), -EPERM);
		assert_non_null(strstr(error.message, "owner 12345"));
		assert_int_equal(chown(place.list, 0, 0), 0);
	}
	snprintf(real, sizeof(real), "%s.real", place.list);
	assert_int_equal(rename(place.list, real), 0);
	assert_int_equal(symlink(real, place.list), 0);
	assert_int_equal(read_list(&place, 1, &kept, &error), -ELOOP);
	assert_int_equal(unlink(place.list), 0);
	assert_int_equal(mkfifo(place.list, 0600), 0);
	assert_int_equal(read_list(&place, 1, &kept, &error), -EPERM);
	place_remove(&place);
}

#define MARKS "\"marks\":[\""

/* The list with one text replaced by another. */
static const struct {
	const char *from, *to, *sentence;
	int r;
} forms[] = {
	{ "{", "[", "list.json:1:", -EINVAL },
	{ "\"version\":3", "\"version\":2", "another version", -EINVAL },
	{ "\"version\":3", "\"version\":\"3\"", "another version", -EINVAL },
	{ "\"driverVersion\":\"" V "\"", "\"driverVersion\":\"\"", "no driver version", -EINVAL },
	{ "\"driverVersion\"", "\"x\"", "no driver version", -EINVAL },
	{ "\"marks\"", "\"x\"", "no marks", -EINVAL },
	{ MARKS "/", MARKS, "a mark", -EINVAL },
	{ MARKS, "\"marks\":[{}, \"", "a mark", -EINVAL },
	{ MARKS, "\"marks\":[[], \"", "a mark", -EINVAL },
	{ MARKS, MARKS "\", \"", "a mark", -EINVAL },
	{ MARKS, MARKS "/x|1|2\", \"", "a mark", -EINVAL },
	{ MARKS, MARKS "/x|0|1|2|3|4|5\", \"", "a mark", -EINVAL },
	{ MARKS, MARKS "/x|0|1|2|-3|4\", \"", "a number", -EINVAL },
	{ MARKS, MARKS "/x|0|1|2|3|\", \"", "a number", -EINVAL },
	{ MARKS, MARKS "/x|0|1|2|3|1000000000\", \"", "a number", -EINVAL },
	{ MARKS, MARKS "/x|0|1|99999999999999999999|3|4\", \"", "a number", -EINVAL },
	{ MARKS, MARKS "/x/../y|0\", \"", "a mark", -EINVAL },
	{ MARKS, MARKS "/x|128\", \"", "a number", -EINVAL },
	{ MARKS, MARKS "/|0\", \"", "/ has changed", -ESTALE },
	{ MARKS, MARKS "/|1\", \"", "/ has changed", -ESTALE },
	{ "\"files\"", "\"x\"", "no files", -EINVAL },
	{ "\"notes\"", "\"x\"", "no notes", -EINVAL },
	{ "\"notes\":[", "\"notes\":[7,", "a note", -EINVAL },
	{ "\"binary|", "\"socket|", "a file", -EINVAL },
	{ "\"binary|", "\"library|", "a file", -EINVAL },
	{ "\"binary|", "\"7|", "a file", -EINVAL },
	{ "\"binary|", "{}, \"binary|", "a file", -EINVAL },
	{ "\"binary|2|0|0|0|", "\"binary|2|64|0|0|", "a file", -EINVAL },
	{ "\"binary|2|0|0|0|", "\"binary|2|0|2|0|", "a file", -EINVAL },
	{ "\"binary|2|0|0|0|", "\"binary|2|0|0|64|", "a file", -EINVAL },
	{ "\"binary|2|0|0|0|", "\"binary|128|0|0|0|", "a file", -EINVAL },
	{ "\"binary|2|0|0|0|", "\"binary|-1|0|0|0|", "a file", -EINVAL },
	{ "\"binary|2|0|0|0|", "\"binary|true|0|0|0|", "a file", -EINVAL },
	{ "\"binary|2|0|0|0|", "\"binary|2|0|0|0|.", "a file", -EINVAL },
	{ "\"binary|2|0|0|0|/", "\"binary|2|0|0|0|/etc/../", "a file", -EINVAL },
	{ "\"binary|2|0|0|0|/", "\"binary|2|0|0|0|/etc/", "outside the driver root", -EINVAL },
	{ "|nvidia-smi\"", "\"", "a file", -EINVAL },
	{ "|nvidia-smi\"", "|\"", "a name", -EINVAL },
	{ "|nvidia-smi\"", "|a/b\"", "a name", -EINVAL },
	{ "|libcuda.so.1", "|/libcuda.so.1", "a name", -EINVAL },
	{ "|libcuda.so.1", "|../libcuda.so.1", "a name", -EINVAL },
	{ "|/etc/OpenCL", "|/etc/../x", "a name", -EINVAL },
	{ "|/etc/OpenCL", "|etc", "a name", -EINVAL },
	{ "|nvidia-smi\"", "|nvidia-smi|a\"", "", 0 },
	{ "|nvidia-smi\"",
	  "|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a"
	  "|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a\"",
	  "a file", -EINVAL },
};

static char *replaced(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	autostrbuf out = STRBUF_INIT(1 << 20);

	if (!at)
		fail_msg("%s is not in %s", from, text);
	strbuf_add(&out, text, (size_t)(at - text));
	strbuf_addf(&out, "%s%s", to, at + strlen(from));
	return strbuf_detach(&out);
}

TEST(a_list_that_is_none)
{
	struct place place;
	autofree char *good = NULL;

	place_make(&place);
	keep(&place);
	assert_int_equal(file_read(place.list, 1 << 20, &good, NULL, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		cleanup(driver_files_freep) struct driver_files *kept = NULL;
		autofree char *text = replaced(good, forms[i].from, forms[i].to);
		struct error error = ERROR_INIT;

		print_message("# %s\n", forms[i].to);
		assert_int_equal(file_write_atomic(place.list, text, strlen(text), 0644, NULL), 0);
		int r = read_list(&place, CAPABILITY_ALL, &kept, &error);
		if (r != forms[i].r || !strstr(error.message, forms[i].sentence))
			fail_msg("%d: %s", r, error.message);
		assert_true(r == 0 || !kept);
	}
	place_remove(&place);
}

TEST(every_allocation_fails_once)
{
	struct place place;

	place_make(&place);
	for (unsigned n = 0;; n++) {
		cleanup(driver_files_freep) struct driver_files *kept = NULL;

		(void)unlink(place.list);
		fault_arm(n);
		int r = driver_files_keep(place.list, place.tree, V, NULL);
		if (r == 0)
			r = read_list(&place, CAPABILITY_ALL, &kept, NULL);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 200);
			break;
		}
		if (r != -ENOMEM)
			fail_msg("%d at %u", r, n);
	}
	place_remove(&place);
}

TEST(every_call_of_the_writing_fails_once)
{
	static const enum fault_call calls[] = { FAULT_WRITE, FAULT_FSYNC, FAULT_RENAME };
	struct place place;

	place_make(&place);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		cleanup(driver_files_freep) struct driver_files *kept = NULL;

		fault_arm_call(calls[i], 0, EIO);
		assert_int_equal(driver_files_keep(place.list, place.tree, V, NULL), -EIO);
		assert_true(fault_disarm());
		int r = read_list(&place, 1, &kept, NULL);
		assert_true(r == -ENOENT || r == 0); /* the whole list or none */
		(void)unlink(place.list);
	}
	place_remove(&place);
}
