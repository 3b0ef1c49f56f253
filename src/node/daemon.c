/* SPDX-License-Identifier: Apache-2.0 */
/* The life of the daemon: one instance, its parts in order, signals, the configuration read again. */
#include "node/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STOP_MS   1000
#define NAME_LOCK "gpupoold.lock" /* below the state directory: the ledger has one writer */

/* ---- one instance ---- */

static int lock_fail(int fd, const char *path, struct error *error)
{
	char text[32] = "";
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);

	if (got > 0)
		text[strcspn(text, "\n")] = '\0';
	return error_set(error, EBUSY,
			 "another gpupoold%s%s runs on this node and holds %s; one is enough: stop "
			 "it, or this one",
			 text[0] ? ", process " : "", text, path);
}

static int take_lock(struct daemon *daemon, struct error *error)
{
	autostrbuf path = STRBUF_INIT(PATH_MAX);
	char text[32];
	int r = file_make_directories(daemon->config.state_directory, 0755, error);

	if (r == 0)
		r = file_make_directories(daemon->config.run_directory, 0755, error);
	if (r < 0)
		return r;
	strbuf_addf(&path, "%s/" NAME_LOCK, daemon->config.state_directory);
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the state directory's path is too long");
	autoclose int fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_set_errno(error, errno, "cannot open the lock %s", path.data);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK
			       ? lock_fail(fd, path.data, error)
			       : error_set_errno(error, errno, "cannot lock %s", path.data);
	/* For people; on a full disk the lock holds without it. */
	int length = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)length, 0) != length)
		daemon_warning(daemon, "%s does not have the process's number: %s", path.data,
			       strerrordesc_np(errno));
	if (daemon->lock >= 0)
		close(daemon->lock);
	daemon->lock = TAKE_FD(fd);
	return 0;
}

int daemon_keep_lock(struct daemon *daemon, struct error *error)
{
	autostrbuf path = STRBUF_INIT(PATH_MAX);
	struct stat ours, there;

	strbuf_addf(&path, "%s/" NAME_LOCK, daemon->config.state_directory);
	if (strbuf_failed(&path) == 0 && fstat(daemon->lock, &ours) == 0 &&
	    stat(path.data, &there) == 0 && ours.st_dev == there.st_dev &&
	    ours.st_ino == there.st_ino)
		return 0;
	int r = take_lock(daemon, error);
	if (r == 0)
		daemon_warning(daemon, "%s was removed; it is made again", path.data);
	return r;
}

/* ---- configuration ---- */

static void say_config_notes(struct daemon *daemon)
{
	for (size_t i = 0; i < daemon->config.notes.count; i++)
		daemon_warning(daemon, "%s", daemon->config.notes.items[i]);
}

/* What cannot change while it runs: files and sockets that are open. */
static void say_fixed(struct daemon *daemon, const struct plugin_config *now)
{
	const struct {
		const char *name, *then, *now;
	} rows[] = {
		{ "kubeletSocket", daemon->config.kubelet_socket, now->kubelet_socket },
		{ "stateDirectory", daemon->config.state_directory, now->state_directory },
		{ "runDirectory", daemon->config.run_directory, now->run_directory },
		{ "podResourcesSocket", daemon->config.pod_resources_socket,
		  now->pod_resources_socket },
		{ "metricsAddress", daemon->config.metrics_address, now->metrics_address },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].then, rows[i].now) != 0)
			daemon_warning(
				daemon,
				"%s is now %s, and counts from the next start of gpupoold on",
				rows[i].name, rows[i].now);
}

static void keep_text(char **to, char **from)
{
	char *old = *to;

	*to = *from;
	*from = old;
}

static void take_config(struct daemon *daemon, struct plugin_config *config)
{
	struct plugin_config old = daemon->config;
	struct error error = ERROR_INIT;

	say_fixed(daemon, config);
	daemon->config = *config;
	*config = (struct plugin_config){ 0 };
	/* What is fixed stays as it is in use. */
	keep_text(&daemon->config.kubelet_socket, &old.kubelet_socket);
	keep_text(&daemon->config.state_directory, &old.state_directory);
	keep_text(&daemon->config.run_directory, &old.run_directory);
	keep_text(&daemon->config.pod_resources_socket, &old.pod_resources_socket);
	keep_text(&daemon->config.metrics_address, &old.metrics_address);
	plugin_config_release(&old);
	say_config_notes(daemon);
	runtime_configured(daemon);
	cards_configured(daemon);
	if (lists_update(daemon, NULL, &error) < 0)
		daemon_warning(daemon, "%s", error.message);
}

static void read_again(struct daemon *daemon)
{
	const struct plugin_inputs inputs = { .flags = daemon->options->flags,
					      .environment = daemon->options->environment,
					      .usual_file = PATH_CONFIG,
					      .no_pipe = true };
	cleanup(plugin_config_release) struct plugin_config config = { 0 };
	struct error error = ERROR_INIT;
	int r = plugin_config_read(&inputs, &config, &error);

	if (r == 0)
		r = plugin_config_supported(&config, &error);
	daemon->config_broken = r < 0;
	if (r < 0) {
		daemon->configs_refused++;
		daemon_error(daemon, "the configuration of before stays in force: %s",
			     error.message);
		return;
	}
	daemon->configs_read++;
	daemon_info(daemon, "the configuration was read again");
	take_config(daemon, &config);
}

/* ---- start and end ---- */

void daemon_stopped(struct daemon *daemon)
{
	if (daemon->stopping && !daemon->survey && !daemon->writing && !daemon->publishing)
		loop_stop(daemon->loop);
}

static void stop_due(void *user)
{
	struct daemon *daemon = user;

	loop_stop(daemon->loop);
}

void daemon_stop(struct daemon *daemon)
{
	struct error error = ERROR_INIT;

	if (daemon->stopping) {
		loop_stop(daemon->loop);
		return;
	}
	daemon->stopping = true;
	allocate_stop(daemon);
	events_end(daemon);
	cards_stop(daemon);
	report_stop(daemon);
	if (loop_timer_start(daemon->loop, STOP_MS, 0, stop_due, daemon, &daemon->stop_timer,
			     &error) < 0)
		loop_stop(daemon->loop);
	daemon_stopped(daemon);
}

static void on_signal(void *user, int number)
{
	struct daemon *daemon = user;

	if (number == SIGHUP) {
		read_again(daemon);
		return;
	}
	daemon_info(daemon, "stopping after signal %d; containers that run stay as they are",
		    number);
	daemon_stop(daemon);
}

static int watch_signals(struct daemon *daemon, struct error *error)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(numbers); i++)
		r = loop_signal_start(daemon->loop, numbers[i], on_signal, daemon,
				      &daemon->signals[i], error);
	return r;
}

/*
 * The order counts: who holds what is known before anything is listed, and what a run before this one
 * knew is listed before the driver is asked.
 */
static int start(struct daemon *daemon, struct error *error)
{
	int r = take_lock(daemon, error);

	if (r == 0)
		r = loop_new(&daemon->loop, error);
	if (r == 0)
		r = watch_signals(daemon, error);
	if (r == 0)
		r = lists_start(daemon, error);
	if (r == 0)
		r = evidence_start(daemon, error);
	if (r < 0)
		return r;
	runtime_start(daemon);
	cards_recall(daemon);
	events_start(daemon);
	r = cards_start(daemon, error);
	return r < 0 ? r : report_start(daemon, error);
}

/* CAUGHT: a thread still uses what belongs to it. */
static void end(struct daemon *daemon, bool caught)
{
	events_end(daemon);
	cards_stop(daemon);
	report_stop(daemon);
	runtime_stop(daemon);
	lists_stop(daemon);
	evidence_stop(daemon);
	for (size_t i = 0; i < ARRAY_SIZE(daemon->signals); i++)
		loop_signal_stop(daemon->signals[i]);
	loop_timer_stop(daemon->stop_timer);
	if (!caught)
		loop_free(daemon->loop);
	health_release(&daemon->health);
	inventory_release(&daemon->inventory);
	driver_files_free(daemon->files);
	string_list_release(&daemon->notes_said);
	plugin_config_release(&daemon->config);
	free(daemon->published);
	if (daemon->lock >= 0)
		close(daemon->lock);
}

static void name_host(struct daemon *daemon)
{
	const char *named = getenv(ENV_NODE_NAME); /* a DaemonSet says what the cluster calls it */

	if (named && *named)
		(void)snprintf(daemon->host, sizeof(daemon->host), "%s", named);
	else if (gethostname(daemon->host, sizeof(daemon->host) - 1) < 0)
		(void)snprintf(daemon->host, sizeof(daemon->host), "this node");
}

int node_run(const struct node_options *options, struct plugin_config *config, bool *ret_caught)
{
	struct daemon *daemon = calloc(1, sizeof(*daemon));
	struct error error = ERROR_INIT;

	*ret_caught = false;
	if (!daemon) {
		plugin_config_release(config);
		return 1;
	}
	daemon->options = options;
	daemon->config = *config;
	*config = (struct plugin_config){ 0 };
	daemon->log = (struct log){ .fd = STDERR_FILENO,
				    .program = options->program,
				    .level = LOG_LEVEL_INFO };
	daemon->lock = -1;
	daemon->last = &daemon->first;
	daemon->started = time(NULL);
	daemon->configs_read = 1;
	name_host(daemon);
	say_config_notes(daemon);
	if (start(daemon, &error) == 0) {
		loop_run(daemon->loop);
	} else {
		daemon_error(daemon, "%s", error.message);
		daemon->exit_code = 1;
	}
	int code = daemon->exit_code;
	*ret_caught = daemon->survey || daemon->writing || daemon->publishing;
	daemon->stopping = true;
	end(daemon, *ret_caught);
	if (!*ret_caught)
		free(daemon);
	return code;
}
