/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the driver's libraries are below a driver root, best first. Source: the container toolkit
 * (internal/lookup/library.go), Debian's, Red Hat's and Arch's packages, Container-Optimized OS.
 * The search for NVML and the search for what containers get use this one list: a driver that one
 * of them finds is found by both.
 */
#pragma once

#if defined(__aarch64__)
#define DRIVER_TRIPLET "aarch64-linux-gnu"
#else
#define DRIVER_TRIPLET "x86_64-linux-gnu"
#endif

/* How to add a place: one row. Debian keeps the driver in nvidia/current, reached by links. */
#define DRIVER_LIBRARY_DIRECTORIES                                                              \
	"/usr/lib64", "/usr/lib/" DRIVER_TRIPLET, "/usr/lib/" DRIVER_TRIPLET "/nvidia/current", \
		"/lib64", "/lib/" DRIVER_TRIPLET, "/lib/" DRIVER_TRIPLET "/nvidia/current",     \
		"/usr/lib", "/usr/local/nvidia/lib64", "/lib", "/"
