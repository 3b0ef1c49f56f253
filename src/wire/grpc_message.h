/* SPDX-License-Identifier: Apache-2.0 */
/* gRPC's messages: a flag, four bytes of length, the bytes; in any number of pieces. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define GRPC_PREFIX 5 /* bytes */

void grpc_prefix(unsigned char prefix[GRPC_PREFIX], size_t size);

struct grpc_reader {
	size_t most; /* bytes of one message */
	unsigned char prefix[GRPC_PREFIX];
	size_t prefix_length;
	size_t size; /* that the prefix promised */
	unsigned char *bytes;
	size_t length, capacity; /* grows with what came, not with what was promised */
};

/*
 * Takes from *BYTES and *SIZE, which move on, until one message is whole (*RET_WHOLE; it lies in
 * reader->bytes and length until the next call) or nothing is left. -EMSGSIZE: too long, see
 * reader->size. -EOPNOTSUPP: compressed. -EBADMSG: no such flag. -ENOMEM.
 */
int grpc_reader_take(struct grpc_reader *reader, const unsigned char **bytes, size_t *size,
		     bool *ret_whole);

/* Something of a message that is not whole is there. */
bool grpc_reader_within(const struct grpc_reader *reader);

void grpc_reader_release(struct grpc_reader *reader);
