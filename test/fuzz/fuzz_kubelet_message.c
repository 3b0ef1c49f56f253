/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as each of the kubelet's messages (the first byte says which): one error, or a message that
 * is packed and read the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kubelet/kubelet.h"

#define autobytes cleanup(kubelet_bytes_release) struct kubelet_bytes

static void must(bool truth)
{
	if (!truth)
		abort();
}

/* What was taken can be packed, unless packing is stricter; and packing is stable. */
#define CHECK_MESSAGE(type, release, unpack, pack)                            \
	do {                                                                  \
		cleanup(release) type first = { 0 }, second = { 0 };          \
		autobytes bytes = { .data = NULL }, again = { .data = NULL }; \
		struct error error = ERROR_INIT;                              \
		if (unpack(data, size, &first, &error) < 0) {                 \
			must(error.message[0]);                               \
			break;                                                \
		}                                                             \
		if (pack(&first, &bytes, &error) < 0)                         \
			break;                                                \
		must(unpack(bytes.data, bytes.size, &second, &error) == 0);   \
		must(pack(&second, &again, &error) == 0);                     \
		must(bytes.size == again.size);                               \
		must(memcmp(bytes.data, again.data, again.size) == 0);        \
	} while (0)

static int pack_list(const struct kubelet_device_list *list, struct kubelet_bytes *ret,
		     struct error *error)
{
	return kubelet_pack_devices(list->items, list->count, ret, error);
}

static void no_release(void *object __attribute__((unused)))
{
}

static int unpack_verbose(const void *data, size_t size, bool *ret, struct error *error)
{
	return kubelet_unpack_status_request(data, size, ret, error);
}

static int pack_verbose(const bool *verbose, struct kubelet_bytes *ret, struct error *error)
{
	return kubelet_pack_status_request(*verbose, ret, error);
}

static void check_plugin(unsigned kind, const uint8_t *data, size_t size)
{
	switch (kind) {
	case 0:
		CHECK_MESSAGE(struct kubelet_registration, kubelet_registration_release,
			      kubelet_unpack_registration, kubelet_pack_registration);
		break;
	case 1:
		CHECK_MESSAGE(struct kubelet_plugin_options, no_release, kubelet_unpack_options,
			      kubelet_pack_options);
		break;
	case 2:
		CHECK_MESSAGE(struct kubelet_device_list, kubelet_device_list_release,
			      kubelet_unpack_devices, pack_list);
		break;
	case 3:
		CHECK_MESSAGE(struct kubelet_preference, kubelet_preference_release,
			      kubelet_unpack_preference, kubelet_pack_preference);
		break;
	default:
		CHECK_MESSAGE(struct kubelet_answer, kubelet_answer_release,
			      kubelet_unpack_allocated, kubelet_pack_allocated);
		break;
	}
}

static void check_lists(unsigned kind, const uint8_t *data, size_t size)
{
	switch (kind) {
	case 5:
		CHECK_MESSAGE(struct string_list, string_list_release, kubelet_unpack_preferred,
			      kubelet_pack_preferred);
		break;
	case 6:
		CHECK_MESSAGE(struct string_list, string_list_release, kubelet_unpack_allocate,
			      kubelet_pack_allocate);
		break;
	case 7:
		CHECK_MESSAGE(struct string_list, string_list_release, kubelet_unpack_prestart,
			      kubelet_pack_prestart);
		break;
	default:
		CHECK_MESSAGE(struct kubelet_answer, kubelet_answer_release, kubelet_unpack_answer,
			      kubelet_pack_answer);
		break;
	}
}

static void check_others(unsigned kind, const uint8_t *data, size_t size)
{
	switch (kind) {
	case 9:
		CHECK_MESSAGE(struct kubelet_holdings, kubelet_holdings_release,
			      kubelet_unpack_holdings, kubelet_pack_holdings);
		break;
	case 10:
		CHECK_MESSAGE(bool, no_release, unpack_verbose, pack_verbose);
		break;
	default: {
		cleanup(kubelet_runtime_status_release) struct kubelet_runtime_status status = {
			.info = NULL
		};

		CHECK_MESSAGE(struct kubelet_runtime_status, kubelet_runtime_status_release,
			      kubelet_unpack_runtime_status, kubelet_pack_runtime_status);
		if (kubelet_unpack_runtime_status(data, size, &status, NULL) == 0)
			(void)kubelet_runtime_cdi(&status);
		break;
	}
	}
}

#define KINDS 12

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	unsigned kind = data[0] % KINDS;
	if (kind < 5)
		check_plugin(kind, data + 1, size - 1);
	else if (kind < 9)
		check_lists(kind, data + 1, size - 1);
	else
		check_others(kind, data + 1, size - 1);
	return 0;
}
