/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the fake kubelet share. */
#pragma once

#include "fake_kubelet.h"
#include "wire/wire.h"

#define FAKE_PATH_MAX 256

/* A set of IDs: keys of a map. */
#define autoset cleanup(map_freep) struct map
void set_add(struct map *set, const char *id);
bool set_has(const struct map *set, const char *id);
size_t set_count(const struct map *set); /* NULL is an empty set */
struct map *set_new(void);
struct map *set_copy(const struct map *set);
struct map *set_minus(const struct map *left, const struct map *right);
void set_add_all(struct map *to, const struct map *from);
void set_print(const struct map *set, struct strbuf *text); /* {a,b}, sorted */
void set_to_list(const struct map *set, struct string_list *ret);

/* A client of one plugin: plugin/v1beta1/client.go. */
struct fake_client {
	struct fake_kubelet *kubelet;
	struct fake_client *next;
	char resource[FAKE_PATH_MAX], path[FAKE_PATH_MAX];
	struct grpc_call *call; /* of Register, until it is answered */
	struct grpc_client *grpc;
	struct loop_timer *timer;
	uint64_t dial_until_ms;
	struct kubelet_plugin_options options;
	struct grpc_stream *stream;
	bool has_options, connected, watching;
	bool listed;      /* the server still knows it under its resource */
	uint64_t stop_ms; /* of its endpoint; 0: not stopped */
};

struct fake_device {
	char id[FAKE_PATH_MAX];
	bool healthy;
	unsigned numa_count;
	int numa[8];
	struct fake_device *next;
};

/* The device manager's maps, by resource. NULL sets: the key is absent there. */
struct fake_resource {
	struct fake_resource *next;
	char name[FAKE_PATH_MAX];
	struct map *healthy, *unhealthy, *allocated;
	struct fake_device *devices; /* the last list, whole */
	struct map *by_id;
	bool has_endpoint;
	struct fake_client *endpoint; /* NULL: one that is stopped, from the checkpoint */
	uint64_t stop_ms;
	struct fake_counts status; /* as the API server has it */
	bool in_status;
};

struct fake_request { /* of a container */
	char resource[FAKE_PATH_MAX];
	size_t count;
};

enum fake_container_kind { FAKE_MAIN, FAKE_INIT, FAKE_SIDECAR };

struct fake_container {
	char name[64];
	enum fake_container_kind kind;
	struct fake_request requests[4];
	size_t request_count;
};

struct fake_pod {
	struct fake_pod *next;
	char name[128], uid[64];
	struct fake_container containers[8];
	size_t container_count;
	uint64_t numa; /* bits; 0: the topology manager has no opinion */
	enum fake_pod_state state;
	bool runs;                  /* containers do */
	bool known;                 /* to the running kubelet's pod manager */
	bool dying;                 /* ended while it was being admitted */
	struct fake_entry *granted; /* what its containers were given, for as long as they run */
	char why[ERROR_MESSAGE_MAX];
};

/* One row of podDevices. */
struct fake_entry {
	struct fake_entry *next;
	char uid[64], container[64], resource[FAKE_PATH_MAX];
	struct map *ids;
	struct kubelet_bytes answer;
};

/* The Pod that is being admitted: where it is. */
struct fake_admission {
	struct fake_pod *pod;
	size_t container, request;
	struct map *reusable[4]; /* of this Pod, by resource */
	char reusable_of[4][FAKE_PATH_MAX];
	size_t reusable_count;
	bool collected, wrote; /* this container: garbage; something to checkpoint */
	/* devicesToAllocate */
	size_t needed;
	struct map *taken, *available, *aligned, *unaligned, *without;
	bool over_aligned;             /* what the plugin is asked over */
	struct fake_entry *start_next; /* all is allocated: PreStartContainer */
	struct grpc_stream *stream;
	const struct fake_client *asked; /* whose stream it is */
	void (*on_end)(enum grpc_status status, const char *text, void *user);
	struct kubelet_bytes bytes; /* the answer's message */
	char log[8192];             /* the line so far */
};

struct fake_kubelet {
	struct loop *loop;
	char directory[FAKE_PATH_MAX], pod_resources[FAKE_PATH_MAX];
	struct fake_kubelet_knobs knobs;
	uint32_t random;
	void (*log)(const char *line, void *user);
	void *user;

	struct fake_pod *pods; /* of the node; in the order of their coming */
	unsigned pod_number;
	uint64_t admit_at_ms;

	/* the process */
	bool runs, sources_ready;
	int folder; /* the server's path goes through it, see fake_kubelet_kill() */
	uint64_t offset_ms;
	struct grpc_server *server, *resources_server;
	struct fake_client *clients;
	struct fake_resource *resources;
	struct fake_entry *entries;
	struct loop_timer *status_timer, *work_timer;
	uint64_t next_status_ms;
	struct fake_admission admission;
};

uint64_t fake_now(const struct fake_kubelet *kubelet);
uint32_t fake_random(struct fake_kubelet *kubelet, uint32_t below);
void fake_log(const struct fake_kubelet *kubelet, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
struct fake_resource *fake_resource(struct fake_kubelet *kubelet, const char *name, bool make);
void fake_write_checkpoint(struct fake_kubelet *kubelet);

/* fake_clients.c */
extern const struct grpc_method fake_registration_methods[];
void fake_clients_end(struct fake_kubelet *kubelet); /* with the process: nothing is logged */
/* What the manager is told; resources.c */
int fake_connected(struct fake_kubelet *kubelet, struct fake_client *client); /* -EEXIST */
void fake_disconnected(struct fake_kubelet *kubelet, struct fake_client *client);
void fake_take_list(struct fake_kubelet *kubelet, const char *resource,
		    const struct kubelet_device_list *list);

/* fake_devices.c */
void fake_read_checkpoint(struct fake_kubelet *kubelet);
void fake_resources_free(struct fake_kubelet *kubelet);
void fake_entries_free(struct fake_entry **entries);
struct fake_entry *fake_entry_add(struct fake_entry **entries, const char *uid,
				  const char *container, const char *resource,
				  const struct map *ids, const void *answer, size_t size);
struct fake_entry *fake_entry(const struct fake_kubelet *kubelet, const char *uid,
			      const char *container, const char *resource);
void fake_restore_allocated(struct fake_kubelet *kubelet); /* allocatedDevices = podDevices */
struct fake_counts fake_count(struct fake_kubelet *kubelet, struct fake_resource *resource);
void fake_drop_expired(struct fake_kubelet *kubelet);

/* fake_admission.c */
void fake_admit(struct fake_kubelet *kubelet); /* goes on with whatever waits */
void fake_admission_cancel(struct fake_kubelet *kubelet, const struct fake_client *client);
void fake_admission_end(struct fake_kubelet *kubelet); /* with the process */
void fake_pod_free(struct fake_kubelet *kubelet, struct fake_pod *pod);
