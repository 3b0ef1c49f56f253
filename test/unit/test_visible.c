/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "base/base.h"

static const struct {
	const char *name, *text, *line, *lines;
} cases[] = {
	{ "empty", "", "", "" },
	{ "plain", "card 0", "card 0", "card 0" },
	{ "letters", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", NULL, NULL },
	{ "C0", "\x1b[31m\a\r\t", "?[31m???", "?[31m???" },
	{ "lines", "a\nb", "a?b", "a\nb" },
	{ "delete", "a\x7f", "a?", "a?" },
	{ "C1", "a\xc2\x9b\x31", "a?1", "a?1" },
	{ "first after C1", "\xc2\xa0", NULL, NULL },
	{ "right to left",
	  "\xe2\x80\xae"
	  "a\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c",
	  "?a???", "?a???" },
	{ "line separator",
	  "a\xe2\x80\xa8"
	  "b",
	  "a?b", "a?b" },
	{ "mark",
	  "\xef\xbb\xbf"
	  "a",
	  "?a", "?a" },
	{ "no UTF-8",
	  "\xff\x80"
	  "a\xc3",
	  "??a?", "??a?" },
	{ "cut", "a\xe2\x82", "a??", "a??" },
	{ "too long form", "\xc0\x8a", "??", "??" },
};

TEST(text_make_visible_replaces_what_a_terminal_obeys)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int lines = 0; lines < 2; lines++) {
			autofree char *text = strdup(cases[i].text);
			const char *wanted = lines ? cases[i].lines : cases[i].line;

			assert_non_null(text);
			text_make_visible(text, lines);
			if (strcmp(text, wanted ? wanted : cases[i].text) != 0)
				fail_msg("%s: '%s'", cases[i].name, text);
		}
	}
}
