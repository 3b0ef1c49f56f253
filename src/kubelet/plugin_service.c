/* SPDX-License-Identifier: Apache-2.0 */
/* The DevicePlugin service: what the kubelet calls. Method paths: deviceplugin v1beta1. */
#include <errno.h>
#include <stdlib.h>

#include "kubelet/plugin_private.h"

static void finish_packed(struct grpc_call *call, const struct kubelet_bytes *bytes)
{
	struct error error = ERROR_INIT;

	/* -EPIPE, -ENOBUFS: the connection is ending, and finishing is allowed all the same. */
	int r = grpc_call_send(call, bytes->data, bytes->size, &error);
	grpc_call_finish(call, r < 0 ? GRPC_RESOURCE_EXHAUSTED : GRPC_OK,
			 r < 0 ? error.message : NULL);
}

static void refuse(struct grpc_call *call, int r, const struct error *error)
{
	grpc_call_finish(call, r == -EBADMSG ? GRPC_INVALID_ARGUMENT : GRPC_FAILED_PRECONDITION,
			 error->message);
}

static void handle_options(struct grpc_call *call, const void *message __attribute__((unused)),
			   size_t size __attribute__((unused)), void *user)
{
	const struct device_plugin *plugin = user;
	const struct kubelet_plugin_options options = { .preferred_available =
								plugin->preferred_available };
	struct kubelet_bytes bytes = { .data = NULL };
	struct error error = ERROR_INIT;

	int r = kubelet_pack_options(&options, &bytes, &error);
	if (r < 0) {
		refuse(call, r, &error);
		return;
	}
	finish_packed(call, &bytes);
	kubelet_bytes_release(&bytes);
}

/* --- ListAndWatch --- */

void plugin_send_list(struct device_plugin *plugin, struct plugin_stream *stream)
{
	int r = grpc_call_send(stream->call, plugin->list.data, plugin->list.size, NULL);

	if (r == 0)
		plugin->counts.lists++;
	/* Short of memory for now: the timer of lists tries again. */
	if (r == -ENOMEM)
		plugin->unsent = true;
}

static void handle_watch(struct grpc_call *call, const void *message __attribute__((unused)),
			 size_t size __attribute__((unused)), void *user)
{
	struct device_plugin *plugin = user;
	struct plugin_stream *stream = calloc(1, sizeof(*stream));

	if (!stream) {
		grpc_call_finish(call, GRPC_RESOURCE_EXHAUSTED, "out of memory");
		return;
	}
	*stream = (struct plugin_stream){ .plugin = plugin, .call = call, .next = plugin->streams };
	plugin->streams = stream;
	grpc_call_set_user(call, stream);
	plugin->counts.streams++;
	if (plugin->has_list)
		plugin_send_list(plugin, stream);
	plugin_on(plugin, REGISTRATION_STREAM);
}

static void watch_cancelled(struct grpc_call *call, void *user)
{
	struct device_plugin *plugin = user;
	struct plugin_stream *stream = grpc_call_user(call);

	for (struct plugin_stream **at = &plugin->streams; *at; at = &(*at)->next) {
		if (*at == stream) {
			*at = stream->next;
			break;
		}
	}
	free(stream);
	if (!plugin->streams && !plugin->quiet)
		plugin_stream_ended(plugin);
}

/* --- GetPreferredAllocation --- */

static int prefer(struct device_plugin *plugin, const void *message, size_t size,
		  struct string_list *ids, struct error *error)
{
	cleanup(kubelet_preference_release) struct kubelet_preference asked = { .size = 0 };

	int r = kubelet_unpack_preference(message, size, &asked, error);
	if (r < 0)
		return r;
	r = plugin->callbacks.preferred(&asked.available, &asked.must_include, asked.size, ids,
					error, plugin->user);
	if (r < 0)
		return r;
	/* What is missing the kubelet would fill as it likes. */
	if (ids->count != asked.size)
		return error_set(error, EPROTO, "gpupool chose %zu devices of %s instead of %u",
				 ids->count, plugin->resource, asked.size);
	return 0;
}

static void handle_preferred(struct grpc_call *call, const void *message, size_t size, void *user)
{
	cleanup(string_list_release) struct string_list ids = { .items = NULL };
	struct device_plugin *plugin = user;
	struct kubelet_bytes bytes = { .data = NULL };
	struct error error = ERROR_INIT;

	plugin->counts.preferences++;
	int r = prefer(plugin, message, size, &ids, &error);
	if (r == 0)
		r = kubelet_pack_preferred(&ids, &bytes, &error);
	if (r < 0) {
		refuse(call, r, &error);
		return;
	}
	finish_packed(call, &bytes);
	kubelet_bytes_release(&bytes);
}

/* --- Allocate --- */

static void handle_allocate(struct grpc_call *call, const void *message, size_t size, void *user)
{
	cleanup(string_list_release) struct string_list ids = { .items = NULL };
	struct device_plugin *plugin = user;
	struct error error = ERROR_INIT;

	plugin->counts.allocations++;
	int r = kubelet_unpack_allocate(message, size, &ids, &error);
	if (r < 0) {
		refuse(call, r, &error);
		return;
	}
	struct device_plugin_call *pending = calloc(1, sizeof(*pending));
	if (!pending) {
		grpc_call_finish(call, GRPC_RESOURCE_EXHAUSTED, "out of memory");
		return;
	}
	*pending = (struct device_plugin_call){ .plugin = plugin,
						.call = call,
						.next = plugin->calls };
	plugin->calls = pending;
	grpc_call_set_user(call, pending);
	plugin->callbacks.allocate(pending, &ids, plugin->user);
}

static void allocate_cancelled(struct grpc_call *call, void *user __attribute__((unused)))
{
	struct device_plugin_call *pending = grpc_call_user(call);

	pending->call = NULL;
}

static void use_up(struct device_plugin_call *pending)
{
	struct device_plugin *plugin = pending->plugin;

	for (struct device_plugin_call **at = plugin ? &plugin->calls : NULL; at && *at;
	     at = &(*at)->next) {
		if (*at == pending) {
			*at = pending->next;
			break;
		}
	}
	free(pending);
}

int device_plugin_answer(struct device_plugin_call *pending, const struct kubelet_answer *answer,
			 struct error *error)
{
	struct grpc_call *call = pending->call;
	struct kubelet_bytes bytes = { .data = NULL };
	struct error own = ERROR_INIT;

	use_up(pending);
	if (!call)
		return error_set(error, ECANCELED,
				 "the kubelet gave up this allocation; it holds nothing of it");
	int r = kubelet_pack_allocated(answer, &bytes, &own);
	if (r == 0)
		r = grpc_call_send(call, bytes.data, bytes.size, &own);
	kubelet_bytes_release(&bytes);
	grpc_call_finish(call, r < 0 ? GRPC_RESOURCE_EXHAUSTED : GRPC_OK,
			 r < 0 ? own.message : NULL);
	if (r < 0 && error)
		*error = own;
	return r == -EPIPE || r == -ENOBUFS ? -ECANCELED : r;
}

void device_plugin_refuse(struct device_plugin_call *pending, const char *text)
{
	struct grpc_call *call = pending->call;

	use_up(pending);
	if (call)
		grpc_call_finish(call, GRPC_FAILED_PRECONDITION, text);
}

/* --- PreStartContainer: not asked for, but answered --- */

static void handle_prestart(struct grpc_call *call, const void *message, size_t size,
			    void *user __attribute__((unused)))
{
	cleanup(string_list_release) struct string_list ids = { .items = NULL };
	const struct kubelet_bytes nothing = { .data = NULL };
	struct error error = ERROR_INIT;

	int r = kubelet_unpack_prestart(message, size, &ids, &error);
	if (r < 0)
		refuse(call, r, &error);
	else
		finish_packed(call, &nothing);
}

const struct grpc_method plugin_methods[] = {
	{ "/v1beta1.DevicePlugin/GetDevicePluginOptions", handle_options, NULL },
	{ "/v1beta1.DevicePlugin/ListAndWatch", handle_watch, watch_cancelled },
	{ "/v1beta1.DevicePlugin/GetPreferredAllocation", handle_preferred, NULL },
	{ "/v1beta1.DevicePlugin/Allocate", handle_allocate, allocate_cancelled },
	{ "/v1beta1.DevicePlugin/PreStartContainer", handle_prestart, NULL },
	{ NULL, NULL, NULL },
};
