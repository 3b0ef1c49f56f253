/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of kubectl get and helm list, with and without their header; rows inside describe. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/reader.h"

#define WORDS   16
#define ROW_MAX 1024 /* bytes of a row that are looked at */

struct row {
	char text[ROW_MAX];
	char *words[WORDS];
	size_t count;
	const char *line;
};

/* How to add a table: words of its header, all of which it has. The first that fits. */
static const struct {
	const char *words[3];
	int kind;
} headers[] = {
	{ { "READY", "STATUS", "RESTARTS" }, LISTING_PODS },
	{ { "STATUS", "ROLES" }, LISTING_NODES },
	{ { "DESIRED", "CURRENT", "READY" }, LISTING_DAEMONSETS },
	{ { "NAME", "HANDLER" }, LISTING_RUNTIMECLASSES },
	{ { "NODE", "DRIVER", "POOL" }, LISTING_SLICES },
	{ { "NAME", "STATE", "AGE" }, LISTING_CLAIMS },
	{ { "TYPE", "REASON", "MESSAGE" }, LISTING_EVENTS },
	{ { "Type", "Reason", "Message" }, LISTING_EVENTS },
	{ { "CHART", "REVISION" }, LISTING_HELM },
	{ { "NAME", "CAPACITY", "ALLOCATABLE" }, LISTING_CUSTOM_GPU },
	{ { "NAME", "GPU" }, LISTING_CUSTOM_GPU },
	{ { "NAME", "AGE" }, LISTING_CLASSES },
};

static bool has_word(const char *line, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = line; (at = strstr(at, word)); at++)
		if ((at == line || isspace((unsigned char)at[-1])) &&
		    (!at[length] || isspace((unsigned char)at[length]) ||
		     strchr("S()", at[length])))
			return true;
	return false;
}

static int column_of(const char *line, const char *word)
{
	const char *at = line;

	while ((at = strstr(at, word))) {
		if ((at == line || at[-1] == ' ') && !isalpha((unsigned char)at[strlen(word)]) &&
		    strncmp(at, "NODE SELECTOR", 13) != 0)
			return (int)(at - line);
		at++;
	}
	return -1;
}

static bool read_header(struct readers *readers, const char *line)
{
	const char *first = line + strspn(line, " \t");

	if (!isupper((unsigned char)*first) || strchr(line, ':'))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		bool all = true;

		for (size_t k = 0; k < 3 && headers[i].words[k]; k++)
			all &= has_word(line, headers[i].words[k]);
		if (!all)
			continue;
		end_table(readers);
		readers->listing.kind = headers[i].kind;
		readers->listing.all = has_word(line, "NAMESPACE");
		readers->listing.column =
			column_of(line, headers[i].kind == LISTING_CUSTOM_GPU ? "GPU" : "NODE");
		readers->listing.driver_column = strstr(line, "DRIVER-VERSION") != NULL;
		readers->listing.selector = -1;
		if (strstr(line, "NODE SELECTOR"))
			readers->listing.selector = (int)(strstr(line, "NODE SELECTOR") - line);
		return true;
	}
	return false;
}

/* "1/2" */
static bool is_ratio(const char *word)
{
	size_t digits = strspn(word, "0123456789");

	return digits && word[digits] == '/' && is_number(word + digits + 1);
}

static bool is_status(const char *word)
{
	if (!isupper((unsigned char)*word))
		return false;
	return !word[strspn(word,
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz:/.0123456789-")];
}

/* How to add a component: the fact that its Pods' STATUS is. */
static const struct {
	enum component component;
	enum fact_key key;
} pods[] = {
	{ COMPONENT_PLUGIN, FACT_PLUGIN_POD },       { COMPONENT_MPS, FACT_MPS_POD },
	{ COMPONENT_DRIVER, FACT_DRIVER_POD },       { COMPONENT_TOOLKIT, FACT_TOOLKIT_POD },
	{ COMPONENT_VALIDATOR, FACT_VALIDATOR_POD }, { COMPONENT_NFD, FACT_NFD_POD },
	{ COMPONENT_OPERATOR, FACT_OPERATOR_POD },   { COMPONENT_DRA, FACT_DRA_POD },
	{ COMPONENT_HAMI, FACT_HAMI_POD },
};

/* Two Pods of different plugins on one node: names differ before their random ends. */
static void plugin_on_node(struct readers *readers, const struct row *row, const char *name)
{
	struct listing *listing = &readers->listing;
	char node[NAME_MAX_], owner[NAME_MAX_];
	char *dash;

	if (listing->column < 0 || strlen(row->line) <= (size_t)listing->column)
		return;
	COPY(node, row->line + listing->column);
	node[strcspn(node, " \t")] = '\0';
	COPY(owner, name);
	dash = strrchr(owner, '-');
	if (dash)
		*dash = '\0';
	if (!*node || *node == '<')
		return;
	for (size_t i = 0; i < listing->plugin_count; i++)
		if (strcmp(listing->plugins[i].node, node) == 0 &&
		    strcmp(listing->plugins[i].owner, owner) != 0)
			tellf(readers, FACT_PLUGIN_TWO, "%s, %s", listing->plugins[i].owner, owner);
	if (listing->plugin_count == ARRAY_SIZE(listing->plugins))
		return;
	COPY(listing->plugins[listing->plugin_count].node, node);
	COPY(listing->plugins[listing->plugin_count].owner, owner);
	listing->plugin_count++;
}

static void plugin_pod(struct readers *readers, const struct row *row, size_t ratio)
{
	const char *slash = strchr(row->words[ratio], '/');
	const char *status = row->words[ratio + 1];

	readers->listing.plugin = true;
	read_plugin_kind(readers, row->words[ratio - 1]);
	if (count_of(slash + 1) != strtol(row->words[ratio], NULL, 10) || !same(status, "Running"))
		tell(readers, FACT_PLUGIN_NOT_READY, status);
	if (ratio + 2 < row->count && count_of(row->words[ratio + 2]) > 0)
		tell(readers, FACT_PLUGIN_RESTARTS, row->words[ratio + 2]);
	plugin_on_node(readers, row, row->words[ratio - 1]);
}

/* [namespace] name 1/1 Running 4 (65s ago) 2m ... */
static bool pod_row(struct readers *readers, struct row *row)
{
	enum component component;
	size_t ratio;

	for (ratio = 1; ratio < row->count && ratio <= 2; ratio++)
		if (is_ratio(row->words[ratio]))
			break;
	if (ratio > 2 || ratio + 1 >= row->count || !is_status(row->words[ratio + 1]))
		return false;
	readers->listing.rows++;
	tell(readers, FACT_SEEN_POD_TABLE, NULL);
	component = component_of(row->words[ratio - 1]);
	if (component == COMPONENT_PLUGIN)
		plugin_pod(readers, row, ratio);
	if (component == COMPONENT_MPS)
		readers->mps_daemon = true;
	for (size_t i = 0; i < ARRAY_SIZE(pods); i++)
		if (pods[i].component == component)
			tell(readers, pods[i].key, row->words[ratio + 1]);
	if (component == COMPONENT_NONE)
		tell(readers, FACT_POD_STATUS, row->words[ratio + 1]);
	if (has(row->words[ratio + 1], "OOMKilled"))
		tell(readers, FACT_POD_OOM_KILLED, NULL);
	if (has(row->words[ratio + 1], "SchedulingGated"))
		tell(readers, FACT_POD_GATED, NULL);
	return true;
}

/* -L nvidia.com/cuda.driver-version.full */
static void driver_column(struct readers *readers, const char *version)
{
	struct listing *listing = &readers->listing;

	if (!isdigit((unsigned char)*version))
		return;
	if (listing->driver[0] && strcmp(listing->driver, version) != 0)
		tellf(readers, FACT_DRIVER_NODES_DIFFER, "%s %s", listing->driver, version);
	COPY(listing->driver, version);
}

/* name Ready,SchedulingDisabled worker 5d v1.30.1 */
static bool node_row(struct readers *readers, struct row *row)
{
	const char *status = row->count >= 4 ? row->words[1] : "";

	if (!starts(status, "Ready") && !starts(status, "NotReady"))
		return false;
	for (size_t i = 2; i < row->count; i++) {
		if (row->words[i][0] == 'v' && isdigit((unsigned char)row->words[i][1]))
			read_kubelet_version(readers, row->words[i]);
		if (strstr(row->words[i], "://")) {
			tellf(readers, FACT_ENGINE, "%.*s", (int)strcspn(row->words[i], ":"),
			      row->words[i]);
			if (starts(row->words[i], "containerd://"))
				tell(readers, FACT_CONTAINERD_VERSION, row->words[i] + 13);
			read_distribution(readers, row->words[i]);
		}
		if (strchr(row->words[i], '=') && strchr(row->words[i], '/'))
			read_label_list(readers, row->words[i]);
	}
	if (readers->listing.driver_column)
		driver_column(readers, row->words[row->count - 1]);
	tell(readers, FACT_SEEN_NODE_TABLE, NULL);
	if (starts(status, "NotReady"))
		tell(readers, FACT_NODE_NOT_READY, row->words[0]);
	if (has(status, "SchedulingDisabled"))
		tell(readers, FACT_NODE_UNSCHEDULABLE, row->words[0]);
	return true;
}

/* The place of the first of five numbers in a row, 0 for none. */
static size_t numbers_at(const struct row *row)
{
	for (size_t i = 1; i <= 2 && i + 4 < row->count; i++) {
		bool numbers = true;

		for (size_t k = 0; k < 5; k++)
			numbers &= count_of(row->words[i + k]) >= 0;
		if (numbers)
			return i;
	}
	return 0;
}

static void plugin_set(struct readers *readers, const struct row *row, size_t at)
{
	struct listing *listing = &readers->listing;
	long desired = count_of(row->words[at]);
	char selector[NAME_MAX_] = "", name[2 * NAME_MAX_];

	listing->plugin = true;
	read_plugin_kind(readers, row->words[at - 1]);
	if (desired == 0) {
		tell(readers, FACT_PLUGIN_NO_PODS, row->words[at - 1]);
		return;
	}
	if (count_of(row->words[at + 2]) < desired)
		tell(readers, FACT_PLUGIN_NOT_READY, row->words[at - 1]);
	if (listing->selector >= 0 && strlen(row->line) > (size_t)listing->selector)
		COPY(selector, row->line + listing->selector);
	selector[strcspn(selector, " \t")] = '\0';
	snprintf(name, sizeof(name), "%s %s", at > 1 ? row->words[0] : "", row->words[at - 1]);
	/* The same nodes: the same selector, or one of them has none. */
	if (listing->sets && strcmp(listing->set_name, name) != 0 &&
	    (strcmp(listing->set_selector, selector) == 0 || strcmp(selector, "<none>") == 0 ||
	     strcmp(listing->set_selector, "<none>") == 0))
		tellf(readers, FACT_PLUGIN_TWO, "%s, %s", listing->set_name, name);
	listing->sets++;
	COPY(listing->set_selector, selector);
	COPY(listing->set_name, name);
}

/* [namespace] name DESIRED CURRENT READY UP-TO-DATE AVAILABLE selector */
static bool set_row(struct readers *readers, struct row *row)
{
	size_t at = numbers_at(row);
	enum component component;

	if (!at)
		return false;
	component = component_of(row->words[at - 1]);
	if (readers->listing.kind != LISTING_DAEMONSETS && component == COMPONENT_NONE)
		return false;
	tell(readers, FACT_SEEN_DAEMONSET, NULL);
	readers->listing.rows++;
	if (component == COMPONENT_MPS)
		readers->mps_daemon = true;
	if (component == COMPONENT_PLUGIN)
		plugin_set(readers, row, at);
	return true;
}

static bool runtimeclass_row(struct readers *readers, struct row *row)
{
	if (row->count < 2)
		return false;
	readers->listing.rows++;
	tell(readers, FACT_SEEN_RUNTIMECLASS, NULL);
	tell(readers, FACT_RUNTIMECLASS, row->words[0]);
	tell(readers, FACT_RUNTIMECLASS_HANDLER, row->words[1]);
	readers->listing.nvidia_class |= has(row->words[0], "nvidia");
	return true;
}

static bool slice_row(struct readers *readers, struct row *row)
{
	if (row->count < 3)
		return false;
	readers->listing.rows++;
	tell(readers, FACT_SEEN_RESOURCESLICE, NULL);
	tell(readers, FACT_DRA_SLICE_DRIVER, row->words[2]);
	readers->listing.gpu_slice |= starts(row->words[2], "gpu.");
	return true;
}

static bool claim_row(struct readers *readers, struct row *row)
{
	if (row->count < 3 || !heading_has(readers, "claim"))
		return false;
	tell(readers, FACT_SEEN_RESOURCECLAIM, NULL);
	tell(readers, FACT_DRA_CLAIM_STATE, row->words[row->count - 2]);
	return true;
}

static bool class_row(struct readers *readers, struct row *row)
{
	if (row->count != 2 || !strchr(row->words[0], '.'))
		return false;
	tell(readers, FACT_SEEN_DEVICECLASS, NULL);
	tell(readers, FACT_DRA_CLASS, row->words[0]);
	return true;
}

/* Reasons by which a Pod ends; the others are told by messages. */
static const char *const final_reasons[] = { "UnexpectedAdmissionError", "OutOf",
					     "TopologyAffinityError", "Evicted" };

/* Warning Reason age from message; or age Warning Reason object message. */
static bool event_row(struct readers *readers, struct row *row)
{
	size_t at = row->count && (same(row->words[0], "Warning") || same(row->words[0], "Normal"))
			    ? 1
			    : 2;

	if (row->count < at + 1 ||
	    !(strcmp(row->words[at - 1], "Warning") == 0 ||
	      strcmp(row->words[at - 1], "Normal") == 0) ||
	    !isupper((unsigned char)row->words[at][0]))
		return false;
	tell(readers, FACT_SEEN_EVENTS, NULL);
	if (strcmp(row->words[at], "Scheduled") == 0)
		readers->scheduled = true;
	for (size_t i = 0; i < ARRAY_SIZE(final_reasons); i++)
		if (starts(row->words[at], final_reasons[i]))
			tell(readers, FACT_POD_STATUS, row->words[at]);
	return true;
}

/* Charts that matter here: name-version in one word, or name and version in two. */
static const char *const charts[] = {
	"gpu-operator", "nvidia-device-plugin",  "nvidia-dra-driver-gpu",
	"hami",         "gpu-feature-discovery", "node-feature-discovery",
	"volcano"
};

static void chart_words(struct readers *readers, const struct row *row)
{
	char version[24];

	for (size_t i = 0; i < row->count; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(charts); k++) {
			size_t length = strlen(charts[k]);
			const char *rest = row->words[i] + length;

			if (!starts(row->words[i], charts[k]))
				continue;
			if (*rest == '-')
				rest++;
			else if (*rest || i + 1 == row->count)
				continue;
			else
				rest = row->words[i + 1];
			rest += *rest == 'v';
			if (isdigit((unsigned char)*rest) &&
			    copy_version(rest, version, sizeof(version)))
				tellf(readers, FACT_HELM_CHART, "%s %s", charts[k], version);
		}
	}
}

/* Capacity and allocatable of one node. */
static void gpu_columns(struct readers *readers, const struct row *row)
{
	long capacity = count_of(row->words[1]), allocatable = count_of(row->words[2]);

	if (capacity <= 0 || allocatable < 0)
		return;
	if (allocatable < capacity) {
		readers->listing.short_nodes++;
		tellf(readers, FACT_NODE_GPU_UNHEALTHY, "%ld of %ld", allocatable, capacity);
	} else {
		readers->listing.whole_nodes++;
	}
}

static bool gpu_column_row(struct readers *readers, struct row *row)
{
	const char *value = row->count >= 2 ? row->words[row->count - 1] : "";

	if (row->count == 3)
		gpu_columns(readers, row);

	if (strcmp(value, "<none>") == 0)
		tell(readers, FACT_NODE_GPU_NONE, row->words[0]);
	else if (count_of(value) == 0)
		tell(readers, FACT_NODE_GPU_ZERO, "gpu");
	else if (count_of(value) > 0)
		tell(readers, FACT_NODE_GPU_SOME, "gpu");
	else
		return false;
	return true;
}

/* "cpu  3950m (98%)  0 (0%)" of describe node. */
static bool share_row(struct readers *readers, const struct row *row)
{
	bool cpu = row->count >= 3 && same(row->words[0], "cpu");
	bool memory = row->count >= 3 && same(row->words[0], "memory");

	if ((!cpu && !memory) || row->words[2][0] != '(' || !strchr(row->words[2], '%'))
		return false;
	if (strtol(row->words[2] + 1, NULL, 10) >= 95)
		tell(readers, cpu ? FACT_NODE_CPU_FULL : FACT_NODE_MEMORY_FULL, row->words[2]);
	return true;
}

/* Rows inside describe node: conditions, allocated resources. */
static bool describe_row(struct readers *readers, struct row *row)
{
	if (row->count >= 2 && is_gpu_resource(row->words[0]) &&
	    read_allocated(readers, row->words, row->count))
		return true;
	if (share_row(readers, row))
		return true;
	/* A Pod's condition of that name has no times beside it. */
	if (row->count < 4 || !same(row->words[0], "Ready") ||
	    !(same(row->words[1], "False") || same(row->words[1], "Unknown")))
		return false;
	tell(readers, FACT_NODE_NOT_READY, readers->object.name);
	return true;
}

typedef bool read_row(struct readers *readers, struct row *row);

static read_row *const rows[] = {
	[LISTING_NODES] = node_row,
	[LISTING_DAEMONSETS] = set_row,
	[LISTING_CLASSES] = class_row,
	[LISTING_SLICES] = slice_row,
	[LISTING_RUNTIMECLASSES] = runtimeclass_row,
	[LISTING_CLAIMS] = claim_row,
	[LISTING_CUSTOM_GPU] = gpu_column_row,
};

/* Which resource a heading asks for. */
static bool read_nothing_found(struct readers *readers, const char *line)
{
	if (!starts(line, "No resources found"))
		return false;
	if (heading_has(readers, "runtimeclass"))
		tell(readers, FACT_RUNTIMECLASS_NO_NVIDIA, NULL);
	if (heading_has(readers, "resourceslice"))
		tell(readers, FACT_DRA_NO_SLICES, NULL);
	if (heading_has(readers, "deviceclass"))
		tell(readers, FACT_SEEN_DEVICECLASS, NULL);
	return true;
}

bool read_table_line(struct readers *readers, char *line)
{
	struct row row = { .line = line };

	if (read_header(readers, line) || read_nothing_found(readers, line))
		return true;
	copy_text(row.text, sizeof(row.text), line);
	row.count = split(row.text, row.words, WORDS);
	if (readers->listing.kind == LISTING_HELM || (readers->hints & HINT_HELM))
		chart_words(readers, &row);
	if (pod_row(readers, &row) || event_row(readers, &row) || describe_row(readers, &row))
		return true;
	if (readers->listing.kind < (int)ARRAY_SIZE(rows) && rows[readers->listing.kind])
		return rows[readers->listing.kind](readers, &row);
	return set_row(readers, &row) || node_row(readers, &row);
}

/* Tables of few rows. kubectl prints no head of an empty one: a head alone has lost its rows. */
static void end_short_table(struct readers *readers, const struct listing *listing)
{
	if (listing->kind == LISTING_RUNTIMECLASSES && !listing->nvidia_class)
		tell(readers, FACT_RUNTIMECLASS_NO_NVIDIA, NULL);
	if (listing->kind == LISTING_SLICES && !listing->gpu_slice)
		tell(readers, FACT_DRA_NO_SLICES, NULL);
}

void end_table(struct readers *readers)
{
	const struct listing *listing = &readers->listing;

	readers->plugin_listed |= listing->plugin && listing->kind == LISTING_DAEMONSETS;
	if (listing->all && !listing->plugin &&
	    ((listing->kind == LISTING_PODS && listing->rows >= 5) ||
	     (listing->kind == LISTING_DAEMONSETS && listing->rows >= 2)))
		tell(readers, FACT_PLUGIN_ABSENT, NULL);
	if (listing->whole_nodes && !listing->short_nodes)
		tell(readers, FACT_PLUGIN_OK, NULL);
	if (listing->rows)
		end_short_table(readers, listing);
	memset(&readers->listing, 0, sizeof(readers->listing));
	readers->listing.column = readers->listing.selector = -1;
}
