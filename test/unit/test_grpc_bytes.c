/* SPDX-License-Identifier: Apache-2.0 */
/* Peers of the gRPC server, and of the client, that do not keep the rules, byte by byte. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "raw_peer.h"
#include "wire/grpc_client.h"

#define START "P\nS\nA\n"
#define ECHO  ":method POST|:scheme http|:path /test.Test/Echo|content-type application/grpc"
#define BYTES "00 00000005 68656c6c6f"

#define OK_HEAD ":status 200|content-type application/grpc"

#define ANSWER                                                                               \
	"HEADERS 1 :status 200|content-type application/grpc\nDATA 1 000000000568656c6c6f\n" \
	"HEADERS 1 end grpc-status 0\n"
#define ALONE "HEADERS 1 end :status 200|content-type application/grpc|"
#define HTTP  "|content-type text/plain\nDATA 1 end 69 bytes\n"

/*
 * What a server says to a script. A row whose text ends without a newline is compared up to there. Afterwards
 * the connection is good for a call, unless it was closed.
 */
static const struct {
	const char *name, *script, *said;
} server_cases[] = {
	{ "one call", START "H 4 1 " ECHO "\nD 1 1 " BYTES, ANSWER },
	{ "settings not acknowledged", "P\nS\nH 4 1 " ECHO "\nD 1 1 " BYTES, ANSWER },
	{ "a message in pieces",
	  START
	  "H 4 1 " ECHO
	  "\nD 0 1 00\nD 0 1 0000\nD 0 1 00\nD 0 1\nD 0 1 05\nD 0 1 68\nD 0 1 656c6c\nD 1 1 6f",
	  ANSWER },
	{ "the end in a frame of its own", START "H 4 1 " ECHO "\nD 0 1 " BYTES "\nD 1 1", ANSWER },
	{ "the end by trailers", START "H 4 1 " ECHO "\nD 0 1 " BYTES "\nH 5 1 x y", ANSWER },
	{ "padding", START "H 4 1 " ECHO "\nF 0 9 1 03 00 00000005 68656c6c6f 000000", ANSWER },
	{ "headers in pieces",
	  START "H 0 1 :method POST|:scheme http\nC 0 1 :path /test.Test/Echo\n"
		"C 4 1 content-type application/grpc\nD 1 1 " BYTES,
	  ANSWER },
	{ "an authority with slashes",
	  START "H 4 1 :authority /var/lib/kubelet/a.sock|" ECHO "\nD 1 1 " BYTES, ANSWER },
	{ "an encoded authority",
	  START "H 4 1 :authority %2Fvar%2Flib%2Fa.sock|" ECHO "\nD 1 1 " BYTES, ANSWER },
	{ "another content type of gRPC",
	  START "H 4 1 :method POST|:scheme http|:path /test.Test/Echo|content-type "
		"application/grpc+proto\n"
		"D 1 1 " BYTES,
	  ANSWER },
	{ "identity", START "H 4 1 " ECHO "|grpc-encoding identity\nD 1 1 " BYTES, ANSWER },
	{ "te", START "H 4 1 " ECHO "|te trailers\nD 1 1 " BYTES, ANSWER },
	{ "a length", START "H 4 1 " ECHO "|content-length 10\nD 1 1 " BYTES, ANSWER },
	{ "unknown frames", START "F fa ff 1 0102\nH 4 1 " ECHO "\nF fb 0 0\nD 1 1 " BYTES,
	  ANSWER },
	/* refused as gRPC says */
	{ "an unknown path at once, without the message",
	  START "H 4 1 :method POST|:scheme http|:path /x.Y/Z|content-type application/grpc",
	  ALONE "grpc-status 12|grpc-message there is no method '/x.Y/Z' here\nRST 1 0\n" },
	{ "a path that begins like one",
	  START
	  "H 4 1 :method POST|:scheme http|:path /test.Test/Ech|content-type application/grpc",
	  ALONE "grpc-status 12|grpc-message there is no method '/test.Test/Ech' here\nRST 1 0\n" },
	{ "a path of strange bytes",
	  START "H 4 1 :method POST|:scheme http|:path /\xff\xc3\xa9|content-type application/grpc",
	  ALONE "grpc-status 12|grpc-message there is no method '/%FF%C3%A9' here\nRST 1 0\n" },
	{ "gzip", START "H 4 1 " ECHO "|grpc-encoding gzip",
	  ALONE "grpc-status 12|grpc-message messages compressed with 'gzip' are not read here: "
		"send identity|grpc-accept-encoding identity\n"
		"RST 1 0\n" },
	{ "a message marked as compressed", START "H 4 1 " ECHO "\nD 0 1 01 00000001 00",
	  ALONE "grpc-status 13|grpc-message a message is marked as compressed, but no "
		"grpc-encoding was named\n"
		"RST 1 0\n" },
	{ "another mark", START "H 4 1 " ECHO "\nD 0 1 02 00000001 00",
	  ALONE "grpc-status 13|grpc-message a message begins with 2 instead of 0\nRST 1 0\n" },
	{ "a message that is announced too long", START "H 4 1 " ECHO "\nD 0 1 00 ffffffff",
	  ALONE "grpc-status 8|grpc-message the message has 4294967295 bytes; the limit is "
		"4194304\nRST 1 0\n" },
	{ "no message", START "H 5 1 " ECHO,
	  ALONE "grpc-status 12|grpc-message the request has no message; methods here take one\n" },
	{ "no message, and an empty frame", START "H 4 1 " ECHO "\nD 1 1",
	  ALONE "grpc-status 12|grpc-message the request has no message; methods here take one\n" },
	{ "two messages in a frame", START "H 4 1 " ECHO "\nD 1 1 " BYTES " " BYTES,
	  ALONE
	  "grpc-status 12|grpc-message the request has a second message; methods here take one\n" },
	{ "an end within the prefix", START "H 4 1 " ECHO "\nD 1 1 00 0000",
	  ALONE "grpc-status 13|grpc-message the request ends within its message\n" },
	{ "an end within the message", START "H 4 1 " ECHO "\nD 1 1 00 00000005 68",
	  ALONE "grpc-status 13|grpc-message the request ends within its message\n" },
	{ "a time that is none", START "H 4 1 " ECHO "|grpc-timeout 5",
	  ALONE "grpc-status 13|grpc-message grpc-timeout '5' is no time\nRST 1 0\n" },
	{ "a time that has passed", START "H 4 1 " ECHO "|grpc-timeout 0n",
	  ALONE "grpc-status 4|grpc-message the deadline of the call has passed\nRST 1 0\n" },
	{ "more headers than we take", START "H 0 1 " ECHO "|x *9000\nC 4 1 y *9000",
	  ALONE "grpc-status 8|grpc-message the headers of the call have 18264 bytes; the limit is "
		"16384\n"
		"RST 1 0\n" },
	/* no gRPC */
	{ "GET", START "H 5 1 :method GET|:scheme http|:path /|content-type application/grpc",
	  "HEADERS 1 :status 405" HTTP },
	{ "no content type",
	  START "H 4 1 :method POST|:scheme http|:path /test.Test/Echo\nD 1 1 " BYTES,
	  "HEADERS 1 :status 415" HTTP },
	{ "another content type",
	  START
	  "H 5 1 :method POST|:scheme http|:path /test.Test/Echo|content-type application/grpcs",
	  "HEADERS 1 :status 415" HTTP },
	/* malformed: an error of the stream (RFC 9113, 8.1.1) */
	{ "no method", START "H 5 1 :scheme http|:path /|content-type application/grpc",
	  "RST 1 1\n" },
	{ "no path", START "H 5 1 :method POST|:scheme http|content-type application/grpc",
	  "RST 1 1\n" },
	{ "an empty path",
	  START "H 5 1 :method POST|:scheme http|:path |content-type application/grpc",
	  "RST 1 1\n" },
	{ "two paths", START "H 5 1 " ECHO "|:path /", "RST 1 1\n" },
	{ "a pseudo header after others", START "H 5 1 :method POST|:scheme http|x y|:path /",
	  "RST 1 1\n" },
	{ "an unknown pseudo header", START "H 5 1 :x y|" ECHO, "RST 1 1\n" },
	{ "a pseudo header of answers", START "H 5 1 :status 200|" ECHO, "RST 1 1\n" },
	{ "capital letters", START "H 5 1 " ECHO "|X y", "RST 1 1\n" },
	{ "an empty name", START "H 5 1 " ECHO "| y", "RST 1 1\n" },
	{ "a name with a blank", START "H 5 1 " ECHO "|x\ty z", "RST 1 1\n" },
	{ "a value with a line feed", START "H 5 1 " ECHO "|x a\rb", "RST 1 1\n" },
	{ "a value that begins with a blank", START "H 5 1 " ECHO "|x  a", "RST 1 1\n" },
	{ "a header of HTTP/1", START "H 5 1 " ECHO "|connection close", "RST 1 1\n" },
	{ "te with another word", START "H 5 1 " ECHO "|te gzip", "RST 1 1\n" },
	{ "a length that is wrong", START "H 4 1 " ECHO "|content-length 9\nD 1 1 " BYTES,
	  "RST 1 1\n" },
	{ "a length that is longer", START "H 4 1 " ECHO "|content-length 11\nD 1 1 " BYTES,
	  "RST 1 1\n" },
	{ "two lengths", START "H 4 1 " ECHO "|content-length 10|content-length 11\nD 1 1 " BYTES,
	  "RST 1 1\n" },
	{ "a length that is none", START "H 4 1 " ECHO "|content-length -1\nD 1 1 " BYTES,
	  "RST 1 1\n" },
	{ "trailers without the end", START "H 4 1 " ECHO "\nH 4 1 x y\nD 1 1 " BYTES,
	  "RST 1 1\n" },
	{ "trailers with a pseudo header", START "H 4 1 " ECHO "\nD 0 1 " BYTES "\nH 5 1 :path /",
	  "RST 1 1\n" },
	/* errors of the connection */
	{ "no HTTP/2", "X 474554202f20485454502f312e310d0a0d0a", "closed\n" },
	{ "the preface, and then no SETTINGS", "P\nH 4 1 " ECHO, "GOAWAY 1\nclosed\n" },
	{ "DATA of no stream", START "D 1 1 00", "GOAWAY 1\nclosed\n" },
	{ "DATA of stream 0", START "D 1 0 00", "GOAWAY 1\nclosed\n" },
	{ "an even stream", START "H 5 2 " ECHO, "GOAWAY 1\nclosed\n" },
	{ "a frame that is too long", START "X 004001 00 00 00000001\nZ 16385",
	  "GOAWAY 6\nclosed\n" },
	{ "a header list that cannot be read", START "F 1 5 1 ff", "GOAWAY 9\nclosed\n" },
	{ "a list within another", START "H 0 1 " ECHO "\nH 5 3 " ECHO, "GOAWAY 1\nclosed\n" },
	{ "a CONTINUATION flood", START "H 0 1 " ECHO "\nN 1000 C 0 1 x *100", "closed\n" },
	{ "too large a window", START "F 8 0 0 7fffffff", "GOAWAY 3\nclosed\n" },
	{ "a push", START "F 5 4 1 00000002", "GOAWAY 1\nclosed\n" },
	{ "more settings in a frame than we take",
	  START "S 000300000001 000300000001 000300000001 000300000001 "
		"000300000001 000300000001 000300000001 000300000001 000300000001 000300000001 "
		"000300000001 "
		"000300000001 000300000001 000300000001 000300000001 000300000001 000300000001 "
		"000300000001 "
		"000300000001 000300000001 000300000001 000300000001 000300000001 000300000001 "
		"000300000001 "
		"000300000001 000300000001 000300000001 000300000001 000300000001 000300000001 "
		"000300000001 "
		"000300000001",
	  "GOAWAY 11\nclosed\n" },
};

static bool begins(const char *text, const char *start)
{
	size_t length = strlen(start);

	return length > 0 && start[length - 1] != '\n' ? strncmp(text, start, length) == 0
						       : strcmp(text, start) == 0;
}

TEST(what_the_server_says)
{
	struct wire_world world;
	unsigned wrong = 0;

	wire_world_start(&world, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(server_cases); i++) {
		struct raw_peer peer;

		raw_peer_connect(&peer, &world);
		raw_peer_play(&peer, server_cases[i].script);
		if (!begins(peer.said.data, server_cases[i].said)) {
			print_error("%s: '%s' instead of '%s'\n", server_cases[i].name,
				    peer.said.data, server_cases[i].said);
			wrong++;
		}
		if (!peer.closed) {
			strbuf_reset(&peer.said);
			raw_peer_play(&peer, "H 4 9 " ECHO "\nD 1 9 " BYTES);
			if (!strstr(peer.said.data, "HEADERS 9 end grpc-status 0")) {
				print_error("%s: afterwards '%s'\n", server_cases[i].name,
					    peer.said.data);
				wrong++;
			}
		}
		raw_peer_end(&peer);
	}
	assert_int_equal(wrong, 0);
	wire_world_end(&world);
}

/* Rows of one list, so that its frames are sent in one piece. */
static const struct {
	const char *name, *script;
	enum grpc_status status;
	const char *text; /* how it begins */
	const char *bytes;
} client_cases[] = {
	{ "an answer", "S\nH 4 1 " OK_HEAD "\nD 0 1 " BYTES "\nH 5 1 grpc-status 0", GRPC_OK, "",
	  "hello" },
	{ "an answer after others",
	  "S\nH 4 1 :status 100\nH 4 1 :status 103|x y\nH 4 1 " OK_HEAD "\nD 0 1 " BYTES
	  "\nH 5 1 grpc-status 0",
	  GRPC_OK, "", "hello" },
	{ "an answer in pieces",
	  "S\nH 4 1 " OK_HEAD "\nD 0 1 00\nD 0 1 00 0000\nD 0 1 0568\nD 0 1 656c\nD 0 1 6c6f\n"
	  "H 5 1 grpc-status 0",
	  GRPC_OK, "", "hello" },
	{ "messages in a frame",
	  "S\nH 4 1 " OK_HEAD "\nD 0 1 " BYTES " 00 00000000 " BYTES "\nH 5 1 grpc-status 0",
	  GRPC_OK, "", "hellohello" },
	{ "trailers alone", "S\nH 5 1 " OK_HEAD "|grpc-status 5|grpc-message not %22here%22 %4",
	  GRPC_NOT_FOUND, "not \"here\" %4", "" },
	{ "a status after a message",
	  "S\nH 4 1 " OK_HEAD "\nD 0 1 " BYTES "\nH 5 1 grpc-status 14|grpc-message gone",
	  GRPC_UNAVAILABLE, "gone", "hello" },
	{ "a text that is no UTF-8", "S\nH 5 1 " OK_HEAD "|grpc-status 5|grpc-message a%FFb%00c",
	  GRPC_NOT_FOUND, "a?b?c", "" },
	{ "a status that is none", "S\nH 5 1 " OK_HEAD "|grpc-status 17", GRPC_UNKNOWN, "", "" },
	{ "a status that is no number", "S\nH 5 1 " OK_HEAD "|grpc-status ok", GRPC_UNKNOWN, "",
	  "" },
	{ "no status", "S\nH 4 1 " OK_HEAD "\nD 1 1 " BYTES, GRPC_INTERNAL,
	  "the server ended the call without a grpc-status", "hello" },
	{ "no status in the trailers", "S\nH 4 1 " OK_HEAD "\nD 0 1 " BYTES "\nH 5 1 x y",
	  GRPC_INTERNAL, "the server ended the call without a grpc-status", "hello" },
	{ "a message that is cut",
	  "S\nH 4 1 " OK_HEAD "\nD 0 1 00 00000005 68\nH 5 1 grpc-status 0", GRPC_INTERNAL,
	  "the answer ends within a message", "" },
	{ "no gRPC", "S\nH 5 1 :status 404|content-type text/html", GRPC_UNIMPLEMENTED,
	  "the server answered with HTTP status 404 and no content type of gRPC", "" },
	{ "no gRPC, with a body", "S\nH 4 1 :status 503|content-type text/html\nD 1 1 616263",
	  GRPC_UNAVAILABLE, "the server answered with HTTP status 503", "" },
	{ "another content type", "S\nH 4 1 :status 200|content-type text/html\nD 1 1 616263",
	  GRPC_UNKNOWN, "the server answered with HTTP status 200 and no content type of gRPC",
	  "" },
	{ "a compressed message", "S\nH 4 1 " OK_HEAD "\nD 0 1 01 00000001 00", GRPC_INTERNAL,
	  "a message of the answer begins with 1 instead of 0: compressed messages are not read",
	  "" },
	{ "too long a message", "S\nH 4 1 " OK_HEAD "\nD 0 1 00 00400001", GRPC_RESOURCE_EXHAUSTED,
	  "the answer has a message of 4194305 bytes; the limit is 4194304", "" },
	{ "too many headers", "S\nH 0 1 " OK_HEAD "|x *9000\nC 4 1 y *9000",
	  GRPC_RESOURCE_EXHAUSTED, "the answer's headers have 181", "" },
	{ "a reset", "S\nF 3 0 1 00000008", GRPC_CANCELLED,
	  "the stream was reset (HTTP/2 error code 8)", "" },
	{ "a refusal", "S\nF 3 0 1 00000007", GRPC_UNAVAILABLE,
	  "the stream was reset (HTTP/2 error code 7)", "" },
	{ "a reset for too much", "S\nF 3 0 1 0000000b", GRPC_RESOURCE_EXHAUSTED,
	  "the stream was reset", "" },
	{ "a reset that says nothing", "S\nF 3 0 1 00000000", GRPC_INTERNAL, "the stream was reset",
	  "" },
	{ "a reset with a strange code", "S\nF 3 0 1 ffffffff", GRPC_UNKNOWN,
	  "the stream was reset", "" },
	{ "a reset after a message", "S\nH 4 1 " OK_HEAD "\nD 0 1 " BYTES "\nF 3 0 1 00000002",
	  GRPC_INTERNAL, "the stream was reset", "hello" },
	{ "no status at all", "S\nH 5 1 content-type application/grpc|grpc-status 0", GRPC_INTERNAL,
	  "the peer's HTTP/2 message is malformed", "" },
	{ "an HTTP status that is none", "S\nH 5 1 :status 20|content-type application/grpc",
	  GRPC_INTERNAL, "the peer's HTTP/2 message is malformed", "" },
	{ "a body without headers", "S\nD 0 1 " BYTES, GRPC_UNAVAILABLE, "", "" },
	{ "trailers that do not end it", "S\nH 4 1 " OK_HEAD "\nH 4 1 grpc-status 0", GRPC_INTERNAL,
	  "the peer's HTTP/2 message is malformed", "" },
	{ "an interim answer that ends it", "S\nH 5 1 :status 103", GRPC_INTERNAL,
	  "the peer's HTTP/2 message is malformed", "" },
	{ "an answer to another call", "S\nH 5 7 " OK_HEAD "|grpc-status 0", GRPC_UNAVAILABLE, "",
	  "" },
	{ "a push", "S\nA\nF 5 4 1 00000002 82", GRPC_UNAVAILABLE, "", "" },
	{ "no call is taken", "S\nF 7 0 0 00000000 00000000", GRPC_UNAVAILABLE,
	  "the stream was reset (HTTP/2 error code 7)", "" },
	{ "no HTTP/2", "X 485454502f312e3120343030", GRPC_UNAVAILABLE, "", "" },
	{ "no SETTINGS", "H 5 1 " OK_HEAD "|grpc-status 0", GRPC_UNAVAILABLE, "", "" },
	{ "a frame that is too long", "S\nX 004001 00 00 00000001", GRPC_UNAVAILABLE,
	  "HTTP/2: ", "" },
};

struct raw_server {
	struct wire_world world;
	struct raw_peer peer;
};

/* The world's client and a peer that plays its server. */
static void raw_server_start(struct raw_server *server, const struct grpc_limits *limits)
{
	struct error error = ERROR_INIT;
	struct grpc_client_options options = { 0 };
	int fds[2];

	wire_world_start(&server->world, limits);
	grpc_client_free(TAKE_PTR(server->world.client));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			 0);
	assert_int_equal(grpc_client_adopt(server->world.loop, fds[0], &options,
					   &server->world.client, &error),
			 0);
	raw_peer_start(&server->peer, &server->world, fds[1]);
	/* What the client says first is no frame. */
	char magic[24];
	loop_turn(server->world.loop);
	assert_int_equal(read(fds[1], magic, sizeof(magic)), sizeof(magic));
}

static void raw_server_end(struct raw_server *server)
{
	raw_peer_end(&server->peer);
	wire_world_end(&server->world);
}

TEST(what_the_client_makes_of_answers)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < ARRAY_SIZE(client_cases); i++) {
		struct raw_server server;
		struct wire_answer answer = { 0 };

		raw_server_start(&server, NULL);
		wire_world_call(&server.world, &answer, "/test.Test/Echo", "x", 1, 0);
		loop_turn(server.world.loop);
		raw_peer_send(&server.peer, client_cases[i].script);
		wire_world_linger(&server.world, 5);
		if (!answer.ends) {
			shutdown(server.peer.fd, SHUT_WR);
			wire_world_wait_end(&server.world, &answer);
			strbuf_adds(&answer.bytes, "(cut)");
		}
		if (answer.ends != 1 || answer.status != client_cases[i].status ||
		    strncmp(answer.text, client_cases[i].text, strlen(client_cases[i].text)) != 0 ||
		    strcmp(answer.bytes.data, client_cases[i].bytes) != 0) {
			print_error("%s: %s '%s' '%s'\n", client_cases[i].name,
				    grpc_status_to_string(answer.status), answer.text,
				    answer.bytes.data);
			wrong++;
		}
		wire_answer_release(&answer);
		raw_server_end(&server);
	}
	assert_int_equal(wrong, 0);
}

TEST(the_connection_ends_in_the_middle)
{
	static const char *const scripts[] = { "", "S", "S\nH 4 1 " OK_HEAD,
					       "S\nH 4 1 " OK_HEAD "\nD 0 1 00 00000005 68",
					       "S\nX 000001" };

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		struct raw_server server;
		struct wire_answer answers[2] = { { 0 } };

		raw_server_start(&server, NULL);
		for (int j = 0; j < 2; j++)
			wire_world_call(&server.world, &answers[j], "/test.Test/Echo", "x", 1, 0);
		loop_turn(server.world.loop);
		raw_peer_send(&server.peer, scripts[i]);
		/* Half of it is enough: nothing can come any more. */
		shutdown(server.peer.fd, SHUT_WR);
		for (int j = 0; j < 2; j++) {
			wire_world_wait_end(&server.world, &answers[j]);
			assert_int_equal(answers[j].status, GRPC_UNAVAILABLE);
			assert_non_null(strstr(answers[j].text, "the peer closed the connection"));
			wire_answer_release(&answers[j]);
		}
		assert_false(grpc_client_usable(server.world.client));
		raw_server_end(&server);
	}
}

TEST(the_client_sends_what_a_server_expects)
{
	struct raw_server server;
	struct wire_answer answer = { 0 };

	raw_server_start(&server, NULL);
	wire_world_call(&server.world, &answer, "/test.Test/Echo", "hello", 5, 12345);
	raw_peer_play(&server.peer, "S\nA");
	assert_string_equal(
		server.peer.said.data,
		"HEADERS 1 :method POST|:scheme http|:path /test.Test/Echo|:authority localhost"
		"|te trailers|content-type application/grpc|user-agent gpupool/" GPUPOOL_VERSION
		"|grpc-timeout 12345m\nDATA 1 end 000000000568656c6c6f\n");
	strbuf_reset(&server.peer.said);
	grpc_stream_cancel(answer.stream);
	raw_peer_wait(&server.peer, "RST 1 8\n");
	wire_answer_release(&answer);
	/* more than 8 digits of milliseconds */
	wire_world_call(&server.world, &answer, "/test.Test/Echo", "x", 1, 100000000);
	raw_peer_wait(&server.peer, "|grpc-timeout 100000S\n");
	wire_answer_release(&answer);
	raw_server_end(&server);
}

/* A server may answer before it has read the request; the rest of that is not sent. */
TEST(an_early_answer)
{
	struct raw_server server;
	struct wire_answer answer = { 0 };
	autofree char *message = calloc(1, 1 << 20);

	assert_non_null(message);
	raw_server_start(&server, NULL);
	wire_world_call(&server.world, &answer, "/test.Test/Echo", message, 1 << 20, 0);
	raw_peer_play(&server.peer, "S\nA");
	assert_int_equal(answer.ends, 0);
	strbuf_reset(&server.peer.said);
	raw_peer_play(&server.peer, "H 5 1 " OK_HEAD "|grpc-status 8|grpc-message too much");
	assert_int_equal(answer.ends, 1);
	assert_int_equal(answer.status, GRPC_RESOURCE_EXHAUSTED);
	assert_string_equal(answer.text, "too much");
	assert_string_equal(server.peer.said.data, "RST 1 8\n");
	wire_answer_release(&answer);
	raw_server_end(&server);
}

struct late {
	struct loop *loop;
	struct loop_poll *poll;
};

/* Takes so long that a deadline passes, and nobody has looked at the clock since. */
static void be_late(void *user, unsigned events)
{
	struct late *late = user;

	(void)events;
	for (uint64_t start = loop_now_ms(late->loop); loop_now_ms(late->loop) - start < 60;)
		;
	loop_poll_stop(late->poll);
}

/* grpc-go resets a stream with CANCEL when its deadline has passed there; that may be heard before our own clock. */
TEST(a_reset_at_the_deadline)
{
	struct raw_server server;
	struct wire_answer answer = { 0 };
	struct late late;
	int fds[2];

	raw_server_start(&server, NULL);
	late.loop = server.world.loop;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(
		loop_poll_start(late.loop, fds[0], LOOP_READ, be_late, &late, &late.poll, NULL), 0);
	raw_peer_play(&server.peer, "S\nA");
	wire_world_call(&server.world, &answer, "/test.Test/Keep", "x", 1, 50);
	loop_turn(late.loop);
	assert_int_equal(write(fds[1], "x", 1), 1);
	raw_peer_send(&server.peer, "F 3 0 1 00000008");
	wire_world_wait_end(&server.world, &answer);
	assert_int_equal(answer.status, GRPC_DEADLINE_EXCEEDED);
	assert_string_equal(answer.text, "no answer within 50 ms");
	wire_answer_release(&answer);
	close(fds[0]);
	close(fds[1]);
	raw_server_end(&server);
}

/* Floods: the connection of who sends them may end; nobody else notices, and memory stays. */
static const struct {
	const char *name, *script;
	bool closed;
} floods[] = {
	{ "pings", START "N 200000 F 6 0 0 0000000000000000", true },
	{ "settings", START "N 200000 S 000400010000", true },
	{ "calls opened and reset", START "N 50000 H 4 + " ECHO "\nN 50000 F 3 0 + 00000008",
	  true },
	{ "empty frames", START "H 4 1 " ECHO "\nN 200000 D 0 1", false },
	{ "windows of one byte", START "H 4 1 " ECHO "\nN 200000 F 8 0 1 00000001", false },
	{ "priorities", START "N 100000 F 2 0 + 0000000010", false },
	{ "unknown frames", START "N 200000 F fe 0 0 00", false },
	{ "malformed calls", START "N 50000 H 5 + x y", true },
	{ "unknown methods",
	  START "N 50000 H 4 + :method POST|:scheme http|:path /x|content-type application/grpc",
	  true },
	{ "calls without an end", START "N 50000 H 4 + " ECHO, true },
};

#define HELD_MAX (1U << 20) /* bytes that one of them may make us hold */

/* Of the address sanitizer. */
size_t __sanitizer_get_current_allocated_bytes(void);

TEST(floods_do_no_harm)
{
	struct wire_world world;
	struct wire_answer answer = { 0 };

	wire_world_start(&world, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(floods); i++) {
		struct raw_peer peer;

		raw_peer_connect(&peer, &world);
		peer.deaf = true;
		size_t before = __sanitizer_get_current_allocated_bytes();
		raw_peer_send(&peer, floods[i].script);
		size_t after = __sanitizer_get_current_allocated_bytes();
		size_t held = after > before ? after - before : 0;
		raw_peer_read(&peer);
		if (held > HELD_MAX || peer.closed != floods[i].closed)
			print_error("%s: holds %zu bytes%s\n", floods[i].name, held,
				    peer.closed ? ", closed" : "");
		assert_true(held <= HELD_MAX);
		assert_int_equal(peer.closed, floods[i].closed);
		raw_peer_end(&peer);
		wire_world_call(&world, &answer, "/test.Test/Echo", "x", 1, 10000);
		wire_world_wait_end(&world, &answer);
		assert_int_equal(answer.status, GRPC_OK);
		wire_answer_release(&answer);
	}
	assert_int_equal(world.lost, 0);
	assert_int_equal(grpc_server_connections(world.server), 1);
	wire_world_end(&world);
}
