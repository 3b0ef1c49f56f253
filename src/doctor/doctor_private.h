/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor.c has seen, for engine.c to judge. */
#pragma once

#include "doctor/doctor.h"
#include "doctor/facts.h"
#include "doctor/matcher.h"
#include "doctor/rule.h"

/* The conditions of all rows, in the order of the tables. */
struct conditions {
	uint16_t *patterns; /* the matcher's number, or CONDITION_FACT */
	size_t count, capacity;
};
enum { CONDITION_FACT = UINT16_MAX };

/* A line that meets a condition; all of it belongs to matcher or facts. */
struct witness {
	const char *source;
	uint64_t line;
	const char *text;
	size_t length;
};

/* Hands all conditions of the tables to MATCHER. -EINVAL with a sentence: one cannot be read. */
int conditions_load(struct conditions *conditions, const struct rulebook *book,
		    struct matcher *matcher, struct error *error);
/* Is condition number INDEX, which reads TEXT, met? RET may be NULL. */
bool condition_met(const struct conditions *conditions, const struct matcher *matcher,
		   const struct facts *facts, const char *text, size_t index, struct witness *ret);

int judge(const struct rulebook *book, const struct conditions *conditions,
	  const struct matcher *matcher, const struct facts *facts, struct verdict *ret,
	  struct error *error);
