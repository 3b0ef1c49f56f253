/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows' driver in a Windows Subsystem for Linux. Its root is /usr/lib/wsl: lib/ has what programs load,
 * drivers/<folder>/ is the part of Windows' driver store from which libdxcore.so loads the rest, by its own
 * path. So each file is mounted at that path, and what programs load at its name besides.
 */
#include "inject/driver_search.h"

#include <errno.h>
#include <string.h>

#define WSL_TARGET "/usr/lib/wsl" /* where libdxcore.so looks in a container, too */
#define WSL_STORE  "/drivers"
#define WSL_LOADER "libcuda_loader.so"

/*
 * Source of the names: NVIDIA's container toolkit, pkg/nvcdi/driver-wsl.go. libcuda_loader.so is what
 * lib/libcuda.so.1 is.
 *
 * How to add a file: one row.
 */
static const struct wsl_row {
	const char *name;
	unsigned capabilities;
	const char *library, *also; /* the names by which programs load it; NULL: none */
	bool program;
} wsl_rows[] = {
	{ WSL_LOADER, CAPABILITY_COMPUTE | CAPABILITY_VIDEO, "libcuda.so.1", "libcuda.so", false },
	{ "libcuda.so.1.1", CAPABILITY_COMPUTE | CAPABILITY_VIDEO, NULL, NULL, false },
	{ "libnvidia-ptxjitcompiler.so.1", CAPABILITY_COMPUTE | CAPABILITY_VIDEO, NULL, NULL,
	  false },
	{ "libnvidia-ml_loader.so", CAPABILITY_UTILITY, "libnvidia-ml.so.1", NULL, false },
	{ "libnvidia-ml.so.1", CAPABILITY_UTILITY, NULL, NULL, false },
	{ "libdxcore.so", 0, "libdxcore.so", NULL, false },
	{ "libnvdxgdmal.so.1", CAPABILITY_COMPUTE | CAPABILITY_VIDEO, NULL, NULL, false },
	{ "nvcubins.bin", CAPABILITY_COMPUTE | CAPABILITY_VIDEO, NULL, NULL, false },
	{ "nvidia-smi", CAPABILITY_UTILITY, NULL, NULL, true },
};

/* What DIRECTORY has under NAME; 1 for a file. */
static int look(struct search *search, const char *directory, const char *name,
		struct stat *ret_status, char **ret_source)
{
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);

	strbuf_addf(&path, "%s/%s", directory, name);
	if (strbuf_failed(&path) < 0)
		return strbuf_failed(&path) == -ENOMEM ? -ENOMEM : 0;
	int r = search_look(search, path.data, ret_status, ret_source);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	return S_ISREG(ret_status->st_mode);
}

int search_is_wsl(struct search *search)
{
	autofree char *source = NULL;
	struct stat status;

	return look(search, "/lib", "libdxcore.so", &status, &source);
}

static bool is_store(const struct search *search, const char *name)
{
	(void)search;
	return strncmp(name, "nv", 2) == 0;
}

/*
 * The folder of the store that is in use, "" none: that whose loader is as long as the one that Windows
 * put into lib/; an update leaves the older one there until the next start.
 */
static int find_store(struct search *search, struct strbuf *store)
{
	cleanup(string_list_release) struct string_list names = { 0 };
	autofree char *source = NULL;
	struct stat loader = { 0 }, status;
	size_t found = 0;
	int r = search_list(search, WSL_STORE, is_store, false, &names);

	if (r == 0)
		r = look(search, "/lib", "libcuda.so.1.1", &loader, &source);
	for (size_t i = 0; r >= 0 && i < names.count; i++) {
		autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);
		autofree char *unused = NULL;

		strbuf_addf(&path, WSL_STORE "/%s", names.items[i]);
		if (path.failed)
			return -ENOMEM;
		r = look(search, path.data, WSL_LOADER, &status, &unused);
		if (r <= 0)
			continue;
		found++;
		if (found > 1 && status.st_size != loader.st_size)
			continue;
		strbuf_reset(store);
		strbuf_adds(store, path.data);
	}
	if (r < 0 || strbuf_failed(store) < 0)
		return -ENOMEM;
	return found < 2 ? 0
			 : driver_files_note(search->files,
					     "%zu drivers of Windows are in %s%s; %s is taken",
					     found, search->files->root, WSL_STORE, store->data);
}

/* A copy of SOURCE under NAME. */
static struct driver_file *add(struct search *search, enum driver_file_kind kind,
			       const struct wsl_row *row, const char *source, const char *name)
{
	autofree char *copy = strdup(source);

	return copy ? search_add(search, kind, row->capabilities, &copy, name) : NULL;
}

static int add_library(struct search *search, const struct wsl_row *row, const char *source)
{
	struct driver_file *file = add(search, DRIVER_LIBRARY, row, source, row->library);

	if (!file || (row->also && string_list_add(&file->names, row->also) < 0))
		return -ENOMEM;
	file->bits = 64;
	file->cuda_search = row->capabilities != 0;
	search->library_count++;
	return 0;
}

static int add_row(struct search *search, const struct wsl_row *row, const char *store)
{
	const char *const directories[] = { store, "/lib" };
	autostrbuf target = STRBUF_INIT(ROOT_PATH_MAX);
	autofree char *source = NULL;
	struct stat status;
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(directories); i++) {
		if (!*directories[i])
			continue;
		free(TAKE_PTR(source));
		r = look(search, directories[i], row->name, &status, &source);
		if (r == 1)
			strbuf_addf(&target, WSL_TARGET "%s/%s", directories[i], row->name);
	}
	if (r <= 0)
		return r;
	if (target.failed || !add(search, DRIVER_CONFIG, row, source, target.data))
		return -ENOMEM;
	if (row->program && !add(search, DRIVER_BINARY, row, source, row->name))
		return -ENOMEM;
	return row->library ? add_library(search, row, source) : 0;
}

int search_wsl(struct search *search)
{
	autostrbuf store = STRBUF_INIT(ROOT_PATH_MAX);
	int r = find_store(search, &store);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(wsl_rows); i++)
		if (search_wants(search, wsl_rows[i].capabilities))
			r = add_row(search, &wsl_rows[i], store.data);
	return r;
}
