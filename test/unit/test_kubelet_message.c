/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kubelet/kubelet.h"

#define autobytes cleanup(kubelet_bytes_release) struct kubelet_bytes

/* --- hostile bytes --- */

enum message {
	REGISTRATION,
	OPTIONS,
	DEVICES,
	PREFERENCE,
	PREFERRED,
	ALLOCATE,
	ALLOCATED,
	ANSWER,
	PRESTART,
	LIST,
	STATUS_REQUEST,
	STATUS,
};

static int unpack_devices(const void *data, size_t size, struct error *error)
{
	cleanup(kubelet_device_list_release) struct kubelet_device_list list = { .items = NULL };

	return kubelet_unpack_devices(data, size, &list, error);
}

static int unpack_ids(enum message kind, const void *data, size_t size, struct error *error)
{
	cleanup(string_list_release) struct string_list ids = { .items = NULL };

	if (kind == PREFERRED)
		return kubelet_unpack_preferred(data, size, &ids, error);
	if (kind == ALLOCATE)
		return kubelet_unpack_allocate(data, size, &ids, error);
	return kubelet_unpack_prestart(data, size, &ids, error);
}

static int unpack_answer(enum message kind, const void *data, size_t size, struct error *error)
{
	cleanup(kubelet_answer_release) struct kubelet_answer answer = { .envs = NULL };

	return kind == ANSWER ? kubelet_unpack_answer(data, size, &answer, error)
			      : kubelet_unpack_allocated(data, size, &answer, error);
}

static int unpack_other(enum message kind, const void *data, size_t size, struct error *error)
{
	cleanup(kubelet_registration_release) struct kubelet_registration registration = {
		.version = NULL
	};
	cleanup(kubelet_preference_release) struct kubelet_preference preference = { .size = 0 };
	cleanup(kubelet_holdings_release) struct kubelet_holdings holdings = { .items = NULL };
	cleanup(kubelet_runtime_status_release) struct kubelet_runtime_status status = {
		.info = NULL
	};
	struct kubelet_plugin_options options;
	bool verbose;

	if (kind == REGISTRATION)
		return kubelet_unpack_registration(data, size, &registration, error);
	if (kind == OPTIONS)
		return kubelet_unpack_options(data, size, &options, error);
	if (kind == PREFERENCE)
		return kubelet_unpack_preference(data, size, &preference, error);
	if (kind == LIST)
		return kubelet_unpack_holdings(data, size, &holdings, error);
	if (kind == STATUS_REQUEST)
		return kubelet_unpack_status_request(data, size, &verbose, error);
	return kubelet_unpack_runtime_status(data, size, &status, error);
}

static int unpack(enum message kind, const void *data, size_t size, struct error *error)
{
	if (kind == DEVICES)
		return unpack_devices(data, size, error);
	if (kind == PREFERRED || kind == ALLOCATE || kind == PRESTART)
		return unpack_ids(kind, data, size, error);
	if (kind == ALLOCATED || kind == ANSWER)
		return unpack_answer(kind, data, size, error);
	return unpack_other(kind, data, size, error);
}

#define BYTES(text) (text), sizeof(text) - 1

static const struct {
	enum message kind;
	const char *bytes;
	size_t size;
	const char *error; /* a part of it; NULL: it is taken */
} hostile[] = {
	{ DEVICES, BYTES(""), NULL },
	{ OPTIONS, BYTES(""), NULL },
	{ LIST, BYTES(""), NULL },
	{ STATUS, BYTES(""), NULL },
	{ ALLOCATE, BYTES(""), "is for 0 containers" },
	{ ALLOCATE, BYTES("\x0a\x00\x0a\x00"), "is for 2 containers" },
	{ ALLOCATE, BYTES("\x0a\x03\x0a\x01x"), NULL },
	{ ALLOCATED, BYTES(""), "for 0 containers" },
	{ PREFERRED, BYTES(""), "for 0 containers" },
	{ PREFERENCE, BYTES("\x0a\x00\x0a\x00"), "is for 2 containers" },
	{ PREFERENCE, BYTES("\x0a\x0b\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	  "is for -1 devices" },
	/* framing */
	{ DEVICES, BYTES("\x0a"), "byte 1: a number is cut off" },
	{ DEVICES, BYTES("\x0a\x05\x0a"), "byte 2: a field is longer than its message" },
	{ DEVICES, BYTES("\x0a\x02\x0a\x05"), "byte 4: a field is longer than its message" },
	{ DEVICES, BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	  "longer than its message" },
	{ DEVICES, BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), "more than 64 bits" },
	{ DEVICES, BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), "byte 0: a number" },
	{ DEVICES, BYTES("\x02\x00"), "byte 0: a field has a number that does not exist" },
	{ DEVICES, BYTES("\x82\x80\x80\x80\x80\x00\x00"), "a number that does not exist" },
	{ DEVICES, BYTES("\x0b\x00"), "a kind that does not exist" },
	{ DEVICES, BYTES("\x0f\x00"), "a kind that does not exist" },
	{ DEVICES, BYTES("\x08\x00"), "another kind than its number says" },
	{ OPTIONS, BYTES("\x0a\x00"), "another kind than its number says" },
	{ OPTIONS, BYTES("\x0d\x00\x00\x00\x00"), "another kind than its number says" },
	/* twice */
	{ OPTIONS, BYTES("\x08\x01\x08\x00"), "stands twice" },
	{ OPTIONS, BYTES("\x08\x01\x10\x01"), NULL },
	{ OPTIONS, BYTES("\x78\x01\x08\x01"), NULL },
	{ OPTIONS, BYTES("\x08\x01\x78\x01\x08\x01"), "stands twice" },
	{ REGISTRATION,
	  BYTES("\x0a\x01"
		"a\x0a\x01"
		"b"),
	  "stands twice" },
	{ REGISTRATION, BYTES("\x22\x00\x22\x00"), "stands twice" },
	{ ANSWER,
	  BYTES("\x0a\x06\x0a\x01"
		"A\x12\x01"
		"1\x0a\x06\x0a\x01"
		"A\x12\x01"
		"2"),
	  "has the variable A twice" },
	{ ANSWER,
	  BYTES("\x0a\x06\x0a\x01"
		"A\x12\x01"
		"1\x0a\x06\x0a\x01"
		"B\x12\x01"
		"2"),
	  NULL },
	{ ANSWER,
	  BYTES("\x22\x03\x0a\x01"
		"A\x22\x03\x0a\x01"
		"A"),
	  "has the annotation A twice" },
	{ ANSWER,
	  BYTES("\x0a\x03\x0a\x01"
		"A\x22\x03\x0a\x01"
		"A"),
	  NULL },
	{ STATUS,
	  BYTES("\x12\x03\x0a\x01"
		"A\x12\x03\x0a\x01"
		"A"),
	  "has the entry A twice" },
	/* text */
	{ ALLOCATE, BYTES("\x0a\x03\x0a\x01\xff"), "byte 4: a text is no UTF-8" },
	{ ALLOCATE, BYTES("\x0a\x04\x0a\x02\xc0\x80"), "byte 4: a text is no UTF-8" },
	{ ALLOCATE,
	  BYTES("\x0a\x05\x0a\x03"
		"a\0b"),
	  "byte 4: a text holds a NUL" },
	{ PRESTART, BYTES("\x0a\x01\x00"), "a text holds a NUL" },
	{ LIST, BYTES("\x0a\x03\x0a\x01\x80"), "a text is no UTF-8" },
	{ LIST, BYTES("\x0a\x06\x0a\x01p\x12\x01n\x0a\x06\x0a\x01p\x12\x01n"),
	  "Pod n/p stands twice" },
	{ LIST, BYTES("\x0a\x07\x0a\x01p\x12\x02n/"), "has a slash in a name" },
	/* what is not known is skipped: CPUs, memory, claims, and what is to come */
	{ LIST, BYTES("\x0a\x0b\x1a\x09\x1a\x02\x01\x02\x22\x00\x2a\x01\xff"), NULL },
	{ STATUS_REQUEST, BYTES("\x08\x01\x11\x01\x02\x03\x04\x05\x06\x07\x08"), NULL },
	{ DEVICES, BYTES("\x12\x01\xff"), NULL },
	/* NUMA nodes */
	{ DEVICES, BYTES("\x0a\x06\x1a\x04\x0a\x02\x08\x01"), NULL },
	{ DEVICES, BYTES("\x0a\x0f\x1a\x0d\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	  "is on NUMA node -1" },
};

TEST(hostile_bytes_are_refused_with_one_sentence)
{
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		struct error error = ERROR_INIT;
		/* Of exact size, so that a read beyond the end is seen. */
		autofree char *data = malloc(hostile[i].size ? hostile[i].size : 1);

		memcpy(data, hostile[i].bytes, hostile[i].size);
		int r = unpack(hostile[i].kind, data, hostile[i].size, &error);
		if (!hostile[i].error) {
			if (r != 0)
				fail_msg("row %zu: %s", i, error.message);
			continue;
		}
		if (r != -EBADMSG || !strstr(error.message, hostile[i].error))
			fail_msg("row %zu: %d, \"%s\"", i, r, error.message);
	}
}

/* "0a 00" again and again: two bytes of message, eighty bytes of memory. */
TEST(bombs_of_empty_messages_are_refused)
{
	static const struct {
		enum message kind;
		uint8_t tag;
		size_t size;
	} rows[] = {
		{ DEVICES, 0x0a, KUBELET_MESSAGE_MAX },
		{ ANSWER, 0x12, KUBELET_MESSAGE_MAX },
		{ ANSWER, 0x7a, KUBELET_MESSAGE_MAX },
		{ LIST, 0x0a, KUBELET_POD_RESOURCES_MAX },
		{ STATUS, 0x12, KUBELET_POD_RESOURCES_MAX },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error = ERROR_INIT;
		autofree uint8_t *data = calloc(1, rows[i].size);

		for (size_t at = 0; at < rows[i].size; at += 2)
			data[at] = rows[i].tag;
		assert_int_equal(unpack(rows[i].kind, data, rows[i].size, &error), -EBADMSG);
		assert_non_null(strstr(error.message, "more memory"));
	}
}

TEST(a_message_beyond_the_limit_is_refused)
{
	autofree uint8_t *data = calloc(1, KUBELET_MESSAGE_MAX + 1);
	struct error error = ERROR_INIT;

	assert_int_equal(unpack(DEVICES, data, KUBELET_MESSAGE_MAX + 1, &error), -EBADMSG);
	assert_non_null(strstr(error.message, "4194305 bytes"));
}

/* --- there and back --- */

static void fill_answer(struct kubelet_answer *answer)
{
	assert_int_equal(kubelet_answer_add_env(answer, "NVIDIA_VISIBLE_DEVICES", "GPU-1"), 0);
	assert_int_equal(kubelet_answer_add_env(answer, "B", ""), 0);
	assert_int_equal(kubelet_answer_add_env(answer, "NVIDIA_VISIBLE_DEVICES", "GPU-2"), 0);
	assert_int_equal(kubelet_answer_add_annotation(answer, "cdi.k8s.io/x", "a=b"), 0);
	assert_int_equal(kubelet_answer_add_mount(answer, "/c", "/h", true), 0);
	assert_int_equal(kubelet_answer_add_mount(answer, "/c2", "/h2", false), 0);
	assert_int_equal(kubelet_answer_add_device(answer, "/dev/a", "/dev/b", "rw"), 0);
	assert_int_equal(kubelet_answer_add_cdi(answer, "nvidia.com/gpu=0"), 0);
}

static void check_answer(const struct kubelet_answer *answer)
{
	assert_int_equal(answer->env_count, 2);
	assert_string_equal(answer->envs[0].value, "GPU-2");
	assert_string_equal(answer->envs[1].key, "B");
	assert_int_equal(answer->annotation_count, 1);
	assert_int_equal(answer->mount_count, 2);
	assert_true(answer->mounts[0].read_only);
	assert_false(answer->mounts[1].read_only);
	assert_string_equal(answer->mounts[1].host_path, "/h2");
	assert_string_equal(answer->devices[0].permissions, "rw");
	assert_string_equal(answer->cdi_devices.items[0], "nvidia.com/gpu=0");
}

TEST(an_answer_survives)
{
	cleanup(kubelet_answer_release) struct kubelet_answer answer = { .envs = NULL };
	cleanup(kubelet_answer_release) struct kubelet_answer again = { .envs = NULL };
	cleanup(kubelet_answer_release) struct kubelet_answer third = { .envs = NULL };
	autobytes one = { .data = NULL }, whole = { .data = NULL };

	fill_answer(&answer);
	assert_int_equal(kubelet_pack_answer(&answer, &one, NULL), 0);
	assert_int_equal(kubelet_unpack_answer(one.data, one.size, &again, NULL), 0);
	check_answer(&again);
	assert_int_equal(kubelet_pack_allocated(&answer, &whole, NULL), 0);
	assert_int_equal(kubelet_unpack_allocated(whole.data, whole.size, &third, NULL), 0);
	check_answer(&third);
}

/* The bytes that protoc's own encoder makes of this device (protoc --encode). */
TEST(a_device_has_the_bytes_of_the_api)
{
	static const char expected[] =
		"\x0a\x15\x0a\x03GPU\x12\x07Healthy\x1a\x05\x0a\x03\x08\xc8\x01";
	static const int numa[] = { 200 };
	const struct kubelet_device device = {
		.id = "GPU", .healthy = true, .numa_count = 1, .numa = numa
	};
	autobytes bytes = { .data = NULL };

	assert_int_equal(kubelet_pack_devices(&device, 1, &bytes, NULL), 0);
	assert_int_equal(bytes.size, sizeof(expected) - 1);
	assert_memory_equal(bytes.data, expected, bytes.size);
}

TEST(a_list_without_numa_has_no_topology)
{
	cleanup(kubelet_device_list_release) struct kubelet_device_list list = { .items = NULL };
	static const int numa[] = { 1, 0 };
	const struct kubelet_device devices[] = {
		{ .id = "a", .healthy = true },
		{ .id = "b", .numa_count = 2, .numa = numa },
	};
	autobytes bytes = { .data = NULL };

	assert_int_equal(kubelet_pack_devices(devices, 2, &bytes, NULL), 0);
	assert_null(memmem(bytes.data, 14, "\x1a", 1));
	assert_int_equal(kubelet_unpack_devices(bytes.data, bytes.size, &list, NULL), 0);
	assert_int_equal(list.count, 2);
	assert_true(list.items[0].healthy);
	assert_int_equal(list.items[0].numa_count, 0);
	assert_false(list.items[1].healthy);
	assert_int_equal(list.items[1].numa_count, 2);
	assert_int_equal(list.items[1].numa[0], 1);
	assert_int_equal(list.items[1].numa[1], 0);
}

TEST(a_list_with_an_id_twice_is_not_sent)
{
	const struct kubelet_device twice[] = { { .id = "a" }, { .id = "b" }, { .id = "a" } };
	const struct kubelet_device empty[] = { { .id = "a" }, { .id = "" } };
	autobytes bytes = { .data = NULL };
	struct error error = ERROR_INIT;

	assert_int_equal(kubelet_pack_devices(twice, 3, &bytes, &error), -EINVAL);
	assert_string_equal(error.message,
			    "device a stands twice in the list; an ID is for one device");
	assert_int_equal(kubelet_pack_devices(empty, 2, &bytes, &error), -EINVAL);
	assert_string_equal(error.message, "device 1 of the list has no ID; give it one");
}

static struct kubelet_device *many_devices(size_t count, struct string_list *ids)
{
	struct kubelet_device *devices = calloc(count, sizeof(*devices));

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(string_list_addf(ids,
						  "GPU-%08zx-1234-1234-1234-123456789abc::m%zu", i,
						  i % 80),
				 0);
		devices[i] = (struct kubelet_device){ .id = ids->items[i], .healthy = i % 2 };
	}
	return devices;
}

TEST(sixty_four_thousand_devices_fit_and_more_are_refused)
{
	cleanup(kubelet_device_list_release) struct kubelet_device_list list = { .items = NULL };
	cleanup(string_list_release) struct string_list ids = { .items = NULL };
	autofree struct kubelet_device *devices = many_devices(80000, &ids);
	autobytes bytes = { .data = NULL };
	struct error error = ERROR_INIT;

	assert_int_equal(kubelet_pack_devices(devices, 64000, &bytes, &error), 0);
	assert_true(bytes.size < KUBELET_MESSAGE_MAX);
	assert_int_equal(kubelet_unpack_devices(bytes.data, bytes.size, &list, &error), 0);
	assert_int_equal(list.count, 64000);
	assert_string_equal(list.items[63999].id, ids.items[63999]);
	kubelet_bytes_release(&bytes);
	assert_int_equal(kubelet_pack_devices(devices, 80000, &bytes, &error), -EMSGSIZE);
	assert_non_null(strstr(error.message, "a peer takes 4194304 at most"));
}

TEST(a_registration_survives)
{
	cleanup(kubelet_registration_release) struct kubelet_registration again = { .version =
											    NULL };
	char version[] = KUBELET_API_VERSION, endpoint[] = "x.sock", resource[] = "nvidia.com/gpu";
	const struct kubelet_registration registration = { .version = version,
							   .endpoint = endpoint,
							   .resource = resource,
							   .options = { .preferred_available =
										true } };
	autobytes bytes = { .data = NULL };

	assert_int_equal(kubelet_pack_registration(&registration, &bytes, NULL), 0);
	assert_int_equal(kubelet_unpack_registration(bytes.data, bytes.size, &again, NULL), 0);
	assert_string_equal(again.version, "v1beta1");
	assert_string_equal(again.endpoint, "x.sock");
	assert_string_equal(again.resource, "nvidia.com/gpu");
	assert_true(again.options.preferred_available);
	assert_false(again.options.pre_start_required);
}

TEST(lists_of_ids_survive)
{
	cleanup(string_list_release) struct string_list again = { .items = NULL };
	cleanup(kubelet_preference_release) struct kubelet_preference preference = { .size = 2 };
	cleanup(kubelet_preference_release) struct kubelet_preference back = { .size = 0 };
	autobytes one = { .data = NULL }, two = { .data = NULL }, three = { .data = NULL };

	string_list_add(&preference.available, "a");
	string_list_add(&preference.available, "b");
	string_list_add(&preference.must_include, "b");
	assert_int_equal(kubelet_pack_preference(&preference, &one, NULL), 0);
	assert_int_equal(kubelet_unpack_preference(one.data, one.size, &back, NULL), 0);
	assert_int_equal(back.size, 2);
	assert_int_equal(back.available.count, 2);
	assert_string_equal(back.must_include.items[0], "b");
	assert_int_equal(kubelet_pack_allocate(&preference.available, &two, NULL), 0);
	assert_int_equal(kubelet_unpack_allocate(two.data, two.size, &again, NULL), 0);
	assert_string_equal(again.items[1], "b");
	string_list_release(&again);
	assert_int_equal(kubelet_pack_preferred(&preference.must_include, &three, NULL), 0);
	assert_int_equal(kubelet_unpack_preferred(three.data, three.size, &again, NULL), 0);
	assert_int_equal(again.count, 1);
}

static void add_holding(struct kubelet_holdings *holdings, const char *pod, const char *container,
			const char *resource, const char *ids)
{
	struct kubelet_holding *holding =
		VEC_ADD(&holdings->items, &holdings->count, &holdings->capacity);

	*holding = (struct kubelet_holding){ .pod = strdup(pod),
					     .pod_namespace = strdup("default"),
					     .container = strdup(container),
					     .resource = strdup(resource) };
	for (; *ids; ids++) {
		const char id[2] = { *ids, '\0' };

		string_list_add(&holding->ids, id);
	}
}

TEST(holdings_survive)
{
	cleanup(kubelet_holdings_release) struct kubelet_holdings holdings = { .items = NULL };
	cleanup(kubelet_holdings_release) struct kubelet_holdings again = { .items = NULL };
	autobytes bytes = { .data = NULL };

	string_list_add(&holdings.pods, "default/p");
	string_list_add(&holdings.pods, "default/q");
	add_holding(&holdings, "p", "c", "nvidia.com/gpu", "ab");
	add_holding(&holdings, "p", "d", "nvidia.com/gpu", "c");
	add_holding(&holdings, "p", "c", "gpupool.io/gpu-memory", "xyz");
	assert_int_equal(kubelet_pack_holdings(&holdings, &bytes, NULL), 0);
	assert_int_equal(kubelet_unpack_holdings(bytes.data, bytes.size, &again, NULL), 0);
	assert_int_equal(again.pods.count, 2);
	assert_int_equal(again.count, 3);
	assert_string_equal(again.items[0].container, "c");
	assert_int_equal(again.items[0].ids.count, 2);
	assert_string_equal(again.items[1].resource, "gpupool.io/gpu-memory");
	assert_int_equal(again.items[1].ids.count, 3);
	assert_string_equal(again.items[2].pod, "p");
}

/* --- the runtime's status --- */

TEST(what_runtimes_say_of_cdi)
{
	static const struct {
		const char *key, *text;
		enum kubelet_cdi cdi;
	} rows[] = {
		{ "config", "{\"enableCDI\":true,\"cdiSpecDirs\":[\"/etc/cdi\"]}", KUBELET_CDI_ON },
		{ "config", "{\"enableCDI\":false,\"cdiSpecDirs\":[\"/etc/cdi\"]}",
		  KUBELET_CDI_OFF },
		{ "config", "{\"cdiSpecDirs\":[\"/etc/cdi\",\"/var/run/cdi\"]}", KUBELET_CDI_ON },
		{ "config", "{\"enableCDI\":null,\"cdiSpecDirs\":[]}", KUBELET_CDI_ON },
		{ "config", "{\"sandboxImage\":\"pause\"}", KUBELET_CDI_UNKNOWN },
		{ "config", "{", KUBELET_CDI_UNKNOWN },
		{ "config", "[]", KUBELET_CDI_UNKNOWN },
		{ "cniconfig", "{\"enableCDI\":true}", KUBELET_CDI_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup(kubelet_runtime_status_release) struct kubelet_runtime_status status = {
			.info = NULL
		};
		struct kubelet_pair *pair =
			VEC_ADD(&status.info, &status.info_count, &status.info_capacity);

		*pair = (struct kubelet_pair){ .key = strdup(rows[i].key),
					       .value = strdup(rows[i].text) };
		if (kubelet_runtime_cdi(&status) != rows[i].cdi)
			fail_msg("row %zu: %d", i, kubelet_runtime_cdi(&status));
	}
}

TEST(a_status_survives)
{
	cleanup(kubelet_runtime_status_release) struct kubelet_runtime_status status = {
		.info = NULL
	};
	cleanup(kubelet_runtime_status_release) struct kubelet_runtime_status again = {
		.info = NULL
	};
	autobytes bytes = { .data = NULL }, request = { .data = NULL };
	bool verbose = false;

	struct kubelet_pair *pair =
		VEC_ADD(&status.info, &status.info_count, &status.info_capacity);
	*pair = (struct kubelet_pair){ .key = strdup("config"), .value = strdup("{}") };
	assert_int_equal(kubelet_pack_runtime_status(&status, &bytes, NULL), 0);
	assert_int_equal(kubelet_unpack_runtime_status(bytes.data, bytes.size, &again, NULL), 0);
	assert_string_equal(again.info[0].value, "{}");
	assert_int_equal(kubelet_pack_status_request(true, &request, NULL), 0);
	assert_int_equal(kubelet_unpack_status_request(request.data, request.size, &verbose, NULL),
			 0);
	assert_true(verbose);
}

/* --- every failing allocation --- */

static int there_and_back(struct error *error)
{
	cleanup(kubelet_answer_release) struct kubelet_answer answer = { .envs = NULL };
	cleanup(kubelet_answer_release) struct kubelet_answer again = { .envs = NULL };
	autobytes bytes = { .data = NULL };

	int r = kubelet_answer_add_env(&answer, "a", "b");
	r = r < 0 ? r : kubelet_answer_add_annotation(&answer, "a", "b");
	r = r < 0 ? r : kubelet_answer_add_mount(&answer, "a", "b", true);
	r = r < 0 ? r : kubelet_answer_add_device(&answer, "a", "b", "r");
	r = r < 0 ? r : kubelet_answer_add_cdi(&answer, "a");
	r = r < 0 ? r : kubelet_pack_allocated(&answer, &bytes, error);
	return r < 0 ? r : kubelet_unpack_allocated(bytes.data, bytes.size, &again, error);
}

static int devices_there_and_back(struct error *error)
{
	cleanup(kubelet_device_list_release) struct kubelet_device_list list = { .items = NULL };
	static const int numa[] = { 1 };
	const struct kubelet_device devices[] = { { .id = "a" },
						  { .id = "b", .numa_count = 1, .numa = numa } };
	autobytes bytes = { .data = NULL };

	int r = kubelet_pack_devices(devices, 2, &bytes, error);
	return r < 0 ? r : kubelet_unpack_devices(bytes.data, bytes.size, &list, error);
}

static int registration_there_and_back(struct error *error)
{
	cleanup(kubelet_registration_release) struct kubelet_registration again = { .version =
											    NULL };
	char text[] = "x";
	const struct kubelet_registration one = { .version = text,
						  .endpoint = text,
						  .resource = text };
	autobytes bytes = { .data = NULL };

	int r = kubelet_pack_registration(&one, &bytes, error);
	return r < 0 ? r : kubelet_unpack_registration(bytes.data, bytes.size, &again, error);
}

static int preference_there_and_back(struct error *error)
{
	cleanup(kubelet_preference_release) struct kubelet_preference one = { .size = 1 };
	cleanup(kubelet_preference_release) struct kubelet_preference again = { .size = 0 };
	autobytes bytes = { .data = NULL };

	int r = string_list_add(&one.available, "a");
	r = r < 0 ? r : kubelet_pack_preference(&one, &bytes, error);
	return r < 0 ? r : kubelet_unpack_preference(bytes.data, bytes.size, &again, error);
}

static const char pods[] = "\x0a\x19\x0a\x01p\x12\x01n\x1a\x11\x0a\x01"
			   "c\x12\x06\x0a\x01r\x12\x01"
			   "a\x12\x04\x0a\x02r2";

static int holdings_there_and_back(struct error *error)
{
	cleanup(kubelet_holdings_release) struct kubelet_holdings again = { .items = NULL };
	autobytes bytes = { .data = NULL };

	int r = kubelet_unpack_holdings(pods, sizeof(pods) - 1, &again, error);
	return r < 0 ? r : kubelet_pack_holdings(&again, &bytes, error);
}

static const char status_bytes[] = "\x0a\x0b\x0a\x09\x0a\x01t\x10\x01\x1a\x02"
				   "rr\x12\x06\x0a\x01k\x12\x01v";

static int status_there_and_back(struct error *error)
{
	cleanup(kubelet_runtime_status_release) struct kubelet_runtime_status again = {
		.info = NULL
	};
	autobytes bytes = { .data = NULL };

	int r = kubelet_unpack_runtime_status(status_bytes, sizeof(status_bytes) - 1, &again,
					      error);
	return r < 0 ? r : kubelet_pack_runtime_status(&again, &bytes, error);
}

TEST(no_memory_is_said_and_nothing_is_lost)
{
	static int (*const rows[])(struct error *) = {
		there_and_back,
		devices_there_and_back,
		registration_there_and_back,
		preference_there_and_back,
		holdings_there_and_back,
		status_there_and_back,
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (unsigned n = 0;; n++) {
			struct error error = ERROR_INIT;

			fault_arm(n);
			int r = rows[i](&error);
			if (!fault_disarm()) {
				if (r != 0)
					fail_msg("row %zu: %s", i, error.message);
				assert_true(n > 3);
				break;
			}
			assert_int_equal(r, -ENOMEM);
		}
	}
}
