/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own book of what the kubelet was answered: on disk before Allocate is answered, so that a crash
 * or a lost checkpoint of the kubelet never gives a card twice. What the ledger or the checkpoint
 * holds is held. No clock, no socket: times and evidence are handed in; the one file is written by
 * ledger_write(), which a thread may call.
 *
 * The file is written whole, beside itself and renamed: it is small (some 100 KiB with every unit of
 * 16 cards held), a rename leaves no half-written state to repair when the disk is full, and nothing
 * has to be compacted. A record a line, each with its checksum: what is torn or damaged is left out
 * and said, the rest counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/base.h"
#include "kubelet/kubelet.h"
#include "model/model.h"

#define NAME_LEDGER          "ledger"   /* below the state directory */
#define LEDGER_FILE_MAX      (8u << 20) /* bytes */
#define LEDGER_ENTRY_IDS_MAX 4096u      /* of one grant */
#define LEDGER_ENTRIES_MAX   16384u
#define LEDGER_SETTLE_MS     1000u  /* so long the kubelet may take to write an answer down */
#define LEDGER_START_MS      60000u /* so long a Pod may take from its grant to its sandbox */

/* Which checkpoint it was. Both, since clocks jump and a file may be written twice in one tick. */
struct ledger_stamp {
	struct timespec written;
	uint64_t checksum;
};

struct ledger_entry {              /* what one Allocate gave to one container */
	uint64_t serial;           /* rising, never 0, never given twice */
	char *resource;            /* owned, as all below */
	struct string_list ids;    /* device IDs */
	char *pod_uid, *container; /* NULL until the checkpoint told */
	int64_t granted;           /* Unix seconds, for people; no rule looks at it */
	bool adopted;              /* from the checkpoint: we never answered it */
	bool orphan;               /* the checkpoint was lost while it was held */
	/* Not in the file. */
	bool pending;   /* on its way to the disk: its Allocate is not answered */
	bool earlier;   /* read from the file: its Allocate was another process's */
	bool ran;       /* processes of its Pod were seen */
	bool lingering; /* the kubelet has freed it and processes still run */
	bool twice;     /* the checkpoint gives one of its devices to another Pod as well */
	bool asked;     /* BEFORE is the checkpoint that was there when it was granted */
	bool absent;    /* not in the checkpoint ABSENT_IN, which may be older than its answer */
	struct ledger_stamp before, absent_in;
	uint64_t answered_ms; /* the caller's clock; of an earlier one: when it was read */
};

struct ledger {
	struct ledger_entry **entries; /* owned, and each; by serial. Addresses stay. */
	size_t count, capacity;
	uint64_t next_serial;
	bool dirty; /* memory differs from what was written last */
};

/* What is on the disk cannot be trusted to be all: sentences for the log. */
struct ledger_damage {
	unsigned records; /* that are left out */
	bool torn;        /* only the end: what was never answered */
	char text[ERROR_MESSAGE_MAX];
};

void ledger_init(struct ledger *ledger);
void ledger_release(struct ledger *ledger);

/* Adds a copy as pending; -E2BIG, -EINVAL (an ID twice, none) or -ENOMEM and no change. *ret: the ledger's. */
int ledger_add(struct ledger *ledger, const char *resource, const struct string_list *ids,
	       int64_t now, struct ledger_entry **ret, struct error *error);
/* It is on the disk and the kubelet has the answer. */
void ledger_answered(struct ledger *ledger, struct ledger_entry *entry, uint64_t now_ms);
/* The kubelet has no answer and gets none: disk full, kubelet gone. Frees ENTRY. */
void ledger_forget(struct ledger *ledger, struct ledger_entry *entry);

/* The newest entry that holds ID, or the one before BEFORE (NULL: none). */
struct ledger_entry *ledger_find(const struct ledger *ledger, const char *id,
				 const struct ledger_entry *before);

/* The text of the file, everything in it, what is pending too. 0, -ENOMEM or -E2BIG. */
int ledger_to_text(const struct ledger *ledger, struct strbuf *out, struct error *error);
/*
 * A text into an empty ledger. Lines that are damaged are left out and counted in *ret_damage.
 * -EINVAL: no ledger at all, or of a later version; -ENOMEM. NAME is for messages.
 */
int ledger_from_text(struct ledger *ledger, const char *text, size_t length, const char *name,
		     uint64_t now_ms, struct ledger_damage *ret_damage, struct error *error);
/*
 * Durable when it returns 0; else the file is as it was. Knows nothing of the ledger, so that a thread
 * may do it; one at a time, later texts after earlier ones. After 0 set ledger->dirty to false if
 * nothing happened since the text was made.
 */
int ledger_write(const char *path, const char *text, size_t length, struct error *error);
/* Reads PATH; no file is an empty ledger. */
int ledger_read(struct ledger *ledger, const char *path, uint64_t now_ms,
		struct ledger_damage *ret_damage, struct error *error);

/* ---- what others know of the holders ---- */

enum pod_sign {
	POD_UNKNOWN, /* its cgroup cannot be looked at */
	POD_IDLE,    /* no cgroup, or no process in it */
	POD_RUNS,    /* processes, the sandbox's own counts */
};

struct ledger_evidence {
	/* NULL: it cannot be read now; nothing is freed then. Never an older one than the last. */
	const struct kubelet_checkpoint *checkpoint;
	bool checkpoint_lost; /* there was one and it is gone or broken: holders become orphans */
	/* By the cgroup of the Pod; NULL: POD_UNKNOWN. */
	enum pod_sign (*pod)(const char *pod_uid, void *user);
	void *user;
	/* The answer of pod-resources' List, asked for after the call at hand came; NULL: not asked.
	 * Only where plugin_allocate() says -EAGAIN. */
	const struct kubelet_holdings *listed;
	uint64_t now_ms; /* monotonic */
	int64_t now;     /* Unix seconds */
};

struct reason_list {
	struct reason *items; /* owned */
	size_t count, capacity;
};
void reason_list_release(struct reason_list *list);

/*
 * Ledger and checkpoint together. Learns the Pods of entries, adopts what only the checkpoint has (of
 * IDs that are ours by their form), frees what is free:
 *
 *   - an entry that the checkpoint once had and has no more, when no process of its Pod is left;
 *   - one that it never had, LEDGER_SETTLE_MS after its answer, once the file was written anew;
 *   - an orphan, when its Pod is known and idle.
 *
 * An entry is free only when all of its IDs are. *RET_REASONS gets (appended) where the two disagree.
 * 1: who holds what has changed; 0: not; -ENOMEM: some of it may have been done, call it again.
 */
int ledger_merge(struct ledger *ledger, const struct ledger_evidence *evidence,
		 struct reason_list *ret_reasons, struct error *error);

enum holder_sign {
	HOLDER_HAS,  /* it has it: whoever else is offered it is refused */
	HOLDER_GONE, /* its Pod ended, and the kubelet knows it */
	HOLDER_SAME, /* an ordinary init container of the very Pod that is being admitted, or gone */
	HOLDER_ASK,  /* only pod-resources' List can tell: nobody saw a process of its Pod */
};
/*
 * What may be done about ENTRY, of which the kubelet offers IDS (NULL: all) again. It does so lawfully
 * when the holder has ended, which the file may not know yet, and when an ordinary init container's
 * devices go to a later container of the same Pod. Neither call names a Pod; so that one is believed
 * only within LEDGER_START_MS of the Pod's last grant, before a process of it runs, while nobody else
 * was granted anything, and when List has no container with these devices.
 *
 * That List is asked while an Allocate is open, which is otherwise forbidden: List collects ended Pods,
 * and with one to collect the kubelet's set of allocated devices forgets what is in flight
 * (kubernetes#137534). Here it does no harm. The kubelet collected when it began with this very
 * container, so only a Pod that ended in the milliseconds since is left to collect. What an init
 * container or an ended Pod had is not in flight but in podDevices, or free. And what is new in the
 * grant is in our ledger before it is answered: should the kubelet offer it to another Pod, that one is
 * refused, and nothing is given twice.
 */
enum holder_sign ledger_ask(const struct ledger *ledger, const struct ledger_entry *entry,
			    const struct string_list *ids, const struct ledger_evidence *evidence);
