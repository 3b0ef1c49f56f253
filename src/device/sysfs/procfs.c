/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sysfs/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/sysfs/tree.h"

#define PROCFS_TEXT_MAX 65536u

DEFINE_CLEANUP(DIR, closedir)

int procfs_parse_version(const char *text, char ret[static DEVICE_VERSION_MAX])
{
	/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat ...": the first word of
	 * digits and at least one dot. */
	size_t line = strcspn(text, "\n");

	for (size_t at = 0; at < line;) {
		at += strspn(text + at, " \t");
		size_t word = strcspn(text + at, " \t\n");
		size_t digits = strspn(text + at, "0123456789.");
		bool is_version = digits == word && isdigit((unsigned char)text[at]) &&
				  memchr(text + at, '.', word) != NULL &&
				  isdigit((unsigned char)text[at + word - 1]);

		if (is_version && word < DEVICE_VERSION_MAX) {
			memcpy(ret, text + at, word);
			ret[word] = '\0';
			return 0;
		}
		at += word ? word : 1;
	}
	return -EINVAL;
}

static void field_copy(char *to, size_t size, const char *value, size_t length)
{
	if (length >= size)
		length = size - 1;
	for (size_t i = 0; i < length; i++)
		to[i] = (value[i] >= ' ' && value[i] <= '~') ? value[i] : '?';
	to[length] = '\0';
}

static bool value_is(const char *value, size_t length, const char *text)
{
	return length == strlen(text) && strncasecmp(value, text, length) == 0;
}

static void information_uuid(struct procfs_card *card, const char *value, size_t length)
{
	char uuid[CARD_UUID_MAX];

	/* Old drivers print "GPU-????????-..." until the card was opened once. */
	field_copy(uuid, sizeof(uuid), value, length);
	if (card_uuid_is_valid(uuid))
		memcpy(card->uuid, uuid, sizeof(uuid));
}

static void information_model(struct procfs_card *card, const char *value, size_t length)
{
	field_copy(card->model, sizeof(card->model), value, length);
}

static void information_minor(struct procfs_card *card, const char *value, size_t length)
{
	char text[16];
	uint64_t minor;

	field_copy(text, sizeof(text), value, length);
	if (parse_uint(text, 0, 255, &minor) == 0) {
		card->minor = (unsigned)minor;
		card->has_minor = true;
	}
}

static void information_excluded(struct procfs_card *card, const char *value, size_t length)
{
	card->excluded = value_is(value, length, "yes");
}

/* How to add a fact: one row here and one field in struct procfs_card. */
static const struct information_row {
	const char *name;
	void (*read)(struct procfs_card *card, const char *value, size_t length);
} information_rows[] = {
	{ "GPU UUID", information_uuid },
	{ "Model", information_model },
	{ "Device Minor", information_minor },
	{ "GPU Excluded", information_excluded },
};

void procfs_parse_information(const char *text, struct procfs_card *ret)
{
	while (*text) {
		size_t line = strcspn(text, "\n");
		const char *colon = memchr(text, ':', line);

		for (size_t i = 0; colon && i < ARRAY_SIZE(information_rows); i++) {
			const struct information_row *row = &information_rows[i];
			const char *value = colon + 1, *end = text + line;

			if (!value_is(text, (size_t)(colon - text), row->name))
				continue;
			while (value < end && isspace((unsigned char)*value))
				value++;
			while (end > value && isspace((unsigned char)end[-1]))
				end--;
			if (end > value)
				row->read(ret, value, (size_t)(end - value));
		}
		text += line + (text[line] == '\n');
	}
}

bool procfs_devices_has_nvidia(const char *text)
{
	/* Character devices come first; "195 nvidia" or, in older drivers, "195 nvidia-frontend". */
	while (*text && strncmp(text, "Block devices:", 14) != 0) {
		size_t line = strcspn(text, "\n");
		const char *at = text + strspn(text, " ");

		if (strncmp(at, "195 ", 4) == 0) {
			const char *name = at + 4;
			size_t length = (size_t)(text + line - name);

			if (value_is(name, length, "nvidia") ||
			    value_is(name, length, "nvidia-frontend"))
				return true;
		}
		text += line + (text[line] == '\n');
	}
	return false;
}

static int card_compare(const void *left, const void *right)
{
	/* The domain may have more than 4 digits: compare as numbers, not as text. */
	const struct procfs_card *cards[2] = { left, right };
	unsigned long domain[2];

	for (int i = 0; i < 2; i++)
		domain[i] = strtoul(cards[i]->bus_id, NULL, 16);
	if (domain[0] != domain[1])
		return domain[0] < domain[1] ? -1 : 1;
	return strcmp(cards[0]->bus_id, cards[1]->bus_id);
}

static int procfs_read_cards(const char *base, struct procfs *procfs, struct error *error)
{
	autofree char *directory = NULL;
	int r = tree_path(&directory, error, "%s/gpus", base);

	if (r < 0)
		return r;
	cleanup(closedirp) DIR *stream = opendir(directory);
	if (!stream)
		return 0; /* a module without cards */
	for (struct dirent *entry; (entry = readdir(stream));) {
		struct procfs_card *card = &procfs->cards[procfs->count];
		size_t length = strlen(entry->d_name);

		if (entry->d_name[0] == '.' || procfs->count == DEVICE_CARDS_MAX ||
		    length >= sizeof(card->folder) ||
		    bus_id_normalise(entry->d_name, card->bus_id) < 0)
			continue;
		memcpy(card->folder, entry->d_name, length + 1);
		procfs->count++;
	}
	qsort(procfs->cards, procfs->count, sizeof(procfs->cards[0]), card_compare);
	return 0;
}

/* Order-free mark of one path: FNV-1a, 64 bits. */
static uint64_t path_mark(uint64_t mark, const char *text)
{
	for (; *text; text++)
		mark = (mark ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return mark;
}

static void mig_directory_mark(const char *path, unsigned depth, uint64_t mark, uint64_t *sum)
{
	static const char *const prefixes[] = { "gpu", "mig", "gi", "ci" };
	cleanup(closedirp) DIR *stream = opendir(path);

	if (!stream)
		return;
	for (struct dirent *entry; (entry = readdir(stream));) {
		autofree char *below = NULL;

		if (strncmp(entry->d_name, prefixes[depth], strlen(prefixes[depth])) != 0 ||
		    tree_path(&below, NULL, "%s/%s", path, entry->d_name) < 0)
			continue;
		uint64_t own = path_mark(mark, entry->d_name);
		if (depth >= 2) /* an instance, not the card's own directory */
			*sum += own;
		if (depth + 1 < ARRAY_SIZE(prefixes))
			mig_directory_mark(below, depth + 1, own, sum);
	}
}

static int read_stamps(const char *base, struct procfs_stamps *ret, struct error *error)
{
	autofree char *version = NULL, *capabilities = NULL;

	if (tree_read(&version, PROCFS_TEXT_MAX, "%s/version", base) == 0)
		(void)procfs_parse_version(version, ret->version);
	int r = tree_path(&capabilities, error, "%s/capabilities", base);
	if (r == 0)
		mig_directory_mark(capabilities, 0, UINT64_C(0xcbf29ce484222325),
				   &ret->mig_generation);
	return r;
}

int procfs_read_stamps(const char *driver_root, struct procfs_stamps *ret, struct error *error)
{
	autofree char *base = NULL;
	int r = tree_choose(driver_root, "/proc/driver/nvidia", &base, error);

	*ret = (struct procfs_stamps){ 0 };
	return r < 0 ? r : read_stamps(base, ret, error);
}

int procfs_read(const char *driver_root, struct procfs *ret, struct error *error)
{
	autofree char *base = NULL;
	struct procfs_stamps stamps = { 0 };
	int r;

	memset(ret, 0, sizeof(*ret));
	r = tree_choose(driver_root, "/proc/driver/nvidia", &base, error);
	if (r < 0)
		return r;
	ret->present = access(base, F_OK) == 0;
	if (!ret->present)
		return 0;
	memcpy(ret->base, base, strlen(base) + 1); /* a path of tree_choose() fits */
	r = read_stamps(base, &stamps, error);
	if (r < 0)
		return r;
	memcpy(ret->version, stamps.version, sizeof(ret->version));
	ret->mig_generation = stamps.mig_generation;
	return procfs_read_cards(base, ret, error);
}

void procfs_read_information(struct procfs *procfs)
{
	for (size_t i = 0; i < procfs->count; i++) {
		autofree char *text = NULL;

		/* A card whose file cannot be read still exists; it only has no name. */
		if (tree_read(&text, PROCFS_TEXT_MAX, "%s/gpus/%s/information", procfs->base,
			      procfs->cards[i].folder) == 0)
			procfs_parse_information(text, &procfs->cards[i]);
	}
}

const struct procfs_card *procfs_find(const struct procfs *procfs, const char *bus_id)
{
	for (size_t i = 0; i < procfs->count; i++)
		if (strcmp(procfs->cards[i].bus_id, bus_id) == 0)
			return &procfs->cards[i];
	return NULL;
}

bool procfs_kernel_agrees(const char *version)
{
	autofree char *devices = NULL, *text = NULL;
	char module[DEVICE_VERSION_MAX];

	return tree_read(&devices, PROCFS_TEXT_MAX, "/proc/devices") == 0 &&
	       procfs_devices_has_nvidia(devices) &&
	       tree_read(&text, PROCFS_TEXT_MAX, "/proc/driver/nvidia/version") == 0 &&
	       procfs_parse_version(text, module) == 0 && strcmp(module, version) == 0;
}

int procfs_boot_id(char *ret, size_t size, struct error *error)
{
	autofree char *text = NULL;
	int r = tree_read(&text, 128, "/proc/sys/kernel/random/boot_id");

	if (r < 0)
		return error_set(error, -r,
				 "cannot read /proc/sys/kernel/random/boot_id; mount /proc");
	field_copy(ret, size, text, strcspn(text, "\n"));
	return 0;
}
