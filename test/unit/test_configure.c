/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fake_engine.h"
#include "fixture.h"

#define DAEMON  "etc/docker/daemon.json"
#define RUNTIME "/usr/bin/gpupool-runtime"

static const struct fixture_file docker_files[] = {
	{ DAEMON,
	  "{\n  \"features\": {\n    \"buildkit\": true\n  },\n  \"live-restore\": true\n}\n" },
	{ "usr/bin/systemctl", "" },
};
static const struct runtime_entry our_entry = { "nvidia", RUNTIME };

/* One machine of a test. */
struct scene {
	struct fixture fixture;
	struct fake_engine fake;
	struct host host;
	struct engine engine;
	struct configure_options options;
	struct string_list notes;
	struct error error;
};

static void scene_open(struct scene *scene, const struct fixture_file *files, size_t count,
		       enum engine_kind kind, const char *program, const char *service)
{
	*scene = (struct scene){ .error = ERROR_INIT };
	fixture_make(&scene->fixture, files, count);
	scene->host = (struct host){ .root = scene->fixture.root,
				     .run = fake_engine_run,
				     .data = &scene->fake,
				     .patience_ms = 1 };
	scene->fake.host = &scene->host;
	assert_int_equal(engine_assume(kind, NULL, &scene->engine, &scene->error), 0);
	scene->engine.pid = 12;
	scene->engine.program = strdup(program);
	scene->engine.service = service ? strdup(service) : NULL;
	assert_non_null(scene->engine.program);
	scene->options.wish = (struct runtime_wish){ &our_entry, 1, false, false };
}

static void scene_close(struct scene *scene)
{
	fixture_remove(&scene->fixture);
	engine_release(&scene->engine);
	string_list_release(&scene->notes);
}

static void open_docker(struct scene *scene)
{
	scene_open(scene, docker_files, ARRAY_SIZE(docker_files), ENGINE_DOCKER, "/usr/bin/dockerd",
		   "docker.service");
	scene->engine.major = 28;
}

static int scene_call(struct scene *scene, bool undo)
{
	cleanup(configure_plan_release) struct configure_plan plan = { .changes = NULL };
	int r = undo ? configure_plan_undo(&scene->host, &scene->engine, &scene->options, &plan,
					   &scene->error)
		     : configure_plan_make(&scene->host, &scene->engine, &scene->options, &plan,
					   &scene->error);

	return r < 0 ? r
		     : configure_apply(&scene->host, &scene->engine, &scene->options, &plan,
				       &scene->notes, &scene->error);
}

static char *scene_read(const struct scene *scene, const char *path)
{
	char *text = NULL;

	(void)host_read(&scene->host, path, &text, NULL, NULL);
	return text;
}

static void check_file(const struct scene *scene, const char *path, const char *want)
{
	autofree char *text = scene_read(scene, path);

	if (!want != !text || (want && strcmp(text, want) != 0))
		fail_msg("%s is '%s'", path, text ? text : "(gone)");
}

static bool file_has(const struct scene *scene, const char *path, const char *part)
{
	autofree char *text = scene_read(scene, path);

	return text && strstr(text, part);
}

static bool has_note(const struct scene *scene, const char *part)
{
	for (size_t i = 0; i < scene->notes.count; i++)
		if (strstr(scene->notes.items[i], part))
			return true;
	return false;
}

TEST(one_change_one_reload_and_none_after_it)
{
	struct scene scene;

	open_docker(&scene);
	assert_int_equal(scene_call(&scene, false), 0);
	assert_true(file_has(&scene, DAEMON, RUNTIME));
	assert_true(file_has(&scene, DAEMON, "\"buildkit\": true"));
	assert_string_equal(scene.fake.calls, "dockerd --validate --config-file "
					      "/etc/docker/daemon.json\n"
					      "systemctl reload docker.service\n"
					      "systemctl is-active docker.service\n");
	scene.fake.calls[0] = '\0';
	assert_int_equal(scene_call(&scene, false), 0);
	assert_string_equal(scene.fake.calls, "");
	assert_int_equal(scene_call(&scene, true), 0);
	check_file(&scene, DAEMON, docker_files[0].text);
	check_file(&scene, "var/lib/gpupool/configure/docker.json", NULL);
	assert_int_equal(scene_call(&scene, true), -ENOENT);
	scene_close(&scene);
}

TEST(cdi_wants_a_restart)
{
	struct scene scene;

	open_docker(&scene);
	scene.options.wish.cdi = true;
	assert_int_equal(scene_call(&scene, false), 0);
	assert_int_equal(fake_engine_count(&scene.fake, "systemctl restart"), 1);
	scene_close(&scene);
}

/* Without live-restore a restart ends all containers: it is left to the one who asked. */
TEST(containers_are_not_ended_unasked)
{
	for (int always = 0; always < 2; always++) {
		struct scene scene;

		open_docker(&scene);
		fixture_write(&scene.fixture, DAEMON, "{}\n");
		scene.options.wish.cdi = true;
		scene.options.restart = always ? RESTART_ALWAYS : RESTART_AUTO;
		assert_int_equal(scene_call(&scene, false), 0);
		assert_int_equal(fake_engine_count(&scene.fake, "systemctl restart"), always);
		assert_int_equal(has_note(&scene, "ends its running containers"), !always);
		scene_close(&scene);
	}
}

TEST(a_file_that_the_engine_does_not_understand_is_put_back)
{
	struct scene scene;

	open_docker(&scene);
	scene.fake.bad_files = 1;
	assert_int_equal(scene_call(&scene, false), -EBADMSG);
	assert_non_null(strstr(scene.error.message, "cannot parse; all files are as before"));
	check_file(&scene, DAEMON, docker_files[0].text);
	check_file(&scene, "var/lib/gpupool/configure/docker.json", NULL);
	assert_int_equal(fake_engine_count(&scene.fake, "systemctl"), 0);
	scene_close(&scene);
}

TEST(a_daemon_that_does_not_come_back_gets_its_old_file)
{
	struct scene scene;

	open_docker(&scene);
	scene.fake.bad_starts = 1;
	assert_int_equal(scene_call(&scene, false), -EIO);
	assert_non_null(strstr(scene.error.message, "restarted as it was before"));
	assert_non_null(strstr(scene.error.message, "Job failed"));
	check_file(&scene, DAEMON, docker_files[0].text);
	check_file(&scene, "var/lib/gpupool/configure/docker.json", NULL);
	assert_int_equal(fake_engine_count(&scene.fake, "systemctl reload"), 1);
	assert_int_equal(fake_engine_count(&scene.fake, "systemctl restart"), 1);
	scene_close(&scene);
	open_docker(&scene);
	scene.fake.bad_starts = 2;
	assert_int_equal(scene_call(&scene, false), -EIO);
	assert_non_null(strstr(scene.error.message, "see its log"));
	check_file(&scene, DAEMON, docker_files[0].text);
	scene_close(&scene);
}

TEST(an_old_docker_is_not_asked)
{
	struct scene scene;

	open_docker(&scene);
	scene.engine.major = 20;
	assert_int_equal(scene_call(&scene, false), 0);
	assert_int_equal(fake_engine_count(&scene.fake, "dockerd"), 0);
	assert_true(has_note(&scene, "23.0"));
	scene_close(&scene);
}

TEST(without_a_unit_somebody_else_restarts)
{
	struct scene scene;

	scene_open(&scene, docker_files, ARRAY_SIZE(docker_files), ENGINE_DOCKER,
		   "/usr/bin/dockerd", NULL);
	assert_int_equal(scene_call(&scene, false), 0);
	assert_true(has_note(&scene, "no unit of systemd"));
	scene_close(&scene);
}

TEST(a_plan_that_is_out_of_date_is_refused)
{
	cleanup(configure_plan_release) struct configure_plan plan = { .changes = NULL };
	struct scene scene;

	open_docker(&scene);
	assert_int_equal(configure_plan_make(&scene.host, &scene.engine, &scene.options, &plan,
					     &scene.error),
			 0);
	fixture_write(&scene.fixture, DAEMON, "{\"debug\": true}");
	assert_int_equal(configure_apply(&scene.host, &scene.engine, &scene.options, &plan,
					 &scene.notes, &scene.error),
			 -ESTALE);
	check_file(&scene, DAEMON, "{\"debug\": true}");
	check_file(&scene, "var/lib/gpupool/configure/docker.json", NULL);
	scene_close(&scene);
}

TEST(one_at_a_time)
{
	struct scene scene;

	open_docker(&scene);
	int lock = host_lock(&scene.host, "/var/lib/gpupool/configure", &scene.error);
	assert_true(lock >= 0);
	assert_int_equal(scene_call(&scene, false), -EAGAIN);
	check_file(&scene, DAEMON, docker_files[0].text);
	close(lock);
	assert_int_equal(scene_call(&scene, false), 0);
	scene_close(&scene);
}

/* The record holds a file twice and escaped: it is longer than what is read of a host's files. */
TEST(undo_of_a_large_file)
{
	autofree char *large = malloc(3 << 20);
	struct scene scene;

	assert_non_null(large);
	memset(large, ' ', (3 << 20) - 1);
	memcpy(large, "{\"a\": \"", 7);
	memset(large + 7, '\\', (5 << 19) & ~1u);
	memcpy(large + (3 << 20) - 3, "}\n", 3);
	large[7 + ((5 << 19) & ~1u)] = '"';
	open_docker(&scene);
	fixture_write(&scene.fixture, DAEMON, large);
	if (scene_call(&scene, false) < 0)
		fail_msg("%s", scene.error.message);
	assert_true(file_has(&scene, DAEMON, RUNTIME));
	if (scene_call(&scene, true) < 0)
		fail_msg("%s", scene.error.message);
	check_file(&scene, DAEMON, large);
	scene_close(&scene);
}

TEST(undo_keeps_what_others_changed_since)
{
	struct scene scene;

	open_docker(&scene);
	assert_int_equal(scene_call(&scene, false), 0);
	fixture_write(&scene.fixture, DAEMON,
		      "{\"debug\": true, \"runtimes\": {\"nvidia\": {\"path\": \"" RUNTIME
		      "\"}, \"x\": {\"path\": \"/x\"}}}");
	assert_int_equal(scene_call(&scene, true), 0);
	check_file(
		&scene, DAEMON,
		"{\n  \"debug\": true,\n  \"runtimes\": {\n    \"x\": {\n      \"path\": \"/x\"\n"
		"    }\n  }\n}\n");
	scene_close(&scene);
}

/* Between two calls of ours somebody else changed the file: undo leads to that change, without us. */
TEST(undo_after_two_calls_and_a_change_between_them)
{
	static const struct runtime_entry moved = { "nvidia", "/opt/gpupool-runtime" };
	struct scene scene;

	open_docker(&scene);
	assert_int_equal(scene_call(&scene, false), 0);
	fixture_write(&scene.fixture, DAEMON,
		      "{\n  \"debug\": true,\n  \"runtimes\": {\n    \"nvidia\": {\n"
		      "      \"path\": \"" RUNTIME "\"\n    }\n  }\n}\n");
	scene.options.wish.entries = &moved;
	assert_int_equal(scene_call(&scene, false), 0);
	assert_int_equal(scene_call(&scene, true), 0);
	check_file(&scene, DAEMON, "{\n  \"debug\": true\n}\n");
	scene_close(&scene);
}

/* Each failing call once: either all is done, or all is as it was. */
static void check_failures(enum fault_call call, int number)
{
	for (unsigned n = 0;; n++) {
		struct scene scene;

		open_docker(&scene);
		fault_arm_call(call, n, number);
		int r = scene_call(&scene, false);
		bool hit = fault_disarm();
		/* Short of memory, whether the socket answered before is not known, and that is all. */
		if (hit && r == 0 && call != FAULT_MEMORY)
			fail_msg("a failed call (%d, number %u) was not noticed", (int)call, n);
		if (r < 0)
			check_file(&scene, DAEMON, docker_files[0].text);
		else
			assert_true(file_has(&scene, DAEMON, RUNTIME));
		scene_close(&scene);
		if (!hit) {
			assert_int_equal(r, 0);
			assert_true(n > 1);
			return;
		}
	}
}

TEST(each_failing_call_leaves_all_as_it_was)
{
	check_failures(FAULT_WRITE, ENOSPC);
	check_failures(FAULT_FSYNC, EIO);
	check_failures(FAULT_RENAME, EIO);
	check_failures(FAULT_MEMORY, ENOMEM);
}

TEST(names_and_paths_of_runtimes)
{
	static const struct {
		struct runtime_entry entry;
		int result;
	} rows[] = {
		{ { "nvidia-1.x_y", "/a" }, 0 },       { { "", "/a" }, -EINVAL },
		{ { "a b", "/a" }, -EINVAL },          { { "a\"b", "/a" }, -EINVAL },
		{ { "nvidia", "relative" }, -EINVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene scene;

		open_docker(&scene);
		scene.options.wish.entries = &rows[i].entry;
		assert_int_equal(scene_call(&scene, false), rows[i].result);
		scene_close(&scene);
	}
}

#define K3S      "var/lib/rancher/k3s/agent/etc/containerd/config.toml"
#define K3S_BASE "version = 2\nroot = \"/k3s\"\n"

/* As k3s: the file is made of the base and of what the template says beside it. */
static void k3s_start(const struct host *host)
{
	autofree char *template = NULL;
	autostrbuf text = STRBUF_INIT(65536);
	struct error error = ERROR_INIT;

	strbuf_adds(&text, K3S_BASE);
	if (host_read(host, K3S ".tmpl", &template, NULL, NULL) == 0)
		strbuf_adds(&text, strchr(template, '\n') + 1);
	assert_int_equal(host_write(host, K3S, text.data, 0600, &error), 0);
}

static void k3s_start_blind(const struct host *host)
{
	struct error error = ERROR_INIT;

	assert_int_equal(host_write(host, K3S, K3S_BASE, 0600, &error), 0);
}

static void open_k3s(struct scene *scene)
{
	static const struct fixture_file files[] = { { K3S, K3S_BASE },
						     { "usr/bin/systemctl", "" } };

	scene_open(scene, files, ARRAY_SIZE(files), ENGINE_CONTAINERD, "/k3s/bin/k3s",
		   "k3s.service");
	free(scene->engine.config);
	scene->engine.config = strdup("/" K3S);
	assert_non_null(scene->engine.config);
	snprintf(scene->engine.distribution, sizeof(scene->engine.distribution), "k3s");
	scene->engine.major = 1;
	scene->engine.minor = 7;
}

TEST(a_template_is_judged_by_what_is_made_of_it)
{
	struct scene scene;

	open_k3s(&scene);
	scene.fake.start = k3s_start;
	assert_int_equal(scene_call(&scene, false), 0);
	assert_true(file_has(&scene, K3S, RUNTIME));
	assert_string_equal(scene.fake.calls, "systemctl restart k3s.service\n"
					      "systemctl is-active k3s.service\n");
	assert_int_equal(scene_call(&scene, false), 0);
	assert_int_equal(fake_engine_count(&scene.fake, "systemctl restart"), 1);
	assert_int_equal(scene_call(&scene, true), 0);
	check_file(&scene, K3S, K3S_BASE);
	check_file(&scene, K3S ".tmpl", NULL);
	scene_close(&scene);
	/* One that does not read the template: found out after the restart, and taken back. */
	open_k3s(&scene);
	scene.fake.start = k3s_start_blind;
	assert_int_equal(scene_call(&scene, false), -EIO);
	assert_non_null(strstr(scene.error.message, "does not see the runtime nvidia"));
	check_file(&scene, K3S ".tmpl", NULL);
	assert_int_equal(fake_engine_count(&scene.fake, "systemctl restart"), 2);
	scene_close(&scene);
}

static int dump_file(const struct host *host, char **ret, struct error *error)
{
	return host_read(host, "/etc/containerd/config.toml", ret, NULL, error);
}

static int dump_nothing(const struct host *host, char **ret, struct error *error)
{
	(void)host;
	*ret = strdup("version = 2\n");
	return *ret ? 0 : error_no_memory(error);
}

/* containerd is asked for its own view, and a view without our runtime is a failure. */
TEST(the_dump_of_containerd_decides)
{
	static const struct fixture_file files[] = {
		{ "etc/containerd/config.toml", "version = 2\nroot = \"/r\"\n" },
		{ "bin/systemctl", "" },
	};

	for (int good = 0; good < 2; good++) {
		struct scene scene;

		scene_open(&scene, files, ARRAY_SIZE(files), ENGINE_CONTAINERD,
			   "/usr/bin/containerd", "containerd.service");
		scene.engine.major = 1;
		scene.engine.minor = 7;
		scene.fake.dump = good ? dump_file : dump_nothing;
		assert_int_equal(scene_call(&scene, false), good ? 0 : -EBADMSG);
		assert_int_equal(fake_engine_count(&scene.fake,
						   "containerd --config "
						   "/etc/containerd/config.toml config dump"),
				 1);
		assert_int_equal(fake_engine_count(&scene.fake, "systemctl restart"), good);
		if (!good)
			check_file(&scene, "etc/containerd/config.toml", files[0].text);
		scene_close(&scene);
	}
}

TEST(differences)
{
	static const struct {
		const char *before, *after, *diff;
	} rows[] = {
		{ "a\n", "a\n", "" },
		{ NULL, "a\nb\n", "--- /dev/null\n+++ /f\n@@ -0,0 +1,2 @@\n+a\n+b\n" },
		{ "a\n", NULL, "--- /f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n" },
		{ "a\nb\nc\n", "a\nX\nc\n", "--- /f\n+++ /f\n@@ -1,3 +1,3 @@\n a\n-b\n+X\n c\n" },
		{ "a", "a\nb",
		  "--- /f\n+++ /f\n@@ -1,1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n"
		  "\\ No newline at end of file\n" },
		{ "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\nx\n",
		  "--- /f\n+++ /f\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+x\n" },
		{ "x\n1\n2\n3\n4\n5\n6\n7\n8\ny\n", "1\n2\n3\n4\n5\n6\n7\n8\n",
		  "--- /f\n+++ /f\n@@ -1,4 +1,3 @@\n-x\n 1\n 2\n 3\n@@ -7,4 +6,3 @@\n 6\n 7\n 8\n"
		  "-y\n" },
		{ "x\n1\n2\n3\n4\n5\n6\ny\n", "1\n2\n3\n4\n5\n6\n",
		  "--- /f\n+++ /f\n@@ -1,8 +1,6 @@\n-x\n 1\n 2\n 3\n 4\n 5\n 6\n-y\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autostrbuf out = STRBUF_INIT(4096);

		assert_int_equal(text_diff("/f", rows[i].before, rows[i].after, &out), 0);
		assert_string_equal(out.data, rows[i].diff);
	}
}
