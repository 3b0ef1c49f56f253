/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /metrics says: the table of series and their text in Prometheus' format 0.0.4. What nobody
 * can tell is left out, never 0.
 */
#pragma once

#include <stdint.h>

#include "base/base.h"
#include "model/model.h"

/* Our own series; those of cards with DCGM's names are rows of metrics/cards.c. */
enum metric {
	METRIC_BUILD_INFO,
	METRIC_READY,
	METRIC_WAITING,
	METRIC_START_TIME,
	METRIC_HEAP,
	METRIC_CARDS,
	METRIC_CARD_HEALTH,
	METRIC_CARD_HEALTH_SINCE,
	METRIC_XID_ERRORS,
	METRIC_PROBES,
	METRIC_PROBE_FAILURES,
	METRIC_PROBE_AGE,
	METRIC_PROBE_SECONDS,
	METRIC_PROBE_STUCK,
	METRIC_REGISTRATIONS,
	METRIC_REGISTRATION_FAILURES,
	METRIC_STREAMS,
	METRIC_STREAM_ENDS,
	METRIC_RIVALS,
	METRIC_DEVICES,
	METRIC_HELD,
	METRIC_ALLOCATIONS,
	METRIC_ALLOCATION_SECONDS,
	METRIC_REFUSALS,
	METRIC_LEDGER_FAILURES,
	METRIC_CDI_WRITES,
	METRIC_CDI_FAILURES,
	METRIC_CONFIG_OK,
	METRIC_CONFIG_READS,
	METRIC_POD_DEVICES,
	METRIC_POD_MEMORY,
	METRIC_MAX,
};

struct metric_label {
	const char *name;  /* [a-zA-Z_][a-zA-Z0-9_]* */
	const char *value; /* any text; NULL: the label is left out */
};

struct metrics; /* one answer to a scrape */

struct metrics *metrics_new(void); /* NULL when out of memory */
void metrics_free(struct metrics *metrics);
DEFINE_CLEANUP(struct metrics, metrics_free)

/* -EEXIST: a series of that name and these labels is there already. LABELS end with a NULL name. */
int metrics_add(struct metrics *metrics, enum metric metric, double value,
		const struct metric_label *labels, struct error *error);

/* Who holds a card, for the labels that dashboards of Pods look for. */
struct metrics_holder {
	const char *namespace, *pod, *container;
};

struct metrics_card {
	const struct card *card;
	const struct card_sample *sample;    /* NULL: nothing was told */
	const char *host;                    /* name of the node */
	const char *driver_version;          /* "" unknown */
	const struct metrics_holder *holder; /* the only one; NULL: nobody, or several */
	/* Errors that were reported since somebody listens, or NULL while nobody does. */
	const uint64_t *last_xid;
};

/* Every value of a card that is known, under DCGM's names with the labels of its exporter. */
int metrics_add_card(struct metrics *metrics, const struct metrics_card *card, struct error *error);

/* The whole text: families in order of their tables, only those that have a series. */
int metrics_print(const struct metrics *metrics, struct strbuf *ret, struct error *error);

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* What the table says of a series, for the documentation and its test. NULL: no such row. */
struct metric_description {
	const char *name, *type, *help, *source;
};
const struct metric_description *metrics_describe(size_t at);
