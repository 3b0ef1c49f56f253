/* SPDX-License-Identifier: Apache-2.0 */
/* The table behind plugin_config.h, and one value of it, whichever source it comes from. */
#pragma once

#include "model/plugin_config.h"

enum plugin_kind {
	KEY_BOOL,     /* bool */
	KEY_TEXT,     /* char * */
	KEY_PATH,     /* char *, absolute */
	KEY_CHOICE,   /* an enum: the position in choices */
	KEY_LISTS,    /* unsigned: bits of enum device_list, by their position in choices */
	KEY_LIST,     /* struct string_list */
	KEY_CHANNELS, /* struct string_list of numbers: [] or [0] */
	KEY_XIDS,     /* struct xid_list */
	KEY_DURATION, /* unsigned long, milliseconds; ULONG_MAX is infinite */
	KEY_ADDRESS,  /* char *, "HOST:PORT" */
};

enum plugin_group { /* of --help, in this order */
		    GROUP_LISTED,
		    GROUP_ANSWER,
		    GROUP_HOST,
		    GROUP_HEALTH,
		    GROUP_FILES,
		    GROUP_IDLE,
		    GROUP_MAX,
};

struct plugin_key {
	const char *path;         /* in the file; NULL: not there */
	const char *flags[3];     /* without dashes, the name first; ends with NULL */
	const char *variables[3]; /* of the environment, the first that is set counts */
	enum plugin_kind kind;
	enum plugin_group group;
	size_t offset;                  /* in struct plugin_config */
	const char *choices;            /* "none|single|mixed" */
	const char *fallback;           /* the default, as on the command line */
	unsigned long minimum, maximum; /* KEY_DURATION; texts: minimum 1 forbids "" */
	const char *argument, *help;    /* as in base/option.h */
	const char *idle;               /* why it has no effect here, for a note; NULL: it has */
};

extern const struct plugin_key plugin_keys[];
extern const unsigned plugin_key_count;

/* What else the command line knows. */
struct plugin_switch {
	const char *name;
	char letter;
	enum plugin_action action;
	const char *help; /* NULL: not in --help */
};

extern const struct plugin_switch plugin_switches[]; /* ends with a row without a name */
extern const char *const plugin_group_titles[GROUP_MAX];

/* Where a value stands, for messages. */
struct plugin_place {
	enum plugin_source source;
	const char *file; /* PLUGIN_FILE */
	unsigned line;    /* 0 unknown */
	const char *name; /* "flags.migStrategy", "MIG_STRATEGY", "mig-strategy" */
};

/* "PLACE: " and the sentence; -EINVAL for the command line, else -EBADMSG. */
int plugin_fail(const struct plugin_place *place, struct error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The row with that path in the file, or NULL. */
const struct plugin_key *plugin_key_find(const char *path);

/* "one of none, single, mixed" */
void plugin_add_choices(const char *choices, struct strbuf *out);

/*
 * Sets the value of KEY in CONFIG from one text, which lists split at commas, as the peer's do, and marks the
 * source. ADD: the list keeps what it has.
 */
int plugin_key_set_text(const struct plugin_key *key, struct plugin_config *config,
			const char *text, bool add, const struct plugin_place *place,
			struct error *error);
/* From the file; a JSON null is as if the key were not there. */
int plugin_key_set_json(const struct plugin_key *key, struct plugin_config *config,
			struct json_object *value, const struct plugin_place *place,
			struct error *error);
/* The value in the form of the file; NULL when out of memory. */
struct json_object *plugin_key_to_json(const struct plugin_key *key,
				       const struct plugin_config *config);
void plugin_key_release(const struct plugin_key *key, struct plugin_config *config);

/* Reads the file into CONFIG, which holds the defaults. */
int plugin_file_read(const char *path, bool no_pipe, struct plugin_config *config,
		     struct error *error);

/* What of the file no row of the table takes. */
struct plugin_section {
	const char *path;
	int (*take)(struct plugin_config *config, struct json_object *value,
		    const struct plugin_place *place, struct error *error);
	const char *help;
};
extern const struct plugin_section plugin_sections[]; /* ends with a row without a path */

int plugin_sections_to_json(const struct plugin_config *config, struct json_object *root);
void plugin_sections_release(struct plugin_config *config);
/* Adds VALUE, which it owns, at PATH of ROOT and makes the objects on the way. 0 or -ENOMEM. */
int plugin_json_add_at(struct json_object *root, const char *path, struct json_object *value);
