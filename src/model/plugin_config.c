/* SPDX-License-Identifier: Apache-2.0 */
/* The four sources, one after the other; what is asked of the result. */
#include "model/plugin_keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OWN_VARIABLE "GPUPOOL_"

/* The row of the table whose value stands at OFFSET. */
static unsigned row_of(size_t offset)
{
	unsigned i = 0;

	while (plugin_keys[i].offset != offset)
		i++;
	return i;
}

static unsigned file_key(void)
{
	return row_of(offsetof(struct plugin_config, config_file));
}

static int set_defaults(struct plugin_config *config, struct error *error)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < plugin_key_count; i++) {
		const struct plugin_key *key = &plugin_keys[i];
		const struct plugin_place place = { .source = PLUGIN_DEFAULT,
						    .name = key->path ? key->path : key->flags[0] };

		if (key->fallback)
			r = plugin_key_set_text(key, config, key->fallback, false, &place, error);
	}
	return r;
}

static const char *find_variable(char *const *environment, const char *name)
{
	size_t length = strlen(name);

	for (; environment && *environment; environment++)
		if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

/*
 * The text of the first variable of KEY that is set, or NULL. Empty counts, as with the peer's library,
 * but for a list of numbers; of our own variables an empty one is none.
 */
static const char *environment_text(const struct plugin_key *key, char *const *environment,
				    const char **ret_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(key->variables) && key->variables[i]; i++) {
		const char *name = key->variables[i], *text = find_variable(environment, name);
		bool own = strncmp(name, OWN_VARIABLE, strlen(OWN_VARIABLE)) == 0;

		if (!text || (own && !*text))
			continue;
		*ret_name = name;
		return key->kind == KEY_CHANNELS && !*text ? NULL : text;
	}
	return NULL;
}

static int take_environment(const struct plugin_key *key, struct plugin_config *config,
			    char *const *environment, struct error *error)
{
	struct plugin_place place = { .source = PLUGIN_ENVIRONMENT };
	const char *text = environment_text(key, environment, &place.name);

	return text ? plugin_key_set_text(key, config, text, false, &place, error) : 0;
}

/* A list that is given several times on the command line grows there. */
static int take_flags(const struct plugin_flags *flags, int only, struct plugin_config *config,
		      struct error *error)
{
	int r = 0;

	for (size_t i = 0; flags && r == 0 && i < flags->count; i++) {
		const struct plugin_key *key = &plugin_keys[flags->items[i].key];
		const struct plugin_place place = { .source = PLUGIN_COMMAND_LINE,
						    .name = key->flags[0] };
		bool again = config->sources[flags->items[i].key] == PLUGIN_COMMAND_LINE;

		if (only < 0 || (unsigned)only == flags->items[i].key)
			r = plugin_key_set_text(key, config, flags->items[i].text, again, &place,
						error);
	}
	return r;
}

/* What is wrong on the command line is said before the file is looked at. */
static int check_flags(const struct plugin_flags *flags, struct error *error)
{
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	int r = set_defaults(&config, error);

	return r < 0 ? r : take_flags(flags, -1, &config, error);
}

/* The name of the file into config->config_file; "" when there is none to read. */
static int find_file(const struct plugin_inputs *inputs, struct plugin_config *config,
		     struct error *error)
{
	const unsigned row = file_key();
	const struct plugin_place place = { .source = PLUGIN_DEFAULT, .name = "config-file" };

	int r = take_environment(&plugin_keys[row], config, inputs->environment, error);
	if (r == 0)
		r = take_flags(inputs->flags, (int)row, config, error);
	if (r < 0 || config->sources[row] != PLUGIN_DEFAULT || !inputs->usual_file ||
	    (access(inputs->usual_file, F_OK) < 0 && errno == ENOENT))
		return r;
	return plugin_key_set_text(&plugin_keys[row], config, inputs->usual_file, false, &place,
				   error);
}

static int take_all(const struct plugin_inputs *inputs, struct plugin_config *config,
		    struct error *error)
{
	int r = find_file(inputs, config, error);

	if (r == 0 && *config->config_file)
		r = plugin_file_read(config->config_file, inputs->no_pipe, config, error);
	for (unsigned i = 0; r == 0 && i < plugin_key_count; i++)
		if (i != file_key())
			r = take_environment(&plugin_keys[i], config, inputs->environment, error);
	return r < 0 ? r : take_flags(inputs->flags, -1, config, error);
}

/* -ENOMEM, or whether the two configurations have the same value of KEY. */
static int same_value(const struct plugin_key *key, const struct plugin_config *one,
		      const struct plugin_config *other)
{
	autojson *left = plugin_key_to_json(key, one), *right = plugin_key_to_json(key, other);

	return left && right ? json_object_equal(left, right) : -ENOMEM;
}

/* A key that was given another value than it has, and does nothing, is said to. */
static int note_idle(struct plugin_config *config, struct error *error)
{
	static const char *const sources[] = { "default", "the file", "the environment",
					       "the command line" };
	cleanup(plugin_config_release) struct plugin_config defaults = { .notes = { 0 } };
	int r = set_defaults(&defaults, error);

	for (unsigned i = 0; r == 0 && i < plugin_key_count; i++) {
		const struct plugin_key *key = &plugin_keys[i];
		unsigned source = config->sources[i];
		bool by_path = source == PLUGIN_FILE || !key->flags[0];

		if (!key->idle || source == PLUGIN_DEFAULT)
			continue;
		int same = same_value(key, config, &defaults);
		if (same < 0 ||
		    (!same && string_list_addf(&config->notes, "%s (%s) has no effect: %s",
					       by_path ? key->path : key->flags[0], sources[source],
					       key->idle) < 0))
			r = error_no_memory(error);
	}
	return r;
}

static bool shares_whole_cards(const struct plugin_sharing *sharing)
{
	for (size_t i = 0; i < sharing->count; i++)
		if (strcmp(sharing->resources[i].name, "nvidia.com/gpu") == 0)
			return true;
	return false;
}

/* A mode that another key contradicts. PLACE names where the mode was said. */
static int check_mode(const struct plugin_config *config, enum card_mode mode,
		      const struct plugin_place *place, struct error *error)
{
	if (mode == CARD_MODE_MIG && config->mig_strategy == MIG_STRATEGY_NONE)
		return plugin_fail(place, error,
				   "mode mig lists MIG devices, which migStrategy none leaves out; "
				   "set migStrategy to single or mixed");
	if (mode == CARD_MODE_REPLICAS && !shares_whole_cards(&config->time_slicing) &&
	    !shares_whole_cards(&config->mps))
		return plugin_fail(place, error,
				   "mode replicas needs their number; add nvidia.com/gpu to "
				   "sharing.timeSlicing.resources");
	return 0;
}

enum card_mode default_mode_to_card(enum default_mode mode)
{
	static const enum card_mode modes[] = {
		[DEFAULT_MODE_PEER] = CARD_MODE_WHOLE,
		[DEFAULT_MODE_WHOLE] = CARD_MODE_WHOLE,
		[DEFAULT_MODE_SLICES] = CARD_MODE_SLICES,
		[DEFAULT_MODE_REPLICAS] = CARD_MODE_REPLICAS,
		[DEFAULT_MODE_MIG] = CARD_MODE_MIG,
		[DEFAULT_MODE_AUTO] = CARD_MODE_AUTO,
		[DEFAULT_MODE_EXCLUDED] = CARD_MODE_WHOLE,
	};

	return modes[mode];
}

static int check_default_mode(const struct plugin_config *config, struct error *error)
{
	const unsigned row = row_of(offsetof(struct plugin_config, default_mode));
	bool line = config->sources[row] == PLUGIN_COMMAND_LINE;
	const struct plugin_place place = {
		.source = (enum plugin_source)config->sources[row],
		.file = config->config_file,
		.name = line ? plugin_keys[row].flags[0] : plugin_keys[row].path,
	};

	return check_mode(config, default_mode_to_card(config->default_mode), &place, error);
}

static int check_modes(const struct plugin_config *config, struct error *error)
{
	int r = check_default_mode(config, error);

	for (size_t i = 0; r == 0 && i < config->card_count; i++) {
		const struct plugin_place place = { PLUGIN_FILE, config->config_file,
						    config->cards[i].line, "gpupool.cards" };

		if (!config->cards[i].excluded)
			r = check_mode(config, config->cards[i].mode, &place, error);
	}
	return r;
}

int plugin_config_read(const struct plugin_inputs *inputs, struct plugin_config *ret,
		       struct error *error)
{
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	int r = check_flags(inputs->flags, error);

	if (r == 0)
		r = set_defaults(&config, error);
	if (r == 0)
		r = take_all(inputs, &config, error);
	if (r == 0)
		r = note_idle(&config, error);
	if (r == 0)
		r = check_modes(&config, error);
	if (r < 0)
		return r;
	for (size_t i = 0; i < config.notes.count; i++)
		text_make_visible(config.notes.items[i], false);
	*ret = config;
	config = (struct plugin_config){ .notes = { 0 } };
	return 0;
}

void plugin_config_release(struct plugin_config *config)
{
	for (unsigned i = 0; i < plugin_key_count; i++)
		plugin_key_release(&plugin_keys[i], config);
	plugin_sections_release(config);
	string_list_release(&config->notes);
	*config = (struct plugin_config){ .notes = { 0 } };
}

static int refuse(struct error *error, const char *what)
{
	return error_set(error, ENOTSUP, "%s", what);
}

int plugin_config_supported(const struct plugin_config *config, struct error *error)
{
	bool automatic = config->default_mode == DEFAULT_MODE_AUTO;
	bool mps = config->mps.count > 0;

	for (size_t i = 0; i < config->card_count; i++) {
		automatic |= !config->cards[i].excluded && config->cards[i].mode == CARD_MODE_AUTO;
		mps |= !config->cards[i].excluded && config->cards[i].mode == CARD_MODE_MPS;
	}
	if (automatic)
		return refuse(error, "card mode auto needs the planner (gpupool-controller), which "
				     "this version does not have; give each card the mode whole, "
				     "slices, replicas or mig");
	if (mps)
		return refuse(error, "sharing by MPS is not there in this version; use "
				     "sharing.timeSlicing, or the card mode slices");
	if (config->discovery == DISCOVERY_TEGRA)
		return refuse(error,
			      "Tegra systems are not supported: their cards have no NVML; set "
			      "deviceDiscoveryStrategy to auto");
	return 0;
}

/* How strongly the row names the card: 0 not at all. */
static unsigned choice_strength(const struct card_choice *choice, const struct card *card)
{
	if (choice->uuid)
		return strcmp(choice->uuid, card->uuid) == 0 ? 3 : 0;
	if (choice->index != CARD_INDEX_NONE)
		return choice->index == card->index ? 2 : 0;
	return parse_glob(choice->model, card->model) ? 1 : 0;
}

const struct card_choice *plugin_config_find_card(const struct plugin_config *config,
						  const struct card *card)
{
	const struct card_choice *found = NULL;
	unsigned best = 0;

	for (size_t i = 0; i < config->card_count; i++) {
		unsigned strength = choice_strength(&config->cards[i], card);

		if (strength > best) {
			best = strength;
			found = &config->cards[i];
		}
	}
	return found;
}

static bool xid_listed(const struct xid_list *list, uint64_t xid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == xid)
			return true;
	return list->all;
}

bool plugin_config_xid_counts(const struct plugin_config *config, uint64_t xid)
{
	/* Errors of programs, not of cards: NVIDIA/k8s-device-plugin internal/rm/health.go. */
	static const uint64_t of_programs[] = { 13, 31, 43, 45, 68, 109 };

	if (xid_listed(&config->enabled_xids, xid))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(of_programs); i++)
		if (of_programs[i] == xid)
			return false;
	return !xid_listed(&config->disabled_xids, xid);
}
