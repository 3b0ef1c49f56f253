/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a card: what its name says about it. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "doctor/reader.h"

/*
 * How to add a model: a word of its name; the first that fits. Architectures by NVIDIA's list of
 * CUDA GPUs (developer.nvidia.com/cuda-gpus).
 */
static const struct {
	const char *word, *architecture;
} models[] = {
	{ "B100", "blackwell" },
	{ "B200", "blackwell" },
	{ "B300", "blackwell" },
	{ "GB200", "blackwell" },
	{ "GB300", "blackwell" },
	{ "GB10", "blackwell" },
	{ "RTX 50", "blackwell" },
	{ "RTX PRO", "blackwell" },
	{ "H100", "hopper" },
	{ "H200", "hopper" },
	{ "H800", "hopper" },
	{ "H20", "hopper" },
	{ "GH200", "hopper" },
	{ "L40", "ada" },
	{ "L20", "ada" },
	{ "L4", "ada" },
	{ "L2", "ada" },
	{ "Ada", "ada" },
	{ "RTX 40", "ada" },
	{ "A100", "ampere" },
	{ "A800", "ampere" },
	{ "A30", "ampere" },
	{ "A40", "ampere" },
	{ "A10", "ampere" },
	{ "A16", "ampere" },
	{ "A2", "ampere" },
	{ "RTX A", "ampere" },
	{ "RTX 30", "ampere" },
	{ "Orin", "ampere" },
	{ "T4", "turing" },
	{ "RTX 20", "turing" },
	{ "GTX 16", "turing" },
	{ "Quadro RTX", "turing" },
	{ "TITAN RTX", "turing" },
	{ "T1000", "turing" },
	{ "T400", "turing" },
	{ "T600", "turing" },
	{ "V100", "volta" },
	{ "TITAN V", "volta" },
	{ "GV100", "volta" },
	{ "P100", "pascal" },
	{ "P40", "pascal" },
	{ "P4", "pascal" },
	{ "GTX 10", "pascal" },
	{ "Quadro P", "pascal" },
	{ "TITAN X", "pascal" },
	{ "GT 1030", "pascal" },
	{ "M60", "maxwell" },
	{ "M40", "maxwell" },
	{ "M10", "maxwell" },
	{ "GTX 9", "maxwell" },
	{ "GTX 75", "maxwell" },
	{ "Quadro M", "maxwell" },
	{ "K80", "kepler" },
	{ "K40", "kepler" },
	{ "K20", "kepler" },
	{ "GTX 7", "kepler" },
	{ "GTX 6", "kepler" },
	{ "GT 7", "kepler" },
	{ "Quadro K", "kepler" },
};

static const struct {
	const char *word, *kind;
} kinds[] = {
	{ "GeForce", "geforce" }, { "TITAN", "geforce" }, { "GRID", "vgpu" },
	{ "Orin", "jetson" },     { "Xavier", "jetson" }, { "Tegra", "jetson" },
	{ "Quadro", "quadro" },   { "RTX A", "rtx" },     { "RTX PRO", "rtx" },
	{ "RTX 6000", "rtx" },    { "RTX 5000", "rtx" },  { "RTX 4000", "rtx" },
	{ "Tesla", "tesla" },     { "GTX", "geforce" },   { "RTX", "geforce" },
};

/* Names in labels have '-' where nvidia-smi has blanks. */
static bool model_has(const char *name, const char *word)
{
	const char *at = name;
	size_t length = strlen(word);
	char spaced[NAME_MAX_];

	COPY(spaced, name);
	for (char *c = spaced; *c; c++)
		if (*c == '-')
			*c = ' ';
	for (at = spaced; (at = strcasestr(at, word)); at++)
		/* A word of the name, and L4 is not L40. */
		if ((at == spaced || at[-1] == ' ') &&
		    (word[length - 1] == ' ' || !strchr("0123456789", at[length]) || !at[length] ||
		     strchr(word, ' ')))
			return true;
	return false;
}

static const char *architecture_of(const char *model)
{
	for (size_t i = 0; i < ARRAY_SIZE(models); i++)
		if (model_has(model, models[i].word))
			return models[i].architecture;
	return NULL;
}

void read_model(struct readers *readers, const char *name, const char *end)
{
	char model[NAME_MAX_];
	char *suffix;
	bool known = false;

	COPY(model, name);
	suffix = strcasestr(model, end);
	if (suffix && *end)
		*suffix = '\0';
	tell(readers, FACT_CARD_MODEL, model);
	if (architecture_of(model))
		tell(readers, FACT_CARD_ARCHITECTURE, architecture_of(model));
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !known; i++)
		if (model_has(model, kinds[i].word)) {
			tell(readers, FACT_CARD_KIND, kinds[i].kind);
			known = true;
		}
	if (!known)
		tell(readers, FACT_CARD_KIND, "datacenter");
	/* nvidia-smi calls the SXM card of Hopper by its memory. */
	if (((has(model, "SXM") && (has(model, "00") || has(model, "H20"))) ||
	     has(model, "80GB HBM3")) &&
	    !has(model, "V100"))
		tell(readers, FACT_CARD_NVSWITCH, model);
}

/*
 * First branch that knows an architecture, and first that no longer does (0: all do), by the
 * release notes of the data center drivers.
 */
static const struct {
	const char *architecture;
	long first, ended;
} branches[] = {
	{ "kepler", 0, 495 }, { "maxwell", 0, 590 }, { "pascal", 0, 590 },
	{ "volta", 0, 590 },  { "turing", 410, 0 },  { "ampere", 450, 0 },
	{ "ada", 520, 0 },    { "hopper", 515, 0 },  { "blackwell", 570, 0 },
};

void read_card_and_driver(struct readers *readers, const char *model, const char *driver)
{
	const char *architecture = architecture_of(model);
	char number[8];
	long branch;

	snprintf(number, sizeof(number), "%.*s", (int)strcspn(driver, "."), driver);
	branch = count_of(number);
	for (size_t i = 0; architecture && branch > 0 && i < ARRAY_SIZE(branches); i++)
		if (strcmp(branches[i].architecture, architecture) == 0 &&
		    (branch < branches[i].first ||
		     (branches[i].ended && branch >= branches[i].ended)))
			tellf(readers, FACT_CARD_UNKNOWN_TO_DRIVER, "%s %ld", architecture, branch);
}
