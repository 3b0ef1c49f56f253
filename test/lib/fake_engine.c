/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_engine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void remember(struct fake_engine *fake, const char *const *argv)
{
	size_t length = strlen(fake->calls);

	for (size_t i = 0; argv[i]; i++) {
		const char *word =
			i == 0 && strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];

		(void)snprintf(fake->calls + length, sizeof(fake->calls) - length, "%s%s",
			       i ? " " : "", word);
		length = strlen(fake->calls);
	}
	(void)snprintf(fake->calls + length, sizeof(fake->calls) - length, "\n");
}

static int systemctl(struct fake_engine *fake, const char *verb, struct error *error)
{
	if (strcmp(verb, "is-active") == 0)
		return fake->down ? error_set(error, ECHILD,
					      "systemctl is-active failed (exit "
					      "status 3): failed")
				  : 0;
	if (fake->start)
		fake->start(fake->host);
	fake->down = fake->bad_starts > 0;
	fake->bad_starts -= fake->bad_starts > 0;
	return fake->down ? error_set(error, ECHILD,
				      "systemctl %s failed (exit status 1): Job failed", verb)
			  : 0;
}

int fake_engine_run(void *data, const char *const *argv, char **ret, struct error *error)
{
	struct fake_engine *fake = data;
	int r = 0;

	remember(fake, argv);
	if (strstr(argv[0], "systemctl")) {
		r = systemctl(fake, argv[1], error);
	} else if (fake->bad_files) {
		fake->bad_files--;
		return error_set(error, ECHILD, "%s failed (exit status 1): cannot parse", argv[0]);
	} else if (fake->dump) {
		return fake->dump(fake->host, ret, error);
	}
	if (r < 0)
		return r;
	*ret = strdup("");
	return *ret ? 0 : -ENOMEM;
}

unsigned fake_engine_count(const struct fake_engine *fake, const char *start)
{
	unsigned count = 0;

	for (const char *line = fake->calls; line && *line;) {
		count += strncmp(line, start, strlen(start)) == 0;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return count;
}
