/* SPDX-License-Identifier: Apache-2.0 */
/* The small parts of src/wire; test_grpc_bytes.c has header lists, fuzz_wire_texts.c what must always hold. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "wire/backlog.h"
#include "wire/grpc_message.h"
#include "wire/grpc_text.h"
#include "wire/header_copy.h"

TEST(timeouts)
{
	static const struct {
		const char *text;
		bool right;
		uint64_t ms;
	} cases[] = {
		{ "100m", true, 100 },   { "0m", true, 0 },
		{ "5S", true, 5000 },    { "2M", true, 120000 },
		{ "1H", true, 3600000 }, { "99999999H", true, UINT64_C(359999996400000) },
		{ "1n", true, 1 },       { "999999n", true, 1 },
		{ "1000001n", true, 2 }, { "0n", true, 0 },
		{ "1500u", true, 2 },    { "123456789m", false, 0 },
		{ "", false, 0 },        { "m", false, 0 },
		{ "5", false, 0 },       { "5s", false, 0 },
		{ "-1m", false, 0 },     { " 1m", false, 0 },
		{ "1 m", false, 0 },     { "1.5S", false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t ms = 0;

		assert_int_equal(grpc_timeout_parse(cases[i].text, strlen(cases[i].text), &ms),
				 cases[i].right);
		assert_int_equal(ms, cases[i].ms);
	}
}

TEST(texts_are_encoded_and_cut)
{
	autostrbuf encoded = STRBUF_INIT(GRPC_TEXT_MAX * 3);
	char text[GRPC_TEXT_MAX + 100], decoded[GRPC_TEXT_MAX + 1];

	grpc_text_encode(&encoded, "a b%\x7f\n\xc3\xa9~");
	assert_string_equal(encoded.data, "a b%25%7F%0A%C3%A9~");
	strbuf_reset(&encoded);
	/* The limit lies within a character of two bytes: all of it is left out. */
	memset(text, 'a', sizeof(text));
	memcpy(text + GRPC_TEXT_MAX - 1, "\xc3\xa9", 2);
	text[sizeof(text) - 1] = '\0';
	grpc_text_encode(&encoded, text);
	assert_int_equal(encoded.length, GRPC_TEXT_MAX - 1);
	/* Where there are no characters, bytes are counted. */
	memset(text, '\x80', sizeof(text) - 1);
	strbuf_reset(&encoded);
	grpc_text_encode(&encoded, text);
	assert_int_equal(strbuf_failed(&encoded), 0);
	assert_int_equal(encoded.length, GRPC_TEXT_MAX * 3);
	grpc_text_decode(encoded.data, encoded.length, decoded);
	assert_int_equal(strlen(decoded), GRPC_TEXT_MAX);
	assert_int_equal(strspn(decoded, "?"), GRPC_TEXT_MAX);
	grpc_text_decode("%", 1, decoded);
	assert_string_equal(decoded, "%");
	grpc_text_decode("%4", 2, decoded);
	assert_string_equal(decoded, "%4");
	grpc_text_decode("%4g%41%c3%a9", 12, decoded);
	assert_string_equal(decoded, "%4gA\xc3\xa9");
}

TEST(statuses)
{
	assert_int_equal(grpc_status_parse("16", 2), GRPC_UNAUTHENTICATED);
	assert_int_equal(grpc_status_parse("0", 1), GRPC_OK);
	assert_int_equal(grpc_status_parse("17", 2), GRPC_UNKNOWN);
	assert_int_equal(grpc_status_parse("", 0), GRPC_UNKNOWN);
	assert_int_equal(grpc_status_parse("-0", 2), GRPC_UNKNOWN);
	assert_int_equal(grpc_status_parse("0000", 4), GRPC_UNKNOWN);
	assert_string_equal(grpc_status_to_string(GRPC_DEADLINE_EXCEEDED), "DEADLINE_EXCEEDED");
	assert_string_equal(grpc_status_to_string((enum grpc_status) - 1), "invalid");
	assert_string_equal(grpc_status_to_string(GRPC_STATUS_COUNT), "invalid");
	assert_int_equal(grpc_status_of_http(404), GRPC_UNIMPLEMENTED);
	assert_int_equal(grpc_status_of_http(418), GRPC_UNKNOWN);
	assert_int_equal(grpc_status_of_reset(8), GRPC_CANCELLED);
	assert_int_equal(grpc_status_of_reset(13), GRPC_UNKNOWN);
}

TEST(a_message_takes_no_more_room_than_came)
{
	static const unsigned char prefix[] = { 0, 0, 0x30, 0, 0 };
	struct grpc_reader reader = { .most = 4 << 20 };
	const unsigned char *bytes = prefix;
	size_t size = sizeof(prefix);
	bool whole;

	assert_int_equal(grpc_reader_take(&reader, &bytes, &size, &whole), 0);
	assert_false(whole);
	assert_int_equal(reader.size, 3 << 20);
	assert_int_equal(reader.capacity, 0);
	bytes = prefix;
	size = 1;
	assert_int_equal(grpc_reader_take(&reader, &bytes, &size, &whole), 0);
	assert_true(reader.capacity < 100);
	bytes = prefix;
	size = 1;
	fault_arm(0);
	assert_int_equal(grpc_reader_take(&reader, &bytes, &size, &whole), -ENOMEM);
	assert_true(fault_disarm());
	grpc_reader_release(&reader);
}

TEST(a_backlog)
{
	struct backlog backlog = { 0 };
	unsigned char out[64];

	assert_int_equal(backlog_add(&backlog, "abc", 3, "defgh", 5), 0);
	assert_int_equal(backlog_take(&backlog, out, 6), 6);
	assert_memory_equal(out, "abcdef", 6);
	/* what was taken makes room */
	assert_int_equal(backlog_add(&backlog, "ijklmn", 6, NULL, 0), 0);
	assert_int_equal(backlog.capacity, 8);
	fault_arm(0);
	assert_int_equal(backlog_add(&backlog, "op", 2, "q", 1), -ENOMEM);
	assert_true(fault_disarm());
	assert_int_equal(backlog_size(&backlog), 8);
	assert_int_equal(backlog_take(&backlog, out, sizeof(out)), 8);
	assert_memory_equal(out, "ghijklmn", 8);
	assert_null(backlog.bytes);
	assert_int_equal(backlog_take(&backlog, out, sizeof(out)), 0);
}

TEST(headers_are_copied)
{
	const struct http2_header headers[] = { { "a", "" }, { "grpc-status", "12" } };
	autofree struct http2_header *copy = http2_headers_copy(headers, 2);

	assert_non_null(copy);
	assert_string_equal(copy[0].name, "a");
	assert_string_equal(copy[0].value, "");
	assert_string_equal(copy[1].value, "12");
	fault_arm(0);
	assert_null(http2_headers_copy(headers, 2));
	assert_true(fault_disarm());
}
