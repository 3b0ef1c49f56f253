/* SPDX-License-Identifier: Apache-2.0 */
/* Any Pod of a cluster: one error, or a demand that can be written, read and decided on. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

static void check_demand(const struct demand *demand)
{
	cleanup(demand_release) struct demand again;
	autojson *object = NULL, *copy = NULL;

	demand_init(&again);
	must(demand->needs.cpu_milli >= 0 && demand->needs.memory_mib >= 0);
	must(demand->needs.pods >= 0 && demand->request_count <= DEMAND_REQUESTS_MAX);
	for (size_t i = 0; i < demand->request_count; i++) {
		must(demand->requests[i].kind != REQUEST_NONE && demand->requests[i].cards > 0);
		must(demand->requests[i].compute_percent <= 100 && demand->containers[i]);
	}
	must(demand_to_json(demand, &object, NULL) == 0);
	must(demand_from_json(object, &again, NULL) == 0);
	must(demand_to_json(&again, &copy, NULL) == 0);
	must(json_object_equal(object, copy));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(string_list_release) struct string_list notes = { 0 };
	cleanup(demand_release) struct demand demand;
	struct error error = ERROR_INIT;
	autojson *pod = NULL;

	demand_init(&demand);
	if (json_parse((const char *)data, size, "fuzz", NULL, &pod, &error) < 0)
		return 0;
	int r = demand_read(pod, "fuzz", 7, &notes, &demand, &error);
	if (r == 0)
		check_demand(&demand);
	else if (r != -ESTALE)
		must(error.number == -r && error.message[0] && !strchr(error.message, '\n'));
	return 0;
}
