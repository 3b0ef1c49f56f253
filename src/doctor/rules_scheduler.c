/* SPDX-License-Identifier: Apache-2.0 */
/* Causes in the link scheduler. How to add one: rule.h. */
#include "doctor/rule.h"

const struct rule doctor_rules_scheduler[] = {
	{ .code = NULL },
};
