/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdi_world.h"

/* EXPECTED with ROOT for each '@'. */
static void check_golden(struct json_object *edits, const char *list, const char *key,
			 const char *root, const char *expected)
{
	autostrbuf text = STRBUF_INIT(4096);

	for (; *expected; expected++)
		if (*expected == '@')
			strbuf_adds(&text, root);
		else
			strbuf_addc(&text, *expected);
	cdi_world_check_set(edits, list, key, text.data);
}

/*
 * The machine of NVIDIA's own test of its generator, and what that expects: nvidia-container-toolkit,
 * cmd/nvidia-ctk/cdi/generate/generate_test.go, TestGenerateSpec, over the tree testdata/lookup/rootfs-1: the
 * cases "default", "disableHooks1", "disableHooks2" and "disableHooksAll", which differ in their hooks alone (4,
 * 3, 2 and none); what is here is the last of them. Compared as sets. By design other here: no hooks; libraries at their
 * SONAMEs, in several directories; numbers and permissions of nodes are written; the variable for its
 * hooks, NVIDIA_CTK_LIBCUDA_DIR, is not there, ours are.
 */
TEST(the_golden_spec_of_the_toolkit)
{
	static const char *const devices[] = { "0", "all" };
	char tree[TREE_PATH_MAX];
	cleanup(driver_files_freep) struct driver_files *files = NULL;
	struct card card = { .uuid = "GPU-b8ea3855-276c-c9cb-b366-c6fa655957c5" };
	struct inventory inventory = { .cards = &card, .card_count = 1 };
	struct cdi_options options = { .mode = CDI_NVML,
				       .names = CDI_NAME_INDEX,
				       .vendor = "example.com",
				       .class = "device",
				       .inventory = &inventory };

	if (!cdi_world_tree(tree)) {
		tree_remove(tree);
		skip();
	}
	options.files = files = cdi_world_driver(tree);
	autojson *spec = cdi_world_generate(&options, NULL);
	assert_string_equal(json_get_string(spec, "cdiVersion", ""), "0.5.0");
	assert_string_equal(json_get_string(spec, "kind", ""), "example.com/device");
	cdi_world_check_names(spec, "0 all");
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		struct json_object *edits = cdi_world_device(spec, devices[i]);

		cdi_world_check_set(edits, "deviceNodes", "path", "/dev/nvidia0");
		check_golden(edits, "deviceNodes", "hostPath", tree, "@/dev/nvidia0");
	}
	struct json_object *common = json_get(spec, "containerEdits");
	cdi_world_check_set(common, "deviceNodes", "path", "/dev/nvidiactl");
	check_golden(common, "deviceNodes", "hostPath", tree, "@/dev/nvidiactl");
	check_golden(common, "mounts", "hostPath", tree,
		     "@/lib/x86_64-linux-gnu/libcuda.so.999.88.77 "
		     "@/lib/x86_64-linux-gnu/vdpau/libvdpau_nvidia.so.999.88.77");
	cdi_world_check_set(common, "env", NULL,
			    "GPUPOOL_CDI_STAMP=driver:999.88.77,mig:0000000000000000 "
			    "NVIDIA_VISIBLE_DEVICES=void TRITON_LIBCUDA_PATH=/usr/lib64");
	/* "disableHooksAll" has neither of these, in no device either. */
	assert_null(json_get(common, "hooks"));
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		assert_null(json_get(cdi_world_device(spec, devices[i]), "hooks"));
	tree_remove(tree);
}

/* Case "enableChmodHook" there, mode management: every node is the device's, and none is common. */
TEST(the_golden_spec_for_management)
{
	char tree[TREE_PATH_MAX];
	cleanup(driver_files_freep) struct driver_files *files = NULL;
	struct inventory inventory = { .card_count = 0 };
	struct cdi_options options = { .mode = CDI_MANAGEMENT,
				       .vendor = "example.com",
				       .class = "device",
				       .inventory = &inventory };
	static const char nodes[] =
		"@/dev/nvidia-caps-imex-channels/channel0 @/dev/nvidia-caps-imex-channels/channel1 "
		"@/dev/nvidia-caps-imex-channels/channel2047 @/dev/nvidia-caps/nvidia-cap1 "
		"@/dev/nvidia0 @/dev/nvidiactl";

	if (!cdi_world_tree(tree)) {
		tree_remove(tree);
		skip();
	}
	options.files = files = cdi_world_driver(tree);
	autojson *spec = cdi_world_generate(&options, NULL);
	assert_string_equal(json_get_string(spec, "cdiVersion", ""), "0.5.0");
	assert_string_equal(json_get_string(spec, "kind", ""), "example.com/device");
	cdi_world_check_names(spec, "all");
	check_golden(cdi_world_device(spec, "all"), "deviceNodes", "hostPath", tree, nodes);
	check_golden(cdi_world_device(spec, "all"), "deviceNodes", "path", "", nodes);
	struct json_object *common = json_get(spec, "containerEdits");
	assert_null(json_get(common, "deviceNodes"));
	check_golden(common, "mounts", "hostPath", tree,
		     "@/lib/x86_64-linux-gnu/libcuda.so.999.88.77 "
		     "@/lib/x86_64-linux-gnu/vdpau/libvdpau_nvidia.so.999.88.77");
	tree_remove(tree);
}

TEST(a_card_has_the_names_that_are_asked_for)
{
	static const struct {
		unsigned names;
		bool no_all;
		const char *expected;
	} rows[] = {
		{ 0, false, "0 GPU-aa 1 GPU-bb all" },
		{ CDI_NAME_INDEX, true, "0 1" },
		{ CDI_NAME_UUID, false, "GPU-aa GPU-bb all" },
		{ CDI_NAME_TYPE_INDEX, true, "gpu0 gpu1" },
		{ CDI_NAME_DEFAULT | CDI_NAME_TYPE_INDEX, true, "0 GPU-aa gpu0 1 GPU-bb gpu1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct question question;
		struct card cards[CDI_WORLD_CARDS];
		struct cdi_options options;

		cdi_world_ask(&question, cards, &options);
		options.names = rows[i].names;
		options.no_all = rows[i].no_all;
		autojson *spec = cdi_world_generate(&options, NULL);
		cdi_world_check_names(spec, rows[i].expected);
		question_release(&question);
	}
}

TEST(a_node_has_its_numbers_and_may_not_be_made)
{
	struct question question;
	struct card cards[CDI_WORLD_CARDS];
	struct cdi_options options;
	autostrbuf text = STRBUF_INIT(4096);

	cdi_world_ask(&question, cards, &options);
	autojson *spec = cdi_world_generate(&options, NULL);
	json_to_text(cdi_world_device(spec, "1"), false, &text, NULL);
	assert_string_equal(text.data,
			    "{\"deviceNodes\":[{\"path\":\"/dev/nvidia1\",\"hostPath\":"
			    "\"/driver/dev/nvidia1\",\"type\":\"c\",\"major\":195,\"minor\":1,"
			    "\"permissions\":\"rw\"}]}");
	cdi_world_check_set(cdi_world_device(spec, "all"), "deviceNodes", "path",
			    "/dev/nvidia0 /dev/nvidia1");
	cdi_world_check_set(json_get(spec, "containerEdits"), "deviceNodes", "path",
			    "/dev/nvidia-modeset /dev/nvidia-uvm /dev/nvidiactl");
	/* at its own place there is no other path to say */
	char own[] = "/dev/nvidia1", *before = question.files.nodes[1].path;
	question.files.nodes[1].path = own;
	autojson *second = cdi_world_generate(&options, NULL);
	assert_null(json_get(json_object_array_get_idx(
				     json_get(cdi_world_device(second, "1"), "deviceNodes"), 0),
			     "hostPath"));
	question.files.nodes[1].path = before;
	question_release(&question);
}

/* Design: each at its SONAME in the directories of every distribution; what CUDA images look for first. */
TEST(libraries_go_where_every_loader_looks)
{
	struct question question;
	struct card cards[CDI_WORLD_CARDS];
	struct cdi_options options;

	cdi_world_ask(&question, cards, &options);
	options.capabilities = CAPABILITY_DEFAULT;
	autojson *spec = cdi_world_generate(&options, NULL);
	autofree char *paths =
		cdi_world_set(json_get(spec, "containerEdits"), "mounts", "containerPath");
	static const char *const there[] = {
		LIBDIR "/libcuda.so.1",       "/usr/lib64/libcuda.so.1",
		"/usr/lib/libcuda.so.1",      "/usr/local/nvidia/lib64/libcuda.so.1",
		LIBDIR "/libnvidia-ml.so.1",  "/usr/lib64/libnvidia-ml.so.1",
		"/usr/lib/libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
		"/usr/bin/nvidia-smi",        "/run/nvidia-persistenced/socket"
	};
	for (size_t i = 0; i < ARRAY_SIZE(there); i++)
		if (!strstr(paths, there[i]))
			fail_msg("%s is not in %s", there[i], paths);
	assert_null(strstr(paths, "vdpau"));
	options.capabilities = 0; /* all but 32 bits */
	autojson *all = cdi_world_generate(&options, NULL);
	autofree char *more =
		cdi_world_set(json_get(all, "containerEdits"), "mounts", "containerPath");
	assert_non_null(strstr(more, "/usr/lib64/vdpau/libvdpau_nvidia.so.1"));
	assert_null(strstr(more, LIBRARY_TRIPLET_32));
	question_release(&question);
}

TEST(only_what_is_asked_for)
{
	static char ids[][8] = { "1", "GPU-bb", "gpu1", "gpu-bb", "all", "7" };
	static const char *const expected[] = { "1", "1", "1", "1", "0 1", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		struct question question;
		struct card cards[CDI_WORLD_CARDS];
		struct cdi_options options;
		char *items[] = { ids[i] };
		const struct string_list list = { .items = items, .count = 1 };
		struct error error = ERROR_INIT;
		autojson *spec = NULL;

		cdi_world_ask(&question, cards, &options);
		options.ids = &list;
		options.names = CDI_NAME_INDEX;
		options.no_all = true;
		int r = cdi_generate(&options, &spec, NULL, &error);
		assert_int_equal(r, expected[i] ? 0 : -ENODEV);
		if (expected[i])
			cdi_world_check_names(spec, expected[i]);
		else
			assert_non_null(strstr(error.message, "no device is called 7"));
		question_release(&question);
	}
}

TEST(a_card_that_cannot_be_given_is_left_out_with_a_note)
{
	static const struct {
		unsigned index, minor, node_minor;
		const char *uuid, *note, *names;
	} rows[] = {
		{ 1, 1, 1, "GPU-bb", NULL, "0 GPU-aa 1 GPU-bb" },
		{ CARD_INDEX_NONE, 1, 1, "GPU-bb", "the driver does not list it", "0 GPU-aa" },
		{ 1, 5, 1, "GPU-bb", "it has no device node nvidia5", "0 GPU-aa" },
		{ 1, CARD_MINOR_NONE, 1, "GPU-bb", "its device node is not known", "0 GPU-aa" },
		{ 1, 1, 3, "GPU-bb", "is device 195:3 and not 195:1", "0 GPU-aa" },
		{ 1, 1, 1, "unknown-0000:08:00.0", "has no UUID yet", "0 GPU-aa 1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct question question;
		struct card cards[CDI_WORLD_CARDS];
		struct cdi_options options;
		struct driver_node nodes[QUESTION_NODES];
		cleanup(string_list_release) struct string_list notes = { 0 };

		cdi_world_ask(&question, cards, &options);
		memcpy(nodes, question_nodes, sizeof(nodes));
		nodes[1].minor = rows[i].node_minor;
		question.files.nodes = nodes;
		struct card *card = &question.inventory.cards[1];
		card->index = rows[i].index;
		card->minor = rows[i].minor;
		snprintf(card->uuid, sizeof(card->uuid), "%s", rows[i].uuid);
		options.no_all = true;
		autojson *spec = cdi_world_generate(&options, &notes);
		cdi_world_check_names(spec, rows[i].names);
		if (rows[i].note && !cdi_world_has_note(&notes, rows[i].note))
			fail_msg("row %zu: no note \"%s\"", i, rows[i].note);
		question_release(&question);
	}
}

TEST(mig_devices_bring_the_nodes_of_their_instances)
{
	static char cap_text[][40] = { "/dev/nvidia-caps/nvidia-cap12",
				       "/dev/nvidia-caps/nvidia-cap13" };
	struct driver_node nodes[QUESTION_NODES + 3];
	struct card_instance instances[] = {
		{ .uuid = "MIG-1",
		  .index = 0,
		  .gpu_instance = 1,
		  .gpu_minor = 12,
		  .compute_minor = 13 },
		{ .uuid = "", .index = 1, .gpu_instance = 2, .gpu_minor = 12, .compute_minor = 14 },
		{ .uuid = "", .index = CARD_INDEX_NONE },
	};
	struct question question;
	struct card cards[CDI_WORLD_CARDS];
	struct cdi_options options;
	cleanup(string_list_release) struct string_list notes = { 0 };

	cdi_world_ask(&question, cards, &options);
	memcpy(nodes, question_nodes, sizeof(question_nodes));
	nodes[QUESTION_NODES] =
		(struct driver_node){ "nvidia-caps/nvidia-cap12", cap_text[0], 509, 12 };
	nodes[QUESTION_NODES + 1] =
		(struct driver_node){ "nvidia-caps/nvidia-cap13", cap_text[1], 509, 13 };
	nodes[QUESTION_NODES + 2] =
		(struct driver_node){ "dri/card9", cap_text[1], 226,           9, 0660, 0,
				      44,          0,           "0000:0f:00.0" };
	question.files.nodes = nodes;
	question.files.node_count = ARRAY_SIZE(nodes);
	question.inventory.cards[1].instances = instances;
	question.inventory.cards[1].instance_count = ARRAY_SIZE(instances);
	question.inventory.mig_generation = 0xabc;
	options.names = CDI_NAME_DEFAULT | CDI_NAME_TYPE_INDEX;
	autojson *spec = cdi_world_generate(&options, &notes);
	cdi_world_check_names(spec, "0 GPU-aa gpu0 1 GPU-bb gpu1 1:0 MIG-1 mig1:0 all");
	cdi_world_check_set(
		cdi_world_device(spec, "1:0"), "deviceNodes", "path",
		"/dev/nvidia-caps/nvidia-cap12 /dev/nvidia-caps/nvidia-cap13 /dev/nvidia1");
	assert_true(cdi_world_has_note(&notes, "MIG device 1:1 is left out: it has no device node "
					       "nvidia-caps/nvidia-cap14"));
	cdi_world_check_set(
		cdi_world_device(spec, "all"), "deviceNodes", "path",
		"/dev/dri/card9 /dev/nvidia-caps/nvidia-cap12 /dev/nvidia-caps/nvidia-cap13 "
		"/dev/nvidia0 /dev/nvidia1");
	autofree char *variables = cdi_world_set(json_get(spec, "containerEdits"), "env", NULL);
	assert_non_null(strstr(variables, "mig:0000000000000abc"));
	/* display nodes for profiles with graphics alone */
	snprintf(instances[0].profile, sizeof(instances[0].profile), "1g.10gb+gfx");
	autojson *graphics = cdi_world_generate(&options, NULL);
	cdi_world_check_set(
		cdi_world_device(graphics, "MIG-1"), "deviceNodes", "path",
		"/dev/dri/card9 /dev/nvidia-caps/nvidia-cap12 /dev/nvidia-caps/nvidia-cap13 "
		"/dev/nvidia1");
	question_release(&question);
}

/* Nodes of a machine that has everything, and its two cards' display nodes. */
static char at_dev[] = "/dev/any";
static struct driver_node every_node[] = {
	{ "nvidia0", at_dev, 195, 0, 0666, 0, 0, 0, "" },
	{ "nvidia1", at_dev, 195, 1, 0666, 0, 0, 0, "" },
	{ "nvidiactl", at_dev, 195, 255, 0666, 0, 0, 0, "" },
	{ "nvidia-uvm", at_dev, 511, 0, 0666, 0, 0, 0, "" },
	{ "nvidia-modeset", at_dev, 195, 254, 0666, 0, 0, 0, "" },
	{ "nvidia-caps/nvidia-cap1", at_dev, 510, 1, 0400, 0, 0, GATED_MIG_CONFIG, "" },
	{ "nvidia-caps/nvidia-cap2", at_dev, 510, 2, 0444, 0, 0, GATED_MIG_MONITOR, "" },
	{ "nvidia-caps/nvidia-cap30", at_dev, 510, 30, 0444, 0, 0, 0, "" },
	{ "nvidia-caps-imex-channels/channel0", at_dev, 509, 0, 0666, 0, 0, 0, "" },
	{ "nvidia-caps-imex-channels/channel2047", at_dev, 509, 2047, 0666, 0, 0, 0, "" },
	{ "nvidia-fs0", at_dev, 508, 0, 0666, 0, 0, GATED_GDS, "" },
	{ "nvidia-nvswitchctl", at_dev, 507, 255, 0666, 0, 0, GATED_NVSWITCH, "" },
	{ "nvidia-nvswitch0", at_dev, 507, 0, 0666, 0, 0, GATED_NVSWITCH, "" },
	{ "nvidia-nvlink", at_dev, 506, 0, 0666, 0, 0, 0, "" },
	{ "infiniband/uverbs0", at_dev, 231, 192, 0666, 0, 0, GATED_MOFED, "" },
	{ "infiniband/rdma_cm", at_dev, 10, 58, 0666, 0, 0, GATED_MOFED, "" },
	{ "gdrdrv", at_dev, 505, 0, 0666, 0, 0, GATED_GDRCOPY, "" },
	{ "dri/card1", at_dev, 226, 1, 0660, 0, 44, 0, "0000:07:00.0" },
	{ "dri/renderD128", at_dev, 226, 128, 0660, 0, 105, 0, "0000:07:00.0" },
	{ "dri/card2", at_dev, 226, 2, 0660, 0, 44, 0, "0000:ff:00.0" },
	{ "dxg", at_dev, 10, 63, 0666, 0, 0, 0, "" },
};

/* pkg/nvcdi of NVIDIA's toolkit: lib-nvml, management, gds, mofed, gdrcopy, imex, nvswitch, lib-wsl. */
static const struct {
	enum cdi_mode mode;
	const char *kind, *names, *nodes; /* of the last device, which is "all" */
	bool common;
} mode_cases[] = {
	{ CDI_AUTO, "nvidia.com/gpu", "0 1 all",
	  "/dev/dri/card1 /dev/dri/renderD128 /dev/nvidia0 /dev/nvidia1", true },
	{ CDI_MANAGEMENT, "management.nvidia.com/gpu", "all",
	  "/dev/nvidia-caps-imex-channels/channel0 /dev/nvidia-caps-imex-channels/channel2047 "
	  "/dev/nvidia-caps/nvidia-cap1 /dev/nvidia-caps/nvidia-cap2 /dev/nvidia-caps/nvidia-cap30 "
	  "/dev/nvidia-modeset /dev/nvidia-uvm /dev/nvidia0 /dev/nvidia1 /dev/nvidiactl",
	  true },
	{ CDI_GDS, "nvidia.com/gds", "all", "/dev/nvidia-fs0", false },
	{ CDI_MOFED, "nvidia.com/mofed", "all", "/dev/infiniband/rdma_cm /dev/infiniband/uverbs0",
	  false },
	{ CDI_GDRCOPY, "nvidia.com/gdrcopy", "all", "/dev/gdrdrv", false },
	{ CDI_IMEX, "nvidia.com/imex-channel", "0 2047 all",
	  "/dev/nvidia-caps-imex-channels/channel0 /dev/nvidia-caps-imex-channels/channel2047",
	  false },
	{ CDI_NVSWITCH, "nvidia.com/nvswitch", "all",
	  "/dev/nvidia-nvswitch0 /dev/nvidia-nvswitchctl", false },
	{ CDI_WSL, "nvidia.com/gpu", "all", "/dev/dxg", true },
};

TEST(each_mode_describes_its_nodes)
{
	for (size_t i = 0; i < ARRAY_SIZE(mode_cases); i++) {
		struct question question;
		struct card cards[CDI_WORLD_CARDS];
		struct cdi_options options;

		cdi_world_ask(&question, cards, &options);
		question.files.nodes = every_node;
		question.files.node_count = ARRAY_SIZE(every_node);
		options.mode = mode_cases[i].mode;
		options.names = CDI_NAME_INDEX;
		autojson *spec = cdi_world_generate(&options, NULL);
		assert_string_equal(json_get_string(spec, "kind", ""), mode_cases[i].kind);
		cdi_world_check_names(spec, mode_cases[i].names);
		cdi_world_check_set(cdi_world_device(spec, "all"), "deviceNodes", "path",
				    mode_cases[i].nodes);
		struct json_object *common = json_get(spec, "containerEdits");
		assert_int_equal(json_get(common, "mounts") != NULL, mode_cases[i].common);
		assert_int_equal(json_get(common, "env") != NULL, mode_cases[i].common);
		if (mode_cases[i].mode == CDI_MANAGEMENT)
			assert_null(json_get(common, "deviceNodes"));
		/* and of a machine without those nodes none is made */
		question.files.node_count = 0;
		struct error error = ERROR_INIT;
		struct json_object *none = NULL;
		assert_int_equal(cdi_generate(&options, &none, NULL, &error), -ENODEV);
		assert_non_null(strstr(error.message, "there is no"));
		question_release(&question);
	}
}

TEST(windows_has_one_node)
{
	struct question question;
	struct card cards[CDI_WORLD_CARDS];
	struct cdi_options options;
	cleanup(string_list_release) struct string_list notes = { 0 };

	cdi_world_ask(&question, cards, &options);
	question.files.nodes = &every_node[ARRAY_SIZE(every_node) - 1];
	question.files.node_count = 1;
	question.inventory.card_count = 0;
	autojson *spec = cdi_world_generate(&options, &notes);
	cdi_world_check_names(spec, "all");
	cdi_world_check_set(cdi_world_device(spec, "all"), "deviceNodes", "path", "/dev/dxg");
	for (size_t i = 0; i < notes.count; i++)
		assert_null(strstr(notes.items[i], "nvidiactl"));
	question_release(&question);
}

TEST(a_gated_device_brings_its_files)
{
	static char source[] = "/etc/cufile.json", udev[] = "/run/udev";
	static char *names[] = { source }, *directory[] = { udev };
	struct driver_file items[QUESTION_ITEMS + 2];
	struct question question;
	struct card cards[CDI_WORLD_CARDS];
	struct cdi_options options;

	cdi_world_ask(&question, cards, &options);
	memcpy(items, question_items, sizeof(question_items));
	items[QUESTION_ITEMS] = (struct driver_file){ .kind = DRIVER_CONFIG,
						      .source = source,
						      .names = { .items = names, .count = 1 },
						      .gated = GATED_GDS };
	items[QUESTION_ITEMS + 1] =
		(struct driver_file){ .kind = DRIVER_CONFIG,
				      .source = udev,
				      .names = { .items = directory, .count = 1 },
				      .directory = true,
				      .gated = GATED_GDS };
	question.files.items = items;
	question.files.count = ARRAY_SIZE(items);
	question.files.nodes = every_node;
	question.files.node_count = ARRAY_SIZE(every_node);
	options.mode = CDI_GDS;
	autojson *spec = cdi_world_generate(&options, NULL);
	cdi_world_check_set(cdi_world_device(spec, "all"), "mounts", "containerPath",
			    "/etc/cufile.json /run/udev");
	question_release(&question);
}

TEST(kinds_that_no_spec_may_have)
{
	static const char *const names[] = { "", "1a", "a/b", "a-", "a b" };
	struct question question;
	struct card cards[CDI_WORLD_CARDS];
	struct cdi_options options;

	cdi_world_ask(&question, cards, &options);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(names); i++) {
		struct json_object *spec = NULL;
		struct error error = ERROR_INIT;

		options.vendor = i % 2 ? names[i / 2] : NULL;
		options.class = i % 2 ? NULL : names[i / 2];
		assert_int_equal(cdi_generate(&options, &spec, NULL, &error), -EINVAL);
		assert_non_null(strstr(error.message, "cannot be the kind"));
	}
	question_release(&question);
}

TEST(no_card_is_no_spec)
{
	struct question question;
	struct card cards[CDI_WORLD_CARDS];
	struct cdi_options options;
	struct json_object *spec = NULL;
	struct error error = ERROR_INIT;

	cdi_world_ask(&question, cards, &options);
	question.inventory.cards[0].index = question.inventory.cards[1].index = CARD_INDEX_NONE;
	assert_int_equal(cdi_generate(&options, &spec, NULL, &error), -ENODEV);
	assert_non_null(strstr(error.message, "there is no card"));
	question_release(&question);
}

TEST(making_a_spec_is_short_of_memory)
{
	struct question question;
	struct card cards[CDI_WORLD_CARDS];
	struct cdi_options options;
	unsigned n = 0;

	cdi_world_ask(&question, cards, &options);
	for (;; n++) {
		struct string_list notes = { 0 };
		struct json_object *spec = NULL;
		struct error error = ERROR_INIT;

		fault_arm(n);
		int r = cdi_generate(&options, &spec, &notes, &error);
		int failed = fault_disarm();
		json_object_put(spec);
		string_list_release(&notes);
		if (!failed) {
			assert_int_equal(r, 0);
			break;
		}
		if (r != -ENOMEM || !error.message[0])
			fail_msg("call %u: %d \"%s\"", n, r, error.message);
	}
	assert_true(n > 100);
	question_release(&question);
}
