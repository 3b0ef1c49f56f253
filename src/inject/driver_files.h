/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a driver root holds. Every source is an absolute path on the host with all links resolved
 * inside the driver root, and lies below it; only sockets and device nodes may come from the
 * host's own /run, /tmp and /dev, where a driver root has none.
 */
#pragma once

#include "base/base.h"
#include "model/model.h"

enum driver_file_kind {
	DRIVER_LIBRARY,
	DRIVER_BINARY,
	DRIVER_FIRMWARE,
	DRIVER_CONFIG,
	DRIVER_MODULE, /* of the X server; each of its names is where another distribution's looks */
	DRIVER_SOCKET, /* or the directory of one */
	DRIVER_FILE_KIND_MAX,
};

struct driver_file {
	enum driver_file_kind kind;
	unsigned capabilities; /* wanted by any of these (enum driver_capability); 0: by all */
	unsigned bits;         /* library: 64 or 32 */
	bool cuda_search; /* library: also where CUDA images look first, /usr/local/nvidia/lib64 */
	char *source;     /* on the host; owned */
	struct string_list names; /* library: below the library directory ("libcuda.so.1",
				   * "vdpau/libvdpau_nvidia.so.1"); binary: "nvidia-smi"; else
				   * the absolute path in the container */
	bool directory;           /* the source is one */
	unsigned gated;           /* only for who asks for one of these (enum gated); 0: for all */
};

struct driver_node {
	char name[64]; /* below /dev: "nvidia0", "nvidiactl", "nvidia-caps/nvidia-cap3" */
	char *path;    /* on the host; owned */
	unsigned major, minor;
	unsigned mode, uid, gid; /* of the host's node */
	unsigned gated; /* only for who asks for one of these (enum gated); 0: by its name */
	char bus_id[CARD_BUS_ID_MAX]; /* of the card whose display node it is, or "" */
};

struct driver_files {
	char *root;                /* as given; owned */
	char version[80];          /* of the files */
	struct driver_file *items; /* owned */
	size_t count, capacity;
	struct driver_node *nodes; /* owned */
	size_t node_count, node_capacity;
	struct string_list notes; /* "/x/libfoo.so.535 is not a usable library: ..." */
};

/* NULL when there is none. */
const struct driver_node *driver_files_node(const struct driver_files *files, const char *name);
