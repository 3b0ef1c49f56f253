/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face of src/replay: what would have happened. A trace (nodes, Pods, times) is read from files,
 * its Pods arrive at a pool and leave it, and what came of it is added up. Every decision is one of
 * src/place; nothing is decided here.
 */
#pragma once

#include "replay/trace.h"
