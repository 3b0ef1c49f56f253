/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a scenario that print something, and nothing else. */
#include <stdio.h>
#include <string.h>

#include "fake_player.h"

int player_fail(struct player *player, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return error_set(&player->error, EPROTO, "%s", text);
}

const char *player_word(const struct player *player, size_t number)
{
	return number < player->count ? player->words[number] : "";
}

int question_state(struct player *player)
{
	static const char *const names[] = { [FAKE_POD_NONE] = "none",
					     [FAKE_POD_WAITING] = "waiting",
					     [FAKE_POD_RUNNING] = "running",
					     [FAKE_POD_REJECTED] = "rejected",
					     [FAKE_POD_LINGERS] = "lingers" };
	enum fake_pod_state state = fake_kubelet_pod(player->kubelet, player_word(player, 1));

	strbuf_adds(&player->reply, names[state]);
	if (state == FAKE_POD_REJECTED)
		strbuf_addf(&player->reply, ": %s",
			    fake_kubelet_why(player->kubelet, player_word(player, 1)));
	return 0;
}

int question_counts(struct player *player)
{
	struct fake_counts now = fake_kubelet_counts(player->kubelet, player_word(player, 1), true);
	struct fake_counts node =
		fake_kubelet_counts(player->kubelet, player_word(player, 1), false);

	strbuf_addf(&player->reply, "capacity %zu allocatable %zu node %zu %zu", now.capacity,
		    now.allocatable, node.capacity, node.allocatable);
	return 0;
}

static void print_answer(const struct kubelet_answer *answer, struct strbuf *text)
{
	for (size_t i = 0; i < answer->env_count; i++)
		strbuf_addf(text, " env:%s=%s", answer->envs[i].key, answer->envs[i].value);
	for (size_t i = 0; i < answer->annotation_count; i++)
		strbuf_addf(text, " annotation:%s=%s", answer->annotations[i].key,
			    answer->annotations[i].value);
	for (size_t i = 0; i < answer->mount_count; i++)
		strbuf_addf(text, " mount:%s:%s:%s", answer->mounts[i].host_path,
			    answer->mounts[i].container_path,
			    answer->mounts[i].read_only ? "ro" : "rw");
	for (size_t i = 0; i < answer->device_count; i++)
		strbuf_addf(text, " device:%s:%s:%s", answer->devices[i].host_path,
			    answer->devices[i].container_path, answer->devices[i].permissions);
	for (size_t i = 0; i < answer->cdi_devices.count; i++)
		strbuf_addf(text, " cdi:%s", answer->cdi_devices.items[i]);
}

int question_answer(struct player *player)
{
	cleanup(kubelet_answer_release) struct kubelet_answer answer = { .envs = NULL };
	const struct kubelet_bytes *bytes =
		fake_kubelet_answer(player->kubelet, player_word(player, 1), player_word(player, 2),
				    player_word(player, 3));

	if (!bytes)
		return player_fail(player, "container %s of Pod %s was given nothing of %s",
				   player_word(player, 2), player_word(player, 1),
				   player_word(player, 3));
	int r = kubelet_unpack_answer(bytes->data, bytes->size, &answer, &player->error);
	if (r < 0)
		return r;
	strbuf_addf(&player->reply, "bytes:%zu", bytes->size);
	print_answer(&answer, &player->reply);
	return 0;
}

int question_holders(struct player *player)
{
	cleanup(kubelet_holdings_release) struct kubelet_holdings holdings = { .items = NULL };

	fake_kubelet_holders(player->kubelet, &holdings);
	strbuf_addf(&player->reply, "%zu", holdings.count);
	for (size_t i = 0; i < holdings.count; i++) {
		const struct kubelet_holding *holding = &holdings.items[i];

		strbuf_addf(&player->reply, " %s/%s:%s={", holding->pod, holding->container,
			    holding->resource);
		for (size_t j = 0; j < holding->ids.count; j++)
			strbuf_addf(&player->reply, "%s%s", j ? "," : "", holding->ids.items[j]);
		strbuf_addc(&player->reply, '}');
	}
	return 0;
}

int question_streams(struct player *player)
{
	strbuf_addf(&player->reply, "%u", fake_kubelet_streams(player->kubelet));
	return 0;
}

/* A card as a whole, or an instance of it, has one holder; a part of it ("<uuid>::<n>") leaves room for other parts. */
static bool excludes(const char *a, const char *b)
{
	const char *end = strstr(a, "::"), *other = strstr(b, "::");
	size_t length = end ? (size_t)(end - a) : strlen(a);
	size_t other_length = other ? (size_t)(other - b) : strlen(b);

	if (length != other_length || strncmp(a, b, length) != 0)
		return false;
	return !end || !other || strcmp(end, other) == 0;
}

/* The first ID of AT that a holder before it excludes; NULL: none. */
static const char *held_twice(const struct kubelet_holdings *holdings, size_t at, const char **ret)
{
	const struct string_list *ids = &holdings->items[at].ids;

	for (size_t i = 0; i < at; i++)
		for (size_t k = 0; k < holdings->items[i].ids.count; k++)
			for (size_t l = 0; l < ids->count; l++)
				if (excludes(ids->items[l], holdings->items[i].ids.items[k])) {
					*ret = holdings->items[i].pod;
					return ids->items[l];
				}
	return NULL;
}

/* The text of the file is looked at, not read as gpupoold does it. */
static const char *not_written(const struct kubelet_holding *holding, const char *ledger)
{
	char quoted[256];

	for (size_t i = 0; i < holding->ids.count; i++) {
		(void)snprintf(quoted, sizeof(quoted), "\"%s\"", holding->ids.items[i]);
		if (!strstr(ledger, quoted))
			return holding->ids.items[i];
	}
	return NULL;
}

int question_check(struct player *player)
{
	cleanup(kubelet_holdings_release) struct kubelet_holdings holdings = { .items = NULL };
	autofree char *ledger = NULL;
	const char *id, *other = NULL;

	if (fake_kubelet_holders(player->kubelet, &holdings) < 0)
		return player_fail(player, "no memory");
	int r = file_read(player_word(player, 1), 8u << 20, &ledger, NULL, &player->error);
	if (r < 0)
		return r;
	for (size_t i = 0; i < holdings.count; i++) {
		if ((id = held_twice(&holdings, i, &other)))
			return player_fail(player, "Pods %s and %s both hold %s", other,
					   holdings.items[i].pod, id);
		if ((id = not_written(&holdings.items[i], ledger)))
			return player_fail(player, "Pod %s holds %s, and the ledger has it not",
					   holdings.items[i].pod, id);
	}
	return 0;
}
