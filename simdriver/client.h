/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client end of the simulated kernel module, linked into its libraries. Nothing here prints,
 * allocates, or keeps a static. Functions return an enum sim_status.
 *
 * A card is named by its minor. It is the caller's when <root>/dev/nvidia<minor> may be opened:
 * ENXIO (no such driver in this kernel) counts as opened, EPERM, EACCES and ENOENT as not mine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol.h"

#define CLIENT_ROOT_MAX  512
#define CLIENT_EARLY_MAX 16

struct client {
	int socket;                 /* -1: closed; O_CLOEXEC */
	pid_t owner;                /* the process that opened it: a forked child must not use it */
	char root[CLIENT_ROOT_MAX]; /* driver root without a last slash; "" is "/" */
	struct sim_driver driver;
	/* Events that came while a reply was waited for: the first of them, to be told next. */
	struct sim_event early[CLIENT_EARLY_MAX];
	unsigned early_count;
};

#define CLIENT_INIT          \
	{                    \
		.socket = -1 \
	}

/*
 * The driver root that the code at `address` was loaded from: what stands before /usr/lib in its
 * file's real path, if that holds dev/nvidiactl; else "" for "/".
 */
void client_find_root(const void *address, char root[CLIENT_ROOT_MAX]);

/*
 * Opens <root>/dev/nvidiactl and connects. library_version is compared with the module's.
 * SIM_NO_DRIVER, SIM_NO_PERMISSION, SIM_MISMATCH; blocks while the driver hangs. A client that is
 * open already stays as it is.
 */
enum sim_status client_open(struct client *client, const void *address,
			    const char *library_version);

/* Also right in a forked child (closes the copy only) and for a closed client. The module frees
 * what the client had when the last copy of the descriptor is closed. */
void client_close(struct client *client);

/* SIM_OK, SIM_NO_PERMISSION or SIM_NO_CARD: asks the device node, not the module. */
enum sim_status client_card_access(const struct client *client, uint32_t minor);

/*
 * The caller's cards in NVML's order (PCI address). Returns how many. Asks each device node, so
 * that the answer follows from cgroup and /dev.
 */
size_t client_cards(const struct client *client, uint32_t minors[SIM_CARDS_MAX]);

/* The same of <root>/dev/nvidia-caps/nvidia-cap<number>: reading is enough. */
enum sim_status client_capability(const struct client *client, uint32_t number);
/* May the caller use that MIG device? Both of its capabilities. */
bool client_may_use(const struct client *client, uint32_t card, uint32_t gpu, uint32_t compute);

enum sim_status client_card_info(struct client *client, uint32_t minor, struct sim_card_info *ret);
enum sim_status client_card_state(struct client *client, uint32_t minor,
				  struct sim_card_state *ret);

/* The same, with free_bytes of that instance; 0: of the card. */
enum sim_status client_instance_state(struct client *client, uint32_t minor, uint32_t instance,
				      struct sim_card_state *ret);

/*
 * Memory of a card, owned by the connection. A context is an allocation of kind SIM_KIND_CONTEXT
 * of info.context_bytes; a process with one is a compute process for NVML. INSTANCE: SIM_INSTANCE() of
 * the MIG device, or 0.
 */
enum sim_status client_alloc(struct client *client, uint32_t minor, uint32_t instance,
			     enum sim_kind kind, uint64_t bytes, uint64_t *ret_handle);
enum sim_status client_free(struct client *client, uint64_t handle);

enum sim_status client_mig_layout(struct client *client, uint32_t minor,
				  struct sim_mig_layout *ret);
/* One of the operations of MIG that change something; what it means is said in protocol.h. */
enum sim_status client_mig_change(struct client *client, enum sim_operation operation,
				  uint32_t minor, uint32_t instance, uint32_t kind, uint64_t value,
				  uint32_t *ret);

/* Writes at most `capacity` processes; *ret_total is how many there are. */
enum sim_status client_processes(struct client *client, uint32_t minor, struct sim_process *ret,
				 size_t capacity, size_t *ret_total);

/*
 * Events of the cards in the mask of minors arrive on this connection from now on: use a client of
 * its own. client_event waits at most timeout_ms (SIM_TIMEOUT); SIM_NO_DRIVER when it has gone.
 */
enum sim_status client_subscribe(struct client *client, uint64_t minors);
enum sim_status client_event(struct client *client, unsigned timeout_ms, struct sim_event *ret);

/* For the tool: the control socket of the tree at root, 0600. */
enum sim_status client_open_control(struct client *client, const char *root);
enum sim_status client_request(struct client *client, const struct sim_request *request,
			       struct sim_reply *reply);
