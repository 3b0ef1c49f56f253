/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"

#define CONTAINERD "test/data/oci/containerd.json"

#define HEAD "{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"/r\"},"
#define PROC "\"process\":{\"args\":[\"a\"],\"cwd\":\"/\"}"

static const struct {
	const char *text, *message; /* part of it; NULL: accepted */
} check_rows[] = {
	{ HEAD PROC "}", NULL },
	{ HEAD PROC ",\"mounts\":[{\"destination\":\"relative\"}]}", NULL },
	{ HEAD PROC ",\"linux\":null,\"mounts\":null}", NULL },
	{ HEAD PROC ",\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"major\":-1}]}}}",
	  NULL },
	{ "null", "must be a JSON object" },
	{ "[]", "must be a JSON object" },
	{ "{}", "ociVersion is missing" },
	{ "{\"ociVersion\":1}", "ociVersion must be a version" },
	{ "{\"ociVersion\":\"2.0\",\"root\":{\"path\":\"/\"}," PROC "}", "only versions 1.x" },
	{ "{\"ociVersion\":\"1.0\"," PROC "}", "root is missing" },
	{ "{\"ociVersion\":\"1.0\",\"root\":{}," PROC "}", "root.path is missing" },
	{ "{\"ociVersion\":\"1.0\",\"root\":{\"path\":\"\"}," PROC "}", "root.path is empty" },
	{ "{\"ociVersion\":\"1.0\",\"root\":[]," PROC "}", "root must be" },
	{ HEAD "\"process\":[]}", "process must be" },
	{ HEAD "\"process\":{\"cwd\":\"/\"}}", "process.args is missing" },
	{ HEAD "\"process\":{\"args\":[],\"cwd\":\"/\"}}", "process.args is empty" },
	{ HEAD "\"process\":{\"args\":[1],\"cwd\":\"/\"}}", "process.args[0] must be a string" },
	{ HEAD "\"process\":{\"args\":[\"a\\u0000b\"],\"cwd\":\"/\"}}", "NUL" },
	{ HEAD "\"process\":{\"args\":[\"a\"]}}", "process.cwd is missing" },
	{ HEAD "\"process\":{\"args\":[\"a\"],\"cwd\":\"x\"}}", "process.cwd is \"x\"" },
	{ HEAD "\"process\":{\"args\":[\"a\"],\"cwd\":\"/\",\"env\":{}}}", "process.env must be" },
	{ HEAD "\"process\":{\"args\":[\"a\"],\"cwd\":\"/\",\"env\":[null]}}", "process.env[0]" },
	{ HEAD PROC ",\"mounts\":{}}", "mounts must be" },
	{ HEAD PROC ",\"mounts\":[1]}", "mounts[0] must be an object" },
	{ HEAD PROC ",\"mounts\":[{}]}", "mounts[0] needs a destination" },
	{ HEAD PROC ",\"mounts\":[{\"destination\":\"/a\",\"options\":\"ro\"}]}",
	  "options that are no" },
	{ HEAD PROC ",\"mounts\":[{\"destination\":\"/a\",\"source\":1}]}", "source that is no" },
	{ HEAD PROC ",\"mounts\":[{\"destination\":\"/a\",\"type\":1}]}", "type that is no" },
	{ HEAD PROC ",\"linux\":[]}", "linux must be" },
	{ HEAD PROC ",\"linux\":{\"devices\":[{\"path\":\"a\"}]}}",
	  "devices[0] needs an absolute" },
	{ HEAD PROC ",\"linux\":{\"devices\":[{\"path\":\"/a\"}]}}", "devices[0] needs a type" },
	{ HEAD PROC ",\"linux\":{\"devices\":[{\"path\":\"/a\",\"type\":\"c\",\"major\":-1}]}}",
	  "number" },
	{ HEAD PROC ",\"linux\":{\"devices\":[{\"path\":\"/a\",\"type\":\"c\",\"minor\":1.5}]}}",
	  "number" },
	{ HEAD PROC ",\"linux\":{\"resources\":{\"devices\":[{}]}}}", "needs allow" },
	{ HEAD PROC ",\"linux\":{\"resources\":{\"devices\":[{\"allow\":1}]}}}", "needs allow" },
	{ HEAD PROC ",\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"major\":-2}]}}}",
	  "device number" },
	{ HEAD PROC ",\"linux\":{\"resources\":[]}}", "linux.resources must be" },
	{ HEAD PROC ",\"linux\":{\"maskedPaths\":[[]]}}", "linux.maskedPaths[0]" },
	{ HEAD PROC ",\"a\":1,\"a\":2}", "bad.json" },
	{ HEAD PROC "} x", "bad.json" },
	{ "", "bad.json" },
};

TEST(oci_structure_is_checked)
{
	for (size_t i = 0; i < ARRAY_SIZE(check_rows); i++) {
		autojson *spec = NULL;
		struct error error = ERROR_INIT;
		int r = oci_spec_parse(check_rows[i].text, strlen(check_rows[i].text), "bad.json",
				       &spec, &error);

		if (!check_rows[i].message) {
			assert_int_equal(r, 0);
			assert_non_null(spec);
			continue;
		}
		if (r != -EINVAL || !strstr(error.message, check_rows[i].message) ||
		    !strstr(error.message, "bad.json"))
			fail_msg("row %zu: %d \"%s\"", i, r, error.message);
		assert_null(spec);
	}
}

static struct json_object *read_containerd(void)
{
	struct json_object *spec = NULL;
	struct error error = ERROR_INIT;

	if (oci_spec_read(CONTAINERD, &spec, &error) < 0)
		fail_msg("%s", error.message);
	return spec;
}

static void add_everything(struct json_object *spec)
{
	const struct oci_mount mount = { "/usr/lib/x.so", "/host/x.so", "bind", "ro,nosuid,rbind" };
	const struct oci_device device = { "/dev/nvidia0", 'c', 195, 0, 0666, 5, 6, "rw" };
	struct error error = ERROR_INIT;

	if (oci_spec_set_env(spec, "NVIDIA_VISIBLE_DEVICES", "void", &error) < 0 ||
	    oci_spec_set_env(spec, "NEW", "a=b", &error) < 0 ||
	    oci_spec_add_mount(spec, &mount, &error) < 0 ||
	    oci_spec_add_device(spec, &device, &error) < 0 ||
	    oci_spec_add_masked_path(spec, "/proc/driver/nvidia/gpus/0000:07:00.0", &error) < 0)
		fail_msg("%s", error.message);
}

/* The list at PATH of AFTER is that of BEFORE with COUNT more at its end. */
static void check_longer(struct json_object *before, struct json_object *after, const char *path,
			 size_t count)
{
	struct json_object *old = json_get(before, path), *new = json_get(after, path);

	assert_int_equal(json_object_array_length(new), json_object_array_length(old) + count);
	for (size_t i = 0; i < json_object_array_length(old); i++)
		assert_true(json_object_equal(json_object_array_get_idx(old, i),
					      json_object_array_get_idx(new, i)));
}

static void check_last(struct json_object *spec, const char *path, const char *expected)
{
	struct json_object *list = json_get(spec, path);
	struct json_object *last =
		json_object_array_get_idx(list, json_object_array_length(list) - 1);

	assert_string_equal(json_object_to_json_string_ext(
				    last, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
			    expected);
}

/* Takes what add_everything() adds out of SPEC again. */
static void undo_everything(struct json_object *spec)
{
	static const char *const lists[] = { "process.env", "mounts", "linux.devices",
					     "linux.resources.devices", "linux.maskedPaths" };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct json_object *list = json_get(spec, lists[i]);

		json_object_array_del_idx(list, json_object_array_length(list) - 1, 1);
	}
	json_object_array_put_idx(json_get(spec, "process.env"), 1,
				  json_object_new_string("NVIDIA_VISIBLE_DEVICES=all"));
}

TEST(oci_edits_change_nothing_else)
{
	autojson *before = read_containerd(), *after = read_containerd();

	add_everything(after);
	check_longer(before, after, "mounts", 1);
	check_longer(before, after, "linux.devices", 1);
	check_longer(before, after, "linux.resources.devices", 1);
	check_longer(before, after, "linux.maskedPaths", 1);
	check_last(after, "process.env", "\"NEW=a=b\"");
	check_last(after, "mounts",
		   "{\"destination\":\"/usr/lib/x.so\",\"type\":\"bind\",\"source\":\"/host/x.so\","
		   "\"options\":[\"ro\",\"nosuid\",\"rbind\"]}");
	check_last(after, "linux.devices",
		   "{\"path\":\"/dev/nvidia0\",\"type\":\"c\",\"major\":195,\"minor\":0,"
		   "\"fileMode\":438,\"uid\":5,\"gid\":6}");
	check_last(after, "linux.resources.devices",
		   "{\"allow\":true,\"type\":\"c\",\"major\":195,\"minor\":0,\"access\":\"rw\"}");
	check_last(after, "linux.maskedPaths", "\"/proc/driver/nvidia/gpus/0000:07:00.0\"");
	assert_string_equal(oci_spec_env(after, "NVIDIA_VISIBLE_DEVICES"), "void");
	assert_string_equal(oci_spec_env(after, "NVIDIA_VISIBLE_DEVICES_EXTRA"), "1");
	assert_false(json_object_equal(before, after));
	undo_everything(after);
	assert_true(json_object_equal(before, after));
}

TEST(oci_edits_survive_a_file)
{
	char path[] = "/tmp/gpupool-test-XXXXXX";
	autojson *spec = read_containerd(), *again = NULL;
	struct error error = ERROR_INIT;
	struct stat status;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	add_everything(spec);
	assert_int_equal(oci_spec_write(path, spec, &error), 0);
	assert_int_equal(oci_spec_read(path, &again, &error), 0);
	assert_true(json_object_equal(spec, again));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	json_object_object_del(again, "root");
	assert_int_equal(oci_spec_write(path, again, &error), -EINVAL);
	unlink(path);
	assert_int_equal(oci_spec_read(path, &again, &error), -ENOENT);
	assert_non_null(strstr(error.message, path));
}

TEST(oci_env)
{
	autojson *spec = read_containerd();

	assert_null(oci_spec_env(spec, "NOEQUALS"));
	assert_null(oci_spec_env(spec, "NVIDIA"));
	assert_string_equal(oci_spec_env(spec, "EMPTY"), "");
	/* two of one name: the last one counts, and both are replaced */
	assert_int_equal(json_append_string(json_get(spec, "process.env"), "EMPTY=x"), 0);
	assert_string_equal(oci_spec_env(spec, "EMPTY"), "x");
	assert_int_equal(oci_spec_set_env(spec, "EMPTY", "y", NULL), 0);
	assert_string_equal(oci_spec_env(spec, "EMPTY"), "y");
	assert_int_equal(json_object_array_length(json_get(spec, "process.env")), 8);
	json_object_object_del(json_get(spec, "process"), "env");
	assert_null(oci_spec_env(spec, "EMPTY"));
	assert_int_equal(oci_spec_set_env(spec, "EMPTY", "", NULL), 0);
	assert_string_equal(oci_spec_env(spec, "EMPTY"), "");
}

TEST(oci_devices_are_added_once)
{
	const struct oci_device device = { "/dev/nvidia0", 'c', 195, 0, 0666, 0, 0, "rw" };
	const struct oci_device other = { "/dev/nvidia0", 'c', 195, 1, 0666, 0, 0, "rw" };
	autojson *spec = read_containerd();
	struct json_object *rules = json_get(spec, "linux.resources.devices");
	struct error error = ERROR_INIT;

	for (int i = 0; i < 3; i++)
		assert_int_equal(oci_spec_add_device(spec, &device, &error), 0);
	assert_int_equal(json_object_array_length(json_get(spec, "linux.devices")), 2);
	assert_int_equal(json_object_array_length(rules), 4);
	assert_int_equal(oci_spec_add_device(spec, &other, &error), -EEXIST);
	assert_non_null(strstr(error.message, "linux.devices[1]"));
	/* a rule that was taken back since is given again */
	autojson *deny = json_object_new_object();
	assert_int_equal(json_add_bool(deny, "allow", false), 0);
	assert_int_equal(json_append(rules, TAKE_PTR(deny)), 0);
	assert_int_equal(oci_spec_add_device(spec, &device, &error), 0);
	assert_int_equal(json_object_array_length(rules), 6);
	/* masks too */
	assert_int_equal(oci_spec_add_masked_path(spec, "/proc/kcore", &error), 0);
	assert_int_equal(json_object_array_length(json_get(spec, "linux.maskedPaths")), 2);
}

TEST(oci_edits_make_what_is_absent)
{
	static const char text[] = HEAD PROC "}";
	autojson *spec = NULL;

	assert_int_equal(oci_spec_parse(text, strlen(text), "t", &spec, NULL), 0);
	add_everything(spec);
	assert_int_equal(oci_spec_check(spec, "t", NULL), 0);
	assert_int_equal(json_object_array_length(json_get(spec, "linux.devices")), 1);
	assert_int_equal(json_object_array_length(json_get(spec, "linux.resources.devices")), 1);
}

static const char *const sleep_arguments[] = { "sleep", "1", NULL };

static struct oci_base plain_base(void)
{
	return (struct oci_base){ .root_path = "/r",
				  .arguments = sleep_arguments,
				  .working_directory = "/",
				  .namespaces = OCI_NAMESPACE_MOUNT | OCI_NAMESPACE_PID };
}

static struct json_object *make_base(const struct oci_base *base)
{
	struct json_object *spec = NULL;
	struct error error = ERROR_INIT;

	if (oci_spec_base(base, &spec, &error) < 0)
		fail_msg("%s", error.message);
	return spec;
}

static bool has_mount(struct json_object *spec, const char *destination, const char **ret_source)
{
	struct json_object *mounts = json_get(spec, "mounts");

	for (size_t i = 0; i < json_object_array_length(mounts); i++) {
		struct json_object *mount = json_object_array_get_idx(mounts, i);

		if (strcmp(json_get_string(mount, "destination", ""), destination) != 0)
			continue;
		if (ret_source)
			*ret_source = json_get_string(mount, "source", "");
		return true;
	}
	return false;
}

TEST(oci_base_gives_no_right)
{
	struct oci_base base = plain_base();
	autojson *spec = make_base(&base);
	struct json_object *capabilities = json_get(spec, "process.capabilities");

	assert_int_equal(json_object_object_length(capabilities), 5);
	json_object_object_foreach(capabilities, name, set)
	{
		(void)name;
		assert_int_equal(json_object_array_length(set), 0);
	}
	assert_true(json_object_get_boolean(json_get(spec, "process.noNewPrivileges")));
	check_last(spec, "linux.resources.devices", "{\"allow\":false,\"access\":\"rwm\"}");
	assert_int_equal(json_object_array_length(json_get(spec, "linux.resources.devices")), 1);
	assert_null(json_get(spec, "hooks"));
	assert_null(json_get(spec, "linux.devices"));
	assert_int_equal(json_object_array_length(json_get(spec, "linux.namespaces")), 2);
	assert_int_equal(json_object_array_length(json_get(spec, "linux.maskedPaths")), 10);
	assert_int_equal(json_object_array_length(json_get(spec, "linux.readonlyPaths")), 5);
	assert_false(has_mount(spec, "/sys", NULL));
	assert_true(has_mount(spec, "/proc", NULL));
}

TEST(oci_base_takes_every_field)
{
	static const char *const environment[] = { "A=b", "C=", NULL };
	static const unsigned groups[] = { 27, 4294967294u };
	struct oci_base base = plain_base();
	const char *source = NULL;

	base.environment = environment;
	base.namespaces = OCI_NAMESPACE_ALL;
	base.root_readonly = base.terminal = base.cgroup_mount = true;
	base.uid = 1000;
	base.gid = 100;
	base.groups = groups;
	base.group_count = 2;
	base.hostname = "h";
	base.cgroups_path = "/gpupool/x";
	base.rootfs_propagation = "rslave";
	base.shm_source = "/dev/shm";
	autojson *spec = make_base(&base);
	assert_string_equal(oci_spec_env(spec, "A"), "b");
	assert_true(json_object_get_boolean(json_get(spec, "root.readonly")));
	assert_true(json_object_get_boolean(json_get(spec, "process.terminal")));
	assert_int_equal(json_get_uint(spec, "process.user.uid", 0), 1000);
	assert_int_equal(json_get_uint(spec, "process.user.gid", 0), 100);
	check_last(spec, "process.user.additionalGids", "4294967294");
	assert_string_equal(json_get_string(spec, "hostname", ""), "h");
	assert_string_equal(json_get_string(spec, "linux.cgroupsPath", ""), "/gpupool/x");
	assert_string_equal(json_get_string(spec, "linux.rootfsPropagation", ""), "rslave");
	assert_int_equal(json_object_array_length(json_get(spec, "linux.namespaces")), 6);
	assert_true(has_mount(spec, "/dev/shm", &source));
	assert_string_equal(source, "/dev/shm");
	assert_true(has_mount(spec, "/sys", NULL));
	assert_true(has_mount(spec, "/sys/fs/cgroup", NULL));
}

TEST(oci_base_refuses_what_makes_no_container)
{
	static const char *const none[] = { NULL };
	struct oci_base rows[] = { plain_base(), plain_base(), plain_base(), plain_base(),
				   plain_base(), plain_base(), plain_base() };

	rows[0].root_path = "r";
	rows[1].arguments = none;
	rows[2].working_directory = "x";
	rows[3].namespaces = OCI_NAMESPACE_PID;
	rows[4].hostname = "h";
	rows[5].cgroup_mount = true;
	rows[6].root_path = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autojson *spec = NULL;
		struct error error = ERROR_INIT;

		assert_int_equal(oci_spec_base(&rows[i], &spec, &error), -EINVAL);
		assert_null(spec);
		assert_true(*error.message);
	}
}

/* Every allocation fails once: no leak, no crash, -ENOMEM. */
static int build_and_edit(struct error *error)
{
	const struct oci_mount mount = { "/a", "/b", "bind", "ro,rbind" };
	const struct oci_device device = { "/dev/x", 'c', 195, 0, 0666, 0, 0, "rw" };
	static const char *const environment[] = { "A=b", NULL };
	static const unsigned groups[] = { 27 };
	struct oci_base base = plain_base();
	autojson *spec = NULL;

	base.environment = environment;
	base.groups = groups;
	base.group_count = 1;
	base.namespaces = OCI_NAMESPACE_ALL;
	base.hostname = base.cgroups_path = "h";
	int r = oci_spec_base(&base, &spec, error);
	if (r == 0)
		r = oci_spec_set_env(spec, "A", "longer than what was there before, so it grows",
				     error);
	if (r == 0)
		r = oci_spec_set_env(spec, "B", "c", error);
	if (r == 0)
		r = oci_spec_add_mount(spec, &mount, error);
	if (r == 0)
		r = oci_spec_add_device(spec, &device, error);
	if (r == 0)
		r = oci_spec_add_masked_path(spec, "/proc/x", error);
	return r;
}

TEST(oci_survives_every_failed_allocation)
{
	unsigned n = 0;

	for (;; n++) {
		struct error error = ERROR_INIT;

		fault_arm(n);
		int r = build_and_edit(&error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_true(*error.message);
	}
	assert_true(n > 100);
}
