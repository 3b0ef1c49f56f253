/* SPDX-License-Identifier: Apache-2.0 */
/* Our own series. How to add one: a number in metrics.h, a row here, a row in docs/metrics.md. */
#include "metrics/internal.h"

#define GAUGE   "gauge"
#define COUNTER "counter"

static const struct metric_description rows[METRIC_MAX] = {
	[METRIC_BUILD_INFO] = { "gpupool_build_info", GAUGE, "Version of gpupoold; always 1",
				"gpupoold" },
	[METRIC_READY] = { "gpupool_ready", GAUGE,
			   "1: every resource is listed by the kubelet, as /readyz says",
			   "gpupoold" },
	[METRIC_WAITING] = { "gpupool_waiting", GAUGE,
			     "1 for the step that gpupoold waits for before it can list cards",
			     "gpupoold" },
	[METRIC_START_TIME] = { "gpupool_start_time_seconds", GAUGE,
				"When gpupoold was started, Unix time", "gpupoold" },
	[METRIC_HEAP] = { "gpupool_heap_in_use_bytes", GAUGE,
			  "Memory that gpupoold has asked of the C library and not given back",
			  "C library" },
	[METRIC_CARDS] = { "gpupool_cards", GAUGE, "Cards by health", "probe" },
	[METRIC_CARD_HEALTH] = { "gpupool_card_health", GAUGE,
				 "1 for the state that the card is in, 0 for the others",
				 "probe, events" },
	[METRIC_CARD_HEALTH_SINCE] = { "gpupool_card_health_since_seconds", GAUGE,
				       "When the card came into its state, Unix time",
				       "probe, events" },
	[METRIC_XID_ERRORS] = { "gpupool_xid_errors_total", COUNTER,
				"XID errors that the driver reported of the card", "events" },
	[METRIC_PROBES] = { "gpupool_probes_total", COUNTER,
			    "Times that the driver was asked for everything", "probe" },
	[METRIC_PROBE_FAILURES] = { "gpupool_probe_failures_total", COUNTER,
				    "Probes that gave no cards, by reason", "probe" },
	[METRIC_PROBE_AGE] = { "gpupool_probe_age_seconds", GAUGE,
			       "Time since the last probe that ended", "probe" },
	[METRIC_PROBE_SECONDS] = { "gpupool_probe_duration_seconds", GAUGE,
				   "How long the last probe took", "probe" },
	[METRIC_PROBE_STUCK] = { "gpupool_probes_stuck", GAUGE,
				 "Probes that have not ended and are past their deadline",
				 "probe" },
	[METRIC_REGISTRATIONS] = { "gpupool_registrations_total", COUNTER,
				   "Registrations that the kubelet accepted", "kubelet" },
	[METRIC_REGISTRATION_FAILURES] = { "gpupool_registration_failures_total", COUNTER,
					   "Registrations that the kubelet refused or that failed",
					   "kubelet" },
	[METRIC_STREAMS] = { "gpupool_streams", GAUGE,
			     "1: the kubelet reads the list of the resource", "kubelet" },
	[METRIC_STREAM_ENDS] = { "gpupool_stream_ends_total", COUNTER,
				 "Times that the kubelet stopped to read the list", "kubelet" },
	[METRIC_RIVALS] = { "gpupool_rivals_total", COUNTER,
			    "Times that another plugin took the resource", "kubelet" },
	[METRIC_DEVICES] = { "gpupool_devices", GAUGE, "Devices in the list, by health",
			     "gpupoold" },
	[METRIC_HELD] = { "gpupool_devices_held", GAUGE,
			  "Devices that somebody holds, by the mode of the card", "ledger" },
	[METRIC_ALLOCATIONS] = { "gpupool_allocations_total", COUNTER,
				 "Containers that got devices", "kubelet" },
	[METRIC_ALLOCATION_SECONDS] = { "gpupool_allocation_seconds_total", COUNTER,
					"Time from the kubelet's questions to the answers",
					"kubelet" },
	[METRIC_REFUSALS] = { "gpupool_refusals_total", COUNTER,
			      "Questions that were answered with an error, by class", "gpupoold" },
	[METRIC_LEDGER_FAILURES] = { "gpupool_ledger_failures_total", COUNTER,
				     "Writes of the ledger that failed", "ledger" },
	[METRIC_CDI_WRITES] = { "gpupool_cdi_writes_total", COUNTER,
				"Times that a CDI spec was written", "gpupoold" },
	[METRIC_CDI_FAILURES] = { "gpupool_cdi_failures_total", COUNTER,
				  "Times that a CDI spec could not be written", "gpupoold" },
	[METRIC_CONFIG_OK] = { "gpupool_config_ok", GAUGE,
			       "0: the configuration on disk is broken, and the last good one is "
			       "in force",
			       "gpupoold" },
	[METRIC_CONFIG_READS] = { "gpupool_config_reads_total", COUNTER,
				  "Times that the configuration was read, by result", "gpupoold" },
	[METRIC_POD_DEVICES] = { "gpupool_pod_devices", GAUGE,
				 "Devices of the card that the container holds", "pod-resources" },
	[METRIC_POD_MEMORY] = { "gpupool_pod_memory_granted_bytes", GAUGE,
				"Memory of the card that was granted to the container",
				"pod-resources" },
};

const struct metric_description *metrics_describe_own(size_t at)
{
	return at < ARRAY_SIZE(rows) ? &rows[at] : NULL;
}

const struct metric_description *metrics_describe(size_t at)
{
	return at < FAMILY_OF_CARDS ? metrics_describe_own(at)
				    : metrics_describe_card(at - FAMILY_OF_CARDS);
}
