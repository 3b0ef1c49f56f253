/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every way to ask for cards that we accept as written, in one table. The webhook, one machine,
 * the simulator and the doctor translate with these rows and with nothing else.
 *
 * How to add a dialect: one row in dialect.c with its resource names and annotations, cases in
 * test/unit/test_dialect.c, a line in docs/dialects.md.
 */
#pragma once

#include "base/base.h"
#include "model/reason.h"
#include "model/request.h"

struct dialect_input {
	struct json_object *limits, *requests; /* resource maps of the container; may be NULL */
	struct json_object *annotations;       /* of the Pod; may be NULL */
	const char *object; /* "container main of Pod default/train", for our sentences */
	const char *pod;    /* the Pod's name, for Kubernetes' sentences */
	const char *path;   /* "spec.containers[0].resources", for Kubernetes' sentences */
	const char *source; /* the file, for "FILE:LINE: " before notes and errors; may be NULL */
	unsigned long line; /* of the Pod there, when the maps do not know theirs; 0: unknown */
	bool annotated;     /* the Pod's annotations alone can ask for cards for this container */
	bool gpushare_mib;  /* aliyun.com/gpu-mem counts MiB in this cluster, not GiB */
};

/*
 * Translates one container. NOTES gets what was read differently from how it was written ("12Gi is
 * read as 12 GiB"). 0; -EPERM with a reason, whose sentence is the error's message too; -ENOMEM.
 * Without any card resource the request is REQUEST_NONE.
 */
int dialect_translate(const struct dialect_input *input, struct request *ret,
		      struct string_list *notes, struct reason *ret_reason, struct error *error);

/* True for a name that some row translates. */
bool dialect_knows_resource(const char *name);
bool dialect_knows_annotation(const char *name);
/* Can annotations alone ask for cards (KAI)? *ret_container (may be NULL): the container that they
 * name, or NULL: the first one. Owned by the tree. */
bool dialect_asks_by_annotation(struct json_object *annotations, const char **ret_container);
/* What a slip of the keyboard was meant to be, or NULL. */
const char *dialect_nearest_resource(const char *name);
