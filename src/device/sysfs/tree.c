/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sysfs/tree.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static int tree_vpath(char **ret, struct error *error, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));

static int tree_vpath(char **ret, struct error *error, const char *format, va_list arguments)
{
	autostrbuf path = STRBUF_INIT(PATH_MAX - 1);

	strbuf_vaddf(&path, format, arguments);
	int r = strbuf_failed(&path);
	if (r < 0)
		return error_set_errno(error, -r, "cannot build the path %.64s...", path.data);
	char *text = strbuf_detach(&path);
	if (!text)
		return error_no_memory(error);
	*ret = text;
	return 0;
}

int tree_path(char **ret, struct error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int r = tree_vpath(ret, error, format, arguments);
	va_end(arguments);
	return r;
}

int tree_read(char **ret, size_t maximum, const char *format, ...)
{
	autofree char *path = NULL;
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	int r = tree_vpath(&path, NULL, format, arguments);
	va_end(arguments);
	if (r < 0)
		return r;
	return file_read(path, maximum, ret, &length, NULL);
}

int tree_choose(const char *root, const char *path, char **ret, struct error *error)
{
	autofree char *own = NULL;

	if (strcmp(root, "/") != 0) {
		int r = tree_path(&own, error, "%s%s", root, path);

		if (r < 0)
			return r;
		if (access(own, F_OK) == 0) {
			*ret = TAKE_PTR(own);
			return 0;
		}
	}
	return tree_path(ret, error, "%s", path);
}
