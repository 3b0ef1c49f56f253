/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/dialect.h"
#include "model/kubernetes.h"
#include "model/pod_read.h"
#include "model/quantity.h"

#define PATH_BYTES 256

#define QUALIFIED_RULE                                                                           \
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with " \
	"an "                                                                                    \
	"alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "   \
	"validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

/* Of a container: cpu, memory, ephemeral-storage and hugepages-<size>. */
static bool is_standard(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 ||
	       strcmp(name, "ephemeral-storage") == 0 || strncmp(name, "hugepages-", 10) == 0;
}

static bool is_qualified(const char *name)
{
	static const char set[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t length = strlen(name);

	return length && length <= 63 && strchr(set, name[0]) && strchr(set, name[length - 1]) &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
		       length;
}

/* What the API server says of a resource name, or NULL when it is one. */
static const char *name_fault(const char *name)
{
	const char *slash = strchr(name, '/');
	const char *last = slash ? slash + 1 : name;

	if (!is_qualified(last))
		return strchr(last, '/') ? "a qualified name " QUALIFIED_RULE
					   " with an optional DNS subdomain prefix and '/' (e.g. "
					   "'example.com/MyName')"
					 : "name part " QUALIFIED_RULE;
	if (slash == name)
		return "prefix part must be non-empty";
	if (!slash && !is_standard(name))
		return "must be a standard resource type or fully qualified";
	if (slash && strncmp(name, "requests.", 9) == 0)
		return "doesn't follow extended resource name standard";
	return NULL;
}

/* The server names a fault in limits twice: defaulting copies limits to requests. */
static int refuse_name(struct pod_reader *reader, struct json_object *map, const char *path,
		       const char *kind, const char *name, const char *fault)
{
	struct kubernetes_errors errors = KUBERNETES_ERRORS_INIT;
	bool standard = strstr(fault, "standard resource type") != NULL;
	const char *const kinds[] = { kind, strcmp(kind, "limits") == 0 ? "requests" : NULL };

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && kinds[i]; i++) {
		kubernetes_errors_add(&errors, "%s.%s[%.80s]: Invalid value: \"%.80s\": %s", path,
				      kinds[i], name, name, fault);
		if (standard)
			kubernetes_errors_add(&errors,
					      "%s.%s[%.80s]: Invalid value: \"%.80s\": must be a "
					      "standard resource for containers",
					      path, kinds[i], name, name);
	}
	kubernetes_errors_text(&errors, reader->pod->name, reader->reason->kubernetes,
			       sizeof(reader->reason->kubernetes));
	kubernetes_errors_release(&errors);
	return pod_refuse(reader, map,
			  "%s.%s names the resource '%.80s', which is none; cards are "
			  "nvidia.com/gpu or gpupool.io/gpu-memory",
			  path, kind, name);
}

/* A resource that is neither Kubernetes' own nor ours: nothing here has it. */
static int check_foreign(struct pod_reader *reader, struct json_object *map, const char *name,
			 const char *text)
{
	struct quantity quantity;

	if (quantity_parse(text, &quantity, NULL) == 0 && quantity.value == 0 &&
	    quantity_is_integer(&quantity))
		return 0;
	if (!dialect_knows_annotation(name))
		return pod_refuse_resource(reader, map, name, text);
	kubernetes_unschedulable(reader->reason->kubernetes, sizeof(reader->reason->kubernetes), 1,
				 name, false);
	return pod_refuse(reader, map,
			  "%s is an annotation, no resource; write it below metadata.annotations, "
			  "its value in quotes",
			  name);
}

static int check_quantity(struct pod_reader *reader, struct json_object *map, const char *path,
			  const char *name, const char *text)
{
	struct error error = ERROR_INIT;
	struct quantity quantity;

	if (quantity_parse(text, &quantity, &error) != -EINVAL)
		return 0;
	reason_text(reader->reason->kubernetes, sizeof(reader->reason->kubernetes),
		    "Pod in version \"v1\" cannot be handled as a Pod: %s",
		    kubernetes_quantity_error(text));
	return pod_refuse(reader, map, "%s[%.80s]: %s", path, name, error.message);
}

/* Everything that the dialects do not translate. */
static int check_map(struct pod_reader *reader, struct json_object *map, const char *path,
		     const char *kind, struct json_object *noted)
{
	if (!map)
		return 0;
	json_object_object_foreach(map, name, value)
	{
		char full[PATH_BYTES], text[QUANTITY_TEXT_MAX];
		const char *fault = name_fault(name);
		int r = 0;

		if (fault)
			return refuse_name(reader, map, path, kind, name, fault);
		if (dialect_knows_resource(name))
			continue;
		snprintf(full, sizeof(full), "%s.%s", path, kind);
		if (kubernetes_value_text(value, text, sizeof(text)) < 0)
			return pod_refuse(reader, map, "%s[%.80s] has at most %d characters", full,
					  name, QUANTITY_TEXT_MAX - 1);
		r = check_quantity(reader, map, full, name, text);
		if (r == 0 && !is_standard(name))
			r = check_foreign(reader, map, name, text);
		else if (r == 0 && !json_object_object_get_ex(noted, name, NULL))
			r = pod_note(reader, value ? value : map,
				     "%s.%.80s is not enforced on one machine", full, name);
		if (r < 0)
			return r;
	}
	return 0;
}

static int translate(struct pod_reader *reader, struct json_object *limits,
		     struct json_object *requests, const char *path,
		     struct json_object *annotations, struct container *container)
{
	const struct dialect_input input = {
		.limits = limits,
		.requests = requests,
		.annotations = annotations,
		.object = reader->object,
		.pod = reader->pod->name,
		.path = path,
		.source = reader->source,
	};

	return dialect_translate(&input, &container->request, &reader->pod->notes, reader->reason,
				 reader->error);
}

int pod_read_resources(struct pod_reader *reader, struct json_object *object, const char *path,
		       struct json_object *annotations, struct container *container)
{
	static const struct pod_shape shape = { json_type_object,
						"Container.spec.containers.resources",
						"v1.ResourceRequirements" };
	static const struct pod_shape limits_shape = {
		json_type_object, "ResourceRequirements.spec.containers.resources.limits",
		"v1.ResourceList"
	};
	static const struct pod_shape requests_shape = {
		json_type_object, "ResourceRequirements.spec.containers.resources.requests",
		"v1.ResourceList"
	};
	struct json_object *resources, *limits, *requests;
	char full[PATH_BYTES];

	int r = pod_get(reader, object, path, "resources", &shape, &resources);
	if (r < 0 || !resources)
		return r;
	snprintf(full, sizeof(full), "%s.resources", path);
	if (json_get(resources, "claims"))
		return pod_refuse(reader, json_get(resources, "claims"),
				  "%s.claims needs a cluster; ask with limits", full);
	r = pod_get(reader, resources, full, "limits", &limits_shape, &limits);
	if (r == 0)
		r = pod_get(reader, resources, full, "requests", &requests_shape, &requests);
	if (r == 0)
		r = check_map(reader, limits, full, "limits", NULL);
	if (r == 0)
		r = check_map(reader, requests, full, "requests", limits);
	if (r == 0)
		r = translate(reader, limits, requests, full, annotations, container);
	if (r == 0)
		r = pod_note_ignored(reader, resources, "spec.containers.resources", full);
	return r;
}
