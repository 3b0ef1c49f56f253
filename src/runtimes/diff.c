/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/diff.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum { CONTEXT = 3, CELLS_MAX = 16 << 20 };

struct line {
	const char *text;
	size_t length; /* with its line feed, if it has one */
};

struct lines {
	struct line *items;
	size_t count, capacity;
};

/* One step from the old text to the new one. */
struct step {
	char sign; /* ' ', '-', '+' */
	const struct line *line;
};

struct steps {
	struct step *items;
	size_t count, capacity;
};

static int split(const char *text, struct lines *ret)
{
	while (text && *text) {
		struct line *line = VEC_ADD(&ret->items, &ret->count, &ret->capacity);
		size_t length = strcspn(text, "\n");

		if (!line)
			return -ENOMEM;
		*line = (struct line){ text, length + (text[length] == '\n') };
		text += line->length;
	}
	return 0;
}

static bool same(const struct line *left, const struct line *right)
{
	return left->length == right->length && memcmp(left->text, right->text, left->length) == 0;
}

static int add(struct steps *steps, char sign, const struct line *line)
{
	struct step *step = VEC_ADD(&steps->items, &steps->count, &steps->capacity);

	if (!step)
		return -ENOMEM;
	*step = (struct step){ sign, line };
	return 0;
}

/* The longest common part of the middles, found from the end; TABLE[i][j]: of what begins at i, j. */
static void fill(uint32_t *table, const struct line *old, size_t olds, const struct line *new,
		 size_t news)
{
	for (size_t i = olds; i-- > 0;)
		for (size_t j = news; j-- > 0;) {
			uint32_t down = table[(i + 1) * (news + 1) + j];
			uint32_t right = table[i * (news + 1) + j + 1];

			table[i * (news + 1) + j] =
				same(&old[i], &new[j]) ? table[(i + 1) * (news + 1) + j + 1] + 1
				: down > right         ? down
						       : right;
		}
}

static int walk(const uint32_t *table, const struct line *old, size_t olds, const struct line *new,
		size_t news, struct steps *steps)
{
	size_t i = 0, j = 0;
	int r = 0;

	while (r == 0 && (i < olds || j < news)) {
		if (i < olds && j < news && table && same(&old[i], &new[j])) {
			r = add(steps, ' ', &old[i]);
			i++;
			j++;
		} else if (i < olds &&
			   (j >= news || !table ||
			    table[(i + 1) * (news + 1) + j] >= table[i * (news + 1) + j + 1])) {
			r = add(steps, '-', &old[i++]);
		} else {
			r = add(steps, '+', &new[j++]);
		}
	}
	return r;
}

/* Two huge texts without anything in common around are shown as one block. */
static int compare_middles(const struct line *old, size_t olds, const struct line *new, size_t news,
			   struct steps *steps)
{
	autofree uint32_t *table = NULL;

	if ((olds + 1) <= CELLS_MAX / (news + 1)) {
		table = calloc((olds + 1) * (news + 1), sizeof(*table));
		if (!table)
			return -ENOMEM;
		fill(table, old, olds, new, news);
	}
	return walk(table, old, olds, new, news, steps);
}

/* An empty text has no lines to point at. */
static const struct line *middle(const struct lines *lines, size_t start)
{
	return lines->items ? lines->items + start : NULL;
}

static int compare(const struct lines *old, const struct lines *new, struct steps *steps)
{
	size_t start = 0, end = 0;
	int r = 0;

	while (start < old->count &&
	       start < new->count &&same(&old->items[start], &new->items[start]))
		r = r < 0 ? r : add(steps, ' ', &old->items[start++]);
	while (r == 0 && start + end < old->count &&
	       start + end < new->count &&same(&old->items[old->count - 1 - end],
					       &new->items[new->count - 1 - end]))
		end++;
	if (r == 0)
		r = compare_middles(middle(old, start), old->count - start - end,
				    middle(new, start), new->count - start - end, steps);
	for (; r == 0 && end > 0; end--)
		r = add(steps, ' ', &old->items[old->count - end]);
	return r;
}

/* Where the hunk that begins at FROM ends: after a run of equal lines that two hunks would share. */
static size_t hunk_end(const struct steps *steps, size_t from)
{
	size_t last = from;

	for (size_t i = from; i < steps->count && i <= last + 2 * CONTEXT + 1; i++)
		if (steps->items[i].sign != ' ')
			last = i;
	return last + CONTEXT + 1 < steps->count ? last + CONTEXT + 1 : steps->count;
}

static void count(const struct steps *steps, size_t from, size_t to, size_t *old, size_t *new)
{
	for (size_t i = from; i < to; i++) {
		*old += steps->items[i].sign != '+';
		*new += steps->items[i].sign != '-';
	}
}

static void print_hunk(const struct steps *steps, size_t from, size_t to, struct strbuf *out)
{
	size_t old_start = 0, new_start = 0, olds = 0, news = 0;

	count(steps, 0, from, &old_start, &new_start);
	count(steps, from, to, &olds, &news);
	strbuf_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", old_start + (olds > 0), olds,
		    new_start + (news > 0), news);
	for (size_t i = from; i < to; i++) {
		const struct line *line = steps->items[i].line;

		strbuf_addc(out, steps->items[i].sign);
		strbuf_add(out, line->text, line->length);
		if (line->text[line->length - 1] != '\n')
			strbuf_adds(out, "\n\\ No newline at end of file\n");
	}
}

static void print(const char *path, bool is_new, bool goes, const struct steps *steps,
		  struct strbuf *out)
{
	strbuf_addf(out, "--- %s\n+++ %s\n", is_new ? "/dev/null" : path,
		    goes ? "/dev/null" : path);
	for (size_t i = 0; i < steps->count;) {
		if (steps->items[i].sign == ' ') {
			i++;
			continue;
		}
		size_t end = hunk_end(steps, i);
		print_hunk(steps, i > CONTEXT ? i - CONTEXT : 0, end, out);
		i = end;
	}
}

int text_diff(const char *path, const char *before, const char *after, struct strbuf *out)
{
	struct lines old = { .items = NULL }, new = { .items = NULL };
	struct steps steps = { .items = NULL };

	if (before && after && strcmp(before, after) == 0)
		return 0;
	int r = split(before, &old);
	if (r == 0)
		r = split(after, &new);
	if (r == 0)
		r = compare(&old, &new, &steps);
	if (r == 0) {
		print(path, !before, !after, &steps, out);
		r = strbuf_failed(out);
	}
	free(old.items);
	free(new.items);
	free(steps.items);
	return r;
}
