/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/runtime_entry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void runtime_facts_release(struct runtime_facts *facts)
{
	for (size_t i = 0; i < facts->count; i++) {
		free(facts->items[i].name);
		free(facts->items[i].path);
	}
	free(facts->items);
	free(facts->default_name);
	*facts = (struct runtime_facts){ .items = NULL };
}

static int copy(char **slot, const char *text)
{
	char *fresh = text ? strdup(text) : NULL;

	if (text && !fresh)
		return -ENOMEM;
	free(*slot);
	*slot = fresh;
	return 0;
}

static struct runtime_fact *find(const struct runtime_facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->count; i++)
		if (strcmp(facts->items[i].name, name) == 0)
			return &facts->items[i];
	return NULL;
}

int runtime_facts_add(struct runtime_facts *facts, const char *name, const char *path)
{
	struct runtime_fact *fact = find(facts, name);

	if (!fact) {
		autofree char *own = strdup(name);

		fact = own ? VEC_ADD(&facts->items, &facts->count, &facts->capacity) : NULL;
		if (!fact)
			return -ENOMEM;
		fact->name = TAKE_PTR(own);
	}
	return copy(&fact->path, path);
}

int runtime_facts_set_default(struct runtime_facts *facts, const char *name)
{
	return copy(&facts->default_name, name);
}

const struct runtime_fact *runtime_facts_find(const struct runtime_facts *facts, const char *name)
{
	return find(facts, name);
}

bool runtime_wish_holds(const struct runtime_wish *wish, const struct runtime_facts *facts,
			bool cdi_always)
{
	for (size_t i = 0; i < wish->count; i++) {
		const struct runtime_fact *fact = find(facts, wish->entries[i].name);

		if (!fact || !fact->path || strcmp(fact->path, wish->entries[i].path) != 0)
			return false;
	}
	if (wish->set_default && wish->count &&
	    (!facts->default_name || strcmp(facts->default_name, wish->entries[0].name) != 0))
		return false;
	if (!wish->cdi)
		return true;
	return cdi_always ? facts->cdi != RUNTIME_CDI_OFF : facts->cdi == RUNTIME_CDI_ON;
}

void config_files_release(struct config_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->items[i].path);
		free(files->items[i].text);
	}
	free(files->items);
	*files = (struct config_files){ .items = NULL };
}

int config_files_add(struct config_files *files, const char *path, const char *text)
{
	struct config_file *file = VEC_ADD(&files->items, &files->count, &files->capacity);

	if (!file)
		return -ENOMEM;
	file->path = strdup(path);
	file->text = text ? strdup(text) : NULL;
	return !file->path || (text && !file->text) ? -ENOMEM : 0;
}
