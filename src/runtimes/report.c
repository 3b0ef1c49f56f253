/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/report.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/utsname.h>

#include "runtimes/configure.h"

void engine_report_release(struct engine_report *report)
{
	runtime_facts_release(&report->facts);
	string_list_release(&report->programs);
	string_list_release(&report->problems);
	string_list_release(&report->warnings);
	*report = (struct engine_report){ .cdi = REPORT_CDI_OFF };
}

static bool at_least(const struct engine *engine, unsigned major, unsigned minor)
{
	return engine->major > major || (engine->major == major && engine->minor >= minor);
}

/*
 * containerd: from 1.7 on, a word for it until 2.0, no word against it from 2.4 on. Docker: from 25.0 on,
 * without a word from 28.2 on. CRI-O: always (1.23 and later).
 */
static enum report_cdi judge_cdi(const struct engine *engine, enum runtime_cdi said)
{
	if (engine->kind == ENGINE_CRIO)
		return REPORT_CDI_ON;
	if (engine->major &&
	    !(engine->kind == ENGINE_DOCKER ? at_least(engine, 25, 0) : at_least(engine, 1, 7)))
		return REPORT_CDI_IMPOSSIBLE;
	if (engine->kind == ENGINE_CONTAINERD && at_least(engine, 2, 4))
		return REPORT_CDI_ON;
	if (engine->kind == ENGINE_DOCKER ? at_least(engine, 28, 2) : at_least(engine, 2, 0))
		return said == RUNTIME_CDI_OFF ? REPORT_CDI_OFF : REPORT_CDI_ON;
	return said == RUNTIME_CDI_ON ? REPORT_CDI_ON : REPORT_CDI_OFF;
}

/* Each program that a runtime names must be there, or its Pods fail when they start. */
static int check_paths(const struct host *host, const struct engine *engine,
		       struct engine_report *report)
{
	for (size_t i = 0; i < report->facts.count; i++) {
		const struct runtime_fact *fact = &report->facts.items[i];

		if (fact->path && fact->path[0] == '/' && !host_exists(host, fact->path) &&
		    string_list_addf(
			    &report->problems,
			    "the runtime %s of %s names %s, which does not exist: install it, or "
			    "configure "
			    "another path",
			    fact->name, engine_kind_to_string(engine->kind), fact->path) < 0)
			return -ENOMEM;
	}
	if (report->facts.default_name &&
	    !runtime_facts_find(&report->facts, report->facts.default_name) &&
	    strcmp(report->facts.default_name, "runc") != 0 &&
	    strcmp(report->facts.default_name, "crun") != 0)
		return string_list_addf(
			&report->problems,
			"the default runtime of %s is %s, and there is no such runtime: "
			"configure one "
			"or another default",
			engine_kind_to_string(engine->kind), report->facts.default_name);
	return 0;
}

bool runtime_injects(const char *path)
{
	static const char peer[] = "nvidia-container-runtime";
	const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;

	return name &&
	       (strcmp(name, "gpupool-runtime") == 0 || strncmp(name, peer, strlen(peer)) == 0);
}

static int check_injection(const struct engine *engine, struct engine_report *report)
{
	for (size_t i = 0; i < report->facts.count; i++)
		if (runtime_injects(report->facts.items[i].path))
			return 0;
	if (report->cdi == REPORT_CDI_ON)
		return 0;
	return string_list_addf(
		&report->problems,
		"nothing brings cards into containers of %s: it has no runtime of gpupool, and "
		"CDI is "
		"off; cure: gpupool configure",
		engine_kind_to_string(engine->kind));
}

static bool boolean_is_on(const struct host *host, const char *name)
{
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);
	autofree char *text = NULL;

	strbuf_addf(&path, "/sys/fs/selinux/booleans/%s", name);
	return host_read(host, path.data, &text, NULL, NULL) == 0 && text[0] == '1';
}

/* Facts: container-selinux, booleans container_use_devices and (2.236) container_use_xserver_devices. */
static int check_selinux(const struct host *host, struct engine_report *report)
{
	autofree char *text = NULL;

	if (host_read(host, "/sys/fs/selinux/enforce", &text, NULL, NULL) < 0)
		return 0;
	report->selinux = text[0] == '1' ? SELINUX_ENFORCING : SELINUX_PERMISSIVE;
	report->selinux_allows = boolean_is_on(host, "container_use_xserver_devices") ||
				 boolean_is_on(host, "container_use_devices");
	if (report->selinux != SELINUX_ENFORCING || report->selinux_allows)
		return 0;
	return string_list_addf(
		&report->problems,
		"SELinux is enforcing and keeps containers away from device nodes: setsebool -P "
		"container_use_xserver_devices on (or container_use_devices, where that is "
		"unknown)");
}

/* A program of two names, of which one is a link, is warned of once. */
static int add_new(struct string_list *to, const struct string_list *from, struct error *error)
{
	for (size_t i = 0; i < from->count; i++) {
		bool known = false;

		for (size_t j = 0; !known && j < to->count; j++)
			known = strcmp(to->items[j], from->items[i]) == 0;
		if (!known && string_list_add(to, from->items[i]) < 0)
			return error_no_memory(error);
	}
	return 0;
}

static int check_program(const struct host *host, const char *path, struct engine_report *report,
			 struct error *error)
{
	const char *const argv[] = { path, "--version", NULL };
	enum version_verdict verdict = VERSION_FINE;
	cleanup(string_list_release) struct string_list warnings = { .items = NULL };
	struct runtime_version version;
	autofree char *text = NULL;

	int r = host_run(host, argv, &text, NULL);
	if (r == 0)
		r = runtime_version_parse(text, &version, NULL);
	if (r < 0)
		return r == -ENOMEM ? error_no_memory(error) : 0;
	if (string_list_addf(&report->programs, "%s %s (%s)", version.name, version.text, path) < 0)
		return error_no_memory(error);
	r = runtime_version_judge(&version, &verdict, &warnings, error);
	return r < 0 ? r : add_new(&report->warnings, &warnings, error);
}

static int check_programs(const struct host *host, struct engine_report *report,
			  struct error *error)
{
	static const char *const paths[] = {
		"/usr/local/sbin/runc", "/usr/local/bin/runc", "/usr/sbin/runc", "/usr/bin/runc",
		"/usr/local/sbin/crun", "/usr/local/bin/crun", "/usr/sbin/crun", "/usr/bin/crun",
	};
	struct utsname name;
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(paths); i++)
		if (host_exists(host, paths[i]))
			r = check_program(host, paths[i], report, error);
	if (r == 0 && uname(&name) == 0)
		r = kernel_release_judge(name.release, &report->warnings, error);
	return r;
}

int engine_report_make(const struct host *host, const struct engine *engine,
		       struct engine_report *ret, struct error *error)
{
	cleanup(engine_report_release) struct engine_report report = { .cdi = REPORT_CDI_OFF };
	int r = configure_read(host, engine, &report.facts, error);

	if (r < 0)
		return r;
	report.cdi = judge_cdi(engine, report.facts.cdi);
	if (check_paths(host, engine, &report) < 0 || check_injection(engine, &report) < 0 ||
	    check_selinux(host, &report) < 0)
		return error_no_memory(error);
	r = check_programs(host, &report, error);
	if (r < 0)
		return r;
	*ret = report;
	report = (struct engine_report){ .cdi = REPORT_CDI_OFF };
	return 0;
}
