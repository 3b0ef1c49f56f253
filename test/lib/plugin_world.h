/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin of ours and the fake kubelet in one loop, over real sockets, for tests. Link plugin_world_dep. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fake_kubelet.h"
#include "test.h"
#include "tree.h"
#include "wire/wire.h"

#define GPU         "nvidia.com/gpu"
#define PATIENCE_MS 20000 /* then the test fails */

struct world {
	struct loop *loop;
	char directory[TREE_PATH_MAX], resources[TREE_PATH_MAX + 32];
	struct fake_kubelet *kubelet;
	struct device_plugin *plugin;
	struct device_plugin_call *kept; /* an allocation that is answered later */
	bool keep, refuse, short_answer, wrong;
	unsigned events[DEVICE_PLUGIN_EVENT_MAX];
	struct strbuf log;
	char last[1024];  /* what the plugin said last */
	char rival[1024]; /* and of a rival */
};

void world_start(struct world *world);
void kubelet_start(struct world *world);
/* COUNT devices GPU-0 and up, of which the one with number SICK is unhealthy. */
void update(struct device_plugin *plugin, size_t count, size_t sick);
struct device_plugin *plugin_start(struct world *world, const char *prefix);
void world_end(struct world *world);
bool wait_for(struct world *world, bool (*done)(struct world *world), uint64_t ms);
void linger(struct world *world, uint64_t ms); /* for what should not happen */
bool listed(struct world *world);
bool unlisted(struct world *world);
bool idle(struct world *world);
bool kept(struct world *world);
void world_socket(const struct world *world, char *path, size_t size); /* the plugin's */
const char *world_log_end(const struct world *world);
unsigned count_lines(const struct world *world, const char *start);
/* A world in which the plugin is listed with COUNT devices. */
void world_listed(struct world *world, size_t count);
void answer(struct device_plugin_call *call);
void add_pod(struct world *world, const char *name, const char *text);

/* The end of the log is printed: cmocka cuts long messages. */
#define WAIT(world, condition)                                                                  \
	do {                                                                                    \
		if (!wait_for((world), (condition), PATIENCE_MS))                               \
			fail_msg("%s never came; the plugin: %.200s; the log:\n%s", #condition, \
				 (world)->last, world_log_end(world));                          \
	} while (0)
