/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of this program itself: --explain, --check and --help. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runtime.h"

static const char help[] =
	"gpupool-runtime: a runc that gives containers the NVIDIA cards they ask for\n"
	"\n"
	"Usage: gpupool-runtime [RUNC OPTIONS] COMMAND ...\n"
	"       gpupool-runtime --explain [--json] [--bundle DIR]\n"
	"       gpupool-runtime --check\n"
	"\n"
	"Called as runc by containerd, Docker or CRI-O. On create and run it edits the bundle's\n"
	"config.json when the container asks for cards, then becomes the first runtime of its\n"
	"configuration that is installed (runc, crun). Everything else is passed on as it is.\n"
	"\n"
	"  --explain     print what would be added to the bundle's spec, and why; changes nothing\n"
	"  --check       say which runtime, kernel and cards are here, and what they lack\n"
	"  --bundle DIR  the bundle, also -b (default: this directory)\n"
	"  --json        print the explanation as one JSON object\n"
	"  --help        print this text; -h is runc's\n"
	"\n"
	"Configuration: /etc/nvidia-container-runtime/config.toml, and the section runtime of\n"
	"/etc/gpupool/config.yaml. See gpupool-runtime(8).\n";

struct own_options {
	const char *bundle;
	bool json;
};

static int usage(const char *sentence, const char *word)
{
	fprintf(stderr, "gpupool-runtime: %s%s; see gpupool-runtime --help\n", sentence, word);
	return EXIT_USAGE;
}

static int options_read(int argc, char **argv, struct own_options *ret)
{
	*ret = (struct own_options){ .bundle = "." };
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			ret->json = true;
		else if ((strcmp(argv[i], "--bundle") == 0 || strcmp(argv[i], "-b") == 0) &&
			 i + 1 < argc)
			ret->bundle = argv[++i];
		else if (strncmp(argv[i], "--bundle=", 9) == 0)
			ret->bundle = argv[i] + 9;
		else
			return usage("unknown or incomplete option ", argv[i]);
	}
	return 0;
}

static int explain(const struct own_options *options)
{
	cleanup(toolkit_config_release) struct toolkit_config config = { 0 };
	cleanup(start_release) struct start start = { .bundle = -1, .root = -1 };
	const struct call call = { .bundle = options->bundle, .config = "config.json" };
	autostrbuf text = STRBUF_INIT((size_t)16 << 20);
	struct error error = ERROR_INIT;

	int r = config_read(&config, &error);
	if (r == 0)
		r = start_read(&start, &call, &config, &error);
	if (r == 0 && start_asks(&start))
		r = start_plan(&start, &error);
	if (r == 0)
		r = start_explain(&start, options->json, &text, &error);
	if (r < 0) {
		fprintf(stderr, "gpupool-runtime: %s%s\n", error.message,
			r == -ENOENT && !start.spec ? "; name the bundle by --bundle" : "");
		return start.reason.code && reason_is_for_ever(start.reason.code) ? EXIT_REFUSED
										  : EXIT_FAILED;
	}
	fputs(text.data, stdout);
	return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

int own_main(int argc, char **argv)
{
	struct own_options options;

	if (strcmp(argv[1], "--help") == 0) {
		fputs(help, stdout);
		return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
	}
	int r = options_read(argc, argv, &options);
	if (r)
		return r;
	return strcmp(argv[1], "--explain") == 0 ? explain(&options) : check();
}
