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

/* "570.195" is a cut "570.195.03": equal as far as the shorter goes. */
static bool versions_agree(const char *left, const char *right)
{
	size_t length = strlen(left) < strlen(right) ? strlen(left) : strlen(right);

	return strncmp(left, right, length) == 0 &&
	       (strlen(left) == strlen(right) || left[length] == '.' || right[length] == '.');
}

/* Whether a fact of KEY in the source of OF has the same version. */
static bool has_agreeing(const struct readers *readers, const struct fact *of, enum fact_key key)
{
	for (size_t i = 0; i < facts_count(readers->facts); i++) {
		const struct fact *fact = facts_at(readers->facts, i);

		if (fact->key == key && strcmp(fact->source, of->source) == 0 &&
		    versions_agree(fact->value, of->value))
			return true;
	}
	return false;
}

/* One of LEFT and one of RIGHT in one source; neither has its like on the other side. */
static void compare(struct readers *readers, enum fact_key key, enum fact_key left,
		    enum fact_key right)
{
	for (size_t i = 0, end = facts_count(readers->facts); i < end; i++) {
		const struct fact *a = facts_at(readers->facts, i);

		if (a->key != left || has_agreeing(readers, a, right))
			continue;
		for (size_t k = 0; k < end; k++) {
			const struct fact *b = facts_at(readers->facts, k);

			if (b->key != right || strcmp(a->source, b->source) != 0 ||
			    has_agreeing(readers, b, left))
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
	if (!kernel || !driver || strcmp(kernel->source, driver->source) != 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kernel_limits); i++)
		if (compare_versions(kernel->value, kernel_limits[i].kernel) >= 0 &&
		    compare_versions(driver->value, kernel_limits[i].minimum) < 0)
			tell_two(readers, FACT_DRIVER_OLD_FOR_KERNEL, driver, kernel);
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

/* The newest CUDA that a driver seen runs: evidence of several machines is on its side. */
static const struct fact *newest_cuda(const struct readers *readers)
{
	const struct fact *newest = NULL;

	for (size_t i = 0; i < facts_count(readers->facts); i++) {
		const struct fact *fact = facts_at(readers->facts, i);

		if (fact->key == FACT_DRIVER_CUDA_VERSION &&
		    (!newest || compare_versions(fact->value, newest->value) > 0))
			newest = fact;
	}
	return newest;
}

static void image_cuda(struct readers *readers)
{
	const struct fact *driver = newest_cuda(readers);

	for (size_t i = 0; driver && i < facts_count(readers->facts); i++) {
		const struct fact *image = facts_at(readers->facts, i);

		if (image->key != FACT_POD_IMAGE_CUDA ||
		    !read_together(image->source, driver->source) ||
		    compare_versions(image->value, driver->value) <= 0 ||
		    versions_agree(image->value, driver->value))
			continue;
		tell_two(readers, FACT_IMAGE_CUDA_NEWER, image, driver);
		return;
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
/* Cards of the one listing that was seen with the one node; -1 when there is no such pair. */
static long cards_with(const struct readers *readers, const struct node *node)
{
	const struct fact *cards = first(readers, FACT_DRIVER_CARDS_HOST);

	if (!cards)
		cards = first(readers, FACT_DRIVER_CARDS);
	if (!cards || first(readers, FACT_PLUGIN_SHARING) || readers->instances ||
	    readers->listings != 1 || !read_together(node->place.source, cards->source))
		return -1;
	return count_of(cards->value);
}

static void cards_of_node(struct readers *readers)
{
	const struct node *node = readers->node_count == 1 ? &readers->nodes[0] : NULL;
	long listed = node ? cards_with(readers, node) : -1;

	for (size_t i = 0; listed > 0 && i < node->gpu_count; i++) {
		long offered = node->gpus[i].capacity >= 0 ? node->gpus[i].capacity
							   : node->gpus[i].allocatable;

		if (!ends(node->gpus[i].name, "/gpu"))
			continue;
		if (offered > 0 && offered < listed)
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

	if (!node || readers->listings != 1 || first(readers, FACT_PLUGIN_SHARING) ||
	    !read_together(node->place.source, first(readers, FACT_SEEN_SMI)->source))
		return;
	if (offered && offered != listed && (listed || first(readers, FACT_CARD_MIG)))
		tell_node(readers, FACT_NODE_MIG_STALE, node, offered, " for ", listed);
	if (!offered && listed && mixed)
		tell_node(readers, FACT_NODE_MIG_STALE, node, 0, " for ", listed);
}

/* Pods against nodes. */

/* The most of RESOURCE on one node that was seen with the Pod; -1: none has it. */
static long most_of(const struct readers *readers, const struct fact *pod, bool *ret_known)
{
	long most = -1;

	*ret_known = false;
	for (size_t i = 0; i < readers->node_count; i++) {
		const struct node *node = &readers->nodes[i];

		if (!read_together(node->place.source, pod->source))
			continue;
		for (size_t k = 0; k < node->gpu_count; k++) {
			long count = node->gpus[k].allocatable;

			if (count < 0)
				count = node->gpus[k].capacity;
			*ret_known |= count >= 0;
			if (strcmp(node->gpus[k].name, pod->value) == 0 && count > most)
				most = count;
		}
	}
	return most;
}

static void wanted_gpu(struct readers *readers, const struct fact *pod)
{
	const struct fact *count = first(readers, FACT_POD_GPU_MANY);
	bool known, part = strstr(pod->value, "gpumem") || strstr(pod->value, "gpucores");
	long most = most_of(readers, pod, &known);
	char value[64];

	if (known && most < 0 && !part)
		tell_of(readers, FACT_POD_RESOURCE_UNKNOWN, pod->value, pod);
	if (most < 0 || !count || !ends(pod->value, "/gpu") || count_of(count->value) <= most)
		return;
	snprintf(value, sizeof(value), "%s %ld", count->value, most);
	tell_of(readers, FACT_POD_GPU_OVER_NODE, value, count);
}

static void wanted_gpus(struct readers *readers)
{
	for (size_t i = 0, end = facts_count(readers->facts); i < end; i++)
		if (facts_at(readers->facts, i)->key == FACT_POD_RESOURCE)
			wanted_gpu(readers, facts_at(readers->facts, i));
}

/* CPU and memory against the largest node that offers a GPU. */
static void wanted_rest(struct readers *readers)
{
	long cpu = -1, memory = -1;

	for (size_t i = 0; i < readers->node_count; i++) {
		const struct node *node = &readers->nodes[i];

		const char *pod = readers->pod_cpu ? readers->pod_cpu_place.source
						   : readers->pod_memory_place.source;

		if (!offers_whole(node) || !pod || !read_together(node->place.source, pod))
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
static bool tainted(const struct readers *readers, const struct fact *pod, const char *taint)
{
	size_t offering = 0, with = 0;

	for (size_t i = 0; i < readers->node_count; i++) {
		bool has_taint = false;

		if (!offers_whole(&readers->nodes[i]) ||
		    !read_together(readers->nodes[i].place.source, pod->source))
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

	/* A fragment shows no tolerations, whatever the Pod has. */
	if (!readers->whole_gpu_pod)
		return;
	for (size_t i = 0, end = facts_count(readers->facts); pod && i < end; i++) {
		const struct fact *taint = facts_at(readers->facts, i);

		if (taint->key == FACT_NODE_TAINT && tainted(readers, pod, taint->value) &&
		    !facts_first(readers->facts, FACT_POD_TOLERATES, taint->value) &&
		    !tolerates_all(readers))
			tell_of(readers, FACT_POD_TAINT_UNTOLERATED, taint->value, taint);
	}
}

/* Labels that somebody asks for, and that no node seen with it has. */
static bool is_unmet(const struct readers *readers, const struct fact *fact)
{
	return read_labels_seen(readers, fact->source) &&
	       !read_label_known(readers, fact->source, fact->value);
}

static void unmet(struct readers *readers)
{
	const struct fact *last = NULL;
	bool met = false;

	for (size_t i = 0, end = facts_count(readers->facts); i < end; i++) {
		const struct fact *fact = facts_at(readers->facts, i);

		if (fact->key == FACT_POD_NODE_SELECTOR && strchr(fact->value, '/') &&
		    is_unmet(readers, fact))
			tell_of(readers, FACT_POD_SELECTOR_UNMET, fact->value, fact);
		if (fact->key != FACT_PLUGIN_NODE_AFFINITY &&
		    fact->key != FACT_PLUGIN_NODE_SELECTOR)
			continue;
		last = fact;
		met |= !is_unmet(readers, fact);
	}
	if (last && !met)
		tell_of(readers, FACT_PLUGIN_AFFINITY_UNMET, last->value, last);
}

/* Runtime. */

/* The first of KEY that fits GLOB and was seen with OF. */
static const struct fact *with(const struct readers *readers, const struct fact *of,
			       enum fact_key key, const char *value)
{
	for (size_t i = 0; of && i < facts_count(readers->facts); i++) {
		const struct fact *fact = facts_at(readers->facts, i);

		if (fact->key == key && (!value || strcmp(fact->value, value) == 0) &&
		    read_together(fact->source, of->source))
			return fact;
	}
	return NULL;
}

static void runtime_files(struct readers *readers)
{
	const struct fact *file = facts_first(readers->facts, FACT_CONTAINERD_FILE, "etc");
	const struct fact *drop_in = first(readers, FACT_CONTAINERD_DROP_IN);
	static const char *const own[] = { "k3s", "rke2", "k0s", "microk8s" };

	for (size_t i = 0; file && i < ARRAY_SIZE(own); i++)
		if (with(readers, file, FACT_DISTRIBUTION, own[i]) &&
		    with(readers, file, FACT_CONTAINERD_NVIDIA, NULL))
			tell_of(readers, FACT_CONTAINERD_WRONG_FILE, own[i], file);
	/* Of one file: the main configurations of two nodes may lie beside each other. */
	if (with(readers, drop_in, FACT_CONTAINERD_NO_IMPORTS, NULL) &&
	    strcmp(with(readers, drop_in, FACT_CONTAINERD_NO_IMPORTS, NULL)->source,
		   drop_in->source) == 0 &&
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
	for (size_t i = 0, end = facts_count(readers->facts); i < end; i++) {
		const struct fact *version = facts_at(readers->facts, i);

		for (size_t k = 0; version->key == of && k < count; k++)
			if (compare_versions(version->value, releases[k]) < 0)
				tell_of(readers, key, releases[k], version);
	}
}

static void cgroup_drivers(struct readers *readers)
{
	const struct fact *kubelet = first(readers, FACT_KUBELET_CGROUP_DRIVER);
	const struct fact *docker = with(readers, kubelet, FACT_DOCKER_CGROUP_DRIVER, NULL);

	if (docker && strcmp(kubelet->value, docker->value) != 0)
		tell_two(readers, FACT_KUBELET_CGROUP_DIFFERS, kubelet, docker);
}

/*
 * Names that somebody uses and nobody has, where what there is was listed beside. LISTED: told by
 * such a list, even an empty one.
 */
static const struct {
	enum fact_key used, have, listed, key;
} names[] = {
	{ FACT_POD_RUNTIME_CLASS, FACT_RUNTIMECLASS, FACT_RUNTIMECLASS_NO_NVIDIA,
	  FACT_POD_RUNTIME_CLASS_MISSING },
	{ FACT_DRA_CLASS_WANTED, FACT_DRA_CLASS, FACT_SEEN_DEVICECLASS, FACT_DRA_CLASS_MISSING },
	{ FACT_RUNTIMECLASS_HANDLER, FACT_CONTAINERD_RUNTIME, FACT_CONTAINERD_RUNTIME,
	  FACT_RUNTIMECLASS_HANDLER_MISSING },
	{ FACT_PLUGIN_CONFIG_LABEL, FACT_PLUGIN_CONFIG_NAME, FACT_PLUGIN_CONFIG_NAME,
	  FACT_PLUGIN_CONFIG_UNKNOWN },
};

static void missing(struct readers *readers, size_t row)
{
	for (size_t i = 0, end = facts_count(readers->facts); i < end; i++) {
		const struct fact *fact = facts_at(readers->facts, i);

		if (fact->key != names[row].used ||
		    facts_first(readers->facts, names[row].have, fact->value))
			continue;
		if (with(readers, fact, names[row].have, NULL) ||
		    with(readers, fact, names[row].listed, NULL))
			tell_of(readers, names[row].key, fact->value, fact);
	}
}

static void missing_names(struct readers *readers)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		missing(readers, i);
	if (first(readers, FACT_SEEN_RESOURCESLICE) &&
	    !facts_first(readers->facts, FACT_DRA_SLICE_DRIVER, "gpu.*"))
		tell_of(readers, FACT_DRA_NO_SLICES, NULL, first(readers, FACT_SEEN_RESOURCESLICE));
}

static void mps_daemon(struct readers *readers)
{
	const struct fact *mps = facts_first(readers->facts, FACT_PLUGIN_SHARING, "mps");
	const struct fact *listed = with(readers, mps, FACT_PLUGIN_POD, NULL);

	if (!listed)
		listed = with(readers, mps, FACT_SEEN_DAEMONSET, NULL);
	if (mps && listed && readers->plugin_listed && !readers->mps_daemon)
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
