/* SPDX-License-Identifier: Apache-2.0 */
/* What the collected numbers and annotations of one container mean, by dialect. */
#include "model/dialect_row.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define CARDS_WANTED_MAX 65536 /* of one container; more is a slip of the pen */
#define SLICE_CARDS_MAX  64
#define BYTES_FROM       (1ll << 20)  /* gpu-memory: from here on bytes, below GiB */
#define MEMORY_MIB_MAX   (1ull << 30) /* 1 PiB */
#define NAMES_MAX        64           /* in one list of models or UUIDs */

/* A whole number from an annotation, for example "30" of gpupool.io/gpu-compute. */
static int annotation_number(struct translation *translation, enum meaning meaning,
			     uint64_t maximum, unsigned *ret)
{
	const char *text = translation->texts[meaning];
	uint64_t number;

	if (!text)
		return 0;
	if (parse_uint(text, 1, maximum, &number) < 0)
		return dialect_refuse(
			translation, REASON_BAD_REQUEST,
			"annotation %s is '%.64s', and it must be a whole number from 1 to "
			"%" PRIu64,
			translation->names[meaning], text, maximum);
	*ret = (unsigned)number;
	return 0;
}

static int add_name(struct translation *translation, enum meaning meaning, const char *text,
		    size_t length, struct string_list *list)
{
	autostrbuf name = STRBUF_INIT(256);
	const char *star = translation->substring[meaning] ? "*" : "";

	strbuf_adds(&name, star);
	strbuf_add(&name, text, length);
	strbuf_adds(&name, star);
	if (strbuf_failed(&name) == -ENAMETOOLONG || list->count == NAMES_MAX)
		return dialect_refuse(
			translation, REASON_BAD_REQUEST,
			"annotation %s has more than %d names or a name of more than 254 bytes",
			translation->names[meaning], NAMES_MAX);
	if (strbuf_failed(&name) < 0 || string_list_add(list, name.data) < 0)
		return error_no_memory(translation->error);
	return 0;
}

/* A list by comma; blanks around a name do not count. */
static int read_names(struct translation *translation, enum meaning meaning,
		      struct string_list *list)
{
	const char *at = translation->texts[meaning];
	int r = 0;

	while (r == 0 && at && *at) {
		size_t length = strcspn(at, ",");
		const char *end = at + length, *next = *end ? end + 1 : end;

		while (at < end && isspace((unsigned char)*at))
			at++;
		while (end > at && isspace((unsigned char)end[-1]))
			end--;
		if (end > at)
			r = add_name(translation, meaning, at, (size_t)(end - at), list);
		at = next;
	}
	if (r == 0 && translation->texts[meaning] && !list->count)
		return dialect_refuse(translation, REASON_BAD_REQUEST,
				      "annotation %s names nothing; name something or remove it",
				      translation->names[meaning]);
	return r;
}

static bool find_policy(const struct dialect *dialect, const char *text, size_t length,
			enum card_policy *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(dialect->policies) && dialect->policies[i].name; i++) {
		if (strlen(dialect->policies[i].name) == length &&
		    memcmp(dialect->policies[i].name, text, length) == 0) {
			*ret = dialect->policies[i].policy;
			return true;
		}
	}
	return false;
}

static int read_policy(struct translation *translation)
{
	const struct dialect *dialect = translation->dialect;
	const char *text = translation->texts[MEANING_POLICY];
	const char *name = translation->names[MEANING_POLICY];

	if (!text || find_policy(dialect, text, strlen(text), &translation->request.policy))
		return 0;
	if (!dialect->policy_chain)
		return dialect_refuse(
			translation, REASON_BAD_REQUEST,
			"annotation %s is '%.64s', and it must be binpack, spread or topology",
			name, text);
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, ",");
		if (find_policy(dialect, at, length, &translation->request.policy))
			break;
		at += length + (at[length] == ',');
	}
	return dialect_note(translation, "annotation %s '%.64s' is read as %s", name, text,
			    card_policy_to_string(translation->request.policy));
}

int dialect_read_choice(struct translation *translation)
{
	struct request *request = &translation->request;
	int r = read_names(translation, MEANING_MODELS, &request->models);

	if (r == 0)
		r = read_names(translation, MEANING_NOT_MODELS, &request->not_models);
	if (r == 0)
		r = read_names(translation, MEANING_UUIDS, &request->uuids);
	if (r == 0)
		r = read_names(translation, MEANING_NOT_UUIDS, &request->not_uuids);
	if (r == 0)
		r = read_policy(translation);
	return r;
}

static int read_cards(struct translation *translation, enum meaning meaning, enum request_kind kind)
{
	int64_t number = translation->numbers[meaning];

	if (number > CARDS_WANTED_MAX)
		return dialect_refuse(translation, REASON_BAD_REQUEST,
				      "%s is %" PRId64 ", and one container can ask for at most %d",
				      translation->names[meaning], number, CARDS_WANTED_MAX);
	translation->request.kind = kind;
	translation->request.cards = (unsigned)number;
	return 0;
}

static unsigned units_of(uint64_t mib)
{
	return (unsigned)((mib + 1023) / 1024);
}

/* gpu-memory: GiB, or bytes, which are told with the number to write instead. */
static int read_total(struct translation *translation, uint64_t *ret_mib)
{
	int64_t number = translation->numbers[MEANING_GIB_TOTAL];
	const char *name = translation->names[MEANING_GIB_TOTAL];
	uint64_t mib = (uint64_t)number * 1024;
	int r = 0;

	if (number >= BYTES_FROM) {
		mib = ((uint64_t)number + (1 << 20) - 1) >> 20;
		if (mib > MEMORY_MIB_MAX)
			return dialect_refuse(translation, REASON_BAD_REQUEST,
					      "%s is %" PRId64
					      " bytes, more than any card has; write GiB",
					      name, number);
		if (mib % 1024)
			r = dialect_note(translation,
					 "%s %" PRId64 " is read as bytes: %" PRIu64 " MiB", name,
					 number, mib);
		else
			r = dialect_note(translation,
					 "%s %" PRId64 " is read as bytes: %" PRIu64
					 " GiB; write %" PRIu64,
					 name, number, mib / 1024, mib / 1024);
	}
	*ret_mib = mib;
	return r;
}

int dialect_build_native(struct translation *translation)
{
	struct request *request = &translation->request;
	uint64_t mib = 0;

	request->kind = REQUEST_SLICE;
	request->cards = 1;
	int r = read_total(translation, &mib);
	if (r == 0)
		r = annotation_number(translation, MEANING_SLICE_CARDS, SLICE_CARDS_MAX,
				      &request->cards);
	if (r == 0)
		r = annotation_number(translation, MEANING_COMPUTE, 100, &request->compute_percent);
	if (r < 0)
		return r;
	uint64_t unit = mib % 1024 ? 1 : 1024;
	if (mib / unit % request->cards)
		return dialect_refuse(
			translation, REASON_BAD_REQUEST,
			"the slice is spread evenly over %u cards (must divide), and %" PRIu64
			" %s over %u cards leaves %" PRIu64,
			request->cards, mib / unit, unit == 1 ? "MiB" : "GiB", request->cards,
			mib / unit % request->cards);
	request->memory_mib = mib / request->cards;
	request->units = units_of(request->memory_mib);
	return 0;
}

/* "1g.10gb" and "1g.10gb.me": the resource name has a dot where NVML has a plus. */
static bool profile_from_resource(const char *text, char *ret, size_t size)
{
	size_t slices = strspn(text, "0123456789");
	const char *at = text + slices;

	if (!slices || strncmp(at, "g.", 2) != 0)
		return false;
	at += 2;
	size_t memory = strspn(at, "0123456789");
	at += memory;
	if (!memory || strncmp(at, "gb", 2) != 0)
		return false;
	at += 2;
	if (strlen(text) >= size || (*at && *at != '.' && *at != '-') || (*at && !at[1]) ||
	    strspn(at, "abcdefghijklmnopqrstuvwxyz.-") != strlen(at))
		return false;
	memcpy(ret, text, strlen(text) + 1);
	if (*at == '.')
		ret[at - text] = '+';
	return true;
}

int dialect_build_nvidia(struct translation *translation)
{
	static const struct {
		enum meaning meaning;
		enum request_kind kind;
	} kinds[] = {
		{ MEANING_CARDS, REQUEST_WHOLE },
		{ MEANING_SHARED, REQUEST_SHARED },
		{ MEANING_MIG, REQUEST_MIG },
	};
	struct request *request = &translation->request;
	const char *mig = translation->names[MEANING_MIG];

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!translation->numbers[kinds[i].meaning])
			continue;
		if (request->kind != REQUEST_NONE)
			return dialect_refuse_mixture(translation);
		int r = read_cards(translation, kinds[i].meaning, kinds[i].kind);
		if (r < 0)
			return r;
	}
	if (request->kind == REQUEST_MIG &&
	    !profile_from_resource(mig + strlen(MIG_PREFIX), request->mig_profile,
				   sizeof(request->mig_profile)))
		return dialect_refuse(
			translation, REASON_BAD_REQUEST,
			"%.100s names no MIG profile, which looks like 1g.10gb or 1g.10gb.me", mig);
	return 0;
}

static int check_percent(struct translation *translation, enum meaning meaning)
{
	if (translation->numbers[meaning] <= 100)
		return 0;
	return dialect_refuse(translation, REASON_BAD_REQUEST,
			      "%s is %" PRId64 ", and it must be a whole number from 0 to 100",
			      translation->names[meaning], translation->numbers[meaning]);
}

/* The parts of a HAMi request, checked; MEANING_CARDS is 1 when it was not given. */
static int read_hami(struct translation *translation)
{
	const char **names = translation->names;
	int64_t mib = translation->numbers[MEANING_MIB_EACH];

	if (!names[MEANING_CARDS])
		translation->numbers[MEANING_CARDS] = 1;
	int r = check_percent(translation, MEANING_PERCENT_EACH);
	if (r == 0)
		r = check_percent(translation, MEANING_COMPUTE);
	if (r == 0)
		r = read_cards(translation, MEANING_CARDS, REQUEST_SLICE);
	if (r == 0 && mib > (int64_t)MEMORY_MIB_MAX)
		r = dialect_refuse(translation, REASON_BAD_REQUEST,
				   "%s is %" PRId64 " MiB, more than any card has",
				   names[MEANING_MIB_EACH], mib);
	if (r == 0 && mib && translation->numbers[MEANING_PERCENT_EACH])
		r = dialect_note(translation, "%s has no effect beside %s",
				 names[MEANING_PERCENT_EACH], names[MEANING_MIB_EACH]);
	return r;
}

/*
 * HAMi's defaults when only a part is given: no count is one card; no memory is all of the card's;
 * all of the memory without cores is the card alone. An explicit count of 0 is no card.
 */
int dialect_build_hami(struct translation *translation)
{
	struct request *request = &translation->request;
	uint64_t mib = (uint64_t)translation->numbers[MEANING_MIB_EACH];
	unsigned cores = (unsigned)translation->numbers[MEANING_COMPUTE];
	unsigned percent = (unsigned)translation->numbers[MEANING_PERCENT_EACH];

	int r = read_hami(translation);
	if (r < 0)
		return r;
	if (!request->cards) {
		request->kind = REQUEST_NONE;
		return dialect_note(translation, "%s is 0, so %s gets no card",
				    translation->names[MEANING_CARDS], translation->input->object);
	}
	if (!mib && !percent)
		percent = 100;
	if (!mib && percent == 100 && (!cores || cores == 100)) {
		request->kind = REQUEST_WHOLE;
		return 0;
	}
	request->memory_mib = mib;
	request->units = units_of(mib);
	request->memory_percent = mib ? 0 : percent;
	request->compute_percent = cores;
	return 0;
}

int dialect_build_gpushare(struct translation *translation)
{
	struct request *request = &translation->request;
	uint64_t number = (uint64_t)translation->numbers[MEANING_GIB_TOTAL];

	if (number > (translation->input->gpushare_mib ? MEMORY_MIB_MAX : MEMORY_MIB_MAX / 1024))
		return dialect_refuse(translation, REASON_BAD_REQUEST,
				      "%s is %" PRIu64 ", more than any card has",
				      translation->names[MEANING_GIB_TOTAL], number);
	if (!number) /* gpu-count alone */
		return 0;
	request->kind = REQUEST_SLICE;
	request->cards = 1;
	request->memory_mib = translation->input->gpushare_mib ? number : number * 1024;
	request->units = units_of(request->memory_mib);
	return 0;
}

/* An amount over all CARDS cards, for each of them. */
static int each_card(struct translation *translation, enum meaning meaning, uint64_t maximum,
		     uint64_t *ret)
{
	uint64_t number = (uint64_t)translation->numbers[meaning];
	unsigned cards = translation->request.cards;

	if (number % cards)
		return dialect_refuse(
			translation, REASON_BAD_REQUEST,
			"%s is spread evenly over %u cards (must divide), and %" PRIu64
			" leaves %" PRIu64,
			translation->names[meaning], cards, number, number % cards);
	if (number / cards > maximum)
		return dialect_refuse(translation, REASON_BAD_REQUEST,
				      "%s is %" PRIu64 " on each of %u cards, more than any has",
				      translation->names[meaning], number / cards, cards);
	*ret = number / cards;
	return 0;
}

/* koordinator.sh/gpu is both parts in one; 200 without gpu.shared is two cards. */
static int read_koordinator_cards(struct translation *translation)
{
	static const enum meaning parts[] = { MEANING_CORE_TOTAL, MEANING_RATIO_TOTAL };
	int64_t *numbers = translation->numbers;

	for (size_t i = 0; i < ARRAY_SIZE(parts) && numbers[MEANING_SHARE_TOTAL]; i++) {
		if (numbers[parts[i]])
			return dialect_refuse(translation, REASON_BAD_REQUEST,
					      "%s and %s say the same thing twice; keep one",
					      translation->names[MEANING_SHARE_TOTAL],
					      translation->names[parts[i]]);
		numbers[parts[i]] = numbers[MEANING_SHARE_TOTAL];
		translation->names[parts[i]] = translation->names[MEANING_SHARE_TOTAL];
	}
	int64_t cards = numbers[MEANING_SLICE_CARDS];
	int64_t share = numbers[MEANING_RATIO_TOTAL] ? numbers[MEANING_RATIO_TOTAL]
						     : numbers[MEANING_CORE_TOTAL];
	if (!cards)
		cards = share > 100 && share % 100 == 0 ? share / 100 : 1;
	if (cards > SLICE_CARDS_MAX)
		return dialect_refuse(translation, REASON_BAD_REQUEST,
				      "%" PRId64 " cards, and one container can ask for at most %d",
				      cards, SLICE_CARDS_MAX);
	translation->request.cards = (unsigned)cards;
	return 0;
}

int dialect_build_koordinator(struct translation *translation)
{
	struct request *request = &translation->request;
	uint64_t core = 0, ratio = 0, bytes = 0;

	int r = read_koordinator_cards(translation);
	if (r == 0)
		r = each_card(translation, MEANING_CORE_TOTAL, 100, &core);
	if (r == 0)
		r = each_card(translation, MEANING_RATIO_TOTAL, 100, &ratio);
	if (r == 0)
		r = each_card(translation, MEANING_BYTES_TOTAL, MEMORY_MIB_MAX << 20, &bytes);
	if (r < 0)
		return r;
	if (bytes && ratio)
		return dialect_refuse(translation, REASON_BAD_REQUEST,
				      "%s and %s say the same thing twice; keep one",
				      translation->names[MEANING_BYTES_TOTAL],
				      translation->names[MEANING_RATIO_TOTAL]);
	request->kind = REQUEST_SLICE;
	if (!bytes && !ratio)
		ratio = 100;
	if (ratio == 100 && (!core || core == 100)) {
		request->kind = REQUEST_WHOLE;
		return 0;
	}
	request->memory_mib = (bytes + (1 << 20) - 1) >> 20;
	request->units = units_of(request->memory_mib);
	request->memory_percent = (unsigned)ratio;
	request->compute_percent = (unsigned)core;
	return 0;
}

/* "0.5": hundredths of a card's memory, as KAI has them. */
static int read_fraction(struct translation *translation, unsigned *ret_percent)
{
	const char *text = translation->texts[MEANING_FRACTION];
	char *end = NULL;

	if (!text)
		return 0;
	bool plain = text[0] && strspn(text, "0123456789.") == strlen(text);
	double fraction = plain ? strtod(text, &end) : 0;
	if (!plain || *end || fraction < 0.01 || fraction > 1)
		return dialect_refuse(translation, REASON_BAD_REQUEST,
				      "annotation %s is '%.64s', and it must be a share from 0.01 "
				      "to 1",
				      translation->names[MEANING_FRACTION], text);
	*ret_percent = (unsigned)(fraction * 100 + 0.5);
	return 0;
}

int dialect_build_kai(struct translation *translation)
{
	struct request *request = &translation->request;
	unsigned mib = 0;

	request->kind = REQUEST_SLICE;
	request->cards = 1;
	int r = read_fraction(translation, &request->memory_percent);
	if (r == 0)
		r = annotation_number(translation, MEANING_MIB_TEXT, MEMORY_MIB_MAX, &mib);
	if (r == 0)
		r = annotation_number(translation, MEANING_SLICE_CARDS, SLICE_CARDS_MAX,
				      &request->cards);
	if (r < 0)
		return r;
	if (mib && request->memory_percent)
		return dialect_refuse(translation, REASON_BAD_REQUEST,
				      "annotations %s and %s say the same thing twice; keep one",
				      translation->names[MEANING_FRACTION],
				      translation->names[MEANING_MIB_TEXT]);
	if (request->memory_percent == 100) {
		request->kind = REQUEST_WHOLE;
		request->memory_percent = 0;
		return 0;
	}
	request->memory_mib = mib;
	request->units = units_of(mib);
	return 0;
}
