/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "tree.h"

struct world {
	struct loop *loop;
	struct watch *watch;
	char tree[TREE_PATH_MAX], directory[TREE_PATH_MAX + 32];
	struct strbuf said; /* one event a line */
	bool stop_at_once;
};

static void note(void *user, enum watch_event event, const char *name)
{
	static const char *const names[] = { "appeared",  "changed",      "gone",
					     "directory", "no directory", "missed" };
	struct world *world = user;

	strbuf_addf(&world->said, "%s%s%s\n", names[event], name ? " " : "", name ? name : "");
	if (world->stop_at_once)
		watch_stop(TAKE_PTR(world->watch));
}

static void world_start(struct world *world, const char *directory)
{
	struct error error = ERROR_INIT;

	*world = (struct world){ .said = STRBUF_INIT(65536) };
	tree_make(world->tree);
	snprintf(world->directory, sizeof(world->directory), "%s/%s", world->tree, directory);
	assert_int_equal(loop_new(&world->loop, &error), 0);
	assert_int_equal(
		watch_start(world->loop, world->directory, note, world, &world->watch, &error), 0);
}

static void world_end(struct world *world)
{
	watch_stop(world->watch);
	loop_free(world->loop);
	tree_remove(world->tree);
	strbuf_release(&world->said);
}

/* inotify events are there when the call that causes them returns. */
static void expect(struct world *world, const char *said)
{
	for (int i = 0; i < 8; i++)
		loop_turn(world->loop);
	assert_string_equal(world->said.data, said);
	strbuf_reset(&world->said);
}

static void change(const struct world *world, const char *path, int (*call)(const char *path))
{
	char whole[2 * TREE_PATH_MAX];

	snprintf(whole, sizeof(whole), "%s/%s", world->tree, path);
	assert_int_equal(call(whole), 0);
}

static int make(const char *path)
{
	return mkdir(path, 0755);
}

TEST(files_come_and_go)
{
	struct world world;
	char one[2 * TREE_PATH_MAX], other[2 * TREE_PATH_MAX];

	world_start(&world, "");
	expect(&world, "");
	tree_socket(world.tree, "kubelet.sock");
	expect(&world, "appeared kubelet.sock\n");
	tree_file(world.tree, "config", "text");
	expect(&world, "appeared config\nchanged config\n");
	snprintf(one, sizeof(one), "%s/config", world.tree);
	snprintf(other, sizeof(other), "%s/other", world.tree);
	assert_int_equal(rename(one, other), 0);
	expect(&world, "gone config\nappeared other\n");
	change(&world, "other", unlink);
	change(&world, "kubelet.sock", unlink);
	expect(&world, "gone other\ngone kubelet.sock\n");
	world_end(&world);
}

TEST(a_directory_that_is_not_there_yet)
{
	struct world world;

	world_start(&world, "a/b/c");
	expect(&world, "");
	change(&world, "a", make);
	expect(&world, "");
	change(&world, "x", make); /* of no concern */
	expect(&world, "");
	change(&world, "a/b", make);
	change(&world, "a/b/c", make);
	tree_file(world.tree, "a/b/c/early", "text");
	expect(&world, "directory\n");
	tree_file(world.tree, "a/b/c/file", "text");
	expect(&world, "appeared file\nchanged file\n");
	world_end(&world);
}

TEST(a_directory_that_goes_and_comes_back)
{
	struct world world;
	char one[2 * TREE_PATH_MAX], other[2 * TREE_PATH_MAX];

	world_start(&world, "x");
	change(&world, "x", make);
	expect(&world, "directory\n");
	change(&world, "x", rmdir);
	expect(&world, "no directory\n");
	change(&world, "x", make);
	expect(&world, "directory\n");
	change(&world, "x", rmdir);
	change(&world, "x", make); /* before anybody looked */
	expect(&world, "no directory\ndirectory\n");
	snprintf(one, sizeof(one), "%s/x", world.tree);
	snprintf(other, sizeof(other), "%s/y", world.tree);
	assert_int_equal(rename(one, other), 0);
	expect(&world, "no directory\n");
	tree_file(world.tree, "y/file", "text");
	expect(&world, "");
	assert_int_equal(rename(other, one), 0);
	expect(&world, "directory\n");
	tree_file(world.tree, "x/file2", "text");
	expect(&world, "appeared file2\nchanged file2\n");
	world_end(&world);
}

TEST(a_file_in_the_place_of_the_directory)
{
	struct world world;

	world_start(&world, "x");
	tree_file(world.tree, "x", "text");
	expect(&world, "");
	change(&world, "x", unlink);
	change(&world, "x", make);
	expect(&world, "directory\n");
	world_end(&world);
}

TEST(it_is_stopped_inside_its_function)
{
	struct world world;

	world_start(&world, "");
	world.stop_at_once = true;
	tree_file(world.tree, "one", "text");
	tree_file(world.tree, "two", "text");
	expect(&world, "appeared one\n");
	world_end(&world);
}

TEST(events_that_the_kernel_drops_are_told)
{
	struct world world;
	char path[2 * TREE_PATH_MAX];
	const char *missed = NULL;
	autofree char *queue = NULL;
	struct error error = ERROR_INIT;
	uint64_t most;

	assert_int_equal(
		file_read("/proc/sys/fs/inotify/max_queued_events", 64, &queue, NULL, &error), 0);
	queue[strcspn(queue, "\n")] = '\0';
	assert_int_equal(parse_uint(queue, 1, 1U << 20, &most), 0);
	world_start(&world, "");
	world.said.maximum = 1U << 26;
	/* Two events each, and no two the same in a row, or they are merged. */
	for (unsigned i = 0; i < most; i++) {
		snprintf(path, sizeof(path), "%s/%c", world.tree, i % 2 ? 'a' : 'b');
		int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		close(fd);
	}
	for (unsigned i = 0; i < most && !missed; i++) {
		loop_turn(world.loop);
		missed = strstr(world.said.data, "missed\n");
	}
	assert_non_null(missed);
	world_end(&world);
}

TEST(names_that_will_not_do)
{
	struct error error = ERROR_INIT;
	struct loop *loop;
	struct watch *watch;
	autofree char *name = malloc(5000);

	assert_non_null(name);
	memset(name, 'a', 4999);
	name[4999] = '\0';
	assert_int_equal(loop_new(&loop, &error), 0);
	assert_int_equal(watch_start(loop, "", note, NULL, &watch, &error), -EINVAL);
	assert_int_equal(watch_start(loop, name, note, NULL, &watch, &error), -ENAMETOOLONG);
	/* one name of a path may have 255 bytes */
	name[300] = '\0';
	assert_int_equal(watch_start(loop, name, note, NULL, &watch, &error), -ENAMETOOLONG);
	watch_stop(NULL);
	loop_free(loop);
}

TEST(every_allocation_fails_once)
{
	struct error error = ERROR_INIT;
	struct loop *loop;
	struct watch *watch;

	assert_int_equal(loop_new(&loop, &error), 0);
	for (unsigned n = 0;; n++) {
		fault_arm(n);
		int r = watch_start(loop, "/tmp", note, NULL, &watch, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n >= 3);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	watch_stop(watch);
	loop_free(loop);
}
