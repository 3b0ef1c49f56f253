/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission of Pods, one after the other: Allocate(), allocateContainerResources() and
 * devicesToAllocate() of pkg/kubelet/cm/devicemanager/manager.go, cut where it waits for a plugin.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_internal.h"

enum outcome {
	GO_ON,   /* with the next request */
	WAITS,   /* for the plugin */
	REFUSED, /* pod->why is filled */
};

static struct fake_container *container_of(const struct fake_admission *admission)
{
	return &admission->pod->containers[admission->container];
}

static const struct fake_request *request_of(const struct fake_admission *admission)
{
	return &container_of(admission)->requests[admission->request];
}

static enum outcome refuse(struct fake_admission *admission, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static enum outcome refuse(struct fake_admission *admission, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(admission->pod->why, sizeof(admission->pod->why), format, arguments);
	va_end(arguments);
	return REFUSED;
}

static void forget_sets(struct fake_admission *admission)
{
	struct map **sets[] = { &admission->taken, &admission->available, &admission->aligned,
				&admission->unaligned, &admission->without };

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		map_free(TAKE_PTR(*sets[i]));
	kubelet_bytes_release(&admission->bytes);
}

static struct map *reusable(struct fake_admission *admission, const char *resource)
{
	for (size_t i = 0; i < admission->reusable_count; i++)
		if (strcmp(admission->reusable_of[i], resource) == 0)
			return admission->reusable[i];
	if (admission->reusable_count == ARRAY_SIZE(admission->reusable))
		abort();
	size_t i = admission->reusable_count++;
	snprintf(admission->reusable_of[i], sizeof(admission->reusable_of[i]), "%s", resource);
	admission->reusable[i] = set_new();
	return admission->reusable[i];
}

/* --- devicesToAllocate() --- */

static void shuffle(struct fake_kubelet *kubelet, struct string_list *ids)
{
	for (size_t i = ids->count; i > 1; i--) {
		size_t j = fake_random(kubelet, (uint32_t)i);
		char *other = ids->items[i - 1];

		ids->items[i - 1] = ids->items[j];
		ids->items[j] = other;
	}
}

/* allocateRemainingFrom(): true once nothing is needed any more. */
static bool take_from(struct fake_kubelet *kubelet, const struct map *set)
{
	cleanup(string_list_release) struct string_list ids = { .items = NULL };
	struct fake_admission *admission = &kubelet->admission;
	struct fake_resource *resource =
		fake_resource(kubelet, request_of(admission)->resource, true);

	if (!resource->allocated)
		resource->allocated = set_new();
	set_to_list(set, &ids);
	shuffle(kubelet, &ids);
	for (size_t i = 0; i < ids.count; i++) {
		if (set_has(admission->taken, ids.items[i]))
			continue;
		set_add(resource->allocated, ids.items[i]);
		set_add(admission->taken, ids.items[i]);
		if (--admission->needed == 0)
			return true;
	}
	return false;
}

static bool is_near(const struct fake_device *device, uint64_t numa)
{
	for (unsigned i = 0; i < device->numa_count; i++)
		if (numa >> device->numa[i] & 1)
			return true;
	return false;
}

/* filterByAffinity() */
static void filter(struct fake_kubelet *kubelet, const struct fake_resource *resource)
{
	struct fake_admission *admission = &kubelet->admission;
	bool knows = false;
	const char *id;
	void *value;

	admission->aligned = set_new();
	admission->unaligned = set_new();
	admission->without = set_new();
	for (const struct fake_device *device = resource->devices; device; device = device->next)
		knows |= device->numa_count > 0;
	for (size_t at = 0; map_next(admission->available, &at, &id, &value);) {
		const struct fake_device *device = map_get(resource->by_id, id);

		if (!knows || !admission->pod->numa || !device || !device->numa_count)
			set_add(admission->without, id);
		else if (is_near(device, admission->pod->numa))
			set_add(admission->aligned, id);
		else
			set_add(admission->unaligned, id);
	}
}

static enum outcome check_resource(struct fake_kubelet *kubelet,
				   const struct fake_resource *resource,
				   const struct fake_entry *entry)
{
	struct fake_admission *admission = &kubelet->admission;

	if (!resource->healthy)
		return refuse(admission, "cannot allocate unregistered device %s", resource->name);
	if (!set_count(resource->healthy))
		return refuse(admission,
			      "no healthy devices present; cannot allocate unhealthy devices %s",
			      resource->name);
	autoset *sick = set_minus(entry ? entry->ids : NULL, resource->healthy);
	if (set_count(sick))
		return refuse(admission,
			      "previously allocated devices are no longer healthy; cannot allocate "
			      "unhealthy devices %s",
			      resource->name);
	return GO_ON;
}

static enum outcome call_allocate(struct fake_kubelet *kubelet);
static enum outcome call_preferred(struct fake_kubelet *kubelet, const struct map *over);
static enum outcome fill(struct fake_kubelet *kubelet, const struct map *preferred);

static enum outcome choose(struct fake_kubelet *kubelet, struct fake_resource *resource)
{
	struct fake_admission *admission = &kubelet->admission;

	admission->taken = set_new();
	if (take_from(kubelet, reusable(admission, resource->name)))
		return call_allocate(kubelet);
	admission->available = set_minus(resource->healthy, resource->allocated);
	if (set_count(admission->available) < admission->needed)
		return refuse(admission,
			      "requested number of devices unavailable for %s. Requested: %zu, "
			      "Available: %zu",
			      resource->name, admission->needed, set_count(admission->available));
	filter(kubelet, resource);
	admission->over_aligned = admission->needed < set_count(admission->aligned);
	if (!admission->over_aligned && take_from(kubelet, admission->aligned))
		return call_allocate(kubelet);
	return call_preferred(kubelet,
			      admission->over_aligned ? admission->aligned : admission->available);
}

static enum outcome start_request(struct fake_kubelet *kubelet)
{
	struct fake_admission *admission = &kubelet->admission;
	const struct fake_request *request = request_of(admission);
	struct fake_resource *resource = fake_resource(kubelet, request->resource, false);

	/* Nobody ever listed it: the Pod starts without. */
	if (!resource || (!resource->healthy && !resource->allocated))
		return GO_ON;
	if (!admission->collected)
		fake_kubelet_collect(kubelet);
	admission->collected = true;
	const struct fake_entry *entry = fake_entry(
		kubelet, admission->pod->uid, container_of(admission)->name, request->resource);
	if (entry && set_count(entry->ids) != request->count)
		return refuse(admission,
			      "pod \"%s\" container \"%s\" changed request for resource \"%s\" "
			      "from %zu to %zu",
			      admission->pod->uid, entry->container, entry->resource,
			      set_count(entry->ids), request->count);
	if (!kubelet->sources_ready && admission->pod->runs)
		return GO_ON;
	enum outcome checked = check_resource(kubelet, resource, entry);
	if (checked != GO_ON || entry || !request->count)
		return checked;
	admission->needed = request->count;
	return choose(kubelet, resource);
}

/* --- questions to the plugin --- */

static void take_message(const void *message, size_t size, void *user)
{
	struct fake_kubelet *kubelet = user;
	struct kubelet_bytes *bytes = &kubelet->admission.bytes;

	kubelet_bytes_release(bytes);
	bytes->data = malloc(size + 1);
	if (!bytes->data)
		abort();
	if (size)
		memcpy(bytes->data, message, size);
	bytes->size = size;
}

static enum outcome ask(struct fake_kubelet *kubelet, const char *path,
			const struct kubelet_bytes *bytes,
			void (*on_end)(enum grpc_status, const char *, void *))
{
	struct fake_admission *admission = &kubelet->admission;
	const struct fake_resource *resource =
		fake_resource(kubelet, request_of(admission)->resource, true);
	const struct grpc_request request = { .path = path,
					      .message = bytes->data,
					      .size = bytes->size,
					      .on_message = take_message,
					      .on_end = on_end,
					      .user = kubelet };

	/* Go prints the endpoint's structure there. */
	if (!resource->endpoint || resource->stop_ms)
		return refuse(admission, "endpoint of %s has been stopped", resource->name);
	kubelet_bytes_release(&admission->bytes);
	admission->asked = resource->endpoint;
	admission->on_end = on_end;
	if (!resource->endpoint->grpc ||
	    grpc_client_call(resource->endpoint->grpc, &request, &admission->stream, NULL) < 0)
		return refuse(admission,
			      "rpc error: code = Unavailable desc = the connection is closed");
	return WAITS;
}

static void finish(struct fake_kubelet *kubelet, enum outcome outcome);

/* code: as Go prints it, "FailedPrecondition". */
static const char *go_name(enum grpc_status status)
{
	static const char *const names[] = { "OK",
					     "Canceled",
					     "Unknown",
					     "InvalidArgument",
					     "DeadlineExceeded",
					     "NotFound",
					     "AlreadyExists",
					     "PermissionDenied",
					     "ResourceExhausted",
					     "FailedPrecondition",
					     "Aborted",
					     "OutOfRange",
					     "Unimplemented",
					     "Internal",
					     "Unavailable",
					     "DataLoss",
					     "Unauthenticated" };

	return (size_t)status < ARRAY_SIZE(names) ? names[status] : "Unknown";
}

static void log_question(struct fake_kubelet *kubelet, const struct map *over, size_t size)
{
	struct fake_admission *admission = &kubelet->admission;
	autostrbuf text = STRBUF_INIT(sizeof(admission->log) - 1);

	strbuf_addf(&text, "GetPreferredAllocation %s %zu of ", request_of(admission)->resource,
		    size);
	set_print(over, &text);
	strbuf_adds(&text, " must ");
	set_print(admission->taken, &text);
	snprintf(admission->log, sizeof(admission->log), "%s", text.data);
}

static void preferred_ended(enum grpc_status status, const char *text, void *user)
{
	cleanup(string_list_release) struct string_list ids = { .items = NULL };
	struct fake_kubelet *kubelet = user;
	struct fake_admission *admission = &kubelet->admission;
	autostrbuf shown = STRBUF_INIT(1 << 20);
	autoset *preferred = set_new();

	admission->stream = NULL;
	if (status != GRPC_OK) {
		fake_log(kubelet, "%s -> error %s", admission->log, text);
		finish(kubelet, refuse(admission,
				       "device plugin GetPreferredAllocation rpc failed with err: "
				       "rpc error: "
				       "code = %s desc = %s",
				       go_name(status), text));
		return;
	}
	/* No answer for the one container is an empty one. */
	if (kubelet_unpack_preferred(admission->bytes.data, admission->bytes.size, &ids, NULL) == 0)
		for (size_t i = 0; i < ids.count; i++)
			set_add(preferred, ids.items[i]);
	set_print(preferred, &shown);
	fake_log(kubelet, "%s -> %s", admission->log, shown.data);
	finish(kubelet, fill(kubelet, preferred));
}

/* A scenario's "short available set": so many of OVER, and what was taken. */
static struct map *offer(struct fake_kubelet *kubelet, const struct map *over)
{
	cleanup(string_list_release) struct string_list ids = { .items = NULL };
	struct map *offered = set_copy(kubelet->admission.taken);
	size_t most = kubelet->knobs.most_available;

	set_to_list(over, &ids);
	shuffle(kubelet, &ids);
	for (size_t i = 0; i < ids.count && (!most || i < most); i++)
		set_add(offered, ids.items[i]);
	return offered;
}

static enum outcome call_preferred(struct fake_kubelet *kubelet, const struct map *over)
{
	cleanup(kubelet_preference_release) struct kubelet_preference question = { .size = 0 };
	cleanup(kubelet_bytes_release) struct kubelet_bytes bytes = { .data = NULL };
	struct fake_admission *admission = &kubelet->admission;
	const struct fake_resource *resource =
		fake_resource(kubelet, request_of(admission)->resource, true);

	if (!resource->has_endpoint)
		return refuse(admission,
			      "endpoint not found in cache for a registered resource: %s",
			      resource->name);
	if (!resource->endpoint || !resource->endpoint->options.preferred_available)
		return fill(kubelet, NULL);
	autoset *offered = offer(kubelet, over);
	set_to_list(offered, &question.available);
	shuffle(kubelet, &question.available);
	set_to_list(admission->taken, &question.must_include);
	question.size = (unsigned)request_of(admission)->count;
	if (kubelet_pack_preference(&question, &bytes, NULL) < 0)
		abort();
	log_question(kubelet, offered, question.size);
	return ask(kubelet, "/v1beta1.DevicePlugin/GetPreferredAllocation", &bytes,
		   preferred_ended);
}

/* What the plugin preferred, where it may be had, then anything. */
static enum outcome fill(struct fake_kubelet *kubelet, const struct map *preferred)
{
	struct fake_admission *admission = &kubelet->admission;
	const struct map *over =
		admission->over_aligned ? admission->aligned : admission->available;
	autoset *others = set_minus(over, preferred);
	autoset *wanted = set_minus(over, others);

	if (preferred && take_from(kubelet, wanted))
		return call_allocate(kubelet);
	if (admission->over_aligned ? take_from(kubelet, admission->aligned)
				    : take_from(kubelet, admission->unaligned) ||
					      take_from(kubelet, admission->without))
		return call_allocate(kubelet);
	return refuse(
		admission,
		"unexpectedly allocated less resources than required. Requested: %zu, Got: %zu",
		request_of(admission)->count, set_count(admission->taken));
}

/* --- Allocate --- */

/* 1.34 and later look at the device without asking whether it is there: the process ends. */
static bool crashes(struct fake_kubelet *kubelet, const struct fake_resource *resource)
{
	const char *id;
	void *value;

	for (size_t at = 0; map_next(kubelet->admission.taken, &at, &id, &value);) {
		if (resource->by_id && map_get(resource->by_id, id))
			continue;
		fake_log(kubelet, "panic: %s of %s is in no list any more", id, resource->name);
		return true;
	}
	return false;
}

static enum outcome take_answer(struct fake_kubelet *kubelet, struct fake_resource *resource)
{
	cleanup(kubelet_answer_release) struct kubelet_answer answer = { .envs = NULL };
	cleanup(kubelet_bytes_release) struct kubelet_bytes bytes = { .data = NULL };
	struct fake_admission *admission = &kubelet->admission;
	const char *container = container_of(admission)->name;
	struct error error = ERROR_INIT;

	if (kubelet_unpack_allocated(admission->bytes.data, admission->bytes.size, &answer,
				     &error) < 0)
		return refuse(admission, "no containers return in allocation response %s",
			      error.message);
	if (kubelet_pack_answer(&answer, &bytes, NULL) < 0)
		abort();
	fake_entry_add(&kubelet->entries, admission->pod->uid, container, resource->name,
		       admission->taken, bytes.data, bytes.size);
	fake_entry_add(&admission->pod->granted, admission->pod->uid, container, resource->name,
		       admission->taken, bytes.data, bytes.size);
	return GO_ON;
}

static void allocate_ended(enum grpc_status status, const char *text, void *user)
{
	struct fake_kubelet *kubelet = user;
	struct fake_admission *admission = &kubelet->admission;
	struct fake_resource *resource =
		fake_resource(kubelet, request_of(admission)->resource, true);

	admission->stream = NULL;
	if (status != GRPC_OK) {
		fake_log(kubelet, "%s -> error %s", admission->log, text);
		fake_restore_allocated(kubelet);
		finish(kubelet,
		       refuse(admission, "rpc error: code = %s desc = %s", go_name(status), text));
		return;
	}
	fake_log(kubelet, "%s -> ok", admission->log);
	if (crashes(kubelet, resource)) {
		fake_kubelet_kill(kubelet);
		return;
	}
	finish(kubelet, take_answer(kubelet, resource));
}

/* A Pod ends while the plugin is asked, and somebody calls List: kubernetes/kubernetes#137534. */
static void list_now(struct fake_kubelet *kubelet)
{
	for (const struct fake_pod *pod = kubelet->pods; pod; pod = pod->next) {
		if (strncmp(pod->name, "dying", 5) == 0 && pod->state == FAKE_POD_RUNNING) {
			fake_kubelet_end_pod(kubelet, pod->name);
			break;
		}
	}
	fake_kubelet_collect(kubelet);
}

static enum outcome call_allocate(struct fake_kubelet *kubelet)
{
	cleanup(kubelet_bytes_release) struct kubelet_bytes bytes = { .data = NULL };
	cleanup(string_list_release) struct string_list ids = { .items = NULL };
	struct fake_admission *admission = &kubelet->admission;
	const struct fake_resource *resource =
		fake_resource(kubelet, request_of(admission)->resource, true);
	autostrbuf line = STRBUF_INIT(sizeof(admission->log) - 1);

	admission->wrote = true;
	strbuf_addf(&line, "Allocate %s ", resource->name);
	set_print(admission->taken, &line);
	snprintf(admission->log, sizeof(admission->log), "%s", line.data);
	if (!resource->has_endpoint) {
		fake_restore_allocated(kubelet);
		return refuse(admission, "unknown Device Plugin %s", resource->name);
	}
	set_to_list(admission->taken, &ids);
	shuffle(kubelet, &ids);
	if (kubelet_pack_allocate(&ids, &bytes, NULL) < 0)
		abort();
	enum outcome outcome =
		ask(kubelet, "/v1beta1.DevicePlugin/Allocate", &bytes, allocate_ended);
	if (outcome == REFUSED)
		fake_restore_allocated(kubelet);
	if (kubelet->knobs.list_in_allocate)
		list_now(kubelet);
	return outcome;
}

/* --- Pods --- */

/* What an ordinary init container has is offered to the next ones; a sidecar keeps its own. */
static void container_done(struct fake_kubelet *kubelet)
{
	struct fake_admission *admission = &kubelet->admission;
	const struct fake_container *container = container_of(admission);

	for (const struct fake_entry *entry = kubelet->entries; entry; entry = entry->next) {
		const char *id;
		void *value;

		if (strcmp(entry->uid, admission->pod->uid) != 0 ||
		    strcmp(entry->container, container->name) != 0)
			continue;
		struct map *set = reusable(admission, entry->resource);
		for (size_t at = 0; map_next(entry->ids, &at, &id, &value);) {
			if (container->kind == FAKE_INIT)
				set_add(set, id);
			else
				map_remove(set, id);
		}
	}
	if (admission->wrote)
		fake_write_checkpoint(kubelet);
	admission->collected = admission->wrote = false;
	admission->container++;
	admission->request = 0;
}

/* The client was closed under a call that runs. */
void fake_admission_cancel(struct fake_kubelet *kubelet, const struct fake_client *client)
{
	struct fake_admission *admission = &kubelet->admission;

	if (!admission->stream || admission->asked != client)
		return;
	admission->stream = NULL;
	admission->on_end(GRPC_CANCELLED, "grpc: the client connection is closing", kubelet);
}

void fake_admission_end(struct fake_kubelet *kubelet)
{
	struct fake_admission *admission = &kubelet->admission;

	grpc_stream_cancel(admission->stream);
	forget_sets(admission);
	for (size_t i = 0; i < admission->reusable_count; i++)
		map_free(admission->reusable[i]);
	if (admission->pod && admission->pod->dying)
		fake_pod_free(kubelet, admission->pod);
	/* Cut short by the end of the process: containers never started. */
	else if (admission->pod && admission->pod->state == FAKE_POD_WAITING)
		fake_entries_free(&admission->pod->granted);
	*admission = (struct fake_admission){ .pod = NULL };
}

static void pod_done(struct fake_kubelet *kubelet, bool admitted)
{
	struct fake_pod *pod = kubelet->admission.pod;

	if (admitted) {
		fake_log(kubelet, "admitted %s", pod->name);
		pod->state = FAKE_POD_RUNNING;
		pod->runs = true;
		/* After a reboot containers get the answer that was stored for them. */
		for (const struct fake_entry *entry = pod->granted ? NULL : kubelet->entries; entry;
		     entry = entry->next)
			if (strcmp(entry->uid, pod->uid) == 0)
				fake_entry_add(&pod->granted, pod->uid, entry->container,
					       entry->resource, entry->ids, entry->answer.data,
					       entry->answer.size);
	} else {
		fake_log(kubelet, "rejected %s: %s", pod->name, pod->why);
		pod->state = FAKE_POD_REJECTED;
		pod->known = pod->runs = false;
		fake_entries_free(&pod->granted);
	}
	fake_admission_end(kubelet);
}

/* PreStartContainer, for plugins that asked for it: after admission, before each start. */
static bool start_containers(struct fake_kubelet *kubelet);

static void started(enum grpc_status status, const char *text, void *user)
{
	struct fake_kubelet *kubelet = user;
	struct fake_admission *admission = &kubelet->admission;

	admission->stream = NULL;
	fake_log(kubelet, "%s -> %s%s", admission->log, status == GRPC_OK ? "ok" : "error ",
		 status == GRPC_OK ? "" : text);
	if (!start_containers(kubelet)) {
		pod_done(kubelet, true);
		loop_timer_set(kubelet->work_timer, 0, 0);
	}
}

static bool start_containers(struct fake_kubelet *kubelet)
{
	struct fake_admission *admission = &kubelet->admission;

	for (; admission->start_next; admission->start_next = admission->start_next->next) {
		cleanup(kubelet_bytes_release) struct kubelet_bytes bytes = { .data = NULL };
		cleanup(string_list_release) struct string_list ids = { .items = NULL };
		autostrbuf line = STRBUF_INIT(sizeof(admission->log) - 1);
		const struct fake_entry *entry = admission->start_next;
		const struct fake_resource *resource =
			fake_resource(kubelet, entry->resource, true);

		if (!resource->endpoint || !resource->endpoint->options.pre_start_required)
			continue;
		strbuf_addf(&line, "PreStartContainer %s ", entry->resource);
		set_print(entry->ids, &line);
		snprintf(admission->log, sizeof(admission->log), "%s", line.data);
		set_to_list(entry->ids, &ids);
		if (kubelet_pack_prestart(&ids, &bytes, NULL) < 0)
			abort();
		const struct grpc_request request = {
			.path = "/v1beta1.DevicePlugin/PreStartContainer",
			.message = bytes.data,
			.size = bytes.size,
			.deadline_ms = 30000,
			.on_end = started,
			.user = kubelet,
		};
		if (resource->endpoint->grpc && grpc_client_call(resource->endpoint->grpc, &request,
								 &admission->stream, NULL) == 0) {
			admission->start_next = entry->next;
			return true;
		}
	}
	return false;
}

/* As far as it goes without the plugin's word; true: it waits for it. */
static bool run_admission(struct fake_kubelet *kubelet)
{
	struct fake_admission *admission = &kubelet->admission;

	while (admission->container < admission->pod->container_count) {
		if (admission->request == container_of(admission)->request_count) {
			container_done(kubelet);
			continue;
		}
		enum outcome outcome = start_request(kubelet);
		if (outcome == WAITS)
			return true;
		if (outcome == REFUSED) {
			pod_done(kubelet, false);
			return false;
		}
		forget_sets(admission);
		admission->request++;
	}
	admission->start_next = admission->pod->granted;
	if (start_containers(kubelet))
		return true;
	pod_done(kubelet, true);
	return false;
}

static struct fake_pod *next_pod(struct fake_kubelet *kubelet)
{
	for (struct fake_pod *pod = kubelet->pods; pod; pod = pod->next)
		if (!pod->known &&
		    (pod->state == FAKE_POD_WAITING || pod->state == FAKE_POD_RUNNING))
			return pod;
	return NULL;
}

static void advance(struct fake_kubelet *kubelet)
{
	while (kubelet->runs) {
		struct fake_pod *pod =
			kubelet->admission.pod ? kubelet->admission.pod : next_pod(kubelet);

		if (!pod)
			break;
		if (!kubelet->admission.pod)
			pod->known = true;
		kubelet->admission.pod = pod;
		if (run_admission(kubelet))
			return;
	}
	/* HandlePodAdditions() has had the whole first batch. */
	kubelet->sources_ready = kubelet->runs;
}

/* The plugin answered. */
static void finish(struct fake_kubelet *kubelet, enum outcome outcome)
{
	if (outcome == WAITS)
		return;
	if (outcome == REFUSED) {
		pod_done(kubelet, false);
	} else {
		forget_sets(&kubelet->admission);
		kubelet->admission.request++;
	}
	advance(kubelet);
}

void fake_admit(struct fake_kubelet *kubelet)
{
	/* One that waits for the plugin goes on by itself. */
	if (!kubelet->admission.stream)
		advance(kubelet);
}
