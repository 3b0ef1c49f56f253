/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/grpc_client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "wire/grpc_message.h"
#include "wire/grpc_text.h"
#include "wire/http2.h"
#include "wire/socket.h"

#define USER_AGENT "gpupool/" GPUPOOL_VERSION

struct grpc_client {
	struct loop *loop;
	struct http2 *http2; /* NULL once it is lost */
	char *authority;
	void (*lost)(struct grpc_client *client, const char *why, void *user);
	void *user;
	size_t message_max;
	struct grpc_stream *streams; /* doubly linked */
};

struct grpc_stream {
	struct grpc_client *client;
	struct grpc_stream *before, *after;
	struct http2_stream *stream;
	struct loop_timer *deadline; /* NULL: none */
	unsigned deadline_ms;
	uint64_t end_ms; /* of the loop's clock */
	void (*on_message)(const void *message, size_t size, void *user);
	void (*on_end)(enum grpc_status status, const char *text, void *user);
	void *user;
	struct grpc_reader reader;
	bool *gone;      /* set when it is freed while its messages are handed on */
	bool answered;   /* the header list of the answer came */
	bool grpc;       /* with the content type of gRPC */
	bool has_status; /* in the last list */
	unsigned http;
	enum grpc_status status;
	char text[GRPC_TEXT_MAX + 1];
};

static void stream_free(struct grpc_stream *stream)
{
	if (stream->before)
		stream->before->after = stream->after;
	else
		stream->client->streams = stream->after;
	if (stream->after)
		stream->after->before = stream->before;
	if (stream->gone)
		*stream->gone = true;
	loop_timer_stop(stream->deadline);
	grpc_reader_release(&stream->reader);
	free(stream);
}

/* The stream and, in on_end(), perhaps the client are gone after this. */
static void stream_end(struct grpc_stream *stream, enum grpc_status status, const char *text)
{
	void (*on_end)(enum grpc_status status, const char *text, void *user) = stream->on_end;
	void *user = stream->user;
	char copy[GRPC_TEXT_MAX + 1];

	snprintf(copy, sizeof(copy), "%s", text);
	stream_free(stream);
	on_end(status, copy, user);
}

static void stream_give_up(struct grpc_stream *stream, enum grpc_status status, const char *text)
{
	http2_reset(stream->stream, HTTP2_CANCEL);
	stream_end(stream, status, text);
}

/* Events of a stream */

static void on_header(struct http2_stream *http2_stream, void *owner, const char *name,
		      size_t name_length, const char *value, size_t value_length)
{
	struct grpc_stream *stream = owner;

	(void)http2_stream;
	if (grpc_header_is(name, name_length, "content-type") && !stream->answered) {
		stream->grpc = grpc_is_content_type(value, value_length);
	} else if (grpc_header_is(name, name_length, "grpc-status")) {
		stream->has_status = true;
		stream->status = grpc_status_parse(value, value_length);
	} else if (grpc_header_is(name, name_length, "grpc-message")) {
		grpc_text_decode(value, value_length, stream->text);
	}
}

static void on_headers(struct http2_stream *http2_stream, void *owner,
		       const struct header_rules *rules)
{
	struct grpc_stream *stream = owner;
	char text[128];

	(void)http2_stream;
	if (rules->bytes > HTTP2_HEADERS_MAX) {
		snprintf(text, sizeof(text), "the answer's headers have %zu bytes; the limit is %d",
			 rules->bytes, HTTP2_HEADERS_MAX);
		stream_give_up(stream, GRPC_RESOURCE_EXHAUSTED, text);
		return;
	}
	if (rules->list == HEADERS_TRAILERS)
		return;
	stream->answered = true;
	stream->http = rules->status;
	if (stream->http == 200 && stream->grpc)
		return;
	/* No gRPC server, or a proxy's word: its body means nothing to us. */
	if (stream->has_status)
		return;
	snprintf(text, sizeof(text), "the server answered with HTTP status %u%s", stream->http,
		 stream->grpc ? "" : " and no content type of gRPC");
	stream_give_up(stream, grpc_status_of_http(stream->http), text);
}

static void refuse_message(struct grpc_stream *stream, int reason)
{
	char text[128] = "out of memory";
	enum grpc_status status = GRPC_RESOURCE_EXHAUSTED;

	if (reason == -EMSGSIZE) {
		snprintf(text, sizeof(text),
			 "the answer has a message of %zu bytes; the limit is %zu",
			 stream->reader.size, stream->reader.most);
	} else if (reason != -ENOMEM) {
		status = GRPC_INTERNAL;
		snprintf(text, sizeof(text),
			 "a message of the answer begins with %u instead of 0%s",
			 stream->reader.prefix[0],
			 reason == -EOPNOTSUPP ? ": compressed messages are not read" : "");
	}
	stream_give_up(stream, status, text);
}

static void on_data(struct http2_stream *http2_stream, void *owner, const unsigned char *bytes,
		    size_t size)
{
	struct grpc_stream *stream = owner;
	bool gone = false, whole;

	(void)http2_stream;
	if (stream->http != 200 || !stream->grpc)
		return;
	while (size > 0) {
		int r = grpc_reader_take(&stream->reader, &bytes, &size, &whole);
		if (r < 0) {
			refuse_message(stream, r);
			return;
		}
		if (!whole || !stream->on_message)
			continue;
		stream->gone = &gone;
		stream->on_message(stream->reader.bytes, stream->reader.length, stream->user);
		if (gone)
			return;
		stream->gone = NULL;
	}
}

static void on_ended(struct http2_stream *http2_stream, void *owner)
{
	struct grpc_stream *stream = owner;

	/* A server may answer before it has read all. */
	http2_reset(http2_stream, HTTP2_CANCEL);
	if (!stream->has_status)
		stream_end(stream, GRPC_INTERNAL,
			   "the server ended the call without a grpc-status");
	else if (stream->status == GRPC_OK && grpc_reader_within(&stream->reader))
		stream_end(stream, GRPC_INTERNAL, "the answer ends within a message");
	else
		stream_end(stream, stream->status, stream->text);
}

static void late(struct grpc_stream *stream)
{
	char text[64];

	snprintf(text, sizeof(text), "no answer within %u ms", stream->deadline_ms);
	stream_end(stream, GRPC_DEADLINE_EXCEEDED, text);
}

static void on_closed(struct http2_stream *http2_stream, void *owner, uint32_t code,
		      const char *why)
{
	struct grpc_stream *stream = owner;
	char text[256];

	(void)http2_stream;
	/* The server's clock was looked at first; grpc-go says no more than that then. */
	if (code == HTTP2_CANCEL && stream->deadline &&
	    loop_now_ms(stream->client->loop) >= stream->end_ms) {
		late(stream);
		return;
	}
	snprintf(text, sizeof(text), "%s (HTTP/2 error code %u)", why, code);
	stream_end(stream, grpc_status_of_reset(code), text);
}

static void on_lost(void *user, const char *why)
{
	struct grpc_client *client = user;

	http2_free(TAKE_PTR(client->http2));
	if (client->lost)
		client->lost(client, why, client->user);
}

static const struct http2_events client_events = {
	.header = on_header,
	.headers = on_headers,
	.data = on_data,
	.ended = on_ended,
	.closed = on_closed,
	.lost = on_lost,
};

/* The client */

int grpc_client_adopt(struct loop *loop, int fd, const struct grpc_client_options *options,
		      struct grpc_client **ret, struct error *error)
{
	struct grpc_client *client = calloc(1, sizeof(*client));
	const struct http2_options http2 = { .events = &client_events, .user = client };

	if (client)
		client->authority = strdup(options->authority ? options->authority : "localhost");
	if (!client || !client->authority) {
		close(fd);
		free(client);
		return error_no_memory(error);
	}
	client->loop = loop;
	client->lost = options->lost;
	client->user = options->user;
	client->message_max = options->message ? options->message : GRPC_MESSAGE_MAX;
	int r = http2_new(loop, fd, &http2, &client->http2, error);
	if (r < 0) {
		grpc_client_free(client);
		return r;
	}
	*ret = client;
	return 0;
}

int grpc_client_connect(struct loop *loop, const struct grpc_client_options *options,
			struct grpc_client **ret, struct error *error)
{
	int fd;
	int r = socket_connect(options->socket_path, &fd, error);

	return r < 0 ? r : grpc_client_adopt(loop, fd, options, ret, error);
}

void grpc_client_free(struct grpc_client *client)
{
	if (!client)
		return;
	while (client->streams) {
		http2_let_go(client->streams->stream);
		stream_free(client->streams);
	}
	http2_free(client->http2);
	free(client->authority);
	free(client);
}

bool grpc_client_usable(const struct grpc_client *client)
{
	return client->http2 && http2_usable(client->http2);
}

static void on_deadline(void *user)
{
	struct grpc_stream *stream = user;

	http2_reset(stream->stream, HTTP2_CANCEL);
	late(stream);
}

static int stream_send(struct grpc_stream *stream, const struct grpc_request *request)
{
	unsigned char prefix[GRPC_PREFIX];
	char timeout[16];
	const struct http2_header headers[] = {
		{ ":method", "POST" },        { ":scheme", "http" },
		{ ":path", request->path },   { ":authority", stream->client->authority },
		{ "te", "trailers" },         { "content-type", "application/grpc" },
		{ "user-agent", USER_AGENT }, { "grpc-timeout", timeout },
	};

	/* 8 digits at most: seconds where milliseconds have more. */
	if (request->deadline_ms < 100000000)
		snprintf(timeout, sizeof(timeout), "%um", request->deadline_ms);
	else
		snprintf(timeout, sizeof(timeout), "%uS", request->deadline_ms / 1000);
	grpc_prefix(prefix, request->size);
	return http2_request(stream->client->http2, headers,
			     ARRAY_SIZE(headers) - (request->deadline_ms ? 0 : 1), prefix,
			     sizeof(prefix), request->message, request->size, stream,
			     &stream->stream);
}

int grpc_client_call(struct grpc_client *client, const struct grpc_request *request,
		     struct grpc_stream **ret, struct error *error)
{
	if (!grpc_client_usable(client))
		return error_set(error, EPIPE, "the connection of this client has ended");
	if (request->size > UINT32_MAX)
		return error_set(error, EMSGSIZE, "a message of %zu bytes is too long for gRPC",
				 request->size);
	struct grpc_stream *stream = calloc(1, sizeof(*stream));
	if (!stream)
		return error_no_memory(error);
	stream->client = client;
	stream->deadline_ms = request->deadline_ms;
	stream->end_ms = loop_now_ms(client->loop) + request->deadline_ms;
	stream->on_message = request->on_message;
	stream->on_end = request->on_end;
	stream->user = request->user;
	stream->reader.most = client->message_max;
	stream->after = client->streams;
	if (stream->after)
		stream->after->before = stream;
	client->streams = stream;
	int r = 0;
	if (request->deadline_ms)
		r = loop_timer_start(client->loop, request->deadline_ms, 0, on_deadline, stream,
				     &stream->deadline, error);
	if (r == 0) {
		r = stream_send(stream, request);
		if (r < 0)
			error_set_errno(error, -r, "cannot call '%s'", request->path);
	}
	if (r < 0) {
		stream_free(stream);
		return r;
	}
	if (ret)
		*ret = stream;
	return 0;
}

void grpc_stream_cancel(struct grpc_stream *stream)
{
	if (!stream)
		return;
	http2_reset(stream->stream, HTTP2_CANCEL);
	stream_free(stream);
}
