/* SPDX-License-Identifier: Apache-2.0 */
#include "node/scene.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void scene_reason(const struct plugin_scene *scene, enum reason_code code, const char *resource,
		  size_t wanted, struct reason *ret)
{
	*ret = (struct reason){ .code = code, .scope = REASON_SCOPE_NODE };
	ret->wanted = (int64_t)wanted;
	reason_text(ret->object, sizeof(ret->object), "a container that asks for %zu %s", wanted,
		    resource);
	reason_text(ret->node, sizeof(ret->node), "%s", scene->node ? scene->node : "this node");
}

int scene_refuse(const struct reason *reason, int number, struct reason *ret_reason,
		 struct error *error)
{
	autostrbuf text = STRBUF_INIT(ERROR_MESSAGE_MAX);

	if (reason_sentence(reason, &text) < 0)
		return error_no_memory(error);
	if (ret_reason)
		*ret_reason = *reason;
	return error_set(error, number, "%s", text.data);
}

void scene_describe_card(const struct plugin_scene *scene, uint32_t card,
			 char ret[static CARD_DESCRIPTION_MAX])
{
	const struct plugin_card *listed = &scene->view->cards[card];

	if (listed->position == PLUGIN_NONE)
		snprintf(ret, CARD_DESCRIPTION_MAX, "card %s", listed->uuid);
	else
		card_describe(&scene->inventory->cards[listed->position], ret);
}

int scene_index(const struct plugin_resource *resource, struct map **ret)
{
	automap *index = map_new();

	if (!index)
		return -ENOMEM;
	for (size_t i = 0; i < resource->count; i++)
		if (map_put(index, resource->devices[i].id, &resource->devices[i]) < 0)
			return -ENOMEM;
	*ret = TAKE_PTR(index);
	return 0;
}

/* The first thing of REQUEST that depends on the Pod, which the kubelet does not name. */
static const char *find_wish(const struct request *request)
{
	const struct {
		bool wished;
		const char *what;
	} wishes[] = {
		{ request->uuids.count || request->not_uuids.count,
		  "certain cards (gpupool.io/gpu-uuid)" },
		{ request->models.count || request->not_models.count,
		  "cards of certain models (gpupool.io/gpu-model)" },
		{ request->policy != POLICY_DEFAULT,
		  "a policy of its own (gpupool.io/gpu-policy)" },
		{ request->kind == REQUEST_SLICE && request->compute_percent,
		  "a share of the compute (gpupool.io/gpu-compute)" },
		{ request->kind == REQUEST_SLICE && request->cards > 1,
		  "a slice over several cards (gpupool.io/slice-cards)" },
		{ request->kind == REQUEST_SLICE && request->memory_percent,
		  "a share of a card's memory in per cent" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wishes); i++)
		if (wishes[i].wished)
			return wishes[i].what;
	return NULL;
}

int plugin_request_supported(const struct request *request, const char *object, const char *node,
			     struct reason *ret_reason, struct error *error)
{
	const char *wish = find_wish(request);
	struct reason reason = { .code = REASON_NEEDS_PLANNER, .scope = REASON_SCOPE_NODE };

	if (!wish)
		return 0;
	reason_text(reason.object, sizeof(reason.object), "%s", object);
	reason_text(reason.node, sizeof(reason.node), "%s", node ? node : "this node");
	reason_text(reason.detail, sizeof(reason.detail), "%s", wish);
	return scene_refuse(&reason, ENOTSUP, ret_reason, error);
}
