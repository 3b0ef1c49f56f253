/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at the machine, in a thread: asks the driver, looks for its files, and writes what containers
 * need of them before anybody is told of a card. It shares nothing with the loop while it runs.
 */
#pragma once

#include "base/base.h"
#include "device/device.h"
#include "inject/inject.h"
#include "model/model.h"

#define SURVEY_SPECS_MAX 8

struct survey_wish {            /* owned copies: the configuration may change meanwhile */
	char *probe_root;       /* where this process sees the driver; NULL: searched */
	char *host_root;        /* where the host has it; NULL: at the same place */
	char *host;             /* where this process sees the root of the host; NULL: "/" */
	char *dev_root;         /* where the host has the device nodes; NULL: with the driver */
	char *helper;           /* NULL: the usual places */
	char *run_directory;    /* for the list of the driver's files */
	char *cdi_directory;    /* NULL: no specs */
	unsigned specs;         /* bits of enum survey_spec */
	bool pods;              /* of which Pods the processes on cards are */
	unsigned deadline_ms;   /* of one answer of the driver */
	struct inventory known; /* cards as they were: for what a driver that hangs does not tell */
};

/* The specs that containers are given devices by. How to add one: a row in specs.c. */
enum survey_spec {
	SPEC_CARDS,  /* whole cards, MIG devices, replicas of both */
	SPEC_SLICES, /* the same cards, by the kind of slices */
	SPEC_GDS,
	SPEC_MOFED,
	SPEC_GDRCOPY,
	SPEC_IMEX,
	SPEC_MAX,
};

struct survey {
	struct survey_wish wish;
	struct device_stuck stuck; /* the daemon's, lent */
	/* What came of it. */
	int r;
	struct error error;         /* of R: the machine cannot be looked at */
	struct inventory inventory; /* as the driver gave it, with what KNOWN adds */
	struct reason reason;       /* why the driver as a whole gives no cards */
	struct driver_files *files; /* owned; NULL: none were found, or nothing to look for */
	unsigned specs_written;     /* how many files were made or changed */
	bool specs_whole;           /* every spec that was asked for is there and right */
	char specs_problem[CARD_TEXT_MAX * 2]; /* why not; "" */
	struct string_list notes;              /* what a container will miss */
};

void survey_release(struct survey *survey);
/* Fills SURVEY from its wish. Blocks, for ever when a disk or procfs does. */
void survey_run(struct survey *survey);
/*
 * The same from what a run before this one left: no driver is asked. -ENOENT, -ESTALE or -EPERM when there
 * is nothing that holds.
 */
int survey_recall(struct survey *survey, struct error *error);

/*
 * What a driver that hangs or a card that is lost does not tell any more is as it was: a card of an
 * address that was known keeps its UUID, size and MIG devices. Those that nobody can name are left out.
 */
int survey_complete(struct inventory *inventory, const struct inventory *known,
		    struct error *error);

/* Writes the specs of SURVEY's inventory and files that are not on the disk as they must be. */
int specs_write(struct survey *survey, struct error *error);
/* The file's name below the CDI directory: "k8s.device-plugin.nvidia.com-gpu.json". */
int specs_name(enum survey_spec spec, char *ret, size_t size);
/* True for a file that is one of these. */
bool specs_is_ours(const char *name);
