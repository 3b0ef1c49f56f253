/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a ledger: an error, or one that comes out the same when it is written and read again. The
 * checksums, which no mutation hits, are made right for every second input.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/ledger.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

static uint32_t sum_of(const char *text, size_t length)
{
	uint32_t sum = UINT32_MAX;

	for (size_t i = 0; i < length; i++) {
		sum ^= (unsigned char)text[i];
		for (unsigned bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
	}
	return ~sum;
}

static void put_sums(const char *text, size_t length, struct strbuf *out)
{
	const char *at = text, *stop = text + length;

	while (at < stop) {
		const char *end = memchr(at, '\n', (size_t)(stop - at));
		size_t line = (size_t)((end ? end : stop) - at);
		const char *record = line > 9 ? at + 9 : at;
		size_t size = line > 9 ? line - 9 : line;

		strbuf_addf(out, "%08" PRIx32 " ", sum_of(record, size));
		strbuf_add(out, record, size);
		if (end)
			strbuf_addc(out, '\n');
		at = end ? end + 1 : stop;
	}
}

static void try(const char *text, size_t length)
{
	autostrbuf first = STRBUF_INIT(64u << 20), second = STRBUF_INIT(64u << 20);
	struct ledger_damage damage;
	struct error error = ERROR_INIT;
	struct ledger ledger, copy;

	ledger_init(&ledger);
	ledger_init(&copy);
	int r = ledger_from_text(&ledger, text, length, "fuzz", 1, &damage, &error);

	must((r < 0) == (error.message[0] != '\0'));
	must((damage.records != 0) == (damage.text[0] != '\0'));
	must(r == 0 || ledger.count == 0);
	for (size_t i = 0; i < ledger.count; i++)
		must(ledger.entries[i]->ids.count > 0 &&
		     ledger.entries[i]->serial < ledger.next_serial &&
		     ledger_find(&ledger, ledger.entries[i]->ids.items[0], NULL));
	must(ledger_to_text(&ledger, &first, NULL) == 0);
	must(ledger_from_text(&copy, first.data, first.length, "again", 1, &damage, &error) == 0);
	must(damage.records == 0 && copy.count == ledger.count);
	must(ledger_to_text(&copy, &second, NULL) == 0 && strcmp(first.data, second.data) == 0);
	ledger_release(&ledger);
	ledger_release(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autostrbuf right = STRBUF_INIT(64u << 20);

	try((const char *)data, size);
	put_sums((const char *)data, size, &right);
	try(right.data, right.length);
	return 0;
}
