/* SPDX-License-Identifier: Apache-2.0 */
/* Names below a root: by the kernel, by walking, and as text they must mean the same. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "tree.h"

/* The shapes that an image may give to a directory on the way, and what they are inside the root. */
static const struct {
	const char *link; /* what /x/shape points to; NULL: something else stands there */
	int r;            /* of opening /x/shape/file */
	const char *real; /* where /x/shape/file is, as text */
} shapes[] = {
	{ "../real", 0, "/real/file" },
	{ "/real", 0, "/real/file" },
	{ "/OUTSIDE", -ENOENT, "/OUTSIDE/file" },
	{ "../../../../../../../../OUTSIDE", -ENOENT, "/OUTSIDE/file" },
	{ "/real/file", -ENOTDIR, "/real/file/file" },
	{ "loop", -ELOOP, NULL },
	{ "fifo", -ENOTDIR, "/x/fifo/file" },
	{ "/real/sub", -ENOENT, "/real/sub/file" },
	{ "/proc/1/root/OUTSIDE", -ENOENT, "/proc/1/root/OUTSIDE/file" },
	{ "/proc/self/fd/7", -ENOENT, "/proc/self/fd/7/file" },
	{ "/dev", -ENOENT, "/dev/file" },
	{ "plain", -ENOTDIR, "/x/plain/file" },
	{ "/sys/fs/cgroup", -ENOENT, "/sys/fs/cgroup/file" },
	{ "chain1", 0, "/real/file" },
	{ ".", -ENOENT, "/x/file" },
	{ "/../../..", -ENOENT, "/file" },
	{ "//real//./", 0, "/real/file" },
	{ "/real/../x/../real/sub/..", 0, "/real/file" },
};

static void make_root(const char *tree)
{
	tree_file(tree, "root/real/file", "inside");
	tree_directory(tree, "root/real/sub");
	tree_file(tree, "root/x/plain", "");
	tree_fifo(tree, "root/x/fifo");
	tree_link(tree, "root/x/loop", "loop");
	tree_link(tree, "root/x/chain1", "/chain2");
	tree_link(tree, "root/chain2", "chain3");
	tree_link(tree, "root/chain3", "x/../real");
	tree_directory(tree, "root/dev");
	tree_file(tree, "outside/file", "outside");
}

/* TEXT with OUTSIDE replaced by the tree's directory of that name. */
static void expand(const char *tree, const char *text, char *to, size_t size)
{
	const char *at = strstr(text, "OUTSIDE");

	if (at)
		snprintf(to, size, "%.*s%s/outside%s", (int)(at - text), text, tree + 1,
			 at + strlen("OUTSIDE"));
	else
		snprintf(to, size, "%s", text);
}

static int open_root(const char *tree)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/root", tree);
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void check_open(int root, int expected, size_t row)
{
	int (*const openers[])(int, const char *, int) = { root_open, root_open_walk };

	for (size_t i = 0; i < ARRAY_SIZE(openers); i++) {
		autoclose int fd = openers[i](root, "/x/shape/file", O_RDONLY);
		char text[16] = "";

		if ((fd < 0 ? fd : 0) != expected)
			fail_msg("row %zu, opener %zu: %d", row, i, fd);
		if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
			assert_string_equal(text, "inside");
	}
}

TEST(root_shapes)
{
	char tree[TREE_PATH_MAX];

	tree_make(tree);
	make_root(tree);
	autoclose int root = open_root(tree);
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		char target[256], real[256];
		autostrbuf resolved = STRBUF_INIT(ROOT_PATH_MAX);

		expand(tree, shapes[i].link, target, sizeof(target));
		unlinkat(root, "x/shape", 0);
		assert_int_equal(symlinkat(target, root, "x/shape"), 0);
		autofree char *before = tree_describe(tree);
		check_open(root, shapes[i].r, i);
		int r = root_resolve(root, "/x/shape/file", &resolved);
		if (shapes[i].real) {
			expand(tree, shapes[i].real, real, sizeof(real));
			assert_int_equal(r, 0);
			assert_string_equal(resolved.data, real);
		} else {
			assert_int_equal(r, -ELOOP);
		}
		autofree char *after = tree_describe(tree);
		assert_string_equal(before, after);
	}
	tree_remove(tree);
}

TEST(root_plain_takes_no_link)
{
	static const struct {
		const char *path;
		int r;
	} rows[] = {
		{ "/real", 0 },
		{ "/real/file", 0 },
		{ "/x/chain1", -ELOOP },
		{ "/chain2", -ELOOP },
		{ "/chain2/file", -ELOOP },
		{ "/none", -ENOENT },
		{ "/x/loop", -ELOOP },
		{ "/", 0 },
	};
	char tree[TREE_PATH_MAX];

	tree_make(tree);
	make_root(tree);
	autoclose int root = open_root(tree);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autoclose int fd = root_open_plain(root, rows[i].path);

		if ((fd < 0 ? fd : 0) != rows[i].r)
			fail_msg("%s: %d", rows[i].path, fd);
	}
	tree_remove(tree);
}

TEST(root_resolve_text)
{
	static const struct {
		const char *path, *real;
	} rows[] = {
		{ "/", "/" },
		{ "", "/" },
		{ "relative", "/relative" },
		{ "/none/../../x/./plain", "/x/plain" },
		{ "/chain2/none/more", "/real/none/more" },
		{ "/chain2/../x", "/x" },
		{ "/none/chain2", "/none/chain2" },
	};
	char tree[TREE_PATH_MAX];

	tree_make(tree);
	make_root(tree);
	autoclose int root = open_root(tree);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autostrbuf real = STRBUF_INIT(ROOT_PATH_MAX);

		assert_int_equal(root_resolve(root, rows[i].path, &real), 0);
		assert_string_equal(real.data, rows[i].real);
	}
	tree_remove(tree);
}

TEST(root_paths_without_end)
{
	char tree[TREE_PATH_MAX], long_name[300], *path = calloc(1, 9001);
	autostrbuf real = STRBUF_INIT(ROOT_PATH_MAX);

	assert_non_null(path);
	for (size_t i = 0; i < 9000; i += 2)
		memcpy(path + i, "/a", 2);
	memset(long_name, 'a', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	tree_make(tree);
	make_root(tree);
	autoclose int root = open_root(tree);
	assert_int_equal(root_open_walk(root, path, O_PATH), -ENOENT);
	assert_int_equal(root_resolve(root, path, &real), -ENAMETOOLONG);
	assert_int_equal(root_open_walk(root, long_name, O_PATH), -ENAMETOOLONG);
	assert_int_equal(root_open(root, long_name, O_PATH), -ENAMETOOLONG);
	free(path);
	tree_remove(tree);
}

/* As many links as the kernel follows, and not one more. */
TEST(root_chains_of_links)
{
	char tree[TREE_PATH_MAX];

	tree_make(tree);
	make_root(tree);
	for (int i = 1; i <= ROOT_LINKS_MAX + 1; i++) {
		char path[64], target[64];

		snprintf(path, sizeof(path), "root/link%d", i);
		if (i == 1)
			snprintf(target, sizeof(target), "/real/file");
		else
			snprintf(target, sizeof(target), "link%d", i - 1);
		tree_link(tree, path, target);
	}
	autoclose int root = open_root(tree);
	int (*const openers[])(int, const char *, int) = { root_open, root_open_walk };
	for (size_t i = 0; i < ARRAY_SIZE(openers); i++) {
		autoclose int fd = openers[i](root, "link40", O_PATH);

		assert_true(fd >= 0);
		assert_int_equal(openers[i](root, "link41", O_PATH), -ELOOP);
	}
	tree_remove(tree);
}

TEST(root_fd_paths)
{
	char tree[TREE_PATH_MAX], real[128], file[128];
	autofree char *path = NULL;

	tree_make(tree);
	make_root(tree);
	autoclose int root = open_root(tree);
	autoclose int fd = root_open(root, "/x/chain1/file", O_PATH);
	assert_int_equal(root_fd_path(fd, &path), 0);
	snprintf(real, sizeof(real), "%s/root/real/file", tree);
	assert_string_equal(path, real);
	free(TAKE_PTR(path));
	/* another file took its name: the path would lead to that one */
	snprintf(file, sizeof(file), "%s/outside/file", tree);
	assert_int_equal(rename(file, real), 0);
	assert_int_equal(root_fd_path(fd, &path), -ESTALE);
	tree_remove(tree);
}

TEST(root_survives_every_failed_allocation)
{
	char tree[TREE_PATH_MAX];
	unsigned n = 0;

	tree_make(tree);
	make_root(tree);
	autoclose int root = open_root(tree);
	for (;; n++) {
		autostrbuf real = STRBUF_INIT(ROOT_PATH_MAX);

		fault_arm(n);
		int r = root_resolve(root, "/x/chain1/none", &real);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	assert_true(n > 5);
	tree_remove(tree);
}
