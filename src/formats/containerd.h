/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of containerd: TOML files, the first of which may import others. Text in, text out;
 * nothing but our entries changes, comments stay.
 *
 * Facts: containerd docs/PLUGINS.md and docs/cri/config.md; cmd/containerd/server/config/config.go at
 * v1.6.20 and v2.4.2 (LoadConfig, mergeConfig, resolveImports). Where the CRI plugin has its section:
 * "cri" in version 1 (also files without a version), "io.containerd.grpc.v1.cri" in version 2,
 * "io.containerd.cri.v1.runtime" in versions 3 and 4. Files are read breadth first, a later one counts
 * more. Before containerd 2.1 it replaces a plugin's section as a whole, so that a file with one more
 * runtime hides all other settings of the section; since then sections are merged key by key.
 */
#pragma once

#include "formats/runtime_entry.h"
#include "model/model.h"

/* The version that the file says; 1 when it has keys and says none, 0 for an empty one. -EINVAL. */
int containerd_version(const char *text, const char *path, unsigned *ret, struct error *error);
/* What it imports, as absolute patterns ("*" within a name). */
int containerd_imports(const char *text, const char *path, struct string_list *ret,
		       struct error *error);

/* The socket that they name; *ret (free()) NULL: none. */
int containerd_socket(const struct config_files *files, char **ret, struct error *error);

/* What all of them together say. */
int containerd_read(const struct config_files *files, struct runtime_facts *ret,
		    struct error *error);

struct containerd_wish {
	struct runtime_wish common;
	/* Annotations of containers that reach the runtime, "cdi.k8s.io" and a pattern; NULL: none. */
	const char *annotations;
	unsigned new_version; /* of a file that is new */
	bool fresh;           /* FILES may know the runtimes already, and all is said once more */
};

/* The last file with a section of the CRI plugin, which is where more of it must go before 2.1; the
 * first file where none has. */
int containerd_last_section(const struct config_files *files, size_t *ret, struct error *error);
/*
 * File INDEX with WISH in it. A runtime that is new takes all settings of the default one, if that is
 * runc's kind, else of runc or crun, but for its program. *ret NULL: no change.
 */
int containerd_edit(const struct config_files *files, size_t index,
		    const struct containerd_wish *wish, char **ret, struct error *error);
/* Only the section, without a version: what is appended to a template that makes FILES. */
int containerd_section(const struct config_files *files, const struct containerd_wish *wish,
		       char **ret, struct error *error);
/* TEXT with one more import. VERSION: of a file that is new. */
int containerd_add_import(const char *text, const char *path, const char *pattern, unsigned version,
			  char **ret, struct error *error);
/* Takes the runtimes of WISH out again, and the default if it is one of them. *ret NULL: they are not
 * there; "": nothing but a version is left. */
int containerd_remove(const char *text, const char *path, const struct runtime_wish *wish,
		      char **ret, struct error *error);
