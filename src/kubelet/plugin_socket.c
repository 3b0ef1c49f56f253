/* SPDX-License-Identifier: Apache-2.0 */
/* The sockets in the kubelet's folder: its own, ours, those of others. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "kubelet/plugin_private.h"

#define NAME_RESOURCE_MAX 40 /* of the resource, in a socket's name */
#define OTHERS_MAX        8  /* that a sentence names */

char *plugin_path(const struct device_plugin *plugin, const char *name)
{
	autostrbuf path = STRBUF_INIT(4096);

	strbuf_addf(&path, "%s/%s", plugin->directory, name);
	return strbuf_detach(&path);
}

struct socket_identity plugin_look(const struct device_plugin *plugin)
{
	struct socket_identity identity = { .there = false };
	struct statx status;

	if (statx(AT_FDCWD, plugin->kubelet_path, AT_SYMLINK_NOFOLLOW,
		  STATX_TYPE | STATX_INO | STATX_BTIME, &status) < 0 ||
	    !S_ISSOCK(status.stx_mode))
		return identity;
	identity.there = true;
	identity.inode = status.stx_ino;
	if (status.stx_mask & STATX_BTIME)
		identity.born_ns =
			(uint64_t)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
	return identity;
}

bool plugin_same_socket(const struct socket_identity *left, const struct socket_identity *right)
{
	return left->there && right->there && left->inode == right->inode &&
	       left->born_ns == right->born_ns;
}

/* --- our own --- */

/* "nvidia.com/gpu" -> "gpupool-nvidia.com_gpu-19ab34cd56e-0.sock" */
static char *make_name(const struct device_plugin *plugin)
{
	autostrbuf name = STRBUF_INIT(200);
	char resource[NAME_RESOURCE_MAX + 1];

	snprintf(resource, sizeof(resource), "%s", plugin->resource);
	for (char *at = resource; *at; at++)
		if (*at == '/')
			*at = '_';
	strbuf_addf(&name, "%s-%s-%llx-%u.sock", plugin->prefix, resource,
		    (unsigned long long)plugin->instance, plugin->binds);
	return strbuf_detach(&name);
}

void plugin_cut(struct device_plugin *plugin)
{
	/* The streams' ends are our doing and no news. */
	plugin->quiet = true;
	grpc_server_close(TAKE_PTR(plugin->server));
	plugin->quiet = false;
	free(TAKE_PTR(plugin->socket_name));
}

int plugin_listen(struct device_plugin *plugin, struct error *error)
{
	if (plugin->server && grpc_server_has_socket(plugin->server))
		return 0;
	plugin_cut(plugin);
	plugin->socket_name = make_name(plugin);
	autofree char *path = plugin->socket_name ? plugin_path(plugin, plugin->socket_name) : NULL;
	if (!path)
		return error_no_memory(error);
	const struct grpc_server_options options = { .socket_path = path,
						     .methods = plugin_methods,
						     .user = plugin };
	int r = grpc_server_listen(plugin->loop, &options, &plugin->server, error);
	plugin->binds++;
	return r;
}

/* --- those of others --- */

/* Whom a socket belongs to: a process ID, 0 for nobody, -1 when it cannot be told. */
static pid_t find_server(const struct device_plugin *plugin, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer = { .pid = -1 };
	socklen_t length = sizeof(peer);

	int size = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", plugin->directory,
			    name);
	if (size < 0 || (size_t)size >= sizeof(address.sun_path))
		return -1;
	/* A full queue of a server that hangs must not hold us up. */
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return errno == ECONNREFUSED ? 0 : -1;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return -1;
	return peer.pid > 0 ? peer.pid : -1;
}

static bool is_ours(const struct device_plugin *plugin, const char *name)
{
	size_t length = strlen(plugin->prefix);

	return strncmp(name, plugin->prefix, length) == 0 && name[length] == '-';
}

static bool is_socket(DIR *directory, const char *name)
{
	struct stat status;

	return fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISSOCK(status.st_mode);
}

void plugin_sweep(const struct device_plugin *plugin)
{
	DIR *directory = opendir(plugin->directory);

	if (!directory)
		return;
	for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
		if (!is_ours(plugin, entry->d_name) || !is_socket(directory, entry->d_name))
			continue;
		if (find_server(plugin, entry->d_name) == 0)
			unlinkat(dirfd(directory), entry->d_name, 0);
	}
	closedir(directory);
}

static void add_other(struct strbuf *text, const char *name, pid_t pid)
{
	char path[64], command[64] = "";
	autofree char *read = NULL;
	size_t length = 0;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (pid > 0 && file_read(path, sizeof(command), &read, &length, NULL) == 0)
		snprintf(command, sizeof(command), ", %.*s", (int)strcspn(read, "\n"), read);
	strbuf_addf(text, "%s%s", text->length ? ", " : "", name);
	if (pid > 0)
		strbuf_addf(text, " (process %d%s)", (int)pid, command);
}

void plugin_others(const struct device_plugin *plugin, struct strbuf *text)
{
	DIR *directory = opendir(plugin->directory);
	unsigned count = 0;

	if (!directory)
		return;
	for (const struct dirent *entry = readdir(directory); entry && count < OTHERS_MAX;
	     entry = readdir(directory)) {
		if (strcmp(entry->d_name, KUBELET_SOCKET_NAME) == 0 ||
		    is_ours(plugin, entry->d_name) || !is_socket(directory, entry->d_name))
			continue;
		pid_t pid = find_server(plugin, entry->d_name);
		if (pid == 0 || pid == getpid())
			continue;
		add_other(text, entry->d_name, pid);
		count++;
	}
	closedir(directory);
}
