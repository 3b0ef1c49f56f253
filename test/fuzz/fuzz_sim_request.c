/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of several clients to the simulated kernel module, in any order and with any content. A
 * byte says who acts (the low two bits; 4: with the right magic, 8: its end first), a record
 * follows. Always: a card's memory is what its clients hold, and never more than there is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "simdriver/kernel.h"
#include "simdriver/mig.h"

#define CLIENTS 4 /* the last came by the control socket */

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Instances: what is used is what clients hold there, and never more than there is; none overlap. */
static void check_instances(const struct kernel *kernel, uint32_t position)
{
	const struct sim_mig_layout *layout = &kernel->cards[position].mig;
	const struct mig_table *table = mig_table(kernel->info[position].mig_table);
	uint32_t taken = 0;

	must(layout->gpu_count == 0 || (table != NULL && layout->current));
	for (uint32_t i = 0; i < layout->gpu_count; i++) {
		const struct sim_gpu_instance *gpu = &layout->gpus[i];
		const struct mig_gpu_profile *profile = mig_profile_by_id(table, gpu->profile_id);
		uint32_t bits = ((1u << gpu->size) - 1) << gpu->start;
		uint64_t held = 0;

		for (const struct kernel_client *c = kernel->clients; c != NULL; c = c->next) {
			if (c->card_allocations[position] > 0 &&
			    c->card_instance[position] >> 8 == gpu->id + 1)
				held += c->card_bytes[position];
		}
		must(held == gpu->used_bytes && held <= (uint64_t)profile->memory_mib << 20);
		must((taken & bits) == 0 && bits >> table->memory_slices == 0);
		taken |= bits;
	}
	for (uint32_t i = 0; i < layout->compute_count; i++)
		must(mig_gpu_find(layout, layout->computes[i].gpu_instance) != NULL);
}

static void check(const struct kernel *kernel)
{
	for (uint32_t i = 0; i < kernel->profile->card_count; i++) {
		const struct sim_card_info *info = &kernel->info[i];
		uint64_t held = 0, contexts = 0;

		for (const struct kernel_client *c = kernel->clients; c != NULL; c = c->next) {
			held += c->card_bytes[i];
			contexts += c->card_contexts[i];
		}
		must(held == kernel->cards[i].used_bytes && contexts == kernel->cards[i].contexts);
		must(held <= info->memory_bytes - info->reserved_bytes);
		check_instances(kernel, i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernel_client *clients[CLIENTS] = { NULL };
	struct sim_request request;
	struct sim_reply reply;
	struct kernel kernel;
	int64_t now = 0;

	kernel_init(&kernel, profile_find("mixed"));
	for (; size > sizeof(request); data += 1 + sizeof(request), size -= 1 + sizeof(request)) {
		unsigned who = data[0] % CLIENTS;

		memcpy(&request, data + 1, sizeof(request));
		if ((data[0] & 4) != 0) {
			request.magic = SIM_MAGIC;
			request.version = SIM_VERSION;
			request.text[sizeof(request.text) - 1] = '\0';
		}
		if ((data[0] & 8) != 0 && clients[who] != NULL) {
			kernel_client_end(&kernel, clients[who], now);
			clients[who] = NULL;
		}
		if (clients[who] == NULL)
			clients[who] = kernel_client_begin(&kernel, (pid_t)who + 1, who == 3);
		must(clients[who] != NULL);
		if (kernel_handle(&kernel, clients[who], &request, &reply) == KERNEL_REPLY)
			must(reply.status < SIM_STATUS_COUNT &&
			     reply.operation == request.operation);
		now += 10;
		kernel_expire(&kernel, now);
		check(&kernel);
	}
	kernel_release(&kernel);
	return 0;
}
