/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One resource of the node: its socket in the kubelet's folder, its DevicePlugin service, its
 * registration. Everything runs in the loop's thread; nothing blocks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "kubelet/checkpoint.h"
#include "kubelet/message.h"

#define KUBELET_SOCKET_NAME "kubelet.sock"

struct loop;
struct device_plugin;
struct device_plugin_call; /* an Allocate that was not answered yet */

enum device_plugin_event {
	DEVICE_PLUGIN_ABSENT,     /* no kubelet.sock: the kubelet is not there (yet) */
	DEVICE_PLUGIN_REGISTERED, /* the kubelet took the registration */
	DEVICE_PLUGIN_LISTED,     /* its stream is open and the list was sent */
	DEVICE_PLUGIN_ENDED,      /* its stream ended */
	DEVICE_PLUGIN_REFUSED,    /* it refused, or could not be reached; tried again by itself */
	DEVICE_PLUGIN_RIVAL,      /* somebody else serves the same resource */
	DEVICE_PLUGIN_EVENT_MAX,
	DEVICE_PLUGIN_EVENT_INVALID = -22
};
const char *device_plugin_event_to_string(enum device_plugin_event event);
enum device_plugin_event device_plugin_event_from_string(const char *text);

struct device_plugin_callbacks {
	/*
	 * Which SIZE of AVAILABLE, with all of MUST. 0 and *ret filled, or a negative errno: the error's text is what the
	 * Pod's event says. Lists are borrowed for the call.
	 */
	int (*preferred)(const struct string_list *available, const struct string_list *must,
			 unsigned size, struct string_list *ret, struct error *error, void *user);
	/* CALL is the callee's: exactly one device_plugin_answer() or _refuse(), at once or later. */
	void (*allocate)(struct device_plugin_call *call, const struct string_list *ids,
			 void *user);
	/* TEXT: one sentence, never NULL. It may come inside device_plugin_update(). */
	void (*event)(enum device_plugin_event event, const char *text, void *user);
};

struct device_plugin_options {
	const char *resource;     /* "nvidia.com/gpu" */
	const char *directory;    /* the kubelet's */
	const char *prefix;       /* of the socket's name; NULL: "gpupool" */
	bool preferred_available; /* whether the kubelet asks GetPreferredAllocation */
};

/*
 * Serves the resource from now on; registers once device_plugin_update() was called. OPTIONS is
 * copied. The folder may be missing: it is waited for.
 */
int device_plugin_start(struct loop *loop, const struct device_plugin_options *options,
			const struct device_plugin_callbacks *callbacks, void *user,
			struct device_plugin **ret, struct error *error);
/*
 * The full list, copied; what is left out is gone. Sent at once when the last one is 50 ms old, else
 * then; a list equal to the last one is not sent. Kept, and sent first on each new stream.
 */
int device_plugin_update(struct device_plugin *plugin, const struct kubelet_device *devices,
			 size_t count, struct error *error);
/* Sends the list that is kept once more: the kubelet rewrites its checkpoint on each. */
void device_plugin_resend(struct device_plugin *plugin);
/*
 * What the kubelet wrote down for this resource against what was listed: IDs that were never listed
 * here come from a rival, and DEVICE_PLUGIN_RIVAL says so, once until it changes. Call it after the
 * checkpoint was read. Returns whether there is one.
 */
bool device_plugin_check_rival(struct device_plugin *plugin,
			       const struct kubelet_checkpoint *checkpoint);
bool device_plugin_is_listed(const struct device_plugin *plugin);

struct device_plugin_counts { /* since the start; for metrics */
	uint64_t registrations, refusals, streams, lists, allocations, preferences;
};
struct device_plugin_counts device_plugin_counts(const struct device_plugin *plugin);

/* Ends the streams, closes and removes the socket. Calls not answered yet must still be. */
void device_plugin_stop(struct device_plugin *plugin);

/* -ECANCELED: the kubelet has gone meanwhile and holds nothing of this call. CALL is used up. */
int device_plugin_answer(struct device_plugin_call *call, const struct kubelet_answer *answer,
			 struct error *error);
/* TEXT is what the Pod's event says, behind the kubelet's own words. CALL is used up. */
void device_plugin_refuse(struct device_plugin_call *call, const char *text);
