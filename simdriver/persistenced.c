/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated nvidia-persistenced: the kernel module behind its sockets. One thread, one epoll
 * loop; nothing that a client sends or leaves undone stops the others.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "kernel.h"
#include "shown.h"

#define RUN_FOLDER "/run/nvidia-persistenced"
#define PID_FILE   RUN_FOLDER "/nvidia-persistenced.pid"

#define SOCKET_PATH_MAX sizeof(((struct sockaddr_un *)0)->sun_path)

struct connection {
	struct connection *next, *previous;
	int socket;
	struct kernel_client *client;
	bool held; /* the driver hangs: the request waits for its reply */
	struct sim_request request;
};

struct server {
	struct kernel kernel;
	struct connection *connections;
	const char *root;
	int log; /* the kernel's log of the root */
	uint64_t logged;
	int epoll, signals, listener, in_root, control;
	int spare; /* given up for a moment when descriptors run out, to refuse a client properly */
	char control_path[SOCKET_PATH_MAX], root_path[SOCKET_PATH_MAX];
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int fail(const char *what, const char *object)
{
	fprintf(stderr, "nvidia-persistenced: %s %s: %s\n", what, object, strerror(errno));
	return -1;
}

static void connection_close(struct server *server, struct connection *connection)
{
	close(connection->socket);
	if (connection->client != NULL)
		kernel_client_end(&server->kernel, connection->client, now_ms());
	if (connection->previous != NULL)
		connection->previous->next = connection->next;
	else
		server->connections = connection->next;
	if (connection->next != NULL)
		connection->next->previous = connection->previous;
	free(connection);
}

static void connection_open(struct server *server, int socket_, bool control)
{
	struct connection *connection = calloc(1, sizeof(*connection));
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = connection };
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);

	if (connection == NULL) {
		close(socket_);
		return;
	}
	connection->socket = socket_;
	connection->next = server->connections;
	if (connection->next != NULL)
		connection->next->previous = connection;
	server->connections = connection;
	if (getsockopt(socket_, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
		connection->client = kernel_client_begin(&server->kernel, peer.pid, control);
	if (connection->client != NULL)
		connection->client->owner = connection;
	if (connection->client == NULL ||
	    epoll_ctl(server->epoll, EPOLL_CTL_ADD, socket_, &event) != 0)
		connection_close(server, connection);
}

static void accept_one(struct server *server, int listener)
{
	int socket_ = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (socket_ >= 0) {
		connection_open(server, socket_, listener == server->control);
	} else if ((errno == EMFILE || errno == ENFILE) && server->spare >= 0) {
		close(server->spare);
		socket_ = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (socket_ >= 0)
			close(socket_);
		server->spare = dup(server->epoll);
	}
}

/* False when the client does not read what it asked for: it is not waited for. */
static bool reply_to(const struct connection *connection, const struct sim_reply *reply)
{
	return send(connection->socket, reply, sizeof(*reply), MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       (ssize_t)sizeof(*reply);
}

static bool connection_handle(struct server *server, struct connection *connection)
{
	struct sim_reply reply;

	connection->held = kernel_handle(&server->kernel, connection->client, &connection->request,
					 &reply) == KERNEL_HOLD;
	return connection->held || reply_to(connection, &reply);
}

/* After a fault has changed, what was held may go on. */
static void release_held(struct server *server)
{
	struct connection *connection = server->connections;

	while (connection != NULL) {
		struct connection *next = connection->next;

		if (connection->held && !connection_handle(server, connection))
			connection_close(server, connection);
		connection = next;
	}
}

static void connection_read(struct server *server, struct connection *connection)
{
	struct sim_request request;
	bool fault = false;
	/* MSG_TRUNC: the length that was sent, so that a record that is too long is seen. */
	ssize_t size = recv(connection->socket, &request, sizeof(request), MSG_TRUNC);

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size != (ssize_t)sizeof(request) || connection->held) {
		/* The end, a record of another size, or a second request before the reply. */
		connection_close(server, connection);
		return;
	}
	connection->request = request;
	fault = connection->client->control && request.operation == SIM_FAULT;
	if (!connection_handle(server, connection))
		connection_close(server, connection);
	if (fault)
		release_held(server);
}

static void notify(struct kernel_client *client, const struct sim_event *event)
{
	struct connection *connection = client->owner;
	const struct sim_reply reply = { .magic = SIM_MAGIC,
					 .version = SIM_VERSION,
					 .operation = SIM_EVENT,
					 .status = SIM_OK,
					 .event = *event };

	/* A subscriber that does not read loses events, as with the real driver. */
	(void)reply_to(connection, &reply);
}

static void show(struct kernel *kernel, uint32_t position)
{
	const struct server *server = kernel->owner;

	if (!kernel->missing)
		(void)shown_layout(server->root, kernel->profile->cards[position].minor,
				   &kernel->cards[position].mig);
}

static void log_line(struct kernel *kernel, const char *line)
{
	struct server *server = kernel->owner;

	shown_log_write(server->log, server->logged++, line);
}

static int listen_at(struct server *server, const char *path, mode_t mode, int *ret)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct epoll_event event = { .events = EPOLLIN };
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (listener < 0)
		return fail("cannot make a socket for", path);
	if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path) >=
	    sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return fail("cannot listen at", path);
	}
	if (connect(listener, (struct sockaddr *)&address, sizeof(address)) == 0) {
		errno = EADDRINUSE;
		return fail("another one answers already at", path);
	}
	unlink(path);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    chmod(path, mode) != 0 || listen(listener, 4096) != 0)
		return fail("cannot listen at", path);
	event.data.ptr = ret;
	if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, listener, &event) != 0)
		return fail("cannot wait for clients of", path);
	*ret = listener;
	return 0;
}

static int path_below(const char *root, const char *name, char ret[SOCKET_PATH_MAX])
{
	if ((size_t)snprintf(ret, SOCKET_PATH_MAX, "%s/%s", root, name) < SOCKET_PATH_MAX)
		return 0;
	errno = ENAMETOOLONG;
	return fail("cannot listen below", root);
}

static void write_pid_file(void)
{
	FILE *file = fopen(PID_FILE, "we");

	if (file != NULL) {
		fprintf(file, "%d\n", (int)getpid());
		fclose(file);
	}
}

static int server_open(struct server *server, const char *root)
{
	struct rlimit files;
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &server->signals };
	sigset_t signals;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	server->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	server->spare = dup(server->epoll);
	if (server->epoll < 0 || server->signals < 0 || server->spare < 0 ||
	    epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->signals, &event) != 0)
		return fail("cannot make", "an event loop");
	if (mkdir(RUN_FOLDER, 0755) != 0 && errno != EEXIST)
		return fail("cannot make folder", RUN_FOLDER);
	if (path_below(root, SIM_ROOT_SOCKET, server->root_path) < 0 ||
	    path_below(root, SIM_CONTROL_SOCKET, server->control_path) < 0 ||
	    listen_at(server, SIM_SOCKET, 0666, &server->listener) < 0 ||
	    listen_at(server, server->root_path, 0666, &server->in_root) < 0 ||
	    listen_at(server, server->control_path, 0600, &server->control) < 0)
		return -1;
	server->root = root;
	server->log = shown_log_open(root);
	write_pid_file();
	return 0;
}

static void server_close(struct server *server)
{
	while (server->connections != NULL)
		connection_close(server, server->connections);
	kernel_release(&server->kernel);
	unlink(SIM_SOCKET);
	unlink(PID_FILE);
	unlink(server->root_path);
	unlink(server->control_path);
	rmdir(RUN_FOLDER); /* stays where it is a mount point or another's */
}

/* One event a turn: a connection that another event of the same turn closed is never touched. */
static void server_run(struct server *server)
{
	struct epoll_event event;

	while (!server->kernel.stopping) {
		int64_t now = now_ms(), next = kernel_expire(&server->kernel, now);

		if (server->kernel.hang_over)
			release_held(server);
		server->kernel.hang_over = false;
		int count = epoll_wait(server->epoll, &event, 1, next < 0 ? -1 : (int)(next - now));

		if (count < 0 && errno != EINTR)
			return;
		if (count <= 0)
			continue;
		if (event.data.ptr == &server->signals)
			return;
		if (event.data.ptr == &server->listener)
			accept_one(server, server->listener);
		else if (event.data.ptr == &server->in_root)
			accept_one(server, server->in_root);
		else if (event.data.ptr == &server->control)
			accept_one(server, server->control);
		else
			connection_read(server, event.data.ptr);
	}
}

static const char help[] =
	"usage: nvidia-persistenced --root DIR --profile NAME [--version V] [--log FILE]\n"
	"                           [--ready-fd N]\n"
	"\n"
	"The simulated nvidia-persistenced: owns the cards' memory and answers the simulated\n"
	"libraries at " SIM_SOCKET ". `simdriver start` runs it.\n"
	"\n"
	"  --root DIR      the driver root that it serves\n"
	"  --profile NAME  the machine to be\n"
	"  --version V     of the driver, other than the profile's\n"
	"  --log FILE      errors go there once it runs\n"
	"  --ready-fd N    write one byte to descriptor N once clients are answered\n"
	"  -h, --help      this text\n";

struct options {
	const char *root, *log, *version;
	const struct profile *profile;
	int ready;
};

/* 0, 1 after --help, 2 for wrong usage. */
static int read_options(int argc, char **argv, struct options *options)
{
	static const struct option names[] = { { "root", required_argument, NULL, 'r' },
					       { "profile", required_argument, NULL, 'p' },
					       { "log", required_argument, NULL, 'l' },
					       { "version", required_argument, NULL, 'v' },
					       { "ready-fd", required_argument, NULL, 'f' },
					       { "help", no_argument, NULL, 'h' },
					       { NULL, 0, NULL, 0 } };
	const char *profile = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "h", names, NULL)) != -1) {
		if (c == 'r')
			options->root = optarg;
		else if (c == 'p')
			profile = optarg;
		else if (c == 'l')
			options->log = optarg;
		else if (c == 'v')
			options->version = optarg;
		else if (c == 'f')
			options->ready = (int)strtol(optarg, NULL, 10);
		else if (c == 'h')
			return fputs(help, stdout) < 0 ? 2 : 1;
		else
			return 2;
	}
	if (options->root == NULL || profile == NULL) {
		fputs("nvidia-persistenced: --root and --profile are needed; see --help\n", stderr);
		return 2;
	}
	options->profile = profile_find(profile);
	if (options->profile == NULL) {
		fprintf(stderr, "nvidia-persistenced: there is no profile %s\n", profile);
		return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct options options = { .ready = -1 };
	struct server server = {
		.epoll = -1, .signals = -1, .listener = -1, .control = -1, .log = -1
	};
	int result = read_options(argc, argv, &options);
	struct profile profile;

	if (result != 0)
		return result == 1 ? 0 : 2;
	profile = *options.profile;
	if (options.version != NULL)
		profile.driver_version = options.version;
	kernel_init(&server.kernel, &profile);
	server.kernel.notify = notify;
	server.kernel.show = show;
	server.kernel.log = log_line;
	server.kernel.owner = &server;
	if (server_open(&server, options.root) != 0)
		return 1;
	if (options.log != NULL && freopen(options.log, "ae", stderr) == NULL)
		return 1;
	if (options.ready >= 0) {
		if (write(options.ready, "", 1) != 1)
			fail("cannot report to", "the starter");
		close(options.ready);
	}
	server_run(&server);
	server_close(&server);
	return 0;
}
