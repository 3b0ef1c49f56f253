/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#define NVML_LIBRARY "libnvidia-ml.so.1"
