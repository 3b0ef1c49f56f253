/* SPDX-License-Identifier: Apache-2.0 */
/* All tables of causes and symptoms as one list. How to add a table: a row here, a line in rule.h. */
#include "doctor/rule.h"

#include <string.h>

static const struct rule *const rule_tables[] = {
	doctor_rules_driver,    doctor_rules_runtime,   doctor_rules_plugin,
	doctor_rules_injection, doctor_rules_cuda,      doctor_rules_sharing,
	doctor_rules_dra,       doctor_rules_scheduler, doctor_rules_slow,
};

static const struct symptom *const symptom_tables[] = {
	doctor_symptoms_driver,    doctor_symptoms_runtime,   doctor_symptoms_plugin,
	doctor_symptoms_injection, doctor_symptoms_cuda,      doctor_symptoms_sharing,
	doctor_symptoms_dra,       doctor_symptoms_scheduler,
};

const struct rulebook doctor_rulebook = {
	.rules = rule_tables,
	.rule_tables = ARRAY_SIZE(rule_tables),
	.symptoms = symptom_tables,
	.symptom_tables = ARRAY_SIZE(symptom_tables),
};

/* *at: the table in the upper bits, the row in the lower. */
enum { ROW_BITS = 16 };

const struct rule *rulebook_rule(const struct rulebook *book, size_t *at)
{
	while (*at >> ROW_BITS < book->rule_tables) {
		const struct rule *rule =
			&book->rules[*at >> ROW_BITS][*at & ((1u << ROW_BITS) - 1)];

		if (rule->code) {
			(*at)++;
			return rule;
		}
		*at = ((*at >> ROW_BITS) + 1) << ROW_BITS;
	}
	return NULL;
}

const struct symptom *rulebook_symptom(const struct rulebook *book, size_t *at)
{
	while (*at >> ROW_BITS < book->symptom_tables) {
		const struct symptom *symptom =
			&book->symptoms[*at >> ROW_BITS][*at & ((1u << ROW_BITS) - 1)];

		if (symptom->code) {
			(*at)++;
			return symptom;
		}
		*at = ((*at >> ROW_BITS) + 1) << ROW_BITS;
	}
	return NULL;
}

const struct rule *doctor_rule_next(size_t *at)
{
	return rulebook_rule(&doctor_rulebook, at);
}

const struct rule *doctor_rule_find(const char *code)
{
	const struct rule *rule;

	for (size_t at = 0; (rule = doctor_rule_next(&at));)
		if (strcmp(rule->code, code) == 0)
			return rule;
	return NULL;
}
