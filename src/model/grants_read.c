/* SPDX-License-Identifier: Apache-2.0 */
#include "model/grants_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/card.h"
#include "model/kubernetes.h"
#include "model/quantity.h"

#define KAI_GROUP      "runai-gpu-group"
#define SEGMENTS_MAX   512 /* containers of a Pod */
#define CARD_MIB_LIMIT (65535ull * MIB_PER_UNIT)
#define COMPUTE_MAX    100

struct reader {
	struct json_object *pod;
	struct demand *demand;
};

/* ---- into grants ---- */

static int add_card(struct grant *grant, const char *uuid, uint64_t mib, uint64_t compute)
{
	struct grant_card *card = VEC_ADD(&grant->cards, &grant->card_count, &grant->card_capacity);

	if (!card)
		return -ENOMEM;
	snprintf(card->uuid, sizeof(card->uuid), "%s", uuid);
	if (grant->kind != REQUEST_SLICE)
		return 0;
	card->memory_mib = mib;
	card->units = (unsigned)((mib + MIB_PER_UNIT - 1) / MIB_PER_UNIT);
	card->compute_percent = (unsigned)compute;
	return 0;
}

/* The number of a card, with what the request asks for of it. */
static int add_index(struct grant *grant, const struct request *request, uint64_t index)
{
	char uuid[CARD_UUID_MAX];

	snprintf(uuid, sizeof(uuid), "%c%ju", GRANT_BY_INDEX, (uintmax_t)index);
	return add_card(grant, uuid, request->memory_mib, request->compute_percent);
}

static struct grant *grant_of(const struct reader *reader, size_t request)
{
	return &reader->demand->grants[request];
}

/* ---- HAMi and Volcano ---- */

struct segments {
	char *items[SEGMENTS_MAX];
	size_t count, filled;
};

static void split_segments(char *text, struct segments *ret)
{
	ret->count = ret->filled = 0;
	for (char *rest = text, *segment; (segment = strsep(&rest, ";"));) {
		if (ret->count == SEGMENTS_MAX)
			return;
		ret->items[ret->count++] = segment;
		ret->filled += strchr(segment, ',') != NULL;
	}
}

/* "UUID,type,MiB,cores"; a MIG slot of older versions stands behind the UUID in brackets. */
static int read_device(struct grant *grant, char *text)
{
	char *uuid = strsep(&text, ","), *type = strsep(&text, ","), *mib = strsep(&text, ",");
	char *cores = strsep(&text, ",");
	uint64_t memory = 0, compute = 0;

	if (!cores || !*uuid || !*type || parse_uint(mib, 0, CARD_MIB_LIMIT, &memory) < 0 ||
	    parse_uint(cores, 0, COMPUTE_MAX, &compute) < 0)
		return -EINVAL;
	uuid[strcspn(uuid, "[")] = '\0';
	if (strlen(uuid) >= CARD_UUID_MAX || *uuid == GRANT_BY_INDEX || *uuid == GRANT_BY_GROUP)
		return -EINVAL;
	return add_card(grant, uuid, memory, compute);
}

static int read_devices(struct grant *grant, char *text)
{
	int r = 0;

	for (char *rest = text, *device; r == 0 && (device = strsep(&rest, ":"));)
		if (*device)
			r = read_device(grant, device);
	return r;
}

static size_t list_length(struct json_object *list)
{
	return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

static size_t position_in(struct json_object *list, const char *name)
{
	size_t at = 0;

	while (at < list_length(list) &&
	       strcmp(json_get_string(json_object_array_get_idx(list, at), "name", ""), name) != 0)
		at++;
	return at;
}

/* The segment of a container: init containers may or may not have theirs. */
static size_t segment_of(const struct reader *reader, const struct segments *segments,
			 const char *container)
{
	struct json_object *init = json_get(reader->pod, "spec.initContainers");
	struct json_object *list = json_get(reader->pod, "spec.containers");
	size_t at = position_in(list, container);

	if (at == list_length(list))
		return position_in(init, container);
	return segments->count >= list_length(init) + list_length(list) ? list_length(init) + at
									: at;
}

static int read_segments(const struct reader *reader, const char *text)
{
	autofree char *copy = strdup(text);
	struct segments segments;
	size_t next = 0;
	int r = 0;

	if (!copy)
		return -ENOMEM;
	split_segments(copy, &segments);
	for (size_t i = 0; r == 0 && i < reader->demand->request_count; i++) {
		size_t at = segment_of(reader, &segments, reader->demand->containers[i]);

		/* As many as ask: whoever asks first has the first. */
		if (segments.filled == reader->demand->request_count) {
			while (!strchr(segments.items[next], ','))
				next++;
			at = next++;
		}
		if (at >= segments.count)
			return -EINVAL;
		r = read_devices(grant_of(reader, i), segments.items[at]);
	}
	return r;
}

/* ---- numbers of cards ---- */

static int read_indices(const struct reader *reader, const char *text)
{
	autofree char *copy = strdup(text);
	char *rest = copy, *field;
	size_t request = 0;

	if (!copy)
		return -ENOMEM;
	while ((field = strsep(&rest, ","))) {
		uint64_t index = 0;

		if (parse_uint(field, 0, CARDS_MAX, &index) < 0)
			return -EINVAL;
		while (request < reader->demand->request_count &&
		       grant_of(reader, request)->card_count >=
			       reader->demand->requests[request].cards)
			request++;
		if (request == reader->demand->request_count)
			return -EINVAL;
		if (add_index(grant_of(reader, request), &reader->demand->requests[request],
			      index) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* gpushare: all containers are on one card. */
static int read_one_index(const struct reader *reader, const char *text)
{
	uint64_t index = 0;

	if (parse_uint(text, 0, CARDS_MAX, &index) < 0)
		return -EINVAL;
	for (size_t i = 0; i < reader->demand->request_count; i++)
		if (add_index(grant_of(reader, i), &reader->demand->requests[i], index) < 0)
			return -ENOMEM;
	return 0;
}

/* ---- Koordinator ---- */

static uint64_t amount(struct json_object *item, const char *name)
{
	struct json_object *value = NULL, *map = json_get(item, "resources");
	struct quantity quantity;
	char text[QUANTITY_TEXT_MAX];

	if (!json_object_is_type(map, json_type_object) ||
	    !json_object_object_get_ex(map, name, &value) ||
	    kubernetes_value_text(value, text, sizeof(text)) < 0 ||
	    quantity_parse(text, &quantity, NULL) < 0 || quantity.negative)
		return 0;
	return (uint64_t)quantity.value;
}

static int add_allocation(const struct reader *reader, struct json_object *item, size_t request)
{
	uint64_t minor = json_get_uint(item, "minor", UINT64_MAX);
	uint64_t mib = amount(item, "koordinator.sh/gpu-memory") >> 20;
	uint64_t compute = amount(item, "koordinator.sh/gpu-core");
	char uuid[CARD_UUID_MAX];

	if (minor >= CARDS_MAX || mib > CARD_MIB_LIMIT || compute > COMPUTE_MAX)
		return -EINVAL;
	snprintf(uuid, sizeof(uuid), "%c%ju", GRANT_BY_INDEX, (uintmax_t)minor);
	return add_card(grant_of(reader, request), uuid, mib, compute);
}

/* {"gpu": [{"minor": 0, "resources": {...}}]}, of the whole Pod. */
static int read_allocations(const struct reader *reader, const char *text)
{
	autojson *object = NULL;
	struct error error = ERROR_INIT;
	size_t request = 0;
	int r = json_parse(text, strlen(text), "device-allocated", NULL, &object, &error);
	struct json_object *list = json_get(object, "gpu");

	for (size_t i = 0; r == 0 && i < list_length(list); i++) {
		while (request < reader->demand->request_count &&
		       grant_of(reader, request)->card_count >=
			       reader->demand->requests[request].cards)
			request++;
		if (request == reader->demand->request_count)
			return -EINVAL;
		r = add_allocation(reader, json_object_array_get_idx(list, i), request);
	}
	return r;
}

/* ---- ours ---- */

static int read_grants(const struct reader *reader, const char *text)
{
	autojson *list = NULL;
	struct error error = ERROR_INIT;
	int r = json_parse(text, strlen(text), "gpupool.io/cards", NULL, &list, &error);

	for (size_t i = 0; r == 0 && i < list_length(list); i++) {
		cleanup(grant_release) struct grant grant = { .kind = REQUEST_NONE };
		size_t at = 0;

		r = grant_from_json(json_object_array_get_idx(list, i), &grant, &error);
		while (r == 0 && at < reader->demand->request_count &&
		       strcmp(reader->demand->containers[at], grant.container) != 0)
			at++;
		if (r == 0 &&
		    (at == reader->demand->request_count || grant_of(reader, at)->card_count ||
		     grant.kind != grant_of(reader, at)->kind))
			r = -EINVAL;
		if (r < 0)
			break;
		grant_release(grant_of(reader, at));
		*grant_of(reader, at) = grant;
		grant = (struct grant){ .kind = REQUEST_NONE };
	}
	return r;
}

/* ---- all of them ---- */

static const struct format {
	const char *annotation;
	int (*read)(const struct reader *reader, const char *text); /* 0, -EINVAL, -ENOMEM */
} formats[] = {
	{ "gpupool.io/cards", read_grants },
	{ "hami.io/vgpu-devices-allocated", read_segments },
	{ "volcano.sh/vgpu-ids-new", read_segments },
	{ "volcano.sh/gpu-index", read_indices },
	{ "scheduling.koordinator.sh/device-allocated", read_allocations },
	{ "ALIYUN_COM_GPU_MEM_IDX", read_one_index },
};

static void drop(struct demand *demand)
{
	for (size_t i = 0; i < demand->grant_count; i++)
		grant_release(&demand->grants[i]);
	demand->grant_count = 0;
}

/* One empty grant a request. */
static int begin(struct demand *demand)
{
	for (size_t i = 0; i < demand->request_count; i++) {
		struct grant *grant =
			VEC_ADD(&demand->grants, &demand->grant_count, &demand->grant_capacity);

		if (!grant)
			return -ENOMEM;
		*grant = (struct grant){ .kind = demand->requests[i].kind };
	}
	return 0;
}

static bool is_whole(const struct demand *demand)
{
	for (size_t i = 0; i < demand->grant_count; i++)
		if (!demand->grants[i].card_count || demand->grants[i].card_count > CARDS_MAX)
			return false;
	return demand->grant_count > 0;
}

static int read_groups(const struct reader *reader)
{
	struct json_object *labels = json_get(reader->pod, "metadata.labels");
	const size_t length = sizeof(KAI_GROUP) - 1;
	const struct request *request = reader->demand->requests;

	if (!json_object_is_type(labels, json_type_object) || reader->demand->request_count != 1 ||
	    request->kind != REQUEST_SLICE)
		return -EINVAL;
	json_object_object_foreach(labels, key, value)
	{
		char uuid[CARD_UUID_MAX];

		if (strncmp(key, KAI_GROUP, length) != 0 || (key[length] && key[length] != '/') ||
		    (!key[length] && request->cards > 1))
			continue;
		const char *group = json_object_get_string(value);
		if (!group || !*group || strlen(group) > sizeof(uuid) - 2)
			return -EINVAL;
		snprintf(uuid, sizeof(uuid), "%c%s", GRANT_BY_GROUP, group);
		if (add_card(grant_of(reader, 0), uuid, request->memory_mib,
			     request->compute_percent) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool can_be_granted(const struct demand *demand)
{
	for (size_t i = 0; i < demand->request_count; i++)
		if (demand->requests[i].kind != REQUEST_WHOLE &&
		    demand->requests[i].kind != REQUEST_SLICE)
			return false;
	return demand->request_count > 0;
}

int grants_read(struct json_object *pod, struct demand *demand)
{
	struct json_object *annotations = json_get(pod, "metadata.annotations"), *value = NULL;
	const struct reader reader = { pod, demand };
	int r = -EINVAL;

	if (!can_be_granted(demand))
		return 0;
	for (size_t i = 0; i <= ARRAY_SIZE(formats); i++) {
		bool last = i == ARRAY_SIZE(formats);

		if (!last &&
		    (!json_object_is_type(annotations, json_type_object) ||
		     !json_object_object_get_ex(annotations, formats[i].annotation, &value) ||
		     !json_object_is_type(value, json_type_string)))
			continue;
		r = begin(demand);
		if (r == 0)
			r = last ? read_groups(&reader)
				 : formats[i].read(&reader, json_object_get_string(value));
		if (r == 0 && is_whole(demand))
			return 1;
		drop(demand);
		if (r == -ENOMEM)
			return r;
	}
	return 0;
}

bool grants_is_reservation(struct json_object *pod, const char **ret_group, const char **ret_uuid)
{
	static const char *const namespaces[] = { "kai-resource-reservation", "runai-reservation" };
	const char *namespace = json_get_string(pod, "metadata.namespace", "");
	struct json_object *annotations = json_get(pod, "metadata.annotations"), *uuid = NULL;
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++)
		found = found || strcmp(namespaces[i], namespace) == 0;
	if (!found)
		return false;
	if (json_object_is_type(annotations, json_type_object))
		json_object_object_get_ex(annotations, "run.ai/reserve_for_gpu_index", &uuid);
	*ret_group = json_get_string(pod, "metadata.labels." KAI_GROUP, NULL);
	*ret_uuid =
		json_object_is_type(uuid, json_type_string) ? json_object_get_string(uuid) : NULL;
	return true;
}
