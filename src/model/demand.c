/* SPDX-License-Identifier: Apache-2.0 */
#include "model/demand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void demand_init(struct demand *demand)
{
	*demand = (struct demand){ .needs = { .pods = 1 }, .end = INT64_MAX };
}

void demand_borrow_request(const struct request *request, const char *object, struct demand *ret)
{
	demand_init(ret);
	ret->object = (char *)(uintptr_t)object;
	ret->requests = (struct request *)(uintptr_t)request;
	ret->request_count = 1;
}

static void labels_release(struct label *labels, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(labels[i].key);
		free(labels[i].value);
	}
	free(labels);
}

static void terms_release(struct match_term *terms, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < terms[i].count; k++) {
			free(terms[i].items[k].key);
			string_list_release(&terms[i].items[k].values);
		}
		free(terms[i].items);
	}
	free(terms);
}

static void tolerations_release(struct toleration *tolerations, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(tolerations[i].key);
		free(tolerations[i].value);
	}
	free(tolerations);
}

void demand_release(struct demand *demand)
{
	for (size_t i = 0; i < demand->request_count; i++) {
		request_release(&demand->requests[i]);
		if (demand->containers)
			free(demand->containers[i]);
	}
	for (size_t i = 0; i < demand->grant_count; i++)
		grant_release(&demand->grants[i]);
	labels_release(demand->selector, demand->selector_count);
	terms_release(demand->terms, demand->term_count);
	tolerations_release(demand->tolerations, demand->toleration_count);
	free(demand->requests);
	free(demand->containers);
	free(demand->grants);
	free(demand->object);
	free(demand->namespace);
	free(demand->name);
	free(demand->queue);
	free(demand->gang);
	free(demand->gang_domain);
	free(demand->node);
	demand_init(demand);
}

static bool has_value(const struct match *match, const char *value)
{
	for (size_t i = 0; i < match->values.count; i++)
		if (strcmp(match->values.items[i], value) == 0)
			return true;
	return false;
}

/* A whole number, as Gt and Lt compare it. */
static bool whole_number(const char *text, int64_t *ret)
{
	bool negative = *text == '-';
	uint64_t value;

	if (parse_uint(text + negative, 0, INT64_MAX, &value) < 0)
		return false;
	*ret = negative ? -(int64_t)value : (int64_t)value;
	return true;
}

static bool is_greater(const char *left, const char *right)
{
	int64_t a, b;

	return whole_number(left, &a) && whole_number(right, &b) && a > b;
}

static bool matches(const struct match *match, const struct node_spec *node)
{
	const char *value = match->key ? node_spec_label(node, match->key) : node->name;
	bool one = value && match->values.count == 1;

	switch (match->operator) {
	case MATCH_IN:
		return value && has_value(match, value);
	case MATCH_NOT_IN: /* a node without the label, too */
		return !value || !has_value(match, value);
	case MATCH_EXISTS:
		return value;
	case MATCH_DOES_NOT_EXIST:
		return !value;
	case MATCH_GT:
		return one && is_greater(value, match->values.items[0]);
	case MATCH_LT:
		return one && is_greater(match->values.items[0], value);
	case MATCH_OPERATOR_MAX:
	case MATCH_OPERATOR_INVALID:
		break;
	}
	return false;
}

static bool term_matches(const struct match_term *term, const struct node_spec *node)
{
	for (size_t i = 0; i < term->count; i++)
		if (!matches(&term->items[i], node))
			return false;
	return term->count > 0;
}

bool demand_selects_labels(const struct demand *demand, const struct node_spec *node)
{
	for (size_t i = 0; i < demand->selector_count; i++) {
		const char *value = node_spec_label(node, demand->selector[i].key);

		if (!value || strcmp(value, demand->selector[i].value) != 0)
			return false;
	}
	for (size_t i = 0; i < demand->term_count; i++)
		if (term_matches(&demand->terms[i], node))
			return true;
	return demand->term_count == 0;
}

static bool tolerates(const struct toleration *toleration, const struct taint *taint)
{
	if (toleration->effect != TAINT_EFFECT_MAX && toleration->effect != taint->effect)
		return false;
	if (toleration->key && strcmp(toleration->key, taint->key) != 0)
		return false;
	return !toleration->value ||
	       strcmp(toleration->value, taint->value ? taint->value : "") == 0;
}

static bool is_tolerated(const struct demand *demand, const struct taint *taint)
{
	if (taint->effect == TAINT_PREFER_NO_SCHEDULE)
		return true;
	for (size_t i = 0; i < demand->toleration_count; i++)
		if (tolerates(&demand->tolerations[i], taint))
			return true;
	return false;
}

const struct taint *demand_untolerated(const struct demand *demand, const struct node_spec *node)
{
	static const struct taint cordoned = {
		.key = (char *)(uintptr_t) "node.kubernetes.io/unschedulable",
		.effect = TAINT_NO_SCHEDULE,
	};

	if (node->unschedulable && !is_tolerated(demand, &cordoned))
		return &cordoned;
	for (size_t i = 0; i < node->taint_count; i++)
		if (!is_tolerated(demand, &node->taints[i]))
			return &node->taints[i];
	return NULL;
}

bool demand_selects(const struct demand *demand, const struct node_spec *node)
{
	return demand_selects_labels(demand, node) && !demand_untolerated(demand, node);
}
