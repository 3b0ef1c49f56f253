/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of both ends fails once, in nghttp2 too: no crash, no leak, no call without an end. */
#include "test.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "wire/grpc_client.h"
#include "wire/wire.h"

struct end {
	struct loop *loop;
	struct loop_timer *patience;
	struct grpc_server *server;
	struct grpc_client *client;
	struct grpc_call *kept;
	unsigned ends, cancelled;
	enum grpc_status status;
	unsigned messages;
};

static char socket_path[64];

static void echo(struct grpc_call *call, const void *message, size_t size, void *user)
{
	(void)user;
	if (grpc_call_send(call, message, size, NULL) < 0)
		grpc_call_finish(call, GRPC_RESOURCE_EXHAUSTED, "out of memory");
	else
		grpc_call_finish(call, GRPC_OK, NULL);
}

static void refuse(struct grpc_call *call, const void *message, size_t size, void *user)
{
	(void)message;
	(void)size;
	(void)user;
	grpc_call_finish(call, GRPC_ABORTED, "no \xc3\xa9");
}

static const struct grpc_method methods[] = {
	{ .path = "/a.B/Echo", .handle = echo },
	{ .path = "/a.B/Refuse", .handle = refuse },
	{ 0 },
};

static void on_message(const void *message, size_t size, void *user)
{
	struct end *end = user;

	(void)message;
	(void)size;
	end->messages++;
}

static void on_end(enum grpc_status status, const char *text, void *user)
{
	struct end *end = user;

	(void)text;
	end->ends++;
	end->status = status;
	loop_stop(end->loop);
}

static void out_of_patience(void *user)
{
	(void)user;
	abort();
}

/* Returns an error of our own functions; the calls' ends are in END. */
static int whole_life(struct end *end, struct error *error)
{
	static char message[40000];
	const struct grpc_server_options server = { .socket_path = socket_path,
						    .methods = methods,
						    .user = end };
	const struct grpc_client_options client = { .socket_path = socket_path, .user = end };
	struct grpc_request request = { .path = "/a.B/Echo",
					.message = message,
					.size = sizeof(message),
					.deadline_ms = 3000,
					.on_message = on_message,
					.on_end = on_end,
					.user = end };
	int r = grpc_server_listen(end->loop, &server, &end->server, error);
	if (r == 0)
		r = grpc_client_connect(end->loop, &client, &end->client, error);
	for (int i = 0; i < 3 && r == 0; i++) {
		unsigned ends = end->ends;

		request.path = i == 1 ? "/a.B/Refuse" : "/a.B/Echo";
		r = grpc_client_call(end->client, &request, NULL, error);
		while (r == 0 && end->ends == ends)
			loop_run(end->loop);
	}
	return r;
}

TEST(every_allocation_fails_once)
{
	bool hit = true;
	unsigned failed_calls = 0, good = 0;

	snprintf(socket_path, sizeof(socket_path), "/tmp/gpupool-grpc-fault.%d", (int)getpid());
	for (unsigned n = 0; hit; n++) {
		struct end end = { 0 };
		struct error error = ERROR_INIT;

		assert_int_equal(loop_new(&end.loop, &error), 0);
		assert_int_equal(loop_timer_start(end.loop, 20000, 0, out_of_patience, NULL,
						  &end.patience, &error),
				 0);
		fault_arm(n);
		int r = whole_life(&end, &error);
		hit = fault_disarm();
		if (!hit) {
			assert_int_equal(r, 0);
			assert_int_equal(end.ends, 3);
			assert_int_equal(end.messages, 2);
			assert_int_equal(end.status, GRPC_OK);
		} else if (r < 0) {
			/* The last: the connection ended at the call before. */
			assert_true(r == -ENOMEM || r == -EPIPE);
			assert_true(error.number != 0 && *error.message);
		}
		failed_calls += end.messages < 2;
		good += r == 0;
		grpc_client_free(end.client);
		grpc_server_close(end.server);
		loop_free(end.loop);
		assert_int_equal(access(socket_path, F_OK), -1);
		if (!hit)
			print_message("%u allocations, %u without both answers, %u went on\n", n,
				      failed_calls, good);
		assert_true(hit || (n > 60 && failed_calls > 20));
	}
}
