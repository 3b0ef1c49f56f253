/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet/registration.h"

#define CALL_MS         15000
#define OPEN_MS         10000
#define DRAIN_MS        2000
#define RENEW_MS        1000
#define SETTLE_MS       100 /* after the connection of a stream was closed */
#define FIRST_MISS_MS   2   /* the socket's name is there a moment before somebody listens */
#define FIRST_NO_MS     50  /* after a refusal */
#define BACK_OFF_MAX_MS 5000
#define SHORT_STREAM_MS 10000 /* a stream that ended sooner is a sign of somebody else */

static const char *const registration_state_table[REGISTRATION_STATE_MAX] = {
	[REGISTRATION_SAME] = "same",       [REGISTRATION_IDLE] = "idle",
	[REGISTRATION_ABSENT] = "absent",   [REGISTRATION_REGISTERING] = "registering",
	[REGISTRATION_WAITING] = "waiting", [REGISTRATION_LISTED] = "listed",
	[REGISTRATION_CLOSING] = "closing", [REGISTRATION_RENEWING] = "renewing",
	[REGISTRATION_PAUSING] = "pausing",
};
DEFINE_STRING_TABLE(registration_state, enum registration_state, REGISTRATION_STATE_MAX)

static const char *const registration_event_table[REGISTRATION_EVENT_MAX] = {
	[REGISTRATION_LIST] = "list",
	[REGISTRATION_SOCKET] = "socket",
	[REGISTRATION_NO_SOCKET] = "no-socket",
	[REGISTRATION_NOWHERE] = "nowhere",
	[REGISTRATION_UNREACHABLE] = "unreachable",
	[REGISTRATION_REFUSED] = "refused",
	[REGISTRATION_ACCEPTED] = "accepted",
	[REGISTRATION_STREAM] = "stream",
	[REGISTRATION_ENDED] = "ended",
	[REGISTRATION_DRAINED] = "drained",
	[REGISTRATION_TIMER] = "timer",
};
DEFINE_STRING_TABLE(registration_event, enum registration_event, REGISTRATION_EVENT_MAX)

static const char *const registration_action_table[REGISTRATION_ACTION_MAX] = {
	[REGISTRATION_NOTHING] = "-",       [REGISTRATION_CALL] = "call",
	[REGISTRATION_HANG_UP] = "hang-up", [REGISTRATION_DRAIN] = "drain",
	[REGISTRATION_CUT] = "cut",         [REGISTRATION_CUT_CALL] = "cut, call",
};
DEFINE_STRING_TABLE(registration_action, enum registration_action, REGISTRATION_ACTION_MAX)

static const char *const registration_timer_table[REGISTRATION_TIMER_MAX] = {
	[REGISTRATION_KEEP] = "-",         [REGISTRATION_FOREVER] = "none",
	[REGISTRATION_CALL_TIME] = "15 s", [REGISTRATION_OPEN_TIME] = "10 s",
	[REGISTRATION_DRAIN_TIME] = "2 s", [REGISTRATION_RENEW_TIME] = "1 s",
	[REGISTRATION_PAUSE] = "100 ms",   [REGISTRATION_BACK_OFF] = "back-off",
};
DEFINE_STRING_TABLE(registration_timer, enum registration_timer, REGISTRATION_TIMER_MAX)

struct move {
	enum registration_state next;
	enum registration_action action;
	enum registration_timer timer;
};

#define MOVE(to, does, lasts)                                                \
	{                                                                    \
		REGISTRATION_##to, REGISTRATION_##does, REGISTRATION_##lasts \
	}
#define OPENED MOVE(LISTED, NOTHING, FOREVER)

/* What is not in the table changes nothing. */
static const struct move moves[REGISTRATION_STATE_MAX][REGISTRATION_EVENT_MAX] = {
	[REGISTRATION_IDLE] = {
		[REGISTRATION_LIST] = MOVE(REGISTERING, CALL, CALL_TIME),
	},
	[REGISTRATION_ABSENT] = {
		[REGISTRATION_SOCKET] = MOVE(REGISTERING, CALL, CALL_TIME),
		[REGISTRATION_STREAM] = OPENED,
	},
	/* A call that runs may end well without the socket's name: a kubelet makes that once. */
	[REGISTRATION_REGISTERING] = {
		[REGISTRATION_SOCKET] = MOVE(SAME, CALL, CALL_TIME),
		[REGISTRATION_NOWHERE] = MOVE(ABSENT, HANG_UP, FOREVER),
		[REGISTRATION_UNREACHABLE] = MOVE(PAUSING, HANG_UP, BACK_OFF),
		[REGISTRATION_REFUSED] = MOVE(PAUSING, HANG_UP, BACK_OFF),
		[REGISTRATION_ACCEPTED] = MOVE(WAITING, NOTHING, OPEN_TIME),
		[REGISTRATION_STREAM] = OPENED,
		[REGISTRATION_TIMER] = MOVE(PAUSING, CUT, BACK_OFF),
	},
	[REGISTRATION_WAITING] = {
		[REGISTRATION_SOCKET] = MOVE(RENEWING, DRAIN, RENEW_TIME),
		[REGISTRATION_STREAM] = OPENED,
		[REGISTRATION_TIMER] = MOVE(PAUSING, CUT, BACK_OFF),
	},
	/* Without kubelet.sock nothing is lost as long as the stream lives. */
	[REGISTRATION_LISTED] = {
		[REGISTRATION_SOCKET] = MOVE(RENEWING, DRAIN, RENEW_TIME),
		[REGISTRATION_ENDED] = MOVE(CLOSING, DRAIN, DRAIN_TIME),
	},
	[REGISTRATION_CLOSING] = {
		[REGISTRATION_SOCKET] = MOVE(RENEWING, DRAIN, RENEW_TIME),
		[REGISTRATION_STREAM] = OPENED,
		[REGISTRATION_DRAINED] = MOVE(PAUSING, NOTHING, PAUSE),
		[REGISTRATION_TIMER] = MOVE(PAUSING, CUT, PAUSE),
	},
	/* Another process: what the old one still does about the old stream is of no account. */
	[REGISTRATION_RENEWING] = {
		[REGISTRATION_NO_SOCKET] = MOVE(CLOSING, DRAIN, DRAIN_TIME),
		[REGISTRATION_DRAINED] = MOVE(REGISTERING, CALL, CALL_TIME),
		[REGISTRATION_TIMER] = MOVE(REGISTERING, CUT_CALL, CALL_TIME),
	},
	[REGISTRATION_PAUSING] = {
		[REGISTRATION_SOCKET] = MOVE(REGISTERING, CALL, CALL_TIME),
		[REGISTRATION_NO_SOCKET] = MOVE(ABSENT, NOTHING, FOREVER),
		[REGISTRATION_STREAM] = OPENED,
		[REGISTRATION_TIMER] = MOVE(REGISTERING, CALL, CALL_TIME),
	},
};

static unsigned back_off(struct registration *registration, unsigned first)
{
	unsigned next = registration->pause_ms * 2;

	next = next < first ? first : next;
	registration->pause_ms = next < BACK_OFF_MAX_MS ? next : BACK_OFF_MAX_MS;
	return registration->pause_ms;
}

static uint64_t timer_ms(struct registration *registration, enum registration_timer timer,
			 enum registration_event event)
{
	switch (timer) {
	case REGISTRATION_FOREVER:
		return REGISTRATION_NO_TIMER;
	case REGISTRATION_CALL_TIME:
		return CALL_MS;
	case REGISTRATION_OPEN_TIME:
		return OPEN_MS;
	case REGISTRATION_DRAIN_TIME:
		return DRAIN_MS;
	case REGISTRATION_RENEW_TIME:
		return RENEW_MS;
	case REGISTRATION_PAUSE:
		return registration->pause_ms > SETTLE_MS ? registration->pause_ms : SETTLE_MS;
	case REGISTRATION_BACK_OFF:
		return back_off(registration,
				event == REGISTRATION_UNREACHABLE ? FIRST_MISS_MS : FIRST_NO_MS);
	case REGISTRATION_KEEP:
	case REGISTRATION_TIMER_MAX:
	case REGISTRATION_TIMER_INVALID:
	default:
		return REGISTRATION_TIMER_KEPT;
	}
}

/* How long to wait next time depends on how well the last time went. */
static void learn(struct registration *registration, enum registration_event event, uint64_t now_ms)
{
	if (event == REGISTRATION_SOCKET)
		registration->pause_ms = 0;
	if (event == REGISTRATION_STREAM && registration->state != REGISTRATION_LISTED)
		registration->listed_ms = now_ms;
	if (event != REGISTRATION_ENDED || registration->state != REGISTRATION_LISTED)
		return;
	if (now_ms - registration->listed_ms >= SHORT_STREAM_MS)
		registration->pause_ms = 0;
	else
		back_off(registration, FIRST_NO_MS);
}

struct registration_order registration_on(struct registration *registration,
					  enum registration_event event, uint64_t now_ms)
{
	const struct move *move = &moves[registration->state][event];
	struct registration_order order = { .action = move->action };

	learn(registration, event, now_ms);
	order.timer_ms = timer_ms(registration, move->timer, event);
	if (move->next != REGISTRATION_SAME)
		registration->state = move->next;
	return order;
}

void registration_print(struct strbuf *text)
{
	for (int state = REGISTRATION_IDLE; state < REGISTRATION_STATE_MAX; state++) {
		for (int event = 0; event < REGISTRATION_EVENT_MAX; event++) {
			const struct move *move = &moves[state][event];

			if (!move->next && !move->action && !move->timer)
				continue;
			strbuf_addf(text, "| %s | %s | %s | %s | %s |\n",
				    registration_state_to_string(state),
				    registration_event_to_string(event),
				    registration_action_to_string(move->action),
				    registration_state_to_string(move->next),
				    registration_timer_to_string(move->timer));
		}
	}
}
