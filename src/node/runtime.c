/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the container runtime injects CDI devices: it says so itself, and may be another one later. */
#include "node/daemon.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PATIENCE_MS 10000 /* an Allocate of a first start waits so long for it */
#define LATER_MS    2000
#define AGAIN_MS    500
#define PERIOD_MS   60000     /* it is asked again this often */
#define NAME_KEPT   "runtime" /* below the state directory: what it said last */

/* Where runtimes listen when nobody says it (their own defaults; k3s, RKE2, MicroK8s, k0s). */
static const char *const sockets[] = {
	"/run/containerd/containerd.sock",
	"/run/crio/crio.sock",
	"/run/k3s/containerd/containerd.sock",
	"/var/snap/microk8s/common/run/containerd.sock",
	"/run/k0s/containerd.sock",
	"/run/cri-dockerd.sock",
};

static bool is_asked(const struct daemon *daemon)
{
	return daemon->config.device_lists & DEVICE_LIST_AUTO;
}

bool runtime_known(const struct daemon *daemon)
{
	return !is_asked(daemon) || daemon->cdi_known;
}

unsigned runtime_lists(const struct daemon *daemon)
{
	if (!is_asked(daemon))
		return daemon->config.device_lists;
	return daemon->cdi == KUBELET_CDI_ON ? DEVICE_LIST_CDI_CRI : DEVICE_LIST_KUBELET;
}

bool runtime_injects(const struct daemon *daemon)
{
	return runtime_lists(daemon) & (DEVICE_LIST_CDI_CRI | DEVICE_LIST_CDI_ANNOTATIONS);
}

/* Of the host, which a container sees below another root. */
static const char *socket_of(struct daemon *daemon)
{
	const char *root = cards_root(&daemon->config);
	struct stat status;

	if (daemon->config.cri_socket[0])
		return daemon->config.cri_socket;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(sockets); i++) {
		int length =
			snprintf(daemon->runtime_socket, sizeof(daemon->runtime_socket), "%s%s",
				 i < ARRAY_SIZE(sockets) && strcmp(root, "/") != 0 ? root : "",
				 sockets[i % ARRAY_SIZE(sockets)]);

		if (length > 0 && (size_t)length < sizeof(daemon->runtime_socket) &&
		    stat(daemon->runtime_socket, &status) == 0 && S_ISSOCK(status.st_mode))
			return daemon->runtime_socket;
	}
	return NULL;
}

/* ---- what it said last: a daemon that starts before the runtime, as at boot, need not wait for it ---- */

static int kept_path(const struct daemon *daemon, struct strbuf *path)
{
	strbuf_addf(path, "%s/" NAME_KEPT, daemon->config.state_directory);
	return strbuf_failed(path);
}

static void keep(const struct daemon *daemon)
{
	autostrbuf path = STRBUF_INIT(PATH_MAX);
	const char *text = daemon->cdi == KUBELET_CDI_ON ? "cdi on\n" : "cdi off\n";

	if (kept_path(daemon, &path) == 0)
		(void)file_write_atomic(path.data, text, strlen(text), 0644, NULL);
}

static bool recall(struct daemon *daemon)
{
	autostrbuf path = STRBUF_INIT(PATH_MAX);
	autofree char *text = NULL;

	if (kept_path(daemon, &path) < 0 || file_read_regular(path.data, 64, &text, NULL, NULL) < 0)
		return false;
	daemon->cdi = strcmp(text, "cdi on\n") == 0 ? KUBELET_CDI_ON : KUBELET_CDI_OFF;
	return true;
}

/* ---- the question ---- */

/* True: it is another decision than before. */
static bool take(struct daemon *daemon, enum kubelet_cdi cdi, const char *why)
{
	bool first = !daemon->cdi_known, changed = daemon->cdi != cdi;
	struct error error = ERROR_INIT;

	daemon->cdi = cdi;
	daemon->cdi_known = true;
	if (first || changed) {
		daemon_info(daemon, "devices are given by %s: %s",
			    runtime_injects(daemon) ? "CDI" : "the kubelet's answer", why);
		if (lists_update(daemon, NULL, &error) < 0)
			daemon_warning(daemon, "%s", error.message);
	}
	daemon_wait(daemon, STEP_RUNTIME, NULL);
	allocate_go_on(daemon);
	return first || changed;
}

static void answered(const struct kubelet_runtime_status *status, const struct error *error,
		     void *user)
{
	struct daemon *daemon = user;

	daemon->cdi_asking = false;
	if (daemon->stopping)
		return;
	loop_timer_set(daemon->runtime_timer,
		       !error              ? PERIOD_MS
		       : daemon->cdi_known ? LATER_MS
					   : AGAIN_MS,
		       0);
	if (error) {
		/* It starts later, or again: what it said before counts until then. */
		if (!daemon->cdi_known)
			daemon_wait(daemon, STEP_RUNTIME, error->message);
		return;
	}
	enum kubelet_cdi cdi = kubelet_runtime_cdi(status);
	if (take(daemon, cdi,
		 cdi == KUBELET_CDI_ON    ? "the container runtime says that CDI is on"
		 : cdi == KUBELET_CDI_OFF ? "the container runtime says that CDI is off"
					  : "the container runtime does not say whether CDI is on"))
		keep(daemon);
}

void runtime_ask(struct daemon *daemon)
{
	const char *path = socket_of(daemon);
	struct error error = ERROR_INIT;
	int r = -ENOENT;

	if (!is_asked(daemon) || daemon->cdi_asking || daemon->stopping)
		return;
	if (path)
		r = kubelet_ask_runtime(daemon->loop, path, answered, daemon, &error);
	else
		error_set(&error, ENOENT,
			  "no container runtime is there; it is looked for at %s "
			  "and others",
			  sockets[0]);
	if (r == 0) {
		daemon->cdi_asking = true;
		return;
	}
	if (!daemon->cdi_known)
		daemon_wait(daemon, STEP_RUNTIME, error.message);
}

/* Nobody answers: containers get their devices in the way that needs nobody. */
static void due(void *user)
{
	struct daemon *daemon = user;

	if (!is_asked(daemon))
		return;
	if (!daemon->cdi_known &&
	    loop_now_ms(daemon->loop) - daemon->runtime_began_ms >= PATIENCE_MS)
		(void)take(daemon, KUBELET_CDI_UNKNOWN, "no container runtime answers");
	loop_timer_set(daemon->runtime_timer,
		       !daemon->cdi_known                   ? AGAIN_MS
		       : daemon->cdi == KUBELET_CDI_UNKNOWN ? LATER_MS
							    : PERIOD_MS,
		       0);
	runtime_ask(daemon);
}

void runtime_configured(struct daemon *daemon)
{
	loop_timer_set(daemon->runtime_timer, 0, 0);
}

void runtime_start(struct daemon *daemon)
{
	struct error error = ERROR_INIT;

	daemon->runtime_began_ms = loop_now_ms(daemon->loop);
	daemon->cdi_known = is_asked(daemon) && recall(daemon);
	if (loop_timer_start(daemon->loop, AGAIN_MS, 0, due, daemon, &daemon->runtime_timer,
			     &error) < 0)
		daemon_warning(daemon, "%s", error.message);
	runtime_ask(daemon);
}

void runtime_stop(struct daemon *daemon)
{
	loop_timer_stop(daemon->runtime_timer);
	daemon->runtime_timer = NULL;
}
