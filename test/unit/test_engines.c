/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "proc_tree.h"
#include "runtimes/runtimes.h"

#define PROCESSES_MAX 8

/* The same tree with other processes gives another engine: each row is a host. */
static const struct host_row {
	const char *name;
	struct proc_row processes[PROCESSES_MAX];
	struct fixture_file files[4];
	int result; /* of engines_choose() for any kind */
	enum engine_kind kind;
	const char *distribution, *config, *socket, *service;
	const char *sentence; /* in the error */
	bool of_kubelet;
} host_rows[] = {
	{ .name = "nothing runs", .result = -ENOENT, .sentence = "runs here; start one" },
	{ .name = "containerd and a kubelet that says nothing",
	  .processes = { { "10", "/usr/bin/containerd", "/usr/bin/containerd",
			   "0::/system.slice/containerd.service" },
			 { "11", "/usr/bin/kubelet --kubeconfig=/etc/kubernetes/kubelet.conf" } },
	  .distribution = "",
	  .config = "/etc/containerd/config.toml",
	  .socket = "/run/containerd/containerd.sock",
	  .service = "containerd.service",
	  .of_kubelet = true },
	{ .name = "the kubelet's file names CRI-O, containerd runs too",
	  .processes = { { "10", "/usr/bin/containerd --config /etc/other.toml" },
			 { "12", "/usr/bin/crio", "/usr/bin/crio",
			   "1:name=systemd:/system.slice/crio.service" },
			 { "11", "/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml" } },
	  .files = { { "var/lib/kubelet/config.yaml",
		       "kind: KubeletConfiguration\n"
		       "containerRuntimeEndpoint: unix:///var/run/crio/crio.sock\n" } },
	  .kind = ENGINE_CRIO,
	  .distribution = "",
	  .config = "/etc/crio/crio.conf",
	  .socket = "/run/crio/crio.sock",
	  .service = "crio.service",
	  .of_kubelet = true },
	{ .name = "an option of the kubelet counts more than its file",
	  .processes = { { "10", "/usr/bin/containerd -c=/etc/other.toml -a /run/c.sock" },
			 { "12", "/usr/bin/crio" },
			 { "11", "/usr/bin/kubelet --container-runtime-endpoint unix:///run/c.sock "
				 "--config=/var/lib/kubelet/config.yaml" } },
	  .files = { { "var/lib/kubelet/config.yaml",
		       "containerRuntimeEndpoint: unix:///var/run/crio/crio.sock\n" } },
	  .distribution = "",
	  .config = "/etc/other.toml",
	  .socket = "/run/c.sock",
	  .of_kubelet = true },
	{ .name = "sockets that stand in the files of the daemons",
	  .processes = { { "10", "/usr/bin/containerd -c /a.toml" },
			 { "12", "/usr/bin/containerd -c /b.toml" },
			 { "13", "/usr/bin/crio" },
			 { "11",
			   "/usr/bin/kubelet --container-runtime-endpoint=unix:///run/b.sock" } },
	  .files = { { "a.toml", "version = 2\n[grpc]\naddress = \"/run/a.sock\"\n" },
		     { "b.toml", "version = 4\n[plugins.\"io.containerd.server.v1.grpc\"]\n"
				 "address = \"/run/b.sock\"\n" },
		     { "etc/crio/crio.conf", "[crio.api]\nlisten = \"/run/c.sock\"\n" } },
	  .distribution = "",
	  .config = "/b.toml",
	  .socket = "/run/b.sock",
	  .of_kubelet = true },
	{ .name = "nobody serves the kubelet's socket",
	  .processes = { { "10", "/usr/bin/containerd" },
			 { "11", "/usr/bin/kubelet --container-runtime-endpoint=/run/x.sock" } },
	  .result = -ENOENT,
	  .sentence = "the kubelet uses /run/x.sock" },
	{ .name = "k3s: a containerd of its own beside the system's",
	  .processes = { { "10", "/usr/bin/containerd", "/usr/bin/containerd",
			   "0::/system.slice/containerd.service" },
			 { "20", "/usr/local/bin/k3s|server|--data-dir|/x",
			   "/var/lib/rancher/k3s/"
			   "data/a/bin/k3s",
			   "0::/system.slice/k3s.service" },
			 { "21",
			   "containerd -c /var/lib/rancher/k3s/agent/etc/containerd/config.toml -a "
			   "/run/k3s/containerd/containerd.sock --state /run/k3s/containerd",
			   "/var/lib/rancher/k3s/data/a/bin/k3s",
			   "0::/system.slice/k3s.service" } },
	  .distribution = "k3s",
	  .config = "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
	  .socket = "/run/k3s/containerd/containerd.sock",
	  .service = "k3s.service",
	  .of_kubelet = true },
	{ .name = "k3s with another data directory",
	  .processes = { { "20", "/usr/local/bin/k3s|agent" },
			 { "21", "containerd -c /data/agent/etc/containerd/config.toml -a "
				 "/run/k3s/containerd/containerd.sock" } },
	  .distribution = "k3s",
	  .config = "/data/agent/etc/containerd/config.toml",
	  .socket = "/run/k3s/containerd/containerd.sock",
	  .of_kubelet = true },
	{ .name = "k3s that was told to use the system's containerd",
	  .processes = { { "10", "/usr/bin/containerd", NULL,
			   "0::/system.slice/containerd.service" },
			 { "20", "/usr/local/bin/k3s server --container-runtime-endpoint "
				 "/run/containerd/containerd.sock" } },
	  .distribution = "",
	  .config = "/etc/containerd/config.toml",
	  .socket = "/run/containerd/containerd.sock",
	  .service = "containerd.service",
	  .of_kubelet = true },
	{ .name = "RKE2",
	  .processes = { { "20", "/usr/local/bin/rke2|server" },
			 { "21",
			   "containerd -c /var/lib/rancher/rke2/agent/etc/containerd/config.toml "
			   "-a /run/k3s/containerd/containerd.sock",
			   "/var/lib/rancher/rke2/data/v1/bin/containerd",
			   "0::/system.slice/rke2-server.service" },
			 { "22", "kubelet --container-runtime-endpoint=unix:///run/k3s/containerd/"
				 "containerd.sock" } },
	  .distribution = "rke2",
	  .config = "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
	  .socket = "/run/k3s/containerd/containerd.sock",
	  .service = "rke2-server.service",
	  .of_kubelet = true },
	{ .name = "k0s",
	  .processes = { { "21",
			   "/var/lib/k0s/bin/containerd --root=/var/lib/k0s/containerd "
			   "--state=/run/k0s/containerd --address=/run/k0s/containerd.sock "
			   "--config=/etc/k0s/containerd.toml",
			   "/var/lib/k0s/bin/containerd", "0::/system.slice/k0sworker.service" },
			 { "22", "/var/lib/k0s/bin/kubelet --config=/var/lib/k0s/k.yaml" } },
	  .files = { { "var/lib/k0s/k.yaml",
		       "containerRuntimeEndpoint: unix:///run/k0s/containerd.sock\n" } },
	  .distribution = "k0s",
	  .config = "/etc/k0s/containerd.toml",
	  .socket = "/run/k0s/containerd.sock",
	  .service = "k0sworker.service",
	  .of_kubelet = true },
	{ .name = "MicroK8s",
	  .processes = { { "21",
			   "/snap/microk8s/6364/bin/containerd --config "
			   "/var/snap/microk8s/6364/args/containerd.toml --address "
			   "/var/snap/microk8s/common/run/containerd.sock",
			   "/snap/microk8s/6364/bin/containerd",
			   "0::/system.slice/snap.microk8s.daemon-containerd.service" },
			 { "22", "/snap/microk8s/6364/kubelite --kubelet-args-file="
				 "/var/snap/microk8s/6364/args/kubelet" } },
	  .files = { { "var/snap/microk8s/6364/args/kubelet",
		       "--node-labels=x\n"
		       "--container-runtime-endpoint=${SNAP_COMMON}/run/containerd.sock\n" } },
	  .distribution = "microk8s",
	  .config = "/var/snap/microk8s/6364/args/containerd.toml",
	  .socket = "/var/snap/microk8s/common/run/containerd.sock",
	  .service = "snap.microk8s.daemon-containerd.service",
	  .of_kubelet = true },
	{ .name = "Docker with the system's containerd",
	  .processes = { { "10", "/usr/bin/containerd" },
			 { "12",
			   "/usr/bin/dockerd -H fd:// "
			   "--containerd=/run/containerd/containerd.sock",
			   "/usr/bin/dockerd", "0::/system.slice/docker.service" } },
	  .kind = ENGINE_DOCKER,
	  .distribution = "",
	  .config = "/etc/docker/daemon.json",
	  .socket = "fd://",
	  .service = "docker.service" },
	{ .name = "Docker with a containerd of its own, and another file",
	  .processes = { { "13", "containerd --config /var/run/docker/containerd/containerd.toml" },
			 { "12", "dockerd --config-file=/srv/daemon.json" } },
	  .kind = ENGINE_DOCKER,
	  .distribution = "",
	  .config = "/srv/daemon.json",
	  .socket = "/run/docker.sock" },
	{ .name = "a kubelet on Docker through cri-dockerd",
	  .processes = { { "10", "/usr/bin/containerd" },
			 { "12", "/usr/bin/dockerd --containerd=/run/containerd/containerd.sock" },
			 { "14", "/usr/bin/cri-dockerd --container-runtime-endpoint fd://" },
			 { "11", "/usr/bin/kubelet --container-runtime-endpoint="
				 "unix:///var/run/cri-dockerd.sock" } },
	  .kind = ENGINE_DOCKER,
	  .distribution = "",
	  .config = "/etc/docker/daemon.json",
	  .socket = "/run/docker.sock",
	  .of_kubelet = true },
	{ .name = "Docker and a containerd that is not its own: nobody says which",
	  .processes = { { "10", "/usr/bin/containerd" }, { "12", "/usr/bin/dockerd" } },
	  .result = -EEXIST,
	  .sentence = "--runtime containerd or --runtime docker" },
	{ .name = "two of a kind",
	  .processes = { { "10", "/usr/bin/containerd" },
			 { "12", "/usr/bin/containerd --config /b.toml --address /b.sock" } },
	  .result = -EEXIST,
	  .sentence = "--config FILE" },
	{ .name = "a containerd inside of a container is none of the host's",
	  .processes = { { "10", "/usr/bin/containerd", NULL, NULL, "pid:[2]" },
			 { "11", "/usr/bin/containerd --config /own.toml", NULL, NULL,
			   "pid:[1]" } },
	  .distribution = "",
	  .config = "/own.toml",
	  .socket = "/run/containerd/containerd.sock" },
	{ .name = "short-lived calls of the program are no daemons",
	  .processes = { { "10", "/usr/bin/containerd publish --topic x" },
			 { "11", "/usr/bin/containerd config dump" } },
	  .result = -ENOENT,
	  .sentence = "runs here; start one" },
	{ .name = "an upgraded program, and a program with another title",
	  .processes = { { "10", "containerd:|running", "/usr/bin/containerd (deleted)" } },
	  .distribution = "",
	  .config = "/etc/containerd/config.toml",
	  .socket = "/run/containerd/containerd.sock" },
};

static size_t count_files(const struct fixture_file *files)
{
	size_t count = 0;

	while (count < 4 && files[count].path)
		count++;
	return count;
}

static void check_text(const char *what, const char *row, const char *have, const char *want)
{
	if ((have == NULL) != (want == NULL) || (have && strcmp(have, want) != 0))
		fail_msg("%s: the %s is %s, not %s", row, what, have ? have : "none",
			 want ? want : "none");
}

static void check_host(const struct host_row *row)
{
	cleanup(engine_list_release) struct engine_list list = { .items = NULL };
	struct host host = { .root = NULL };
	const struct engine *engine = NULL;
	struct error error = ERROR_INIT;
	struct fixture fixture;

	fixture_make(&fixture, row->files, count_files(row->files));
	proc_make(&fixture, row->processes);
	host.root = fixture.root;
	assert_int_equal(engines_find(&host, &list, &error), 0);
	int r = engines_choose(&list, ENGINE_KIND_MAX, &engine, &error);
	if (r != row->result)
		fail_msg("%s: %d, not %d (%s)", row->name, r, row->result, error.message);
	if (r < 0 && !strstr(error.message, row->sentence))
		fail_msg("%s: %s", row->name, error.message);
	if (r == 0) {
		assert_int_equal(engine->kind, row->kind);
		check_text("distribution", row->name, engine->distribution, row->distribution);
		check_text("file", row->name, engine->config, row->config);
		check_text("socket", row->name, engine->socket, row->socket);
		check_text("service", row->name, engine->service, row->service);
		assert_int_equal(engine->of_kubelet, row->of_kubelet);
	}
	fixture_remove(&fixture);
}

TEST(processes_decide)
{
	for (size_t i = 0; i < ARRAY_SIZE(host_rows); i++)
		check_host(&host_rows[i]);
}

/* Two daemons with the same words, one in a mount namespace with another /etc. */
TEST(the_file_that_a_daemon_reads_is_ours)
{
	static const struct proc_row processes[] = {
		{ "10", "/usr/bin/containerd" },
		{ "12", "/usr/bin/containerd" },
		{ NULL },
	};
	static const struct fixture_file files[] = {
		{ "etc/containerd/config.toml", "" },
		{ "other/etc/containerd/config.toml", "" },
		{ "proc/10/root", "-> ../../other" },
		{ "proc/12/root", "-> ../.." },
	};
	cleanup(engine_list_release) struct engine_list list = { .items = NULL };
	struct host host = { .root = NULL };
	struct error error = ERROR_INIT;
	struct fixture fixture;

	fixture_make(&fixture, files, ARRAY_SIZE(files));
	proc_make(&fixture, processes);
	host.root = fixture.root;
	assert_int_equal(engines_find(&host, &list, &error), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].pid, 12);
	fixture_remove(&fixture);
}

TEST(a_kind_that_is_asked_for)
{
	static const struct proc_row processes[] = {
		{ "10", "/usr/bin/containerd" },
		{ "12", "/usr/bin/dockerd --containerd=/run/containerd/containerd.sock" },
		{ NULL },
	};
	cleanup(engine_list_release) struct engine_list list = { .items = NULL };
	struct host host = { .root = NULL };
	const struct engine *engine = NULL;
	struct error error = ERROR_INIT;
	struct fixture fixture;

	fixture_make(&fixture, NULL, 0);
	proc_make(&fixture, processes);
	host.root = fixture.root;
	assert_int_equal(engines_find(&host, &list, &error), 0);
	assert_int_equal(engines_choose(&list, ENGINE_CONTAINERD, &engine, &error), 0);
	assert_int_equal(engine->pid, 10);
	assert_true(engine->of_docker);
	assert_int_equal(engines_choose(&list, ENGINE_CRIO, &engine, &error), -ENOENT);
	assert_non_null(strstr(error.message, "CRI-O does not run here"));
	fixture_remove(&fixture);
}

static int say_version(void *data, const char *const *argv, char **ret, struct error *error)
{
	(void)error;
	assert_string_equal(argv[1], "--version");
	*ret = strdup(*(const char *const *)data);
	return *ret ? 0 : -ENOMEM;
}

TEST(versions_of_engines)
{
	static const struct {
		char text[80];
		const char *version;
		unsigned major, minor;
	} rows[] = {
		{ "containerd github.com/containerd/containerd/v2 v2.1.4 75cb2b7193e4\n", "2.1.4",
		  2, 1 },
		{ "containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3\n",
		  "1.6.20", 1, 6 },
		{ "Docker version 28.1.1, build 01f442b\n", "28.1.1", 28, 1 },
		{ "crio version 1.33.0\nVersion: 1.33.0\n", "1.33.0", 1, 33 },
		{ "no number here.\n", "", 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *text = rows[i].text;
		struct host host = { .root = "/", .run = say_version, .data = &text };
		cleanup(engine_release) struct engine engine = { .pid = 0 };
		struct error error = ERROR_INIT;

		assert_int_equal(engine_assume(ENGINE_CONTAINERD, NULL, &engine, &error), 0);
		engine.program = strdup("/usr/bin/containerd");
		assert_non_null(engine.program);
		assert_int_equal(engine_ask_version(&host, &engine), 0);
		assert_string_equal(engine.version, rows[i].version);
		assert_int_equal(engine.major, rows[i].major);
		assert_int_equal(engine.minor, rows[i].minor);
	}
}

TEST(search_survives_every_failed_allocation)
{
	const struct host_row *row = &host_rows[7];
	struct fixture fixture;

	fixture_make(&fixture, row->files, count_files(row->files));
	proc_make(&fixture, row->processes);
	for (unsigned n = 0;; n++) {
		cleanup(engine_list_release) struct engine_list list = { .items = NULL };
		struct host host = { .root = fixture.root };
		struct error error = ERROR_INIT;

		fault_arm(n);
		int r = engines_find(&host, &list, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_int_equal(list.count, 1);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	fixture_remove(&fixture);
}
