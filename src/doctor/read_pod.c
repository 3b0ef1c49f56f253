/* SPDX-License-Identifier: Apache-2.0 */
/* What a Pod, or a template of one, says beside its resources; environment and images of any source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/reader.h"

static bool in_plugin(const struct readers *readers)
{
	return component_of(readers->object.name) == COMPONENT_PLUGIN ||
	       readers->object.component_image;
}

static void leaf_runtime_class(struct readers *readers, const char *key, char *value)
{
	struct object *object = read_object(readers);

	(void)key;
	if (!*value || same(value, "<none>") || same(value, "null"))
		return;
	COPY(object->runtime_class, value);
	object->pod = true;
	tell(readers, FACT_POD_RUNTIME_CLASS, value);
	if (in_plugin(readers))
		tell(readers, FACT_PLUGIN_RUNTIME_CLASS, value);
}

static void leaf_node_name(struct readers *readers, const char *key, char *value)
{
	struct object *object = read_object(readers);

	(void)key;
	if (!*value || !same(outline_up(&readers->outline, 1), "spec"))
		return;
	COPY(object->node_name, value);
	keep(readers, &object->node_name_place);
	object->pod = true;
}

static void leaf_containers(struct readers *readers, const char *key, char *value)
{
	struct object *object = read_object(readers);

	(void)key;
	(void)value;
	object->pod = object->containers = true;
	if (!same(object->kind, "Pod") && object->kind[0])
		object->template = true;
	tell(readers, FACT_SEEN_POD, NULL);
}

static void add_selector(struct readers *readers, const char *key, const char *value)
{
	struct object *object = read_object(readers);

	if (in_plugin(readers)) {
		tell(readers, FACT_PLUGIN_NODE_SELECTOR, key);
		return;
	}
	tellf(readers, FACT_POD_NODE_SELECTOR, "%s=%s", key, value);
	if (object->selector_count < ARRAY_SIZE(object->selectors)) {
		snprintf(object->selectors[object->selector_count], sizeof(object->selectors[0]),
			 "%s=%s", key, value);
		object->selector_count++;
	}
}

/* "Node-Selectors:  a=b" and its other lines. */
static void leaf_selectors(struct readers *readers, const char *key, char *value)
{
	char *equals = strchr(value, '=');

	(void)key;
	if (!equals || *value == '<')
		return;
	*equals = '\0';
	add_selector(readers, value, equals + 1);
}

static void add_toleration(struct readers *readers, const char *taint)
{
	struct object *object = read_object(readers);

	tell(readers, FACT_POD_TOLERATES, taint);
	if (object->toleration_count < ARRAY_SIZE(object->tolerations)) {
		copy_text(object->tolerations[object->toleration_count++], NAME_MAX_, taint);
	}
	if (strcmp(taint, "*") == 0)
		object->tolerates_all = true;
}

/* "Tolerations:  nvidia.com/gpu:NoSchedule op=Exists", "op=Exists" for all. */
void read_toleration(struct readers *readers, char *value)
{
	if (starts(value, "op=Exists") || starts(value, ":NoSchedule op=Exists")) {
		add_toleration(readers, "*");
		return;
	}
	value[strcspn(value, "=: ")] = '\0';
	if (*value && *value != '<')
		add_toleration(readers, value);
}

static void leaf_tolerations(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (*value)
		read_toleration(readers, value);
}

/* tolerations: - key: a; matchExpressions: - key: a. */
static void leaf_key(struct readers *readers, const char *key, char *value)
{
	const char *parent = outline_up(&readers->outline, 1);

	(void)key;
	if (!*value)
		return;
	if (same(parent, "tolerations"))
		add_toleration(readers, value);
	if (same(parent, "taints") && readers->object.taint_count < TAINTS_MAX)
		read_taint(readers, value);
	if (!same(parent, "matchExpressions") ||
	    !outline_below(&readers->outline, "nodeSelectorTerms"))
		return;
	if (in_plugin(readers) || heading_has(readers, "daemonset"))
		tell(readers, FACT_PLUGIN_NODE_AFFINITY, value);
	else
		tell(readers, FACT_POD_NODE_SELECTOR, value);
}

static void leaf_operator(struct readers *readers, const char *key, char *value)
{
	(void)key;
	/* An item that has no key tolerates all; a key beside it was told by itself. */
	if (same(value, "Exists") && same(outline_up(&readers->outline, 1), "tolerations"))
		readers->object.tolerates_all |= readers->object.toleration_count == 0;
}

static void leaf_scheduler(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (*value && !same(value, "default-scheduler"))
		tell(readers, FACT_POD_SCHEDULER, value);
}

static void leaf_privileged(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (same(value, "true"))
		tell(readers, FACT_POD_PRIVILEGED, NULL);
	if (same(value, "false") && in_plugin(readers))
		tell(readers, FACT_PLUGIN_UNPRIVILEGED, NULL);
}

static void leaf_host_ipc(struct readers *readers, const char *key, char *value)
{
	if (same(value, "true"))
		tell(readers, same(key, "hostIPC") ? FACT_POD_HOST_IPC : FACT_POD_HOST_PID, NULL);
}

static void leaf_gates(struct readers *readers, const char *key, char *value)
{
	(void)key;
	(void)value;
	tell(readers, FACT_POD_GATED, NULL);
}

static void leaf_claims(struct readers *readers, const char *key, char *value)
{
	(void)key;
	read_object(readers)->claim = true;
	tell(readers, FACT_POD_CLAIM, value);
}

static void leaf_reason(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (!*value || strchr(value, ' '))
		return;
	if (same(value, "OOMKilled"))
		tell(readers, FACT_POD_OOM_KILLED, NULL);
	if (readers->object.pod && component_of(readers->object.name) == COMPONENT_PLUGIN)
		tell(readers, FACT_PLUGIN_POD, value);
	else if (readers->object.pod || same(readers->object.kind, "Pod"))
		tell(readers, FACT_POD_STATUS, value);
}

static void leaf_exit_code(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (!is_number(value) || strcmp(value, "0") == 0)
		return;
	tell(readers, FACT_POD_EXIT_CODE, value);
	if (strcmp(value, "137") == 0)
		tell(readers, FACT_POD_OOM_KILLED, NULL);
}

static void leaf_image(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (*value && !strchr(value, ' '))
		read_image(readers, value);
}

static void leaf_host_path(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (!has(value, "device-plugins"))
		return;
	read_object(readers)->kubelet_mount = true;
	tell(readers, FACT_PLUGIN_KUBELET_PATH, value);
	if (*value == '/' && !starts(value, "/var/lib/kubelet/"))
		tell(readers, FACT_KUBELET_ROOT, value);
}

static void leaf_env(struct readers *readers, const char *key, char *value)
{
	read_env(readers, key, value);
}

const struct key_row keys_pod[] = {
	{ "runtimeclassname", leaf_runtime_class },
	{ "runtime class name", leaf_runtime_class },
	{ "nodename", leaf_node_name },
	{ "containers", leaf_containers },
	{ "node-selectors", leaf_selectors },
	{ "tolerations", leaf_tolerations },
	{ "key", leaf_key },
	{ "operator", leaf_operator },
	{ "schedulername", leaf_scheduler },
	{ "privileged", leaf_privileged },
	{ "hostipc", leaf_host_ipc },
	{ "hostpid", leaf_host_ipc },
	{ "schedulinggates", leaf_gates },
	{ "resourceclaims", leaf_claims },
	{ "resourceclaimname", leaf_claims },
	{ "resourceclaimtemplatename", leaf_claims },
	{ "reason", leaf_reason },
	{ "exit code", leaf_exit_code },
	{ "exitcode", leaf_exit_code },
	{ "image", leaf_image },
	{ "hostpath", leaf_host_path },
	{ "path", leaf_host_path },
	{ "nvidia_visible_devices", leaf_env },
	{ "nvidia_driver_capabilities", leaf_env },
	{ "cuda_visible_devices", leaf_env },
	{ "cuda_version", leaf_env },
	{ "ld_preload", leaf_env },
	{ "ld_library_path", leaf_env },
	{ "cuda_mps_pipe_directory", leaf_env },
	{ "device_list_strategy", leaf_env },
	{ "mig_strategy", leaf_env },
	{ "pass_device_specs", leaf_env },
	{ "fail_on_init_error", leaf_env },
	{ "mps_root", leaf_env },
	{ NULL, NULL },
};

/* A list of words, as compute,utility. */
static bool lists(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strcasestr(at, word)); at += length)
		if ((at == list || strchr(", ", at[-1])) &&
		    (!at[length] || strchr(", ", at[length])))
			return true;
	return false;
}

static void read_capabilities(struct readers *readers, const char *value)
{
	tell(readers, FACT_POD_CAPABILITIES, value);
	if (lists(value, "all"))
		return;
	if (!lists(value, "compute"))
		tell(readers, FACT_POD_NO_COMPUTE, value);
	if (!lists(value, "graphics"))
		tell(readers, FACT_POD_NO_GRAPHICS, value);
	if (!lists(value, "video"))
		tell(readers, FACT_POD_NO_VIDEO, value);
}

/* How to add a variable: its name and the fact; read_env() has those that need more. */
static const struct {
	const char *name;
	enum fact_key key;
} variables[] = {
	{ "NVIDIA_VISIBLE_DEVICES", FACT_POD_VISIBLE_DEVICES },
	{ "CUDA_VISIBLE_DEVICES", FACT_POD_CUDA_VISIBLE_DEVICES },
	{ "LD_PRELOAD", FACT_POD_LD_PRELOAD },
	{ "LD_LIBRARY_PATH", FACT_POD_LD_LIBRARY_PATH },
	{ "CUDA_MPS_PIPE_DIRECTORY", FACT_POD_MPS_PIPE },
	{ "DEVICE_LIST_STRATEGY", FACT_PLUGIN_STRATEGY },
	{ "MIG_STRATEGY", FACT_PLUGIN_MIG_STRATEGY },
	{ "MPS_ROOT", FACT_PLUGIN_MPS_ROOT },
};

void read_env(struct readers *readers, const char *name, const char *value)
{
	char version[24];

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		if (same(name, variables[i].name))
			tell(readers, variables[i].key, *value ? value : "empty");
	if (same(name, "NVIDIA_DRIVER_CAPABILITIES") && *value)
		read_capabilities(readers, value);
	if (same(name, "CUDA_VERSION") && copy_version(value, version, sizeof(version)))
		tell(readers, FACT_POD_IMAGE_CUDA, version);
	if (same(name, "PASS_DEVICE_SPECS"))
		tell_bool(readers, FACT_PLUGIN_PASS_SPECS, value);
	if (same(name, "FAIL_ON_INIT_ERROR"))
		tell_bool(readers, FACT_PLUGIN_FAIL_ON_INIT, value);
}

/* CUDA's version in names like cuda:12.8.0-base-ubuntu22.04 and pytorch:2.6-cuda12.4-cudnn9. */
static void image_cuda(struct readers *readers, const char *image)
{
	const char *cuda = strcasestr(image, "cuda");
	const char *tag = strrchr(image, ':');
	char version[24];

	if (!cuda)
		return;
	if (cuda > (tag ? tag : image) && copy_version(cuda, version, sizeof(version)))
		tell(readers, FACT_POD_IMAGE_CUDA, version);
	else if (tag && (has(image, "nvidia/cuda:") || ends(image, tag)) && cuda < tag &&
		 same("cuda", (char[]){ cuda[0], cuda[1], cuda[2], cuda[3], 0 }) &&
		 cuda + 4 == tag && copy_version(tag, version, sizeof(version)))
		tell(readers, FACT_POD_IMAGE_CUDA, version);
	else if (tag && has(tag, "cuda") &&
		 copy_version(strcasestr(tag, "cuda"), version, sizeof(version)))
		tell(readers, FACT_POD_IMAGE_CUDA, version);
}

/* How to add a plugin: a word of its image or DaemonSet, and what it is called. */
static const struct {
	const char *word, *kind;
} plugin_kinds[] = {
	{ "volcano-vgpu", "volcano" },
	{ "volcano-device-plugin", "volcano" },
	{ "hami", "hami" },
	{ "4pdosc/k8s-vdevice", "hami" },
	{ "gpushare", "gpushare" },
	{ "nvidia-gpu-device-plugin", "gke" },
	{ "gke-gpu", "gke" },
	{ "koord", "koordinator" },
	{ "kai-", "kai" },
	{ "gpupool", "gpupool" },
	{ "k8s-device-plugin", "nvidia" },
	{ "nvidia-device-plugin", "nvidia" },
	{ "nvdp-nvidia", "nvidia" },
};

void read_plugin_kind(struct readers *readers, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(plugin_kinds); i++) {
		if (!has(name, plugin_kinds[i].word))
			continue;
		tell(readers, FACT_PLUGIN_KIND, plugin_kinds[i].kind);
		return;
	}
}

void read_image(struct readers *readers, const char *image)
{
	const char *slash = strrchr(image, '/');
	const char *tag = strchr(slash ? slash : image, ':');
	char name[128], version[24];

	if (tag && component_of(image) == COMPONENT_PLUGIN) {
		snprintf(name, sizeof(name), "%.*s", (int)(tag - image), image);
		tell(readers, FACT_PLUGIN_IMAGE, name);
		if (copy_version(tag, version, sizeof(version)))
			tell(readers, FACT_PLUGIN_VERSION, version);
	}
	if (component_of(image) == COMPONENT_PLUGIN) {
		readers->object.component_image = true;
		read_plugin_kind(readers, image);
	}
	if (component_of(image) == COMPONENT_HAMI && tag &&
	    copy_version(tag, version, sizeof(version)))
		tell(readers, FACT_HAMI_VERSION, version);
	if (component_of(image) != COMPONENT_NONE)
		return;
	tell(readers, FACT_POD_IMAGE, image);
	if (has(image, "alpine") || has(image, "musl"))
		tell(readers, FACT_POD_IMAGE_MUSL, image);
	image_cuda(readers, image);
}

void read_selector(struct readers *readers, const char *key, const char *value)
{
	add_selector(readers, key, value);
}
