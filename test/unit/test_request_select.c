/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject/inject.h"

#define CARD_0 "GPU-aaaaaaaa-0000"
#define CARD_1 "GPU-bbbbbbbb-1111"
#define MIG_0  "MIG-00000000-aaaa"
#define MIG_1  "MIG-11111111-bbbb"

/* Card 1 is in MIG mode with two instances; card 2 is lost; the last one is not listed by NVML. */
struct machine {
	struct card cards[4];
	struct card_instance instances[2];
	struct inventory inventory;
};

static void machine_init(struct machine *machine)
{
	*machine = (struct machine){
		.cards = {
			{ .index = 0, .minor = 3, .uuid = CARD_0, .bus_id = "0000:07:00.0" },
			{ .index = 1, .minor = 1, .uuid = CARD_1, .bus_id = "3e3f8e05:00:00.0",
			  .mig_enabled = true },
			{ .index = 2, .minor = 2, .uuid = "GPU-lost", .bus_id = "0000:0f:00.0",
			  .condition = { .health = CARD_LOST, .cause = "fell off the bus" } },
			{ .index = CARD_INDEX_NONE, .minor = 0, .uuid = "GPU-unlisted",
			  .bus_id = "0000:10:00.0" },
		},
		.instances = {
			{ .uuid = MIG_0, .profile = "1g.10gb", .index = 0, .gpu_instance = 7,
			  .compute_instance = 0 },
			{ .uuid = MIG_1, .profile = "2g.20gb", .index = 1, .gpu_instance = 3,
			  .compute_instance = 1 },
		},
	};
	machine->cards[1].instances = machine->instances;
	machine->cards[1].instance_count = ARRAY_SIZE(machine->instances);
	machine->inventory.cards = machine->cards;
	machine->inventory.card_count = ARRAY_SIZE(machine->cards);
}

/* What the kernel alone tells: no UUID of an instance, none of a card that nobody opened. */
static void machine_forget(struct machine *machine)
{
	machine->inventory.kernel_only = true;
	snprintf(machine->cards[0].uuid, CARD_UUID_MAX, "unknown-%s", machine->cards[0].bus_id);
	for (size_t i = 0; i < ARRAY_SIZE(machine->instances); i++) {
		machine->instances[i].uuid[0] = '\0';
		machine->instances[i].profile[0] = '\0';
		machine->instances[i].index = CARD_INDEX_NONE;
	}
}

static void request_of(const char *names, struct device_request *request)
{
	*request = (struct device_request){ .source = SOURCE_ENVIRONMENT };
	while (*names) {
		size_t length = strcspn(names, ",");
		autofree char *name = strndup(names, length);

		if (strcmp(name, "all") == 0)
			request->all = true;
		else
			assert_int_equal(string_list_add(&request->devices, name), 0);
		names += length + (names[length] == ',');
	}
}

static void describe(const struct device_selection *selection, struct strbuf *out)
{
	for (size_t i = 0; i < selection->cards.card_count; i++)
		strbuf_addf(out, "%s%s", out->length ? " " : "", selection->cards.cards[i].uuid);
	for (size_t i = 0; i < selection->instances.card_count; i++)
		strbuf_addf(out, "%s%s", out->length ? " " : "",
			    selection->instances.cards[i].uuid);
	if (*selection->instances.mig_profile)
		strbuf_addf(out, " of %s", selection->instances.mig_profile);
}

enum { KERNEL = 1 << 0, CONFIG = 1 << 1 };

static const struct {
	const char *names;
	unsigned flags;
	const char *answer;
	enum reason_code code; /* refused, and the answer is a part of the sentence */
} rows[] = {
	{ "", 0, "", 0 },
	{ "0", 0, CARD_0, 0 },
	{ "1", 0, CARD_1, 0 },
	{ CARD_1 "," CARD_0, 0, CARD_1 " " CARD_0, 0 },
	{ "gpu-AAAAAAAA-0000", 0, CARD_0, 0 },
	{ "0," CARD_0 ",0000:07:00.0", 0, CARD_0, 0 },
	{ "00000000:07:00.0", 0, CARD_0, 0 },
	{ "3E3F8E05:00:00.0", 0, CARD_1, 0 },
	{ "0000:10:00.0", 0, "GPU-unlisted", 0 },
	{ "GPU-lost", 0, "GPU-lost", 0 },
	{ "1:0", 0, MIG_0 " of 1g.10gb", 0 },
	{ "1:1", 0, MIG_1 " of 2g.20gb", 0 },
	{ "1:1," MIG_0, 0, MIG_1 " " MIG_0, 0 },
	{ MIG_1 ",1:1", 0, MIG_1 " of 2g.20gb", 0 },
	{ "mig-00000000-AAAA", 0, MIG_0 " of 1g.10gb", 0 },
	{ "MIG-" CARD_1 "/3/1", 0, MIG_1 " of 2g.20gb", 0 },
	{ "0,1:0", 0, CARD_0 " " MIG_0 " of 1g.10gb", 0 },
	{ "all", 0, CARD_0 " " MIG_0 " " MIG_1, 0 },
	{ "all,1", 0, CARD_0 " " CARD_1 " " MIG_0 " " MIG_1, 0 },
	{ "all", CONFIG, CARD_0 " " CARD_1 " " MIG_0 " " MIG_1, 0 },
	{ "4", 0, "asks for 4, which is none of the 4 cards of this machine and none of the 2 MIG",
	  REASON_UNKNOWN_DEVICE },
	{ "4294967295", 0, "asks for 4294967295, which", REASON_UNKNOWN_DEVICE },
	{ "-1", 0, "asks for -1, which", REASON_UNKNOWN_DEVICE },
	{ "GPU-aaaaaaaa", 0, "asks for GPU-aaaaaaaa, which", REASON_UNKNOWN_DEVICE },
	{ "0:0", 0, "asks for 0:0, which", REASON_UNKNOWN_DEVICE },
	{ "1:2", 0, "asks for 1:2, which", REASON_UNKNOWN_DEVICE },
	{ "1:", 0, "asks for 1:, which", REASON_UNKNOWN_DEVICE },
	{ ":0", 0, "asks for :0, which", REASON_UNKNOWN_DEVICE },
	{ "MIG-x", 0, "asks for MIG-x, which", REASON_UNKNOWN_DEVICE },
	{ "MIG-" CARD_1 "/3/0", 0, "/3/0, which", REASON_UNKNOWN_DEVICE },
	{ "MIG-" CARD_0 "/3/1", 0, "/3/1, which", REASON_UNKNOWN_DEVICE },
	{ "MIG-" CARD_1 "/3", 0, "/3, which", REASON_UNKNOWN_DEVICE },
	{ "07:00.0", 0, "asks for 07:00.0, which", REASON_UNKNOWN_DEVICE },
	{ "0000:07:00.01", 0, "asks for 0000:07:00.01, which", REASON_UNKNOWN_DEVICE },
	{ "000000000:07:00.0", 0, "asks for 000000000:07:00.0, which", REASON_UNKNOWN_DEVICE },
	{ "0,everything", 0, "asks for everything, which", REASON_UNKNOWN_DEVICE },
	/* what the kernel alone tells */
	{ "0", KERNEL, "unknown-0000:07:00.0", 0 },
	{ "0000:07:00.0,0", KERNEL, "unknown-0000:07:00.0", 0 },
	{ CARD_1, KERNEL, CARD_1, 0 },
	{ "all", KERNEL, "unknown-0000:07:00.0 MIG-" CARD_1 "/7/0 MIG-" CARD_1 "/3/1", 0 },
	{ "MIG-" CARD_1 "/3/1", KERNEL, "MIG-" CARD_1 "/3/1", 0 },
	{ "MIG-3e3f8e05:00:00.0/3/1", KERNEL, "MIG-" CARD_1 "/3/1", 0 },
	{ CARD_0, KERNEL, "asks for " CARD_0 ", and what the kernel says", REASON_NO_INVENTORY },
	{ MIG_0, KERNEL, "Run gpupool inventory as root once", REASON_NO_INVENTORY },
	{ "1:0", KERNEL, "asks for 1:0, and what", REASON_NO_INVENTORY },
	{ "9", KERNEL, "asks for 9, which", REASON_UNKNOWN_DEVICE },
};

static void check_row(size_t i)
{
	struct machine machine;
	cleanup(device_request_release) struct device_request request;
	cleanup(device_selection_release) struct device_selection selection = { 0 };
	struct reason reason = { 0 };
	struct error error = ERROR_INIT;
	autostrbuf text = STRBUF_INIT(4096);

	machine_init(&machine);
	if (rows[i].flags & KERNEL)
		machine_forget(&machine);
	request_of(rows[i].names, &request);
	if (rows[i].flags & CONFIG)
		request.gated = GATED_MIG_CONFIG;
	int r = device_request_select(&request, &machine.inventory, &selection, &reason, &error);
	assert_int_equal(r, rows[i].code ? -ENODEV : 0);
	assert_int_equal(reason.code, rows[i].code);
	if (r == 0)
		describe(&selection, &text);
	if (r == 0 ? strcmp(text.data, rows[i].answer) != 0
		   : !strstr(error.message, rows[i].answer))
		fail_msg("row %zu: \"%s\", not \"%s\"", i, r == 0 ? text.data : error.message,
			 rows[i].answer);
	if (r < 0)
		assert_null(selection.cards.cards);
}

TEST(names_are_cards)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(i);
}

static void refused_all(const struct inventory *inventory, enum reason_code code, const char *part)
{
	struct device_request request = { .source = SOURCE_ENVIRONMENT, .all = true };
	struct device_selection selection = { 0 };
	struct reason reason = { .object = "container main" };
	struct error error = ERROR_INIT;

	assert_int_equal(device_request_select(&request, inventory, &selection, &reason, &error),
			 -ENODEV);
	assert_int_equal(reason.code, code);
	if (!strstr(error.message, part))
		fail_msg("%s", error.message);
	assert_null(selection.cards.cards);
}

TEST(all_of_nothing)
{
	struct inventory none = { 0 };
	struct machine machine;

	refused_all(&none, REASON_NO_DRIVER, "this machine offers no cards: no card is listed.");
	snprintf(none.problem, sizeof(none.problem), "the module is not loaded");
	refused_all(&none, REASON_NO_DRIVER, "offers no cards: the module is not loaded.");
	machine_init(&machine);
	machine.inventory.cards = &machine.cards[2];
	machine.inventory.card_count = 1;
	refused_all(&machine.inventory, REASON_CARD_LOST,
		    "container main wants 1 card, this machine has 0 usable of 1: card 2 "
		    "(GPU-lost) is lost, fell off the bus.");
	machine.inventory.cards = &machine.cards[1];
	machine.cards[1].instance_count = 0;
	refused_all(&machine.inventory, REASON_UNKNOWN_DEVICE, "asks for any MIG instance, which");
}

TEST(none_is_no_card)
{
	struct machine machine;
	const struct device_request request = { .source = SOURCE_ENVIRONMENT, .none = true };
	struct device_selection selection;

	machine_init(&machine);
	assert_int_equal(
		device_request_select(&request, &machine.inventory, &selection, NULL, NULL), 0);
	assert_int_equal(selection.cards.card_count + selection.instances.card_count, 0);
	assert_int_equal(selection.cards.kind, REQUEST_WHOLE);
	assert_int_equal(selection.instances.kind, REQUEST_MIG);
	device_selection_release(&selection);
}

TEST(selection_without_memory)
{
	struct machine machine;
	cleanup(device_request_release) struct device_request request;

	machine_init(&machine);
	request_of("0,all", &request);
	for (unsigned n = 0;; n++) {
		struct device_selection selection = { 0 };

		fault_arm(n);
		int r = device_request_select(&request, &machine.inventory, &selection, NULL, NULL);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			device_selection_release(&selection);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}
