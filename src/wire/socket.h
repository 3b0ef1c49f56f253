/* SPDX-License-Identifier: Apache-2.0 */
/* Unix sockets by path: made, taken over from the dead, connected to, removed when still our own. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/base.h"

struct socket_file {
	char *path; /* owned */
	dev_t device;
	ino_t inode;
	struct timespec made; /* file systems use the number of a removed inode again */
};

/* See grpc_server_listen(). The descriptor does not block. */
int socket_listen(const char *path, mode_t mode, struct socket_file *ret_file, int *ret_fd,
		  struct error *error);

bool socket_file_is_own(const struct socket_file *file);

/* Removes the file if it is still the one that was made, and frees the path. */
void socket_file_remove(struct socket_file *file);

int socket_connect(const char *path, int *ret_fd, struct error *error);

/* Writes as much as the socket takes now; both move on. 0 or a negative errno. */
int socket_put(int fd, const unsigned char **bytes, size_t *length);
