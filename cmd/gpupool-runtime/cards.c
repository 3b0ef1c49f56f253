/* SPDX-License-Identifier: Apache-2.0 */
/* The cards of this machine. The driver itself is never asked during a start. */
#include <errno.h>
#include <stdlib.h>

#include "device/device.h"
#include "runtime.h"

/* What the driver said, by the file that gpupool wrote; *error says why it is of no use. */
static int read_inventory(struct inventory *ret, struct error *error)
{
	const char *directory = secure_getenv(ENV_RUN_DIR);
	autostrbuf path = STRBUF_INIT(4096);

	strbuf_addf(&path, "%s/" NAME_INVENTORY, directory && *directory ? directory : PATH_RUN);
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "%s is too long", ENV_RUN_DIR);
	return device_inventory_read_cards(path.data, ret, error);
}

int cards_find(const struct toolkit_config *config, struct inventory *ret,
	       struct string_list *notes, struct error *error)
{
	struct error why = ERROR_INIT;
	int r = read_inventory(ret, &why);

	if (r == 0)
		return 0;
	if (r == -ENOMEM ||
	    string_list_addf(notes, "the cards are those that the kernel tells of: %s",
			     why.message) < 0)
		return error_no_memory(error);
	return device_probe_kernel(config->driver_root, 0, ret, error);
}
