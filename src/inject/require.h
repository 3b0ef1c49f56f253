/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an image requires: the expressions of NVIDIA_REQUIRE_*. A blank is OR, a comma is AND and binds
 * closer; a condition is cuda, driver, arch or brand (in any letter case), one of = != < <= > >=, and
 * a value. Versions are compared number by number, a part that is missing is 0; brands are equal
 * in any letter case, and know only = and !=. Alternatives behind one that holds are not looked at.
 * What is not known of the machine holds. Source: NVIDIA/libnvidia-container src/cli/dsl.c and
 * configure.c at 5823754b.
 */
#pragma once

#include "base/base.h"
#include "inject/request.h"
#include "model/model.h"

struct require_facts {
	const char *driver_version; /* "535.129.03"; NULL or "" unknown */
	unsigned cuda_major,
		cuda_minor;      /* offered; 0.0 unknown: then as the driver's branch does */
	const struct card *card; /* for arch and brand; NULL: none is visible */
};

/*
 * VARIABLE is for messages. -EPERM with REASON_REQUIREMENT in *ret_reason (may be NULL; its object
 * is "the container" unless it was set) when it does not hold, -EINVAL for what is no expression.
 */
int require_check(const char *variable, const char *expression, const struct require_facts *facts,
		  struct reason *ret_reason, struct error *error);
/*
 * All REQUIREMENTS ("NVIDIA_REQUIRE_CUDA=cuda>=12.4", as in struct device_request) for each card
 * that was selected, whole or in part; once without a card when none was.
 */
int require_check_all(const struct string_list *requirements, const struct inventory *inventory,
		      const struct device_selection *selection, struct reason *ret_reason,
		      struct error *error);
