/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for gpupool-nvml and does what its script says. The script is the file that is passed
 * as the driver's library, or "script" in the folder that is passed as --proc; one line an order:
 * ACTION KIND INDEX, or "count N". Without an order it answers as a healthy driver would. Each start
 * adds a byte to the file "<script>.starts". With --events it carries out the orders of KIND "event", one
 * after the other, and then waits to be killed.
 */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "abi/nvml.h"
#include "abi/nvml_record.h"

#define SOCKET     3
#define ORDERS_MAX 32
#define TRACER_S   2
#define LIFE_S     20 /* of a process that nobody can end otherwise */

struct order {
	char action[16], kind[16];
	unsigned index;
};

static struct order orders[ORDERS_MAX];
static size_t order_count;
static unsigned cards = 4;

static void script_read(const char *path)
{
	char line[128];
	FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof(line), file) && order_count < ORDERS_MAX) {
		struct order *order = &orders[order_count];
		char *rest = NULL;
		const char *action = strtok_r(line, " \n", &rest);
		const char *kind = action ? strtok_r(NULL, " \n", &rest) : NULL;
		const char *index = kind ? strtok_r(NULL, " \n", &rest) : NULL;

		if (!kind)
			continue;
		if (strcmp(action, "count") == 0) {
			cards = (unsigned)strtoul(kind, NULL, 10);
			continue;
		}
		(void)snprintf(order->action, sizeof(order->action), "%s", action);
		(void)snprintf(order->kind, sizeof(order->kind), "%s", kind);
		order->index = index ? (unsigned)strtoul(index, NULL, 10) : 0;
		order_count++;
	}
	if (file)
		fclose(file);
}

static void count_start(const char *script)
{
	char path[4096];
	int length = snprintf(path, sizeof(path), "%s.starts", script);
	int fd = length < (int)sizeof(path)
			 ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
			 : -1;

	if (fd < 0 || write(fd, "x", 1) != 1)
		abort();
	close(fd);
}

static const char *const kind_names[RECORD_KIND_MAX] = {
	[RECORD_DRIVER] = "driver",
	[RECORD_COUNT] = "count",
	[RECORD_CARD] = "card",
	[RECORD_HEALTH] = "health",
	[RECORD_PROCESSES] = "processes",
	[RECORD_LINKS] = "links",
	[RECORD_INFORMATION] = "information",
	[RECORD_INSTANCES] = "instances",
	[RECORD_SAMPLE] = "sample",
};

static const char *order_for(const struct record_request *request)
{
	for (size_t i = 0; i < order_count; i++)
		if (strcmp(orders[i].kind, kind_names[request->kind]) == 0 &&
		    orders[i].index == request->index)
			return orders[i].action;
	return "";
}

static void answer_card(const struct record_request *request, struct record_answer *answer)
{
	struct record_card *card = &answer->card;
	unsigned i = request->index;

	(void)snprintf(card->uuid, sizeof(card->uuid), "GPU-00000000-0000-0000-0000-%012x", i);
	(void)snprintf(card->name, sizeof(card->name), "NVIDIA Test %u", i);
	(void)snprintf(card->bus_id, sizeof(card->bus_id), "00000000:%02X:00.0", i + 1);
	card->total_bytes = 80ull << 30;
	card->used_bytes = 1ull << 30;
	card->minor = i;
	card->compute_major = 8;
	card->has = RECORD_HAS_COMPUTE | RECORD_HAS_MINOR | RECORD_HAS_MIG | RECORD_HAS_BRAND;
	card->brand = NVML_BRAND_NVIDIA;
	card->mig_enabled = strcmp(order_for(request), "mig") == 0;
}

/* Two MIG devices, with a gap between their numbers. */
static void answer_instances(const struct record_request *request, struct record_answer *answer)
{
	struct record_instances *list = &answer->instances;

	for (list->count = 0; list->count < 2; list->count++) {
		struct record_instance *instance = &list->instances[list->count];

		(void)snprintf(instance->uuid, sizeof(instance->uuid),
			       "MIG-00000000-0000-0000-0000-%011x%x", request->index, list->count);
		(void)snprintf(instance->name, sizeof(instance->name), "NVIDIA Test %u MIG 1g.10gb",
			       request->index);
		instance->index = list->count * 2;
		instance->gpu_instance = 7 + list->count;
		instance->compute_instance = 0;
	}
	if (strcmp(order_for(request), "twice") == 0)
		list->instances[1] = list->instances[0];
	else if (strcmp(order_for(request), "nameless") == 0)
		memset(list->instances[1].uuid, 'M', sizeof(list->instances[1].uuid));
	else if (strcmp(order_for(request), "far") == 0)
		list->instances[1].gpu_instance = 1u << 20;
	else if (strcmp(order_for(request), "many") == 0)
		list->count = UINT32_MAX;
}

static void answer_links(const struct record_request *request, struct record_answer *answer)
{
	struct record_links *links = &answer->links;
	unsigned peer = request->index ^ 1;

	/* Two lanes to the other of the pair, one to a switch. */
	for (unsigned i = 0; i < 3; i++) {
		struct record_lane *lane = &links->lanes[links->lane_count++];

		lane->remote = i < 2 ? RECORD_REMOTE_CARD : RECORD_REMOTE_SWITCH;
		(void)snprintf(lane->bus_id, sizeof(lane->bus_id), "00000000:%02X:00.0",
			       i < 2 ? peer + 1 : 0xf0);
	}
	for (unsigned i = 0; i < RECORD_CARDS_MAX; i++)
		links->levels[i] =
			i < cards && i != request->index && !(request->skip >> i & 1) ? 30 : -1;
}

static void answer_processes(const struct record_request *request, struct record_answer *answer)
{
	struct record_processes *list = &answer->processes;

	list->total = RECORD_CHUNK + 2;
	for (uint32_t i = request->first; i < list->total && list->count < RECORD_CHUNK; i++) {
		struct record_process *process = &list->processes[list->count++];

		process->pid = 1000000 + i;
		process->used_bytes = 10ull << 20;
		(void)snprintf(process->name, sizeof(process->name), "python%u", i);
	}
}

static const char *proc; /* of --proc */

static void answer_information(const struct record_request *request, struct record_answer *answer)
{
	char path[4096];
	int length = snprintf(path, sizeof(path), "%s/gpus/%s/information", proc ? proc : "",
			      request->address);
	int fd = length < (int)sizeof(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0 || read(fd, answer->information.text, sizeof(answer->information.text) - 1) < 0)
		answer->status = RECORD_BAD_REQUEST;
	if (fd >= 0)
		close(fd);
}

static void answer_well(const struct record_request *request, struct record_answer *answer)
{
	if (request->kind == RECORD_DRIVER) {
		(void)snprintf(answer->driver.driver_version, sizeof(answer->driver.driver_version),
			       "535.104.05");
		(void)snprintf(answer->driver.nvml_version, sizeof(answer->driver.nvml_version),
			       "12.535.104.05");
		answer->driver.cuda_version = 12020;
	} else if (request->kind == RECORD_COUNT) {
		answer->count.count = cards;
	} else if (request->kind == RECORD_CARD) {
		answer_card(request, answer);
	} else if (request->kind == RECORD_LINKS) {
		answer_links(request, answer);
	} else if (request->kind == RECORD_PROCESSES) {
		answer_processes(request, answer);
	} else if (request->kind == RECORD_INSTANCES) {
		answer_instances(request, answer);
	} else if (request->kind == RECORD_SAMPLE) {
		answer->sample.has = 1ull << RECORD_VALUE_GPU_TEMP;
		answer->sample.values[RECORD_VALUE_GPU_TEMP] = 40 + request->index;
	} else if (request->kind == RECORD_INFORMATION) {
		answer_information(request, answer);
	}
}

static void hang(unsigned seconds)
{
	alarm(seconds);
	for (;;)
		pause();
}

/* A child that SIGKILL ends but nobody may reap: its tracer alone is told, and does not listen. */
static void stick(void)
{
	int ready[2];
	char byte;
	pid_t self = getpid();

	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (pipe2(ready, O_CLOEXEC) < 0)
		abort();
	if (fork() == 0) {
		(void)close(SOCKET);
		if (ptrace(PTRACE_SEIZE, self, NULL, NULL) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		hang(TRACER_S);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		abort();
	hang(LIFE_S);
}

static void answer_send(const struct record_answer *answer, size_t size)
{
	if (send(SOCKET, answer, size, MSG_NOSIGNAL) < 0)
		_exit(1);
}

static void act_short(struct record_answer *answer)
{
	answer_send(answer, 64);
}

static void act_sequence(struct record_answer *answer)
{
	answer->sequence += 7;
	answer_send(answer, sizeof(*answer));
}

static void act_version(struct record_answer *answer)
{
	answer->version++;
	answer_send(answer, sizeof(*answer));
}

static void act_status(struct record_answer *answer)
{
	answer->status = 77;
	answer_send(answer, sizeof(*answer));
}

static void act_flood(struct record_answer *answer)
{
	for (int i = 0; i < 64; i++)
		if (send(SOCKET, answer, sizeof(*answer), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			return;
}

static void act_late(struct record_answer *answer)
{
	struct timespec wait = { 0, 100000000 }; /* 0.1 s: the slow driver that is tested */

	nanosleep(&wait, NULL);
	answer_send(answer, sizeof(*answer));
}

/* Every byte of the answer that is not its header. */
static void act_garbage(struct record_answer *answer)
{
	memset((char *)answer + offsetof(struct record_answer, message), 0xfe,
	       sizeof(*answer) - offsetof(struct record_answer, message));
	answer_send(answer, sizeof(*answer));
}

static void act_twin(struct record_answer *answer)
{
	answer->card.uuid[strlen(answer->card.uuid) - 1] = '0';
	answer_send(answer, sizeof(*answer));
}

static void act_lost(struct record_answer *answer)
{
	answer->status = RECORD_NVML_ERROR;
	answer->nvml = 15;
	(void)snprintf(answer->message, sizeof(answer->message), "GPU is lost");
	answer_send(answer, sizeof(*answer));
}

static void act_ecc(struct record_answer *answer)
{
	answer->health.double_bit = 3;
	answer_send(answer, sizeof(*answer));
}

static void act_die(struct record_answer *answer)
{
	const struct sigaction plain = { .sa_handler = SIG_DFL };

	(void)answer;
	sigaction(SIGSEGV, &plain, NULL); /* a sanitizer would catch it */
	raise(SIGSEGV);
}

static void act_exit(struct record_answer *answer)
{
	(void)answer;
	_exit(9);
}

static void act_hang(struct record_answer *answer)
{
	(void)answer;
	hang(LIFE_S);
}

static void act_stick(struct record_answer *answer)
{
	(void)answer;
	stick();
}

/* How to add a wickedness: one function and one row. */
static const struct action {
	const char *name;
	void (*act)(struct record_answer *answer);
} actions[] = {
	{ "short", act_short },     { "sequence", act_sequence }, { "version", act_version },
	{ "status", act_status },   { "flood", act_flood },       { "late", act_late },
	{ "garbage", act_garbage }, { "twin", act_twin },         { "lost", act_lost },
	{ "ecc", act_ecc },         { "die", act_die },           { "exit", act_exit },
	{ "hang", act_hang },       { "stick", act_stick },
};

static void event_send(const struct record_event *event, size_t size)
{
	if (send(SOCKET, event, size, MSG_NOSIGNAL) < 0)
		_exit(1);
}

static void event_well(const char *name, unsigned index)
{
	struct record_event event = { .magic = RECORD_MAGIC,
				      .version = RECORD_VERSION,
				      .kind = RECORD_EVENT_XID,
				      .index = index,
				      .gpu_instance = 7,
				      .compute_instance = RECORD_INSTANCE_NONE,
				      .data = 79,
				      .time_ms = 1700000000123 };

	(void)snprintf(event.uuid, sizeof(event.uuid), "GPU-00000000-0000-0000-0000-%012x", index);
	(void)snprintf(event.bus_id, sizeof(event.bus_id), "00000000:%02X:00.0", index + 1);
	if (strcmp(name, "ready") == 0) {
		event.kind = RECORD_EVENT_READY;
		event.count = index;
	} else if (strcmp(name, "end") == 0) {
		event.kind = RECORD_EVENT_END;
		(void)snprintf(event.message, sizeof(event.message), "Unknown Error");
	} else if (strcmp(name, "slow") == 0) {
		event.dropped = 5;
	} else if (strcmp(name, "version") == 0) {
		event.version++;
	} else if (strcmp(name, "kind") == 0) {
		event.kind = RECORD_EVENT_MAX;
	} else if (strcmp(name, "garbage") == 0) {
		memset(event.uuid, 'G', sizeof(event.uuid));
		memset(event.bus_id, 0xfe, sizeof(event.bus_id));
		memset(event.message, 0xfe, sizeof(event.message));
		event.index = UINT32_MAX - 1;
	}
	event_send(&event, strcmp(name, "short") == 0 ? 64 : sizeof(event));
}

static void events_run(void)
{
	for (size_t i = 0; i < order_count; i++) {
		const char *name = orders[i].action;

		if (strcmp(orders[i].kind, "event") != 0)
			continue;
		if (strcmp(name, "die") == 0)
			act_die(NULL);
		else if (strcmp(name, "exit") == 0)
			_exit(9);
		else if (strcmp(name, "stick") == 0)
			stick();
		else
			event_well(name, orders[i].index);
	}
	hang(LIFE_S);
}

static void answer_one(const struct record_request *request)
{
	struct record_answer answer = { .magic = RECORD_MAGIC,
					.version = RECORD_VERSION,
					.kind = request->kind,
					.sequence = request->sequence,
					.index = request->index };
	const char *name = order_for(request);

	answer_well(request, &answer);
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(actions[i].name, name) == 0) {
			actions[i].act(&answer);
			return;
		}
	answer_send(&answer, sizeof(answer));
}

int main(int argc, char **argv)
{
	char script[4096] = "";
	struct record_request request;

	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], "--library") == 0) {
			(void)snprintf(script, sizeof(script), "%s", argv[i + 1]);
		} else if (strcmp(argv[i], "--proc") == 0) {
			proc = argv[i + 1];
			(void)snprintf(script, sizeof(script), "%s/script", proc);
		}
	if (!script[0])
		return 2;
	script_read(script);
	count_start(script);
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--events") == 0)
			events_run();
	while (recv(SOCKET, &request, sizeof(request), 0) == (ssize_t)sizeof(request))
		if (request.kind > 0 && request.kind < RECORD_KIND_MAX && kind_names[request.kind])
			answer_one(&request);
		else
			return 0;
	return 0;
}
