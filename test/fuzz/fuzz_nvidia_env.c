/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as the variables, annotations and mounts of a container: refused with a message, or a
 * request that names each device once, and of which this machine's cards are selected or refused.
 * The first byte says which parts of the policy are on; then one text a line, "NAME=value" a
 * variable, "/path" a mount of /dev/null, "+key value" an annotation.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inject/inject.h"

static void must(bool held)
{
	if (!held)
		abort();
}

static void add_line(struct json_object *lists[3], const char *line)
{
	const char *blank = strchr(line, ' ');

	if (*line == '/') {
		struct json_object *mount = json_object_new_object();

		json_add_string(mount, "source", "/dev/null");
		json_add_string(mount, "destination", line);
		json_append(lists[1], mount);
	} else if (*line == '+' && blank) {
		autofree char *key = strndup(line + 1, (size_t)(blank - line - 1));

		json_add_string(lists[2], key, blank + 1);
	} else {
		json_append_string(lists[0], line);
	}
}

static struct json_object *spec_of(const uint8_t *data, size_t size)
{
	struct json_object *spec = json_object_new_object(), *process = json_object_new_object();
	struct json_object *lists[3] = { json_object_new_array(), json_object_new_array(),
					 json_object_new_object() };
	autofree char *text = strndup((const char *)data, size);

	for (char *line = text, *end; line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		add_line(lists, line);
	}
	json_add(process, "env", lists[0]);
	json_add(spec, "process", process);
	json_add(spec, "mounts", lists[1]);
	json_add(spec, "annotations", lists[2]);
	return spec;
}

static void check_once(const struct string_list *list)
{
	must(list->count <= 1024);
	for (size_t i = 0; i < list->count && i < 64; i++) {
		must(*list->items[i]);
		for (size_t j = 0; j < i; j++)
			must(strcmp(list->items[i], list->items[j]) != 0);
	}
}

static void check_selection(const struct device_request *request)
{
	struct card_instance instance = { .uuid = "MIG-1", .gpu_instance = 1 };
	struct card cards[] = { { .index = 0, .uuid = "GPU-1", .bus_id = "0000:07:00.0" },
				{ .index = 1,
				  .uuid = "GPU-2",
				  .bus_id = "0000:0f:00.0",
				  .mig_enabled = true,
				  .instances = &instance,
				  .instance_count = 1 } };
	const struct inventory inventory = { .cards = cards, .card_count = 2 };
	struct device_selection selection;
	struct reason reason = { 0 };
	struct error error = ERROR_INIT;

	if (device_request_select(request, &inventory, &selection, &reason, &error) < 0) {
		must(*error.message && reason.code != REASON_NONE);
		return;
	}
	must(selection.cards.card_count <= 2 && selection.instances.card_count <= 1);
	must(request->all ||
	     request->devices.count >= selection.cards.card_count + selection.instances.card_count);
	device_selection_release(&selection);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char prefix[] = "cdi.k8s.io/", kind[] = "nvidia.com/gpu", swarm[] = "SWARM,OTHER";
	char *prefixes[] = { prefix };
	struct toolkit_config config = { .default_kind = kind,
					 .annotation_prefixes = { prefixes, 1, 1 } };
	struct device_request request;
	struct error error = ERROR_INIT;

	if (size < 1)
		return 0;
	config.accept_env_unprivileged = data[0] & 1;
	config.accept_volume_list = data[0] & 2;
	config.swarm_resource = data[0] & 4 ? swarm : NULL;
	config.all_capabilities = data[0] & 8;
	autojson *spec = spec_of(data + 1, size - 1);
	if (device_request_read(spec, &config, &request, &error) < 0) {
		must(*error.message);
		return 0;
	}
	check_once(&request.devices);
	check_once(&request.foreign);
	check_once(&request.imex);
	must(!(request.none && (request.all || request.devices.count)));
	if (request.source == SOURCE_NONE)
		must(!request.all && !request.none && !request.devices.count && !request.gated);
	else
		check_selection(&request);
	device_request_release(&request);
	return 0;
}
