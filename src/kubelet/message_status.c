/* SPDX-License-Identifier: Apache-2.0 */
/* What a container runtime says of itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <runtimestatus.pb-c.h>

#include "kubelet/pack.h"

typedef Runtime__V1__StatusResponse__InfoEntry InfoEntry;

void kubelet_runtime_status_release(struct kubelet_runtime_status *status)
{
	for (size_t i = 0; i < status->condition_count; i++) {
		free(status->conditions[i].type);
		free(status->conditions[i].reason);
		free(status->conditions[i].message);
	}
	for (size_t i = 0; i < status->info_count; i++) {
		free(status->info[i].key);
		free(status->info[i].value);
	}
	free(status->conditions);
	free(status->info);
	*status = (struct kubelet_runtime_status){ .info = NULL };
}

int kubelet_pack_status_request(bool verbose, struct kubelet_bytes *ret, struct error *error)
{
	Runtime__V1__StatusRequest message = RUNTIME__V1__STATUS_REQUEST__INIT;

	message.verbose = verbose;
	return pack_write(&message.base, "the question for the status", KUBELET_MESSAGE_MAX, ret,
			  error);
}

int kubelet_unpack_status_request(const void *data, size_t size, bool *ret_verbose,
				  struct error *error)
{
	automessage *read = NULL;

	int r = pack_read(&runtime__v1__status_request__descriptor, "the question for the status",
			  data, size, KUBELET_MESSAGE_MAX, &read, error);
	if (r < 0)
		return r;
	*ret_verbose = ((const Runtime__V1__StatusRequest *)read)->verbose;
	return 0;
}

static bool fill_conditions(const struct kubelet_runtime_status *status, struct pack_arena *arena,
			    Runtime__V1__RuntimeStatus *message)
{
	size_t count = status->condition_count;
	Runtime__V1__RuntimeCondition *items = pack_alloc(arena, count, sizeof(*items));

	message->conditions = pack_alloc(arena, count, sizeof(Runtime__V1__RuntimeCondition *));
	if (!items || !message->conditions)
		return false;
	message->n_conditions = count;
	for (size_t i = 0; i < count; i++) {
		items[i] = (Runtime__V1__RuntimeCondition)RUNTIME__V1__RUNTIME_CONDITION__INIT;
		items[i].type = pack_text(status->conditions[i].type);
		items[i].reason = pack_text(status->conditions[i].reason);
		items[i].message = pack_text(status->conditions[i].message);
		items[i].status = status->conditions[i].status;
		message->conditions[i] = &items[i];
	}
	return true;
}

static bool fill_info(const struct kubelet_runtime_status *status, struct pack_arena *arena,
		      Runtime__V1__StatusResponse *message)
{
	size_t count = status->info_count;
	InfoEntry *items = pack_alloc(arena, count, sizeof(*items));

	message->info = pack_alloc(arena, count, sizeof(InfoEntry *));
	if (!items || !message->info)
		return false;
	message->n_info = count;
	for (size_t i = 0; i < count; i++) {
		items[i] = (InfoEntry)RUNTIME__V1__STATUS_RESPONSE__INFO_ENTRY__INIT;
		items[i].key = status->info[i].key;
		items[i].value = status->info[i].value;
		message->info[i] = &items[i];
	}
	return true;
}

int kubelet_pack_runtime_status(const struct kubelet_runtime_status *status,
				struct kubelet_bytes *ret, struct error *error)
{
	Runtime__V1__StatusResponse message = RUNTIME__V1__STATUS_RESPONSE__INIT;
	Runtime__V1__RuntimeStatus inner = RUNTIME__V1__RUNTIME_STATUS__INIT;
	autoarena arena = { .pieces = NULL };

	if (!fill_conditions(status, &arena, &inner) || !fill_info(status, &arena, &message))
		return error_no_memory(error);
	message.status = &inner;
	return pack_write(&message.base, "the runtime's status", KUBELET_POD_RESOURCES_MAX, ret,
			  error);
}

static int check_info(const Runtime__V1__StatusResponse *message, struct error *error)
{
	autofree char **keys = calloc(message->n_info + 1, sizeof(*keys));
	const char *twice = NULL;

	if (!keys)
		return error_no_memory(error);
	for (size_t i = 0; i < message->n_info; i++)
		keys[i] = message->info[i]->key;
	int r = pack_find_twice(keys, message->n_info, sizeof(*keys), &twice);
	if (r == -EINVAL)
		return error_set(error, EBADMSG,
				 "the runtime's status has the entry %s twice; it is not used",
				 twice);
	return r < 0 ? error_no_memory(error) : 0;
}

static int copy_status(const Runtime__V1__StatusResponse *message,
		       struct kubelet_runtime_status *status)
{
	size_t count = message->status ? message->status->n_conditions : 0;

	for (size_t i = 0; i < count; i++) {
		const Runtime__V1__RuntimeCondition *from = message->status->conditions[i];
		struct kubelet_condition *to = VEC_ADD(
			&status->conditions, &status->condition_count, &status->condition_capacity);
		if (!to)
			return -ENOMEM;
		to->type = strdup(from->type);
		to->reason = strdup(from->reason);
		to->message = strdup(from->message);
		to->status = from->status;
		if (!to->type || !to->reason || !to->message)
			return -ENOMEM;
	}
	for (size_t i = 0; i < message->n_info; i++) {
		struct kubelet_pair *pair =
			VEC_ADD(&status->info, &status->info_count, &status->info_capacity);
		if (!pair)
			return -ENOMEM;
		pair->key = strdup(message->info[i]->key);
		pair->value = strdup(message->info[i]->value);
		if (!pair->key || !pair->value)
			return -ENOMEM;
	}
	return 0;
}

int kubelet_unpack_runtime_status(const void *data, size_t size, struct kubelet_runtime_status *ret,
				  struct error *error)
{
	cleanup(kubelet_runtime_status_release) struct kubelet_runtime_status status = {
		.info = NULL
	};
	automessage *read = NULL;

	int r = pack_read(&runtime__v1__status_response__descriptor, "the runtime's status", data,
			  size, KUBELET_POD_RESOURCES_MAX, &read, error);
	if (r < 0)
		return r;
	const Runtime__V1__StatusResponse *message = (const Runtime__V1__StatusResponse *)read;
	r = check_info(message, error);
	if (r < 0)
		return r;
	if (copy_status(message, &status) < 0)
		return error_no_memory(error);
	*ret = status;
	status = (struct kubelet_runtime_status){ .info = NULL };
	return 0;
}

/* --- CDI --- */

static const char *find_info(const struct kubelet_runtime_status *status, const char *key)
{
	for (size_t i = 0; i < status->info_count; i++)
		if (strcmp(status->info[i].key, key) == 0)
			return status->info[i].value;
	return NULL;
}

enum kubelet_cdi kubelet_runtime_cdi(const struct kubelet_runtime_status *status)
{
	const char *text = find_info(status, "config");
	autojson *config = NULL;

	/* containerd prints its CRI configuration there; keys are those of its Go structs. */
	if (!text || json_parse(text, strlen(text), "config", NULL, &config, NULL) < 0)
		return KUBELET_CDI_UNKNOWN;
	struct json_object *enabled = json_get(config, "enableCDI");
	if (enabled && json_object_is_type(enabled, json_type_boolean))
		return json_object_get_boolean(enabled) ? KUBELET_CDI_ON : KUBELET_CDI_OFF;
	/* 1.6 has neither key: it does not know CDI. */
	return json_get(config, "cdiSpecDirs") ? KUBELET_CDI_ON : KUBELET_CDI_UNKNOWN;
}
