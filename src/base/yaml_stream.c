/* SPDX-License-Identifier: Apache-2.0 */
/* What yaml_parse() gave. */
#include <stdlib.h>

#include "base/yaml.h"

void yaml_stream_release(struct yaml_stream *stream)
{
	for (size_t i = 0; i < stream->count; i++)
		json_object_put(stream->documents[i]);
	free(stream->documents);
	free(stream->lines);
	free(stream->name);
	*stream = (struct yaml_stream){ 0 };
}

unsigned yaml_line(struct json_object *object)
{
	return json_line(object);
}
