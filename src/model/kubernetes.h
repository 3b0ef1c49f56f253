/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API server's own sentences for what it refuses: one writer, so that each is exact. Source:
 * pkg/apis/core/validation/validation.go and pkg/apis/core/v1/defaults.go of Kubernetes 1.36.
 */
#pragma once

#include <stddef.h>

#include "base/base.h"

struct kubernetes_errors { /* field errors of one object, in the server's order */
	struct strbuf list;
	unsigned count;
};

#define KUBERNETES_ERRORS_INIT                        \
	{                                             \
		.list = STRBUF_INIT(2048), .count = 0 \
	}

void kubernetes_errors_release(struct kubernetes_errors *errors);
void kubernetes_errors_add(struct kubernetes_errors *errors, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* 'Pod "NAME" is invalid: ...', with brackets around several; cut with "...". "" without any. */
void kubernetes_errors_text(const struct kubernetes_errors *errors, const char *pod, char *ret,
			    size_t size);

/*
 * What the server says of the extended resource NAME below PATH: LIMIT and REQUEST are the
 * quantities as written, or NULL. A missing request is the limit, as the server's defaulting has
 * it, so that most faults are named twice.
 */
void kubernetes_check_resource(struct kubernetes_errors *errors, const char *path, const char *name,
			       const char *limit, const char *request);

/* What the decoder says of a text that is no quantity, without the wrapping. */
const char *kubernetes_quantity_error(const char *text);

/* The value as sigs.k8s.io/yaml hands it to the decoder: text of a number, or the string.
 * 0, or -ENAMETOOLONG when it does not fit in SIZE. */
int kubernetes_value_text(struct json_object *value, char *ret, size_t size);
