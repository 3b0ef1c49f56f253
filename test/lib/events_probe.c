/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What device/events.h tells, one event a line, until the end of the input:
 *
 *	events_probe [--root DIR] [--skip MASK] [--kmsg | --kmsg-file FILE]
 *
 * KIND index=N uuid=U bus=B gi=N ci=N data=N count=N text=T; a field that says nothing is left out. The
 * first line is the child's PID. "stop" on standard input ends it, and says whether the child was reaped.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"

static const char *const names[DEVICE_EVENT_KIND_MAX] = {
	[DEVICE_EVENT_READY] = "ready",   [DEVICE_EVENT_XID] = "xid",
	[DEVICE_EVENT_ECC] = "ecc",       [DEVICE_EVENT_MIG] = "mig",
	[DEVICE_EVENT_LOST] = "lost",     [DEVICE_EVENT_UNWATCHED] = "unwatched",
	[DEVICE_EVENT_MISSED] = "missed", [DEVICE_EVENT_END] = "end",
};

static void print_event(const struct device_event *event)
{
	printf("%s", names[event->kind]);
	if (event->index != CARD_INDEX_NONE)
		printf(" index=%u", event->index);
	if (event->uuid[0])
		printf(" uuid=%s", event->uuid);
	if (event->bus_id[0])
		printf(" bus=%s", event->bus_id);
	if (event->gpu_instance != DEVICE_INSTANCE_NONE)
		printf(" gi=%u", event->gpu_instance);
	if (event->compute_instance != DEVICE_INSTANCE_NONE)
		printf(" ci=%u", event->compute_instance);
	if (event->kind == DEVICE_EVENT_XID)
		printf(" data=%llu", (unsigned long long)event->data);
	if (event->kind == DEVICE_EVENT_READY || event->kind == DEVICE_EVENT_MISSED)
		printf(" count=%u", event->count);
	if (event->text[0])
		printf(" text=%s", event->text);
	puts("");
	fflush(stdout);
}

/* True at the end of the input. */
static bool wait_for(int fd)
{
	struct pollfd fds[2] = { { .fd = fd, .events = POLLIN }, { .fd = 0, .events = POLLIN } };
	char line[64];

	if (poll(fds, 2, -1) < 0)
		return true;
	return fds[1].revents && (!fgets(line, sizeof(line), stdin) || line[0] == 's');
}

static int run_kmsg(const char *root, const char *path)
{
	struct device_kmsg *kmsg = NULL;
	struct error error = ERROR_INIT;
	struct device_event event = { .kind = DEVICE_EVENT_READY };

	if (device_kmsg_open(root, path, &kmsg, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	puts("open");
	fflush(stdout);
	while (event.kind != DEVICE_EVENT_END && !wait_for(device_kmsg_fd(kmsg)))
		while (device_kmsg_next(kmsg, &event) == 1)
			print_event(&event);
	device_kmsg_close(kmsg);
	return 0;
}

/* The one that device_events_start() made. */
static void print_child(void)
{
	char text[64] = "";
	FILE *file = fopen("/proc/thread-self/children", "re");

	if (!file || !fgets(text, sizeof(text), file))
		fprintf(stderr, "the kernel tells of no child\n");
	if (file)
		fclose(file);
	printf("%.*s\n", (int)strcspn(text, " "), text);
	fflush(stdout);
}

static int run_driver(const struct device_events_options *options)
{
	struct device_events *events = NULL;
	struct error error = ERROR_INIT;
	struct device_event event = { .kind = DEVICE_EVENT_READY };

	if (device_events_start(options, &events, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	print_child();
	while (event.kind != DEVICE_EVENT_END && !wait_for(device_events_fd(events)))
		while (device_events_next(events, &event) == 1)
			print_event(&event);
	pid_t left = device_events_stop(events);
	for (int i = 0; left && i < 1000 && !device_child_reap(left); i++)
		(void)poll(NULL, 0, 1);
	puts(left && !device_child_reap(left) ? "stuck" : "reaped");
	return 0;
}

int main(int argc, char **argv)
{
	struct device_events_options options = { 0 };
	const char *kmsg_file = NULL;
	bool kmsg = false;

	for (int i = 1; i < argc; i++) {
		bool more = i + 1 < argc;

		if (strcmp(argv[i], "--root") == 0 && more)
			options.driver_root = argv[++i];
		else if (strcmp(argv[i], "--skip") == 0 && more)
			options.skip = strtoull(argv[++i], NULL, 0);
		else if (strcmp(argv[i], "--kmsg") == 0)
			kmsg = true;
		else if (strcmp(argv[i], "--kmsg-file") == 0 && more)
			kmsg_file = argv[++i];
		else
			return 2;
	}
	return kmsg || kmsg_file ? run_kmsg(options.driver_root, kmsg_file) : run_driver(&options);
}
