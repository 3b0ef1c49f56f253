/* SPDX-License-Identifier: Apache-2.0 */
#include "gpupool.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define SENTENCE_MAX  4096
#define TABLE_MAX     (1u << 20)
#define TEXT_MAX      (1u << 23)
#define JSON_TEXT_MAX (1u << 26)

int fail(enum exit_code code, const struct error *error)
{
	fprintf(stderr, "gpupool: %s\n", error->message[0] ? error->message : "failed");
	return code;
}

void say(const char *format, ...)
{
	autostrbuf text = STRBUF_INIT(TEXT_MAX);
	va_list arguments;

	va_start(arguments, format);
	strbuf_vaddf(&text, format, arguments);
	va_end(arguments);
	text_make_visible(text.data, false);
	fprintf(stderr, "gpupool: %s\n", strbuf_failed(&text) < 0 ? "out of memory" : text.data);
}

void print_text(FILE *out, const char *format, ...)
{
	autostrbuf text = STRBUF_INIT(TEXT_MAX);
	va_list arguments;

	va_start(arguments, format);
	strbuf_vaddf(&text, format, arguments);
	va_end(arguments);
	if (strbuf_failed(&text) < 0) {
		say("out of memory");
		return;
	}
	text_make_visible(text.data, true);
	fputs(text.data, out);
}

int finish_output(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	say("cannot write to standard output: %s; free space or choose another file",
	    strerrordesc_np(errno ? errno : EIO));
	return code == EXIT_DONE ? EXIT_FAILED : code;
}

/* A line of its own each: a name with a line feed must not look like a second one. */
static void print_reason_line(FILE *out, const char *title, const char *text)
{
	autofree char *copy = strdup(text);

	if (copy)
		text_make_visible(copy, false);
	print_text(out, "  %-12s%s\n", title, copy ? copy : "out of memory");
}

/*
 * What Kubernetes says of the same Pod. Where it would let pass what is refused here, that is said
 * too; a broken machine and a request that is no request are no questions for its scheduler.
 */
static void print_kubernetes(const struct reason *reason, FILE *out)
{
	if (reason->kubernetes[0])
		print_reason_line(out, "kubernetes:", reason->kubernetes);
	else if (reason_link_of(reason->code) == REASON_LINK_SCHEDULER &&
		 reason->code != REASON_BAD_REQUEST)
		print_reason_line(out, "kubernetes:",
				  "(none: it counts a node's devices, and lets this Pod pass)");
}

static void print_refusal(const struct reason *reason, const char *sentence, FILE *out)
{
	print_text(out, "refused: %s\n", reason_class(reason->code));
	print_text(out, "  reason:     %s (%s)\n", reason_name(reason->code),
		   reason_link_to_string(reason_link_of(reason->code)));
	print_reason_line(out, "gpupool:", sentence);
	print_kubernetes(reason, out);
}

void print_reason(const struct reason *reason, FILE *out)
{
	autostrbuf sentence = STRBUF_INIT(SENTENCE_MAX);

	if (reason_sentence(reason, &sentence) < 0)
		strbuf_adds(&sentence, reason_class(reason->code));
	print_refusal(reason, sentence.data, out);
}

static void print_reason_at(const struct reason *reason, const struct error *error, FILE *out)
{
	print_refusal(reason, error->message, out);
}

int print_json(struct json_object *object)
{
	autostrbuf text = STRBUF_INIT(JSON_TEXT_MAX);
	struct error error = ERROR_INIT;

	if (json_to_text(object, true, &text, &error) < 0)
		return fail(EXIT_FAILED, &error);
	puts(text.data);
	return EXIT_DONE;
}

/* REFUSED, WAITING or, for the driver's absence, RIGHTS. */
static enum exit_code reason_exit(int result, const struct reason *reason)
{
	if (reason->code == REASON_NO_DRIVER || reason->code == REASON_DRIVER_MISMATCH ||
	    reason->code == REASON_DRIVER_HUNG || reason->code == REASON_NO_RUNTIME)
		return EXIT_RIGHTS;
	return result == -EAGAIN ? EXIT_WAITING : EXIT_REFUSED;
}

int refuse(const struct common_options *common, int result, const struct reason *reason,
	   const struct error *at)
{
	autojson *object = NULL;
	struct error error = ERROR_INIT;

	if (!common->json && at)
		print_reason_at(reason, at, stderr);
	else if (!common->json)
		print_reason(reason, stderr);
	else if (reason_to_json(reason, &object, &error) < 0)
		return fail(EXIT_FAILED, &error);
	else if (print_json(object) != EXIT_DONE)
		return EXIT_FAILED;
	return reason_exit(result, reason);
}

const char *reality(const struct inventory *inventory)
{
	return inventory->real ? "real" : "simulated";
}

void print_columns(struct columns *columns, FILE *out)
{
	autostrbuf text = STRBUF_INIT(TABLE_MAX);
	struct error error = ERROR_INIT;

	if (columns_print(columns, &text, &error) < 0)
		fail(EXIT_FAILED, &error);
	else
		fputs(text.data, out);
}

static unsigned holders_units(const struct local_holders *holders, const char *uuid)
{
	unsigned units = 0;

	for (size_t i = 0; i < holders->count; i++)
		for (size_t k = 0; k < holders->items[i].grant.card_count; k++)
			if (strcmp(holders->items[i].grant.cards[k].uuid, uuid) == 0)
				units += holders->items[i].grant.cards[k].units;
	return units;
}

static void print_card(const struct inventory *inventory, const struct card *card,
		       const struct local_holders *holders, struct columns *columns)
{
	autostrbuf health = STRBUF_INIT(SENTENCE_MAX), numa = STRBUF_INIT(16);

	strbuf_adds(&health, card_health_to_string(card->condition.health));
	if (card->condition.cause[0])
		strbuf_addf(&health, ": %s", card->condition.cause);
	if (card->numa >= 0)
		strbuf_addf(&numa, "%d", card->numa);
	else
		strbuf_adds(&numa, "-");
	if (card->index == CARD_INDEX_NONE)
		columns_add(columns, "-");
	else
		columns_addf(columns, "%u", card->index);
	columns_add(columns, card->model);
	columns_add(columns, card->uuid);
	columns_add(columns, card->bus_id);
	/* A card that is lost tells nothing of itself, and 0 GiB would be a claim. */
	if (card->memory_bytes)
		columns_addf(columns, "%u GiB", card_units(card));
	else
		columns_add(columns, "-");
	columns_addf(columns, "%u GiB", holders_units(holders, card->uuid));
	columns_addf(columns, "%lu MiB", (unsigned long)card_foreign_mib(card));
	columns_add(columns, card_mode_to_string(card->mode));
	columns_add(columns, numa.data);
	columns_add(columns, reality(inventory));
	columns_add(columns, health.data); /* last: a cause may be long */
}

void print_driver(const struct inventory *inventory, FILE *out)
{
	print_text(out, "driver root %s, driver %s, kernel module %s, CUDA %u.%u, %s\n\n",
		   inventory->driver_root,
		   inventory->driver_version[0] ? inventory->driver_version : "unknown",
		   inventory->module_version[0] ? inventory->module_version : "unknown",
		   inventory->cuda_major, inventory->cuda_minor, reality(inventory));
}

void print_cards(const struct inventory *inventory, const struct local_holders *holders, FILE *out)
{
	static const char *const titles[] = { "CARD",   "MODEL",   "UUID",    "BUS",
					      "MEMORY", "GRANTED", "FOREIGN", "MODE",
					      "NUMA",   "DRIVER",  "HEALTH" };
	autocolumns columns = COLUMNS_INIT(ARRAY_SIZE(titles));

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		columns_add(&columns, titles[i]);
	for (size_t i = 0; i < inventory->card_count; i++)
		print_card(inventory, &inventory->cards[i], holders, &columns);
	print_columns(&columns, out);
}

/* "card 0 NVIDIA A100-SXM4-80GB GPU-..." */
static void describe_grant_card(const struct inventory *inventory, const struct grant_card *granted,
				struct strbuf *out)
{
	const struct card *card = inventory_find(inventory, granted->uuid);

	if (card && card->index == CARD_INDEX_NONE)
		strbuf_addf(out, "card %s %s", card->model, card->uuid);
	else if (card)
		strbuf_addf(out, "card %u %s %s", card->index, card->model, card->uuid);
	else
		strbuf_addf(out, "card %s (not in the inventory)", granted->uuid);
}

static void print_holder(const struct inventory *inventory, const struct local_holder *holder,
			 FILE *out)
{
	for (size_t i = 0; i < holder->grant.card_count; i++) {
		autostrbuf card = STRBUF_INIT(SENTENCE_MAX);

		describe_grant_card(inventory, &holder->grant.cards[i], &card);
		print_text(out, "  %s/%s %s: %u GiB of %s, enforcement: %s, process %d%s\n",
			   holder->grant.namespace, holder->grant.pod, holder->grant.container,
			   holder->grant.cards[i].units, card.data,
			   enforcement_to_string(holder->grant.enforcement), holder->pid,
			   holder->orphaned ? ", its gpupool is gone" : "");
	}
}

void print_holders(const struct inventory *inventory, const struct local_holders *holders,
		   FILE *out)
{
	if (!holders->count)
		return;
	fputs("\nGrants:\n", out);
	for (size_t i = 0; i < holders->count; i++)
		print_holder(inventory, &holders->items[i], out);
}

static void describe_granted(const struct local_session *session, const struct local_job *job,
			     size_t index, struct strbuf *out)
{
	const struct grant_card *card = &job->grant.cards[index];

	if (job->grant.kind == REQUEST_SLICE)
		strbuf_addf(out, "%lu MiB of ", (unsigned long)card->memory_mib);
	describe_grant_card(&session->inventory, card, out);
}

void print_grant(const struct local_session *session, const struct local_job *job, FILE *out)
{
	autostrbuf asked = STRBUF_INIT(SENTENCE_MAX);

	request_describe(&job->container->request, &asked);
	print_text(out, "container %s of Pod %s/%s asks for %s%s\n", job->container->name,
		   job->pod->namespace, job->pod->name, asked.data,
		   job->grant.card_count ? "" : " and sees no card");
	for (size_t i = 0; i < job->grant.card_count; i++) {
		autostrbuf card = STRBUF_INIT(SENTENCE_MAX);

		describe_granted(session, job, i, &card);
		print_text(out, "  gets %s\n", card.data);
	}
	if (job->grant.card_count)
		print_text(out, "  enforcement: %s\n",
			   enforcement_to_string(job->grant.enforcement));
}

void say_grant(const struct local_session *session, const struct local_job *job)
{
	for (size_t i = 0; i < job->grant.card_count; i++) {
		autostrbuf card = STRBUF_INIT(SENTENCE_MAX);

		describe_granted(session, job, i, &card);
		say("%s; enforcement: %s", card.data,
		    enforcement_to_string(job->grant.enforcement));
	}
	if (!job->grant.card_count)
		say("no card was asked for; --gpus 1 asks for one");
}
