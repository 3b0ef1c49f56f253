/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pack_piece {
	struct pack_piece *next;
	max_align_t bytes[];
};

void pack_arena_release(struct pack_arena *arena)
{
	while (arena->pieces) {
		struct pack_piece *piece = arena->pieces;

		arena->pieces = piece->next;
		free(piece);
	}
}

void *pack_alloc(struct pack_arena *arena, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(struct pack_piece), &bytes))
		return NULL;
	struct pack_piece *piece = calloc(1, bytes);
	if (!piece)
		return NULL;
	piece->next = arena->pieces;
	arena->pieces = piece;
	return piece->bytes;
}

void kubelet_bytes_release(struct kubelet_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct kubelet_bytes){ .data = NULL, .size = 0 };
}

int pack_write(const ProtobufCMessage *message, const char *what, size_t maximum,
	       struct kubelet_bytes *ret, struct error *error)
{
	size_t size = protobuf_c_message_get_packed_size(message);

	if (size > maximum)
		return error_set(
			error, EMSGSIZE,
			"%s takes %zu bytes, and a peer takes %zu at most; make it shorter", what,
			size, maximum);
	/* One more, so that an empty message has memory too. */
	uint8_t *data = malloc(size + 1);
	if (!data)
		return error_no_memory(error);
	protobuf_c_message_pack(message, data);
	*ret = (struct kubelet_bytes){ .data = data, .size = size };
	return 0;
}

/* Where the walk is. All positions are offsets in one message, for the sentence. */
struct walk {
	const char *what;
	const uint8_t *data;
	size_t memory; /* what unpacking will take, at most */
	struct error *error;
};

struct wire_field {
	uint32_t number;
	unsigned type;      /* PROTOBUF_C_WIRE_TYPE_... */
	size_t start, size; /* of the content */
	size_t next;
};

#define VARINT_MAX   10 /* bytes */
#define MALLOC_EXTRA 16 /* what an allocation takes beside its size */
#define FIELD_NOTE   48 /* at most, of protobuf-c */

static int walk_fail(const struct walk *walk, size_t at, const char *what)
{
	return error_set(walk->error, EBADMSG, "%s: byte %zu: %s; the message is not used",
			 walk->what, at, what);
}

static int read_varint(const struct walk *walk, size_t *at, size_t end, uint64_t *ret)
{
	uint64_t value = 0;

	for (size_t i = 0; i < VARINT_MAX && *at + i < end; i++) {
		uint8_t byte = walk->data[*at + i];

		if (i == VARINT_MAX - 1 && byte > 1)
			return walk_fail(walk, *at, "a number has more than 64 bits");
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80)) {
			*at += i + 1;
			*ret = value;
			return 0;
		}
	}
	return walk_fail(walk, *at, "a number is cut off");
}

static int field_size(const struct walk *walk, struct wire_field *field, size_t end)
{
	uint64_t size = 0, number;
	size_t at = field->start;

	switch (field->type) {
	case PROTOBUF_C_WIRE_TYPE_VARINT:
		if (read_varint(walk, &at, end, &number) < 0)
			return -EBADMSG;
		size = at - field->start;
		break;
	case PROTOBUF_C_WIRE_TYPE_64BIT:
		size = 8;
		break;
	case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
		if (read_varint(walk, &at, end, &size) < 0)
			return -EBADMSG;
		field->start = at;
		break;
	case PROTOBUF_C_WIRE_TYPE_32BIT:
		size = 4;
		break;
	default:
		return walk_fail(walk, field->start, "a field has a kind that does not exist");
	}
	if (size > end - field->start)
		return walk_fail(walk, field->start, "a field is longer than its message");
	field->size = (size_t)size;
	field->next = field->start + field->size;
	return 0;
}

static int read_field(const struct walk *walk, size_t at, size_t end, struct wire_field *ret)
{
	uint64_t tag;
	size_t start = at;

	if (read_varint(walk, &at, end, &tag) < 0)
		return -EBADMSG;
	/* Five bytes are enough for every tag, and protobuf-c reads no more. */
	if (tag > UINT32_MAX || at - start > 5 || !(tag >> 3))
		return walk_fail(walk, start, "a field has a number that does not exist");
	*ret = (struct wire_field){ .number = (uint32_t)tag >> 3, .type = tag & 7, .start = at };
	return field_size(walk, ret, end);
}

static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *descriptor,
						  uint32_t number, unsigned *ret_index)
{
	for (unsigned i = 0; i < descriptor->n_fields; i++) {
		if (descriptor->fields[i].id == number) {
			*ret_index = i;
			return &descriptor->fields[i];
		}
	}
	return NULL;
}

static unsigned wire_type(const ProtobufCFieldDescriptor *field)
{
	return field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE
		       ? PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED
		       : PROTOBUF_C_WIRE_TYPE_VARINT;
}

static int check_memory(const struct walk *walk, size_t at)
{
	if (walk->memory > KUBELET_UNPACK_MEMORY)
		return walk_fail(walk, at,
				 "unpacked it would take more memory than any real message");
	return 0;
}

static int check_text(struct walk *walk, const struct wire_field *found)
{
	const char *text = (const char *)walk->data + found->start;

	if (!parse_utf8_valid(text, found->size))
		return walk_fail(walk, found->start, "a text is no UTF-8");
	if (memchr(text, '\0', found->size))
		return walk_fail(walk, found->start, "a text holds a NUL");
	walk->memory += found->size + 1 + MALLOC_EXTRA;
	return 0;
}

static int walk_message(struct walk *walk, const ProtobufCMessageDescriptor *descriptor,
			size_t start, size_t end);

static int check_known(struct walk *walk, const ProtobufCFieldDescriptor *field,
		       const struct wire_field *found, bool again)
{
	if (found->type != wire_type(field))
		return walk_fail(walk, found->start,
				 "a field has another kind than its number says");
	if (field->label == PROTOBUF_C_LABEL_REPEATED)
		/* An array that is copied from a list of the same size. */
		walk->memory += 2 * sizeof(void *);
	else if (again)
		return walk_fail(walk, found->start, "a field that is there once stands twice");
	if (field->type == PROTOBUF_C_TYPE_STRING)
		return check_text(walk, found);
	if (field->type != PROTOBUF_C_TYPE_MESSAGE)
		return 0;
	/* The nesting is that of our own descriptors, and none contains itself. */
	return walk_message(walk, field->descriptor, found->start, found->next);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static int walk_message(struct walk *walk, const ProtobufCMessageDescriptor *descriptor,
			size_t start, size_t end)
{
	uint64_t seen = 0;
	int r = 0;

	walk->memory += descriptor->sizeof_message + MALLOC_EXTRA;
	for (size_t at = start; at < end && r == 0;) {
		struct wire_field found = { .number = 0 };
		unsigned index = 0;

		r = read_field(walk, at, end, &found);
		if (r < 0)
			return r;
		const ProtobufCFieldDescriptor *field =
			find_field(descriptor, found.number, &index);
		/* protobuf-c notes each field, and keeps a copy of those that it does not know. */
		walk->memory += FIELD_NOTE;
		walk->memory +=
			field ? 0
			      : sizeof(ProtobufCMessageUnknownField) + found.size + MALLOC_EXTRA;
		if (field) {
			r = check_known(walk, field, &found, seen >> index & 1);
			seen |= UINT64_C(1) << index;
		}
		r = r < 0 ? r : check_memory(walk, at);
		at = found.next;
	}
	return r;
}

/* The allocator of protobuf-c: says afterwards whether it was memory that was short. */
struct pack_budget {
	bool failed;
};

static void *budget_alloc(void *user, size_t size)
{
	struct pack_budget *budget = user;
	void *memory = malloc(size ? size : 1);

	budget->failed |= !memory;
	return memory;
}

static void budget_free(void *user __attribute__((unused)), void *memory)
{
	free(memory);
}

int pack_read(const ProtobufCMessageDescriptor *descriptor, const char *what, const void *data,
	      size_t size, size_t maximum, ProtobufCMessage **ret, struct error *error)
{
	struct walk walk = { .what = what, .data = data, .error = error };
	struct pack_budget budget = { .failed = false };
	ProtobufCAllocator allocator = { .alloc = budget_alloc,
					 .free = budget_free,
					 .allocator_data = &budget };

	if (size > maximum)
		return error_set(
			error, EBADMSG,
			"%s has %zu bytes, more than the %zu that are read; it is not used", what,
			size, maximum);
	int r = walk_message(&walk, descriptor, 0, size);
	if (r < 0)
		return r;
	ProtobufCMessage *message = protobuf_c_message_unpack(descriptor, &allocator, size,
							      size ? data : (const uint8_t *)"");
	if (!message && budget.failed)
		return error_no_memory(error);
	if (!message)
		return error_set(error, EBADMSG, "%s is no such message; it is not used", what);
	*ret = message;
	return 0;
}

void pack_free(ProtobufCMessage *message)
{
	ProtobufCAllocator allocator = { .alloc = budget_alloc, .free = budget_free };

	protobuf_c_message_free_unpacked(message, &allocator);
}

void pack_pairs_release(struct kubelet_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(pairs[i].key);
		free(pairs[i].value);
	}
	free(pairs);
}

int pack_append_pair(struct kubelet_pair **pairs, size_t *count, size_t *capacity, const char *key,
		     const char *value)
{
	struct kubelet_pair *pair = VEC_ADD(pairs, count, capacity);

	if (!pair)
		return -ENOMEM;
	*pair = (struct kubelet_pair){ .key = strdup(key), .value = strdup(value) };
	return pair->key && pair->value ? 0 : -ENOMEM;
}

int pack_strings(char *const *items, size_t count, struct string_list *ret, struct error *error)
{
	for (size_t i = 0; i < count; i++)
		if (string_list_add(ret, items[i]) < 0)
			return error_no_memory(error);
	return 0;
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

int pack_find_twice(const void *items, size_t count, size_t stride, const char **ret)
{
	autofree const char **sorted = NULL;

	if (count < 2)
		return 0;
	sorted = calloc(count, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		memcpy(&sorted[i], (const char *)items + i * stride, sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_texts);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(sorted[i - 1], sorted[i]) == 0) {
			*ret = sorted[i];
			return -EINVAL;
		}
	}
	return 0;
}
