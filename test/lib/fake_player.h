/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands of fake_kubelet_main.c know. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "fake_kubelet.h"
#include "wire/wire.h"

#define WORDS_MAX 24

struct player {
	struct loop *loop;
	struct fake_kubelet *kubelet;
	const char *directory, *scenario;
	unsigned line;
	bool allow_twice;
	const char *words[WORDS_MAX];
	size_t count;
	struct error error;
	/* of a wait */
	bool (*done)(struct player *player);
	uint64_t until_ms;
	bool is_done;
	pid_t child; /* of a run */
	int status;
	/* the container runtime */
	const char *cri; /* its socket; NULL: there is none */
	enum kubelet_cdi cdi;
	struct grpc_server *runtime; /* NULL: it is away */
	FILE *log;
	struct strbuf reply; /* of a question */
	struct strbuf input; /* of standard input, until the end of a line */
	bool input_ended;
};

/* Sets the player's error; -EPROTO. */
int player_fail(struct player *player, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Word NUMBER of the command, "" where there are fewer. */
const char *player_word(const struct player *player, size_t number);

/* Questions: each appends to the reply. */
int question_state(struct player *player);
int question_counts(struct player *player);
int question_answer(struct player *player);
int question_holders(struct player *player);
int question_streams(struct player *player);
int question_check(struct player *player);
