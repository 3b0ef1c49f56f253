/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face of src/wire: gRPC over Unix sockets, both ends, and an HTTP/1 server for metrics. It knows no
 * message and no service: bytes in, bytes out. Everything runs in the loop's thread; nothing blocks.
 *
 * gRPC as in grpc's doc/PROTOCOL-HTTP2.md; unary calls and streams from the server. No TLS, no
 * compression. A server never closes an idle connection and never sends GOAWAY unless the peer broke
 * the protocol: to the kubelet the end of a connection is the end of the plugin.
 *
 * A call, stream, server or client may be ended inside any callback of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* Numbers and names as in grpc's doc/statuscodes.md. */
enum grpc_status {
	GRPC_OK = 0,
	GRPC_CANCELLED = 1,
	GRPC_UNKNOWN = 2,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_DEADLINE_EXCEEDED = 4,
	GRPC_NOT_FOUND = 5,
	GRPC_ALREADY_EXISTS = 6,
	GRPC_PERMISSION_DENIED = 7,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_FAILED_PRECONDITION = 9,
	GRPC_ABORTED = 10,
	GRPC_OUT_OF_RANGE = 11,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_INTERNAL = 13,
	GRPC_UNAVAILABLE = 14,
	GRPC_DATA_LOSS = 15,
	GRPC_UNAUTHENTICATED = 16,
	GRPC_STATUS_COUNT
};

const char *grpc_status_to_string(enum grpc_status status); /* "DEADLINE_EXCEEDED" */

#define GRPC_MESSAGE_MAX (4U << 20) /* as in grpc-go */

/* What a peer may make a server hold. 0 stands for the default. */
struct grpc_limits {
	size_t message; /* bytes of one received message; GRPC_MESSAGE_MAX */
	size_t unsent;  /* bytes one connection has not taken yet, then it is closed; 16 MiB */
	size_t received; /* bytes of unfinished messages on one connection, a quarter of all; 16 MiB */
	unsigned streams;     /* calls at a time on one connection; 100 */
	unsigned connections; /* 64 */
	/* Until a new connection has to speak HTTP/2, after which it may be idle for ever; 20 s. */
	unsigned greeting_ms;
};

/* A server */

struct grpc_server;
struct grpc_call; /* the server's: valid until grpc_call_finish(), or until cancelled() has returned */

struct grpc_method {
	const char *path; /* "/v1beta1.DevicePlugin/Allocate" */
	/* The one message of the request; lives for the call. It is answered here or at any time later. */
	void (*handle)(struct grpc_call *call, const void *message, size_t size, void *user);
	/*
	 * No answer is possible any more: the peer gave up, its connection or its deadline ended, or the server is
	 * closed. NULL is legal for a method whose handle() always finishes the call itself.
	 */
	void (*cancelled)(struct grpc_call *call, void *user);
};

struct grpc_server_options {
	const char *socket_path; /* at most 107 bytes */
	unsigned mode;           /* of the socket file; 0: 0600 */
	const struct grpc_method
		*methods; /* ends with a row without a path; lives as long as the server */
	void *user;
	struct grpc_limits limits;
};

/*
 * Makes the socket and serves it. A socket file that nobody listens on is replaced. -EADDRINUSE: somebody
 * does listen there. -EEXIST: the path is no socket. -ENAMETOOLONG. Others come from the system.
 */
int grpc_server_listen(struct loop *loop, const struct grpc_server_options *options,
		       struct grpc_server **ret, struct error *error);

/*
 * Ends all calls (cancelled() is called) and connections, and removes the socket file if it is still the one
 * that was made here. NULL is legal.
 */
void grpc_server_close(struct grpc_server *server);

DEFINE_CLEANUP(struct grpc_server, grpc_server_close)

unsigned grpc_server_connections(const struct grpc_server *server); /* open now */

/* False: the socket file was removed or replaced by another. */
bool grpc_server_has_socket(const struct grpc_server *server);

/*
 * Sends one message of a stream, or the only one; copied. -EPIPE: the connection is ending and cancelled()
 * will be called from the loop. -ENOBUFS: the peer has not taken more than limits.unsent bytes; the same.
 * -ENOMEM: nothing was sent and the call goes on.
 */
int grpc_call_send(struct grpc_call *call, const void *message, size_t size, struct error *error);

/* TEXT: NULL or any UTF-8, for people; percent-encoded here, at most 1 KiB of it. The call is gone. */
void grpc_call_finish(struct grpc_call *call, enum grpc_status status, const char *text);

void *grpc_call_user(const struct grpc_call *call); /* NULL until it is set */
void grpc_call_set_user(struct grpc_call *call, void *user);

/* A client: one connection, any number of calls at a time */

struct grpc_client;
struct grpc_stream; /* one call: valid until on_end() has returned, or grpc_stream_cancel() */

struct grpc_client_options {
	const char *socket_path;
	const char *authority; /* NULL: localhost */
	/* The connection is lost; every call has been ended before. NULL is legal. */
	void (*lost)(struct grpc_client *client, const char *why, void *user);
	void *user;
	size_t message; /* bytes of one received message; 0: GRPC_MESSAGE_MAX */
};

/* Connects at once, or fails: -ENOENT, -ECONNREFUSED, -EAGAIN (too many wait to be accepted), ... */
int grpc_client_connect(struct loop *loop, const struct grpc_client_options *options,
			struct grpc_client **ret, struct error *error);

/* Calls that run are cancelled without a callback. NULL is legal. */
void grpc_client_free(struct grpc_client *client);

DEFINE_CLEANUP(struct grpc_client, grpc_client_free)

/* False once the connection is lost or the server takes no more calls on it: connect anew. */
bool grpc_client_usable(const struct grpc_client *client);

struct grpc_request {
	const char *path; /* as of struct grpc_method */
	const void *message;
	size_t size;
	unsigned deadline_ms; /* 0: none */
	/* Each message as it comes; NULL: they are dropped. Lives for the call. */
	void (*on_message)(const void *message, size_t size, void *user);
	/*
	 * Once, never inside grpc_client_call(), not after grpc_stream_cancel() or grpc_client_free(). TEXT is the
	 * server's or ours, never NULL. Whether a unary call with GRPC_OK had its message is for the caller to see.
	 */
	void (*on_end)(enum grpc_status status, const char *text, void *user);
	void *user;
};

/* The request is copied. RET may be NULL. -EPIPE: the client is not usable. */
int grpc_client_call(struct grpc_client *client, const struct grpc_request *request,
		     struct grpc_stream **ret, struct error *error);

/* Tells the server, too. No callback follows. NULL is legal. */
void grpc_stream_cancel(struct grpc_stream *stream);

/* HTTP/1, for metrics and health */

struct http_server;

struct http_answer {
	unsigned status;          /* 200 at the start */
	const char *content_type; /* "text/plain; charset=utf-8" at the start; a constant */
	struct strbuf body;       /* up to 16 MiB */
};

struct http_route {
	const char *path; /* "/metrics"; what follows a '?' is not looked at */
	void (*answer)(struct http_answer *answer, void *user); /* GET and HEAD */
};

/*
 * Serves ROUTES, which end with a row without a path and live as long as the server, on ADDRESS (numbers, IPv4
 * or IPv6) and PORT (0: any). Other paths get 404, other methods 405. It runs in the loop's thread, too.
 */
int http_server_listen(struct loop *loop, const char *address, unsigned port,
		       const struct http_route *routes, void *user, struct http_server **ret,
		       struct error *error);
unsigned http_server_port(const struct http_server *server);
void http_server_close(struct http_server *server); /* NULL is legal */

DEFINE_CLEANUP(struct http_server, http_server_close)
