/* SPDX-License-Identifier: Apache-2.0 */
#include "node_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/ledger_private.h"
#include "node/scene.h"

#define CARD_START "GPU-00000000-0000-0000-0000-"
#define MIG_START  "MIG-00000000-0000-0000-"

static void must(bool truth)
{
	if (!truth)
		abort();
}

const char *world_uuid(unsigned card, char ret[static CARD_UUID_MAX])
{
	snprintf(ret, CARD_UUID_MAX, CARD_START "%012u", card);
	return ret;
}

const char *world_mig_uuid(unsigned card, unsigned instance, char ret[static CARD_UUID_MAX])
{
	snprintf(ret, CARD_UUID_MAX, MIG_START "%04u-%012u", card, instance);
	return ret;
}

/* A number at the beginning of TEXT; *ret_rest is what follows. */
static bool read_number(const char *text, unsigned *ret, const char **ret_rest)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (end == text || *text < '0' || *text > '9')
		return false;
	*ret = (unsigned)number;
	if (ret_rest)
		*ret_rest = end;
	return true;
}

static enum pod_sign sign_of(const char *uid, void *user)
{
	const struct node_world *world = user;
	unsigned pod = WORLD_PODS;

	if (strncmp(uid, "pod-", 4) != 0 || !read_number(uid + 4, &pod, NULL) || pod >= WORLD_PODS)
		return POD_UNKNOWN;
	return world->signs[pod];
}

static void add_card(struct node_world *world, unsigned at, unsigned cards, unsigned gib)
{
	struct inventory *inventory = &world->inventory;
	struct card *card =
		VEC_ADD(&inventory->cards, &inventory->card_count, &inventory->card_capacity);

	must(card);
	card->index = card->minor = at;
	world_uuid(at, card->uuid);
	snprintf(card->model, sizeof(card->model), "NVIDIA A100-SXM4-80GB");
	snprintf(card->bus_id, sizeof(card->bus_id), "0000:%02x:00.0", at + 1);
	card->memory_bytes = (uint64_t)gib << 30;
	card->numa = at >= cards / 2;
	card->mig_capable = true;
	for (unsigned i = 0; i < cards; i++) {
		struct card_link *link;

		if (i == at)
			continue;
		link = VEC_ADD(&card->links, &card->link_count, &card->link_capacity);
		must(link);
		link->peer = i;
		link->kind = i / 2 == at / 2                         ? LINK_NVLINK
			     : (i >= cards / 2) == (at >= cards / 2) ? LINK_NODE
								     : LINK_SYS;
		link->lanes = link->kind == LINK_NVLINK ? 12 : 0;
	}
}

void world_init(struct node_world *world, unsigned cards, unsigned gib)
{
	static char empty[] = "", prefix[] = "cdi.k8s.io/";

	memset(world, 0, sizeof(*world));
	inventory_init(&world->inventory);
	ledger_init(&world->ledger);
	for (unsigned i = 0; i < cards; i++)
		add_card(world, i, cards, gib);
	world->config.dev_root = world->config.driver_root = empty;
	world->config.cdi_annotation_prefix = prefix;
	world->config.device_lists = DEVICE_LIST_CDI_CRI;
	world->evidence = (struct ledger_evidence){
		.checkpoint = &world->checkpoint,
		.pod = sign_of,
		.user = world,
		.now_ms = 1000000,
		.now = 1800000000,
	};
	for (unsigned i = 0; i < WORLD_PODS; i++)
		world->signs[i] = POD_RUNS;
	world_touch(world);
}

void world_release(struct node_world *world)
{
	for (size_t i = 0; i < world->config.time_slicing.count; i++) {
		struct shared_resource *row = &world->config.time_slicing.resources[i];

		free(row->name);
		free(row->rename);
		string_list_release(&row->device_names);
	}
	free(world->config.time_slicing.resources);
	for (size_t i = 0; i < world->config.card_count; i++)
		free(world->config.cards[i].uuid);
	free(world->config.cards);
	string_list_release(&world->config.imex_channels);
	inventory_release(&world->inventory);
	ledger_release(&world->ledger);
	plugin_view_release(&world->view);
	kubelet_checkpoint_release(&world->checkpoint);
	reason_list_release(&world->reasons);
	driver_files_free(world->files);
}

void world_set_mig(struct node_world *world, unsigned at, const char *profiles)
{
	struct card *card = &world->inventory.cards[at];

	card->mig_enabled = profiles != NULL;
	card->instance_count = 0;
	for (unsigned i = 0; profiles && *profiles; i++) {
		size_t length = strcspn(profiles, " ");
		struct card_instance *to =
			VEC_ADD(&card->instances, &card->instance_count, &card->instance_capacity);

		must(to && length < sizeof(to->profile));
		*to = (struct card_instance){ .index = i,
					      .gpu_instance = i + 7,
					      .gpu_minor = 100 * at + 10 * i + 3,
					      .compute_minor = 100 * at + 10 * i + 4 };
		world_mig_uuid(at, i, to->uuid);
		memcpy(to->profile, profiles, length);
		profiles += length + strspn(profiles + length, " ");
	}
}

static void split(const char *words, struct string_list *list)
{
	while (*words) {
		size_t length = strcspn(words, " ");
		char word[256];

		must(length < sizeof(word));
		memcpy(word, words, length);
		word[length] = '\0';
		must(string_list_add(list, word) == 0);
		words += length + strspn(words + length, " ");
	}
}

void world_share(struct node_world *world, const char *resource, const char *rename,
		 unsigned replicas, const char *devices)
{
	struct plugin_sharing *sharing = &world->config.time_slicing;
	struct shared_resource *row =
		VEC_ADD(&sharing->resources, &sharing->count, &sharing->capacity);

	must(row);
	row->name = strdup(resource);
	row->rename = strdup(rename);
	must(row->name && row->rename);
	row->replicas = replicas;
	row->devices = SHARED_ALL;
	if (devices && devices[0] == '#') {
		row->devices = SHARED_COUNT;
		row->device_count = (unsigned)strtoul(devices + 1, NULL, 10);
	} else if (devices) {
		row->devices = SHARED_LIST;
		split(devices, &row->device_names);
	}
}

void world_set_mode(struct node_world *world, unsigned card, enum card_mode mode, bool excluded)
{
	struct plugin_config *config = &world->config;
	struct card_choice *row =
		VEC_ADD(&config->cards, &config->card_count, &config->card_capacity);

	must(row);
	row->uuid = strdup(world->inventory.cards[card].uuid);
	must(row->uuid);
	row->index = CARD_INDEX_NONE;
	row->mode = mode;
	row->excluded = excluded;
}

void world_sicken(struct node_world *world, unsigned card, enum card_health health)
{
	struct card_condition *condition = &world->inventory.cards[card].condition;

	condition->health = health;
	snprintf(condition->cause, sizeof(condition->cause), "%s",
		 health == CARD_HEALTHY ? "" : "XID 79");
}

static void add_id(struct string_list *list, const char *part, const char *rest)
{
	unsigned from, to, n;
	char id[256];

	if (rest[0] == 'm' && read_number(rest + 1, &from, &rest)) {
		to = from;
		must(!*rest || (*rest == '-' && read_number(rest + 1, &to, NULL)));
		for (n = from; n <= to; n++) {
			snprintf(id, sizeof(id), "%s::m%u", part, n);
			must(string_list_add(list, id) == 0);
		}
		return;
	}
	snprintf(id, sizeof(id), "%s%s", part, rest);
	must(string_list_add(list, id) == 0);
}

void world_ids(const char *words, struct string_list *list)
{
	struct string_list split_words = { .items = NULL };

	split(words, &split_words);
	for (size_t i = 0; i < split_words.count; i++) {
		const char *word = split_words.items[i];
		char part[CARD_UUID_MAX];
		unsigned card, instance;

		if (!read_number(word, &card, &word)) {
			must(string_list_add(list, word) == 0);
			continue;
		}
		world_uuid(card, part);
		if (word[0] == ':' && read_number(word + 1, &instance, &word))
			world_mig_uuid(card, instance, part);
		add_id(list, part, word);
	}
	string_list_release(&split_words);
}

struct ledger_entry *world_hold(struct node_world *world, const char *resource, const char *words)
{
	struct string_list ids = { .items = NULL };
	struct ledger_entry *entry;

	world_ids(words, &ids);
	must(ledger_add(&world->ledger, resource, &ids, world->evidence.now, &entry, NULL) == 0);
	ledger_stamp_entry(entry, &world->evidence);
	ledger_answered(&world->ledger, entry, world->evidence.now_ms);
	string_list_release(&ids);
	return entry;
}

void world_touch(struct node_world *world)
{
	world->checkpoint.written.tv_nsec++;
	world->checkpoint.checksum = world->checkpoint.checksum * 31 + 7;
}

void world_claim_ids(struct node_world *world, unsigned pod, const char *container,
		     const char *resource, const struct string_list *ids)
{
	struct kubelet_checkpoint *checkpoint = &world->checkpoint;
	struct kubelet_checkpoint_entry *entry = VEC_ADD(
		&checkpoint->entries, &checkpoint->entry_count, &checkpoint->entry_capacity);
	char uid[32];

	must(entry);
	snprintf(uid, sizeof(uid), "pod-%u", pod);
	entry->pod_uid = strdup(uid);
	entry->container = strdup(container);
	entry->resource = strdup(resource);
	must(entry->pod_uid && entry->container && entry->resource);
	for (size_t i = 0; i < ids->count; i++)
		must(string_list_add(&entry->ids, ids->items[i]) == 0);
	world_touch(world);
}

void world_claim(struct node_world *world, unsigned pod, const char *container,
		 const char *resource, const char *words)
{
	struct string_list ids = { .items = NULL };

	world_ids(words, &ids);
	world_claim_ids(world, pod, container, resource, &ids);
	string_list_release(&ids);
}

void world_unclaim_all(struct node_world *world)
{
	struct kubelet_checkpoint old = world->checkpoint;

	world->checkpoint.entries = NULL;
	world->checkpoint.entry_count = world->checkpoint.entry_capacity = 0;
	kubelet_checkpoint_release(&old);
	world_touch(world);
}

void world_unclaim(struct node_world *world, unsigned pod)
{
	struct kubelet_checkpoint *checkpoint = &world->checkpoint;
	char uid[32];
	size_t kept = 0;

	snprintf(uid, sizeof(uid), "pod-%u", pod);
	for (size_t i = 0; i < checkpoint->entry_count; i++) {
		struct kubelet_checkpoint_entry *entry = &checkpoint->entries[i];

		if (strcmp(entry->pod_uid, uid) != 0) {
			checkpoint->entries[kept++] = *entry;
			continue;
		}
		free(entry->pod_uid);
		free(entry->container);
		free(entry->resource);
		string_list_release(&entry->ids);
	}
	for (size_t i = kept; i < checkpoint->entry_count; i++)
		checkpoint->entries[i] = (struct kubelet_checkpoint_entry){ .pod_uid = NULL };
	checkpoint->entry_count = kept;
	world_touch(world);
}

void world_build(struct node_world *world, bool settled)
{
	struct plugin_view view;
	const struct plugin_view_inputs inputs = {
		.inventory = &world->inventory,
		.config = &world->config,
		.ledger = &world->ledger,
		.previous = world->view.resources || world->view.cards ? &world->view : NULL,
		.cdi = !world->no_cdi,
		.foreign = world->foreign,
		.settled = settled,
	};

	must(plugin_view_build(&inputs, &view, NULL) == 0);
	plugin_view_release(&world->view);
	world->view = view;
}

/* "3", "3:1::0", "3m5"; *ret_unit: the unit's number, or -1. */
static void shorten(const char *id, char *ret, size_t size, int *ret_unit)
{
	struct device_id parts;
	unsigned card, instance;
	const char *rest;
	char part[64];

	*ret_unit = -1;
	if (!device_id_read(id, &parts)) {
		snprintf(ret, size, "%s", id);
		return;
	}
	if (strncmp(parts.part, CARD_START, strlen(CARD_START)) == 0 &&
	    read_number(parts.part + strlen(CARD_START), &card, NULL))
		snprintf(part, sizeof(part), "%u", card);
	else if (strncmp(parts.part, MIG_START, strlen(MIG_START)) == 0 &&
		 read_number(parts.part + strlen(MIG_START), &card, &rest) &&
		 read_number(rest + 1, &instance, NULL))
		snprintf(part, sizeof(part), "%u:%u", card, instance);
	else
		snprintf(part, sizeof(part), "%.60s", parts.part);
	if (parts.form == ID_REPLICA)
		snprintf(ret, size, "%s::%u", part, parts.number);
	else
		snprintf(ret, size, "%s", part);
	if (parts.form == ID_UNIT)
		*ret_unit = (int)parts.number;
}

/* Units that follow each other are one word. */
struct printing {
	struct strbuf *out;
	char part[128], flags[8];
	int first, last;
	bool words;
};

static void flush(struct printing *printing)
{
	if (printing->first < 0)
		return;
	strbuf_addf(printing->out, "%s%sm%d", printing->words ? " " : "", printing->part,
		    printing->first);
	if (printing->last > printing->first)
		strbuf_addf(printing->out, "-%d", printing->last);
	strbuf_adds(printing->out, printing->flags);
	printing->words = true;
	printing->first = -1;
}

static void print_id(struct printing *printing, const char *id, const char *flags)
{
	char part[128];
	int unit;

	shorten(id, part, sizeof(part), &unit);
	if (printing->first >= 0 && unit == printing->last + 1 &&
	    strcmp(part, printing->part) == 0 && strcmp(flags, printing->flags) == 0) {
		printing->last = unit;
		return;
	}
	flush(printing);
	if (unit >= 0) {
		snprintf(printing->part, sizeof(printing->part), "%s", part);
		snprintf(printing->flags, sizeof(printing->flags), "%s", flags);
		printing->first = printing->last = unit;
		return;
	}
	strbuf_addf(printing->out, "%s%s%s", printing->words ? " " : "", part, flags);
	printing->words = true;
}

void world_print(const struct node_world *world, struct strbuf *out)
{
	static const char causes[] = { [PLUGIN_SICK] = 's',
				       [PLUGIN_VANISHED] = 'v',
				       [PLUGIN_OTHER_MODE] = 'o',
				       [PLUGIN_FOREIGN] = 'f',
				       [PLUGIN_LEAVES] = 'l' };

	for (size_t i = 0; i < world->view.count; i++) {
		const struct plugin_resource *resource = &world->view.resources[i];
		struct printing printing = { .out = out, .first = -1, .words = true };

		strbuf_addf(out, "%s%s:", i ? "; " : "", resource->name);
		for (size_t k = 0; k < resource->count; k++) {
			const struct plugin_device *device = &resource->devices[k];
			char flags[8];
			int at = 0;

			must(device->healthy == (device->cause == PLUGIN_FINE));
			if (device->held)
				flags[at++] = '+';
			if (!device->healthy) {
				flags[at++] = '!';
				flags[at++] = causes[device->cause];
			} else if (!device->offered) {
				flags[at++] = '-';
			}
			flags[at] = '\0';
			print_id(&printing, device->id, flags);
		}
		flush(&printing);
	}
}

void world_print_ids(const struct string_list *ids, struct strbuf *out)
{
	struct printing printing = { .out = out, .first = -1 };

	for (size_t i = 0; i < ids->count; i++)
		print_id(&printing, ids->items[i], "");
	flush(&printing);
}

struct plugin_scene world_scene(struct node_world *world, unsigned lists)
{
	return (struct plugin_scene){ .node = "node-1",
				      .inventory = &world->inventory,
				      .config = &world->config,
				      .view = &world->view,
				      .ledger = &world->ledger,
				      .evidence = &world->evidence,
				      .files = world->files,
				      .lists = lists };
}
