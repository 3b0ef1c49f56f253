/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "local/private.h"
#include "bare.h"

static char directory[64]; /* of one test; made by open_directory() */

static void open_directory(void)
{
	snprintf(directory, sizeof(directory), "/tmp/gpupool-test.XXXXXX");
	assert_non_null(mkdtemp(directory));
}

static void close_directory(void)
{
	char command_path[128];

	snprintf(command_path, sizeof(command_path), "%s/lock", directory);
	unlink(command_path);
	snprintf(command_path, sizeof(command_path), "%s/containers", directory);
	rmdir(command_path);
	assert_int_equal(rmdir(directory), 0);
}

static void write_holder(const char *id, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/containers/%s", directory, id);
	assert_int_equal(file_make_directories(path, 0755, NULL), 0);
	if (!text)
		return;
	snprintf(path, sizeof(path), "%s/containers/%s/grant.json", directory, id);
	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

static void remove_holder(const char *id)
{
	char path[256];
	struct error error = ERROR_INIT;

	snprintf(path, sizeof(path), "%s/containers/%s", directory, id);
	assert_int_equal(bundle_remove(path, &error), 0);
}

#define CARD_A "GPU-00000000-0000-4000-8000-00000000000a"

/* What holder_write() writes for a job, with our own process as owner and PROCESS inside. */
static void write_job(const char *id, pid_t process)
{
	char bundle[256];
	struct error error = ERROR_INIT;
	char name_namespace[] = "default", name_pod[] = "train", name_uid[] = "",
	     main_name[] = "main";
	struct grant_card card = { .uuid = CARD_A, .units = 12, .memory_mib = 12288 };
	struct local_job job = {
		.bundle = bundle,
		.id = bundle,
		.pid = process,
		.grant = { .namespace = name_namespace,
			   .pod = name_pod,
			   .uid = name_uid,
			   .container = main_name,
			   .kind = REQUEST_SLICE,
			   .enforcement = ENFORCEMENT_NONE,
			   .cards = &card,
			   .card_count = 1 },
	};

	write_holder(id, NULL);
	snprintf(bundle, sizeof(bundle), "%s/containers/%s", directory, id);
	assert_int_equal(holder_write(&job, &error), 0);
}

static size_t count_holders(struct local_holders *holders)
{
	struct error error = ERROR_INIT;
	int r = local_holders_read(directory, holders, &error);

	if (r < 0)
		fail_msg("%s", error.message);
	return holders->count;
}

TEST(a_missing_directory_is_nobody)
{
	struct local_holders holders;

	assert_int_equal(local_holders_read("/nonexistent/gpupool", &holders, NULL), 0);
	assert_int_equal(holders.count, 0);
}

TEST(who_lives_holds)
{
	struct local_holders holders;

	open_directory();
	write_job("alive", getpid());
	assert_int_equal(count_holders(&holders), 1);
	assert_string_equal(holders.items[0].id, "alive");
	assert_int_equal(holders.items[0].pid, getpid());
	assert_false(holders.items[0].orphaned);
	assert_string_equal(holders.items[0].grant.cards[0].uuid, CARD_A);
	assert_int_equal(holders.items[0].grant.cards[0].units, 12);
	assert_int_equal(holders.items[0].grant.enforcement, ENFORCEMENT_NONE);
	local_holders_release(&holders);
	remove_holder("alive");
	close_directory();
}

/* A number alone is no identity: the same number with another start time is another process. */
TEST(who_is_dead_holds_nothing)
{
	static const char *const texts[] = {
		"{\"version\":1,\"grant\":{},\"owner\":{\"pid\":1,\"start\":1}}",
		"{\"version\":1,\"grant\":{},\"owner\":{\"pid\":0,\"start\":0}}",
		"{\"version\":1,\"grant\":{},\"owner\":{\"pid\":2147483647,\"start\":5}}",
		"{\"version\":1,\"grant\":{},\"owner\":{\"pid\":4294967297,\"start\":5}}",
		"{\"version\":1,\"grant\":{},\"owner\":[]}",
		"{}",
		NULL, /* made, and not yet filled */
	};

	open_directory();
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct local_holders holders;

		write_holder("dead", texts[i]);
		assert_int_equal(count_holders(&holders), 0);
		local_holders_release(&holders);
		remove_holder("dead");
	}
	close_directory();
}

TEST(a_record_that_cannot_be_read_is_an_error_that_names_it)
{
	struct local_holders holders;
	struct error error = ERROR_INIT;

	open_directory();
	write_holder("broken", "{\"version\":1,");
	assert_true(local_holders_read(directory, &holders, &error) < 0);
	assert_non_null(strstr(error.message, "containers/broken/grant.json"));
	remove_holder("broken");
	close_directory();
}

TEST(a_zombie_is_no_process)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_start(pid), 0);
	waitpid(pid, NULL, 0);
	assert_int_equal(process_start(pid), 0);
	assert_true(process_start(getpid()) > 0);
	assert_int_equal(process_start(0), 0);
	assert_int_equal(process_start(-1), 0);
}

static char waited_for[256];

static void remember(const char *sentence)
{
	snprintf(waited_for, sizeof(waited_for), "%s", sentence);
}

/* A child that holds the lock until it is told to end. */
static pid_t hold_in_child(int *ret_write)
{
	int ready[2], done[2];
	char byte = 'x';

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(done), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int fd;

		close(done[1]);
		if (lock_take(directory, true, NULL, &fd, NULL) < 0 ||
		    write(ready[1], &byte, 1) != 1)
			_exit(1);
		_exit(read(done[0], &byte, 1) < 0);
	}
	close(ready[1]);
	close(done[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	*ret_write = done[1];
	return pid;
}

TEST(one_command_at_a_time)
{
	struct error error = ERROR_INIT;
	char wanted[64];
	int fd, end;

	open_directory();
	pid_t pid = hold_in_child(&end);
	assert_int_equal(lock_take(directory, true, remember, &fd, &error), -EBUSY);
	snprintf(wanted, sizeof(wanted), "process %d", pid);
	assert_non_null(strstr(error.message, wanted));
	assert_string_equal(waited_for, "");
	close(end);
	assert_int_equal(lock_take(directory, false, remember, &fd, &error), 0);
	close(fd);
	waitpid(pid, NULL, 0);
	close_directory();
}

TEST(a_killed_holder_holds_no_lock)
{
	struct error error = ERROR_INIT;
	int fd, end;

	open_directory();
	pid_t pid = hold_in_child(&end);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(end);
	assert_int_equal(lock_take(directory, true, NULL, &fd, &error), 0);
	close(fd);
	close_directory();
}

TEST(a_lock_that_is_a_link_is_not_followed)
{
	struct error error = ERROR_INIT;
	char path[128];
	int fd;

	open_directory();
	snprintf(path, sizeof(path), "%s/lock", directory);
	assert_int_equal(symlink("/tmp/gpupool-never", path), 0);
	assert_int_equal(lock_take(directory, true, NULL, &fd, &error), -ELOOP);
	close_directory();
}

/* With an error here nobody could use the cards that are well. */
TEST(a_holder_of_a_card_that_is_gone_holds_its_others)
{
	struct grant_card held[] = { { .uuid = CARD_A, .units = 4 },
				     { .uuid = "GPU-gone", .units = 4 } };
	char id[] = "default-train-main-7-1";
	struct local_holder item = {
		.id = id,
		.grant = { .kind = REQUEST_SLICE, .cards = held, .card_count = ARRAY_SIZE(held) }
	};
	struct local_holders holders = { .items = &item, .count = 1 };
	struct card card = { .uuid = CARD_A, .mode = CARD_MODE_AUTO, .memory_bytes = 16ull << 30 };
	const struct inventory inventory = { .cards = &card, .card_count = 1 };
	const struct inventory empty = { .problem = "no driver" };
	struct error error = ERROR_INIT;
	cleanup(pool_freep) struct pool *pool = pool_new(), *none = pool_new();

	assert_int_equal(bare_add_node(pool, "here", &inventory, &error), 0);
	assert_int_equal(local_holders_hold(&holders, pool, &error), 0);
	assert_int_equal(pool_card_granted(pool, 0, 0), 4);
	assert_int_equal(bare_add_node(none, "here", &empty, &error), 0);
	assert_int_equal(local_holders_hold(&holders, none, &error), 0);
	assert_int_equal(pool_grant_count(none), 0);
}

/* The number of a process comes back: what stands there is another's container, which may run. */
TEST(a_container_of_the_same_name_is_left_alone)
{
	char bundle[256], id[] = "default-train-main-7-1";
	struct error error = ERROR_INIT;
	struct local_session session = { .lock = -1 };
	struct local_job job = { .id = id, .bundle = bundle };

	open_directory();
	setenv("GPUPOOL_RUN_DIR", directory, 1);
	write_holder(id, "{}");
	snprintf(bundle, sizeof(bundle), "%s/containers/%s", directory, id);
	assert_int_equal(local_job_create(&session, &job, &error), -EEXIST);
	assert_non_null(strstr(error.message, bundle));
	assert_false(job.recorded);
	assert_false(job.created);
	sigprocmask(SIG_SETMASK, &session.signals, NULL);
	unsetenv("GPUPOOL_RUN_DIR");
	remove_holder(id);
	close_directory();
}

/* A writer that was killed leaves its temporary file: the bundle must go all the same. */
TEST(what_a_killed_writer_left_goes_with_its_bundle)
{
	static const char *const names[] = { ".grant.json.0123456789abcdef", ".config.json.0",
					     ".pid" };
	char path[256];

	open_directory();
	write_holder("half", "{}");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/containers/half/%s", directory, names[i]);
		assert_int_equal(file_write_atomic(path, "", 0, 0600, NULL), 0);
	}
	remove_holder("half");
	close_directory();
}

/* Nothing that we did not put there goes, and never anything below rootfs. */
TEST(removing_a_bundle_spares_what_is_not_ours)
{
	char path[256];
	struct error error = ERROR_INIT;

	open_directory();
	write_holder("full", "{}");
	snprintf(path, sizeof(path), "%s/containers/full/rootfs/precious", directory);
	assert_int_equal(file_make_directories(path, 0755, NULL), 0);
	snprintf(path, sizeof(path), "%s/containers/full", directory);
	assert_int_equal(bundle_remove(path, &error), -ENOTEMPTY);
	snprintf(path, sizeof(path), "%s/containers/full/rootfs/precious", directory);
	assert_int_equal(rmdir(path), 0);
	remove_holder("full");
	close_directory();
}

TEST(the_caller_is_who_called_sudo)
{
	struct local_caller caller;
	struct error error = ERROR_INIT;

	if (getuid() != 0)
		skip();
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	assert_int_equal(local_caller_find(&caller, &error), 0);
	assert_int_equal(caller.uid, 65534);
	assert_int_equal(caller.gid, 65534);
	local_caller_release(&caller);
	setenv("SUDO_UID", "-1", 1);
	assert_int_equal(local_caller_find(&caller, &error), 0);
	assert_int_equal(caller.uid, 0);
	local_caller_release(&caller);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_int_equal(local_caller_find(&caller, &error), 0);
	assert_int_equal(caller.uid, 0);
	assert_true(caller.group_count >= 1);
	local_caller_release(&caller);
}
