/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "inject/plan.h"

/* How to add a capability: a row here, a bit in inject.h, rows in driver_table.c. */
static const struct {
	const char *name;
	unsigned flags;
} capability_rows[] = {
	{ "compute", CAPABILITY_COMPUTE },   { "utility", CAPABILITY_UTILITY },
	{ "video", CAPABILITY_VIDEO },       { "graphics", CAPABILITY_GRAPHICS },
	{ "display", CAPABILITY_DISPLAY },   { "ngx", CAPABILITY_NGX },
	{ "compat32", CAPABILITY_COMPAT32 }, { "all", CAPABILITY_ALL },
};

static unsigned find_word(const char *word, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(capability_rows); i++)
		if (strlen(capability_rows[i].name) == length &&
		    memcmp(capability_rows[i].name, word, length) == 0)
			return capability_rows[i].flags;
	return 0;
}

int capabilities_parse(const char *text, unsigned *ret, struct error *error)
{
	unsigned flags = 0;

	for (const char *at = text ? text : ""; *at;) {
		at += strspn(at, ", ");
		size_t length = strcspn(at, ", ");
		unsigned found = find_word(at, length);

		if (length && !found)
			return error_set(
				error, EINVAL,
				"the unknown word \"%.*s\"; use all, or a list of compute, "
				"utility, video, graphics, display, ngx, compat32",
				(int)(length < 64 ? length : 64), at);
		flags |= found;
		at += length;
	}
	*ret = flags ? flags : CAPABILITY_DEFAULT;
	return 0;
}

void capabilities_describe(unsigned flags, struct strbuf *out)
{
	const char *separator = "";

	for (size_t i = 0; i < ARRAY_SIZE(capability_rows); i++) {
		if (capability_rows[i].flags == CAPABILITY_ALL ||
		    !(flags & capability_rows[i].flags))
			continue;
		strbuf_addf(out, "%s%s", separator, capability_rows[i].name);
		separator = ", ";
	}
}
