/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/grpc_server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "wire/grpc_message.h"
#include "wire/grpc_text.h"
#include "wire/http2.h"
#include "wire/socket.h"

#define ACCEPT_ROUNDS   16  /* then others have their turn */
#define TOGETHER        4   /* times what one connection may keep unfinished, for all of them */
#define ACCEPT_PAUSE_MS 100 /* when there is no descriptor or memory left */

struct grpc_server {
	struct loop *loop;
	struct socket_file file;
	int fd;
	struct loop_poll *poll;
	struct loop_timer *pause;
	const struct grpc_method *methods;
	void *user;
	struct grpc_limits limits;
	struct connection *connections; /* doubly linked */
	unsigned connection_count;
	size_t received; /* room of all readers of all connections */
	unsigned busy;   /* frames of this file on the stack that look at it after cancelled() */
	bool closed;     /* freed once it is not busy */
};

struct connection {
	struct grpc_server *server;
	struct connection *before, *after;
	struct http2 *http2;
	struct grpc_call *calls; /* doubly linked */
	size_t received;         /* room of all readers */
	bool closed;             /* or just being closed */
	bool done;               /* its http2 is gone; freed with the last call */
};

/* Why a request will not do; the first reason stands. */
struct refusal {
	unsigned http; /* 0: answered as gRPC */
	enum grpc_status status;
	char text[256];
};

struct grpc_call {
	struct connection *connection;
	struct grpc_call *before, *after;
	struct http2_stream *stream;
	const struct grpc_method *method;
	void *user;
	struct loop_timer *deadline; /* NULL: none */
	uint64_t timeout_ms;
	struct refusal refusal;
	struct grpc_reader reader;
	bool post, grpc, timed, encoded; /* what the headers said */
	bool whole;                      /* the message is there */
	bool handled;                    /* handle() was called */
	bool responded;                  /* the header list of the answer is on its way */
	bool ending;                     /* inside cancelled() */
};

static void enter(struct grpc_server *server)
{
	server->busy++;
}

static void leave(struct grpc_server *server)
{
	if (--server->busy == 0 && server->closed)
		free(server);
}

static void connection_free(struct connection *connection)
{
	struct grpc_server *server = connection->server;

	if (connection->before)
		connection->before->after = connection->after;
	else
		server->connections = connection->after;
	if (connection->after)
		connection->after->before = connection->before;
	free(connection);
}

static void call_free(struct grpc_call *call)
{
	struct connection *connection = call->connection;

	if (call->before)
		call->before->after = call->after;
	else
		connection->calls = call->after;
	if (call->after)
		call->after->before = call->before;
	connection->received -= call->reader.capacity;
	connection->server->received -= call->reader.capacity;
	loop_timer_stop(call->deadline);
	grpc_reader_release(&call->reader);
	free(call);
	if (connection->done && !connection->calls)
		connection_free(connection);
}

/*
 * No answer is possible any more: its owner hears of it, and may close the server then. The caller frees the
 * call, between enter() and leave().
 */
static void call_cancel(struct grpc_call *call)
{
	const struct grpc_method *method = call->method;

	call->ending = true;
	if (call->handled && method->cancelled)
		method->cancelled(call, call->connection->server->user);
}

__attribute__((format(printf, 3, 4))) static void refuse(struct grpc_call *call,
							 enum grpc_status status,
							 const char *format, ...)
{
	struct refusal *refusal = &call->refusal;
	va_list arguments;

	if (refusal->status != GRPC_OK)
		return;
	refusal->status = status;
	va_start(arguments, format);
	vsnprintf(refusal->text, sizeof(refusal->text), format, arguments);
	va_end(arguments);
}

/* Trailers, or trailers alone. The call is gone after. */
static void call_end(struct grpc_call *call, enum grpc_status status, const char *text)
{
	autostrbuf message = STRBUF_INIT(GRPC_TEXT_MAX * 3);
	char number[12];
	struct http2_header list[5] = { { ":status", "200" },
					{ "content-type", "application/grpc" },
					{ "grpc-status", number } };
	size_t count = 3;

	snprintf(number, sizeof(number), "%u", (unsigned)status);
	grpc_text_encode(&message, text ? text : "");
	if (message.length)
		list[count++] = (struct http2_header){ "grpc-message", message.data };
	if (call->encoded)
		list[count++] = (struct http2_header){ "grpc-accept-encoding", "identity" };
	int r = strbuf_failed(&message);
	if (r == 0 && call->responded)
		r = http2_finish(call->stream, list + 2, count - 2);
	else if (r == 0)
		r = http2_respond(call->stream, list, count, true);
	if (r < 0)
		http2_reset(call->stream, HTTP2_INTERNAL_ERROR);
	else
		http2_let_go(call->stream);
	call_free(call);
}

/* The answer to what is HTTP/2, but not gRPC. */
static void call_refuse_http(struct grpc_call *call)
{
	char number[12];
	struct http2_header list[] = { { ":status", number }, { "content-type", "text/plain" } };

	snprintf(number, sizeof(number), "%u", call->refusal.http);
	int r = http2_respond(call->stream, list, ARRAY_SIZE(list), false);
	if (r == 0)
		r = http2_send(call->stream, NULL, 0, call->refusal.text,
			       strlen(call->refusal.text));
	if (r == 0)
		r = http2_finish(call->stream, NULL, 0);
	if (r < 0)
		http2_reset(call->stream, HTTP2_INTERNAL_ERROR);
	else
		http2_let_go(call->stream);
	call_free(call);
}

static void call_refuse(struct grpc_call *call)
{
	if (call->refusal.http)
		call_refuse_http(call);
	else
		call_end(call, call->refusal.status, call->refusal.text);
}

/* Events of a stream */

static void *on_opened(struct http2_stream *stream, void *user)
{
	struct connection *connection = user;
	struct grpc_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->connection = connection;
	call->stream = stream;
	call->reader.most = connection->server->limits.message;
	call->after = connection->calls;
	if (call->after)
		call->after->before = call;
	connection->calls = call;
	return call;
}

static void header_method(struct grpc_call *call, const char *value, size_t length)
{
	call->post = grpc_header_is(value, length, "POST");
}

static void header_path(struct grpc_call *call, const char *value, size_t length)
{
	const struct grpc_method *method = call->connection->server->methods;

	while (method->path && !grpc_header_is(value, length, method->path))
		method++;
	if (method->path)
		call->method = method;
	else
		refuse(call, GRPC_UNIMPLEMENTED, "there is no method '%.*s' here",
		       (int)(length < 128 ? length : 128), value);
}

static void header_content_type(struct grpc_call *call, const char *value, size_t length)
{
	call->grpc = grpc_is_content_type(value, length);
}

static void header_encoding(struct grpc_call *call, const char *value, size_t length)
{
	call->encoded = !grpc_header_is(value, length, "identity");
	if (call->encoded)
		refuse(call, GRPC_UNIMPLEMENTED,
		       "messages compressed with '%.*s' are not read here: send identity",
		       (int)(length < 64 ? length : 64), value);
}

static void header_timeout(struct grpc_call *call, const char *value, size_t length)
{
	call->timed = grpc_timeout_parse(value, length, &call->timeout_ms);
	if (!call->timed)
		refuse(call, GRPC_INTERNAL, "grpc-timeout '%.*s' is no time",
		       (int)(length < 64 ? length : 64), value);
}

static void on_header(struct http2_stream *stream, void *owner, const char *name,
		      size_t name_length, const char *value, size_t value_length)
{
	static const struct {
		const char *name;
		void (*read)(struct grpc_call *call, const char *value, size_t length);
	} table[] = { { ":method", header_method },
		      { ":path", header_path },
		      { "content-type", header_content_type },
		      { "grpc-encoding", header_encoding },
		      { "grpc-timeout", header_timeout } };

	(void)stream;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (grpc_header_is(name, name_length, table[i].name))
			table[i].read(owner, value, value_length);
}

static void on_deadline(void *user)
{
	struct grpc_call *call = user;
	struct grpc_server *server = call->connection->server;

	enter(server);
	call_cancel(call);
	if (call->connection->closed)
		call_free(call);
	else
		call_end(call, GRPC_DEADLINE_EXCEEDED, "the deadline of the call has passed");
	leave(server);
}

static void on_headers(struct http2_stream *stream, void *owner, const struct header_rules *rules)
{
	struct grpc_call *call = owner;

	(void)stream;
	if (rules->list == HEADERS_TRAILERS)
		return;
	if (rules->bytes > HTTP2_HEADERS_MAX)
		refuse(call, GRPC_RESOURCE_EXHAUSTED,
		       "the headers of the call have %zu bytes; the limit is %d", rules->bytes,
		       HTTP2_HEADERS_MAX);
	else if (!call->post || !call->grpc)
		call->refusal = (struct refusal){
			.http = call->post ? 415 : 405,
			.status = GRPC_UNKNOWN,
			.text = "This is a gRPC server: send POST with content-type "
				"application/grpc.\n",
		};
	if (call->refusal.http) /* answered at the request's end */
		return;
	if (call->refusal.status != GRPC_OK) {
		call_refuse(call);
		return;
	}
	struct loop *loop = call->connection->server->loop;
	if (call->timed && loop_timer_start(loop, call->timeout_ms, 0, on_deadline, call,
					    &call->deadline, NULL) < 0)
		call_end(call, GRPC_RESOURCE_EXHAUSTED, "out of memory");
}

static void refuse_message(struct grpc_call *call, int reason)
{
	if (reason == -EMSGSIZE)
		refuse(call, GRPC_RESOURCE_EXHAUSTED, "the message has %zu bytes; the limit is %zu",
		       call->reader.size, call->reader.most);
	else if (reason == -EOPNOTSUPP)
		refuse(call, GRPC_INTERNAL,
		       "a message is marked as compressed, but no grpc-encoding was named");
	else if (reason == -EBADMSG)
		refuse(call, GRPC_INTERNAL, "a message begins with %u instead of 0",
		       call->reader.prefix[0]);
	else
		refuse(call, GRPC_RESOURCE_EXHAUSTED, "out of memory");
	call_refuse(call);
}

/* One peer, or all of them together, make us keep too much that is not whole yet. */
static bool refuse_hoard(struct grpc_call *call)
{
	const struct connection *connection = call->connection;
	const struct grpc_server *server = connection->server;
	size_t most = server->limits.received;

	if (connection->received > most)
		refuse(call, GRPC_RESOURCE_EXHAUSTED,
		       "unfinished messages of this connection have %zu bytes; the limit is %zu",
		       connection->received, most);
	else if (server->received / TOGETHER > most)
		refuse(call, GRPC_RESOURCE_EXHAUSTED,
		       "unfinished messages of all connections have %zu bytes; the limit is %zu",
		       server->received, most * TOGETHER);
	return call->refusal.status != GRPC_OK;
}

static void on_data(struct http2_stream *stream, void *owner, const unsigned char *bytes,
		    size_t size)
{
	struct grpc_call *call = owner;
	struct connection *connection = call->connection;

	(void)stream;
	while (size > 0 && !call->refusal.http) {
		size_t before = call->reader.capacity;

		if (call->whole) {
			refuse(call, GRPC_UNIMPLEMENTED,
			       "the request has a second message; methods here take one");
			call_refuse(call);
			return;
		}
		int r = grpc_reader_take(&call->reader, &bytes, &size, &call->whole);
		connection->received += call->reader.capacity - before;
		connection->server->received += call->reader.capacity - before;
		if (r < 0) {
			refuse_message(call, r);
			return;
		}
		if (refuse_hoard(call)) {
			call_refuse(call);
			return;
		}
	}
}

static void on_ended(struct http2_stream *stream, void *owner)
{
	struct grpc_call *call = owner;

	(void)stream;
	if (!call->whole && !call->refusal.http) {
		if (grpc_reader_within(&call->reader))
			refuse(call, GRPC_INTERNAL, "the request ends within its message");
		else
			refuse(call, GRPC_UNIMPLEMENTED,
			       "the request has no message; methods here take one");
	}
	if (call->refusal.status != GRPC_OK) {
		call_refuse(call);
		return;
	}
	call->handled = true;
	/* The call may be gone when this returns. */
	call->method->handle(call, call->reader.bytes, call->reader.length,
			     call->connection->server->user);
}

static void on_closed(struct http2_stream *stream, void *owner, uint32_t code, const char *why)
{
	struct grpc_call *call = owner;
	struct grpc_server *server = call->connection->server;

	(void)stream;
	(void)code;
	(void)why;
	enter(server);
	call_cancel(call);
	call_free(call);
	leave(server);
}

/* Connections */

/* Calls whose cancelled() is on the stack are freed there. */
static struct grpc_call *first_call(const struct connection *connection)
{
	struct grpc_call *call = connection->calls;

	while (call && call->ending)
		call = call->after;
	return call;
}

static void connection_close(struct connection *connection)
{
	struct grpc_server *server = connection->server;
	struct grpc_call *call;

	if (connection->closed)
		return;
	connection->closed = true;
	server->connection_count--;
	enter(server);
	while ((call = first_call(connection))) {
		call_cancel(call);
		http2_let_go(call->stream);
		call_free(call);
	}
	http2_free(connection->http2);
	connection->done = true;
	if (!connection->calls)
		connection_free(connection);
	leave(server);
}

static void on_lost(void *user, const char *why)
{
	(void)why;
	connection_close(user);
}

static const struct http2_events server_events = {
	.opened = on_opened,
	.header = on_header,
	.headers = on_headers,
	.data = on_data,
	.ended = on_ended,
	.closed = on_closed,
	.lost = on_lost,
};

int grpc_server_adopt(struct grpc_server *server, int fd, struct error *error)
{
	struct connection *connection = calloc(1, sizeof(*connection));
	const struct http2_options options = { .server = true,
					       .unsent = server->limits.unsent,
					       .streams = server->limits.streams,
					       .greeting_ms = server->limits.greeting_ms,
					       .events = &server_events,
					       .user = connection };

	if (!connection) {
		close(fd);
		return error_no_memory(error);
	}
	int r = http2_new(server->loop, fd, &options, &connection->http2, error);
	if (r < 0) {
		free(connection);
		return r;
	}
	connection->server = server;
	connection->after = server->connections;
	if (connection->after)
		connection->after->before = connection;
	server->connections = connection;
	server->connection_count++;
	return 0;
}

/* One connection that waits; false when there is none, or none can be taken now. */
static bool accept_one(struct grpc_server *server)
{
	int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0 && errno == EAGAIN)
		return false;
	if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
		return true; /* that one went away meanwhile */
	if (fd < 0) {
		/* No descriptor is left, or no memory: it would be ready at once again, and again. */
		loop_poll_set(server->poll, 0);
		loop_timer_set(server->pause, ACCEPT_PAUSE_MS, 0);
		return false;
	}
	if (server->connection_count >= server->limits.connections)
		close(fd);
	else
		grpc_server_adopt(server, fd, NULL);
	return true;
}

static void on_connect(void *user, unsigned events)
{
	(void)events;
	for (unsigned round = 0; round < ACCEPT_ROUNDS; round++)
		if (!accept_one(user))
			return;
}

static void on_pause_over(void *user)
{
	struct grpc_server *server = user;

	loop_poll_set(server->poll, LOOP_READ);
}

/* The server */

/* Puts the defaults where there is 0. */
static void complete_limits(struct grpc_limits *limits)
{
	const struct {
		size_t *limit;
		size_t standard;
	} table[] = { { &limits->message, GRPC_MESSAGE_MAX },
		      { &limits->unsent, 16U << 20 },
		      { &limits->received, 16U << 20 } };

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!*table[i].limit)
			*table[i].limit = table[i].standard;
	if (!limits->streams)
		limits->streams = 100;
	if (!limits->connections)
		limits->connections = 64;
	if (!limits->greeting_ms)
		limits->greeting_ms = 20000;
}

int grpc_server_new(struct loop *loop, const struct grpc_server_options *options,
		    struct grpc_server **ret, struct error *error)
{
	struct grpc_server *server = calloc(1, sizeof(*server));

	if (!server)
		return error_no_memory(error);
	server->loop = loop;
	server->fd = -1;
	server->methods = options->methods;
	server->user = options->user;
	server->limits = options->limits;
	complete_limits(&server->limits);
	*ret = server;
	return 0;
}

int grpc_server_listen(struct loop *loop, const struct grpc_server_options *options,
		       struct grpc_server **ret, struct error *error)
{
	struct grpc_server *server = NULL;

	int r = grpc_server_new(loop, options, &server, error);
	if (r == 0)
		r = socket_listen(options->socket_path, options->mode ? options->mode : 0600,
				  &server->file, &server->fd, error);
	if (r == 0)
		r = loop_timer_start(loop, LOOP_NEVER, 0, on_pause_over, server, &server->pause,
				     error);
	if (r == 0)
		r = loop_poll_start(loop, server->fd, LOOP_READ, on_connect, server, &server->poll,
				    error);
	if (r < 0) {
		grpc_server_close(server);
		return r;
	}
	*ret = server;
	return 0;
}

static struct connection *first_open(const struct grpc_server *server)
{
	struct connection *connection = server->connections;

	while (connection && connection->closed)
		connection = connection->after;
	return connection;
}

void grpc_server_close(struct grpc_server *server)
{
	struct connection *connection;

	if (!server || server->closed)
		return;
	socket_file_remove(&server->file);
	loop_poll_stop(server->poll);
	loop_timer_stop(server->pause);
	if (server->fd >= 0)
		close(server->fd);
	server->fd = -1;
	server->closed = true;
	enter(server);
	while ((connection = first_open(server)))
		connection_close(connection);
	leave(server);
}

unsigned grpc_server_connections(const struct grpc_server *server)
{
	return server->connection_count;
}

bool grpc_server_has_socket(const struct grpc_server *server)
{
	return socket_file_is_own(&server->file);
}

/* Calls */

int grpc_call_send(struct grpc_call *call, const void *message, size_t size, struct error *error)
{
	static const struct http2_header list[] = { { ":status", "200" },
						    { "content-type", "application/grpc" } };
	unsigned char prefix[GRPC_PREFIX];
	int r = call->ending ? -EPIPE : 0;

	if (size > UINT32_MAX)
		return error_set(error, EMSGSIZE, "a message of %zu bytes is too long for gRPC",
				 size);
	if (r == 0 && !call->responded) {
		r = http2_respond(call->stream, list, ARRAY_SIZE(list), false);
		call->responded = r == 0;
	}
	grpc_prefix(prefix, size);
	if (r == 0)
		r = http2_send(call->stream, prefix, sizeof(prefix), message, size);
	if (r == -ENOMEM)
		return error_no_memory(error);
	if (r == -ENOBUFS)
		return error_set(error, ENOBUFS,
				 "the peer leaves more than %zu bytes unread: its connection ends",
				 call->connection->server->limits.unsent);
	return r < 0 ? error_set(error, EPIPE, "the connection of this call is ending") : 0;
}

void grpc_call_finish(struct grpc_call *call, enum grpc_status status, const char *text)
{
	if (!call->ending)
		call_end(call, status, text);
}

void *grpc_call_user(const struct grpc_call *call)
{
	return call->user;
}

void grpc_call_set_user(struct grpc_call *call, void *user)
{
	call->user = user;
}
