/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kubelet/registration.h"

#define E(name) REGISTRATION_##name

/* One step: the event, and what must come of it. */
struct step {
	uint64_t at_ms;
	enum registration_event event;
	enum registration_action action;
	enum registration_state state;
	uint64_t timer_ms; /* 0: not looked at */
};

#define STEPS 24
#define KEPT  REGISTRATION_TIMER_KEPT
#define NONE  REGISTRATION_NO_TIMER

static const struct {
	const char *name;
	struct step steps[STEPS];
} histories[] = {
	{ "the plugin starts before the kubelet",
	  { { 0, E(SOCKET), E(NOTHING), E(IDLE), KEPT },
	    { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 0, E(NOWHERE), E(HANG_UP), E(ABSENT), NONE },
	    { 9, E(SOCKET), E(CALL), E(REGISTERING), 15000 },
	    { 10, E(ACCEPTED), E(NOTHING), E(WAITING), 10000 },
	    { 11, E(STREAM), E(NOTHING), E(LISTED), NONE } } },
	{ "kubelet.sock is removed while the call runs: it may end well",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 1, E(NO_SOCKET), E(NOTHING), E(REGISTERING), KEPT },
	    { 2, E(ACCEPTED), E(NOTHING), E(WAITING), 10000 },
	    { 3, E(STREAM), E(NOTHING), E(LISTED), NONE } } },
	{ "the kubelet ends while the call runs",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 1, E(NO_SOCKET), E(NOTHING), E(REGISTERING), KEPT },
	    { 2, E(REFUSED), E(HANG_UP), E(PAUSING), 50 },
	    { 52, E(TIMER), E(CALL), E(REGISTERING), 15000 },
	    { 52, E(NOWHERE), E(HANG_UP), E(ABSENT), NONE } } },
	{ "the stream comes before the answer",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 1, E(STREAM), E(NOTHING), E(LISTED), NONE },
	    { 2, E(ACCEPTED), E(NOTHING), E(LISTED), KEPT } } },
	{ "the kubelet restarts",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 1, E(STREAM), E(NOTHING), E(LISTED), NONE },
	    { 20000, E(ENDED), E(DRAIN), E(CLOSING), 2000 },
	    { 20000, E(DRAINED), E(NOTHING), E(PAUSING), 100 },
	    { 20050, E(NO_SOCKET), E(NOTHING), E(ABSENT), NONE },
	    { 20060, E(SOCKET), E(CALL), E(REGISTERING), 15000 } } },
	{ "the new socket is seen before the old connections end",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 1, E(STREAM), E(NOTHING), E(LISTED), NONE },
	    { 5, E(NO_SOCKET), E(NOTHING), E(LISTED), KEPT },
	    { 5, E(SOCKET), E(DRAIN), E(RENEWING), 1000 },
	    { 5, E(ENDED), E(NOTHING), E(RENEWING), KEPT },
	    { 6, E(DRAINED), E(CALL), E(REGISTERING), 15000 } } },
	{ "the old kubelet hangs with its stream",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 1, E(STREAM), E(NOTHING), E(LISTED), NONE },
	    { 5, E(SOCKET), E(DRAIN), E(RENEWING), 1000 },
	    { 1005, E(TIMER), E(CUT_CALL), E(REGISTERING), 15000 } } },
	{ "kubelet.sock is removed while the stream lives",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 1, E(STREAM), E(NOTHING), E(LISTED), NONE },
	    { 9, E(NO_SOCKET), E(NOTHING), E(LISTED), KEPT },
	    { 60000, E(TIMER), E(NOTHING), E(LISTED), KEPT } } },
	{ "the stream ends and the kubelet stays: no call before the connection is closed and 100 "
	  "ms",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 1, E(STREAM), E(NOTHING), E(LISTED), NONE },
	    { 20001, E(ENDED), E(DRAIN), E(CLOSING), 2000 },
	    { 20500, E(DRAINED), E(NOTHING), E(PAUSING), 100 },
	    { 20600, E(TIMER), E(CALL), E(REGISTERING), 15000 } } },
	{ "a connection that stays open is cut",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 1, E(STREAM), E(NOTHING), E(LISTED), NONE },
	    { 20001, E(ENDED), E(DRAIN), E(CLOSING), 2000 },
	    { 22001, E(TIMER), E(CUT), E(PAUSING), 100 } } },
	{ "a stream opens again by itself",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 1, E(STREAM), E(NOTHING), E(LISTED), NONE },
	    { 20001, E(ENDED), E(DRAIN), E(CLOSING), 2000 },
	    { 20001, E(DRAINED), E(NOTHING), E(PAUSING), 100 },
	    { 20002, E(STREAM), E(NOTHING), E(LISTED), NONE } } },
	{ "nobody listens yet: soon, then ever later",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 0, E(UNREACHABLE), E(HANG_UP), E(PAUSING), 2 },
	    { 2, E(TIMER), E(CALL), E(REGISTERING), 15000 },
	    { 2, E(UNREACHABLE), E(HANG_UP), E(PAUSING), 4 },
	    { 6, E(TIMER), E(CALL), E(REGISTERING), 15000 },
	    { 6, E(UNREACHABLE), E(HANG_UP), E(PAUSING), 8 },
	    { 14, E(TIMER), E(CALL), E(REGISTERING), 15000 },
	    { 14, E(REFUSED), E(HANG_UP), E(PAUSING), 50 },
	    { 64, E(TIMER), E(CALL), E(REGISTERING), 15000 },
	    { 64, E(REFUSED), E(HANG_UP), E(PAUSING), 100 },
	    { 70, E(SOCKET), E(CALL), E(REGISTERING), 15000 },
	    { 70, E(UNREACHABLE), E(HANG_UP), E(PAUSING), 2 } } },
	{ "accepted, and no stream comes",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 1, E(ACCEPTED), E(NOTHING), E(WAITING), 10000 },
	    { 10001, E(TIMER), E(CUT), E(PAUSING), 50 },
	    { 10051, E(TIMER), E(CALL), E(REGISTERING), 15000 } } },
	{ "accepted, and the kubelet restarts before the stream",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 1, E(ACCEPTED), E(NOTHING), E(WAITING), 10000 },
	    { 2, E(NO_SOCKET), E(NOTHING), E(WAITING), KEPT },
	    { 3, E(SOCKET), E(DRAIN), E(RENEWING), 1000 },
	    { 3, E(DRAINED), E(CALL), E(REGISTERING), 15000 } } },
	{ "no answer",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 15000, E(TIMER), E(CUT), E(PAUSING), 50 } } },
	{ "short streams: somebody else is there, so ever later",
	  { { 0, E(LIST), E(CALL), E(REGISTERING), 15000 },
	    { 0, E(STREAM), E(NOTHING), E(LISTED), NONE },
	    { 100, E(ENDED), E(DRAIN), E(CLOSING), 2000 },
	    { 100, E(DRAINED), E(NOTHING), E(PAUSING), 100 },
	    { 200, E(TIMER), E(CALL), E(REGISTERING), 15000 },
	    { 200, E(STREAM), E(NOTHING), E(LISTED), NONE },
	    { 300, E(ENDED), E(DRAIN), E(CLOSING), 2000 },
	    { 300, E(DRAINED), E(NOTHING), E(PAUSING), 100 },
	    { 400, E(TIMER), E(CALL), E(REGISTERING), 15000 },
	    { 400, E(STREAM), E(NOTHING), E(LISTED), NONE },
	    { 500, E(ENDED), E(DRAIN), E(CLOSING), 2000 },
	    { 500, E(DRAINED), E(NOTHING), E(PAUSING), 200 },
	    { 700, E(TIMER), E(CALL), E(REGISTERING), 15000 },
	    { 700, E(STREAM), E(NOTHING), E(LISTED), NONE },
	    { 10700, E(ENDED), E(DRAIN), E(CLOSING), 2000 },
	    { 10700, E(DRAINED), E(NOTHING), E(PAUSING), 100 } } },
};

static void check_step(const char *name, size_t number, struct registration *registration,
		       const struct step *step)
{
	struct registration_order order = registration_on(registration, step->event, step->at_ms);

	if (registration->state != step->state || order.action != step->action ||
	    (step->timer_ms && order.timer_ms != step->timer_ms))
		fail_msg("%s, step %zu (%s): %s, %s, %llu ms", name, number,
			 registration_event_to_string(step->event),
			 registration_state_to_string(registration->state),
			 registration_action_to_string(order.action),
			 (unsigned long long)order.timer_ms);
}

TEST(histories_go_as_written)
{
	for (size_t i = 0; i < ARRAY_SIZE(histories); i++) {
		struct registration registration = REGISTRATION_INIT;

		for (size_t n = 0; n < STEPS && histories[i].steps[n].state; n++)
			check_step(histories[i].name, n, &registration, &histories[i].steps[n]);
	}
}

TEST(back_off_ends_at_five_seconds)
{
	struct registration registration = REGISTRATION_INIT;
	struct registration_order order = registration_on(&registration, E(LIST), 0);

	for (int i = 0; i < 40; i++) {
		order = registration_on(&registration, E(REFUSED), 0);
		assert_true(order.timer_ms <= 5000);
		registration_on(&registration, E(TIMER), 0);
	}
	assert_int_equal(order.timer_ms, 5000);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* A world that sends what can happen: streams come and go, connections with them. */
struct world {
	struct registration registration;
	unsigned streams, calls, waits_for_timer;
	unsigned states[REGISTRATION_STATE_MAX];
};

static bool possible(const struct world *world, enum registration_event event)
{
	enum registration_state state = world->registration.state;

	switch (event) {
	case REGISTRATION_STREAM:
		return !world->streams;
	case REGISTRATION_ENDED:
		return world->streams;
	case REGISTRATION_DRAINED:
		return !world->streams && (state == E(CLOSING) || state == E(RENEWING));
	case REGISTRATION_NOWHERE:
	case REGISTRATION_UNREACHABLE:
	case REGISTRATION_REFUSED:
	case REGISTRATION_ACCEPTED:
		return state == E(REGISTERING);
	case REGISTRATION_LIST:
		return state == E(IDLE);
	case REGISTRATION_TIMER:
		return world->waits_for_timer;
	case REGISTRATION_SOCKET:
	case REGISTRATION_NO_SOCKET:
	case REGISTRATION_EVENT_MAX:
	case REGISTRATION_EVENT_INVALID:
	default:
		return true;
	}
}

static void apply(struct world *world, enum registration_event event, uint64_t now)
{
	if (event == E(STREAM))
		world->streams = 1;
	if (event == E(ENDED))
		world->streams = 0;
	struct registration_order order = registration_on(&world->registration, event, now);
	if (order.action == E(CUT) || order.action == E(CUT_CALL))
		world->streams = 0;
	if (order.action == E(CALL) || order.action == E(CUT_CALL)) {
		assert_int_equal(world->streams, 0);
		world->calls++;
	}
	if (order.timer_ms != KEPT)
		world->waits_for_timer = order.timer_ms != NONE;
	world->states[world->registration.state]++;
}

/* Never a call while a stream lives, and no state without a way out. */
TEST(no_history_registers_beside_a_stream_or_hangs)
{
	uint32_t seed = 4;
	struct world world = { .registration = REGISTRATION_INIT };

	for (int walk = 0; walk < 2000; walk++) {
		world.registration = (struct registration)REGISTRATION_INIT;
		world.streams = world.waits_for_timer = 0;
		for (int i = 0; i < 60; i++) {
			enum registration_event event = (enum registration_event)(
				next_random(&seed) % REGISTRATION_EVENT_MAX);

			if (possible(&world, event) &&
			    !(event == E(STREAM) && world.registration.state == E(IDLE)))
				apply(&world, event, (uint64_t)i * 700);
			enum registration_state now = world.registration.state;
			assert_true(world.waits_for_timer || now == E(IDLE) || now == E(ABSENT) ||
				    now == E(LISTED));
		}
	}
	for (int i = E(IDLE); i < E(STATE_MAX); i++) {
		printf("# %s: %u times\n", registration_state_to_string(i), world.states[i]);
		assert_true(world.states[i] > 0);
	}
	assert_true(world.calls > 1000);
}

/* docs/registration.md shows the table as it is. */
TEST(the_page_shows_the_table)
{
	autostrbuf table = STRBUF_INIT(16384);
	struct error error = ERROR_INIT;
	autofree char *page = NULL;
	size_t length = 0;

	registration_print(&table);
	assert_int_equal(strbuf_failed(&table), 0);
	assert_null(strstr(table.data, "null")); /* a state, event or action without a name */
	if (file_read(SOURCE_ROOT "/docs/registration.md", 65536, &page, &length, &error) < 0)
		fail_msg("%s", error.message);
	if (!strstr(page, table.data))
		fail_msg("docs/registration.md has another table; this is the one:\n%s",
			 table.data);
}
