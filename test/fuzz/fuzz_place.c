/* SPDX-License-Identifier: Apache-2.0 */
/*
 * {"policy": 0, "nodes": [...], "demands": [...]} with nodes and demands as a log of decisions has
 * them: an error, or a pool that decides on each demand, holds what it decided, explains what it
 * refuses, and is empty again at the end.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "model/model.h"
#include "place/place.h"

#define DEMANDS_MAX 64

static void must(bool truth)
{
	if (!truth)
		abort();
}

static void add_node(struct pool *pool, struct json_object *object)
{
	cleanup(node_spec_release) struct node_spec node, again;
	autojson *written = NULL, *copy = NULL;
	struct error error = ERROR_INIT;

	node_spec_init(&node);
	node_spec_init(&again);
	if (node_spec_from_json(object, &node, &error) < 0) {
		must(error.message[0]);
		return;
	}
	must(node_spec_to_json(&node, &written, NULL) == 0);
	must(node_spec_from_json(written, &again, NULL) == 0);
	must(node_spec_to_json(&again, &copy, NULL) == 0);
	must(json_object_equal(written, copy));
	if (pool_add_node(pool, &node, &error) < 0)
		must(error.message[0]);
}

static uint64_t decide(struct pool *pool, const struct demand *demand)
{
	autostrbuf sentence = STRBUF_INIT(8192);
	struct decision decision;
	struct reason reason = { 0 };
	uint64_t id = 0;
	int r = pool_decide(pool, demand, &decision, &reason);

	if (r == 0) {
		must(decision.node < pool_node_count(pool));
		must(pool_assume(pool, demand, &decision, &id) == 0 && id);
		return id;
	}
	must(r == -EAGAIN || r == -ENOSPC);
	must(reason.code != REASON_NONE && reason_sentence(&reason, &sentence) == 0);
	return 0;
}

static uint64_t one_demand(struct pool *pool, struct json_object *object)
{
	cleanup(demand_release) struct demand demand, again;
	autojson *written = NULL, *copy = NULL;
	struct error error = ERROR_INIT;

	demand_init(&demand);
	demand_init(&again);
	if (demand_from_json(object, &demand, &error) < 0) {
		must(error.message[0]);
		return 0;
	}
	must(demand_to_json(&demand, &written, NULL) == 0);
	must(demand_from_json(written, &again, NULL) == 0);
	must(demand_to_json(&again, &copy, NULL) == 0);
	must(json_object_equal(written, copy));
	return decide(pool, &demand);
}

static void set_policy(struct pool *pool, uint64_t number)
{
	const struct policy_options options = {
		.policy = (enum node_policy)(number % NODE_POLICY_MAX),
		.ties = (enum tie_rule)(number / NODE_POLICY_MAX % TIE_MAX),
		.original_cards = number / NODE_POLICY_MAX / TIE_MAX % 2,
	};

	must(pool_set_policy(pool, &options) == 0);
}

static size_t length_of(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

static void fill(struct pool *pool, struct json_object *all)
{
	struct json_object *nodes = json_get(all, "nodes"), *demands = json_get(all, "demands");
	uint64_t ids[DEMANDS_MAX] = { 0 };

	set_policy(pool, json_get_uint(all, "policy", 0));
	for (size_t i = 0; i < length_of(nodes); i++)
		add_node(pool, json_object_array_get_idx(nodes, i));
	for (size_t i = 0; i < length_of(demands) && i < DEMANDS_MAX; i++)
		ids[i] = one_demand(pool, json_object_array_get_idx(demands, i));
	for (size_t i = 0; i < DEMANDS_MAX; i++)
		if (ids[i])
			must(pool_forget(pool, ids[i]) == 0);
	must(pool_grant_count(pool) == 0);
	for (unsigned i = 0; i < pool_node_count(pool); i++) {
		must(pool_node_used(pool, i).cpu_milli == 0);
		for (unsigned k = 0; k < pool_node_card_count(pool, i); k++)
			must(pool_card_granted(pool, i, k) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = ERROR_INIT;
	autojson *all = NULL;
	autopool *pool = pool_new();

	must(pool != NULL);
	if (json_parse((const char *)data, size, "fuzz", NULL, &all, &error) == 0)
		fill(pool, all);
	return 0;
}
