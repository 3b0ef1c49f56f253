/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "model/model.h"

static const struct {
	struct request request;
	const char *text;
} described[] = {
	{ { .kind = REQUEST_NONE }, "no card" },
	{ { .kind = REQUEST_KIND_INVALID }, "no card" },
	{ { .kind = REQUEST_WHOLE, .cards = 1 }, "1 whole card" },
	{ { .kind = REQUEST_WHOLE, .cards = 2 }, "2 whole cards" },
	{ { .kind = REQUEST_SHARED, .cards = 1 }, "1 share of a card" },
	{ { .kind = REQUEST_SHARED, .cards = 3 }, "3 shares of a card" },
	{ { .kind = REQUEST_MIG, .cards = 1, .mig_profile = "1g.5gb" },
	  "1 MIG instance of 1g.5gb" },
	{ { .kind = REQUEST_MIG, .cards = 2, .mig_profile = "1g.10gb+me" },
	  "2 MIG instances of 1g.10gb+me" },
	{ { .kind = REQUEST_SLICE, .cards = 1, .memory_mib = 12288 }, "a slice of 12 GiB" },
	{ { .kind = REQUEST_SLICE, .cards = 1, .memory_mib = 3000 }, "a slice of 3000 MiB" },
	{ { .kind = REQUEST_SLICE, .cards = 1, .memory_percent = 50 },
	  "a slice of 50 % of the memory" },
	{ { .kind = REQUEST_SLICE, .cards = 2, .memory_mib = 12288, .compute_percent = 30 },
	  "a slice of 12 GiB and 30 % compute on each of 2 cards" },
};

TEST(requests_in_words)
{
	for (size_t i = 0; i < ARRAY_SIZE(described); i++) {
		autostrbuf text = STRBUF_INIT(128);

		assert_int_equal(request_describe(&described[i].request, &text), 0);
		assert_string_equal(text.data, described[i].text);
	}
}

TEST(words_without_room)
{
	autostrbuf text = STRBUF_INIT(4);

	assert_int_equal(request_describe(&described[0].request, &text), -ENAMETOOLONG);
}

TEST(names_both_ways)
{
	static const char *const kinds[] = { "none", "whole", "slice", "shared", "mig" };
	static const char *const policies[] = { "default", "binpack", "spread", "topology" };

	assert_int_equal(ARRAY_SIZE(kinds), REQUEST_KIND_MAX);
	for (int i = 0; i < REQUEST_KIND_MAX; i++) {
		assert_string_equal(request_kind_to_string((enum request_kind)i), kinds[i]);
		assert_int_equal(request_kind_from_string(kinds[i]), i);
	}
	assert_int_equal(ARRAY_SIZE(policies), POLICY_MAX);
	for (int i = 0; i < POLICY_MAX; i++) {
		assert_string_equal(card_policy_to_string((enum card_policy)i), policies[i]);
		assert_int_equal(card_policy_from_string(policies[i]), i);
	}
	assert_int_equal(card_policy_from_string("tight"), POLICY_INVALID);
	assert_int_equal(request_kind_from_string(""), REQUEST_KIND_INVALID);
	assert_string_equal(request_kind_to_string(REQUEST_KIND_MAX), "invalid");
}

TEST(lists_of_strings)
{
	struct string_list list = { 0 };

	for (int i = 0; i < 20; i++)
		assert_int_equal(string_list_add(&list, i % 2 ? "odd" : "even"), 0);
	assert_int_equal(list.count, 20);
	assert_string_equal(list.items[19], "odd");
	string_list_release(&list);
	assert_int_equal(list.count, 0);
	string_list_release(&list); /* twice is once */
}

TEST(sentences_are_kept_whole_or_cut)
{
	static const size_t lengths[] = { 0,
					  1,
					  255,
					  256,
					  257,
					  5000,
					  STRING_LIST_SENTENCE_MAX - 1,
					  STRING_LIST_SENTENCE_MAX,
					  100000 };
	struct string_list list = { 0 };
	char *text = calloc(1, 100001);

	assert_non_null(text);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		size_t kept = lengths[i] < STRING_LIST_SENTENCE_MAX ? lengths[i]
								    : STRING_LIST_SENTENCE_MAX - 1;

		memset(text, 'a', lengths[i]);
		text[lengths[i]] = '\0';
		assert_int_equal(string_list_addf(&list, "%s", text), 0);
		assert_int_equal(strlen(list.items[i]), kept);
	}
	for (unsigned n = 0; n < 2; n++) {
		fault_arm(n);
		assert_int_equal(string_list_addf(&list, "%s", text), -ENOMEM);
		assert_true(fault_disarm());
	}
	string_list_release(&list);
	free(text);
}

TEST(every_allocation_fails_once)
{
	for (unsigned n = 0; n < 2; n++) {
		struct string_list list = { 0 };

		fault_arm(n);
		assert_int_equal(string_list_add(&list, "text"), -ENOMEM);
		assert_true(fault_disarm());
		assert_int_equal(list.count, 0);
		string_list_release(&list);
	}
}
