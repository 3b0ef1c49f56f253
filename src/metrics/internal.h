/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/metrics.h"

/* A family is a row of one of the two tables: own ones first, then those of cards. */
int metrics_add_family(struct metrics *metrics, size_t family, double value,
		       const struct metric_label *labels, struct error *error);

#define FAMILY_OF_CARDS ((size_t)METRIC_MAX)

const struct metric_description *metrics_describe_own(size_t at);
const struct metric_description *metrics_describe_card(size_t at);
