/* SPDX-License-Identifier: Apache-2.0 */
/* Causes in the link sharing. How to add one: rule.h. */
#include "doctor/rule.h"

const struct rule doctor_rules_sharing[] = {
	{ .code = NULL },
};
