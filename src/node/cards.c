/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine has, kept true: looks at it in a thread each period and whenever something hints at
 * a change, and tells the rest of the daemon what came of it.
 */
#include "node/daemon.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define HINT_MS       50 /* nodes come several at a time */
#define LATER_MS      1000
#define PUBLISHED_MAX (8u << 20)
#define XID_CAUSE     "XID "

static const char *text_or_null(const char *text)
{
	return text && *text ? text : NULL;
}

static int copy_text(const char *text, char **ret)
{
	*ret = NULL;
	if (!text_or_null(text))
		return 0;
	*ret = strdup(text);
	return *ret ? 0 : -ENOMEM;
}

/* Where this process sees the driver: a container has the host's root mounted elsewhere. */
const char *cards_root(const struct plugin_config *config)
{
	struct stat status;

	if (config->container_driver_root[0] &&
	    strcmp(config->container_driver_root, config->driver_root) != 0 &&
	    stat(config->container_driver_root, &status) == 0 && S_ISDIR(status.st_mode))
		return config->container_driver_root;
	return config->driver_root;
}

/* "/driver-root" where a container sees "/run/nvidia/driver" as "/driver-root/run/nvidia/driver"; else nothing. */
static int host_seen(const struct plugin_config *config, char **ret)
{
	const char *seen = config->container_driver_root, *root = config->driver_root;
	size_t length = strlen(seen), end = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (end >= length || (end && strcmp(seen + length - end, root) != 0))
		return 0;
	*ret = strndup(seen, length - end);
	return *ret ? 0 : -ENOMEM;
}

/* Specs cost little and are there when somebody wants them; only where no way uses them are they left out. */
static unsigned wanted_specs(const struct plugin_config *config)
{
	const struct {
		enum survey_spec spec;
		bool wanted;
	} rows[] = { { SPEC_CARDS, true },
		     { SPEC_SLICES, true },
		     { SPEC_GDS, config->gds },
		     { SPEC_MOFED, config->mofed },
		     { SPEC_GDRCOPY, config->gdrcopy },
		     { SPEC_IMEX, config->imex_channels.count > 0 } };
	unsigned specs = 0;

	if (!(config->device_lists &
	      (DEVICE_LIST_AUTO | DEVICE_LIST_CDI_CRI | DEVICE_LIST_CDI_ANNOTATIONS)))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].wanted)
			specs |= 1u << rows[i].spec;
	return specs;
}

/* Of the cards that are known only what survey_complete() takes. */
static int copy_known(const struct inventory *from, struct inventory *to)
{
	for (size_t i = 0; i < from->card_count; i++) {
		struct card *card = VEC_ADD(&to->cards, &to->card_count, &to->card_capacity);

		if (!card || card_copy(&from->cards[i], card) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* SURVEY is empty, and again when memory is short. */
static int survey_prepare(const struct daemon *daemon, struct survey *survey)
{
	const struct plugin_config *config = &daemon->config;
	const char *root = cards_root(config);

	survey->wish.deadline_ms = (unsigned)config->probe_timeout_ms;
	if (daemon->events_ready)
		survey->wish.deadline_ms = pace_patience(&daemon->pace, survey->wish.deadline_ms);
	survey->wish.specs = wanted_specs(config);
	survey->wish.pods = daemon->knows_pids;
	survey->stuck = daemon->stuck;
	device_stuck_add(&survey->stuck, daemon->events_caught);
	if (copy_text(root, &survey->wish.probe_root) < 0 ||
	    copy_text(root == config->container_driver_root
			      ? (config->driver_root[0] ? config->driver_root : "/")
			      : NULL,
		      &survey->wish.host_root) < 0 ||
	    (root == config->container_driver_root && host_seen(config, &survey->wish.host) < 0) ||
	    copy_text(config->dev_root, &survey->wish.dev_root) < 0 ||
	    copy_text(config->nvml_helper, &survey->wish.helper) < 0 ||
	    copy_text(config->run_directory, &survey->wish.run_directory) < 0 ||
	    copy_text(config->cdi_directory, &survey->wish.cdi_directory) < 0 ||
	    copy_known(&daemon->inventory, &survey->wish.known) < 0) {
		survey_release(survey);
		return -ENOMEM;
	}
	return 0;
}

/* ---- inventory.json ---- */

struct publish {
	struct daemon *daemon;
	char *path, *text; /* owned */
	size_t length;
	int r;
	struct error error;
};

static void publish_run(void *user)
{
	struct publish *publish = user;

	publish->r = file_write_atomic(publish->path, publish->text, publish->length, 0644,
				       &publish->error);
}

static void publish_done(void *user)
{
	struct publish *publish = user;
	struct daemon *daemon = publish->daemon;

	if (publish->r < 0) {
		daemon_warning(daemon, "%s", publish->error.message);
		free(daemon->published); /* the next look tries again */
		daemon->published = NULL;
	}
	daemon->publishing = NULL;
	free(publish->path);
	free(publish->text);
	free(publish);
	daemon_stopped(daemon);
}

/* Without what changes all the time: a file that says the same is not written again. */
static int lasting_text(struct inventory inventory, struct strbuf *text, struct error *error)
{
	autofree struct card *cards = calloc(inventory.card_count + 1, sizeof(*cards));
	autojson *object = NULL;

	if (!cards)
		return error_no_memory(error);
	for (size_t i = 0; i < inventory.card_count; i++) {
		cards[i] = inventory.cards[i];
		cards[i].process_count = 0;
		cards[i].used_bytes = 0;
	}
	inventory.cards = cards;
	inventory.taken = 0;
	int r = inventory_to_json(&inventory, &object, error);
	return r < 0 ? r : json_to_text(object, false, text, error);
}

static int publish_text(const struct inventory *inventory, struct strbuf *text, struct error *error)
{
	autojson *object = NULL;
	int r = inventory_to_json(inventory, &object, error);

	if (r == 0)
		r = json_to_text(object, true, text, error);
	strbuf_addc(text, '\n');
	return r;
}

static int publish_start(struct daemon *daemon, const char *lasting, struct error *error)
{
	autostrbuf text = STRBUF_INIT(PUBLISHED_MAX), path = STRBUF_INIT(PATH_MAX);
	struct publish *publish = calloc(1, sizeof(*publish));
	int r = publish ? publish_text(&daemon->inventory, &text, error) : error_no_memory(error);

	if (r == 0) {
		strbuf_addf(&path, "%s/" NAME_INVENTORY, daemon->config.run_directory);
		publish->daemon = daemon;
		publish->length = text.length;
		publish->path = strbuf_detach(&path);
		publish->text = strbuf_detach(&text);
		free(daemon->published);
		daemon->published = strdup(lasting);
		r = publish->path && publish->text ? 0 : error_no_memory(error);
	}
	if (r == 0)
		r = loop_work_start(daemon->loop, publish_run, publish_done, publish, error);
	if (r == 0) {
		daemon->publishing = publish;
	} else if (publish) {
		free(publish->path);
		free(publish->text);
		free(publish);
	}
	return r;
}

void cards_publish(struct daemon *daemon)
{
	autostrbuf lasting = STRBUF_INIT(PUBLISHED_MAX);
	struct error error = ERROR_INIT;

	if (daemon->publishing)
		return; /* the next look compares again */
	int r = lasting_text(daemon->inventory, &lasting, &error);
	if (r == 0 && daemon->published && strcmp(daemon->published, lasting.data) == 0)
		return;
	if (r == 0)
		r = publish_start(daemon, lasting.data, &error);
	if (r < 0)
		daemon_warning(daemon, "inventory.json is not written: %s", error.message);
}

/* ---- what came of a look ---- */

static void say_health(struct daemon *daemon, const struct inventory *before,
		       const struct inventory *now)
{
	for (size_t i = 0; i < now->card_count; i++) {
		const struct card *card = &now->cards[i];
		const struct card *old = inventory_find(before, card->uuid);
		char name[CARD_DESCRIPTION_MAX];

		if (old && old->condition.health == card->condition.health)
			continue;
		card_describe(card, name);
		if (card->condition.health != CARD_HEALTHY)
			daemon_warning(daemon, "%s is %s: %s", name,
				       card_health_to_string(card->condition.health),
				       card->condition.cause);
		else
			daemon_info(daemon, old ? "%s is healthy again" : "%s is here", name);
	}
	for (size_t i = 0; i < before->card_count; i++) {
		char name[CARD_DESCRIPTION_MAX];

		if (inventory_find(now, before->cards[i].uuid))
			continue;
		card_describe(&before->cards[i], name);
		daemon_warning(daemon, "%s is gone", name);
	}
}

static void say_notes(struct daemon *daemon, const struct string_list *notes)
{
	for (size_t i = 0; i < notes->count; i++) {
		bool said = false;

		for (size_t k = 0; k < daemon->notes_said.count; k++)
			said |= strcmp(daemon->notes_said.items[k], notes->items[i]) == 0;
		if (!said && daemon->notes_said.count < 1024) {
			(void)string_list_add(&daemon->notes_said, notes->items[i]);
			daemon_info(daemon, "%s", notes->items[i]);
		}
	}
}

static void take_specs(struct daemon *daemon, const struct survey *survey)
{
	daemon->specs_written += survey->specs_written;
	if (survey->specs_written)
		daemon_info(daemon, "%u CDI spec%s in %s written", survey->specs_written,
			    survey->specs_written == 1 ? "" : "s", survey->wish.cdi_directory);
	if (survey->specs_problem[0])
		daemon->specs_failed++;
	/* Where the kubelet's answer has everything, nobody waits for them. */
	if (!runtime_injects(daemon) || survey->specs_whole)
		daemon_wait(daemon, STEP_SPECS, NULL);
	else if (survey->specs_problem[0])
		daemon_wait(daemon, STEP_SPECS, survey->specs_problem);
	say_notes(daemon, &survey->notes);
}

static void take_driver(struct daemon *daemon, const struct survey *survey)
{
	autostrbuf text = STRBUF_INIT(2048);

	if (!survey->inventory.problem[0]) {
		daemon_wait(daemon, STEP_DRIVER, NULL);
		return;
	}
	daemon->survey_failures[survey->reason.code]++;
	if (reason_sentence(&survey->reason, &text) < 0 || !text.length)
		daemon_wait(daemon, STEP_DRIVER, survey->inventory.problem);
	else
		daemon_wait(daemon, STEP_DRIVER, text.data);
}

/* Everything is made of the new look or, short of memory, stays as it was. */
static int take_survey(struct daemon *daemon, struct survey *survey, struct error *error)
{
	cleanup(inventory_release) struct inventory before;
	int r = health_probe(&daemon->health, &survey->inventory, time(NULL), error);

	inventory_init(&before);
	if (r >= 0)
		r = copy_known(&daemon->inventory, &before) < 0 ? error_no_memory(error) : 0;
	if (r < 0)
		return r;
	if (survey->files) {
		struct driver_files *old = daemon->files;

		daemon->files = TAKE_PTR(survey->files);
		driver_files_free(old);
	}
	take_specs(daemon, survey);
	take_driver(daemon, survey);
	daemon->known = true;
	r = lists_update(daemon, &survey->inventory, error);
	if (r < 0)
		return r;
	say_health(daemon, &before, &daemon->inventory);
	cards_publish(daemon);
	return 0;
}

/* The look itself failed: nothing is known of the driver any more. */
static void survey_failed(struct daemon *daemon, const struct error *error)
{
	uint64_t age = (loop_now_ms(daemon->loop) - daemon->survey_ended_ms) / 1000;
	struct error own = ERROR_INIT;

	daemon_wait(daemon, STEP_DRIVER, error->message);
	if (health_silent(&daemon->health, (unsigned)age, time(NULL)) > 0) {
		health_apply(&daemon->health, &daemon->inventory);
		if (lists_update(daemon, NULL, &own) < 0)
			daemon_warning(daemon, "%s", own.message);
	}
}

/* The peer ends where the driver is not there at the start, when it is told to. */
static bool must_give_up(struct daemon *daemon, const struct survey *survey)
{
	return daemon->config.fail_on_init_error && daemon->surveys == 1 &&
	       (survey->r < 0 || survey->inventory.problem[0]);
}

static void survey_work(void *user)
{
	survey_run(user);
}

struct survey_job {
	struct survey survey;
	struct daemon *daemon;
	bool in_use; /* the driver, by the child that listens to its events */
};

static void survey_done(void *user)
{
	struct survey_job *job = user;
	struct survey *survey = &job->survey;
	struct daemon *daemon = job->daemon;
	uint64_t now = loop_now_ms(daemon->loop);
	struct error error = ERROR_INIT;

	daemon->survey = NULL;
	daemon->stuck = survey->stuck;
	daemon->surveys++;
	daemon->survey_ms = now - daemon->survey_began_ms;
	if (job->in_use)
		pace_learn(&daemon->pace, (unsigned)daemon->survey_ms, survey->wish.deadline_ms);
	if (!daemon->stopping) {
		loop_timer_set(daemon->silence_timer, LOOP_NEVER, 0);
		bool gives_up = must_give_up(daemon, survey);

		if (survey->r < 0)
			survey_failed(daemon, &survey->error);
		else if (take_survey(daemon, survey, &error) < 0)
			daemon_warning(daemon, "%s", error.message);
		else
			daemon->survey_ended_ms = now;
		if (gives_up) {
			daemon->exit_code = 1;
			daemon_stop(daemon);
		}
	}
	if (!daemon->stopping) {
		events_consider(daemon);
		loop_timer_set(daemon->survey_timer,
			       daemon->survey_again
				       ? HINT_MS
				       : pace_pause((unsigned)daemon->survey_ms,
						    survey->wish.deadline_ms,
						    (unsigned)daemon->config.probe_period_ms),
			       0);
		daemon->survey_again = false;
	}
	survey_release(survey);
	free(job);
	daemon_stopped(daemon);
}

static void survey_silent(void *user)
{
	struct daemon *daemon = user;
	unsigned seconds = (unsigned)((loop_now_ms(daemon->loop) - daemon->survey_began_ms) / 1000);
	struct error error = ERROR_INIT;

	daemon_wait(daemon, STEP_DRIVER,
		    "a look at the driver has not ended yet; see the kernel "
		    "log, and reset the cards or reboot");
	if (health_silent(&daemon->health, seconds, time(NULL)) <= 0)
		return;
	health_apply(&daemon->health, &daemon->inventory);
	if (lists_update(daemon, NULL, &error) < 0)
		daemon_warning(daemon, "%s", error.message);
}

void cards_survey(struct daemon *daemon)
{
	struct error error = ERROR_INIT;

	if (daemon->survey) {
		daemon->survey_again = true;
		return;
	}
	struct survey_job *job = calloc(1, sizeof(*job));
	if (!job || survey_prepare(daemon, &job->survey) < 0) {
		free(job);
		loop_timer_set(daemon->survey_timer, LATER_MS, 0);
		return;
	}
	job->daemon = daemon;
	job->in_use = daemon->events_ready;
	health_ask(&daemon->health);
	if (loop_work_start(daemon->loop, survey_work, survey_done, job, &error) < 0) {
		daemon_warning(daemon, "%s", error.message);
		survey_release(&job->survey);
		free(job);
		loop_timer_set(daemon->survey_timer, LATER_MS, 0);
		return;
	}
	daemon->survey = &job->survey;
	daemon->survey_began_ms = loop_now_ms(daemon->loop);
	/* One card that hangs costs a deadline, and the others are asked after it. */
	loop_timer_set(daemon->silence_timer, 2 * job->survey.wish.deadline_ms + 2000, 5000);
}

static void survey_due(void *user)
{
	cards_survey(user);
}

void cards_hint(struct daemon *daemon)
{
	if (daemon->survey)
		daemon->survey_again = true;
	else
		loop_timer_set(daemon->survey_timer, HINT_MS, 0);
}

/* Nodes come and go with the driver. */
static void dev_changed(void *user, enum watch_event event, const char *name)
{
	if (event == WATCH_CHANGED || (name && strncmp(name, "nvidia", 6) != 0))
		return;
	cards_hint(user);
}

/* A spec that somebody removed or changed is written again. */
static void cdi_changed(void *user, enum watch_event event, const char *name)
{
	struct daemon *daemon = user;

	(void)event;
	if (name && !specs_is_ours(name))
		return;
	if (!daemon->survey) /* else these are our own */
		cards_hint(daemon);
}

static int watch_places(struct daemon *daemon, struct error *error)
{
	autostrbuf dev = STRBUF_INIT(PATH_MAX);
	const char *root = cards_root(&daemon->config);

	strbuf_addf(&dev, "%s/dev", strcmp(root, "/") == 0 ? "" : root);
	if (strbuf_failed(&dev) < 0)
		return error_set(error, ENAMETOOLONG, "the driver root's path is too long");
	int r = watch_start(daemon->loop, dev.data, dev_changed, daemon, &daemon->watch_dev, error);
	if (r == 0)
		r = watch_start(daemon->loop, daemon->config.cdi_directory, cdi_changed, daemon,
				&daemon->watch_cdi, error);
	return r;
}

void cards_configured(struct daemon *daemon)
{
	struct error error = ERROR_INIT;

	watch_stop(daemon->watch_dev);
	watch_stop(daemon->watch_cdi);
	daemon->watch_dev = daemon->watch_cdi = NULL;
	/* Without watches the period finds what changes. */
	if (watch_places(daemon, &error) < 0)
		daemon_warning(daemon, "changes are seen later: %s", error.message);
	events_stop(daemon);
	cards_hint(daemon);
}

/* A restart of the daemon is no reset of a card. */
static void recall_xids(struct daemon *daemon, struct inventory *inventory)
{
	for (size_t i = 0; i < inventory->card_count; i++) {
		struct card *card = &inventory->cards[i];
		char number[24];
		uint64_t xid;

		if (strncmp(card->condition.cause, XID_CAUSE, strlen(XID_CAUSE)) != 0)
			continue;
		(void)snprintf(number, sizeof(number), "%.20s",
			       card->condition.cause + strlen(XID_CAUSE));
		number[strcspn(number, ":")] = '\0';
		if (parse_uint(number, 0, UINT32_MAX, &xid) == 0)
			(void)health_xid(&daemon->health, card->uuid, "", xid, true,
					 card->condition.since);
	}
}

void cards_recall(struct daemon *daemon)
{
	cleanup(survey_release) struct survey survey = { .r = 0 };
	struct error error = ERROR_INIT;

	if (survey_prepare(daemon, &survey) < 0)
		return;
	if (survey_recall(&survey, &error) < 0 ||
	    health_probe(&daemon->health, &survey.inventory, time(NULL), &error) < 0) {
		daemon_info(daemon, "nothing is listed before the driver was asked: %s",
			    error.message);
		return;
	}
	recall_xids(daemon, &survey.inventory);
	health_apply(&daemon->health, &survey.inventory);
	take_specs(daemon, &survey);
	daemon->files = TAKE_PTR(survey.files);
	daemon->known = true;
	if (lists_update(daemon, &survey.inventory, &error) < 0)
		daemon_warning(daemon, "%s", error.message);
}

int cards_start(struct daemon *daemon, struct error *error)
{
	struct error own = ERROR_INIT;
	int r = loop_timer_start(daemon->loop, 0, 0, survey_due, daemon, &daemon->survey_timer,
				 error);

	if (r == 0)
		r = loop_timer_start(daemon->loop, LOOP_NEVER, 0, survey_silent, daemon,
				     &daemon->silence_timer, error);
	if (r == 0 && watch_places(daemon, &own) < 0)
		daemon_warning(daemon, "changes are seen later: %s", own.message);
	return r;
}

void cards_stop(struct daemon *daemon)
{
	watch_stop(daemon->watch_dev);
	watch_stop(daemon->watch_cdi);
	loop_timer_stop(daemon->survey_timer);
	loop_timer_stop(daemon->silence_timer);
	daemon->watch_dev = daemon->watch_cdi = NULL;
	daemon->survey_timer = daemon->silence_timer = NULL;
}
