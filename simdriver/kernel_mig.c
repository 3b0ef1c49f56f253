/* SPDX-License-Identifier: Apache-2.0 */
/* MIG in the simulated module: the layout of each card, and who must not lose what he uses. */
#include <string.h>

#include "kernel.h"
#include "mig.h"

static bool uses(const struct kernel_client *client, uint32_t position, uint32_t instance)
{
	uint32_t held = client->card_instance[position];

	if (client->card_allocations[position] == 0)
		return false;
	return instance == 0 || held == instance ||
	       ((instance & 0xFF) == 0 && held >> 8 == instance >> 8);
}

/* INSTANCE as in SIM_INSTANCE(), or 0: anything of the card. */
static bool in_use(const struct kernel *kernel, uint32_t position, uint32_t instance)
{
	for (const struct kernel_client *c = kernel->clients; c != NULL; c = c->next) {
		if (uses(c, position, instance))
			return true;
	}
	return false;
}

/* A reset waits for everybody who has the card open; the one who asks closes it himself. */
static bool others_hold(const struct kernel *kernel, const struct kernel_client *asker,
			uint32_t position)
{
	for (const struct kernel_client *c = kernel->clients; c != NULL; c = c->next) {
		if (!c->ended && !c->control && c->pid != asker->pid &&
		    (c->touched >> position & 1) != 0)
			return true;
	}
	return false;
}

static void changed(struct kernel *kernel, uint32_t position)
{
	if (kernel->show != NULL)
		kernel->show(kernel, position);
	kernel_report(kernel, position, SIM_EVENT_MIG, 0, 0);
}

static enum sim_status set_mode(struct kernel *kernel, const struct kernel_client *client,
				uint32_t position, uint64_t mode)
{
	struct sim_mig_layout *layout = &kernel->cards[position].mig;
	bool resets = kernel->profile->cards[position].model->mig_resets;

	if (mode > 1)
		return SIM_BAD_REQUEST;
	layout->pending = (uint32_t)mode;
	if (layout->current == layout->pending)
		return SIM_OK;
	if (layout->gpu_count > 0 || in_use(kernel, position, 0) ||
	    (resets && others_hold(kernel, client, position)))
		return SIM_IN_USE;
	layout->current = layout->pending;
	changed(kernel, position);
	return SIM_OK;
}

/* The administrator's hand: what is used stays, what is not goes. */
static enum sim_status make_layout(struct kernel *kernel, uint32_t position, const char *text)
{
	struct sim_mig_layout *layout = &kernel->cards[position].mig, then = { 0 };
	const struct sim_card_info *info = &kernel->info[position];
	enum sim_status status;

	if (in_use(kernel, position, 0))
		return SIM_IN_USE;
	then.current = then.pending = text[0] != '\0';
	if (text[0] != '\0' && strcmp(text, "empty") != 0) {
		status = mig_layout_make(&then, mig_table(info->mig_table), info->uuid, text);
		if (status != SIM_OK)
			return status;
	}
	*layout = then;
	changed(kernel, position);
	return SIM_OK;
}

static enum sim_status create_gpu(struct kernel *kernel, uint32_t position,
				  const struct sim_request *request, struct sim_reply *reply)
{
	uint32_t start = request->value > 255 ? MIG_ANYWHERE : (uint32_t)request->value, made = 0;
	enum sim_status status = mig_gpu_create(&kernel->cards[position].mig,
						mig_table(kernel->info[position].mig_table),
						request->kind, start, &made);

	reply->handle = made;
	return status;
}

static enum sim_status create_compute(struct kernel *kernel, uint32_t position,
				      const struct sim_request *request, struct sim_reply *reply)
{
	uint32_t start = request->value > 255 ? MIG_ANYWHERE : (uint32_t)request->value, made = 0;
	const struct sim_card_info *info = &kernel->info[position];
	enum sim_status status = mig_compute_create(
		&kernel->cards[position].mig, mig_table(info->mig_table), info->uuid,
		SIM_INSTANCE_GPU(request->instance), request->kind, start, &made);

	reply->handle = made;
	return status;
}

static enum sim_status destroy(struct kernel *kernel, uint32_t position,
			       const struct sim_request *request)
{
	struct sim_mig_layout *layout = &kernel->cards[position].mig;
	uint32_t gpu = SIM_INSTANCE_GPU(request->instance);

	if (request->instance == 0)
		return SIM_BAD_REQUEST;
	if (in_use(kernel, position, request->instance))
		return SIM_IN_USE;
	if (request->operation == SIM_GPU_DESTROY)
		return mig_gpu_destroy(layout, gpu);
	return mig_compute_destroy(layout, gpu, SIM_INSTANCE_COMPUTE(request->instance));
}

enum sim_status kernel_mig(struct kernel *kernel, struct kernel_client *client, uint32_t position,
			   const struct sim_request *request, struct sim_reply *reply)
{
	enum sim_status status;

	if (request->operation != SIM_MIG_MAKE &&
	    (request->operation < SIM_MIG_LAYOUT || request->operation > SIM_COMPUTE_DESTROY))
		return SIM_BAD_REQUEST;
	if (kernel->info[position].mig_table == 0)
		return SIM_NOT_SUPPORTED;
	switch (request->operation) {
	case SIM_MIG_LAYOUT:
		reply->layout = kernel->cards[position].mig;
		return SIM_OK;
	case SIM_MIG_MODE:
		status = set_mode(kernel, client, position, request->value);
		reply->layout = kernel->cards[position].mig;
		return status;
	case SIM_MIG_MAKE:
		return client->control ? make_layout(kernel, position, request->text)
				       : SIM_BAD_REQUEST;
	case SIM_GPU_CREATE:
		status = create_gpu(kernel, position, request, reply);
		break;
	case SIM_COMPUTE_CREATE:
		status = create_compute(kernel, position, request, reply);
		break;
	case SIM_GPU_DESTROY:
	case SIM_COMPUTE_DESTROY:
		status = destroy(kernel, position, request);
		break;
	default:
		return SIM_BAD_REQUEST;
	}
	if (status == SIM_OK)
		changed(kernel, position);
	return status;
}

bool kernel_instance_room(const struct kernel *kernel, uint32_t position, uint32_t instance,
			  uint64_t *ret_free)
{
	const struct sim_mig_layout *layout = &kernel->cards[position].mig;
	const struct sim_gpu_instance *gpu;
	const struct mig_gpu_profile *profile;
	uint64_t left;

	if (instance == 0)
		return !layout->current; /* a card in MIG mode has no room but in its instances */
	if (mig_compute_find(layout, SIM_INSTANCE_GPU(instance), SIM_INSTANCE_COMPUTE(instance)) ==
	    NULL)
		return false;
	gpu = mig_gpu_find(layout, SIM_INSTANCE_GPU(instance));
	profile = mig_profile_by_id(mig_table(kernel->info[position].mig_table), gpu->profile_id);
	left = ((uint64_t)profile->memory_mib << 20) - gpu->used_bytes;
	if (left < *ret_free) /* the largest instance is as large as the card, which keeps some */
		*ret_free = left;
	return true;
}

void kernel_instance_use(struct kernel *kernel, uint32_t position, uint32_t instance, int64_t bytes)
{
	struct sim_mig_layout *layout = &kernel->cards[position].mig;

	for (uint32_t i = 0; instance != 0 && i < layout->gpu_count; i++) {
		if (layout->gpus[i].id == SIM_INSTANCE_GPU(instance))
			layout->gpus[i].used_bytes += (uint64_t)bytes;
	}
}

void kernel_mig_unload(struct kernel *kernel)
{
	/* Whoever held memory in an instance holds it of the card: the real module waits for him. */
	for (struct kernel_client *c = kernel->clients; c != NULL; c = c->next) {
		memset(c->card_instance, 0, sizeof(c->card_instance));
		for (uint32_t i = 0; i < c->allocation_count; i++)
			c->allocations[i].instance = 0;
	}
	for (uint32_t i = 0; i < kernel->profile->card_count; i++) {
		struct sim_mig_layout *layout = &kernel->cards[i].mig;
		uint32_t mode = kernel->profile->cards[i].model->mig_resets ? layout->pending : 0;

		*layout = (struct sim_mig_layout){ .current = mode, .pending = mode };
	}
}
