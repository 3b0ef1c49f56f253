/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the readers share; only read*.c and combine.c include it.
 *
 * How to add a key that means something: a row { key, handler } in the table of a read_*.c; the
 * handler is called for each leaf whose last key is that one, in any case, and looks with
 * outline_up() at what stands above. How to add a line of another shape: a look in the line
 * function of the reader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doctor/facts.h"
#include "doctor/outline.h"

#define NAME_MAX_    64
#define WANTS_MAX    16
#define NODES_MAX    512
#define TAINTS_MAX   8
#define RUNTIMES_MAX 24
#define PHRASES_MAX  128
#define CARDS_MAX    64

/* Where a heading says that a command ran. */
enum where { WHERE_UNKNOWN, WHERE_HOST, WHERE_CONTAINER };

enum component {
	COMPONENT_NONE,
	COMPONENT_PLUGIN,
	COMPONENT_MPS,
	COMPONENT_DRIVER,
	COMPONENT_TOOLKIT,
	COMPONENT_VALIDATOR,
	COMPONENT_DISCOVERY, /* of GPUs */
	COMPONENT_NFD,
	COMPONENT_OPERATOR,
	COMPONENT_DRA,
	COMPONENT_HAMI,
	COMPONENT_OTHER, /* of the GPU stack: exporters, MIG manager */
};

/* A place that outlives its line. */
struct kept {
	const char *source; /* one of readers->sources */
	uint64_t line;      /* 0: nothing is kept */
	char text[200];
};

struct want {
	unsigned container; /* serial of what the resources belong to */
	char resource[NAME_MAX_];
	char request[24], limit[24];
	struct kept place;
};

/* One object of Kubernetes, while its lines come by. */
struct object {
	bool any;
	char kind[32], name[NAME_MAX_];
	bool describe, status, server; /* server: it came from an API server, so it was valid */
	bool pod, containers, template, claim, component_image;
	bool kubelet_mount, host_network;
	struct want wants[WANTS_MAX];
	size_t want_count;
	char runtime_class[NAME_MAX_], node_name[NAME_MAX_], phase[32];
	struct kept node_name_place, zero_place, place;
	char selectors[8][128];
	size_t selector_count;
	char tolerations[8][NAME_MAX_];
	size_t toleration_count;
	bool tolerates_all;
	char cpu[24], memory[24];
	struct kept cpu_place, memory_place;
	char env[NAME_MAX_]; /* name of the variable whose value comes next */
	unsigned env_item;
	/* A node's. */
	bool capacity, allocatable, labels, gpu_labels, nfd_labels;
	unsigned resources; /* rows of capacity or allocatable */
	char taints[TAINTS_MAX][NAME_MAX_];
	size_t taint_count;
	struct {
		char name[NAME_MAX_];
		long capacity, allocatable, allocated; /* -1: not said */
	} gpus[8];
	size_t gpu_count;
	long cpu_milli, memory_mib; /* allocatable; -1 */
	char driver[32], product[NAME_MAX_];
	/* A class's and a slice's. */
	char handler[NAME_MAX_], api[32];
};

/* What is kept of a node for combine.c. */
struct node {
	char name[NAME_MAX_];
	struct {
		char name[NAME_MAX_];
		long capacity, allocatable, allocated;
	} gpus[8];
	size_t gpu_count;
	char taints[TAINTS_MAX][NAME_MAX_];
	size_t taint_count;
	long cpu_milli, memory_mib;
	char driver[32], product[NAME_MAX_];
	bool labels;
	struct kept place;
};

/* A containerd configuration, while its lines come by. */
struct containerd {
	bool seen, main_file;
	char version[8], default_name[NAME_MAX_];
	bool imports, cri_disabled, old_default;
	unsigned sections; /* bits: 1 cri, 2 grpc_cri, 4 cri_v1 */
	struct {
		char name[NAME_MAX_];
		bool nvidia, other_binary, options;
		signed char systemd; /* -1: not said */
	} runtimes[RUNTIMES_MAX];
	size_t runtime_count;
	struct kept place, nvidia_place, default_place;
};

struct crio {
	bool seen, nvidia;
	unsigned runtimes;
};

/* daemon.json, docker info, docker inspect. */
struct docker {
	bool daemon, info, inspect, nvidia, runtimes, capabilities, compute, driver_capability;
	char asked[96]; /* capabilities of a device request */
	struct kept place;
};

struct cdi {
	bool spec;
	unsigned devices;
};

/* One listing of nvidia-smi. */
struct smi {
	bool any, detail, processes, no_instances;
	unsigned cards, mig_on, mig_off, instances, row;
	char model[NAME_MAX_], profile[24], driver[32];
	bool models_differ, profiles_differ;
	bool tag; /* the leaf at hand is of XML, below PARENT */
	char parent[48];
	/* The card at hand; MiB, W; 0 or -1: not said. */
	long pcie_now, pcie_most, width_now, width_most, power_limit, power_default, used, total;
	bool busy;
};

enum listing_kind {
	LISTING_NONE,
	LISTING_PODS,
	LISTING_NODES,
	LISTING_DAEMONSETS,
	LISTING_CLASSES,
	LISTING_SLICES,
	LISTING_RUNTIMECLASSES,
	LISTING_EVENTS,
	LISTING_CLAIMS,
	LISTING_CUSTOM_GPU,
	LISTING_HELM,
};

/* The table at hand. */
struct listing {
	int kind;
	bool all; /* of all namespaces */
	bool plugin, nvidia_class, gpu_slice;
	unsigned rows, sets, whole_nodes, short_nodes;
	int column, selector; /* where NODE (or GPU) and NODE SELECTOR stand; -1 */
	bool driver_column;   /* the last one */
	char driver[32];
	char set_name[2 * NAME_MAX_], set_selector[NAME_MAX_];
	struct {
		char node[NAME_MAX_], owner[NAME_MAX_];
	} plugins[16];
	size_t plugin_count;
};

/* Lists of the host. */
struct host {
	bool nvidia, lspci_nvidia, pci_nvidia, libml, libcuda, sockets, other_socket, cdi_files;
	bool dev, dev_card, dev_uvm;
	unsigned lsmod_rows, lspci_rows, rows;
};

/* The kubelet's record of given devices, kubelet_internal_checkpoint. */
struct checkpoint {
	char pod[NAME_MAX_]; /* of the entry at hand */
	bool gpu;            /* it is about a GPU resource */
	struct {
		char device[NAME_MAX_], pod[NAME_MAX_];
	} given[CARDS_MAX]; /* what is beyond is not compared */
	size_t count;
};

/* What the heading, or the name of the source where there is none, is about. */
enum {
	HINT_HISTORY = 1,
	HINT_MODULES = 2,
	HINT_DEV = 4,
	HINT_CGROUP = 8,
	HINT_ENFORCE = 16,
	HINT_HELM = 32,
};

struct readers {
	struct facts *facts;
	struct fact_place place; /* of the line at hand; its text is in TEXT */
	char text[FACT_TEXT_MAX + 1];
	char **sources; /* names, for as long as something may point there */
	size_t source_count, source_capacity;
	const char *source; /* the last of them */
	char heading[256];  /* "" for none */
	uint64_t heading_line;
	enum where where;
	unsigned hints;
	bool heading_empty; /* no line came after the heading */
	int failed;         /* 0 or -ENOMEM */
	char separator;     /* of the leaf at hand */
	struct outline outline;
	struct object object;
	struct containerd containerd;
	struct crio crio;
	struct docker docker;
	struct cdi cdi;
	struct smi smi;
	struct listing listing;
	struct host host;
	struct checkpoint checkpoint;
	/* Over everything. */
	bool whole_gpu_pod;
	long pod_cpu, pod_memory; /* milli, MiB: the most that a GPU Pod asks for */
	struct kept pod_cpu_place, pod_memory_place;
	bool configured, restarted; /* by a history of commands */
	struct kept configured_place;
	struct kept listed, listed_container; /* nvidia-smi with cards */
	bool mps_daemon, scheduled;
	bool plugin_listed; /* among DaemonSets */
	unsigned listings;  /* of nvidia-smi with cards */
	unsigned instances; /* of MIG, in listings of nvidia-smi */
	struct node *nodes;
	size_t node_count, node_capacity;
	uint64_t *label_hashes; /* of a collection and a key, and of the collection alone */
	size_t label_count;
	struct reader_map *keys;
	unsigned char phrases[65536], phrase_next[PHRASES_MAX]; /* read_phrase.c */
	char line[65536 + 1];                                   /* a copy that readers cut up */
};

/* A leaf with this last key. VALUE is "" where the key opens a block. */
typedef void read_leaf(struct readers *readers, const char *key, char *value);

struct key_row {
	const char *key; /* in small letters */
	read_leaf *read;
};

/* One table a reader, each ended by a row without a key. */
extern const struct key_row keys_object[], keys_pod[], keys_node[], keys_plugin[], keys_runtime[],
	keys_docker[], keys_cdi[], keys_smi[], keys_dra[], keys_host[];

/* Each line once, before its outline; true: it is a row of a table, and no outline. */
bool read_smi_line(struct readers *readers, char *line);
bool read_table_line(struct readers *readers, char *line);
bool read_host_line(struct readers *readers, char *line);
bool read_resource(struct readers *readers, const char *key, char *value);
bool read_allocated(struct readers *readers, char **words, size_t count);
struct object *read_object(struct readers *readers); /* the one at hand, begun when there is none */
bool read_label(struct readers *readers, const char *key, const char *value);
void read_env(struct readers *readers, const char *name, const char *value);
void read_image(struct readers *readers, const char *image);
void read_toleration(struct readers *readers, char *value);
void read_taint(struct readers *readers, char *value);
void read_taint_pair(struct readers *readers, const char *key); /* key of key=value:Effect */
void read_selector(struct readers *readers, const char *key, const char *value);
void read_plugin_kind(struct readers *readers, const char *name);
void read_label_list(struct readers *readers, char *list);
/* Labels of nodes that were seen together with SOURCE: whether any, whether a "key" or "key=value". */
bool read_labels_seen(const struct readers *readers, const char *source);
bool read_label_known(const struct readers *readers, const char *source, const char *label);
void read_distribution(struct readers *readers, const char *text);
void read_system(struct readers *readers, const char *text); /* an operating system's name */
void read_kernel(struct readers *readers, const char *release);
void read_kubelet_version(struct readers *readers, const char *value);
/* Name of a card, up to END where that stands in it. */
/* Of one listing or node: whether this driver knows a card of that name. */
void read_card_and_driver(struct readers *readers, const char *model, const char *driver);
void read_model(struct readers *readers, const char *name, const char *end);
void read_toml_header(struct readers *readers);
bool read_runtime_item(struct readers *readers, const char *list, const char *value);
bool read_docker_item(struct readers *readers, const char *list, const char *value);
bool read_cdi_item(struct readers *readers, const char *list, const char *value);
bool read_cdi_name(struct readers *readers, const char *kind, const char *device);
bool read_plugin_item(struct readers *readers, const char *list, const char *value);
void read_config_name(struct readers *readers, const char *key);
/* The version at the end of the name of a driver's file; "" for others. */
void driver_file_version(const char *path, char *ret, size_t size);
void read_smi_tag(struct readers *readers, const char *tag, char *text); /* <tag>text</tag> */
void read_command(struct readers *readers, const char *command);

/* The end of a block: what only then can be told. */
void end_object(struct readers *readers);
void end_runtime(struct readers *readers);
void end_docker(struct readers *readers);
void end_cdi(struct readers *readers);
void end_smi(struct readers *readers);
void end_table(struct readers *readers);
void end_host(struct readers *readers);
/* Over all blocks. */
void combine(struct readers *readers);

/* Tells with the place of the line at hand; a failure sticks in readers->failed. */
void tell(struct readers *readers, enum fact_key key, const char *value);
void tellf(struct readers *readers, enum fact_key key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same at a place that was kept; at the line at hand when nothing is. */
void tell_at(struct readers *readers, enum fact_key key, const char *value, const struct kept *at);
void keep(const struct readers *readers, struct kept *ret);
void tell_bool(struct readers *readers, enum fact_key key, const char *value); /* true, false */

/* Small things on text. */
void copy_text(char *ret, size_t size, const char *text);
#define COPY(array, text) copy_text((array), sizeof(array), (text))
bool has(const char *text, const char *word);      /* any case */
bool starts(const char *text, const char *start);  /* any case */
bool ends(const char *text, const char *end);      /* any case */
bool same(const char *text, const char *other);    /* any case */
size_t split(char *line, char **ret, size_t most); /* at blanks; the line is cut up */
bool read_names_nvidia(const char *line);          /* has "nv" */
void read_phrases_init(struct readers *readers);
void read_phrases(struct readers *readers, const char *line);
bool read_together(const char *left, const char *right);
bool read_is_service(const char *name);
bool is_number(const char *text); /* digits only, at least one */
long count_of(const char *text);  /* of digits alone, up to nine; -1 for all else */
bool copy_version(const char *text, char *ret, size_t size); /* the first a.b[.c] of TEXT */
int compare_versions(const char *left, const char *right);   /* below, 0, above */
bool is_gpu_resource(const char *name);
enum component component_of(const char *name);
bool heading_has(const struct readers *readers, const char *word); /* or the source's name */
