/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our side of test/peers/grpc.bats.
 *	grpc_tool server SOCKET [MESSAGE]	the methods of wire_world.h until standard input ends;
 *						messages of at most MESSAGE bytes
 *	grpc_tool client SOCKET			calls grpc-go's server: one line a case
 *	grpc_tool goaway SOCKET			a call that lives on while the server takes no more; prints
 *						"kept" when the server may be told
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire_world.h"

static bool check(const char *name, bool right, const struct wire_answer *answer)
{
	printf("%s %s", right ? "ok" : "not ok", name);
	if (!right)
		printf(": %s '%s', %u messages, %zu bytes", grpc_status_to_string(answer->status),
		       answer->text, answer->messages, answer->bytes.length);
	printf("\n");
	fflush(stdout);
	return right;
}

static bool answered(struct wire_world *world, struct wire_answer *answer, const char *path,
		     const void *message, size_t size, unsigned deadline_ms)
{
	wire_answer_release(answer);
	if (wire_world_call(world, answer, path, message, size, deadline_ms) < 0)
		return false;
	wire_world_wait_end(world, answer);
	return answer->status == GRPC_OK;
}

static void echoes(struct wire_world *world, struct wire_answer *answer)
{
	static const size_t sizes[] = { 0, 1, 16384, 65535, 65536, 1U << 20, 4U << 20 };
	autofree char *message = calloc(1, 5U << 20);
	char name[64];

	if (!message)
		abort();
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(message, (int)i + 'a', sizes[i]);
		bool right = answered(world, answer, "/test.Test/Echo", message, sizes[i], 0) &&
			     answer->messages == 1 && answer->bytes.length == sizes[i] &&
			     memcmp(answer->bytes.data, message, sizes[i]) == 0;

		snprintf(name, sizeof(name), "echo of %zu", sizes[i]);
		check(name, right, answer);
	}
	answered(world, answer, "/test.Test/Echo", message, 5U << 20, 0);
	check("too long a message",
	      answer->status == GRPC_RESOURCE_EXHAUSTED &&
		      strcmp(answer->text,
			     "the answer has a message of 5242880 bytes; the limit is 4194304") ==
			      0,
	      answer);
}

static void failures(struct wire_world *world, struct wire_answer *answer)
{
	const char *text = "100 % sure: \"caf\xc3\xa9\"\n\t%41";
	char message[64];
	bool right = true;

	for (unsigned status = 1; status < GRPC_STATUS_COUNT && right; status++) {
		snprintf(message, sizeof(message), "%c%s", (char)status, text);
		answered(world, answer, "/test.Test/Fail", message, strlen(message), 0);
		right = answer->status == status && strcmp(answer->text, text) == 0;
	}
	check("failures and their texts", right, answer);
	answered(world, answer, "/test.Test/Nothing", "x", 1, 0);
	check("unknown method", answer->status == GRPC_UNIMPLEMENTED, answer);
}

static void parallel(struct wire_world *world)
{
	enum { CALLS = 200 };
	static struct wire_answer answers[CALLS];
	bool right = true;

	for (unsigned i = 0; i < CALLS; i++)
		if (wire_world_call(world, &answers[i], "/test.Test/Echo", &i, sizeof(i), 20000) <
		    0)
			abort();
	for (unsigned i = 0; i < CALLS; i++) {
		wire_world_wait_end(world, &answers[i]);
		right = right && answers[i].status == GRPC_OK &&
			memcmp(answers[i].bytes.data, &i, sizeof(i)) == 0;
		wire_answer_release(&answers[i]);
	}
	check("parallel calls", right, &answers[0]);
}

static int client(const char *socket)
{
	unsigned char most = 200;
	struct wire_world world;
	struct wire_answer answer = { .bytes = STRBUF_INIT(1) };

	wire_world_connect(&world, socket);
	echoes(&world, &answer);
	check("stream",
	      answered(&world, &answer, "/test.Test/Count", &most, 1, 0) &&
		      answer.messages == 200 && (unsigned char)answer.bytes.data[199] == 199,
	      &answer);
	failures(&world, &answer);
	answered(&world, &answer, "/test.Test/Keep", "x", 1, 80);
	check("deadline", answer.status == GRPC_DEADLINE_EXCEEDED, &answer);
	check("deadline is told",
	      answered(&world, &answer, "/test.Test/Deadline", "x", 1, 5000) &&
		      strcmp(answer.bytes.data, "true") == 0,
	      &answer);
	check("metadata", answered(&world, &answer, "/test.Test/Metadata", "x", 1, 0), &answer);
	wire_answer_release(&answer);
	wire_world_call(&world, &answer, "/test.Test/Keep", "x", 1, 0);
	wire_world_linger(&world, 50);
	grpc_stream_cancel(answer.stream);
	check("cancel", answer.ends == 0, &answer);
	parallel(&world);
	/* The server asks each second whether we live, and ends the connection if we do not say so. */
	wire_world_linger(&world, 3500);
	check("pings are answered", answered(&world, &answer, "/test.Test/Echo", "x", 1, 0),
	      &answer);
	check("one connection", world.lost == 0 && grpc_client_usable(world.client), &answer);
	wire_answer_release(&answer);
	wire_world_end(&world);
	return 0;
}

static int goaway(const char *socket)
{
	struct wire_world world;
	struct wire_answer answer = { .bytes = STRBUF_INIT(1) }, other = answer;

	wire_world_connect(&world, socket);
	if (!answered(&world, &other, "/test.Test/Echo", "x", 1, 0) ||
	    wire_world_call(&world, &answer, "/test.Test/Keep", "x", 1, 1000) < 0)
		return 1;
	wire_world_linger(&world, 100);
	puts("kept");
	fflush(stdout);
	for (int i = 0; i < 200 && grpc_client_usable(world.client) && !answer.ends; i++)
		wire_world_linger(&world, 10);
	check("no more calls", !grpc_client_usable(world.client) && !answer.ends && !world.lost,
	      &answer);
	wire_world_wait_end(&world, &answer);
	check("the old call has its time", answer.status == GRPC_DEADLINE_EXCEEDED, &answer);
	wire_world_wait(&world, &world.lost, 1);
	check("then the connection ends", world.lost == 1, &answer);
	wire_answer_release(&answer);
	wire_answer_release(&other);
	wire_world_end(&world);
	return 0;
}

static void on_input(void *user, unsigned events)
{
	struct wire_world *world = user;
	char bytes[64];

	(void)events;
	if (read(STDIN_FILENO, bytes, sizeof(bytes)) == 0)
		loop_stop(world->loop);
}

static int server(const char *socket, const char *most)
{
	struct wire_world world = { 0 };
	struct error error = ERROR_INIT;
	struct loop_poll *input = NULL;
	uint64_t message = 0;
	struct grpc_server_options options = { .socket_path = socket,
					       .methods = wire_world_methods,
					       .user = &world };

	if (most && parse_uint(most, 1, SIZE_MAX, &message) < 0)
		return 2;
	options.limits.message = message;
	int r = loop_new(&world.loop, &error);
	if (r == 0)
		r = grpc_server_listen(world.loop, &options, &world.server, &error);
	if (r == 0)
		r = loop_poll_start(world.loop, STDIN_FILENO, LOOP_READ, on_input, &world, &input,
				    &error);
	if (r < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	loop_run(world.loop);
	loop_poll_stop(input);
	grpc_server_close(world.server);
	loop_free(world.loop);
	printf("%u handled, %u cancelled, last send %d\n", world.handled, world.cancelled,
	       world.flood_result);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 3 && strcmp(argv[1], "server") == 0)
		return server(argv[2], argc > 3 ? argv[3] : NULL);
	if (argc == 3 && strcmp(argv[1], "client") == 0)
		return client(argv[2]);
	if (argc == 3 && strcmp(argv[1], "goaway") == 0)
		return goaway(argv[2]);
	return 2;
}
