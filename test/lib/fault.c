/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failing calls. The linker sends the calls that tests may break here (--wrap): those of our code
 * and, since tests with faults link the static json-c and libyaml, those of these libraries too.
 * The C library's inner calls and the sanitizers stay as they are.
 */
#include "test.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
	bool armed, hit;
	unsigned left; /* calls that still succeed */
	int number;    /* errno of the one that fails */
	enum fault_call call;
	size_t most; /* bytes that one read or write moves; 0: as many as asked */
} fault;

static bool fault_now(enum fault_call call)
{
	if (!fault.armed || fault.call != call || fault.left-- > 0)
		return false;
	fault.armed = false;
	fault.hit = true;
	errno = fault.number;
	return true;
}

void fault_arm_call(enum fault_call call, unsigned n, int number)
{
	fault.armed = true;
	fault.hit = false;
	fault.left = n;
	fault.number = number;
	fault.call = call;
}

void fault_arm(unsigned n)
{
	fault_arm_call(FAULT_MEMORY, n, ENOMEM);
}

int fault_disarm(void)
{
	bool hit = fault.hit;

	fault.armed = fault.hit = false;
	return hit;
}

void fault_limit_transfers(size_t most)
{
	fault.most = most;
}

static size_t fault_transfer(size_t length)
{
	return fault.most && length > fault.most ? fault.most : length;
}

/*
 * json-c 0.16 loses the copy of a key when its table cannot grow. Only that copy is forgiven: a
 * lost tree still shows by its other parts.
 */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:json_object_object_add_ex\n";
}

__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "print_suppressions=0";
}

/* How to add a call: its prototype and wrapper here, and its name in test/unit/meson.build. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_reallocarray(void *memory, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t length);
int __real_vasprintf(char **ret, const char *format, va_list arguments);
ssize_t __real_read(int fd, void *bytes, size_t length);
ssize_t __real_write(int fd, const void *bytes, size_t length);
int __real_fsync(int fd);
int __real_renameat(int from, const char *old, int to, const char *new);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_reallocarray(void *memory, size_t count, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);
int __wrap_vasprintf(char **ret, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));
ssize_t __wrap_read(int fd, void *bytes, size_t length);
ssize_t __wrap_write(int fd, const void *bytes, size_t length);
int __wrap_fsync(int fd);
int __wrap_renameat(int from, const char *old, int to, const char *new);

void *__wrap_malloc(size_t size)
{
	return fault_now(FAULT_MEMORY) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fault_now(FAULT_MEMORY) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return fault_now(FAULT_MEMORY) ? NULL : __real_realloc(memory, size);
}

void *__wrap_reallocarray(void *memory, size_t count, size_t size)
{
	return fault_now(FAULT_MEMORY) ? NULL : __real_reallocarray(memory, count, size);
}

char *__wrap_strdup(const char *text)
{
	return fault_now(FAULT_MEMORY) ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t length)
{
	return fault_now(FAULT_MEMORY) ? NULL : __real_strndup(text, length);
}

int __wrap_vasprintf(char **ret, const char *format, va_list arguments)
{
	return fault_now(FAULT_MEMORY) ? -1 : __real_vasprintf(ret, format, arguments);
}

ssize_t __wrap_read(int fd, void *bytes, size_t length)
{
	return fault_now(FAULT_READ) ? -1 : __real_read(fd, bytes, fault_transfer(length));
}

ssize_t __wrap_write(int fd, const void *bytes, size_t length)
{
	return fault_now(FAULT_WRITE) ? -1 : __real_write(fd, bytes, fault_transfer(length));
}

int __wrap_fsync(int fd)
{
	return fault_now(FAULT_FSYNC) ? -1 : __real_fsync(fd);
}

int __wrap_renameat(int from, const char *old, int to, const char *new)
{
	return fault_now(FAULT_RENAME) ? -1 : __real_renameat(from, old, to, new);
}
