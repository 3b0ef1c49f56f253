/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet/pod_resources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/wire.h"

#define LIST_PATH   "/v1.PodResourcesLister/List"
#define STATUS_PATH "/runtime.v1.RuntimeService/Status"

#define DEADLINE_MS        1000
#define STATUS_DEADLINE_MS 2000

/*
 * The kubelet gives 100 calls a second, 10 at once, to all clients together (pkg/kubelet/apis/
 * podresources/constants.go). We take a fifth of it, and nothing for a second after a refusal.
 */
#define TOKENS_MAX      5
#define TOKENS_A_SECOND 20
#define HELD_OFF_MS     1000

struct pod_resources {
	struct loop *loop;
	char *path;
	struct grpc_client *client;
	struct question *questions;
	unsigned tokens;
	uint64_t filled_ms, held_until_ms;
};

struct question {
	struct pod_resources *client;
	struct question *next;
	bool answered;
	int r; /* of the answer's message */
	struct error error;
	struct kubelet_holdings holdings;
	pod_resources_fn *fn;
	void *user;
};

int pod_resources_new(struct loop *loop, const char *socket_path, struct pod_resources **ret,
		      struct error *error)
{
	struct pod_resources *client = calloc(1, sizeof(*client));

	if (client)
		client->path = strdup(socket_path);
	if (!client || !client->path) {
		free(client);
		return error_no_memory(error);
	}
	client->loop = loop;
	client->tokens = TOKENS_MAX;
	client->filled_ms = loop_now_ms(loop);
	*ret = client;
	return 0;
}

static void question_free(struct question *question)
{
	kubelet_holdings_release(&question->holdings);
	free(question);
}

void pod_resources_free(struct pod_resources *client)
{
	if (!client)
		return;
	grpc_client_free(client->client);
	while (client->questions) {
		struct question *question = client->questions;

		client->questions = question->next;
		question_free(question);
	}
	free(client->path);
	free(client);
}

/* --- answers --- */

static void take_message(const void *message, size_t size, void *user)
{
	struct question *question = user;

	question->answered = true;
	kubelet_holdings_release(&question->holdings);
	question->r = kubelet_unpack_holdings(message, size, &question->holdings, &question->error);
}

/* How to add a status: its number, and what it means for the caller. */
static const struct {
	enum grpc_status status;
	int number;
} meanings[] = {
	{ GRPC_RESOURCE_EXHAUSTED, EBUSY },
	{ GRPC_DEADLINE_EXCEEDED, ETIMEDOUT },
};

static int meaning(enum grpc_status status)
{
	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++)
		if (meanings[i].status == status)
			return meanings[i].number;
	return EIO;
}

static void judge(struct question *question, enum grpc_status status, const char *text)
{
	if (status != GRPC_OK) {
		question->r = error_set(&question->error, meaning(status),
					"pod-resources of the kubelet: %s: %s",
					grpc_status_to_string(status), text);
		if (question->r == -EBUSY)
			question->client->held_until_ms =
				loop_now_ms(question->client->loop) + HELD_OFF_MS;
	} else if (!question->answered) {
		question->r = error_set(&question->error, EBADMSG,
					"pod-resources of the kubelet answered without an answer");
	}
}

static void end_question(enum grpc_status status, const char *text, void *user)
{
	struct question *question = user;
	struct pod_resources *client = question->client;

	for (struct question **at = &client->questions; *at; at = &(*at)->next) {
		if (*at == question) {
			*at = question->next;
			break;
		}
	}
	judge(question, status, text);
	bool good = question->r == 0;
	/* The client may be freed in here; the question is out of its list. */
	question->fn(good ? &question->holdings : NULL, good ? NULL : &question->error,
		     question->user);
	question_free(question);
}

/* --- questions --- */

static bool take_token(struct pod_resources *client)
{
	uint64_t now = loop_now_ms(client->loop);
	uint64_t more = (now - client->filled_ms) * TOKENS_A_SECOND / 1000;

	if (more) {
		client->tokens = more + client->tokens < TOKENS_MAX
					 ? (unsigned)more + client->tokens
					 : TOKENS_MAX;
		client->filled_ms = now;
	}
	if (!client->tokens || now < client->held_until_ms)
		return false;
	client->tokens--;
	return true;
}

static int connect_client(struct pod_resources *client, struct error *error)
{
	const struct grpc_client_options options = { .socket_path = client->path,
						     .message = KUBELET_POD_RESOURCES_MAX };

	if (client->client && grpc_client_usable(client->client))
		return 0;
	/* Questions that run on the old connection have been ended by its loss. */
	if (client->questions)
		return error_set(error, EBUSY,
				 "the connection to %s is ending; ask again in a moment",
				 client->path);
	grpc_client_free(TAKE_PTR(client->client));
	return grpc_client_connect(client->loop, &options, &client->client, error);
}

int pod_resources_list(struct pod_resources *client, pod_resources_fn *fn, void *user,
		       struct error *error)
{
	if (!take_token(client))
		return error_set(
			error, EBUSY,
			"the kubelet takes few questions a second about Pods; ask again later");
	int r = connect_client(client, error);
	if (r < 0)
		return r;
	struct question *question = calloc(1, sizeof(*question));
	if (!question)
		return error_no_memory(error);
	*question = (struct question){
		.client = client, .fn = fn, .user = user, .next = client->questions
	};
	const struct grpc_request request = { .path = LIST_PATH,
					      .deadline_ms = DEADLINE_MS,
					      .on_message = take_message,
					      .on_end = end_question,
					      .user = question };
	r = grpc_client_call(client->client, &request, NULL, error);
	if (r < 0)
		question_free(question);
	else
		client->questions = question;
	return r;
}

/* --- the runtime's status --- */

struct status_question {
	struct grpc_client *client;
	struct kubelet_runtime_status status;
	struct error error;
	bool answered;
	int r;
	kubelet_status_fn *fn;
	void *user;
};

static void take_status(const void *message, size_t size, void *user)
{
	struct status_question *question = user;

	question->answered = true;
	kubelet_runtime_status_release(&question->status);
	question->r =
		kubelet_unpack_runtime_status(message, size, &question->status, &question->error);
}

static void status_question_free(struct status_question *question)
{
	grpc_client_free(question->client);
	kubelet_runtime_status_release(&question->status);
	free(question);
}

static void end_status(enum grpc_status status, const char *text, void *user)
{
	struct status_question *question = user;

	if (status != GRPC_OK)
		question->r = error_set(&question->error, meaning(status),
					"the container runtime's status: %s: %s",
					grpc_status_to_string(status), text);
	else if (!question->answered)
		question->r = error_set(&question->error, EBADMSG,
					"the container runtime answered without a status");
	bool good = question->r == 0;
	question->fn(good ? &question->status : NULL, good ? NULL : &question->error,
		     question->user);
	status_question_free(question);
}

int kubelet_ask_runtime(struct loop *loop, const char *socket_path, kubelet_status_fn *fn,
			void *user, struct error *error)
{
	cleanup(kubelet_bytes_release) struct kubelet_bytes bytes = { .data = NULL };
	const struct grpc_client_options options = { .socket_path = socket_path,
						     .message = KUBELET_POD_RESOURCES_MAX };
	struct status_question *question = calloc(1, sizeof(*question));

	if (!question)
		return error_no_memory(error);
	question->fn = fn;
	question->user = user;
	int r = kubelet_pack_status_request(true, &bytes, error);
	if (r == 0)
		r = grpc_client_connect(loop, &options, &question->client, error);
	const struct grpc_request request = { .path = STATUS_PATH,
					      .message = bytes.data,
					      .size = bytes.size,
					      .deadline_ms = STATUS_DEADLINE_MS,
					      .on_message = take_status,
					      .on_end = end_status,
					      .user = question };
	if (r == 0)
		r = grpc_client_call(question->client, &request, NULL, error);
	if (r < 0)
		status_question_free(question);
	return r;
}
