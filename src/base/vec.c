/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int vec_reserve(void *items, size_t *capacity, size_t needed, size_t size)
{
	void *data;

	if (needed <= *capacity)
		return 0;
	/* The owner's pointer has another type than void *: copy it, do not alias it. */
	memcpy(&data, items, sizeof(data));
	size_t wanted = *capacity ? *capacity : 8;
	while (wanted < needed) {
		if (wanted > PTRDIFF_MAX / size / 2)
			return -ENOMEM;
		wanted *= 2;
	}
	char *grown = reallocarray(data, wanted, size);
	if (!grown)
		return -ENOMEM;
	memset(grown + *capacity * size, 0, (wanted - *capacity) * size);
	memcpy(items, &grown, sizeof(grown));
	*capacity = wanted;
	return 0;
}
