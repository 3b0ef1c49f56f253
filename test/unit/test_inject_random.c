/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No plan ever allows a card, or an instance of one, that was not selected: random machines, driver
 * roots with wrong and missing nodes, specs with volumes and rules, requests. What is allowed is
 * worked out here from the names alone, without the code under test. GPUPOOL_TEST_SEED repeats a
 * run; GPUPOOL_TEST_SCALE sets its length.
 */
#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"
#include "inject/inject.h"

enum {
	CARD_MAX = 5,
	INSTANCE_MAX = 3,
	NODE_MAX = 64,
	NUMBER_MAX = 64,
	CASES = 200000, /* with scale 100 */
	FIRST_CAP = 10, /* minors of instances, after config and monitor */
	CARD_MAJOR = 195,
	CAPS_MAJOR = 511,
	DISPLAY_MAJOR = 226,
};
#define SEED_DEFAULT 20260711

struct random { /* xorshift64*; the same everywhere */
	uint64_t state;
};

static unsigned below(struct random *random, unsigned limit)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return (unsigned)((random->state * 0x2545f4914f6cdd1dull >> 33) % limit);
}

static bool chance(struct random *random, unsigned percent)
{
	return below(random, 100) < percent;
}

struct number {
	unsigned major, minor;
};

/* Everything of one case. Texts lie here, so that nothing has to be freed. */
struct machine {
	struct random *random;
	struct card cards[CARD_MAX];
	struct card_instance instances[CARD_MAX][INSTANCE_MAX];
	struct inventory inventory;
	struct driver_node nodes[NODE_MAX];
	char paths[NODE_MAX][96];
	struct driver_files files;
	struct device_request request;
	struct device_selection selection;
	struct json_object *before, *after;
	struct injection injection;
	/* By the names that were asked for. */
	bool card_granted[CARD_MAX], instance_granted[CARD_MAX][INSTANCE_MAX];
	struct number allowed[NUMBER_MAX];
	size_t allowed_count;
};

struct tally {
	uint64_t plans, refused, cards, instances, masks, bound, there, display, gated, channels,
		none, hosts;
};

static void make_cards(struct machine *machine)
{
	struct random *random = machine->random;
	unsigned count = 1 + below(random, CARD_MAX), turn = below(random, 7), cap = FIRST_CAP;

	for (unsigned i = 0; i < count; i++) {
		struct card *card = &machine->cards[i];

		card->index = chance(random, 5) ? CARD_INDEX_NONE : i;
		card->minor = chance(random, 3) ? CARD_MINOR_NONE : (i + turn) % 7;
		snprintf(card->uuid, sizeof(card->uuid), "GPU-%u", i);
		if (chance(random, 95))
			snprintf(card->bus_id, sizeof(card->bus_id), "0000:%02x:00.0", i + 1);
		card->condition.health = chance(random, 5) ? CARD_LOST : CARD_HEALTHY;
		card->mig_enabled = chance(random, 40);
		card->instances = machine->instances[i];
		card->instance_count = card->mig_enabled ? below(random, INSTANCE_MAX + 1) : 0;
		for (unsigned j = 0; j < card->instance_count; j++) {
			struct card_instance *instance = &card->instances[j];

			*instance = (struct card_instance){ .index = j,
							    .gpu_instance = j + 1,
							    .gpu_minor = cap,
							    .compute_minor = cap + 1 };
			cap += 2;
			snprintf(instance->uuid, sizeof(instance->uuid), "MIG-%u-%u", i, j);
			snprintf(instance->profile, sizeof(instance->profile), "1g.10gb%s",
				 chance(random, 30) ? "+gfx" : "");
		}
	}
	machine->inventory.cards = machine->cards;
	machine->inventory.card_count = count;
}

/* One node, now and then with the number of something else, or left out. */
static struct driver_node *add_node(struct machine *machine, unsigned major, unsigned minor,
				    const char *format, ...) __attribute__((format(printf, 4, 5)));

static struct driver_node *add_node(struct machine *machine, unsigned major, unsigned minor,
				    const char *format, ...)
{
	struct random *random = machine->random;
	size_t at = machine->files.node_count;
	struct driver_node *node = &machine->nodes[at];
	char name[sizeof(node->name)];
	va_list arguments;

	assert_true(at < NODE_MAX);
	if (chance(random, 1))
		return NULL;
	if (chance(random, 1))
		major = chance(random, 70) ? CARD_MAJOR : CAPS_MAJOR;
	if (chance(random, 1))
		minor = below(random, 20);
	va_start(arguments, format);
	vsnprintf(name, sizeof(name), format, arguments);
	va_end(arguments);
	memcpy(node->name, name, sizeof(name));
	snprintf(machine->paths[at], sizeof(machine->paths[at]), "/driver/dev/%s", name);
	node->path = machine->paths[at];
	node->major = major;
	node->minor = minor;
	machine->files.node_count++;
	return node;
}

static void add_display(struct machine *machine, unsigned i)
{
	struct driver_node *node = add_node(machine, DISPLAY_MAJOR, i, "dri/card%u", i);

	if (node)
		memcpy(node->bus_id, machine->cards[i].bus_id, sizeof(node->bus_id));
	node = add_node(machine, DISPLAY_MAJOR, 128 + i, "dri/renderD%u", 128 + i);
	if (node)
		memcpy(node->bus_id, machine->cards[i].bus_id, sizeof(node->bus_id));
}

static void make_nodes(struct machine *machine)
{
	static const struct {
		const char *name;
		unsigned major, minor, gated;
	} rows[] = {
		{ "nvidiactl", CARD_MAJOR, 255, 0 },
		{ "nvidia-modeset", CARD_MAJOR, 254, 0 },
		{ "nvidia-uvm", 510, 0, 0 },
		{ "nvidia-uvm-tools", 510, 1, 0 },
		{ "nvidia-caps/nvidia-cap1", CAPS_MAJOR, 1, GATED_MIG_CONFIG },
		{ "nvidia-caps/nvidia-cap2", CAPS_MAJOR, 2, GATED_MIG_MONITOR },
		{ "nvidia-fs0", 236, 0, GATED_GDS },
		{ "gdrdrv", 235, 0, GATED_GDRCOPY },
		{ "infiniband/rdma_cm", 10, 59, GATED_MOFED },
		{ "nvidia-nvswitchctl", 233, 255, GATED_NVSWITCH },
		{ "nvidia-caps-imex-channels/channel0", 234, 0, 0 },
		{ "nvidia-caps-imex-channels/channel1", 234, 1, 0 },
	};
	char *const root = machine->files.root;

	machine->files = (struct driver_files){ .root = root, .nodes = machine->nodes };
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct driver_node *node =
			add_node(machine, rows[i].major, rows[i].minor, "%s", rows[i].name);

		if (node)
			node->gated = rows[i].gated;
	}
	for (unsigned i = 0; i < machine->inventory.card_count; i++) {
		const struct card *card = &machine->cards[i];

		add_node(machine, CARD_MAJOR, card->minor, "nvidia%u", card->minor);
		add_display(machine, i);
		for (size_t j = 0; j < card->instance_count; j++) {
			unsigned minor = card->instances[j].gpu_minor;

			add_node(machine, CAPS_MAJOR, minor, "nvidia-caps/nvidia-cap%u", minor);
			add_node(machine, CAPS_MAJOR, minor + 1, "nvidia-caps/nvidia-cap%u",
				 minor + 1);
		}
	}
}

/* A name of card I, or of instance J of it, and what it grants. */
static void ask_for(struct machine *machine, unsigned i, unsigned j, bool instance)
{
	const struct card *card = &machine->cards[i];
	char name[CARD_UUID_MAX];
	unsigned form = below(machine->random, 3);

	if (instance && form == 0 && card->index != CARD_INDEX_NONE)
		snprintf(name, sizeof(name), "%u:%u", card->index, j);
	else if (instance && form == 1)
		snprintf(name, sizeof(name), "mig-gpu-%u/%u/0", i, j + 1);
	else if (instance)
		snprintf(name, sizeof(name), "MIG-%u-%u", i, j);
	else if (form == 0 && card->index != CARD_INDEX_NONE)
		snprintf(name, sizeof(name), "%u", card->index);
	else if (form == 1 && *card->bus_id)
		snprintf(name, sizeof(name), "0000%s", card->bus_id);
	else
		snprintf(name, sizeof(name), "gpu-%u", i);
	assert_int_equal(string_list_add(&machine->request.devices, name), 0);
	if (instance)
		machine->instance_granted[i][j] = true;
	else
		machine->card_granted[i] = true;
}

static void ask_for_all(struct machine *machine)
{
	machine->request.all = true;
	for (unsigned i = 0; i < machine->inventory.card_count; i++) {
		const struct card *card = &machine->cards[i];

		if (card->index == CARD_INDEX_NONE || card->condition.health == CARD_LOST)
			continue;
		machine->card_granted[i] =
			!card->mig_enabled ||
			(machine->request.gated & (GATED_MIG_CONFIG | GATED_MIG_MONITOR));
		for (unsigned j = 0; j < card->instance_count; j++)
			machine->instance_granted[i][j] = true;
	}
}

static void make_request(struct machine *machine)
{
	struct random *random = machine->random;
	struct device_request *request = &machine->request;

	request->source = SOURCE_ENVIRONMENT;
	request->capabilities = chance(random, 30) ? CAPABILITY_ALL : below(random, 128);
	request->gated = chance(random, 20) ? below(random, 64) : 0;
	for (unsigned channel = 0; channel < 2; channel++)
		if (chance(random, 5))
			assert_int_equal(string_list_add(&request->imex, channel ? "1" : "0"), 0);
	request->none = chance(random, 5);
	if (request->none)
		return;
	if (chance(random, 15))
		ask_for_all(machine);
	if (chance(random, 2))
		assert_int_equal(string_list_add(&request->devices, "99"), 0);
	for (unsigned i = 0; i < machine->inventory.card_count; i++) {
		if (chance(random, 35))
			ask_for(machine, i, 0, false);
		for (unsigned j = 0; j < machine->cards[i].instance_count; j++)
			if (chance(random, 40))
				ask_for(machine, i, j, true);
	}
}

static void make_spec(struct machine *machine)
{
	static const struct oci_mount mounts[] = {
		{ "/dev", "/driver/dev", "bind", "rbind" },
		{ "/dev/nvidia0", "/driver/dev/nvidia0", "bind", "rbind" },
		{ "/dev/nvidia1", "/driver/dev/nvidia2", "bind", "rbind" },
		{ "/dev/dri", "/driver/dev/dri", "bind", "rbind" },
		{ "/data", "/volume", "bind", "rbind" },
		{ "/dev", "/volume", "bind", "rbind" },
	};
	static const char *const arguments[] = { "sleep", NULL };
	const struct oci_base base = { .root_path = "/r",
				       .arguments = arguments,
				       .working_directory = "/",
				       .namespaces = OCI_NAMESPACE_ALL };
	struct random *random = machine->random;

	assert_int_equal(oci_spec_base(&base, &machine->before, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++)
		if (chance(random, i < 4 ? 10 : 3))
			assert_int_equal(oci_spec_add_mount(machine->before, &mounts[i], NULL), 0);
	/* a rule that somebody else put there is not ours to judge */
	if (chance(random, 10))
		assert_int_equal(oci_spec_add_device_rule(machine->before, 'c', CARD_MAJOR,
							  below(random, 7), "rw", NULL),
				 0);
	if (chance(random, 10))
		json_object_object_del(json_get(machine->before, "linux"), "maskedPaths");
	assert_int_equal(json_copy(machine->before, &machine->after, NULL), 0);
}

static void allow(struct machine *machine, unsigned major, unsigned minor)
{
	assert_true(machine->allowed_count < NUMBER_MAX);
	machine->allowed[machine->allowed_count++] = (struct number){ major, minor };
}

static bool is_granted(const struct machine *machine, unsigned i)
{
	bool granted = machine->card_granted[i];

	for (unsigned j = 0; j < INSTANCE_MAX; j++)
		granted |= machine->instance_granted[i][j];
	return granted;
}

/* Numbers of cards, instances and displays. Other numbers belong to nobody. */
static void work_out(struct machine *machine)
{
	allow(machine, CARD_MAJOR, 255);
	allow(machine, CARD_MAJOR, 254);
	for (unsigned bit = 0; bit < 2; bit++)
		if (machine->request.gated & (bit ? GATED_MIG_MONITOR : GATED_MIG_CONFIG))
			allow(machine, CAPS_MAJOR, bit + 1);
	for (unsigned i = 0; i < machine->inventory.card_count; i++) {
		const struct card *card = &machine->cards[i];

		if (!is_granted(machine, i))
			continue;
		allow(machine, CARD_MAJOR, card->minor);
		allow(machine, DISPLAY_MAJOR, i);
		allow(machine, DISPLAY_MAJOR, 128 + i);
		for (unsigned j = 0; j < card->instance_count; j++) {
			if (!machine->instance_granted[i][j])
				continue;
			allow(machine, CAPS_MAJOR, card->instances[j].gpu_minor);
			allow(machine, CAPS_MAJOR, card->instances[j].compute_minor);
		}
	}
}

/* A node of the driver root that lies about itself may be a number of nobody, never a card's. */
static bool is_allowed(const struct machine *machine, unsigned major, unsigned minor)
{
	bool known = major == CARD_MAJOR || (major == CAPS_MAJOR && minor >= 1 &&
					     minor < FIRST_CAP + 2 * CARD_MAX * INSTANCE_MAX);

	for (size_t i = 0; i < machine->allowed_count; i++)
		if (machine->allowed[i].major == major && machine->allowed[i].minor == minor)
			return true;
	return !known && major != DISPLAY_MAJOR;
}

static bool has_item(struct json_object *list, struct json_object *item)
{
	for (size_t i = 0; list && i < json_object_array_length(list); i++)
		if (json_object_equal(json_object_array_get_idx(list, i), item))
			return true;
	return false;
}

/* What is wrong with the spec after the edits; NULL: nothing. */
static const char *check_rules(const struct machine *machine)
{
	struct json_object *old = json_get(machine->before, "linux.resources.devices");
	struct json_object *new = json_get(machine->after, "linux.resources.devices");

	for (size_t i = 0; new &&i < json_object_array_length(new); i++) {
		struct json_object *rule = json_object_array_get_idx(new, i);

		if (has_item(old, rule))
			continue;
		if (strcmp(json_get_string(rule, "access", ""), "rw") != 0 ||
		    strcmp(json_get_string(rule, "type", ""), "c") != 0)
			return "a rule is wider than rw of one character device";
		if (!is_allowed(machine, (unsigned)json_get_uint(rule, "major", CARD_MAJOR),
				(unsigned)json_get_uint(rule, "minor", 0)))
			return "a rule allows what was not selected";
	}
	return NULL;
}

static const char *check_nodes(const struct machine *machine)
{
	struct json_object *list = json_get(machine->after, "linux.devices");

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *node = json_object_array_get_idx(list, i);

		if (!is_allowed(machine, (unsigned)json_get_uint(node, "major", CARD_MAJOR),
				(unsigned)json_get_uint(node, "minor", 0)))
			return "a node is made that was not selected";
	}
	return NULL;
}

/* A bound node is the one of its name, and as allowed as a made one. */
static const char *check_mounts(const struct machine *machine)
{
	struct json_object *old = json_get(machine->before, "mounts");
	struct json_object *new = json_get(machine->after, "mounts");

	for (size_t i = json_object_array_length(old); i < json_object_array_length(new); i++) {
		struct json_object *mount = json_object_array_get_idx(new, i);
		const char *source = json_get_string(mount, "source", "");

		for (size_t j = 0; j < machine->files.node_count; j++) {
			const struct driver_node *node = &machine->nodes[j];

			if (strcmp(source, node->path) == 0 &&
			    !is_allowed(machine, node->major, node->minor))
				return "a node is mounted that was not selected";
		}
	}
	return NULL;
}

static const char *check_masks(const struct machine *machine, const struct edit_plan *plan,
			       struct tally *tally)
{
	bool allowed = json_get(machine->before, "linux.maskedPaths") != NULL;

	for (unsigned i = 0; i < machine->inventory.card_count; i++) {
		bool hidden = false;

		for (size_t j = 0; j < plan->count; j++)
			hidden |= plan->edits[j].kind == EDIT_MASK && *machine->cards[i].bus_id &&
				  strstr(plan->edits[j].name, machine->cards[i].bus_id);
		tally->masks += hidden;
		if (hidden != (allowed && *machine->cards[i].bus_id && !is_granted(machine, i)))
			return "the wrong cards are hidden";
	}
	return NULL;
}

/* Everything that was selected is there: a plan that grants nothing would pass the rest. */
static const char *check_whole(const struct machine *machine, const struct edit_plan *plan,
			       struct tally *tally)
{
	for (unsigned i = 0; i < machine->inventory.card_count; i++) {
		bool found = false;

		for (size_t j = 0; j < plan->count; j++)
			found |= plan->edits[j].kind == EDIT_DEVICE &&
				 plan->edits[j].major == CARD_MAJOR &&
				 plan->edits[j].minor == machine->cards[i].minor;
		if (found != is_granted(machine, i))
			return found ? "a card is there that was not selected"
				     : "a card that was selected is not there";
		tally->cards += found;
	}
	return NULL;
}

static void count_edits(const struct edit_plan *plan, struct tally *tally)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct edit *edit = &plan->edits[i];

		if (edit->kind != EDIT_DEVICE)
			continue;
		tally->bound += edit->node == EDIT_NODE_BOUND;
		tally->there += edit->node == EDIT_NODE_THERE;
		tally->display += edit->major == DISPLAY_MAJOR;
		tally->instances += edit->major == CAPS_MAJOR && edit->minor >= FIRST_CAP;
		tally->channels += edit->major == 234;
		tally->gated += strstr(edit->reason, "asked for by") != NULL;
	}
}

static const char *check_plan(struct machine *machine, const struct edit_plan *plan,
			      struct tally *tally)
{
	struct error error = ERROR_INIT;
	const char *wrong = NULL;

	if (edit_plan_apply_oci(plan, machine->after, &error) < 0)
		return "the plan cannot be applied";
	if (oci_spec_check(machine->after, "after", NULL) < 0)
		return "the spec is none any more";
	wrong = check_rules(machine);
	if (!wrong)
		wrong = check_nodes(machine);
	if (!wrong)
		wrong = check_mounts(machine);
	if (!wrong)
		wrong = check_masks(machine, plan, tally);
	if (!wrong)
		wrong = check_whole(machine, plan, tally);
	count_edits(plan, tally);
	tally->plans++;
	tally->none += machine->request.none;
	tally->hosts += machine->injection.target == INJECT_HOST;
	return wrong;
}

static const char *try_case(struct machine *machine, struct tally *tally)
{
	const struct grant *const grants[] = { &machine->selection.cards,
					       &machine->selection.instances };
	cleanup(edit_plan_release) struct edit_plan plan = { 0 };
	struct reason reason = { 0 };
	struct error error = ERROR_INIT;

	machine->injection = (struct injection){
		.inventory = &machine->inventory,
		.grants = grants,
		.grant_count = ARRAY_SIZE(grants),
		.files = &machine->files,
		.capabilities = machine->request.capabilities,
		.target = chance(machine->random, 10) ? INJECT_HOST : INJECT_IMAGE,
		.root_fd = -1,
		.spec = machine->before,
		.user_namespace = chance(machine->random, 20),
		.gated = machine->request.gated,
		.imex = &machine->request.imex,
	};
	int r = device_request_select(&machine->request, &machine->inventory, &machine->selection,
				      &reason, &error);
	if (r == 0)
		r = edit_plan_build(&machine->injection, &plan, &reason, &error);
	if (r == 0)
		return check_plan(machine, &plan, tally);
	tally->refused++;
	return *error.message && (r == -ENODEV || r == -EPERM) ? NULL : "refused without a word";
}

/* NULL, or what was wrong. */
static const char *run_case(struct random *random, struct tally *tally)
{
	static char root[] = "/driver";
	struct machine *machine = calloc(1, sizeof(*machine));

	assert_non_null(machine);
	machine->random = random;
	machine->files.root = root;
	make_cards(machine);
	make_nodes(machine);
	make_request(machine);
	make_spec(machine);
	work_out(machine);
	const char *wrong = try_case(machine, tally);
	json_object_put(machine->before);
	json_object_put(machine->after);
	device_selection_release(&machine->selection);
	device_request_release(&machine->request);
	free(machine);
	return wrong;
}

static uint64_t number_from(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);
	uint64_t number = 0;

	return text && parse_uint(text, 0, UINT64_MAX, &number) == 0 ? number : fallback;
}

TEST(no_plan_allows_what_was_not_selected)
{
	uint64_t seed = number_from("GPUPOOL_TEST_SEED", SEED_DEFAULT);
	uint64_t cases = CASES * number_from("GPUPOOL_TEST_SCALE", 1) / 100;
	struct random random = { .state = seed ? seed : 1 };
	struct tally tally = { 0 };
	const char *wrong = NULL;
	uint64_t at = 0;

	for (; !wrong && at < (cases ? cases : 1); at++)
		wrong = run_case(&random, &tally);
	const struct {
		const char *name;
		uint64_t count;
	} counts[] = {
		{ "plans", tally.plans },
		{ "refused", tally.refused },
		{ "cards granted", tally.cards },
		{ "nodes of instances", tally.instances },
		{ "cards hidden", tally.masks },
		{ "nodes mounted", tally.bound },
		{ "nodes that were there", tally.there },
		{ "display nodes", tally.display },
		{ "gated nodes", tally.gated },
		{ "IMEX channels", tally.channels },
		{ "plans without a card", tally.none },
		{ "plans on the host's root", tally.hosts },
	};
	unsigned zero = 0;

	print_message("# seed %" PRIu64 ", %" PRIu64 " cases\n", seed, at);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		print_message("# %s: %" PRIu64 "\n", counts[i].name, counts[i].count);
		zero += counts[i].count == 0;
	}
	if (wrong)
		fail_msg("seed %" PRIu64 ", case %" PRIu64 ": %s", seed, at, wrong);
	assert_int_equal(zero, 0);
}
