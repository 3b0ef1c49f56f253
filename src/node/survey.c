/* SPDX-License-Identifier: Apache-2.0 */
#include "node/survey.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "node/pods.h"

#define UNKNOWN_UUID "unknown-" /* as device/ names a card that tells none */

void survey_release(struct survey *survey)
{
	free(survey->wish.probe_root);
	free(survey->wish.host_root);
	free(survey->wish.host);
	free(survey->wish.dev_root);
	free(survey->wish.helper);
	free(survey->wish.run_directory);
	free(survey->wish.cdi_directory);
	inventory_release(&survey->wish.known);
	inventory_release(&survey->inventory);
	driver_files_free(survey->files);
	string_list_release(&survey->notes);
	*survey = (struct survey){ 0 };
}

static int take_array(void *to, const void *from, size_t count, size_t size)
{
	void *copy = calloc(count ? count : 1, size);

	if (!copy)
		return -ENOMEM;
	if (count)
		memcpy(copy, from, count * size);
	*(void **)to = copy;
	return 0;
}

/* What NVML alone tells and the kernel does not. */
static int card_complete(struct card *card, const struct card *known)
{
	if (strncmp(card->uuid, UNKNOWN_UUID, strlen(UNKNOWN_UUID)) == 0 || !card->uuid[0])
		memcpy(card->uuid, known->uuid, sizeof(card->uuid));
	if (card->memory_bytes || strcmp(card->uuid, known->uuid) != 0)
		return 0;
	card->memory_bytes = known->memory_bytes;
	card->compute_major = known->compute_major;
	card->compute_minor = known->compute_minor;
	card->mig_capable = known->mig_capable;
	card->mig_enabled = known->mig_enabled;
	card->mode = known->mode;
	if (card->index == CARD_INDEX_NONE)
		card->index = known->index;
	if (card->minor == CARD_MINOR_NONE)
		card->minor = known->minor;
	if (card->numa < 0)
		card->numa = known->numa;
	memcpy(card->brand, known->brand, sizeof(card->brand));
	memcpy(card->serial, known->serial, sizeof(card->serial));
	if (!card->model[0])
		memcpy(card->model, known->model, sizeof(card->model));
	if (card->instance_count)
		return 0;
	free(card->instances);
	card->instances = NULL;
	card->instance_capacity = 0;
	int r = take_array(&card->instances, known->instances, known->instance_count,
			   sizeof(*card->instances));
	if (r == 0)
		card->instance_count = card->instance_capacity = known->instance_count;
	return r;
}

static const struct card *find_known(const struct inventory *known, const struct card *card)
{
	for (size_t i = 0; i < known->card_count; i++)
		if (card->bus_id[0] ? strcmp(known->cards[i].bus_id, card->bus_id) == 0
				    : strcmp(known->cards[i].uuid, card->uuid) == 0)
			return &known->cards[i];
	return NULL;
}

/* Its links name others by position: they go with it. */
static void drop_card(struct inventory *inventory, size_t at)
{
	struct card *card = &inventory->cards[at];

	free(card->links);
	free(card->processes);
	free(card->mig);
	free(card->instances);
	memmove(card, card + 1, (inventory->card_count - at - 1) * sizeof(*card));
	if (inventory->samples)
		memmove(&inventory->samples[at], &inventory->samples[at + 1],
			(inventory->card_count - at - 1) * sizeof(*inventory->samples));
	inventory->card_count--;
	for (size_t i = 0; i < inventory->card_count; i++)
		inventory->cards[i].link_count = 0;
}

int survey_complete(struct inventory *inventory, const struct inventory *known, struct error *error)
{
	for (size_t i = 0; i < inventory->card_count;) {
		struct card *card = &inventory->cards[i];
		const struct card *before = find_known(known, card);

		if (before && card_complete(card, before) < 0)
			return error_no_memory(error);
		if (strncmp(card->uuid, UNKNOWN_UUID, strlen(UNKNOWN_UUID)) == 0)
			drop_card(inventory, i);
		else
			i++;
	}
	return 0;
}

/* A root that this process sees elsewhere than the host: what is written is for the host. */
static int move_path(char **path, const char *from, const char *to)
{
	size_t length = strcmp(from, "/") == 0 ? 0 : strlen(from);
	autostrbuf moved = STRBUF_INIT(PATH_MAX);

	if (strncmp(*path, from, length) != 0 || ((*path)[length] != '/' && (*path)[length]))
		return 0;
	strbuf_addf(&moved, "%s%s", strcmp(to, "/") == 0 ? "" : to, *path + length);
	char *text = strbuf_detach(&moved);
	if (!text)
		return -ENOMEM;
	free(*path);
	*path = text;
	return 0;
}

static int files_move(struct driver_files *files, const char *from, const char *to)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < files->count; i++)
		r = move_path(&files->items[i].source, from, to);
	for (size_t i = 0; r == 0 && i < files->node_count; i++)
		r = move_path(&files->nodes[i].path, from, to);
	return r;
}

static int nodes_move(struct driver_files *files, const char *root)
{
	for (size_t i = 0; i < files->node_count; i++) {
		struct driver_node *node = &files->nodes[i];
		char *path = NULL;

		if (asprintf(&path, "%s/dev/%s", strcmp(root, "/") == 0 ? "" : root, node->name) <
		    0)
			return -ENOMEM;
		free(node->path);
		node->path = path;
	}
	return 0;
}

/* One that has ended since uses nothing. */
static void find_pods(struct card *card)
{
	size_t kept = 0;

	for (size_t i = 0; i < card->process_count; i++) {
		struct card_process process = card->processes[i];

		if (pod_uid_of_process(NULL, process.pid, process.pod_uid) >= 0)
			card->processes[kept++] = process;
	}
	card->process_count = kept;
}

static void find_all_pods(struct survey *survey)
{
	for (size_t i = 0; survey->wish.pods && i < survey->inventory.card_count; i++)
		find_pods(&survey->inventory.cards[i]);
}

/* To the host's names of things. */
static int survey_move(struct survey *survey, struct error *error)
{
	const char *seen = survey->wish.probe_root, *host = survey->wish.host_root;
	const char *outside = survey->wish.host;
	struct inventory *inventory = &survey->inventory;
	bool moves = seen && host && strcmp(host, seen) != 0;
	int r = 0;

	if (survey->files && moves)
		r = files_move(survey->files, seen, host);
	if (r == 0 && survey->files && outside)
		r = files_move(survey->files, outside, "/");
	if (r == 0 && survey->files && survey->wish.dev_root)
		r = nodes_move(survey->files, survey->wish.dev_root);
	if (r < 0)
		return error_no_memory(error);
	if (moves)
		reason_text(inventory->driver_root, sizeof(inventory->driver_root), "%s", host);
	return 0;
}

/* The list is kept where gpupool-runtime looks for it, too; a list that cannot be kept is found again. */
static int find_files(struct survey *survey, bool search, struct error *error)
{
	const struct inventory *inventory = &survey->inventory;
	autostrbuf path = STRBUF_INIT(PATH_MAX);

	if (inventory->problem[0] || !inventory->driver_version[0])
		return 0;
	strbuf_addf(&path, "%s/" NAME_DRIVER_FILES, survey->wish.run_directory);
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the run directory's path is too long");
	const unsigned capabilities = CAPABILITY_ALL & ~CAPABILITY_COMPAT32;
	if (!search)
		return driver_files_read(path.data, inventory->driver_root, survey->wish.host,
					 inventory->driver_version, capabilities, &survey->files,
					 error);
	(void)driver_files_keep(path.data, inventory->driver_root, inventory->driver_version, NULL);
	return driver_files_find_kept(path.data, inventory->driver_root, survey->wish.host,
				      inventory->driver_version, capabilities, &survey->files,
				      error);
}

/* Nothing is taken out of the specs because the driver does not answer now. */
static bool may_write_specs(const struct survey *survey)
{
	return survey->wish.cdi_directory && survey->wish.specs && survey->files &&
	       !survey->inventory.problem[0] && survey->inventory.card_count;
}

static void write_specs(struct survey *survey)
{
	struct error error = ERROR_INIT;

	survey->specs_whole = !survey->wish.specs || !survey->inventory.card_count;
	if (!may_write_specs(survey))
		return;
	survey->specs_whole = specs_write(survey, &error) == 0;
	reason_text(survey->specs_problem, sizeof(survey->specs_problem), "%s",
		    survey->specs_whole ? "" : error.message);
}

static int survey_look(struct survey *survey, struct error *error)
{
	const struct device_options options = { .driver_root = survey->wish.probe_root,
						.helper = survey->wish.helper,
						.deadline_ms = survey->wish.deadline_ms,
						.stuck = &survey->stuck,
						.samples = true };
	struct error own = ERROR_INIT;
	int r = device_probe(&options, &survey->inventory, &survey->reason, error);

	if (r == 0)
		r = survey_complete(&survey->inventory, &survey->wish.known, error);
	if (r < 0)
		return r;
	find_all_pods(survey);
	r = find_files(survey, true, &own);
	if (r < 0)
		reason_text(survey->specs_problem, sizeof(survey->specs_problem),
			    "the driver's files were not found: %s", own.message);
	return r == -ENOMEM ? error_no_memory(error) : survey_move(survey, error);
}

void survey_run(struct survey *survey)
{
	inventory_init(&survey->inventory);
	survey->r = survey_look(survey, &survey->error);
	if (survey->r == 0)
		write_specs(survey);
}

int survey_recall(struct survey *survey, struct error *error)
{
	autostrbuf path = STRBUF_INIT(PATH_MAX);

	inventory_init(&survey->inventory);
	strbuf_addf(&path, "%s/" NAME_INVENTORY, survey->wish.run_directory);
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the run directory's path is too long");
	int r = device_inventory_read(path.data, &survey->inventory, error);
	if (r == 0 && survey->inventory.problem[0])
		r = error_set(error, ESTALE, "%s is of a driver that gave no cards", path.data);
	if (r < 0)
		return r;
	if (survey->wish.probe_root)
		reason_text(survey->inventory.driver_root, sizeof(survey->inventory.driver_root),
			    "%s", survey->wish.probe_root);
	find_all_pods(survey);
	r = find_files(survey, false, error);
	if (r == 0)
		r = survey_move(survey, error);
	if (r < 0)
		return r;
	write_specs(survey);
	return survey->specs_whole ? 0 : error_set(error, ESTALE, "%s", survey->specs_problem);
}
