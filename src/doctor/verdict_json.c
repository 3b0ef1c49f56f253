/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts and causes for scripts. */
#include "doctor/rule.h"

#include <errno.h>

static int add_strings(struct json_object *object, const char *key, const char *const *list,
		       size_t most)
{
	struct json_object *array = json_object_new_array();
	int r = json_add(object, key, array);

	for (size_t i = 0; r == 0 && i < most && list[i]; i++)
		r = json_append_string(array, list[i]);
	return r;
}

static int add_chain(struct json_object *object, const struct verdict *verdict)
{
	struct json_object *array = json_object_new_array();
	int r = json_add(object, "chain", array);

	for (int link = 0; r == 0 && link < REASON_LINK_MAX; link++) {
		struct json_object *item = json_object_new_object();

		r = json_append(array, item);
		if (r == 0)
			r = json_add_string(item, "link",
					    reason_link_to_string((enum reason_link)link));
		if (r == 0)
			r = json_add_string(item, "state",
					    link_state_to_string(verdict->chain[link]));
	}
	return r;
}

static int add_evidence(struct json_object *object, const struct finding *finding)
{
	struct json_object *array = json_object_new_array();
	int r = json_add(object, "evidence", array);

	for (size_t i = 0; r == 0 && i < finding->evidence_count; i++) {
		const struct quote *quote = &finding->evidence[i];
		struct json_object *item = json_object_new_object();

		r = json_append(array, item);
		if (r == 0)
			r = json_add_string(item, "source", quote->source);
		if (r == 0)
			r = json_add_uint(item, "line", quote->line);
		if (r == 0)
			r = json_add_string(item, "text", quote->text);
	}
	return r;
}

static int add_finding(struct json_object *array, const struct finding *finding)
{
	const struct rule *rule = finding->rule;
	struct json_object *item = json_object_new_object();
	int r = json_append(array, item);

	if (r == 0)
		r = json_add_string(item, "code", rule->code);
	if (r == 0)
		r = json_add_string(item, "link", reason_link_to_string(rule->link));
	if (r == 0)
		r = json_add_string(item, "certainty", certainty_to_string(finding->certainty));
	if (r == 0)
		r = json_add_string(item, "cause", rule->cause);
	if (r == 0)
		r = add_strings(item, "cure", rule->cure, ARRAY_SIZE(rule->cure));
	return r == 0 ? add_evidence(item, finding) : r;
}

static int add_findings(struct json_object *object, const struct verdict *verdict)
{
	struct json_object *array = json_object_new_array();
	int r = json_add(object, "findings", array);

	for (size_t i = 0; r == 0 && i < verdict->finding_count; i++)
		r = add_finding(array, &verdict->findings[i]);
	return r;
}

static int add_asks(struct json_object *object, const struct verdict *verdict)
{
	struct json_object *array = json_object_new_array();
	int r = json_add(object, "ask", array);

	for (size_t i = 0; r == 0 && i < verdict->ask_count; i++) {
		struct json_object *item = json_object_new_object();

		r = json_append(array, item);
		if (r == 0)
			r = json_add_string(item, "command", verdict->asks[i].command);
		if (r == 0)
			r = json_add_string(item, "tells", verdict->asks[i].tells);
	}
	return r;
}

int verdict_to_json(const struct verdict *verdict, struct json_object **ret, struct error *error)
{
	autojson *object = json_object_new_object();
	int r = object ? add_chain(object, verdict) : -ENOMEM;

	if (r == 0) /* NULL becomes a JSON null */
		r = json_add_string(object, "first_broken",
				    verdict->first_broken == REASON_LINK_INVALID
					    ? NULL
					    : reason_link_to_string(verdict->first_broken));
	if (r == 0)
		r = add_findings(object, verdict);
	if (r == 0)
		r = add_asks(object, verdict);
	if (r < 0)
		return error_no_memory(error);
	*ret = TAKE_PTR(object);
	return 0;
}

static int fill_rule(struct json_object *object, const struct rule *rule)
{
	int r = json_add_string(object, "code", rule->code);

	if (r == 0)
		r = json_add_string(object, "link", reason_link_to_string(rule->link));
	if (r == 0)
		r = json_add_bool(object, "slow", rule->slow);
	if (r == 0)
		r = json_add_string(object, "cause", rule->cause);
	if (r == 0)
		r = add_strings(object, "cure", rule->cure, ARRAY_SIZE(rule->cure));
	if (r == 0)
		r = add_strings(object, "explains", rule->explains, ARRAY_SIZE(rule->explains));
	return r == 0 ? json_add_string(object, "source", rule->source) : r;
}

int rule_to_json(const struct rule *rule, struct json_object **ret, struct error *error)
{
	autojson *object = json_object_new_object();

	if (!object || fill_rule(object, rule) < 0)
		return error_no_memory(error);
	*ret = TAKE_PTR(object);
	return 0;
}

int rule_list_to_json(struct json_object **ret, struct error *error)
{
	autojson *object = json_object_new_object();
	struct json_object *array = object ? json_object_new_array() : NULL;
	const struct rule *rule;
	int r = json_add(object, "causes", array);

	for (size_t at = 0; r == 0 && (rule = doctor_rule_next(&at));) {
		struct json_object *item = json_object_new_object();

		r = json_append(array, item);
		if (r == 0)
			r = fill_rule(item, rule);
	}
	if (r < 0)
		return error_no_memory(error);
	*ret = TAKE_PTR(object);
	return 0;
}
