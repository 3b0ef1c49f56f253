/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log is played against a new pool that records as well: what it writes must be what was read.
 * So there is one form of every answer, and nothing can be forgotten in the comparison.
 */
#include "recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE_MAX ((size_t)16 << 20)
#define CPU_MAX       (INT64_MAX >> 24) /* 1/1000 of a CPU; scores are products of it */
#define GANG_MAX      4096              /* Pods; a decision has some KiB */

struct playback {
	char *source;            /* owned */
	unsigned long line;      /* the one at hand, from 1 */
	struct pool *pool;       /* owned */
	struct demand **demands; /* owned; they stay where they are */
	size_t demand_count, demand_capacity;
	uint64_t *grants; /* owned; the log's number - 1 to the pool's */
	size_t grant_count, grant_capacity;
	struct strbuf recorded, now; /* owned; the line at hand, and as it comes out */
	bool ended, differs;
};

static int take_line(void *data, const char *line, size_t length)
{
	struct playback *playback = data;

	strbuf_add(&playback->now, line, length);
	return strbuf_failed(&playback->now);
}

struct playback *playback_new(const char *source)
{
	struct playback *playback = calloc(1, sizeof(*playback));

	if (!playback)
		return NULL;
	playback->recorded = (struct strbuf)STRBUF_INIT(LINE_SIZE_MAX);
	playback->now = (struct strbuf)STRBUF_INIT(2 * LINE_SIZE_MAX);
	playback->source = strdup(source);
	playback->pool = pool_new();
	if (playback->source && playback->pool &&
	    pool_start_record(playback->pool, take_line, playback) == 0)
		return playback;
	playback_free(playback);
	return NULL;
}

void playback_free(struct playback *playback)
{
	if (!playback)
		return;
	pool_free(playback->pool);
	for (size_t i = 0; i < playback->demand_count; i++) {
		demand_release(playback->demands[i]);
		free(playback->demands[i]);
	}
	free(playback->demands);
	free(playback->grants);
	strbuf_release(&playback->recorded);
	strbuf_release(&playback->now);
	free(playback->source);
	free(playback);
}

static int bad(const struct playback *playback, struct error *error, const char *what)
{
	return error_set(error, EINVAL, "%s:%lu: %s; record the run again", playback->source,
			 playback->line, what);
}

/* What another reader had to say, with the place. */
static int bad_part(const struct playback *playback, int r, struct error *error)
{
	if (r < 0 && r != -ENOMEM)
		error_wrap(error, "%s:%lu", playback->source, playback->line);
	return r;
}

static bool read_uint(struct json_object *event, const char *key, uint64_t maximum, uint64_t *ret)
{
	struct json_object *value = json_get(event, key);

	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0 ||
	    json_object_get_uint64(value) > maximum)
		return false;
	*ret = json_object_get_uint64(value);
	return true;
}

static bool read_bool(struct json_object *event, const char *key, bool *ret)
{
	struct json_object *value = json_get(event, key);

	*ret = json_object_get_boolean(value);
	return json_object_is_type(value, json_type_boolean);
}

static int play_title(struct playback *playback, struct json_object *event, struct error *error)
{
	struct json_object *version = json_get(event, "version");

	if (strcmp(json_get_string(event, "format", ""), RECORD_FORMAT) != 0)
		return error_set(error, EINVAL,
				 "%s:1: this is no log of decisions; give a file that gpupool sim "
				 "run --record wrote",
				 playback->source);
	if (!json_object_is_type(version, json_type_int))
		return bad(playback, error, "the log has no version");
	if (json_object_get_int64(version) != RECORD_VERSION)
		return error_set(error, EINVAL,
				 "%s:1: the log has version %.32s, and this program reads version "
				 "%d; record the run again with this program",
				 playback->source, json_object_to_json_string(version),
				 RECORD_VERSION);
	return 0;
}

static int play_policy(struct playback *playback, struct json_object *event, struct error *error)
{
	struct policy_options options = {
		.policy = node_policy_from_string(json_get_string(event, "policy", "")),
		.ties = tie_rule_from_string(json_get_string(event, "ties", "")),
	};

	if (!read_uint(event, "seed", UINT64_MAX, &options.seed) ||
	    !read_bool(event, "originalCards", &options.original_cards) ||
	    !read_bool(event, "originalClasses", &options.original_classes) ||
	    pool_set_policy(playback->pool, &options) < 0)
		return bad(playback, error, "the policy is none that this program knows");
	return 0;
}

static int play_withhold(struct playback *playback, struct json_object *event, struct error *error)
{
	enum request_kind kind = request_kind_from_string(json_get_string(event, "kind", ""));

	if ((int)kind < 0)
		return bad(playback, error, "the kind of request is unknown");
	pool_withhold(playback->pool, kind);
	return 0;
}

static int play_node(struct playback *playback, struct json_object *event, struct error *error)
{
	cleanup(node_spec_release) struct node_spec node;
	int r;

	node_spec_init(&node);
	r = node_spec_from_json(json_get(event, "node"), &node, error);
	if (r == 0)
		r = pool_add_node(playback->pool, &node, error);
	return bad_part(playback, r, error);
}

static int play_demand(struct playback *playback, struct json_object *event, struct error *error)
{
	autofree struct demand *demand = calloc(1, sizeof(*demand));
	struct demand **slot;
	uint64_t number;
	int r;

	if (!demand)
		return error_no_memory(error);
	if (!read_uint(event, "demand", UINT32_MAX, &number) || number != playback->demand_count)
		return bad(playback, error, "demands are numbered from 0, one after the other");
	demand_init(demand);
	r = demand_from_json(json_get(event, "asks"), demand, error);
	if (r < 0)
		return bad_part(playback, r, error);
	if (demand->needs.cpu_milli > CPU_MAX) {
		demand_release(demand);
		return bad(playback, error, "a demand asks for more CPU than any machine has");
	}
	slot = VEC_ADD(&playback->demands, &playback->demand_count, &playback->demand_capacity);
	if (!slot) {
		demand_release(demand);
		return error_no_memory(error);
	}
	*slot = TAKE_PTR(demand);
	if (record_demand(playback->pool, *slot) != number && !record_failed(playback->pool))
		return bad(playback, error, "this demand has a number already");
	return 0;
}

static const struct demand *demand_of(const struct playback *playback, uint64_t number)
{
	return number < playback->demand_count ? playback->demands[number] : NULL;
}

static const struct demand *read_demand(const struct playback *playback, struct json_object *event)
{
	uint64_t number;

	return read_uint(event, "demand", UINT32_MAX, &number) ? demand_of(playback, number) : NULL;
}

static bool read_class(const struct playback *playback, struct json_object *pair,
		       struct workload_class *ret)
{
	struct json_object *number, *share;

	if (!json_object_is_type(pair, json_type_array) || json_object_array_length(pair) != 2)
		return false;
	number = json_object_array_get_idx(pair, 0);
	share = json_object_array_get_idx(pair, 1);
	if (!json_object_is_type(number, json_type_int) || json_object_get_int64(number) < 0 ||
	    (!json_object_is_type(share, json_type_double) &&
	     !json_object_is_type(share, json_type_int)))
		return false;
	*ret = (struct workload_class){ demand_of(playback, json_object_get_uint64(number)),
					json_object_get_double(share) };
	return ret->demand && isfinite(ret->share) && ret->share >= 0 && ret->share <= 1;
}

static int play_workload(struct playback *playback, struct json_object *event, struct error *error)
{
	struct json_object *list = json_get(event, "classes");
	autofree struct workload_class *classes = NULL;
	size_t count;
	int r;

	if (!json_object_is_type(list, json_type_array))
		return bad(playback, error, "the workload has no list of classes");
	count = json_object_array_length(list);
	classes = calloc(count + 1, sizeof(*classes));
	if (!classes)
		return error_no_memory(error);
	for (size_t i = 0; i < count; i++)
		if (!read_class(playback, json_object_array_get_idx(list, i), &classes[i]))
			return bad(playback, error,
				   "a workload is pairs of a demand and a share from 0 to 1");
	r = pool_set_workload(playback->pool, classes, count);
	return r < 0 ? error_set_errno(error, -r, "%s:%lu: cannot set the workload",
				       playback->source, playback->line)
		     : 0;
}

/* A refusal without a reason was given to somebody who did not ask for one. */
static bool asks_reason(struct json_object *event)
{
	return !json_get(event, "result") || json_get(event, "reason");
}

static int play_decide(struct playback *playback, struct json_object *event, struct error *error)
{
	const struct demand *demand = read_demand(playback, event);
	struct decision decision;
	struct reason reason, *asked = asks_reason(event) ? &reason : NULL;
	uint64_t node;

	if (!demand)
		return bad(playback, error, "the demand is unknown");
	if (!json_get(event, "on")) {
		(void)pool_decide(playback->pool, demand, &decision, asked);
		return 0;
	}
	if (!read_uint(event, "on", UINT32_MAX, &node) || node >= pool_node_count(playback->pool))
		return bad(playback, error, "the node is unknown");
	(void)pool_decide_on(playback->pool, (unsigned)node, demand, &decision, asked);
	return 0;
}

static int play_gang(struct playback *playback, struct json_object *event, struct error *error)
{
	struct json_object *list = json_get(event, "demands");
	struct reason reason, *asked = asks_reason(event) ? &reason : NULL;
	autofree const struct demand **demands = NULL;
	autofree struct decision *decisions = NULL;
	size_t count;

	if (!json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > GANG_MAX)
		return bad(playback, error, "the gang has no list of demands, or too many");
	count = json_object_array_length(list);
	demands = calloc(count + 1, sizeof(*demands));
	decisions = calloc(count + 1, sizeof(*decisions));
	if (!demands || !decisions)
		return error_no_memory(error);
	for (size_t i = 0; i < count; i++) {
		struct json_object *item = json_object_array_get_idx(list, i);

		if (json_object_is_type(item, json_type_int) && json_object_get_int64(item) >= 0)
			demands[i] = demand_of(playback, json_object_get_uint64(item));
		if (!demands[i])
			return bad(playback, error, "a demand of the gang is unknown");
	}
	(void)pool_decide_gang(playback->pool, demands, count, decisions, asked);
	return 0;
}

/* At most MAXIMUM whole numbers. */
static bool read_numbers(struct json_object *object, const char *key, uint64_t *ret,
			 unsigned maximum, unsigned *ret_count)
{
	struct json_object *list = json_get(object, key);
	size_t count;

	if (!json_object_is_type(list, json_type_array))
		return false;
	count = json_object_array_length(list);
	if (count > maximum)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct json_object *item = json_object_array_get_idx(list, i);

		if (!json_object_is_type(item, json_type_int) || json_object_get_int64(item) < 0)
			return false;
		ret[i] = json_object_get_uint64(item);
	}
	*ret_count = (unsigned)count;
	return true;
}

static bool read_placement(struct json_object *object, unsigned node, struct placement *ret)
{
	uint64_t cards[ARRAY_SIZE(ret->cards)], units[ARRAY_SIZE(ret->cards)], compute = 0;
	uint64_t starts[ARRAY_SIZE(ret->cards)] = { 0 };
	unsigned count, unit_count, memory_count, start_count;

	*ret = (struct placement){ .node = node };
	if (!read_numbers(object, "cards", cards, ARRAY_SIZE(cards), &count) ||
	    !read_numbers(object, "units", units, ARRAY_SIZE(units), &unit_count) ||
	    !read_numbers(object, "memoryMiB", ret->memory_mib, ARRAY_SIZE(ret->memory_mib),
			  &memory_count) ||
	    unit_count != count || memory_count != count)
		return false;
	start_count = count;
	if (json_get(object, "starts") &&
	    !read_numbers(object, "starts", starts, ARRAY_SIZE(starts), &start_count))
		return false;
	if (json_get(object, "computePercent") &&
	    !read_uint(object, "computePercent", UINT32_MAX, &compute))
		return false;
	for (unsigned i = 0; i < count; i++) {
		if (cards[i] > UINT32_MAX || units[i] > UINT32_MAX || starts[i] > UINT8_MAX)
			return false;
		ret->cards[i] = (unsigned)cards[i];
		ret->units[i] = (unsigned)units[i];
		ret->starts[i] = (uint8_t)starts[i];
	}
	ret->count = count;
	if (start_count != count)
		return false;
	ret->compute_percent = (unsigned)compute;
	return true;
}

static bool read_decision(struct json_object *object, struct decision *ret)
{
	struct json_object *list = json_get(object, "placements");
	uint64_t node;

	if (!read_uint(object, "node", UINT32_MAX, &node) ||
	    !json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > ARRAY_SIZE(ret->placements))
		return false;
	ret->node = (unsigned)node;
	ret->count = (unsigned)json_object_array_length(list);
	for (unsigned i = 0; i < ret->count; i++)
		if (!read_placement(json_object_array_get_idx(list, i), ret->node,
				    &ret->placements[i]))
			return false;
	return true;
}

static int add_grant(struct playback *playback, int result, uint64_t id, struct error *error)
{
	uint64_t *slot;

	if (result < 0)
		return 0;
	slot = VEC_ADD(&playback->grants, &playback->grant_count, &playback->grant_capacity);
	if (!slot)
		return error_no_memory(error);
	*slot = id;
	return 0;
}

static int play_hold(struct playback *playback, struct json_object *event, struct error *error)
{
	const struct demand *demand = read_demand(playback, event);
	bool assumed = strcmp(json_get_string(event, "event", ""), "assume") == 0;
	struct decision decision;
	uint64_t id = 0;
	int r;

	if (!demand || !read_decision(event, &decision))
		return bad(playback, error, "there is no known demand, or no decision");
	if (assumed)
		r = pool_assume(playback->pool, demand, &decision, &id);
	else
		r = pool_hold(playback->pool, demand, &decision, &id);
	return add_grant(playback, r, id, error);
}

static int play_hold_grant(struct playback *playback, struct json_object *event,
			   struct error *error)
{
	cleanup(grant_release) struct grant grant = { .kind = REQUEST_NONE };
	uint64_t node, id = 0;
	int r;

	if (!read_uint(event, "node", UINT32_MAX, &node))
		return bad(playback, error, "there is no node");
	r = grant_from_json(json_get(event, "held"), &grant, error);
	if (r < 0)
		return bad_part(playback, r, error);
	r = pool_hold_grant(playback->pool, (unsigned)node, &grant, &id, NULL);
	return add_grant(playback, r, id, error);
}

/* Number 0 stands for a grant that is not there (any more). */
static int play_act(struct playback *playback, struct json_object *event, struct error *error)
{
	const char *name = json_get_string(event, "event", "");
	uint64_t number, id;

	if (!read_uint(event, "grant", playback->grant_count, &number))
		return bad(playback, error, "there is no grant of that number");
	id = number ? playback->grants[number - 1] : 0;
	if (strcmp(name, "confirm") == 0)
		(void)pool_confirm(playback->pool, id);
	else if (strcmp(name, "forget") == 0)
		(void)pool_forget(playback->pool, id);
	else
		(void)pool_release(playback->pool, id);
	return 0;
}

static int play_end(struct playback *playback, struct json_object *event, struct error *error)
{
	uint64_t decisions, checksum, lines = 0, counted = 0;
	char text[24];

	record_count(playback->pool, &decisions, &checksum);
	snprintf(text, sizeof(text), "%016" PRIx64, checksum);
	if (!read_uint(event, "lines", UINT64_MAX, &lines) || lines != playback->line ||
	    !read_uint(event, "decisions", UINT64_MAX, &counted) || counted != decisions ||
	    strcmp(json_get_string(event, "checksum", ""), text) != 0)
		return bad(playback, error,
			   "the end counts other lines than there are: some are missing");
	playback->ended = true;
	return 0;
}

static const struct event {
	const char *name;
	int (*play)(struct playback *playback, struct json_object *event, struct error *error);
	bool answers; /* its line must come out the same */
} events[] = {
	{ "policy", play_policy, false },     { "withhold", play_withhold, false },
	{ "node", play_node, false },         { "demand", play_demand, false },
	{ "workload", play_workload, false }, { "decide", play_decide, true },
	{ "gang", play_gang, true },          { "assume", play_hold, true },
	{ "hold", play_hold, true },          { "hold-grant", play_hold_grant, true },
	{ "confirm", play_act, true },        { "forget", play_act, true },
	{ "release", play_act, true },        { "end", play_end, false },
};

static const struct event *find_event(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (strcmp(events[i].name, name) == 0)
			return &events[i];
	return NULL;
}

static int play(struct playback *playback, struct json_object *object, struct error *error)
{
	const struct event *event;
	int r;

	if (playback->line == 1)
		return play_title(playback, object, error);
	if (playback->ended)
		return bad(playback, error, "there is more behind the end");
	event = find_event(json_get_string(object, "event", ""));
	if (!event)
		return bad(playback, error, "this is no event of a log");
	r = event->play(playback, object, error);
	if (r < 0)
		return r;
	r = record_failed(playback->pool);
	if (r < 0)
		return r == -ENOMEM ? error_no_memory(error)
				    : bad(playback, error,
					  "the pool gave no answer that a log can hold");
	playback->differs =
		event->answers && strcmp(playback->now.data, playback->recorded.data) != 0;
	return playback->differs ? 1 : 0;
}

int playback_line(struct playback *playback, const char *line, size_t length, struct error *error)
{
	autojson *object = NULL;
	int r;

	if (playback->differs)
		return 1;
	playback->line++;
	strbuf_reset(&playback->now);
	strbuf_reset(&playback->recorded);
	strbuf_add(&playback->recorded, line, length);
	strbuf_addc(&playback->recorded, '\n');
	r = strbuf_failed(&playback->recorded);
	if (r < 0)
		return r == -ENOMEM ? error_no_memory(error)
				    : bad(playback, error, "the line is too long");
	r = json_parse_at(line, length, playback->source, playback->line, 1, NULL, &object, error);
	return r < 0 ? r : play(playback, object, error);
}

int playback_end(const struct playback *playback, struct error *error)
{
	if (playback->ended || playback->differs)
		return 0;
	return error_set(
		error, EINVAL,
		"%s:%lu: the log breaks off here: its end is missing; record the run again",
		playback->source, playback->line);
}

void playback_state(const struct playback *playback, struct playback_state *ret)
{
	*ret = (struct playback_state){ .line = 0 };
	record_count(playback->pool, &ret->decisions, &ret->checksum);
	if (!playback->differs)
		return;
	ret->line = playback->line;
	ret->recorded = playback->recorded.data;
	ret->now = playback->now.data;
}
