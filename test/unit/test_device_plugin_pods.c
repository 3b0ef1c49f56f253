/* SPDX-License-Identifier: Apache-2.0 */
/* Pods, and questions to pod-resources and the runtime, against the fake kubelet. */
#include "plugin_world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- Pods --- */

TEST(pods_are_admitted_and_refused)
{
	struct world world;

	world_listed(&world, 2);
	add_pod(&world, "p", "c:nvidia.com/gpu=1");
	add_pod(&world, "q", "c:nvidia.com/gpu=2");
	add_pod(&world, "r", "c");
	WAIT(&world, idle);
	assert_int_equal(fake_kubelet_pod(world.kubelet, "p"), FAKE_POD_RUNNING);
	assert_int_equal(fake_kubelet_pod(world.kubelet, "q"), FAKE_POD_REJECTED);
	assert_int_equal(fake_kubelet_pod(world.kubelet, "r"), FAKE_POD_RUNNING);
	assert_string_equal(
		fake_kubelet_why(world.kubelet, "q"),
		"requested number of devices unavailable for nvidia.com/gpu. Requested: 2, "
		"Available: 1");
	assert_non_null(fake_kubelet_answer(world.kubelet, "p", "c", GPU));
	assert_int_equal(
		count_lines(&world,
			    "GetPreferredAllocation nvidia.com/gpu 1 of {GPU-0,GPU-1} must {} -> "),
		1);
	world_end(&world);
}

TEST(the_plugins_words_reach_the_pod)
{
	struct world world;

	world_listed(&world, 2);
	world.refuse = true;
	add_pod(&world, "p", "c:nvidia.com/gpu=1");
	WAIT(&world, idle);
	assert_string_equal(
		fake_kubelet_why(world.kubelet, "p"),
		"device plugin GetPreferredAllocation rpc failed with err: rpc error: code = "
		"FailedPrecondition desc = no card has 1 free; the largest has 3");
	world.refuse = false;
	world.short_answer = true;
	add_pod(&world, "q", "c:nvidia.com/gpu=2");
	WAIT(&world, idle);
	assert_non_null(strstr(fake_kubelet_why(world.kubelet, "q"),
			       "gpupool chose 1 devices of nvidia.com/gpu instead of 2"));
	world_end(&world);
}

TEST(an_allocation_is_answered_later_or_refused)
{
	struct world world;

	world_listed(&world, 2);
	world.keep = true;
	add_pod(&world, "p", "c:nvidia.com/gpu=1");
	WAIT(&world, kept);
	linger(&world, 50);
	assert_int_equal(fake_kubelet_pod(world.kubelet, "p"), FAKE_POD_WAITING);
	answer(TAKE_PTR(world.kept));
	WAIT(&world, idle);
	assert_int_equal(fake_kubelet_pod(world.kubelet, "p"), FAKE_POD_RUNNING);
	add_pod(&world, "q", "c:nvidia.com/gpu=1");
	WAIT(&world, kept);
	device_plugin_refuse(TAKE_PTR(world.kept), "no");
	WAIT(&world, idle);
	assert_string_equal(fake_kubelet_why(world.kubelet, "q"),
			    "rpc error: code = FailedPrecondition desc = no");
	world_end(&world);
}

TEST(an_answer_for_a_kubelet_that_has_gone)
{
	cleanup(kubelet_answer_release) struct kubelet_answer what = { .envs = NULL };
	struct error error = ERROR_INIT;
	struct world world;

	world_listed(&world, 2);
	world.keep = true;
	add_pod(&world, "p", "c:nvidia.com/gpu=1");
	WAIT(&world, kept);
	fake_kubelet_kill(world.kubelet);
	WAIT(&world, unlisted);
	assert_int_equal(device_plugin_answer(TAKE_PTR(world.kept), &what, &error), -ECANCELED);
	assert_string_equal(error.message,
			    "the kubelet gave up this allocation; it holds nothing of it");
	/* And a plugin that was stopped meanwhile. */
	fake_kubelet_knobs(world.kubelet)->admit_delay_ms = 300;
	kubelet_start(&world);
	WAIT(&world, kept);
	device_plugin_stop(TAKE_PTR(world.plugin));
	assert_int_equal(device_plugin_answer(TAKE_PTR(world.kept), &what, NULL), -ECANCELED);
	world_end(&world);
}

TEST(init_containers_pass_their_devices_on)
{
	struct world world;

	world_listed(&world, 4);
	add_pod(&world, "p",
		"init:i:nvidia.com/gpu=1 c:nvidia.com/gpu=2 sidecar:s:nvidia.com/gpu=1");
	WAIT(&world, idle);
	assert_int_equal(fake_kubelet_pod(world.kubelet, "p"), FAKE_POD_RUNNING);
	/* i takes one, s takes i's, c must ask for two. */
	assert_int_equal(count_lines(&world, "GetPreferredAllocation "), 2);
	assert_int_equal(count_lines(&world, "Allocate "), 3);
	add_pod(&world, "q", "init:i:nvidia.com/gpu=1");
	WAIT(&world, idle);
	add_pod(&world, "r", "c:nvidia.com/gpu=1");
	WAIT(&world, idle);
	assert_int_equal(fake_kubelet_pod(world.kubelet, "r"), FAKE_POD_REJECTED);
	world_end(&world);
}

TEST(must_include_comes_with_what_is_reused)
{
	struct world world;

	world_listed(&world, 4);
	add_pod(&world, "p", "init:i:nvidia.com/gpu=1 c:nvidia.com/gpu=3");
	WAIT(&world, idle);
	assert_int_equal(fake_kubelet_pod(world.kubelet, "p"), FAKE_POD_RUNNING);
	assert_int_equal(count_lines(&world, "GetPreferredAllocation nvidia.com/gpu 3 of "
					     "{GPU-0,GPU-1,GPU-2,GPU-3} must {GPU-"),
			 1);
	world_end(&world);
}

/* kubernetes/kubernetes#137534: List of somebody, a dead Pod to collect, an Allocate in flight. */
TEST(the_fake_hands_an_id_out_twice_as_the_kubelet_does)
{
	cleanup(kubelet_holdings_release) struct kubelet_holdings holdings = { .items = NULL };
	struct world world;

	world_listed(&world, 2);
	add_pod(&world, "dead", "c:nvidia.com/gpu=1");
	WAIT(&world, idle);
	world.keep = true;
	add_pod(&world, "p", "c:nvidia.com/gpu=1");
	WAIT(&world, kept);
	fake_kubelet_end_pod(world.kubelet, "dead");
	fake_kubelet_collect(world.kubelet);
	answer(TAKE_PTR(world.kept));
	WAIT(&world, idle);
	world.keep = false;
	add_pod(&world, "q", "c:nvidia.com/gpu=2");
	WAIT(&world, idle);
	assert_int_equal(fake_kubelet_pod(world.kubelet, "q"), FAKE_POD_RUNNING);
	fake_kubelet_holders(world.kubelet, &holdings);
	assert_int_equal(holdings.count, 2);
	world_end(&world);
}

TEST(pods_outlive_a_restart_of_the_kubelet)
{
	struct world world;

	world_listed(&world, 2);
	add_pod(&world, "p", "c:nvidia.com/gpu=1");
	WAIT(&world, idle);
	fake_kubelet_kill(world.kubelet);
	kubelet_start(&world);
	WAIT(&world, idle);
	WAIT(&world, listed);
	assert_int_equal(fake_kubelet_pod(world.kubelet, "p"), FAKE_POD_RUNNING);
	assert_int_equal(count_lines(&world, "Allocate "), 1);
	add_pod(&world, "q", "c:nvidia.com/gpu=2");
	WAIT(&world, idle);
	assert_int_equal(fake_kubelet_pod(world.kubelet, "q"), FAKE_POD_REJECTED);
	world_end(&world);
}

TEST(after_a_reboot_the_first_list_decides)
{
	struct world world;

	world_listed(&world, 2);
	add_pod(&world, "p", "c:nvidia.com/gpu=1");
	WAIT(&world, idle);
	fake_kubelet_kill(world.kubelet);
	fake_kubelet_reboot(world.kubelet);
	/* Pods come 200 ms after the kubelet: the plugin is faster. */
	fake_kubelet_knobs(world.kubelet)->admit_delay_ms = 200;
	kubelet_start(&world);
	WAIT(&world, idle);
	assert_int_equal(fake_kubelet_pod(world.kubelet, "p"), FAKE_POD_RUNNING);
	assert_non_null(fake_kubelet_answer(world.kubelet, "p", "c", GPU));
	/* And slower. */
	fake_kubelet_kill(world.kubelet);
	fake_kubelet_reboot(world.kubelet);
	fake_kubelet_knobs(world.kubelet)->admit_delay_ms = 0;
	fake_kubelet_knobs(world.kubelet)->dial_delay_ms = 100;
	kubelet_start(&world);
	WAIT(&world, idle);
	assert_int_equal(fake_kubelet_pod(world.kubelet, "p"), FAKE_POD_REJECTED);
	assert_string_equal(
		fake_kubelet_why(world.kubelet, "p"),
		"no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu");
	world_end(&world);
}

TEST(a_plugin_that_is_away_keeps_its_capacity_for_five_minutes)
{
	struct world world;

	world_listed(&world, 2);
	fake_kubelet_advance(world.kubelet, 10000);
	device_plugin_stop(TAKE_PTR(world.plugin));
	linger(&world, 50);
	fake_kubelet_advance(world.kubelet, 10000);
	assert_int_equal(fake_kubelet_counts(world.kubelet, GPU, false).capacity, 2);
	assert_int_equal(fake_kubelet_counts(world.kubelet, GPU, false).allocatable, 0);
	fake_kubelet_advance(world.kubelet, 300000);
	assert_int_equal(fake_kubelet_counts(world.kubelet, GPU, false).capacity, 0);
	world_end(&world);
}

/* --- questions --- */

struct told {
	unsigned count;
	int number;
	size_t holdings, pods;
	char text[ERROR_MESSAGE_MAX];
};

static void tell(struct kubelet_holdings *holdings, const struct error *error, void *user)
{
	struct told *told = user;

	told->count++;
	told->number = error ? error->number : 0;
	told->holdings = holdings ? holdings->count : 0;
	told->pods = holdings ? holdings->pods.count : 0;
	snprintf(told->text, sizeof(told->text), "%s", error ? error->message : "");
}

TEST(pod_resources_are_asked)
{
	struct pod_resources *client = NULL;
	struct told list = { .count = 0 }, limited = { .count = 0 };
	struct error error = ERROR_INIT;
	struct world world;

	world_listed(&world, 2);
	add_pod(&world, "p", "c:nvidia.com/gpu=2");
	WAIT(&world, idle);
	assert_int_equal(pod_resources_new(world.loop, world.resources, &client, NULL), 0);
	assert_int_equal(pod_resources_list(client, tell, &list, NULL), 0);
	linger(&world, 50);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.holdings, 1);
	assert_int_equal(list.pods, 1);
	fake_kubelet_knobs(world.kubelet)->refuse_questions = true;
	assert_int_equal(pod_resources_list(client, tell, &limited, NULL), 0);
	linger(&world, 50);
	assert_int_equal(limited.number, EBUSY);
	/* Then it is left alone for a while. */
	assert_int_equal(pod_resources_list(client, tell, &limited, &error), -EBUSY);
	/* A kubelet that restarted is asked on a new connection. */
	fake_kubelet_knobs(world.kubelet)->refuse_questions = false;
	fake_kubelet_kill(world.kubelet);
	kubelet_start(&world);
	linger(&world, 1100);
	assert_int_equal(pod_resources_list(client, tell, &list, &error), 0);
	linger(&world, 50);
	assert_int_equal(list.count, 2);
	pod_resources_free(client);
	world_end(&world);
}

static void handle_status(struct grpc_call *call, const void *message, size_t size, void *user)
{
	static const char status[] = "\x12\x1c\x0a\x06"
				     "config\x12\x12{\"enableCDI\":true}";
	bool *silent = user;
	bool verbose = false;

	assert_int_equal(kubelet_unpack_status_request(message, size, &verbose, NULL), 0);
	assert_true(verbose);
	if (*silent)
		return;
	grpc_call_send(call, status, sizeof(status) - 1, NULL);
	grpc_call_finish(call, GRPC_OK, NULL);
}

static void status_gone(struct grpc_call *call __attribute__((unused)),
			void *user __attribute__((unused)))
{
}

static const struct grpc_method runtime_methods[] = {
	{ "/runtime.v1.RuntimeService/Status", handle_status, status_gone },
	{ NULL, NULL, NULL },
};

static void tell_status(const struct kubelet_runtime_status *status, const struct error *error,
			void *user)
{
	int *told = user;

	*told = status ? (int)kubelet_runtime_cdi(status) : -error->number;
}

TEST(the_runtime_is_asked_for_cdi)
{
	struct grpc_server *server = NULL;
	struct world world;
	bool silent = false;
	int told = 0;

	world_start(&world);
	const struct grpc_server_options options = { .socket_path = world.resources,
						     .methods = runtime_methods,
						     .user = &silent };
	assert_int_equal(kubelet_ask_runtime(world.loop, world.resources, tell_status, &told, NULL),
			 -ENOENT);
	assert_int_equal(grpc_server_listen(world.loop, &options, &server, NULL), 0);
	assert_int_equal(kubelet_ask_runtime(world.loop, world.resources, tell_status, &told, NULL),
			 0);
	linger(&world, 50);
	assert_int_equal(told, KUBELET_CDI_ON);
	silent = true;
	assert_int_equal(kubelet_ask_runtime(world.loop, world.resources, tell_status, &told, NULL),
			 0);
	linger(&world, 2200);
	assert_int_equal(told, -ETIMEDOUT);
	grpc_server_close(server);
	world_end(&world);
}

/* --- PreStartContainer: not asked for, and answered to whoever asks --- */

static void take_end(enum grpc_status status, const char *text, void *user)
{
	struct told *told = user;

	told->count++;
	told->number = (int)status;
	snprintf(told->text, sizeof(told->text), "%s", text);
}

TEST(other_callers_get_answers_too)
{
	static const struct {
		const char *method, *message;
		size_t size;
		enum grpc_status status;
		const char *text; /* a part of it */
	} rows[] = {
		{ "PreStartContainer",
		  "\x0a\x01"
		  "a",
		  3, GRPC_OK, "" },
		{ "PreStartContainer", "\x0a\x01\xff", 3, GRPC_INVALID_ARGUMENT, "no UTF-8" },
		{ "GetDevicePluginOptions", "", 0, GRPC_OK, "" },
		{ "Allocate", "", 0, GRPC_INVALID_ARGUMENT, "is for 0 containers" },
		{ "Allocate", "\x0a\x03\x0a\x01x", 5, GRPC_OK, "" },
		{ "GetPreferredAllocation", "\x0a", 1, GRPC_INVALID_ARGUMENT, "cut off" },
		{ "Nothing", "", 0, GRPC_UNIMPLEMENTED, "" },
	};
	struct grpc_client *client = NULL;
	char path[TREE_PATH_MAX + 300] = "";
	struct world world;

	world_listed(&world, 2);
	world_socket(&world, path, sizeof(path));
	assert_int_equal(grpc_client_connect(world.loop,
					     &(struct grpc_client_options){ .socket_path = path },
					     &client, NULL),
			 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct told told = { .count = 0 };
		char method[96];

		snprintf(method, sizeof(method), "/v1beta1.DevicePlugin/%s", rows[i].method);
		const struct grpc_request request = { .path = method,
						      .message = rows[i].message,
						      .size = rows[i].size,
						      .on_end = take_end,
						      .user = &told };
		assert_int_equal(grpc_client_call(client, &request, NULL, NULL), 0);
		linger(&world, 20);
		if (told.count != 1 || told.number != (int)rows[i].status ||
		    !strstr(told.text, rows[i].text))
			fail_msg("row %zu: %u, %d, \"%s\"", i, told.count, told.number, told.text);
	}
	assert_true(listed(&world));
	grpc_client_free(client);
	world_end(&world);
}
