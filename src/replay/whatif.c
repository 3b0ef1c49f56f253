/* SPDX-License-Identifier: Apache-2.0 */
/* A changed copy of a cluster: nodes removed, added, their cards split or not shared. */
#include "replay/whatif.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SENTENCE_MAX 1024
#define NAMES_MAX    5 /* nodes that a sentence names */

void whatif_release(struct whatif *whatif)
{
	trace_release(&whatif->trace);
	string_list_release(&whatif->sentences);
	arrivals_release(&whatif->displaced);
}

static void builder_release(struct builder *builder)
{
	free(builder->removed);
	free(builder->changed);
	free(builder->shapes);
	free(builder->asks_anew);
	for (size_t i = 0; i < builder->mapping_count; i++)
		free(builder->mappings[i].text);
	free(builder->mappings);
	free(builder->layouts);
	free(builder->splits);
}

int whatif_say(struct builder *builder, struct error *error, const char *format, ...)
{
	char text[SENTENCE_MAX];
	va_list arguments;

	va_start(arguments, format);
	reason_vtext(text, sizeof(text), format, arguments);
	va_end(arguments);
	return string_list_add(&builder->to->sentences, text) < 0 ? error_no_memory(error) : 0;
}

bool whatif_is_model(const char *pattern, const char *model)
{
	const char *known = trace_known_model(pattern);

	return parse_glob(known ? known : pattern, model);
}

/* ---- nodes that are removed ---- */

static bool has_model(const struct node_spec *node, const char *pattern)
{
	for (size_t i = 0; i < node->inventory.card_count; i++)
		if (whatif_is_model(pattern, node->inventory.cards[i].model))
			return true;
	return false;
}

/* "10", "10 of h100" */
static bool is_count(const char *text, uint64_t *ret_count, const char **ret_model)
{
	size_t digits = strspn(text, "0123456789");
	char number[16];

	snprintf(number, sizeof(number), "%.*s", (int)digits, text);
	*ret_model = NULL;
	if (strncmp(text + digits, " of ", 4) == 0)
		*ret_model = text + digits + 4;
	else if (text[digits])
		return false;
	return parse_uint(number, 1, UINT32_MAX, ret_count) == 0;
}

static size_t remove_last(struct builder *builder, uint64_t count, const char *model)
{
	size_t removed = 0;

	for (size_t i = builder->from->node_count; i-- && removed < count;) {
		if (builder->removed[i] || (model && !has_model(&builder->from->nodes[i], model)))
			continue;
		builder->removed[i] = true;
		removed++;
	}
	return removed;
}

static int remove_nodes(struct builder *builder, const char *text, struct error *error)
{
	const char *model = NULL;
	uint64_t count = 0;
	size_t removed = 0;

	if (is_count(text, &count, &model)) {
		removed = remove_last(builder, count, model);
		if (removed < count)
			return error_set(
				error, EINVAL,
				"--remove-nodes %s: there are %zu; write at most that many", text,
				removed);
		return 0;
	}
	for (size_t i = 0; i < builder->from->node_count; i++) {
		if (!parse_glob(text, builder->from->nodes[i].name))
			continue;
		builder->removed[i] = true;
		removed++;
	}
	return removed ? 0
		       : error_set(
				 error, EINVAL,
				 "--remove-nodes %s: no node has such a name; write a pattern such "
				 "as gpu-*, or '10 of h100'",
				 text);
}

static int say_removed(struct builder *builder, struct error *error)
{
	autostrbuf names = STRBUF_INIT(SENTENCE_MAX);
	size_t nodes = 0, cards = 0;

	for (size_t i = 0; i < builder->from->node_count; i++) {
		if (!builder->removed[i])
			continue;
		if (nodes < NAMES_MAX)
			strbuf_addf(&names, "%s%s", nodes ? ", " : "",
				    builder->from->nodes[i].name);
		nodes++;
		cards += builder->from->nodes[i].inventory.card_count;
	}
	if (names.failed == ENOMEM)
		return error_no_memory(error);
	return whatif_say(builder, error, "%zu node%s removed, with %zu card%s: %s%s.", nodes,
			  nodes == 1 ? " is" : "s are", cards, cards == 1 ? "" : "s", names.data,
			  nodes > NAMES_MAX ? " and others" : "");
}

static int choose_removed(struct builder *builder, struct error *error)
{
	const struct whatif_texts *texts = &builder->changes->remove;
	int r = 0;

	builder->removed = calloc(builder->from->node_count, sizeof(*builder->removed));
	builder->changed = calloc(builder->from->node_count, sizeof(*builder->changed));
	if (!builder->removed || !builder->changed)
		return error_no_memory(error);
	for (size_t i = 0; r == 0 && i < texts->count; i++)
		r = remove_nodes(builder, texts->items[i], error);
	return r == 0 && texts->count ? say_removed(builder, error) : r;
}

/* ---- nodes that stay, and nodes that are added ---- */

static void set_modes(const struct builder *builder, struct node_spec *node, size_t *cards)
{
	enum whatif_slices slices = builder->changes->slices;

	for (size_t i = 0; i < node->inventory.card_count; i++) {
		enum card_mode *mode = &node->inventory.cards[i].mode, old = *mode;

		if (slices == WHATIF_SLICES_ON && old == CARD_MODE_WHOLE)
			*mode = CARD_MODE_AUTO;
		if (slices == WHATIF_SLICES_OFF &&
		    (old == CARD_MODE_AUTO || old == CARD_MODE_SLICES))
			*mode = CARD_MODE_WHOLE;
		*cards += *mode != old;
	}
}

static int keep_nodes(struct builder *builder, size_t *cards, struct error *error)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < builder->from->node_count; i++) {
		cleanup(node_spec_release) struct node_spec node;

		node_spec_init(&node);
		if (builder->removed[i])
			continue;
		if (node_spec_copy(&builder->from->nodes[i], &node) < 0)
			return error_no_memory(error);
		set_modes(builder, &node, cards);
		r = whatif_split_cards(builder, &node, &builder->changed[i], error);
		if (r == 0)
			r = trace_add_node(&builder->to->trace, &node, error);
	}
	return r;
}

/* A name that no node has; the cards are named by it. */
static int rename_node(struct builder *builder, struct node_spec *node, size_t number)
{
	const struct map *names = builder->to->trace.node_names;
	char name[32];

	snprintf(name, sizeof(name), "added-%05zu", number);
	while (names && map_get(names, name))
		snprintf(name, sizeof(name), "added-%05zu", ++number);
	free(node->name);
	node->name = strdup(name);
	if (!node->name || node_spec_set_label(node, "kubernetes.io/hostname", name) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < node->inventory.card_count; i++)
		card_make_uuid(&node->inventory.cards[i], name);
	return 0;
}

static int add_nodes(struct builder *builder, const char *text, size_t *number, size_t *cards,
		     size_t *switched, struct error *error)
{
	autotrace added;
	bool changed = false;

	trace_init(&added);
	int r = trace_parse_short(&added, TRACE_ALL, text, strlen(text), "--add-nodes", error);
	if (r == 0 && (added.pod_count || !added.node_count))
		r = error_set(error, EINVAL,
			      "--add-nodes '%.80s' has no nodes, or Pods; write for example '5 "
			      "nodes of 8 h100'",
			      text);
	for (size_t i = 0; r == 0 && i < added.node_count; i++) {
		struct node_spec *node = &added.nodes[i];
		size_t count = node->inventory.card_count;

		if (rename_node(builder, node, ++*number) < 0)
			return error_no_memory(error);
		set_modes(builder, node, switched);
		r = whatif_split_cards(builder, node, &changed, error);
		if (r == 0)
			r = trace_add_node(&builder->to->trace, node, error);
		*cards += count;
	}
	return r;
}

static int add_all_nodes(struct builder *builder, struct error *error)
{
	const struct whatif_texts *texts = &builder->changes->add;
	size_t switched = 0, number = 0;

	int r = keep_nodes(builder, &switched, error);
	for (size_t i = 0; r == 0 && i < texts->count; i++) {
		size_t first = number, cards = 0;

		r = add_nodes(builder, texts->items[i], &number, &cards, &switched, error);
		if (r == 0)
			r = whatif_say(builder, error, "%zu node%s added, with %zu card%s: %s.",
				       number - first, number - first == 1 ? " is" : "s are", cards,
				       cards == 1 ? "" : "s", texts->items[i]);
	}
	if (r < 0 || builder->changes->slices == WHATIF_SLICES_AS_THEY_ARE)
		return r;
	return builder->changes->slices == WHATIF_SLICES_ON
		       ? whatif_say(builder, error,
				    "Cards that were given whole only may be shared: %zu.",
				    switched)
		       : whatif_say(builder, error, "Cards are given whole only now: %zu.",
				    switched);
}

static int build(struct builder *builder, struct error *error)
{
	int r = whatif_read_layouts(builder, error);
	if (r == 0)
		r = choose_removed(builder, error);
	if (r == 0)
		r = add_all_nodes(builder, error);
	if (r == 0)
		r = whatif_say_layouts(builder, error);
	if (r == 0)
		r = whatif_add_pods(builder, error);
	builder->to->trace.timed = builder->from->timed;
	builder->to->trace.listed = builder->from->listed;
	return r < 0 ? r : trace_finish(&builder->to->trace, error);
}

int whatif_make(const struct trace *trace, const struct whatif_changes *changes, struct whatif *ret,
		struct error *error)
{
	cleanup(whatif_release) struct whatif whatif = { .displaced = { .pods = NULL } };
	cleanup(builder_release) struct builder builder = { .from = trace,
							    .changes = changes,
							    .to = &whatif };

	trace_init(&whatif.trace);
	int r = build(&builder, error);
	if (r < 0)
		return r;
	*ret = whatif;
	whatif = (struct whatif){ .displaced = { .pods = NULL } };
	return 0;
}

static int append(struct arrivals *to, const struct arrivals *from)
{
	if (vec_reserve(&to->pods, &to->capacity, to->count + from->count + 1, sizeof(*to->pods)) <
	    0)
		return -ENOMEM;
	if (from->count)
		memcpy(to->pods + to->count, from->pods, from->count * sizeof(*to->pods));
	to->count += from->count;
	return 0;
}

int whatif_arrivals(const struct trace *trace, const struct whatif *whatif,
		    const struct protocol *protocol, struct arrivals *ret_before,
		    struct arrivals *ret_after, struct error *error)
{
	cleanup(arrivals_release) struct arrivals before = { .pods = NULL };
	cleanup(arrivals_release) struct arrivals after = { .pods = NULL };

	int r = arrivals_make(trace, protocol, &before, error);
	if (r < 0)
		return r;
	if (append(&after, &whatif->displaced) < 0 || append(&after, &before) < 0)
		return error_no_memory(error);
	*ret_before = before;
	*ret_after = after;
	before = after = (struct arrivals){ .pods = NULL };
	return 0;
}
