/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an input is, by how its text begins.
 *
 * How to add a form: a row in FORMS, before those that take more, and a function that reads it.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "replay/listing.h"

#define TEXT_MAX (16u << 20) /* bytes of a form that is read whole */

/* ---- what begins like what ---- */

static bool is_csv(const char *line)
{
	size_t length = strcspn(line, ",:\r\n");

	return !isdigit((unsigned char)*line) && *line != '-' && line[length] == ',';
}

static bool is_json(const char *line)
{
	return *line == '{' || *line == '[';
}

/* Some line begins as objects of Kubernetes do. */
static bool is_objects(const char *line)
{
	static const char *const keys[] = { "apiVersion:", "kind:", "items:" };

	for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *key = strncmp(line, "- ", 2) == 0 ? line + 2 : line;

		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			if (strncmp(key, keys[i], strlen(keys[i])) == 0)
				return true;
	}
	return false;
}

static bool is_any(const char *line)
{
	(void)line;
	return true;
}

static int read_csv(struct trace *trace, enum trace_part parts, const struct trace_source *source,
		    struct error *error)
{
	if (parts == TRACE_ALL)
		return error_set(error, EINVAL,
				 "%s:1: a CSV file has nodes or Pods, not both; name it with "
				 "--nodes or --pods",
				 source->name);
	return parts == TRACE_NODES ? trace_read_nodes_csv(trace, source, error)
				    : trace_read_pods_csv(trace, source, error);
}

/* The whole text. */
static int read_rest(const struct trace_source *source, struct strbuf *text, struct error *error)
{
	autofree char *rest = NULL;
	size_t length = 0;
	int r = file_read_fd(source->fd, source->name, TEXT_MAX, &rest, &length, error);

	if (r < 0)
		return r;
	strbuf_add(text, source->start, source->start_length);
	strbuf_add(text, rest, length);
	return strbuf_failed(text) < 0 ? error_no_memory(error) : 0;
}

static int read_words(struct trace *trace, enum trace_part parts, const struct trace_source *source,
		      struct error *error)
{
	autostrbuf text = STRBUF_INIT(TEXT_MAX + sizeof(source->start));
	int r = read_rest(source, &text, error);

	if (r < 0)
		return r;
	return trace_parse_short(trace, parts, text.data, text.length, source->name, error);
}

static const struct form {
	bool (*is)(const char *line); /* from the first on that is neither empty nor a comment */
	int (*read)(struct trace *trace, enum trace_part parts, const struct trace_source *source,
		    struct error *error);
} forms[] = {
	{ is_json, trace_read_objects },
	{ is_csv, read_csv },
	{ is_objects, trace_read_yaml },
	{ is_any, read_words },
};

/* ---- opening ---- */

static int read_start(struct trace_source *source, struct error *error)
{
	while (source->start_length < sizeof(source->start)) {
		ssize_t got = read(source->fd, source->start + source->start_length,
				   sizeof(source->start) - source->start_length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set_errno(error, errno, "cannot read %s", source->name);
		if (!got)
			break;
		source->start_length += (size_t)got;
	}
	return 0;
}

static int read_source(struct trace *trace, enum trace_part parts, struct trace_source *source,
		       struct error *error)
{
	char text[sizeof(source->start) + 1];
	const char *line = text;
	size_t form = 0;
	int r = read_start(source, error);

	if (r < 0)
		return r;
	memcpy(text, source->start, source->start_length);
	text[source->start_length] = '\0';
	while (isspace((unsigned char)*line) || *line == '#')
		line += *line == '#' ? strcspn(line, "\n") : 1;
	while (!forms[form].is(line))
		form++;
	return forms[form].read(trace, parts, source, error);
}

int trace_read(struct trace *trace, enum trace_part parts, const char *path, struct error *error)
{
	struct trace_source source = { .name = "standard input", .fd = STDIN_FILENO };
	autoclose int fd = -1;

	if (strcmp(path, "-") != 0) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		source.name = path;
		source.fd = fd;
	}
	if (source.fd < 0)
		return error_set_errno(error, errno, "cannot open %s", path);
	return read_source(trace, parts, &source, error);
}
