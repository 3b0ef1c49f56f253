/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan refuses, and where it stays away from: roots, working directories, volumes, links. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/formats.h"
#include "question.h"

/* /dev, /proc and /sys of a root: what stands there, and whether it is refused. */
static const struct {
	const char *name, *link; /* link NULL: a file */
	const char *detail;      /* NULL: accepted */
} unsafe_rows[] = {
	{ "dev", "/tmp", "/dev is a link" },      { "dev", "data", "/dev is a link" },
	{ "dev", "dev", "/dev is a link" },       { "dev", NULL, "/dev is no directory" },
	{ "proc", "/proc", "/proc is a link" },   { "proc", NULL, "/proc is no directory" },
	{ "sys", "../../sys", "/sys is a link" }, { "sys", "/nowhere", "/sys is a link" },
	{ "sys", NULL, "/sys is no directory" },  { "usr/dev", "/tmp", NULL },
};

TEST(plan_refuses_unsafe_roots)
{
	for (size_t i = 0; i < ARRAY_SIZE(unsafe_rows); i++) {
		for (size_t grants = 0; grants < 2; grants++) {
			struct question question;
			struct edit_plan plan;

			question_init(&question);
			question_root(&question);
			tree_directory(question.tree, "data");
			question.injection.grant_count = grants;
			if (unsafe_rows[i].link)
				tree_link(question.tree, unsafe_rows[i].name, unsafe_rows[i].link);
			else
				tree_file(question.tree, unsafe_rows[i].name, "");
			if (unsafe_rows[i].detail) {
				question_refused(&question, EPERM, REASON_BAD_ROOT,
						 unsafe_rows[i].detail);
			} else {
				question_ask(&question, &plan);
				edit_plan_release(&plan);
			}
			question_release(&question);
		}
	}
}

TEST(plan_working_directories)
{
	static const struct {
		const char *path;
		bool refused;
	} rows[] = {
		{ "/", false },       { "/work", false },          { "/procedure", false },
		{ "/proc", true },    { "/proc/self/fd/7", true }, { "/work/../proc/1", true },
		{ "/link", true },    { "/loop", true },           { "//proc//", true },
		{ "/inside", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct question question;
		struct edit_plan plan;
		autojson *spec = question_spec(rows[i].path, NULL, NULL);

		question_init(&question);
		question_root(&question);
		tree_link(question.tree, "link", "/proc/self/fd/8");
		tree_link(question.tree, "loop", "loop");
		tree_link(question.tree, "inside", "/work");
		question.injection.spec = spec;
		if (rows[i].refused) {
			question_refused(&question, EPERM, REASON_BAD_REQUEST, "working directory");
		} else {
			question_ask(&question, &plan);
			edit_plan_release(&plan);
		}
		question_release(&question);
	}
}

/* A volume of the container, and what becomes of our mounts. The root: Debian's, usr-merged. */
static const struct {
	const char *mount, *type;
	const char *refused; /* part of the sentence, or NULL */
	const char *absent;  /* target that is left out, or NULL: none is */
} volume_rows[] = {
	{ "/data", "bind", NULL, NULL },
	{ "/usr/lib/other", "bind", NULL, NULL },
	{ LIBDIR "2", "bind", NULL, NULL },
	{ LIBDIR, "bind", LIBDIR, NULL },
	{ "/lib/" LIBRARY_TRIPLET, "bind", LIBDIR, NULL },
	{ "/usr/./lib/../lib//", "bind", "/usr/lib, where", NULL },
	{ "/usr", NULL, "/usr, where", NULL },
	{ "/", "bind", "device nodes", NULL },
	{ "/dev", "bind", "/dev, where the device nodes", NULL },
	{ "/volumes/lib", "bind", LIBDIR, NULL },
	{ "/usr", "tmpfs", NULL, NULL },
	{ "/usr/bin", "bind", NULL, "/usr/bin/nvidia-smi" },
	{ "/bin", "bind", NULL, "/usr/bin/nvidia-smi" },
	{ "/usr/bin/nvidia-smi", "bind", NULL, "/usr/bin/nvidia-smi" },
	{ LIBDIR "/libcuda.so.1", "bind", NULL, LIBDIR "/libcuda.so.1" },
	{ "/usr/local/nvidia", "bind", NULL, "/usr/local/nvidia/lib64/libcuda.so.1" },
	{ "/run", "bind", NULL, "/run/nvidia-persistenced/socket" },
	{ "/var/run", "bind", NULL, "/run/nvidia-persistenced/socket" },
	{ "/run", "tmpfs", NULL, NULL },
	{ "/etc", "bind", NULL, "/etc/OpenCL/vendors/nvidia.icd" },
};

TEST(plan_stays_out_of_volumes)
{
	for (size_t i = 0; i < ARRAY_SIZE(volume_rows); i++) {
		struct question question;
		struct edit_plan plan;
		autojson *spec = question_spec("/", volume_rows[i].mount, volume_rows[i].type);

		question_init(&question);
		question_root(&question);
		tree_file(question.tree, LIBDIR "/libc.so.6", "");
		tree_directory(question.tree, "usr/bin");
		tree_directory(question.tree, "run");
		tree_link(question.tree, "lib", "usr/lib");
		tree_link(question.tree, "bin", "usr/bin");
		tree_link(question.tree, "var/run", "/run");
		tree_link(question.tree, "volumes/lib", ".." LIBDIR);
		question.injection.spec = spec;
		if (volume_rows[i].refused) {
			question_refused(&question, EPERM, REASON_BAD_MOUNT,
					 volume_rows[i].refused);
		} else {
			question_ask(&question, &plan);
			assert_int_equal(plan.notes.count > 0, volume_rows[i].absent != NULL);
			if (volume_rows[i].absent) {
				assert_null(plan_find(&plan, EDIT_MOUNT, volume_rows[i].absent));
				assert_true(plan_has_note(&plan, volume_rows[i].absent));
			}
			assert_non_null(plan_find(&plan, EDIT_DEVICE, "/dev/nvidia0"));
			edit_plan_release(&plan);
		}
		question_release(&question);
	}
}

/* Another directory that the loader searches is taken where there is one. */
TEST(plan_takes_another_library_directory)
{
	struct question question;
	struct edit_plan plan;
	autojson *spec = question_spec("/", LIBDIR, "bind");

	question_init(&question);
	question_root(&question);
	tree_file(question.tree, LIBDIR "/libc.so.6", "");
	tree_file(question.tree, "lib/" LIBRARY_TRIPLET "/libc.so.6", "");
	question.injection.spec = spec;
	question_ask(&question, &plan);
	assert_non_null(plan_find(&plan, EDIT_MOUNT, "/lib/" LIBRARY_TRIPLET "/libcuda.so.1"));
	edit_plan_release(&plan);
	question_release(&question);
}

/* The image puts a link where we mount: into a volume it is left out, elsewhere it is harmless. */
TEST(plan_links_into_volumes)
{
	struct question question;
	struct edit_plan plan;
	autojson *spec = question_spec("/", "/data", "bind");

	question_init(&question);
	question_root(&question);
	tree_file(question.tree, LIBDIR "/libc.so.6", "");
	tree_link(question.tree, LIBDIR "/libcuda.so.1", "/data/libcuda.so.1");
	tree_link(question.tree, "usr/local/nvidia", "../../data/nvidia");
	tree_link(question.tree, "usr/bin/nvidia-smi", "/elsewhere/nvidia-smi");
	tree_link(question.tree, "etc/OpenCL", "OpenCL");
	question.injection.spec = spec;
	question_ask(&question, &plan);
	assert_null(plan_find(&plan, EDIT_MOUNT, LIBDIR "/libcuda.so.1"));
	assert_null(plan_find(&plan, EDIT_MOUNT, "/usr/local/nvidia/lib64/libcuda.so.1"));
	assert_null(plan_find(&plan, EDIT_MOUNT, "/etc/OpenCL/vendors/nvidia.icd"));
	assert_non_null(plan_find(&plan, EDIT_MOUNT, "/elsewhere/nvidia-smi"));
	assert_non_null(plan_find(&plan, EDIT_MOUNT, LIBDIR "/libcuda.so"));
	edit_plan_release(&plan);
	question_release(&question);
}

/* Where nothing can be made nothing is planned, with or without volumes: the start would fail. */
TEST(plan_leaves_out_unusable_targets)
{
	static const char *const absent[] = { "/usr/local/nvidia/lib64/libcuda.so.1",
					      "/etc/OpenCL/vendors/nvidia.icd",
					      LIBDIR "/libnvidia-ml.so.1" };

	for (int volume = 0; volume < 2; volume++) {
		struct question question;
		struct edit_plan plan;
		autojson *spec = question_spec("/", volume ? "/data" : NULL, "bind");

		question_init(&question);
		question_root(&question);
		tree_file(question.tree, LIBDIR "/libc.so.6", "");
		tree_link(question.tree, LIBDIR "/libnvidia-ml.so.1", "libnvidia-ml.so.1");
		tree_file(question.tree, "usr/local/nvidia", "a file");
		tree_link(question.tree, "etc/OpenCL", "OpenCL");
		question.injection.spec = spec;
		question_ask(&question, &plan);
		for (size_t i = 0; i < ARRAY_SIZE(absent); i++) {
			assert_null(plan_find(&plan, EDIT_MOUNT, absent[i]));
			assert_true(plan_has_note(&plan, absent[i]));
		}
		assert_non_null(plan_find(&plan, EDIT_MOUNT, LIBDIR "/libcuda.so.1"));
		edit_plan_release(&plan);
		question_release(&question);
	}
}

/* What stands at a mount point, and where its edit goes; NULL: left out with a note. */
TEST(plan_of_mount_points)
{
	static const char at[] = LIBDIR "/libnvidia-ml.so.1";
	static const struct {
		const char *link, *target;
	} rows[] = {
		{ "libnvidia-ml.so.1.old", LIBDIR "/libnvidia-ml.so.1.old" }, /* dangling */
		{ "/opt/none/libx", "/opt/none/libx" },
		{ "../../../../../../tmp/x", "/tmp/x" }, /* ".." ends at the root */
		{ "/proc/1/root/tmp/x", NULL },
		{ "/proc/self/fd/7", NULL },
		{ "/dev/none", NULL },
		{ "/sys/none", NULL },
		{ "/procession", "/procession" },
		{ "/real", NULL },             /* a directory */
		{ "/real/file", at },          /* there: the runtime follows the link */
		{ "/real/file/below", NULL },  /* a file is no directory */
		{ "libnvidia-ml.so.1", NULL }, /* a loop */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct question question;
		struct edit_plan plan;

		question_init(&question);
		question_root(&question);
		tree_file(question.tree, LIBDIR "/libc.so.6", "");
		tree_file(question.tree, "real/file", "");
		tree_link(question.tree, LIBDIR "/libnvidia-ml.so.1", rows[i].link);
		question_ask(&question, &plan);
		const struct edit *edit =
			plan_find(&plan, EDIT_MOUNT, rows[i].target ? rows[i].target : at);
		assert_int_equal(edit != NULL, rows[i].target != NULL);
		assert_int_equal(plan_has_note(&plan, at), rows[i].target == NULL);
		if (edit)
			assert_non_null(strstr(edit->source, "libnvidia-ml"));
		edit_plan_release(&plan);
		question_release(&question);
	}
}

/* A directory, as MPS has one, goes over a directory only; a socket over anything else. */
TEST(plan_of_directory_mount_points)
{
	static const char at[] = "/run/nvidia-persistenced/socket";
	struct driver_file *socket = &question_items[QUESTION_ITEMS - 1];

	for (int row = 0; row < 4; row++) {
		struct question question;
		struct edit_plan plan;
		bool directory = row & 1, there = row & 2;

		question_init(&question);
		question_root(&question);
		tree_file(question.tree, LIBDIR "/libc.so.6", "");
		if (there)
			tree_directory(question.tree, at + 1);
		else
			tree_file(question.tree, at + 1, "");
		socket->directory = directory;
		question_ask(&question, &plan);
		socket->directory = false;
		assert_int_equal(plan_find(&plan, EDIT_MOUNT, at) != NULL, directory == there);
		assert_int_equal(plan_has_note(&plan, at), directory != there);
		edit_plan_release(&plan);
		question_release(&question);
	}
}

/* Thirteen shapes that an image may give to its library directory: a plan, and nothing touched. */
TEST(plan_of_hostile_roots)
{
	static const char *const shapes[] = {
		"../../real",       "/real",           "/OUTSIDE", "../../../../../../OUTSIDE",
		"/real/file",       LIBRARY_TRIPLET,   "FIFO",     "/empty",
		"/proc/1/root/tmp", "/proc/self/fd/7", "/dev",     "FILE",
		"/sys/fs/cgroup",
	};

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct question question;
		struct edit_plan plan;
		char outside[TREE_PATH_MAX], target[128];

		tree_make(outside);
		tree_file(outside, "libc.so.6", "");
		question_init(&question);
		question_root(&question);
		tree_file(question.tree, "real/libc.so.6", "");
		tree_file(question.tree, "real/file", "");
		tree_directory(question.tree, "empty");
		const char *name = strstr(shapes[i], "OUTSIDE");
		snprintf(target, sizeof(target), "%.*s%s",
			 (int)(name ? name - shapes[i] : (int)strlen(shapes[i])), shapes[i],
			 name ? outside + 1 : "");
		if (strcmp(shapes[i], "FIFO") == 0)
			tree_fifo(question.tree, LIBDIR);
		else if (strcmp(shapes[i], "FILE") == 0)
			tree_file(question.tree, LIBDIR, "");
		else
			tree_link(question.tree, LIBDIR, target);
		autofree char *inside_before = tree_describe(question.tree);
		autofree char *outside_before = tree_describe(outside);
		question_ask(&question, &plan);
		/* only the two that lead to a C library inside the root get libraries */
		assert_int_equal(plan_find(&plan, EDIT_MOUNT, LIBDIR "/libcuda.so.1") != NULL,
				 i < 2);
		assert_int_equal(plan_has_note(&plan, "image without a C library"), i >= 2);
		autofree char *inside_after = tree_describe(question.tree);
		autofree char *outside_after = tree_describe(outside);
		assert_string_equal(inside_before, inside_after);
		assert_string_equal(outside_before, outside_after);
		edit_plan_release(&plan);
		question_release(&question);
		tree_remove(outside);
	}
}
