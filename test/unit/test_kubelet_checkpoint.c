/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kubelet/kubelet.h"

#define autocheckpoint cleanup(kubelet_checkpoint_release) struct kubelet_checkpoint

/* As a kubelet writes it: {"NVIDIA_VISIBLE_DEVICES": "GPU-1"} is the answer. */
static const char real[] =
	"{\"Data\":{\"PodDeviceEntries\":[{\"PodUID\":\"41f2\",\"ContainerName\":\"c\","
	"\"ResourceName\":\"nvidia.com/gpu\",\"DeviceIDs\":{\"-1\":[\"GPU-1\",\"GPU-2\"]},"
	"\"AllocResp\":\"Ch8KFk5WSURJQV9WSVNJQkxFX0RFVklDRVMSBUdQVS0x\"},"
	"{\"PodUID\":\"41f3\",\"ContainerName\":\"d\",\"ResourceName\":\"gpupool.io/gpu-memory\","
	"\"DeviceIDs\":{\"0\":[\"a\",\"b\"],\"1\":[\"b\",\"c\"]},\"AllocResp\":null}],"
	"\"RegisteredDevices\":{\"nvidia.com/gpu\":[\"GPU-1\",\"GPU-2\",\"GPU-3\"],\"x/y\":null}},"
	"\"Checksum\":3456789012}";

static int parse(const char *text, struct kubelet_checkpoint *ret, struct error *error)
{
	return kubelet_checkpoint_parse(text, strlen(text), "checkpoint", ret, error);
}

TEST(a_real_checkpoint_is_read)
{
	autocheckpoint checkpoint = { .entries = NULL };
	cleanup(kubelet_answer_release) struct kubelet_answer answer = { .envs = NULL };
	struct error error = ERROR_INIT;

	if (parse(real, &checkpoint, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(checkpoint.entry_count, 2);
	const struct kubelet_checkpoint_entry *entry = checkpoint.entries;
	assert_string_equal(entry[0].pod_uid, "41f2");
	assert_string_equal(entry[0].container, "c");
	assert_string_equal(entry[0].resource, "nvidia.com/gpu");
	assert_int_equal(entry[0].ids.count, 2);
	assert_string_equal(entry[0].ids.items[1], "GPU-2");
	assert_int_equal(
		kubelet_unpack_answer(entry[0].answer.data, entry[0].answer.size, &answer, &error),
		0);
	assert_string_equal(answer.envs[0].value, "GPU-1");
	/* b is on both NUMA nodes, and one device */
	assert_int_equal(entry[1].ids.count, 3);
	assert_int_equal(entry[1].answer.size, 0);
	assert_int_equal(checkpoint.registered_count, 2);
	assert_int_equal(checkpoint.registered[0].ids.count, 3);
	assert_int_equal(checkpoint.registered[1].ids.count, 0);
	assert_int_equal(checkpoint.checksum, 3456789012);
}

#define ENTRY(fields) "{\"Data\":{\"PodDeviceEntries\":[{" fields "}]}}"
#define NAMES         "\"PodUID\":\"u\",\"ContainerName\":\"c\",\"ResourceName\":\"r\""

static const struct {
	const char *text;
	const char *error; /* a part of it; NULL: it is taken */
} rows[] = {
	{ "{\"Data\":{\"PodDeviceEntries\":null,\"RegisteredDevices\":null},\"Checksum\":1}",
	  NULL },
	{ "{\"Data\":{\"PodDeviceEntries\":[]}}", NULL },
	{ ENTRY(NAMES), NULL },
	{ ENTRY(NAMES ",\"DeviceIDs\":[\"a\"]"), NULL },
	{ ENTRY(NAMES ",\"DeviceIDs\":null,\"AllocResp\":\"\""), NULL },
	{ ENTRY(NAMES ",\"DeviceIDs\":{\"0\":null}"), NULL },
	{ ENTRY(NAMES ",\"AllocResp\":\"AA==\",\"Later\":{}"), NULL },
	{ "", "cut off or damaged" },
	{ "{\"Data\":{\"PodDeviceEntries\":[{\"PodUID\":\"u\"", "cut off or damaged" },
	{ "[]", "there is no Data" },
	{ "{}", "there is no Data" },
	{ "{\"Data\":[]}", "there is no Data" },
	{ "{\"Data\":{}}", "Data has no PodDeviceEntries" },
	{ "{\"Data\":{\"PodDeviceEntries\":{}}}", "PodDeviceEntries is no list" },
	{ "{\"Data\":{\"PodDeviceEntries\":[1]}}", "an entry is no object" },
	{ ENTRY("\"PodUID\":\"u\",\"ContainerName\":\"c\""), "an entry has no ResourceName" },
	{ ENTRY("\"PodUID\":1"), "an entry has no PodUID" },
	{ ENTRY(NAMES ",\"DeviceIDs\":\"a\""), "neither a list" },
	{ ENTRY(NAMES ",\"DeviceIDs\":{\"0\":\"a\"}"), "is no list" },
	{ ENTRY(NAMES ",\"DeviceIDs\":[1]"), "a device ID is no text" },
	{ ENTRY(NAMES ",\"DeviceIDs\":{\"0\":[\"a\"],\"0\":[\"b\"]}"), "damaged" },
	{ ENTRY(NAMES ",\"AllocResp\":\"A\""), "no base64" },
	{ ENTRY(NAMES ",\"AllocResp\":\"AAA*\""), "no base64" },
	{ ENTRY(NAMES ",\"AllocResp\":\"A===\""), "no base64" },
	{ ENTRY(NAMES ",\"AllocResp\":\"AA=A\""), "no base64" },
	{ ENTRY(NAMES ",\"AllocResp\":7"), "AllocResp is no text" },
	{ "{\"Data\":{\"PodDeviceEntries\":[],\"RegisteredDevices\":[]}}", "has no resources" },
	{ "{\"Data\":{\"PodDeviceEntries\":[],\"RegisteredDevices\":{\"a\":1}}}", "is no list" },
};

TEST(damaged_checkpoints_are_refused_with_one_sentence)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autocheckpoint checkpoint = { .entries = NULL };
		struct error error = ERROR_INIT;

		int r = parse(rows[i].text, &checkpoint, &error);
		if (rows[i].error ? r != -EBADMSG || !strstr(error.message, rows[i].error) : r != 0)
			fail_msg("row %zu: %d, \"%s\"", i, r, error.message);
	}
}

/* Written in place and not by rename, a file may be seen at any length. */
TEST(every_part_of_a_file_is_refused)
{
	for (size_t length = 0; length < sizeof(real) - 1; length++) {
		autocheckpoint checkpoint = { .entries = NULL };
		struct error error = ERROR_INIT;
		autofree char *text = strndup(real, length);

		assert_int_equal(kubelet_checkpoint_parse(text, length, "x", &checkpoint, &error),
				 -EBADMSG);
	}
}

TEST(what_is_written_is_read)
{
	autocheckpoint checkpoint = { .entries = NULL }, again = { .entries = NULL };
	autofree char *text = NULL, *second = NULL;

	assert_int_equal(parse(real, &checkpoint, NULL), 0);
	assert_int_equal(kubelet_checkpoint_text(&checkpoint, &text, NULL), 0);
	assert_int_equal(parse(text, &again, NULL), 0);
	assert_int_equal(again.entry_count, 2);
	assert_memory_equal(again.entries[0].answer.data, checkpoint.entries[0].answer.data,
			    checkpoint.entries[0].answer.size);
	assert_int_equal(kubelet_checkpoint_text(&again, &second, NULL), 0);
	assert_string_equal(text, second);
}

TEST(a_missing_file_is_told_from_a_bad_one)
{
	autocheckpoint checkpoint = { .entries = NULL };
	char path[] = "/tmp/checkpoint.XXXXXX";
	struct error error = ERROR_INIT;

	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(kubelet_checkpoint_read(path, &checkpoint, &error), -EBADMSG);
	assert_int_equal(write(fd, real, sizeof(real) - 1), sizeof(real) - 1);
	close(fd);
	assert_int_equal(kubelet_checkpoint_read(path, &checkpoint, &error), 0);
	assert_true(checkpoint.written.tv_sec > 0);
	unlink(path);
	kubelet_checkpoint_release(&checkpoint);
	assert_int_equal(kubelet_checkpoint_read(path, &checkpoint, &error), -ENOENT);
	assert_non_null(strstr(error.message, "No such file"));
}

TEST(no_memory_is_said)
{
	for (unsigned n = 0;; n++) {
		autocheckpoint checkpoint = { .entries = NULL };
		struct error error = ERROR_INIT;
		autofree char *text = NULL;

		fault_arm(n);
		int r = parse(real, &checkpoint, &error);
		r = r < 0 ? r : kubelet_checkpoint_text(&checkpoint, &text, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 20);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}
