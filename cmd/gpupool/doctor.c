/* SPDX-License-Identifier: Apache-2.0 */
/* gpupool doctor: which link is broken, from evidence in files. */
#include "gpupool.h"
#include "doctor_read.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>

enum { DOCTOR_TEXT_MAX = 16 << 20 };

struct doctor_options {
	struct option_list from;
	const char *explain;
	bool json, list;
};

static const struct option_row doctor_rows[] = {
	{ .name = "from",
	  .kind = OPTION_LIST,
	  .argument = "FILE|DIR|-",
	  .help = "evidence: a file, an archive, a folder of them, or - for standard input; can be "
		  "repeated",
	  .offset = offsetof(struct doctor_options, from) },
	{ .name = "json",
	  .kind = OPTION_FLAG,
	  .help = "print one JSON object",
	  .offset = offsetof(struct doctor_options, json) },
	{ .name = "list",
	  .kind = OPTION_FLAG,
	  .help = "print the causes that it knows, and read nothing",
	  .offset = offsetof(struct doctor_options, list) },
	{ .name = "explain",
	  .kind = OPTION_STRING,
	  .argument = "CODE",
	  .help = "print one of these causes: why, what cures it, how it is known",
	  .offset = offsetof(struct doctor_options, explain) },
	{ .name = NULL },
};

/* 1 means that something is broken, so that no verdict at all is 3. */
static int no_verdict(const struct error *error)
{
	return fail(EXIT_RIGHTS, error);
}

/* Prints TEXT, or OBJECT where the caller made one. */
static int print_either(int r, const struct strbuf *text, struct json_object *object)
{
	struct error error = ERROR_INIT;

	if (r < 0) {
		error_set_errno(&error, -r, "cannot print it all");
		return no_verdict(&error);
	}
	if (object && print_json(object) != EXIT_DONE)
		return EXIT_RIGHTS;
	if (!object)
		fputs(text->data, stdout);
	/* finish_output() says so. */
	return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_DONE : EXIT_RIGHTS;
}

static int print_list(const struct doctor_options *options)
{
	autostrbuf text = STRBUF_INIT(DOCTOR_TEXT_MAX);
	autojson *object = NULL;

	int r = options->json ? rule_list_to_json(&object, NULL) : rule_list_to_text(&text);

	return print_either(r, &text, object);
}

static int print_explained(const struct doctor_options *options)
{
	autostrbuf text = STRBUF_INIT(DOCTOR_TEXT_MAX);
	autojson *object = NULL;
	const struct rule *rule = doctor_rule_find(options->explain);

	if (!rule) {
		say("there is no cause %s; gpupool doctor --list has all of them",
		    options->explain);
		return EXIT_USAGE;
	}
	int r = options->json ? rule_to_json(rule, &object, NULL) : rule_to_text(rule, &text);

	return print_either(r, &text, object);
}

/* May the output have marks beyond ASCII? */
static bool is_unicode(void)
{
	setlocale(LC_CTYPE, "");
	bool unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	setlocale(LC_CTYPE, "C");
	return unicode;
}

static int print_verdict(const struct doctor_options *options, const struct verdict *verdict)
{
	autostrbuf text = STRBUF_INIT(DOCTOR_TEXT_MAX);
	autojson *object = NULL;

	int r = options->json ? verdict_to_json(verdict, &object, NULL)
			      : verdict_to_text(verdict, is_unicode(), &text);

	return print_either(r, &text, object);
}

static int judge_evidence(const struct doctor_options *options, struct doctor *doctor, bool whole)
{
	static const enum exit_code codes[] = {
		[DOCTOR_HEALTHY] = EXIT_DONE,
		[DOCTOR_BROKEN] = EXIT_FAILED,
		[DOCTOR_UNKNOWN] = EXIT_RIGHTS,
	};
	struct verdict verdict = { .finding_count = 0 };
	struct error error = ERROR_INIT;

	if (doctor_verdict(doctor, &verdict, &error) < 0)
		return no_verdict(&error);
	enum doctor_outcome outcome = verdict_outcome(&verdict);
	int code = print_verdict(options, &verdict);
	verdict_release(&verdict);
	if (code != EXIT_DONE)
		return code;
	/* What was left out could say otherwise. */
	return outcome == DOCTOR_HEALTHY && !whole ? EXIT_RIGHTS : (int)codes[outcome];
}

/* OPERANDS are evidence, as is what --from names. */
static int read_and_judge(const struct doctor_options *options, size_t operand_count,
			  char **operands)
{
	const struct option_list *from = &options->from;
	struct error error = ERROR_INIT;
	bool whole = true;

	cleanup(doctor_freep) struct doctor *doctor = doctor_new();
	if (!doctor) {
		error_no_memory(&error);
		return no_verdict(&error);
	}
	for (size_t i = 0; i < from->count + operand_count; i++) {
		const char *name = i < from->count ? from->items[i] : operands[i - from->count];
		int r = evidence_read(doctor, name, &whole, &error);

		if (r < 0)
			return fail(r == -ENOENT || r == -ENOTDIR ? EXIT_USAGE : EXIT_RIGHTS,
				    &error);
	}
	return judge_evidence(options, doctor, whole);
}

static int doctor_run(void *data, int argc, char **argv)
{
	const struct doctor_options *options = data;

	if ((options->list || options->explain) && argc) {
		say("doctor reads nothing with --list and --explain, but '%s' was given; remove it",
		    argv[0]);
		return EXIT_USAGE;
	}
	if (options->list)
		return print_list(options);
	if (options->explain)
		return print_explained(options);
	if (options->from.count == 0 && argc == 0) {
		say("doctor needs evidence: say --from FILE, --from DIR, or --from - for what is "
		    "pasted");
		return EXIT_USAGE;
	}
	return read_and_judge(options, (size_t)argc, argv);
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "say which link between driver and Pod is broken, and what cures it",
	.operands = "[FILE|DIR|-...]",
	.description =
		"Reads evidence of any kind and form: what kubectl prints (describe, get, events, "
		"logs; as tables, YAML or JSON), the kernel's log and the journal, the files of "
		"containerd, CRI-O and Docker, CDI specs, nvidia-smi, lists of labels, bug reports "
		"into which all that was pasted, folders of must-gather, and archives (tar, zip, "
		"gzip, xz, bzip2, zstd). Nothing is asked of a machine or cluster. Order, "
		"headings, "
		"wrapped and missing lines do not matter. Secrets are not repeated.\n"
		"\n"
		"An operand is evidence too: gpupool doctor report.txt is gpupool doctor --from "
		"report.txt.\n"
		"\n"
		"The first lines say how each link of the chain is: known to work, suspect, "
		"broken, or unknown. Then come the most probable cause, the lines that say so, and "
		"what cures it. Where several causes remain, all are named with the command that "
		"tells them apart.\n"
		"\n"
		"Exit codes: 0 a link is known to work and nothing was found, 1 something is "
		"broken or slow, 2 wrong usage, 3 the evidence is not enough, or could not be "
		"read.",
	.examples = "kubectl describe pod train | gpupool doctor --from -\n"
		    "gpupool doctor --from must-gather.tar.gz --from dmesg.txt\n"
		    "gpupool doctor --from - --json <report.txt | jq -r '.findings[0].cure[]'\n"
		    "gpupool doctor --explain driver_library_mismatch",
	.options = doctor_rows,
	.run = doctor_run,
	.size = sizeof(struct doctor_options),
};
