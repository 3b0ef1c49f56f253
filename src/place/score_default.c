/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default policy: keep what the expected Pods would pay most for.
 *
 * Each class of the workload has a price, found before the first decision by filling the empty
 * cluster on paper: a price falls while more of the class fits in than is expected, and rises
 * while less does (subgradient steps on the dual of a cutting stock problem). What is left on a
 * node is worth what the best filling of it would pay, at the CPU price that makes that least. A
 * Pod goes where this value falls least; fragments as in fgd, a best fit and a price for kinds of
 * nodes that few others can stand in for decide between the rest. docs/placement.md has the
 * derivation and says what the constants do.
 */
#include "score.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LANES     ((int)CPU_LANES)
#define CELLS     100 /* a card is cut into cells of 10 milli */
#define CELL      ((int)MILLI_WHOLE / CELLS)
#define WHOLE_MAX ((int)NODE_CARDS_MAX)

/* The weights of the terms. */
#define WEIGHT_VALUE (WORTH_CARD / SHARE_ONE)
#define WEIGHT_FIT   419430 /* 0.4 */
#define WEIGHT_RARE  943718 /* 0.9 */
#define WEIGHT_CRUMB 16     /* where CPU is short, on that of fit */

/* The search for prices. */
#define STEPS       500
#define STEP_SIZE   2
#define STEP_OFFSET 20
#define DAMPING     10      /* per mille of all expected Pods */
#define PRICE_CARD  1363149 /* the highest price: 1.3 a card */
#define PRICE_CPU   2097    /* and 0.002 a CPU */
#define CPU_WIDEST  83886   /* the highest CPU price above the lowest: 0.08 a CPU */
#define PRICED      0.99    /* of the classes, by Pods and by cards */

#define CPU_COUNTED (1 << 22) /* milli; more is not worth more: the sums stay in 32 bits */
#define KINDS_MAX   256u
#define DEMAND_ONE  256 /* fixed point of numbers of Pods */

struct priced {
	int64_t cpu_milli;
	double share;
	int64_t demand; /* Pods, when they ask for as much as there is */
	int64_t supply, sum;
	int32_t price, highest;
	int cards, milli;
};

struct value_tables {
	int64_t cpu_price[LANES];            /* 1/256 of a value per milli */
	int32_t card[CELLS + 1][LANES];      /* of a card, by what is left of it */
	int32_t whole[WHOLE_MAX + 1][LANES]; /* of so many untouched cards of one node */
	struct board_kind kinds[KINDS_MAX];
	int32_t rare[KINDS_MAX]; /* what a card of the kind costs on top */
	size_t kind_count;
	int64_t crumb; /* milli of CPU; no Pod without cards fits into less. 0: CPU is not short */
};

/* The best that a Pod of a size pays, at each CPU price. */
struct offers {
	int32_t card[CELLS + 1][LANES], several[WHOLE_MAX + 1][LANES];
	int sizes[CELLS], size_count;
};

struct pricing {
	struct value_tables *tables;
	struct priced *items; /* owned */
	size_t count;
	int cards_max; /* of a node */
	struct offers offers;
};

static int64_t clip_cpu(int64_t cpu)
{
	return cpu > CPU_COUNTED ? CPU_COUNTED : cpu < 0 ? 0 : cpu;
}

static int cells_of(int milli)
{
	return (milli + CELL - 1) / CELL;
}

static size_t kind_of(const struct value_tables *tables, const struct board *board)
{
	size_t kind = 0;

	for (; kind + 1 < tables->kind_count; kind++) {
		const struct board_kind *at = &tables->kinds[kind];

		if (at->cpu_total == board->cpu_total && at->cards == board->count &&
		    (board->count == 0 || at->model == board->models[0]))
			break;
	}
	return kind;
}

/* More kinds than there is room for share the last. */
static void count_kinds(struct value_tables *tables, const struct board *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct board *node = &nodes[i];
		struct board_kind kind = { node->cpu_total, node->count, node->models[0], 0 };
		size_t at = 0;

		for (; at < tables->kind_count; at++)
			if (tables->kinds[at].cpu_total == kind.cpu_total &&
			    tables->kinds[at].cards == kind.cards &&
			    (kind.cards == 0 || tables->kinds[at].model == kind.model))
				break;
		if (at == tables->kind_count && at < KINDS_MAX)
			tables->kinds[tables->kind_count++] = kind;
		else if (at == KINDS_MAX)
			at--;
		tables->kinds[at].copies++;
	}
}

static double kind_milli(const struct board_kind *kind)
{
	return (double)kind->copies * kind->cards * MILLI_WHOLE;
}

static bool kind_holds(const struct board_kind *kind, const struct piece *piece)
{
	return piece->cpu_milli <= kind->cpu_total && piece->cards <= kind->cards &&
	       piece->milli[kind->model] > 0;
}

/* Nodes that do not count their CPU have enough. */
static bool is_cpu_short(const struct value_tables *tables, const struct targets *targets)
{
	double cpu = 0, milli = 0, cpu_asked = 0, milli_asked = 0;

	for (size_t k = 0; k < tables->kind_count; k++) {
		if (tables->kinds[k].cpu_total == RESOURCE_UNLIMITED)
			return false;
		cpu += (double)tables->kinds[k].copies * (double)tables->kinds[k].cpu_total;
		milli += kind_milli(&tables->kinds[k]);
	}
	for (size_t i = 0; i < targets->count; i++) {
		const struct target *target = &targets->items[i];

		cpu_asked += target->share * (double)target->piece.cpu_milli;
		milli_asked += target->share * target->size * target->piece.cards;
	}
	return milli_asked > 0 && cpu_asked * milli > cpu * milli_asked;
}

/*
 * What only part of the cluster can hold is spread over that part; the kinds that get much of it,
 * and have few to stand in for them, are rare.
 */
static void price_rare(struct value_tables *tables, const struct targets *targets)
{
	double load[KINDS_MAX] = { 0 }, all = 0, asked = 0;

	for (size_t k = 0; k < tables->kind_count; k++)
		all += kind_milli(&tables->kinds[k]);
	for (size_t i = 0; i < targets->count; i++)
		asked += targets->items[i].share * targets->items[i].size *
			 targets->items[i].piece.cards;
	for (size_t i = 0; i < targets->count && asked > 0; i++) {
		const struct target *target = &targets->items[i];
		double room = 0, milli = target->share * target->size * target->piece.cards;

		if (target->piece.cards == 0)
			continue;
		for (size_t k = 0; k < tables->kind_count; k++)
			if (kind_holds(&tables->kinds[k], &target->piece))
				room += kind_milli(&tables->kinds[k]);
		if (room <= 0 || room >= all)
			continue;
		for (size_t k = 0; k < tables->kind_count; k++)
			if (kind_holds(&tables->kinds[k], &target->piece))
				load[k] += milli / asked * (all / room) * ((all - room) / all);
	}
	for (size_t k = 0; k < tables->kind_count; k++) {
		double part = load[k] > 1 ? 1 : load[k];

		tables->rare[k] = (int32_t)(WEIGHT_RARE * part);
	}
}

/* What a Pod pays for cards, its CPU taken off. */
static int32_t net_price(const struct pricing *pricing, const struct priced *item, int lane)
{
	return item->price - (int32_t)((pricing->tables->cpu_price[lane] * item->cpu_milli) >> 8);
}

static void collect_offers(struct pricing *pricing)
{
	struct offers *offers = &pricing->offers;

	memset(offers, 0, sizeof(*offers));
	for (size_t i = 0; i < pricing->count; i++) {
		const struct priced *item = &pricing->items[i];
		int32_t *best;

		if (item->cards == 0)
			continue;
		best = item->cards == 1 ? offers->card[cells_of(item->milli)]
					: offers->several[item->cards];
		for (int lane = 0; lane < LANES; lane++) {
			int32_t net = net_price(pricing, item, lane);

			best[lane] = net > best[lane] ? net : best[lane];
		}
	}
	for (int size = 1; size <= CELLS; size++) {
		int32_t any = 0;

		for (int lane = 0; lane < LANES; lane++)
			any |= offers->card[size][lane];
		if (any)
			offers->sizes[offers->size_count++] = size;
	}
}

static void raise_to_sum(int32_t *values, const int32_t *a, const int32_t *b)
{
	for (int lane = 0; lane < LANES; lane++) {
		int32_t sum = a[lane] + b[lane];

		values[lane] = sum > values[lane] ? sum : values[lane];
	}
}

/* Two knapsacks: one card, and the untouched cards of a node. */
static void fill_tables(struct pricing *pricing)
{
	const struct offers *offers = &pricing->offers;
	struct value_tables *tables = pricing->tables;

	collect_offers(pricing);
	memset(tables->card[0], 0, sizeof(tables->card[0]));
	for (int left = 1; left <= CELLS; left++) {
		memcpy(tables->card[left], tables->card[left - 1], sizeof(tables->card[left]));
		for (int i = 0; i < offers->size_count && offers->sizes[i] <= left; i++)
			raise_to_sum(tables->card[left], offers->card[offers->sizes[i]],
				     tables->card[left - offers->sizes[i]]);
	}
	memset(tables->whole[0], 0, sizeof(tables->whole[0]));
	for (int cards = 1; cards <= pricing->cards_max; cards++) {
		memset(tables->whole[cards], 0, sizeof(tables->whole[cards]));
		raise_to_sum(tables->whole[cards], tables->whole[cards - 1], tables->card[CELLS]);
		for (int used = 2; used <= cards; used++)
			raise_to_sum(tables->whole[cards], offers->several[used],
				     tables->whole[cards - used]);
	}
}

static int64_t pays_for_cpu(const struct priced *item)
{
	return item->cards == 0 && item->cpu_milli > 0
		       ? (int64_t)item->price * 256 / item->cpu_milli
		       : 0;
}

/* The lowest is what the best CPU-only class pays; the others rise with the square. */
static void set_cpu_prices(struct pricing *pricing)
{
	const int64_t widest = CPU_WIDEST * 256ll / 1000;
	int64_t lowest = 0;

	for (size_t i = 0; i < pricing->count; i++) {
		int64_t pays = pays_for_cpu(&pricing->items[i]);

		lowest = pays > lowest ? pays : lowest;
	}
	for (int lane = 0; lane < LANES; lane++)
		pricing->tables->cpu_price[lane] =
			lowest + widest * lane * lane / ((LANES - 1) * (LANES - 1));
}

static struct priced *find_offer(const struct pricing *pricing, int cards, int cells, int lane,
				 int32_t net)
{
	for (size_t i = 0; i < pricing->count; i++) {
		struct priced *item = &pricing->items[i];

		if (item->cards == cards && (cards > 1 || cells_of(item->milli) == cells) &&
		    net_price(pricing, item, lane) == net)
			return item;
	}
	return NULL;
}

struct filling {
	struct pricing *pricing;
	int lane;
	int64_t copies;
	int64_t cpu_used;
};

static void fill_in(struct filling *filling, int cards, int cells, int32_t net)
{
	struct priced *item = find_offer(filling->pricing, cards, cells, filling->lane, net);

	if (!item)
		return;
	item->supply += filling->copies * DEMAND_ONE;
	filling->cpu_used += item->cpu_milli;
}

static void fill_card(struct filling *filling)
{
	const struct value_tables *tables = filling->pricing->tables;
	const struct offers *offers = &filling->pricing->offers;
	int lane = filling->lane;

	for (int left = CELLS; left > 0 && tables->card[left][lane] > 0;) {
		int32_t value = tables->card[left][lane];
		int i = 0, size = 0;

		if (value == tables->card[left - 1][lane]) {
			left--;
			continue;
		}
		for (; i < offers->size_count; i++) {
			size = offers->sizes[i];
			if (size <= left && offers->card[size][lane] > 0 &&
			    value == offers->card[size][lane] + tables->card[left - size][lane])
				break;
		}
		fill_in(filling, 1, size, offers->card[size][lane]);
		left -= size;
	}
}

static void fill_cards(struct filling *filling, int cards)
{
	const struct value_tables *tables = filling->pricing->tables;
	const struct offers *offers = &filling->pricing->offers;
	int lane = filling->lane;

	while (cards > 0) {
		int32_t value = tables->whole[cards][lane];
		int used = 2;

		if (value == tables->whole[cards - 1][lane] + tables->card[CELLS][lane]) {
			fill_card(filling);
			cards--;
			continue;
		}
		while (used < cards &&
		       value != offers->several[used][lane] + tables->whole[cards - used][lane])
			used++;
		fill_in(filling, used, 0, offers->several[used][lane]);
		cards -= used;
	}
}

/* At the lowest price the CPU that is left goes to the CPU-only classes that pay it. */
static void fill_cpu(struct filling *filling, int64_t cpu)
{
	struct pricing *pricing = filling->pricing;
	int64_t lowest = pricing->tables->cpu_price[0], asked = 0;

	if (filling->lane != 0 || filling->cpu_used >= cpu || lowest <= 0)
		return;
	for (size_t i = 0; i < pricing->count; i++)
		if (pays_for_cpu(&pricing->items[i]) * 50 > lowest * 49)
			asked +=
				pricing->items[i].demand * pricing->items[i].cpu_milli / DEMAND_ONE;
	for (size_t i = 0; i < pricing->count && asked > 0; i++)
		if (pays_for_cpu(&pricing->items[i]) * 50 > lowest * 49)
			pricing->items[i].supply += filling->copies * (cpu - filling->cpu_used) *
						    pricing->items[i].demand / asked;
}

static void fill_kind(struct pricing *pricing, const struct board_kind *kind)
{
	const struct value_tables *tables = pricing->tables;
	struct filling filling = { .pricing = pricing, .copies = kind->copies };
	int64_t cpu = clip_cpu(kind->cpu_total), least = INT64_MAX;

	for (int lane = 0; lane < LANES; lane++) {
		int64_t value =
			((tables->cpu_price[lane] * cpu) >> 8) + tables->whole[kind->cards][lane];

		if (value < least) {
			least = value;
			filling.lane = lane;
		}
	}
	fill_cards(&filling, (int)kind->cards);
	fill_cpu(&filling, cpu);
}

static int compare_weights(const void *a, const void *b, void *context)
{
	const double *sums = context; /* of cards asked */
	const struct priced *left = a, *right = b;
	double gap = right->share * (1 + right->cards * right->milli / sums[0]) -
		     left->share * (1 + left->cards * left->milli / sums[0]);

	return gap > 1e-12 ? 1 : gap < -1e-12 ? -1 : 0;
}

/* One price for all card models: what they do not accept is a matter of the rare kinds. */
static void merge_models(struct pricing *pricing, const struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++) {
		const struct target *target = &targets->items[i];
		struct priced item = { .cpu_milli = clip_cpu(target->piece.cpu_milli),
				       .share = target->share,
				       .cards = (int)target->piece.cards,
				       .milli = (int)target->size };
		size_t at = 0;

		if (item.cards > pricing->cards_max || (item.cards > 0 && item.milli == 0))
			continue;
		for (; at < pricing->count; at++)
			if (pricing->items[at].cpu_milli == item.cpu_milli &&
			    pricing->items[at].cards == item.cards &&
			    pricing->items[at].milli == item.milli)
				break;
		if (at == pricing->count)
			pricing->items[pricing->count++] = item;
		else
			pricing->items[at].share += item.share;
	}
}

static double milli_asked(const struct pricing *pricing) /* by the mean Pod */
{
	double asked = 0;

	for (size_t i = 0; i < pricing->count; i++)
		asked +=
			pricing->items[i].share * pricing->items[i].cards * pricing->items[i].milli;
	return asked > 0 ? asked : 1;
}

/* Rare Pods of many cards count by their cards, too. */
static void keep_priced(struct pricing *pricing)
{
	double sum = milli_asked(pricing), got = 0;
	size_t kept = 0;

	qsort_r(pricing->items, pricing->count, sizeof(*pricing->items), compare_weights, &sum);
	while (kept < pricing->count && got < 2 * PRICED) {
		const struct priced *item = &pricing->items[kept++];

		got += item->share * (1 + item->cards * item->milli / sum);
	}
	pricing->count = kept;
}

/* Of the classes without cards; 0 when there are none. */
static int64_t smallest_cpu(const struct pricing *pricing)
{
	int64_t smallest = 0;

	for (size_t i = 0; i < pricing->count; i++)
		if (pricing->items[i].cards == 0 && pricing->items[i].cpu_milli > 0 &&
		    (smallest == 0 || pricing->items[i].cpu_milli < smallest))
			smallest = pricing->items[i].cpu_milli;
	return smallest;
}

static void set_demand(struct pricing *pricing, double asked)
{
	double room = 0;

	for (size_t k = 0; k < pricing->tables->kind_count; k++)
		room += kind_milli(&pricing->tables->kinds[k]);
	for (size_t i = 0; i < pricing->count; i++) {
		struct priced *item = &pricing->items[i];
		int64_t milli = (int64_t)item->cards * item->milli;

		item->demand = (int64_t)(item->share * room / asked * DEMAND_ONE);
		item->demand = item->demand < 1 ? 1 : item->demand;
		item->highest = (int32_t)(PRICE_CARD * milli / MILLI_WHOLE +
					  PRICE_CPU * item->cpu_milli / 1000);
		item->price = item->highest / 4 * 3;
	}
}

static void find_prices(struct pricing *pricing)
{
	int64_t all = 0;

	for (size_t i = 0; i < pricing->count; i++)
		all += pricing->items[i].demand;
	for (int step = 0; step < STEPS; step++) {
		set_cpu_prices(pricing);
		fill_tables(pricing);
		for (size_t k = 0; k < pricing->tables->kind_count; k++)
			fill_kind(pricing, &pricing->tables->kinds[k]);
		for (size_t i = 0; i < pricing->count; i++) {
			struct priced *item = &pricing->items[i];
			int64_t price =
				item->price - (int64_t)item->highest * STEP_SIZE *
						      (item->supply - item->demand) /
						      ((item->demand + all * DAMPING / 1000) *
						       (STEP_OFFSET + step));

			price = price > item->highest ? item->highest : price;
			item->price = (int32_t)(price < 0 ? 0 : price);
			item->sum += step >= STEPS / 2 ? item->price : 0;
			item->supply = 0;
		}
	}
	for (size_t i = 0; i < pricing->count; i++)
		pricing->items[i].price = (int32_t)(pricing->items[i].sum / (STEPS - STEPS / 2));
	set_cpu_prices(pricing);
	fill_tables(pricing);
}

int value_build(struct value_tables **ret, const struct targets *targets, const struct board *nodes,
		size_t node_count)
{
	struct value_tables *tables = calloc(1, sizeof(*tables));
	struct pricing *pricing = calloc(1, sizeof(*pricing));
	double asked;

	if (pricing)
		pricing->items = calloc(targets->count + 1, sizeof(*pricing->items));
	if (!tables || !pricing || !pricing->items) {
		if (pricing)
			free(pricing->items);
		free(pricing);
		free(tables);
		return -ENOMEM;
	}
	pricing->tables = tables;
	count_kinds(tables, nodes, node_count);
	price_rare(tables, targets);
	for (size_t k = 0; k < tables->kind_count; k++)
		if ((int)tables->kinds[k].cards > pricing->cards_max)
			pricing->cards_max = (int)tables->kinds[k].cards;
	merge_models(pricing, targets);
	asked = milli_asked(pricing);
	keep_priced(pricing);
	tables->crumb = is_cpu_short(tables, targets) ? smallest_cpu(pricing) : 0;
	set_demand(pricing, asked);
	find_prices(pricing);
	free(pricing->items);
	free(pricing);
	*ret = tables;
	return 0;
}

void value_free(struct value_tables *tables)
{
	free(tables);
}

static void add_card(int32_t *sums, const int32_t *card)
{
	for (int lane = 0; lane < LANES; lane++)
		sums[lane] += card[lane];
}

static int64_t least(const int32_t *sums, const int32_t *more)
{
	int32_t least = INT32_MAX;

	for (int lane = 0; lane < LANES; lane++) {
		int32_t sum = sums[lane] + more[lane];

		least = sum < least ? sum : least;
	}
	return least;
}

/* The sums of what is in use, and how many cards are not. */
static unsigned sum_used(const struct value_tables *tables, const struct board *board, int64_t cpu,
			 int32_t *sums)
{
	unsigned untouched = 0;

	for (int lane = 0; lane < LANES; lane++)
		sums[lane] = (int32_t)((tables->cpu_price[lane] * clip_cpu(cpu)) >> 8);
	for (unsigned i = 0; i < board->count; i++) {
		if (board->left[i] == MILLI_WHOLE)
			untouched++;
		else if (board->left[i] >= CELL)
			add_card(sums, tables->card[board->left[i] / CELL]);
	}
	return untouched;
}

int64_t value_of(const struct value_tables *tables, const struct board *board)
{
	int32_t sums[LANES];
	unsigned untouched = sum_used(tables, board, board->cpu_left, sums);

	return least(sums, tables->whole[untouched]);
}

int32_t value_rare(const struct value_tables *tables, const struct board *board)
{
	return tables->rare[kind_of(tables, board)];
}

void score_memo_fill(const struct score_tables *tables, const struct board *board,
		     struct score_memo *ret)
{
	const struct value_tables *value = tables->value;

	sum_used(value, board, 0, ret->sums);
	ret->value = value_of(value, board);
	ret->rare = value_rare(value, board);
	fgd_memo_fill(tables->fgd, board, ret);
}

static int64_t fit_of(const struct board *board, int64_t sum)
{
	int64_t cpu = board->cpu_left == RESOURCE_UNLIMITED ? 0 : board->cpu_left;

	return (cpu + 16 * sum) * WEIGHT_FIT / 128000;
}

static int64_t weigh(int64_t value, int64_t fragment, int64_t fit)
{
	return WEIGHT_VALUE * value + fragment / (int64_t)MILLI_WHOLE - fit;
}

static int64_t crumbs(const struct value_tables *tables, int64_t cpu)
{
	return cpu < tables->crumb ? cpu : 0;
}

/*
 * What is off for a Pod without cards. They spare cards, and take CPU where there are none left. Where
 * CPU is what runs out they alone would pay for that; what they leave on a node is to serve another
 * one of them, or to be next to nothing.
 */
static int64_t value_crumbs(const struct value_tables *tables, const struct board *board,
			    const struct piece *piece)
{
	if (!tables->crumb || piece->cards > 0)
		return 0;
	return (crumbs(tables, cpu_after(board, piece)) - crumbs(tables, board->cpu_left)) *
	       WEIGHT_FIT * WEIGHT_CRUMB / 128000;
}

int64_t value_worth(const struct score_tables *tables, const struct board *board)
{
	return WEIGHT_VALUE * value_of(tables->value, board) -
	       fgd_fragment(tables->fgd, board) / (int64_t)MILLI_WHOLE;
}

static bool seen_before(const struct board *board, uint64_t cards, unsigned card)
{
	for (uint64_t rest = cards & (card_bit(card) - 1); rest; rest &= rest - 1)
		if (board->left[first_card(rest)] == board->left[card] &&
		    board->models[first_card(rest)] == board->models[card])
			return true;
	return false;
}

static int64_t score_after(const struct score_tables *tables, const struct board *after,
			   const struct score_memo *memo)
{
	return weigh(value_of(tables->value, after) - memo->value,
		     memo->fragment - fgd_fragment(tables->fgd, after),
		     fit_of(after, board_sum(after)));
}

/* Any node, any Pod. */
static struct answer score_any(const struct question *question, const struct score_memo *memo)
{
	const struct board *board = question->board;
	const struct piece *piece = question->piece;
	struct answer best = { INT64_MIN, 0 };
	struct board after = *board;

	if (piece->cards != 1) {
		best.cards = choose_fullest(question);
		board_take(&after, piece, best.cards);
		best.value = score_after(question->tables, &after, memo);
		return best;
	}
	after.cpu_left = cpu_after(board, piece);
	for (uint64_t rest = question->fits; rest; rest &= rest - 1) {
		unsigned card = first_card(rest);
		unsigned left = board->left[card], milli = piece_milli(piece, board, card);

		if (seen_before(board, question->fits, card))
			continue;
		after.left[card] = (uint16_t)(left > milli ? left - milli : 0);
		int64_t score = score_after(question->tables, &after, memo);

		after.left[card] = (uint16_t)left;
		if (score > best.value)
			best = (struct answer){ score, rest & -rest };
	}
	return best;
}

/* A node with cards of one model before a Pod whose cards are left alike. */
struct simple {
	const struct value_tables *tables;
	const struct score_memo *memo;
	struct fgd_row row;
	int32_t sums[LANES]; /* of the used cards and the CPU that is left after */
	int64_t cpu;         /* milli left after; 0: not counted */
};

static bool simple_init(const struct question *question, const struct score_memo *memo,
			struct simple *ret)
{
	const struct value_tables *tables = question->tables->value;
	const int64_t cpu = cpu_after(question->board, question->piece);
	const int64_t clipped = clip_cpu(cpu);

	if ((question->piece->cards > 1 && !question->piece->whole) ||
	    !fgd_row_init(question->tables->fgd, question->board, memo, cpu, &ret->row))
		return false;
	ret->tables = tables;
	ret->memo = memo;
	ret->cpu = cpu == RESOURCE_UNLIMITED ? 0 : cpu;
	for (int lane = 0; lane < LANES; lane++)
		ret->sums[lane] =
			memo->sums[lane] + (int32_t)((tables->cpu_price[lane] * clipped) >> 8);
	return true;
}

/* CARDS cards with LEFT each give MILLI of it. */
static int64_t score_simple(const struct simple *simple, unsigned cards, unsigned left,
			    unsigned milli)
{
	const struct value_tables *tables = simple->tables;
	const struct score_memo *memo = simple->memo;
	const bool cut = left == MILLI_WHOLE && milli > 0;
	const unsigned given = left < milli ? left : milli;
	const int32_t *whole = tables->whole[memo->untouched - (cut ? cards : 0)];
	const int32_t *before = tables->card[cut || cards == 0 ? 0 : (int)left / CELL];
	const int32_t *after = tables->card[cards == 0 ? 0 : (int)(left - given) / CELL];
	int32_t lowest = INT32_MAX;

	for (int lane = 0; lane < LANES; lane++) {
		int32_t sum = simple->sums[lane] + whole[lane] + after[lane] - before[lane];

		lowest = sum < lowest ? sum : lowest;
	}
	return weigh(lowest - memo->value,
		     memo->fragment - fgd_row_after(&simple->row, cards, left, milli),
		     (simple->cpu + 16 * (memo->sum - (int64_t)cards * given)) * WEIGHT_FIT /
			     128000);
}

static struct answer score_simply(const struct question *question, const struct simple *simple)
{
	const struct board *board = question->board;
	const struct piece *piece = question->piece;
	const unsigned milli = piece->cards ? piece->milli[board->models[0]] : 0;
	struct answer best = { INT64_MIN, 0 };

	if (piece->whole || piece->cards == 0) {
		best.cards = choose_fullest(question);
		best.value = score_simple(simple, piece->cards, MILLI_WHOLE, milli);
		return best;
	}
	for (uint64_t rest = question->fits; rest; rest &= rest - 1) {
		unsigned card = first_card(rest);

		if (seen_before(board, question->fits, card))
			continue;
		int64_t score = score_simple(simple, 1, board->left[card], milli);

		if (score > best.value)
			best = (struct answer){ score, rest & -rest };
	}
	return best;
}

struct answer score_default(const struct question *question)
{
	const struct score_tables *tables = question->tables;
	const struct score_memo *memo = question->memo;
	struct score_memo own;
	struct simple simple;
	struct answer best;

	if (!tables->value)
		return score_compact(question);
	if (!memo) {
		score_memo_fill(tables, question->board, &own);
		memo = &own;
	}
	best = simple_init(question, memo, &simple) ? score_simply(question, &simple)
						    : score_any(question, memo);
	best.value -= (int64_t)memo->rare *
			      piece_sum(question->piece, question->board, best.cards) /
			      (int64_t)MILLI_WHOLE +
		      value_crumbs(tables->value, question->board, question->piece);
	return best;
}
