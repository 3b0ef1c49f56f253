/* SPDX-License-Identifier: Apache-2.0 */
#include "device/events.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "device/events_record.h"
#include "device/sysfs/sysfs.h"
#include "device/sysfs/tree.h"

#define RECORD_MAX   8192u /* the kernel's longest is below 1 KiB, with its dictionary 8 KiB */
#define FACILITY_MAX (1u << 16)

struct device_kmsg {
	int fd;
	bool ended;
	size_t length;   /* of what is in buffer and not taken yet */
	int64_t boot_ms; /* time of the day when the machine's clock of records began */
	char buffer[RECORD_MAX + 1];
};

/* Moves past a number of at most nine digits. */
static bool take_number(const char **text, unsigned *ret)
{
	size_t length = strspn(*text, "0123456789");

	if (length == 0 || length > 9)
		return false;
	*ret = (unsigned)strtoul(*text, NULL, 10);
	*text += length;
	return true;
}

/* "6,1234,98765432,-;": facility and level, sequence, microseconds since the boot, flags. */
static bool take_prefix(const char **text, int64_t *ret_ms)
{
	const char *at = *text, *end = strchr(at, ';');
	unsigned level;
	uint64_t time = 0;

	/* Above the levels is the facility: 0 is the kernel itself, all else was written by programs. */
	if (!end || !take_number(&at, &level) || level > 7 || *at++ != ',')
		return false;
	at += strspn(at, "0123456789");
	if (*at++ != ',')
		return false;
	for (; isdigit((unsigned char)*at) && time < UINT64_C(1) << 56; at++)
		time = time * 10 + (unsigned)(*at - '0');
	if (*at != ',' && at != end)
		return false;
	*ret_ms = (int64_t)(time / 1000);
	*text = end + 1;
	return true;
}

static bool skip_text(const char **text, const char *part)
{
	size_t length = strlen(part);

	if (strncmp(*text, part, length) != 0)
		return false;
	*text += length;
	return true;
}

/* "(PCI:0000:07:00 GPU-I:03 GPU-CI:00): ", in drivers of before 2014 without "PCI:". */
static bool take_place(const char **text, struct device_event *event)
{
	char address[CARD_BUS_ID_MAX];
	size_t length;

	(void)skip_text(text, "PCI:");
	length = strspn(*text, "0123456789abcdefABCDEF:");
	if (length >= sizeof(address))
		return false;
	/* The module names the slot, without the function. */
	if (snprintf(address, sizeof(address), "%.*s.0", (int)length, *text) >=
		    (int)sizeof(address) ||
	    bus_id_normalise(address, event->bus_id) < 0)
		return false;
	*text += length;
	if (skip_text(text, " GPU-I:") && !take_number(text, &event->gpu_instance))
		return false;
	if (skip_text(text, " GPU-CI:") && !take_number(text, &event->compute_instance))
		return false;
	return skip_text(text, "): ");
}

int kmsg_parse(const char *record, struct device_event *ret)
{
	struct device_event event;
	unsigned xid;

	device_event_init(&event, DEVICE_EVENT_XID);
	if (!take_prefix(&record, &event.time_ms) || !skip_text(&record, "NVRM: Xid (") ||
	    !take_place(&record, &event))
		return -ENOMSG;
	if (!take_number(&record, &xid))
		return -ENOMSG;
	event.data = xid;
	record += strspn(record, ", ");
	device_event_text(event.text, record, strcspn(record, "\n"));
	*ret = event;
	return 0;
}

static int64_t boot_time_ms(void)
{
	struct timespec day, boot;

	/* The records' clock stands still in sleep, as this one does. */
	clock_gettime(CLOCK_REALTIME, &day);
	clock_gettime(CLOCK_MONOTONIC, &boot);
	return ((int64_t)day.tv_sec - boot.tv_sec) * 1000 + (day.tv_nsec - boot.tv_nsec) / 1000000;
}

int device_kmsg_open(const char *driver_root, const char *path, struct device_kmsg **ret,
		     struct error *error)
{
	autofree struct device_kmsg *kmsg = calloc(1, sizeof(*kmsg));
	autofree char *found = NULL;
	int r = 0;

	if (!kmsg)
		return error_no_memory(error);
	if (!path)
		r = tree_choose(driver_root ? driver_root : "/", "/dev/kmsg", &found, error);
	if (r < 0)
		return r;
	autoclose int fd = open(path ? path : found, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(error, errno, "cannot read the kernel's log %s",
				       path ? path : found);
	/* What was logged before is of no use; a pipe is emptied. */
	if (lseek(fd, 0, SEEK_END) < 0)
		while (read(fd, kmsg->buffer, RECORD_MAX) > 0)
			continue;
	kmsg->fd = TAKE_FD(fd);
	kmsg->boot_ms = boot_time_ms();
	*ret = TAKE_PTR(kmsg);
	return 0;
}

int device_kmsg_fd(const struct device_kmsg *kmsg)
{
	return kmsg->fd;
}

void device_kmsg_close(struct device_kmsg *kmsg)
{
	if (!kmsg)
		return;
	close(kmsg->fd);
	free(kmsg);
}

static int kmsg_end(struct device_kmsg *kmsg, int number, struct device_event *ret)
{
	kmsg->ended = true;
	device_event_init(ret, DEVICE_EVENT_END);
	reason_text(ret->text, sizeof(ret->text), "the kernel's log gives no more: %s",
		    number ? strerror(number) : "its end");
	return 1;
}

/* The first line of what was read. False without a whole one. */
static bool next_line(struct device_kmsg *kmsg, char line[RECORD_MAX + 1])
{
	char *end = memchr(kmsg->buffer, '\n', kmsg->length);
	size_t length = end ? (size_t)(end - kmsg->buffer) : kmsg->length;

	/* Without an end and without room for one: cut. */
	if (!end && kmsg->length < RECORD_MAX)
		return false;
	memcpy(line, kmsg->buffer, length);
	line[length] = '\0';
	length += end != NULL;
	kmsg->length -= length;
	memmove(kmsg->buffer, kmsg->buffer + length, kmsg->length);
	return true;
}

int device_kmsg_next(struct device_kmsg *kmsg, struct device_event *ret)
{
	char line[RECORD_MAX + 1];

	while (!kmsg->ended) {
		while (next_line(kmsg, line)) {
			if (kmsg_parse(line, ret) < 0)
				continue;
			ret->time_ms += kmsg->boot_ms;
			return 1;
		}
		ssize_t length =
			read(kmsg->fd, kmsg->buffer + kmsg->length, RECORD_MAX - kmsg->length);
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0 && errno == EAGAIN)
			return 0;
		if (length < 0 && errno == EPIPE) { /* overwritten before it was read */
			kmsg->length = 0;
			device_event_init(ret, DEVICE_EVENT_MISSED);
			ret->count = 1;
			return 1;
		}
		if (length <= 0)
			return kmsg_end(kmsg, length < 0 ? errno : 0, ret);
		kmsg->length += (size_t)length;
	}
	return 0;
}
