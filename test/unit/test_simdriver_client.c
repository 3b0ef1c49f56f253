/* SPDX-License-Identifier: Apache-2.0 */
/* The client end of the simulated kernel module, against records that the test writes itself. */
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"
#include "simdriver/client.h"

struct pair {
	struct client client;
	int module; /* the other end */
};

static void pair_init(struct pair *pair)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	pair->client = (struct client)CLIENT_INIT;
	pair->client.socket = ends[0];
	pair->module = ends[1];
}

static void pair_release(struct pair *pair)
{
	client_close(&pair->client);
	close(pair->module);
}

static void module_sends(const struct pair *pair, enum sim_operation operation,
			 enum sim_status status, uint64_t xid)
{
	const struct sim_reply reply = { .magic = SIM_MAGIC,
					 .version = SIM_VERSION,
					 .operation = (uint16_t)operation,
					 .status = status,
					 .event = { .card = 3, .value = xid } };

	assert_int_equal(send(pair->module, &reply, sizeof(reply), 0), sizeof(reply));
}

/* A card is registered after another, and the first may have something to tell meanwhile. */
TEST(an_event_that_comes_before_a_reply_is_told_afterwards)
{
	struct sim_event event;
	struct pair pair;

	pair_init(&pair);
	module_sends(&pair, SIM_EVENT, SIM_OK, 31);
	module_sends(&pair, SIM_EVENT, SIM_OK, 48);
	module_sends(&pair, SIM_SUBSCRIBE, SIM_NO_PERMISSION, 0);
	module_sends(&pair, SIM_EVENT, SIM_OK, 79);
	assert_int_equal(client_subscribe(&pair.client, 1), SIM_NO_PERMISSION);
	for (size_t i = 0; i < 3; i++) {
		static const uint64_t xids[] = { 31, 48, 79 };

		assert_int_equal(client_event(&pair.client, 0, &event), SIM_OK);
		assert_int_equal(event.value, xids[i]);
		assert_int_equal(event.card, 3);
	}
	assert_int_equal(client_event(&pair.client, 0, &event), SIM_TIMEOUT);
	pair_release(&pair);
}

/* As a subscriber loses them who does not read. */
TEST(of_many_events_before_a_reply_the_first_are_told)
{
	struct sim_event event;
	struct pair pair;

	pair_init(&pair);
	for (uint64_t i = 0; i < CLIENT_EARLY_MAX + 2; i++)
		module_sends(&pair, SIM_EVENT, SIM_OK, i);
	module_sends(&pair, SIM_SUBSCRIBE, SIM_OK, 0);
	assert_int_equal(client_subscribe(&pair.client, 1), SIM_OK);
	for (uint64_t i = 0; i < CLIENT_EARLY_MAX; i++) {
		assert_int_equal(client_event(&pair.client, 0, &event), SIM_OK);
		assert_int_equal(event.value, i);
	}
	assert_int_equal(client_event(&pair.client, 0, &event), SIM_TIMEOUT);
	pair_release(&pair);
}

TEST(what_is_no_event_is_none)
{
	struct sim_event event;
	struct pair pair;

	pair_init(&pair);
	module_sends(&pair, SIM_SUBSCRIBE, SIM_OK, 31);
	assert_int_equal(client_event(&pair.client, 0, &event), SIM_NO_DRIVER);
	module_sends(&pair, SIM_FREE, SIM_OK, 31);
	assert_int_equal(client_subscribe(&pair.client, 1), SIM_NO_DRIVER);
	pair_release(&pair);
}
