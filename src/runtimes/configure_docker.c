/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Docker. It reads runtimes and the default anew at SIGHUP (docs.docker.com, "Miscellaneous options"),
 * which ends nothing; CDI is switched on only when it starts, and a restart ends all containers unless
 * live-restore is on.
 */
#include <errno.h>
#include <string.h>

#include "runtimes/configure_parts.h"

enum { NEW_FILE_MODE = 0644 };

static int read_text(const struct host *host, const struct engine *engine, char **ret,
		     unsigned *mode, struct error *error)
{
	int r = host_read(host, engine->config, ret, mode, error);

	if (r != -ENOENT)
		return r;
	*ret = NULL;
	*mode = NEW_FILE_MODE;
	return 0;
}

static bool live_restore(const char *text)
{
	autojson *root = NULL;

	return text && json_parse(text, strlen(text), "", &json_limits_default, &root, NULL) == 0 &&
	       json_object_get_boolean(json_get(root, "live-restore"));
}

static int docker_plan(const struct host *host, const struct engine *engine,
		       const struct runtime_wish *wish, struct configure_plan *plan,
		       struct error *error)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	autofree char *before = NULL, *after = NULL;
	unsigned mode = 0;
	int r = read_text(host, engine, &before, &mode, error);

	if (r == 0)
		r = docker_read(before, engine->config, &facts, error);
	if (r == 0)
		r = docker_edit(before, engine->config, wish, &after, error);
	if (r < 0 || !after)
		return r;
	bool cdi = wish->cdi && facts.cdi != RUNTIME_CDI_ON;
	plan->restart = cdi ? CONFIGURE_RESTART : CONFIGURE_RELOAD;
	plan->ends_containers = cdi && !live_restore(before);
	if (plan_add(plan, engine->config, TAKE_PTR(before), TAKE_PTR(after), mode) < 0)
		return error_no_memory(error);
	return 0;
}

static int docker_facts(const struct host *host, const struct engine *engine,
			struct runtime_facts *ret, struct error *error)
{
	autofree char *text = NULL;
	unsigned mode = 0;
	int r = read_text(host, engine, &text, &mode, error);

	return r < 0 ? r : docker_read(text, engine->config, ret, error);
}

/* dockerd --validate: Docker 23.0 and later. */
static int docker_verify(const struct host *host, const struct engine *engine,
			 struct runtime_facts *ret, struct error *error)
{
	const char *const argv[] = { engine->program, "--validate", "--config-file", engine->config,
				     NULL };
	autofree char *text = NULL;
	struct error said = ERROR_INIT;

	if (!engine->program || (engine->major && engine->major < 23))
		return error_set(
			error, EOPNOTSUPP,
			"this Docker cannot be asked whether it understands its file "
			"(dockerd --validate came with 23.0); it was read back by gpupool");
	int r = host_run(host, argv, &text, &said);
	if (r == -ECHILD && strstr(said.message, "unknown flag"))
		return error_set(error, EOPNOTSUPP, "%s", said.message);
	if (r < 0)
		return error_set(error, -r, "%s", said.message);
	return docker_facts(host, engine, ret, error);
}

static int docker_remove_text(const char *path, const char *text, const struct runtime_wish *wish,
			      char **ret, struct error *error)
{
	return docker_remove(text, path, wish, ret, error);
}

const struct engine_work docker_work = {
	.plan = docker_plan,
	.remove = docker_remove_text,
	.verify = docker_verify,
	.read = docker_facts,
};
