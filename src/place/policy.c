/* SPDX-License-Identifier: Apache-2.0 */
/* The policies. The rows stand in the order of enum node_policy. */
#include "score.h"

#include <string.h>

const struct score_row score_rows[] = {
	{ "default", score_default },
	{ "random", score_random },
	{ "dotprod", score_dotprod },
	{ "gpuclustering", score_clustering },
	{ "gpupacking", score_packing },
	{ "bestfit", score_bestfit },
	{ "fgd", score_fgd },
	{ "binpack", score_binpack },
	{ "spread", score_spread },
	{ "topology", score_topology },
};

size_t score_row_count(void)
{
	return ARRAY_SIZE(score_rows);
}

const struct score_row *score_row_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(score_rows); i++)
		if (strcmp(score_rows[i].name, name) == 0)
			return &score_rows[i];
	return NULL;
}
