/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to the cards, as it happens: from the driver through a child (gpupool-nvml --events),
 * and from the kernel's log. Nothing here blocks; a descriptor becomes readable, and events are taken
 * one by one. An event is a hint, not a state: what was lost with a child, a full probe finds.
 *
 * The loop of a daemon:
 *
 *	device_events_start(); watch device_events_fd() for reading
 *	readable: while (device_events_next(events, &event) == 1) ...
 *	DEVICE_EVENT_END, or a deadline without DEVICE_EVENT_READY: stop, start again later, probe in full
 *
 * While a child runs, the driver's module is in use: it cannot be unloaded before device_events_stop().
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "model/model.h"

enum device_event_kind {
	DEVICE_EVENT_READY, /* COUNT cards are watched from now on */
	DEVICE_EVENT_XID,   /* DATA is its number */
	DEVICE_EVENT_ECC,   /* an uncorrected memory error */
	DEVICE_EVENT_MIG,   /* the card's MIG layout has changed */
	DEVICE_EVENT_LOST,  /* the card fell off the bus; not watched again before a new start */
	DEVICE_EVENT_UNWATCHED, /* the card gives no events (TEXT); the same */
	DEVICE_EVENT_MISSED, /* COUNT events are lost, since they were taken too slowly: probe in full */
	DEVICE_EVENT_END, /* no more will come: TEXT says why */
	DEVICE_EVENT_KIND_MAX,
};

#define DEVICE_INSTANCE_NONE UINT32_MAX

struct device_event {
	enum device_event_kind kind;
	unsigned index; /* NVML's, or CARD_INDEX_NONE */
	char uuid
		[CARD_UUID_MAX]; /* of the physical card; "" unknown: bus_id says more, or nothing */
	char bus_id[CARD_BUS_ID_MAX]; /* sysfs form "0000:07:00.0"; "" unknown */
	/* Of the MIG instance that the event is of, or DEVICE_INSTANCE_NONE: of the whole card. */
	unsigned gpu_instance, compute_instance;
	uint64_t data;
	unsigned count;
	int64_t time_ms;          /* since 1970, of the event as the sender saw it */
	char text[CARD_TEXT_MAX]; /* for people; "" none. Printable, UTF-8 */
};

struct device_events_options {
	const char *driver_root; /* as in struct device_options */
	const char *helper;      /* the same */
	uint64_t skip;           /* bit N: NVML's card N is not touched; for cards that hang */
};

struct device_events;

/*
 * Starts the child; what it finds comes as events. -ENOENT no driver; -EPERM its library can be changed
 * by others. No answer in the caller's own deadline means that the driver hangs, or the card that was
 * to be registered next.
 */
int device_events_start(const struct device_events_options *options, struct device_events **ret,
			struct error *error);
/* To poll for reading; valid until device_events_stop(). */
int device_events_fd(const struct device_events *events);
/* 1: *ret is the next event; 0: none now. After DEVICE_EVENT_END only 0. */
int device_events_next(struct device_events *events, struct device_event *ret);
/*
 * Kills the child without waiting for its end, and frees EVENTS (NULL: nothing). Returns 0 when the child
 * is gone and reaped, else its PID, for device_child_reap(): one that is caught in the driver stays until
 * the driver lets it go.
 */
pid_t device_events_stop(struct device_events *events);
/* True when the child is gone and reaped, or no child of this process. Never waits. */
bool device_child_reap(pid_t pid);

struct device_kmsg;

/*
 * The kernel's log from now on: PATH, or NULL for dev/kmsg of DRIVER_ROOT when it has one, else /dev/kmsg.
 * It tells XIDs even when the driver's library does not answer. -ENOENT, -EPERM where the log cannot be
 * read (a container has no such node, kernel.dmesg_restrict wants CAP_SYSLOG): then there is no second
 * source.
 */
int device_kmsg_open(const char *driver_root, const char *path, struct device_kmsg **ret,
		     struct error *error);
int device_kmsg_fd(const struct device_kmsg *kmsg);
/* As device_events_next(): DEVICE_EVENT_XID (UUID and index unknown), _MISSED, _END. */
int device_kmsg_next(struct device_kmsg *kmsg, struct device_event *ret);
void device_kmsg_close(struct device_kmsg *kmsg);

/*
 * One record of /dev/kmsg ("6,1234,98765432,-;NVRM: Xid (PCI:0000:07:00): 79, ...") into an event of kind
 * DEVICE_EVENT_XID. 0, or -ENOMSG for every other text, and for what a program wrote into the log.
 * time_ms: since the boot. Source of the forms: Documentation/ABI/testing/dev-kmsg of the kernel;
 * NVIDIA/open-gpu-kernel-modules, src/nvidia/src/kernel/gpu/rc/kernel_rc.c; NVIDIA's XID catalogue.
 */
int kmsg_parse(const char *record, struct device_event *ret);
