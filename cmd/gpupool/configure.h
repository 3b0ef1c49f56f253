/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of gpupool configure. */
#pragma once

#include "gpupool.h"
#include "runtimes/runtimes.h"

void configure_print_engine(const struct engine *engine);
/* Adds what is known of ENGINE; 0 or -ENOMEM. */
int configure_engine_json(const struct engine *engine, struct json_object *root);
/* Prints the report; EXIT_FAILED when it names a problem. */
int configure_check(const struct host *host, const struct engine *engine, const char *handler,
		    bool json);
