/* SPDX-License-Identifier: Apache-2.0 */
/* Help, man page and completion of gpupoold from its table. */
#include "model/plugin_keys.h"

#include <string.h>

#define HELP_INDENT 8

static const char *const example[] = {
	"version: v1",
	"flags: {migStrategy: mixed}",
	"sharing:",
	"  timeSlicing:",
	"    resources:",
	"    - {name: nvidia.com/gpu, replicas: 4, devices: [0, 1]}",
	"gpupool:",
	"  cards:",
	"  - {index: 2, mode: slices}",
	"  - {model: \"*T4*\", mode: excluded}",
};

static void print_help_text(const char *text, FILE *out)
{
	fprintf(out, "%*s", HELP_INDENT, "");
	option_print_wrapped(text, strlen(text), HELP_INDENT, HELP_INDENT, out);
	fputc('\n', out);
}

/* "how MIG devices are listed: ...; one of none, single, mixed (default: none)" */
static void describe_key(const struct plugin_key *key, struct strbuf *out)
{
	strbuf_adds(out, key->help);
	if (key->choices) {
		strbuf_adds(out, "; ");
		plugin_add_choices(key->choices, out);
	}
	if (key->fallback && *key->fallback)
		strbuf_addf(out, " (default: %s)", key->fallback);
	if (key->idle)
		strbuf_addf(out, "; no effect: %s", key->idle);
}

/* "file: KEY; environment: NAME, NAME" */
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

static void print_key(const struct plugin_key *key, FILE *out)
{
	autostrbuf text = STRBUF_INIT(4096), sources = STRBUF_INIT(512);

	for (size_t i = 0; i < ARRAY_SIZE(key->flags) && key->flags[i]; i++)
		fprintf(out, "%s--%s", i ? ", " : "  ", key->flags[i]);
	if (!key->flags[0])
		fprintf(out, "  %s", key->path);
	if (key->argument)
		fprintf(out, "%s%s", key->flags[0] ? "=" : ": ", key->argument);
	fputc('\n', out);
	describe_key(key, &text);
	print_help_text(text.data, out);
	describe_sources(key, &sources);
	if (sources.length)
		fprintf(out, "%*s%s\n", HELP_INDENT, "", sources.data);
}

void plugin_print_help(FILE *out)
{
	fputs("Usage: gpupoold [OPTION...]\n\n"
	      "Lists the cards of this node to the kubelet and answers for them: a device "
	      "plugin for Kubernetes.\n"
	      "Command line > environment > file > default. A key without a dash stands in "
	      "the file only.\n\n"
	      "Actions:\n",
	      out);
	for (const struct plugin_switch *at = plugin_switches; at->name; at++) {
		if (!at->help)
			continue;
		if (at->letter)
			fprintf(out, "  -%c, --%s\n", at->letter, at->name);
		else
			fprintf(out, "  --%s\n", at->name);
		print_help_text(at->help, out);
	}
	for (unsigned group = 0; group < GROUP_MAX; group++) {
		fprintf(out, "\n%s:\n", plugin_group_titles[group]);
		for (unsigned i = 0; i < plugin_key_count; i++)
			if (plugin_keys[i].group == group)
				print_key(&plugin_keys[i], out);
	}
	fputs("\nSections of the file:\n", out);
	for (const struct plugin_section *at = plugin_sections; at->path; at++) {
		fprintf(out, "  %s\n", at->path);
		print_help_text(at->help, out);
	}
	fputs("\n'man gpupoold' has an example of the file.\n", out);
}

static void print_man_key(const struct plugin_key *key, FILE *out)
{
	autostrbuf text = STRBUF_INIT(4096), sources = STRBUF_INIT(512);

	for (size_t i = 0; i < ARRAY_SIZE(key->flags) && key->flags[i]; i++) {
		fputs(i ? ", *--" : "*--", out);
		option_print_escaped(key->flags[i], out);
		fputc('*', out);
	}
	if (!key->flags[0]) {
		fputc('*', out);
		option_print_escaped(key->path, out);
		fputc('*', out);
	}
	if (key->argument)
		fprintf(out, " _%s_", key->argument);
	fputs("\n\t", out);
	describe_key(key, &text);
	option_print_escaped(text.data, out);
	describe_sources(key, &sources);
	if (sources.length) {
		fputs("++\n", out);
		option_print_escaped(sources.data, out);
	}
	fputs("\n\n", out);
}

/* "*--check*", and below it what it is. */
static void print_man_entry(const char *lead, const char *name, const char *text, FILE *out)
{
	fprintf(out, "*%s", lead);
	option_print_escaped(name, out);
	fputs("*\n\t", out);
	option_print_escaped(text, out);
	fputs("\n\n", out);
}

static void print_man_options(FILE *out)
{
	for (const struct plugin_switch *at = plugin_switches; at->name; at++)
		if (at->help)
			print_man_entry("--", at->name, at->help, out);
	for (unsigned group = 0; group < GROUP_MAX; group++) {
		fprintf(out, "## %s\n\n", plugin_group_titles[group]);
		for (unsigned i = 0; i < plugin_key_count; i++)
			if (plugin_keys[i].group == group)
				print_man_key(&plugin_keys[i], out);
	}
	fputs("## Sections of the file\n\n", out);
	for (const struct plugin_section *at = plugin_sections; at->path; at++)
		print_man_entry("", at->path, at->help, out);
}

void plugin_print_man(FILE *out)
{
	fputs("gpupoold(8)\n\n# NAME\n\ngpupoold - lists the GPUs of a node to the kubelet\n\n"
	      "# SYNOPSIS\n\n*gpupoold* [_OPTION_...]++\n*gpupoold* --check [--json] "
	      "[_OPTION_...]\n\n"
	      "# DESCRIPTION\n\n"
	      "A device plugin for Kubernetes, with the flags, environment and configuration "
	      "file of NVIDIA's device plugin. The command line is stronger than the "
	      "environment, that than the file, that than the default. The names without "
	      "dashes below stand in the file only.\n\n"
	      "# OPTIONS\n\n",
	      out);
	print_man_options(out);
	fputs("# SIGNALS\n\nSIGHUP reads the configuration again; one that is broken is "
	      "reported, and the last good one stays. SIGTERM ends the daemon; containers go "
	      "on.\n\n"
	      "# EXIT STATUS\n\n0 done, 1 failed or a broken configuration, 2 wrong usage.\n\n"
	      "# EXAMPLE\n\nA file, which *gpupoold --check --config-file* _FILE_ "
	      "explains:\n\n```\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(example); i++)
		fprintf(out, "%s\n", example[i]);
	fputs("```\n\n# SEE ALSO\n\n*gpupool*(1), *gpupool-runtime*(8)\n", out);
}

void plugin_print_completion(FILE *out)
{
	fputs("# bash completion; made from the table of the program\n_gpupoold()\n{\n"
	      "\tlocal current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
	      "words=''\n"
	      "\t[ \"$before\" = '=' ] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
	      "\t[ \"$current\" = '=' ] && before=${COMP_WORDS[COMP_CWORD-1]} current=''\n"
	      "\tcase $before in\n",
	      out);
	for (unsigned i = 0; i < plugin_key_count; i++) {
		const struct plugin_key *key = &plugin_keys[i];

		for (size_t j = 0; key->choices && j < ARRAY_SIZE(key->flags) && key->flags[j];
		     j++) {
			fprintf(out, "\t--%s) words='", key->flags[j]);
			for (const char *at = key->choices; *at; at++)
				fputc(*at == '|' ? ' ' : *at, out);
			fputs("';;\n", out);
		}
	}
	fputs("\t*) [ \"${current#-}\" != \"$current\" ] && words='", out);
	for (const struct plugin_switch *at = plugin_switches; at->name; at++)
		if (at->help)
			fprintf(out, "--%s ", at->name);
	for (unsigned i = 0; i < plugin_key_count; i++)
		for (size_t j = 0; j < ARRAY_SIZE(plugin_keys[i].flags) && plugin_keys[i].flags[j];
		     j++)
			fprintf(out, "--%s ", plugin_keys[i].flags[j]);
	fputs("';;\n\tesac\n"
	      "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
	      "}\ncomplete -o default -F _gpupoold gpupoold\n",
	      out);
}
