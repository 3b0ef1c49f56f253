/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loop.h"

#include <errno.h>
#include <stddef.h>
#include <uv.h>

struct loop {
	uv_loop_t uv;
};

/*
 * Every object begins with its libuv handle and is freed once libuv has let go of that: a handle must outlive
 * uv_close() by a turn of the loop.
 */
struct loop_timer {
	uv_timer_t uv;
	void (*function)(void *user);
	void *user;
};

struct loop_poll {
	uv_poll_t uv;
	void (*function)(void *user, unsigned events);
	void *user;
};

struct loop_signal {
	uv_signal_t uv;
	void (*function)(void *user, int number);
	void *user;
};

struct loop_work {
	uv_work_t uv;
	void (*run)(void *user);
	void (*done)(void *user);
	void *user;
};

static void handle_freed(uv_handle_t *handle)
{
	free(handle);
}

static void handle_close(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, handle_freed);
}

int loop_new(struct loop **ret, struct error *error)
{
	struct loop *loop = malloc(sizeof(*loop));

	if (!loop)
		return error_no_memory(error);
	int r = uv_loop_init(&loop->uv);
	if (r < 0) {
		free(loop);
		return error_set_errno(error, -r, "cannot make an event loop");
	}
	*ret = loop;
	return 0;
}

static void close_left(uv_handle_t *handle, void *unused)
{
	(void)unused;
	handle_close(handle);
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	/* Turn by turn: done() of work may start another timer. */
	do
		uv_walk(&loop->uv, close_left, NULL);
	while (uv_run(&loop->uv, UV_RUN_ONCE));
	uv_loop_close(&loop->uv);
	free(loop);
}

void loop_run(struct loop *loop)
{
	uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void loop_turn(struct loop *loop)
{
	uv_run(&loop->uv, UV_RUN_NOWAIT);
}

void loop_stop(struct loop *loop)
{
	uv_stop(&loop->uv);
}

uint64_t loop_now_ms(const struct loop *loop)
{
	(void)loop;
	return uv_hrtime() / 1000000;
}

static void timer_ran_out(uv_timer_t *uv)
{
	struct loop_timer *timer = (struct loop_timer *)uv;

	timer->function(timer->user);
}

int loop_timer_start(struct loop *loop, uint64_t delay_ms, uint64_t repeat_ms,
		     void (*function)(void *user), void *user, struct loop_timer **ret,
		     struct error *error)
{
	struct loop_timer *timer = calloc(1, sizeof(*timer));

	if (!timer)
		return error_no_memory(error);
	timer->function = function;
	timer->user = user;
	uv_timer_init(&loop->uv, &timer->uv);
	loop_timer_set(timer, delay_ms, repeat_ms);
	*ret = timer;
	return 0;
}

void loop_timer_set(struct loop_timer *timer, uint64_t delay_ms, uint64_t repeat_ms)
{
	if (uv_is_closing((uv_handle_t *)&timer->uv))
		return;
	uv_timer_stop(&timer->uv);
	if (delay_ms == LOOP_NEVER)
		return;
	/* libuv counts from the start of this turn; a callback that took long would make it run out early. */
	uv_update_time(timer->uv.loop);
	uv_timer_start(&timer->uv, timer_ran_out, delay_ms, repeat_ms);
}

void loop_timer_stop(struct loop_timer *timer)
{
	if (timer)
		handle_close((uv_handle_t *)&timer->uv);
}

static void poll_ready(uv_poll_t *uv, int status, int events)
{
	struct loop_poll *poll = (struct loop_poll *)uv;
	unsigned ready = 0;

	/* On an error libuv has stopped the handle. */
	if (status < 0)
		ready = LOOP_READ | LOOP_WRITE;
	if (events & (UV_READABLE | UV_DISCONNECT))
		ready |= LOOP_READ;
	if (events & UV_WRITABLE)
		ready |= LOOP_WRITE;
	poll->function(poll->user, ready);
}

static int uv_events(unsigned events)
{
	return (events & LOOP_READ ? UV_READABLE : 0) | (events & LOOP_WRITE ? UV_WRITABLE : 0);
}

int loop_poll_start(struct loop *loop, int fd, unsigned events,
		    void (*function)(void *user, unsigned events), void *user,
		    struct loop_poll **ret, struct error *error)
{
	struct loop_poll *poll = calloc(1, sizeof(*poll));

	if (!poll)
		return error_no_memory(error);
	poll->function = function;
	poll->user = user;
	int r = uv_poll_init(&loop->uv, &poll->uv, fd);
	if (r < 0) {
		free(poll);
		return error_set_errno(error, -r, "cannot wait for descriptor %d", fd);
	}
	loop_poll_set(poll, events);
	*ret = poll;
	return 0;
}

void loop_poll_set(struct loop_poll *poll, unsigned events)
{
	if (uv_is_closing((uv_handle_t *)&poll->uv))
		return;
	/* Neither can fail: the descriptor was taken by uv_poll_init(). */
	if (events)
		uv_poll_start(&poll->uv, uv_events(events), poll_ready);
	else
		uv_poll_stop(&poll->uv);
}

void loop_poll_stop(struct loop_poll *poll)
{
	if (poll)
		handle_close((uv_handle_t *)&poll->uv);
}

static void signal_came(uv_signal_t *uv, int number)
{
	struct loop_signal *signal = (struct loop_signal *)uv;

	signal->function(signal->user, number);
}

int loop_signal_start(struct loop *loop, int number, void (*function)(void *user, int number),
		      void *user, struct loop_signal **ret, struct error *error)
{
	struct loop_signal *signal = calloc(1, sizeof(*signal));

	if (!signal)
		return error_no_memory(error);
	signal->function = function;
	signal->user = user;
	int r = uv_signal_init(&loop->uv, &signal->uv);
	if (r < 0) {
		free(signal);
		return error_set_errno(error, -r, "cannot wait for signals");
	}
	r = uv_signal_start(&signal->uv, signal_came, number);
	if (r < 0) {
		loop_signal_stop(signal);
		return error_set_errno(error, -r, "cannot wait for signal %d", number);
	}
	*ret = signal;
	return 0;
}

void loop_signal_stop(struct loop_signal *signal)
{
	if (signal)
		handle_close((uv_handle_t *)&signal->uv);
}

static void work_run(uv_work_t *uv)
{
	struct loop_work *work = (struct loop_work *)uv;

	work->run(work->user);
}

static void work_done(uv_work_t *uv, int status)
{
	struct loop_work *work = (struct loop_work *)uv;

	(void)status; /* nobody cancels it */
	work->done(work->user);
	free(work);
}

int loop_work_start(struct loop *loop, void (*run)(void *user), void (*done)(void *user),
		    void *user, struct error *error)
{
	struct loop_work *work = calloc(1, sizeof(*work));

	if (!work)
		return error_no_memory(error);
	work->run = run;
	work->done = done;
	work->user = user;
	int r = uv_queue_work(&loop->uv, &work->uv, work_run, work_done);
	if (r < 0) {
		free(work);
		return error_set_errno(error, -r, "cannot start work in a thread");
	}
	return 0;
}
