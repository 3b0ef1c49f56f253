/* SPDX-License-Identifier: Apache-2.0 */
#include "model/request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const request_kind_table[REQUEST_KIND_MAX] = {
	[REQUEST_NONE] = "none",     [REQUEST_WHOLE] = "whole", [REQUEST_SLICE] = "slice",
	[REQUEST_SHARED] = "shared", [REQUEST_MIG] = "mig",
};
DEFINE_STRING_TABLE(request_kind, enum request_kind, REQUEST_KIND_MAX)

static const char *const card_policy_table[POLICY_MAX] = {
	[POLICY_DEFAULT] = "default",
	[POLICY_BINPACK] = "binpack",
	[POLICY_SPREAD] = "spread",
	[POLICY_TOPOLOGY] = "topology",
};
DEFINE_STRING_TABLE(card_policy, enum card_policy, POLICY_MAX)

int string_list_add(struct string_list *list, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	char **item = VEC_ADD(&list->items, &list->count, &list->capacity);
	if (!item) {
		free(copy);
		return -ENOMEM;
	}
	*item = copy;
	return 0;
}

int string_list_addv(struct string_list *list, const char *format, va_list arguments)
{
	va_list again;

	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0)
		return -ENOMEM;
	size_t size =
		length < STRING_LIST_SENTENCE_MAX ? (size_t)length + 1 : STRING_LIST_SENTENCE_MAX;
	autofree char *text = malloc(size);
	if (!text)
		return -ENOMEM;
	vsnprintf(text, size, format, arguments);
	return string_list_add(list, text);
}

int string_list_addf(struct string_list *list, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int r = string_list_addv(list, format, arguments);
	va_end(arguments);
	return r;
}

void string_list_release(struct string_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct string_list){ 0 };
}

void request_release(struct request *request)
{
	string_list_release(&request->models);
	string_list_release(&request->not_models);
	string_list_release(&request->uuids);
	string_list_release(&request->not_uuids);
	*request = (struct request){ 0 };
}

static const char *plural(unsigned count)
{
	return count == 1 ? "" : "s";
}

static void describe_slice(const struct request *request, struct strbuf *out)
{
	strbuf_adds(out, "a slice of ");
	if (request->memory_percent)
		strbuf_addf(out, "%u %% of the memory", request->memory_percent);
	else if (request->memory_mib % 1024 == 0)
		strbuf_addf(out, "%" PRIu64 " GiB", request->memory_mib / 1024);
	else
		strbuf_addf(out, "%" PRIu64 " MiB", request->memory_mib);
	if (request->compute_percent)
		strbuf_addf(out, " and %u %% compute", request->compute_percent);
	if (request->cards > 1)
		strbuf_addf(out, " on each of %u cards", request->cards);
}

int request_describe(const struct request *request, struct strbuf *out)
{
	switch (request->kind) {
	case REQUEST_WHOLE:
		strbuf_addf(out, "%u whole card%s", request->cards, plural(request->cards));
		break;
	case REQUEST_SLICE:
		describe_slice(request, out);
		break;
	case REQUEST_SHARED:
		strbuf_addf(out, "%u share%s of a card", request->cards, plural(request->cards));
		break;
	case REQUEST_MIG:
		strbuf_addf(out, "%u MIG instance%s of %s", request->cards, plural(request->cards),
			    request->mig_profile);
		break;
	case REQUEST_NONE:
	case REQUEST_KIND_MAX:
	case REQUEST_KIND_INVALID:
	default:
		strbuf_adds(out, "no card");
		break;
	}
	return strbuf_failed(out);
}
