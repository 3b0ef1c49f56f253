/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes and Pods as `kubectl get nodes,pods -A -o json` prints them, or -o yaml: lists, single
 * objects, several one after another. Items are read one at a time, in any order.
 *
 * How to add a kind: a row in KINDS and a function that takes one object.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "replay/listing.h"

struct objects {
	struct trace *trace;
	enum trace_part parts;
	const char *name; /* of the source */
	struct error *error;
};

/* An error of the trace gets the place in the file. */
static int at_line(const struct objects *objects, unsigned long line, int r)
{
	return r < 0 && r != -ENOMEM ? error_wrap(objects->error, "%s:%lu", objects->name, line)
				     : r;
}

/* ---- nodes ---- */

static void note_node(const struct objects *objects, const struct node_spec *node,
		      const struct node_reading *reading)
{
	struct trace *trace = objects->trace;

	if (reading->origin == CARD_ORIGIN_COUNT)
		listing_note(trace, NOTE_COUNT_ONLY, "%s", node->name);
	if (reading->problem[0])
		listing_note(trace, NOTE_PROBLEM, "node %s: %s", node->name, reading->problem);
	if (reading->beyond)
		listing_note(trace, NOTE_BEYOND, "%s", node->name);
	if (reading->sick)
		listing_note(trace, NOTE_SICK, "%s", node->name);
	if (reading->layout_worked)
		listing_note(trace, NOTE_LAYOUT, "%s", node->name);
}

static int take_node(struct objects *objects, struct json_object *object, unsigned long line)
{
	cleanup(node_spec_release) struct node_spec node;
	struct node_reading reading = { .origin = CARD_ORIGIN_NONE };

	node_spec_init(&node);
	int r = node_read(object, objects->name, line, &node, &reading, objects->error);
	if (r < 0)
		return r;
	note_node(objects, &node, &reading);
	return at_line(objects, line, trace_add_node(objects->trace, &node, objects->error));
}

static int take_device(struct objects *objects, struct json_object *object, unsigned long line)
{
	cleanup(inventory_release) struct inventory inventory;
	const char *name = json_get_string(object, "metadata.name", "");

	inventory_init(&inventory);
	int r = koordinator_device_read(object, objects->name, line, &inventory, objects->error);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return at_line(objects, line,
		       listing_set_cards(objects->trace, name, &inventory, objects->error));
}

static int take_poolnode(struct objects *objects, struct json_object *object, unsigned long line)
{
	cleanup(poolnode_release) struct poolnode node = { .name = NULL };
	int r = poolnode_from_json(object, &node, objects->error);

	if (r == 0)
		r = listing_set_cards(objects->trace, node.name, &node.inventory, objects->error);
	for (size_t i = 0; r == 0 && i < node.grant_count; i++)
		r = listing_add_held(objects->trace, node.name, &node.grants[i], objects->error);
	return at_line(objects, line, r);
}

/* ---- Pods ---- */

/* "FILE:LINE: " is not said again where a sentence stands for many Pods. */
static const char *without_place(const struct objects *objects, const char *sentence)
{
	size_t length = strlen(objects->name);

	if (strncmp(sentence, objects->name, length) != 0 || sentence[length] != ':')
		return sentence;
	const char *text = strstr(sentence + length, ": ");
	return text ? text + 2 : sentence;
}

static int take_reservation(struct objects *objects, struct json_object *object)
{
	const char *group = NULL, *uuid = NULL;

	if (!grants_is_reservation(object, &group, &uuid))
		return 0;
	listing_note(objects->trace, NOTE_RESERVATION, "%s/%s",
		     json_get_string(object, "metadata.namespace", ""),
		     json_get_string(object, "metadata.name", ""));
	if (!group || !uuid || strlen(uuid) >= CARD_UUID_MAX)
		return 1;
	int r = listing_add_group(objects->trace, group, uuid, objects->error);
	return r < 0 ? r : 1;
}

static int add_pod(struct objects *objects, struct json_object *object, unsigned long line,
		   struct demand *demand)
{
	autofree char *name = NULL;

	if (demand->node && grants_read(object, demand) < 0)
		return error_no_memory(objects->error);
	if (asprintf(&name, "%s/%s", demand->namespace, demand->name) < 0)
		return error_no_memory(objects->error);
	return at_line(objects, line,
		       trace_add_demand(objects->trace, name, demand, objects->error));
}

static int take_pod(struct objects *objects, struct json_object *object, unsigned long line)
{
	cleanup(string_list_release) struct string_list notes = { .count = 0 };
	cleanup(demand_release) struct demand demand;
	struct error refusal = ERROR_INIT;

	demand_init(&demand);
	int r = take_reservation(objects, object);
	if (r != 0)
		return r < 0 ? r : 0;
	r = demand_read(object, objects->name, line, &notes, &demand, &refusal);
	if (r == -ESTALE || r == -EPERM) {
		if (r == -ESTALE)
			listing_note(objects->trace, NOTE_ENDED, "%s/%s",
				     json_get_string(object, "metadata.namespace", "default"),
				     json_get_string(object, "metadata.name", ""));
		else
			listing_note(objects->trace, NOTE_REFUSED, "%s", refusal.message);
		return 0;
	}
	if (r < 0)
		return error_set(objects->error, -r, "%s", refusal.message);
	for (size_t i = 0; i < notes.count; i++)
		listing_note(objects->trace, NOTE_REMARK, "%s",
			     without_place(objects, notes.items[i]));
	return add_pod(objects, object, line, &demand);
}

/* ---- kinds ---- */

static const struct kind {
	const char *name;
	const char *group; /* how apiVersion begins */
	enum trace_part part;
	int (*take)(struct objects *objects, struct json_object *object, unsigned long line);
} kinds[] = {
	{ "Node", "v1", TRACE_NODES, take_node },
	{ "Pod", "v1", TRACE_PODS, take_pod },
	{ "Device", "scheduling.koordinator.sh/", TRACE_NODES, take_device },
	{ POOLNODE_KIND, "gpupool.io/", TRACE_NODES, take_poolnode },
};

/* Items of a NodeList or PodList do not say what they are. */
static const struct kind *kind_by_shape(struct json_object *object)
{
	if (json_object_is_type(json_get(object, "spec.containers"), json_type_array))
		return &kinds[1];
	return json_get(object, "status.nodeInfo") || json_get(object, "status.allocatable")
		       ? &kinds[0]
		       : NULL;
}

static const struct kind *kind_of(struct json_object *object)
{
	const char *name = json_get_string(object, "kind", NULL);
	const char *version = json_get_string(object, "apiVersion", "v1");

	if (!name)
		return kind_by_shape(object);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0 &&
		    strncmp(kinds[i].group, version, strlen(kinds[i].group)) == 0)
			return &kinds[i];
	return NULL;
}

static int take_object(struct objects *objects, struct json_object *object, unsigned long line)
{
	const struct kind *kind = kind_of(object);

	if (!json_object_is_type(object, json_type_object))
		return error_set(objects->error, EINVAL,
				 "%s:%lu: no object of Kubernetes; write what kubectl get -o json "
				 "prints",
				 objects->name, line);
	if (kind)
		return kind->part & objects->parts ? kind->take(objects, object, line) : 0;
	listing_note_once(objects->trace, NOTE_OTHER_KIND,
			  json_get_string(object, "kind", "without kind"));
	return 0;
}

int trace_read_objects(struct trace *trace, enum trace_part parts,
		       const struct trace_source *source, struct error *error)
{
	struct objects objects = { trace, parts, source->name, error };
	autojson_stream *stream = NULL;
	int r = listing_make(trace, error);

	if (r == 0)
		r = json_stream_new(source->fd, source->name, source->start, source->start_length,
				    NULL, &stream, error);
	while (r >= 0) {
		autojson *object = NULL;
		unsigned long line = 0;

		r = json_stream_next(stream, &object, &line, error);
		if (r <= 0)
			break;
		r = take_object(&objects, object, line);
	}
	return r;
}

int trace_read_yaml(struct trace *trace, enum trace_part parts, const struct trace_source *source,
		    struct error *error)
{
	struct objects objects = { trace, parts, source->name, error };
	autoyaml_items *items = NULL;
	int r = listing_make(trace, error);

	if (r == 0)
		r = yaml_items_new(source->fd, source->name, source->start, source->start_length,
				   &items, error);
	while (r >= 0) {
		autojson *object = NULL;
		unsigned long line = 0;

		r = yaml_items_next(items, &object, &line, error);
		if (r <= 0)
			break;
		r = take_object(&objects, object, line);
	}
	return r;
}
