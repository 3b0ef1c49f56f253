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
	pack_pairs_release(status->info, status->info_count);
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

int kubelet_pack_runtime_status(const struct kubelet_runtime_status *status,
				struct kubelet_bytes *ret, struct error *error)
{
	Runtime__V1__StatusResponse message = RUNTIME__V1__STATUS_RESPONSE__INIT;
	autoarena arena = { .pieces = NULL };

	message.n_info = status->info_count;
	if (!PACK_ITEMS(&arena, message.info, message.n_info, InfoEntry,
			RUNTIME__V1__STATUS_RESPONSE__INFO_ENTRY__INIT))
		return error_no_memory(error);
	for (size_t i = 0; i < message.n_info; i++) {
		message.info[i]->key = status->info[i].key;
		message.info[i]->value = status->info[i].value;
	}
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
	for (size_t i = 0; i < message->n_info; i++)
		if (pack_append_pair(&status.info, &status.info_count, &status.info_capacity,
				     message->info[i]->key, message->info[i]->value) < 0)
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
