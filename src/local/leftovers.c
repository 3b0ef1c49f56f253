/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a killed gpupool left behind. A container that runs is nobody's business but its owner's;
 * one that ended, or was made and never started, is removed.
 */
#include "local/private.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* runc and crun keep a fifo in their state until the container is started. */
static bool container_never_started(const struct runtime *runtime, const char *id)
{
	autostrbuf path = STRBUF_INIT(4096);
	struct stat unused;

	strbuf_addf(&path, "%s/%s/exec.fifo", runtime->state, id);
	return strbuf_failed(&path) == 0 && stat(path.data, &unused) == 0;
}

static bool container_holds(const struct local_holders *holders, const struct runtime *runtime,
			    const char *id)
{
	for (size_t i = 0; i < holders->count; i++)
		if (strcmp(holders->items[i].id, id) == 0)
			return !(holders->items[i].orphaned &&
				 container_never_started(runtime, id));
	return false;
}

int container_clear(const struct runtime *runtime, const char *id, struct error *error)
{
	autostrbuf group = STRBUF_INIT(4096);

	strbuf_addf(&group, CGROUP_PARENT "/%s", id);
	if (strbuf_failed(&group) < 0)
		return error_set(error, ENAMETOOLONG, "the container's name %s is too long", id);
	return runtime_clear(runtime, id, group.data, error);
}

static int leftover_remove(const char *directory, const struct runtime *runtime, const char *id,
			   struct error *error)
{
	autostrbuf bundle = STRBUF_INIT(4096);

	strbuf_addf(&bundle, "%s/%s", directory, id);
	if (strbuf_failed(&bundle) < 0)
		return error_set(error, ENAMETOOLONG, "the name %s in %s is too long", id,
				 directory);
	/* Not the runtime's own delete: it may have been killed with its state half written. */
	int r = container_clear(runtime, id, error);
	if (r == 0)
		r = bundle_remove(bundle.data, error);
	return r < 0 ? error_wrap(error,
				  "clearing away an ended container (if this stays, end its "
				  "processes and remove %s by hand)",
				  bundle.data)
		     : 0;
}

int leftovers_remove(const char *run_directory, const struct runtime *runtime,
		     const struct local_holders *holders, struct error *error)
{
	autostrbuf directory = STRBUF_INIT(4096);
	const struct dirent *entry;
	int r = 0;

	strbuf_addf(&directory, "%s/containers", run_directory);
	if (strbuf_failed(&directory) < 0)
		return error_set(error, ENAMETOOLONG, "the path %s is too long", run_directory);
	DIR *stream;
	r = containers_open(directory.data, &stream, error);
	if (r <= 0)
		return r;
	r = 0;
	while (r == 0 && (entry = readdir(stream)))
		if (entry->d_name[0] != '.' && !container_holds(holders, runtime, entry->d_name))
			r = leftover_remove(directory.data, runtime, entry->d_name, error);
	closedir(stream);
	return r;
}
