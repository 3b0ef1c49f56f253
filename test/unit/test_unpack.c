/* SPDX-License-Identifier: Apache-2.0 */
/* Archives of archives, damaged ones and bombs. */
#include "test.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "formats/formats.h"

enum { PACKED_MAX = 4 << 20 };

struct packed {
	char *bytes;
	size_t length;
};

static void packed_release(struct packed *packed)
{
	free(packed->bytes);
}

enum kind { KIND_TAR, KIND_TAR_GZ, KIND_ZIP, KIND_TAR_XZ, KIND_TAR_ZSTD };

struct writing {
	struct archive *archive;
	struct packed packed;
};

static void pack_begin(struct writing *writing, enum kind kind)
{
	struct archive *archive = archive_write_new();

	assert_non_null(archive);
	if (kind == KIND_ZIP)
		assert_int_equal(archive_write_set_format_zip(archive), ARCHIVE_OK);
	else
		assert_int_equal(archive_write_set_format_pax_restricted(archive), ARCHIVE_OK);
	if (kind == KIND_TAR_GZ)
		assert_int_equal(archive_write_add_filter_gzip(archive), ARCHIVE_OK);
	if (kind == KIND_TAR_XZ)
		assert_int_equal(archive_write_add_filter_xz(archive), ARCHIVE_OK);
	if (kind == KIND_TAR_ZSTD)
		assert_int_equal(archive_write_add_filter_zstd(archive), ARCHIVE_OK);
	writing->archive = archive;
	writing->packed.bytes = malloc(PACKED_MAX);
	assert_non_null(writing->packed.bytes);
	assert_int_equal(archive_write_open_memory(archive, writing->packed.bytes, PACKED_MAX,
						   &writing->packed.length),
			 ARCHIVE_OK);
}

static void pack_entry(struct writing *writing, const char *name, unsigned type, const void *bytes,
		       size_t length)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, type);
	archive_entry_set_perm(entry, 0644);
	if (type == AE_IFLNK)
		archive_entry_set_symlink(entry, "/etc/shadow");
	archive_entry_set_size(entry, (la_int64_t)length);
	assert_int_equal(archive_write_header(writing->archive, entry), ARCHIVE_OK);
	if (length)
		assert_int_equal(archive_write_data(writing->archive, bytes, length), length);
	archive_entry_free(entry);
}

static struct packed pack_end(struct writing *writing)
{
	assert_int_equal(archive_write_close(writing->archive), ARCHIVE_OK);
	archive_write_free(writing->archive);
	return writing->packed;
}

static struct packed pack_two(enum kind kind)
{
	struct writing writing;

	pack_begin(&writing, kind);
	pack_entry(&writing, "one.txt", AE_IFREG, "first", 5);
	pack_entry(&writing, "below/two.txt", AE_IFREG, "second", 6);
	return pack_end(&writing);
}

static int open_bytes(const void *bytes, size_t length)
{
	int fd = memfd_create("evidence", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), (ssize_t)length);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* "name=content;" of each member, "-errno;" of each error. */
static void list(const void *bytes, size_t length, const struct archive_limits *limits,
		 struct strbuf *out)
{
	autoclose int fd = open_bytes(bytes, length);
	cleanup(archive_reader_freep) struct archive_reader *reader = NULL;
	struct error error = ERROR_INIT;
	const char *name, *piece;
	size_t count;
	int r = archive_open_fd(fd, "file", limits, &reader, &error);

	if (r < 0) {
		strbuf_addf(out, "%d;", r);
		return;
	}
	for (unsigned calls = 0; (r = archive_next(reader, &name, &error)) != 0; calls++) {
		assert_true(calls < 100000);
		if (r > 0) {
			strbuf_addf(out, "%s=", name);
			while ((r = archive_read(reader, &piece, &count, &error)) > 0)
				strbuf_addf(out, "%.*s", count > 40 ? 40 : (int)count, piece);
		}
		if (r < 0) {
			assert_true(error.message[0]);
			strbuf_addf(out, "%d", r);
		}
		strbuf_adds(out, ";");
	}
	assert_int_equal(strbuf_failed(out), 0);
}

static void expect(const struct packed *packed, const struct archive_limits *limits,
		   const char *wanted)
{
	autostrbuf out = STRBUF_INIT(1 << 20);

	list(packed->bytes, packed->length, limits, &out);
	assert_string_equal(out.data, wanted);
}

TEST(any_other_file_is_its_own_member)
{
	const struct packed plain = { (char[]){ "text of any kind" }, 16 },
			    none = { (char[]){ "" }, 0 };

	expect(&plain, NULL, "file=text of any kind;");
	expect(&none, NULL, "file=;");
}

TEST(members_of_every_kind_are_given)
{
	for (enum kind kind = KIND_TAR; kind <= KIND_TAR_ZSTD; kind++) {
		cleanup(packed_release) struct packed packed = pack_two(kind);

		expect(&packed, NULL, "file!one.txt=first;file!below/two.txt=second;");
	}
}

TEST(what_is_no_file_is_passed_over_and_names_are_safe)
{
	struct writing writing;

	pack_begin(&writing, KIND_TAR);
	pack_entry(&writing, "folder", AE_IFDIR, NULL, 0);
	pack_entry(&writing, "link", AE_IFLNK, NULL, 0);
	pack_entry(&writing, "pipe", AE_IFIFO, NULL, 0);
	pack_entry(&writing, "../../etc/cron.d/x", AE_IFREG, "never written", 13);
	pack_entry(&writing, "a\033[31m\nb", AE_IFREG, "x", 1);
	cleanup(packed_release) struct packed packed = pack_end(&writing);
	expect(&packed, NULL, "file!../../etc/cron.d/x=never written;file!a?[31m?b=x;");
}

TEST(archives_lie_in_archives)
{
	cleanup(packed_release) struct packed inner = pack_two(KIND_TAR_GZ);
	struct archive_limits limits = archive_limits_default;
	struct writing writing;

	pack_begin(&writing, KIND_ZIP);
	pack_entry(&writing, "in.tar.gz", AE_IFREG, inner.bytes, inner.length);
	pack_entry(&writing, "after.txt", AE_IFREG, "third", 5);
	cleanup(packed_release) struct packed packed = pack_end(&writing);
	expect(&packed, NULL,
	       "file!in.tar.gz!one.txt=first;file!in.tar.gz!below/two.txt=second;"
	       "file!after.txt=third;");
	/* What lies too deep is given as it is. */
	limits.depth = 1;
	autostrbuf out = STRBUF_INIT(1 << 20);
	list(packed.bytes, packed.length, &limits, &out);
	assert_int_equal(strncmp(out.data, "file!in.tar.gz=\x1f\x8b", 17), 0);
	assert_non_null(strstr(out.data, "file!after.txt=third;"));
}

/* One damaged archive hides nothing that lies beside it. */
TEST(a_damaged_member_hides_no_other)
{
	cleanup(packed_release) struct packed inner = pack_two(KIND_TAR_GZ);
	struct writing writing;

	for (size_t i = 20; i < inner.length; i++)
		inner.bytes[i] = (char)~inner.bytes[i];
	pack_begin(&writing, KIND_TAR);
	pack_entry(&writing, "in.tar.gz", AE_IFREG, inner.bytes, inner.length);
	pack_entry(&writing, "after.txt", AE_IFREG, "third", 5);
	cleanup(packed_release) struct packed packed = pack_end(&writing);
	expect(&packed, NULL, "-74;file!after.txt=third;");
}

TEST(a_cut_archive_gives_what_is_there)
{
	cleanup(packed_release) struct packed packed = pack_two(KIND_TAR);
	autostrbuf out = STRBUF_INIT(1 << 20);

	for (size_t length = 0; length < packed.length; length++) {
		strbuf_reset(&out);
		list(packed.bytes, length, NULL, &out);
		if (length >= 1024 && length < 2048)
			assert_non_null(strstr(out.data, "one.txt"));
	}
}

TEST(limits_hold)
{
	cleanup(packed_release) struct packed packed = pack_two(KIND_TAR_GZ);
	struct archive_limits limits = archive_limits_default;

	limits.total_bytes = 10;
	expect(&packed, &limits, "file!one.txt=first;-27;");
	limits = archive_limits_default;
	limits.member_bytes = 5;
	expect(&packed, &limits, "file!one.txt=first;-27;");
	limits = archive_limits_default;
	limits.members = 1;
	expect(&packed, &limits, "file!one.txt=first;-27;");
}

TEST(a_bomb_is_told_before_it_is_unpacked)
{
	static char zeros[1 << 20];
	struct archive_limits limits = archive_limits_default;
	struct writing writing;
	struct archive_entry *entry = archive_entry_new();

	pack_begin(&writing, KIND_TAR_GZ);
	archive_entry_set_pathname(entry, "zeros");
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_size(entry, (la_int64_t)200 << 20);
	assert_int_equal(archive_write_header(writing.archive, entry), ARCHIVE_OK);
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(archive_write_data(writing.archive, zeros, sizeof(zeros)),
				 sizeof(zeros));
	archive_entry_free(entry);
	cleanup(packed_release) struct packed packed = pack_end(&writing);
	autostrbuf out = STRBUF_INIT(1 << 20);
	list(packed.bytes, packed.length, &limits, &out);
	assert_non_null(strstr(out.data, "-27;"));
}

/* In our own calls; libarchive's are not reached. */
TEST(short_of_memory_is_said)
{
	cleanup(packed_release) struct packed inner = pack_two(KIND_TAR_GZ);
	struct writing writing;

	pack_begin(&writing, KIND_TAR);
	pack_entry(&writing, "in.tar.gz", AE_IFREG, inner.bytes, inner.length);
	cleanup(packed_release) struct packed packed = pack_end(&writing);
	for (unsigned n = 0;; n++) {
		autoclose int fd = open_bytes(packed.bytes, packed.length);
		struct archive_reader *reader = NULL;
		struct error error = ERROR_INIT;
		const char *name;
		int r, worst = 0;

		fault_arm(n);
		r = archive_open_fd(fd, "file", NULL, &reader, &error);
		worst = r;
		while (reader && (r = archive_next(reader, &name, &error)) != 0)
			worst = r < 0 ? r : worst;
		archive_reader_free(reader);
		if (!fault_disarm()) {
			assert_int_equal(worst, 0);
			break;
		}
		assert_int_equal(worst, -ENOMEM);
	}
}

TEST(a_file_that_cannot_be_read_is_said)
{
	int fds[2];
	struct archive_reader *reader = NULL;
	struct error error = ERROR_INIT;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(archive_open_fd(fds[1], "file", NULL, &reader, &error), -EBADF);
	assert_non_null(strstr(error.message, "cannot read file"));
	close(fds[0]);
	close(fds[1]);
}
