/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sysfs/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/sysfs/tree.h"

#define PCI_TEXT_MAX        4096u
#define PCI_VENDOR_NVIDIA   0x10deul
#define PCI_CLASS_VGA       0x0300ul
#define PCI_CLASS_3D        0x0302ul
#define PCI_LINK_WIDTH_GONE 63l /* the 6-bit field when every bit reads as one */

DEFINE_CLEANUP(DIR, closedir)

/* A number in a one-line file ("0x10de", "-1"); FALLBACK when there is none. */
static long pci_number(const char *base, const char *device, const char *name, long fallback)
{
	autofree char *text = NULL;
	char *end;

	if (tree_read(&text, PCI_TEXT_MAX, "%s/%s/%s", base, device, name) < 0)
		return fallback;
	errno = 0;
	long value = strtol(text, &end, 0);
	if (end == text || errno || (*end && *end != '\n'))
		return fallback;
	return value;
}

static bool pci_is_card(const char *base, const char *device)
{
	unsigned long class;

	if ((unsigned long)pci_number(base, device, "vendor", 0) != PCI_VENDOR_NVIDIA)
		return false;
	class = (unsigned long)pci_number(base, device, "class", 0) >> 8;
	return class == PCI_CLASS_VGA || class == PCI_CLASS_3D;
}

int pci_read(const char *driver_root, struct pci *ret, struct error *error)
{
	autofree char *base = NULL;
	int r;

	memset(ret, 0, sizeof(*ret));
	r = tree_choose(driver_root, "/sys/bus/pci/devices", &base, error);
	if (r < 0)
		return r;
	cleanup(closedirp) DIR *stream = opendir(base);
	if (!stream)
		return 0; /* no PCI on this machine */
	for (struct dirent *entry; (entry = readdir(stream));) {
		struct pci_device *device = &ret->devices[ret->count];

		if (entry->d_name[0] == '.' || ret->count == DEVICE_CARDS_MAX ||
		    bus_id_normalise(entry->d_name, device->bus_id) < 0 ||
		    !pci_is_card(base, entry->d_name))
			continue;
		long numa = pci_number(base, entry->d_name, "numa_node", -1);
		device->numa = numa < 0 || numa > 4095 ? -1 : (int)numa;
		device->link_down = pci_number(base, entry->d_name, "current_link_width", 0) ==
				    PCI_LINK_WIDTH_GONE;
		ret->count++;
	}
	return 0;
}

const struct pci_device *pci_find(const struct pci *pci, const char *bus_id)
{
	for (size_t i = 0; i < pci->count; i++)
		if (strcmp(pci->devices[i].bus_id, bus_id) == 0)
			return &pci->devices[i];
	return NULL;
}
