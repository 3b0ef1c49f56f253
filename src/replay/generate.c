/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of Pods from a seed: a mix of CPU-only Pods, shares, single and several cards, of which
 * share, sizes, CPU and wishes for models are drawn, for nodes that are given. Integers only, so
 * that a seed is the same list on every machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"

#define MODELS_MAX   64u
#define KIND_TRIES   64u
#define POD_SECONDS  60   /* between two arrivals */
#define LIFE_SHORT   600  /* seconds; lives are up to 256 times as long */
#define CPU_STEP     100  /* milli */
#define MEMORY_A_CPU 2048 /* MiB */

struct cluster {
	const struct trace *trace;
	const char *models[MODELS_MAX]; /* of cards */
	size_t model_count;
	int64_t cpu_a_card; /* milli, where CPUs are counted */
};

static int read_models(struct cluster *cluster, const struct inventory *inventory,
		       struct error *error)
{
	for (size_t i = 0; i < inventory->card_count; i++) {
		const char *model = inventory->cards[i].model;
		size_t at = 0;

		while (at < cluster->model_count && strcmp(cluster->models[at], model) != 0)
			at++;
		if (at < cluster->model_count)
			continue;
		if (at == MODELS_MAX)
			return error_set(error, E2BIG,
					 "the nodes have more than %u models of cards; name fewer",
					 MODELS_MAX);
		if (strpbrk(model, ",|\"\n\r"))
			return error_set(error, EINVAL,
					 "the model '%s' cannot stand in a CSV file; rename it",
					 model);
		cluster->models[cluster->model_count++] = model;
	}
	return 0;
}

static int read_cluster(struct cluster *cluster, const struct trace *trace, struct error *error)
{
	int64_t cpu = 0, cards = 0;

	cluster->trace = trace;
	for (size_t i = 0; i < trace->node_count; i++) {
		const struct node_spec *node = &trace->nodes[i];

		if (node->allocatable.cpu_milli == RESOURCE_UNLIMITED)
			return error_set(error, EINVAL,
					 "node %s does not say how much CPU it has; name nodes "
					 "that do",
					 node->name);
		int r = read_models(cluster, &node->inventory, error);
		if (r < 0)
			return r;
		if (!node->inventory.card_count)
			continue;
		cpu += node->allocatable.cpu_milli;
		cards += (int64_t)node->inventory.card_count;
	}
	if (!cards)
		return error_set(error, EINVAL, "no node has a card; name nodes that have some");
	cluster->cpu_a_card = cpu / cards;
	return 0;
}

/* A number from LOW to HIGH. */
static unsigned draw(struct random *random, unsigned low, unsigned high)
{
	return low + random_below(random, high - low + 1);
}

static void draw_mix(struct random *random, struct generated *ret)
{
	unsigned parts[TRACE_CLASS_MAX] = {
		[TRACE_CPU] = draw(random, 0, 300),
		[TRACE_SHARE] = draw(random, 100, 700),
		[TRACE_ONE] = draw(random, 100, 700),
		[TRACE_SEVERAL] = draw(random, 0, 120),
	};
	unsigned sum = 0;

	for (unsigned i = 0; i < TRACE_CLASS_MAX; i++)
		sum += parts[i];
	for (unsigned i = 0; i < TRACE_CLASS_MAX; i++)
		ret->permille[i] = parts[i] * 1000 / sum;
	ret->cpu_percent = draw(random, 30, 110);
	ret->constrained_percent = draw(random, 0, 1) ? draw(random, 5, 35) : 0;
	ret->own_sizes = draw(random, 0, 1);
}

static unsigned draw_milli(struct random *random, const struct generated *mix)
{
	static const unsigned usual[] = { 100, 200, 250, 300, 400, 500, 750 };

	return mix->own_sizes ? 10 * draw(random, 3, 97)
			      : usual[random_below(random, ARRAY_SIZE(usual))];
}

/* Half of the models or fewer, one at least; MODEL is among them. */
static void draw_models(struct random *random, const struct cluster *cluster, const char *model,
			struct generated_kind *kind)
{
	unsigned wanted = draw(random, 1, 1 + (unsigned)cluster->model_count / 3);

	kind->models[kind->model_count++] = model;
	for (unsigned i = 1; i < wanted && kind->model_count < ARRAY_SIZE(kind->models); i++) {
		const char *other =
			cluster->models[random_below(random, (uint32_t)cluster->model_count)];
		size_t at = 0;

		while (at < kind->model_count && strcmp(kind->models[at], other) != 0)
			at++;
		if (at == kind->model_count)
			kind->models[kind->model_count++] = other;
	}
}

/* What some node could hold when nobody is there. */
static bool draw_kind(struct random *random, const struct cluster *cluster,
		      const struct generated *mix, enum trace_class class,
		      struct generated_kind *ret)
{
	static const unsigned several[] = { 2, 2, 4, 4, 8 };
	const struct node_spec *node =
		&cluster->trace->nodes[random_below(random, (uint32_t)cluster->trace->node_count)];
	int64_t cpu;

	*ret = (struct generated_kind){ .class = class };
	ret->cards = class == TRACE_CPU ? 0 : 1;
	if (class == TRACE_SEVERAL)
		ret->cards = several[random_below(random, ARRAY_SIZE(several))];
	ret->milli = class == TRACE_SHARE ? draw_milli(random, mix) : 1000;
	cpu = cluster->cpu_a_card * mix->cpu_percent / 100 * draw(random, 30, 170) / 100;
	cpu = cpu * (class == TRACE_CPU ? 500 : ret->cards * ret->milli) / 1000;
	ret->cpu_milli = (cpu / CPU_STEP + 1) * CPU_STEP;
	ret->memory_mib = ret->cpu_milli * MEMORY_A_CPU / 1000;
	if (class != TRACE_CPU && draw(random, 1, 100) <= mix->constrained_percent &&
	    node->inventory.card_count)
		draw_models(random, cluster, node->inventory.cards[0].model, ret);
	return node->inventory.card_count >= ret->cards &&
	       node->allocatable.cpu_milli >= ret->cpu_milli &&
	       node->allocatable.memory_mib >= ret->memory_mib;
}

/* Kinds of a class: the first is the most frequent, the next half as frequent, then a third. */
static int draw_class(struct random *random, const struct cluster *cluster, enum trace_class class,
		      struct generated *ret)
{
	static const struct {
		unsigned low, high;
	} kinds[TRACE_CLASS_MAX] = { { 1, 5 }, { 3, 10 }, { 4, 12 }, { 2, 5 } };
	unsigned count = draw(random, kinds[class].low, kinds[class].high);

	for (unsigned i = 0; i < count && ret->permille[class]; i++) {
		struct generated_kind *kind =
			VEC_ADD(&ret->kinds, &ret->kind_count, &ret->kind_capacity);
		bool fits = false;

		if (!kind)
			return -ENOMEM;
		for (unsigned tries = 0; tries < KIND_TRIES && !fits; tries++)
			fits = draw_kind(random, cluster, ret, class, kind);
		kind->weight = fits ? ret->permille[class] * 1000 / (i + 1) : 0;
	}
	return 0;
}

static void write_pod(struct strbuf *out, const struct generated_kind *kind, size_t number,
		      struct random *random)
{
	int64_t created = (int64_t)number * POD_SECONDS;
	int64_t life = (int64_t)LIFE_SHORT << draw(random, 0, 7);

	strbuf_addf(out, "pod-%06zu,%lld,%lld,%u,%u,", number, (long long)kind->cpu_milli,
		    (long long)kind->memory_mib, kind->cards, kind->cards ? kind->milli : 0);
	for (size_t i = 0; i < kind->model_count; i++)
		strbuf_addf(out, "%s%s", i ? "|" : "", kind->models[i]);
	life += random_below(random, (uint32_t)life);
	strbuf_addf(out, ",%lld,%lld\n", (long long)created, (long long)(created + life));
}

static int write_pods(struct random *random, size_t count, const struct generated *mix,
		      struct strbuf *out)
{
	uint64_t all = 0;

	for (size_t i = 0; i < mix->kind_count; i++)
		all += mix->kinds[i].weight;
	if (!all || all > UINT32_MAX)
		return -EINVAL;
	strbuf_adds(out, "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,"
			 "deletion_time\n");
	for (size_t i = 0; i < count; i++) {
		uint64_t at = random_below(random, (uint32_t)all);
		size_t kind = 0;

		while (at >= mix->kinds[kind].weight)
			at -= mix->kinds[kind++].weight;
		write_pod(out, &mix->kinds[kind], i, random);
	}
	return strbuf_failed(out);
}

void generated_release(struct generated *generated)
{
	free(generated->kinds);
	*generated = (struct generated){ .kinds = NULL };
}

int generate_pods(const struct trace *trace, uint64_t seed, size_t count, struct generated *ret,
		  struct strbuf *out, struct error *error)
{
	cleanup(generated_release) struct generated mix = { .kinds = NULL };
	struct cluster cluster = { .trace = trace };
	struct random random;

	int r = read_cluster(&cluster, trace, error);
	if (r < 0)
		return r;
	random_start(&random, seed, RANDOM_MIX);
	draw_mix(&random, &mix);
	for (int class = 0; r == 0 && class < TRACE_CLASS_MAX; class ++)
		r = draw_class(&random, &cluster, (enum trace_class) class, &mix);
	if (r == 0)
		r = write_pods(&random, count, &mix, out);
	if (r == -ENOMEM)
		return error_no_memory(error);
	if (r < 0)
		return error_set_errno(error, -r, "no list of Pods can be made for these nodes");
	*ret = mix;
	mix = (struct generated){ .kinds = NULL };
	return 0;
}
