/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/formats.h"

#define ENTRIES_MAX 3

static size_t count_entries(const struct runtime_entry *entries)
{
	size_t count = 0;

	while (count < ENTRIES_MAX && entries[count].name)
		count++;
	return count;
}

#define R1 "/test/runtime/dir/runtime1"
#define R2 "/test/runtime/dir/runtime2"
#define OTHER                                                                           \
	"\"exec-opts\":[\"native.cgroupdriver=systemd\"],\"log-driver\":\"json-file\"," \
	"\"log-opts\":{\"max-size\":\"100m\"},\"storage-driver\":\"overlay2\""
#define ALL                                                                   \
	{                                                                     \
		{ "nvidia", "/d/nvidia-container-runtime" },                  \
			{ "nvidia-cdi", "/d/nvidia-container-runtime.cdi" },  \
		{                                                             \
			"nvidia-legacy", "/d/nvidia-container-runtime.legacy" \
		}                                                             \
	}
#define NAMED(name)                                                           \
	{                                                                     \
		{ name, "/d/nvidia-container-runtime" },                      \
			{ "nvidia-cdi", "/d/nvidia-container-runtime.cdi" },  \
		{                                                             \
			"nvidia-legacy", "/d/nvidia-container-runtime.legacy" \
		}                                                             \
	}
#define ENTRY(name, path) "\"" name "\":{\"path\":\"" path "\",\"args\":[]}"
#define REST                                                   \
	ENTRY("nvidia-cdi", "/d/nvidia-container-runtime.cdi") \
	"," ENTRY("nvidia-legacy", "/d/nvidia-container-runtime.legacy")

/*
 * Rows with "peer" restate cases of NVIDIA/nvidia-container-toolkit at d34b3046: pkg/config/engine/
 * docker/docker_test.go (TestUpdateConfigDefaultRuntime, TestUpdateConfigRuntimes) and
 * cmd/nvidia-ctk-installer/container/runtime/docker/docker_test.go (TestUpdateConfig,
 * TestUpdateConfigDefaultRuntime). The results are equal as objects; ours keep the order of the keys.
 */
static const struct edit_row {
	const char *name, *text;
	struct runtime_entry entries[ENTRIES_MAX];
	bool set_default, cdi;
	const char *result; /* on one line; NULL: no change */
} edit_rows[] = {
	{ "peer default 0: nothing is asked for", "{}", { { NULL } }, false, false, NULL },
	{ "peer default 1: becomes the default",
	  "{}",
	  { { "NAME", "/x" } },
	  true,
	  false,
	  "{\"runtimes\":{" ENTRY("NAME", "/x") "},\"default-runtime\":\"NAME\"}" },
	{ "peer default 2: the default that is set stays",
	  "{\"default-runtime\":\"ALREADY_SET\"}",
	  { { "NAME", "/x" } },
	  false,
	  false,
	  "{\"default-runtime\":\"ALREADY_SET\",\"runtimes\":{" ENTRY("NAME", "/x") "}}" },
	{ "peer default 3: the default that is set is replaced when asked",
	  "{\"default-runtime\":\"ALREADY_SET\"}",
	  { { "NAME", "/x" } },
	  true,
	  false,
	  "{\"default-runtime\":\"NAME\",\"runtimes\":{" ENTRY("NAME", "/x") "}}" },
	{ "peer runtimes 0: two new ones",
	  "{}",
	  { { "runtime1", R1 }, { "runtime2", R2 } },
	  false,
	  false,
	  "{\"runtimes\":{" ENTRY("runtime1", R1) "," ENTRY("runtime2", R2) "}}" },
	{ "peer runtimes 1: one gets its new path",
	  "{\"runtimes\":{" ENTRY("runtime1", "runtime1") "}}",
	  { { "runtime1", R1 }, { "runtime2", R2 } },
	  false,
	  false,
	  "{\"runtimes\":{" ENTRY("runtime1", R1) "," ENTRY("runtime2", R2) "}}" },
	{ "peer runtimes 2: others stay",
	  "{\"runtimes\":{" ENTRY("not-nvidia", "some-other-path") "}}",
	  { { "runtime1", R1 } },
	  false,
	  false,
	  "{\"runtimes\":{" ENTRY("not-nvidia", "some-other-path") "," ENTRY("runtime1", R1) "}}" },
	{ "peer runtimes 3: other keys stay",
	  "{" OTHER "}",
	  { { "runtime1", R1 } },
	  false,
	  false,
	  "{" OTHER ",\"runtimes\":{" ENTRY("runtime1", R1) "}}" },
	{ "peer runtimes 4: nothing is asked for",
	  "{" OTHER "}",
	  { { NULL } },
	  false,
	  false,
	  NULL },
	{ "peer installer 0: the three names", "{}", ALL, false, false,
	  "{\"runtimes\":{" ENTRY("nvidia", "/d/nvidia-container-runtime") "," REST "}}" },
	{ "peer installer 1: another name for the first", "{}", NAMED("NAME"), false, false,
	  "{\"runtimes\":{" ENTRY("NAME", "/d/nvidia-container-runtime") "," REST "}}" },
	{ "peer installer 2: a relative path becomes absolute",
	  "{\"runtimes\":{" ENTRY("nvidia", "nvidia-container-runtime") "}}", ALL, false, false,
	  "{\"runtimes\":{" ENTRY("nvidia", "/d/nvidia-container-runtime") "," REST "}}" },
	{ "peer installer 3: another runtime stays first",
	  "{\"runtimes\":{" ENTRY("not-nvidia", "some-other-path") "}}", ALL, false, false,
	  "{\"runtimes\":{" ENTRY("not-nvidia", "some-other-path") "," ENTRY(
		  "nvidia", "/d/nvidia-container-runtime") "," REST "}}" },
	{ "peer installer 4: runc is the default no longer", "{\"default-runtime\":\"runc\"}", ALL,
	  true, false,
	  "{\"default-runtime\":\"nvidia\",\"runtimes\":{" ENTRY(
		  "nvidia", "/d/nvidia-container-runtime") "," REST "}}" },
	{ "peer installer 5: other keys stay", "{" OTHER "}", ALL, false, false,
	  "{" OTHER ",\"runtimes\":{" ENTRY("nvidia", "/d/nvidia-container-runtime") "," REST
										     "}}" },
	/* The peer drops the other two: it expects a map of booleans where its JSON reader never makes one. */
	{ "CDI, and other features stay",
	  "{\"features\":{\"buildkit\":true,\"containerd-snapshotter\":false}}",
	  { { "nvidia", "/x" } },
	  false,
	  true,
	  "{\"features\":{\"buildkit\":true,\"containerd-snapshotter\":false,\"cdi\":true},"
	  "\"runtimes\":{" ENTRY("nvidia", "/x") "}}" },
	{ "CDI alone, on already",
	  "{\"features\":{\"cdi\":true}}",
	  { { NULL } },
	  false,
	  true,
	  NULL },
	{ "CDI alone, switched off",
	  "{\"features\":{\"cdi\":false}}",
	  { { NULL } },
	  false,
	  true,
	  "{\"features\":{\"cdi\":true}}" },
	{ "all is there, with arguments of its own",
	  "{\"runtimes\":{\"nvidia\":{\"path\":\"/x\",\"runtimeArgs\":[\"--debug\"]}}}",
	  { { "nvidia", "/x" } },
	  false,
	  false,
	  NULL },
	{ "no file",
	  NULL,
	  { { "nvidia", "/x" } },
	  false,
	  false,
	  "{\"runtimes\":{" ENTRY("nvidia", "/x") "}}" },
	{ "an empty file",
	  " \n",
	  { { "nvidia", "/x" } },
	  false,
	  false,
	  "{\"runtimes\":{" ENTRY("nvidia", "/x") "}}" },
	{ "numbers keep their texts",
	  "{\"mtu\":1450,\"max-download-attempts\":18446744073709551615,\"x\":1.10}",
	  { { "nvidia", "/x" } },
	  false,
	  false,
	  "{\"mtu\":1450,\"max-download-attempts\":18446744073709551615,\"x\":1.10,"
	  "\"runtimes\":{" ENTRY("nvidia", "/x") "}}" },
};

static char *one_line(const char *text)
{
	autostrbuf out = STRBUF_INIT(1 << 20);
	autojson *root = NULL;
	struct error error = ERROR_INIT;

	assert_int_equal(
		json_parse(text, strlen(text), "result", &json_limits_default, &root, &error), 0);
	assert_int_equal(json_to_text(root, false, &out, &error), 0);
	return strbuf_detach(&out);
}

static void check_edit(const struct edit_row *row)
{
	struct runtime_wish wish = { .entries = row->entries,
				     .count = count_entries(row->entries),
				     .set_default = row->set_default,
				     .cdi = row->cdi };
	autofree char *result = NULL, *again = NULL, *line = NULL;
	struct error error = ERROR_INIT;

	if (docker_edit(row->text, "daemon.json", &wish, &result, &error) < 0)
		fail_msg("%s: %s", row->name, error.message);
	if (!row->result) {
		assert_null(result);
		return;
	}
	assert_non_null(result);
	line = one_line(result);
	if (strcmp(line, row->result) != 0)
		fail_msg("%s: %s", row->name, line);
	assert_int_equal(docker_edit(result, "daemon.json", &wish, &again, &error), 0);
	assert_null(again);
}

TEST(edits)
{
	for (size_t i = 0; i < ARRAY_SIZE(edit_rows); i++)
		check_edit(&edit_rows[i]);
}

TEST(indentation_is_kept)
{
	static const struct runtime_entry entry = { "nvidia", "/x" };
	struct runtime_wish wish = { .entries = &entry, .count = 1 };
	autofree char *result = NULL;
	struct error error = ERROR_INIT;

	assert_int_equal(
		docker_edit("{\n\t\"debug\": true,\n\t\"hosts\": [\n\t\t\"fd://\"\n\t]\n}\n",
			    "daemon.json", &wish, &result, &error),
		0);
	assert_string_equal(result,
			    "{\n\t\"debug\": true,\n\t\"hosts\": [\n\t\t\"fd://\"\n\t],\n"
			    "\t\"runtimes\": {\n\t\t\"nvidia\": {\n\t\t\t\"path\": \"/x\",\n"
			    "\t\t\t\"args\": []\n\t\t}\n\t}\n}\n");
}

/* "peer": TestRevertConfig of the installer. Docker's own default is runc, so no word for it is left. */
TEST(removals)
{
	static const struct runtime_entry entries[] = ALL;
	static const struct {
		const char *name, *text, *result;
	} rows[] = {
		{ "peer revert 0: nothing is there", "{}", NULL },
		{ "peer revert 1: ours alone", "{\"runtimes\":{" ENTRY("nvidia", "/a") "}}", "" },
		{ "peer revert 2: all three", "{\"runtimes\":{" ENTRY("nvidia", "/a") "," REST "}}",
		  "" },
		{ "peer revert 3: ours was the default",
		  "{\"default-runtime\":\"nvidia\",\"runtimes\":{" ENTRY("nvidia", "/a") "}}", "" },
		{ "peer revert 4: another default stays",
		  "{\"default-runtime\":\"not-nvidia\",\"runtimes\":{" ENTRY(
			  "nvidia", "/a") "," ENTRY("not-nvidia", "b") "}}",
		  "{\"default-runtime\":\"not-nvidia\",\"runtimes\":{" ENTRY("not-nvidia",
									     "b") "}}" },
		{ "peer revert 5: other keys stay",
		  "{" OTHER ",\"runtimes\":{" ENTRY("nvidia", "/a") "}}", "{" OTHER "}" },
	};
	struct runtime_wish wish = { .entries = entries, .count = ARRAY_SIZE(entries) };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autofree char *result = NULL, *line = NULL;
		struct error error = ERROR_INIT;

		assert_int_equal(docker_remove(rows[i].text, "d", &wish, &result, &error), 0);
		if (!rows[i].result) {
			assert_null(result);
			continue;
		}
		assert_non_null(result);
		line = *result ? one_line(result) : strdup("");
		if (strcmp(line, rows[i].result) != 0)
			fail_msg("%s: %s", rows[i].name, line);
	}
}

TEST(errors_name_file_and_place)
{
	static const struct {
		const char *text, *sentence;
	} rows[] = {
		{ "[]", "daemon.json: this is no JSON object" },
		{ "{\n\"runtimes\": []}", "daemon.json: \"runtimes\" is no object" },
		{ "{\n\"features\": true}", "daemon.json: \"features\" is no object" },
		{ "{\"a\": }", "daemon.json:1:7" },
		{ "{\"a\": 1, \"a\": 2}", "daemon.json:1:" },
		{ "null", "no JSON object" },
	};
	static const struct runtime_entry entry = { "nvidia", "/x" };
	struct runtime_wish wish = { .entries = &entry, .count = 1 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autofree char *result = NULL;
		struct error error = ERROR_INIT;

		assert_int_equal(docker_edit(rows[i].text, "daemon.json", &wish, &result, &error),
				 -EINVAL);
		if (!strstr(error.message, rows[i].sentence))
			fail_msg("%s", error.message);
	}
}

TEST(facts)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	struct error error = ERROR_INIT;

	/* The first is the peer's TestGetRuntimeConfig. */
	assert_int_equal(
		docker_read("{\"runtimes\":{\"nvidia\":{\"path\":\"nvidia-container-runtime\","
			    "\"args\":[]},\"x\":{\"runtimeType\":\"io.containerd.runsc.v1\"}},"
			    "\"default-runtime\":\"nvidia\",\"features\":{\"cdi\":true}}",
			    "d", &facts, &error),
		0);
	assert_string_equal(runtime_facts_find(&facts, "nvidia")->path, "nvidia-container-runtime");
	assert_null(runtime_facts_find(&facts, "some-other-runtime"));
	assert_null(runtime_facts_find(&facts, "x")->path);
	assert_string_equal(facts.default_name, "nvidia");
	assert_int_equal(facts.cdi, RUNTIME_CDI_ON);
}

TEST(edit_survives_every_failed_allocation)
{
	static const struct runtime_entry entry = { "nvidia", "/x" };
	struct runtime_wish wish = {
		.entries = &entry, .count = 1, .set_default = true, .cdi = true
	};

	for (unsigned n = 0;; n++) {
		autofree char *result = NULL;
		struct error error = ERROR_INIT;

		fault_arm(n);
		int r = docker_edit("{\"runtimes\":{\"a\":{\"path\":\"b\"}},\"x\":1.5}", "d", &wish,
				    &result, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(result);
	}
}
