/* SPDX-License-Identifier: Apache-2.0 */
/* What the rest of src/wire and its tests need of the server. */
#pragma once

#include "wire/wire.h"

/* A server without a socket: its connections come by grpc_server_adopt(). */
int grpc_server_new(struct loop *loop, const struct grpc_server_options *options,
		    struct grpc_server **ret, struct error *error);

/* Serves a connected socket, which is taken, on failure too. */
int grpc_server_adopt(struct grpc_server *server, int fd, struct error *error);
