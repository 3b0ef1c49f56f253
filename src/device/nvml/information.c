/* SPDX-License-Identifier: Apache-2.0 */
#include "device/nvml/information.h"

#include <string.h>

#include "device/nvml/helper.h"

#define INFORMATION_MS 1000u /* a file of a few lines */

_Static_assert(RECORD_BUS_ID_MAX == CARD_BUS_ID_MAX, "a folder's name fits into a request");

int information_query(const char *program, unsigned deadline_ms, struct procfs *procfs,
		      pid_t *ret_caught, struct error *error)
{
	struct helper helper = HELPER_INIT;
	struct record_answer answer;
	const char *arguments[] = { "--proc", procfs->base, NULL };
	int r = helper_start(&helper, program, arguments, error);

	if (r < 0)
		return r;
	if (deadline_ms > INFORMATION_MS)
		deadline_ms = INFORMATION_MS;
	for (size_t i = 0; i < procfs->count; i++) {
		struct procfs_card *card = &procfs->cards[i];
		struct record_request request = { .kind = RECORD_INFORMATION };

		memcpy(request.address, card->folder, sizeof(request.address));
		if (helper_ask(&helper, &request, &answer, deadline_ms, NULL) < 0)
			break;
		answer.information.text[sizeof(answer.information.text) - 1] = '\0';
		if (answer.status == RECORD_OK)
			procfs_parse_information(answer.information.text, card);
	}
	*ret_caught = helper_kill(&helper) ? 0 : helper.caught;
	return 0;
}
