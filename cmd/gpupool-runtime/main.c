/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpupool-runtime: called as runc, it edits the config.json of a container that asks for cards and
 * becomes runc. What asks for nothing, and every other command, passes untouched.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime.h"

/* runc's own exit status of whatever failed. */
#define EXIT_AS_RUNC 1
#define HEAP_STEP    (512 * 1024)

/* NAME below DIRECTORY when that is set. */
static const char *toolkit_path(struct strbuf *path)
{
	const char *file = secure_getenv("NVIDIA_CTK_CONFIG_FILE_PATH");
	const char *directory = secure_getenv("XDG_CONFIG_HOME");

	if (file && *file)
		return file;
	if (!directory || !*directory)
		return PATH_TOOLKIT_CONFIG;
	strbuf_addf(path, "%s/nvidia-container-runtime/config.toml", directory);
	return path->data;
}

static const char *own_path(void)
{
	const char *file = secure_getenv(ENV_CONFIG);

	return file && *file ? file : PATH_CONFIG;
}

int config_read(struct toolkit_config *ret, struct error *error)
{
	autostrbuf path = STRBUF_INIT(4096);

	return toolkit_config_read(toolkit_path(&path), own_path(), ret, error);
}

void config_files(struct strbuf *out)
{
	autostrbuf path = STRBUF_INIT(4096);
	const char *const files[] = { toolkit_path(&path), own_path() };
	const char *separator = "";

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (access(files[i], F_OK) < 0)
			continue;
		strbuf_addf(out, "%s%s", separator, files[i]);
		separator = ", ";
	}
}

static void report_notes(const struct call *call, const struct string_list *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		report(call, "warning", notes->items[i]);
}

static int edit(const struct call *call, const struct toolkit_config *config, struct start *start,
		struct error *error)
{
	int r = start_read(start, call, config, error);

	if (r < 0)
		return r;
	report_notes(call, &start->request.notes);
	if (!start_asks(start))
		return 0;
	r = start_plan(start, error);
	if (r == 0)
		r = start_write(start, error);
	report_notes(call, &start->notes);
	report_notes(call, &start->plan.notes);
	return r;
}

/* A container that runs must be stopped also while the configuration is broken. */
static int config_for(const struct call *call, struct toolkit_config *ret, struct error *error)
{
	int r = config_read(ret, error);

	if (r == 0 || call_makes_container(call))
		return r;
	report(call, "warning", error->message);
	return toolkit_config_read(NULL, NULL, ret, error);
}

static int runtime_main(int argc, char **argv)
{
	cleanup(toolkit_config_release) struct toolkit_config config = { 0 };
	/* Released only where the runtime could not be started: to become it frees everything. */
	cleanup(start_release) struct start start = { .bundle = -1, .root = -1 };
	autofree char *path = NULL;
	struct error error = ERROR_INIT;
	struct call call;

	call_read(argc, argv, &call);
	int r = config_for(&call, &config, &error);
	call.own_log = config.log_file;
	if (r == 0)
		r = handover_find(&config, &path, &error);
	if (r == 0 && call_makes_container(&call))
		r = edit(&call, &config, &start, &error);
	if (r == 0)
		handover(path, &call, argv, &error);
	report(&call, "error", error.message);
	return EXIT_AS_RUNC;
}

static bool is_called(const char *self, const char *name)
{
	const char *slash = strrchr(self, '/');

	return strcmp(slash ? slash + 1 : self, name) == 0;
}

static bool is_own(const char *word)
{
	static const char *const words[] = { "--explain", "--check", "--help" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	if (argc < 1)
		return EXIT_AS_RUNC;
	/* One step of the heap is enough for a start, and no part of it goes back before the end. */
	mallopt(M_TOP_PAD, HEAP_STEP);
	/* Docker offers --gpus when a program of this name is there; specs of others may call it. */
	if (is_called(argv[0], "nvidia-cdi-hook")) {
		fprintf(stderr, "gpupool-runtime: nvidia-cdi-hook does nothing here: gpupool puts "
				"all its edits into the container's spec\n");
		return 0;
	}
	if (argc > 1 && is_own(argv[1]))
		return own_main(argc, argv);
	return runtime_main(argc, argv);
}
