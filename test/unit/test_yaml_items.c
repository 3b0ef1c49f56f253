/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#define LIST "apiVersion: v1\nitems:\n- name: a\n  text: |\n    - x\n    y\n- name: b\nkind: List\n"

/* "NAME:LINE ..." of all items, from a pipe of which the first START bytes were read before. */
static int read_items(const char *text, size_t start, struct strbuf *out, struct error *error)
{
	autoyaml_items *items = NULL;
	size_t length = strlen(text);
	int ends[2], r;

	if (start > length)
		start = length;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text + start, length - start), length - start);
	close(ends[1]);
	r = yaml_items_new(ends[0], "f", text, start, &items, error);
	while (r >= 0) {
		autojson *item = NULL;
		unsigned long line = 0;

		r = yaml_items_next(items, &item, &line, error);
		if (r <= 0)
			break;
		strbuf_addf(out, "%s%s:%lu", out->length ? " " : "",
			    json_get_string(item, "name", "?"), line);
	}
	close(ends[0]);
	return r;
}

static const struct {
	const char *text, *items, *message; /* message NULL: it is read */
} cases[] = {
	{ "", "", NULL },
	{ "# nothing\n---\n", "", NULL },
	{ LIST, "a:3 b:7", NULL },
	{ LIST "---\n" LIST "---\nname: c\n", "a:3 b:7 a:12 b:16 c:19", NULL },
	{ "name: a\n---\nname: b\n...\n", "a:1 b:3", NULL },
	{ "---\r\nitems:\r\n- name: a\r\nkind: List\r\n", "a:3", NULL },
	/* Items that are not at the start of the line, or in brackets: read whole. */
	{ "items:\n  - name: a\n  - name: b\nkind: List\n", "a:2 b:3", NULL },
	{ "items: [{name: a}, 7]\n", "a:1 ?:1", NULL },
	{ "items: []\nkind: List\n", "", NULL },
	{ "kind: List\nitems:\n- name: a\n\n# between\n- name: b", "a:3 b:6", NULL },
	{ "kind: List\nitems:\n- name: a\n- name: [b\n- name: c\n", "a:3",
	  "f:5:1: no valid YAML: while parsing a flow sequence, did not find expected ',' or ']'; "
	  "check indentation, quotes and brackets here" },
	{ "kind: List\nitems:\n- name: a\n-\n\tname: b\n", "a:3",
	  "f:5: no valid YAML: the line is indented with a tab; use spaces" },
	{ "kind: List\nitems:\n- name: a\n- name: \xff\n", "a:3",
	  "f:4: byte 0xff is not valid UTF-8; save the file as UTF-8" },
	{ "apiVersion: v1\nitems:\n- name: a\n", "a:3",
	  "f:3: items end here and 'kind: List' is missing; the text may be cut off" },
};

TEST(yaml_items_cases)
{
	static const size_t starts[] = { 0, 1, 20, 4096 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (size_t k = 0; k < ARRAY_SIZE(starts); k++) {
			struct error error = ERROR_INIT;
			autostrbuf items = STRBUF_INIT(1024);

			int r = read_items(cases[i].text, starts[k], &items, &error);
			assert_string_equal(error.message,
					    cases[i].message ? cases[i].message : "");
			assert_int_equal(r, -error.number);
			assert_string_equal(items.data, cases[i].items);
		}
}

TEST(yaml_items_short_of_memory)
{
	for (unsigned n = 0;; n++) {
		struct error error = ERROR_INIT;
		autostrbuf items = STRBUF_INIT(1024);

		fault_arm(n);
		int r = read_items(LIST "---\nname: c\n", 7, &items, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		/* A line that is not remembered costs nothing but its number. */
		assert_true(r == -ENOMEM || r == 0);
	}
}
