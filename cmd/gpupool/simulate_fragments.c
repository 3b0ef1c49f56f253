/* SPDX-License-Identifier: Apache-2.0 */
/* Where are stranded memory and compute? */
#include "simulate_question.h"

#include <errno.h>
#include <string.h>

struct simulate_fragments_options {
	struct common_options common;
	struct simulate_inputs inputs;
	struct simulate_question question;
};

static const struct option_row simulate_fragments_rows[] = {
	SIMULATE_QUESTION_ROWS(struct simulate_fragments_options),
	COMMON_ROW_JSON(struct simulate_fragments_options),
	{ .name = NULL },
};

struct fragments_question {
	const struct simulate_fragments_options *options;
	struct trace trace;
	struct run_options run;
	bool arrive;
	struct stranded_report report;
	uint32_t *order; /* owned; nodes, the most fragmented first */
	double read_seconds, seconds;
};

static void fragments_release(struct fragments_question *question)
{
	trace_release(&question->trace);
	stranded_report_release(&question->report);
	free(question->order);
}

static int fragments_run(struct fragments_question *question, struct error *error)
{
	double start = simulate_now();

	int r = stranded_find(&question->trace, &question->run, question->arrive, &question->report,
			      error);
	if (r < 0)
		return r;
	question->seconds = simulate_now() - start;
	autofree double *values = calloc(question->trace.node_count, sizeof(*values));
	for (size_t i = 0; values && i < question->trace.node_count; i++)
		values[i] = question->report.nodes[i].fragment_milli;
	question->order = values ? simulate_order_nodes(&question->trace, values) : NULL;
	return question->order ? 0 : error_no_memory(error);
}

/* What the words of the tables mean: all in GiB or in cards. */
static uint64_t stranded_gib(const struct stranded_share *share)
{
	return share->by_cause[STRANDED_COMPUTE].gib;
}

static double stranded_compute(const struct stranded_share *share)
{
	return (double)share->by_cause[STRANDED_MEMORY].compute / 100;
}

static uint64_t blocked_gib(const struct stranded_share *share)
{
	return share->by_cause[STRANDED_CPU].gib + share->by_cause[STRANDED_HOST_MEMORY].gib +
	       share->by_cause[STRANDED_PODS].gib;
}

static void add_sum(struct columns *columns, const char *words, const struct stranded_sum *sum)
{
	columns_add(columns, words);
	columns_addf(columns, "%zu", sum->cards);
	columns_addf(columns, "%zu", sum->whole);
	columns_addf(columns, "%llu", (unsigned long long)sum->gib);
	columns_addf(columns, "%.1f", (double)sum->compute / 100);
}

static void print_causes(const struct stranded_share *total)
{
	autocolumns columns = COLUMNS_INIT(5);
	static const char *const titles[] = { "WHAT IS FREE", "CARDS", "NOBODY ON THEM", "GIB",
					      "COMPUTE (CARDS)" };

	columns.right = ~1u;
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		columns_add(&columns, titles[i]);
	for (int cause = 0; cause < STRANDED_CAUSE_MAX; cause++)
		if (total->by_cause[cause].cards)
			add_sum(&columns, stranded_cause_words((enum stranded_cause)cause),
				&total->by_cause[cause]);
	add_sum(&columns, "together", &total->free);
	print_columns(&columns, stdout);
}

static const char *const share_titles[] = { "CARDS",   "FREE",     "FREE GIB",     "OF USE",
					    "MEMORY*", "COMPUTE*", "BY THE NODE*", "FGD" };

static void add_share(struct columns *columns, const struct stranded_share *share)
{
	columns_addf(columns, "%zu", share->cards);
	columns_addf(columns, "%zu", share->free.whole);
	columns_addf(columns, "%llu", (unsigned long long)share->free.gib);
	columns_addf(columns, "%llu", (unsigned long long)share->by_cause[STRANDED_NOT].gib);
	columns_addf(columns, "%llu", (unsigned long long)stranded_gib(share));
	columns_addf(columns, "%.1f", stranded_compute(share));
	columns_addf(columns, "%llu", (unsigned long long)blocked_gib(share));
	columns_addf(columns, "%.2f", share->fragment_milli / 1000);
}

static void print_models(const struct fragments_question *question)
{
	autocolumns columns = COLUMNS_INIT(ARRAY_SIZE(share_titles) + 1);
	char model[SIMULATE_MODEL_MAX];

	columns.right = ~1u;
	columns_add(&columns, "MODEL");
	for (size_t i = 0; i < ARRAY_SIZE(share_titles); i++)
		columns_add(&columns, share_titles[i]);
	for (size_t i = 0; i < question->trace.model_count; i++) {
		columns_add(&columns, simulate_model_name(&question->trace, i, model));
		add_share(&columns, &question->report.models[i]);
	}
	columns_add(&columns, "together");
	add_share(&columns, &question->report.total);
	putchar('\n');
	print_columns(&columns, stdout);
}

/* The cause that keeps most of a node's free part from use; STRANDED_NOT: none does. */
static enum stranded_cause main_cause(const struct stranded_share *share)
{
	enum stranded_cause main = STRANDED_NOT;
	double most = 0;

	for (int cause = STRANDED_NOT + 1; cause < STRANDED_CAUSE_MAX; cause++) {
		const struct stranded_sum *sum = &share->by_cause[cause];
		double memory =
			share->gib ? (double)sum->gib * (double)share->cards / (double)share->gib
				   : 0;
		double compute = (double)sum->compute / 100;

		if ((memory > compute ? memory : compute) <= most)
			continue;
		most = memory > compute ? memory : compute;
		main = (enum stranded_cause)cause;
	}
	return main;
}

/* "4 cards free, too little CPU of the node: 0 left" */
static void add_cause(struct columns *columns, const struct stranded_share *share,
		      const struct resources *left)
{
	enum stranded_cause cause = main_cause(share);
	const struct stranded_sum *sum = &share->by_cause[cause];

	if (cause == STRANDED_NOT)
		columns_add(columns, "free for some of the mix only");
	else if (cause == STRANDED_CPU)
		columns_addf(columns, "%zu cards, %s: %g CPUs left", sum->cards,
			     stranded_cause_words(cause), (double)left->cpu_milli / 1000);
	else
		columns_addf(columns, "%zu cards, %s", sum->cards, stranded_cause_words(cause));
}

static void print_nodes(const struct fragments_question *question)
{
	autocolumns columns = COLUMNS_INIT(ARRAY_SIZE(share_titles) + 2);
	size_t shown = 0;

	columns.right = ~1u & ~(1u << (ARRAY_SIZE(share_titles) + 1));
	columns_add(&columns, "NODE");
	for (size_t i = 0; i < ARRAY_SIZE(share_titles); i++)
		columns_add(&columns, share_titles[i]);
	columns_add(&columns, "MOSTLY");
	for (; shown < question->trace.node_count && shown < question->options->question.top;
	     shown++) {
		uint32_t node = question->order[shown];
		const struct stranded_share *share = &question->report.nodes[node];

		if (share->fragment_milli <= 0)
			break;
		columns_add(&columns, question->trace.nodes[node].name);
		add_share(&columns, share);
		add_cause(&columns, share, &question->report.left[node]);
	}
	if (!shown)
		return;
	putchar('\n');
	print_columns(&columns, stdout);
}

static double percent(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static void print_fragments(const struct fragments_question *question)
{
	const struct stranded_share *total = &question->report.total;

	printf("Of %zu cards %.2f %% are allocated; %.2f %% are free and of no use to the mix of "
	       "these Pods.\n\n",
	       total->cards, question->report.before.allocated_percent,
	       percent(total->fragment_milli, (double)total->cards * 1000));
	print_causes(total);
	print_models(question);
	printf("\n* Free and of use to nobody. MEMORY: GiB without compute. COMPUTE: cards without "
	       "memory.\n  BY THE NODE: GiB without CPU, memory or room for Pods. FGD: cards, the "
	       "mean over the mix.\n");
	print_nodes(question);
	simulate_print_running(&question->trace, &question->report.before);
}

/* ---- JSON and CSV ---- */

static int sum_to_json(const struct stranded_sum *sum, struct json_object *object)
{
	if (json_add_uint(object, "cards", sum->cards) < 0 ||
	    json_add_uint(object, "whole_cards", sum->whole) < 0 ||
	    json_add_uint(object, "gib", sum->gib) < 0)
		return -ENOMEM;
	return simulate_add_number(object, "compute_cards", (double)sum->compute / 100, 2);
}

static int share_to_json(const struct stranded_share *share, struct json_object *object)
{
	struct json_object *free = json_object_new_object(), *causes;

	if (json_add(object, "free", free) < 0 || sum_to_json(&share->free, free) < 0)
		return -ENOMEM;
	causes = json_object_new_object();
	if (json_add(object, "free_by_cause", causes) < 0)
		return -ENOMEM;
	for (int cause = 0; cause < STRANDED_CAUSE_MAX; cause++) {
		struct json_object *sum = json_object_new_object();

		if (json_add(causes, stranded_cause_to_string((enum stranded_cause)cause), sum) <
			    0 ||
		    sum_to_json(&share->by_cause[cause], sum) < 0)
			return -ENOMEM;
	}
	if (json_add_uint(object, "cards", share->cards) < 0 ||
	    json_add_uint(object, "gib", share->gib) < 0 ||
	    json_add_uint(object, "stranded_memory_gib", stranded_gib(share)) < 0 ||
	    simulate_add_number(object, "stranded_compute_cards", stranded_compute(share), 2) < 0 ||
	    json_add_uint(object, "blocked_by_node_gib", blocked_gib(share)) < 0)
		return -ENOMEM;
	return simulate_add_number(object, "fragmented_cards", share->fragment_milli / 1000, 3);
}

static int add_shares(const struct fragments_question *question, const char *list, const char *key,
		      struct json_object *object)
{
	bool nodes = strcmp(key, "node") == 0;
	size_t count = nodes ? question->trace.node_count : question->trace.model_count;
	struct json_object *array = json_object_new_array();
	char model[SIMULATE_MODEL_MAX];

	if (json_add(object, list, array) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		uint32_t at = nodes ? question->order[i] : (uint32_t)i;
		struct json_object *item = json_object_new_object();
		const char *name = nodes ? question->trace.nodes[at].name
					 : simulate_model_name(&question->trace, at, model);

		if (json_append(array, item) < 0 || json_add_string(item, key, name) < 0 ||
		    share_to_json(nodes ? &question->report.nodes[at]
					: &question->report.models[at],
				  item) < 0)
			return -ENOMEM;
		if (nodes &&
		    json_add_int(item, "cpu_milli_left", question->report.left[at].cpu_milli) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int print_object(const struct fragments_question *question)
{
	autojson *object = json_object_new_object();
	const struct run_result *before = &question->report.before;
	struct error error = ERROR_INIT;

	if (simulate_add_number(object, "allocated_percent", before->allocated_percent, 4) < 0 ||
	    simulate_add_number(object, "fragmented_percent", before->fragmented_percent, 4) < 0 ||
	    simulate_add_running(&question->trace, before, object) < 0 ||
	    share_to_json(&question->report.total, object) < 0 ||
	    add_shares(question, "models", "model", object) < 0 ||
	    add_shares(question, "nodes", "node", object) < 0 ||
	    simulate_add_number(object, "read_seconds", question->read_seconds, 6) < 0 ||
	    simulate_add_number(object, "seconds", question->seconds, 6) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(object);
}

static void print_csv(const struct fragments_question *question)
{
	printf("node,model,cards,gib,free_cards,free_gib,free_compute_cards,fragmented_cards,"
	       "cpu_milli_left");
	for (int cause = 0; cause < STRANDED_CAUSE_MAX; cause++) {
		const char *name = stranded_cause_to_string((enum stranded_cause)cause);

		printf(",%s_gib,%s_compute_cards", name, name);
	}
	putchar('\n');
	for (size_t i = 0; i < question->trace.node_count; i++) {
		const struct node_spec *node = &question->trace.nodes[i];
		const struct stranded_share *share = &question->report.nodes[i];

		print_text(stdout, "%s,%s,%zu,%llu,%zu,%llu,%.2f,%.3f,%lld", node->name,
			   share->cards ? node->inventory.cards[0].model : "", share->cards,
			   (unsigned long long)share->gib, share->free.whole,
			   (unsigned long long)share->free.gib, (double)share->free.compute / 100,
			   share->fragment_milli / 1000,
			   (long long)question->report.left[i].cpu_milli);
		for (int cause = 0; cause < STRANDED_CAUSE_MAX; cause++)
			printf(",%llu,%.2f", (unsigned long long)share->by_cause[cause].gib,
			       (double)share->by_cause[cause].compute / 100);
		putchar('\n');
	}
}

static int simulate_fragments(void *data, int argc, char **argv)
{
	cleanup(fragments_release) struct fragments_question question = { .options = data };
	const struct simulate_question *asked = &question.options->question;
	struct error error = ERROR_INIT;

	(void)argc;
	(void)argv;
	if (simulate_question_set("sim fragments", &question.options->inputs, asked, &question.run,
				  &question.arrive, &error) < 0)
		return fail(EXIT_USAGE, &error);
	int r = simulate_read_inputs(&question.options->inputs, &question.trace,
				     &question.read_seconds, &error);
	if (r == 0)
		r = fragments_run(&question, &error);
	if (r < 0)
		return fail(EXIT_FAILED, &error);
	if (question.options->common.json)
		return print_object(&question);
	if (asked->csv)
		print_csv(&question);
	else
		print_fragments(&question);
	return EXIT_DONE;
}

const struct command command_sim_fragments = {
	.name = "sim fragments",
	.summary = "say where free memory and compute are that nobody can use",
	.operands = "",
	.description =
		"Pods that run already are held. With --arrival the others arrive first, as 'sim "
		"run' lets them. Each card on which something is free is held against each kind "
		"of Pod of the input; the kind that comes nearest says whether it is of use, and "
		"what it lacks if not: compute (its memory is stranded), memory (its compute is "
		"stranded), other cards beside it, or CPU, memory and room for Pods of the node.\n"
		"\n"
		"The column FGD is the published measure: what is free and of no use to a kind of "
		"Pod, the mean over the most frequent kinds (95 %), in cards.\n"
		"\n" SIMULATE_INPUT_TEXT,
	.examples = "gpupool sim fragments --nodes nodes.csv --pods pods.csv --arrival 100",
	.options = simulate_fragments_rows,
	.run = simulate_fragments,
	.size = sizeof(struct simulate_fragments_options),
};
