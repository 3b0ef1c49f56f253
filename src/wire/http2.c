/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/http2.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/base.h"
#include "wire/backlog.h"
#include "wire/header_copy.h"
#include "wire/socket.h"

#define READ_SIZE    16384
#define READ_ROUNDS  16 /* then others have their turn */
#define WRITE_SIZE   65536
#define HEADERS_SENT 16 /* of one list, at most */

/* Floods: frames that wait to be sent as answers to the peer's PING and SETTINGS; SETTINGS in a frame. */
#define ACKS_MAX     64
#define SETTINGS_MAX 32

struct http2 {
	nghttp2_session *session;
	struct loop *loop;
	int fd;
	bool server;
	struct loop_poll *poll;
	struct loop_timer
		*turn; /* runs at the next turn of the loop when something is to be done */
	const struct http2_events *events;
	void *user;
	struct http2_stream *streams; /* doubly linked */
	struct backlog stuck;         /* bytes that the socket did not take */
	size_t unsent, unsent_max;    /* bytes of bodies that wait in the streams */
	unsigned busy;            /* frames of this file on the stack that look at it afterwards */
	bool freed;               /* while busy */
	bool greeted;             /* the peer's SETTINGS came */
	uint64_t greeting_end_ms; /* without them; 0: whenever */
	bool refused;             /* the peer takes no new streams (GOAWAY) */
	bool gone;
	bool doomed;
	char why[160]; /* of the end */
};

struct http2_stream {
	struct http2 *http2;
	struct http2_stream *before, *after;
	int32_t id;
	void *owner; /* NULL: let go */
	struct header_rules rules;
	bool malformed, answered; /* a final response came (client) */
	bool peer_ended, ended;   /* our side: all was given */
	bool sent_end;
	int64_t expected, received; /* bytes of the body; expected -1: not said */
	struct backlog body;
	struct http2_header *trailers; /* one block of memory with its texts */
	size_t trailer_count;
};

/* The one place where a connection that was freed in the middle of its own work goes. */
static void http2_destroy(struct http2 *http2);

static void enter(struct http2 *http2)
{
	http2->busy++;
}

/* False: it is no more. */
static bool leave(struct http2 *http2)
{
	if (--http2->busy > 0 || !http2->freed)
		return true;
	http2_destroy(http2);
	return false;
}

static void stream_unlink(struct http2_stream *stream)
{
	if (stream->before)
		stream->before->after = stream->after;
	else
		stream->http2->streams = stream->after;
	if (stream->after)
		stream->after->before = stream->before;
}

static void stream_free(struct http2_stream *stream)
{
	stream->http2->unsent -= backlog_size(&stream->body);
	stream_unlink(stream);
	backlog_release(&stream->body);
	free(stream->trailers);
	free(stream);
}

static struct http2_stream *stream_new(struct http2 *http2)
{
	struct http2_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->http2 = http2;
	stream->expected = -1;
	stream->after = http2->streams;
	if (stream->after)
		stream->after->before = stream;
	http2->streams = stream;
	return stream;
}

/* The connection ends at the next turn of the loop, when nobody above us on the stack uses it. */
static void doom(struct http2 *http2, const char *why)
{
	if (http2->doomed)
		return;
	http2->doomed = true;
	snprintf(http2->why, sizeof(http2->why), "%s", why);
	loop_timer_set(http2->turn, 0, 0);
}

static void wake(struct http2 *http2)
{
	if (!http2->busy)
		loop_timer_set(http2->turn, 0, 0);
}

static void stream_closed(struct http2_stream *stream, uint32_t code, const char *why)
{
	void *owner = stream->owner;

	stream->owner = NULL;
	if (owner && !stream->http2->freed)
		stream->http2->events->closed(stream, owner, code, why);
	stream_free(stream);
}

/* The connection is at its end: everybody is told, and nothing is touched any more. */
static void lose(struct http2 *http2, const char *why)
{
	char copy[sizeof(http2->why)];

	if (http2->gone)
		return;
	http2->gone = true;
	snprintf(copy, sizeof(copy), "%s", why);
	loop_poll_stop(TAKE_PTR(http2->poll));
	loop_timer_set(http2->turn, LOOP_NEVER, 0);
	enter(http2);
	while (http2->streams && !http2->freed)
		stream_closed(http2->streams, HTTP2_REFUSED_STREAM, copy);
	if (!http2->freed)
		http2->events->lost(http2->user, copy);
	leave(http2);
}

/* nghttp2's callbacks */

#define STOP NGHTTP2_ERR_CALLBACK_FAILURE /* the connection was freed meanwhile */

static struct http2_stream *stream_of(struct http2 *http2, int32_t id)
{
	return nghttp2_session_get_stream_user_data(http2->session, id);
}

static int result_of(const struct http2 *http2)
{
	return http2->freed ? STOP : 0;
}

/* RFC 9113, 8.1.1: a malformed message is an error of its stream. */
static void stream_malformed(struct http2_stream *stream)
{
	if (stream->malformed)
		return;
	stream->malformed = true;
	if (nghttp2_submit_rst_stream(stream->http2->session, NGHTTP2_FLAG_NONE, stream->id,
				      NGHTTP2_PROTOCOL_ERROR) < 0)
		doom(stream->http2, "out of memory");
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct http2 *http2 = user;
	struct http2_stream *stream = stream_of(http2, frame->hd.stream_id);

	if (frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	if (http2->server && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
		stream = stream_new(http2);
		if (!stream)
			return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
		stream->id = frame->hd.stream_id;
		nghttp2_session_set_stream_user_data(session, stream->id, stream);
		header_rules_start(&stream->rules, HEADERS_REQUEST);
		stream->owner = http2->events->opened(stream, http2->user);
		return stream->owner ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	}
	if (!stream)
		return 0;
	header_rules_start(&stream->rules,
			   http2->server || stream->answered ? HEADERS_TRAILERS : HEADERS_RESPONSE);
	return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags,
		     void *user)
{
	struct http2 *http2 = user;
	struct http2_stream *stream = stream_of(http2, frame->hd.stream_id);

	(void)session;
	(void)flags;
	if (!stream || stream->malformed || frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	if (!header_rules_add(&stream->rules, (const char *)name, name_length, (const char *)value,
			      value_length))
		stream_malformed(stream);
	else if (stream->owner && stream->rules.bytes <= HTTP2_HEADERS_MAX)
		http2->events->header(stream, stream->owner, (const char *)name, name_length,
				      (const char *)value, value_length);
	return result_of(http2);
}

/* The peer is done with the stream. */
static int stream_peer_ended(struct http2_stream *stream)
{
	struct http2 *http2 = stream->http2;

	stream->peer_ended = true;
	if (stream->expected >= 0 && stream->expected != stream->received)
		stream_malformed(stream);
	else if (stream->owner)
		http2->events->ended(stream, stream->owner);
	return result_of(http2);
}

static int stream_headers(struct http2_stream *stream, bool last)
{
	struct http2 *http2 = stream->http2;
	const struct header_rules *rules = &stream->rules;

	if (stream->malformed)
		return 0;
	bool interim = rules->list == HEADERS_RESPONSE && rules->status < 200;
	if (!header_rules_end(rules) || (rules->list == HEADERS_TRAILERS && !last) ||
	    (interim && last)) {
		stream_malformed(stream);
		return 0;
	}
	if (interim)
		return 0;
	if (rules->list != HEADERS_TRAILERS)
		stream->expected = rules->length;
	stream->answered = true;
	if (stream->owner)
		http2->events->headers(stream, stream->owner, rules);
	return result_of(http2);
}

static void goaway_came(struct http2 *http2, const nghttp2_goaway *goaway)
{
	char said[64];
	size_t length = goaway->opaque_data_len < sizeof(said) - 1 ? goaway->opaque_data_len
								   : sizeof(said) - 1;

	/* grpc-go says here what it did not like. */
	if (length)
		memcpy(said, goaway->opaque_data, length);
	said[length] = '\0';
	text_make_visible(said, false);
	http2->refused = true;
	snprintf(http2->why, sizeof(http2->why), "the peer sent GOAWAY: %s%s%s",
		 nghttp2_http2_strerror(goaway->error_code), length ? ", " : "", said);
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct http2 *http2 = user;
	struct http2_stream *stream = stream_of(http2, frame->hd.stream_id);
	bool last = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;

	(void)session;
	http2->greeted = true; /* nghttp2 takes nothing else first */
	if (frame->hd.type == NGHTTP2_GOAWAY)
		goaway_came(http2, &frame->goaway);
	if (!stream || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA))
		return 0;
	int r = frame->hd.type == NGHTTP2_HEADERS ? stream_headers(stream, last) : 0;
	return r < 0 || !last || stream->malformed ? r : stream_peer_ended(stream);
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
		   size_t length, void *user)
{
	struct http2 *http2 = user;
	struct http2_stream *stream = stream_of(http2, id);

	(void)flags;
	if (stream && !stream->malformed) {
		stream->received += (int64_t)length;
		if (!stream->answered ||
		    (stream->expected >= 0 && stream->received > stream->expected))
			stream_malformed(stream);
		else if (stream->owner)
			http2->events->data(stream, stream->owner, bytes, length);
	}
	if (http2->freed)
		return STOP;
	/* The owner has taken or dropped them: the peer may send as many more. */
	return nghttp2_is_fatal(nghttp2_session_consume(session, id, length)) ? STOP : 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *user)
{
	struct http2 *http2 = user;
	struct http2_stream *stream = stream_of(http2, id);

	if (!stream)
		return 0;
	nghttp2_session_set_stream_user_data(session, id, NULL);
	stream_closed(stream, code,
		      stream->malformed ? "the peer's HTTP/2 message is malformed"
					: "the stream was reset");
	return result_of(http2);
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct http2 *http2 = user;
	struct http2_stream *stream = stream_of(http2, frame->hd.stream_id);

	if (frame->hd.type == NGHTTP2_GOAWAY && !*http2->why)
		snprintf(http2->why, sizeof(http2->why), "HTTP/2: %s",
			 nghttp2_http2_strerror(frame->goaway.error_code));
	if (!stream || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM) ||
	    (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA))
		return 0;
	stream->sent_end = true;
	/* RFC 9113, 8.1: the answer is whole, the rest of the request is not wanted. */
	if (http2->server && !stream->peer_ended)
		nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
	return 0;
}

/* A request that never left. on_stream_close() may follow, or not. */
static int on_frame_not_send(nghttp2_session *session, const nghttp2_frame *frame, int code,
			     void *user)
{
	struct http2 *http2 = user;
	struct http2_stream *stream = http2->streams;

	(void)code;
	if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	/* nghttp2 does not know it by its number before it was sent. */
	while (stream && stream->id != frame->hd.stream_id)
		stream = stream->after;
	if (!stream)
		return 0;
	nghttp2_session_set_stream_user_data(session, stream->id, NULL);
	stream_closed(stream, HTTP2_REFUSED_STREAM, "the peer takes no more calls");
	return result_of(http2);
}

/* nghttp2 copies the texts, but takes them as writable. */
static void list_of(nghttp2_nv list[HEADERS_SENT], const struct http2_header *headers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		union {
			const char *text;
			uint8_t *bytes;
		} name = { headers[i].name }, value = { headers[i].value };

		list[i] = (nghttp2_nv){ .name = name.bytes,
					.value = value.bytes,
					.namelen = strlen(headers[i].name),
					.valuelen = strlen(headers[i].value) };
	}
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *bytes, size_t most,
			 uint32_t *flags, nghttp2_data_source *source, void *user)
{
	struct http2_stream *stream = source->ptr;
	struct http2 *http2 = user;
	size_t part = backlog_take(&stream->body, bytes, most);
	nghttp2_nv list[HEADERS_SENT];

	if (part == 0 && !stream->ended)
		return NGHTTP2_ERR_DEFERRED;
	http2->unsent -= part;
	if (!stream->ended || backlog_size(&stream->body) > 0)
		return (ssize_t)part;
	*flags |= NGHTTP2_DATA_FLAG_EOF;
	if (!stream->trailer_count)
		return (ssize_t)part;
	*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
	list_of(list, stream->trailers, stream->trailer_count);
	int r = nghttp2_submit_trailer(session, id, list, stream->trailer_count);
	return r < 0 ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE : (ssize_t)part;
}

static int on_error(nghttp2_session *session, int code, const char *text, size_t length, void *user)
{
	struct http2 *http2 = user;

	(void)session;
	(void)code;
	snprintf(http2->why, sizeof(http2->why), "HTTP/2: %.*s", (int)length, text);
	return 0;
}

/* Reading and writing */

/* Writes what the socket takes and keeps the rest. Returns NULL or what failed. */
static const char *put(struct http2 *http2, const unsigned char *bytes, size_t length)
{
	int r = socket_put(http2->fd, &bytes, &length);

	if (r == 0 && length > 0)
		r = backlog_add(&http2->stuck, bytes, length, NULL, 0);
	return r < 0 ? strerrordesc_np(-r) : NULL;
}

static const char *put_stuck(struct http2 *http2)
{
	struct backlog stuck = http2->stuck;

	http2->stuck = (struct backlog){ 0 };
	const char *wrong =
		stuck.bytes ? put(http2, stuck.bytes + stuck.at, backlog_size(&stuck)) : NULL;
	backlog_release(&stuck);
	return wrong;
}

static bool is_stuck(const struct http2 *http2)
{
	return http2->stuck.bytes != NULL;
}

/* Sends all that there is to send, as far as the socket takes it. */
static const char *flush(struct http2 *http2)
{
	unsigned char bytes[WRITE_SIZE];
	size_t length;
	const char *wrong = put_stuck(http2);

	do {
		length = 0;
		while (!wrong && !is_stuck(http2) && !http2->freed && length < WRITE_SIZE / 2) {
			const uint8_t *frame;
			ssize_t size = nghttp2_session_mem_send(http2->session, &frame);

			if (size < 0)
				return nghttp2_strerror((int)size);
			if (size == 0)
				break;
			memcpy(bytes + length, frame, (size_t)size);
			length += (size_t)size;
		}
		if (!wrong && length > 0 && !http2->freed)
			wrong = put(http2, bytes, length);
	} while (!wrong && length > 0 && !is_stuck(http2) && !http2->freed);
	return wrong;
}

/*
 * After events and calls: sends, and looks whether the connection goes on. A server does not read from a peer
 * that does not: what it asks for would pile up here.
 */
static void settle(struct http2 *http2, const char *wrong)
{
	enter(http2);
	if (!wrong && !http2->freed)
		wrong = flush(http2);
	if (!leave(http2) || http2->gone)
		return;
	if (!wrong && !nghttp2_session_want_read(http2->session) && !is_stuck(http2) &&
	    !nghttp2_session_want_write(http2->session))
		wrong = *http2->why ? http2->why : "HTTP/2 is done";
	if (wrong) {
		lose(http2, wrong);
		return;
	}
	loop_poll_set(http2->poll, (http2->server && is_stuck(http2) ? 0U : LOOP_READ) |
					   (is_stuck(http2) ? LOOP_WRITE : 0U));
}

static const char *receive(struct http2 *http2)
{
	unsigned char bytes[READ_SIZE];

	for (unsigned round = 0; round < READ_ROUNDS; round++) {
		ssize_t length = recv(http2->fd, bytes, sizeof(bytes), 0);

		if (length == 0)
			return http2->refused ? http2->why : "the peer closed the connection";
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return errno == EAGAIN ? NULL : strerrordesc_np(errno);
		ssize_t taken = nghttp2_session_mem_recv(http2->session, bytes, (size_t)length);
		if (http2->freed)
			return NULL;
		if (taken < 0)
			return *http2->why ? http2->why : nghttp2_strerror((int)taken);
		if ((size_t)length < sizeof(bytes))
			return NULL;
	}
	return NULL;
}

static void on_ready(void *user, unsigned events)
{
	struct http2 *http2 = user;
	const char *wrong = NULL;

	enter(http2);
	if (events & LOOP_READ)
		wrong = receive(http2);
	if (leave(http2))
		settle(http2, wrong);
}

static void on_turn(void *user)
{
	struct http2 *http2 = user;
	uint64_t now = loop_now_ms(http2->loop), end = http2->greeted ? 0 : http2->greeting_end_ms;

	if (end && now < end)
		loop_timer_set(http2->turn, end - now, 0);
	settle(http2, http2->doomed       ? http2->why
		      : end && now >= end ? "the peer does not speak HTTP/2"
					  : NULL);
}

/* A connection */

static int session_callbacks(nghttp2_session_callbacks **ret)
{
	nghttp2_session_callbacks *callbacks;

	if (nghttp2_session_callbacks_new(&callbacks) < 0)
		return -ENOMEM;
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
	nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_frame_not_send);
	nghttp2_session_callbacks_set_error_callback2(callbacks, on_error);
	*ret = callbacks;
	return 0;
}

static int session_options(nghttp2_option **ret)
{
	nghttp2_option *options;

	if (nghttp2_option_new(&options) < 0)
		return -ENOMEM;
	nghttp2_option_set_no_http_messaging(options, 1); /* header_rules.h says why */
	nghttp2_option_set_no_auto_window_update(options, 1);
	nghttp2_option_set_max_outbound_ack(options, ACKS_MAX);
	nghttp2_option_set_max_settings(options, SETTINGS_MAX);
	*ret = options;
	return 0;
}

static int session_new(struct http2 *http2, unsigned streams)
{
	nghttp2_session_callbacks *callbacks = NULL;
	nghttp2_option *options = NULL;
	const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP2_HEADERS_MAX },
		http2->server ? (nghttp2_settings_entry){ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
							  streams }
			      : (nghttp2_settings_entry){ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
	};

	int r = session_callbacks(&callbacks);
	if (r == 0)
		r = session_options(&options);
	if (r == 0)
		r = (http2->server ? nghttp2_session_server_new2 : nghttp2_session_client_new2)(
			&http2->session, callbacks, http2, options);
	if (r == 0)
		r = nghttp2_submit_settings(http2->session, NGHTTP2_FLAG_NONE, settings,
					    ARRAY_SIZE(settings));
	nghttp2_option_del(options);
	nghttp2_session_callbacks_del(callbacks);
	return r < 0 ? -ENOMEM : 0; /* nothing else can go wrong */
}

int http2_new(struct loop *loop, int fd, const struct http2_options *options, struct http2 **ret,
	      struct error *error)
{
	struct http2 *http2 = calloc(1, sizeof(*http2));

	if (!http2) {
		close(fd);
		return error_no_memory(error);
	}
	http2->loop = loop;
	http2->fd = fd;
	http2->greeting_end_ms =
		options->greeting_ms ? loop_now_ms(loop) + options->greeting_ms : 0;
	http2->server = options->server;
	http2->unsent_max = options->unsent;
	http2->events = options->events;
	http2->user = options->user;
	int r = session_new(http2, options->streams);
	if (r < 0)
		error_no_memory(error);
	else
		r = loop_timer_start(loop, 0, 0, on_turn, http2, &http2->turn, error);
	if (r == 0)
		r = loop_poll_start(loop, fd, LOOP_READ, on_ready, http2, &http2->poll, error);
	if (r < 0) {
		http2_destroy(http2);
		return r;
	}
	*ret = http2;
	return 0;
}

static void http2_destroy(struct http2 *http2)
{
	while (http2->streams)
		stream_free(http2->streams);
	loop_poll_stop(http2->poll);
	loop_timer_stop(http2->turn);
	nghttp2_session_del(http2->session);
	close(http2->fd);
	backlog_release(&http2->stuck);
	free(http2);
}

void http2_free(struct http2 *http2)
{
	if (!http2)
		return;
	http2->freed = true;
	if (!http2->busy)
		http2_destroy(http2);
}

bool http2_usable(const struct http2 *http2)
{
	return !http2->gone && !http2->doomed && !http2->refused &&
	       nghttp2_session_check_request_allowed(http2->session);
}

/* Streams */

static int body_add(struct http2_stream *stream, const void *prefix, size_t prefix_size,
		    const void *bytes, size_t size)
{
	int r = backlog_add(&stream->body, prefix, prefix_size, bytes, size);

	if (r == 0)
		stream->http2->unsent += prefix_size + size;
	return r;
}

int http2_request(struct http2 *http2, const struct http2_header *headers, size_t count,
		  const void *prefix, size_t prefix_size, const void *bytes, size_t size,
		  void *owner, struct http2_stream **ret)
{
	nghttp2_nv list[HEADERS_SENT];
	nghttp2_data_provider provider = { .read_callback = read_body };

	if (!http2_usable(http2))
		return -EPIPE;
	struct http2_stream *stream = stream_new(http2);
	if (!stream)
		return -ENOMEM;
	stream->ended = true;
	stream->owner = owner;
	provider.source.ptr = stream;
	list_of(list, headers, count);
	int r = body_add(stream, prefix, prefix_size, bytes, size);
	if (r == 0) {
		r = nghttp2_submit_request(http2->session, NULL, list, count, &provider, stream);
		stream->id = r;
		r = r == NGHTTP2_ERR_NOMEM ? -ENOMEM : r < 0 ? -EPIPE : 0;
	}
	if (r < 0) {
		stream_free(stream);
		return r;
	}
	wake(http2);
	*ret = stream;
	return 0;
}

static bool is_ending(const struct http2 *http2)
{
	return http2->gone || http2->doomed || http2->freed;
}

int http2_respond(struct http2_stream *stream, const struct http2_header *headers, size_t count,
		  bool last)
{
	nghttp2_nv list[HEADERS_SENT];
	nghttp2_data_provider provider = { .source.ptr = stream, .read_callback = read_body };

	if (is_ending(stream->http2))
		return -EPIPE;
	list_of(list, headers, count);
	int r = nghttp2_submit_response(stream->http2->session, stream->id, list, count,
					last ? NULL : &provider);
	if (r < 0)
		return r == NGHTTP2_ERR_NOMEM ? -ENOMEM : -EPIPE;
	stream->ended = last;
	wake(stream->http2);
	return 0;
}

static int resume(struct http2_stream *stream)
{
	int r = nghttp2_session_resume_data(stream->http2->session, stream->id);

	wake(stream->http2);
	/* Anything else says that it was not waiting. */
	return r == NGHTTP2_ERR_NOMEM ? -ENOMEM : 0;
}

int http2_send(struct http2_stream *stream, const void *prefix, size_t prefix_size,
	       const void *bytes, size_t size)
{
	struct http2 *http2 = stream->http2;

	if (is_ending(http2))
		return -EPIPE;
	if (http2->unsent + prefix_size + size > http2->unsent_max) {
		char why[sizeof(http2->why)];

		snprintf(why, sizeof(why),
			 "the peer does not read: %zu bytes wait, the limit is %zu",
			 http2->unsent + prefix_size + size, http2->unsent_max);
		doom(http2, why);
		return -ENOBUFS;
	}
	int r = body_add(stream, prefix, prefix_size, bytes, size);
	return r < 0 ? r : resume(stream);
}

int http2_finish(struct http2_stream *stream, const struct http2_header *trailers, size_t count)
{
	if (count) {
		stream->trailers = http2_headers_copy(trailers, count);
		if (!stream->trailers)
			return -ENOMEM;
	}
	stream->trailer_count = count;
	stream->ended = true;
	return resume(stream);
}

void http2_let_go(struct http2_stream *stream)
{
	stream->owner = NULL;
}

void http2_reset(struct http2_stream *stream, uint32_t code)
{
	struct http2 *http2 = stream->http2;

	stream->owner = NULL;
	if (is_ending(http2) || (stream->peer_ended && stream->sent_end))
		return;
	if (nghttp2_submit_rst_stream(http2->session, NGHTTP2_FLAG_NONE, stream->id, code) < 0)
		doom(http2, "out of memory");
	else
		wake(http2);
}
