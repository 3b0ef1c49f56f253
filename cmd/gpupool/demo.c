/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole chain on one screen. Every fact about a container is read back from inside it or from
 * the kernel and compared with the grant; one that differs makes the demo fail.
 */
#include "gpupool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "embedded.h"

#define NVIDIA_MAJOR       195 /* Linux devices.txt; 254 and 255 are modeset and control */
#define NVIDIA_CARD_MINORS 254
#define SCREEN_TEXT_MAX    65536

struct demo_options {
	struct common_options common;
};

static const struct option_row demo_rows[] = {
	COMMON_ROW_RUNTIME(struct demo_options),
	COMMON_ROW_DRIVER_ROOT(struct demo_options),
	{ .name = NULL },
};

/* How to add a step: a manifest in docs/examples, its name in meson.build, a row here. */
static const struct {
	const char *file, *title;
} demo_pods[] = {
	{ "two-cards.yaml", "Two whole cards" },
	{ "one-card.yaml", "One whole card" },
	{ "two-slices.yaml", "Two Pods with slices of card memory, at once" },
};

static const struct {
	const char *file, *title;
} demo_refusals[] = {
	{ "half-a-card.yaml", "half a card" },
	{ "no-limits.yaml", "requests without limits" },
	{ "not-equal.yaml", "requests that differ from limits" },
	{ "sixteen-cards.yaml", "16 cards" },
	{ "slice-too-large.yaml", "a slice larger than any card" },
	{ "unknown-model.yaml", "a card model that is not here" },
};

struct demo {
	struct common_options common;
	const char *label; /* "real" or "simulated" */
	unsigned facts, wrong;
};

static void demo_title(const char *title)
{
	printf("\n== %s\n\n", title);
}

static void demo_indent(const char *text, const char *prefix)
{
	while (*text) {
		size_t span = strcspn(text, "\n");

		print_text(stdout, "%s%.*s\n", prefix, (int)span, text);
		text += span + (text[span] == '\n');
	}
}

static void demo_fact(struct demo *demo, bool right, const char *name, const char *value)
{
	demo->facts++;
	demo->wrong += !right;
	print_text(stdout, "    %-9s  %-22s %s%s\n", demo->label, name, value,
		   right ? "" : "   <-- NOT AS GRANTED");
}

/* Whether TEXT says the major and minor of a card, "195:3" at a word's place AFTER bytes in. */
static bool text_is_card(const char *text, const char *lead, unsigned *ret_minor)
{
	char wanted[64];
	char *end;

	snprintf(wanted, sizeof(wanted), "%s%d:", lead, NVIDIA_MAJOR);
	const char *at = strstr(text, wanted);
	if (!at)
		return false;
	unsigned long number = strtoul(at + strlen(wanted), &end, 10);
	if (end == at + strlen(wanted) || number >= NVIDIA_CARD_MINORS)
		return false;
	*ret_minor = (unsigned)number;
	return true;
}

static bool grant_has_minor(const struct local_session *session, const struct grant *grant,
			    unsigned minor)
{
	for (size_t i = 0; i < grant->card_count; i++) {
		const struct card *card = inventory_find(&session->inventory, grant->cards[i].uuid);

		if (card && card->minor == minor)
			return true;
	}
	return false;
}

/* Every card in LIST is granted and every granted card is in LIST. */
static bool cards_as_granted(const struct local_session *session, const struct grant *grant,
			     const struct string_list *list, const char *lead)
{
	size_t count = 0;
	unsigned minor;

	for (size_t i = 0; i < list->count; i++) {
		if (!text_is_card(list->items[i], lead, &minor))
			continue;
		if (!grant_has_minor(session, grant, minor))
			return false;
		count++;
	}
	return count == grant->card_count;
}

/* Whether RULE, "c 195:0 rw", has the major of a node in NODES, "/dev/nvidia0 195:0". */
static bool rule_is_for_nodes(const char *rule, const struct string_list *nodes)
{
	char major[32];
	const char *from = strchr(rule, ' ');
	const char *to = from ? strchr(from, ':') : NULL;

	if (!to)
		return false;
	snprintf(major, sizeof(major), "%.*s:", (int)(to - from), from);
	for (size_t i = 0; i < nodes->count; i++)
		if (strstr(nodes->items[i], major))
			return true;
	return false;
}

/* Every runtime adds rules for null, zero and the like: with NODES only those for them are shown. */
static void demo_list(struct demo *demo, bool right, const char *name,
		      const struct string_list *list, const struct string_list *nodes)
{
	autostrbuf text = STRBUF_INIT(SCREEN_TEXT_MAX);

	for (size_t i = 0; i < list->count; i++)
		if (!nodes || rule_is_for_nodes(list->items[i], nodes))
			strbuf_addf(&text, "%s%s", text.length ? ", " : "", list->items[i]);
	demo_fact(demo, right, name, text.length ? text.data : "none");
}

/* nvidia-smi inside the container: as many UUIDs as cards granted, each of them among these. */
static int demo_look_inside(struct demo *demo, struct local_session *session,
			    const struct local_job *job, struct error *error)
{
	static const char *const argv[] = { "nvidia-smi", "-L", NULL };
	autofree char *text = NULL;
	size_t count = 0, known = 0;
	int status;

	int r = runtime_exec(&session->runtime, job->id, argv, &text, &status, error);
	if (r < 0)
		return r;
	for (const char *at = text; (at = strstr(at, "UUID: GPU-")); at++)
		count++;
	for (size_t i = 0; i < job->grant.card_count; i++)
		known += strstr(text, job->grant.cards[i].uuid) != NULL;
	bool right = WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
		     count == job->grant.card_count && known == count;
	demo_fact(demo, right, "nvidia-smi -L inside", "");
	demo_indent(text, "                 ");
	return 0;
}

static int demo_look_at(struct demo *demo, struct local_session *session,
			const struct local_job *job, struct error *error)
{
	cleanup(local_facts_release) struct local_facts facts = { .uid = 0 };
	autostrbuf rights = STRBUF_INIT(SCREEN_TEXT_MAX);

	int r = local_facts_read(job->pid, &facts, error);
	if (r < 0)
		return r;
	printf("\n  read back from container %s of Pod %s (process %d, cgroup %s):\n",
	       job->container->name, job->pod->name, job->pid, facts.cgroup);
	demo_list(demo, cards_as_granted(session, &job->grant, &facts.nodes, " "), "its /dev",
		  &facts.nodes, NULL);
	bool v2 = facts.rules.count && strstr(facts.rules.items[0], "cgroup v2");
	demo_list(demo, v2 || cards_as_granted(session, &job->grant, &facts.rules, "c "),
		  "device rules (kernel)", &facts.rules, v2 ? NULL : &facts.nodes);
	strbuf_addf(&rights, "user %u, capabilities %s, no_new_privs %s", facts.uid,
		    facts.capabilities, facts.no_new_privileges ? "yes" : "no");
	demo_fact(demo,
		  facts.no_new_privileges && facts.uid == session->caller.uid &&
			  strspn(facts.capabilities, "0") == strlen(facts.capabilities),
		  "rights (kernel)", rights.data);
	return demo_look_inside(demo, session, job, error);
}

static int demo_look(struct local_session *session, void *data, struct error *error)
{
	struct demo *demo = data;

	for (size_t i = 0; i < session->job_count; i++) {
		int r = demo_look_at(demo, session, &session->jobs[i], error);
		if (r < 0)
			return r;
	}
	printf("\n  and their own output:\n\n");
	fflush(stdout);
	return 0;
}

static const char *demo_text(const char *name)
{
	for (const struct embedded_file *file = embedded_files; file->name; file++)
		if (strcmp(file->name, name) == 0)
			return file->text;
	return "";
}

/* The manifests are inside the program, so that the demo needs no file and leaves none. */
static int demo_read(const char *name, struct pod **ret, size_t *ret_count,
		     struct reason *ret_reason, struct error *error)
{
	autoyaml stream = { .name = NULL };
	const char *text = demo_text(name);

	int r = yaml_parse(text, strlen(text), name, &stream, error);
	return r < 0 ? r : pods_from_stream(&stream, ret, ret_count, ret_reason, error);
}

/* Runs one manifest. EXIT_DONE also where this machine is too small for it: the reason is shown. */
static int demo_pod(struct demo *demo, const char *name)
{
	struct pod *pods;
	size_t count;
	struct reason reason = { .code = REASON_NONE };
	struct error error = ERROR_INIT;
	const struct pods_view view = { .plans = true, .look = demo_look, .data = demo };

	printf("$ gpupool apply -f %s\n", name);
	demo_indent(demo_text(name), "    | ");
	putchar('\n');
	fflush(stdout);
	if (demo_read(name, &pods, &count, &reason, &error) < 0)
		return fail(EXIT_FAILED, &error);
	int code = pods_run(&demo->common, pods, count, &view);
	pods_free(pods, count);
	fflush(stdout);
	if (code == EXIT_REFUSED) {
		printf("  (this machine is too small for this Pod: that is its reason)\n");
		return EXIT_DONE;
	}
	return code;
}

static int demo_refusal(struct demo *demo, const char *name, const char *title)
{
	struct pod *pods = NULL;
	size_t count = 0;
	struct reason reason = { .code = REASON_NONE };
	struct error error = ERROR_INIT;
	struct common_options common = demo->common;
	const struct pods_view view = { .plans = false };

	printf("$ gpupool apply -f %s     (%s)\n", name, title);
	fflush(stdout);
	int r = demo_read(name, &pods, &count, &reason, &error);
	if (r < 0 && reason.code != REASON_NONE) {
		fflush(stdout);
		print_reason(&reason, stdout);
		putchar('\n');
		return EXIT_DONE;
	}
	if (r < 0)
		return fail(EXIT_FAILED, &error);
	common.dry_run = true;
	int code = pods_run(&common, pods, count, &view);
	pods_free(pods, count);
	putchar('\n');
	if (code == EXIT_REFUSED || code == EXIT_WAITING)
		return EXIT_DONE;
	say("%s was not refused", name);
	return EXIT_FAILED;
}

static int demo_cards(struct demo *demo)
{
	const struct device_options device = { .driver_root = demo->common.driver_root };
	cleanup(inventory_release) struct inventory inventory;
	struct local_holders holders = { .items = NULL };
	struct reason reason = { .code = REASON_NONE };
	struct error error = ERROR_INIT;

	inventory_init(&inventory);
	if (device_probe(&device, &inventory, &reason, &error) < 0)
		return fail(EXIT_FAILED, &error);
	demo->label = reality(&inventory);
	print_driver(&inventory, stdout);
	if (inventory.problem[0]) {
		print_reason(&reason, stdout);
		return EXIT_RIGHTS;
	}
	print_cards(&inventory, &holders, stdout);
	return EXIT_DONE;
}

static int demo_steps(struct demo *demo)
{
	demo_title("The cards of this machine");
	int code = demo_cards(demo);
	for (size_t i = 0; code == EXIT_DONE && i < ARRAY_SIZE(demo_pods); i++) {
		demo_title(demo_pods[i].title);
		code = demo_pod(demo, demo_pods[i].file);
	}
	if (code == EXIT_DONE)
		demo_title("What is refused, and why");
	for (size_t i = 0; code == EXIT_DONE && i < ARRAY_SIZE(demo_refusals); i++)
		code = demo_refusal(demo, demo_refusals[i].file, demo_refusals[i].title);
	return code;
}

static int demo_run(void *data, int argc, char **argv)
{
	const struct demo_options *options = data;
	struct demo demo = { .common = options->common };

	(void)argv;
	(void)argc;
	int code = demo_steps(&demo);
	if (code != EXIT_DONE)
		return code;
	printf("%u facts read back (%s), %u not as granted\n", demo.facts, demo.label, demo.wrong);
	return demo.wrong || !demo.facts ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_demo = {
	.name = "demo",
	.summary = "show the whole chain: cards, Pods, grants, plans, containers, refusals",
	.operands = "",
	.description =
		"Runs the Pods of the field's own guides and reads back from each container and "
		"from "
		"the kernel what it really got. Fails if anything differs from the grant. Where "
		"containers cannot be made it stops after the plan, names the missing right and "
		"exits with 3.",
	.examples = "sudo gpupool demo",
	.options = demo_rows,
	.run = demo_run,
	.size = sizeof(struct demo_options),
};
