/* SPDX-License-Identifier: Apache-2.0 */
#include "model/driver_release.h"

#include <stdlib.h>

#include "base/base.h"

/*
 * To 595: table 3, "CUDA Toolkit and Corresponding Driver Versions", of the CUDA Toolkit 13.2
 * release notes (docs.nvidia.com/cuda/cuda-toolkit-release-notes), column Linux x86_64; 610 from the
 * notes of 13.3. 565 and 615 brought a CUDA version that the table does not have, or not yet: it is
 * what their own nvidia-smi prints (565.57.01: 12.7, 615.71.09: 13.4).
 */
static const struct driver_release releases[] = {
	{ 346, 7, 0 },  { 352, 7, 5 },  { 367, 8, 0 },  { 375, 8, 0 },  { 384, 9, 0 },
	{ 390, 9, 1 },  { 396, 9, 2 },  { 410, 10, 0 }, { 418, 10, 1 }, { 440, 10, 2 },
	{ 450, 11, 0 }, { 455, 11, 1 }, { 460, 11, 2 }, { 465, 11, 3 }, { 470, 11, 4 },
	{ 495, 11, 5 }, { 510, 11, 6 }, { 515, 11, 7 }, { 520, 11, 8 }, { 525, 12, 0 },
	{ 530, 12, 1 }, { 535, 12, 2 }, { 545, 12, 3 }, { 550, 12, 4 }, { 555, 12, 5 },
	{ 560, 12, 6 }, { 565, 12, 7 }, { 570, 12, 8 }, { 575, 12, 9 }, { 580, 13, 0 },
	{ 590, 13, 1 }, { 595, 13, 2 }, { 610, 13, 3 }, { 615, 13, 4 },
};

const struct driver_release *driver_releases(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(releases);
	return releases;
}

const struct driver_release *driver_release_of(const char *version)
{
	unsigned branch = 0, digits = 0;

	for (; version && *version >= '0' && *version <= '9' && digits < 6; version++, digits++)
		branch = branch * 10 + (unsigned)(*version - '0');
	if (!digits || *version != '.')
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(releases); i++) {
		if (releases[i].branch == branch)
			return &releases[i];
	}
	return NULL;
}
