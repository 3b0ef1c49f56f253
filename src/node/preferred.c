/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GetPreferredAllocation. The kubelet's list is an upper bound: what is sick, not offered or held is left
 * out. Devices of which only pod-resources' List could tell whether they are free are taken last, since
 * Allocate asks it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "node/scene.h"
#include "place/place.h"

enum standing { FREE, DOUBTFUL };

struct candidate {
	const struct plugin_device *device;
	enum standing standing;
};

struct choice {
	const struct plugin_scene *scene;
	const struct plugin_resource *resource;
	const struct string_list *must;
	unsigned size;
	struct map *devices, *holders, *musts; /* by ID */
	struct candidate *items;               /* owned; in the order of the view */
	size_t count;
	size_t needed; /* SIZE without MUST */
	struct string_list *ret;
	struct reason *reason;
	struct error *error;
	const struct ledger_entry *asked; /* the last one that was asked about */
	enum holder_sign sign;
};

static int take(struct choice *choice, const struct plugin_device *device)
{
	return string_list_add(choice->ret, device->id) < 0 ? error_no_memory(choice->error) : 0;
}

/* Whether it can be had at all, and if so how sure that is. */
static bool stands(struct choice *choice, const struct plugin_device *device,
		   enum standing *ret_standing)
{
	const struct ledger_entry *holder = map_get(choice->holders, device->id);

	*ret_standing = FREE;
	if (!device->offered)
		return false;
	if (!holder)
		return true;
	if (holder != choice->asked)
		choice->sign =
			ledger_ask(choice->scene->ledger, holder, NULL, choice->scene->evidence);
	choice->asked = holder;
	*ret_standing = choice->sign == HOLDER_ASK ? DOUBTFUL : FREE;
	return choice->sign == HOLDER_GONE || choice->sign == HOLDER_ASK;
}

static int collect(struct choice *choice, const struct string_list *available)
{
	automap *there = map_new();

	if (!there)
		return error_no_memory(choice->error);
	for (size_t i = 0; i < available->count; i++)
		if (map_put(there, available->items[i], choice) < 0)
			return error_no_memory(choice->error);
	choice->items = calloc(choice->resource->count + 1, sizeof(*choice->items));
	if (!choice->items)
		return error_no_memory(choice->error);
	for (size_t i = 0; i < choice->resource->count; i++) {
		const struct plugin_device *device = &choice->resource->devices[i];
		struct candidate *to = &choice->items[choice->count];

		to->device = device;
		if (map_get(there, device->id) && !map_get(choice->musts, device->id))
			choice->count += stands(choice, device, &to->standing);
	}
	return 0;
}

static size_t count_up_to(const struct choice *choice, enum standing standing)
{
	size_t count = 0;

	for (size_t i = 0; i < choice->count; i++)
		count += choice->items[i].standing <= standing;
	return count;
}

static const char *unit_of(const struct plugin_resource *resource)
{
	switch (resource->count ? resource->devices[0].kind : PLUGIN_WHOLE) {
	case PLUGIN_MIG:
		return "free MIG device";
	case PLUGIN_REPLICA:
		return "free replica";
	case PLUGIN_UNIT:
		return "free unit";
	case PLUGIN_WHOLE:
		break;
	}
	return "free card";
}

static int refuse_few(struct choice *choice)
{
	struct reason reason;

	scene_reason(choice->scene, REASON_DEVICES_BUSY, choice->resource->name, choice->size,
		     &reason);
	reason.unit = unit_of(choice->resource);
	reason.have = (int64_t)(choice->count + choice->must->count);
	reason.total = (int64_t)choice->resource->count;
	return scene_refuse(&reason, EAGAIN, choice->reason, choice->error);
}

/* ---- whole cards ---- */

static bool all_whole(const struct choice *choice)
{
	for (size_t i = 0; i < choice->count; i++)
		if (choice->items[i].device->kind != PLUGIN_WHOLE)
			return false;
	return true;
}

static uint64_t bit_of(const struct choice *choice, const struct plugin_device *device)
{
	uint32_t position = choice->scene->view->cards[device->card].position;

	return device->kind == PLUGIN_WHOLE && position < 64 ? 1ull << position : 0;
}

static int choose_whole(struct choice *choice)
{
	uint64_t cards = 0, must = 0, set = 0;
	enum standing limit = count_up_to(choice, FREE) >= choice->needed ? FREE : DOUBTFUL;

	for (size_t i = 0; i < choice->count; i++)
		if (choice->items[i].standing <= limit)
			cards |= bit_of(choice, choice->items[i].device);
	for (size_t i = 0; i < choice->must->count; i++) {
		const struct plugin_device *device =
			map_get(choice->devices, choice->must->items[i]);

		must |= device ? bit_of(choice, device) : 0;
	}
	int r = place_choose_cards(choice->scene->inventory, cards & ~must, must,
				   (unsigned)(choice->needed + (size_t)__builtin_popcountll(must)),
				   &set);

	if (r == -ENOMEM)
		return error_no_memory(choice->error);
	if (r < 0) /* a view of another inventory: any set is a right answer */
		set = UINT64_MAX;
	size_t taken = 0;

	for (size_t i = 0; r != -ENOMEM && i < choice->count && taken < choice->needed; i++) {
		const struct plugin_device *device = choice->items[i].device;

		if (!(set & bit_of(choice, device)))
			continue;
		taken++;
		if (take(choice, device) < 0)
			return -ENOMEM;
	}
	return taken == choice->needed ? 0 : refuse_few(choice);
}

/* ---- replicas and MIG devices ---- */

/* Of one card or MIG device; as NVIDIA's plugin counts (internal/rm/allocate.go). */
struct stack {
	uint32_t card, instance;
	size_t total;  /* devices listed */
	size_t left;   /* that can be taken */
	size_t picked; /* by this choice, MUST included */
};

static struct stack *stack_of(struct stack *stacks, size_t *count,
			      const struct plugin_device *device)
{
	for (size_t i = 0; i < *count; i++)
		if (stacks[i].card == device->card && stacks[i].instance == device->instance)
			return &stacks[i];
	stacks[*count] = (struct stack){ .card = device->card, .instance = device->instance };
	return &stacks[(*count)++];
}

static bool is_better(const struct stack *a, const struct stack *b, enum share_policy policy)
{
	size_t used_a = a->total - a->left, used_b = b->total - b->left;

	if (used_a != used_b)
		return policy == SHARE_PACKED ? used_a > used_b : used_a < used_b;
	return a->picked < b->picked;
}

static int take_of(struct choice *choice, struct stack *stack, enum standing limit, bool *taken)
{
	for (size_t i = 0; i < choice->count; i++) {
		const struct plugin_device *device = choice->items[i].device;

		if (taken[i] || device->card != stack->card ||
		    device->instance != stack->instance || choice->items[i].standing > limit)
			continue;
		taken[i] = true;
		stack->left--;
		stack->picked++;
		return take(choice, device);
	}
	return -EINVAL;
}

static int choose_spread(struct choice *choice)
{
	const struct plugin_resource *resource = choice->resource;
	enum standing limit = count_up_to(choice, FREE) >= choice->needed ? FREE : DOUBTFUL;
	autofree struct stack *stacks = calloc(resource->count + 1, sizeof(*stacks));
	autofree bool *taken = calloc(choice->count + 1, sizeof(*taken));
	size_t count = 0;

	if (!stacks || !taken)
		return error_no_memory(choice->error);
	for (size_t i = 0; i < resource->count; i++) {
		struct stack *stack = stack_of(stacks, &count, &resource->devices[i]);

		stack->total++;
		stack->picked += map_get(choice->musts, resource->devices[i].id) != NULL;
	}
	for (size_t i = 0; i < choice->count; i++)
		stack_of(stacks, &count, choice->items[i].device)->left +=
			choice->items[i].standing <= limit;
	for (size_t n = 0; n < choice->needed; n++) {
		struct stack *best = NULL;

		for (size_t i = 0; i < count; i++)
			if (stacks[i].left &&
			    (!best ||
			     is_better(&stacks[i], best, choice->scene->config->share_policy)))
				best = &stacks[i];
		int r = best ? take_of(choice, best, limit, taken) : -EINVAL;

		if (r < 0)
			return r == -EINVAL ? refuse_few(choice) : r;
	}
	return 0;
}

/* ---- units ---- */

/* Units of one card that can be had. */
static size_t count_on(const struct choice *choice, uint32_t card, enum standing limit)
{
	size_t count = 0;

	for (size_t i = 0; i < choice->count; i++)
		count +=
			choice->items[i].device->card == card && choice->items[i].standing <= limit;
	return count;
}

static size_t count_listed(const struct choice *choice, uint32_t card)
{
	size_t count = 0;

	for (size_t i = 0; i < choice->resource->count; i++)
		count += choice->resource->devices[i].card == card;
	return count;
}

static int refuse_size(struct choice *choice, uint32_t card, size_t free)
{
	struct reason reason;

	scene_reason(choice->scene, REASON_MEMORY_BUSY, choice->resource->name, choice->size,
		     &reason);
	if (choice->must->count)
		reason.scope = REASON_SCOPE_CARD;
	reason_text(reason.detail, sizeof(reason.detail), "one card");
	reason.have = (int64_t)(free + choice->must->count);
	reason.total = (int64_t)count_listed(choice, card);
	scene_describe_card(choice->scene, card, reason.card);
	return scene_refuse(&reason, EAGAIN, choice->reason, choice->error);
}

/* The card of MUST; PLUGIN_NONE: none. -EINVAL when there are several, or what is no unit. */
static int card_of_must(struct choice *choice, uint32_t *ret)
{
	*ret = PLUGIN_NONE;
	for (size_t i = 0; i < choice->must->count; i++) {
		const struct plugin_device *device =
			map_get(choice->devices, choice->must->items[i]);
		struct reason reason;

		if (device && device->kind == PLUGIN_UNIT &&
		    (*ret == PLUGIN_NONE || *ret == device->card)) {
			*ret = device->card;
			continue;
		}
		scene_reason(choice->scene, REASON_NO_GRANT, choice->resource->name, choice->size,
			     &reason);
		reason_text(reason.detail, sizeof(reason.detail),
			    "the kubelet wants %zu units in it that are not of one card, %s among "
			    "them",
			    choice->must->count, choice->must->items[i]);
		return scene_refuse(&reason, EINVAL, choice->reason, choice->error);
	}
	return 0;
}

/* Among the cards with room enough the one with the least. *ret_most: the most that any has. */
static bool find_card(const struct choice *choice, uint32_t only, enum standing limit,
		      uint32_t *ret_card, size_t *ret_most, uint32_t *ret_most_card)
{
	size_t least = SIZE_MAX;

	*ret_most = 0;
	*ret_most_card = only;
	for (uint32_t card = 0; card < choice->scene->view->card_count; card++) {
		size_t room = count_on(choice, card, limit);

		if (only != PLUGIN_NONE && card != only)
			continue;
		if (room > *ret_most) {
			*ret_most = room;
			*ret_most_card = card;
		}
		if (room >= choice->needed && room < least) {
			least = room;
			*ret_card = card;
		}
	}
	return least != SIZE_MAX;
}

static int choose_units(struct choice *choice)
{
	uint32_t only, card = 0, most_card;
	size_t most, taken = 0;
	int r = card_of_must(choice, &only);

	if (r < 0)
		return r;
	if (!find_card(choice, only, FREE, &card, &most, &most_card) &&
	    !find_card(choice, only, DOUBTFUL, &card, &most, &most_card)) {
		if (most_card == PLUGIN_NONE && choice->resource->count == 0)
			return refuse_few(choice);
		return refuse_size(choice,
				   most_card == PLUGIN_NONE ? choice->resource->devices[0].card
							    : most_card,
				   most);
	}
	for (int standing = FREE; standing <= DOUBTFUL; standing++)
		for (size_t i = 0; i < choice->count && taken < choice->needed; i++) {
			if (choice->items[i].device->card != card ||
			    (int)choice->items[i].standing != standing)
				continue;
			if (take(choice, choice->items[i].device) < 0)
				return -ENOMEM;
			taken++;
		}
	return 0;
}

/* ---- */

static bool is_units(const struct plugin_resource *resource)
{
	return strcmp(resource->name, PLUGIN_RESOURCE_UNITS) == 0;
}

static int prepare(struct choice *choice, const struct string_list *available)
{
	choice->musts = map_new();
	if (!choice->musts || scene_index(choice->resource, &choice->devices) < 0 ||
	    ledger_index(choice->scene->ledger, &choice->holders) < 0)
		return error_no_memory(choice->error);
	for (size_t i = 0; i < choice->must->count; i++) {
		if (map_put(choice->musts, choice->must->items[i], choice) < 0)
			return error_no_memory(choice->error);
		if (string_list_add(choice->ret, choice->must->items[i]) < 0)
			return error_no_memory(choice->error);
	}
	return collect(choice, available);
}

static int choose(struct choice *choice, const struct string_list *available)
{
	int r = prepare(choice, available);

	if (r < 0)
		return r;
	if (is_units(choice->resource))
		return choose_units(choice);
	if (choice->count < choice->needed)
		return refuse_few(choice);
	if (choice->needed == 0)
		return 0;
	return all_whole(choice) ? choose_whole(choice) : choose_spread(choice);
}

static int refuse_question(const struct plugin_scene *scene, const char *resource, size_t size,
			   const char *detail, struct reason *ret_reason, struct error *error)
{
	struct reason reason;

	scene_reason(scene, REASON_NO_GRANT, resource, size, &reason);
	reason_text(reason.detail, sizeof(reason.detail), "%s", detail);
	return scene_refuse(&reason, EINVAL, ret_reason, error);
}

int plugin_preferred(const struct plugin_scene *scene, const char *resource,
		     const struct string_list *available, const struct string_list *must,
		     unsigned size, struct string_list *ret, struct reason *ret_reason,
		     struct error *error)
{
	cleanup(string_list_release) struct string_list list = { .items = NULL };
	struct choice choice = { .scene = scene,
				 .resource = plugin_view_find(scene->view, resource),
				 .must = must,
				 .size = size,
				 .ret = &list,
				 .reason = ret_reason,
				 .error = error };

	if (!choice.resource)
		return refuse_question(scene, resource, size, "this resource is not offered",
				       ret_reason, error);
	if (must->count > size)
		return refuse_question(scene, resource, size,
				       "the kubelet wants more devices in it than it asks for",
				       ret_reason, error);
	choice.needed = size - must->count;
	int r = choose(&choice, available);

	map_free(choice.devices);
	map_free(choice.holders);
	map_free(choice.musts);
	free(choice.items);
	if (r < 0)
		return r;
	*ret = list;
	list = (struct string_list){ .items = NULL };
	return 0;
}
