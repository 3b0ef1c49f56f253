/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the node offers, chooses and answers: the deciding half of the daemon. Pure: inventory,
 * configuration, ledger, evidence and times are handed in; nothing here reads, writes, waits or logs.
 *
 * Device IDs: "<uuid>" of a whole card or MIG device, "<uuid>::<n>" of a replica of either,
 * "<card uuid>::m<k>" of a unit, 1 GiB of a card. Unique over all resources.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "inject/inject.h"
#include "kubelet/kubelet.h"
#include "model/model.h"
#include "node/ledger.h"

#define PLUGIN_RESOURCE_GPU   "nvidia.com/gpu"
#define PLUGIN_RESOURCE_MIG   "nvidia.com/mig-" /* and the profile, '+' as '.' */
#define PLUGIN_RESOURCE_UNITS "gpupool.io/gpu-memory"

/* CDI: kinds of the specs that the daemon writes, devices by UUID (of slices: the card's). */
#define PLUGIN_CDI_VENDOR       "k8s.device-plugin.nvidia.com" /* gpu, gds, mofed, ... */
#define PLUGIN_CDI_SLICE_VENDOR "gpupool.io"
#define PLUGIN_CDI_SLICE_CLASS  "slice"

#define PLUGIN_NONE UINT32_MAX

enum plugin_kind { PLUGIN_WHOLE, PLUGIN_MIG, PLUGIN_REPLICA, PLUGIN_UNIT };

/* Why a device is not healthy, or would not be granted. */
enum plugin_cause {
	PLUGIN_FINE,
	PLUGIN_SICK,       /* its card is suspect or lost */
	PLUGIN_VANISHED,   /* its card or MIG device is no more, and it is held */
	PLUGIN_OTHER_MODE, /* its card is held in another mode, until that holder ends */
	PLUGIN_FOREIGN,    /* a free unit of a card that a process without a grant uses */
	PLUGIN_LEAVES,     /* not offered any more; gone from the next list */
};

struct plugin_card {
	char uuid[CARD_UUID_MAX];
	uint32_t position;   /* in the inventory; PLUGIN_NONE: only held, not there */
	enum card_mode mode; /* by the configuration; replicas: or whole, as sharing says */
	bool excluded;       /* by the configuration */
	bool kept;           /* sick: what was listed of it stays as it was, whatever it says now */
	bool by_peer;        /* no row of ours names it: as NVIDIA's plugin would list it */
	bool foreign;        /* a process without a grant uses it */
	enum card_health health;
	int numa;                  /* -1: unknown */
	char cause[CARD_TEXT_MAX]; /* of health or foreign, "" */
};

struct plugin_device {
	char *id;          /* owned */
	uint32_t card;     /* in the view's cards */
	uint32_t instance; /* of the card's MIG devices; PLUGIN_NONE: the card, or vanished */
	uint32_t number;   /* of a replica or unit */
	enum plugin_kind kind;
	enum plugin_cause cause;
	bool healthy; /* as the kubelet is told */
	bool offered; /* may be granted: the configuration wants it here, and it is healthy */
	bool held;
};

struct plugin_resource {
	char *name;                    /* owned */
	enum plugin_kind kind;         /* of the last that is wanted there, or by its name */
	struct plugin_device *devices; /* owned; by card, instance, number */
	size_t count, capacity;        /* 0: an empty list is sent, the stream stays open */
};

struct plugin_view {
	struct plugin_card *cards; /* owned; those of the inventory first, in its order */
	size_t card_count, card_capacity;
	struct plugin_resource *resources; /* owned; by name */
	size_t count, capacity;
	struct string_list notes; /* sentences: what is not offered, and why */
	size_t leaving; /* devices that are only still listed because they were; see settled */
};

struct plugin_view_inputs {
	const struct inventory *inventory;
	const struct plugin_config *config;
	const struct ledger *ledger;
	const struct plugin_view *previous; /* what is listed now; NULL at start */
	const struct string_list *known; /* resources of ours that the kubelet knows; may be NULL */
	bool cdi;     /* the runtime injects CDI devices: without it there are no units */
	bool foreign; /* card_process.granted is true where it should be: foreign use counts */
	/* The lists of PREVIOUS were sent at least a second ago and no Allocate is open: what was
	 * unhealthy there because it leaves may go. */
	bool settled;
};

/*
 * What is listed from now on. No ID that somebody holds leaves a list, nor one that PREVIOUS had
 * healthy: it is unhealthy first. A resource of PREVIOUS stays, in the end empty. 0 or -ENOMEM.
 */
int plugin_view_build(const struct plugin_view_inputs *inputs, struct plugin_view *ret,
		      struct error *error);
void plugin_view_release(struct plugin_view *view);
const struct plugin_resource *plugin_view_find(const struct plugin_view *view,
					       const char *resource);
/* For device_plugin_update(): COUNT entries that borrow from VIEW. Units carry no NUMA node. Free it. */
int plugin_resource_list(const struct plugin_view *view, const struct plugin_resource *resource,
			 struct kubelet_device **ret, struct error *error);
/* "card 3 (GPU-...) is suspect: ..." ; "" for a device that is fine. */
void plugin_device_explain(const struct plugin_view *view, const struct plugin_device *device,
			   char *ret, size_t size);

/* For one call. All borrowed. */
struct plugin_scene {
	const char *node;                  /* its name, for sentences; NULL: "this node" */
	const struct inventory *inventory; /* of which VIEW was made */
	const struct plugin_config *config;
	const struct plugin_view *view;
	struct ledger *ledger; /* after ledger_merge() with the evidence */
	const struct ledger_evidence *evidence;
	/* NULL: none; strategy kubelet and pass-device-specs need them. */
	const struct driver_files *files;
	unsigned lists; /* bits of enum device_list, without DEVICE_LIST_AUTO */
};

/*
 * GetPreferredAllocation: SIZE of AVAILABLE with all of MUST, or an error; never fewer.
 *   whole cards: the set with the best links (place/); sick ones are left out
 *   replicas, MIG: fewest used cards first, or the fullest by sharedDevicesAllocationPolicy
 *   units: of one card, the one with the least room that fits; S has MUST in it
 * -EAGAIN: nothing fits now, *ret_reason (may be NULL) says what is free; -EINVAL: it is no question.
 */
int plugin_preferred(const struct plugin_scene *scene, const char *resource,
		     const struct string_list *available, const struct string_list *must,
		     unsigned size, struct string_list *ret, struct reason *ret_reason,
		     struct error *error);

/*
 * Allocate. 0: *ret_entry is in the ledger, pending, and *ret_answer is what the kubelet gets once the
 * ledger is on the disk: then ledger_answered(), or ledger_forget() when that failed.
 * -EAGAIN, without a reason: ask pod-resources' List and call again with evidence->listed. Rare, and the
 * one case in which List may be asked while an Allocate is open: ledger_ask() says why.
 * Else refused, *ret_reason (may be NULL) and the error say why.
 */
int plugin_allocate(const struct plugin_scene *scene, const char *resource,
		    const struct string_list *ids, struct ledger_entry **ret_entry,
		    struct kubelet_answer *ret_answer, struct reason *ret_reason,
		    struct error *error);
