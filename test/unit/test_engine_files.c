/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What containerd and CRI-O read after configure, on small roots. What they read is worked out here
 * from the files, the plain way, not by the code under test.
 */
#include "test.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "runtimes/runtimes.h"

enum { LINES_MAX = 256, LINE_MAX = 512 };

/* "containerd.runtimes.nvidia.runtime_type = \"x\"", sorted. */
struct lines {
	char items[LINES_MAX][LINE_MAX];
	size_t count;
};

static size_t key_length(const char *line)
{
	return strcspn(line, "=");
}

static int by_key(const void *left, const void *right)
{
	return strcmp(left, right);
}

static void lines_add(struct lines *lines, const char *line)
{
	for (size_t i = 0; i < lines->count; i++)
		if (key_length(lines->items[i]) == key_length(line) &&
		    strncmp(lines->items[i], line, key_length(line)) == 0) {
			snprintf(lines->items[i], LINE_MAX, "%s", line);
			return;
		}
	assert_true(lines->count < LINES_MAX);
	snprintf(lines->items[lines->count++], LINE_MAX, "%s", line);
}

static void lines_drop(struct lines *lines, const char *start)
{
	size_t kept = 0;

	for (size_t i = 0; i < lines->count; i++)
		if (strncmp(lines->items[i], start, strlen(start)) != 0)
			memmove(lines->items[kept++], lines->items[i], LINE_MAX);
	lines->count = kept;
}

static void flatten(const struct toml_value *value, const char *prefix, struct lines *lines);

static void flatten_item(const char *key, const struct toml_value *value, const char *prefix,
			 struct lines *lines)
{
	char path[LINE_MAX / 2], line[LINE_MAX];

	snprintf(path, sizeof(path), strchr(key, '.') ? "%s%s\"%s\"" : "%s%s%s", prefix,
		 *prefix ? "." : "", key);
	if (toml_kind(value) == TOML_TABLE) {
		flatten(value, path, lines);
	} else if (toml_kind(value) == TOML_ARRAY) {
		snprintf(line, sizeof(line), "%s = [", path);
		for (size_t i = 0; i < toml_count(value); i++) {
			size_t length = strlen(line);

			snprintf(line + length, sizeof(line) - length, "%s\"%s\"", i ? ", " : "",
				 toml_string(toml_at(value, i, NULL), "?"));
		}
		size_t length = strlen(line);
		snprintf(line + length, sizeof(line) - length, "]");
		lines_add(lines, line);
	} else {
		bool text = toml_kind(value) == TOML_STRING;

		snprintf(line, sizeof(line), "%s = %s%s%s", path, text ? "\"" : "",
			 toml_text(value, NULL), text ? "\"" : "");
		lines_add(lines, line);
	}
}

static void flatten(const struct toml_value *value, const char *prefix, struct lines *lines)
{
	for (size_t i = 0; i < toml_count(value); i++) {
		const char *key = NULL;
		const struct toml_value *item = toml_at(value, i, &key);

		flatten_item(key, item, prefix, lines);
	}
}

static void parse_file(const char *root, const char *path, struct toml **ret)
{
	char full[512];
	struct error error = ERROR_INIT;

	snprintf(full, sizeof(full), "%s%s", root, path);
	if (toml_read_file(full, ret, &error) < 0)
		fail_msg("%s", error.message);
}

static const struct toml_value *any_section(const struct toml *toml)
{
	static const char *const names[] = { "io.containerd.cri.v1.runtime",
					     "io.containerd.grpc.v1.cri", "cri" };
	const struct toml_value *section = NULL;

	for (size_t i = 0; !section && i < ARRAY_SIZE(names); i++)
		section = toml_get(toml_root(toml),
				   (const char *const[]){ "plugins", names[i], NULL });
	return section;
}

/* The first file, then conf.d/99-nvidia.toml where it imports that directory. */
static void read_containerd(const char *root, bool merges, struct lines *lines)
{
	autotoml *first = NULL, *second = NULL;

	lines->count = 0;
	parse_file(root, "/etc/containerd/config.toml", &first);
	flatten(any_section(first), "", lines);
	const struct toml_value *imports =
		toml_get(toml_root(first), (const char *const[]){ "imports", NULL });
	for (size_t i = 0; i < toml_count(imports); i++)
		if (fnmatch(toml_string(toml_at(imports, i, NULL), ""),
			    "/etc/containerd/conf.d/99-nvidia.toml", FNM_PATHNAME) == 0)
			parse_file(root, "/etc/containerd/conf.d/99-nvidia.toml", &second);
	if (second && any_section(second)) {
		if (!merges)
			lines->count = 0;
		flatten(any_section(second), "", lines);
	}
}

static void read_crio(const char *root, struct lines *lines)
{
	static const char *const keys[] = { "crio", "runtime", NULL };
	static const char *const paths[] = { "/etc/crio/crio.conf",
					     "/etc/crio/crio.conf.d/99-nvidia.toml" };

	lines->count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct host host = { .root = root };
		autotoml *toml = NULL;

		if (!host_exists(&host, paths[i]))
			continue;
		parse_file(root, paths[i], &toml);
		const struct toml_value *runtimes =
			toml_get(toml_root(toml),
				 (const char *const[]){ "crio", "runtime", "runtimes", NULL });
		for (size_t k = 0; k < toml_count(runtimes); k++) {
			const char *key = NULL;
			char start[LINE_MAX];

			(void)toml_at(runtimes, k, &key);
			snprintf(start, sizeof(start), "runtimes.%s.", key);
			lines_drop(lines, start);
		}
		flatten(toml_get(toml_root(toml), keys), "", lines);
	}
}

/* One case of a file in test/data/runtimes. */
struct peer_case {
	char name[200];
	bool cdi, set_default, unit;
	char file[8192];
	struct lines results;
	bool has_file;
};

struct version {
	const char *text; /* of the engine */
	unsigned major, minor;
};

static int engine_for(enum engine_kind kind, const struct version *version, struct engine *ret)
{
	struct error error = ERROR_INIT;
	int r = engine_assume(kind, NULL, ret, &error);

	ret->major = version->major;
	ret->minor = version->minor;
	return r;
}

static int call(const char *root, const struct engine *engine, const struct runtime_wish *wish,
		bool undo, size_t *ret_changes, struct error *error)
{
	cleanup(configure_plan_release) struct configure_plan plan = { .changes = NULL };
	cleanup(string_list_release) struct string_list notes = { .items = NULL };
	struct host host = { .root = root };
	struct configure_options options = { .wish = *wish, .restart = RESTART_NEVER };
	int r = undo ? configure_plan_undo(&host, engine, &options, &plan, error)
		     : configure_plan_make(&host, engine, &options, &plan, error);

	if (r < 0)
		return r;
	if (ret_changes)
		*ret_changes = plan.count;
	return configure_apply(&host, engine, &options, &plan, &notes, error);
}

static void compare(const struct peer_case *peer, const struct version *version,
		    struct lines *lines)
{
	size_t kept = 0;

	for (size_t i = 0; i < lines->count; i++)
		if (!strstr(lines->items[i], ".container_annotations = "))
			memmove(lines->items[kept++], lines->items[i], LINE_MAX);
	lines->count = kept;
	qsort(lines->items, lines->count, LINE_MAX, by_key);
	for (size_t i = 0; i < lines->count && i < peer->results.count; i++)
		if (strcmp(lines->items[i], peer->results.items[i]) != 0)
			fail_msg("%s (%s): %s, not %s", peer->name, version->text, lines->items[i],
				 peer->results.items[i]);
	if (lines->count != peer->results.count)
		fail_msg("%s (%s): %zu lines, not %zu", peer->name, version->text, lines->count,
			 peer->results.count);
}

static void check_case(struct peer_case *peer, enum engine_kind kind, const struct version *version)
{
	static const struct runtime_entry all[] = {
		{ "nvidia", "/usr/bin/nvidia-container-runtime" },
		{ "nvidia-cdi", "/usr/bin/nvidia-container-runtime.cdi" },
		{ "nvidia-legacy", "/usr/bin/nvidia-container-runtime.legacy" },
	};
	static const struct runtime_entry unit = { "test", "/usr/bin/test" };
	const char *path =
		kind == ENGINE_CRIO ? "etc/crio/crio.conf" : "etc/containerd/config.toml";
	struct runtime_wish wish = { .entries = peer->unit ? &unit : all,
				     .count = peer->unit ? 1 : ARRAY_SIZE(all),
				     .set_default = peer->set_default,
				     .cdi = peer->cdi };
	cleanup(engine_release) struct engine engine = { .pid = 0 };
	static struct lines lines;
	struct error error = ERROR_INIT;
	struct fixture fixture;
	struct host host = { .root = NULL };
	size_t changes = 0;

	qsort(peer->results.items, peer->results.count, LINE_MAX, by_key);
	fixture_make(&fixture, NULL, 0);
	host.root = fixture.root;
	if (peer->has_file)
		fixture_write(&fixture, path, peer->file);
	assert_int_equal(engine_for(kind, version, &engine), 0);
	if (call(fixture.root, &engine, &wish, false, NULL, &error) < 0)
		fail_msg("%s (%s): %s", peer->name, version->text, error.message);
	if (kind == ENGINE_CRIO)
		read_crio(fixture.root, &lines);
	else
		read_containerd(fixture.root,
				version->major > 2 || (version->major == 2 && version->minor > 0),
				&lines);
	compare(peer, version, &lines);
	assert_int_equal(call(fixture.root, &engine, &wish, false, &changes, &error), 0);
	assert_int_equal(changes, 0);
	if (call(fixture.root, &engine, &wish, true, NULL, &error) < 0)
		fail_msg("%s (%s): %s", peer->name, version->text, error.message);
	autofree char *text = NULL;
	(void)host_read(&host, path, &text, NULL, NULL);
	assert_int_equal(text != NULL, peer->has_file);
	if (text)
		assert_string_equal(text, peer->file);
	fixture_remove(&fixture);
}

static bool take_line(struct peer_case *peer, const char *line)
{
	if (strncmp(line, "case ", 5) == 0) {
		memset(peer, 0, sizeof(*peer));
		snprintf(peer->name, sizeof(peer->name), "%s", line + 5);
	} else if (strncmp(line, "options", 7) == 0) {
		peer->cdi = strstr(line, " cdi") != NULL;
		peer->set_default = strstr(line, " default") != NULL;
		peer->unit = strstr(line, " unit") != NULL;
	} else if (strncmp(line, "file ", 5) == 0) {
		size_t length = strlen(peer->file);

		snprintf(peer->file + length, sizeof(peer->file) - length, "%s\n", line + 5);
		peer->has_file = true;
	} else if (strncmp(line, "result ", 7) == 0) {
		lines_add(&peer->results, line + 7);
	}
	/* A blank line ends a case. */
	return !*line && peer->name[0];
}

static unsigned check_cases(const char *path, enum engine_kind kind, const struct version *versions,
			    size_t count, const char *start)
{
	static struct peer_case peer;
	autofree char *text = NULL;
	struct error error = ERROR_INIT;
	unsigned cases = 0;
	char *rest, *line;

	memset(&peer, 0, sizeof(peer));
	if (file_read(path, 1 << 20, &text, NULL, &error) < 0)
		fail_msg("%s", error.message);
	for (rest = text; (line = strsep(&rest, "\n"));) {
		if (!take_line(&peer, line))
			continue;
		if (strncmp(peer.name, start, strlen(start)) == 0) {
			for (size_t i = 0; i < count; i++)
				check_case(&peer, kind, &versions[i]);
			cases++;
		}
		memset(&peer, 0, sizeof(peer));
	}
	return cases;
}

TEST(peer_cases_of_containerd)
{
	static const struct version old[] = { { "1.6", 1, 6 }, { "unknown", 0, 0 } };
	static const struct version all[] = {
		{ "1.7", 1, 7 }, { "2.0", 2, 0 }, { "2.1", 2, 1 }, { "2.4", 2, 4 }
	};
	const char *path = SOURCE_ROOT "/test/data/runtimes/containerd-cases";

	assert_int_equal(check_cases(path, ENGINE_CONTAINERD, old, 2, "v1"), 4);
	/* CDI is on in 2.0 without a word, so only the old ones get it. */
	assert_int_equal(check_cases(path, ENGINE_CONTAINERD, all, 1, "v2"), 7);
	assert_int_equal(check_cases(path, ENGINE_CONTAINERD, all, ARRAY_SIZE(all), "v3"), 4);
}

TEST(peer_cases_of_crio)
{
	static const struct version version = { "1.33", 1, 33 };

	assert_int_equal(check_cases(SOURCE_ROOT "/test/data/runtimes/crio-cases", ENGINE_CRIO,
				     &version, 1, ""),
			 8);
}

/* What configure makes of the files of a host, whole. */
struct layout_row {
	const char *name;
	enum engine_kind kind;
	struct version version;
	const char *config; /* NULL: the usual one */
	const char *distribution;
	struct fixture_file files[5];
	bool set_default, cdi;
	const char *path;     /* the one file that changes, */
	const char *result;   /* and what it is then */
	const char *sentence; /* or why nothing does */
};

#define V2       "plugins.\"io.containerd.grpc.v1.cri\""
#define V3       "plugins.\"io.containerd.cri.v1.runtime\""
#define K3S      "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"
#define K3S_FILE "var/lib/rancher/k3s/agent/etc/containerd/config"
#define RUNC(cri)                                                                        \
	"[" cri ".containerd.runtimes.runc]\nruntime_type = \"io.containerd.runc.v2\"\n" \
	"[" cri ".containerd.runtimes.runc.options]\nSystemdCgroup = true\n"
#define OURS(cri)                                                                          \
	"[" cri ".containerd.runtimes.nvidia]\nruntime_type = \"io.containerd.runc.v2\"\n" \
	"container_annotations = [\"cdi.k8s.io/*\"]\n"
#define OPTIONS(cri)                                     \
	"[" cri ".containerd.runtimes.nvidia.options]\n" \
	"SystemdCgroup = true\nBinaryName = \"/usr/bin/gpupool-runtime\"\n"
#define PLAIN(cri)                                       \
	"[" cri ".containerd.runtimes.nvidia.options]\n" \
	"BinaryName = \"/usr/bin/gpupool-runtime\"\n"

static const struct layout_row layout_rows[] = {
	{ .name = "2.1: a file of our own, and the import that it needs comes first in the old one",
	  .version = { "2.1", 2, 1 },
	  .files = { { "etc/containerd/config.toml",
		       "version = 3\nimports = [\"conf.d/*.toml\"]\n" RUNC(V3) } },
	  .path = "/etc/containerd/conf.d/99-nvidia.toml",
	  .result = "version = 3\n\n" OURS(V3) "\n" OPTIONS(V3) },
	{ .name = "2.1: another directory is imported",
	  .version = { "2.1", 2, 1 },
	  .files = { { "etc/containerd/config.toml",
		       "version = 3\nimports = [\"/srv/x.toml\", \"/srv/c/*.toml\"]\n" },
		     { "srv/x.toml", "version = 3\n" RUNC(V3) } },
	  .path = "/srv/c/99-nvidia.toml",
	  .result = "version = 3\n\n" OURS(V3) "\n" OPTIONS(V3) },
	{ .name = "1.7: the last file that has the section, not the first",
	  .version = { "1.7", 1, 7 },
	  .files = { { "etc/containerd/config.toml",
		       "version = 2\nimports = [\"/srv/c/*.toml\"]\n" RUNC(V2) },
		     { "srv/c/b.toml", "version = 2\n[" V2 "]\nsandbox_image = \"x\"\n" },
		     { "srv/c/c.toml", "version = 2\nroot = \"/r\"\n" } },
	  .path = "/srv/c/b.toml",
	  .result = "version = 2\n[" V2 "]\nsandbox_image = \"x\"\n\n" OURS(V2) "\n" PLAIN(V2) },
	{ .name = "2.1: a file that is read later says otherwise",
	  .version = { "2.1", 2, 1 },
	  .files = { { "etc/containerd/config.toml",
		       "version = 3\nimports = [\"conf.d/*.toml\"]\n" },
		     { "etc/containerd/conf.d/zz.toml",
		       "version = 3\n[" V3 ".containerd.runtimes.nvidia.options]\n"
		       "BinaryName = \"/x\"\n" } },
	  .sentence = "/etc/containerd/conf.d/zz.toml is read after our file" },
	{ .name = "an import that is not there",
	  .version = { "2.1", 2, 1 },
	  .files = { { "etc/containerd/config.toml", "version = 3\nimports = [\"/x.toml\"]\n" } },
	  .sentence = "imports /x.toml, which does not exist" },
	{ .name = "files that import each other in a ring",
	  .version = { "1.7", 1, 7 },
	  .files = { { "etc/containerd/config.toml",
		       "version = 2\nimports = [\"a.toml\"]\n" RUNC(V2) },
		     { "etc/containerd/a.toml", "version = 2\nimports = [\"config.toml\"]\n" } },
	  .path = "/etc/containerd/config.toml",
	  .result =
		  "version = 2\nimports = [\"a.toml\"]\n" RUNC(V2) "\n" OURS(V2) "\n" OPTIONS(V2) },
	{ .name = "a file that is no TOML",
	  .version = { "1.7", 1, 7 },
	  .files = { { "etc/containerd/config.toml", "version = 2\n[plugins\n" } },
	  .sentence = "/etc/containerd/config.toml:2:" },
	{ .name = "no version is version 1, changed in place also by a new containerd",
	  .version = { "2.1", 2, 1 },
	  .files = { { "etc/containerd/config.toml",
		       "[plugins.cri.containerd]\nsnapshotter = \"x\"\n" } },
	  .path = "/etc/containerd/config.toml",
	  .result = "[plugins.cri.containerd]\nsnapshotter = \"x\"\n\n" OURS(
		  "plugins.cri") "\n" PLAIN("plugins.cri") "Runtime = "
							   "\"/usr/bin/gpupool-runtime\"\n" },
	{ .name = "a default of another kind is nobody's model",
	  .version = { "1.7", 1, 7 },
	  .files = { { "etc/containerd/config.toml",
		       "version = 2\n[" V2 ".containerd]\ndefault_runtime_name = \"kata\"\n"
		       "[" V2
		       ".containerd.runtimes.kata]\nruntime_type = \"io.containerd.kata.v2\"\n"
		       "privileged_without_host_devices = true\n" } },
	  .path = "/etc/containerd/config.toml",
	  .result = "version = 2\n[" V2 ".containerd]\ndefault_runtime_name = \"kata\"\n"
		    "[" V2 ".containerd.runtimes.kata]\nruntime_type = \"io.containerd.kata.v2\"\n"
		    "privileged_without_host_devices = true\n\n" OURS(V2) "\n" PLAIN(V2) },
	{ .name = "CDI that somebody switched off in 2.1",
	  .version = { "2.1", 2, 1 },
	  .files = { { "etc/containerd/config.toml",
		       "version = 3\nimports = [\"conf.d/*.toml\"]\n[" V3 "]\nenable_cdi = false\n"
		       "[" V3 ".containerd.runtimes.nvidia.options]\n"
		       "BinaryName = \"/usr/bin/gpupool-runtime\"\n" } },
	  .cdi = true,
	  .path = "/etc/containerd/conf.d/99-nvidia.toml",
	  .result = "version = 3\n\n[" V3 "]\nenable_cdi = true\n\n[" V3
		    ".containerd.runtimes.nvidia.options]\nBinaryName = "
		    "\"/usr/bin/gpupool-runtime\"\n" },
	{ .name = "k3s with containerd 1.7: a template on the base",
	  .version = { "1.7", 1, 7 },
	  .config = K3S,
	  .distribution = "k3s",
	  .files = { { K3S_FILE ".toml", "version = 2\n" RUNC(V2) } },
	  .path = "/" K3S_FILE ".toml.tmpl",
	  .result = "{{ template \"base\" . }}\n\n# begin gpupool configure\n" OURS(
		  V2) "\n" OPTIONS(V2) "# end gpupool configure\n" },
	{ .name = "k3s with containerd 2.0 and a template of its own",
	  .version = { "2.0", 2, 0 },
	  .config = K3S,
	  .distribution = "k3s",
	  .files = { { K3S_FILE ".toml", "version = 3\n" RUNC(V3) },
		     { K3S_FILE "-v3.toml.tmpl", "{{ template \"base\" . }}\n# {{ .x }}" } },
	  .path = "/" K3S_FILE "-v3.toml.tmpl",
	  .result = "{{ template \"base\" . }}\n# {{ .x }}\n\n# begin gpupool configure\n" OURS(
		  V3) "\n" OPTIONS(V3) "# end gpupool configure\n" },
	{ .name = "k3s with containerd 2.1 that imports a directory",
	  .version = { "2.1", 2, 1 },
	  .config = K3S,
	  .distribution = "k3s",
	  .files = { { K3S_FILE ".toml",
		       "version = 3\nimports = [\"/" K3S_FILE "-v3.toml.d/*.toml\"]\n" RUNC(V3) } },
	  .path = "/" K3S_FILE "-v3.toml.d/99-nvidia.toml",
	  .result = "version = 3\n\n" OURS(V3) "\n" OPTIONS(V3) },
	{ .name = "RKE2 that has found a runtime of that name itself",
	  .version = { "1.7", 1, 7 },
	  .config = "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
	  .distribution = "rke2",
	  .files = { { "var/lib/rancher/rke2/agent/etc/containerd/config.toml",
		       "version = 2\n[" V2 ".containerd.runtimes.nvidia.options]\nBinaryName = "
		       "\"/usr/bin/nvidia-container-runtime\"\n" } },
	  .sentence =
		  "already has a runtime nvidia of its own (/usr/bin/nvidia-container-runtime)" },
	{ .name = "k3s sets the default itself",
	  .version = { "1.7", 1, 7 },
	  .config = K3S,
	  .distribution = "k3s",
	  .files = { { K3S_FILE ".toml", "version = 2\n" RUNC(V2) } },
	  .set_default = true,
	  .sentence = "default-runtime: nvidia" },
	{ .name = "k0s that manages its file",
	  .version = { "1.7", 1, 7 },
	  .config = "/etc/k0s/containerd.toml",
	  .distribution = "k0s",
	  .files = { { "etc/k0s/containerd.toml",
		       "# k0s_managed=true\nversion = 2\nimports = [\"/run/k0s/cri.toml\"]\n" },
		     { "run/k0s/cri.toml", "version = 2\n" RUNC(V2) } },
	  .path = "/etc/k0s/containerd.d/99-nvidia.toml",
	  .result = "version = 2\n\n" OURS(V2) "\n" OPTIONS(V2) },
	{ .name = "k0s whose file somebody took over",
	  .version = { "1.7", 1, 7 },
	  .config = "/etc/k0s/containerd.toml",
	  .distribution = "k0s",
	  .files = { { "etc/k0s/containerd.toml", "version = 2\n" RUNC(V2) } },
	  .path = "/etc/k0s/containerd.toml",
	  .result = "version = 2\n" RUNC(V2) "\n" OURS(V2) "\n" OPTIONS(V2) },
	{ .name = "MicroK8s: the template, whose variables stay",
	  .version = { "1.7", 1, 7 },
	  .config = "/var/snap/microk8s/1/args/containerd.toml",
	  .distribution = "microk8s",
	  .files = { { "var/snap/microk8s/1/args/containerd.toml", "version = 2\n" RUNC(V2) },
		     { "var/snap/microk8s/1/args/containerd-template.toml",
		       "version = 2\n[" V2 ".containerd]\nsnapshotter = \"${SNAPSHOTTER}\"\n" } },
	  .path = "/var/snap/microk8s/1/args/containerd-template.toml",
	  .result = "version = 2\n[" V2
		    ".containerd]\nsnapshotter = \"${SNAPSHOTTER}\"\n\n" OURS(V2) "\n" PLAIN(V2) },
	{ .name = "CRI-O: a file behind ours says otherwise",
	  .kind = ENGINE_CRIO,
	  .version = { "1.33", 1, 33 },
	  .files = { { "etc/crio/crio.conf.d/zz.conf",
		       "[crio.runtime.runtimes.nvidia]\nruntime_path = \"/x\"\n" } },
	  .sentence = "a file behind 99-nvidia.toml" },
	{ .name = "CRI-O: a file before ours does not matter",
	  .kind = ENGINE_CRIO,
	  .version = { "1.33", 1, 33 },
	  .files = { { "etc/crio/crio.conf.d/10-x.conf",
		       "[crio.runtime.runtimes.nvidia]\nruntime_path = \"/x\"\n" } },
	  .set_default = true,
	  .path = "/etc/crio/crio.conf.d/99-nvidia.toml",
	  .result =
		  "[crio.runtime]\ndefault_runtime = \"nvidia\"\n\n[crio.runtime.runtimes.nvidia]\n"
		  "runtime_path = \"/usr/bin/gpupool-runtime\"\nruntime_type = \"oci\"\n" },
};

static void check_layout(const struct layout_row *row)
{
	static const struct runtime_entry entry = { "nvidia", "/usr/bin/gpupool-runtime" };
	const struct runtime_wish wish = { &entry, 1, row->set_default, row->cdi };
	struct configure_options options = { .wish = wish, .restart = RESTART_NEVER };
	cleanup(configure_plan_release) struct configure_plan plan = { .changes = NULL };
	cleanup(engine_release) struct engine engine = { .pid = 0 };
	struct host host = { .root = NULL };
	struct error error = ERROR_INIT;
	struct fixture fixture;
	size_t count = 0;

	while (count < ARRAY_SIZE(row->files) && row->files[count].path)
		count++;
	fixture_make(&fixture, row->files, count);
	host.root = fixture.root;
	assert_int_equal(engine_for(row->kind, &row->version, &engine), 0);
	if (row->config) {
		free(engine.config);
		engine.config = strdup(row->config);
	}
	snprintf(engine.distribution, sizeof(engine.distribution), "%s",
		 row->distribution ? row->distribution : "");
	int r = configure_plan_make(&host, &engine, &options, &plan, &error);
	if (row->sentence) {
		if (r != -EINVAL || !strstr(error.message, row->sentence))
			fail_msg("%s: %d, %s", row->name, r, error.message);
	} else {
		if (r < 0)
			fail_msg("%s: %s", row->name, error.message);
		if (plan.count != 1 || strcmp(plan.changes[0].path, row->path) != 0)
			fail_msg("%s: %zu changes, the first of %s", row->name, plan.count,
				 plan.count ? plan.changes[0].path : "nothing");
		if (strcmp(plan.changes[0].after, row->result) != 0)
			fail_msg("%s: %s", row->name, plan.changes[0].after);
		assert_int_equal(plan.restart, CONFIGURE_RESTART);
	}
	fixture_remove(&fixture);
}

TEST(layouts_of_engines_and_distributions)
{
	for (size_t i = 0; i < ARRAY_SIZE(layout_rows); i++)
		check_layout(&layout_rows[i]);
}
