/* SPDX-License-Identifier: Apache-2.0 */
#include "wire_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void echo(struct grpc_call *call, const void *message, size_t size, void *user)
{
	struct wire_world *world = user;

	world->handled++;
	grpc_call_send(call, message, size, NULL);
	grpc_call_finish(call, GRPC_OK, NULL);
	if (world->close_in_handle) {
		grpc_server_close(world->server);
		world->server = NULL;
	}
}

static void count(struct grpc_call *call, const void *message, size_t size, void *user)
{
	struct wire_world *world = user;
	unsigned char most = size ? *(const unsigned char *)message : 0;

	world->handled++;
	for (unsigned char i = 0; i < most; i++)
		grpc_call_send(call, &i, 1, NULL);
	grpc_call_finish(call, GRPC_OK, NULL);
}

static void keep(struct grpc_call *call, const void *message, size_t size, void *user)
{
	struct wire_world *world = user;

	(void)message;
	(void)size;
	world->handled++;
	world->kept = call;
	grpc_call_set_user(call, world);
}

static void keep_cancelled(struct grpc_call *call, void *user)
{
	struct wire_world *world = user;

	world->cancelled++;
	if (world->kept == call)
		world->kept = NULL;
	if (grpc_call_user(call) != world)
		abort();
	/* Both are too late, and harmless. */
	if (grpc_call_send(call, "x", 1, NULL) >= 0)
		abort();
	grpc_call_finish(call, GRPC_OK, NULL);
	if (world->close_in_cancelled) {
		grpc_server_close(world->server);
		world->server = NULL;
	}
}

static void fail_as_told(struct grpc_call *call, const void *message, size_t size, void *user)
{
	struct wire_world *world = user;
	const unsigned char *bytes = message;
	char text[2048];

	world->handled++;
	snprintf(text, sizeof(text), "%.*s", size ? (int)size - 1 : 0, (const char *)bytes + 1);
	grpc_call_finish(call, size ? (enum grpc_status)bytes[0] : GRPC_UNKNOWN, text);
}

static void flood_more(void *user)
{
	static const char bytes[65536];
	struct wire_world *world = user;

	world->flood_result = grpc_call_send(world->flooded, bytes, sizeof(bytes), NULL);
	if (world->flood_result == 0)
		world->floods++;
	else
		loop_timer_set(world->flood, LOOP_NEVER, 0);
}

static void flood(struct grpc_call *call, const void *message, size_t size, void *user)
{
	struct wire_world *world = user;

	(void)message;
	(void)size;
	world->handled++;
	world->flooded = call;
	if (loop_timer_start(world->loop, 0, 1, flood_more, world, &world->flood, NULL) < 0)
		abort();
}

static void flood_cancelled(struct grpc_call *call, void *user)
{
	struct wire_world *world = user;

	(void)call;
	world->cancelled++;
	loop_timer_stop(TAKE_PTR(world->flood));
}

const struct grpc_method wire_world_methods[] = {
	{ .path = "/test.Test/Echo", .handle = echo },
	{ .path = "/test.Test/Count", .handle = count },
	{ .path = "/test.Test/Keep", .handle = keep, .cancelled = keep_cancelled },
	{ .path = "/test.Test/Fail", .handle = fail_as_told },
	{ .path = "/test.Test/Flood", .handle = flood, .cancelled = flood_cancelled },
	{ 0 },
};

static void out_of_patience(void *user)
{
	(void)user;
	fprintf(stderr, "waited %d ms in vain\n", WIRE_PATIENCE_MS);
	abort();
}

static void client_lost(struct grpc_client *client, const char *why, void *user)
{
	struct wire_world *world = user;

	(void)client;
	if (!*why)
		abort();
	world->lost++;
}

static void demand(int r, const struct error *error)
{
	if (r < 0) {
		fprintf(stderr, "%s\n", error->message);
		abort();
	}
}

static void open_loop(struct wire_world *world)
{
	struct error error = ERROR_INIT;

	*world = (struct wire_world){ 0 };
	demand(loop_new(&world->loop, &error), &error);
	demand(loop_timer_start(world->loop, LOOP_NEVER, 0, out_of_patience, world,
				&world->patience, &error),
	       &error);
}

void wire_world_connect(struct wire_world *world, const char *socket)
{
	struct error error = ERROR_INIT;
	const struct grpc_client_options options = { .socket_path = socket,
						     .lost = client_lost,
						     .user = world };

	open_loop(world);
	demand(grpc_client_connect(world->loop, &options, &world->client, &error), &error);
}

void wire_world_start(struct wire_world *world, const struct grpc_limits *limits)
{
	struct error error = ERROR_INIT;
	struct grpc_server_options server = { .socket_path = world->socket,
					      .methods = wire_world_methods,
					      .user = world };
	struct grpc_client_options client = { .socket_path = world->socket,
					      .lost = client_lost,
					      .user = world };

	open_loop(world);
	if (limits) {
		server.limits = *limits;
		client.message = limits->message;
	}
	snprintf(world->directory, sizeof(world->directory), "/tmp/gpupool-wire.XXXXXX");
	if (!mkdtemp(world->directory))
		abort();
	snprintf(world->socket, sizeof(world->socket), "%s/test.sock", world->directory);
	demand(grpc_server_listen(world->loop, &server, &world->server, &error), &error);
	demand(grpc_client_connect(world->loop, &client, &world->client, &error), &error);
}

void wire_world_end(struct wire_world *world)
{
	grpc_client_free(world->client);
	grpc_server_close(world->server);
	loop_free(world->loop);
	if (*world->directory && rmdir(world->directory) < 0) {
		perror(world->directory);
		abort();
	}
}

static void on_message(const void *message, size_t size, void *user)
{
	struct wire_answer *answer = user;

	answer->messages++;
	strbuf_add(&answer->bytes, message, size);
	if (answer->cancel_in_message)
		grpc_stream_cancel(TAKE_PTR(answer->stream));
	if (answer->free_in_message)
		grpc_client_free(TAKE_PTR(answer->world->client));
}

static void on_end(enum grpc_status status, const char *text, void *user)
{
	struct wire_answer *answer = user;

	answer->ends++;
	answer->status = status;
	snprintf(answer->text, sizeof(answer->text), "%s", text);
	if (answer->free_in_end)
		grpc_client_free(TAKE_PTR(answer->world->client));
	loop_stop(answer->world->loop);
}

int wire_world_call(struct wire_world *world, struct wire_answer *answer, const char *path,
		    const void *message, size_t size, unsigned deadline_ms)
{
	struct error error = ERROR_INIT;
	const struct grpc_request request = { .path = path,
					      .message = message,
					      .size = size,
					      .deadline_ms = deadline_ms,
					      .on_message = on_message,
					      .on_end = on_end,
					      .user = answer };

	answer->world = world;
	answer->messages = answer->ends = 0;
	answer->bytes = (struct strbuf)STRBUF_INIT(32U << 20);
	return grpc_client_call(world->client, &request, &answer->stream, &error);
}

static void tick(void *user)
{
	struct wire_world *world = user;

	loop_stop(world->loop);
}

void wire_world_wait(struct wire_world *world, const unsigned *counted, unsigned wanted)
{
	struct loop_timer *timer = NULL;

	loop_timer_set(world->patience, WIRE_PATIENCE_MS, 0);
	demand(loop_timer_start(world->loop, 1, 1, tick, world, &timer, NULL), NULL);
	while (*counted < wanted)
		loop_run(world->loop);
	loop_timer_stop(timer);
	loop_timer_set(world->patience, LOOP_NEVER, 0);
}

void wire_world_wait_end(struct wire_world *world, struct wire_answer *answer)
{
	wire_world_wait(world, &answer->ends, 1);
}

void wire_world_linger(struct wire_world *world, unsigned ms)
{
	struct loop_timer *timer = NULL;

	demand(loop_timer_start(world->loop, ms, 0, tick, world, &timer, NULL), NULL);
	for (uint64_t start = loop_now_ms(world->loop); loop_now_ms(world->loop) - start < ms;)
		loop_run(world->loop);
	loop_timer_stop(timer);
	/* On a busy machine that time may pass in a turn or two. */
	for (int i = 0; i < 8; i++)
		loop_turn(world->loop);
}

void wire_answer_release(struct wire_answer *answer)
{
	strbuf_release(&answer->bytes);
}
