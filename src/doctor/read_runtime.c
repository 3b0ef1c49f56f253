/* SPDX-License-Identifier: Apache-2.0 */
/* TOML of container runtimes: containerd of all versions, CRI-O, NVIDIA's container toolkit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/reader.h"

enum { SECTION_CRI = 1, SECTION_GRPC = 2, SECTION_V1 = 4 };

/*
 * How to add a spelling of CRI's section (containerd docs/cri/config.md): version 1 has
 * plugins.cri, version 2 the grpc name, versions 3 and 4 those of cri.v1.
 */
static const struct {
	const char *name;
	unsigned bit;
	const char *spelling;
} sections[] = {
	{ "cri", SECTION_CRI, "cri" },
	{ "io.containerd.grpc.v1.cri", SECTION_GRPC, "grpc_cri" },
	{ "io.containerd.cri.v1.runtime", SECTION_V1, "cri_v1" },
	{ "io.containerd.cri.v1.images", SECTION_V1, "cri_v1" },
};

static bool is_nvidia_binary(const char *path)
{
	const char *slash = strrchr(path, '/');

	return starts(slash ? slash + 1 : path, "nvidia-container-runtime");
}

static struct containerd *containerd_of(struct readers *readers)
{
	struct containerd *containerd = &readers->containerd;

	if (!containerd->seen) {
		containerd->seen = true;
		keep(readers, &containerd->place);
		tell(readers, FACT_SEEN_CONTAINERD_CONFIG, NULL);
	}
	return containerd;
}

static int runtime_of(struct containerd *containerd, const char *name)
{
	for (size_t i = 0; i < containerd->runtime_count; i++)
		if (strcmp(containerd->runtimes[i].name, name) == 0)
			return (int)i;
	if (containerd->runtime_count == RUNTIMES_MAX)
		return -1;
	COPY(containerd->runtimes[containerd->runtime_count].name, name);
	containerd->runtimes[containerd->runtime_count].systemd = -1;
	return (int)containerd->runtime_count++;
}

/* The name behind "runtimes" in the path of the line at hand, or "". */
static const char *runtime_name(const struct readers *readers)
{
	for (unsigned i = 0; i < 6; i++)
		if (same(outline_up(&readers->outline, i + 1), "runtimes"))
			return outline_up(&readers->outline, i);
	return "";
}

static bool in_crio(const struct readers *readers)
{
	return outline_below(&readers->outline, "crio");
}

static void crio_header(struct readers *readers)
{
	const char *name = runtime_name(readers);

	readers->crio.seen = true;
	tell(readers, FACT_SEEN_CRIO_CONFIG, NULL);
	if (!*name)
		return;
	readers->crio.runtimes++;
	if (has(name, "nvidia")) {
		readers->crio.nvidia = true;
		tell(readers, FACT_CRIO_NVIDIA, name);
	}
}

static void note_sections(struct readers *readers)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		if (!outline_below(&readers->outline, sections[i].name) &&
		    !same(outline_up(&readers->outline, 0), sections[i].name))
			continue;
		if (i == 0 && !outline_below(&readers->outline, "plugins"))
			continue;
		containerd_of(readers)->sections |= sections[i].bit;
		tell(readers, FACT_CONTAINERD_SECTION, sections[i].spelling);
	}
}

void read_toml_header(struct readers *readers)
{
	const char *name;
	int at;

	if (in_crio(readers) || same(outline_up(&readers->outline, 0), "crio")) {
		crio_header(readers);
		return;
	}
	note_sections(readers);
	name = runtime_name(readers);
	if (!*name || !readers->containerd.seen)
		return;
	tell(readers, FACT_CONTAINERD_RUNTIME, name);
	at = runtime_of(&readers->containerd, name);
	if (at >= 0 && same(outline_up(&readers->outline, 0), "options"))
		readers->containerd.runtimes[at].options = true;
	if (at >= 0 && has(name, "nvidia") && !readers->containerd.nvidia_place.line)
		keep(readers, &readers->containerd.nvidia_place);
}

static bool is_toml(const struct readers *readers)
{
	return readers->separator == '=';
}

static void leaf_version(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (!is_toml(readers) || *outline_up(&readers->outline, 1) || !is_number(value) ||
	    strlen(value) != 1)
		return;
	if (heading_has(readers, "crio") || !(*value >= '1' && *value <= '4'))
		return;
	COPY(containerd_of(readers)->version, value);
	tell(readers, FACT_CONTAINERD_CONFIG_VERSION, value);
}

/* Inline arrays come as bare values below the key, see read_runtime_item(). */
static void leaf_imports(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (is_toml(readers) && *value)
		tell(readers, FACT_CONTAINERD_IMPORTS, value);
}

static void leaf_default(struct readers *readers, const char *key, char *value)
{
	struct containerd *containerd;

	if (!is_toml(readers) || !*value)
		return;
	if (same(key, "default_runtime")) {
		readers->crio.seen = true;
		tell(readers, FACT_CRIO_DEFAULT, value);
		return;
	}
	containerd = containerd_of(readers);
	COPY(containerd->default_name, value);
	keep(readers, &containerd->default_place);
	tell(readers, FACT_CONTAINERD_DEFAULT, value);
}

static void leaf_binary(struct readers *readers, const char *key, char *value)
{
	struct containerd *containerd = &readers->containerd;
	const char *name = runtime_name(readers);
	int at;

	(void)key;
	if (!is_toml(readers) || !containerd->seen || !strchr(value, '/'))
		return;
	tell(readers, FACT_CONTAINERD_BINARY, value);
	if (outline_below(&readers->outline, "default_runtime")) {
		containerd->old_default |= is_nvidia_binary(value);
		return;
	}
	at = *name ? runtime_of(containerd, name) : -1;
	if (at < 0)
		return;
	containerd->runtimes[at].nvidia |= is_nvidia_binary(value);
	containerd->runtimes[at].other_binary |= !is_nvidia_binary(value);
	if (is_nvidia_binary(value) && !containerd->nvidia_place.line)
		keep(readers, &containerd->nvidia_place);
}

static void leaf_systemd(struct readers *readers, const char *key, char *value)
{
	struct containerd *containerd = &readers->containerd;
	const char *name = runtime_name(readers);
	int at = containerd->seen && *name ? runtime_of(containerd, name) : -1;

	(void)key;
	if (at < 0 || !is_toml(readers))
		return;
	containerd->runtimes[at].systemd = same(value, "true");
	if (has(name, "nvidia"))
		tell_bool(readers, FACT_CONTAINERD_SYSTEMD_CGROUP, value);
}

static void leaf_enable_cdi(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (is_toml(readers))
		tell_bool(readers, FACT_CONTAINERD_CDI, value);
}

static void leaf_shim(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (is_toml(readers) && has(runtime_name(readers), "nvidia"))
		tell(readers, FACT_CONTAINERD_SHIM, value);
}

static void leaf_hooks(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (is_toml(readers))
		tell(readers, FACT_CRIO_HOOKS, value);
}

/* NVIDIA's toolkit: /etc/nvidia-container-runtime/config.toml. */

static void leaf_mode(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (is_toml(readers) && same(outline_up(&readers->outline, 1), "nvidia-container-runtime"))
		tell(readers, FACT_TOOLKIT_MODE, value);
}

static void leaf_no_cgroups(struct readers *readers, const char *key, char *value)
{
	(void)key;
	tell(readers, FACT_SEEN_TOOLKIT_CONFIG, NULL);
	if (same(value, "true"))
		tell(readers, FACT_TOOLKIT_NO_CGROUPS, NULL);
}

static void leaf_envvar(struct readers *readers, const char *key, char *value)
{
	(void)key;
	tell(readers, FACT_SEEN_TOOLKIT_CONFIG, NULL);
	if (same(value, "false"))
		tell(readers, FACT_TOOLKIT_ENV_REFUSED, NULL);
}

static void leaf_volume_mounts(struct readers *readers, const char *key, char *value)
{
	(void)key;
	tell_bool(readers, FACT_TOOLKIT_VOLUME_MOUNTS, value);
}

static void leaf_toolkit_path(struct readers *readers, const char *key, char *value)
{
	if (is_toml(readers) && *value &&
	    same(outline_up(&readers->outline, 1), "nvidia-container-cli"))
		tell(readers, same(key, "root") ? FACT_TOOLKIT_ROOT : FACT_TOOLKIT_LDCONFIG, value);
}

const struct key_row keys_runtime[] = {
	{ "version", leaf_version },
	{ "imports", leaf_imports },
	{ "default_runtime_name", leaf_default },
	{ "default_runtime", leaf_default },
	{ "binaryname", leaf_binary },
	{ "runtime", leaf_binary },
	{ "systemdcgroup", leaf_systemd },
	{ "enable_cdi", leaf_enable_cdi },
	{ "runtime_type", leaf_shim },
	{ "hooks_dir", leaf_hooks },
	{ "mode", leaf_mode },
	{ "no-cgroups", leaf_no_cgroups },
	{ "accept-nvidia-visible-devices-envvar-when-unprivileged", leaf_envvar },
	{ "accept-nvidia-visible-devices-as-volume-mounts", leaf_volume_mounts },
	{ "ldconfig", leaf_toolkit_path },
	{ "root", leaf_toolkit_path },
	{ NULL, NULL },
};

/* One value of an array. */
bool read_runtime_item(struct readers *readers, const char *list, const char *value)
{
	if (same(list, "disabled_plugins")) {
		struct containerd *containerd = containerd_of(readers);

		containerd->main_file = true;
		if (same(value, "cri") || same(value, "io.containerd.grpc.v1.cri") ||
		    same(value, "io.containerd.cri.v1.runtime")) {
			containerd->cri_disabled = true;
			tell(readers, FACT_CONTAINERD_CRI_DISABLED, value);
		}
		return true;
	}
	if (same(list, "imports")) {
		containerd_of(readers)->imports = true;
		tell(readers, FACT_CONTAINERD_IMPORTS, value);
		return true;
	}
	if (same(list, "hooks_dir")) {
		tell(readers, FACT_CRIO_HOOKS, value);
		return true;
	}
	return false;
}

/* How to add a place: a part of its path, and whose it is. */
static const struct {
	const char *path, *name, *distribution;
} places[] = {
	{ "/rancher/k3s/", "k3s", "k3s" },
	{ "/rancher/rke2/", "rke2", "rke2" },
	{ "/etc/k0s/", "k0s", "k0s" },
	{ "/run/k0s/", "k0s", "k0s" },
	{ "/snap/microk8s/", "microk8s", "microk8s" },
	{ "/etc/containerd/", "etc", NULL },
	{ "etc/containerd/", "etc", NULL },
};

static void tell_file(struct readers *readers)
{
	const struct kept *place = &readers->containerd.place;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (!heading_has(readers, places[i].path))
			continue;
		tell_at(readers, FACT_CONTAINERD_FILE, places[i].name, place);
		if (places[i].distribution)
			tell_at(readers, FACT_DISTRIBUTION, places[i].distribution, place);
		break;
	}
	if (heading_has(readers, "conf.d/") || heading_has(readers, "nvidia.toml"))
		tell_at(readers, FACT_CONTAINERD_DROP_IN, readers->heading, place);
}

/* The section is of another version than the file says, and containerd does not look at it. */
static void tell_versions(struct readers *readers)
{
	const struct containerd *containerd = &readers->containerd;
	char version = containerd->version[0];
	unsigned read = version == '1'   ? SECTION_CRI
			: version == '2' ? SECTION_GRPC
			: version        ? SECTION_V1
					 : SECTION_CRI | SECTION_GRPC | SECTION_V1;

	if (!version && containerd->sections == SECTION_CRI)
		tell_at(readers, FACT_CONTAINERD_CONFIG_VERSION, "1", &containerd->place);
	if (containerd->sections && !(containerd->sections & read))
		tell_at(readers, FACT_CONTAINERD_SECTION_IGNORED, containerd->version,
			&containerd->place);
}

/* Options without a binary: containerd takes runc, whatever the name. */
static bool is_runc(const struct readers *readers, size_t i)
{
	const struct containerd *containerd = &readers->containerd;

	return containerd->runtimes[i].options && !containerd->runtimes[i].nvidia &&
	       !containerd->runtimes[i].other_binary &&
	       (containerd->runtimes[i].systemd >= 0 || heading_has(readers, "config dump"));
}

static bool is_nvidia(const struct readers *readers, size_t i)
{
	const struct containerd *containerd = &readers->containerd;
	bool named = has(containerd->runtimes[i].name, "nvidia");

	if (is_runc(readers, i))
		return false;
	return containerd->runtimes[i].nvidia || (named && !containerd->runtimes[i].other_binary);
}

static void tell_cgroups(struct readers *readers)
{
	const struct containerd *containerd = &readers->containerd;
	int nvidia = -1, other = -1;

	for (size_t i = 0; i < containerd->runtime_count; i++) {
		if (is_nvidia(readers, i) && containerd->runtimes[i].systemd >= 0)
			nvidia = containerd->runtimes[i].systemd;
		else if (same(containerd->runtimes[i].name, "runc") &&
			 containerd->runtimes[i].systemd >= 0)
			other = containerd->runtimes[i].systemd;
	}
	if (nvidia >= 0 && other >= 0 && nvidia != other)
		tell_at(readers, FACT_CONTAINERD_SYSTEMD_CGROUP_DIFFERS, NULL,
			&containerd->nvidia_place);
}

/* What the name of the default says, with a runtime of NVIDIA's among those of the file or not. */
static void tell_default(struct readers *readers, bool nvidia, bool is_default)
{
	const struct containerd *containerd = &readers->containerd;
	bool named = has(containerd->default_name, "nvidia");

	if (named && (is_default || !nvidia))
		tell_at(readers, FACT_CONTAINERD_NVIDIA_DEFAULT, NULL, &containerd->default_place);
	if (nvidia && !is_default && !named)
		tell_at(readers, FACT_CONTAINERD_NVIDIA_NOT_DEFAULT, containerd->default_name,
			containerd->default_name[0] ? &containerd->default_place
						    : &containerd->nvidia_place);
}

static void tell_runtimes(struct readers *readers)
{
	const struct containerd *containerd = &readers->containerd;
	bool nvidia = false, is_default = false, defined = false, runc = false;

	for (size_t i = 0; i < containerd->runtime_count; i++) {
		bool named = strcmp(containerd->runtimes[i].name, containerd->default_name) == 0;

		defined |= named;
		runc |= is_runc(readers, i) && has(containerd->runtimes[i].name, "nvidia");
		if (!is_nvidia(readers, i))
			continue;
		nvidia = true;
		is_default |= named;
		tell_at(readers, FACT_CONTAINERD_NVIDIA, containerd->runtimes[i].name,
			&containerd->nvidia_place);
	}
	if (runc)
		tell_at(readers, FACT_CONTAINERD_OPTIONS_MISSING, NULL, &containerd->nvidia_place);
	else
		tell_default(readers, nvidia, is_default);
	if (!nvidia && !runc && containerd->sections && containerd->runtime_count)
		tell_at(readers, FACT_CONTAINERD_NO_NVIDIA, NULL, &containerd->place);
	if (containerd->default_name[0] && containerd->runtime_count && !defined)
		tell_at(readers, FACT_CONTAINERD_DEFAULT_UNDEFINED, containerd->default_name,
			&containerd->default_place);
}

static void end_containerd(struct readers *readers)
{
	const struct containerd *containerd = &readers->containerd;

	tell_file(readers);
	tell_versions(readers);
	tell_runtimes(readers);
	tell_cgroups(readers);
	if (containerd->old_default)
		tell_at(readers, FACT_CONTAINERD_OLD_DEFAULT, NULL, &containerd->place);
	if (!containerd->imports && (containerd->main_file || containerd->version[0]) &&
	    !heading_has(readers, "conf.d/") && !heading_has(readers, "grep"))
		tell_at(readers, FACT_CONTAINERD_NO_IMPORTS, NULL, &containerd->place);
}

void end_runtime(struct readers *readers)
{
	if (readers->containerd.seen)
		end_containerd(readers);
	if (readers->crio.runtimes && !readers->crio.nvidia)
		tell(readers, FACT_CRIO_NO_NVIDIA, NULL);
	memset(&readers->containerd, 0, sizeof(readers->containerd));
	memset(&readers->crio, 0, sizeof(readers->crio));
}
