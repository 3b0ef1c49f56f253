/* SPDX-License-Identifier: Apache-2.0 */
/* What the kubelet is told: the view is built anew after every change, and each list that differs sent. */
#include "node/daemon.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define REST_MS   500  /* the kubelet closes its end of the old connection within 100 ms */
#define SETTLE_MS 1200 /* plugin_view_build(): a second, and the 50 ms in which lists are joined */

const char *step_to_string(enum step step)
{
	static const char *const names[STEP_MAX] = {
		[STEP_DRIVER] = "driver",   [STEP_RUNTIME] = "runtime", [STEP_SPECS] = "cdi",
		[STEP_KUBELET] = "kubelet", [STEP_LEDGER] = "ledger",
	};

	return names[step];
}

void daemon_wait(struct daemon *daemon, enum step step, const char *why)
{
	char *said = daemon->waits[step];

	if (strncmp(said, why ? why : "", sizeof(daemon->waits[step]) - 1) == 0)
		return;
	if (why)
		daemon_warning(daemon, "waiting for the %s: %s", step_to_string(step), why);
	else
		daemon_info(daemon, "the wait for the %s is over", step_to_string(step));
	reason_text(said, sizeof(daemon->waits[step]), "%s", why ? why : "");
}

/* A look at the machine each second must not put it off for ever. */
static void settle_later(struct daemon *daemon)
{
	if (!daemon->settling)
		loop_timer_set(daemon->settle_timer, SETTLE_MS, 0);
	daemon->settling = true;
}

/* ---- resources ---- */

static void on_event(enum device_plugin_event event, const char *text, void *user)
{
	struct node_resource *resource = user;
	struct daemon *daemon = resource->daemon;
	bool good = event == DEVICE_PLUGIN_REGISTERED || event == DEVICE_PLUGIN_LISTED;

	resource->known = event != DEVICE_PLUGIN_ABSENT;
	resource->listed_ms = event == DEVICE_PLUGIN_LISTED ? loop_now_ms(daemon->loop) : 0;
	resource->ends += event == DEVICE_PLUGIN_ENDED;
	resource->rivals += event == DEVICE_PLUGIN_RIVAL;
	if (event == DEVICE_PLUGIN_RIVAL)
		resource->rivalled = true;
	reason_text(resource->trouble, sizeof(resource->trouble), "%s", good ? "" : text);
	if (good)
		daemon_info(daemon, "%s: %s", resource->name, text);
	else
		daemon_warning(daemon, "%s: %s", resource->name, text);
	if (event == DEVICE_PLUGIN_LISTED && daemon->view.leaving)
		settle_later(daemon);
	/* A kubelet that comes back may sit on another runtime. */
	if (event == DEVICE_PLUGIN_REGISTERED)
		runtime_ask(daemon);
	daemon_wait(daemon, STEP_KUBELET, lists_ready(daemon) || good ? NULL : text);
}

static void resource_free(struct node_resource *resource)
{
	if (resource->plugin)
		device_plugin_stop(resource->plugin);
	for (size_t i = 0; i < resource->refusal_count; i++)
		free(resource->refusals[i].class);
	free(resource->refusals);
	free(resource->name);
	free(resource);
}

static struct node_resource *resource_find(const struct daemon *daemon, const char *name)
{
	for (size_t i = 0; i < daemon->resource_count; i++)
		if (strcmp(daemon->resources[i]->name, name) == 0)
			return daemon->resources[i];
	return NULL;
}

static int resource_serve(struct daemon *daemon, struct node_resource *resource,
			  struct error *error)
{
	const struct device_plugin_callbacks callbacks = { .preferred = allocate_preferred,
							   .allocate = allocate_answer,
							   .event = on_event };
	autofree char *directory = strdup(daemon->config.kubelet_socket);
	char *slash = directory ? strrchr(directory, '/') : NULL;

	if (!directory)
		return error_no_memory(error);
	if (!slash || slash == directory)
		return error_set(error, EINVAL,
				 "the kubelet's socket %s is in no folder; name it with its folder",
				 daemon->config.kubelet_socket);
	*slash = '\0';
	const struct device_plugin_options options = { .resource = resource->name,
						       .directory = directory,
						       .preferred_available = true };
	return device_plugin_start(daemon->loop, &options, &callbacks, resource, &resource->plugin,
				   error);
}

/* The one of that name, made when it is not there. */
static int resource_get(struct daemon *daemon, const char *name, struct node_resource **ret,
			struct error *error)
{
	struct node_resource *resource = resource_find(daemon, name);

	if (!resource) {
		if (vec_reserve(&daemon->resources, &daemon->resource_capacity,
				daemon->resource_count + 1, sizeof(struct node_resource *)) < 0)
			return error_no_memory(error);
		resource = calloc(1, sizeof(*resource));
		if (!resource)
			return error_no_memory(error);
		resource->daemon = daemon;
		resource->name = strdup(name);
		if (!resource->name) {
			free(resource);
			return error_no_memory(error);
		}
		daemon->resources[daemon->resource_count++] = resource;
	}
	*ret = resource;
	return resource->plugin || !daemon->config.kubelet_socket[0] ||
			       loop_now_ms(daemon->loop) < resource->rests_until_ms
		       ? 0
		       : resource_serve(daemon, resource, error);
}

/* ---- lists ---- */

static int send_list(struct daemon *daemon, const struct plugin_view *view,
		     const struct plugin_resource *from, struct error *error)
{
	autofree struct kubelet_device *devices = NULL;
	struct node_resource *resource = NULL;
	int r = plugin_resource_list(view, from, &devices, error);

	if (r == 0)
		r = resource_get(daemon, from->name, &resource, error);
	if (r == 0 && resource->plugin)
		r = device_plugin_update(resource->plugin, devices, from->count, error);
	return r;
}

/* All of them, although one fails: the first error is told. */
static int send_lists(struct daemon *daemon, struct error *error)
{
	int first = 0;

	for (size_t i = 0; i < daemon->view.count; i++) {
		struct error own = ERROR_INIT;
		int r = send_list(daemon, &daemon->view, &daemon->view.resources[i], &own);

		if (r < 0 && first == 0)
			first = error_set(error, -r, "%s: %s", daemon->view.resources[i].name,
					  own.message);
	}
	return first;
}

/* Lists were read at least a second ago, and nobody is in the middle of an answer. */
static bool is_settled(const struct daemon *daemon)
{
	uint64_t now = loop_now_ms(daemon->loop);

	if (!daemon->has_view || !allocate_is_idle(daemon))
		return false;
	for (size_t i = 0; i < daemon->resource_count; i++) {
		const struct node_resource *resource = daemon->resources[i];

		if (!resource->plugin || !device_plugin_is_listed(resource->plugin) ||
		    now - resource->listed_ms < LEDGER_SETTLE_MS)
			return false;
	}
	return true;
}

/*
 * A card is named to the kubelet once containers can be given it. How, is decided when one asks: at boot the kubelet
 * turns Pods away whose devices are not listed, while the runtime has not started yet.
 */
static bool may_begin(const struct daemon *daemon)
{
	return daemon->known && !daemon->waits[STEP_SPECS][0];
}

static void say_view(struct daemon *daemon, const struct plugin_view *before)
{
	const struct plugin_view *view = &daemon->view;

	for (size_t i = 0; i < view->notes.count; i++) {
		bool said = false;

		for (size_t k = 0; before && k < before->notes.count; k++)
			said |= strcmp(before->notes.items[k], view->notes.items[i]) == 0;
		if (!said)
			daemon_warning(daemon, "%s", view->notes.items[i]);
	}
}

static int rebuild(struct daemon *daemon, struct inventory *inventory, bool settled,
		   struct error *error)
{
	struct inventory *cards = inventory ? inventory : &daemon->inventory;
	const struct plugin_view_inputs inputs = {
		.inventory = cards,
		.config = &daemon->config,
		.ledger = &daemon->ledger,
		.previous = daemon->has_view ? &daemon->view : NULL,
		.known = daemon->known_resources.count ? &daemon->known_resources : NULL,
		.cdi = runtime_injects(daemon),
		.foreign = daemon->knows_pids,
		.settled = settled,
	};
	struct plugin_view view = { .count = 0 }, before = daemon->view;

	evidence_mark_processes(daemon, cards);
	int r = plugin_view_build(&inputs, &view, error);

	if (r < 0)
		return r;
	daemon->view = view;
	say_view(daemon, daemon->has_view ? &before : NULL);
	plugin_view_release(&before);
	daemon->has_view = true;
	if (inventory) {
		inventory_release(&daemon->inventory);
		daemon->inventory = *inventory;
		inventory_init(inventory);
	}
	return 0;
}

int lists_update(struct daemon *daemon, struct inventory *inventory, struct error *error)
{
	if (!daemon->has_view && (!may_begin(daemon) || daemon->stopping)) {
		/* Not yet: only what is known is kept. */
		if (inventory) {
			inventory_release(&daemon->inventory);
			daemon->inventory = *inventory;
			inventory_init(inventory);
		}
		return 0;
	}
	int r = rebuild(daemon, inventory, false, error);
	if (r < 0)
		return r;
	if (daemon->view.leaving)
		settle_later(daemon);
	return send_lists(daemon, error);
}

static void on_settle(void *user)
{
	struct daemon *daemon = user;
	struct error error = ERROR_INIT;

	daemon->settling = false;
	if (!daemon->view.leaving)
		return;
	if (!is_settled(daemon)) {
		settle_later(daemon);
		return;
	}
	int r = rebuild(daemon, NULL, true, &error);
	if (r == 0)
		r = send_lists(daemon, &error);
	if (r < 0)
		daemon_warning(daemon, "%s", error.message);
	if (daemon->view.leaving)
		settle_later(daemon);
}

int lists_start(struct daemon *daemon, struct error *error)
{
	return loop_timer_start(daemon->loop, LOOP_NEVER, 0, on_settle, daemon,
				&daemon->settle_timer, error);
}

/* Somebody else listens at PATH. */
static bool is_of_others(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer = { .pid = 0 };
	socklen_t size = sizeof(peer);
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		return true; /* not known: nothing is done */
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return errno == EAGAIN || errno == EINPROGRESS;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid != getpid();
}

/* A plugin of others is in the kubelet's folder, and lives. */
static bool others_are_there(const struct daemon *daemon)
{
	const char *slash = strrchr(daemon->config.kubelet_socket, '/');
	autostrbuf path = STRBUF_INIT(PATH_MAX);
	struct dirent *entry;
	bool found = false;

	strbuf_add(&path, daemon->config.kubelet_socket,
		   (size_t)(slash + 1 - daemon->config.kubelet_socket));
	DIR *directory = strbuf_failed(&path) < 0 ? NULL : opendir(path.data);
	if (!directory)
		return true;
	while (!found && (entry = readdir(directory))) {
		autostrbuf name = STRBUF_INIT(PATH_MAX);

		if (entry->d_type != DT_SOCK || strcmp(entry->d_name, KUBELET_SOCKET_NAME) == 0)
			continue;
		strbuf_addf(&name, "%s%s", path.data, entry->d_name);
		found = strbuf_failed(&name) < 0 || is_of_others(name.data);
	}
	closedir(directory);
	return found;
}

void lists_check_rivals(struct daemon *daemon)
{
	uint64_t now = loop_now_ms(daemon->loop);
	struct error error = ERROR_INIT;
	bool any = false, rested = false;

	for (size_t i = 0; i < daemon->resource_count; i++) {
		any |= daemon->resources[i]->rivalled;
		rested |= !daemon->resources[i]->plugin && daemon->resources[i]->rests_until_ms;
	}
	if (rested && !daemon->stopping && send_lists(daemon, &error) < 0)
		daemon_warning(daemon, "%s", error.message);
	if (!any || daemon->stopping || !allocate_is_idle(daemon) || others_are_there(daemon))
		return;
	for (size_t i = 0; i < daemon->resource_count; i++) {
		struct node_resource *resource = daemon->resources[i];

		if (!resource->rivalled || !resource->plugin)
			continue;
		daemon_info(daemon, "%s: the other plugin is gone; it is registered anew",
			    resource->name);
		device_plugin_stop(resource->plugin);
		resource->plugin = NULL;
		resource->rivalled = false;
		resource->rests_until_ms = now + REST_MS;
	}
}

bool lists_ready(const struct daemon *daemon)
{
	if (!daemon->has_view)
		return false;
	for (size_t i = 0; i < daemon->resource_count; i++)
		if (daemon->resources[i]->plugin &&
		    !device_plugin_is_listed(daemon->resources[i]->plugin))
			return false;
	return true;
}

void lists_stop(struct daemon *daemon)
{
	loop_timer_stop(daemon->settle_timer);
	daemon->settle_timer = NULL;
	for (size_t i = 0; i < daemon->resource_count; i++)
		resource_free(daemon->resources[i]);
	free(daemon->resources);
	daemon->resources = NULL;
	daemon->resource_count = daemon->resource_capacity = 0;
	plugin_view_release(&daemon->view);
	daemon->has_view = false;
}
