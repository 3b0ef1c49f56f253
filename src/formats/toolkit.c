/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/toolkit.h"

#include <errno.h>
#include <string.h>

static const char *const toolkit_mode_table[TOOLKIT_MODE_MAX] = {
	[TOOLKIT_AUTO] = "auto",       [TOOLKIT_LEGACY] = "legacy", [TOOLKIT_CDI] = "cdi",
	[TOOLKIT_JIT_CDI] = "jit-cdi", [TOOLKIT_CSV] = "csv",
};
DEFINE_STRING_TABLE(toolkit_mode, enum toolkit_mode, TOOLKIT_MODE_MAX)

enum kind {
	KIND_PASSED, /* a key that is known and decides nothing here */
	KIND_BOOL,
	KIND_STRING,
	KIND_LIST,
	KIND_MODE,
	KIND_CAPABILITIES, /* "honour" or "all" */
	KIND_MAX,
};

static const char *const kind_names[KIND_MAX] = {
	[KIND_PASSED] = "anything",
	[KIND_BOOL] = "true or false",
	[KIND_STRING] = "a string",
	[KIND_LIST] = "a list of strings",
	[KIND_MODE] = "auto, legacy, cdi, jit-cdi or csv",
	[KIND_CAPABILITIES] = "honour or all",
};

#define FIELD(name) offsetof(struct toolkit_config, name)
#define CLI         "nvidia-container-cli."
#define RUNTIME     "nvidia-container-runtime."
#define FEATURES    "features."
#define PASSED(name)                       \
	{                                  \
		name, NULL, KIND_PASSED, 0 \
	}

/*
 * How to add a key: a row. NVIDIA's name with the tables before it; our name in the section
 * "runtime"; either may be NULL. A name that ends in '.' stands for all keys below that table.
 */
static const struct key_row {
	const char *name, *own;
	enum kind kind;
	size_t offset;
} key_rows[] = {
	{ "disable-require", "disable-require", KIND_BOOL, FIELD(disable_require) },
	{ "supported-driver-capabilities", NULL, KIND_STRING, FIELD(supported_capabilities) },
	{ "swarm-resource", NULL, KIND_STRING, FIELD(swarm_resource) },
	{ "accept-nvidia-visible-devices-envvar-when-unprivileged", "accept-env-when-unprivileged",
	  KIND_BOOL, FIELD(accept_env_unprivileged) },
	{ NULL, "accept-env-in-kubernetes", KIND_BOOL, FIELD(accept_env_in_kubernetes) },
	{ "accept-nvidia-visible-devices-as-volume-mounts", "accept-volume-list", KIND_BOOL,
	  FIELD(accept_volume_list) },
	{ NULL, "capabilities", KIND_CAPABILITIES, FIELD(all_capabilities) },
	{ CLI "root", "driver-root", KIND_STRING, FIELD(driver_root) },
	{ RUNTIME "runtimes", "runtimes", KIND_LIST, FIELD(runtimes) },
	{ RUNTIME "mode", NULL, KIND_MODE, FIELD(mode) },
	{ RUNTIME "debug", "log-file", KIND_STRING, FIELD(log_file) },
	{ RUNTIME "modes.cdi.default-kind", NULL, KIND_STRING, FIELD(default_kind) },
	{ RUNTIME "modes.cdi.annotation-prefixes", NULL, KIND_LIST, FIELD(annotation_prefixes) },
	{ RUNTIME "modes.cdi.spec-dirs", "cdi-directories", KIND_LIST, FIELD(spec_directories) },
	{ FEATURES "ignore-imex-channel-requests", NULL, KIND_BOOL, FIELD(ignore_imex) },
	{ FEATURES "no-additional-gids-for-device-nodes", NULL, KIND_BOOL,
	  FIELD(no_additional_gids) },
	PASSED(FEATURES "allow-cuda-compat-libs-from-container"),
	PASSED(FEATURES "allow-ldconfig-from-container"),
	PASSED(FEATURES "allow-unknown-oci-spec-fields"),
	PASSED(FEATURES "disable-cuda-compat-lib-hook"),
	PASSED(FEATURES "disable-imex-channel-creation"),
	PASSED(RUNTIME "log-level"),
	PASSED(RUNTIME "modes.csv."),
	PASSED(RUNTIME "modes.jit-cdi."),
	PASSED(RUNTIME "modes.legacy."),
	PASSED("nvidia-container-runtime-hook."),
	PASSED("nvidia-ctk."),
	PASSED(CLI "path"),
	PASSED(CLI "environment"),
	PASSED(CLI "debug"),
	PASSED(CLI "ldcache"),
	PASSED(CLI "ldconfig"),
	PASSED(CLI "load-kmods"),
	PASSED(CLI "no-pivot"),
	PASSED(CLI "no-cgroups"),
	PASSED(CLI "user"),
};

/* One value, whichever file it came from. */
struct value {
	enum kind kind; /* BOOL, STRING, LIST; PASSED: something else */
	bool flag;
	const char *text;
	struct string_list list;
};

struct place { /* of the value, for messages */
	const char *file, *key;
	unsigned line;
};

static const struct key_row *find_row(const char *name, bool own)
{
	for (size_t i = 0; i < ARRAY_SIZE(key_rows); i++) {
		const char *row = own ? key_rows[i].own : key_rows[i].name;
		size_t length = row ? strlen(row) : 0;

		if (length && (strcmp(row, name) == 0 ||
			       (row[length - 1] == '.' && strncmp(row, name, length) == 0)))
			return &key_rows[i];
	}
	return NULL;
}

static int set_text(char **field, const char *text, struct error *error)
{
	char *copy = *text ? strdup(text) : NULL;

	if (*text && !copy)
		return error_no_memory(error);
	free(*field);
	*field = copy;
	return 0;
}

/* A word of the enum behind KIND_MODE and KIND_CAPABILITIES; false when it is none. */
static bool set_word(struct toolkit_config *config, enum kind kind, const char *text)
{
	enum toolkit_mode mode = toolkit_mode_from_string(text);

	if (kind == KIND_CAPABILITIES) {
		config->all_capabilities = strcmp(text, "all") == 0;
		return config->all_capabilities || strcmp(text, "honour") == 0;
	}
	if ((int)mode < 0)
		return false;
	config->mode = mode;
	return true;
}

static int set_value(struct toolkit_config *config, const struct key_row *row, struct value *value,
		     const struct place *place, struct error *error)
{
	void *field = (char *)config + row->offset;
	bool is_word = row->kind == KIND_MODE || row->kind == KIND_CAPABILITIES;

	if (row->kind == KIND_PASSED)
		return 0;
	if (value->kind != (is_word ? KIND_STRING : row->kind) ||
	    (is_word && !set_word(config, row->kind, value->text)))
		return error_set(error, EINVAL, "%s:%u: %s must be %s", place->file, place->line,
				 place->key, kind_names[row->kind]);
	if (row->kind == KIND_STRING)
		return set_text(field, value->text, error);
	if (row->kind == KIND_BOOL)
		*(bool *)field = value->flag;
	if (row->kind == KIND_LIST) {
		struct string_list *list = field;

		string_list_release(list);
		*list = value->list;
		value->list = (struct string_list){ 0 };
	}
	return 0;
}

static int take_value(struct toolkit_config *config, bool own, struct value *value,
		      const struct place *place, struct error *error)
{
	const struct key_row *row = find_row(place->key, own);

	if (row)
		return set_value(config, row, value, place, error);
	if (string_list_addf(&config->notes,
			     "%s:%u: the key %s is not known here and decides nothing", place->file,
			     place->line, place->key) < 0)
		return error_no_memory(error);
	return 0;
}

static int value_from_toml(const struct toml_value *from, struct value *ret)
{
	struct value value = { .kind = KIND_PASSED };

	if (toml_kind(from) == TOML_BOOLEAN)
		value = (struct value){ .kind = KIND_BOOL, .flag = toml_boolean(from, false) };
	if (toml_kind(from) == TOML_STRING)
		value = (struct value){ .kind = KIND_STRING, .text = toml_string(from, "") };
	if (toml_kind(from) == TOML_ARRAY)
		value.kind = KIND_LIST;
	for (size_t i = 0; value.kind == KIND_LIST && i < toml_count(from); i++) {
		const char *text = toml_string(toml_at(from, i, NULL), NULL);

		if (!text) {
			value.kind = KIND_PASSED;
		} else if (string_list_add(&value.list, text) < 0) {
			string_list_release(&value.list);
			return -ENOMEM;
		}
	}
	*ret = value;
	return 0;
}

struct toml_walk {
	struct toolkit_config *config;
	const char *path;
	struct error *error;
};

static int take_table(const struct toml_walk *walk, const struct toml_value *table,
		      const char *prefix);

static int take_toml(const struct toml_walk *walk, const struct toml_value *item, const char *name)
{
	struct value value = { 0 };
	const struct place place = { walk->path, name, toml_line(item) };

	if (toml_kind(item) == TOML_TABLE)
		return take_table(walk, item, name);
	if (value_from_toml(item, &value) < 0)
		return error_no_memory(walk->error);
	int r = take_value(walk->config, false, &value, &place, walk->error);
	string_list_release(&value.list);
	return r;
}

/* The reader bounds the depth. */
static int take_table(const struct toml_walk *walk, const struct toml_value *table,
		      const char *prefix)
{
	for (size_t i = 0; i < toml_count(table); i++) {
		autostrbuf name = STRBUF_INIT(ERROR_MESSAGE_MAX);
		const char *key = "";
		const struct toml_value *item = toml_at(table, i, &key);

		strbuf_addf(&name, "%s%s%s", prefix, *prefix ? "." : "", key);
		if (name.failed == ENOMEM)
			return error_no_memory(walk->error);
		int r = take_toml(walk, item, name.data);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_toolkit(struct toolkit_config *config, const char *path, struct error *error)
{
	cleanup(toml_freep) struct toml *toml = NULL;
	const struct toml_walk walk = { config, path, error };

	if (!path || (access(path, F_OK) < 0 && errno == ENOENT))
		return 0;
	int r = toml_read_file(path, &toml, error);
	return r < 0 ? r : take_table(&walk, toml_root(toml), "");
}

static int value_from_json(struct json_object *from, struct value *ret)
{
	struct value value = { .kind = KIND_PASSED };

	if (json_object_is_type(from, json_type_boolean))
		value = (struct value){ .kind = KIND_BOOL, .flag = json_object_get_boolean(from) };
	if (json_object_is_type(from, json_type_string))
		value = (struct value){ .kind = KIND_STRING, .text = json_object_get_string(from) };
	if (json_object_is_type(from, json_type_array))
		value.kind = KIND_LIST;
	for (size_t i = 0; value.kind == KIND_LIST && i < json_object_array_length(from); i++) {
		struct json_object *item = json_object_array_get_idx(from, i);

		if (!json_object_is_type(item, json_type_string)) {
			value.kind = KIND_PASSED;
		} else if (string_list_add(&value.list, json_object_get_string(item)) < 0) {
			string_list_release(&value.list);
			return -ENOMEM;
		}
	}
	*ret = value;
	return 0;
}

static int take_section(struct toolkit_config *config, struct json_object *section,
			const char *path, struct error *error)
{
	json_object_object_foreach(section, key, item)
	{
		struct value value = { 0 };
		const struct place place = { path, key, yaml_line(item) };

		if (value_from_json(item, &value) < 0)
			return error_no_memory(error);
		int r = take_value(config, true, &value, &place, error);
		string_list_release(&value.list);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Sections of gpupoold (model/plugin_config.h). */
static bool is_of_daemon(struct json_object *root)
{
	static const char *const names[] = { "version", "flags", "resources",
					     "sharing", "imex",  "gpupool" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (json_object_is_type(root, json_type_object) &&
		    json_object_object_get_ex(root, names[i], NULL))
			return true;
	return false;
}

/* A slip in its name would leave all its keys without effect; a file for gpupoold alone is none. */
static int note_no_section(struct toolkit_config *config, const char *path,
			   struct json_object *root, struct error *error)
{
	if (is_of_daemon(root))
		return 0;
	if (string_list_addf(&config->notes,
			     "%s has no section runtime, so that nothing in it counts here",
			     path) < 0)
		return error_no_memory(error);
	return 0;
}

static int read_own(struct toolkit_config *config, const char *path, struct error *error)
{
	autoyaml stream = { 0 };

	if (!path || (access(path, F_OK) < 0 && errno == ENOENT))
		return 0;
	int r = yaml_read_file(path, &stream, error);
	if (r < 0 || stream.count == 0)
		return r;
	struct json_object *section = json_get(stream.documents[0], "runtime");
	if (!section)
		return note_no_section(config, path, stream.documents[0], error);
	if (!json_object_is_type(section, json_type_object))
		return error_set(error, EINVAL, "%s:%u: runtime must be a map of keys", path,
				 yaml_line(section));
	return take_section(config, section, path, error);
}

static int set_defaults(struct toolkit_config *config, struct error *error)
{
	static const struct {
		size_t offset;
		const char *values[2];
	} lists[] = { { FIELD(runtimes), { "runc", "crun" } },
		      { FIELD(annotation_prefixes), { "cdi.k8s.io/" } },
		      { FIELD(spec_directories), { "/etc/cdi", "/var/run/cdi" } } };

	*config = (struct toolkit_config){ .accept_env_unprivileged = true };
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (size_t j = 0; j < ARRAY_SIZE(lists[i].values) && lists[i].values[j]; j++)
			if (string_list_add((struct string_list *)(void *)((char *)config +
									   lists[i].offset),
					    lists[i].values[j]) < 0)
				return error_no_memory(error);
	int r = set_text(&config->supported_capabilities,
			 "compat32,compute,display,graphics,ngx,utility,video", error);
	return r < 0 ? r : set_text(&config->default_kind, "nvidia.com/gpu", error);
}

int toolkit_config_read(const char *toolkit_path, const char *own_path, struct toolkit_config *ret,
			struct error *error)
{
	cleanup(toolkit_config_release) struct toolkit_config config = { 0 };

	int r = set_defaults(&config, error);
	if (r == 0)
		r = read_toolkit(&config, toolkit_path, error);
	if (r == 0)
		r = read_own(&config, own_path, error);
	if (r < 0)
		return r;
	*ret = config;
	config = (struct toolkit_config){ 0 };
	return 0;
}

void toolkit_config_release(struct toolkit_config *config)
{
	free(config->supported_capabilities);
	free(config->swarm_resource);
	free(config->driver_root);
	free(config->default_kind);
	free(config->log_file);
	string_list_release(&config->runtimes);
	string_list_release(&config->annotation_prefixes);
	string_list_release(&config->spec_directories);
	string_list_release(&config->notes);
	*config = (struct toolkit_config){ 0 };
}
