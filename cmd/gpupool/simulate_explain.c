/* SPDX-License-Identifier: Apache-2.0 */
/* Why does this Pod get a place, or none? */
#include "simulate_question.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct simulate_explain_options {
	struct common_options common;
	struct simulate_inputs inputs;
	struct simulate_question question;
	struct simulate_asked asked;
	bool per_node, per_card;
};

static const struct option_row simulate_explain_rows[] = {
	SIMULATE_QUESTION_ROWS(struct simulate_explain_options),
	SIMULATE_ASKED_ROWS(struct simulate_explain_options),
	{ .name = "per-node",
	  .kind = OPTION_FLAG,
	  .help = "a table of the nodes, those that fit first",
	  .offset = offsetof(struct simulate_explain_options, per_node) },
	{ .name = "per-card",
	  .kind = OPTION_FLAG,
	  .help = "a table of the cards of those nodes",
	  .offset = offsetof(struct simulate_explain_options, per_card) },
	COMMON_ROW_JSON(struct simulate_explain_options),
	{ .name = NULL },
};

struct explain {
	struct simulate_explain_options *options;
	struct trace trace;
	struct run_options run;
	bool arrive;
	struct snapshot *snapshot; /* owned */
	struct pool *pool;
	struct explanation explanation;
	uint32_t *order; /* owned; nodes, by rank, then the nearest classes to the deepest */
	double read_seconds, seconds;
};

static void explain_release(struct explain *explain)
{
	explanation_release(&explain->explanation);
	snapshot_free(explain->snapshot);
	trace_release(&explain->trace);
	simulate_asked_release(&explain->options->asked);
	free(explain->order);
}

static const struct demand *asked_demand(const struct explain *explain)
{
	return &explain->options->asked.demand;
}

static int by_rank(const void *left, const void *right, void *data)
{
	const struct explained_node *nodes = data;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	size_t rank_a = nodes[a].rank ? nodes[a].rank : SIZE_MAX;
	size_t rank_b = nodes[b].rank ? nodes[b].rank : SIZE_MAX;

	if (rank_a != rank_b)
		return rank_a < rank_b ? -1 : 1;
	if (nodes[a].serving != nodes[b].serving)
		return nodes[a].serving > nodes[b].serving ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int explain_set(struct explain *explain, struct error *error)
{
	struct simulate_explain_options *options = explain->options;

	int r = simulate_question_set("sim explain", &options->inputs, &options->question,
				      &explain->run, &explain->arrive, error);
	return r < 0 ? r : simulate_asked_check("sim explain", &options->asked, error);
}

static int explain_run(struct explain *explain, struct error *error)
{
	const struct simulate_asked *asked = &explain->options->asked;
	struct explanation *explanation = &explain->explanation;
	double start = simulate_now();

	int r = snapshot_take(&explain->trace, &explain->run, explain->arrive,
			      asked->pod ? &asked->number : NULL, &explain->snapshot, error);
	if (r < 0)
		return r;
	explain->pool = snapshot_pool(explain->snapshot);
	if (pool_explain(explain->pool, &asked->demand, explanation) < 0)
		return error_no_memory(error);
	explain->order = calloc(explanation->node_count + 1, sizeof(*explain->order));
	if (!explain->order)
		return error_no_memory(error);
	for (uint32_t i = 0; i < explanation->node_count; i++)
		explain->order[i] = i;
	qsort_r(explain->order, explanation->node_count, sizeof(*explain->order), by_rank,
		explanation->nodes);
	explain->seconds = simulate_now() - start;
	return 0;
}

/* REASON_NONE when it fits there. */
static void node_reason(const struct explain *explain, unsigned node, struct reason *ret)
{
	struct decision decision;

	*ret = (struct reason){ .code = REASON_NONE };
	(void)pool_decide_on(explain->pool, node, asked_demand(explain), &decision, ret);
}

static void card_reason(const struct explain *explain, unsigned node, unsigned card,
			struct reason *ret)
{
	*ret = (struct reason){ .code = REASON_NONE };
	(void)pool_explain_card(explain->pool, asked_demand(explain), node, card, ret);
}

/* ---- for people ---- */

static void print_chosen(const struct explain *explain)
{
	const struct explanation *explanation = &explain->explanation;
	const struct decision *decision = &explanation->decision;
	const struct explained_node *chosen = &explanation->nodes[decision->node];
	size_t fit = explanation->classes[REASON_NONE].nodes;
	autostrbuf text = STRBUF_INIT(8192);

	strbuf_addf(&text, "%s gets node %s", explain->options->asked.text,
		    pool_node_name(explain->pool, decision->node));
	for (unsigned i = 0; i < decision->count; i++)
		for (unsigned k = 0; k < decision->placements[i].count; k++)
			strbuf_addf(&text, "%s%u",
				    k    ? ", "
				    : !i ? decision->placements[i].count > 1 ? ", cards "
									     : ", card "
					 : "; ",
				    decision->placements[i].cards[k]);
	strbuf_addf(&text, ". By policy %s it is worth %" PRId64, explanation->policy,
		    chosen->value);
	if (fit == 1)
		strbuf_adds(&text, "; no other node fits.\n");
	else if (explanation->alike == 1)
		strbuf_addf(&text, ", the most of the %zu nodes that fit.\n", fit);
	else
		strbuf_addf(&text, ", the most of the %zu nodes that fit; %zu are alike%s%s.\n",
			    fit, explanation->alike, ", and it is chosen by ",
			    tie_rule_to_string(explanation->ties));
	print_text(stdout, "%s", text.data);
}

static void print_verdict(const struct explain *explain)
{
	const struct explanation *explanation = &explain->explanation;
	autostrbuf asked = STRBUF_INIT(4096), sentence = STRBUF_INIT(4096);
	autostrbuf summary = STRBUF_INIT(16384);

	simulate_asked_describe(&explain->options->asked, &asked);
	print_text(stdout, "%s asks for %s: %s.\n", explain->options->asked.text, asked.data,
		   explanation->result == 0         ? "it fits"
		   : explanation->result == -EAGAIN ? "it does not fit now"
						    : "it can never fit here");
	explanation_summarize(explanation, &summary);
	print_text(stdout, "%s\n", summary.data);
	if (explanation->result == 0) {
		print_chosen(explain);
		return;
	}
	(void)reason_sentence(&explanation->reason, &sentence);
	print_text(stdout, "%s\n", sentence.data);
}

/* Codes that were counted, most nodes first, then most cards; returns how many. */
static size_t order_codes(const struct explanation *explanation, enum reason_code *ret)
{
	size_t count = 0;

	for (int code = REASON_NONE + 1; code < REASON_CODE_MAX; code++) {
		const struct explained_class *class = &explanation->classes[code];
		size_t at = count;

		if (!class->nodes && !class->cards)
			continue;
		for (; at > 0; at--) {
			const struct explained_class *before = &explanation->classes[ret[at - 1]];

			if (before->nodes > class->nodes ||
			    (before->nodes == class->nodes && before->cards >= class->cards))
				break;
			ret[at] = ret[at - 1];
		}
		ret[at] = (enum reason_code)code;
		count++;
	}
	return count;
}

static void add_count(struct columns *columns, const char *words, size_t nodes, size_t cards,
		      bool of_cards)
{
	columns_add(columns, words);
	columns_addf(columns, "%zu", nodes);
	if (of_cards)
		columns_addf(columns, "%zu", cards);
}

static void print_classes(const struct explain *explain)
{
	const struct explanation *explanation = &explain->explanation;
	enum reason_code codes[REASON_CODE_MAX];
	size_t count = order_codes(explanation, codes);
	bool cards = asked_demand(explain)->request_count == 1;
	autocolumns columns = COLUMNS_INIT(cards ? 3 : 2);

	columns.right = ~1u;
	columns_add(&columns, "WHY");
	columns_add(&columns, "NODES");
	if (cards)
		columns_add(&columns, "CARDS");
	add_count(&columns, "fits", explanation->classes[REASON_NONE].nodes,
		  explanation->classes[REASON_NONE].cards, cards);
	if (cards)
		add_count(&columns, "would serve, but its node does not fit", 0,
			  explanation->kept_cards, cards);
	for (size_t i = 0; i < count; i++)
		add_count(&columns, reason_class(codes[i]), explanation->classes[codes[i]].nodes,
			  explanation->classes[codes[i]].cards, cards);
	add_count(&columns, "all", explanation->node_count, explanation->card_count, cards);
	putchar('\n');
	print_columns(&columns, stdout);
	if (count)
		printf("\nFor example:\n");
	for (size_t i = 0; i < count; i++) {
		const struct explained_class *class = &explanation->classes[codes[i]];
		autostrbuf sentence = STRBUF_INIT(4096);
		struct reason reason;

		if (class->nodes)
			node_reason(explain, class->node, &reason);
		else
			card_reason(explain, class->card_node, class->card_position, &reason);
		(void)reason_sentence(&reason, &sentence);
		print_text(stdout, "  %s\n", sentence.data);
	}
}

/* WORDS: when there is none. */
static void add_reason_cells(struct columns *columns, const struct reason *reason,
			     const char *words)
{
	if (reason->code == REASON_NONE) {
		columns_add(columns, words);
		for (int i = 0; i < 3; i++)
			columns_add(columns, "-");
		return;
	}
	columns_add(columns, reason_class(reason->code));
	columns_addf(columns, "%" PRId64, reason->wanted);
	columns_addf(columns, "%" PRId64, reason->have);
	columns_addf(columns, "%" PRId64, reason->total);
}

static size_t shown_nodes(const struct explain *explain)
{
	size_t count = explain->explanation.node_count, top = explain->options->question.top;

	return count < top ? count : top;
}

static void print_rest(const struct explain *explain)
{
	size_t rest = explain->explanation.node_count - shown_nodes(explain);

	if (rest)
		printf("and %zu more node%s; --top %zu shows all\n", rest, rest == 1 ? "" : "s",
		       explain->explanation.node_count);
}

static void print_node_table(const struct explain *explain)
{
	const struct explanation *explanation = &explain->explanation;
	autocolumns columns = COLUMNS_INIT(8);

	columns.right = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 5 | 1u << 6 | 1u << 7;
	for (size_t i = 0; i < 8; i++)
		columns_add(&columns, (const char *const[]){ "NODE", "RANK", "VALUE", "SERVE",
							     "WHY", "WANTED", "HAVE", "OF" }[i]);
	for (size_t i = 0; i < shown_nodes(explain); i++) {
		uint32_t number = explain->order[i];
		const struct explained_node *node = &explanation->nodes[number];
		struct reason reason;

		columns_add(&columns, pool_node_name(explain->pool, number));
		if (node->rank) {
			columns_addf(&columns, "%zu", node->rank);
			columns_addf(&columns, "%" PRId64, node->value);
		} else {
			columns_add(&columns, "-");
			columns_add(&columns, "-");
		}
		columns_addf(&columns, "%u", node->serving);
		node_reason(explain, number, &reason);
		add_reason_cells(&columns, &reason, "fits");
	}
	putchar('\n');
	print_columns(&columns, stdout);
	print_rest(explain);
}

static void print_card_table(const struct explain *explain)
{
	autocolumns columns = COLUMNS_INIT(7);

	columns.right = 1u << 1 | 1u << 4 | 1u << 5 | 1u << 6;
	for (size_t i = 0; i < 7; i++)
		columns_add(&columns, (const char *const[]){ "NODE", "CARD", "MODEL", "WHY",
							     "WANTED", "HAVE", "OF" }[i]);
	for (size_t i = 0; i < shown_nodes(explain); i++) {
		uint32_t node = explain->order[i];

		for (unsigned k = 0; k < pool_node_card_count(explain->pool, node); k++) {
			struct reason reason;

			columns_add(&columns, pool_node_name(explain->pool, node));
			columns_addf(&columns, "%u", k);
			columns_add(&columns, pool_card(explain->pool, node, k)->model);
			card_reason(explain, node, k, &reason);
			add_reason_cells(&columns, &reason, "serves");
		}
	}
	putchar('\n');
	print_columns(&columns, stdout);
	print_rest(explain);
}

static void print_explanation(const struct explain *explain)
{
	const struct run_result *result = snapshot_result(explain->snapshot);

	print_verdict(explain);
	print_classes(explain);
	if (explain->options->per_node)
		print_node_table(explain);
	if (explain->options->per_card && asked_demand(explain)->request_count == 1)
		print_card_table(explain);
	if (explain->arrive)
		printf("\n%zu Pods arrived before it, %zu of them found no place; %.2f %% of the "
		       "cards are "
		       "allocated.\n",
		       result->placed + result->failed, result->failed, result->allocated_percent);
	simulate_print_running(&explain->trace, result);
}

/* ---- for programs ---- */

static void print_csv(const struct explain *explain)
{
	const struct explanation *explanation = &explain->explanation;
	bool cards = explain->options->per_card && asked_demand(explain)->request_count == 1;

	printf(cards ? "node,card,uuid,code,wanted,have,total\n"
		     : "node,rank,value,cards_serving,code,wanted,have,total\n");
	for (size_t i = 0; i < explanation->node_count; i++) {
		uint32_t number = explain->order[i];
		const struct explained_node *node = &explanation->nodes[number];
		const char *name = pool_node_name(explain->pool, number);
		struct reason reason;

		if (!cards) {
			node_reason(explain, number, &reason);
			print_text(stdout,
				   "%s,%zu,%" PRId64 ",%u,%s,%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
				   name, node->rank, node->value, node->serving,
				   reason_name(reason.code), reason.wanted, reason.have,
				   reason.total);
		}
		for (unsigned k = 0; cards && k < pool_node_card_count(explain->pool, number);
		     k++) {
			card_reason(explain, number, k, &reason);
			print_text(stdout, "%s,%u,%s,%s,%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
				   name, k, pool_card(explain->pool, number, k)->uuid,
				   reason_name(reason.code), reason.wanted, reason.have,
				   reason.total);
		}
	}
}

/* What a reason adds to a node or card; nothing when it fits. */
static int add_reason(const struct reason *reason, struct json_object *object)
{
	autostrbuf sentence = STRBUF_INIT(4096);

	if (reason->code == REASON_NONE)
		return 0;
	if (reason_sentence(reason, &sentence) < 0 ||
	    json_add_string(object, "code", reason_name(reason->code)) < 0 ||
	    json_add_string(object, "class", reason_class(reason->code)) < 0 ||
	    json_add_int(object, "wanted", reason->wanted) < 0 ||
	    json_add_int(object, "have", reason->have) < 0 ||
	    json_add_int(object, "total", reason->total) < 0)
		return -ENOMEM;
	return json_add_string(object, "sentence", sentence.data);
}

static int add_cards(const struct explain *explain, unsigned node, struct json_object *object)
{
	struct json_object *cards = json_object_new_array();
	int r = json_add(object, "cards", cards);

	for (unsigned k = 0; r == 0 && k < pool_node_card_count(explain->pool, node); k++) {
		struct json_object *card = json_object_new_object();
		struct reason reason;

		card_reason(explain, node, k, &reason);
		if (json_append(cards, card) < 0 || json_add_uint(card, "card", k) < 0 ||
		    json_add_string(card, "uuid", pool_card(explain->pool, node, k)->uuid) < 0 ||
		    json_add_bool(card, "serves", reason.code == REASON_NONE) < 0)
			return -ENOMEM;
		r = add_reason(&reason, card);
	}
	return r;
}

static int add_nodes(const struct explain *explain, struct json_object *object)
{
	const struct explanation *explanation = &explain->explanation;
	struct json_object *nodes = json_object_new_array();
	int r = json_add(object, "nodes", nodes);

	for (size_t i = 0; r == 0 && i < explanation->node_count; i++) {
		uint32_t number = explain->order[i];
		const struct explained_node *said = &explanation->nodes[number];
		struct json_object *node = json_object_new_object();
		struct reason reason;

		if (json_append(nodes, node) < 0 ||
		    json_add_string(node, "node", pool_node_name(explain->pool, number)) < 0 ||
		    json_add_bool(node, "fits", said->rank != 0) < 0 ||
		    json_add_uint(node, "cards_serving", said->serving) < 0)
			return -ENOMEM;
		if (said->rank && (json_add_uint(node, "rank", said->rank) < 0 ||
				   json_add_int(node, "value", said->value) < 0 ||
				   json_add_int(node, "tie", said->tie) < 0))
			return -ENOMEM;
		node_reason(explain, number, &reason);
		r = add_reason(&reason, node);
		if (r == 0 && asked_demand(explain)->request_count == 1)
			r = add_cards(explain, number, node);
	}
	return r;
}

static int add_classes(const struct explain *explain, struct json_object *object)
{
	const struct explanation *explanation = &explain->explanation;
	struct json_object *classes = json_object_new_array();
	enum reason_code codes[REASON_CODE_MAX];
	size_t count = order_codes(explanation, codes);
	int r = json_add(object, "classes", classes);

	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct explained_class *class = &explanation->classes[codes[i]];
		struct json_object *item = json_object_new_object();

		if (json_append(classes, item) < 0 ||
		    json_add_string(item, "code", reason_name(codes[i])) < 0 ||
		    json_add_string(item, "class", reason_class(codes[i])) < 0 ||
		    json_add_uint(item, "nodes", class->nodes) < 0)
			return -ENOMEM;
		r = json_add_uint(item, "cards", class->cards);
	}
	return r;
}

static int add_totals(const struct explanation *explanation, struct json_object *object)
{
	const struct {
		const char *key;
		size_t count;
	} rows[] = {
		{ "node_count", explanation->node_count },
		{ "nodes_that_fit", explanation->classes[REASON_NONE].nodes },
		{ "card_count", explanation->card_count },
		{ "cards_that_serve", explanation->classes[REASON_NONE].cards },
		{ "cards_kept_by_their_node", explanation->kept_cards },
		{ "nodes_alike", explanation->alike },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rows); i++)
		r = json_add_uint(object, rows[i].key, rows[i].count);
	return r;
}

static int add_decision(const struct explain *explain, struct json_object *object)
{
	const struct explanation *explanation = &explain->explanation;
	const struct decision *decision = &explanation->decision;
	struct json_object *reason = NULL, *cards = NULL;
	struct error error = ERROR_INIT;

	if (explanation->result < 0) {
		int r = reason_to_json(&explanation->reason, &reason, &error);
		return r < 0 ? r : json_add(object, "reason", reason);
	}
	cards = json_object_new_array();
	if (json_add(object, "chosen_cards", cards) < 0 ||
	    json_add_string(object, "chosen_node", pool_node_name(explain->pool, decision->node)) <
		    0)
		return -ENOMEM;
	for (unsigned i = 0; i < decision->count; i++)
		for (unsigned k = 0; k < decision->placements[i].count; k++)
			if (json_append(cards, json_object_new_int64(
						       decision->placements[i].cards[k])) < 0)
				return -ENOMEM;
	return 0;
}

static const char *verdict_of(const struct explanation *explanation)
{
	return explanation->result == 0         ? "fits"
	       : explanation->result == -EAGAIN ? "waits"
						: "never";
}

static int add_question(const struct explain *explain, struct json_object *object)
{
	const struct explanation *explanation = &explain->explanation;
	autostrbuf asked = STRBUF_INIT(4096), summary = STRBUF_INIT(16384);

	simulate_asked_describe(&explain->options->asked, &asked);
	explanation_summarize(explanation, &summary);
	if (strbuf_failed(&asked) < 0 || strbuf_failed(&summary) < 0 ||
	    json_add_string(object, "pod", explain->options->asked.text) < 0 ||
	    json_add_string(object, "asked", asked.data) < 0 ||
	    json_add_string(object, "verdict", verdict_of(explanation)) < 0 ||
	    json_add_string(object, "summary", summary.data) < 0 ||
	    (explanation->policy && json_add_string(object, "policy", explanation->policy) < 0))
		return -ENOMEM;
	return json_add_string(object, "ties", tie_rule_to_string(explanation->ties));
}

static int add_before(const struct explain *explain, struct json_object *object)
{
	const struct run_result *result = snapshot_result(explain->snapshot);

	if (json_add_uint(object, "pods_placed_before", result->placed) < 0 ||
	    json_add_uint(object, "pods_failed_before", result->failed) < 0 ||
	    simulate_add_number(object, "allocated_percent_before", result->allocated_percent, 4) <
		    0)
		return -ENOMEM;
	return simulate_add_running(&explain->trace, result, object);
}

static int explain_to_json(const struct explain *explain, struct json_object *object)
{
	if (add_question(explain, object) < 0 || add_decision(explain, object) < 0 ||
	    add_totals(&explain->explanation, object) < 0 || add_classes(explain, object) < 0 ||
	    add_nodes(explain, object) < 0 || add_before(explain, object) < 0 ||
	    simulate_add_number(object, "read_seconds", explain->read_seconds, 6) < 0)
		return -ENOMEM;
	return simulate_add_number(object, "seconds", explain->seconds, 6);
}

static int print_object(const struct explain *explain)
{
	autojson *object = json_object_new_object();
	struct error error = ERROR_INIT;

	if (explain_to_json(explain, object) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(object);
}

static int simulate_explain(void *data, int argc, char **argv)
{
	cleanup(explain_release) struct explain explain = { .options = data };
	struct error error = ERROR_INIT;
	int code = EXIT_DONE;

	(void)argc;
	(void)argv;
	if (explain_set(&explain, &error) < 0)
		return fail(EXIT_USAGE, &error);
	int r = simulate_read_inputs(&explain.options->inputs, &explain.trace,
				     &explain.read_seconds, &error);
	if (r == 0)
		r = simulate_asked_choose(&explain.options->asked, &explain.trace, &error);
	if (r == 0)
		r = explain_run(&explain, &error);
	if (r < 0)
		return fail(EXIT_FAILED, &error);
	if (explain.options->common.json)
		code = print_object(&explain);
	else if (explain.options->question.csv)
		print_csv(&explain);
	else
		print_explanation(&explain);
	if (code != EXIT_DONE || explain.explanation.result == 0)
		return code;
	return explain.explanation.result == -EAGAIN ? EXIT_WAITING : EXIT_REFUSED;
}

const struct command command_sim_explain = {
	.name = "sim explain",
	.summary = "say why a Pod gets its place, or none: each node and each card counted",
	.operands = "",
	.description =
		"Pods that run already are held. With --arrival others arrive first: all of them, "
		"or "
		"with --pod those who come before that Pod. Then each node says whether the Pod "
		"fits "
		"and what it is worth, or the first thing that it lacks; each card says whether it "
		"could serve, whatever its node lacks beside. Each is counted once, so that the "
		"counts add up to all nodes and all cards. The examples are of the nodes that are "
		"nearest to a fit.\n"
		"\n"
		"With --csv rows are nodes, with --per-card cards. The exit code is 0 when it "
		"fits, 5 "
		"when it does not fit now, 4 when it never can.\n"
		"\n" SIMULATE_INPUT_TEXT,
	.examples = "gpupool sim explain --cluster cluster.json --pod default/train --per-node\n"
		    "gpupool sim explain --nodes nodes.csv --pods pods.csv --arrival 100 --ask '2 "
		    "cards'",
	.options = simulate_explain_rows,
	.run = simulate_explain,
	.size = sizeof(struct simulate_explain_options),
};
