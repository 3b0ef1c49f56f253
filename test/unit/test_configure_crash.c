/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A power cut after any call of configure: what the disk holds then is a configuration that works (the
 * old one or the new one), and from there both ways lead on: undo to what was there before, configure to
 * what was wanted.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crash_tree.h"
#include "fixture.h"
#include "runtimes/runtimes.h"

#define FILES_MAX 4

struct scene {
	const char *name;
	enum engine_kind kind;
	const char *config, *version;
	struct fixture_file files[FILES_MAX];
	bool set_default, cdi;
};

static const struct scene scenes[] = {
	{ .name = "Docker, a file that is there",
	  .kind = ENGINE_DOCKER,
	  .config = "/etc/docker/daemon.json",
	  .version = "28.1",
	  .files = { { "etc/docker/daemon.json", "{\"features\": {\"buildkit\": true}}\n" } },
	  .cdi = true },
	{ .name = "Docker, no file and no directory",
	  .kind = ENGINE_DOCKER,
	  .config = "/etc/docker/daemon.json",
	  .version = "28.1",
	  .files = { { "etc/hostname", "x\n" } },
	  .set_default = true },
	{ .name = "containerd 1.7: one file",
	  .kind = ENGINE_CONTAINERD,
	  .config = "/etc/containerd/config.toml",
	  .version = "1.7",
	  .files = { { "etc/containerd/config.toml",
		       "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = "
		       "\"x\"\n" } },
	  .set_default = true,
	  .cdi = true },
	{ .name = "containerd 2.1: a file of our own and an import",
	  .kind = ENGINE_CONTAINERD,
	  .config = "/etc/containerd/config.toml",
	  .version = "2.1",
	  .files = { { "etc/containerd/config.toml", "# mine\nversion = 3\nroot = \"/r\"\n" } } },
	{ .name = "containerd 2.1: the directory is imported already",
	  .kind = ENGINE_CONTAINERD,
	  .config = "/etc/containerd/config.toml",
	  .version = "2.1",
	  .files = { { "etc/containerd/config.toml",
		       "version = 3\nimports = [\"conf.d/*.toml\"]\n" },
		     { "etc/containerd/conf.d/10-x.toml", "version = 3\nroot = \"/r\"\n" } } },
	{ .name = "containerd without any file",
	  .kind = ENGINE_CONTAINERD,
	  .config = "/etc/containerd/config.toml",
	  .version = "2.2",
	  .files = { { "etc/hostname", "x\n" } } },
	{ .name = "CRI-O",
	  .kind = ENGINE_CRIO,
	  .config = "/etc/crio/crio.conf",
	  .version = "1.33",
	  .files = { { "etc/crio/crio.conf.d/10-crio.conf",
		       "[crio.runtime]\ndefault_runtime = \"crun\"\n" } },
	  .set_default = true },
};

struct looking {
	const struct scene *scene;
	const char *step; /* what was cut */
	unsigned olds, news;
};

static int no_program(void *data, const char *const *argv, char **ret, struct error *error)
{
	(void)data;
	(void)ret;
	return error_set(error, ENOENT, "the host has no program %s", argv[0]);
}

static void read_file(const char *root, const char *path, char *to, size_t size)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", root, path);
	FILE *file = fopen(full, "re");
	size_t length = file ? fread(to, 1, size - 1, file) : 0;
	if (file)
		(void)fclose(file);
	to[length] = '\0';
}

/* One call of gpupool configure, or of it with --undo, on the tree at ROOT. */
static int call(const char *root, const struct scene *scene, bool undo, struct error *error)
{
	static const struct runtime_entry entry = { "nvidia", "/usr/bin/gpupool-runtime" };
	cleanup(configure_plan_release) struct configure_plan plan = { .changes = NULL };
	cleanup(string_list_release) struct string_list notes = { .items = NULL };
	cleanup(engine_release) struct engine engine = { .pid = 0 };
	struct host host = { .root = root, .run = no_program };
	struct configure_options options = { .wish = { &entry, 1, scene->set_default, scene->cdi },
					     .restart = RESTART_NEVER };
	int r = engine_assume(scene->kind, scene->config, &engine, error);

	if (r < 0)
		return r;
	engine.major = (unsigned)strtoul(scene->version, NULL, 10);
	engine.minor = (unsigned)strtoul(strchr(scene->version, '.') + 1, NULL, 10);
	r = undo ? configure_plan_undo(&host, &engine, &options, &plan, error)
		 : configure_plan_make(&host, &engine, &options, &plan, error);
	return r < 0 ? r : configure_apply(&host, &engine, &options, &plan, &notes, error);
}

/* 1: ours is configured, 0: it is not; a file that is not understood fails the test. */
static int is_ours(const char *root, const struct looking *looking, const char *after)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	cleanup(engine_release) struct engine engine = { .pid = 0 };
	struct host host = { .root = root, .run = no_program };
	struct error error = ERROR_INIT;

	assert_int_equal(
		engine_assume(looking->scene->kind, looking->scene->config, &engine, &error), 0);
	if (configure_read(&host, &engine, &facts, &error) < 0)
		fail_msg("%s, %s cut after %s: %s", looking->scene->name, looking->step, after,
			 error.message);
	const struct runtime_fact *fact = runtime_facts_find(&facts, "nvidia");
	return fact && fact->path && strcmp(fact->path, "/usr/bin/gpupool-runtime") == 0;
}

static void check_original(const char *root, const struct looking *looking, const char *after)
{
	for (size_t i = 0; i < FILES_MAX && looking->scene->files[i].path; i++) {
		char text[4096];

		read_file(root, looking->scene->files[i].path, text, sizeof(text));
		if (strcmp(text, looking->scene->files[i].text) != 0)
			fail_msg("%s, %s cut after %s: undo left %s as '%s'", looking->scene->name,
				 looking->step, after, looking->scene->files[i].path, text);
	}
}

static void look(void *data, const char *copy, const char *after)
{
	struct looking *looking = data;
	struct error error = ERROR_INIT;
	int ours = is_ours(copy, looking, after);

	if (strncmp(after, "return", 6) == 0 && ours != (strcmp(looking->step, "configure") == 0))
		fail_msg("%s: %s has returned, and its work is not on disk", looking->scene->name,
			 looking->step);
	looking->olds += !ours;
	looking->news += ours != 0;
	int r = call(copy, looking->scene, true, &error);
	if (r < 0 && (r != -ENOENT || ours))
		fail_msg("%s, %s cut after %s: %s", looking->scene->name, looking->step, after,
			 error.message);
	check_original(copy, looking, after);
	if (is_ours(copy, looking, after))
		fail_msg("%s, %s cut after %s: undo left ours", looking->scene->name, looking->step,
			 after);
	if (call(copy, looking->scene, false, &error) < 0)
		fail_msg("%s, %s cut after %s: %s", looking->scene->name, looking->step, after,
			 error.message);
	assert_int_equal(is_ours(copy, looking, after), 1);
}

static void check_scene(const struct scene *scene, unsigned *copies)
{
	struct looking looking = { .scene = scene };
	struct crash_watch watch = { .look = look, .data = &looking };
	struct error error = ERROR_INIT;
	struct fixture fixture;
	size_t count = 0;

	while (count < FILES_MAX && scene->files[count].path)
		count++;
	fixture_make(&fixture, scene->files, count);
	watch.root = fixture.root;
	for (int undo = 0; undo < 2; undo++) {
		looking.step = undo ? "--undo" : "configure";
		crash_start(&watch);
		int r = call(fixture.root, scene, undo, &error);
		crash_stop(&watch);
		if (r < 0)
			fail_msg("%s: %s", scene->name, error.message);
		/* The record, the directories and the files: less means that nobody watched. */
		assert_true(watch.calls >= 4);
		*copies += watch.copies;
	}
	assert_true(looking.olds > 0 && looking.news > 0);
	fixture_remove(&fixture);
}

TEST(a_power_cut_leaves_what_works)
{
	unsigned copies = 0;

	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
		check_scene(&scenes[i], &copies);
	print_message("# %u disks looked at\n", copies);
	assert_true(copies >= 300);
}

static void count_empty(void *data, const char *copy, const char *after)
{
	unsigned *bad = data;
	char text[64];

	(void)after;
	read_file(copy, "a", text, sizeof(text));
	*bad += strcmp(text, "old") != 0 && strcmp(text, "new") != 0;
}

/* A program that forgets to make its file, or its directory, durable is found out. */
TEST(control_the_disks_are_as_bad_as_they_say)
{
	for (int fsyncs = 0; fsyncs < 2; fsyncs++) {
		struct fixture_file file = { "a", "old" };
		unsigned bad = 0;
		struct crash_watch watch = { .look = count_empty, .data = &bad };
		struct fixture fixture;
		char path[128], temporary[128];

		fixture_make(&fixture, &file, 1);
		watch.root = fixture.root;
		fixture_write(&fixture, "b", "");
		FILE *stream =
			fopen(fixture_path(&fixture, "b", temporary, sizeof(temporary)), "we");
		assert_non_null(stream);
		crash_start(&watch);
		assert_int_equal(write(fileno(stream), "new", 3), 3);
		if (fsyncs)
			assert_int_equal(fsync(fileno(stream)), 0);
		assert_int_equal(renameat(-1, temporary, -1,
					  fixture_path(&fixture, "a", path, sizeof(path))),
				 0);
		crash_stop(&watch);
		(void)fclose(stream);
		assert_int_equal(bad > 0, !fsyncs);
		fixture_remove(&fixture);
	}
}
