/* SPDX-License-Identifier: Apache-2.0 */
#include "device/device.h"

#include <errno.h>
#include <string.h>

#include "device/sysfs/sysfs.h"

int device_inventory_write(const char *path, const struct inventory *inventory, struct error *error)
{
	autojson *object = NULL;
	int r = inventory_to_json(inventory, &object, error);

	if (r == 0)
		r = json_write_file(path, object, 0644, error);
	return r;
}

/* -ESTALE, with the stamp that differs, and what to do. */
static int check_stamp(const char *path, const char *what, const char *then, const char *now,
		       struct error *error)
{
	if (strcmp(then, now) == 0)
		return 0;
	return error_set(error, ESTALE,
			 "%s is of another time: %s was %s and is %s; take it anew with gpupool "
			 "inventory",
			 path, what, then[0] ? then : "none", now[0] ? now : "none");
}

static int check_stamps(const char *path, const struct inventory *inventory, struct error *error)
{
	char boot_id[sizeof(inventory->boot_id)];
	struct procfs_stamps now;
	int r = procfs_boot_id(boot_id, sizeof(boot_id), error);

	if (r == 0)
		r = check_stamp(path, "the boot", inventory->boot_id, boot_id, error);
	if (r == 0)
		r = procfs_read_stamps(inventory->driver_root, &now, error);
	if (r == 0)
		r = check_stamp(path, "the driver's kernel module", inventory->module_version,
				now.version, error);
	if (r == 0 && inventory->mig_generation != now.mig_generation)
		return error_set(error, ESTALE,
				 "%s is of another time: the MIG instances have changed; take it "
				 "anew with gpupool inventory",
				 path);
	return r;
}

static int read_inventory(const char *path, const struct json_limits *limits, struct inventory *ret,
			  struct error *error)
{
	cleanup(inventory_release) struct inventory inventory;
	autojson *object = NULL;

	inventory_init(&inventory);
	/* It says which nodes are whose, and below which root sources of mounts are looked for. */
	int r = json_read_trusted(path, limits, &object, error);
	if (r == 0)
		r = inventory_from_json(object, &inventory, error);
	if (r < 0)
		return r == -ENOENT ? r : error_wrap(error, "reading the inventory %s", path);
	r = check_stamps(path, &inventory, error);
	if (r < 0)
		return r;
	*ret = inventory;
	inventory_init(&inventory);
	return 0;
}

int device_inventory_read(const char *path, struct inventory *ret, struct error *error)
{
	return read_inventory(path, &json_limits_default, ret, error);
}

int device_inventory_read_cards(const char *path, struct inventory *ret, struct error *error)
{
	static const char *const passed_over[] = { "links", "processes", NULL };
	const struct json_limits limits = { .bytes = json_limits_default.bytes,
					    .depth = json_limits_default.depth,
					    .passed_over = passed_over };

	return read_inventory(path, &limits, ret, error);
}
