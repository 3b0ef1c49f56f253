/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks for which devices: CDI annotations, the kubelet's volume list, the environment. */
#include "inject/request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject/device_name.h"
#include "inject/inject.h"

#define VISIBLE_DEVICES "NVIDIA_VISIBLE_DEVICES"
#define REQUIRE_PREFIX  "NVIDIA_REQUIRE_"
#define VOLUME_LIST     "/var/run/nvidia-container-devices"
#define BLANKS          " \t\r\n\v\f"

enum {
	NAMES_MAX = 1024,            /* of one list; keeps a long variable from costing time */
	SHOWN_MAX = 120,             /* characters of a stranger's text in a sentence */
	CHANNEL_MAX = (1 << 20) - 1, /* minors of one major */
};

static const char *const request_source_table[SOURCE_MAX] = {
	[SOURCE_NONE] = "nothing",
	[SOURCE_CDI_ANNOTATION] = "CDI annotations",
	[SOURCE_VOLUMES] = "the kubelet's volume list",
	[SOURCE_ENVIRONMENT] = "the environment",
};
DEFINE_STRING_TABLE(request_source, enum request_source, SOURCE_MAX)

struct reader {
	struct json_object *spec;
	const struct toolkit_config *config;
	struct device_request *request;
	struct error *error;
	bool environment_counts;
};

void device_request_release(struct device_request *request)
{
	string_list_release(&request->devices);
	string_list_release(&request->foreign);
	string_list_release(&request->imex);
	string_list_release(&request->requirements);
	string_list_release(&request->notes);
	*request = (struct device_request){ 0 };
}

static int note(struct reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int note(struct reader *reader, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int r = string_list_addv(&reader->request->notes, format, arguments);
	va_end(arguments);
	return r < 0 ? error_no_memory(reader->error) : 0;
}

/* Adds TEXT once. WHERE is what a message calls its source. */
static int add_once(struct reader *reader, struct string_list *list, const char *text,
		    const char *where)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return 0;
	if (list->count >= NAMES_MAX)
		return error_set(reader->error, EINVAL,
				 "%.*s names more than %d devices; name fewer, or all", SHOWN_MAX,
				 where, NAMES_MAX);
	return string_list_add(list, text) < 0 ? error_no_memory(reader->error) : 0;
}

/* The items of a comma list, blanks around them and empty ones left out. */
static int add_items(struct reader *reader, struct string_list *list, const char *text,
		     const char *where)
{
	int r = 0;

	while (r == 0 && *text) {
		text += strspn(text, "," BLANKS);
		size_t length = strcspn(text, ",");
		const char *next = text + length;

		while (length && strchr(BLANKS, text[length - 1]))
			length--;
		if (length) {
			autofree char *item = strndup(text, length);

			r = item ? add_once(reader, list, item, where)
				 : error_no_memory(reader->error);
		}
		text = next;
	}
	return r;
}

static bool has(const struct string_list *list, const char *word)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], word) == 0)
			return true;
	return false;
}

static const char *variable(const struct reader *reader, const char *name)
{
	return oci_spec_env(reader->spec, name);
}

/* "gpu0" and "mig0:1", as CDI names of type and index are, are "0" and "0:1" here. */
static const char *without_type(const char *name)
{
	static const char *const types[] = { "gpu", "mig" };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		size_t length = strlen(types[i]);

		if (strncmp(name, types[i], length) == 0 && name[length] >= '0' &&
		    name[length] <= '9')
			return name + length;
	}
	return name;
}

static bool is_cdi_name(const char *name)
{
	char kind[CDI_NAME_MAX], device[CDI_NAME_MAX];

	return cdi_name_split(name, kind, device) == 0;
}

/* Kinds of CDI devices that are cards. How to add one: a row. */
static bool is_card_kind(const struct reader *reader, const char *name, size_t length)
{
	static const char *const kinds[] = {
		"nvidia.com/gpu",                   /* NVIDIA's generator */
		"k8s.device-plugin.nvidia.com/gpu", /* its device plugin */
		"runtime.nvidia.com/gpu",           /* its runtime, in memory */
		"management.nvidia.com/gpu",        /* its operator, for containers of its own */
	};
	const char *own = reader->config->default_kind;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i]) == length && memcmp(kinds[i], name, length) == 0)
			return true;
	return own && strlen(own) == length && memcmp(own, name, length) == 0;
}

static int add_device(struct reader *reader, const char *name, const char *where)
{
	struct device_request *request = reader->request;
	const char *equals = strchr(name, '=');

	if (equals && !is_card_kind(reader, name, (size_t)(equals - name)))
		return add_once(reader, &request->foreign, name, where);
	name = equals ? without_type(equals + 1) : name;
	if (strcmp(name, "all") == 0) {
		request->all = true;
		return 0;
	}
	return add_once(reader, &request->devices, name, where);
}

/* void is stronger than none, none than every name (the toolkit's VisibleDevices). */
static int take_names(struct reader *reader, enum request_source source,
		      const struct string_list *names, const char *where)
{
	struct device_request *request = reader->request;
	int r = 0;

	if (!names->count || has(names, "void"))
		return 0;
	request->source = source;
	request->none = has(names, "none");
	for (size_t i = 0; r == 0 && !request->none && i < names->count; i++) {
		const char *name = names->items[i];

		if (strchr(name, '=') && !is_cdi_name(name))
			return error_set(reader->error, EINVAL,
					 "%.*s: \"%.*s\" is no name of a CDI device; write "
					 "vendor/class=device",
					 SHOWN_MAX, where, SHOWN_MAX, name);
		r = add_device(reader, name, where);
	}
	return r;
}

static bool has_prefix(const struct string_list *prefixes, const char *key)
{
	for (size_t i = 0; i < prefixes->count; i++)
		if (*prefixes->items[i] &&
		    strncmp(key, prefixes->items[i], strlen(prefixes->items[i])) == 0)
			return true;
	return false;
}

/* Each one's value is a comma list of full names (CDI's annotations.go). */
static int read_annotations(struct reader *reader)
{
	struct json_object *annotations = json_get(reader->spec, "annotations");
	int r = 0;

	if (!json_object_is_type(annotations, json_type_object))
		return 0;
	json_object_object_foreach(annotations, key, value)
	{
		cleanup(string_list_release) struct string_list names = { 0 };

		if (!has_prefix(&reader->config->annotation_prefixes, key) ||
		    !json_object_is_type(value, json_type_string))
			continue;
		r = add_items(reader, &names, json_object_get_string(value), key);
		for (size_t i = 0; r == 0 && i < names.count; i++)
			if (!is_cdi_name(names.items[i]))
				r = error_set(
					reader->error, EINVAL,
					"annotation %.*s: \"%.*s\" is no name of a CDI device; "
					"write vendor/class=device",
					SHOWN_MAX, key, SHOWN_MAX, names.items[i]);
		if (r == 0)
			r = take_names(reader, SOURCE_CDI_ANNOTATION, &names, key);
		if (r < 0)
			break;
	}
	return r;
}

/* "cdi/VENDOR/CLASS/DEVICE" as the full name of a CDI device; false for any other path. */
static bool cdi_volume_name(const char *path, struct strbuf *out)
{
	const char *class = strncmp(path, "cdi/", 4) == 0 ? strchr(path + 4, '/') : NULL;
	const char *device = class ? strchr(class + 1, '/') : NULL;

	if (!device)
		return false;
	strbuf_add(out, path + 4, (size_t)(device - path - 4));
	strbuf_addf(out, "=%s", device + 1);
	return true;
}

static int add_volume(struct reader *reader, const char *path, struct string_list *names)
{
	autostrbuf name = STRBUF_INIT(ROOT_PATH_MAX);

	path += strspn(path, "/");
	if (!*path)
		return 0;
	if (strncmp(path, "imex/", 5) == 0)
		return add_once(reader, &reader->request->imex, path + 5, VOLUME_LIST);
	if (!cdi_volume_name(path, &name))
		return add_once(reader, names, path, VOLUME_LIST);
	if (strbuf_failed(&name) < 0)
		return error_set(reader->error, -strbuf_failed(&name),
				 "a path below " VOLUME_LIST " is too long");
	return add_once(reader, names, name.data, VOLUME_LIST);
}

/* Only mounts of /dev/null, as the device plugin makes them, not what a user mounts there. */
static int read_volumes(struct reader *reader)
{
	struct json_object *mounts = json_get(reader->spec, "mounts");
	cleanup(string_list_release) struct string_list names = { 0 };
	int r = 0;

	if (!reader->config->accept_volume_list || !json_object_is_type(mounts, json_type_array))
		return 0;
	for (size_t i = 0; r == 0 && i < json_object_array_length(mounts); i++) {
		struct json_object *mount = json_object_array_get_idx(mounts, i);
		const char *path = json_get_string(mount, "destination", "");

		if (strncmp(path, VOLUME_LIST "/", strlen(VOLUME_LIST "/")) == 0 &&
		    strcmp(json_get_string(mount, "source", ""), "/dev/null") == 0)
			r = add_volume(reader, path + strlen(VOLUME_LIST), &names);
	}
	return r < 0 ? r : take_names(reader, SOURCE_VOLUMES, &names, VOLUME_LIST);
}

/* The variables of a swarm are stronger than NVIDIA's; *ret_where is the one that counts. */
static int read_visible(struct reader *reader, struct string_list *names, const char **ret_where)
{
	cleanup(string_list_release) struct string_list swarm = { 0 };
	const char *value = variable(reader, VISIBLE_DEVICES);
	int r = 0;
	bool found = false;

	*ret_where = VISIBLE_DEVICES;
	if (reader->config->swarm_resource)
		r = add_items(reader, &swarm, reader->config->swarm_resource, "swarm-resource");
	for (size_t i = 0; r == 0 && i < swarm.count; i++) {
		const char *more = variable(reader, swarm.items[i]);

		found = found || more;
		if (more)
			r = add_items(reader, names, more, swarm.items[i]);
	}
	if (r < 0 || found) {
		*ret_where = "swarm-resource";
		return r;
	}
	if (value)
		return add_items(reader, names, value, VISIBLE_DEVICES);
	if (reader->request->legacy_image)
		r = add_once(reader, names, "all", VISIBLE_DEVICES);
	return r;
}

static int note_not_counted(struct reader *reader, const char *where, const char *first)
{
	if (reader->request->kubernetes && !reader->config->accept_env_in_kubernetes)
		return note(
			reader,
			"%s (\"%.*s\") does not count in Kubernetes, where every image could take "
			"cards with it. Let the device plugin name the cards by CDI annotations "
			"or by volume mounts, or set runtime.accept-env-in-kubernetes "
			"in " PATH_CONFIG ".",
			where, SHOWN_MAX, first);
	return note(reader,
		    "%s (\"%.*s\") does not count: the container is not privileged and "
		    "accept-nvidia-visible-devices-envvar-when-unprivileged is false.",
		    where, SHOWN_MAX, first);
}

static int read_environment(struct reader *reader)
{
	cleanup(string_list_release) struct string_list names = { 0 };
	const char *where;
	int r = read_visible(reader, &names, &where);

	if (r < 0 || !names.count || has(&names, "void"))
		return r;
	/* What the device plugin sets beside its volume list. */
	if (has(&names, VOLUME_LIST))
		return note(reader,
			    VISIBLE_DEVICES " refers to the volume list " VOLUME_LIST ", which %s.",
			    reader->config->accept_volume_list
				    ? "is empty"
				    : "does not count. To use it set runtime.accept-volume-list "
				      "to true in " PATH_CONFIG
				      ", or accept-nvidia-visible-devices-as-volume-mounts in "
				      "NVIDIA's file");
	if (!reader->environment_counts)
		return note_not_counted(reader, where, names.items[0]);
	return take_names(reader, SOURCE_ENVIRONMENT, &names, where);
}

static int read_capabilities(struct reader *reader)
{
	struct device_request *request = reader->request;
	const char *text = variable(reader, "NVIDIA_DRIVER_CAPABILITIES");
	unsigned supported = CAPABILITY_ALL, asked = CAPABILITY_ALL;
	int r = 0;

	if (reader->config->supported_capabilities && *reader->config->supported_capabilities)
		r = capabilities_parse(reader->config->supported_capabilities, &supported,
				       reader->error);
	if (r < 0)
		return error_wrap(reader->error, "supported-driver-capabilities");
	if (!reader->config->all_capabilities && (text || !request->legacy_image))
		r = capabilities_parse(text, &asked, reader->error);
	if (r < 0)
		return error_wrap(reader->error, "NVIDIA_DRIVER_CAPABILITIES");
	request->capabilities = asked & supported;
	if (!text || !*text || asked == CAPABILITY_ALL || request->capabilities == asked)
		return 0;
	return note(
		reader,
		"NVIDIA_DRIVER_CAPABILITIES \"%.*s\" is cut to what supported-driver-capabilities "
		"allows.",
		SHOWN_MAX, text);
}

/* As Go's strconv.ParseBool reads it. */
static bool is_true(const char *text)
{
	static const char *const words[] = { "1", "t", "T", "true", "TRUE", "True" };

	for (size_t i = 0; text && i < ARRAY_SIZE(words); i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	return false;
}

static bool is_requirement(struct json_object *item)
{
	static const char other[] = REQUIRE_PREFIX "JETPACK";
	const char *text =
		json_object_is_type(item, json_type_string) ? json_object_get_string(item) : "";

	return strncmp(text, REQUIRE_PREFIX, strlen(REQUIRE_PREFIX)) == 0 &&
	       strncmp(text, other, strlen(other)) != 0;
}

/* NAME=VALUE has a value, and no later one of that name takes its place. */
static bool counts(const struct reader *reader, const char *text)
{
	const char *equals = strchr(text, '=');
	char name[128];

	if (!equals || !equals[1] || (size_t)(equals - text) >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
	return variable(reader, name) == equals + 1;
}

/* "v11.6.2" as major and minor: one to three numbers, with dots between them. */
static bool read_version(const char *text, uint64_t *major, uint64_t *minor)
{
	uint64_t parts[3] = { 0 };
	char number[16];

	text += *text == 'v';
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t length = strcspn(text, ".");

		if (length >= sizeof(number))
			return false;
		memcpy(number, text, length);
		number[length] = '\0';
		if (parse_uint(number, 0, UINT32_MAX, &parts[i]) < 0)
			return false;
		text += length;
		if (!*text) {
			*major = parts[0];
			*minor = parts[1];
			return true;
		}
		text++;
	}
	return false;
}

static int add_legacy_requirement(struct reader *reader)
{
	const char *text = variable(reader, "CUDA_VERSION");
	uint64_t major, minor;
	char requirement[64];

	if (!read_version(text, &major, &minor))
		return error_set(reader->error, EINVAL,
				 "CUDA_VERSION is \"%.*s\" and no version such as 12.4.1; correct "
				 "the image, or set NVIDIA_DISABLE_REQUIRE=1",
				 SHOWN_MAX, text);
	snprintf(requirement, sizeof(requirement), "CUDA_VERSION=cuda>=%u.%u", (unsigned)major,
		 (unsigned)minor);
	return add_once(reader, &reader->request->requirements, requirement, "CUDA_VERSION");
}

static int read_requirements(struct reader *reader)
{
	struct json_object *environment = json_get(reader->spec, "process.env");
	struct string_list *list = &reader->request->requirements;
	size_t seen = 0;
	int r = 0;

	if (reader->config->disable_require ||
	    is_true(variable(reader, "NVIDIA_DISABLE_REQUIRE")) ||
	    !json_object_is_type(environment, json_type_array))
		return 0;
	for (size_t i = 0; r == 0 && i < json_object_array_length(environment); i++) {
		struct json_object *item = json_object_array_get_idx(environment, i);

		if (!is_requirement(item))
			continue;
		if (++seen > NAMES_MAX)
			return error_set(reader->error, EINVAL,
					 "there are more than %d variables " REQUIRE_PREFIX
					 "*; keep those that are needed",
					 NAMES_MAX);
		if (counts(reader, json_object_get_string(item)))
			r = string_list_add(list, json_object_get_string(item)) < 0
				    ? error_no_memory(reader->error)
				    : 0;
	}
	return r == 0 && reader->request->legacy_image ? add_legacy_requirement(reader) : r;
}

/* How to add a variable: a row, a bit in request.h, rows of nodes in driver_table.c. */
static const struct {
	const char *name, *value;
	unsigned gated;
	bool privileged; /* only a privileged container gets it, and none with single instances */
} gated_rows[] = {
	{ "NVIDIA_GDS", "enabled", GATED_GDS, false },
	{ "NVIDIA_MOFED", "enabled", GATED_MOFED, false },
	{ "NVIDIA_NVSWITCH", "enabled", GATED_NVSWITCH, false },
	{ "NVIDIA_GDRCOPY", "enabled", GATED_GDRCOPY, false },
	{ "NVIDIA_MIG_CONFIG_DEVICES", "all", GATED_MIG_CONFIG, true },
	{ "NVIDIA_MIG_MONITOR_DEVICES", "all", GATED_MIG_MONITOR, true },
};

static bool has_instances(const struct device_request *request)
{
	for (size_t i = 0; i < request->devices.count; i++)
		if (device_name_is_instance(request->devices.items[i]))
			return true;
	return false;
}

static int read_gated(struct reader *reader)
{
	struct device_request *request = reader->request;
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(gated_rows); i++) {
		const char *name = gated_rows[i].name, *text = variable(reader, name);

		if (!text || !*text)
			continue;
		if (strcmp(text, gated_rows[i].value) != 0)
			r = note(reader, "%s is \"%.*s\" and not \"%s\", so it adds nothing.", name,
				 SHOWN_MAX, text, gated_rows[i].value);
		else if (!reader->environment_counts)
			r = note_not_counted(reader, name, text);
		else if (gated_rows[i].privileged && !request->privileged)
			r = note(reader, "%s does not count: the container is not privileged.",
				 name);
		else if (gated_rows[i].privileged && has_instances(request))
			r = note(reader,
				 "%s does not count: the container asks for single MIG instances.",
				 name);
		else
			request->gated |= gated_rows[i].gated;
	}
	return r;
}

static int check_channels(struct reader *reader)
{
	const struct string_list *list = &reader->request->imex;
	uint64_t channel;

	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], IMEX_ALL) != 0 &&
		    parse_uint(list->items[i], 0, CHANNEL_MAX, &channel) < 0)
			return error_set(reader->error, EINVAL,
					 "NVIDIA_IMEX_CHANNELS: \"%.*s\" is no IMEX channel; write "
					 "numbers from 0 to %d, or " IMEX_ALL,
					 SHOWN_MAX, list->items[i], CHANNEL_MAX);
	return 0;
}

/* Channels of the volume list are there already; without one the variable is asked. */
static int read_channels(struct reader *reader)
{
	const char *text = variable(reader, "NVIDIA_IMEX_CHANNELS");
	struct string_list *list = &reader->request->imex;

	if (reader->config->ignore_imex) {
		string_list_release(list);
		return 0;
	}
	if (!list->count && text && *text) {
		if (!reader->environment_counts)
			return note_not_counted(reader, "NVIDIA_IMEX_CHANNELS", text);
		int r = add_items(reader, list, text, "NVIDIA_IMEX_CHANNELS");
		if (r < 0)
			return r;
	}
	return check_channels(reader);
}

static int read_source(struct reader *reader)
{
	int r = read_annotations(reader);

	if (r == 0 && reader->request->source == SOURCE_NONE)
		r = read_volumes(reader);
	if (r == 0 && reader->request->source == SOURCE_NONE)
		r = read_environment(reader);
	return r;
}

static int read_all(struct reader *reader)
{
	int r = read_source(reader);

	if (reader->request->source == SOURCE_NONE)
		string_list_release(&reader->request->imex); /* of a list that names no card */
	if (r < 0 || reader->request->source == SOURCE_NONE)
		return r;
	r = read_capabilities(reader);
	if (r == 0)
		r = read_requirements(reader);
	if (r == 0)
		r = read_gated(reader);
	return r < 0 ? r : read_channels(reader);
}

int device_request_read(struct json_object *spec, const struct toolkit_config *config,
			struct device_request *ret, struct error *error)
{
	cleanup(device_request_release) struct device_request request = { 0 };
	struct reader reader = {
		.spec = spec, .config = config, .request = &request, .error = error
	};
	enum oci_manager manager = oci_spec_kubernetes(spec);
	const char *cuda = oci_spec_env(spec, "CUDA_VERSION");
	const char *require = oci_spec_env(spec, REQUIRE_PREFIX "CUDA");

	request.kubernetes = manager != OCI_MANAGER_NONE;
	request.privileged = oci_spec_is_privileged(spec);
	request.legacy_image = cuda && *cuda && !(require && *require);
	reader.environment_counts = (request.privileged || config->accept_env_unprivileged) &&
				    (!request.kubernetes || config->accept_env_in_kubernetes);
	/* A Pod's sandbox runs nothing of the user's. */
	int r = manager == OCI_MANAGER_SANDBOX ? 0 : read_all(&reader);
	if (r < 0)
		return r;
	*ret = request;
	request = (struct device_request){ 0 };
	return 0;
}
