/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of one device plugin share. Private to src/kubelet. */
#pragma once

#include <sys/stat.h>

#include "kubelet/device_plugin.h"
#include "kubelet/registration.h"
#include "wire/wire.h"

/* A ListAndWatch that the kubelet opened. */
struct plugin_stream {
	struct device_plugin *plugin;
	struct grpc_call *call;
	struct plugin_stream *next;
};

struct device_plugin_call {
	struct device_plugin *plugin; /* NULL once that is stopped */
	struct grpc_call *call;       /* NULL once nobody waits for the answer */
	struct device_plugin_call *next;
};

/* Which file a name stands for: an inode number alone comes back soon after a removal. */
struct socket_identity {
	bool there;
	uint64_t inode;
	uint64_t born_ns; /* 0 where the file system does not know */
};

struct device_plugin {
	struct loop *loop;
	char *resource, *directory, *prefix;
	char *kubelet_path; /* made once: short of memory, it would look as if kubelet.sock was gone */
	bool preferred_available;
	struct device_plugin_callbacks callbacks;
	void *user;

	struct watch *watch;
	struct loop_timer *state_timer, *drain_timer, *send_timer;
	struct registration registration;
	struct socket_identity kubelet;    /* as last seen */
	struct socket_identity registered; /* where the last Register went */
	struct grpc_client *client;        /* while Register runs */

	struct grpc_server *server;
	char *socket_name;
	uint64_t instance; /* in the socket's name */
	unsigned binds;
	bool quiet; /* we end the streams ourselves */
	struct plugin_stream *streams;
	struct device_plugin_call *calls;

	struct kubelet_bytes list;
	bool has_list, unsent;
	uint64_t sent_ms;
	struct map *known; /* every ID that was ever listed here */

	bool ended_alone; /* the stream ended, and kubelet.sock is the same */
	bool rival_said;
	char *refusal; /* as last said */
	struct device_plugin_counts counts;
};

/* device_plugin.c */
void plugin_on(struct device_plugin *plugin, enum registration_event event);
void plugin_say(struct device_plugin *plugin, enum device_plugin_event event, const char *format,
		...) __attribute__((format(printf, 3, 4)));

/* plugin_service.c: the methods, whose user is the plugin. */
extern const struct grpc_method plugin_methods[];
void plugin_send_list(struct device_plugin *plugin, struct plugin_stream *stream);
void plugin_stream_ended(struct device_plugin *plugin);

/* plugin_socket.c */
char *plugin_path(const struct device_plugin *plugin, const char *name); /* NULL: no memory */
struct socket_identity plugin_look(const struct device_plugin *plugin);
bool plugin_same_socket(const struct socket_identity *left, const struct socket_identity *right);
/* Makes the socket anew unless it is still there. */
int plugin_listen(struct device_plugin *plugin, struct error *error);
void plugin_cut(struct device_plugin *plugin);
/* Sockets with our prefix that nobody serves: of an instance that was killed. */
void plugin_sweep(const struct device_plugin *plugin);
/* Who else has a socket in the folder: "a.sock (process 12, x), b.sock"; "" for nobody. */
void plugin_others(const struct device_plugin *plugin, struct strbuf *text);
