/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated kernel module without its socket: who holds what, faults, hostile requests. */
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "simdriver/kernel.h"

#define MIB (UINT64_C(1) << 20)

struct world {
	struct kernel kernel;
	struct kernel_client *client, *control;
	struct sim_reply reply;
};

static enum sim_status ask(struct world *world, struct kernel_client *client,
			   struct sim_request request)
{
	request.magic = SIM_MAGIC;
	request.version = SIM_VERSION;
	if (kernel_handle(&world->kernel, client, &request, &world->reply) == KERNEL_HOLD)
		return SIM_STATUS_COUNT;
	assert_int_equal(world->reply.magic, SIM_MAGIC);
	assert_int_equal(world->reply.operation, request.operation);
	return world->reply.status;
}

static struct kernel_client *greet(struct world *world, pid_t pid)
{
	struct kernel_client *client = kernel_client_begin(&world->kernel, pid, false);

	assert_non_null(client);
	assert_int_equal(ask(world, client, (struct sim_request){ .operation = SIM_HELLO }),
			 SIM_OK);
	return client;
}

static void world_init(struct world *world, const char *profile)
{
	const struct profile *found = profile_find(profile);

	assert_non_null(found);
	memset(world, 0, sizeof(*world));
	kernel_init(&world->kernel, found);
	world->control = kernel_client_begin(&world->kernel, getpid(), true);
	world->client = greet(world, getpid());
}

static enum sim_status alloc(struct world *world, struct kernel_client *client, uint32_t card,
			     enum sim_kind kind, uint64_t bytes)
{
	return ask(world, client,
		   (struct sim_request){
			   .operation = SIM_ALLOC, .card = card, .kind = kind, .bytes = bytes });
}

static enum sim_status fault(struct world *world, enum sim_fault kind, uint32_t card,
			     uint64_t value)
{
	return ask(world, world->control,
		   (struct sim_request){
			   .operation = SIM_FAULT, .card = card, .kind = kind, .value = value });
}

static uint64_t used(struct world *world, uint32_t card)
{
	assert_int_equal(ask(world, world->client,
			     (struct sim_request){ .operation = SIM_CARD_STATE, .card = card }),
			 SIM_OK);
	return world->reply.state.used_bytes;
}

TEST(profiles_are_consistent)
{
	for (size_t p = 0; p < profile_count; p++) {
		const struct profile *profile = &profiles[p];
		struct sim_card_info a, b;

		assert_true(profile->card_count > 0 && profile->card_count <= SIM_CARDS_MAX);
		for (uint32_t i = 0; i < profile->card_count; i++) {
			profile_card_info(profile, i, &a);
			assert_int_equal(strlen(a.uuid), strlen("GPU-") + 36);
			assert_true(a.reserved_bytes < a.memory_bytes);
			assert_true(a.numa < profile->numa_count);
			assert_true(a.minor < SIM_CARDS_MAX);
			profile_card_info(profile, i, &b);
			assert_memory_equal(&a, &b, sizeof(a));
			for (uint32_t k = i + 1; k < profile->card_count; k++) {
				profile_card_info(profile, k, &b);
				assert_string_not_equal(a.uuid, b.uuid);
				assert_string_not_equal(a.serial, b.serial);
				assert_true(a.minor != b.minor);
				assert_true(a.pci.bus < b.pci.bus); /* NVML's order */
				assert_int_equal(a.switches[b.minor], b.switches[a.minor]);
			}
		}
	}
}

TEST(links_of_a_pair_are_mutual)
{
	const struct profile *mixed = profile_find("mixed");
	struct sim_card_info first, second, third;
	unsigned there = 0, back = 0;

	profile_card_info(mixed, 0, &first);
	profile_card_info(mixed, 1, &second);
	profile_card_info(mixed, 2, &third);
	for (unsigned i = 0; i < SIM_LINKS_MAX; i++) {
		there += first.links[i].remote == second.minor;
		back += second.links[i].remote == first.minor;
	}
	assert_int_equal(there, 4);
	assert_int_equal(back, 4);
	assert_int_equal(third.link_count, 0);
}

TEST(memory_belongs_to_its_client)
{
	struct world world;
	struct kernel_client *other;
	uint64_t handle;

	world_init(&world, "a100-80");
	other = greet(&world, 4711);
	assert_int_equal(alloc(&world, world.client, 0, SIM_KIND_MEMORY, 10 * MIB), SIM_OK);
	handle = world.reply.handle;
	assert_int_equal(alloc(&world, other, 0, SIM_KIND_CONTEXT, 5 * MIB), SIM_OK);
	assert_int_equal(used(&world, 0), 15 * MIB);
	assert_int_equal(used(&world, 1), 0);
	/* The other's handle has the same number; mine is not touched by freeing it. */
	assert_int_equal(
		ask(&world, other, (struct sim_request){ .operation = SIM_FREE, .handle = handle }),
		SIM_OK);
	assert_int_equal(used(&world, 0), 10 * MIB);
	assert_int_equal(
		ask(&world, other, (struct sim_request){ .operation = SIM_FREE, .handle = handle }),
		SIM_NO_HANDLE);
	assert_int_equal(alloc(&world, other, 0, SIM_KIND_MEMORY, 7 * MIB), SIM_OK);
	kernel_client_end(&world.kernel, other, 0);
	assert_int_equal(used(&world, 0), 10 * MIB);
	kernel_client_end(&world.kernel, world.client, 0);
	assert_int_equal(world.kernel.cards[0].used_bytes, 0);
	kernel_release(&world.kernel);
}

TEST(a_card_never_gives_more_than_it_has)
{
	struct world world;
	uint64_t room;

	world_init(&world, "t4");
	room = world.kernel.info[2].memory_bytes - world.kernel.info[2].reserved_bytes;
	assert_int_equal(alloc(&world, world.client, 2, SIM_KIND_MEMORY, room + 1), SIM_NO_MEMORY);
	assert_int_equal(alloc(&world, world.client, 2, SIM_KIND_MEMORY, UINT64_MAX),
			 SIM_NO_MEMORY);
	assert_int_equal(alloc(&world, world.client, 2, SIM_KIND_MEMORY, room), SIM_OK);
	assert_int_equal(alloc(&world, world.client, 2, SIM_KIND_MEMORY, 1), SIM_NO_MEMORY);
	assert_int_equal(world.kernel.cards[2].used_bytes, room);
	kernel_release(&world.kernel);
}

TEST(memory_of_the_dead_is_free_after_the_delay)
{
	struct world world;
	struct kernel_client *other;

	world_init(&world, "t4");
	other = greet(&world, 4711);
	assert_int_equal(fault(&world, SIM_FAULT_DELAY, SIM_ALL_CARDS, 50), SIM_OK);
	assert_int_equal(alloc(&world, other, 0, SIM_KIND_MEMORY, MIB), SIM_OK);
	kernel_client_end(&world.kernel, other, 1000);
	assert_int_equal(used(&world, 0), MIB);
	assert_int_equal(kernel_expire(&world.kernel, 1049), 1050);
	assert_int_equal(used(&world, 0), MIB);
	assert_int_equal(kernel_expire(&world.kernel, 1050), -1);
	assert_int_equal(used(&world, 0), 0);
	kernel_release(&world.kernel);
}

TEST(processes_are_told_once_and_in_pieces)
{
	struct world world;
	struct sim_request request = { .operation = SIM_PROCESSES, .card = 1 };
	uint32_t told = 0;

	world_init(&world, "a100-80");
	for (pid_t pid = 1; pid <= 20; pid++) {
		/* No process has these numbers: the name is empty, the rest is told. */
		for (int twice = 0; twice < 2; twice++)
			assert_int_equal(alloc(&world, greet(&world, 0x7F000000 + pid), 1,
					       SIM_KIND_CONTEXT, MIB),
					 SIM_OK);
	}
	do {
		request.value = told;
		assert_int_equal(ask(&world, world.client, request), SIM_OK);
		assert_int_equal(world.reply.processes.total, 20);
		for (uint32_t i = 0; i < world.reply.processes.count; i++) {
			assert_int_equal(world.reply.processes.processes[i].bytes, 2 * MIB);
			assert_int_equal(world.reply.processes.processes[i].contexts, 2);
		}
		told += world.reply.processes.count;
	} while (world.reply.processes.count > 0);
	assert_int_equal(told, 20);
	kernel_release(&world.kernel);
}

TEST(faults)
{
	struct world world;
	struct sim_request look = { .operation = SIM_CARD_STATE, .card = 3 };
	struct sim_request hello = { .operation = SIM_HELLO, .text = "535.183.01" };

	world_init(&world, "a100-80");
	assert_int_equal(fault(&world, SIM_FAULT_LOST, 3, 0), SIM_OK);
	assert_int_equal(ask(&world, world.client, look), SIM_CARD_LOST);
	look.card = 2;
	assert_int_equal(ask(&world, world.client, look), SIM_OK);
	assert_int_equal(fault(&world, SIM_FAULT_HANG, 2, 0), SIM_OK);
	assert_int_equal(ask(&world, world.client, look), SIM_STATUS_COUNT); /* held */
	assert_int_equal(fault(&world, SIM_FAULT_RECOVER, SIM_ALL_CARDS, 0), SIM_OK);
	assert_int_equal(ask(&world, world.client, look), SIM_OK);
	assert_int_equal(fault(&world, SIM_FAULT_FULL, 2, 0), SIM_OK);
	assert_int_equal(alloc(&world, world.client, 2, SIM_KIND_MEMORY, 1), SIM_NO_MEMORY);
	assert_int_equal(fault(&world, SIM_FAULT_HANG, SIM_ALL_CARDS, 0), SIM_OK);
	assert_int_equal(ask(&world, world.client, hello), SIM_STATUS_COUNT);
	assert_int_equal(fault(&world, SIM_FAULT_RECOVER, SIM_ALL_CARDS, 0), SIM_OK);
	assert_int_equal(ask(&world, world.client, hello), SIM_OK);
	assert_int_equal(ask(&world, world.control,
			     (struct sim_request){ .operation = SIM_FAULT,
						   .card = SIM_ALL_CARDS,
						   .kind = SIM_FAULT_MISMATCH,
						   .text = "535.161.08" }),
			 SIM_OK);
	assert_int_equal(ask(&world, world.client, hello), SIM_MISMATCH);
	assert_int_equal(fault(&world, SIM_FAULT_MISSING, SIM_ALL_CARDS, 0), SIM_OK);
	assert_int_equal(ask(&world, world.client, look), SIM_NO_DRIVER);
	kernel_release(&world.kernel);
}

/* What only the control socket may ask, and what nobody may. */
TEST(refused_requests)
{
	static const struct sim_request rows[] = {
		{ .operation = SIM_FAULT, .card = 0, .kind = SIM_FAULT_LOST },
		{ .operation = SIM_SHUTDOWN },
		{ .operation = 0 },
		{ .operation = 9999 },
		{ .operation = SIM_ALLOC, .bytes = 0 },
		{ .operation = SIM_ALLOC, .bytes = 1, .kind = SIM_KIND_COUNT },
	};
	struct world world;
	struct kernel_client *stranger;
	struct sim_request raw = { .operation = SIM_HELLO };

	world_init(&world, "t4");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(ask(&world, world.client, rows[i]), SIM_BAD_REQUEST);
	assert_false(world.kernel.stopping);
	assert_false(world.kernel.cards[0].lost);
	stranger = kernel_client_begin(&world.kernel, 1, false);
	assert_int_equal(alloc(&world, stranger, 0, SIM_KIND_MEMORY, 1), SIM_BAD_REQUEST);
	assert_int_equal(alloc(&world, world.client, 77, SIM_KIND_MEMORY, 1), SIM_NO_CARD);
	assert_int_equal(fault(&world, SIM_FAULT_COUNT, SIM_ALL_CARDS, 0), SIM_BAD_REQUEST);
	assert_int_equal(fault(&world, SIM_FAULT_LOST, 77, 0), SIM_NO_CARD);
	/* Not our magic, and a text without an end. */
	assert_int_equal(kernel_handle(&world.kernel, world.client, &raw, &world.reply),
			 KERNEL_REPLY);
	assert_int_equal(world.reply.status, SIM_BAD_REQUEST);
	raw.magic = SIM_MAGIC;
	raw.version = SIM_VERSION;
	memset(raw.text, 'x', sizeof(raw.text));
	assert_int_equal(kernel_handle(&world.kernel, world.client, &raw, &world.reply),
			 KERNEL_REPLY);
	assert_int_equal(world.reply.status, SIM_BAD_REQUEST);
	kernel_release(&world.kernel);
}

TEST(one_client_has_a_bounded_number_of_allocations)
{
	struct world world;
	uint32_t count = 0;

	world_init(&world, "a100-80");
	while (count <= KERNEL_ALLOCATIONS_MAX &&
	       alloc(&world, world.client, 0, SIM_KIND_MEMORY, 1) == SIM_OK)
		count++;
	assert_int_equal(count, KERNEL_ALLOCATIONS_MAX);
	assert_int_equal(ask(&world, world.client,
			     (struct sim_request){ .operation = SIM_FREE, .handle = 5000 }),
			 SIM_OK);
	assert_int_equal(alloc(&world, world.client, 0, SIM_KIND_MEMORY, 1), SIM_OK);
	assert_int_equal(world.reply.handle, 5000);
	kernel_release(&world.kernel);
}

TEST(without_memory_of_its_own_the_module_refuses)
{
	struct world world;

	world_init(&world, "t4");
	fault_arm(0);
	assert_null(kernel_client_begin(&world.kernel, 1, false));
	assert_true(fault_disarm());
	fault_arm(0);
	assert_int_equal(alloc(&world, world.client, 0, SIM_KIND_MEMORY, MIB), SIM_NO_MEMORY);
	assert_true(fault_disarm());
	assert_int_equal(used(&world, 0), 0);
	assert_int_equal(alloc(&world, world.client, 0, SIM_KIND_MEMORY, MIB), SIM_OK);
	kernel_release(&world.kernel);
}

static unsigned events;
static struct sim_event first_event, last_event;

static void count_event(struct kernel_client *client, const struct sim_event *event)
{
	(void)client;
	if (events++ == 0)
		first_event = *event;
	last_event = *event;
}

TEST(events_reach_subscribers_of_the_card)
{
	struct world world;

	world_init(&world, "mixed");
	world.kernel.notify = count_event;
	assert_int_equal(ask(&world, world.client,
			     (struct sim_request){ .operation = SIM_SUBSCRIBE, .value = 1u << 3 }),
			 SIM_OK);
	events = 0;
	assert_int_equal(fault(&world, SIM_FAULT_XID, 2, 31), SIM_OK);
	assert_int_equal(events, 0);
	assert_int_equal(fault(&world, SIM_FAULT_LOST, 3, 0), SIM_OK);
	assert_int_equal(events, 2);
	assert_int_equal(first_event.card, 3);
	assert_int_equal(first_event.kind, SIM_EVENT_XID);
	assert_int_equal(first_event.value, 79);
	assert_int_equal(last_event.card, 3);
	assert_int_equal(last_event.kind, SIM_EVENT_LOST);
	/* Lost already: nothing new falls off. */
	assert_int_equal(fault(&world, SIM_FAULT_LOST, 3, 0), SIM_OK);
	assert_int_equal(events, 2);
	/* The end of the module is everybody's. */
	assert_int_equal(fault(&world, SIM_FAULT_MISSING, SIM_ALL_CARDS, 0), SIM_OK);
	assert_int_equal(events, 3);
	assert_int_equal(last_event.kind, SIM_EVENT_GONE);
	kernel_release(&world.kernel);
}
