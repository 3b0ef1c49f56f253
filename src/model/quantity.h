/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes quantities ("12Gi", "500m", "1e3"), as k8s.io/apimachinery resource.Quantity reads
 * them: decimal and binary suffixes, exponents, rounding up to nano is not done: what is finer
 * than 1/1000 is kept exact as text and refused where a whole number is asked for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct quantity {
	int64_t value;	/* whole part, towards zero */
	unsigned milli; /* 0..999, thousandths beyond value, exact only if !finer */
	bool negative;
	bool finer;	/* something below 1/1000 was cut off */
};

/* -EINVAL: no quantity; -ERANGE: does not fit in int64. The message says what to write. */
int quantity_parse(const char *text, struct quantity *ret, struct error *error);
bool quantity_is_integer(const struct quantity *quantity);
/* The canonical form that the API server prints ("500m" for 0.5, "12Gi" stays binary). */
int quantity_canonical(const char *text, char *ret, size_t size);
