/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/listing.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *one, *several;
	const char *first; /* how what it was said of first follows */
} rows[NOTE_MAX] = {
	[NOTE_ENDED] = { "Pod has ended and holds nothing", "Pods have ended and hold nothing",
			 ", such as " },
	[NOTE_RESERVATION] = { "Pod keeps a card for KAI and is passed over",
			       "Pods keep cards for KAI and are passed over", ", such as " },
	[NOTE_REFUSED] = { "Pod asks in a way that is refused and is left out",
			   "Pods ask in a way that is refused and are left out", ", the first: " },
	[NOTE_REMARK] = { "remark on what Pods ask for", "remarks on what Pods ask for",
			  ", the first: " },
	[NOTE_OTHER_KIND] = { "object of another kind is passed over",
			      "objects of other kinds are passed over", ": " },
	[NOTE_NO_NODE] = { "Pod runs on a node that is not listed and holds nothing",
			   "Pods run on nodes that are not listed and hold nothing", ", such as " },
	[NOTE_CARDS_UNKNOWN] = { "Pod runs on cards that are not known; some of its node's are "
				 "chosen for it",
				 "Pods run on cards that are not known; some of their nodes' are "
				 "chosen for them",
				 ", such as " },
	[NOTE_COUNT_ONLY] = { "node says only how many cards it has: of unknown model and size",
			      "nodes say only how many cards they have: of unknown model and size",
			      ", such as " },
	[NOTE_PROBLEM] = { "node says of its cards what cannot be read",
			   "nodes say of their cards what cannot be read", ", the first: " },
	[NOTE_BEYOND] = { "node has more cards than can be read; the rest is left out",
			  "nodes have more cards than can be read; the rest is left out",
			  ", such as " },
	[NOTE_SICK] = { "node offers fewer cards than it has; the last ones are taken to be sick",
			"nodes offer fewer cards than they have; the last ones are taken to be "
			"sick",
			", such as " },
	[NOTE_LAYOUT] = { "node does not say which card has which MIG instances; it is worked out",
			  "nodes do not say which card has which MIG instances; it is worked out",
			  ", such as " },
	[NOTE_MIG_SINGLE] = { "Pod asks for nvidia.com/gpu where that is a MIG instance",
			      "Pods ask for nvidia.com/gpu where that is a MIG instance",
			      ", such as " },
	[NOTE_REPLICAS] = { "Pod asks for a replica of a card; it is read as an even part of one",
			    "Pods ask for replicas of cards; each is read as an even part of one",
			    ", such as " },
};

int listing_make(struct trace *trace, struct error *error)
{
	if (trace->listing)
		return 0;
	struct listing *listing = calloc(1, sizeof(*listing));

	if (!listing)
		return error_no_memory(error);
	listing->groups = map_new();
	listing->inventories = map_new();
	listing->held = map_new();
	if (!listing->groups || !listing->inventories || !listing->held) {
		listing_free(listing);
		return error_no_memory(error);
	}
	trace->listing = listing;
	return 0;
}

static void inventory_free(void *inventory)
{
	inventory_release(inventory);
	free(inventory);
}

static void map_free_with(struct map *map, void (*release)(void *))
{
	const char *key;
	void *value;

	for (size_t at = 0; map && map_next(map, &at, &key, &value);)
		release(value);
	map_free(map);
}

void listing_free(struct listing *listing)
{
	if (!listing)
		return;
	map_free_with(listing->groups, free);
	map_free_with(listing->inventories, inventory_free);
	listing_free_held(listing->held);
	free(listing);
}

void listing_note(struct trace *trace, enum listing_note note, const char *format, ...)
{
	va_list arguments;

	if (!trace->listing || trace->listing->notes[note].count++)
		return;
	va_start(arguments, format);
	vsnprintf(trace->listing->notes[note].first, sizeof(trace->listing->notes[note].first),
		  format, arguments);
	va_end(arguments);
}

void listing_note_once(struct trace *trace, enum listing_note note, const char *text)
{
	char *first = trace->listing->notes[note].first;
	size_t size = sizeof(trace->listing->notes[note].first), used = strlen(first);
	size_t length = strlen(text);

	trace->listing->notes[note].count++;
	for (const char *at = first; (at = strstr(at, text)); at++)
		if ((at == first || at[-1] == ' ') && (!at[length] || at[length] == ','))
			return;
	if (used + length + 3 < size)
		snprintf(first + used, size - used, "%s%s", used ? ", " : "", text);
}

int listing_add_group(struct trace *trace, const char *group, const char *uuid, struct error *error)
{
	struct map *groups = trace->listing->groups;
	char *copy = strdup(uuid);
	char *old = map_get(groups, group);

	if (!copy || map_put(groups, group, copy) < 0) {
		free(copy);
		return error_no_memory(error);
	}
	free(old);
	return 0;
}

int listing_set_cards(struct trace *trace, const char *node, struct inventory *inventory,
		      struct error *error)
{
	struct map *inventories = trace->listing->inventories;
	struct inventory *copy = calloc(1, sizeof(*copy));

	if (map_get(inventories, node)) {
		free(copy);
		return error_set(error, EEXIST, "the cards of node %s are listed twice; remove one",
				 node);
	}
	if (!copy || map_put(inventories, node, copy) < 0) {
		free(copy);
		return error_no_memory(error);
	}
	*copy = *inventory;
	inventory_init(inventory);
	return 0;
}

int trace_notes(const struct trace *trace, struct string_list *ret)
{
	const struct listing *listing = trace->listing;
	size_t cards = 0;

	if (!listing)
		return 0;
	for (size_t i = 0; i < trace->node_count; i++)
		cards += trace->nodes[i].inventory.card_count;
	int r = string_list_addf(ret,
				 "%zu nodes with %zu cards; %zu Pods, of which %zu run already",
				 trace->node_count, cards, trace->pod_count, trace->running_count);
	for (int i = 0; i < NOTE_MAX && r == 0; i++) {
		size_t count = listing->notes[i].count;

		if (count)
			r = string_list_addf(ret, "%zu %s%s%s", count,
					     count == 1 ? rows[i].one : rows[i].several,
					     rows[i].first, listing->notes[i].first);
	}
	return r;
}
