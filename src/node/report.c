/* SPDX-License-Identifier: Apache-2.0 */
/* /metrics, /healthz and /readyz: what is known now, from memory; a scrape asks nobody. */
#include "node/daemon.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "metrics/metrics.h"
#include "node/device_id.h"

#define LISTEN_AGAIN_MS 5000

/* Who uses a card, by what was added of the holdings so far. */
struct card_use {
	const struct kubelet_holding *holding; /* the last one that has some of it */
	bool several;                          /* another one has, too */
	bool whole;                            /* of HOLDING, as all below */
	unsigned devices, units;
};

struct scrape {
	const struct daemon *daemon;
	struct metrics *metrics;
	struct error *error;
	struct card_use *uses; /* owned; of each card of the inventory */
	struct map *parts;     /* owned; UUID of a card or MIG device to the use of its card */
	int r;                 /* the first failure */
};

static void add(struct scrape *scrape, enum metric metric, double value,
		const struct metric_label *labels)
{
	int r = metrics_add(scrape->metrics, metric, value, labels, scrape->error);

	/* Something that is there twice is no reason to tell nothing. */
	if (r < 0 && r != -EEXIST && scrape->r == 0)
		scrape->r = r;
}

#define ADD(scrape, metric, value, ...)      \
	add(scrape, metric, (double)(value), \
	    (const struct metric_label[]){ __VA_ARGS__{ NULL, NULL } })

static void index_text(const struct card *card, char ret[16])
{
	ret[0] = '\0';
	if (card->index != CARD_INDEX_NONE)
		(void)snprintf(ret, 16, "%u", card->index);
}

/* ---- holders ---- */

static int add_part(struct scrape *scrape, const char *uuid, uint32_t position)
{
	if (map_get(scrape->parts, uuid))
		return 0;
	return map_put(scrape->parts, uuid, &scrape->uses[position]);
}

/* MIG devices of a sick card, which the driver does not tell now, are of the card that they are listed of. */
static int add_listed_parts(struct scrape *scrape, const struct plugin_resource *resource)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < resource->count; i++) {
		const struct plugin_device *device = &resource->devices[i];
		uint32_t position = scrape->daemon->view.cards[device->card].position;
		struct device_id id;

		if (device->kind != PLUGIN_UNIT && device->instance == PLUGIN_NONE &&
		    position != PLUGIN_NONE && device_id_read(device->id, &id))
			r = add_part(scrape, id.part, position);
	}
	return r;
}

/* So that each ID that somebody holds is looked up once. */
static int find_parts(struct scrape *scrape)
{
	const struct inventory *inventory = &scrape->daemon->inventory;
	const struct plugin_view *view = &scrape->daemon->view;
	int r = 0;

	scrape->parts = map_new();
	scrape->uses = calloc(inventory->card_count + 1, sizeof(*scrape->uses));
	if (!scrape->parts || !scrape->uses)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < inventory->card_count; i++) {
		const struct card *card = &inventory->cards[i];

		r = add_part(scrape, card->uuid, i);
		for (size_t k = 0; r == 0 && k < card->instance_count; k++)
			r = add_part(scrape, card->instances[k].uuid, i);
	}
	for (size_t i = 0; r == 0 && i < view->count; i++)
		r = add_listed_parts(scrape, &view->resources[i]);
	return r;
}

static void count_held(struct scrape *scrape, const struct kubelet_holding *holding)
{
	for (size_t i = 0; i < holding->ids.count; i++) {
		struct device_id id;
		struct card_use *use = device_id_read(holding->ids.items[i], &id)
					       ? map_get(scrape->parts, id.part)
					       : NULL;

		if (!use)
			continue;
		if (use->holding != holding)
			*use = (struct card_use){ .holding = holding,
						  .several = use->holding != NULL };
		use->devices++;
		use->units += id.form == ID_UNIT;
		use->whole = strncmp(id.part, "GPU-", 4) == 0 && id.form == ID_PART;
	}
}

/* Of one container and one card: a card that several share is a row each. */
static void add_holding(struct scrape *scrape, const struct kubelet_holding *holding)
{
	const struct inventory *inventory = &scrape->daemon->inventory;

	count_held(scrape, holding);
	for (size_t i = 0; i < inventory->card_count; i++) {
		const struct card_use *use = &scrape->uses[i];
		const struct card *card = &inventory->cards[i];
		char gpu[16];

		if (use->holding != holding)
			continue;
		index_text(card, gpu);
		const struct metric_label labels[] = { { "gpu", gpu },
						       { "UUID", card->uuid },
						       { "resource", holding->resource },
						       { "namespace", holding->pod_namespace },
						       { "pod", holding->pod },
						       { "container", holding->container },
						       { NULL, NULL } };
		add(scrape, METRIC_POD_DEVICES, use->devices, labels);
		if (use->units)
			add(scrape, METRIC_POD_MEMORY,
			    (double)((uint64_t)use->units * MIB_PER_UNIT << 20), labels);
		else if (use->whole)
			add(scrape, METRIC_POD_MEMORY, (double)card->memory_bytes, labels);
	}
}

/* Before the cards, which carry the names of their holders. */
static void add_holdings(struct scrape *scrape)
{
	const struct kubelet_holdings *holdings = &scrape->daemon->holdings;

	for (size_t i = 0; i < holdings->count; i++)
		add_holding(scrape, &holdings->items[i]);
}

/* ---- cards ---- */

static void add_card(struct scrape *scrape, size_t at)
{
	const struct daemon *daemon = scrape->daemon;
	const struct card *card = &daemon->inventory.cards[at];
	const struct health_card *health = health_find(&daemon->health, card->uuid);
	const struct card_use *use = &scrape->uses[at];
	struct metrics_holder holder;
	struct metrics_card of = { .card = card,
				   .host = daemon->host,
				   .driver_version = daemon->inventory.driver_version };

	if (daemon->inventory.samples)
		of.sample = &daemon->inventory.samples[at];
	if (use->holding && !use->several) {
		holder = (struct metrics_holder){ .namespace = use->holding->pod_namespace,
						  .pod = use->holding->pod,
						  .container = use->holding->container };
		of.holder = &holder;
	}
	if (health && (daemon->events_ready || health->xid_total))
		of.last_xid = &health->xid_last;
	int r = metrics_add_card(scrape->metrics, &of, scrape->error);
	if (r < 0 && r != -EEXIST && scrape->r == 0)
		scrape->r = r;
}

static void add_health(struct scrape *scrape, const struct health_card *health)
{
	char gpu[16] = "";

	if (health->index != CARD_INDEX_NONE && health->present)
		(void)snprintf(gpu, sizeof(gpu), "%u", health->index);
	for (int i = 0; i < CARD_HEALTH_MAX; i++)
		ADD(scrape, METRIC_CARD_HEALTH, health->condition.health == (enum card_health)i,
		    { "gpu", gpu }, { "UUID", health->uuid },
		    { "state", card_health_to_string((enum card_health)i) }, );
	if (health->condition.since)
		ADD(scrape, METRIC_CARD_HEALTH_SINCE, health->condition.since, { "gpu", gpu },
		    { "UUID", health->uuid }, );
	if (health->xid_total || scrape->daemon->events_ready)
		ADD(scrape, METRIC_XID_ERRORS, health->xid_total, { "gpu", gpu },
		    { "UUID", health->uuid }, );
}

static void add_cards(struct scrape *scrape)
{
	const struct daemon *daemon = scrape->daemon;
	unsigned counts[CARD_HEALTH_MAX] = { 0 };

	for (size_t i = 0; i < daemon->inventory.card_count; i++)
		add_card(scrape, i);
	for (size_t i = 0; i < daemon->health.count; i++) {
		counts[daemon->health.cards[i].condition.health]++;
		add_health(scrape, &daemon->health.cards[i]);
	}
	for (int i = 0; daemon->known && i < CARD_HEALTH_MAX; i++)
		ADD(scrape, METRIC_CARDS, counts[i],
		    { "state", card_health_to_string((enum card_health)i) }, );
}

/* ---- lists ---- */

static const char *kind_text(enum plugin_kind kind)
{
	static const char *const names[] = { [PLUGIN_WHOLE] = "whole",
					     [PLUGIN_MIG] = "mig",
					     [PLUGIN_REPLICA] = "replicas",
					     [PLUGIN_UNIT] = "slices" };

	return names[kind];
}

static void add_list(struct scrape *scrape, const struct plugin_resource *resource)
{
	size_t healthy = 0, held[4] = { 0 };
	bool seen[4] = { false };

	seen[resource->kind] = true;
	for (size_t i = 0; i < resource->count; i++) {
		healthy += resource->devices[i].healthy;
		held[resource->devices[i].kind] += resource->devices[i].held;
		seen[resource->devices[i].kind] = true;
	}
	ADD(scrape, METRIC_DEVICES, healthy, { "resource", resource->name },
	    { "health", "healthy" }, );
	ADD(scrape, METRIC_DEVICES, resource->count - healthy, { "resource", resource->name },
	    { "health", "unhealthy" }, );
	for (size_t i = 0; i < ARRAY_SIZE(held); i++)
		if (seen[i])
			ADD(scrape, METRIC_HELD, held[i], { "resource", resource->name },
			    { "mode", kind_text((enum plugin_kind)i) }, );
}

static void add_resource(struct scrape *scrape, const struct node_resource *resource)
{
	const struct metric_label name[] = { { "resource", resource->name }, { NULL, NULL } };

	if (resource->plugin) {
		struct device_plugin_counts counts = device_plugin_counts(resource->plugin);

		add(scrape, METRIC_REGISTRATIONS, (double)counts.registrations, name);
		add(scrape, METRIC_REGISTRATION_FAILURES, (double)counts.refusals, name);
		add(scrape, METRIC_STREAMS, device_plugin_is_listed(resource->plugin), name);
	}
	add(scrape, METRIC_STREAM_ENDS, (double)resource->ends, name);
	add(scrape, METRIC_RIVALS, (double)resource->rivals, name);
	add(scrape, METRIC_ALLOCATIONS, (double)resource->granted, name);
	add(scrape, METRIC_ALLOCATION_SECONDS, (double)resource->answer_ms / 1000, name);
	for (size_t i = 0; i < resource->refusal_count; i++)
		ADD(scrape, METRIC_REFUSALS, resource->refusals[i].count,
		    { "resource", resource->name }, { "class", resource->refusals[i].class }, );
}

static void add_lists(struct scrape *scrape)
{
	const struct daemon *daemon = scrape->daemon;

	for (size_t i = 0; daemon->has_view && i < daemon->view.count; i++)
		add_list(scrape, &daemon->view.resources[i]);
	for (size_t i = 0; i < daemon->resource_count; i++)
		add_resource(scrape, daemon->resources[i]);
}

/* ---- the daemon itself ---- */

static bool is_ready(const struct daemon *daemon)
{
	for (int i = 0; i < STEP_MAX; i++)
		if (daemon->waits[i][0])
			return false;
	return lists_ready(daemon);
}

static void add_probes(struct scrape *scrape)
{
	const struct daemon *daemon = scrape->daemon;
	uint64_t now = loop_now_ms(daemon->loop);

	ADD(scrape, METRIC_PROBES, daemon->surveys, );
	for (size_t i = 1; i < REASON_CODE_MAX; i++)
		if (daemon->survey_failures[i])
			ADD(scrape, METRIC_PROBE_FAILURES, daemon->survey_failures[i],
			    { "reason", reason_class((enum reason_code)i) }, );
	if (daemon->survey_ended_ms) {
		ADD(scrape, METRIC_PROBE_AGE, (double)(now - daemon->survey_ended_ms) / 1000, );
		ADD(scrape, METRIC_PROBE_SECONDS, (double)daemon->survey_ms / 1000, );
	}
	ADD(scrape, METRIC_PROBE_STUCK, daemon->stuck.count, );
}

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);
#endif
#endif

/* 0: nobody can tell. A sanitizer's allocator replaces the C library's, which then has nothing. */
static size_t heap_in_use(void)
{
#ifdef __SANITIZE_ADDRESS__
	return __sanitizer_get_current_allocated_bytes();
#else
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
#endif
}

static void add_daemon(struct scrape *scrape)
{
	const struct daemon *daemon = scrape->daemon;
	size_t heap = heap_in_use();

	ADD(scrape, METRIC_BUILD_INFO, 1, { "version", GPUPOOL_VERSION }, );
	ADD(scrape, METRIC_READY, is_ready(daemon), );
	for (int i = 0; i < STEP_MAX; i++)
		if (daemon->waits[i][0])
			ADD(scrape, METRIC_WAITING, 1, { "step", step_to_string((enum step)i) }, );
	ADD(scrape, METRIC_START_TIME, daemon->started, );
	if (heap)
		ADD(scrape, METRIC_HEAP, heap, );
	add_probes(scrape);
	ADD(scrape, METRIC_LEDGER_FAILURES, daemon->ledger_failures, );
	ADD(scrape, METRIC_CDI_WRITES, daemon->specs_written, );
	ADD(scrape, METRIC_CDI_FAILURES, daemon->specs_failed, );
	ADD(scrape, METRIC_CONFIG_OK, !daemon->config_broken, );
	ADD(scrape, METRIC_CONFIG_READS, daemon->configs_read, { "result", "good" }, );
	ADD(scrape, METRIC_CONFIG_READS, daemon->configs_refused, { "result", "refused" }, );
}

static void answer_metrics(struct http_answer *answer, void *user)
{
	struct daemon *daemon = user;
	cleanup(metrics_freep) struct metrics *metrics = metrics_new();
	struct error error = ERROR_INIT;
	struct scrape scrape = { .daemon = daemon, .metrics = metrics, .error = &error };

	daemon->scraped_ms = loop_now_ms(daemon->loop);
	if (metrics && find_parts(&scrape) == 0) {
		add_daemon(&scrape);
		add_holdings(&scrape);
		add_cards(&scrape);
		add_lists(&scrape);
		if (scrape.r == 0)
			scrape.r = metrics_print(metrics, &answer->body, &error);
	} else {
		scrape.r = error_no_memory(&error);
	}
	map_free(scrape.parts);
	free(scrape.uses);
	answer->content_type = METRICS_CONTENT_TYPE;
	if (scrape.r < 0) {
		strbuf_reset(&answer->body);
		answer->status = 500;
		answer->content_type = "text/plain; charset=utf-8";
		strbuf_addf(&answer->body, "%s\n", error.message);
	}
}

/* That it answers is what is asked. */
static void answer_health(struct http_answer *answer, void *user)
{
	(void)user;
	strbuf_adds(&answer->body, "ok\n");
}

static void answer_ready(struct http_answer *answer, void *user)
{
	const struct daemon *daemon = user;

	if (is_ready(daemon)) {
		size_t cards = daemon->inventory.card_count, resources = daemon->resource_count;

		strbuf_addf(&answer->body, "ok: %zu card%s, %zu resource%s listed\n", cards,
			    cards == 1 ? "" : "s", resources, resources == 1 ? "" : "s");
		return;
	}
	answer->status = 503;
	for (int i = 0; i < STEP_MAX; i++)
		if (daemon->waits[i][0])
			strbuf_addf(&answer->body, "waiting for the %s: %s\n",
				    step_to_string((enum step)i), daemon->waits[i]);
	if (!daemon->known && !daemon->waits[STEP_DRIVER][0])
		strbuf_adds(&answer->body, "waiting for the driver: it has not answered yet\n");
	for (size_t i = 0; i < daemon->resource_count; i++) {
		const struct node_resource *resource = daemon->resources[i];

		if (resource->plugin && !device_plugin_is_listed(resource->plugin))
			strbuf_addf(&answer->body,
				    "waiting for the kubelet: %s is not listed%s%s\n",
				    resource->name, resource->trouble[0] ? ": " : "",
				    resource->trouble);
	}
}

static const struct http_route routes[] = { { "/metrics", answer_metrics },
					    { "/healthz", answer_health },
					    { "/readyz", answer_ready },
					    { NULL, NULL } };

static int listen_on(struct daemon *daemon, struct error *error)
{
	char host[PLUGIN_HOST_MAX];
	unsigned port = 0;
	int r = parse_address(daemon->config.metrics_address, host, sizeof(host), &port);

	if (r < 0)
		return error_set(error, -r, "%s is no address", daemon->config.metrics_address);
	bool all = !*host || strcmp(host, "::") == 0;
	r = http_server_listen(daemon->loop, all ? "::" : host, port, routes, daemon, &daemon->http,
			       error);
	/* All addresses of a machine without IPv6. */
	if (r == -EAFNOSUPPORT && all)
		r = http_server_listen(daemon->loop, "0.0.0.0", port, routes, daemon, &daemon->http,
				       error);
	if (r == 0)
		daemon_info(daemon, "metrics are served on port %u",
			    http_server_port(daemon->http));
	return r;
}

/* Another daemon of before may still have the port: cards do not wait for it. */
static void listen_again(void *user)
{
	struct daemon *daemon = user;
	struct error error = ERROR_INIT;

	if (daemon->http || listen_on(daemon, &error) == 0)
		return;
	if (!daemon->http_said)
		daemon_warning(daemon, "metrics are not served: %s; tried again each 5 s",
			       error.message);
	daemon->http_said = true;
	loop_timer_set(daemon->http_timer, LISTEN_AGAIN_MS, 0);
}

int report_start(struct daemon *daemon, struct error *error)
{
	if (!daemon->config.metrics_address[0])
		return 0;
	return loop_timer_start(daemon->loop, 0, 0, listen_again, daemon, &daemon->http_timer,
				error);
}

void report_stop(struct daemon *daemon)
{
	loop_timer_stop(daemon->http_timer);
	http_server_close(daemon->http);
	daemon->http_timer = NULL;
	daemon->http = NULL;
}
