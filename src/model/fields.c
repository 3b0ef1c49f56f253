/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fields.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/request.h"

static uint64_t load_uint(const void *at, size_t size)
{
	uint32_t small;
	uint64_t large;

	if (size == sizeof(small)) {
		memcpy(&small, at, sizeof(small));
		return small;
	}
	memcpy(&large, at, sizeof(large));
	return large;
}

static int64_t load_int(const void *at, size_t size)
{
	return size == sizeof(int32_t) ? (int32_t)load_uint(at, size)
				       : (int64_t)load_uint(at, size);
}

static void store_uint(void *at, size_t size, uint64_t value)
{
	uint32_t small = (uint32_t)value;

	if (size == sizeof(small))
		memcpy(at, &small, sizeof(small));
	else
		memcpy(at, &value, sizeof(value));
}

static int field_add(const struct field *field, const void *at, struct json_object *object)
{
	bool truth;
	int64_t number;

	switch (field->kind) {
	case FIELD_TEXT:
	case FIELD_WORD:
		return json_add_string(object, field->key, at);
	case FIELD_MAYBE:
		if (load_uint(at, field->size) == UINT32_MAX)
			return json_add_null(object, field->key);
		return json_add_uint(object, field->key, load_uint(at, field->size));
	case FIELD_UINT:
		return json_add_uint(object, field->key, load_uint(at, field->size));
	case FIELD_INT:
		return json_add_int(object, field->key, load_int(at, field->size));
	case FIELD_BOOL:
		memcpy(&truth, at, sizeof(truth));
		return json_add_bool(object, field->key, truth);
	case FIELD_NAME:
		number = load_int(at, field->size);
		if (number < 0 || number >= field->count)
			number = 0;
		return json_add_string(object, field->key, field->names[number]);
	}
	return -EINVAL;
}

int fields_to_json(const struct field *fields, size_t count, const void *base,
		   struct json_object *object)
{
	for (size_t i = 0; i < count; i++) {
		if (field_add(&fields[i], (const char *)base + fields[i].offset, object) < 0)
			return -ENOMEM;
	}
	return 0;
}

struct place { /* of a field, for messages */
	const char *where;
	const struct field *field;
};

static bool is_word(char character)
{
	return isalnum((unsigned char)character) || (character && strchr("-._:", character));
}

static int read_text(const struct place *place, struct json_object *value, char *ret,
		     struct error *error)
{
	const struct field *field = place->field;

	if (!json_object_is_type(value, json_type_string))
		return error_set(error, EINVAL, "%s.%s must be a string", place->where, field->key);
	const char *text = json_object_get_string(value);
	size_t length = (size_t)json_object_get_string_len(value);
	if (length >= field->size)
		return error_set(error, EINVAL, "%s.%s has %zu bytes, at most %zu are allowed",
				 place->where, field->key, length, field->size - 1);
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];
		if (byte < 0x20 || byte == 0x7f)
			return error_set(error, EINVAL, "%s.%s holds the control character 0x%02x",
					 place->where, field->key, (unsigned)byte);
		if (field->kind == FIELD_WORD && !is_word(text[i]))
			return error_set(error, EINVAL,
					 "%s.%s is '%s'; only letters, digits and - . _ : are "
					 "allowed",
					 place->where, field->key, text);
	}
	memcpy(ret, text, length);
	ret[length] = '\0';
	return 0;
}

static int read_uint(const struct place *place, struct json_object *value, void *ret,
		     struct error *error)
{
	const struct field *field = place->field;

	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0 ||
	    json_object_get_uint64(value) > field->maximum)
		return error_set(error, EINVAL,
				 "%s.%s is %.64s; it must be a whole number from 0 to %" PRIu64,
				 place->where, field->key, json_object_to_json_string(value),
				 field->maximum);
	store_uint(ret, field->size, json_object_get_uint64(value));
	return 0;
}

static int read_int(const struct place *place, struct json_object *value, void *ret,
		    struct error *error)
{
	const struct field *field = place->field;
	int64_t number = json_object_get_int64(value);

	if (!json_object_is_type(value, json_type_int) || number < field->minimum ||
	    (number > 0 && json_object_get_uint64(value) > field->maximum))
		return error_set(error, EINVAL,
				 "%s.%s is %.64s; it must be a whole number from %" PRId64
				 " to %" PRIu64,
				 place->where, field->key, json_object_to_json_string(value),
				 field->minimum, field->maximum);
	store_uint(ret, field->size, (uint64_t)number);
	return 0;
}

static int read_name(const struct place *place, struct json_object *value, void *ret,
		     struct error *error)
{
	const struct field *field = place->field;
	const char *text = json_object_get_string(value);

	for (int i = 0; i < field->count && json_object_is_type(value, json_type_string); i++) {
		if (strcmp(field->names[i], text) == 0) {
			store_uint(ret, field->size, (uint64_t)i);
			return 0;
		}
	}
	return error_set(error, EINVAL, "%s.%s is %.64s; it must be \"%s\" or another known name",
			 place->where, field->key, json_object_to_json_string(value),
			 field->names[0]);
}

static int read_field(const struct place *place, struct json_object *value, void *ret,
		      struct error *error)
{
	bool truth;

	switch (place->field->kind) {
	case FIELD_TEXT:
	case FIELD_WORD:
		return read_text(place, value, ret, error);
	case FIELD_MAYBE:
		if (value)
			return read_uint(place, value, ret, error);
		store_uint(ret, place->field->size, UINT32_MAX);
		return 0;
	case FIELD_UINT:
		return read_uint(place, value, ret, error);
	case FIELD_INT:
		return read_int(place, value, ret, error);
	case FIELD_NAME:
		return read_name(place, value, ret, error);
	case FIELD_BOOL:
		if (!json_object_is_type(value, json_type_boolean))
			return error_set(error, EINVAL, "%s.%s must be true or false", place->where,
					 place->field->key);
		truth = json_object_get_boolean(value);
		memcpy(ret, &truth, sizeof(truth));
		return 0;
	}
	return -EINVAL;
}

int fields_from_json(const struct field *fields, size_t count, struct json_object *object,
		     const char *where, void *base, struct error *error)
{
	if (!json_object_is_type(object, json_type_object))
		return error_set(error, EINVAL, "%s must be an object", where);
	for (size_t i = 0; i < count; i++) {
		struct place place = { where, &fields[i] };
		struct json_object *value;

		if (!json_object_object_get_ex(object, fields[i].key, &value))
			return error_set(error, EINVAL, "%s.%s is missing", where, fields[i].key);
		int r = read_field(&place, value, (char *)base + fields[i].offset, error);
		if (r < 0)
			return r;
	}
	return 0;
}

int fields_array(struct json_object *object, const char *where, const char *key, size_t maximum,
		 struct json_object **ret, struct error *error)
{
	struct json_object *array;

	if (!json_object_object_get_ex(object, key, &array) ||
	    !json_object_is_type(array, json_type_array))
		return error_set(error, EINVAL, "%s.%s must be a list", where, key);
	size_t count = json_object_array_length(array);
	if (count > maximum)
		return error_set(error, EINVAL, "%s.%s has %zu items, at most %zu are allowed",
				 where, key, count, maximum);
	*ret = array;
	return 0;
}

int field_list_to_json(const struct field_list *list, const void *owner, struct json_object *object)
{
	struct json_object *array = fields_add_array(object, list->key);
	const char *items;
	size_t count;

	if (!array)
		return -ENOMEM;
	memcpy(&items, (const char *)owner + list->items, sizeof(items));
	memcpy(&count, (const char *)owner + list->count, sizeof(count));
	for (size_t i = 0; i < count; i++) {
		autojson *item = json_object_new_object();

		if (!item ||
		    fields_to_json(list->fields, list->field_count, items + i * list->size, item) <
			    0 ||
		    json_append(array, TAKE_PTR(item)) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* A new item at the end of OWNER's list, or NULL. */
static void *list_add(const struct field_list *list, void *owner)
{
	char *base = owner, *items;
	size_t count, capacity;

	memcpy(&count, base + list->count, sizeof(count));
	memcpy(&capacity, base + list->capacity, sizeof(capacity));
	if (vec_reserve(base + list->items, &capacity, count + 1, list->size) < 0)
		return NULL;
	memcpy(base + list->capacity, &capacity, sizeof(capacity));
	memcpy(&items, base + list->items, sizeof(items));
	count++;
	memcpy(base + list->count, &count, sizeof(count));
	return items + (count - 1) * list->size;
}

int field_list_from_json(const struct field_list *list, struct json_object *object,
			 const char *where, void *owner, struct error *error)
{
	struct json_object *array;

	int r = fields_array(object, where, list->key, list->maximum, &array, error);
	for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
		char name[128];
		void *item = list_add(list, owner);

		if (!item)
			return error_no_memory(error);
		snprintf(name, sizeof(name), "%s.%s[%zu]", where, list->key, i);
		r = fields_from_json(list->fields, list->field_count,
				     json_object_array_get_idx(array, i), name, item, error);
	}
	return r;
}

int fields_add_strings(struct json_object *object, const char *key, const struct string_list *list)
{
	struct json_object *array = fields_add_array(object, key);

	if (!array)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++)
		if (json_append_string(array, list->items[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* NAME is the whole place of the value: "node.labels[3].key". */
static int check_text(struct json_object *value, const char *name, struct error *error)
{
	if (!json_object_is_type(value, json_type_string))
		return error_set(error, EINVAL, "%s must be a string", name);
	for (const char *at = json_object_get_string(value); *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return error_set(error, EINVAL, "%s holds the control character 0x%02x",
					 name, (unsigned)(unsigned char)*at);
	return 0;
}

int fields_read_strings(struct json_object *object, const char *where, const char *key,
			size_t maximum, struct string_list *ret, struct error *error)
{
	struct json_object *array;
	int r;

	if (!json_object_object_get_ex(object, key, &array) ||
	    !json_object_is_type(array, json_type_array))
		return error_set(error, EINVAL, "%s.%s must be a list", where, key);
	if (json_object_array_length(array) > maximum)
		return error_set(error, EINVAL, "%s.%s has %zu items, at most %zu are allowed",
				 where, key, json_object_array_length(array), maximum);
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		struct json_object *item = json_object_array_get_idx(array, i);
		char name[128];

		snprintf(name, sizeof(name), "%s.%s[%zu]", where, key, i);
		r = check_text(item, name, error);
		if (r < 0)
			return r;
		if (string_list_add(ret, json_object_get_string(item)) < 0)
			return error_no_memory(error);
	}
	return 0;
}

int fields_read_string(struct json_object *object, const char *where, const char *key,
		       bool null_allowed, char **ret, struct error *error)
{
	struct json_object *value;
	char name[128];
	int r;

	if (!json_object_object_get_ex(object, key, &value))
		return error_set(error, EINVAL, "%s.%s is missing", where, key);
	*ret = NULL;
	if (!value && null_allowed)
		return 0;
	snprintf(name, sizeof(name), "%s.%s", where, key);
	r = check_text(value, name, error);
	if (r < 0)
		return r;
	*ret = strdup(json_object_get_string(value));
	return *ret ? 0 : error_no_memory(error);
}

int fields_check_version(struct json_object *object, const char *what, unsigned version,
			 struct error *error)
{
	struct json_object *value;

	if (!json_object_is_type(object, json_type_object))
		return error_set(error, EINVAL, "%s must be a JSON object", what);
	if (!json_object_object_get_ex(object, "version", &value) ||
	    !json_object_is_type(value, json_type_int))
		return error_set(error, EINVAL, "%s has no version", what);
	if (json_object_get_int64(value) != (int64_t)version)
		return error_set(error, EINVAL,
				 "%s has version %.32s and this program reads version %u; write it "
				 "anew with this program",
				 what, json_object_to_json_string(value), version);
	return 0;
}

struct json_object *fields_add_array(struct json_object *object, const char *key)
{
	struct json_object *array = json_object_new_array();

	if (!array || json_add(object, key, array) < 0)
		return NULL;
	return array;
}
