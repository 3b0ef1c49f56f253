/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unary calls a second and memory per connection of our gRPC server, and of grpc-go's with the same client in the
 * same run. One JSON object a server; then the budgets. `bench_wire server SOCKET` is our server.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "wire/wire.h"

#define CONNECTIONS    64u
#define IN_FLIGHT      16u
#define MESSAGE        100u  /* bytes */
#define MILLISECONDS   3000u /* at GPUPOOL_TEST_SCALE=100 */
#define CONNECTION_KIB 64.0
#define RATIO_MIN      0.8

struct bench {
	struct loop *loop;
	struct grpc_client *clients[CONNECTIONS];
	uint64_t end_ms;
	unsigned calls, open, wrong;
};

struct result {
	double calls, kib, all; /* a second; KiB of a connection, and of the server */
};

static void fail(const char *what)
{
	fprintf(stderr, "bench_wire: %s\n", what);
	exit(1);
}

static void demand(int r, const struct error *error)
{
	if (r < 0)
		fail(error->message);
}

/* The server */

static void echo(struct grpc_call *call, const void *message, size_t size, void *user)
{
	(void)user;
	grpc_call_send(call, message, size, NULL);
	grpc_call_finish(call, GRPC_OK, NULL);
}

static void on_input(void *user, unsigned events)
{
	(void)events;
	loop_stop(user);
}

static int serve(const char *socket)
{
	static const struct grpc_method methods[] = { { .path = "/test.Test/Echo", .handle = echo },
						      { 0 } };
	const struct grpc_server_options options = { .socket_path = socket,
						     .methods = methods,
						     .limits = { .connections = 1000 } };
	struct error error = ERROR_INIT;
	struct grpc_server *server = NULL;
	struct loop_poll *input = NULL;
	struct loop *loop = NULL;

	demand(loop_new(&loop, &error), &error);
	demand(grpc_server_listen(loop, &options, &server, &error), &error);
	demand(loop_poll_start(loop, STDIN_FILENO, LOOP_READ, on_input, loop, &input, &error),
	       &error);
	loop_run(loop);
	loop_poll_stop(input);
	grpc_server_close(server);
	loop_free(loop);
	return 0;
}

/* The client */

static void call(struct bench *bench, struct grpc_client *client);

static void on_end(enum grpc_status status, const char *text, void *user)
{
	struct bench *bench = user;

	(void)text;
	bench->wrong += status != GRPC_OK;
	bench->calls++;
	bench->open--;
	if (loop_now_ms(bench->loop) < bench->end_ms)
		call(bench, bench->clients[0]);
	else if (!bench->open)
		loop_stop(bench->loop);
}

static void call(struct bench *bench, struct grpc_client *client)
{
	static const char message[MESSAGE];
	const struct grpc_request request = { .path = "/test.Test/Echo",
					      .message = message,
					      .size = sizeof(message),
					      .on_end = on_end,
					      .user = bench };
	struct error error = ERROR_INIT;

	bench->open++;
	demand(grpc_client_call(client, &request, NULL, &error), &error);
}

/* Memory that is the process's alone. */
static double private_kib(pid_t pid)
{
	struct error error = ERROR_INIT;
	autofree char *text = NULL;
	char path[64];
	double sum = 0;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	demand(file_read(path, 65536, &text, NULL, &error), &error);
	for (const char *line = text; (line = strstr(line, "Private_")); line++)
		sum += strtod(strchr(line, ':') + 1, NULL);
	return sum;
}

static struct result measure(const char *socket, pid_t server, unsigned milliseconds)
{
	const struct grpc_client_options options = { .socket_path = socket };
	struct error error = ERROR_INIT;
	struct bench bench = { 0 };
	struct result result;

	demand(loop_new(&bench.loop, &error), &error);
	demand(grpc_client_connect(bench.loop, &options, &bench.clients[0], &error), &error);
	uint64_t start = loop_now_ms(bench.loop);
	bench.end_ms = start + milliseconds;
	for (unsigned i = 0; i < IN_FLIGHT; i++)
		call(&bench, bench.clients[0]);
	loop_run(bench.loop);
	result.calls = bench.calls * 1000.0 / (double)(loop_now_ms(bench.loop) - start);
	double before = private_kib(server);
	for (unsigned i = 1; i < CONNECTIONS; i++) {
		demand(grpc_client_connect(bench.loop, &options, &bench.clients[i], &error),
		       &error);
		call(&bench, bench.clients[i]);
		loop_run(bench.loop);
	}
	result.all = private_kib(server);
	result.kib = (result.all - before) / (CONNECTIONS - 1);
	for (unsigned i = 0; i < CONNECTIONS; i++)
		grpc_client_free(bench.clients[i]);
	loop_free(bench.loop);
	if (bench.wrong)
		fail("calls failed");
	return result;
}

/* Starts ARGV; what it prints goes to *RET_OUTPUT when that is asked for, its input ends with *RET_INPUT. */
static pid_t start(char *const argv[], int *ret_input, int *ret_output)
{
	int input[2], output[2];

	if (pipe(input) < 0 || pipe(output) < 0)
		fail("no pipe");
	pid_t pid = fork();
	if (pid == 0) {
		dup2(input[0], STDIN_FILENO);
		close(input[0]);
		close(input[1]);
		dup2(output[1], STDOUT_FILENO);
		close(output[0]);
		close(output[1]);
		execv(argv[0], argv);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	*ret_input = input[1];
	*ret_output = output[0];
	return pid;
}

static struct result run(const char *name, char *const argv[], const char *socket,
			 unsigned milliseconds)
{
	int input, output;
	pid_t pid = start(argv, &input, &output);

	for (int i = 0; i < 500 && access(socket, F_OK) < 0; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	struct result result = measure(socket, pid, milliseconds);
	close(input);
	close(output);
	waitpid(pid, NULL, 0);
	printf("{\"server\":\"%s\",\"calls_per_second\":%.0f,\"kib_per_connection\":%.1f,"
	       "\"kib\":%.0f}\n",
	       name, result.calls, result.kib, result.all);
	return result;
}

/* grpc-go's server, or the reason why it is not here. */
static bool find_peer(char *ret, size_t size)
{
	const char *root = getenv("GPUPOOL_TEST_ROOT");
	char path[4096];
	int input, output, status;

	snprintf(path, sizeof(path), "%s/test/peers/grpc/build", root ? root : ".");
	pid_t pid = start((char *[]){ path, NULL }, &input, &output);
	close(input);
	size_t length = 0;
	for (ssize_t got;
	     length < size - 1 && (got = read(output, ret + length, size - 1 - length)) > 0;)
		length += (size_t)got;
	close(output);
	ret[length] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
	const char *scale_text = getenv("GPUPOOL_TEST_SCALE");
	char self[] = "/proc/self/exe", server[] = "server", plain[] = "plain";
	char directory[] = "/tmp/gpupool-bench-wire.XXXXXX", socket[64], peer[4096];
	uint64_t scale = 100;

	if (argc == 3 && strcmp(argv[1], "server") == 0)
		return serve(argv[2]);
	if (scale_text && parse_uint(scale_text, 1, 10000, &scale) < 0)
		fail("GPUPOOL_TEST_SCALE is no number from 1 to 10000");
	if (!mkdtemp(directory))
		fail("no directory");
	unsigned milliseconds = (unsigned)(MILLISECONDS * scale / 100) + 100;
	snprintf(socket, sizeof(socket), "%s/ours", directory);
	struct result ours =
		run("gpupool", (char *[]){ self, server, socket, NULL }, socket, milliseconds);
	bool small = ours.kib <= CONNECTION_KIB, fast = true;
	printf("%sok 1 - memory of a connection in KiB: %.1f, budget %.0f\n", small ? "" : "not ",
	       ours.kib, CONNECTION_KIB);
	if (find_peer(peer, sizeof(peer))) {
		snprintf(socket, sizeof(socket), "%s/peer", directory);
		struct result theirs = run("grpc-go", (char *[]){ peer, plain, socket, NULL },
					   socket, milliseconds);
		double ratio = ours.calls / theirs.calls;

		fast = ratio >= RATIO_MIN || scale < 100;
		printf("%sok 2 - calls a second beside grpc-go's: %.2f times, budget %.1f\n1..2\n",
		       fast ? "" : "not ", ratio, RATIO_MIN);
		unlink(socket);
	} else {
		printf("ok 2 - calls a second beside grpc-go's # SKIP %s\n1..2\n", peer);
	}
	rmdir(directory);
	return small && fast ? 0 : 1;
}
