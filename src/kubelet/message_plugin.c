/* SPDX-License-Identifier: Apache-2.0 */
/* Registration, options, lists of devices, and lists of IDs. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <deviceplugin.pb-c.h>

#include "kubelet/pack.h"

/* The API's word; any other counts as unhealthy, letter by letter. */
#define HEALTHY   "Healthy"
#define UNHEALTHY "Unhealthy"

void kubelet_registration_release(struct kubelet_registration *registration)
{
	free(registration->version);
	free(registration->endpoint);
	free(registration->resource);
	*registration = (struct kubelet_registration){ .version = NULL };
}

void kubelet_preference_release(struct kubelet_preference *preference)
{
	string_list_release(&preference->available);
	string_list_release(&preference->must_include);
	preference->size = 0;
}

void kubelet_device_list_release(struct kubelet_device_list *list)
{
	free(list->items);
	free(list->numa);
	string_list_release(&list->ids);
	*list = (struct kubelet_device_list){ .items = NULL };
}

static void fill_options(const struct kubelet_plugin_options *options,
			 V1beta1__DevicePluginOptions *message)
{
	message->pre_start_required = options->pre_start_required;
	message->get_preferred_allocation_available = options->preferred_available;
}

static void take_options(const V1beta1__DevicePluginOptions *message,
			 struct kubelet_plugin_options *options)
{
	options->pre_start_required = message->pre_start_required;
	options->preferred_available = message->get_preferred_allocation_available;
}

int kubelet_pack_options(const struct kubelet_plugin_options *options, struct kubelet_bytes *ret,
			 struct error *error)
{
	V1beta1__DevicePluginOptions message = V1BETA1__DEVICE_PLUGIN_OPTIONS__INIT;

	fill_options(options, &message);
	return pack_write(&message.base, "the plugin's options", KUBELET_MESSAGE_MAX, ret, error);
}

int kubelet_unpack_options(const void *data, size_t size, struct kubelet_plugin_options *ret,
			   struct error *error)
{
	automessage *read = NULL;

	int r = pack_read(&v1beta1__device_plugin_options__descriptor, "the plugin's options", data,
			  size, KUBELET_MESSAGE_MAX, &read, error);
	if (r < 0)
		return r;
	take_options((const V1beta1__DevicePluginOptions *)read, ret);
	return 0;
}

int kubelet_pack_registration(const struct kubelet_registration *registration,
			      struct kubelet_bytes *ret, struct error *error)
{
	V1beta1__RegisterRequest message = V1BETA1__REGISTER_REQUEST__INIT;
	V1beta1__DevicePluginOptions options = V1BETA1__DEVICE_PLUGIN_OPTIONS__INIT;

	fill_options(&registration->options, &options);
	message.version = pack_text(registration->version);
	message.endpoint = pack_text(registration->endpoint);
	message.resource_name = pack_text(registration->resource);
	message.options = &options;
	return pack_write(&message.base, "the registration", KUBELET_MESSAGE_MAX, ret, error);
}

int kubelet_unpack_registration(const void *data, size_t size, struct kubelet_registration *ret,
				struct error *error)
{
	cleanup(kubelet_registration_release) struct kubelet_registration registration = {
		.version = NULL
	};
	automessage *read = NULL;

	int r = pack_read(&v1beta1__register_request__descriptor, "the registration", data, size,
			  KUBELET_MESSAGE_MAX, &read, error);
	if (r < 0)
		return r;
	const V1beta1__RegisterRequest *message = (const V1beta1__RegisterRequest *)read;
	registration.version = strdup(message->version);
	registration.endpoint = strdup(message->endpoint);
	registration.resource = strdup(message->resource_name);
	if (!registration.version || !registration.endpoint || !registration.resource)
		return error_no_memory(error);
	if (message->options)
		take_options(message->options, &registration.options);
	*ret = registration;
	registration = (struct kubelet_registration){ .version = NULL };
	return 0;
}

/* --- lists of devices --- */

static int check_devices(const struct kubelet_device *devices, size_t count, struct error *error)
{
	const char *twice = NULL;

	for (size_t i = 0; i < count; i++)
		if (!devices[i].id || !*devices[i].id)
			return error_set(error, EINVAL,
					 "device %zu of the list has no ID; give it one", i);
	int r = count ? pack_find_twice(&devices->id, count, sizeof(*devices), &twice) : 0;
	if (r == -EINVAL)
		return error_set(error, EINVAL,
				 "device %s stands twice in the list; an ID is for one device",
				 twice);
	return r < 0 ? error_no_memory(error) : 0;
}

static int fill_topology(const struct kubelet_device *device, struct pack_arena *arena,
			 V1beta1__Device *message)
{
	size_t count = device->numa_count > 0 ? (size_t)device->numa_count : 0;

	/* An empty topology is not the same as none to kubelets of old. */
	if (!count)
		return 0;
	message->topology = pack_alloc(arena, 1, sizeof(V1beta1__TopologyInfo));
	if (!message->topology)
		return -ENOMEM;
	*message->topology = (V1beta1__TopologyInfo)V1BETA1__TOPOLOGY_INFO__INIT;
	if (!PACK_ITEMS(arena, message->topology->nodes, count, V1beta1__NUMANode,
			V1BETA1__NUMANODE__INIT))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		message->topology->nodes[i]->id = device->numa[i];
	message->topology->n_nodes = count;
	return 0;
}

int kubelet_pack_devices(const struct kubelet_device *devices, size_t count,
			 struct kubelet_bytes *ret, struct error *error)
{
	V1beta1__ListAndWatchResponse message = V1BETA1__LIST_AND_WATCH_RESPONSE__INIT;
	autoarena arena = { .pieces = NULL };

	int r = check_devices(devices, count, error);
	if (r < 0)
		return r;
	if (!PACK_ITEMS(&arena, message.devices, count, V1beta1__Device, V1BETA1__DEVICE__INIT))
		return error_no_memory(error);
	message.n_devices = count;
	for (size_t i = 0; i < count; i++) {
		message.devices[i]->id = pack_text(devices[i].id);
		message.devices[i]->health = pack_text(devices[i].healthy ? HEALTHY : UNHEALTHY);
		if (fill_topology(&devices[i], &arena, message.devices[i]) < 0)
			return error_no_memory(error);
	}
	return pack_write(&message.base, "the list of devices", KUBELET_MESSAGE_MAX, ret, error);
}

static size_t count_nodes(const V1beta1__ListAndWatchResponse *message)
{
	size_t count = 0;

	for (size_t i = 0; i < message->n_devices; i++)
		if (message->devices[i]->topology)
			count += message->devices[i]->topology->n_nodes;
	return count;
}

/* The nodes of DEVICE go to NUMA, which has room for them. */
static int take_topology(const V1beta1__Device *message, int *numa, struct kubelet_device *device,
			 struct error *error)
{
	device->numa = numa;
	device->numa_count = 0;
	for (size_t i = 0; message->topology && i < message->topology->n_nodes; i++) {
		int64_t node = message->topology->nodes[i]->id;

		if (node < 0 || node > INT_MAX)
			return error_set(error, EBADMSG,
					 "device %s is on NUMA node %lld, and there is none; the "
					 "list is not used",
					 message->id, (long long)node);
		numa[device->numa_count++] = (int)node;
	}
	return 0;
}

static int take_devices(const V1beta1__ListAndWatchResponse *message,
			struct kubelet_device_list *list, struct error *error)
{
	list->items = calloc(message->n_devices + 1, sizeof(*list->items));
	list->numa = calloc(count_nodes(message) + 1, sizeof(*list->numa));
	if (!list->items || !list->numa)
		return error_no_memory(error);
	int *numa = list->numa;
	for (size_t i = 0; i < message->n_devices; i++) {
		const V1beta1__Device *from = message->devices[i];
		struct kubelet_device *device = &list->items[i];

		if (string_list_add(&list->ids, from->id) < 0)
			return error_no_memory(error);
		device->id = list->ids.items[i];
		device->healthy = strcmp(from->health, HEALTHY) == 0;
		int r = take_topology(from, numa, device, error);
		if (r < 0)
			return r;
		numa += device->numa_count;
		list->count++;
	}
	return 0;
}

int kubelet_unpack_devices(const void *data, size_t size, struct kubelet_device_list *ret,
			   struct error *error)
{
	cleanup(kubelet_device_list_release) struct kubelet_device_list list = { .items = NULL };
	automessage *read = NULL;

	int r = pack_read(&v1beta1__list_and_watch_response__descriptor, "the list of devices",
			  data, size, KUBELET_MESSAGE_MAX, &read, error);
	if (r == 0)
		r = take_devices((const V1beta1__ListAndWatchResponse *)read, &list, error);
	if (r < 0)
		return r;
	*ret = list;
	list = (struct kubelet_device_list){ .items = NULL };
	return 0;
}

/* --- lists of IDs --- */

static int refuse_containers(const char *what, size_t count, struct error *error)
{
	return error_set(
		error, EBADMSG,
		"%s is for %zu containers, and the kubelet sends one; ask once a container", what,
		count);
}

int kubelet_pack_preference(const struct kubelet_preference *preference, struct kubelet_bytes *ret,
			    struct error *error)
{
	V1beta1__ContainerPreferredAllocationRequest container =
		V1BETA1__CONTAINER_PREFERRED_ALLOCATION_REQUEST__INIT;
	V1beta1__ContainerPreferredAllocationRequest *only = &container;
	V1beta1__PreferredAllocationRequest message = V1BETA1__PREFERRED_ALLOCATION_REQUEST__INIT;

	container.available_deviceids = preference->available.items;
	container.n_available_deviceids = preference->available.count;
	container.must_include_deviceids = preference->must_include.items;
	container.n_must_include_deviceids = preference->must_include.count;
	container.allocation_size = (int32_t)preference->size;
	message.container_requests = &only;
	message.n_container_requests = 1;
	return pack_write(&message.base, "the question for preferred devices", KUBELET_MESSAGE_MAX,
			  ret, error);
}

int kubelet_unpack_preference(const void *data, size_t size, struct kubelet_preference *ret,
			      struct error *error)
{
	static const char what[] = "the question for preferred devices";
	cleanup(kubelet_preference_release) struct kubelet_preference preference = { .size = 0 };
	automessage *read = NULL;

	int r = pack_read(&v1beta1__preferred_allocation_request__descriptor, what, data, size,
			  KUBELET_MESSAGE_MAX, &read, error);
	if (r < 0)
		return r;
	const V1beta1__PreferredAllocationRequest *message =
		(const V1beta1__PreferredAllocationRequest *)read;
	if (message->n_container_requests != 1)
		return refuse_containers(what, message->n_container_requests, error);
	const V1beta1__ContainerPreferredAllocationRequest *from = message->container_requests[0];
	if (from->allocation_size < 0)
		return error_set(error, EBADMSG, "%s is for %d devices; it is not used", what,
				 from->allocation_size);
	preference.size = (unsigned)from->allocation_size;
	r = pack_strings(from->available_deviceids, from->n_available_deviceids,
			 &preference.available, error);
	if (r == 0)
		r = pack_strings(from->must_include_deviceids, from->n_must_include_deviceids,
				 &preference.must_include, error);
	if (r < 0)
		return r;
	*ret = preference;
	preference = (struct kubelet_preference){ .size = 0 };
	return 0;
}

int kubelet_pack_preferred(const struct string_list *ids, struct kubelet_bytes *ret,
			   struct error *error)
{
	V1beta1__ContainerPreferredAllocationResponse container =
		V1BETA1__CONTAINER_PREFERRED_ALLOCATION_RESPONSE__INIT;
	V1beta1__ContainerPreferredAllocationResponse *only = &container;
	V1beta1__PreferredAllocationResponse message = V1BETA1__PREFERRED_ALLOCATION_RESPONSE__INIT;

	container.deviceids = ids->items;
	container.n_deviceids = ids->count;
	message.container_responses = &only;
	message.n_container_responses = 1;
	return pack_write(&message.base, "the preferred devices", KUBELET_MESSAGE_MAX, ret, error);
}

static int take_ids(char *const *items, size_t count, struct string_list *ret, struct error *error)
{
	cleanup(string_list_release) struct string_list list = { .items = NULL };

	int r = pack_strings(items, count, &list, error);
	if (r < 0)
		return r;
	*ret = list;
	list = (struct string_list){ .items = NULL };
	return 0;
}

int kubelet_unpack_preferred(const void *data, size_t size, struct string_list *ret,
			     struct error *error)
{
	automessage *read = NULL;

	int r = pack_read(&v1beta1__preferred_allocation_response__descriptor,
			  "the preferred devices", data, size, KUBELET_MESSAGE_MAX, &read, error);
	if (r < 0)
		return r;
	const V1beta1__PreferredAllocationResponse *message =
		(const V1beta1__PreferredAllocationResponse *)read;
	if (message->n_container_responses != 1)
		return error_set(error, EBADMSG,
				 "the preferred devices are for %zu containers instead of one; "
				 "they are not used",
				 message->n_container_responses);
	return take_ids(message->container_responses[0]->deviceids,
			message->container_responses[0]->n_deviceids, ret, error);
}

int kubelet_pack_allocate(const struct string_list *ids, struct kubelet_bytes *ret,
			  struct error *error)
{
	V1beta1__ContainerAllocateRequest container = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *only = &container;
	V1beta1__AllocateRequest message = V1BETA1__ALLOCATE_REQUEST__INIT;

	container.devices_ids = ids->items;
	container.n_devices_ids = ids->count;
	message.container_requests = &only;
	message.n_container_requests = 1;
	return pack_write(&message.base, "the allocation", KUBELET_MESSAGE_MAX, ret, error);
}

int kubelet_unpack_allocate(const void *data, size_t size, struct string_list *ret,
			    struct error *error)
{
	automessage *read = NULL;

	int r = pack_read(&v1beta1__allocate_request__descriptor, "the allocation", data, size,
			  KUBELET_MESSAGE_MAX, &read, error);
	if (r < 0)
		return r;
	const V1beta1__AllocateRequest *message = (const V1beta1__AllocateRequest *)read;
	if (message->n_container_requests != 1)
		return refuse_containers("the allocation", message->n_container_requests, error);
	return take_ids(message->container_requests[0]->devices_ids,
			message->container_requests[0]->n_devices_ids, ret, error);
}

int kubelet_pack_prestart(const struct string_list *ids, struct kubelet_bytes *ret,
			  struct error *error)
{
	V1beta1__PreStartContainerRequest message = V1BETA1__PRE_START_CONTAINER_REQUEST__INIT;

	message.devices_ids = ids->items;
	message.n_devices_ids = ids->count;
	return pack_write(&message.base, "the word before a start", KUBELET_MESSAGE_MAX, ret,
			  error);
}

int kubelet_unpack_prestart(const void *data, size_t size, struct string_list *ret,
			    struct error *error)
{
	automessage *read = NULL;

	int r = pack_read(&v1beta1__pre_start_container_request__descriptor,
			  "the word before a start", data, size, KUBELET_MESSAGE_MAX, &read, error);
	if (r < 0)
		return r;
	const V1beta1__PreStartContainerRequest *message =
		(const V1beta1__PreStartContainerRequest *)read;
	return take_ids(message->devices_ids, message->n_devices_ids, ret, error);
}
