/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CDI specs, one device a card and mode. A kubelet replays the answers of before a reboot, so the specs
 * are there before it is told of a card; and anybody may remove or change a file below /var/run/cdi,
 * so they are compared at every look at the machine.
 */
#include "node/survey.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "formats/formats.h"
#include "node/plugin.h"

#define SPEC_TEXT_MAX (8u << 20)

/* The names are the peer's (internal/cdi of NVIDIA's plugin): vendor and class make the file. */
static const struct spec_row {
	const char *vendor, *class;
	enum cdi_mode mode;
	bool optional; /* a machine without such nodes has none, which is no fault */
} rows[SPEC_MAX] = {
	[SPEC_CARDS] = { PLUGIN_CDI_VENDOR, "gpu", CDI_AUTO, false },
	[SPEC_SLICES] = { PLUGIN_CDI_SLICE_VENDOR, PLUGIN_CDI_SLICE_CLASS, CDI_AUTO, false },
	[SPEC_GDS] = { PLUGIN_CDI_VENDOR, "gds", CDI_GDS, true },
	[SPEC_MOFED] = { PLUGIN_CDI_VENDOR, "mofed", CDI_MOFED, true },
	[SPEC_GDRCOPY] = { PLUGIN_CDI_VENDOR, "gdrcopy", CDI_GDRCOPY, true },
	[SPEC_IMEX] = { PLUGIN_CDI_VENDOR, "imex-channel", CDI_IMEX, true },
};

int specs_name(enum survey_spec spec, char *ret, size_t size)
{
	int length = snprintf(ret, size, "%s-%s.json", rows[spec].vendor, rows[spec].class);

	return length > 0 && (size_t)length < size ? 0 : -ENAMETOOLONG;
}

bool specs_is_ours(const char *name)
{
	char own[256];

	for (int i = 0; i < SPEC_MAX; i++)
		if (specs_name((enum survey_spec)i, own, sizeof(own)) == 0 &&
		    strcmp(own, name) == 0)
			return true;
	return false;
}

/* 1: the file is there with this text. */
static int file_has(const char *path, const struct strbuf *text)
{
	autofree char *there = NULL;
	size_t length = 0;
	int r = file_read_regular(path, SPEC_TEXT_MAX, &there, &length, NULL);

	return r == 0 && length == text->length && memcmp(there, text->data, length) == 0;
}

static int write_text(struct survey *survey, const char *path, const struct strbuf *text,
		      struct error *error)
{
	if (file_has(path, text))
		return 0;
	int r = file_make_directories(survey->wish.cdi_directory, 0755, error);
	/* Runtimes of every user read it. */
	if (r == 0)
		r = file_write_atomic(path, text->data, text->length, 0644, error);
	if (r == 0)
		survey->specs_written++;
	return r;
}

static int write_spec(struct survey *survey, enum survey_spec spec, struct error *error)
{
	const struct spec_row *row = &rows[spec];
	const struct cdi_options options = { .mode = row->mode,
					     .names = CDI_NAME_UUID,
					     .capabilities = CAPABILITY_ALL & ~CAPABILITY_COMPAT32,
					     .vendor = row->vendor,
					     .class = row->class,
					     .no_all = row->mode == CDI_AUTO,
					     .inventory = &survey->inventory,
					     .files = survey->files };
	autostrbuf path = STRBUF_INIT(PATH_MAX), text = STRBUF_INIT(SPEC_TEXT_MAX);
	char name[256];
	autojson *object = NULL;
	struct error own = ERROR_INIT;

	int r = specs_name(spec, name, sizeof(name));
	strbuf_addf(&path, "%s/%s", survey->wish.cdi_directory, name);
	if (r < 0 || strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the CDI directory's path is too long");
	r = cdi_generate(&options, &object, &survey->notes, &own);
	if (r == -ENODEV && row->optional)
		return 0;
	if (r == 0)
		r = cdi_spec_print(object, false, &text, &own);
	if (r < 0)
		return error_set(error, -r, "%s cannot be made: %s", path.data, own.message);
	return write_text(survey, path.data, &text, error);
}

int specs_write(struct survey *survey, struct error *error)
{
	int first = 0;

	for (int i = 0; i < SPEC_MAX; i++) {
		struct error own = ERROR_INIT;

		if (!(survey->wish.specs >> i & 1))
			continue;
		int r = write_spec(survey, (enum survey_spec)i, &own);
		if (r < 0 && first == 0)
			first = error_set(error, -r, "%s", own.message);
	}
	return first;
}
