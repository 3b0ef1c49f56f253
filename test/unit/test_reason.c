/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "model/model.h"

static const struct reason sample = {
	.object = "container main of Pod default/train",
	.node = "node-1",
	.card = "card 3 (GPU-3)",
	.model = "NVIDIA A100-SXM4-80GB",
	.wanted = 16,
	.have = 5,
	.total = 8,
	.detail = "detail",
};

/* A cure is a second sentence: a full stop before the last one, then a capital. */
static bool has_cure(const char *sentence)
{
	size_t length = strlen(sentence);

	if (!length || sentence[length - 1] != '.')
		return false;
	for (size_t i = 0; i + 2 < length - 1; i++) {
		if (sentence[i] == '.' && sentence[i + 1] == ' ' &&
		    isupper((unsigned char)sentence[i + 2]))
			return true;
	}
	return false;
}

static void check_sentence(const struct reason *reason)
{
	autostrbuf text = STRBUF_INIT(4096);

	assert_int_equal(reason_sentence(reason, &text), 0);
	assert_null(strpbrk(text.data, "{}[|]"));
	assert_true(has_cure(text.data));
	assert_true(strstr(text.data, sample.object) || strstr(text.data, sample.node));
}

TEST(every_reason_is_whole)
{
	for (int code = REASON_NONE + 1; code < REASON_CODE_MAX; code++) {
		struct reason reason = sample;

		reason.code = (enum reason_code)code;
		print_message("# %s\n", reason_name(reason.code));
		assert_true(strlen(reason_class(reason.code)) > 0);
		assert_true(strlen(reason_class(reason.code)) <= 60);
		assert_null(strpbrk(reason_class(reason.code), "{}[|]0123456789."));
		for (int scope = REASON_SCOPE_POOL; scope <= REASON_SCOPE_CARD; scope++) {
			reason.scope = (enum reason_scope)scope;
			check_sentence(&reason);
		}
		assert_true((int)reason_link_of(reason.code) >= 0);
		for (int other = REASON_NONE; other < code; other++) {
			assert_string_not_equal(reason_name(reason.code),
						reason_name((enum reason_code)other));
			assert_string_not_equal(reason_class(reason.code),
						reason_class((enum reason_code)other));
		}
	}
}

/* Who reads about a node must not be told of the best in the pool. */
static const struct {
	enum reason_code code;
	enum reason_scope scope;
	const char *says;
} scopes[] = {
	{ REASON_NODE_CARDS, REASON_SCOPE_POOL,
	  "node-1 has the most of them where it may run, 8." },
	{ REASON_NODE_CARDS, REASON_SCOPE_NODE, "and node-1 has 8 of them. Ask" },
	{ REASON_NO_CARDS, REASON_SCOPE_POOL, "and the pool has no cards. Add" },
	{ REASON_NO_CARDS, REASON_SCOPE_NODE, "and node-1 has no cards. Add" },
	{ REASON_CARDS_BUSY, REASON_SCOPE_NODE, "train wants 16 free cards, node-1 has 5 of 8. W" },
	{ REASON_CARDS_BUSY, REASON_SCOPE_CARD, "cannot use card 3 (GPU-3) of node-1: detail. W" },
	{ REASON_MEMORY_BUSY, REASON_SCOPE_POOL,
	  "; free there are 5 GiB at most where it may run: " },
	{ REASON_MEMORY_BUSY, REASON_SCOPE_NODE,
	  "; node-1 has 5 GiB free there at most: card 3 (GPU-3) " },
	{ REASON_MEMORY_BUSY, REASON_SCOPE_CARD,
	  "; card 3 (GPU-3) of node-1 has 5 of 8 GiB free. " },
	{ REASON_CARD_LOST, REASON_SCOPE_NODE,
	  "node-1 has 5 usable of 8: card 3 (GPU-3) is lost, " },
	{ REASON_CARD_LOST, REASON_SCOPE_CARD,
	  "use card 3 (GPU-3) of node-1: it is lost, detail. " },
	{ REASON_AFFINITY, REASON_SCOPE_POOL, "and none of the 8 nodes is one. C" },
	{ REASON_AFFINITY, REASON_SCOPE_NODE, "and node-1 is none. C" },
};

TEST(a_sentence_speaks_of_its_scope)
{
	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++) {
		struct reason reason = sample;
		autostrbuf text = STRBUF_INIT(4096);

		reason.code = scopes[i].code;
		reason.scope = scopes[i].scope;
		assert_int_equal(reason_sentence(&reason, &text), 0);
		if (!strstr(text.data, scopes[i].says))
			fail_msg("%s", text.data);
	}
}

TEST(the_cure_check_can_fail)
{
	assert_false(has_cure("No cure here."));
	assert_false(has_cure("No full stop. At the end"));
	assert_false(has_cure("2.5 GiB of 80."));
	assert_true(has_cure("Broken. Mend it."));
}

static const struct {
	enum reason_code code;
	const char *name, *class, *link;
	bool for_ever;
	const char *sentence;
} literal[] = {
	{ REASON_NODE_CARDS, "node_cards", "fewer such cards than asked for", "scheduler", true,
	  "container main of Pod default/train wants 16 cardsdetail, and node-1 has the most of "
	  "them where it may run, 8. Ask for at most 8." },
	{ REASON_CARDS_BUSY, "cards_busy", "not enough free cards", "scheduler", false,
	  "container main of Pod default/train wants 16 free cards, node-1 has 5 of 8. Wait for a "
	  "holder to end, or ask for no more than are free." },
	{ REASON_CARD_LOST, "card_lost", "card lost", "driver", false,
	  "container main of Pod default/train wants 16 cards, node-1 has 5 usable of 8: card 3 "
	  "(GPU-3) is lost, detail. Reset the card or reboot node-1." },
	{ REASON_NO_MODEL, "no_model", "no card of the wanted model", "scheduler", true,
	  "container main of Pod default/train wants a card of model detail, the pool has NVIDIA "
	  "A100-SXM4-80GB. A pattern must fit a whole name, as *A100* does: correct it." },
	{ REASON_NO_DRIVER, "no_driver", "no NVIDIA driver found", "driver", false,
	  "node-1 offers no cards: detail. Install the driver or name its place with "
	  "--driver-root." },
	{ REASON_BAD_ROOT, "bad_root", "image root is not safe", "injection", true,
	  "container main of Pod default/train has an image root in which detail. Use an image "
	  "with "
	  "real /dev, /proc and /sys directories." },
	{ REASON_NO_RESOURCE, "no_resource", "resource that no node offers", "scheduler", true,
	  "container main of Pod default/train wants detail, which node-1 does not offer. Remove "
	  "it "
	  "from the Pod, or run the Pod where it is offered." },
};

TEST(sentences_literally)
{
	for (size_t i = 0; i < ARRAY_SIZE(literal); i++) {
		struct reason reason = sample;
		autostrbuf text = STRBUF_INIT(4096);
		enum reason_link link = reason_link_of(literal[i].code);

		reason.code = literal[i].code;
		assert_string_equal(reason_name(reason.code), literal[i].name);
		assert_string_equal(reason_class(reason.code), literal[i].class);
		assert_string_equal(reason_link_to_string(link), literal[i].link);
		assert_int_equal(reason_is_for_ever(reason.code), literal[i].for_ever);
		assert_int_equal(reason_sentence(&reason, &text), 0);
		assert_string_equal(text.data, literal[i].sentence);
	}
}

TEST(codes_that_are_none)
{
	struct reason reason = { .code = (enum reason_code)1000 };
	autostrbuf text = STRBUF_INIT(64);

	assert_string_equal(reason_name(REASON_CODE_INVALID), "none");
	assert_string_equal(reason_class(REASON_CODE_MAX), "no reason");
	assert_int_equal(reason_sentence(&reason, &text), 0);
	assert_string_equal(text.data, "No reason.");
}

TEST(a_sentence_without_room)
{
	struct reason reason = sample;
	autostrbuf text = STRBUF_INIT(10);

	reason.code = REASON_CARDS_BUSY;
	assert_int_equal(reason_sentence(&reason, &text), -ENAMETOOLONG);
}

TEST(texts_are_cut_between_characters)
{
	char text[8];

	reason_text(text, sizeof(text), "%s", "short");
	assert_string_equal(text, "short");
	reason_text(text, sizeof(text), "%s", "exactly");
	assert_string_equal(text, "exactly");
	reason_text(text, sizeof(text), "%s", "too long");
	assert_string_equal(text, "too ...");
	/* the cut falls into the two bytes of the last letter that fits */
	reason_text(text, sizeof(text), "%s", "abc\xc3\xa9zzzz");
	assert_string_equal(text, "abc...");
}

TEST(a_reason_as_json)
{
	struct reason reason = sample;
	autojson *object = NULL;
	struct error error = ERROR_INIT;

	reason.code = REASON_CARDS_BUSY;
	reason_text(reason.kubernetes, sizeof(reason.kubernetes), "0/1 nodes are available");
	assert_int_equal(reason_to_json(&reason, &object, &error), 0);
	assert_string_equal(
		json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							       JSON_C_TO_STRING_NOSLASHESCAPE),
		"{\"code\":\"cards_busy\",\"class\":\"not enough free cards\",\"link\":"
		"\"scheduler\",\"forEver\":false,\"sentence\":\"container main of Pod "
		"default/train "
		"wants 16 free cards, node-1 has 5 of 8. Wait for a holder to end, or ask for "
		"no more than are free."
		"\",\"wanted\":16,\"have\":5,\"total\":8,\"object\":\"container main of Pod "
		"default/train\",\"node\":\"node-1\",\"card\":\"card 3 "
		"(GPU-3)\",\"model\":\"NVIDIA "
		"A100-SXM4-80GB\",\"detail\":\"detail\",\"kubernetes\":\"0/1 nodes are "
		"available\"}");
}

TEST(every_allocation_fails_once)
{
	for (unsigned n = 0;; n++) {
		struct reason reason = sample;
		autojson *object = NULL;
		struct error error = ERROR_INIT;

		reason.code = REASON_CARDS_BUSY;
		fault_arm(n);
		int r = reason_to_json(&reason, &object, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 10);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(object);
	}
}

/* kubernetes.md 4.4: PostFilter's tail behind the filter's reasons. */
TEST(sentences_of_the_scheduler)
{
	char text[512], tiny[64];

	assert_int_equal(kubernetes_unschedulable(text, sizeof(text), 1, "nvidia.com/gpu", true),
			 0);
	assert_string_equal(text, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. "
				  "preemption: 0/1 nodes are available: 1 No preemption victims "
				  "found for incoming pod.");
	assert_int_equal(kubernetes_unschedulable(text, sizeof(text), 1, "nvidia.com/gpu", false),
			 0);
	assert_string_equal(text,
			    "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. "
			    "preemption: 0/1 nodes are available: 1 Preemption is not helpful "
			    "for scheduling.");
	assert_int_equal(
		kubernetes_unschedulable(text, sizeof(text), 3, "gpupool.io/gpu-memory", true), 0);
	assert_string_equal(text, "0/3 nodes are available: 3 Insufficient gpupool.io/gpu-memory. "
				  "preemption: 0/3 nodes are available: 3 No preemption victims "
				  "found for incoming pod.");
	assert_int_equal(
		kubernetes_refusal(text, sizeof(text), 1, "no card of the wanted model", false), 0);
	assert_string_equal(text,
			    "0/1 nodes are available: 1 no card of the wanted model. "
			    "preemption: 0/1 nodes are available: 1 Preemption is not helpful "
			    "for scheduling.");
	assert_int_equal(kubernetes_unschedulable(tiny, sizeof(tiny), 1, "nvidia.com/gpu", true),
			 -ENAMETOOLONG);
}
