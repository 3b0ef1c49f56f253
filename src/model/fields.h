/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A structure to a JSON object and back, by one table for both ways. Reading checks every field:
 * present, of its type, within its bounds, printable.
 *
 * How to add a field: one row in the table of its structure (card.c, grant.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum field_kind {
	FIELD_TEXT,  /* char[size]; printable UTF-8 */
	FIELD_WORD,  /* char[size]; letters, digits and - . _ : only */
	FIELD_UINT,  /* unsigned of size 4 or 8 bytes */
	FIELD_MAYBE, /* uint32_t whose UINT32_MAX, "unknown", is null in JSON */
	FIELD_INT,   /* signed of size 4 or 8 bytes */
	FIELD_BOOL,
	FIELD_NAME, /* an enum of size 4: one of the COUNT names */
};

struct field {
	const char *key;
	enum field_kind kind;
	size_t offset, size;
	int64_t minimum;  /* FIELD_INT */
	uint64_t maximum; /* FIELD_UINT, FIELD_INT */
	const char *const *names;
	int count;
};

#define FIELD_PLACE(type, member) offsetof(type, member), sizeof(((type *)NULL)->member)
#define TEXT_FIELD(type, key, member)                                     \
	{                                                                 \
		key, FIELD_TEXT, FIELD_PLACE(type, member), 0, 0, NULL, 0 \
	}
#define WORD_FIELD(type, key, member)                                     \
	{                                                                 \
		key, FIELD_WORD, FIELD_PLACE(type, member), 0, 0, NULL, 0 \
	}
#define UINT_FIELD(type, key, member, maximum)                                  \
	{                                                                       \
		key, FIELD_UINT, FIELD_PLACE(type, member), 0, maximum, NULL, 0 \
	}
#define MAYBE_FIELD(type, key, member)                                                  \
	{                                                                               \
		key, FIELD_MAYBE, FIELD_PLACE(type, member), 0, UINT32_MAX - 1, NULL, 0 \
	}
#define INT_FIELD(type, key, member, minimum, maximum)                               \
	{                                                                            \
		key, FIELD_INT, FIELD_PLACE(type, member), minimum, maximum, NULL, 0 \
	}
#define BOOL_FIELD(type, key, member)                                     \
	{                                                                 \
		key, FIELD_BOOL, FIELD_PLACE(type, member), 0, 0, NULL, 0 \
	}
#define NAME_FIELD(type, key, member, names)                                                    \
	{                                                                                       \
		key, FIELD_NAME, FIELD_PLACE(type, member), 0, 0, names, (int)ARRAY_SIZE(names) \
	}

/* A growing array of structures inside another one (base/vec.h). */
struct field_list {
	const char *key;
	const struct field *fields; /* of one item */
	size_t field_count, size;
	size_t items, count, capacity; /* their places in the owner */
	size_t maximum;
};

#define FIELD_LIST(type, key, items, count, capacity, fields, maximum)                          \
	{                                                                                       \
		key, fields, ARRAY_SIZE(fields), sizeof(*((type *)NULL)->items),                \
			offsetof(type, items), offsetof(type, count), offsetof(type, capacity), \
			maximum                                                                 \
	}

/* Adds the list of OWNER to OBJECT. 0 or -ENOMEM. */
int field_list_to_json(const struct field_list *list, const void *owner,
		       struct json_object *object);
/* Appends to the list of OWNER, also before an error. */
int field_list_from_json(const struct field_list *list, struct json_object *object,
			 const char *where, void *owner, struct error *error);

/* Adds all fields of BASE to OBJECT. 0 or -ENOMEM. */
int fields_to_json(const struct field *fields, size_t count, const void *base,
		   struct json_object *object);
/* Fills BASE. WHERE names the object for messages: "cards[3]". */
int fields_from_json(const struct field *fields, size_t count, struct json_object *object,
		     const char *where, void *base, struct error *error);
/* The array under KEY of at most MAXIMUM objects; its absence is an error. */
int fields_array(struct json_object *object, const char *where, const char *key, size_t maximum,
		 struct json_object **ret, struct error *error);
/* A list of strings under KEY, both ways; reading checks each as FIELD_TEXT is. */
struct string_list;
int fields_add_strings(struct json_object *object, const char *key, const struct string_list *list);
int fields_read_strings(struct json_object *object, const char *where, const char *key,
			size_t maximum, struct string_list *ret, struct error *error);
/* The string under KEY to a new copy; null gives NULL where it is allowed. */
int fields_read_string(struct json_object *object, const char *where, const char *key,
		       bool null_allowed, char **ret, struct error *error);
/* The one "version" that we read. */
int fields_check_version(struct json_object *object, const char *what, unsigned version,
			 struct error *error);
/* A new array under KEY of OBJECT; NULL when out of memory. */
struct json_object *fields_add_array(struct json_object *object, const char *key);
