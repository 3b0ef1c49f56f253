/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the running daemon; private to src/node. Everything here is of the loop's thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "device/device.h"
#include "kubelet/kubelet.h"
#include "model/model.h"
#include "node/health.h"
#include "node/ledger.h"
#include "node/node.h"
#include "node/pace.h"
#include "node/plugin.h"
#include "node/pods.h"
#include "node/survey.h"
#include "wire/wire.h"

struct daemon;

struct refusal_count {
	char *class; /* owned */
	uint64_t count;
};

struct node_resource { /* one name that the kubelet knows, with its socket */
	struct daemon *daemon;
	char *name;                   /* owned */
	struct device_plugin *plugin; /* NULL while nothing is served */
	bool known;                   /* the kubelet was reached at all */
	uint64_t listed_ms;      /* when the list was sent last; 0: never, or the stream ended */
	uint64_t rests_until_ms; /* not served before: the kubelet has to see the old stream end */
	bool rivalled;     /* another plugin took it, and the kubelet was not told of ours since */
	char trouble[256]; /* the last sentence that was no good news; "" */
	uint64_t ends, rivals, granted, answer_ms;
	struct refusal_count *refusals; /* owned */
	size_t refusal_count, refusal_capacity;
};

struct question { /* an Allocate that waits for its turn or for the disk */
	struct question *next;
	struct node_resource *resource;
	struct device_plugin_call *call;
	struct string_list ids;
	uint64_t asked_ms;
	bool listed; /* pod-resources was asked for it */
};

enum step { /* what is waited for before a Pod can have a card; in this order */
	    STEP_DRIVER,
	    STEP_RUNTIME,
	    STEP_SPECS,
	    STEP_KUBELET,
	    STEP_LEDGER,
	    STEP_MAX,
};
const char *step_to_string(enum step step);

struct daemon {
	const struct node_options *options;
	struct plugin_config config;
	struct log log;
	struct loop *loop;
	struct loop_signal *signals[3];
	int lock;
	int exit_code;
	bool stopping;
	struct loop_timer *stop_timer;
	char host[256];
	int64_t started;           /* Unix seconds */
	char waits[STEP_MAX][512]; /* why; "": the step is done */

	/* The machine: cards.c */
	struct inventory inventory; /* with health; what VIEW and the answers are made of */
	bool known;                 /* it is of this machine as it is or was a moment ago */
	struct driver_files *files;
	struct health health;
	struct device_stuck stuck;
	struct pace pace;
	struct survey *survey; /* that runs, or NULL */
	bool survey_again;
	uint64_t survey_began_ms, survey_ended_ms, survey_ms;
	uint64_t surveys, survey_failures[REASON_CODE_MAX];
	uint64_t specs_written, specs_failed;
	struct loop_timer *survey_timer, *silence_timer;
	struct watch *watch_dev, *watch_cdi;
	struct device_events *events;
	struct loop_poll *events_poll;
	struct loop_timer *events_timer;
	bool events_ready, events_wanted;
	uint64_t events_skip;     /* bits of cards that it was told not to touch */
	pid_t events_caught;      /* a child of before that could not be ended; 0 */
	uint64_t events_after_ms; /* not started before: the last start failed */
	struct device_kmsg *kmsg;
	struct loop_poll *kmsg_poll;
	char *published; /* text of inventory.json as it is on the disk; owned */
	struct publish *publishing;

	/* What is offered: lists.c */
	struct plugin_view view;
	bool has_view;
	struct node_resource **resources; /* owned, and each */
	size_t resource_count, resource_capacity;
	struct loop_timer *settle_timer;
	bool settling; /* it is set */
	struct string_list notes_said;
	struct string_list known_resources; /* of ours, that the kubelet knew at the start */

	/* Who holds what: evidence.c */
	struct ledger ledger;
	struct kubelet_checkpoint checkpoint;
	bool has_checkpoint, had_checkpoint;
	struct pod_signs pods;
	bool knows_pids; /* whose the processes on cards are can be told */
	struct watch *watch_kubelet;
	struct loop_timer *evidence_timer, *sweep_timer;
	struct pod_resources *pod_resources;
	bool listing;
	struct kubelet_holdings holdings; /* for the labels of metrics */
	uint64_t holdings_ms, asked_ms, resent_ms, swept_ms, rivals_ms;

	/* Allocate: questions.c */
	struct question *first, **last;
	struct question *asking; /* the one whose answer is on its way, or NULL */
	struct ledger_write *writing;
	uint64_t ledger_failed_ms; /* when a write did not succeed last */
	uint64_t answered_ms, ledger_failures;

	/* The container runtime: runtime.c */
	enum kubelet_cdi cdi;
	bool cdi_known, cdi_asking;
	struct loop_timer *runtime_timer;
	uint64_t runtime_began_ms;
	char runtime_socket[4096];

	/* Metrics: report.c */
	struct http_server *http;
	struct loop_timer *http_timer;
	bool http_said;
	uint64_t scraped_ms, configs_read, configs_refused;
	bool config_broken;
};

#define daemon_error(daemon, ...)   log_write(&(daemon)->log, LOG_LEVEL_ERROR, __VA_ARGS__)
#define daemon_warning(daemon, ...) log_write(&(daemon)->log, LOG_LEVEL_WARNING, __VA_ARGS__)
#define daemon_info(daemon, ...)    log_write(&(daemon)->log, LOG_LEVEL_INFO, __VA_ARGS__)

/* Says WHY when it is new, and that it is over (WHY NULL). */
void daemon_wait(struct daemon *daemon, enum step step, const char *why);

/* daemon.c: begins to end; the loop ends when no thread is at work any more, or a second later. */
void daemon_stop(struct daemon *daemon);
/*
 * Somebody removed or moved the state directory: it is made again, and the lock taken again. -EBUSY: another gpupoold
 * was faster, and the ledger is its.
 */
int daemon_keep_lock(struct daemon *daemon, struct error *error);
void daemon_stopped(struct daemon *daemon); /* one thread has ended its work */

/* cards.c */
int cards_start(struct daemon *daemon, struct error *error);
void cards_stop(struct daemon *daemon);
void cards_survey(struct daemon *daemon);  /* now, or once more after the one that runs */
void cards_hint(struct daemon *daemon);    /* a moment later: several hints are one */
void cards_publish(struct daemon *daemon); /* inventory.json, when it says something else */
const char *cards_root(const struct plugin_config *config);
void cards_configured(struct daemon *daemon);
/* The first cards, from what a run before this one left; nothing when that does not hold. */
void cards_recall(struct daemon *daemon);

/* events.c */
void events_start(struct daemon *daemon);
/* After a look: starts the child that listens, or anew when it listens to the wrong cards. */
void events_consider(struct daemon *daemon);
void events_stop(struct daemon *daemon); /* the child; the kernel's log is still read */
void events_end(struct daemon *daemon);

/* lists.c: builds the view anew from INVENTORY (taken over on success; NULL: as it is) and sends it. */
int lists_update(struct daemon *daemon, struct inventory *inventory, struct error *error);
void lists_stop(struct daemon *daemon);
/*
 * A kubelet (1.37 seen) that was told of two plugins for one resource asks the newer, and forgets the resource when
 * that one is gone, although the stream of the older lives: ours is begun anew once no other is there.
 */
void lists_check_rivals(struct daemon *daemon);
bool lists_ready(const struct daemon *daemon);

/* evidence.c */
int evidence_start(struct daemon *daemon, struct error *error);
void evidence_stop(struct daemon *daemon);
/* What checkpoint and cgroups say now. Lives until the next call. */
struct ledger_evidence evidence_take(struct daemon *daemon);
/* Ledger and evidence together; 1 when who holds what has changed. */
int evidence_merge(struct daemon *daemon, const struct ledger_evidence *evidence);
/* Marks the processes of INVENTORY whose Pods hold something of their card, and those that have ended since. */
void evidence_mark_processes(const struct daemon *daemon, struct inventory *inventory);
bool evidence_may_list(const struct daemon *daemon); /* no Allocate is near */

/* questions.c */
/* Callbacks of a device_plugin; USER is the struct node_resource. */
int allocate_preferred(const struct string_list *available, const struct string_list *must,
		       unsigned size, struct string_list *ret, struct error *error, void *user);
void allocate_answer(struct device_plugin_call *call, const struct string_list *ids, void *user);
void allocate_go_on(struct daemon *daemon);
void allocate_stop(struct daemon *daemon);
bool allocate_is_idle(const struct daemon *daemon);
struct plugin_scene allocate_scene(struct daemon *daemon, const struct ledger_evidence *evidence);

/* runtime.c: which of the ways to give a device the runtime knows */
void runtime_start(struct daemon *daemon);
void runtime_stop(struct daemon *daemon);
void runtime_ask(struct daemon *daemon);
void runtime_configured(struct daemon *daemon);
unsigned runtime_lists(const struct daemon *daemon); /* never DEVICE_LIST_AUTO */
bool runtime_injects(const struct daemon *daemon);   /* CDI devices */
bool runtime_known(const struct daemon *daemon);

/* report.c */
int report_start(struct daemon *daemon, struct error *error);
void report_stop(struct daemon *daemon);
int lists_start(struct daemon *daemon, struct error *error);
