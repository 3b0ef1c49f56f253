/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

struct facts {
	struct fact **items; /* each for itself: they stay where they are */
	size_t count, capacity;
	/* Index + 1 of the first and last fact of a key, and of the next one of the same key. */
	size_t first[FACT_MAX], last[FACT_MAX], told[FACT_MAX];
	size_t *next;
	size_t next_capacity;
};

static const char *const fact_names[FACT_MAX] = {
#define FACT_ROW(name, key, says, teller) [FACT_##name] = (key),
	FACTS(FACT_ROW)
#undef FACT_ROW
};

static const char *const fact_texts[FACT_MAX] = {
#define FACT_ROW(name, key, says, teller) [FACT_##name] = (says),
	FACTS(FACT_ROW)
#undef FACT_ROW
};

const char *fact_key_name(enum fact_key key)
{
	return (int)key >= 0 && key < FACT_MAX ? fact_names[key] : "invalid";
}

const char *fact_key_says(enum fact_key key)
{
	return (int)key >= 0 && key < FACT_MAX ? fact_texts[key] : "invalid";
}

enum fact_key fact_key_find(const char *condition)
{
	size_t length = strcspn(condition, "=");

	for (int key = 0; key < FACT_MAX; key++)
		if (*fact_names[key] == *condition &&
		    strncmp(fact_names[key], condition, length) == 0 && !fact_names[key][length])
			return (enum fact_key)key;
	return FACT_INVALID;
}

struct facts *facts_new(void)
{
	return calloc(1, sizeof(struct facts));
}

static void free_fact(struct fact *fact)
{
	free(fact->value);
	free(fact->source);
	free(fact->text);
	free(fact);
}

void facts_free(struct facts *facts)
{
	if (!facts)
		return;
	for (size_t i = 0; i < facts->count; i++)
		free_fact(facts->items[i]);
	free(facts->items);
	free(facts->next);
	free(facts);
}

size_t facts_count(const struct facts *facts)
{
	return facts->count;
}

const struct fact *facts_at(const struct facts *facts, size_t index)
{
	return index < facts->count ? facts->items[index] : NULL;
}

/* '*' is any text; case does not count. */
static bool glob_fits(const char *glob, const char *text)
{
	const char *star = NULL, *again = NULL;

	while (*text) {
		if (*glob == '*') {
			star = glob++;
			again = text;
		} else if (strncasecmp(glob, text, 1) == 0) {
			glob++;
			text++;
		} else if (star) {
			glob = star + 1;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

const struct fact *facts_first(const struct facts *facts, enum fact_key key, const char *glob)
{
	if ((int)key < 0 || key >= FACT_MAX)
		return NULL;
	for (size_t at = facts->first[key]; at; at = facts->next[at - 1])
		if (!glob || glob_fits(glob, facts->items[at - 1]->value))
			return facts->items[at - 1];
	return NULL;
}

const struct fact *facts_match(const struct facts *facts, const char *condition)
{
	const char *glob = strchr(condition, '=');

	return facts_first(facts, fact_key_find(condition), glob ? glob + 1 : NULL);
}

static bool is_told(const struct facts *facts, enum fact_key key, const char *value, size_t length)
{
	for (size_t at = facts->first[key]; at; at = facts->next[at - 1]) {
		const char *told = facts->items[at - 1]->value;

		if (strncmp(told, value, length) == 0 && !told[length])
			return true;
	}
	return false;
}

static struct fact *make_fact(enum fact_key key, const char *value, size_t length,
			      const struct fact_place *where)
{
	size_t text = where->length < FACT_TEXT_MAX ? where->length : FACT_TEXT_MAX;
	struct fact *fact = calloc(1, sizeof(*fact));

	if (!fact)
		return NULL;
	fact->key = key;
	fact->line = where->line;
	fact->value = strndup(value, length);
	fact->source = strdup(where->source);
	fact->text = strndup(where->text ? where->text : "", where->text ? text : 0);
	if (fact->value && fact->source && fact->text)
		return fact;
	free_fact(fact);
	return NULL;
}

int facts_tell(struct facts *facts, enum fact_key key, const char *value,
	       const struct fact_place *where)
{
	size_t length;
	struct fact *fact;

	value = value ? value : "";
	length = strnlen(value, FACT_VALUE_MAX - 1);
	if (facts->told[key] >= FACT_KEY_MAX || is_told(facts, key, value, length))
		return 0;
	if (vec_reserve(&facts->items, &facts->capacity, facts->count + 1, sizeof(fact)) < 0 ||
	    vec_reserve(&facts->next, &facts->next_capacity, facts->count + 1,
			sizeof(*facts->next)) < 0)
		return -ENOMEM;
	fact = make_fact(key, value, length, where);
	if (!fact)
		return -ENOMEM;
	facts->items[facts->count++] = fact;
	facts->next[facts->count - 1] = 0;
	if (facts->last[key])
		facts->next[facts->last[key] - 1] = facts->count;
	else
		facts->first[key] = facts->count;
	facts->last[key] = facts->count;
	facts->told[key]++;
	return 0;
}

bool fact_condition_known(const char *condition)
{
	return fact_key_find(condition) != FACT_INVALID;
}
