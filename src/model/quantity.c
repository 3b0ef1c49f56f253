/* SPDX-License-Identifier: Apache-2.0 */
#include "model/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * The grammar, the canonical form and the cases in which the text is kept as written are those of
 * k8s.io/apimachinery/pkg/api/resource 0.34 (quantity.go, suffix.go). A resource list is rounded
 * up to thousandths when the API server decodes it (SetDefaults_ResourceList), so that is the
 * finest that quantity_canonical() prints.
 */

#define NANO         1000000000ull
#define MILLI        1000000ull             /* nanos of a thousandth */
#define HALF         1000000000000000000ull /* printf has no 128 bits: 18 digits at a time */
#define EXPONENT_MAX 10000

enum quantity_format { FORMAT_DECIMAL, FORMAT_BINARY, FORMAT_EXPONENT };

struct suffix {
	const char *text;
	enum quantity_format format;
	int exponent; /* of 10, or of 2 for the binary ones */
};

static const struct suffix suffixes[] = {
	{ "", FORMAT_DECIMAL, 0 },   { "n", FORMAT_DECIMAL, -9 }, { "u", FORMAT_DECIMAL, -6 },
	{ "m", FORMAT_DECIMAL, -3 }, { "k", FORMAT_DECIMAL, 3 },  { "M", FORMAT_DECIMAL, 6 },
	{ "G", FORMAT_DECIMAL, 9 },  { "T", FORMAT_DECIMAL, 12 }, { "P", FORMAT_DECIMAL, 15 },
	{ "E", FORMAT_DECIMAL, 18 }, { "Ki", FORMAT_BINARY, 10 }, { "Mi", FORMAT_BINARY, 20 },
	{ "Gi", FORMAT_BINARY, 30 }, { "Ti", FORMAT_BINARY, 40 }, { "Pi", FORMAT_BINARY, 50 },
	{ "Ei", FORMAT_BINARY, 60 },
};

struct parts { /* of the text, without blanks around it */
	const char *text;
	size_t length;
	bool negative;
	const char *whole; /* digits before the point, leading zeros skipped */
	size_t whole_length;
	const char *fraction; /* digits behind the point */
	size_t fraction_length;
	enum quantity_format format;
	int exponent;
};

static size_t digits_at(const char *text, const char *end)
{
	size_t count = 0;

	while (text + count < end && isdigit((unsigned char)text[count]))
		count++;
	return count;
}

static bool read_exponent(const char *text, size_t length, int *ret)
{
	bool negative = false;
	int value = 0;

	if (length && (*text == '+' || *text == '-')) {
		negative = *text == '-';
		text++;
		length--;
	}
	if (!length || digits_at(text, text + length) != length || length > 18)
		return false;
	for (size_t i = 0; i < length && value <= EXPONENT_MAX; i++)
		value = value * 10 + (text[i] - '0');
	if (value > EXPONENT_MAX)
		value = EXPONENT_MAX;
	*ret = negative ? -value : value;
	return true;
}

static bool read_suffix(const char *text, size_t length, struct parts *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (strlen(suffixes[i].text) == length &&
		    memcmp(suffixes[i].text, text, length) == 0) {
			ret->format = suffixes[i].format;
			ret->exponent = suffixes[i].exponent;
			return true;
		}
	}
	if (*text != 'e' && *text != 'E')
		return false;
	ret->format = FORMAT_EXPONENT;
	return read_exponent(text + 1, length - 1, &ret->exponent);
}

/* "k", "+" and ".Gi" are 0 there, but not with the suffixes that its short way does not take. */
static bool may_lack_digits(const struct parts *parts)
{
	return parts->format == FORMAT_BINARY ? parts->exponent < 50 : parts->exponent >= -9;
}

static bool split(const char *text, struct parts *ret)
{
	while (isspace((unsigned char)*text))
		text++;
	size_t length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	if (!length)
		return false;
	const char *at = text, *end = text + length;

	*ret = (struct parts){ .text = text, .length = length, .negative = *at == '-' };
	if (*at == '-' || *at == '+')
		at++;
	while (at < end && *at == '0')
		at++;
	ret->whole = at;
	ret->whole_length = digits_at(at, end);
	at += ret->whole_length;
	if (at < end && *at == '.') {
		ret->fraction = ++at;
		ret->fraction_length = digits_at(at, end);
		at += ret->fraction_length;
	}
	bool digits =
		ret->fraction_length || ret->whole_length || memchr(text, '0', (size_t)(at - text));
	return read_suffix(at, (size_t)(end - at), ret) && (digits || may_lack_digits(ret));
}

/* The digit NUMBER of whole and fraction together. */
static unsigned digit(const struct parts *parts, size_t number)
{
	return (unsigned)((number < parts->whole_length
				   ? parts->whole[number]
				   : parts->fraction[number - parts->whole_length]) -
			  '0');
}

/* |value| in nanos; *ret_rest is true when something below a nano was cut off. */
static int decimal_nanos(const struct parts *parts, unsigned __int128 *ret, bool *ret_rest)
{
	size_t count = parts->whole_length + parts->fraction_length, first = 0;
	unsigned __int128 nanos = 0;

	while (first < count && digit(parts, first) == 0)
		first++;
	if (first == count) {
		*ret = 0;
		*ret_rest = false;
		return 0;
	}
	/* digits of the result: those up to the point, moved by the exponent and by nano's 9 */
	long wanted = (long)parts->whole_length - (long)first + parts->exponent + 9;
	if (wanted > 28) /* 2^63 nanos have 28 digits */
		return -ERANGE;
	bool rest = false;
	for (size_t i = first; i < count; i++) {
		if ((long)(i - first) < wanted)
			nanos = nanos * 10 + digit(parts, i);
		else if (digit(parts, i))
			rest = true;
	}
	for (long i = (long)(count - first); i < wanted; i++)
		nanos *= 10;
	*ret = nanos;
	*ret_rest = rest;
	return 0;
}

static int binary_nanos(const struct parts *parts, unsigned __int128 *ret, bool *ret_rest)
{
	unsigned __int128 unit = (unsigned __int128)NANO << parts->exponent, whole = 0, part = 0;
	bool rest = false;

	if (parts->whole_length > 19)
		return -ERANGE;
	for (size_t i = 0; i < parts->whole_length; i++)
		whole = whole * 10 + digit(parts, i);
	if (whole > (unsigned __int128)INT64_MAX >> parts->exponent)
		return -ERANGE;
	/* Last digit first: 0.d1d2 * unit = (d1 * unit + (d2 * unit) / 10) / 10, exact in its
	 * whole part because a whole number is added before each division. */
	for (size_t i = parts->fraction_length; i-- > 0;) {
		part += (unsigned __int128)(unsigned)(parts->fraction[i] - '0') * unit;
		rest = rest || part % 10;
		part /= 10;
	}
	*ret = whole * unit + part;
	*ret_rest = rest;
	return 0;
}

static int read_nanos(const struct parts *parts, unsigned __int128 *ret, bool *ret_rest)
{
	int r = parts->format == FORMAT_BINARY ? binary_nanos(parts, ret, ret_rest)
					       : decimal_nanos(parts, ret, ret_rest);

	if (r < 0)
		return r;
	if (*ret / NANO > INT64_MAX)
		return -ERANGE;
	return 0;
}

int quantity_parse(const char *text, struct quantity *ret, struct error *error)
{
	struct parts parts;
	unsigned __int128 nanos;
	bool rest;

	if (!text || !split(text, &parts))
		return error_set(error, EINVAL,
				 "'%.64s' is no quantity; write a number such as 2, 500m or 12Gi",
				 text ? text : "");
	if (read_nanos(&parts, &nanos, &rest) < 0)
		return error_set(error, ERANGE,
				 "'%.64s' is too large; the largest quantity is 2^63 - 1", text);
	*ret = (struct quantity){
		.value = (int64_t)(nanos / NANO) * (parts.negative ? -1 : 1),
		.milli = (unsigned)(nanos % NANO / MILLI),
		.negative = parts.negative && (nanos || rest),
		.finer = rest || nanos % MILLI,
	};
	return 0;
}

bool quantity_is_integer(const struct quantity *quantity)
{
	return !quantity->milli && !quantity->finer;
}

bool quantity_equal(const struct quantity *one, const struct quantity *other)
{
	return one->value == other->value && one->milli == other->milli &&
	       one->negative == other->negative && one->finer == other->finer;
}

/* The API server keeps some texts as they were written ("+1", "1.500"); this is its rule. */
static bool is_kept(const struct parts *parts)
{
	size_t count = (parts->whole_length ? parts->whole_length : 1) + parts->fraction_length;

	if (parts->format == FORMAT_BINARY) {
		size_t room = (size_t)parts->exponent * 3 / 10 + 1;
		if (parts->fraction_length || !parts->whole_length || count + room > 15)
			return false;
		return (digit(parts, count - 1) + 2 * (count > 1 ? digit(parts, count - 2) : 0) +
			4 * (count > 2 ? digit(parts, count - 3) : 0)) %
			       8 !=
		       0;
	}
	int scale = parts->exponent - (int)parts->fraction_length;
	if (count > 18 || scale < -3 || scale % 3 != 0 || !parts->whole_length)
		return false;
	for (size_t i = count > 3 ? count - 3 : 0; i < count; i++) {
		if (digit(parts, i))
			return true;
	}
	return false;
}

static int print_number(unsigned __int128 number, bool negative, const char *suffix, char *ret,
			size_t size)
{
	const char *sign = negative ? "-" : "";
	uint64_t high = (uint64_t)(number / HALF), low = (uint64_t)(number % HALF);
	int length =
		high ? snprintf(ret, size, "%s%" PRIu64 "%018" PRIu64 "%s", sign, high, low, suffix)
		     : snprintf(ret, size, "%s%" PRIu64 "%s", sign, low, suffix);

	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

static const char *suffix_text(enum quantity_format format, int exponent)
{
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (suffixes[i].format == format && suffixes[i].exponent == exponent)
			return suffixes[i].text;
	}
	return "";
}

static int print_binary(unsigned __int128 number, bool negative, char *ret, size_t size)
{
	int exponent = 0;

	while (number % 1024 == 0 && exponent < 60) {
		number /= 1024;
		exponent += 10;
	}
	return print_number(number, negative, suffix_text(FORMAT_BINARY, exponent), ret, size);
}

static int print_decimal(unsigned __int128 millis, bool negative, enum quantity_format format,
			 char *ret, size_t size)
{
	char suffix[16];
	int exponent = -3;

	while (millis % 1000 == 0) {
		millis /= 1000;
		exponent += 3;
	}
	if (format != FORMAT_EXPONENT)
		snprintf(suffix, sizeof(suffix), "%s", suffix_text(FORMAT_DECIMAL, exponent));
	else if (exponent)
		snprintf(suffix, sizeof(suffix), "e%d", exponent);
	else
		suffix[0] = '\0';
	return print_number(millis, negative, suffix, ret, size);
}

int quantity_canonical(const char *text, char *ret, size_t size)
{
	struct parts parts;
	unsigned __int128 nanos;
	bool rest;

	if (!text || !split(text, &parts))
		return -EINVAL;
	int r = read_nanos(&parts, &nanos, &rest);
	if (r < 0)
		return r;
	if (is_kept(&parts)) {
		if (parts.length >= size)
			return -ENAMETOOLONG;
		memcpy(ret, parts.text, parts.length);
		ret[parts.length] = '\0';
		return 0;
	}
	if (!nanos && !rest)
		return print_number(0, false, "", ret, size);
	/* Rounded away from zero: who wants some gets some. */
	unsigned __int128 millis = nanos / MILLI + (nanos % MILLI || rest ? 1 : 0);
	if (parts.format == FORMAT_BINARY && millis % 1000 == 0 && millis / 1000 >= 1024)
		return print_binary(millis / 1000, parts.negative, ret, size);
	return print_decimal(millis, parts.negative, parts.format, ret, size);
}
