/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations of device plugins, values of charts, and DRA's objects. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/reader.h"

static void plugin_config(struct readers *readers)
{
	tell(readers, FACT_SEEN_PLUGIN_CONFIG, NULL);
}

static const char *sharing_of(const struct readers *readers)
{
	if (outline_below(&readers->outline, "mps") ||
	    same(outline_up(&readers->outline, 1), "mps"))
		return "mps";
	if (outline_below(&readers->outline, "timeSlicing"))
		return "time_slicing";
	return NULL;
}

static void leaf_replicas(struct readers *readers, const char *key, char *value)
{
	const char *sharing = sharing_of(readers);

	if (!sharing)
		return;
	plugin_config(readers);
	tell(readers, FACT_PLUGIN_SHARING, sharing);
	if (same(key, "replicas") && *value)
		tell(readers, FACT_PLUGIN_REPLICAS, value);
}

static void leaf_rename(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (sharing_of(readers) && *value && !same(value, "false"))
		tell(readers, FACT_PLUGIN_RENAMED, value);
}

static void leaf_fail_many(struct readers *readers, const char *key, char *value)
{
	(void)key;
	tell_bool(readers, FACT_PLUGIN_FAIL_MANY, value);
}

static void leaf_strategy(struct readers *readers, const char *key, char *value)
{
	if (!*value || strchr(value, ' '))
		return;
	if (same(key, "migStrategy") || same(key, "mig-strategy") ||
	    (same(key, "strategy") && same(outline_up(&readers->outline, 1), "mig")) ||
	    same(key, "mig.strategy"))
		tell(readers, FACT_PLUGIN_MIG_STRATEGY, value);
}

static void leaf_list_strategy(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (*value)
		tell(readers, FACT_PLUGIN_STRATEGY, value);
}

static void leaf_pass_specs(struct readers *readers, const char *key, char *value)
{
	(void)key;
	tell_bool(readers, FACT_PLUGIN_PASS_SPECS, value);
}

static void leaf_fail_on_init(struct readers *readers, const char *key, char *value)
{
	(void)key;
	tell_bool(readers, FACT_PLUGIN_FAIL_ON_INIT, value);
}

static void leaf_mps_root(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (*value && !same(value, "null"))
		tell(readers, FACT_PLUGIN_MPS_ROOT, value);
}

/* A ConfigMap's data: each key is a configuration by name. */
static void leaf_data(struct readers *readers, const char *key, char *value)
{
	(void)key;
	(void)value;
	if (same(readers->object.kind, "ConfigMap"))
		readers->object.template = true;
}

/* DaemonSets: describe and YAML. */
static void leaf_desired(struct readers *readers, const char *key, char *value)
{
	(void)key;
	tell(readers, FACT_SEEN_DAEMONSET, NULL);
	if (strcmp(value, "0") == 0 && component_of(readers->object.name) == COMPONENT_PLUGIN)
		tell(readers, FACT_PLUGIN_NO_PODS, readers->object.name);
}

/* The kubelet's checkpoint: entries of a Pod, a container, a resource and its devices. */
static void leaf_pod_uid(struct readers *readers, const char *key, char *value)
{
	(void)key;
	COPY(readers->checkpoint.pod, value);
	readers->checkpoint.gpu = false;
}

static void leaf_resource_name(struct readers *readers, const char *key, char *value)
{
	(void)key;
	readers->checkpoint.gpu = is_gpu_resource(value);
}

/* Containers of one Pod may follow each other on a device; two Pods may not. */
static void device_given(struct readers *readers, const char *device)
{
	struct checkpoint *checkpoint = &readers->checkpoint;

	if (!checkpoint->gpu || !*checkpoint->pod || !*device || strlen(device) >= NAME_MAX_)
		return;
	for (size_t i = 0; i < checkpoint->count; i++) {
		if (strcmp(checkpoint->given[i].device, device) != 0)
			continue;
		if (strcmp(checkpoint->given[i].pod, checkpoint->pod) != 0)
			tell(readers, FACT_KUBELET_DEVICE_TWICE, device);
		return;
	}
	if (checkpoint->count == ARRAY_SIZE(checkpoint->given))
		return;
	COPY(checkpoint->given[checkpoint->count].device, device);
	COPY(checkpoint->given[checkpoint->count].pod, checkpoint->pod);
	checkpoint->count++;
}

const struct key_row keys_plugin[] = {
	{ "poduid", leaf_pod_uid },
	{ "resourcename", leaf_resource_name },
	{ "desired number of nodes scheduled", leaf_desired },
	{ "desirednumberscheduled", leaf_desired },
	{ "replicas", leaf_replicas },
	{ "resources", leaf_replicas },
	{ "renamebydefault", leaf_rename },
	{ "rename", leaf_rename },
	{ "failrequestsgreaterthanone", leaf_fail_many },
	{ "migstrategy", leaf_strategy },
	{ "mig-strategy", leaf_strategy },
	{ "mig.strategy", leaf_strategy },
	{ "strategy", leaf_strategy },
	{ "deviceliststrategy", leaf_list_strategy },
	{ "device-list-strategy", leaf_list_strategy },
	{ "passdevicespecs", leaf_pass_specs },
	{ "failoniniterror", leaf_fail_on_init },
	{ "mpsroot", leaf_mps_root },
	{ "mps-root", leaf_mps_root },
	{ "data", leaf_data },
	{ NULL, NULL },
};

bool read_plugin_item(struct readers *readers, const char *list, const char *value)
{
	if (outline_below(&readers->outline, "DeviceIDs") || same(list, "DeviceIDs")) {
		device_given(readers, value);
		return true;
	}
	if (!same(list, "deviceListStrategy"))
		return false;
	tell(readers, FACT_PLUGIN_STRATEGY, value);
	return true;
}

/* A name below "data" of a ConfigMap, or below config.map of the chart. */
void read_config_name(struct readers *readers, const char *key)
{
	const char *parent = outline_up(&readers->outline, 1);

	if ((same(parent, "data") && same(readers->object.kind, "ConfigMap")) ||
	    (same(parent, "map") && same(outline_up(&readers->outline, 2), "config")))
		tell(readers, FACT_PLUGIN_CONFIG_NAME, key);
}

/* DRA. */

static void leaf_class_wanted(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (!*value)
		return;
	tell(readers, FACT_SEEN_RESOURCECLAIM, NULL);
	tell(readers, FACT_DRA_CLASS_WANTED, value);
}

static void leaf_slice_driver(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (!same(readers->object.kind, "ResourceSlice") || !*value)
		return;
	tell(readers, FACT_DRA_SLICE_DRIVER, value);
}

static void leaf_enabled(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (!same(outline_up(&readers->outline, 1), "gpus"))
		return;
	tell(readers, FACT_SEEN_HELM_VALUES, NULL);
	tell_bool(readers, FACT_DRA_GPUS_ENABLED, value);
}

static void leaf_override(struct readers *readers, const char *key, char *value)
{
	(void)key;
	tell(readers, FACT_SEEN_HELM_VALUES, NULL);
	tell_bool(readers, FACT_DRA_OVERRIDE, value);
}

static void leaf_driver_root(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (*value)
		tell(readers, FACT_DRA_DRIVER_ROOT, value);
}

static void leaf_allocation(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (starts(readers->object.kind, "ResourceClaim") && !same(value, "null"))
		tell(readers, FACT_DRA_CLAIM_STATE, "allocated");
}

const struct key_row keys_dra[] = {
	{ "deviceclassname", leaf_class_wanted },
	{ "driver", leaf_slice_driver },
	{ "enabled", leaf_enabled },
	{ "gpuresourcesenabledoverride", leaf_override },
	{ "nvidiadriverroot", leaf_driver_root },
	{ "allocation", leaf_allocation },
	{ NULL, NULL },
};
