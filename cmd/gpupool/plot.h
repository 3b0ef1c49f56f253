/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures by gnuplot, a program that is looked for in PATH. What it drew from lies beside the
 * pictures: NAME.csv and NAME.gnuplot, so that anybody can draw it otherwise.
 */
#pragma once

#include "gpupool.h"

#define PLOT_COLOURS 7
/* Told apart by people who see few colours (Okabe and Ito, Color Universal Design). */
const char *plot_colour(size_t number);
/* Dark to bright, also without colours (viridis, by S. van der Walt and N. Smith, CC0). */
extern const char plot_palette[];

/* Appends TEXT as a string of gnuplot's, in quotes. */
void plot_quote(struct strbuf *script, const char *text);
/* Appends TEXT as a field of a CSV file. */
void plot_field(struct strbuf *table, const char *text);

/*
 * Writes NAME.csv and NAME.gnuplot to DIRECTORY, which is made, and runs the script there:
 * PANELS, the commands of one picture WIDTH by HEIGHT, go to NAME.svg and NAME.png. -ENOENT when
 * there is no gnuplot: the files for it are written, and the message says what to install.
 */
struct plot {
	const char *directory, *name;
	unsigned width, height;
	struct strbuf *table, *panels;
};
int plot_draw(const struct plot *plot, struct error *error);
