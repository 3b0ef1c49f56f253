/* SPDX-License-Identifier: Apache-2.0 */
/* The book in memory. */
#include "node/ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/ledger_private.h"

void ledger_init(struct ledger *ledger)
{
	*ledger = (struct ledger){ .next_serial = 1 };
}

void ledger_entry_free(struct ledger_entry *entry)
{
	free(entry->resource);
	string_list_release(&entry->ids);
	free(entry->pod_uid);
	free(entry->container);
	free(entry);
}

void ledger_release(struct ledger *ledger)
{
	for (size_t i = 0; i < ledger->count; i++)
		ledger_entry_free(ledger->entries[i]);
	free(ledger->entries);
	ledger_init(ledger);
}

struct ledger_entry *ledger_entry_new(const char *resource, const struct string_list *ids)
{
	autoentry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->resource = strdup(resource);
	if (!entry->resource)
		return NULL;
	for (size_t i = 0; i < ids->count; i++)
		if (string_list_add(&entry->ids, ids->items[i]) < 0)
			return NULL;
	return TAKE_PTR(entry);
}

int ledger_insert(struct ledger *ledger, struct ledger_entry *entry)
{
	struct ledger_entry **place;

	if (ledger->count >= LEDGER_ENTRIES_MAX)
		return -E2BIG;
	place = VEC_ADD(&ledger->entries, &ledger->count, &ledger->capacity);
	if (!place)
		return -ENOMEM;
	*place = entry;
	ledger->dirty = true;
	return 0;
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

int ledger_check_ids(const struct string_list *ids, const char **ret_twice)
{
	autofree char **sorted = calloc(ids->count + 1, sizeof(*sorted));

	*ret_twice = NULL;
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < ids->count; i++)
		sorted[i] = ids->items[i];
	qsort(sorted, ids->count, sizeof(*sorted), compare_texts);
	for (size_t i = 1; i < ids->count; i++)
		if (strcmp(sorted[i - 1], sorted[i]) == 0)
			*ret_twice = sorted[i];
	return *ret_twice ? -EINVAL : 0;
}

int ledger_add(struct ledger *ledger, const char *resource, const struct string_list *ids,
	       int64_t now, struct ledger_entry **ret, struct error *error)
{
	const char *twice;

	if (ids->count == 0)
		return error_set(error, EINVAL, "a grant of %s without a device; name one",
				 resource);
	if (ids->count > LEDGER_ENTRY_IDS_MAX)
		return error_set(
			error, E2BIG,
			"a grant of %zu devices of %s; ask for at most %u in one container",
			ids->count, resource, LEDGER_ENTRY_IDS_MAX);
	int r = ledger_check_ids(ids, &twice);

	if (r == -EINVAL)
		return error_set(error, EINVAL,
				 "a grant of %s with device %s twice; name each once", resource,
				 twice);
	autoentry *entry = r < 0 ? NULL : ledger_entry_new(resource, ids);

	if (!entry)
		return error_no_memory(error);
	entry->pending = true;
	entry->granted = now;
	entry->serial = ledger->next_serial;
	r = ledger_insert(ledger, entry);
	if (r == -E2BIG)
		return error_set(error, E2BIG,
				 "the ledger has %u grants, the most it keeps; end some Pods",
				 LEDGER_ENTRIES_MAX);
	if (r < 0)
		return error_no_memory(error);
	ledger->next_serial++;
	*ret = TAKE_PTR(entry);
	return 0;
}

void ledger_answered(struct ledger *ledger, struct ledger_entry *entry, uint64_t now_ms)
{
	(void)ledger;
	entry->pending = false;
	entry->answered_ms = now_ms;
}

void ledger_forget(struct ledger *ledger, struct ledger_entry *entry)
{
	size_t at = 0;

	while (at < ledger->count && ledger->entries[at] != entry)
		at++;
	if (at == ledger->count)
		return;
	ledger->count--;
	memmove(&ledger->entries[at], &ledger->entries[at + 1],
		(ledger->count - at) * sizeof(struct ledger_entry *));
	ledger->dirty = true;
	ledger_entry_free(entry);
}

bool ledger_entry_has(const struct ledger_entry *entry, const char *id)
{
	for (size_t i = 0; i < entry->ids.count; i++)
		if (strcmp(entry->ids.items[i], id) == 0)
			return true;
	return false;
}

struct ledger_entry *ledger_find(const struct ledger *ledger, const char *id,
				 const struct ledger_entry *before)
{
	size_t at = ledger->count;

	while (before && at > 0 && ledger->entries[at - 1] != before)
		at--;
	if (before && at > 0)
		at--;
	for (; at > 0; at--)
		if (ledger_entry_has(ledger->entries[at - 1], id))
			return ledger->entries[at - 1];
	return NULL;
}

void ledger_strip(struct ledger *ledger, struct ledger_entry *entry, const char *id)
{
	struct string_list *ids = &entry->ids;

	for (size_t i = ids->count; i > 0; i--) {
		if (strcmp(ids->items[i - 1], id) != 0)
			continue;
		free(ids->items[i - 1]);
		ids->count--;
		memmove(&ids->items[i - 1], &ids->items[i], (ids->count - i + 1) * sizeof(char *));
		ledger->dirty = true;
	}
	if (ids->count == 0)
		ledger_forget(ledger, entry);
}

int ledger_index(const struct ledger *ledger, struct map **ret)
{
	automap *index = map_new();

	if (!index)
		return -ENOMEM;
	for (size_t i = 0; i < ledger->count; i++)
		for (size_t k = 0; k < ledger->entries[i]->ids.count; k++)
			if (map_put(index, ledger->entries[i]->ids.items[k], ledger->entries[i]) <
			    0)
				return -ENOMEM;
	*ret = TAKE_PTR(index);
	return 0;
}
