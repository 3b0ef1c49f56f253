/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Docker's daemon.json: text in, text out. Every key that is not named here stays, with its place and
 * its value; other features too. Only white space may change: the text is printed anew, with the
 * indentation that it had. Facts: docs.docker.com (dockerd, daemon configuration file).
 */
#pragma once

#include "formats/runtime_entry.h"

/*
 * TEXT NULL or empty: there is no file yet. NAME is what errors call it. *ret (free()) is the new text,
 * NULL when the old one says it all already. -EINVAL: no JSON object, or a key of another kind than
 * Docker's.
 */
int docker_edit(const char *text, const char *name, const struct runtime_wish *wish, char **ret,
		struct error *error);
/* Takes the runtimes of WISH out again, and the default if it is one of them. *ret is empty when
 * nothing is left, NULL when there is nothing to take out. */
int docker_remove(const char *text, const char *name, const struct runtime_wish *wish, char **ret,
		  struct error *error);
int docker_read(const char *text, const char *name, struct runtime_facts *ret, struct error *error);
