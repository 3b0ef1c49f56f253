/* SPDX-License-Identifier: Apache-2.0 */
/* Device nodes that a loaded driver has not made yet, and the links that systemd looks for. */
#include "device/device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "device/sysfs/tree.h"

#define DEVICES_TEXT_MAX 65536u
#define ACCESS_TEXT_MAX  1024u
#define NO_MAJOR         UINT32_MAX
#define PARAMS_TEXT_MAX  65536u

DEFINE_CLEANUP(DIR, closedir)

/*
 * How the administrator wants the nodes: parameters of the module (NVreg_DeviceFileUID, ...GID, ...Mode,
 * NVreg_ModifyDeviceFiles), which nvidia-modprobe takes for all nodes but those of capabilities.
 */
struct wish {
	unsigned uid, gid, mode;
	bool left_alone; /* nobody but he makes nodes */
};

struct nodes {
	struct wish wish;
	const struct device_nodes_options *options;
	struct device_changes *changes;
	struct error *error;
	char *devices; /* text of /proc/devices; owned */
	int directory; /* dev of the driver root */
	char root[256];
};

/*
 * Nodes that belong to no card, by the name that /proc/devices gives their major. Numbers: the
 * module's own, nv.h of NVIDIA's open kernel modules.
 *
 * How to add one: a row.
 */
static const struct control_row {
	const char *name, *module;
	unsigned minor;
} control_rows[] = {
	{ "nvidiactl", "nvidia", 255 },
	{ "nvidia-modeset", "nvidia-modeset", 254 },
	{ "nvidia-uvm", "nvidia-uvm", 0 },
	{ "nvidia-uvm-tools", "nvidia-uvm", 1 },
};

static int change(struct nodes *nodes, struct string_list *list, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int change(struct nodes *nodes, struct string_list *list, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int r = string_list_addv(list, format, arguments);
	va_end(arguments);
	return r < 0 ? error_no_memory(nodes->error) : 0;
}

/* Of a character device in the text of /proc/devices; NO_MAJOR when no driver has that name. */
static uint32_t find_major(const char *text, const char *name)
{
	while (*text && strncmp(text, "Block devices:", 14) != 0) {
		size_t line = strcspn(text, "\n");
		char *end = NULL;
		unsigned long number = strtoul(text, &end, 10);

		if (end > text && *end == ' ' && (size_t)(text + line - end - 1) == strlen(name) &&
		    strncmp(end + 1, name, strlen(name)) == 0 && number < 4096)
			return (uint32_t)number;
		text += line + (text[line] == '\n');
	}
	return NO_MAJOR;
}

/* All nodes of major 195 had one name until driver 515. */
static uint32_t major_of(const struct nodes *nodes, const char *module)
{
	uint32_t found = find_major(nodes->devices, module);

	if (found == NO_MAJOR &&
	    (strcmp(module, "nvidia") == 0 || strcmp(module, "nvidia-modeset") == 0))
		found = find_major(nodes->devices, "nvidia-frontend");
	return found;
}

static int make(struct nodes *nodes, const char *name, dev_t device, const struct wish *wish)
{
	struct stat status;
	unsigned mode = wish->mode;
	char owner[32] = "";

	if (fstatat(nodes->directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
		if (S_ISCHR(status.st_mode) && status.st_rdev == device)
			return change(nodes, &nodes->changes->present, "/dev/%s", name);
		return error_set(nodes->error, EEXIST,
				 "/dev/%s of driver root %s is not character device %u:%u; remove "
				 "it and call this again",
				 name, nodes->root, major(device), minor(device));
	}
	if (nodes->wish.left_alone)
		return change(nodes, &nodes->changes->missing,
			      "/dev/%s: the driver was told that nobody makes nodes for it "
			      "(NVreg_ModifyDeviceFiles=0); make it, or take that away",
			      name);
	/* Nobody's before it is its owner's, and the mode last: the umask may take bits away. */
	if (!nodes->options->dry_run &&
	    (mknodat(nodes->directory, name, S_IFCHR | 0600, device) < 0 ||
	     fchownat(nodes->directory, name, wish->uid, wish->gid, AT_SYMLINK_NOFOLLOW) < 0 ||
	     fchmodat(nodes->directory, name, mode, 0) < 0))
		return error_set_errno(nodes->error, errno, "cannot make /dev/%s in driver root %s",
				       name, nodes->root);
	if (wish->uid || wish->gid)
		snprintf(owner, sizeof(owner), ", owner %u:%u", wish->uid, wish->gid);
	return change(nodes, &nodes->changes->made, "/dev/%s, character device %u:%u, mode %04o%s",
		      name, major(device), minor(device), mode, owner);
}

static int make_controls(struct nodes *nodes)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(control_rows); i++) {
		const struct control_row *row = &control_rows[i];
		uint32_t found = major_of(nodes, row->module);

		if (found == NO_MAJOR)
			r = change(nodes, &nodes->changes->missing,
				   "/dev/%s: the kernel has no device %s; load its module "
				   "(modprobe %s)",
				   row->name, row->module, row->module);
		else
			r = make(nodes, row->name, makedev(found, row->minor), &nodes->wish);
	}
	return r;
}

static int make_cards(struct nodes *nodes)
{
	cleanup(inventory_release) struct inventory inventory;
	uint32_t found = major_of(nodes, "nvidia");
	int r;

	inventory_init(&inventory);
	if (found == NO_MAJOR)
		return 0; /* said of nvidiactl */
	r = device_probe_kernel(nodes->root, 0, &inventory, nodes->error);
	for (size_t i = 0; r == 0 && i < inventory.card_count; i++) {
		const struct card *card = &inventory.cards[i];
		char name[32];

		snprintf(name, sizeof(name), "nvidia%u", card->minor);
		if (card->minor == CARD_MINOR_NONE)
			r = change(nodes, &nodes->changes->missing, "card %s: %s", card->bus_id,
				   card->condition.cause);
		else
			r = make(nodes, name, makedev(found, card->minor), &nodes->wish);
	}
	if (r == 0 && inventory.problem[0])
		r = change(nodes, &nodes->changes->missing, "cards: %s", inventory.problem);
	return r;
}

/* The mode that the module wants: config is root's alone, monitor is to be read. */
static unsigned access_mode(const char *text)
{
	const char *at = strstr(text, "DeviceFileMode:");
	unsigned long mode = at ? strtoul(at + strlen("DeviceFileMode:"), NULL, 10) : 0;

	return mode && mode <= 0777 ? (unsigned)mode : 0400;
}

static int make_capability(struct nodes *nodes, uint32_t found, const char *path)
{
	autofree char *base = NULL, *text = NULL;
	char name[64];
	int r = tree_choose(nodes->root, "/proc/driver/nvidia/capabilities", &base, nodes->error);

	if (r < 0)
		return r;
	if (tree_read(&text, ACCESS_TEXT_MAX, "%s/%s", base, path) < 0)
		return 0;
	uint32_t number = capability_parse_minor(text);
	const struct wish wish = { .mode = access_mode(text) };
	if (number == CARD_MINOR_NONE)
		return 0;
	snprintf(name, sizeof(name), "nvidia-caps/nvidia-cap%u", number);
	return make(nodes, name, makedev(found, number), &wish);
}

static int make_capabilities(struct nodes *nodes)
{
	uint32_t found = find_major(nodes->devices, "nvidia-caps");

	if (found == NO_MAJOR)
		return 0; /* drivers before 450 */
	if (!nodes->options->dry_run && mkdirat(nodes->directory, "nvidia-caps", 0755) < 0 &&
	    errno != EEXIST)
		return error_set_errno(nodes->error, errno, "cannot make /dev/nvidia-caps");
	int r = make_capability(nodes, found, "mig/config");
	return r < 0 ? r : make_capability(nodes, found, "mig/monitor");
}

/* The value of "NAME: 438", decimal; FALLBACK when it is not there or above MAXIMUM. */
static unsigned parameter(const char *text, const char *name, unsigned maximum, unsigned fallback)
{
	size_t length = strlen(name);
	uint64_t value;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		char digits[24];

		if (strncmp(text, name, length) != 0 || strncmp(text + length, ": ", 2) != 0)
			continue;
		size_t end = strcspn(text + length + 2, "\n");
		if (end >= sizeof(digits))
			return fallback;
		memcpy(digits, text + length + 2, end);
		digits[end] = '\0';
		return parse_uint(digits, 0, maximum, &value) == 0 ? (unsigned)value : fallback;
	}
	return fallback;
}

static int read_wish(struct nodes *nodes)
{
	autofree char *base = NULL, *text = NULL;
	int r = tree_choose(nodes->root, "/proc/driver/nvidia", &base, nodes->error);

	nodes->wish = (struct wish){ .mode = 0666 };
	if (r < 0)
		return r;
	if (tree_read(&text, PARAMS_TEXT_MAX, "%s/params", base) < 0)
		return 0; /* no module; it is said where its nodes are looked for */
	nodes->wish = (struct wish){
		.uid = parameter(text, "DeviceFileUID", INT32_MAX, 0),
		.gid = parameter(text, "DeviceFileGID", INT32_MAX, 0),
		.mode = parameter(text, "DeviceFileMode", 0777, 0666),
		.left_alone = parameter(text, "ModifyDeviceFiles", 1, 1) == 0,
	};
	return 0;
}

/* No link on the way: nothing is made outside the driver root. */
static int nodes_open(struct nodes *nodes)
{
	int r = device_find_driver_root(nodes->options->driver_root, nodes->root,
					sizeof(nodes->root), nodes->error);
	if (r < 0)
		return r;
	autoclose int root = open(nodes->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	nodes->directory = root < 0 ? -errno : root_open_plain(root, "/dev");
	if (nodes->directory < 0)
		return error_set_errno(nodes->error, -nodes->directory,
				       "cannot open /dev of driver root %s", nodes->root);
	return 0;
}

void device_changes_release(struct device_changes *changes)
{
	string_list_release(&changes->made);
	string_list_release(&changes->present);
	string_list_release(&changes->missing);
}

int device_make_nodes(const struct device_nodes_options *options, struct device_changes *ret,
		      struct error *error)
{
	struct nodes nodes = {
		.options = options, .changes = ret, .error = error, .directory = -1
	};
	autofree char *path = NULL;
	int r = nodes_open(&nodes);

	if (r == 0)
		r = tree_choose(nodes.root, "/proc/devices", &path, error);
	if (r == 0)
		r = file_read(path, DEVICES_TEXT_MAX, &nodes.devices, NULL, error);
	if (r == 0)
		r = read_wish(&nodes);
	if (r == 0)
		r = make_controls(&nodes);
	if (r == 0)
		r = make_cards(&nodes);
	if (r == 0)
		r = make_capabilities(&nodes);
	free(nodes.devices);
	if (nodes.directory >= 0)
		close(nodes.directory);
	return r;
}

static int link_one(struct nodes *nodes, const char *directory, int fd, const char *entry)
{
	char name[32], target[300], there[300];
	struct stat status;

	if (fstatat(fd, entry, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISCHR(status.st_mode))
		return 0;
	snprintf(name, sizeof(name), "char/%u:%u", major(status.st_rdev), minor(status.st_rdev));
	snprintf(target, sizeof(target), "../%s%s", directory, entry);
	ssize_t length = readlinkat(nodes->directory, name, there, sizeof(there) - 1);
	if (length >= 0) {
		there[length] = '\0';
		if (strcmp(there, target) == 0)
			return change(nodes, &nodes->changes->present, "/dev/%s", name);
		return error_set(nodes->error, EEXIST,
				 "/dev/%s leads to %s and not to %s; remove it and call this again",
				 name, there, target);
	}
	if (!nodes->options->dry_run && symlinkat(target, nodes->directory, name) < 0)
		return error_set_errno(nodes->error, errno, "cannot make the link /dev/%s", name);
	return change(nodes, &nodes->changes->made, "/dev/%s -> %s", name, target);
}

/* DIRECTORY: "" or "nvidia-caps/"; only names that start with PREFIX. */
static int link_directory(struct nodes *nodes, const char *directory, const char *prefix)
{
	int fd = openat(nodes->directory, *directory ? directory : ".",
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup(closedirp) DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	int r = 0;

	if (!stream)
		return 0;
	for (struct dirent *entry; r == 0 && (entry = readdir(stream));)
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			r = link_one(nodes, directory, fd, entry->d_name);
	return r;
}

int device_make_char_links(const struct device_nodes_options *options, struct device_changes *ret,
			   struct error *error)
{
	struct nodes nodes = {
		.options = options, .changes = ret, .error = error, .directory = -1
	};
	int r = nodes_open(&nodes);

	if (r == 0 && !options->dry_run && mkdirat(nodes.directory, "char", 0755) < 0 &&
	    errno != EEXIST)
		r = error_set_errno(error, errno, "cannot make /dev/char");
	if (r == 0)
		r = link_directory(&nodes, "", "nvidia");
	if (r == 0)
		r = link_directory(&nodes, "nvidia-caps/", "nvidia-cap");
	if (r == 0)
		r = link_directory(&nodes, "nvidia-caps-imex-channels/", "channel");
	if (nodes.directory >= 0)
		close(nodes.directory);
	return r;
}
