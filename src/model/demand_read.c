/* SPDX-License-Identifier: Apache-2.0 */
#include "model/demand_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/dialect.h"
#include "model/gang_read.h"
#include "model/kubernetes.h"
#include "model/quantity.h"

#define CONTAINERS_MAX 256
#define NEED_MAX       (INT64_MAX / 4096) /* of one container: sums stay in 64 bits */

struct reader {
	const char *source;
	unsigned long line;
	struct json_object *pod, *annotations;
	struct string_list *notes;
	struct demand *demand;
	struct error *error;
};

static int fail(const struct reader *reader, const char *what)
{
	return error_set(reader->error, EINVAL, "%s:%lu: %s: %s", reader->source, reader->line,
			 reader->demand->object ? reader->demand->object : "Pod", what);
}

static size_t list_length(struct json_object *list)
{
	return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

/* No name, label or value of Kubernetes has a control character, and no log of decisions takes one. */
static int check_text(const struct reader *reader, const char *text)
{
	for (const char *at = text; at && *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return fail(reader, "a name, label or value has a control character; "
					    "remove it");
	return 0;
}

static int copy(const struct reader *reader, const char *text, char **ret)
{
	int r = check_text(reader, text);

	if (r < 0)
		return r;
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? error_no_memory(reader->error) : 0;
}

/* ---- CPU and memory ---- */

static int read_need(const struct reader *reader, struct json_object *container, const char *name,
		     bool is_cpu, int64_t *ret)
{
	static const char *const maps[] = { "resources.requests", "resources.limits" };
	struct json_object *value = NULL;
	struct quantity quantity;
	char text[QUANTITY_TEXT_MAX];

	*ret = 0;
	for (size_t i = 0; i < ARRAY_SIZE(maps) && !value; i++) {
		struct json_object *map = json_get(container, maps[i]);

		if (json_object_is_type(map, json_type_object))
			json_object_object_get_ex(map, name, &value);
	}
	if (!value)
		return 0;
	if (kubernetes_value_text(value, text, sizeof(text)) < 0 ||
	    quantity_parse(text, &quantity, NULL) < 0 || quantity.negative)
		return fail(reader, "cpu or memory is no quantity of 0 or more; write one");
	if (is_cpu && quantity.value > NEED_MAX / 1000)
		return fail(reader, "cpu is more than any machine has; write less");
	*ret = is_cpu ? quantity.value * 1000 + quantity.milli + quantity.finer
		      : (quantity.value >> 20) + ((quantity.value & 0xfffff) != 0);
	return 0;
}

static int read_needs(const struct reader *reader, struct json_object *container,
		      struct resources *ret)
{
	int r = read_need(reader, container, "cpu", true, &ret->cpu_milli);

	return r < 0 ? r : read_need(reader, container, "memory", false, &ret->memory_mib);
}

static void add(struct resources *sum, const struct resources *more)
{
	sum->cpu_milli += more->cpu_milli;
	sum->memory_mib += more->memory_mib;
}

static void raise_to(struct resources *most, const struct resources *other)
{
	if (other->cpu_milli > most->cpu_milli)
		most->cpu_milli = other->cpu_milli;
	if (other->memory_mib > most->memory_mib)
		most->memory_mib = other->memory_mib;
}

/* ---- cards ---- */

static int keep_request(const struct reader *reader, struct request *request, const char *name)
{
	struct demand *demand = reader->demand;

	if (demand->request_count == DEMAND_REQUESTS_MAX)
		return fail(reader, "more than 8 containers ask for cards; use fewer");
	if (!demand->containers)
		demand->containers = calloc(DEMAND_REQUESTS_MAX, sizeof(*demand->containers));
	char *container = demand->containers ? strdup(name) : NULL;
	struct request *room = container ? VEC_ADD(&demand->requests, &demand->request_count,
						   &demand->request_capacity)
					 : NULL;
	if (!room) {
		free(container);
		return error_no_memory(reader->error);
	}
	demand->containers[demand->request_count - 1] = container;
	*room = *request;
	*request = (struct request){ .kind = REQUEST_NONE };
	return 0;
}

static struct json_object *map_at(struct json_object *object, const char *path)
{
	struct json_object *map = json_get(object, path);

	return json_object_is_type(map, json_type_object) ? map : NULL;
}

static int read_cards(const struct reader *reader, struct json_object *container, bool annotated)
{
	cleanup(request_release) struct request request = { .kind = REQUEST_NONE };
	const char *name = json_get_string(container, "name", "");
	struct reason reason = { 0 };
	autofree char *object = NULL;

	if (asprintf(&object, "container %.64s of %s", name, reader->demand->object) < 0)
		return error_no_memory(reader->error);
	const struct dialect_input input = {
		.limits = map_at(container, "resources.limits"),
		.requests = map_at(container, "resources.requests"),
		.annotations = reader->annotations,
		.object = object,
		.pod = reader->demand->name,
		.path = "spec.containers[].resources",
		.source = reader->source,
		.line = reader->line,
		.annotated = annotated,
	};
	int r = dialect_translate(&input, &request, reader->notes, &reason, reader->error);
	if (r == 0 && request.kind != REQUEST_NONE)
		r = keep_request(reader, &request, name);
	return r;
}

/* ---- containers ---- */

static bool is_sidecar(struct json_object *container)
{
	return strcmp(json_get_string(container, "restartPolicy", ""), "Always") == 0;
}

static int read_container(const struct reader *reader, struct json_object *container,
			  bool annotated, struct resources *sum)
{
	struct resources needs = { 0 };

	if (!json_object_is_type(container, json_type_object))
		return fail(reader, "a container is no map; write one");
	int r = read_needs(reader, container, &needs);
	if (r < 0)
		return r;
	add(sum, &needs);
	return read_cards(reader, container, annotated);
}

/* In order: each runs beside the sidecars before it. */
static int read_init(const struct reader *reader, struct json_object *list, struct resources *sum,
		     struct resources *most)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < list_length(list); i++) {
		struct json_object *container = json_object_array_get_idx(list, i);
		struct resources needs = { 0 };

		if (is_sidecar(container)) {
			r = read_container(reader, container, false, sum);
			continue;
		}
		r = read_needs(reader, container, &needs);
		add(&needs, sum);
		raise_to(most, &needs);
	}
	return r;
}

static int read_containers(const struct reader *reader)
{
	struct json_object *init = json_get(reader->pod, "spec.initContainers");
	struct json_object *list = json_get(reader->pod, "spec.containers");
	struct resources sum = { 0 }, most = { 0 };
	const char *wanted = NULL;
	bool asks = reader->annotations && dialect_asks_by_annotation(reader->annotations, &wanted);

	if (!list_length(list))
		return fail(reader, "spec.containers is missing; is this a Pod?");
	if (list_length(list) > CONTAINERS_MAX || list_length(init) > CONTAINERS_MAX)
		return fail(reader, "more than 256 containers; use fewer");
	int r = read_init(reader, init, &sum, &most);
	for (size_t i = 0; r == 0 && i < list_length(list); i++) {
		struct json_object *container = json_object_array_get_idx(list, i);
		const char *name = json_get_string(container, "name", "");

		r = read_container(reader, container,
				   asks && (wanted ? strcmp(wanted, name) == 0 : i == 0), &sum);
	}
	raise_to(&most, &sum);
	reader->demand->needs.cpu_milli = most.cpu_milli;
	reader->demand->needs.memory_mib = most.memory_mib;
	return r;
}

/* ---- which nodes ---- */

static int read_selector(const struct reader *reader)
{
	struct json_object *map = map_at(reader->pod, "spec.nodeSelector");
	struct demand *demand = reader->demand;

	if (!map)
		return 0;
	json_object_object_foreach(map, key, value)
	{
		struct label *label = VEC_ADD(&demand->selector, &demand->selector_count,
					      &demand->selector_capacity);

		if (!json_object_is_type(value, json_type_string))
			return fail(reader, "a value of spec.nodeSelector is no text; quote it");
		if (!label)
			return error_no_memory(reader->error);
		int r = copy(reader, key, &label->key);
		if (r == 0)
			r = copy(reader, json_object_get_string(value), &label->value);
		if (r < 0)
			return r;
	}
	return 0;
}

static const char *const operators[MATCH_OPERATOR_MAX] = {
	[MATCH_IN] = "In",         [MATCH_NOT_IN] = "NotIn",
	[MATCH_EXISTS] = "Exists", [MATCH_DOES_NOT_EXIST] = "DoesNotExist",
	[MATCH_GT] = "Gt",         [MATCH_LT] = "Lt",
};

static int read_match(const struct reader *reader, struct json_object *object, bool is_field,
		      struct match *match)
{
	const char *name = json_get_string(object, "operator", "");
	struct json_object *values = json_get(object, "values");
	int found = 0;

	while (found < MATCH_OPERATOR_MAX && strcmp(operators[found], name) != 0)
		found++;
	if (found == MATCH_OPERATOR_MAX || !json_get_string(object, "key", NULL))
		return fail(reader, "node affinity has no key or an unknown operator; write In, "
				    "NotIn, Exists, DoesNotExist, Gt or Lt");
	match->operator=(enum match_operator) found;
	int r = is_field ? 0 : copy(reader, json_get_string(object, "key", NULL), &match->key);

	for (size_t i = 0; r == 0 && i < list_length(values); i++) {
		struct json_object *value = json_object_array_get_idx(values, i);

		if (!json_object_is_type(value, json_type_string))
			return fail(reader, "a value of node affinity is no text; quote it");
		r = check_text(reader, json_object_get_string(value));
		if (r == 0 && string_list_add(&match->values, json_object_get_string(value)) < 0)
			return error_no_memory(reader->error);
	}
	return r;
}

static int read_matches(const struct reader *reader, struct json_object *list, bool is_field,
			struct match_term *term)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < list_length(list); i++) {
		struct match *match = VEC_ADD(&term->items, &term->count, &term->capacity);

		if (!match)
			return error_no_memory(reader->error);
		r = read_match(reader, json_object_array_get_idx(list, i), is_field, match);
	}
	return r;
}

static int read_affinity(const struct reader *reader)
{
	struct json_object *list =
		json_get(reader->pod, "spec.affinity.nodeAffinity."
				      "requiredDuringSchedulingIgnoredDuringExecution."
				      "nodeSelectorTerms");
	struct demand *demand = reader->demand;
	int r = 0;

	for (size_t i = 0; r == 0 && i < list_length(list); i++) {
		struct json_object *object = json_object_array_get_idx(list, i);
		struct match_term *term =
			VEC_ADD(&demand->terms, &demand->term_count, &demand->term_capacity);

		if (!term)
			return error_no_memory(reader->error);
		r = read_matches(reader, json_get(object, "matchExpressions"), false, term);
		if (r == 0)
			r = read_matches(reader, json_get(object, "matchFields"), true, term);
	}
	return r;
}

static int read_tolerations(const struct reader *reader)
{
	struct json_object *list = json_get(reader->pod, "spec.tolerations");
	struct demand *demand = reader->demand;

	for (size_t i = 0; i < list_length(list); i++) {
		struct json_object *object = json_object_array_get_idx(list, i);
		const char *key = json_get_string(object, "key", "");
		const char *effect = json_get_string(object, "effect", "");
		bool exists = strcmp(json_get_string(object, "operator", ""), "Exists") == 0;
		struct toleration *toleration =
			VEC_ADD(&demand->tolerations, &demand->toleration_count,
				&demand->toleration_capacity);

		if (!toleration)
			return error_no_memory(reader->error);
		toleration->effect = *effect ? taint_effect_from_string(effect) : TAINT_EFFECT_MAX;
		if ((int)toleration->effect < 0)
			return fail(reader, "a toleration has an unknown effect; write NoSchedule, "
					    "PreferNoSchedule or NoExecute");
		int r = copy(reader, *key ? key : NULL, &toleration->key);
		if (r == 0)
			r = copy(reader, exists ? NULL : json_get_string(object, "value", ""),
				 &toleration->value);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_names(const struct reader *reader)
{
	struct demand *demand = reader->demand;
	const char *name = json_get_string(reader->pod, "metadata.name", "");
	const char *node = json_get_string(reader->pod, "spec.nodeName", NULL);

	if (!*name)
		return fail(reader, "metadata.name is missing; write one");
	int r = copy(reader, name, &demand->name);
	if (r == 0)
		r = copy(reader, json_get_string(reader->pod, "metadata.namespace", "default"),
			 &demand->namespace);
	if (r == 0)
		r = copy(reader, node && *node ? node : NULL, &demand->node);
	if (r < 0)
		return r;
	if (asprintf(&demand->object, "Pod %s/%s", demand->namespace, demand->name) < 0) {
		demand->object = NULL;
		return error_no_memory(reader->error);
	}
	struct json_object *priority = json_get(reader->pod, "spec.priority");
	if (json_object_is_type(priority, json_type_int))
		demand->priority = json_object_get_int(priority);
	return 0;
}

static int read_gang(const struct reader *reader)
{
	const char *wrong = NULL;
	char text[256];
	int r = gang_read(reader->pod, reader->demand, &wrong);

	if (r == -ENOMEM)
		return error_no_memory(reader->error);
	snprintf(text, sizeof(text), "%s is no name, or no number of Pods from 1 on; correct it",
		 wrong ? wrong : "");
	return r < 0 ? fail(reader, text) : 0;
}

int demand_read(struct json_object *pod, const char *source, unsigned long line,
		struct string_list *notes, struct demand *ret, struct error *error)
{
	static int (*const steps[])(const struct reader *) = {
		read_names,    read_containers,  read_selector,
		read_affinity, read_tolerations, read_gang,
	};
	cleanup(demand_release) struct demand demand;
	struct reader reader = { .source = source,
				 .line = line,
				 .pod = pod,
				 .annotations = map_at(pod, "metadata.annotations"),
				 .notes = notes,
				 .demand = &demand,
				 .error = error };
	const char *phase = json_get_string(pod, "status.phase", "");

	demand_init(&demand);
	if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0)
		return error_set(error, ESTALE, "%s:%lu: the Pod has ended", source, line);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int r = steps[i](&reader);

		if (r < 0)
			return r;
	}
	*ret = demand;
	demand_init(&demand);
	return 0;
}
