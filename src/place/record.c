/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "shape.h"

#define LINE_SIZE_MAX ((size_t)16 << 20)
#define HASH_PRIME    0x100000001b3u

struct recorder {
	int (*write)(void *data, const char *line, size_t length);
	void *data;
	struct strbuf line, json;   /* owned */
	struct map *demands, *keys; /* owned; JSON, and bytes as text, to number + 1 */
	uint32_t *grants;           /* owned; by the pool's number of a grant, the log's */
	size_t grant_capacity;
	uint32_t grant_count; /* so far */
	uint64_t lines, decisions, checksum;
	int failed;
};

/* Results that are answers; any other leaves the log of no use. */
static const struct {
	int result;
	const char *word;
} results[] = {
	{ -EAGAIN, "later" },    { -ENOSPC, "never" },   { -EBUSY, "busy" },
	{ -EINVAL, "invalid" },  { -ENOENT, "unknown" }, { -EALREADY, "already" },
	{ -EPERM, "confirmed" },
};

uint64_t decision_hash(uint64_t hash, const struct decision *decision)
{
	if (!decision)
		return hash * HASH_PRIME;
	hash = (hash ^ (decision->node + 1ull)) * HASH_PRIME;
	for (unsigned i = 0; i < decision->count; i++)
		for (unsigned k = 0; k < decision->placements[i].count; k++)
			hash = (hash ^ (decision->placements[i].cards[k] |
					(uint64_t)decision->placements[i].starts[k] << 8)) *
			       HASH_PRIME;
	return hash;
}

void recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return;
	if (recorder->demands)
		map_free(recorder->demands);
	if (recorder->keys)
		map_free(recorder->keys);
	strbuf_release(&recorder->line);
	strbuf_release(&recorder->json);
	free(recorder->grants);
	free(recorder);
}

static void fail(struct recorder *recorder, int r)
{
	if (!recorder->failed && r < 0)
		recorder->failed = r;
}

int record_failed(const struct pool *pool)
{
	return pool->recorder ? pool->recorder->failed : 0;
}

void record_count(const struct pool *pool, uint64_t *ret_decisions, uint64_t *ret_checksum)
{
	const struct recorder *recorder = pool->recorder;

	*ret_decisions = recorder ? recorder->decisions : 0;
	*ret_checksum = recorder ? recorder->checksum : 0;
}

static bool is_on(const struct recorder *recorder)
{
	return recorder && !recorder->failed;
}

static void line_start(struct recorder *recorder, const char *event)
{
	strbuf_reset(&recorder->line);
	strbuf_addf(&recorder->line, "{\"event\":\"%s\"", event);
}

static void line_end(struct recorder *recorder)
{
	int r;

	strbuf_adds(&recorder->line, "}\n");
	recorder->lines++;
	r = strbuf_failed(&recorder->line);
	if (r == 0 && !recorder->failed)
		r = recorder->write(recorder->data, recorder->line.data, recorder->line.length);
	fail(recorder, r);
}

/* To recorder->json. */
static int json_text(struct recorder *recorder, struct json_object *object)
{
	strbuf_reset(&recorder->json);
	return json_to_text(object, false, &recorder->json, NULL);
}

int pool_start_record(struct pool *pool, int (*write)(void *data, const char *line, size_t length),
		      void *data)
{
	struct recorder *recorder;

	if (pool->recorder || pool->node_count)
		return -EINVAL;
	recorder = calloc(1, sizeof(*recorder));
	if (!recorder)
		return -ENOMEM;
	*recorder = (struct recorder){ .write = write,
				       .data = data,
				       .line = STRBUF_INIT(LINE_SIZE_MAX),
				       .json = STRBUF_INIT(LINE_SIZE_MAX),
				       .checksum = DECISION_HASH_START };
	recorder->demands = map_new();
	recorder->keys = map_new();
	if (!recorder->demands || !recorder->keys) {
		recorder_free(recorder);
		return -ENOMEM;
	}
	pool->recorder = recorder;
	strbuf_addf(&recorder->line, "{\"format\":\"%s\",\"version\":%d", RECORD_FORMAT,
		    RECORD_VERSION);
	line_end(recorder);
	record_policy(pool, &pool->options);
	return 0;
}

int pool_end_record(struct pool *pool)
{
	struct recorder *recorder = pool->recorder;

	if (is_on(recorder)) {
		line_start(recorder, "end");
		strbuf_addf(&recorder->line,
			    ",\"lines\":%" PRIu64 ",\"decisions\":%" PRIu64
			    ",\"checksum\":\"%016" PRIx64 "\"",
			    recorder->lines + 1, recorder->decisions, recorder->checksum);
		line_end(recorder);
	}
	return record_failed(pool);
}

void record_policy(struct pool *pool, const struct policy_options *options)
{
	struct recorder *recorder = pool->recorder;

	if (!is_on(recorder))
		return;
	line_start(recorder, "policy");
	strbuf_addf(&recorder->line,
		    ",\"policy\":\"%s\",\"ties\":\"%s\",\"seed\":%" PRIu64
		    ",\"originalCards\":%s,\"originalClasses\":%s",
		    node_policy_to_string(options->policy), tie_rule_to_string(options->ties),
		    options->seed, options->original_cards ? "true" : "false",
		    options->original_classes ? "true" : "false");
	line_end(recorder);
}

void record_withhold(struct pool *pool, enum request_kind kind)
{
	struct recorder *recorder = pool->recorder;

	if (!is_on(recorder))
		return;
	line_start(recorder, "withhold");
	strbuf_addf(&recorder->line, ",\"kind\":\"%s\"", request_kind_to_string(kind));
	line_end(recorder);
}

void record_node(struct pool *pool, const struct node_spec *node)
{
	struct recorder *recorder = pool->recorder;
	autojson *object = NULL;
	int r;

	if (!is_on(recorder))
		return;
	r = node_spec_to_json(node, &object, NULL);
	if (r == 0)
		r = json_text(recorder, object);
	fail(recorder, r);
	line_start(recorder, "node");
	strbuf_addf(&recorder->line, ",\"node\":%s", recorder->json.data);
	line_end(recorder);
}

/* The number of a demand that was not met before. */
static uint32_t demand_number(struct recorder *recorder, const struct demand *demand)
{
	autojson *object = NULL;
	uintptr_t number;
	int r = demand_to_json(demand, &object, NULL);

	if (r == 0)
		r = json_text(recorder, object);
	fail(recorder, r);
	if (r < 0)
		return 0;
	number = (uintptr_t)map_get(recorder->demands, recorder->json.data);
	if (number)
		return (uint32_t)(number - 1);
	number = map_count(recorder->demands);
	fail(recorder, map_put(recorder->demands, recorder->json.data, (void *)(number + 1)));
	line_start(recorder, "demand");
	strbuf_addf(&recorder->line, ",\"demand\":%" PRIuPTR ",\"asks\":%s", number,
		    recorder->json.data);
	line_end(recorder);
	return (uint32_t)number;
}

/* The same; a demand that was met before is known by its bytes, which are had quicker than its JSON. */
static uint32_t known_number(struct recorder *recorder, const struct demand *demand)
{
	uint8_t bytes[SHAPE_KEY_MAX];
	char text[2 * SHAPE_KEY_MAX + 1];
	size_t size = shape_key(demand, bytes);
	uintptr_t number;

	if (size == 0)
		return demand_number(recorder, demand);
	for (size_t i = 0; i < size; i++) {
		text[2 * i] = (char)('a' + (bytes[i] & 15));
		text[2 * i + 1] = (char)('a' + (bytes[i] >> 4));
	}
	text[2 * size] = '\0';
	number = (uintptr_t)map_get(recorder->keys, text);
	if (!number) {
		number = demand_number(recorder, demand) + 1ul;
		fail(recorder, map_put(recorder->keys, text, (void *)number));
	}
	return (uint32_t)(number - 1);
}

uint32_t record_demand(struct pool *pool, const struct demand *demand)
{
	return is_on(pool->recorder) ? demand_number(pool->recorder, demand) : 0;
}

void record_workload(struct pool *pool, const struct workload_class *classes, size_t count,
		     int result)
{
	struct recorder *recorder = pool->recorder;

	if (!is_on(recorder))
		return;
	fail(recorder, result);
	for (size_t i = 0; i < count; i++)
		demand_number(recorder, classes[i].demand);
	autostrbuf list = STRBUF_INIT(LINE_SIZE_MAX);

	for (size_t i = 0; i < count; i++)
		strbuf_addf(&list, "%s[%" PRIu32 ",%.17g]", i ? "," : "",
			    demand_number(recorder, classes[i].demand), classes[i].share);
	fail(recorder, strbuf_failed(&list));
	line_start(recorder, "workload");
	strbuf_addf(&recorder->line, ",\"classes\":[%s]", list.data);
	line_end(recorder);
}

static void add_numbers(struct strbuf *line, const char *key, const unsigned *numbers,
			unsigned count)
{
	strbuf_addf(line, "\"%s\":[", key);
	for (unsigned i = 0; i < count; i++)
		strbuf_addf(line, i ? ",%u" : "%u", numbers[i]);
	strbuf_adds(line, "]");
}

/* Of instances alone one may start behind slice 0. */
static bool has_starts(const struct placement *placement)
{
	for (unsigned i = 0; i < placement->count; i++)
		if (placement->starts[i])
			return true;
	return false;
}

static void add_placement(struct strbuf *line, const struct placement *placement)
{
	strbuf_addc(line, '{');
	add_numbers(line, "cards", placement->cards, placement->count);
	strbuf_addc(line, ',');
	add_numbers(line, "units", placement->units, placement->count);
	strbuf_adds(line, ",\"memoryMiB\":[");
	for (unsigned i = 0; i < placement->count; i++)
		strbuf_addf(line, i ? ",%" PRIu64 : "%" PRIu64, placement->memory_mib[i]);
	strbuf_addc(line, ']');
	if (has_starts(placement)) {
		unsigned starts[ARRAY_SIZE(placement->starts)];

		for (unsigned i = 0; i < placement->count; i++)
			starts[i] = placement->starts[i];
		strbuf_addc(line, ',');
		add_numbers(line, "starts", starts, placement->count);
	}
	if (placement->compute_percent)
		strbuf_addf(line, ",\"computePercent\":%u", placement->compute_percent);
	strbuf_addc(line, '}');
}

static void add_decision(struct strbuf *line, const struct decision *decision)
{
	strbuf_addf(line, "\"node\":%u,\"placements\":[", decision->node);
	for (unsigned i = 0; i < decision->count && i < DEMAND_REQUESTS_MAX; i++) {
		if (i)
			strbuf_addc(line, ',');
		add_placement(line, &decision->placements[i]);
	}
	strbuf_addc(line, ']');
}

static void add_answer(struct recorder *recorder, const struct decision *decision)
{
	strbuf_addc(&recorder->line, ',');
	add_decision(&recorder->line, decision);
}

static void add_refusal(struct recorder *recorder, int result, const struct reason *reason)
{
	for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
		if (results[i].result != result)
			continue;
		strbuf_addf(&recorder->line, ",\"result\":\"%s\"", results[i].word);
		if (reason)
			strbuf_addf(&recorder->line,
				    ",\"reason\":\"%s\",\"wanted\":%" PRId64 ",\"have\":%" PRId64
				    ",\"total\":%" PRId64,
				    reason_name(reason->code), reason->wanted, reason->have,
				    reason->total);
		return;
	}
	fail(recorder, result);
}

void record_decide(struct pool *pool, const unsigned *node, const struct demand *demand, int result,
		   const struct decision *decision, const struct reason *reason)
{
	struct recorder *recorder = pool->recorder;
	uint32_t number;

	if (!is_on(recorder))
		return;
	number = known_number(recorder, demand);
	line_start(recorder, "decide");
	strbuf_addf(&recorder->line, ",\"demand\":%" PRIu32, number);
	if (node)
		strbuf_addf(&recorder->line, ",\"on\":%u", *node);
	if (result < 0)
		add_refusal(recorder, result, reason);
	else
		add_answer(recorder, decision);
	recorder->decisions++;
	if (!node)
		recorder->checksum =
			decision_hash(recorder->checksum, result < 0 ? NULL : decision);
	line_end(recorder);
}

/* The Pods of a gang differ in more than their bytes say: in the label that they share. */
static void add_demands(struct recorder *recorder, const struct demand *const *demands,
			size_t count)
{
	autostrbuf list = STRBUF_INIT(LINE_SIZE_MAX);

	for (size_t i = 0; i < count; i++)
		strbuf_addf(&list, i ? ",%" PRIu32 : "%" PRIu32,
			    demand_number(recorder, demands[i]));
	fail(recorder, strbuf_failed(&list));
	line_start(recorder, "gang");
	strbuf_addf(&recorder->line, ",\"demands\":[%s]", list.data);
}

void record_gang(struct pool *pool, const struct demand *const *demands, size_t count, int result,
		 const struct decision *decisions, const struct reason *reason)
{
	struct recorder *recorder = pool->recorder;

	if (!is_on(recorder))
		return;
	add_demands(recorder, demands, count);
	recorder->decisions++;
	if (result < 0) {
		add_refusal(recorder, result, reason);
		recorder->checksum = decision_hash(recorder->checksum, NULL);
	} else {
		strbuf_adds(&recorder->line, ",\"decisions\":[");
		for (size_t i = 0; i < count; i++) {
			strbuf_adds(&recorder->line, i ? ",{" : "{");
			add_decision(&recorder->line, &decisions[i]);
			strbuf_addc(&recorder->line, '}');
			recorder->checksum = decision_hash(recorder->checksum, &decisions[i]);
		}
		strbuf_addc(&recorder->line, ']');
	}
	line_end(recorder);
}

/* The end of a line that made a grant, or did not. */
static void add_grant(struct recorder *recorder, int result, uint64_t id)
{
	uint32_t number = (uint32_t)id;

	if (result < 0) {
		add_refusal(recorder, result, NULL);
		return;
	}
	if (vec_reserve(&recorder->grants, &recorder->grant_capacity, number + 1ul,
			sizeof(*recorder->grants)) < 0) {
		fail(recorder, -ENOMEM);
		return;
	}
	recorder->grants[number] = ++recorder->grant_count;
	strbuf_addf(&recorder->line, ",\"grant\":%" PRIu32, recorder->grant_count);
}

void record_hold(struct pool *pool, const char *event, const struct demand *demand,
		 const struct decision *decision, int result, uint64_t id)
{
	struct recorder *recorder = pool->recorder;
	uint32_t number;

	if (!is_on(recorder))
		return;
	number = known_number(recorder, demand);
	line_start(recorder, event);
	strbuf_addf(&recorder->line, ",\"demand\":%" PRIu32, number);
	add_answer(recorder, decision);
	add_grant(recorder, result, id);
	line_end(recorder);
}

void record_hold_grant(struct pool *pool, unsigned node, const struct grant *grant, int result,
		       uint64_t id)
{
	struct recorder *recorder = pool->recorder;
	autojson *object = NULL;
	int r;

	if (!is_on(recorder))
		return;
	r = grant_to_json(grant, &object, NULL);
	if (r == 0)
		r = json_text(recorder, object);
	fail(recorder, r);
	line_start(recorder, "hold-grant");
	strbuf_addf(&recorder->line, ",\"node\":%u,\"held\":%s", node, recorder->json.data);
	add_grant(recorder, result, id);
	line_end(recorder);
}

/* A grant that is not there (any more) has the number 0. */
void record_act(struct pool *pool, const char *event, uint64_t id, int result)
{
	struct recorder *recorder = pool->recorder;

	if (!is_on(recorder))
		return;
	line_start(recorder, event);
	strbuf_addf(&recorder->line, ",\"grant\":%" PRIu32,
		    result == -ENOENT ? 0 : recorder->grants[(uint32_t)id]);
	if (result < 0)
		add_refusal(recorder, result, NULL);
	line_end(recorder);
}
