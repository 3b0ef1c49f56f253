/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/read.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/reader.h"

static const struct key_row *const tables[] = {
	keys_object, keys_pod, keys_node, keys_plugin, keys_runtime,
	keys_docker, keys_cdi, keys_smi,  keys_dra,    keys_host,
};

/* All rows by their key: open addressing, made once; a row of the same key is the next found. */
#define SLOTS 2048

struct reader_map {
	const struct key_row *slots[SLOTS];
};

static unsigned hash_key(const char *key)
{
	unsigned hash = 2166136261u;

	for (; *key; key++)
		hash = (hash ^ (unsigned char)tolower((unsigned char)*key)) * 16777619u;
	return hash;
}

static void map_add(struct reader_map *map, const struct key_row *row)
{
	unsigned at = hash_key(row->key) % SLOTS;

	while (map->slots[at])
		at = (at + 1) % SLOTS;
	map->slots[at] = row;
}

struct readers *readers_new(struct facts *facts)
{
	struct readers *readers = calloc(1, sizeof(*readers));

	if (!readers)
		return NULL;
	readers->facts = facts;
	readers->source = "";
	readers->keys = calloc(1, sizeof(*readers->keys));
	if (!readers->keys) {
		readers_free(readers);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		for (const struct key_row *row = tables[i]; row->key; row++)
			map_add(readers->keys, row);
	read_phrases_init(readers);
	readers->listing.column = readers->listing.selector = -1;
	readers->place = (struct fact_place){ readers->source, 0, readers->text, 0 };
	return readers;
}

void readers_free(struct readers *readers)
{
	if (!readers)
		return;
	for (size_t i = 0; i < readers->source_count; i++)
		free(readers->sources[i]);
	free(readers->sources);
	free(readers->keys);
	free(readers->nodes);
	free(readers->label_hashes);
	free(readers);
}

void tell(struct readers *readers, enum fact_key key, const char *value)
{
	if (facts_tell(readers->facts, key, value, &readers->place) < 0)
		readers->failed = -ENOMEM;
}

void keep(const struct readers *readers, struct kept *ret)
{
	ret->source = readers->source;
	ret->line = readers->place.line;
	COPY(ret->text, readers->text);
}

void tell_at(struct readers *readers, enum fact_key key, const char *value, const struct kept *at)
{
	struct fact_place place = { at->source, at->line, at->text, strlen(at->text) };

	if (facts_tell(readers->facts, key, value, at->line ? &place : &readers->place) < 0)
		readers->failed = -ENOMEM;
}

void tellf(struct readers *readers, enum fact_key key, const char *format, ...)
{
	char value[FACT_VALUE_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(value, sizeof(value), format, arguments);
	va_end(arguments);
	tell(readers, key, value);
}

void tell_bool(struct readers *readers, enum fact_key key, const char *value)
{
	if (same(value, "true") || same(value, "yes") || strcmp(value, "1") == 0)
		tell(readers, key, "true");
	else if (same(value, "false") || same(value, "no") || strcmp(value, "0") == 0)
		tell(readers, key, "false");
}

bool heading_has(const struct readers *readers, const char *word)
{
	return has(readers->heading, word) || has(readers->source, word);
}

static void end_block(struct readers *readers)
{
	end_object(readers);
	end_runtime(readers);
	end_docker(readers);
	end_cdi(readers);
	end_smi(readers);
	end_table(readers);
	end_host(readers);
	outline_reset(&readers->outline);
}

static const char *const container_words[] = {
	"container:", "in container", "inside",     "in the container", "in pod",
	"in the pod", "kubectl exec", "docker run", "docker exec",      "crictl exec",
	"podman run", "nerdctl run",  "ctr run",    "container log",    "(container)",
	"pod:",       "from pod",     "within the", "kubectl run",      "ctr -n",
};
static const char *const host_words[] = { "host:",      "on host",     "the host", "on node",
					  "node:",      "on the node", "host$",    "(host)",
					  "bare metal", "worker:" };

static enum where where_of(const char *heading)
{
	for (size_t i = 0; i < ARRAY_SIZE(container_words); i++)
		if (has(heading, container_words[i]))
			return WHERE_CONTAINER;
	for (size_t i = 0; i < ARRAY_SIZE(host_words); i++)
		if (has(heading, host_words[i]))
			return WHERE_HOST;
	return WHERE_UNKNOWN;
}

/* Programs that a pasted shell line begins with, after "# ". */
static const char *const commands[] = {
	"kubectl",
	"nvidia-smi",
	"docker",
	"cat ",
	"ls ",
	"lsmod",
	"dmesg",
	"journalctl",
	"systemctl",
	"nvidia-ctk",
	"nvidia-container-cli",
	"helm",
	"crictl",
	"sudo",
	"containerd",
	"uname",
	"lspci",
	"grep",
	"stat ",
	"modinfo",
	"dpkg",
	"rpm ",
	"apt",
	"yum ",
	"dnf ",
	"oc ",
	"microk8s",
	"k3s",
	"podman",
	"nerdctl",
	"ctr ",
	"env",
	"printenv",
	"ldconfig",
	"mokutil",
	"getenforce",
	"hostnamectl",
	"python",
	"reboot",
	"modprobe",
	"nvidia-debugdump",
};

static bool begins_command(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strncmp(text, commands[i], strlen(commands[i])) == 0)
			return true;
	return false;
}

/* "user@host:~$ command", "[root@host ~]# command": what follows the prompt, or NULL. */
static const char *after_prompt(const char *line, size_t length)
{
	const char *at = memchr(line, '@', length < 48 ? length : 48);
	const char *end;

	if (!at || at == line || memchr(line, ' ', (size_t)(at - line)))
		return NULL;
	for (end = at; end < line + length && end - line < 120; end++)
		if ((*end == '$' || *end == '#') && end + 1 < line + length && end[1] == ' ')
			return end + 2;
	return NULL;
}

/* How to add a mark that stands before a heading. BARE: it may stand alone. */
static const struct {
	const char *mark;
	bool bare;
} marks[] = { { "--- ", false }, { "==> ", false }, { "=== ", false }, { "### ", false },
	      { "## ", false },  { "```", true },   { "~~~", true } };

/* What a heading says, or NULL; *ret_command: it is a command. */
static const char *heading_text(const char *line, size_t length, bool *ret_command)
{
	*ret_command = false;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		size_t size = strlen(marks[i].mark);

		if (strncmp(line, marks[i].mark, size) == 0 && (length > size || marks[i].bare))
			return line + size;
	}
	*ret_command = true;
	if (strncmp(line, "$ ", 2) == 0)
		return line + 2;
	if ((*line == '#' || *line == '+') && line[1] == ' ' && begins_command(line + 2))
		return line + 2;
	return after_prompt(line, length);
}

bool read_is_heading(const char *line, size_t length)
{
	char start[160];
	bool command;
	size_t size = length < sizeof(start) - 1 ? length : sizeof(start) - 1;

	memcpy(start, line, size);
	start[size] = '\0';
	return heading_text(start, strlen(start), &command) != NULL;
}

static const struct {
	const char *word;
	unsigned hint;
} hints[] = {
	{ "history", HINT_HISTORY },    { "commands", HINT_HISTORY },
	{ "lsmod", HINT_MODULES },      { "/proc/modules", HINT_MODULES },
	{ "ls /dev", HINT_DEV },        { "ls -l /dev", HINT_DEV },
	{ "ls -la /dev", HINT_DEV },    { "cgroup", HINT_CGROUP },
	{ "getenforce", HINT_ENFORCE }, { "helm", HINT_HELM },
	{ "chart", HINT_HELM },
};

static unsigned hints_of(const char *heading)
{
	unsigned found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
		if (has(heading, hints[i].word))
			found |= hints[i].hint;
	return found;
}

static void take_heading(struct readers *readers, const char *text, bool command)
{
	/* A fence goes on with what its heading said. */
	if (*text)
		COPY(readers->heading, text);
	readers->heading_line = readers->place.line;
	readers->heading_empty = true;
	if (*text)
		readers->where = where_of(text);
	if (*text)
		readers->hints = hints_of(text);
	if (command || begins_command(text))
		read_command(readers, text);
}

int readers_source(struct readers *readers, const char *name)
{
	char *copy = strdup(name);
	char **slot;

	if (!copy)
		return -ENOMEM;
	end_block(readers);
	slot = VEC_ADD(&readers->sources, &readers->source_count, &readers->source_capacity);
	if (!slot) {
		free(copy);
		return -ENOMEM;
	}
	*slot = copy;
	readers->source = copy;
	readers->checkpoint.count = 0;
	readers->checkpoint.gpu = false;
	readers->text[0] = '\0';
	readers->place = (struct fact_place){ copy, 0, readers->text, 0 };
	readers->heading[0] = '\0';
	readers->where = where_of(name);
	readers->hints = hints_of(name);
	return readers->failed;
}

/* Keys that are names of somebody: resources, labels, configurations. */
static void read_named_leaf(struct readers *readers, const char *key, char *value)
{
	const char *parent = outline_up(&readers->outline, 1);

	if (readers->separator == '[') {
		read_toml_header(readers);
		return;
	}
	if (same(parent, "featureGates"))
		tellf(readers, FACT_FEATURE_GATE, "%s=%s", key, value);
	read_config_name(readers, key);
	if (!strchr(key, '/') && !same(key, "cpu") && !same(key, "memory") && !same(key, "pods"))
		return;
	if (read_resource(readers, key, value) || read_cdi_name(readers, key, value))
		return;
	if (same(parent, "nodeSelector"))
		read_selector(readers, key, value);
	else if (same(parent, "Taints"))
		read_taint_pair(readers, key);
	else
		read_label(readers, key, value);
}

static void read_bare_leaf(struct readers *readers, char *value)
{
	const char *parent = outline_up(&readers->outline, 0);

	if (read_runtime_item(readers, parent, value) || read_docker_item(readers, parent, value) ||
	    read_cdi_item(readers, parent, value) || read_plugin_item(readers, parent, value))
		return;
	if (same(parent, "Taints"))
		read_taint(readers, value);
	else if (same(parent, "Tolerations"))
		read_toleration(readers, value);
	else if (strchr(value, ',') && strchr(value, '='))
		read_label_list(readers, value);
}

static void take_leaf(void *context, const char *key, char *value)
{
	struct readers *readers = context;
	unsigned at;

	readers->separator = readers->outline.separator;
	if (!*key) {
		read_bare_leaf(readers, value);
		return;
	}
	at = hash_key(key) % SLOTS;
	for (; readers->keys->slots[at]; at = (at + 1) % SLOTS)
		if (same(readers->keys->slots[at]->key, key))
			readers->keys->slots[at]->read(readers, key, value);
	read_named_leaf(readers, key, value);
}

static void take_place(struct readers *readers, uint64_t number)
{
	size_t length = strnlen(readers->line, FACT_TEXT_MAX);

	memcpy(readers->text, readers->line, length);
	readers->text[length] = '\0';
	readers->place = (struct fact_place){ readers->source, number, readers->text, length };
}

int readers_line(struct readers *readers, const char *line, size_t length, uint64_t number)
{
	const char *heading;
	bool command;

	if (length > READ_LINE_MAX)
		length = READ_LINE_MAX;
	memcpy(readers->line, line, length);
	readers->line[length] = '\0';
	if (!readers->line[strspn(readers->line, " \t\r")])
		return readers->failed;
	heading = heading_text(readers->line, length, &command);
	/* What ends is told with the last line of it. */
	if (heading || strcmp(readers->line, "---") == 0)
		end_block(readers);
	take_place(readers, number);
	if (heading)
		take_heading(readers, heading, command);
	else if (!read_smi_line(readers, readers->line) &&
		 !read_table_line(readers, readers->line) &&
		 !read_host_line(readers, readers->line))
		outline_line(&readers->outline, readers->line, take_leaf, readers);
	readers->heading_empty = heading != NULL;
	return readers->failed;
}

int readers_end(struct readers *readers)
{
	end_block(readers);
	combine(readers);
	return readers->failed;
}
