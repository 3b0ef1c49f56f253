/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between bytes and the generated structs, for every message alike. Private to src/kubelet.
 *
 * protobuf-c checks framing only: it takes text that is no UTF-8, cuts strings at a NUL, merges a
 * field that stands twice, and makes 2 bytes of "empty message" into 80 bytes of memory. So
 * pack_read() walks the bytes by the descriptor first.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "kubelet/message.h"

/* Memory of one message that is being packed; all of it goes at once. */
struct pack_arena {
	struct pack_piece *pieces;
};
void pack_arena_release(struct pack_arena *arena);
void *pack_alloc(struct pack_arena *arena, size_t count, size_t size); /* zeroed; NULL: no memory */
#define autoarena cleanup(pack_arena_release) struct pack_arena

/* Arrays of a generated message: COUNT items, and the pointers to them. false: no memory. */
#define PACK_ITEMS(arena, pointers, count, type, initial)                         \
	({                                                                        \
		type *items_ = pack_alloc((arena), (count), sizeof(type));        \
		(pointers) = pack_alloc((arena), (count), sizeof(type *));        \
		for (size_t i_ = 0; items_ && (pointers) && i_ < (count); i_++) { \
			items_[i_] = (type)initial;                               \
			(pointers)[i_] = &items_[i_];                             \
		}                                                                 \
		items_ && (pointers);                                             \
	})

/* A text of ours in a generated struct, which is only read. */
static inline char *pack_text(const char *text)
{
	return (char *)(uintptr_t)(text ? text : "");
}

/* WHAT names the message in errors: "the list of devices". */
int pack_write(const ProtobufCMessage *message, const char *what, size_t maximum,
	       struct kubelet_bytes *ret, struct error *error);
int pack_read(const ProtobufCMessageDescriptor *descriptor, const char *what, const void *data,
	      size_t size, size_t maximum, ProtobufCMessage **ret, struct error *error);
void pack_free(ProtobufCMessage *message);
DEFINE_CLEANUP(ProtobufCMessage, pack_free)
#define automessage cleanup(pack_freep) ProtobufCMessage

void pack_pairs_release(struct kubelet_pair *pairs, size_t count);
/* Copies a pair whose key is not there yet. 0 or -ENOMEM. */
int pack_append_pair(struct kubelet_pair **pairs, size_t *count, size_t *capacity, const char *key,
		     const char *value);

int pack_strings(char *const *items, size_t count, struct string_list *ret, struct error *error);
/* -EINVAL when a text stands twice among COUNT, at ITEMS, STRIDE bytes apart; *ret is that text. */
int pack_find_twice(const void *items, size_t count, size_t stride, const char **ret);
