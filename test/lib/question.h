/* SPDX-License-Identifier: Apache-2.0 */
/* One question to edit_plan_build() with everything that it needs, for the tests of inject. */
#pragma once

#include <stdio.h>

#include "inject/driver_table.h"
#include "inject/inject.h"
#include "tree.h"

#define LIBDIR "/usr/lib/" LIBRARY_TRIPLET

enum { QUESTION_ITEMS = 9, QUESTION_NODES = 5, QUESTION_SOCKET = 8, QUESTION_CUDA_32 = 3 };

/* A driver in /driver as the search would report it; nothing of it is on the disk. */
extern struct driver_file question_items[QUESTION_ITEMS];
extern struct driver_node question_nodes[QUESTION_NODES];

struct question {
	struct inventory inventory;
	struct driver_files files;
	struct grant_card part;
	struct grant grant;
	const struct grant *grants[1];
	struct injection injection;
	char tree[TREE_PATH_MAX]; /* "": none */
};

/* Two cards, the first granted whole, in a root that cannot be looked into. */
void question_init(struct question *question);
/* An empty root on the disk; the caller fills it. */
void question_root(struct question *question);
void question_release(struct question *question);
/* Fails the test when there is no plan. */
void question_ask(const struct question *question, struct edit_plan *plan);
/* Fails the test when there is one, or another reason or sentence. */
void question_refused(struct question *question, int number, enum reason_code code,
		      const char *part);
/* A spec of our own with a working directory and, unless NULL, one more mount. */
struct json_object *question_spec(const char *working_directory, const char *mount,
				  const char *type);

const struct edit *plan_find(const struct edit_plan *plan, enum edit_kind kind, const char *name);
size_t plan_count(const struct edit_plan *plan, enum edit_kind kind);
bool plan_has_note(const struct edit_plan *plan, const char *part);
