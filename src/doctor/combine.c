/* SPDX-License-Identifier: Apache-2.0 */
/* What only several facts together say: numbers and names of different sources compared. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/reader.h"

static const struct fact *first(const struct readers *readers, enum fact_key key)
{
	return facts_first(readers->facts, key, NULL);
}

/* Tells KEY where OF stands. */
static void tell_of(struct readers *readers, enum fact_key key, const char *value,
		    const struct fact *of)
{
	struct fact_place place = { of->source, of->line, of->text, strlen(of->text) };

	if (facts_tell(readers->facts, key, value, &place) < 0)
		readers->failed = -ENOMEM;
}

static void tell_two(struct readers *readers, enum fact_key key, const struct fact *left,
		     const struct fact *right)
{
	char both[FACT_VALUE_MAX];

	snprintf(both, sizeof(both), "%.80s %.80s", left->value, right->value);
	tell_of(readers, key, both, left);
}

/*
 * "570.195" is a cut "570.195.03": equal as far as the shorter goes. Each of LEFT with each of
 * RIGHT of the same source.
 */
static bool versions_agree(const char *left, const char *right)
{
	size_t length = strlen(left) < strlen(right) ? strlen(left) : strlen(right);

	return strncmp(left, right, length) == 0 &&
	       (strlen(left) == strlen(right) || left[length] == '.' || right[length] == '.');
}

static void compare(struct readers *readers, enum fact_key key, enum fact_key left,
		    enum fact_key right)
{
	for (size_t i = 0; i < facts_count(readers->facts); i++) {
		const struct fact *a = facts_at(readers->facts, i);

		if (a->key != left)
			continue;
		for (size_t k = 0; k < facts_count(readers->facts); k++) {
			const struct fact *b = facts_at(readers->facts, k);

			if (b->key != right || strcmp(a->source, b->source) != 0 ||
			    versions_agree(a->value, b->value))
				continue;
			tell_two(readers, key, a, b);
			return;
		}
	}
}

/* Driver. */

/* How to add a limit: releases of the driver below MINIMUM do not build for that kernel and later. */
static const struct {
	const char *kernel, *minimum;
} kernel_limits[] = {
	{ "6.8", "535.161" }, /* github.com/NVIDIA/open-gpu-kernel-modules/issues/594 */
	{ "5.18", "510" },
};

static void old_for_kernel(struct readers *readers)
{
	const struct fact *kernel = first(readers, FACT_KERNEL_RELEASE);
	const struct fact *driver = first(readers, FACT_DRIVER_PACKAGE_VERSION);

	if (!driver)
		driver = first(readers, FACT_DRIVER_DISK_VERSION);
	for (size_t i = 0; kernel && driver && i < ARRAY_SIZE(kernel_limits); i++)
		if (compare_versions(kernel->value, kernel_limits[i].kernel) >= 0 &&
		    compare_versions(driver->value, kernel_limits[i].minimum) < 0)
			tell_two(readers, FACT_DRIVER_OLD_FOR_KERNEL, driver, kernel);
}

/*
 * First branch that knows an architecture, and first that no longer does (0: all do), by the
 * release notes of the data center drivers.
 */
static const struct {
	const char *architecture;
	long first, ended;
} branches[] = {
	{ "kepler", 0, 495 }, { "maxwell", 0, 590 }, { "pascal", 0, 590 },
	{ "volta", 0, 590 },  { "turing", 410, 0 },  { "ampere", 450, 0 },
	{ "ada", 520, 0 },    { "hopper", 515, 0 },  { "blackwell", 570, 0 },
};

static void unknown_card(struct readers *readers)
{
	const struct fact *architecture = first(readers, FACT_CARD_ARCHITECTURE);
	const struct fact *branch = first(readers, FACT_DRIVER_BRANCH);
	long number = branch ? count_of(branch->value) : -1;

	for (size_t i = 0; architecture && number > 0 && i < ARRAY_SIZE(branches); i++)
		if (strcmp(branches[i].architecture, architecture->value) == 0 &&
		    (number < branches[i].first ||
		     (branches[i].ended && number >= branches[i].ended)))
			tell_two(readers, FACT_CARD_UNKNOWN_TO_DRIVER, architecture, branch);
}

static void driver_works(struct readers *readers)
{
	bool host_failed = first(readers, FACT_DRIVER_SMI_ERROR_HOST) != NULL;

	if (readers->listed.line)
		tell_at(readers, FACT_DRIVER_OK, NULL, &readers->listed);
	else if (readers->listed_container.line && !host_failed)
		tell_at(readers, FACT_DRIVER_OK, NULL, &readers->listed_container);
}

static void nodes_differ(struct readers *readers)
{
	const struct node *driver = NULL, *product = NULL;

	for (size_t i = 0; i < readers->node_count; i++) {
		const struct node *node = &readers->nodes[i];

		if (node->driver[0] && !driver)
			driver = node;
		else if (node->driver[0] && !versions_agree(driver->driver, node->driver))
			tell_at(readers, FACT_DRIVER_NODES_DIFFER, node->driver, &node->place);
		if (node->product[0] && !product)
			product = node;
		else if (node->product[0] && strcmp(product->product, node->product) != 0)
			tell_at(readers, FACT_NODE_MODELS_DIFFER, node->product, &node->place);
	}
}

/* CUDA of the image and of the driver: within a major version the older runs the newer. */
static void image_cuda(struct readers *readers)
{
	const struct fact *driver = first(readers, FACT_DRIVER_CUDA_VERSION);

	for (size_t i = 0; driver && i < facts_count(readers->facts); i++) {
		const struct fact *image = facts_at(readers->facts, i);

		if (image->key == FACT_POD_IMAGE_CUDA &&
		    compare_versions(image->value, driver->value) > 0 &&
		    !versions_agree(image->value, driver->value)) {
			tell_two(readers, FACT_IMAGE_CUDA_NEWER, image, driver);
			return;
		}
	}
}

/* Nodes. */

static void tell_node(struct readers *readers, enum fact_key key, const struct node *node,
		      long left, const char *word, long right)
{
	char value[64];

	snprintf(value, sizeof(value), "%ld%s%ld", left, word, right);
	tell_at(readers, key, value, &node->place);
}

static void compare_gpus(struct readers *readers, const struct node *node, size_t i)
{
	long capacity = node->gpus[i].capacity, allocatable = node->gpus[i].allocatable;
	long allocated = node->gpus[i].allocated;

	if (allocatable < 0)
		allocatable = capacity;
	if (capacity > allocatable && allocatable >= 0)
		tell_node(readers, FACT_NODE_GPU_UNHEALTHY, node, allocatable, " of ", capacity);
	if (allocatable > 0 && allocated >= allocatable)
		tell_node(readers, FACT_NODE_GPU_FULL, node, allocated, " of ", allocatable);
	if (allocatable > 0 && allocated >= 0 && allocated < allocatable)
		tell_node(readers, FACT_NODE_GPU_FREE, node, allocatable - allocated, " of ",
			  allocatable);
}

/* Allocatable = capacity > 0 on all nodes that offer something. */
static bool offers_whole(const struct node *node)
{
	bool some = false;

	for (size_t i = 0; i < node->gpu_count; i++) {
		if (node->gpus[i].capacity < 0 && node->gpus[i].allocatable < 0)
			continue;
		some |= node->gpus[i].allocatable > 0;
		if (node->gpus[i].allocatable >= 0 &&
		    node->gpus[i].capacity > node->gpus[i].allocatable)
			return false;
	}
	return some;
}

static void all_nodes(struct readers *readers)
{
	size_t whole = 0, offering = 0, looked = 0;

	for (size_t i = 0; i < readers->node_count; i++) {
		const struct node *node = &readers->nodes[i];
		bool offers = false;

		for (size_t k = 0; k < node->gpu_count; k++) {
			compare_gpus(readers, node, k);
			offers |= node->gpus[k].capacity >= 0 || node->gpus[k].allocatable >= 0;
		}
		offering += offers;
		whole += offers_whole(node);
		looked += node->cpu_milli >= 0 || offers;
	}
	if (whole && whole == offering)
		tell_at(readers, FACT_PLUGIN_OK, NULL, &readers->nodes[0].place);
	if (looked && !offering && first(readers, FACT_NODE_GPU_NONE))
		tell_of(readers, FACT_NODE_GPU_NOWHERE, NULL, first(readers, FACT_NODE_GPU_NONE));
}

/* One node and one listing of its host: counts can be compared. */
static void cards_of_node(struct readers *readers)
{
	const struct fact *cards = first(readers, FACT_DRIVER_CARDS_HOST);
	const struct node *node = readers->node_count == 1 ? &readers->nodes[0] : NULL;
	long listed;

	if (!cards)
		cards = first(readers, FACT_DRIVER_CARDS);
	if (!node || !cards || first(readers, FACT_PLUGIN_SHARING) || readers->instances)
		return;
	listed = count_of(cards->value);
	for (size_t i = 0; i < node->gpu_count; i++) {
		long offered = node->gpus[i].capacity >= 0 ? node->gpus[i].capacity
							   : node->gpus[i].allocatable;

		if (!ends(node->gpus[i].name, "/gpu") || offered < 0 || listed <= 0)
			continue;
		if (offered && offered < listed)
			tell_node(readers, FACT_NODE_GPU_FEWER_THAN_CARDS, node, offered, " of ",
				  listed);
		if (offered > listed)
			tell_node(readers, FACT_NODE_GPU_MORE_THAN_CARDS, node, offered, " for ",
				  listed);
	}
}

/* MIG devices that a node offers; 0 for a node without them. */
static long mig_offered(const struct node *node)
{
	long offered = 0;

	for (size_t i = 0; i < node->gpu_count; i++)
		if (has(node->gpus[i].name, "/mig-") && node->gpus[i].capacity > 0)
			offered += node->gpus[i].capacity;
	return offered;
}

static void mig_of_node(struct readers *readers)
{
	const struct node *node = readers->node_count == 1 ? &readers->nodes[0] : NULL;
	long offered = node ? mig_offered(node) : 0, listed = (long)readers->instances;
	bool mixed = facts_first(readers->facts, FACT_PLUGIN_MIG_STRATEGY, "mixed") != NULL;

	if (!node || !first(readers, FACT_SEEN_SMI) || first(readers, FACT_PLUGIN_SHARING))
		return;
	if (offered && offered != listed && (listed || first(readers, FACT_CARD_MIG)))
		tell_node(readers, FACT_NODE_MIG_STALE, node, offered, " for ", listed);
	if (!offered && listed && mixed)
		tell_node(readers, FACT_NODE_MIG_STALE, node, 0, " for ", listed);
}

/* Pods against nodes. */

static long most_of(const struct readers *readers, const char *resource, bool *ret_known)
{
	long most = -1;

	*ret_known = false;
	for (size_t i = 0; i < readers->node_count; i++)
		for (size_t k = 0; k < readers->nodes[i].gpu_count; k++) {
			long count = readers->nodes[i].gpus[k].allocatable;

			if (count < 0)
				count = readers->nodes[i].gpus[k].capacity;
			*ret_known |= count >= 0;
			if (strcmp(readers->nodes[i].gpus[k].name, resource) == 0 && count > most)
				most = count;
		}
	return most;
}

static void wanted_gpus(struct readers *readers)
{
	const struct fact *count = first(readers, FACT_POD_GPU_MANY);

	for (size_t i = 0, end = facts_count(readers->facts); i < end; i++) {
		const struct fact *pod = facts_at(readers->facts, i);
		bool known;
		long most;

		if (pod->key != FACT_POD_RESOURCE)
			continue;
		most = most_of(readers, pod->value, &known);
		if (known && most < 0 && !strstr(pod->value, "gpumem") &&
		    !strstr(pod->value, "gpucores"))
			tell_of(readers, FACT_POD_RESOURCE_UNKNOWN, pod->value, pod);
		if (most >= 0 && count && ends(pod->value, "/gpu") &&
		    count_of(count->value) > most) {
			char value[64];

			snprintf(value, sizeof(value), "%s %ld", count->value, most);
			tell_of(readers, FACT_POD_GPU_OVER_NODE, value, count);
		}
	}
}

/* CPU and memory against the largest node that offers a GPU. */
static void wanted_rest(struct readers *readers)
{
	long cpu = -1, memory = -1;

	for (size_t i = 0; i < readers->node_count; i++) {
		const struct node *node = &readers->nodes[i];

		if (!offers_whole(node))
			continue;
		cpu = node->cpu_milli > cpu ? node->cpu_milli : cpu;
		memory = node->memory_mib > memory ? node->memory_mib : memory;
	}
	if (cpu > 0 && readers->pod_cpu > cpu)
		tell_at(readers, FACT_POD_CPU_OVER_NODE, NULL, &readers->pod_cpu_place);
	if (memory > 0 && readers->pod_memory > memory)
		tell_at(readers, FACT_POD_MEMORY_OVER_NODE, NULL, &readers->pod_memory_place);
}

/* Every node that offers a GPU has the taint. */
static bool tainted(const struct readers *readers, const char *taint)
{
	size_t offering = 0, with = 0;

	for (size_t i = 0; i < readers->node_count; i++) {
		bool has_taint = false;

		if (!offers_whole(&readers->nodes[i]))
			continue;
		offering++;
		for (size_t k = 0; k < readers->nodes[i].taint_count; k++)
			has_taint |= strcmp(readers->nodes[i].taints[k], taint) == 0;
		with += has_taint;
	}
	return offering && with == offering;
}

/* A "*" that is a word of the Pod, and no glob of ours. */
static bool tolerates_all(const struct readers *readers)
{
	for (size_t i = 0; i < facts_count(readers->facts); i++) {
		const struct fact *fact = facts_at(readers->facts, i);

		if (fact->key == FACT_POD_TOLERATES && strcmp(fact->value, "*") == 0)
			return true;
	}
	return false;
}

static void untolerated(struct readers *readers)
{
	const struct fact *pod = first(readers, FACT_POD_RESOURCE);

	for (size_t i = 0, end = facts_count(readers->facts); pod && i < end; i++) {
		const struct fact *taint = facts_at(readers->facts, i);

		if (taint->key == FACT_NODE_TAINT && tainted(readers, taint->value) &&
		    !facts_first(readers->facts, FACT_POD_TOLERATES, taint->value) &&
		    !tolerates_all(readers))
			tell_of(readers, FACT_POD_TAINT_UNTOLERATED, taint->value, taint);
	}
}

/* Does a node seen have this "key" or "key=value"? */
static bool selected(struct readers *readers, const char *selector)
{
	char key[FACT_VALUE_MAX];
	char *value;

	snprintf(key, sizeof(key), "%s", selector);
	value = strchr(key, '=');
	if (value)
		*value++ = '\0';
	return read_label_known(readers, read_label_hash(key, value));
}

/* Labels that somebody asks for, and that no node seen has. */
static void unmet(struct readers *readers)
{
	size_t wanted = 0, met = 0;
	const struct fact *last = NULL;

	if (!first(readers, FACT_SEEN_NODE_LABELS))
		return;
	for (size_t i = 0, end = facts_count(readers->facts); i < end; i++) {
		const struct fact *fact = facts_at(readers->facts, i);

		if (fact->key == FACT_POD_NODE_SELECTOR && strchr(fact->value, '/') &&
		    !selected(readers, fact->value))
			tell_of(readers, FACT_POD_SELECTOR_UNMET, fact->value, fact);
		if (fact->key != FACT_PLUGIN_NODE_AFFINITY &&
		    fact->key != FACT_PLUGIN_NODE_SELECTOR)
			continue;
		wanted++;
		last = fact;
		met += read_label_known(readers, read_label_hash(fact->value, NULL));
	}
	if (wanted && !met)
		tell_of(readers, FACT_PLUGIN_AFFINITY_UNMET, last->value, last);
}

/* Runtime. */

static void runtime_files(struct readers *readers)
{
	const struct fact *file = facts_first(readers->facts, FACT_CONTAINERD_FILE, "etc");
	const struct fact *drop_in = first(readers, FACT_CONTAINERD_DROP_IN);
	static const char *const own[] = { "k3s", "rke2", "k0s", "microk8s" };

	for (size_t i = 0; file && i < ARRAY_SIZE(own); i++)
		if (facts_first(readers->facts, FACT_DISTRIBUTION, own[i]) &&
		    first(readers, FACT_CONTAINERD_NVIDIA))
			tell_of(readers, FACT_CONTAINERD_WRONG_FILE, own[i], file);
	if (drop_in && first(readers, FACT_CONTAINERD_NO_IMPORTS) &&
	    !first(readers, FACT_CONTAINERD_IMPORTS))
		tell_of(readers, FACT_CONTAINERD_DROP_IN_UNREAD, drop_in->value, drop_in);
	if (readers->configured && !readers->restarted)
		tell_at(readers, FACT_HOST_NO_RESTART, NULL, &readers->configured_place);
}

static void runtime_works(struct readers *readers)
{
	const struct fact *good = first(readers, FACT_CONTAINERD_NVIDIA_DEFAULT);

	if (!good && first(readers, FACT_CONTAINERD_NVIDIA) &&
	    facts_first(readers->facts, FACT_RUNTIMECLASS_HANDLER, "nvidia*"))
		good = first(readers, FACT_CONTAINERD_NVIDIA);
	if (!good && facts_first(readers->facts, FACT_DOCKER_DEFAULT, "nvidia"))
		good = first(readers, FACT_DOCKER_NVIDIA);
	if (!good && facts_first(readers->facts, FACT_CRIO_DEFAULT, "nvidia"))
		good = first(readers, FACT_CRIO_NVIDIA);
	if (good && !first(readers, FACT_CONTAINERD_CRI_DISABLED) &&
	    !first(readers, FACT_CONTAINERD_SECTION_IGNORED))
		tell_of(readers, FACT_RUNTIME_OK, NULL, good);
}

/* How to add a release: toolkits before it lack or break something (facts.h says what). */
static const char *const toolkit_releases[] = { "1.8", "1.14", "1.16.2", "1.17.8", "1.18" };
static const char *const kubernetes_releases[] = { "1.10", "1.11", "1.20", "1.26", "1.32", "1.34" };

static void before(struct readers *readers, enum fact_key of, enum fact_key key,
		   const char *const *releases, size_t count)
{
	const struct fact *version = first(readers, of);

	for (size_t i = 0; version && i < count; i++)
		if (compare_versions(version->value, releases[i]) < 0)
			tell_of(readers, key, releases[i], version);
}

static void cgroup_drivers(struct readers *readers)
{
	const struct fact *kubelet = first(readers, FACT_KUBELET_CGROUP_DRIVER);
	const struct fact *docker = first(readers, FACT_DOCKER_CGROUP_DRIVER);

	if (kubelet && docker && strcmp(kubelet->value, docker->value) != 0)
		tell_two(readers, FACT_KUBELET_CGROUP_DIFFERS, kubelet, docker);
}

/* Names that somebody uses and nobody has. A list is whole only when it was listed. */
static void missing(struct readers *readers, enum fact_key used, enum fact_key have,
		    enum fact_key key)
{
	for (size_t i = 0, end = facts_count(readers->facts); i < end; i++) {
		const struct fact *fact = facts_at(readers->facts, i);

		if (fact->key == used && !facts_first(readers->facts, have, fact->value))
			tell_of(readers, key, fact->value, fact);
	}
}

static void missing_names(struct readers *readers)
{
	if (first(readers, FACT_SEEN_RUNTIMECLASS) || first(readers, FACT_RUNTIMECLASS_NO_NVIDIA))
		missing(readers, FACT_POD_RUNTIME_CLASS, FACT_RUNTIMECLASS,
			FACT_POD_RUNTIME_CLASS_MISSING);
	if (first(readers, FACT_SEEN_DEVICECLASS))
		missing(readers, FACT_DRA_CLASS_WANTED, FACT_DRA_CLASS, FACT_DRA_CLASS_MISSING);
	if (first(readers, FACT_CONTAINERD_RUNTIME))
		missing(readers, FACT_RUNTIMECLASS_HANDLER, FACT_CONTAINERD_RUNTIME,
			FACT_RUNTIMECLASS_HANDLER_MISSING);
	if (first(readers, FACT_PLUGIN_CONFIG_NAME))
		missing(readers, FACT_PLUGIN_CONFIG_LABEL, FACT_PLUGIN_CONFIG_NAME,
			FACT_PLUGIN_CONFIG_UNKNOWN);
	if (first(readers, FACT_SEEN_RESOURCESLICE) &&
	    !facts_first(readers->facts, FACT_DRA_SLICE_DRIVER, "gpu.*"))
		tell_of(readers, FACT_DRA_NO_SLICES, NULL, first(readers, FACT_SEEN_RESOURCESLICE));
}

static void mps_daemon(struct readers *readers)
{
	const struct fact *mps = facts_first(readers->facts, FACT_PLUGIN_SHARING, "mps");
	const struct fact *listed = first(readers, FACT_SEEN_DAEMONSET);

	if (!listed)
		listed = first(readers, FACT_SEEN_POD_TABLE);
	if (mps && listed && readers->plugin_seen && !readers->mps_daemon)
		tell_of(readers, FACT_MPS_DAEMON_ABSENT, NULL, mps);
}

/* Links that work. */
static void links(struct readers *readers)
{
	const struct fact *runs = first(readers, FACT_POD_RUNS_WITH_GPU);

	if (runs) {
		tell_of(readers, FACT_SCHEDULER_OK, NULL, runs);
		tell_of(readers, FACT_INJECTION_OK, NULL, runs);
	} else if (readers->scheduled && first(readers, FACT_POD_RESOURCE)) {
		tell_of(readers, FACT_SCHEDULER_OK, NULL, first(readers, FACT_POD_RESOURCE));
	}
	if (facts_first(readers->facts, FACT_DRA_SLICE_DRIVER, "gpu.*") &&
	    facts_first(readers->facts, FACT_DRA_CLASS, "gpu.*"))
		tell_of(readers, FACT_DRA_OK, NULL, first(readers, FACT_DRA_SLICE_DRIVER));
	else if (facts_first(readers->facts, FACT_DRA_CLAIM_STATE, "allocated*"))
		tell_of(readers, FACT_DRA_OK, NULL, first(readers, FACT_DRA_CLAIM_STATE));
	if (first(readers, FACT_PLUGIN_SHARING) && first(readers, FACT_NODE_GPU_SOME) &&
	    (first(readers, FACT_NODE_LABEL_SHARED) ||
	     facts_first(readers->facts, FACT_NODE_RESOURCE, "*.shared")))
		tell_of(readers, FACT_SHARING_OK, NULL, first(readers, FACT_NODE_GPU_SOME));
	else if (facts_first(readers->facts, FACT_NODE_RESOURCE, "*/mig-*") &&
		 !first(readers, FACT_NODE_MIG_STALE))
		tell_of(readers, FACT_SHARING_OK, NULL,
			facts_first(readers->facts, FACT_NODE_RESOURCE, "*/mig-*"));
}

void combine(struct readers *readers)
{
	driver_works(readers);
	compare(readers, FACT_DRIVER_VERSIONS_DIFFER, FACT_DRIVER_MODULE_VERSION,
		FACT_DRIVER_LIBRARY_VERSION);
	compare(readers, FACT_DRIVER_DISK_NEWER, FACT_DRIVER_MODULE_VERSION,
		FACT_DRIVER_DISK_VERSION);
	compare(readers, FACT_HOST_FABRIC_DIFFERS, FACT_HOST_FABRIC_VERSION, FACT_DRIVER_VERSION);
	compare(readers, FACT_CDI_STALE, FACT_CDI_DRIVER_VERSION, FACT_DRIVER_VERSION);
	old_for_kernel(readers);
	unknown_card(readers);
	nodes_differ(readers);
	image_cuda(readers);
	all_nodes(readers);
	cards_of_node(readers);
	mig_of_node(readers);
	wanted_gpus(readers);
	wanted_rest(readers);
	untolerated(readers);
	unmet(readers);
	runtime_files(readers);
	runtime_works(readers);
	before(readers, FACT_TOOLKIT_VERSION, FACT_TOOLKIT_BEFORE, toolkit_releases,
	       ARRAY_SIZE(toolkit_releases));
	before(readers, FACT_KUBERNETES_VERSION, FACT_KUBERNETES_BEFORE, kubernetes_releases,
	       ARRAY_SIZE(kubernetes_releases));
	cgroup_drivers(readers);
	missing_names(readers);
	mps_daemon(readers);
	links(readers);
}
