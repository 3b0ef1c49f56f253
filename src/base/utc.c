/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utc.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void utc_format(int64_t seconds, char ret[static UTC_TEXT_MAX])
{
	time_t time = (time_t)seconds;
	struct tm parts;

	ret[0] = '\0';
	if (seconds >= 0 && seconds <= UTC_MAXIMUM && gmtime_r(&time, &parts))
		strftime(ret, UTC_TEXT_MAX, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static int number(const char *text, int digits)
{
	int value = 0;

	for (int i = 0; i < digits; i++)
		value = value * 10 + (text[i] - '0');
	return value;
}

int utc_parse(const char *text, int64_t *ret)
{
	static const char form[] = "0000-00-00T00:00:00Z";
	char again[UTC_TEXT_MAX];

	if (strlen(text) != strlen(form))
		return -EINVAL;
	for (size_t i = 0; form[i]; i++)
		if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
			return -EINVAL;
	struct tm parts = { .tm_year = number(text, 4) - 1900,
			    .tm_mon = number(text + 5, 2) - 1,
			    .tm_mday = number(text + 8, 2),
			    .tm_hour = number(text + 11, 2),
			    .tm_min = number(text + 14, 2),
			    .tm_sec = number(text + 17, 2) };
	int64_t seconds = (int64_t)timegm(&parts);
	/* A 30 February becomes another day on the way. */
	utc_format(seconds, again);
	if (strcmp(again, text) != 0)
		return -EINVAL;
	*ret = seconds;
	return 0;
}
