/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random histories of kubelet, socket, streams, lists and Pods: never two streams of one plugin, never one ID in two
 * hands, and whatever happened, a kubelet that runs has the whole list in the end.
 */
#include "plugin_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS_A_SCALE 160
#define SCALE_MAX     30 /* two minutes: a step waits for real sockets */

enum step {
	STEP_KILL,
	STEP_START,
	STEP_RESTART,
	STEP_REMOVE_SOCKET,
	STEP_DISCONNECT,
	STEP_LIST,
	STEP_RESEND,
	STEP_ADD_POD,
	STEP_END_POD,
	STEP_OLD_CLIENTS,
	STEP_SLOW,
	STEP_WAIT,
	STEP_MAX
};

/* How often each comes: Pods more than anything that keeps them away. */
static const unsigned char weights[STEP_MAX] = {
	[STEP_KILL] = 1,       [STEP_START] = 4,       [STEP_RESTART] = 1, [STEP_REMOVE_SOCKET] = 1,
	[STEP_DISCONNECT] = 1, [STEP_LIST] = 3,        [STEP_RESEND] = 1,  [STEP_ADD_POD] = 8,
	[STEP_END_POD] = 4,    [STEP_OLD_CLIENTS] = 2, [STEP_SLOW] = 1,    [STEP_WAIT] = 4,
};

struct history {
	struct world world;
	uint32_t random;
	unsigned pods, counts[STEP_MAX], listed, running;
	size_t devices;
};

static uint32_t draw(struct history *history, uint32_t below)
{
	history->random = history->random * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(history->random >> 8) * below >> 24);
}

static enum step draw_step(struct history *history)
{
	uint32_t sum = 0, drawn;
	int step = 0;

	for (int i = 0; i < STEP_MAX; i++)
		sum += weights[i];
	for (drawn = draw(history, sum); drawn >= weights[step]; step++)
		drawn -= weights[step];
	return (enum step)step;
}

static void step_pod(struct history *history, bool add)
{
	char name[32], text[96];
	struct world *world = &history->world;

	if (add) {
		snprintf(name, sizeof(name), "p%u", history->pods++);
		snprintf(text, sizeof(text),
			 draw(history, 3) ? "c:nvidia.com/gpu=%u"
					  : "init:i:nvidia.com/gpu=1 c:nvidia.com/gpu=%u",
			 1 + draw(history, 3));
		add_pod(world, name, text);
	} else if (history->pods) {
		snprintf(name, sizeof(name), "p%u", draw(history, history->pods));
		fake_kubelet_end_pod(world->kubelet, name);
	}
}

static void step_kubelet(struct history *history, enum step step)
{
	struct world *world = &history->world;
	char path[TREE_PATH_MAX + 32];

	if (step == STEP_KILL || step == STEP_RESTART)
		fake_kubelet_kill(world->kubelet);
	if ((step == STEP_START || step == STEP_RESTART) && !fake_kubelet_runs(world->kubelet))
		kubelet_start(world);
	snprintf(path, sizeof(path), "%s/%s", world->directory, KUBELET_SOCKET_NAME);
	if (step == STEP_REMOVE_SOCKET)
		unlink(path);
	if (step == STEP_DISCONNECT)
		fake_kubelet_disconnect(world->kubelet, GPU);
	/* Another kubelet program comes with a restart only. */
	if (step == STEP_OLD_CLIENTS && !fake_kubelet_runs(world->kubelet))
		fake_kubelet_knobs(world->kubelet)->old_clients ^= true;
	if (step == STEP_SLOW)
		fake_kubelet_knobs(world->kubelet)->dial_delay_ms = draw(history, 2) * 40;
}

static void do_step(struct history *history, enum step step)
{
	history->counts[step]++;
	if (step == STEP_LIST)
		update(history->world.plugin, history->devices, draw(history, 10));
	else if (step == STEP_RESEND)
		device_plugin_resend(history->world.plugin);
	else if (step == STEP_ADD_POD || step == STEP_END_POD)
		step_pod(history, step == STEP_ADD_POD);
	else if (step == STEP_WAIT)
		linger(&history->world, draw(history, 150));
	else
		step_kubelet(history, step);
}

static void check(struct history *history)
{
	cleanup(kubelet_holdings_release) struct kubelet_holdings holdings = { .items = NULL };
	automap *hands = map_new();
	unsigned streams = fake_kubelet_streams(history->world.kubelet);

	assert_true(streams <= 1);
	assert_non_null(hands);
	fake_kubelet_holders(history->world.kubelet, &holdings);
	for (size_t i = 0; i < holdings.count; i++) {
		for (size_t j = 0; j < holdings.items[i].ids.count; j++) {
			const char *id = holdings.items[i].ids.items[j];
			const char *other = map_get(hands, id);

			if (other && strcmp(other, holdings.items[i].pod) != 0)
				fail_msg("%s is in the hands of %s and %s", id, other,
					 holdings.items[i].pod);
			assert_int_equal(map_put(hands, id, holdings.items[i].pod), 0);
		}
	}
	history->running += holdings.count > 0;
}

static bool has_socket(const struct world *world)
{
	char path[TREE_PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", world->directory, KUBELET_SOCKET_NAME);
	return access(path, F_OK) == 0;
}

/* From here on nothing happens any more: the kubelet has the list, on one stream. */
static void settle(struct history *history)
{
	struct world *world = &history->world;

	/* Its socket was removed before we were registered: nobody can reach such a kubelet. */
	if (!has_socket(world) && !listed(world))
		fake_kubelet_kill(world->kubelet);
	if (!fake_kubelet_runs(world->kubelet))
		kubelet_start(world);
	update(world->plugin, history->devices, SIZE_MAX);
	WAIT(world, listed);
	WAIT(world, idle);
	linger(world, 200);
	assert_true(listed(world));
	assert_int_equal(fake_kubelet_counts(world->kubelet, GPU, true).allocatable,
			 history->devices);
	history->listed++;
}

TEST(random_histories_end_with_one_stream_and_a_whole_list)
{
	const char *scale = getenv("GPUPOOL_TEST_SCALE");
	struct history history = { .random = 11, .devices = 8 };
	uint64_t part = 1;

	if (scale)
		assert_int_equal(parse_uint(scale, 1, 10000, &part), 0);
	part = part < SCALE_MAX ? part : SCALE_MAX;
	world_start(&history.world);
	history.world.plugin = plugin_start(&history.world, NULL);
	update(history.world.plugin, history.devices, SIZE_MAX);
	for (unsigned i = 1; i <= STEPS_A_SCALE * part; i++) {
		do_step(&history, draw_step(&history));
		linger(&history.world, draw(&history, 12));
		check(&history);
		if (i % 40 == 0)
			settle(&history);
	}
	world_end(&history.world);
	for (int step = 0; step < STEP_MAX; step++) {
		printf("# step %d: %u times\n", step, history.counts[step]);
		assert_true(history.counts[step] > 0);
	}
	printf("# settled %u times, with Pods that hold devices after %u steps\n", history.listed,
	       history.running);
	assert_true(history.listed > 0 && history.running > 20);
}
