/* SPDX-License-Identifier: Apache-2.0 */
/* Private to base: one rule for numbers in JSON and in YAML. */
#pragma once

#include "base/json.h"

/* TEXT is a JSON number (RFC 8259, 6). Integers become int64 or uint64, others doubles that keep
 * TEXT. Returns 0, -ERANGE when it fits none of them, or -ENOMEM. LINE 0: no line is kept. */
int json_number_new(const char *text, unsigned line, struct json_object **ret);

/* The text that a double keeps, or NULL. */
const char *json_double_text(struct json_object *object);

#define JSON_NUMBER_RANGE                                                                     \
	"write a whole number from -9223372036854775808 to 18446744073709551615, a fraction " \
	"below "                                                                              \
	"1.7e308, or quote it to make it a string"
