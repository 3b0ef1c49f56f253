/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a header list of HTTP/2 may be (RFC 9113, 8.2 and 8.3). nghttp2 could check it, but refuses with it the
 * `:authority: /path/of/the.socket` of grpc-go before 1.34, so its check is off and this one stands in its place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum header_list { HEADERS_REQUEST, HEADERS_RESPONSE, HEADERS_TRAILERS };

struct header_rules {
	enum header_list list;
	unsigned seen;   /* pseudo headers, a bit each */
	bool regular;    /* a header that is no pseudo header came */
	size_t bytes;    /* as SETTINGS_MAX_HEADER_LIST_SIZE counts them */
	unsigned status; /* of a response; 0: none */
	int64_t length;  /* of content-length; -1: none */
};

void header_rules_start(struct header_rules *rules, enum header_list list);

/* False: the list is malformed. */
bool header_rules_add(struct header_rules *rules, const char *name, size_t name_length,
		      const char *value, size_t value_length);

/* False: something is missing. */
bool header_rules_end(const struct header_rules *rules);
