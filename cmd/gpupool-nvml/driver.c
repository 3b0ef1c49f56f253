/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

struct symbol {
	const char *name;
	size_t offset;
	bool required;
};

#define ROW_REQUIRED(name) { #name, offsetof(struct nvml_api, name), true },
#define ROW_OPTIONAL(name) { #name, offsetof(struct nvml_api, name), false },
#define ROW_UNUSED(name)
#define NVML_SYMBOL(base, version, stream, since, need) ROW_##need(base##version)
static const struct symbol symbols[] = {
#include "abi/nvml_symbols.def"
};
#undef NVML_SYMBOL

int driver_load(struct driver *driver, struct error *error)
{
	struct nvml_api api = { 0 };
	/*
	 * A real path: a library that looks for its own place finds the right one. Lazy: what a
	 * library lacks counts when it is called (NVIDIA's own mock lacks functions nobody needs).
	 */
	void *library = dlopen(driver->path, RTLD_LAZY | RTLD_LOCAL);

	if (!library)
		return error_set(error, ELIBBAD, "cannot load %s: %s", driver->path, dlerror());
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *address = dlsym(library, symbols[i].name);

		if (!address && symbols[i].required)
			return error_set(error, ELIBBAD,
					 "%s has no %s: it is no NVML, or older than driver 450; "
					 "install a newer driver",
					 driver->path, symbols[i].name);
		memcpy((char *)&api + symbols[i].offset, &address, sizeof(address));
	}
	driver->library = library;
	driver->api = api;
	return 0;
}
