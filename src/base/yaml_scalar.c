/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain scalars mean what they mean to kubectl, so that one file says the same to both. kubectl
 * reads YAML with sigs.k8s.io/yaml, which stands on a fork of go-yaml v2 (goyaml.v2/resolve.go):
 * YAML 1.1 words (yes, on, off, y, n) are booleans, 010 is octal, 1_000 is 1000, dates are strings.
 * Two things differ on purpose: decimal integers too large for 64 bits are refused by the caller
 * (there they are rounded), and a fraction keeps the digits that were written. What a double cannot
 * hold is a string, as there: 7e4925 may well be a commit.
 * Results compared with sigs.k8s.io/yaml v1.6.0; the table is in test/unit/test_yaml.c.
 */
#include "base/yaml_scalar.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* How to add a word: one row, and one in test_yaml.c with what kubectl makes of it. */
static const struct word_row {
	enum scalar_kind kind;
	const char *words; /* between blanks */
} word_rows[] = {
	{ SCALAR_NULL, " ~ null Null NULL " },
	{ SCALAR_TRUE, " true True TRUE yes Yes YES on On ON y Y " },
	{ SCALAR_FALSE, " false False FALSE no No NO off Off OFF n N " },
	{ SCALAR_NO_JSON, " .nan .NaN .NAN .inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF " },
};

#define WORD_MAX 5

static bool words_have(const char *words, const char *text)
{
	char wanted[WORD_MAX + 3] = " ";
	size_t length = strlen(text);

	memcpy(wanted + 1, text, length);
	wanted[length + 1] = ' ';
	wanted[length + 2] = '\0';
	return strstr(words, wanted) != NULL;
}

static const char *skip_digits(const char *text)
{
	return text + strspn(text, "0123456789");
}

static const struct base_row {
	const char *prefix;
	int base;
} base_rows[] = {
	{ "0x", 16 }, { "0X", 16 }, { "0b", 2 }, { "0B", 2 }, { "0o", 8 }, { "0O", 8 }, { "0", 8 },
};

/* Integers that are not in base 10, as Go's strconv.ParseInt() with base 0 reads them; what does not
 * fit 64 bits is no integer. */
static bool based_integer(const char *text, bool negative, struct strbuf *number)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < ARRAY_SIZE(base_rows); i++) {
		const struct base_row *row = &base_rows[i];
		size_t skip = strlen(row->prefix);
		char allowed[17] = "";

		memcpy(allowed, digits, (size_t)row->base);
		if (strncmp(text, row->prefix, skip) != 0 || !text[skip])
			continue;
		uint64_t value = 0;
		bool large = false;
		for (const char *at = text + skip; *at; at++) {
			const char *found = strchr(allowed, *at | (*at >= 'A' ? 0x20 : 0));

			if (!found)
				return false;
			large |= __builtin_mul_overflow(value, (uint64_t)row->base, &value);
			value += (uint64_t)(found - allowed);
		}
		if (large)
			return false;
		strbuf_addf(number, "%s%llu", negative && value ? "-" : "",
			    (unsigned long long)value);
		return true;
	}
	return false;
}

/* The parts of a decimal: 012.50e+3 is whole "12", fraction "50", exponent "+3". */
struct decimal {
	const char *whole, *fraction, *exponent; /* exponent NULL when there is none */
	size_t whole_length, fraction_length;
};

/* [0-9]* [. [0-9]*] [e [+-] [0-9]+], with a digit before the exponent. */
static bool decimal_split(const char *text, struct decimal *ret)
{
	const char *end = skip_digits(text);
	const char *fraction = *end == '.' ? end + 1 : end;
	const char *fraction_end = *end == '.' ? skip_digits(fraction) : fraction;

	if (end == text && fraction_end == fraction)
		return false;
	ret->whole = text + strspn(text, "0");
	ret->whole_length = (size_t)(end - ret->whole);
	ret->fraction = fraction;
	ret->fraction_length = (size_t)(fraction_end - fraction);
	ret->exponent = NULL;
	if (!*fraction_end)
		return true;
	if (*fraction_end != 'e' && *fraction_end != 'E')
		return false;
	ret->exponent = fraction_end + 1;
	const char *first = ret->exponent + (*ret->exponent == '+' || *ret->exponent == '-');
	return *first && !*skip_digits(first);
}

/* Writes it as JSON does. */
static bool decimal(const char *text, bool negative, struct strbuf *number)
{
	struct decimal parts;

	if (!decimal_split(text, &parts))
		return false;
	/* The integer -0 is 0, the fraction -0. is not. */
	bool zero = !parts.whole_length && !parts.exponent && !strchr(text, '.');
	if (negative && !zero)
		strbuf_addc(number, '-');
	if (parts.whole_length)
		strbuf_add(number, parts.whole, parts.whole_length);
	else
		strbuf_addc(number, '0');
	if (parts.fraction_length) {
		strbuf_addc(number, '.');
		strbuf_add(number, parts.fraction, parts.fraction_length);
	}
	if (parts.exponent)
		strbuf_addf(number, "e%s", parts.exponent);
	return true;
}

static bool is_digit(char character)
{
	return character >= '0' && character <= '9';
}

/* go-yaml drops all underscores, but in what starts with a point only those between digits. */
static bool add_without_underscores(struct strbuf *plain, const char *text)
{
	bool everywhere = *text != '.';

	for (const char *at = text; *at; at++)
		if (*at != '_')
			strbuf_addc(plain, *at);
		else if (!everywhere && !(is_digit(at[-1]) && is_digit(at[1])))
			return false;
	return true;
}

/* A fraction that a double cannot hold; integers are checked where they are made. */
static bool overflows(const char *number)
{
	return strpbrk(number, ".e") && !isfinite(strtod(number, NULL));
}

enum scalar_kind scalar_resolve(const char *text, struct strbuf *number)
{
	autostrbuf plain = STRBUF_INIT(number->maximum);

	if (!*text)
		return SCALAR_NULL;
	if (strlen(text) <= WORD_MAX && !strchr(text, ' '))
		for (size_t i = 0; i < ARRAY_SIZE(word_rows); i++)
			if (words_have(word_rows[i].words, text))
				return word_rows[i].kind;
	if (!strchr("+-.0123456789", *text) ||
	    strspn(text, "+-.0123456789_abcdefABCDEFoOxX") != strlen(text))
		return SCALAR_STRING;
	if (!add_without_underscores(&plain, text))
		return SCALAR_STRING;
	if (strbuf_failed(&plain) < 0) {
		number->failed = plain.failed;
		return SCALAR_NUMBER;
	}
	bool negative = *plain.data == '-';
	const char *digits = plain.data + (negative || *plain.data == '+');
	if (!based_integer(digits, negative, number) && !decimal(digits, negative, number))
		return SCALAR_STRING;
	if (!overflows(number->data))
		return SCALAR_NUMBER;
	strbuf_reset(number);
	return SCALAR_STRING;
}

/*
 * The fewest digits that give VALUE back as a 32-bit float, in Go's form for 'g' (strconv): with an
 * exponent below 1e-4 and from 1e+6 on, in plain digits between.
 */
static void shortest_float(float value, char *ret, size_t size)
{
	int digits = 0;

	do
		snprintf(ret, size, "%.*e", digits, (double)value);
	while (strtof(ret, NULL) != value && ++digits < 9);
	long exponent = strtol(strchr(ret, 'e') + 1, NULL, 10);
	if (exponent >= -4 && exponent < 6)
		snprintf(ret, size, "%.*f", digits > exponent ? (int)(digits - exponent) : 0,
			 (double)value);
}

void scalar_fraction_key(const char *text, struct strbuf *key)
{
	const char *digits = text + strspn(text, "+-");
	float value = strtof(digits, NULL);
	char shortest[32] = "";

	if (*text == '-')
		strbuf_addc(key, '-');
	if (digits[0] == '.' && (digits[1] | 0x20) == 'n') {
		strbuf_adds(key, ".nan");
	} else if ((digits[0] == '.' && (digits[1] | 0x20) == 'i') || isinf(value)) {
		strbuf_adds(key, ".inf");
	} else {
		shortest_float(value, shortest, sizeof(shortest));
		strbuf_adds(key, shortest);
	}
}
