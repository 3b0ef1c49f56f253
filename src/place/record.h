/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of decisions: what a pool was made of, what was asked of it and what it answered. JSON,
 * one event a line, always written the same way; played against a new pool it must come out the same
 * to the letter. docs/decision-log.md has all events:
 *
 *	{"format":"gpupool decisions","version":1}
 *	{"event":"policy","policy":"fgd","ties":"bestfit","seed":42,...}
 *	{"event":"node","node":{...}}                        numbered from 0 in this order
 *	{"event":"demand","demand":0,"asks":{...}}           what a Pod asks for, before its first use
 *	{"event":"workload","classes":[[0,0.25],[1,0.75]]}   demands and their shares
 *	{"event":"decide","demand":0,"node":17,"placements":[{"cards":[3],"units":[12],...}]}
 *	{"event":"decide","demand":1,"result":"later","reason":"cards_busy","wanted":8,"have":3,...}
 *	{"event":"hold","demand":0,"node":17,"placements":[...],"grant":1}
 *	{"event":"release","grant":1}
 *	{"event":"end","lines":9,"decisions":2,"checksum":"8f1e..."}
 *
 * How to add an event: its function in record.c, called by the pool's own; a row in the table of
 * record_read.c; its line in docs/decision-log.md; cases in test_record.c. What an older reader would
 * misread gets a new version.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

#define RECORD_FORMAT  "gpupool decisions"
#define RECORD_VERSION 1

struct pool;
struct decision;

#define DECISION_HASH_START 0xcbf29ce484222325u
/* The checksum of a row of decisions, one more at its end. NULL: a refusal. What is asked of one node
 * only is not in the checksum of a log. */
uint64_t decision_hash(uint64_t hash, const struct decision *decision);

/*
 * From here on WRITE gets each event as one line with its newline, and returns 0 or a negative
 * errno; after the first failure nothing more is written. The pool answers as without it. -EINVAL
 * for a pool that has nodes already, -ENOMEM.
 */
int pool_start_record(struct pool *pool, int (*write)(void *data, const char *line, size_t length),
		      void *data);
/* Writes the last line. 0, or the first failure: the log is of no use then. A pool that was out of
 * memory counts: what it answered then, nobody can play. */
int pool_end_record(struct pool *pool);

/* A log is played line by line; SOURCE is what errors call it. */
struct playback;
struct playback *playback_new(const char *source); /* NULL when out of memory */
void playback_free(struct playback *playback);
DEFINE_CLEANUP(struct playback, playback_free)
#define autoplayback cleanup(playback_freep) struct playback

/*
 * One line without its newline. 0: it comes out the same. 1: it does not, and nothing is played any
 * more. -EINVAL: it is no line of a log; -ENOMEM.
 */
int playback_line(struct playback *playback, const char *line, size_t length, struct error *error);
/* After the last line. -EINVAL for a log that lacks its end. */
int playback_end(const struct playback *playback, struct error *error);

struct playback_state {
	uint64_t decisions, checksum; /* played so far, all the same */
	/* The first difference; 0 and NULL without one. Valid until playback_free(). */
	unsigned long line;
	const char *recorded, *now;
};
void playback_state(const struct playback *playback, struct playback_state *ret);
