/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "capability.h"
#include "glibc.h"
#include "version_slot.h"

/* The tool writes the driver's version behind the mark when it copies a library into a root. */
static const volatile char version_slot[VERSION_SLOT_SIZE] = VERSION_SLOT_MARK;

static void own_version(char *ret, size_t size)
{
	size_t at = sizeof(VERSION_SLOT_MARK) - 1, i = 0;

	for (; i + 1 < size && at + i < VERSION_SLOT_SIZE && version_slot[at + i] != '\0'; i++)
		ret[i] = version_slot[at + i];
	ret[i] = '\0';
}

static bool path_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

void client_find_root(const void *address, char root[CLIENT_ROOT_MAX])
{
	char path[PATH_MAX], probe[CLIENT_ROOT_MAX + 32];
	const char *at, *last = NULL;
	Dl_info info;

	root[0] = '\0';
	/* The loader may have come by ../lib or by a link; only the real path shows the root. */
	if (dladdr(address, &info) == 0 || info.dli_fname == NULL ||
	    realpath(info.dli_fname, path) == NULL)
		return;
	for (at = path; (at = strstr(at, "/usr/lib")) != NULL; at++)
		last = at;
	if (last == NULL || last - path >= CLIENT_ROOT_MAX)
		return;
	snprintf(probe, sizeof(probe), "%.*s/dev/nvidiactl", (int)(last - path), path);
	if (path_exists(probe))
		snprintf(root, CLIENT_ROOT_MAX, "%.*s", (int)(last - path), path);
}

/* A node of ours: ENXIO is this kernel's word for "no driver behind it", so the way is free. */
static enum sim_status open_node(const char *path, int access_mode)
{
	int fd = open(path, access_mode | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return SIM_OK;
	}
	if (errno == ENXIO || errno == ENODEV)
		return SIM_OK;
	return errno == ENOENT ? SIM_NO_CARD : SIM_NO_PERMISSION;
}

static enum sim_status connect_to(struct client *client, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int result;

	if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path) >=
	    sizeof(address.sun_path))
		return SIM_BAD_REQUEST;
	client->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (client->socket < 0)
		return SIM_NO_DRIVER;
	client->owner = getpid();
	do {
		result = connect(client->socket, (struct sockaddr *)&address, sizeof(address));
	} while (result != 0 && errno == EINTR);
	if (result == 0)
		return SIM_OK;
	client_close(client);
	return errno == EACCES || errno == EPERM ? SIM_NO_PERMISSION : SIM_NO_DRIVER;
}

/* The next record; false when there will be none, or it is not of this build. */
static bool receive(const struct client *client, struct sim_reply *reply)
{
	ssize_t size;

	do {
		size = recv(client->socket, reply, sizeof(*reply), 0);
	} while (size < 0 && errno == EINTR);
	return size == (ssize_t)sizeof(*reply) && reply->magic == SIM_MAGIC &&
	       reply->version == SIM_VERSION && reply->status < SIM_STATUS_COUNT;
}

enum sim_status client_request(struct client *client, const struct sim_request *request,
			       struct sim_reply *reply)
{
	struct sim_request sent = *request;
	ssize_t size;

	if (client->socket < 0)
		return SIM_NO_DRIVER;
	sent.magic = SIM_MAGIC;
	sent.version = SIM_VERSION;
	do {
		size = send(client->socket, &sent, sizeof(sent), MSG_NOSIGNAL);
	} while (size < 0 && errno == EINTR);
	if (size != (ssize_t)sizeof(sent))
		return SIM_NO_DRIVER;
	while (receive(client, reply)) {
		if (reply->operation == request->operation)
			return (enum sim_status)reply->status;
		if (reply->operation != SIM_EVENT)
			break;
		if (client->early_count < CLIENT_EARLY_MAX)
			client->early[client->early_count++] = reply->event;
	}
	return SIM_NO_DRIVER;
}

/*
 * A module is reached by whoever may open its nodes, whatever else is mounted: a container that sees the host's
 * driver root elsewhere than the host has no socket of the host's /run.
 */
static enum sim_status connect_to_module(struct client *client)
{
	char path[CLIENT_ROOT_MAX + 32];
	enum sim_status status = connect_to(client, SIM_SOCKET);

	if (status != SIM_NO_DRIVER || client->root[0] == '\0')
		return status;
	snprintf(path, sizeof(path), "%s/%s", client->root, SIM_ROOT_SOCKET);
	return connect_to(client, path) == SIM_OK ? SIM_OK : status;
}

enum sim_status client_open(struct client *client, const void *address, const char *library_version)
{
	struct sim_request request = { .operation = SIM_HELLO };
	char path[CLIENT_ROOT_MAX + 32];
	struct sim_reply reply;
	enum sim_status status;

	if (client->socket >= 0)
		return SIM_OK;
	client_find_root(address, client->root);
	snprintf(path, sizeof(path), "%s/dev/nvidiactl", client->root);
	status = open_node(path, O_RDWR);
	if (status != SIM_OK)
		return status == SIM_NO_CARD ? SIM_NO_DRIVER : status;
	status = connect_to_module(client);
	if (status != SIM_OK)
		return status;
	if (library_version != NULL)
		snprintf(request.text, sizeof(request.text), "%s", library_version);
	else
		own_version(request.text, sizeof(request.text));
	status = client_request(client, &request, &reply);
	if (status != SIM_OK) {
		client_close(client);
		return status;
	}
	client->driver = reply.driver;
	if (client->driver.card_count > SIM_CARDS_MAX)
		client->driver.card_count = SIM_CARDS_MAX;
	return SIM_OK;
}

enum sim_status client_open_control(struct client *client, const char *root)
{
	char path[CLIENT_ROOT_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", root, SIM_CONTROL_SOCKET);
	return connect_to(client, path);
}

void client_close(struct client *client)
{
	int saved = errno;

	if (client->socket >= 0)
		close(client->socket);
	client->socket = -1;
	errno = saved;
}

enum sim_status client_card_access(const struct client *client, uint32_t minor)
{
	char path[CLIENT_ROOT_MAX + 32];

	snprintf(path, sizeof(path), "%s/dev/nvidia%u", client->root, minor);
	return open_node(path, O_RDWR);
}

enum sim_status client_capability(const struct client *client, uint32_t number)
{
	char path[CLIENT_ROOT_MAX + 48];

	snprintf(path, sizeof(path), "%s/dev/nvidia-caps/nvidia-cap%u", client->root, number);
	return open_node(path, O_RDONLY);
}

bool client_may_use(const struct client *client, uint32_t card, uint32_t gpu, uint32_t compute)
{
	return client_capability(client, capability_minor(card, gpu, CAPABILITY_GPU)) == SIM_OK &&
	       client_capability(client, capability_minor(card, gpu, compute)) == SIM_OK;
}

size_t client_cards(const struct client *client, uint32_t minors[SIM_CARDS_MAX])
{
	size_t count = 0;

	for (uint32_t i = 0; i < client->driver.card_count; i++) {
		if (client_card_access(client, client->driver.minors[i]) == SIM_OK)
			minors[count++] = client->driver.minors[i];
	}
	return count;
}

enum sim_status client_card_info(struct client *client, uint32_t minor, struct sim_card_info *ret)
{
	const struct sim_request request = { .operation = SIM_CARD_INFO, .card = minor };
	struct sim_reply reply;
	enum sim_status status = client_request(client, &request, &reply);

	if (status == SIM_OK)
		*ret = reply.info;
	return status;
}

enum sim_status client_card_state(struct client *client, uint32_t minor, struct sim_card_state *ret)
{
	return client_instance_state(client, minor, 0, ret);
}

enum sim_status client_instance_state(struct client *client, uint32_t minor, uint32_t instance,
				      struct sim_card_state *ret)
{
	const struct sim_request request = { .operation = SIM_CARD_STATE,
					     .card = minor,
					     .instance = instance };
	struct sim_reply reply;
	enum sim_status status = client_request(client, &request, &reply);

	if (status == SIM_OK)
		*ret = reply.state;
	return status;
}

enum sim_status client_alloc(struct client *client, uint32_t minor, uint32_t instance,
			     enum sim_kind kind, uint64_t bytes, uint64_t *ret_handle)
{
	const struct sim_request request = { .operation = SIM_ALLOC,
					     .card = minor,
					     .kind = kind,
					     .bytes = bytes,
					     .instance = instance };
	struct sim_reply reply;
	enum sim_status status = client_request(client, &request, &reply);

	if (status == SIM_OK)
		*ret_handle = reply.handle;
	return status;
}

enum sim_status client_free(struct client *client, uint64_t handle)
{
	const struct sim_request request = { .operation = SIM_FREE, .handle = handle };
	struct sim_reply reply;

	return client_request(client, &request, &reply);
}

enum sim_status client_mig_layout(struct client *client, uint32_t minor, struct sim_mig_layout *ret)
{
	const struct sim_request request = { .operation = SIM_MIG_LAYOUT, .card = minor };
	struct sim_reply reply;
	enum sim_status status = client_request(client, &request, &reply);

	if (status != SIM_OK)
		return status;
	if (reply.layout.gpu_count > SIM_GPU_INSTANCES_MAX ||
	    reply.layout.compute_count > SIM_COMPUTE_INSTANCES_MAX)
		return SIM_NO_DRIVER;
	*ret = reply.layout;
	return SIM_OK;
}

enum sim_status client_mig_change(struct client *client, enum sim_operation operation,
				  uint32_t minor, uint32_t instance, uint32_t kind, uint64_t value,
				  uint32_t *ret)
{
	const struct sim_request request = { .operation = (uint16_t)operation,
					     .card = minor,
					     .kind = kind,
					     .value = value,
					     .instance = instance };
	struct sim_reply reply;
	enum sim_status status = client_request(client, &request, &reply);

	if (status == SIM_OK && ret != NULL)
		*ret = (uint32_t)reply.handle;
	return status;
}

enum sim_status client_processes(struct client *client, uint32_t minor, struct sim_process *ret,
				 size_t capacity, size_t *ret_total)
{
	struct sim_request request = { .operation = SIM_PROCESSES, .card = minor };
	struct sim_reply reply;
	size_t written = 0;

	for (;;) {
		enum sim_status status = client_request(client, &request, &reply);

		if (status != SIM_OK)
			return status;
		if (reply.processes.count > SIM_PROCESSES_CHUNK)
			return SIM_NO_DRIVER;
		for (uint32_t i = 0; i < reply.processes.count && written < capacity; i++)
			ret[written++] = reply.processes.processes[i];
		request.value += reply.processes.count;
		*ret_total = reply.processes.total;
		if (reply.processes.count == 0 || request.value >= reply.processes.total ||
		    written >= capacity)
			break;
	}
	return SIM_OK;
}

enum sim_status client_subscribe(struct client *client, uint64_t minors)
{
	const struct sim_request request = { .operation = SIM_SUBSCRIBE, .value = minors };
	struct sim_reply reply;

	return client_request(client, &request, &reply);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

enum sim_status client_event(struct client *client, unsigned timeout_ms, struct sim_event *ret)
{
	struct pollfd wait = { .fd = client->socket, .events = POLLIN };
	int64_t end = now_ms() + timeout_ms, left;
	struct sim_reply reply;
	int ready;

	if (client->early_count > 0) {
		*ret = client->early[0];
		client->early_count--;
		memmove(client->early, client->early + 1,
			client->early_count * sizeof(*client->early));
		return SIM_OK;
	}
	do {
		left = end - now_ms();
		if (left < 0)
			left = 0;
		ready = poll(&wait, 1, left > INT32_MAX ? INT32_MAX : (int)left);
	} while (ready < 0 && errno == EINTR);
	if (ready == 0)
		return SIM_TIMEOUT;
	if (ready < 0 || !receive(client, &reply) || reply.operation != SIM_EVENT)
		return SIM_NO_DRIVER;
	*ret = reply.event;
	return SIM_OK;
}
