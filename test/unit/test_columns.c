/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>

#include "base/base.h"

static void fill(struct columns *columns)
{
	columns_add(columns, "CARD");
	columns_add(columns, "GIB");
	columns_add(columns, "HOLDER");
	columns_addf(columns, "%u", 0u);
	columns_addf(columns, "%d/%d", 12, 80);
	columns_add(columns, "a b");
	columns_add(columns, "caf\xc3\xa9-1");
	columns_add(columns, NULL);
	columns_add(columns, "\x1b[31mred\n");
}

static const char expected[] = "CARD      GIB  HOLDER\n"
			       "0       12/80  a b\n"
			       "caf\xc3\xa9-1      -  ?[31mred?\n";

TEST(columns_are_aligned)
{
	autocolumns columns = COLUMNS_INIT(3);
	autostrbuf text = STRBUF_INIT(1000);
	autostrbuf short_text = STRBUF_INIT(20);

	columns.right = 1u << 1;
	fill(&columns);
	assert_int_equal(columns_print(&columns, &text, NULL), 0);
	assert_string_equal(text.data, expected);
	assert_int_equal(columns_print(&columns, &short_text, NULL), -ENAMETOOLONG);
}

TEST(columns_survive_every_failed_allocation)
{
	for (unsigned n = 0;; n++) {
		autocolumns columns = COLUMNS_INIT(3);
		autostrbuf text = STRBUF_INIT(1000);

		columns.right = 1u << 1;
		fault_arm(n);
		fill(&columns);
		int r = columns_print(&columns, &text, NULL);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_string_equal(text.data, expected);
			assert_true(n > 10);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}
