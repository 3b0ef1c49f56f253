/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CDI spec (Container Device Interface) as a JSON tree, and the directories that hold them. Facts:
 * SPEC.md of the CDI, and what its Go library (pkg/cdi, pkg/parser, specs-go) takes and refuses,
 * since that library is what containerd, CRI-O and Docker read these files with.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "model/model.h"

extern const struct json_limits cdi_limits; /* 8 MiB, depth 32 */

enum { CDI_NAME_MAX = 256 }; /* bytes of a kind or of a device's name, with the end */

/*
 * Reads and checks a file; JSON when its name ends in .json, else YAML with one document. -EINVAL
 * names the file, the field and what it must be: a field or version that is not known makes a
 * runtime refuse the whole file, so it does here. The tree is the caller's.
 */
int cdi_spec_read(const char *path, struct json_object **ret, struct error *error);
/* The check alone; NAME is what messages call the spec. */
int cdi_spec_check(struct json_object *spec, const char *name, struct error *error);
/* The lowest version that has every field of a well-formed SPEC ("0.5.0"). Static. */
const char *cdi_spec_lowest_version(struct json_object *spec);
/* Appends the text, as YAML or as JSON, with a newline at the end. 0 or -errno. */
int cdi_spec_print(struct json_object *spec, bool yaml, struct strbuf *out, struct error *error);

/* "nvidia.com/gpu=0" to "nvidia.com/gpu" and "0". 0, or -EINVAL and nothing written. */
int cdi_name_split(const char *name, char kind[static CDI_NAME_MAX],
		   char device[static CDI_NAME_MAX]);
/* A device's own name, the part after '='. */
bool cdi_device_name_is_valid(const char *name);
/* "nvidia.com" or "gpu", the parts of a kind. */
bool cdi_kind_part_is_valid(const char *part);

/*
 * All specs of some directories. As in the CDI library a later directory is stronger, and a device
 * that two files of one directory have is nobody's. A file that cannot be read or is no spec is
 * left out; NOTES (may be NULL) gets a sentence for it, and for each conflict. A directory that is
 * absent is an empty one. 0, -ENOMEM, or -errno when a directory cannot be read.
 */
struct cdi_registry;
int cdi_registry_open(const struct string_list *directories, struct cdi_registry **ret,
		      struct string_list *notes, struct error *error);
void cdi_registry_free(struct cdi_registry *registry);
DEFINE_CLEANUP(struct cdi_registry, cdi_registry_free)

/* How many devices can be asked for; the qualified name of one (in order of the names), and the file
 * that has it. Owned by the registry. */
size_t cdi_registry_count(const struct cdi_registry *registry);
const char *cdi_registry_name(const struct cdi_registry *registry, size_t index,
			      const char **ret_path);
/*
 * The edits of the device with the qualified NAME, NULL when there is none; *ret_common is what the
 * spec of the device adds to each container, to be applied once before, or NULL. Owned by the
 * registry.
 */
struct json_object *cdi_registry_edits(const struct cdi_registry *registry, const char *name,
				       struct json_object **ret_common);

/*
 * Applies edits of a spec that passed the check to a tree that passed oci_spec_check(): devices with
 * their rules, mounts after those that are there, variables, groups. A node without numbers gets
 * those of the host. -EPERM for hooks, which would run programs with the host's rights, and for
 * what is not passed on; -EEXIST when another device or mount stands at the place. After an error
 * the tree is half edited: throw it away.
 */
int cdi_edits_apply_oci(struct json_object *edits, struct json_object *spec, struct error *error);
