/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out what the table of registration.c says. */
#include "kubelet/device_plugin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kubelet/plugin_private.h"

#define LIST_INTERVAL_MS 50 /* each list costs the kubelet a checkpoint and an fsync */
#define DRAIN_LOOK_MS    5
#define REGISTER_MS      14000 /* the kubelet dials back for 10 s first; the table gives up at 15 s */
#define REGISTER_PATH    "/v1beta1.Registration/Register"
#define TEXT_MAX         2048

static const char *const device_plugin_event_table[DEVICE_PLUGIN_EVENT_MAX] = {
	[DEVICE_PLUGIN_ABSENT] = "absent",   [DEVICE_PLUGIN_REGISTERED] = "registered",
	[DEVICE_PLUGIN_LISTED] = "listed",   [DEVICE_PLUGIN_ENDED] = "ended",
	[DEVICE_PLUGIN_REFUSED] = "refused", [DEVICE_PLUGIN_RIVAL] = "rival",
};
DEFINE_STRING_TABLE(device_plugin_event, enum device_plugin_event, DEVICE_PLUGIN_EVENT_MAX)

void plugin_say(struct device_plugin *plugin, enum device_plugin_event event, const char *format,
		...)
{
	autostrbuf text = STRBUF_INIT(TEXT_MAX);
	va_list arguments;

	va_start(arguments, format);
	strbuf_vaddf(&text, format, arguments);
	va_end(arguments);
	plugin->callbacks.event(
		event, strbuf_failed(&text) ? device_plugin_event_to_string(event) : text.data,
		plugin->user);
}

/* --- Register --- */

static void hang_up(struct device_plugin *plugin)
{
	grpc_client_free(TAKE_PTR(plugin->client));
}

/* The same refusal again and again is said once. */
static void say_refusal(struct device_plugin *plugin, const char *text)
{
	if (plugin->refusal && strcmp(plugin->refusal, text) == 0)
		return;
	free(plugin->refusal);
	plugin->refusal = strdup(text);
	plugin_say(plugin, DEVICE_PLUGIN_REFUSED, "%s is not registered yet: %s; it is tried again",
		   plugin->resource, text);
}

static void say_rival(struct device_plugin *plugin)
{
	autostrbuf others = STRBUF_INIT(TEXT_MAX);

	plugin_others(plugin, &others);
	if (strbuf_failed(&others) || !others.length)
		return;
	plugin->rival_said = true;
	plugin_say(plugin, DEVICE_PLUGIN_RIVAL,
		   "the kubelet ended the list of %s and goes on running, as it does when another "
		   "plugin serves "
		   "the same resource; other plugins here: %s; stop the one that serves %s",
		   plugin->resource, others.data, plugin->resource);
}

static void registered(enum grpc_status status, const char *text, void *user)
{
	struct device_plugin *plugin = user;
	autostrbuf sentence = STRBUF_INIT(TEXT_MAX);

	hang_up(plugin);
	if (status != GRPC_OK) {
		strbuf_addf(&sentence, "the kubelet says %s: %s", grpc_status_to_string(status),
			    text);
		say_refusal(plugin,
			    strbuf_failed(&sentence) ? "the kubelet refuses" : sentence.data);
		plugin_on(plugin, REGISTRATION_REFUSED);
		return;
	}
	plugin->counts.registrations++;
	plugin_say(plugin, DEVICE_PLUGIN_REGISTERED, "the kubelet took the registration of %s",
		   plugin->resource);
	if (plugin->ended_alone)
		say_rival(plugin);
	plugin->ended_alone = false;
	plugin_on(plugin, REGISTRATION_ACCEPTED);
}

static int call_register(struct device_plugin *plugin, struct error *error)
{
	char version[] = KUBELET_API_VERSION;
	const struct kubelet_registration registration = {
		.version = version,
		.endpoint = plugin->socket_name,
		.resource = plugin->resource,
		.options = { .preferred_available = plugin->preferred_available },
	};
	cleanup(kubelet_bytes_release) struct kubelet_bytes bytes = { .data = NULL };

	int r = grpc_client_connect(
		plugin->loop, &(struct grpc_client_options){ .socket_path = plugin->kubelet_path },
		&plugin->client, error);
	if (r == 0)
		r = kubelet_pack_registration(&registration, &bytes, error);
	if (r < 0)
		return r;
	const struct grpc_request request = { .path = REGISTER_PATH,
					      .message = bytes.data,
					      .size = bytes.size,
					      .deadline_ms = REGISTER_MS,
					      .on_end = registered,
					      .user = plugin };
	return grpc_client_call(plugin->client, &request, NULL, error);
}

static void start_call(struct device_plugin *plugin)
{
	struct error error = ERROR_INIT;

	hang_up(plugin);
	plugin->kubelet = plugin->registered = plugin_look(plugin);
	if (!plugin->kubelet.there) {
		plugin_on(plugin, REGISTRATION_NOWHERE);
		return;
	}
	int r = plugin_listen(plugin, &error);
	if (r == 0)
		r = call_register(plugin, &error);
	if (r == 0)
		return;
	plugin->counts.refusals++;
	/* A name without a listener is there for a moment at each start of a kubelet. */
	if (r != -ECONNREFUSED || plugin->registration.pause_ms > LIST_INTERVAL_MS)
		say_refusal(plugin, error.message);
	plugin_on(plugin, REGISTRATION_UNREACHABLE);
}

/* --- orders --- */

static void look_drained(void *user)
{
	struct device_plugin *plugin = user;

	if (plugin->server && grpc_server_connections(plugin->server) > 0)
		return;
	loop_timer_set(plugin->drain_timer, LOOP_NEVER, 0);
	plugin_on(plugin, REGISTRATION_DRAINED);
}

static void state_time_is_over(void *user)
{
	plugin_on(user, REGISTRATION_TIMER);
}

static void act(struct device_plugin *plugin, enum registration_action action)
{
	if (action != REGISTRATION_NOTHING)
		loop_timer_set(plugin->drain_timer, LOOP_NEVER, 0);
	switch (action) {
	case REGISTRATION_CALL:
		start_call(plugin);
		break;
	case REGISTRATION_HANG_UP:
		hang_up(plugin);
		break;
	case REGISTRATION_DRAIN:
		hang_up(plugin);
		loop_timer_set(plugin->drain_timer, 0, DRAIN_LOOK_MS);
		break;
	case REGISTRATION_CUT:
		hang_up(plugin);
		plugin_cut(plugin);
		break;
	case REGISTRATION_CUT_CALL:
		plugin_cut(plugin);
		start_call(plugin);
		break;
	case REGISTRATION_NOTHING:
	case REGISTRATION_ACTION_MAX:
	case REGISTRATION_ACTION_INVALID:
	default:
		break;
	}
}

static void say_move(struct device_plugin *plugin, enum registration_state old,
		     enum registration_state now)
{
	if (old == now)
		return;
	if (now == REGISTRATION_LISTED) {
		free(TAKE_PTR(plugin->refusal));
		plugin_say(plugin, DEVICE_PLUGIN_LISTED, "the kubelet watches the list of %s",
			   plugin->resource);
	}
	if (now == REGISTRATION_ABSENT)
		plugin_say(plugin, DEVICE_PLUGIN_ABSENT,
			   "%s/%s is not there; %s is registered as soon as it is",
			   plugin->directory, KUBELET_SOCKET_NAME, plugin->resource);
}

void plugin_on(struct device_plugin *plugin, enum registration_event event)
{
	enum registration_state old = plugin->registration.state;
	struct registration_order order =
		registration_on(&plugin->registration, event, loop_now_ms(plugin->loop));

	/* Before the act, which may bring the next event itself. */
	if (order.timer_ms != REGISTRATION_TIMER_KEPT)
		loop_timer_set(
			plugin->state_timer,
			order.timer_ms == REGISTRATION_NO_TIMER ? LOOP_NEVER : order.timer_ms, 0);
	say_move(plugin, old, plugin->registration.state);
	act(plugin, order.action);
}

void plugin_stream_ended(struct device_plugin *plugin)
{
	struct socket_identity now = plugin_look(plugin);

	plugin->ended_alone = plugin_same_socket(&now, &plugin->registered);
	plugin_say(plugin, DEVICE_PLUGIN_ENDED, "the kubelet ended the list of %s",
		   plugin->resource);
	plugin_on(plugin, REGISTRATION_ENDED);
}

/* --- kubelet.sock --- */

static void look_at_socket(struct device_plugin *plugin)
{
	struct socket_identity now = plugin_look(plugin);
	struct socket_identity old = plugin->kubelet;

	plugin->kubelet = now;
	if (!now.there && old.there)
		plugin_on(plugin, REGISTRATION_NO_SOCKET);
	if (!now.there || plugin_same_socket(&now, &old))
		return;
	/* Moved away and back under a kubelet that watches us: still the same. */
	if (plugin->registration.state == REGISTRATION_LISTED && now.born_ns &&
	    plugin_same_socket(&now, &plugin->registered))
		return;
	plugin->ended_alone = false;
	plugin_on(plugin, REGISTRATION_SOCKET);
}

static void directory_changed(void *user, enum watch_event event, const char *name)
{
	struct device_plugin *plugin = user;

	if (name && strcmp(name, KUBELET_SOCKET_NAME) != 0)
		return;
	/* Removed and made again before we looked: its number may be the same. */
	if (event == WATCH_GONE && plugin->kubelet.there) {
		plugin->kubelet.there = false;
		plugin_on(plugin, REGISTRATION_NO_SOCKET);
	}
	look_at_socket(plugin);
}

/* --- lists --- */

static void send_to_all(struct device_plugin *plugin)
{
	plugin->unsent = false;
	plugin->sent_ms = loop_now_ms(plugin->loop);
	for (struct plugin_stream *stream = plugin->streams; stream; stream = stream->next)
		plugin_send_list(plugin, stream);
	if (plugin->unsent)
		loop_timer_set(plugin->send_timer, LIST_INTERVAL_MS, 0);
}

static void send_time_is_there(void *user)
{
	struct device_plugin *plugin = user;

	if (plugin->unsent)
		send_to_all(plugin);
}

void device_plugin_resend(struct device_plugin *plugin)
{
	uint64_t since = loop_now_ms(plugin->loop) - plugin->sent_ms;

	if (!plugin->has_list || !plugin->streams)
		return;
	if (since >= LIST_INTERVAL_MS) {
		send_to_all(plugin);
		return;
	}
	if (!plugin->unsent)
		loop_timer_set(plugin->send_timer, LIST_INTERVAL_MS - since, 0);
	plugin->unsent = true;
}

static int remember(struct device_plugin *plugin, const struct kubelet_device *devices,
		    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!map_get(plugin->known, devices[i].id) &&
		    map_put(plugin->known, devices[i].id, plugin) < 0)
			return -ENOMEM;
	return 0;
}

int device_plugin_update(struct device_plugin *plugin, const struct kubelet_device *devices,
			 size_t count, struct error *error)
{
	struct kubelet_bytes bytes = { .data = NULL };

	int r = kubelet_pack_devices(devices, count, &bytes, error);
	if (r < 0)
		return r;
	if (remember(plugin, devices, count) < 0) {
		kubelet_bytes_release(&bytes);
		return error_no_memory(error);
	}
	if (plugin->has_list && bytes.size == plugin->list.size &&
	    memcmp(bytes.data, plugin->list.data, bytes.size) == 0) {
		kubelet_bytes_release(&bytes);
		return 0;
	}
	kubelet_bytes_release(&plugin->list);
	plugin->list = bytes;
	if (plugin->has_list) {
		device_plugin_resend(plugin);
		return 0;
	}
	plugin->has_list = true;
	plugin_on(plugin, REGISTRATION_LIST);
	return 0;
}

/* --- rivals --- */

static const char *find_foreign(const struct device_plugin *plugin,
				const struct kubelet_checkpoint *checkpoint)
{
	for (size_t i = 0; i < checkpoint->registered_count; i++) {
		const struct kubelet_checkpoint_devices *devices = &checkpoint->registered[i];

		for (size_t j = 0;
		     strcmp(devices->resource, plugin->resource) == 0 && j < devices->ids.count;
		     j++)
			if (!map_get(plugin->known, devices->ids.items[j]))
				return devices->ids.items[j];
	}
	return NULL;
}

bool device_plugin_check_rival(struct device_plugin *plugin,
			       const struct kubelet_checkpoint *checkpoint)
{
	autostrbuf others = STRBUF_INIT(TEXT_MAX);
	const char *foreign = find_foreign(plugin, checkpoint);

	/* Until our list is there, the kubelet has what the last plugin listed. */
	if (!foreign || plugin->registration.state != REGISTRATION_LISTED) {
		plugin->rival_said = foreign && plugin->rival_said;
		return false;
	}
	if (!plugin->rival_said) {
		plugin_others(plugin, &others);
		plugin_say(plugin, DEVICE_PLUGIN_RIVAL,
			   "the kubelet has %s as a device of %s, and gpupool never listed it: "
			   "another plugin serves "
			   "the same resource; other plugins here: %s; stop one of the two",
			   foreign, plugin->resource,
			   others.length ? others.data : "none with a socket");
	}
	plugin->rival_said = true;
	return true;
}

/* --- life --- */

bool device_plugin_is_listed(const struct device_plugin *plugin)
{
	return plugin->registration.state == REGISTRATION_LISTED;
}

struct device_plugin_counts device_plugin_counts(const struct device_plugin *plugin)
{
	return plugin->counts;
}

static int start_timers(struct device_plugin *plugin, struct error *error)
{
	int r = loop_timer_start(plugin->loop, LOOP_NEVER, 0, state_time_is_over, plugin,
				 &plugin->state_timer, error);

	if (r == 0)
		r = loop_timer_start(plugin->loop, LOOP_NEVER, 0, look_drained, plugin,
				     &plugin->drain_timer, error);
	if (r == 0)
		r = loop_timer_start(plugin->loop, LOOP_NEVER, 0, send_time_is_there, plugin,
				     &plugin->send_timer, error);
	return r;
}

static uint64_t make_instance(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

DEFINE_CLEANUP(struct device_plugin, device_plugin_stop)

int device_plugin_start(struct loop *loop, const struct device_plugin_options *options,
			const struct device_plugin_callbacks *callbacks, void *user,
			struct device_plugin **ret, struct error *error)
{
	cleanup(device_plugin_stopp) struct device_plugin *plugin = calloc(1, sizeof(*plugin));

	if (!plugin)
		return error_no_memory(error);
	plugin->loop = loop;
	plugin->callbacks = *callbacks;
	plugin->user = user;
	plugin->preferred_available = options->preferred_available;
	plugin->registration = (struct registration)REGISTRATION_INIT;
	plugin->instance = make_instance();
	plugin->resource = strdup(options->resource);
	plugin->directory = strdup(options->directory);
	plugin->prefix = strdup(options->prefix ? options->prefix : "gpupool");
	plugin->known = map_new();
	if (!plugin->resource || !plugin->directory || !plugin->prefix || !plugin->known)
		return error_no_memory(error);
	plugin->kubelet_path = plugin_path(plugin, KUBELET_SOCKET_NAME);
	if (!plugin->kubelet_path)
		return error_no_memory(error);
	int r = start_timers(plugin, error);
	if (r == 0)
		r = watch_start(loop, plugin->directory, directory_changed, plugin, &plugin->watch,
				error);
	if (r < 0)
		return r;
	plugin->kubelet = plugin_look(plugin);
	plugin_sweep(plugin);
	*ret = TAKE_PTR(plugin);
	return 0;
}

void device_plugin_stop(struct device_plugin *plugin)
{
	if (!plugin)
		return;
	watch_stop(plugin->watch);
	loop_timer_stop(plugin->state_timer);
	loop_timer_stop(plugin->drain_timer);
	loop_timer_stop(plugin->send_timer);
	hang_up(plugin);
	plugin_cut(plugin);
	for (struct device_plugin_call *call = plugin->calls; call; call = call->next)
		call->plugin = NULL;
	kubelet_bytes_release(&plugin->list);
	map_free(plugin->known);
	free(plugin->refusal);
	free(plugin->resource);
	free(plugin->directory);
	free(plugin->prefix);
	free(plugin->kubelet_path);
	free(plugin);
}
