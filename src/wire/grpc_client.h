/* SPDX-License-Identifier: Apache-2.0 */
/* What the rest of src/wire and its tests need of the client. */
#pragma once

#include "wire/wire.h"

/* A client on a connected socket, which is taken, on failure too. The socket path is not looked at. */
int grpc_client_adopt(struct loop *loop, int fd, const struct grpc_client_options *options,
		      struct grpc_client **ret, struct error *error);
