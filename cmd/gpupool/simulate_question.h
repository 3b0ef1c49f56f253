/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the questions of a planner: what they read, and what is there when they ask. */
#pragma once

#include "simulate.h"

#define SIMULATE_MODEL_MAX (CARD_MODEL_MAX + 32)

struct simulate_question {
	const char *policy, *ties, *arrival;
	unsigned long seed, top;
	bool csv;
};

/* Rows for a table whose options structure has a `struct simulate_inputs inputs` and a `struct
 * simulate_question question`. */
#define SIMULATE_QUESTION_ROWS(type)                                                            \
	SIMULATE_INPUT_ROWS(type),                                                              \
		{ .name = "arrival",                                                            \
		  .kind = OPTION_STRING,                                                        \
		  .argument = "PERCENT",                                                        \
		  .help = "who does not run yet arrives first, as with 'sim run'; 0: each Pod " \
			  "of the list once",                                                   \
		  .offset = offsetof(type, question.arrival) },                                 \
		{ .name = "policy",                                                             \
		  .kind = OPTION_CHOICE,                                                        \
		  .argument = "NAME",                                                           \
		  .help = "which node and cards when several fit",                              \
		  .offset = offsetof(type, question.policy),                                    \
		  .choices = SIMULATE_POLICIES,                                                 \
		  .fallback = "default" },                                                      \
		{ .name = "ties",                                                               \
		  .kind = OPTION_CHOICE,                                                        \
		  .argument = "RULE",                                                           \
		  .help = "which of the nodes that are alike to the policy",                    \
		  .offset = offsetof(type, question.ties),                                      \
		  .choices = SIMULATE_TIES,                                                     \
		  .fallback = "name" },                                                         \
		{ .name = "seed",                                                               \
		  .kind = OPTION_UINT,                                                          \
		  .argument = "N",                                                              \
		  .help = "of the order of arrival and of whatever is random",                  \
		  .offset = offsetof(type, question.seed),                                      \
		  .fallback = "42" },                                                           \
		{ .name = "csv",                                                                \
		  .kind = OPTION_FLAG,                                                          \
		  .help = "print rows as CSV",                                                  \
		  .offset = offsetof(type, question.csv) },                                     \
	{                                                                                       \
		.name = "top", .kind = OPTION_UINT, .argument = "N",                            \
		.help = "nodes that the table names", .offset = offsetof(type, question.top),   \
		.minimum = 0, .maximum = 1000000, .fallback = "10"                              \
	}

/* *ret_arrive: --arrival was given. -EINVAL: wrong usage of COMMAND. */
int simulate_question_set(const char *command, const struct simulate_inputs *inputs,
			  const struct simulate_question *question, struct run_options *ret,
			  bool *ret_arrive, struct error *error);
/* The Pod that a question is about. */
struct simulate_asked {
	const char *ask, *pod, *pod_file; /* options; one of them */
	struct demand own;                /* what was read of ask or pod_file */
	struct demand demand;             /* borrows of own or of the trace; its object is TEXT */
	char text[REASON_TEXT_MAX];
	uint32_t number; /* with pod: its number in the trace */
	struct string_list notes;
};
/* Rows for a table whose options structure has a `struct simulate_asked asked`. */
#define SIMULATE_ASKED_ROWS(type)                                                    \
	{ .name = "ask",                                                             \
	  .kind = OPTION_STRING,                                                     \
	  .argument = "TEXT",                                                        \
	  .help = "the Pod: '12 GiB', '12 GiB 30 % 4 CPUs', '2 cards', '1 1g.10gb'", \
	  .offset = offsetof(type, asked.ask) },                                     \
		{ .name = "pod",                                                     \
		  .kind = OPTION_STRING,                                             \
		  .argument = "NAME",                                                \
		  .help = "the Pod: one like this one of the input",                 \
		  .offset = offsetof(type, asked.pod) },                             \
	{                                                                            \
		.name = "pod-file", .kind = OPTION_STRING, .argument = "FILE",       \
		.help = "the Pod: a manifest, YAML or JSON",                         \
		.offset = offsetof(type, asked.pod_file)                             \
	}
/* Before anything is read; -EINVAL: wrong usage of COMMAND. */
int simulate_asked_check(const char *command, struct simulate_asked *asked, struct error *error);
/* Reads and chooses; what is not read of a manifest is said. */
int simulate_asked_choose(struct simulate_asked *asked, const struct trace *trace,
			  struct error *error);
/* "2 whole cards, 4 CPUs" */
void simulate_asked_describe(const struct simulate_asked *asked, struct strbuf *text);
void simulate_asked_release(struct simulate_asked *asked);
/* The nodes of a trace, the one with the highest value first. NULL when out of memory. */
uint32_t *simulate_order_nodes(const struct trace *trace, const double *values);
/* "A100", "A100 (79 GiB)" where another model has the same name, or "no card" for a number behind the
 * last. Returns TEXT. */
const char *simulate_model_name(const struct trace *trace, size_t model,
				char text[static SIMULATE_MODEL_MAX]);
