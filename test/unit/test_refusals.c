/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of test/data/refusals.yaml in process, on machines made from the simulated driver's
 * profiles. Each decision is made by src/place and again by test/lib/naive_place.c, which knows
 * nothing of it; each field of the reason is the row's. test/integration/refusals.bats runs the
 * same rows through gpupool.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "local/local.h"
#include "naive_place.h"
#include "place_world.h"
#include "simdriver/profile.h"
#include "bare.h"

#define NODE      "server"
#define PID       "4711" /* of world_add_process() */
#define TEXT_MAX  4096
#define PODS_MAX  16
#define EXIT_NONE 3

struct machine {
	struct inventory inventory;
	struct pool *pool;
	struct naive_world world;
};

static void machine_release(struct machine *machine)
{
	pool_free(machine->pool);
	naive_release(&machine->world);
	inventory_release(&machine->inventory);
}

static void add_card(struct inventory *inventory, const struct sim_card_info *info)
{
	world_add_cards(inventory, 0, 1, info->name, 0, CARD_MODE_AUTO);
	struct card *card = &inventory->cards[inventory->card_count - 1];

	card->minor = info->minor;
	card->memory_bytes = info->memory_bytes;
	snprintf(card->uuid, sizeof(card->uuid), "%s", info->uuid);
}

/* As the device folder has it: a lost card tells nothing but what the kernel knows of it. */
static void lose_card(struct card *card)
{
	card->memory_bytes = 0;
	card->condition.health = CARD_LOST;
	snprintf(card->condition.cause, sizeof(card->condition.cause),
		 "the driver says: GPU is lost (NVML 15)");
}

static void use_card(const struct profile *profile, struct card *card, uint64_t mib)
{
	struct sim_card_info info;

	profile_card_info(profile, card->index, &info);
	world_add_process(card, false, mib + (info.context_bytes >> 20));
	card->processes[0].uid = 0;
	snprintf(card->processes[0].name, sizeof(card->processes[0].name), "/run/cuda_probe");
}

static void make_fault(const struct profile *profile, const char *fault,
		       struct inventory *inventory)
{
	char word[16] = "", card[16] = "", mib[16] = "0";
	char *const words[] = { word, card, mib };
	uint64_t number = 0, used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(words) && *fault; i++) {
		size_t length = strcspn(fault, " ");

		assert_true(length < sizeof(word));
		memcpy(words[i], fault, length);
		words[i][length] = '\0';
		fault += length + (fault[length] == ' ');
	}
	bool all = strcmp(card, "all") == 0;

	assert_true(all || parse_uint(card, 0, inventory->card_count - 1, &number) == 0);
	assert_int_equal(parse_uint(mib, 0, UINT32_MAX, &used), 0);
	for (size_t i = 0; i < inventory->card_count; i++) {
		if (!all && i != number)
			continue;
		if (strcmp(word, "foreign") == 0)
			use_card(profile, &inventory->cards[i], used);
		else if (strcmp(word, "lost") == 0)
			lose_card(&inventory->cards[i]);
		else
			fail_msg("unknown fault %s", word);
	}
}

static void change_card(struct json_object *change, struct inventory *inventory)
{
	uint64_t number = json_get_uint(change, "card", UINT64_MAX);
	const char *mode = json_get_string(change, "mode", NULL);
	const char *health = json_get_string(change, "health", NULL);
	struct card *card;

	assert_true(number < inventory->card_count);
	card = &inventory->cards[number];
	if (mode) {
		card->mode = card_mode_from_string(mode);
		assert_true((int)card->mode >= 0);
	}
	if (health) {
		card->condition.health = card_health_from_string(health);
		assert_true((int)card->condition.health >= 0);
		snprintf(card->condition.cause, sizeof(card->condition.cause), "%s",
			 json_get_string(change, "cause", ""));
	}
}

static void make_machine(struct json_object *row, struct machine *ret)
{
	const struct profile *profile = profile_find(json_get_string(row, "machine", ""));
	const char *fault = json_get_string(row, "fault", NULL);
	struct json_object *changes = json_get(row, "cards");

	assert_non_null(profile);
	*ret = (struct machine){ .pool = pool_new() };
	assert_non_null(ret->pool);
	inventory_init(&ret->inventory);
	for (uint32_t i = 0; i < profile->card_count; i++) {
		struct sim_card_info info;

		profile_card_info(profile, i, &info);
		add_card(&ret->inventory, &info);
	}
	world_link(&ret->inventory, WORLD_ALL);
	if (fault)
		make_fault(profile, fault, &ret->inventory);
	for (size_t i = 0; changes && i < json_object_array_length(changes); i++)
		change_card(json_object_array_get_idx(changes, i), &ret->inventory);
	pool_withhold(ret->pool, REQUEST_MIG); /* as the program does */
	assert_int_equal(bare_add_node(ret->pool, NODE, &ret->inventory, NULL), 0);
	ret->world = (struct naive_world){ .inventories = &ret->inventory,
					   .node_count = 1,
					   .no_mig = true };
}

/* The machine as kube-scheduler knows it, from the list of grants alone. */
static void naive_count(const struct machine *machine, const struct request *request,
			int64_t *ret_allocatable, int64_t *ret_free)
{
	const struct naive_world *world = &machine->world;

	*ret_allocatable = *ret_free = 0;
	for (unsigned i = 0; i < machine->inventory.card_count; i++) {
		const struct card *card = &machine->inventory.cards[i];
		int64_t units = (int64_t)(card->memory_bytes >> 30), slices = 0, wholes = 0;
		bool may_whole = card->mode == CARD_MODE_WHOLE || card->mode == CARD_MODE_AUTO;
		bool may_slice = card->mode == CARD_MODE_SLICES || card->mode == CARD_MODE_AUTO;

		for (size_t g = 0; g < world->grant_count; g++)
			for (unsigned k = 0; k < world->grants[g].count; k++)
				if (world->grants[g].cards[k] == i)
					*(world->grants[g].kind == REQUEST_WHOLE ? &wholes
										 : &slices) +=
						world->grants[g].units[k];
		if (card->condition.health != CARD_HEALTHY)
			continue;
		if (request->kind == REQUEST_WHOLE && may_whole && !slices) {
			*ret_allocatable += 1;
			*ret_free += !wholes;
		} else if (request->kind == REQUEST_SLICE && may_slice && !wholes) {
			*ret_allocatable += units;
			*ret_free += units - slices;
		}
	}
}

/* What kube-scheduler would do: "" it lets the Pod pass, else a piece of its sentence. */
static const char *naive_kubernetes(const struct machine *machine, const struct request *request)
{
	int64_t allocatable, free, wanted = request->cards;

	if (request->kind == REQUEST_SLICE)
		wanted *= request->units;
	naive_count(machine, request, &allocatable, &free);
	if (wanted <= free)
		return "";
	return wanted <= allocatable ? "1 No preemption victims found for incoming pod."
				     : "1 Preemption is not helpful for scheduling.";
}

struct outcome {
	int exit;
	bool naive; /* the oracle was asked */
	struct reason reason;
	struct naive_answer answer;
	char kubernetes[64]; /* a piece of the sentence, by the oracle */
};

static void hold(struct machine *machine, const struct request *request,
		 const struct placement *placement)
{
	struct naive_world *world = &machine->world;
	uint64_t id;

	assert_int_equal(bare_hold(machine->pool, request, placement, &id), 0);
	struct naive_grant *grant =
		VEC_ADD(&world->grants, &world->grant_count, &world->grant_capacity);
	assert_non_null(grant);
	*grant = (struct naive_grant){ .id = id,
				       .kind = request->kind,
				       .node = placement->node,
				       .count = placement->count,
				       .compute = placement->compute_percent };
	memcpy(grant->cards, placement->cards, sizeof(grant->cards));
	memcpy(grant->units, placement->units, sizeof(grant->units));
}

/* 0, or the exit code of a refusal. */
static int place_pod(struct machine *machine, const struct pod *pod, struct outcome *ret)
{
	for (size_t i = 0; i < pod->container_count; i++) {
		const struct request *request = &pod->containers[i].request;
		char object[REASON_TEXT_MAX];
		struct placement placement;

		container_object(pod, &pod->containers[i], object, sizeof(object));
		int r = bare_decide(machine->pool, request, object, &placement, &ret->reason);
		naive_decide(&machine->world, request, -1, &ret->answer);
		assert_int_equal(r, ret->answer.result);
		if (r == 0) {
			hold(machine, request, &placement);
			continue;
		}
		ret->naive = true;
		snprintf(ret->kubernetes, sizeof(ret->kubernetes), "%s",
			 naive_kubernetes(machine, request));
		local_scheduler_sentence(machine->pool, request, &ret->reason);
		return r == -EAGAIN ? 5 : 4;
	}
	return 0;
}

static void apply(struct machine *machine, const struct yaml_stream *stream, struct outcome *ret)
{
	struct pod pods[PODS_MAX];
	size_t count = 0;
	int code = 0;

	assert_in_range(stream->count, 1, PODS_MAX);
	for (; code == 0 && count < stream->count; count++)
		if (pod_from_json(stream->documents[count], "row", &pods[count], &ret->reason,
				  NULL) < 0) {
			assert_int_not_equal(ret->reason.code, REASON_NONE);
			code = 4;
			break;
		}
	for (size_t i = 0; code == 0 && i < count; i++)
		code = place_pod(machine, &pods[i], ret);
	for (size_t i = 0; i < count; i++)
		pod_release(&pods[i]);
	ret->exit = code;
}

static void apply_text(struct machine *machine, const char *text, struct outcome *ret)
{
	autoyaml stream = { .name = NULL };
	struct error error = ERROR_INIT;

	if (yaml_parse(text, strlen(text), "row", &stream, &error) < 0)
		fail_msg("%s", error.message);
	apply(machine, &stream, ret);
}

static void run_row(struct json_object *row, enum naive_fault fault, struct outcome *ret)
{
	const char *holders = json_get_string(row, "hold", NULL);
	const char *file = json_get_string(row, "file", NULL);
	struct machine machine;

	*ret = (struct outcome){ .exit = 0 };
	make_machine(row, &machine);
	if (holders) {
		apply_text(&machine, holders, ret);
		assert_int_equal(ret->exit, 0);
	}
	machine.world.fault = fault;
	if (file) {
		autoyaml stream = { .name = NULL };
		char path[TEXT_MAX];

		snprintf(path, sizeof(path), "%s/%s", SOURCE_ROOT, file);
		assert_int_equal(yaml_read_file(path, &stream, NULL), 0);
		apply(&machine, &stream, ret);
	} else {
		apply_text(&machine, json_get_string(row, "pods", ""), ret);
	}
	machine_release(&machine);
}

/* TEXT with the names that only a run knows. */
static const char *filled(const char *text, char *ret, size_t size)
{
	static const char *const names[][2] = { { "{node}", NODE }, { "{pid}", PID } };
	autostrbuf out = STRBUF_INIT(TEXT_MAX);

	while (*text) {
		size_t i = 0;

		while (i < ARRAY_SIZE(names) &&
		       strncmp(text, names[i][0], strlen(names[i][0])) != 0)
			i++;
		if (i < ARRAY_SIZE(names)) {
			strbuf_adds(&out, names[i][1]);
			text += strlen(names[i][0]);
		} else {
			strbuf_add(&out, text++, 1);
		}
	}
	snprintf(ret, size, "%s", out.data ? out.data : "");
	return ret;
}

static struct json_object *expected_reason(struct json_object *row)
{
	struct json_object *expected = json_object_new_object();
	char text[TEXT_MAX];

	json_object_object_foreach(json_get(row, "reason"), key, value)
	{
		if (json_object_is_type(value, json_type_string))
			json_add_string(expected, key,
					filled(json_object_get_string(value), text, sizeof(text)));
		else
			json_object_object_add(expected, key, json_object_get(value));
	}
	return expected;
}

/* The oracle's numbers, where it was asked. */
static bool oracle_agrees(struct json_object *expected, const struct outcome *outcome)
{
	const struct naive_answer *answer = &outcome->answer;
	const char *kubernetes = json_get_string(expected, "kubernetes", "");

	if (!outcome->naive)
		return true;
	return strcmp(json_get_string(expected, "code", ""), reason_name(answer->code)) == 0 &&
	       json_object_get_int64(json_get(expected, "wanted")) == answer->wanted &&
	       json_object_get_int64(json_get(expected, "have")) == answer->have &&
	       json_object_get_int64(json_get(expected, "total")) == answer->total &&
	       !kubernetes[0] == !outcome->kubernetes[0] && strstr(kubernetes, outcome->kubernetes);
}

static bool row_agrees(struct json_object *row, const struct outcome *outcome, bool tell)
{
	autojson *expected = expected_reason(row);
	autojson *actual = NULL;

	assert_int_equal(reason_to_json(&outcome->reason, &actual, NULL), 0);
	bool agrees = json_get_uint(row, "exit", 0) == (uint64_t)outcome->exit &&
		      json_object_equal(expected, actual) && oracle_agrees(expected, outcome);

	if (!agrees && tell)
		print_message(
			"# %s: exit %d, oracle %s %lld %lld %lld\n%s\n",
			json_get_string(row, "name", ""), outcome->exit,
			reason_name(outcome->answer.code), (long long)outcome->answer.wanted,
			(long long)outcome->answer.have, (long long)outcome->answer.total,
			json_object_to_json_string_ext(
				actual, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	return agrees;
}

/* A driver that gives no cards is the device folder's to say, and refusals.bats runs it. */
static bool runs_here(struct json_object *row)
{
	return json_get_uint(row, "exit", 0) != EXIT_NONE;
}

static void read_rows(struct yaml_stream *ret)
{
	struct error error = ERROR_INIT;

	if (yaml_read_file(SOURCE_ROOT "/test/data/refusals.yaml", ret, &error) < 0)
		fail_msg("%s", error.message);
}

TEST(every_row_is_refused_as_it_says)
{
	autoyaml rows = { .name = NULL };
	unsigned differ = 0, run = 0, asked = 0;

	read_rows(&rows);
	for (size_t i = 0; i < rows.count; i++) {
		struct outcome outcome;

		if (!runs_here(rows.documents[i]))
			continue;
		run_row(rows.documents[i], NAIVE_RIGHT, &outcome);
		differ += !row_agrees(rows.documents[i], &outcome, true);
		run++;
		asked += outcome.naive;
	}
	print_message("# %u rows, the oracle asked for %u\n", run, asked);
	assert_true(run > 0 && asked > 0);
	assert_int_equal(differ, 0);
}

/* The first rule of the API server that a container breaks, read from the tree alone. */
static const char *naive_rule(struct json_object *limit, struct json_object *request)
{
	double limited = json_object_get_double(limit), requested = json_object_get_double(request);
	double one = limit ? limited : requested;

	if (one != (double)(int64_t)one)
		return "not_integer";
	if (one < 0)
		return "bad_request";
	if (!limit)
		return "no_limit";
	return request && limited != requested ? "not_equal" : NULL;
}

/* For rows that never reach a decision: the rule, and the numbers where it has some. */
static bool rule_agrees(struct json_object *row)
{
	autoyaml stream = { .name = NULL };
	const char *text = json_get_string(row, "pods", NULL);
	const char *file = json_get_string(row, "file", NULL);
	struct json_object *expected = json_get(row, "reason"), *limit = NULL, *request = NULL;
	char path[TEXT_MAX];

	snprintf(path, sizeof(path), "%s/%s", SOURCE_ROOT, file ? file : "");
	int r = file ? yaml_read_file(path, &stream, NULL)
		     : yaml_parse(text, strlen(text), "row", &stream, NULL);
	assert_int_equal(r, 0);
	struct json_object *container = json_object_array_get_idx(
		json_get(json_get(stream.documents[0], "spec"), "containers"), 0);
	struct json_object *resources = json_get(container, "resources");

	json_object_object_get_ex(json_get(resources, "limits"), "nvidia.com/gpu", &limit);
	json_object_object_get_ex(json_get(resources, "requests"), "nvidia.com/gpu", &request);
	const char *rule = naive_rule(limit, request);

	if (!rule || strcmp(rule, json_get_string(expected, "code", "")) != 0)
		return false;
	if (strcmp(rule, "not_equal") != 0)
		return true;
	return json_object_get_int64(json_get(expected, "wanted")) ==
		       json_object_get_int64(limit) &&
	       json_object_get_int64(json_get(expected, "have")) == json_object_get_int64(request);
}

TEST(rules_of_the_api_server_by_hand)
{
	static const char *const names[] = {
		"half a card",
		"requests without limits",
		"requests differ from limits",
		"a negative number of cards",
	};
	autoyaml rows = { .name = NULL };
	unsigned run = 0;

	read_rows(&rows);
	for (size_t i = 0; i < rows.count; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			if (strcmp(names[k], json_get_string(rows.documents[i], "name", "")) != 0)
				continue;
			assert_true(rule_agrees(rows.documents[i]));
			run++;
		}
	}
	assert_int_equal(run, ARRAY_SIZE(names));
}

/* A row with another value in one field, each field in turn, must differ. */
TEST(a_wrong_row_turns_red)
{
	autoyaml rows = { .name = NULL };
	unsigned wrong = 0;

	read_rows(&rows);
	for (size_t i = 0; i < rows.count; i++) {
		struct outcome outcome;

		if (!runs_here(rows.documents[i]))
			continue;
		run_row(rows.documents[i], NAIVE_RIGHT, &outcome);
		json_object_object_foreach(json_get(rows.documents[i], "reason"), key, value)
		{
			autojson *row = NULL;
			struct json_object *changed;

			assert_int_equal(json_copy(rows.documents[i], &row, NULL), 0);
			changed = json_object_is_type(value, json_type_int)
					  ? json_object_new_int64(json_object_get_int64(value) + 1)
					  : json_object_new_string("another");
			json_object_object_add(json_get(row, "reason"), key, changed);
			assert_false(row_agrees(row, &outcome, false));
			wrong++;
		}
	}
	print_message("# %u wrong fields seen\n", wrong);
	assert_true(wrong > 0);
}

/* An oracle that counts one too many must differ from every row that it is asked for. */
TEST(a_wrong_oracle_turns_red)
{
	autoyaml rows = { .name = NULL };
	unsigned asked = 0;

	read_rows(&rows);
	for (size_t i = 0; i < rows.count; i++) {
		struct outcome outcome;

		if (!runs_here(rows.documents[i]))
			continue;
		run_row(rows.documents[i], NAIVE_HAVE_OFF_BY_ONE, &outcome);
		if (!outcome.naive)
			continue;
		assert_false(row_agrees(rows.documents[i], &outcome, false));
		asked++;
	}
	assert_true(asked > 0);
}
