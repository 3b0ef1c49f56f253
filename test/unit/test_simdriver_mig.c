/* SPDX-License-Identifier: Apache-2.0 */
/* MIG of the simulated driver: its tables beside our own, layouts, and who must not lose what he uses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "model/model.h"
#include "simdriver/kernel.h"
#include "simdriver/mig.h"
#include "test.h"

#define MIB UINT64_C(1048576)

/* A table of the simulated driver, and a card of that model as NVML calls it. */
static const struct {
	const char *table, *card;
} pairs[] = {
	{ "A30", "NVIDIA A30" },
	{ "A100-40", "NVIDIA A100-SXM4-40GB" },
	{ "A100-80", "NVIDIA A100-SXM4-80GB" },
	{ "H100-80", "NVIDIA H100 80GB HBM3" },
	{ "H200", "NVIDIA H200" },
	{ "B200", "NVIDIA B200" },
};

static void compare(const struct mig_gpu_profile *theirs, const struct mig_profile *ours)
{
	assert_int_equal(theirs->slices, ours->compute);
	assert_int_equal(theirs->size, ours->size);
	assert_int_equal(theirs->most, ours->limit);
	assert_int_equal(theirs->memory_mib, ours->memory_mib);
	assert_int_equal(theirs->decoders, ours->decoders);
	assert_int_equal(theirs->ofas, ours->ofa);
	assert_int_equal(theirs->start_count, ours->start_count);
	for (unsigned i = 0; i < ours->start_count; i++)
		assert_int_equal(theirs->starts[i], ours->starts[i]);
}

TEST(both_tables_of_profiles_say_the_same)
{
	unsigned compared = 0;

	assert_int_equal(mig_table_count, ARRAY_SIZE(pairs));
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		const struct mig_table *theirs = mig_table(mig_table_number(pairs[i].table));
		const struct mig_model *ours = mig_model_find(pairs[i].card);

		assert_non_null(theirs);
		assert_non_null(ours);
		assert_int_equal(theirs->slices, ours->compute);
		assert_int_equal(theirs->memory_slices, ours->memory);
		assert_int_equal(theirs->decoders, ours->decoders);
		assert_int_equal(theirs->ofas, ours->ofa);
		assert_int_equal(theirs->profile_count, ours->profile_count);
		for (size_t k = 0; k < theirs->profile_count; k++) {
			const struct mig_profile *profile =
				mig_profile_find(ours, theirs->profiles[k].name);

			assert_non_null(profile);
			compare(&theirs->profiles[k], profile);
			compared++;
		}
	}
	assert_int_equal(compared, 40);
}

/* xorshift (Marsaglia 2003). */
static size_t random_below(uint32_t *seed, size_t limit)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed % limit;
}

/* What fits by the one fits by the other, whatever was put there before. */
TEST(both_agree_where_there_is_room)
{
	unsigned placed = 0, refused = 0;
	uint32_t seed = 1;

	for (unsigned round = 0; round < 600; round++) {
		size_t pair = round % ARRAY_SIZE(pairs);
		const struct mig_table *theirs = mig_table(mig_table_number(pairs[pair].table));
		const struct mig_model *ours = mig_model_find(pairs[pair].card);
		struct sim_mig_layout layout = { .current = 1, .pending = 1 };
		struct mig_use use = { 0 };
		unsigned same[16] = { 0 };

		for (unsigned step = 0; step < 12; step++) {
			size_t which = random_below(&seed, theirs->profile_count);
			const struct mig_gpu_profile *profile = &theirs->profiles[which];
			const struct mig_profile *our = mig_profile_find(ours, profile->name);
			uint32_t start = profile->starts[random_below(&seed, profile->start_count)];
			bool room =
				mig_use_takes(ours, &use, our, start) && same[which] < our->limit;
			uint32_t instance;
			enum sim_status status =
				mig_gpu_create(&layout, theirs, profile->id, start, &instance);

			assert_int_equal(status, room ? SIM_OK : SIM_NO_ROOM);
			if (room) {
				mig_use_add(&use, our, start);
				same[which]++;
				placed++;
			} else {
				refused++;
			}
		}
	}
	print_message("# %u placed, %u refused\n", placed, refused);
	assert_true(placed > 1000 && refused > 1000);
}

/* As a driver numbered them (see mig_layout.c). */
TEST(instances_are_numbered_by_their_place)
{
	static const struct {
		uint32_t profile, start, instance;
	} places[] = {
		{ 0, 0, 0 },  { 9, 4, 1 },   { 9, 0, 2 },   { 5, 0, 2 },   { 14, 4, 3 },
		{ 14, 0, 5 }, { 14, 2, 6 },  { 15, 6, 4 },  { 19, 4, 7 },  { 19, 5, 8 },
		{ 19, 6, 9 }, { 19, 0, 11 }, { 19, 1, 12 }, { 19, 2, 13 }, { 19, 3, 14 },
	};
	const struct mig_table *table = mig_table(mig_table_number("A100-40"));

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct sim_mig_layout layout = { .current = 1 };
		uint32_t instance = 99;

		assert_int_equal(mig_gpu_create(&layout, table, places[i].profile, places[i].start,
						&instance),
				 SIM_OK);
		assert_int_equal(instance, places[i].instance);
	}
}

TEST(layouts_as_text)
{
	const struct mig_table *table = mig_table(mig_table_number("H100-80"));
	static const struct {
		const char *text;
		enum sim_status status;
		unsigned gpus;
	} texts[] = {
		{ "1g.10gb*7", SIM_OK, 7 },
		{ "3g.40gb,2g.20gb,1g.10gb,1g.10gb", SIM_OK, 4 },
		{ "4g.40gb,3g.40gb", SIM_OK, 2 },
		{ "7g.80gb", SIM_OK, 1 },
		{ "1g.10gb+me,1g.10gb*6", SIM_OK, 7 },
		{ "1g.20gb*4", SIM_OK, 4 },
		{ "", SIM_OK, 0 },
		{ "1g.10gb*8", SIM_NO_ROOM, 7 },
		{ "3g.40gb*3", SIM_NO_ROOM, 2 },
		{ "7g.80gb,1g.10gb", SIM_NO_ROOM, 1 },
		{ "1g.10gb+me*2", SIM_NO_ROOM, 1 },
		{ "1g.5gb", SIM_BAD_REQUEST, 0 },
		{ "1g.10gb,", SIM_BAD_REQUEST, 0 },
		{ ",", SIM_BAD_REQUEST, 0 },
		{ "1g.10gb*", SIM_BAD_REQUEST, 0 },
		{ "1g.10gb*0", SIM_BAD_REQUEST, 0 },
		{ "a name that is longer than any profile has", SIM_BAD_REQUEST, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct sim_mig_layout layout = { .current = 1 };

		assert_int_equal(mig_layout_make(&layout, table, "GPU-0", texts[i].text),
				 texts[i].status);
		if (texts[i].status == SIM_BAD_REQUEST)
			continue;
		assert_int_equal(layout.gpu_count, texts[i].gpus);
		if (texts[i].status == SIM_OK)
			assert_int_equal(layout.compute_count, texts[i].gpus);
	}
}

TEST(compute_instances_share_a_gpu_instance)
{
	const struct mig_table *table = mig_table(mig_table_number("A100-80"));
	struct sim_mig_layout layout = { .current = 1 };
	const struct mig_gpu_profile *profile;
	char name[32];
	uint32_t gpu, compute;

	assert_int_equal(mig_gpu_create(&layout, table, 9, MIG_ANYWHERE, &gpu), SIM_OK);
	assert_int_equal(mig_compute_room(&layout, table, gpu, 0), 3);
	assert_int_equal(
		mig_compute_create(&layout, table, "GPU-0", gpu, 0, MIG_ANYWHERE, &compute),
		SIM_OK);
	assert_int_equal(compute, 0);
	assert_int_equal(
		mig_compute_create(&layout, table, "GPU-0", gpu, 1, MIG_ANYWHERE, &compute),
		SIM_OK);
	assert_int_equal(compute, 1);
	assert_string_not_equal(layout.computes[0].uuid, layout.computes[1].uuid);
	assert_int_equal(
		mig_compute_create(&layout, table, "GPU-0", gpu, 0, MIG_ANYWHERE, &compute),
		SIM_NO_ROOM);
	assert_int_equal(
		mig_compute_create(&layout, table, "GPU-0", gpu, 3, MIG_ANYWHERE, &compute),
		SIM_NOT_SUPPORTED);
	assert_int_equal(mig_gpu_destroy(&layout, gpu), SIM_IN_USE);
	assert_int_equal(mig_compute_destroy(&layout, gpu, 0), SIM_OK);
	assert_int_equal(
		mig_compute_create(&layout, table, "GPU-0", gpu, 0, MIG_ANYWHERE, &compute),
		SIM_OK);
	assert_int_equal(compute, 0); /* the lowest number that is free */
	profile = mig_profile_by_id(table, 9);
	mig_device_name(profile, 1, name, sizeof(name));
	assert_string_equal(name, "1c.3g.40gb");
	mig_device_name(profile, 3, name, sizeof(name));
	assert_string_equal(name, "3g.40gb");
	/* Four slices have no part of three. */
	assert_int_equal(mig_compute_slices(mig_profile_by_id(table, 5), 2), 0);
	assert_int_equal(mig_compute_slices(mig_profile_by_id(table, 0), 2), 3);
}

struct world {
	struct kernel kernel;
	struct kernel_client *client, *other, *control;
	struct sim_reply reply;
	unsigned shown;
};

static enum sim_status ask(struct world *world, struct kernel_client *client,
			   struct sim_request request)
{
	request.magic = SIM_MAGIC;
	request.version = SIM_VERSION;
	assert_int_equal(kernel_handle(&world->kernel, client, &request, &world->reply),
			 KERNEL_REPLY);
	return world->reply.status;
}

static void count_shown(struct kernel *kernel, uint32_t position)
{
	(void)position;
	((struct world *)kernel->owner)->shown++;
}

static void world_init(struct world *world, const char *profile)
{
	memset(world, 0, sizeof(*world));
	kernel_init(&world->kernel, profile_find(profile));
	world->kernel.owner = world;
	world->kernel.show = count_shown;
	world->control = kernel_client_begin(&world->kernel, 1, true);
	world->client = kernel_client_begin(&world->kernel, 2, false);
	world->other = kernel_client_begin(&world->kernel, 3, false);
	assert_int_equal(ask(world, world->client, (struct sim_request){ .operation = SIM_HELLO }),
			 SIM_OK);
	assert_int_equal(ask(world, world->other, (struct sim_request){ .operation = SIM_HELLO }),
			 SIM_OK);
}

static enum sim_status set_mode(struct world *world, uint64_t mode)
{
	return ask(world, world->client,
		   (struct sim_request){ .operation = SIM_MIG_MODE, .value = mode });
}

static enum sim_status alloc(struct world *world, struct kernel_client *client, uint32_t instance,
			     uint64_t bytes)
{
	return ask(world, client,
		   (struct sim_request){
			   .operation = SIM_ALLOC, .instance = instance, .bytes = bytes });
}

static enum sim_status make(struct world *world, const char *text)
{
	struct sim_request request = { .operation = SIM_MIG_MAKE };

	(void)snprintf(request.text, sizeof(request.text), "%s", text);
	return ask(world, world->control, request);
}

/* An Ampere card is reset for it, a Hopper card is not. */
TEST(the_mode_waits_for_clients_where_a_reset_is_needed)
{
	struct world world;

	world_init(&world, "a100-80");
	assert_int_equal(
		ask(&world, world.other, (struct sim_request){ .operation = SIM_CARD_STATE }),
		SIM_OK);
	assert_int_equal(set_mode(&world, 1), SIM_IN_USE);
	assert_int_equal(world.reply.layout.current, 0);
	assert_int_equal(world.reply.layout.pending, 1);
	kernel_client_end(&world.kernel, world.other, 0);
	assert_int_equal(set_mode(&world, 1), SIM_OK);
	assert_int_equal(world.reply.layout.current, 1);
	assert_int_equal(world.shown, 1);
	assert_int_equal(set_mode(&world, 2), SIM_BAD_REQUEST);
	kernel_release(&world.kernel);

	world_init(&world, "h100");
	assert_int_equal(
		ask(&world, world.other, (struct sim_request){ .operation = SIM_CARD_STATE }),
		SIM_OK);
	assert_int_equal(set_mode(&world, 1), SIM_OK);
	assert_int_equal(make(&world, "1g.10gb"), SIM_OK);
	assert_int_equal(set_mode(&world, 0), SIM_IN_USE); /* while instances exist */
	kernel_release(&world.kernel);

	world_init(&world, "t4");
	assert_int_equal(set_mode(&world, 1), SIM_NOT_SUPPORTED);
	kernel_release(&world.kernel);
}

TEST(memory_is_of_the_instance_and_a_process_has_one)
{
	const uint32_t first = SIM_INSTANCE(7, 0), second = SIM_INSTANCE(8, 0);
	struct world world;

	world_init(&world, "a100-80");
	assert_int_equal(alloc(&world, world.client, first, MIB), SIM_NO_INSTANCE);
	assert_int_equal(make(&world, "1g.10gb*2"), SIM_OK);
	assert_int_equal(alloc(&world, world.client, 0, MIB),
			 SIM_NO_INSTANCE); /* the card itself */
	assert_int_equal(alloc(&world, world.client, first, 9000 * MIB), SIM_OK);
	assert_int_equal(alloc(&world, world.client, second, MIB), SIM_NO_INSTANCE);
	assert_int_equal(alloc(&world, world.other, first, 1000 * MIB), SIM_NO_MEMORY);
	assert_int_equal(alloc(&world, world.other, second, 1000 * MIB), SIM_OK);
	assert_int_equal(
		ask(&world, world.client,
		    (struct sim_request){ .operation = SIM_CARD_STATE, .instance = second }),
		SIM_OK);
	assert_true(world.reply.state.free_bytes == (9856 - 1000) * MIB);
	assert_int_equal(
		ask(&world, world.client, (struct sim_request){ .operation = SIM_PROCESSES }),
		SIM_OK);
	assert_int_equal(world.reply.processes.total, 2);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(world.reply.processes.processes[i].instance,
				 world.reply.processes.processes[i].pid == 2 ? first : second);
	kernel_client_end(&world.kernel, world.other, 0);
	assert_int_equal(alloc(&world, world.client, first, 900 * MIB), SIM_NO_MEMORY);
	assert_int_equal(alloc(&world, world.client, first, 856 * MIB), SIM_OK);
	kernel_release(&world.kernel);
}

TEST(what_is_used_cannot_be_destroyed)
{
	struct world world;

	world_init(&world, "a100-80");
	assert_int_equal(make(&world, "1g.10gb*2"), SIM_OK);
	assert_int_equal(alloc(&world, world.client, SIM_INSTANCE(7, 0), MIB), SIM_OK);
	assert_int_equal(ask(&world, world.other,
			     (struct sim_request){ .operation = SIM_COMPUTE_DESTROY,
						   .instance = SIM_INSTANCE(7, 0) }),
			 SIM_IN_USE);
	assert_int_equal(make(&world, "off"), SIM_IN_USE);
	assert_int_equal(ask(&world, world.other,
			     (struct sim_request){ .operation = SIM_COMPUTE_DESTROY,
						   .instance = SIM_INSTANCE(8, 0) }),
			 SIM_OK);
	assert_int_equal(ask(&world, world.other,
			     (struct sim_request){ .operation = SIM_GPU_DESTROY,
						   .instance = SIM_INSTANCE_GPU_ONLY(8) }),
			 SIM_OK);
	assert_int_equal(ask(&world, world.other,
			     (struct sim_request){ .operation = SIM_GPU_DESTROY,
						   .instance = SIM_INSTANCE_GPU_ONLY(8) }),
			 SIM_NO_INSTANCE);
	/* The delay of an ended process holds its instance, too. */
	world.kernel.delay_ms = 500;
	kernel_client_end(&world.kernel, world.client, 0);
	assert_int_equal(make(&world, ""), SIM_IN_USE);
	assert_int_equal(kernel_expire(&world.kernel, 1000), -1);
	assert_int_equal(make(&world, ""), SIM_OK);
	kernel_release(&world.kernel);
}

/* Instances do not outlive the module; a client that held memory in one does not upset the books. */
TEST(an_unloaded_module_forgets_instances)
{
	struct world world;

	world_init(&world, "a100-80");
	assert_int_equal(make(&world, "1g.10gb*2"), SIM_OK);
	assert_int_equal(alloc(&world, world.client, SIM_INSTANCE(7, 0), MIB), SIM_OK);
	assert_int_equal(ask(&world, world.control,
			     (struct sim_request){ .operation = SIM_FAULT,
						   .kind = SIM_FAULT_MISSING,
						   .card = SIM_ALL_CARDS }),
			 SIM_OK);
	assert_int_equal(ask(&world, world.control,
			     (struct sim_request){ .operation = SIM_FAULT, .card = SIM_ALL_CARDS }),
			 SIM_OK);
	assert_int_equal(
		ask(&world, world.other, (struct sim_request){ .operation = SIM_MIG_LAYOUT }),
		SIM_OK);
	assert_int_equal(world.reply.layout.current, 1); /* before Hopper the mode stays */
	assert_int_equal(world.reply.layout.gpu_count, 0);
	assert_int_equal(ask(&world, world.other,
			     (struct sim_request){ .operation = SIM_GPU_CREATE,
						   .kind = 19,
						   .value = UINT32_MAX }),
			 SIM_OK);
	kernel_client_end(&world.kernel, world.client, 0);
	assert_true(world.kernel.cards[0].mig.gpus[0].used_bytes == 0);
	kernel_release(&world.kernel);
}

static struct sim_event last_event;
static void keep_event(struct kernel_client *client, const struct sim_event *event)
{
	(void)client;
	last_event = *event;
}

static char last_line[160];
static void keep_line(struct kernel *kernel, const char *line)
{
	(void)kernel;
	(void)snprintf(last_line, sizeof(last_line), "%s", line);
}

TEST(an_xid_can_be_of_an_instance)
{
	struct world world;

	world_init(&world, "a100-80");
	world.kernel.notify = keep_event;
	world.kernel.log = keep_line;
	assert_int_equal(ask(&world, world.other,
			     (struct sim_request){ .operation = SIM_SUBSCRIBE, .value = 1 }),
			 SIM_OK);
	assert_int_equal(ask(&world, world.control,
			     (struct sim_request){ .operation = SIM_FAULT,
						   .kind = SIM_FAULT_XID,
						   .value = 94,
						   .instance = SIM_INSTANCE_GPU_ONLY(5) }),
			 SIM_OK);
	assert_int_equal(last_event.kind, SIM_EVENT_XID);
	assert_int_equal(last_event.value, 94);
	assert_int_equal(last_event.gpu_instance, 5);
	assert_int_equal(last_event.compute_instance, SIM_NO_INSTANCE_ID);
	assert_non_null(strstr(last_line, "NVRM: Xid (PCI:0000:07:00 GPU-I:05): 94, "));
	assert_int_equal(make(&world, "1g.10gb"), SIM_OK);
	assert_int_equal(last_event.kind, SIM_EVENT_MIG);
	kernel_release(&world.kernel);
}
