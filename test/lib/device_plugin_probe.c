/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_plugin_probe DIRECTORY RESOURCE=COUNT...: serves made-up devices in the kubelet's folder by
 * src/kubelet, until it is ended; prints what happens. It takes the first devices that are offered, and refuses
 * nothing. So the fake kubelet can be tried without a daemon, and a daemon get a rival.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kubelet/kubelet.h"

#define PLUGINS_MAX 8

static bool has(const struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

static int preferred(const struct string_list *available, const struct string_list *must,
		     unsigned size, struct string_list *ret, struct error *error,
		     void *user __attribute__((unused)))
{
	for (size_t i = 0; i < must->count && ret->count < size; i++)
		if (string_list_add(ret, must->items[i]) < 0)
			return error_no_memory(error);
	for (size_t i = 0; i < available->count && ret->count < size; i++)
		if (!has(ret, available->items[i]) && string_list_add(ret, available->items[i]) < 0)
			return error_no_memory(error);
	return 0;
}

static void allocate(struct device_plugin_call *call,
		     const struct string_list *ids __attribute__((unused)),
		     void *user __attribute__((unused)))
{
	cleanup(kubelet_answer_release) struct kubelet_answer answer = { .envs = NULL };

	(void)device_plugin_answer(call, &answer, NULL);
}

static void on_event(enum device_plugin_event event, const char *text,
		     void *user __attribute__((unused)))
{
	printf("%s: %s\n", device_plugin_event_to_string(event), text);
	fflush(stdout);
}

static void stop(void *user, int number __attribute__((unused)))
{
	loop_stop(user);
}

static int start(struct loop *loop, const char *directory, char *argument,
		 struct device_plugin **ret, struct error *error)
{
	static const struct device_plugin_callbacks callbacks = { preferred, allocate, on_event };
	cleanup(string_list_release) struct string_list ids = { .items = NULL };
	char *equals = strchr(argument, '=');
	uint64_t count = 0;

	if (!equals || parse_uint(equals + 1, 0, 65536, &count) < 0)
		return error_set(error, 22, "'%s' is no RESOURCE=COUNT", argument);
	*equals = '\0';
	const struct device_plugin_options options = { .resource = argument,
						       .directory = directory,
						       .prefix = "probe",
						       .preferred_available = true };
	autofree struct kubelet_device *devices = calloc(count + 1, sizeof(*devices));
	for (size_t i = 0; devices && i < count; i++) {
		if (string_list_addf(&ids, "%s-%zu", strchr(argument, '/') + 1, i) < 0)
			return error_no_memory(error);
		devices[i] = (struct kubelet_device){ .id = ids.items[i], .healthy = true };
	}
	int r = device_plugin_start(loop, &options, &callbacks, NULL, ret, error);
	return r < 0 ? r : device_plugin_update(*ret, devices, count, error);
}

int main(int argc, char **argv)
{
	struct device_plugin *plugins[PLUGINS_MAX] = { NULL };
	struct loop_signal *signals[2] = { NULL };
	struct error error = ERROR_INIT;
	struct loop *loop = NULL;

	if (argc < 3 || argc > PLUGINS_MAX + 2) {
		fprintf(stderr, "usage: device_plugin_probe DIRECTORY RESOURCE=COUNT...\n");
		return 2;
	}
	int r = loop_new(&loop, &error);
	for (int i = 2; i < argc && r == 0; i++)
		r = start(loop, argv[1], argv[i], &plugins[i - 2], &error);
	if (r == 0)
		r = loop_signal_start(loop, SIGTERM, stop, loop, &signals[0], &error);
	if (r == 0)
		r = loop_signal_start(loop, SIGINT, stop, loop, &signals[1], &error);
	if (r == 0)
		loop_run(loop);
	else
		fprintf(stderr, "device_plugin_probe: %s\n", error.message);
	for (size_t i = 0; i < PLUGINS_MAX; i++)
		device_plugin_stop(plugins[i]);
	loop_signal_stop(signals[0]);
	loop_signal_stop(signals[1]);
	if (loop)
		loop_free(loop);
	return r < 0;
}
