/* SPDX-License-Identifier: Apache-2.0 */
/* gRPC, both ends in one process; test_grpc_bytes.c has peers that do not keep the rules. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "raw_peer.h"

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

/* Each keeps less than one may; together it is too much, until some go. */
TEST(unfinished_messages_of_many_are_bounded)
{
	enum { PEERS = 8 };
	struct grpc_limits limits = { .received = 66000, .message = 65535 };
	struct wire_world world;
	struct raw_peer peers[PEERS];
	struct wire_answer answer = { 0 };
	unsigned refused = 0;

	wire_world_start(&world, &limits);
	for (int i = 0; i < PEERS; i++) {
		raw_peer_connect(&peers[i], &world);
		raw_peer_play(&peers[i], "P\nS\nA\nH 4 1 :method POST|:scheme http|"
					 ":path /test.Test/Echo|content-type application/grpc\n"
					 "D 0 1 00 0000ffff\nN 3 X 004000 00 00 00000001&Z 16384");
		if (strstr(peers[i].said.data, "grpc-status 8|grpc-message unfinished messages of "
					       "all connections have "))
			refused++;
		else
			assert_string_equal(peers[i].said.data, "");
	}
	assert_true(refused >= 2 && refused <= 4);
	for (int i = 0; i < PEERS; i++)
		raw_peer_end(&peers[i]);
	wire_world_linger(&world, 10);
	wire_world_call(&world, &answer, "/test.Test/Echo", "x", 1, 0);
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.status, GRPC_OK);
	wire_answer_release(&answer);
	wire_world_end(&world);
}

/* Everything may be ended inside its own callbacks. */
TEST(the_client_is_freed_in_its_callbacks)
{
	unsigned char most = 5;

	for (int i = 0; i < 3; i++) {
		struct wire_world world;
		struct wire_answer answer = { .free_in_message = i == 0,
					      .free_in_end = i == 1,
					      .cancel_in_message = i == 2 };

		wire_world_start(&world, NULL);
		wire_world_call(&world, &answer, "/test.Test/Count", &most, 1, 0);
		if (i == 1)
			wire_world_wait_end(&world, &answer);
		else
			wire_world_wait(&world, &answer.messages, 1);
		wire_world_linger(&world, 20);
		assert_int_equal(answer.messages, i == 1 ? 5 : 1);
		assert_int_equal(answer.ends, i == 1 ? 1 : 0);
		assert_true((world.client == NULL) == (i != 2));
		wire_answer_release(&answer);
		wire_world_end(&world);
	}
}

TEST(the_client_is_freed_when_its_connection_ends)
{
	struct wire_world world;
	struct wire_answer answers[3] = { { .free_in_end = true },
					  { .free_in_end = true },
					  { .free_in_end = true } };

	wire_world_start(&world, NULL);
	for (int i = 0; i < 3; i++)
		wire_world_call(&world, &answers[i], "/test.Test/Keep", "x", 1, 0);
	wire_world_wait(&world, &world.handled, 3);
	grpc_server_close(TAKE_PTR(world.server));
	wire_world_linger(&world, 20);
	/* The first end frees the client, so the others have none. */
	assert_int_equal(answers[0].ends + answers[1].ends + answers[2].ends, 1);
	assert_int_equal(world.lost, 0);
	for (int i = 0; i < 3; i++)
		wire_answer_release(&answers[i]);
	wire_world_end(&world);
}

TEST(the_server_is_closed_in_its_callbacks)
{
	for (int i = 0; i < 3; i++) {
		struct wire_world world;
		struct wire_answer answers[3] = { { 0 } };

		wire_world_start(&world, NULL);
		world.close_in_cancelled = i < 2;
		world.close_in_handle = i == 2;
		for (int j = 0; j < 2; j++)
			wire_world_call(&world, &answers[j], "/test.Test/Keep", "x", 1,
					i == 1 ? 30 : 0);
		wire_world_wait(&world, &world.handled, 2);
		if (i == 0)
			grpc_stream_cancel(answers[0].stream);
		if (i == 2)
			wire_world_call(&world, &answers[2], "/test.Test/Echo", "x", 1, 0);
		wire_world_wait(&world, &world.cancelled, 2);
		assert_null(world.server);
		wire_world_wait(&world, &world.lost, 1);
		assert_int_equal(answers[1].ends, 1);
		for (int j = 0; j < 3; j++)
			wire_answer_release(&answers[j]);
		wire_world_end(&world);
	}
}

/* Both sides' clocks run out at the same time, with the server closed while its calls end by themselves. */
TEST(the_server_is_closed_at_a_deadline)
{
	struct wire_world world;
	struct wire_answer answer = { 0 };
	struct grpc_client *client;

	wire_world_start(&world, NULL);
	world.close_in_cancelled = true;
	wire_world_call(&world, &answer, "/test.Test/Keep", "x", 1, 40);
	wire_world_wait(&world, &world.handled, 1);
	/* The client does not look at its clock any more: the server's own ends the call. */
	client = TAKE_PTR(world.client);
	wire_world_wait(&world, &world.cancelled, 1);
	assert_null(world.server);
	wire_world_linger(&world, 5);
	world.client = client;
	wire_answer_release(&answer);
	wire_world_end(&world);
}

TEST(what_a_peer_leaves_unread_is_bounded)
{
	struct grpc_limits limits = { .unsent = 1 << 20 };
	struct wire_world world;
	struct raw_peer peer;

	wire_world_start(&world, &limits);
	raw_peer_connect(&peer, &world);
	peer.deaf = true;
	/* A window that never closes, frames as large as they come, and not one byte read. */
	raw_peer_send(&peer, "P\nS 00047fffffff\nA\nF 8 0 0 7f000000\n"
			     "H 4 1 :method POST|:scheme http|:path /test.Test/Flood|"
			     "content-type application/grpc\nD 1 1 0000000000");
	wire_world_wait(&world, &world.handled, 1);
	assert_int_equal(grpc_server_connections(world.server), 2);
	wire_world_wait(&world, &world.cancelled, 1);
	assert_int_equal(world.flood_result, -ENOBUFS);
	assert_int_equal(grpc_server_connections(world.server), 1);
	raw_peer_wait(&peer, "closed\n");
	raw_peer_end(&peer);
	wire_world_end(&world);
}

TEST(more_connections_than_allowed)
{
	struct grpc_limits limits = { .connections = 2 };
	struct wire_world world;
	struct grpc_client *others[3] = { NULL };
	struct grpc_client_options options = { 0 };
	struct wire_answer answer = { 0 };

	wire_world_start(&world, &limits);
	options.socket_path = world.socket;
	for (int i = 0; i < 3; i++)
		assert_int_equal(grpc_client_connect(world.loop, &options, &others[i], NULL), 0);
	wire_world_linger(&world, 20);
	assert_int_equal(grpc_server_connections(world.server), 2);
	assert_true(grpc_client_usable(world.client) && grpc_client_usable(others[0]));
	assert_false(grpc_client_usable(others[1]) || grpc_client_usable(others[2]));
	grpc_client_free(others[0]);
	wire_world_linger(&world, 20);
	assert_int_equal(grpc_server_connections(world.server), 1);
	wire_world_call(&world, &answer, "/test.Test/Echo", "x", 1, 0);
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.status, GRPC_OK);
	wire_answer_release(&answer);
	grpc_client_free(others[1]);
	grpc_client_free(others[2]);
	wire_world_end(&world);
}

TEST(unfinished_messages_are_bounded)
{
	struct grpc_limits limits = { .received = 300000, .message = 200000 };
	struct wire_world world;
	struct wire_answer answers[2] = { { 0 } };
	autofree char *message = calloc(1, 190000);

	assert_non_null(message);
	wire_world_start(&world, &limits);
	/* One message alone is fine; two at a time are more than a connection may keep. */
	for (int i = 0; i < 2; i++)
		wire_world_call(&world, &answers[i], "/test.Test/Echo", message, 190000, 0);
	for (int i = 0; i < 2; i++)
		wire_world_wait_end(&world, &answers[i]);
	const struct wire_answer *refused = &answers[answers[0].status == GRPC_OK ? 1 : 0];
	assert_int_equal(answers[refused == answers ? 1 : 0].status, GRPC_OK);
	assert_int_equal(refused->status, GRPC_RESOURCE_EXHAUSTED);
	assert_non_null(strstr(refused->text, "the limit is 300000"));
	for (int i = 0; i < 2; i++)
		wire_answer_release(&answers[i]);
	/* and they were given back */
	wire_world_call(&world, &answers[0], "/test.Test/Echo", message, 190000, 0);
	wire_world_wait_end(&world, &answers[0]);
	assert_int_equal(answers[0].status, GRPC_OK);
	wire_answer_release(&answers[0]);
	wire_world_end(&world);
}

TEST(who_does_not_speak_http2_has_to_go)
{
	struct grpc_limits limits = { .greeting_ms = 60 };
	struct wire_world world;
	struct raw_peer silent, half;
	struct wire_answer answer = { 0 };

	wire_world_start(&world, &limits);
	raw_peer_connect(&silent, &world);
	raw_peer_connect(&half, &world);
	raw_peer_send(&half, "P");
	raw_peer_wait(&silent, "closed\n");
	raw_peer_wait(&half, "closed\n");
	raw_peer_end(&silent);
	raw_peer_end(&half);
	/* who did is left alone */
	wire_world_linger(&world, 150);
	assert_int_equal(grpc_server_connections(world.server), 1);
	wire_world_call(&world, &answer, "/test.Test/Echo", "x", 1, 0);
	wire_world_wait_end(&world, &answer);
	assert_int_equal(answer.status, GRPC_OK);
	assert_int_equal(world.lost, 0);
	wire_answer_release(&answer);
	wire_world_end(&world);
}

static unsigned cpu_ms(void)
{
	struct timespec time;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time), 0);
	return (unsigned)(time.tv_sec * 1000 + time.tv_nsec / 1000000);
}

/*
 * Nothing runs in circles: what waiting takes is little beside what a busy loop of the same length gets on this
 * machine, which others may use too.
 */
static void expect_idle(struct wire_world *world, unsigned ms)
{
	unsigned start = cpu_ms();
	wire_world_linger(world, ms);
	unsigned waiting = cpu_ms() - start;

	start = cpu_ms();
	for (uint64_t begin = loop_now_ms(world->loop); loop_now_ms(world->loop) - begin < ms;)
		;
	assert_true(waiting * 4 < cpu_ms() - start + 12);
}

/* A peer with a window that never closes opens a Flood of 40 messages and reads nothing. */
static void flood_start(struct wire_world *world, struct raw_peer *peer)
{
	wire_world_start(world, NULL);
	raw_peer_connect(peer, world);
	peer->deaf = true;
	raw_peer_send(peer, "P\nS 00047fffffff\nA\nF 8 0 0 7f000000\n"
			    "H 4 1 :method POST|:scheme http|:path /test.Test/Flood|"
			    "content-type application/grpc\nD 1 1 0000000000");
	wire_world_wait(world, &world->floods, 40);
	loop_timer_set(world->flood, LOOP_NEVER, 0);
}

/* It costs nothing meanwhile, and when it reads it has everything. */
TEST(a_slow_reader_gets_everything)
{
	struct wire_world world;
	struct raw_peer peer;

	flood_start(&world, &peer);
	expect_idle(&world, 200);
	grpc_call_finish(world.flooded, GRPC_OK, NULL);
	loop_timer_stop(world.flood);
	raw_peer_wait(&peer, "HEADERS 1 end grpc-status 0");
	assert_true(world.floods >= 40);
	assert_int_equal(peer.data, world.floods * (65536 + 5));
	raw_peer_end(&peer);
	wire_world_linger(&world, 10);
	assert_int_equal(grpc_server_connections(world.server), 1);
	wire_world_end(&world);
}

TEST(a_peer_that_does_not_read_goes_away)
{
	struct wire_world world;
	struct raw_peer peer;

	flood_start(&world, &peer);
	assert_int_equal(grpc_server_connections(world.server), 2);
	raw_peer_end(&peer);
	wire_world_wait(&world, &world.cancelled, 1);
	assert_int_equal(grpc_server_connections(world.server), 1);
	wire_world_end(&world);
}

/* Who has said all and closed that direction still hears the answer. */
TEST(a_peer_that_closes_its_half)
{
	struct wire_world world;
	struct raw_peer peer;

	wire_world_start(&world, NULL);
	raw_peer_connect(&peer, &world);
	raw_peer_send(&peer, "P\nS\nA\nH 4 1 :method POST|:scheme http|:path /test.Test/Echo|"
			     "content-type application/grpc\nD 1 1 0000000001 61");
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	raw_peer_wait(&peer, "DATA 1 000000000161\nHEADERS 1 end grpc-status 0\nclosed\n");
	raw_peer_end(&peer);
	wire_world_end(&world);
}

TEST(no_descriptor_is_left)
{
	struct rlimit old, few;
	struct wire_world world;
	struct raw_peer peer;

	wire_world_start(&world, NULL);
	wire_world_linger(&world, 5);
	raw_peer_connect(&peer, &world);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	expect_idle(&world, 250); /* it waits and tries again */
	assert_int_equal(grpc_server_connections(world.server), 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	raw_peer_play(&peer, "P\nS\nA");
	assert_int_equal(grpc_server_connections(world.server), 2);
	assert_false(peer.closed);
	raw_peer_end(&peer);
	wire_world_end(&world);
}

/* The bound is on what waits, not on what was ever sent. */
TEST(a_stream_may_send_more_than_may_wait)
{
	struct grpc_limits limits = { .unsent = 1 << 20 };
	struct wire_world world;
	struct wire_answer answer = { 0 };

	wire_world_start(&world, &limits);
	wire_world_call(&world, &answer, "/test.Test/Flood", "x", 1, 0);
	wire_world_wait(&world, &answer.messages, 40);
	assert_int_equal(world.flood_result, 0);
	assert_int_equal(answer.ends, 0);
	grpc_stream_cancel(answer.stream);
	wire_world_wait(&world, &world.cancelled, 1);
	wire_answer_release(&answer);
	wire_world_end(&world);
}

/* Who does not read is not read: it keeps its connection, and nothing piles up here. */
TEST(a_peer_that_only_writes)
{
	struct wire_world world;
	struct raw_peer peer;
	unsigned sent = 0;

	wire_world_start(&world, NULL);
	raw_peer_connect(&peer, &world);
	raw_peer_play(&peer, "P\nS\nA");
	peer.deaf = true;
	peer.pinged = false;
	while (sent < 5000 && raw_peer_send(&peer, "N 20 F 6 0 0 0000000000000000")) {
		loop_turn(world.loop);
		sent++;
	}
	assert_true(sent > 100 && sent < 5000);
	expect_idle(&world, 200);
	assert_int_equal(grpc_server_connections(world.server), 2);
	peer.deaf = false;
	for (int i = 0; i < 5000 && !peer.pinged; i++) {
		raw_peer_read(&peer);
		loop_turn(world.loop);
	}
	assert_true(peer.pinged);
	assert_false(peer.closed);
	raw_peer_end(&peer);
	wire_world_end(&world);
}
