/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events. NVML's wait holds its thread for good while the driver hangs, hence a process of its own,
 * that can be killed at any moment and keeps nothing.
 */
#include "driver.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* Of one call; its end shows that the other end is closed when nothing else does. */
#define WAIT_MS 5000u

#define WANTED_EVENTS \
	(nvmlEventTypeXidCriticalError | nvmlEventTypeDoubleBitEccError | nvmlEventMigConfigChange)

struct watched {
	struct nvmlDevice_st *device; /* NULL: not watched */
	char uuid[RECORD_TEXT_MAX];
	char bus_id[RECORD_BUS_ID_MAX];
};

struct watch {
	struct driver *driver;
	int fd;
	uint32_t dropped;
	bool closed; /* nobody reads any more */
	struct nvmlEventSet_st *set;
	struct watched cards[RECORD_CARDS_MAX];
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A reader that is too slow loses events and is told how many: waiting for it would hide later ones. */
static void send_record(struct watch *watch, struct record_event *event)
{
	event->magic = RECORD_MAGIC;
	event->version = RECORD_VERSION;
	event->dropped = watch->dropped;
	event->time_ms = now_ms();
	if (send(watch->fd, event, sizeof(*event), MSG_NOSIGNAL | MSG_DONTWAIT) ==
	    (ssize_t)sizeof(*event))
		watch->dropped = 0;
	else if (errno == EAGAIN || errno == ENOBUFS)
		watch->dropped++;
	else
		watch->closed = true;
}

static struct record_event new_record(const struct watch *watch, enum record_event_kind kind,
				      const struct watched *card)
{
	struct record_event event = { .kind = kind,
				      .index = RECORD_INDEX_NONE,
				      .gpu_instance = RECORD_INSTANCE_NONE,
				      .compute_instance = RECORD_INSTANCE_NONE };

	if (card) {
		event.index = (uint32_t)(card - watch->cards);
		memcpy(event.uuid, card->uuid, sizeof(event.uuid));
		memcpy(event.bus_id, card->bus_id, sizeof(event.bus_id));
	}
	return event;
}

static void send_text(struct watch *watch, enum record_event_kind kind, const struct watched *card,
		      const char *text, enum nvml_return code)
{
	struct record_event event = new_record(watch, kind, card);

	event.nvml = (int32_t)code;
	(void)snprintf(event.message, sizeof(event.message), "%.*s", (int)sizeof(event.message) - 1,
		       text);
	send_record(watch, &event);
}

static int send_end(struct watch *watch, const char *text, enum nvml_return code)
{
	send_text(watch, RECORD_EVENT_END, NULL, text, code);
	return code == NVML_SUCCESS ? 0 : 1;
}

static void send_count(struct watch *watch)
{
	struct record_event event = new_record(watch, RECORD_EVENT_READY, NULL);

	for (unsigned i = 0; i < watch->driver->count; i++)
		event.count += watch->cards[i].device != NULL;
	send_record(watch, &event);
}

/* The same questions that a helper of the other kind answers; what comes of them is kept. */
static bool ask(struct watch *watch, enum record_kind kind, unsigned index,
		struct record_answer *answer)
{
	const struct record_request request = { .kind = kind, .index = index };

	memset(answer, 0, sizeof(*answer));
	driver_answer(watch->driver, &request, answer);
	return answer->status == RECORD_OK;
}

/* Puts the card into the set, as far as it can be watched. */
static enum nvml_return card_register(struct watch *watch, const struct watched *card)
{
	const struct nvml_api *api = &watch->driver->api;
	unsigned long long types = nvmlEventTypeXidCriticalError;

	if (api->nvmlDeviceGetSupportedEventTypes) {
		enum nvml_return code = api->nvmlDeviceGetSupportedEventTypes(card->device, &types);

		if (code != NVML_SUCCESS)
			return code;
	}
	types &= WANTED_EVENTS;
	if (!(types & nvmlEventTypeXidCriticalError))
		return NVML_ERROR_NOT_SUPPORTED;
	return api->nvmlDeviceRegisterEvents(card->device, types, watch->set);
}

static void card_leave(struct watch *watch, struct watched *card, enum nvml_return code)
{
	card->device = NULL;
	send_text(watch,
		  code == NVML_ERROR_GPU_IS_LOST ? RECORD_EVENT_LOST : RECORD_EVENT_UNWATCHED, card,
		  watch->driver->api.nvmlErrorString(code), code);
}

/* A set of the cards that are still watched. */
static enum nvml_return set_make(struct watch *watch)
{
	const struct nvml_api *api = &watch->driver->api;
	enum nvml_return code;

	if (watch->set)
		(void)api->nvmlEventSetFree(watch->set);
	watch->set = NULL;
	code = api->nvmlEventSetCreate(&watch->set);
	if (code != NVML_SUCCESS)
		return code;
	for (unsigned i = 0; i < watch->driver->count; i++) {
		struct watched *card = &watch->cards[i];

		if (!card->device)
			continue;
		code = card_register(watch, card);
		if (code != NVML_SUCCESS)
			card_leave(watch, card, code);
	}
	return NVML_SUCCESS;
}

static void cards_find(struct watch *watch, uint64_t skip)
{
	struct record_answer answer;

	for (unsigned i = 0; i < watch->driver->count; i++) {
		struct watched *card = &watch->cards[i];
		bool well;

		if (skip >> i & 1)
			continue;
		well = ask(watch, RECORD_CARD, i, &answer);
		memcpy(card->uuid, answer.card.uuid, sizeof(card->uuid));
		memcpy(card->bus_id, answer.card.bus_id, sizeof(card->bus_id) - 1);
		if (well)
			card->device = watch->driver->handles[i];
		else
			card_leave(watch, card, (enum nvml_return)answer.nvml);
	}
}

static const struct watched *card_of(const struct watch *watch, struct nvmlDevice_st *device)
{
	char uuid[RECORD_TEXT_MAX] = "";

	for (unsigned i = 0; i < watch->driver->count; i++)
		if (watch->cards[i].device == device)
			return &watch->cards[i];
	if (watch->driver->api.nvmlDeviceGetUUID(device, uuid, sizeof(uuid)) != NVML_SUCCESS)
		return NULL;
	for (unsigned i = 0; i < watch->driver->count; i++)
		if (uuid[0] && strcmp(watch->cards[i].uuid, uuid) == 0)
			return &watch->cards[i];
	return NULL;
}

static void tell(struct watch *watch, const struct nvml_event_data *data)
{
	struct record_event event =
		new_record(watch, RECORD_EVENT_XID, card_of(watch, data->device));

	if (data->eventType == nvmlEventTypeDoubleBitEccError)
		event.kind = RECORD_EVENT_ECC;
	else if (data->eventType == nvmlEventMigConfigChange)
		event.kind = RECORD_EVENT_MIG;
	else if (data->eventType != nvmlEventTypeXidCriticalError)
		return;
	event.data = data->eventData;
	event.gpu_instance = data->gpuInstanceId;
	event.compute_instance = data->computeInstanceId;
	send_record(watch, &event);
}

/*
 * The wait does not say which card is lost, and says it again at once for as long as that card is in
 * the set. False when no card says so itself.
 */
static bool drop_lost(struct watch *watch)
{
	const struct nvml_api *api = &watch->driver->api;
	struct nvml_memory memory;
	bool any = false;

	for (unsigned i = 0; i < watch->driver->count; i++) {
		struct watched *card = &watch->cards[i];

		if (!card->device ||
		    api->nvmlDeviceGetMemoryInfo(card->device, &memory) != NVML_ERROR_GPU_IS_LOST)
			continue;
		card_leave(watch, card, NVML_ERROR_GPU_IS_LOST);
		any = true;
	}
	return any;
}

/* False at the end of the other end: it says nothing, so what can be read is that end. */
static bool is_wanted(const struct watch *watch)
{
	char byte;

	return !watch->closed && recv(watch->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 &&
	       (errno == EAGAIN || errno == EINTR);
}

static int watch_run(struct watch *watch)
{
	const struct nvml_api *api = &watch->driver->api;

	while (is_wanted(watch)) {
		struct nvml_event_data data = { .gpuInstanceId = RECORD_INSTANCE_NONE,
						.computeInstanceId = RECORD_INSTANCE_NONE };
		enum nvml_return code = api->nvmlEventSetWait_v2(watch->set, &data, WAIT_MS);

		if (code == NVML_SUCCESS)
			tell(watch, &data);
		if (code == NVML_SUCCESS || code == NVML_ERROR_TIMEOUT)
			continue;
		if (code == NVML_ERROR_GPU_IS_LOST && drop_lost(watch))
			code = set_make(watch);
		if (code != NVML_SUCCESS)
			return send_end(watch, api->nvmlErrorString(code), code);
	}
	return 0;
}

int driver_watch(struct driver *driver, int fd, uint64_t skip)
{
	struct watch watch = { .driver = driver, .fd = fd };
	const struct nvml_api *api = &driver->api;
	struct record_answer answer;
	enum nvml_return code;

	if (!ask(&watch, RECORD_DRIVER, 0, &answer) || !ask(&watch, RECORD_COUNT, 0, &answer))
		return send_end(&watch, answer.message,
				answer.nvml ? (enum nvml_return)answer.nvml : NVML_ERROR_UNKNOWN);
	if (!api->nvmlEventSetCreate || !api->nvmlEventSetFree || !api->nvmlEventSetWait_v2 ||
	    !api->nvmlDeviceRegisterEvents)
		return send_end(&watch, "this driver's library has no events",
				NVML_ERROR_FUNCTION_NOT_FOUND);
	cards_find(&watch, skip);
	code = set_make(&watch);
	if (code != NVML_SUCCESS)
		return send_end(&watch, api->nvmlErrorString(code), code);
	send_count(&watch);
	return watch_run(&watch);
}
