/* SPDX-License-Identifier: Apache-2.0 */
/* gRPC, both ends in one process; test_grpc_bytes.c has peers that do not keep the rules. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire_world.h"

TEST(a_unary_call)
{
	struct wire_world world;
	struct wire_answer answer = { 0 };

	wire_world_start(&world, NULL);
	assert_int_equal(wire_world_call(&world, &answer, "/test.Test/Echo", "hello", 5, 0), 0);
	assert_int_equal(answer.ends, 0); /* never inside the call */
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.status, GRPC_OK);
	assert_string_equal(answer.text, "");
	assert_int_equal(answer.messages, 1);
	assert_string_equal(answer.bytes.data, "hello");
	wire_answer_release(&answer);
	assert_int_equal(wire_world_call(&world, &answer, "/test.Test/Echo", NULL, 0, 0), 0);
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.messages, 1);
	assert_int_equal(answer.bytes.length, 0);
	wire_answer_release(&answer);
	assert_int_equal(grpc_server_connections(world.server), 1);
	wire_world_end(&world);
}

TEST(a_stream)
{
	unsigned char most = 200;
	struct wire_world world;
	struct wire_answer answer = { 0 };

	wire_world_start(&world, NULL);
	wire_world_call(&world, &answer, "/test.Test/Count", &most, 1, 0);
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.status, GRPC_OK);
	assert_int_equal(answer.messages, 200);
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal((unsigned char)answer.bytes.data[i], i);
	wire_answer_release(&answer);
	wire_world_end(&world);
}

TEST(errors_and_their_texts)
{
	static const struct {
		const char *message;
		enum grpc_status status;
		const char *text;
	} cases[] = {
		{ "\x05plain", GRPC_NOT_FOUND, "plain" },
		{ "\x0d", GRPC_INTERNAL, "" },
		{ "\x02"
		  "100 %: \"caf\xc3\xa9\"\n%41",
		  GRPC_UNKNOWN, "100 %: \"caf\xc3\xa9\"\n%41" },
		{ "\x10no", GRPC_UNAUTHENTICATED, "no" },
	};
	struct wire_world world;
	struct wire_answer answer = { 0 };

	wire_world_start(&world, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		wire_world_call(&world, &answer, "/test.Test/Fail", cases[i].message,
				strlen(cases[i].message), 0);
		wire_world_wait_end(&world, &answer);
		assert_int_equal(answer.status, cases[i].status);
		assert_string_equal(answer.text, cases[i].text);
		assert_int_equal(answer.messages, 0);
		wire_answer_release(&answer);
	}
	wire_world_call(&world, &answer, "/test.Test/Nothing", "x", 1, 0);
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.status, GRPC_UNIMPLEMENTED);
	assert_string_equal(answer.text, "there is no method '/test.Test/Nothing' here");
	wire_answer_release(&answer);
	assert_int_equal(grpc_server_connections(world.server), 1);
	wire_world_end(&world);
}

TEST(large_messages_pass_and_larger_ones_are_refused)
{
	struct wire_world world;
	struct wire_answer answer = { 0 };
	const size_t most = 4U << 20;
	autofree char *message = malloc(most + 1);

	assert_non_null(message);
	memset(message, 'a', most + 1);
	message[most / 2] = 'b';
	wire_world_start(&world, NULL);
	wire_world_call(&world, &answer, "/test.Test/Echo", message, most, 0);
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.status, GRPC_OK);
	assert_int_equal(answer.bytes.length, most);
	assert_memory_equal(answer.bytes.data, message, most);
	wire_answer_release(&answer);
	wire_world_call(&world, &answer, "/test.Test/Echo", message, most + 1, 0);
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.status, GRPC_RESOURCE_EXHAUSTED);
	assert_string_equal(answer.text, "the message has 4194305 bytes; the limit is 4194304");
	wire_answer_release(&answer);
	/* and the connection is as good as before */
	wire_world_call(&world, &answer, "/test.Test/Echo", "x", 1, 0);
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.status, GRPC_OK);
	wire_answer_release(&answer);
	wire_world_end(&world);
}

TEST(many_calls_at_a_time)
{
	enum { CALLS = 250 }; /* more than a connection takes at once */
	static struct wire_answer answers[CALLS];
	struct wire_world world;

	wire_world_start(&world, NULL);
	for (unsigned i = 0; i < CALLS; i++)
		assert_int_equal(
			wire_world_call(&world, &answers[i], "/test.Test/Echo", &i, sizeof(i), 0),
			0);
	for (unsigned i = 0; i < CALLS; i++) {
		wire_world_wait_end(&world, &answers[i]);
		assert_int_equal(answers[i].status, GRPC_OK);
		assert_memory_equal(answers[i].bytes.data, &i, sizeof(i));
		wire_answer_release(&answers[i]);
	}
	wire_world_end(&world);
}

TEST(a_call_is_answered_later)
{
	struct wire_world world;
	struct wire_answer answer = { 0 };

	wire_world_start(&world, NULL);
	wire_world_call(&world, &answer, "/test.Test/Keep", "x", 1, 0);
	wire_world_wait(&world, &world.handled, 1);
	assert_non_null(world.kept);
	assert_int_equal(grpc_call_pid(world.kept), getpid());
	assert_int_equal(grpc_call_send(world.kept, "one", 3, NULL), 0);
	wire_world_wait(&world, &answer.messages, 1);
	assert_int_equal(grpc_call_send(world.kept, "two", 3, NULL), 0);
	grpc_call_finish(world.kept, GRPC_ABORTED, "enough");
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.messages, 2);
	assert_string_equal(answer.bytes.data, "onetwo");
	assert_int_equal(answer.status, GRPC_ABORTED);
	assert_string_equal(answer.text, "enough");
	assert_int_equal(world.cancelled, 0);
	wire_answer_release(&answer);
	wire_world_end(&world);
}

TEST(the_client_gives_up)
{
	struct wire_world world;
	struct wire_answer answer = { 0 };

	wire_world_start(&world, NULL);
	wire_world_call(&world, &answer, "/test.Test/Keep", "x", 1, 0);
	wire_world_wait(&world, &world.handled, 1);
	grpc_stream_cancel(answer.stream);
	wire_world_wait(&world, &world.cancelled, 1);
	assert_int_equal(answer.ends, 0);
	assert_null(world.kept);
	grpc_stream_cancel(NULL);
	wire_answer_release(&answer);
	/* before it was sent */
	wire_world_call(&world, &answer, "/test.Test/Keep", "x", 1, 0);
	grpc_stream_cancel(answer.stream);
	wire_answer_release(&answer);
	wire_world_call(&world, &answer, "/test.Test/Echo", "x", 1, 0);
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.status, GRPC_OK);
	assert_int_equal(world.handled, 2);
	wire_answer_release(&answer);
	wire_world_end(&world);
}

TEST(deadlines)
{
	struct wire_world world;
	struct wire_answer answer = { 0 };

	wire_world_start(&world, NULL);
	uint64_t start = loop_now_ms(world.loop);
	wire_world_call(&world, &answer, "/test.Test/Keep", "x", 1, 60);
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.status, GRPC_DEADLINE_EXCEEDED);
	assert_true(loop_now_ms(world.loop) - start >= 60);
	wire_world_wait(&world, &world.cancelled, 1);
	wire_answer_release(&answer);
	wire_world_call(&world, &answer, "/test.Test/Echo", "x", 1, 10000);
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.status, GRPC_OK);
	wire_answer_release(&answer);
	wire_world_end(&world);
}

TEST(the_server_ends)
{
	struct wire_world world;
	struct wire_answer answers[2] = { { 0 } };

	wire_world_start(&world, NULL);
	wire_world_call(&world, &answers[0], "/test.Test/Keep", "x", 1, 0);
	wire_world_call(&world, &answers[1], "/test.Test/Keep", "x", 1, 0);
	wire_world_wait(&world, &world.handled, 2);
	grpc_server_close(TAKE_PTR(world.server));
	assert_int_equal(world.cancelled, 2);
	assert_int_equal(access(world.socket, F_OK), -1);
	for (int i = 0; i < 2; i++) {
		wire_world_wait_end(&world, &answers[i]);
		assert_int_equal(answers[i].status, GRPC_UNAVAILABLE);
		wire_answer_release(&answers[i]);
	}
	wire_world_wait(&world, &world.lost, 1);
	assert_false(grpc_client_usable(world.client));
	assert_int_equal(wire_world_call(&world, &answers[0], "/test.Test/Echo", "x", 1, 0),
			 -EPIPE);
	wire_world_end(&world);
}
