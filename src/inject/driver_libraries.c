/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/driver_search.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "inject/library_header.h"

/* Libraries that every driver has: their links lead to where the others are. */
static const char *const anchors[] = { "libnvidia-ml.so.1", "libcuda.so.1" };

/* ".535.261.03": digits and dots, starting with a dot. */
static bool is_version(const char *text, bool need_two)
{
	unsigned dots = 0;

	if (text[0] != '.')
		return false;
	for (; *text; text++) {
		if (*text == '.') {
			if (text[1] < '0' || text[1] > '9')
				return false;
			dots++;
		} else if (*text < '0' || *text > '9') {
			return false;
		}
	}
	return dots >= (need_two ? 2 : 1);
}

/* What follows "<base>.so" in NAME, or NULL. */
static const char *after_base(const char *name, const char *base)
{
	size_t length = strlen(base);

	if (strncmp(name, base, length) != 0 || strncmp(name + length, ".so", 3) != 0)
		return NULL;
	return name + length + 3;
}

static bool row_matches(const struct library_row *row, const char *name, const char *version,
			bool *ret_link)
{
	*ret_link = false;
	if (row->version == LIBRARY_EXACT)
		return strcmp(name, row->base) == 0;
	const char *rest = after_base(name, row->base);
	if (!rest)
		return false;
	*ret_link = *rest == '\0';
	if (*ret_link)
		return true;
	if (row->version == LIBRARY_OWN)
		return is_version(rest, false);
	return rest[0] == '.' && strcmp(rest + 1, version) == 0;
}

static const struct library_row *find_row(const char *name, const char *version, bool *ret_link)
{
	for (const struct library_row *row = library_rows; row->base; row++)
		if (row_matches(row, name, version, ret_link))
			return row;
	return NULL;
}

static bool name_taken(const struct driver_files *files, unsigned bits, const char *name)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct driver_file *file = &files->items[i];

		if (file->kind != DRIVER_LIBRARY || file->bits != bits)
			continue;
		for (size_t j = 0; j < file->names.count; j++)
			if (strcmp(file->names.items[j], name) == 0)
				return true;
	}
	return false;
}

/* Adds DIRECTORY + NAME unless another library of these bits has it: the first one found wins. */
static int add_name(struct search *search, struct driver_file *file, const char *directory,
		    const char *name)
{
	autostrbuf text = STRBUF_INIT(NAME_MAX);

	strbuf_addf(&text, "%s%s", directory ? directory : "", name);
	if (strbuf_failed(&text) < 0)
		return text.failed == ENOMEM ? -ENOMEM : 0;
	for (size_t i = 0; i < file->names.count; i++)
		if (strcmp(file->names.items[i], text.data) == 0)
			return 0;
	if (name_taken(search->files, file->bits, text.data))
		return 0;
	return string_list_add(&file->names, text.data);
}

static int add_names(struct search *search, struct driver_file *file, const struct library_row *row,
		     const char *soname)
{
	autostrbuf versioned = STRBUF_INIT(NAME_MAX);
	const char *base = strrchr(file->source, '/') + 1;
	const char *first = row->name ? row->name : *soname ? soname : base;
	int r = add_name(search, file, row->directory, first);

	/* Its first name is taken: another copy of the same library was found before. */
	if (r < 0 || file->names.count == 0)
		return r;
	if (row->versioned) {
		strbuf_addf(&versioned, "%s.so.%s", row->base, search->files->version);
		r = strbuf_failed(&versioned) < 0
			    ? strbuf_failed(&versioned)
			    : add_name(search, file, row->directory, versioned.data);
	}
	if (r == 0 && row->also)
		r = add_name(search, file, row->directory, row->also);
	return r;
}

/* Reads the header of the library at SOURCE; 1 when usable, 0 when only a note was made. */
static int read_library(struct search *search, const char *source, struct elf_facts *facts)
{
	struct error error = ERROR_INIT;
	autoclose int fd = open(source, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0) {
		int r = driver_files_note(search->files, "cannot read %s: %s", source,
					  strerrordesc_np(errno));
		return r;
	}
	if (elf_read(fd, source, facts, &error) < 0)
		return driver_files_note(search->files, "%s", error.message);
	if (facts->machine == ELF_MACHINE || facts->machine == ELF_MACHINE_32)
		return 1;
	return driver_files_note(search->files,
				 "%s is for another machine (ELF machine %u); it is "
				 "left out",
				 source, facts->machine);
}

static bool is_known(const struct search *search, const char *source, const char *directory)
{
	for (size_t i = 0; i < search->files->count; i++) {
		const struct driver_file *file = &search->files->items[i];

		/* One file may stand for two libraries, one of them in a directory of its own. */
		if (strcmp(file->source, source) == 0 &&
		    (strchr(file->names.items[0], '/') != NULL) == (directory != NULL))
			return true;
	}
	return false;
}

static int add_library(struct search *search, const struct library_row *row, char **source)
{
	struct elf_facts facts;

	if (is_known(search, *source, row->directory))
		return 0;
	int r = read_library(search, *source, &facts);
	if (r <= 0)
		return r;
	struct driver_file file = { .kind = DRIVER_LIBRARY,
				    .capabilities = row->capabilities,
				    .bits = facts.bits,
				    .cuda_search = row->cuda_search,
				    .source = *source };
	r = add_names(search, &file, row, facts.soname);
	if (r < 0 || file.names.count == 0) {
		string_list_release(&file.names);
		return r;
	}
	struct driver_files *files = search->files;
	struct driver_file *added = VEC_ADD(&files->items, &files->count, &files->capacity);
	if (!added) {
		string_list_release(&file.names);
		return -ENOMEM;
	}
	*added = file;
	*source = NULL;
	search->library_count++;
	return 0;
}

static int add_link(struct search *search, const struct library_row *row, char **source)
{
	struct search_link *link =
		VEC_ADD(&search->links, &search->link_count, &search->link_capacity);

	if (!link)
		return -ENOMEM;
	*link = (struct search_link){ .row = row, .source = TAKE_PTR(*source) };
	return 0;
}

static int add_entry(struct search *search, const char *directory, const char *name)
{
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);
	autofree char *source = NULL;
	struct stat status;
	bool link;
	const struct library_row *row = find_row(name, search->files->version, &link);

	if (!row || !search_wants(search, row->capabilities))
		return 0;
	strbuf_addf(&path, "%s/%s", directory, name);
	int r = strbuf_failed(&path);
	if (r == 0)
		r = search_look(search, path.data, &status, &source);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return driver_files_note(search->files,
					 "%s%s cannot be reached (%s); it is left out",
					 search->files->root, path.data, strerrordesc_np(-r));
	if (!S_ISREG(status.st_mode))
		return driver_files_note(search->files, "%s is no file; it is left out", source);
	return link ? add_link(search, row, &source) : add_library(search, row, &source);
}

static bool is_library(const struct search *search, const char *name)
{
	bool link;

	return find_row(name, search->files->version, &link) != NULL;
}

static int read_directory(struct search *search, const char *path)
{
	cleanup(string_list_release) struct string_list names = { 0 };
	int r = search_list(search, path, is_library, true, &names);

	for (size_t i = 0; r == 0 && i < names.count; i++)
		r = add_entry(search, path, names.items[i]);
	return r;
}

static int read_with_children(struct search *search, const char *path)
{
	static const char *const children[] = { "", "/vdpau", "/gbm" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(children); i++) {
		autostrbuf child = STRBUF_INIT(ROOT_PATH_MAX);

		strbuf_addf(&child, "%s%s", path, children[i]);
		r = strbuf_failed(&child) < 0 ? strbuf_failed(&child)
					      : read_directory(search, child.data);
	}
	return r;
}

/* The real path of an anchor seen from DIRECTORY, or NULL in *ret. */
static int find_anchor(struct search *search, const char *directory, const char *name, char **ret)
{
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);
	struct stat status;

	*ret = NULL;
	strbuf_addf(&path, "%s/%s", directory, name);
	if (strbuf_failed(&path) < 0)
		return strbuf_failed(&path);
	int r = search_look(search, path.data, &status, ret);
	return r == -ENOMEM ? r : 0;
}

/* The directory where an anchor's links end; the driver's other files are beside it. */
static int read_beside(struct search *search, const char *directory, const char *name)
{
	autofree char *source = NULL;
	int r = find_anchor(search, directory, name, &source);

	if (r < 0 || !source)
		return r;
	size_t skip = strlen(search->root_path) > 1 ? strlen(search->root_path) : 0;
	*strrchr(source, '/') = '\0';
	return read_with_children(search, source + skip);
}

static int attach_links(struct search *search)
{
	for (size_t i = 0; i < search->link_count; i++) {
		const struct search_link *link = &search->links[i];

		for (size_t j = 0; j < search->files->count; j++) {
			struct driver_file *file = &search->files->items[j];
			autostrbuf name = STRBUF_INIT(NAME_MAX);

			if (strcmp(file->source, link->source) != 0 || link->row->directory)
				continue;
			strbuf_addf(&name, "%s.so", link->row->base);
			int r = strbuf_failed(&name) < 0 ? strbuf_failed(&name)
							 : add_name(search, file, NULL, name.data);
			if (r < 0)
				return r;
			break;
		}
	}
	return 0;
}

int search_libraries(struct search *search)
{
	int r = 0;

	for (size_t i = 0; r == 0 && library_directories[i]; i++)
		r = read_with_children(search, library_directories[i]);
	for (size_t i = 0; r == 0 && library_directories[i]; i++)
		for (size_t j = 0; r == 0 && j < ARRAY_SIZE(anchors); j++)
			r = read_beside(search, library_directories[i], anchors[j]);
	return r < 0 ? r : attach_links(search);
}

/* The version in the name of an anchor's file, "libcuda.so.535.261.03"; NULL: none. */
static const char *version_of(const char *name)
{
	static const char *const bases[] = { "libnvidia-ml", "libcuda" };

	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		const char *rest = after_base(name, bases[i]);

		if (rest && is_version(rest, true))
			return rest + 1;
	}
	return NULL;
}

static bool has_version(const struct search *search, const char *name)
{
	(void)search;
	return version_of(name) != NULL;
}

static bool take_version(struct search *search, const char *name)
{
	const char *version = version_of(name);

	if (!version || strlen(version) >= sizeof(search->files->version))
		return false;
	memcpy(search->files->version, version, strlen(version) + 1);
	return true;
}

/* 1 when a file in DIRECTORY tells the version: first the one that programs get. */
static int version_in(struct search *search, const char *path)
{
	cleanup(string_list_release) struct string_list names = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(anchors); i++) {
		autofree char *source = NULL;
		int r = find_anchor(search, path, anchors[i], &source);

		if (r < 0)
			return r;
		if (source && take_version(search, strrchr(source, '/') + 1))
			return 1;
	}
	int r = search_list(search, path, has_version, false, &names);
	if (r < 0 || !names.count)
		return r;
	return take_version(search, names.items[names.count - 1]);
}

int search_version(struct search *search, struct error *error)
{
	for (size_t i = 0; library_directories[i]; i++) {
		int r = version_in(search, library_directories[i]);

		if (r == 1)
			return 0;
		if (r == -ENOMEM)
			return error_no_memory(error);
		if (r < 0)
			return error_set_errno(error, -r, "cannot read %s%s", search->files->root,
					       library_directories[i]);
	}
	return error_set(
		error, ENOENT,
		"driver root %s has no libnvidia-ml and no libcuda; name the driver's place "
		"with --driver-root",
		search->files->root);
}
