/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpupoold beside NVIDIA's device plugin, in turns in one run: eight whole cards of the simulated driver, each
 * program before a fake kubelet of its own, cards handed over with CDI names. Prints a JSON object a
 * program, one with the ratios, and result NUMBER of TAP: a SKIP where GPUPOOL_TEST_DEVICE_PLUGIN is not set.
 * No budget is judged; a program that does not register, list or answer ends the bench. To be called in the mount namespace of bench_with_driver(): NVIDIA's plugin knows one folder
 * of device plugins, /var/lib/kubelet/device-plugins, and one of CDI specs, /var/run/cdi.
 */
#pragma once

void peer_plugin_bench(unsigned number);
