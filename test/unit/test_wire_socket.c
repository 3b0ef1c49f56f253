/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"
#include "wire/socket.h"

struct world {
	char tree[TREE_PATH_MAX], path[TREE_PATH_MAX + 16];
	struct socket_file file;
	int fd;
	struct error error;
};

static void world_start(struct world *world)
{
	*world = (struct world){ .fd = -1 };
	tree_make(world->tree);
	snprintf(world->path, sizeof(world->path), "%s/s.sock", world->tree);
}

static void world_end(struct world *world)
{
	if (world->fd >= 0)
		close(world->fd);
	socket_file_remove(&world->file);
	tree_remove(world->tree);
}

static int listen_again(struct world *world, mode_t mode)
{
	return socket_listen(world->path, mode, &world->file, &world->fd, &world->error);
}

static mode_t mode_of(const char *path)
{
	struct stat stat;

	assert_int_equal(lstat(path, &stat), 0);
	assert_true(S_ISSOCK(stat.st_mode));
	return stat.st_mode & 07777;
}

TEST(the_mode_is_what_was_asked_for)
{
	static const struct {
		mode_t mask, mode;
	} cases[] = { { 022, 0600 }, { 0, 0600 }, { 022, 0666 }, { 077, 0660 }, { 0777, 0600 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world world;

		world_start(&world);
		mode_t before = umask(cases[i].mask);
		assert_int_equal(listen_again(&world, cases[i].mode), 0);
		umask(before);
		assert_int_equal(mode_of(world.path), cases[i].mode);
		assert_true(socket_file_is_own(&world.file));
		world_end(&world);
	}
}

TEST(a_socket_of_the_dead_is_replaced)
{
	struct world world;
	struct socket_file dead;
	int fd;

	world_start(&world);
	assert_int_equal(socket_listen(world.path, 0600, &dead, &fd, &world.error), 0);
	close(fd);
	assert_int_equal(listen_again(&world, 0600), 0);
	assert_int_equal(socket_connect(world.path, &fd, &world.error), 0);
	close(fd);
	/* who comes back late takes nothing away */
	socket_file_remove(&dead);
	assert_true(socket_file_is_own(&world.file));
	world_end(&world);
}

TEST(a_socket_of_the_living_is_not)
{
	struct world world;
	struct socket_file file;
	int fd;

	world_start(&world);
	assert_int_equal(listen_again(&world, 0600), 0);
	assert_int_equal(socket_listen(world.path, 0600, &file, &fd, &world.error), -EADDRINUSE);
	assert_non_null(strstr(world.error.message, "another process listens on '"));
	/* also when so many wait there that no more may */
	int waiting[200], count = 0;
	while (count < 200 && socket_connect(world.path, &waiting[count], &world.error) == 0)
		count++;
	assert_int_equal(world.error.number, EAGAIN);
	assert_int_equal(socket_listen(world.path, 0600, &file, &fd, &world.error), -EADDRINUSE);
	while (count > 0)
		close(waiting[--count]);
	assert_true(socket_file_is_own(&world.file));
	world_end(&world);
}

TEST(what_is_no_socket_stays)
{
	struct world world;

	world_start(&world);
	tree_file(world.tree, "s.sock", "text");
	assert_int_equal(listen_again(&world, 0600), -EEXIST);
	assert_non_null(
		strstr(world.error.message, "is no socket: remove it, or choose another path"));
	assert_int_equal(unlink(world.path), 0);
	tree_link(world.tree, "s.sock", "/nowhere");
	assert_int_equal(listen_again(&world, 0600), -EEXIST);
	world_end(&world);
}

TEST(only_the_own_file_is_removed)
{
	struct world world;
	char other[TREE_PATH_MAX + 16];

	world_start(&world);
	assert_int_equal(listen_again(&world, 0600), 0);
	snprintf(other, sizeof(other), "%s/moved", world.tree);
	assert_int_equal(rename(world.path, other), 0);
	assert_false(socket_file_is_own(&world.file));
	tree_socket(world.tree, "s.sock");
	assert_false(socket_file_is_own(&world.file));
	socket_file_remove(&world.file);
	assert_int_equal(access(world.path, F_OK), 0);
	assert_int_equal(access(other, F_OK), 0);
	world_end(&world);
}

/* A file system may give the next file the number of the one that was removed. */
TEST(a_reused_inode_is_another_file)
{
	struct world world;

	world_start(&world);
	assert_int_equal(listen_again(&world, 0600), 0);
	world.file.made.tv_nsec ^= 1;
	assert_false(socket_file_is_own(&world.file));
	world_end(&world);
}

TEST(paths_that_will_not_do)
{
	struct world world;
	char longer[200];
	int fd;

	world_start(&world);
	memset(longer, 'a', sizeof(longer) - 1);
	longer[199] = '\0';
	assert_int_equal(socket_listen(longer, 0600, &world.file, &fd, &world.error),
			 -ENAMETOOLONG);
	assert_non_null(strstr(world.error.message, "has 199 bytes; the kernel takes 1 to 107"));
	assert_int_equal(socket_listen("", 0600, &world.file, &fd, &world.error), -ENAMETOOLONG);
	assert_int_equal(socket_connect(longer, &fd, &world.error), -ENAMETOOLONG);
	assert_int_equal(socket_connect(world.path, &fd, &world.error), -ENOENT);
	assert_int_equal(socket_listen("/nowhere/s.sock", 0600, &world.file, &fd, &world.error),
			 -ENOENT);
	assert_string_equal(world.error.message,
			    "cannot make the socket '/nowhere/s.sock': No such file or directory");
	tree_socket(world.tree, "s.sock");
	assert_int_equal(socket_connect(world.path, &fd, &world.error), -ECONNREFUSED);
	world_end(&world);
}
