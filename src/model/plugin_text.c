/* SPDX-License-Identifier: Apache-2.0 */
/* Help, man page and completion of gpupoold from its table. */
#include "model/plugin_keys.h"

#include <string.h>

#define HELP_INDENT 8
#define HELP_WIDTH  80

static void print_wrapped(const char *text, struct strbuf *out)
{
	size_t column = HELP_INDENT;

	strbuf_addf(out, "%*s", HELP_INDENT, "");
	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > HELP_INDENT && column + 1 + word > HELP_WIDTH) {
			strbuf_addf(out, "\n%*s", HELP_INDENT, "");
			column = HELP_INDENT;
		} else if (column > HELP_INDENT) {
			strbuf_addc(out, ' ');
			column++;
		}
		strbuf_addf(out, "%.*s", (int)word, text);
		column += word;
		text += word + (text[word] == ' ');
	}
	strbuf_addc(out, '\n');
}

/* "how MIG devices are listed: ...: none, single or mixed (default: none)" */
static void describe_key(const struct plugin_key *key, struct strbuf *out)
{
	strbuf_adds(out, key->help);
	for (const char *at = key->choices ? key->choices : ""; *at;) {
		size_t length = strcspn(at, "|");
		const char *lead = at == key->choices ? "; one of " : ", ";

		strbuf_adds(out, lead);
		strbuf_add(out, at, length);
		at += length + (at[length] == '|');
	}
	if (key->fallback && *key->fallback)
		strbuf_addf(out, " (default: %s)", key->fallback);
	if (key->idle)
		strbuf_addf(out, "; no effect: %s", key->idle);
}

/* "in the file KEY; in the environment NAME, NAME" */
static void describe_sources(const struct plugin_key *key, struct strbuf *out)
{
	if (key->path && key->flags[0])
		strbuf_addf(out, "file: %s", key->path);
	for (size_t i = 0; i < ARRAY_SIZE(key->variables) && key->variables[i]; i++)
		strbuf_addf(out, "%s%s",
			    i             ? ", "
			    : out->length ? "; environment: "
					  : "environment: ",
			    key->variables[i]);
}

static void print_key(const struct plugin_key *key, struct strbuf *out)
{
	autostrbuf text = STRBUF_INIT(4096), sources = STRBUF_INIT(512);

	for (size_t i = 0; i < ARRAY_SIZE(key->flags) && key->flags[i]; i++)
		strbuf_addf(out, "%s--%s", i ? ", " : "  ", key->flags[i]);
	if (!key->flags[0])
		strbuf_addf(out, "  %s", key->path);
	if (key->argument)
		strbuf_addf(out, "%s%s", key->flags[0] ? "=" : ": ", key->argument);
	strbuf_addc(out, '\n');
	describe_key(key, &text);
	print_wrapped(text.data, out);
	describe_sources(key, &sources);
	if (sources.length)
		strbuf_addf(out, "%*s%s\n", HELP_INDENT, "", sources.data);
}

void plugin_add_help(struct strbuf *out)
{
	strbuf_adds(
		out,
		"Usage: gpupoold [OPTION...]\n\n"
		"Lists the cards of this node to the kubelet and answers for them: a device plugin "
		"for "
		"Kubernetes.\n"
		"Command line > environment > file > default. A key without a dash stands in the "
		"file "
		"only.\n\nActions:\n");
	for (const struct plugin_switch *at = plugin_switches; at->name; at++) {
		if (!at->help)
			continue;
		if (at->letter)
			strbuf_addf(out, "  -%c, --%s\n", at->letter, at->name);
		else
			strbuf_addf(out, "  --%s\n", at->name);
		print_wrapped(at->help, out);
	}
	for (unsigned group = 0; group < GROUP_MAX; group++) {
		strbuf_addf(out, "\n%s:\n", plugin_group_titles[group]);
		for (unsigned i = 0; i < plugin_key_count; i++)
			if (plugin_keys[i].group == group)
				print_key(&plugin_keys[i], out);
	}
	strbuf_adds(
		out,
		"\nIn the file only: resources, sharing.timeSlicing, sharing.mps, gpupool.cards; "
		"docs/gpupoold.md\nexplains them.\n");
}

/* scdoc gives these a meaning. */
static void print_escaped(const char *text, struct strbuf *out)
{
	for (; *text; text++) {
		if (strchr("\\*_`<>#+-|[];.", *text))
			strbuf_addc(out, '\\');
		strbuf_addc(out, *text);
	}
}

static void print_man_key(const struct plugin_key *key, struct strbuf *out)
{
	autostrbuf text = STRBUF_INIT(4096), sources = STRBUF_INIT(512);

	for (size_t i = 0; i < ARRAY_SIZE(key->flags) && key->flags[i]; i++) {
		strbuf_addf(out, "%s*--", i ? ", " : "");
		print_escaped(key->flags[i], out);
		strbuf_addc(out, '*');
	}
	if (!key->flags[0]) {
		strbuf_addc(out, '*');
		print_escaped(key->path, out);
		strbuf_addc(out, '*');
	}
	if (key->argument)
		strbuf_addf(out, " _%s_", key->argument);
	strbuf_adds(out, "\n\t");
	describe_key(key, &text);
	print_escaped(text.data, out);
	describe_sources(key, &sources);
	if (sources.length) {
		strbuf_adds(out, "++\n");
		print_escaped(sources.data, out);
	}
	strbuf_adds(out, "\n\n");
}

void plugin_add_man(struct strbuf *out)
{
	strbuf_adds(
		out,
		"gpupoold(8)\n\n# NAME\n\ngpupoold - lists the GPUs of a node to the kubelet\n\n"
		"# SYNOPSIS\n\n*gpupoold* [_OPTION_...]++\n*gpupoold* --check [--json] "
		"[_OPTION_...]\n\n"
		"# DESCRIPTION\n\n"
		"A device plugin for Kubernetes, with the flags, environment and configuration "
		"file "
		"of "
		"NVIDIA's device plugin. The command line is stronger than the environment, that "
		"than "
		"the file, that than the default. The names without dashes below stand in the file "
		"only.\n\n# OPTIONS\n\n");
	for (const struct plugin_switch *at = plugin_switches; at->name; at++) {
		if (!at->help)
			continue;
		strbuf_adds(out, "*--");
		print_escaped(at->name, out);
		strbuf_adds(out, "*\n\t");
		print_escaped(at->help, out);
		strbuf_adds(out, "\n\n");
	}
	for (unsigned group = 0; group < GROUP_MAX; group++) {
		strbuf_addf(out, "## %s\n\n", plugin_group_titles[group]);
		for (unsigned i = 0; i < plugin_key_count; i++)
			if (plugin_keys[i].group == group)
				print_man_key(&plugin_keys[i], out);
	}
	strbuf_adds(
		out,
		"# SIGNALS\n\nSIGHUP reads the configuration again; one that is broken is "
		"reported, "
		"and "
		"the last good one stays. SIGTERM ends the daemon; containers go on.\n\n"
		"# EXIT STATUS\n\n0 done, 1 failed or a broken configuration, 2 wrong usage.\n\n"
		"# SEE ALSO\n\n*gpupool*(1), *gpupool-runtime*(8)\n");
}

void plugin_add_completion(struct strbuf *out)
{
	strbuf_adds(out,
		    "# bash completion; made from the table of the program\n_gpupoold()\n{\n"
		    "\tlocal current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
		    "words=''\n"
		    "\t[ \"$before\" = '=' ] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
		    "\t[ \"$current\" = '=' ] && before=${COMP_WORDS[COMP_CWORD-1]} current=''\n"
		    "\tcase $before in\n");
	for (unsigned i = 0; i < plugin_key_count; i++) {
		const struct plugin_key *key = &plugin_keys[i];

		for (size_t j = 0; key->choices && j < ARRAY_SIZE(key->flags) && key->flags[j];
		     j++) {
			strbuf_addf(out, "\t--%s) words='", key->flags[j]);
			for (const char *at = key->choices; *at; at++)
				strbuf_addc(out, *at == '|' ? ' ' : *at);
			strbuf_adds(out, "';;\n");
		}
	}
	strbuf_adds(out, "\t*) [ \"${current#-}\" != \"$current\" ] && words='");
	for (const struct plugin_switch *at = plugin_switches; at->name; at++)
		if (at->help)
			strbuf_addf(out, "--%s ", at->name);
	for (unsigned i = 0; i < plugin_key_count; i++)
		for (size_t j = 0; j < ARRAY_SIZE(plugin_keys[i].flags) && plugin_keys[i].flags[j];
		     j++)
			strbuf_addf(out, "--%s ", plugin_keys[i].flags[j]);
	strbuf_adds(out, "';;\n\tesac\n"
			 "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
			 "}\ncomplete -o default -F _gpupoold gpupoold\n");
}
