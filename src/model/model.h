/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face of src/model: cards, requests, grants, Pods, quantities, reasons, dialects. Plain data
 * with text and JSON forms; no clock, no decisions, and no files but the daemon's configuration.
 */
#pragma once

#include "model/card.h"
#include "model/card_sample.h"
#include "model/demand.h"
#include "model/demand_read.h"
#include "model/dialect.h"
#include "model/driver_release.h"
#include "model/grant.h"
#include "model/grants_read.h"
#include "model/koordinator_device.h"
#include "model/kubernetes.h"
#include "model/mig.h"
#include "model/node.h"
#include "model/node_read.h"
#include "model/plugin_config.h"
#include "model/pod.h"
#include "model/poolnode.h"
#include "model/quantity.h"
#include "model/reason.h"
#include "model/request.h"
