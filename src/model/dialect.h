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

/* Translates one container: LIMITS and REQUESTS are resource maps, ANNOTATIONS those of the Pod
 * (each may be NULL). OBJECT names the container for reasons. NOTES gets what was read differently
 * from how it was written (12Gi read as 12). 0, or -EPERM with a reason. */
int dialect_translate(struct json_object *limits, struct json_object *requests,
		      struct json_object *annotations, const char *object, struct request *ret,
		      struct string_list *notes, struct reason *ret_reason, struct error *error);

/* For --help and docs: row NUMBER's name and resource names, or NULL after the last. */
const char *dialect_name(size_t number);
const char *dialect_resources(size_t number);
