/* SPDX-License-Identifier: Apache-2.0 */
/* What --plot draws of runs: curves of allocation and fragmentation, and the cards. */
#pragma once

#include "simulate.h"

struct simulate_curve { /* one policy on one list */
	const char *policy;
	const struct run_result *const *runs; /* one a seed; their points are read */
	size_t count;
};

struct simulate_plot {
	const char *directory;
	const char *prefix; /* of the files' names, "" or "default-" */
	const char *title;
	bool replay; /* over time, not arrivals */
};

#define SIMULATE_PLOT_ROW(type)                                                              \
	{                                                                                    \
		.name = "plot", .kind = OPTION_STRING, .argument = "DIR",                    \
		.help = "draw SVG and PNG files there, by gnuplot, with the figures as CSV", \
		.offset = offsetof(type, plot)                                               \
	}

/* PREFIXallocation and PREFIXfragmentation: means of the seeds, and between which bounds they lie.
 * Nothing is drawn of runs without a reading. */
int simulate_plot_curves(const struct simulate_plot *plot, const struct simulate_curve *curves,
			 size_t count, struct error *error);
/* PREFIXcards: what is left of each card at the end of a run, which has kept it. */
int simulate_plot_cards(const struct simulate_plot *plot, const struct trace *trace,
			const struct run_result *result, struct error *error);
/* "seed 42, 130 % arrive": OPTIONS of the first of COUNT runs, LAST the last one's seed. */
void simulate_plot_describe(const struct run_options *options, size_t count, uint64_t last,
			    char *ret, size_t size);
/* Says what went wrong; the exit code for it. */
int simulate_plot_fail(int result, const struct error *error);
/* All of 'sim run': one policy, an option and a result a seed. The exit code. */
int simulate_plot_runs(const char *directory, const struct trace *trace,
		       const struct run_options *options, const struct run_result *results,
		       size_t count);
