/* SPDX-License-Identifier: Apache-2.0 */
#include "base/toml_edit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

#define KEYS_MAX 16

/* "a|b.c|d" as a list of keys; TEXT is cut up. */
static void split(char *text, const char **keys)
{
	size_t count = 0;

	for (char *key; (key = strsep(&text, "|"));) {
		assert_true(count + 1 < KEYS_MAX);
		keys[count++] = key;
	}
	keys[count] = NULL;
}

enum change { SET, APPEND, REMOVE };

static int change(struct toml_edit *edit, enum change what, const char *path, const char *literal,
		  struct error *error)
{
	autofree char *copy = strdup(path);
	const char *keys[KEYS_MAX];

	assert_non_null(copy);
	split(copy, keys);
	if (what == SET)
		return toml_edit_set(edit, keys, literal, error);
	if (what == APPEND)
		return toml_edit_append(edit, keys, literal, error);
	return toml_edit_remove(edit, keys, error);
}

static void assert_text(const struct toml_edit *edit, const char *wanted)
{
	autostrbuf text = STRBUF_INIT(65536);

	assert_int_equal(toml_edit_text(edit, &text), 0);
	assert_string_equal(text.data, wanted);
}

static const struct {
	enum change what;
	const char *path, *literal, *before, *after;
} rows[] = {
	/* Values that are there. */
	{ SET, "a", "2", "a = 1 # one\n", "a = 2 # one\n" },
	{ SET, "a", "[1]", "a=\"\"\"\n1\n\"\"\"\nb=2", "a=[1]\nb=2" },
	{ SET, "a|b", "'x'", "[a]\n\tb =  1\t#\r\n", "[a]\n\tb =  'x'\t#\r\n" },
	{ SET, "a|b|c", "3", "a = { b.c = 2, d = 4 }", "a = { b.c = 3, d = 4 }" },
	{ SET, "a", "1", "a = {b=1}", "a = 1" },
	{ SET, "a", "1", "a = [ {b=1} ] # x", "a = 1 # x" },
	/* Keys of a section. */
	{ SET, "a|c", "2", "[a]\nb=1\n\n[d]\n", "[a]\nb=1\nc = 2\n\n[d]\n" },
	{ SET, "a|c", "2", "[a]\n  b=1 # x\n  # end\n", "[a]\n  b=1 # x\n  c = 2\n  # end\n" },
	{ SET, "a|c", "2", "[a]\n[d]\n", "[a]\nc = 2\n[d]\n" },
	{ SET, "a|c", "2", "  [a] # x\n", "  [a] # x\n    c = 2\n" },
	{ SET, "a|c", "2", "[a]\r\nb=1", "[a]\r\nb=1\r\nc = 2" },
	{ SET, "a|c", "2", "[a]\nb=[\n1,\n]\n", "[a]\nb=[\n1,\n]\nc = 2\n" },
	{ SET, "a|b c", "2", "[a]", "[a]\n\"b c\" = 2" },
	{ SET, "a|\"\\", "2", "[a]\n", "[a]\n\"\\\"\\\\\" = 2\n" },
	/* Keys of the root. */
	{ SET, "a", "1", "", "a = 1\n" },
	{ SET, "a", "1", "\xef\xbb\xbf",
	  "\xef\xbb\xbf"
	  "a = 1\n" },
	{ SET, "a", "1", "# only words", "# only words\na = 1" },
	{ SET, "a", "1", "b=1\n\n[c]\n", "b=1\na = 1\n\n[c]\n" },
	{ SET, "a", "1", "# head\n\n# of c\n[c]\n", "# head\n\na = 1\n# of c\n[c]\n" },
	{ SET, "a", "1", "# k0s_managed=true\n[c]\n", "# k0s_managed=true\na = 1\n[c]\n" },
	/* Sections that are missing. */
	{ SET, "a|b", "1", "", "[a]\nb = 1\n" },
	{ SET, "a|b", "1", "c=1", "c=1\n\n[a]\nb = 1" },
	{ SET, "a|b", "1", "c=1\r\n", "c=1\r\n\r\n[a]\r\nb = 1\r\n" },
	{ SET, "a|b|c", "1", "[a]\nx=1\n[d]\n", "[a]\nx=1\n\n[a.b]\nc = 1\n[d]\n" },
	{ SET, "a|b|c", "1", "[a]\n\n  [a.x]\n  y=1\n\n    [a.x.z]\n[d]\n",
	  "[a]\n\n  [a.x]\n  y=1\n\n    [a.x.z]\n\n  [a.b]\n    c = 1\n[d]\n" },
	{ SET, "a|c", "1", "[a.b]\nx=1\n", "[a.b]\nx=1\n\n[a]\nc = 1\n" },
	{ SET, "a|b", "1", "[[c]]\n[[c]]\n", "[[c]]\n[[c]]\n\n[a]\nb = 1\n" },
	/* Dotted keys. */
	{ SET, "a|c", "2", "a.b=1\nd=3\n", "a.b=1\na.c = 2\nd=3\n" },
	{ SET, "s|a|b|d", "2", "[s]\na.b.c=1\n[s.a.x]\n", "[s]\na.b.c=1\na.b.d = 2\n[s.a.x]\n" },
	{ SET, "a|x|y", "2", "a.b=1\n", "a.b=1\n\n[a.x]\ny = 2\n" },
	{ SET, "a|b|z", "2", "[a.b.c]\nx=1\n[a]\nb.y=2\n", "[a.b.c]\nx=1\n[a]\nb.y=2\nb.z = 2\n" },
	/* Inline tables. */
	{ SET, "a|b", "1", "a = {}", "a = {b = 1}" },
	{ SET, "a|b", "1", "a = { }", "a = {b = 1 }" },
	{ SET, "a|c", "2", "a = { b = 1 } # x\n", "a = { b = 1, c = 2 } # x\n" },
	{ SET, "a|c|d", "2", "a = { b = 1 }", "a = { b = 1, c.d = 2 }" },
	{ SET, "a|b|d", "2", "a = { b.c = 1, e = 3 }", "a = { b.c = 1, e = 3, b.d = 2 }" },
	{ SET, "a|b|c", "2", "a = { b = {x=1}, e = 3 }", "a = { b = {x=1, c = 2}, e = 3 }" },
	/* Lists. */
	{ APPEND, "a", "\"y\"", "a = [\"x\"]", "a = [\"x\", \"y\"]" },
	{ APPEND, "a", "\"x\"", "a = ['x'] # same", "a = ['x'] # same" },
	{ APPEND, "a", "2", "a = [ 1, ]", "a = [ 1, 2, ]" },
	{ APPEND, "a", "1", "a = []", "a = [1]" },
	{ APPEND, "a", "1", "a = [ # none\n]", "a = [1 # none\n]" },
	{ APPEND, "a", "3", "a = [\n  1,\n  2\n]\n", "a = [\n  1,\n  2,\n  3\n]\n" },
	{ APPEND, "a", "3", "a = [\n  1,\n  2, # two\n]\n", "a = [\n  1,\n  2, # two\n  3,\n]\n" },
	{ APPEND, "a", "3", "a = [\r\n  2 # two\r\n]", "a = [\r\n  2, # two\r\n  3\r\n]" },
	{ APPEND, "a", "3", "a = [\n  2 ]", "a = [\n  2, 3 ]" },
	{ APPEND, "a|b", "1", "a = {b = [0]}", "a = {b = [0, 1]}" },
	{ APPEND, "a|b", "1", "", "[a]\nb = [1]\n" },
	{ APPEND, "a", "1", "b = 2\n", "b = 2\na = [1]\n" },
	/* What goes. */
	{ REMOVE, "a", "", "b=1\n", "b=1\n" },
	{ REMOVE, "a", "", "  a=1 # x\nb=2\n", "b=2\n" },
	{ REMOVE, "b", "", "a=1\r\nb=2", "a=1" },
	{ REMOVE, "a", "", "a=1", "" },
	{ REMOVE, "a", "", "a=1\nb=[\n1]\n", "b=[\n1]\n" },
	{ REMOVE, "a", "", "a.b=1\nc=2\na.d=3", "c=2" },
	{ REMOVE, "a", "", "a.b=1\na.d=3", "" },
	{ REMOVE, "a", "", "x=1\n\n# of a\n[a] # y\n# in a\nb=1\n\n[a.c]\nd=1\n\n# of e\n[e]\n",
	  "x=1\n\n# of a\n\n# of e\n[e]\n" },
	{ REMOVE, "a", "", "[a]\nb=1\n[c]\n[a.d]\n[a.e]", "[c]" },
	{ REMOVE, "a", "", "[[a]]\nb=1\n\n[c]\nd=1\n\n[[a]]\n[a.f]\n", "\n[c]\nd=1\n" },
	{ REMOVE, "a|b", "", "[a]\nb.c=1\nd=2\n[a.b.x]\n", "[a]\nd=2\n" },
	{ REMOVE, "a|b", "", "a = { b = 1 }", "a = {  }" },
	{ REMOVE, "a|b", "", "a = { b = 1, c = 2 }", "a = { c = 2 }" },
	{ REMOVE, "a|c", "", "a = { b = 1, c = 2 }", "a = { b = 1 }" },
	{ REMOVE, "a|b", "", "a = { b.x = 1, c = 2, b.y.z = 3 }", "a = { c = 2 }" },
	{ REMOVE, "a|b|c", "", "a = { b = { c = 1 } }", "a = { b = {  } }" },
};

TEST(toml_edit_changes)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error = ERROR_INIT;
		autotomledit *edit = NULL;

		assert_int_equal(
			toml_edit_new(rows[i].before, strlen(rows[i].before), "t", &edit, &error),
			0);
		if (change(edit, rows[i].what, rows[i].path, rows[i].literal, &error) < 0)
			fail_msg("row %zu: %s", i, error.message);
		assert_text(edit, rows[i].after);
	}
}

/* Each row that only added is undone by taking out what was absent. */
TEST(toml_edit_is_undone)
{
	static const struct {
		const char *path, *first; /* what is set, and the first of it that is absent */
		const char *text;
	} undone[] = {
		{ "a", "a", "" },
		{ "a", "a", "\xef\xbb\xbf" },
		{ "a", "a", "b=1" },
		{ "a", "a", "   " },
		{ "a", "a", "# x\n\n# y\n[b]\n" },
		{ "a|b", "a", "c=1\n\n" },
		{ "a|b", "a", "c=1" },
		{ "a|b", "a", "c=1\r\n[x]" },
		{ "a|b|c", "a|b", "[a]\n\n  [a.x]\n  y=1\n\n    [a.x.z]\n[d]\n" },
		{ "a|c", "a|c", "a.b=1\nd=3" },
		{ "a|b", "a|b", "a = {}" },
		{ "a|c|d", "a|c", "a = { b = 1 }" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(undone); i++) {
		autotomledit *edit = NULL;

		assert_int_equal(
			toml_edit_new(undone[i].text, strlen(undone[i].text), "t", &edit, NULL), 0);
		assert_int_equal(change(edit, SET, undone[i].path, "[1, {x = 2}]", NULL), 0);
		assert_int_equal(change(edit, REMOVE, undone[i].first, NULL, NULL), 0);
		assert_text(edit, undone[i].text);
	}
}

static const struct {
	enum change what;
	const char *path, *literal, *text, *message;
} refused[] = {
	{ SET, "a|b", "1", "\na=1", "t:2: 'a' is an integer, not a table that could hold 'b'; " },
	{ SET, "a|b", "1", "[[a]]", "t:1: 'a' is an array, not a table that could hold 'b'; " },
	{ SET, "a", "1", "\n[a]", "t:2: 'a' is a table of sections, and no value can stand" },
	{ SET, "a", "1", "[a.b]", "t:1: 'a' is a table of sections" },
	{ SET, "a", "1", "[[a]]", "t:1: 'a' is an array of sections" },
	{ SET, "a", "1", "a.b=1", "t:1: 'a' is a table of sections" },
	{ SET, "a", "x", "", "t:1: 'x' is not one TOML value" },
	{ SET, "a", "", "", "t:1: '' is not one TOML value" },
	{ SET, "a", "1 # c", "", "t:1: '1 # c' is not one TOML value" },
	{ SET, "a", "1\nb = 2", "", "t:1: '1\?b = 2' is not one TOML value" },
	{ SET, "a", "1\n", "", "t:1: '1\?' is not one TOML value" },
	{ SET, "a\xff", "1", "", "t:1:3: byte 0xff is not valid UTF-8" },
	{ APPEND, "a", "1", "a=2", "t:1: 'a' is an integer, not a list" },
	{ APPEND, "a", "{}", "[[a]]", "t:1: 'a' is an array of sections, not a list" },
	{ REMOVE, "a|b", "", "a=1", "t:1: 'a' is an integer, not a table" },
};

TEST(toml_edit_refuses)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct error error = ERROR_INIT;
		autotomledit *edit = NULL;

		assert_int_equal(
			toml_edit_new(refused[i].text, strlen(refused[i].text), "t", &edit, &error),
			0);
		int r = change(edit, refused[i].what, refused[i].path, refused[i].literal, &error);
		if (strncmp(error.message, refused[i].message, strlen(refused[i].message)) != 0)
			fail_msg("row %zu: %d %s", i, r, error.message);
		assert_true(r < 0);
		assert_text(edit, refused[i].text);
	}
	struct error error = ERROR_INIT;
	autotomledit *edit = NULL;
	assert_int_equal(toml_edit_new("", 0, "t", &edit, &error), 0);
	assert_int_equal(toml_edit_set(edit, (const char *[]){ NULL }, "1", &error), -EINVAL);
	assert_int_equal(toml_edit_new("a", 1, "t", &edit, &error), -EINVAL);
}

/* What containerd 1.2 to 1.4 read, and still do: version 1, plugins by short names. */
static const char version_1[] = "oom_score = 0\n"
				"\n"
				"[grpc]\n"
				"  max_recv_message_size = 16777216\n"
				"\n"
				"[plugins]\n"
				"  [plugins.linux]\n"
				"    runtime = \"runc\"\n"
				"  [plugins.cri]\n"
				"    sandbox_image = \"k8s.gcr.io/pause:3.1\" # mirrored\n"
				"    [plugins.cri.containerd]\n"
				"      [plugins.cri.containerd.default_runtime]\n"
				"        runtime_type = \"io.containerd.runtime.v1.linux\"\n"
				"    [plugins.cri.registry]\n";

/* The form of `containerd config default` of 1.6, shortened. */
static const char version_2[] =
	"disabled_plugins = []\n"
	"imports = []\n"
	"version = 2\n"
	"\n"
	"[plugins]\n"
	"\n"
	"  [plugins.\"io.containerd.grpc.v1.cri\"]\n"
	"    enable_cdi = false\n"
	"\n"
	"    [plugins.\"io.containerd.grpc.v1.cri\".containerd]\n"
	"      default_runtime_name = \"runc\"\n"
	"\n"
	"      [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes]\n"
	"\n"
	"        [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
	"          runtime_type = \"io.containerd.runc.v2\"\n"
	"\n"
	"          [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n"
	"            SystemdCgroup = true\n"
	"\n"
	"    [plugins.\"io.containerd.grpc.v1.cri\".registry]\n"
	"      config_path = \"\"\n";

/* The form of `containerd config default` of 2.x, shortened. */
static const char version_3[] =
	"version = 3\n"
	"root = '/var/lib/containerd'\n"
	"imports = ['/etc/containerd/conf.d/*.toml']\n"
	"\n"
	"[plugins]\n"
	"  [plugins.'io.containerd.cri.v1.runtime']\n"
	"    enable_cdi = true\n"
	"\n"
	"    [plugins.'io.containerd.cri.v1.runtime'.containerd]\n"
	"      default_runtime_name = 'runc'\n"
	"\n"
	"      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes]\n"
	"        [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\n"
	"          runtime_type = 'io.containerd.runc.v2'\n"
	"\n"
	"          [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]\n"
	"            SystemdCgroup = false\n"
	"\n"
	"[ttrpc]\n"
	"  address = ''\n";

/* What is put before or in place of LINE; the rest of the file is the file. */
struct piece {
	const char *line, *before, *instead;
};

static void assert_pieces(const struct toml_edit *edit, const char *text,
			  const struct piece *pieces, size_t count)
{
	autostrbuf wanted = STRBUF_INIT(65536);

	for (size_t i = 0; i < count; i++) {
		const char *at = strstr(text, pieces[i].line);

		assert_non_null(at);
		strbuf_add(&wanted, text, (size_t)(at - text));
		strbuf_adds(&wanted, pieces[i].before);
		strbuf_adds(&wanted, pieces[i].instead ? pieces[i].instead : pieces[i].line);
		text = at + strlen(pieces[i].line);
	}
	strbuf_adds(&wanted, text);
	assert_text(edit, wanted.data);
}

/* TABLE|runtimes|gpupool with a type and a program, and undone again. */
static void check_runtime(const char *text, const char *table, const struct piece *pieces,
			  size_t count)
{
	autofree char *type = NULL, *program = NULL, *runtime = NULL, *name = NULL;
	autotomledit *edit = NULL;

	assert_true(asprintf(&runtime, "%s|runtimes|gpupool", table) > 0);
	assert_true(asprintf(&type, "%s|runtimes|gpupool|runtime_type", table) > 0);
	assert_true(asprintf(&program, "%s|runtimes|gpupool|options|BinaryName", table) > 0);
	assert_true(asprintf(&name, "%s|default_runtime_name", table) > 0);
	assert_int_equal(toml_edit_new(text, strlen(text), "t", &edit, NULL), 0);
	assert_int_equal(change(edit, SET, type, "\"io.containerd.runc.v2\"", NULL), 0);
	assert_int_equal(change(edit, SET, program, "\"/usr/bin/gpupool-runtime\"", NULL), 0);
	assert_pieces(edit, text, pieces, count);
	assert_int_equal(change(edit, SET, name, "\"gpupool\"", NULL), 0);
	assert_int_equal(change(edit, APPEND, "imports", "\"/etc/x.toml\"", NULL), 0);
	assert_int_equal(change(edit, REMOVE, runtime, NULL, NULL), 0);
}

TEST(toml_edit_containerd_1)
{
	static const struct piece pieces[] = {
		{ "    [plugins.cri.registry]\n",
		  "\n      [plugins.cri.containerd.runtimes.gpupool]\n"
		  "        runtime_type = \"io.containerd.runc.v2\"\n"
		  "\n        [plugins.cri.containerd.runtimes.gpupool.options]\n"
		  "          BinaryName = \"/usr/bin/gpupool-runtime\"\n",
		  NULL },
	};

	check_runtime(version_1, "plugins|cri|containerd", pieces, ARRAY_SIZE(pieces));
}

TEST(toml_edit_containerd_2)
{
#define RUNTIMES "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes"
	static const struct piece pieces[] = {
		{ "            SystemdCgroup = true\n",
		  "            SystemdCgroup = true\n"
		  "\n        " RUNTIMES ".gpupool]\n"
		  "          runtime_type = \"io.containerd.runc.v2\"\n"
		  "\n          " RUNTIMES ".gpupool.options]\n"
		  "            BinaryName = \"/usr/bin/gpupool-runtime\"\n",
		  "" },
	};

	check_runtime(version_2, "plugins|io.containerd.grpc.v1.cri|containerd", pieces,
		      ARRAY_SIZE(pieces));
#undef RUNTIMES
}

TEST(toml_edit_containerd_3)
{
#define RUNTIMES "[plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes"
	static const struct piece pieces[] = {
		{ "            SystemdCgroup = false\n",
		  "            SystemdCgroup = false\n"
		  "\n        " RUNTIMES ".gpupool]\n"
		  "          runtime_type = \"io.containerd.runc.v2\"\n"
		  "\n          " RUNTIMES ".gpupool.options]\n"
		  "            BinaryName = \"/usr/bin/gpupool-runtime\"\n",
		  "" },
	};
	autotomledit *edit = NULL;

	check_runtime(version_3, "plugins|io.containerd.cri.v1.runtime|containerd", pieces,
		      ARRAY_SIZE(pieces));
	assert_int_equal(toml_edit_new(version_3, strlen(version_3), "t", &edit, NULL), 0);
	assert_int_equal(change(edit, APPEND, "imports", "\"/etc/containerd/conf.d/*.toml\"", NULL),
			 0);
	assert_text(edit, version_3);
}

TEST(toml_edit_undoes_in_containerd)
{
	static const char *const texts[] = { version_1, version_2, version_3 };
	static const char *const tables[] = {
		"plugins|cri|containerd|runtimes|gpupool",
		"plugins|io.containerd.grpc.v1.cri|containerd|runtimes|"
		"gpupool",
		"plugins|io.containerd.cri.v1.runtime|containerd|"
		"runtimes|gpupool"
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		for (size_t cut = 0; cut < 2; cut++) { /* without the newline at the end, too */
			autofree char *text = strndup(texts[i], strlen(texts[i]) - cut);
			autofree char *key = NULL;
			autotomledit *edit = NULL;

			assert_non_null(text);
			assert_true(asprintf(&key, "%s|options|BinaryName", tables[i]) > 0);
			assert_int_equal(toml_edit_new(text, strlen(text), "t", &edit, NULL), 0);
			assert_int_equal(change(edit, SET, key, "'x'", NULL), 0);
			assert_int_equal(change(edit, REMOVE, tables[i], NULL, NULL), 0);
			/* In version 1 there were no runtimes: of them nothing is left. */
			assert_text(edit, text);
		}
	}
}

TEST(toml_prints)
{
	static const struct {
		const char *text, *printed;
	} cases[] = {
		{ "", "" },
		{ "a=1\nb.c='x'", "a = 1\n\n[p.\"q r\".b]\nc = \"x\"\n" },
		{ "[b.c]\n[d]\ne=[1,{f='\\'}]\n[[g]]\nh=1979-05-27 07:32:00z\n[[g]]",
		  "g = [{ h = 1979-05-27T07:32:00Z }, {}]\n\n[p.\"q r\".b.c]\n\n"
		  "[p.\"q r\".d]\ne = [1, { f = \"\\\\\" }]\n" },
	};
	static const char *const prefix[] = { "p", "q r", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autostrbuf out = STRBUF_INIT(4096), wanted = STRBUF_INIT(4096);
		autotoml *toml = NULL, *again = NULL;

		assert_int_equal(toml_parse(cases[i].text, strlen(cases[i].text), "t", &toml, NULL),
				 0);
		assert_int_equal(toml_print(toml_root(toml), prefix, &out), 0);
		strbuf_addf(&wanted, "[p.\"q r\"]\n%s", cases[i].printed);
		assert_string_equal(out.data, wanted.data);
		assert_int_equal(toml_parse(out.data, out.length, "t", &again, NULL), 0);
		assert_true(toml_equal(toml_get(toml_root(again), prefix), toml_root(toml)));
		strbuf_reset(&out);
		assert_int_equal(toml_print(toml_root(toml), NULL, &out), 0);
		autotoml *bare = NULL;
		assert_int_equal(toml_parse(out.data, out.length, "t", &bare, NULL), 0);
		assert_true(toml_equal(toml_root(bare), toml_root(toml)));
	}
}

TEST(toml_quotes)
{
	autostrbuf out = STRBUF_INIT(64), small = STRBUF_INIT(3);

	assert_int_equal(toml_quote("a\"\\\n\x01\x7f\xc3\xa9", &out), 0);
	assert_string_equal(out.data, "\"a\\\"\\\\\\n\\u0001\\u007F\xc3\xa9\"");
	assert_int_equal(toml_quote("\xff", &out), -EILSEQ);
	assert_int_equal(toml_quote("abc", &small), -ENAMETOOLONG);
}

/* Every change above, with each allocation failing once: the text stays as it was. */
TEST(toml_edit_short_of_memory)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (unsigned n = 0;; n++) {
			struct error error = ERROR_INIT;
			autotomledit *edit = NULL;

			assert_int_equal(toml_edit_new(rows[i].before, strlen(rows[i].before), "t",
						       &edit, &error),
					 0);
			autofree char *copy = strdup(rows[i].path);
			const char *keys[KEYS_MAX];
			split(copy, keys);
			fault_arm(n);
			int r = rows[i].what == SET
					? toml_edit_set(edit, keys, rows[i].literal, &error)
				: rows[i].what == APPEND
					? toml_edit_append(edit, keys, rows[i].literal, &error)
					: toml_edit_remove(edit, keys, &error);
			if (!fault_disarm()) {
				assert_int_equal(r, 0);
				break;
			}
			if (r != -ENOMEM)
				fail_msg("row %zu, call %u: %d %s", i, n, r, error.message);
			assert_text(edit, rows[i].before);
		}
	}
	for (unsigned n = 0;; n++) {
		autotomledit *edit = NULL;

		fault_arm(n);
		int r = toml_edit_new("a=1", 3, "t", &edit, NULL);
		if (!fault_disarm())
			break;
		assert_int_equal(r, -ENOMEM);
	}
}
