/* SPDX-License-Identifier: Apache-2.0 */
/* A physical card, its links, its health, and the inventory of one machine. Plain data. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/base.h"
#include "model/card_sample.h"

#define CARD_UUID_MAX   96
#define CARD_MODEL_MAX  96
#define CARD_BUS_ID_MAX 32
#define CARD_TEXT_MAX   192
#define CARD_BRAND_MAX  32
#define MIB_PER_UNIT    1024u      /* a unit is one GiB of a card's memory */
#define CARDS_MAX       64         /* of one machine; what an inventory file may hold */
#define CARD_INDEX_NONE UINT32_MAX /* NVML does not list the card */
#define CARD_MINOR_NONE UINT32_MAX /* nobody says which device node it is */

enum card_mode { /* design: a card is in one mode */
		 CARD_MODE_WHOLE,
		 CARD_MODE_SLICES,
		 CARD_MODE_REPLICAS,
		 CARD_MODE_MPS,
		 CARD_MODE_MIG,
		 CARD_MODE_AUTO, /* whole or slices, whichever the first grant on the idle card asks for */
		 CARD_MODE_MAX,
		 CARD_MODE_INVALID = -22,
};

enum card_health {
	CARD_HEALTHY,
	CARD_SUSPECT, /* a probe failed or the driver reported an error; no new grants */
	CARD_LOST,    /* fallen off the bus, or the driver gives no answer for it */
	CARD_HEALTH_MAX,
	CARD_HEALTH_INVALID = -22,
};

enum link_kind {              /* best first; the names are those of `nvidia-smi topo -m` */
		 LINK_NVLINK, /* NV<lanes> */
		 LINK_PIX,    /* one PCIe switch (NVML single, or internal: same board) */
		 LINK_PXB,    /* several PCIe switches */
		 LINK_PHB,    /* one host bridge */
		 LINK_NODE,   /* one NUMA node */
		 LINK_SYS,    /* across NUMA nodes */
		 LINK_KIND_MAX,
		 LINK_KIND_INVALID = -22,
};

struct card_link {
	unsigned peer; /* position of the other card in the inventory's cards[] */
	enum link_kind kind;
	unsigned lanes; /* NVLinks between the two, 0 for PCIe */
};

#define POD_UID_MAX 64 /* with the end; 36 of a UUID, 32 of a static Pod's hash */

struct card_process { /* a process that the driver sees on the card */
	pid_t pid;    /* of the host */
	uint32_t uid; /* owner, UINT32_MAX unknown */
	uint64_t used_mib;
	bool granted; /* belongs to a grant of ours; false is foreign use */
	char name[64];
	char pod_uid[POD_UID_MAX]; /* of its Pod; "" none, or nobody looked. Not in JSON */
};

#define CARD_MIG_MAX       32 /* characters of a profile's name, with the end */
#define CARD_MIG_ENTRIES   16 /* instances of one card */
#define CARD_INSTANCES_MAX CARD_MIG_ENTRIES

struct card_mig {                   /* a MIG instance that exists */
	char profile[CARD_MIG_MAX]; /* "1g.10gb" */
	unsigned start;             /* first memory slice */
};

struct card_instance {              /* a MIG device, as programs ask for it and may use it */
	char uuid[CARD_UUID_MAX];   /* "MIG-..."; "" unknown: only the driver itself tells it */
	char profile[CARD_MIG_MAX]; /* "1g.10gb", "1c.2g.20gb", "" unknown */
	unsigned index;             /* NVML's on its card; CARD_INDEX_NONE unknown */
	unsigned gpu_instance, compute_instance;
	/* Of their nodes, /dev/nvidia-caps/nvidia-cap<minor>; CARD_MINOR_NONE unknown. */
	unsigned gpu_minor, compute_minor;
};

struct card_condition {
	enum card_health health;
	char cause[CARD_TEXT_MAX]; /* evidence in words; empty while healthy */
	int64_t since;             /* Unix seconds, 0 unknown */
};

struct card {
	unsigned index; /* NVML's index, as nvidia-smi shows it, or CARD_INDEX_NONE */
	unsigned minor; /* /dev/nvidia<minor>, or CARD_MINOR_NONE */
	char uuid[CARD_UUID_MAX];
	char model[CARD_MODEL_MAX];            /* "NVIDIA A100-SXM4-80GB" */
	char brand[CARD_BRAND_MAX];            /* "tesla", "geforcertx"; "" unknown */
	char bus_id[CARD_BUS_ID_MAX];          /* sysfs form "0000:07:00.0", lower case */
	char serial[CARD_BUS_ID_MAX];          /* "" when the card has none */
	uint64_t memory_bytes;                 /* NVML total */
	uint64_t used_bytes;                   /* NVML used at the time of the probe */
	unsigned compute_major, compute_minor; /* compute capability */
	int numa;                              /* -1 unknown */
	bool mig_capable, mig_enabled;
	enum card_mode mode;
	struct card_condition condition;
	struct card_link *links; /* owned; one an other card, order of the peer's position */
	size_t link_count, link_capacity;
	struct card_process *processes; /* owned */
	size_t process_count, process_capacity;
	/* Owned; the layout of a card in mode mig, when it is fixed: only these can be granted.
	 * None: instances are made as they are asked for. */
	struct card_mig *mig;
	size_t mig_count, mig_capacity;
	struct card_instance *instances; /* owned; those that exist, in the driver's order */
	size_t instance_count, instance_capacity;
};

struct inventory {
	char driver_root[256];   /* "/" or where the driver's files are */
	char driver_version[80]; /* of the user space (NVML), "" unknown */
	char module_version[80]; /* of the kernel module (procfs), "" unknown */
	char nvml_version[80];
	unsigned cuda_major, cuda_minor; /* newest CUDA that the driver offers, 0 unknown */
	char boot_id[40];
	uint64_t mig_generation;
	int64_t taken; /* Unix seconds */
	bool real;     /* the running kernel itself lists the driver, and versions agree */
	/* The driver was not asked: index is by order of the address, a UUID may be unknown,
	 * memory, compute, brand and what instances are called are. */
	bool kernel_only;
	char problem[CARD_TEXT_MAX * 2]; /* why the driver as a whole gives no cards, or "" */
	struct card *cards; /* owned, in order of index; cards without an index come last */
	size_t card_count, card_capacity;
	struct card_sample *samples; /* owned; one a card, in their order; NULL: not asked for */
};

void inventory_init(struct inventory *inventory);
void inventory_release(struct inventory *inventory); /* contents only; usable again after init */
/* Links, processes, layout and instances are *RET's own, some also on failure. 0 or -ENOMEM. */
int card_copy(const struct card *card, struct card *ret);
/* NULL when absent. */
struct card *inventory_find(const struct inventory *inventory, const char *uuid);
/* The MIG device of that UUID and the card that it is a part of; NULL when absent. */
const struct card_instance *inventory_find_instance(const struct inventory *inventory,
						    const char *uuid, const struct card **ret_card);

/* The text of a file below procfs' capabilities/ (gpu0/mig/gi1/access, mig/config): the minor of its
 * node below /dev/nvidia-caps, or CARD_MINOR_NONE. */
uint32_t capability_parse_minor(const char *text);

#define CARD_DESCRIPTION_MAX 128
/* "card 3 (GPU-...)"; "card GPU-..." for one that NVML does not list; its bus address without a
 * UUID. Every sentence names a card so. */
void card_describe(const struct card *card, char ret[static CARD_DESCRIPTION_MAX]);

/* floor(total / GiB): the number of unit devices. */
unsigned card_units(const struct card *card);
/* The UUID of a card that tells none: "node:0" by the NODE's name and the card's index; of other
 * characters than a UUID may have, as in "my node", it has the code: "my_20node:0". */
void card_make_uuid(struct card *card, const char *node);
/* MiB used by processes without a grant; 0 when none. */
uint64_t card_foreign_mib(const struct card *card);

const char *card_mode_to_string(enum card_mode mode);
enum card_mode card_mode_from_string(const char *text);
const char *card_health_to_string(enum card_health health);
enum card_health card_health_from_string(const char *text);
const char *link_kind_to_string(enum link_kind kind);
enum link_kind link_kind_from_string(const char *text);

/* The form of inventory.json; reading checks every field and bound. */
int inventory_to_json(const struct inventory *inventory, struct json_object **ret,
		      struct error *error);
int inventory_from_json(struct json_object *object, struct inventory *ret, struct error *error);
