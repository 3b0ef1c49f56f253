/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/configure_parts.h"

/* How to add an engine: a row, and its work in a configure_*.c. */
static const struct engine_work *const works[ENGINE_KIND_MAX] = {
	[ENGINE_CONTAINERD] = &containerd_work,
	[ENGINE_DOCKER] = &docker_work,
	[ENGINE_CRIO] = &crio_work,
};

const struct engine_work *engine_work(const struct engine *engine)
{
	return works[engine->kind];
}

int configure_read(const struct host *host, const struct engine *engine, struct runtime_facts *ret,
		   struct error *error)
{
	return engine_work(engine)->read(host, engine, ret, error);
}
