/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon is killed, or the power is cut, after any call of a write of the ledger: what is there then
 * is the ledger of before or of after, whole; and what ledger_write() has promised is on the disk.
 */
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crash_tree.h"
#include "fixture.h"
#include "node_world.h"

struct looking {
	const char *old, *new; /* texts */
	const char *live;      /* the folder itself: what a kill leaves */
	unsigned olds, news, left_overs;
};

/* The text of what is read back in FOLDER. */
static void read_back(const char *folder, const char *after, struct strbuf *out)
{
	struct ledger_damage damage;
	struct error error = ERROR_INIT;
	struct ledger ledger;
	char path[512];

	ledger_init(&ledger);
	snprintf(path, sizeof(path), "%s/" NAME_LEDGER, folder);
	if (ledger_read(&ledger, path, 0, &damage, &error) < 0 || damage.records)
		fail_msg("cut after %s: %s%s", after, error.message, damage.text);
	assert_int_equal(ledger_to_text(&ledger, out, NULL), 0);
	ledger_release(&ledger);
}

static void check_folder(struct looking *looking, const char *folder, const char *after)
{
	autostrbuf text = STRBUF_INIT(LEDGER_FILE_MAX);

	read_back(folder, after, &text);
	bool is_new = strcmp(text.data, looking->new) == 0;

	if (!is_new && strcmp(text.data, looking->old) != 0)
		fail_msg("cut after %s: %s", after, text.data);
	if (!is_new && strncmp(after, "return", 6) == 0)
		fail_msg("ledger_write() has returned, and its work is not on the disk");
	looking->olds += !is_new;
	looking->news += is_new;
}

static int visible(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* The files of FOLDER into COPY (NULL: only counted); how many. */
static unsigned copy_files(const char *folder, const struct fixture *copy)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, visible, alphasort);

	assert_true(count >= 0);
	for (int i = 0; i < count; i++) {
		autofree char *text = NULL;
		char path[512];
		size_t length;

		snprintf(path, sizeof(path), "%s/%.200s", folder, entries[i]->d_name);
		if (copy) {
			assert_int_equal(file_read(path, LEDGER_FILE_MAX, &text, &length, NULL), 0);
			fixture_write(copy, entries[i]->d_name, text);
		}
		free(entries[i]);
	}
	free(entries);
	return (unsigned)count;
}

static void look(void *data, const char *copy, const char *after)
{
	struct looking *looking = data;
	struct fixture killed;

	check_folder(looking, copy, after);
	/* ledger_read() sweeps: the living folder is looked at by way of a copy. */
	fixture_make(&killed, NULL, 0);
	copy_files(looking->live, &killed);
	check_folder(looking, killed.root, after);
	looking->left_overs += copy_files(killed.root, NULL) > 1;
	fixture_remove(&killed);
}

static void write_watched(struct node_world *world, const struct fixture *fixture,
			  struct strbuf *old, unsigned *copies)
{
	autostrbuf new = STRBUF_INIT(LEDGER_FILE_MAX);
	struct looking looking = { .live = fixture->root };
	struct crash_watch watch = { .look = look, .data = &looking, .root = fixture->root };
	struct error error = ERROR_INIT;
	char path[512];

	assert_int_equal(ledger_to_text(&world->ledger, &new, NULL), 0);
	looking.old = old->data;
	looking.new = new.data;
	fixture_path(fixture, NAME_LEDGER, path, sizeof(path));
	crash_start(&watch);
	int r = ledger_write(path, new.data, new.length, &error);
	crash_stop(&watch);
	if (r < 0)
		fail_msg("%s", error.message);
	/* write, fsync, rename, fsync of the folder, return */
	assert_true(watch.calls >= 5);
	assert_true(looking.olds > 0 && looking.news > 0);
	assert_int_equal(looking.left_overs, 0);
	*copies += watch.copies + watch.calls;
	strbuf_reset(old);
	strbuf_add(old, new.data, new.length);
}

TEST(a_cut_leaves_before_or_after)
{
	autostrbuf old = STRBUF_INIT(LEDGER_FILE_MAX);
	struct node_world world;
	struct fixture fixture;
	unsigned copies = 0;

	world_init(&world, 8, 288);
	fixture_make(&fixture, NULL, 0);
	assert_int_equal(ledger_to_text(&world.ledger, &old, NULL), 0);
	world_hold(&world, PLUGIN_RESOURCE_GPU, "0 1"); /* the first file */
	write_watched(&world, &fixture, &old, &copies);
	world_hold(&world, PLUGIN_RESOURCE_UNITS, "2m0-255");
	write_watched(&world, &fixture, &old, &copies);
	ledger_forget(&world.ledger, world.ledger.entries[0]);
	world_hold(&world, PLUGIN_RESOURCE_UNITS, "3m0-287");
	write_watched(&world, &fixture, &old, &copies);
	ledger_forget(&world.ledger, world.ledger.entries[0]); /* shorter than before */
	write_watched(&world, &fixture, &old, &copies);
	print_message("# %u disks looked at\n", copies);
	assert_true(copies >= 60);
	fixture_remove(&fixture);
	world_release(&world);
}

/* Two threads of a daemon that was killed in between, many times: nothing is left lying about. */
TEST(what_a_killed_write_left_is_swept)
{
	static const struct fixture_file files[] = {
		{ ".ledger.0123456789abcdef", "half of a le" },
		{ ".ledger.fedcba9876543210", "" },
		{ ".ledger.0123", "another's" },
		{ "ledger.0123456789abcdef", "another's" },
	};
	autostrbuf text = STRBUF_INIT(4096);
	struct fixture fixture;
	struct stat status;
	char path[512];

	fixture_make(&fixture, files, 4);
	read_back(fixture.root, "nothing", &text);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(stat(fixture_path(&fixture, files[i].path, path, sizeof(path)),
				      &status) == 0,
				 i >= 2);
	fixture_remove(&fixture);
}
