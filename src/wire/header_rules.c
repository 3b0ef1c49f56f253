/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/header_rules.h"

#include <string.h>

#include "base/base.h"

#define ENTRY_OVERHEAD 32 /* RFC 9113, 6.5.2 */

enum pseudo { PSEUDO_METHOD, PSEUDO_SCHEME, PSEUDO_AUTHORITY, PSEUDO_PATH, PSEUDO_STATUS };

static const struct {
	const char *name;
	enum header_list list;
	bool needed;
} pseudo_headers[] = {
	[PSEUDO_METHOD] = { ":method", HEADERS_REQUEST, true },
	[PSEUDO_SCHEME] = { ":scheme", HEADERS_REQUEST, true },
	[PSEUDO_AUTHORITY] = { ":authority", HEADERS_REQUEST, false },
	[PSEUDO_PATH] = { ":path", HEADERS_REQUEST, true },
	[PSEUDO_STATUS] = { ":status", HEADERS_RESPONSE, true },
};

/* Headers that speak of an HTTP/1 connection. */
static const char *const of_connections[] = { "connection", "keep-alive", "proxy-connection",
					      "transfer-encoding", "upgrade" };

static bool is(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* RFC 9110's token, without capital letters. */
static bool is_name(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') ||
		      (name[i] && strchr("!#$%&'*+-.^_`|~", name[i]))))
			return false;
	return length > 0;
}

static bool is_value(const char *value, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 0x7f)
			return false;
	return length == 0 || (!strchr(" \t", value[0]) && !strchr(" \t", value[length - 1]));
}

void header_rules_start(struct header_rules *rules, enum header_list list)
{
	*rules = (struct header_rules){ .list = list, .length = -1 };
}

static bool add_status(struct header_rules *rules, const char *value, size_t length)
{
	if (length != 3 || value[0] < '1' || value[0] > '9')
		return false;
	rules->status = 0;
	for (size_t i = 0; i < length; i++) {
		if (value[i] < '0' || value[i] > '9')
			return false;
		rules->status = rules->status * 10 + (unsigned)(value[i] - '0');
	}
	return true;
}

static bool add_pseudo(struct header_rules *rules, const char *name, size_t name_length,
		       const char *value, size_t value_length)
{
	if (rules->regular)
		return false;
	for (unsigned i = 0; i < ARRAY_SIZE(pseudo_headers); i++) {
		if (!is(name, name_length, pseudo_headers[i].name))
			continue;
		if (pseudo_headers[i].list != rules->list || rules->seen & 1U << i)
			return false;
		rules->seen |= 1U << i;
		if (i == PSEUDO_STATUS)
			return add_status(rules, value, value_length);
		return value_length > 0 || !pseudo_headers[i].needed;
	}
	return false;
}

static bool add_length(struct header_rules *rules, const char *value, size_t length)
{
	char text[24];
	uint64_t number;

	if (length >= sizeof(text))
		return false;
	memcpy(text, value, length);
	text[length] = '\0';
	if (parse_uint(text, 0, INT64_MAX, &number) < 0 ||
	    (rules->length >= 0 && (uint64_t)rules->length != number))
		return false;
	rules->length = (int64_t)number;
	return true;
}

bool header_rules_add(struct header_rules *rules, const char *name, size_t name_length,
		      const char *value, size_t value_length)
{
	rules->bytes += name_length + value_length + ENTRY_OVERHEAD;
	if (!is_value(value, value_length))
		return false;
	if (name_length > 0 && name[0] == ':')
		return add_pseudo(rules, name, name_length, value, value_length);
	rules->regular = true;
	if (!is_name(name, name_length))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(of_connections); i++)
		if (is(name, name_length, of_connections[i]))
			return false;
	if (is(name, name_length, "te"))
		return is(value, value_length, "trailers");
	if (is(name, name_length, "content-length"))
		return add_length(rules, value, value_length);
	return true;
}

bool header_rules_end(const struct header_rules *rules)
{
	for (unsigned i = 0; i < ARRAY_SIZE(pseudo_headers); i++)
		if (pseudo_headers[i].list == rules->list && pseudo_headers[i].needed &&
		    !(rules->seen & 1U << i))
			return false;
	return true;
}
