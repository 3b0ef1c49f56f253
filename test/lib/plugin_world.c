/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin_world.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void log_line(const char *line, void *user)
{
	struct world *world = user;

	strbuf_addf(&world->log, "%s\n", line);
}

static int preferred(const struct string_list *available, const struct string_list *must,
		     unsigned size, struct string_list *ret, struct error *error, void *user)
{
	const struct world *world = user;

	if (world->refuse)
		return error_set(error, ENOSPC, "no card has %u free; the largest has 3", size);
	for (size_t i = 0; i < must->count && ret->count < size; i++)
		string_list_add(ret, must->items[i]);
	for (size_t i = 0; i < available->count && ret->count < size; i++) {
		bool there = false;

		for (size_t j = 0; j < ret->count; j++)
			there |= strcmp(ret->items[j], available->items[i]) == 0;
		if (!there)
			string_list_add(ret, available->items[i]);
	}
	if (world->short_answer && ret->count)
		free(ret->items[--ret->count]);
	return 0;
}

void answer(struct device_plugin_call *call)
{
	cleanup(kubelet_answer_release) struct kubelet_answer what = { .envs = NULL };

	assert_int_equal(kubelet_answer_add_env(&what, "A", "B"), 0);
	assert_int_equal(device_plugin_answer(call, &what, NULL), 0);
}

static void allocate(struct device_plugin_call *call, const struct string_list *ids, void *user)
{
	struct world *world = user;

	assert_true(ids->count > 0);
	if (world->keep)
		world->kept = call;
	else if (world->refuse)
		device_plugin_refuse(call, "card GPU-1 is held by another; try again");
	else
		answer(call);
}

static void on_event(enum device_plugin_event event, const char *text, void *user)
{
	struct world *world = user;

	world->events[event]++;
	snprintf(world->last, sizeof(world->last), "%s", text);
	if (event == DEVICE_PLUGIN_RIVAL)
		snprintf(world->rival, sizeof(world->rival), "%s", text);
}

static const struct device_plugin_callbacks callbacks = { preferred, allocate, on_event };

/* --- the world --- */

void world_start(struct world *world)
{
	*world = (struct world){ .log = STRBUF_INIT(16 << 20) };
	tree_make(world->directory);
	snprintf(world->resources, sizeof(world->resources), "%s/resources.sock", world->directory);
	const struct fake_kubelet_options options = { .directory = world->directory,
						      .pod_resources = world->resources,
						      .seed = 1,
						      .log = log_line,
						      .user = world };
	assert_int_equal(loop_new(&world->loop, NULL), 0);
	assert_int_equal(fake_kubelet_new(world->loop, &options, &world->kubelet, NULL), 0);
}

void kubelet_start(struct world *world)
{
	struct error error = ERROR_INIT;

	if (fake_kubelet_start(world->kubelet, &error) < 0)
		fail_msg("%s", error.message);
}

void update(struct device_plugin *plugin, size_t count, size_t sick)
{
	static const char *const ids[] = { "GPU-0", "GPU-1", "GPU-2", "GPU-3",
					   "GPU-4", "GPU-5", "GPU-6", "GPU-7" };
	struct kubelet_device devices[ARRAY_SIZE(ids)];
	struct error error = ERROR_INIT;

	for (size_t i = 0; i < count; i++)
		devices[i] = (struct kubelet_device){ .id = ids[i], .healthy = i != sick };
	if (device_plugin_update(plugin, devices, count, &error) < 0)
		fail_msg("%s", error.message);
}

struct device_plugin *plugin_start(struct world *world, const char *prefix)
{
	const struct device_plugin_options options = { .resource = GPU,
						       .directory = world->directory,
						       .prefix = prefix,
						       .preferred_available = true };
	struct device_plugin *plugin = NULL;
	struct error error = ERROR_INIT;

	if (device_plugin_start(world->loop, &options, &callbacks, world, &plugin, &error) < 0)
		fail_msg("%s", error.message);
	return plugin;
}

void world_end(struct world *world)
{
	device_plugin_stop(world->plugin);
	fake_kubelet_free(world->kubelet);
	loop_free(world->loop);
	strbuf_release(&world->log);
	tree_remove(world->directory);
}

struct wait {
	struct world *world;
	bool (*done)(struct world *world);
	uint64_t until_ms;
	bool is_done;
};

static void look(void *user)
{
	struct wait *wait = user;

	wait->is_done = wait->done(wait->world);
	if (wait->is_done || loop_now_ms(wait->world->loop) >= wait->until_ms)
		loop_stop(wait->world->loop);
}

bool wait_for(struct world *world, bool (*done)(struct world *world), uint64_t ms)
{
	struct wait wait = { .world = world, .done = done };
	struct loop_timer *timer = NULL;

	wait.until_ms = loop_now_ms(world->loop) + ms;
	assert_int_equal(loop_timer_start(world->loop, 1, 1, look, &wait, &timer, NULL), 0);
	loop_run(world->loop);
	loop_timer_stop(timer);
	return wait.is_done;
}

static bool never(struct world *world __attribute__((unused)))
{
	return false;
}

void linger(struct world *world, uint64_t ms)
{
	wait_for(world, never, ms);
}

bool listed(struct world *world)
{
	return fake_kubelet_is_listed(world->kubelet, GPU) &&
	       device_plugin_is_listed(world->plugin) &&
	       fake_kubelet_counts(world->kubelet, GPU, true).capacity > 0;
}

bool unlisted(struct world *world)
{
	return !device_plugin_is_listed(world->plugin);
}

bool idle(struct world *world)
{
	return fake_kubelet_idle(world->kubelet);
}

unsigned count_lines(const struct world *world, const char *start)
{
	unsigned count = 0;

	for (const char *at = world->log.data; at && *at;) {
		count += strncmp(at, start, strlen(start)) == 0;
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return count;
}

/* A world in which the plugin is listed with COUNT devices. */
void world_listed(struct world *world, size_t count)
{
	world_start(world);
	kubelet_start(world);
	world->plugin = plugin_start(world, NULL);
	update(world->plugin, count, SIZE_MAX);
	WAIT(world, listed);
}

void add_pod(struct world *world, const char *name, const char *text)
{
	struct error error = ERROR_INIT;

	if (fake_kubelet_add_pod(world->kubelet, name, text, &error) < 0)
		fail_msg("%s", error.message);
}

bool kept(struct world *world)
{
	return world->kept != NULL;
}

const char *world_log_end(const struct world *world)
{
	return world->log.data + (world->log.length > 650 ? world->log.length - 650 : 0);
}

void world_socket(const struct world *world, char *path, size_t size)
{
	DIR *directory = opendir(world->directory);

	assert_non_null(directory);
	for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
		if (strncmp(entry->d_name, "gpupool-", 8) == 0)
			snprintf(path, size, "%s/%s", world->directory, entry->d_name);
	closedir(directory);
}
