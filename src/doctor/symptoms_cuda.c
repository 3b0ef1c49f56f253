/* SPDX-License-Identifier: Apache-2.0 */
/* What is seen of the link cuda and has several causes. How to add one: rule.h. */
#include "doctor/rule.h"

const struct symptom doctor_symptoms_cuda[] = {
	{ .code = NULL },
};
