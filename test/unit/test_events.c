/* SPDX-License-Identifier: Apache-2.0 */
/* Events: children that lie, end or hang, and the kernel's log. No driver, no card. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "device/device.h"
#include "fixture.h"

#define LIBRARY  "usr/lib64/libnvidia-ml.so.535.104.05"
#define PATIENCE 5000 /* ms for what comes at once */

static const struct fixture_file tree[] = {
	{ "usr/lib64/libnvidia-ml.so.1", "-> libnvidia-ml.so.535.104.05" },
	{ "proc/driver/nvidia/version",
	  "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat\n" },
};

struct watched {
	struct fixture fixture;
	struct device_events *events;
};

static void watched_start(struct watched *watched, const char *script)
{
	char self[PATH_MAX], helper[PATH_MAX + 32];
	struct error error = ERROR_INIT;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(length > 0);
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	(void)snprintf(helper, sizeof(helper), "%s/../lib/hostile_helper", self);
	fixture_make(&watched->fixture, tree, ARRAY_SIZE(tree));
	fixture_write(&watched->fixture, LIBRARY, script);
	const struct device_events_options options = { .driver_root = watched->fixture.root,
						       .helper = helper };
	if (device_events_start(&options, &watched->events, &error) < 0)
		fail_msg("%s", error.message);
}

/* The next event; waits for it. */
static struct device_event next(struct watched *watched)
{
	struct device_event event;

	while (device_events_next(watched->events, &event) == 0) {
		struct pollfd fd = { .fd = device_events_fd(watched->events), .events = POLLIN };

		assert_int_equal(poll(&fd, 1, PATIENCE), 1);
	}
	return event;
}

static void watched_stop(struct watched *watched)
{
	pid_t left = device_events_stop(watched->events);

	for (int i = 0; left && i < PATIENCE && !device_child_reap(left); i++)
		(void)poll(NULL, 0, 1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	fixture_remove(&watched->fixture);
}

TEST(an_event_comes_as_it_was_sent)
{
	struct watched watched;
	struct device_event event;

	watched_start(&watched, "ready event 4\nxid event 2\n");
	event = next(&watched);
	assert_int_equal(event.kind, DEVICE_EVENT_READY);
	assert_int_equal(event.count, 4);
	event = next(&watched);
	assert_int_equal(event.kind, DEVICE_EVENT_XID);
	assert_string_equal(event.uuid, "GPU-00000000-0000-0000-0000-000000000002");
	assert_string_equal(event.bus_id, "0000:03:00.0");
	assert_int_equal(event.index, 2);
	assert_int_equal(event.data, 79);
	assert_int_equal(event.gpu_instance, 7);
	assert_int_equal(event.compute_instance, DEVICE_INSTANCE_NONE);
	assert_true(event.time_ms == 1700000000123);
	assert_int_equal(device_events_next(watched.events, &event), 0);
	watched_stop(&watched);
}

/* What each child does first ends its events, with a sentence that has this part. */
static const struct {
	const char *script, *text;
} endings[] = {
	{ "end event 0\n", "Unknown Error" },
	{ "short event 0\n", "said something else" },
	{ "version event 0\n", "said something else" },
	{ "kind event 0\n", "said something else" },
	{ "die event 0\n", "ended" },
	{ "exit event 0\n", "ended" },
};

TEST(a_child_that_ends_or_lies_is_believed_no_more)
{
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		struct watched watched;
		struct device_event event;

		watched_start(&watched, endings[i].script);
		event = next(&watched);
		assert_int_equal(event.kind, DEVICE_EVENT_END);
		assert_non_null(strstr(event.text, endings[i].text));
		assert_int_equal(device_events_next(watched.events, &event), 0);
		watched_stop(&watched);
	}
}

TEST(losses_are_told_before_what_came_after_them)
{
	struct watched watched;
	struct device_event event;

	watched_start(&watched, "slow event 1\n");
	event = next(&watched);
	assert_int_equal(event.kind, DEVICE_EVENT_MISSED);
	assert_int_equal(event.count, 5);
	event = next(&watched);
	assert_int_equal(event.kind, DEVICE_EVENT_XID);
	assert_int_equal(event.index, 1);
	watched_stop(&watched);
}

TEST(what_cannot_be_a_name_is_none)
{
	struct watched watched;
	struct device_event event;

	watched_start(&watched, "garbage event 1\n");
	event = next(&watched);
	assert_int_equal(event.kind, DEVICE_EVENT_XID);
	assert_string_equal(event.uuid, "");
	assert_string_equal(event.bus_id, "");
	assert_int_equal(event.index, CARD_INDEX_NONE);
	assert_true(parse_utf8_valid(event.text, strlen(event.text)));
	watched_stop(&watched);
}

/* The child is caught (by a tracer): SIGKILL does not end it, and nobody waits. */
TEST(stopping_a_child_that_is_stuck_takes_no_time)
{
	struct watched watched;
	struct timespec before, after;

	watched_start(&watched, "ready event 1\nstick event 0\n");
	(void)next(&watched);
	(void)poll(NULL, 0, 200); /* until it sticks */
	clock_gettime(CLOCK_MONOTONIC, &before);
	pid_t left = device_events_stop(watched.events);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true((after.tv_sec - before.tv_sec) * 1000 +
			    (after.tv_nsec - before.tv_nsec) / 1000000 <
		    100);
	assert_true(left > 0);
	assert_false(device_child_reap(left));
	for (int i = 0; i < 2 * PATIENCE && !device_child_reap(left); i++)
		(void)poll(NULL, 0, 1);
	assert_true(device_child_reap(left));
	fixture_remove(&watched.fixture);
}

TEST(without_a_driver_nothing_starts)
{
	struct fixture fixture;
	struct device_events *events = NULL;
	struct error error = ERROR_INIT;

	fixture_make(&fixture, tree + 1, 1);
	const struct device_events_options options = { .driver_root = fixture.root };
	assert_int_equal(device_events_start(&options, &events, &error), -ENOENT);
	assert_non_null(strstr(error.message, "libnvidia-ml.so.1"));
	assert_int_equal(device_events_stop(NULL), 0);
	fixture_remove(&fixture);
}

static const struct {
	const char *record;
	unsigned xid; /* 0: no XID of the kernel */
	const char *bus_id;
	unsigned gpu_instance, compute_instance;
	const char *text;
} records[] = {
	{ "4,1234,98765432,-;NVRM: Xid (PCI:0000:07:00): 79, pid='<unknown>', name=<unknown>, GPU "
	  "has "
	  "fallen off the bus.\n SUBSYSTEM=pci\n DEVICE=+pci:0000:07:00.0\n",
	  79, "0000:07:00.0", DEVICE_INSTANCE_NONE, DEVICE_INSTANCE_NONE,
	  "pid='<unknown>', name=<unknown>, GPU has fallen off the bus." },
	{ "4,1,1000,-,caller=T1;NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained\n", 94,
	  "0000:01:00.0", 5, DEVICE_INSTANCE_NONE, "pid=7194, Contained" },
	{ "4,1,1000,-;NVRM: Xid (PCI:0000:3b:00 GPU-I:01 GPU-CI:02): 13, pid=9, name=a, x", 13,
	  "0000:3b:00.0", 1, 2, "pid=9, name=a, x" },
	{ "4,1,1000,c;NVRM: Xid (PCI:0019:01:00): 149, NETIR", 149, "0019:01:00.0",
	  DEVICE_INSTANCE_NONE, DEVICE_INSTANCE_NONE, "NETIR" },
	/* before 2014 */
	{ "4,1,1000,-;NVRM: Xid (0000:03:00): 14, Channel 00000001", 14, "0000:03:00.0",
	  DEVICE_INSTANCE_NONE, DEVICE_INSTANCE_NONE, "Channel 00000001" },
	{ "4,1,1000,-;NVRM: Xid (PCI:0000:07:00): 79", 79, "0000:07:00.0", DEVICE_INSTANCE_NONE,
	  DEVICE_INSTANCE_NONE, "" },
	/* a program wrote it: facility 1 */
	{ "12,1234,98765432,-;NVRM: Xid (PCI:0000:07:00): 79, GPU has fallen off the bus.", 0, NULL,
	  0, 0, NULL },
	/* a program's words within another message */
	{ "4,1,1000,-;audit: comm=\"NVRM: Xid (PCI:0000:07:00): 79\"", 0, NULL, 0, 0, NULL },
	{ "4,1,1000,-;NVRM: GPU at PCI:0000:00:05: GPU-efbdfde9-5798-a6e7-4c46-12518fa15375", 0,
	  NULL, 0, 0, NULL },
	{ "NVRM: Xid (PCI:0000:07:00): 79, x", 0, NULL, 0, 0, NULL },
	{ "4,1,1000,-;NVRM: Xid (PCI:0000:07:00): x", 0, NULL, 0, 0, NULL },
	{ "4,1,1000,-;NVRM: Xid (PCI:0000:07:00 GPU-I:): 79, x", 0, NULL, 0, 0, NULL },
	{ "4,1,1000,-;NVRM: Xid (PCI:zz): 79, x", 0, NULL, 0, 0, NULL },
	{ "4,1,1000,-;NVRM: Xid (PCI:0000:07:00): 99999999999, x", 0, NULL, 0, 0, NULL },
	{ "4,1,,;;", 0, NULL, 0, 0, NULL },
	{ "", 0, NULL, 0, 0, NULL },
};

TEST(the_kernels_log_tells_xids)
{
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		struct device_event event = { .kind = DEVICE_EVENT_END };
		int r = kmsg_parse(records[i].record, &event);

		if (!records[i].xid) {
			if (r != -ENOMSG)
				fail_msg("taken: %s", records[i].record);
			continue;
		}
		if (r != 0)
			fail_msg("not taken: %s", records[i].record);
		assert_int_equal(event.kind, DEVICE_EVENT_XID);
		assert_int_equal(event.data, records[i].xid);
		assert_string_equal(event.bus_id, records[i].bus_id);
		assert_int_equal(event.gpu_instance, records[i].gpu_instance);
		assert_int_equal(event.compute_instance, records[i].compute_instance);
		assert_string_equal(event.text, records[i].text);
		assert_string_equal(event.uuid, "");
	}
}

TEST(the_kernels_log_is_read_as_it_grows)
{
	static const char first[] =
		"4,1,5000000,-;NVRM: Xid (PCI:0000:07:00): 13, a\n SUBSYSTEM=pci\n"
		"6,2,5000001,-;usb 1-1: new\n4,3,5000002,-;NVRM: Xid (PCI:00";
	static const char second[] = "00:08:00): 31, b\n";
	char directory[] = "/tmp/kmsg-XXXXXX", path[64];
	struct device_kmsg *kmsg = NULL;
	struct error error = ERROR_INIT;
	struct device_event event;

	assert_non_null(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/kmsg", directory);
	assert_int_equal(device_kmsg_open(NULL, path, &kmsg, &error), -ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	int writer = open(path, O_RDWR | O_CLOEXEC);
	assert_true(writer >= 0);
	/* What stands there already is of before. */
	assert_int_equal(write(writer, second, sizeof(second) - 1), sizeof(second) - 1);
	assert_int_equal(write(writer, first, sizeof(first) - 1), sizeof(first) - 1);
	assert_int_equal(device_kmsg_open(NULL, path, &kmsg, &error), 0);
	assert_int_equal(device_kmsg_next(kmsg, &event), 0);
	assert_int_equal(write(writer, first, sizeof(first) - 1), sizeof(first) - 1);
	assert_int_equal(device_kmsg_next(kmsg, &event), 1);
	assert_int_equal(event.data, 13);
	assert_true(event.time_ms > 5000);
	assert_int_equal(device_kmsg_next(kmsg, &event), 0);
	assert_int_equal(write(writer, second, sizeof(second) - 1), sizeof(second) - 1);
	assert_int_equal(device_kmsg_next(kmsg, &event), 1);
	assert_int_equal(event.data, 31);
	assert_string_equal(event.bus_id, "0000:08:00.0");
	close(writer);
	assert_int_equal(device_kmsg_next(kmsg, &event), 1);
	assert_int_equal(event.kind, DEVICE_EVENT_END);
	assert_int_equal(device_kmsg_next(kmsg, &event), 0);
	device_kmsg_close(kmsg);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(directory), 0);
}

TEST(no_memory_is_an_error_and_starts_nothing)
{
	struct watched watched;

	watched_start(&watched, "ready event 1\n");
	watched_stop(&watched);
	fixture_make(&watched.fixture, tree, ARRAY_SIZE(tree));
	fixture_write(&watched.fixture, LIBRARY, "ready event 1\n");
	const struct device_events_options options = { .driver_root = watched.fixture.root,
						       .helper = "/bin/false" };
	for (unsigned n = 0;; n++) {
		struct error error = ERROR_INIT;
		struct device_events *events = NULL;

		fault_arm(n);
		int r = device_events_start(&options, &events, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			for (pid_t left = device_events_stop(events);
			     left && !device_child_reap(left);)
				(void)poll(NULL, 0, 1);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(events);
	}
	fixture_remove(&watched.fixture);
}
