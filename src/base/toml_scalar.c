/* SPDX-License-Identifier: Apache-2.0 */
#include "base/toml_scalar.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* What is left of a token. */
struct rest {
	const char *at, *end;
};

static char peek(const struct rest *rest)
{
	return rest->at < rest->end ? *rest->at : '\0';
}

static bool take(struct rest *rest, char wanted)
{
	if (rest->at == rest->end || *rest->at != wanted)
		return false;
	rest->at++;
	return true;
}

static bool take_word(struct rest *rest, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(rest->end - rest->at) < length || memcmp(rest->at, word, length) != 0)
		return false;
	rest->at += length;
	return true;
}

/* The digit's value, or 99. */
static unsigned digit_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return (unsigned)(digit - '0');
	if (digit >= 'a' && digit <= 'f')
		return (unsigned)(digit - 'a') + 10;
	if (digit >= 'A' && digit <= 'F')
		return (unsigned)(digit - 'A') + 10;
	return 99;
}

/* Digits with single '_' between two of them; without '_' to TEXT. */
static bool take_digits(struct rest *rest, unsigned base, struct strbuf *text)
{
	bool any = false;

	while (digit_value(peek(rest)) < base) {
		strbuf_addc(text, *rest->at++);
		any = true;
		if (peek(rest) == '_' && rest->at + 1 < rest->end &&
		    digit_value(rest->at[1]) < base)
			rest->at++;
	}
	return any;
}

/* Exactly COUNT digits. */
static bool take_number(struct rest *rest, unsigned count, unsigned *ret)
{
	*ret = 0;
	for (unsigned i = 0; i < count; i++) {
		if (digit_value(peek(rest)) > 9)
			return false;
		*ret = *ret * 10 + digit_value(*rest->at++);
	}
	return true;
}

static int integer_value(const char *digits, unsigned base, bool negative, int64_t *ret)
{
	int64_t value = 0;

	/* Downwards: the most negative number has no positive twin. */
	for (; *digits; digits++) {
		if (__builtin_mul_overflow(value, (int64_t)base, &value) ||
		    __builtin_sub_overflow(value, (int64_t)digit_value(*digits), &value))
			return -ERANGE;
	}
	if (!negative && __builtin_sub_overflow((int64_t)0, value, &value))
		return -ERANGE;
	*ret = value;
	return 0;
}

static int read_integer(struct rest rest, struct toml_scalar *ret, struct strbuf *text)
{
	static const struct {
		const char *prefix;
		unsigned base;
	} prefixes[] = { { "0x", 16 }, { "0o", 8 }, { "0b", 2 } };
	autostrbuf digits = STRBUF_INIT(4096);
	bool negative = peek(&rest) == '-', sign = negative || peek(&rest) == '+';
	unsigned base = 10;

	for (size_t i = 0; i < ARRAY_SIZE(prefixes) && base == 10; i++) {
		if (take_word(&rest, prefixes[i].prefix))
			base = prefixes[i].base;
	}
	rest.at += sign;
	bool whole = take_digits(&rest, base, &digits) && rest.at == rest.end;
	if (strbuf_failed(&digits) == -ENOMEM)
		return -ENOMEM;
	if (!whole)
		return -EINVAL;
	if (base == 10 && digits.length > 1 && digits.data[0] == '0')
		return -EINVAL;
	int r = strbuf_failed(&digits);
	if (r == 0)
		r = integer_value(digits.data, base, negative, &ret->integer);
	if (r < 0)
		return r == -ENAMETOOLONG ? -ERANGE : r;
	ret->kind = TOML_INTEGER;
	strbuf_addf(text, "%" PRId64, ret->integer);
	return 0;
}

static bool take_fraction(struct rest *rest, struct strbuf *text)
{
	if (!take(rest, '.'))
		return true;
	strbuf_addc(text, '.');
	return take_digits(rest, 10, text);
}

static bool take_exponent(struct rest *rest, struct strbuf *text)
{
	if (!take(rest, 'e') && !take(rest, 'E'))
		return true;
	strbuf_addc(text, 'e');
	if (peek(rest) == '+' || peek(rest) == '-')
		strbuf_addc(text, *rest->at++);
	return take_digits(rest, 10, text);
}

static int read_float(struct rest rest, struct toml_scalar *ret, struct strbuf *text)
{
	size_t whole;

	if (peek(&rest) == '+' || peek(&rest) == '-')
		strbuf_addc(text, *rest.at++);
	ret->kind = TOML_FLOAT;
	struct rest word = rest;
	if ((take_word(&word, "inf") || take_word(&word, "nan")) && word.at == word.end) {
		strbuf_add(text, rest.at, 3);
		return 0;
	}
	whole = text->length;
	if (!take_digits(&rest, 10, text))
		return -EINVAL;
	if (text->length - whole > 1 && text->data[whole] == '0')
		return -EINVAL;
	if (!take_fraction(&rest, text) || !take_exponent(&rest, text) || rest.at < rest.end)
		return -EINVAL;
	return 0;
}

static unsigned days_of(unsigned year, unsigned month)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (leap && month == 2);
}

static int take_date(struct rest *rest, struct strbuf *text)
{
	const char *start = rest->at;
	unsigned year, month, day;

	if (!take_number(rest, 4, &year) || !take(rest, '-') || !take_number(rest, 2, &month) ||
	    !take(rest, '-') || !take_number(rest, 2, &day))
		return -EINVAL;
	if (month < 1 || month > 12 || day < 1 || day > days_of(year, month))
		return -ERANGE;
	strbuf_add(text, start, (size_t)(rest->at - start));
	return 0;
}

static int take_time(struct rest *rest, struct strbuf *text)
{
	const char *start = rest->at;
	unsigned hour, minute, second;

	if (!take_number(rest, 2, &hour) || !take(rest, ':') || !take_number(rest, 2, &minute) ||
	    !take(rest, ':') || !take_number(rest, 2, &second))
		return -EINVAL;
	if (take(rest, '.')) {
		if (digit_value(peek(rest)) > 9)
			return -EINVAL;
		while (digit_value(peek(rest)) <= 9)
			rest->at++;
	}
	if (hour > 23 || minute > 59 || second > 60) /* 60: a leap second */
		return -ERANGE;
	strbuf_add(text, start, (size_t)(rest->at - start));
	return 0;
}

static int take_offset(struct rest *rest, struct strbuf *text)
{
	const char *start = rest->at;
	unsigned hour, minute;

	if (take(rest, 'Z') || take(rest, 'z')) {
		strbuf_addc(text, 'Z');
		return 0;
	}
	rest->at++; /* '+' or '-' */
	if (!take_number(rest, 2, &hour) || !take(rest, ':') || !take_number(rest, 2, &minute))
		return -EINVAL;
	if (hour > 23 || minute > 59)
		return -ERANGE;
	strbuf_add(text, start, (size_t)(rest->at - start));
	return 0;
}

static int read_time(struct rest rest, struct toml_scalar *ret, struct strbuf *text)
{
	int r = take_time(&rest, text);

	ret->kind = TOML_LOCAL_TIME;
	return r == 0 && rest.at < rest.end ? -EINVAL : r;
}

static int read_date(struct rest rest, struct toml_scalar *ret, struct strbuf *text)
{
	int r = take_date(&rest, text);

	ret->kind = TOML_LOCAL_DATE;
	if (r < 0 || rest.at == rest.end)
		return r;
	if (!take(&rest, 'T') && !take(&rest, 't') && !take(&rest, ' '))
		return -EINVAL;
	strbuf_addc(text, 'T');
	r = take_time(&rest, text);
	ret->kind = TOML_LOCAL_DATETIME;
	if (r < 0 || rest.at == rest.end)
		return r;
	if (!strchr("Zz+-", *rest.at))
		return -EINVAL;
	ret->kind = TOML_DATETIME;
	r = take_offset(&rest, text);
	return r == 0 && rest.at < rest.end ? -EINVAL : r;
}

static int read_boolean(bool value, struct toml_scalar *ret, struct strbuf *text)
{
	ret->kind = TOML_BOOLEAN;
	ret->integer = value;
	strbuf_adds(text, value ? "true" : "false");
	return 0;
}

static bool token_is(const struct rest *rest, const char *word)
{
	struct rest copy = *rest;

	return take_word(&copy, word) && copy.at == copy.end;
}

/* Is the byte at INDEX of the token, where there is one, this? */
static bool byte_is(const struct rest *rest, size_t index, char byte)
{
	return (size_t)(rest->end - rest->at) > index && rest->at[index] == byte;
}

int toml_scalar_read(const char *token, size_t length, struct toml_scalar *ret, struct strbuf *text)
{
	struct rest rest = { token, token + length };

	if (token_is(&rest, "true"))
		return read_boolean(true, ret, text);
	if (token_is(&rest, "false"))
		return read_boolean(false, ret, text);
	if (byte_is(&rest, 2, ':'))
		return read_time(rest, ret, text);
	if (byte_is(&rest, 4, '-') && digit_value(token[3]) <= 9)
		return read_date(rest, ret, text);
	int r = read_integer(rest, ret, text);
	return r == -EINVAL ? read_float(rest, ret, text) : r;
}
