/* SPDX-License-Identifier: Apache-2.0 */
/* The series table and Prometheus' text format. */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "metrics/metrics.h"

#define TEXT_MAX (1u << 20)

static void print(const struct metrics *metrics, struct strbuf *ret)
{
	struct error error = ERROR_INIT;

	assert_int_equal(metrics_print(metrics, ret, &error), 0);
}

static const struct value_case {
	double value;
	const char *text;
} value_cases[] = {
	{ 0, "0" },
	{ 1, "1" },
	{ -3, "-3" },
	{ 81920, "81920" },
	{ 9007199254740991.0, "9007199254740991" },
	{ 18446744073709551616.0, "1.8446744073709552e+19" },
	{ 0.5, "0.5" },
	{ 62.061, "62.061" },
	{ NAN, "NaN" },
	{ INFINITY, "+Inf" },
	{ -INFINITY, "-Inf" },
};

TEST(numbers_are_exact_and_readable)
{
	for (size_t i = 0; i < ARRAY_SIZE(value_cases); i++) {
		cleanup(metrics_freep) struct metrics *metrics = metrics_new();
		autostrbuf text = STRBUF_INIT(TEXT_MAX);
		struct error error = ERROR_INIT;
		char wanted[64];

		assert_int_equal(
			metrics_add(metrics, METRIC_PROBES, value_cases[i].value, NULL, &error), 0);
		print(metrics, &text);
		(void)snprintf(wanted, sizeof(wanted), "\ngpupool_probes_total %s\n",
			       value_cases[i].text);
		if (value_cases[i].value ==
		    62.061) /* the shortest text or the nearest: one number */
			assert_non_null(strstr(text.data, "gpupool_probes_total 62.06"));
		else
			assert_non_null(strstr(text.data, wanted));
	}
}

static const struct label_case {
	const char *value, *text;
} label_cases[] = {
	{ "plain", "plain" },
	{ "", "" },
	{ "back\\slash", "back\\\\slash" },
	{ "a \"quoted\" word", "a \\\"quoted\\\" word" },
	{ "two\nlines", "two\\nlines" },
	{ "a\ttab\x7f", "a?tab\x7f" },
	{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
	/* Not UTF-8: a byte alone, cut short, too long, a surrogate, beyond the end. */
	{ "\xff", "?" },
	{ "x\xc3", "x?" },
	{ "\xc0\xaf", "??" },
	{ "\xe0\x80\x80", "???" },
	{ "\xed\xa0\x80", "???" },
	{ "\xf4\x90\x80\x80", "????" },
};

TEST(labels_are_escaped_and_always_utf8)
{
	for (size_t i = 0; i < ARRAY_SIZE(label_cases); i++) {
		cleanup(metrics_freep) struct metrics *metrics = metrics_new();
		autostrbuf text = STRBUF_INIT(TEXT_MAX), wanted = STRBUF_INIT(TEXT_MAX);
		const struct metric_label labels[] = { { "resource", label_cases[i].value },
						       { "absent", NULL },
						       { NULL, NULL } };
		struct error error = ERROR_INIT;

		assert_int_equal(metrics_add(metrics, METRIC_STREAMS, 1, labels, &error), 0);
		print(metrics, &text);
		strbuf_addf(&wanted, "\ngpupool_streams{resource=\"%s\"} 1\n", label_cases[i].text);
		assert_non_null(strstr(text.data, wanted.data));
	}
}

TEST(families_stand_together_in_order_of_the_table_and_only_where_there_is_a_series)
{
	cleanup(metrics_freep) struct metrics *metrics = metrics_new();
	autostrbuf text = STRBUF_INIT(TEXT_MAX);
	const struct metric_label one[] = { { "resource", "a" }, { NULL, NULL } };
	const struct metric_label two[] = { { "resource", "b" }, { NULL, NULL } };
	struct error error = ERROR_INIT;

	print(metrics, &text);
	assert_string_equal(text.data, "");
	assert_int_equal(metrics_add(metrics, METRIC_STREAMS, 1, one, &error), 0);
	assert_int_equal(metrics_add(metrics, METRIC_PROBES, 7, NULL, &error), 0);
	assert_int_equal(metrics_add(metrics, METRIC_STREAMS, 0, two, &error), 0);
	print(metrics, &text);
	assert_string_equal(
		text.data,
		"# HELP gpupool_probes_total Times that the driver was asked for everything\n"
		"# TYPE gpupool_probes_total counter\n"
		"gpupool_probes_total 7\n"
		"# HELP gpupool_streams 1: the kubelet reads the list of the resource\n"
		"# TYPE gpupool_streams gauge\n"
		"gpupool_streams{resource=\"a\"} 1\n"
		"gpupool_streams{resource=\"b\"} 0\n");
}

TEST(one_series_is_there_once)
{
	cleanup(metrics_freep) struct metrics *metrics = metrics_new();
	const struct metric_label labels[] = { { "resource", "a" }, { NULL, NULL } };
	struct error error = ERROR_INIT;

	assert_int_equal(metrics_add(metrics, METRIC_STREAMS, 1, labels, &error), 0);
	assert_int_equal(metrics_add(metrics, METRIC_STREAMS, 1, labels, &error), -EEXIST);
	assert_int_equal(metrics_add(metrics, METRIC_STREAM_ENDS, 1, labels, &error), 0);
	assert_int_equal(metrics_add(metrics, METRIC_MAX + 1000, 1, labels, &error), -EINVAL);
}

static struct card some_card(void)
{
	struct card card = { .index = 3,
			     .minor = 2,
			     .uuid = "GPU-1",
			     .model = "NVIDIA Test",
			     .bus_id = "0000:0f:00.0" };

	return card;
}

TEST(a_card_has_the_names_units_and_labels_of_dcgm)
{
	cleanup(metrics_freep) struct metrics *metrics = metrics_new();
	autostrbuf text = STRBUF_INIT(TEXT_MAX);
	struct card card = some_card();
	struct card_sample sample = { 0 };
	const struct metrics_holder holder = { "ns", "pod-1", "main" };
	const uint64_t xid = 79;
	struct error error = ERROR_INIT;

	sample.has = 1ull << CARD_VALUE_POWER_USAGE | 1ull << CARD_VALUE_FB_USED;
	sample.values[CARD_VALUE_POWER_USAGE] = 62500;          /* mW */
	sample.values[CARD_VALUE_FB_USED] = 3ull * 1024 * 1024; /* bytes */
	const struct metrics_card of = { .card = &card,
					 .sample = &sample,
					 .host = "node-1",
					 .driver_version = "535.1",
					 .holder = &holder,
					 .last_xid = &xid };
	assert_int_equal(metrics_add_card(metrics, &of, &error), 0);
	print(metrics, &text);
#define LABELS                                                                            \
	"{gpu=\"3\",UUID=\"GPU-1\",pci_bus_id=\"00000000:0F:00.0\",device=\"nvidia2\","   \
	"modelName=\"NVIDIA Test\",Hostname=\"node-1\",DCGM_FI_DRIVER_VERSION=\"535.1\"," \
	"container=\"main\",namespace=\"ns\",pod=\"pod-1\"}"
	assert_non_null(strstr(text.data, "\nDCGM_FI_DEV_POWER_USAGE" LABELS " 62.5\n"));
	assert_non_null(strstr(text.data, "\nDCGM_FI_DEV_FB_USED" LABELS " 3\n"));
	assert_non_null(strstr(text.data, "\nDCGM_FI_DEV_XID_ERRORS" LABELS " 79\n"));
	/* What was not told is absent, and not 0. */
	assert_null(strstr(text.data, "DCGM_FI_DEV_FB_FREE"));
}

TEST(a_card_that_tells_nothing_has_no_series)
{
	cleanup(metrics_freep) struct metrics *metrics = metrics_new();
	autostrbuf text = STRBUF_INIT(TEXT_MAX);
	struct card card = some_card();
	const struct metrics_card of = { .card = &card, .host = "n", .driver_version = "" };
	struct error error = ERROR_INIT;

	assert_int_equal(metrics_add_card(metrics, &of, &error), 0);
	print(metrics, &text);
	assert_string_equal(text.data, "");
}

TEST(each_row_has_a_name_a_type_and_a_help_of_one_line)
{
	const struct metric_description *row;
	automap *names = map_new();
	regex_t form;
	size_t count = 0;

	assert_int_equal(regcomp(&form, "^[a-zA-Z_][a-zA-Z0-9_]*$", REG_EXTENDED | REG_NOSUB), 0);
	for (; (row = metrics_describe(count)); count++) {
		assert_int_equal(regexec(&form, row->name, 0, NULL, 0), 0);
		assert_null(map_get(names, row->name));
		assert_int_equal(map_put(names, row->name, names), 0);
		assert_true(strcmp(row->type, "gauge") == 0 || strcmp(row->type, "counter") == 0);
		assert_true(row->help[0] && !strpbrk(row->help, "\\\n"));
		assert_true(row->source[0]);
	}
	assert_int_equal(count, METRIC_MAX + CARD_VALUE_MAX + 1);
	regfree(&form);
}

TEST(the_documentation_has_each_series_with_its_type)
{
	const struct metric_description *row;
	autofree char *page = NULL;
	struct error error = ERROR_INIT;

	assert_int_equal(file_read(SOURCE_ROOT "/docs/metrics.md", TEXT_MAX, &page, NULL, &error),
			 0);
	for (size_t i = 0; (row = metrics_describe(i)); i++) {
		autostrbuf wanted = STRBUF_INIT(1024);

		strbuf_addf(&wanted, "| `%s` | %s |", row->name, row->type);
		if (!strstr(page, wanted.data))
			fail_msg("docs/metrics.md has no row \"%s\"", wanted.data);
	}
}

TEST(each_allocation_can_fail)
{
	for (unsigned n = 0;; n++) {
		autostrbuf text = STRBUF_INIT(TEXT_MAX);
		struct card card = some_card();
		struct card_sample sample = { .has = ~0ull >> (64 - CARD_VALUE_MAX) };
		const struct metrics_card of = {
			.card = &card, .sample = &sample, .host = "n", .driver_version = ""
		};
		struct error error = ERROR_INIT;
		int r = -ENOMEM;

		fault_arm(n);
		struct metrics *metrics = metrics_new();
		if (metrics)
			r = metrics_add_card(metrics, &of, &error);
		if (r == 0)
			r = metrics_print(metrics, &text, &error);
		bool happened = fault_disarm();
		metrics_free(metrics);
		assert_int_equal(r, happened ? -ENOMEM : 0);
		if (!happened)
			break;
	}
}
