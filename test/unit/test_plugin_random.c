/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random histories of a node: Pods come and go, lists change, cards fall ill, daemon and kubelet start
 * anew between any two steps of a grant, checkpoint and ledger get lost, the disk is full, and the
 * kubelet offers what it has given away. Whatever the order:
 *
 *   I1  no two Pods that live hold what excludes the other
 *   I2  what a Pod that lives was answered is held and listed; when all have ended nothing is
 *   I5  each refusal has a reason, and its numbers are right
 *
 * test/lib/naive_node.c has the kubelet and the truth. GPUPOOL_TEST_SCALE (100 is 100,000 histories) sets
 * how many, GPUPOOL_TEST_SEED which.
 */
#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

#define HISTORIES  100000u
#define STEPS      40u
#define CARDS_MOST 3u
#define SEED       11u

#define GPU   PLUGIN_RESOURCE_GPU
#define UNITS PLUGIN_RESOURCE_UNITS

/* ---- a grant ---- */

static bool has_reason_to(const struct history *run, const struct string_list *ids)
{
	for (size_t i = 0; i < ids->count; i++)
		if (history_ledger_is_near(run, ids->items[i]))
			return true;
	return false;
}

static int ask_plugin(struct history *run, const char *resource, const struct string_list *ids,
		      struct ledger_entry **ret, struct kubelet_answer *answer)
{
	struct plugin_scene scene = world_scene(&run->world, DEVICE_LIST_CDI_CRI);
	struct reason reason = { .code = REASON_NONE };
	struct kubelet_holdings listed;

	history_merge(run);
	int r = plugin_allocate(&scene, resource, ids, ret, answer, &reason, NULL);

	if (r == -EAGAIN) {
		run->tally.asked++;
		history_list_pods(run, &listed);
		run->world.evidence.listed = &listed;
		r = plugin_allocate(&scene, resource, ids, ret, answer, &reason, NULL);
		run->world.evidence.listed = NULL;
		kubelet_holdings_release(&listed);
	}
	if (r == 0)
		return 0;
	run->tally.refused[reason.code]++;
	if (reason.code == REASON_NONE)
		history_differ(run, "Allocate is refused without a reason");
	if (reason.code == REASON_OFFERED_HELD && !has_reason_to(run, ids))
		history_differ(run, "Allocate is refused as held, and nobody holds it");
	return r;
}

static void check_answer(struct history *run, const struct string_list *ids,
			 const struct kubelet_answer *answer)
{
	cleanup(kubelet_bytes_release) struct kubelet_bytes bytes = { .data = NULL };

	for (size_t i = 0; i < ids->count; i++)
		if (!history_fits_mode(run, ids->items[i]) ||
		    (naive_id(ids->items[0]).kind == 'u' &&
		     history_card_of(ids->items[i]) != history_card_of(ids->items[0])))
			history_differ(run, "%s is granted, and must not be", ids->items[i]);
	assert_int_equal(kubelet_pack_answer(answer, &bytes, NULL), 0);
	if (bytes.size == 0 || bytes.size >= 512)
		history_differ(run, "the answer has %zu bytes", bytes.size);
}

/* From the decision to the kubelet's file. false: the kubelet got no answer. */
static bool carry_out(struct history *run, struct naive_pod *pod, const char *resource,
		      const struct string_list *ids, bool init, struct ledger_entry *entry)
{
	run->open = 1;
	for (unsigned n = history_one_in(run, 8) ? 1 + history_below(run, 3) : 0; n > 0; n--) {
		run->tally.pending_ticks++;
		run->world.evidence.now_ms += history_below(run, 1500);
		history_write_checkpoint(run); /* another plugin's list came */
		history_tick(run);
	}
	if (history_one_in(run, 12)) {
		run->tally.full_disks++;
		run->open = 0;
		ledger_forget(&run->world.ledger, entry);
		return false;
	}
	if (history_one_in(run, 12)) {
		run->tally.cut_before++;
		history_restart(run);
		return false;
	}
	history_save(run);
	if (history_one_in(run, 12)) {
		run->tally.cut_after++;
		history_restart(run);
		return false;
	}
	run->open = 0;
	ledger_answered(&run->world.ledger, entry, run->world.evidence.now_ms);
	naive_hold_ids(pod, resource, ids, init);
	pod->state = NAIVE_ADMITTED;
	pod->known = pod->active = true;
	run->last_pod = (unsigned)(pod - run->node.pods);
	run->last_ms = run->world.evidence.now_ms;
	run->tally.granted++;
	run->tally.initial += init;
	if (history_one_in(run, 12))
		history_restart(run);
	for (unsigned n = history_one_in(run, 4) ? 1 + history_below(run, 3) : 0; n > 0; n--) {
		run->tally.slow++; /* another plugin lets the kubelet wait */
		run->world.evidence.now_ms += history_below(run, 1500);
		history_tick(run);
	}
	history_write_checkpoint(run);
	return true;
}

static bool allocate(struct history *run, struct naive_pod *pod, const char *resource,
		     const struct string_list *ids, bool init, bool honest)
{
	struct kubelet_answer answer = { .envs = NULL };
	struct ledger_entry *entry;
	char text[256];

	if (ask_plugin(run, resource, ids, &entry, &answer) < 0) {
		if (honest)
			history_differ(
				run,
				"Allocate refuses %zu of %s, %s the first, that the kubelet may "
				"give",
				ids->count, resource, ids->items[0]);
		return false;
	}
	check_answer(run, ids, &answer);
	kubelet_answer_release(&answer);
	bool done = carry_out(run, pod, resource, ids, init, entry);
	const char *wrong = naive_check_holds(&run->node, text, sizeof(text));

	if (wrong)
		history_differ(run, "two hold one: %s", wrong);
	return done;
}

/* ---- a container ---- */

static void reusable_of(const struct naive_pod *pod, struct string_list *ret)
{
	for (size_t i = 0; i < pod->hold_count; i++)
		for (size_t k = 0; k < pod->holds[i].ids.count; k++)
			assert_int_equal(string_list_add(ret, pod->holds[i].ids.items[k]), 0);
}

/*
 * The one thing that nobody can tell: a Pod that was admitted this very moment, and an init container of
 * which has more than its main ones. A kubelet that offers that to another Pod at once does what a
 * lawful one does for a further container of the same.
 */
static bool is_beyond_telling(const struct history *run, const char *id)
{
	const struct naive_pod *pod = &run->node.pods[run->last_pod];
	bool initial = false;

	if (pod->state != NAIVE_ADMITTED ||
	    run->world.evidence.now_ms - run->last_ms >= LEDGER_START_MS)
		return false;
	for (size_t i = 0; i < pod->hold_count; i++) {
		if (!history_is_in(&pod->holds[i].ids, id))
			continue;
		if (!pod->holds[i].init)
			return false;
		initial = true;
	}
	return initial;
}

static void offer(const struct history *run, const char *id, unsigned size, struct string_list *ret)
{
	if (ret->count < size && !history_is_in(ret, id) &&
	    !(naive_is_held(&run->node, id) && is_beyond_telling(run, id)))
		assert_int_equal(string_list_add(ret, id), 0);
}

/* Anything that is listed under the name: what some Pod has, what is sick, of several cards. */
static void grab(struct history *run, const char *resource, unsigned size, struct string_list *ret)
{
	const struct naive_pod *pod = &run->node.pods[history_below(run, run->node.count)];
	size_t hold = pod->hold_count ? history_below(run, (unsigned)pod->hold_count) : 0;

	if (pod->hold_count && strcmp(pod->holds[hold].resource, resource) == 0)
		for (size_t i = pod->holds[hold].ids.count; i > 0; i--)
			offer(run, pod->holds[hold].ids.items[i - 1], size, ret);
	for (unsigned tries = 0; tries < 8 * size && ret->count < size; tries++) {
		const struct naive_listed *listed =
			&run->node.listed[history_below(run, (unsigned)run->node.listed_count)];

		if (strcmp(listed->resource, resource) == 0)
			offer(run, listed->id, size, ret);
	}
}

static void drop_beyond_telling(const struct history *run, struct string_list *ids)
{
	size_t kept = 0;

	for (size_t i = 0; i < ids->count; i++)
		if (naive_is_held(&run->node, ids->items[i]) &&
		    is_beyond_telling(run, ids->items[i]))
			free(ids->items[i]);
		else
			ids->items[kept++] = ids->items[i];
	ids->count = kept;
}

static bool ask_preferred(struct history *run, unsigned number, const char *resource,
			  struct string_list *reusable, unsigned size, bool init)
{
	struct string_list available = { .items = NULL }, picked = { .items = NULL };
	bool blind = history_one_in(run, 6);
	struct history_question question = { .resource = resource,
					     .available = &available,
					     .must = reusable,
					     .size = size,
					     .pod = number,
					     .lawful = !blind };
	bool done = false;

	run->tally.blind += blind;
	naive_available(&run->node, resource,
			blind ? history_below(run, run->node.count) : NAIVE_PODS, &available);
	if (blind)
		drop_beyond_telling(run, &available);
	for (size_t i = 0; i < reusable->count; i++)
		if (!history_is_in(&available, reusable->items[i]))
			assert_int_equal(string_list_add(&available, reusable->items[i]), 0);
	/* The kubelet asks only when it has enough. */
	if (available.count >= size && history_prefer(run, &question, &picked) == 0)
		done = allocate(run, &run->node.pods[number], resource, &picked, init, !blind);
	string_list_release(&available);
	string_list_release(&picked);
	return done;
}

static bool ask_container(struct history *run, unsigned number, const char *resource, unsigned size,
			  bool init)
{
	struct naive_pod *pod = &run->node.pods[number];
	struct string_list reusable = { .items = NULL }, ids = { .items = NULL };
	bool done;

	reusable_of(pod, &reusable);
	if (reusable.count == 0 && history_one_in(run, 6)) {
		run->tally.hostile++;
		grab(run, resource, size, &ids);
		done = ids.count && allocate(run, pod, resource, &ids, init, false);
	} else if (reusable.count >= size) {
		run->tally.reused++;
		for (size_t i = 0; i < size; i++)
			assert_int_equal(string_list_add(&ids, reusable.items[i]), 0);
		done = allocate(run, pod, resource, &ids, init, true);
	} else {
		done = ask_preferred(run, number, resource, &reusable, size, init);
	}
	string_list_release(&reusable);
	string_list_release(&ids);
	return done;
}

/* The kubelet's admission: one Pod, container by container. */
static void admit(struct history *run)
{
	unsigned number = run->node.count;
	struct naive_pod *pod = &run->node.pods[number];
	char resource[64];

	if (number == NAIVE_PODS || run->node.listed_count == 0)
		return;
	snprintf(resource, sizeof(resource), "%s",
		 run->node.listed[history_below(run, (unsigned)run->node.listed_count)].resource);
	run->node.count++;
	naive_collect(&run->node);
	unsigned most = strcmp(resource, UNITS) == 0 ? 4 : 2;
	bool done = true;

	if (history_one_in(run, 4))
		done = ask_container(run, number, resource, 1 + history_below(run, most), true);
	if (done)
		done = ask_container(run, number, resource, 1 + history_below(run, most), false);
	if (!done) { /* rejected for good */
		pod->state = NAIVE_ENDED;
		pod->active = false;
	}
}

/* ---- what else happens ---- */

static struct naive_pod *some_pod(struct history *run, enum naive_state state)
{
	unsigned first = history_below(run, run->node.count ? run->node.count : 1);

	for (unsigned i = 0; i < run->node.count; i++) {
		struct naive_pod *pod = &run->node.pods[(first + i) % run->node.count];

		if (pod->state == state)
			return pod;
	}
	return NULL;
}

static void start_pod(struct history *run)
{
	struct naive_pod *pod = some_pod(run, NAIVE_ADMITTED);

	/* A sandbox takes longer than the daemon's look at the file that changed. */
	history_tick(run);
	if (pod)
		pod->state = NAIVE_RUNS;
	history_tick(run);
}

static void end_pod(struct history *run)
{
	struct naive_pod *pod = some_pod(run, history_one_in(run, 3) ? NAIVE_ADMITTED : NAIVE_RUNS);

	if (!pod)
		return;
	pod->state = NAIVE_ENDED;
	pod->active = false;
}

static void delete_pod(struct history *run)
{
	struct naive_pod *pod = some_pod(run, NAIVE_RUNS);

	if (!pod)
		return;
	run->tally.deleted++;
	pod->active = false;
}

static void restart_kubelet(struct history *run)
{
	run->tally.kubelets++;
	for (unsigned i = 0; i < run->node.count; i++) {
		struct naive_pod *pod = &run->node.pods[i];

		if (!run->file &&
		    pod->state == NAIVE_ADMITTED) { /* admitted anew, as another here */
			pod->state = NAIVE_ENDED;
			pod->active = false;
		}
		pod->known = pod->known && pod->active && run->file;
	}
	history_write_checkpoint(run); /* with the first list */
	history_tick(run);
}

static void lose_checkpoint(struct history *run)
{
	history_tick(run);
	run->tally.lost_checkpoints++;
	run->file = false;
	history_tick(run);
	if (history_one_in(run, 2))
		restart_kubelet(run);
}

static void lose_ledger(struct history *run)
{
	for (unsigned i = 0; i < run->node.count; i++)
		if (run->node.pods[i].state != NAIVE_NONE &&
		    run->node.pods[i].state != NAIVE_ENDED &&
		    !(run->node.pods[i].known && run->node.pods[i].active))
			return; /* nobody else knows of that one */
	if (!run->file)
		return;
	run->tally.lost_ledgers++;
	history_write_checkpoint(run);
	strbuf_reset(&run->disk);
	history_restart(run);
}

static void change_health(struct history *run)
{
	unsigned card = history_below(run, (unsigned)run->world.inventory.card_count);

	run->tally.sick++;
	world_sicken(&run->world, card, (enum card_health)history_below(run, CARD_HEALTH_MAX));
	history_tick(run);
}

/* MIG mode changes only when no program uses the card, as with the real driver. */
static void change_mode(struct history *run)
{
	static const enum card_mode modes[] = { CARD_MODE_WHOLE, CARD_MODE_SLICES,
						CARD_MODE_REPLICAS, CARD_MODE_MIG };
	unsigned card = history_below(run, (unsigned)run->world.inventory.card_count);
	struct card_choice *row = &run->world.config.cards[card];
	enum card_mode mode = modes[history_below(run, ARRAY_SIZE(modes))];
	char uuid[CARD_UUID_MAX];

	run->tally.modes++;
	row->excluded = history_one_in(run, 6);
	if (!naive_is_taken(&run->node, world_uuid(card, uuid), NAIVE_PODS)) {
		row->mode = mode;
		world_set_mig(&run->world, card, mode == CARD_MODE_MIG ? "1g.10gb 1g.10gb" : NULL);
	} else if (mode != CARD_MODE_MIG) {
		row->mode = mode;
	}
	history_tick(run);
}

static void pass_time(struct history *run)
{
	run->world.evidence.now_ms += history_below(run, history_one_in(run, 6) ? 90000 : 2500);
	history_tick(run);
}

/* How to add an event: a function and a row; its weight is how often it comes. */
static const struct {
	void (*happens)(struct history *run);
	unsigned weight;
} events[] = {
	{ admit, 30 },          { start_pod, 14 },    { end_pod, 12 },
	{ pass_time, 14 },      { delete_pod, 4 },    { history_restart, 3 },
	{ restart_kubelet, 3 }, { change_health, 5 }, { change_mode, 5 },
	{ lose_checkpoint, 2 }, { lose_ledger, 2 },   { history_write_checkpoint, 4 },
};

static void step(struct history *run)
{
	unsigned total = 0, at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		total += events[i].weight;
	unsigned drawn = history_below(run, total);

	while (drawn >= events[at].weight)
		drawn -= events[at++].weight;
	events[at].happens(run);
	run->tally.steps++;
}

/* All have ended: nothing is held any more, and every list comes to its end. */
static void drain(struct history *run)
{
	for (unsigned i = 0; i < run->node.count; i++) {
		run->node.pods[i].state = NAIVE_ENDED;
		run->node.pods[i].active = false;
	}
	for (unsigned i = 0; i < 4; i++) {
		naive_collect(&run->node);
		run->world.evidence.now_ms += 2000;
		history_write_checkpoint(run);
		history_tick(run);
	}
	if (run->world.ledger.count)
		history_differ(run, "all have ended, and %zu grants are held, %s the first",
			       run->world.ledger.count, run->world.ledger.entries[0]->ids.items[0]);
	if (run->world.view.leaving)
		history_differ(run, "%zu devices leave and never go", run->world.view.leaving);
}

static void history(struct history *run)
{
	unsigned cards;

	run->began = run->random;
	cards = 1 + history_below(run, CARDS_MOST);

	world_init(&run->world, cards, 2 + history_below(run, 4));
	run->node = (struct naive_node){ .count = 0 };
	run->disk = (struct strbuf)STRBUF_INIT(1u << 20);
	run->file = true;
	run->open = 0;
	run->world.config.mig_strategy = MIG_STRATEGY_MIXED;
	world_share(&run->world, GPU, GPU, 2, NULL);
	for (unsigned i = 0; i < cards; i++)
		world_set_mode(&run->world, i,
			       history_one_in(run, 2)   ? CARD_MODE_SLICES
			       : history_one_in(run, 2) ? CARD_MODE_REPLICAS
							: CARD_MODE_WHOLE,
			       false);
	history_save(run);
	history_tick(run);
	for (unsigned i = 0; i < STEPS && !run->differs[0]; i++)
		step(run);
	if (!run->differs[0])
		drain(run);
	naive_node_release(&run->node);
	strbuf_release(&run->disk);
	world_release(&run->world);
}

/* ---- */

static uint64_t number_from(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);
	uint64_t number;

	return text && parse_uint(text, 0, UINT64_MAX, &number) == 0 ? number : fallback;
}

static unsigned show_tally(const struct history_tally *tally)
{
	const struct {
		const char *name;
		uint64_t count;
	} counts[] = {
		{ "steps", tally->steps },
		{ "grants", tally->granted },
		{ "of init containers", tally->initial },
		{ "of what an init container had", tally->reused },
		{ "preferences", tally->preferred },
		{ "offers of anything", tally->hostile },
		{ "offers of what another has", tally->blind },
		{ "questions for List", tally->asked },
		{ "starts of the daemon", tally->restarts },
		{ "starts of the kubelet", tally->kubelets },
		{ "checkpoints lost", tally->lost_checkpoints },
		{ "ledgers lost", tally->lost_ledgers },
		{ "full disks", tally->full_disks },
		{ "cut before the ledger", tally->cut_before },
		{ "cut between ledger and answer", tally->cut_after },
		{ "changes of health", tally->sick },
		{ "changes of mode", tally->modes },
		{ "Pods deleted by force", tally->deleted },
		{ "lists while an Allocate is open", tally->pending_ticks },
		{ "waits for another plugin", tally->slow },
		{ "grants that only the checkpoint had", tally->adopted },
		{ "Pods that linger", tally->lingering },
		{ "lists that became shorter", tally->left },
		{ "refused: kubelet offered a held unit", tally->refused[REASON_OFFERED_HELD] },
		{ "refused: no grant", tally->refused[REASON_NO_GRANT] },
		{ "refused: not enough memory", tally->refused[REASON_MEMORY_BUSY] },
		{ "refused: not enough devices", tally->refused[REASON_DEVICES_BUSY] },
		{ "refused: suspect", tally->refused[REASON_CARD_SUSPECT] },
		{ "refused: lost", tally->refused[REASON_CARD_LOST] },
	};
	unsigned zero = 0;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		print_message("# %s: %" PRIu64 "\n", counts[i].name, counts[i].count);
		zero += counts[i].count == 0;
	}
	return zero;
}

TEST(no_history_gives_twice_or_forgets)
{
	uint64_t seed = number_from("GPUPOOL_TEST_SEED", SEED);
	uint64_t histories = HISTORIES * number_from("GPUPOOL_TEST_SCALE", 1) / 100;
	struct history *run = calloc(1, sizeof(*run));
	uint64_t done = 0;

	assert_non_null(run);
	run->random = seed ? seed : 1;
	for (; done < histories && !run->differs[0]; done++)
		history(run);
	print_message("# seed %" PRIu64 "\n# histories: %" PRIu64 "\n", seed, done);
	unsigned zero = show_tally(&run->tally);
	bool differs = run->differs[0];

	if (differs)
		print_message("# history %" PRIu64 ": %s\n# again: GPUPOOL_TEST_SEED=%" PRIu64 "\n",
			      done, run->differs, run->began);
	free(run);
	assert_false(differs);
	assert_int_equal(zero, 0);
}
