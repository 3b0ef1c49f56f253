/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "wire/wire.h"

#define BODY_MAX          (16U << 20)
#define CONNECTIONS_MAX   64
#define ONE_PEER_MAX      16    /* of them from one address: whoever keeps them keeps nobody out */
#define CONNECTION_MEMORY 16384 /* bytes of one request's headers, and room to answer */
#define IDLE_S            5     /* less than the 10 s that Prometheus waits for an answer */
#define BACKLOG           64

struct http_server {
	struct loop *loop;
	struct MHD_Daemon *daemon;
	struct loop_poll *poll;
	struct loop_timer *timer; /* when libmicrohttpd has to look at its connections' ages */
	const struct http_route *routes;
	void *user;
	unsigned port;
};

static enum MHD_Result respond(struct MHD_Connection *connection, struct http_answer *answer,
			       const char *allow)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		answer->body.length, answer->body.data, MHD_RESPMEM_MUST_COPY);

	if (!response)
		return MHD_NO;
	enum MHD_Result r = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
						    answer->content_type);
	if (r == MHD_YES && allow)
		r = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allow);
	if (r == MHD_YES)
		r = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return r;
}

/* RFC 9112, 3.2.2: a server takes "http://HOST/PATH", which is meant for proxies, as well. */
static const char *path_of(const char *target)
{
	const char *scheme = "http://", *path = target;

	if (strncasecmp(target, scheme, strlen(scheme)) == 0)
		path = strchr(target + strlen(scheme), '/');
	return path ? path : "/";
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *target,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **request)
{
	struct http_server *server = user;
	const struct http_route *route = server->routes;
	const char *path = path_of(target);
	struct http_answer answer = { .status = MHD_HTTP_OK,
				      .content_type = "text/plain; charset=utf-8",
				      .body = STRBUF_INIT(BODY_MAX) };
	bool known = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
		     strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;

	(void)version;
	(void)upload;
	/* The first time it is the headers alone; what comes with them is read and dropped. */
	if (!*request || *upload_size > 0) {
		*request = server;
		*upload_size = 0;
		return MHD_YES;
	}
	while (route->path && strcmp(route->path, path) != 0)
		route++;
	if (!route->path) {
		answer.status = MHD_HTTP_NOT_FOUND;
		strbuf_adds(&answer.body, "there is nothing at this path\n");
	} else if (!known) {
		answer.status = MHD_HTTP_METHOD_NOT_ALLOWED;
		strbuf_adds(&answer.body, "only GET and HEAD are answered here\n");
	} else {
		route->answer(&answer, server->user);
	}
	if (strbuf_failed(&answer.body) < 0) {
		strbuf_reset(&answer.body);
		answer.status = MHD_HTTP_INTERNAL_SERVER_ERROR;
		strbuf_adds(&answer.body, "the answer is too long\n");
	}
	enum MHD_Result r = respond(connection, &answer, known ? NULL : "GET, HEAD");
	strbuf_release(&answer.body);
	return r;
}

static unsigned connections(const struct http_server *server)
{
	return MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
		->num_connections;
}

static void run(struct http_server *server)
{
	MHD_UNSIGNED_LONG_LONG wait;
	unsigned before, now = connections(server);

	/*
	 * At its limit libmicrohttpd does not listen; where connections have ended it listens again in the next
	 * run only, for which nobody would call it.
	 */
	do {
		before = now;
		MHD_run(server->daemon);
		now = connections(server);
	} while (now < before);
	loop_timer_set(server->timer,
		       MHD_get_timeout(server->daemon, &wait) == MHD_YES ? wait : LOOP_NEVER, 0);
}

static void on_ready(void *user, unsigned events)
{
	(void)events;
	run(user);
}

static void on_timer(void *user)
{
	run(user);
}

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int read_address(const char *text, unsigned port, union address *ret, socklen_t *ret_size,
			struct error *error)
{
	*ret = (union address){ 0 };
	if (port > UINT16_MAX)
		return error_set(error, EINVAL, "there is no port %u: the largest is %d", port,
				 UINT16_MAX);
	if (inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons((uint16_t)port);
		*ret_size = sizeof(ret->v4);
	} else if (inet_pton(AF_INET6, text, &ret->v6.sin6_addr) == 1) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons((uint16_t)port);
		*ret_size = sizeof(ret->v6);
	} else {
		return error_set(
			error, EINVAL,
			"'%s' is no address: write it in numbers, such as 127.0.0.1 or ::", text);
	}
	return 0;
}

static int open_socket(const char *text, unsigned port, int *ret_fd, unsigned *ret_port,
		       struct error *error)
{
	union address address;
	socklen_t size;
	const int on = 1;

	int r = read_address(text, port, &address, &size, error);
	if (r < 0)
		return r;
	autoclose int fd =
		socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_set_errno(error, errno, "cannot make a socket for %s", text);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, &address.any, size) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, &address.any, &size) < 0)
		return error_set_errno(error, errno, "cannot listen on %s port %u", text, port);
	*ret_port = ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port
							   : address.v6.sin6_port);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* FD is taken, on failure too. */
static int start_daemon(struct http_server *server, int fd, struct error *error)
{
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)ONE_PEER_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_END);
	if (!server->daemon) {
		close(fd);
		return error_set(error, ENOMEM,
				 "cannot start an HTTP server: out of memory or "
				 "descriptors");
	}
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return error_set(error, ENOTSUP, "this libmicrohttpd has no epoll");
	int r = loop_timer_start(server->loop, 0, 0, on_timer, server, &server->timer, error);
	return r < 0 ? r
		     : loop_poll_start(server->loop, info->epoll_fd, LOOP_READ, on_ready, server,
				       &server->poll, error);
}

int http_server_listen(struct loop *loop, const char *address, unsigned port,
		       const struct http_route *routes, void *user, struct http_server **ret,
		       struct error *error)
{
	int fd = -1;
	struct http_server *server = calloc(1, sizeof(*server));

	if (!server)
		return error_no_memory(error);
	server->loop = loop;
	server->routes = routes;
	server->user = user;
	int r = open_socket(address, port, &fd, &server->port, error);
	if (r == 0)
		r = start_daemon(server, fd, error);
	if (r < 0) {
		http_server_close(server);
		return r;
	}
	*ret = server;
	return 0;
}

unsigned http_server_port(const struct http_server *server)
{
	return server->port;
}

void http_server_close(struct http_server *server)
{
	if (!server)
		return;
	loop_poll_stop(server->poll);
	loop_timer_stop(server->timer);
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	free(server);
}
