/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gang_read.h"

#include <errno.h>
#include <string.h>

#include "model/kubernetes.h"

#define GANG_SIZE_MAX 1000000u

enum place { LABEL, ANNOTATION };

struct key {
	enum place place;
	const char *name;
};

/*
 * How to add a way to write gangs: one row, a case in test_demand_read.c, docs/dialects.md. The first
 * row whose name is there wins. Without a size (it stands in another object, of which a Pod knows
 * nothing) all Pods that name the gang are it.
 */
static const struct {
	struct key name, size;
} rows[] = {
	{ { ANNOTATION, "gpupool.io/gang" }, { ANNOTATION, "gpupool.io/gang-size" } },
	{ { ANNOTATION, "scheduling.k8s.io/group-name" }, { 0 } }, /* Volcano */
	{ { LABEL, "scheduling.x-k8s.io/pod-group" }, { 0 } },     /* coscheduling */
	{ { ANNOTATION, "pod-group-name" }, { 0 } },               /* KAI */
	{ { LABEL, "kueue.x-k8s.io/pod-group-name" },
	  { ANNOTATION, "kueue.x-k8s.io/pod-group-total-count" } },
	{ { ANNOTATION, "gang.scheduling.koordinator.sh/name" },
	  { ANNOTATION, "gang.scheduling.koordinator.sh/min-available" } },
};

/* The node label whose value all of a gang must share. */
static const struct key domains[] = {
	{ ANNOTATION, "gpupool.io/gang-domain" },
	{ ANNOTATION, "kueue.x-k8s.io/podset-required-topology" },
	{ ANNOTATION, "kai.scheduler/topology-required-placement" },
};

static struct json_object *find(struct json_object *pod, const struct key *key)
{
	struct json_object *map =
		json_get(pod, key->place == LABEL ? "metadata.labels" : "metadata.annotations");
	struct json_object *value = NULL;

	if (key->name && json_object_is_type(map, json_type_object))
		json_object_object_get_ex(map, key->name, &value);
	return value;
}

/* 1: copied. 0: not there. -EINVAL: no text, or one with control characters. */
static int copy(struct json_object *pod, const struct key *key, char **ret)
{
	struct json_object *value = find(pod, key);
	const char *text = json_object_get_string(value);

	if (!value)
		return 0;
	if (!json_object_is_type(value, json_type_string) || !*text)
		return -EINVAL;
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return -EINVAL;
	*ret = strdup(text);
	return *ret ? 1 : -ENOMEM;
}

static int read_size(struct json_object *pod, const struct key *key, unsigned *ret)
{
	struct json_object *value = find(pod, key);
	char text[32];
	uint64_t size;

	if (!value)
		return 0;
	if (kubernetes_value_text(value, text, sizeof(text)) < 0 ||
	    parse_uint(text, 1, GANG_SIZE_MAX, &size) < 0)
		return -EINVAL;
	*ret = (unsigned)size;
	return 0;
}

int gang_read(struct json_object *pod, struct demand *demand, const char **ret_wrong)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rows); i++) {
		*ret_wrong = rows[i].name.name;
		r = copy(pod, &rows[i].name, &demand->gang);
		if (r != 1)
			continue;
		*ret_wrong = rows[i].size.name;
		if (read_size(pod, &rows[i].size, &demand->gang_size) < 0)
			return -EINVAL;
	}
	for (size_t i = 0; r == 1 && !demand->gang_domain && i < ARRAY_SIZE(domains); i++) {
		*ret_wrong = domains[i].name;
		if ((r = copy(pod, &domains[i], &demand->gang_domain)) == 0)
			r = 1;
	}
	return r < 0 ? r : 0;
}
