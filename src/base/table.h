/* SPDX-License-Identifier: Apache-2.0 */
/* Names of an enum are one array beside it; both directions come from here. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* static const char *const NAME_table[COUNT]; gives NAME_to_string() and NAME_from_string(). */
#define DEFINE_STRING_TABLE(name, type, count)                                     \
	const char *name##_to_string(type value)                                   \
	{                                                                          \
		if ((int)value < 0 || (int)value >= (int)(count))                  \
			return "invalid";                                          \
		return name##_table[value];                                        \
	}                                                                          \
	type name##_from_string(const char *text)                                  \
	{                                                                          \
		for (int i = 0; i < (int)(count); i++)                             \
			if (name##_table[i] && strcmp(name##_table[i], text) == 0) \
				return (type)i;                                    \
		return (type)-EINVAL;                                              \
	}
