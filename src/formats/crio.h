/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of CRI-O: crio.conf and the files of crio.conf.d in the order of their names, all
 * TOML. A later value counts more; a runtime that a later file names is taken from there as a whole.
 * CDI is always on. Facts: cri-o docs/crio.conf.5.md, docs/crio.conf.d.5.md, pkg/config/config.go.
 */
#pragma once

#include "formats/runtime_entry.h"

/* The socket that they name; *ret (free()) NULL: none. */
int crio_socket(const struct config_files *files, char **ret, struct error *error);
int crio_read(const struct config_files *files, struct runtime_facts *ret, struct error *error);
/*
 * File INDEX with WISH in it. A runtime that is new takes the settings of the default one, else of runc
 * or crun, but for its program and its type. *ret NULL: no change.
 */
int crio_edit(const struct config_files *files, size_t index, const struct runtime_wish *wish,
	      char **ret, struct error *error);
/* As docker_remove(). */
int crio_remove(const char *text, const char *path, const struct runtime_wish *wish, char **ret,
		struct error *error);
