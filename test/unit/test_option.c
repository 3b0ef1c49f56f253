/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

struct options {
	bool dry_run, verbose;
	const char *image, *runtime;
	unsigned long gpus, any;
	struct option_list env;
};

/* A command answers its exit code: 40 + operands, so that a test sees that it ran. */
static int run_any(void *options, int argc, char **argv)
{
	(void)options;
	(void)argv;
	return 40 + argc;
}

static const struct option_row rows[] = {
	{ .name = "dry-run",
	  .letter = 'd',
	  .kind = OPTION_FLAG,
	  .help = "print the plan only",
	  .offset = offsetof(struct options, dry_run) },
	{ .name = "verbose",
	  .letter = 'v',
	  .kind = OPTION_FLAG,
	  .help = "say more",
	  .offset = offsetof(struct options, verbose) },
	{ .name = "image",
	  .letter = 'i',
	  .kind = OPTION_STRING,
	  .argument = "host|DIR",
	  .help = "root of the container; *bold* _lines_ \\ # are plain text",
	  .offset = offsetof(struct options, image) },
	{ .name = "gpus",
	  .letter = 'g',
	  .kind = OPTION_UINT,
	  .argument = "N",
	  .help = "whole cards",
	  .offset = offsetof(struct options, gpus),
	  .minimum = 1,
	  .maximum = 64,
	  .fallback = "2" },
	{ .name = "any",
	  .kind = OPTION_UINT,
	  .argument = "N",
	  .help = "any number",
	  .offset = offsetof(struct options, any) },
	{ .name = "runtime",
	  .kind = OPTION_CHOICE,
	  .help = "container runtime",
	  .offset = offsetof(struct options, runtime),
	  .choices = "runc|crun" },
	{ .name = "env",
	  .letter = 'e',
	  .kind = OPTION_LIST,
	  .argument = "NAME=VALUE",
	  .help = "set a variable, may be given several times, with a long text",
	  .offset = offsetof(struct options, env) },
	{ 0 },
};

static const struct command command_run = { .name = "run",
					    .summary = "run a command",
					    .operands = "[--] COMMAND [ARG...]",
					    .description = "First line.\n\nSecond *one*.",
					    .examples = "gpupool run --gpus 1 nvidia-smi\n",
					    .options = rows,
					    .stops_at_operand = true,
					    .run = run_any,
					    .size = sizeof(struct options) };
static const struct command command_apply = { .name = "apply",
					      .summary = "apply a file",
					      .operands = "FILE...",
					      .options = rows,
					      .run = run_any,
					      .size = sizeof(struct options) };
static const struct command command_list = {
	.name = "list", .summary = "list things", .operands = "", .run = run_any
};
static const struct command command_sim_run = { .name = "sim run",
						.summary = "replay a trace",
						.operands = "",
						.options = rows,
						.run = run_any,
						.size = sizeof(struct options) };
static const struct command command_sim_fit = {
	.name = "sim fit", .summary = "count what fits", .operands = "FILE...", .run = run_any
};
static const struct command *const commands[] = { &command_run,     &command_apply,   &command_list,
						  &command_sim_run, &command_sim_fit, NULL };
static const struct program program = { .name = "gpupool",
					.summary = "shares cards",
					.description = "It does.",
					.commands = commands };

#define ARGUMENTS_MAX 12

/* Splits at blanks; argv[0] is the command's name. */
static int split(char *line, char **argv)
{
	int argc = 0;

	argv[argc++] = (char[]){ "x" };
	for (char *word; (word = strsep(&line, " "));)
		if (*word && argc < ARGUMENTS_MAX)
			argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
	argv[argc] = NULL;
	return argc;
}

/* What was parsed, as text. */
static void describe(const struct options *options, int argc, char **argv, struct strbuf *text)
{
	if (options->dry_run)
		strbuf_adds(text, "d ");
	if (options->verbose)
		strbuf_adds(text, "v ");
	if (options->image)
		strbuf_addf(text, "image=%s ", options->image);
	if (options->runtime)
		strbuf_addf(text, "runtime=%s ", options->runtime);
	strbuf_addf(text, "gpus=%lu ", options->gpus);
	if (options->any)
		strbuf_addf(text, "any=%lu ", options->any);
	for (size_t i = 0; i < options->env.count; i++)
		strbuf_addf(text, "env=%s ", options->env.items[i]);
	strbuf_adds(text, ":");
	for (int i = 0; i < argc; i++)
		strbuf_addf(text, " %s", argv[i]);
}

static const struct {
	const struct command *command;
	const char *line;
	int r;
	const char *text; /* what was parsed, or the whole message */
} cases[] = {
	{ &command_apply, "", 0, "gpus=2 :" },
	{ &command_apply, "a b", 0, "gpus=2 : a b" },
	{ &command_apply, "--gpus 3 a", 0, "gpus=3 : a" },
	{ &command_apply, "--gpus=3 a", 0, "gpus=3 : a" },
	{ &command_apply, "-g3 a", 0, "gpus=3 : a" },
	{ &command_apply, "-g 3 a", 0, "gpus=3 : a" },
	{ &command_apply, "-dvg3 a", 0, "d v gpus=3 : a" },
	{ &command_apply, "-dvg 3 a", 0, "d v gpus=3 : a" },
	{ &command_apply, "-gd", -EINVAL,
	  "--gpus wants a whole number from 1 to 64, not 'd'; write for example --gpus 1" },
	{ &command_apply, "a -d b --gpus 3 c -- -v --dry-run", 0, "d gpus=3 : a b c -v --dry-run" },
	{ &command_apply, "a - b -v", 0, "v gpus=2 : a - b" },
	{ &command_apply, "-- -- a", 0, "gpus=2 : -- a" },
	{ &command_apply, "-e A=1 x -eB=2 --env=C=3 --env D", 0,
	  "gpus=2 env=A=1 env=B=2 env=C=3 env=D : x" },
	{ &command_apply, "--image= a", 0, "image= gpus=2 : a" },
	{ &command_apply, "--image -x a", 0, "image=-x gpus=2 : a" },
	{ &command_apply, "--image -- a", 0, "image=-- gpus=2 : a" },
	{ &command_apply, "--gpus 3 --gpus 4", 0, "gpus=4 :" },
	{ &command_apply, "--any 18446744073709551615", 0, "gpus=2 any=18446744073709551615 :" },
	{ &command_apply, "--runtime crun", 0, "runtime=crun gpus=2 :" },
	{ &command_run, "--gpus 1 nvidia-smi -L --gpus 9", 0, "gpus=1 : nvidia-smi -L --gpus 9" },
	{ &command_run, "-d -- -x -d", 0, "d gpus=2 : -x -d" },
	{ &command_run, "sh -- -d", 0, "gpus=2 : sh -- -d" },
	{ &command_apply, "--gpu 1", -EINVAL, "'apply' has no option --gpu; did you mean --gpus?" },
	{ &command_apply, "--gups=1", -EINVAL,
	  "'apply' has no option --gups; did you mean --gpus?" },
	{ &command_apply, "--dry", -EINVAL,
	  "'apply' has no option --dry; did you mean --dry-run?" },
	{ &command_apply, "--zzzz", -EINVAL,
	  "'apply' has no option --zzzz; 'apply --help' lists them" },
	{ &command_apply, "--=1", -EINVAL,
	  "'apply' has no option --=1; 'apply --help' lists them" },
	{ &command_apply, "-dz", -EINVAL, "'apply' has no option -z; 'apply --help' lists them" },
	{ &command_list, "-z", -EINVAL, "'list' has no option -z; 'list --help' lists them" },
	{ &command_apply, "--dry-run=yes", -EINVAL,
	  "--dry-run takes no value; write --dry-run alone" },
	{ &command_apply, "a --gpus", -EINVAL, "--gpus wants a value; write --gpus N" },
	{ &command_apply, "-dg", -EINVAL, "--gpus wants a value; write --gpus N" },
	{ &command_apply, "--runtime", -EINVAL,
	  "--runtime wants a value; write --runtime runc|crun" },
	{ &command_apply, "--gpus 0", -EINVAL,
	  "--gpus wants a whole number from 1 to 64, not '0'; write for example --gpus 1" },
	{ &command_apply, "--gpus 65", -EINVAL,
	  "--gpus wants a whole number from 1 to 64, not '65'; write for example --gpus 1" },
	{ &command_apply, "--gpus=", -EINVAL,
	  "--gpus wants a whole number from 1 to 64, not ''; write for example --gpus 1" },
	{ &command_apply, "--gpus -1", -EINVAL,
	  "--gpus wants a whole number from 1 to 64, not '-1'; write for example --gpus 1" },
	{ &command_apply, "--runtime c", -EINVAL,
	  "--runtime wants one of runc|crun, not 'c'; write for example --runtime runc" },
	{ &command_apply, "--runtime runc|crun", -EINVAL,
	  "--runtime wants one of runc|crun, not 'runc|crun'; write for example --runtime runc" },
	{ &command_apply, "--runtime=", -EINVAL,
	  "--runtime wants one of runc|crun, not ''; write for example --runtime runc" },
	{ &command_apply, "a --help --zzzz", -ECANCELED, "help was asked for" },
	{ &command_apply, "-dh", -ECANCELED, "help was asked for" },
	{ &command_run, "sh -h", 0, "gpus=2 : sh -h" },
};

TEST(option_parse_cases)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct options options = { 0 };
		struct error error = ERROR_INIT;
		autostrbuf text = STRBUF_INIT(4096);
		char *argv[ARGUMENTS_MAX + 1];
		int operands = -1;

		autofree char *line = strdup(cases[i].line);
		int argc = split(line, argv);
		int r = option_parse(cases[i].command, argc, argv, &options, &operands, &error);
		if (r == 0)
			describe(&options, argc - operands, argv + operands, &text);
		else
			strbuf_adds(&text, error.message);
		option_release(cases[i].command, &options);
		if (r != cases[i].r)
			print_error("%s\n", cases[i].line);
		assert_int_equal(r, cases[i].r);
		assert_string_equal(text.data, cases[i].text);
		assert_null(options.env.items);
	}
}

TEST(option_parse_survives_every_failed_allocation)
{
	for (unsigned n = 0;; n++) {
		struct options options = { 0 };
		struct error error = ERROR_INIT;
		char line[] = "-e A -e B -e C -e D -e E";
		char *argv[ARGUMENTS_MAX + 1];
		int operands = -1;

		int argc = split(line, argv);
		fault_arm(n);
		int r = option_parse(&command_apply, argc, argv, &options, &operands, &error);
		bool hit = fault_disarm();
		option_release(&command_apply, &options);
		if (!hit) {
			assert_int_equal(r, 0);
			assert_true(n > 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

/* Runs the program in a child; what it prints comes back in OUT (both streams). */
static int run_program(const char *words, struct strbuf *out)
{
	char *argv[ARGUMENTS_MAX + 1];
	int ends[2], status = 0;
	char step[512];

	autofree char *line = strdup(words);
	int argc = split(line, argv);
	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		int code = program_main(&program, argc, argv);
		fflush(stdout);
		_exit(code);
	}
	close(ends[1]);
	for (ssize_t got; (got = read(ends[0], step, sizeof(step))) > 0;)
		strbuf_add(out, step, (size_t)got);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(option_program_cases)
{
	static const struct {
		const char *line;
		int code;
		const char *text; /* the start of what is printed */
	} runs[] = {
		{ "run --gpus 1 sh -c x", 43, "" },
		{ "list", 40, "" },
		{ "", 2, "gpupool: name a command; 'gpupool --help' lists them\n" },
		{ "--version", 0, "gpupool " GPUPOOL_VERSION "\n" },
		{ "--help", 0,
		  "Usage: gpupool COMMAND [OPTION...] [OPERAND...]\n\nshares cards\n" },
		{ "-h", 0, "Usage: gpupool COMMAND" },
		{ "help", 0, "Usage: gpupool COMMAND" },
		{ "help run", 0, "Usage: gpupool run [OPTION...] [--] COMMAND [ARG...]\n" },
		{ "run --help", 0, "Usage: gpupool run [OPTION...] [--] COMMAND [ARG...]\n" },
		{ "list -h", 0, "Usage: gpupool list [OPTION...]\n\nlist things\n" },
		{ "help rum", 2, "gpupool: no command 'rum'; did you mean 'run'?\n" },
		{ "aply", 2, "gpupool: no command 'aply'; did you mean 'apply'?\n" },
		{ "zzz", 2, "gpupool: no command 'zzz'; 'gpupool --help' lists them\n" },
		{ "--gpus 1 run", 2, "gpupool: no option --gpus here; options follow a command" },
		{ "list x", 2, "gpupool: 'list' takes no operand, but 'x' was given; remove it\n" },
		{ "run --gpu 1", 2, "gpupool: 'run' has no option --gpu; did you mean --gpus?\n" },
		{ "sim run --gpus 1", 40, "" },
		{ "sim fit x y", 42, "" },
		{ "sim run x", 2,
		  "gpupool: 'sim run' takes no operand, but 'x' was given; remove" },
		{ "sim", 2, "gpupool: name a command of 'sim'; 'gpupool sim --help' lists them\n" },
		{ "sim rnu", 2, "gpupool: no command 'sim rnu'; did you mean 'sim run'?\n" },
		{ "sim zzzzz", 2,
		  "gpupool: no command 'sim zzzzz'; 'gpupool --help' lists them\n" },
		{ "wxyz run", 2, "gpupool: no command 'wxyz'; 'gpupool --help' lists them\n" },
		{ "sim --help", 0,
		  "Usage: gpupool sim COMMAND [OPTION...] [OPERAND...]\n\nCommands:\n"
		  "  sim run          replay a trace\n  sim fit          count what fits\n\n" },
		{ "help sim", 0, "Usage: gpupool sim COMMAND" },
		{ "help sim run", 0, "Usage: gpupool sim run [OPTION...]\n" },
		{ "help sim rnu", 2, "gpupool: no command 'sim rnu'; did you mean 'sim run'?\n" },
		{ "sim run --help", 0, "Usage: gpupool sim run [OPTION...]\n\nreplay a trace\n" },
		{ "--print-man", 0, "gpupool(1)\n\n# NAME\n\ngpupool - shares cards\n" },
		{ "--print-completion", 0, "# bash completion" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		autostrbuf out = STRBUF_INIT(65536);

		int code = run_program(runs[i].line, &out);
		if (code != runs[i].code ||
		    strncmp(out.data, runs[i].text, strlen(runs[i].text)) != 0)
			print_error("%s: %d %s\n", runs[i].line, code, out.data);
		assert_int_equal(code, runs[i].code);
		assert_true(strncmp(out.data, runs[i].text, strlen(runs[i].text)) == 0);
	}
}

static const char run_help[] =
	"Usage: gpupool run [OPTION...] [--] COMMAND [ARG...]\n\nrun a command\n\n"
	"First line.\n\nSecond *one*.\n\nOptions:\n"
	"  -d, --dry-run             print the plan only\n"
	"  -v, --verbose             say more\n"
	"  -i, --image host|DIR      root of the container; *bold* _lines_ \\ # are plain\n"
	"                            text\n"
	"  -g, --gpus N              whole cards (default: 2)\n"
	"      --any N               any number\n"
	"      --runtime runc|crun   container runtime\n"
	"  -e, --env NAME=VALUE      set a variable, may be given several times, with a\n"
	"                            long text\n"
	"  -h, --help                print this help\n"
	"\nExamples:\n  gpupool run --gpus 1 nvidia-smi\n";

TEST(option_help_text)
{
	autofree char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	option_print_help(&program, &command_run, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, run_help);
}

/* Feeds TEXT to a program of the shell and gives back what it prints; false where it is missing. */
static bool pipe_through(const char *text, const char *shell, struct strbuf *out)
{
	char input[] = "/tmp/gpupool-test-XXXXXX", step[512];
	int ends[2], status = 0;

	int fd = mkstemp(input);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execlp("bash", "bash", "-c", shell, "bash", input, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	for (ssize_t got; (got = read(ends[0], step, sizeof(step))) > 0;)
		strbuf_add(out, step, (size_t)got);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	unlink(input);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return false;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return true;
}

TEST(option_man_page_is_read_by_scdoc)
{
	autostrbuf source = STRBUF_INIT(65536), page = STRBUF_INIT(65536);

	assert_int_equal(run_program("--print-man", &source), 0);
	if (!pipe_through(source.data, "scdoc <\"$1\"", &page))
		skip();
	/* The page's own marks stay text: scdoc made no bold of them. */
	assert_non_null(strstr(page.data, "*bold* _lines_ \\\\ # are plain text"));
	assert_non_null(strstr(page.data, "\\fB--gpus\\fR \\fIN\\fR"));
	assert_non_null(strstr(page.data, "\nSecond *one*."));
	assert_non_null(strstr(page.data, "gpupool run --gpus 1 nvidia-smi"));
}

TEST(option_completion_works_in_bash)
{
	static const struct {
		const char *words; /* the last one is being completed */
		const char *answer;
	} asked[] = {
		{ "gpupool ''", "help --help --version run apply list sim" },
		{ "gpupool sim ''", "--help run fit" },
		{ "gpupool sim r", "run" },
		{ "gpupool sim run --ru", "--runtime" },
		{ "gpupool sim run --runtime c", "crun" },
		{ "gpupool sim fit --", "--help" },
		{ "gpupool a", "apply" },
		{ "gpupool run --ru", "--runtime" },
		{ "gpupool run --runtime ''", "runc crun" },
		{ "gpupool run --runtime c", "crun" },
		{ "gpupool run --image x", "" },
		{ "gpupool run x", "" },
		{ "gpupool list --", "--help" },
	};
	autostrbuf source = STRBUF_INIT(65536);

	assert_int_equal(run_program("--print-completion", &source), 0);
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		autostrbuf shell = STRBUF_INIT(1000), answer = STRBUF_INIT(1000);

		strbuf_addf(&shell,
			    ". \"$1\"; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); "
			    "_gpupool; echo -n \"${COMPREPLY[*]}\"",
			    asked[i].words);
		assert_true(pipe_through(source.data, shell.data, &answer));
		assert_string_equal(answer.data, asked[i].answer);
	}
}
