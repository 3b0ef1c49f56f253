/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/runtime_version.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* From which release on a line has the fixes. How to add a line: a row, ascending. A line without a
 * row and older than the last has none. */
static const struct floor_row {
	const char *name;
	unsigned major, minor, patch, candidate;
} floor_rows[] = {
	{ "runc", 1, 2, 8, 0 }, { "runc", 1, 3, 6, 0 },  { "runc", 1, 4, 3, 0 },
	{ "runc", 1, 5, 0, 3 }, { "crun", 1, 28, 0, 0 },
};

/* The first release of upstream that no longer leaks a directory of the host (CVE-2024-21626). */
static const struct floor_row unsafe_below = { "runc", 1, 1, 12, 0 };

/* Decimal digits at *at; 0 when there is none. */
static unsigned take_number(const char **at)
{
	unsigned number = 0;

	for (; isdigit((unsigned char)**at) && number < 100000; (*at)++)
		number = number * 10 + (unsigned)(**at - '0');
	return number;
}

static unsigned take_part(const char **at)
{
	if (**at != '.')
		return 0;
	(*at)++;
	return take_number(at);
}

/* "1.2.3" and "-rc.4"; *at stands behind it. */
static void take_version(const char **at, struct runtime_version *version)
{
	version->major = take_number(at);
	version->minor = take_part(at);
	version->patch = take_part(at);
	if (strncmp(*at, "-rc", 3) != 0)
		return;
	*at += 3;
	*at += **at == '.';
	version->candidate = take_number(at);
}

int runtime_version_parse(const char *output, struct runtime_version *ret, struct error *error)
{
	static const char *const names[] = { "runc", "crun" };
	static const char lead[] = " version ";

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct runtime_version version = { .major = 0 };
		size_t length = strlen(names[i]);
		const char *at = output + length + strlen(lead);

		if (strncmp(output, names[i], length) != 0 ||
		    strncmp(output + length, lead, strlen(lead)) != 0 ||
		    !isdigit((unsigned char)*at))
			continue;
		reason_text(version.name, sizeof(version.name), "%s", names[i]);
		reason_text(version.text, sizeof(version.text), "%.*s", (int)strcspn(at, " \n"),
			    at);
		take_version(&at, &version);
		/* "+ds1" of Debian, "-0ubuntu2" of Ubuntu; "+dev" is upstream's own. */
		version.distribution = (*at == '+' || *at == '-') && strncmp(at, "+dev", 4) != 0;
		*ret = version;
		return 0;
	}
	return error_set(error, EINVAL, "this is no version of runc or crun: \"%.*s\"",
			 (int)strcspn(output, "\n"), output);
}

/* Candidates come before their release. */
static bool is_below(const struct runtime_version *version, const struct floor_row *floor)
{
	if (version->major != floor->major)
		return version->major < floor->major;
	if (version->minor != floor->minor)
		return version->minor < floor->minor;
	if (version->patch != floor->patch)
		return version->patch < floor->patch;
	unsigned ours = version->candidate ? version->candidate : 1000;
	unsigned theirs = floor->candidate ? floor->candidate : 1000;

	return ours < theirs;
}

/* The floor of its line, else the oldest one above it; NULL when it is above all. */
static const struct floor_row *floor_of(const struct runtime_version *version)
{
	for (size_t i = 0; i < ARRAY_SIZE(floor_rows); i++) {
		const struct floor_row *row = &floor_rows[i];

		if (strcmp(row->name, version->name) != 0)
			continue;
		if (version->major < row->major ||
		    (version->major == row->major && version->minor <= row->minor))
			return row;
	}
	return NULL;
}

static int add(struct string_list *sentences, struct error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int add(struct string_list *sentences, struct error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int r = sentences ? string_list_addv(sentences, format, arguments) : 0;
	va_end(arguments);
	return r < 0 ? error_no_memory(error) : 0;
}

int runtime_version_judge(const struct runtime_version *version, enum version_verdict *ret,
			  struct string_list *sentences, struct error *error)
{
	const struct floor_row *floor = floor_of(version);
	char candidate[16] = "";
	int r = 0;

	if (floor && floor->candidate)
		reason_text(candidate, sizeof(candidate), "-rc.%u", floor->candidate);

	*ret = VERSION_FINE;
	if (strcmp(version->name, unsafe_below.name) == 0 && !version->distribution &&
	    is_below(version, &unsafe_below)) {
		*ret = VERSION_UNSAFE;
		return add(sentences, error,
			   "%s %s lets an image reach the host's files (CVE-2024-21626); install "
			   "%u.%u.%u or later",
			   version->name, version->text, unsafe_below.major, unsafe_below.minor,
			   unsafe_below.patch);
	}
	if (floor && is_below(version, floor)) {
		*ret = VERSION_OLD;
		r = add(sentences, error,
			"%s %s may create files or devices on the host for a hostile image or "
			"volume%s; gpupool-runtime refuses such roots and stays out of volumes, "
			"CDI "
			"alone does not: install %u.%u.%u%s or later",
			version->name, version->text,
			version->distribution ? ", unless your distribution has the fixes" : "",
			floor->major, floor->minor, floor->patch, candidate);
	}
	return r;
}

/* Calls that are younger than kernels in use. How to add one: a row. */
static const struct kernel_row {
	unsigned major, minor;
	const char *call, *instead;
} kernel_rows[] = {
	{ 5, 6, "openat2",
	  "names in a container's root are followed one part at a time instead, which is slower "
	  "and as strict" },
	{ 5, 11, "close_range with CLOSE_RANGE_CLOEXEC",
	  "descriptors are closed one by one instead" },
	{ 5, 12, "mount_setattr",
	  "runtimes cannot map owners of mounts, so that Pods with hostUsers: false may not start "
	  "with volumes" },
};

int kernel_release_judge(const char *release, struct string_list *sentences, struct error *error)
{
	struct runtime_version version = { .major = 0 };
	const char *at = release;

	take_version(&at, &version);
	for (size_t i = 0; i < ARRAY_SIZE(kernel_rows); i++) {
		const struct kernel_row *row = &kernel_rows[i];

		if (version.major > row->major ||
		    (version.major == row->major && version.minor >= row->minor))
			continue;
		int r = add(sentences, error, "Linux %s has no %s (since %u.%u): %s", release,
			    row->call, row->major, row->minor, row->instead);
		if (r < 0)
			return r;
	}
	return 0;
}
