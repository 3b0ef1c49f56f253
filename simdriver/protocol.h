/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the libraries of the simulated driver and its "kernel module" (the simulated
 * nvidia-persistenced) say to each other: fixed-size records over a SEQPACKET Unix socket. A
 * connection is a driver client: a request, then its reply, in turn; events may come between them. Integers
 * are of the host, the two ends are on one machine and of one build. What the module receives it trusts in nothing.
 */
#pragma once

#include <stdint.h>

#define SIM_SOCKET         "/run/nvidia-persistenced/socket" /* path of the real one */
#define SIM_ROOT_SOCKET    ".simdriver/socket"               /* the same, below the driver root */
#define SIM_CONTROL_SOCKET ".simdriver/control"              /* below the driver root */
#define SIM_MAGIC          0x53444756u
#define SIM_VERSION        1u

#define SIM_CARDS_MAX 16
#define SIM_LINKS_MAX 18

#define SIM_GPU_INSTANCES_MAX     8 /* of a card */
#define SIM_COMPUTE_INSTANCES_MAX 8 /* of a card, in all */

#define SIM_LINK_SWITCH 0xFFu /* remote end of an NVLink is an NVSwitch */
#define SIM_LINK_NONE   0xFEu

enum sim_status {
	SIM_OK = 0,
	SIM_NO_DRIVER,     /* the module is not loaded */
	SIM_NO_PERMISSION, /* the control node or a card may not be opened */
	SIM_MISMATCH,      /* library and module are of different versions */
	SIM_NO_CARD,       /* no such card for this caller */
	SIM_CARD_LOST,     /* it has fallen off the bus */
	SIM_NO_MEMORY,     /* of the card */
	SIM_NO_HANDLE,     /* free: not an allocation of this client */
	SIM_BAD_REQUEST,
	SIM_TIMEOUT,
	SIM_NOT_SUPPORTED, /* by this card, or in its mode */
	SIM_IN_USE,        /* by processes, or by what is made of it */
	SIM_NO_ROOM,       /* for one more MIG instance */
	SIM_NO_INSTANCE,   /* no such MIG instance */
	SIM_STATUS_COUNT
};

enum sim_operation {
	/* Anybody. Hello comes first on a connection and says the library's version in text. */
	SIM_HELLO = 1,  /* -> driver */
	SIM_CARD_INFO,  /* card -> info: what never changes */
	SIM_CARD_STATE, /* card -> state */
	SIM_ALLOC,      /* card, kind, bytes -> handle */
	SIM_FREE,       /* handle */
	SIM_PROCESSES,  /* card, value: skip so many -> processes */
	SIM_SUBSCRIBE,  /* value: bit mask of minors. Afterwards events come unasked: SIM_EVENT */
	SIM_MIG_LAYOUT, /* card -> layout */
	/* card, and of the control socket too. Who may is asked of the nodes, by the library. */
	SIM_MIG_MODE,       /* value: 0 or 1 -> layout, whose `pending` is what was asked for */
	SIM_GPU_CREATE,     /* kind: profile ID, value: start or all ones -> handle: its number */
	SIM_GPU_DESTROY,    /* instance */
	SIM_COMPUTE_CREATE, /* instance, kind: compute profile, value: start -> handle: its number */
	SIM_COMPUTE_DESTROY, /* instance */
	/* The control socket only. */
	SIM_FAULT = 64, /* fault, card (or SIM_ALL_CARDS), value, text */
	SIM_SHUTDOWN,
	SIM_SET, /* card (or SIM_ALL_CARDS), kind: enum sim_value, value; handle 1: as it was */
	SIM_MIG_MAKE, /* card, text: all of its layout anew; "" is no MIG mode */
	SIM_SYNC,     /* what procfs shows was made anew: instances are shown again */
	/* Of a reply that answers no request. */
	SIM_EVENT = 128, /* -> event */
};

/* Of a MIG instance in a request: GPU instance, or compute instance in it; 0 is the whole card. */
#define SIM_INSTANCE(gpu, compute)     (((uint32_t)(gpu) + 1) << 8 | ((uint32_t)(compute) + 1))
#define SIM_INSTANCE_GPU_ONLY(gpu)     (((uint32_t)(gpu) + 1) << 8)
#define SIM_INSTANCE_GPU(instance)     (((instance) >> 8) - 1)
#define SIM_INSTANCE_COMPUTE(instance) (((instance)&0xFF) - 1)

#define SIM_ALL_CARDS 0xFFFFFFFFu

enum sim_fault {
	SIM_FAULT_RECOVER,  /* takes away the faults of the card, or all */
	SIM_FAULT_LOST,     /* the card has fallen off the bus (XID 79 is reported) */
	SIM_FAULT_HANG,     /* no reply until recover, or for `value` milliseconds */
	SIM_FAULT_FULL,     /* allocations fail for lack of memory */
	SIM_FAULT_MISSING,  /* the module is unloaded */
	SIM_FAULT_MISMATCH, /* text: the version that the module has from now on */
	SIM_FAULT_XID,      /* value: an event, nothing else */
	SIM_FAULT_DELAY,    /* value: milliseconds from a client's end to its memory being free */
	SIM_FAULT_ECC,      /* an uncorrected memory error: counters, an event, XID 48 */
	SIM_FAULT_COUNT
};

/* What a card measures and a test can change. How to add: a row in values.c, its reader in nvml_*.c. */
enum sim_value {
	SIM_VALUE_TEMPERATURE,
	SIM_VALUE_MEMORY_TEMPERATURE,
	SIM_VALUE_POWER,
	SIM_VALUE_ENERGY,
	SIM_VALUE_UTILIZATION,
	SIM_VALUE_MEMORY_UTILIZATION,
	SIM_VALUE_ENCODER,
	SIM_VALUE_DECODER,
	SIM_VALUE_CLOCK_GRAPHICS,
	SIM_VALUE_CLOCK_MEMORY,
	SIM_VALUE_CLOCK_REASONS,
	SIM_VALUE_PSTATE,
	SIM_VALUE_FAN,
	SIM_VALUE_POWER_LIMIT,
	SIM_VALUE_SLOWDOWN,
	SIM_VALUE_SHUTDOWN,
	SIM_VALUE_RESERVED,
	SIM_VALUE_BAR1_USED,
	SIM_VALUE_PCIE_REPLAY,
	SIM_VALUE_PCIE_GENERATION,
	SIM_VALUE_PCIE_WIDTH,
	SIM_VALUE_ECC_SBE_VOLATILE,
	SIM_VALUE_ECC_DBE_VOLATILE,
	SIM_VALUE_ECC_SBE_AGGREGATE,
	SIM_VALUE_ECC_DBE_AGGREGATE,
	SIM_VALUE_RETIRED_SBE,
	SIM_VALUE_RETIRED_DBE,
	SIM_VALUE_RETIRED_PENDING,
	SIM_VALUE_REMAPPED_CORRECTABLE,
	SIM_VALUE_REMAPPED_UNCORRECTABLE,
	SIM_VALUE_REMAPPED_PENDING,
	SIM_VALUE_REMAPPED_FAILED,
	SIM_VALUE_NVLINK_TX,
	SIM_VALUE_NVLINK_RX,
	SIM_VALUE_COUNT
};

enum sim_kind { /* of an allocation; what a process owes to its context is counted apart */
		SIM_KIND_MEMORY,
		SIM_KIND_CONTEXT,
		SIM_KIND_COUNT
};

struct sim_request {
	uint32_t magic;
	uint16_t version;
	uint16_t operation;
	uint32_t card; /* minor */
	uint32_t kind; /* enum sim_kind or enum sim_fault */
	uint64_t bytes;
	uint64_t handle;
	uint64_t value;
	char text[84];     /* ends with NUL */
	uint32_t instance; /* SIM_INSTANCE() */
};

struct sim_driver {
	char version[32];      /* of the module */
	char nvml_version[40]; /* "12.535.183.01" */
	char profile[32];
	uint32_t cuda_version; /* 12020 is 12.2 */
	uint32_t card_count;
	uint32_t minors[SIM_CARDS_MAX]; /* in the order of PCI addresses, which is NVML's */
	uint32_t cpu_count;
	uint32_t numa_count;
};

struct sim_pci {
	uint32_t domain, bus, device, function;
	uint32_t device_id;    /* device << 16 | vendor, as NVML has it */
	uint32_t subsystem_id; /* the same of the subsystem */
	uint32_t generation, width;
};

struct sim_link {
	uint32_t remote; /* minor of the other card, SIM_LINK_SWITCH or SIM_LINK_NONE */
};

struct sim_card_info {
	uint32_t minor;
	uint32_t numa;
	char uuid[48]; /* "GPU-..." */
	char name[64];
	char serial[32];
	char vbios[24];
	char part_number[32];
	char inforom_image[24], inforom_oem[8], inforom_ecc[8];
	char architecture_name[16];
	uint32_t architecture; /* NVML_DEVICE_ARCH_* */
	uint32_t compute_major, compute_minor;
	uint32_t multiprocessors, cores;
	uint32_t bus_width;      /* bits */
	uint64_t memory_bytes;   /* as NVML's total */
	uint64_t reserved_bytes; /* by the driver; nobody can allocate it */
	uint64_t context_bytes;  /* what a first context costs a process */
	uint64_t bar1_bytes;
	uint32_t power_limit_mw, power_min_mw, power_max_mw, power_idle_mw;
	uint32_t clock_graphics_mhz, clock_memory_mhz, clock_video_mhz; /* highest */
	uint32_t clock_idle_mhz;
	uint32_t temperature_slowdown, temperature_shutdown;
	uint32_t mig_table;      /* number of the tables in mig.h, 0: cannot MIG */
	uint32_t nvlink_version; /* NVML_NVLINK_VERSION_*, 0: none */
	uint32_t link_count;
	struct sim_link links[SIM_LINKS_MAX];
	uint32_t ecc;       /* 0 or 1 */
	uint32_t row_remap; /* 1: remaps rows, 0: retires pages */
	struct sim_pci pci;
	uint32_t switches[SIM_CARDS_MAX]; /* NVML_TOPOLOGY_* to the card of that minor */
};

struct sim_card_state {
	uint64_t used_bytes; /* by clients */
	uint64_t free_bytes; /* total - reserved - used */
	uint64_t has;        /* bit 1 << enum sim_value: the card has such a thing */
	uint64_t values[SIM_VALUE_COUNT];
};

struct sim_gpu_instance {
	uint32_t id, profile_id, start, size; /* place in memory slices */
	uint64_t used_bytes;                  /* by clients */
};

struct sim_compute_instance {
	uint32_t gpu_instance, id, profile, start, size; /* place in its compute slices */
	char uuid[44]; /* "MIG-..." of the MIG device that it is */
};

struct sim_mig_layout {
	uint32_t current, pending; /* the mode, 0 or 1 */
	uint32_t gpu_count, compute_count;
	struct sim_gpu_instance gpus[SIM_GPU_INSTANCES_MAX]; /* by rising id */
	struct sim_compute_instance
		computes[SIM_COMPUTE_INSTANCES_MAX]; /* by GPU instance and id */
};

struct sim_process {
	uint32_t pid;      /* as the caller's PID namespace knows it */
	uint32_t contexts; /* 0: memory only */
	uint64_t bytes;
	uint32_t instance; /* SIM_INSTANCE() */
	char name[108];    /* the command as /proc has it, may be cut */
};

#define SIM_PROCESSES_CHUNK 8

struct sim_process_list {
	uint32_t total; /* in all */
	uint32_t count; /* here */
	struct sim_process processes[SIM_PROCESSES_CHUNK];
};

enum sim_event_kind {
	SIM_EVENT_XID,  /* value: its number */
	SIM_EVENT_ECC,  /* an uncorrected error */
	SIM_EVENT_MIG,  /* the layout has changed */
	SIM_EVENT_LOST, /* the card is gone: for the library, which says so from then on */
	SIM_EVENT_GONE, /* the module is; of no card */
	SIM_EVENT_COUNT
};

#define SIM_NO_INSTANCE_ID 0xFFFFFFFFu

struct sim_event {
	uint32_t card;
	uint32_t kind; /* enum sim_event_kind */
	uint64_t value;
	uint32_t gpu_instance, compute_instance; /* SIM_NO_INSTANCE_ID: of the whole card */
};

struct sim_reply {
	uint32_t magic;
	uint16_t version;
	uint16_t operation; /* of the request, or SIM_EVENT */
	uint32_t status;    /* enum sim_status */
	uint32_t padding;
	union {
		struct sim_driver driver;
		struct sim_card_info info;
		struct sim_card_state state;
		struct sim_process_list processes;
		struct sim_event event;
		struct sim_mig_layout layout;
		uint64_t handle;
	};
};
