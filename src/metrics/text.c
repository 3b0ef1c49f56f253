/* SPDX-License-Identifier: Apache-2.0 */
/* Prometheus' text format 0.0.4 (prometheus/docs, exposition_formats.md). */
#include "metrics/internal.h"

#include <math.h>
#include <string.h>

#define SERIES_MAX 4096u /* bytes of a name with its labels */

struct series {
	size_t family;
	double value;
	char *text; /* owned: the name with its labels */
};

struct metrics {
	struct series *items; /* owned, in order of addition */
	size_t count, capacity;
	struct map *seen; /* owned: the texts */
};

struct metrics *metrics_new(void)
{
	struct metrics *metrics = calloc(1, sizeof(*metrics));

	if (metrics)
		metrics->seen = map_new();
	if (metrics && !metrics->seen) {
		free(metrics);
		return NULL;
	}
	return metrics;
}

void metrics_free(struct metrics *metrics)
{
	if (!metrics)
		return;
	for (size_t i = 0; i < metrics->count; i++)
		free(metrics->items[i].text);
	free(metrics->items);
	map_free(metrics->seen);
	free(metrics);
}

/* A scraper drops the whole answer for one byte that is not UTF-8. */
static void add_value(struct strbuf *to, const char *value)
{
	size_t length = strlen(value);

	for (size_t at = 0; at < length;) {
		size_t end = at + (size_t)parse_utf8_prefix(value + at, length - at);

		for (; at < end; at++) {
			if (value[at] == '\\' || value[at] == '"')
				strbuf_addf(to, "\\%c", value[at]);
			else if (value[at] == '\n')
				strbuf_adds(to, "\\n");
			else
				strbuf_addc(to, (unsigned char)value[at] < ' ' ? '?' : value[at]);
		}
		if (at < length) {
			strbuf_addc(to, '?');
			at++;
		}
	}
}

static void add_series(struct strbuf *to, const char *name, const struct metric_label *labels)
{
	char before = '{';

	strbuf_adds(to, name);
	for (; labels && labels->name; labels++) {
		if (!labels->value)
			continue;
		strbuf_addf(to, "%c%s=\"", before, labels->name);
		add_value(to, labels->value);
		strbuf_addc(to, '"');
		before = ',';
	}
	if (before == ',')
		strbuf_addc(to, '}');
}

int metrics_add_family(struct metrics *metrics, size_t family, double value,
		       const struct metric_label *labels, struct error *error)
{
	const struct metric_description *row = metrics_describe(family);
	autostrbuf text = STRBUF_INIT(SERIES_MAX);

	if (!row)
		return error_set(error, EINVAL, "there is no series of number %zu", family);
	add_series(&text, row->name, labels);
	if (strbuf_failed(&text) == -ENAMETOOLONG)
		return error_set(error, ENAMETOOLONG, "the labels of %s are longer than %u bytes",
				 row->name, SERIES_MAX);
	if (strbuf_failed(&text) < 0)
		return error_no_memory(error);
	if (map_get(metrics->seen, text.data))
		return error_set(error, EEXIST, "the series %s is there already", text.data);
	if (vec_reserve(&metrics->items, &metrics->capacity, metrics->count + 1,
			sizeof(*metrics->items)) < 0 ||
	    map_put(metrics->seen, text.data, metrics) < 0)
		return error_no_memory(error);
	struct series *series = &metrics->items[metrics->count++];
	series->family = family;
	series->value = value;
	series->text = strbuf_detach(&text);
	return 0;
}

int metrics_add(struct metrics *metrics, enum metric metric, double value,
		const struct metric_label *labels, struct error *error)
{
	return metrics_add_family(metrics, (size_t)metric, value, labels, error);
}

static void add_number(struct strbuf *to, double value)
{
	if (isnan(value))
		strbuf_adds(to, "NaN");
	else if (isinf(value))
		strbuf_adds(to, value > 0 ? "+Inf" : "-Inf");
	else if (value == floor(value) && fabs(value) < 9007199254740992.0)
		strbuf_addf(to, "%.0f", value);
	else
		strbuf_addf(to, "%.17g", value);
}

/* All series of a family stand together, below its two lines. */
static void print_family(const struct metrics *metrics, size_t family,
			 const struct metric_description *row, struct strbuf *to)
{
	bool first = true;

	for (size_t i = 0; i < metrics->count; i++) {
		const struct series *series = &metrics->items[i];

		if (series->family != family)
			continue;
		if (first)
			strbuf_addf(to, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help,
				    row->name, row->type);
		first = false;
		strbuf_addf(to, "%s ", series->text);
		add_number(to, series->value);
		strbuf_addc(to, '\n');
	}
}

int metrics_print(const struct metrics *metrics, struct strbuf *ret, struct error *error)
{
	const struct metric_description *row;

	for (size_t family = 0; (row = metrics_describe(family)); family++)
		print_family(metrics, family, row, ret);
	if (strbuf_failed(ret) == -ENAMETOOLONG)
		return error_set(error, EFBIG, "the metrics are longer than %zu bytes",
				 ret->maximum);
	return strbuf_failed(ret) < 0 ? error_no_memory(error) : 0;
}
