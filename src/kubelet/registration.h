/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to register with the kubelet, and when not. A table: no socket, no clock, no file; the caller
 * brings events and the time and does what it is told. Private to src/kubelet.
 *
 * The one rule behind it: never register while an older stream of ours lives. The kubelet up to
 * 1.36.3 looks a plugin up by its resource when a stream ends, and so ends the new one (pkg/kubelet/cm/
 * devicemanager/plugin/v1beta1/handler.go, runClient).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

/* 0 in the table: stays. */
enum registration_state {
	REGISTRATION_SAME,
	REGISTRATION_IDLE,        /* there is no list to show yet */
	REGISTRATION_ABSENT,      /* no kubelet.sock */
	REGISTRATION_REGISTERING, /* Register was called */
	REGISTRATION_WAITING,     /* it was answered; the stream is to come */
	REGISTRATION_LISTED,      /* a stream is open */
	REGISTRATION_CLOSING,     /* the last stream ended; the kubelet still has a connection */
	REGISTRATION_RENEWING,    /* another kubelet.sock, but connections of the old kubelet */
	REGISTRATION_PAUSING,     /* for a while, before the next Register */
	REGISTRATION_STATE_MAX,
	REGISTRATION_STATE_INVALID = -22
};

enum registration_event {
	REGISTRATION_LIST,        /* the first list is there */
	REGISTRATION_SOCKET,      /* a kubelet.sock that was not there before */
	REGISTRATION_NO_SOCKET,   /* kubelet.sock went away */
	REGISTRATION_NOWHERE,     /* there was no kubelet.sock to call */
	REGISTRATION_UNREACHABLE, /* nobody answers at kubelet.sock */
	REGISTRATION_REFUSED,     /* Register was answered with an error, or not in time */
	REGISTRATION_ACCEPTED,    /* Register was answered */
	REGISTRATION_STREAM,      /* the kubelet opened a stream */
	REGISTRATION_ENDED,       /* the last stream ended */
	REGISTRATION_DRAINED,     /* the kubelet has no connection any more */
	REGISTRATION_TIMER,       /* the time of the state is over */
	REGISTRATION_EVENT_MAX,
	REGISTRATION_EVENT_INVALID = -22
};

enum registration_action {
	REGISTRATION_NOTHING,
	REGISTRATION_CALL,     /* make sure of the own socket, connect, call Register */
	REGISTRATION_HANG_UP,  /* give up a call of Register that runs */
	REGISTRATION_DRAIN,    /* look until no connection is left, then say DRAINED */
	REGISTRATION_CUT,      /* close all connections, listen under another name */
	REGISTRATION_CUT_CALL, /* both */
	REGISTRATION_ACTION_MAX,
	REGISTRATION_ACTION_INVALID = -22
};

/* How long a state lasts before TIMER. */
enum registration_timer {
	REGISTRATION_KEEP,       /* as it is */
	REGISTRATION_FOREVER,    /* no timer */
	REGISTRATION_CALL_TIME,  /* 15 s: the kubelet dials back for 10 s before it answers */
	REGISTRATION_OPEN_TIME,  /* 10 s: it opens the stream right after its answer */
	REGISTRATION_DRAIN_TIME, /* 2 s: it closes its connection right after the stream */
	REGISTRATION_RENEW_TIME, /* 1 s: connections of a process that ended are closed by then */
	REGISTRATION_PAUSE,      /* 100 ms after a stream, more when streams are short */
	REGISTRATION_BACK_OFF,   /* 2 ms (nobody there) or 50 ms (refused) doubled, 5 s at most */
	REGISTRATION_TIMER_MAX,
	REGISTRATION_TIMER_INVALID = -22
};

const char *registration_state_to_string(enum registration_state state);
enum registration_state registration_state_from_string(const char *text);
const char *registration_event_to_string(enum registration_event event);
enum registration_event registration_event_from_string(const char *text);
const char *registration_action_to_string(enum registration_action action);
enum registration_action registration_action_from_string(const char *text);
const char *registration_timer_to_string(enum registration_timer timer);
enum registration_timer registration_timer_from_string(const char *text);

struct registration {
	enum registration_state state;
	unsigned pause_ms;  /* the last back-off; 0: none since things went well */
	uint64_t listed_ms; /* when the stream opened */
};

#define REGISTRATION_INIT                  \
	{                                  \
		.state = REGISTRATION_IDLE \
	}

struct registration_order {
	enum registration_action action;
	uint64_t timer_ms; /* LOOP_NEVER: no timer; REGISTRATION_TIMER_KEPT: leave it */
};
#define REGISTRATION_TIMER_KEPT (UINT64_MAX - 1)
#define REGISTRATION_NO_TIMER   UINT64_MAX

struct registration_order registration_on(struct registration *registration,
					  enum registration_event event, uint64_t now_ms);

/* The table for people: a line for each state and event that does something. */
void registration_print(struct strbuf *text);
