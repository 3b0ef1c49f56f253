/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of a daemon: timers, readiness of descriptors, signals, and work in a thread. Every callback
 * runs in the thread that called loop_run(), one at a time, and must not block. Each object may be stopped
 * inside any callback, its own too; after the stop its callback is not called again and the pointer is not
 * valid. Objects that still run when the loop is freed are stopped then; what stands on the loop in other
 * files (watches, servers, clients) is ended by its owner before that.
 *
 * Link loop_dep: the only file that knows libuv is loop.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

struct loop;

int loop_new(struct loop **ret, struct error *error);

/* Not inside a callback. Waits until work that was started has ended, and calls its done(). */
void loop_free(struct loop *loop);

DEFINE_CLEANUP(struct loop, loop_free)
#define autoloop cleanup(loop_freep) struct loop

/* Until loop_stop(), or until nothing is left that could call back. */
void loop_run(struct loop *loop);

/* Calls back for what is ready now and does not wait. */
void loop_turn(struct loop *loop);

void loop_stop(struct loop *loop);

/* Milliseconds of a clock that only goes forward. */
uint64_t loop_now_ms(const struct loop *loop);

struct loop_timer; /* the caller's, until loop_timer_stop() */

#define LOOP_NEVER UINT64_MAX

/*
 * Calls FUNCTION once after DELAY_MS, at the next turn of the loop for 0, not before loop_timer_set() for
 * LOOP_NEVER; then each REPEAT_MS, unless that is 0. A timer that has run out still has to be stopped.
 */
int loop_timer_start(struct loop *loop, uint64_t delay_ms, uint64_t repeat_ms,
		     void (*function)(void *user), void *user, struct loop_timer **ret,
		     struct error *error);

/* Starts it anew; LOOP_NEVER puts it to rest. Cannot fail. */
void loop_timer_set(struct loop_timer *timer, uint64_t delay_ms, uint64_t repeat_ms);

void loop_timer_stop(struct loop_timer *timer); /* NULL is legal */

/* What a descriptor is ready for. */
enum { LOOP_READ = 1, LOOP_WRITE = 2 };

struct loop_poll; /* the caller's, until loop_poll_stop() */

/*
 * Calls FUNCTION while FD, which is nonblocking from here on, is ready for one of EVENTS. The descriptor stays
 * the caller's and must be open until loop_poll_stop(). A hang-up counts as LOOP_READ: read() tells. With an
 * error on the descriptor both bits are set once, and then nothing until loop_poll_set().
 */
int loop_poll_start(struct loop *loop, int fd, unsigned events,
		    void (*function)(void *user, unsigned events), void *user,
		    struct loop_poll **ret, struct error *error);

/* Waits for other events, or for none (0). Cannot fail. */
void loop_poll_set(struct loop_poll *poll, unsigned events);

void loop_poll_stop(struct loop_poll *poll); /* NULL is legal */

struct loop_signal; /* the caller's, until loop_signal_stop() */

int loop_signal_start(struct loop *loop, int number, void (*function)(void *user, int number),
		      void *user, struct loop_signal **ret, struct error *error);
void loop_signal_stop(struct loop_signal *signal); /* NULL is legal */

/* RUN in a thread, and when that has returned, DONE in the loop. There is no way to stop it. */
int loop_work_start(struct loop *loop, void (*run)(void *user), void (*done)(void *user),
		    void *user, struct error *error);
