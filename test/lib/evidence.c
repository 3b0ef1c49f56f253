/* SPDX-License-Identifier: Apache-2.0 */
#include "evidence.h"

#include <fts.h>
#include <stdio.h>
#include <string.h>

#include "doctor/rule.h"
#include "test.h"

#define FILE_MAX   ((size_t)4 << 20)
#define TEXT_MAX   ((size_t)16 << 20)
#define HEADING    "--- "
#define SECTION_OF 64 /* sections of a text, at most */

static char *read_text(const char *path, size_t *ret_length)
{
	struct error error = ERROR_INIT;
	char *text = NULL;

	if (file_read(path, FILE_MAX, &text, ret_length, &error) < 0)
		fail_msg("%s", error.message);
	return text;
}

static char *finish(struct strbuf *text)
{
	assert_int_equal(strbuf_failed(text), 0);
	char *ret = text->length ? strbuf_detach(text) : strdup("");
	assert_non_null(ret);
	return ret;
}

/* Calls ADD with each line of PATH that is no comment. */
static void for_lines(const char *path, void (*add)(void *table, char *line), void *table)
{
	size_t length;
	autofree char *text = read_text(path, &length);
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		if (!*line || *line == '#')
			continue;
		char *copy = strdup(line);
		assert_non_null(copy);
		add(table, copy);
	}
}

static void add_row(void *data, char *line)
{
	struct evidence_table *table = data;
	struct evidence_row *row = VEC_ADD(&table->rows, &table->count, &table->capacity);
	const char *fields[7] = { "", "", "", "", "", "", "" };
	char *rest = line;

	for (size_t i = 0; rest && i < ARRAY_SIZE(fields); i++)
		fields[i] = strsep(&rest, "\t");
	assert_non_null(row);
	*row = (struct evidence_row){ .line = line,
				      .file = fields[0],
				      .source = fields[1],
				      .link = fields[2],
				      .cause = fields[3],
				      .certainty = fields[4],
				      .codes = fields[5],
				      .enough = fields[6] };
}

void evidence_table_read(struct evidence_table *table, const char *path)
{
	*table = (struct evidence_table){ .count = 0 };
	for_lines(path, add_row, table);
}

void evidence_table_release(struct evidence_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->rows[i].line);
	free(table->rows);
}

static void add_rewriting(void *data, char *line)
{
	struct rewritings *table = data;
	struct rewriting *row = VEC_ADD(&table->rows, &table->count, &table->capacity);
	char *to = line;

	assert_non_null(row);
	row->from = strsep(&to, "\t");
	assert_non_null(to);
	row->to = to;
}

void rewritings_read(struct rewritings *table, const char *path)
{
	*table = (struct rewritings){ .count = 0 };
	for_lines(path, add_rewriting, table);
}

void rewritings_release(struct rewritings *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->rows[i].from);
	free(table->rows);
}

/* ---- sets ---- */

/* NAME says what belongs together: "set/file". */
static void add_file(struct evidence_set *set, const char *path, const char *name)
{
	struct evidence_file *file = VEC_ADD(&set->files, &set->count, &set->capacity);

	assert_non_null(file);
	file->name = strdup(name);
	assert_non_null(file->name);
	file->text = read_text(path, &file->length);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

void evidence_sets_read(struct evidence_sets *sets, const char *folder)
{
	autofree char *path = strdup(folder);
	char *const paths[] = { path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;

	*sets = (struct evidence_sets){ .count = 0 };
	assert_non_null(path);
	assert_non_null(tree);
	while ((entry = fts_read(tree))) {
		if (entry->fts_level == 1 &&
		    (entry->fts_info == FTS_D || entry->fts_info == FTS_F)) {
			struct evidence_set *set =
				VEC_ADD(&sets->sets, &sets->count, &sets->capacity);

			assert_non_null(set);
			set->name = strdup(entry->fts_name);
			assert_non_null(set->name);
		}
		if (entry->fts_info == FTS_F)
			add_file(&sets->sets[sets->count - 1], entry->fts_path,
				 entry->fts_path + strlen(folder) + 1);
	}
	fts_close(tree);
}

void evidence_sets_release(struct evidence_sets *sets)
{
	for (size_t i = 0; i < sets->count; i++) {
		struct evidence_set *set = &sets->sets[i];

		for (size_t j = 0; j < set->count; j++) {
			free(set->files[j].name);
			free(set->files[j].text);
		}
		free(set->files);
		free(set->name);
	}
	free(sets->sets);
}

/* ---- changes ---- */

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

char *evidence_read(const char *folder, const char *file)
{
	autofree char *path = NULL;
	size_t length;

	assert_true(asprintf(&path, "%s/%s", folder, file) > 0);
	return read_text(path, &length);
}

static const struct rewriting *find_rewriting(const struct rewritings *table, const char *at)
{
	for (size_t i = 0; i < table->count; i++)
		if (strncmp(at, table->rows[i].from, strlen(table->rows[i].from)) == 0)
			return &table->rows[i];
	return NULL;
}

char *evidence_rewrite(const char *text, const struct rewritings *table)
{
	autostrbuf out = STRBUF_INIT(TEXT_MAX);

	for (const char *at = text; *at;) {
		const struct rewriting *row = find_rewriting(table, at);

		if (row)
			strbuf_adds(&out, row->to);
		else
			strbuf_addc(&out, *at);
		at += row ? strlen(row->from) : 1;
	}
	return finish(&out);
}

/* Pieces of a text, which is cut at lines that begin with MARK (NULL: at each line). */
struct piece {
	const char *text;
	size_t length;
};

static size_t cut(const char *text, const char *mark, struct piece *pieces, size_t most)
{
	size_t count = 0;

	for (const char *at = text; *at;) {
		const char *end = strchr(at, '\n'), *next = end ? end + 1 : at + strlen(at);

		if (count == 0 || !mark || strncmp(at, mark, strlen(mark)) == 0) {
			assert_true(count < most);
			pieces[count++] = (struct piece){ at, 0 };
		}
		pieces[count - 1].length += (size_t)(next - at);
		at = next;
	}
	return count;
}

static void shuffle(struct piece *pieces, size_t count, uint64_t seed)
{
	for (size_t i = count; i > 1; i--) {
		size_t other = next_random(&seed) % i;
		struct piece piece = pieces[other];

		pieces[other] = pieces[i - 1];
		pieces[i - 1] = piece;
	}
}

char *evidence_shuffle(const char *text, uint64_t seed)
{
	autostrbuf out = STRBUF_INIT(TEXT_MAX);
	struct piece pieces[SECTION_OF];
	size_t count = cut(text, HEADING, pieces, ARRAY_SIZE(pieces));

	shuffle(pieces, count, seed);
	for (size_t i = 0; i < count; i++)
		strbuf_add(&out, pieces[i].text, pieces[i].length);
	return finish(&out);
}

char *evidence_halve(const char *text, uint64_t seed)
{
	autostrbuf out = STRBUF_INIT(TEXT_MAX);
	struct piece lines[1024];
	bool gone[ARRAY_SIZE(lines)] = { false };
	size_t count = cut(text, NULL, lines, ARRAY_SIZE(lines));

	for (size_t left = count / 2; left;) {
		size_t line = next_random(&seed) % count;

		left -= !gone[line];
		gone[line] = true;
	}
	for (size_t i = 0; i < count; i++)
		if (!gone[i])
			strbuf_add(&out, lines[i].text, lines[i].length);
	return finish(&out);
}

char *evidence_mix(const char *text, const struct evidence_set *set, uint64_t seed)
{
	autostrbuf out = STRBUF_INIT(TEXT_MAX);
	struct piece pieces[SECTION_OF];
	size_t count = cut(text, HEADING, pieces, ARRAY_SIZE(pieces)), file = 0;

	for (size_t i = 0; i < count || file < set->count;) {
		size_t left = set->count - file + (count - i);

		if (file < set->count && next_random(&seed) % left >= count - i) {
			strbuf_addf(&out, HEADING "%s\n", set->files[file].name);
			strbuf_add(&out, set->files[file].text, set->files[file].length);
			file++;
		} else {
			strbuf_add(&out, pieces[i].text, pieces[i].length);
			i++;
		}
		if (out.length && out.data[out.length - 1] != '\n')
			strbuf_addc(&out, '\n');
	}
	return finish(&out);
}

static bool has_line(const char *text, const char *piece, size_t length)
{
	autofree char *wanted = strndup(piece, length);

	assert_non_null(wanted);
	return strstr(text, wanted) != NULL;
}

bool evidence_is_enough(const struct evidence_row *row, const char *text)
{
	const char *at = row->enough, *end;

	if (!*at)
		return false;
	while ((end = strstr(at, " + "))) {
		if (!has_line(text, at, (size_t)(end - at)))
			return false;
		at = end + strlen(" + ");
	}
	return has_line(text, at, strlen(at));
}

/* ---- answers ---- */

static bool is_accepted(const struct evidence_row *row, const char *code)
{
	size_t length = strlen(code);

	for (const char *at = row->codes; (at = strstr(at, code)); at++)
		if ((at == row->codes || strchr(",;", at[-1])) && strchr(",;", at[length]))
			return true;
	return false;
}

static bool is_sure(const struct verdict *verdict, size_t at)
{
	return at < verdict->finding_count && verdict->findings[at].certainty > CERTAINTY_POSSIBLE;
}

static bool is_right(const struct evidence_row *row, const struct verdict *verdict, size_t at)
{
	return is_sure(verdict, at) && is_accepted(row, verdict->findings[at].rule->code);
}

enum answer evidence_answer(const struct evidence_row *row, const struct verdict *verdict)
{
	bool slow = strcmp(row->link, "slow") == 0;
	enum reason_link link = slow ? REASON_LINK_INVALID : reason_link_from_string(row->link);
	bool right = is_right(row, verdict, 0) ||
		     (strcmp(row->certainty, "probable") == 0 && is_right(row, verdict, 1));

	if (verdict->first_broken != REASON_LINK_INVALID && verdict->first_broken != link)
		return ANSWER_WRONG;
	for (size_t i = 0; is_sure(verdict, i); i++) {
		const struct finding *finding = &verdict->findings[i];

		if (finding->certainty == CERTAINTY_CERTAIN &&
		    !is_accepted(row, finding->rule->code))
			return ANSWER_WRONG;
	}
	if (right)
		return verdict->first_broken == link ? ANSWER_RIGHT : ANSWER_UNKNOWN;
	return is_sure(verdict, 0) ? ANSWER_WRONG : ANSWER_UNKNOWN;
}

char *evidence_tell(const struct verdict *verdict)
{
	autostrbuf out = STRBUF_INIT(TEXT_MAX);

	for (size_t i = 0; i < verdict->finding_count; i++)
		strbuf_addf(&out, "%s=%s ", verdict->findings[i].rule->code,
			    certainty_to_string(verdict->findings[i].certainty));
	strbuf_addf(&out, "| %s",
		    verdict->first_broken == REASON_LINK_INVALID
			    ? "nothing"
			    : reason_link_to_string(verdict->first_broken));
	return finish(&out);
}
