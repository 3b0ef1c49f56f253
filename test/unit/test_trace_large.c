/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of ten million lines, written into a pipe while they are read: never in one piece, and no
 * more memory than each Pod needs. GPUPOOL_TEST_SCALE is the part of them, per cent.
 */
#include "test.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "replay/trace.h"

#define LINES_SOAK 10000000u
#define BYTES_A_POD \
	96u /* a row, its name of 10 bytes, its place in the table of names; twice for
			 * what has just grown */
#define BYTES_MORE (8u << 20)

static const char header[] = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,"
			     "deletion_time\n";
static const char row_format[] = "p%09u,%u,%u,1,%u,,%u,%u\n";

static unsigned lines_to_write(void)
{
	const char *text = getenv("GPUPOOL_TEST_SCALE");
	uint64_t scale = 1;

	if (text && parse_uint(text, 1, 10000, &scale) < 0)
		scale = 1;
	return (unsigned)(LINES_SOAK * scale / 100);
}

/* What the last line says. */
static const struct {
	const char *row;
	const char *message; /* after "FILE:LINE: "; NULL: it is right */
} ends[] = {
	{ "last,1000,10,1,500,,7,8\n", NULL },
	{ "last,1000,-1,1,500,,7,8\n",
	  "memory_mib '-1' is no whole number from 0 to 1000000000000; write one" },
	{ "p000000001,1000,10,1,500,,7,8\n", "two Pods are named p000000001; remove one" },
	{ "last,1000,10", "3 fields where the first line has 8; give each column a field" },
};

/* A writer that ends early because the reader did is as it should be. */
static void write_lines(const char *path, unsigned lines, const char *end)
{
	FILE *file = fopen(path, "w");

	if (!file)
		_exit(1);
	fputs(header, file);
	for (unsigned i = 0; i < lines && !ferror(file); i++)
		fprintf(file, row_format, i, 1000 * (i % 8), 512 * (i % 16), 100 * (1 + i % 9), i,
			i + 100);
	fputs(end, file);
	fclose(file);
	_exit(0);
}

/* What is allocated now. The sanitizer's allocator keeps freed memory for a while, so that resident
 * pages say nothing there; without it mallinfo2() knows. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t heap_in_use(void)
{
	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void read_with_end(const char *path, size_t at)
{
	struct error error = ERROR_INIT;
	unsigned lines = lines_to_write();
	char message[512] = "";
	size_t before = heap_in_use(), limit = (size_t)lines * BYTES_A_POD + BYTES_MORE;
	autotrace trace;
	int status;

	if (ends[at].message)
		snprintf(message, sizeof(message), "pods:%u: %s", lines + 2, ends[at].message);
	fflush(NULL);
	pid_t writer = fork();

	assert_true(writer >= 0);
	if (writer == 0)
		write_lines(path, lines, ends[at].row);
	trace_init(&trace);
	int r = trace_read(&trace, TRACE_PODS, path, &error);

	assert_string_equal(error.message, message);
	assert_int_equal(r < 0, ends[at].message != NULL);
	assert_int_equal(trace.pod_count, lines + (r == 0));
	print_message("# %u lines, %zu bytes more, at most %zu\n", lines, heap_in_use() - before,
		      limit);
	assert_true(heap_in_use() - before <= limit);
	assert_int_equal(waitpid(writer, &status, 0), writer);
}

TEST(ten_million_lines)
{
	char folder[] = "/tmp/gpupool-large-XXXXXX";

	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkfifo("pods", 0600), 0);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		read_with_end("pods", i);
	assert_int_equal(unlink("pods"), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
}
