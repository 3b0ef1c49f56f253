/* SPDX-License-Identifier: Apache-2.0 */
/* gRPC's texts in headers, messages in pieces, and header lists. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/grpc_message.h"
#include "wire/grpc_text.h"
#include "wire/header_rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int right)
{
	if (!right)
		abort();
}

static void texts(const char *text, size_t size)
{
	char decoded[GRPC_TEXT_MAX + 1], again[GRPC_TEXT_MAX + 1];
	autostrbuf encoded = STRBUF_INIT(GRPC_TEXT_MAX * 3);
	uint64_t ms;

	grpc_text_decode(text, size, decoded);
	demand(parse_utf8_valid(decoded, strlen(decoded)));
	grpc_text_encode(&encoded, decoded);
	demand(strbuf_failed(&encoded) == 0);
	grpc_text_decode(encoded.data, encoded.length, again);
	demand(strcmp(decoded, again) == 0);
	if (grpc_timeout_parse(text, size, &ms))
		demand(size >= 2 && size <= 9 && ms < UINT64_C(1) << 60);
	demand((unsigned)grpc_status_parse(text, size) < GRPC_STATUS_COUNT);
	grpc_is_content_type(text, size);
}

/* However it is cut, the messages are the same. */
static uint64_t messages(const uint8_t *data, size_t size, size_t piece)
{
	struct grpc_reader reader = { .most = 500 };
	uint64_t sum = 0;
	int r = 0;

	while (size > 0 && r == 0) {
		size_t part = size < piece ? size : piece;

		data += part;
		size -= part;
		for (const unsigned char *at = data - part; part > 0 && r == 0;) {
			bool whole;

			r = grpc_reader_take(&reader, &at, &part, &whole);
			if (r < 0 || !whole)
				continue;
			sum = sum * 31 + reader.length + 1;
			for (size_t i = 0; i < reader.length; i++)
				sum = sum * 31 + reader.bytes[i];
		}
	}
	sum = sum * 31 + (uint64_t)-r;
	sum = sum * 2 + grpc_reader_within(&reader);
	grpc_reader_release(&reader);
	return sum;
}

static void headers(const char *text, size_t size)
{
	struct header_rules rules;

	header_rules_start(&rules, (enum header_list)(size % 3));
	while (size > 2) {
		size_t name = (unsigned char)text[0] % size, value = (unsigned char)text[1] % size;

		if (name + value + 2 > size)
			break;
		header_rules_add(&rules, text + 2, name, text + 2 + name, value);
		text += name + value + 2;
		size -= name + value + 2;
	}
	header_rules_end(&rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	texts((const char *)data, size);
	headers((const char *)data, size);
	demand(messages(data, size, 1) == messages(data, size, 65536));
	demand(messages(data, size, 3) == messages(data, size, 7));
	return 0;
}
