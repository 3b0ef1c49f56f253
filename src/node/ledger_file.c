/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger as a text: "<checksum> <record>" a line, the first with the version. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/device_id.h"
#include "node/ledger_private.h"

#define VERSION      1
#define CHECKSUM_MAX 9 /* eight digits and a blank */

static const struct json_limits record_limits = { .bytes = 1u << 20, .depth = 4 };

static uint32_t checksum(const char *text, size_t length) /* CRC-32 of IEEE 802.3 */
{
	uint32_t sum = UINT32_MAX;

	for (size_t i = 0; i < length; i++) {
		sum ^= (unsigned char)text[i];
		for (unsigned bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
	}
	return ~sum;
}

static int write_line(struct json_object *record, struct strbuf *out, struct error *error)
{
	autostrbuf text = STRBUF_INIT(record_limits.bytes);
	int r = json_to_text(record, false, &text, error);

	if (r < 0)
		return r;
	strbuf_addf(out, "%08x ", checksum(text.data, text.length));
	strbuf_add(out, text.data, text.length);
	strbuf_addc(out, '\n');
	return 0;
}

/* What most entries do not have. */
static int add_optional(const struct ledger_entry *entry, struct json_object *record)
{
	int r = 0;

	if (entry->pod_uid)
		r = json_add_string(record, "podUID", entry->pod_uid);
	if (r == 0 && entry->container)
		r = json_add_string(record, "container", entry->container);
	if (r == 0 && entry->adopted)
		r = json_add_bool(record, "adopted", true);
	if (r == 0 && entry->orphan)
		r = json_add_bool(record, "orphan", true);
	return r;
}

static int write_entry(const struct ledger_entry *entry, struct strbuf *out, struct error *error)
{
	autojson *record = json_object_new_object();
	struct json_object *ids = json_object_new_array();
	int r = record && ids ? 0 : -ENOMEM;

	if (r == 0)
		r = json_add_uint(record, "serial", entry->serial);
	if (r == 0)
		r = json_add_string(record, "resource", entry->resource);
	if (r == 0)
		r = json_add_int(record, "granted", entry->granted);
	if (r == 0)
		r = add_optional(entry, record);
	for (size_t i = 0; r == 0 && i < entry->ids.count; i++)
		r = json_append_string(ids, entry->ids.items[i]);
	if (r < 0)
		json_object_put(ids);
	else
		r = json_add(record, "ids", ids);
	return r < 0 ? error_no_memory(error) : write_line(record, out, error);
}

int ledger_to_text(const struct ledger *ledger, struct strbuf *out, struct error *error)
{
	autojson *head = json_object_new_object();
	int r;

	if (!head || json_add_uint(head, "ledger", VERSION) < 0 ||
	    json_add_uint(head, "next", ledger->next_serial) < 0 ||
	    json_add_uint(head, "entries", ledger->count) < 0)
		return error_no_memory(error);
	r = write_line(head, out, error);
	for (size_t i = 0; r == 0 && i < ledger->count; i++)
		r = write_entry(ledger->entries[i], out, error);
	if (r < 0)
		return r;
	if (strbuf_failed(out) == -ENAMETOOLONG)
		return error_set(error, E2BIG,
				 "the ledger of %zu grants is longer than %zu bytes; end some Pods",
				 ledger->count, out->maximum);
	return strbuf_failed(out) < 0 ? error_no_memory(error) : 0;
}

struct reading {
	struct ledger *ledger;
	const char *name;
	uint64_t now_ms;
	struct ledger_damage *damage;
	struct error *error;
	bool head;         /* the first line was read */
	unsigned good;     /* lines with the right checksum */
	uint64_t promised; /* entries, by the first line */
};

static void damaged(struct reading *reading, unsigned line, const char *what)
{
	if (!reading->damage->text[0])
		reason_text(reading->damage->text, sizeof(reading->damage->text),
			    "%s:%u: %s; what it held counts only as far as the kubelet's "
			    "checkpoint has it",
			    reading->name, line, what);
	reading->damage->records++;
}

static int read_head(struct reading *reading, struct json_object *record)
{
	uint64_t version = json_get_uint(record, "ledger", 0);

	if (version != VERSION)
		return error_set(
			reading->error, EINVAL,
			"'%s' is a ledger of version %" PRIu64
			", and this program reads version %d; use the gpupoold that wrote it, "
			"or move the file away",
			reading->name, version, VERSION);
	reading->head = true;
	reading->promised = json_get_uint(record, "entries", 0);
	uint64_t next = json_get_uint(record, "next", 1);

	if (next > reading->ledger->next_serial && next < UINT64_MAX)
		reading->ledger->next_serial = next;
	return 0;
}

/* 1: a copy of the text at KEY is in *ret; 0: there is none that may be. */
static int read_text(struct json_object *record, const char *key, char **ret)
{
	const char *text = json_get_string(record, key, NULL);

	*ret = NULL;
	if (!text || !*text)
		return 0;
	*ret = strdup(text);
	return *ret ? 1 : -ENOMEM;
}

static int read_ids(struct json_object *record, struct string_list *ret)
{
	struct json_object *ids = json_get(record, "ids");
	const char *twice;
	size_t count =
		json_object_is_type(ids, json_type_array) ? json_object_array_length(ids) : 0;

	if (count == 0 || count > LEDGER_ENTRY_IDS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		struct json_object *id = json_object_array_get_idx(ids, i);
		const char *text =
			json_object_is_type(id, json_type_string) ? json_object_get_string(id) : "";

		if (!*text)
			return -EINVAL;
		if (string_list_add(ret, text) < 0)
			return -ENOMEM;
	}
	return ledger_check_ids(ret, &twice);
}

/* 0, -EINVAL for what is no record, -ENOMEM. */
static int read_entry(struct reading *reading, struct json_object *record)
{
	cleanup(string_list_release) struct string_list ids = { .items = NULL };
	struct ledger *ledger = reading->ledger;
	const char *resource = json_get_string(record, "resource", "");
	struct json_object *granted = json_get(record, "granted");
	uint64_t serial = json_get_uint(record, "serial", 0);
	uint64_t last = ledger->count ? ledger->entries[ledger->count - 1]->serial : 0;
	int r = read_ids(record, &ids);

	if (r < 0)
		return r;
	if (!*resource || serial <= last || serial == UINT64_MAX)
		return -EINVAL;
	autoentry *entry = ledger_entry_new(resource, &ids);

	if (!entry || read_text(record, "podUID", &entry->pod_uid) < 0 ||
	    read_text(record, "container", &entry->container) < 0)
		return -ENOMEM;
	entry->serial = serial;
	entry->granted =
		json_object_is_type(granted, json_type_int) ? json_object_get_int64(granted) : 0;
	entry->adopted = json_object_get_boolean(json_get(record, "adopted"));
	entry->orphan = json_object_get_boolean(json_get(record, "orphan"));
	entry->earlier = true;
	entry->answered_ms = reading->now_ms;
	r = ledger_insert(ledger, entry);
	if (r < 0)
		return r == -E2BIG ? -EINVAL : r;
	TAKE_PTR(entry);
	if (serial >= ledger->next_serial)
		ledger->next_serial = serial + 1;
	return 0;
}

static int read_record(struct reading *reading, const char *text, size_t length, unsigned line)
{
	struct error why = ERROR_INIT;
	autojson *record = NULL;
	int r = json_parse(text, length, reading->name, &record_limits, &record, &why);

	if (r == -ENOMEM)
		return error_no_memory(reading->error);
	if (r < 0 || !json_object_is_type(record, json_type_object)) {
		damaged(reading, line, "a record that cannot be read");
		return 0;
	}
	if (!reading->head && json_get(record, "ledger"))
		return read_head(reading, record);
	r = read_entry(reading, record);
	if (r == -ENOMEM)
		return error_no_memory(reading->error);
	if (r < 0)
		damaged(reading, line, "a record that is no grant");
	return 0;
}

static bool checksum_is_right(const char *line, size_t length)
{
	char digits[CHECKSUM_MAX];

	if (length < CHECKSUM_MAX || line[CHECKSUM_MAX - 1] != ' ')
		return false;
	snprintf(digits, sizeof(digits), "%08x",
		 checksum(line + CHECKSUM_MAX, length - CHECKSUM_MAX));
	return memcmp(digits, line, CHECKSUM_MAX - 1) == 0;
}

static int read_line(struct reading *reading, const char *line, size_t length, bool last,
		     unsigned number)
{
	if (checksum_is_right(line, length)) {
		reading->good++;
		return read_record(reading, line + CHECKSUM_MAX, length - CHECKSUM_MAX, number);
	}
	if (last)
		reading->damage->torn = true;
	damaged(reading, number,
		last ? "the file ends in the middle of a record"
		     : "a record whose checksum is wrong");
	return 0;
}

static int read_lines(struct reading *reading, const char *text, size_t length)
{
	const char *at = text, *stop = text + length;
	int r = 0;

	for (unsigned number = 1; r == 0 && at < stop; number++) {
		const char *end = memchr(at, '\n', (size_t)(stop - at));

		r = read_line(reading, at, (size_t)((end ? end : stop) - at), !end, number);
		at = end ? end + 1 : stop;
	}
	if (r < 0)
		return r;
	if (!length) {
		reading->damage->torn = true;
		damaged(reading, 0, "the file is empty");
	}
	if (length && !reading->good)
		return error_set(
			reading->error, EINVAL,
			"'%s' is no ledger: none of its lines has the right checksum; move "
			"it away to start with what the kubelet's checkpoint says",
			reading->name);
	/* Cut at the end of a line: no checksum tells. */
	if (reading->promised > reading->ledger->count + reading->damage->records) {
		reading->damage->torn = true;
		damaged(reading, 0, "the file has fewer records than it says");
	}
	return 0;
}

int ledger_from_text(struct ledger *ledger, const char *text, size_t length, const char *name,
		     uint64_t now_ms, struct ledger_damage *ret_damage, struct error *error)
{
	struct reading reading = { .ledger = ledger,
				   .name = name,
				   .now_ms = now_ms,
				   .damage = ret_damage,
				   .error = error };

	*ret_damage = (struct ledger_damage){ 0 };
	int r = read_lines(&reading, text, length);

	if (r < 0)
		ledger_release(ledger);
	ledger->dirty = ret_damage->records > 0;
	return r;
}

int ledger_write(const char *path, const char *text, size_t length, struct error *error)
{
	int r = file_write_atomic(path, text, length, 0600, error);

	return r < 0 ? error_wrap(error, "the ledger of grants") : 0;
}

/* ".ledger.<16 digits>": what a write left that was killed (base/file.c). */
static bool is_left_over(const char *entry, const char *base)
{
	size_t length = strlen(base);

	return entry[0] == '.' && strncmp(entry + 1, base, length) == 0 &&
	       entry[1 + length] == '.' && strlen(entry + 2 + length) == 16 &&
	       strspn(entry + 2 + length, "0123456789abcdef") == 16;
}

static void sweep(const char *path)
{
	autostrbuf parent = STRBUF_INIT(4096);
	const char *slash = strrchr(path, '/');

	strbuf_add(&parent, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
	if (strbuf_failed(&parent) < 0)
		return;
	DIR *directory = opendir(parent.data);

	if (!directory)
		return;
	for (struct dirent *entry; (entry = readdir(directory));)
		if (is_left_over(entry->d_name, slash ? slash + 1 : path))
			(void)unlinkat(dirfd(directory), entry->d_name, 0);
	closedir(directory);
}

int ledger_read(struct ledger *ledger, const char *path, uint64_t now_ms,
		struct ledger_damage *ret_damage, struct error *error)
{
	autofree char *text = NULL;
	size_t length = 0;

	*ret_damage = (struct ledger_damage){ 0 };
	sweep(path);
	int r = file_read_regular(path, LEDGER_FILE_MAX, &text, &length, error);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	return ledger_from_text(ledger, text, length, path, now_ms, ret_damage, error);
}
