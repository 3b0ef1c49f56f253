/* SPDX-License-Identifier: Apache-2.0 */
/* What a start would do, for people and as JSON. */
#include <errno.h>
#include <string.h>

#include "runtime.h"

static void print_list(const char *lead, const struct string_list *list, struct strbuf *out)
{
	for (size_t i = 0; i < list->count; i++) {
		size_t start = out->length;

		strbuf_addf(out, "%s%s", lead, list->items[i]);
		if (strbuf_failed(out) == 0)
			text_make_visible(out->data + start, false);
		strbuf_addc(out, '\n');
	}
}

static void print_request(const struct start *start, struct strbuf *out)
{
	const struct device_request *request = &start->request;

	if (request->source == SOURCE_NONE) {
		strbuf_adds(out, "request: none; the container gets no card\n");
		return;
	}
	strbuf_addf(out, "request: %s from %s%s\n",
		    request->all    ? "all cards"
		    : request->none ? "the driver's files without a card"
				    : "the devices below",
		    request_source_to_string(request->source),
		    request->kubernetes ? ", in Kubernetes" : "");
	print_list("  device ", &request->devices, out);
	print_list("  device ", &request->foreign, out);
	print_list("  IMEX channel ", &request->imex, out);
	print_list("  requirement that holds: ", &request->requirements, out);
}

static int add_notes(struct json_object *object, const struct string_list *from)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < from->count; i++)
		r = json_append_string(object, from->items[i]);
	return r;
}

static int to_json(const struct start *start, struct strbuf *out, struct error *error)
{
	autojson *object = json_object_new_object(), *plan = NULL;
	autojson *notes = json_object_new_array();
	int r = edit_plan_to_json(&start->plan, &plan, error);

	if (r < 0)
		return r;
	if (!object ||
	    json_add_string(object, "source", request_source_to_string(start->request.source)) <
		    0 ||
	    json_add_bool(object, "changed", start_asks(start)) < 0 ||
	    json_add_uint(object, "hooksRemoved", start->hooks_removed) < 0 || !notes ||
	    add_notes(notes, &start->request.notes) < 0 || add_notes(notes, &start->notes) < 0 ||
	    json_add(object, "notes", TAKE_PTR(notes)) < 0 ||
	    json_add(object, "plan", TAKE_PTR(plan)) < 0)
		return error_no_memory(error);
	r = json_to_text(object, true, out, error);
	strbuf_addc(out, '\n');
	return r;
}

int start_explain(const struct start *start, bool json, struct strbuf *out, struct error *error)
{
	if (json)
		return to_json(start, out, error);
	print_request(start, out);
	int r = edit_plan_print(&start->plan, out);
	print_list("note: ", &start->request.notes, out);
	print_list("note: ", &start->notes, out);
	return r < 0 || strbuf_failed(out) < 0 ? error_no_memory(error) : 0;
}
