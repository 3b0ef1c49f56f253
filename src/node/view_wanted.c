/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the configuration wants listed: cards and MIG devices by name as NVIDIA's plugin has them
 * (internal/rm/device_map.go), replicas of them, and units of cards in slices. A card that is sick or
 * has no such thing never stands in the way of another.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "node/view_private.h"

static const struct plugin_config *config_of(const struct viewing *viewing)
{
	return viewing->inputs->config;
}

static int add_part(struct viewing *viewing, struct parts *parts, uint32_t card, uint32_t instance,
		    const char *resource)
{
	struct part *part = VEC_ADD(&parts->items, &parts->count, &parts->capacity);

	if (!part)
		return error_no_memory(viewing->error);
	part->card = card;
	part->instance = instance;
	part->shareable = viewing->view->cards[card].by_peer ||
			  viewing->view->cards[card].mode != CARD_MODE_WHOLE;
	snprintf(part->resource, sizeof(part->resource), "%s", resource);
	return 0;
}

/* Compute instances smaller than their GPU instance ("1c.2g.20gb") have no resource. */
static bool is_divided(const char *profile)
{
	const char *compute = strchr(profile, 'c');

	return compute && strspn(profile, "0123456789") == (size_t)(compute - profile) &&
	       compute[1] == '.';
}

static int add_instances(struct viewing *viewing, struct parts *parts, uint32_t at)
{
	const struct card *card = view_inventory_card(viewing, at);
	bool mixed = config_of(viewing)->mig_strategy == MIG_STRATEGY_MIXED;
	char which[CARD_DESCRIPTION_MAX];
	int r = 0;

	view_describe(viewing, at, which);
	if (card->instance_count == 0)
		return view_note(viewing,
				 "%s is in MIG mode and has no MIG devices; make some, for "
				 "example with nvidia-smi mig -cgi.",
				 which);
	for (uint32_t i = 0; r == 0 && i < card->instance_count; i++) {
		const struct card_instance *instance = &card->instances[i];
		char resource[sizeof(PLUGIN_RESOURCE_MIG) + CARD_MIG_MAX];

		if (!device_uuid_is_known(instance->uuid)) {
			r = view_note(viewing,
				      "MIG device %u of %s is not listed: its UUID is not "
				      "known until the driver answers.",
				      i, which);
			continue;
		}
		if (mixed && (!instance->profile[0] || is_divided(instance->profile))) {
			r = view_note(viewing,
				      "MIG device %s of %s is not listed: with migStrategy "
				      "mixed \"%s\" has no resource, as its compute "
				      "instance is a part of the GPU instance.",
				      instance->uuid, which, instance->profile);
			continue;
		}
		snprintf(resource, sizeof(resource), PLUGIN_RESOURCE_MIG "%s", instance->profile);
		for (char *c = resource; *c; c++)
			*c = *c == '+' ? '.' : *c;
		r = add_part(viewing, parts, at, i, mixed ? resource : PLUGIN_RESOURCE_GPU);
	}
	return r;
}

/* The first thing that is in the way of migStrategy single, or NULL; *ret_card: where. */
static const char *find_difference(const struct viewing *viewing, uint32_t *ret_card)
{
	const char *profile = NULL;
	bool enabled = false, other = false;

	for (uint32_t i = 0; i < viewing->view->card_count; i++) {
		const struct plugin_card *card = &viewing->view->cards[i];
		const struct card *real = view_inventory_card(viewing, i);

		/* What a lost card is set to nobody knows, and it must not hide the others. */
		if (!card->by_peer || card->excluded || card->kept || card->health == CARD_LOST)
			continue;
		*ret_card = i;
		enabled = enabled || real->mig_enabled;
		other = other || !real->mig_enabled;
		if (enabled && other)
			return "all devices on the node must be configured with the same "
			       "migEnabled "
			       "value";
		if (real->mig_enabled && real->instance_count == 0)
			return "at least one device with migEnabled=true was not configured "
			       "correctly: it has no MIG devices configured";
		for (size_t k = 0; k < real->instance_count; k++) {
			if (profile && strcmp(profile, real->instances[k].profile) != 0)
				return "more than one MIG device type present on node";
			profile = real->instances[k].profile;
		}
	}
	return NULL;
}

/* migStrategy single is all or nothing; false with a note. */
static int check_single(struct viewing *viewing, bool *ret_fits)
{
	char which[CARD_DESCRIPTION_MAX];
	const char *wrong = NULL;
	uint32_t card = 0;

	if (config_of(viewing)->mig_strategy == MIG_STRATEGY_SINGLE)
		wrong = find_difference(viewing, &card);
	*ret_fits = !wrong;
	if (!wrong)
		return 0;
	view_describe(viewing, card, which);
	return view_note(viewing,
			 "invalid MIG configuration: %s (seen at %s). Nothing is listed until all "
			 "cards are alike; migStrategy mixed lists each kind by its own name.",
			 wrong, which);
}

static int add_card(struct viewing *viewing, struct parts *parts, uint32_t at)
{
	const struct plugin_card *card = &viewing->view->cards[at];
	bool enabled = view_inventory_card(viewing, at)->mig_enabled;
	bool none = config_of(viewing)->mig_strategy == MIG_STRATEGY_NONE;
	char which[CARD_DESCRIPTION_MAX];

	view_describe(viewing, at, which);
	if (card->mode == CARD_MODE_MIG && enabled)
		return add_instances(viewing, parts, at);
	if (card->mode == CARD_MODE_MIG && card->health == CARD_LOST)
		return 0;
	if (card->mode == CARD_MODE_MIG)
		return view_note(viewing,
				 "%s is configured for MIG and not in MIG mode; nothing of "
				 "it is listed. Turn it on with nvidia-smi -mig 1.",
				 which);
	if (card->mode != CARD_MODE_WHOLE && card->mode != CARD_MODE_REPLICAS)
		return 0;
	if (enabled && !none)
		return view_note(viewing,
				 "%s is configured as a whole card and is in MIG mode, in "
				 "which programs cannot use it whole; nothing of it is listed. "
				 "Turn that off with nvidia-smi -mig 0.",
				 which);
	return add_part(viewing, parts, at, PLUGIN_NONE, PLUGIN_RESOURCE_GPU);
}

/* Cards that can be listed by a name that stays. */
static int check_name(struct viewing *viewing, uint32_t at, bool *ret_fits)
{
	const struct plugin_card *card = &viewing->view->cards[at];
	char which[CARD_DESCRIPTION_MAX];

	view_describe(viewing, at, which);
	*ret_fits = device_uuid_is_known(card->uuid);
	if (!*ret_fits)
		return view_note(viewing, "%s is not listed: its UUID is not known, %s.", which,
				 card->cause[0] ? card->cause : "the driver has not told it");
	for (uint32_t i = 0; i < at; i++)
		if (strcmp(viewing->view->cards[i].uuid, card->uuid) == 0)
			*ret_fits = false;
	return *ret_fits
		       ? 0
		       : view_note(viewing, "%s is not listed: another card has its UUID.", which);
}

static int add_parts(struct viewing *viewing, struct parts *parts)
{
	bool single;
	int r = check_single(viewing, &single);

	for (uint32_t i = 0; r == 0 && i < viewing->inputs->inventory->card_count; i++) {
		const struct plugin_card *card = &viewing->view->cards[i];
		bool fits = false;

		if (card->excluded || card->kept || (card->by_peer && !single))
			continue;
		r = check_name(viewing, i, &fits);
		if (r == 0 && fits)
			r = add_card(viewing, parts, i);
	}
	return r;
}

/* "0", "0:1", "GPU-...", "MIG-...": as sharing names devices. */
static bool is_called(const struct viewing *viewing, const struct part *part, const char *name)
{
	const struct card *card = view_inventory_card(viewing, part->card);
	char index[32] = "";

	if (strcasecmp(view_part_uuid(viewing, part->card, part->instance), name) == 0)
		return true;
	if (card->index == CARD_INDEX_NONE)
		return false;
	if (part->instance == PLUGIN_NONE)
		snprintf(index, sizeof(index), "%u", card->index);
	else if (card->instances[part->instance].index != CARD_INDEX_NONE)
		snprintf(index, sizeof(index), "%u:%u", card->index,
			 card->instances[part->instance].index);
	return strcmp(index, name) == 0;
}

static bool is_named(const struct viewing *viewing, const struct shared_resource *row,
		     const struct part *part)
{
	for (size_t i = 0; i < row->device_names.count; i++)
		if (is_called(viewing, part, row->device_names.items[i]))
			return true;
	return false;
}

/* Devices of sick cards that the row shares: they stay as they were. */
static size_t count_kept(const struct viewing *viewing, const struct shared_resource *row)
{
	const struct plugin_view *previous = viewing->inputs->previous;
	const struct plugin_resource *resource =
		previous ? plugin_view_find(previous, row->rename) : NULL;
	size_t count = 0;

	for (size_t i = 0; resource && i < resource->count; i++) {
		const struct plugin_device *device = &resource->devices[i];

		if (device->kind == PLUGIN_REPLICA && device->number == 0 &&
		    view_keeps(viewing, previous->cards[device->card].uuid))
			count++;
	}
	return count;
}

/* Devices that a row names or counts and that are not there. */
static int note_missing(struct viewing *viewing, const struct shared_resource *row,
			const struct parts *parts, size_t found)
{
	int r = 0;

	for (size_t i = 0; i < viewing->view->card_count; i++)
		if (viewing->view->cards[i].kept) /* it may be that one */
			return 0;
	if (row->devices == SHARED_COUNT && found < row->device_count)
		return view_note(viewing, "sharing of %s is for %u devices, and %zu can be shared.",
				 row->name, row->device_count, found);
	for (size_t i = 0; r == 0 && row->devices == SHARED_LIST && i < row->device_names.count;
	     i++) {
		const char *name = row->device_names.items[i];
		bool there = false;

		for (size_t k = 0; k < parts->count && !there; k++)
			there = strcmp(parts->items[k].resource, row->name) == 0 &&
				is_called(viewing, &parts->items[k], name);
		if (!there)
			r = view_note(viewing,
				      "sharing of %s names device %s, and no %s is called so.",
				      row->name, name, row->name);
	}
	return r;
}

static int share_row(struct viewing *viewing, const struct shared_resource *row,
		     struct parts *parts)
{
	size_t found = count_kept(viewing, row);
	int r = 0;

	for (size_t i = 0; r == 0 && i < parts->count; i++) {
		struct part *part = &parts->items[i];

		if (part->shared || !part->shareable || strcmp(part->resource, row->name) != 0 ||
		    (row->devices == SHARED_COUNT && found >= row->device_count) ||
		    (row->devices == SHARED_LIST && !is_named(viewing, row, part)))
			continue;
		found++;
		part->shared = true;
		for (uint32_t n = 0; r == 0 && n < row->replicas; n++)
			r = view_want(viewing, row->rename, PLUGIN_REPLICA, part->card,
				      part->instance, n);
	}
	return r < 0 ? r : note_missing(viewing, row, parts, found);
}

static int share(struct viewing *viewing, struct parts *parts)
{
	const struct plugin_sharing *sharing = &config_of(viewing)->time_slicing;
	int r = 0;

	for (size_t i = 0; r == 0 && i < sharing->count; i++)
		r = share_row(viewing, &sharing->resources[i], parts);
	for (size_t i = 0; r == 0 && i < parts->count; i++) {
		const struct part *part = &parts->items[i];

		if (part->shared)
			continue;
		if (part->instance == PLUGIN_NONE && !viewing->view->cards[part->card].by_peer &&
		    viewing->view->cards[part->card].mode == CARD_MODE_REPLICAS) {
			char which[CARD_DESCRIPTION_MAX];

			view_describe(viewing, part->card, which);
			r = view_note(viewing,
				      "%s is configured for replicas and no row of "
				      "sharing.timeSlicing is for it; nothing of it is listed.",
				      which);
			continue;
		}
		r = view_want(viewing, part->resource,
			      part->instance == PLUGIN_NONE ? PLUGIN_WHOLE : PLUGIN_MIG, part->card,
			      part->instance, 0);
	}
	return r;
}

static int add_units(struct viewing *viewing, uint32_t at)
{
	char which[CARD_DESCRIPTION_MAX];
	uint32_t count = card_units(view_inventory_card(viewing, at));
	bool fits = false;
	int r = check_name(viewing, at, &fits);

	if (r < 0 || !fits)
		return r;
	view_describe(viewing, at, which);
	if (!viewing->inputs->cdi)
		return view_note(viewing,
				 "%s is configured for slices, and a slice needs CDI, which "
				 "the container runtime has not switched on; no %s is listed "
				 "of it. Turn on enable_cdi (containerd), or say "
				 "deviceListStrategy cdi-cri where it is on.",
				 which, PLUGIN_RESOURCE_UNITS);
	if (view_inventory_card(viewing, at)->mig_enabled)
		return view_note(viewing,
				 "%s is configured for slices and is in MIG mode; nothing of "
				 "it is listed. Turn that off with nvidia-smi -mig 0.",
				 which);
	for (uint32_t k = 0; r == 0 && k < count; k++)
		r = view_want(viewing, PLUGIN_RESOURCE_UNITS, PLUGIN_UNIT, at, PLUGIN_NONE, k);
	return r;
}

/* Modes that plugin_config_supported() refuses; whoever comes here all the same is told. */
static int note_mode(struct viewing *viewing, uint32_t at)
{
	char which[CARD_DESCRIPTION_MAX];

	view_describe(viewing, at, which);
	if (viewing->view->cards[at].mode == CARD_MODE_AUTO)
		return view_note(viewing,
				 "%s is in mode auto, which needs the planner "
				 "(gpupool-controller); nothing of it is listed. Choose whole or "
				 "slices.",
				 which);
	if (viewing->view->cards[at].mode == CARD_MODE_MPS)
		return view_note(viewing,
				 "%s is in mode mps, which this version does not offer; "
				 "nothing of it is listed. Choose replicas.",
				 which);
	return 0;
}

int view_add_wanted(struct viewing *viewing)
{
	struct parts parts = { .items = NULL };
	int r = add_parts(viewing, &parts);

	if (r == 0)
		r = share(viewing, &parts);
	for (uint32_t i = 0; r == 0 && i < viewing->inputs->inventory->card_count; i++) {
		const struct plugin_card *card = &viewing->view->cards[i];

		if (card->excluded || card->kept)
			continue;
		r = card->mode == CARD_MODE_SLICES ? add_units(viewing, i) : note_mode(viewing, i);
	}
	free(parts.items);
	return r;
}
