/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define CHUNK_SIZE    (64 * 1024)
#define LINE_SIZE_MAX ((size_t)16 << 20)

struct simulate_replay_options {
	struct common_options common;
};

static const struct option_row simulate_replay_rows[] = {
	COMMON_ROW_JSON(struct simulate_replay_options),
	{ .name = NULL },
};

/* Of CHUNK as many whole lines as there are; LINE has what is left of one before. */
static int play_chunk(struct playback *playback, const char *chunk, size_t length,
		      struct strbuf *line, struct error *error)
{
	while (length) {
		const char *end = memchr(chunk, '\n', length);
		size_t size = end ? (size_t)(end - chunk) : length;
		int r = 0;

		strbuf_add(line, chunk, size);
		if (end || strbuf_failed(line) < 0) {
			r = playback_line(
				playback, line->data,
				strbuf_failed(line) < 0 ? LINE_SIZE_MAX + 1 : line->length, error);
			strbuf_reset(line);
		}
		if (r)
			return r;
		chunk += size + (end != NULL);
		length -= size + (end != NULL);
	}
	return 0;
}

static int play_file(struct playback *playback, const char *path, int fd, struct error *error)
{
	autostrbuf line = STRBUF_INIT(LINE_SIZE_MAX);
	autofree char *chunk = malloc(CHUNK_SIZE);
	int r = 0;

	if (!chunk)
		return error_no_memory(error);
	for (;;) {
		ssize_t length = read(fd, chunk, CHUNK_SIZE);

		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return error_set_errno(error, errno, "cannot read %s", path);
		if (length == 0)
			break;
		r = play_chunk(playback, chunk, (size_t)length, &line, error);
		if (r)
			return r;
	}
	if (line.length) /* a line that was cut off, or the last one of a careful editor */
		r = playback_line(playback, line.data, line.length, error);
	return r ? r : playback_end(playback, error);
}

static int play_path(struct playback *playback, const char *path, struct error *error)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return error_set_errno(error, errno, "cannot open %s", path);
	r = play_file(playback, path, fd, error);
	if (!standard)
		close(fd);
	return r;
}

static int print_state_json(const struct playback_state *state)
{
	autojson *object = json_object_new_object();
	struct error error = ERROR_INIT;
	char checksum[24];

	snprintf(checksum, sizeof(checksum), "%016" PRIx64, state->checksum);
	if (json_add_bool(object, "equal", !state->line) < 0 ||
	    json_add_uint(object, "decisions", state->decisions) < 0 ||
	    json_add_string(object, "checksum", checksum) < 0 ||
	    (state->line && (json_add_uint(object, "line", state->line) < 0 ||
			     json_add_string(object, "recorded", state->recorded) < 0 ||
			     json_add_string(object, "now", state->now) < 0))) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(object);
}

static int print_state(const struct playback_state *state, const char *path, bool json)
{
	int code = state->line ? EXIT_FAILED : EXIT_DONE;

	if (json) {
		int printed = print_state_json(state);

		return printed == EXIT_DONE ? code : printed;
	}
	if (state->line)
		print_text(stdout,
			   "%s:%lu: the first answer that differs\nrecorded: %snow:      %s", path,
			   state->line, state->recorded, state->now);
	else
		printf("%" PRIu64 " decisions, all equal\n", state->decisions);
	return code;
}

static int simulate_replay(void *data, int argc, char **argv)
{
	const struct simulate_replay_options *options = data;
	struct error error = ERROR_INIT;
	struct playback_state state;

	if (argc != 1) {
		error_set(&error, EINVAL,
			  "sim replay wants one log of decisions; write gpupool sim replay FILE");
		return fail(EXIT_USAGE, &error);
	}
	autoplayback *playback = playback_new(argv[0]);

	if (!playback) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	if (play_path(playback, argv[0], &error) < 0)
		return fail(EXIT_FAILED, &error);
	playback_state(playback, &state);
	return print_state(&state, argv[0], options->common.json);
}

const struct command command_sim_replay = {
	.name = "sim replay",
	.summary = "ask again what a log of decisions was asked, and compare the answers",
	.operands = "FILE",
	.description =
		"The log is one that gpupool sim run --record wrote; - is standard input. Its "
		"nodes "
		"make a new pool, every question is asked again in its order, and each answer must "
		"be the recorded one to the letter. Exit code 1: one is not, and it is printed "
		"beside the answer of now; or the log is broken or not whole.",
	.examples = "gpupool sim run --cluster-text '20 nodes of 8 h100; 300 Pods of 12 GiB' "
		    "--record log.jsonl\n"
		    "gpupool sim replay log.jsonl",
	.options = simulate_replay_rows,
	.run = simulate_replay,
	.size = sizeof(struct simulate_replay_options),
};
