/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a CUDA program may rely on, case by case in TAP; each case is a process of its own, since what
 * cuInit does cannot be undone. Needs one card. Arguments are the cases to run; default: all.
 *
 * How to add: a function that returns 0 or an error through CHECK, and a row in cases.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda_api.h"

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static struct cuda_api api;

#define CHECK(condition)                                                         \
	do {                                                                     \
		if (!(condition)) {                                              \
			printf("# %s:%d: %s\n", __func__, __LINE__, #condition); \
			return 1;                                                \
		}                                                                \
	} while (0)

#define EXPECT(error, call) CHECK((call) == (error))
#define OK(call)            EXPECT(CUDA_SUCCESS, call)

static int begin(struct CUctx_st **context)
{
	OK(api.init(0));
	OK(api.context_create(context, 0, 0));
	return 0;
}

static size_t free_bytes(void)
{
	size_t free = 0, total;

	return api.memory_info(&free, &total) == CUDA_SUCCESS ? free : 0;
}

/* A process's memory returns when the module has seen it end; the deadline is generous. */
static bool free_becomes(size_t wanted)
{
	for (int i = 0; i < 500; i++) {
		if (free_bytes() == wanted)
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

static int check_before_init(void)
{
	struct CUctx_st *context;
	uint64_t address;
	int number;
	int (*launch)(void) = (int (*)(void))dlsym(api.library, "cuLaunchKernel");

	EXPECT(CUDA_ERROR_NOT_INITIALIZED, api.device_count(&number));
	EXPECT(CUDA_ERROR_NOT_INITIALIZED, api.context_create(&context, 0, 0));
	EXPECT(CUDA_ERROR_NOT_INITIALIZED, api.memory_alloc(&address, MIB));
	EXPECT(CUDA_ERROR_NOT_INITIALIZED, launch());
	EXPECT(CUDA_ERROR_INVALID_VALUE, api.init(1));
	OK(api.driver_version(&number));
	CHECK(number >= 12000);
	OK(api.init(0));
	OK(api.init(0));
	EXPECT(CUDA_ERROR_NOT_SUPPORTED, launch());
	return 0;
}

static int check_devices(void)
{
	int count, device, value;
	char name[8];
	size_t total;

	OK(api.init(0));
	OK(api.device_count(&count));
	CHECK(count >= 1);
	EXPECT(CUDA_ERROR_INVALID_DEVICE, api.device_get(&device, count));
	EXPECT(CUDA_ERROR_INVALID_DEVICE, api.device_get(&device, -1));
	OK(api.device_get(&device, count - 1));
	OK(api.device_name(name, sizeof(name), device));
	CHECK(strlen(name) == sizeof(name) - 1); /* cut, with an end */
	OK(api.device_total(&total, device));
	CHECK(total > GIB);
	OK(api.device_attribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
	CHECK(value == 32);
	OK(api.device_attribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
	CHECK(value >= 7);
	EXPECT(CUDA_ERROR_INVALID_VALUE,
	       api.device_attribute(&value, (enum CUdevice_attribute_enum)9999, device));
	return 0;
}

static int check_copies(void)
{
	struct CUctx_st *context;
	size_t size = 5 * MIB + 3;
	unsigned char *sent = malloc(size), *got = malloc(size);
	uint64_t first, second;

	CHECK(sent && got && begin(&context) == 0);
	for (size_t i = 0; i < size; i++)
		sent[i] = (unsigned char)(i * 7 + i / 251);
	OK(api.memory_alloc(&first, size));
	OK(api.memory_alloc(&second, size + 64));
	OK(api.copy_to_device(first, sent, size));
	OK(api.copy_on_device(second + 33, first, size));
	OK(api.copy_to_host(got, second + 33, size));
	CHECK(memcmp(sent, got, size) == 0);
	memset(got, 0, size);
	OK(api.copy_to_host(got, first + 2 * MIB - 1, 3));
	CHECK(memcmp(sent + 2 * MIB - 1, got, 3) == 0);
	free(sent);
	free(got);
	return 0;
}

static int check_sets(void)
{
	static const uint32_t words[] = { 0x04030201, 0x08070605 };
	struct CUctx_st *context;
	unsigned char bytes[16];
	uint64_t address;
	uint32_t word;

	CHECK(begin(&context) == 0);
	OK(api.memory_alloc(&address, 8 * GIB));
	OK(api.set_words(address, 0xa1b2c3d4, 2 * GIB)); /* 8 GiB: must cost the host nothing */
	OK(api.copy_to_host(&word, address + 8 * GIB - 4, sizeof(word)));
	CHECK(word == 0xa1b2c3d4);
	OK(api.set_bytes(address + 4 * MIB + 1, 0xee, 2));
	OK(api.copy_to_host(&word, address + 4 * MIB, sizeof(word)));
	CHECK(word == 0xa1eeeed4);
	OK(api.copy_to_device(address + 6 * MIB - 4, words, sizeof(words)));
	OK(api.copy_to_host(bytes, address + 6 * MIB - 8, sizeof(bytes)));
	CHECK(memcmp(bytes, "\xd4\xc3\xb2\xa1\1\2\3\4\5\6\7\b\xd4\xc3\xb2\xa1", 16) == 0);
	EXPECT(CUDA_ERROR_INVALID_VALUE, api.set_words(address + 2, 0, 1));
	EXPECT(CUDA_ERROR_INVALID_VALUE, api.set_words(address, 0, SIZE_MAX));
	return 0;
}

static int check_bounds(void)
{
	struct CUctx_st *context;
	char bytes[64] = { 0 };
	uint64_t address, other;
	size_t before;

	CHECK(begin(&context) == 0);
	before = free_bytes();
	OK(api.memory_alloc(&address, 3 * MIB));
	OK(api.copy_to_device(address + 3 * MIB - 64, bytes, 64));
	EXPECT(CUDA_ERROR_INVALID_VALUE, api.copy_to_device(address + 3 * MIB - 63, bytes, 64));
	EXPECT(CUDA_ERROR_INVALID_VALUE, api.copy_to_device(address - 1, bytes, 1));
	EXPECT(CUDA_ERROR_INVALID_VALUE, api.copy_to_host(bytes, 4096, 1));
	EXPECT(CUDA_ERROR_INVALID_VALUE, api.memory_free(address + 512));
	OK(api.memory_free(address));
	OK(api.memory_free(0));
	EXPECT(CUDA_ERROR_INVALID_VALUE, api.memory_free(address));
	EXPECT(CUDA_ERROR_INVALID_VALUE, api.copy_to_host(bytes, address, 1));
	EXPECT(CUDA_ERROR_INVALID_VALUE, api.memory_alloc(&other, 0));
	EXPECT(CUDA_ERROR_OUT_OF_MEMORY, api.memory_alloc(&other, before + 1));
	EXPECT(CUDA_ERROR_OUT_OF_MEMORY, api.memory_alloc(&other, SIZE_MAX));
	CHECK(free_bytes() == before);
	return 0;
}

static int check_granularity(void)
{
	struct CUctx_st *context;
	uint64_t address, small[64];
	size_t before;

	CHECK(begin(&context) == 0);
	before = free_bytes();
	for (int i = 0; i < 64; i++)
		OK(api.memory_alloc(&small[i], 1000));
	CHECK(before - free_bytes() == 2 * MIB);
	OK(api.memory_alloc(&address, MIB));
	CHECK(before - free_bytes() == 4 * MIB);
	OK(api.memory_alloc(&address, 2 * MIB + 1));
	CHECK(before - free_bytes() == 8 * MIB);
	for (int i = 0; i < 64; i++)
		OK(api.memory_free(small[i]));
	CHECK(before - free_bytes() == 6 * MIB);
	return 0;
}

static int check_contexts(void)
{
	struct CUctx_st *first, *second, *current, *primary, *again;
	size_t with_one, with_two;
	uint64_t address;

	OK(api.init(0));
	EXPECT(CUDA_ERROR_INVALID_CONTEXT, api.memory_alloc(&address, MIB));
	OK(api.context_create(&first, 0, 0));
	with_one = free_bytes();
	OK(api.context_create(&second, 0, 0));
	with_two = free_bytes();
	CHECK(with_two < with_one);
	OK(api.memory_alloc(&address, 64 * MIB));
	CHECK(with_two - free_bytes() == 64 * MIB);
	OK(api.context_destroy(second)); /* takes its memory along */
	OK(api.context_get(&current));
	CHECK(current == first && free_bytes() == with_one);
	EXPECT(CUDA_ERROR_INVALID_CONTEXT, api.context_destroy(second));
	EXPECT(CUDA_ERROR_INVALID_CONTEXT, api.context_set(second));
	OK(api.primary_retain(&primary, 0));
	OK(api.primary_retain(&again, 0));
	CHECK(primary == again && free_bytes() == with_two);
	OK(api.primary_release(0));
	CHECK(free_bytes() == with_two);
	OK(api.primary_release(0));
	CHECK(free_bytes() == with_one);
	EXPECT(CUDA_ERROR_INVALID_CONTEXT, api.primary_release(0));
	return 0;
}

static void *without_context(void *argument)
{
	struct CUctx_st *current = argument;
	uint64_t address;
	enum cudaError_enum error = api.context_get(&current);

	return (void *)(intptr_t)(error == CUDA_SUCCESS && !current &&
				  api.memory_alloc(&address, MIB) == CUDA_ERROR_INVALID_CONTEXT);
}

static void *churn(void *context)
{
	uint64_t addresses[8];

	if (api.context_set(context) != CUDA_SUCCESS)
		return NULL;
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 8; i++)
			if (api.memory_alloc(&addresses[i], (size_t)(i + 1) * 300000) !=
			    CUDA_SUCCESS)
				return NULL;
		for (int i = 0; i < 8; i++)
			if (api.set_words(addresses[i], (uint32_t)round, 1000) != CUDA_SUCCESS ||
			    api.memory_free(addresses[i]) != CUDA_SUCCESS)
				return NULL;
	}
	return context;
}

static int check_threads(void)
{
	struct CUctx_st *context;
	pthread_t threads[4];
	void *result;
	size_t before;

	CHECK(begin(&context) == 0);
	CHECK(pthread_create(&threads[0], NULL, without_context, NULL) == 0);
	CHECK(pthread_join(threads[0], &result) == 0 && result);
	before = free_bytes();
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, churn, context) == 0);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(threads[i], &result) == 0 && result == context);
	CHECK(free_bytes() == before);
	return 0;
}

static int in_forked_child(struct CUctx_st *context)
{
	struct CUctx_st *other;
	uint64_t address;
	int count;

	EXPECT(CUDA_ERROR_NOT_INITIALIZED, api.init(0));
	EXPECT(CUDA_ERROR_NOT_INITIALIZED, api.device_count(&count));
	EXPECT(CUDA_ERROR_NOT_INITIALIZED, api.context_set(context));
	EXPECT(CUDA_ERROR_NOT_INITIALIZED, api.context_create(&other, 0, 0));
	EXPECT(CUDA_ERROR_NOT_INITIALIZED, api.memory_alloc(&address, MIB));
	return 0;
}

static int check_fork(void)
{
	struct CUctx_st *context;
	uint64_t address;
	size_t before;
	int status;
	pid_t child;

	CHECK(begin(&context) == 0);
	before = free_bytes();
	child = fork();
	if (child == 0)
		_exit(in_forked_child(context));
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	OK(api.memory_alloc(&address, MIB));
	CHECK(before - free_bytes() == 2 * MIB);
	return 0;
}

/* Allocates, leaves a child behind that lives until `hold` ends, and dies. */
static void holder(int hold, int ready)
{
	struct CUctx_st *context;
	uint64_t address;
	char byte;

	if (begin(&context) != 0 || api.memory_alloc(&address, GIB) != CUDA_SUCCESS)
		_exit(1);
	if (fork() == 0) {
		close(ready);
		_exit(read(hold, &byte, 1) == 0 ? 0 : 1);
	}
	_exit(write(ready, "", 1) == 1 ? 0 : 1);
}

static int check_fork_holds_memory(void)
{
	struct CUctx_st *context;
	int hold[2], ready[2], status;
	size_t before;
	char byte;
	pid_t child;

	CHECK(pipe(hold) == 0 && pipe(ready) == 0);
	child = fork();
	if (child == 0) {
		close(hold[1]);
		holder(hold[0], ready[1]);
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(begin(&context) == 0);
	before = free_bytes(); /* the parent is gone, its child still holds 1 GiB and a context */
	for (int i = 0; i < 20; i++) {
		poll(NULL, 0, 5);
		CHECK(free_bytes() == before);
	}
	close(hold[1]);
	for (int i = 0; i < 500 && free_bytes() == before; i++)
		poll(NULL, 0, 10);
	CHECK(free_bytes() > before + GIB);
	return 0;
}

static int check_close_on_exec(void)
{
	bool before[256];
	int found = 0;

	for (int fd = 0; fd < 256; fd++)
		before[fd] = fcntl(fd, F_GETFD) >= 0;
	OK(api.init(0));
	for (int fd = 0; fd < 256; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (before[fd] || flags < 0)
			continue;
		CHECK(flags & FD_CLOEXEC);
		found++;
	}
	CHECK(found == 1);
	return 0;
}

/* What another process had is free again after its death. */
static int check_death(void)
{
	struct CUctx_st *context;
	size_t before;
	uint64_t address;
	int status;
	pid_t child;
	int start[2];
	char byte;

	CHECK(pipe(start) == 0);
	child = fork(); /* before cuInit, so it may use the card itself */
	if (child == 0) {
		if (read(start[0], &byte, 1) != 1 || begin(&context) != 0 ||
		    api.memory_alloc(&address, 10 * GIB) != CUDA_SUCCESS)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	CHECK(begin(&context) == 0);
	before = free_bytes();
	CHECK(write(start[1], "", 1) == 1);
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	CHECK(free_becomes(before));
	return 0;
}

static const struct lookup {
	const char *base;
	int version;
	uint64_t flags;
	const char *name; /* NULL: nothing */
	enum CUdriverProcAddressQueryResult_enum status;
} lookups[] = {
	{ "cuInit", 2000, 0, "cuInit", 0 },
	{ "cuMemAlloc", 2000, 0, "cuMemAlloc", 0 },
	{ "cuMemAlloc", 3020, 0, "cuMemAlloc_v2", 0 },
	{ "cuMemAlloc", 12000, 2, "cuMemAlloc_v2", 0 },
	{ "cuMemcpyHtoD", 12000, 0, "cuMemcpyHtoD_v2", 0 },
	{ "cuMemcpyHtoD", 12000, 1, "cuMemcpyHtoD_v2", 0 },
	{ "cuMemcpyHtoD", 12000, 2, "cuMemcpyHtoD_v2_ptds", 0 },
	{ "cuMemcpyHtoD", 6050, 2, NULL, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT },
	{ "cuInit", 99000, 0, "cuInit", 0 },
	{ "cuInit", -5, 0, "cuInit", 0 },
	{ "cuInit", 0, 0, NULL, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT },
	{ "cuLaunchKernel", 12000, 2, "cuLaunchKernel_ptsz", 0 },
	{ "cuGetProcAddress", 11030, 0, "cuGetProcAddress", 0 },
	{ "cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2", 0 },
	{ "cuMemAlloc", 1000, 0, NULL, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT },
	{ "cuMemAllocAsync", 11010, 0, NULL, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT },
	{ "cuMemAlloc_v2", 12000, 0, NULL, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND },
	{ "cudbgGetAPI", 12000, 0, NULL, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND },
	{ "", 0, 0, NULL, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND },
};

static int check_lookup(void)
{
	enum CUdriverProcAddressQueryResult_enum status;
	void *function;

	for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++) {
		const struct lookup *row = &lookups[i];
		void *wanted = row->name ? dlsym(api.library, row->name) : NULL;

		OK(api.address_of(row->base, &function, row->version, row->flags, &status));
		if (function != wanted || (row->name && !wanted) || status != row->status) {
			printf("# row %zu: %s at %d\n", i, row->base, row->version);
			return 1;
		}
	}
	EXPECT(CUDA_ERROR_INVALID_VALUE, api.address_of("cuInit", &function, 12000, 8, &status));
	return 0;
}

/* Each form is what its own version asks for, and each function has an address of its own. */
static int check_every_symbol(void)
{
#define NAME_NONE(base, suffix) #base #suffix
#define NAME_PTDS(base, suffix) #base #suffix "_ptds"
#define NAME_PTSZ(base, suffix) #base #suffix "_ptsz"
#define FLAGS_NONE              1
#define FLAGS_PTDS              2
#define FLAGS_PTSZ              2
#define CUDA_OBJECT(name, bytes)
#define CUDA_SYMBOL(base, suffix, kind, since) \
	{ #base, since, FLAGS_##kind, NAME_##kind(base, suffix), 0 },
	static const struct lookup rows[] = {
#include "abi/cuda_symbols.def"
	};
	enum CUdriverProcAddressQueryResult_enum status;
	void *function;
	size_t asked = 0;
	int version;

	OK(api.driver_version(&version));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lookup *row = &rows[i];
		void *wanted = dlsym(api.library, row->name);

		CHECK((wanted != NULL) == (row->version <= version));
		if (!wanted || row->version == 0)
			continue;
		OK(api.address_of(row->base, &function, row->version, row->flags, &status));
		if (function != wanted) {
			printf("# %s at %d is not %s\n", row->base, row->version, row->name);
			return 1;
		}
		asked++;
	}
	printf("# %zu names asked\n", asked);
	CHECK(asked > 500);
	return 0;
}

static const struct test_case {
	const char *name;
	int (*run)(void);
} cases[] = {
	{ "before-init", check_before_init },
	{ "devices", check_devices },
	{ "copies", check_copies },
	{ "sets", check_sets },
	{ "bounds", check_bounds },
	{ "granularity", check_granularity },
	{ "contexts", check_contexts },
	{ "threads", check_threads },
	{ "fork", check_fork },
	{ "fork-holds-memory", check_fork_holds_memory },
	{ "close-on-exec", check_close_on_exec },
	{ "death", check_death },
	{ "lookup", check_lookup },
	{ "every-symbol", check_every_symbol },
};

static bool wanted(const char *name, int argc, char **argv)
{
	bool found = argc == 1;

	for (int i = 1; i < argc; i++)
		found = found || strcmp(argv[i], name) == 0;
	return found;
}

int main(int argc, char **argv)
{
	int number = 0, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!cuda_api_load(&api))
		return 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status = -1;
		pid_t child;

		if (!wanted(cases[i].name, argc, argv))
			continue;
		child = fork();
		if (child == 0)
			_exit(cases[i].run());
		if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
			failed++;
		printf("%sok %d - %s\n", status == 0 ? "" : "not ", ++number, cases[i].name);
	}
	printf("1..%d\n", number);
	return failed || number == 0;
}
