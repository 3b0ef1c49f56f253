/* SPDX-License-Identifier: Apache-2.0 */
/* Who has which devices: the maps of pkg/kubelet/cm/devicemanager/manager.go, and the checkpoint. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_internal.h"

/* --- resources --- */

struct fake_resource *fake_resource(struct fake_kubelet *kubelet, const char *name, bool make)
{
	struct fake_resource **at = &kubelet->resources;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	if (*at || !make)
		return *at;
	*at = calloc(1, sizeof(**at));
	if (!*at)
		abort();
	snprintf((*at)->name, sizeof((*at)->name), "%s", name);
	return *at;
}

static void free_set(struct map **set)
{
	map_free(TAKE_PTR(*set));
}

static void forget_devices(struct fake_resource *resource)
{
	while (resource->devices) {
		struct fake_device *device = resource->devices;

		resource->devices = device->next;
		free(device);
	}
	free_set(&resource->by_id);
}

/* All but the node's status, which is not the kubelet's memory. */
static void forget(struct fake_resource *resource)
{
	forget_devices(resource);
	free_set(&resource->healthy);
	free_set(&resource->unhealthy);
	free_set(&resource->allocated);
	resource->has_endpoint = false;
	resource->endpoint = NULL;
	resource->stop_ms = 0;
}

void fake_resources_free(struct fake_kubelet *kubelet)
{
	while (kubelet->resources) {
		struct fake_resource *resource = kubelet->resources;

		kubelet->resources = resource->next;
		forget(resource);
		free(resource);
	}
}

/* --- endpoints: PluginConnected(), PluginDisconnected() --- */

static bool is_stored(const struct fake_client *client, const char *resource)
{
	return client->connected && !client->stop_ms && strcmp(client->resource, resource) == 0;
}

int fake_connected(struct fake_kubelet *kubelet, struct fake_client *client)
{
	struct fake_resource *resource = fake_resource(kubelet, client->resource, true);

	for (const struct fake_client *other = kubelet->clients;
	     other && !kubelet->knobs.old_clients; other = other->next)
		if (is_stored(other, client->resource) && strcmp(other->path, client->path) == 0)
			return -EEXIST;
	client->connected = true;
	resource->has_endpoint = true;
	resource->endpoint = client;
	resource->stop_ms = 0;
	return 0;
}

static void mark_unhealthy(struct fake_resource *resource)
{
	if (!resource->unhealthy)
		resource->unhealthy = set_new();
	set_add_all(resource->unhealthy, resource->healthy);
	if (resource->healthy) {
		free_set(&resource->healthy);
		resource->healthy = set_new();
	}
}

static void disconnected_old(struct fake_kubelet *kubelet, struct fake_resource *resource)
{
	/* Whatever endpoint the resource has by now. */
	if (!resource->has_endpoint)
		return;
	mark_unhealthy(resource);
	resource->stop_ms = fake_now(kubelet);
	if (resource->endpoint)
		resource->endpoint->stop_ms = resource->stop_ms;
}

void fake_disconnected(struct fake_kubelet *kubelet, struct fake_client *client)
{
	struct fake_resource *resource = fake_resource(kubelet, client->resource, false);

	if (!resource)
		return;
	if (kubelet->knobs.old_clients) {
		disconnected_old(kubelet, resource);
		return;
	}
	if (!is_stored(client, client->resource))
		return;
	client->stop_ms = fake_now(kubelet) ? fake_now(kubelet) : 1;
	if (resource->endpoint == client)
		resource->stop_ms = client->stop_ms;
	for (struct fake_client *other = kubelet->clients; other; other = other->next) {
		if (is_stored(other, client->resource)) {
			resource->endpoint = other;
			resource->stop_ms = 0;
			return;
		}
	}
	mark_unhealthy(resource);
}

/* --- lists: genericDeviceUpdateCallback() --- */

static void add_device(struct fake_resource *resource, const struct kubelet_device *device)
{
	struct fake_device *made = calloc(1, sizeof(*made));

	if (!made || strlen(device->id) >= sizeof(made->id))
		abort();
	snprintf(made->id, sizeof(made->id), "%s", device->id);
	made->healthy = device->healthy;
	for (int i = 0; i < device->numa_count && i < (int)ARRAY_SIZE(made->numa); i++)
		made->numa[made->numa_count++] = device->numa[i];
	made->next = resource->devices;
	resource->devices = made;
	if (map_put(resource->by_id, made->id, made) < 0)
		abort();
	set_add(device->healthy ? resource->healthy : resource->unhealthy, device->id);
}

void fake_take_list(struct fake_kubelet *kubelet, const char *name,
		    const struct kubelet_device_list *list)
{
	struct fake_resource *resource = fake_resource(kubelet, name, true);
	autostrbuf healthy = STRBUF_INIT(8 << 20), unhealthy = STRBUF_INIT(8 << 20);

	free_set(&resource->healthy);
	free_set(&resource->unhealthy);
	forget_devices(resource);
	resource->healthy = set_new();
	resource->unhealthy = set_new();
	resource->by_id = set_new();
	for (size_t i = 0; i < list->count; i++)
		add_device(resource, &list->items[i]);
	set_print(resource->healthy, &healthy);
	set_print(resource->unhealthy, &unhealthy);
	fake_log(kubelet, "List %s healthy %s unhealthy %s", name, healthy.data, unhealthy.data);
	fake_write_checkpoint(kubelet);
}

bool fake_kubelet_is_listed(const struct fake_kubelet *kubelet, const char *resource)
{
	const struct fake_resource *at = kubelet->resources;

	while (at && strcmp(at->name, resource) != 0)
		at = at->next;
	return at && at->by_id && at->endpoint && !at->stop_ms && at->endpoint->watching;
}

/* --- GetCapacity() --- */

static bool is_expired(const struct fake_kubelet *kubelet, const struct fake_resource *resource)
{
	return !resource->has_endpoint ||
	       (resource->stop_ms &&
		fake_now(kubelet) - resource->stop_ms > kubelet->knobs.grace_ms);
}

struct fake_counts fake_count(struct fake_kubelet *kubelet, struct fake_resource *resource)
{
	if (is_expired(kubelet, resource))
		return (struct fake_counts){ 0, 0 };
	return (struct fake_counts){ .capacity = set_count(resource->healthy) +
						 set_count(resource->unhealthy),
				     .allocatable = set_count(resource->healthy) };
}

void fake_drop_expired(struct fake_kubelet *kubelet)
{
	bool dropped = false;

	for (struct fake_resource *at = kubelet->resources; at; at = at->next) {
		if ((!at->healthy && !at->unhealthy) || !is_expired(kubelet, at))
			continue;
		at->has_endpoint = false;
		at->endpoint = NULL;
		free_set(&at->healthy);
		free_set(&at->unhealthy);
		dropped = true;
	}
	if (dropped)
		fake_write_checkpoint(kubelet);
}

/* --- podDevices --- */

void fake_entries_free(struct fake_entry **entries)
{
	while (*entries) {
		struct fake_entry *entry = *entries;

		*entries = entry->next;
		map_free(entry->ids);
		kubelet_bytes_release(&entry->answer);
		free(entry);
	}
}

struct fake_entry *fake_entry_add(struct fake_entry **entries, const char *uid,
				  const char *container, const char *resource,
				  const struct map *ids, const void *answer, size_t size)
{
	struct fake_entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		abort();
	snprintf(entry->uid, sizeof(entry->uid), "%s", uid);
	snprintf(entry->container, sizeof(entry->container), "%s", container);
	snprintf(entry->resource, sizeof(entry->resource), "%s", resource);
	entry->ids = set_copy(ids);
	entry->answer.data = malloc(size + 1);
	if (!entry->answer.data)
		abort();
	if (size)
		memcpy(entry->answer.data, answer, size);
	entry->answer.size = size;
	entry->next = *entries;
	*entries = entry;
	return entry;
}

struct fake_entry *fake_entry(const struct fake_kubelet *kubelet, const char *uid,
			      const char *container, const char *resource)
{
	for (struct fake_entry *entry = kubelet->entries; entry; entry = entry->next)
		if (strcmp(entry->uid, uid) == 0 && strcmp(entry->container, container) == 0 &&
		    strcmp(entry->resource, resource) == 0)
			return entry;
	return NULL;
}

void fake_restore_allocated(struct fake_kubelet *kubelet)
{
	for (struct fake_resource *at = kubelet->resources; at; at = at->next)
		free_set(&at->allocated);
	for (const struct fake_entry *entry = kubelet->entries; entry; entry = entry->next) {
		struct fake_resource *resource = fake_resource(kubelet, entry->resource, true);

		if (!resource->allocated)
			resource->allocated = set_new();
		set_add_all(resource->allocated, entry->ids);
	}
}

static bool is_active(const struct fake_kubelet *kubelet, const char *uid)
{
	for (const struct fake_pod *pod = kubelet->pods; pod; pod = pod->next)
		if (strcmp(pod->uid, uid) == 0)
			return pod->known;
	return false;
}

/* UpdateAllocatedDevices(): what an Allocate in flight has marked is lost when a Pod is collected. */
void fake_kubelet_collect(struct fake_kubelet *kubelet)
{
	bool collected = false;

	if (!kubelet->sources_ready)
		return;
	for (struct fake_entry **at = &kubelet->entries; *at;) {
		struct fake_entry *entry = *at;

		if (is_active(kubelet, entry->uid)) {
			at = &entry->next;
			continue;
		}
		*at = TAKE_PTR(entry->next);
		fake_entries_free(&entry);
		collected = true;
	}
	if (collected)
		fake_restore_allocated(kubelet);
}

/* --- the checkpoint --- */

static void checkpoint_path(const struct fake_kubelet *kubelet, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", kubelet->directory, KUBELET_CHECKPOINT_NAME);
}

static void add_checkpoint_entry(struct kubelet_checkpoint *checkpoint,
				 const struct fake_entry *entry)
{
	struct kubelet_checkpoint_entry *made = VEC_ADD(
		&checkpoint->entries, &checkpoint->entry_count, &checkpoint->entry_capacity);

	if (!made)
		abort();
	made->pod_uid = strdup(entry->uid);
	made->container = strdup(entry->container);
	made->resource = strdup(entry->resource);
	set_to_list(entry->ids, &made->ids);
	made->answer.data = malloc(entry->answer.size + 1);
	if (!made->answer.data)
		abort();
	memcpy(made->answer.data, entry->answer.data, entry->answer.size);
	made->answer.size = entry->answer.size;
}

void fake_write_checkpoint(struct fake_kubelet *kubelet)
{
	cleanup(kubelet_checkpoint_release) struct kubelet_checkpoint checkpoint = { .checksum =
											     1 };
	autofree char *text = NULL;
	char path[FAKE_PATH_MAX + 32];

	for (const struct fake_entry *entry = kubelet->entries; entry; entry = entry->next)
		add_checkpoint_entry(&checkpoint, entry);
	for (const struct fake_resource *at = kubelet->resources; at; at = at->next) {
		if (!at->healthy)
			continue;
		struct kubelet_checkpoint_devices *made =
			VEC_ADD(&checkpoint.registered, &checkpoint.registered_count,
				&checkpoint.registered_capacity);
		if (!made)
			abort();
		made->resource = strdup(at->name);
		set_to_list(at->healthy, &made->ids);
	}
	checkpoint_path(kubelet, path, sizeof(path));
	if (kubelet_checkpoint_text(&checkpoint, &text, NULL) < 0 ||
	    file_write_atomic(path, text, strlen(text), 0600, NULL) < 0)
		fake_log(kubelet, "the checkpoint was not written");
}

void fake_read_checkpoint(struct fake_kubelet *kubelet)
{
	cleanup(kubelet_checkpoint_release) struct kubelet_checkpoint checkpoint = { .entries =
											     NULL };
	char path[FAKE_PATH_MAX + 32];

	for (struct fake_resource *at = kubelet->resources; at; at = at->next)
		forget(at);
	checkpoint_path(kubelet, path, sizeof(path));
	/* Not there, or not readable: all devices of running Pods are free again. */
	if (kubelet_checkpoint_read(path, &checkpoint, NULL) < 0)
		return;
	for (size_t i = 0; i < checkpoint.entry_count; i++) {
		const struct kubelet_checkpoint_entry *from = &checkpoint.entries[i];
		autoset *ids = set_new();

		for (size_t j = 0; j < from->ids.count; j++)
			set_add(ids, from->ids.items[j]);
		fake_entry_add(&kubelet->entries, from->pod_uid, from->container, from->resource,
			       ids, from->answer.data, from->answer.size);
	}
	fake_restore_allocated(kubelet);
	for (size_t i = 0; i < checkpoint.registered_count; i++) {
		struct fake_resource *resource =
			fake_resource(kubelet, checkpoint.registered[i].resource, true);

		resource->healthy = set_new();
		resource->unhealthy = set_new();
		resource->has_endpoint = true;
		resource->stop_ms = fake_now(kubelet) ? fake_now(kubelet) : 1;
	}
}
