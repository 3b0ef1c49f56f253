/* SPDX-License-Identifier: Apache-2.0 */
#include "gpupool.h"

#include <errno.h>
#include <unistd.h>

struct inventory_options {
	struct common_options common;
	bool links, poolnode;
};

static const struct option_row inventory_rows[] = {
	COMMON_ROW_DRIVER_ROOT(struct inventory_options),
	{ .name = "links",
	  .kind = OPTION_FLAG,
	  .help = "show the links between the cards too",
	  .offset = offsetof(struct inventory_options, links) },
	COMMON_ROW_JSON(struct inventory_options),
	{ .name = "poolnode",
	  .kind = OPTION_FLAG,
	  .help = "print the PoolNode object of this machine, as a cluster shows it",
	  .offset = offsetof(struct inventory_options, poolnode) },
	{ .name = NULL },
};

static void add_title(struct columns *columns, const struct card *card)
{
	if (card->index == CARD_INDEX_NONE)
		columns_add(columns, card->bus_id);
	else
		columns_addf(columns, "card %u", card->index);
}

/* The matrix of `nvidia-smi topo -m`: NV<lanes>, or how far the PCIe path goes. */
static void print_links(const struct inventory *inventory)
{
	autocolumns columns = COLUMNS_INIT((unsigned)inventory->card_count + 1);

	columns_add(&columns, "");
	for (size_t i = 0; i < inventory->card_count; i++)
		add_title(&columns, &inventory->cards[i]);
	for (size_t i = 0; i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];

		add_title(&columns, card);
		for (size_t peer = 0; peer < inventory->card_count; peer++) {
			const struct card_link *link = NULL;

			for (size_t k = 0; k < card->link_count; k++)
				if (card->links[k].peer == peer)
					link = &card->links[k];
			if (peer == i)
				columns_add(&columns, "X");
			else if (link && link->kind == LINK_NVLINK)
				columns_addf(&columns, "NV%u", link->lanes);
			else
				columns_add(&columns, link ? link_kind_to_string(link->kind) : "-");
		}
	}
	putchar('\n');
	print_columns(&columns, stdout);
}

/* What can be asked for by name: the MIG devices of all cards. Nothing without any. */
static void print_instances(const struct inventory *inventory)
{
	static const char *const titles[] = { "MIG", "PROFILE", "UUID", "GI", "CI" };
	autocolumns columns = COLUMNS_INIT(ARRAY_SIZE(titles));
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		columns_add(&columns, titles[i]);
	for (size_t i = 0; i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];

		for (size_t k = 0; k < card->instance_count; k++) {
			const struct card_instance *instance = &card->instances[k];

			columns_addf(&columns, "%u:%u", card->index, instance->index);
			columns_add(&columns, instance->profile);
			columns_add(&columns, instance->uuid);
			columns_addf(&columns, "%u", instance->gpu_instance);
			columns_addf(&columns, "%u", instance->compute_instance);
			any = true;
		}
	}
	if (!any)
		return;
	putchar('\n');
	print_columns(&columns, stdout);
}

static int inventory_print_json(const struct inventory *inventory,
				const struct local_holders *holders)
{
	autojson *object = NULL;
	struct error error = ERROR_INIT;

	if (inventory_to_json(inventory, &object, &error) < 0)
		return fail(EXIT_FAILED, &error);
	struct json_object *grants = json_object_new_array();
	for (size_t i = 0; grants && i < holders->count; i++) {
		struct json_object *grant = NULL;

		if (grant_to_json(&holders->items[i].grant, &grant, &error) < 0 ||
		    json_append(grants, grant) < 0) {
			json_object_put(grants);
			return fail(EXIT_FAILED, &error);
		}
	}
	if (json_add(object, "grants", grants) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(object);
}

/* The grants stay those of HOLDERS. */
static int inventory_print_poolnode(const struct inventory *inventory,
				    const struct local_holders *holders)
{
	autofree struct grant *grants = calloc(holders->count + 1, sizeof(*grants));
	char name[256];
	struct poolnode node = { .name = name,
				 .inventory = *inventory,
				 .grants = grants,
				 .grant_count = holders->count };
	autojson *object = NULL;
	struct error error = ERROR_INIT;

	local_node_name(name, sizeof(name));
	for (size_t i = 0; grants && i < holders->count; i++)
		grants[i] = holders->items[i].grant;
	if (!grants)
		error_no_memory(&error);
	if (!grants || poolnode_to_json(&node, &object, &error) < 0)
		return fail(EXIT_FAILED, &error);
	return print_json(object);
}

static void inventory_print(const struct inventory *inventory, const struct local_holders *holders,
			    bool links)
{
	print_driver(inventory, stdout);
	print_cards(inventory, holders, stdout);
	print_instances(inventory);
	if (links)
		print_links(inventory);
	print_holders(inventory, holders, stdout);
}

static int inventory_run(void *data, int argc, char **argv)
{
	const struct inventory_options *options = data;
	const struct device_options device = { .driver_root = options->common.driver_root };
	cleanup(inventory_release) struct inventory inventory;
	cleanup(local_holders_release) struct local_holders holders = { .items = NULL };
	struct reason reason = { .code = REASON_NONE };
	struct error error = ERROR_INIT;

	(void)argv;
	(void)argc;
	inventory_init(&inventory);
	if (device_probe(&device, &inventory, &reason, &error) < 0 ||
	    local_holders_read(local_run_directory(), &holders, &error) < 0)
		return fail(EXIT_FAILED, &error);
	/* Whoever may write there keeps the file fresh for those who may not ask the driver. */
	if (geteuid() == 0 && local_inventory_publish(&inventory, &error) < 0)
		return fail(EXIT_FAILED, &error);
	local_holders_mark(&holders, &inventory);
	int code = EXIT_DONE;
	if (options->poolnode)
		code = inventory_print_poolnode(&inventory, &holders);
	else if (options->common.json)
		code = inventory_print_json(&inventory, &holders);
	else if (!inventory.problem[0] || inventory.card_count)
		inventory_print(&inventory, &holders, options->links);
	if (inventory.problem[0]) {
		print_reason(&reason, stderr);
		return EXIT_RIGHTS;
	}
	return code;
}

const struct command command_inventory = {
	.name = "inventory",
	.summary = "show the cards of this machine, their health, and who holds what",
	.operands = "",
	.description = "Asks the driver through a helper with a deadline: a card that gives no "
		       "answer is shown with its cause and hides no other. Exit code 3: the driver "
		       "as a whole gives no cards.",
	.examples = "gpupool inventory --links\ngpupool inventory --json | jq '.cards[].uuid'\n"
		    "gpupool inventory --poolnode",
	.options = inventory_rows,
	.run = inventory_run,
	.size = sizeof(struct inventory_options),
};
