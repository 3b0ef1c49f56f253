/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The items of a Kubernetes list, one at a time, as `kubectl get ... -o yaml` prints it: "items:",
 * then items that begin with "- " at the start of a line. Memory: one item, however long the list
 * is. Other documents are read whole, with the limits of yaml_parse(); of those that have items these
 * are given, otherwise they are items themselves.
 */
#pragma once

#include <stddef.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"

struct yaml_items;

/* As json_stream_new(). */
int yaml_items_new(int fd, const char *name, const char *start, size_t start_length,
		   struct yaml_items **ret, struct error *error);
void yaml_items_free(struct yaml_items *items);
DEFINE_CLEANUP(struct yaml_items, yaml_items_free)
#define autoyaml_items cleanup(yaml_items_freep) struct yaml_items

/* 1: *ret (the caller's) is the next item, and *ret_line its first line. 0: the source has ended. */
int yaml_items_next(struct yaml_items *items, struct json_object **ret, unsigned long *ret_line,
		    struct error *error);
