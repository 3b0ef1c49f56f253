/* SPDX-License-Identifier: Apache-2.0 */
/* Registration and lists of a plugin, against the fake kubelet over real sockets. */
#include "plugin_world.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- registration --- */

TEST(a_plugin_registers_with_a_kubelet_that_runs)
{
	struct world world;

	world_listed(&world, 2);
	assert_string_equal(world.log.data,
			    "Register nvidia.com/gpu\n"
			    "GetDevicePluginOptions nvidia.com/gpu preferred\n"
			    "ListAndWatch nvidia.com/gpu\n"
			    "List nvidia.com/gpu healthy {GPU-0,GPU-1} unhealthy {}\n");
	assert_int_equal(world.events[DEVICE_PLUGIN_REGISTERED], 1);
	assert_int_equal(world.events[DEVICE_PLUGIN_LISTED], 1);
	assert_int_equal(fake_kubelet_counts(world.kubelet, GPU, true).allocatable, 2);
	assert_int_equal(fake_kubelet_counts(world.kubelet, GPU, false).allocatable, 0);
	fake_kubelet_advance(world.kubelet, 10000);
	assert_int_equal(fake_kubelet_counts(world.kubelet, GPU, false).allocatable, 2);
	world_end(&world);
}

TEST(a_plugin_waits_for_a_kubelet_that_comes_later)
{
	struct world world;

	world_start(&world);
	world.plugin = plugin_start(&world, NULL);
	update(world.plugin, 2, SIZE_MAX);
	linger(&world, 50);
	assert_int_equal(world.events[DEVICE_PLUGIN_ABSENT], 1);
	assert_non_null(
		strstr(world.last, "kubelet.sock is not there; nvidia.com/gpu is registered"));
	kubelet_start(&world);
	WAIT(&world, listed);
	assert_int_equal(world.events[DEVICE_PLUGIN_REFUSED], 0);
	world_end(&world);
}

TEST(nothing_is_registered_before_there_is_a_list)
{
	struct world world;

	world_start(&world);
	kubelet_start(&world);
	world.plugin = plugin_start(&world, NULL);
	linger(&world, 100);
	assert_string_equal(world.log.data, "");
	update(world.plugin, 0, SIZE_MAX);
	linger(&world, 100);
	assert_int_equal(count_lines(&world, "List nvidia.com/gpu healthy {} unhealthy {}"), 1);
	world_end(&world);
}

TEST(ten_restarts_of_the_kubelet)
{
	struct world world;

	world_listed(&world, 8);
	for (int i = 0; i < 10; i++) {
		fake_kubelet_kill(world.kubelet);
		/* At once, as a crash does; later, as systemd does; and in between. */
		linger(&world, (uint64_t)i * 17);
		kubelet_start(&world);
		WAIT(&world, listed);
	}
	assert_int_equal(count_lines(&world, "Register "), 11);
	assert_int_equal(count_lines(&world, "ListAndWatch "), 11);
	assert_int_equal(fake_kubelet_streams(world.kubelet), 1);
	world_end(&world);
}

static void remove_socket(struct world *world)
{
	char path[TREE_PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", world->directory, KUBELET_SOCKET_NAME);
	assert_int_equal(unlink(path), 0);
}

TEST(kubelet_sock_removed_while_the_stream_lives)
{
	struct world world;

	world_listed(&world, 4);
	remove_socket(&world);
	linger(&world, 300);
	assert_true(listed(&world));
	assert_int_equal(world.events[DEVICE_PLUGIN_ENDED], 0);
	update(world.plugin, 4, 1);
	linger(&world, 100);
	assert_int_equal(fake_kubelet_counts(world.kubelet, GPU, true).allocatable, 3);
	/* And then it restarts. */
	fake_kubelet_kill(world.kubelet);
	kubelet_start(&world);
	WAIT(&world, listed);
	assert_int_equal(count_lines(&world, "Register "), 2);
	world_end(&world);
}

TEST(kubelet_sock_removed_while_the_call_runs)
{
	struct world world;

	world_start(&world);
	fake_kubelet_knobs(world.kubelet)->dial_delay_ms = 200;
	kubelet_start(&world);
	world.plugin = plugin_start(&world, NULL);
	update(world.plugin, 4, SIZE_MAX);
	linger(&world, 50);
	remove_socket(&world);
	WAIT(&world, listed);
	world_end(&world);
}

static void closed_stream(bool old_clients)
{
	struct world world;

	world_start(&world);
	fake_kubelet_knobs(world.kubelet)->old_clients = old_clients;
	kubelet_start(&world);
	world.plugin = plugin_start(&world, NULL);
	update(world.plugin, 4, SIZE_MAX);
	WAIT(&world, listed);
	for (unsigned i = 0; i < 3; i++) {
		fake_kubelet_disconnect(world.kubelet, GPU);
		WAIT(&world, unlisted);
		assert_int_equal(fake_kubelet_counts(world.kubelet, GPU, true).allocatable, 0);
		assert_int_equal(fake_kubelet_counts(world.kubelet, GPU, true).capacity, 4);
		WAIT(&world, listed);
		assert_int_equal(fake_kubelet_streams(world.kubelet), 1);
	}
	/* It stays. */
	linger(&world, 400);
	assert_true(listed(&world));
	assert_int_equal(count_lines(&world, "Register "), 4);
	world_end(&world);
}

TEST(a_stream_that_the_kubelet_closes_is_made_again)
{
	closed_stream(false);
}

TEST(a_stream_that_a_kubelet_of_1_36_closes_is_made_again)
{
	closed_stream(true);
}

/* The kubelet may still be busy with the old stream as long as a connection is open: no call before. */
TEST(no_registration_before_the_old_connections_are_closed)
{
	struct grpc_client *client = NULL;
	char path[TREE_PATH_MAX + 300] = "";
	struct world world;

	world_listed(&world, 4);
	world_socket(&world, path, sizeof(path));
	assert_int_equal(grpc_client_connect(world.loop,
					     &(struct grpc_client_options){ .socket_path = path },
					     &client, NULL),
			 0);
	linger(&world, 20);
	fake_kubelet_disconnect(world.kubelet, GPU);
	linger(&world, 500);
	assert_int_equal(count_lines(&world, "Register "), 1);
	uint64_t start = loop_now_ms(world.loop);
	grpc_client_free(client);
	linger(&world, 60);
	assert_int_equal(count_lines(&world, "Register "), 1);
	WAIT(&world, listed);
	assert_in_range(loop_now_ms(world.loop) - start, 100, 1400);
	world_end(&world);
}

/* Nor is it waited for for ever. */
TEST(a_connection_that_stays_is_cut)
{
	struct grpc_client *client = NULL;
	char path[TREE_PATH_MAX + 300] = "";
	struct world world;

	world_listed(&world, 4);
	world_socket(&world, path, sizeof(path));
	assert_int_equal(grpc_client_connect(world.loop,
					     &(struct grpc_client_options){ .socket_path = path },
					     &client, NULL),
			 0);
	linger(&world, 20);
	fake_kubelet_disconnect(world.kubelet, GPU);
	WAIT(&world, listed);
	assert_false(grpc_client_usable(client));
	grpc_client_free(client);
	world_end(&world);
}

/* The control: what happens to a plugin that does register beside its own stream. */
TEST(the_fake_of_1_36_ends_the_new_stream_with_the_old)
{
	for (int old = 0; old < 2; old++) {
		struct world world;
		struct device_plugin *second;

		world_start(&world);
		fake_kubelet_knobs(world.kubelet)->old_clients = old;
		kubelet_start(&world);
		world.plugin = plugin_start(&world, "first");
		update(world.plugin, 4, SIZE_MAX);
		WAIT(&world, listed);
		second = plugin_start(&world, "second");
		update(second, 4, SIZE_MAX);
		linger(&world, 100);
		assert_int_equal(fake_kubelet_streams(world.kubelet), 2);
		device_plugin_stop(TAKE_PTR(world.plugin));
		linger(&world, 20);
		assert_int_equal(fake_kubelet_streams(world.kubelet), old ? 0 : 1);
		assert_int_equal(fake_kubelet_counts(world.kubelet, GPU, true).allocatable,
				 old ? 0 : 4);
		world.plugin = second;
		WAIT(&world, listed);
		world_end(&world);
	}
}

/* A process that serves a socket, as another plugin does. */
static pid_t start_other(const char *directory, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", directory, name);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	pid_t pid = fork();
	if (pid == 0) {
		/* Nothing of the test's own: its connections would stay open in here. */
		dup2(fd, 0);
		close_range(1, ~0U, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		listen(0, 5);
		for (;;)
			pause();
	}
	close(fd);
	return pid;
}

static void rival(bool serves)
{
	struct device_plugin *other;
	struct world world;
	pid_t pid = 0;

	world_start(&world);
	fake_kubelet_knobs(world.kubelet)->old_clients = true;
	kubelet_start(&world);
	other = plugin_start(&world, "rival");
	update(other, 1, SIZE_MAX);
	linger(&world, 100);
	world.plugin = plugin_start(&world, NULL);
	update(world.plugin, 4, SIZE_MAX);
	WAIT(&world, listed);
	if (serves)
		pid = start_other(world.directory, "nvidia-gpu.sock");
	else
		tree_socket(world.directory, "nvidia-gpu.sock");
	/* The rival's stream ends, and with it ours: what such a kubelet does. */
	device_plugin_stop(other);
	WAIT(&world, unlisted);
	WAIT(&world, listed);
	assert_int_equal(count_lines(&world, "Ended "), 2);
	assert_int_equal(world.events[DEVICE_PLUGIN_RIVAL], serves);
	if (serves) {
		char expected[128];

		snprintf(expected, sizeof(expected), "nvidia-gpu.sock (process %d, ", (int)pid);
		if (!strstr(world.rival, expected))
			fail_msg("\"%s\" instead of \"%s\"", world.rival, expected);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	world_end(&world);
}

TEST(a_rival_is_named)
{
	rival(true);
}

TEST(a_socket_that_nobody_serves_is_no_rival)
{
	rival(false);
}

TEST(a_rival_in_the_checkpoint_is_named)
{
	cleanup(kubelet_checkpoint_release) struct kubelet_checkpoint checkpoint = { .entries =
											     NULL };
	struct world world;
	char path[TREE_PATH_MAX + 64];

	world_listed(&world, 2);
	snprintf(path, sizeof(path), "%s/%s", world.directory, KUBELET_CHECKPOINT_NAME);
	assert_int_equal(kubelet_checkpoint_read(path, &checkpoint, NULL), 0);
	assert_false(device_plugin_check_rival(world.plugin, &checkpoint));
	string_list_add(&checkpoint.registered[0].ids, "GPU-of-another");
	assert_true(device_plugin_check_rival(world.plugin, &checkpoint));
	assert_true(device_plugin_check_rival(world.plugin, &checkpoint));
	assert_int_equal(world.events[DEVICE_PLUGIN_RIVAL], 1);
	assert_non_null(strstr(world.rival,
			       "the kubelet has GPU-of-another as a device of nvidia.com/gpu"));
	world_end(&world);
}

TEST(a_slow_kubelet)
{
	struct world world;

	world_start(&world);
	fake_kubelet_knobs(world.kubelet)->dial_delay_ms = 600;
	fake_kubelet_knobs(world.kubelet)->stream_delay_ms = 300;
	kubelet_start(&world);
	world.plugin = plugin_start(&world, NULL);
	update(world.plugin, 2, SIZE_MAX);
	WAIT(&world, listed);
	assert_int_equal(count_lines(&world, "Register "), 1);
	assert_int_equal(world.events[DEVICE_PLUGIN_REFUSED], 0);
	world_end(&world);
}

/* --- refusals --- */

struct refuser {
	unsigned asked, refusals;
	struct grpc_server *server;
};

static void handle_register(struct grpc_call *call, const void *message __attribute__((unused)),
			    size_t size __attribute__((unused)), void *user)
{
	struct refuser *refuser = user;

	refuser->asked++;
	grpc_call_finish(call, GRPC_UNKNOWN, "the ResourceName \"nvidia.com/gpu\" is invalid");
}

static const struct grpc_method refuser_methods[] = {
	{ "/v1beta1.Registration/Register", handle_register, NULL },
	{ NULL, NULL, NULL },
};

TEST(a_refusal_is_said_once_and_tried_ever_less)
{
	struct refuser refuser = { .asked = 0 };
	char path[TREE_PATH_MAX + 32];
	struct world world;

	world_start(&world);
	snprintf(path, sizeof(path), "%s/%s", world.directory, KUBELET_SOCKET_NAME);
	const struct grpc_server_options options = { .socket_path = path,
						     .methods = refuser_methods,
						     .user = &refuser };
	assert_int_equal(grpc_server_listen(world.loop, &options, &refuser.server, NULL), 0);
	world.plugin = plugin_start(&world, NULL);
	update(world.plugin, 2, SIZE_MAX);
	linger(&world, 500);
	/* 0, 50, 150, 350 ms */
	assert_in_range(refuser.asked, 2, 4);
	assert_int_equal(world.events[DEVICE_PLUGIN_REFUSED], 1);
	assert_non_null(strstr(
		world.last, "nvidia.com/gpu is not registered yet: the kubelet says UNKNOWN: the "
			    "ResourceName"));
	grpc_server_close(refuser.server);
	kubelet_start(&world);
	WAIT(&world, listed);
	world_end(&world);
}

/* The name is there before somebody listens, and after the kubelet was killed. */
TEST(a_socket_without_a_listener)
{
	struct world world;

	world_start(&world);
	tree_socket(world.directory, KUBELET_SOCKET_NAME);
	world.plugin = plugin_start(&world, NULL);
	update(world.plugin, 2, SIZE_MAX);
	linger(&world, 400);
	assert_int_equal(world.events[DEVICE_PLUGIN_REFUSED], 1);
	kubelet_start(&world);
	WAIT(&world, listed);
	world_end(&world);
}

/* --- lists --- */

TEST(lists_are_whole_and_few)
{
	struct world world;

	world_listed(&world, 8);
	for (size_t i = 0; i < 100; i++)
		update(world.plugin, 8, i % 8);
	linger(&world, 200);
	assert_in_range(count_lines(&world, "List "), 2, 3);
	assert_true(fake_kubelet_counts(world.kubelet, GPU, true).allocatable == 7);
	assert_non_null(
		strstr(world.log.data, "GPU-2,GPU-4,GPU-5,GPU-6,GPU-7} unhealthy {GPU-3}\n"));
	unsigned lists = count_lines(&world, "List ");
	/* The same again is no news, unless it is asked for. */
	update(world.plugin, 8, 3);
	linger(&world, 100);
	assert_int_equal(count_lines(&world, "List "), lists);
	device_plugin_resend(world.plugin);
	linger(&world, 100);
	assert_int_equal(count_lines(&world, "List "), lists + 1);
	/* First all unhealthy, then nothing. */
	update(world.plugin, 0, SIZE_MAX);
	linger(&world, 100);
	assert_int_equal(fake_kubelet_counts(world.kubelet, GPU, true).capacity, 0);
	world_end(&world);
}

/* --- sockets --- */

TEST(sockets_of_a_killed_instance_are_swept_and_ours_goes_with_us)
{
	struct world world;
	char path[TREE_PATH_MAX + 64];
	struct stat status;

	world_start(&world);
	tree_socket(world.directory, "gpupool-nvidia.com_gpu-1-0.sock");
	tree_socket(world.directory, "another.sock");
	world.plugin = plugin_start(&world, NULL);
	snprintf(path, sizeof(path), "%s/gpupool-nvidia.com_gpu-1-0.sock", world.directory);
	assert_int_equal(stat(path, &status), -1);
	snprintf(path, sizeof(path), "%s/another.sock", world.directory);
	assert_int_equal(stat(path, &status), 0);
	kubelet_start(&world);
	update(world.plugin, 1, SIZE_MAX);
	WAIT(&world, listed);
	device_plugin_stop(TAKE_PTR(world.plugin));
	autofree char *names = tree_describe(world.directory);
	if (strstr(names, "/gpupool-nvidia"))
		fail_msg("%s", names);
	world_end(&world);
}

/* --- short of memory --- */

static void no_event(enum device_plugin_event event __attribute__((unused)),
		     const char *text __attribute__((unused)), void *user __attribute__((unused)))
{
}

/* Nothing is lost: a start that fails says so, and what fails later is tried again. */
TEST(short_of_memory_it_says_so_or_tries_again)
{
	const struct device_plugin_callbacks none = { NULL, NULL, no_event };
	const struct kubelet_device device = { .id = "GPU-0", .healthy = true };
	unsigned refused = 0, listed_after = 0;

	for (unsigned n = 0;; n++) {
		struct world world;
		struct error error = ERROR_INIT;

		world_start(&world);
		kubelet_start(&world);
		const struct device_plugin_options options = { .resource = GPU,
							       .directory = world.directory };
		fault_arm(n);
		int r = device_plugin_start(world.loop, &options, &none, NULL, &world.plugin,
					    &error);
		if (r == 0)
			r = device_plugin_update(world.plugin, &device, 1, &error);
		bool hit = fault_disarm();
		if (r < 0) {
			assert_int_equal(r, -ENOMEM);
			refused++;
		} else {
			WAIT(&world, listed);
			listed_after += hit;
		}
		world_end(&world);
		if (!hit)
			break;
	}
	printf("# %u times refused, %u times listed all the same\n", refused, listed_after);
	assert_true(refused > 5 && listed_after > 5);
}
