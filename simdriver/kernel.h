/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated kernel module without its socket: who holds what of which card, and which faults
 * there are. One thread. A client is freed, and its memory with it, only by kernel_client_end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile.h"
#include "protocol.h"

#define KERNEL_ALLOCATIONS_MAX (1u << 17) /* of one client */

struct kernel_card {
	uint64_t used_bytes;
	uint32_t contexts;
	bool lost, hung, full;
	uint64_t set; /* bit 1 << enum sim_value: a test said what it is */
	uint64_t values[SIM_VALUE_COUNT];
	struct sim_mig_layout mig;
};

struct kernel_allocation {
	uint64_t bytes; /* 0: free slot */
	uint32_t position;
	uint32_t kind;
	uint32_t instance; /* SIM_INSTANCE() */
};

struct kernel_client {
	struct kernel_client *next, *previous;
	void *owner; /* of the owner of the kernel */
	pid_t pid;
	bool greeted;        /* said hello and was let in */
	bool control;        /* came by the control socket */
	bool ended;          /* its process has closed; memory is held until free_at */
	int64_t free_at;     /* milliseconds of the monotonic clock */
	uint64_t subscribed; /* bits 1 << minor */
	uint32_t touched;    /* bits 1 << position: cards that it has open */
	struct kernel_allocation *allocations;
	uint32_t allocation_count; /* slots, in use or not */
	uint32_t free_slot;        /* where a free one may be */
	uint64_t card_bytes[SIM_CARDS_MAX];
	uint32_t card_contexts[SIM_CARDS_MAX];
	uint32_t card_allocations[SIM_CARDS_MAX];
	uint32_t card_instance[SIM_CARDS_MAX]; /* SIM_INSTANCE() of what it holds there */
};

struct kernel {
	const struct profile *profile;
	struct kernel_card cards[SIM_CARDS_MAX]; /* by position in the profile */
	struct sim_card_info info[SIM_CARDS_MAX];
	struct sim_driver driver;
	bool missing, hung;
	uint64_t hang_ms;   /* what hangs does so for as long, from the next look at the clock on */
	int64_t hang_until; /* 0: until recover */
	bool hang_over;     /* set then: what was held may go on. Cleared by the owner */
	uint32_t delay_ms;
	bool stopping;
	struct kernel_client *clients;
	/* Set by the owner: brings an event to a client that subscribed. */
	void (*notify)(struct kernel_client *client, const struct sim_event *event);
	/* Set by the owner: shows in procfs what MIG instances the card has. */
	void (*show)(struct kernel *kernel, uint32_t position);
	/* Set by the owner: writes one line into the kernel's log. */
	void (*log)(struct kernel *kernel, const char *line);
	void *owner;
};

enum kernel_verdict {
	KERNEL_REPLY,
	KERNEL_HOLD, /* the driver hangs: ask again with the same request after a fault changed */
};

void kernel_init(struct kernel *kernel, const struct profile *profile);

/* NULL when memory is short. */
struct kernel_client *kernel_client_begin(struct kernel *kernel, pid_t pid, bool control);

/* The last copy of the connection has been closed. Frees at once, or after the delay set. */
void kernel_client_end(struct kernel *kernel, struct kernel_client *client, int64_t now_ms);

/* Frees the clients whose delay is over, ends what hangs for a time; the next time to call it, or -1. */
int64_t kernel_expire(struct kernel *kernel, int64_t now_ms);

/* Frees everything. */
void kernel_release(struct kernel *kernel);

/* What the operations of MIG do (kernel_mig.c), and what of faults is theirs. */
enum sim_status kernel_mig(struct kernel *kernel, struct kernel_client *client, uint32_t position,
			   const struct sim_request *request, struct sim_reply *reply);
/* Lowers *ret_free to what is free where INSTANCE takes its memory from. False: nobody may take there. */
bool kernel_instance_room(const struct kernel *kernel, uint32_t position, uint32_t instance,
			  uint64_t *ret_free);
void kernel_instance_use(struct kernel *kernel, uint32_t position, uint32_t instance,
			 int64_t bytes);
/* The module was unloaded: no instance outlives it, and of the mode only that of cards before Hopper. */
void kernel_mig_unload(struct kernel *kernel);
void kernel_report(struct kernel *kernel, uint32_t position, enum sim_event_kind kind,
		   uint64_t value, uint32_t instance);

/* Any bytes may be in the request. *reply is complete for KERNEL_REPLY. */
enum kernel_verdict kernel_handle(struct kernel *kernel, struct kernel_client *client,
				  const struct sim_request *request, struct sim_reply *reply);
