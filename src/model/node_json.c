/* SPDX-License-Identifier: Apache-2.0 */
#include "model/node.h"

#include <errno.h>
#include <stdio.h>

#include "model/fields.h"

#define LABELS_MAX 4096 /* of one node; Kubernetes' own limit is on the whole object */

static const struct field resource_fields[] = {
	INT_FIELD(struct resources, "cpuMilli", cpu_milli, 0, INT64_MAX),
	INT_FIELD(struct resources, "memoryMiB", memory_mib, 0, INT64_MAX),
	INT_FIELD(struct resources, "pods", pods, 0, INT64_MAX),
};

static const struct field node_fields[] = {
	BOOL_FIELD(struct node_spec, "unschedulable", unschedulable),
};

static int add_labels(const struct node_spec *node, struct json_object *object)
{
	struct json_object *labels = json_object_new_object();

	if (json_add(object, "labels", labels) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < node->label_count; i++)
		if (json_add_string(labels, node->labels[i].key, node->labels[i].value) < 0)
			return -ENOMEM;
	return 0;
}

static int add_taints(const struct node_spec *node, struct json_object *object)
{
	struct json_object *array = fields_add_array(object, "taints");

	if (!array)
		return -ENOMEM;
	for (size_t i = 0; i < node->taint_count; i++) {
		const struct taint *taint = &node->taints[i];
		autojson *item = json_object_new_object();

		if (!item || json_add_string(item, "key", taint->key) < 0 ||
		    json_add_string(item, "value", taint->value) < 0 ||
		    json_add_string(item, "effect", taint_effect_to_string(taint->effect)) < 0 ||
		    json_append(array, TAKE_PTR(item)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_resources(const struct node_spec *node, struct json_object *object)
{
	struct json_object *item = json_object_new_object();

	if (json_add(object, "allocatable", item) < 0)
		return -ENOMEM;
	return fields_to_json(resource_fields, ARRAY_SIZE(resource_fields), &node->allocatable,
			      item);
}

int node_spec_to_json(const struct node_spec *node, struct json_object **ret, struct error *error)
{
	autojson *object = json_object_new_object();
	struct json_object *inventory;

	if (!object || json_add_string(object, "name", node->name) < 0 ||
	    fields_to_json(node_fields, ARRAY_SIZE(node_fields), node, object) < 0 ||
	    add_resources(node, object) < 0 || add_labels(node, object) < 0 ||
	    add_taints(node, object) < 0)
		return error_no_memory(error);
	int r = inventory_to_json(&node->inventory, &inventory, error);

	if (r < 0)
		return r;
	if (json_add(object, "inventory", inventory) < 0)
		return error_no_memory(error);
	*ret = TAKE_PTR(object);
	return 0;
}

static int read_resources(struct json_object *object, struct node_spec *node, struct error *error)
{
	return fields_from_json(resource_fields, ARRAY_SIZE(resource_fields),
				json_get(object, "allocatable"), "node.allocatable",
				&node->allocatable, error);
}

static int read_labels(struct json_object *object, struct node_spec *node, struct error *error)
{
	struct json_object *labels = json_get(object, "labels");

	if (!json_object_is_type(labels, json_type_object))
		return error_set(error, EINVAL, "node.labels must be an object");
	if (json_object_object_length(labels) > LABELS_MAX)
		return error_set(error, EINVAL, "node.labels has %d items, at most %d are allowed",
				 json_object_object_length(labels), LABELS_MAX);
	json_object_object_foreach(labels, key, value)
	{
		if (!json_object_is_type(value, json_type_string))
			return error_set(error, EINVAL, "node.labels.%.64s must be a string", key);
		if (node_spec_set_label(node, key, json_object_get_string(value)) < 0)
			return error_no_memory(error);
	}
	return 0;
}

static int read_taint(struct json_object *item, const char *where, struct taint *taint,
		      struct error *error)
{
	const char *effect = json_get_string(item, "effect", "");
	int r = fields_read_string(item, where, "key", false, &taint->key, error);

	if (r == 0)
		r = fields_read_string(item, where, "value", true, &taint->value, error);
	if (r < 0)
		return r;
	taint->effect = taint_effect_from_string(effect);
	if ((int)taint->effect < 0)
		return error_set(error, EINVAL, "%s.effect is '%.32s', which is unknown", where,
				 effect);
	return 0;
}

static int read_taints(struct json_object *object, struct node_spec *node, struct error *error)
{
	struct json_object *array;
	int r = fields_array(object, "node", "taints", LABELS_MAX, &array, error);

	for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
		struct taint *taint =
			VEC_ADD(&node->taints, &node->taint_count, &node->taint_capacity);
		char where[64];

		if (!taint)
			return error_no_memory(error);
		snprintf(where, sizeof(where), "node.taints[%zu]", i);
		r = read_taint(json_object_array_get_idx(array, i), where, taint, error);
	}
	return r;
}

int node_spec_from_json(struct json_object *object, struct node_spec *ret, struct error *error)
{
	cleanup(node_spec_release) struct node_spec node;
	int r;

	node_spec_init(&node);
	r = fields_from_json(node_fields, ARRAY_SIZE(node_fields), object, "node", &node, error);
	if (r == 0)
		r = fields_read_string(object, "node", "name", false, &node.name, error);
	if (r == 0)
		r = read_resources(object, &node, error);
	if (r == 0)
		r = read_labels(object, &node, error);
	if (r == 0)
		r = read_taints(object, &node, error);
	if (r == 0)
		r = inventory_from_json(json_get(object, "inventory"), &node.inventory, error);
	if (r < 0)
		return r;
	*ret = node;
	node_spec_init(&node);
	return 0;
}
