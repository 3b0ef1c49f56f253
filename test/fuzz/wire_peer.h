/* SPDX-License-Identifier: Apache-2.0 */
/* The other end of a connection, for the fuzzers of gRPC: it sends pieces and reads what comes. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/base.h"

static inline void demand(int right)
{
	if (!right)
		abort();
}

static inline void drain(int fd)
{
	char bytes[65536];

	while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

static inline void feed(struct loop *loop, int fd, const uint8_t *data, size_t size, size_t piece)
{
	while (size > 0) {
		size_t part = size < piece ? size : piece;
		ssize_t sent = send(fd, data, part, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno != EAGAIN)
			return;
		if (sent > 0) {
			data += sent;
			size -= (size_t)sent;
		}
		loop_turn(loop);
		drain(fd);
	}
}
