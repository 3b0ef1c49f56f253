/* SPDX-License-Identifier: Apache-2.0 */
#include "naive_card.h"

#include <string.h>

static bool matches(const struct string_list *patterns, const char *text)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (parse_glob(patterns->items[i], text))
			return true;
	return false;
}

bool naive_lists(const struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

bool naive_right_model(const struct request *request, const struct card *card)
{
	return (request->models.count == 0 || matches(&request->models, card->model)) &&
	       !matches(&request->not_models, card->model);
}

bool naive_right_uuid(const struct request *request, const struct card *card)
{
	return (request->uuids.count == 0 || naive_lists(&request->uuids, card->uuid)) &&
	       !naive_lists(&request->not_uuids, card->uuid);
}

bool naive_is_foreign(const struct card *card)
{
	for (size_t i = 0; i < card->process_count; i++)
		if (!card->processes[i].granted)
			return true;
	return false;
}
