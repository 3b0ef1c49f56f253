/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes to a gRPC server, in pieces. Afterwards no connection is left, and each call that began was
 * answered or cancelled. The first byte says whether a good beginning comes first, and the size of the pieces.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/grpc_server.h"
#include "wire_peer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	unsigned handled, ended;
	struct grpc_call *kept;
};

static void echo(struct grpc_call *call, const void *message, size_t size, void *user)
{
	struct world *world = user;

	world->handled++;
	world->ended++;
	grpc_call_send(call, message, size, NULL);
	grpc_call_finish(call, GRPC_OK, NULL);
}

/* Answered when the next one comes. */
static void keep(struct grpc_call *call, const void *message, size_t size, void *user)
{
	struct world *world = user;
	struct grpc_call *before = world->kept;

	world->handled++;
	world->kept = call;
	grpc_call_send(call, message, size, NULL);
	if (before) {
		world->ended++;
		grpc_call_finish(before, GRPC_ABORTED, message ? "enough" : NULL);
	}
}

static void cancelled(struct grpc_call *call, void *user)
{
	struct world *world = user;

	world->ended++;
	if (world->kept == call)
		world->kept = NULL;
}

static const struct grpc_method methods[] = {
	{ .path = "/e", .handle = echo },
	{ .path = "/k", .handle = keep, .cancelled = cancelled },
	{ 0 },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char beginning[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
	static struct loop *loop;
	struct world world = { 0 };
	const struct grpc_server_options options = {
		.methods = methods,
		.user = &world,
		.limits = { .message = 1000, .unsent = 5000, .received = 2000, .streams = 5 },
	};
	struct grpc_server *server;
	int fds[2];

	if (size < 1)
		return 0;
	if (!loop)
		demand(loop_new(&loop, NULL) == 0);
	demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	demand(grpc_server_new(loop, &options, &server, NULL) == 0);
	demand(grpc_server_adopt(server, fds[0], NULL) == 0);
	if (data[0] & 1)
		feed(loop, fds[1], (const uint8_t *)beginning, sizeof(beginning) - 1, 100);
	feed(loop, fds[1], data + 1, size - 1, data[0] & 2 ? 65536 : 1 + (data[0] >> 2));
	loop_turn(loop);
	if (data[0] & 128) {
		/* Instead of the peer, the server goes first. */
		grpc_server_close(server);
		loop_turn(loop);
		close(fds[1]);
	} else {
		close(fds[1]);
		for (int i = 0; i < 3; i++)
			loop_turn(loop);
		demand(grpc_server_connections(server) == 0);
		grpc_server_close(server);
	}
	loop_turn(loop);
	demand(world.handled == world.ended && !world.kept);
	return 0;
}
