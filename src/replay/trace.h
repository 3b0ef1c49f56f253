/* SPDX-License-Identifier: Apache-2.0 */
/* Traces (nodes, Pods, times), random numbers, and who arrives in which order. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/model.h"

/* ---- traces (trace.c) ---- */

/* By what a Pod asks for; each Pod is in one. */
enum trace_class {
	TRACE_CPU,     /* no card */
	TRACE_SHARE,   /* a part of one card or more: slices, MIG instances, replicas */
	TRACE_ONE,     /* one whole card */
	TRACE_SEVERAL, /* several whole cards */
	TRACE_CLASS_MAX,
	TRACE_CLASS_INVALID = -22,
};
const char *trace_class_to_string(enum trace_class class); /* "cpu_only", "share", ... */

struct trace_shape { /* what many Pods ask for */
	struct demand demand;
	enum trace_class class;
	bool constrained; /* accepts some card models or nodes only */
	unsigned cards;
	unsigned milli; /* 1/1000 of each of those cards, see trace_milli() */
	int64_t total;  /* 1/1000 of all its requests together */
};

/* The shape whose demand it is. */
static inline const struct trace_shape *trace_shape_of(const struct demand *demand)
{
	return (const void *)((const char *)demand - offsetof(struct trace_shape, demand));
}

struct trace_pod {
	uint32_t shape;
	uint32_t name;        /* where it begins in names */
	int64_t created, end; /* INT64_MAX: never ends */
};

#define TRACE_NO_NODE UINT32_MAX

struct trace_running { /* a Pod of the trace that runs already: it is no arrival */
	uint32_t pod;
	uint32_t node;        /* set by trace_finish(); TRACE_NO_NODE: not in the trace */
	char *node_name;      /* owned */
	struct grant *grants; /* owned; when its cards are known: one a request */
	size_t grant_count;
};

struct trace_gang {            /* Pods that are placed together or not at all */
	unsigned size;         /* so many must have come; the largest that a Pod says */
	unsigned running;      /* Pods that run already */
	uint32_t first, count; /* the others, in trace->gang_pods; set by trace_finish() */
};

struct trace_member {
	uint32_t pod, gang;
	bool runs;
};

struct trace {
	struct node_spec *nodes; /* owned; in order of their names once finished */
	size_t node_count, node_capacity;
	struct trace_shape *shapes; /* owned */
	size_t shape_count, shape_capacity;
	struct trace_pod *pods; /* owned */
	size_t pod_count, pod_capacity;
	struct trace_running *running; /* owned; in order of the Pods */
	size_t running_count, running_capacity;
	struct trace_gang *gangs; /* owned */
	size_t gang_count, gang_capacity;
	struct trace_member *members; /* owned; in order of the Pods */
	size_t member_count, member_capacity;
	bool timed;  /* the Pods' times are known */
	bool listed; /* Pods are from a list of those that arrive (CSV), not from a cluster */
	/* The rest is set by trace_finish(). */
	size_t model_count;    /* of cards */
	uint16_t *card_models; /* owned; of all cards of all nodes, in order */
	uint32_t *first_cards; /* owned; where a node's cards begin there; node_count + 1 */
	uint16_t
		*shape_millis; /* owned; shape_count * model_count: 0 when that model will not do */
	int64_t capacity_milli; /* 1000 a card */
	uint32_t *gang_pods;    /* owned; those of one gang lie together */
	/* Private. */
	char *names; /* owned */
	size_t names_length, names_capacity;
	uint32_t *slots; /* owned; Pods by name */
	size_t slot_count;
	struct map *node_names, *shape_texts, *gang_names; /* owned */
	struct listing *listing;                           /* owned; of a cluster, or NULL */
};

void trace_init(struct trace *trace);
void trace_release(struct trace *trace);
#define autotrace cleanup(trace_release) struct trace

/* "h100": the name of a model known by that word, as in short clusters; NULL. */
const char *trace_known_model(const char *word);
/* A healthy card of MIB, of mode auto, with a UUID by the node's name and INDEX. 0 or -ENOMEM. */
int trace_add_card(struct node_spec *node, const char *model, uint64_t mib, unsigned index);
/* Moves *NODE, which is empty after. -EEXIST for a name that is there. */
int trace_add_node(struct trace *trace, struct node_spec *node, struct error *error);
/* The shape with that TEXT, which says all that decisions look at; -ENOENT. */
int trace_find_shape(const struct trace *trace, const char *text, uint32_t *ret);
/* Moves *DEMAND, which is empty after. */
int trace_add_shape(struct trace *trace, const char *text, struct demand *demand, uint32_t *ret,
		    struct error *error);
/* The shape of *DEMAND by its JSON form, a new one when there is none; *DEMAND is empty after. Shapes
 * with another APART (may be NULL) are others, though they ask for the same. */
int trace_intern(struct trace *trace, struct demand *demand, const char *apart, uint32_t *ret,
		 struct error *error);
/* -EEXIST for a name that is there. */
int trace_add_pod(struct trace *trace, const char *name, uint32_t shape, int64_t created,
		  int64_t end, struct error *error);
/* The Pod that was added last runs already. Moves *RUNNING, which is empty after. */
int trace_add_running(struct trace *trace, struct trace_running *running, struct error *error);
void trace_running_release(struct trace_running *running);
/* The Pod that was added last is of the gang NAME, which is there when SIZE Pods are (trace_gang.c). */
int trace_join_gang(struct trace *trace, const char *name, unsigned size, struct error *error);
int trace_finish_gangs(struct trace *trace); /* 0 or -ENOMEM; of trace_finish() */
/* Of a finished trace: NULL for a Pod that is of none or that runs already. */
const struct trace_gang *trace_gang_of(const struct trace *trace, uint32_t pod);
/* Have as many come as it wants? */
static inline bool trace_gang_is_whole(const struct trace_gang *gang)
{
	return gang->count + gang->running >= gang->size;
}
/* Is it of a gang and not the first of it? It comes with the first then. */
bool trace_pod_follows(const struct trace *trace, uint32_t pod);
/* What the Pod, or the whole gang that it is of, asks for: 1/1000 of cards. */
int64_t trace_pod_milli(const struct trace *trace, uint32_t pod);
/* A Pod with its times, its gang, and the node and the cards on which it runs; *DEMAND is empty after. */
int trace_add_demand(struct trace *trace, const char *name, struct demand *demand,
		     struct error *error);
/* One of the cards of a model of the finished trace. */
const struct card *trace_model_card(const struct trace *trace, size_t model);
/* The Pod of that name; -ENOENT. */
int trace_find_pod(const struct trace *trace, const char *name, uint32_t *ret);
const char *trace_pod_name(const struct trace *trace, size_t pod);
/* Sorts the nodes, adds up. Once, when all is added. -EINVAL without nodes. */
int trace_finish(struct trace *trace, struct error *error);
/*
 * 1/1000 of CARD that each card of DEMAND's first request takes: 1000 for whole cards, the larger
 * of memory and compute for slices, memory slices for MIG. 0: the card will not do. A shape's own
 * figure is that of the model with the most cards.
 */
unsigned trace_milli(const struct demand *demand, const struct card *card);

/* ---- inputs (trace_source.c) ---- */

enum trace_part { TRACE_NODES = 1, TRACE_PODS = 2, TRACE_ALL = 3 };

/*
 * Adds what the file has of those parts; "-" is standard input. What it is, its text says: CSV,
 * what kubectl prints as JSON or YAML, or nodes and Pods in few words. -EINVAL for CSV of both.
 */
int trace_read(struct trace *trace, enum trace_part parts, const char *path, struct error *error);

/* What was read from a cluster, passed over and assumed, a sentence each. 0 or -ENOMEM. */
int trace_notes(const struct trace *trace, struct string_list *ret);

struct trace_source {     /* an open file whose beginning has been looked at */
	const char *name; /* for messages */
	int fd;
	char start[4096];
	size_t start_length;
};

/*
 * The CSV files of the openb traces, by the names of their columns (trace_csv.c). A node: sn,
 * cpu_milli, memory_mib, gpu, model. A Pod: name, cpu_milli, memory_mib, num_gpu, gpu_milli; optional
 * gpu_spec ("V100M16|V100M32"), creation_time, deletion_time (empty: never ends). A card counts
 * as 1000 GiB, so that a unit is 1/1000 of it: these traces know no memory of cards.
 */
int trace_read_nodes_csv(struct trace *trace, const struct trace_source *source,
			 struct error *error);
int trace_read_pods_csv(struct trace *trace, const struct trace_source *source,
			struct error *error);

/*
 * Nodes and Pods in few words (trace_short.c): lines, or parts between ';', such as "20 nodes of 8
 * h100", "5 nodes of 4 RTX4090 24 GiB", "2 nodes of 8 a100 in MIG", "300 Pods of 12 GiB", "10 Pods of 8 cards", "5 Pods of 2
 * 1g.10gb", "9 Pods of 12 GiB 30 % 4 CPUs", "4 gangs of 16 Pods of 8 cards". Or YAML with the lists nodes (count, name, gpus, model, gpu-memory, mode, cpu, memory, pods)
 * and pods (count, name, gpus, gpu-memory of each card, gpu-compute, mig, model, cpu, memory,
 * created, end, node: where it runs already; gang: every so many are one, gang-domain: on nodes with one
 * value of this label, which nodes have by label: rack=r1). TEXT ends with NUL; errors call it SOURCE. Only PARTS
 * of it are added.
 */
int trace_parse_short(struct trace *trace, enum trace_part parts, const char *text, size_t length,
		      const char *source, struct error *error);

/* ---- random numbers (random.c) ---- */

/*
 * SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014):
 * the same numbers on every machine. STREAM tells apart what one seed is used for.
 */
struct random {
	uint64_t state;
};
enum random_stream { RANDOM_SHUFFLE, RANDOM_TUNE, RANDOM_NODES, RANDOM_MIX };
void random_start(struct random *random, uint64_t seed, enum random_stream stream);
uint64_t random_next(struct random *random);
/* Uniform below LIMIT, which is not 0. */
uint32_t random_below(struct random *random, uint32_t limit);
void random_shuffle(struct random *random, uint32_t *items, size_t count);

/* ---- who arrives, in which order (protocol.c) ---- */

struct protocol {
	uint64_t seed;
	unsigned percent; /* of the cards' capacity that arrives; 0: each Pod once */
	bool original;    /* see docs/placement.md */
};

struct arrivals {
	uint32_t *pods; /* owned; positions in the trace's pods */
	size_t count, capacity;
};
/*
 * The published protocol: the list of those that do not run already is shuffled; while it asks for
 * more than percent, one at random is removed; then random ones of the list are appended until the next would ask for more. The
 * original counts one card of a Pod in that last test, not all.
 */
int arrivals_make(const struct trace *trace, const struct protocol *protocol, struct arrivals *ret,
		  struct error *error);
void arrivals_release(struct arrivals *arrivals);
