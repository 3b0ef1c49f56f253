/* SPDX-License-Identifier: Apache-2.0 */
/* All questions about all cards, through as few helpers as the cards allow. */
#pragma once

#include "abi/nvml_record.h"
#include "device/device.h"
#include "base/base.h"
#include "model/model.h"

struct nvml_options {
	const char *program; /* gpupool-nvml */
	const char *library; /* libnvidia-ml.so.1, real path */
	unsigned deadline_ms;
	struct device_stuck *stuck; /* helpers that are caught already; gets those that are now */
	bool samples;               /* also the numbers that change */
};

struct nvml_card {
	char uuid[CARD_UUID_MAX];     /* "" unknown */
	char model[CARD_MODEL_MAX];   /* "" unknown */
	char bus_id[CARD_BUS_ID_MAX]; /* normalised, "" unknown */
	char serial[CARD_BUS_ID_MAX];
	char brand[CARD_BRAND_MAX]; /* "" unknown */
	uint64_t total_bytes, used_bytes;
	unsigned minor, compute_major, compute_minor;
	bool has_minor, mig_capable, mig_enabled;
	struct card_condition condition; /* since is left to the caller */
	bool has_links;
	struct record_links links;
	struct card_sample sample;
	struct card_process *processes; /* owned; pid, used_mib and name */
	size_t process_count, process_capacity;
	struct card_instance *instances; /* owned; MIG devices; their nodes are not known here */
	size_t instance_count, instance_capacity;
};

struct nvml_result {
	char driver_version[80], nvml_version[80];
	unsigned cuda_major, cuda_minor;
	enum reason_code code; /* why the driver as a whole gave nothing, or REASON_NONE */
	char detail[REASON_TEXT_MAX];
	unsigned count;
	struct nvml_card *cards; /* owned, by NVML's index */
};

void nvml_card_release(struct nvml_card *card); /* contents only */
void nvml_result_release(struct nvml_result *result);

/*
 * Never fails because of a driver or a card: that is in *ret. Each card that gives no answer costs
 * one helper and one deadline; from the third on the deadline is a second at most, and two helpers
 * that cannot be killed end the questions. Errors are the caller's: no helper, no memory.
 */
int nvml_query(const struct nvml_options *options, struct nvml_result *ret, struct error *error);

/*
 * Reads one answer into what is known of its card (exported for the fuzzer: an answer is hostile
 * input). 0 or -ENOMEM.
 */
int nvml_take_answer(const struct record_answer *answer, struct nvml_card *card);
