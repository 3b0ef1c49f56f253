/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of gpupoold, in the forms that Go's package flag takes. */
#include "model/plugin_keys.h"

#include <errno.h>
#include <string.h>

static const char *nearest_flag(const char *name)
{
	struct nearest nearest = { .name = NULL };

	for (unsigned i = 0; i < plugin_key_count; i++)
		for (size_t j = 0; j < ARRAY_SIZE(plugin_keys[i].flags) && plugin_keys[i].flags[j];
		     j++)
			parse_nearest(&nearest, plugin_keys[i].flags[j], name);
	for (const struct plugin_switch *at = plugin_switches; at->name; at++)
		parse_nearest(&nearest, at->name, name);
	return nearest.name;
}

static int fail_unknown(const char *name, struct error *error)
{
	const char *nearest = nearest_flag(name);

	if (nearest)
		return error_set(error, EINVAL, "there is no option --%s; did you mean --%s?", name,
				 nearest);
	return error_set(error, EINVAL, "there is no option --%s; 'gpupoold --help' lists them",
			 name);
}

/* The row that has NAME, or -1; *ret_alias says which of its names. */
static int find_key(const char *name, unsigned *ret_alias)
{
	for (unsigned i = 0; i < plugin_key_count; i++)
		for (unsigned j = 0;
		     j < ARRAY_SIZE(plugin_keys[i].flags) && plugin_keys[i].flags[j]; j++)
			if (strcmp(plugin_keys[i].flags[j], name) == 0) {
				*ret_alias = j;
				return (int)i;
			}
	return -1;
}

static const struct plugin_switch *find_switch(const char *name)
{
	for (const struct plugin_switch *at = plugin_switches; at->name; at++)
		if (strcmp(at->name, name) == 0 || (at->letter == name[0] && name[0] && !name[1]))
			return at;
	return NULL;
}

struct flag_reader {
	int argc, at;
	char *const *argv;
	struct plugin_flags *flags;
	unsigned char aliases[PLUGIN_KEYS_MAX]; /* which name a key was given by, plus 1 */
	struct error *error;
};

static int take_switch(const struct flag_reader *reader, const struct plugin_switch *row,
		       const char *value)
{
	if (value)
		return error_set(reader->error, EINVAL, "--%s takes no value; write --%s alone",
				 row->name, row->name);
	if (strcmp(row->name, "json") == 0)
		reader->flags->json = true;
	/* Help and version win over the rest, as with the peer. */
	if (row->action > reader->flags->action)
		reader->flags->action = row->action;
	return 0;
}

/* Two names of one key are refused by the peer's library too: which one should count? */
static int check_alias(struct flag_reader *reader, unsigned key, unsigned alias)
{
	unsigned char *used = &reader->aliases[key];

	if (*used && *used != alias + 1)
		return error_set(reader->error, EINVAL,
				 "--%s and --%s are two names of one option; "
				 "give one of them",
				 plugin_keys[key].flags[*used - 1], plugin_keys[key].flags[alias]);
	*used = (unsigned char)(alias + 1);
	return 0;
}

static int take_key(struct flag_reader *reader, unsigned key, const char *name, const char *value)
{
	struct plugin_flags *flags = reader->flags;
	const struct plugin_key *row = &plugin_keys[key];

	if (!value && row->kind == KEY_BOOL)
		value = "true";
	if (!value && reader->at + 1 >= reader->argc)
		return error_set(reader->error, EINVAL, "--%s needs a value; write --%s=%s", name,
				 name, row->argument);
	if (!value)
		value = reader->argv[++reader->at];
	struct plugin_given *given = VEC_ADD(&flags->items, &flags->count, &flags->capacity);
	if (!given)
		return error_no_memory(reader->error);
	*given = (struct plugin_given){ key, value };
	return 0;
}

static int take_option(struct flag_reader *reader, const char *text)
{
	size_t length = strcspn(text, "=");
	const char *value = text[length] ? text + length + 1 : NULL;
	char name[64];
	unsigned alias = 0;

	if (!length || length >= sizeof(name))
		return fail_unknown(text, reader->error);
	memcpy(name, text, length);
	name[length] = '\0';
	const struct plugin_switch *row = find_switch(name);
	if (row)
		return take_switch(reader, row, value);
	int key = find_key(name, &alias);
	if (key < 0)
		return fail_unknown(name, reader->error);
	int r = check_alias(reader, (unsigned)key, alias);
	return r < 0 ? r : take_key(reader, (unsigned)key, name, value);
}

/* "--fail-on-init-error false" is true and an operand in Go, and what follows is not looked at. */
static int fail_operand(const struct flag_reader *reader)
{
	const char *before = reader->at > 1 ? reader->argv[reader->at - 1] : "";
	const char *name = before + strspn(before, "-");
	const char *operand = reader->argv[reader->at];
	unsigned alias;

	int key = *before == '-' ? find_key(name, &alias) : -1;
	if (key >= 0 && plugin_keys[key].kind == KEY_BOOL)
		return error_set(reader->error, EINVAL, "%s takes its value after '='; write %s=%s",
				 before, before, operand);
	return error_set(reader->error, EINVAL,
			 "'%s' is no option, and gpupoold takes nothing else; "
			 "remove it",
			 operand);
}

int plugin_flags_parse(int argc, char *const *argv, struct plugin_flags *ret, struct error *error)
{
	cleanup(plugin_flags_release) struct plugin_flags flags = { .action = PLUGIN_RUN };
	struct flag_reader reader = { .argc = argc, .argv = argv, .flags = &flags, .error = error };
	bool ended = false;
	int r = 0;

	for (reader.at = 1; r == 0 && reader.at < argc; reader.at++) {
		const char *text = argv[reader.at];

		if (text[0] != '-' || !text[1] || ended)
			r = fail_operand(&reader);
		else if (strcmp(text, "--") == 0)
			ended = true;
		else
			r = take_option(&reader, text + 1 + (text[1] == '-'));
	}
	if (r == 0 && flags.json && flags.action == PLUGIN_RUN)
		r = error_set(error, EINVAL, "--json is for --check; write --check --json");
	if (r < 0)
		return r;
	*ret = flags;
	flags = (struct plugin_flags){ .action = PLUGIN_RUN };
	return 0;
}

void plugin_flags_release(struct plugin_flags *flags)
{
	free(flags->items);
	*flags = (struct plugin_flags){ .action = PLUGIN_RUN };
}
