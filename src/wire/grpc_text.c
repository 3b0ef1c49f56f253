/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/grpc_text.h"

#include <string.h>

static const char *const grpc_status_table[GRPC_STATUS_COUNT] = {
	[GRPC_OK] = "OK",
	[GRPC_CANCELLED] = "CANCELLED",
	[GRPC_UNKNOWN] = "UNKNOWN",
	[GRPC_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
	[GRPC_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
	[GRPC_NOT_FOUND] = "NOT_FOUND",
	[GRPC_ALREADY_EXISTS] = "ALREADY_EXISTS",
	[GRPC_PERMISSION_DENIED] = "PERMISSION_DENIED",
	[GRPC_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
	[GRPC_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
	[GRPC_ABORTED] = "ABORTED",
	[GRPC_OUT_OF_RANGE] = "OUT_OF_RANGE",
	[GRPC_UNIMPLEMENTED] = "UNIMPLEMENTED",
	[GRPC_INTERNAL] = "INTERNAL",
	[GRPC_UNAVAILABLE] = "UNAVAILABLE",
	[GRPC_DATA_LOSS] = "DATA_LOSS",
	[GRPC_UNAUTHENTICATED] = "UNAUTHENTICATED",
};

const char *grpc_status_to_string(enum grpc_status status)
{
	return (unsigned)status < GRPC_STATUS_COUNT ? grpc_status_table[status] : "invalid";
}

bool grpc_header_is(const char *value, size_t length, const char *text)
{
	return strlen(text) == length && memcmp(value, text, length) == 0;
}

void grpc_text_encode(struct strbuf *buffer, const char *text)
{
	size_t length = strnlen(text, GRPC_TEXT_MAX + 1);

	if (length > GRPC_TEXT_MAX) {
		size_t whole = parse_utf8_prefix(text, GRPC_TEXT_MAX);

		length = GRPC_TEXT_MAX - whole < 4 ? whole : GRPC_TEXT_MAX;
	}
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte >= ' ' && byte <= '~' && byte != '%')
			strbuf_addc(buffer, (char)byte);
		else
			strbuf_addf(buffer, "%%%02X", byte);
	}
}

static int hex_digit(char digit)
{
	const char *digits = "0123456789abcdef0123456789ABCDEF";
	const char *at = digit ? strchr(digits, digit) : NULL;

	return at ? (int)((at - digits) % 16) : -1;
}

void grpc_text_decode(const char *value, size_t length, char ret[GRPC_TEXT_MAX + 1])
{
	size_t end = 0;

	for (size_t i = 0; i < length && end < GRPC_TEXT_MAX; i++) {
		bool coded = value[i] == '%' && length - i > 2 && hex_digit(value[i + 1]) >= 0 &&
			     hex_digit(value[i + 2]) >= 0;

		ret[end] = value[i];
		if (coded) {
			ret[end] = (char)(hex_digit(value[i + 1]) * 16 + hex_digit(value[i + 2]));
			i += 2;
		}
		end += 1;
	}
	for (size_t at = 0; at < end; at++) {
		size_t whole = parse_utf8_prefix(ret + at, end - at);

		for (size_t i = at; i < at + whole; i++)
			if (!ret[i])
				ret[i] = '?';
		at += whole;
		if (at < end)
			ret[at] = '?';
	}
	ret[end] = '\0';
}

/* Digits only; false also when there are none or more than MOST. */
static bool number_parse(const char *value, size_t length, size_t most, uint64_t *ret)
{
	char text[24];

	if (length == 0 || length > most || length >= sizeof(text))
		return false;
	memcpy(text, value, length);
	text[length] = '\0';
	return parse_uint(text, 0, UINT64_MAX, ret) == 0;
}

enum grpc_status grpc_status_parse(const char *value, size_t length)
{
	uint64_t number;

	return number_parse(value, length, 3, &number) && number < GRPC_STATUS_COUNT
		       ? (enum grpc_status)number
		       : GRPC_UNKNOWN;
}

bool grpc_timeout_parse(const char *value, size_t length, uint64_t *ret_ms)
{
	static const struct {
		char letter;
		uint64_t nanoseconds;
	} units[] = { { 'H', 3600000000000 }, { 'M', 60000000000 }, { 'S', 1000000000 },
		      { 'm', 1000000 },       { 'u', 1000 },        { 'n', 1 } };
	uint64_t number;

	if (length < 2 || !number_parse(value, length - 1, 8, &number))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (units[i].letter != value[length - 1])
			continue;
		/* 8 digits of hours in nanoseconds would not fit 64 bits. */
		if (units[i].nanoseconds >= 1000000)
			*ret_ms = number * (units[i].nanoseconds / 1000000);
		else
			*ret_ms = (number * units[i].nanoseconds + 999999) / 1000000;
		return true;
	}
	return false;
}

enum grpc_status grpc_status_of_http(unsigned status)
{
	static const struct {
		unsigned http;
		enum grpc_status status;
	} table[] = { { 400, GRPC_INTERNAL },          { 401, GRPC_UNAUTHENTICATED },
		      { 403, GRPC_PERMISSION_DENIED }, { 404, GRPC_UNIMPLEMENTED },
		      { 429, GRPC_UNAVAILABLE },       { 502, GRPC_UNAVAILABLE },
		      { 503, GRPC_UNAVAILABLE },       { 504, GRPC_UNAVAILABLE } };

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].http == status)
			return table[i].status;
	return GRPC_UNKNOWN;
}

enum grpc_status grpc_status_of_reset(uint32_t code)
{
	/* In the order of RFC 9113, 7; the end of a stream without an error is one for gRPC. */
	static const enum grpc_status table[] = {
		GRPC_INTERNAL,          GRPC_INTERNAL, GRPC_INTERNAL, GRPC_INTERNAL,
		GRPC_INTERNAL,          GRPC_INTERNAL, GRPC_INTERNAL, GRPC_UNAVAILABLE,
		GRPC_CANCELLED,         GRPC_INTERNAL, GRPC_INTERNAL, GRPC_RESOURCE_EXHAUSTED,
		GRPC_PERMISSION_DENIED,
	};

	return code < ARRAY_SIZE(table) ? table[code] : GRPC_UNKNOWN;
}

bool grpc_is_content_type(const char *value, size_t length)
{
	const char *wanted = "application/grpc";
	size_t least = strlen(wanted);

	return length >= least && memcmp(value, wanted, least) == 0 &&
	       (length == least || value[least] == '+' || value[least] == ';');
}
