/* SPDX-License-Identifier: Apache-2.0 */
#include "naive_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool truth)
{
	if (!truth)
		abort();
}

struct naive_id naive_id(const char *text)
{
	static const char card[] = "GPU-00000000-0000-0000-0000-",
			  mig[] = "MIG-00000000-0000-0000-";
	struct naive_id id = { .instance = -1, .kind = 'w' };
	char *end = NULL;

	if (strncmp(text, card, strlen(card)) == 0) {
		id.card = (unsigned)strtoul(text + strlen(card), &end, 10);
	} else {
		must(strncmp(text, mig, strlen(mig)) == 0);
		id.card = (unsigned)strtoul(text + strlen(mig), &end, 10);
		must(*end == '-');
		id.instance = (int)strtoul(end + 1, &end, 10);
	}
	if (strncmp(end, "::m", 3) == 0)
		id.kind = 'u';
	else if (*end)
		id.kind = 'r';
	if (*end)
		id.number = (unsigned)strtoul(end + 2 + (id.kind == 'u'), NULL, 10);
	return id;
}

bool naive_excludes(const char *a, const char *b)
{
	struct naive_id one = naive_id(a), two = naive_id(b);

	if (one.card != two.card)
		return false;
	if (one.instance != two.instance)
		return one.instance < 0 || two.instance < 0;
	if (one.kind != two.kind || one.kind == 'w')
		return true;
	return one.number == two.number;
}

static bool lives(const struct naive_pod *pod)
{
	return pod->state == NAIVE_ADMITTED || pod->state == NAIVE_RUNS;
}

void naive_forget_holds(struct naive_pod *pod)
{
	for (size_t i = 0; i < pod->hold_count; i++)
		string_list_release(&pod->holds[i].ids);
	pod->hold_count = 0;
}

void naive_node_release(struct naive_node *node)
{
	for (unsigned i = 0; i < node->count; i++)
		naive_forget_holds(&node->pods[i]);
	free(node->listed);
	*node = (struct naive_node){ .count = 0 };
}

void naive_hold_ids(struct naive_pod *pod, const char *resource, const struct string_list *ids,
		    bool init)
{
	struct naive_hold *hold = &pod->holds[pod->hold_count++];

	must(pod->hold_count <= NAIVE_HOLDS);
	*hold = (struct naive_hold){ .init = init };
	snprintf(hold->resource, sizeof(hold->resource), "%s", resource);
	for (size_t i = 0; i < ids->count; i++)
		must(string_list_add(&hold->ids, ids->items[i]) == 0);
}

static const char *find_in(const struct naive_pod *pod, const char *id,
			   bool (*fits)(const char *a, const char *b))
{
	for (size_t i = 0; i < pod->hold_count; i++)
		for (size_t k = 0; k < pod->holds[i].ids.count; k++)
			if (fits(pod->holds[i].ids.items[k], id))
				return pod->holds[i].ids.items[k];
	return NULL;
}

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

bool naive_is_taken(const struct naive_node *node, const char *id, unsigned but)
{
	for (unsigned i = 0; i < node->count; i++)
		if (i != but && lives(&node->pods[i]) &&
		    find_in(&node->pods[i], id, naive_excludes))
			return true;
	return false;
}

bool naive_is_held(const struct naive_node *node, const char *id)
{
	for (unsigned i = 0; i < node->count; i++)
		if (lives(&node->pods[i]) && find_in(&node->pods[i], id, same))
			return true;
	return false;
}

const char *naive_check_holds(const struct naive_node *node, char *text, size_t size)
{
	for (unsigned i = 0; i < node->count; i++) {
		const struct naive_pod *pod = &node->pods[i];

		for (size_t h = 0; lives(pod) && h < pod->hold_count; h++)
			for (size_t k = 0; k < pod->holds[h].ids.count; k++)
				for (unsigned other = 0; other < i; other++) {
					const char *id = pod->holds[h].ids.items[k];

					if (!lives(&node->pods[other]) ||
					    !find_in(&node->pods[other], id, naive_excludes))
						continue;
					snprintf(text, size, "Pods %u and %u: %s and %s", other, i,
						 find_in(&node->pods[other], id, naive_excludes),
						 id);
					return text;
				}
	}
	return NULL;
}

static const struct naive_listed *find_listed(const struct naive_listed *list, size_t count,
					      const char *id)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].id, id) == 0)
			return &list[i];
	return NULL;
}

static const char *check_held(const struct naive_node *node, const struct naive_listed *next,
			      size_t count, char *text, size_t size)
{
	for (unsigned i = 0; i < node->count; i++)
		for (size_t h = 0; h < node->pods[i].hold_count; h++)
			for (size_t k = 0; k < node->pods[i].holds[h].ids.count; k++) {
				const struct naive_hold *hold = &node->pods[i].holds[h];
				const struct naive_listed *at =
					find_listed(next, count, hold->ids.items[k]);

				if (!lives(&node->pods[i]) ||
				    (at && strcmp(at->resource, hold->resource) == 0))
					continue;
				snprintf(text, size,
					 "Pod %u holds %s of %s, which is not listed there", i,
					 hold->ids.items[k], hold->resource);
				return text;
			}
	return NULL;
}

const char *naive_check_lists(const struct naive_node *node, const struct naive_listed *next,
			      size_t count, char *text, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (find_listed(next, i, next[i].id)) {
			snprintf(text, size, "%s is listed twice", next[i].id);
			return text;
		}
	for (size_t i = 0; i < node->listed_count; i++) {
		const struct naive_listed *was = &node->listed[i];
		const struct naive_listed *is = find_listed(next, count, was->id);

		if (!was->healthy || (is && strcmp(is->resource, was->resource) == 0))
			continue;
		snprintf(text, size, "%s left %s without having been unhealthy", was->id,
			 was->resource);
		return text;
	}
	return check_held(node, next, count, text, size);
}

void naive_collect(struct naive_node *node)
{
	for (unsigned i = 0; i < node->count; i++)
		node->pods[i].known = node->pods[i].known && node->pods[i].active;
}

void naive_available(const struct naive_node *node, const char *resource, unsigned blind,
		     struct string_list *ret)
{
	for (size_t i = 0; i < node->listed_count; i++) {
		const struct naive_listed *listed = &node->listed[i];
		bool taken = false;

		for (unsigned p = 0; p < node->count; p++)
			taken = taken || (p != blind && node->pods[p].known &&
					  find_in(&node->pods[p], listed->id, same));
		if (!taken && listed->healthy && strcmp(listed->resource, resource) == 0)
			must(string_list_add(ret, listed->id) == 0);
	}
}
