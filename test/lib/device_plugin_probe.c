/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_plugin_probe DIRECTORY RESOURCE=COUNT... [LOG]: serves made-up devices in the kubelet's folder by
 * src/kubelet, until it is ended; prints what happens. It prefers the first of the devices that are offered, in
 * order, and refuses nothing. So the fake kubelet can be tried without a daemon, and a daemon get a rival. LOG (a
 * path, after the resources) gets a line for each of the kubelet's calls, with IDs sorted: what two
 * kubelets asked can be compared.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kubelet/kubelet.h"

#define PLUGINS_MAX 8

struct probe {
	char resource[128];
	struct device_plugin *plugin;
	FILE *log; /* NULL: none */
};

static bool has(const struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

static int compare_ids(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int sorted(const struct string_list *list, struct string_list *ret)
{
	for (size_t i = 0; i < list->count; i++)
		if (string_list_add(ret, list->items[i]) < 0)
			return -ENOMEM;
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_ids);
	return 0;
}

static void print_ids(FILE *log, const char *before, const struct string_list *list)
{
	cleanup(string_list_release) struct string_list ids = { .items = NULL };

	if (sorted(list, &ids) < 0)
		return;
	fprintf(log, "%s{", before);
	for (size_t i = 0; i < ids.count; i++)
		fprintf(log, "%s%s", i ? "," : "", ids.items[i]);
	fprintf(log, "}");
}

static int preferred(const struct string_list *available, const struct string_list *must,
		     unsigned size, struct string_list *ret, struct error *error, void *user)
{
	cleanup(string_list_release) struct string_list offered = { .items = NULL };
	const struct probe *probe = user;

	if (sorted(available, &offered) < 0)
		return error_no_memory(error);
	for (size_t i = 0; i < must->count && ret->count < size; i++)
		if (string_list_add(ret, must->items[i]) < 0)
			return error_no_memory(error);
	for (size_t i = 0; i < offered.count && ret->count < size; i++)
		if (!has(ret, offered.items[i]) && string_list_add(ret, offered.items[i]) < 0)
			return error_no_memory(error);
	if (!probe->log)
		return 0;
	fprintf(probe->log, "GetPreferredAllocation %s %u", probe->resource, size);
	print_ids(probe->log, " of ", available);
	print_ids(probe->log, " must ", must);
	print_ids(probe->log, " -> ", ret);
	fprintf(probe->log, "\n");
	return 0;
}

static void allocate(struct device_plugin_call *call, const struct string_list *ids, void *user)
{
	cleanup(kubelet_answer_release) struct kubelet_answer answer = { .envs = NULL };
	const struct probe *probe = user;

	if (probe->log) {
		fprintf(probe->log, "Allocate %s", probe->resource);
		print_ids(probe->log, " ", ids);
		fprintf(probe->log, "\n");
	}
	(void)device_plugin_answer(call, &answer, NULL);
}

static void on_event(enum device_plugin_event event, const char *text, void *user)
{
	const struct probe *probe = user;

	/* Registered and ended come in an order that depends on who is faster. */
	if (probe->log && event == DEVICE_PLUGIN_LISTED)
		fprintf(probe->log, "listed %s\n", probe->resource);
	printf("%s: %s\n", device_plugin_event_to_string(event), text);
	fflush(stdout);
}

static void stop(void *user, int number __attribute__((unused)))
{
	loop_stop(user);
}

static int start(struct loop *loop, const char *directory, char *argument, struct probe *probe,
		 struct error *error)
{
	static const struct device_plugin_callbacks callbacks = { preferred, allocate, on_event };
	cleanup(string_list_release) struct string_list ids = { .items = NULL };
	char *equals = strchr(argument, '=');
	uint64_t count = 0;

	if (!equals || parse_uint(equals + 1, 0, 65536, &count) < 0)
		return error_set(error, EINVAL, "'%s' is no RESOURCE=COUNT", argument);
	*equals = '\0';
	snprintf(probe->resource, sizeof(probe->resource), "%s", argument);
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
	int r = device_plugin_start(loop, &options, &callbacks, probe, &probe->plugin, error);
	return r < 0 ? r : device_plugin_update(probe->plugin, devices, count, error);
}

int main(int argc, char **argv)
{
	struct probe probes[PLUGINS_MAX] = { { .log = NULL } };
	struct loop_signal *signals[2] = { NULL };
	struct error error = ERROR_INIT;
	struct loop *loop = NULL;
	FILE *log = NULL;

	if (argc > 3 && !strchr(argv[argc - 1], '='))
		log = fopen(argv[--argc], "we");
	if (argc < 3 || argc > PLUGINS_MAX + 2) {
		fprintf(stderr, "usage: device_plugin_probe DIRECTORY RESOURCE=COUNT... [LOG]\n");
		return 2;
	}
	if (log)
		setvbuf(log, NULL, _IOLBF, 0);
	int r = loop_new(&loop, &error);
	for (int i = 2; i < argc && r == 0; i++) {
		probes[i - 2].log = log;
		r = start(loop, argv[1], argv[i], &probes[i - 2], &error);
	}
	if (r == 0)
		r = loop_signal_start(loop, SIGTERM, stop, loop, &signals[0], &error);
	if (r == 0)
		r = loop_signal_start(loop, SIGINT, stop, loop, &signals[1], &error);
	if (r == 0)
		loop_run(loop);
	else
		fprintf(stderr, "device_plugin_probe: %s\n", error.message);
	for (size_t i = 0; i < PLUGINS_MAX; i++)
		device_plugin_stop(probes[i].plugin);
	loop_signal_stop(signals[0]);
	loop_signal_stop(signals[1]);
	if (loop)
		loop_free(loop);
	if (log)
		fclose(log);
	return r < 0;
}
