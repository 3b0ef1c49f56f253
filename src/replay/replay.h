/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face of src/replay: what would have happened. A trace (nodes, Pods, times) is read from files,
 * its Pods arrive at a pool and leave it, and what came of it is added up. Every decision is one of
 * src/place; nothing is decided here. A trace is only read once it is finished: runs with other
 * policies and seeds may use it from several threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/model.h"
#include "place/place.h"
#include "replay/bench.h"
#include "replay/trace.h"

/* ---- the mix of a trace (workload.c) ---- */

/* The mix of a trace for pool_set_workload(): most frequent first; Pods that differ in memory of the
 * host only are one class. The array is the caller's. */
int workload_make(const struct trace *trace, struct workload_class **ret, size_t *ret_count,
		  struct error *error);

/* ---- lists of Pods from a seed (generate.c) ---- */

struct generated_kind { /* Pods that ask for the same */
	enum trace_class class;
	unsigned weight; /* how often, beside the others */
	int64_t cpu_milli, memory_mib;
	unsigned cards, milli; /* 1/1000 of each card */
	const char *models[8]; /* of the trace's cards; none: any */
	size_t model_count;
};
struct generated { /* what was drawn */
	unsigned permille[TRACE_CLASS_MAX];
	unsigned cpu_percent; /* asked for with a card, of the CPU that there is for a card */
	unsigned constrained_percent;
	bool own_sizes;               /* shares of any size, not of usual ones */
	struct generated_kind *kinds; /* owned */
	size_t kind_count, kind_capacity;
};
void generated_release(struct generated *generated);
/* A CSV list of COUNT Pods for the nodes of TRACE, the same on every machine. */
int generate_pods(const struct trace *trace, uint64_t seed, size_t count, struct generated *ret,
		  struct strbuf *out, struct error *error);

/* ---- fragmentation (fragments.c) ---- */

/*
 * FGD's measure: F of a node for one class of Pods is what is free on its cards and no Pod of that
 * class can use, in 1/1000 of a card; of a mix: the mean by share. The mix: the most frequent
 * classes that make up 95 % of the Pods. Without WITH_CPU classes that ask for no card do not
 * count; with it they count all that is free, as in the publication.
 */
struct fragments;
int fragments_new(const struct trace *trace, bool with_cpu, struct fragments **ret,
		  struct error *error);
void fragments_free(struct fragments *fragments);
DEFINE_CLEANUP(struct fragments, fragments_free)
/* NODE: of the trace; POOL_NODE: the same in the pool. */
double fragments_of_node(const struct fragments *fragments, const struct pool *pool, unsigned node,
			 unsigned pool_node);

/* ---- runs (run.c) ---- */

struct run_options {
	struct policy_options place;
	unsigned arrival; /* see struct protocol */
	bool original;    /* all peculiarities of the published simulator */
	bool replay;      /* arrivals and departures by the trace's times instead of the protocol */
	const struct arrivals *arrivals; /* instead of the protocol's; NULL: by arrival and seed */
	bool wait;     /* replay: who does not fit waits, first come first tried; else dropped */
	bool cards;    /* cards_left is wanted */
	unsigned load; /* replay: the list again and again, per cent asked for at once; 0: once */
	unsigned look_ahead;     /* see struct seating_options; 0 as 1. Not with replay */
	unsigned moves_permille; /* see there */
	/* NULL, or who gets the log of decisions, see place/record.h. */
	int (*record)(void *data, const char *line, size_t length);
	void *record_data;
};

struct run_count {
	size_t arrived, failed;
};

struct run_point {
	double arrived_percent; /* protocol: this percent has arrived; replay: asked for by then */
	int64_t time;           /* replay: seconds */
	double allocated_percent; /* of all cards */
	double fragmented_percent;
	size_t failed; /* so far */
};

struct run_partial { /* runs already, and not all that it holds could be held */
	uint32_t pod;
	char *why; /* owned */
};

struct run_result {
	double arrived_percent;   /* asked for by all that arrived, of all cards */
	double allocated_percent; /* at the end; replay: mean over time */
	double peak_percent;
	double unallocated_gpus;
	double fragmented_percent;   /* as allocated_percent */
	size_t placed, failed;       /* a Pod that waits at the end has failed */
	uint64_t moved;              /* running Pods that changed places */
	size_t running;              /* Pods that run from the start; neither placed nor arrived */
	struct run_partial *partial; /* owned; some of those */
	size_t partial_count, partial_capacity;
	struct run_count classes[TRACE_CLASS_MAX], constrained;
	double wait_seconds;      /* replay with wait: mean over those placed */
	double seconds;           /* of wall time, from the empty pool to the last decision */
	uint64_t checksum;        /* of all decisions */
	struct run_point *points; /* owned */
	size_t point_count, point_capacity;
	uint16_t *cards_left; /* owned; 1/1000 left of each card of the trace at the end, or NULL */
};
void run_result_release(struct run_result *result);
/* -EINVAL for what the trace cannot be asked (no times, no cards). */
int run_trace(const struct trace *trace, const struct run_options *options, struct run_result *ret,
	      struct error *error);
/* The figure at a percent of arrival, NAN when it was not reached. */
double run_allocated_at(const struct run_result *result, double percent);

/* ---- how many more fit (fit.c) ---- */

struct fit_options {
	struct run_options run;
	bool arrive;  /* the list arrives first; else only what runs already is there */
	size_t limit; /* Pods that are tried at most */
	/* NULL, or who is told now and then how many have been placed. */
	void (*progress)(void *data, size_t pods);
	void *progress_data;
};

struct fit_stop { /* nodes that refuse one more for the same cause */
	enum reason_code code;
	size_t nodes;
};

struct fit_result {
	size_t count;
	bool limited;         /* there may be more than that */
	struct reason reason; /* why the next one does not fit; none when limited */
	size_t *nodes;        /* owned; by node of the trace: how many it takes */
	size_t *models;       /* owned; by model; the last is Pods without cards */
	struct fit_stop stops[REASON_CODE_MAX]; /* most nodes first */
	size_t stop_count;
	struct run_result before; /* what was there */
};
void fit_result_release(struct fit_result *result);
/* What one Pod asks for, "12 GiB 30 % 4 CPUs", "2 cards", "1 1g.10gb": as in short clusters. */
int fit_parse(const char *text, struct demand *ret, struct error *error);
/* The one Pod of a manifest, YAML or JSON. NOTES gets what is not read of it. */
int fit_read(const char *path, struct string_list *notes, struct demand *ret, struct error *error);
/* How many Pods of DEMAND fit one after another, as the policy places them. */
int fit_ask(const struct trace *trace, const struct demand *demand,
	    const struct fit_options *options, struct fit_result *ret, struct error *error);

/* ---- a pool to ask (snapshot.c) ---- */

struct snapshot;
/*
 * The pool with what runs already; ARRIVE: and with the list, all of it or, when BEFORE is not NULL,
 * those who arrive before that Pod does. -ENOENT: it does not arrive. TRACE outlives it.
 */
int snapshot_take(const struct trace *trace, const struct run_options *options, bool arrive,
		  const uint32_t *before, struct snapshot **ret, struct error *error);
void snapshot_free(struct snapshot *snapshot);
DEFINE_CLEANUP(struct snapshot, snapshot_free)
struct pool *snapshot_pool(struct snapshot *snapshot);
const struct run_result *snapshot_result(const struct snapshot *snapshot); /* what is there */

/* ---- where room is stranded (stranded.c) ---- */

/* Why nobody of the mix can use what is free on a card: how near the nearest class comes. */
enum stranded_cause {
	STRANDED_NOT, /* some class can */
	STRANDED_PODS,
	STRANDED_HOST_MEMORY,
	STRANDED_CPU,     /* the card would do, the node has no CPU for it */
	STRANDED_CARDS,   /* the card would do, the node has too few of them */
	STRANDED_COMPUTE, /* memory is there, compute is held */
	STRANDED_MEMORY,  /* too little memory is left, or the card is no longer whole */
	STRANDED_CLOSED,  /* taints and labels */
	STRANDED_MODEL,   /* nobody takes such a card, or it is in another mode */
	STRANDED_SICK,    /* unhealthy, or used without a grant */
	STRANDED_CAUSE_MAX,
	STRANDED_CAUSE_INVALID = -22,
};
const char *stranded_cause_to_string(enum stranded_cause cause); /* "compute_used_up" */
const char *stranded_cause_words(enum stranded_cause cause);     /* "compute used up" */

struct stranded_sum {
	size_t cards;     /* on which something is free */
	size_t whole;     /* of those: nobody is there */
	uint64_t gib;     /* free */
	uint64_t compute; /* per cent of a card for which neither cap nor weight stands */
};

struct stranded_share { /* of a node, a model, or all */
	size_t cards;
	uint64_t gib;                                     /* of those cards */
	struct stranded_sum free;                         /* the sum of the next */
	struct stranded_sum by_cause[STRANDED_CAUSE_MAX]; /* each card is in one */
	double fragment_milli;                            /* FGD's measure */
};

struct stranded_report {
	struct stranded_share total;
	struct stranded_share *models; /* owned; by model */
	struct stranded_share *nodes;  /* owned; by node of the trace */
	struct resources *left;        /* owned; by node */
	struct run_result before;      /* what was there */
};
void stranded_report_release(struct stranded_report *report);
/* ARRIVE: after the list; else with what runs already. The mix is that of all Pods of the trace; of
 * a Pod of several requests the first counts. */
int stranded_find(const struct trace *trace, const struct run_options *options, bool arrive,
		  struct stranded_report *ret, struct error *error);

/* ---- what if (whatif.c) ---- */

enum whatif_slices { WHATIF_SLICES_AS_THEY_ARE, WHATIF_SLICES_ON, WHATIF_SLICES_OFF };

struct whatif_texts { /* not owned */
	const char *const *items;
	size_t count;
};

struct whatif_changes {
	/* "5 nodes of 8 h100"; "gpu-*", "10", "10 of h100": the last ones by name. */
	struct whatif_texts add, remove;
	/* "h100=1g.10gb*7", "*A100*=3g.40gb,2g.20gb*2", "h100=as-needed" */
	struct whatif_texts mig;
	enum whatif_slices slices; /* off: whole cards instead */
};

struct whatif {
	struct trace trace;           /* the changed cluster; the same Pods by the same numbers */
	struct string_list sentences; /* what was changed */
	struct arrivals displaced;    /* ran before, and arrive now */
};
void whatif_release(struct whatif *whatif);
/*
 * Slices of Pods whose models become MIG ask for instances of the smallest profile that holds
 * them. Pods that run on what is removed or changed arrive again. TRACE is finished, as is the
 * result. -EINVAL for a change that cannot be.
 */
int whatif_make(const struct trace *trace, const struct whatif_changes *changes, struct whatif *ret,
		struct error *error);
/* Who arrives before and after: the same Pods, those that are displaced ahead of them. */
int whatif_arrivals(const struct trace *trace, const struct whatif *whatif,
		    const struct protocol *protocol, struct arrivals *ret_before,
		    struct arrivals *ret_after, struct error *error);
