/* SPDX-License-Identifier: Apache-2.0 */
/* The cards of a node: which source knows most of them. */
#include "model/node_cards.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/card_name.h"
#include "model/node_read.h"

#define FIELDS_MAX     16
#define CARD_MIB_LIMIT (65535ull * MIB_PER_UNIT)
#define NUMA_LIMIT     1024

void node_problem(const struct node_source *from, const char *format, ...)
{
	char *problem = from->reading->problem;
	va_list arguments;

	if (problem[0])
		return;
	va_start(arguments, format);
	vsnprintf(problem, sizeof(from->reading->problem), format, arguments);
	va_end(arguments);
}

int node_add_unnamed(struct node_spec *node, const char *model, uint64_t mib, struct card **ret)
{
	struct inventory *inventory = &node->inventory;
	struct card *card =
		VEC_ADD(&inventory->cards, &inventory->card_count, &inventory->card_capacity);

	if (!card)
		return -ENOMEM;
	card->index = card->minor = (unsigned)inventory->card_count - 1;
	card->numa = -1;
	card->mode = CARD_MODE_AUTO;
	card->memory_bytes = mib << 20;
	card_make_uuid(card, node->name);
	snprintf(card->model, sizeof(card->model), "%s", model);
	if (ret)
		*ret = card;
	return 0;
}

bool node_card_unnamed(const struct node_spec *node, const struct card *card)
{
	struct card made = { .index = card->index };

	card_make_uuid(&made, node->name);
	return strcmp(card->uuid, made.uuid) == 0;
}

/* ---- HAMi and Volcano: one text for all cards ---- */

struct card_row { /* one card as it is registered */
	const char *uuid, *type;
	size_t type_length;
	uint64_t mib, index;
	int64_t numa;
	bool healthy;
};

/* 1; 0 for what no card can be; -ENOMEM. */
static int add_registered(const struct node_source *from, const struct card_row *row)
{
	struct card *card = NULL;

	if (!card_uuid_is_plain(row->uuid) || !row->mib || row->mib > CARD_MIB_LIMIT ||
	    !row->type_length || row->numa < -1 || row->numa >= NUMA_LIMIT ||
	    row->index >= CARD_INDEX_NONE || inventory_find(&from->node->inventory, row->uuid))
		return 0;
	if (from->node->inventory.card_count == CARDS_MAX) {
		from->reading->beyond++;
		return 1;
	}
	if (node_add_unnamed(from->node, "", row->mib, &card) < 0)
		return -ENOMEM;
	card->index = card->minor = (unsigned)row->index;
	card->numa = (int)row->numa;
	snprintf(card->uuid, sizeof(card->uuid), "%s", row->uuid);
	card_name_from_hami(row->type, row->type_length, card->model);
	if (row->healthy)
		return 1;
	card->condition.health = CARD_SUSPECT;
	snprintf(card->condition.cause, sizeof(card->condition.cause),
		 "its device plugin says that it is not healthy");
	return 1;
}

/* Where the fields of one card stand between commas; 0: not there. */
struct register_form {
	const char *annotation;
	enum card_origin origin;
	size_t least; /* fields */
	size_t mib, type, numa, healthy, index;
};

static const struct register_form hami_form = {
	"hami.io/node-nvidia-register", CARD_ORIGIN_HAMI, 7, 2, 4, 5, 6, 7
};
static const struct register_form volcano_form = {
	"volcano.sh/node-vgpu-register", CARD_ORIGIN_VOLCANO, 5, 2, 3, 0, 4, 0
};

static size_t split(char *text, char **fields)
{
	size_t count = 0;

	for (char *rest = text, *field; (field = strsep(&rest, ","));)
		if (count < FIELDS_MAX)
			fields[count++] = field;
	return count;
}

/* "UUID,split,MiB,cores,type,numa,healthy[,index,mode]" */
static int read_segment(const struct node_source *from, const struct register_form *form,
			char *segment)
{
	char *fields[FIELDS_MAX];
	size_t count = split(segment, fields);
	struct card_row row = { .numa = -1, .index = from->node->inventory.card_count };
	uint64_t numa = 0;

	if (count < form->least || parse_uint(fields[form->mib], 0, UINT64_MAX, &row.mib) < 0)
		return 0;
	if (form->numa && parse_uint(fields[form->numa], 0, NUMA_LIMIT, &numa) == 0)
		row.numa = (int64_t)numa;
	if (form->index && form->index < count &&
	    parse_uint(fields[form->index], 0, UINT32_MAX, &row.index) < 0)
		return 0;
	row.uuid = fields[0];
	row.type = fields[form->type];
	row.type_length = strlen(row.type);
	row.healthy = strcmp(fields[form->healthy], "true") == 0;
	return add_registered(from, &row);
}

static int read_segments(const struct node_source *from, const struct register_form *form,
			 const char *text)
{
	autofree char *copy = strdup(text);
	int r = 1;

	if (!copy)
		return -ENOMEM;
	for (char *rest = copy, *segment; r == 1 && (segment = strsep(&rest, ":"));)
		if (*segment)
			r = read_segment(from, form, segment);
	return r;
}

/* [{"id":...,"index":...,"devmem":...,"type":...,"numa":...,"health":...}]; zeros are left out. */
static int read_array(const struct node_source *from, struct json_object *array)
{
	int r = 1;

	if (!json_object_is_type(array, json_type_array))
		return 0;
	for (size_t i = 0; r == 1 && i < json_object_array_length(array); i++) {
		struct json_object *item = json_object_array_get_idx(array, i);
		struct json_object *numa = json_get(item, "numa");
		struct card_row row = {
			.uuid = json_get_string(item, "id", ""),
			.type = json_get_string(item, "type", ""),
			.mib = json_get_uint(item, "devmem", 0),
			.index = json_get_uint(item, "index", 0),
			.numa = json_object_is_type(numa, json_type_int)
					? json_object_get_int64(numa)
					: 0,
			.healthy = json_object_get_boolean(json_get(item, "health")),
		};

		row.type_length = strlen(row.type);
		r = add_registered(from, &row);
	}
	return r;
}

static int read_registered(const struct node_source *from, const struct register_form *form)
{
	const char *text = NULL;
	struct json_object *value = NULL;
	autojson *array = NULL;
	struct error error = ERROR_INIT;

	if (from->annotations &&
	    json_object_object_get_ex(from->annotations, form->annotation, &value))
		text = json_object_get_string(value);
	if (!text)
		return 0;
	int r = *text == '['
			? json_parse(text, strlen(text), form->annotation, NULL, &array, &error)
			: read_segments(from, form, text);
	if (r == 0 && array)
		r = read_array(from, array);
	if (r == -ENOMEM)
		return r;
	if (r == 1)
		return from->node->inventory.card_count > 0;
	node_problem(from, "annotation %s is not what its writer prints", form->annotation);
	inventory_release(&from->node->inventory);
	inventory_init(&from->node->inventory);
	return 0;
}

static int read_hami(const struct node_source *from)
{
	return read_registered(from, &hami_form);
}

static int read_volcano(const struct node_source *from)
{
	return read_registered(from, &volcano_form);
}

/* ---- resources ---- */

static const char *label_or(const struct node_source *from, const char *first, const char *second)
{
	const char *label = node_spec_label(from->node, first);

	if (!label)
		label = node_spec_label(from->node, second);
	return label && *label ? label : "unknown";
}

/* COUNT alike, of MIB each. */
static int add_alike(const struct node_source *from, int64_t count, const char *label, uint64_t mib)
{
	char model[CARD_MODEL_MAX];

	if (count <= 0 || mib > CARD_MIB_LIMIT)
		return 0;
	card_name_from_label(label, strlen(label), model);
	if (count > CARDS_MAX) {
		from->reading->beyond =
			(unsigned)(count > UINT32_MAX ? UINT32_MAX : count - CARDS_MAX);
		count = CARDS_MAX;
	}
	for (int64_t i = 0; i < count; i++)
		if (node_add_unnamed(from->node, model, mib, NULL) < 0)
			return -ENOMEM;
	return 1;
}

/* koordinator.sh/gpu is in percent of a card, gpu-memory in bytes of all. */
static int read_koordinator(const struct node_source *from)
{
	int64_t count = node_amount(from->allocatable, "koordinator.sh/gpu") / 100;
	int64_t bytes = node_amount(from->allocatable, "koordinator.sh/gpu-memory");

	if (!count)
		count = node_amount(from->allocatable, "koordinator.sh/gpu-core") / 100;
	if (!count || !bytes)
		return 0;
	return add_alike(from, count,
			 label_or(from, "nvidia.com/gpu.product", "node.koordinator.sh/gpu-model"),
			 (uint64_t)(bytes / count) >> 20);
}

#define GPUSHARE_GIB_MAX 1000 /* a card of more "GiB" is counted in MiB */

static int read_gpushare(const struct node_source *from)
{
	int64_t count = node_amount(from->allocatable, "aliyun.com/gpu-count");
	int64_t memory = node_amount(from->allocatable, "aliyun.com/gpu-mem");

	if (!count || !memory)
		return 0;
	uint64_t each = (uint64_t)(memory / count);
	if (each > UINT32_MAX)
		return 0;
	return add_alike(from, count,
			 label_or(from, "nvidia.com/gpu.product", "aliyun.accelerator/nvidia_name"),
			 each > GPUSHARE_GIB_MAX ? each : each * MIB_PER_UNIT);
}

static int read_count(const struct node_source *from)
{
	int64_t count =
		node_amount(from->capacity ? from->capacity : from->allocatable, "nvidia.com/gpu");

	return add_alike(from, count, "unknown", 0);
}

/* ---- all of them ---- */

static const struct origin_row {
	enum card_origin origin;
	int (*read)(const struct node_source *from); /* 1: cards; 0: none; -ENOMEM */
} rows[] = {
	/* the most trusted first */
	{ CARD_ORIGIN_HAMI, read_hami },
	{ CARD_ORIGIN_VOLCANO, read_volcano },
	{ CARD_ORIGIN_KOORDINATOR, read_koordinator },
	{ CARD_ORIGIN_GPUSHARE, read_gpushare },
	{ CARD_ORIGIN_LABELS, node_read_labels },
	{ CARD_ORIGIN_COUNT, read_count },
};

/* What is there and not allocatable is sick; which ones those are nobody says. */
static void mark_sick(const struct node_source *from)
{
	struct inventory *inventory = &from->node->inventory;
	int64_t all = node_amount(from->capacity, "nvidia.com/gpu");
	int64_t well = node_amount(from->allocatable, "nvidia.com/gpu");

	if (all != (int64_t)inventory->card_count || well >= all ||
	    inventory->cards[0].mode == CARD_MODE_MIG)
		return;
	from->reading->sick = (unsigned)(all - well);
	for (size_t i = (size_t)well; i < inventory->card_count; i++) {
		struct card_condition *condition = &inventory->cards[i].condition;

		condition->health = CARD_SUSPECT;
		snprintf(condition->cause, sizeof(condition->cause),
			 "the node has %jd and offers %jd", (intmax_t)all, (intmax_t)well);
	}
}

/* hami.io/device-cordon: UUIDs that get no new Pods. */
static void mark_cordoned(const struct node_source *from)
{
	struct json_object *value = NULL;

	if (!from->annotations ||
	    !json_object_object_get_ex(from->annotations, "hami.io/device-cordon", &value) ||
	    !json_object_is_type(value, json_type_string))
		return;
	for (size_t i = 0; i < from->node->inventory.card_count; i++) {
		struct card *card = &from->node->inventory.cards[i];

		if (!strstr(json_object_get_string(value), card->uuid))
			continue;
		card->condition.health = CARD_SUSPECT;
		snprintf(card->condition.cause, sizeof(card->condition.cause),
			 "hami.io/device-cordon names it");
	}
}

int node_read_cards(const struct node_source *from)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && r == 0; i++) {
		r = rows[i].read(from);
		if (r == 1)
			from->reading->origin = rows[i].origin;
	}
	if (r <= 0)
		return r;
	if (from->reading->origin == CARD_ORIGIN_LABELS ||
	    from->reading->origin == CARD_ORIGIN_COUNT)
		mark_sick(from);
	mark_cordoned(from);
	return 0;
}
