/* SPDX-License-Identifier: Apache-2.0 */
#include "device/events.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "device/device.h"
#include "device/events_record.h"
#include "device/nvml/helper.h"
#include "device/nvml/library.h"
#include "device/root.h"
#include "device/sysfs/sysfs.h"

struct device_events {
	struct helper helper;
	bool ended;
	bool has_held;
	struct device_event held;
};

static const enum device_event_kind kinds[RECORD_EVENT_MAX] = {
	[RECORD_EVENT_READY] = DEVICE_EVENT_READY,
	[RECORD_EVENT_XID] = DEVICE_EVENT_XID,
	[RECORD_EVENT_ECC] = DEVICE_EVENT_ECC,
	[RECORD_EVENT_MIG] = DEVICE_EVENT_MIG,
	[RECORD_EVENT_LOST] = DEVICE_EVENT_LOST,
	[RECORD_EVENT_UNWATCHED] = DEVICE_EVENT_UNWATCHED,
	[RECORD_EVENT_END] = DEVICE_EVENT_END,
};

static int find_library(const char *driver_root, char **ret, struct error *error)
{
	autofree char *version = NULL;
	char root[sizeof(((struct inventory *)0)->driver_root)];
	int r = device_find_driver_root(driver_root, root, sizeof(root), error);

	return r < 0 ? r : library_find(root, NVML_LIBRARY, ret, &version, error);
}

int device_events_start(const struct device_events_options *options, struct device_events **ret,
			struct error *error)
{
	autofree struct device_events *events = calloc(1, sizeof(*events));
	autofree char *library = NULL, *program = NULL;
	char skip[24];

	if (!events)
		return error_no_memory(error);
	int r = find_library(options->driver_root, &library, error);
	if (r == 0)
		r = helper_find(options->helper, &program, error);
	if (r < 0)
		return r;
	(void)snprintf(skip, sizeof(skip), "%llu", (unsigned long long)options->skip);
	const char *arguments[] = { "--library", library, "--events", "--skip", skip, NULL };
	events->helper = (struct helper)HELPER_INIT;
	r = helper_start(&events->helper, program, arguments, error);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(events);
	return 0;
}

int device_events_fd(const struct device_events *events)
{
	return events->helper.socket;
}

void device_event_text(char ret[static CARD_TEXT_MAX], const char *text, size_t size)
{
	size_t length = strnlen(text, size), kept = 0;

	for (size_t i = 0; i < length && kept + 1 < CARD_TEXT_MAX; i++)
		ret[kept++] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	ret[kept] = '\0';
}

void device_event_init(struct device_event *event, enum device_event_kind kind)
{
	memset(event, 0, sizeof(*event));
	event->kind = kind;
	event->index = CARD_INDEX_NONE;
	event->gpu_instance = event->compute_instance = DEVICE_INSTANCE_NONE;
}

int events_take(const struct record_event *record, size_t length, struct device_event *ret)
{
	char bus_id[sizeof(record->bus_id)];

	if (length != sizeof(*record) || record->magic != RECORD_MAGIC ||
	    record->version != RECORD_VERSION || record->kind == 0 ||
	    record->kind >= RECORD_EVENT_MAX)
		return -EPROTO;
	device_event_init(ret, kinds[record->kind]);
	if (memchr(record->uuid, '\0', sizeof(record->uuid)) && card_uuid_is_valid(record->uuid))
		memcpy(ret->uuid, record->uuid, strlen(record->uuid) + 1);
	memcpy(bus_id, record->bus_id, sizeof(bus_id));
	bus_id[sizeof(bus_id) - 1] = '\0';
	if (bus_id_normalise(bus_id, ret->bus_id) < 0)
		ret->bus_id[0] = '\0';
	if (record->index < RECORD_CARDS_MAX)
		ret->index = record->index;
	ret->gpu_instance = record->gpu_instance;
	ret->compute_instance = record->compute_instance;
	ret->data = record->data;
	ret->count = record->count;
	ret->time_ms = record->time_ms;
	device_event_text(ret->text, record->message, sizeof(record->message));
	return 0;
}

/* The child is gone, or says what it must not: nothing more is believed. */
static int events_end(struct device_events *events, const char *text, struct device_event *ret)
{
	events->ended = true;
	device_event_init(ret, DEVICE_EVENT_END);
	reason_text(ret->text, sizeof(ret->text), "%s %s", NAME_NVML_HELPER, text);
	return 1;
}

/* Losses are told before the event that came after them. */
static int events_give(struct device_events *events, unsigned dropped, struct device_event *ret)
{
	if (!dropped)
		return 1;
	events->held = *ret;
	events->has_held = true;
	device_event_init(ret, DEVICE_EVENT_MISSED);
	ret->count = dropped;
	ret->time_ms = events->held.time_ms;
	return 1;
}

int device_events_next(struct device_events *events, struct device_event *ret)
{
	struct record_event record;
	ssize_t length;

	if (events->has_held) {
		*ret = events->held;
		events->has_held = false;
		return 1;
	}
	if (events->ended)
		return 0;
	do {
		length = recv(events->helper.socket, &record, sizeof(record),
			      MSG_DONTWAIT | MSG_TRUNC);
	} while (length < 0 && errno == EINTR);
	if (length < 0 && errno == EAGAIN)
		return 0;
	if (length <= 0)
		return events_end(events, "ended", ret);
	if (events_take(&record, (size_t)length, ret) < 0)
		return events_end(events, "said something else; is it of this version?", ret);
	events->ended = ret->kind == DEVICE_EVENT_END;
	return events_give(events, record.dropped, ret);
}

bool device_child_reap(pid_t pid)
{
	int status;
	pid_t r;

	do {
		r = waitpid(pid, &status, WNOHANG);
	} while (r < 0 && errno == EINTR);
	return r != 0;
}

pid_t device_events_stop(struct device_events *events)
{
	pid_t pid;

	if (!events)
		return 0;
	pid = events->helper.pid;
	(void)kill(pid, SIGKILL);
	close(events->helper.socket);
	if (events->helper.pidfd >= 0)
		close(events->helper.pidfd);
	free(events);
	return device_child_reap(pid) ? 0 : pid;
}
