/* SPDX-License-Identifier: Apache-2.0 */
/* The Pod that a question is about. */
#include <errno.h>
#include <string.h>

#include "replay/replay.h"

int fit_parse(const char *text, struct demand *ret, struct error *error)
{
	struct error inner = ERROR_INIT;
	autostrbuf line = STRBUF_INIT(256);
	autotrace trace;
	int r = -EINVAL;

	trace_init(&trace);
	strbuf_addf(&line, "1 Pod of %s", text);
	if (line.failed == ENOMEM)
		return error_no_memory(error);
	if (!line.failed && !strpbrk(text, ";\n#"))
		r = trace_parse_short(&trace, TRACE_PODS, line.data, line.length, "", &inner);
	if (r == -ENOMEM)
		return error_no_memory(error);
	if (r < 0)
		return error_set(error, EINVAL,
				 "'%.80s' is no Pod in few words; write '12 GiB', '12 GiB 30 %% 4 "
				 "CPUs', '2 cards' or '1 1g.10gb'",
				 text);
	*ret = trace.shapes[0].demand;
	demand_init(&trace.shapes[0].demand);
	return 0;
}

int fit_read(const char *path, struct string_list *notes, struct demand *ret, struct error *error)
{
	autoyaml stream = { .name = NULL };

	int r = yaml_read_file(path, &stream, error);
	if (r < 0)
		return r;
	if (stream.count != 1)
		return error_set(error, EINVAL, "%s has %zu documents; write one Pod", path,
				 stream.count);
	const char *kind = json_get_string(stream.documents[0], "kind", "");
	if (strcmp(kind, "Pod") != 0)
		return error_set(error, EINVAL, "%s:%u: kind is '%.64s'; write one Pod", path,
				 stream.lines[0], kind);
	return demand_read(stream.documents[0], path, stream.lines[0], notes, ret, error);
}
