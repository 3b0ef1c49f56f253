/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of Kubernetes: where one begins and ends, what it asks for, what it offers. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/reader.h"

static void reset_object(struct object *object)
{
	memset(object, 0, sizeof(*object));
	object->cpu_milli = object->memory_mib = -1;
}

struct object *read_object(struct readers *readers)
{
	if (!readers->object.any) {
		reset_object(&readers->object);
		readers->object.any = true;
		keep(readers, &readers->object.place);
	}
	return &readers->object;
}

/* A key that stands once in an object: a second one begins the next. */
static struct object *begin_object(struct readers *readers, bool again)
{
	if (readers->object.any && again)
		end_object(readers);
	return read_object(readers);
}

static bool at_top(const struct readers *readers)
{
	const char *parent = outline_up(&readers->outline, 1);

	return !*parent || same(parent, "items");
}

static void leaf_kind(struct readers *readers, const char *key, char *value)
{
	struct object *object;

	(void)key;
	if (!at_top(readers) || !isupper((unsigned char)*value))
		return;
	object = begin_object(readers, readers->object.kind[0]);
	COPY(object->kind, value);
	if (same(value, "Pod"))
		object->pod = true;
	if (same(value, "DaemonSet"))
		tell(readers, FACT_SEEN_DAEMONSET, NULL);
	if (same(value, "ResourceSlice"))
		tell(readers, FACT_SEEN_RESOURCESLICE, NULL);
	if (same(value, "DeviceClass"))
		tell(readers, FACT_SEEN_DEVICECLASS, NULL);
	if (starts(value, "ResourceClaim"))
		tell(readers, FACT_SEEN_RESOURCECLAIM, NULL);
	if (same(value, "RuntimeClass"))
		tell(readers, FACT_SEEN_RUNTIMECLASS, NULL);
	if (same(value, "ResourceQuota"))
		tell(readers, FACT_SEEN_QUOTA, NULL);
}

static void leaf_api_version(struct readers *readers, const char *key, char *value)
{
	struct object *object;
	const char *slash = strchr(value, '/');

	(void)key;
	if (!at_top(readers) || !*value)
		return;
	object = begin_object(readers, readers->object.api[0] || readers->object.describe);
	COPY(object->api, value);
	if (starts(value, "resource.k8s.io/") && slash)
		tell(readers, FACT_DRA_API_VERSION, slash + 1);
}

/* "Name:" at the left edge begins the next object of describe; metadata.name names the one at hand. */
static void leaf_name(struct readers *readers, const char *key, char *value)
{
	const char *parent = outline_up(&readers->outline, 1);
	struct object *object;

	if (strcmp(key, "Name") == 0 && readers->outline.indent == 0 && readers->separator == ':') {
		object = begin_object(readers, true);
		object->describe = object->server = true;
		COPY(object->name, value);
		return;
	}
	if (same(parent, "metadata") && readers->object.any &&
	    !outline_below(&readers->outline, "template")) {
		COPY(readers->object.name, value);
		/* The first line of an object says nothing to who reads it quoted. */
		keep(readers, &readers->object.place);
	}
	if (same(parent, "env") && *value) {
		object = read_object(readers);
		COPY(object->env, value);
		object->env_item = outline_item(&readers->outline);
	}
}

static void leaf_value(struct readers *readers, const char *key, char *value)
{
	struct object *object = &readers->object;

	(void)key;
	if (object->any && object->env[0] && object->env_item == outline_item(&readers->outline)) {
		read_env(readers, object->env, value);
		object->env[0] = '\0';
	}
}

/* Only an API server gives these. */
static void leaf_server(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (*value && readers->object.any)
		readers->object.server = true;
}

static void leaf_status(struct readers *readers, const char *key, char *value)
{
	struct object *object = &readers->object;

	(void)key;
	if (!object->any)
		return;
	object->status = true;
	if (object->describe && *value && readers->outline.indent == 0)
		COPY(object->phase, value);
}

static void leaf_phase(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (readers->object.any && same(outline_up(&readers->outline, 1), "status"))
		COPY(readers->object.phase, value);
}

static void leaf_handler(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (!*value || !readers->object.any ||
	    !(same(readers->object.kind, "RuntimeClass") || at_top(readers)))
		return;
	if (same(readers->object.kind, "RuntimeClass") || readers->object.describe) {
		COPY(readers->object.handler, value);
		tell(readers, FACT_RUNTIMECLASS_HANDLER, value);
	}
}

const struct key_row keys_object[] = {
	{ "kind", leaf_kind },
	{ "apiversion", leaf_api_version },
	{ "api version", leaf_api_version },
	{ "name", leaf_name },
	{ "value", leaf_value },
	{ "uid", leaf_server },
	{ "resourceversion", leaf_server },
	{ "creationtimestamp", leaf_server },
	{ "status", leaf_status },
	{ "phase", leaf_phase },
	{ "handler", leaf_handler },
	{ NULL, NULL },
};

/* Resources. */

static struct want *want_of(struct readers *readers, const char *resource)
{
	struct object *object = read_object(readers);
	unsigned container = outline_up_serial(&readers->outline, 2);
	struct want *want;

	/* resources: limits: name, or "Limits:" below a container's name in describe. */
	for (size_t i = 0; i < object->want_count; i++) {
		want = &object->wants[i];
		if (want->container == container && strcmp(want->resource, resource) == 0)
			return want;
	}
	if (object->want_count == WANTS_MAX)
		return NULL;
	want = &object->wants[object->want_count++];
	want->container = container;
	COPY(want->resource, resource);
	keep(readers, &want->place);
	return want;
}

static void take_want(struct readers *readers, const char *resource, const char *value, bool limit)
{
	struct object *object = read_object(readers);
	struct want *want;

	object->pod = true;
	/* A limit without a request is the request. */
	if (same(resource, "cpu") && (!limit || !object->cpu[0])) {
		COPY(object->cpu, value);
		keep(readers, &object->cpu_place);
	}
	if (same(resource, "memory") && (!limit || !object->memory[0])) {
		COPY(object->memory, value);
		keep(readers, &object->memory_place);
	}
	if (!is_gpu_resource(resource))
		return;
	want = want_of(readers, resource);
	if (!want)
		return;
	if (limit)
		COPY(want->limit, value);
	else
		COPY(want->request, value);
	tell(readers, FACT_SEEN_POD, NULL);
}

static int gpu_of(struct object *object, const char *name)
{
	for (size_t i = 0; i < object->gpu_count; i++)
		if (strcmp(object->gpus[i].name, name) == 0)
			return (int)i;
	if (object->gpu_count == ARRAY_SIZE(object->gpus))
		return -1;
	COPY(object->gpus[object->gpu_count].name, name);
	object->gpus[object->gpu_count].capacity = -1;
	object->gpus[object->gpu_count].allocatable = -1;
	object->gpus[object->gpu_count].allocated = -1;
	return (int)object->gpu_count++;
}

/* "3920m", "4", "0.5" of a CPU; -1 for what is no number. */
static long milli_of(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || value < 0 || value > 1e9)
		return -1;
	return (long)(*end == 'm' ? value : value * 1000);
}

/* "16Gi", "264074052Ki", "1500M", bytes. */
static long mib_of(const char *text)
{
	static const struct {
		char unit[3];
		double bytes;
	} units[] = { { "Ki", 1024 },       { "Mi", 1048576 },
		      { "Gi", 1073741824 }, { "Ti", 1099511627776.0 },
		      { "k", 1e3 },         { "M", 1e6 },
		      { "G", 1e9 },         { "T", 1e12 } };
	char *end;
	double value = strtod(text, &end);

	if (end == text || value < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strncmp(end, units[i].unit, strlen(units[i].unit)) == 0) {
			value *= units[i].bytes;
			break;
		}
	return value / 1048576 > 1e12 ? -1 : (long)(value / 1048576);
}

static void take_gpu_offer(struct readers *readers, const char *resource, const char *value,
			   bool capacity)
{
	struct object *object = &readers->object;
	long count = count_of(value);
	int at = count < 0 ? -1 : gpu_of(object, resource);

	if (at < 0)
		return;
	if (capacity)
		object->gpus[at].capacity = count;
	else
		object->gpus[at].allocatable = count;
	tell(readers, FACT_NODE_RESOURCE, resource);
	tell(readers, count > 0 ? FACT_NODE_GPU_SOME : FACT_NODE_RESOURCE_ZERO, resource);
	if (ends(resource, "/gpu"))
		tell(readers, capacity ? FACT_NODE_GPU_CAPACITY : FACT_NODE_GPU_ALLOCATABLE, value);
	if (count == 0 && !capacity)
		keep(readers, &object->zero_place);
}

static void take_offer(struct readers *readers, const char *resource, const char *value,
		       bool capacity)
{
	struct object *object = read_object(readers);

	if (same(resource, "cpu") || same(resource, "memory") || same(resource, "pods"))
		object->resources++;
	object->capacity |= capacity;
	object->allocatable |= !capacity;
	if (same(resource, "cpu"))
		object->cpu_milli = milli_of(value);
	if (same(resource, "memory"))
		object->memory_mib = mib_of(value);
	if (is_gpu_resource(resource))
		take_gpu_offer(readers, resource, value, capacity);
}

static void take_quota(struct readers *readers, const char *resource, const char *used,
		       const char *hard)
{
	if (count_of(used) < 0 || count_of(hard) < 0)
		return;
	(void)resource;
	tell(readers, FACT_SEEN_QUOTA, NULL);
	tellf(readers, FACT_QUOTA_GPU, "%s %s", used, hard);
	if (count_of(hard) == 0)
		tell(readers, FACT_QUOTA_GPU_ZERO, NULL);
	else if (count_of(used) >= count_of(hard))
		tellf(readers, FACT_QUOTA_GPU_FULL, "%s of %s", used, hard);
}

static void quota_leaf(struct readers *readers, const char *resource, const char *value, bool hard)
{
	struct object *object = read_object(readers);
	int at;

	if (!is_gpu_resource(resource) || count_of(value) < 0)
		return;
	at = gpu_of(object, resource);
	if (at < 0)
		return;
	/* A quota has no capacity: the same fields hold hard and used until its end. */
	if (hard)
		object->gpus[at].capacity = count_of(value);
	else
		object->gpus[at].allocated = count_of(value);
}

bool read_resource(struct readers *readers, const char *key, char *value)
{
	const char *parent = outline_up(&readers->outline, 1);

	if (!*value)
		return false;
	if (same(parent, "limits") || same(parent, "requests")) {
		take_want(readers, key, value, same(parent, "limits"));
		return true;
	}
	if (same(parent, "capacity") || same(parent, "allocatable")) {
		take_offer(readers, key, value, same(parent, "capacity"));
		return true;
	}
	if (same(parent, "hard") || same(parent, "used")) {
		quota_leaf(readers, key, value, same(parent, "hard"));
		return true;
	}
	return false;
}

/* Rows of describe: "nvidia.com/gpu  2  2" of a node, "requests.nvidia.com/gpu  4  4" of a quota. */
bool read_allocated(struct readers *readers, char **words, size_t count)
{
	struct object *object = read_object(readers);
	int at;

	if (count == 3 && starts(words[0], "requests.")) {
		take_quota(readers, words[0], words[1], words[2]);
		return true;
	}
	if (count < 2 || count > 4 || count_of(words[1]) < 0)
		return false;
	at = gpu_of(object, words[0]);
	if (at >= 0)
		object->gpus[at].allocated = count_of(words[1]);
	return at >= 0;
}

/* Ends. */

static bool is_fractional(const char *number)
{
	size_t digits = strspn(number, "0123456789");

	if (!digits && number[0] != '.')
		return false;
	if (number[digits] == '.')
		return strspn(number + digits + 1, "0") < strspn(number + digits + 1, "0123456789");
	return number[digits] == 'm' && (digits < 4 || strncmp(number + digits - 3, "000", 3) != 0);
}

/* An API server refuses these: they are in manifests only. */
static void end_manifest_want(struct readers *readers, const struct want *want)
{
	char both[56];

	/* A fragment may have lost its limits. */
	if (!want->limit[0] &&
	    (readers->object.containers || readers->object.kind[0] || readers->object.api[0]))
		tell_at(readers, FACT_POD_REQUESTS_ONLY, want->resource, &want->place);
	snprintf(both, sizeof(both), "%s %s", want->request, want->limit);
	if (want->limit[0] && want->request[0] && strcmp(want->limit, want->request) != 0)
		tell_at(readers, FACT_POD_REQUESTS_DIFFER, both, &want->place);
}

static void end_want(struct readers *readers, const struct want *want)
{
	const char *number = want->limit[0] ? want->limit : want->request;
	bool part = has(want->resource, "mem") || has(want->resource, "core");

	if (strcmp(number, "0") == 0)
		return;
	tell_at(readers, FACT_POD_RESOURCE, want->resource, &want->place);
	if (ends(want->resource, "/gpu"))
		tell_at(readers, FACT_POD_GPU, number, &want->place);
	if (is_fractional(number))
		tell_at(readers, FACT_POD_GPU_FRACTIONAL, number, &want->place);
	else if (count_of(number) > 1 && !part)
		tell_at(readers, FACT_POD_GPU_MANY, number, &want->place);
	if (part || has(want->resource, "vgpu"))
		tell_at(readers, FACT_POD_HAMI, want->resource, &want->place);
	if (!readers->object.server)
		end_manifest_want(readers, want);
}

static bool gpu_pod(const struct object *object)
{
	for (size_t i = 0; i < object->want_count; i++)
		if (strcmp(object->wants[i].limit, "0") != 0)
			return true;
	return object->claim;
}

/* A whole Pod of somebody, not of the GPU stack: what it lacks means something. */
static void end_whole_pod(struct readers *readers)
{
	const struct object *object = &readers->object;

	if (!gpu_pod(object))
		tell_at(readers, FACT_POD_NO_GPU, object->name, &object->place);
	else if (!object->runtime_class[0])
		tell_at(readers, FACT_POD_NO_RUNTIME_CLASS, object->name, &object->place);
}

/* The most CPU and memory that one container of a GPU Pod asks for. */
static void keep_needs(struct readers *readers)
{
	const struct object *object = &readers->object;
	long cpu = milli_of(object->cpu), memory = mib_of(object->memory);

	if (cpu > readers->pod_cpu) {
		readers->pod_cpu = cpu;
		readers->pod_cpu_place = object->cpu_place;
	}
	if (memory > readers->pod_memory) {
		readers->pod_memory = memory;
		readers->pod_memory_place = object->memory_place;
	}
}

static void end_gpu_pod(struct readers *readers)
{
	const struct object *object = &readers->object;

	keep_needs(readers);
	readers->whole_gpu_pod |= object->describe || (object->kind[0] && object->containers);
	if (same(object->phase, "Running") || same(object->phase, "Succeeded"))
		tell_at(readers, FACT_POD_RUNS_WITH_GPU, object->name, &object->place);
}

static void end_pod(struct readers *readers)
{
	const struct object *object = &readers->object;
	bool component = component_of(object->name) != COMPONENT_NONE || object->component_image;

	for (size_t i = 0; i < object->want_count; i++)
		end_want(readers, &object->wants[i]);
	if (gpu_pod(object))
		end_gpu_pod(readers);
	if (object->phase[0] && !component)
		tell_at(readers, FACT_POD_STATUS, object->phase, &object->place);
	if (object->node_name[0] && !object->server && !object->status)
		tell_at(readers, FACT_POD_NODE_NAME, object->node_name, &object->node_name_place);
	if (object->containers && !component && (same(object->kind, "Pod") || object->describe))
		end_whole_pod(readers);
}

static void keep_node(struct readers *readers)
{
	const struct object *object = &readers->object;
	struct node *node;

	if (readers->node_count == NODES_MAX)
		return;
	node = VEC_ADD(&readers->nodes, &readers->node_count, &readers->node_capacity);
	if (!node) {
		readers->failed = -ENOMEM;
		return;
	}
	COPY(node->name, object->name);
	for (size_t i = 0; i < object->gpu_count; i++) {
		COPY(node->gpus[i].name, object->gpus[i].name);
		node->gpus[i].capacity = object->gpus[i].capacity;
		node->gpus[i].allocatable = object->gpus[i].allocatable;
		node->gpus[i].allocated = object->gpus[i].allocated;
	}
	node->gpu_count = object->gpu_count;
	memcpy(node->taints, object->taints, sizeof(node->taints));
	node->taint_count = object->taint_count;
	node->cpu_milli = object->cpu_milli;
	node->memory_mib = object->memory_mib;
	COPY(node->driver, object->driver);
	COPY(node->product, object->product);
	node->labels = object->labels;
	node->place = object->place;
}

/* 0 of one resource beside some of another is how sharing and MIG look. */
static void end_zero(struct readers *readers)
{
	const struct object *object = &readers->object;
	const char *zero = NULL;

	for (size_t i = 0; i < object->gpu_count; i++) {
		if (object->gpus[i].allocatable > 0)
			return;
		if (object->gpus[i].allocatable == 0)
			zero = object->gpus[i].name;
	}
	if (zero)
		tell_at(readers, FACT_NODE_GPU_ZERO, zero, &object->zero_place);
}

static void end_node(struct readers *readers)
{
	struct object *object = &readers->object;
	size_t offered = 0;

	end_zero(readers);
	read_card_and_driver(readers, object->product, object->driver);
	for (size_t i = 0; i < object->gpu_count; i++)
		offered += object->gpus[i].capacity >= 0 || object->gpus[i].allocatable >= 0;
	if (object->capacity || object->allocatable) {
		tell_at(readers, FACT_SEEN_NODE, NULL, &object->place);
		if (!offered && object->resources >= 2)
			tell_at(readers, FACT_NODE_GPU_NONE, object->name, &object->place);
	}
	if (object->labels) {
		tell_at(readers, FACT_SEEN_NODE_LABELS, NULL, &object->place);
		if (!object->gpu_labels)
			tell_at(readers, FACT_NODE_NO_GPU_LABELS, object->name, &object->place);
		if (!object->nfd_labels)
			tell_at(readers, FACT_NFD_ABSENT, object->name, &object->place);
	}
	keep_node(readers);
}

static void end_quota(struct readers *readers)
{
	const struct object *object = &readers->object;

	for (size_t i = 0; i < object->gpu_count; i++) {
		char used[24], hard[24];

		snprintf(used, sizeof(used), "%ld", object->gpus[i].allocated);
		snprintf(hard, sizeof(hard), "%ld", object->gpus[i].capacity);
		take_quota(readers, object->gpus[i].name, used, hard);
	}
}

static void end_class(struct readers *readers)
{
	const struct object *object = &readers->object;

	if (same(object->kind, "RuntimeClass"))
		tell_at(readers, FACT_RUNTIMECLASS, object->name, &object->place);
	if (same(object->kind, "DeviceClass"))
		tell_at(readers, FACT_DRA_CLASS, object->name, &object->place);
}

void end_object(struct readers *readers)
{
	const struct object *object = &readers->object;

	if (!object->any)
		return;
	if (same(object->kind, "ResourceQuota"))
		end_quota(readers);
	else if (object->capacity || object->allocatable || same(object->kind, "Node") ||
		 (object->labels && !object->pod))
		end_node(readers);
	else if (object->name[0] && object->kind[0])
		end_class(readers);
	if (object->pod || object->want_count)
		end_pod(readers);
	reset_object(&readers->object);
}
