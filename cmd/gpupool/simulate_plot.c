/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate_plot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "plot.h"

#define TABLE_MAX  (256u << 20)
#define PANELS_MAX (1u << 20)
#define FIGURES    2   /* of a curve: allocated, fragmented */
#define CELLS      3   /* of a figure: mean, least, most */
#define ZOOM       0.7 /* the second panel begins at this part of the arrivals */
#define HOUR       3600.0

/* Of the run that came furthest; NULL when none has a reading. */
static const struct run_point *last_point(const struct simulate_curve *curves, size_t count)
{
	const struct run_result *longest = NULL;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < curves[i].count; k++)
			if (!longest || curves[i].runs[k]->point_count > longest->point_count)
				longest = curves[i].runs[k];
	return longest && longest->point_count ? &longest->points[longest->point_count - 1] : NULL;
}

static double figure_of(const struct run_point *point, size_t figure)
{
	return figure == 0 ? point->allocated_percent : point->fragmented_percent;
}

/* "mean,least,most" of the seeds that came that far; NaN when none did. */
static void add_cells(const struct simulate_curve *curve, size_t at, size_t figure,
		      struct strbuf *table)
{
	double sum = 0, least = INFINITY, most = -INFINITY;
	size_t count = 0;

	for (size_t i = 0; i < curve->count; i++) {
		if (at >= curve->runs[i]->point_count)
			continue;
		double value = figure_of(&curve->runs[i]->points[at], figure);

		sum += value;
		least = fmin(least, value);
		most = fmax(most, value);
		count++;
	}
	if (count)
		strbuf_addf(table, ",%.4f,%.4f,%.4f", sum / (double)count, least, most);
	else
		strbuf_adds(table, ",NaN,NaN,NaN");
}

/* The reading number AT of the first run that has it. */
static const struct run_point *point_at(const struct simulate_curve *curves, size_t count,
					size_t at)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < curves[i].count; k++)
			if (at < curves[i].runs[k]->point_count)
				return &curves[i].runs[k]->points[at];
	return NULL;
}

static void make_curve_table(const struct simulate_plot *plot, const struct simulate_curve *curves,
			     size_t count, size_t figure, struct strbuf *table)
{
	static const char *const names[] = { "allocated", "fragmented" };
	const struct run_point *point;

	strbuf_adds(table, plot->replay ? "hours" : "arrived_percent");
	for (size_t i = 0; i < count; i++)
		strbuf_addf(table, ",%s %s_percent,%s least,%s most", curves[i].policy,
			    names[figure], curves[i].policy, curves[i].policy);
	strbuf_addc(table, '\n');
	for (size_t at = 0; (point = point_at(curves, count, at)); at++) {
		strbuf_addf(table, "%.4f",
			    plot->replay ? (double)point->time / HOUR : point->arrived_percent);
		for (size_t i = 0; i < count; i++)
			add_cells(&curves[i], at, figure, table);
		strbuf_addc(table, '\n');
	}
}

/* The bands between least and most first, so that no line is hidden. */
static void add_curves(const char *file, const struct simulate_curve *curves, size_t count,
		       bool titles, struct strbuf *panels)
{
	strbuf_adds(panels, "plot ");
	for (size_t i = 0; i < count; i++)
		if (curves[i].count > 1)
			strbuf_addf(panels,
				    "'%s' skip 1 using 1:%zu:%zu with filledcurves notitle "
				    "fillcolor rgb '%s' fillstyle transparent solid 0.18 "
				    "noborder, \\\n",
				    file, 3 + i * CELLS, 4 + i * CELLS, plot_colour(i));
	for (size_t i = 0; i < count; i++) {
		strbuf_addf(panels,
			    "'%s' skip 1 using 1:%zu with lines linecolor rgb '%s' linewidth 2 "
			    "dashtype %zu ",
			    file, 2 + i * CELLS, plot_colour(i), 1 + i / PLOT_COLOURS);
		if (titles) {
			strbuf_adds(panels, "title ");
			plot_quote(panels, curves[i].policy);
		} else {
			strbuf_adds(panels, "notitle");
		}
		strbuf_adds(panels, i + 1 < count ? ", \\\n" : "\n");
	}
}

static void add_axes(const struct simulate_plot *plot, const char *what, struct strbuf *panels)
{
	strbuf_addf(panels,
		    "reset\nset datafile separator ','\n"
		    "set grid linecolor rgb '#dddddd' linetype 1\n"
		    "set border 3\n"
		    "set tics nomirror out\n"
		    "set xlabel '%s'\n"
		    "set ylabel '%s'\n",
		    plot->replay ? "time since the first arrival (hours)"
				 : "asked for by all that arrived (% of all cards)",
		    what);
}

static void add_title(const struct simulate_plot *plot, const char *what, const char *command,
		      struct strbuf *panels)
{
	autostrbuf title = STRBUF_INIT(1024);

	strbuf_addf(&title, "%s: %s", what, plot->title);
	strbuf_adds(panels, command);
	plot_quote(panels, strbuf_failed(&title) < 0 ? what : title.data);
	strbuf_addc(panels, '\n');
}

/* All arrivals at the left, at the right those where policies differ. */
static void add_allocation(const struct simulate_plot *plot, const struct simulate_curve *curves,
			   size_t count, const char *file, double last, struct strbuf *panels)
{
	add_axes(plot, "allocated (% of all cards)", panels);
	if (plot->replay) {
		add_title(plot, "Allocation", "set title ", panels);
		strbuf_adds(panels, "set key outside right top Left reverse\nset yrange [0:*]\n");
		add_curves(file, curves, count, true, panels);
		return;
	}
	add_title(plot, "Allocation", "set multiplot layout 1,2 title ", panels);
	strbuf_adds(panels, "set key left top Left reverse\nset yrange [0:100]\n");
	strbuf_addf(panels, "set xrange [0:%g]\n", last);
	strbuf_addf(panels,
		    "set arrow 1 from 0,0 to %g,%g nohead linecolor rgb '#888888' dashtype 3 "
		    "back\n",
		    fmin(last, 100), fmin(last, 100));
	add_curves(file, curves, count, true, panels);
	strbuf_addf(panels, "unset arrow 1\nset yrange [*:*]\nset xrange [%g:%g]\n", last * ZOOM,
		    last);
	add_curves(file, curves, count, false, panels);
	strbuf_adds(panels, "unset multiplot\n");
}

static void add_fragmentation(const struct simulate_plot *plot, const struct simulate_curve *curves,
			      size_t count, const char *file, double last, struct strbuf *panels)
{
	add_axes(plot, "free, and of no use to the expected Pods (% of all cards)", panels);
	add_title(plot, "Fragmentation", "set title ", panels);
	strbuf_adds(panels, "set key outside right top Left reverse\nset yrange [0:*]\n");
	if (!plot->replay)
		strbuf_addf(panels, "set xrange [0:%g]\n", last);
	add_curves(file, curves, count, true, panels);
}

int simulate_plot_curves(const struct simulate_plot *plot, const struct simulate_curve *curves,
			 size_t count, struct error *error)
{
	static const char *const names[FIGURES] = { "allocation", "fragmentation" };
	const struct run_point *last = last_point(curves, count);
	int r = 0;

	if (!last)
		return 0;
	for (size_t figure = 0; figure < FIGURES && r == 0; figure++) {
		autostrbuf table = STRBUF_INIT(TABLE_MAX), panels = STRBUF_INIT(PANELS_MAX);
		char name[160], file[176];

		snprintf(name, sizeof(name), "%s%s", plot->prefix, names[figure]);
		snprintf(file, sizeof(file), "%s.csv", name);
		make_curve_table(plot, curves, count, figure, &table);
		if (figure == 0)
			add_allocation(plot, curves, count, file, last->arrived_percent, &panels);
		else
			add_fragmentation(plot, curves, count, file, last->arrived_percent,
					  &panels);
		r = plot_draw(&(struct plot){ .directory = plot->directory,
					      .name = name,
					      .width = figure == 0 ? 1200 : 900,
					      .height = 520,
					      .table = &table,
					      .panels = &panels },
			      error);
	}
	return r;
}

void simulate_plot_describe(const struct run_options *options, size_t count, uint64_t last,
			    char *ret, size_t size)
{
	char arrival[64] = "each Pod of the list once", seeds[64];

	if (options->replay)
		snprintf(arrival, sizeof(arrival), "arrivals and ends by time");
	else if (options->arrival)
		snprintf(arrival, sizeof(arrival), "%u %% arrive", options->arrival);
	if (count > 1)
		snprintf(seeds, sizeof(seeds), "mean of %zu seeds, %" PRIu64 " to %" PRIu64, count,
			 options->place.seed, last);
	else
		snprintf(seeds, sizeof(seeds), "seed %" PRIu64, last);
	snprintf(ret, size, "%s, %s%s", seeds, arrival,
		 options->original ? ", as the published simulator" : "");
}

int simulate_plot_fail(int result, const struct error *error)
{
	return fail(result == -ENOENT ? EXIT_RIGHTS : EXIT_FAILED, error);
}

static void describe_runs(const struct run_options *options, size_t count, char *ret, size_t size)
{
	const struct policy_options *place = &options->place;
	char rest[128];

	simulate_plot_describe(options, count, options[count - 1].place.seed, rest, sizeof(rest));
	snprintf(ret, size, "policy %s, ties %s, %s", node_policy_to_string(place->policy),
		 tie_rule_to_string(place->ties), rest);
}

int simulate_plot_runs(const char *directory, const struct trace *trace,
		       const struct run_options *options, const struct run_result *results,
		       size_t count)
{
	autofree const struct run_result **runs = calloc(count, sizeof(*runs));
	const struct simulate_curve curve = {
		.policy = node_policy_to_string(options->place.policy), .runs = runs, .count = count
	};
	char title[256], cards[256], all[300];
	const struct simulate_plot plot = {
		.directory = directory, .prefix = "", .title = title, .replay = options->replay
	};
	struct simulate_plot picture = plot;
	struct error error = ERROR_INIT;

	if (!runs) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	for (size_t i = 0; i < count; i++)
		runs[i] = &results[i];
	describe_runs(options, count, title, sizeof(title));
	describe_runs(options, 1, cards, sizeof(cards));
	snprintf(all, sizeof(all), "What is left of each card: %s", cards);
	picture.title = all;
	int r = simulate_plot_curves(&plot, &curve, 1, &error);
	if (r == 0 && results[0].cards_left)
		r = simulate_plot_cards(&picture, trace, &results[0], &error);
	return r < 0 ? simulate_plot_fail(r, &error) : EXIT_DONE;
}
