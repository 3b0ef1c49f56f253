/* SPDX-License-Identifier: Apache-2.0 */
/* Which containers hold which devices, as pod-resources says it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <podresources.pb-c.h>

#include "kubelet/pack.h"

void kubelet_holdings_release(struct kubelet_holdings *holdings)
{
	for (size_t i = 0; i < holdings->count; i++) {
		struct kubelet_holding *holding = &holdings->items[i];

		free(holding->pod);
		free(holding->pod_namespace);
		free(holding->container);
		free(holding->resource);
		string_list_release(&holding->ids);
	}
	free(holdings->items);
	string_list_release(&holdings->pods);
	*holdings = (struct kubelet_holdings){ .items = NULL };
}

/* --- unpacking --- */

static struct kubelet_holding *add_holding(struct kubelet_holdings *holdings,
					   const V1__PodResources *pod, const char *container,
					   const char *resource)
{
	struct kubelet_holding *holding =
		VEC_ADD(&holdings->items, &holdings->count, &holdings->capacity);

	if (!holding)
		return NULL;
	holding->pod = strdup(pod->name);
	holding->pod_namespace = strdup(pod->namespace_);
	holding->container = strdup(container);
	holding->resource = strdup(resource);
	if (!holding->pod || !holding->pod_namespace || !holding->container || !holding->resource)
		return NULL;
	return holding;
}

/* The kubelet sends one entry a device: entries of one resource in a row are one holding. */
static int take_container(const V1__PodResources *pod, const V1__ContainerResources *container,
			  struct kubelet_holdings *holdings, struct error *error)
{
	struct kubelet_holding *holding = NULL;
	size_t first = holdings->count;

	for (size_t i = 0; i < container->n_devices; i++) {
		const V1__ContainerDevices *devices = container->devices[i];

		if (!devices->n_device_ids)
			continue;
		holding = NULL;
		for (size_t j = first; j < holdings->count && !holding; j++)
			if (strcmp(holdings->items[j].resource, devices->resource_name) == 0)
				holding = &holdings->items[j];
		if (!holding && holdings->count - first >= 256)
			return error_set(error, EBADMSG,
					 "container %s of Pod %s/%s holds devices of more than 256 "
					 "resources; the answer is not used",
					 container->name, pod->namespace_, pod->name);
		if (!holding)
			holding =
				add_holding(holdings, pod, container->name, devices->resource_name);
		if (!holding)
			return error_no_memory(error);
		int r = pack_strings(devices->device_ids, devices->n_device_ids, &holding->ids,
				     error);
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_pod(const V1__PodResources *pod, struct kubelet_holdings *holdings,
		    struct error *error)
{
	if (strchr(pod->namespace_, '/') || strchr(pod->name, '/'))
		return error_set(
			error, EBADMSG,
			"Pod %s in namespace %s has a slash in a name; the answer is not used",
			pod->name, pod->namespace_);
	int r = string_list_addf(&holdings->pods, "%s/%s", pod->namespace_, pod->name);

	if (r < 0)
		return error_no_memory(error);
	for (size_t i = 0; i < pod->n_containers && r == 0; i++)
		r = take_container(pod, pod->containers[i], holdings, error);
	return r;
}

static int check_pods(const struct kubelet_holdings *holdings, struct error *error)
{
	const char *twice = NULL;
	int r = pack_find_twice(holdings->pods.items, holdings->pods.count, sizeof(char *), &twice);

	if (r == -EINVAL)
		return error_set(error, EBADMSG, "Pod %s stands twice; the answer is not used",
				 twice);
	return r < 0 ? error_no_memory(error) : 0;
}

int kubelet_unpack_holdings(const void *data, size_t size, struct kubelet_holdings *ret,
			    struct error *error)
{
	cleanup(kubelet_holdings_release) struct kubelet_holdings holdings = { .items = NULL };
	automessage *read = NULL;

	int r = pack_read(&v1__list_pod_resources_response__descriptor,
			  "the answer of pod-resources", data, size, KUBELET_POD_RESOURCES_MAX,
			  &read, error);
	if (r < 0)
		return r;
	const V1__ListPodResourcesResponse *message = (const V1__ListPodResourcesResponse *)read;
	for (size_t i = 0; i < message->n_pod_resources && r == 0; i++)
		r = take_pod(message->pod_resources[i], &holdings, error);
	if (r == 0)
		r = check_pods(&holdings, error);
	if (r < 0)
		return r;
	*ret = holdings;
	holdings = (struct kubelet_holdings){ .items = NULL };
	return 0;
}

/* --- packing --- */

/* One Pod in the making: its containers, and the entries of the one that is being filled. */
struct pod_maker {
	struct pack_arena *arena;
	const struct kubelet_holdings *holdings;
	const char *pod, *space; /* not terminated: SPACE_LENGTH */
	size_t space_length;
};

static bool of_pod(const struct pod_maker *maker, const struct kubelet_holding *holding)
{
	return strcmp(holding->pod, maker->pod) == 0 &&
	       strlen(holding->pod_namespace) == maker->space_length &&
	       memcmp(holding->pod_namespace, maker->space, maker->space_length) == 0;
}

/* As the kubelet: an entry a device. */
static bool make_devices(struct pod_maker *maker, const char *container,
			 V1__ContainerResources *message)
{
	size_t count = 0, at = 0;

	for (size_t i = 0; i < maker->holdings->count; i++)
		count += maker->holdings->items[i].ids.count;
	V1__ContainerDevices *items = pack_alloc(maker->arena, count, sizeof(*items));
	message->devices = pack_alloc(maker->arena, count, sizeof(V1__ContainerDevices *));
	if (!items || !message->devices)
		return false;
	for (size_t i = 0; i < maker->holdings->count; i++) {
		const struct kubelet_holding *holding = &maker->holdings->items[i];

		if (!of_pod(maker, holding) || strcmp(holding->container, container) != 0)
			continue;
		for (size_t j = 0; j < holding->ids.count; j++, at++) {
			items[at] = (V1__ContainerDevices)V1__CONTAINER_DEVICES__INIT;
			items[at].resource_name = holding->resource;
			items[at].device_ids = &holding->ids.items[j];
			items[at].n_device_ids = 1;
			message->devices[at] = &items[at];
		}
	}
	message->n_devices = at;
	return true;
}

static V1__ContainerResources *find_container(const V1__PodResources *message, const char *name)
{
	for (size_t i = 0; i < message->n_containers; i++)
		if (strcmp(message->containers[i]->name, name) == 0)
			return message->containers[i];
	return NULL;
}

static bool make_pod(struct pod_maker *maker, const char *qualified, V1__PodResources *message)
{
	const char *slash = strchr(qualified, '/');
	size_t most = maker->holdings->count;

	maker->space = qualified;
	maker->space_length = slash ? (size_t)(slash - qualified) : 0;
	maker->pod = slash ? slash + 1 : qualified;
	char *space = pack_alloc(maker->arena, 1, maker->space_length + 1);
	V1__ContainerResources *items = pack_alloc(maker->arena, most, sizeof(*items));
	message->containers = pack_alloc(maker->arena, most, sizeof(V1__ContainerResources *));
	if (!space || !items || !message->containers)
		return false;
	memcpy(space, qualified, maker->space_length);
	message->name = pack_text(maker->pod);
	message->namespace_ = space;
	for (size_t i = 0; i < most; i++) {
		const struct kubelet_holding *holding = &maker->holdings->items[i];

		if (!of_pod(maker, holding) || find_container(message, holding->container))
			continue;
		V1__ContainerResources *made = &items[message->n_containers];
		*made = (V1__ContainerResources)V1__CONTAINER_RESOURCES__INIT;
		made->name = holding->container;
		message->containers[message->n_containers++] = made;
		if (!make_devices(maker, holding->container, made))
			return false;
	}
	return true;
}

int kubelet_pack_holdings(const struct kubelet_holdings *holdings, struct kubelet_bytes *ret,
			  struct error *error)
{
	V1__ListPodResourcesResponse list = V1__LIST_POD_RESOURCES_RESPONSE__INIT;
	autoarena arena = { .pieces = NULL };
	struct pod_maker maker = { .arena = &arena, .holdings = holdings };
	size_t count = holdings->pods.count;

	if (!PACK_ITEMS(&arena, list.pod_resources, count, V1__PodResources,
			V1__POD_RESOURCES__INIT))
		return error_no_memory(error);
	list.n_pod_resources = count;
	for (size_t i = 0; i < count; i++)
		if (!make_pod(&maker, holdings->pods.items[i], list.pod_resources[i]))
			return error_no_memory(error);
	return pack_write(&list.base, "the answer of pod-resources", KUBELET_POD_RESOURCES_MAX, ret,
			  error);
}
