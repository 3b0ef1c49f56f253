/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"

#define GIB (1024ull * 1024 * 1024)

static void add_card(struct inventory *inventory, const char *uuid)
{
	struct card *card =
		VEC_ADD(&inventory->cards, &inventory->card_count, &inventory->card_capacity);

	assert_non_null(card);
	card->index = (unsigned)inventory->card_count - 1;
	card->minor = card->index;
	snprintf(card->uuid, sizeof(card->uuid), "%s", uuid);
	snprintf(card->model, sizeof(card->model), "NVIDIA A100-SXM4-80GB");
	snprintf(card->bus_id, sizeof(card->bus_id), "0000:0%u:00.0", card->index);
	card->memory_bytes = 80 * GIB;
	card->used_bytes = 3 * GIB;
	card->compute_major = 8;
	card->numa = -1;
	card->mode = CARD_MODE_AUTO;
}

static void add_relations(struct inventory *inventory)
{
	struct card *card = &inventory->cards[0];
	struct card_link *link = VEC_ADD(&card->links, &card->link_count, &card->link_capacity);
	struct card_process *process =
		VEC_ADD(&card->processes, &card->process_count, &card->process_capacity);

	assert_non_null(link);
	*link = (struct card_link){ .peer = 1, .kind = LINK_NVLINK, .lanes = 12 };
	assert_non_null(process);
	*process = (struct card_process){
		.pid = 4242, .uid = UINT32_MAX, .used_mib = 700, .granted = false, .name = "python3"
	};
	card = &inventory->cards[1];
	for (unsigned start = 4; start < 6; start++) {
		struct card_mig *mig = VEC_ADD(&card->mig, &card->mig_count, &card->mig_capacity);

		assert_non_null(mig);
		*mig = (struct card_mig){ .profile = "1g.10gb+me", .start = start };
	}
	snprintf(card->brand, sizeof(card->brand), "tesla");
	for (unsigned i = 0; i < 2; i++) {
		struct card_instance *instance =
			VEC_ADD(&card->instances, &card->instance_count, &card->instance_capacity);

		assert_non_null(instance);
		*instance = (struct card_instance){ .profile = "1g.10gb+me",
						    .index = i,
						    .gpu_instance = 9 + i,
						    .gpu_minor = 84,
						    .compute_minor = CARD_MINOR_NONE };
		snprintf(instance->uuid, sizeof(instance->uuid), "MIG-%u", i);
	}
}

static void fill(struct inventory *inventory)
{
	inventory_init(inventory);
	snprintf(inventory->driver_root, sizeof(inventory->driver_root), "/run/nvidia/driver");
	snprintf(inventory->driver_version, sizeof(inventory->driver_version), "550.54.15");
	snprintf(inventory->boot_id, sizeof(inventory->boot_id),
		 "5a8b2f3e-1111-2222-3333-444455556666");
	inventory->cuda_major = 12;
	inventory->cuda_minor = 4;
	inventory->mig_generation = UINT64_MAX; /* uint64 is kept */
	inventory->taken = 1796000000;
	inventory->real = true;
	add_card(inventory, "GPU-1");
	add_card(inventory, "GPU-2");
	add_relations(inventory);
	inventory->cards[1].condition = (struct card_condition){ .health = CARD_LOST,
								 .cause = "Xid 79",
								 .since = 1795999999 };
}

TEST(there_and_back)
{
	cleanup(inventory_release) struct inventory inventory, again;
	autojson *object = NULL, *copy = NULL;
	struct error error = ERROR_INIT;

	inventory_init(&again);
	fill(&inventory);
	assert_int_equal(inventory_to_json(&inventory, &object, &error), 0);
	if (inventory_from_json(object, &again, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(again.card_count, 2);
	assert_true(again.mig_generation == UINT64_MAX);
	assert_int_equal(again.cards[0].numa, -1);
	assert_int_equal(again.cards[0].mode, CARD_MODE_AUTO);
	assert_int_equal(again.cards[0].links[0].lanes, 12);
	assert_int_equal(again.cards[0].processes[0].uid, UINT32_MAX);
	assert_int_equal(again.cards[1].condition.health, CARD_LOST);
	assert_string_equal(again.cards[1].condition.cause, "Xid 79");
	assert_int_equal(again.cards[0].mig_count, 0);
	assert_int_equal(again.cards[1].mig_count, 2);
	assert_string_equal(again.cards[1].mig[1].profile, "1g.10gb+me");
	assert_int_equal(again.cards[1].mig[1].start, 5);
	assert_true(again.real);
	assert_string_equal(again.cards[0].brand, "");
	assert_string_equal(again.cards[1].brand, "tesla");
	assert_int_equal(again.cards[1].instance_count, 2);
	assert_string_equal(again.cards[1].instances[1].uuid, "MIG-1");
	assert_int_equal(again.cards[1].instances[1].gpu_instance, 10);
	assert_int_equal(again.cards[1].instances[1].compute_minor, CARD_MINOR_NONE);
	assert_false(again.kernel_only);
	assert_int_equal(inventory_to_json(&again, &copy, &error), 0);
	assert_true(json_object_equal(object, copy));
}

TEST(the_form_of_the_file)
{
	cleanup(inventory_release) struct inventory inventory;
	autojson *object = NULL;

	inventory_init(&inventory);
	add_card(&inventory, "GPU-1");
	assert_int_equal(inventory_to_json(&inventory, &object, NULL), 0);
	assert_string_equal(
		json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							       JSON_C_TO_STRING_NOSLASHESCAPE),
		"{\"version\":1,\"driverRoot\":\"\",\"driverVersion\":\"\",\"moduleVersion\":\"\","
		"\"nvmlVersion\":\"\",\"cudaMajor\":0,\"cudaMinor\":0,\"bootId\":\"\","
		"\"migGeneration\":0,\"taken\":0,\"real\":false,\"problem\":\"\",\"cards\":[{"
		"\"index\":0,\"minor\":0,\"uuid\":\"GPU-1\",\"model\":\"NVIDIA A100-SXM4-80GB\","
		"\"busId\":\"0000:00:00.0\",\"serial\":\"\",\"memoryBytes\":85899345920,"
		"\"usedBytes\":3221225472,\"computeMajor\":8,\"computeMinor\":0,\"numa\":-1,"
		"\"migCapable\":false,\"migEnabled\":false,\"mode\":\"auto\",\"health\":"
		"\"healthy\","
		"\"cause\":\"\",\"since\":0,\"links\":[],\"processes\":[]}]}");
}

/* One value of a good file replaced. PATH: keys and positions by dots; "-" removes. */
static const struct {
	const char *path, *value, *message;
} hostile[] = {
	{ "version", "-", "the inventory has no version" },
	{ "version", "\"1\"", "the inventory has no version" },
	{ "version", "2",
	  "the inventory has version 2 and this program reads version 1; write it anew with this "
	  "program" },
	{ "driverRoot", "-", "inventory.driverRoot is missing" },
	{ "driverRoot", "7", "inventory.driverRoot must be a string" },
	{ "driverRoot", "\"/a\\nb\"", "inventory.driverRoot holds the control character 0x0a" },
	{ "driverRoot", "\"/a\\u0000b\"", "inventory.driverRoot holds the control character 0x00" },
	{ "driverVersion", "\"550/../..\"",
	  "inventory.driverVersion is '550/../..'; only letters, digits and - . _ : are allowed" },
	{ "bootId", "\"0123456789012345678901234567890123456789\"",
	  "inventory.bootId has 40 bytes, at most 39 are allowed" },
	{ "cudaMajor", "1000",
	  "inventory.cudaMajor is 1000; it must be a whole number from 0 to 999" },
	{ "cudaMajor", "1.5",
	  "inventory.cudaMajor is 1.5; it must be a whole number from 0 to 999" },
	{ "taken", "-1",
	  "inventory.taken is -1; it must be a whole number from 0 to 9223372036854775807" },
	{ "taken", "18446744073709551615",
	  "inventory.taken is 18446744073709551615; it must be a whole number from 0 to "
	  "9223372036854775807" },
	{ "real", "1", "inventory.real must be true or false" },
	{ "cards", "{}", "inventory.cards must be a list" },
	{ "cards.0", "null", "cards[0] must be an object" },
	{ "cards.0.uuid", "\"\"", "cards[0].uuid is empty" },
	{ "cards.1.uuid", "\"GPU-1\"",
	  "cards[1].uuid GPU-1 is there twice; each card has its own" },
	{ "cards.0.uuid", "\"GPU 1\"",
	  "cards[0].uuid is 'GPU 1'; only letters, digits and - . _ : are allowed" },
	{ "cards.0.busId", "\"../../etc\"",
	  "cards[0].busId is '../../etc'; only letters, digits and - . _ : are allowed" },
	{ "cards.0.index", "4294967295",
	  "cards[0].index is 4294967295; it must be a whole number from 0 to 4294967294" },
	{ "cards.0.index", "-", "cards[0].index is missing" },
	{ "kernelOnly", "1", "inventory.kernelOnly must be true or false" },
	{ "cards.1.brand", "7", "cards[1].brand must be a string" },
	{ "cards.1.instances", "7", "cards[1].instances must be a list" },
	{ "cards.1.instances.0.uuid", "\"MIG/1\"",
	  "cards[1].instances[0].uuid is 'MIG/1'; only letters, digits and - . _ : are allowed" },
	{ "cards.1.instances.0.uuid", "\"MIG-1\"",
	  "cards[1].instances[1].uuid MIG-1 is there twice; each instance has its own" },
	{ "cards.1.instances.0.gpuInstance", "10", "cards[1].instances has 10/0 twice" },
	{ "cards.1.instances.0.gpuInstance", "256",
	  "cards[1].instances[0].gpuInstance is 256; it must be a whole number from 0 to 255" },
	{ "cards.0.minor", "-1",
	  "cards[0].minor is -1; it must be a whole number from 0 to 4294967294" },
	{ "cards.0.minor", "4294967296",
	  "cards[0].minor is 4294967296; it must be a whole number from 0 to 4294967294" },
	{ "cards.0.memoryBytes", "18446744073709551615",
	  "cards[0].memoryBytes is 18446744073709551615; it must be a whole number from 0 to "
	  "1125899906842624" },
	{ "cards.0.numa", "-2", "cards[0].numa is -2; it must be a whole number from -1 to 4095" },
	{ "cards.0.mode", "\"half\"",
	  "cards[0].mode is \"half\"; it must be \"whole\" or another known name" },
	{ "cards.0.health", "0",
	  "cards[0].health is 0; it must be \"healthy\" or another known name" },
	{ "cards.0.links", "-", "cards[0].links must be a list" },
	{ "cards.0.links.0.peer", "64",
	  "cards[0].links[0].peer is 64; it must be a whole number from 0 to 63" },
	{ "cards.0.links.0.peer", "2",
	  "cards[0].links[0].peer is 2; it must be the position of another of the 2 cards" },
	{ "cards.0.links.0.peer", "0",
	  "cards[0].links[0].peer is 0; it must be the position of another of the 2 cards" },
	{ "cards.0.links.0.kind", "\"NV12\"",
	  "cards[0].links[0].kind is \"NV12\"; it must be \"NVLINK\" or another known name" },
	{ "cards.1.mig", "{}", "cards[1].mig must be a list" },
	{ "cards.1.mig.0", "7", "cards[1].mig[0] must be an object" },
	{ "cards.1.mig.0.start", "16",
	  "cards[1].mig[0].start is 16; it must be a whole number from 0 to 15" },
	{ "cards.1.mig.1.profile", "-", "cards[1].mig[1].profile is missing" },
	{ "cards.0.processes.0.pid", "2147483648",
	  "cards[0].processes[0].pid is 2147483648; it must be a whole number from 0 to "
	  "2147483647" },
	{ "cards.0.processes.0.name",
	  "\"0123456789012345678901234567890123456789012345678901234567890123\"",
	  "cards[0].processes[0].name has 64 bytes, at most 63 are allowed" },
};

static struct json_object *parse(const char *text)
{
	struct json_object *object = NULL;
	struct json_tokener *tokener = json_tokener_new();

	assert_non_null(tokener);
	object = json_tokener_parse_ex(tokener, text, (int)strlen(text) + 1);
	json_tokener_free(tokener);
	return object;
}

static void replace(struct json_object *object, const char *path, const char *value)
{
	char key[64];
	size_t length = strcspn(path, ".");
	bool last = !path[length];

	snprintf(key, sizeof(key), "%.*s", (int)length, path);
	if (json_object_is_type(object, json_type_array)) {
		size_t at = (size_t)(key[0] - '0');
		if (last)
			json_object_array_put_idx(object, at, parse(value));
		else
			replace(json_object_array_get_idx(object, at), path + length + 1, value);
		return;
	}
	if (last && strcmp(value, "-") == 0)
		json_object_object_del(object, key);
	else if (last)
		json_object_object_add(object, key, parse(value));
	else
		replace(json_object_object_get(object, key), path + length + 1, value);
}

TEST(hostile_files)
{
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		cleanup(inventory_release) struct inventory inventory;
		struct inventory again = { .taken = 77 };
		autojson *object = NULL;
		struct error error = ERROR_INIT;

		print_message("# %s = %s\n", hostile[i].path, hostile[i].value);
		fill(&inventory);
		assert_int_equal(inventory_to_json(&inventory, &object, NULL), 0);
		replace(object, hostile[i].path, hostile[i].value);
		assert_int_equal(inventory_from_json(object, &again, &error), -EINVAL);
		assert_string_equal(error.message, hostile[i].message);
		assert_int_equal(again.taken, 77);
		assert_null(again.cards);
	}
	assert_int_equal(inventory_from_json(NULL, NULL, NULL), -EINVAL);
}

TEST(too_many_cards)
{
	cleanup(inventory_release) struct inventory inventory, again;
	autojson *object = NULL;
	struct error error = ERROR_INIT;
	char uuid[16];

	inventory_init(&inventory);
	inventory_init(&again);
	for (int i = 0; i < CARDS_MAX + 1; i++) {
		snprintf(uuid, sizeof(uuid), "GPU-%d", i);
		add_card(&inventory, uuid);
	}
	assert_int_equal(inventory_to_json(&inventory, &object, NULL), 0);
	assert_int_equal(inventory_from_json(object, &again, &error), -EINVAL);
	assert_string_equal(error.message, "inventory.cards has 65 items, at most 64 are allowed");
}

TEST(units_and_foreign_use)
{
	static const struct {
		uint64_t bytes;
		unsigned units;
	} cases[] = {
		{ 0, 0 }, { GIB - 1, 0 }, { GIB, 1 }, { 15 * GIB + 4, 15 }, { 80 * GIB - 1, 79 },
	};
	struct card_process processes[] = {
		{ .used_mib = 100, .granted = true },
		{ .used_mib = 30, .granted = false },
		{ .used_mib = 12, .granted = false },
	};
	struct card card = { .processes = processes, .process_count = 3 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		card.memory_bytes = cases[i].bytes;
		assert_int_equal(card_units(&card), cases[i].units);
	}
	assert_int_equal(card_foreign_mib(&card), 42);
	processes[1].used_mib = UINT64_MAX;
	assert_true(card_foreign_mib(&card) == UINT64_MAX);
}

TEST(names_both_ways)
{
	for (int i = 0; i < CARD_MODE_MAX; i++)
		assert_int_equal(card_mode_from_string(card_mode_to_string((enum card_mode)i)), i);
	for (int i = 0; i < CARD_HEALTH_MAX; i++)
		assert_int_equal(
			card_health_from_string(card_health_to_string((enum card_health)i)), i);
	for (int i = 0; i < LINK_KIND_MAX; i++)
		assert_int_equal(link_kind_from_string(link_kind_to_string((enum link_kind)i)), i);
	assert_string_equal(card_mode_to_string(CARD_MODE_REPLICAS), "replicas");
	assert_string_equal(card_health_to_string(CARD_SUSPECT), "suspect");
	assert_string_equal(link_kind_to_string(LINK_PHB), "PHB");
	assert_int_equal(card_mode_from_string("half"), CARD_MODE_INVALID);
	assert_string_equal(card_mode_to_string(CARD_MODE_INVALID), "invalid");
}

TEST(cards_by_uuid)
{
	cleanup(inventory_release) struct inventory inventory;

	fill(&inventory);
	assert_ptr_equal(inventory_find(&inventory, "GPU-2"), &inventory.cards[1]);
	assert_null(inventory_find(&inventory, "GPU-3"));
}

TEST(every_allocation_fails_once)
{
	cleanup(inventory_release) struct inventory inventory;

	fill(&inventory);
	for (unsigned n = 0;; n++) {
		cleanup(inventory_release) struct inventory again;
		autojson *object = NULL;

		inventory_init(&again);
		fault_arm(n);
		int r = inventory_to_json(&inventory, &object, NULL);
		if (r == 0)
			r = inventory_from_json(object, &again, NULL);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 50);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

TEST(a_card_in_words)
{
	static const struct {
		struct card card;
		const char *text;
	} rows[] = {
		{ { .index = 3, .uuid = "GPU-1", .bus_id = "0000:07:00.0" }, "card 3 (GPU-1)" },
		{ { .index = 3, .bus_id = "0000:07:00.0" }, "card 3 (0000:07:00.0)" },
		{ { .index = 3 }, "card 3" },
		{ { .index = CARD_INDEX_NONE, .uuid = "GPU-1", .bus_id = "0000:07:00.0" },
		  "card GPU-1" },
		{ { .index = CARD_INDEX_NONE, .bus_id = "0000:07:00.0" }, "card 0000:07:00.0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[CARD_DESCRIPTION_MAX];

		card_describe(&rows[i].card, text);
		assert_string_equal(text, rows[i].text);
	}
}

TEST(instances_by_uuid)
{
	cleanup(inventory_release) struct inventory inventory;
	const struct card *card = NULL;

	fill(&inventory);
	assert_ptr_equal(inventory_find_instance(&inventory, "MIG-1", &card),
			 &inventory.cards[1].instances[1]);
	assert_ptr_equal(card, &inventory.cards[1]);
	assert_null(inventory_find_instance(&inventory, "MIG-2", &card));
	inventory.cards[1].instances[0].uuid[0] = '\0';
	assert_null(inventory_find_instance(&inventory, "", &card));
}

/* Without the driver a card may have neither; both come back as they were. */
TEST(what_the_kernel_alone_cannot_know)
{
	struct card card = { .index = 0, .minor = CARD_MINOR_NONE, .uuid = "unknown-0000:01:00.0" };
	struct inventory inventory = { .cards = &card, .card_count = 1, .kernel_only = true }, read;
	struct error error = ERROR_INIT;
	autojson *object = NULL;

	assert_int_equal(inventory_to_json(&inventory, &object, &error), 0);
	inventory_init(&read);
	assert_int_equal(inventory_from_json(object, &read, &error), 0);
	assert_int_equal(read.cards[0].minor, CARD_MINOR_NONE);
	assert_true(read.kernel_only);
	inventory_release(&read);
}

/* What nobody knows is null, not a number that somebody would believe. */
TEST(an_unknown_index_is_null)
{
	struct card card = { .index = CARD_INDEX_NONE, .uuid = "GPU-1" };
	struct inventory inventory = { .cards = &card, .card_count = 1 }, read;
	struct error error = ERROR_INIT;
	autojson *object = NULL;

	assert_int_equal(inventory_to_json(&inventory, &object, &error), 0);
	struct json_object *cards = json_get(object, "cards");
	struct json_object *value = cards;
	assert_true(
		json_object_object_get_ex(json_object_array_get_idx(cards, 0), "index", &value));
	assert_null(value);
	inventory_init(&read);
	assert_int_equal(inventory_from_json(object, &read, &error), 0);
	assert_int_equal(read.cards[0].index, CARD_INDEX_NONE);
	inventory_release(&read);
}
