/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA program as small as they come, on the driver API alone, so that it runs on a simulated driver
 * as on a real one. Prints one JSON object.
 *
 *   cuda_probe [--device N]                      what there is; with free memory by a context on each
 *   cuda_probe [--device N] alloc BYTES [hold]   allocates, writes and reads back; hold: until stdin ends
 *   cuda_probe [--device N] alloc-until-fail [STEP]
 *   cuda_probe [--device N] work BYTES           allocates, then writes and reads again at each line of
 *                                                stdin, answering each with one object
 *   cuda_probe [--device N] contexts COUNT       as many contexts on the device
 *
 * Exit status 1 when a call fails: {"error": "CUDA_ERROR_...", "code": N, "call": "cu..."}.
 * --device N restricts `what there is` to one device; elsewhere the default is 0.
 */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda_api.h"

#define DEVICES_MAX 64
#define UUID_TEXT   41
#define SAMPLE      4096

static struct cuda_api api;

static int fail(enum cudaError_enum error, const char *call)
{
	const char *name = NULL;

	if (api.error_name(error, &name) != CUDA_SUCCESS)
		name = "unknown";
	printf("{\"error\": \"%s\", \"code\": %d, \"call\": \"%s\"}\n", name, (int)error, call);
	return 1;
}

#define TRY(call, ...)                                                 \
	do {                                                           \
		enum cudaError_enum try_error = api.call(__VA_ARGS__); \
		if (try_error != CUDA_SUCCESS)                         \
			return fail(try_error, #call);                 \
	} while (0)

static void format_uuid(const struct CUuuid_st *uuid, char text[UUID_TEXT])
{
	size_t used = (size_t)snprintf(text, UUID_TEXT, "GPU-");

	for (int i = 0; i < 16; i++)
		used += (size_t)snprintf(text + used, UUID_TEXT - used, "%s%02x",
					 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
					 (unsigned char)uuid->bytes[i]);
}

struct facts {
	char name[128], address[32], uuid[UUID_TEXT];
	size_t total, free;
};

static int read_device(int device, struct facts *facts)
{
	struct CUuuid_st uuid;
	struct CUctx_st *context;
	size_t total;

	TRY(device_name, facts->name, sizeof(facts->name), device);
	TRY(device_address, facts->address, sizeof(facts->address), device);
	TRY(device_uuid, &uuid, device);
	TRY(device_total, &facts->total, device);
	TRY(primary_retain, &context, device);
	TRY(context_set, context);
	TRY(memory_info, &facts->free, &total);
	TRY(context_set, NULL);
	TRY(primary_release, device);
	format_uuid(&uuid, facts->uuid);
	return 0;
}

/* Reads everything before it prints, so that what is printed is one object. */
static int print_all(int only)
{
	struct facts facts[DEVICES_MAX];
	int version, count, first = only >= 0 ? only : 0, end;

	TRY(driver_version, &version);
	TRY(device_count, &count);
	end = only >= 0 ? only + 1 : count;
	for (int i = first; i < end && i - first < DEVICES_MAX; i++)
		if (read_device(i, &facts[i - first]) != 0)
			return 1;
	printf("{\"cuda\": %d, \"count\": %d, \"devices\": [", version, count);
	for (int i = first; i < end && i - first < DEVICES_MAX; i++) {
		const struct facts *f = &facts[i - first];

		printf("%s{\"index\": %d, \"name\": \"%s\", \"uuid\": \"%s\", "
		       "\"pci\": \"%s\", \"total\": %zu, \"free\": %zu}",
		       i == first ? "" : ", ", i, f->name, f->uuid, f->address, f->total, f->free);
	}
	printf("]}\n");
	return 0;
}

/* Writes a pattern at both ends and reads it back. */
static int check_contents(uint64_t address, size_t bytes)
{
	unsigned char sent[SAMPLE], got[SAMPLE];
	size_t part = bytes < SAMPLE ? bytes : SAMPLE;
	const uint64_t ends[] = { address, address + (bytes - part) };

	for (int end = 0; end < 2; end++) {
		for (size_t i = 0; i < part; i++)
			sent[i] = (unsigned char)(i * 31 + (size_t)end);
		TRY(copy_to_device, ends[end], sent, part);
		memset(got, 0, sizeof(got));
		TRY(copy_to_host, got, ends[end], part);
		if (memcmp(sent, got, part) != 0) {
			printf("{\"error\": \"contents differ\"}\n");
			return 1;
		}
	}
	return 0;
}

static void wait_for_end_of_input(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

static int use_device(int device)
{
	struct CUctx_st *context;

	TRY(primary_retain, &context, device);
	TRY(context_set, context);
	return 0;
}

static int allocate(int device, size_t bytes, bool hold)
{
	size_t free_bytes, total;
	uint64_t address;

	if (use_device(device) != 0)
		return 1;
	TRY(memory_alloc, &address, bytes);
	if (check_contents(address, bytes) != 0)
		return 1;
	TRY(memory_info, &free_bytes, &total);
	printf("{\"allocated\": %zu, \"free\": %zu, \"total\": %zu}\n", bytes, free_bytes, total);
	fflush(stdout);
	if (hold)
		wait_for_end_of_input();
	TRY(memory_free, address);
	return 0;
}

static int work(int device, size_t bytes)
{
	char line[80];
	uint64_t address;
	int failed = 0;

	if (use_device(device) != 0)
		return 1;
	TRY(memory_alloc, &address, bytes);
	printf("{\"allocated\": %zu}\n", bytes);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		failed = check_contents(address, bytes);
		if (!failed)
			printf("{\"worked\": true}\n");
		fflush(stdout);
	}
	return failed;
}

static int allocate_until_fail(int device, size_t step)
{
	size_t free_before, free_after, total, allocated = 0;
	enum cudaError_enum error = CUDA_SUCCESS;
	const char *name = "unknown";
	uint64_t address;

	if (use_device(device) != 0)
		return 1;
	TRY(memory_info, &free_before, &total);
	while (allocated <= total) {
		error = api.memory_alloc(&address, step);
		if (error != CUDA_SUCCESS)
			break;
		allocated += step;
	}
	TRY(memory_info, &free_after, &total);
	TRY(error_name, error, &name);
	printf("{\"allocated\": %zu, \"stopped_by\": \"%s\", \"free_before\": %zu, "
	       "\"free_after\": %zu, \"total\": %zu}\n",
	       allocated, name, free_before, free_after, total);
	return 0;
}

static int make_contexts(int device, size_t count)
{
	size_t before, after, total;
	struct CUctx_st *context;

	TRY(context_create, &context, 0, device);
	TRY(memory_info, &before, &total);
	for (size_t i = 1; i < count; i++)
		TRY(context_create, &context, 0, device);
	TRY(memory_info, &after, &total);
	printf("{\"contexts\": %zu, \"free_with_one\": %zu, \"free\": %zu}\n", count, before,
	       after);
	return 0;
}

static int allocate_and_end(int device, size_t bytes)
{
	return allocate(device, bytes, false);
}

static int allocate_and_hold(int device, size_t bytes)
{
	return allocate(device, bytes, true);
}

static const struct verb {
	const char *name;
	const char *second; /* the word behind the number, or NULL */
	size_t number;      /* when none is given; 0: one must be */
	int (*run)(int device, size_t number);
} verbs[] = {
	{ "alloc", NULL, 0, allocate_and_end },
	{ "alloc", "hold", 0, allocate_and_hold },
	{ "alloc-until-fail", NULL, (size_t)256 << 20, allocate_until_fail },
	{ "work", NULL, 0, work },
	{ "contexts", NULL, 0, make_contexts },
};

static bool same_word(const char *given, const char *wanted)
{
	return given && wanted ? strcmp(given, wanted) == 0 : given == wanted;
}

static int run_verb(int device, char **words)
{
	size_t number = words[1] ? strtoul(words[1], NULL, 10) : 0;
	const char *second = words[1] ? words[2] : NULL;

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		const struct verb *verb = &verbs[i];

		if (strcmp(words[0], verb->name) != 0 || !same_word(second, verb->second))
			continue;
		if (!words[1])
			number = verb->number;
		if (number > 0)
			return verb->run(device < 0 ? 0 : device, number);
	}
	fputs("usage: cuda_probe [--device N] [alloc BYTES [hold] | alloc-until-fail [STEP] | "
	      "work BYTES | contexts COUNT]\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	int device = -1, argument = 1;

	if (argc > 2 && strcmp(argv[1], "--device") == 0) {
		device = (int)strtol(argv[2], NULL, 10);
		argument = 3;
	}
	if (!cuda_api_load(&api))
		return 1;
	TRY(init, 0);
	return argument == argc ? print_all(device) : run_verb(device, argv + argument);
}
