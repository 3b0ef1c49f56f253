/* SPDX-License-Identifier: Apache-2.0 */
#include "device/nvml/query.h"

#include <errno.h>
#include <string.h>

#include "abi/nvml.h"
#include "device/nvml/helper.h"

#define PATIENT_TIMEOUTS 2u
#define IMPATIENT_MS     1000u

struct query {
	const struct nvml_options *options;
	struct nvml_result *result;
	struct helper helper;
	bool running;                /* the helper can be asked */
	char stopped[CARD_TEXT_MAX]; /* why no helper will be started again, or "" */
	uint64_t skip;               /* cards that gave no answer */
	unsigned timeouts;
};

static unsigned query_stuck(const struct query *query)
{
	return query->options->stuck->count;
}

void nvml_card_release(struct nvml_card *card)
{
	free(card->processes);
	free(card->instances);
	*card = (struct nvml_card){ 0 };
}

void nvml_result_release(struct nvml_result *result)
{
	for (unsigned i = 0; result->cards && i < result->count; i++)
		nvml_card_release(&result->cards[i]);
	free(result->cards);
	result->cards = NULL;
	result->count = 0;
}

static unsigned query_deadline(const struct query *query)
{
	unsigned deadline = query->options->deadline_ms;

	if (query->timeouts >= PATIENT_TIMEOUTS && deadline > IMPATIENT_MS)
		return IMPATIENT_MS;
	return deadline;
}

static int query_ask(struct query *query, struct record_request *request,
		     struct record_answer *answer, struct error *error)
{
	int r = helper_ask(&query->helper, request, answer, query_deadline(query), error);

	if (r == -ETIMEDOUT)
		query->timeouts++;
	return r;
}

static void query_stop_helper(struct query *query)
{
	if (query->running && !helper_kill(&query->helper))
		device_stuck_add(query->options->stuck, query->helper.caught);
	query->running = false;
}

/* The driver as a whole gives nothing. */
static void result_fail(struct nvml_result *result, enum reason_code code, const char *text)
{
	result->code = code;
	reason_text(result->detail, sizeof(result->detail), "%s", text);
}

/* What NVML's numbers say about the driver. */
static enum reason_code reason_of(const struct record_answer *answer)
{
	if (answer->status != RECORD_NVML_ERROR)
		return REASON_NO_DRIVER;
	if (answer->nvml == NVML_ERROR_LIB_RM_VERSION_MISMATCH)
		return REASON_DRIVER_MISMATCH;
	return answer->nvml == NVML_ERROR_TIMEOUT ? REASON_DRIVER_HUNG : REASON_NO_DRIVER;
}

static void result_fail_answer(struct nvml_result *result, const struct record_answer *answer)
{
	autostrbuf text = STRBUF_INIT(1024);

	if (answer->status == RECORD_NVML_ERROR)
		strbuf_addf(&text, "NVML says: %s (%d)", answer->message, answer->nvml);
	else
		strbuf_addf(&text, "%s", answer->message);
	result_fail(result, reason_of(answer), text.data);
}

static void result_fail_helper(struct query *query, int r, const struct error *error)
{
	autostrbuf text = STRBUF_INIT(1024);

	query_stop_helper(query);
	if (r == -EPIPE)
		strbuf_addf(&text, "%s %s while it loaded the driver", NAME_NVML_HELPER,
			    query->helper.end);
	else
		strbuf_addf(&text, "%s", error->message);
	result_fail(query->result, r == -ETIMEDOUT ? REASON_DRIVER_HUNG : REASON_NO_DRIVER,
		    text.data);
}

static bool version_take(char to[80], const char from[RECORD_TEXT_MAX])
{
	size_t length = strnlen(from, RECORD_TEXT_MAX);

	if (length == 0 || length >= 80)
		return false;
	for (size_t i = 0; i < length; i++)
		if (from[i] <= ' ' || from[i] > '~')
			return false;
	memcpy(to, from, length + 1);
	return true;
}

static void take_driver(struct nvml_result *result, const struct record_driver *record)
{
	if (!version_take(result->driver_version, record->driver_version) ||
	    !version_take(result->nvml_version, record->nvml_version))
		result_fail(result, REASON_NO_DRIVER, "NVML gives no readable versions");
	if (record->cuda_version > 0 && record->cuda_version < 1000000) {
		result->cuda_major = (unsigned)record->cuda_version / 1000;
		result->cuda_minor = (unsigned)record->cuda_version % 1000 / 10;
	}
}

/* -ENODATA: the driver gives nothing, and *result says why. */
static int take_count(struct query *query, uint32_t count, struct error *error)
{
	struct nvml_result *result = query->result;
	autostrbuf text = STRBUF_INIT(256);

	if (result->cards) /* a later helper */
		return count == result->count ? 0 : -ENODATA;
	if (count > RECORD_CARDS_MAX) {
		strbuf_addf(&text, "NVML counts %u cards, more than the %u that are possible",
			    count, RECORD_CARDS_MAX);
		result_fail(result, REASON_NO_DRIVER, text.data);
		return -ENODATA;
	}
	result->cards = calloc(count ? count : 1, sizeof(*result->cards));
	if (!result->cards)
		return error_no_memory(error);
	result->count = count;
	return 0;
}

/* Starts a helper and loads the driver in it. -ENODATA when the driver gives nothing. */
static int query_begin(struct query *query, struct error *error)
{
	struct record_request request = { .kind = RECORD_DRIVER };
	struct record_answer answer;
	struct error own = ERROR_INIT;
	const char *arguments[] = { "--library", query->options->library, NULL };
	int r = helper_start(&query->helper, query->options->program, arguments, error);

	if (r < 0)
		return r;
	query->running = true;
	r = query_ask(query, &request, &answer, &own);
	if (r == 0 && answer.status == RECORD_OK) {
		take_driver(query->result, &answer.driver);
		request.kind = RECORD_COUNT;
		r = query_ask(query, &request, &answer, &own);
	}
	if (r < 0) {
		result_fail_helper(query, r, &own);
		return -ENODATA;
	}
	if (answer.status != RECORD_OK) {
		result_fail_answer(query->result, &answer);
		return -ENODATA;
	}
	return query->result->code ? -ENODATA : take_count(query, answer.count.count, error);
}

/* A card's failure is its own: the driver has answered before, and does so for others. */
static void query_restart(struct query *query)
{
	struct error error = ERROR_INIT;

	if (query_stuck(query) >= DEVICE_STUCK_MAX) {
		reason_text(query->stopped, sizeof(query->stopped),
			    "not asked: %u helpers are caught in the driver", query_stuck(query));
		return;
	}
	int r = query_begin(query, &error);
	if (r == 0)
		return;
	query_stop_helper(query);
	reason_text(query->stopped, sizeof(query->stopped), "not asked: %s",
		    r != -ENODATA              ? error.message
		    : query->result->detail[0] ? query->result->detail
					       : "the number of cards changed meanwhile");
	query->result->code = REASON_NONE;
}

static void card_failed(struct query *query, unsigned index, int r, const struct error *error)
{
	struct card_condition *condition = &query->result->cards[index].condition;

	query_stop_helper(query);
	query->skip |= UINT64_C(1) << index;
	condition->health = r == -ETIMEDOUT ? CARD_LOST : CARD_SUSPECT;
	if (r == -EPIPE)
		reason_text(condition->cause, sizeof(condition->cause),
			    "the driver crashed when asked about it: %s %s", NAME_NVML_HELPER,
			    query->helper.end);
	else
		reason_text(condition->cause, sizeof(condition->cause), "%s", error->message);
	query_restart(query);
}

static int ask_once(struct query *query, enum record_kind kind, unsigned index, uint32_t first,
		    struct record_answer *answer, struct error *error)
{
	struct record_request request = {
		.kind = kind, .index = index, .first = first, .skip = query->skip
	};

	return query_ask(query, &request, answer, error);
}

/* The list comes in pieces; a total that grows between them cannot make it endless. */
static int ask_card(struct query *query, enum record_kind kind, unsigned index, struct error *error)
{
	struct nvml_card *card = &query->result->cards[index];
	struct record_answer answer;

	for (uint32_t first = 0; first < RECORD_PROCESSES_MAX;) {
		int r = ask_once(query, kind, index, first, &answer, error);

		if (r == 0)
			r = nvml_take_answer(&answer, card);
		if (r < 0)
			return r;
		if (kind != RECORD_PROCESSES || answer.status != RECORD_OK)
			break;
		first += answer.processes.count;
		if (answer.processes.count == 0 || answer.processes.count > RECORD_CHUNK ||
		    first >= answer.processes.total)
			break;
	}
	return 0;
}

static void card_not_asked(const struct query *query, unsigned index)
{
	struct card_condition *condition = &query->result->cards[index].condition;

	if (condition->health != CARD_HEALTHY)
		return;
	condition->health = CARD_SUSPECT;
	reason_text(condition->cause, sizeof(condition->cause), "%s", query->stopped);
}

/* Cards first, links last: a card that hangs is then known before another is compared with it. */
static const enum record_kind phases[] = { RECORD_CARD,      RECORD_HEALTH, RECORD_PROCESSES,
					   RECORD_INSTANCES, RECORD_SAMPLE, RECORD_LINKS };

static bool is_asked(const struct query *query, enum record_kind kind, const struct nvml_card *card)
{
	if (kind == RECORD_SAMPLE)
		return query->options->samples;
	return kind != RECORD_INSTANCES || card->mig_enabled;
}

static int query_cards(struct query *query, struct error *error)
{
	for (size_t phase = 0; phase < ARRAY_SIZE(phases); phase++)
		for (unsigned i = 0; i < query->result->count; i++) {
			struct error own = ERROR_INIT;

			if (query->skip >> i & 1 ||
			    !is_asked(query, phases[phase], &query->result->cards[i]))
				continue;
			if (!query->running) {
				card_not_asked(query, i);
				continue;
			}
			int r = ask_card(query, phases[phase], i, &own);
			if (r == -ENOMEM)
				return error_no_memory(error);
			if (r < 0)
				card_failed(query, i, r, &own);
			else if (query->result->cards[i].condition.health == CARD_LOST)
				query->skip |= UINT64_C(1) << i;
		}
	return 0;
}

/* No card is healthy and each is so for want of an answer: that is the driver, not the cards. */
static void judge_hang(const struct query *query)
{
	struct nvml_result *result = query->result;
	autostrbuf text = STRBUF_INIT(256);

	if (result->code || !result->count)
		return;
	for (unsigned i = 0; i < result->count; i++)
		if (result->cards[i].condition.health == CARD_HEALTHY)
			return;
	if (!query->timeouts ||
	    (query->timeouts < result->count && query_stuck(query) < DEVICE_STUCK_MAX))
		return;
	strbuf_addf(&text, "the driver gave no answer for any of its %u cards", result->count);
	result_fail(result, REASON_DRIVER_HUNG, text.data);
}

int nvml_query(const struct nvml_options *options, struct nvml_result *ret, struct error *error)
{
	struct nvml_result result = { .code = REASON_NONE };
	struct query query = { .options = options, .result = &result, .helper = HELPER_INIT };
	int r = query_begin(&query, error);

	if (r == 0)
		r = query_cards(&query, error);
	query_stop_helper(&query); /* it has nothing to lose: no state, no files */
	if (r < 0 && r != -ENODATA) {
		nvml_result_release(&result);
		return r;
	}
	judge_hang(&query);
	*ret = result;
	return 0;
}
