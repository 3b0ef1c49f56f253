/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine_world.h"
#include "place/place.h"

#define LOG_MAX ((size_t)32 << 20)

static int add_line(void *data, const char *line, size_t length)
{
	strbuf_add(data, line, length);
	return strbuf_failed(data);
}

/* A random life of a pool. */
struct world {
	struct pool *pool;
	struct dice dice;
	struct demand shapes[6];
	struct decision decisions[6]; /* the last of each */
	bool decided[6];
	uint64_t ids[256];
	size_t id_count;
	unsigned nodes;
	uint64_t checksum; /* by the answers that were seen */
	uint64_t decides;
};

static void world_start(struct world *world, uint64_t seed)
{
	const struct policy_options options = {
		.policy = (enum node_policy)(seed % NODE_POLICY_MAX),
		.ties = (enum tie_rule)(seed % TIE_MAX),
		.seed = seed << 40,
		.original_cards = seed & 1,
	};
	const struct workload_class classes[] = { { &world->shapes[0], 0.25 },
						  { &world->shapes[1], 1.0 / 3 } };

	world->nodes = 3 + dice_below(&world->dice, 6);
	if (seed % 4 == 0)
		pool_withhold(world->pool, REQUEST_MIG);
	assert_int_equal(pool_set_policy(world->pool, &options), 0);
	for (unsigned i = 0; i < world->nodes; i++) {
		cleanup(node_spec_release) struct node_spec node;

		world_make_node(&world->dice, i, &node);
		assert_int_equal(pool_add_node(world->pool, &node, NULL), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(world->shapes); i++)
		world_make_shape(&world->dice, world->nodes, &world->shapes[i]);
	world->shapes[0].gang_domain = strdup("zone");
	world->shapes[3].gang_domain = strdup("zone");
	assert_int_equal(pool_set_workload(world->pool, classes, ARRAY_SIZE(classes)), 0);
	world->checksum = DECISION_HASH_START;
}

static void keep(struct world *world, int r, uint64_t id)
{
	if (r == 0 && world->id_count < ARRAY_SIZE(world->ids))
		world->ids[world->id_count++] = id;
}

static void step_decide(struct world *world)
{
	unsigned at = dice_below(&world->dice, ARRAY_SIZE(world->shapes));
	struct decision *decision = &world->decisions[at];
	struct reason reason, *asked = dice_chance(&world->dice, 50) ? &reason : NULL;
	int r;

	if (dice_chance(&world->dice, 20)) {
		unsigned node = dice_below(&world->dice, world->nodes);

		r = pool_decide_on(world->pool, node, &world->shapes[at], decision, asked);
	} else {
		r = pool_decide(world->pool, &world->shapes[at], decision, asked);
		world->checksum = decision_hash(world->checksum, r < 0 ? NULL : decision);
	}
	world->decides++;
	world->decided[at] = r == 0;
}

static void step_hold(struct world *world)
{
	unsigned at = dice_below(&world->dice, ARRAY_SIZE(world->shapes));
	uint64_t id = 0;
	int r;

	if (!world->decided[at])
		return;
	if (dice_chance(&world->dice, 50))
		r = pool_assume(world->pool, &world->shapes[at], &world->decisions[at], &id);
	else
		r = pool_hold(world->pool, &world->shapes[at], &world->decisions[at], &id);
	keep(world, r, id);
}

static void step_grant(struct world *world)
{
	struct grant_card card = { .units = 5, .memory_mib = 5120 };
	struct grant grant = { .kind = REQUEST_SLICE, .cards = &card, .card_count = 1 };
	unsigned node = dice_below(&world->dice, world->nodes);
	uint64_t id = 0;

	snprintf(card.uuid, sizeof(card.uuid), "GPU-%u-%u", node, dice_below(&world->dice, 4));
	keep(world, pool_hold_grant(world->pool, node, &grant, &id, NULL), id);
}

static void step_end(struct world *world)
{
	size_t at = world->id_count ? dice_below(&world->dice, (unsigned)world->id_count) : 0;
	uint64_t id = world->id_count ? world->ids[at] : 4711; /* ended ones, too */

	switch (dice_below(&world->dice, 3)) {
	case 0:
		(void)pool_confirm(world->pool, id);
		break;
	case 1:
		(void)pool_forget(world->pool, id);
		break;
	default:
		(void)pool_release(world->pool, id);
		break;
	}
}

static void step_gang(struct world *world)
{
	unsigned first = dice_below(&world->dice, ARRAY_SIZE(world->shapes));
	const struct demand *gang[] = { &world->shapes[first], &world->shapes[2],
					&world->shapes[first] };
	struct decision decisions[ARRAY_SIZE(gang)];
	struct reason reason;
	int r = pool_decide_gang(world->pool, gang, ARRAY_SIZE(gang), decisions,
				 dice_chance(&world->dice, 50) ? &reason : NULL);

	world->decides++;
	if (r < 0)
		world->checksum = decision_hash(world->checksum, NULL);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(gang); i++) {
		uint64_t id = 0;

		world->checksum = decision_hash(world->checksum, &decisions[i]);
		assert_int_equal(pool_hold(world->pool, gang[i], &decisions[i], &id), 0);
		keep(world, 0, id);
	}
}

static void (*const steps[])(struct world *world) = { step_gang, step_decide, step_decide,
						      step_hold, step_hold,   step_grant,
						      step_end };

/* COUNT steps on a new pool; their log is added to OUT. */
static void live(struct strbuf *out, uint64_t seed, unsigned count, struct world *ret)
{
	autopool *pool = pool_new();
	struct world world = { .pool = pool, .dice = { seed } };

	assert_non_null(pool);
	assert_int_equal(pool_start_record(pool, add_line, out), 0);
	world_start(&world, seed);
	for (unsigned i = 0; i < count; i++)
		steps[dice_below(&world.dice, ARRAY_SIZE(steps))](&world);
	assert_int_equal(pool_end_record(pool), 0);
	for (size_t i = 0; i < ARRAY_SIZE(world.shapes); i++)
		demand_release(&world.shapes[i]);
	*ret = world;
}

/* Until the first line that is not 0; ends as a command would. */
static int play(struct playback *playback, const char *text, struct error *error)
{
	while (*text) {
		const char *end = strchrnul(text, '\n');
		int r = playback_line(playback, text, (size_t)(end - text), error);

		if (r)
			return r;
		text = *end ? end + 1 : end;
	}
	return playback_end(playback, error);
}

static unsigned count_texts(const char *text, const char *what)
{
	unsigned count = 0;

	for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
		count++;
	return count;
}

TEST(a_log_played_comes_out_the_same)
{
	static const char *const reached[] = {
		"\"event\":\"decide\"",
		"\"on\":",
		"\"event\":\"assume\"",
		"\"event\":\"hold\"",
		"\"event\":\"hold-grant\"",
		"\"event\":\"confirm\"",
		"\"event\":\"forget\"",
		"\"event\":\"release\"",
		"\"result\":\"later\"}",
		"\"result\":\"later\",\"reason\"",
		"\"result\":\"never\"",
		"\"result\":\"busy\"}",
		"\"result\":\"unknown\"}",
		"\"result\":\"already\"}",
		"\"result\":\"confirmed\"}",
		"\"starts\":[",
		"\"computePercent\":",
		"\"event\":\"withhold\"",
		"\"event\":\"gang\"",
		"\"decisions\":[{",
		"\"gang_busy\"",
	};
	autostrbuf all = STRBUF_INIT(LOG_MAX);

	for (uint64_t seed = 1; seed <= 60; seed++) {
		autostrbuf log = STRBUF_INIT(LOG_MAX);
		autoplayback *playback = playback_new("log");
		struct error error = ERROR_INIT;
		struct playback_state played;
		struct world world;

		live(&log, seed, 120, &world);
		assert_non_null(playback);
		int r = play(playback, log.data, &error);

		playback_state(playback, &played);
		if (r)
			fail_msg("seed %" PRIu64 ": %s%s%s", seed, error.message,
				 played.line ? played.recorded : "", played.line ? played.now : "");
		assert_int_equal(played.decisions, world.decides);
		assert_int_equal(played.checksum, world.checksum);
		strbuf_adds(&all, log.data);
	}
	for (size_t i = 0; i < ARRAY_SIZE(reached); i++)
		if (count_texts(all.data, reached[i]) < 5)
			fail_msg("%s: %u", reached[i], count_texts(all.data, reached[i]));
}

/* A digit of an answer, changed: the first difference is that line. False: not such a line. */
static bool try_change(const char *log, char *at, unsigned long line, const char *key)
{
	char *end = strchr(at, '\n'), *digit = strstr(at, key);
	autoplayback *playback = playback_new("log");
	struct playback_state state;

	assert_non_null(playback);
	if (!digit || digit > end)
		return false;
	digit += strlen(key);
	if (*digit < '0' || *digit > '8')
		return false;
	++*digit;
	assert_int_equal(play(playback, log, NULL), 1);
	playback_state(playback, &state);
	assert_int_equal(state.line, line);
	assert_int_equal(strncmp(state.recorded, at, (size_t)(end + 1 - at)), 0);
	assert_string_not_equal(state.recorded, state.now);
	assert_int_equal(playback_line(playback, "x", 1, NULL), 1);
	--*digit;
	return true;
}

TEST(a_changed_answer_is_found)
{
	static const struct {
		const char *event, *key;
	} answers[] = {
		{ "{\"event\":\"decide\"", ",\"node\":" },
		{ "{\"event\":\"decide\"", "\"cards\":[" },
		{ "{\"event\":\"decide\"", "\"units\":[" },
		{ "{\"event\":\"decide\"", "\"memoryMiB\":[" },
		{ "{\"event\":\"decide\"", "\"have\":" },
		{ "{\"event\":\"hold\"", "\"grant\":" },
		{ "{\"event\":\"assume\"", "\"grant\":" },
	};
	autostrbuf log = STRBUF_INIT(LOG_MAX);
	struct world world;

	live(&log, 11, 800, &world);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		unsigned long line = 0, tried = 0;

		for (char *at = log.data; *at && tried < 5; at = strchr(at, '\n') + 1) {
			line++;
			if (strncmp(at, answers[i].event, strlen(answers[i].event)) == 0)
				tried += try_change(log.data, at, line, answers[i].key);
		}
		if (tried < 3)
			fail_msg("%s of %s: tried %lu", answers[i].key, answers[i].event, tried);
	}
}

#define TITLE "{\"format\":\"gpupool decisions\",\"version\":1}\n"
#define POLICY                                                            \
	"{\"event\":\"policy\",\"policy\":\"default\",\"ties\":\"name\"," \
	"\"seed\":0,\"originalCards\":false,\"originalClasses\":false}\n"
#define NODE                                                                               \
	"{\"event\":\"node\",\"node\":{\"name\":\"a\",\"unschedulable\":false,"            \
	"\"allocatable\":{\"cpuMilli\":4000,\"memoryMiB\":9223372036854775807,"            \
	"\"pods\":9223372036854775807},\"labels\":{},\"taints\":[],\"inventory\":{"        \
	"\"version\":1,\"driverRoot\":\"\",\"driverVersion\":\"\",\"moduleVersion\":\"\"," \
	"\"nvmlVersion\":\"\",\"cudaMajor\":0,\"cudaMinor\":0,\"bootId\":\"\","            \
	"\"migGeneration\":0,\"taken\":0,\"real\":false,\"problem\":\"\",\"cards\":[]}}}\n"
#define DEMAND(number, cpu)                                                             \
	"{\"event\":\"demand\",\"demand\":" number ",\"asks\":{\"requests\":[],"        \
	"\"cpuMilli\":" cpu ",\"memoryMiB\":0,\"pods\":1,\"selector\":[],\"terms\":[]," \
	"\"tolerations\":[],\"gangDomain\":null}}\n"

/* Written so today and for ever, as long as the version is 1. */
TEST(the_form_is_stable)
{
	static const char form[] = TITLE POLICY NODE DEMAND(
		"0",
		"3000") "{\"event\":\"workload\",\"classes\":[[0,0.10000000000000001]]}\n"
			"{\"event\":\"decide\",\"demand\":0,\"node\":0,\"placements\":[]}\n"
			"{\"event\":\"hold\",\"demand\":0,\"node\":0,\"placements\":[],\"grant\":1}"
			"\n"
			"{\"event\":\"decide\",\"demand\":0,\"result\":\"later\"}\n"
			"{\"event\":\"decide\",\"demand\":0,\"on\":0,\"result\":\"later\","
			"\"reason\":\"cpu_busy\",\"wanted\":3000,\"have\":1000,\"total\":4000}\n"
			"{\"event\":\"confirm\",\"grant\":1,\"result\":\"already\"}\n"
			"{\"event\":\"release\",\"grant\":1}\n"
			"{\"event\":\"release\",\"grant\":0,\"result\":\"unknown\"}\n"
			"{\"event\":\"end\",\"lines\":13,\"decisions\":3,\"checksum\":"
			"\"082f2207b4e88cc4\"}\n";
	cleanup(node_spec_release) struct node_spec node;
	autostrbuf out = STRBUF_INIT(LOG_MAX);
	autopool *pool = pool_new();
	struct demand demand;
	struct decision decision;
	struct reason reason;
	uint64_t id;

	node_spec_init(&node);
	node.name = strdup("a");
	node.allocatable.cpu_milli = 4000;
	demand_init(&demand);
	demand.needs.cpu_milli = 3000;
	assert_int_equal(pool_start_record(pool, add_line, &out), 0);
	assert_int_equal(pool_start_record(pool, add_line, &out), -EINVAL); /* twice */
	assert_int_equal(pool_add_node(pool, &node, NULL), 0);
	assert_int_equal(pool_set_workload(pool, &(struct workload_class){ &demand, 0.1 }, 1), 0);
	assert_int_equal(pool_decide(pool, &demand, &decision, NULL), 0);
	assert_int_equal(pool_hold(pool, &demand, &decision, &id), 0);
	assert_int_equal(pool_decide(pool, &demand, &decision, NULL), -EAGAIN);
	assert_int_equal(pool_decide_on(pool, 0, &demand, &decision, &reason), -EAGAIN);
	assert_int_equal(pool_confirm(pool, id), -EALREADY);
	assert_int_equal(pool_release(pool, id), 0);
	assert_int_equal(pool_release(pool, id), -ENOENT);
	assert_int_equal(pool_end_record(pool), 0);
	assert_string_equal(out.data, form);
	autoplayback *playback = playback_new("form");
	autopool *full = pool_new();

	assert_int_equal(play(playback, form, NULL), 0);
	assert_int_equal(pool_add_node(full, &node, NULL), 0);
	assert_int_equal(pool_start_record(full, add_line, &out), -EINVAL); /* has nodes */
	assert_int_equal(pool_end_record(full), 0);
}

#define AGAIN "; record the run again"

static const struct {
	const char *text, *message;
} hostile[] = {
	{ "", "x:0: the log breaks off here: its end is missing" AGAIN },
	{ "\n", "x:1:1: " },
	{ "policy", "x:1:1: " },
	{ "null", "x:1: this is no log of decisions" },
	{ "[1]", "x:1: this is no log of decisions" },
	{ "{}", "x:1: this is no log of decisions" },
	{ "{\"format\":\"gpupool decisions\"}", "x:1: the log has no version" AGAIN },
	{ "{\"format\":\"gpupool decisions\",\"version\":2}",
	  "x:1: the log has version 2, and this program reads version 1; record the run again "
	  "with this program" },
	{ TITLE, "x:1: the log breaks off here" },
	{ TITLE "{\"event\":\"dec", "x:2:" },
	{ TITLE TITLE, "x:2: this is no event of a log" AGAIN },
	{ TITLE "{\"event\":7}", "x:2: this is no event of a log" AGAIN },
	{ TITLE "{\"event\":\"policy\",\"policy\":\"best\"}",
	  "x:2: the policy is none that this program knows" AGAIN },
	{ TITLE "{\"event\":\"policy\",\"policy\":\"fgd\",\"ties\":\"name\",\"seed\":-1,"
		"\"originalCards\":false,\"originalClasses\":false}",
	  "x:2: the policy is none" },
	{ TITLE "{\"event\":\"node\"}", "x:2: node must be an object" },
	{ TITLE NODE NODE, "x:3: node a is in the pool already" },
	{ TITLE DEMAND("1", "1"), "x:2: demands are numbered from 0, one after the other" AGAIN },
	{ TITLE DEMAND("0", "1") DEMAND("1", "1"), "x:3: this demand has a number already" },
	{ TITLE DEMAND("0", "549755813888"),
	  "x:2: a demand asks for more CPU than any machine has" AGAIN },
	{ TITLE DEMAND("0", "-1"), "x:2: demand.cpuMilli is -1" },
	{ TITLE "{\"event\":\"workload\"}", "x:2: the workload has no list of classes" AGAIN },
	{ TITLE DEMAND("0", "1") "{\"event\":\"workload\",\"classes\":[[0,1.5]]}",
	  "x:3: a workload is pairs of a demand and a share from 0 to 1" AGAIN },
	{ TITLE DEMAND("0", "1") "{\"event\":\"workload\",\"classes\":[[1,0.5]]}",
	  "x:3: a workload is pairs" },
	{ TITLE DEMAND("0", "1") "{\"event\":\"workload\",\"classes\":[[0]]}",
	  "x:3: a workload is pairs" },
	{ TITLE "{\"event\":\"decide\",\"demand\":0}", "x:2: the demand is unknown" AGAIN },
	{ TITLE DEMAND("0", "1") "{\"event\":\"decide\",\"demand\":0,\"on\":0}",
	  "x:3: the node is unknown" AGAIN },
	{ TITLE DEMAND("0", "1") "{\"event\":\"hold\",\"demand\":0}",
	  "x:3: there is no known demand, or no decision" AGAIN },
	{ TITLE DEMAND("0", "1") "{\"event\":\"hold\",\"demand\":0,\"node\":0,\"placements\":[{"
				 "\"cards\":[1],\"units\":[1,2],\"memoryMiB\":[3]}]}",
	  "x:3: there is no known demand, or no decision" },
	{ TITLE DEMAND("0", "1") "{\"event\":\"hold\",\"demand\":0,\"node\":0,\"placements\":[{"
				 "\"cards\":[4294967296],\"units\":[1],\"memoryMiB\":[3]}]}",
	  "x:3: there is no known demand, or no decision" },
	{ TITLE DEMAND("0", "1") "{\"event\":\"hold\",\"demand\":0,\"node\":0,\"placements\":["
				 "0,0,0,0,0,0,0,0,0]}",
	  "x:3: there is no known demand, or no decision" },
	{ TITLE "{\"event\":\"gang\",\"demands\":0}",
	  "x:2: the gang has no list of demands, or too many" AGAIN },
	{ TITLE "{\"event\":\"gang\",\"demands\":[0]}",
	  "x:2: a demand of the gang is unknown" AGAIN },
	{ TITLE "{\"event\":\"withhold\",\"kind\":\"some\"}",
	  "x:2: the kind of request is unknown" AGAIN },
	{ TITLE "{\"event\":\"release\",\"grant\":1}",
	  "x:2: there is no grant of that number" AGAIN },
	{ TITLE "{\"event\":\"hold-grant\",\"held\":{}}", "x:2: there is no node" AGAIN },
	{ TITLE "{\"event\":\"hold-grant\",\"node\":0,\"held\":{}}",
	  "x:2: the grant has no version" },
	{ TITLE "{\"event\":\"end\",\"lines\":2,\"decisions\":1,\"checksum\":\"cbf29ce484222325\"}",
	  "x:2: the end counts other lines than there are: some are missing" AGAIN },
	{ TITLE "{\"event\":\"end\",\"lines\":2,\"decisions\":0,\"checksum\":\"cbf29ce484222325\"}"
		"\n" POLICY,
	  "x:3: there is more behind the end" AGAIN },
};

TEST(broken_logs)
{
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		autoplayback *playback = playback_new("x");
		struct error error = ERROR_INIT;

		assert_non_null(playback);
		int r = play(playback, hostile[i].text, &error);

		if (r != -EINVAL && r != -EEXIST)
			fail_msg("%s: %d", hostile[i].text, r);
		if (strncmp(error.message, hostile[i].message, strlen(hostile[i].message)) != 0)
			fail_msg("'%s' instead of '%s'", error.message, hostile[i].message);
	}
}

static int fill_disk(void *data, const char *line, size_t length)
{
	size_t *room = data;

	(void)line;
	if (length > *room)
		return -ENOSPC;
	*room -= length;
	return 0;
}

/* The pool goes on without a log. */
TEST(a_full_disk_is_told_at_the_end)
{
	for (size_t size = 0; size <= 200; size += 100) {
		cleanup(node_spec_release) struct node_spec node;
		autopool *pool = pool_new();
		struct demand demand;
		struct decision decision;
		size_t room = size;
		uint64_t id;

		node_spec_init(&node);
		node.name = strdup("a");
		demand_init(&demand);
		assert_int_equal(pool_start_record(pool, fill_disk, &room), 0);
		assert_int_equal(pool_add_node(pool, &node, NULL), 0);
		assert_int_equal(pool_decide(pool, &demand, &decision, NULL), 0);
		assert_int_equal(pool_hold(pool, &demand, &decision, &id), 0);
		assert_int_equal(pool_end_record(pool), -ENOSPC);
		assert_int_equal(pool_grant_count(pool), 1);
	}
}

/* Grants and questions of one node and one demand, whatever fails; the result of the record. */
static int short_life(struct strbuf *out)
{
	cleanup(node_spec_release) struct node_spec node;
	struct demand demand;
	struct decision decision = { .count = 0 };
	uint64_t id = 0;

	node_spec_init(&node);
	node.name = strdup("a");
	demand_init(&demand);
	autopool *pool = node.name ? pool_new() : NULL;

	if (!pool)
		return -ENOMEM;
	int r = pool_start_record(pool, add_line, out);

	if (r == 0)
		r = pool_add_node(pool, &node, NULL);
	if (r == 0)
		r = pool_decide(pool, &demand, &decision, NULL);
	if (r == 0)
		r = pool_hold(pool, &demand, &decision, &id);
	if (r == 0)
		r = pool_release(pool, id);
	return r < 0 ? r : pool_end_record(pool);
}

TEST(every_allocation_fails_once_writing)
{
	for (unsigned n = 0;; n++) {
		autostrbuf out = STRBUF_INIT(LOG_MAX);

		fault_arm(n);
		int r = short_life(&out);

		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		/* An engine without memory for its index looks at every node instead. */
		assert_true(r == -ENOMEM || r == 0);
		if (r < 0)
			continue;
		autoplayback *playback = playback_new("log");

		assert_int_equal(play(playback, out.data, NULL), 0);
	}
}

TEST(every_allocation_fails_once_reading)
{
	autostrbuf log = STRBUF_INIT(LOG_MAX);
	struct world world;

	live(&log, 3, 20, &world);
	for (unsigned n = 0;; n++) {
		struct playback *playback;
		int r = -ENOMEM;

		fault_arm(n);
		playback = playback_new("log");
		if (playback) {
			r = play(playback, log.data, NULL);
			playback_free(playback);
		}
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_true(r == -ENOMEM || r == 0);
	}
}
