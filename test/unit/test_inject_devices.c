/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of MIG instances, of what is asked for beside cards, in user namespaces and over volumes. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "formats/formats.h"
#include "inject/driver_table.h"
#include "question.h"
#include "tree.h"

#define INSTANCE_0 "MIG-00"
#define INSTANCE_1 "MIG-11"

/* The nodes of a machine with everything; their paths are not on the disk. */
static char node_paths[] = "/driver/dev/node";
static struct driver_node many_nodes[] = {
	{ .name = "nvidia0", .path = node_paths, .major = 195, .minor = 0 },
	{ .name = "nvidia1", .path = node_paths, .major = 195, .minor = 1 },
	{ .name = "nvidiactl", .path = node_paths, .major = 195, .minor = 255 },
	{ .name = "nvidia-uvm", .path = node_paths, .major = 510, .minor = 0 },
	{ .name = "nvidia-caps/nvidia-cap30", .path = node_paths, .major = 511, .minor = 30 },
	{ .name = "nvidia-caps/nvidia-cap31", .path = node_paths, .major = 511, .minor = 31 },
	{ .name = "nvidia-caps/nvidia-cap39", .path = node_paths, .major = 511, .minor = 39 },
	{ .name = "nvidia-caps/nvidia-cap40", .path = node_paths, .major = 511, .minor = 40 },
	{ .name = "nvidia-caps/nvidia-cap1",
	  .path = node_paths,
	  .major = 511,
	  .minor = 1,
	  .gated = GATED_MIG_CONFIG },
	{ .name = "nvidia-caps/nvidia-cap2",
	  .path = node_paths,
	  .major = 511,
	  .minor = 2,
	  .gated = GATED_MIG_MONITOR },
	{ .name = "dri/card3",
	  .path = node_paths,
	  .major = 226,
	  .minor = 3,
	  .bus_id = "0000:07:00.0" },
	{ .name = "dri/renderD131",
	  .path = node_paths,
	  .major = 226,
	  .minor = 131,
	  .bus_id = "0000:07:00.0" },
	{ .name = "dri/renderD132",
	  .path = node_paths,
	  .major = 226,
	  .minor = 132,
	  .bus_id = "0000:0f:00.0" },
	{ .name = "nvidia-fs0", .path = node_paths, .major = 236, .minor = 0, .gated = GATED_GDS },
	{ .name = "nvidia-fs1", .path = node_paths, .major = 236, .minor = 1, .gated = GATED_GDS },
	{ .name = "infiniband/rdma_cm",
	  .path = node_paths,
	  .major = 10,
	  .minor = 59,
	  .gated = GATED_MOFED },
	{ .name = "gdrdrv", .path = node_paths, .major = 235, .minor = 0, .gated = GATED_GDRCOPY },
	{ .name = "nvidia-caps-imex-channels/channel0",
	  .path = node_paths,
	  .major = 234,
	  .minor = 0 },
	{ .name = "nvidia-caps-imex-channels/channel7",
	  .path = node_paths,
	  .major = 234,
	  .minor = 7 },
};

/* Card 1 is in MIG mode with two instances, of which the second may draw. */
struct machine {
	struct question question;
	struct card cards[2];
	struct card_instance instances[2];
	struct grant_card parts[3];
	struct grant grants[2];
	const struct grant *list[2];
};

static void machine_init(struct machine *machine)
{
	struct question *question = &machine->question;

	*machine = (struct machine){
		.cards = { { .index = 0, .minor = 0, .uuid = "GPU-aa", .bus_id = "0000:07:00.0" },
			   { .index = 1,
			     .minor = 1,
			     .uuid = "GPU-bb",
			     .bus_id = "0000:0f:00.0",
			     .mig_enabled = true,
			     .instance_count = 2 } },
		.instances = { { .uuid = INSTANCE_0,
				 .profile = "1g.10gb",
				 .index = 0,
				 .gpu_instance = 3,
				 .gpu_minor = 30,
				 .compute_minor = 31 },
			       { .uuid = INSTANCE_1,
				 .profile = "1g.10gb+gfx",
				 .index = 1,
				 .gpu_instance = 4,
				 .gpu_minor = 39,
				 .compute_minor = 40 } },
		.grants = { { .kind = REQUEST_WHOLE, .enforcement = ENFORCEMENT_WHOLE },
			    { .kind = REQUEST_MIG, .enforcement = ENFORCEMENT_WHOLE } },
	};
	machine->cards[1].instances = machine->instances;
	question_init(question);
	question->inventory.cards = machine->cards;
	question->files.nodes = many_nodes;
	question->files.node_count = ARRAY_SIZE(many_nodes);
	machine->grants[0].cards = machine->parts;
	machine->grants[1].cards = &machine->parts[1];
	machine->list[0] = &machine->grants[0];
	machine->list[1] = &machine->grants[1];
	question->injection.grants = machine->list;
	question->injection.grant_count = 2;
}

/* "GPU-aa", then instances; each once. */
static void machine_grant(struct machine *machine, const char *card, const char *first,
			  const char *second)
{
	const char *names[] = { card, first, second };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i])
			snprintf(machine->parts[i].uuid, sizeof(machine->parts[i].uuid), "%s",
				 names[i]);
	machine->grants[0].card_count = card != NULL;
	machine->grants[1].card_count = (first != NULL) + (second != NULL);
}

/* The names of all nodes of PLAN, with a blank between them. */
static char *nodes_of(const struct edit_plan *plan)
{
	autostrbuf text = STRBUF_INIT(4096);

	for (size_t i = 0; i < plan->count; i++)
		if (plan->edits[i].kind == EDIT_DEVICE)
			strbuf_addf(&text, "%s%s", text.length ? " " : "",
				    plan->edits[i].name + strlen("/dev/"));
	return strbuf_detach(&text);
}

#define CONTROLS " nvidiactl nvidia-uvm"
#define CAPS_0   "nvidia-caps/nvidia-cap30 nvidia-caps/nvidia-cap31"
#define CAPS_1   "nvidia-caps/nvidia-cap39 nvidia-caps/nvidia-cap40"

static const struct {
	const char *card, *first, *second; /* granted */
	unsigned capabilities, gated;
	const char *channels[2];
	const char *nodes;
} node_rows[] = {
	{ .nodes = "nvidiactl nvidia-uvm" },
	{ .card = "GPU-aa", .nodes = "nvidia0" CONTROLS },
	{ .card = "GPU-bb", .nodes = "nvidia1" CONTROLS },
	{ .first = INSTANCE_0, .nodes = "nvidia1 " CAPS_0 CONTROLS },
	{ .first = INSTANCE_1, .nodes = "nvidia1 " CAPS_1 CONTROLS },
	{ .first = INSTANCE_1,
	  .second = INSTANCE_0,
	  .nodes = "nvidia1 " CAPS_0 " " CAPS_1 CONTROLS },
	{ .first = "MIG-GPU-bb/3/0", .nodes = "nvidia1 " CAPS_0 CONTROLS },
	{ .card = "GPU-aa", .first = INSTANCE_0, .nodes = "nvidia0 nvidia1 " CAPS_0 CONTROLS },
	{ .card = "GPU-bb", .first = INSTANCE_0, .nodes = "nvidia1 " CAPS_0 CONTROLS },
	/* display nodes */
	{ .card = "GPU-aa",
	  .capabilities = CAPABILITY_GRAPHICS,
	  .nodes = "nvidia0 dri/card3 dri/renderD131 nvidiactl" },
	{ .card = "GPU-aa",
	  .capabilities = CAPABILITY_DISPLAY | CAPABILITY_UTILITY,
	  .nodes = "nvidia0 dri/card3 dri/renderD131 nvidiactl" },
	{ .first = INSTANCE_0,
	  .capabilities = CAPABILITY_GRAPHICS,
	  .nodes = "nvidia1 " CAPS_0 " nvidiactl" },
	{ .first = INSTANCE_1,
	  .capabilities = CAPABILITY_GRAPHICS,
	  .nodes = "nvidia1 " CAPS_1 " dri/renderD132 nvidiactl" },
	/* beside the cards */
	{ .card = "GPU-aa",
	  .gated = GATED_GDS,
	  .nodes = "nvidia0" CONTROLS " nvidia-fs0 nvidia-fs1" },
	{ .card = "GPU-aa",
	  .gated = GATED_MOFED | GATED_GDRCOPY,
	  .nodes = "nvidia0" CONTROLS " infiniband/rdma_cm gdrdrv" },
	{ .card = "GPU-aa", .gated = GATED_NVSWITCH, .nodes = "nvidia0" CONTROLS },
	{ .card = "GPU-aa",
	  .gated = GATED_MIG_CONFIG,
	  .nodes = "nvidia0" CONTROLS " nvidia-caps/nvidia-cap1" },
	{ .gated = GATED_MIG_MONITOR, .nodes = "nvidiactl nvidia-uvm nvidia-caps/nvidia-cap2" },
	{ .card = "GPU-aa",
	  .channels = { "7", "0" },
	  .nodes = "nvidia0" CONTROLS " nvidia-caps-imex-channels/channel7 "
		   "nvidia-caps-imex-channels/channel0" },
	{ .card = "GPU-aa",
	  .channels = { "3", IMEX_ALL },
	  .nodes = "nvidia0" CONTROLS " nvidia-caps-imex-channels/channel0 "
		   "nvidia-caps-imex-channels/channel7" },
};

static void check_row(size_t i)
{
	struct machine machine;
	struct edit_plan plan;
	struct string_list imex = { .items = (char **)(uintptr_t)node_rows[i].channels };

	machine_init(&machine);
	machine_grant(&machine, node_rows[i].card, node_rows[i].first, node_rows[i].second);
	if (node_rows[i].capabilities)
		machine.question.injection.capabilities = node_rows[i].capabilities;
	machine.question.injection.gated = node_rows[i].gated;
	while (imex.count < 2 && imex.items[imex.count])
		imex.count++;
	machine.question.injection.imex = &imex;
	question_ask(&machine.question, &plan);
	autofree char *nodes = nodes_of(&plan);
	if (strcmp(nodes, node_rows[i].nodes) != 0)
		fail_msg("row %zu: \"%s\", not \"%s\"", i, nodes, node_rows[i].nodes);
	assert_int_equal(plan_has_note(&plan, "NVIDIA_NVSWITCH is asked for, and this machine has "
					      "no /dev/nvidia-nvswitch*"),
			 node_rows[i].gated == GATED_NVSWITCH);
	/* without a grant of a card or of an instance of it, its directory is hidden */
	assert_int_equal(plan_count(&plan, EDIT_MASK), 2 - (strstr(nodes, "nvidia0") != NULL) -
							       (strstr(nodes, "nvidia1") != NULL));
	for (size_t j = 0; j < plan.count; j++)
		if (plan.edits[j].kind == EDIT_DEVICE)
			assert_string_equal(plan.edits[j].options, "rw");
	edit_plan_release(&plan);
}

TEST(nodes_of_what_is_granted)
{
	for (size_t i = 0; i < ARRAY_SIZE(node_rows); i++)
		check_row(i);
}

/* Files with a gate of their own come with it only. */
TEST(files_beside_the_cards)
{
	struct question question;
	struct edit_plan plan;
	struct driver_file file = question_items[7];

	question_init(&question);
	question.files.items = &file;
	question.files.count = 1;
	file.gated = GATED_GDS;
	question_ask(&question, &plan);
	assert_int_equal(plan_count(&plan, EDIT_MOUNT), 0);
	edit_plan_release(&plan);
	question.injection.gated = GATED_GDS | GATED_MOFED;
	question_ask(&question, &plan);
	assert_int_equal(plan_count(&plan, EDIT_MOUNT), 1);
	edit_plan_release(&plan);
}

/* What stands in the place of a node, and what is said of it. */
/* The X server of an image looks where its C library's directory says; CDI serves them all. */
TEST(modules_go_where_the_x_server_looks)
{
	static const struct {
		const char *libc; /* in the image; NULL: nobody looks into it */
		const char *targets;
	} images[] = {
		{ "usr/lib/" LIBRARY_TRIPLET "/libc.so.6",
		  "/usr/lib/xorg/modules/drivers/nvidia_drv.so" },
		{ "usr/lib64/libc.so.6", "/usr/lib64/xorg/modules/drivers/nvidia_drv.so" },
		{ "usr/lib/libc.so.6", "/usr/lib/xorg/modules/drivers/nvidia_drv.so" },
		{ NULL, "/usr/lib/xorg/modules/drivers/nvidia_drv.so "
			"/usr/lib64/xorg/modules/drivers/nvidia_drv.so" },
		{ "etc/passwd", "" }, /* no C library: nodes only */
	};
	static char source[] = "/driver/nvidia_drv.so";
	static char names[][64] = { "/usr/lib/xorg/modules/drivers/nvidia_drv.so",
				    "/usr/lib64/xorg/modules/drivers/nvidia_drv.so" };
	char *const list[] = { names[0], names[1] };

	for (size_t i = 0; i < ARRAY_SIZE(images); i++) {
		struct driver_file file = { .kind = DRIVER_MODULE,
					    .capabilities = CAPABILITY_DISPLAY,
					    .source = source,
					    .names = { .items = (char **)(uintptr_t)list,
						       .count = 2 } };
		autostrbuf targets = STRBUF_INIT(4096);
		struct machine machine;
		struct edit_plan plan;
		char tree[TREE_PATH_MAX];

		machine_init(&machine);
		machine_grant(&machine, "GPU-aa", NULL, NULL);
		machine.question.files.items = &file;
		machine.question.files.count = 1;
		machine.question.injection.capabilities = CAPABILITY_DISPLAY;
		tree_make(tree);
		if (images[i].libc)
			tree_file(tree, images[i].libc, "x");
		autoclose int root = images[i].libc ? open(tree, O_PATH | O_DIRECTORY) : -1;
		machine.question.injection.root_fd = root;
		question_ask(&machine.question, &plan);
		for (size_t k = 0; k < plan.count; k++)
			if (plan.edits[k].kind == EDIT_MOUNT)
				strbuf_addf(&targets, "%s%s", targets.length ? " " : "",
					    plan.edits[k].name);
		assert_string_equal(targets.data, images[i].targets);
		edit_plan_release(&plan);
		tree_remove(tree);
	}
}

static const struct {
	struct driver_node node; /* instead of the one of that name; path NULL: it is taken away */
	const char *card, *instance, *channel;
	const char *message;
} wrong_rows[] = {
	{ { "nvidia-caps/nvidia-cap30", NULL, 0, 0 },
	  NULL,
	  INSTANCE_0,
	  NULL,
	  "GPU instance 3, compute instance 0 of card minor 1 has no device node "
	  "/dev/nvidia-caps/nvidia-cap30; make it with nvidia-modprobe -f "
	  "/proc/driver/nvidia/capabilities/gpu1/mig/gi3/access" },
	{ { "nvidia-caps/nvidia-cap31", NULL, 0, 0 },
	  NULL,
	  INSTANCE_0,
	  NULL,
	  "nvidia-cap31; make" },
	{ { "nvidia-caps/nvidia-cap31", node_paths, 511, 40 },
	  NULL,
	  INSTANCE_0,
	  NULL,
	  "is device 511:40, which is not what its name says" },
	{ { "nvidia-caps/nvidia-cap31", node_paths, 195, 31 },
	  NULL,
	  INSTANCE_0,
	  NULL,
	  "is device 195:31, which is not what its name says" },
	{ { "nvidia1", NULL, 0, 0 }, NULL, INSTANCE_0, NULL, "has no device node nvidia1" },
	{ { "nvidia1", node_paths, 195, 0 },
	  NULL,
	  INSTANCE_0,
	  NULL,
	  "is device 195:0 and not 195:1 of card 1 (GPU-bb)" },
	{ { "nvidiactl", node_paths, 195, 1 },
	  "GPU-aa",
	  NULL,
	  NULL,
	  "is device 195:1, which is not what its name says" },
	{ { "nvidia-uvm", node_paths, 195, 0 },
	  "GPU-aa",
	  NULL,
	  NULL,
	  "is device 195:0, which is not what its name says" },
	{ { "nvidia-uvm", NULL, 0, 0 },
	  NULL,
	  "MIG-zz",
	  NULL,
	  "MIG instance MIG-zz was granted and is not in the inventory" },
	{ { "nvidia-uvm", NULL, 0, 0 },
	  INSTANCE_0,
	  NULL,
	  NULL,
	  "card MIG-00 was granted and is not in the inventory" },
	{ { "nvidia-uvm", NULL, 0, 0 },
	  NULL,
	  "GPU-bb",
	  NULL,
	  "MIG instance GPU-bb was granted and is not in the inventory" },
	{ { "nvidia-uvm", NULL, 0, 0 },
	  "GPU-aa",
	  NULL,
	  "5",
	  "IMEX channel 5 is asked for, and there is no "
	  "/dev/nvidia-caps-imex-channels/channel5" },
	{ { "nvidia-caps-imex-channels/channel7", node_paths, 195, 7 },
	  "GPU-aa",
	  NULL,
	  "7",
	  "is device 195:7, which is not what its name says" },
};

TEST(nodes_that_are_wrong)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrong_rows); i++) {
		struct machine machine;
		struct driver_node nodes[ARRAY_SIZE(many_nodes)];
		size_t count = 0;
		char *channel = (char *)(uintptr_t)wrong_rows[i].channel;
		const struct string_list imex = { .items = &channel, .count = channel != NULL };

		machine_init(&machine);
		machine_grant(&machine, wrong_rows[i].card, wrong_rows[i].instance, NULL);
		for (size_t j = 0; j < ARRAY_SIZE(many_nodes); j++) {
			bool here = strcmp(many_nodes[j].name, wrong_rows[i].node.name) == 0;

			if (!here || wrong_rows[i].node.path)
				nodes[count++] = here ? wrong_rows[i].node : many_nodes[j];
		}
		machine.question.files.nodes = nodes;
		machine.question.files.node_count = count;
		machine.question.injection.imex = &imex;
		question_refused(&machine.question, ENODEV, REASON_NONE, wrong_rows[i].message);
	}
}

TEST(a_card_without_a_number)
{
	struct machine machine;

	machine_init(&machine);
	machine_grant(&machine, "GPU-aa", NULL, NULL);
	machine.cards[0].minor = CARD_MINOR_NONE;
	question_refused(&machine.question, ENODEV, REASON_NONE,
			 "nobody says which device node card 0 (GPU-aa) has");
	machine_init(&machine);
	machine_grant(&machine, NULL, INSTANCE_0, NULL);
	machine.instances[0].compute_minor = CARD_MINOR_NONE;
	question_refused(&machine.question, ENODEV, REASON_NONE,
			 "has no device node /dev/nvidia-caps; make it");
}

static bool has_rule(struct json_object *spec, unsigned major, unsigned minor)
{
	struct json_object *rules = json_get(spec, "linux.resources.devices");

	for (size_t i = 0; i < json_object_array_length(rules); i++) {
		struct json_object *rule = json_object_array_get_idx(rules, i);

		if (json_get_uint(rule, "major", UINT64_MAX) == major &&
		    json_get_uint(rule, "minor", UINT64_MAX) == minor &&
		    strcmp(json_get_string(rule, "access", ""), "rw") == 0 &&
		    json_object_get_boolean(json_get(rule, "allow")))
			return true;
	}
	return false;
}

static const char *mount_source(struct json_object *spec, const char *path)
{
	struct json_object *mounts = json_get(spec, "mounts");

	for (size_t i = 0; i < json_object_array_length(mounts); i++) {
		struct json_object *mount = json_object_array_get_idx(mounts, i);

		if (strcmp(json_get_string(mount, "destination", ""), path) == 0)
			return json_get_string(mount, "source", "");
	}
	return NULL;
}

/* runc makes no nodes there; it binds what is at the same path of the host, if anything is. */
TEST(nodes_in_a_user_namespace)
{
	struct question question;
	struct edit_plan plan;
	autojson *spec = question_spec("/", NULL, NULL);
	autojson *object = NULL;
	autostrbuf text = STRBUF_INIT(65536);

	question_init(&question);
	question.injection.spec = spec;
	question.injection.user_namespace = true;
	question_ask(&question, &plan);
	assert_int_equal(plan_count(&plan, EDIT_DEVICE), 3);
	assert_int_equal(edit_plan_print(&plan, &text), 0);
	assert_non_null(strstr(text.data, "  /dev/nvidia0  c 195:0 rw, mounted from "
					  "/driver/dev/nvidia0\n"));
	assert_int_equal(edit_plan_to_json(&plan, &object, NULL), 0);
	assert_string_equal(json_get_string(json_object_array_get_idx(json_get(object, "edits"), 1),
					    "node", ""),
			    "mounted");
	assert_int_equal(edit_plan_apply_oci(&plan, spec, NULL), 0);
	assert_null(json_get(spec, "linux.devices"));
	assert_string_equal(mount_source(spec, "/dev/nvidia0"), "/driver/dev/nvidia0");
	assert_string_equal(mount_source(spec, "/dev/nvidiactl"), "/driver/dev/nvidiactl");
	assert_true(has_rule(spec, 195, 0));
	assert_true(has_rule(spec, 195, 255));
	assert_false(has_rule(spec, 195, 1));
	assert_int_equal(oci_spec_check(spec, "spec", NULL), 0);
	edit_plan_release(&plan);
}

/* Below TREE, in a mount namespace of this process's own; false without the right to it. */
static bool mount_noexec(const char *tree)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", tree, "tmpfs", MS_NOEXEC, NULL) == 0;
}

TEST(libraries_in_a_user_namespace)
{
	struct question question;
	struct edit_plan plan;
	struct driver_file file = question_items[0];
	char tree[TREE_PATH_MAX];

	tree_make(tree);
	if (!mount_noexec(tree)) {
		print_message("# no right to mount\n");
		tree_remove(tree);
		skip();
	}
	question_init(&question);
	question.files.items = &file;
	question.files.count = 1;
	file.source = tree;
	question_ask(&question, &plan);
	assert_false(plan_has_note(&plan, "noexec"));
	edit_plan_release(&plan);
	question.injection.user_namespace = true;
	question_ask(&question, &plan);
	assert_true(plan_has_note(&plan, " lies on a file system that is mounted noexec"));
	edit_plan_release(&plan);
	assert_int_equal(umount(tree), 0);
	tree_remove(tree);
}

static struct json_object *spec_with(const char *destination, const char *source)
{
	struct json_object *spec = question_spec("/", NULL, NULL);
	const struct oci_mount mount = { destination, source, "bind", "rbind,rw" };

	assert_int_equal(oci_spec_add_mount(spec, &mount, NULL), 0);
	return spec;
}

/* The host's /dev, as privileged Pods have it, holds the nodes: the rules are all that is added. */
TEST(nodes_that_are_there)
{
	static const struct {
		const char *destination, *source;
		bool refused;
	} rows[] = {
		{ "/dev", "/driver/dev", false },
		{ "/dev/", "/driver/dev/.", true }, /* not known to be the same without a node */
		{ "/dev", "/dev", false }, /* of a machine with these nodes, or with a note */
		{ "/dev", "/volume", true },
		{ "/", "/driver", false },
		{ "/dev/nvidia0", "/driver/dev/nvidia0", false },
		{ "/dev/nvidia0", "/driver/dev/nvidia1", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct question question;
		struct edit_plan plan;
		autojson *spec = spec_with(rows[i].destination, rows[i].source);

		question_init(&question);
		question.injection.spec = spec;
		question.files.count = 0;
		if (rows[i].refused) {
			question_refused(&question, EPERM, REASON_BAD_MOUNT,
					 "where the device nodes of the cards must be made");
			continue;
		}
		question_ask(&question, &plan);
		assert_int_equal(plan_find(&plan, EDIT_DEVICE, "/dev/nvidia0")->node,
				 EDIT_NODE_THERE);
		assert_int_equal(edit_plan_apply_oci(&plan, spec, NULL), 0);
		assert_true(has_rule(spec, 195, 0));
		assert_false(has_rule(spec, 195, 1));
		struct json_object *devices = json_get(spec, "linux.devices");
		assert_int_equal(devices ? json_object_array_length(devices) : 0,
				 strcmp(rows[i].destination, "/dev/nvidia0") == 0 ? 2 : 0);
		edit_plan_release(&plan);
	}
}

/* By the number of the node behind it, not by its name. */
TEST(nodes_that_are_there_by_number)
{
	struct question question;
	struct edit_plan plan;
	char tree[TREE_PATH_MAX], path[128];
	autojson *spec = NULL;

	tree_make(tree);
	bool made = tree_node(tree, "nvidia0", 195, 0) && tree_node(tree, "nvidiactl", 195, 255) &&
		    tree_node(tree, "nvidia-uvm", 510, 0);
	spec = spec_with("/dev", tree);
	question_init(&question);
	question.injection.spec = spec;
	question.files.count = 0;
	if (!made) {
		print_message("# no right to make device nodes\n");
		tree_remove(tree);
		skip();
	}
	question_ask(&question, &plan);
	assert_int_equal(plan_find(&plan, EDIT_DEVICE, "/dev/nvidia0")->node, EDIT_NODE_THERE);
	edit_plan_release(&plan);
	snprintf(path, sizeof(path), "%s/nvidia0", tree);
	assert_int_equal(unlink(path), 0);
	assert_true(tree_node(tree, "nvidia0", 195, 1));
	question_refused(&question, EPERM, REASON_BAD_MOUNT, "where the device nodes");
	tree_remove(tree);
}

/* The container mounts something exactly where a file of the driver goes. */
TEST(mounts_at_our_paths)
{
	static const char *const cuda = LIBDIR "/libcuda.so.1";
	static const char *const both[] = { LIBDIR "/libcuda.so.1",
					    "/usr/local/nvidia/lib64/libcuda.so.1" };

	for (int row = 0; row < 5; row++) {
		struct question question;
		struct edit_plan plan;
		char tree[TREE_PATH_MAX], path[128];
		struct driver_file file = question_items[0];

		tree_make(tree);
		tree_file(tree, "libcuda.so.535", "");
		tree_link(tree, "link", "libcuda.so.535");
		tree_file(tree, "other", "");
		snprintf(path, sizeof(path), "%s/libcuda.so.535", tree);
		file.source = row == 0 ? question_items[0].source : path;
		char link[128], other[128];
		snprintf(link, sizeof(link), "%s/link", tree);
		snprintf(other, sizeof(other), "%s/other", tree);
		/* the same name, the same file by a link, another file, another at both places */
		autojson *spec = spec_with(cuda, row == 0 ? file.source : row == 1 ? link : other);
		if (row >= 3) {
			const struct oci_mount mount = { both[1], row == 3 ? other : path, "bind",
							 "rbind" };

			assert_int_equal(oci_spec_add_mount(spec, &mount, NULL), 0);
		}
		question_init(&question);
		question_root(&question);
		tree_file(question.tree, cuda + 1, "");
		tree_file(question.tree, LIBDIR "/libc.so.6", "");
		question.files.items = &file;
		question.files.count = 1;
		question.injection.capabilities = CAPABILITY_COMPUTE;
		question.injection.spec = spec;
		if (row == 3) {
			question_refused(&question, EPERM, REASON_BAD_MOUNT,
					 "mounts a volume at every place where the driver's "
					 "libcuda.so.1 could be mounted. Mount it elsewhere");
		} else {
			question_ask(&question, &plan);
			assert_null(plan_find(&plan, EDIT_MOUNT, cuda));
			assert_int_equal(plan_has_note(&plan, cuda), row >= 2);
			assert_int_equal(plan_find(&plan, EDIT_MOUNT, both[1]) != NULL, row < 3);
			assert_non_null(plan_find(&plan, EDIT_MOUNT, LIBDIR "/libcuda.so"));
			edit_plan_release(&plan);
		}
		question_release(&question);
		tree_remove(tree);
	}
}

TEST(devices_survive_every_failed_allocation)
{
	char zero[] = "0";
	char *channels[] = { zero };
	const struct string_list imex = { .items = channels, .count = 1 };

	for (int there = 0; there < 2; there++) {
		struct machine machine;
		autojson *spec = there ? spec_with("/dev", "/driver/dev")
				       : spec_with(LIBDIR "/libcuda.so.1", "/other");

		machine_init(&machine);
		machine_grant(&machine, "GPU-aa", INSTANCE_0, INSTANCE_1);
		machine.question.injection.spec = spec;
		machine.question.injection.user_namespace = true;
		machine.question.injection.capabilities = CAPABILITY_ALL;
		machine.question.injection.gated = GATED_GDS | GATED_NVSWITCH;
		machine.question.injection.imex = there ? NULL : &imex;
		if (there) {
			machine.question.files.nodes = question_nodes;
			machine.question.files.node_count = QUESTION_NODES;
			machine_grant(&machine, "GPU-aa", NULL, NULL);
		}
		for (unsigned n = 0;; n++) {
			cleanup(edit_plan_release) struct edit_plan plan = { 0 };

			fault_arm(n);
			int r = edit_plan_build(&machine.question.injection, &plan, NULL, NULL);
			if (!fault_disarm()) {
				assert_int_equal(r, 0);
				break;
			}
			assert_int_equal(r, -ENOMEM);
		}
	}
}
