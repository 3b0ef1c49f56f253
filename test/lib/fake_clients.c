/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registration, and the client of each plugin: pkg/kubelet/cm/devicemanager/plugin/v1beta1/{server,
 * handler,client}.go. With knobs.old_clients as of 1.34.4, else as of 1.37.2.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_internal.h"

#define DIAL_AGAIN_MS 1000 /* grpc-go's first back-off */

/* --- the server's list of clients --- */

/* By resource alone up to 1.36.3; PATH NULL. */
static struct fake_client *find_listed(const struct fake_kubelet *kubelet, const char *resource,
				       const char *path)
{
	for (struct fake_client *client = kubelet->clients; client; client = client->next)
		if (client->listed && strcmp(client->resource, resource) == 0 &&
		    (!path || strcmp(client->path, path) == 0))
			return client;
	return NULL;
}

static void register_client(struct fake_kubelet *kubelet, struct fake_client *client)
{
	struct fake_client *old = NULL;

	/* The map's value is replaced; the client that was there is forgotten, not ended. */
	if (kubelet->knobs.old_clients)
		old = find_listed(kubelet, client->resource, NULL);
	if (old)
		old->listed = false;
	client->listed = true;
	client->next = kubelet->clients;
	kubelet->clients = client;
}

static void deregister_client(struct fake_client *client)
{
	struct fake_kubelet *kubelet = client->kubelet;
	struct fake_client *other;

	while ((other = find_listed(kubelet, client->resource,
				    kubelet->knobs.old_clients ? NULL : client->path)) != NULL)
		other->listed = false;
}

static void disconnect(struct fake_client *client);

/* runClient() after Run() has returned. */
static void run_ended(struct fake_client *client)
{
	struct fake_kubelet *kubelet = client->kubelet;
	struct fake_client *found = find_listed(kubelet, client->resource,
						kubelet->knobs.old_clients ? NULL : client->path);

	if (client->watching)
		fake_log(kubelet, "Ended %s", client->resource);
	client->watching = false;
	client->stream = NULL;
	if (found)
		disconnect(found);
}

/* --- ListAndWatch --- */

static void take_list(const void *message, size_t size, void *user)
{
	cleanup(kubelet_device_list_release) struct kubelet_device_list list = { .items = NULL };
	struct fake_client *client = user;
	struct error error = ERROR_INIT;

	if (kubelet_unpack_devices(message, size, &list, &error) < 0) {
		fake_log(client->kubelet, "List %s -> error %s", client->resource, error.message);
		grpc_stream_cancel(TAKE_PTR(client->stream));
		run_ended(client);
		return;
	}
	fake_take_list(client->kubelet, client->resource, &list);
}

static void stream_ended(enum grpc_status status __attribute__((unused)),
			 const char *text __attribute__((unused)), void *user)
{
	run_ended(user);
}

static void open_stream(void *user)
{
	struct fake_client *client = user;
	const struct grpc_request request = { .path = "/v1beta1.DevicePlugin/ListAndWatch",
					      .message = "",
					      .on_message = take_list,
					      .on_end = stream_ended,
					      .user = client };

	loop_timer_stop(TAKE_PTR(client->timer));
	if (!client->grpc || grpc_client_call(client->grpc, &request, &client->stream, NULL) < 0) {
		run_ended(client);
		return;
	}
	client->watching = true;
	fake_log(client->kubelet, "ListAndWatch %s", client->resource);
}

/* --- Register --- */

static void finish_register(struct fake_client *client, const char *error)
{
	struct grpc_call *call = TAKE_PTR(client->call);

	if (error) {
		fake_log(client->kubelet, "Register %s -> error %s", client->resource, error);
		deregister_client(client);
	}
	if (!call)
		return;
	if (!error)
		grpc_call_send(call, "", 0, NULL);
	grpc_call_finish(call, error ? GRPC_UNKNOWN : GRPC_OK, error);
}

static void disconnect(struct fake_client *client)
{
	struct fake_kubelet *kubelet = client->kubelet;

	deregister_client(client);
	if (client->watching)
		fake_log(kubelet, "Ended %s", client->resource);
	client->watching = false;
	client->stream = NULL;
	grpc_client_free(TAKE_PTR(client->grpc));
	fake_disconnected(kubelet, client);
	/* What ran on the connection fails with it. */
	if (client->call)
		finish_register(
			client,
			"failed to get device plugin options: rpc error: code = Canceled desc "
			"= grpc: the client connection is closing");
	fake_admission_cancel(kubelet, client);
}

static void take_options(const void *message, size_t size, void *user)
{
	struct fake_client *client = user;

	client->has_options = kubelet_unpack_options(message, size, &client->options, NULL) == 0;
}

static void options_ended(enum grpc_status status, const char *text, void *user)
{
	struct fake_client *client = user;
	char error[ERROR_MESSAGE_MAX];

	if (status != GRPC_OK || !client->has_options) {
		snprintf(error, sizeof(error),
			 "failed to get device plugin options: rpc error: code = %s desc = %s",
			 grpc_status_to_string(status), text);
		finish_register(client, error);
		return;
	}
	fake_log(client->kubelet, "GetDevicePluginOptions %s%s%s", client->resource,
		 client->options.preferred_available ? " preferred" : "",
		 client->options.pre_start_required ? " prestart" : "");
	if (fake_connected(client->kubelet, client) < 0) {
		snprintf(error, sizeof(error), "device plugin already connected: %s", client->path);
		finish_register(client, error);
		return;
	}
	finish_register(client, NULL);
	loop_timer_start(client->kubelet->loop, client->kubelet->knobs.stream_delay_ms, 0,
			 open_stream, client, &client->timer, NULL);
}

static void ask_options(struct fake_client *client)
{
	const struct grpc_request request = {
		.path = "/v1beta1.DevicePlugin/GetDevicePluginOptions",
		.message = "",
		.on_message = take_options,
		.on_end = options_ended,
		.user = client
	};

	if (grpc_client_call(client->grpc, &request, NULL, NULL) < 0)
		options_ended(GRPC_UNAVAILABLE, "the connection is closed", client);
}

static void dial(void *user)
{
	struct fake_client *client = user;
	const struct grpc_client_options options = { .socket_path = client->path };
	struct error error = ERROR_INIT;

	if (grpc_client_connect(client->kubelet->loop, &options, &client->grpc, &error) == 0) {
		loop_timer_stop(TAKE_PTR(client->timer));
		ask_options(client);
		return;
	}
	if (loop_now_ms(client->kubelet->loop) + DIAL_AGAIN_MS < client->dial_until_ms) {
		loop_timer_set(client->timer, DIAL_AGAIN_MS, 0);
		return;
	}
	loop_timer_stop(TAKE_PTR(client->timer));
	finish_register(client, "failed to dial device plugin: context deadline exceeded");
}

/* k8s.io/kubernetes/pkg/apis/core/v1/helper IsExtendedResourceName, without its last finesses. */
static bool is_extended(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && slash != name && slash[1] && !strchr(slash + 1, '/') &&
	       strlen(slash + 1) <= 63 && slash - name <= 253 && !strstr(name, "kubernetes.io/") &&
	       strncmp(name, "requests.", 9) != 0;
}

static bool refused(struct fake_kubelet *kubelet, struct grpc_call *call,
		    const struct kubelet_registration *registration)
{
	char text[512] = "";

	if (strcmp(registration->version, KUBELET_API_VERSION) != 0)
		snprintf(text, sizeof(text),
			 "requested API version \"%.100s\" is not supported by kubelet. Supported "
			 "version is "
			 "[\"v1beta1\"]",
			 registration->version);
	else if (!is_extended(registration->resource))
		snprintf(text, sizeof(text), "the ResourceName \"%.300s\" is invalid",
			 registration->resource);
	if (!*text)
		return false;
	fake_log(kubelet, "Register %s -> error %s", registration->resource, text);
	grpc_call_finish(call, GRPC_UNKNOWN, text);
	return true;
}

static void handle_register(struct grpc_call *call, const void *message, size_t size, void *user)
{
	cleanup(kubelet_registration_release) struct kubelet_registration registration = {
		.version = NULL
	};
	struct fake_kubelet *kubelet = user;
	struct error error = ERROR_INIT;

	if (kubelet_unpack_registration(message, size, &registration, &error) < 0) {
		grpc_call_finish(call, GRPC_INTERNAL, error.message);
		return;
	}
	fake_log(kubelet, "Register %s", registration.resource);
	if (refused(kubelet, call, &registration))
		return;
	struct fake_client *client = calloc(1, sizeof(*client));
	if (!client)
		abort();
	client->kubelet = kubelet;
	client->call = call;
	grpc_call_set_user(call, client);
	snprintf(client->resource, sizeof(client->resource), "%s", registration.resource);
	if (snprintf(client->path, sizeof(client->path), "%s/%s", kubelet->directory,
		     registration.endpoint) >= (int)sizeof(client->path))
		client->path[0] = '\0';
	client->dial_until_ms = loop_now_ms(kubelet->loop) + kubelet->knobs.dial_ms;
	register_client(kubelet, client);
	loop_timer_start(kubelet->loop, kubelet->knobs.dial_delay_ms, 0, dial, client,
			 &client->timer, NULL);
}

/* The plugin gave up its call: the context of dial() and of the options ends with it. */
static void register_cancelled(struct grpc_call *call, void *user __attribute__((unused)))
{
	struct fake_client *client = grpc_call_user(call);

	client->call = NULL;
	loop_timer_stop(TAKE_PTR(client->timer));
	if (client->connected)
		return;
	fake_log(client->kubelet, "Register %s -> error context canceled", client->resource);
	deregister_client(client);
	grpc_client_free(TAKE_PTR(client->grpc));
}

const struct grpc_method fake_registration_methods[] = {
	{ "/v1beta1.Registration/Register", handle_register, register_cancelled },
	{ NULL, NULL, NULL },
};

/* --- others --- */

void fake_clients_end(struct fake_kubelet *kubelet)
{
	while (kubelet->clients) {
		struct fake_client *client = kubelet->clients;

		kubelet->clients = client->next;
		loop_timer_stop(client->timer);
		grpc_client_free(client->grpc);
		if (client->call)
			grpc_call_finish(client->call, GRPC_UNAVAILABLE, "the kubelet ends");
		free(client);
	}
	for (struct fake_resource *at = kubelet->resources; at; at = at->next)
		at->endpoint = NULL;
}

void fake_kubelet_disconnect(struct fake_kubelet *kubelet, const char *resource)
{
	struct fake_client *client = find_listed(kubelet, resource, NULL);

	if (client)
		disconnect(client);
}

unsigned fake_kubelet_streams(const struct fake_kubelet *kubelet)
{
	unsigned count = 0;

	for (const struct fake_client *client = kubelet->clients; client; client = client->next)
		count += client->watching;
	return count;
}
