/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: its file, and what it makes of the kubelet's checkpoint and of Pods. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node/ledger_private.h"
#include "node_world.h"

#define GPU   PLUGIN_RESOURCE_GPU
#define UNITS PLUGIN_RESOURCE_UNITS

static void text_of(const struct ledger *ledger, struct strbuf *out)
{
	strbuf_reset(out);
	assert_int_equal(ledger_to_text(ledger, out, NULL), 0);
}

/* "1:nvidia.com/gpu=0+pod-3; 2:..." */
static void print(const struct ledger *ledger, struct strbuf *out)
{
	strbuf_reset(out);
	for (size_t i = 0; i < ledger->count; i++) {
		const struct ledger_entry *entry = ledger->entries[i];

		strbuf_addf(out, "%s%u:", i ? "; " : "", (unsigned)entry->serial);
		world_print_ids(&entry->ids, out);
		if (entry->pod_uid)
			strbuf_addf(out, " %s/%s", entry->pod_uid, entry->container);
		strbuf_addf(out, "%s%s%s%s%s", entry->adopted ? " adopted" : "",
			    entry->orphan ? " orphan" : "", entry->lingering ? " lingering" : "",
			    entry->twice ? " twice" : "", entry->pending ? " pending" : "");
	}
}

/* Three grants, one with all there can be. */
static void fill(struct node_world *world)
{
	world_init(world, 4, 80);
	world_hold(world, GPU, "0 1");
	world_hold(world, UNITS, "2m0-11");
	world_claim(world, 4, "main", UNITS, "2m0-11");
	world_claim(world, 5, "sidecar", GPU, "3");
	assert_int_equal(ledger_merge(&world->ledger, &world->evidence, NULL, NULL), 1);
}

TEST(a_text_is_read_back)
{
	autostrbuf first = STRBUF_INIT(65536), second = STRBUF_INIT(65536),
		   seen = STRBUF_INIT(4096);
	struct ledger_damage damage;
	struct node_world world;
	struct ledger copy;

	fill(&world);
	ledger_init(&copy);
	text_of(&world.ledger, &first);
	assert_int_equal(ledger_from_text(&copy, first.data, first.length, "x", 7, &damage, NULL),
			 0);
	assert_int_equal(damage.records, 0);
	assert_false(copy.dirty);
	text_of(&copy, &second);
	assert_string_equal(first.data, second.data);
	print(&copy, &seen);
	assert_string_equal(seen.data, "1:0 1; 2:2m0-11 pod-4/main; 3:3 pod-5/sidecar adopted");
	assert_int_equal(copy.next_serial, 4);
	assert_true(copy.entries[0]->earlier);
	assert_int_equal(copy.entries[1]->granted, 1800000000);
	ledger_release(&copy);
	world_release(&world);
}

static const struct {
	const char *name, *cut_from; /* from there on the file is gone */
	const char *old, *new;
	int r;
	bool torn;
	unsigned records;
	const char *left, *says;
} damages[] = {
	{ "nothing", NULL, NULL, NULL, 0, false, 0, "1:0; 2:1; 3:2", NULL },
	{ "torn in the last record", "\"ids\":[\"GPU-00000000-0000-0000-0000-000000000002", NULL,
	  NULL, 0, true, 1, "1:0; 2:1", "x:4: the file ends in the middle of a record" },
	{ "the last record is gone", "\n1d", NULL, NULL, 0, true, 1, "1:0; 2:1", NULL },
	{ "a damaged record in the middle", NULL, "000000000001\"", "000000000003\"", 0, false, 1,
	  "1:0; 3:2", "x:3: a record whose checksum is wrong" },
	{ "a damaged head", NULL, "\"next\":4", "\"next\":9", 0, false, 1, "1:0; 2:1; 3:2",
	  "x:1: " },
	{ "no ledger", "7", NULL, NULL, 0, true, 1, "", "empty" },
};

/* The text of three grants; the same each time. */
static void three(struct strbuf *out)
{
	struct node_world world;

	world_init(&world, 4, 80);
	world_hold(&world, GPU, "0");
	world_hold(&world, GPU, "1");
	world_hold(&world, GPU, "2");
	text_of(&world.ledger, out);
	world_release(&world);
}

TEST(damage_takes_one_record_and_is_said)
{
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		autostrbuf text = STRBUF_INIT(65536), seen = STRBUF_INIT(4096);
		struct error error = ERROR_INIT;
		struct ledger_damage damage;
		struct ledger ledger;

		three(&text);
		if (damages[i].cut_from) {
			char *at = strcmp(damages[i].cut_from, "\n1d") == 0
					   ? strrchr(text.data, '\n')
					   : strstr(text.data, damages[i].cut_from);
			if (strcmp(damages[i].cut_from, "\n1d") == 0) {
				*at = '\0';
				at = strrchr(text.data, '\n') + 1;
			} else if (strcmp(damages[i].cut_from, "7") == 0) {
				at = text.data;
			}
			assert_non_null(at);
			*at = '\0';
		}
		if (damages[i].old) {
			char *at = strstr(text.data, damages[i].old);

			assert_non_null(at);
			memcpy(at, damages[i].new, strlen(damages[i].new));
		}
		ledger_init(&ledger);
		int r = ledger_from_text(&ledger, text.data, strlen(text.data), "x", 0, &damage,
					 &error);
		if (r != damages[i].r || damage.torn != damages[i].torn ||
		    damage.records != damages[i].records)
			fail_msg("%s: r %d torn %d records %u: %s%s", damages[i].name, r,
				 damage.torn, damage.records, damage.text, error.message);
		print(&ledger, &seen);
		if (strcmp(seen.data, damages[i].left) != 0)
			fail_msg("%s: %s", damages[i].name, seen.data);
		if (damages[i].says && !strstr(damage.text, damages[i].says))
			fail_msg("%s: %s", damages[i].name, damage.text);
		assert_int_equal(ledger.dirty, damage.records > 0);
		ledger_release(&ledger);
	}
}

static const struct {
	const char *text, *says;
} strangers[] = {
	{ "hello\n", "'x' is no ledger" },
	{ "{\"ledger\":1}", "'x' is no ledger" },
	/* Right checksums, made by hand with Python's zlib.crc32(). */
	{ "0c4a5af9 {\"ledger\":2}\n", "version 2, and this program reads version 1" },
};

TEST(what_is_no_ledger_is_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(strangers); i++) {
		struct error error = ERROR_INIT;
		struct ledger_damage damage;
		struct ledger ledger;

		ledger_init(&ledger);
		assert_int_equal(ledger_from_text(&ledger, strangers[i].text,
						  strlen(strangers[i].text), "x", 0, &damage,
						  &error),
				 -EINVAL);
		if (!strstr(error.message, strangers[i].says))
			fail_msg("%s", error.message);
		assert_int_equal(ledger.count, 0);
		ledger_release(&ledger);
	}
}

TEST(a_grant_is_checked)
{
	struct string_list twice = { .items = NULL }, none = { .items = NULL };
	struct error error = ERROR_INIT;
	struct ledger_entry *entry;
	struct ledger ledger;

	ledger_init(&ledger);
	world_ids("0 1 0", &twice);
	assert_int_equal(ledger_add(&ledger, GPU, &twice, 0, &entry, &error), -EINVAL);
	assert_non_null(strstr(error.message, "twice"));
	assert_int_equal(ledger_add(&ledger, GPU, &none, 0, &entry, &error), -EINVAL);
	assert_int_equal(ledger.count, 0);
	string_list_release(&twice);
	ledger_release(&ledger);
}

/* ---- with the checkpoint ---- */

struct moment {
	void (*change)(struct node_world *world);
	uint64_t later_ms;
	const char *ledger;  /* NULL: the end */
	const char *reasons; /* codes that are told, comma separated; NULL: none */
};

static void nothing(struct node_world *world)
{
	(void)world;
}

static void grant(struct node_world *world)
{
	world_hold(world, UNITS, "0m0-2");
}

static void written(struct node_world *world)
{
	world_claim(world, 1, "main", UNITS, "0m0-2");
}

static void gone(struct node_world *world)
{
	world_unclaim(world, 1);
}

static void gone_and_idle(struct node_world *world)
{
	world->signs[1] = POD_IDLE;
	world_unclaim(world, 1);
}

static void idle(struct node_world *world)
{
	world->signs[1] = POD_IDLE;
}

static void gone_unseen(struct node_world *world)
{
	world->signs[1] = POD_UNKNOWN;
	world_unclaim(world, 1);
}

static void unreadable(struct node_world *world)
{
	world->evidence.checkpoint = NULL;
}

static void lost(struct node_world *world)
{
	world->evidence.checkpoint = NULL;
	world->evidence.checkpoint_lost = true;
}

/* The kubelet started with nothing and wrote a new one. */
static void new_and_empty(struct node_world *world)
{
	world->evidence.checkpoint = &world->checkpoint;
	world->evidence.checkpoint_lost = false;
	world_unclaim(world, 1);
}

static void new_and_empty_unseen(struct node_world *world)
{
	new_and_empty(world);
	world->signs[1] = POD_UNKNOWN;
}

static void also_pod_2(struct node_world *world)
{
	world_claim(world, 2, "main", UNITS, "0m2-5");
}

static void pod_2_goes(struct node_world *world)
{
	world->signs[2] = POD_IDLE;
	world_unclaim(world, 2);
}

static void init_and_main(struct node_world *world)
{
	world_claim(world, 1, "init", UNITS, "0m0-2");
	world_claim(world, 1, "main", UNITS, "0m0-4");
}

static void grant_main(struct node_world *world)
{
	world_hold(world, UNITS, "0m0-4");
}

static void foreign_vendor(struct node_world *world)
{
	world_claim(world, 3, "main", "example.com/nic", "0000:04:00.1");
}

/* The Pod that held it before is still in the file that was there when it was granted. */
static void stale_then_grant(struct node_world *world)
{
	world_claim(world, 2, "main", UNITS, "0m0-2");
	grant(world);
	world->signs[2] = POD_IDLE;
}

static void stale_goes(struct node_world *world)
{
	world_unclaim(world, 2);
	written(world);
}

static const struct {
	const char *name;
	struct moment moments[7];
} stories[] = {
	{ "granted, written down, released",
	  { { grant, 0, "1:0m0-2", NULL },
	    { written, 100, "1:0m0-2 pod-1/main", NULL },
	    { nothing, 99999, "1:0m0-2 pod-1/main", NULL },
	    { gone_and_idle, 100, "", NULL } } },
	{ "force-deleted: its processes keep it",
	  { { grant, 0, "1:0m0-2", NULL },
	    { written, 100, "1:0m0-2 pod-1/main", NULL },
	    { gone, 100, "1:0m0-2 pod-1/main lingering", "lingering" },
	    { nothing, 100, "1:0m0-2 pod-1/main lingering", NULL },
	    { idle, 100, "", NULL } } },
	{ "released where cgroups cannot be seen",
	  { { grant, 0, "1:0m0-2", NULL },
	    { written, 100, "1:0m0-2 pod-1/main", NULL },
	    { gone_unseen, 100, "", NULL } } },
	{ "never written down: not within a second, and only when the file is new",
	  { { grant, 0, "1:0m0-2", NULL },
	    { world_touch, 999, "1:0m0-2", NULL },
	    { nothing, 5000, "1:0m0-2", NULL },
	    { nothing, 5000, "1:0m0-2", NULL },
	    { world_touch, 1, "", NULL } } },
	{ "no checkpoint: nothing is freed",
	  { { grant, 0, "1:0m0-2", NULL },
	    { unreadable, 5000, "1:0m0-2", NULL },
	    { idle, 99999, "1:0m0-2", NULL } } },
	{ "the checkpoint is lost: the running Pod keeps it",
	  { { grant, 0, "1:0m0-2", NULL },
	    { written, 100, "1:0m0-2 pod-1/main", NULL },
	    { lost, 100, "1:0m0-2 pod-1/main orphan", NULL },
	    { new_and_empty, 100, "1:0m0-2 pod-1/main orphan lingering", "lingering" },
	    { idle, 100, "", NULL } } },
	{ "the checkpoint is lost, and cgroups cannot be seen",
	  { { grant, 0, "1:0m0-2", NULL },
	    { written, 100, "1:0m0-2 pod-1/main", NULL },
	    { lost, 100, "1:0m0-2 pod-1/main orphan", NULL },
	    { new_and_empty_unseen, 100, "1:0m0-2 pod-1/main orphan", NULL },
	    { world_touch, 99999, "1:0m0-2 pod-1/main orphan", NULL } } },
	{ "only the checkpoint has it",
	  { { written, 0, "1:0m0-2 pod-1/main adopted", "ledger_differs" },
	    { nothing, 100, "1:0m0-2 pod-1/main adopted", NULL },
	    { gone_and_idle, 100, "", NULL } } },
	{ "what other vendors have is not ours", { { foreign_vendor, 0, "", NULL } } },
	{ "two Pods by the checkpoint",
	  { { grant, 0, "1:0m0-2", NULL },
	    { written, 100, "1:0m0-2 pod-1/main", NULL },
	    { also_pod_2, 100, "1:0m0-2 pod-1/main twice; 2:0m2-5 pod-2/main adopted twice",
	      "ledger_differs,held_twice,held_twice" },
	    { nothing, 100, "1:0m0-2 pod-1/main twice; 2:0m2-5 pod-2/main adopted twice", NULL },
	    { pod_2_goes, 100, "1:0m0-2 pod-1/main", NULL } } },
	{ "an init container's are kept for the Pod's life",
	  { { grant, 0, "1:0m0-2", NULL },
	    { grant_main, 10, "1:0m0-2; 2:0m0-4", NULL },
	    { init_and_main, 100, "1:0m0-2 pod-1/init; 2:0m0-4 pod-1/main", NULL },
	    { gone_and_idle, 100, "", NULL } } },
	{ "the last holder is still in the file: it is not taken for the new one",
	  { { stale_then_grant, 0, "1:0m0-2", NULL },
	    { nothing, 100, "1:0m0-2", NULL },
	    { stale_goes, 100, "1:0m0-2 pod-1/main", NULL } } },
};

static void check_reasons(const char *name, size_t at, const struct reason_list *reasons,
			  const char *expected)
{
	autostrbuf codes = STRBUF_INIT(4096), sentence = STRBUF_INIT(4096);

	for (size_t i = 0; i < reasons->count; i++) {
		strbuf_addf(&codes, "%s%s", i ? "," : "", reason_name(reasons->items[i].code));
		strbuf_reset(&sentence);
		assert_int_equal(reason_sentence(&reasons->items[i], &sentence), 0);
	}
	if (strcmp(codes.data, expected ? expected : "") != 0)
		fail_msg("%s, moment %zu: reasons %s", name, at, codes.data);
}

TEST(stories_of_ledger_and_checkpoint)
{
	for (size_t i = 0; i < ARRAY_SIZE(stories); i++) {
		struct node_world world;

		world_init(&world, 2, 80);
		for (size_t k = 0;
		     k < ARRAY_SIZE(stories[i].moments) && stories[i].moments[k].ledger; k++) {
			autostrbuf seen = STRBUF_INIT(4096), before = STRBUF_INIT(4096);
			const struct moment *moment = &stories[i].moments[k];

			moment->change(&world);
			world.evidence.now_ms += moment->later_ms;
			print(&world.ledger, &before);
			int r = ledger_merge(&world.ledger, &world.evidence, &world.reasons, NULL);
			assert_true(r == 0 || r == 1);
			print(&world.ledger, &seen);
			if (strcmp(seen.data, moment->ledger) != 0)
				fail_msg("%s, moment %zu:\n  is   %s\n  want %s", stories[i].name,
					 k, seen.data, moment->ledger);
			check_reasons(stories[i].name, k, &world.reasons, moment->reasons);
			reason_list_release(&world.reasons);
		}
		world_release(&world);
	}
}

/* ---- the kubelet offers something again ---- */

static void listed_main(struct node_world *world)
{
	static struct kubelet_holding holding;
	static struct kubelet_holdings holdings = { .items = &holding, .count = 1 };

	string_list_release(&holding.ids);
	world_ids("0m0-2", &holding.ids);
	world->evidence.listed = &holdings;
}

static void listed_nobody(struct node_world *world)
{
	static const struct kubelet_holdings holdings = { .items = NULL };

	world->evidence.listed = &holdings;
}

static const struct {
	const char *name;
	enum pod_sign first, now; /* of the holder, when it was merged and when it is asked */
	bool claimed, another, earlier, pending;
	uint64_t age_ms;
	void (*list)(struct node_world *world);
	enum holder_sign sign;
} questions[] = {
	{ "it runs", POD_RUNS, POD_RUNS, true, false, false, false, 99999, NULL, HOLDER_HAS },
	{ "it runs, and the kubelet has freed it", POD_RUNS, POD_RUNS, false, false, false, false,
	  99999, NULL, HOLDER_HAS },
	{ "on its way", POD_IDLE, POD_IDLE, false, false, false, true, 0, NULL, HOLDER_HAS },
	{ "it ran, and the file is old", POD_RUNS, POD_IDLE, true, false, false, false, 500, NULL,
	  HOLDER_GONE },
	{ "never written down, young", POD_IDLE, POD_IDLE, false, false, false, false, 500, NULL,
	  HOLDER_HAS },
	{ "never written down", POD_IDLE, POD_IDLE, false, false, false, false, 1000, NULL,
	  HOLDER_GONE },
	{ "it starts: its own next container, or another Pod?", POD_IDLE, POD_IDLE, true, false,
	  false, false, 10, NULL, HOLDER_ASK },
	{ "it starts: its main container has it", POD_IDLE, POD_IDLE, true, false, false, false, 10,
	  listed_main, HOLDER_HAS },
	{ "it starts: only its init container has it", POD_IDLE, POD_IDLE, true, false, false,
	  false, 10, listed_nobody, HOLDER_SAME },
	{ "it starts, or has ended, and another Pod came since", POD_IDLE, POD_IDLE, true, true,
	  false, false, 10, NULL, HOLDER_ASK },
	{ "it starts, and another Pod came since: its main container has it", POD_IDLE, POD_IDLE,
	  true, true, false, false, 10, listed_main, HOLDER_HAS },
	{ "it has ended unseen, and another Pod came since", POD_IDLE, POD_IDLE, true, true, false,
	  false, 10, listed_nobody, HOLDER_GONE },
	{ "it never started: the List knows", POD_IDLE, POD_IDLE, true, true, false, false, 60000,
	  NULL, HOLDER_ASK },
	{ "it never started: it is listed", POD_IDLE, POD_IDLE, true, true, false, false, 60000,
	  listed_main, HOLDER_HAS },
	{ "it never started: it is not", POD_IDLE, POD_IDLE, true, true, false, false, 60000,
	  listed_nobody, HOLDER_GONE },
	{ "from before our start", POD_IDLE, POD_IDLE, true, false, true, false, 10, NULL,
	  HOLDER_ASK },
	{ "cgroups cannot be seen", POD_UNKNOWN, POD_UNKNOWN, true, true, false, false, 99999,
	  listed_nobody, HOLDER_HAS },
};

TEST(questions_about_a_holder)
{
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		struct node_world world;
		struct ledger_entry *entry;

		world_init(&world, 2, 80);
		entry = world_hold(&world, UNITS, "0m0-2");
		world.signs[1] = questions[i].first;
		if (!questions[i].pending) {
			world_claim(&world, 1, "main", UNITS, "0m0-2");
			ledger_merge(&world.ledger, &world.evidence, NULL, NULL);
		}
		entry->pending = questions[i].pending;
		entry->earlier = questions[i].earlier;
		if (questions[i].another)
			world_hold(&world, UNITS, "1m0");
		world.signs[1] = questions[i].now;
		world.evidence.now_ms += questions[i].age_ms;
		if (!questions[i].claimed)
			world_unclaim(&world, 1);
		if (questions[i].list)
			questions[i].list(&world);
		enum holder_sign sign = ledger_ask(&world.ledger, entry, NULL, &world.evidence);

		if (sign != questions[i].sign)
			fail_msg("%s: %d, not %d", questions[i].name, (int)sign,
				 (int)questions[i].sign);
		world_release(&world);
	}
}

TEST(serials_are_never_given_twice)
{
	autostrbuf text = STRBUF_INIT(65536);
	struct ledger_damage damage;
	struct node_world world;
	struct ledger copy;

	world_init(&world, 4, 80);
	world_hold(&world, GPU, "0");
	ledger_forget(&world.ledger, world_hold(&world, GPU, "1"));
	text_of(&world.ledger, &text);
	ledger_init(&copy);
	ledger_from_text(&copy, text.data, text.length, "x", 0, &damage, NULL);
	assert_int_equal(copy.next_serial, 3);
	ledger_release(&copy);
	world_release(&world);
}

TEST(every_allocation_may_fail)
{
	autostrbuf text = STRBUF_INIT(65536);
	struct node_world world;

	fill(&world);
	text_of(&world.ledger, &text);
	for (unsigned n = 0;; n++) {
		struct ledger_damage damage;
		struct ledger copy;

		ledger_init(&copy);
		fault_arm(n);
		int r = ledger_from_text(&copy, text.data, text.length, "x", 0, &damage, NULL);
		bool hit = fault_disarm();

		assert_true(r == 0 || (hit && r == -ENOMEM));
		/* Short of memory must never look like a damaged file. */
		assert_int_equal(damage.records, 0);
		assert_int_equal(copy.count, r == 0 ? 3 : 0);
		ledger_release(&copy);
		if (!hit)
			break;
	}
	for (unsigned n = 0;; n++) {
		autostrbuf out = STRBUF_INIT(65536);

		fault_arm(n);
		int r = ledger_to_text(&world.ledger, &out, NULL);
		bool hit = fault_disarm();

		assert_true(hit ? r == -ENOMEM || strcmp(out.data, text.data) == 0 : r == 0);
		if (!hit)
			break;
	}
	world_release(&world);
	for (unsigned n = 0;; n++) {
		struct node_world other;

		fill(&other);
		world_claim(&other, 6, "main", UNITS, "2m20-30");
		world_unclaim(&other, 5);
		other.signs[5] = POD_IDLE;
		fault_arm(n);
		int r = ledger_merge(&other.ledger, &other.evidence, &other.reasons, NULL);
		bool hit = fault_disarm();

		assert_true(r >= 0 || (hit && r == -ENOMEM));
		/* Again, and it is as if nothing had happened. */
		assert_true(ledger_merge(&other.ledger, &other.evidence, NULL, NULL) >= 0);
		assert_int_equal(other.ledger.count, 3);
		assert_non_null(
			ledger_find(&other.ledger, other.checkpoint.entries[1].ids.items[0], NULL));
		world_release(&other);
		if (!hit)
			break;
	}
}

/* ---- the disk ---- */

static const struct {
	enum fault_call call;
	int number;
	const char *says;
} full[] = {
	{ FAULT_WRITE, ENOSPC, "make room and try again" },
	{ FAULT_WRITE, EDQUOT, "make room and try again" },
	{ FAULT_FSYNC, EIO, "check the disk" },
	{ FAULT_RENAME, EROFS, "choose a place that can be written" },
};

TEST(a_full_disk_loses_nothing_but_the_grant)
{
	autostrbuf before = STRBUF_INIT(65536), after = STRBUF_INIT(65536),
		   text = STRBUF_INIT(65536);
	char folder[] = "/tmp/gpupool-test-XXXXXX", path[64];
	struct node_world world;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/" NAME_LEDGER, folder);
	world_init(&world, 4, 80);
	world_hold(&world, GPU, "0");
	text_of(&world.ledger, &before);
	assert_int_equal(ledger_write(path, before.data, before.length, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(full); i++) {
		struct error error = ERROR_INIT;
		struct ledger_entry *entry = world_hold(&world, GPU, "1");
		struct ledger_damage damage;
		struct ledger copy;

		text_of(&world.ledger, &text);
		fault_arm_call(full[i].call, 0, full[i].number);
		int r = ledger_write(path, text.data, text.length, &error);

		assert_true(fault_disarm());
		assert_int_equal(r, -full[i].number);
		assert_non_null(strstr(error.message, "the ledger of grants: cannot write"));
		if (!strstr(error.message, full[i].says))
			fail_msg("%s", error.message);
		ledger_forget(&world.ledger, entry); /* the kubelet is refused */
		ledger_init(&copy);
		assert_int_equal(ledger_read(&copy, path, 0, &damage, NULL), 0);
		text_of(&copy, &after);
		assert_string_equal(after.data, before.data);
		ledger_release(&copy);
	}
	world_release(&world);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0); /* no temporary file is left */
}
