/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kubelet as far as device plugins can see one: its registration server, its client of each plugin,
 * its device manager, checkpoint, pod-resources, and the node's capacity. Written from the source of
 * Kubernetes 1.34.4 and 1.37.2 (pkg/kubelet/cm/devicemanager, pkg/kubelet/apis/podresources); it
 * knows nothing of our plugin. It lives in a loop, so several of them and a plugin may share one.
 *
 * What is random in Go (the order of sets, whom a fill takes) is random here, from a seed. What takes long in
 * a kubelet is a number here; fake_kubelet_advance() moves its clock alone.
 *
 * The log has one line a call, with IDs sorted, so that the logs of two kubelets can be compared:
 *	Register RESOURCE [-> error TEXT]
 *	GetDevicePluginOptions RESOURCE [preferred] [prestart]
 *	ListAndWatch RESOURCE			the stream was opened
 *	List RESOURCE healthy {a,b} unhealthy {}	a message on it
 *	Ended RESOURCE				the stream ended, or the client was disconnected
 *	GetPreferredAllocation RESOURCE SIZE of {a,b} must {} -> {a} | error TEXT
 *	Allocate RESOURCE {a} -> ok | error TEXT
 *	PreStartContainer RESOURCE {a} -> ok | error TEXT
 *	admitted POD | rejected POD: TEXT
 *	node RESOURCE capacity N allocatable N	when the node's status changed
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kubelet/kubelet.h"

struct fake_kubelet;

struct fake_kubelet_options {
	const char *directory;     /* of device plugins; made by the caller */
	const char *pod_resources; /* path of that socket; NULL: none */
	uint32_t seed;
	void (*log)(const char *line, void *user); /* NULL: none */
	void *user;
};

/* What a scenario may change at any time. */
struct fake_kubelet_knobs {
	bool old_clients;         /* up to 1.36.3: clients are kept by resource alone */
	unsigned dial_ms;         /* 10000: how long a plugin is dialled */
	unsigned dial_delay_ms;   /* 0: before the first try */
	unsigned stream_delay_ms; /* 0: between the answer to Register and ListAndWatch */
	unsigned admit_delay_ms;  /* 0: from the start to the first Pod; until then List is empty */
	unsigned status_ms;       /* 10000: between two updates of the node's status */
	unsigned grace_ms;        /* 300000: for how long an ended plugin keeps its capacity */
	unsigned most_available;  /* 0: all; else so many of them stand in the next questions */
	bool list_in_allocate; /* during each Allocate a Pod named dying... ends, and somebody calls List */
	bool refuse_questions; /* pod-resources answers with its rate limit */
};

int fake_kubelet_new(struct loop *loop, const struct fake_kubelet_options *options,
		     struct fake_kubelet **ret, struct error *error);
void fake_kubelet_free(struct fake_kubelet *kubelet); /* NULL is legal */
struct fake_kubelet_knobs *fake_kubelet_knobs(struct fake_kubelet *kubelet);

/* Removes all sockets, reads the checkpoint, serves kubelet.sock, admits the Pods that are there. */
int fake_kubelet_start(struct fake_kubelet *kubelet, struct error *error);
/* The process ends: its connections are closed; kubelet.sock stays as a file that nobody serves. */
void fake_kubelet_kill(struct fake_kubelet *kubelet);
bool fake_kubelet_runs(const struct fake_kubelet *kubelet);
void fake_kubelet_advance(struct fake_kubelet *kubelet, uint64_t ms);
/* Containers end with the machine; the checkpoint stays. The kubelet must not run. */
void fake_kubelet_reboot(struct fake_kubelet *kubelet);
/* The client of RESOURCE is disconnected, as by the plugin watcher. */
void fake_kubelet_disconnect(struct fake_kubelet *kubelet, const char *resource);

/*
 * A Pod is bound to this node. TEXT: words "CONTAINER:RESOURCE=N,RESOURCE=N"; in front of the container
 * "init:" or "sidecar:"; a word "numa=0,1" is what the topology manager decided. Admitted one after
 * the other.
 */
int fake_kubelet_add_pod(struct fake_kubelet *kubelet, const char *name, const char *text,
			 struct error *error);
enum fake_pod_state {
	FAKE_POD_NONE,    /* no such Pod, or it ended */
	FAKE_POD_WAITING, /* for admission */
	FAKE_POD_RUNNING,
	FAKE_POD_REJECTED, /* for good */
	FAKE_POD_LINGERS,  /* force-deleted: gone for the kubelet, and its containers still run */
};
enum fake_pod_state fake_kubelet_pod(const struct fake_kubelet *kubelet, const char *name);
const char *fake_kubelet_why(const struct fake_kubelet *kubelet, const char *name); /* rejected */
bool fake_kubelet_idle(const struct fake_kubelet *kubelet); /* nobody waits for admission */
void fake_kubelet_end_pod(struct fake_kubelet *kubelet, const char *name);
void fake_kubelet_force_delete(struct fake_kubelet *kubelet, const char *name);
/* The answer that a container got for RESOURCE; NULL: none. Borrowed until the next call. */
const struct kubelet_bytes *fake_kubelet_answer(const struct fake_kubelet *kubelet, const char *pod,
						const char *container, const char *resource);

/* What containers that run were given, those that linger too: the truth of the node. */
int fake_kubelet_holders(const struct fake_kubelet *kubelet, struct kubelet_holdings *ret);
/* As pod-resources' List: frees what dead Pods held. */
void fake_kubelet_collect(struct fake_kubelet *kubelet);

/* Of the node's status, as the API server has it (old by up to status_ms), or as it is NOW. */
struct fake_counts {
	size_t capacity, allocatable;
};
struct fake_counts fake_kubelet_counts(const struct fake_kubelet *kubelet, const char *resource,
				       bool now);
bool fake_kubelet_is_listed(const struct fake_kubelet *kubelet, const char *resource);
unsigned fake_kubelet_streams(const struct fake_kubelet *kubelet); /* open now */
