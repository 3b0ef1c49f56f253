/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that make and compare CDI specs share. Inside this folder only. */
#pragma once

#include "formats/formats.h"
#include "inject/plan.h"
#include "inject/request.h"

/* A spec that is being made. */
struct making {
	const struct cdi_options *options;
	enum cdi_mode mode;          /* not auto */
	struct json_object *devices; /* of the spec */
	struct json_object *common;  /* containerEdits of the spec */
	unsigned gated;              /* enum gated, of the mode */
	bool *found;                 /* one an id of the options: something is called so */
	struct string_list *notes;
	struct error *error;
};

/* Each 0 or -errno with making->error. */
int making_note(struct making *making, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A device, whose containerEdits are in *ret; owned by the spec. */
int making_device(struct making *making, const char *name, struct json_object **ret);
int making_node(struct making *making, struct json_object *edits, const char *path,
		const struct driver_node *node);
int making_variable(struct making *making, struct json_object *edits, const char *name,
		    const char *value);
int making_mount(struct making *making, struct json_object *edits, const char *source,
		 const char *path, const char *options);

/* The devices of a mode: none, when the machine has none. */
int cdi_add_cards(struct making *making);
int cdi_add_management(struct making *making);
int cdi_add_gated(struct making *making);
int cdi_add_channels(struct making *making);
int cdi_add_wsl(struct making *making);

/* Whether what has these NAMES ("" or NULL: unknown) is asked for; notes what was found. */
bool making_wants(struct making *making, const char *const *names, size_t count);

/*
 * The stamp: "driver:535.129.03,mig:0123456789abcdef", then, when it is not the default, for which
 * capabilities, and whether only some cards were asked for.
 */
#define CDI_STAMP_DRIVER "driver:"
#define CDI_STAMP_MIG    ",mig:"
#define CDI_STAMP_FOR    ",for:" /* words with '+' between them */
#define CDI_STAMP_SOME   ",some"

#define CDI_CAPABILITIES (CAPABILITY_ALL & ~CAPABILITY_COMPAT32)
