/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that mean something wherever they stand in a line: versions, words of the kernel, of the
 * device plugin's log and of tools. All are looked for in one pass.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "doctor/reader.h"

/* LINE is the whole line, AT where the phrase stands in it. */
typedef void read_phrase(struct readers *readers, const char *line, const char *at);

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03", "loading NVIDIA UNIX Open Kernel Module" */
static void module_loaded(struct readers *readers, const char *line, const char *at)
{
	const char *module = strcasestr(at, "Kernel Module");
	char version[24];

	(void)line;
	if (!module || !copy_version(module, version, sizeof(version)))
		return;
	tell(readers, FACT_DRIVER_MODULE_VERSION, version);
	tell(readers, FACT_DRIVER_LOADED, NULL);
	tell(readers,
	     has(at, "Open Kernel Module") ? FACT_DRIVER_OPEN_MODULE : FACT_DRIVER_CLOSED_MODULE,
	     NULL);
}

/* "NVRM: Xid (PCI:0000:41:00): 79, ...", "Xid=79 on Device=..." */
static void xid(struct readers *readers, const char *line, const char *at)
{
	const char *number = at[3] == '=' ? at + 4 : strstr(at, "): ");
	char digits[8];
	size_t length;

	(void)line;
	if (!number)
		return;
	number += *number == ')' ? 3 : 0;
	length = strspn(number, "0123456789");
	if (!length || length > 4)
		return;
	snprintf(digits, sizeof(digits), "%.*s", (int)length, number);
	tell(readers, FACT_KERNEL_XID, digits);
}

static void kernel_log(struct readers *readers, const char *line, const char *at)
{
	(void)line;
	(void)at;
	tell(readers, FACT_SEEN_KERNEL_LOG, NULL);
}

/* Registered device plugin for 'nvidia.com/gpu' with Kubelet */
static void registered(struct readers *readers, const char *line, const char *at)
{
	const char *quote = strchr(at, '\'');
	char resource[NAME_MAX_];

	(void)line;
	if (!quote)
		return;
	COPY(resource, quote + 1);
	resource[strcspn(resource, "'")] = '\0';
	tell(readers, FACT_PLUGIN_REGISTERED, resource);
	tell(readers, FACT_PLUGIN_OK, NULL);
	tell(readers, FACT_SEEN_PLUGIN_LOG, NULL);
}

static void no_such_file(struct readers *readers, const char *line, const char *at)
{
	(void)at;
	if (starts(line, "ls:") && (strstr(line, "/dev/nvidia*") || strstr(line, "/dev/nvidia0") ||
				    strstr(line, "/dev/nvidiactl")))
		tell(readers, FACT_HOST_NO_DEV_NODES, NULL);
	if (strstr(line, "/proc/driver/nvidia/version"))
		tell(readers, FACT_DRIVER_NOT_LOADED, NULL);
	if (starts(line, "ls:") && (strstr(line, "/etc/cdi") || strstr(line, "run/cdi")))
		tell(readers, FACT_CDI_DIR_EMPTY, NULL);
}

static void cdi_found(struct readers *readers, const char *line, const char *at)
{
	(void)at;
	tell(readers, FACT_SEEN_CDI_LIST, NULL);
	if (has(line, "Found 0 CDI devices"))
		tell(readers, FACT_CDI_NO_DEVICES, NULL);
}

static void selinux_denied(struct readers *readers, const char *line, const char *at)
{
	(void)at;
	if (has(line, "nvidia") || has(line, "container"))
		tell(readers, FACT_HOST_SELINUX_DENIED, NULL);
}

static void shm(struct readers *readers, const char *line, const char *at)
{
	if (at == line && has(line, " 64M"))
		tell(readers, FACT_POD_SHM_SMALL, NULL);
}

static void no_api(struct readers *readers, const char *line, const char *at)
{
	(void)line;
	if (has(at, "resourceslice") || has(at, "deviceclass") || has(at, "resourceclaim"))
		tell(readers, FACT_DRA_API_ABSENT, NULL);
}

/* "Unit x.service could not be found", "x.service - text": whose Active line comes next. */
static void service(struct readers *readers, const char *line, const char *at)
{
	const char *name = at;
	char unit[NAME_MAX_];

	while (name > line && (isalnum((unsigned char)name[-1]) || name[-1] == '-'))
		name--;
	snprintf(unit, sizeof(unit), "%.*s", (int)(at - name), name);
	if (has(at, "could not be found") && read_is_service(unit))
		tellf(readers, FACT_HOST_SERVICE, "%s not_found", unit);
	else if (strncmp(at, ".service - ", 11) == 0 && read_is_service(unit))
		COPY(readers->heading, unit);
}

/*
 * How to add a phrase: a row. Its fact is told with VALUE; VERSION: with the version that follows
 * the phrase; a function where that is not enough. At least 5 characters.
 */
static const struct {
	const char *text;
	enum fact_key key;
	const char *value;
	bool version;
	read_phrase *read;
} phrases[] = {
	{ "NVIDIA Container Toolkit CLI version", FACT_TOOLKIT_VERSION, NULL, true, NULL },
	{ "NVIDIA Container Runtime Hook version", FACT_TOOLKIT_VERSION, NULL, true, NULL },
	{ "NVIDIA Container Runtime version", FACT_TOOLKIT_VERSION, NULL, true, NULL },
	{ "nvidia-container-toolkit version", FACT_TOOLKIT_VERSION, NULL, true, NULL },
	{ "lib-version:", FACT_TOOLKIT_VERSION, NULL, true, NULL },
	{ "cli-version:", FACT_TOOLKIT_VERSION, NULL, true, NULL },
	{ "Fabric Manager version", FACT_HOST_FABRIC_VERSION, NULL, true, NULL },
	{ "containerd github.com/containerd/containerd", FACT_CONTAINERD_VERSION, NULL, true,
	  NULL },
	{ "containerd containerd.io", FACT_CONTAINERD_VERSION, NULL, true, NULL },
	{ "Docker version", FACT_DOCKER_VERSION, NULL, true, NULL },
	{ "Kubernetes v", FACT_KUBERNETES_VERSION, NULL, true, NULL },
	{ "Kubernetes 1.", FACT_KUBERNETES_VERSION, NULL, true, NULL },
	{ "k3s version", FACT_KUBERNETES_VERSION, NULL, true, NULL },
	{ "HAMi v", FACT_HAMI_VERSION, NULL, true, NULL },
	{ "HAMi older than", FACT_HAMI_VERSION, NULL, true, NULL },
	{ "client has the version", FACT_DRIVER_LIBRARY_VERSION, NULL, true, NULL },
	{ "kernel module has the version", FACT_DRIVER_MODULE_VERSION, NULL, true, NULL },
	{ "NVML library version:", FACT_DRIVER_LIBRARY_VERSION, NULL, true, NULL },
	{ "NVRM version", FACT_MAX, NULL, false, module_loaded },
	{ "loading NVIDIA UNIX", FACT_MAX, NULL, false, module_loaded },
	{ "Xid (PCI", FACT_MAX, NULL, false, xid },
	{ "Xid=", FACT_MAX, NULL, false, xid },
	{ "NVRM: ", FACT_MAX, NULL, false, kernel_log },
	{ "Registered device plugin for '", FACT_MAX, NULL, false, registered },
	{ "Starting GRPC server for '", FACT_SEEN_PLUGIN_LOG, NULL, false, NULL },
	{ "Retreiving plugins", FACT_SEEN_PLUGIN_LOG, NULL, false, NULL },
	{ "Retrieving plugins", FACT_SEEN_PLUGIN_LOG, NULL, false, NULL },
	{ "SecureBoot enabled", FACT_HOST_SECURE_BOOT, "enabled", false, NULL },
	{ "SecureBoot disabled", FACT_HOST_SECURE_BOOT, "disabled", false, NULL },
	{ "Secure boot enabled", FACT_HOST_SECURE_BOOT, "enabled", false, NULL },
	{ "Secure Boot: enabled", FACT_HOST_SECURE_BOOT, "enabled", false, NULL },
	{ "Secure boot disabled", FACT_HOST_SECURE_BOOT, "disabled", false, NULL },
	{ "type cgroup2", FACT_HOST_CGROUP, "v2", false, NULL },
	{ "Test PASSED", FACT_CUDA_OK, NULL, false, NULL },
	{ "Result = PASS", FACT_CUDA_OK, NULL, false, NULL },
	{ "Memory cgroup out of memory", FACT_HOST_OOM, NULL, false, NULL },
	{ "Out of memory: Killed process", FACT_HOST_OOM, NULL, false, NULL },
	{ "intel_iommu=on", FACT_HOST_IOMMU, NULL, false, NULL },
	{ "amd_iommu=on", FACT_HOST_IOMMU, NULL, false, NULL },
	{ "nvidia-ctk: command not found", FACT_TOOLKIT_ABSENT, NULL, false, NULL },
	{ "nvidia-container-cli: command not found", FACT_TOOLKIT_ABSENT, NULL, false, NULL },
	{ "desktop-linux *", FACT_DOCKER_DESKTOP, NULL, false, NULL },
	{ "snap/docker", FACT_DOCKER_SNAP, NULL, false, NULL },
	{ "CDI devices", FACT_MAX, NULL, false, cdi_found },
	{ "avc:  denied", FACT_MAX, NULL, false, selinux_denied },
	{ "avc: denied", FACT_MAX, NULL, false, selinux_denied },
	{ "apparmor=\"DENIED\"", FACT_HOST_APPARMOR_DENIED, NULL, false, NULL },
	{ "No such file or directory", FACT_MAX, NULL, false, no_such_file },
	{ "doesn't have a resource type", FACT_MAX, NULL, false, no_api },
	{ ".service ", FACT_MAX, NULL, false, service },
	{ "shm   ", FACT_MAX, NULL, false, shm },
};

/* Four characters without their case, in 16 bits. */
static unsigned gram(uint32_t four)
{
	return (four * 2654435761u) >> 16;
}

static uint32_t shift(uint32_t four, char next)
{
	return four << 8 | (unsigned char)(next | 32);
}

/* A phrase is found by the four characters from its second on: "con" begins too many words. */
void read_phrases_init(struct readers *readers)
{
	for (size_t i = 0; i < ARRAY_SIZE(phrases); i++) {
		uint32_t four = 0;

		for (int k = 1; k < 5; k++)
			four = shift(four, phrases[i].text[k]);
		readers->phrase_next[i] = readers->phrases[gram(four)];
		readers->phrases[gram(four)] = (unsigned char)(i + 1);
	}
}

static void take_phrase(struct readers *readers, size_t i, const char *line, const char *at)
{
	const char *rest = at + strlen(phrases[i].text);
	char version[24];

	if (phrases[i].read)
		phrases[i].read(readers, line, at);
	else if (!phrases[i].version)
		tell(readers, phrases[i].key, phrases[i].value);
	else if (copy_version(phrases[i].key == FACT_KUBERNETES_VERSION ? rest - 2 : rest, version,
			      sizeof(version)))
		tell(readers, phrases[i].key, version);
	if (phrases[i].key == FACT_KUBERNETES_VERSION)
		read_distribution(readers, at);
}

void read_phrases(struct readers *readers, const char *line)
{
	static_assert(ARRAY_SIZE(phrases) <= PHRASES_MAX, "a number of a phrase is a byte");
	uint32_t four = 0;

	for (const char *at = line; *at; at++) {
		four = shift(four, *at);
		if (at < line + 4)
			continue;
		for (unsigned i = readers->phrases[gram(four)]; i;
		     i = readers->phrase_next[i - 1]) {
			const char *start = at - 4;

			if (strncasecmp(start, phrases[i - 1].text, strlen(phrases[i - 1].text)) ==
			    0)
				take_phrase(readers, i - 1, line, start);
		}
	}
}
