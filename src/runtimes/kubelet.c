/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CRI endpoint that a kubelet uses: its option, else its configuration file, else the default of
 * its version. Facts: kubernetes cmd/kubelet/app/options (container-runtime-endpoint) and
 * KubeletConfiguration.containerRuntimeEndpoint.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runtimes/engine_parts.h"

#define KUBELET_SOCKET "/run/containerd/containerd.sock"
#define K3S_SOCKET     "/run/k3s/containerd/containerd.sock"

char *socket_name(const char *endpoint)
{
	static const char var[] = "/var/run/";
	char *text = NULL;

	if (strncmp(endpoint, "unix://", 7) == 0)
		endpoint += 7;
	/* /var/run is a link to /run wherever a daemon of this kind runs; both spellings are in use. */
	if (strncmp(endpoint, var, strlen(var)) == 0)
		return asprintf(&text, "/run/%s", endpoint + strlen(var)) < 0 ? NULL : text;
	return strdup(endpoint);
}

bool host_process_is_kubelet(const struct host_process *process)
{
	if (strcmp(process->name, "k3s") == 0)
		return true;
	return strcmp(process->name, "kubelet") == 0 || strcmp(process->name, "kubelite") == 0;
}

/* MicroK8s hands options over in a file, a line each, with variables of the snap. */
static int endpoint_of_arguments(const struct host *host, const char *path, char **ret)
{
	static const char option[] = "--container-runtime-endpoint=";
	static const char variable[] = "${SNAP_COMMON}";
	autofree char *text = NULL;
	char *line, *rest;

	int r = host_read(host, path, &text, NULL, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		autostrbuf value = STRBUF_INIT(ROOT_PATH_MAX);

		if (strncmp(line, option, strlen(option)) != 0)
			continue;
		line += strlen(option);
		if (strncmp(line, variable, strlen(variable)) == 0) {
			strbuf_adds(&value, "/var/snap/microk8s/common");
			line += strlen(variable);
		}
		strbuf_adds(&value, line);
		free(*ret);
		*ret = strbuf_failed(&value) < 0 ? NULL : socket_name(value.data);
		if (!*ret)
			return -ENOMEM;
	}
	return 0;
}

static int endpoint_of_config(const struct host *host, const char *path, char **ret)
{
	autoyaml stream = { .documents = NULL };
	autofree char *text = NULL;
	const char *endpoint = NULL;

	/* A file that cannot be read leaves the default, and the search says what it went by. */
	int r = host_read(host, path, &text, NULL, NULL);
	if (r == 0)
		r = yaml_parse(text, strlen(text), path, &stream, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < stream.count; i++)
		endpoint =
			json_get_string(stream.documents[i], "containerRuntimeEndpoint", endpoint);
	if (!endpoint || !*endpoint)
		return 0;
	*ret = socket_name(endpoint);
	return *ret ? 0 : -ENOMEM;
}

/* What it uses when nothing says otherwise. */
static const char *standard_endpoint(const struct host_process *process)
{
	if (strcmp(process->name, "k3s") != 0)
		return KUBELET_SOCKET;
	return host_process_has_word(process, "--docker") ? "/run/cri-dockerd.sock" : K3S_SOCKET;
}

int kubelet_endpoint(const struct host *host, const struct host_process *process, char **ret)
{
	const char *option = host_process_option(process, "container-runtime-endpoint", 0);
	const char *arguments = host_process_option(process, "kubelet-args-file", 0);
	const char *config = host_process_option(process, "config", 0);
	autofree char *endpoint = NULL;
	int r = 0;

	if (option && *option) {
		endpoint = socket_name(option);
		r = endpoint ? 0 : -ENOMEM;
	}
	if (r == 0 && !endpoint && arguments)
		r = endpoint_of_arguments(host, arguments, &endpoint);
	/* The file that k3s is given is its own, of another form. */
	if (r == 0 && !endpoint && config && strcmp(process->name, "k3s") != 0)
		r = endpoint_of_config(host, config, &endpoint);
	if (r == 0 && !endpoint) {
		endpoint = strdup(standard_endpoint(process));
		r = endpoint ? 0 : -ENOMEM;
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(endpoint);
	return 0;
}
