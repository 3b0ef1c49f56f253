/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the commands of `gpupool sim`: inputs, lists of options, progress, numbers. */
#pragma once

#include <limits.h>
#include <pthread.h>

#include "gpupool.h"
#include "replay/replay.h"

#define SIMULATE_POLICIES \
	"default|random|dotprod|gpuclustering|gpupacking|bestfit|fgd|binpack|spread|topology"
#define SIMULATE_TIES "name|random|bestfit"

struct simulate_numbers {     /* seeds, percents */
	unsigned long *items; /* owned */
	size_t count, capacity;
};
/* "42", "42..51", "1,2,7..9"; OPTION is for messages. */
int simulate_read_numbers(const char *option, const char *text, struct simulate_numbers *ret,
			  struct error *error);
void simulate_numbers_release(struct simulate_numbers *numbers);

/* "fgd", "fgd/bestfit": a policy, with ties of its own or those of TIES. */
int simulate_read_policy(const char *text, const char *ties, struct policy_options *ret,
			 struct error *error);

/* The same with what may follow: "default/name+look-ahead=64+moves=1". */
int simulate_read_freedom(const char *text, const char *ties, struct run_options *ret,
			  struct error *error);

/* Where nodes and Pods come from: the same options with every command. */
struct simulate_inputs {
	const char *nodes, *pods, *cluster, *cluster_text;
};
/* Rows for a table whose options structure has a `struct simulate_inputs inputs`. */
#define SIMULATE_INPUT_ROWS(type)                                                           \
	{ .name = "nodes",                                                                  \
	  .kind = OPTION_STRING,                                                            \
	  .argument = "FILE",                                                               \
	  .help = "nodes and their cards; - is standard input",                             \
	  .offset = offsetof(type, inputs.nodes) },                                         \
		{ .name = "pods",                                                           \
		  .kind = OPTION_STRING,                                                    \
		  .argument = "FILE",                                                       \
		  .help = "Pods that arrive, and those that run already",                   \
		  .offset = offsetof(type, inputs.pods) },                                  \
		{ .name = "cluster",                                                        \
		  .kind = OPTION_STRING,                                                    \
		  .argument = "FILE",                                                       \
		  .help = "nodes and Pods in one file",                                     \
		  .offset = offsetof(type, inputs.cluster) },                               \
	{                                                                                   \
		.name = "cluster-text", .kind = OPTION_STRING, .argument = "TEXT",          \
		.help = "nodes and Pods in few words: '20 nodes of 8 h100; 300 Pods of 12 " \
			"GiB'",                                                             \
		.offset = offsetof(type, inputs.cluster_text)                               \
	}
/* A paragraph of each description. */
#define SIMULATE_INPUT_TEXT                                                                       \
	"A file is what kubectl get nodes,pods -A -o json prints (or -o yaml), a CSV file or a "  \
	"cluster in few words, told by how it begins. CSV of nodes: "                             \
	"sn, cpu_milli, memory_mib, gpu and model. Of Pods: name, cpu_milli, memory_mib, "        \
	"num_gpu and gpu_milli; optional gpu_spec, creation_time and deletion_time. A card of a " \
	"CSV file counts as 1000 GiB, gpu_milli 460 as a slice of 460 GiB."
#define SIMULATE_TIES_ROW(type)                                                              \
	{                                                                                    \
		.name = "ties", .kind = OPTION_CHOICE, .argument = "RULE",                   \
		.help = "which of the nodes that are alike to the policy",                   \
		.offset = offsetof(type, ties), .choices = SIMULATE_TIES, .fallback = "name" \
	}
#define SIMULATE_SEED_ROW(type)                                              \
	{                                                                    \
		.name = "seed", .kind = OPTION_UINT, .argument = "N",        \
		.help = "of the order of arrival and of whatever is random", \
		.offset = offsetof(type, seed), .fallback = "42"             \
	}
#define SIMULATE_JOBS_ROW(type)                                                    \
	{                                                                          \
		.name = "jobs", .kind = OPTION_UINT, .argument = "N",              \
		.help = "runs at once (default: as many as there are processors)", \
		.offset = offsetof(type, jobs), .minimum = 0, .maximum = 256       \
	}
#define SIMULATE_PROGRESS_ROW(type)                                                    \
	{                                                                              \
		.name = "progress", .kind = OPTION_FLAG,                               \
		.help = "say how far it is, also where standard error is no terminal", \
		.offset = offsetof(type, progress)                                     \
	}

#define SIMULATE_ARRIVAL_ROW(type)                                                               \
	{                                                                                        \
		.name = "arrival", .kind = OPTION_STRING, .argument = "PERCENT",                 \
		.help = "how much of all cards is asked for in the end, 0 to 1000; 0: each Pod " \
			"of the list once (default: 130 for CSV files, else 0)",                 \
		.offset = offsetof(type, arrival)                                                \
	}

/* -EINVAL when COMMAND would have nothing to read, or standard input twice. */
int simulate_check_inputs(const char *command, const struct simulate_inputs *inputs,
			  struct error *error);
/* Reads and finishes, and says what was passed over; *ret_seconds is what it took. */
int simulate_read_inputs(const struct simulate_inputs *inputs, struct trace *trace,
			 double *ret_seconds, struct error *error);
/* What was read, passed over and assumed of a cluster, as "notes". */
int simulate_add_notes(const struct trace *trace, struct json_object *object);
#define SIMULATE_ARRIVAL_DEFAULT UINT_MAX
/* What --arrival says; TEXT NULL: SIMULATE_ARRIVAL_DEFAULT. */
int simulate_read_arrival(const char *text, unsigned *ret, struct error *error);
/* ARRIVAL, or the default for what was read. */
unsigned simulate_arrival(unsigned arrival, const struct trace *trace);
double simulate_now(void);

/* Lines on standard error while runs take longer than a second. */
struct simulate_progress {
	pthread_mutex_t lock;
	size_t done, all;
	double start, shown;
	bool wanted, terminal;
};
void simulate_progress_start(struct simulate_progress *progress, size_t all, bool forced);
void simulate_progress_step(struct simulate_progress *progress);
/* DATA is a struct simulate_progress: PODS so far. */
void simulate_progress_pods(void *data, size_t pods);
void simulate_progress_end(struct simulate_progress *progress);

/* A number with that many decimals; NAN is a null. 0 or -ENOMEM. */
int simulate_add_number(struct json_object *object, const char *key, double value, int decimals);
/* What one run came to, as the fields of an object. */
int simulate_result_to_json(const struct run_options *options, const struct run_result *result,
			    struct json_object *object);
/* Pods that ran from the start, and by name those that are held in part. */
int simulate_add_running(const struct trace *trace, const struct run_result *result,
			 struct json_object *object);
void simulate_print_running(const struct trace *trace, const struct run_result *result);
int simulate_add_points(const struct run_result *result, bool replay, struct json_object *object);

struct simulate_statistics {
	double mean, deviation; /* of a sample; 0 for one value */
	double error2;          /* two standard errors of the mean */
};
struct simulate_statistics simulate_statistics_of(const double *values, size_t count);
