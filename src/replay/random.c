/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/trace.h"

void random_start(struct random *random, uint64_t seed, enum random_stream stream)
{
	random->state = seed;
	random->state = random_next(random) + (uint64_t)stream * 0xd1342543de82ef95u;
}

uint64_t random_next(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint32_t random_below(struct random *random, uint32_t limit)
{
	uint32_t refused = (uint32_t)(-limit) % limit; /* 2^32 modulo LIMIT */
	uint64_t product;

	do {
		product = (random_next(random) >> 32) * limit;
	} while ((uint32_t)product < refused);
	return (uint32_t)(product >> 32);
}

void random_shuffle(struct random *random, uint32_t *items, size_t count)
{
	for (size_t left = count; left > 1; left--) {
		uint32_t other = random_below(random, (uint32_t)left);
		uint32_t item = items[left - 1];

		items[left - 1] = items[other];
		items[other] = item;
	}
}
