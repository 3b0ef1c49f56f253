/* SPDX-License-Identifier: Apache-2.0 */
#include "model/node_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/kubernetes.h"
#include "model/node_cards.h"
#include "model/quantity.h"

#define CPU_MAX (INT64_MAX / 4096)

struct place { /* for messages */
	const char *source;
	unsigned long line;
	const char *name;
};

static int fail(const struct place *place, struct error *error, const char *what)
{
	return error_set(error, EINVAL, "%s:%lu: node %.64s: %s", place->source, place->line,
			 place->name, what);
}

static struct json_object *map_at(struct json_object *object, const char *path)
{
	struct json_object *map = json_get(object, path);

	return json_object_is_type(map, json_type_object) ? map : NULL;
}

/* 1: it is there. */
static int read_quantity(struct json_object *map, const char *name, struct quantity *ret)
{
	struct json_object *value = NULL;
	char text[QUANTITY_TEXT_MAX];

	if (!map || !json_object_object_get_ex(map, name, &value))
		return 0;
	if (kubernetes_value_text(value, text, sizeof(text)) < 0 ||
	    quantity_parse(text, ret, NULL) < 0 || ret->negative)
		return -EINVAL;
	return 1;
}

int64_t node_amount(struct json_object *map, const char *name)
{
	struct quantity quantity;

	return read_quantity(map, name, &quantity) == 1 ? quantity.value : 0;
}

/* What it offers; a source that does not say has no limit. */
static int read_resources(const struct place *place, struct json_object *map, struct resources *ret,
			  struct error *error)
{
	struct quantity cpu, memory, pods, cards;
	int has_cpu = read_quantity(map, "cpu", &cpu);
	int has_memory = read_quantity(map, "memory", &memory);
	int has_pods = read_quantity(map, "pods", &pods);

	if (has_cpu < 0 || has_memory < 0 || has_pods < 0)
		return fail(place, error,
			    "cpu, memory or pods below status.allocatable is no quantity of 0 or "
			    "more; write one");
	if (read_quantity(map, "nvidia.com/gpu", &cards) < 0)
		return fail(place, error,
			    "nvidia.com/gpu below status.allocatable is no quantity of 0 or "
			    "more; write one");
	if (has_cpu && cpu.value > CPU_MAX / 1000)
		return fail(place, error, "cpu is more than any machine has; write less");
	/* Down: what is offered must be there. */
	if (has_cpu)
		ret->cpu_milli = cpu.value * 1000 + cpu.milli;
	if (has_memory)
		ret->memory_mib = memory.value >> 20;
	if (has_pods)
		ret->pods = pods.value;
	return 0;
}

/* No name or value of Kubernetes has one, and no log of decisions takes one. */
static bool has_control(const char *text)
{
	for (; text && *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	return false;
}

static int read_labels(const struct place *place, struct json_object *map, struct node_spec *node,
		       struct error *error)
{
	if (!map)
		return 0;
	json_object_object_foreach(map, key, value)
	{
		if (!json_object_is_type(value, json_type_string))
			return fail(place, error, "a label is no text; quote it");
		if (has_control(key) || has_control(json_object_get_string(value)))
			return fail(place, error, "a label has a control character; remove it");
		if (node_spec_set_label(node, key, json_object_get_string(value)) < 0)
			return error_no_memory(error);
	}
	return 0;
}

static int read_taint(const struct place *place, struct json_object *object, struct taint *taint,
		      struct error *error)
{
	const char *key = json_get_string(object, "key", "");
	const char *value = json_get_string(object, "value", NULL);

	taint->effect = taint_effect_from_string(json_get_string(object, "effect", ""));
	if (!*key || (int)taint->effect < 0)
		return fail(place, error,
			    "a taint has no key or an unknown effect; write NoSchedule, "
			    "PreferNoSchedule or NoExecute");
	if (has_control(key) || has_control(value))
		return fail(place, error, "a taint has a control character; remove it");
	taint->key = strdup(key);
	taint->value = value ? strdup(value) : NULL;
	return taint->key && (!value || taint->value) ? 0 : error_no_memory(error);
}

static int read_taints(const struct place *place, struct json_object *list, struct node_spec *node,
		       struct error *error)
{
	int r = 0;

	if (!json_object_is_type(list, json_type_array))
		return 0;
	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++) {
		struct taint *taint =
			VEC_ADD(&node->taints, &node->taint_count, &node->taint_capacity);

		if (!taint)
			return error_no_memory(error);
		r = read_taint(place, json_object_array_get_idx(list, i), taint, error);
	}
	return r;
}

static int read_spec(const struct place *place, struct json_object *object, struct node_spec *node,
		     struct error *error)
{
	struct json_object *cordoned = json_get(object, "spec.unschedulable");

	node->name = strdup(place->name);
	if (!node->name)
		return error_no_memory(error);
	if (cordoned && !json_object_is_type(cordoned, json_type_boolean))
		return fail(place, error, "spec.unschedulable is neither true nor false");
	node->unschedulable = json_object_get_boolean(cordoned);
	int r = read_labels(place, map_at(object, "metadata.labels"), node, error);
	if (r == 0)
		r = read_taints(place, json_get(object, "spec.taints"), node, error);
	if (r == 0)
		r = read_resources(place, map_at(object, "status.allocatable"), &node->allocatable,
				   error);
	return r;
}

int node_read(struct json_object *node, const char *source, unsigned long line,
	      struct node_spec *ret, struct node_reading *ret_reading, struct error *error)
{
	cleanup(node_spec_release) struct node_spec spec;
	struct node_reading reading = { .origin = CARD_ORIGIN_NONE };
	const struct place place = { source, line, json_get_string(node, "metadata.name", "") };
	const struct node_source from = {
		.labels = map_at(node, "metadata.labels"),
		.annotations = map_at(node, "metadata.annotations"),
		.allocatable = map_at(node, "status.allocatable"),
		.capacity = map_at(node, "status.capacity"),
		.node = &spec,
		.reading = &reading,
	};

	node_spec_init(&spec);
	if (!*place.name || strlen(place.name) > CARD_UUID_MAX - 8 || has_control(place.name))
		return error_set(error, EINVAL,
				 "%s:%lu: node: metadata.name has to be a name of 1 to %d bytes",
				 source, line, CARD_UUID_MAX - 8);
	int r = read_spec(&place, node, &spec, error);
	if (r < 0)
		return r;
	if (node_read_cards(&from) < 0)
		return error_no_memory(error);
	*ret = spec;
	*ret_reading = reading;
	node_spec_init(&spec);
	return 0;
}
