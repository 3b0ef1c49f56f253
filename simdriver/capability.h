/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of /dev/nvidia-caps/nvidia-cap<N>: all instances that could exist, in order, as the real module
 * lists them in /proc/driver/nvidia-caps/mig-minors: config, monitor, then 32 cards of 15 GPU instances of 8
 * compute instances.
 */
#pragma once

#include <stdint.h>

#define CAPABILITY_CONFIG   1u
#define CAPABILITY_MONITOR  2u
#define CAPABILITY_FIRST    3u
#define CAPABILITY_CARDS    32u
#define CAPABILITY_GPUS     15u
#define CAPABILITY_COMPUTES 8u
#define CAPABILITY_GPU      0xFFFFFFFFu /* as a compute instance: the GPU instance itself */

static inline uint32_t capability_minor(uint32_t card, uint32_t gpu, uint32_t compute)
{
	uint32_t first =
		CAPABILITY_FIRST + (card * CAPABILITY_GPUS + gpu) * (1 + CAPABILITY_COMPUTES);

	return compute == CAPABILITY_GPU ? first : first + 1 + compute;
}
