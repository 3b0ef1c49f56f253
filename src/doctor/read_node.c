/* SPDX-License-Identifier: Apache-2.0 */
/* What a node says beside its resources: taints, versions, conditions; labels of any source. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/reader.h"

/* key=value:Effect, key:Effect, or the key alone. */
void read_taint(struct readers *readers, char *value)
{
	struct object *object = read_object(readers);

	value[strcspn(value, "=: ")] = '\0';
	if (!*value || *value == '<')
		return;
	tell(readers, FACT_NODE_TAINT, value);
	if (has(value, "gpu") || has(value, "nvidia"))
		tell(readers, FACT_NODE_GPU_TAINT, value);
	if (object->taint_count < TAINTS_MAX)
		copy_text(object->taints[object->taint_count++], NAME_MAX_, value);
}

void read_taint_pair(struct readers *readers, const char *key)
{
	char copy[OUTLINE_KEY_MAX];

	COPY(copy, key);
	read_taint(readers, copy);
}

static void leaf_taints(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (*value)
		read_taint(readers, value);
}

static void leaf_unschedulable(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (same(value, "true"))
		tell(readers, FACT_NODE_UNSCHEDULABLE, readers->object.name);
}

/* The first label stands beside the word. */
static void leaf_labels(struct readers *readers, const char *key, char *value)
{
	(void)key;
	read_label_list(readers, value);
}

/* How to add a distribution: a word of a version, path, system or name. */
static const struct {
	const char *word, *name;
} distributions[] = {
	{ "+k3s", "k3s" },
	{ "-k3s", "k3s" },
	{ "rancher/k3s", "k3s" },
	{ "+rke2", "rke2" },
	{ "rancher/rke2", "rke2" },
	{ "+k0s", "k0s" },
	{ "/k0s/", "k0s" },
	{ "microk8s", "microk8s" },
	{ "kindest/node", "kind" },
	{ "kind://", "kind" },
	{ "minikube", "minikube" },
	{ "-eks-", "eks" },
	{ "-gke.", "gke" },
	{ "Talos", "talos" },
	{ "Docker Desktop", "docker-desktop" },
	{ "docker-desktop", "docker-desktop" },
	{ "OpenShift", "openshift" },
	{ "CoreOS 4", "openshift" },
	{ "azure://", "aks" },
};

void read_distribution(struct readers *readers, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(distributions); i++)
		if (has(text, distributions[i].word))
			tell(readers, FACT_DISTRIBUTION, distributions[i].name);
	if (has(text, "Docker Desktop"))
		tell(readers, FACT_DOCKER_DESKTOP, NULL);
}

static const struct {
	const char *word, *name;
} systems[] = {
	{ "Ubuntu", "ubuntu" },
	{ "Debian", "debian" },
	{ "CoreOS", "coreos" },
	{ "Red Hat", "rhel" },
	{ "Rocky", "rocky" },
	{ "CentOS", "centos" },
	{ "Fedora", "fedora" },
	{ "Amazon Linux", "amazon" },
	{ "Talos", "talos" },
	{ "Bottlerocket", "bottlerocket" },
	{ "Container-Optimized", "cos" },
	{ "Flatcar", "flatcar" },
	{ "SUSE", "sles" },
	{ "NixOS", "nixos" },
	{ "MicroOS", "microos" },
	{ "Mariner", "mariner" },
	{ "Azure Linux", "mariner" },
	{ "AlmaLinux", "rhel" },
};

void read_system(struct readers *readers, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(systems); i++)
		if (has(text, systems[i].word))
			tell(readers, FACT_HOST_OS, systems[i].name);
	read_distribution(readers, text);
}

static void leaf_system(struct readers *readers, const char *key, char *value)
{
	(void)key;
	read_system(readers, value);
}

void read_kernel(struct readers *readers, const char *release)
{
	if (starts(release, "Linux "))
		release += strlen("Linux ");
	if (!*release || release[0] < '0' || release[0] > '9')
		return;
	tell(readers, FACT_KERNEL_RELEASE, release);
	if (has(release, "microsoft"))
		tell(readers, FACT_HOST_WSL, release);
}

static void leaf_kernel(struct readers *readers, const char *key, char *value)
{
	(void)key;
	read_kernel(readers, value);
}

/* containerd://1.7.2 */
static void leaf_runtime(struct readers *readers, const char *key, char *value)
{
	char *version = strstr(value, "://");

	(void)key;
	if (!version)
		return;
	*version = '\0';
	tell(readers, FACT_ENGINE, value);
	if (same(value, "containerd"))
		tell(readers, FACT_CONTAINERD_VERSION, version + 3);
	read_distribution(readers, version + 3);
}

void read_kubelet_version(struct readers *readers, const char *value)
{
	char version[24];

	if (!copy_version(value, version, sizeof(version)))
		return;
	tell(readers, FACT_KUBELET_VERSION, version);
	read_distribution(readers, value);
}

static void leaf_kubelet(struct readers *readers, const char *key, char *value)
{
	(void)key;
	read_kubelet_version(readers, value);
}

static void leaf_server(struct readers *readers, const char *key, char *value)
{
	char version[24];

	(void)key;
	if (!copy_version(value, version, sizeof(version)))
		return;
	tell(readers, FACT_KUBERNETES_VERSION, version);
	read_distribution(readers, value);
}

static void leaf_provider(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (starts(value, "aws:"))
		tell(readers, FACT_NODE_CLOUD, "aws");
	if (starts(value, "gce:"))
		tell(readers, FACT_NODE_CLOUD, "gcp");
	if (starts(value, "azure:"))
		tell(readers, FACT_NODE_CLOUD, "azure");
	read_distribution(readers, value);
}

static void leaf_cgroup_driver(struct readers *readers, const char *key, char *value)
{
	if (same(value, "systemd") || same(value, "cgroupfs"))
		tell(readers,
		     same(key, "cgroupDriver") ? FACT_KUBELET_CGROUP_DRIVER
					       : FACT_DOCKER_CGROUP_DRIVER,
		     value);
}

static void leaf_policy(struct readers *readers, const char *key, char *value)
{
	if (*value)
		tell(readers,
		     same(key, "cpuManagerPolicy") ? FACT_KUBELET_CPU_POLICY
						   : FACT_KUBELET_TOPOLOGY_POLICY,
		     value);
}

const struct key_row keys_node[] = {
	{ "taints", leaf_taints },
	{ "labels", leaf_labels },
	{ "unschedulable", leaf_unschedulable },
	{ "os image", leaf_system },
	{ "osimage", leaf_system },
	{ "operating system", leaf_system },
	{ "pretty_name", leaf_system },
	{ "kernel version", leaf_kernel },
	{ "kernelversion", leaf_kernel },
	{ "kernel", leaf_kernel },
	{ "container runtime version", leaf_runtime },
	{ "containerruntimeversion", leaf_runtime },
	{ "kubelet version", leaf_kubelet },
	{ "kubeletversion", leaf_kubelet },
	{ "gitversion", leaf_server },
	{ "kubernetes version", leaf_server },
	{ "providerid", leaf_provider },
	{ "cgroupdriver", leaf_cgroup_driver },
	{ "cgroup driver", leaf_cgroup_driver },
	{ "cpumanagerpolicy", leaf_policy },
	{ "topologymanagerpolicy", leaf_policy },
	{ NULL, NULL },
};

/* Labels. */

static uint64_t hash_on(uint64_t hash, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
	return hash;
}

/* A file, or all files of one folder or archive (read_together()). */
static uint64_t hash_source(const char *source)
{
	size_t length = strcspn(source, "/!");

	return hash_on(1469598103934665603u, source, source[length] ? length + 1 : length) | 1;
}

/* An open table of hashes; what comes when it is half full is not kept. */
#define LABEL_SLOTS 65536

static size_t label_slot(const struct readers *readers, uint64_t hash)
{
	size_t at = hash % LABEL_SLOTS;

	while (readers->label_hashes[at] && readers->label_hashes[at] != hash)
		at = (at + 1) % LABEL_SLOTS;
	return at;
}

static void keep_label(struct readers *readers, uint64_t hash)
{
	size_t at;

	if (!readers->label_hashes)
		readers->label_hashes = calloc(LABEL_SLOTS, sizeof(*readers->label_hashes));
	if (!readers->label_hashes) {
		readers->failed = -ENOMEM;
		return;
	}
	at = label_slot(readers, hash);
	if (readers->label_hashes[at] || readers->label_count >= LABEL_SLOTS / 2)
		return;
	readers->label_hashes[at] = hash;
	readers->label_count++;
}

static bool is_kept(const struct readers *readers, uint64_t hash)
{
	return readers->label_hashes && readers->label_hashes[label_slot(readers, hash)] == hash;
}

bool read_labels_seen(const struct readers *readers, const char *source)
{
	return is_kept(readers, hash_source(source));
}

bool read_label_known(const struct readers *readers, const char *source, const char *label)
{
	return is_kept(readers, hash_on(hash_source(source), label, strlen(label)) | 1);
}

static void label_count(struct readers *readers, const char *value)
{
	tell(readers, FACT_NODE_LABEL_COUNT, value);
}

static void label_product(struct readers *readers, const char *value)
{
	struct object *object = read_object(readers);

	COPY(object->product, value);
	tell(readers, FACT_NODE_LABEL_PRODUCT, value);
	if (has(value, "-SHARED"))
		tell(readers, FACT_NODE_LABEL_SHARED, value);
	read_model(readers, value, "-SHARED");
}

static void label_driver(struct readers *readers, const char *value)
{
	struct object *object = read_object(readers);

	/* driver.major, .minor and .rev, or the whole driver-version.full. */
	if (strchr(value, '.'))
		COPY(object->driver, value);
	else if (!object->driver[0])
		COPY(object->driver, value);
}

static void label_rest(struct readers *readers, const char *value)
{
	struct object *object = read_object(readers);
	size_t length = strlen(object->driver);

	if (length && length + strlen(value) + 2 < sizeof(object->driver) && is_number(value) &&
	    !strchr(object->driver, '.'))
		snprintf(object->driver + length, sizeof(object->driver) - length, ".%s", value);
}

static void label_sharing(struct readers *readers, const char *value)
{
	if (same(value, "time-slicing"))
		tell(readers, FACT_PLUGIN_SHARING, "time_slicing");
	if (same(value, "mps"))
		tell(readers, FACT_PLUGIN_SHARING, "mps");
}

/* How to add a label: what stands behind the slash, and its fact or function. */
static const struct {
	const char *name;
	enum fact_key key;
	bool boolean;
	void (*read)(struct readers *readers, const char *value);
} labels[] = {
	{ "gpu.present", FACT_NODE_LABEL_GPU, true, NULL },
	{ "gpu.count", FACT_MAX, false, label_count },
	{ "gpu.product", FACT_MAX, false, label_product },
	{ "gpu.replicas", FACT_PLUGIN_REPLICAS, false, NULL },
	{ "gpu.sharing-strategy", FACT_MAX, false, label_sharing },
	{ "gpu.workload.config", FACT_NODE_LABEL_WORKLOAD, false, NULL },
	{ "gpu-driver-upgrade-state", FACT_NODE_LABEL_UPGRADE, false, NULL },
	{ "mig.config", FACT_NODE_LABEL_MIG_CONFIG, false, NULL },
	{ "mig.config.state", FACT_NODE_LABEL_MIG_STATE, false, NULL },
	{ "mig.capable", FACT_NODE_LABEL_MIG_CAPABLE, true, NULL },
	{ "mig.strategy", FACT_PLUGIN_MIG_STRATEGY, false, NULL },
	{ "device-plugin.config", FACT_PLUGIN_CONFIG_LABEL, false, NULL },
	{ "cuda.driver.major", FACT_MAX, false, label_driver },
	{ "cuda.driver.minor", FACT_MAX, false, label_rest },
	{ "cuda.driver.rev", FACT_MAX, false, label_rest },
	{ "cuda.driver-version.full", FACT_MAX, false, label_driver },
};

static void known_label(struct readers *readers, const char *name, const char *value)
{
	if (starts(name, "gpu.deploy."))
		tellf(readers, FACT_NODE_LABEL_DEPLOY, "%s %s", name + strlen("gpu.deploy."),
		      value);
	if (starts(name, "mig-") && ends(name, ".count")) {
		char profile[24];

		snprintf(profile, sizeof(profile), "%.*s", (int)(strlen(name) - 10), name + 4);
		tell(readers, FACT_CARD_MIG_PROFILE, profile);
	}
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		if (!same(name, labels[i].name))
			continue;
		if (labels[i].read)
			labels[i].read(readers, value);
		else if (labels[i].boolean)
			tell_bool(readers, labels[i].key, value);
		else
			tell(readers, labels[i].key, value);
	}
}

/* Keys that only nodes have. */
static bool is_node_label(const char *key)
{
	return same(key, "kubernetes.io/hostname") || same(key, "kubernetes.io/arch") ||
	       same(key, "kubernetes.io/os") || starts(key, "node-role.kubernetes.io/") ||
	       starts(key, "beta.kubernetes.io/") || starts(key, "feature.node.kubernetes.io/") ||
	       starts(key, "node.kubernetes.io/instance") || starts(key, "topology.kubernetes.io/");
}

/* How to add a group of labels of GPUs: what stands behind the slash begins so. */
static const char *const gpu_labels[] = { "gpu.", "mig.",           "mig-",      "cuda.",
					  "gfd.", "device-plugin.", "gpu-driver" };

static bool is_gpu_label(const char *key)
{
	const char *slash = strchr(key, '/');

	for (size_t i = 0; slash && i < ARRAY_SIZE(gpu_labels); i++)
		if (starts(slash + 1, gpu_labels[i]))
			return true;
	return false;
}

/* Below these a key with a slash is no label of a node. */
static const char *const other_parents[] = { "annotations", "nodeSelector", "taints",
					     "Node-Selectors", "matchLabels" };

static bool stands_elsewhere(const struct readers *readers)
{
	for (size_t i = 0; i < ARRAY_SIZE(other_parents); i++)
		if (same(outline_up(&readers->outline, 1), other_parents[i]))
			return true;
	return readers->object.pod;
}

bool read_label(struct readers *readers, const char *key, const char *value)
{
	const char *name = strchr(key, '/');
	bool gpu = is_gpu_label(key);
	struct object *object;
	uint64_t source;

	if (!name || strchr(key, ' ') || (!gpu && !is_node_label(key)) || stands_elsewhere(readers))
		return false;
	object = read_object(readers);
	object->labels = true;
	object->gpu_labels |= gpu;
	object->nfd_labels |= starts(key, "feature.node.kubernetes.io/");
	tell(readers, FACT_SEEN_NODE_LABELS, NULL);
	source = hash_source(readers->source);
	keep_label(readers, source);
	source = hash_on(source, key, strlen(key));
	keep_label(readers, source | 1);
	source = hash_on(hash_on(source, "=", 1), value, strlen(value));
	keep_label(readers, source | 1);
	if (starts(key, "feature.node.kubernetes.io/pci-") && has(key, "10de") &&
	    ends(key, ".present"))
		tell(readers, FACT_NODE_LABEL_PCI, value);
	if (has(key, "eks.amazonaws.com") || has(key, "cloud.google.com/gke"))
		tell(readers, FACT_DISTRIBUTION, has(key, "eks") ? "eks" : "gke");
	if (gpu)
		known_label(readers, name + 1, value);
	return true;
}

/* --show-labels and lists with commas: a=b,c=d. */
void read_label_list(struct readers *readers, char *list)
{
	char *rest = list;

	while (rest) {
		char *label = strsep(&rest, ",");
		char *equals = strchr(label, '=');

		if (!equals)
			continue;
		*equals = '\0';
		read_label(readers, label, equals + 1);
	}
}
