/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes quantities ("12Gi", "500m", "1e3"), as k8s.io/apimachinery's resource.Quantity reads
 * them: decimal and binary suffixes, exponents, signs. What is finer than 1/1000 is told apart
 * from a whole number; what does not fit in int64 is an error here, and capped there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

#define QUANTITY_TEXT_MAX 64

struct quantity {
	int64_t value;  /* whole part, towards zero */
	unsigned milli; /* 0..999, thousandths beyond value, exact only if !finer */
	bool negative;
	bool finer; /* something below 1/1000 was cut off */
};

/* -EINVAL: no quantity; -ERANGE: does not fit in int64. The message says what to write. */
int quantity_parse(const char *text, struct quantity *ret, struct error *error);
bool quantity_is_integer(const struct quantity *quantity);
/* True when both are the same number. */
bool quantity_equal(const struct quantity *one, const struct quantity *other);
/*
 * The form in which the API server prints it in a resource list: rounded up to thousandths,
 * "500m" for 0.5, "1536Mi" for 1.5Gi, and a few texts as they were written ("1e3", "+1", "1.500").
 * -EINVAL, -ERANGE as above; -ENAMETOOLONG when it does not fit in SIZE.
 */
int quantity_canonical(const char *text, char *ret, size_t size);
