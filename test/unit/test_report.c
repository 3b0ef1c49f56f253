/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "runtimes/runtimes.h"

#define CONTAINERD(text)                           \
	{                                          \
		"etc/containerd/config.toml", text \
	}
#define V3 "plugins.\"io.containerd.cri.v1.runtime\""
#define V2 "plugins.\"io.containerd.grpc.v1.cri\""
#define OURS                                                                      \
	"version = 2\n[" V2 ".containerd.runtimes.nvidia.options]\nBinaryName = " \
	"\"/usr/bin/gpupool-runtime\"\n"

static const struct report_row {
	const char *name;
	enum engine_kind kind;
	unsigned major, minor;
	struct fixture_file files[5];
	enum report_cdi cdi;
	enum report_selinux selinux;
	bool selinux_allows;
	const char *problem; /* NULL: none */
} rows[] = {
	{ .name = "containerd 1.6 knows no CDI, whatever its file says",
	  .kind = ENGINE_CONTAINERD,
	  .major = 1,
	  .minor = 6,
	  .files = { CONTAINERD("version = 2\n[" V2 "]\nenable_cdi = true\n") },
	  .cdi = REPORT_CDI_IMPOSSIBLE,
	  .problem = "nothing brings cards into containers of containerd" },
	{ .name = "containerd 1.6 with our runtime",
	  .kind = ENGINE_CONTAINERD,
	  .major = 1,
	  .minor = 6,
	  .files = { CONTAINERD(OURS), { "usr/bin/gpupool-runtime", "" } },
	  .cdi = REPORT_CDI_IMPOSSIBLE },
	{ .name = "a runtime whose program is gone",
	  .kind = ENGINE_CONTAINERD,
	  .major = 1,
	  .minor = 7,
	  .files = { CONTAINERD(OURS) },
	  .cdi = REPORT_CDI_OFF,
	  .problem = "names /usr/bin/gpupool-runtime, which does not exist" },
	{ .name = "containerd 1.7 wants a word",
	  .kind = ENGINE_CONTAINERD,
	  .major = 1,
	  .minor = 7,
	  .files = { CONTAINERD("version = 2\n[" V2 "]\nenable_cdi = true\n") },
	  .cdi = REPORT_CDI_ON },
	{ .name = "containerd 2.0 wants none",
	  .kind = ENGINE_CONTAINERD,
	  .major = 2,
	  .minor = 0,
	  .files = { CONTAINERD("version = 3\n") },
	  .cdi = REPORT_CDI_ON },
	{ .name = "containerd 2.3 obeys a word against it",
	  .kind = ENGINE_CONTAINERD,
	  .major = 2,
	  .minor = 3,
	  .files = { CONTAINERD("version = 3\n[" V3 "]\nenable_cdi = false\n") },
	  .cdi = REPORT_CDI_OFF,
	  .problem = "nothing brings cards" },
	{ .name = "containerd 2.4 does not",
	  .kind = ENGINE_CONTAINERD,
	  .major = 2,
	  .minor = 4,
	  .files = { CONTAINERD("version = 3\n[" V3 "]\nenable_cdi = false\n") },
	  .cdi = REPORT_CDI_ON },
	{ .name = "a default that is none of the runtimes",
	  .kind = ENGINE_CONTAINERD,
	  .major = 2,
	  .minor = 1,
	  .files = { CONTAINERD("version = 3\n[" V3
				".containerd]\ndefault_runtime_name = \"x\"\n") },
	  .cdi = REPORT_CDI_ON,
	  .problem = "the default runtime of containerd is x" },
	{ .name = "CRI-O has it always",
	  .kind = ENGINE_CRIO,
	  .major = 1,
	  .minor = 30,
	  .cdi = REPORT_CDI_ON },
	{ .name = "Docker 27 wants a word",
	  .kind = ENGINE_DOCKER,
	  .major = 27,
	  .files = { { "etc/docker/daemon.json", "{\"features\": {\"cdi\": true}}" } },
	  .cdi = REPORT_CDI_ON },
	{ .name = "Docker 20 knows none",
	  .kind = ENGINE_DOCKER,
	  .major = 20,
	  .files = { { "etc/docker/daemon.json", "{\"features\": {\"cdi\": true}}" } },
	  .cdi = REPORT_CDI_IMPOSSIBLE,
	  .problem = "containers of docker" },
	{ .name = "Docker 28.2 wants none",
	  .kind = ENGINE_DOCKER,
	  .major = 28,
	  .minor = 2,
	  .cdi = REPORT_CDI_ON },
	{ .name = "SELinux that keeps containers from devices",
	  .kind = ENGINE_CRIO,
	  .files = { { "sys/fs/selinux/enforce", "1" },
		     { "sys/fs/selinux/booleans/container_use_devices", "0 0" } },
	  .cdi = REPORT_CDI_ON,
	  .selinux = SELINUX_ENFORCING,
	  .problem = "setsebool -P" },
	{ .name = "SELinux with the newer boolean",
	  .kind = ENGINE_CRIO,
	  .files = { { "sys/fs/selinux/enforce", "1" },
		     { "sys/fs/selinux/booleans/container_use_devices", "0 0" },
		     { "sys/fs/selinux/booleans/container_use_xserver_devices", "1 1" } },
	  .cdi = REPORT_CDI_ON,
	  .selinux = SELINUX_ENFORCING,
	  .selinux_allows = true },
	{ .name = "SELinux that only watches",
	  .kind = ENGINE_CRIO,
	  .files = { { "sys/fs/selinux/enforce", "0" } },
	  .cdi = REPORT_CDI_ON,
	  .selinux = SELINUX_PERMISSIVE },
};

static int old_runc(void *data, const char *const *argv, char **ret, struct error *error)
{
	(void)data;
	(void)error;
	assert_string_equal(argv[1], "--version");
	*ret = strdup(strstr(argv[0], "runc") ? "runc version 1.1.5\nspec: 1.0.2-dev\n"
					      : "crun version 1.30\n");
	return *ret ? 0 : -ENOMEM;
}

static bool has(const struct string_list *list, const char *part)
{
	for (size_t i = 0; i < list->count; i++)
		if (strstr(list->items[i], part))
			return true;
	return false;
}

static void check(const struct report_row *row)
{
	cleanup(engine_report_release) struct engine_report report = { .cdi = REPORT_CDI_OFF };
	cleanup(engine_release) struct engine engine = { .pid = 0 };
	struct host host = { .run = old_runc };
	struct error error = ERROR_INIT;
	struct fixture fixture;
	size_t count = 0;

	while (count < ARRAY_SIZE(row->files) && row->files[count].path)
		count++;
	fixture_make(&fixture, row->files, count);
	host.root = fixture.root;
	assert_int_equal(engine_assume(row->kind, NULL, &engine, &error), 0);
	engine.major = row->major;
	engine.minor = row->minor;
	if (engine_report_make(&host, &engine, &report, &error) < 0)
		fail_msg("%s: %s", row->name, error.message);
	if (report.cdi != row->cdi || report.selinux != row->selinux ||
	    report.selinux_allows != row->selinux_allows)
		fail_msg("%s: CDI %d, SELinux %d", row->name, (int)report.cdi, (int)report.selinux);
	if (row->problem ? report.problems.count != 1 || !has(&report.problems, row->problem)
			 : report.problems.count != 0)
		fail_msg("%s: %zu problems, %s", row->name, report.problems.count,
			 report.problems.count ? report.problems.items[0] : "");
	fixture_remove(&fixture);
}

TEST(what_a_pod_would_get)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check(&rows[i]);
}

TEST(programs_and_their_floors)
{
	static const struct fixture_file files[] = { { "usr/sbin/runc", "" },
						     { "usr/bin/runc", "-> ../sbin/runc" },
						     { "usr/bin/crun", "" } };
	cleanup(engine_report_release) struct engine_report report = { .cdi = REPORT_CDI_OFF };
	cleanup(engine_release) struct engine engine = { .pid = 0 };
	struct host host = { .run = old_runc };
	struct error error = ERROR_INIT;
	struct fixture fixture;

	fixture_make(&fixture, files, ARRAY_SIZE(files));
	host.root = fixture.root;
	assert_int_equal(engine_assume(ENGINE_CRIO, NULL, &engine, &error), 0);
	assert_int_equal(engine_report_make(&host, &engine, &report, &error), 0);
	assert_true(has(&report.programs, "runc 1.1.5 (/usr/sbin/runc)"));
	assert_true(has(&report.programs, "crun 1.30 (/usr/bin/crun)"));
	assert_true(has(&report.programs, "runc 1.1.5 (/usr/bin/runc)"));
	assert_true(has(&report.warnings, "runc"));
	for (size_t i = 1; i < report.warnings.count; i++)
		assert_string_not_equal(report.warnings.items[i - 1], report.warnings.items[i]);
	fixture_remove(&fixture);
}
