/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sysfs/sysfs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "device/sysfs/tree.h"

#define ACCESS_TEXT_MAX 1024u

DEFINE_CLEANUP(DIR, closedir)

static uint32_t minor_in(const char *directory)
{
	autofree char *text = NULL;

	if (tree_read(&text, ACCESS_TEXT_MAX, "%s/access", directory) < 0)
		return CARD_MINOR_NONE;
	return capability_parse_minor(text);
}

/* The levels below capabilities/: gpu<minor of the card>, mig, gi<number>, ci<number>. */
static const struct level {
	const char *prefix;
	bool numbered;
} levels[] = { { "gpu", true }, { "mig", false }, { "gi", true }, { "ci", true } };

static bool level_matches(const struct level *level, const char *name, unsigned *ret)
{
	size_t length = strlen(level->prefix);
	uint64_t number = 0;

	if (strncmp(name, level->prefix, length) != 0)
		return false;
	if (!level->numbered)
		return name[length] == '\0';
	if (parse_uint(name + length, 0, 255, &number) < 0)
		return false;
	*ret = (unsigned)number;
	return true;
}

static void take_instance(struct procfs *procfs, const unsigned numbers[ARRAY_SIZE(levels)],
			  uint32_t gpu_minor, uint32_t compute_minor)
{
	if (procfs->instance_count == PROCFS_INSTANCES_MAX)
		return;
	procfs->instances[procfs->instance_count++] =
		(struct procfs_instance){ .card_minor = numbers[0],
					  .gpu_instance = numbers[2],
					  .compute_instance = numbers[3],
					  .gpu_minor = gpu_minor,
					  .compute_minor = compute_minor };
}

/* NUMBERS: of the levels above DEPTH; ABOVE: the node of the level right above. */
static void walk(const char *path, unsigned depth, unsigned numbers[ARRAY_SIZE(levels)],
		 uint32_t above, struct procfs *procfs)
{
	cleanup(closedirp) DIR *stream = opendir(path);

	if (!stream)
		return;
	for (struct dirent *entry; (entry = readdir(stream));) {
		autofree char *below = NULL;

		if (!level_matches(&levels[depth], entry->d_name, &numbers[depth]) ||
		    tree_path(&below, NULL, "%s/%s", path, entry->d_name) < 0)
			continue;
		uint32_t minor = depth >= 2 ? minor_in(below) : CARD_MINOR_NONE;
		if (depth + 1 == ARRAY_SIZE(levels))
			take_instance(procfs, numbers, above, minor);
		else
			walk(below, depth + 1, numbers, minor, procfs);
	}
}

static int compare(const void *left, const void *right)
{
	const struct procfs_instance *a = left, *b = right;

	if (a->card_minor != b->card_minor)
		return a->card_minor < b->card_minor ? -1 : 1;
	if (a->gpu_instance != b->gpu_instance)
		return a->gpu_instance < b->gpu_instance ? -1 : 1;
	if (a->compute_instance != b->compute_instance)
		return a->compute_instance < b->compute_instance ? -1 : 1;
	return 0;
}

void procfs_read_instances(struct procfs *procfs)
{
	autofree char *path = NULL;
	unsigned numbers[ARRAY_SIZE(levels)] = { 0 };

	procfs->instance_count = 0;
	if (!procfs->present || tree_path(&path, NULL, "%s/capabilities", procfs->base) < 0)
		return;
	walk(path, 0, numbers, CARD_MINOR_NONE, procfs);
	qsort(procfs->instances, procfs->instance_count, sizeof(procfs->instances[0]), compare);
}

const struct procfs_instance *procfs_find_instance(const struct procfs *procfs, unsigned card_minor,
						   unsigned gpu_instance, unsigned compute_instance)
{
	for (size_t i = 0; i < procfs->instance_count; i++) {
		const struct procfs_instance *instance = &procfs->instances[i];

		if (instance->card_minor == card_minor && instance->gpu_instance == gpu_instance &&
		    instance->compute_instance == compute_instance)
			return instance;
	}
	return NULL;
}
