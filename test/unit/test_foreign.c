/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"
#include "inject/inject.h"

/* A container's root and a directory of CDI specs, both below one of the test's own. */
struct world {
	char path[64], specs[96], file[128];
	int root;
	struct string_list directories;
};

static void world_make(struct world *world, const char *cdi)
{
	struct error error = ERROR_INIT;
	char root[96];

	*world = (struct world){ .root = -1 };
	snprintf(world->path, sizeof(world->path), "/tmp/gpupool-test-XXXXXX");
	assert_non_null(mkdtemp(world->path));
	snprintf(world->specs, sizeof(world->specs), "%s/cdi", world->path);
	snprintf(world->file, sizeof(world->file), "%s/a.json", world->specs);
	snprintf(root, sizeof(root), "%s/root", world->path);
	assert_int_equal(mkdir(world->specs, 0755), 0);
	assert_int_equal(mkdir(root, 0755), 0);
	world->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (file_write_atomic(world->file, cdi, strlen(cdi), 0644, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(string_list_add(&world->directories, world->specs), 0);
}

static void world_remove(struct world *world)
{
	unlinkat(world->root, "dev", 0);
	close(world->root);
	unlink(world->file);
	string_list_release(&world->directories);
	assert_int_equal(rmdir(world->specs), 0);
	char root[96];
	snprintf(root, sizeof(root), "%s/root", world->path);
	assert_int_equal(rmdir(root), 0);
	assert_int_equal(rmdir(world->path), 0);
}

#define SPEC(mounts)                                                                         \
	"{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"},\"process\":{\"args\":[\"a\"]," \
	"\"cwd\":\"/\"},\"mounts\":[" mounts "]}"
#define CDI(device)                                                                        \
	"{\"cdiVersion\":\"0.5.0\",\"kind\":\"acme.org/nic\",\"containerEdits\":{\"env\":" \
	"[\"COMMON=1\"],\"mounts\":[{\"hostPath\":\"/c\",\"containerPath\":\"/opt/c\"}]}," \
	"\"devices\":[{\"name\":\"a\",\"containerEdits\":{" device "}},"                   \
	"{\"name\":\"b\",\"containerEdits\":{\"env\":[\"B=1\"]}}]}"
#define NODE                                                                                  \
	"\"deviceNodes\":[{\"path\":\"/dev/acme0\",\"type\":\"c\",\"major\":240,\"minor\":3," \
	"\"permissions\":\"rw\"}]"

static const struct {
	const char *cdi, *mounts, *names, *link; /* link: /dev of the root leads there */
	int result;
	enum reason_code code;
	const char *text; /* of the mistake, or of the spec afterwards */
} rows[] = {
	{ CDI(NODE), SPEC(""), "acme.org/nic=a", NULL, 0, REASON_NONE,
	  "\"path\":\"/dev/acme0\",\"type\":\"c\",\"major\":240,\"minor\":3" },
	/* What all devices of a file share is there once. */
	{ CDI(NODE), SPEC(""), "acme.org/nic=a acme.org/nic=b", NULL, 0, REASON_NONE,
	  "\"env\":[\"COMMON=1\",\"B=1\"]" },
	{ CDI(NODE), SPEC(""), "acme.org/nic=c", NULL, -ENODEV, REASON_CDI_UNRESOLVED,
	  "asks for the CDI device acme.org/nic=c, which no spec file in /tmp/" },
	{ CDI(NODE), SPEC(""), "acme.org/nic=a", "/tmp", -EPERM, REASON_BAD_ROOT,
	  "/dev is a link" },
	{ CDI(NODE), SPEC("{\"destination\":\"/dev\",\"source\":\"/x\",\"type\":\"bind\"}"),
	  "acme.org/nic=a", NULL, -EPERM, REASON_BAD_MOUNT,
	  "/dev, where a CDI device wants /dev/acme0" },
	{ CDI(NODE), SPEC("{\"destination\":\"/opt\",\"source\":\"/x\",\"type\":\"bind\"}"),
	  "acme.org/nic=a", NULL, -EPERM, REASON_BAD_MOUNT,
	  "/opt, where a CDI device wants /opt/c" },
	{ CDI("\"hooks\":[{\"hookName\":\"createContainer\",\"path\":\"/x\"}]"), SPEC(""),
	  "acme.org/nic=a", NULL, -EPERM, REASON_NONE, "hook" },
};

static void add_names(struct string_list *list, const char *names)
{
	for (const char *at = names; *at;) {
		size_t length = strcspn(at, " ");
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		assert_int_equal(string_list_add(list, name), 0);
		at += length + (at[length] == ' ');
	}
}

TEST(foreign_devices_are_added_under_our_own_rules)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world world;
		struct string_list names = { 0 }, notes = { 0 };
		struct reason reason = { 0 };
		struct error error = ERROR_INIT;
		autojson *spec = NULL;
		autostrbuf text = STRBUF_INIT(8192);

		world_make(&world, rows[i].cdi);
		if (rows[i].link)
			assert_int_equal(symlinkat(rows[i].link, world.root, "dev"), 0);
		add_names(&names, rows[i].names);
		assert_int_equal(oci_spec_parse(rows[i].mounts, strlen(rows[i].mounts), "spec",
						&spec, &error),
				 0);
		int r = foreign_devices_apply(&names, &world.directories, world.root, spec, &notes,
					      &reason, &error);
		if (r == 0)
			assert_int_equal(json_to_text(spec, false, &text, NULL), 0);
		if (r != rows[i].result || reason.code != rows[i].code ||
		    !strstr(r < 0 ? error.message : text.data, rows[i].text))
			fail_msg("row %zu: %d %s \"%s\" %s", i, r, reason_name(reason.code),
				 error.message, text.data);
		assert_int_equal(notes.count, 0);
		string_list_release(&names);
		string_list_release(&notes);
		world_remove(&world);
	}
}
