/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grant to plan of edits, plan to OCI spec. A plan is data: it can be printed, compared and tested
 * before anything happens. Nothing here mounts, executes or writes; the only reading is of the
 * driver root, of the existence of names in the container's root, and of what kind of file the
 * sources of the container's own mounts are.
 *
 * Sources of mounts come from the driver root only, resolved inside it. Nothing in the image is
 * opened for its content, parsed, executed or used as a source.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"
#include "inject/cdi.h"
#include "inject/driver_files.h"
#include "inject/foreign.h"
#include "inject/request.h"
#include "inject/require.h"
#include "model/model.h"

/* NVIDIA_DRIVER_CAPABILITIES as a set. */
enum driver_capability {
	CAPABILITY_COMPUTE = 1 << 0,
	CAPABILITY_UTILITY = 1 << 1,
	CAPABILITY_VIDEO = 1 << 2,
	CAPABILITY_GRAPHICS = 1 << 3,
	CAPABILITY_DISPLAY = 1 << 4,
	CAPABILITY_NGX = 1 << 5,
	CAPABILITY_COMPAT32 = 1 << 6,
	CAPABILITY_ALL = (1 << 7) - 1,
	CAPABILITY_DEFAULT = CAPABILITY_COMPUTE | CAPABILITY_UTILITY,
};
/* "all", or a comma list; empty or NULL is the default. -EINVAL names the unknown word; who has it from
 * somewhere says where. */
int capabilities_parse(const char *text, unsigned *ret, struct error *error);

/*
 * Searches ROOT (the driver root, links resolved inside it) for the files of driver VERSION; NULL
 * or "": the version of the libnvidia-ml or libcuda that is there. Of those only what CAPABILITIES
 * need: no library of another capability is opened. Broken files are left out and named in the
 * notes; -ENOENT when no library of that version is there.
 */
int driver_files_find(const char *root, const char *version, unsigned capabilities,
		      struct driver_files **ret, struct error *error);
/*
 * The list of a search that was kept in the file PATH (below the run directory: NAME_DRIVER_FILES),
 * so that a container's start need not search. It holds for one root and one version (NULL or "":
 * any), and only while every directory and link that the search read is as it was; sockets and
 * device nodes are looked for each time. -ENOENT: there is none. -ESTALE: something changed. -EPERM:
 * others than root and the caller can write it. -EINVAL: it is no such list. In each case
 * driver_files_find() finds what it would have said, and so does driver_files_find_kept().
 *
 * HOST: where this process sees the root of the host, for sockets and nodes that ROOT lacks; NULL: "/".
 */
int driver_files_read(const char *path, const char *root, const char *host, const char *version,
		      unsigned capabilities, struct driver_files **ret, struct error *error);
int driver_files_find_kept(const char *path, const char *root, const char *host,
			   const char *version, unsigned capabilities, struct driver_files **ret,
			   struct error *error);
struct injection;
/*
 * The same for one plan: of INJECTION's driver root and version, and of nodes and sockets only what
 * edit_plan_build() may ask for with it. Its files are not looked at.
 */
int driver_files_find_injection(const char *path, const struct injection *injection,
				struct driver_files **ret, struct error *error);
/* Searches and writes it, unless the one that is there still holds. Nothing is written while files of
 * the driver have just changed: the next one who keeps it does. */
int driver_files_keep(const char *path, const char *root, const char *version, struct error *error);
void driver_files_free(struct driver_files *files);
DEFINE_CLEANUP(struct driver_files, driver_files_free)

enum edit_node {
	EDIT_NODE_MADE,  /* by the runtime, in the container */
	EDIT_NODE_BOUND, /* of the host, mounted: in a user namespace none can be made */
	EDIT_NODE_THERE, /* by a mount of the container's own: only the rule is added */
};

enum edit_kind { EDIT_ENV, EDIT_DEVICE, EDIT_MOUNT, EDIT_MASK, EDIT_KIND_MAX };

struct edit {
	enum edit_kind kind;
	char *name;   /* env: name; device and mount: path in the container; mask: path. owned */
	char *source; /* env: value; mount: path on the host; device: host node. owned, or NULL */
	const char *options;     /* mount: "ro,nosuid,nodev,rbind,rprivate"; static */
	unsigned major, minor;   /* device */
	unsigned mode, uid, gid; /* device: of the node made in the container */
	enum edit_node node;     /* device */
	bool only_if_unset;      /* env: an image's own value wins */
	bool make_target;        /* mount below PATH_HOST_DRIVER: the caller makes the empty file */
	char *reason;            /* why this edit; owned */
};

struct edit_plan {
	struct edit *edits; /* owned */
	size_t count, capacity;
	struct string_list notes; /* sentences for people: "musl image: ...", "sockets absent" */
};
void edit_plan_release(struct edit_plan *plan);
/*
 * The paths below PATH_HOST_DRIVER that the caller makes as empty files, with their directories,
 * in a tmpfs that it mounts there in a private mount namespace before the runtime runs.
 */
int edit_plan_host_targets(const struct edit_plan *plan, struct string_list *ret,
			   struct error *error);

enum inject_target {
	INJECT_IMAGE, /* a root of its own: libraries go to the first libc directory */
	INJECT_HOST,  /* this machine's root, bound: only mounts whose targets exist; with a driver
		       * root other than "/" binaries and libraries go below PATH_HOST_DRIVER */
};

struct injection {
	const struct inventory *inventory;
	/* Those of this container; may be none. A grant without a card is the driver's files and
	 * control nodes and no card. Of kind MIG: the uuid of a part is that of the instance. */
	const struct grant *const *grants;
	size_t grant_count;
	const struct driver_files *files;
	unsigned capabilities;
	enum inject_target target;
	int root_fd;              /* O_PATH on the container's root; -1: nothing can be looked up */
	struct json_object *spec; /* the OCI spec as it is, for mounts already there; may be NULL */
	unsigned uid, gid;        /* owner of the nodes made in the container */
	bool user_namespace;      /* the container gets one of its own */
	unsigned gated;           /* enum gated: what was asked for beside the cards */
	const struct string_list *imex; /* channel numbers, decimal, or IMEX_ALL; NULL: none */
};

/*
 * Fills *ret with the edits for the grants. Without a grant the plan only makes sure that no card
 * is reachable: NVIDIA_VISIBLE_DEVICES=void, no device, no rule. files may be NULL then. -EPERM
 * with *ret_reason (object "the container" unless it was set) when the root, a mount or the
 * working directory must be refused; -ENODEV when something granted has no usable device node.
 */
int edit_plan_build(const struct injection *injection, struct edit_plan *ret,
		    struct reason *ret_reason, struct error *error);
/* For --dry-run: what has the same reason stands below it, a mounted file with all its names. JSON
 * has one entry an edit. */
int edit_plan_print(const struct edit_plan *plan, struct strbuf *out);
int edit_plan_to_json(const struct edit_plan *plan, struct json_object **ret, struct error *error);
/* Applies to an OCI config.json tree that passed oci_spec_check(); nothing else of the tree
 * changes. After an error the tree is half edited: throw it away. */
int edit_plan_apply_oci(const struct edit_plan *plan, struct json_object *spec,
			struct error *error);
