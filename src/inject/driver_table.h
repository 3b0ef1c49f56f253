/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that belong to the driver, as tables. Sources: NVIDIA's container toolkit and
 * libnvidia-container (which files, which capability), ELF headers of driver 535 (SONAMEs and the
 * exceptions), Debian's and Red Hat's packages (directories).
 */
#pragma once

#include <elf.h>

#include "abi/driver_place.h"
#include "inject/inject.h"

/* How the file of a library is called. */
enum library_version {
	LIBRARY_DRIVER, /* <base>.so.<driver version> */
	LIBRARY_OWN,    /* <base>.so.<a version of its own> */
	LIBRARY_EXACT,  /* <base> is the whole name */
};

struct library_row {
	const char *base;
	enum library_version version;
	unsigned capabilities;
	bool cuda_search;
	bool versioned;        /* something opens it by its versioned name too */
	const char *directory; /* "vdpau/", below the library directory; NULL: in it */
	const char *name;      /* the target instead of the SONAME; NULL: the SONAME */
	const char *also;      /* one more name that programs open; NULL: none */
};

struct binary_row {
	const char *name;
	unsigned capabilities;
};

struct config_row {
	const char *target;   /* in the container */
	const char *relative; /* below /etc, /usr/local/share, /usr/share of the driver root */
	unsigned capabilities;
	bool in_root; /* may also stand directly in the driver root (GKE) */
	unsigned gated;
};

/* A module of the X server. */
struct module_row {
	const char *directory; /* "drivers" or "extensions" */
	const char *name;      /* as the server looks for it */
	bool versioned;        /* on the host a version follows */
	unsigned capabilities;
};

struct socket_row {
	const char *target;
	const char *other; /* where it may be instead; NULL: nowhere */
	unsigned capabilities;
	bool directory; /* a directory that root owns, not a socket */
	unsigned gated;
};

/* Each ends with a row whose first field is NULL. */
extern const struct library_row library_rows[];
extern const struct binary_row binary_rows[];
extern const struct config_row config_rows[];
extern const struct module_row module_rows[];
extern const struct socket_row socket_rows[];

/* Directories, ends with NULL. */
extern const char *const library_directories[];
extern const char *const binary_directories[];
extern const char *const config_directories[];
/* Of modules: with the row's directory below them, and with the files themselves. */
extern const char *const module_directories[];
extern const char *const module_flat_directories[];
/* Where the X server of a container looks: distributions with /usr/lib, then those with /usr/lib64. */
#define MODULE_TARGET    "/usr/lib/xorg/modules"
#define MODULE_TARGET_64 "/usr/lib64/xorg/modules"

/* Where the loader of a container looks, best first; end with NULL. */
extern const char *const loader_directories[];
extern const char *const loader_directories_32[];
/* For a root that cannot be looked at: what together serves every distribution. */
extern const char *const static_directories[];
#define STATIC_COMMON "/usr/lib" /* Arch and Wolfi look nowhere else */

#if defined(__x86_64__)
#define LIBRARY_TRIPLET    DRIVER_TRIPLET
#define LIBRARY_TRIPLET_32 "i386-linux-gnu"
#define LOADER_MUSL        "/lib/ld-musl-x86_64.so.1"
#define ELF_MACHINE        EM_X86_64
#define ELF_MACHINE_32     EM_386
#elif defined(__aarch64__)
#define LIBRARY_TRIPLET    DRIVER_TRIPLET
#define LIBRARY_TRIPLET_32 "arm-linux-gnueabihf"
#define LOADER_MUSL        "/lib/ld-musl-aarch64.so.1"
#define ELF_MACHINE        EM_AARCH64
#define ELF_MACHINE_32     EM_ARM
#else
#error "NVIDIA's driver exists for x86_64 and aarch64; add the names of this machine here"
#endif
