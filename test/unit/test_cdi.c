/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "formats/formats.h"

#define SPEC(version, rest) "{\"cdiVersion\":\"" version "\",\"kind\":\"a.b/c\"," rest "}"
#define NODE                "{\"deviceNodes\":[{\"path\":\"/dev/x\"}]}"
#define DEVICE(edits)       "\"devices\":[{\"name\":\"d\",\"containerEdits\":" edits "}]"
#define COMMON(edits)       DEVICE(NODE) ",\"containerEdits\":" edits
#define EDITS(edits)        SPEC("1.1.0", COMMON("{" edits "}"))
#define OF_NODE(fields)     EDITS("\"deviceNodes\":[{\"path\":\"/dev/x\"," fields "}]")

/* What the CDI library takes and refuses: pkg/cdi/{spec,device,container-edits}.go, pkg/parser. */
static const struct {
	const char *text, *message; /* part of it; NULL: accepted */
} check_rows[] = {
	{ SPEC("0.3.0", DEVICE(NODE)), NULL },
	{ SPEC("v0.3.0", DEVICE(NODE)), NULL },
	{ SPEC("0.3.0", "\"annotations\":null," DEVICE(NODE)), NULL },
	{ "null", "is no CDI spec" },
	{ "[]", "is no CDI spec" },
	{ "{}", "has no cdiVersion" },
	{ "", "bad.json" },
	{ "{\"cdiVersion\":1}", "cdiVersion must be a string" },
	{ SPEC("0.9.0", DEVICE(NODE)), "has cdiVersion \"0.9.0\"; 1.1.0 is the newest" },
	{ SPEC("", DEVICE(NODE)), "has cdiVersion \"\"" },
	{ SPEC("0.3.0", DEVICE(NODE) ",\"colour\":1"), "has the field \"colour\"" },
	{ SPEC("0.3.0", "\"containerEdits\":{}"), "has no devices" },
	{ SPEC("0.3.0", "\"devices\":[]"), "has no devices; a spec needs at least one" },
	{ SPEC("0.3.0", "\"devices\":{}"), "devices must be a list of objects" },
	{ SPEC("0.3.0", "\"devices\":[1]"), "devices[0] must be an object" },
	{ SPEC("0.3.0", "\"devices\":[null]"), "devices[0] must be an object" },
	{ SPEC("0.3.0", "\"devices\":[{\"name\":\"d\"}]"), "devices[0] has no containerEdits" },
	{ SPEC("0.3.0", DEVICE("{}")), "without an edit" },
	{ SPEC("0.3.0", DEVICE("{\"env\":[],\"mounts\":null}")), "without an edit" },
	{ SPEC("0.3.0", DEVICE("{\"envs\":[]}")), "devices[0].containerEdits has the field" },
	{ "{\"cdiVersion\":\"0.3.0\",\"kind\":\"ab\"," DEVICE(NODE) "}", "has kind \"ab\"" },
	{ "{\"cdiVersion\":\"0.3.0\",\"kind\":\"/b\"," DEVICE(NODE) "}", "has kind" },
	{ "{\"cdiVersion\":\"0.3.0\",\"kind\":\"1a/b\"," DEVICE(NODE) "}", "has kind" },
	{ "{\"cdiVersion\":\"0.3.0\",\"kind\":\"a-/b\"," DEVICE(NODE) "}", "has kind" },
	{ "{\"cdiVersion\":\"0.3.0\",\"kind\":\"a/b/c\"," DEVICE(NODE) "}", "has kind" },
	{ SPEC("0.5.0", "\"devices\":[{\"name\":\"a:b\",\"containerEdits\":" NODE "}]"), NULL },
	{ SPEC("0.5.0", "\"devices\":[{\"name\":\"a:\",\"containerEdits\":" NODE "}]"),
	  "devices[0] has name \"a:\"" },
	{ SPEC("0.5.0", "\"devices\":[{\"name\":\"\",\"containerEdits\":" NODE "}]"), "has name" },
	{ SPEC("0.5.0", "\"devices\":[{\"name\":\"a\",\"containerEdits\":" NODE
			"},{\"name\":\"a\",\"containerEdits\":" NODE "}]"),
	  "has two devices \"a\"" },
	/* a field that the version does not have */
	{ SPEC("0.4.0", "\"devices\":[{\"name\":\"0\",\"containerEdits\":" NODE "}]"),
	  "has cdiVersion 0.4.0, and a field of it needs 0.5.0" },
	{ SPEC("0.6.0", COMMON("{\"additionalGids\":[1]}")), "needs 0.7.0" },
	{ SPEC("1.0.0", COMMON("{\"netDevices\":[{\"hostInterfaceName\":\"a\",\"name\":\"b\"}]}")),
	  "needs 1.1.0" },
	/* variables */
	{ EDITS("\"env\":[\"A=\"]"), NULL },
	{ EDITS("\"env\":[\"A\"]"), "containerEdits has env[0] \"A\"; it must be NAME=value" },
	{ EDITS("\"env\":[\"=a\"]"), "must be NAME=value" },
	{ EDITS("\"env\":[1]"), "containerEdits.env[0] must be a string" },
	{ EDITS("\"env\":\"A=b\""), "containerEdits.env must be a list of strings" },
	/* devices */
	{ OF_NODE("\"type\":\"c\",\"major\":195,\"minor\":0,\"permissions\":\"rw\""), NULL },
	{ OF_NODE("\"permissions\":\"none\""), NULL },
	{ OF_NODE("\"permissions\":\"rx\""), "deviceNodes[0] has permissions \"rx\"" },
	{ OF_NODE("\"type\":\"d\""), "has type \"d\"" },
	{ OF_NODE("\"type\":\"cc\""), "has type" },
	{ OF_NODE("\"major\":-1"), "major must be a number that is not negative" },
	{ OF_NODE("\"major\":1.5"), "major must be" },
	{ OF_NODE("\"minor\":18446744073709551615"), "minor must be" },
	{ OF_NODE("\"uid\":4294967296"), "uid must be a number of 32 bits" },
	{ OF_NODE("\"uid\":4294967295"), NULL },
	{ OF_NODE("\"colour\":1"), "containerEdits.deviceNodes[0] has the field" },
	{ EDITS("\"deviceNodes\":[{}]"), "deviceNodes[0] has no path" },
	{ EDITS("\"deviceNodes\":[{\"path\":\"\"}]"), "has an empty path" },
	/* mounts */
	{ EDITS("\"mounts\":[{\"hostPath\":\"/a\",\"containerPath\":\"/b\",\"type\":\"x\"}]"),
	  NULL },
	{ EDITS("\"mounts\":[{\"hostPath\":\"/a\"}]"), "mounts[0] has no containerPath" },
	{ EDITS("\"mounts\":[{\"hostPath\":\"\",\"containerPath\":\"/b\"}]"), "needs a hostPath" },
	{ EDITS("\"mounts\":[{\"hostPath\":\"/a\",\"containerPath\":\"/b\",\"options\":\"ro\"}]"),
	  "options must be a list" },
	/* the rest */
	{ EDITS("\"hooks\":[{\"hookName\":\"createContainer\",\"path\":\"/a\",\"timeout\":5}]"),
	  NULL },
	{ EDITS("\"hooks\":[{\"hookName\":\"create\",\"path\":\"/a\"}]"), "has hookName" },
	{ EDITS("\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"\"}]"), "has an empty path" },
	{ EDITS("\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/a\",\"env\":[\"A\"]}]"),
	  "hooks[0] has env[0]" },
	{ EDITS("\"intelRdt\":{\"closID\":\"a/b\"}"), "intelRdt has a closID" },
	{ EDITS("\"intelRdt\":{\"closID\":\"/\",\"enableMonitoring\":true}"), NULL },
	{ EDITS("\"intelRdt\":{\"enableMonitoring\":1}"), "must be true or false" },
	{ EDITS("\"netDevices\":[{\"hostInterfaceName\":\"\",\"name\":\"b\"}]"), "needs a host" },
	{ EDITS("\"additionalGids\":[-1]"), "additionalGids[0] must be" },
	{ SPEC("0.6.0", "\"annotations\":{\"A.b/c_d\":\"x\"}," DEVICE(NODE)), NULL },
	{ SPEC("0.6.0", "\"annotations\":{\"a/b/c\":\"x\"}," DEVICE(NODE)), "is no key" },
	{ SPEC("0.6.0", "\"annotations\":{\"-a.b/c\":\"x\"}," DEVICE(NODE)), "is no key" },
	{ SPEC("0.6.0", "\"annotations\":{\"a\":1}," DEVICE(NODE)), "which is no string" },
};

static int parse_and_check(const char *text, struct json_object **ret, struct error *error)
{
	autojson *spec = NULL;
	int r = json_parse(text, strlen(text), "bad.json", &cdi_limits, &spec, error);

	if (r == 0)
		r = cdi_spec_check(spec, "bad.json", error);
	if (r == 0 && ret)
		*ret = TAKE_PTR(spec);
	return r;
}

TEST(cdi_structure_is_checked)
{
	for (size_t i = 0; i < ARRAY_SIZE(check_rows); i++) {
		struct error error = ERROR_INIT;
		int r = parse_and_check(check_rows[i].text, NULL, &error);

		if (!check_rows[i].message && r == 0)
			continue;
		if (!check_rows[i].message || r != -EINVAL ||
		    !strstr(error.message, check_rows[i].message) ||
		    !strstr(error.message, "bad.json"))
			fail_msg("row %zu: %d \"%s\"", i, r, error.message);
	}
}

/* MinimumRequiredVersion of specs-go/version.go. */
static const struct {
	const char *text, *version;
} version_rows[] = {
	{ SPEC("1.1.0", DEVICE(NODE)), "0.3.0" },
	{ OF_NODE("\"hostPath\":\"\""), "0.3.0" },
	{ EDITS("\"mounts\":[{\"hostPath\":\"/a\",\"containerPath\":\"/b\",\"type\":\"x\"}]"),
	  "0.4.0" },
	{ OF_NODE("\"hostPath\":\"/x\""), "0.5.0" },
	{ SPEC("1.1.0", "\"devices\":[{\"name\":\"0\",\"containerEdits\":" NODE "}]"), "0.5.0" },
	{ SPEC("1.1.0", "\"annotations\":{}," DEVICE(NODE)), "0.3.0" },
	{ SPEC("1.1.0", "\"annotations\":{\"a\":\"\"}," DEVICE(NODE)), "0.6.0" },
	{ "{\"cdiVersion\":\"1.1.0\",\"kind\":\"a/b.c\"," DEVICE(NODE) "}", "0.6.0" },
	{ EDITS("\"intelRdt\":{}"), "0.7.0" },
	{ EDITS("\"additionalGids\":[]"), "0.3.0" },
	{ EDITS("\"additionalGids\":[0]"), "0.7.0" },
	{ EDITS("\"intelRdt\":{\"enableMonitoring\":false}"), "0.7.0" },
	{ EDITS("\"intelRdt\":{\"enableMonitoring\":true}"), "1.1.0" },
	{ EDITS("\"intelRdt\":{\"schemata\":[\"a\"]}"), "1.1.0" },
};

TEST(cdi_lowest_version)
{
	for (size_t i = 0; i < ARRAY_SIZE(version_rows); i++) {
		autojson *spec = NULL;
		struct error error = ERROR_INIT;

		if (parse_and_check(version_rows[i].text, &spec, &error) < 0)
			fail_msg("row %zu: %s", i, error.message);
		assert_string_equal(cdi_spec_lowest_version(spec), version_rows[i].version);
	}
}

/* pkg/parser/parser_test.go has these kinds of names. */
TEST(cdi_names)
{
	static const struct {
		const char *name, *kind, *device;
	} rows[] = {
		{ "nvidia.com/gpu=0", "nvidia.com/gpu", "0" },
		{ "v_1/c-2=GPU-1:2.x", "v_1/c-2", "GPU-1:2.x" },
		{ "a/b=c", "a/b", "c" },
		{ "a/b=c=d", NULL, NULL },
		{ "a/b", NULL, NULL },
		{ "a=b", NULL, NULL },
		{ "/b=c", NULL, NULL },
		{ "a/=c", NULL, NULL },
		{ "a/b=", NULL, NULL },
		{ "a/b=c.", NULL, NULL },
		{ "a/b=.c", NULL, NULL },
		{ "a/b=c d", NULL, NULL },
		{ "_a/b=c", NULL, NULL },
		{ "", NULL, NULL },
	};
	char kind[CDI_NAME_MAX] = "old", device[CDI_NAME_MAX] = "old";
	char large[3 * CDI_NAME_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int r = cdi_name_split(rows[i].name, kind, device);

		assert_int_equal(r, rows[i].kind ? 0 : -EINVAL);
		if (rows[i].kind)
			assert_string_equal(kind, rows[i].kind);
		if (rows[i].kind)
			assert_string_equal(device, rows[i].device);
	}
	for (size_t length = CDI_NAME_MAX - 2; length < CDI_NAME_MAX + 2; length++) {
		memset(large, 'a', sizeof(large));
		memcpy(large + 1, "/b=", 3);
		large[4 + length] = '\0';
		assert_int_equal(cdi_name_split(large, kind, device),
				 length < CDI_NAME_MAX ? 0 : -EINVAL);
		memset(large, 'a', sizeof(large));
		memcpy(large + length - 2, "/b=c", 5);
		assert_int_equal(cdi_name_split(large, kind, device),
				 length < CDI_NAME_MAX ? 0 : -EINVAL);
	}
}

/* Strings that YAML could take for something else, and trees of every shape. */
static const char *const print_rows[] = {
	"{\"a\":\"0\",\"b\":\"true\",\"c\":\"No\",\"d\":\"\",\"e\":\"1.5\",\"f\":\"0.5.0\"}",
	"{\"a\":\"a: b\",\"b\":\"a:\",\"c\":\"a #b\",\"d\":\"- a\",\"e\":\"&a\",\"f\":\"~\"}",
	"{\"a\":\"line\\nfeed\",\"b\":\"\\u0085\\u009b\",\"c\":\"\\\"\\\\\",\"d\":\" a\"}",
	"{\"a b\":1,\"0\":2,\"no\":3,\"\":4,\"<<\":5}",
	"{\"a\":[],\"b\":{},\"c\":[[1,2],[],[{}],[{\"x\":[3]}]],\"d\":null,\"e\":true}",
	"{\"a\":[{\"b\":{\"c\":[1]},\"d\":2},{\"e\":[\"f\"]}]}",
	"{\"a\":-5,\"b\":9223372036854775807}",
	"{\"a\":\"x=y\",\"b\":\"/usr/lib64:/lib\",\"c\":\"NaN\",\"d\":\"y\",\"e\":\"off\"}",
	"{\"a\":\"\\u00fc\",\"b\":\"\\ud83d\\ude00\",\"c\":\"*a\",\"d\":\"---\",\"e\":\"e1\"}",
};

TEST(cdi_yaml_is_read_back)
{
	for (size_t i = 0; i < ARRAY_SIZE(print_rows); i++) {
		autojson *tree = NULL;
		autoyaml stream = { 0 };
		autostrbuf text = STRBUF_INIT(4096);
		struct error error = ERROR_INIT;

		assert_int_equal(json_parse(print_rows[i], strlen(print_rows[i]), "t", &cdi_limits,
					    &tree, &error),
				 0);
		assert_int_equal(cdi_spec_print(tree, true, &text, &error), 0);
		if (yaml_parse(text.data, text.length, "t", &stream, &error) < 0 ||
		    stream.count != 1 || !json_object_equal(stream.documents[0], tree))
			fail_msg("row %zu: %s\n%s", i, error.message, text.data);
	}
}

TEST(cdi_yaml_looks_like_yaml)
{
	static const char text[] = SPEC(
		"0.5.0", "\"devices\":[{\"name\":\"0\",\"containerEdits\":" NODE "}],"
			 "\"containerEdits\":{\"env\":[\"A=b\"],\"mounts\":[{\"hostPath\":\"/a "
			 "b\",\"containerPath\":\"/b\",\"options\":[\"ro\",\"rbind\"]}]}");
	autojson *spec = NULL;
	autostrbuf yaml = STRBUF_INIT(4096), json = STRBUF_INIT(4096);

	assert_int_equal(parse_and_check(text, &spec, NULL), 0);
	assert_int_equal(cdi_spec_print(spec, true, &yaml, NULL), 0);
	assert_string_equal(yaml.data, "---\n"
				       "cdiVersion: \"0.5.0\"\n"
				       "kind: a.b/c\n"
				       "devices:\n"
				       "- name: \"0\"\n"
				       "  containerEdits:\n"
				       "    deviceNodes:\n"
				       "    - path: /dev/x\n"
				       "containerEdits:\n"
				       "  env:\n"
				       "  - A=b\n"
				       "  mounts:\n"
				       "  - hostPath: \"/a b\"\n"
				       "    containerPath: /b\n"
				       "    options:\n"
				       "    - ro\n"
				       "    - rbind\n");
	assert_int_equal(cdi_spec_print(spec, false, &json, NULL), 0);
	assert_int_equal(json.data[json.length - 1], '\n');
	autostrbuf small = STRBUF_INIT(100);
	struct error error = ERROR_INIT;
	assert_int_equal(cdi_spec_print(spec, true, &small, &error), -ENAMETOOLONG);
}

#define YAML(name, path)                                                                  \
	"cdiVersion: 0.5.0\nkind: a.b/c\ndevices:\n- name: " name "\n  containerEdits:\n" \
	"    deviceNodes: [{path: " path "}]\ncontainerEdits: {env: [FROM=" path "]}\n"

static const struct fixture_file spec_files[] = {
	{ "etc/both.yaml", YAML("both", "/dev/etc") },
	{ "etc/one.yaml", YAML("one", "/dev/one") },
	{ "etc/one.json", SPEC("0.3.0", DEVICE(NODE)) },
	{ "etc/clash1.yaml", YAML("clash", "/dev/1") },
	{ "etc/clash2.yaml", YAML("clash", "/dev/2") },
	{ "etc/number.yaml", YAML("7", "/dev/7") },
	{ "etc/two.yaml", YAML("x", "/dev/x") "---\n" YAML("y", "/dev/y") },
	{ "etc/empty.yaml", "" },
	{ "etc/notes.txt", "no spec" },
	{ "etc/folder.yaml/in.yaml", YAML("in", "/dev/in") },
	{ "etc/gone.yaml", "-> /nowhere" },
	{ "run/both.yaml", YAML("both", "/dev/run") },
	{ "run/clash.yaml", YAML("clash", "/dev/3") },
	{ "run/bad.json", "{" },
};

static void open_registry(const struct fixture *fixture, struct cdi_registry **ret,
			  struct string_list *notes)
{
	static const char *const names[] = { "etc", "run", "absent" };
	cleanup(string_list_release) struct string_list directories = { 0 };
	struct error error = ERROR_INIT;
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(string_list_add(&directories, fixture_path(fixture, names[i], path,
									    sizeof(path))),
				 0);
	if (cdi_registry_open(&directories, ret, notes, &error) < 0)
		fail_msg("%s", error.message);
}

static bool has_note(const struct string_list *notes, const char *part)
{
	for (size_t i = 0; i < notes->count; i++)
		if (strstr(notes->items[i], part))
			return true;
	return false;
}

TEST(cdi_registry_takes_what_a_runtime_takes)
{
	static const char *const names[] = { "a.b/c=both", "a.b/c=d", "a.b/c=one" };
	struct fixture fixture;
	cleanup(cdi_registry_freep) struct cdi_registry *registry = NULL;
	cleanup(string_list_release) struct string_list notes = { 0 };
	struct json_object *common = NULL;
	const char *path = NULL;

	fixture_make(&fixture, spec_files, ARRAY_SIZE(spec_files));
	open_registry(&fixture, &registry, &notes);
	assert_int_equal(cdi_registry_count(registry), ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(cdi_registry_name(registry, i, &path), names[i]);
	/* the later directory is stronger */
	assert_non_null(strstr(cdi_registry_name(registry, 0, &path), "both"));
	assert_non_null(strstr(path, "/run/both.yaml"));
	struct json_object *edits = cdi_registry_edits(registry, "a.b/c=both", &common);
	assert_string_equal(
		json_get_string(json_object_array_get_idx(json_get(edits, "deviceNodes"), 0),
				"path", ""),
		"/dev/run");
	assert_string_equal(
		json_object_get_string(json_object_array_get_idx(json_get(common, "env"), 0)),
		"FROM=/dev/run");
	assert_non_null(cdi_registry_edits(registry, "a.b/c=d", &common));
	assert_null(common);
	/* what two files of one directory have is nobody's, whatever a stronger one says */
	assert_null(cdi_registry_edits(registry, "a.b/c=clash", NULL));
	assert_null(cdi_registry_edits(registry, "both", NULL));
	assert_true(has_note(&notes, "clash1.yaml and "));
	assert_true(
		has_note(&notes, "devices[0].name must be a string (in YAML put it in quotes)"));
	assert_true(has_note(&notes, "number.yaml:4: "));
	assert_true(has_note(&notes, "two.yaml: holds 2 YAML documents"));
	assert_true(has_note(&notes, "bad.json:1:2: "));
	assert_true(has_note(&notes, "empty.yaml: is empty"));
	assert_int_equal(notes.count, 5);
	fixture_remove(&fixture);
}

TEST(cdi_registry_survives_each_failing_call)
{
	struct fixture fixture;
	cleanup(string_list_release) struct string_list directories = { 0 };
	struct error error = ERROR_INIT;
	char path[128];
	unsigned n = 0;

	fixture_make(&fixture, spec_files, ARRAY_SIZE(spec_files));
	string_list_add(&directories, fixture_path(&fixture, "etc", path, sizeof(path)));
	for (;; n++) {
		struct cdi_registry *registry = NULL;
		struct string_list notes = { 0 };

		fault_arm(n);
		int r = cdi_registry_open(&directories, &registry, &notes, &error);
		int failed = fault_disarm();
		size_t count = registry ? cdi_registry_count(registry) : 0;
		cdi_registry_free(registry);
		string_list_release(&notes);
		if (!failed)
			break;
		/* opendir()'s own memory comes back as the error of that directory */
		if (r == 0 && count != 3)
			fail_msg("call %u failed, and %zu devices are left", n, count);
		assert_true(r == 0 || r == -ENOMEM);
	}
	assert_true(n > 100);
	fixture_remove(&fixture);
}

static struct json_object *container(void)
{
	static const char text[] =
		"{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"},\"process\":{\"args\":[\"a\"],"
		"\"cwd\":\"/\",\"env\":[\"A=old\",\"B=b\"],\"user\":{\"uid\":7,\"gid\":8}},"
		"\"mounts\":[{\"destination\":\"/here\",\"source\":\"/there\"}]}";
	struct json_object *spec = NULL;

	assert_int_equal(oci_spec_parse(text, strlen(text), "t", &spec, NULL), 0);
	return spec;
}

static int apply(const char *edits, struct json_object *spec, struct error *error)
{
	autojson *tree = NULL;

	assert_int_equal(json_parse(edits, strlen(edits), "t", &cdi_limits, &tree, NULL), 0);
	return cdi_edits_apply_oci(tree, spec, error);
}

TEST(cdi_edits_become_oci)
{
	static const char edits[] =
		"{\"env\":[\"A=new=1\",\"C=\"],\"deviceNodes\":["
		"{\"path\":\"/dev/x\",\"type\":\"c\",\"major\":195,\"minor\":0,\"permissions\":"
		"\"rw\"},{\"path\":\"/dev/y\",\"type\":\"b\",\"major\":8,\"minor\":1,\"uid\":1,"
		"\"gid\":2,\"fileMode\":416},{\"path\":\"/dev/null2\",\"hostPath\":\"/dev/null\"}],"
		"\"mounts\":[{\"hostPath\":\"/there\",\"containerPath\":\"/here\"},{\"hostPath\":"
		"\"/h\",\"containerPath\":\"/c\",\"options\":[\"ro\",\"rbind\"]}],"
		"\"additionalGids\":[0,44,44]}";
	static const char *const expected[][2] = {
		{ "process.env", "[\"A=new=1\",\"B=b\",\"C=\"]" },
		{ "process.user.additionalGids", "[44]" },
		{ "mounts", "[{\"destination\":\"/here\",\"source\":\"/there\"},{\"destination\":"
			    "\"/c\",\"source\":\"/h\",\"options\":[\"ro\",\"rbind\"]}]" },
		{ "linux.devices",
		  "[{\"path\":\"/dev/x\",\"type\":\"c\",\"major\":195,\"minor\":0,\"fileMode\":438,"
		  "\"uid\":7,\"gid\":8},{\"path\":\"/dev/"
		  "y\",\"type\":\"b\",\"major\":8,\"minor\":1,"
		  "\"fileMode\":416,\"uid\":1,\"gid\":2},{\"path\":\"/dev/null2\",\"type\":\"c\","
		  "\"major\":1,\"minor\":3,\"fileMode\":438,\"uid\":7,\"gid\":8}]" },
		{ "linux.resources.devices",
		  "[{\"allow\":true,\"type\":\"c\",\"major\":195,\"minor\":0,\"access\":\"rw\"},"
		  "{\"allow\":true,\"type\":\"b\",\"major\":8,\"minor\":1,\"access\":\"rwm\"},"
		  "{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":3,\"access\":\"rwm\"}]" },
	};
	autojson *spec = container();
	struct error error = ERROR_INIT;

	if (apply(edits, spec, &error) < 0)
		fail_msg("%s", error.message);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		autostrbuf text = STRBUF_INIT(4096);

		json_to_text(json_get(spec, expected[i][0]), false, &text, NULL);
		assert_string_equal(text.data, expected[i][1]);
	}
	assert_int_equal(oci_spec_check(spec, "t", &error), 0);
}

TEST(cdi_edits_that_are_refused)
{
	static const struct {
		const char *edits;
		int number;
		const char *message;
	} rows[] = {
		{ "{\"hooks\":[{\"hookName\":\"createContainer\",\"path\":\"/a\"}]}", EPERM,
		  "would run programs of the host" },
		{ "{\"hooks\":[]}", 0, "" },
		{ "{\"intelRdt\":{}}", EPERM, "intelRdt" },
		{ "{\"netDevices\":[{\"hostInterfaceName\":\"a\",\"name\":\"b\"}]}", EPERM, "net" },
		{ "{\"deviceNodes\":[{\"path\":\"/p\",\"type\":\"p\"}]}", EPERM, "is of type p" },
		{ "{\"deviceNodes\":[{\"path\":\"dev/x\",\"type\":\"c\",\"major\":1}]}", EINVAL,
		  "no absolute path" },
		{ "{\"deviceNodes\":[{\"path\":\"/dev/none-such\"}]}", ENOENT,
		  "cannot look at /dev/none-such" },
		{ "{\"deviceNodes\":[{\"path\":\"/etc/passwd\"}]}", ENODEV, "is no device" },
		{ "{\"deviceNodes\":[{\"path\":\"/dev/null\",\"type\":\"b\"}]}", ENODEV,
		  "is a device of type c" },
		{ "{\"deviceNodes\":[{\"path\":\"/dev/x\",\"type\":\"c\",\"major\":4096}]}", EINVAL,
		  "which no device has" },
		{ "{\"deviceNodes\":[{\"path\":\"/dev/x\",\"type\":\"c\",\"major\":1},{\"path\":"
		  "\"/dev/x\",\"type\":\"c\",\"major\":2}]}",
		  EEXIST, "another device" },
		{ "{\"mounts\":[{\"hostPath\":\"/a\",\"containerPath\":\"b\"}]}", EINVAL,
		  "no absolute path" },
		{ "{\"mounts\":[{\"hostPath\":\"/a\",\"containerPath\":\"/here\"}]}", EEXIST,
		  "mounts[0] already mounts something else at /here" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autojson *spec = container();
		struct error error = ERROR_INIT;
		int r = apply(rows[i].edits, spec, &error);

		if (r != -rows[i].number || !strstr(error.message, rows[i].message))
			fail_msg("row %zu: %d \"%s\"", i, r, error.message);
	}
}

TEST(cdi_groups_need_a_place)
{
	autojson *spec = container();
	struct error error = ERROR_INIT;

	json_object_object_del(json_get(spec, "process"), "user");
	assert_int_equal(apply("{\"additionalGids\":[44]}", spec, &error), 0);
	json_add_string(json_get(spec, "process.user"), "additionalGids", "44");
	assert_int_equal(apply("{\"additionalGids\":[44]}", spec, &error), -EINVAL);
	assert_string_equal(error.message, "additionalGids of the OCI spec must be array");
}

TEST(cdi_is_short_of_memory)
{
	static const char edits[] = "{\"env\":[\"C=\"],\"deviceNodes\":[{\"path\":\"/dev/"
				    "x\",\"type\":\"c\",\"major\":1}"
				    "],\"mounts\":[{\"hostPath\":\"/h\",\"containerPath\":\"/"
				    "c\",\"options\":[\"ro\"]}],"
				    "\"additionalGids\":[44]}";
	autojson *tree = NULL, *checked = NULL;
	unsigned n = 0;

	assert_int_equal(json_parse(edits, strlen(edits), "t", &cdi_limits, &tree, NULL), 0);
	assert_int_equal(parse_and_check(SPEC("0.3.0", DEVICE(NODE)), &checked, NULL), 0);
	for (;; n++) {
		autojson *spec = container();
		autostrbuf text = STRBUF_INIT(4096);
		struct error error = ERROR_INIT;

		fault_arm(n);
		int r = cdi_edits_apply_oci(tree, spec, &error);
		if (r == 0)
			r = cdi_spec_check(checked, "t", &error);
		if (r == 0)
			r = cdi_spec_print(checked, true, &text, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		if (r != -ENOMEM || !error.message[0])
			fail_msg("call %u: %d \"%s\"", n, r, error.message);
	}
	assert_true(n > 20);
}
