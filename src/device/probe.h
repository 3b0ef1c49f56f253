/* SPDX-License-Identifier: Apache-2.0 */
/* What the two ways to an inventory share: with the driver (probe.c) and without it (kernel.c). */
#pragma once

#include "device/device.h"
#include "device/nvml/query.h"
#include "device/sysfs/sysfs.h"

struct probe {
	const struct device_options *options;
	struct inventory *inventory;
	struct procfs procfs;
	struct pci pci;
	struct nvml_result nvml;
	bool nvml_asked;              /* the driver as a whole answered */
	enum reason_code code;        /* why it gives no cards, or REASON_NONE */
	bool taken[DEVICE_CARDS_MAX]; /* procfs' cards that are in the inventory */
};

/* The driver as a whole gives no cards. */
void probe_fail(struct probe *probe, enum reason_code code, const char *text);
/* What the bus and the kernel say where the library says nothing; TEXT (NULL: none) goes on. */
void probe_fail_no_driver(struct probe *probe, const char *text);
/* Versions are compared before the library is loaded: its own words for it are poor. */
bool probe_versions_differ(struct probe *probe, const char *library_version);
/* No driver anywhere is an answer, not a failure. */
int probe_root(struct probe *probe, struct error *error);

/* NULL when out of memory, or of room. */
struct card *probe_new_card(struct probe *probe);
void card_worsen(struct card *card, enum card_health health, const char *cause);
/* What the kernel knows of a card that has an address; what NVML said stays. */
void card_from_kernel(struct probe *probe, struct card *card);
/* Every card has a UUID of its own, or two holders could be confused. */
void probe_name_cards(struct inventory *inventory);
/* The MIG devices that the module shows for the card. */
int card_add_instances(const struct probe *probe, struct card *card, struct error *error);
