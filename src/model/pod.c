/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pod.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/dialect.h"
#include "model/pod_read.h"

#define CONTAINERS_MAX 64

static void container_release(struct container *container)
{
	free(container->name);
	free(container->image);
	free(container->working_directory);
	string_list_release(&container->command);
	string_list_release(&container->arguments);
	for (size_t i = 0; i < container->environment_count; i++) {
		free(container->environment[i].name);
		free(container->environment[i].value);
	}
	free(container->environment);
	request_release(&container->request);
}

void pod_release(struct pod *pod)
{
	for (size_t i = 0; i < pod->container_count; i++)
		container_release(&pod->containers[i]);
	free(pod->containers);
	free(pod->namespace);
	free(pod->name);
	free(pod->uid);
	string_list_release(&pod->notes);
	*pod = (struct pod){ 0 };
}

void container_object(const struct pod *pod, const struct container *container, char *ret,
		      size_t size)
{
	reason_text(ret, size, "container %s of Pod %s/%s", container->name, pod->namespace,
		    pod->name);
}

/* Where the Pod of a workload is. */
static const struct {
	const char *kind, *template;
} workloads[] = {
	{ "Deployment", "spec.template" },
	{ "ReplicaSet", "spec.template" },
	{ "ReplicationController", "spec.template" },
	{ "StatefulSet", "spec.template" },
	{ "DaemonSet", "spec.template" },
	{ "Job", "spec.template" },
	{ "CronJob", "spec.jobTemplate.spec.template" },
	{ "PodTemplate", "template" },
};

static int check_kind(struct pod_reader *reader, struct json_object *document)
{
	const char *kind = json_get_string(document, "kind", "");
	const char *version = json_get_string(document, "apiVersion", "");
	struct json_object *where = json_get(document, "kind");

	if (!json_object_is_type(document, json_type_object))
		return pod_reject(reader, document,
				  "this is no Pod; a Pod starts with apiVersion: v1 and kind: Pod");
	for (size_t i = 0; i < ARRAY_SIZE(workloads); i++) {
		if (strcmp(kind, workloads[i].kind) == 0)
			return pod_reject(reader, where,
					  "a %s makes its Pods in a cluster; apply its Pod here: "
					  "%s with apiVersion: v1 and kind: Pod",
					  kind, workloads[i].template);
	}
	if (strcmp(kind, "List") == 0 || strcmp(kind, "PodList") == 0)
		return pod_reject(reader, where,
				  "kind %s is not read; write its Pods one after the other with a "
				  "line --- between them",
				  kind);
	if (strcmp(kind, "Pod") != 0)
		return pod_reject(reader, where,
				  "kind is '%.64s', and only Pods can be applied "
				  "here; write kind: Pod",
				  kind);
	if (!version[0])
		return pod_reject(reader, document,
				  "apiVersion is missing; write apiVersion: v1 above kind: Pod");
	if (strcmp(version, "v1") != 0)
		return pod_reject(reader, json_get(document, "apiVersion"),
				  "apiVersion is '%.64s', and a Pod has v1; write apiVersion: v1",
				  version);
	return 0;
}

static int check_texts(struct pod_reader *reader, struct json_object *map, const char *path,
		       const struct pod_shape *shape)
{
	if (!map)
		return 0;
	json_object_object_foreach(map, key, value)
	{
		char name[REASON_TEXT_MAX];

		reason_text(name, sizeof(name), "%s[%s]", path, key);
		int r = value ? pod_check_type(reader, value, name, shape) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

/* Our own names must not be lost by a slip of the pen. */
static int note_own(struct pod_reader *reader, struct json_object *map, const char *what)
{
	int r = 0;

	if (!map)
		return 0;
	json_object_object_foreach(map, key, value)
	{
		if (r < 0 || strncmp(key, "gpupool.io/", strlen("gpupool.io/")) != 0 ||
		    (strcmp(what, "annotation") == 0 && dialect_knows_annotation(key)))
			continue;
		r = pod_note(reader, value ? value : map, "%s %s has no effect on one machine",
			     what, key);
	}
	return r;
}

static int read_maps(struct pod_reader *reader, struct json_object *metadata,
		     struct json_object **ret_annotations)
{
	static const struct pod_shape labels_shape = { json_type_object,
						       "ObjectMeta.metadata.labels",
						       "map[string]string" };
	static const struct pod_shape annotations_shape = { json_type_object,
							    "ObjectMeta.metadata.annotations",
							    "map[string]string" };
	static const struct pod_shape label_shape = { json_type_string,
						      "ObjectMeta.metadata.labels", "string" };
	static const struct pod_shape annotation_shape = { json_type_string,
							   "ObjectMeta.metadata.annotations",
							   "string" };
	struct json_object *labels;

	int r = pod_get(reader, metadata, "metadata", "labels", &labels_shape, &labels);
	if (r == 0)
		r = pod_get(reader, metadata, "metadata", "annotations", &annotations_shape,
			    ret_annotations);
	if (r == 0)
		r = check_texts(reader, labels, "metadata.labels", &label_shape);
	if (r == 0)
		r = check_texts(reader, *ret_annotations, "metadata.annotations",
				&annotation_shape);
	if (r == 0)
		r = note_own(reader, labels, "label");
	if (r == 0)
		r = note_own(reader, *ret_annotations, "annotation");
	return r;
}

static int check_names(struct pod_reader *reader, struct json_object *metadata)
{
	struct pod *pod = reader->pod;

	if (!pod->name[0] && json_get(metadata, "generateName"))
		return pod_refuse(reader, metadata,
				  "metadata.generateName needs a server that makes names; write "
				  "metadata.name");
	if (!pod->name[0]) {
		pod_kubernetes(reader,
			       "metadata.name: Required value: name or generateName is required");
		return pod_refuse(reader, metadata, "metadata.name is missing");
	}
	int r = pod_check_subdomain(reader, json_get(metadata, "name"), "metadata.name", pod->name);
	if (r == 0)
		r = pod_check_label(reader, json_get(metadata, "namespace"), "metadata.namespace",
				    pod->namespace);
	return r;
}

static int read_metadata(struct pod_reader *reader, struct json_object *document,
			 struct json_object **ret_annotations)
{
	static const struct pod_shape shape = { json_type_object, "Pod.metadata", "v1.ObjectMeta" };
	static const struct pod_shape name = { json_type_string, "ObjectMeta.metadata.name",
					       "string" };
	static const struct pod_shape namespace = { json_type_string,
						    "ObjectMeta.metadata.namespace", "string" };
	static const struct pod_shape uid = { json_type_string, "ObjectMeta.metadata.uid",
					      "types.UID" };
	struct pod *pod = reader->pod;
	struct json_object *metadata;

	int r = pod_get(reader, document, "", "metadata", &shape, &metadata);
	if (r == 0)
		r = pod_get_text(reader, metadata, "metadata", "name", &name, &pod->name);
	if (r == 0)
		r = pod_get_text(reader, metadata, "metadata", "namespace", &namespace,
				 &pod->namespace);
	if (r == 0)
		r = pod_get_text(reader, metadata, "metadata", "uid", &uid, &pod->uid);
	if (r == 0)
		r = check_names(reader, metadata);
	if (r < 0)
		return r;
	reason_text(reader->object, sizeof(reader->object), "Pod %s/%s", pod->namespace, pod->name);
	r = read_maps(reader, metadata, ret_annotations);
	if (r == 0)
		r = pod_note_ignored(reader, metadata, "metadata", "metadata");
	return r;
}

/* Containers that we do not run must not be dropped: what they prepare would be missing. */
static int check_others(struct pod_reader *reader, struct json_object *spec)
{
	static const char *const keys[] = { "initContainers", "ephemeralContainers" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct json_object *list = json_get(spec, keys[i]);
		if (list && !(json_object_is_type(list, json_type_array) &&
			      json_object_array_length(list) == 0))
			return pod_refuse(reader, list,
					  "spec.%s are not run on one machine yet; remove them and "
					  "prepare what they do beforehand",
					  keys[i]);
	}
	struct json_object *policy = json_get(spec, "restartPolicy");
	if (policy && strcmp(json_object_get_string(policy), "Always") == 0)
		return pod_note(reader, policy,
				"spec.restartPolicy Always is ignored on one machine: each "
				"container is run once");
	return 0;
}

static int check_duplicates(struct pod_reader *reader, struct json_object *where)
{
	const struct pod *pod = reader->pod;
	const struct container *last = &pod->containers[pod->container_count - 1];

	for (const struct container *other = pod->containers; other < last; other++) {
		if (strcmp(other->name, last->name) != 0)
			continue;
		pod_kubernetes(reader, "spec.containers[%zu].name: Duplicate value: \"%s\"",
			       pod->container_count - 1, last->name);
		return pod_refuse(reader, where,
				  "spec.containers[%zu].name %s is there twice; each container "
				  "has a name of its own",
				  pod->container_count - 1, last->name);
	}
	return 0;
}

static int read_containers(struct pod_reader *reader, struct json_object *list,
			   struct json_object *annotations)
{
	struct pod *pod = reader->pod;
	size_t count = list ? json_object_array_length(list) : 0;

	if (!count) {
		pod_kubernetes(reader, "spec.containers: Required value");
		return pod_refuse(reader, list, "spec.containers is missing");
	}
	if (count > CONTAINERS_MAX)
		return pod_refuse(reader, list,
				  "spec.containers has %zu items, and at most %d are possible",
				  count, CONTAINERS_MAX);
	for (size_t i = 0; i < count; i++) {
		struct json_object *item = json_object_array_get_idx(list, i);
		struct container *container =
			VEC_ADD(&pod->containers, &pod->container_count, &pod->container_capacity);
		if (!container)
			return error_no_memory(reader->error);
		int r = pod_read_container(reader, item, i, annotations, container);
		if (r == 0)
			r = check_duplicates(reader, item);
		if (r < 0)
			return r;
		reason_text(reader->object, sizeof(reader->object), "Pod %s/%s", pod->namespace,
			    pod->name);
	}
	return 0;
}

static int read_pod(struct pod_reader *reader, struct json_object *document)
{
	static const struct pod_shape spec_shape = { json_type_object, "Pod.spec", "v1.PodSpec" };
	static const struct pod_shape containers_shape = { json_type_array,
							   "PodSpec.spec.containers",
							   "[]v1.Container" };
	struct json_object *annotations = NULL, *spec, *containers;

	int r = check_kind(reader, document);
	if (r == 0)
		r = read_metadata(reader, document, &annotations);
	if (r == 0)
		r = pod_get(reader, document, "", "spec", &spec_shape, &spec);
	if (r == 0)
		r = pod_get(reader, spec, "spec", "containers", &containers_shape, &containers);
	if (r == 0)
		r = check_others(reader, spec);
	if (r == 0)
		r = read_containers(reader, containers, annotations);
	if (r == 0)
		r = pod_note_ignored(reader, document, "", "");
	if (r == 0)
		r = pod_note_ignored(reader, spec, "spec", "spec");
	return r;
}

int pod_from_json(struct json_object *document, const char *source, struct pod *ret,
		  struct reason *ret_reason, struct error *error)
{
	cleanup(pod_release) struct pod pod = { 0 };
	struct reason reason = { 0 };
	struct pod_reader reader = {
		.source = source,
		.pod = &pod,
		.reason = &reason,
		.error = error,
		.line = document ? yaml_line(document) : 0,
		.object = "the Pod",
	};

	pod.name = strdup("");
	pod.namespace = strdup("default");
	pod.uid = strdup("");
	if (!pod.name || !pod.namespace || !pod.uid)
		return error_no_memory(error);
	int r = read_pod(&reader, document);
	if (r < 0) {
		if (r == -EPERM && ret_reason)
			*ret_reason = reason;
		return r;
	}
	*ret = pod;
	pod = (struct pod){ 0 };
	return 0;
}
