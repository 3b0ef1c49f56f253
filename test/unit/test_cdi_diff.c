/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdi_world.h"

/* A spec of the golden tree and the machine that it is of; what is changed before they are compared. */
struct stale {
	const char *from, *to; /* in the text of the spec; NULL: nothing */
	const char *gone;      /* a file of the tree that is taken away */
	uint64_t mig_generation;
	const char *version; /* of the driver now; NULL: the same */
	bool no_card;
	const char *sentences; /* parts of them, with '|' between; "" none */
};

static const struct stale stale_rows[] = {
	{ .sentences = "" },
	{ .mig_generation = 5, .sentences = "The MIG devices of this machine are others" },
	{ .version = "1000.1",
	  .sentences = "The spec is of driver 999.88.77; this machine has 1000.1." },
	{ .gone = "lib/x86_64-linux-gnu/vdpau/libvdpau_nvidia.so.999.88.77",
	  .sentences =
		  "/vdpau/libvdpau_nvidia.so.999.88.77 is gone; the spec mounts it at /usr/lib/" },
	{ .gone = "dev/nvidiactl", .sentences = "/dev/nvidiactl is gone; the spec gives it as" },
	{ .from = "\"minor\":0",
	  .to = "\"minor\":3",
	  .sentences = "/dev/nvidia0 is device 195:0, and the spec says 195:3." },
	{ .from = "\"major\":195", .to = "\"major\":0", .sentences = "" },
	{ .from = "\"name\":\"0\"",
	  .to = "\"name\":\"1\"",
	  .sentences = "This machine has no device 1." },
	{ .from = "\"path\":\"/dev/nvidia0\"",
	  .to = "\"path\":\"/dev/nvidia7\"",
	  .sentences = "Device 0 of this machine has /dev/nvidia0; that of the spec has not."
		       "|Device GPU-b8ea3855" },
	{ .no_card = true, .sentences = "This machine has no device 0.|no device GPU-b8ea3855" },
	{ .from = "libcuda.so.999.88.77\"",
	  .to = "libcuda.so.1\"",
	  .sentences = "libcuda.so.1 is gone|1 file of the driver is not in the spec: " },
	{ .from = "{\"path\":\"/dev/nvidiactl\"",
	  .to = "{\"path\":\"/dev/null\"",
	  .sentences = "" }, /* the host's path counts */
	{ .from = "/dev/nvidiactl\",\"type\"",
	  .to = "/dev/null\",\"type\"",
	  .sentences = "/dev/null is gone|1 device node of the driver is not in the spec: " },
	{ .from = "\"containerEdits\":{\"env\"",
	  .to = "\"containerEdits\":{\"hooks\":[{\"hookName\":\"createContainer\",\"path\":"
		"\"/none/such\"},{\"hookName\":\"createContainer\",\"path\":\"/bin/sh\"}],\"env\"",
	  .sentences = "/none/such is gone; the spec has it as a hook." },
	/* somebody else's: the version by the names of files, and no file is missed */
	{ .from = "GPUPOOL_CDI_STAMP",
	  .to = "OTHER",
	  .version = "1000.1",
	  .mig_generation = 5,
	  .sentences = "The spec is of driver 999.88.77; this machine has 1000.1." },
	{ .from = "\"GPUPOOL_CDI_STAMP=driver:999.88.77,mig:0000000000000000\"",
	  .to = "\"GPUPOOL_CDI_STAMP=x\"",
	  .sentences = "The spec is of driver ;|The MIG devices" },
};

/* All of FROM in TEXT, which is the caller's, by TO. */
static char *replaced(char *text, const char *from, const char *to)
{
	autostrbuf out = STRBUF_INIT(1 << 16);
	bool found = false;

	for (const char *at = text; *at;) {
		bool here = strncmp(at, from, strlen(from)) == 0;

		found = found || here;
		if (here)
			strbuf_adds(&out, to);
		else
			strbuf_addc(&out, *at);
		at += here ? strlen(from) : 1;
	}
	free(text);
	if (!found)
		fail_msg("%s is not there", from);
	return strbuf_detach(&out);
}

static struct json_object *changed_spec(struct json_object *spec, const struct stale *row)
{
	autostrbuf text = STRBUF_INIT(1 << 16);
	struct json_object *changed = NULL;

	assert_int_equal(json_to_text(spec, false, &text, NULL), 0);
	char *own = strbuf_detach(&text);
	if (row->from)
		own = replaced(own, row->from, row->to);
	assert_int_equal(json_parse(own, strlen(own), "t", &cdi_limits, &changed, NULL), 0);
	free(own);
	return changed;
}

static void check_sentences(size_t row, const struct string_list *found, const char *expected)
{
	size_t count = 0;

	while (*expected) {
		char part[200];
		size_t length = strcspn(expected, "|");

		snprintf(part, sizeof(part), "%.*s", (int)length, expected);
		if (!cdi_world_has_note(found, part))
			fail_msg("row %zu: no sentence \"%s\" but \"%s\"", row, part,
				 found->count ? found->items[0] : "");
		count++;
		expected += length + (expected[length] == '|');
	}
	if (found->count != count)
		fail_msg("row %zu: %zu sentences, the last \"%s\"", row, found->count,
			 found->items[found->count - 1]);
}

static void try_stale(size_t number, const char *tree)
{
	const struct stale *row = &stale_rows[number];
	cleanup(driver_files_freep) struct driver_files *files = NULL;
	cleanup(string_list_release) struct string_list sentences = { 0 };
	struct card card = { .uuid = "GPU-b8ea3855-276c-c9cb-b366-c6fa655957c5" };
	struct inventory inventory = { .cards = &card, .card_count = 1 };
	struct cdi_options options = { .inventory = &inventory };
	struct error error = ERROR_INIT;
	char path[200];

	options.files = files = cdi_world_driver(tree);
	autojson *spec = cdi_world_generate(&options, NULL);
	autojson *changed = changed_spec(spec, row);
	snprintf(path, sizeof(path), "%s/%s", tree, row->gone ? row->gone : "");
	if (row->gone)
		assert_int_equal(remove(path), 0);
	if (row->version)
		snprintf(files->version, sizeof(files->version), "%s", row->version);
	inventory.mig_generation = row->mig_generation;
	inventory.card_count = row->no_card ? 0 : 1;
	assert_int_equal(cdi_diff(changed, &options, &sentences, &error), 0);
	check_sentences(number, &sentences, row->sentences);
}

TEST(what_is_stale_is_said)
{
	for (size_t i = 0; i < ARRAY_SIZE(stale_rows); i++) {
		char tree[TREE_PATH_MAX];
		bool nodes = cdi_world_tree(tree);

		if (nodes)
			try_stale(i, tree);
		tree_remove(tree);
		if (!nodes)
			skip();
	}
}

TEST(a_spec_of_a_part_misses_nothing_else)
{
	struct question question;
	struct card cards[CDI_WORLD_CARDS];
	struct cdi_options options;
	char one[] = "0", *items[] = { one };
	const struct string_list ids = { .items = items, .count = 1 };
	cleanup(string_list_release) struct string_list all = { 0 }, some = { 0 };

	cdi_world_ask(&question, cards, &options);
	options.ids = &ids;
	options.capabilities = CAPABILITY_DEFAULT;
	autojson *spec = cdi_world_generate(&options, NULL);
	autofree char *variables = cdi_world_set(json_get(spec, "containerEdits"), "env", NULL);
	assert_non_null(strstr(variables, ",for:compute+utility,some"));
	options.ids = NULL;
	options.capabilities = 0;
	assert_int_equal(cdi_diff(spec, &options, &some, NULL), 0);
	assert_true(
		cdi_world_has_note(&some, "is gone")); /* no file of this driver is on the disk */
	assert_false(cdi_world_has_note(&some, "has no device for"));
	assert_false(cdi_world_has_note(&some, "not in the spec"));
	/* the control: without the marks both are missed */
	autostrbuf text = STRBUF_INIT(1 << 16);
	autojson *whole = NULL;
	json_to_text(spec, false, &text, NULL);
	autofree char *own = replaced(strdup(text.data), ",for:compute+utility,some", "");
	assert_int_equal(json_parse(own, strlen(own), "t", &cdi_limits, &whole, NULL), 0);
	assert_int_equal(cdi_diff(whole, &options, &all, NULL), 0);
	assert_true(cdi_world_has_note(&all, "The spec has no device for card 1 (GPU-bb)."));
	assert_true(cdi_world_has_note(&all, "not in the spec"));
	question_release(&question);
}

TEST(comparing_is_short_of_memory)
{
	struct question question;
	struct card cards[CDI_WORLD_CARDS];
	struct cdi_options options;
	unsigned n = 0;

	cdi_world_ask(&question, cards, &options);
	autojson *spec = cdi_world_generate(&options, NULL);
	for (;; n++) {
		struct string_list sentences = { 0 };
		struct error error = ERROR_INIT;

		fault_arm(n);
		int r = cdi_diff(spec, &options, &sentences, &error);
		int failed = fault_disarm();
		string_list_release(&sentences);
		if (!failed) {
			assert_int_equal(r, 0);
			break;
		}
		if (r != -ENOMEM || !error.message[0])
			fail_msg("call %u: %d \"%s\"", n, r, error.message);
	}
	assert_true(n > 100);
	question_release(&question);
}
