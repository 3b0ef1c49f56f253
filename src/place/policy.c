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

static const char *const tie_rule_table[TIE_MAX] = {
	[TIE_NAME] = "name",
	[TIE_RANDOM] = "random",
	[TIE_BESTFIT] = "bestfit",
};
DEFINE_STRING_TABLE(tie_rule, enum tie_rule, TIE_MAX)

const char *node_policy_to_string(enum node_policy policy)
{
	return (int)policy >= 0 && policy < NODE_POLICY_MAX ? score_rows[policy].name : NULL;
}

enum node_policy node_policy_from_string(const char *text)
{
	for (size_t i = 0; text && i < ARRAY_SIZE(score_rows); i++)
		if (strcmp(score_rows[i].name, text) == 0)
			return (enum node_policy)i;
	return NODE_POLICY_INVALID;
}

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
