/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "values.h"

/* NVIDIA's XID catalogue */
#define XID_DOUBLE_BIT_ECC 48
#define XID_FALLEN_OFF_BUS 79
#define HANG_MS_MAX        600000

void kernel_init(struct kernel *kernel, const struct profile *profile)
{
	memset(kernel, 0, sizeof(*kernel));
	kernel->profile = profile;
	profile_driver(profile, &kernel->driver);
	for (uint32_t i = 0; i < profile->card_count; i++)
		profile_card_info(profile, i, &kernel->info[i]);
}

struct kernel_client *kernel_client_begin(struct kernel *kernel, pid_t pid, bool control)
{
	struct kernel_client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return NULL;
	client->pid = pid;
	client->control = control;
	client->next = kernel->clients;
	if (client->next != NULL)
		client->next->previous = client;
	kernel->clients = client;
	return client;
}

static void client_destroy(struct kernel *kernel, struct kernel_client *client)
{
	for (uint32_t i = 0; i < kernel->profile->card_count; i++) {
		kernel->cards[i].used_bytes -= client->card_bytes[i];
		kernel->cards[i].contexts -= client->card_contexts[i];
		kernel_instance_use(kernel, i, client->card_instance[i],
				    -(int64_t)client->card_bytes[i]);
	}
	if (client->previous != NULL)
		client->previous->next = client->next;
	else
		kernel->clients = client->next;
	if (client->next != NULL)
		client->next->previous = client->previous;
	free(client->allocations);
	free(client);
}

void kernel_client_end(struct kernel *kernel, struct kernel_client *client, int64_t now_ms)
{
	client->ended = true;
	client->subscribed = 0;
	client->free_at = now_ms + kernel->delay_ms;
	kernel_expire(kernel, now_ms);
}

/* The end of a hang that was given a time; the time, or -1. */
static int64_t expire_hang(struct kernel *kernel, int64_t now_ms)
{
	if (kernel->hang_ms != 0)
		kernel->hang_until = now_ms + (int64_t)kernel->hang_ms;
	kernel->hang_ms = 0;
	if (kernel->hang_until == 0)
		return -1;
	if (kernel->hang_until > now_ms)
		return kernel->hang_until;
	kernel->hang_until = 0;
	kernel->hung = false;
	for (uint32_t i = 0; i < kernel->profile->card_count; i++)
		kernel->cards[i].hung = false;
	kernel->hang_over = true;
	return -1;
}

int64_t kernel_expire(struct kernel *kernel, int64_t now_ms)
{
	struct kernel_client *client = kernel->clients;
	int64_t next_time = expire_hang(kernel, now_ms);

	while (client != NULL) {
		struct kernel_client *next = client->next;

		if (client->ended && client->free_at <= now_ms)
			client_destroy(kernel, client);
		else if (client->ended && (next_time < 0 || client->free_at < next_time))
			next_time = client->free_at;
		client = next;
	}
	return next_time;
}

void kernel_release(struct kernel *kernel)
{
	while (kernel->clients != NULL)
		client_destroy(kernel, kernel->clients);
}

static int find_position(const struct kernel *kernel, uint32_t minor)
{
	for (uint32_t i = 0; i < kernel->profile->card_count; i++) {
		if (kernel->profile->cards[i].minor == minor)
			return (int)i;
	}
	return -1;
}

static uint64_t free_bytes(const struct kernel *kernel, uint32_t position)
{
	const struct sim_card_info *info = &kernel->info[position];

	return info->memory_bytes - info->reserved_bytes - kernel->cards[position].used_bytes;
}

/* Room for one more allocation of the client; NULL when it has too many or memory is short. */
static struct kernel_allocation *take_slot(struct kernel_client *client)
{
	struct kernel_allocation *grown;
	uint32_t count;

	for (uint32_t i = client->free_slot; i < client->allocation_count; i++) {
		if (client->allocations[i].bytes == 0) {
			client->free_slot = i + 1;
			return &client->allocations[i];
		}
	}
	if (client->allocation_count >= KERNEL_ALLOCATIONS_MAX)
		return NULL;
	count = client->allocation_count == 0 ? 16 : client->allocation_count * 2;
	grown = reallocarray(client->allocations, count, sizeof(*grown));
	if (grown == NULL)
		return NULL;
	memset(grown + client->allocation_count, 0,
	       (count - client->allocation_count) * sizeof(*grown));
	client->allocations = grown;
	client->free_slot = client->allocation_count + 1;
	client->allocation_count = count;
	return &grown[client->free_slot - 1];
}

static enum sim_status handle_alloc(struct kernel *kernel, struct kernel_client *client,
				    uint32_t position, const struct sim_request *request,
				    struct sim_reply *reply)
{
	struct kernel_card *card = &kernel->cards[position];
	struct kernel_allocation *slot;
	uint64_t room = free_bytes(kernel, position);

	if (request->bytes == 0 || request->kind >= SIM_KIND_COUNT)
		return SIM_BAD_REQUEST;
	/* A process has one MIG device of a card. */
	if ((client->card_allocations[position] > 0 &&
	     client->card_instance[position] != request->instance) ||
	    !kernel_instance_room(kernel, position, request->instance, &room))
		return SIM_NO_INSTANCE;
	if (card->full || request->bytes > room)
		return SIM_NO_MEMORY;
	slot = take_slot(client);
	if (slot == NULL)
		return SIM_NO_MEMORY;
	slot->bytes = request->bytes;
	slot->position = position;
	slot->kind = request->kind;
	slot->instance = request->instance;
	client->card_instance[position] = slot->instance;
	kernel_instance_use(kernel, position, slot->instance, (int64_t)slot->bytes);
	card->used_bytes += slot->bytes;
	client->card_bytes[position] += slot->bytes;
	client->card_allocations[position]++;
	if (slot->kind == SIM_KIND_CONTEXT) {
		card->contexts++;
		client->card_contexts[position]++;
	}
	reply->handle = (uint64_t)(slot - client->allocations) + 1;
	return SIM_OK;
}

static enum sim_status handle_free(struct kernel *kernel, struct kernel_client *client,
				   const struct sim_request *request)
{
	struct kernel_allocation *slot;
	uint32_t index;

	if (request->handle == 0 || request->handle > client->allocation_count)
		return SIM_NO_HANDLE;
	index = (uint32_t)request->handle - 1;
	slot = &client->allocations[index];
	if (slot->bytes == 0)
		return SIM_NO_HANDLE;
	kernel->cards[slot->position].used_bytes -= slot->bytes;
	kernel_instance_use(kernel, slot->position, slot->instance, -(int64_t)slot->bytes);
	client->card_bytes[slot->position] -= slot->bytes;
	client->card_allocations[slot->position]--;
	if (slot->kind == SIM_KIND_CONTEXT) {
		kernel->cards[slot->position].contexts--;
		client->card_contexts[slot->position]--;
	}
	slot->bytes = 0;
	if (index < client->free_slot)
		client->free_slot = index;
	return SIM_OK;
}

static bool holds(const struct kernel_client *client, uint32_t position)
{
	return !client->ended && client->card_allocations[position] > 0;
}

/* A process may be several clients; it is told once, where it comes first in the list. */
static bool is_first(const struct kernel *kernel, const struct kernel_client *client,
		     uint32_t position)
{
	const struct kernel_client *c = kernel->clients;

	while (c != client && (c->pid != client->pid || !holds(c, position)))
		c = c->next;
	return c == client;
}

static void list_processes(const struct kernel *kernel, uint32_t position, pid_t asker,
			   uint64_t skip, struct sim_process_list *list)
{
	for (const struct kernel_client *c = kernel->clients; c != NULL; c = c->next) {
		struct sim_process process = { 0 };

		if (!holds(c, position) || !is_first(kernel, c, position) ||
		    !process_translate(c->pid, asker, &process.pid))
			continue;
		if (list->total++ < skip || list->count >= SIM_PROCESSES_CHUNK)
			continue;
		for (const struct kernel_client *o = c; o != NULL; o = o->next) {
			if (o->pid == c->pid && holds(o, position)) {
				process.bytes += o->card_bytes[position];
				process.contexts += o->card_contexts[position];
			}
		}
		process.instance = c->card_instance[position];
		process_name(c->pid, process.name, sizeof(process.name));
		list->processes[list->count++] = process;
	}
}

static void fill_state(const struct kernel *kernel, uint32_t position, struct sim_card_state *state)
{
	const struct kernel_card *card = &kernel->cards[position];

	state->used_bytes = card->used_bytes;
	state->free_bytes = free_bytes(kernel, position);
	values_fill(&kernel->info[position], position, card, state);
}

void kernel_report(struct kernel *kernel, uint32_t position, enum sim_event_kind kind,
		   uint64_t value, uint32_t instance)
{
	struct sim_event event = { .card = kernel->profile->cards[position].minor,
				   .kind = kind,
				   .value = value,
				   .gpu_instance = SIM_NO_INSTANCE_ID,
				   .compute_instance = SIM_NO_INSTANCE_ID };

	if (instance != 0)
		event.gpu_instance = SIM_INSTANCE_GPU(instance);
	if ((instance & 0xFF) != 0)
		event.compute_instance = SIM_INSTANCE_COMPUTE(instance);
	for (struct kernel_client *c = kernel->clients; c != NULL; c = c->next) {
		if ((c->subscribed >> event.card & 1) != 0 && kernel->notify != NULL)
			kernel->notify(c, &event);
	}
}

static void log_xid(struct kernel *kernel, uint32_t position, uint32_t xid, uint32_t instance)
{
	const struct sim_pci *pci = &kernel->info[position].pci;
	char place[32] = "", part[16] = "", line[160];

	if (kernel->log == NULL)
		return;
	if (instance != 0)
		snprintf(place, sizeof(place), " GPU-I:%02u", SIM_INSTANCE_GPU(instance));
	if ((instance & 0xFF) != 0)
		snprintf(part, sizeof(part), " GPU-CI:%02u", SIM_INSTANCE_COMPUTE(instance));
	snprintf(line, sizeof(line),
		 "NVRM: Xid (PCI:%04x:%02x:%02x%s%s): %u, pid='<unknown>', name=<unknown>%s",
		 pci->domain, pci->bus, pci->device, place, part, xid,
		 xid == XID_FALLEN_OFF_BUS ? ", GPU has fallen off the bus." : "");
	kernel->log(kernel, line);
}

static void report_xid(struct kernel *kernel, uint32_t position, uint32_t xid, uint32_t instance)
{
	kernel_report(kernel, position, SIM_EVENT_XID, xid, instance);
	log_xid(kernel, position, xid, instance);
}

static void report_gone(struct kernel *kernel)
{
	const struct sim_event event = { .kind = SIM_EVENT_GONE };

	for (struct kernel_client *c = kernel->clients; c != NULL; c = c->next) {
		if (c->subscribed != 0 && kernel->notify != NULL)
			kernel->notify(c, &event);
	}
}

static void count_error(struct kernel_card *card, enum sim_value value)
{
	uint64_t known = (card->set >> value & 1) != 0 ? card->values[value] : 0;

	(void)values_set(card, value, true, known + 1);
}

static enum sim_status fault_card(struct kernel *kernel, uint32_t position,
				  const struct sim_request *request)
{
	struct kernel_card *card = &kernel->cards[position];

	switch (request->kind) {
	case SIM_FAULT_RECOVER:
		card->lost = card->hung = card->full = false;
		return SIM_OK;
	case SIM_FAULT_LOST:
		if (!card->lost) {
			card->lost = true;
			report_xid(kernel, position, XID_FALLEN_OFF_BUS, 0);
			kernel_report(kernel, position, SIM_EVENT_LOST, 0, 0);
		}
		return SIM_OK;
	case SIM_FAULT_HANG:
		card->hung = true;
		return SIM_OK;
	case SIM_FAULT_ECC:
		count_error(card, SIM_VALUE_ECC_DBE_VOLATILE);
		count_error(card, SIM_VALUE_ECC_DBE_AGGREGATE);
		kernel_report(kernel, position, SIM_EVENT_ECC, 1, request->instance);
		report_xid(kernel, position, XID_DOUBLE_BIT_ECC, request->instance);
		return SIM_OK;
	case SIM_FAULT_FULL:
		card->full = true;
		return SIM_OK;
	case SIM_FAULT_XID:
		report_xid(kernel, position, (uint32_t)request->value, request->instance);
		return SIM_OK;
	default:
		return SIM_BAD_REQUEST;
	}
}

static enum sim_status fault_driver(struct kernel *kernel, const struct sim_request *request)
{
	switch (request->kind) {
	case SIM_FAULT_RECOVER:
		profile_driver(kernel->profile, &kernel->driver);
		kernel->missing = kernel->hung = false;
		kernel->hang_ms = 0;
		kernel->hang_until = 0;
		kernel->delay_ms = 0;
		return SIM_OK;
	case SIM_FAULT_HANG:
		kernel->hung = true;
		return SIM_OK;
	case SIM_FAULT_MISSING:
		if (!kernel->missing) {
			report_gone(kernel);
			kernel_mig_unload(kernel);
		}
		kernel->missing = true;
		return SIM_OK;
	case SIM_FAULT_MISMATCH:
		snprintf(kernel->driver.version, sizeof(kernel->driver.version), "%.*s",
			 (int)sizeof(kernel->driver.version) - 1, request->text);
		return SIM_OK;
	case SIM_FAULT_DELAY:
		if (request->value > 60000)
			return SIM_BAD_REQUEST;
		kernel->delay_ms = (uint32_t)request->value;
		return SIM_OK;
	default:
		return SIM_BAD_REQUEST;
	}
}

static bool set_hang(struct kernel *kernel, uint64_t milliseconds)
{
	if (milliseconds > HANG_MS_MAX)
		return false;
	kernel->hang_ms = milliseconds;
	kernel->hang_until = 0;
	return true;
}

/* What a fault without a card is of: the driver as a whole, all cards, or both. */
static const struct {
	bool driver, cards;
} reaches[SIM_FAULT_COUNT] = {
	[SIM_FAULT_RECOVER] = { true, true },  [SIM_FAULT_LOST] = { false, true },
	[SIM_FAULT_HANG] = { true, false },    [SIM_FAULT_FULL] = { false, true },
	[SIM_FAULT_MISSING] = { true, false }, [SIM_FAULT_MISMATCH] = { true, false },
	[SIM_FAULT_XID] = { false, true },     [SIM_FAULT_DELAY] = { true, false },
	[SIM_FAULT_ECC] = { false, true },
};

static enum sim_status handle_fault(struct kernel *kernel, const struct sim_request *request)
{
	int position = find_position(kernel, request->card);
	enum sim_status status = SIM_OK;

	if (request->kind >= SIM_FAULT_COUNT ||
	    (request->kind == SIM_FAULT_HANG && !set_hang(kernel, request->value)))
		return SIM_BAD_REQUEST;
	if (request->card != SIM_ALL_CARDS)
		return position < 0 ? SIM_NO_CARD : fault_card(kernel, (uint32_t)position, request);
	if (reaches[request->kind].driver)
		status = fault_driver(kernel, request);
	for (uint32_t i = 0; reaches[request->kind].cards && i < kernel->profile->card_count; i++)
		status = status == SIM_OK ? fault_card(kernel, i, request) : status;
	return status;
}

static enum sim_status handle_set(struct kernel *kernel, const struct sim_request *request)
{
	enum sim_status status = SIM_NO_CARD;

	for (uint32_t i = 0; i < kernel->profile->card_count; i++)
		if (request->card == SIM_ALL_CARDS ||
		    request->card == kernel->profile->cards[i].minor)
			status = values_set(&kernel->cards[i], request->kind, request->handle == 0,
					    request->value);
	return status;
}

static enum sim_status handle_hello(struct kernel *kernel, struct kernel_client *client,
				    const struct sim_request *request, struct sim_reply *reply)
{
	if (request->text[0] != '\0' && strcmp(request->text, kernel->driver.version) != 0)
		return SIM_MISMATCH;
	client->greeted = true;
	reply->driver = kernel->driver;
	return SIM_OK;
}

static enum sim_status handle_control(struct kernel *kernel, struct kernel_client *client,
				      const struct sim_request *request, struct sim_reply *reply)
{
	int position = find_position(kernel, request->card);

	switch (request->operation) {
	case SIM_HELLO:
		reply->driver = kernel->driver;
		return SIM_OK;
	case SIM_FAULT:
		return handle_fault(kernel, request);
	case SIM_SET:
		return handle_set(kernel, request);
	case SIM_SHUTDOWN:
		kernel->stopping = true;
		return SIM_OK;
	case SIM_SYNC:
		for (uint32_t i = 0; kernel->show != NULL && i < kernel->profile->card_count; i++)
			kernel->show(kernel, i);
		return SIM_OK;
	case SIM_CARD_INFO:
		if (position < 0)
			return SIM_NO_CARD;
		reply->info = kernel->info[position];
		return SIM_OK;
	case SIM_CARD_STATE:
		if (position < 0)
			return SIM_NO_CARD;
		fill_state(kernel, (uint32_t)position, &reply->state);
		return kernel->cards[position].lost   ? SIM_CARD_LOST
		       : kernel->cards[position].hung ? SIM_TIMEOUT
						      : SIM_OK;
	default:
		return position < 0
			       ? SIM_NO_CARD
			       : kernel_mig(kernel, client, (uint32_t)position, request, reply);
	}
}

static enum sim_status handle_card(struct kernel *kernel, struct kernel_client *client,
				   uint32_t position, const struct sim_request *request,
				   struct sim_reply *reply)
{
	if (request->operation == SIM_CARD_INFO) { /* what it is can be told of a lost card too */
		reply->info = kernel->info[position];
		return SIM_OK;
	}
	if (kernel->cards[position].lost)
		return SIM_CARD_LOST;
	client->touched |= 1u << position;
	switch (request->operation) {
	case SIM_CARD_STATE:
		fill_state(kernel, position, &reply->state);
		return request->instance == 0 ||
				       kernel_instance_room(kernel, position, request->instance,
							    &reply->state.free_bytes)
			       ? SIM_OK
			       : SIM_NO_INSTANCE;
	case SIM_ALLOC:
		return handle_alloc(kernel, client, position, request, reply);
	case SIM_PROCESSES:
		list_processes(kernel, position, client->pid, request->value, &reply->processes);
		return SIM_OK;
	default:
		return kernel_mig(kernel, client, position, request, reply);
	}
}

static void subscribe(struct kernel *kernel, struct kernel_client *client, uint64_t minors)
{
	client->subscribed = minors;
	for (uint32_t i = 0; i < kernel->profile->card_count; i++) {
		if ((minors >> kernel->profile->cards[i].minor & 1) != 0)
			client->touched |= 1u << i;
	}
}

static enum sim_status handle_client(struct kernel *kernel, struct kernel_client *client,
				     const struct sim_request *request, struct sim_reply *reply)
{
	int position;

	if (kernel->missing)
		return SIM_NO_DRIVER;
	if (request->operation == SIM_HELLO)
		return handle_hello(kernel, client, request, reply);
	if (!client->greeted)
		return SIM_BAD_REQUEST;
	if (request->operation == SIM_FREE)
		return handle_free(kernel, client, request);
	if (request->operation == SIM_SUBSCRIBE) {
		subscribe(kernel, client, request->value);
		return SIM_OK;
	}
	position = find_position(kernel, request->card);
	if (position < 0)
		return SIM_NO_CARD;
	return handle_card(kernel, client, (uint32_t)position, request, reply);
}

/* A hung card stops what would touch it; what it is stays known, as the real driver caches it. */
static bool is_hung(const struct kernel *kernel, const struct kernel_client *client,
		    const struct sim_request *request)
{
	int position = find_position(kernel, request->card);

	if (client->control || kernel->missing)
		return false;
	if (kernel->hung)
		return true;
	if (request->operation == SIM_FREE && request->handle > 0 &&
	    request->handle <= client->allocation_count)
		position = (int)client->allocations[request->handle - 1].position;
	else if (request->operation != SIM_CARD_STATE && request->operation != SIM_ALLOC &&
		 request->operation != SIM_PROCESSES && request->operation < SIM_MIG_LAYOUT)
		return false;
	return position >= 0 && kernel->cards[position].hung && !kernel->cards[position].lost;
}

enum kernel_verdict kernel_handle(struct kernel *kernel, struct kernel_client *client,
				  const struct sim_request *request, struct sim_reply *reply)
{
	enum sim_status status = SIM_BAD_REQUEST;

	memset(reply, 0, sizeof(*reply));
	if (request->magic == SIM_MAGIC && request->version == SIM_VERSION &&
	    memchr(request->text, '\0', sizeof(request->text)) != NULL) {
		if (is_hung(kernel, client, request))
			return KERNEL_HOLD;
		status = client->control ? handle_control(kernel, client, request, reply)
					 : handle_client(kernel, client, request, reply);
	}
	reply->magic = SIM_MAGIC;
	reply->version = SIM_VERSION;
	reply->operation = request->operation;
	reply->status = status;
	return KERNEL_REPLY;
}
