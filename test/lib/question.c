/* SPDX-License-Identifier: Apache-2.0 */
#include "question.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "formats/formats.h"
#include "test.h"

/* A driver as the search would report it, without a disk. */
#define NAMES(...)                                               \
	{                                                        \
		.items = (char *[]){ __VA_ARGS__ },              \
		.count = ARRAY_SIZE(((char *[]){ __VA_ARGS__ })) \
	}

static char text_driver[] = "/driver";
static char name_cuda[] = "libcuda.so.1", name_cuda_link[] = "libcuda.so";
static char name_ml[] = "libnvidia-ml.so.1", name_vdpau[] = "vdpau/libvdpau_nvidia.so.1";
static char name_smi[] = "nvidia-smi", name_mps[] = "nvidia-cuda-mps-control";
static char name_icd[] = "/etc/OpenCL/vendors/nvidia.icd";
static char name_gsp[] = "/lib/firmware/nvidia/535/gsp.bin";
static char name_socket[] = "/run/nvidia-persistenced/socket";
static char source_cuda[] = "/driver/lib/libcuda.so.535",
	    source_ml[] = "/driver/lib/libnvidia-ml.so.535";
static char source_vdpau[] = "/driver/lib/libvdpau_nvidia.so.535",
	    source_smi[] = "/driver/bin/nvidia-smi";
static char source_mps[] = "/driver/bin/mps", source_icd[] = "/driver/etc/nvidia.icd";
static char source_gsp[] = "/driver/firmware/gsp.bin", source_socket[] = "/driver/run/socket";
static char source_cuda_32[] = "/driver/lib32/libcuda.so.535";
static char node_0[] = "/driver/dev/nvidia0", node_1[] = "/driver/dev/nvidia1";
static char node_ctl[] = "/driver/dev/nvidiactl", node_uvm[] = "/driver/dev/nvidia-uvm";
static char node_modeset[] = "/driver/dev/nvidia-modeset";

#define COMPUTE CAPABILITY_COMPUTE
#define UTILITY CAPABILITY_UTILITY
#define VIDEO   CAPABILITY_VIDEO

struct driver_file question_items[QUESTION_ITEMS] = {
	{ DRIVER_LIBRARY, COMPUTE | VIDEO, 64, true, source_cuda,
	  NAMES(name_cuda, name_cuda_link) },
	{ DRIVER_LIBRARY, UTILITY, 64, true, source_ml, NAMES(name_ml) },
	{ DRIVER_LIBRARY, VIDEO, 64, false, source_vdpau, NAMES(name_vdpau) },
	{ DRIVER_LIBRARY, COMPUTE | VIDEO, 32, true, source_cuda_32, NAMES(name_cuda) },
	{ DRIVER_BINARY, UTILITY, 0, false, source_smi, NAMES(name_smi) },
	{ DRIVER_BINARY, COMPUTE, 0, false, source_mps, NAMES(name_mps) },
	{ DRIVER_FIRMWARE, 0, 0, false, source_gsp, NAMES(name_gsp) },
	{ DRIVER_CONFIG, COMPUTE, 0, false, source_icd, NAMES(name_icd) },
	{ DRIVER_SOCKET, 0, 0, false, source_socket, NAMES(name_socket) },
};

struct driver_node question_nodes[QUESTION_NODES] = {
	{ "nvidia0", node_0, 195, 0 },
	{ "nvidia1", node_1, 195, 1 },
	{ "nvidiactl", node_ctl, 195, 255 },
	{ "nvidia-uvm", node_uvm, 510, 0 },
	{ "nvidia-modeset", node_modeset, 195, 254 },
};

static struct driver_files plain_files(void)
{
	return (struct driver_files){ .root = text_driver,
				      .version = "535",
				      .items = question_items,
				      .count = ARRAY_SIZE(question_items),
				      .nodes = question_nodes,
				      .node_count = ARRAY_SIZE(question_nodes) };
}

static struct card cards[] = {
	{ .index = 0, .minor = 0, .uuid = "GPU-aa", .bus_id = "0000:07:00.0" },
	{ .index = 1, .minor = 1, .uuid = "GPU-bb", .bus_id = "0000:0f:00.0" },
	{ .index = 2, .minor = 2, .uuid = "GPU-cc", .bus_id = "../../../etc" },
};

void question_init(struct question *question)
{
	*question = (struct question){ .files = plain_files() };
	question->inventory.cards = cards;
	question->inventory.card_count = 2;
	snprintf(question->part.uuid, sizeof(question->part.uuid), "GPU-aa");
	question->grant = (struct grant){ .kind = REQUEST_WHOLE,
					  .enforcement = ENFORCEMENT_WHOLE,
					  .cards = &question->part,
					  .card_count = 1 };
	question->grants[0] = &question->grant;
	question->injection = (struct injection){ .inventory = &question->inventory,
						  .grants = question->grants,
						  .grant_count = 1,
						  .files = &question->files,
						  .capabilities = CAPABILITY_DEFAULT,
						  .target = INJECT_IMAGE,
						  .root_fd = -1,
						  .uid = 0,
						  .gid = 0 };
}

/* An empty root; the caller fills it. */
void question_root(struct question *question)
{
	tree_make(question->tree);
	question->injection.root_fd = open(question->tree, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(question->injection.root_fd >= 0);
}

void question_release(struct question *question)
{
	if (question->injection.root_fd >= 0)
		close(question->injection.root_fd);
	if (*question->tree)
		tree_remove(question->tree);
}

void question_ask(const struct question *question, struct edit_plan *plan)
{
	struct error error = ERROR_INIT;

	*plan = (struct edit_plan){ 0 };
	if (edit_plan_build(&question->injection, plan, NULL, &error) < 0)
		fail_msg("%s", error.message);
}

const struct edit *plan_find(const struct edit_plan *plan, enum edit_kind kind, const char *name)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->edits[i].kind == kind && strcmp(plan->edits[i].name, name) == 0)
			return &plan->edits[i];
	return NULL;
}

size_t plan_count(const struct edit_plan *plan, enum edit_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->count; i++)
		n += plan->edits[i].kind == kind;
	return n;
}

bool plan_has_note(const struct edit_plan *plan, const char *part)
{
	for (size_t i = 0; i < plan->notes.count; i++)
		if (strstr(plan->notes.items[i], part))
			return true;
	return false;
}

void question_refused(struct question *question, int number, enum reason_code code,
		      const char *part)
{
	struct edit_plan plan = { 0 };
	struct reason reason = { 0 };
	struct error error = ERROR_INIT;
	int r = edit_plan_build(&question->injection, &plan, &reason, &error);

	if (r != -number || reason.code != code || !strstr(error.message, part))
		fail_msg("%d, reason %d: \"%s\", not \"%s\"", r, reason.code, error.message, part);
	assert_null(plan.edits);
	assert_null(plan.notes.items);
}

/* The container's spec with one value set. */
struct json_object *question_spec(const char *working_directory, const char *mount,
				  const char *type)
{
	static const char *const arguments[] = { "sleep", NULL };
	const struct oci_base base = { .root_path = "/r",
				       .arguments = arguments,
				       .working_directory = working_directory,
				       .namespaces = OCI_NAMESPACE_ALL };
	struct json_object *spec = NULL;

	assert_int_equal(oci_spec_base(&base, &spec, NULL), 0);
	if (mount) {
		const struct oci_mount row = { mount, "/volume", type, "rbind,rw" };

		assert_int_equal(oci_spec_add_mount(spec, &row, NULL), 0);
	}
	return spec;
}
