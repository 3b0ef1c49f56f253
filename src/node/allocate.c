/* SPDX-License-Identifier: Apache-2.0 */
/* Allocate: is it a grant, is it free, and then the book before the answer. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/scene.h"

struct request_of_kubelet {
	const struct plugin_scene *scene;
	const char *resource_name;
	const struct plugin_resource *resource;
	struct string_list ids;              /* owned; each once */
	struct map *wanted;                  /* ID to its device */
	const struct plugin_device **picked; /* owned; in the order of the view */
	size_t count;
	struct ledger_entry **gone; /* owned; those that hold some of it no more */
	size_t gone_count, gone_capacity;
	struct reason *reason;
	struct error *error;
};

static int refuse(const struct request_of_kubelet *request, enum reason_code code,
		  const char *format, ...) __attribute__((format(printf, 3, 4)));

static int refuse(const struct request_of_kubelet *request, enum reason_code code,
		  const char *format, ...)
{
	struct reason reason;
	va_list arguments;

	scene_reason(request->scene, code, request->resource_name, request->ids.count, &reason);
	va_start(arguments, format);
	reason_vtext(reason.detail, sizeof(reason.detail), format, arguments);
	va_end(arguments);
	return scene_refuse(&reason, EINVAL, request->reason, request->error);
}

/* The kubelet sends sets; NVIDIA's plugin counts a device that stands twice once. */
static int read_ids(struct request_of_kubelet *request, const struct string_list *ids)
{
	automap *devices = NULL;

	request->wanted = map_new();
	if (!request->wanted || scene_index(request->resource, &devices) < 0)
		return error_no_memory(request->error);
	for (size_t i = 0; i < ids->count; i++) {
		struct plugin_device *device = map_get(devices, ids->items[i]);

		if (map_get(request->wanted, ids->items[i]))
			continue;
		if (string_list_add(&request->ids, ids->items[i]) < 0)
			return error_no_memory(request->error);
		if (!device)
			return refuse(request, REASON_NO_GRANT,
				      "invalid request: unknown device: %s", ids->items[i]);
		if (map_put(request->wanted, ids->items[i], device) < 0)
			return error_no_memory(request->error);
	}
	request->picked = calloc(request->ids.count + 1, sizeof(*request->picked));
	if (!request->picked)
		return error_no_memory(request->error);
	for (size_t i = 0; i < request->resource->count; i++)
		if (map_get(request->wanted, request->resource->devices[i].id))
			request->picked[request->count++] = &request->resource->devices[i];
	return 0;
}

static int check_single(const struct request_of_kubelet *request)
{
	bool replicas = false;

	for (size_t i = 0; i < request->count; i++)
		replicas = replicas || request->picked[i]->kind == PLUGIN_REPLICA;
	if (!replicas || request->count < 2 || !request->scene->config->time_slicing.single_only)
		return 0;
	return refuse(request, REASON_SINGLE_ONLY, "%s", "");
}

static int refuse_sick(const struct request_of_kubelet *request, const struct plugin_device *device)
{
	const struct plugin_card *card = &request->scene->view->cards[device->card];
	struct reason reason;

	scene_reason(request->scene,
		     card->health == CARD_LOST ? REASON_CARD_LOST : REASON_CARD_SUSPECT,
		     request->resource_name, request->ids.count, &reason);
	reason.scope = REASON_SCOPE_CARD;
	scene_describe_card(request->scene, device->card, reason.card);
	reason_text(reason.detail, sizeof(reason.detail), "%s",
		    card->cause[0] ? card->cause : "no cause is known");
	return scene_refuse(&reason, EINVAL, request->reason, request->error);
}

static int check_offered(const struct request_of_kubelet *request)
{
	for (size_t i = 0; i < request->count; i++) {
		const struct plugin_device *device = request->picked[i];
		char text[REASON_TEXT_MAX];

		if (device->offered)
			continue;
		if (device->cause == PLUGIN_SICK)
			return refuse_sick(request, device);
		plugin_device_explain(request->scene->view, device, text, sizeof(text));
		return refuse(request, REASON_NO_GRANT, "%s",
			      text[0] ? text : "the configuration offers it no more");
	}
	return 0;
}

static int check_one_card(const struct request_of_kubelet *request)
{
	uint32_t first = request->picked[0]->card;
	size_t of_first = 0;

	if (request->picked[0]->kind != PLUGIN_UNIT)
		return 0;
	for (size_t i = 0; i < request->count; i++)
		of_first += request->picked[i]->card == first;
	if (of_first == request->count)
		return 0;
	return refuse(request, REASON_NO_GRANT,
		      "its %zu units are not of one card: %zu are of card %s, the last one is of "
		      "card %s",
		      request->count, of_first, request->scene->view->cards[first].uuid,
		      request->scene->view->cards[request->picked[request->count - 1]->card].uuid);
}

static int refuse_held(const struct request_of_kubelet *request, const char *id,
		       const struct ledger_entry *holder)
{
	if (holder->pod_uid)
		return refuse(request, REASON_OFFERED_HELD, "%s, which Pod %s holds", id,
			      holder->pod_uid);
	return refuse(request, REASON_OFFERED_HELD,
		      "%s, which was given to another container (grant %" PRIu64 ")", id,
		      holder->serial);
}

/*
 * Every entry that holds one of the IDs is asked about. 0: they may be given; -EAGAIN: only List can
 * tell. An answer that refuses goes before one that asks.
 */
static int check_held(struct request_of_kubelet *request)
{
	const struct plugin_scene *scene = request->scene;
	bool ask = false;

	for (size_t i = 0; i < scene->ledger->count; i++) {
		struct ledger_entry *entry = scene->ledger->entries[i];
		struct ledger_entry **gone;
		const char *shared = NULL;

		for (size_t k = 0; k < entry->ids.count && !shared; k++)
			if (map_get(request->wanted, entry->ids.items[k]))
				shared = entry->ids.items[k];
		if (!shared)
			continue;
		enum holder_sign sign =
			ledger_ask(scene->ledger, entry, &request->ids, scene->evidence);

		if (sign == HOLDER_HAS)
			return refuse_held(request, shared, entry);
		ask = ask || sign == HOLDER_ASK;
		if (sign != HOLDER_GONE)
			continue;
		gone = VEC_ADD(&request->gone, &request->gone_count, &request->gone_capacity);
		if (!gone)
			return error_no_memory(request->error);
		*gone = entry;
	}
	return ask ? -EAGAIN : 0;
}

static const char *part_of(const struct plugin_scene *scene, const struct plugin_device *device)
{
	const struct plugin_card *card = &scene->view->cards[device->card];

	if (device->instance == PLUGIN_NONE || card->position == PLUGIN_NONE)
		return card->uuid;
	return scene->inventory->cards[card->position].instances[device->instance].uuid;
}

static enum id_form form_of(const struct plugin_device *device)
{
	return device->kind == PLUGIN_REPLICA ? ID_REPLICA
	       : device->kind == PLUGIN_UNIT  ? ID_UNIT
					      : ID_PART;
}

/* The same card, held in another mode since the view was made. */
static int check_modes(const struct request_of_kubelet *request)
{
	const struct plugin_scene *scene = request->scene;

	for (size_t i = 0; i < scene->ledger->count; i++) {
		const struct string_list *ids = &scene->ledger->entries[i]->ids;

		for (size_t k = 0; k < ids->count; k++) {
			struct device_id held;

			if (map_get(request->wanted, ids->items[k]) ||
			    !device_id_read(ids->items[k], &held))
				continue;
			for (size_t n = 0; n < request->count; n++)
				if (form_of(request->picked[n]) != held.form &&
				    strcmp(part_of(scene, request->picked[n]), held.part) == 0)
					return refuse(request, REASON_OFFERED_HELD,
						      "%s, whose card is held as %s",
						      request->picked[n]->id, ids->items[k]);
		}
	}
	return 0;
}

static int check(struct request_of_kubelet *request, const struct string_list *ids)
{
	int r;

	if (!request->resource)
		return refuse(request, REASON_NO_GRANT, "this resource is not offered");
	r = read_ids(request, ids);
	if (r < 0)
		return r;
	if (request->count == 0)
		return refuse(request, REASON_NO_GRANT, "the kubelet named no device");
	r = check_single(request);
	if (r == 0)
		r = check_offered(request);
	if (r == 0)
		r = check_one_card(request);
	if (r == 0)
		r = check_modes(request);
	return r < 0 ? r : check_held(request);
}

/* What a holder that is gone had is its no more; an init container of the same Pod keeps it. */
static void strip_gone(const struct request_of_kubelet *request)
{
	struct ledger *ledger = request->scene->ledger;

	for (size_t i = 0; i < request->gone_count; i++) {
		size_t count = ledger->count;

		/* With its last device the entry goes, too. */
		for (size_t k = 0; k < request->ids.count && ledger->count == count; k++)
			ledger_strip(ledger, request->gone[i], request->ids.items[k]);
	}
}

static int grant(struct request_of_kubelet *request, struct ledger_entry **ret_entry,
		 struct kubelet_answer *ret_answer)
{
	const struct plugin_scene *scene = request->scene;
	struct kubelet_answer answer = { .envs = NULL };
	struct ledger_entry *entry = NULL;
	int r = scene_answer(scene, request->picked, request->count, scene->ledger->next_serial,
			     &answer, request->error);

	if (r == 0)
		r = ledger_add(scene->ledger, request->resource_name, &request->ids,
			       scene->evidence->now, &entry, request->error);
	if (r < 0) {
		kubelet_answer_release(&answer);
		return r;
	}
	ledger_stamp_entry(entry, scene->evidence);
	strip_gone(request);
	*ret_entry = entry;
	*ret_answer = answer;
	return 0;
}

int plugin_allocate(const struct plugin_scene *scene, const char *resource,
		    const struct string_list *ids, struct ledger_entry **ret_entry,
		    struct kubelet_answer *ret_answer, struct reason *ret_reason,
		    struct error *error)
{
	struct request_of_kubelet request = { .scene = scene,
					      .resource_name = resource,
					      .resource = plugin_view_find(scene->view, resource),
					      .reason = ret_reason,
					      .error = error };

	if (ret_reason)
		*ret_reason = (struct reason){ .code = REASON_NONE };
	int r = check(&request, ids);

	if (r == 0)
		r = grant(&request, ret_entry, ret_answer);
	else if (r == -EAGAIN)
		error_set(error, EAGAIN,
			  "whether %s is free only the kubelet's List can tell; ask it",
			  request.ids.items[0]);
	string_list_release(&request.ids);
	map_free(request.wanted);
	free(request.picked);
	free(request.gone);
	return r;
}
