/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gRPC server with five methods and a client of it in one loop, over a socket in a directory of its own:
 *	/test.Test/Echo		answers with the message
 *	/test.Test/Count	streams: as many messages as the first byte says, each of one byte, 0 up
 *	/test.Test/Keep		keeps the call; the test answers, or it is cancelled
 *	/test.Test/Fail		ends with status = first byte and the rest as text
 *	/test.Test/Flood	streams 64 KiB each millisecond until that fails
 * Link wire_world_dep.
 */
#pragma once

#include <stdbool.h>

#include "wire/wire.h"

#define WIRE_PATIENCE_MS 20000 /* then the test fails: what it waits for did not come */

struct wire_world {
	struct loop *loop;
	struct loop_timer *patience;
	char directory[64]; /* must be empty at the end */
	char socket[80];
	struct grpc_server *server;
	struct grpc_client *client;
	struct grpc_call *kept; /* by Keep; NULL: none */
	struct grpc_call *flooded;
	struct loop_timer *flood;
	unsigned floods;  /* messages so far */
	int flood_result; /* of the last grpc_call_send() */
	unsigned handled, cancelled;
	unsigned lost; /* the client's connection */
	bool close_in_cancelled, close_in_handle;
};

struct wire_answer { /* of one call */
	struct wire_world *world;
	unsigned messages, ends;
	struct strbuf bytes; /* of all messages; up to 32 MiB */
	enum grpc_status status;
	char text[2048];
	struct grpc_stream *stream;
	bool cancel_in_message, free_in_message, free_in_end;
};

extern const struct grpc_method wire_world_methods[];

void wire_world_start(struct wire_world *world, const struct grpc_limits *limits);
/* The client alone, of the server on SOCKET. */
void wire_world_connect(struct wire_world *world, const char *socket);

void wire_world_end(struct wire_world *world);

/* The client's call, not waited for. */
int wire_world_call(struct wire_world *world, struct wire_answer *answer, const char *path,
		    const void *message, size_t size, unsigned deadline_ms);

/* Runs the loop until *COUNT is WANTED or more. */
void wire_world_wait(struct wire_world *world, const unsigned *count, unsigned wanted);
void wire_world_wait_end(struct wire_world *world, struct wire_answer *answer);

/* Runs the loop for MS milliseconds: for what should not happen. */
void wire_world_linger(struct wire_world *world, unsigned ms);

void wire_answer_release(struct wire_answer *answer);
