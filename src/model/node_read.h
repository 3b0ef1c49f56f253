/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node of a cluster from its JSON as the API server gives it, with its cards as far as labels,
 * annotations and resources tell of them. Formats:
 *  HAMi: pkg/device/devices.go (DecodeNodeDevices, MarshalNodeDevices), annotation
 *    hami.io/node-nvidia-register
 *  Volcano: pkg/scheduler/api/devices/nvidia/vgpu/utils.go, annotation volcano.sh/node-vgpu-register
 *  Koordinator: apis/extension/device_share.go, resources koordinator.sh/gpu and gpu-memory
 *  gpushare: resources aliyun.com/gpu-mem and aliyun.com/gpu-count
 *  GPU feature discovery: k8s-device-plugin, docs/gpu-feature-discovery, labels nvidia.com/gpu.*
 *
 * How to add a source of cards: its name and a row in node_read.c, by trust; cases in
 * test_node_read.c; a line in docs/cluster-listings.md.
 */
#pragma once

#include "base/base.h"
#include "model/node.h"

enum card_origin {
	CARD_ORIGIN_NONE, /* no cards */
	CARD_ORIGIN_HAMI,
	CARD_ORIGIN_VOLCANO,
	CARD_ORIGIN_KOORDINATOR, /* no UUIDs */
	CARD_ORIGIN_GPUSHARE,    /* no UUIDs */
	CARD_ORIGIN_LABELS,      /* no UUIDs; of one model */
	CARD_ORIGIN_COUNT,       /* no UUIDs, model and size unknown */
	CARD_ORIGIN_MAX,
};

/* How a card resource of a node is to be read that says less than one card. */
enum node_sharing {
	NODE_SHARING_NONE,
	NODE_SHARING_MIG,      /* nvidia.com/gpu is an instance of the profile */
	NODE_SHARING_REPLICAS, /* it is one of several replicas of a card */
};

struct node_reading {
	enum card_origin origin;
	unsigned sick;      /* cards that are there and not allocatable: the last ones */
	unsigned beyond;    /* cards beyond CARDS_MAX: left out */
	bool layout_worked; /* MIG: which card has which instances is worked out, not read */
	char problem[256];  /* what could not be read, or "" */
};

/* 0, -EINVAL ("SOURCE:LINE: node NAME: ..."), -ENOMEM. */
int node_read(struct json_object *node, const char *source, unsigned long line,
	      struct node_spec *ret, struct node_reading *ret_reading, struct error *error);

/* By the labels of feature discovery. *ret_profile, CARD_MIG_MAX bytes, is set for MIG, *ret_count
 * (replicas of a card, instances of one) for both. */
enum node_sharing node_sharing(const struct node_spec *node, char *ret_profile,
			       unsigned *ret_count);

/* A card of NODE with a UUID by the node's name and its number, as long as nobody knows better. */
int node_add_unnamed(struct node_spec *node, const char *model, uint64_t mib, struct card **ret);
bool node_card_unnamed(const struct node_spec *node, const struct card *card);
