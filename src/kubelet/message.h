/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubelet's messages as plain structs, packed and unpacked. Field numbers are those of proto/
 * (deviceplugin v1beta1, podresources v1, the Status call of the CRI's runtime v1).
 *
 * Unpacking believes nothing: -EBADMSG and one sentence for bytes that are no message (broken
 * framing, text that is no UTF-8 or holds a NUL, a map key or a field that stands twice, more memory
 * than KUBELET_UNPACK_MEMORY). *ret is written on success only and owned by the caller. Packing refuses, with
 * -EMSGSIZE, what gRPC peers do not take by default. Packed bytes are freed with free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/model.h"

/* What grpc-go receives unless told otherwise; the kubelet does not tell. */
#define KUBELET_MESSAGE_MAX ((size_t)4 << 20)
/* pod-resources answers name every unit of every Pod: clients raise the limit to this. */
#define KUBELET_POD_RESOURCES_MAX ((size_t)16 << 20)
/* The most that one unpacked message may take. 64,000 devices in 4 MiB need about 30 MiB. */
#define KUBELET_UNPACK_MEMORY ((size_t)128 << 20)

#define KUBELET_API_VERSION "v1beta1"

struct kubelet_bytes {
	void *data; /* owned; never NULL on success, although size may be 0 */
	size_t size;
};
void kubelet_bytes_release(struct kubelet_bytes *bytes);

/* --- deviceplugin v1beta1 --- */

struct kubelet_device {
	const char *
		id; /* unique over all resources of the node; at most 63 bytes by the API's comment */
	bool healthy;
	int numa_count; /* 0: no topology at all in the message (an empty one means something else) */
	const int *numa;
};

/* An unpacked list; what its devices point to is in it. */
struct kubelet_device_list {
	struct kubelet_device *items;
	size_t count;
	struct string_list ids;
	int *numa;
};
void kubelet_device_list_release(struct kubelet_device_list *list);

struct kubelet_pair {
	char *key, *value;
};
struct kubelet_mount {
	char *container_path, *host_path;
	bool read_only;
};
struct kubelet_node_file {
	char *container_path, *host_path;
	char *permissions; /* a subset of "rwm" */
};

/* What one container gets: the answer of Allocate. All strings are owned by it. */
struct kubelet_answer {
	struct kubelet_pair *envs, *annotations;
	struct kubelet_mount *mounts;
	struct kubelet_node_file *devices;
	size_t env_count, env_capacity;
	size_t annotation_count, annotation_capacity;
	size_t mount_count, mount_capacity;
	size_t device_count, device_capacity;
	struct string_list cdi_devices; /* "vendor/class=name" */
};
void kubelet_answer_release(struct kubelet_answer *answer);
/* Each copies; 0 or -ENOMEM. A key that is there already gets the new value. */
int kubelet_answer_add_env(struct kubelet_answer *answer, const char *key, const char *value);
int kubelet_answer_add_annotation(struct kubelet_answer *answer, const char *key,
				  const char *value);
int kubelet_answer_add_mount(struct kubelet_answer *answer, const char *container_path,
			     const char *host_path, bool read_only);
int kubelet_answer_add_device(struct kubelet_answer *answer, const char *container_path,
			      const char *host_path, const char *permissions);
int kubelet_answer_add_cdi(struct kubelet_answer *answer, const char *name);

struct kubelet_plugin_options {
	bool pre_start_required;
	bool preferred_available;
};

struct kubelet_registration {
	char *version;  /* KUBELET_API_VERSION */
	char *endpoint; /* file name of the plugin's socket in the kubelet's folder */
	char *resource;
	struct kubelet_plugin_options options; /* the kubelet asks again and does not look here */
};
void kubelet_registration_release(struct kubelet_registration *registration);

struct kubelet_preference {
	struct string_list available, must_include;
	unsigned size;
};
void kubelet_preference_release(struct kubelet_preference *preference);

int kubelet_pack_registration(const struct kubelet_registration *message, struct kubelet_bytes *ret,
			      struct error *error);
int kubelet_unpack_registration(const void *data, size_t size, struct kubelet_registration *ret,
				struct error *error);
int kubelet_pack_options(const struct kubelet_plugin_options *message, struct kubelet_bytes *ret,
			 struct error *error);
int kubelet_unpack_options(const void *data, size_t size, struct kubelet_plugin_options *ret,
			   struct error *error);
/* An ID that stands twice, or is empty, is -EINVAL: the kubelet would count it once. */
int kubelet_pack_devices(const struct kubelet_device *devices, size_t count,
			 struct kubelet_bytes *ret, struct error *error);
int kubelet_unpack_devices(const void *data, size_t size, struct kubelet_device_list *ret,
			   struct error *error);
/* The kubelet asks for exactly one container a call; another number is -EBADMSG in these. */
int kubelet_pack_preference(const struct kubelet_preference *message, struct kubelet_bytes *ret,
			    struct error *error);
int kubelet_unpack_preference(const void *data, size_t size, struct kubelet_preference *ret,
			      struct error *error);
int kubelet_pack_preferred(const struct string_list *ids, struct kubelet_bytes *ret,
			   struct error *error);
int kubelet_unpack_preferred(const void *data, size_t size, struct string_list *ret,
			     struct error *error);
int kubelet_pack_allocate(const struct string_list *ids, struct kubelet_bytes *ret,
			  struct error *error);
int kubelet_unpack_allocate(const void *data, size_t size, struct string_list *ret,
			    struct error *error);
int kubelet_pack_allocated(const struct kubelet_answer *answer, struct kubelet_bytes *ret,
			   struct error *error);
int kubelet_unpack_allocated(const void *data, size_t size, struct kubelet_answer *ret,
			     struct error *error);
/* One container's answer alone: what the kubelet's checkpoint holds. */
int kubelet_pack_answer(const struct kubelet_answer *answer, struct kubelet_bytes *ret,
			struct error *error);
int kubelet_unpack_answer(const void *data, size_t size, struct kubelet_answer *ret,
			  struct error *error);
int kubelet_pack_prestart(const struct string_list *ids, struct kubelet_bytes *ret,
			  struct error *error);
int kubelet_unpack_prestart(const void *data, size_t size, struct string_list *ret,
			    struct error *error);

/* --- podresources v1: what is of use here --- */

/* The devices of one resource that one container holds. */
struct kubelet_holding {
	char *pod, *pod_namespace, *container, *resource;
	struct string_list ids;
};
struct kubelet_holdings {
	struct kubelet_holding *items;
	size_t count, capacity;
	struct string_list
		pods; /* "namespace/name" of every Pod in the answer, with devices or not */
};
void kubelet_holdings_release(struct kubelet_holdings *holdings);

/* The answer of List. */
int kubelet_pack_holdings(const struct kubelet_holdings *message, struct kubelet_bytes *ret,
			  struct error *error);
int kubelet_unpack_holdings(const void *data, size_t size, struct kubelet_holdings *ret,
			    struct error *error);

/* --- CRI runtime v1: Status --- */

/* What a container runtime says of itself. */
struct kubelet_runtime_status {
	struct kubelet_pair *info; /* only of a verbose call: JSON texts by name */
	size_t info_count, info_capacity;
};
enum kubelet_cdi { KUBELET_CDI_UNKNOWN, KUBELET_CDI_OFF, KUBELET_CDI_ON };

void kubelet_runtime_status_release(struct kubelet_runtime_status *status);
int kubelet_pack_status_request(bool verbose, struct kubelet_bytes *ret, struct error *error);
int kubelet_unpack_status_request(const void *data, size_t size, bool *ret_verbose,
				  struct error *error);
int kubelet_pack_runtime_status(const struct kubelet_runtime_status *message,
				struct kubelet_bytes *ret, struct error *error);
int kubelet_unpack_runtime_status(const void *data, size_t size, struct kubelet_runtime_status *ret,
				  struct error *error);
/*
 * Whether the runtime injects CDI devices: containerd's "config" has enableCDI (1.7 to 2.x) or, from
 * 2.4 on, no such key because it is always on. Unknown for others (CRI-O prints nothing of the kind).
 */
enum kubelet_cdi kubelet_runtime_cdi(const struct kubelet_runtime_status *status);
