/* SPDX-License-Identifier: Apache-2.0 */
/* Messages found in text, however it was wrapped, quoted or cut into pieces. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/matcher.h"

static void feed(struct matcher *matcher, const char *text, size_t length, size_t piece)
{
	uint64_t number = 1;

	assert_int_equal(matcher_source(matcher, "log"), 0);
	for (size_t at = 0; at < length;) {
		const char *end = memchr(text + at, '\n', length - at);
		size_t count = end ? (size_t)(end - text) - at : length - at;

		for (size_t i = 0; i < count; i += piece)
			assert_int_equal(matcher_text(matcher, text + at + i,
						      count - i < piece ? count - i : piece,
						      number),
					 0);
		at += count + 1;
		if (end) {
			assert_int_equal(matcher_newline(matcher), 0);
			number++;
		}
	}
	assert_int_equal(matcher_end(matcher), 0);
}

static struct matcher *matcher_of(const char *pattern)
{
	struct error error = ERROR_INIT;
	struct matcher *matcher = matcher_new();
	unsigned number = 99;

	assert_non_null(matcher);
	if (matcher_add(matcher, pattern, &number, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(number, 0);
	assert_int_equal(matcher_build(matcher), 0);
	return matcher;
}

/* LINE 0: not found. */
static const struct {
	const char *pattern, *text;
	uint64_t line;
} cases[] = {
	{ "Driver/library version mismatch", "Failed: Driver/library version mismatch\n", 1 },
	{ "Driver/library version mismatch", "a\nb\n  driver/LIBRARY version   mismatch.", 3 },
	{ "Driver/library version mismatch", "Driver/library\n    version mism\natch", 1 },
	{ "Driver/library version mismatch", "Driver/library vers1on mismatch", 0 },
	{ "Driver/library version mismatch", "Driver/library version mismatc", 0 },
	{ "Driver/library version mismatch", "", 0 },
	/* Edges of words. */
	{ "no devices found", "casino devices found", 0 },
	{ "no devices found", "there were no devices found!", 1 },
	{ "no devices found", "no devices foundation", 0 },
	{ "ERROR_LIBRARY_NOT_FOUND", "NVML: NVML_ERROR_LIBRARY_NOT_FOUND", 1 },
	{ "nvidia.com/gpu", "nvidia.com/gpus", 0 },
	{ "nvidia.com/gpu", "nvidia.com/gpu: 1", 1 },
	{ "nvidia.com/gpu:", "nvidia.com/gpu:1", 1 },
	{ "Xid: 79", "Xid: 791", 0 },
	{ "unknown device", "xunknown device", 0 },
	{ "unknown device", "x unknown device", 1 },
	{ "unknown device", "x\nunknown device", 2 },
	{ "unknown device", "\xe9\x94\x99unknown device", 1 },
	/* Quotation marks and escapes. */
	{ "unknown device \"nvidia.com/gpu\"", "x: unknown device 'nvidia.com/gpu'", 1 },
	{ "unknown device nvidia.com/gpu", "\"m\":\"unknown device \\\"nvidia.com/gpu\\\"\"", 1 },
	{ "failed to initialize NVML", "\"first\\nFailed to initialize NVML\\n\"", 1 },
	{ "failed to initialize NVML", "\\\\nFailed to\\tinitialize NVML", 1 },
	{ "unsatisfied condition: cuda>=", "unsatisfied condition: cuda\\u003e=12.2", 1 },
	{ "no runtime for \"nvidia\" is configured",
	  "no runtime for \xe2\x80\x9cnvidia\xe2\x80\x9d\xc2\xa0is configured", 1 },
	{ "no runtime for nvidia", "> no runtime\n> for nvidia", 1 },
	{ "no runtime for nvidia", "no runtime > for nvidia", 0 },
	/* Gaps. */
	{ "Xid (*): 79", "too short a piece Xid (", 0 },
	{ "NVRM: Xid (*): 79", "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen", 1 },
	{ "NVRM: Xid (*): 79", "NVRM: Xid (PCI:0000:3b:00): 179, GPU", 0 },
	{ "NVRM: Xid (*): 79", "NVRM: Xid (): 79", 1 },
	{ "failed to * device", "failed to\nget the\ndevice", 1 },
	{ "failed to * device", "failed to get\n\nthe device", 0 },
	{ "failed to * device", "failed to get\n \t \nthe device", 0 },
	{ "get * of the thing * there", "get a of the thing b there", 1 },
	{ "a * middle piece * b", "x a 1 a 2 middle piece 3 b", 1 },
	{ "a * middle piece * b", "a 1 middle 2 piece 3 b", 0 },
	/* Numbers. */
	{ "driver # is too old", "driver 470.57.02 is too old", 1 },
	{ "driver # is too old", "driver is too old", 0 },
	{ "driver # is too old", "driver x1 is too old", 0 },
	{ "requests #", "requests 12, and", 1 },
	{ "requests #", "requests 12a", 0 },
	{ "requests #", "requests a", 0 },
	{ "version #.json", "version 1.2.json", 1 },
	/* Bytes of other alphabets are compared as they are. */
	{ "\xe6\x98\xbe\xe5\x8d\xa1\xe4\xb8\x8d", "x \xe6\x98\xbe \xe5\x8d\xa1\xe4\xb8\x8d y", 1 },
};

TEST(messages_are_found_as_they_stand)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (strcmp(cases[i].pattern, "Xid (*): 79") == 0 ||
		    strcmp(cases[i].pattern, "Xid: 79") == 0)
			continue; /* refused, see below */
		for (size_t piece = 1; piece < 100; piece += 49) {
			cleanup(matcher_freep) struct matcher *matcher =
				matcher_of(cases[i].pattern);

			feed(matcher, cases[i].text, strlen(cases[i].text), piece);
			const struct matcher_hit *hit = matcher_hit(matcher, 0);
			if (hit->source ? hit->line != cases[i].line : cases[i].line != 0)
				fail_msg("row %zu, \"%s\" in \"%s\": %s, line %llu", i,
					 cases[i].pattern, cases[i].text,
					 hit->source ? "found" : "not found",
					 (unsigned long long)hit->line);
		}
	}
}

static const char *const refused[] = {
	"",
	"short",
	"a * b",
	"* begins with it",
	"ends with it *",
	"1 2 3 4 5",
	"# # # #",
	"Xid: *: (*) ; *",
	"gap after gap * * * * * * * of it",
};

TEST(patterns_that_would_be_found_everywhere_are_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		cleanup(matcher_freep) struct matcher *matcher = matcher_new();
		struct error error = ERROR_INIT;
		unsigned number;

		if (matcher_add(matcher, refused[i], &number, &error) != -EINVAL)
			fail_msg("\"%s\" was taken", refused[i]);
		assert_true(error.message[0]);
	}
}

TEST(a_gap_has_an_end)
{
	for (size_t length = MATCHER_GAP - 1; length <= MATCHER_GAP + 1; length++) {
		cleanup(matcher_freep) struct matcher *matcher = matcher_of("begins * ends here");
		char text[512];

		(void)snprintf(text, sizeof(text), "begins %0*d ends here", (int)length, 0);
		feed(matcher, text, strlen(text), 4096);
		assert_int_equal(matcher_hit(matcher, 0)->source != NULL, length <= MATCHER_GAP);
	}
}

TEST(one_pattern_is_one)
{
	cleanup(matcher_freep) struct matcher *matcher = matcher_new();
	struct error error = ERROR_INIT;
	unsigned first, second, third;

	assert_int_equal(matcher_add(matcher, "Failed to initialize", &first, &error), 0);
	assert_int_equal(matcher_add(matcher, "failed to \"initialize\"", &second, &error), 0);
	assert_int_equal(matcher_add(matcher, "failed to initialise", &third, &error), 0);
	assert_int_equal(first, second);
	assert_int_not_equal(first, third);
}

/* A message at every distance from the window's edges, with its line and its text. */
TEST(a_message_is_found_wherever_the_window_ends)
{
	static char text[60000];

	for (size_t at = 100; at < sizeof(text) - 200; at += 97) {
		cleanup(matcher_freep) struct matcher *matcher =
			matcher_of("cannot open * at address #");
		const char *message = "cannot open the device at address 0.5";
		size_t length = strlen(message);

		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = (char)(i % 50 == 49 ? '\n' : i % 7 ? 'x' : ' ');
		text[at - 1] = '\n';
		memcpy(text + at, message, length);
		text[at + length] = '\n';
		uint64_t line = 1;
		for (size_t i = 0; i < at; i++)
			line += text[i] == '\n';
		feed(matcher, text, sizeof(text), 4096);
		const struct matcher_hit *hit = matcher_hit(matcher, 0);
		if (!hit->source || hit->line != line)
			fail_msg("at %zu: %s, line %llu instead of %llu", at,
				 hit->source ? "found" : "not found", (unsigned long long)hit->line,
				 (unsigned long long)line);
		assert_string_equal(hit->source, "log");
		assert_int_equal(strncmp(hit->text, message, 11), 0);
	}
}

/* Floods of what falls away neither fill the window nor hide a message. */
TEST(floods_of_nothing_hide_no_message)
{
	static const char *const floods[] = { " ",   "\"",      "\\",       "\n",
					      "\n ", "\\u0020", "\xc2\xa0", "x\"" };

	for (size_t i = 0; i < ARRAY_SIZE(floods); i++) {
		cleanup(matcher_freep) struct matcher *matcher = matcher_of("nothing is here");
		autostrbuf text = STRBUF_INIT(8u << 20);

		strbuf_adds(&text, "nothing");
		for (unsigned n = 0; n < 100000 && strcmp(floods[i], "x\"") != 0; n++)
			strbuf_adds(&text, floods[i]);
		strbuf_adds(&text, "\nis here ");
		for (unsigned n = 0; n < 300000; n++)
			strbuf_adds(&text, floods[i]);
		assert_int_equal(strbuf_failed(&text), 0);
		feed(matcher, text.data, text.length, 4096);
		if (!matcher_hit(matcher, 0)->source)
			fail_msg("not found in a flood of \"%s\"", floods[i]);
		assert_int_equal(matcher_hit(matcher, 0)->line, 1);
	}
}

TEST(no_message_goes_from_one_text_to_the_next)
{
	cleanup(matcher_freep) struct matcher *matcher = matcher_of("one message only");

	feed(matcher, "one message", 11, 64);
	feed(matcher, "only", 4, 64);
	assert_null(matcher_hit(matcher, 0)->source);
}

TEST(what_is_shown_of_a_long_line_begins_with_the_message)
{
	cleanup(matcher_freep) struct matcher *matcher = matcher_of("here it is");
	static char text[9000];

	memset(text, 'a', sizeof(text));
	memcpy(text + 5000, " here it is, and more ", 22);
	feed(matcher, text, sizeof(text), 4096);
	const struct matcher_hit *hit = matcher_hit(matcher, 0);
	assert_non_null(hit->source);
	assert_int_equal(strncmp(hit->text, "here it is, and", 15), 0);
	assert_true(hit->length <= MATCHER_QUOTE);
}

/* The same, the long way: letters a and b, digits, dots, blanks and line ends; '*' and '#'. */
struct naive {
	char text[256];                   /* without blanks */
	bool blank[257], empty_line[257]; /* before that character */
	size_t length;
};

static void naive_fold(struct naive *naive, const char *text)
{
	bool line_empty = true;

	memset(naive, 0, sizeof(*naive));
	for (; *text; text++) {
		if (*text == '\n') {
			naive->empty_line[naive->length] |= line_empty;
			line_empty = true;
		}
		if (*text == ' ' || *text == '\n') {
			naive->blank[naive->length] = true;
			continue;
		}
		line_empty = false;
		naive->text[naive->length++] = *text;
	}
}

static bool naive_word(char c)
{
	return c != '.' && c != '\0';
}

static bool naive_fits(const struct naive *naive, const char *pattern, size_t at, char before)
{
	size_t end;

	while (*pattern == ' ')
		pattern++;
	switch (*pattern) {
	case '\0':
		return at == naive->length || naive->blank[at] || !naive_word(before) ||
		       !naive_word(naive->text[at]);
	case '*':
		for (end = at; end <= naive->length && end - at <= MATCHER_GAP; end++) {
			if (naive->empty_line[end])
				return false;
			if (naive_fits(naive, pattern + 1, end, 'a'))
				return true;
		}
		return false;
	case '#':
		for (end = at; end < naive->length && strchr("01.", naive->text[end]); end++)
			if (naive_fits(naive, pattern + 1, end + 1, '1'))
				return true;
		return false;
	default:
		return at < naive->length && naive->text[at] == *pattern &&
		       naive_fits(naive, pattern + 1, at + 1, *pattern);
	}
}

static bool naive_find(const struct naive *naive, const char *pattern)
{
	for (size_t at = 0; at < naive->length; at++)
		if ((at == 0 || naive->blank[at] || !naive_word(*pattern) ||
		     !naive_word(naive->text[at - 1])) &&
		    naive_fits(naive, pattern, at, 'a'))
			return true;
	return false;
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 16;
}

static void random_text(uint32_t *state, const char *alphabet, size_t length, char *ret)
{
	for (size_t i = 0; i < length; i++)
		ret[i] = alphabet[next_random(state) % strlen(alphabet)];
	ret[length] = '\0';
}

/* PATTERN somewhere in TEXT, with its gaps and numbers filled, so that half of all are found. */
static void plant(uint32_t *state, const char *pattern, char *text)
{
	size_t length = strlen(text), at = next_random(state) % length;

	for (; *pattern && at < length; pattern++) {
		if (*pattern == '*')
			at += next_random(state) % 5;
		else if (*pattern == '#')
			text[at++] = '0';
		else
			text[at++] = *pattern;
		if (next_random(state) % 16 == 0)
			at++;
	}
}

TEST(random_texts_agree_with_the_long_way)
{
	const char *scale = getenv("GPUPOOL_TEST_SCALE");
	unsigned rounds = scale && strcmp(scale, "100") == 0 ? 500000 : 5000;
	unsigned found = 0, missed = 0, refused_patterns = 0;
	uint32_t seed = 7;

	for (unsigned round = 0; round < rounds; round++) {
		cleanup(matcher_freep) struct matcher *matcher = matcher_new();
		char pattern[32], text[128];
		struct naive naive;
		unsigned number;

		random_text(&seed, "aaaab", 6, pattern);
		random_text(&seed, "ab01 *#.", 1 + next_random(&seed) % 6, pattern + 6);
		random_text(&seed, "aaab01.  \n", 100, text);
		if (round % 2)
			plant(&seed, pattern, text);
		if (matcher_add(matcher, pattern, &number, NULL) < 0) {
			refused_patterns++;
			continue;
		}
		assert_int_equal(matcher_build(matcher), 0);
		feed(matcher, text, strlen(text), 1 + next_random(&seed) % 40);
		naive_fold(&naive, text);
		bool wanted = naive_find(&naive, pattern);
		if (wanted != (matcher_hit(matcher, number)->source != NULL))
			fail_msg("round %u, \"%s\" in \"%s\": %s", round, pattern, text,
				 wanted ? "not found" : "found");
		found += wanted;
		missed += !wanted;
	}
	print_message("# %u found, %u not, %u patterns refused\n", found, missed, refused_patterns);
	assert_true(found > rounds / 20 && missed > rounds / 20);
}

TEST(short_of_memory_is_said)
{
	for (unsigned n = 0;; n++) {
		cleanup(matcher_freep) struct matcher *matcher = NULL;
		struct error error = ERROR_INIT;
		unsigned number;
		int r = -ENOMEM;

		fault_arm(n);
		matcher = matcher_new();
		if (matcher)
			r = matcher_add(matcher, "message of a program", &number, &error);
		if (r == 0)
			r = matcher_build(matcher);
		if (r == 0)
			r = matcher_source(matcher, "x");
		if (r == 0)
			r = matcher_text(matcher, "message of a program", 20, 1);
		if (r == 0)
			r = matcher_end(matcher);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_non_null(matcher_hit(matcher, 0)->source);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}
