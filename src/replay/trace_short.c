/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes and Pods in few words: "20 nodes of 8 h100; 300 Pods of 12 GiB", or the same as YAML. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replay/trace.h"

#define NODES_MAX 100000u /* of a trace, as are the two below */
#define GPUS_MAX  1000000u
#define PODS_MAX  2000000u
#define CPUS_MAX  1000000u
#define MIB_MAX   ((uint64_t)INT64_MAX >> 20)
#define CARD_MIB  ((1ull << 50) >> 20) /* the most that a card of an inventory has */
#define TIME_MAX  (1ull << 60)
#define ABSENT    UINT64_MAX
#define WORD_MAX  CARD_MODEL_MAX
#define WORDS_MAX 12

/*
 * Totals as NVML gives them on real cards. How to add a model: one row.
 */
static const struct known_model {
	const char *word, *model;
	uint64_t mib;
} known_models[] = {
	{ "a100", "NVIDIA A100-SXM4-80GB", 81920 },
	{ "a100-80", "NVIDIA A100-SXM4-80GB", 81920 },
	{ "a100-40", "NVIDIA A100-SXM4-40GB", 40960 },
	{ "h100", "NVIDIA H100 80GB HBM3", 81559 },
	{ "t4", "Tesla T4", 15360 },
	{ "l4", "NVIDIA L4", 23034 },
};

static const struct known_model *find_model(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_models); i++)
		if (strcasecmp(known_models[i].word, word) == 0)
			return &known_models[i];
	return NULL;
}

const char *trace_known_model(const char *word)
{
	const struct known_model *known = find_model(word);

	return known ? known->model : NULL;
}

/* A row of nodes or of Pods. */
struct item {
	uint64_t count, gpus, gpu_mib, compute, cpu_milli, memory_mib, pods, created, end, gang;
	char name[WORD_MAX], model[WORD_MAX], mig[WORD_MAX], node[WORD_MAX];
	char mode[WORD_MAX]; /* of the cards */
	char label[WORD_MAX], domain[WORD_MAX];
	const char *source;
	unsigned long line;
	enum trace_part parts; /* that are wanted */
};

static struct item item_new(const char *source, unsigned long line, enum trace_part parts)
{
	return (struct item){ .count = 1,
			      .gpus = ABSENT,
			      .gpu_mib = ABSENT,
			      .cpu_milli = ABSENT,
			      .memory_mib = ABSENT,
			      .pods = ABSENT,
			      .end = ABSENT,
			      .source = source,
			      .line = line,
			      .parts = parts };
}

/* ---- into the trace ---- */

static __attribute__((format(printf, 3, 4))) int fail(const struct item *item, struct error *error,
						      const char *format, ...)
{
	char text[ERROR_MESSAGE_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return error_set(error, EINVAL, "%s:%lu: %s", item->source, item->line, text);
}

static int at_line(const struct item *item, int r, struct error *error)
{
	return r < 0 && r != -ENOMEM ? error_wrap(error, "%s:%lu", item->source, item->line) : r;
}

static int64_t or_unlimited(uint64_t value)
{
	return value == ABSENT ? RESOURCE_UNLIMITED : (int64_t)value;
}

/* "rack=r1" */
static int add_label(const struct item *item, struct node_spec *node, struct error *error)
{
	size_t length = strcspn(item->label, "=");
	char key[WORD_MAX];

	if (!item->label[0])
		return 0;
	if (!length || !item->label[length])
		return fail(item, error, "label '%.64s' is no pair; write one such as rack=r1",
			    item->label);
	snprintf(key, sizeof(key), "%.*s", (int)length, item->label);
	return node_spec_set_label(node, key, item->label + length + 1) < 0 ? error_no_memory(error)
									    : 0;
}

static int add_node(struct trace *trace, const struct item *item, const char *model, uint64_t mib,
		    struct error *error)
{
	cleanup(node_spec_release) struct node_spec node;
	char name[WORD_MAX + 16];

	node_spec_init(&node);
	if (item->name[0] && item->count == 1)
		snprintf(name, sizeof(name), "%s", item->name);
	else
		snprintf(name, sizeof(name), "%s-%05zu", item->name[0] ? item->name : "node",
			 trace->node_count + 1);
	node.name = strdup(name);
	if (!node.name || node_spec_set_label(&node, "kubernetes.io/hostname", name) < 0)
		return error_no_memory(error);
	int r = add_label(item, &node, error);
	if (r < 0)
		return r;
	node.allocatable =
		(struct resources){ or_unlimited(item->cpu_milli), or_unlimited(item->memory_mib),
				    or_unlimited(item->pods) };
	for (unsigned i = 0; item->gpus != ABSENT && i < item->gpus; i++) {
		if (trace_add_card(&node, model, mib, i) < 0)
			return error_no_memory(error);
		if (item->mode[0])
			node.inventory.cards[i].mode = card_mode_from_string(item->mode);
	}
	return at_line(item, trace_add_node(trace, &node, error), error);
}

static uint64_t wanted(const struct item *item, enum trace_part part)
{
	return item->parts & part ? item->count : 0;
}

static int check_nodes(const struct trace *trace, const struct item *item, uint64_t gpus,
		       uint64_t mib, struct error *error)
{
	size_t cards = 0;

	if (gpus && !item->model[0])
		return fail(item, error, "nodes with cards need their model; write model: h100");
	if (gpus && !mib)
		return fail(
			item, error,
			"the memory of the model '%s' is not known here; write it, as in '4 nodes "
			"of 8 %s 24 GiB', or gpu-memory in YAML",
			item->model, item->model);
	if (mib >= CARD_MIB)
		return fail(item, error, "no card has %" PRIu64 " MiB; write less", mib);
	if (item->mode[0] && (int)card_mode_from_string(item->mode) < 0)
		return fail(item, error,
			    "mode '%s' is unknown; write whole, slices, replicas, mps, mig or auto",
			    item->mode);
	for (size_t i = 0; i < trace->node_count; i++)
		cards += trace->nodes[i].inventory.card_count;
	if (trace->node_count + item->count > NODES_MAX || cards + item->count * gpus > GPUS_MAX)
		return fail(item, error,
			    "more than %u nodes or %u cards in all; write smaller counts",
			    NODES_MAX, GPUS_MAX);
	return 0;
}

static int add_nodes(struct trace *trace, const struct item *item, struct error *error)
{
	const struct known_model *known = find_model(item->model);
	uint64_t gpus = item->gpus == ABSENT ? 0 : item->gpus;
	uint64_t mib = item->gpu_mib != ABSENT ? item->gpu_mib : known ? known->mib : 0;
	uint64_t count = wanted(item, TRACE_NODES);
	int r = check_nodes(trace, item, gpus, mib, error);

	for (uint64_t i = 0; r == 0 && i < count; i++)
		r = add_node(trace, item, known ? known->model : item->model, mib, error);
	return r;
}

static int fill_request(const struct item *item, struct request *request)
{
	const struct known_model *known = find_model(item->model);

	request->cards = item->gpus == ABSENT ? 1 : (unsigned)item->gpus;
	request->dialect = "short";
	request->kind = REQUEST_WHOLE;
	if (item->mig[0]) {
		request->kind = REQUEST_MIG;
		snprintf(request->mig_profile, sizeof(request->mig_profile), "%.31s", item->mig);
	} else if (item->gpu_mib != ABSENT) {
		request->kind = REQUEST_SLICE;
		request->memory_mib = item->gpu_mib;
		request->units = (unsigned)((item->gpu_mib + MIB_PER_UNIT - 1) / MIB_PER_UNIT);
		request->compute_percent = (unsigned)item->compute;
	}
	if (!item->model[0])
		return 0;
	return string_list_add(&request->models, known ? known->model : item->model);
}

static int fill_demand(const struct item *item, struct demand *demand, struct error *error)
{
	bool cards = item->gpus != 0 &&
		     (item->gpus != ABSENT || item->gpu_mib != ABSENT || item->mig[0]);

	demand->needs.cpu_milli = item->cpu_milli == ABSENT ? 0 : (int64_t)item->cpu_milli;
	demand->needs.memory_mib = item->memory_mib == ABSENT ? 0 : (int64_t)item->memory_mib;
	demand->object = strdup("Pod");
	demand->gang_domain = item->domain[0] ? strdup(item->domain) : NULL;
	if (!demand->object || (item->domain[0] && !demand->gang_domain))
		return error_no_memory(error);
	if (!cards)
		return 0;
	demand->containers = calloc(1, sizeof(*demand->containers));
	struct request *request =
		VEC_ADD(&demand->requests, &demand->request_count, &demand->request_capacity);
	if (!demand->containers || !request || fill_request(item, request) < 0)
		return error_no_memory(error);
	demand->containers[0] = strdup("main");
	return demand->containers[0] ? 0 : error_no_memory(error);
}

static int check_gang(const struct item *item, struct error *error)
{
	if (item->gang && item->count % item->gang)
		return fail(item, error,
			    "count %" PRIu64 " are no whole gangs of %" PRIu64
			    "; write a multiple of it",
			    item->count, item->gang);
	if (item->domain[0] && !item->gang)
		return fail(item, error, "gang-domain is for gangs; write gang beside it");
	return 0;
}

static int check_pods(const struct trace *trace, const struct item *item, struct error *error)
{
	bool part = item->gpu_mib != ABSENT;

	if (trace->pod_count + item->count > PODS_MAX)
		return fail(item, error, "more than %u Pods in all; write smaller counts",
			    PODS_MAX);
	if (part && item->mig[0])
		return fail(item, error, "gpu-memory and mig exclude each other; write one");
	if (item->gpus == 0 && (part || item->mig[0]))
		return fail(item, error, "gpus 0 and a part of a card; write 1 or more for gpus");
	if (item->compute && !part)
		return fail(item, error, "gpu-compute is for slices; write gpu-memory beside it");
	if (part && item->gpu_mib >= CARD_MIB)
		return fail(item, error, "no card has %" PRIu64 " MiB; write less", item->gpu_mib);
	if (item->mig[0] && strlen(item->mig) >= CARD_MIG_MAX)
		return fail(item, error, "mig '%.64s' is no profile; write one such as 1g.10gb",
			    item->mig);
	if (item->end < item->created)
		return fail(item, error,
			    "end %" PRIu64 " is before created %" PRIu64 "; write a later one",
			    item->end, item->created);
	return check_gang(item, error);
}

static int add_running(struct trace *trace, const char *node, struct error *error)
{
	cleanup(trace_running_release) struct trace_running running = { .node_name = strdup(node) };

	return running.node_name ? trace_add_running(trace, &running, error)
				 : error_no_memory(error);
}

/* The gang of the Pod that was added last, number NUMBER of the item. */
static int add_member(struct trace *trace, const struct item *item, uint64_t number,
		      struct error *error)
{
	char name[WORD_MAX + 16];

	if (!item->gang)
		return 0;
	snprintf(name, sizeof(name), "%s-%06zu", item->name,
		 trace->pod_count - (size_t)(number % item->gang));
	return trace_join_gang(trace, name, (unsigned)item->gang, error);
}

static int add_pods(struct trace *trace, const struct item *item, struct error *error)
{
	cleanup(demand_release) struct demand demand;
	uint32_t shape = 0;

	demand_init(&demand);
	int r = check_pods(trace, item, error);
	if (r < 0 || !wanted(item, TRACE_PODS))
		return r;
	if (item->created || item->end != ABSENT)
		trace->timed = true;
	r = fill_demand(item, &demand, error);
	if (r == 0)
		r = trace_intern(trace, &demand, NULL, &shape, error);
	for (uint64_t i = 0; r == 0 && i < item->count; i++) {
		char name[WORD_MAX + 16];

		if (item->name[0] && item->count == 1)
			snprintf(name, sizeof(name), "%s", item->name);
		else
			snprintf(name, sizeof(name), "%s-%06zu", item->name[0] ? item->name : "pod",
				 trace->pod_count + 1);
		r = trace_add_pod(trace, name, shape, (int64_t)item->created,
				  item->end == ABSENT ? INT64_MAX : (int64_t)item->end, error);
		r = at_line(item, r, error);
		if (r == 0)
			r = add_member(trace, item, i, error);
		if (r == 0 && item->node[0])
			r = add_running(trace, item->node, error);
	}
	return r;
}

/* ---- YAML ---- */

enum key_kind { KEY_NUMBER, KEY_CPU, KEY_BYTES, KEY_TEXT };

struct key {
	const char *name;
	enum key_kind kind;
	size_t offset;
	uint64_t minimum, maximum;
};

#define AT(member) offsetof(struct item, member)

/* How to add a field: one row, and what add_nodes() or add_pods() makes of it. */
static const struct key node_keys[] = {
	{ "count", KEY_NUMBER, AT(count), 1, NODES_MAX },
	{ "name", KEY_TEXT, AT(name), 0, 0 },
	{ "gpus", KEY_NUMBER, AT(gpus), 0, CARDS_MAX },
	{ "model", KEY_TEXT, AT(model), 0, 0 },
	{ "gpu-memory", KEY_BYTES, AT(gpu_mib), 0, 0 },
	{ "mode", KEY_TEXT, AT(mode), 0, 0 },
	{ "cpu", KEY_CPU, AT(cpu_milli), 0, 0 },
	{ "memory", KEY_BYTES, AT(memory_mib), 0, 0 },
	{ "pods", KEY_NUMBER, AT(pods), 0, PODS_MAX },
	{ "label", KEY_TEXT, AT(label), 0, 0 },
};

static const struct key pod_keys[] = {
	{ "count", KEY_NUMBER, AT(count), 1, PODS_MAX },
	{ "name", KEY_TEXT, AT(name), 0, 0 },
	{ "gpus", KEY_NUMBER, AT(gpus), 0, CARDS_MAX },
	{ "gpu-memory", KEY_BYTES, AT(gpu_mib), 0, 0 },
	{ "gpu-compute", KEY_NUMBER, AT(compute), 1, 100 },
	{ "mig", KEY_TEXT, AT(mig), 0, 0 },
	{ "model", KEY_TEXT, AT(model), 0, 0 },
	{ "cpu", KEY_CPU, AT(cpu_milli), 0, 0 },
	{ "memory", KEY_BYTES, AT(memory_mib), 0, 0 },
	{ "created", KEY_NUMBER, AT(created), 0, TIME_MAX },
	{ "end", KEY_NUMBER, AT(end), 0, TIME_MAX },
	{ "node", KEY_TEXT, AT(node), 0, 0 },
	{ "gang", KEY_NUMBER, AT(gang), 1, PODS_MAX },
	{ "gang-domain", KEY_TEXT, AT(domain), 0, 0 },
};

static const struct list {
	const char *name;
	const struct key *keys;
	size_t key_count;
	int (*add)(struct trace *trace, const struct item *item, struct error *error);
} lists[] = {
	{ "nodes", node_keys, ARRAY_SIZE(node_keys), add_nodes },
	{ "pods", pod_keys, ARRAY_SIZE(pod_keys), add_pods },
};

static int read_quantity(const struct item *item, const struct key *key, const char *text,
			 uint64_t *ret, struct error *error)
{
	struct error inner = ERROR_INIT;
	struct quantity quantity;

	if (quantity_parse(text, &quantity, &inner) < 0)
		return fail(item, error, "%s %s", key->name, inner.message);
	if (quantity.negative)
		return fail(item, error, "%s '%s' is negative; write 0 or more", key->name, text);
	uint64_t value = (uint64_t)quantity.value;
	if (key->kind == KEY_CPU) {
		if (value >= INT64_MAX / 1000)
			return fail(item, error, "%s '%s' is too much; write less", key->name,
				    text);
		*ret = value * 1000 + quantity.milli + quantity.finer;
		return 0;
	}
	if (value && value < 1u << 20)
		return fail(item, error, "%s '%s' is less than 1 MiB; write a unit, such as %sGi",
			    key->name, text, text);
	if (!value && key->offset == AT(gpu_mib))
		return fail(item, error, "%s '%s' is nothing; write a size such as 12Gi", key->name,
			    text);
	/* Up: what is asked for must be there. */
	*ret = (value >> 20) + ((value & ((1u << 20) - 1)) != 0);
	return 0;
}

static int read_text(const struct item *item, const struct key *key, const char *text, char *ret,
		     struct error *error)
{
	size_t length = strlen(text);

	for (const char *at = text; *at; at++)
		if (iscntrl((unsigned char)*at))
			length = 0;
	if (!length || length > 63)
		return fail(item, error, "%s '%.64s' is no name of 1 to 63 bytes; write one",
			    key->name, text);
	memcpy(ret, text, length + 1);
	return 0;
}

static int read_key(struct item *item, const struct key *key, const char *text, struct error *error)
{
	void *place = (char *)item + key->offset;

	if (key->kind == KEY_TEXT)
		return read_text(item, key, text, place, error);
	if (key->kind != KEY_NUMBER)
		return read_quantity(item, key, text, place, error);
	if (parse_uint(text, key->minimum, key->maximum, place) < 0)
		return fail(item, error,
			    "%s '%.64s' is no whole number from %" PRIu64 " to %" PRIu64
			    "; write one",
			    key->name, text, key->minimum, key->maximum);
	return 0;
}

static const struct key *find_key(const struct list *list, const char *name)
{
	for (size_t i = 0; i < list->key_count; i++)
		if (strcmp(list->keys[i].name, name) == 0)
			return &list->keys[i];
	return NULL;
}

static int unknown_key(const struct item *item, const struct list *list, const char *name,
		       struct error *error)
{
	char known[256] = "";

	for (size_t i = 0; i < list->key_count; i++)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 i ? ", " : "", list->keys[i].name);
	return fail(item, error, "%s have no field '%.64s'; they have %s", list->name, name, known);
}

static int read_item(const struct list *list, struct json_object *object, struct item *item,
		     struct error *error)
{
	if (!json_object_is_type(object, json_type_object))
		return fail(item, error, "each of %s is a map, as in '- count: 20'; write one",
			    list->name);
	json_object_object_foreach(object, name, value)
	{
		const struct key *key = find_key(list, name);
		unsigned long line = item->line;
		char text[128];

		if (yaml_line(value))
			item->line = yaml_line(value);
		if (!key)
			return unknown_key(item, list, name, error);
		if (!value || json_object_is_type(value, json_type_object) ||
		    json_object_is_type(value, json_type_array) ||
		    kubernetes_value_text(value, text, sizeof(text)) < 0)
			return fail(item, error, "%s is no number or short text; write one", name);
		int r = read_key(item, key, text, error);
		if (r < 0)
			return r;
		item->line = line;
	}
	return 0;
}

static int read_list(struct trace *trace, const struct list *list, struct json_object *array,
		     struct item *place, struct error *error)
{
	int r = 0;

	if (yaml_line(array))
		place->line = yaml_line(array);
	if (!json_object_is_type(array, json_type_array))
		return fail(place, error, "%s is no list; write items, as in '- count: 20'",
			    list->name);
	for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
		struct json_object *object = json_object_array_get_idx(array, i);
		unsigned line = yaml_line(object);
		struct item item = item_new(place->source, line ? line : place->line, place->parts);

		r = read_item(list, object, &item, error);
		if (r == 0)
			r = list->add(trace, &item, error);
	}
	return r;
}

static int read_document(struct trace *trace, struct json_object *document, struct item *place,
			 struct error *error)
{
	if (!json_object_is_type(document, json_type_object))
		return fail(place, error, "no map with nodes and pods; write 'nodes:' and 'pods:'");
	json_object_object_foreach(document, name, value)
	{
		const struct list *list = NULL;

		for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
			if (strcmp(lists[i].name, name) == 0)
				list = &lists[i];
		if (!list)
			return fail(place, error, "unknown field '%.64s'; there are nodes and pods",
				    name);
		int r = read_list(trace, list, value, place, error);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_yaml(struct trace *trace, enum trace_part parts, const char *text, size_t length,
		     const char *source, struct error *error)
{
	autoyaml stream = { .name = NULL };
	int r = yaml_parse(text, length, source, &stream, error);

	for (size_t i = 0; r == 0 && i < stream.count; i++) {
		struct item place = item_new(source, stream.lines[i], parts);

		r = read_document(trace, stream.documents[i], &place, error);
	}
	return r;
}

/* ---- one line ---- */

#define FORM                                                                                      \
	"write '20 nodes of 8 h100', '300 Pods of 12 GiB', '10 Pods of 8 cards', '4 gangs of 16 " \
	"Pods of 8 cards' or '5 Pods of 2 1g.10gb'"

struct words {
	char items[WORDS_MAX][WORD_MAX];
	size_t count;
};

static int split(const char *text, size_t length, struct words *ret)
{
	const char *end = text + length;

	ret->count = 0;
	while (text < end) {
		size_t size = 0;

		while (text < end && isspace((unsigned char)*text))
			text++;
		while (text + size < end && !isspace((unsigned char)text[size]))
			size++;
		if (!size)
			break;
		if (ret->count == WORDS_MAX || size >= 64)
			return -E2BIG;
		memcpy(ret->items[ret->count], text, size);
		ret->items[ret->count++][size] = '\0';
		text += size;
	}
	return 0;
}

/* "12 GiB" and "12Gi" as the YAML form has them. */
static bool amount(const char *number, const char *unit, uint64_t *ret)
{
	static const struct {
		const char *name;
		unsigned shift;
	} units[] = { { "MiB", 0 }, { "Mi", 0 }, { "GiB", 10 }, { "Gi", 10 } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strcasecmp(units[i].name, unit) == 0 &&
		    parse_uint(number, 1, CARD_MIB >> units[i].shift, ret) == 0) {
			*ret <<= units[i].shift;
			return true;
		}
	return false;
}

static bool is_word(const char *word, const char *one)
{
	size_t length = strlen(one);

	return strncasecmp(word, one, length) == 0 &&
	       (!word[length] || strcasecmp(word + length, "s") == 0);
}

/* COUNT nodes of GPUS MODEL [NUMBER UNIT] [in MODE] */
static bool node_words(const struct words *words, struct item *item)
{
	size_t count = words->count;

	if (count >= 7 && strcasecmp(words->items[count - 2], "in") == 0) {
		for (size_t i = 0; words->items[count - 1][i]; i++)
			item->mode[i] = (char)tolower((unsigned char)words->items[count - 1][i]);
		count -= 2;
	}
	if (count != 5 && count != 7)
		return false;
	if (parse_uint(words->items[3], 1, CARDS_MAX, &item->gpus) < 0)
		return false;
	memcpy(item->model, words->items[4], sizeof(item->model));
	return count == 5 || amount(words->items[5], words->items[6], &item->gpu_mib);
}

/* "30 %" of compute, "4 CPUs" */
static bool more_words(const struct words *words, size_t at, struct item *item)
{
	const char *number = words->items[at], *unit = words->items[at + 1];

	if (strcmp(unit, "%") == 0)
		return parse_uint(number, 1, 100, &item->compute) == 0;
	if (!is_word(unit, "CPU") || parse_uint(number, 1, CPUS_MAX, &item->cpu_milli) < 0)
		return false;
	item->cpu_milli *= 1000;
	return true;
}

/* COUNT Pods of NUMBER (cards | UNIT | PROFILE) [NUMBER %] [NUMBER CPUs] */
static bool pod_words(const struct words *words, struct item *item)
{
	const char *number = words->items[3], *unit = words->items[4];

	if (words->count < 5 || words->count % 2 == 0)
		return false;
	for (size_t at = 5; at < words->count; at += 2)
		if (!more_words(words, at, item))
			return false;
	if (amount(number, unit, &item->gpu_mib))
		return true;
	if (parse_uint(number, 1, CARDS_MAX, &item->gpus) < 0)
		return false;
	if (is_word(unit, "card") || is_word(unit, "gpu"))
		return true;
	if (!isdigit((unsigned char)unit[0]) || unit[1] != 'g' || unit[2] != '.')
		return false;
	memcpy(item->mig, unit, sizeof(item->mig));
	return true;
}

/* COUNT WHAT of */
static bool counts(const struct words *words, const char *what, struct item *item)
{
	return words->count > 2 && is_word(words->items[1], what) &&
	       strcasecmp(words->items[2], "of") == 0 &&
	       parse_uint(words->items[0], 1, PODS_MAX, &item->count) == 0;
}

static bool node_phrase(const struct words *words, struct item *item)
{
	return counts(words, "node", item) && node_words(words, item);
}

static bool pod_phrase(const struct words *words, struct item *item)
{
	return counts(words, "Pod", item) && pod_words(words, item);
}

/* COUNT gangs of COUNT Pods of ...: what follows stands for itself. */
static bool gang_phrase(struct words *words, struct item *item)
{
	uint64_t gangs;

	if (!counts(words, "gang", item))
		return false;
	gangs = item->count;
	words->count -= 3;
	memmove(words->items, words->items + 3, words->count * sizeof(words->items[0]));
	if (!pod_phrase(words, item) || item->count > PODS_MAX / gangs)
		return false;
	item->gang = item->count;
	item->count *= gangs;
	return true;
}

static int read_part(struct trace *trace, const char *text, size_t length, struct item *item,
		     struct error *error)
{
	struct words words = { .count = 0 };
	int r = split(text, length, &words);
	int shown = length > 80 ? 80 : (int)length;

	if (r == 0 && !words.count)
		return 0;
	if (r == 0 && node_phrase(&words, item))
		return add_nodes(trace, item, error);
	if (r == 0 && (pod_phrase(&words, item) || gang_phrase(&words, item)))
		return add_pods(trace, item, error);
	while (shown && isspace((unsigned char)*text))
		text++, shown--;
	return fail(item, error, "'%.*s' is not understood; " FORM, shown, text);
}

static int read_parts(struct trace *trace, enum trace_part parts, const char *text,
		      const char *source, struct error *error)
{
	unsigned long line = 1;
	int r = 0;

	while (r == 0 && *text) {
		size_t length = strcspn(text, ";\n#");
		struct item item = item_new(source, line, parts);

		r = read_part(trace, text, length, &item, error);
		text += length;
		if (*text == '#')
			text += strcspn(text, "\n");
		line += *text == '\n';
		text += *text != '\0';
	}
	return r;
}

int trace_parse_short(struct trace *trace, enum trace_part parts, const char *text, size_t length,
		      const char *source, struct error *error)
{
	const char *at = text;

	if (strlen(text) != length)
		return error_set(error, EINVAL, "%s has a NUL byte; write text only", source);
	while (isspace((unsigned char)*at) || *at == '#')
		at += *at == '#' ? strcspn(at, "\n") : 1;
	if (!*at)
		return error_set(error, EINVAL, "%s is empty; " FORM, source);
	return isdigit((unsigned char)*at) ? read_parts(trace, parts, text, source, error)
					   : read_yaml(trace, parts, text, length, source, error);
}
