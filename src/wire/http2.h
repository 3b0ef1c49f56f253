/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTP/2 connection on a descriptor, either end: frames by nghttp2, reading and writing by the loop, bounds
 * against what a peer may send or leave unread. http2.c is the only file that knows nghttp2. What is sent
 * from outside an event goes out at the next turn of the loop.
 *
 * Everything may be called inside an event, http2_free() too; no event follows that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "wire/header_copy.h"
#include "wire/header_rules.h"

struct http2;
struct http2_stream; /* the connection's */

#define HTTP2_HEADERS_MAX \
	16384 /* bytes of a header list, as SETTINGS_MAX_HEADER_LIST_SIZE counts */

/* Error codes of RFC 9113, 7. */
enum {
	HTTP2_NO_ERROR = 0,
	HTTP2_PROTOCOL_ERROR = 1,
	HTTP2_INTERNAL_ERROR = 2,
	HTTP2_REFUSED_STREAM = 7,
	HTTP2_CANCEL = 8,
	HTTP2_ENHANCE_YOUR_CALM = 11,
};

/* Events of a stream end with `closed`, or when it is let go. */
struct http2_events {
	/* Server: a request begins. Returns what http2_stream_owner() gives; NULL: out of memory. */
	void *(*opened)(struct http2_stream *stream, void *user);
	void (*header)(struct http2_stream *stream, void *owner, const char *name,
		       size_t name_length, const char *value, size_t value_length);
	/* The list is whole and well-formed. BYTES above HTTP2_HEADERS_MAX: the rest was dropped. */
	void (*headers)(struct http2_stream *stream, void *owner, const struct header_rules *rules);
	void (*data)(struct http2_stream *stream, void *owner, const unsigned char *bytes,
		     size_t size);
	/* The peer has sent all of it. */
	void (*ended)(struct http2_stream *stream, void *owner);
	/* The stream is gone before both sides were done; WHY is for people. */
	void (*closed)(struct http2_stream *stream, void *owner, uint32_t code, const char *why);
	/* The connection is gone; all streams were closed before. http2_free() is still to be called. */
	void (*lost)(void *user, const char *why);
};

struct http2_options {
	bool server;
	size_t unsent; /* bytes that the peer may leave unread */
	unsigned streams;
	unsigned greeting_ms; /* that the peer has to say that it speaks HTTP/2; 0: for ever */
	const struct http2_events *events; /* lives as long as the connection */
	void *user;
};

/* FD is taken, on failure too. */
int http2_new(struct loop *loop, int fd, const struct http2_options *options, struct http2 **ret,
	      struct error *error);

/* Ends connection and streams without an event. NULL is legal. */
void http2_free(struct http2 *http2);

/* Client: false when a new stream will get nowhere. */
bool http2_usable(const struct http2 *http2);

/* Client: a request with all of its body, which is PREFIX and BYTES. */
int http2_request(struct http2 *http2, const struct http2_header *headers, size_t count,
		  const void *prefix, size_t prefix_size, const void *bytes, size_t size,
		  void *owner, struct http2_stream **ret);

/* Server: the header list of the answer; LAST: nothing follows. Returns 0, -ENOMEM or -EPIPE. */
int http2_respond(struct http2_stream *stream, const struct http2_header *headers, size_t count,
		  bool last);

/* Server: more of the body. 0, -ENOMEM, -EPIPE, or -ENOBUFS: the connection ends for what is unread. */
int http2_send(struct http2_stream *stream, const void *prefix, size_t prefix_size,
	       const void *bytes, size_t size);

/* Server: ends the answer; the trailers follow the body. 0 or -ENOMEM. */
int http2_finish(struct http2_stream *stream, const struct http2_header *trailers, size_t count);

/* No event comes any more; what was given to be sent is sent. */
void http2_let_go(struct http2_stream *stream);

/* The same, and the stream ends with CODE, unless both sides are done. */
void http2_reset(struct http2_stream *stream, uint32_t code);
