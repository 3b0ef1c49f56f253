/* SPDX-License-Identifier: Apache-2.0 */
/* A picture of all cards: nodes beside each other by model, the fullest first; their cards above
 * each other. */
#include "simulate_plot.h"

#include <string.h>

#include "plot.h"

#define TABLE_MAX  (256u << 20)
#define PANELS_MAX (1u << 16)
#define NAMED_MAX  40 /* so many nodes have their names below them */
#define WIDTH      1500
#define LINE_NODES 320 /* of one line, while there are few lines */
#define LINES_MAX  12
#define GAP        2   /* cells above a line, for the names of models */
#define CELLS_HIGH 520 /* pixels of all lines, if cells do not become too small or large */
#define CELL_LEAST 5
#define CELL_MOST  24
#define MARGIN     150 /* pixels for title, names and axis */
#define LETTER     9   /* pixels */

struct place { /* of a node in the picture */
	size_t node;
	unsigned model, cards, left; /* 1/1000, of all its cards */
	size_t models;               /* nodes of that model */
};

struct picture {
	const struct trace *trace;
	const uint16_t *left; /* of each card */
	struct place *places; /* owned */
	size_t count;
	unsigned cards; /* of the largest node */
	/* Nodes fill lines, each of that many; the last may be shorter. */
	size_t line_nodes, lines;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->models != b->models)
		return a->models > b->models ? -1 : 1;
	if (a->model != b->model)
		return a->model < b->model ? -1 : 1;
	if (a->cards != b->cards)
		return a->cards > b->cards ? -1 : 1;
	if (a->left != b->left)
		return a->left < b->left ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static unsigned cards_of(const struct trace *trace, size_t node)
{
	return trace->first_cards[node + 1] - trace->first_cards[node];
}

static void add_place(struct picture *picture, size_t node, size_t *models)
{
	const struct trace *trace = picture->trace;
	uint32_t first = trace->first_cards[node];
	struct place *place = &picture->places[picture->count++];

	*place = (struct place){ .node = node,
				 .model = trace->card_models[first],
				 .cards = cards_of(trace, node) };
	for (unsigned i = 0; i < place->cards; i++)
		place->left += picture->left[first + i];
	if (place->cards > picture->cards)
		picture->cards = place->cards;
	models[place->model]++;
}

static int picture_make(struct picture *picture, struct error *error)
{
	const struct trace *trace = picture->trace;
	autofree size_t *models = calloc(trace->model_count + 1, sizeof(*models));

	picture->places = calloc(trace->node_count, sizeof(*picture->places));
	if (!models || !picture->places)
		return error_no_memory(error);
	for (size_t i = 0; i < trace->node_count; i++)
		if (cards_of(trace, i))
			add_place(picture, i, models);
	for (size_t i = 0; i < picture->count; i++)
		picture->places[i].models = models[picture->places[i].model];
	picture->lines = (picture->count + LINE_NODES - 1) / LINE_NODES;
	if (picture->lines > LINES_MAX)
		picture->lines = LINES_MAX;
	if (picture->lines)
		picture->line_nodes = (picture->count + picture->lines - 1) / picture->lines;
	qsort(picture->places, picture->count, sizeof(*picture->places), compare_places);
	return 0;
}

static const char *model_of(const struct picture *picture, size_t at)
{
	return picture->trace->nodes[picture->places[at].node].inventory.cards[0].model;
}

static unsigned line_cells(const struct picture *picture)
{
	return picture->cards + GAP;
}

/* Where the first card of a line is drawn; the first line is the highest. */
static unsigned line_base(const struct picture *picture, size_t line)
{
	return (unsigned)(picture->lines - 1 - line) * line_cells(picture);
}

static void add_cell(const struct picture *picture, size_t x, unsigned y, struct strbuf *table)
{
	const struct trace *trace = picture->trace;
	size_t line = picture->lines - 1 - y / line_cells(picture);
	size_t at = line * picture->line_nodes + x;
	unsigned card = y % line_cells(picture);

	strbuf_addf(table, "%zu,%u,", x, y);
	if (at >= picture->count || card >= picture->places[at].cards) {
		strbuf_adds(table, "NaN,,,\n");
		return;
	}
	const struct place *place = &picture->places[at];
	const struct node_spec *node = &trace->nodes[place->node];
	strbuf_addf(table, "%.1f,", picture->left[trace->first_cards[place->node] + card] / 10.0);
	plot_field(table, node->name);
	strbuf_addf(table, ",%u,", card);
	plot_field(table, node->inventory.cards[card].model);
	strbuf_addc(table, '\n');
}

/* A full grid, as a picture needs it: NaN where there is no card. */
static void make_table(const struct picture *picture, struct strbuf *table)
{
	unsigned height = (unsigned)picture->lines * line_cells(picture);

	strbuf_adds(table, "x,y,left_percent,node,card,model\n");
	for (unsigned y = 0; y < height; y++)
		for (size_t x = 0; x < picture->line_nodes; x++)
			add_cell(picture, x, y, table);
}

static size_t line_end(const struct picture *picture, size_t line)
{
	size_t end = (line + 1) * picture->line_nodes;

	return end < picture->count ? end : picture->count;
}

/* The name of a model above its nodes from FIRST to END, where there is room for it. */
static void add_model(const struct picture *picture, size_t line, size_t first, size_t end,
		      struct strbuf *panels)
{
	size_t start = line * picture->line_nodes, nodes = picture->places[first].models;
	unsigned base = line_base(picture, line);
	char text[CARD_MODEL_MAX + 32];

	if (first > start)
		strbuf_addf(panels,
			    "set arrow from %g,%g to %g,%g nohead front linecolor rgb 'white' "
			    "linewidth 3\n",
			    (double)(first - start) - 0.5, base - 0.5,
			    (double)(first - start) - 0.5, base + picture->cards - 0.5);
	bool goes_on = first == start && first &&
		       picture->places[first - 1].model == picture->places[first].model;
	if (goes_on)
		snprintf(text, sizeof(text), "%s, continued", model_of(picture, first));
	else
		snprintf(text, sizeof(text), "%s (%zu node%s)", model_of(picture, first), nodes,
			 nodes == 1 ? "" : "s");
	if ((end - first) * WIDTH / picture->line_nodes < strlen(text) * LETTER)
		snprintf(text, sizeof(text), "%s", model_of(picture, first));
	strbuf_adds(panels, "set label ");
	plot_quote(panels, text);
	strbuf_addf(panels, " at %g,%g left front\n", (double)(first - start) - 0.5,
		    base + picture->cards + 0.1);
}

static void add_line(const struct picture *picture, size_t line, struct strbuf *panels)
{
	size_t first = line * picture->line_nodes, end = line_end(picture, line);
	unsigned base = line_base(picture, line);

	strbuf_addf(panels,
		    "set object rectangle from -0.5,%g to %g,%g behind fillcolor rgb '#e4e4e4' "
		    "fillstyle solid noborder\n",
		    base - 0.5, (double)(end - first) - 0.5, base + picture->cards - 0.5);
	for (size_t at = first, next; at < end; at = next) {
		for (next = at + 1; next < end; next++)
			if (picture->places[next].model != picture->places[at].model)
				break;
		add_model(picture, line, at, next, panels);
	}
}

/* Of few nodes, which are one line. */
static void add_names(const struct picture *picture, struct strbuf *panels)
{
	strbuf_adds(panels, "set xtics rotate by -45 scale 0 (");
	for (size_t i = 0; i < picture->count; i++) {
		plot_quote(panels, picture->trace->nodes[picture->places[i].node].name);
		strbuf_addf(panels, " %zu%s", i, i + 1 < picture->count ? ", " : ")\n");
	}
}

static unsigned picture_height(const struct picture *picture)
{
	unsigned cells = (unsigned)picture->lines * line_cells(picture);
	unsigned high = CELLS_HIGH / cells;

	high = high < CELL_LEAST ? CELL_LEAST : high > CELL_MOST ? CELL_MOST : high;
	return cells * high + MARGIN;
}

static void add_panels(const struct simulate_plot *plot, const struct picture *picture,
		       const char *file, struct strbuf *panels)
{
	strbuf_addf(panels, "reset\nset datafile separator ','\nset palette %s\nset title ",
		    plot_palette);
	plot_quote(panels, plot->title);
	strbuf_addf(panels,
		    "\nset xrange [-0.5:%g]\nset yrange [-0.5:%g]\nset cbrange [0:100]\n"
		    "set cblabel 'left of the card (%%)'\n"
		    "set xlabel 'a column is a node, with its cards above each other; by model, "
		    "size and how full it is'\n"
		    "unset xtics\nunset ytics\nset border 0\nunset key\n",
		    (double)picture->line_nodes - 0.5,
		    (unsigned)picture->lines * line_cells(picture) - 0.5);
	for (size_t i = 0; i < picture->lines; i++)
		add_line(picture, i, panels);
	if (picture->count <= NAMED_MAX)
		add_names(picture, panels);
	strbuf_addf(panels, "plot '%s' skip 1 using 1:2:3 with image\n", file);
}

int simulate_plot_cards(const struct simulate_plot *plot, const struct trace *trace,
			const struct run_result *result, struct error *error)
{
	struct picture picture = { .trace = trace, .left = result->cards_left };
	autostrbuf table = STRBUF_INIT(TABLE_MAX), panels = STRBUF_INIT(PANELS_MAX * 4);
	char name[160], file[176];

	int r = picture_make(&picture, error);
	if (r == 0 && picture.count) {
		snprintf(name, sizeof(name), "%scards", plot->prefix);
		snprintf(file, sizeof(file), "%s.csv", name);
		make_table(&picture, &table);
		add_panels(plot, &picture, file, &panels);
		r = plot_draw(&(struct plot){ .directory = plot->directory,
					      .name = name,
					      .width = WIDTH,
					      .height = picture_height(&picture),
					      .table = &table,
					      .panels = &panels },
			      error);
	}
	free(picture.places);
	return r;
}
