/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_kubelet [--log FILE] [--cri SOCKET --cdi on|off|unknown] DIRECTORY SCENARIO [POD_RESOURCES_SOCKET]
 * plays a kubelet (fake_kubelet.h) against whatever registers in DIRECTORY. Prints the log of calls; ends with 1 and
 * one sentence when an expectation is not met, or an ID is in the hands of two Pods. FAKE_KUBELET_SEED: of what
 * is random. SCENARIO "-": commands come on standard input; each is answered with one line, "ok", what was asked, or
 * "failed: " and a sentence, until the end of input; the log goes to FILE then. --cri: a container runtime's Status.
 *
 * A scenario is a text with one command a line; "#" begins a comment. RESOURCE, POD, NUMBER as they are:
 *	kubelet start | kill | restart
 *	wait listed RESOURCE [HEALTHY [UNHEALTHY]]	the stream is open, and so many devices are in the list
 *	wait unlisted RESOURCE
 *	wait idle					no Pod waits for admission
 *	wait file PATH
 *	pod POD WORDS...	a Pod, as of fake_kubelet_add_pod(); waits until it was admitted or rejected
 *	send POD WORDS...	the same, and does not wait
 *	end POD			its containers ended
 *	force-delete POD	the kubelet forgets it while its containers run
 *	expect admitted POD
 *	expect rejected POD [TEXT...]			TEXT is in the reason
 *	expect now RESOURCE CAPACITY ALLOCATABLE
 *	expect node RESOURCE CAPACITY ALLOCATABLE	as the API server has it
 *	expect held RESOURCE NUMBER			devices in running containers
 *	expect streams NUMBER
 *	list			somebody calls List of pod-resources
 *	disconnect RESOURCE	the kubelet ends the plugin's stream
 *	remove socket | checkpoint
 *	damage checkpoint	cuts it off in the middle
 *	reboot			between kill and start: containers end
 *	advance MS		the kubelet's clock jumps
 *	pause MS		time passes
 *	set KNOB NUMBER		struct fake_kubelet_knobs
 *	allow twice		from here on IDs may be in two hands, and "twice" lines say so
 *	run COMMAND...		by sh
 *	touch PATH
 *
 *	cdi on | off | unknown | away	what the container runtime says; away: it does not run
 *	state POD		prints none, waiting, running, rejected: WHY, or lingers
 *	counts RESOURCE		prints what the node has now and what the API server has
 *	answer POD CONTAINER RESOURCE	prints what the container was given, in words KIND:...
 *	holders			prints POD/CONTAINER:RESOURCE={IDs} of running containers
 *	streams			prints how many are open
 *	check LEDGER		running containers hold nothing together that excludes each other, and all of it is in
 *				that file of gpupoold
 *
 * How to add a command: a row in commands[] and a line here; one that prints something is in fake_questions.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_player.h"
#include "fake_runtime.h"

#define PATIENCE_MS 30000

static void print_line(const char *line, void *user)
{
	struct player *player = user;

	fprintf(player->log, "%s\n", line);
	fflush(player->log);
}

static bool is(const struct player *player, size_t number, const char *text)
{
	return strcmp(player_word(player, number), text) == 0;
}

static int number_at(struct player *player, size_t at, uint64_t *ret)
{
	if (parse_uint(player_word(player, at), 0, UINT32_MAX, ret) < 0)
		return player_fail(player, "'%s' is no number", player_word(player, at));
	return 0;
}

/* The words from AT on as one text; caller frees. */
static char *rest(const struct player *player, size_t at)
{
	autostrbuf text = STRBUF_INIT(4096);

	for (size_t i = at; i < player->count; i++)
		strbuf_addf(&text, "%s%s", i > at ? " " : "", player->words[i]);
	return strbuf_detach(&text);
}

/* --- waiting --- */

static void look(void *user)
{
	struct player *player = user;

	player->is_done = player->done(player);
	if (player->is_done || loop_now_ms(player->loop) >= player->until_ms)
		loop_stop(player->loop);
}

static bool wait_for(struct player *player, bool (*done)(struct player *player), uint64_t ms)
{
	struct loop_timer *timer = NULL;

	player->done = done;
	player->is_done = false;
	player->until_ms = loop_now_ms(player->loop) + ms;
	if (loop_timer_start(player->loop, 0, 2, look, player, &timer, &player->error) < 0)
		return false;
	loop_run(player->loop);
	loop_timer_stop(timer);
	return player->is_done;
}

static bool never(struct player *player __attribute__((unused)))
{
	return false;
}

static bool is_idle(struct player *player)
{
	return fake_kubelet_idle(player->kubelet);
}

static bool is_listed(struct player *player)
{
	struct fake_counts counts =
		fake_kubelet_counts(player->kubelet, player_word(player, 2), true);
	uint64_t healthy, sick;

	if (!fake_kubelet_is_listed(player->kubelet, player_word(player, 2)))
		return false;
	if (player->count > 3 && (parse_uint(player_word(player, 3), 0, UINT32_MAX, &healthy) < 0 ||
				  healthy != counts.allocatable))
		return false;
	return player->count <= 4 ||
	       (parse_uint(player_word(player, 4), 0, UINT32_MAX, &sick) == 0 &&
		sick == counts.capacity - counts.allocatable);
}

static bool is_unlisted(struct player *player)
{
	return !fake_kubelet_is_listed(player->kubelet, player_word(player, 2));
}

static bool has_file(struct player *player)
{
	return access(player_word(player, 2), F_OK) == 0;
}

static int do_wait(struct player *player)
{
	static const struct {
		const char *word;
		bool (*done)(struct player *player);
	} rows[] = { { "listed", is_listed },
		     { "unlisted", is_unlisted },
		     { "idle", is_idle },
		     { "file", has_file } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!is(player, 1, rows[i].word))
			continue;
		if (wait_for(player, rows[i].done, PATIENCE_MS))
			return 0;
		struct fake_counts counts =
			fake_kubelet_counts(player->kubelet, player_word(player, 2), true);
		return player_fail(player,
				   "it did not come within 30 s; %s has %zu devices, %zu healthy",
				   player_word(player, 2), counts.capacity, counts.allocatable);
	}
	return player_fail(player, "there is no 'wait %s'", player_word(player, 1));
}

/* --- commands --- */

static int do_kubelet(struct player *player)
{
	if (is(player, 1, "kill") || is(player, 1, "restart"))
		fake_kubelet_kill(player->kubelet);
	if (is(player, 1, "start") || is(player, 1, "restart"))
		return fake_kubelet_start(player->kubelet, &player->error);
	return is(player, 1, "kill")
		       ? 0
		       : player_fail(player, "there is no 'kubelet %s'", player_word(player, 1));
}

static int do_send(struct player *player)
{
	autofree char *text = rest(player, 2);

	return fake_kubelet_add_pod(player->kubelet, player_word(player, 1), text ? text : "",
				    &player->error);
}

static int do_pod(struct player *player)
{
	int r = do_send(player);

	if (r == 0 && !wait_for(player, is_idle, PATIENCE_MS))
		return player_fail(player, "Pod %s still waits for admission after 30 s",
				   player_word(player, 1));
	return r;
}

static int do_end(struct player *player)
{
	if (fake_kubelet_pod(player->kubelet, player_word(player, 1)) == FAKE_POD_NONE)
		return player_fail(player, "there is no Pod %s", player_word(player, 1));
	if (is(player, 0, "end"))
		fake_kubelet_end_pod(player->kubelet, player_word(player, 1));
	else
		fake_kubelet_force_delete(player->kubelet, player_word(player, 1));
	return 0;
}

static int expect_pod(struct player *player)
{
	enum fake_pod_state state = fake_kubelet_pod(player->kubelet, player_word(player, 2));
	const char *why = fake_kubelet_why(player->kubelet, player_word(player, 2));
	autofree char *text = rest(player, 3);

	if (is(player, 1, "admitted") && state != FAKE_POD_RUNNING)
		return player_fail(player, "Pod %s does not run: %s", player_word(player, 2), why);
	if (is(player, 1, "rejected") && state != FAKE_POD_REJECTED)
		return player_fail(player, "Pod %s was not rejected", player_word(player, 2));
	if (is(player, 1, "rejected") && text && !strstr(why, text))
		return player_fail(player, "Pod %s was rejected by other words: %s",
				   player_word(player, 2), why);
	return 0;
}

static int expect_counts(struct player *player)
{
	struct fake_counts counts =
		fake_kubelet_counts(player->kubelet, player_word(player, 2), is(player, 1, "now"));
	uint64_t capacity, allocatable;

	int r = number_at(player, 3, &capacity);
	r = r < 0 ? r : number_at(player, 4, &allocatable);
	if (r < 0)
		return r;
	if (counts.capacity != capacity || counts.allocatable != allocatable)
		return player_fail(player, "%s has capacity %zu and allocatable %zu",
				   player_word(player, 2), counts.capacity, counts.allocatable);
	return 0;
}

static int expect_held(struct player *player)
{
	cleanup(kubelet_holdings_release) struct kubelet_holdings holdings = { .items = NULL };
	automap *ids = map_new();
	uint64_t wanted;

	int r = number_at(player, 3, &wanted);
	if (r < 0 || !ids)
		return r;
	fake_kubelet_holders(player->kubelet, &holdings);
	for (size_t i = 0; i < holdings.count; i++)
		for (size_t j = 0;
		     strcmp(holdings.items[i].resource, player_word(player, 2)) == 0 &&
		     j < holdings.items[i].ids.count;
		     j++)
			map_put(ids, holdings.items[i].ids.items[j], ids);
	if (map_count(ids) != wanted)
		return player_fail(player, "%zu devices of %s are held", map_count(ids),
				   player_word(player, 2));
	return 0;
}

static int do_expect(struct player *player)
{
	uint64_t streams;

	if (is(player, 1, "admitted") || is(player, 1, "rejected"))
		return expect_pod(player);
	if (is(player, 1, "now") || is(player, 1, "node"))
		return expect_counts(player);
	if (is(player, 1, "held"))
		return expect_held(player);
	if (!is(player, 1, "streams"))
		return player_fail(player, "there is no 'expect %s'", player_word(player, 1));
	int r = number_at(player, 2, &streams);
	if (r == 0 && fake_kubelet_streams(player->kubelet) != streams)
		return player_fail(player, "%u streams are open",
				   fake_kubelet_streams(player->kubelet));
	return r;
}

static int do_list(struct player *player)
{
	fake_kubelet_collect(player->kubelet);
	return 0;
}

static int do_disconnect(struct player *player)
{
	fake_kubelet_disconnect(player->kubelet, player_word(player, 1));
	return 0;
}

static int do_remove(struct player *player)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", player->directory,
		 is(player, 1, "socket") ? KUBELET_SOCKET_NAME : KUBELET_CHECKPOINT_NAME);
	return unlink(path) < 0 ? error_set_errno(&player->error, errno, "%s", path) : 0;
}

static int do_damage(struct player *player)
{
	char path[512];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", player->directory, KUBELET_CHECKPOINT_NAME);
	if (stat(path, &status) < 0 || truncate(path, status.st_size / 2) < 0)
		return error_set_errno(&player->error, errno, "%s", path);
	return 0;
}

static int do_reboot(struct player *player)
{
	if (fake_kubelet_runs(player->kubelet))
		return player_fail(player, "the kubelet runs; 'kubelet kill' comes first");
	fake_kubelet_reboot(player->kubelet);
	return 0;
}

static int do_time(struct player *player)
{
	uint64_t ms;

	int r = number_at(player, 1, &ms);
	if (r == 0 && is(player, 0, "advance"))
		fake_kubelet_advance(player->kubelet, ms);
	else if (r == 0)
		wait_for(player, never, ms);
	return r;
}

static int do_set(struct player *player)
{
	struct fake_kubelet_knobs *knobs = fake_kubelet_knobs(player->kubelet);
	const struct {
		const char *name;
		unsigned *number;
		bool *flag;
	} rows[] = {
		{ "old_clients", NULL, &knobs->old_clients },
		{ "dial_ms", &knobs->dial_ms, NULL },
		{ "dial_delay_ms", &knobs->dial_delay_ms, NULL },
		{ "stream_delay_ms", &knobs->stream_delay_ms, NULL },
		{ "admit_delay_ms", &knobs->admit_delay_ms, NULL },
		{ "status_ms", &knobs->status_ms, NULL },
		{ "grace_ms", &knobs->grace_ms, NULL },
		{ "most_available", &knobs->most_available, NULL },
		{ "list_in_allocate", NULL, &knobs->list_in_allocate },
		{ "refuse_questions", NULL, &knobs->refuse_questions },
	};
	uint64_t value;

	int r = number_at(player, 2, &value);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rows); i++) {
		if (!is(player, 1, rows[i].name))
			continue;
		if (rows[i].number)
			*rows[i].number = (unsigned)value;
		else
			*rows[i].flag = value != 0;
		return 0;
	}
	return r < 0 ? r : player_fail(player, "there is no knob '%s'", player_word(player, 1));
}

static int do_allow(struct player *player)
{
	player->allow_twice = true;
	return 0;
}

static bool has_ended(struct player *player)
{
	return waitpid(player->child, &player->status, WNOHANG) != 0;
}

static int do_run(struct player *player)
{
	autofree char *command = rest(player, 1);
	char shell[] = "sh", option[] = "-c";
	char *const argv[] = { shell, option, command, NULL };

	int r = posix_spawnp(&player->child, "sh", NULL, NULL, argv, environ);
	if (r)
		return error_set_errno(&player->error, r, "sh");
	player->status = -1;
	bool ended = wait_for(player, has_ended, PATIENCE_MS);
	if (!ended || player->status != 0)
		return player_fail(player, "the command %s",
				   ended ? "failed" : "did not end within 30 s");
	return 0;
}

static int do_touch(struct player *player)
{
	autoclose int fd = open(player_word(player, 1), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	return fd < 0 ? error_set_errno(&player->error, errno, "%s", player_word(player, 1)) : 0;
}

static int do_cdi(struct player *player)
{
	player->cdi = is(player, 1, "on")    ? KUBELET_CDI_ON
		      : is(player, 1, "off") ? KUBELET_CDI_OFF
					     : KUBELET_CDI_UNKNOWN;
	if (is(player, 1, "away")) {
		grpc_server_close(TAKE_PTR(player->runtime));
		return 0;
	}
	if (!player->cri || player->runtime)
		return 0;
	return fake_runtime_listen(player->loop, player->cri, &player->cdi, &player->runtime,
				   &player->error);
}

static const struct {
	const char *name;
	size_t least, most; /* words after the name */
	int (*run)(struct player *player);
} commands[] = {
	{ "kubelet", 1, 1, do_kubelet },
	{ "wait", 1, 4, do_wait },
	{ "pod", 1, WORDS_MAX, do_pod },
	{ "send", 1, WORDS_MAX, do_send },
	{ "end", 1, 1, do_end },
	{ "force-delete", 1, 1, do_end },
	{ "expect", 2, WORDS_MAX, do_expect },
	{ "list", 0, 0, do_list },
	{ "disconnect", 1, 1, do_disconnect },
	{ "remove", 1, 1, do_remove },
	{ "damage", 1, 1, do_damage },
	{ "reboot", 0, 0, do_reboot },
	{ "advance", 1, 1, do_time },
	{ "pause", 1, 1, do_time },
	{ "set", 2, 2, do_set },
	{ "allow", 1, 1, do_allow },
	{ "run", 1, WORDS_MAX, do_run },
	{ "touch", 1, 1, do_touch },
	{ "cdi", 1, 1, do_cdi },
	{ "state", 1, 1, question_state },
	{ "counts", 1, 1, question_counts },
	{ "answer", 3, 3, question_answer },
	{ "holders", 0, 0, question_holders },
	{ "streams", 0, 0, question_streams },
	{ "check", 1, 1, question_check },
};

/* --- I1: an ID is in one Pod's hands --- */

static int check_hands(struct player *player)
{
	cleanup(kubelet_holdings_release) struct kubelet_holdings holdings = { .items = NULL };
	automap *hands = map_new();

	fake_kubelet_holders(player->kubelet, &holdings);
	for (size_t i = 0; hands && i < holdings.count; i++) {
		const struct kubelet_holding *holding = &holdings.items[i];

		for (size_t j = 0; j < holding->ids.count; j++) {
			const char *other = map_get(hands, holding->ids.items[j]);
			bool twice = other && strcmp(other, holding->pod) != 0;

			if (twice && !player->allow_twice)
				return player_fail(player, "%s is in the hands of Pods %s and %s",
						   holding->ids.items[j], other, holding->pod);
			if (twice)
				fprintf(player->log, "twice %s: %s, %s\n", holding->ids.items[j],
					other, holding->pod);
			map_put(hands, holding->ids.items[j], holding->pod);
		}
	}
	return 0;
}

/* --- the scenario --- */

static int run_line(struct player *player, char *line)
{
	char *comment = strchr(line, '#'), *next;

	if (comment)
		*comment = '\0';
	player->count = 0;
	while ((next = strsep(&line, " \t")) != NULL) {
		if (*next && player->count == WORDS_MAX)
			return player_fail(player, "more than %d words", WORDS_MAX);
		if (*next)
			player->words[player->count++] = next;
	}
	if (!player->count)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!is(player, 0, commands[i].name))
			continue;
		if (player->count - 1 < commands[i].least || player->count - 1 > commands[i].most)
			return player_fail(player, "%s takes %zu to %zu words", commands[i].name,
					   commands[i].least, commands[i].most);
		int r = commands[i].run(player);
		return r < 0 ? r : check_hands(player);
	}
	return player_fail(player, "there is no command '%s'", player->words[0]);
}

static int play(struct player *player)
{
	autofree char *text = NULL;
	size_t length = 0;

	int r = file_read(player->scenario, 1 << 20, &text, &length, &player->error);
	char *left = text;
	for (char *line; r == 0 && (line = strsep(&left, "\n")) != NULL;) {
		autofree char *copy = strdup(line);

		player->line++;
		strbuf_reset(&player->reply);
		r = copy ? run_line(player, copy) : -ENOMEM;
		if (r == 0 && player->reply.length)
			print_line(player->reply.data, player);
		if (r < 0)
			error_wrap(&player->error, "%s:%u: %s", player->scenario, player->line,
				   line);
	}
	return r;
}

/* --- commands as they come --- */

static void read_input(void *user, unsigned events __attribute__((unused)))
{
	struct player *player = user;
	char bytes[4096];

	ssize_t length = read(STDIN_FILENO, bytes, sizeof(bytes));
	if (length > 0)
		strbuf_add(&player->input, bytes, (size_t)length);
	else if (length == 0 || errno != EAGAIN)
		player->input_ended = true;
}

static bool has_line(struct player *player)
{
	return player->input_ended || strchr(player->input.data, '\n');
}

static void answer_line(struct player *player, char *line)
{
	player->error = (struct error)ERROR_INIT;
	strbuf_reset(&player->reply);
	int r = run_line(player, line);
	if (r < 0)
		printf("failed: %s\n", player->error.message);
	else
		printf("%s\n", player->reply.length ? player->reply.data : "ok");
	fflush(stdout);
}

static int converse(struct player *player)
{
	struct loop_poll *poll = NULL;

	int r = loop_poll_start(player->loop, STDIN_FILENO, LOOP_READ, read_input, player, &poll,
				&player->error);
	while (r == 0) {
		autofree char *line = NULL, *left = NULL;

		/* A day: what waits there is a test, which has its own patience. */
		if (!player->input_ended && !wait_for(player, has_line, 86400000))
			break;
		char *end = strchr(player->input.data, '\n');
		if (!end)
			break;
		line = strndup(player->input.data, (size_t)(end - player->input.data));
		left = strdup(end + 1);
		if (!line || !left)
			break;
		strbuf_reset(&player->input);
		strbuf_adds(&player->input, left);
		answer_line(player, line);
		if (player->input_ended)
			loop_poll_set(poll, 0);
	}
	loop_poll_stop(poll);
	return r;
}

struct arguments {
	const char *log, *cri, *cdi, *seed;
	const char *names[3];
	size_t count;
};

static bool take_arguments(int argc, char **argv, struct arguments *ret)
{
	const struct {
		const char *name, **value;
	} options[] = { { "--log", &ret->log }, { "--cri", &ret->cri }, { "--cdi", &ret->cdi } };

	for (int i = 1; i < argc; i++) {
		size_t option = 0;

		while (option < ARRAY_SIZE(options) && strcmp(argv[i], options[option].name) != 0)
			option++;
		if (option < ARRAY_SIZE(options)) {
			if (++i == argc)
				return false;
			*options[option].value = argv[i];
		} else if (ret->count == ARRAY_SIZE(ret->names)) {
			return false;
		} else {
			ret->names[ret->count++] = argv[i];
		}
	}
	return ret->count >= 2;
}

static int prepare(struct player *player, const struct arguments *arguments, uint64_t seed)
{
	const struct fake_kubelet_options options = { .directory = arguments->names[0],
						      .pod_resources = arguments->names[2],
						      .seed = (uint32_t)seed,
						      .log = print_line,
						      .user = player };

	player->log = arguments->log ? fopen(arguments->log, "ae") : stdout;
	if (!player->log)
		return error_set_errno(&player->error, errno, "%s", arguments->log);
	int r = loop_new(&player->loop, &player->error);
	if (r == 0)
		r = fake_kubelet_new(player->loop, &options, &player->kubelet, &player->error);
	player->cri = arguments->cri;
	player->words[1] = arguments->cdi;
	player->count = arguments->cdi ? 2 : 0;
	return r < 0 ? r : do_cdi(player);
}

int main(int argc, char **argv)
{
	struct player player = { .error = ERROR_INIT,
				 .reply = STRBUF_INIT(1 << 20),
				 .input = STRBUF_INIT(1 << 20) };
	struct arguments arguments = { .seed = getenv("FAKE_KUBELET_SEED") };
	uint64_t seed = 1;

	if (!take_arguments(argc, argv, &arguments) ||
	    (arguments.seed && parse_uint(arguments.seed, 0, UINT32_MAX, &seed) < 0)) {
		fprintf(stderr,
			"usage: fake_kubelet [--log FILE] [--cri SOCKET --cdi on|off|unknown] "
			"DIRECTORY SCENARIO [POD_RESOURCES_SOCKET]\n");
		return 2;
	}
	player.directory = arguments.names[0];
	player.scenario = arguments.names[1];
	int r = prepare(&player, &arguments, seed);
	if (r == 0)
		r = strcmp(player.scenario, "-") == 0 ? converse(&player) : play(&player);
	if (r < 0)
		fprintf(stderr, "fake_kubelet: %s\n", player.error.message);
	fake_kubelet_free(player.kubelet);
	grpc_server_close(player.runtime);
	if (player.loop)
		loop_free(player.loop);
	if (player.log && player.log != stdout)
		fclose(player.log);
	strbuf_release(&player.reply);
	strbuf_release(&player.input);
	return r < 0;
}
