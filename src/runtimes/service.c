/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon behind a configuration: restarted through systemd, which says when it is ready. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "runtimes/configure_parts.h"

enum { PATIENCE_MS = 30000, STEP_MS = 100 };

static const char *systemctl(const struct host *host)
{
	return host_exists(host, "/usr/bin/systemctl") ? "/usr/bin/systemctl" : "/bin/systemctl";
}

static int call(const struct host *host, const struct engine *engine, const char *verb,
		struct error *error)
{
	const char *const argv[] = { systemctl(host), verb, engine->service, NULL };
	autofree char *text = NULL;

	return host_run(host, argv, &text, error);
}

/* Does somebody answer on the socket of the engine? */
static bool answers(const struct host *host, const struct engine *engine)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	autostrbuf path = STRBUF_INIT(sizeof(address.sun_path) - 1);
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || engine->socket[0] != '/' || host_path(host, engine->socket, &path, NULL) < 0)
		return false;
	memcpy(address.sun_path, path.data, path.length + 1);
	return connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* systemd tells of a unit by its exit status alone, so it is asked again and again, ten times a second. */
static int wait_until_back(const struct host *host, const struct engine *engine, bool answered,
			   struct error *error)
{
	unsigned patience = host->patience_ms ? host->patience_ms : PATIENCE_MS;
	int64_t end = now_ms() + patience;

	for (;;) {
		struct error said = ERROR_INIT;
		int r = call(host, engine, "is-active", &said);

		if (r == 0 && (!answered || answers(host, engine)))
			return 0;
		if (r == -ENOMEM)
			return error_no_memory(error);
		if (now_ms() >= end)
			return error_set(error, EIO, "%s did not come back within %u ms: %s",
					 engine->service, patience,
					 r < 0 ? said.message : "its socket does not answer");
		(void)poll(NULL, 0, STEP_MS);
	}
}

int service_restart(const struct host *host, const struct engine *engine,
		    enum configure_restart how, struct error *error)
{
	bool answered = answers(host, engine);
	struct error said = ERROR_INIT;
	int r = call(host, engine, how == CONFIGURE_RELOAD ? "reload" : "restart", &said);

	if (r == -ENOMEM)
		return error_no_memory(error);
	if (r < 0)
		return error_set(error, EIO, "%s", said.message);
	return wait_until_back(host, engine, answered, error);
}
