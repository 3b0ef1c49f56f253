/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds what: our ledger, the kubelet's checkpoint, and the processes of Pods, together. */
#include "node/daemon.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "node/device_id.h"

#define CHECKPOINT_MS 50    /* the kubelet writes a file beside it and renames it */
#define SEEN_MS       1500  /* the same where every Pod has been seen to run */
#define SWEEP_MS      500   /* so long a Pod may live unseen */
#define UNSEEN_MS     2000  /* a Pod whose processes nobody saw by then may have ended already */
#define NEW_MS        10000 /* a Pod that was not seen by then is looked for as the others */
#define LIST_MS       3000  /* between two questions about Pods that may have ended */
#define LIST_BLIND_MS 10000 /* the same where processes cannot be seen */
#define QUIET_MS      1000  /* between an Allocate and List: kubernetes#137534 */

static enum pod_sign sign_of(const char *pod_uid, void *user)
{
	struct daemon *daemon = user;
	struct error error = ERROR_INIT;

	if (pod_signs_take(&daemon->pods, NULL, &error) < 0)
		return POD_UNKNOWN;
	return pod_signs_of(&daemon->pods, pod_uid);
}

static int checkpoint_path(const struct daemon *daemon, struct strbuf *path)
{
	const char *socket = daemon->config.kubelet_socket;
	const char *slash = strrchr(socket, '/');

	if (!slash)
		return -ENOENT;
	strbuf_add(path, socket, (size_t)(slash + 1 - socket));
	strbuf_adds(path, KUBELET_CHECKPOINT_NAME);
	return strbuf_failed(path);
}

static void read_checkpoint(struct daemon *daemon, struct ledger_evidence *ret)
{
	autostrbuf path = STRBUF_INIT(PATH_MAX);
	struct kubelet_checkpoint checkpoint = { .entry_count = 0 };
	struct error error = ERROR_INIT;
	int r = checkpoint_path(daemon, &path);

	if (r == 0)
		r = kubelet_checkpoint_read(path.data, &checkpoint, &error);
	if (r == 0) {
		kubelet_checkpoint_release(&daemon->checkpoint);
		daemon->checkpoint = checkpoint;
		daemon->has_checkpoint = daemon->had_checkpoint = true;
		ret->checkpoint = &daemon->checkpoint;
		return;
	}
	if ((r == -ENOENT || r == -EBADMSG) && (daemon->had_checkpoint || daemon->ledger.count))
		ret->checkpoint_lost = true;
	if (r != -ENOENT && daemon->has_checkpoint)
		daemon_warning(daemon, "%s", error.message);
	daemon->has_checkpoint = false;
}

struct ledger_evidence evidence_take(struct daemon *daemon)
{
	struct ledger_evidence evidence = { .pod = sign_of,
					    .user = daemon,
					    .now_ms = loop_now_ms(daemon->loop),
					    .now = time(NULL) };

	pod_signs_release(&daemon->pods); /* processes are looked for once a question, if at all */
	read_checkpoint(daemon, &evidence);
	return evidence;
}

int evidence_merge(struct daemon *daemon, const struct ledger_evidence *evidence)
{
	cleanup(reason_list_release) struct reason_list reasons = { .count = 0 };
	struct error error = ERROR_INIT;
	int r = ledger_merge(&daemon->ledger, evidence, &reasons, &error);

	if (r < 0)
		daemon_warning(daemon, "%s", error.message);
	for (size_t i = 0; i < reasons.count; i++) {
		autostrbuf text = STRBUF_INIT(2048);

		if (!reasons.items[i].node[0])
			reason_text(reasons.items[i].node, sizeof(reasons.items[i].node), "%s",
				    daemon->host);
		if (reason_sentence(&reasons.items[i], &text) == 0)
			daemon_warning(daemon, "%s", text.data);
	}
	return r;
}

static void look(struct daemon *daemon)
{
	struct ledger_evidence evidence = evidence_take(daemon);
	struct error error = ERROR_INIT;
	bool changed = evidence_merge(daemon, &evidence) == 1;

	for (size_t i = 0; daemon->has_checkpoint && i < daemon->resource_count; i++)
		if (daemon->resources[i]->plugin)
			(void)device_plugin_check_rival(daemon->resources[i]->plugin,
							&daemon->checkpoint);
	if (changed && lists_update(daemon, NULL, &error) < 0)
		daemon_warning(daemon, "%s", error.message);
	allocate_go_on(daemon); /* what changed in the ledger is written when nothing else is */
}

static void evidence_due(void *user)
{
	look(user);
}

static void kubelet_changed(void *user, enum watch_event event, const char *name)
{
	struct daemon *daemon = user;

	(void)event;
	if (!name || strcmp(name, KUBELET_CHECKPOINT_NAME) == 0)
		loop_timer_set(daemon->evidence_timer, CHECKPOINT_MS, 0);
}

/* ---- foreign use ---- */

static bool holds(const struct ledger_entry *entry, const struct card *card)
{
	for (size_t i = 0; i < entry->ids.count; i++)
		if (strncmp(entry->ids.items[i], card->uuid, strlen(card->uuid)) == 0)
			return true;
	return false;
}

/* A holder of whom the checkpoint has not told yet may be the one. */
static bool is_granted(const struct daemon *daemon, const struct card *card, const char *pod_uid)
{
	for (size_t i = 0; *pod_uid && i < daemon->ledger.count; i++) {
		const struct ledger_entry *entry = daemon->ledger.entries[i];

		if ((!entry->pod_uid || strcmp(entry->pod_uid, pod_uid) == 0) && holds(entry, card))
			return true;
	}
	return false;
}

/* Its Pod is freed once it has ended, and the next look at the card comes after that. */
static bool has_ended(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

void evidence_mark_processes(const struct daemon *daemon, struct inventory *inventory)
{
	for (size_t i = 0; i < inventory->card_count; i++) {
		struct card *card = &inventory->cards[i];

		for (size_t k = 0; daemon->knows_pids && k < card->process_count; k++) {
			struct card_process *process = &card->processes[k];

			process->granted = is_granted(daemon, card, process->pod_uid) ||
					   has_ended(process->pid);
		}
	}
}

/* ---- releases ---- */

bool evidence_may_list(const struct daemon *daemon)
{
	return allocate_is_idle(daemon) && !daemon->listing &&
	       loop_now_ms(daemon->loop) - daemon->answered_ms > QUIET_MS;
}

static void resend(struct daemon *daemon)
{
	for (size_t i = 0; i < daemon->resource_count; i++)
		if (daemon->resources[i]->plugin) {
			device_plugin_resend(daemon->resources[i]->plugin);
			return; /* one is enough: the checkpoint is of all resources */
		}
}

static void listed(struct kubelet_holdings *holdings, const struct error *error, void *user)
{
	struct daemon *daemon = user;

	daemon->listing = false;
	if (error || daemon->stopping)
		return; /* asked again with the next sweep */
	kubelet_holdings_release(&daemon->holdings);
	daemon->holdings = *holdings;
	*holdings = (struct kubelet_holdings){ .items = NULL };
	daemon->holdings_ms = loop_now_ms(daemon->loop);
	resend(daemon);
}

/* The kubelet writes the end of a Pod down only when it has another reason to: it is asked, then. */
static bool somebody_ended(struct daemon *daemon)
{
	uint64_t now = loop_now_ms(daemon->loop), age = now - daemon->asked_ms;

	for (size_t i = 0; age >= LIST_MS && i < daemon->ledger.count; i++) {
		const struct ledger_entry *entry = daemon->ledger.entries[i];
		enum pod_sign sign;

		if (!entry->pod_uid || entry->pending || now - entry->answered_ms < UNSEEN_MS)
			continue;
		sign = sign_of(entry->pod_uid, daemon);
		if (sign == POD_IDLE || (sign == POD_UNKNOWN && age >= LIST_BLIND_MS))
			return true;
	}
	return false;
}

/* An answer that the kubelet may never have had: its next checkpoint tells, so it writes one. */
static bool somebody_unknown(const struct daemon *daemon)
{
	uint64_t now = loop_now_ms(daemon->loop);

	for (size_t i = 0; now - daemon->resent_ms >= LIST_MS && i < daemon->ledger.count; i++) {
		const struct ledger_entry *entry = daemon->ledger.entries[i];

		if (!entry->pod_uid && !entry->pending && now - entry->answered_ms > QUIET_MS)
			return true;
	}
	return false;
}

static bool somebody_is_new(const struct daemon *daemon)
{
	uint64_t now = loop_now_ms(daemon->loop);

	for (size_t i = 0; i < daemon->ledger.count; i++)
		if (!daemon->ledger.entries[i]->ran &&
		    now - daemon->ledger.entries[i]->answered_ms < NEW_MS)
			return true;
	return false;
}

/* Only while somebody holds something, or somebody reads metrics. */
static void sweep(void *user)
{
	struct daemon *daemon = user;
	uint64_t now = loop_now_ms(daemon->loop);
	bool labels = daemon->scraped_ms && now - daemon->scraped_ms < 60000 &&
		      now - daemon->holdings_ms > 10000;
	struct error error = ERROR_INIT;

	if (now - daemon->rivals_ms >= SEEN_MS) {
		daemon->rivals_ms = now;
		lists_check_rivals(daemon);
	}
	if (!daemon->ledger.count) {
		kubelet_holdings_release(&daemon->holdings);
		allocate_go_on(daemon); /* the end of the last one may still have to be written */
		return;
	}
	if (now - daemon->swept_ms < SEEN_MS && !somebody_is_new(daemon))
		return;
	daemon->swept_ms = now;
	look(daemon);
	if (somebody_unknown(daemon)) {
		daemon->resent_ms = now;
		resend(daemon);
	}
	if (!evidence_may_list(daemon) || !(labels || somebody_ended(daemon)))
		return;
	daemon->asked_ms = now;
	if (pod_resources_list(daemon->pod_resources, listed, daemon, &error) == 0)
		daemon->listing = true;
}

/* ---- start and end ---- */

/* What stands there is not what ledger_write() wrote: other words, another kind of file, or too many bytes. */
static bool is_no_ledger(int r)
{
	return r == -EINVAL || r == -EISDIR || r == -EFBIG;
}

/* One that is there and cannot be read has holders that nobody else may know: it is not begun without them. */
static int read_ledger(struct daemon *daemon, struct error *error)
{
	autostrbuf path = STRBUF_INIT(PATH_MAX), aside = STRBUF_INIT(PATH_MAX);
	struct ledger_damage damage = { .records = 0 };
	struct error own = ERROR_INIT;

	strbuf_addf(&path, "%s/" NAME_LEDGER, daemon->config.state_directory);
	strbuf_addf(&aside, "%s/" NAME_LEDGER ".damaged", daemon->config.state_directory);
	if (strbuf_failed(&aside) < 0)
		return error_set(error, ENAMETOOLONG, "the state directory's path is too long");
	int r = ledger_read(&daemon->ledger, path.data, loop_now_ms(daemon->loop), &damage, &own);
	if (damage.text[0])
		daemon_warning(daemon, "%s", damage.text);
	if (r == 0)
		return 0;
	if (r == -ENOMEM)
		return error_no_memory(error);
	if (!is_no_ledger(r))
		return error_set(error, -r,
				 "%s. It says who holds which card: make it readable, or move it "
				 "away, and what the kubelet wrote down counts alone",
				 own.message);
	if (rename(path.data, aside.data) < 0)
		return error_set(error, errno,
				 "%s is no ledger, and it cannot be moved away: %s; move it, or "
				 "remove %s",
				 path.data, strerror(errno), aside.data);
	daemon_error(daemon, "%s; it is moved to %s, and what the kubelet wrote down counts alone",
		     own.message, aside.data);
	return 0;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/*
 * Other plugins serve names below nvidia.com/ as well (nvidia.com/hostdev of SR-IOV, the cards of virtual machines):
 * the devices tell whose it is, and where there are none, names that nobody else has.
 */
static bool was_ours(const struct kubelet_checkpoint_devices *registered)
{
	const char *name = registered->resource;
	struct device_id id;

	if (begins(name, "gpupool.io/"))
		return true;
	if (!begins(name, "nvidia.com/"))
		return false;
	for (size_t i = 0; i < registered->ids.count; i++)
		if (!device_id_read(registered->ids.items[i], &id))
			return false;
	return registered->ids.count || strcmp(name, PLUGIN_RESOURCE_GPU) == 0 ||
	       strcmp(name, PLUGIN_RESOURCE_GPU ".shared") == 0 ||
	       begins(name, PLUGIN_RESOURCE_MIG);
}

/* The kubelet knows resources of ours from before: they get a list, too, and be it an empty one. */
static int take_known(struct daemon *daemon, struct error *error)
{
	for (size_t i = 0; daemon->has_checkpoint && i < daemon->checkpoint.registered_count; i++) {
		const char *name = daemon->checkpoint.registered[i].resource;

		if (!was_ours(&daemon->checkpoint.registered[i]))
			continue;
		if (string_list_add(&daemon->known_resources, name) < 0)
			return error_no_memory(error);
	}
	return 0;
}

static int watch_kubelet(struct daemon *daemon, struct error *error)
{
	autofree char *directory = strdup(daemon->config.kubelet_socket);
	char *slash = directory ? strrchr(directory, '/') : NULL;

	if (!directory)
		return error_no_memory(error);
	if (!slash || slash == directory)
		return 0;
	*slash = '\0';
	return watch_start(daemon->loop, directory, kubelet_changed, daemon, &daemon->watch_kubelet,
			   error);
}

int evidence_start(struct daemon *daemon, struct error *error)
{
	int r;

	daemon->knows_pids = pods_know_pids(NULL);
	ledger_init(&daemon->ledger);
	r = read_ledger(daemon, error);
	if (r < 0)
		return r;
	struct ledger_evidence evidence = evidence_take(daemon);
	(void)evidence_merge(daemon, &evidence);
	r = take_known(daemon, error);
	if (r == 0)
		r = loop_timer_start(daemon->loop, LOOP_NEVER, 0, evidence_due, daemon,
				     &daemon->evidence_timer, error);
	if (r == 0)
		r = loop_timer_start(daemon->loop, SWEEP_MS, SWEEP_MS, sweep, daemon,
				     &daemon->sweep_timer, error);
	if (r == 0)
		r = pod_resources_new(daemon->loop, daemon->config.pod_resources_socket,
				      &daemon->pod_resources, error);
	return r < 0 ? r : watch_kubelet(daemon, error);
}

void evidence_stop(struct daemon *daemon)
{
	watch_stop(daemon->watch_kubelet);
	loop_timer_stop(daemon->evidence_timer);
	loop_timer_stop(daemon->sweep_timer);
	if (daemon->pod_resources)
		pod_resources_free(daemon->pod_resources);
	pod_signs_release(&daemon->pods);
	kubelet_checkpoint_release(&daemon->checkpoint);
	kubelet_holdings_release(&daemon->holdings);
	ledger_release(&daemon->ledger);
	string_list_release(&daemon->known_resources);
}
