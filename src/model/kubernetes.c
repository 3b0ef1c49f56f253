/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kubernetes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"
#include "model/reason.h"

void kubernetes_errors_release(struct kubernetes_errors *errors)
{
	strbuf_release(&errors->list);
	errors->count = 0;
}

void kubernetes_errors_add(struct kubernetes_errors *errors, const char *format, ...)
{
	va_list arguments;

	if (errors->count++)
		strbuf_adds(&errors->list, ", ");
	va_start(arguments, format);
	strbuf_vaddf(&errors->list, format, arguments);
	va_end(arguments);
}

void kubernetes_errors_text(const struct kubernetes_errors *errors, const char *pod, char *ret,
			    size_t size)
{
	if (!errors->count)
		reason_text(ret, size, "%s", "");
	else if (errors->count == 1)
		reason_text(ret, size, "Pod \"%s\" is invalid: %s", pod, errors->list.data);
	else
		reason_text(ret, size, "Pod \"%s\" is invalid: [%s]", pod, errors->list.data);
}

static void check_value(struct kubernetes_errors *errors, const char *path, const char *kind,
			const char *name, const char *text)
{
	char canonical[QUANTITY_TEXT_MAX];
	struct quantity quantity;

	if (quantity_parse(text, &quantity, NULL) < 0 ||
	    quantity_canonical(text, canonical, sizeof(canonical)) < 0)
		return;
	if (quantity.negative)
		kubernetes_errors_add(errors,
				      "%s.%s[%s]: Invalid value: \"%s\": must be greater than or "
				      "equal to 0",
				      path, kind, name, canonical);
	if (!quantity_is_integer(&quantity))
		kubernetes_errors_add(errors,
				      "%s.%s[%s]: Invalid value: \"%s\": must be an integer", path,
				      kind, name, canonical);
}

static bool differs(const char *limit, const char *request)
{
	struct quantity one, other;

	return quantity_parse(limit, &one, NULL) == 0 &&
	       quantity_parse(request, &other, NULL) == 0 && !quantity_equal(&one, &other);
}

void kubernetes_check_resource(struct kubernetes_errors *errors, const char *path, const char *name,
			       const char *limit, const char *request)
{
	char wanted[QUANTITY_TEXT_MAX] = "", have[QUANTITY_TEXT_MAX] = "";

	if (limit)
		check_value(errors, path, "limits", name, limit);
	check_value(errors, path, "requests", name, request ? request : limit);
	if (!limit)
		kubernetes_errors_add(errors,
				      "%s.limits: Required value: Limit must be set for non "
				      "overcommitable resources",
				      path);
	if (!limit || !request || !differs(limit, request))
		return;
	if (quantity_canonical(limit, wanted, sizeof(wanted)) == 0 &&
	    quantity_canonical(request, have, sizeof(have)) == 0)
		kubernetes_errors_add(errors,
				      "%s.requests: Invalid value: \"%s\": must be equal to %s "
				      "limit of %s",
				      path, have, name, wanted);
}

const char *kubernetes_quantity_error(const char *text)
{
	size_t sign = *text == '+' || *text == '-';
	size_t digits = strspn(text + sign, "0123456789");
	const char *at = text + sign + digits;

	if (*at == '.') {
		size_t fraction = strspn(at + 1, "0123456789");
		digits += fraction;
		at += 1 + fraction;
	}
	const char *suffix = at;
	at += strspn(at, "eEinumkKMGTP");
	at += *at == '+' || *at == '-';
	at += strspn(at, "0123456789");
	if (!*text || *at)
		return "quantities must match the regular expression "
		       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
	if (!digits && (strcmp(suffix, "Pi") == 0 || strcmp(suffix, "Ei") == 0))
		return "unable to parse numeric part of quantity";
	return "unable to parse quantity's suffix";
}

/* Go's shortest form: as few digits as give the number back, an exponent where Go has one. */
static int number_text(double number, char *ret, size_t size)
{
	double magnitude = number < 0 ? -number : number;
	bool plain = magnitude == 0 || (magnitude >= 1e-6 && magnitude < 1e21);
	int length = -1;

	for (int digits = 0; digits <= 22; digits++) {
		length = snprintf(ret, size, plain ? "%.*f" : "%.*e", digits, number);
		if (length < 0 || (size_t)length >= size || strtod(ret, NULL) == number)
			break;
	}
	return length;
}

static const char *value_type(struct json_object *value)
{
	if (json_object_is_type(value, json_type_boolean))
		return json_object_get_boolean(value) ? "true" : "false";
	return json_object_is_type(value, json_type_array) ? "[...]" : "{...}";
}

/* Without json-c's writer, which needs memory, wherever the value can be a good one. */
int kubernetes_value_text(struct json_object *value, char *ret, size_t size)
{
	int64_t number = json_object_get_int64(value);
	int length;

	switch (json_object_get_type(value)) {
	case json_type_null:
		length = snprintf(ret, size, "0");
		break;
	case json_type_int:
		length = number < 0
				 ? snprintf(ret, size, "%" PRId64, number)
				 : snprintf(ret, size, "%" PRIu64, json_object_get_uint64(value));
		break;
	case json_type_double:
		length = number_text(json_object_get_double(value), ret, size);
		break;
	case json_type_string:
		length = snprintf(ret, size, "%s", json_object_get_string(value));
		break;
	case json_type_boolean:
	case json_type_object:
	case json_type_array:
	default:
		length = snprintf(ret, size, "%s", value_type(value));
		break;
	}
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}
