/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program and its gpupool-nvml say to each other: one request, one answer, each one
 * SEQPACKET message of a fixed size. Numbers are of the machine's own byte order (both ends run on
 * it); structs hold no padding, so nothing of the helper's memory leaks through a gap.
 *
 * The reader believes nothing: an answer is what a driver and a helper that loaded it say.
 *
 * How to add a question: a kind, a struct in the union, a row in the helper's table
 * (cmd/gpupool-nvml/answer.c), a row in device/nvml/query.c, and a new RECORD_VERSION.
 *
 * A helper that was started with --events is asked nothing: it sends a struct record_event, again
 * one message each, when something happens.
 */
#pragma once

#include <stdint.h>

#define RECORD_MAGIC   0x4c4d564eu /* "NVML" */
#define RECORD_VERSION 3u

#define RECORD_CARDS_MAX       64u
#define RECORD_TEXT_MAX        96u
#define RECORD_BUS_ID_MAX      32u
#define RECORD_MESSAGE_MAX     512u
#define RECORD_CHUNK           24u /* processes an answer */
#define RECORD_LANES_MAX       36u /* NVLinks a card; NVML's own header says 18 */
#define RECORD_INFORMATION_MAX 2048u
#define RECORD_INSTANCES_MAX   12u   /* MIG devices of a card; seven exist at most */
#define RECORD_PROCESSES_MAX   4096u /* a card; more are cut */

enum record_kind {
	RECORD_DRIVER = 1,  /* loads and initialises the driver; versions */
	RECORD_COUNT,       /* how many cards */
	RECORD_CARD,        /* what card INDEX is */
	RECORD_HEALTH,      /* errors that card INDEX counts */
	RECORD_PROCESSES,   /* processes of card INDEX from FIRST on; 0 takes a new snapshot */
	RECORD_LINKS,       /* from card INDEX to all cards that are not in SKIP */
	RECORD_INFORMATION, /* procfs' text of the card at ADDRESS: its reading can block, too */
	RECORD_INSTANCES,   /* the MIG devices of card INDEX */
	RECORD_QUIT,        /* no answer: the helper ends */
	RECORD_SAMPLE,      /* the numbers of card INDEX that change */
	RECORD_KIND_MAX,
};

enum record_status {
	RECORD_OK,
	RECORD_NVML_ERROR,  /* nvml has NVML's own number */
	RECORD_NO_LIBRARY,  /* the driver's library cannot be had: message */
	RECORD_BAD_REQUEST, /* message */
	RECORD_STATUS_MAX,
};

struct record_request {
	uint32_t magic, version, kind, sequence;
	uint32_t index, first;
	uint64_t skip;                   /* bit N: do not touch card N */
	char address[RECORD_BUS_ID_MAX]; /* as the folder in procfs is called */
};

struct record_driver {
	char driver_version[RECORD_TEXT_MAX];
	char nvml_version[RECORD_TEXT_MAX];
	int32_t cuda_version; /* 12020 is 12.2; 0 unknown */
	uint32_t reserved;
};

struct record_count {
	uint32_t count, reserved;
};

#define RECORD_HAS_COMPUTE 1u
#define RECORD_HAS_MIG     2u
#define RECORD_HAS_MINOR   4u
#define RECORD_HAS_BRAND   8u

struct record_card {
	char uuid[RECORD_TEXT_MAX];
	char name[RECORD_TEXT_MAX];
	char bus_id[RECORD_TEXT_MAX];
	char serial[RECORD_TEXT_MAX]; /* "" none */
	uint64_t total_bytes, used_bytes;
	uint32_t minor, compute_major, compute_minor, mig_enabled;
	uint32_t has, brand; /* RECORD_HAS_*; enum nvml_brand */
};

struct record_health {
	uint64_t double_bit;     /* uncorrected memory errors since the driver was loaded */
	uint32_t retire_pending; /* pages wait for a reset to be retired */
	uint32_t remap_pending, remap_failed;
	int32_t nvml; /* first error other than "not supported" among the questions, or 0 */
};

struct record_process {
	uint32_t pid, reserved;
	uint64_t used_bytes; /* 0 when the driver cannot tell */
	char name[RECORD_TEXT_MAX];
};

struct record_processes {
	uint32_t total, count; /* in the snapshot; in this answer */
	struct record_process processes[RECORD_CHUNK];
};

enum record_remote { RECORD_REMOTE_CARD, RECORD_REMOTE_SWITCH, RECORD_REMOTE_OTHER };

struct record_lane { /* one NVLink that is up */
	uint32_t remote, reserved;
	char bus_id[RECORD_BUS_ID_MAX];
};

struct record_links {
	uint32_t lane_count, reserved;
	struct record_lane lanes[RECORD_LANES_MAX];
	int32_t levels[RECORD_CARDS_MAX]; /* enum nvml_topology_level to each card; -1 unknown */
};

struct record_instance {
	char uuid[RECORD_TEXT_MAX]; /* "MIG-..." */
	char name[RECORD_TEXT_MAX]; /* "NVIDIA A100-SXM4-80GB MIG 1g.10gb" */
	uint32_t index, gpu_instance, compute_instance, reserved;
};

struct record_instances {
	uint32_t count, reserved;
	struct record_instance instances[RECORD_INSTANCES_MAX];
};

struct record_information {
	char text[RECORD_INFORMATION_MAX]; /* terminated */
};

enum record_value {
#define CARD_VALUE(name) RECORD_VALUE_##name,
#include "abi/card_values.def"
#undef CARD_VALUE
	RECORD_VALUE_MAX,
};

struct record_sample {
	uint64_t has; /* bit 1 << enum record_value: the driver gave it */
	uint64_t values[RECORD_VALUE_MAX];
};

struct record_answer {
	uint32_t magic, version, kind, sequence;
	uint32_t index, status;
	int32_t nvml;
	uint32_t reserved;
	char message[RECORD_MESSAGE_MAX]; /* for people, with status other than RECORD_OK */
	union {
		struct record_driver driver;
		struct record_count count;
		struct record_card card;
		struct record_health health;
		struct record_processes processes;
		struct record_links links;
		struct record_information information;
		struct record_instances instances;
		struct record_sample sample;
	};
};

enum record_event_kind {
	RECORD_EVENT_READY =
		1,         /* all that can be watched is, COUNT cards: what was before is unknown */
	RECORD_EVENT_XID,  /* of a card, or of an instance of it: DATA is the number */
	RECORD_EVENT_ECC,  /* an uncorrected error of the card's memory */
	RECORD_EVENT_MIG,  /* the card's MIG layout has changed */
	RECORD_EVENT_LOST, /* the card has fallen off the bus; no more events of it come */
	RECORD_EVENT_UNWATCHED, /* the card gives no events: MESSAGE, and NVML when it said an error */
	RECORD_EVENT_END,       /* the last record: MESSAGE, and NVML when it said an error */
	RECORD_EVENT_MAX,
};

#define RECORD_EVENT_MESSAGE_MAX 160u
#define RECORD_INSTANCE_NONE     UINT32_MAX /* the event is of the whole card */
#define RECORD_INDEX_NONE        UINT32_MAX

struct record_event {
	uint32_t magic, version, kind;
	uint32_t dropped; /* records before this one that the reader was too slow for */
	uint32_t gpu_instance, compute_instance;
	uint32_t index; /* of the physical card; RECORD_INDEX_NONE of none in particular */
	uint32_t count;
	int32_t nvml;
	uint32_t reserved;
	uint64_t data;
	int64_t time_ms;                /* of the day, since 1970 */
	char uuid[RECORD_TEXT_MAX];     /* of the physical card; "" unknown */
	char bus_id[RECORD_BUS_ID_MAX]; /* of the same, as NVML has it */
	char message[RECORD_EVENT_MESSAGE_MAX];
};

_Static_assert(sizeof(struct record_event) == 344, "no padding");
_Static_assert(sizeof(struct record_request) == 64, "the two programs must agree");
_Static_assert(sizeof(struct record_process) == 112, "no padding");
_Static_assert(sizeof(struct record_instance) == 208, "no padding");
_Static_assert(sizeof(struct record_links) == 8 + 40 * RECORD_LANES_MAX + 4 * RECORD_CARDS_MAX,
	       "no padding");
_Static_assert(RECORD_VALUE_MAX <= 64, "one bit each");
_Static_assert(sizeof(struct record_answer) == 544 + sizeof(struct record_processes),
	       "the two programs must agree");
