/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

/* A test that waits for what does not come ends here, not with the runner's patience. */
#define PATIENCE_MS 20000

struct world {
	struct loop *loop;
	struct loop_timer *patience;
	unsigned calls, events;
	struct loop_timer *timer;
	struct loop_poll *poll;
	struct loop_signal *signal;
	int fds[2];
	int status;
	pthread_t thread;
};

static void out_of_patience(void *user)
{
	struct world *world = user;

	loop_stop(world->loop);
	fail_msg("waited %d ms in vain", PATIENCE_MS);
}

static void world_start(struct world *world)
{
	struct error error = ERROR_INIT;

	*world = (struct world){ .fds = { -1, -1 } };
	assert_int_equal(loop_new(&world->loop, &error), 0);
	assert_int_equal(loop_timer_start(world->loop, PATIENCE_MS, 0, out_of_patience, world,
					  &world->patience, &error),
			 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, world->fds), 0);
}

static void world_end(struct world *world)
{
	loop_free(world->loop);
	close(world->fds[0]);
	close(world->fds[1]);
}

static void count_to_three(void *user)
{
	struct world *world = user;

	if (++world->calls == 3)
		loop_stop(world->loop);
}

TEST(a_timer_repeats)
{
	struct world world;

	world_start(&world);
	uint64_t start = loop_now_ms(world.loop);
	assert_int_equal(
		loop_timer_start(world.loop, 20, 15, count_to_three, &world, &world.timer, NULL),
		0);
	loop_run(world.loop);
	assert_int_equal(world.calls, 3);
	assert_true(loop_now_ms(world.loop) - start >= 50);
	world_end(&world); /* with the timer running */
}

static void stop_own_timer(void *user)
{
	struct world *world = user;

	world->calls++;
	loop_timer_stop(world->timer);
	loop_stop(world->loop);
}

TEST(a_timer_is_stopped_in_its_own_callback)
{
	struct world world;

	world_start(&world);
	assert_int_equal(
		loop_timer_start(world.loop, 0, 1, stop_own_timer, &world, &world.timer, NULL), 0);
	loop_run(world.loop);
	loop_turn(world.loop);
	assert_int_equal(world.calls, 1);
	world_end(&world);
}

/* The loop's own idea of now is old after a long callback; a timer must not run out early for it. */
static void start_late(void *user)
{
	struct world *world = user;

	if (world->calls++) {
		loop_stop(world->loop);
		return;
	}
	uint64_t start = loop_now_ms(world->loop);
	while (loop_now_ms(world->loop) - start < 60)
		;
	loop_timer_set(world->timer, 50, 0);
	world->events = (unsigned)loop_now_ms(world->loop);
}

TEST(a_timer_counts_from_where_it_is_set)
{
	struct world world;

	world_start(&world);
	assert_int_equal(
		loop_timer_start(world.loop, LOOP_NEVER, 0, start_late, &world, &world.timer, NULL),
		0);
	loop_turn(world.loop);
	assert_int_equal(world.calls, 0);
	loop_timer_set(world.timer, 0, 0);
	loop_run(world.loop);
	assert_int_equal(world.calls, 2);
	assert_true((unsigned)loop_now_ms(world.loop) - world.events >= 50);
	loop_timer_set(world.timer, 0, 1);
	loop_timer_set(world.timer, LOOP_NEVER, 1);
	loop_turn(world.loop);
	assert_int_equal(world.calls, 2);
	loop_timer_stop(NULL);
	world_end(&world);
}

static void note_events(void *user, unsigned events)
{
	struct world *world = user;

	world->calls++;
	world->events = events;
	loop_stop(world->loop);
}

TEST(readiness)
{
	char byte = 'x';
	struct world world;

	world_start(&world);
	assert_int_equal(loop_poll_start(world.loop, world.fds[0], LOOP_READ, note_events, &world,
					 &world.poll, NULL),
			 0);
	loop_turn(world.loop);
	assert_int_equal(world.calls, 0);
	assert_int_equal(write(world.fds[1], &byte, 1), 1);
	loop_run(world.loop);
	assert_int_equal(world.events, LOOP_READ);
	loop_poll_set(world.poll, LOOP_READ | LOOP_WRITE);
	loop_run(world.loop);
	assert_int_equal(world.events, LOOP_READ | LOOP_WRITE);
	loop_poll_set(world.poll, 0);
	world.calls = 0;
	loop_turn(world.loop);
	assert_int_equal(world.calls, 0);
	loop_poll_stop(world.poll);
	loop_poll_stop(NULL);
	assert_int_equal(read(world.fds[0], &byte, 1), 1); /* the descriptor is still ours */
	world_end(&world);
}

TEST(a_hang_up_is_something_to_read)
{
	char byte;
	struct world world;

	world_start(&world);
	assert_int_equal(loop_poll_start(world.loop, world.fds[0], LOOP_READ, note_events, &world,
					 &world.poll, NULL),
			 0);
	close(world.fds[1]);
	loop_run(world.loop);
	assert_true(world.events & LOOP_READ);
	assert_int_equal(read(world.fds[0], &byte, 1), 0);
	loop_poll_stop(world.poll);
	world.fds[1] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	world_end(&world);
}

TEST(what_cannot_be_waited_for_is_refused)
{
	struct error error = ERROR_INIT;
	struct world world;

	world_start(&world);
	assert_int_equal(loop_poll_start(world.loop, -1, LOOP_READ, note_events, &world,
					 &world.poll, &error),
			 -EBADF);
	assert_string_equal(error.message, "cannot wait for descriptor -1: Bad file descriptor");
	world_end(&world);
}

static void note_signal(void *user, int number)
{
	struct world *world = user;

	world->status = number;
	loop_signal_stop(world->signal);
	loop_stop(world->loop);
}

TEST(a_signal)
{
	struct error error = ERROR_INIT;
	struct world world;

	world_start(&world);
	assert_int_equal(
		loop_signal_start(world.loop, SIGUSR1, note_signal, &world, &world.signal, &error),
		0);
	kill(getpid(), SIGUSR1);
	loop_run(world.loop);
	assert_int_equal(world.status, SIGUSR1);
	assert_int_equal(
		loop_signal_start(world.loop, SIGKILL, note_signal, &world, &world.signal, &error),
		-EINVAL);
	assert_string_equal(error.message, "cannot wait for signal 9: Invalid argument");
	world_end(&world);
}

static void work(void *user)
{
	struct world *world = user;

	world->thread = pthread_self();
}

static void work_is_done(void *user)
{
	struct world *world = user;

	world->calls++;
	assert_false(pthread_equal(world->thread, pthread_self()));
	loop_stop(world->loop);
}

TEST(work_runs_in_a_thread)
{
	struct world world;

	world_start(&world);
	assert_int_equal(loop_work_start(world.loop, work, work_is_done, &world, NULL), 0);
	loop_run(world.loop);
	assert_int_equal(world.calls, 1);
	assert_int_equal(loop_work_start(world.loop, work, work_is_done, &world, NULL), 0);
	world_end(&world); /* waits for it */
	assert_int_equal(world.calls, 2);
}

static void another_timer(void *user)
{
	struct world *world = user;

	assert_int_equal(
		loop_timer_start(world->loop, 100000, 0, another_timer, world, &world->timer, NULL),
		0);
}

TEST(the_end_of_work_may_start_more)
{
	struct world world;

	world_start(&world);
	assert_int_equal(loop_work_start(world.loop, work, another_timer, &world, NULL), 0);
	world_end(&world);
}

static int everything(struct world *world, struct error *error)
{
	struct loop_poll *poll = NULL;

	int r = loop_new(&world->loop, error);
	if (r == 0)
		r = loop_timer_start(world->loop, 1, 0, another_timer, world, &world->timer, error);
	if (r == 0)
		r = loop_poll_start(world->loop, world->fds[0], LOOP_READ, note_events, world,
				    &poll, error);
	if (r == 0)
		r = loop_signal_start(world->loop, SIGUSR2, note_signal, world, &world->signal,
				      error);
	return r;
}

TEST(every_allocation_fails_once)
{
	for (unsigned n = 0;; n++) {
		struct world world = { .fds = { -1, -1 } };
		struct error error = ERROR_INIT;

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, world.fds), 0);
		fault_arm(n);
		int r = everything(&world, &error);
		bool hit = fault_disarm();
		world_end(&world);
		if (!hit) {
			assert_int_equal(r, 0);
			assert_int_equal(n, 4);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}
