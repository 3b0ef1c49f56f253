/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocate: what is answered, and what is refused. Rows marked [peer] are answers of NVIDIA's plugin
 * (k8s-device-plugin at 1b826acc, internal/plugin/server.go and server_test.go).
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node_world.h"
#include "question.h"

#define GPU     PLUGIN_RESOURCE_GPU
#define UNITS   PLUGIN_RESOURCE_UNITS
#define MIG_3   "nvidia.com/mig-3g.40gb"
#define UUID    "GPU-00000000-0000-0000-0000-00000000000"
#define MIG_1   "MIG-00000000-0000-0000-0001-00000000000"
#define VOLUMES "/var/run/nvidia-container-devices"
#define CDI     "k8s.device-plugin.nvidia.com"

enum {
	ENV = DEVICE_LIST_ENVVAR,
	VOL = DEVICE_LIST_VOLUME_MOUNTS,
	ANN = DEVICE_LIST_CDI_ANNOTATIONS,
	CRI = DEVICE_LIST_CDI_CRI,
	KUB = DEVICE_LIST_KUBELET,
};

static void whole(struct node_world *world)
{
	(void)world;
}

static void by_index(struct node_world *world)
{
	world->config.device_id = DEVICE_ID_INDEX;
}

static void mig(struct node_world *world)
{
	world->config.mig_strategy = MIG_STRATEGY_MIXED;
	world_set_mig(world, 1, "3g.40gb 3g.40gb");
}

static void mig_by_index(struct node_world *world)
{
	mig(world);
	by_index(world);
}

static void replicas(struct node_world *world)
{
	world_share(world, GPU, GPU, 3, NULL);
}

static void single_replicas(struct node_world *world)
{
	replicas(world);
	world->config.time_slicing.single_only = true;
}

static void slices(struct node_world *world)
{
	world->config.default_mode = DEFAULT_MODE_SLICES;
}

static void prefix(struct node_world *world)
{
	static char text[] = "custom.cdi.k8s.io/";

	world->config.cdi_annotation_prefix = text;
}

static void extras(struct node_world *world)
{
	world->config.gds = world->config.mofed = world->config.gdrcopy = true;
}

static void imex(struct node_world *world)
{
	string_list_add(&world->config.imex_channels, "0");
}

static void specs(struct node_world *world)
{
	world->config.pass_device_specs = true;
}

static void specs_mig(struct node_world *world)
{
	mig(world);
	specs(world);
}

static void specs_imex(struct node_world *world)
{
	specs(world);
	imex(world);
}

static void specs_elsewhere(struct node_world *world)
{
	static char root[] = "/run/nvidia/driver";

	specs_mig(world);
	snprintf(world->inventory.driver_root, sizeof(world->inventory.driver_root), "/driver");
	world->config.dev_root = root;
}

static void specs_of_driver(struct node_world *world)
{
	specs_mig(world);
	snprintf(world->inventory.driver_root, sizeof(world->inventory.driver_root), "/driver");
}

static const struct {
	const char *name;
	void (*set)(struct node_world *world);
	unsigned lists;
	const char *resource, *ids, *answer;
} answers[] = {
	{ "envvar [peer]", whole, ENV, GPU, "0", "env NVIDIA_VISIBLE_DEVICES=" UUID "0\n" },
	{ "envvar, two [peer]", whole, ENV, GPU, "1 0",
	  "env NVIDIA_VISIBLE_DEVICES=" UUID "0," UUID "1\n" },
	{ "envvar, an ID twice [peer]", whole, ENV, GPU, "0 1 0",
	  "env NVIDIA_VISIBLE_DEVICES=" UUID "0," UUID "1\n" },
	{ "envvar by index [peer]", by_index, ENV, GPU, "1 0", "env NVIDIA_VISIBLE_DEVICES=0,1\n" },
	{ "envvar, replicas: the card once [peer]", replicas, ENV, GPU, "1::0 1::2",
	  "env NVIDIA_VISIBLE_DEVICES=" UUID "1\n" },
	{ "envvar, MIG [peer]", mig, ENV, MIG_3, "1:1", "env NVIDIA_VISIBLE_DEVICES=" MIG_1 "1\n" },
	{ "envvar, MIG by index [peer]", mig_by_index, ENV, MIG_3, "1:1 1:0",
	  "env NVIDIA_VISIBLE_DEVICES=1:0,1:1\n" },
	{ "envvar with the extras [peer]", extras, ENV, GPU, "0",
	  "env NVIDIA_GDRCOPY=enabled\nenv NVIDIA_GDS=enabled\nenv NVIDIA_MOFED=enabled\n"
	  "env NVIDIA_VISIBLE_DEVICES=" UUID "0\n" },
	{ "envvar with IMEX [peer]", imex, ENV, GPU, "0",
	  "env NVIDIA_VISIBLE_DEVICES=" UUID "0\nenv NVIDIA_IMEX_CHANNELS=0\n" },
	{ "volume-mounts [peer]", whole, VOL, GPU, "0 1",
	  "env NVIDIA_VISIBLE_DEVICES=" VOLUMES "\nmount " VOLUMES "/" UUID "0 /dev/null\n"
	  "mount " VOLUMES "/" UUID "1 /dev/null\n" },
	{ "volume-mounts by index [peer]", by_index, VOL, GPU, "1",
	  "env NVIDIA_VISIBLE_DEVICES=" VOLUMES "\nmount " VOLUMES "/1 /dev/null\n" },
	{ "volume-mounts with IMEX [peer]", imex, VOL, GPU, "0",
	  "env NVIDIA_VISIBLE_DEVICES=" VOLUMES "\nmount " VOLUMES "/" UUID "0 /dev/null\n"
	  "mount " VOLUMES "/imex/0 /dev/null\n" },
	{ "envvar and volume-mounts: the volumes' value [peer]", whole, ENV | VOL, GPU, "0",
	  "env NVIDIA_VISIBLE_DEVICES=" VOLUMES "\nmount " VOLUMES "/" UUID "0 /dev/null\n" },
	{ "cdi-annotations [peer]", whole, ANN, GPU, "0",
	  "annotation cdi.k8s.io/nvidia-device-plugin_0000000000000001=" CDI "/gpu=" UUID "0\n" },
	{ "cdi-annotations, two [peer]", whole, ANN, GPU, "0 1",
	  "annotation cdi.k8s.io/nvidia-device-plugin_0000000000000001=" CDI "/gpu=" UUID "0," CDI
	  "/gpu=" UUID "1\n" },
	{ "cdi-annotations, another prefix [peer]", prefix, ANN, GPU, "0",
	  "annotation custom.cdi.k8s.io/nvidia-device-plugin_0000000000000001=" CDI "/gpu=" UUID
	  "0\n" },
	{ "cdi-annotations with the extras [peer]", extras, ANN, GPU, "0",
	  "env NVIDIA_GDRCOPY=enabled\nenv NVIDIA_GDS=enabled\nenv NVIDIA_MOFED=enabled\n"
	  "annotation cdi.k8s.io/nvidia-device-plugin_0000000000000001=" CDI "/gpu=" UUID "0," CDI
	  "/gdrcopy=all," CDI "/gds=all," CDI "/mofed=all\n" },
	{ "cdi-annotations with IMEX [peer]", imex, ANN, GPU, "0",
	  "annotation cdi.k8s.io/nvidia-device-plugin_0000000000000001=" CDI "/gpu=" UUID "0," CDI
	  "/imex-channel=0\n" },
	{ "cdi-cri [peer]", whole, CRI, GPU, "0 1",
	  "cdi " CDI "/gpu=" UUID "0\ncdi " CDI "/gpu=" UUID "1\n" },
	{ "cdi-cri, MIG [peer]", mig, CRI, MIG_3, "1:0", "cdi " CDI "/gpu=" MIG_1 "0\n" },
	{ "cdi-cri, replicas [peer]", replicas, CRI, GPU, "0::1", "cdi " CDI "/gpu=" UUID "0\n" },
	{ "cdi-cri by index: CDI names stay UUIDs", by_index, CRI, GPU, "1",
	  "cdi " CDI "/gpu=" UUID "1\n" },
	{ "all four [peer]", whole, ENV | VOL | ANN | CRI, GPU, "0",
	  "env NVIDIA_VISIBLE_DEVICES=" VOLUMES "\nmount " VOLUMES "/" UUID "0 /dev/null\n"
	  "annotation cdi.k8s.io/nvidia-device-plugin_0000000000000001=" CDI "/gpu=" UUID "0\n"
	  "cdi " CDI "/gpu=" UUID "0\n" },
	{ "pass-device-specs [peer]", specs, ENV, GPU, "1",
	  "env NVIDIA_VISIBLE_DEVICES=" UUID "1\n"
	  "device /dev/nvidiactl /driver/dev/nvidiactl rw\n"
	  "device /dev/nvidia-uvm /driver/dev/nvidia-uvm rw\n"
	  "device /dev/nvidia-modeset /driver/dev/nvidia-modeset rw\n"
	  "device /dev/nvidia1 /driver/dev/nvidia1 rw\n" },
	{ "pass-device-specs, MIG [peer]", specs_mig, ENV, MIG_3, "1:0 1:1",
	  "env NVIDIA_VISIBLE_DEVICES=" MIG_1 "0," MIG_1 "1\n"
	  "device /dev/nvidiactl /driver/dev/nvidiactl rw\n"
	  "device /dev/nvidia-uvm /driver/dev/nvidia-uvm rw\n"
	  "device /dev/nvidia-modeset /driver/dev/nvidia-modeset rw\n"
	  "device /dev/nvidia1 /driver/dev/nvidia1 rw\n"
	  "device /dev/nvidia-caps/nvidia-cap103 /dev/nvidia-caps/nvidia-cap103 rw\n"
	  "device /dev/nvidia-caps/nvidia-cap104 /dev/nvidia-caps/nvidia-cap104 rw\n"
	  "device /dev/nvidia-caps/nvidia-cap113 /dev/nvidia-caps/nvidia-cap113 rw\n"
	  "device /dev/nvidia-caps/nvidia-cap114 /dev/nvidia-caps/nvidia-cap114 rw\n" },
	{ "pass-device-specs with IMEX [peer]", specs_imex, ENV, GPU, "0",
	  "env NVIDIA_VISIBLE_DEVICES=" UUID "0\nenv NVIDIA_IMEX_CHANNELS=0\n"
	  "device /dev/nvidiactl /driver/dev/nvidiactl rw\n"
	  "device /dev/nvidia-uvm /driver/dev/nvidia-uvm rw\n"
	  "device /dev/nvidia-modeset /driver/dev/nvidia-modeset rw\n"
	  "device /dev/nvidia0 /driver/dev/nvidia0 rw\n"
	  "device /dev/nvidia-caps-imex-channels/channel0 "
	  "/driver/dev/nvidia-caps-imex-channels/channel0 rw\n" },
	{ "pass-device-specs, nodes that no search has seen [peer]", specs_of_driver, ENV, MIG_3,
	  "1:0",
	  "env NVIDIA_VISIBLE_DEVICES=" MIG_1 "0\n"
	  "device /dev/nvidiactl /driver/dev/nvidiactl rw\n"
	  "device /dev/nvidia-uvm /driver/dev/nvidia-uvm rw\n"
	  "device /dev/nvidia-modeset /driver/dev/nvidia-modeset rw\n"
	  "device /dev/nvidia1 /driver/dev/nvidia1 rw\n"
	  "device /dev/nvidia-caps/nvidia-cap103 /driver/dev/nvidia-caps/nvidia-cap103 rw\n"
	  "device /dev/nvidia-caps/nvidia-cap104 /driver/dev/nvidia-caps/nvidia-cap104 rw\n" },
	{ "the same below another dev root [peer]", specs_elsewhere, ENV, MIG_3, "1:0",
	  "env NVIDIA_VISIBLE_DEVICES=" MIG_1 "0\n"
	  "device /dev/nvidiactl /driver/dev/nvidiactl rw\n"
	  "device /dev/nvidia-uvm /driver/dev/nvidia-uvm rw\n"
	  "device /dev/nvidia-modeset /driver/dev/nvidia-modeset rw\n"
	  "device /dev/nvidia1 /driver/dev/nvidia1 rw\n"
	  "device /dev/nvidia-caps/nvidia-cap103 "
	  "/run/nvidia/driver/dev/nvidia-caps/nvidia-cap103 rw\n"
	  "device /dev/nvidia-caps/nvidia-cap104 "
	  "/run/nvidia/driver/dev/nvidia-caps/nvidia-cap104 rw\n" },
	{ "pass-device-specs counts with CDI alone for nothing [peer]", specs, CRI, GPU, "0",
	  "cdi " CDI "/gpu=" UUID "0\n" },
	{ "a slice", slices, CRI, UNITS, "1m4-15",
	  "env GPUPOOL_SLICE=" UUID "1.m4\nenv GPUPOOL_MEMORY_MIB=12288\ncdi gpupool.io/slice=" UUID
	  "1\n" },
	{ "a slice by annotation", slices, ANN, UNITS, "1m0",
	  "env GPUPOOL_SLICE=" UUID "1.m0\nenv GPUPOOL_MEMORY_MIB=1024\n"
	  "annotation cdi.k8s.io/nvidia-device-plugin_0000000000000001=gpupool.io/slice=" UUID
	  "1\n" },
	{ "a slice is always by CDI", slices, ENV, UNITS, "0m0-1",
	  "env GPUPOOL_SLICE=" UUID "0.m0\nenv GPUPOOL_MEMORY_MIB=2048\ncdi gpupool.io/slice=" UUID
	  "0\n" },
};

static void print_pairs(struct strbuf *out, const char *what, const struct kubelet_pair *pairs,
			size_t count)
{
	for (size_t i = 0; i < count; i++)
		strbuf_addf(out, "%s %s=%s\n", what, pairs[i].key, pairs[i].value);
}

/* What the kubelet's checkpoint keeps of it for the Pod's whole life. */
static size_t answer_size(const struct kubelet_answer *answer)
{
	cleanup(kubelet_bytes_release) struct kubelet_bytes bytes = { .data = NULL };

	assert_int_equal(kubelet_pack_answer(answer, &bytes, NULL), 0);
	assert_true(bytes.size > 0);
	return bytes.size;
}

static void print_answer(const struct kubelet_answer *answer, struct strbuf *out)
{
	print_pairs(out, "env", answer->envs, answer->env_count);
	for (size_t i = 0; i < answer->mount_count; i++)
		strbuf_addf(out, "mount %s %s%s\n", answer->mounts[i].container_path,
			    answer->mounts[i].host_path, answer->mounts[i].read_only ? " ro" : "");
	for (size_t i = 0; i < answer->device_count; i++)
		strbuf_addf(out, "device %s %s %s\n", answer->devices[i].container_path,
			    answer->devices[i].host_path, answer->devices[i].permissions);
	print_pairs(out, "annotation", answer->annotations, answer->annotation_count);
	for (size_t i = 0; i < answer->cdi_devices.count; i++)
		strbuf_addf(out, "cdi %s\n", answer->cdi_devices.items[i]);
}

/* What Allocate does with IDS in words; the entry stays pending in the ledger. */
static int allocate(struct node_world *world, const struct driver_files *files, unsigned lists,
		    const char *resource, const char *words, struct kubelet_answer *ret,
		    struct reason *reason, struct error *error)
{
	struct plugin_scene scene = world_scene(world, lists);
	struct string_list ids = { .items = NULL };
	struct ledger_entry *entry = NULL;

	scene.files = files;
	world_ids(words, &ids);
	*ret = (struct kubelet_answer){ .envs = NULL };
	int r = plugin_allocate(&scene, resource, &ids, &entry, ret, reason, error);

	if (r == 0) {
		assert_true(entry && entry->pending);
		assert_ptr_equal(entry, world->ledger.entries[world->ledger.count - 1]);
	}
	string_list_release(&ids);
	return r;
}

/* The nodes of GPUDirect storage, of RDMA, of GDRCopy, and one IMEX channel. */
enum { EXTRA_NODES = 4 };
static void add_extra_nodes(struct question *driver, struct driver_node *nodes)
{
	static char fs[] = "/driver/dev/nvidia-fs0", verbs[] = "/driver/dev/infiniband/uverbs0";
	static char copy[] = "/driver/dev/gdrdrv";
	static char channel[] = "/driver/dev/nvidia-caps-imex-channels/channel0";
	const struct driver_node more[EXTRA_NODES] = {
		{ .name = "nvidia-fs0", .path = fs, .gated = GATED_GDS },
		{ .name = "infiniband/uverbs0", .path = verbs, .gated = GATED_MOFED },
		{ .name = "gdrdrv", .path = copy, .gated = GATED_GDRCOPY },
		{ .name = "nvidia-caps-imex-channels/channel0", .path = channel },
	};

	memcpy(nodes, question_nodes, sizeof(question_nodes));
	memcpy(nodes + QUESTION_NODES, more, sizeof(more));
	driver->files.nodes = nodes;
	driver->files.node_count = QUESTION_NODES + EXTRA_NODES;
}

TEST(answers_by_strategy)
{
	struct driver_node nodes[QUESTION_NODES + EXTRA_NODES];
	struct question driver;

	question_init(&driver);
	add_extra_nodes(&driver, nodes);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		autostrbuf text = STRBUF_INIT(65536);
		struct error error = ERROR_INIT;
		struct kubelet_answer answer;
		struct node_world world;

		world_init(&world, 2, 80);
		answers[i].set(&world);
		world_build(&world, false);
		if (allocate(&world, &driver.files, answers[i].lists, answers[i].resource,
			     answers[i].ids, &answer, NULL, &error) < 0)
			fail_msg("%s: %s", answers[i].name, error.message);
		print_answer(&answer, &text);
		if (strcmp(text.data, answers[i].answer) != 0)
			fail_msg("%s:\n%s", answers[i].name, text.data);
		if (answers[i].set == slices)
			assert_true(answer_size(&answer) < 512);
		kubelet_answer_release(&answer);
		world_release(&world);
	}
	question_release(&driver);
}

/* A CDI device that no spec has would keep the container from starting. */
TEST(what_the_machine_lacks_has_no_cdi_device)
{
	struct kubelet_answer answer;
	struct node_world world;
	struct question driver;

	question_init(&driver);
	world_init(&world, 2, 80);
	extras(&world);
	imex(&world);
	world_build(&world, false);
	assert_int_equal(allocate(&world, &driver.files, CRI, GPU, "0", &answer, NULL, NULL), 0);
	assert_int_equal(answer.cdi_devices.count, 1);
	assert_int_equal(answer.env_count, 3); /* as the peer, whatever is there */
	kubelet_answer_release(&answer);
	world.config.imex_required = true;
	assert_int_equal(allocate(&world, &driver.files, CRI, GPU, "1", &answer, NULL, NULL), 0);
	assert_int_equal(answer.cdi_devices.count, 2);
	assert_string_equal(answer.cdi_devices.items[1], CDI "/imex-channel=0");
	kubelet_answer_release(&answer);
	world_release(&world);
	question_release(&driver);
}

/* The largest slice, with everything beside it. */
TEST(a_slices_answer_is_small)
{
	struct kubelet_answer answer;
	struct node_world world;

	world_init(&world, 2, 288);
	slices(&world);
	imex(&world);
	world_build(&world, false);
	assert_int_equal(allocate(&world, NULL, CRI | ANN, UNITS, "1m0-287", &answer, NULL, NULL),
			 0);
	assert_true(answer_size(&answer) < 512);
	kubelet_answer_release(&answer);
	world_release(&world);
}

/* ---- strategy kubelet is what a CDI spec says ---- */

static struct json_object *find_device(struct json_object *spec, const char *name)
{
	struct json_object *devices = json_get(spec, "devices");

	for (size_t i = 0; i < json_object_array_length(devices); i++)
		if (strcmp(json_get_string(json_object_array_get_idx(devices, i), "name", ""),
			   name) == 0)
			return json_get(json_object_array_get_idx(devices, i), "containerEdits");
	fail_msg("no device %s", name);
	return NULL;
}

static bool has_text(struct json_object *list, const char *text)
{
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (strcmp(json_object_get_string(json_object_array_get_idx(list, i)), text) == 0)
			return true;
	return false;
}

static void check_mount(const struct kubelet_answer *answer, struct json_object *mount,
			size_t *found)
{
	const char *path = json_get_string(mount, "containerPath", "");

	for (size_t i = 0; i < answer->mount_count; i++)
		if (strcmp(answer->mounts[i].container_path, path) == 0) {
			assert_string_equal(answer->mounts[i].host_path,
					    json_get_string(mount, "hostPath", ""));
			assert_int_equal(answer->mounts[i].read_only,
					 has_text(json_get(mount, "options"), "ro"));
			++*found;
			return;
		}
	fail_msg("the answer has no mount %s", path);
}

static void check_node(const struct kubelet_answer *answer, struct json_object *node, size_t *found)
{
	const char *path = json_get_string(node, "path", "");

	for (size_t i = 0; i < answer->device_count; i++)
		if (strcmp(answer->devices[i].container_path, path) == 0) {
			assert_string_equal(answer->devices[i].host_path,
					    json_get_string(node, "hostPath", path));
			assert_string_equal(answer->devices[i].permissions, "rw");
			++*found;
			return;
		}
	fail_msg("the answer has no device %s", path);
}

static void check_env(const struct kubelet_answer *answer, struct json_object *variable,
		      size_t *found)
{
	const char *text = json_object_get_string(variable);

	if (strncmp(text, ENV_CDI_STAMP "=", strlen(ENV_CDI_STAMP) + 1) == 0)
		return; /* of the file */
	for (size_t i = 0; i < answer->env_count; i++) {
		autostrbuf pair = STRBUF_INIT(4096);

		strbuf_addf(&pair, "%s=%s", answer->envs[i].key, answer->envs[i].value);
		if (strcmp(pair.data, text) == 0) {
			++*found;
			return;
		}
	}
	fail_msg("the answer has no variable %s", text);
}

static void check_edits(const struct kubelet_answer *answer, struct json_object *edits,
			size_t found[3])
{
	static const struct {
		const char *list;
		void (*check)(const struct kubelet_answer *, struct json_object *, size_t *);
	} rows[] = { { "mounts", check_mount },
		     { "deviceNodes", check_node },
		     { "env", check_env } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct json_object *list = json_get(edits, rows[i].list);

		for (size_t k = 0; list && k < json_object_array_length(list); k++)
			rows[i].check(answer, json_object_array_get_idx(list, k), &found[i]);
	}
}

TEST(strategy_kubelet_is_what_the_cdi_spec_has)
{
	struct kubelet_answer answer;
	struct node_world world;
	struct question driver;
	size_t found[3] = { 0, 0, 0 };

	question_init(&driver);
	world_init(&world, 2, 80);
	world_build(&world, false);
	const struct cdi_options options = { .mode = CDI_NVML,
					     .names = CDI_NAME_UUID,
					     .vendor = PLUGIN_CDI_VENDOR,
					     .inventory = &world.inventory,
					     .files = &driver.files };
	autojson *spec = NULL;
	cleanup(string_list_release) struct string_list notes = { .items = NULL };

	assert_int_equal(cdi_generate(&options, &spec, &notes, NULL), 0);
	assert_string_equal(json_get_string(spec, "kind", ""), CDI "/gpu");
	assert_int_equal(allocate(&world, &driver.files, KUB, GPU, "1", &answer, NULL, NULL), 0);
	check_edits(&answer, json_get(spec, "containerEdits"), found);
	check_edits(&answer, find_device(spec, UUID "1"), found);
	/* And nothing else: no other card. */
	assert_int_equal(answer.mount_count, found[0]);
	assert_int_equal(answer.device_count, found[1]);
	assert_int_equal(answer.env_count, found[2]);
	assert_true(found[0] > 5 && found[1] == 4 && found[2] >= 1);
	kubelet_answer_release(&answer);
	world_release(&world);
	question_release(&driver);
}

/* ---- refusals ---- */

static void sick_1(struct node_world *world)
{
	world_sicken(world, 1, CARD_SUSPECT);
}

static void lost_1(struct node_world *world)
{
	world_sicken(world, 1, CARD_LOST);
}

static void slices_held(struct node_world *world)
{
	slices(world);
	world_hold(world, UNITS, "0m0-4");
	world_claim(world, 1, "main", UNITS, "0m0-4");
	ledger_merge(&world->ledger, &world->evidence, NULL, NULL);
}

static void slices_on_its_way(struct node_world *world)
{
	slices(world);
	world_hold(world, UNITS, "0m0-4")->pending = true;
}

static void slices_held_elsewhere(struct node_world *world)
{
	slices_held(world);
	world_claim(world, 2, "main", UNITS, "1m0-4"); /* the checkpoint alone */
	ledger_merge(&world->ledger, &world->evidence, NULL, NULL);
}

static void held_in_another_mode(struct node_world *world)
{
	world_hold(world, UNITS, "1m0");
}

static void excluded_while_held(struct node_world *world)
{
	world_hold(world, GPU, "1");
	world_set_mode(world, 1, CARD_MODE_WHOLE, true);
	world_build(world, false);
	ledger_forget(&world->ledger, world->ledger.entries[0]);
}

static void pulled(struct node_world *world)
{
	world_build(world, false);
	world_set_mode(world, 1, CARD_MODE_WHOLE, true);
}

static const struct {
	const char *name;
	void (*set)(struct node_world *world);
	unsigned lists;
	const char *resource, *ids, *says;
	enum reason_code code;
	int r;
} refusals[] = {
	{ "a resource that is not offered", whole, CRI, "nvidia.com/x", "0", "not offered",
	  REASON_NO_GRANT, -EINVAL },
	{ "no device", whole, CRI, GPU, "", "named no device", REASON_NO_GRANT, -EINVAL },
	{ "an unknown device [peer]", whole, CRI, GPU, "0 GPU-x",
	  "invalid request: unknown device: GPU-x", REASON_NO_GRANT, -EINVAL },
	{ "a device of another resource", slices, CRI, UNITS, "0", "unknown device: " UUID "0",
	  REASON_NO_GRANT, -EINVAL },
	{ "two replicas, one allowed [peer]", single_replicas, CRI, GPU, "0::0 1::0",
	  "maximum request size for shared resources is 1; found 2", REASON_SINGLE_ONLY, -EINVAL },
	{ "a suspect card", sick_1, CRI, GPU, "0 1",
	  "card 1 (" UUID "1) of node-1: it is suspect, XID 79", REASON_CARD_SUSPECT, -EINVAL },
	{ "a lost card", lost_1, CRI, GPU, "1", "it is lost, XID 79", REASON_CARD_LOST, -EINVAL },
	{ "units of two cards", slices, CRI, UNITS, "0m0-3 1m0-1",
	  "its 6 units are not of one card: 4 are of card " UUID "0, the last one is of card " UUID
	  "1",
	  REASON_NO_GRANT, -EINVAL },
	{ "a held unit", slices_held, CRI, UNITS, "0m4-6",
	  "kubelet offered a held unit, " UUID "0::m4, which Pod pod-1 holds", REASON_OFFERED_HELD,
	  -EINVAL },
	{ "a unit on its way", slices_on_its_way, CRI, UNITS, "0m4-6",
	  "kubelet offered a held unit, " UUID
	  "0::m4, which was given to another container (grant 1)",
	  REASON_OFFERED_HELD, -EINVAL },
	{ "a unit that only the checkpoint gives away", slices_held_elsewhere, CRI, UNITS, "1m4",
	  "which Pod pod-2 holds", REASON_OFFERED_HELD, -EINVAL },
	{ "a card that is held in another mode since", held_in_another_mode, CRI, GPU, "1",
	  "whose card is held as " UUID "1::m0", REASON_OFFERED_HELD, -EINVAL },
	{ "offered no more, and the last holder has just gone", excluded_while_held, CRI, GPU, "1",
	  "not offered any more", REASON_NO_GRANT, -EINVAL },
	{ "on its way out of the list", pulled, CRI, GPU, "1", "not offered any more",
	  REASON_NO_GRANT, -EINVAL },
	{ "strategy kubelet without driver files", whole, KUB, GPU, "0", "needs the driver's files",
	  REASON_NONE, -ENODEV },
};

TEST(what_is_no_grant_is_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct reason reason = { .code = REASON_NONE };
		struct error error = ERROR_INIT;
		struct kubelet_answer answer;
		struct node_world world;

		world_init(&world, 2, 80);
		refusals[i].set(&world);
		if (refusals[i].set != held_in_another_mode)
			world_build(&world, false);
		else { /* the view is older than the grant */
			ledger_forget(&world.ledger, world.ledger.entries[0]);
			world_build(&world, false);
			held_in_another_mode(&world);
		}
		size_t before = world.ledger.count;
		int r = allocate(&world, NULL, refusals[i].lists, refusals[i].resource,
				 refusals[i].ids, &answer, &reason, &error);

		if (r != refusals[i].r || reason.code != refusals[i].code ||
		    !strstr(error.message, refusals[i].says))
			fail_msg("%s: %d %s: %s", refusals[i].name, r, reason_name(reason.code),
				 error.message);
		assert_int_equal(world.ledger.count, before);
		world_release(&world);
	}
}

/* ---- the kubelet offers again what somebody had ---- */

TEST(a_holder_that_ended_gives_way)
{
	autostrbuf left = STRBUF_INIT(4096);
	struct kubelet_answer answer;
	struct node_world world;

	world_init(&world, 2, 80);
	slices_held(&world);
	world_build(&world, false);
	world.signs[1] = POD_IDLE; /* and the file still has it */
	assert_int_equal(allocate(&world, NULL, CRI, UNITS, "0m3-6", &answer, NULL, NULL), 0);
	kubelet_answer_release(&answer);
	assert_int_equal(world.ledger.count, 2);
	world_print_ids(&world.ledger.entries[0]->ids, &left);
	assert_string_equal(left.data, "0m0-2");
	/* The old file does not bring the dead Pod back to what was given to the new one. */
	ledger_answered(&world.ledger, world.ledger.entries[1], world.evidence.now_ms);
	assert_int_equal(ledger_merge(&world.ledger, &world.evidence, NULL, NULL), 0);
	assert_int_equal(world.ledger.count, 2);
	/* All of its units: nothing of its entry is left. */
	ledger_forget(&world.ledger, world.ledger.entries[1]);
	assert_int_equal(allocate(&world, NULL, CRI, UNITS, "0m0-2", &answer, NULL, NULL), 0);
	kubelet_answer_release(&answer);
	assert_int_equal(world.ledger.count, 1);
	world_release(&world);
}

TEST(an_init_containers_units_go_to_the_next_one)
{
	static const struct kubelet_holdings nobody = { .items = NULL };
	struct reason reason;
	struct kubelet_answer answer;
	struct node_world world;

	world_init(&world, 2, 80);
	world.signs[1] = POD_IDLE; /* it is being admitted */
	slices_held(&world);
	world_build(&world, false);
	assert_int_equal(allocate(&world, NULL, CRI, UNITS, "0m0-6", &answer, &reason, NULL),
			 -EAGAIN);
	assert_int_equal(reason.code, REASON_NONE);
	world.evidence.listed = &nobody;
	assert_int_equal(allocate(&world, NULL, CRI, UNITS, "0m0-6", &answer, &reason, NULL), 0);
	kubelet_answer_release(&answer);
	assert_int_equal(world.ledger.count, 2);
	assert_int_equal(world.ledger.entries[0]->ids.count, 5); /* for the Pod's life */
	world_release(&world);
}

TEST(every_allocation_may_fail)
{
	struct question driver;

	question_init(&driver);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i += 3) {
		struct string_list ids = { .items = NULL };
		struct node_world world;

		world_init(&world, 2, 80);
		answers[i].set(&world);
		world_build(&world, false);
		world_ids(answers[i].ids, &ids);
		/* The driver of the question has no nodes of MIG devices. */
		unsigned more = strcmp(answers[i].resource, MIG_3) == 0 ? 0u : (unsigned)KUB;
		struct plugin_scene scene = world_scene(&world, answers[i].lists | more);

		scene.files = &driver.files;
		for (unsigned n = 0;; n++) {
			struct kubelet_answer answer = { .envs = NULL };
			struct ledger_entry *entry = NULL;

			fault_arm(n);
			int r = plugin_allocate(&scene, answers[i].resource, &ids, &entry, &answer,
						NULL, NULL);
			bool hit = fault_disarm();

			assert_true(r == 0 || (hit && r == -ENOMEM));
			assert_int_equal(world.ledger.count, r == 0);
			if (r == 0) {
				kubelet_answer_release(&answer);
				ledger_forget(&world.ledger, entry);
			}
			if (!hit)
				break;
		}
		for (unsigned n = 0;; n++) {
			const struct plugin_view_inputs inputs = { .inventory = &world.inventory,
								   .config = &world.config,
								   .ledger = &world.ledger,
								   .previous = &world.view,
								   .cdi = true };
			struct plugin_view view;

			fault_arm(n);
			int r = plugin_view_build(&inputs, &view, NULL);
			bool hit = fault_disarm();

			assert_true(r == 0 || (hit && r == -ENOMEM));
			if (r == 0)
				plugin_view_release(&view);
			if (!hit)
				break;
			n += n / 8; /* a view of 160 units has many */
		}
		string_list_release(&ids);
		world_release(&world);
	}
	question_release(&driver);
}
