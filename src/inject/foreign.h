/* SPDX-License-Identifier: Apache-2.0 */
/* CDI devices of other vendors and classes, by their own spec files. */
#pragma once

#include "base/base.h"
#include "model/model.h"

/*
 * Puts what the spec files in DIRECTORIES say of the devices NAMES ("vendor/class=name") into SPEC,
 * an OCI spec that passed oci_spec_check(), under the same rules as our own edits: ROOT_FD, O_PATH on
 * the container's root, has real /dev, /proc and /sys, and nothing is made inside a volume. What each
 * spec file adds to every container is added once. NOTES gets sentences about files that are no
 * specs. -EPERM with *ret_reason for what must be refused, hooks too; -ENODEV with *ret_reason for a
 * device that no file has. After an error the tree is half edited: throw it away.
 */
int foreign_devices_apply(const struct string_list *names, const struct string_list *directories,
			  int root_fd, struct json_object *spec, struct string_list *notes,
			  struct reason *ret_reason, struct error *error);
