/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of a runtime, as far as it says which bundle and which descriptors. */
#include <string.h>

#include "runtime.h"

/*
 * Options that take the next word. How to add one: a row. From runc's main.go, create.go, run.go
 * and crun's src/{crun,create,run}.c; an option that is not here is taken for a flag.
 */
static const char *const global_options[] = { "root", "log",      "log-format",     "log-level",
					      "criu", "rootless", "cgroup-manager", NULL };
static const char *const create_options[] = { "bundle",         "b",        "config",       "f",
					      "console-socket", "pid-file", "preserve-fds", NULL };

struct option {
	const char *name; /* without dashes */
	size_t length;
	const char *value; /* NULL: none */
};

static bool is_in(const char *const *list, const struct option *option)
{
	for (; *list; list++)
		if (strlen(*list) == option->length &&
		    memcmp(*list, option->name, option->length) == 0)
			return true;
	return false;
}

static bool is_named(const struct option *option, const char *name, const char *letter)
{
	const char *const names[] = { name, letter, NULL };

	return is_in(names, option);
}

/*
 * "-bDIR" and "-fFILE", as crun takes them; runc, whose names may have one dash too, knows no option that
 * is not in LONG.
 */
static bool letter_read(const char *word, const char *const *long_names, struct option *ret)
{
	const struct option whole = { .name = word, .length = strcspn(word, "=") };

	if ((word[0] != 'b' && word[0] != 'f') || !word[1] || word[1] == '=' ||
	    is_in(long_names, &whole))
		return false;
	*ret = (struct option){ .name = word, .length = 1, .value = word + 1 };
	return true;
}

/* argv[*at] as an option with its value; false when it is none. One dash or two, as Go takes them. */
static bool option_read(int argc, char **argv, int *at, const char *const *with_value,
			struct option *ret)
{
	const char *word = argv[*at];

	if (word[0] != '-' || !word[1] || strcmp(word, "--") == 0)
		return false;
	if (with_value == create_options && word[1] != '-' &&
	    letter_read(word + 1, with_value, ret))
		return true;
	word += word[1] == '-' ? 2 : 1;
	*ret = (struct option){ .name = word, .length = strcspn(word, "=") };
	if (word[ret->length])
		ret->value = word + ret->length + 1;
	else if (is_in(with_value, ret) && *at + 1 < argc)
		ret->value = argv[++*at];
	return true;
}

static void take_global(struct call *call, const struct option *option)
{
	if (!option->value)
		return;
	if (is_named(option, "log", NULL))
		call->log = option->value;
	if (is_named(option, "log-format", NULL))
		call->log_json = strcmp(option->value, "json") == 0;
}

/* As Go's strconv.ParseBool reads it; crun takes no value there and makes no container. */
static bool is_false(const char *text)
{
	static const char *const words[] = { "0", "f", "F", "false", "FALSE", "False" };

	for (size_t i = 0; text && i < ARRAY_SIZE(words); i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	return false;
}

static void take_of_command(struct call *call, const struct option *option)
{
	uint64_t count;

	if (is_named(option, "help", "h"))
		call->help = !is_false(option->value);
	if (!option->value)
		return;
	/* For runc an empty text is no bundle; crun does not start with it. */
	if (is_named(option, "bundle", "b"))
		call->bundle = *option->value ? option->value : ".";
	if (is_named(option, "config", "f"))
		call->config = option->value;
	if (is_named(option, "preserve-fds", NULL) &&
	    parse_uint(option->value, 0, 1 << 20, &count) == 0)
		call->preserved = (unsigned)count;
}

void call_read(int argc, char **argv, struct call *ret)
{
	struct call call = { .bundle = ".", .config = "config.json" };
	struct option option;
	int at = 1;

	for (; at < argc && option_read(argc, argv, &at, global_options, &option); at++)
		take_global(&call, &option);
	if (at < argc && strcmp(argv[at], "--") == 0)
		at++;
	if (at < argc)
		call.command = argv[at++];
	/* Both runtimes take options also after the container's name. */
	for (; call_makes_container(&call) && at < argc && strcmp(argv[at], "--") != 0; at++)
		if (option_read(argc, argv, &at, create_options, &option))
			take_of_command(&call, &option);
	*ret = call;
}

bool call_makes_container(const struct call *call)
{
	return call->command && !call->help &&
	       (strcmp(call->command, "create") == 0 || strcmp(call->command, "run") == 0);
}
