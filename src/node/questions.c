/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubelet's questions. Which devices are preferred is answered at once from memory; an Allocate is
 * answered once the ledger that has it is on the disk, one after the other.
 */
#include "node/daemon.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#define LEDGER_PATH_TEXT "%s/" NAME_LEDGER
#define LATER_MS         3000 /* after a ledger that could not be written */

struct ledger_write { /* one at a time */
	struct daemon *daemon;
	char *path, *text; /* owned */
	size_t length;
	struct ledger_entry *entry;   /* of the question; NULL: only what was freed is written */
	struct kubelet_answer answer; /* of it */
	uint64_t serial;              /* of the ledger's newest entry when the text was made */
	int r;
	struct error error;
};

static void question_free(struct question *question)
{
	string_list_release(&question->ids);
	free(question);
}

bool allocate_is_idle(const struct daemon *daemon)
{
	return !daemon->first && !daemon->asking;
}

struct plugin_scene allocate_scene(struct daemon *daemon, const struct ledger_evidence *evidence)
{
	const struct plugin_scene scene = { .node = daemon->host,
					    .inventory = &daemon->inventory,
					    .config = &daemon->config,
					    .view = &daemon->view,
					    .ledger = &daemon->ledger,
					    .evidence = evidence,
					    .files = daemon->files,
					    .lists = runtime_lists(daemon) };

	return scene;
}

/* ---- what was refused ---- */

static void count_refusal(struct node_resource *resource, const struct reason *reason,
			  const char *otherwise)
{
	const char *class = reason->code ? reason_class(reason->code) : otherwise;

	for (size_t i = 0; i < resource->refusal_count; i++)
		if (strcmp(resource->refusals[i].class, class) == 0) {
			resource->refusals[i].count++;
			return;
		}
	char *copy = strdup(class);
	struct refusal_count *row = copy ? VEC_ADD(&resource->refusals, &resource->refusal_count,
						   &resource->refusal_capacity)
					 : NULL;
	if (!row) {
		free(copy);
		return;
	}
	row->class = copy;
	row->count = 1;
}

static void refuse(struct question *question, const struct reason *reason, const char *class,
		   const char *text)
{
	struct daemon *daemon = question->resource->daemon;

	count_refusal(question->resource, reason, class);
	daemon_warning(daemon, "%s: an Allocate of %zu device%s is refused: %s",
		       question->resource->name, question->ids.count,
		       question->ids.count == 1 ? "" : "s", text);
	device_plugin_refuse(question->call, text);
	daemon->answered_ms = loop_now_ms(daemon->loop);
	question_free(question);
}

/* ---- preferred ---- */

int allocate_preferred(const struct string_list *available, const struct string_list *must,
		       unsigned size, struct string_list *ret, struct error *error, void *user)
{
	struct node_resource *resource = user;
	struct daemon *daemon = resource->daemon;
	struct ledger_evidence evidence = evidence_take(daemon);
	struct reason reason = { .code = REASON_NONE };

	(void)evidence_merge(daemon, &evidence);
	const struct plugin_scene scene = allocate_scene(daemon, &evidence);
	int r = plugin_preferred(&scene, resource->name, available, must, size, ret, &reason,
				 error);
	if (r < 0) {
		count_refusal(resource, &reason, "no answer to what is preferred");
		daemon_warning(daemon, "%s: no %u of %zu devices fit: %s", resource->name, size,
			       available->count, error->message);
	}
	return r;
}

/* ---- the disk ---- */

static void ledger_write_free(struct ledger_write *write)
{
	kubelet_answer_release(&write->answer);
	free(write->path);
	free(write->text);
	free(write);
}

static void ledger_failed(struct daemon *daemon, const struct error *error)
{
	daemon_wait(daemon, STEP_LEDGER, error->message);
	daemon->ledger_failed_ms = loop_now_ms(daemon->loop);
	daemon->ledger.dirty = true; /* what is on the disk is not what counts */
}

static void write_run(void *user)
{
	struct ledger_write *write = user;

	write->r = ledger_write(write->path, write->text, write->length, &write->error);
}

/* The kubelet gets what is on the disk. */
static void answer(struct daemon *daemon, struct question *question, struct ledger_write *write)
{
	uint64_t now = loop_now_ms(daemon->loop);
	struct node_resource *resource = question->resource;
	struct error error = ERROR_INIT;

	if (device_plugin_answer(question->call, &write->answer, &error) < 0) {
		daemon_warning(daemon, "%s: an answer was not taken: %s", resource->name,
			       error.message);
		ledger_forget(&daemon->ledger, write->entry);
	} else {
		ledger_answered(&daemon->ledger, write->entry, now);
		resource->granted++;
		resource->answer_ms += now - question->asked_ms;
		daemon_info(daemon, "%s: %zu device%s granted, %s first", resource->name,
			    question->ids.count, question->ids.count == 1 ? "" : "s",
			    question->ids.items[0]);
	}
	daemon->answered_ms = now;
	question_free(question);
}

static void write_done(void *user)
{
	struct ledger_write *write = user;
	struct daemon *daemon = write->daemon;
	struct question *question = TAKE_PTR(daemon->asking);
	const struct reason none = { .code = REASON_NONE };
	autostrbuf text = STRBUF_INIT(2048);
	struct error error = ERROR_INIT;

	daemon->writing = NULL;
	if (write->r < 0) {
		daemon->ledger_failures++;
		ledger_failed(daemon, &write->error);
	} else {
		daemon_wait(daemon, STEP_LEDGER, NULL);
	}
	if (question && write->r < 0) {
		ledger_forget(&daemon->ledger, write->entry);
		strbuf_addf(&text,
			    "the grant cannot be written down, and without that it would be lost "
			    "at a restart: %s",
			    write->error.message);
		refuse(question, &none, "ledger cannot be written", text.data);
	} else if (question) {
		answer(daemon, question, write);
	}
	ledger_write_free(write);
	daemon_stopped(daemon);
	if (!daemon->stopping && lists_update(daemon, NULL, &error) < 0)
		daemon_warning(daemon, "%s", error.message);
	allocate_go_on(daemon);
}

/* ENTRY and ANSWER: of the question; NULL: there is none. Takes the answer. */
static int write_start(struct daemon *daemon, struct ledger_entry *entry,
		       struct kubelet_answer *answer_of, struct error *error)
{
	autostrbuf path = STRBUF_INIT(PATH_MAX), text = STRBUF_INIT(LEDGER_FILE_MAX);
	struct ledger_write *write = calloc(1, sizeof(*write));

	if (!write)
		return error_no_memory(error);
	strbuf_addf(&path, LEDGER_PATH_TEXT, daemon->config.state_directory);
	int r = daemon_keep_lock(daemon, error);
	if (r < 0)
		ledger_failed(daemon, error);
	if (r == 0)
		r = ledger_to_text(&daemon->ledger, &text, error);
	if (r == 0) {
		write->daemon = daemon;
		write->entry = entry;
		write->length = text.length;
		write->text = strbuf_detach(&text);
		write->path = strbuf_detach(&path);
		r = write->text && write->path ? 0 : error_no_memory(error);
	}
	if (r == 0)
		r = loop_work_start(daemon->loop, write_run, write_done, write, error);
	if (r < 0) {
		ledger_write_free(write);
		return r;
	}
	if (answer_of) {
		write->answer = *answer_of;
		*answer_of = (struct kubelet_answer){ 0 };
	}
	/* What changes from here on is not in the text, and sets it again. */
	daemon->ledger.dirty = false;
	daemon->writing = write;
	return 0;
}

/* ---- one question ---- */

static void pods_listed(struct kubelet_holdings *holdings, const struct error *error, void *user);

/* Only pod-resources can tell an init container of the same Pod from another Pod. */
static bool ask_pods(struct daemon *daemon, struct question *question)
{
	struct error error = ERROR_INIT;

	if (question->listed || daemon->listing ||
	    pod_resources_list(daemon->pod_resources, pods_listed, daemon, &error) < 0)
		return false;
	daemon->listing = true;
	daemon->asking = question;
	return true;
}

static void decide(struct daemon *daemon, struct question *question,
		   const struct kubelet_holdings *listed)
{
	struct ledger_evidence evidence = evidence_take(daemon);
	struct kubelet_answer answer_of = { 0 };
	struct ledger_entry *entry = NULL;
	struct reason reason = { .code = REASON_NONE };
	struct error error = ERROR_INIT;

	(void)evidence_merge(daemon, &evidence);
	evidence.listed = listed;
	const struct plugin_scene scene = allocate_scene(daemon, &evidence);
	int r = plugin_allocate(&scene, question->resource->name, &question->ids, &entry,
				&answer_of, &reason, &error);
	if (r == -EAGAIN && reason.code == REASON_NONE && !listed && ask_pods(daemon, question))
		return;
	if (r < 0) {
		refuse(question, &reason, "no grant",
		       error.message[0] ? error.message
					: "the kubelet cannot be asked who holds what; try again");
		return;
	}
	daemon->asking = question;
	r = write_start(daemon, entry, &answer_of, &error);
	if (r < 0) {
		daemon->asking = NULL;
		ledger_forget(&daemon->ledger, entry);
		refuse(question, &reason, "ledger cannot be written", error.message);
	}
	kubelet_answer_release(&answer_of);
}

static void pods_listed(struct kubelet_holdings *holdings, const struct error *error, void *user)
{
	struct daemon *daemon = user;
	struct question *question = TAKE_PTR(daemon->asking);
	const struct reason none = { .code = REASON_NONE };

	daemon->listing = false;
	if (!question)
		return;
	question->listed = true;
	if (error)
		refuse(question, &none, "kubelet does not say who holds what",
		       "the kubelet offered devices that are held, and its pod-resources socket "
		       "does "
		       "not answer; try again");
	else
		decide(daemon, question, holdings);
	allocate_go_on(daemon);
}

static void write_changes(struct daemon *daemon)
{
	struct error error = ERROR_INIT;

	if (!daemon->ledger.dirty)
		return;
	if (daemon->waits[STEP_LEDGER][0] &&
	    loop_now_ms(daemon->loop) - daemon->ledger_failed_ms < LATER_MS)
		return; /* the sweep tries again */
	if (write_start(daemon, NULL, NULL, &error) < 0)
		daemon_warning(daemon, "%s", error.message);
}

void allocate_go_on(struct daemon *daemon)
{
	while (!daemon->writing && !daemon->asking && daemon->first && runtime_known(daemon)) {
		struct question *question = daemon->first;

		daemon->first = question->next;
		if (!daemon->first)
			daemon->last = &daemon->first;
		question->next = NULL;
		decide(daemon, question, NULL);
	}
	if (!daemon->writing && !daemon->asking && !daemon->first && !daemon->stopping)
		write_changes(daemon);
}

void allocate_answer(struct device_plugin_call *call, const struct string_list *ids, void *user)
{
	struct node_resource *resource = user;
	struct daemon *daemon = resource->daemon;
	struct question *question = calloc(1, sizeof(*question));
	int r = question ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < ids->count; i++)
		r = string_list_add(&question->ids, ids->items[i]);
	if (r < 0 || daemon->stopping) {
		device_plugin_refuse(call, r < 0 ? "gpupoold is short of memory; try again"
						 : "gpupoold is stopping; try again");
		if (question)
			question_free(question);
		return;
	}
	question->resource = resource;
	question->call = call;
	question->asked_ms = loop_now_ms(daemon->loop);
	*daemon->last = question;
	daemon->last = &question->next;
	allocate_go_on(daemon);
}

/* What has not begun is refused; what is on its way to the disk is answered by its end. */
void allocate_stop(struct daemon *daemon)
{
	while (daemon->first) {
		struct question *question = daemon->first;

		daemon->first = question->next;
		device_plugin_refuse(question->call, "gpupoold is stopping; try again");
		question_free(question);
	}
	daemon->last = &daemon->first;
	if (daemon->asking && !daemon->writing) { /* it waits for the kubelet's list of Pods */
		struct question *question = TAKE_PTR(daemon->asking);

		device_plugin_refuse(question->call, "gpupoold is stopping; try again");
		question_free(question);
	}
}
