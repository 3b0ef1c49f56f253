/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The random comparisons must fail with an engine that is wrong in one place: test/unit/meson.build
 * has the table of mutants and builds each comparison with each of its own. Product builds have no
 * such places: a copy of the source is changed.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

#define OUTPUT_MAX 65536

/* MUTANTS: names of programs beside this one. */
static const char *const mutants[] = { MUTANTS };

static void folder_of_this(char *path, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", path, size - 1);

	assert_true(length > 0);
	path[length] = '\0';
	char *last = strrchr(path, '/');

	assert_non_null(last);
	*last = '\0';
}

/* The exit status of mutant NAME, and what it printed. */
static int run(const char *name, char *text, size_t size)
{
	char folder[4096], path[8192];
	int ends[2], status = 0;
	size_t length = 0;

	folder_of_this(folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	for (;;) { /* all of it: a writer must not wait */
		char rest[4096];
		bool keep = length + 1 < size;
		ssize_t got = read(ends[0], keep ? text + length : rest,
				   keep ? size - 1 - length : sizeof(rest));

		if (got <= 0)
			break;
		length += keep ? (size_t)got : 0;
	}
	text[length] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* By a comparison, by an assertion of the engine, or by the checks that the build brings along. */
static bool says_why(const char *text)
{
	static const char *const signs[] = { "\nnot ok ", "Assertion",
					     "runtime error:", "AddressSanitizer" };

	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (strstr(text, signs[i]))
			return true;
	return false;
}

TEST(each_is_noticed)
{
	static char text[OUTPUT_MAX];
	unsigned missed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(mutants); i++) {
		int status = run(mutants[i], text, sizeof(text));
		bool noticed = status > 0 && status != 127 && says_why(text);

		print_message("# %s: %s (status %d)\n", mutants[i], noticed ? "noticed" : "MISSED",
			      status);
		missed += !noticed;
	}
	if (missed)
		fail_msg("%u mutants were not noticed, or the text that they change is not in the "
			 "source any more: see the table in test/unit/meson.build",
			 missed);
}
