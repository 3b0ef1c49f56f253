/* SPDX-License-Identifier: Apache-2.0 */
/* Causes in the link plugin. How to add one: rule.h. */
#include "doctor/rule.h"

const struct rule doctor_rules_plugin[] = {
	{ .code = NULL },
};
