/* SPDX-License-Identifier: Apache-2.0 */
/* What kube-scheduler would say of a request, had the machine been a node of a cluster. */
#include "local/local.h"

#include <string.h>

/* The resource that it would count, and so name in its sentence. */
static void counted_resource(const struct request *request, char *ret, size_t size)
{
	static const char *const names[REQUEST_KIND_MAX] = {
		[REQUEST_WHOLE] = "nvidia.com/gpu",
		[REQUEST_SHARED] = "nvidia.com/gpu.shared",
		[REQUEST_SLICE] = "gpupool.io/gpu-memory",
	};

	if (request->kind == REQUEST_MIG) {
		reason_text(ret, size, "nvidia.com/mig-%s", request->mig_profile);
		/* NVML writes 1g.10gb+me; a resource name has no plus. */
		for (char *plus = strchr(ret, '+'); plus; plus = strchr(plus, '+'))
			*plus = '.';
		return;
	}
	reason_text(ret, size, "%s", names[request->kind]);
}

struct counted {
	uint64_t allocatable, free;
};

/* One card as the device plugin would list it: devices of a sick card are unhealthy and not
 * counted, and an auto card's are listed in one view only, that of its holders. */
static void count_card(const struct pool *pool, unsigned node, unsigned position,
		       enum request_kind kind, struct counted *counted)
{
	const struct card *card = pool_card(pool, node, position);
	unsigned granted = pool_card_granted(pool, node, position);
	bool whole = pool_card_held_whole(pool, node, position);

	if (card->condition.health != CARD_HEALTHY)
		return;
	if (kind == REQUEST_WHOLE && (whole || !granted) &&
	    (card->mode == CARD_MODE_WHOLE || card->mode == CARD_MODE_AUTO)) {
		counted->allocatable++;
		counted->free += !whole;
	}
	if (kind == REQUEST_SLICE && !whole &&
	    (card->mode == CARD_MODE_SLICES || card->mode == CARD_MODE_AUTO)) {
		counted->allocatable += card_units(card);
		counted->free += card_units(card) - granted;
	}
}

void local_scheduler_sentence(const struct pool *pool, const struct request *request,
			      struct reason *reason)
{
	struct counted counted = { 0 };
	uint64_t wanted = request->cards;
	char resource[128];

	if (reason->kubernetes[0] || request->kind <= REQUEST_NONE ||
	    request->kind >= REQUEST_KIND_MAX)
		return;
	if (request->kind == REQUEST_SLICE)
		wanted = (uint64_t)request->units * request->cards;
	for (unsigned i = 0; i < pool_node_card_count(pool, 0); i++)
		count_card(pool, 0, i, request->kind, &counted);
	/* It counts devices of a node and nothing else: models, UUIDs, compute, and how much of the
	 * memory lies on one card are no words of its own, and it would let such a Pod pass. */
	if (wanted <= counted.free)
		return;
	counted_resource(request, resource, sizeof(resource));
	kubernetes_unschedulable(reason->kubernetes, sizeof(reason->kubernetes), 1, resource,
				 wanted <= counted.allocatable);
}
