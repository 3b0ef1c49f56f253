/* SPDX-License-Identifier: Apache-2.0 */
#include "cdi_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

struct json_object *cdi_world_generate(const struct cdi_options *options, struct string_list *notes)
{
	struct json_object *spec = NULL;
	struct error error = ERROR_INIT;

	if (cdi_generate(options, &spec, notes, &error) < 0)
		fail_msg("%s", error.message);
	return spec;
}

struct json_object *cdi_world_device(struct json_object *spec, const char *name)
{
	struct json_object *devices = json_get(spec, "devices");

	for (size_t i = 0; i < json_object_array_length(devices); i++) {
		struct json_object *device = json_object_array_get_idx(devices, i);

		if (strcmp(json_get_string(device, "name", ""), name) == 0)
			return json_get(device, "containerEdits");
	}
	return NULL;
}

static int text_compare(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

char *cdi_world_set(struct json_object *edits, const char *list, const char *key)
{
	struct json_object *items = json_get(edits, list);
	size_t count = items ? json_object_array_length(items) : 0;
	autofree const char **texts = calloc(count + 1, sizeof(*texts));
	autostrbuf out = STRBUF_INIT(1 << 16);

	assert_non_null(texts);
	for (size_t i = 0; i < count; i++) {
		struct json_object *item = json_object_array_get_idx(items, i);

		texts[i] = key ? json_get_string(item, key, "-") : json_object_get_string(item);
	}
	if (count)
		qsort(texts, count, sizeof(*texts), text_compare);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(texts[i], texts[i - 1]) != 0)
			strbuf_addf(&out, "%s%s", out.length ? " " : "", texts[i]);
	char *text = out.length ? strbuf_detach(&out) : strdup("");
	assert_non_null(text);
	return text;
}

void cdi_world_check_set(struct json_object *edits, const char *list, const char *key,
			 const char *expected)
{
	autofree char *found = cdi_world_set(edits, list, key);

	assert_string_equal(found, expected);
}

void cdi_world_check_names(struct json_object *spec, const char *expected)
{
	struct json_object *devices = json_get(spec, "devices");
	autostrbuf out = STRBUF_INIT(4096);

	for (size_t i = 0; i < json_object_array_length(devices); i++)
		strbuf_addf(&out, "%s%s", i ? " " : "",
			    json_get_string(json_object_array_get_idx(devices, i), "name", ""));
	assert_string_equal(out.data, expected);
}

bool cdi_world_tree(char tree[TREE_PATH_MAX])
{
	tree_make(tree);
	tree_library(tree, "lib/x86_64-linux-gnu/libcuda.so.999.88.77", "libcuda.so.1", 64);
	tree_library(tree, "lib/x86_64-linux-gnu/vdpau/libvdpau_nvidia.so.999.88.77",
		     "libvdpau_nvidia.so.1", 64);
	return tree_node(tree, "dev/nvidia0", 195, 0) &&
	       tree_node(tree, "dev/nvidiactl", 195, 255) &&
	       tree_node(tree, "dev/nvidia-caps-imex-channels/channel0", 511, 0) &&
	       tree_node(tree, "dev/nvidia-caps-imex-channels/channel1", 511, 1) &&
	       tree_node(tree, "dev/nvidia-caps-imex-channels/channel2047", 511, 2047) &&
	       tree_node(tree, "dev/nvidia-caps/nvidia-cap1", 510, 1);
}

struct driver_files *cdi_world_driver(const char *tree)
{
	struct driver_files *files = NULL;
	size_t nodes = 0, items = 0;

	assert_int_equal(driver_files_find(tree, NULL, CAPABILITY_ALL, &files, NULL), 0);
	for (size_t i = 0; i < files->node_count; i++)
		if (strncmp(files->nodes[i].path, tree, strlen(tree)) == 0)
			files->nodes[nodes++] = files->nodes[i];
		else
			free(files->nodes[i].path);
	for (size_t i = 0; i < files->count; i++)
		if (strncmp(files->items[i].source, tree, strlen(tree)) == 0) {
			files->items[items++] = files->items[i];
		} else {
			free(files->items[i].source);
			string_list_release(&files->items[i].names);
		}
	files->node_count = nodes;
	files->count = items;
	return files;
}

void cdi_world_ask(struct question *question, struct card cards[static CDI_WORLD_CARDS],
		   struct cdi_options *options)
{
	question_init(question);
	memcpy(cards, question->inventory.cards, CDI_WORLD_CARDS * sizeof(*cards));
	question->inventory.cards = cards;
	*options = (struct cdi_options){ .inventory = &question->inventory,
					 .files = &question->files };
}

bool cdi_world_has_note(const struct string_list *notes, const char *part)
{
	for (size_t i = 0; i < notes->count; i++)
		if (strstr(notes->items[i], part))
			return true;
	return false;
}
