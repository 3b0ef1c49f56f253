/* SPDX-License-Identifier: Apache-2.0 */
/* What containerd, Docker and CRI-O have in common: names of OCI runtimes, one of them the default. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/* A runtime as it is to be configured. */
struct runtime_entry {
	const char *name, *path; /* of the handler; of the program, absolute */
};

struct runtime_wish {
	const struct runtime_entry *entries; /* the first is the one that may become the default */
	size_t count;
	bool set_default;
	bool cdi; /* CDI devices are to be understood */
};

/* A runtime as it is configured. */
struct runtime_fact {
	char *name, *path; /* owned; PATH NULL: the engine's own choice */
};

enum runtime_cdi { RUNTIME_CDI_UNSAID, RUNTIME_CDI_OFF, RUNTIME_CDI_ON };

struct runtime_facts {
	struct runtime_fact *items; /* owned */
	size_t count, capacity;
	char *default_name; /* owned; NULL: the engine's own choice */
	enum runtime_cdi cdi;
};

void runtime_facts_release(struct runtime_facts *facts);
/* Adds NAME, or gives it another path. 0 or -ENOMEM. */
int runtime_facts_add(struct runtime_facts *facts, const char *name, const char *path);
int runtime_facts_set_default(struct runtime_facts *facts, const char *name);
/* NULL: there is none. */
const struct runtime_fact *runtime_facts_find(const struct runtime_facts *facts, const char *name);
/* Is everything so already? CDI_ALWAYS: the engine needs no word for it, and only "off" is wrong. */
bool runtime_wish_holds(const struct runtime_wish *wish, const struct runtime_facts *facts,
			bool cdi_always);

struct config_file {
	char *path, *text; /* owned; TEXT NULL: there is no such file yet */
};

/* The files of one engine. */
struct config_files {
	struct config_file *items; /* in the order in which the engine reads them */
	size_t count, capacity;
	bool merges; /* containerd 2.1 and later, see containerd.h */
};

void config_files_release(struct config_files *files);
/* Copies both; TEXT may be NULL. 0 or -ENOMEM. */
int config_files_add(struct config_files *files, const char *path, const char *text);
