/* SPDX-License-Identifier: Apache-2.0 */
/* What one container gets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <deviceplugin.pb-c.h>

#include "kubelet/pack.h"

typedef V1beta1__ContainerAllocateResponse Answer;
typedef V1beta1__ContainerAllocateResponse__EnvsEntry EnvEntry;
typedef V1beta1__ContainerAllocateResponse__AnnotationsEntry AnnotationEntry;

void kubelet_answer_release(struct kubelet_answer *answer)
{
	pack_pairs_release(answer->envs, answer->env_count);
	pack_pairs_release(answer->annotations, answer->annotation_count);
	for (size_t i = 0; i < answer->mount_count; i++) {
		free(answer->mounts[i].container_path);
		free(answer->mounts[i].host_path);
	}
	for (size_t i = 0; i < answer->device_count; i++) {
		free(answer->devices[i].container_path);
		free(answer->devices[i].host_path);
		free(answer->devices[i].permissions);
	}
	free(answer->mounts);
	free(answer->devices);
	string_list_release(&answer->cdi_devices);
	*answer = (struct kubelet_answer){ .envs = NULL };
}

static int pairs_put(struct kubelet_pair **pairs, size_t *count, size_t *capacity, const char *key,
		     const char *value)
{
	autofree char *copy = strdup(value), *name = strdup(key);

	if (!copy || !name)
		return -ENOMEM;
	for (size_t i = 0; i < *count; i++) {
		if (strcmp((*pairs)[i].key, key) == 0) {
			free((*pairs)[i].value);
			(*pairs)[i].value = TAKE_PTR(copy);
			return 0;
		}
	}
	struct kubelet_pair *pair = VEC_ADD(pairs, count, capacity);
	if (!pair)
		return -ENOMEM;
	*pair = (struct kubelet_pair){ .key = TAKE_PTR(name), .value = TAKE_PTR(copy) };
	return 0;
}

int kubelet_answer_add_env(struct kubelet_answer *answer, const char *key, const char *value)
{
	return pairs_put(&answer->envs, &answer->env_count, &answer->env_capacity, key, value);
}

int kubelet_answer_add_annotation(struct kubelet_answer *answer, const char *key, const char *value)
{
	return pairs_put(&answer->annotations, &answer->annotation_count,
			 &answer->annotation_capacity, key, value);
}

int kubelet_answer_add_mount(struct kubelet_answer *answer, const char *container_path,
			     const char *host_path, bool read_only)
{
	autofree char *container = strdup(container_path), *host = strdup(host_path);

	if (!container || !host)
		return -ENOMEM;
	struct kubelet_mount *mount =
		VEC_ADD(&answer->mounts, &answer->mount_count, &answer->mount_capacity);
	if (!mount)
		return -ENOMEM;
	*mount = (struct kubelet_mount){ .container_path = TAKE_PTR(container),
					 .host_path = TAKE_PTR(host),
					 .read_only = read_only };
	return 0;
}

int kubelet_answer_add_device(struct kubelet_answer *answer, const char *container_path,
			      const char *host_path, const char *permissions)
{
	autofree char *container = strdup(container_path), *host = strdup(host_path);
	autofree char *allowed = strdup(permissions);

	if (!container || !host || !allowed)
		return -ENOMEM;
	struct kubelet_node_file *device =
		VEC_ADD(&answer->devices, &answer->device_count, &answer->device_capacity);
	if (!device)
		return -ENOMEM;
	*device = (struct kubelet_node_file){ .container_path = TAKE_PTR(container),
					      .host_path = TAKE_PTR(host),
					      .permissions = TAKE_PTR(allowed) };
	return 0;
}

int kubelet_answer_add_cdi(struct kubelet_answer *answer, const char *name)
{
	return string_list_add(&answer->cdi_devices, name);
}

/* --- packing --- */

static bool fill_pairs(const struct kubelet_answer *answer, struct pack_arena *arena,
		       Answer *message)
{
	message->n_envs = answer->env_count;
	message->n_annotations = answer->annotation_count;
	if (!PACK_ITEMS(arena, message->envs, answer->env_count, EnvEntry,
			V1BETA1__CONTAINER_ALLOCATE_RESPONSE__ENVS_ENTRY__INIT) ||
	    !PACK_ITEMS(arena, message->annotations, answer->annotation_count, AnnotationEntry,
			V1BETA1__CONTAINER_ALLOCATE_RESPONSE__ANNOTATIONS_ENTRY__INIT))
		return false;
	for (size_t i = 0; i < answer->env_count; i++) {
		message->envs[i]->key = answer->envs[i].key;
		message->envs[i]->value = answer->envs[i].value;
	}
	for (size_t i = 0; i < answer->annotation_count; i++) {
		message->annotations[i]->key = answer->annotations[i].key;
		message->annotations[i]->value = answer->annotations[i].value;
	}
	return true;
}

static bool fill_files(const struct kubelet_answer *answer, struct pack_arena *arena,
		       Answer *message)
{
	message->n_mounts = answer->mount_count;
	message->n_devices = answer->device_count;
	message->n_cdi_devices = answer->cdi_devices.count;
	if (!PACK_ITEMS(arena, message->mounts, answer->mount_count, V1beta1__Mount,
			V1BETA1__MOUNT__INIT) ||
	    !PACK_ITEMS(arena, message->devices, answer->device_count, V1beta1__DeviceSpec,
			V1BETA1__DEVICE_SPEC__INIT) ||
	    !PACK_ITEMS(arena, message->cdi_devices, answer->cdi_devices.count, V1beta1__CDIDevice,
			V1BETA1__CDIDEVICE__INIT))
		return false;
	for (size_t i = 0; i < answer->mount_count; i++) {
		message->mounts[i]->container_path = answer->mounts[i].container_path;
		message->mounts[i]->host_path = answer->mounts[i].host_path;
		message->mounts[i]->read_only = answer->mounts[i].read_only;
	}
	for (size_t i = 0; i < answer->device_count; i++) {
		message->devices[i]->container_path = answer->devices[i].container_path;
		message->devices[i]->host_path = answer->devices[i].host_path;
		message->devices[i]->permissions = answer->devices[i].permissions;
	}
	for (size_t i = 0; i < answer->cdi_devices.count; i++)
		message->cdi_devices[i]->name = answer->cdi_devices.items[i];
	return true;
}

int kubelet_pack_answer(const struct kubelet_answer *answer, struct kubelet_bytes *ret,
			struct error *error)
{
	Answer message = V1BETA1__CONTAINER_ALLOCATE_RESPONSE__INIT;
	autoarena arena = { .pieces = NULL };

	if (!fill_pairs(answer, &arena, &message) || !fill_files(answer, &arena, &message))
		return error_no_memory(error);
	return pack_write(&message.base, "the answer for a container", KUBELET_MESSAGE_MAX, ret,
			  error);
}

int kubelet_pack_allocated(const struct kubelet_answer *answer, struct kubelet_bytes *ret,
			   struct error *error)
{
	Answer message = V1BETA1__CONTAINER_ALLOCATE_RESPONSE__INIT, *only = &message;
	V1beta1__AllocateResponse response = V1BETA1__ALLOCATE_RESPONSE__INIT;
	autoarena arena = { .pieces = NULL };

	if (!fill_pairs(answer, &arena, &message) || !fill_files(answer, &arena, &message))
		return error_no_memory(error);
	response.container_responses = &only;
	response.n_container_responses = 1;
	return pack_write(&response.base, "the answer to Allocate", KUBELET_MESSAGE_MAX, ret,
			  error);
}

/* --- unpacking --- */

static int refuse_twice(const char *what, const char *key, struct error *error)
{
	return error_set(error, EBADMSG,
			 "the answer for a container has the %s %s twice; it is not used", what,
			 key);
}

static int check_keys(const Answer *message, struct error *error)
{
	autofree char **keys = NULL;
	const char *twice = NULL;
	size_t most =
		message->n_envs > message->n_annotations ? message->n_envs : message->n_annotations;

	keys = calloc(most + 1, sizeof(*keys));
	if (!keys)
		return error_no_memory(error);
	for (size_t i = 0; i < message->n_envs; i++)
		keys[i] = message->envs[i]->key;
	int r = pack_find_twice(keys, message->n_envs, sizeof(*keys), &twice);
	if (r == -EINVAL)
		return refuse_twice("variable", twice, error);
	for (size_t i = 0; i < message->n_annotations; i++)
		keys[i] = message->annotations[i]->key;
	if (r == 0)
		r = pack_find_twice(keys, message->n_annotations, sizeof(*keys), &twice);
	if (r == -EINVAL)
		return refuse_twice("annotation", twice, error);
	return r < 0 ? error_no_memory(error) : 0;
}

static int copy_answer(const Answer *message, struct kubelet_answer *answer)
{
	int r = 0;

	for (size_t i = 0; i < message->n_envs && r == 0; i++)
		r = pack_append_pair(&answer->envs, &answer->env_count, &answer->env_capacity,
				     message->envs[i]->key, message->envs[i]->value);
	for (size_t i = 0; i < message->n_annotations && r == 0; i++)
		r = pack_append_pair(&answer->annotations, &answer->annotation_count,
				     &answer->annotation_capacity, message->annotations[i]->key,
				     message->annotations[i]->value);
	for (size_t i = 0; i < message->n_mounts && r == 0; i++)
		r = kubelet_answer_add_mount(answer, message->mounts[i]->container_path,
					     message->mounts[i]->host_path,
					     message->mounts[i]->read_only);
	for (size_t i = 0; i < message->n_devices && r == 0; i++)
		r = kubelet_answer_add_device(answer, message->devices[i]->container_path,
					      message->devices[i]->host_path,
					      message->devices[i]->permissions);
	for (size_t i = 0; i < message->n_cdi_devices && r == 0; i++)
		r = kubelet_answer_add_cdi(answer, message->cdi_devices[i]->name);
	return r;
}

static int take_answer(const Answer *message, struct kubelet_answer *ret, struct error *error)
{
	cleanup(kubelet_answer_release) struct kubelet_answer answer = { .envs = NULL };

	int r = check_keys(message, error);
	if (r < 0)
		return r;
	if (copy_answer(message, &answer) < 0)
		return error_no_memory(error);
	*ret = answer;
	answer = (struct kubelet_answer){ .envs = NULL };
	return 0;
}

int kubelet_unpack_answer(const void *data, size_t size, struct kubelet_answer *ret,
			  struct error *error)
{
	automessage *read = NULL;

	int r = pack_read(&v1beta1__container_allocate_response__descriptor,
			  "the answer for a container", data, size, KUBELET_MESSAGE_MAX, &read,
			  error);
	return r < 0 ? r : take_answer((const Answer *)read, ret, error);
}

int kubelet_unpack_allocated(const void *data, size_t size, struct kubelet_answer *ret,
			     struct error *error)
{
	automessage *read = NULL;

	int r = pack_read(&v1beta1__allocate_response__descriptor, "the answer to Allocate", data,
			  size, KUBELET_MESSAGE_MAX, &read, error);
	if (r < 0)
		return r;
	const V1beta1__AllocateResponse *response = (const V1beta1__AllocateResponse *)read;
	if (response->n_container_responses != 1)
		return error_set(error, EBADMSG,
				 "the answer to Allocate is for %zu containers instead of one; it "
				 "is not used",
				 response->n_container_responses);
	return take_answer(response->container_responses[0], ret, error);
}
