/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an administrator decided about requests: NVIDIA's /etc/nvidia-container-runtime/config.toml
 * and the section "runtime" of our own configuration, which wins. Keys and defaults of the first:
 * NVIDIA/nvidia-container-toolkit api/config/v1 (1.18). What is read and not followed is listed in
 * docs/runtime.md.
 */
#pragma once

#include <stdbool.h>

#include "base/base.h"
#include "model/model.h"

enum toolkit_mode { /* all but csv, which is refused, are answered alike: the edits go into the spec */
		    TOOLKIT_AUTO,
		    TOOLKIT_LEGACY,
		    TOOLKIT_CDI,
		    TOOLKIT_JIT_CDI,
		    TOOLKIT_CSV,
		    TOOLKIT_MODE_MAX,
		    TOOLKIT_MODE_INVALID = -22,
};

struct toolkit_config {
	bool disable_require;          /* NVIDIA_REQUIRE_* is not checked */
	bool accept_env_unprivileged;  /* outside Kubernetes; default true, as NVIDIA's */
	bool accept_env_in_kubernetes; /* our own key only; default false */
	bool accept_volume_list;       /* default false */
	bool ignore_imex;              /* NVIDIA_IMEX_CHANNELS asks for nothing */
	bool no_additional_gids;       /* for device nodes that not everybody may open */
	bool all_capabilities;         /* own key capabilities: all; NVIDIA_DRIVER_CAPABILITIES is
					  * then not looked at */
	char *supported_capabilities;  /* comma list; owned, as all below */
	char *swarm_resource;        /* a variable that wins over NVIDIA_VISIBLE_DEVICES, or NULL */
	char *driver_root;           /* NULL: searched */
	char *default_kind;          /* of CDI names without one: "nvidia.com/gpu" */
	char *log_file;              /* NULL: none */
	struct string_list runtimes; /* names or absolute paths, the first one found is used */
	struct string_list annotation_prefixes, spec_directories; /* CDI */
	struct string_list notes; /* "FILE:7: unknown key debug.level" */
	enum toolkit_mode mode;
};

/*
 * A file that is missing is its defaults; either path may be NULL. Unknown keys are notes, never
 * errors. -EINVAL for a value of another type, with file and line.
 */
int toolkit_config_read(const char *toolkit_path, const char *own_path, struct toolkit_config *ret,
			struct error *error);
void toolkit_config_release(struct toolkit_config *config);
const char *toolkit_mode_to_string(enum toolkit_mode mode);
enum toolkit_mode toolkit_mode_from_string(const char *text);
