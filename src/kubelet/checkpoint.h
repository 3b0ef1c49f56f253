/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubelet's own record of who holds which devices, <directory>/kubelet_internal_checkpoint. It
 * is rewritten on every list and every allocation; an entry of a Pod that ended stays in it until
 * then, and it never has fewer than the living.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#include "base/base.h"
#include "kubelet/message.h"

#define KUBELET_CHECKPOINT_NAME "kubelet_internal_checkpoint"
#define KUBELET_CHECKPOINT_MAX  ((size_t)64 << 20)

struct kubelet_checkpoint_entry {
	char *pod_uid, *container, *resource;
	struct string_list ids;
	struct kubelet_bytes answer; /* kubelet_unpack_answer() reads it */
};

struct kubelet_checkpoint_devices {
	char *resource;
	struct string_list ids; /* all that were healthy at the last list */
};

struct kubelet_checkpoint {
	struct kubelet_checkpoint_entry *entries;
	size_t entry_count, entry_capacity;
	struct kubelet_checkpoint_devices *registered;
	size_t registered_count, registered_capacity;
	uint64_t checksum;       /* as written: Go's own, over a printed form; not checked here */
	struct timespec written; /* when the file was last changed */
};
void kubelet_checkpoint_release(struct kubelet_checkpoint *checkpoint);

/*
 * -ENOENT: there is none (a new node, or somebody removed it). -EBADMSG: it is none, or cut off; the
 * kubelet would go on as if nothing was held, so what was read before must stay. Takes the form with
 * DeviceIDs by NUMA node (1.20 on) and the one before, with DeviceIDs as one list. NAME and
 * text: the same from memory.
 */
int kubelet_checkpoint_read(const char *path, struct kubelet_checkpoint *ret, struct error *error);
int kubelet_checkpoint_parse(const char *text, size_t length, const char *name,
			     struct kubelet_checkpoint *ret, struct error *error);
/* The entries as the kubelet of 1.36 writes them; for tests and for a fake. Caller frees *ret. */
int kubelet_checkpoint_text(const struct kubelet_checkpoint *checkpoint, char **ret,
			    struct error *error);
