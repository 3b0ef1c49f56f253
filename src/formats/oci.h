/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OCI runtime spec (config.json) as a JSON tree. Only the fields that are named here are
 * looked at; every other field, known or unknown, stays as it was. The functions that change a
 * tree want one that passed oci_spec_check(). Facts: opencontainers
 * runtime-spec config.md and config-linux.md; the defaults are those that `runc spec` prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/base.h"

extern const struct json_limits oci_limits; /* 8 MiB, depth 64 */

/* Reads and checks. -EINVAL names the file, the field and what it must be. */
int oci_spec_read(const char *path, struct json_object **ret, struct error *error);
int oci_spec_parse(const char *text, size_t length, const char *name, struct json_object **ret,
		   struct error *error);
/* The structural check alone; NAME is what messages call the spec. */
int oci_spec_check(struct json_object *spec, const char *name, struct error *error);
/* Checks, then writes atomically with mode 0600. */
int oci_spec_write(const char *path, struct json_object *spec, struct error *error);

/*
 * For a spec that others made and others run: NAME in the directory BUNDLE (a descriptor) as it is,
 * without oci_spec_check(), so that what only looks unusual can be passed on. *ret_status is the
 * file's. *ret is NULL for a JSON null.
 */
int oci_spec_load(int bundle, const char *name, struct json_object **ret, struct stat *ret_status,
		  struct error *error);
/*
 * Checks SPEC, then puts it at the file's place with the mode and owner in STATUS. Atomic for every
 * reader, not forced to the disk: a bundle does not outlive the boot. -ESTALE when NAME is a link
 * or no longer the file that STATUS is of.
 */
int oci_spec_replace(int bundle, const char *name, struct json_object *spec,
		     const struct stat *status, struct error *error);

/* Takes the hooks whose path ends in PROGRAM out of every list; how many there were. */
unsigned oci_spec_remove_hooks(struct json_object *spec, const char *program);
/* CAP_SYS_ADMIN in the bounding set, as NVIDIA's container toolkit means it. */
bool oci_spec_is_privileged(struct json_object *spec);
bool oci_spec_has_user_namespace(struct json_object *spec);
/* The annotation KEY (its dots are no path), or NULL. Owned by the tree. */
const char *oci_spec_annotation(struct json_object *spec, const char *key);
enum oci_manager {
	OCI_MANAGER_NONE,      /* not Kubernetes */
	OCI_MANAGER_CONTAINER, /* a container of a Pod */
	OCI_MANAGER_SANDBOX,   /* what holds a Pod's namespaces; runs nothing of the user's */
};
/* By the annotations that containerd's and CRI-O's CRI parts write (containerd
 * pkg/cri/annotations, cri-o pkg/annotations). */
enum oci_manager oci_spec_kubernetes(struct json_object *spec);

/* The value of NAME in process.env (the last one counts), or NULL. Owned by the tree. */
const char *oci_spec_env(struct json_object *spec, const char *name);
/* Replaces NAME where it stands, else appends it. */
int oci_spec_set_env(struct json_object *spec, const char *name, const char *value,
		     struct error *error);

struct oci_mount {
	const char *destination, *source;
	const char *type;    /* "bind", "tmpfs", ...; NULL: no such field */
	const char *options; /* comma separated; NULL: none */
};
/* Appends after the mounts that are there. */
int oci_spec_add_mount(struct json_object *spec, const struct oci_mount *mount,
		       struct error *error);

struct oci_device {
	const char *path;
	char type; /* 'c' or 'b' */
	unsigned major, minor;
	unsigned mode; /* permission bits of the node in the container */
	unsigned uid, gid;
	const char *access; /* of the device cgroup rule, "rw" */
};
/*
 * Adds the node to linux.devices and the rule to linux.resources.devices. The same node once more
 * is no change; another device at the same path is -EEXIST.
 */
int oci_spec_add_device(struct json_object *spec, const struct oci_device *device,
			struct error *error);
/* Adds only the rule, once. */
int oci_spec_add_device_rule(struct json_object *spec, char type, unsigned major, unsigned minor,
			     const char *access, struct error *error);
/* Adds to linux.maskedPaths, once. */
int oci_spec_add_masked_path(struct json_object *spec, const char *path, struct error *error);

enum oci_namespace { /* those that the container gets for itself; the others are the host's */
		     OCI_NAMESPACE_MOUNT = 1 << 0,
		     OCI_NAMESPACE_PID = 1 << 1,
		     OCI_NAMESPACE_NETWORK = 1 << 2,
		     OCI_NAMESPACE_IPC = 1 << 3,
		     OCI_NAMESPACE_UTS = 1 << 4,
		     OCI_NAMESPACE_CGROUP = 1 << 5,
		     OCI_NAMESPACE_ALL = (1 << 6) - 1,
};

/* What a spec of our own starts from; zero is a legal value of every field but the first four. */
struct oci_base {
	const char *root_path;          /* absolute */
	const char *const *arguments;   /* ends with NULL; at least one */
	const char *working_directory;  /* absolute */
	unsigned namespaces;            /* enum oci_namespace; MOUNT is needed */
	const char *const *environment; /* "NAME=value", ends with NULL; NULL: none */
	bool root_readonly;
	bool terminal;
	unsigned uid, gid;
	const unsigned *groups; /* supplementary */
	size_t group_count;
	const char *hostname;           /* NULL: none; needs OCI_NAMESPACE_UTS */
	const char *cgroups_path;       /* NULL: the runtime's choice */
	const char *rootfs_propagation; /* "rslave", ...; NULL: the runtime's choice */
	const char *shm_source;         /* host directory bound at /dev/shm; NULL: a tmpfs */
	bool cgroup_mount;              /* /sys/fs/cgroup, read-only; needs a sysfs */
};

/*
 * A spec of our own: no capabilities, no new privileges, every device denied but the runtime's
 * default ones, proc, a tmpfs at /dev, devpts, shm, mqueue; sysfs only with a network namespace of
 * its own (the kernel refuses it otherwise: EBUSY); the masked and read-only paths of `runc spec`.
 * -EINVAL for a structure that cannot make a container.
 */
int oci_spec_base(const struct oci_base *base, struct json_object **ret, struct error *error);
