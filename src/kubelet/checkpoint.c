/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Form: k8s.io/kubernetes pkg/kubelet/cm/devicemanager/checkpoint/checkpoint.go. Before 1.20 DeviceIDs
 * was one list. Go writes nil slices and maps as null.
 */
#include "kubelet/checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct json_limits limits = { .bytes = KUBELET_CHECKPOINT_MAX, .depth = 16 };

void kubelet_checkpoint_release(struct kubelet_checkpoint *checkpoint)
{
	for (size_t i = 0; i < checkpoint->entry_count; i++) {
		free(checkpoint->entries[i].pod_uid);
		free(checkpoint->entries[i].container);
		free(checkpoint->entries[i].resource);
		string_list_release(&checkpoint->entries[i].ids);
		kubelet_bytes_release(&checkpoint->entries[i].answer);
	}
	for (size_t i = 0; i < checkpoint->registered_count; i++) {
		free(checkpoint->registered[i].resource);
		string_list_release(&checkpoint->registered[i].ids);
	}
	free(checkpoint->entries);
	free(checkpoint->registered);
	*checkpoint = (struct kubelet_checkpoint){ .entries = NULL };
}

/* --- base64, as in RFC 4648, with padding --- */

static int digit_value(char character)
{
	if (character >= 'A' && character <= 'Z')
		return character - 'A';
	if (character >= 'a' && character <= 'z')
		return character - 'a' + 26;
	if (character >= '0' && character <= '9')
		return character - '0' + 52;
	if (character == '+')
		return 62;
	return character == '/' ? 63 : -1;
}

static int decode(const char *text, struct kubelet_bytes *ret)
{
	size_t length = strlen(text), padding = 0, size = 0;
	uint32_t bits = 0;

	while (padding < 2 && padding < length && text[length - 1 - padding] == '=')
		padding++;
	if (length % 4)
		return -EBADMSG;
	uint8_t *data = malloc(length / 4 * 3 + 1);
	if (!data)
		return -ENOMEM;
	for (size_t i = 0; i < length; i++) {
		int value = i < length - padding ? digit_value(text[i]) : 0;

		if (value < 0) {
			free(data);
			return -EBADMSG;
		}
		bits = bits << 6 | (uint32_t)value;
		if (i % 4 != 3)
			continue;
		data[size++] = bits >> 16 & 0xff;
		data[size++] = bits >> 8 & 0xff;
		data[size++] = bits & 0xff;
	}
	*ret = (struct kubelet_bytes){ .data = data, .size = size - (length ? padding : 0) };
	return 0;
}

static void encode(const struct kubelet_bytes *bytes, struct strbuf *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *data = bytes->data;

	for (size_t i = 0; i < bytes->size; i += 3) {
		size_t left = bytes->size - i;
		uint32_t bits = (uint32_t)data[i] << 16;

		bits |= left > 1 ? (uint32_t)data[i + 1] << 8 : 0;
		bits |= left > 2 ? data[i + 2] : 0;
		strbuf_addc(text, digits[bits >> 18 & 63]);
		strbuf_addc(text, digits[bits >> 12 & 63]);
		strbuf_addc(text, left > 1 ? digits[bits >> 6 & 63] : '=');
		strbuf_addc(text, left > 2 ? digits[bits & 63] : '=');
	}
}

/* --- reading --- */

struct reader {
	const char *name;
	struct kubelet_checkpoint *checkpoint;
	struct error *error;
};

static int refuse(const struct reader *reader, struct json_object *at, const char *what)
{
	return error_set(reader->error, EBADMSG,
			 "%s:%u: %s; this is no checkpoint of the kubelet, or of a later form",
			 reader->name, at ? json_line(at) : 0, what);
}

static int take_string(const struct reader *reader, struct json_object *entry, const char *key,
		       char **ret)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(entry, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return error_set(reader->error, EBADMSG,
				 "%s:%u: an entry has no %s; this is no checkpoint of the kubelet",
				 reader->name, json_line(entry), key);
	*ret = strdup(json_object_get_string(value));
	return *ret ? 0 : error_no_memory(reader->error);
}

/* SEEN: NULL, or what was taken before; a device on several NUMA nodes stands under each of them. */
static int take_id(const struct reader *reader, const char *id, struct map *seen,
		   struct string_list *ids)
{
	if (seen && map_get(seen, id))
		return 0;
	if ((seen && map_put(seen, id, ids) < 0) || string_list_add(ids, id) < 0)
		return error_no_memory(reader->error);
	return 0;
}

static int take_list(const struct reader *reader, struct json_object *list, struct map *seen,
		     struct string_list *ids)
{
	if (!list)
		return 0;
	if (!json_object_is_type(list, json_type_array))
		return refuse(reader, list, "a list of device IDs is no list");
	size_t count = json_object_array_length(list);
	for (size_t i = 0; i < count; i++) {
		struct json_object *item = json_object_array_get_idx(list, i);

		if (!json_object_is_type(item, json_type_string))
			return refuse(reader, list, "a device ID is no text");
		int r = take_id(reader, json_object_get_string(item), seen, ids);
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_ids(const struct reader *reader, struct json_object *ids, struct string_list *ret)
{
	automap *seen = NULL;

	if (!ids || json_object_is_type(ids, json_type_array))
		return take_list(reader, ids, NULL, ret);
	if (!json_object_is_type(ids, json_type_object))
		return refuse(reader, ids, "DeviceIDs is neither a list nor lists by NUMA node");
	if (json_object_object_length(ids) > 1) {
		seen = map_new();
		if (!seen)
			return error_no_memory(reader->error);
	}
	json_object_object_foreach(ids, key, list)
	{
		(void)key;
		int r = take_list(reader, list, seen, ret);
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_answer(const struct reader *reader, struct json_object *entry,
		       struct kubelet_bytes *ret)
{
	struct json_object *answer = NULL;

	json_object_object_get_ex(entry, "AllocResp", &answer);
	if (answer && !json_object_is_type(answer, json_type_string))
		return refuse(reader, answer, "AllocResp is no text");
	int r = decode(answer ? json_object_get_string(answer) : "", ret);
	if (r == -EBADMSG)
		return refuse(reader, answer, "AllocResp is no base64");
	return r < 0 ? error_no_memory(reader->error) : 0;
}

static int take_entry(const struct reader *reader, struct json_object *entry)
{
	struct kubelet_checkpoint *checkpoint = reader->checkpoint;
	struct json_object *ids = NULL;

	if (!json_object_is_type(entry, json_type_object))
		return refuse(reader, entry, "an entry is no object");
	struct kubelet_checkpoint_entry *taken = VEC_ADD(
		&checkpoint->entries, &checkpoint->entry_count, &checkpoint->entry_capacity);
	if (!taken)
		return error_no_memory(reader->error);
	int r = take_string(reader, entry, "PodUID", &taken->pod_uid);
	r = r < 0 ? r : take_string(reader, entry, "ContainerName", &taken->container);
	r = r < 0 ? r : take_string(reader, entry, "ResourceName", &taken->resource);
	json_object_object_get_ex(entry, "DeviceIDs", &ids);
	r = r < 0 ? r : take_ids(reader, ids, &taken->ids);
	return r < 0 ? r : take_answer(reader, entry, &taken->answer);
}

static int take_entries(const struct reader *reader, struct json_object *data)
{
	struct json_object *entries = NULL;

	if (!json_object_object_get_ex(data, "PodDeviceEntries", &entries))
		return refuse(reader, data, "Data has no PodDeviceEntries");
	if (!entries)
		return 0;
	if (!json_object_is_type(entries, json_type_array))
		return refuse(reader, entries, "PodDeviceEntries is no list");
	size_t count = json_object_array_length(entries);
	for (size_t i = 0; i < count; i++) {
		int r = take_entry(reader, json_object_array_get_idx(entries, i));
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_registered(const struct reader *reader, struct json_object *data)
{
	struct kubelet_checkpoint *checkpoint = reader->checkpoint;
	struct json_object *registered = NULL;

	json_object_object_get_ex(data, "RegisteredDevices", &registered);
	if (!registered)
		return 0;
	if (!json_object_is_type(registered, json_type_object))
		return refuse(reader, registered, "RegisteredDevices has no resources");
	json_object_object_foreach(registered, resource, list)
	{
		struct kubelet_checkpoint_devices *devices =
			VEC_ADD(&checkpoint->registered, &checkpoint->registered_count,
				&checkpoint->registered_capacity);
		if (devices)
			devices->resource = strdup(resource);
		if (!devices || !devices->resource)
			return error_no_memory(reader->error);
		int r = take_list(reader, list, NULL, &devices->ids);
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_checkpoint(const struct reader *reader, struct json_object *object)
{
	struct json_object *data = NULL;

	if (!json_object_is_type(object, json_type_object) ||
	    !json_object_object_get_ex(object, "Data", &data) ||
	    !json_object_is_type(data, json_type_object))
		return refuse(reader, object, "there is no Data");
	reader->checkpoint->checksum = json_get_uint(object, "Checksum", 0);
	int r = take_entries(reader, data);
	return r < 0 ? r : take_registered(reader, data);
}

int kubelet_checkpoint_parse(const char *text, size_t length, const char *name,
			     struct kubelet_checkpoint *ret, struct error *error)
{
	cleanup(kubelet_checkpoint_release) struct kubelet_checkpoint checkpoint = { .entries =
											     NULL };
	const struct reader reader = { .name = name, .checkpoint = &checkpoint, .error = error };
	autojson *object = NULL;

	int r = json_parse(text, length, name, &limits, &object, error);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		error_wrap(error, "the kubelet's checkpoint is cut off or damaged");
		if (error)
			error->number = EBADMSG;
		return -EBADMSG;
	}
	r = take_checkpoint(&reader, object);
	if (r < 0)
		return r;
	*ret = checkpoint;
	checkpoint = (struct kubelet_checkpoint){ .entries = NULL };
	return 0;
}

int kubelet_checkpoint_read(const char *path, struct kubelet_checkpoint *ret, struct error *error)
{
	autofree char *text = NULL;
	size_t length = 0;
	struct stat status;

	/* Before the text: a file written meanwhile counts as not seen yet. */
	if (stat(path, &status) < 0)
		return error_set_errno(error, errno, "%s cannot be read", path);
	int r = file_read_regular(path, KUBELET_CHECKPOINT_MAX, &text, &length, error);
	if (r == 0)
		r = kubelet_checkpoint_parse(text, length, path, ret, error);
	if (r == 0)
		ret->written = status.st_mtim;
	return r;
}

/* --- writing --- */

static int ids_to_json(const struct string_list *ids, struct json_object **ret)
{
	autojson *list = json_object_new_array();

	for (size_t i = 0; list && i < ids->count; i++)
		if (json_append_string(list, ids->items[i]) < 0)
			return -ENOMEM;
	*ret = TAKE_PTR(list);
	return *ret ? 0 : -ENOMEM;
}

static int entry_to_json(const struct kubelet_checkpoint_entry *entry, struct json_object *list)
{
	struct json_object *object = json_object_new_object(), *ids = json_object_new_object();
	struct json_object *all = NULL;
	autostrbuf answer = STRBUF_INIT(KUBELET_CHECKPOINT_MAX);

	/* Both belong to the tree from here on. */
	if (json_append(list, object) < 0) {
		json_object_put(ids);
		return -ENOMEM;
	}
	int r = json_add_string(object, "PodUID", entry->pod_uid);
	r = r < 0 ? r : json_add_string(object, "ContainerName", entry->container);
	r = r < 0 ? r : json_add_string(object, "ResourceName", entry->resource);
	if (r < 0) {
		json_object_put(ids);
		return r;
	}
	r = json_add(object, "DeviceIDs", ids);
	r = r < 0 ? r : ids_to_json(&entry->ids, &all);
	r = r < 0 ? r : json_add(ids, "-1", all);
	encode(&entry->answer, &answer);
	r = r < 0 ? r : strbuf_failed(&answer);
	return r < 0 ? r : json_add_string(object, "AllocResp", answer.data);
}

static int checkpoint_to_json(const struct kubelet_checkpoint *checkpoint,
			      struct json_object *whole)
{
	struct json_object *data = json_object_new_object(), *list = NULL;

	int r = json_add(whole, "Data", data);
	if (r == 0)
		r = json_add(data, "PodDeviceEntries", list = json_object_new_array());
	for (size_t i = 0; i < checkpoint->entry_count && r == 0; i++)
		r = entry_to_json(&checkpoint->entries[i], list);
	if (r == 0)
		r = json_add(data, "RegisteredDevices", list = json_object_new_object());
	for (size_t i = 0; i < checkpoint->registered_count && r == 0; i++) {
		struct json_object *ids = NULL;

		r = ids_to_json(&checkpoint->registered[i].ids, &ids);
		r = r < 0 ? r : json_add(list, checkpoint->registered[i].resource, ids);
	}
	return r < 0 ? r : json_add_uint(whole, "Checksum", checkpoint->checksum);
}

int kubelet_checkpoint_text(const struct kubelet_checkpoint *checkpoint, char **ret,
			    struct error *error)
{
	autojson *whole = json_object_new_object();
	autostrbuf text = STRBUF_INIT(KUBELET_CHECKPOINT_MAX);

	if (!whole || checkpoint_to_json(checkpoint, whole) < 0)
		return error_no_memory(error);
	int r = json_to_text(whole, false, &text, error);
	if (r < 0)
		return r;
	*ret = strbuf_detach(&text);
	return *ret ? 0 : error_no_memory(error);
}
