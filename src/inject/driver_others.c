/* SPDX-License-Identifier: Apache-2.0 */
/* Programs, firmware, config files, sockets and device nodes of a driver root. */
#include "inject/driver_search.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Adds DIRECTORY/RELATIVE when it is a file of KIND; 1 when it was. */
static int add_file(struct search *search, enum driver_file_kind kind, unsigned capabilities,
		    const char *directory, const char *relative, const char *name)
{
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);
	autofree char *source = NULL;
	struct stat status;

	strbuf_addf(&path, "%s/%s", directory, relative);
	if (strbuf_failed(&path) < 0)
		return strbuf_failed(&path);
	int r = search_look(search, path.data, &status, &source);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (!S_ISREG(status.st_mode) || (kind == DRIVER_BINARY && !(status.st_mode & 0111)))
		return 0;
	return search_add(search, kind, capabilities, &source, name) ? 1 : -ENOMEM;
}

int search_binaries(struct search *search)
{
	for (const struct binary_row *row = binary_rows; row->name; row++) {
		int r = 0;

		if (!search_wants(search, row->capabilities))
			continue;
		search->looking = row->capabilities;
		for (size_t i = 0; r == 0 && binary_directories[i]; i++)
			r = add_file(search, DRIVER_BINARY, row->capabilities,
				     binary_directories[i], row->name, row->name);
		search->looking = 0;
		if (r < 0)
			return r;
	}
	return 0;
}

int search_configs(struct search *search)
{
	for (const struct config_row *row = config_rows; row->target; row++) {
		int r = 0;

		if (!search_wants(search, row->capabilities))
			continue;
		search->looking = row->capabilities;
		for (size_t i = 0; r == 0 && config_directories[i]; i++)
			r = add_file(search, DRIVER_CONFIG, row->capabilities,
				     config_directories[i], row->relative, row->target);
		if (r == 0 && row->in_root)
			r = add_file(search, DRIVER_CONFIG, row->capabilities, "", row->relative,
				     row->target);
		search->looking = 0;
		if (r == 1)
			search->files->items[search->files->count - 1].gated = row->gated;
		if (r < 0)
			return r;
	}
	return 0;
}

/* 1 when DIRECTORY has the module under NAME. */
static int add_module(struct search *search, const struct module_row *row, const char *directory,
		      const char *name)
{
	autostrbuf target = STRBUF_INIT(ROOT_PATH_MAX), other = STRBUF_INIT(ROOT_PATH_MAX);

	strbuf_addf(&target, MODULE_TARGET "/%s/%s", row->directory, row->name);
	strbuf_addf(&other, MODULE_TARGET_64 "/%s/%s", row->directory, row->name);
	if (target.failed || other.failed)
		return -ENOMEM;
	int r = add_file(search, DRIVER_MODULE, row->capabilities, directory, name, target.data);
	if (r != 1)
		return r;
	struct driver_file *file = &search->files->items[search->files->count - 1];
	return string_list_add(&file->names, other.data) < 0 ? -ENOMEM : 1;
}

/* 1 when DIRECTORY, or the row's own below it, has the module: by its version, or a link to it. */
static int module_in(struct search *search, const struct module_row *row, const char *directory,
		     bool flat)
{
	autostrbuf place = STRBUF_INIT(ROOT_PATH_MAX), name = STRBUF_INIT(ROOT_PATH_MAX);
	int r = 0;

	strbuf_addf(&place, "%s%s%s", directory, flat ? "" : "/", flat ? "" : row->directory);
	strbuf_addf(&name, "%s.%s", row->name, search->files->version);
	if (place.failed || name.failed)
		return -ENOMEM;
	if (row->versioned)
		r = add_module(search, row, place.data, name.data);
	return r ? r : add_module(search, row, place.data, row->name);
}

int search_modules(struct search *search)
{
	for (const struct module_row *row = module_rows; row->name; row++) {
		int r = 0;

		if (!search_wants(search, row->capabilities))
			continue;
		search->looking = row->capabilities;
		for (size_t i = 0; r == 0 && module_flat_directories[i]; i++)
			r = module_in(search, row, module_flat_directories[i], true);
		for (size_t i = 0; r == 0 && module_directories[i]; i++)
			r = module_in(search, row, module_directories[i], false);
		search->looking = 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static bool is_firmware(const struct search *search, const char *name)
{
	size_t length = strlen(name);

	(void)search;
	return strncmp(name, "gsp", 3) == 0 && length > 4 && strcmp(name + length - 4, ".bin") == 0;
}

/* GSP firmware below DIRECTORY; 1 when there was some. */
static int firmware_in(struct search *search, const char *directory)
{
	cleanup(string_list_release) struct string_list names = { 0 };
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);
	int found = 0;

	strbuf_addf(&path, "%s/nvidia/%s", directory, search->files->version);
	int r = strbuf_failed(&path);
	if (r == 0)
		r = search_list(search, path.data, is_firmware, false, &names);
	for (size_t i = 0; r >= 0 && i < names.count; i++) {
		autostrbuf target = STRBUF_INIT(ROOT_PATH_MAX);

		strbuf_addf(&target, "/lib/firmware/nvidia/%s/%s", search->files->version,
			    names.items[i]);
		r = strbuf_failed(&target) < 0 ? strbuf_failed(&target)
					       : add_file(search, DRIVER_FIRMWARE, 0, path.data,
							  names.items[i], target.data);
		found |= r == 1;
	}
	return r < 0 ? r : found;
}

int search_firmware_path(const struct search *search, struct strbuf *out)
{
	char text[ROOT_PATH_MAX];
	autoclose int fd = root_open(search->root, "/sys/module/firmware_class/parameters/path",
				     O_RDONLY | O_NONBLOCK);
	ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (length <= 0)
		return 0;
	text[length] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (text[0] == '/')
		strbuf_adds(out, text);
	return strbuf_failed(out);
}

int search_firmware(struct search *search)
{
	struct utsname system;
	autostrbuf named = STRBUF_INIT(ROOT_PATH_MAX);
	autostrbuf updates = STRBUF_INIT(ROOT_PATH_MAX);
	autostrbuf release = STRBUF_INIT(ROOT_PATH_MAX);

	if (uname(&system) < 0)
		return -errno;
	int r = search_firmware_path(search, &named);
	strbuf_addf(&updates, "/lib/firmware/updates/%s", system.release);
	strbuf_addf(&release, "/lib/firmware/%s", system.release);
	if (r < 0 || updates.failed || release.failed)
		return -ENOMEM;
	/* The kernel's own order; the first directory that has some is taken. */
	const char *const directories[] = { named.data, updates.data, "/lib/firmware/updates",
					    release.data, "/lib/firmware" };
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(directories); i++)
		if (*directories[i])
			r = firmware_in(search, directories[i]);
	return r < 0 ? r : 0;
}

static bool socket_fits(const struct socket_row *row, const struct stat *status)
{
	if (row->directory)
		return S_ISDIR(status->st_mode) && status->st_uid == 0;
	return S_ISSOCK(status->st_mode);
}

/* In this machine's own root a name leads where it leads any process. Most sockets are absent. */
static bool is_absent(const struct search *search, const char *path)
{
	return strcmp(search->root_path, "/") == 0 && access(path, F_OK) < 0 && errno == ENOENT;
}

static bool wants_socket(const struct search *search, const struct socket_row *row)
{
	if (!search->wanted)
		return true;
	return search_wants(search, row->capabilities) &&
	       (!row->gated || (row->gated & search->wanted->gated));
}

/* 1 when one of the row's places below SEARCH's root has it. */
static int add_socket(struct search *search, const struct socket_row *row)
{
	const char *const places[] = { row->target, row->other };

	for (size_t i = 0; i < ARRAY_SIZE(places) && places[i]; i++) {
		autofree char *source = NULL;
		struct stat status;

		if (is_absent(search, places[i]))
			continue;
		int r = search_look(search, places[i], &status, &source);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			continue;
		if (!socket_fits(row, &status)) {
			r = driver_files_note(
				search->files,
				"%s is not the driver's (%s); it is "
				"left out",
				source, row->directory ? "no directory of root" : "no socket");
			if (r < 0)
				return r;
			continue;
		}
		struct driver_file *file =
			search_add(search, DRIVER_SOCKET, row->capabilities, &source, row->target);
		if (!file)
			return -ENOMEM;
		file->directory = row->directory;
		file->gated = row->gated;
		return 1;
	}
	return 0;
}

int search_host(const struct search *search, struct search *ret)
{
	*ret = (struct search){ .root = -1,
				.capabilities = search->capabilities,
				.wanted = search->wanted,
				.files = search->files };
	if (strcmp(search->root_path, search->host) == 0)
		return 0;
	ret->root = open(search->host, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ret->root < 0)
		return -errno;
	int r = root_fd_path(ret->root, &ret->root_path);
	return r < 0 ? r : strcmp(search->root_path, ret->root_path) != 0;
}

void search_host_release(struct search *host)
{
	cleanup_close(&host->root);
	free(host->root_path);
	search_places_release(host);
}

int search_sockets(struct search *search)
{
	cleanup(search_host_release) struct search host = { .root = -1 };
	int r = search_host(search, &host);
	bool elsewhere = r == 1;

	for (const struct socket_row *row = socket_rows; r >= 0 && row->target; row++) {
		if (!wants_socket(search, row))
			continue;
		r = add_socket(search, row);
		if (r == 0 && elsewhere)
			r = add_socket(&host, row);
	}
	return r < 0 ? r : 0;
}
