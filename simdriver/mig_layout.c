/* SPDX-License-Identifier: Apache-2.0 */
#include "mig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/nvml_mig.h"

static uint32_t bits(uint32_t start, uint32_t size)
{
	return ((1u << size) - 1) << start;
}

/*
 * The number of the GPU instance at a place: places are a tree of halves, numbered from the whole card down, the
 * upper half first. Source: outputs of `nvidia-smi mig -lgi` on A100 and H100 (7 at 4:1, 11 at 0:1, 14 at 3:1;
 * 3 at 4:2, 6 at 2:2; 1 at 4:4, 2 at 0:4).
 */
static uint32_t instance_at(const struct mig_table *table, uint32_t start, uint32_t size)
{
	uint32_t all = table->memory_slices;

	if (size == all)
		return 0;
	return all / size - 1 + (start + all / 2) % all / size;
}

const struct sim_gpu_instance *mig_gpu_find(const struct sim_mig_layout *layout, uint32_t instance)
{
	for (uint32_t i = 0; i < layout->gpu_count; i++) {
		if (layout->gpus[i].id == instance)
			return &layout->gpus[i];
	}
	return NULL;
}

const struct sim_compute_instance *mig_compute_find(const struct sim_mig_layout *layout,
						    uint32_t gpu_instance, uint32_t instance)
{
	for (uint32_t i = 0; i < layout->compute_count; i++) {
		if (layout->computes[i].gpu_instance == gpu_instance &&
		    layout->computes[i].id == instance)
			return &layout->computes[i];
	}
	return NULL;
}

/* Room on the card for one more there: memory slices, and what is shared out in all. */
static bool has_room(const struct sim_mig_layout *layout, const struct mig_table *table,
		     const struct mig_gpu_profile *profile, uint32_t start)
{
	uint32_t taken = 0, slices = profile->slices, decoders = profile->decoders,
		 ofas = profile->ofas, same = 1;

	for (uint32_t i = 0; i < layout->gpu_count; i++) {
		const struct sim_gpu_instance *gpu = &layout->gpus[i];
		const struct mig_gpu_profile *other = mig_profile_by_id(table, gpu->profile_id);

		taken |= bits(gpu->start, gpu->size);
		slices += other->slices;
		decoders += other->decoders;
		ofas += other->ofas;
		same += other == profile;
	}
	return (taken & bits(start, profile->size)) == 0 && slices <= table->slices &&
	       decoders <= table->decoders && ofas <= table->ofas && same <= profile->most;
}

/* The place with the lowest number that has room. */
static bool choose_start(const struct sim_mig_layout *layout, const struct mig_table *table,
			 const struct mig_gpu_profile *profile, uint32_t wanted, uint32_t *ret)
{
	bool found = false;

	for (uint32_t i = 0; i < profile->start_count; i++) {
		uint32_t start = profile->starts[i];

		if ((wanted != MIG_ANYWHERE && start != wanted) ||
		    !has_room(layout, table, profile, start))
			continue;
		if (!found || instance_at(table, start, profile->size) <
				      instance_at(table, *ret, profile->size))
			*ret = start;
		found = true;
	}
	return found;
}

static bool may_start_at(const struct mig_gpu_profile *profile, uint32_t start)
{
	for (uint32_t i = 0; i < profile->start_count; i++) {
		if (profile->starts[i] == start)
			return true;
	}
	return start == MIG_ANYWHERE;
}

enum sim_status mig_gpu_create(struct sim_mig_layout *layout, const struct mig_table *table,
			       uint32_t profile_id, uint32_t start, uint32_t *ret_instance)
{
	const struct mig_gpu_profile *profile = mig_profile_by_id(table, profile_id);
	struct sim_gpu_instance *gpu = layout->gpus;
	struct sim_gpu_instance made;
	uint32_t place = 0, at = 0;

	if (!layout->current)
		return SIM_NOT_SUPPORTED;
	if (profile == NULL || !may_start_at(profile, start))
		return SIM_BAD_REQUEST;
	if (layout->gpu_count == SIM_GPU_INSTANCES_MAX ||
	    !choose_start(layout, table, profile, start, &place))
		return SIM_NO_ROOM;
	made = (struct sim_gpu_instance){ .id = instance_at(table, place, profile->size),
					  .profile_id = profile_id,
					  .start = place,
					  .size = profile->size };
	/* In the order of their numbers: so MIG devices are counted. */
	while (at < layout->gpu_count && gpu[at].id < made.id)
		at++;
	memmove(&gpu[at + 1], &gpu[at], (layout->gpu_count - at) * sizeof(*gpu));
	gpu[at] = made;
	layout->gpu_count++;
	*ret_instance = made.id;
	return SIM_OK;
}

enum sim_status mig_gpu_destroy(struct sim_mig_layout *layout, uint32_t instance)
{
	const struct sim_gpu_instance *gpu = mig_gpu_find(layout, instance);
	uint32_t at;

	if (gpu == NULL)
		return SIM_NO_INSTANCE;
	for (uint32_t i = 0; i < layout->compute_count; i++) {
		if (layout->computes[i].gpu_instance == instance)
			return SIM_IN_USE;
	}
	at = (uint32_t)(gpu - layout->gpus);
	layout->gpu_count--;
	memmove(&layout->gpus[at], &layout->gpus[at + 1],
		(layout->gpu_count - at) * sizeof(layout->gpus[0]));
	return SIM_OK;
}

/* splitmix64 (Steele, Lea, Flood 2014): spreads a counter over 64 bits. */
static uint64_t spread(uint64_t x)
{
	x += UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

/* As the real ones, of version 5: the same place on the same card has the same name. */
static void make_uuid(const char *card_uuid, const struct sim_gpu_instance *gpu,
		      struct sim_compute_instance *compute)
{
	uint64_t seed = gpu->id << 8 | compute->id, high, low;

	seed ^= (uint64_t)gpu->profile_id << 16 | (uint64_t)compute->size << 32;
	for (const char *c = card_uuid; *c != '\0'; c++)
		seed = spread(seed ^ (unsigned char)*c);
	high = spread(seed);
	low = spread(high);
	snprintf(compute->uuid, sizeof(compute->uuid), "MIG-%08x-%04x-5%03x-%04x-%012llx",
		 (unsigned)(high >> 32), (unsigned)(high >> 16) & 0xFFFFu, (unsigned)high & 0xFFFu,
		 ((unsigned)(low >> 48) & 0x3FFFu) | 0x8000u,
		 (unsigned long long)(low & UINT64_C(0xFFFFFFFFFFFF)));
}

/* What of a GPU instance its compute instances take, and which numbers they have. */
static uint32_t taken_of(const struct sim_mig_layout *layout, uint32_t gpu_instance,
			 uint32_t *ret_numbers)
{
	uint32_t taken = 0;

	*ret_numbers = 0;
	for (uint32_t i = 0; i < layout->compute_count; i++) {
		const struct sim_compute_instance *compute = &layout->computes[i];

		if (compute->gpu_instance != gpu_instance)
			continue;
		taken |= bits(compute->start, compute->size);
		*ret_numbers |= 1u << compute->id;
	}
	return taken;
}

static bool choose_compute_start(uint32_t taken, uint32_t all, uint32_t size, uint32_t wanted,
				 uint32_t *ret)
{
	for (uint32_t start = 0; start + size <= all; start++) {
		if ((wanted == MIG_ANYWHERE || start == wanted) &&
		    (taken & bits(start, size)) == 0) {
			*ret = start;
			return true;
		}
	}
	return false;
}

static void insert_compute(struct sim_mig_layout *layout, const struct sim_compute_instance *made)
{
	struct sim_compute_instance *list = layout->computes;
	uint32_t at = 0;

	while (at < layout->compute_count &&
	       (list[at].gpu_instance < made->gpu_instance ||
		(list[at].gpu_instance == made->gpu_instance && list[at].id < made->id)))
		at++;
	memmove(&list[at + 1], &list[at], (layout->compute_count - at) * sizeof(*list));
	list[at] = *made;
	layout->compute_count++;
}

enum sim_status mig_compute_create(struct sim_mig_layout *layout, const struct mig_table *table,
				   const char *card_uuid, uint32_t gpu_instance,
				   uint32_t compute_profile, uint32_t start, uint32_t *ret_instance)
{
	const struct sim_gpu_instance *gpu = mig_gpu_find(layout, gpu_instance);
	const struct mig_gpu_profile *profile;
	struct sim_compute_instance made = { .gpu_instance = gpu_instance,
					     .profile = compute_profile };
	uint32_t taken, numbers;

	if (gpu == NULL)
		return SIM_NO_INSTANCE;
	profile = mig_profile_by_id(table, gpu->profile_id);
	made.size = mig_compute_slices(profile, compute_profile);
	if (made.size == 0)
		return SIM_NOT_SUPPORTED;
	if (start != MIG_ANYWHERE && start + made.size > profile->slices)
		return SIM_BAD_REQUEST;
	taken = taken_of(layout, gpu_instance, &numbers);
	if (layout->compute_count == SIM_COMPUTE_INSTANCES_MAX ||
	    !choose_compute_start(taken, profile->slices, made.size, start, &made.start))
		return SIM_NO_ROOM;
	while (numbers >> made.id & 1)
		made.id++;
	make_uuid(card_uuid, gpu, &made);
	insert_compute(layout, &made);
	*ret_instance = made.id;
	return SIM_OK;
}

enum sim_status mig_compute_destroy(struct sim_mig_layout *layout, uint32_t gpu_instance,
				    uint32_t instance)
{
	const struct sim_compute_instance *compute =
		mig_compute_find(layout, gpu_instance, instance);
	uint32_t at;

	if (compute == NULL)
		return SIM_NO_INSTANCE;
	at = (uint32_t)(compute - layout->computes);
	layout->compute_count--;
	memmove(&layout->computes[at], &layout->computes[at + 1],
		(layout->compute_count - at) * sizeof(layout->computes[0]));
	return SIM_OK;
}

uint32_t mig_gpu_room(const struct sim_mig_layout *layout, const struct mig_table *table,
		      const struct mig_gpu_profile *profile)
{
	struct sim_mig_layout then = *layout;
	uint32_t count = 0, instance;

	while (mig_gpu_create(&then, table, profile->id, MIG_ANYWHERE, &instance) == SIM_OK)
		count++;
	return count;
}

uint32_t mig_compute_room(const struct sim_mig_layout *layout, const struct mig_table *table,
			  uint32_t gpu_instance, uint32_t compute_profile)
{
	struct sim_mig_layout then = *layout;
	uint32_t count = 0, instance;

	while (mig_compute_create(&then, table, "", gpu_instance, compute_profile, MIG_ANYWHERE,
				  &instance) == SIM_OK)
		count++;
	return count;
}

void mig_device_name(const struct mig_gpu_profile *gpu, uint32_t compute, char *ret, size_t size)
{
	if (compute == gpu->slices)
		snprintf(ret, size, "%s", gpu->name);
	else
		snprintf(ret, size, "%uc.%s", compute, gpu->name);
}

/* The compute profile that is the whole GPU instance. */
static uint32_t whole_profile(const struct mig_gpu_profile *profile)
{
	for (uint32_t i = 0; i < MIG_COMPUTE_PROFILES; i++) {
		if (mig_compute_slices(profile, i) == profile->slices)
			return i;
	}
	return 0;
}

static enum sim_status make_one(struct sim_mig_layout *layout, const struct mig_table *table,
				const char *card_uuid, const char *name)
{
	const struct mig_gpu_profile *profile = mig_profile_by_name(table, name);
	uint32_t gpu, compute;
	enum sim_status status;

	if (profile == NULL)
		return SIM_BAD_REQUEST;
	status = mig_gpu_create(layout, table, profile->id, MIG_ANYWHERE, &gpu);
	if (status != SIM_OK)
		return status;
	return mig_compute_create(layout, table, card_uuid, gpu, whole_profile(profile),
				  MIG_ANYWHERE, &compute);
}

enum sim_status mig_layout_make(struct sim_mig_layout *layout, const struct mig_table *table,
				const char *card_uuid, const char *text)
{
	char name[32];

	while (*text != '\0') {
		size_t length = strcspn(text, ",*");
		unsigned long count = 1;
		char *end = NULL;

		if (length == 0 || length >= sizeof(name))
			return SIM_BAD_REQUEST;
		memcpy(name, text, length);
		name[length] = '\0';
		text += length;
		if (*text == '*') {
			count = strtoul(text + 1, &end, 10);
			if (end == text + 1 || count == 0 || count > 99)
				return SIM_BAD_REQUEST;
			text = end;
		}
		if (*text == ',' && text[1] != '\0')
			text++;
		else if (*text != '\0')
			return SIM_BAD_REQUEST;
		for (unsigned long i = 0; i < count; i++) {
			enum sim_status status = make_one(layout, table, card_uuid, name);

			if (status != SIM_OK)
				return status;
		}
	}
	return SIM_OK;
}
