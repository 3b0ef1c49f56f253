/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases of NVIDIA/nvidia-container-toolkit, pkg/config/engine/containerd, restated: TestAddRuntimeV1 of
 * config_v1_test.go, TestAddRuntime of config_v2_test.go, TestEnsureImports of config_drop_in_test.go. There
 * a runtime "test" with the program /usr/bin/test is added. What is answered differently on purpose:
 *   - keys with containerd's own default (privileged_without_host_devices = false, empty texts) are not written;
 *   - settings are taken from a runtime of runc's kind only, so its type is that here and not "type";
 *   - those of the default runtime count before those of runc (there, too, in its newer cases).
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "formats/formats.h"

#define V1     "plugins.cri"
#define V2     "plugins.\"io.containerd.grpc.v1.cri\""
#define RUNC_V "io.containerd.runc.v2"

#define RUNTIME(cri, name, flag, word)                                                    \
	"[" cri ".containerd.runtimes." name "]\nprivileged_without_host_devices = " flag \
	"\nruntime_engine = \"" word "engine\"\nruntime_root = \"" word                   \
	"root\"\nruntime_type = \"" RUNC_V "\"\n"
#define RUNTIME_OPTIONS(cri, name, flag)                                                \
	"[" cri ".containerd.runtimes." name ".options]\nBinaryName = \"/usr/bin/" name \
	"\"\nSystemdCgroup = " flag "\n"

static const struct {
	const char *name, *text;
	const char *cri[3]; /* where the section is */
	unsigned version;   /* of a new file */
	const char *added;  /* the runtime "test" as it is then */
} rows[] = {
	{ "v1: empty config not default runtime",
	  NULL,
	  { "plugins", "cri" },
	  1,
	  "runtime_type = \"" RUNC_V "\"\n\n[options]\nBinaryName = \"/usr/bin/test\"\n"
	  "Runtime = \"/usr/bin/test\"\n" },
	{ "v1: options from runc are imported",
	  RUNTIME(V1, "runc", "true", "") RUNTIME_OPTIONS(V1, "runc", "true"),
	  { "plugins", "cri" },
	  1,
	  "privileged_without_host_devices = true\nruntime_engine = \"engine\"\n"
	  "runtime_root = \"root\"\nruntime_type = \"" RUNC_V "\"\n\n[options]\n"
	  "SystemdCgroup = true\nBinaryName = \"/usr/bin/test\"\nRuntime = \"/usr/bin/test\"\n" },
	{ "v1: options from default runtime are imported",
	  "[" V1 ".containerd]\ndefault_runtime_name = \"default\"\n" RUNTIME(
		  V1, "default", "true", "") RUNTIME_OPTIONS(V1, "default", "true"),
	  { "plugins", "cri" },
	  1,
	  "privileged_without_host_devices = true\nruntime_engine = \"engine\"\n"
	  "runtime_root = \"root\"\nruntime_type = \"" RUNC_V "\"\n\n[options]\n"
	  "SystemdCgroup = true\nBinaryName = \"/usr/bin/test\"\nRuntime = \"/usr/bin/test\"\n" },
	/* there "options from runc take precedence over default runtime" */
	{ "v1: options from default runtime take precedence over runc",
	  "[" V1
	  ".containerd]\ndefault_runtime_name = \"default\"\n" RUNTIME(V1, "runc", "true", "")
		  RUNTIME_OPTIONS(V1, "runc", "true") RUNTIME(V1, "default", "false", "default")
			  RUNTIME_OPTIONS(V1, "default", "false"),
	  { "plugins", "cri" },
	  1,
	  "privileged_without_host_devices = false\nruntime_engine = \"defaultengine\"\n"
	  "runtime_root = \"defaultroot\"\nruntime_type = \"" RUNC_V "\"\n\n[options]\n"
	  "SystemdCgroup = false\nBinaryName = \"/usr/bin/test\"\nRuntime = \"/usr/bin/test\"\n" },
	{ "v2: empty config not default runtime",
	  NULL,
	  { "plugins", "io.containerd.grpc.v1.cri" },
	  2,
	  "runtime_type = \"" RUNC_V "\"\n\n[options]\nBinaryName = \"/usr/bin/test\"\n" },
	/* There "with overrides": SystemdCgroup is asked for by an option of its own. Here it comes from runc. */
	{ "v2: the option SystemdCgroup",
	  "version = 2\n" RUNTIME(V2, "runc", "false", "") RUNTIME_OPTIONS(V2, "runc", "true"),
	  { "plugins", "io.containerd.grpc.v1.cri" },
	  2,
	  "privileged_without_host_devices = false\nruntime_engine = \"engine\"\n"
	  "runtime_root = \"root\"\nruntime_type = \"" RUNC_V "\"\n\n[options]\n"
	  "SystemdCgroup = true\nBinaryName = \"/usr/bin/test\"\n" },
};

/* The text of the runtime "test" in TEXT. */
static char *runtime_of(const char *text, const char *const *cri)
{
	static const char *const no_prefix[] = { NULL };
	const char *const keys[] = { cri[0], cri[1], "containerd", "runtimes", "test", NULL };
	autostrbuf out = STRBUF_INIT(65536);
	struct error error = ERROR_INIT;
	autotoml *toml = NULL;

	if (toml_parse(text, strlen(text), "result", &toml, &error) < 0)
		fail_msg("%s", error.message);
	const struct toml_value *runtime = toml_get(toml_root(toml), keys);
	assert_non_null(runtime);
	assert_int_equal(toml_print(runtime, no_prefix, &out), 0);
	return strbuf_detach(&out);
}

TEST(a_runtime_is_added)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char path[] = "/etc/containerd/config.toml",
		     *before = (char *)(uintptr_t)rows[i].text;
		struct config_file file = { .path = path, .text = before };
		const struct config_files files = { .items = &file, .count = 1 };
		const struct runtime_entry entry = { "test", "/usr/bin/test" };
		const struct containerd_wish wish = { .common = { .entries = &entry, .count = 1 },
						      .new_version = rows[i].version };
		struct error error = ERROR_INIT;
		autofree char *after = NULL;

		if (containerd_edit(&files, 0, &wish, &after, &error) < 0)
			fail_msg("%s: %s", rows[i].name, error.message);
		assert_non_null(after);
		autofree char *added = runtime_of(after, rows[i].cri);
		if (strcmp(added, rows[i].added) != 0)
			fail_msg("%s:\n%s", rows[i].name, added);
		/* What was there still is, byte by byte. */
		assert_true(!before || strncmp(after, before, strlen(before)) == 0);
	}
}

TEST(an_import_is_added_to_those_that_are_there)
{
	static const struct {
		const char *before, *after;
	} imports[] = {
		{ NULL, "version = 2\nimports = [\"/another/path/*.toml\"]\n" },
		{ "version = 2\nimports = [\"/foo/bar/*.toml\"]\n",
		  "version = 2\nimports = [\"/foo/bar/*.toml\", \"/another/path/*.toml\"]\n" },
		/* there: never a second time */
		{ "version = 2\nimports = [\"/another/path/*.toml\"]\n",
		  "version = 2\nimports = [\"/another/path/*.toml\"]\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(imports); i++) {
		struct error error = ERROR_INIT;
		autofree char *after = NULL;

		if (containerd_add_import(imports[i].before, "/etc/containerd/config.toml",
					  "/another/path/*.toml", 2, &after, &error) < 0)
			fail_msg("%s", error.message);
		assert_string_equal(after, imports[i].after);
	}
}
