/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Allocate answers. The strategies and their texts are those of NVIDIA's plugin
 * (internal/plugin/server.go at 1b826acc), and one of ours that needs neither CDI nor a runtime of its
 * own: everything in the answer, as the plan of edits has it. The kubelet keeps the answer for the Pod's
 * whole life and gives it again after a reboot: so CDI devices are named by UUID, also where the
 * environment names cards by index.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/scene.h"

#define VISIBLE_DEVICES "NVIDIA_VISIBLE_DEVICES"
#define VOLUME_ROOT     "/var/run/nvidia-container-devices"
#define CDI_LISTS       (DEVICE_LIST_CDI_ANNOTATIONS | DEVICE_LIST_CDI_CRI)
#define CHANNEL         "nvidia-caps-imex-channels/channel"
#define TEXT_MAX        65536

struct answering {
	const struct plugin_scene *scene;
	const struct plugin_device *const *picked;
	size_t count;
	const struct plugin_device **parts; /* owned; the first device of each card or MIG device */
	size_t part_count;
	struct string_list channels; /* owned; of IMEX, decimal */
	uint64_t serial;
	struct kubelet_answer *answer;
	struct error *error;
};

static int done(const struct answering *answering, int r)
{
	return r < 0 ? error_no_memory(answering->error) : 0;
}

static const struct card *card_of(const struct answering *answering,
				  const struct plugin_device *device)
{
	uint32_t position = answering->scene->view->cards[device->card].position;

	return &answering->scene->inventory->cards[position];
}

static const struct card_instance *instance_of(const struct answering *answering,
					       const struct plugin_device *device)
{
	return device->instance == PLUGIN_NONE
		       ? NULL
		       : &card_of(answering, device)->instances[device->instance];
}

static const char *uuid_of(const struct answering *answering, const struct plugin_device *device)
{
	const struct card_instance *instance = instance_of(answering, device);

	return instance ? instance->uuid : card_of(answering, device)->uuid;
}

/* "GPU-...", or "0", "0:1" where they are told by index and have one. */
static void name_part(const struct answering *answering, const struct plugin_device *device,
		      char *ret, size_t size)
{
	const struct card *card = card_of(answering, device);
	const struct card_instance *instance = instance_of(answering, device);
	bool index = answering->scene->config->device_id == DEVICE_ID_INDEX &&
		     card->index != CARD_INDEX_NONE &&
		     (!instance || instance->index != CARD_INDEX_NONE);

	if (!index)
		snprintf(ret, size, "%s", uuid_of(answering, device));
	else if (instance)
		snprintf(ret, size, "%u:%u", card->index, instance->index);
	else
		snprintf(ret, size, "%u", card->index);
}

static int find_parts(struct answering *answering)
{
	answering->parts = calloc(answering->count + 1, sizeof(*answering->parts));
	if (!answering->parts)
		return error_no_memory(answering->error);
	for (size_t i = 0; i < answering->count; i++) {
		const struct plugin_device *device = answering->picked[i];
		const struct plugin_device *last =
			answering->part_count ? answering->parts[answering->part_count - 1] : NULL;

		if (!last || last->card != device->card || last->instance != device->instance)
			answering->parts[answering->part_count++] = device;
	}
	return 0;
}

/* Beside the cards; in the order of NVIDIA's plugin. */
struct extra {
	const char *class, *variable;
	unsigned gated;
};
static const struct extra extras[] = {
	{ "gdrcopy", "NVIDIA_GDRCOPY", GATED_GDRCOPY },
	{ "gds", "NVIDIA_GDS", GATED_GDS },
	{ "mofed", "NVIDIA_MOFED", GATED_MOFED },
};

static unsigned gated_of(const struct plugin_config *config)
{
	return (config->gdrcopy ? GATED_GDRCOPY : 0u) | (config->gds ? GATED_GDS : 0u) |
	       (config->mofed ? GATED_MOFED : 0u);
}

/* What is not on the machine has no CDI device; that of a driver nobody has looked at is believed. */
static bool has_gated(const struct answering *answering, unsigned gated)
{
	const struct driver_files *files = answering->scene->files;

	for (size_t i = 0; files && i < files->node_count; i++)
		if (files->nodes[i].gated & gated)
			return true;
	return !files;
}

/* An IMEX channel that must be there is named also when it is not: the container fails and says so. */
static bool has_channel(const struct answering *answering, const char *channel)
{
	const struct plugin_scene *scene = answering->scene;
	char name[64];

	snprintf(name, sizeof(name), CHANNEL "%.16s", channel);
	return scene->config->imex_required || !scene->files ||
	       driver_files_node(scene->files, name);
}

static int add_extras(struct answering *answering)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(extras); i++)
		if (gated_of(answering->scene->config) & extras[i].gated)
			r = kubelet_answer_add_env(answering->answer, extras[i].variable,
						   "enabled");
	return done(answering, r);
}

/* The channels that there are. */
static int find_channels(struct answering *answering)
{
	const struct string_list *all = &answering->scene->config->imex_channels;
	int r = 0;

	for (size_t i = 0; r == 0 && i < all->count; i++)
		if (has_channel(answering, all->items[i]))
			r = string_list_add(&answering->channels, all->items[i]);
	return done(answering, r);
}

/* ---- CDI ---- */

static int cdi_name(struct string_list *names, const char *vendor, const char *class,
		    const char *device)
{
	return string_list_addf(names, "%s/%s=%s", vendor, class, device);
}

static int list_cdi(struct answering *answering, struct string_list *names)
{
	const struct plugin_config *config = answering->scene->config;
	int r = 0;

	for (size_t i = 0; r == 0 && i < answering->part_count; i++) {
		const struct plugin_device *device = answering->parts[i];
		bool slice = device->kind == PLUGIN_UNIT;

		r = cdi_name(names, slice ? PLUGIN_CDI_SLICE_VENDOR : PLUGIN_CDI_VENDOR,
			     slice ? PLUGIN_CDI_SLICE_CLASS : "gpu", uuid_of(answering, device));
	}
	for (size_t i = 0; r == 0 && i < answering->channels.count; i++)
		r = cdi_name(names, PLUGIN_CDI_VENDOR, "imex-channel",
			     answering->channels.items[i]);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(extras); i++)
		if (gated_of(config) & extras[i].gated && has_gated(answering, extras[i].gated))
			r = cdi_name(names, PLUGIN_CDI_VENDOR, extras[i].class, "all");
	return r;
}

static int join(const struct string_list *list, struct strbuf *out)
{
	for (size_t i = 0; i < list->count; i++)
		strbuf_addf(out, "%s%s", i ? "," : "", list->items[i]);
	return strbuf_failed(out);
}

/* The key must be another one for each grant of a container: NVIDIA's plugin draws a UUID. */
static int annotate(struct answering *answering, const struct string_list *names)
{
	autostrbuf key = STRBUF_INIT(TEXT_MAX), value = STRBUF_INIT(TEXT_MAX);

	strbuf_addf(&key, "%snvidia-device-plugin_%016" PRIx64,
		    answering->scene->config->cdi_annotation_prefix, answering->serial);
	if (strbuf_failed(&key) < 0 || join(names, &value) < 0)
		return -ENOMEM;
	return kubelet_answer_add_annotation(answering->answer, key.data, value.data);
}

static int add_cdi(struct answering *answering, unsigned lists)
{
	cleanup(string_list_release) struct string_list names = { .items = NULL };
	int r = list_cdi(answering, &names);

	if (r == 0 && lists & DEVICE_LIST_CDI_ANNOTATIONS)
		r = annotate(answering, &names);
	for (size_t i = 0; r == 0 && lists & DEVICE_LIST_CDI_CRI && i < names.count; i++)
		r = kubelet_answer_add_cdi(answering->answer, names.items[i]);
	return done(answering, r);
}

/* ---- the environment, and volumes that stand for it ---- */

static int add_variable(struct answering *answering)
{
	autostrbuf list = STRBUF_INIT(TEXT_MAX), channels = STRBUF_INIT(TEXT_MAX);
	const struct string_list *imex = &answering->channels;
	char name[CARD_UUID_MAX];
	int r;

	for (size_t i = 0; i < answering->part_count; i++) {
		name_part(answering, answering->parts[i], name, sizeof(name));
		strbuf_addf(&list, "%s%s", i ? "," : "", name);
	}
	r = strbuf_failed(&list);
	if (r == 0)
		r = kubelet_answer_add_env(answering->answer, VISIBLE_DEVICES, list.data);
	if (r == 0 && imex->count)
		r = join(imex, &channels);
	if (r == 0 && imex->count)
		r = kubelet_answer_add_env(answering->answer, "NVIDIA_IMEX_CHANNELS",
					   channels.data);
	return done(answering, r);
}

static int add_volume(struct answering *answering, const char *folder, const char *name)
{
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);

	strbuf_addf(&path, VOLUME_ROOT "%s/%s", folder, name);
	if (strbuf_failed(&path) < 0)
		return -ENOMEM;
	return kubelet_answer_add_mount(answering->answer, path.data, "/dev/null", false);
}

static int add_volumes(struct answering *answering)
{
	const struct string_list *imex = &answering->channels;
	char name[CARD_UUID_MAX];
	int r = kubelet_answer_add_env(answering->answer, VISIBLE_DEVICES, VOLUME_ROOT);

	for (size_t i = 0; r == 0 && i < answering->part_count; i++) {
		name_part(answering, answering->parts[i], name, sizeof(name));
		r = add_volume(answering, "", name);
	}
	for (size_t i = 0; r == 0 && i < imex->count; i++)
		r = add_volume(answering, "/imex", imex->items[i]);
	return done(answering, r);
}

/* ---- pass-device-specs ---- */

/* REQUIRED: also when no search has seen it, since the driver makes it on first use. */
static int add_node(struct answering *answering, const char *name, bool required)
{
	const struct plugin_scene *scene = answering->scene;
	const struct driver_node *node =
		scene->files ? driver_files_node(scene->files, name) : NULL;
	autostrbuf inside = STRBUF_INIT(ROOT_PATH_MAX), host = STRBUF_INIT(ROOT_PATH_MAX);
	const char *root = scene->config->dev_root[0] ? scene->config->dev_root
						      : scene->inventory->driver_root;

	if (!node && !required)
		return 0;
	strbuf_addf(&inside, "/dev/%s", name);
	if (node)
		strbuf_adds(&host, node->path);
	else
		strbuf_addf(&host, "%s/dev/%s", strcmp(root, "/") == 0 ? "" : root, name);
	if (strbuf_failed(&inside) < 0 || strbuf_failed(&host) < 0)
		return -ENOMEM;
	return kubelet_answer_add_device(answering->answer, inside.data, host.data, "rw");
}

static int add_capability(struct answering *answering, unsigned minor)
{
	char name[64];

	if (minor == CARD_MINOR_NONE)
		return 0;
	snprintf(name, sizeof(name), "nvidia-caps/nvidia-cap%u", minor);
	return add_node(answering, name, true);
}

/* The node of a card stands once, however many of its MIG devices are granted. */
static bool is_first_of_card(const struct answering *answering, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (answering->parts[i]->card == answering->parts[at]->card)
			return false;
	return true;
}

static int add_part_nodes(struct answering *answering, size_t at)
{
	const struct plugin_device *device = answering->parts[at];
	const struct card *card = card_of(answering, device);
	const struct card_instance *instance = instance_of(answering, device);
	char name[32];
	int r = 0;

	snprintf(name, sizeof(name), "nvidia%u", card->minor);
	if (card->minor != CARD_MINOR_NONE && is_first_of_card(answering, at))
		r = add_node(answering, name, true);
	if (r == 0 && instance)
		r = add_capability(answering, instance->gpu_minor);
	if (r == 0 && instance)
		r = add_capability(answering, instance->compute_minor);
	return r;
}

static int add_nodes(struct answering *answering)
{
	static const char *const control[] = { "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools",
					       "nvidia-modeset" };
	const struct string_list *imex = &answering->channels;
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(control); i++)
		r = add_node(answering, control[i], false);
	for (size_t i = 0; r == 0 && i < answering->part_count; i++)
		r = add_part_nodes(answering, i);
	for (size_t i = 0; r == 0 && i < imex->count; i++) {
		char name[64];

		snprintf(name, sizeof(name), CHANNEL "%.16s", imex->items[i]);
		r = add_node(answering, name, true);
	}
	return done(answering, r);
}

/* ---- everything in the answer ---- */

static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if (strncmp(at, word, length) == 0 && (!at[length] || at[length] == ','))
			return true;
	return false;
}

static int add_edit(struct answering *answering, const struct edit *edit)
{
	switch (edit->kind) {
	case EDIT_ENV:
		return kubelet_answer_add_env(answering->answer, edit->name, edit->source);
	case EDIT_DEVICE:
		return kubelet_answer_add_device(answering->answer, edit->name,
						 edit->source ? edit->source : edit->name, "rw");
	case EDIT_MOUNT:
		return kubelet_answer_add_mount(answering->answer, edit->name, edit->source,
						has_word(edit->options, "ro"));
	case EDIT_MASK: /* the kubelet has none */
	case EDIT_KIND_MAX:
		break;
	}
	return 0;
}

static int add_edits(struct answering *answering, const struct grant *const *grants)
{
	const struct plugin_scene *scene = answering->scene;
	const struct plugin_config *config = scene->config;
	const struct injection injection = {
		.inventory = scene->inventory,
		.grants = grants,
		.grant_count = 2,
		.files = scene->files,
		.capabilities = CAPABILITY_ALL & ~CAPABILITY_COMPAT32, /* as in our CDI specs */
		.target = INJECT_IMAGE,
		.root_fd = -1, /* the image is not known */
		.gated = gated_of(config),
		.imex = answering->channels.count ? &answering->channels : NULL,
	};
	cleanup(edit_plan_release) struct edit_plan plan = { .edits = NULL };
	int r = edit_plan_build(&injection, &plan, NULL, answering->error);

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < plan.count; i++)
		r = add_edit(answering, &plan.edits[i]);
	return done(answering, r);
}

static int add_everything(struct answering *answering)
{
	struct grant whole = { .kind = REQUEST_WHOLE }, mig = { .kind = REQUEST_MIG };
	const struct grant *const grants[] = { &whole, &mig };
	int r = 0;

	if (!answering->scene->files)
		return error_set(
			answering->error, ENODEV,
			"device list strategy kubelet needs the driver's files, and none were "
			"found; see gpupool inventory, or set driverRoot");
	for (size_t i = 0; r == 0 && i < answering->part_count; i++) {
		const struct plugin_device *device = answering->parts[i];
		struct grant *grant = device->instance == PLUGIN_NONE ? &whole : &mig;
		struct grant_card *card =
			VEC_ADD(&grant->cards, &grant->card_count, &grant->card_capacity);

		if (!card)
			r = error_no_memory(answering->error);
		else
			snprintf(card->uuid, sizeof(card->uuid), "%s", uuid_of(answering, device));
	}
	if (r == 0)
		r = add_edits(answering, grants);
	free(whole.cards);
	free(mig.cards);
	return r;
}

/* ---- slices ---- */

/*
 * The spec of the card's slices has what they share. What is particular to this one stands here, and is
 * kept small: the kubelet writes every answer of the node anew at each change.
 */
static int answer_slice(struct answering *answering)
{
	unsigned lists = answering->scene->lists & CDI_LISTS;
	const struct plugin_device *first = answering->picked[0];
	char value[DEVICE_ID_MAX];
	int r;

	snprintf(value, sizeof(value), "%s.m%u", uuid_of(answering, first), first->number);
	r = kubelet_answer_add_env(answering->answer, ENV_SLICE, value);
	snprintf(value, sizeof(value), "%zu", answering->count * MIB_PER_UNIT);
	if (r == 0)
		r = kubelet_answer_add_env(answering->answer, ENV_MEMORY_MIB, value);
	if (r < 0)
		return done(answering, r);
	r = add_extras(answering);
	return r < 0 ? r : add_cdi(answering, lists ? lists : DEVICE_LIST_CDI_CRI);
}

/* How to add a strategy: a bit in plugin_config.h, a row, cases in test_plugin_answer.c. */
static const struct {
	unsigned list;
	int (*add)(struct answering *answering);
} strategies[] = {
	{ DEVICE_LIST_KUBELET, add_everything }, /* first: its environment is the weakest */
	{ DEVICE_LIST_ENVVAR, add_variable },
	{ DEVICE_LIST_VOLUME_MOUNTS, add_volumes },
};

static int answer(struct answering *answering)
{
	const struct plugin_scene *scene = answering->scene;
	int r = find_parts(answering);

	if (r == 0)
		r = find_channels(answering);
	if (r < 0)
		return r;
	if (answering->picked[0]->kind == PLUGIN_UNIT)
		return answer_slice(answering);
	r = add_extras(answering);
	if (r == 0 && scene->lists & CDI_LISTS)
		r = add_cdi(answering, scene->lists);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(strategies); i++)
		if (scene->lists & strategies[i].list)
			r = strategies[i].add(answering);
	if (r == 0 && scene->config->pass_device_specs &&
	    scene->lists & (DEVICE_LIST_ENVVAR | DEVICE_LIST_VOLUME_MOUNTS))
		r = add_nodes(answering);
	return r;
}

int scene_answer(const struct plugin_scene *scene, const struct plugin_device *const *picked,
		 size_t count, uint64_t serial, struct kubelet_answer *ret, struct error *error)
{
	struct kubelet_answer filled = { .envs = NULL };
	struct answering answering = { .scene = scene,
				       .picked = picked,
				       .count = count,
				       .serial = serial,
				       .answer = &filled,
				       .error = error };
	int r = answer(&answering);

	free(answering.parts);
	string_list_release(&answering.channels);
	if (r < 0)
		kubelet_answer_release(&filled);
	else
		*ret = filled;
	return r;
}
