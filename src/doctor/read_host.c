/* SPDX-License-Identifier: Apache-2.0 */
/* The host: versions, modules, kernel lines, folders, packages, what was typed. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/reader.h"

/* How to add a command: words of it, and what it is called. The first that fits. */
static const struct {
	const char *words[2];
	const char *name;
} commands[] = {
	{ { "daemon-reload" }, "daemon_reload" },
	{ { "systemctl", "restart containerd" }, "restart_containerd" },
	{ { "service containerd restart" }, "restart_containerd" },
	{ { "systemctl", "restart docker" }, "restart_docker" },
	{ { "service docker restart" }, "restart_docker" },
	{ { "systemctl", "restart crio" }, "restart_crio" },
	{ { "systemctl", "restart cri-o" }, "restart_crio" },
	{ { "systemctl", "restart kubelet" }, "restart_kubelet" },
	{ { "systemctl", "restart k3s" }, "restart_k3s" },
	{ { "systemctl", "restart rke2" }, "restart_rke2" },
	{ { "nvidia-ctk", "runtime configure" }, "configure_runtime" },
	{ { "nvidia-smi", " -cgi" }, "mig_create" },
	{ { "nvidia-smi", " -cci" }, "mig_create" },
	{ { "nvidia-smi", " -dgi" }, "mig_destroy" },
	{ { "nvidia-smi", " -dci" }, "mig_destroy" },
	{ { "nvidia-smi", " -mig" }, "mig_mode" },
	{ { "nvidia-smi", " -r" }, "gpu_reset" },
	{ { "nvidia-smi", "--gpu-reset" }, "gpu_reset" },
	{ { "nvidia-smi", " -pm" }, "persistence" },
	{ { "nvidia-smi", " -c " }, "compute_mode" },
	{ { "apt", "upgrade" }, "upgrade_packages" },
	{ { "unattended-upgrade" }, "upgrade_packages" },
	{ { "dnf", "update" }, "upgrade_packages" },
	{ { "yum", "update" }, "upgrade_packages" },
	{ { "rmmod nvidia" }, "driver_unload" },
	{ { "modprobe -r nvidia" }, "driver_unload" },
	{ { "apt", "install nvidia-driver" }, "driver_install" },
	{ { "NVIDIA-Linux-x86_64", ".run" }, "driver_install" },
	{ { "reboot" }, "reboot" },
};

static void note_restart(struct readers *readers, const char *name)
{
	if (strcmp(name, "configure_runtime") == 0) {
		readers->configured = true;
		readers->restarted = false;
		keep(readers, &readers->configured_place);
	} else if (starts(name, "restart_") || strcmp(name, "reboot") == 0) {
		readers->restarted = true;
	}
}

void read_command(struct readers *readers, const char *command)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!has(command, commands[i].words[0]) ||
		    (commands[i].words[1] && !has(command, commands[i].words[1])))
			continue;
		tell(readers, FACT_HOST_COMMAND, commands[i].name);
		note_restart(readers, commands[i].name);
		return;
	}
}

/* Modules. */

static const char *const modules[] = { "nvidia",         "nvidia_uvm", "nvidia_drm",
				       "nvidia_modeset", "nouveau",    "nvidia_peermem",
				       "vfio_pci",       "nvidia_fs",  "gdrdrv" };

/* "name size count users"; the count of a module that cannot be removed is -2. */
static bool is_module_row(char **words, size_t count)
{
	return count >= 3 && is_number(words[1]) &&
	       (is_number(words[2]) || strcmp(words[2], "-2") == 0);
}

static void nvidia_module(struct readers *readers, char **words, size_t count)
{
	readers->host.nvidia = true;
	tell(readers, FACT_DRIVER_LOADED, NULL);
	/* Its users stand in the row itself: nothing that is missing elsewhere misleads. */
	if (count >= 4 ? !has(words[3], "nvidia_uvm") : count == 3 && strcmp(words[2], "0") == 0)
		tell(readers, FACT_DRIVER_NO_UVM, NULL);
}

/* A row of lsmod; or the name alone, as grep shows it. */
static bool module_row(struct readers *readers, char **words, size_t count)
{
	bool listed = readers->hints & HINT_MODULES;

	if (!is_module_row(words, count) && !(listed && count == 1))
		return false;
	if (!listed && !starts(words[0], "nvidia") && !same(words[0], "nouveau"))
		return false;
	tell(readers, FACT_SEEN_LSMOD, NULL);
	readers->host.lsmod_rows++;
	for (size_t i = 0; i < ARRAY_SIZE(modules); i++)
		if (same(words[0], modules[i]))
			tell(readers, FACT_DRIVER_MODULE, modules[i]);
	if (same(words[0], "nvidia"))
		nvidia_module(readers, words, count);
	if (same(words[0], "nouveau"))
		tell(readers, FACT_DRIVER_NOUVEAU, NULL);
	return true;
}

static void end_modules(struct readers *readers)
{
	const struct host *host = &readers->host;

	if (host->lsmod_rows >= 5 && !host->nvidia)
		tell(readers, FACT_DRIVER_NOT_LOADED, NULL);
	if (host->lspci_rows >= 8 && !host->lspci_nvidia)
		tell(readers, FACT_DRIVER_NO_CARD, NULL);
}

/* PCI. */

static bool pci_line(struct readers *readers, const char *line)
{
	const char *state = strstr(line, "LnkSta:");
	const char *width = state ? strstr(state, "Width") : NULL;

	/* The speed before it may be low at rest. */
	if (width && readers->host.pci_nvidia && has(width, "(downgraded)"))
		tell(readers, FACT_CARD_PCIE_WIDTH_LOW, "downgraded");
	if (strspn(line, "0123456789abcdef:") < 5 || !strstr(line, ": ") ||
	    line[strspn(line, "0123456789abcdef:")] != '.')
		return false;
	readers->host.lspci_rows++;
	tell(readers, FACT_SEEN_LSPCI, NULL);
	readers->host.pci_nvidia = has(line, "NVIDIA") || has(line, "10de");
	readers->host.lspci_nvidia |= readers->host.pci_nvidia;
	return true;
}

static void leaf_kernel_driver(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (same(value, "vfio-pci"))
		tell(readers, FACT_DRIVER_VFIO, NULL);
	if (same(value, "nouveau"))
		tell(readers, FACT_DRIVER_NOUVEAU, NULL);
}

/* Libraries, device nodes, sockets, folders. */

static void library(struct readers *readers, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *so = strstr(name, ".so");
	char plain[NAME_MAX_], version[32];

	if (!so || !starts(name, "lib") || starts(name, "libnvidia-container"))
		return;
	/* libcuda.so.1, whatever follows. */
	snprintf(plain, sizeof(plain), "%.*s%s", (int)(so + 3 - name), name,
		 so[3] == '.' ? ".1" : "");
	if (!has(plain, "cuda.so") && !starts(plain, "libnvidia") && !starts(plain, "libdxcore"))
		return;
	tell(readers, FACT_HOST_LIBRARY, plain);
	if (has(path, "/stubs/") && starts(plain, "libcuda.so"))
		tell(readers, FACT_HOST_STUB_LIBCUDA, NULL);
	if (has(path, "compat/")) {
		tell(readers, FACT_IMAGE_COMPAT, NULL);
		if (starts(plain, "libcuda.so"))
			tell(readers, FACT_HOST_COMPAT_LIBCUDA, NULL);
		return;
	}
	readers->host.libml |= starts(plain, "libnvidia-ml.so");
	readers->host.libcuda |= starts(plain, "libcuda.so");
	driver_file_version(path, version, sizeof(version));
	if (*version)
		tell(readers, FACT_DRIVER_LIBRARY_VERSION, version);
}

static void device_node(struct readers *readers, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct host *host = &readers->host;

	if (!starts(name, "nvidia") && !starts(path, "/dev/nvidia"))
		return;
	tell(readers, FACT_SEEN_DEV_NODES, NULL);
	host->dev = true;
	if (isdigit((unsigned char)name[6])) {
		host->dev_card = true;
		tell(readers, FACT_HOST_DEV_NODE, "nvidia0");
	} else {
		host->dev_uvm |= same(name, "nvidia-uvm");
		tell(readers, FACT_HOST_DEV_NODE, name);
	}
}

static void folder_row(struct readers *readers, const char *name)
{
	struct host *host = &readers->host;
	const char *slash = strrchr(name, '/');

	host->rows++;
	name = slash ? slash + 1 : name;
	if (ends(name, ".sock") && heading_has(readers, "device-plugins")) {
		tell(readers, FACT_SEEN_PLUGIN_SOCKETS, NULL);
		host->sockets = true;
		if (!same(name, "kubelet.sock")) {
			host->other_socket = true;
			tell(readers, FACT_PLUGIN_SOCKET, name);
		}
	}
	if (has(readers->heading, "/cdi") && (ends(name, ".json") || ends(name, ".yaml"))) {
		host->cdi_files = true;
		tell(readers, FACT_CDI_FILE, name);
	}
	if (ends(name, ".toml") && (has(readers->heading, "conf.d") || has(name, "nvidia")))
		tell(readers, FACT_CONTAINERD_DROP_IN, name);
	if (has(name, "oci-nvidia-hook.json"))
		tell(readers, FACT_CRIO_HOOKS, name);
}

/* Rows of ls, find and ldconfig -p: the path is the last word, or the one before "->" and "(". */
static bool listing_row(struct readers *readers, char **words, size_t count)
{
	size_t at = count - 1;
	bool row = count == 1 || strchr("-dlcsrb", words[0][0]);

	for (size_t i = 1; i < count; i++)
		if (strcmp(words[i], "->") == 0)
			at = i - 1;
	if (count > 3 && strcmp(words[count - 2], "=>") == 0)
		row = true;
	if (!row)
		return false;
	if (strstr(words[at], ".so"))
		library(readers, words[at]);
	if (strstr(words[at], "/dev/nvidia") || (readers->hints & HINT_DEV))
		device_node(readers, words[at]);
	if (strstr(words[at], ".sock") || strstr(words[at], ".json") ||
	    strstr(words[at], ".yaml") || strstr(words[at], ".toml"))
		folder_row(readers, words[at]);
	return false;
}

/* What a command printed when it printed nothing. */
static void nothing(struct readers *readers)
{
	const char *heading = readers->heading;

	if (has(heading, "grep") && has(heading, "imports") && has(heading, "containerd"))
		tell(readers, FACT_CONTAINERD_NO_IMPORTS, NULL);
	if (has(heading, "lspci") && has(heading, "nvidia"))
		tell(readers, FACT_DRIVER_NO_CARD, NULL);
	if (has(heading, "lsmod") && has(heading, "nvidia"))
		tell(readers, FACT_DRIVER_NOT_LOADED, NULL);
	if (has(heading, "ls") && (has(heading, "/etc/cdi") || has(heading, "run/cdi")))
		tell(readers, FACT_CDI_DIR_EMPTY, NULL);
	if (has(heading, "ls") && has(heading, "/dev/char"))
		tell(readers, FACT_HOST_NO_DEV_CHAR, NULL);
}

/* Versions and packages. */

static const struct {
	const char *word;
	enum fact_key key;
} packages[] = {
	{ "nvidia-container-toolkit", FACT_TOOLKIT_VERSION },
	{ "libnvidia-container", FACT_TOOLKIT_VERSION },
	{ "nvidia-fabricmanager", FACT_HOST_FABRIC_VERSION },
	{ "nv-fabricmanager", FACT_HOST_FABRIC_VERSION },
	{ "nvidia-driver", FACT_DRIVER_PACKAGE_VERSION },
	{ "nvidia-utils", FACT_DRIVER_PACKAGE_VERSION },
	{ "nvidia-compute-utils", FACT_DRIVER_PACKAGE_VERSION },
	{ "libnvidia-compute", FACT_DRIVER_PACKAGE_VERSION },
	{ "cuda-drivers", FACT_DRIVER_PACKAGE_VERSION },
};

/* dpkg -l: "ii  name  version arch text"; rpm -qa: name-version; a name alone. */
static void package(struct readers *readers, char **words, size_t count)
{
	size_t at = count >= 3 && strlen(words[0]) == 2 ? 1 : 0;
	char version[24];

	for (size_t i = 0; i < ARRAY_SIZE(packages); i++) {
		const char *rest;

		if (!starts(words[at], packages[i].word))
			continue;
		rest = words[at] + strlen(packages[i].word);
		if (at + 1 < count && copy_version(words[at + 1], version, sizeof(version)))
			tell(readers, packages[i].key, version);
		else if (copy_version(rest, version, sizeof(version)))
			tell(readers, packages[i].key, version);
		return;
	}
}

/* How to add a version: words of the heading above a line that is a version alone. */
static const struct {
	const char *heading;
	enum fact_key key;
} version_headings[] = {
	{ "kubelet --version", FACT_KUBELET_VERSION },
	{ "kubelet version", FACT_KUBELET_VERSION },
	{ "hami version", FACT_HAMI_VERSION },
	{ "nvidia-container-cli -V", FACT_TOOLKIT_VERSION },
	{ "nvidia-container-cli --version", FACT_TOOLKIT_VERSION },
	{ "/sys/module/nvidia/version", FACT_DRIVER_MODULE_VERSION },
	{ "kubectl version", FACT_KUBERNETES_VERSION },
};

/* A line that is a version and no more; its heading says of what. */
static void version_alone(struct readers *readers, const char *word)
{
	char version[24];

	if (!isdigit((unsigned char)word[*word == 'v']) ||
	    !copy_version(word, version, sizeof(version)))
		return;
	if (word[0] == 'v' && word[1] == '1' && word[2] == '.')
		tell(readers, FACT_KUBERNETES_VERSION, version);
	if (has(readers->heading, "uname"))
		read_kernel(readers, word);
	for (size_t i = 0; i < ARRAY_SIZE(version_headings); i++)
		if (has(readers->heading, version_headings[i].heading))
			tell(readers, version_headings[i].key, version);
}

static void leaf_version(struct readers *readers, const char *key, char *value)
{
	char version[24];

	(void)key;
	if (readers->separator != ':' || !copy_version(value, version, sizeof(version)))
		return;
	if (has(readers->heading, "modinfo"))
		tell(readers, FACT_DRIVER_DISK_VERSION, version);
	if (has(readers->heading, "nvidia-container-cli"))
		tell(readers, FACT_TOOLKIT_VERSION, version);
}

/* dkms status: "nvidia/535.54.03, 5.15.0-25-generic, x86_64: installed" */
static void dkms_line(struct readers *readers, const char *line)
{
	const char *state = strrchr(line, ':');
	char version[24];

	if (!starts(line, "nvidia/") && !starts(line, "nvidia, ") && !starts(line, "nvidia-srv/"))
		return;
	if (copy_version(line, version, sizeof(version)))
		tell(readers, FACT_DRIVER_DISK_VERSION, version);
	if (state && isalpha((unsigned char)state[1 + strspn(state + 1, " ")]))
		tell(readers, FACT_DRIVER_DKMS, state + 1 + strspn(state + 1, " "));
}

/* A line of one word. */
static void lone_word(struct readers *readers, const char *word)
{
	char mode[16];

	if (strcmp(word, "cgroup2fs") == 0)
		tell(readers, FACT_HOST_CGROUP, "v2");
	if (strcmp(word, "tmpfs") == 0 && (readers->hints & HINT_CGROUP))
		tell(readers, FACT_HOST_CGROUP, "v1");
	if (strcmp(word, "True") == 0 && has(readers->heading, "is_available"))
		tell(readers, FACT_CUDA_OK, NULL);
	if ((readers->hints & HINT_ENFORCE) && isupper((unsigned char)*word)) {
		COPY(mode, word);
		*mode = (char)tolower((unsigned char)*mode);
		tell(readers, FACT_HOST_SELINUX, mode);
	}
	version_alone(readers, word);
}

static void word_line(struct readers *readers, char **words, size_t count)
{
	if (count == 1)
		lone_word(readers, words[0]);
	if (count == 2 && strcmp(words[0], "Kubernetes") == 0)
		version_alone(readers, words[1]);
	if (count >= 3 && strcmp(words[0], "Linux") == 0 && isdigit((unsigned char)words[2][0]))
		read_kernel(readers, words[2]);
}

static void leaf_selinux(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (same(value, "enforcing") || same(value, "permissive") || same(value, "disabled"))
		tell(readers, FACT_HOST_SELINUX, value);
}

static void leaf_secure_boot(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (starts(value, "enabled") || starts(value, "disabled"))
		tell(readers, FACT_HOST_SECURE_BOOT,
		     starts(value, "enabled") ? "enabled" : "disabled");
}

/* How to add a service: its name. */
static const char *const services[] = {
	"nvidia-persistenced", "nvidia-fabricmanager", "containerd", "docker", "kubelet", "crio",
	"nvidia-mps"
};

bool read_is_service(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		if (same(name, services[i]))
			return true;
	return false;
}

/* systemctl status: "Active: active (running)" below a heading or a line that names the service. */
static void leaf_active(struct readers *readers, const char *key, char *value)
{
	(void)key;
	value[strcspn(value, " ")] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		if (has(readers->heading, services[i])) {
			tellf(readers, FACT_HOST_SERVICE, "%s %s", services[i], value);
			return;
		}
}

const struct key_row keys_host[] = {
	{ "kernel driver in use", leaf_kernel_driver },
	{ "version", leaf_version },
	{ "selinux status", leaf_selinux },
	{ "current mode", leaf_selinux },
	{ "secure boot", leaf_secure_boot },
	{ "active", leaf_active },
	{ NULL, NULL },
};

#define HOST_WORDS   16
#define HOST_ROW_MAX 512

static bool host_words(struct readers *readers, const char *line)
{
	char row[HOST_ROW_MAX];
	char *words[HOST_WORDS];
	size_t count;

	copy_text(row, sizeof(row), line);
	count = split(row, words, HOST_WORDS);
	if (!count) /* blank, though not empty */
		return false;
	word_line(readers, words, count);
	package(readers, words, count);
	if (strcmp(words[0], "docker") == 0 && has(readers->heading, "snap list"))
		tell(readers, FACT_DOCKER_SNAP, NULL);
	listing_row(readers, words, count);
	return pci_line(readers, line) || module_row(readers, words, count);
}

bool read_host_line(struct readers *readers, char *line)
{
	const char *at = line + strspn(line, " \t");

	if (*at == '(' &&
	    (same(at, "(no output)") || same(at, "(empty)") || same(at, "(nothing)"))) {
		nothing(readers);
		return true;
	}
	if (starts(at, "nvidia"))
		dkms_line(readers, at);
	read_phrases(readers, at);
	if (readers->hints & HINT_HISTORY)
		read_command(readers, at);
	return host_words(readers, at);
}

void end_host(struct readers *readers)
{
	const struct host *host = &readers->host;

	end_modules(readers);
	if (readers->heading_empty && readers->heading[0])
		nothing(readers);
	if (host->libml && !host->libcuda)
		tell(readers, FACT_HOST_NO_LIBCUDA, NULL);
	if (host->sockets && !host->other_socket)
		tell(readers, FACT_PLUGIN_NO_SOCKET, NULL);
	/* All of /dev/nvidia* was asked for. */
	if (host->dev_card && !host->dev_uvm && (readers->hints & HINT_DEV))
		tell(readers, FACT_HOST_NO_UVM_NODE, NULL);
	memset(&readers->host, 0, sizeof(readers->host));
}
