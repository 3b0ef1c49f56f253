/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"

#define SPEC                                                                                 \
	"{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"},\"process\":{\"args\":[\"a\"]," \
	"\"cwd\":\"/\"},\"z\":18446744073709551615,\"a\":1.50}"

struct bundle {
	char path[64];
	int fd;
};

static void bundle_make(struct bundle *bundle, const char *text)
{
	snprintf(bundle->path, sizeof(bundle->path), "/tmp/gpupool-test-XXXXXX");
	assert_non_null(mkdtemp(bundle->path));
	bundle->fd = open(bundle->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(bundle->fd >= 0);
	if (!text)
		return;
	autoclose int fd = openat(bundle->fd, "config.json", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* Whatever a failed write left behind would keep the directory from going. */
static void bundle_remove(const struct bundle *bundle)
{
	unlinkat(bundle->fd, "config.json", 0);
	unlinkat(bundle->fd, "other", 0);
	close(bundle->fd);
	assert_int_equal(rmdir(bundle->path), 0);
}

static void read_back(const struct bundle *bundle, char *ret, size_t size, struct stat *status)
{
	autoclose int fd = openat(bundle->fd, "config.json", O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, ret, size - 1);

	assert_true(got >= 0);
	ret[got] = '\0';
	assert_int_equal(fstat(fd, status), 0);
}

TEST(bundle_is_replaced_with_mode_and_owner_kept)
{
	struct bundle bundle;
	struct stat before, after;
	struct error error = ERROR_INIT;
	autojson *spec = NULL;
	char text[512];

	bundle_make(&bundle, SPEC);
	assert_int_equal(fchmodat(bundle.fd, "config.json", 0640, 0), 0);
	if (geteuid() == 0)
		assert_int_equal(fchownat(bundle.fd, "config.json", 12, 34, 0), 0);
	if (oci_spec_load(bundle.fd, "config.json", &spec, &before, &error) < 0 ||
	    oci_spec_set_env(spec, "A", "b", &error) < 0 ||
	    oci_spec_replace(bundle.fd, "config.json", spec, &before, &error) < 0)
		fail_msg("%s", error.message);
	read_back(&bundle, text, sizeof(text), &after);
	assert_string_equal(
		text, "{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"},\"process\":{\"args\":"
		      "[\"a\"],\"cwd\":\"/\",\"env\":[\"A=b\"]},\"z\":18446744073709551615,\"a\":"
		      "1.50}");
	assert_int_equal(after.st_mode & 07777, 0640);
	assert_int_equal(after.st_uid, before.st_uid);
	assert_int_equal(after.st_gid, before.st_gid);
	bundle_remove(&bundle);
}

/* What stands at the name instead of the file that was read. */
TEST(bundle_is_not_replaced_when_it_changed_meanwhile)
{
	static const char *const kinds[] = { "link", "another file", "nothing" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct bundle bundle;
		struct stat status;
		struct error error = ERROR_INIT;
		autojson *spec = NULL;

		bundle_make(&bundle, SPEC);
		assert_int_equal(oci_spec_load(bundle.fd, "config.json", &spec, &status, &error),
				 0);
		assert_int_equal(renameat(bundle.fd, "config.json", bundle.fd, "other"), 0);
		if (i == 0)
			assert_int_equal(symlinkat("other", bundle.fd, "config.json"), 0);
		if (i == 1)
			close(openat(bundle.fd, "config.json", O_WRONLY | O_CREAT | O_CLOEXEC,
				     0600));
		int r = oci_spec_replace(bundle.fd, "config.json", spec, &status, &error);
		if (r != (i == 2 ? -ENOENT : -ESTALE) || !strstr(error.message, "config.json"))
			fail_msg("%s: %d \"%s\"", kinds[i], r, error.message);
		bundle_remove(&bundle);
	}
}

static const struct {
	const char *text, *message;
} load_rows[] = {
	{ "{\"a\\u0000b\":1}", "config.json:1:4: a NUL character" },
	{ "{\"a\":18446744073709551616}", "out of range" },
	{ "{", "cut off" },
	{ NULL, "cannot read config.json of the bundle" },
};

TEST(bundle_errors_name_the_file)
{
	for (size_t i = 0; i < ARRAY_SIZE(load_rows); i++) {
		struct bundle bundle;
		struct stat status;
		struct error error = ERROR_INIT;
		autojson *spec = NULL;

		bundle_make(&bundle, load_rows[i].text);
		int r = oci_spec_load(bundle.fd, "config.json", &spec, &status, &error);
		if (r >= 0 || !strstr(error.message, load_rows[i].message))
			fail_msg("row %zu: %d \"%s\"", i, r, error.message);
		assert_null(spec);
		bundle_remove(&bundle);
	}
}

/* No process and an odd version are for the runtime to refuse; a FIFO would never end. */
TEST(bundle_reads_what_it_need_not_understand_and_no_pipe)
{
	struct bundle bundle;
	struct stat status;
	struct error error = ERROR_INIT;
	autojson *spec = NULL;

	bundle_make(&bundle, "{\"ociVersion\":\"9\"}");
	assert_int_equal(oci_spec_load(bundle.fd, "config.json", &spec, &status, &error), 0);
	bundle_remove(&bundle);
	bundle_make(&bundle, NULL);
	assert_int_equal(mkfifoat(bundle.fd, "config.json", 0600), 0);
	json_object_put(spec);
	spec = NULL;
	assert_int_equal(oci_spec_load(bundle.fd, "config.json", &spec, &status, &error), -EINVAL);
	assert_non_null(strstr(error.message, "no regular file"));
	bundle_remove(&bundle);
}

TEST(bundle_survives_every_failed_call)
{
	static const struct {
		enum fault_call call;
		int number;
	} rows[] = { { FAULT_MEMORY, ENOMEM },
		     { FAULT_READ, EIO },
		     { FAULT_WRITE, ENOSPC },
		     { FAULT_RENAME, EIO } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (unsigned n = 0;; n++) {
			struct bundle bundle;
			struct stat status;
			struct error error = ERROR_INIT;
			autojson *spec = NULL;
			char text[512];

			bundle_make(&bundle, SPEC);
			fault_arm_call(rows[i].call, n, rows[i].number);
			int r = oci_spec_load(bundle.fd, "config.json", &spec, &status, &error);
			if (r == 0)
				r = oci_spec_replace(bundle.fd, "config.json", spec, &status,
						     &error);
			bool hit = fault_disarm();
			read_back(&bundle, text, sizeof(text), &status);
			assert_string_equal(text, SPEC);
			bundle_remove(&bundle);
			assert_int_equal(r, hit ? -rows[i].number : 0);
			if (!hit) {
				assert_true(n > 0);
				break;
			}
		}
	}
}

static struct json_object *parse(const char *text)
{
	struct json_object *spec = NULL;
	struct error error = ERROR_INIT;

	if (json_parse(text, strlen(text), "spec", NULL, &spec, &error) < 0)
		fail_msg("%s", error.message);
	return spec;
}

TEST(bundle_hooks_of_one_program_are_removed)
{
	static const struct {
		const char *text, *after;
		unsigned removed;
	} rows[] = {
		{ "{}", "{}", 0 },
		{ "{\"hooks\":null}", "{\"hooks\":null}", 0 },
		{ "{\"hooks\":[]}", "{\"hooks\":[]}", 0 },
		{ "{\"hooks\":{\"prestart\":{}}}", "{\"hooks\":{\"prestart\":{}}}", 0 },
		{ "{\"hooks\":{\"prestart\":[{\"path\":\"/usr/bin/old\"},{\"path\":\"/x/"
		  "older\"},7]}}",
		  "{\"hooks\":{\"prestart\":[{\"path\":\"/x/older\"},7]}}", 1 },
		{ "{\"hooks\":{\"prestart\":[{\"path\":\"old\"},{\"path\":\"/old\"}],"
		  "\"createRuntime\":[{\"path\":\"/a/old\"}],\"poststop\":[{\"path\":\"/old/"
		  "b\"}]}}",
		  "{\"hooks\":{\"prestart\":[],\"createRuntime\":[],\"poststop\":[{\"path\":"
		  "\"/old/b\"}]}}",
		  3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autojson *spec = parse(rows[i].text);
		autostrbuf text = STRBUF_INIT(4096);

		assert_int_equal(oci_spec_remove_hooks(spec, "old"), rows[i].removed);
		assert_int_equal(json_to_text(spec, false, &text, NULL), 0);
		assert_string_equal(text.data, rows[i].after);
	}
}

#define POD_CGROUP(path) "{\"linux\":{\"cgroupsPath\":\"" path "\"}}"

TEST(bundle_facts_are_read_from_what_is_there)
{
	static const struct {
		const char *text;
		bool privileged, user;
		enum oci_manager manager;
	} rows[] = {
		{ "{}", false, false, OCI_MANAGER_NONE },
		{ "{\"process\":[],\"linux\":1,\"annotations\":[]}", false, false,
		  OCI_MANAGER_NONE },
		{ "{\"process\":{\"capabilities\":{\"bounding\":[\"CAP_SYS_ADMIN\"]}}}", true,
		  false, OCI_MANAGER_NONE },
		{ "{\"process\":{\"capabilities\":{\"effective\":[\"CAP_SYS_ADMIN\"],"
		  "\"bounding\":[\"CAP_CHOWN\",1]}}}",
		  false, false, OCI_MANAGER_NONE },
		{ "{\"linux\":{\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"user\"}]}}", false,
		  true, OCI_MANAGER_NONE },
		{ "{\"annotations\":{\"io.kubernetes.cri.container-type\":\"container\"}}", false,
		  false, OCI_MANAGER_CONTAINER },
		{ "{\"annotations\":{\"io.kubernetes.cri.container-type\":\"sandbox\"}}", false,
		  false, OCI_MANAGER_SANDBOX },
		{ "{\"annotations\":{\"io.kubernetes.cri-o.ContainerType\":\"sandbox\"}}", false,
		  false, OCI_MANAGER_SANDBOX },
		{ "{\"annotations\":{\"io.kubernetes.cri-o.ContainerType\":\"other\"}}", false,
		  false, OCI_MANAGER_CONTAINER },
		{ "{\"annotations\":{\"io.kubernetes.cri.container-type\":1}}", false, false,
		  OCI_MANAGER_NONE },
		{ POD_CGROUP("/kubepods/burstable/pod12/ab"), false, false, OCI_MANAGER_CONTAINER },
		{ POD_CGROUP("/kubepods/pod12/ab"), false, false, OCI_MANAGER_CONTAINER },
		{ POD_CGROUP("/nodes/kubepods/pod12/ab"), false, false, OCI_MANAGER_CONTAINER },
		{ POD_CGROUP("kubepods.slice:docker:ab"), false, false, OCI_MANAGER_CONTAINER },
		{ POD_CGROUP("kubepods-besteffort-pod12.slice:docker:ab"), false, false,
		  OCI_MANAGER_CONTAINER },
		{ POD_CGROUP("nodes-kubepods-pod12.slice:docker:ab"), false, false,
		  OCI_MANAGER_CONTAINER },
		{ POD_CGROUP("/docker/kubepodsx"), false, false, OCI_MANAGER_NONE },
		{ POD_CGROUP("/docker/mykubepods/x"), false, false, OCI_MANAGER_NONE },
		{ POD_CGROUP("system.slice:docker:ab"), false, false, OCI_MANAGER_NONE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autojson *spec = parse(rows[i].text);

		assert_int_equal(oci_spec_is_privileged(spec), rows[i].privileged);
		assert_int_equal(oci_spec_has_user_namespace(spec), rows[i].user);
		assert_int_equal(oci_spec_kubernetes(spec), rows[i].manager);
	}
	assert_null(oci_spec_annotation(NULL, "a"));
}
