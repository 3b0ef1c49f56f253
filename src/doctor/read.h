/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers: text of any kind, line by line, to facts. A line is taken for what it is: kubectl's
 * forms, YAML, JSON, TOML, nvidia-smi, lists of the host; what stands around it (its block) helps
 * and is never needed. Nothing here fails over bad input. Memory is bounded, whatever comes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "doctor/facts.h"

#define READ_LINE_MAX 65536 /* bytes of a line that readers look at */

struct readers;

struct readers *readers_new(struct facts *facts); /* facts stay the caller's; NULL: no memory */
void readers_free(struct readers *readers);
DEFINE_CLEANUP(struct readers, readers_free)
#define autoreaders cleanup(readers_freep) struct readers

/* A new file or member. NAME tells what it holds where its lines do not (must-gather). */
int readers_source(struct readers *readers, const char *name);
/* One line without its end; NUMBER counts from 1. Bytes of any value. 0 or -ENOMEM. */
int readers_line(struct readers *readers, const char *line, size_t length, uint64_t number);
/*
 * Ends the open block and compares what several sources and nodes said. May be called again after
 * more lines. 0 or -ENOMEM.
 */
int readers_end(struct readers *readers);

/*
 * A line that people and programs put above a piece of evidence: "--- text", "==> file <==",
 * "### text", "=== text", "$ command", "user@host:~# command", "# command" of a program that we know,
 * a code fence.
 */
bool read_is_heading(const char *line, size_t length);
