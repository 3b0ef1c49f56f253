/* SPDX-License-Identifier: Apache-2.0 */
/* The book and what others know: the kubelet's checkpoint, its List, the processes of Pods. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "node/device_id.h"
#include "node/ledger_private.h"

void reason_list_release(struct reason_list *list)
{
	free(list->items);
	*list = (struct reason_list){ 0 };
}

/* One device of one entry of the checkpoint. */
struct claim {
	const struct kubelet_checkpoint_entry *entry;
	const struct claim *next; /* of the same device */
};

struct merging {
	struct ledger *ledger;
	const struct ledger_evidence *evidence;
	struct reason_list *reasons;
	struct ledger_stamp stamp; /* of the checkpoint */
	struct map *claims;        /* device ID to the first struct claim */
	struct map *holders;       /* device ID to the newest entry, as it was at the beginning */
	struct claim *memory;
	bool changed;
};

static bool same_stamp(const struct ledger_stamp *a, const struct ledger_stamp *b)
{
	return a->checksum == b->checksum && a->written.tv_sec == b->written.tv_sec &&
	       a->written.tv_nsec == b->written.tv_nsec;
}

static struct ledger_stamp stamp_of(const struct kubelet_checkpoint *checkpoint)
{
	return (struct ledger_stamp){ checkpoint->written, checkpoint->checksum };
}

void ledger_stamp_entry(struct ledger_entry *entry, const struct ledger_evidence *evidence)
{
	if (!evidence->checkpoint)
		return;
	entry->asked = true;
	entry->before = stamp_of(evidence->checkpoint);
}

static enum pod_sign sign_of(const struct ledger_evidence *evidence,
			     const struct ledger_entry *entry)
{
	return evidence->pod && entry->pod_uid ? evidence->pod(entry->pod_uid, evidence->user)
					       : POD_UNKNOWN;
}

/* "GPU-...::m3 and 11 more" */
static void name_devices(const struct string_list *ids, char *ret, size_t size)
{
	if (ids->count > 1)
		reason_text(ret, size, "%s and %zu more", ids->items[0], ids->count - 1);
	else
		reason_text(ret, size, "%s", ids->items[0]);
}

static int tell(struct merging *merging, enum reason_code code, const char *pod,
		const struct string_list *ids, const char *other)
{
	struct reason_list *list = merging->reasons;
	struct reason *reason = list ? VEC_ADD(&list->items, &list->count, &list->capacity) : NULL;

	if (!list)
		return 0;
	if (!reason)
		return -ENOMEM;
	reason->code = code;
	reason->scope = REASON_SCOPE_NODE;
	reason->wanted = (int64_t)ids->count;
	reason_text(reason->object, sizeof(reason->object), "Pod %s", pod);
	name_devices(ids, reason->detail, sizeof(reason->detail));
	if (other)
		reason_text(reason->detail, sizeof(reason->detail), "Pod %s both hold %s", other,
			    ids->items[0]);
	return 0;
}

/* What other vendors' plugins have there is not ours. */
static bool is_ours(const char *id)
{
	struct device_id parts;

	return device_id_read(id, &parts);
}

static int index_claims(struct merging *merging)
{
	const struct kubelet_checkpoint *checkpoint = merging->evidence->checkpoint;
	size_t total = 1, used = 0;

	for (size_t i = 0; i < checkpoint->entry_count; i++)
		total += checkpoint->entries[i].ids.count;
	merging->memory = calloc(total, sizeof(*merging->memory));
	merging->claims = map_new();
	if (!merging->memory || !merging->claims)
		return -ENOMEM;
	for (size_t i = 0; i < checkpoint->entry_count; i++) {
		const struct kubelet_checkpoint_entry *entry = &checkpoint->entries[i];

		for (size_t k = 0; k < entry->ids.count; k++) {
			struct claim *claim = &merging->memory[used++];

			claim->entry = entry;
			claim->next = map_get(merging->claims, entry->ids.items[k]);
			if (is_ours(entry->ids.items[k]) &&
			    map_put(merging->claims, entry->ids.items[k], claim) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static const struct claim *claim_of(const struct merging *merging, const char *id)
{
	return map_get(merging->claims, id);
}

/*
 * Whether CLAIMED, which has ID, may be about ENTRY. While its Pod is unknown it may be any Pod's of
 * which no other entry has the device.
 */
static bool may_be_about(const struct ledger *ledger, const struct ledger_entry *entry,
			 const struct kubelet_checkpoint_entry *claimed, const char *id)
{
	if (entry->pod_uid)
		return strcmp(claimed->pod_uid, entry->pod_uid) == 0;
	for (const struct ledger_entry *other = ledger_find(ledger, id, NULL); other;
	     other = ledger_find(ledger, id, other))
		if (other->pod_uid && strcmp(other->pod_uid, claimed->pod_uid) == 0)
			return false;
	return true;
}

/* Whether the checkpoint has any of the entry's devices for its Pod; for any, while that is unknown. */
static bool is_claimed(const struct merging *merging, const struct ledger_entry *entry)
{
	for (size_t i = 0; i < entry->ids.count; i++)
		for (const struct claim *claim = claim_of(merging, entry->ids.items[i]); claim;
		     claim = claim->next)
			if (may_be_about(merging->ledger, entry, claim->entry, entry->ids.items[i]))
				return true;
	return false;
}

static bool same_devices(const struct kubelet_checkpoint_entry *claimed,
			 const struct ledger_entry *entry)
{
	if (strcmp(claimed->resource, entry->resource) != 0 ||
	    claimed->ids.count != entry->ids.count)
		return false;
	for (size_t i = 0; i < claimed->ids.count; i++)
		if (!ledger_entry_has(entry, claimed->ids.items[i]))
			return false;
	return true;
}

/* A checkpoint from before the grant may have the last holder there. */
static bool is_too_old(const struct merging *merging, const struct ledger_entry *entry)
{
	return !entry->pod_uid && entry->asked && same_stamp(&entry->before, &merging->stamp);
}

static int learn_pod(struct merging *merging, struct ledger_entry *entry)
{
	if (entry->pod_uid || entry->pending || is_too_old(merging, entry))
		return 0;
	for (const struct claim *claim = claim_of(merging, entry->ids.items[0]); claim;
	     claim = claim->next) {
		if (!same_devices(claim->entry, entry))
			continue;
		autofree char *pod = strdup(claim->entry->pod_uid);
		autofree char *container = strdup(claim->entry->container);

		if (!pod || !container)
			return -ENOMEM;
		entry->pod_uid = TAKE_PTR(pod);
		free(entry->container);
		entry->container = TAKE_PTR(container);
		merging->ledger->dirty = true;
		return 0;
	}
	return 0;
}

static bool stands_for(const struct merging *merging, const struct ledger_entry *entry,
		       const struct kubelet_checkpoint_entry *claimed)
{
	if (entry->pod_uid)
		return strcmp(entry->pod_uid, claimed->pod_uid) == 0;
	return entry->pending || is_too_old(merging, entry) || same_devices(claimed, entry);
}

/* Whether an entry of the ledger stands for what CLAIMED says of ID. */
static bool is_known(const struct merging *merging, const struct kubelet_checkpoint_entry *claimed,
		     const char *id)
{
	const struct ledger_entry *newest = map_get(merging->holders, id);

	if (newest && stands_for(merging, newest, claimed))
		return true;
	if (!newest && !merging->changed)
		return false;
	for (newest = ledger_find(merging->ledger, id, NULL); newest;
	     newest = ledger_find(merging->ledger, id, newest))
		if (stands_for(merging, newest, claimed))
			return true;
	return false;
}

static int adopt(struct merging *merging, const struct kubelet_checkpoint_entry *claimed)
{
	cleanup(string_list_release) struct string_list ids = { .items = NULL };

	for (size_t i = 0; i < claimed->ids.count; i++)
		if (is_ours(claimed->ids.items[i]) &&
		    !is_known(merging, claimed, claimed->ids.items[i]) &&
		    string_list_add(&ids, claimed->ids.items[i]) < 0)
			return -ENOMEM;
	if (ids.count == 0)
		return 0;
	autoentry *entry = ledger_entry_new(claimed->resource, &ids);

	if (!entry)
		return -ENOMEM;
	entry->pod_uid = strdup(claimed->pod_uid);
	entry->container = strdup(claimed->container);
	if (!entry->pod_uid || !entry->container ||
	    tell(merging, REASON_LEDGER_DIFFERS, claimed->pod_uid, &ids, NULL) < 0)
		return -ENOMEM;
	entry->adopted = true;
	entry->earlier = true;
	entry->granted = merging->evidence->now;
	entry->answered_ms = merging->evidence->now_ms;
	entry->serial = merging->ledger->next_serial;
	if (ledger_insert(merging->ledger, entry) < 0)
		return -ENOMEM;
	merging->ledger->next_serial++;
	merging->changed = true;
	TAKE_PTR(entry);
	return 0;
}

static int check_twice(struct merging *merging, struct ledger_entry *entry)
{
	bool was = entry->twice;

	entry->twice = false;
	if (!entry->pod_uid)
		return 0;
	for (size_t i = 0; i < entry->ids.count; i++)
		for (const struct claim *claim = claim_of(merging, entry->ids.items[i]); claim;
		     claim = claim->next) {
			if (strcmp(claim->entry->pod_uid, entry->pod_uid) == 0)
				continue;
			entry->twice = true;
			return was ? 0
				   : tell(merging, REASON_HELD_TWICE, entry->pod_uid, &entry->ids,
					  claim->entry->pod_uid);
		}
	return 0;
}

/* 1: free; 0: held; -ENOMEM. */
static int judge_known(struct merging *merging, struct ledger_entry *entry)
{
	enum pod_sign sign = sign_of(merging->evidence, entry);

	if (sign == POD_IDLE || (sign == POD_UNKNOWN && !entry->orphan))
		return 1;
	if (sign == POD_UNKNOWN || entry->lingering)
		return 0;
	entry->lingering = true;
	return tell(merging, REASON_LINGERING, entry->pod_uid, &entry->ids, NULL);
}

/* It was never in a checkpoint. The kubelet writes one when it has all that the container wants. */
static int judge_unknown(const struct merging *merging, struct ledger_entry *entry)
{
	if (merging->evidence->now_ms - entry->answered_ms < LEDGER_SETTLE_MS)
		return 0;
	if (entry->absent && !same_stamp(&entry->absent_in, &merging->stamp))
		return 1;
	entry->absent = true;
	entry->absent_in = merging->stamp;
	return 0;
}

static int free_entries(struct merging *merging)
{
	struct ledger *ledger = merging->ledger;

	for (size_t i = ledger->count; i > 0; i--) {
		struct ledger_entry *entry = ledger->entries[i - 1];
		int r = 0;

		if (entry->pending)
			continue;
		if (is_claimed(merging, entry)) {
			ledger->dirty = ledger->dirty || entry->orphan;
			entry->lingering = entry->absent = entry->orphan = false;
			r = check_twice(merging, entry);
		} else {
			r = entry->pod_uid ? judge_known(merging, entry)
					   : judge_unknown(merging, entry);
		}
		if (r < 0)
			return r;
		if (r > 0) {
			ledger_forget(ledger, entry);
			merging->changed = true;
		}
	}
	return 0;
}

static int merge(struct merging *merging)
{
	const struct kubelet_checkpoint *checkpoint = merging->evidence->checkpoint;
	struct ledger *ledger = merging->ledger;
	int r = index_claims(merging);

	if (r == 0)
		r = ledger_index(ledger, &merging->holders);
	for (size_t i = 0; r == 0 && i < ledger->count; i++)
		r = learn_pod(merging, ledger->entries[i]);
	for (size_t i = 0; r == 0 && i < checkpoint->entry_count; i++)
		r = adopt(merging, &checkpoint->entries[i]);
	return r < 0 ? r : free_entries(merging);
}

static void note_signs(struct ledger *ledger, const struct ledger_evidence *evidence)
{
	for (size_t i = 0; i < ledger->count; i++) {
		struct ledger_entry *entry = ledger->entries[i];

		if (sign_of(evidence, entry) == POD_RUNS)
			entry->ran = true;
		if (evidence->checkpoint_lost && !entry->pending && !entry->orphan) {
			entry->orphan = true;
			ledger->dirty = true;
		}
	}
}

int ledger_merge(struct ledger *ledger, const struct ledger_evidence *evidence,
		 struct reason_list *ret_reasons, struct error *error)
{
	struct merging merging = { .ledger = ledger, .evidence = evidence, .reasons = ret_reasons };
	int r = 0;

	if (evidence->checkpoint) {
		merging.stamp = stamp_of(evidence->checkpoint);
		r = merge(&merging);
	}
	note_signs(ledger, evidence);
	map_free(merging.claims);
	map_free(merging.holders);
	free(merging.memory);
	return r < 0 ? error_no_memory(error) : merging.changed;
}

static bool checkpoint_has(const struct ledger *ledger, const struct kubelet_checkpoint *checkpoint,
			   const struct ledger_entry *entry)
{
	for (size_t i = 0; i < checkpoint->entry_count; i++) {
		const struct kubelet_checkpoint_entry *claimed = &checkpoint->entries[i];

		for (size_t k = 0; k < claimed->ids.count; k++)
			if (ledger_entry_has(entry, claimed->ids.items[k]) &&
			    may_be_about(ledger, entry, claimed, claimed->ids.items[k]))
				return true;
	}
	return false;
}

static bool is_listed(const struct kubelet_holdings *listed, const char *id)
{
	for (size_t i = 0; i < listed->count; i++)
		for (size_t k = 0; k < listed->items[i].ids.count; k++)
			if (strcmp(listed->items[i].ids.items[k], id) == 0)
				return true;
	return false;
}

/* Any of ENTRY's devices, of IDS only when they are given. */
static bool entry_is_listed(const struct kubelet_holdings *listed, const struct ledger_entry *entry,
			    const struct string_list *ids)
{
	const struct string_list *of = ids ? ids : &entry->ids;

	for (size_t i = 0; i < of->count; i++)
		if (ledger_entry_has(entry, of->items[i]) && is_listed(listed, of->items[i]))
			return true;
	return false;
}

/* Some container of the entry's Pod: List has no UIDs, the checkpoint knows the Pod's devices. */
static bool pod_is_listed(const struct ledger_evidence *evidence, const struct ledger_entry *entry)
{
	const struct kubelet_checkpoint *checkpoint = evidence->checkpoint;

	for (size_t i = 0; i < checkpoint->entry_count; i++) {
		const struct kubelet_checkpoint_entry *claimed = &checkpoint->entries[i];

		for (size_t k = 0;
		     strcmp(claimed->pod_uid, entry->pod_uid) == 0 && k < claimed->ids.count; k++)
			if (is_listed(evidence->listed, claimed->ids.items[k]))
				return true;
	}
	return false;
}

/* Nobody else was granted anything since, and it is not long ago: admission is one Pod after another. */
static bool is_being_admitted(const struct ledger *ledger, const struct ledger_entry *entry,
			      uint64_t now_ms)
{
	const struct ledger_entry *last = entry;

	for (size_t i = ledger->count; i > 0 && ledger->entries[i - 1] != entry; i--) {
		const struct ledger_entry *later = ledger->entries[i - 1];

		if (later->adopted)
			continue;
		if (!later->pod_uid || strcmp(later->pod_uid, entry->pod_uid) != 0)
			return false;
		last = last == entry ? later : last;
	}
	return now_ms - last->answered_ms < LEDGER_START_MS;
}

/*
 * The checkpoint has it, and nobody saw it run: it is about to, or it ended soon. List has the Pods that
 * are active, without ordinary init containers.
 */
static enum holder_sign ask_list(const struct ledger *ledger, const struct ledger_entry *entry,
				 const struct string_list *ids,
				 const struct ledger_evidence *evidence)
{
	bool admitted = !entry->earlier && is_being_admitted(ledger, entry, evidence->now_ms);

	if (!admitted && sign_of(evidence, entry) != POD_IDLE)
		return HOLDER_HAS;
	if (!evidence->listed)
		return HOLDER_ASK;
	if (admitted)
		return entry_is_listed(evidence->listed, entry, ids) ? HOLDER_HAS : HOLDER_SAME;
	return pod_is_listed(evidence, entry) ? HOLDER_HAS : HOLDER_GONE;
}

enum holder_sign ledger_ask(const struct ledger *ledger, const struct ledger_entry *entry,
			    const struct string_list *ids, const struct ledger_evidence *evidence)
{
	bool settled = entry->earlier || evidence->now_ms - entry->answered_ms >= LEDGER_SETTLE_MS;
	enum pod_sign sign = sign_of(evidence, entry);

	if (entry->pending || !evidence->checkpoint || sign == POD_RUNS)
		return HOLDER_HAS;
	if (!checkpoint_has(ledger, evidence->checkpoint, entry)) {
		if (!settled || (sign == POD_UNKNOWN && entry->orphan))
			return HOLDER_HAS;
		return HOLDER_GONE;
	}
	if (!entry->pod_uid)
		return HOLDER_HAS;
	if (sign == POD_IDLE && entry->ran)
		return HOLDER_GONE;
	return ask_list(ledger, entry, ids, evidence);
}
