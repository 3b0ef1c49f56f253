/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject/inject.h"

/* One driver branch for each brand that NVIDIA's images of CUDA 12 list. */
#define BRANCH(from, to)                                                                           \
	"brand=tesla,driver>=" from ",driver<" to " brand=unknown,driver>=" from ",driver<" to     \
	" brand=nvidia,driver>=" from ",driver<" to " brand=nvidiartx,driver>=" from ",driver<" to \
	" brand=geforce,driver>=" from ",driver<" to " brand=geforcertx,driver>=" from             \
	",driver<" to " brand=quadro,driver>=" from ",driver<" to " brand=quadrortx,driver>=" from \
	",driver<" to " brand=titan,driver>=" from ",driver<" to " brand=titanrtx,driver>=" from   \
	",driver<" to

/* Real ones: nvidia/cuda 12.4.1, 12.0.0 and 10.1 (their Dockerfiles), and common shorter ones. */
static const char cuda_12_4[] =
	"cuda>=12.4 " BRANCH("470", "471") " " BRANCH("525", "526") " " BRANCH("535", "536");
static const char cuda_12_0[] = "cuda>=12.0 brand=tesla,driver>=450,driver<451 " BRANCH(
	"470", "471") " " BRANCH("510", "511") " " BRANCH("515", "516") " " BRANCH("520", "521");
static const char cuda_10_1[] =
	"cuda>=10.1 brand=tesla,driver>=396,driver<397 "
	"brand=tesla,driver>=410,driver<411 brand=tesla,driver>=418,driver<419";

struct machine {
	const char *driver;
	unsigned cuda_major, cuda_minor;
	const char *brand; /* NULL: no card */
	unsigned arch_major, arch_minor;
};

static const struct machine t4_535 = { "535.129.03", 12, 2, "tesla", 7, 5 };
static const struct machine a100_550 = { "550.54.14", 12, 4, "nvidia", 8, 0 };
static const struct machine rtx_535 = { "535.129.03", 12, 2, "geforcertx", 8, 9 };
static const struct machine rtx_545 = { "545.23.06", 12, 3, "geforcertx", 8, 9 };
static const struct machine t4_418 = { "418.87.01", 10, 1, "tesla", 7, 5 };
static const struct machine v100_450 = { "450.51.06", 11, 0, "tesla", 7, 0 };
static const struct machine no_card = { "535.129.03", 12, 2, NULL, 0, 0 };
static const struct machine no_cuda = { "535.129.03", 0, 0, "", 0, 0 };
static const struct machine unknown = { "", 0, 0, "", 0, 0 };

static const struct {
	const struct machine *machine;
	const char *expression;
	int r;
} rows[] = {
	/* Real images. */
	{ &a100_550, cuda_12_4, 0 },
	{ &t4_535, cuda_12_4, 0 }, /* by its brand and branch */
	{ &rtx_535, cuda_12_4, 0 },
	{ &rtx_545, cuda_12_4, -EPERM },
	{ &v100_450, cuda_12_4, -EPERM },
	{ &no_card, cuda_12_4, 0 },
	{ &v100_450, cuda_12_0, 0 },
	{ &t4_418, cuda_12_0, -EPERM },
	{ &t4_418, cuda_10_1, 0 },
	{ &t4_535, "cuda>=12.1.1 driver>=530", 0 },
	{ &t4_535, "cuda>=9.0", 0 },
	{ &t4_535, "brand=GRID", -EPERM },
	/* Nothing is required. */
	{ &t4_535, "", 0 },
	{ &t4_535, "   ", 0 },
	{ &t4_535, ",, ,", 0 },
	/* Operators and versions. */
	{ &t4_535, "cuda=12.2", 0 },
	{ &t4_535, "cuda=12.2.0", 0 },
	{ &t4_535, "cuda=12.02", 0 },
	{ &t4_535, "cuda=12", -EPERM },
	{ &t4_535, "cuda!=12.2", -EPERM },
	{ &t4_535, "cuda!=12.3", 0 },
	{ &t4_535, "cuda<12.10", 0 }, /* numbers, not text */
	{ &t4_535, "cuda<12.2", -EPERM },
	{ &t4_535, "cuda<=12.2", 0 },
	{ &t4_535, "cuda<=12.2.0.0", 0 },
	{ &t4_535, "cuda>12.2", -EPERM },
	{ &t4_535, "cuda>12.2.0.1", -EPERM },
	{ &t4_535, "cuda>12", 0 },
	{ &t4_535, "driver>=535.129.3", 0 },
	{ &t4_535, "driver>=535.129.04", -EPERM },
	{ &t4_535, "driver>=535..129", 0 },
	{ &t4_535, "arch>=7.5", 0 },
	{ &t4_535, "arch>=8.0", -EPERM },
	{ &t4_535, "ARCH>=7,Brand=TESLA,CUDA>1", 0 },
	{ &t4_535, "brand!=tesla", -EPERM },
	{ &t4_535, "brand!=quadro", 0 },
	/* AND binds closer than OR. */
	{ &t4_535, "cuda>=13 brand=tesla,driver<471", -EPERM },
	{ &t4_535, "cuda>=13,brand=tesla driver>=535,driver<536", 0 },
	{ &t4_535, "cuda>=13  , driver>=1", 0 },
	{ &t4_535, ",cuda>=12,,driver>=1,", 0 },
	/* What is not known holds. */
	{ &no_card, "arch>=99", 0 },
	{ &no_card, "brand=x", 0 },
	{ &no_cuda, "brand=x,arch>=99", 0 },
	{ &no_cuda, "cuda>=12.2", 0 }, /* by the branch */
	{ &no_cuda, "cuda>=12.3", -EPERM },
	{ &unknown, "cuda>=99,driver>=99", 0 },
	/* What is no expression: also before, but not behind what holds. */
	{ &t4_535, "cuda", -EINVAL },
	{ &t4_535, "cuda>=", -EINVAL },
	{ &t4_535, ">=12", -EINVAL },
	{ &t4_535, "cuda==12", -EINVAL },
	{ &t4_535, "cuda=>12", -EINVAL },
	{ &t4_535, "cuda!12", -EINVAL },
	{ &t4_535, "cuda>=12a", -EINVAL },
	{ &t4_535, "cuda>=.1", -EINVAL },
	{ &t4_535, "cuda>=9999999999999999999", -EINVAL },
	{ &t4_535, "cuda>=12.4\tdriver>=1", -EINVAL },
	{ &t4_535, "brand>=tesla", -EINVAL },
	{ &t4_535, "os=linux", -EINVAL },
	{ &t4_535, "cuda>=13 x", -EINVAL },
	{ &t4_535, "cuda>=12 x", 0 },
	{ &t4_535, "cuda>=13,x", -EPERM },
};

static int check(const struct machine *machine, const char *expression, struct reason *reason,
		 struct error *error)
{
	struct card card = { .index = 0,
			     .uuid = "GPU-aaaaaaaa-0000",
			     .compute_major = machine->arch_major,
			     .compute_minor = machine->arch_minor };
	struct require_facts facts = {
		.driver_version = machine->driver,
		.cuda_major = machine->cuda_major,
		.cuda_minor = machine->cuda_minor,
		.card = machine->brand ? &card : NULL,
	};

	if (machine->brand)
		snprintf(card.brand, sizeof(card.brand), "%s", machine->brand);
	return require_check("NVIDIA_REQUIRE_CUDA", expression, &facts, reason, error);
}

TEST(require_answers)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error = ERROR_INIT;
		struct reason reason = { 0 };

		int r = check(rows[i].machine, rows[i].expression, &reason, &error);
		if (r != rows[i].r)
			fail_msg("'%s': %d %s", rows[i].expression, r, error.message);
		assert_int_equal(reason.code, r == -EPERM ? REASON_REQUIREMENT : REASON_NONE);
		if (r == -EINVAL)
			assert_true(strncmp(error.message, "NVIDIA_REQUIRE_CUDA: '", 22) == 0);
		assert_int_equal(check(rows[i].machine, rows[i].expression, NULL, NULL), r);
	}
}

static const struct {
	const struct machine *machine;
	const char *expression, *sentence; /* what stands in front of the cure */
} sentences[] = {
	{ &t4_535, "cuda>=12.4",
	  "CUDA >= 12.4, driver 535.129.03 offers 12.2: use driver >= 550 or an older image" },
	{ &no_cuda, "cuda>=12.4",
	  "CUDA >= 12.4, driver 535.129.03 offers 12.2: use driver >= 550 or an older image" },
	{ &rtx_545, cuda_12_4,
	  "CUDA >= 12.4, driver 545.23.06 offers 12.3: use driver >= 550 or an older image" },
	{ &t4_535, "cuda>12.4",
	  "CUDA > 12.4, driver 535.129.03 offers 12.2: use driver >= 555 or an older image" },
	{ &t4_535, "cuda>=99.1",
	  "CUDA >= 99.1, driver 535.129.03 offers 12.2: use a newer driver or an older image" },
	{ &t4_535, "cuda<12",
	  "CUDA < 12, driver 535.129.03 offers 12.2: use another driver or another image" },
	{ &t4_535, "driver>=550.54",
	  "driver >= 550.54, this machine has 535.129.03: use driver >= 550.54 or an older image" },
	{ &t4_535, "driver<535",
	  "driver < 535, this machine has 535.129.03: use another driver or another image" },
	{ &t4_535, "arch>=8.0",
	  "compute capability >= 8.0, card 0 (GPU-aaaaaaaa-0000) has 7.5: use another card or "
	  "another image" },
	{ &t4_535, "brand=quadro",
	  "brand = quadro, card 0 (GPU-aaaaaaaa-0000) has tesla: use another card or another "
	  "image" },
};

TEST(require_says_why)
{
	for (size_t i = 0; i < ARRAY_SIZE(sentences); i++) {
		autostrbuf wanted = STRBUF_INIT(4096), text = STRBUF_INIT(4096);
		struct error error = ERROR_INIT;
		struct reason reason = { 0 };

		strbuf_addf(&wanted,
			    "the container: image needs %s. Set NVIDIA_DISABLE_REQUIRE=1 in the "
			    "container to start it all the same.",
			    sentences[i].sentence);
		assert_int_equal(
			check(sentences[i].machine, sentences[i].expression, &reason, &error),
			-EPERM);
		assert_string_equal(error.message, wanted.data);
		assert_int_equal(reason_sentence(&reason, &text), 0);
		assert_string_equal(text.data, wanted.data);
		assert_true(reason_is_for_ever(reason.code));
	}
	struct error error = ERROR_INIT;
	assert_int_equal(check(&t4_535, "cuda>>1", NULL, &error), -EINVAL);
	assert_string_equal(
		error.message,
		"NVIDIA_REQUIRE_CUDA: 'cuda>>1' is no condition; it wants cuda, driver, "
		"arch or brand, one of = != < <= > >= (a brand: = or !=), and a value: "
		"correct the image, or set NVIDIA_DISABLE_REQUIRE=1");
}

/* Whatever is long, on whichever side, is cut and not overrun. */
TEST(require_bounds_texts)
{
	autostrbuf expression = STRBUF_INIT(1 << 20);
	struct machine machine = {
		"1.000000000000000000000000000000000000000000000000000000000000000000",
		12,
		2,
		"",
		0,
		0
	};
	struct error error = ERROR_INIT;

	strbuf_adds(&expression, "brand=");
	for (int i = 0; i < 1000; i++)
		strbuf_adds(&expression, "xxxxxxxx");
	assert_int_equal(check(&t4_535, expression.data, NULL, &error), -EINVAL);
	assert_int_equal(check(&machine, "driver>=2", NULL, &error), 0);
	strbuf_reset(&expression);
	for (int i = 0; i < 20000; i++)
		strbuf_adds(&expression, "cuda>=13,brand=x ");
	assert_int_equal(check(&t4_535, expression.data, NULL, &error), -EPERM);
	assert_int_equal(check(&t4_535,
			       "cuda>=12345678.12345678.12345678.12345678.12345678.12345678", NULL,
			       &error),
			 -EPERM);
}

/* Two cards of different brands, the second in instances. */
struct pair {
	struct card cards[2];
	struct card_instance instance;
	struct inventory inventory;
	struct grant_card whole, part;
	struct device_selection selection;
};

static void pair_init(struct pair *pair)
{
	*pair = (struct pair){
		.cards = { { .index = 0, .uuid = "GPU-0", .brand = "tesla", .compute_major = 7 },
			   { .index = 1, .uuid = "GPU-1", .brand = "nvidia", .compute_major = 8 } },
		.instance = { .uuid = "MIG-1", .index = 0 },
		.inventory = { .driver_version = "535.129.03", .cuda_major = 12, .cuda_minor = 2 },
		.whole = { .uuid = "GPU-0" },
		.part = { .uuid = "MIG-1" },
	};
	pair->cards[1].instances = &pair->instance;
	pair->cards[1].instance_count = 1;
	pair->inventory.cards = pair->cards;
	pair->inventory.card_count = 2;
}

static int check_all(struct pair *pair, bool whole, bool part, const char *first,
		     const char *second, struct error *error)
{
	struct string_list list = { 0 };

	pair->selection = (struct device_selection){ 0 };
	pair->selection.cards.cards = &pair->whole;
	pair->selection.cards.card_count = whole;
	pair->selection.instances.cards = &pair->part;
	pair->selection.instances.card_count = part;
	assert_int_equal(string_list_add(&list, first), 0);
	assert_int_equal(string_list_add(&list, second), 0);
	int r = require_check_all(&list, &pair->inventory, &pair->selection, NULL, error);
	string_list_release(&list);
	return r;
}

TEST(require_of_every_card)
{
	static const struct {
		bool whole, part;
		const char *first, *second;
		int r;
	} all[] = {
		{ true, false, "NVIDIA_REQUIRE_CUDA=cuda>=12", "NVIDIA_REQUIRE_BRAND=brand=tesla",
		  0 },
		{ true, true, "NVIDIA_REQUIRE_CUDA=cuda>=12", "NVIDIA_REQUIRE_BRAND=brand=tesla",
		  -EPERM },
		{ false, true, "NVIDIA_REQUIRE_CUDA=cuda>=12", "NVIDIA_REQUIRE_BRAND=brand=nvidia",
		  0 },
		{ false, true, "NVIDIA_REQUIRE_A=arch>=8", "NVIDIA_REQUIRE_B=arch<8", -EPERM },
		{ true, true, "NVIDIA_REQUIRE_A=arch>=8 brand=tesla", "NVIDIA_REQUIRE_B=", 0 },
		{ false, false, "NVIDIA_REQUIRE_A=arch>=99", "NVIDIA_REQUIRE_B=brand=x", 0 },
		{ false, false, "NVIDIA_REQUIRE_A=arch>=99", "NVIDIA_REQUIRE_B=cuda>=13", -EPERM },
		{ true, true, "NVIDIA_REQUIRE_A=?", "NVIDIA_REQUIRE_B=", -EINVAL },
	};
	struct pair pair;

	pair_init(&pair);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct error error = ERROR_INIT;

		assert_int_equal(check_all(&pair, all[i].whole, all[i].part, all[i].first,
					   all[i].second, &error),
				 all[i].r);
	}
	struct error error = ERROR_INIT;
	check_all(&pair, true, true, "NVIDIA_REQUIRE_A=arch<8", "x", &error);
	assert_non_null(strstr(error.message, "card 1 (GPU-1) has 8.0"));
	/* Without the driver's own word the module's version counts. */
	*pair.inventory.driver_version = '\0';
	pair.inventory.cuda_major = pair.inventory.cuda_minor = 0;
	snprintf(pair.inventory.module_version, sizeof(pair.inventory.module_version), "470.82.01");
	assert_int_equal(check_all(&pair, true, true, "A=cuda>=12", "B=", &error), -EPERM);
	assert_non_null(strstr(error.message, "driver 470.82.01 offers 11.4"));
}

TEST(require_short_of_memory)
{
	struct string_list list = { 0 };
	struct pair pair;

	pair_init(&pair);
	assert_int_equal(string_list_add(&list, "NVIDIA_REQUIRE_A=cuda>=99"), 0);
	for (unsigned n = 0;; n++) {
		struct error error = ERROR_INIT;

		fault_arm(n);
		int r = require_check_all(&list, &pair.inventory, &pair.selection, NULL, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, -EPERM);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	string_list_release(&list);
}
