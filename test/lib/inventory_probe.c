/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory_probe ROOT [DEADLINE_MS]: the inventory as JSON, then lines "reason CODE DETAIL" and
 * "took N ms" on standard error. The helper is found as every program finds it. Exit 1 with the
 * error's sentence.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/base.h"
#include "device/device.h"

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	struct device_options options = {
		.driver_root = argc > 1 ? argv[1] : NULL,
		.deadline_ms = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0,
	};
	cleanup(inventory_release) struct inventory inventory;
	struct error error = ERROR_INIT;
	struct reason reason;
	autojson *object = NULL;

	inventory_init(&inventory);
	double begin = now_ms();
	int r = device_probe(&options, &inventory, &reason, &error);
	double end = now_ms();
	if (r == 0)
		r = inventory_to_json(&inventory, &object, &error);
	if (r < 0) {
		fprintf(stderr, "error %s\n", error.message);
		return 1;
	}
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY));
	fprintf(stderr, "reason %s %s\ntook %.0f ms\n",
		reason.code ? reason_name(reason.code) : "none", reason.detail, end - begin);
	return 0;
}
