/* SPDX-License-Identifier: Apache-2.0 */
#include "model/dialect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/dialect_row.h"
#include "model/kubernetes.h"
#include "model/quantity.h"

/* Which card: the same with every dialect. */
#define CHOICE_ANNOTATIONS                                              \
	{ "gpupool.io/gpu-model", MEANING_MODELS, false, false },       \
		{ "gpupool.io/gpu-uuid", MEANING_UUIDS, false, false }, \
	{                                                               \
		"gpupool.io/gpu-policy", MEANING_POLICY, false, false   \
	}

#define OWN_POLICIES                                                \
	{ "binpack", POLICY_BINPACK }, { "spread", POLICY_SPREAD }, \
	{                                                           \
		"topology", POLICY_TOPOLOGY                         \
	}

#define KAI "KAI"

/* Of several rows that know all resource names of a container, the one that knows most of the
 * Pod's annotations translates it, the first of them on a tie. */
static const struct dialect dialects[] = {
	{
		.name = "native",
		.resources = { { "gpupool.io/gpu-memory", MEANING_GIB_TOTAL, false, false } },
		.annotations = { CHOICE_ANNOTATIONS,
				 { "gpupool.io/gpu-compute", MEANING_COMPUTE, false, false },
				 { "gpupool.io/slice-cards", MEANING_SLICE_CARDS, false, false } },
		.policies = { OWN_POLICIES },
		.build = dialect_build_native,
	},
	{
		.name = "NVIDIA",
		.resources = { { "nvidia.com/gpu", MEANING_CARDS, false, false },
			       { "nvidia.com/gpu.shared", MEANING_SHARED, false, false },
			       { MIG_PREFIX, MEANING_MIG, true, false } },
		.annotations = { CHOICE_ANNOTATIONS },
		.policies = { OWN_POLICIES },
		.build = dialect_build_nvidia,
	},
	{
		.name = "HAMi",
		.resources = { { "nvidia.com/gpu", MEANING_CARDS, false, false },
			       { "nvidia.com/gpumem", MEANING_MIB_EACH, false, false },
			       { "nvidia.com/gpumem-percentage", MEANING_PERCENT_EACH, false,
				 false },
			       { "nvidia.com/gpucores", MEANING_COMPUTE, false, false },
			       { "nvidia.com/priority", MEANING_NOTHING, false, false } },
		.annotations = { CHOICE_ANNOTATIONS,
				 { "nvidia.com/use-gputype", MEANING_MODELS, false, true },
				 { "nvidia.com/nouse-gputype", MEANING_NOT_MODELS, false, true },
				 { "nvidia.com/use-gpuuuid", MEANING_UUIDS, false, false },
				 { "nvidia.com/nouse-gpuuuid", MEANING_NOT_UUIDS, false, false },
				 { "hami.io/gpu-scheduler-policy", MEANING_POLICY, false, false },
				 { "nvidia.com/vgpu-mode", MEANING_NOTHING, false, false },
				 { "nvidia.com/numa-bind", MEANING_NOTHING, false, false } },
		.policies = { OWN_POLICIES, { "topology-aware", POLICY_TOPOLOGY } },
		.slices = true,
		.policy_chain = true,
		.build = dialect_build_hami,
	},
	{
		.name = "Volcano",
		.resources = { { "volcano.sh/vgpu-number", MEANING_CARDS, false, false },
			       { "volcano.sh/vgpu-memory", MEANING_MIB_EACH, false, false },
			       { "volcano.sh/vgpu-memory-percentage", MEANING_PERCENT_EACH, false,
				 false },
			       { "volcano.sh/vgpu-cores", MEANING_COMPUTE, false, false },
			       { "volcano.sh/gpu-number", MEANING_CARDS, false, false },
			       { "volcano.sh/gpu-memory", MEANING_MIB_EACH, false, false } },
		.annotations = { CHOICE_ANNOTATIONS,
				 { "nvidia.com/use-gputype", MEANING_MODELS, false, true },
				 { "nvidia.com/nouse-gputype", MEANING_NOT_MODELS, false, true },
				 { "volcano.sh/vgpu-use-gpuuuid", MEANING_UUIDS, false, false },
				 { "volcano.sh/vgpu-nouse-gpuuuid", MEANING_NOT_UUIDS, false,
				   false },
				 { "volcano.sh/vgpu-mode", MEANING_NOTHING, false, false },
				 { "volcano.sh/vgpu-podgroup-policy", MEANING_NOTHING, false,
				   false } },
		.policies = { OWN_POLICIES },
		.slices = true,
		.build = dialect_build_hami,
	},
	{
		.name = "gpushare",
		.resources = { { "aliyun.com/gpu-mem", MEANING_GIB_TOTAL, false, false },
			       { "aliyun.com/gpu-count", MEANING_NOTHING, false, false } },
		.annotations = { CHOICE_ANNOTATIONS },
		.policies = { OWN_POLICIES },
		.build = dialect_build_gpushare,
	},
	{
		.name = "Koordinator",
		.resources = { { "koordinator.sh/gpu", MEANING_SHARE_TOTAL, false, false },
			       { "koordinator.sh/gpu.shared", MEANING_SLICE_CARDS, false, false },
			       { "koordinator.sh/gpu-core", MEANING_CORE_TOTAL, false, false },
			       { "koordinator.sh/gpu-memory", MEANING_BYTES_TOTAL, false, false },
			       { "koordinator.sh/gpu-memory-ratio", MEANING_RATIO_TOTAL, false,
				 false } },
		.annotations = { CHOICE_ANNOTATIONS },
		.policies = { OWN_POLICIES },
		.build = dialect_build_koordinator,
	},
	{
		.name = KAI, /* no resource: annotations alone, for one container */
		.annotations = { CHOICE_ANNOTATIONS,
				 { "gpu-fraction", MEANING_FRACTION, false, false },
				 { "gpu-memory", MEANING_MIB_TEXT, false, false },
				 { "gpu-fraction-num-devices", MEANING_SLICE_CARDS, false, false },
				 { "gpu-fraction-container-name", MEANING_PLACE, false, false } },
		.policies = { OWN_POLICIES },
		.build = dialect_build_kai,
	},
};

static const struct dialect_key *find_key(const struct dialect_key *keys, size_t count,
					  const char *name)
{
	for (size_t i = 0; i < count && keys[i].name; i++) {
		if (keys[i].prefix ? strncmp(keys[i].name, name, strlen(keys[i].name)) == 0
				   : strcmp(keys[i].name, name) == 0)
			return &keys[i];
	}
	return NULL;
}

static const struct dialect_key *find_resource(const struct dialect *dialect, const char *name)
{
	return find_key(dialect->resources, ARRAY_SIZE(dialect->resources), name);
}

static const struct dialect_key *find_annotation(const struct dialect *dialect, const char *name)
{
	return find_key(dialect->annotations, ARRAY_SIZE(dialect->annotations), name);
}

bool dialect_knows_resource(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(dialects); i++) {
		if (find_resource(&dialects[i], name))
			return true;
	}
	return false;
}

const char *dialect_nearest_resource(const char *name)
{
	const char *nearest = NULL;
	unsigned best = 3; /* edits, from which on it is another name */

	for (size_t i = 0; i < ARRAY_SIZE(dialects); i++) {
		for (const struct dialect_key *key = dialects[i].resources; key->name; key++) {
			unsigned distance = parse_distance(key->name, name, best);

			if (key->prefix || distance >= best)
				continue;
			best = distance;
			nearest = key->name;
		}
	}
	return nearest;
}

/* Any dialect's key for an annotation that one of them knows. */
static const struct dialect_key *annotation_of_any(const char *name)
{
	const struct dialect_key *key = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(dialects) && !key; i++)
		key = find_annotation(&dialects[i], name);
	return key;
}

bool dialect_knows_annotation(const char *name)
{
	return annotation_of_any(name) != NULL;
}

static void add_position(struct strbuf *text, const struct translation *translation)
{
	const struct dialect_input *input = translation->input;
	unsigned long line = yaml_line(input->limits ? input->limits : input->requests);

	if (!line)
		line = input->line;
	if (input->source && line)
		strbuf_addf(text, "%s:%lu: ", input->source, line);
	else if (input->source)
		strbuf_addf(text, "%s: ", input->source);
}

int dialect_note(struct translation *translation, const char *format, ...)
{
	autostrbuf text = STRBUF_INIT(2048);
	va_list arguments;

	add_position(&text, translation);
	va_start(arguments, format);
	strbuf_vaddf(&text, format, arguments);
	va_end(arguments);
	if (strbuf_failed(&text) == -ENOMEM || string_list_add(translation->notes, text.data) < 0)
		return error_no_memory(translation->error);
	return 0;
}

/* Fills the reason, and the error with its sentence; returns -EPERM. */
int dialect_refuse(struct translation *translation, enum reason_code code, const char *format, ...)
{
	struct reason *reason = translation->reason;
	autostrbuf text = STRBUF_INIT(2048);
	va_list arguments;

	va_start(arguments, format);
	reason_vtext(reason->detail, sizeof(reason->detail), format, arguments);
	va_end(arguments);
	reason->code = code;
	reason_text(reason->object, sizeof(reason->object), "%s", translation->input->object);
	add_position(&text, translation);
	reason_sentence(reason, &text);
	return error_set(translation->error, EPERM, "%s", text.data);
}

static int refuse_value(struct translation *translation, const char *name, const char *limit,
			const char *request)
{
	struct kubernetes_errors errors = KUBERNETES_ERRORS_INIT;
	struct reason *reason = translation->reason;

	kubernetes_check_resource(&errors, translation->input->path, name, limit, request);
	kubernetes_errors_text(&errors, translation->input->pod, reason->kubernetes,
			       sizeof(reason->kubernetes));
	kubernetes_errors_release(&errors);
	return -EPERM;
}

static int refuse_quantity(struct translation *translation, const char *name, const char *text)
{
	struct reason *reason = translation->reason;
	struct error error = ERROR_INIT;
	struct quantity quantity;

	if (quantity_parse(text, &quantity, &error) == -EINVAL)
		reason_text(reason->kubernetes, sizeof(reason->kubernetes),
			    "Pod in version \"v1\" cannot be handled as a Pod: %s",
			    kubernetes_quantity_error(text));
	return dialect_refuse(translation, REASON_BAD_REQUEST, "%s: %s", name, error.message);
}

/* One quantity of limits or requests: whole, not negative, within bounds. */
static int read_quantity(struct translation *translation, struct json_object *value,
			 const char *name, char *ret_text, struct quantity *ret)
{
	if (kubernetes_value_text(value, ret_text, QUANTITY_TEXT_MAX) < 0)
		return dialect_refuse(translation, REASON_BAD_REQUEST,
				      "%s: a quantity has at most %d characters", name,
				      QUANTITY_TEXT_MAX - 1);
	if (quantity_parse(ret_text, ret, NULL) < 0)
		return refuse_quantity(translation, name, ret_text);
	return 0;
}

static int check_quantity(struct translation *translation, const char *name, const char *text,
			  const struct quantity *quantity)
{
	if (!quantity_is_integer(quantity))
		return dialect_refuse(translation, REASON_NOT_INTEGER, "%s: %s", name, text);
	if (quantity->negative)
		return dialect_refuse(translation, REASON_BAD_REQUEST,
				      "%s is %s, and a count starts at 0", name, text);
	return 0;
}

/* One resource as written under limits and requests. */
struct amounts {
	bool limited, requested;
	char limit_text[QUANTITY_TEXT_MAX], request_text[QUANTITY_TEXT_MAX];
	struct quantity limit, request;
};

static int read_amounts(struct translation *translation, const char *name, struct amounts *ret)
{
	struct json_object *limit = NULL, *request = NULL;
	int r = 0;

	ret->limited = json_object_object_get_ex(translation->input->limits, name, &limit);
	ret->requested = json_object_object_get_ex(translation->input->requests, name, &request);
	if (ret->limited)
		r = read_quantity(translation, limit, name, ret->limit_text, &ret->limit);
	if (r == 0 && ret->requested)
		r = read_quantity(translation, request, name, ret->request_text, &ret->request);
	return r;
}

static int check_amounts(struct translation *translation, const char *name,
			 const struct amounts *amounts)
{
	int r = 0;

	if (amounts->limited)
		r = check_quantity(translation, name, amounts->limit_text, &amounts->limit);
	if (r == 0 && amounts->requested)
		r = check_quantity(translation, name, amounts->request_text, &amounts->request);
	if (r < 0)
		return r;
	if (!amounts->limited)
		return dialect_refuse(translation, REASON_NO_LIMIT, "%s: %s", name,
				      amounts->request_text);
	if (!amounts->requested || quantity_equal(&amounts->limit, &amounts->request))
		return 0;
	translation->reason->have = amounts->request.value;
	translation->reason->wanted = amounts->limit.value;
	return dialect_refuse(translation, REASON_NOT_EQUAL, "%s", name);
}

/* The number that the container asks for of NAME, by the API server's rules. */
static int read_resource(struct translation *translation, const char *name, int64_t *ret)
{
	struct amounts amounts = { 0 };

	int r = read_amounts(translation, name, &amounts);
	if (r < 0)
		return r;
	r = check_amounts(translation, name, &amounts);
	if (r < 0)
		return refuse_value(translation, name, amounts.limited ? amounts.limit_text : NULL,
				    amounts.requested ? amounts.request_text : NULL);
	*ret = amounts.limit.value;
	return 0;
}

/* Calls VISIT for each card resource of the container, once each. */
static int each_resource(struct translation *translation,
			 int (*visit)(struct translation *, const char *))
{
	struct json_object *maps[] = { translation->input->limits, translation->input->requests };

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		if (!json_object_is_type(maps[i], json_type_object))
			continue;
		json_object_object_foreach(maps[i], name, value)
		{
			(void)value;
			if (!dialect_knows_resource(name) ||
			    (i == 1 && json_object_object_get_ex(maps[0], name, NULL)))
				continue;
			int r = visit(translation, name);
			if (r != 0)
				return r;
		}
	}
	return 0;
}

/* 1 when the dialect does not know NAME and more than none of it is wanted. */
static int visit_known(struct translation *translation, const char *name)
{
	int64_t number;

	int r = read_resource(translation, name, &number);
	if (r < 0)
		return r;
	return number && !find_resource(translation->dialect, name);
}

static int visit_store(struct translation *translation, const char *name)
{
	const struct dialect_key *key = find_resource(translation->dialect, name);
	int64_t number;

	int r = read_resource(translation, name, &number);
	if (r < 0 || !key)
		return r;
	enum meaning meaning = key->meaning;
	if (meaning == MEANING_NOTHING)
		return dialect_note(translation, "%s has no effect on one machine", name);
	if (translation->names[meaning] && translation->numbers[meaning] && number)
		return dialect_refuse(
			translation, REASON_BAD_REQUEST,
			"%s and %s in one container; one kind of MIG instance is possible",
			translation->names[meaning], name);
	if (!translation->names[meaning] || number) {
		translation->names[meaning] = name;
		translation->numbers[meaning] = number;
	}
	return 0;
}

static int visit_wanted(struct translation *translation, const char *name)
{
	int64_t number;

	int r = read_resource(translation, name, &number);
	return r < 0 ? r : number > 0;
}

static int visit_list(struct translation *translation, const char *name)
{
	char *names = translation->reason->detail;
	size_t size = sizeof(translation->reason->detail), used = strlen(names);

	reason_text(names + used, size - used, "%s%s", used ? ", " : "", name);
	return 0;
}

int dialect_refuse_mixture(struct translation *translation)
{
	char names[REASON_TEXT_MAX];

	translation->reason->detail[0] = '\0';
	each_resource(translation, visit_list);
	memcpy(names, translation->reason->detail, sizeof(names));
	return dialect_refuse(
		translation, REASON_BAD_REQUEST,
		"%s together belong to no one way of asking; use the names of one line of "
		"docs/dialects.md",
		names);
}

static unsigned annotations_known(const struct dialect *dialect, struct json_object *annotations)
{
	unsigned count = 0;

	if (!json_object_is_type(annotations, json_type_object))
		return 0;
	json_object_object_foreach(annotations, name, value)
	{
		(void)value;
		count += find_annotation(dialect, name) != NULL;
	}
	return count;
}

static int choose_dialect(struct translation *translation)
{
	const struct dialect *best = NULL;
	unsigned best_count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(dialects); i++) {
		translation->dialect = &dialects[i];
		int r = each_resource(translation, visit_known);
		if (r < 0)
			return r;
		unsigned count = annotations_known(&dialects[i], translation->input->annotations);
		if (r == 0 && (!best || count > best_count)) {
			best = &dialects[i];
			best_count = count;
		}
	}
	translation->dialect = best;
	return best ? 0 : dialect_refuse_mixture(translation);
}

static bool is_choice(enum meaning meaning)
{
	return meaning != MEANING_COMPUTE && meaning != MEANING_SLICE_CARDS &&
	       meaning != MEANING_NOTHING;
}

/* An annotation of another dialect than the container's: a choice of cards must not be lost, and
 * what shapes a slice may belong to another container. */
static int foreign_annotation(struct translation *translation, const struct dialect_key *key)
{
	if (is_choice(key->meaning) || translation->dialect->slices)
		return dialect_refuse(translation, REASON_BAD_REQUEST,
				      "annotation %s does not go with resources of the %s dialect",
				      key->name, translation->dialect->name);
	return dialect_note(translation,
			    "annotation %s has no effect on %s, which asks for no slice", key->name,
			    translation->input->object);
}

static int read_annotation(struct translation *translation, const char *name,
			   struct json_object *value)
{
	const struct dialect_key *key = find_annotation(translation->dialect, name);

	if (!key) {
		key = annotation_of_any(name);
		return key ? foreign_annotation(translation, key) : 0;
	}
	if (!json_object_is_type(value, json_type_string))
		return dialect_refuse(translation, REASON_BAD_REQUEST,
				      "annotation %s must be a string; put "
				      "it in quotes",
				      name);
	if (key->meaning == MEANING_PLACE)
		return 0;
	if (key->meaning == MEANING_NOTHING)
		return dialect_note(translation, "annotation %s has no effect on one machine",
				    name);
	if (translation->names[key->meaning])
		return dialect_refuse(translation, REASON_BAD_REQUEST,
				      "%s and %s say the same thing twice; "
				      "keep one",
				      translation->names[key->meaning], name);
	translation->names[key->meaning] = key->name;
	translation->texts[key->meaning] = json_object_get_string(value);
	translation->substring[key->meaning] = key->substring;
	return 0;
}

static int read_annotations(struct translation *translation)
{
	struct json_object *annotations = translation->input->annotations;

	if (!json_object_is_type(annotations, json_type_object))
		return 0;
	json_object_object_foreach(annotations, name, value)
	{
		int r = read_annotation(translation, name, value);
		if (r < 0)
			return r;
	}
	return 0;
}

static int choose_kai(struct translation *translation)
{
	for (size_t i = 0; i < ARRAY_SIZE(dialects); i++) {
		if (strcmp(dialects[i].name, KAI) == 0)
			translation->dialect = &dialects[i];
	}
	return 0;
}

bool dialect_asks_by_annotation(struct json_object *annotations, const char **ret_container)
{
	struct json_object *name = NULL;

	if (!json_object_is_type(annotations, json_type_object) ||
	    (!json_object_object_get_ex(annotations, "gpu-fraction", NULL) &&
	     !json_object_object_get_ex(annotations, "gpu-memory", NULL)))
		return false;
	json_object_object_get_ex(annotations, "gpu-fraction-container-name", &name);
	if (ret_container)
		*ret_container = json_object_is_type(name, json_type_string)
					 ? json_object_get_string(name)
					 : NULL;
	return true;
}

static int translate(struct translation *translation)
{
	const struct dialect_input *input = translation->input;
	int r = each_resource(translation, visit_wanted);
	bool annotated =
		r == 0 && input->annotated && dialect_asks_by_annotation(input->annotations, NULL);

	if (r < 0 || (r == 0 && !annotated)) /* 0: no card is wanted */
		return r;
	r = annotated ? choose_kai(translation) : choose_dialect(translation);
	if (r == 0)
		r = each_resource(translation, visit_store);
	if (r == 0)
		r = read_annotations(translation);
	if (r == 0)
		r = translation->dialect->build(translation);
	if (r == 0 && translation->request.kind != REQUEST_NONE)
		r = dialect_read_choice(translation);
	translation->request.dialect = translation->dialect ? translation->dialect->name : NULL;
	return r;
}

int dialect_translate(const struct dialect_input *input, struct request *ret,
		      struct string_list *notes, struct reason *ret_reason, struct error *error)
{
	struct reason reason = { 0 };
	struct translation translation = {
		.input = input,
		.notes = notes,
		.reason = &reason,
		.error = error,
	};

	int r = translate(&translation);
	if (r < 0) {
		request_release(&translation.request);
		if (r == -EPERM && ret_reason)
			*ret_reason = reason;
		return r;
	}
	*ret = translation.request;
	return 0;
}
