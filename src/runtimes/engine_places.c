/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where distributions of Kubernetes keep the files of their containerd. Facts: docs.k3s.io (advanced
 * options, configuring containerd) and what k3s and RKE2 write; docs.k0sproject.io (runtime);
 * canonical/microk8s microk8s-resources (run-containerd-with-args).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runtimes/engine_parts.h"

static bool begins(const char *text, const char *start)
{
	return text && strncmp(text, start, strlen(start)) == 0;
}

static bool ends(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool has(const char *text, const char *part)
{
	return text && strstr(text, part) != NULL;
}

static bool is_agent(const struct engine *engine)
{
	return ends(engine->config, "/agent/etc/containerd/config.toml");
}

static bool is_rke2(const struct engine *engine)
{
	return is_agent(engine) &&
	       (begins(engine->service, "rke2") || has(engine->program, "/rke2/") ||
		has(engine->config, "/rke2/"));
}

static bool is_k0s(const struct engine *engine)
{
	return begins(engine->service, "k0s") || begins(engine->config, "/etc/k0s/") ||
	       has(engine->program, "/k0s/bin/");
}

static bool is_microk8s(const struct engine *engine)
{
	return begins(engine->program, "/snap/microk8s/") || has(engine->config, "/snap/microk8s/");
}

/* How to add a distribution: a row. The first that fits counts. */
static const struct place_row {
	const char *name;
	bool (*is)(const struct engine *engine);
} place_rows[] = {
	{ "rke2", is_rke2 },
	{ "k3s", is_agent },
	{ "k0s", is_k0s },
	{ "microk8s", is_microk8s },
};

int engine_place(struct engine *engine)
{
	if (engine->kind != ENGINE_CONTAINERD)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(place_rows); i++) {
		if (!place_rows[i].is(engine))
			continue;
		snprintf(engine->distribution, sizeof(engine->distribution), "%s",
			 place_rows[i].name);
		break;
	}
	return 0;
}
