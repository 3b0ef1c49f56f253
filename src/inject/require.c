/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/require.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "inject/device_name.h"

enum property { PROPERTY_CUDA, PROPERTY_DRIVER, PROPERTY_ARCH, PROPERTY_BRAND, PROPERTY_MAX };

enum comparison { EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, COMPARISON_MAX };

static const char *const operators[COMPARISON_MAX] = {
	[EQUAL] = "=",       [NOT_EQUAL] = "!=", [LESS] = "<",
	[LESS_EQUAL] = "<=", [GREATER] = ">",    [GREATER_EQUAL] = ">=",
};

/* How to add a property: a row here, what the machine has in fact_of(), what helps in cure_of(). */
static const struct {
	const char *name;
	const char *said; /* in a sentence, before the operator */
	bool version;     /* or a word */
} properties[PROPERTY_MAX] = {
	[PROPERTY_CUDA] = { "cuda", "CUDA", true },
	[PROPERTY_DRIVER] = { "driver", "driver", true },
	[PROPERTY_ARCH] = { "arch", "compute capability", true },
	[PROPERTY_BRAND] = { "brand", "brand", false },
};

#define VALUE_MAX 64

struct condition {
	enum property property;
	enum comparison comparison;
	char value[VALUE_MAX];
};

/* Numbers and points, a number first, none of more than 18 digits. */
static bool is_version(const char *text)
{
	size_t digits = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text; text++) {
		digits = *text == '.' ? 0 : digits + 1;
		if (digits > 18 || (*text != '.' && (*text < '0' || *text > '9')))
			return false;
	}
	return true;
}

/* The next number of a version, which may end early. */
static uint64_t next_number(const char **at)
{
	uint64_t number = 0;

	while (**at == '.')
		++*at;
	for (; **at >= '0' && **at <= '9'; ++*at)
		number = number * 10 + (uint64_t)(**at - '0');
	return number;
}

/* Below, at or above 0 as LEFT is older than, as or newer than RIGHT. */
static int compare_versions(const char *left, const char *right)
{
	while (*left || *right) {
		uint64_t a = next_number(&left), b = next_number(&right);

		if (a != b)
			return a < b ? -1 : 1;
	}
	return 0;
}

static bool order_holds(enum comparison comparison, int order)
{
	switch (comparison) {
	case EQUAL:
		return order == 0;
	case NOT_EQUAL:
		return order != 0;
	case LESS:
		return order < 0;
	case LESS_EQUAL:
		return order <= 0;
	case GREATER:
		return order > 0;
	case GREATER_EQUAL:
	case COMPARISON_MAX:
		break;
	}
	return order >= 0;
}

static bool is_text(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

/* "driver>=470" as a condition; false for all that is none. */
static bool read_condition(const char *text, size_t length, struct condition *ret)
{
	size_t name = 0, end, property = 0, comparison = 0;

	while (name < length && !strchr("<>=!", text[name]))
		name++;
	end = name;
	while (end < length && strchr("<>=!", text[end]))
		end++;
	while (property < PROPERTY_MAX && !is_text(text, name, properties[property].name))
		property++;
	while (comparison < COMPARISON_MAX &&
	       !is_text(text + name, end - name, operators[comparison]))
		comparison++;
	if (property == PROPERTY_MAX || comparison == COMPARISON_MAX || end == length ||
	    length - end >= VALUE_MAX)
		return false;
	ret->property = (enum property)property;
	ret->comparison = (enum comparison)comparison;
	memcpy(ret->value, text + end, length - end);
	ret->value[length - end] = '\0';
	return properties[property].version ? is_version(ret->value) : comparison <= NOT_EQUAL;
}

/* What the machine has; "" unknown. Of a driver's version the numbers at its start count. */
static void fact_of(const struct require_facts *facts, enum property property,
		    char ret[static VALUE_MAX])
{
	const struct driver_release *release = NULL;
	const struct card *card = facts->card;
	const char *version = facts->driver_version ? facts->driver_version : "";

	*ret = '\0';
	if (property == PROPERTY_DRIVER) {
		snprintf(ret, VALUE_MAX, "%.*s", (int)strspn(version, "0123456789."), version);
		if (!is_version(ret))
			*ret = '\0';
	} else if (property == PROPERTY_CUDA) {
		if (facts->cuda_major || facts->cuda_minor)
			snprintf(ret, VALUE_MAX, "%u.%u", facts->cuda_major, facts->cuda_minor);
		else if ((release = driver_release_of(version)))
			snprintf(ret, VALUE_MAX, "%u.%u", release->cuda_major, release->cuda_minor);
	} else if (card && property == PROPERTY_ARCH && card->compute_major) {
		snprintf(ret, VALUE_MAX, "%u.%u", card->compute_major, card->compute_minor);
	} else if (card && property == PROPERTY_BRAND) {
		snprintf(ret, VALUE_MAX, "%s", card->brand);
	}
}

static bool condition_holds(const struct condition *condition, const struct require_facts *facts)
{
	char fact[VALUE_MAX];

	fact_of(facts, condition->property, fact);
	if (!*fact)
		return true;
	int order = properties[condition->property].version
			    ? compare_versions(fact, condition->value)
			    : strcasecmp(fact, condition->value);
	return order_holds(condition->comparison, order);
}

static int fail_syntax(const char *variable, const char *text, size_t length, struct error *error)
{
	return error_set(
		error, EINVAL,
		"%.64s: '%.*s' is no condition; it wants cuda, driver, arch or brand, one of = != "
		"< <= > >= (a brand: = or !=), and a value: correct the image, or set "
		"NVIDIA_DISABLE_REQUIRE=1",
		variable, (int)(length > 64 ? 64 : length), text);
}

/* Conditions between commas; 1 when all hold, 0 with *ret_failed the first that does not. */
static int check_alternative(const char *variable, const char *text, size_t length,
			     const struct require_facts *facts, struct condition *ret_failed,
			     struct error *error)
{
	const char *end = text + length;

	while (text < end) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		size_t item = (size_t)((comma ? comma : end) - text);
		struct condition condition;

		if (item && !read_condition(text, item, &condition))
			return fail_syntax(variable, text, item, error);
		if (item && !condition_holds(&condition, facts)) {
			*ret_failed = condition;
			return 0;
		}
		text += item + 1;
	}
	return 1;
}

/* The oldest driver whose CUDA version satisfies a CONDITION on it; NULL: none that is known. */
static const struct driver_release *release_for(const struct condition *condition)
{
	size_t count;
	const struct driver_release *releases = driver_releases(&count);

	for (size_t i = 0; i < count; i++) {
		char cuda[32];

		snprintf(cuda, sizeof(cuda), "%u.%u", releases[i].cuda_major,
			 releases[i].cuda_minor);
		if (order_holds(condition->comparison, compare_versions(cuda, condition->value)))
			return &releases[i];
	}
	return NULL;
}

static void cure_of(const struct condition *condition, char *ret, size_t size)
{
	bool newer = condition->comparison >= GREATER;
	const struct driver_release *release = NULL;

	if (condition->property == PROPERTY_CUDA && newer)
		release = release_for(condition);
	if (release)
		snprintf(ret, size, "use driver >= %u or an older image", release->branch);
	else if (condition->property == PROPERTY_DRIVER && newer)
		snprintf(ret, size, "use driver %s %.32s or an older image",
			 operators[condition->comparison], condition->value);
	else if (condition->property >= PROPERTY_ARCH)
		snprintf(ret, size, "use another card or another image");
	else
		snprintf(ret, size,
			 newer ? "use a newer driver or an older image"
			       : "use another driver or another image");
}

/* "CUDA >= 12.4, driver 535.129.03 offers 12.2: use driver >= 550 or an older image" */
static void detail_of(const struct condition *condition, const struct require_facts *facts,
		      struct reason *reason)
{
	const char *version = facts->driver_version ? facts->driver_version : "";
	char fact[VALUE_MAX], cure[96], who[CARD_DESCRIPTION_MAX + 16];

	fact_of(facts, condition->property, fact);
	cure_of(condition, cure, sizeof(cure));
	if (condition->property == PROPERTY_CUDA) {
		snprintf(who, sizeof(who), *version ? "driver %.40s offers" : "the driver offers",
			 version);
	} else if (condition->property == PROPERTY_DRIVER) {
		snprintf(who, sizeof(who), "this machine has");
	} else {
		card_describe(facts->card, reason->card);
		snprintf(who, sizeof(who), "%.90s has", reason->card);
	}
	reason_text(reason->detail, sizeof(reason->detail), "%s %s %.32s, %s %.32s: %s",
		    properties[condition->property].said, operators[condition->comparison],
		    condition->value, who, fact, cure);
}

static int refuse(const struct condition *condition, const struct require_facts *facts,
		  struct reason *ret_reason, struct error *error)
{
	autostrbuf sentence = STRBUF_INIT(ERROR_MESSAGE_MAX);
	struct reason own = { 0 }, *reason = ret_reason ? ret_reason : &own;

	if (!*reason->object)
		reason_text(reason->object, sizeof(reason->object), "the container");
	reason->code = REASON_REQUIREMENT;
	detail_of(condition, facts, reason);
	if (reason_sentence(reason, &sentence) == -ENOMEM)
		return error_no_memory(error);
	return error_set(error, EPERM, "%s", sentence.data);
}

int require_check(const char *variable, const char *expression, const struct require_facts *facts,
		  struct reason *ret_reason, struct error *error)
{
	struct condition first = { 0 }, failed = { 0 };
	bool any = false;

	while (*expression) {
		size_t length = strcspn(expression, " ");

		/* Commas alone are no alternative. */
		if (strspn(expression, ",") < length) {
			int r = check_alternative(variable, expression, length, facts, &failed,
						  error);
			if (r != 0)
				return r < 0 ? r : 0;
			if (!any)
				first = failed;
			any = true;
		}
		expression += length + (expression[length] != '\0');
	}
	return any ? refuse(&first, facts, ret_reason, error) : 0;
}

static int check_with(const struct string_list *requirements, const struct inventory *inventory,
		      const struct card *card, struct reason *ret_reason, struct error *error)
{
	const struct require_facts facts = {
		.driver_version = *inventory->driver_version ? inventory->driver_version
							     : inventory->module_version,
		.cuda_major = inventory->cuda_major,
		.cuda_minor = inventory->cuda_minor,
		.card = card,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < requirements->count; i++) {
		const char *text = requirements->items[i], *equals = strchr(text, '=');
		autofree char *variable = NULL;

		if (!equals)
			continue;
		variable = strndup(text, (size_t)(equals - text));
		if (!variable)
			return error_no_memory(error);
		r = require_check(variable, equals + 1, &facts, ret_reason, error);
	}
	return r;
}

int require_check_all(const struct string_list *requirements, const struct inventory *inventory,
		      const struct device_selection *selection, struct reason *ret_reason,
		      struct error *error)
{
	const struct grant *grants[] = { &selection->cards, &selection->instances };
	size_t cards = 0;
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(grants); i++) {
		for (size_t j = 0; r == 0 && j < grants[i]->card_count; j++, cards++) {
			const char *name = grants[i]->cards[j].uuid;
			const struct card *card = device_find_card(inventory, name);

			if (grants[i] == &selection->instances)
				device_find_instance(inventory, name, &card);
			r = check_with(requirements, inventory, card, ret_reason, error);
		}
	}
	return cards ? r : check_with(requirements, inventory, NULL, ret_reason, error);
}
