/* SPDX-License-Identifier: Apache-2.0 */
/* Docker (daemon.json, docker info, docker inspect) and CDI specifications. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/reader.h"

static void begin_daemon(struct readers *readers)
{
	readers->docker.daemon = true;
	tell(readers, FACT_SEEN_DOCKER_DAEMON, NULL);
}

static void begin_info(struct readers *readers)
{
	readers->docker.info = true;
	tell(readers, FACT_SEEN_DOCKER_INFO, NULL);
}

static void leaf_daemon_default(struct readers *readers, const char *key, char *value)
{
	(void)key;
	begin_daemon(readers);
	tell(readers, FACT_DOCKER_DEFAULT, value);
}

/* "runtimes": {"nvidia": ...} of daemon.json; "Runtimes: a nvidia runc" of docker info. */
static void leaf_runtimes(struct readers *readers, const char *key, char *value)
{
	if (readers->separator != ':')
		return;
	if (strcmp(key, "Runtimes") == 0 && *value) {
		begin_info(readers);
		readers->docker.runtimes = true;
		readers->docker.nvidia |= has(value, "nvidia");
	} else if (!*value && !same(outline_up(&readers->outline, 1), "containerd")) {
		begin_daemon(readers);
		readers->docker.runtimes = true;
	}
}

static void leaf_nvidia(struct readers *readers, const char *key, char *value)
{
	(void)key;
	(void)value;
	if (readers->separator != ':' || !same(outline_up(&readers->outline, 1), "runtimes"))
		return;
	begin_daemon(readers);
	readers->docker.nvidia = true;
}

static void leaf_info_default(struct readers *readers, const char *key, char *value)
{
	(void)key;
	begin_info(readers);
	tell(readers, FACT_DOCKER_DEFAULT, value);
}

static void leaf_info_version(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (readers->separator != ':' || !isdigit((unsigned char)*value))
		return;
	/* kubectl version has a line of the same name, with a v before the number. */
	begin_info(readers);
	tell(readers, FACT_DOCKER_VERSION, value);
}

static void leaf_cgroup_version(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (strcmp(value, "1") == 0 || strcmp(value, "2") == 0)
		tell(readers, FACT_HOST_CGROUP, *value == '1' ? "v1" : "v2");
}

static void leaf_root_dir(struct readers *readers, const char *key, char *value)
{
	(void)key;
	begin_info(readers);
	if (has(value, "/snap/"))
		tell(readers, FACT_DOCKER_SNAP, value);
}

static void leaf_cdi(struct readers *readers, const char *key, char *value)
{
	if (same(key, "cdi") && same(outline_up(&readers->outline, 1), "features"))
		tell_bool(readers, FACT_DOCKER_CDI, value);
	else if (same(key, "CDI spec directories"))
		tell(readers, FACT_DOCKER_CDI, "true");
}

static void begin_inspect(struct readers *readers)
{
	readers->docker.inspect = true;
	tell(readers, FACT_SEEN_DOCKER_INSPECT, NULL);
}

static void leaf_container_runtime(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (readers->separator == ':' && same(outline_up(&readers->outline, 1), "HostConfig") &&
	    *value) {
		begin_inspect(readers);
		tell(readers, FACT_DOCKER_CONTAINER_RUNTIME, value);
	}
}

static void leaf_requests(struct readers *readers, const char *key, char *value)
{
	(void)key;
	begin_inspect(readers);
	if (same(value, "null") || starts(value, "[]"))
		tell(readers, FACT_DOCKER_NO_DEVICE_REQUEST, NULL);
}

static void leaf_shm(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (strcmp(value, "67108864") == 0)
		tell(readers, FACT_POD_SHM_SMALL, NULL);
}

const struct key_row keys_docker[] = {
	{ "default-runtime", leaf_daemon_default },
	{ "runtimes", leaf_runtimes },
	{ "nvidia", leaf_nvidia },
	{ "default runtime", leaf_info_default },
	{ "server version", leaf_info_version },
	{ "cgroup version", leaf_cgroup_version },
	{ "docker root dir", leaf_root_dir },
	{ "cdi", leaf_cdi },
	{ "cdi spec directories", leaf_cdi },
	{ "runtime", leaf_container_runtime },
	{ "devicerequests", leaf_requests },
	{ "shmsize", leaf_shm },
	{ NULL, NULL },
};

/* What NVIDIA's driver capabilities are called in a device request. */
static const char *const driver_words[] = { "utility", "graphics", "video",
					    "display", "ngx",      "compat32" };

static void take_capability(struct readers *readers, const char *value)
{
	struct docker *docker = &readers->docker;
	size_t length = strlen(docker->asked);

	docker->capabilities = true;
	docker->compute |= same(value, "compute") || same(value, "all");
	for (size_t i = 0; i < ARRAY_SIZE(driver_words); i++)
		docker->driver_capability |= same(value, driver_words[i]);
	snprintf(docker->asked + length, sizeof(docker->asked) - length, "%s%s", length ? "," : "",
		 value);
	keep(readers, &docker->place);
}

bool read_docker_item(struct readers *readers, const char *list, const char *value)
{
	const char *equals = strchr(value, '=');

	if (same(list, "Capabilities")) {
		begin_inspect(readers);
		take_capability(readers, value);
		return true;
	}
	if (same(list, "exec-opts") && starts(value, "native.cgroupdriver=")) {
		begin_daemon(readers);
		tell(readers, FACT_DOCKER_CGROUP_DRIVER, equals + 1);
		return true;
	}
	if (same(list, "Env") && equals && equals - value < NAME_MAX_) {
		char name[NAME_MAX_];

		snprintf(name, sizeof(name), "%.*s", (int)(equals - value), value);
		read_env(readers, name, equals + 1);
		return true;
	}
	if (same(value, "rootless")) {
		tell(readers, FACT_DOCKER_ROOTLESS, NULL);
		return true;
	}
	return false;
}

void end_docker(struct readers *readers)
{
	const struct docker *docker = &readers->docker;

	if (docker->nvidia)
		tell(readers, FACT_DOCKER_NVIDIA, NULL);
	else if (docker->runtimes || (docker->daemon && heading_has(readers, "daemon.json")))
		tell(readers, FACT_DOCKER_NO_NVIDIA, NULL);
	if (docker->capabilities) {
		tell_at(readers, FACT_DOCKER_CAPABILITIES, docker->asked, &docker->place);
		if (docker->driver_capability && !docker->compute)
			tell_at(readers, FACT_DOCKER_NO_COMPUTE, docker->asked, &docker->place);
	}
	memset(&readers->docker, 0, sizeof(readers->docker));
}

/* CDI. */

static void leaf_cdi_version(struct readers *readers, const char *key, char *value)
{
	(void)key;
	readers->cdi.spec = true;
	tell(readers, FACT_SEEN_CDI_SPEC, NULL);
	tell(readers, FACT_CDI_VERSION, value);
	if (heading_has(readers, "/cdi/"))
		tell(readers, FACT_CDI_FILE,
		     readers->heading[0] ? readers->heading : readers->source);
}

static void leaf_kind(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (!strchr(value, '/') || strchr(value, ' ') || *outline_up(&readers->outline, 1))
		return;
	tell(readers, FACT_CDI_KIND, value);
	if (starts(value, "k8s.gpu.nvidia.com"))
		tell(readers, FACT_DRA_CDI_KIND, value);
}

static void leaf_device(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (!readers->cdi.spec || !same(outline_up(&readers->outline, 1), "devices") || !*value)
		return;
	readers->cdi.devices++;
	tell(readers, FACT_CDI_DEVICE, value);
}

static void leaf_devices(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (readers->cdi.spec && (starts(value, "[]") || same(value, "null")) &&
	    !*outline_up(&readers->outline, 1))
		tell(readers, FACT_CDI_NO_DEVICES, NULL);
}

/* The version at the end of the name of a driver's file; "" for others. */
void driver_file_version(const char *path, char *ret, size_t size)
{
	const char *name = strrchr(path, '/');
	const char *so;

	*ret = '\0';
	name = name ? name + 1 : path;
	if (!has(name, "cuda.so") && !has(name, "nvidia") && !has(name, "nvcuvid"))
		return;
	so = strstr(name, ".so.");
	if (so && strchr(so + 4, '.') && copy_version(so + 4, ret, size) &&
	    strchr(ret, '.') - ret != 3)
		*ret = '\0'; /* libnvidia-container.so.1.17.8 has another version */
}

static void leaf_path(struct readers *readers, const char *key, char *value)
{
	char version[32];

	(void)key;
	if (!readers->cdi.spec)
		return;
	driver_file_version(value, version, sizeof(version));
	if (*version)
		tell(readers, FACT_CDI_DRIVER_VERSION, version);
}

const struct key_row keys_cdi[] = {
	{ "cdiversion", leaf_cdi_version },
	{ "kind", leaf_kind },
	{ "name", leaf_device },
	{ "devices", leaf_devices },
	{ "hostpath", leaf_path },
	{ "containerpath", leaf_path },
	{ NULL, NULL },
};

static const char *const hooks[] = {
	"update-ldcache",     "create-symlinks",        "chmod",
	"enable-cuda-compat", "create-soname-symlinks", "disable-device-node-modification"
};

bool read_cdi_item(struct readers *readers, const char *list, const char *value)
{
	if (!same(list, "args") || !readers->cdi.spec)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		if (same(value, hooks[i]))
			tell(readers, FACT_CDI_HOOK, value);
	return true;
}

/* A line of nvidia-ctk cdi list: nvidia.com/gpu=0. */
bool read_cdi_name(struct readers *readers, const char *kind, const char *device)
{
	if (readers->separator != '=' || !*device || strchr(device, ':') == device ||
	    !(ends(kind, "/gpu") || ends(kind, "/device") || ends(kind, "/claim") ||
	      ends(kind, "/mig")) ||
	    same(outline_up(&readers->outline, 1), "Taints") || strchr(device, ' ') ||
	    has(device, ":No"))
		return false;
	tell(readers, FACT_SEEN_CDI_LIST, NULL);
	tell(readers, FACT_CDI_KIND, kind);
	tell(readers, FACT_CDI_DEVICE, device);
	return true;
}

void end_cdi(struct readers *readers)
{
	memset(&readers->cdi, 0, sizeof(readers->cdi));
}
