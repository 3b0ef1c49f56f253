/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/formats.h"
#include "question.h"

#define CONTAINERD "test/data/oci/containerd.json"

/* The plan as it is printed, against a file that people can read. */
static void check_golden(const struct edit_plan *plan, const char *name)
{
	autostrbuf text = STRBUF_INIT(65536);
	autofree char *expected = NULL;
	char path[128];
	size_t length;

	snprintf(path, sizeof(path), "test/data/oci/%s", name);
	assert_int_equal(edit_plan_print(plan, &text), 0);
	assert_int_equal(file_read(path, 65536, &expected, &length, NULL), 0);
	if (strcmp(text.data, expected) != 0) {
		fprintf(stderr, "%s", text.data);
		fail_msg("%s differs from what is printed", path);
	}
}

/* Mounts of one reason and one pair of directories stand together, wherever they are in the plan. */
TEST(plan_text_groups_and_keeps_lines)
{
	static char x[] = "/a/x", z[] = "/a/z", ro[] = "ro,bind", rw[] = "rw,bind", a[] = "A",
		    value[] = "1\nmask: nothing", why[] = "why", library[] = "library",
		    bx[] = "/b/x", by[] = "/b/y", bz[] = "/b/z", cx[] = "/c/x";
	struct edit edits[] = {
		{ .kind = EDIT_MOUNT, .name = bx, .source = x, .options = ro, .reason = library },
		{ .kind = EDIT_ENV, .name = a, .source = value, .reason = why },
		{ .kind = EDIT_MOUNT, .name = by, .source = x, .options = ro, .reason = library },
		{ .kind = EDIT_MOUNT, .name = cx, .source = x, .options = rw, .reason = library },
		{ .kind = EDIT_MOUNT, .name = bz, .source = z, .options = ro, .reason = library },
	};
	const struct edit_plan plan = { .edits = edits, .count = ARRAY_SIZE(edits) };
	autostrbuf text = STRBUF_INIT(4096);

	assert_int_equal(edit_plan_print(&plan, &text), 0);
	assert_string_equal(text.data, "mount: library\n"
				       "  from /a/ to /b/, read-only\n"
				       "    x as x, y\n"
				       "    z\n"
				       "env: why\n"
				       "  A=1?mask: nothing\n"
				       "mount: library\n"
				       "  from /a/ to /c/, read-write\n"
				       "    x\n");
}

TEST(capability_words)
{
	static const struct {
		const char *text;
		unsigned flags;
	} rows[] = {
		{ NULL, CAPABILITY_DEFAULT },
		{ "", CAPABILITY_DEFAULT },
		{ ",", CAPABILITY_DEFAULT },
		{ "all", CAPABILITY_ALL },
		{ "compute", CAPABILITY_COMPUTE },
		{ "utility,compute", CAPABILITY_DEFAULT },
		{ " video , ngx", CAPABILITY_VIDEO | CAPABILITY_NGX },
		{ "graphics,display,compat32",
		  CAPABILITY_GRAPHICS | CAPABILITY_DISPLAY | CAPABILITY_COMPAT32 },
		{ "comput", 0 },
		{ "compute,Utility", 0 },
		{ "compute;utility", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error = ERROR_INIT;
		unsigned flags = 0;
		int r = capabilities_parse(rows[i].text, &flags, &error);

		assert_int_equal(r, rows[i].flags ? 0 : -EINVAL);
		assert_int_equal(flags, rows[i].flags);
		if (r < 0)
			assert_non_null(strstr(error.message, "use all, or a list of compute"));
	}
}

TEST(plan_of_an_image)
{
	struct question question;
	struct edit_plan plan;

	question_init(&question);
	question_root(&question);
	tree_file(question.tree, LIBDIR "/libc.so.6", "");
	question_ask(&question, &plan);
	check_golden(&plan, "plan-image.txt");
	edit_plan_release(&plan);
	question_release(&question);
}

TEST(plan_of_a_slice_on_the_host)
{
	struct question question;
	struct edit_plan plan;
	struct string_list targets = { 0 };

	question_init(&question);
	question_root(&question);
	question.grant.kind = REQUEST_SLICE;
	question.grant.enforcement = ENFORCEMENT_NONE;
	question.part.units = 12;
	question.part.compute_percent = 30;
	question.injection.target = INJECT_HOST;
	question.injection.uid = 1000;
	question.injection.gid = 100;
	question_ask(&question, &plan);
	check_golden(&plan, "plan-host.txt");
	assert_int_equal(edit_plan_host_targets(&plan, &targets, NULL), 0);
	assert_int_equal(targets.count, plan_count(&plan, EDIT_MOUNT));
	for (size_t i = 0; i < targets.count; i++)
		assert_int_equal(strncmp(targets.items[i], PATH_HOST_DRIVER "/",
					 strlen(PATH_HOST_DRIVER) + 1),
				 0);
	string_list_release(&targets);
	edit_plan_release(&plan);
	question_release(&question);
}

/* The driver is installed where it belongs: everything is there but the device nodes. */
TEST(plan_of_the_host_itself)
{
	char root[] = "/";
	struct question question;
	struct edit_plan plan;

	question_init(&question);
	question_root(&question);
	question.files.root = root;
	question.injection.target = INJECT_HOST;
	question_ask(&question, &plan);
	assert_int_equal(plan_count(&plan, EDIT_MOUNT), 0);
	assert_int_equal(plan_count(&plan, EDIT_ENV), 1);
	assert_int_equal(plan_count(&plan, EDIT_DEVICE), 3);
	assert_int_equal(plan_count(&plan, EDIT_MASK), 1);
	edit_plan_release(&plan);
	question_release(&question);
}

/* The socket's target exists on the host, or it is the very same file. */
TEST(plan_of_host_sockets)
{
	char socket[] = "/run/nvidia-persistenced/socket";
	struct question question;
	struct edit_plan plan;

	question_init(&question);
	question_root(&question);
	question.injection.target = INJECT_HOST;
	tree_socket(question.tree, "run/nvidia-persistenced/socket");
	question_ask(&question, &plan);
	const struct edit *edit = plan_find(&plan, EDIT_MOUNT, socket);
	assert_non_null(edit);
	assert_string_equal(edit->options, "nosuid,nodev,rbind,rprivate,noexec");
	assert_false(edit->make_target);
	assert_false(plan_has_note(&plan, socket));
	edit_plan_release(&plan);
	/* the same path inside the root: nothing to mount */
	struct driver_file same = question_items[QUESTION_SOCKET];
	same.source = socket;
	question.files.items = &same;
	question.files.count = 1;
	question_ask(&question, &plan);
	assert_int_equal(plan_count(&plan, EDIT_MOUNT), 0);
	assert_false(plan_has_note(&plan, "is not mounted"));
	edit_plan_release(&plan);
	question_release(&question);
}

/* What a container's root holds, and where libraries go. */
static const struct {
	const char *files[4];
	const char *directory; /* NULL: none */
	const char *note;
} root_rows[] = {
	{ { LIBDIR "/libc.so.6" }, LIBDIR, NULL },
	{ { "lib/" LIBRARY_TRIPLET "/libc.so.6" }, "/lib/" LIBRARY_TRIPLET, NULL },
	{ { "usr/lib64/libc.so.6" }, "/usr/lib64", NULL },
	{ { "lib64/libc.so.6" }, "/lib64", NULL },
	{ { "usr/lib/libc.so.6" }, "/usr/lib", NULL },
	{ { "lib/libc.so.6" }, "/lib", NULL },
	{ { "usr/lib64/libc.so.6", "lib/libc.so.6" }, "/usr/lib64", NULL },
	{ { LIBDIR "/libc.so.6", "usr/lib64/libc.so.6" }, LIBDIR, NULL },
	{ { LOADER_MUSL }, NULL, "musl image" },
	{ { LOADER_MUSL, "lib/libc.so.6" }, "/lib", NULL },
	{ { "bin/program" }, NULL, "image without a C library" },
};

TEST(plan_library_directories)
{
	for (size_t i = 0; i < ARRAY_SIZE(root_rows); i++) {
		struct question question;
		struct edit_plan plan;
		char path[128];

		question_init(&question);
		question_root(&question);
		for (size_t j = 0; root_rows[i].files[j]; j++)
			tree_file(question.tree, root_rows[i].files[j], "");
		question_ask(&question, &plan);
		snprintf(path, sizeof(path), "%s/libcuda.so.1",
			 root_rows[i].directory ? root_rows[i].directory : "");
		if ((plan_find(&plan, EDIT_MOUNT, path) != NULL) !=
		    (root_rows[i].directory != NULL))
			fail_msg("row %zu: %s", i, path);
		assert_int_equal(plan_count(&plan, EDIT_DEVICE), 3);
		if (root_rows[i].directory) {
			assert_string_equal(
				plan_find(&plan, EDIT_ENV, "TRITON_LIBCUDA_PATH")->source,
				root_rows[i].directory);
			assert_non_null(plan_find(&plan, EDIT_MOUNT,
						  "/usr/local/nvidia/lib64/libcuda.so.1"));
			assert_int_equal(plan.notes.count, 0);
		} else {
			assert_int_equal(plan_count(&plan, EDIT_MOUNT), 0);
			assert_int_equal(plan_count(&plan, EDIT_ENV), 1);
			assert_int_equal(plan.notes.count, 1);
			assert_true(plan_has_note(&plan, root_rows[i].note));
		}
		edit_plan_release(&plan);
		question_release(&question);
	}
}

/* A root that nobody can look into gets what serves every distribution. */
TEST(plan_of_an_unknown_root)
{
	static const char *const paths[] = {
		LIBDIR "/libcuda.so.1",      "/usr/lib64/libcuda.so.1",
		"/usr/lib/libcuda.so.1",     "/usr/local/nvidia/lib64/libcuda.so.1",
		LIBDIR "/libnvidia-ml.so.1", "/usr/lib64/libcuda.so"
	};
	static const char narrow[] = "/usr/lib/" LIBRARY_TRIPLET_32 "/libcuda.so.1";
	struct question question;
	struct edit_plan plan;

	question_init(&question);
	question_ask(&question, &plan);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (!plan_find(&plan, EDIT_MOUNT, paths[i]))
			fail_msg("%s", paths[i]);
	assert_string_equal(plan_find(&plan, EDIT_ENV, "TRITON_LIBCUDA_PATH")->source,
			    "/usr/lib64");
	assert_null(plan_find(&plan, EDIT_MOUNT, narrow));
	edit_plan_release(&plan);
	question.injection.capabilities |= CAPABILITY_COMPAT32;
	question_ask(&question, &plan);
	assert_non_null(plan_find(&plan, EDIT_MOUNT, narrow));
	edit_plan_release(&plan);
	question_release(&question);
}

TEST(plan_capabilities_choose)
{
	static const struct {
		unsigned capabilities;
		const char *name;
		bool there;
	} rows[] = {
		{ CAPABILITY_COMPUTE, LIBDIR "/libcuda.so.1", true },
		{ CAPABILITY_COMPUTE, LIBDIR "/libnvidia-ml.so.1", false },
		{ CAPABILITY_COMPUTE, "/usr/bin/nvidia-smi", false },
		{ CAPABILITY_COMPUTE, "/usr/bin/nvidia-cuda-mps-control", true },
		{ CAPABILITY_COMPUTE, "/dev/nvidia-uvm", true },
		{ CAPABILITY_COMPUTE, "/dev/nvidia-modeset", false },
		{ CAPABILITY_COMPUTE, "/etc/OpenCL/vendors/nvidia.icd", true },
		{ CAPABILITY_UTILITY, LIBDIR "/libcuda.so.1", false },
		{ CAPABILITY_UTILITY, "/usr/bin/nvidia-smi", true },
		{ CAPABILITY_UTILITY, "/dev/nvidia-uvm", false },
		{ CAPABILITY_UTILITY, "/dev/nvidiactl", true },
		{ CAPABILITY_UTILITY, "/lib/firmware/nvidia/535/gsp.bin", true },
		{ CAPABILITY_UTILITY, "/run/nvidia-persistenced/socket", true },
		{ CAPABILITY_UTILITY, "TRITON_LIBCUDA_PATH", false },
		{ CAPABILITY_VIDEO, LIBDIR "/vdpau/libvdpau_nvidia.so.1", true },
		{ CAPABILITY_VIDEO, LIBDIR "/libcuda.so.1", true },
		{ CAPABILITY_VIDEO, "/dev/nvidia-uvm", true },
		{ CAPABILITY_DISPLAY, "/dev/nvidia-modeset", true },
		{ CAPABILITY_NGX, LIBDIR "/libcuda.so.1", false },
		{ CAPABILITY_COMPUTE | CAPABILITY_COMPAT32, "/usr/lib32/libcuda.so.1", true },
		{ CAPABILITY_COMPUTE, "/usr/lib32/libcuda.so.1", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct question question;
		struct edit_plan plan;
		bool there = false;

		question_init(&question);
		question_root(&question);
		tree_file(question.tree, LIBDIR "/libc.so.6", "");
		tree_file(question.tree, "usr/lib32/libc.so.6", "");
		question.injection.capabilities = rows[i].capabilities;
		question_ask(&question, &plan);
		for (int kind = 0; kind < EDIT_KIND_MAX; kind++)
			there |= plan_find(&plan, (enum edit_kind)kind, rows[i].name) != NULL;
		if (there != rows[i].there)
			fail_msg("row %zu: %s", i, rows[i].name);
		edit_plan_release(&plan);
		question_release(&question);
	}
}

TEST(plan_says_what_the_driver_lacks)
{
	struct question question;
	struct edit_plan plan;

	question_init(&question);
	question_root(&question);
	tree_file(question.tree, LIBDIR "/libc.so.6", "");
	question.files.items = question_items + QUESTION_CUDA_32;
	question.files.count = 1;
	question.files.node_count = 1;
	question.injection.capabilities = CAPABILITY_DEFAULT | CAPABILITY_COMPAT32;
	question_ask(&question, &plan);
	assert_true(plan_has_note(&plan, "no usable libcuda.so.1"));
	assert_true(plan_has_note(&plan, "no usable libnvidia-ml.so.1"));
	assert_true(plan_has_note(&plan, "/dev/nvidiactl is absent"));
	assert_true(plan_has_note(&plan, "/dev/nvidia-uvm is absent"));
	assert_true(plan_has_note(&plan, "no 32-bit C library"));
	edit_plan_release(&plan);
	question_release(&question);
}

static char node_path[] = "/driver/dev/some";

TEST(plan_device_nodes_are_checked)
{
	static const struct {
		struct driver_node node;
		const char *message;
	} rows[] = {
		{ { "nvidia1", node_path, 195, 0 }, "has no device node nvidia0" },
		{ { "nvidia0", node_path, 195, 1 }, "is device 195:1 and not 195:0" },
		{ { "nvidia0", node_path, 8, 0 }, "is device 8:0 and not 195:0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct question question;
		struct driver_node node = rows[i].node;

		question_init(&question);
		question.files.nodes = &node;
		question.files.node_count = 1;
		question_refused(&question, ENODEV, REASON_NONE, rows[i].message);
	}
}

TEST(plan_grant_of_an_unknown_card)
{
	struct question question;

	question_init(&question);
	snprintf(question.part.uuid, sizeof(question.part.uuid), "GPU-zz");
	question_refused(&question, ENODEV, REASON_NONE, "GPU-zz was granted and is not");
	question.injection.files = NULL;
	question_refused(&question, EINVAL, REASON_NONE, "without an inventory");
}

/* Without a grant: no device, no rule, no mount, whatever the image says. */
TEST(plan_without_a_grant)
{
	struct question question;
	struct edit_plan plan;
	autojson *before = NULL, *after = NULL;

	question_init(&question);
	assert_int_equal(oci_spec_read(CONTAINERD, &before, NULL), 0);
	assert_int_equal(oci_spec_read(CONTAINERD, &after, NULL), 0);
	question.injection.grant_count = 0;
	question.injection.files = NULL;
	question.injection.spec = before;
	question_ask(&question, &plan);
	assert_int_equal(plan_count(&plan, EDIT_DEVICE), 0);
	assert_int_equal(plan_count(&plan, EDIT_MOUNT), 0);
	assert_int_equal(plan_count(&plan, EDIT_MASK), 2);
	assert_int_equal(edit_plan_apply_oci(&plan, after, NULL), 0);
	assert_string_equal(oci_spec_env(after, "NVIDIA_VISIBLE_DEVICES"), "void");
	assert_true(json_object_equal(json_get(before, "linux.resources"),
				      json_get(after, "linux.resources")));
	assert_true(json_object_equal(json_get(before, "linux.devices"),
				      json_get(after, "linux.devices")));
	assert_true(json_object_equal(json_get(before, "mounts"), json_get(after, "mounts")));
	edit_plan_release(&plan);
}

TEST(plan_masks)
{
	struct question question;
	struct edit_plan plan;
	autojson *spec = question_spec("/", NULL, NULL);

	question_init(&question);
	question.inventory.card_count = 3; /* the third has an address that is none */
	question.injection.spec = spec;
	question_ask(&question, &plan);
	assert_int_equal(plan_count(&plan, EDIT_MASK), 1);
	assert_non_null(plan_find(&plan, EDIT_MASK, "/proc/driver/nvidia/gpus/0000:0f:00.0"));
	edit_plan_release(&plan);
	/* a container that masks nothing is left as it is */
	json_object_object_del(json_get(spec, "linux"), "maskedPaths");
	question_ask(&question, &plan);
	assert_int_equal(plan_count(&plan, EDIT_MASK), 0);
	edit_plan_release(&plan);
}

/* Every edit is in the new spec once, and nothing else is. */
TEST(plan_applied_to_a_spec)
{
	struct question question;
	struct edit_plan plan;
	autojson *before = NULL, *after = NULL;

	question_init(&question);
	question_root(&question);
	tree_file(question.tree, LIBDIR "/libc.so.6", "");
	assert_int_equal(oci_spec_read(CONTAINERD, &before, NULL), 0);
	assert_int_equal(oci_spec_read(CONTAINERD, &after, NULL), 0);
	question.injection.spec = before;
	question_ask(&question, &plan);
	assert_int_equal(edit_plan_apply_oci(&plan, after, NULL), 0);
	assert_int_equal(oci_spec_check(after, "after", NULL), 0);
	static const char *const lists[] = { "mounts", "linux.devices", "linux.resources.devices",
					     "linux.maskedPaths" };
	const size_t added[] = { plan_count(&plan, EDIT_MOUNT), plan_count(&plan, EDIT_DEVICE),
				 plan_count(&plan, EDIT_DEVICE), plan_count(&plan, EDIT_MASK) };
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct json_object *old = json_get(before, lists[i]);
		struct json_object *new = json_get(after, lists[i]);
		size_t length = json_object_array_length(old);

		assert_int_equal(json_object_array_length(new), length + added[i]);
		assert_true(added[i] > 0);
		json_object_array_del_idx(new, length, added[i]);
	}
	/* env: one replaced, one new; with both taken back the trees are the same */
	struct json_object *env = json_get(after, "process.env");
	assert_string_equal(json_object_get_string(json_object_array_get_idx(env, 7)),
			    "TRITON_LIBCUDA_PATH=" LIBDIR);
	json_object_array_del_idx(env, 7, 1);
	assert_int_equal(oci_spec_set_env(after, "NVIDIA_VISIBLE_DEVICES", "all", NULL), 0);
	assert_true(json_object_equal(before, after));
	edit_plan_release(&plan);
	question_release(&question);
}

TEST(plan_keeps_what_the_image_set)
{
	struct question question;
	struct edit_plan plan;
	autojson *spec = question_spec("/", NULL, NULL);

	question_init(&question);
	question.injection.target = INJECT_HOST;
	question.injection.spec = spec;
	assert_int_equal(oci_spec_set_env(spec, "TRITON_LIBCUDA_PATH", "/mine", NULL), 0);
	assert_int_equal(oci_spec_set_env(spec, "PATH", "/bin", NULL), 0);
	assert_int_equal(oci_spec_set_env(spec, "LD_LIBRARY_PATH", "/a:/b", NULL), 0);
	question_ask(&question, &plan);
	assert_int_equal(edit_plan_apply_oci(&plan, spec, NULL), 0);
	assert_string_equal(oci_spec_env(spec, "TRITON_LIBCUDA_PATH"), "/mine");
	assert_string_equal(oci_spec_env(spec, "PATH"), PATH_HOST_DRIVER "/bin:/bin");
	assert_string_equal(oci_spec_env(spec, "LD_LIBRARY_PATH"), PATH_HOST_DRIVER "/lib64:/a:/b");
	edit_plan_release(&plan);
}

TEST(plan_as_json)
{
	struct question question;
	struct edit_plan plan;
	autojson *object = NULL;

	question_init(&question);
	question_root(&question);
	tree_file(question.tree, LIBDIR "/libc.so.6", "");
	question_ask(&question, &plan);
	assert_int_equal(edit_plan_to_json(&plan, &object, NULL), 0);
	struct json_object *edits = json_get(object, "edits");
	assert_int_equal(json_object_array_length(edits), plan.count);
	for (size_t i = 0; i < plan.count; i++)
		assert_true(*json_get_string(json_object_array_get_idx(edits, i), "reason", ""));
	assert_string_equal(
		json_object_to_json_string_ext(json_object_array_get_idx(edits, 1),
					       JSON_C_TO_STRING_PLAIN |
						       JSON_C_TO_STRING_NOSLASHESCAPE),
		"{\"kind\":\"device\",\"path\":\"/dev/nvidia0\",\"source\":\"/driver/dev/nvidia0\","
		"\"access\":\"rw\",\"major\":195,\"minor\":0,\"mode\":\"0666\",\"uid\":0,\"gid\":0,"
		"\"reason\":\"card 0 (GPU-aa) is granted, enforcement: whole card\"}");
	edit_plan_release(&plan);
	question_release(&question);
}

/* No mount comes from outside the driver root, whatever links it holds; sockets may. */
TEST(plan_sources_lie_in_the_driver_root)
{
	struct question question;
	struct driver_files *files = NULL;
	struct edit_plan plan;
	char driver[TREE_PATH_MAX], outside[TREE_PATH_MAX], target[128];

	tree_make(driver);
	tree_make(outside);
	tree_library(driver, "usr/lib64/libcuda.so.535.1.1", "libcuda.so.1", 64);
	tree_library(driver, "usr/lib64/libnvidia-ml.so.535.1.1", "libnvidia-ml.so.1", 64);
	tree_library(outside, "libnvidia-cfg.so.535.1.1", "libnvidia-cfg.so.1", 64);
	tree_program(outside, "nvidia-debugdump");
	snprintf(target, sizeof(target), "%s/libnvidia-cfg.so.535.1.1", outside);
	tree_link(driver, "usr/lib64/libnvidia-cfg.so.535.1.1", target);
	snprintf(target, sizeof(target), "../../../..%s/nvidia-debugdump", outside);
	tree_link(driver, "usr/bin/nvidia-debugdump", target);
	tree_link(driver, "usr/bin/nvidia-smi", "/proc/self/root/bin/sh");
	tree_link(driver, "etc/OpenCL/vendors/nvidia.icd", "/etc/passwd");
	assert_int_equal(driver_files_find(driver, NULL, CAPABILITY_ALL, &files, NULL), 0);
	question_init(&question);
	files->nodes = question_nodes;
	files->node_count = ARRAY_SIZE(question_nodes);
	question.injection.files = files;
	question.injection.capabilities = CAPABILITY_ALL;
	question_ask(&question, &plan);
	assert_true(plan_count(&plan, EDIT_MOUNT) >= 8);
	for (size_t i = 0; i < plan.count; i++)
		if (plan.edits[i].kind == EDIT_MOUNT && !strstr(plan.edits[i].options, "noexec"))
			assert_int_equal(strncmp(plan.edits[i].source, driver, strlen(driver)), 0);
	edit_plan_release(&plan);
	files->nodes = NULL;
	files->node_count = 0;
	driver_files_free(files);
	tree_remove(driver);
	tree_remove(outside);
}

static int build_everything(struct question *question, struct error *error)
{
	cleanup(edit_plan_release) struct edit_plan plan = { 0 };
	cleanup(string_list_release) struct string_list targets = { 0 };
	autojson *object = NULL;
	autostrbuf text = STRBUF_INIT(65536);
	struct reason reason = { 0 };
	int r = edit_plan_build(&question->injection, &plan, &reason, error);

	if (r == 0)
		r = edit_plan_host_targets(&plan, &targets, error);
	if (r == 0)
		r = edit_plan_print(&plan, &text);
	if (r == 0)
		r = edit_plan_to_json(&plan, &object, error);
	return r;
}

TEST(plan_survives_every_failed_allocation)
{
	for (int host = 0; host < 2; host++) {
		struct question question;
		autojson *spec = question_spec("/", "/usr/bin", "bind");
		unsigned n = 0;

		question_init(&question);
		question_root(&question);
		tree_file(question.tree, LIBDIR "/libc.so.6", "");
		tree_socket(question.tree, "run/nvidia-persistenced/socket");
		question.injection.target = host ? INJECT_HOST : INJECT_IMAGE;
		question.injection.spec = spec;
		for (;; n++) {
			struct error error = ERROR_INIT;

			fault_arm(n);
			int r = build_everything(&question, &error);
			if (!fault_disarm()) {
				assert_int_equal(r, 0);
				break;
			}
			assert_int_equal(r, -ENOMEM);
		}
		assert_true(n > 100);
		question_release(&question);
	}
}
