/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the driver, from a child and from the kernel's log. An event is a hint: it counts at once
 * against a card, and the look at the machine that follows says what is so.
 */
#include "node/daemon.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define RESTART_MS 5000
#define REAP_MS    200 /* a child that was killed is gone by then, or caught in the driver */

/* With all XIDs switched off the driver stays unloaded between two looks. */
static bool are_wanted(const struct plugin_config *config)
{
	return !config->disabled_xids.all || config->enabled_xids.all || config->enabled_xids.count;
}

static void relist(struct daemon *daemon)
{
	struct error error = ERROR_INIT;

	health_apply(&daemon->health, &daemon->inventory);
	if (lists_update(daemon, NULL, &error) < 0)
		daemon_warning(daemon, "%s", error.message);
	cards_publish(daemon); /* a restart must not forget it */
}

static void take_xid(struct daemon *daemon, const struct device_event *event)
{
	bool counts = plugin_config_xid_counts(&daemon->config, event->data);

	if (!event->data) { /* no error has this number: something is wrong with the event, not the card */
		cards_hint(daemon);
		return;
	}
	int r = health_xid(&daemon->health, event->uuid, event->bus_id, event->data, counts,
			   time(NULL));

	daemon_warning(daemon, "card %s reported XID %llu (%s)%s%s",
		       event->uuid[0] ? event->uuid : event->bus_id,
		       (unsigned long long)event->data, health_row(event->data)->text,
		       counts ? "" : "; it comes from a program and the card stays",
		       r == -ENODEV ? "; no such card is known" : "");
	if (r > 0)
		relist(daemon);
	cards_hint(daemon);
}

static void take_lost(struct daemon *daemon, const struct device_event *event)
{
	if (health_lost(&daemon->health, event->uuid, event->bus_id, time(NULL)) > 0) {
		daemon_warning(daemon, "card %s fell off the bus", event->uuid);
		relist(daemon);
	}
	cards_hint(daemon);
}

/* It does not work now: tried again a while later, and not at each look before that. */
static void rest(struct daemon *daemon)
{
	events_stop(daemon);
	daemon->events_after_ms = loop_now_ms(daemon->loop) + RESTART_MS;
	loop_timer_set(daemon->events_timer, RESTART_MS, 0);
}

static void take_ready(struct daemon *daemon, const struct device_event *event)
{
	daemon->events_ready = true;
	daemon->events_after_ms = 0;
	loop_timer_set(daemon->events_timer, LOOP_NEVER, 0);
	daemon_info(daemon, "events of %u card%s are listened to", event->count,
		    event->count == 1 ? "" : "s");
	cards_hint(daemon); /* what came while nobody listened */
}

static void take_end(struct daemon *daemon, const struct device_event *event)
{
	daemon_warning(daemon, "events of the driver ended: %s", event->text);
	rest(daemon);
	cards_hint(daemon);
}

static void take_unwatched(struct daemon *daemon, const struct device_event *event)
{
	daemon_info(daemon, "card %s gives no events: %s", event->uuid, event->text);
}

static void take_hint(struct daemon *daemon, const struct device_event *event)
{
	(void)event;
	cards_hint(daemon);
}

/* How to add a kind: a row. */
static void (*const takers[DEVICE_EVENT_KIND_MAX])(struct daemon *daemon,
						   const struct device_event *event) = {
	[DEVICE_EVENT_READY] = take_ready, [DEVICE_EVENT_XID] = take_xid,
	[DEVICE_EVENT_ECC] = take_hint,    [DEVICE_EVENT_MIG] = take_hint,
	[DEVICE_EVENT_LOST] = take_lost,   [DEVICE_EVENT_UNWATCHED] = take_unwatched,
	[DEVICE_EVENT_MISSED] = take_hint, [DEVICE_EVENT_END] = take_end,
};

static void events_readable(void *user, unsigned events)
{
	struct daemon *daemon = user;
	struct device_event event;

	(void)events;
	while (daemon->events && device_events_next(daemon->events, &event) == 1)
		takers[event.kind](daemon, &event);
}

/* The same event from the kernel's log: it counts where the driver's library does not tell. */
static void kmsg_readable(void *user, unsigned events)
{
	struct daemon *daemon = user;
	struct device_event event;

	(void)events;
	while (daemon->kmsg && device_kmsg_next(daemon->kmsg, &event) == 1) {
		if (event.kind == DEVICE_EVENT_XID && !daemon->events_ready)
			take_xid(daemon, &event);
		else if (event.kind == DEVICE_EVENT_END)
			loop_poll_set(daemon->kmsg_poll, 0);
		else
			cards_hint(daemon);
	}
}

static uint64_t lost_cards(const struct daemon *daemon)
{
	uint64_t skip = 0;

	for (size_t i = 0; i < daemon->inventory.card_count; i++) {
		const struct card *card = &daemon->inventory.cards[i];

		if (card->condition.health == CARD_LOST && card->index < 64)
			skip |= UINT64_C(1) << card->index;
	}
	return skip;
}

static void child_start(struct daemon *daemon)
{
	const char *root = cards_root(&daemon->config);
	const struct device_events_options options = {
		.driver_root = root[0] ? root : NULL,
		.helper = daemon->config.nvml_helper[0] ? daemon->config.nvml_helper : NULL,
		.skip = lost_cards(daemon)
	};
	struct error error = ERROR_INIT;

	if (daemon->events_caught && !device_child_reap(daemon->events_caught)) {
		loop_timer_set(daemon->events_timer, REAP_MS, 0);
		return;
	}
	daemon->events_caught = 0;
	int r = device_events_start(&options, &daemon->events, &error);
	if (r == 0)
		r = loop_poll_start(daemon->loop, device_events_fd(daemon->events), LOOP_READ,
				    events_readable, daemon, &daemon->events_poll, &error);
	if (r < 0) {
		if (!daemon->events_after_ms)
			daemon_warning(daemon, "events of the driver are not listened to: %s",
				       error.message);
		rest(daemon);
		return;
	}
	daemon->events_skip = options.skip;
	loop_timer_set(daemon->events_timer, daemon->config.probe_timeout_ms, 0);
}

/* Time to start it, or it was started and has said nothing. */
static void events_due(void *user)
{
	struct daemon *daemon = user;

	if (daemon->events) {
		daemon_warning(daemon, "the driver gave no answer when it was asked for events");
		rest(daemon);
		cards_hint(daemon);
	} else if (daemon->events_wanted) {
		child_start(daemon);
	}
}

void events_consider(struct daemon *daemon)
{
	daemon->events_wanted = are_wanted(&daemon->config) && !daemon->inventory.problem[0] &&
				daemon->inventory.card_count;
	if (daemon->events && (!daemon->events_wanted ||
			       (daemon->events_ready && daemon->events_skip & ~lost_cards(daemon))))
		events_stop(daemon);
	if (!daemon->events && daemon->events_wanted &&
	    loop_now_ms(daemon->loop) >= daemon->events_after_ms)
		child_start(daemon);
}

void events_start(struct daemon *daemon)
{
	const char *root = cards_root(&daemon->config);
	struct error error = ERROR_INIT;
	int r = loop_timer_start(daemon->loop, LOOP_NEVER, 0, events_due, daemon,
				 &daemon->events_timer, &error);

	if (r == 0)
		r = device_kmsg_open(root[0] ? root : NULL, NULL, &daemon->kmsg, &error);
	if (r == 0)
		r = loop_poll_start(daemon->loop, device_kmsg_fd(daemon->kmsg), LOOP_READ,
				    kmsg_readable, daemon, &daemon->kmsg_poll, &error);
	if (r < 0)
		daemon_info(daemon, "the kernel's log is not read for XIDs: %s", error.message);
}

void events_stop(struct daemon *daemon)
{
	loop_poll_stop(daemon->events_poll);
	daemon->events_poll = NULL;
	if (daemon->events)
		daemon->events_caught = device_events_stop(daemon->events);
	daemon->events = NULL;
	daemon->events_ready = false;
}

void events_end(struct daemon *daemon)
{
	events_stop(daemon);
	loop_timer_stop(daemon->events_timer);
	daemon->events_timer = NULL;
	loop_poll_stop(daemon->kmsg_poll);
	device_kmsg_close(daemon->kmsg);
	daemon->kmsg_poll = NULL;
	daemon->kmsg = NULL;
}
