/* SPDX-License-Identifier: Apache-2.0 */
/* CDI specs and machines that they are of, for the tests of inject. What fails ends the test. */
#pragma once

#include "formats/formats.h"
#include "question.h"

struct json_object *cdi_world_generate(const struct cdi_options *options,
				       struct string_list *notes);
/* The edits of the device NAME, or NULL. */
struct json_object *cdi_world_device(struct json_object *spec, const char *name);
/* "a b c": what KEY says in each item of the list LIST of EDITS, in order, once. KEY NULL: the item.
 * The caller frees. */
char *cdi_world_set(struct json_object *edits, const char *list, const char *key);
void cdi_world_check_set(struct json_object *edits, const char *list, const char *key,
			 const char *expected);
/* All names of the devices, as they stand. */
void cdi_world_check_names(struct json_object *spec, const char *expected);
bool cdi_world_has_note(const struct string_list *notes, const char *part);

/* The tree testdata/lookup/rootfs-1 of NVIDIA's toolkit; false where nodes cannot be made. */
bool cdi_world_tree(char tree[TREE_PATH_MAX]);
/* The driver of TREE, without nodes and sockets of this machine, which the search adds. */
struct driver_files *cdi_world_driver(const char *tree);

enum { CDI_WORLD_CARDS = 2 };
/* A question of a machine with two cards, which are in CARDS, where the caller may change them. */
void cdi_world_ask(struct question *question, struct card cards[static CDI_WORLD_CARDS],
		   struct cdi_options *options);
