/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is listed: what the configuration wants, what somebody holds, and what was listed a moment ago,
 * which is unhealthy once before it goes. An ID stands in one list only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/ledger_private.h"
#include "node/view_private.h"

int view_note(struct viewing *viewing, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int r = string_list_addv(&viewing->view->notes, format, arguments);
	va_end(arguments);
	return r < 0 ? error_no_memory(viewing->error) : 0;
}

const struct card *view_inventory_card(const struct viewing *viewing, uint32_t card)
{
	uint32_t position = viewing->view->cards[card].position;

	return position == PLUGIN_NONE ? NULL : &viewing->inputs->inventory->cards[position];
}

const char *view_part_uuid(const struct viewing *viewing, uint32_t card, uint32_t instance)
{
	const struct card *real = view_inventory_card(viewing, card);

	return real && instance != PLUGIN_NONE ? real->instances[instance].uuid
					       : viewing->view->cards[card].uuid;
}

void view_describe(const struct viewing *viewing, uint32_t card,
		   char ret[static CARD_DESCRIPTION_MAX])
{
	const struct card *real = view_inventory_card(viewing, card);

	if (real)
		card_describe(real, ret);
	else
		snprintf(ret, CARD_DESCRIPTION_MAX, "card %s", viewing->view->cards[card].uuid);
}

bool view_keeps(const struct viewing *viewing, const char *uuid)
{
	for (size_t i = 0; i < viewing->view->card_count; i++)
		if (viewing->view->cards[i].kept && strcmp(viewing->view->cards[i].uuid, uuid) == 0)
			return true;
	return false;
}

const struct plugin_resource *plugin_view_find(const struct plugin_view *view, const char *resource)
{
	for (size_t i = 0; i < view->count; i++)
		if (strcmp(view->resources[i].name, resource) == 0)
			return &view->resources[i];
	return NULL;
}

/* Of a resource that lists nothing. */
static enum plugin_kind kind_by_name(const char *name)
{
	if (strcmp(name, PLUGIN_RESOURCE_UNITS) == 0)
		return PLUGIN_UNIT;
	return strncmp(name, PLUGIN_RESOURCE_MIG, strlen(PLUGIN_RESOURCE_MIG)) == 0 ? PLUGIN_MIG
										    : PLUGIN_WHOLE;
}

static struct plugin_resource *find_resource(struct viewing *viewing, const char *name)
{
	struct plugin_view *view = viewing->view;
	struct plugin_resource *resource;
	char *copy;

	for (size_t i = 0; i < view->count; i++)
		if (strcmp(view->resources[i].name, name) == 0)
			return &view->resources[i];
	copy = strdup(name);
	resource = copy ? VEC_ADD(&view->resources, &view->count, &view->capacity) : NULL;
	if (!resource) {
		free(copy);
		return NULL;
	}
	resource->name = copy;
	resource->kind = kind_by_name(copy);
	return resource;
}

/* DEVICE has everything but its id, and that is not listed yet. */
static int list_device(struct viewing *viewing, const char *resource_name, const char *id,
		       const struct plugin_device *device)
{
	struct plugin_resource *resource = find_resource(viewing, resource_name);
	struct plugin_device *to =
		resource ? VEC_ADD(&resource->devices, &resource->count, &resource->capacity)
			 : NULL;

	if (!to)
		return error_no_memory(viewing->error);
	*to = *device;
	to->held = map_get(viewing->held, id) != NULL;
	to->id = strdup(id);
	if (!to->id || map_put(viewing->listed, id, viewing) < 0)
		return error_no_memory(viewing->error);
	return 0;
}

static bool is_in(const struct plugin_resource *resource, const char *id)
{
	for (size_t i = 0; i < resource->count; i++)
		if (strcmp(resource->devices[i].id, id) == 0)
			return true;
	return false;
}

/* Whether another resource than RESOURCE has ID for now: somebody holds it there, or it must leave. */
static bool is_elsewhere(const struct viewing *viewing, const char *resource, const char *id)
{
	const struct ledger_entry *holder = map_get(viewing->held, id);
	const struct plugin_view *previous = viewing->inputs->previous;

	if (holder)
		return strcmp(holder->resource, resource) != 0;
	for (size_t i = 0; previous && i < previous->count; i++) {
		const struct plugin_resource *other = &previous->resources[i];

		if (strcmp(other->name, resource) != 0 && is_in(other, id))
			return true;
	}
	return false;
}

int view_want(struct viewing *viewing, const char *resource, enum plugin_kind kind, uint32_t card,
	      uint32_t instance, uint32_t number)
{
	struct plugin_device device = {
		.card = card, .instance = instance, .number = number, .kind = kind, .offered = true
	};
	struct device_id id = { .number = number };
	char text[DEVICE_ID_MAX];

	if (kind == PLUGIN_REPLICA || kind == PLUGIN_UNIT)
		id.form = kind == PLUGIN_UNIT ? ID_UNIT : ID_REPLICA;
	snprintf(id.part, sizeof(id.part), "%s", view_part_uuid(viewing, card, instance));
	if (device_id_write(&id, text, sizeof(text)) < 0 || map_get(viewing->listed, text))
		return 0;
	/* It is there all the same, if only empty. */
	struct plugin_resource *listing = find_resource(viewing, resource);

	if (!listing)
		return error_no_memory(viewing->error);
	listing->kind = kind;
	return is_elsewhere(viewing, resource, text)
		       ? 0
		       : list_device(viewing, resource, text, &device);
}

/* The card of PART, or its place among the MIG devices; a card that is not there is made. */
static int find_part(struct viewing *viewing, const char *part, uint32_t *ret_card,
		     uint32_t *ret_instance)
{
	struct plugin_view *view = viewing->view;

	*ret_instance = PLUGIN_NONE;
	for (uint32_t i = 0; i < view->card_count; i++) {
		const struct card *real = view_inventory_card(viewing, i);

		*ret_card = i;
		if (strcmp(view->cards[i].uuid, part) == 0)
			return 0;
		for (uint32_t k = 0; real && k < real->instance_count; k++) {
			*ret_instance = k;
			if (strcmp(real->instances[k].uuid, part) == 0)
				return 0;
		}
		*ret_instance = PLUGIN_NONE;
	}
	struct plugin_card *card = VEC_ADD(&view->cards, &view->card_count, &view->card_capacity);

	if (!card)
		return error_no_memory(viewing->error);
	snprintf(card->uuid, sizeof(card->uuid), "%s", part);
	card->position = PLUGIN_NONE;
	card->health = CARD_LOST;
	card->numa = -1;
	*ret_card = (uint32_t)view->card_count - 1;
	return 0;
}

/* What is known of a device by its name alone. */
static int place_device(struct viewing *viewing, const char *text, struct plugin_device *ret)
{
	struct device_id id;

	*ret = (struct plugin_device){ .instance = PLUGIN_NONE };
	if (!device_id_read(text, &id))
		return 1;
	ret->number = id.number;
	if (id.form == ID_PART)
		ret->kind = strncmp(id.part, "MIG-", 4) == 0 ? PLUGIN_MIG : PLUGIN_WHOLE;
	else
		ret->kind = id.form == ID_UNIT ? PLUGIN_UNIT : PLUGIN_REPLICA;
	return find_part(viewing, id.part, &ret->card, &ret->instance);
}

static int add_held(struct viewing *viewing)
{
	const struct ledger *ledger = viewing->inputs->ledger;

	for (size_t i = ledger->count; i > 0; i--) {
		const struct ledger_entry *entry = ledger->entries[i - 1];

		for (size_t k = 0; k < entry->ids.count; k++) {
			struct plugin_device device;
			const char *id = entry->ids.items[k];

			if (map_get(viewing->listed, id))
				continue;
			int r = place_device(viewing, id, &device);

			if (r == 0)
				r = list_device(viewing, entry->resource, id, &device);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Where what PREVIOUS knew of a device is not so any more, its name alone is left. */
static int keep_device(struct viewing *viewing, const struct plugin_resource *resource,
		       const struct plugin_device *was)
{
	const struct plugin_card *card = &viewing->inputs->previous->cards[was->card];
	bool kept = view_keeps(viewing, card->uuid);
	struct plugin_device device;
	int r;

	if (map_get(viewing->listed, was->id))
		return 0;
	if (was->cause == PLUGIN_LEAVES && viewing->inputs->settled && !kept)
		return 0;
	r = place_device(viewing, was->id, &device);
	if (r != 0)
		return r < 0 ? r : 0;
	if (kept && device.instance == PLUGIN_NONE && was->instance != PLUGIN_NONE)
		/* Its MIG devices are not told now: it stays a device of that card. */
		for (uint32_t i = 0; i < viewing->view->card_count; i++)
			if (strcmp(viewing->view->cards[i].uuid, card->uuid) == 0)
				device.card = i;
	device.cause = kept ? PLUGIN_SICK : PLUGIN_LEAVES;
	return list_device(viewing, resource->name, was->id, &device);
}

static int add_previous(struct viewing *viewing)
{
	const struct plugin_view *previous = viewing->inputs->previous;
	const struct string_list *known = viewing->inputs->known;

	for (size_t i = 0; previous && i < previous->count; i++) {
		const struct plugin_resource *resource = &previous->resources[i];

		if (!find_resource(viewing, resource->name))
			return error_no_memory(viewing->error);
		for (size_t k = 0; k < resource->count; k++) {
			int r = keep_device(viewing, resource, &resource->devices[k]);
			if (r < 0)
				return r;
		}
	}
	for (size_t i = 0; known && i < known->count; i++)
		if (!find_resource(viewing, known->items[i]))
			return error_no_memory(viewing->error);
	return 0;
}

/* How a card or MIG device is held: a bit for each kind. */
struct holding {
	uint32_t card, instance;
	unsigned kinds;
};

struct holdings {
	struct holding *items;
	size_t count, capacity;
};

static int count_holdings(const struct plugin_view *view, struct holdings *ret)
{
	for (size_t i = 0; i < view->count; i++)
		for (size_t k = 0; k < view->resources[i].count; k++) {
			const struct plugin_device *device = &view->resources[i].devices[k];
			struct holding *holding = NULL;

			if (!device->held)
				continue;
			for (size_t n = 0; n < ret->count && !holding; n++)
				if (ret->items[n].card == device->card &&
				    ret->items[n].instance == device->instance)
					holding = &ret->items[n];
			if (!holding)
				holding = VEC_ADD(&ret->items, &ret->count, &ret->capacity);
			if (!holding)
				return -ENOMEM;
			holding->card = device->card;
			holding->instance = device->instance;
			holding->kinds |= 1u << device->kind;
		}
	return 0;
}

/* Whether somebody holds the card, or the MIG device, in another mode than the device would be held. */
static bool is_held_otherwise(const struct holdings *holdings, const struct plugin_device *device)
{
	for (size_t i = 0; i < holdings->count; i++) {
		const struct holding *holding = &holdings->items[i];

		if (holding->card != device->card)
			continue;
		if (holding->instance == device->instance) {
			if (holding->kinds & ~(1u << device->kind))
				return true;
		} else if (holding->instance == PLUGIN_NONE || device->instance == PLUGIN_NONE) {
			return true;
		}
	}
	return false;
}

static bool is_there(const struct plugin_view *view, const struct plugin_device *device)
{
	return view->cards[device->card].position != PLUGIN_NONE &&
	       (device->instance != PLUGIN_NONE || device->kind != PLUGIN_MIG);
}

static enum plugin_cause find_cause(const struct plugin_view *view, const struct holdings *holdings,
				    const struct plugin_device *device)
{
	const struct plugin_card *card = &view->cards[device->card];

	if (device->cause == PLUGIN_LEAVES && !device->held)
		return PLUGIN_LEAVES;
	if (card->position != PLUGIN_NONE && card->health != CARD_HEALTHY)
		return PLUGIN_SICK;
	if (!is_there(view, device))
		return PLUGIN_VANISHED;
	if (device->held)
		return PLUGIN_FINE;
	if (is_held_otherwise(holdings, device))
		return PLUGIN_OTHER_MODE;
	return device->kind == PLUGIN_UNIT && card->foreign ? PLUGIN_FOREIGN : PLUGIN_FINE;
}

static int judge_devices(struct viewing *viewing)
{
	struct plugin_view *view = viewing->view;
	struct holdings holdings = { .items = NULL };
	int r = count_holdings(view, &holdings);

	for (size_t i = 0; r == 0 && i < view->count; i++)
		for (size_t k = 0; k < view->resources[i].count; k++) {
			struct plugin_device *device = &view->resources[i].devices[k];

			device->cause = find_cause(view, &holdings, device);
			device->healthy = device->cause == PLUGIN_FINE;
			device->offered = device->offered && device->healthy;
			view->leaving += device->cause == PLUGIN_LEAVES;
		}
	free(holdings.items);
	return r < 0 ? error_no_memory(viewing->error) : 0;
}

static int compare_devices(const void *left, const void *right)
{
	const struct plugin_device *a = left, *b = right;

	if (a->card != b->card)
		return a->card < b->card ? -1 : 1;
	if (a->instance != b->instance) /* the card itself first */
		return a->instance + 1 < b->instance + 1 ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return strcmp(a->id, b->id);
}

static int compare_resources(const void *left, const void *right)
{
	const struct plugin_resource *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static void sort_view(struct plugin_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		if (view->resources[i].count)
			qsort(view->resources[i].devices, view->resources[i].count,
			      sizeof(struct plugin_device), compare_devices);
	if (view->count)
		qsort(view->resources, view->count, sizeof(struct plugin_resource),
		      compare_resources);
}

int plugin_view_build(const struct plugin_view_inputs *inputs, struct plugin_view *ret,
		      struct error *error)
{
	struct plugin_view view = { .cards = NULL };
	struct viewing viewing = { .inputs = inputs, .view = &view, .error = error };
	int r = ledger_index(inputs->ledger, &viewing.held);

	viewing.listed = map_new();
	if (r < 0 || !viewing.listed)
		r = error_no_memory(error);
	if (r == 0)
		r = view_add_cards(&viewing);
	if (r == 0)
		r = view_add_wanted(&viewing);
	if (r == 0)
		r = add_held(&viewing);
	if (r == 0)
		r = add_previous(&viewing);
	if (r == 0)
		r = judge_devices(&viewing);
	map_free(viewing.held);
	map_free(viewing.listed);
	if (r < 0) {
		plugin_view_release(&view);
		return r;
	}
	sort_view(&view);
	*ret = view;
	return 0;
}

void plugin_view_release(struct plugin_view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		for (size_t k = 0; k < view->resources[i].count; k++)
			free(view->resources[i].devices[k].id);
		free(view->resources[i].devices);
		free(view->resources[i].name);
	}
	free(view->resources);
	free(view->cards);
	string_list_release(&view->notes);
	*view = (struct plugin_view){ .cards = NULL };
}

int plugin_resource_list(const struct plugin_view *view, const struct plugin_resource *resource,
			 struct kubelet_device **ret, struct error *error)
{
	struct kubelet_device *list = calloc(resource->count + 1, sizeof(*list));

	if (!list)
		return error_no_memory(error);
	for (size_t i = 0; i < resource->count; i++) {
		const struct plugin_device *device = &resource->devices[i];
		const struct plugin_card *card = &view->cards[device->card];

		list[i].id = device->id;
		list[i].healthy = device->healthy;
		/* With it the kubelet takes units of several cards without a question. */
		if (device->kind != PLUGIN_UNIT && card->numa >= 0) {
			list[i].numa = &card->numa;
			list[i].numa_count = 1;
		}
	}
	*ret = list;
	return 0;
}

void plugin_device_explain(const struct plugin_view *view, const struct plugin_device *device,
			   char *ret, size_t size)
{
	const struct plugin_card *card = &view->cards[device->card];

	switch (device->cause) {
	case PLUGIN_FINE:
		reason_text(ret, size, "%s", "");
		return;
	case PLUGIN_SICK:
		reason_text(ret, size, "card %s is %s: %s", card->uuid,
			    card_health_to_string(card->health),
			    card->cause[0] ? card->cause : "no cause is known");
		return;
	case PLUGIN_VANISHED:
		reason_text(ret, size, "%s is no more on this machine, and a Pod still holds it",
			    device->id);
		return;
	case PLUGIN_OTHER_MODE:
		reason_text(ret, size, "card %s is held in another mode until that Pod ends",
			    card->uuid);
		return;
	case PLUGIN_FOREIGN:
		reason_text(ret, size, "card %s: %s", card->uuid, card->cause);
		return;
	case PLUGIN_LEAVES:
		reason_text(ret, size, "%s is not offered any more", device->id);
		return;
	}
}
