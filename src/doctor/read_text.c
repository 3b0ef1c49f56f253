/* SPDX-License-Identifier: Apache-2.0 */
/* Small things on text that all readers need. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "doctor/reader.h"

void copy_text(char *ret, size_t size, const char *text)
{
	size_t length = strnlen(text, size - 1);

	memmove(ret, text, length);
	ret[length] = '\0';
}

/* strcasestr() prepares for texts that are longer than a line, which takes longer than the line. */
bool has(const char *text, const char *word)
{
	const char first[] = { (char)tolower((unsigned char)*word),
			       (char)toupper((unsigned char)*word), '\0' };
	size_t length = strlen(word);

	while ((text = strpbrk(text, first))) {
		if (strncasecmp(text, word, length) == 0)
			return true;
		text++;
	}
	return length == 0;
}

/* Tables of words are compared with each line: most differ in the first letter. */
static bool may_begin(const char *text, const char *start)
{
	return ((*text ^ *start) & ~('a' ^ 'A')) == 0;
}

bool starts(const char *text, const char *start)
{
	return !*start || (may_begin(text, start) && strncasecmp(text, start, strlen(start)) == 0);
}

bool ends(const char *text, const char *end)
{
	size_t length = strlen(text), size = strlen(end);

	return length >= size && strcasecmp(text + length - size, end) == 0;
}

bool same(const char *text, const char *other)
{
	return may_begin(text, other) && strcasecmp(text, other) == 0;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

size_t split(char *line, char **ret, size_t most)
{
	size_t count = 0;

	while (count < most) {
		while (is_blank(*line))
			line++;
		if (!*line)
			break;
		ret[count++] = line;
		while (*line && !is_blank(*line))
			line++;
		if (*line)
			*line++ = '\0';
	}
	return count;
}

/* Two sources that belong to one collection: the same file, or files of one folder or archive. */
bool read_together(const char *left, const char *right)
{
	size_t length = strcspn(left, "/!");

	if (strcmp(left, right) == 0)
		return true;
	return left[length] && length == strcspn(right, "/!") && right[length] &&
	       strncmp(left, right, length) == 0;
}

bool read_names_nvidia(const char *line)
{
	for (; *line; line++)
		if ((*line == 'n' || *line == 'N') && ((line[1] | 32) == 'v'))
			return true;
	return false;
}

bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

long count_of(const char *text)
{
	long count = 0;

	if (!is_number(text) || strlen(text) > 9)
		return -1;
	for (; *text; text++)
		count = count * 10 + (*text - '0');
	return count;
}

bool copy_version(const char *text, char *ret, size_t size)
{
	for (; *text; text++) {
		size_t length = strspn(text, "0123456789.");

		if (!isdigit((unsigned char)*text))
			continue;
		while (length && text[length - 1] == '.')
			length--;
		if (memchr(text, '.', length)) {
			if (length >= size)
				length = size - 1;
			memcpy(ret, text, length);
			ret[length] = '\0';
			return true;
		}
		text += length ? length - 1 : 0;
	}
	return false;
}

int compare_versions(const char *left, const char *right)
{
	while (*left || *right) {
		char *left_end, *right_end;
		unsigned long a = strtoul(left, &left_end, 10);
		unsigned long b = strtoul(right, &right_end, 10);

		if (a != b)
			return a < b ? -1 : 1;
		/* What is no number ends a version. */
		left = *left_end == '.' && left_end[1] != '.' ? left_end + 1 : "";
		right = *right_end == '.' && right_end[1] != '.' ? right_end + 1 : "";
	}
	return 0;
}

/* How to add a dialect: what stands behind the slash begins with one of these. */
static const char *const gpu_words[] = { "gpu",        "mig-",      "vgpu",    "vcuda",
					 "gpumem",     "gpucores",  "gpu-mem", "shared-gpu",
					 "gpu.shared", "nvidia-gpu" };

bool is_gpu_resource(const char *name)
{
	const char *slash = strchr(name, '/');

	if (starts(name, "requests.") || starts(name, "limits."))
		return is_gpu_resource(strchr(name, '.') + 1);
	if (!slash || strchr(name, ' ') || strpbrk(name, "=:@\"") || slash == name)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(gpu_words); i++)
		if (starts(slash + 1, gpu_words[i]))
			return !strchr(slash + 1, '/');
	return false;
}

/* The first that fits. How to add a component: a word of its Pods' names. */
static const struct {
	const char *word;
	enum component component;
} components[] = {
	{ "mps-control-daemon", COMPONENT_MPS },
	{ "mps-control", COMPONENT_MPS },
	{ "dra-driver", COMPONENT_DRA },
	{ "dra-controller", COMPONENT_DRA },
	{ "compute-domain-", COMPONENT_DRA },
	{ "gpu-feature-discovery", COMPONENT_DISCOVERY },
	{ "node-feature-discovery", COMPONENT_NFD },
	{ "nfd-worker", COMPONENT_NFD },
	{ "nfd-master", COMPONENT_NFD },
	{ "vgpu-device-plugin", COMPONENT_PLUGIN },
	{ "device-plugin", COMPONENT_PLUGIN },
	{ "gpushare-device", COMPONENT_PLUGIN },
	{ "nvdp-", COMPONENT_PLUGIN },
	{ "hami-", COMPONENT_HAMI },
	{ "nvidia-driver-daemonset", COMPONENT_DRIVER },
	{ "driver-daemonset", COMPONENT_DRIVER },
	{ "nvidia-driver-installer", COMPONENT_DRIVER },
	{ "nvidia-gpu-driver", COMPONENT_DRIVER },
	{ "container-toolkit", COMPONENT_TOOLKIT },
	{ "operator-validator", COMPONENT_VALIDATOR },
	{ "cuda-validator", COMPONENT_VALIDATOR },
	{ "gpu-operator", COMPONENT_OPERATOR },
	{ "dcgm", COMPONENT_OTHER },
	{ "mig-manager", COMPONENT_OTHER },
	{ "nvidia-", COMPONENT_OTHER },
};

enum component component_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(components); i++)
		if (has(name, components[i].word))
			return components[i].component;
	return COMPONENT_NONE;
}
