/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Kubernetes Pod as far as it concerns cards: read from the JSON tree of a manifest, checked with
 * the rules of the API server, translated by the dialect table (model/dialect.h).
 */
#pragma once

#include <stddef.h>

#include "base/base.h"
#include "model/reason.h"
#include "model/request.h"

struct environment_variable {
	char *name, *value; /* owned */
};

struct container {
	char *name, *image, *working_directory; /* owned; working_directory may be NULL */
	struct string_list command, arguments;
	struct environment_variable *environment; /* owned */
	size_t environment_count, environment_capacity;
	struct request request;
	unsigned line; /* of the container in the file, 0 unknown */
};

struct pod {
	char *namespace, *name, *uid; /* owned; namespace "default" and uid "" when absent */
	struct container *containers; /* owned */
	size_t container_count, container_capacity;
	struct string_list notes; /* "file.yaml:12: spec.nodeSelector is ignored on one machine" */
};

/*
 * Reads one document. SOURCE is the file's name for messages. Returns 0; -EINVAL with a message
 * for what is no Pod at all; -EPERM when a rule of the API server or of a dialect refuses it, with
 * *ret_reason filled (Kubernetes' own sentence in reason->kubernetes where it has one).
 * Lists (kind List) and workload kinds (Deployment, Job, ...) are refused with a sentence that says
 * to apply their Pod.
 */
int pod_from_json(struct json_object *document, const char *source, struct pod *ret,
		  struct reason *ret_reason, struct error *error);
void pod_release(struct pod *pod);

/* "container main of Pod default/train" */
void container_object(const struct pod *pod, const struct container *container, char *ret,
		      size_t size);
