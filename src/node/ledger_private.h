/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the ledger share. Inside this folder only. */
#pragma once

#include "node/ledger.h"

void ledger_entry_free(struct ledger_entry *entry);
DEFINE_CLEANUP(struct ledger_entry, ledger_entry_free)
#define autoentry cleanup(ledger_entry_freep) struct ledger_entry

/* A copy without a serial; NULL when out of memory. */
struct ledger_entry *ledger_entry_new(const char *resource, const struct string_list *ids);
bool ledger_entry_has(const struct ledger_entry *entry, const char *id);
/* At the end, whatever its serial; 0, -E2BIG or -ENOMEM. The ledger owns it then. */
int ledger_insert(struct ledger *ledger, struct ledger_entry *entry);
/* -EINVAL when one stands twice, which *ret_twice then is; -ENOMEM. */
int ledger_check_ids(const struct string_list *ids, const char **ret_twice);
/* Remembers which checkpoint was there when it was granted. */
void ledger_stamp_entry(struct ledger_entry *entry, const struct ledger_evidence *evidence);
/* Takes ID from ENTRY, whose holder is gone; freed when it was the last one. */
void ledger_strip(struct ledger *ledger, struct ledger_entry *entry, const char *id);
/* ID to the newest entry that holds it. For many questions at once; it borrows the ledger. */
int ledger_index(const struct ledger *ledger, struct map **ret);
