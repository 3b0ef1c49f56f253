/* SPDX-License-Identifier: Apache-2.0 */
/* What of a CDI spec is no longer so on this machine, whoever made the spec. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "inject/cdi_private.h"

struct stamp {
	char driver[80], mig[32], capabilities[128]; /* the last "": the default */
	bool some;                                   /* of the cards */
};

struct comparing {
	const struct stamp *stamp; /* NULL: the spec is of somebody else */
	struct json_object *spec;
	struct json_object *host; /* what would be made now, with every name; NULL: nothing could */
	const struct cdi_options *options;
	struct string_list *sentences;
	struct map *
		said; /* paths of the host that there is a sentence about, and those that are well */
	struct error *error;
};

static int say(struct comparing *comparing, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int say(struct comparing *comparing, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int r = string_list_addv(comparing->sentences, format, arguments);
	va_end(arguments);
	return r < 0 ? error_no_memory(comparing->error) : 0;
}

/* 1 the first time that PATH is asked about. */
static int is_first(struct comparing *comparing, const char *path)
{
	if (map_get(comparing->said, path))
		return 0;
	/* Any pointer will do. */
	return map_put(comparing->said, path, comparing) < 0 ? error_no_memory(comparing->error)
							     : 1;
}

static struct json_object *list_of(struct json_object *edits, const char *key, size_t *ret_count)
{
	struct json_object *list = json_get(edits, key);

	*ret_count = list ? json_object_array_length(list) : 0;
	return list;
}

static int check_mount(struct comparing *comparing, struct json_object *mount)
{
	const char *path = json_get_string(mount, "hostPath", "");
	struct stat status;
	int r = is_first(comparing, path);

	if (r <= 0 || stat(path, &status) == 0)
		return r < 0 ? r : 0;
	return say(comparing, "%s is gone; the spec mounts it at %s.", path,
		   json_get_string(mount, "containerPath", ""));
}

static int check_node(struct comparing *comparing, struct json_object *node)
{
	const char *inside = json_get_string(node, "path", "");
	const char *path = json_get_string(node, "hostPath", "");
	struct stat status;

	if (!*path)
		path = inside;
	int r = is_first(comparing, path);
	if (r <= 0)
		return r;
	if (stat(path, &status) < 0)
		return say(comparing, "%s is gone; the spec gives it as %s.", path, inside);
	if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode))
		return say(comparing, "%s is no device; the spec gives it as %s.", path, inside);
	uint64_t major_number = json_get_uint(node, "major", 0);
	uint64_t minor_number = json_get_uint(node, "minor", 0);
	if (!major_number ||
	    (major_number == major(status.st_rdev) && minor_number == minor(status.st_rdev)))
		return 0;
	return say(comparing, "%s is device %u:%u, and the spec says %" PRIu64 ":%" PRIu64 ".",
		   path, major(status.st_rdev), minor(status.st_rdev), major_number, minor_number);
}

/* A spec of somebody else: without its program no container would start. */
static int check_hook(struct comparing *comparing, struct json_object *hook)
{
	const char *path = json_get_string(hook, "path", "");
	struct stat status;
	int r = is_first(comparing, path);

	if (r <= 0 || stat(path, &status) == 0)
		return r < 0 ? r : 0;
	return say(comparing, "%s is gone; the spec has it as a hook.", path);
}

static int check_edits(struct comparing *comparing, struct json_object *edits)
{
	static const struct {
		const char *key;
		int (*check)(struct comparing *comparing, struct json_object *item);
	} rows[] = { { "mounts", check_mount },
		     { "deviceNodes", check_node },
		     { "hooks", check_hook } };
	size_t count = 0;

	for (size_t i = 0; edits && i < ARRAY_SIZE(rows); i++) {
		struct json_object *list = list_of(edits, rows[i].key, &count);

		for (size_t j = 0; j < count; j++) {
			int r = rows[i].check(comparing, json_object_array_get_idx(list, j));
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* The stamp's value, or NULL: the spec is of somebody else. */
static const char *find_stamp(struct json_object *spec)
{
	size_t count = 0;
	struct json_object *list = list_of(json_get(spec, "containerEdits"), "env", &count);

	for (size_t i = 0; i < count; i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(list, i));

		if (strncmp(text, ENV_CDI_STAMP "=", sizeof(ENV_CDI_STAMP)) == 0)
			return text + sizeof(ENV_CDI_STAMP);
	}
	return NULL;
}

/* What stands in TEXT after MARK, to the next comma; "" when nothing does, or too much. */
static void read_part(const char *text, const char *mark, char *ret, size_t size)
{
	const char *at = strstr(text, mark);

	*ret = '\0';
	if (!at)
		return;
	at += strlen(mark);
	if (strcspn(at, ",") < size)
		snprintf(ret, size, "%.*s", (int)strcspn(at, ","), at);
}

static void read_stamp(const char *text, struct stamp *ret)
{
	read_part(text, CDI_STAMP_DRIVER, ret->driver, sizeof(ret->driver));
	read_part(text, CDI_STAMP_MIG, ret->mig, sizeof(ret->mig));
	read_part(text, CDI_STAMP_FOR, ret->capabilities, sizeof(ret->capabilities));
	ret->some = strstr(text, CDI_STAMP_SOME) != NULL;
}

/* The version that a library of the driver has in its name; what is too long is none. */
static bool version_of_file(const char *path, char *ret, size_t size)
{
	static const char *const names[] = { "libcuda.so.", "libnvidia-ml.so." };
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t length = strlen(names[i]);

		if (strncmp(name, names[i], length) != 0 || !isdigit((unsigned char)name[length]) ||
		    !strchr(name + length, '.') || strlen(name + length) >= size)
			continue;
		memcpy(ret, name + length, strlen(name + length) + 1);
		return true;
	}
	return false;
}

static int check_version_of_files(struct comparing *comparing)
{
	const char *now = comparing->options->files->version;
	char version[80];
	size_t count = 0;
	struct json_object *list =
		list_of(json_get(comparing->spec, "containerEdits"), "mounts", &count);

	for (size_t i = 0; i < count; i++) {
		struct json_object *mount = json_object_array_get_idx(list, i);

		if (version_of_file(json_get_string(mount, "hostPath", ""), version,
				    sizeof(version)))
			return strcmp(version, now) == 0
				       ? 0
				       : say(comparing,
					     "The spec is of driver %s; this machine has %s.",
					     version, now);
	}
	return 0;
}

static int check_stamp(struct comparing *comparing)
{
	const struct cdi_options *options = comparing->options;
	char now[32];
	int r = 0;

	if (strcmp(options->files->version, comparing->stamp->driver) != 0)
		r = say(comparing, "The spec is of driver %s; this machine has %s.",
			comparing->stamp->driver, options->files->version);
	snprintf(now, sizeof(now), "%016" PRIx64, options->inventory->mig_generation);
	if (r == 0 && strcmp(comparing->stamp->mig, now) != 0)
		r = say(comparing,
			"The MIG devices of this machine are others than when the spec was made.");
	return r;
}

/* "0", "0:1", "gpu0", "mig0:1", "GPU-...", "MIG-...": a name that a card or MIG device may have. */
static bool is_card_name(const char *name)
{
	static const char *const starts[] = { "gpu", "mig" };

	if (strncmp(name, "GPU-", 4) == 0 || strncmp(name, "MIG-", 4) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (strncmp(name, starts[i], 3) == 0)
			name += 3;
	return *name && strspn(name, "0123456789:") == strlen(name);
}

static struct json_object *find_device(struct json_object *spec, const char *name)
{
	size_t count = 0;
	struct json_object *list = list_of(spec, "devices", &count);

	for (size_t i = 0; i < count; i++) {
		struct json_object *device = json_object_array_get_idx(list, i);

		if (strcmp(json_get_string(device, "name", ""), name) == 0)
			return device;
	}
	return NULL;
}

static bool has_node(struct json_object *device, const char *path)
{
	size_t count = 0;
	struct json_object *list =
		list_of(json_get(device, "containerEdits"), "deviceNodes", &count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(json_get_string(json_object_array_get_idx(list, i), "path", ""), path) ==
		    0)
			return true;
	return false;
}

/* Channels, too, are called by a number. */
static bool is_card(struct json_object *device)
{
	size_t count = 0;
	struct json_object *list =
		list_of(json_get(device, "containerEdits"), "deviceNodes", &count);

	if (!is_card_name(json_get_string(device, "name", "")))
		return false;
	for (size_t i = 0; i < count; i++) {
		const char *path = json_get_string(json_object_array_get_idx(list, i), "path", "");

		if (strncmp(path, "/dev/nvidia", 11) == 0 && isdigit((unsigned char)path[11]))
			return true;
	}
	return false;
}

/* Nodes of the device NOW that DEVICE of the spec has not. */
static int check_nodes_of(struct comparing *comparing, struct json_object *device,
			  struct json_object *now, const char *name)
{
	size_t count = 0;
	struct json_object *list = list_of(json_get(now, "containerEdits"), "deviceNodes", &count);

	for (size_t i = 0; i < count; i++) {
		const char *path = json_get_string(json_object_array_get_idx(list, i), "path", "");

		if (has_node(device, path))
			continue;
		int r = say(comparing,
			    "Device %s of this machine has %s; that of the spec has not.", name,
			    path);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Each device of the spec that is called as cards are. */
static int check_devices(struct comparing *comparing, bool *ret_cards)
{
	size_t count = 0;
	struct json_object *list = list_of(comparing->spec, "devices", &count);

	for (size_t i = 0; i < count; i++) {
		struct json_object *device = json_object_array_get_idx(list, i);
		const char *name = json_get_string(device, "name", "");
		int r = check_edits(comparing, json_get(device, "containerEdits"));

		if (r == 0 && is_card(device)) {
			struct json_object *now = find_device(comparing->host, name);

			*ret_cards = true;
			r = now ? check_nodes_of(comparing, device, now, name)
				: say(comparing, "This machine has no device %s.", name);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* Whether the spec has CARD, under any of its names. */
static bool knows_card(struct json_object *spec, const struct card *card)
{
	char index[32], typed[40];

	snprintf(index, sizeof(index), "%u", card->index);
	snprintf(typed, sizeof(typed), "gpu%u", card->index);
	return find_device(spec, index) || find_device(spec, typed) ||
	       find_device(spec, card->uuid);
}

/* Cards that the spec does not have, and those that it has and nobody can use. */
static int check_cards(struct comparing *comparing)
{
	const struct inventory *inventory = comparing->options->inventory;
	bool some = comparing->stamp && comparing->stamp->some;
	int r = 0;

	for (size_t i = 0; r == 0 && i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];
		bool known = knows_card(comparing->spec, card);
		char which[CARD_DESCRIPTION_MAX];

		card_describe(card, which);
		if (known && card->condition.health == CARD_LOST)
			r = say(comparing, "The spec has %s, which is lost: %s.", which,
				card->condition.cause);
		else if (!known && !some && knows_card(comparing->host, card))
			r = say(comparing, "The spec has no device for %s.", which);
	}
	return r;
}

/* Of LIST, which both have: what the spec has not, is new. */
static int check_new(struct comparing *comparing, const char *key, const char *what)
{
	size_t count = 0, missing = 0;
	const char *first = NULL;
	struct json_object *list =
		list_of(json_get(comparing->host, "containerEdits"), key, &count);

	for (size_t i = 0; i < count; i++) {
		struct json_object *item = json_object_array_get_idx(list, i);
		const char *path =
			json_get_string(item, "hostPath", json_get_string(item, "path", ""));
		int r = is_first(comparing, path);

		if (r < 0)
			return r;
		if (r > 0 && !first)
			first = path;
		missing += (size_t)r;
	}
	if (!missing)
		return 0;
	return say(comparing, "%zu %s%s of the driver %s not in the spec: %s%s.", missing, what,
		   missing == 1 ? "" : "s", missing == 1 ? "is" : "are", first,
		   missing == 1 ? "" : " and others");
}

static int compare(struct comparing *comparing)
{
	bool cards = false;
	int r = comparing->stamp ? check_stamp(comparing) : check_version_of_files(comparing);

	if (r == 0)
		r = check_edits(comparing, json_get(comparing->spec, "containerEdits"));
	if (r == 0)
		r = check_devices(comparing, &cards);
	if (r == 0 && cards)
		r = check_cards(comparing);
	/* A spec of ours has all of the driver's files. Last: what was asked about until here is what
	 * the spec has. */
	if (r == 0 && comparing->stamp && comparing->host)
		r = check_new(comparing, "mounts", "file");
	if (r == 0 && comparing->stamp && comparing->host)
		r = check_new(comparing, "deviceNodes", "device node");
	return r;
}

/* What the spec was made for, so that nothing is missed that was not wanted. */
static unsigned capabilities_of(const struct stamp *stamp)
{
	char words[sizeof(stamp->capabilities)];
	unsigned capabilities = CDI_CAPABILITIES;

	if (!stamp || !*stamp->capabilities)
		return capabilities;
	snprintf(words, sizeof(words), "%s", stamp->capabilities);
	for (char *at = words; *at; at++)
		if (*at == '+')
			*at = ',';
	(void)capabilities_parse(words, &capabilities, NULL);
	return capabilities;
}

int cdi_diff(struct json_object *spec, const struct cdi_options *host,
	     struct string_list *ret_sentences, struct error *error)
{
	struct stamp stamp = { .some = false };
	const char *text = find_stamp(spec);
	if (text)
		read_stamp(text, &stamp);
	const struct cdi_options every = {
		.mode = CDI_NVML,
		.names = CDI_NAME_INDEX | CDI_NAME_UUID | CDI_NAME_TYPE_INDEX,
		.capabilities = capabilities_of(text ? &stamp : NULL),
		.inventory = host->inventory,
		.files = host->files,
	};
	cleanup(string_list_release) struct string_list sentences = { 0 };
	autojson *now = NULL;
	automap *said = map_new();
	struct comparing comparing = { .stamp = text ? &stamp : NULL,
				       .spec = spec,
				       .options = host,
				       .sentences = &sentences,
				       .said = said,
				       .error = error };
	int r = said ? cdi_generate(&every, &now, NULL, error) : error_no_memory(error);

	if (r < 0 && r != -ENODEV)
		return r;
	comparing.host = now;
	r = compare(&comparing);
	if (r < 0)
		return r;
	*ret_sentences = sentences;
	sentences = (struct string_list){ 0 };
	return 0;
}
