/* SPDX-License-Identifier: Apache-2.0 */
/* What reading a Pod needs everywhere: typed look-ups, refusals, notes; of pod*.c only. */
#pragma once

#include <stddef.h>

#include "model/pod.h"

struct pod_reader {
	const char *source;
	struct pod *pod;
	struct reason *reason;
	struct error *error;
	unsigned line;                /* of the nearest thing that has one */
	size_t text_bytes;            /* of all arguments and variables so far */
	char object[REASON_TEXT_MAX]; /* what a refusal names: "container main of Pod default/x" */
};

/* The JSON type of a field, and what Go's decoder calls field and type. */
struct pod_shape {
	enum json_type type;
	const char *field; /* "Container.spec.containers.args" */
	const char *go;    /* "[]string" */
};

/* Member KEY of OBJECT; *ret is NULL when it is absent or null. PATH is OBJECT's, "" at the top. */
int pod_get(struct pod_reader *reader, struct json_object *object, const char *path,
	    const char *key, const struct pod_shape *shape, struct json_object **ret);
/* The same for a string, copied; *ret stays as it is when absent. */
int pod_get_text(struct pod_reader *reader, struct json_object *object, const char *path,
		 const char *key, const struct pod_shape *shape, char **ret);
/* Is VALUE, which PATH names, of the shape? */
int pod_check_type(struct pod_reader *reader, struct json_object *value, const char *path,
		   const struct pod_shape *shape);

/* Kubernetes' sentence for the refusal that follows: a field error of this Pod. */
void pod_kubernetes(struct pod_reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Fills the reason and the error ("FILE:LINE: sentence"); returns -EPERM. WHERE may be NULL. */
int pod_refuse(struct pod_reader *reader, struct json_object *where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for AMOUNT of a resource NAME that nothing on this machine has. */
int pod_refuse_resource(struct pod_reader *reader, struct json_object *where, const char *name,
			const char *amount);
/* -EINVAL: not a Pod at all. */
int pod_reject(struct pod_reader *reader, struct json_object *where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* "FILE:LINE: ..."; after some dozens no more are taken. */
int pod_note(struct pod_reader *reader, struct json_object *where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* One note a field of OBJECT that nobody reads; -EPERM for the slip of one that somebody does. FIELD
 * is its path without numbers, PATH with. */
int pod_note_ignored(struct pod_reader *reader, struct json_object *object, const char *field,
		     const char *path);

/* The rules for names (RFC 1123): a label without dots, a subdomain with them. */
int pod_check_label(struct pod_reader *reader, struct json_object *where, const char *path,
		    const char *name);
int pod_check_subdomain(struct pod_reader *reader, struct json_object *where, const char *path,
			const char *name);

/* Reads spec.containers[NUMBER] into CONTAINER (zeroed). */
int pod_read_container(struct pod_reader *reader, struct json_object *object, size_t number,
		       struct json_object *annotations, struct container *container);
/* Checks and translates its resources. PATH is the container's. */
int pod_read_resources(struct pod_reader *reader, struct json_object *object, const char *path,
		       struct json_object *annotations, struct container *container);
/* Replaces $(NAME) in command, arguments and environment as the kubelet does. */
int pod_expand_container(struct pod_reader *reader, struct container *container);
