/* SPDX-License-Identifier: Apache-2.0 */
/* gpupoold: the node daemon. What it knows of its options is the table in model/plugin_config.h. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/model.h"
#include "node/node.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define TEXT_MAX_BYTES (1u << 20)

static int fail(const struct error *error, int code)
{
	fprintf(stderr, "gpupoold: %s\n", error->message);
	return code;
}

/* A usage error on the command line is 2, a broken file or environment 1. */
static int read_config(const struct plugin_flags *flags, struct plugin_config *ret,
		       struct error *error)
{
	const struct plugin_inputs inputs = { .flags = flags,
					      .environment = environ,
					      .usual_file = PATH_CONFIG };

	return plugin_config_read(&inputs, ret, error);
}

static int print_config(const struct plugin_config *config, bool json)
{
	autostrbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
	struct error error = ERROR_INIT;
	autojson *report = NULL;
	int r;

	if (json) {
		r = plugin_config_report(config, &report, &error);
		if (r == 0)
			r = json_to_text(report, true, &text, &error);
		strbuf_addc(&text, '\n');
	} else {
		r = plugin_config_to_yaml(config, &text, &error);
	}
	if (r < 0)
		return fail(&error, EXIT_FAILED);
	fputs(text.data, stdout);
	return EXIT_DONE;
}

static void print_text(enum plugin_action action)
{
	if (action == PLUGIN_HELP)
		plugin_print_help(stdout);
	else if (action == PLUGIN_MAN)
		plugin_print_man(stdout);
	else if (action == PLUGIN_COMPLETION)
		plugin_print_completion(stdout);
	else
		puts("gpupoold " GPUPOOL_VERSION);
}

static int run_daemon(const struct plugin_flags *flags, struct plugin_config *config)
{
	const struct node_options options = { .program = "gpupoold",
					      .flags = flags,
					      .environment = environ };
	bool caught = false;
	int code = node_run(&options, config, &caught);

	/* A thread that waits for a driver or a disk for ever must not keep the process. */
	if (caught)
		_exit(code);
	return code;
}

static int run(const struct plugin_flags *flags)
{
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	struct error error = ERROR_INIT;

	int r = read_config(flags, &config, &error);
	if (r < 0)
		return fail(&error, r == -EINVAL ? EXIT_USAGE : EXIT_FAILED);
	if (flags->action == PLUGIN_CHECK) {
		int code = print_config(&config, flags->json);

		if (code != EXIT_DONE)
			return code;
	}
	if (plugin_config_supported(&config, &error) < 0)
		return fail(&error, EXIT_FAILED);
	return flags->action == PLUGIN_CHECK ? EXIT_DONE : run_daemon(flags, &config);
}

int main(int argc, char **argv)
{
	cleanup(plugin_flags_release) struct plugin_flags flags = { .action = PLUGIN_RUN };
	struct error error = ERROR_INIT;

	(void)mallopt(M_ARENA_MAX,
		      1); /* its threads take turns: a heap each would only lie there */

	if (process_begin() < 0)
		return EXIT_FAILED;
	int r = plugin_flags_parse(argc, argv, &flags, &error);
	if (r < 0)
		return fail(&error, r == -ENOMEM ? EXIT_FAILED : EXIT_USAGE);
	int code = EXIT_DONE;
	if (flags.action == PLUGIN_RUN || flags.action == PLUGIN_CHECK)
		code = run(&flags);
	else
		print_text(flags.action);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fputs("gpupoold: standard output could not be written\n", stderr);
		return EXIT_FAILED;
	}
	return code;
}
