/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "wire/wire.h"

#define PATIENCE_MS 10000

struct world {
	struct loop *loop;
	struct http_server *server;
	unsigned asked;
	struct error error;
};

static void metrics(struct http_answer *answer, void *user)
{
	struct world *world = user;

	world->asked++;
	answer->content_type = "text/plain; version=0.0.4";
	strbuf_adds(&answer->body, "gpupool_up 1\n");
}

static void large(struct http_answer *answer, void *user)
{
	(void)user;
	for (int i = 0; i < 100000; i++)
		strbuf_adds(&answer->body, "0123456789");
}

static void too_large(struct http_answer *answer, void *user)
{
	for (int i = 0; i < 17; i++)
		large(answer, user);
}

static void not_ready(struct http_answer *answer, void *user)
{
	(void)user;
	answer->status = 503;
	strbuf_adds(&answer->body, "no card yet\n");
}

static const struct http_route routes[] = {
	{ "/metrics", metrics },
	{ "/large", large },
	{ "/too_large", too_large },
	{ "/readyz", not_ready },
	{ 0 },
};

static void world_start(struct world *world)
{
	*world = (struct world){ 0 };
	assert_int_equal(loop_new(&world->loop, &world->error), 0);
	assert_int_equal(http_server_listen(world->loop, "127.0.0.1", 0, routes, world,
					    &world->server, &world->error),
			 0);
}

static void world_end(struct world *world)
{
	http_server_close(world->server);
	loop_free(world->loop);
}

/* From 127.0.0.HOST: each is another peer to the server. */
static int connect_from(const struct world *world, unsigned host)
{
	struct sockaddr_in own = { .sin_family = AF_INET,
				   .sin_addr = { htonl(0x7f000000 | host) } };
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)http_server_port(world->server)),
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int connect_to(const struct world *world)
{
	return connect_from(world, 1);
}

/* What comes until the server closes, or UNTIL was read. */
static void read_answer(struct world *world, int fd, const char *until, struct strbuf *ret)
{
	uint64_t start = loop_now_ms(world->loop);
	char bytes[65536];

	for (;;) {
		assert_true(loop_now_ms(world->loop) - start < PATIENCE_MS);
		loop_turn(world->loop);
		ssize_t length = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (length == 0 || (length < 0 && errno != EAGAIN))
			return;
		if (length > 0)
			strbuf_add(ret, bytes, (size_t)length);
		if (until && strstr(ret->data, until))
			return;
		if (length < 0)
			nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	}
}

/* The answer to a request, from one connection; header names as the library writes them. */
static void ask(struct world *world, const char *request, struct strbuf *ret)
{
	int fd = connect_to(world);

	assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
	read_answer(world, fd, NULL, ret);
	close(fd);
}

#define CLOSE "Host: x\r\nConnection: close\r\n\r\n"

TEST(requests_and_answers)
{
	static const struct {
		const char *request, *first, *has, *body;
	} cases[] = {
		{ "GET /metrics HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200 OK\r\n",
		  "Content-Type: text/plain; version=0.0.4\r\n", "gpupool_up 1\n" },
		{ "GET /metrics?a=b HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200 OK\r\n",
		  "Content-Length: 13\r\n", "gpupool_up 1\n" },
		{ "GET /metrics HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n", "", "gpupool_up 1\n" },
		/* RFC 9112, 3.2.2 */
		{ "GET http://x:9400/metrics HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200 OK\r\n", "",
		  "gpupool_up 1\n" },
		{ "GET HTTP://x/metrics?a=b HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200 OK\r\n", "",
		  "gpupool_up 1\n" },
		{ "GET http://metrics HTTP/1.1\r\n" CLOSE, "HTTP/1.1 404 Not Found\r\n", "",
		  "there is nothing at this path\n" },
		{ "GET ftp://x/metrics HTTP/1.1\r\n" CLOSE, "HTTP/1.1 404 Not Found\r\n", "",
		  "there is nothing at this path\n" },
		{ "HEAD /metrics HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200 OK\r\n",
		  "Content-Length: 13\r\n", "" },
		{ "GET /readyz HTTP/1.1\r\n" CLOSE, "HTTP/1.1 503 Service Unavailable\r\n",
		  "Content-Type: text/plain; charset=utf-8\r\n", "no card yet\n" },
		{ "GET / HTTP/1.1\r\n" CLOSE, "HTTP/1.1 404 Not Found\r\n", "",
		  "there is nothing at this path\n" },
		{ "GET /metrics/ HTTP/1.1\r\n" CLOSE, "HTTP/1.1 404 Not Found\r\n", "",
		  "there is nothing at this path\n" },
		{ "POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n" CLOSE "abc",
		  "HTTP/1.1 405 Method Not Allowed\r\n", "Allow: GET, HEAD\r\n",
		  "only GET and HEAD are answered here\n" },
		{ "DELETE /metrics HTTP/1.1\r\n" CLOSE, "HTTP/1.1 405 Method Not Allowed\r\n",
		  "Allow: GET, HEAD\r\n", "only GET and HEAD are answered here\n" },
		{ "GET /too_large HTTP/1.1\r\n" CLOSE, "HTTP/1.1 500 Internal Server Error\r\n", "",
		  "the answer is too long\n" },
	};
	struct world world;

	world_start(&world);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autostrbuf answer = STRBUF_INIT(1 << 20);

		ask(&world, cases[i].request, &answer);
		const char *body = strstr(answer.data, "\r\n\r\n");
		assert_non_null(body);
		if (strncmp(answer.data, cases[i].first, strlen(cases[i].first)) != 0)
			print_error("%s: %s\n", cases[i].request, answer.data);
		assert_int_equal(strncmp(answer.data, cases[i].first, strlen(cases[i].first)), 0);
		assert_non_null(strstr(answer.data, cases[i].has));
		assert_string_equal(body + 4, cases[i].body);
	}
	assert_int_equal(world.asked, 6);
	world_end(&world);
}

TEST(a_large_answer_and_one_that_is_not_read)
{
	autostrbuf answer = STRBUF_INIT(2 << 20);
	struct world world;

	world_start(&world);
	int deaf = connect_to(&world);
	assert_int_equal(send(deaf, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n", 32, 0), 32);
	for (int i = 0; i < 20; i++)
		loop_turn(world.loop);
	ask(&world, "GET /large HTTP/1.1\r\n" CLOSE, &answer);
	const char *body = strstr(answer.data, "\r\n\r\n");
	assert_non_null(body);
	assert_int_equal(strlen(body + 4), 1000000);
	close(deaf); /* in the middle of its own */
	for (int i = 0; i < 20; i++)
		loop_turn(world.loop);
	world_end(&world);
}

TEST(two_requests_on_a_connection)
{
	struct world world;

	world_start(&world);
	int fd = connect_to(&world);
	for (int i = 0; i < 2; i++) {
		autostrbuf answer = STRBUF_INIT(65536);

		assert_int_equal(send(fd, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 34, 0), 34);
		read_answer(&world, fd, "gpupool_up 1\n", &answer);
		assert_non_null(strstr(answer.data, "200 OK"));
	}
	close(fd);
	world_end(&world);
}

/* None of these may stop the server, or make it busy. */
TEST(what_is_no_request)
{
	static const char *const requests[] = {
		"",
		"GET",
		"\r\n\r\n",
		"\xff\xff\xff\xff\r\n\r\n",
		"GET /metrics HTTP/9.9\r\n\r\n",
		"GET  HTTP/1.1\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\n"
	};
	autofree char *longer = malloc(100001);
	autostrbuf answer = STRBUF_INIT(65536);
	struct world world;

	assert_non_null(longer);
	memset(longer, 'a', 100000);
	longer[100000] = '\0';
	memcpy(longer, "GET /", 5);
	world_start(&world);
	for (size_t i = 0; i <= ARRAY_SIZE(requests); i++) {
		const char *request = i < ARRAY_SIZE(requests) ? requests[i] : longer;
		int fd = connect_to(&world);

		send(fd, request, strlen(request), MSG_NOSIGNAL | MSG_DONTWAIT);
		for (int turns = 0; turns < 10; turns++)
			loop_turn(world.loop);
		close(fd);
	}
	ask(&world, "GET /metrics HTTP/1.1\r\n" CLOSE, &answer);
	assert_non_null(strstr(answer.data, "gpupool_up 1\n"));
	world_end(&world);
}

static unsigned cpu_ms(void)
{
	struct timespec time;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time), 0);
	return (unsigned)(time.tv_sec * 1000 + time.tv_nsec / 1000000);
}

static void stop_loop(void *user)
{
	struct world *world = user;

	loop_stop(world->loop);
}

/* An idle server with an idle connection costs no turns of the loop. */
TEST(it_does_not_run_in_circles)
{
	struct loop_timer *timer;
	struct world world;

	world_start(&world);
	int fd = connect_to(&world);
	for (int i = 0; i < 10; i++)
		loop_turn(world.loop);
	assert_int_equal(
		loop_timer_start(world.loop, 300, 0, stop_loop, &world, &timer, &world.error), 0);
	unsigned start = cpu_ms();
	loop_run(world.loop);
	unsigned waiting = cpu_ms() - start;
	/* Beside what a busy loop of that length gets here, where others may run too. */
	start = cpu_ms();
	for (uint64_t begin = loop_now_ms(world.loop); loop_now_ms(world.loop) - begin < 300;)
		;
	assert_true(waiting * 4 < cpu_ms() - start + 12);
	close(fd);
	world_end(&world);
}

TEST(more_connections_than_it_takes)
{
	autostrbuf answer = STRBUF_INIT(65536);
	struct world world;
	int fds[80];

	world_start(&world);
	for (unsigned i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = connect_from(&world, 1 + i / 10);
		loop_turn(world.loop);
	}
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	ask(&world, "GET /metrics HTTP/1.1\r\n" CLOSE, &answer);
	assert_non_null(strstr(answer.data, "gpupool_up 1\n"));
	world_end(&world);
}

/* Those that say nothing are closed before a scrape that waits behind them has given up. */
TEST(all_connections_are_taken_and_idle)
{
	autostrbuf answer = STRBUF_INIT(65536);
	struct world world;
	int fds[64];

	world_start(&world);
	for (unsigned i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = connect_from(&world, 2 + i / 10);
		loop_turn(world.loop);
	}
	ask(&world, "GET /metrics HTTP/1.1\r\n" CLOSE, &answer);
	assert_non_null(strstr(answer.data, "gpupool_up 1\n"));
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	world_end(&world);
}

/* Whoever opens as many connections as it can, and keeps them: others are answered. */
TEST(one_peer_does_not_take_all_connections)
{
	autostrbuf answer = STRBUF_INIT(65536);
	struct world world;
	int fds[80];

	world_start(&world);
	for (unsigned i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = connect_from(&world, 2);
		loop_turn(world.loop);
	}
	ask(&world, "GET /metrics HTTP/1.1\r\n" CLOSE, &answer);
	assert_non_null(strstr(answer.data, "gpupool_up 1\n"));
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	world_end(&world);
}

TEST(addresses)
{
	struct world world, other;

	world_start(&world);
	other = world;
	assert_int_equal(http_server_listen(world.loop, "127.0.0.1", http_server_port(world.server),
					    routes, &world, &other.server, &world.error),
			 -EADDRINUSE);
	assert_non_null(strstr(world.error.message, "cannot listen on 127.0.0.1 port "));
	assert_int_equal(http_server_listen(world.loop, "localhost", 0, routes, &world,
					    &other.server, &world.error),
			 -EINVAL);
	assert_string_equal(world.error.message,
			    "'localhost' is no address: write it in numbers, such "
			    "as 127.0.0.1 or ::");
	assert_int_equal(http_server_listen(world.loop, "127.0.0.1", 65536, routes, &world,
					    &other.server, &world.error),
			 -EINVAL);
	if (http_server_listen(world.loop, "::1", 0, routes, &world, &other.server, &world.error) ==
	    0) {
		assert_true(http_server_port(other.server) > 0);
		http_server_close(other.server);
	}
	http_server_close(NULL);
	world_end(&world);
}

TEST(every_allocation_fails_once)
{
	for (unsigned n = 0;; n++) {
		struct world world = { 0 };

		assert_int_equal(loop_new(&world.loop, &world.error), 0);
		fault_arm(n);
		int r = http_server_listen(world.loop, "127.0.0.1", 0, routes, &world,
					   &world.server, &world.error);
		bool hit = fault_disarm();
		if (hit)
			assert_int_equal(r, -ENOMEM);
		else
			assert_int_equal(r, 0);
		world_end(&world);
		if (!hit) {
			assert_int_equal(n, 3);
			break;
		}
	}
}

static unsigned open_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* At each point where a descriptor may be missing: an error, and none is lost. */
TEST(no_descriptor_is_left)
{
	struct world world = { 0 };
	struct rlimit old, few;
	int r = -1;

	assert_int_equal(loop_new(&world.loop, &world.error), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	unsigned before = open_descriptors(), failures = 0;
	for (unsigned more = 0; r < 0; more++) {
		few = old;
		few.rlim_cur = 3 + more;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		r = http_server_listen(world.loop, "127.0.0.1", 0, routes, &world, &world.server,
				       &world.error);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
		if (r < 0) {
			assert_true(*world.error.message != '\0');
			assert_int_equal(open_descriptors(), before);
			failures++;
		}
	}
	assert_true(failures >= 2);
	http_server_close(TAKE_PTR(world.server));
	assert_int_equal(open_descriptors(), before);
	world_end(&world);
}
