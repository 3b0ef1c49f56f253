/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/runtimes: the files of a containerd, and the templates that distributions make them of. */
#pragma once

#include "runtimes/configure_parts.h"

/* PATH with what PLAN (may be NULL) will make of it. -ENOENT without a message. */
int planned_read(const struct host *host, const struct configure_plan *plan, const char *path,
		 char **ret, unsigned *mode, struct error *error);

/* The file of ENGINE and all that it imports, as containerd reads them, once PLAN (may be NULL) is
 * done. A first file that does not exist has no text. */
int containerd_load(const struct host *host, const struct engine *engine,
		    const struct configure_plan *plan, struct config_files *ret,
		    struct error *error);

/* DIR of the first import of the form DIR/<star>.toml in the first file; *ret NULL: there is none. */
int containerd_import_directory(const struct config_files *files, char **ret, struct error *error);

/* containerd 2.1 and later. */
bool containerd_merges(const struct engine *engine);

/* Is the file of ENGINE made anew at each start? */
bool containerd_is_generated(const struct host *host, const struct engine *engine);

/* The changes of such an engine: in its template, or in a directory that it picks up. */
int containerd_plan_generated(const struct host *host, const struct engine *engine,
			      const struct config_files *files, const struct containerd_wish *wish,
			      struct configure_plan *plan, struct error *error);
/* A Go template without our lines. */
int containerd_template_remove(const char *text, char **ret, struct error *error);
bool containerd_is_template(const char *path);
