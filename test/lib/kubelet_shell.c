/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubelet_shell DIRECTORY POD-RESOURCES LOG [CRI-SOCKET]: the fake kubelet as a process, for tests of
 * gpupoold as a process. It reads one command a line from standard input, and answers each with one
 * line; calls are appended to LOG. It ends with its input.
 *
 *   start, kill, reboot, advance MS, disconnect RESOURCE, collect, status-ms MS, list-in-allocate 0|1,
 *   admit-delay MS
 *   add NAME CONTAINER:RESOURCE=N...     -> ok
 *   wait NAME                            -> running | rejected TEXT | ...  once it was admitted
 *   pod NAME                             -> the same now
 *   end NAME, force NAME
 *   counts RESOURCE                      -> CAPACITY ALLOCATABLE of the plugin's last list
 *   listed RESOURCE                      -> yes | no
 *   streams                              -> how many are open
 *   ids NAME                             -> RESOURCE ID...  of what its containers hold
 *   answer NAME CONTAINER RESOURCE       -> cdi=..., env K=V, device HOST, annotation K=V, mount HOST
 *   cdi on|off|unknown|away              what the container runtime says
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_kubelet.h"
#include "wire/wire.h"

#define LINE_BYTES 65536
#define TICK_MS    10

struct shell {
	struct loop *loop;
	struct fake_kubelet *kubelet;
	struct grpc_server *runtime;
	const char *cri_socket;
	enum kubelet_cdi cdi;
	FILE *log;
	char input[LINE_BYTES];
	size_t length;
	char waits[256]; /* the Pod whose admission is waited for, or "" */
	struct loop_timer *tick;
	struct strbuf answer;
};

static void die(const char *text, const struct error *error)
{
	fprintf(stderr, "kubelet_shell: %s%s%s\n", text, error ? ": " : "",
		error ? error->message : "");
	exit(1);
}

static void reply(struct shell *shell)
{
	printf("%s\n", shell->answer.length ? shell->answer.data : "ok");
	if (fflush(stdout) != 0)
		exit(1);
	strbuf_reset(&shell->answer);
}

static void on_log(const char *line, void *user)
{
	struct shell *shell = user;

	fprintf(shell->log, "%s\n", line);
	(void)fflush(shell->log);
}

/* ---- the container runtime ---- */

static void on_status(struct grpc_call *call, const void *message, size_t size, void *user)
{
	const struct shell *shell = user;
	static char key[] = "config", on[] = "{\"enableCDI\":true}",
		    off[] = "{\"enableCDI\":false}";
	struct kubelet_pair info = { key, shell->cdi == KUBELET_CDI_ON ? on : off };
	const struct kubelet_runtime_status status = {
		.info = &info, .info_count = shell->cdi == KUBELET_CDI_UNKNOWN ? 0 : 1
	};
	struct kubelet_bytes bytes = { 0 };
	struct error error = ERROR_INIT;

	(void)message;
	(void)size;
	if (kubelet_pack_runtime_status(&status, &bytes, &error) < 0 ||
	    grpc_call_send(call, bytes.data, bytes.size, &error) < 0)
		die("status", &error);
	grpc_call_finish(call, GRPC_OK, NULL);
	kubelet_bytes_release(&bytes);
}

static const struct grpc_method runtime_methods[] = {
	{ "/runtime.v1.RuntimeService/Status", on_status, NULL },
	{ NULL, NULL, NULL },
};

static void serve_runtime(struct shell *shell, const char *word)
{
	const struct grpc_server_options options = { .socket_path = shell->cri_socket,
						     .methods = runtime_methods,
						     .user = shell };
	struct error error = ERROR_INIT;

	grpc_server_close(shell->runtime);
	shell->runtime = NULL;
	shell->cdi = strcmp(word, "on") == 0    ? KUBELET_CDI_ON
		     : strcmp(word, "off") == 0 ? KUBELET_CDI_OFF
						: KUBELET_CDI_UNKNOWN;
	if (shell->cri_socket && strcmp(word, "away") != 0 &&
	    grpc_server_listen(shell->loop, &options, &shell->runtime, &error) < 0)
		die("the runtime's socket", &error);
}

/* ---- commands ---- */

static void tell_pod(struct shell *shell, const char *name)
{
	static const char *const words[] = { "none", "waiting", "running", "rejected", "lingers" };
	enum fake_pod_state state = fake_kubelet_pod(shell->kubelet, name);

	strbuf_addf(&shell->answer, "%s", words[state]);
	if (state == FAKE_POD_REJECTED)
		strbuf_addf(&shell->answer, " %s", fake_kubelet_why(shell->kubelet, name));
}

static void tell_ids(struct shell *shell, const char *name)
{
	cleanup(kubelet_holdings_release) struct kubelet_holdings holdings = { .count = 0 };

	if (fake_kubelet_holders(shell->kubelet, &holdings) < 0)
		die("no memory", NULL);
	for (size_t i = 0; i < holdings.count; i++) {
		if (strcmp(holdings.items[i].pod, name) != 0)
			continue;
		strbuf_addf(&shell->answer, "%s%s", shell->answer.length ? " " : "",
			    holdings.items[i].resource);
		for (size_t k = 0; k < holdings.items[i].ids.count; k++)
			strbuf_addf(&shell->answer, " %s", holdings.items[i].ids.items[k]);
	}
	if (!shell->answer.length)
		strbuf_adds(&shell->answer, "none");
}

static void tell_answer(struct shell *shell, char *arguments)
{
	char *pod = strsep(&arguments, " "), *container = strsep(&arguments, " ");
	const struct kubelet_bytes *bytes =
		arguments ? fake_kubelet_answer(shell->kubelet, pod, container, arguments) : NULL;
	cleanup(kubelet_answer_release) struct kubelet_answer answer = { 0 };
	struct error error = ERROR_INIT;

	if (!bytes) {
		strbuf_adds(&shell->answer, "none");
		return;
	}
	if (kubelet_unpack_answer(bytes->data, bytes->size, &answer, &error) < 0)
		die("answer", &error);
	strbuf_addf(&shell->answer, "size=%zu", bytes->size);
	for (size_t i = 0; i < answer.cdi_devices.count; i++)
		strbuf_addf(&shell->answer, " cdi=%s", answer.cdi_devices.items[i]);
	for (size_t i = 0; i < answer.env_count; i++)
		strbuf_addf(&shell->answer, " env=%s=%s", answer.envs[i].key, answer.envs[i].value);
	for (size_t i = 0; i < answer.annotation_count; i++)
		strbuf_addf(&shell->answer, " annotation=%s=%s", answer.annotations[i].key,
			    answer.annotations[i].value);
	for (size_t i = 0; i < answer.device_count; i++)
		strbuf_addf(&shell->answer, " device=%s", answer.devices[i].host_path);
	for (size_t i = 0; i < answer.mount_count; i++)
		strbuf_addf(&shell->answer, " mount=%s:%s", answer.mounts[i].host_path,
			    answer.mounts[i].container_path);
}

static unsigned number(const char *text)
{
	uint64_t value = 0;

	if (parse_uint(text, 0, UINT32_MAX, &value) < 0)
		die("no number", NULL);
	return (unsigned)value;
}

static void do_start(struct shell *shell, char *arguments)
{
	struct error error = ERROR_INIT;

	(void)arguments;
	if (fake_kubelet_start(shell->kubelet, &error) < 0)
		die("start", &error);
}

static void do_kill(struct shell *shell, char *arguments)
{
	(void)arguments;
	fake_kubelet_kill(shell->kubelet);
}

static void do_reboot(struct shell *shell, char *arguments)
{
	(void)arguments;
	fake_kubelet_reboot(shell->kubelet);
}

static void do_advance(struct shell *shell, char *arguments)
{
	fake_kubelet_advance(shell->kubelet, number(arguments));
}

static void do_disconnect(struct shell *shell, char *arguments)
{
	fake_kubelet_disconnect(shell->kubelet, arguments);
}

static void do_collect(struct shell *shell, char *arguments)
{
	(void)arguments;
	fake_kubelet_collect(shell->kubelet);
}

static void do_status_ms(struct shell *shell, char *arguments)
{
	fake_kubelet_knobs(shell->kubelet)->status_ms = number(arguments);
}

static void do_admit_delay(struct shell *shell, char *arguments)
{
	fake_kubelet_knobs(shell->kubelet)->admit_delay_ms = number(arguments);
}

static void do_list_in_allocate(struct shell *shell, char *arguments)
{
	fake_kubelet_knobs(shell->kubelet)->list_in_allocate = number(arguments) != 0;
}

static void do_add(struct shell *shell, char *arguments)
{
	const char *name = strsep(&arguments, " ");
	struct error error = ERROR_INIT;

	if (!arguments || fake_kubelet_add_pod(shell->kubelet, name, arguments, &error) < 0)
		die("add", &error);
}

static void do_pod(struct shell *shell, char *arguments)
{
	tell_pod(shell, arguments);
}

static void do_wait(struct shell *shell, char *arguments)
{
	(void)snprintf(shell->waits, sizeof(shell->waits), "%s", arguments);
}

static void do_ids(struct shell *shell, char *arguments)
{
	tell_ids(shell, arguments);
}

static void do_end(struct shell *shell, char *arguments)
{
	fake_kubelet_end_pod(shell->kubelet, arguments);
}

static void do_force(struct shell *shell, char *arguments)
{
	fake_kubelet_force_delete(shell->kubelet, arguments);
}

static void do_counts(struct shell *shell, char *arguments)
{
	struct fake_counts counts = fake_kubelet_counts(shell->kubelet, arguments, true);

	strbuf_addf(&shell->answer, "%zu %zu", counts.capacity, counts.allocatable);
}

static void do_listed(struct shell *shell, char *arguments)
{
	strbuf_adds(&shell->answer,
		    fake_kubelet_is_listed(shell->kubelet, arguments) ? "yes" : "no");
}

static void do_streams(struct shell *shell, char *arguments)
{
	(void)arguments;
	strbuf_addf(&shell->answer, "%u", fake_kubelet_streams(shell->kubelet));
}

static void do_cdi(struct shell *shell, char *arguments)
{
	serve_runtime(shell, arguments);
}

static const struct {
	const char *name;
	void (*run)(struct shell *shell, char *arguments);
} commands[] = {
	{ "start", do_start },
	{ "kill", do_kill },
	{ "reboot", do_reboot },
	{ "advance", do_advance },
	{ "collect", do_collect },
	{ "disconnect", do_disconnect },
	{ "add", do_add },
	{ "pod", do_pod },
	{ "wait", do_wait },
	{ "end", do_end },
	{ "force", do_force },
	{ "counts", do_counts },
	{ "listed", do_listed },
	{ "streams", do_streams },
	{ "ids", do_ids },
	{ "answer", tell_answer },
	{ "cdi", do_cdi },
	{ "status-ms", do_status_ms },
	{ "list-in-allocate", do_list_in_allocate },
	{ "admit-delay", do_admit_delay },
};

static void run_line(struct shell *shell, char *line)
{
	char *arguments = line, *name = strsep(&arguments, " ");
	static char none[] = "";

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, name) == 0) {
			commands[i].run(shell, arguments ? arguments : none);
			if (!shell->waits[0])
				reply(shell);
			return;
		}
	strbuf_addf(&shell->answer, "no such command: %s", name);
	reply(shell);
}

/* What a Pod waits for is seen by looking: the kubelet of a cluster has no better way. */
static void on_tick(void *user)
{
	struct shell *shell = user;

	if (!shell->waits[0] || fake_kubelet_pod(shell->kubelet, shell->waits) == FAKE_POD_WAITING)
		return;
	tell_pod(shell, shell->waits);
	shell->waits[0] = '\0';
	reply(shell);
}

static void on_input(void *user, unsigned events)
{
	struct shell *shell = user;
	ssize_t got = read(STDIN_FILENO, shell->input + shell->length,
			   sizeof(shell->input) - 1 - shell->length);
	char *end;

	(void)events;
	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0) {
		loop_stop(shell->loop);
		return;
	}
	shell->length += (size_t)got;
	shell->input[shell->length] = '\0';
	while ((end = strchr(shell->input, '\n'))) {
		*end = '\0';
		run_line(shell, shell->input);
		shell->length -= (size_t)(end + 1 - shell->input);
		memmove(shell->input, end + 1, shell->length + 1);
	}
}

int main(int argc, char **argv)
{
	static struct shell shell = { .answer = STRBUF_INIT(1u << 20) };
	struct loop_poll *poll = NULL;
	struct error error = ERROR_INIT;

	if (argc < 4)
		die("usage: kubelet_shell DIRECTORY POD-RESOURCES LOG [CRI-SOCKET]", NULL);
	const struct fake_kubelet_options options = { .directory = argv[1],
						      .pod_resources = argv[2],
						      .seed = 1,
						      .log = on_log,
						      .user = &shell };
	shell.log = fopen(argv[3], "ae");
	shell.cri_socket = argv[4];
	if (!shell.log || loop_new(&shell.loop, &error) < 0 ||
	    fake_kubelet_new(shell.loop, &options, &shell.kubelet, &error) < 0 ||
	    loop_poll_start(shell.loop, STDIN_FILENO, LOOP_READ, on_input, &shell, &poll, &error) <
		    0 ||
	    loop_timer_start(shell.loop, TICK_MS, TICK_MS, on_tick, &shell, &shell.tick, &error) <
		    0)
		die("start", &error);
	loop_run(shell.loop);
	loop_timer_stop(shell.tick);
	loop_poll_stop(poll);
	grpc_server_close(shell.runtime);
	fake_kubelet_free(shell.kubelet);
	loop_free(shell.loop);
	strbuf_release(&shell.answer);
	fclose(shell.log);
	return 0;
}
