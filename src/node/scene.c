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
