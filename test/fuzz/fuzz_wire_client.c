/* SPDX-License-Identifier: Apache-2.0 */
/* Any answer of a server to a gRPC client: each call ends once, and not before its last message. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/grpc_client.h"
#include "wire_peer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct call {
	unsigned ends;
};

static void on_message(const void *message, size_t size, void *user)
{
	struct call *call = user;
	volatile unsigned char byte;

	demand(call->ends == 0 && size <= 1000);
	for (size_t i = 0; i < size; i++)
		byte = ((const unsigned char *)message)[i];
	(void)byte;
}

static void on_end(enum grpc_status status, const char *text, void *user)
{
	struct call *call = user;

	demand((unsigned)status < GRPC_STATUS_COUNT && parse_utf8_valid(text, strlen(text)));
	call->ends++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char settings[] = "\0\0\0\x04\0\0\0\0\0";
	static struct loop *loop;
	const struct grpc_client_options options = { .message = 1000 };
	struct call calls[3] = { { 0 } };
	struct grpc_client *client;
	int fds[2];

	if (size < 1)
		return 0;
	if (!loop)
		demand(loop_new(&loop, NULL) == 0);
	demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	demand(grpc_client_adopt(loop, fds[0], &options, &client, NULL) == 0);
	for (int i = 0; i < 3; i++) {
		const struct grpc_request request = { .path = "/e",
						      .message = "hello",
						      .size = 5,
						      .on_message = on_message,
						      .on_end = on_end,
						      .user = &calls[i] };

		demand(grpc_client_call(client, &request, NULL, NULL) == 0);
	}
	loop_turn(loop);
	if (data[0] & 1)
		feed(loop, fds[1], (const uint8_t *)settings, sizeof(settings) - 1, 100);
	feed(loop, fds[1], data + 1, size - 1, data[0] & 2 ? 65536 : 1 + (data[0] >> 2));
	close(fds[1]);
	for (int i = 0; i < 3; i++)
		loop_turn(loop);
	demand(!grpc_client_usable(client));
	grpc_client_free(client);
	loop_turn(loop);
	for (int i = 0; i < 3; i++)
		demand(calls[i].ends == 1);
	return 0;
}
