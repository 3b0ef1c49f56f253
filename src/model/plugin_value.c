/* SPDX-License-Identifier: Apache-2.0 */
/* One value of plugin_keys: from a text, from JSON, to JSON. */
#include "model/plugin_keys.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DURATION_MS_MAX 9223372036854.0 /* Go's int64 of nanoseconds */

static void *key_field(const struct plugin_key *key, const struct plugin_config *config)
{
	return (char *)(uintptr_t)config + key->offset;
}

static void describe_place(const struct plugin_place *place, struct strbuf *out)
{
	if (place->source == PLUGIN_COMMAND_LINE)
		strbuf_addf(out, "--%s", place->name);
	else if (place->source == PLUGIN_ENVIRONMENT)
		strbuf_addf(out, "%s in the environment", place->name);
	else if (place->source == PLUGIN_FILE && place->line)
		strbuf_addf(out, "%s:%u: %s", place->file, place->line, place->name);
	else if (place->source == PLUGIN_FILE)
		strbuf_addf(out, "%s: %s", place->file, place->name);
	else
		strbuf_addf(out, "the default of %s", place->name);
}

int plugin_fail(const struct plugin_place *place, struct error *error, const char *format, ...)
{
	autostrbuf text = STRBUF_INIT(ERROR_MESSAGE_MAX * 2);
	va_list arguments;

	describe_place(place, &text);
	strbuf_adds(&text, ": ");
	va_start(arguments, format);
	strbuf_vaddf(&text, format, arguments);
	va_end(arguments);
	if (text.failed == ENOMEM)
		return error_no_memory(error);
	return error_set(error, place->source == PLUGIN_COMMAND_LINE ? EINVAL : EBADMSG, "%s",
			 text.data);
}

/* "--mig-strategy=none", "MIG_STRATEGY=none", "migStrategy: none". */
static const char *example(const struct plugin_key *key, const struct plugin_place *place,
			   const char *value, struct strbuf *out)
{
	const char *dot = key->path ? strrchr(key->path, '.') : NULL;

	if (place->source == PLUGIN_FILE && dot)
		strbuf_addf(out, "%s: %s", dot + 1, value);
	else if (place->source == PLUGIN_ENVIRONMENT)
		strbuf_addf(out, "%s=%s", place->name, value);
	else
		strbuf_addf(out, "--%s=%s", place->name, value);
	return out->data;
}

struct setting {
	const struct plugin_key *key;
	struct plugin_config *config;
	void *field;
	const struct plugin_place *place;
	struct error *error;
};

/* "PLACE: WHAT, not 'TEXT'; write for example ..." */
static int fail_value(const struct setting *set, const char *what, const char *text,
		      const char *value)
{
	autostrbuf line = STRBUF_INIT(ERROR_MESSAGE_MAX);

	return plugin_fail(set->place, set->error, "%s, not '%.80s'; write for example %s", what,
			   text, example(set->key, set->place, value, &line));
}

/* As strconv.ParseBool. */
static int parse_bool(const char *text, bool *ret)
{
	static const char *const words[] = { "1", "t", "T", "true",  "True",  "TRUE",
					     "0", "f", "F", "false", "False", "FALSE" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(words[i], text) != 0)
			continue;
		*ret = i < ARRAY_SIZE(words) / 2;
		return 0;
	}
	return -EINVAL;
}

static int set_bool(const struct setting *set, const char *text)
{
	bool value = false;

	/* The peer's library: a variable that is there and empty is false. */
	if (!(set->place->source == PLUGIN_ENVIRONMENT && !*text) && parse_bool(text, &value) < 0)
		return fail_value(set, "wants true or false", text, "true");
	*(bool *)set->field = value;
	return 0;
}

static int keep_text(const struct setting *set, const char *text)
{
	char **field = set->field;
	char *copy = strdup(text);

	if (!copy)
		return error_no_memory(set->error);
	free(*field);
	*field = copy;
	return 0;
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

static int set_text(const struct setting *set, const char *text)
{
	const char *value = set->key->fallback && *set->key->fallback ? set->key->fallback : "/...";

	if (!is_printable(text))
		return fail_value(set, "wants a text without control characters", text, value);
	if (!*text && set->key->minimum)
		return fail_value(set, "wants a text", text, value);
	if (*text && set->key->kind == KEY_PATH && *text != '/')
		return fail_value(set, "wants a path that begins with /", text, value);
	return keep_text(set, text);
}

static void choice_add(const char *choices, unsigned position, struct strbuf *out)
{
	while (position--)
		choices += strcspn(choices, "|") + 1;
	strbuf_add(out, choices, strcspn(choices, "|"));
}

void plugin_add_choices(const char *choices, struct strbuf *out)
{
	strbuf_adds(out, "one of ");
	for (; *choices; choices++)
		strbuf_add(out, *choices == '|' ? ", " : choices, *choices == '|' ? 2 : 1);
}

static int fail_choice(const struct setting *set, const char *text)
{
	autostrbuf what = STRBUF_INIT(256), first = STRBUF_INIT(64);

	strbuf_adds(&what, "wants ");
	plugin_add_choices(set->key->choices, &what);
	choice_add(set->key->choices, 0, &first);
	return fail_value(set, what.data, text, first.data);
}

static int set_choice(const struct setting *set, const char *text)
{
	int position = parse_choice(set->key->choices, text);
	unsigned value = (unsigned)position;

	if (position < 0)
		return fail_choice(set, text);
	memcpy(set->field, &value, sizeof(value));
	return 0;
}

static int set_lists(const struct setting *set, const char *text)
{
	int position = parse_choice(set->key->choices, text);

	if (position < 0)
		return fail_choice(set, text);
	*(unsigned *)set->field |= 1u << position;
	return 0;
}

static int set_list(const struct setting *set, const char *text)
{
	if (!is_printable(text))
		return fail_value(set, "wants a text without control characters", text, "a,b");
	if (!*text)
		return 0;
	return string_list_add(set->field, text) < 0 ? error_no_memory(set->error) : 0;
}

static int set_channel(const struct setting *set, const char *text)
{
	struct string_list *list = set->field;
	char *end = NULL;

	errno = 0;
	long long number = strtoll(text, &end, 0);
	if (errno || end == text || *end || isspace((unsigned char)*text))
		return fail_value(set, "wants numbers of IMEX channels", text, "0");
	if (number != 0 || list->count)
		return plugin_fail(set->place, set->error,
				   "IMEX channels can be none or 0 alone, as with NVIDIA's plugin; "
				   "leave '%.80s' out",
				   text);
	return string_list_add(list, "0") < 0 ? error_no_memory(set->error) : 0;
}

static int xid_add(const struct setting *set, uint64_t number)
{
	struct xid_list *list = set->field;
	uint64_t *item = VEC_ADD(&list->items, &list->count, &list->capacity);

	if (!item)
		return error_no_memory(set->error);
	*item = number;
	return 0;
}

/* The peer's rule: letter case is no matter, "all" and "xids" mean all, and so does 0. */
static int set_xid(const struct setting *set, const char *text)
{
	struct xid_list *list = set->field;
	uint64_t number = 0;

	if (strcasecmp(text, "all") == 0 || strcasecmp(text, "xids") == 0 ||
	    strcmp(text, "0") == 0) {
		list->all = true;
		return 0;
	}
	if (parse_uint(text, 0, UINT64_MAX, &number) == 0)
		return xid_add(set, number);
	if (set->place->source != PLUGIN_ENVIRONMENT)
		return fail_value(set, "wants numbers of XIDs, or all", text, "[13, 31]");
	if (*text &&
	    string_list_addf(
		    &set->config->notes,
		    "%s in the environment: '%.80s' is no number of an XID and is left out",
		    set->place->name, text) < 0)
		return error_no_memory(set->error);
	return 0;
}

/* One number with its unit, as Go's time.ParseDuration; moves *at. */
static int duration_part(const char **at, double *ret_ms)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = { { "ns", 1e-6 }, { "us", 1e-3 }, { "µs", 1e-3 }, { "μs", 1e-3 },
		      { "ms", 1 },    { "s", 1e3 },   { "m", 6e4 },   { "h", 3.6e6 } };
	double number = 0, scale = 1;
	bool digits = false, point = false;

	for (; isdigit((unsigned char)**at) || (**at == '.' && !point); (*at)++) {
		if (**at == '.') {
			point = true;
			continue;
		}
		digits = true;
		scale *= point ? 0.1 : 1;
		number = point ? number + (**at - '0') * scale : number * 10 + (**at - '0');
	}
	size_t length = strcspn(*at, ".0123456789");
	for (size_t i = 0; digits && i < ARRAY_SIZE(units); i++) {
		if (strlen(units[i].name) != length || strncmp(*at, units[i].name, length) != 0)
			continue;
		*at += length;
		*ret_ms += number * units[i].ms;
		return 0;
	}
	return -EINVAL;
}

static int duration_parse(const char *text, double *ret_ms)
{
	*ret_ms = 0;
	text += *text == '+';
	if (strcmp(text, "0") == 0)
		return 0;
	do {
		if (duration_part(&text, ret_ms) < 0)
			return -EINVAL;
	} while (*text);
	return *ret_ms > DURATION_MS_MAX ? -ERANGE : 0;
}

static void duration_format(unsigned long ms, struct strbuf *out)
{
	if (ms == ULONG_MAX)
		strbuf_adds(out, "infinite");
	else if (ms && ms % 3600000 == 0)
		strbuf_addf(out, "%luh", ms / 3600000);
	else if (ms && ms % 60000 == 0)
		strbuf_addf(out, "%lum", ms / 60000);
	else if (ms % 1000)
		strbuf_addf(out, "%lums", ms);
	else
		strbuf_addf(out, "%lus", ms / 1000);
}

static int set_duration_ms(const struct setting *set, const char *text, double ms)
{
	autostrbuf what = STRBUF_INIT(128);

	if (ms >= (double)set->key->minimum && ms <= (double)set->key->maximum) {
		*(unsigned long *)set->field = (unsigned long)(ms + 0.5);
		return 0;
	}
	strbuf_adds(&what, "wants a time from ");
	duration_format(set->key->minimum, &what);
	strbuf_adds(&what, " to ");
	duration_format(set->key->maximum, &what);
	return fail_value(set, what.data, text, set->key->fallback);
}

static int set_duration(const struct setting *set, const char *text)
{
	double ms;

	if (strcmp(text, "infinite") == 0 && set->key->maximum == ULONG_MAX) {
		*(unsigned long *)set->field = ULONG_MAX;
		return 0;
	}
	if (duration_parse(text, &ms) < 0)
		return fail_value(set, "wants a time with its unit", text, set->key->fallback);
	return set_duration_ms(set, text, ms);
}

static int set_address(const struct setting *set, const char *text)
{
	char host[PLUGIN_HOST_MAX];
	unsigned port;

	if (*text && parse_address(text, host, sizeof(host), &port) < 0)
		return fail_value(set, "wants an address and a port", text, "127.0.0.1:9400");
	return keep_text(set, text);
}

static const struct {
	int (*set)(const struct setting *set, const char *text);
	const char *wants; /* of the file */
	bool list;
} kinds[] = {
	[KEY_BOOL] = { set_bool, "true or false", false },
	[KEY_TEXT] = { set_text, "a text", false },
	[KEY_PATH] = { set_text, "a path", false },
	[KEY_CHOICE] = { set_choice, "a word", false },
	[KEY_LISTS] = { set_lists, "a word or a list of words", true },
	[KEY_LIST] = { set_list, "a text or a list of texts", true },
	[KEY_CHANNELS] = { set_channel, "a list of numbers", true },
	[KEY_XIDS] = { set_xid, "all, or a list of numbers", true },
	[KEY_DURATION] = { set_duration, "a time with its unit, as 5s", false },
	[KEY_ADDRESS] = { set_address, "a text", false },
};

/* A list that is set anew loses what it had; the fields of others are replaced as they are set. */
static void clear_list(const struct plugin_key *key, struct plugin_config *config)
{
	void *field = key_field(key, config);

	if (key->kind == KEY_LISTS)
		*(unsigned *)field = 0;
	if (key->kind == KEY_LIST || key->kind == KEY_CHANNELS)
		string_list_release(field);
	if (key->kind == KEY_XIDS) {
		free(((struct xid_list *)field)->items);
		*(struct xid_list *)field = (struct xid_list){ .all = false };
	}
}

void plugin_key_release(const struct plugin_key *key, struct plugin_config *config)
{
	bool text = key->kind == KEY_TEXT || key->kind == KEY_PATH || key->kind == KEY_ADDRESS;
	char **field = key_field(key, config);

	clear_list(key, config);
	if (!text)
		return;
	free(*field);
	*field = NULL;
}

static int check_lists(const struct setting *set)
{
	unsigned lists = *(const unsigned *)set->field;

	for (unsigned alone = DEVICE_LIST_KUBELET; alone <= DEVICE_LIST_AUTO; alone <<= 1)
		if ((lists & alone) && lists != alone)
			return plugin_fail(set->place, set->error,
					   "%s does not go together with others, since it answers "
					   "everything itself; name it alone, or leave it out",
					   alone == DEVICE_LIST_AUTO ? "auto" : "kubelet");
	return 0;
}

static int key_done(const struct setting *set)
{
	size_t row = (size_t)(set->key - plugin_keys);

	int r = set->key->kind == KEY_LISTS ? check_lists(set) : 0;

	if (r < 0)
		return r;
	set->config->sources[row] = (unsigned char)set->place->source;
	return 0;
}

/* The items of a comma list, without the blanks around them. */
static int set_split(const struct setting *set, const char *text)
{
	bool channels = set->key->kind == KEY_CHANNELS;
	int r = 0;

	/* The peer's library takes an empty variable for no list of numbers, but for a list of one
	 * empty text. */
	while (r == 0 && !(channels && !*text)) {
		size_t length = strcspn(text, ",");
		const char *end = text + length, *next = text + length;

		while (text < end && isspace((unsigned char)*text))
			text++;
		while (end > text && isspace((unsigned char)end[-1]))
			end--;
		autofree char *item = strndup(text, (size_t)(end - text));
		r = item ? kinds[set->key->kind].set(set, item) : error_no_memory(set->error);
		if (!*next)
			break;
		text = next + 1;
	}
	return r;
}

int plugin_key_set_text(const struct plugin_key *key, struct plugin_config *config,
			const char *text, bool add, const struct plugin_place *place,
			struct error *error)
{
	const struct setting set = { key, config, key_field(key, config), place, error };
	int r;

	if (!kinds[key->kind].list) {
		r = kinds[key->kind].set(&set, text);
	} else {
		if (!add)
			clear_list(key, config);
		r = set_split(&set, text);
	}
	return r < 0 ? r : key_done(&set);
}

/* Is VALUE of the type that an item of this kind has in the file? */
static bool item_fits(enum plugin_kind kind, struct json_object *value)
{
	bool integer = json_object_is_type(value, json_type_int);
	bool string = json_object_is_type(value, json_type_string);

	if (kind == KEY_BOOL)
		return json_object_is_type(value, json_type_boolean);
	if (kind == KEY_CHANNELS)
		return integer;
	return string || (kind == KEY_XIDS && integer);
}

static int set_item(const struct setting *set, struct json_object *value)
{
	bool integer = json_object_is_type(value, json_type_int);
	bool number = integer || json_object_is_type(value, json_type_double);
	const char *text = value ? json_object_get_string(value) : "null";

	if (!text)
		return error_no_memory(set->error);
	/* A bare number of a time is nanoseconds to the peer. */
	if (set->key->kind == KEY_DURATION && number)
		return set_duration_ms(set, text, json_object_get_double(value) / 1e6);
	if (!item_fits(set->key->kind, value))
		return plugin_fail(set->place, set->error, "wants %s, not %.80s",
				   kinds[set->key->kind].wants, text);
	return kinds[set->key->kind].set(set, text);
}

int plugin_key_set_json(const struct plugin_key *key, struct plugin_config *config,
			struct json_object *value, const struct plugin_place *place,
			struct error *error)
{
	const struct setting set = { key, config, key_field(key, config), place, error };
	bool array = json_object_is_type(value, json_type_array);
	int r = 0;

	if (!value)
		return 0;
	if (!kinds[key->kind].list)
		return (r = set_item(&set, value)) < 0 ? r : key_done(&set);
	clear_list(key, config);
	for (size_t i = 0; array && r == 0 && i < json_object_array_length(value); i++)
		r = set_item(&set, json_object_array_get_idx(value, i));
	if (!array && key->kind == KEY_CHANNELS)
		return plugin_fail(place, error, "wants a list of numbers, as [0]");
	if (!array)
		r = set_item(&set, value);
	if (r == 0 && key->kind == KEY_LISTS && !*(unsigned *)set.field)
		return plugin_fail(place, error,
				   "the list is empty; name a strategy, or remove "
				   "the key");
	return r < 0 ? r : key_done(&set);
}

static struct json_object *text_to_json(const struct strbuf *text)
{
	return text->failed ? NULL : json_object_new_string(text->data);
}

static struct json_object *lists_to_json(const struct plugin_key *key, unsigned lists)
{
	autojson *array = json_object_new_array();

	for (unsigned i = 0; array && (1u << i) <= DEVICE_LIST_AUTO; i++) {
		autostrbuf word = STRBUF_INIT(64);

		if (!(lists & 1u << i))
			continue;
		choice_add(key->choices, i, &word);
		if (json_append(array, text_to_json(&word)) < 0)
			return NULL;
	}
	return TAKE_PTR(array);
}

/* A channel is 0, or it would not be there. */
static struct json_object *strings_to_json(const struct string_list *list, bool channels)
{
	autojson *array = json_object_new_array();

	for (size_t i = 0; array && i < list->count; i++)
		if (json_append(array, channels ? json_object_new_uint64(0)
						: json_object_new_string(list->items[i])) < 0)
			return NULL;
	return TAKE_PTR(array);
}

static struct json_object *xids_to_json(const struct xid_list *list)
{
	if (list->all && list->count == 0)
		return json_object_new_string("all");
	autojson *array = json_object_new_array();
	if (array && list->all && json_append_string(array, "all") < 0)
		return NULL;
	for (size_t i = 0; array && i < list->count; i++)
		if (json_append(array, json_object_new_uint64(list->items[i])) < 0)
			return NULL;
	return TAKE_PTR(array);
}

struct json_object *plugin_key_to_json(const struct plugin_key *key,
				       const struct plugin_config *config)
{
	autostrbuf text = STRBUF_INIT(256);
	const void *field = key_field(key, config);
	unsigned number;

	switch (key->kind) {
	case KEY_BOOL:
		return json_object_new_boolean(*(const bool *)field);
	case KEY_LISTS:
		return lists_to_json(key, *(const unsigned *)field);
	case KEY_LIST:
	case KEY_CHANNELS:
		return strings_to_json(field, key->kind == KEY_CHANNELS);
	case KEY_XIDS:
		return xids_to_json(field);
	case KEY_CHOICE:
		memcpy(&number, field, sizeof(number));
		choice_add(key->choices, number, &text);
		return text_to_json(&text);
	case KEY_DURATION:
		duration_format(*(const unsigned long *)field, &text);
		return text_to_json(&text);
	case KEY_TEXT:
	case KEY_PATH:
	case KEY_ADDRESS:
		break;
	}
	return json_object_new_string(*(char *const *)field);
}
