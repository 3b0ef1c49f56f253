/* SPDX-License-Identifier: Apache-2.0 */
/* The node and the process: start, end, Pods, the node's status, pod-resources. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_internal.h"

/* --- sets --- */

static void must(bool truth)
{
	if (!truth)
		abort();
}

struct map *set_new(void)
{
	struct map *set = map_new();

	must(set != NULL);
	return set;
}

void set_add(struct map *set, const char *id)
{
	must(map_put(set, id, set) == 0);
}

bool set_has(const struct map *set, const char *id)
{
	return set && map_get(set, id);
}

size_t set_count(const struct map *set)
{
	return set ? map_count(set) : 0;
}

void set_add_all(struct map *to, const struct map *from)
{
	const char *id;
	void *value;

	for (size_t at = 0; from && map_next(from, &at, &id, &value);)
		set_add(to, id);
}

struct map *set_copy(const struct map *set)
{
	struct map *copy = set_new();

	set_add_all(copy, set);
	return copy;
}

struct map *set_minus(const struct map *left, const struct map *right)
{
	struct map *rest = set_new();
	const char *id;
	void *value;

	for (size_t at = 0; left && map_next(left, &at, &id, &value);)
		if (!set_has(right, id))
			set_add(rest, id);
	return rest;
}

void set_to_list(const struct map *set, struct string_list *ret)
{
	const char *id;
	void *value;

	for (size_t at = 0; set && map_next(set, &at, &id, &value);)
		must(string_list_add(ret, id) == 0);
}

static int compare_ids(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

void set_print(const struct map *set, struct strbuf *text)
{
	cleanup(string_list_release) struct string_list ids = { .items = NULL };

	set_to_list(set, &ids);
	if (ids.count)
		qsort(ids.items, ids.count, sizeof(*ids.items), compare_ids);
	strbuf_addc(text, '{');
	for (size_t i = 0; i < ids.count; i++)
		strbuf_addf(text, "%s%s", i ? "," : "", ids.items[i]);
	strbuf_addc(text, '}');
}

/* --- small things --- */

uint64_t fake_now(const struct fake_kubelet *kubelet)
{
	return loop_now_ms(kubelet->loop) + kubelet->offset_ms;
}

uint32_t fake_random(struct fake_kubelet *kubelet, uint32_t below)
{
	kubelet->random = kubelet->random * 1664525 + 1013904223;
	return below ? (uint32_t)((uint64_t)(kubelet->random >> 8) * below >> 24) : 0;
}

void fake_log(const struct fake_kubelet *kubelet, const char *format, ...)
{
	autostrbuf line = STRBUF_INIT(8 << 20);
	va_list arguments;

	va_start(arguments, format);
	strbuf_vaddf(&line, format, arguments);
	va_end(arguments);
	if (kubelet->log)
		kubelet->log(line.data, kubelet->user);
}

/* --- the node's status --- */

static void update_status(struct fake_kubelet *kubelet)
{
	for (struct fake_resource *at = kubelet->resources; at; at = at->next) {
		struct fake_counts counts = fake_count(kubelet, at);

		if (!at->in_status && !at->healthy)
			continue;
		if (at->in_status && counts.capacity == at->status.capacity &&
		    counts.allocatable == at->status.allocatable)
			continue;
		at->in_status = true;
		at->status = counts;
		fake_log(kubelet, "node %s capacity %zu allocatable %zu", at->name, counts.capacity,
			 counts.allocatable);
	}
	fake_drop_expired(kubelet);
}

static void status_time(void *user)
{
	struct fake_kubelet *kubelet = user;
	uint64_t now = fake_now(kubelet);

	if (now >= kubelet->next_status_ms) {
		update_status(kubelet);
		kubelet->next_status_ms = now + kubelet->knobs.status_ms;
	}
	loop_timer_set(kubelet->status_timer, kubelet->next_status_ms - now, 0);
}

void fake_kubelet_advance(struct fake_kubelet *kubelet, uint64_t ms)
{
	kubelet->offset_ms += ms;
	if (kubelet->runs)
		status_time(kubelet);
}

struct fake_counts fake_kubelet_counts(const struct fake_kubelet *kubelet, const char *resource,
				       bool now)
{
	for (struct fake_resource *at = kubelet->resources; at; at = at->next)
		if (strcmp(at->name, resource) == 0)
			return now ? fake_count((struct fake_kubelet *)(uintptr_t)kubelet, at)
				   : at->status;
	return (struct fake_counts){ 0, 0 };
}

/* --- pod-resources --- */

static void add_holding(struct kubelet_holdings *holdings, const struct fake_pod *pod,
			const struct fake_entry *entry)
{
	struct kubelet_holding *holding =
		VEC_ADD(&holdings->items, &holdings->count, &holdings->capacity);

	must(holding != NULL);
	holding->pod = strdup(pod->name);
	holding->pod_namespace = strdup("default");
	holding->container = strdup(entry->container);
	holding->resource = strdup(entry->resource);
	set_to_list(entry->ids, &holding->ids);
}

static bool is_shown(const struct fake_pod *pod, const char *container)
{
	for (size_t i = 0; i < pod->container_count; i++)
		if (strcmp(pod->containers[i].name, container) == 0)
			return pod->containers[i].kind != FAKE_INIT;
	return false;
}

static void add_pod_holdings(const struct fake_kubelet *kubelet, const struct fake_pod *pod,
			     struct kubelet_holdings *holdings)
{
	must(string_list_addf(&holdings->pods, "default/%s", pod->name) == 0);
	for (const struct fake_entry *entry = kubelet->entries; entry; entry = entry->next)
		if (strcmp(entry->uid, pod->uid) == 0 && is_shown(pod, entry->container))
			add_holding(holdings, pod, entry);
}

static void handle_list(struct grpc_call *call, const void *message __attribute__((unused)),
			size_t size __attribute__((unused)), void *user)
{
	cleanup(kubelet_holdings_release) struct kubelet_holdings holdings = { .items = NULL };
	cleanup(kubelet_bytes_release) struct kubelet_bytes bytes = { .data = NULL };
	struct fake_kubelet *kubelet = user;
	struct error error = ERROR_INIT;

	if (kubelet->knobs.refuse_questions) {
		grpc_call_finish(call, GRPC_RESOURCE_EXHAUSTED, "rejected by rate limit");
		return;
	}
	fake_kubelet_collect(kubelet);
	for (const struct fake_pod *pod = kubelet->pods; pod; pod = pod->next)
		if (pod->known)
			add_pod_holdings(kubelet, pod, &holdings);
	if (kubelet_pack_holdings(&holdings, &bytes, &error) < 0) {
		grpc_call_finish(call, GRPC_INTERNAL, error.message);
		return;
	}
	grpc_call_send(call, bytes.data, bytes.size, NULL);
	grpc_call_finish(call, GRPC_OK, NULL);
}

static const struct grpc_method resources_methods[] = {
	{ "/v1.PodResourcesLister/List", handle_list, NULL },
	{ NULL, NULL, NULL },
};

/* --- the process --- */

static void work(void *user)
{
	fake_admit(user);
}

int fake_kubelet_new(struct loop *loop, const struct fake_kubelet_options *options,
		     struct fake_kubelet **ret, struct error *error)
{
	struct fake_kubelet *kubelet = calloc(1, sizeof(*kubelet));

	must(kubelet != NULL);
	kubelet->loop = loop;
	kubelet->random = options->seed;
	kubelet->log = options->log;
	kubelet->user = options->user;
	kubelet->knobs = (struct fake_kubelet_knobs){ .dial_ms = 10000,
						      .status_ms = 10000,
						      .grace_ms = 300000 };
	snprintf(kubelet->directory, sizeof(kubelet->directory), "%s", options->directory);
	snprintf(kubelet->pod_resources, sizeof(kubelet->pod_resources), "%s",
		 options->pod_resources ? options->pod_resources : "");
	int r = loop_timer_start(loop, LOOP_NEVER, 0, status_time, kubelet, &kubelet->status_timer,
				 error);
	if (r == 0)
		r = loop_timer_start(loop, LOOP_NEVER, 0, work, kubelet, &kubelet->work_timer,
				     error);
	if (r < 0)
		fake_kubelet_free(kubelet);
	else
		*ret = kubelet;
	return r;
}

struct fake_kubelet_knobs *fake_kubelet_knobs(struct fake_kubelet *kubelet)
{
	return &kubelet->knobs;
}

static void remove_sockets(const struct fake_kubelet *kubelet)
{
	DIR *directory = opendir(kubelet->directory);
	struct stat status;

	must(directory != NULL);
	for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
		if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISSOCK(status.st_mode))
			unlinkat(dirfd(directory), entry->d_name, 0);
	closedir(directory);
}

static int listen_at(struct fake_kubelet *kubelet, const char *path,
		     const struct grpc_method *methods, struct grpc_server **ret,
		     struct error *error)
{
	const struct grpc_server_options options = { .socket_path = path,
						     .methods = methods,
						     .user = kubelet };

	return grpc_server_listen(kubelet->loop, &options, ret, error);
}

int fake_kubelet_start(struct fake_kubelet *kubelet, struct error *error)
{
	char path[FAKE_PATH_MAX + 32];

	fake_read_checkpoint(kubelet);
	remove_sockets(kubelet);
	kubelet->folder = open(kubelet->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (kubelet->folder < 0)
		return error_set_errno(error, errno, "%s", kubelet->directory);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", kubelet->folder, KUBELET_SOCKET_NAME);
	int r = listen_at(kubelet, path, fake_registration_methods, &kubelet->server, error);
	if (r == 0 && *kubelet->pod_resources)
		r = listen_at(kubelet, kubelet->pod_resources, resources_methods,
			      &kubelet->resources_server, error);
	if (r < 0)
		return r;
	kubelet->runs = true;
	kubelet->sources_ready = false;
	for (struct fake_pod *pod = kubelet->pods; pod; pod = pod->next)
		pod->known = false;
	kubelet->admit_at_ms = loop_now_ms(kubelet->loop) + kubelet->knobs.admit_delay_ms;
	kubelet->next_status_ms = fake_now(kubelet) + kubelet->knobs.status_ms;
	loop_timer_set(kubelet->status_timer, kubelet->knobs.status_ms, 0);
	loop_timer_set(kubelet->work_timer, kubelet->knobs.admit_delay_ms, 0);
	return 0;
}

void fake_kubelet_kill(struct fake_kubelet *kubelet)
{
	if (!kubelet->runs)
		return;
	kubelet->runs = false;
	fake_admission_end(kubelet);
	fake_clients_end(kubelet);
	/* A process that ends leaves the name of its socket: the server finds none to remove. */
	close(TAKE_FD(kubelet->folder));
	grpc_server_close(TAKE_PTR(kubelet->server));
	grpc_server_close(TAKE_PTR(kubelet->resources_server));
	fake_entries_free(&kubelet->entries);
	loop_timer_set(kubelet->status_timer, LOOP_NEVER, 0);
	loop_timer_set(kubelet->work_timer, LOOP_NEVER, 0);
}

bool fake_kubelet_runs(const struct fake_kubelet *kubelet)
{
	return kubelet->runs;
}

void fake_kubelet_free(struct fake_kubelet *kubelet)
{
	if (!kubelet)
		return;
	fake_kubelet_kill(kubelet);
	loop_timer_stop(kubelet->status_timer);
	loop_timer_stop(kubelet->work_timer);
	while (kubelet->pods)
		fake_pod_free(kubelet, kubelet->pods);
	fake_resources_free(kubelet);
	free(kubelet);
}

void fake_kubelet_reboot(struct fake_kubelet *kubelet)
{
	for (struct fake_pod *pod = kubelet->pods, *next; pod; pod = next) {
		next = pod->next;
		pod->runs = false;
		fake_entries_free(&pod->granted);
		if (pod->state == FAKE_POD_LINGERS)
			fake_pod_free(kubelet, pod);
	}
}

/* --- Pods --- */

static struct fake_pod *find_pod(const struct fake_kubelet *kubelet, const char *name)
{
	for (struct fake_pod *pod = kubelet->pods; pod; pod = pod->next)
		if (strcmp(pod->name, name) == 0)
			return pod;
	return NULL;
}

void fake_pod_free(struct fake_kubelet *kubelet, struct fake_pod *pod)
{
	for (struct fake_pod **at = &kubelet->pods; *at; at = &(*at)->next) {
		if (*at == pod) {
			*at = pod->next;
			break;
		}
	}
	fake_entries_free(&pod->granted);
	free(pod);
}

enum fake_pod_state fake_kubelet_pod(const struct fake_kubelet *kubelet, const char *name)
{
	const struct fake_pod *pod = find_pod(kubelet, name);

	return pod ? pod->state : FAKE_POD_NONE;
}

const char *fake_kubelet_why(const struct fake_kubelet *kubelet, const char *name)
{
	const struct fake_pod *pod = find_pod(kubelet, name);

	return pod ? pod->why : "";
}

static int take_requests(struct fake_container *container, char *text, struct error *error)
{
	for (char *part; (part = strsep(&text, ",")) != NULL;) {
		char *equals = strchr(part, '=');
		uint64_t count;

		if (!equals || container->request_count == ARRAY_SIZE(container->requests))
			return error_set(error, EINVAL, "'%s' is no RESOURCE=N, or one too many",
					 part);
		*equals = '\0';
		if (parse_uint(equals + 1, 0, 1 << 20, &count) < 0)
			return error_set(error, EINVAL, "'%s' is no number of devices", equals + 1);
		struct fake_request *request = &container->requests[container->request_count++];
		snprintf(request->resource, sizeof(request->resource), "%s", part);
		request->count = (size_t)count;
	}
	return 0;
}

static int take_numa(struct fake_pod *pod, char *text, struct error *error)
{
	for (char *part; (part = strsep(&text, ",")) != NULL;) {
		uint64_t node;

		if (parse_uint(part, 0, 63, &node) < 0)
			return error_set(error, EINVAL, "'%s' is no NUMA node", part);
		pod->numa |= UINT64_C(1) << node;
	}
	return 0;
}

static int take_word(struct fake_pod *pod, char *word, struct error *error)
{
	static const struct {
		const char *prefix;
		enum fake_container_kind kind;
	} kinds[] = { { "init:", FAKE_INIT }, { "sidecar:", FAKE_SIDECAR }, { "", FAKE_MAIN } };
	size_t i = 0;

	if (strncmp(word, "numa=", 5) == 0)
		return take_numa(pod, word + 5, error);
	while (strncmp(word, kinds[i].prefix, strlen(kinds[i].prefix)) != 0)
		i++;
	word += strlen(kinds[i].prefix);
	char *colon = strchr(word, ':');
	if (pod->container_count == ARRAY_SIZE(pod->containers))
		return error_set(error, EINVAL, "more containers than this fake takes");
	struct fake_container *container = &pod->containers[pod->container_count++];
	container->kind = kinds[i].kind;
	if (colon)
		*colon = '\0';
	snprintf(container->name, sizeof(container->name), "%s", word);
	return colon ? take_requests(container, colon + 1, error) : 0;
}

/* Init containers come first, whatever the order of the words. */
static void order_containers(struct fake_pod *pod)
{
	struct fake_container ordered[ARRAY_SIZE(pod->containers)];
	size_t count = 0;

	for (int mains = 0; mains < 2; mains++)
		for (size_t i = 0; i < pod->container_count; i++)
			if ((pod->containers[i].kind == FAKE_MAIN) == mains)
				ordered[count++] = pod->containers[i];
	memcpy(pod->containers, ordered, count * sizeof(*ordered));
}

int fake_kubelet_add_pod(struct fake_kubelet *kubelet, const char *name, const char *text,
			 struct error *error)
{
	autofree char *copy = strdup(text);
	autofree struct fake_pod *pod = calloc(1, sizeof(*pod));
	struct fake_pod **end = &kubelet->pods;

	must(copy && pod);
	if (find_pod(kubelet, name))
		return error_set(error, EEXIST, "Pod %s is there already", name);
	snprintf(pod->name, sizeof(pod->name), "%s", name);
	snprintf(pod->uid, sizeof(pod->uid), "%08x-0000-4000-8000-000000000000",
		 ++kubelet->pod_number);
	pod->state = FAKE_POD_WAITING;
	char *rest = copy;
	for (char *word; (word = strsep(&rest, " ")) != NULL;) {
		int r = *word ? take_word(pod, word, error) : 0;
		if (r < 0)
			return r;
	}
	order_containers(pod);
	while (*end)
		end = &(*end)->next;
	*end = TAKE_PTR(pod);
	if (kubelet->runs && loop_now_ms(kubelet->loop) >= kubelet->admit_at_ms)
		loop_timer_set(kubelet->work_timer, 0, 0);
	return 0;
}

bool fake_kubelet_idle(const struct fake_kubelet *kubelet)
{
	for (const struct fake_pod *pod = kubelet->pods; pod; pod = pod->next)
		if (pod->state == FAKE_POD_WAITING ||
		    (pod->state == FAKE_POD_RUNNING && !pod->known))
			return false;
	return true;
}

void fake_kubelet_end_pod(struct fake_kubelet *kubelet, const char *name)
{
	struct fake_pod *pod = find_pod(kubelet, name);

	if (!pod)
		return;
	pod->known = pod->runs = false;
	if (kubelet->admission.pod == pod)
		pod->dying = true;
	else
		fake_pod_free(kubelet, pod);
}

void fake_kubelet_force_delete(struct fake_kubelet *kubelet, const char *name)
{
	struct fake_pod *pod = find_pod(kubelet, name);

	if (!pod || pod->state != FAKE_POD_RUNNING || kubelet->admission.pod == pod) {
		fake_kubelet_end_pod(kubelet, name);
		return;
	}
	pod->state = FAKE_POD_LINGERS;
	pod->known = false;
}

const struct kubelet_bytes *fake_kubelet_answer(const struct fake_kubelet *kubelet, const char *pod,
						const char *container, const char *resource)
{
	const struct fake_pod *found = find_pod(kubelet, pod);

	for (struct fake_entry *entry = found ? found->granted : NULL; entry; entry = entry->next)
		if (strcmp(entry->container, container) == 0 &&
		    strcmp(entry->resource, resource) == 0)
			return &entry->answer;
	return NULL;
}

int fake_kubelet_holders(const struct fake_kubelet *kubelet, struct kubelet_holdings *ret)
{
	for (const struct fake_pod *pod = kubelet->pods; pod; pod = pod->next) {
		if (!pod->runs)
			continue;
		must(string_list_addf(&ret->pods, "default/%s", pod->name) == 0);
		for (const struct fake_entry *entry = pod->granted; entry; entry = entry->next)
			add_holding(ret, pod, entry);
	}
	for (size_t i = 0; i < ret->count; i++)
		qsort(ret->items[i].ids.items, ret->items[i].ids.count, sizeof(char *),
		      compare_ids);
	return 0;
}
