/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers around json-c's tree; reading is in json_parse.c. */
#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_number.h"
#include "base/strbuf.h"

#define KEY_MAX  256 /* longest step of a path */
#define FILE_MAX ((size_t)256 << 20)

const struct json_limits json_limits_default = { .bytes = 16 << 20, .depth = 64 };

int json_read_file(const char *path, const struct json_limits *limits, struct json_object **ret,
		   struct error *error)
{
	autofree char *text = NULL;
	size_t length = 0;

	if (!limits)
		limits = &json_limits_default;
	int r = file_read(path, limits->bytes, &text, &length, error);
	if (r < 0)
		return r;
	return json_parse(text, length, path, limits, ret, error);
}

int json_read_trusted(const char *path, const struct json_limits *limits, struct json_object **ret,
		      struct error *error)
{
	autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	autofree char *text = NULL;
	struct stat status;
	size_t length;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_set_errno(error, errno, "cannot read %s", path);
	if (!S_ISREG(status.st_mode) || (status.st_uid != 0 && status.st_uid != geteuid()) ||
	    status.st_mode & (S_IWGRP | S_IWOTH))
		return error_set(error, EPERM,
				 "%s can be changed by others (owner %u, mode %04o): it is not "
				 "believed; remove it",
				 path, status.st_uid, status.st_mode & 07777);
	int r = file_read_fd(fd, path, limits->bytes, &text, &length, error);
	return r < 0 ? r : json_parse(text, length, path, limits, ret, error);
}

int json_write_file(const char *path, struct json_object *object, unsigned mode,
		    struct error *error)
{
	autostrbuf text = STRBUF_INIT(FILE_MAX);

	int r = json_to_text(object, true, &text, error);
	strbuf_addc(&text, '\n');
	if (r < 0 || strbuf_failed(&text) < 0)
		return r < 0 ? r : error_no_memory(error);
	return file_write_atomic(path, text.data, text.length, mode, error);
}

/*
 * Where the line stands. json-c gives each object one pointer, and uses it for a double's text. So
 * a double with a line has a note there, which starts with a byte that no number starts with;
 * anything else keeps the line in the pointer itself.
 */
#define NOTE_MARK 0x01

struct json_note {
	char mark;
	unsigned line;
	char text[];
};

static struct json_note *note_new(unsigned line, const char *text)
{
	size_t size = strlen(text) + 1;
	struct json_note *note = malloc(sizeof(*note) + size);

	if (!note)
		return NULL;
	note->mark = NOTE_MARK;
	note->line = line;
	memcpy(note->text, text, size);
	return note;
}

static const struct json_note *note_of(struct json_object *object)
{
	const char *data = json_object_get_userdata(object);

	return data && *data == NOTE_MARK ? (const struct json_note *)(const void *)data : NULL;
}

/* json-c prints doubles through this. */
static int note_print(struct json_object *object, struct printbuf *out, int level, int flags)
{
	const struct json_note *note = note_of(object);

	(void)level;
	(void)flags;
	return note ? printbuf_memappend(out, note->text, (int)strlen(note->text)) : -1;
}

int json_set_line(struct json_object *object, unsigned line, const char *text)
{
	if (!object)
		return 0;
	if (!json_object_is_type(object, json_type_double)) {
		json_object_set_userdata(object, (void *)(uintptr_t)line, NULL);
		return 0;
	}
	struct json_note *note = note_new(line, text);
	if (!note)
		return -ENOMEM;
	json_object_set_serializer(object, note_print, note, json_object_free_userdata);
	return 0;
}

unsigned json_line(struct json_object *object)
{
	if (!object)
		return 0;
	if (!json_object_is_type(object, json_type_double))
		return (unsigned)(uintptr_t)json_object_get_userdata(object);
	const struct json_note *note = note_of(object);
	return note ? note->line : 0;
}

/* json-c's callback for each object of a deep copy; 2 says that the user data are done as well. */
static int copy_one(struct json_object *source, struct json_object *parent, const char *key,
		    size_t index, struct json_object **ret)
{
	int r = json_c_shallow_copy_default(source, parent, key, index, ret);

	if (r < 1)
		return r;
	if (!json_object_is_type(source, json_type_double)) {
		json_set_line(*ret, json_line(source), NULL);
		return 2;
	}
	const struct json_note *note = note_of(source);
	if (!note)
		return r;
	return json_set_line(*ret, note->line, note->text) < 0 ? -1 : 2;
}

int json_copy(struct json_object *object, struct json_object **ret, struct error *error)
{
	struct json_object *copy = NULL;

	if (object && json_object_deep_copy(object, &copy, copy_one) < 0)
		return error_no_memory(error);
	*ret = copy;
	return 0;
}

const char *json_double_text(struct json_object *object)
{
	const char *data = json_object_get_userdata(object);

	return data && *data == NOTE_MARK ? note_of(object)->text : data;
}

struct json_object *json_get(struct json_object *object, const char *path)
{
	while (object && *path) {
		size_t length = strcspn(path, ".");
		char key[KEY_MAX];

		if (length >= sizeof(key) || !json_object_is_type(object, json_type_object))
			return NULL;
		memcpy(key, path, length);
		key[length] = '\0';
		if (!json_object_object_get_ex(object, key, &object))
			return NULL;
		path += length + (path[length] == '.');
	}
	return object;
}

const char *json_get_string(struct json_object *object, const char *path, const char *fallback)
{
	struct json_object *found = json_get(object, path);

	return json_object_is_type(found, json_type_string) ? json_object_get_string(found)
							    : fallback;
}

uint64_t json_get_uint(struct json_object *object, const char *path, uint64_t fallback)
{
	struct json_object *found = json_get(object, path);

	if (!json_object_is_type(found, json_type_int) || json_object_get_int64(found) < 0)
		return fallback;
	return json_object_get_uint64(found);
}

static int add_any(struct json_object *object, const char *key, struct json_object *value)
{
	if (object && json_object_object_add(object, key, value) == 0)
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

int json_add(struct json_object *object, const char *key, struct json_object *value)
{
	return value ? add_any(object, key, value) : -ENOMEM;
}

int json_add_null(struct json_object *object, const char *key)
{
	return add_any(object, key, NULL);
}

int json_add_string(struct json_object *object, const char *key, const char *value)
{
	return value ? json_add(object, key, json_object_new_string(value))
		     : json_add_null(object, key);
}

int json_add_uint(struct json_object *object, const char *key, uint64_t value)
{
	return json_add(object, key, json_object_new_uint64(value));
}

int json_add_int(struct json_object *object, const char *key, int64_t value)
{
	return json_add(object, key, json_object_new_int64(value));
}

int json_add_bool(struct json_object *object, const char *key, bool value)
{
	return json_add(object, key, json_object_new_boolean(value));
}

int json_append(struct json_object *array, struct json_object *value)
{
	if (array && value && json_object_array_add(array, value) == 0)
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

int json_append_string(struct json_object *array, const char *value)
{
	return json_append(array, json_object_new_string(value));
}
