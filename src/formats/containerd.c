/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/containerd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/toml_parts.h"

#define RUNC_TYPE "io.containerd.runc.v2"

static int parse(const char *text, const char *path, struct toml **ret, struct error *error)
{
	return toml_parse(text ? text : "", text ? strlen(text) : 0, path, ret, error);
}

static unsigned version_of(const struct toml_value *root)
{
	const struct keys key = KEYS("version");

	if (toml_count(root) == 0)
		return 0;
	int64_t version = toml_integer(keys_get(root, &key), 1);
	return version < 1 || version > 99 ? 1 : (unsigned)version;
}

int containerd_version(const char *text, const char *path, unsigned *ret, struct error *error)
{
	autotoml *toml = NULL;
	int r = parse(text, path, &toml, error);

	if (r < 0)
		return r;
	*ret = version_of(toml_root(toml));
	return 0;
}

static int import_add(const char *import, const char *path, struct string_list *ret)
{
	autostrbuf full = STRBUF_INIT(ROOT_PATH_MAX);
	const char *slash = strrchr(path, '/');

	if (import[0] != '/' && slash)
		strbuf_add(&full, path, (size_t)(slash - path) + 1);
	strbuf_adds(&full, import);
	/* A name that is too long is none that containerd could open. */
	if (strbuf_failed(&full) == -ENAMETOOLONG)
		return 0;
	return strbuf_failed(&full) < 0 ? -ENOMEM : string_list_add(ret, full.data);
}

int containerd_imports(const char *text, const char *path, struct string_list *ret,
		       struct error *error)
{
	cleanup(string_list_release) struct string_list list = { .items = NULL };
	const struct keys key = KEYS("imports");
	autotoml *toml = NULL;
	int r = parse(text, path, &toml, error);

	if (r < 0)
		return r;
	const struct toml_value *imports = keys_get(toml_root(toml), &key);
	for (size_t i = 0; i < toml_count(imports); i++) {
		const char *import = toml_string(toml_at(imports, i, NULL), NULL);

		if (import && import_add(import, path, &list) < 0)
			return error_no_memory(error);
	}
	*ret = list;
	list = (struct string_list){ .items = NULL };
	return 0;
}

/* All files at hand, each read once. */
struct parsed {
	const struct config_files *files;
	struct toml **trees; /* owned, one a file */
};

static void parsed_release(struct parsed *parsed)
{
	for (size_t i = 0; parsed->trees && i < parsed->files->count; i++)
		toml_free(parsed->trees[i]);
	free(parsed->trees);
}

static int parsed_read(const struct config_files *files, struct parsed *ret, struct error *error)
{
	*ret = (struct parsed){ files, calloc(files->count + 1, sizeof(struct toml *)) };
	if (!ret->trees)
		return error_no_memory(error);
	for (size_t i = 0; i < files->count; i++) {
		int r = parse(files->items[i].text, files->items[i].path, &ret->trees[i], error);

		if (r < 0)
			return r;
	}
	return 0;
}

int containerd_socket(const struct config_files *files, char **ret, struct error *error)
{
	/* Version 4 has made a plugin of it. */
	const struct keys keys[] = { KEYS("grpc", "address"),
				     KEYS("plugins", "io.containerd.server.v1.grpc", "address") };
	cleanup(parsed_release) struct parsed parsed;
	const char *found = NULL;
	int r = parsed_read(files, &parsed, error);

	if (r < 0)
		return r;
	for (size_t i = 0; i < files->count; i++) {
		const char *address = NULL;

		for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
			address = toml_string(keys_get(toml_root(parsed.trees[i]), &keys[k]),
					      address);
		if (address && *address)
			found = address;
	}
	*ret = found ? strdup(found) : NULL;
	return found && !*ret ? error_no_memory(error) : 0;
}

/* Where a file of VERSION has the section of the CRI plugin. */
static struct keys cri_keys(unsigned version)
{
	if (version <= 1)
		return KEYS("plugins", "cri");
	if (version == 2)
		return KEYS("plugins", "io.containerd.grpc.v1.cri");
	return KEYS("plugins", "io.containerd.cri.v1.runtime");
}

/* The same of the file at hand: a drop-in may say no version and mean that of the first file. */
static struct keys cri_keys_of(const struct toml_value *root)
{
	unsigned version = version_of(root);
	struct keys keys = cri_keys(version);

	for (unsigned other = 3; !keys_get(root, &keys) && other > 0; other--) {
		struct keys candidate = cri_keys(other);

		/* In version 3 the old name still exists, for the streaming server alone. */
		if (version < 3 && keys_get(root, &candidate))
			keys = candidate;
	}
	return keys;
}

static const struct toml_value *cri_section(const struct toml_value *root)
{
	struct keys keys = cri_keys_of(root);

	return keys_get(root, &keys);
}

static const struct toml_value *section_of(const struct parsed *parsed, size_t file)
{
	return cri_section(toml_root(parsed->trees[file]));
}

static const struct toml_value *runtimes_of(const struct toml_value *section)
{
	const struct keys keys = KEYS("containerd", "runtimes");

	return keys_get(section, &keys);
}

static const char *program_of(const struct toml_value *runtime)
{
	const struct keys name = KEYS("options", "BinaryName"), old = KEYS("options", "Runtime");

	return toml_string(keys_get(runtime, &name), toml_string(keys_get(runtime, &old), NULL));
}

static int facts_take(struct runtime_facts *facts, const struct toml_value *section)
{
	const struct keys standard = KEYS("containerd", "default_runtime_name");
	const struct keys cdi = KEYS("enable_cdi");
	const struct toml_value *runtimes = runtimes_of(section);
	const char *name = toml_string(keys_get(section, &standard), NULL);

	for (size_t i = 0; i < toml_count(runtimes); i++) {
		const char *key = NULL;
		const struct toml_value *runtime = toml_at(runtimes, i, &key);
		const char *program = program_of(runtime);
		const struct runtime_fact *known = runtime_facts_find(facts, key);

		if (!program && known)
			continue;
		if (runtime_facts_add(facts, key, program) < 0)
			return -ENOMEM;
	}
	if (name && runtime_facts_set_default(facts, name) < 0)
		return -ENOMEM;
	if (toml_kind(keys_get(section, &cdi)) == TOML_BOOLEAN)
		facts->cdi = toml_boolean(keys_get(section, &cdi), false) ? RUNTIME_CDI_ON
									  : RUNTIME_CDI_OFF;
	return 0;
}

static int facts_read(const struct parsed *parsed, struct runtime_facts *ret, struct error *error)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };

	for (size_t i = 0; i < parsed->files->count; i++) {
		const struct toml_value *section = section_of(parsed, i);

		if (!section)
			continue;
		if (!parsed->files->merges)
			runtime_facts_release(&facts);
		if (facts_take(&facts, section) < 0)
			return error_no_memory(error);
	}
	*ret = facts;
	facts = (struct runtime_facts){ .items = NULL };
	return 0;
}

int containerd_read(const struct config_files *files, struct runtime_facts *ret,
		    struct error *error)
{
	cleanup(parsed_release) struct parsed parsed;
	int r = parsed_read(files, &parsed, error);

	return r < 0 ? r : facts_read(&parsed, ret, error);
}

static size_t last_section(const struct parsed *parsed)
{
	size_t last = 0;

	for (size_t i = 0; i < parsed->files->count; i++)
		if (section_of(parsed, i))
			last = i;
	return last;
}

int containerd_last_section(const struct config_files *files, size_t *ret, struct error *error)
{
	cleanup(parsed_release) struct parsed parsed;
	int r = parsed_read(files, &parsed, error);

	if (r == 0)
		*ret = last_section(&parsed);
	return r;
}

/* Kinds of runtime whose options name a program. */
static bool is_runc_kind(const struct toml_value *runtime)
{
	const struct keys type = KEYS("runtime_type");
	const char *text = toml_string(keys_get(runtime, &type), RUNC_TYPE);

	return strncmp(text, "io.containerd.runc.", 19) == 0 ||
	       strcmp(text, "io.containerd.runtime.v1.linux") == 0;
}

static bool is_wished(const struct runtime_wish *wish, const char *name)
{
	for (size_t i = 0; i < wish->count; i++)
		if (strcmp(wish->entries[i].name, name) == 0)
			return true;
	return false;
}

/* Does any file that counts describe the runtime NAME as one of runc's kind? */
static bool is_source(const struct parsed *parsed, const char *name)
{
	bool source = false;

	for (size_t i = 0; i < parsed->files->count; i++) {
		const struct toml_value *section = section_of(parsed, i);
		const struct keys key = KEYS(name);
		const struct toml_value *runtime = keys_get(runtimes_of(section), &key);

		if (section && !parsed->files->merges)
			source = false;
		if (runtime)
			source = is_runc_kind(runtime);
	}
	return source;
}

/* Whose settings a new runtime takes; NULL: nobody's. Static, or of FACTS. */
static const char *find_source(const struct parsed *parsed, const struct runtime_wish *wish,
			       const struct runtime_facts *facts)
{
	const char *const names[] = { facts->default_name, "runc", "crun" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i] && !is_wished(wish, names[i]) && is_source(parsed, names[i]))
			return names[i];
	return NULL;
}

/* From each file that counts, the later over the earlier. */
static int copy_source(const struct parsed *parsed, const char *source, struct toml_edit *edit,
		       const struct keys *runtime, struct error *error)
{
	static const char *const skip[] = { "BinaryName", "Runtime", NULL };
	const struct keys key = KEYS(source);
	int r = 0;

	for (size_t i = parsed->files->merges ? 0 : last_section(parsed);
	     r == 0 && i < parsed->files->count; i++)
		r = edit_copy(edit, runtime, keys_get(runtimes_of(section_of(parsed, i)), &key),
			      skip, error);
	return r;
}

static int set_runtime(const struct parsed *parsed, const struct runtime_entry *entry,
		       const struct containerd_wish *wish, const struct runtime_facts *facts,
		       struct toml_edit *edit, const struct keys *cri, struct error *error)
{
	struct keys runtime = keys_add(cri, "containerd");
	const struct keys type = KEYS("runtime_type");
	const char *source = NULL;
	int r = 0;

	runtime = keys_add(&runtime, "runtimes");
	runtime = keys_add(&runtime, entry->name);
	struct keys below = keys_add(&runtime, "runtime_type");
	if (wish->fresh || !runtime_facts_find(facts, entry->name)) {
		source = find_source(parsed, &wish->common, facts);
		if (source)
			r = copy_source(parsed, source, edit, &runtime, error);
		if (r == 0 && !keys_get(keys_get(toml_edit_root(edit), &runtime), &type))
			r = edit_set_string(edit, &below, RUNC_TYPE, error);
		below = keys_add(&runtime, "container_annotations");
		if (r == 0 && wish->annotations) {
			autostrbuf literal = STRBUF_INIT(4096);

			if (toml_quote(wish->annotations, &literal) < 0)
				return error_no_memory(error);
			r = toml_edit_append(edit, below.items, literal.data, error);
		}
	}
	below = keys_add(&runtime, "options");
	runtime = keys_add(&below, "BinaryName");
	if (r == 0)
		r = edit_set_string(edit, &runtime, entry->path, error);
	runtime = keys_add(&below, "Runtime");
	/* Version 1 knows the old kind of runtime, which reads this one. */
	if (r == 0 && strcmp(cri->items[1], "cri") == 0)
		r = edit_set_string(edit, &runtime, entry->path, error);
	return r;
}

static int set_all(const struct parsed *parsed, const struct containerd_wish *wish,
		   struct toml_edit *edit, const struct keys *cri, struct error *error)
{
	cleanup(runtime_facts_release) struct runtime_facts facts = { .items = NULL };
	const struct keys cdi = keys_add(cri, "enable_cdi");
	struct keys standard = keys_add(cri, "containerd");
	int r = facts_read(parsed, &facts, error);

	standard = keys_add(&standard, "default_runtime_name");
	if (r == 0 && wish->common.cdi && facts.cdi != RUNTIME_CDI_ON)
		r = toml_edit_set(edit, cdi.items, "true", error);
	if (r == 0 && wish->common.set_default && wish->common.count)
		r = edit_set_string(edit, &standard, wish->common.entries[0].name, error);
	for (size_t i = 0; r == 0 && i < wish->common.count; i++)
		r = set_runtime(parsed, &wish->common.entries[i], wish, &facts, edit, cri, error);
	return r;
}

static int new_text(const char *text, unsigned version, struct strbuf *to)
{
	if (text && *text)
		strbuf_adds(to, text);
	else
		strbuf_addf(to, "version = %u\n", version);
	return strbuf_failed(to);
}

int containerd_edit(const struct config_files *files, size_t index,
		    const struct containerd_wish *wish, char **ret, struct error *error)
{
	const struct config_file *file = &files->items[index];
	autostrbuf text = STRBUF_INIT(4 << 20);
	cleanup(parsed_release) struct parsed parsed = { files, NULL };
	autotomledit *edit = NULL;

	if (new_text(file->text, wish->new_version, &text) < 0)
		return error_no_memory(error);
	int r = toml_edit_new(text.data, text.length, file->path, &edit, error);
	if (r == 0)
		r = parsed_read(files, &parsed, error);
	if (r < 0)
		return r;
	/* The edit's values change place when it does: the names of the keys are static. */
	const struct keys cri = cri_keys_of(toml_edit_root(edit));
	r = set_all(&parsed, wish, edit, &cri, error);
	if (r == 0)
		r = edit_text(edit, ret, error);
	if (r == 0 && file->text && strcmp(*ret, file->text) == 0) {
		free(*ret);
		*ret = NULL;
	}
	return r;
}

int containerd_section(const struct config_files *files, const struct containerd_wish *wish,
		       char **ret, struct error *error)
{
	cleanup(parsed_release) struct parsed parsed;
	autotomledit *edit = NULL;
	int r = parsed_read(files, &parsed, error);

	if (r == 0)
		r = toml_edit_new("", 0, files->items[0].path, &edit, error);
	if (r < 0)
		return r;
	const struct keys cri = cri_keys_of(toml_root(parsed.trees[0]));
	r = set_all(&parsed, wish, edit, &cri, error);
	return r < 0 ? r : edit_text(edit, ret, error);
}

int containerd_add_import(const char *text, const char *path, const char *pattern, unsigned version,
			  char **ret, struct error *error)
{
	autostrbuf start = STRBUF_INIT(4 << 20), literal = STRBUF_INIT(ROOT_PATH_MAX);
	const struct keys key = KEYS("imports");
	autotomledit *edit = NULL;

	if (new_text(text, version, &start) < 0 || toml_quote(pattern, &literal) < 0)
		return error_no_memory(error);
	int r = toml_edit_new(start.data, start.length, path, &edit, error);
	if (r == 0)
		r = toml_edit_append(edit, key.items, literal.data, error);
	return r < 0 ? r : edit_text(edit, ret, error);
}

static int remove_key(struct toml_edit *edit, const struct keys *path, bool *changed,
		      struct error *error)
{
	if (!keys_get(toml_edit_root(edit), path))
		return 0;
	*changed = true;
	return toml_edit_remove(edit, path->items, error);
}

static int remove_runtime(struct toml_edit *edit, const struct keys *cri, const char *name,
			  bool *changed, struct error *error)
{
	const struct keys containerd = keys_add(cri, "containerd");
	const struct keys standard = keys_add(&containerd, "default_runtime_name");
	struct keys runtime = keys_add(&containerd, "runtimes");

	runtime = keys_add(&runtime, name);
	int r = remove_key(edit, &runtime, changed, error);
	const char *now = toml_string(keys_get(toml_edit_root(edit), &standard), "");
	return r < 0 || strcmp(now, name) != 0 ? r : remove_key(edit, &standard, changed, error);
}

int containerd_remove(const char *text, const char *path, const struct runtime_wish *wish,
		      char **ret, struct error *error)
{
	autotomledit *edit = NULL;
	bool changed = false;
	int r = toml_edit_new(text, strlen(text), path, &edit, error);

	if (r < 0)
		return r;
	const struct keys cri = cri_keys_of(toml_edit_root(edit));
	for (size_t i = 0; r == 0 && i < wish->count; i++)
		r = remove_runtime(edit, &cri, wish->entries[i].name, &changed, error);
	if (r < 0 || !changed) {
		*ret = NULL;
		return r;
	}
	return edit_text(edit, ret, error);
}
