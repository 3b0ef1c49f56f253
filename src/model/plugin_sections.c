/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the file that are no single values: resources, sharing, gpupool.cards. */
#include "model/fields.h"
#include "model/plugin_keys.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* NVIDIA/k8s-device-plugin api/config/v1/consts.go */
#define RESOURCE_PREFIX "nvidia.com/"
#define RESOURCE_MAX    63
#define SHARED_SUFFIX   ".shared"
#define UUID_LENGTH     36

/* One object of a list: its members by name. */
struct member {
	const char *name;
	struct json_object *value; /* borrowed; NULL: not there */
};

static int fail_member(const struct plugin_place *place, const struct member *members, size_t count,
		       const char *name, struct error *error)
{
	struct nearest nearest = { .name = NULL };
	autostrbuf known = STRBUF_INIT(256);

	for (size_t i = 0; i < count; i++) {
		parse_nearest(&nearest, members[i].name, name);
		strbuf_addf(&known, "%s%s", i ? ", " : "", members[i].name);
	}
	if (nearest.name)
		return plugin_fail(place, error, "there is no key %s; did you mean %s?", name,
				   nearest.name);
	return plugin_fail(place, error, "there is no key %s; there are %s", name, known.data);
}

/* PLACE on the line that VALUE stands on, where that is known. */
static struct plugin_place at_line_of(const struct plugin_place *place, struct json_object *value)
{
	struct plugin_place at = *place;

	if (yaml_line(value))
		at.line = yaml_line(value);
	return at;
}

static int read_members(struct json_object *value, const struct plugin_place *place,
			struct member *members, size_t count, struct error *error)
{
	if (!json_object_is_type(value, json_type_object))
		return plugin_fail(place, error, "wants keys and values, not %.80s",
				   value ? json_object_get_string(value) : "nothing");
	json_object_object_foreach(value, key, item)
	{
		size_t i = 0;

		while (i < count && strcmp(members[i].name, key) != 0)
			i++;
		if (i == count) {
			const struct plugin_place at = at_line_of(place, item);

			return fail_member(&at, members, count, key, error);
		}
		members[i].value = item;
	}
	return 0;
}

/* The place of a member; NAME is the buffer for its full name. */
static struct plugin_place place_of(const struct plugin_place *parent, struct json_object *value,
				    const char *name, struct strbuf *full)
{
	struct plugin_place place = at_line_of(parent, value);

	strbuf_addf(full, "%s.%s", parent->name, name);
	place.name = full->data;
	return place;
}

static int member_fail(const struct plugin_place *parent, const struct member *member,
		       struct error *error, const char *what)
{
	autostrbuf name = STRBUF_INIT(256);
	const struct plugin_place place = place_of(parent, member->value, member->name, &name);

	return plugin_fail(&place, error, "%s, not %.80s", what,
			   member->value ? json_object_get_string(member->value) : "nothing");
}

static int take_flag(const struct plugin_place *place, const struct member *member, bool *ret,
		     struct error *error)
{
	if (!member->value)
		return 0;
	if (!json_object_is_type(member->value, json_type_boolean))
		return member_fail(place, member, error, "wants true or false");
	*ret = json_object_get_boolean(member->value);
	return 0;
}

static int copy_text(const char *text, char **ret, struct error *error)
{
	*ret = strdup(text);
	return *ret ? 0 : error_no_memory(error);
}

static int take_resource_name(const struct plugin_place *place, const struct member *member,
			      char **ret, struct error *error)
{
	autostrbuf name = STRBUF_INIT(4096);

	if (!json_object_is_type(member->value, json_type_string))
		return member_fail(place, member, error,
				   "wants the name of a resource, as nvidia.com/gpu");
	const char *text = json_object_get_string(member->value);
	if (strncmp(text, RESOURCE_PREFIX, strlen(RESOURCE_PREFIX)) != 0)
		strbuf_adds(&name, RESOURCE_PREFIX);
	strbuf_adds(&name, text);
	if (name.failed == ENOMEM)
		return error_no_memory(error);
	if (name.failed || name.length > RESOURCE_MAX)
		return member_fail(place, member, error,
				   "wants a name of at most 63 characters, nvidia.com/ counted in");
	if (!parse_subdomain(name.data + strlen(RESOURCE_PREFIX)))
		return member_fail(place, member, error,
				   "wants small letters, digits, '-' and '.' after nvidia.com/");
	*ret = strbuf_detach(&name);
	return *ret ? 0 : error_no_memory(error);
}

static bool is_number(const char *text, char end, size_t *ret_length)
{
	size_t length = strspn(text, "0123456789");

	*ret_length = length;
	return length > 0 && length < 10 && text[length] == end;
}

static bool is_uuid(const char *text, size_t length)
{
	if (length != UUID_LENGTH)
		return false;
	for (size_t i = 0; i < length; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return false;
	}
	return true;
}

/* "0", "0:1", "GPU-<uuid>", "MIG-<uuid>", "MIG-GPU-<uuid>/<gi>/<ci>" */
static bool is_device_name(const char *text)
{
	size_t length;

	if (is_number(text, '\0', &length))
		return true;
	if (is_number(text, ':', &length))
		return is_number(text + length + 1, '\0', &length);
	if (strncmp(text, "GPU-", 4) == 0)
		return is_uuid(text + 4, strlen(text + 4));
	if (strncmp(text, "MIG-GPU-", 8) != 0)
		return strncmp(text, "MIG-", 4) == 0 && is_uuid(text + 4, strlen(text + 4));
	const char *slash = text + strcspn(text, "/");
	if (!*slash || !is_uuid(text + 8, (size_t)(slash - text) - 8) ||
	    !is_number(slash + 1, '/', &length))
		return false;
	return is_number(slash + 1 + length + 1, '\0', &length);
}

static int take_device_list(const struct plugin_place *place, const struct member *member,
			    struct shared_resource *resource, struct error *error)
{
	for (size_t i = 0; i < json_object_array_length(member->value); i++) {
		struct json_object *item = json_object_array_get_idx(member->value, i);
		const struct member one = { member->name, item };
		bool fits = json_object_is_type(item, json_type_string) ||
			    json_object_is_type(item, json_type_int);

		const char *text = fits ? json_object_get_string(item) : "";

		if (!text)
			return error_no_memory(error);
		if (!is_device_name(text))
			return member_fail(place, &one, error,
					   "wants indexes (0), indexes of MIG devices (0:1) and "
					   "UUIDs (GPU-..., MIG-...)");
		if (string_list_add(&resource->device_names, text) < 0)
			return error_no_memory(error);
	}
	resource->devices = SHARED_LIST;
	if (resource->device_names.count == 0)
		return member_fail(place, member, error, "wants at least one device, or all");
	return 0;
}

static int take_devices(const struct plugin_place *place, const struct member *member,
			struct shared_resource *resource, struct error *error)
{
	struct json_object *value = member->value;
	int64_t count =
		json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : 0;

	if (!value || (json_object_is_type(value, json_type_string) &&
		       strcmp(json_object_get_string(value), "all") == 0))
		return 0;
	if (json_object_is_type(value, json_type_array))
		return take_device_list(place, member, resource, error);
	if (count < 1 || count > CARDS_MAX * CARD_INSTANCES_MAX)
		return member_fail(place, member, error,
				   "wants all, a count from 1, or a list of devices");
	resource->devices = SHARED_COUNT;
	resource->device_count = (unsigned)count;
	return 0;
}

static int take_replicas(const struct plugin_place *place, const struct member *member,
			 struct shared_resource *resource, struct error *error)
{
	int64_t count = json_object_is_type(member->value, json_type_int)
				? json_object_get_int64(member->value)
				: 0;

	if (count < 2 || count > PLUGIN_REPLICAS_MAX)
		return member_fail(place, member, error, "wants a whole number from 2 to 1024");
	resource->replicas = (unsigned)count;
	return 0;
}

/* Under which name the replicas are listed. */
static int take_rename(const struct plugin_place *place, const struct member *member,
		       bool by_default, struct shared_resource *resource, struct error *error)
{
	autostrbuf name = STRBUF_INIT(RESOURCE_MAX);

	if (member->value && !(json_object_is_type(member->value, json_type_string) &&
			       json_object_get_string_len(member->value) == 0))
		return take_resource_name(place, member, &resource->rename, error);
	strbuf_addf(&name, "%s%s", resource->name, by_default ? SHARED_SUFFIX : "");
	if (name.failed == ENAMETOOLONG)
		return plugin_fail(place, error,
				   "with .shared the name of %s is longer than 63 "
				   "characters; give a rename",
				   resource->name);
	resource->rename = strbuf_detach(&name);
	return resource->rename ? 0 : error_no_memory(error);
}

static void shared_resource_release(struct shared_resource *resource)
{
	free(resource->name);
	free(resource->rename);
	string_list_release(&resource->device_names);
}

static bool lists_meet(const struct string_list *one, const struct string_list *other)
{
	for (size_t i = 0; i < one->count; i++)
		for (size_t j = 0; j < other->count; j++)
			if (strcmp(one->items[i], other->items[j]) == 0)
				return true;
	return false;
}

/* A resource may stand twice for devices that are not the same. */
static int check_twice(const struct plugin_place *place, const struct plugin_sharing *sharing,
		       const struct shared_resource *added, struct error *error)
{
	for (const struct shared_resource *at = sharing->resources; at < added; at++)
		if (strcmp(at->name, added->name) == 0 &&
		    (at->devices != SHARED_LIST || added->devices != SHARED_LIST ||
		     lists_meet(&at->device_names, &added->device_names)))
			return plugin_fail(
				place, error,
				"%s is shared twice, on line %u too; remove one of them, "
				"or give both lists of other devices",
				added->name, at->line);
	return 0;
}

static int take_shared_resource(void *owner, struct json_object *value,
				const struct plugin_place *place, struct error *error)
{
	struct plugin_sharing *sharing = owner;
	struct member members[] = {
		{ "name", NULL }, { "replicas", NULL }, { "rename", NULL }, { "devices", NULL }
	};

	int r = read_members(value, place, members, ARRAY_SIZE(members), error);
	if (r < 0)
		return r;
	struct shared_resource *resource =
		VEC_ADD(&sharing->resources, &sharing->count, &sharing->capacity);
	if (!resource)
		return error_no_memory(error);
	resource->line = place->line;
	r = take_resource_name(place, &members[0], &resource->name, error);
	if (r == 0)
		r = take_replicas(place, &members[1], resource, error);
	if (r == 0)
		r = take_rename(place, &members[2], sharing->rename_by_default, resource, error);
	if (r == 0)
		r = take_devices(place, &members[3], resource, error);
	return r < 0 ? r : check_twice(place, sharing, resource, error);
}

/* TAKE for each item of the list VALUE, until one fails. */
static int take_items(struct json_object *value, const struct plugin_place *place, void *owner,
		      int (*take)(void *owner, struct json_object *item,
				  const struct plugin_place *place, struct error *error),
		      struct error *error)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < json_object_array_length(value); i++) {
		struct json_object *item = json_object_array_get_idx(value, i);
		const struct plugin_place at = at_line_of(place, item);

		r = take(owner, item, &at, error);
	}
	return r;
}

static int take_sharing(struct json_object *value, const struct plugin_place *place,
			struct plugin_sharing *sharing, bool single_only, struct error *error)
{
	struct member members[] = { { "renameByDefault", NULL },
				    { "failRequestsGreaterThanOne", NULL },
				    { "resources", NULL } };

	int r = read_members(value, place, members, ARRAY_SIZE(members), error);
	sharing->single_only = single_only;
	if (r == 0)
		r = take_flag(place, &members[0], &sharing->rename_by_default, error);
	if (r == 0)
		r = take_flag(place, &members[1], &sharing->single_only, error);
	if (r == 0 && (!json_object_is_type(members[2].value, json_type_array) ||
		       json_object_array_length(members[2].value) == 0))
		r = member_fail(place, &members[2], error, "wants at least one resource");
	return r < 0 ? r
		     : take_items(members[2].value, place, sharing, take_shared_resource, error);
}

static int take_time_slicing(struct plugin_config *config, struct json_object *value,
			     const struct plugin_place *place, struct error *error)
{
	if (config->mps.count)
		return plugin_fail(place, error,
				   "cards are shared by mps or by timeSlicing; remove one");
	return take_sharing(value, place, &config->time_slicing, false, error);
}

static int take_mps(struct plugin_config *config, struct json_object *value,
		    const struct plugin_place *place, struct error *error)
{
	if (!value)
		return 0;
	if (config->time_slicing.count)
		return plugin_fail(place, error,
				   "cards are shared by mps or by timeSlicing; remove one");
	return take_sharing(value, place, &config->mps, true, error);
}

static int take_pattern(void *owner, struct json_object *value, const struct plugin_place *place,
			struct error *error)
{
	struct resource_patterns *patterns = owner;
	struct member members[] = { { "pattern", NULL }, { "name", NULL } };

	int r = read_members(value, place, members, ARRAY_SIZE(members), error);
	if (r < 0)
		return r;
	if (!json_object_is_type(members[0].value, json_type_string))
		return member_fail(place, &members[0], error, "wants a pattern, as *");
	struct resource_pattern *pattern =
		VEC_ADD(&patterns->items, &patterns->count, &patterns->capacity);
	if (!pattern)
		return error_no_memory(error);
	r = copy_text(json_object_get_string(members[0].value), &pattern->pattern, error);
	return r < 0 ? r : take_resource_name(place, &members[1], &pattern->name, error);
}

static int take_patterns(struct plugin_config *config, struct json_object *value,
			 const struct plugin_place *place, struct resource_patterns *patterns,
			 struct error *error)
{
	if (!value)
		return 0;
	if (!json_object_is_type(value, json_type_array))
		return plugin_fail(place, error, "wants a list, not %.80s",
				   json_object_get_string(value));
	int r = take_items(value, place, patterns, take_pattern, error);
	if (r < 0)
		return r;
	if (patterns->count &&
	    string_list_addf(
		    &config->notes,
		    "%s:%u: %s has no effect, here as with NVIDIA's plugin: resources are named "
		    "nvidia.com/gpu and nvidia.com/mig-<profile>",
		    place->file, place->line, place->name) < 0)
		return error_no_memory(error);
	return 0;
}

static int take_gpus(struct plugin_config *config, struct json_object *value,
		     const struct plugin_place *place, struct error *error)
{
	return take_patterns(config, value, place, &config->gpus, error);
}

static int take_mig(struct plugin_config *config, struct json_object *value,
		    const struct plugin_place *place, struct error *error)
{
	return take_patterns(config, value, place, &config->mig_devices, error);
}

static int take_mode(const struct plugin_place *place, const struct member *member,
		     struct card_choice *choice, struct error *error)
{
	const char *text = json_object_is_type(member->value, json_type_string)
				   ? json_object_get_string(member->value)
				   : "";

	choice->excluded = strcmp(text, "excluded") == 0;
	choice->mode = choice->excluded ? CARD_MODE_WHOLE : card_mode_from_string(text);
	if ((int)choice->mode < 0)
		return member_fail(place, member, error,
				   "wants one of whole, slices, replicas, mig, excluded");
	return 0;
}

static int take_selector(const struct plugin_place *place, const struct member *members,
			 struct card_choice *choice, struct error *error)
{
	struct json_object *uuid = members[0].value, *index = members[1].value,
			   *model = members[2].value;
	int64_t number =
		json_object_is_type(index, json_type_int) ? json_object_get_int64(index) : -1;

	if (!uuid + !index + !model != 2)
		return plugin_fail(place, error,
				   "names cards by one of uuid, index and model; give "
				   "exactly one of them");
	if (index && (number < 0 || number >= CARDS_MAX))
		return member_fail(place, &members[1], error,
				   "wants the index that nvidia-smi shows, from 0 to 63");
	if (uuid && (!json_object_is_type(uuid, json_type_string) ||
		     strncmp(json_object_get_string(uuid), "GPU-", 4) != 0))
		return member_fail(place, &members[0], error, "wants a UUID, as GPU-...");
	if (model && !json_object_get_string_len(model))
		return member_fail(place, &members[2], error,
				   "wants a pattern of models, as \"*A100*\"");
	choice->index = index ? (unsigned)number : CARD_INDEX_NONE;
	if (uuid)
		return copy_text(json_object_get_string(uuid), &choice->uuid, error);
	return model ? copy_text(json_object_get_string(model), &choice->model, error) : 0;
}

static bool same_selector(const struct card_choice *one, const struct card_choice *other)
{
	if (one->index != CARD_INDEX_NONE || other->index != CARD_INDEX_NONE)
		return one->index == other->index;
	if (!one->uuid != !other->uuid)
		return false;
	return one->uuid ? strcmp(one->uuid, other->uuid) == 0
			 : strcmp(one->model, other->model) == 0;
}

static int take_card(void *owner, struct json_object *value, const struct plugin_place *place,
		     struct error *error)
{
	struct plugin_config *config = owner;
	struct member members[] = {
		{ "uuid", NULL }, { "index", NULL }, { "model", NULL }, { "mode", NULL }
	};

	int r = read_members(value, place, members, ARRAY_SIZE(members), error);
	if (r < 0)
		return r;
	struct card_choice *choice =
		VEC_ADD(&config->cards, &config->card_count, &config->card_capacity);
	if (!choice)
		return error_no_memory(error);
	choice->line = place->line;
	r = take_selector(place, members, choice, error);
	if (r == 0)
		r = take_mode(place, &members[3], choice, error);
	for (const struct card_choice *at = config->cards; r == 0 && at < choice; at++)
		if (same_selector(at, choice))
			r = plugin_fail(place, error,
					"these cards are named on line %u already; "
					"remove one of them",
					at->line);
	return r;
}

static int take_cards(struct plugin_config *config, struct json_object *value,
		      const struct plugin_place *place, struct error *error)
{
	if (!value)
		return 0;
	if (!json_object_is_type(value, json_type_array))
		return plugin_fail(place, error, "wants a list of cards, not %.80s",
				   json_object_get_string(value));
	return take_items(value, place, config, take_card, error);
}

static int take_version(struct plugin_config *config, struct json_object *value,
			const struct plugin_place *place, struct error *error)
{
	(void)config;
	if (!value || (json_object_is_type(value, json_type_string) &&
		       (strcmp(json_object_get_string(value), "v1") == 0 ||
			!json_object_get_string_len(value))))
		return 0;
	return plugin_fail(place, error, "wants v1, the one version that there is, not %.80s",
			   json_object_get_string(value));
}

/* The settings of gpupool-runtime in the same file. */
static int pass_over(struct plugin_config *config, struct json_object *value,
		     const struct plugin_place *place, struct error *error)
{
	(void)config;
	(void)value;
	(void)place;
	(void)error;
	return 0;
}

const struct plugin_section plugin_sections[] = {
	{ "version", take_version, "v1, or not there" },
	{ "sharing.timeSlicing", take_time_slicing,
	  "replicas of cards and MIG devices: renameByDefault, failRequestsGreaterThanOne, and the "
	  "list resources, each with name and replicas, and where wanted rename and devices (all, "
	  "a number of them, or a list of indexes and UUIDs)" },
	{ "sharing.mps", take_mps, "read, then refused: gpupoold does not share cards by MPS yet" },
	{ "gpupool.cards", take_cards,
	  "list of modes of cards: each has a mode, which is whole, slices, replicas, mig or "
	  "excluded, and one of uuid, index and model, a pattern with * and ?" },
	{ "resources.gpus", take_gpus,
	  "list with pattern and name; no effect, as with NVIDIA's plugin" },
	{ "resources.mig", take_mig,
	  "list with pattern and name; no effect, as with NVIDIA's plugin" },
	{ "runtime", pass_over, "settings of gpupool-runtime; passed over here" },
	{ NULL, NULL, NULL },
};

static int devices_to_json(const struct shared_resource *resource, struct json_object *object)
{
	if (resource->devices == SHARED_ALL)
		return json_add_string(object, "devices", "all");
	if (resource->devices == SHARED_COUNT)
		return json_add_uint(object, "devices", resource->device_count);
	return fields_add_strings(object, "devices", &resource->device_names);
}

static int shared_to_json(const struct shared_resource *resource, struct json_object *list)
{
	struct json_object *object = json_object_new_object();

	if (json_append(list, object) < 0 || json_add_string(object, "name", resource->name) < 0 ||
	    json_add_string(object, "rename", resource->rename) < 0 ||
	    devices_to_json(resource, object) < 0)
		return -ENOMEM;
	return json_add_uint(object, "replicas", resource->replicas);
}

static int sharing_to_json(const struct plugin_sharing *sharing, const char *path,
			   struct json_object *root)
{
	if (!sharing->count)
		return 0;
	autojson *object = json_object_new_object();
	if (!object || json_add_bool(object, "renameByDefault", sharing->rename_by_default) < 0 ||
	    json_add_bool(object, "failRequestsGreaterThanOne", sharing->single_only) < 0)
		return -ENOMEM;
	struct json_object *list = fields_add_array(object, "resources");
	for (size_t i = 0; list && i < sharing->count; i++)
		if (shared_to_json(&sharing->resources[i], list) < 0)
			return -ENOMEM;
	return list ? plugin_json_add_at(root, path, TAKE_PTR(object)) : -ENOMEM;
}

static int patterns_to_json(const struct resource_patterns *patterns, const char *path,
			    struct json_object *root)
{
	if (!patterns->count)
		return 0;
	autojson *list = json_object_new_array();
	for (size_t i = 0; i < patterns->count; i++) {
		struct json_object *object = json_object_new_object();

		if (json_append(list, object) < 0 ||
		    json_add_string(object, "pattern", patterns->items[i].pattern) < 0 ||
		    json_add_string(object, "name", patterns->items[i].name) < 0)
			return -ENOMEM;
	}
	return plugin_json_add_at(root, path, TAKE_PTR(list));
}

static int card_to_json(const struct card_choice *choice, struct json_object *list)
{
	struct json_object *object = json_object_new_object();
	int r;

	if (json_append(list, object) < 0)
		return -ENOMEM;
	if (choice->uuid)
		r = json_add_string(object, "uuid", choice->uuid);
	else if (choice->model)
		r = json_add_string(object, "model", choice->model);
	else
		r = json_add_uint(object, "index", choice->index);
	return r < 0 ? r
		     : json_add_string(object, "mode",
				       choice->excluded ? "excluded"
							: card_mode_to_string(choice->mode));
}

static int cards_to_json(const struct plugin_config *config, struct json_object *root)
{
	if (!config->card_count)
		return 0;
	autojson *list = json_object_new_array();
	for (size_t i = 0; i < config->card_count; i++)
		if (card_to_json(&config->cards[i], list) < 0)
			return -ENOMEM;
	return plugin_json_add_at(root, "gpupool.cards", TAKE_PTR(list));
}

int plugin_sections_to_json(const struct plugin_config *config, struct json_object *root)
{
	if (cards_to_json(config, root) < 0 ||
	    patterns_to_json(&config->gpus, "resources.gpus", root) < 0 ||
	    patterns_to_json(&config->mig_devices, "resources.mig", root) < 0 ||
	    sharing_to_json(&config->time_slicing, "sharing.timeSlicing", root) < 0)
		return -ENOMEM;
	return sharing_to_json(&config->mps, "sharing.mps", root);
}

static void patterns_release(struct resource_patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++) {
		free(patterns->items[i].pattern);
		free(patterns->items[i].name);
	}
	free(patterns->items);
}

static void sharing_release(struct plugin_sharing *sharing)
{
	for (size_t i = 0; i < sharing->count; i++)
		shared_resource_release(&sharing->resources[i]);
	free(sharing->resources);
}

void plugin_sections_release(struct plugin_config *config)
{
	patterns_release(&config->gpus);
	patterns_release(&config->mig_devices);
	sharing_release(&config->time_slicing);
	sharing_release(&config->mps);
	for (size_t i = 0; i < config->card_count; i++) {
		free(config->cards[i].uuid);
		free(config->cards[i].model);
	}
	free(config->cards);
}
