/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"

#define CARD "{\"uuid\":\"GPU-1\",\"units\":12,\"memoryMiB\":12288,\"computePercent\":30}"
#define NAMES                                                                                     \
	"\"version\":1,\"namespace\":\"default\",\"pod\":\"train\",\"uid\":\"77\",\"container\":" \
	"\"main\""
#define KINDS     "\"kind\":\"slice\",\"enforcement\":\"none (reserved only)\""
#define MIG_KINDS "\"kind\":\"mig\",\"enforcement\":\"none (reserved only)\""

static const char whole[] = "{" NAMES "," KINDS ",\"cards\":[" CARD "]}";

static struct json_object *parse(const char *text)
{
	struct json_object *object = NULL;
	struct error error = ERROR_INIT;

	if (json_parse(text, strlen(text), "grant.json", NULL, &object, &error) < 0)
		fail_msg("%s", error.message);
	return object;
}

TEST(there_and_back)
{
	autojson *object = parse(whole), *again = NULL;
	cleanup(grant_release) struct grant grant = { 0 };

	assert_int_equal(grant_from_json(object, &grant, NULL), 0);
	assert_string_equal(grant.namespace, "default");
	assert_string_equal(grant.pod, "train");
	assert_string_equal(grant.uid, "77");
	assert_string_equal(grant.container, "main");
	assert_int_equal(grant.kind, REQUEST_SLICE);
	assert_int_equal(grant.enforcement, ENFORCEMENT_NONE);
	assert_int_equal(grant.card_count, 1);
	assert_string_equal(grant.cards[0].uuid, "GPU-1");
	assert_int_equal(grant.cards[0].units, 12);
	assert_int_equal(grant.cards[0].memory_mib, 12288);
	assert_int_equal(grant.cards[0].compute_percent, 30);
	assert_int_equal(grant_to_json(&grant, &again, NULL), 0);
	assert_string_equal(json_object_to_json_string_ext(again, JSON_C_TO_STRING_PLAIN), whole);
}

TEST(instances_there_and_back)
{
	static const char text[] =
		"{" NAMES ",\"kind\":\"mig\",\"enforcement\":\"none (reserved only)\","
		"\"migProfile\":\"1g.10gb+me\",\"cards\":[{\"uuid\":\"GPU-1\",\"units\":10,"
		"\"memoryMiB\":9856,\"computePercent\":0,\"migStart\":6}]}";
	autojson *object = parse(text), *again = NULL;
	cleanup(grant_release) struct grant grant = { 0 };

	assert_int_equal(grant_from_json(object, &grant, NULL), 0);
	assert_string_equal(grant.mig_profile, "1g.10gb+me");
	assert_int_equal(grant.cards[0].mig_start, 6);
	assert_int_equal(grant_to_json(&grant, &again, NULL), 0);
	assert_string_equal(json_object_to_json_string_ext(again, JSON_C_TO_STRING_PLAIN), text);
}

/* A container without a card has a record too, or it would be cleared away while it runs. */
TEST(no_card_is_a_grant)
{
	static const char none[] = "{" NAMES ",\"kind\":\"none\",\"enforcement\":\"whole card\","
				   "\"cards\":[]}";
	autojson *object = parse(none);
	cleanup(grant_release) struct grant grant = { 0 };

	assert_int_equal(grant_from_json(object, &grant, NULL), 0);
	assert_int_equal(grant.kind, REQUEST_NONE);
	assert_int_equal(grant.card_count, 0);
}

static const struct {
	const char *text, *message;
} bad[] = {
	{ "[]", "the grant must be a JSON object" },
	{ "{}", "the grant has no version" },
	{ "{\"version\":2}", "the grant has version 2 and this program reads version 1; write it "
			     "anew with this program" },
	{ "{\"version\":1}", "grant.namespace is missing" },
	{ "{\"version\":1,\"namespace\":7}", "grant.namespace must be a string" },
	{ "{\"version\":1,\"namespace\":\"a/b\"}",
	  "grant.namespace is 'a/b'; only letters, digits and - . _ : are allowed" },
	{ "{" NAMES "}", "grant.kind is ''; it must be none, whole, slice, shared or mig" },
	{ "{" NAMES ",\"kind\":\"none\",\"enforcement\":\"whole card\",\"cards\":[" CARD "]}",
	  "grant.kind is 'none' and grant.cards names 1" },
	{ "{" NAMES ",\"kind\":\"slice\",\"enforcement\":\"some\"}",
	  "grant.enforcement is 'some', which is unknown" },
	{ "{" NAMES "," KINDS "}", "grant.cards must be a list" },
	{ "{" NAMES "," KINDS ",\"cards\":[7]}", "grant.cards[0] must be an object" },
	{ "{" NAMES "," KINDS ",\"cards\":[{}]}", "grant.cards[0].uuid is missing" },
	{ "{" NAMES "," KINDS ",\"cards\":[" CARD ",{\"uuid\":\"\",\"units\":1,\"memoryMiB\":1,"
	  "\"computePercent\":1}]}",
	  "grant.cards[1].uuid is empty" },
	{ "{" NAMES "," KINDS ",\"cards\":[{\"uuid\":\"GPU-1\",\"units\":-1}]}",
	  "grant.cards[0].units is -1; it must be a whole number from 0 to 4294967295" },
	{ "{" NAMES "," KINDS ",\"cards\":[{\"uuid\":\"GPU-1\",\"units\":1,\"memoryMiB\":1,"
	  "\"computePercent\":101}]}",
	  "grant.cards[0].computePercent is 101; it must be a whole number from 0 to 100" },
	{ "{" NAMES "," MIG_KINDS ",\"cards\":[" CARD "]}", "grant.migProfile is missing" },
	{ "{" NAMES "," MIG_KINDS ",\"migProfile\":\"1g.5gb\",\"cards\":[" CARD "]}",
	  "grant.cards[0].migStart is missing" },
	{ "{" NAMES "," MIG_KINDS ",\"migProfile\":\"1g.5gb\",\"cards\":[{\"uuid\":\"GPU-1\","
	  "\"units\":5,\"memoryMiB\":4864,\"computePercent\":0,\"migStart\":16}]}",
	  "grant.cards[0].migStart is 16; it must be a whole number from 0 to 15" },
};

TEST(grants_that_are_none)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		autojson *object = parse(bad[i].text);
		struct error error = ERROR_INIT;
		struct grant grant = { 0 };

		print_message("# %s\n", bad[i].text);
		assert_int_equal(grant_from_json(object, &grant, &error), -EINVAL);
		assert_string_equal(error.message, bad[i].message);
		assert_null(grant.namespace);
	}
}

TEST(enforcement_in_words)
{
	assert_string_equal(enforcement_to_string(ENFORCEMENT_WHOLE), "whole card");
	assert_string_equal(enforcement_to_string(ENFORCEMENT_NONE), "none (reserved only)");
	assert_int_equal(enforcement_from_string("none (reserved only)"), ENFORCEMENT_NONE);
	assert_int_equal(enforcement_from_string("hard"), ENFORCEMENT_INVALID);
}

TEST(every_allocation_fails_once)
{
	autojson *object = parse(whole);

	for (unsigned n = 0;; n++) {
		cleanup(grant_release) struct grant grant = { 0 };
		autojson *again = NULL;

		fault_arm(n);
		int r = grant_from_json(object, &grant, NULL);
		if (r == 0)
			r = grant_to_json(&grant, &again, NULL);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 10);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}
