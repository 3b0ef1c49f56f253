/* SPDX-License-Identifier: Apache-2.0 */
#include "device/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "device/nvml/helper.h"
#include "device/nvml/library.h"
#include "device/root.h"

#define DEADLINE_MS  1000u
#define KEPT_FDS_MAX 1024 /* closed one by one where the kernel has no close_range() (before 5.9) */

/* What the child finds out; plain data, so that it can be sent as it is. */
struct kernel_facts {
	int r; /* 0 or a negative errno; MESSAGE then says more */
	bool real;
	char message[ERROR_MESSAGE_MAX];
	struct procfs procfs;
	struct pci pci;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int facts_read(const char *root, const char *version, struct kernel_facts *facts,
		      struct error *error)
{
	int r = procfs_read(root, &facts->procfs, error);

	if (r == 0)
		r = pci_read(root, &facts->pci, error);
	if (r < 0)
		return r;
	procfs_read_information(&facts->procfs);
	procfs_read_instances(&facts->procfs);
	facts->real = version[0] && procfs_kernel_agrees(version);
	return 0;
}

static bool write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t written = write(fd, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		at += written;
		size -= (size_t)written;
	}
	return true;
}

/*
 * A child that never comes back from the module must hold nothing of its parent's: whoever waits
 * for the end of a pipe would wait for it. It writes to descriptor 0, its only one.
 */
static void leave_parent(pid_t parent, int out)
{
	sigset_t none;

	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(out, 0) < 0)
		_exit(1);
	if (syscall(SYS_close_range, 1u, ~0u, 0u) < 0)
		for (int fd = 1; fd < KEPT_FDS_MAX; fd++)
			(void)close(fd);
}

static void child_run(const char *root, const char *version, pid_t parent, int out,
		      struct kernel_facts *facts)
{
	struct error error = ERROR_INIT;

	leave_parent(parent, out);
	facts->r = facts_read(root, version, facts, &error);
	memcpy(facts->message, error.message, sizeof(facts->message));
	_exit(write_all(0, facts, sizeof(*facts)) ? 0 : 1);
}

/* 0, -ETIMEDOUT, -EPIPE when the child ended without an answer. */
static int receive(int fd, unsigned deadline_ms, struct kernel_facts *facts)
{
	int64_t until = now_ms() + deadline_ms;
	char *at = (char *)facts;
	size_t left = sizeof(*facts);

	while (left) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		int64_t wait = until - now_ms();
		int r = poll(&poll_fd, 1, wait > 0 ? (int)wait : 0);

		if (r == 0)
			return -ETIMEDOUT;
		if (r < 0 && errno != EINTR)
			return -errno;
		ssize_t length = r > 0 ? read(fd, at, left) : 0;
		if (length < 0 && errno != EINTR)
			return -errno;
		if (r > 0 && length == 0)
			return -EPIPE;
		if (length > 0) {
			at += length;
			left -= (size_t)length;
		}
	}
	return 0;
}

/* 0 with *facts, or -errno: -ETIMEDOUT is for the inventory to tell, all else an error. */
static int facts_ask(const char *root, const char *version, unsigned deadline_ms,
		     struct kernel_facts *facts, struct error *error)
{
	struct helper child = HELPER_INIT;
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(error, errno,
				       "cannot make a pipe to read the kernel's "
				       "cards");
	autoclose int ours = ends[0], theirs = ends[1];
	pid_t pid = fork();
	if (pid < 0)
		return error_set_errno(error, errno,
				       "cannot start a process to read the "
				       "kernel's cards");
	if (pid == 0)
		child_run(root, version, parent, theirs, facts);
	child.pid = pid;
	child.pidfd = (int)syscall(SYS_pidfd_open, pid, 0u);
	close(TAKE_FD(theirs));
	int r = receive(ours, deadline_ms, facts);
	(void)helper_kill(&child);
	if (r == -ETIMEDOUT)
		return r;
	if (r < 0)
		return error_set_errno(error, -r, "the process that reads the kernel's cards %s",
				       child.end[0] ? child.end : "ended");
	facts->message[sizeof(facts->message) - 1] = '\0';
	return facts->r < 0 ? error_set(error, -facts->r, "%s", facts->message) : 0;
}

int card_add_instances(const struct probe *probe, struct card *card, struct error *error)
{
	for (size_t i = 0; i < probe->procfs.instance_count; i++) {
		const struct procfs_instance *from = &probe->procfs.instances[i];

		if (from->card_minor != card->minor || card->instance_count == CARD_INSTANCES_MAX)
			continue;
		struct card_instance *instance =
			VEC_ADD(&card->instances, &card->instance_count, &card->instance_capacity);
		if (!instance)
			return error_no_memory(error);
		instance->index = CARD_INDEX_NONE;
		instance->gpu_instance = from->gpu_instance;
		instance->compute_instance = from->compute_instance;
		instance->gpu_minor = from->gpu_minor;
		instance->compute_minor = from->compute_minor;
	}
	return 0;
}

static int add_cards(struct probe *probe, struct error *error)
{
	struct inventory *inventory = probe->inventory;
	unsigned index = 0;

	for (size_t i = 0; i < probe->procfs.count && inventory->card_count < CARDS_MAX; i++) {
		if (probe->procfs.cards[i].excluded)
			continue;
		struct card *card = probe_new_card(probe);
		if (!card)
			return error_no_memory(error);
		card->index = index++;
		memcpy(card->bus_id, probe->procfs.cards[i].bus_id, sizeof(card->bus_id));
		card_from_kernel(probe, card);
		if (card->minor == CARD_MINOR_NONE)
			card_worsen(card, CARD_SUSPECT,
				    "the kernel module does not say which device node it has");
		int r = card_add_instances(probe, card, error);
		if (r < 0)
			return r;
		card->mig_enabled = card->mig_capable = card->instance_count > 0;
		if (card->mig_enabled)
			card->mode = CARD_MODE_MIG;
		if (card->condition.health != CARD_HEALTHY)
			card->condition.since = inventory->taken;
	}
	probe_name_cards(inventory);
	return 0;
}

/* The library's version is in its name; nothing is loaded. */
static int find_version(struct inventory *inventory, struct error *error)
{
	autofree char *path = NULL, *version = NULL;
	int r = library_find(inventory->driver_root, NVML_LIBRARY, &path, &version, NULL);

	if (r == -ENOMEM)
		return error_no_memory(error);
	if (r == 0)
		reason_text(inventory->driver_version, sizeof(inventory->driver_version), "%s",
			    version);
	return 0;
}

static int take_facts(struct probe *probe, const struct kernel_facts *facts, struct error *error)
{
	struct inventory *inventory = probe->inventory;

	probe->procfs = facts->procfs;
	probe->pci = facts->pci;
	inventory->real = facts->real;
	memcpy(inventory->module_version, facts->procfs.version, sizeof(facts->procfs.version));
	inventory->mig_generation = facts->procfs.mig_generation;
	if (!facts->procfs.present)
		probe_fail_no_driver(probe, NULL);
	else
		(void)probe_versions_differ(probe, inventory->driver_version);
	return add_cards(probe, error);
}

static int kernel_run(struct probe *probe, unsigned deadline_ms, struct kernel_facts *facts,
		      struct error *error)
{
	struct inventory *inventory = probe->inventory;
	int r = probe_root(probe, error);

	if (r == 0)
		r = procfs_boot_id(inventory->boot_id, sizeof(inventory->boot_id), error);
	if (r == 0)
		r = find_version(inventory, error);
	if (r < 0)
		return r;
	inventory->taken = time(NULL);
	r = facts_ask(inventory->driver_root, inventory->driver_version, deadline_ms, facts, error);
	if (r == 0)
		return take_facts(probe, facts, error);
	if (r != -ETIMEDOUT)
		return r;
	autostrbuf text = STRBUF_INIT(128);
	strbuf_addf(&text, "the kernel module gave no answer in %g s", deadline_ms / 1000.0);
	probe_fail(probe, REASON_DRIVER_HUNG, text.data);
	return 0;
}

int device_probe_kernel(const char *driver_root, unsigned deadline_ms, struct inventory *ret,
			struct error *error)
{
	cleanup(inventory_release) struct inventory inventory;
	const struct device_options options = { .driver_root = driver_root, .no_nvml = true };
	autofree struct probe *probe = calloc(1, sizeof(*probe));
	autofree struct kernel_facts *facts = calloc(1, sizeof(*facts));

	inventory_init(&inventory);
	if (!probe || !facts)
		return error_no_memory(error);
	inventory.kernel_only = true;
	probe->options = &options;
	probe->inventory = &inventory;
	int r = kernel_run(probe, deadline_ms ? deadline_ms : DEADLINE_MS, facts, error);
	if (r < 0)
		return r;
	*ret = inventory;
	inventory_init(&inventory);
	return 0;
}
