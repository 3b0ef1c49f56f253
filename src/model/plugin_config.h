/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How gpupoold is configured: NVIDIA's flags, environment and file "version: v1" (names and meaning:
 * NVIDIA/k8s-device-plugin api/config/v1, cmd/nvidia-device-plugin/main.go and internal/rm/health.go,
 * v0.20), and our own section "gpupool" of the same file. One table (plugin_keys.c) has a row a key;
 * command line > environment > file > default. docs/gpupoold.md says what each key does here and there.
 *
 * How to add a key: plugin_keys.c says the steps.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"
#include "model/card.h"
#include "model/request.h"

enum mig_strategy { MIG_STRATEGY_NONE, MIG_STRATEGY_SINGLE, MIG_STRATEGY_MIXED };
enum device_id_strategy { DEVICE_ID_UUID, DEVICE_ID_INDEX };
enum share_policy { SHARE_DISTRIBUTED, SHARE_PACKED }; /* which replicas are preferred */
enum discovery_strategy { DISCOVERY_AUTO, DISCOVERY_NVML, DISCOVERY_TEGRA };
enum default_mode {                    /* of cards that no row of gpupool.cards names */
		    DEFAULT_MODE_PEER, /* as migStrategy and sharing say: what NVIDIA's plugin does */
		    DEFAULT_MODE_WHOLE,
		    DEFAULT_MODE_SLICES,
		    DEFAULT_MODE_REPLICAS,
		    DEFAULT_MODE_MIG,
		    DEFAULT_MODE_AUTO, /* refused by plugin_config_supported() */
		    DEFAULT_MODE_EXCLUDED,
};

/* How Allocate tells the runtime: any number of them, as bits. */
enum device_list {
	DEVICE_LIST_ENVVAR = 1 << 0,
	DEVICE_LIST_VOLUME_MOUNTS = 1 << 1,
	DEVICE_LIST_CDI_ANNOTATIONS = 1 << 2,
	DEVICE_LIST_CDI_CRI = 1 << 3,
	DEVICE_LIST_KUBELET = 1 << 4, /* ours: devices, mounts and variables stand in the answer */
	/* Ours, alone and the default: cdi-cri where the CRI says that CDI is on, else kubelet. */
	DEVICE_LIST_AUTO = 1 << 5,
};

enum plugin_source {
	PLUGIN_DEFAULT,
	PLUGIN_FILE,
	PLUGIN_ENVIRONMENT,
	PLUGIN_COMMAND_LINE,
};

/* "devices:" of a shared resource; cards are counted in the order of their index. */
enum shared_devices { SHARED_ALL, SHARED_COUNT, SHARED_LIST };

struct shared_resource {
	char *name;   /* "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"; owned, as all below */
	char *rename; /* under which the replicas are listed: NAME, NAME.shared, or what was said */
	unsigned replicas; /* 2 .. PLUGIN_REPLICAS_MAX */
	enum shared_devices devices;
	unsigned device_count;           /* SHARED_COUNT */
	struct string_list device_names; /* SHARED_LIST: "0", "0:1", "GPU-...", "MIG-..." */
	unsigned line;
};

#define PLUGIN_REPLICAS_MAX 1024

struct plugin_sharing { /* sharing.timeSlicing, sharing.mps */
	bool rename_by_default;
	bool single_only; /* failRequestsGreaterThanOne; not given: false, of mps true */
	struct shared_resource *resources;
	size_t count, capacity; /* 0: not shared so */
};

struct resource_pattern { /* resources.gpus[], resources.mig[] */
	char *pattern, *name;
};

struct resource_patterns {
	struct resource_pattern *items;
	size_t count, capacity;
};

/* gpupool.cards[]: one of the three names cards. Tell the strongest with plugin_config_find_card(). */
struct card_choice {
	char *uuid, *model; /* model: a pattern of parse_glob() */
	unsigned index;     /* CARD_INDEX_NONE: not by index */
	enum card_mode mode;
	bool excluded; /* "mode: excluded": gpupool lists nothing of the card; MODE counts for nothing */
	unsigned line;
};

struct xid_list {
	bool all;
	uint64_t *items;
	size_t count, capacity;
};

#define PLUGIN_KEYS_MAX 64
#define PLUGIN_HOST_MAX 256 /* bytes of the host of an address, with the terminator */

struct plugin_config {
	enum mig_strategy mig_strategy;
	bool fail_on_init_error; /* no driver at start: exit 1. False, our default: wait for it */
	char *mps_root;          /* "" none */
	char *driver_root;       /* on the host; "": searched (design: "Files, ports, exits") */
	char *dev_root;          /* "": as the driver root */
	char *container_driver_root; /* where this process sees the driver root, if it is there */
	bool gdrcopy, gds, mofed;
	enum discovery_strategy discovery;
	bool pass_device_specs;
	unsigned device_lists; /* bits of enum device_list, never 0 */
	enum device_id_strategy device_id;
	char *cdi_annotation_prefix;
	enum share_policy share_policy;
	struct string_list imex_channels; /* none, or "0" */
	bool imex_required;
	char *kubelet_socket;                       /* "": gpupoold registers nowhere */
	char *config_file;                          /* that was read; "" none */
	struct xid_list disabled_xids;              /* beside those that are ignored anyway */
	struct xid_list enabled_xids;               /* stronger than every disabling */
	struct resource_patterns gpus, mig_devices; /* read, and as by the peer without effect */
	struct plugin_sharing time_slicing, mps;
	enum default_mode default_mode;
	struct card_choice *cards;
	size_t card_count, card_capacity;
	unsigned long probe_period_ms, probe_timeout_ms;
	char *metrics_address;      /* "HOST:PORT", HOST may be empty: all; "": no server */
	char *pod_resources_socket; /* of the kubelet */
	char *cri_socket;           /* "": looked for */
	char *run_directory, *state_directory, *cdi_directory;
	char *nvml_helper; /* "": beside the program, then the usual place */
	struct {           /* of the feature discovery: read, shown, no effect yet */
		bool use_node_feature_api, oneshot, no_timestamp;
		unsigned long sleep_ms; /* ULONG_MAX: infinite */
		char *output_file, *machine_type_file;
	} gfd;
	struct { /* of nvidia-ctk and its hooks: our CDI specs have none */
		char *hook_path;
		struct string_list feature_flags, disabled_hooks;
	} ctk;
	struct string_list notes; /* sentences for the log: what was given and does not count */
	unsigned char sources[PLUGIN_KEYS_MAX]; /* enum plugin_source, by row of the table */
};

/* What the command line says; the strings are argv's. */
struct plugin_given {
	unsigned key;
	const char *text; /* of a boolean without "=": "true" */
};

enum plugin_action {
	PLUGIN_RUN,
	PLUGIN_CHECK,
	PLUGIN_HELP,
	PLUGIN_VERSION,
	PLUGIN_MAN,
	PLUGIN_COMPLETION
};

struct plugin_flags {
	struct plugin_given *items; /* owned, in the order of argv */
	size_t count, capacity;
	enum plugin_action action;
	bool json;
};

/*
 * argv[1..], in the forms of Go's package flag, which the peer's library uses: -name, --name,
 * --name=value, --name value; a boolean takes its value after "=" only. Operands are refused. The values
 * are checked by plugin_config_read().
 */
int plugin_flags_parse(int argc, char *const *argv, struct plugin_flags *ret, struct error *error);
void plugin_flags_release(struct plugin_flags *flags);

struct plugin_inputs {
	const struct plugin_flags *flags; /* may be NULL */
	char *const *environment;         /* "NAME=value"..., ends with NULL; may be NULL */
	/* Read when neither names a file, if it is there; GPUPOOL_CONFIG goes before it. NULL: none. */
	const char *usual_file;
	bool no_pipe; /* the file may be no pipe: of a service that must not wait for its writer */
};

/*
 * Reads everything into a new *ret, and leaves it untouched on failure: on a reload the old one stays
 * good. -EINVAL: the command line is wrong; -EBADMSG: a value of the environment or the file is; else
 * what reading the file gave. The message names file, line and key and ends with what to do.
 */
int plugin_config_read(const struct plugin_inputs *inputs, struct plugin_config *ret,
		       struct error *error);
void plugin_config_release(struct plugin_config *config);

/* What is a good configuration and cannot be done yet (MPS, mode auto, Tegra): -ENOTSUP and one sentence. */
int plugin_config_supported(const struct plugin_config *config, struct error *error);

/*
 * The row of gpupool.cards for a card, or NULL when none names it: a UUID is stronger than an index, an
 * index than a model; of models the first that matches.
 */
const struct card_choice *plugin_config_find_card(const struct plugin_config *config,
						  const struct card *card);

/* The mode that a default names; whole where it names none (PEER, EXCLUDED). */
enum card_mode default_mode_to_card(enum default_mode mode);

/*
 * Does an XID make a card unhealthy? The peer's rule: 13, 31, 43, 45, 68 and 109 come from programs and do
 * not; nor does what was disabled; what was enabled does in any case.
 */
bool plugin_config_xid_counts(const struct plugin_config *config, uint64_t xid);

/* The configuration in the form of the file: what it says is read back to the same. */
int plugin_config_to_json(const struct plugin_config *config, struct json_object **ret,
			  struct error *error);
/* The same as YAML, each key with its source as a comment, notes first. */
int plugin_config_to_yaml(const struct plugin_config *config, struct strbuf *ret,
			  struct error *error);
/* {"config": as above, "sources": {key: source}, "notes": []}. */
int plugin_config_report(const struct plugin_config *config, struct json_object **ret,
			 struct error *error);

/* Texts made from the table: --help in groups, the man page in scdoc's form, bash completion. */
void plugin_print_help(FILE *out);
void plugin_print_man(FILE *out);
void plugin_print_completion(FILE *out);
