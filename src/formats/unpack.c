/* SPDX-License-Identifier: Apache-2.0 */
/* On libarchive, which this file alone knows. */
#include "formats/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

enum {
	HEAD_MAX = 512, /* what tells an archive from anything else */
	PIECE_MAX = 65536,
	NAME_MAX_LENGTH = 4096,
	/* More than so many times its packed size is no log. */
	BOMB_RATIO = 300,
	BOMB_LEAST = 64 << 20,
};

const struct archive_limits archive_limits_default = {
	.total_bytes = 1u << 30,
	.member_bytes = 256u << 20,
	.members = 20000,
	.depth = 3,
};

/* An archive under way: the file's own, or one that is a member of the level outside. */
struct level {
	struct archive_reader *reader;
	struct level *outer;
	struct archive *archive;
	char *name;
	char head[HEAD_MAX]; /* its first bytes, which were looked at */
	size_t head_length;
	char piece[PIECE_MAX];
};

struct archive_reader {
	struct archive_limits limits;
	struct level *level; /* the innermost; NULL: the file is none, or all is over */
	int fd;
	bool plain; /* the file is its own member */
	uint64_t packed, total, member;
	unsigned members, depth;
	int failure; /* of a callback: errno; EFBIG: the last word */
	struct strbuf name;
	char head[HEAD_MAX]; /* of the member, not given yet */
	size_t head_length;
	char piece[PIECE_MAX];
};

/* How an archive begins. How to add a kind: a row, and its format or filter in level_open(). */
static const struct {
	size_t at, length;
	const char *bytes;
} magics[] = {
	{ 0, 3, "\x1f\x8b\x08" },     /* gzip */
	{ 0, 6, "\xfd\x37zXZ\0" },    /* xz */
	{ 0, 4, "\x28\xb5\x2f\xfd" }, /* zstd */
	{ 0, 4, "\x04\x22\x4d\x18" }, /* lz4 */
	{ 4, 6, "1AY&SY" },           /* bzip2 */
	{ 0, 4, "PK\x03\x04" },       /* zip */
	{ 257, 5, "ustar" },          /* tar */
};

static bool is_archive(const char *head, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if (length >= magics[i].at + magics[i].length &&
		    memcmp(head + magics[i].at, magics[i].bytes, magics[i].length) == 0)
			return true;
	return false;
}

static ssize_t read_file(struct archive_reader *reader, void *bytes, size_t size)
{
	ssize_t length;

	do
		length = read(reader->fd, bytes, size);
	while (length < 0 && errno == EINTR);
	if (length < 0)
		reader->failure = errno;
	else
		reader->packed += (uint64_t)length;
	return length;
}

/* Counts what was unpacked. */
static bool is_too_much(struct archive_reader *reader, size_t length)
{
	reader->total += length;
	reader->member += length;
	if (reader->total > reader->limits.total_bytes ||
	    reader->member > reader->limits.member_bytes ||
	    (reader->total > BOMB_LEAST && reader->total / BOMB_RATIO > reader->packed))
		reader->failure = EFBIG;
	return reader->failure == EFBIG;
}

/* Bytes of the member of LEVEL that is under way: > 0, 0 at its end, -1. */
static ssize_t read_member(struct level *level, void *bytes, size_t size)
{
	la_ssize_t length;

	do
		length = archive_read_data(level->archive, bytes, size);
	while (length == ARCHIVE_RETRY);
	if (length <= 0)
		return length == 0 ? 0 : -1;
	return is_too_much(level->reader, (size_t)length) ? -1 : (ssize_t)length;
}

static la_ssize_t level_read(struct archive *archive, void *data, const void **ret)
{
	struct level *level = data;
	ssize_t length = (ssize_t)level->head_length;

	*ret = level->head;
	level->head_length = 0;
	if (length > 0)
		return length;
	*ret = level->piece;
	if (level->outer)
		length = read_member(level->outer, level->piece, sizeof(level->piece));
	else
		length = read_file(level->reader, level->piece, sizeof(level->piece));
	if (length < 0)
		archive_set_error(archive, level->reader->failure ? level->reader->failure : EIO,
				  "the archive around it cannot be read");
	return length;
}

static void level_pop(struct archive_reader *reader)
{
	struct level *level = reader->level;

	reader->level = level->outer;
	reader->depth--;
	archive_read_free(level->archive);
	free(level->name);
	free(level);
}

/* What went wrong in LEVEL, in one sentence. */
static int level_error(const struct level *level, struct error *error)
{
	const char *why = archive_error_string(level->archive);
	int number = level->reader->failure;

	if (number == EFBIG)
		return error_set(error, EFBIG,
				 "%s unpacks to more than it should (a bomb?); unpack what matters "
				 "of it and read that",
				 level->name);
	if (number)
		return error_set_errno(error, number, "cannot read %s", level->name);
	if (archive_errno(level->archive) == ENOMEM)
		return error_no_memory(error);
	return error_set(error, EBADMSG, "%s is damaged: %s; fetch it again, or pack it anew",
			 level->name, why ? why : "it cannot be unpacked");
}

static int level_start(struct level *level)
{
	struct archive *archive = level->archive;

	archive_read_support_filter_gzip(archive);
	archive_read_support_filter_bzip2(archive);
	archive_read_support_filter_xz(archive);
	archive_read_support_filter_zstd(archive);
	archive_read_support_filter_lz4(archive);
	archive_read_support_format_tar(archive);
	archive_read_support_format_zip_streamable(archive);
	archive_read_support_format_raw(archive); /* one file, packed alone */
	archive_read_support_format_empty(archive);
	return archive_read_open(archive, level, NULL, level_read, NULL);
}

/* The member under way, or the file, begins with HEAD and is an archive. */
static int level_push(struct archive_reader *reader, const char *name, const char *head,
		      size_t head_length, struct error *error)
{
	struct level *level = malloc(sizeof(*level));

	if (!level)
		return error_no_memory(error);
	level->reader = reader;
	level->outer = reader->level;
	level->archive = archive_read_new();
	level->name = strdup(name);
	memcpy(level->head, head, head_length);
	level->head_length = head_length;
	reader->level = level;
	reader->depth++;
	if (!level->archive || !level->name) {
		level_pop(reader);
		return error_no_memory(error);
	}
	if (level_start(level) == ARCHIVE_OK)
		return 0;
	int r = level_error(level, error);
	level_pop(reader);
	return r;
}

static ssize_t fill_head(struct archive_reader *reader)
{
	size_t length = 0;

	while (length < HEAD_MAX) {
		char *to = reader->head + length;
		ssize_t more = reader->level ? read_member(reader->level, to, HEAD_MAX - length)
					     : read_file(reader, to, HEAD_MAX - length);

		if (more < 0)
			return -1;
		if (more == 0)
			break;
		length += (size_t)more;
	}
	reader->head_length = length;
	return (ssize_t)length;
}

int archive_open_fd(int fd, const char *name, const struct archive_limits *limits,
		    struct archive_reader **ret, struct error *error)
{
	cleanup(archive_reader_freep) struct archive_reader *reader = calloc(1, sizeof(*reader));
	int r = 0;

	if (!reader)
		return error_no_memory(error);
	reader->limits = limits ? *limits : archive_limits_default;
	reader->fd = fd;
	reader->name = (struct strbuf)STRBUF_INIT(NAME_MAX_LENGTH);
	strbuf_adds(&reader->name, name);
	if (strbuf_failed(&reader->name) < 0)
		return error_set_errno(error, -strbuf_failed(&reader->name), "a file's name");
	text_make_visible(reader->name.data, false);
	if (fill_head(reader) < 0)
		return error_set_errno(error, reader->failure, "cannot read %s", reader->name.data);
	reader->plain = !is_archive(reader->head, reader->head_length);
	if (!reader->plain)
		r = level_push(reader, reader->name.data, reader->head, reader->head_length, error);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(reader);
	return 0;
}

void archive_reader_free(struct archive_reader *reader)
{
	if (!reader)
		return;
	while (reader->level)
		level_pop(reader);
	strbuf_release(&reader->name);
	free(reader);
}

/* "outer!inner"; of a file that was packed alone there is no inner name. */
static int name_member(struct archive_reader *reader, struct archive_entry *entry)
{
	const struct level *level = reader->level;
	const char *path = archive_entry_pathname_utf8(entry);

	if (!path)
		path = archive_entry_pathname(entry);
	strbuf_reset(&reader->name);
	strbuf_adds(&reader->name, level->name);
	if (archive_format(level->archive) != ARCHIVE_FORMAT_RAW)
		strbuf_addf(&reader->name, "!%.*s", NAME_MAX_LENGTH / 2, path ? path : "?");
	if (strbuf_failed(&reader->name) == -ENOMEM)
		return -ENOMEM;
	text_make_visible(reader->name.data, false);
	return 0;
}

/* The next entry of the innermost archive that has one: 1, 0, or an error. */
static int next_entry(struct archive_reader *reader, struct archive_entry **ret,
		      struct error *error)
{
	while (reader->level) {
		int status = archive_read_next_header(reader->level->archive, ret);

		if (status == ARCHIVE_OK || status == ARCHIVE_WARN)
			return 1;
		if (status == ARCHIVE_RETRY)
			continue;
		int r = status == ARCHIVE_EOF ? 0 : level_error(reader->level, error);
		level_pop(reader);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The file itself, once. */
static int next_plain(struct archive_reader *reader, const char **ret_name)
{
	if (reader->members++)
		return 0;
	*ret_name = reader->name.data;
	return 1;
}

/* Nothing comes after this. */
static int end_all(struct archive_reader *reader, int r)
{
	while (reader->level)
		level_pop(reader);
	return r;
}

/* Looks at the member: 1 it is one, 0 it is an archive, or an error. */
static int open_member(struct archive_reader *reader, struct archive_entry *entry,
		       struct error *error)
{
	if (name_member(reader, entry) < 0)
		return error_no_memory(error);
	reader->member = 0;
	if (++reader->members > reader->limits.members) {
		reader->failure = EFBIG;
		return error_set(error, EFBIG, "%s: more than %u files; unpack what matters of it",
				 reader->level->name, reader->limits.members);
	}
	if (fill_head(reader) < 0)
		return level_error(reader->level, error);
	if (reader->depth >= reader->limits.depth || !is_archive(reader->head, reader->head_length))
		return 1;
	int r = level_push(reader, reader->name.data, reader->head, reader->head_length, error);
	reader->head_length = 0;
	return r;
}

int archive_next(struct archive_reader *reader, const char **ret_name, struct error *error)
{
	struct archive_entry *entry;
	int r;

	if (reader->plain)
		return next_plain(reader, ret_name);
	for (;;) {
		reader->head_length = 0;
		r = next_entry(reader, &entry, error);
		if (r > 0 && archive_entry_filetype(entry) != AE_IFREG)
			continue;
		if (r > 0)
			r = open_member(reader, entry, error);
		else if (r == 0)
			return 0;
		if (r < 0)
			return reader->failure ? end_all(reader, r) : r;
		if (r > 0)
			break;
	}
	*ret_name = reader->name.data;
	return 1;
}

int archive_read(struct archive_reader *reader, const char **ret_bytes, size_t *ret_length,
		 struct error *error)
{
	ssize_t length = (ssize_t)reader->head_length;

	*ret_bytes = reader->head;
	reader->head_length = 0;
	if (length == 0) {
		*ret_bytes = reader->piece;
		if (reader->plain)
			length = read_file(reader, reader->piece, sizeof(reader->piece));
		else if (reader->level)
			length = read_member(reader->level, reader->piece, sizeof(reader->piece));
	}
	*ret_length = (size_t)length;
	if (length >= 0)
		return length > 0;
	if (reader->plain)
		return error_set_errno(error, reader->failure, "cannot read %s", reader->name.data);
	int r = level_error(reader->level, error);
	return reader->failure ? end_all(reader, r) : r;
}
