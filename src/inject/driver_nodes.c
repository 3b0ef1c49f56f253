/* SPDX-License-Identifier: Apache-2.0 */
/* Device nodes of a driver root, and those of this machine that the driver root has not. */
#include "inject/driver_search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define CHANNELS      "/nvidia-caps-imex-channels"
#define CHANNEL_FIRST "nvidia-caps-imex-channels/channel0"

enum { NODE_DIGITS = 5, CAPABILITY_TEXT_MAX = 1024 };

/*
 * Where nodes are and what they are called. Sources: nvidia-modprobe and the container toolkit
 * (names), the kernel (dri, infiniband).
 *
 * How to add a node: one row, and for a new directory its name in nodes_in().
 */
static const struct node_row {
	const char *directory, *name; /* directory: below /dev, "" for /dev itself */
	bool numbered;                /* digits follow the name */
	unsigned gated;
} node_rows[] = {
	{ "", "nvidia", true, 0 },
	{ "", "nvidiactl", false, 0 },
	{ "", "nvidia-uvm", false, 0 },
	{ "", "nvidia-uvm-tools", false, 0 },
	{ "", "nvidia-modeset", false, 0 },
	{ "", "dxg", false, 0 }, /* Windows Subsystem for Linux */
	{ "", "gdrdrv", false, GATED_GDRCOPY },
	{ "", "nvidia-fs", true, GATED_GDS },
	{ "", "nvidia-nvswitchctl", false, GATED_NVSWITCH },
	{ "", "nvidia-nvswitch", true, GATED_NVSWITCH },
	{ "/infiniband", "uverbs", true, GATED_MOFED },
	{ "/infiniband", "rdma_cm", false, GATED_MOFED },
	{ "/nvidia-caps", "nvidia-cap", true, 0 },
	{ CHANNELS, "channel", true, 0 },
	{ "/dri", "card", true, 0 },
	{ "/dri", "renderD", true, 0 },
};

static bool row_fits(const struct node_row *row, const char *name)
{
	size_t length = strlen(row->name);

	if (name[0] != row->name[0] || strncmp(name, row->name, length) != 0)
		return false;
	size_t digits = strspn(name + length, "0123456789");
	return !name[length + digits] && digits <= NODE_DIGITS && (digits > 0) == row->numbered;
}

static const struct node_row *find_row(const char *directory, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(node_rows); i++)
		if (row_fits(&node_rows[i], name) && strcmp(node_rows[i].directory, directory) == 0)
			return &node_rows[i];
	return NULL;
}

/* The filter knows no directory; a name that fits another one's row is sorted out later. */
static bool is_node(const struct search *search, const char *name)
{
	(void)search;
	for (size_t i = 0; i < ARRAY_SIZE(node_rows); i++)
		if (row_fits(&node_rows[i], name))
			return true;
	return false;
}

/*
 * The card of a display node: sysfs has each as a link that ends in <address>/drm/<name>. A node of
 * another maker's card gets its address too and belongs to no card of ours.
 */
static void find_bus_id(const struct search *search, const char *name, char ret[CARD_BUS_ID_MAX])
{
	char target[ROOT_PATH_MAX], end[64];
	autoclose int fd = root_open(search->root, "/sys/class/drm", O_PATH | O_DIRECTORY);
	ssize_t length = fd < 0 ? -1 : readlinkat(fd, name, target, sizeof(target) - 1);

	snprintf(end, sizeof(end), "/drm/%s", name);
	if (length <= (ssize_t)strlen(end))
		return;
	target[length] = '\0';
	char *tail = target + length - strlen(end);
	if (strcmp(tail, end) != 0)
		return;
	*tail = '\0';
	const char *slash = strrchr(target, '/'), *address = slash ? slash + 1 : target;
	if (strlen(address) < CARD_BUS_ID_MAX &&
	    strspn(address, "0123456789abcdef:.") == strlen(address))
		memcpy(ret, address, strlen(address) + 1);
}

static int add_node(struct search *search, const char *directory, const char *name)
{
	struct driver_files *files = search->files;
	const struct node_row *row = find_row(directory, name);
	struct driver_node node = { .gated = row ? row->gated : 0 };
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX), below = STRBUF_INIT(sizeof(node.name) - 1);
	autofree char *source = NULL;
	struct stat status;

	strbuf_addf(&below, "%s%s%s", *directory ? directory + 1 : "", *directory ? "/" : "", name);
	if (!row || strbuf_failed(&below) < 0 || driver_files_node(files, below.data))
		return below.failed == ENOMEM ? -ENOMEM : 0;
	memcpy(node.name, below.data, below.length + 1);
	strbuf_addf(&path, "/dev/%s", node.name);
	int r = strbuf_failed(&path) < 0 ? strbuf_failed(&path)
					 : search_look(search, path.data, &status, &source);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (!S_ISCHR(status.st_mode))
		return driver_files_note(files, "%s is no character device; it is left out",
					 source);
	node.major = major(status.st_rdev);
	node.minor = minor(status.st_rdev);
	node.mode = status.st_mode & 07777;
	node.uid = status.st_uid;
	node.gid = status.st_gid;
	if (strcmp(directory, "/dri") == 0)
		find_bus_id(search, name, node.bus_id);
	struct driver_node *added =
		VEC_ADD(&files->nodes, &files->node_count, &files->node_capacity);
	if (!added)
		return -ENOMEM;
	node.path = TAKE_PTR(source);
	*added = node;
	return 0;
}

/*
 * Capabilities and a channel are looked at also when none is asked for: by their majors a node that
 * lies about what it is can be told. Of thousands of channels one is enough.
 */
static bool wants_directory(const struct search *search, const char *directory)
{
	const struct injection *wanted = search->wanted;

	if (!wanted || strcmp(directory, "/nvidia-caps") == 0)
		return true;
	if (strcmp(directory, CHANNELS) == 0)
		return injection_wants_all_channels(wanted) ||
		       !driver_files_node(search->files, CHANNEL_FIRST);
	if (strcmp(directory, "/dri") == 0)
		return injection_wants_display(wanted);
	for (size_t i = 0; i < ARRAY_SIZE(node_rows); i++)
		if (strcmp(node_rows[i].directory, directory) == 0 &&
		    (node_rows[i].gated & wanted->gated))
			return true;
	return false;
}

static int nodes_in_directory(struct search *search, const char *directory)
{
	cleanup(string_list_release) struct string_list names = { 0 };
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);

	strbuf_addf(&path, "/dev%s", directory);
	int r = strbuf_failed(&path);
	if (r == 0)
		r = search_list(search, path.data, is_node, false, &names);
	for (size_t i = 0; r == 0 && i < names.count; i++)
		r = add_node(search, directory, names.items[i]);
	return r;
}

/* "nvidia0" or "nvidia-caps/nvidia-cap1". */
static int named_node(struct search *search, const char *name)
{
	const char *slash = strchr(name, '/');
	char directory[64];

	if (!slash)
		return add_node(search, "", name);
	snprintf(directory, sizeof(directory), "/%.*s", (int)(slash - name), name);
	return add_node(search, directory, slash + 1);
}

static int nodes_in(struct search *search, const struct string_list *names)
{
	static const char *const directories[] = { "", "/nvidia-caps", CHANNELS, "/infiniband",
						   "/dri" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < names->count; i++)
		r = named_node(search, names->items[i]);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(directories); i++)
		if (wants_directory(search, directories[i]))
			r = nodes_in_directory(search, directories[i]);
	return r;
}

/* Which node of nvidia-caps is for the configuration of MIG, and which for its monitoring. */
static void gate_capability(const struct search *search, const char *what, unsigned gated)
{
	char path[128], text[CAPABILITY_TEXT_MAX], name[64];

	snprintf(path, sizeof(path), "/proc/driver/nvidia/capabilities/mig/%s", what);
	autoclose int fd = root_open(search->root, path, O_RDONLY | O_NONBLOCK);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (length <= 0)
		return;
	text[length] = '\0';
	snprintf(name, sizeof(name), "nvidia-caps/nvidia-cap%u", capability_parse_minor(text));
	for (size_t i = 0; i < search->files->node_count; i++)
		if (strcmp(search->files->nodes[i].name, name) == 0)
			search->files->nodes[i].gated = gated;
}

static void gate_capabilities(const struct search *search)
{
	if (search->wanted && !(search->wanted->gated & (GATED_MIG_CONFIG | GATED_MIG_MONITOR)))
		return;
	gate_capability(search, "config", GATED_MIG_CONFIG);
	gate_capability(search, "monitor", GATED_MIG_MONITOR);
}

int search_nodes(struct search *search)
{
	cleanup(search_host_release) struct search host = { .root = -1 };
	cleanup(string_list_release) struct string_list names = { 0 };
	int r = search->wanted ? injection_node_names(search->wanted, &names) : 0;

	if (r == 0 && search->wanted)
		r = string_list_add(&names, CHANNEL_FIRST);
	if (r == 0)
		r = nodes_in(search, &names);
	gate_capabilities(search);
	if (r == 0)
		r = search_host(search, &host);
	if (r <= 0)
		return r;
	r = nodes_in(&host, &names);
	if (r == 0)
		gate_capabilities(&host);
	return r;
}
