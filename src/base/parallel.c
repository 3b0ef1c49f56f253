/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#define THREADS_MAX 256

struct parallel {
	pthread_mutex_t lock; /* of all below */
	size_t next, count;
	int result; /* of the first failure */
	struct error *error;
	int (*work)(void *context, size_t index, struct error *error);
	void *context;
};

/* False when there is nothing more to do. */
static bool take_index(struct parallel *parallel, size_t *ret)
{
	pthread_mutex_lock(&parallel->lock);
	bool more = parallel->result == 0 && parallel->next < parallel->count;
	if (more)
		*ret = parallel->next++;
	pthread_mutex_unlock(&parallel->lock);
	return more;
}

static void *worker(void *data)
{
	struct parallel *parallel = data;
	size_t index = 0;

	while (take_index(parallel, &index)) {
		struct error error = ERROR_INIT;

		int r = parallel->work(parallel->context, index, &error);
		if (r >= 0)
			continue;
		pthread_mutex_lock(&parallel->lock);
		if (parallel->result == 0) {
			parallel->result = r;
			if (parallel->error)
				*parallel->error = error;
		}
		pthread_mutex_unlock(&parallel->lock);
	}
	return NULL;
}

int parallel_run(size_t count, unsigned jobs,
		 int (*work)(void *context, size_t index, struct error *error), void *context,
		 struct error *error)
{
	struct parallel parallel = { .lock = PTHREAD_MUTEX_INITIALIZER,
				     .count = count,
				     .error = error,
				     .work = work,
				     .context = context };
	pthread_t threads[THREADS_MAX];
	unsigned started = 0;

	while (started + 1 < jobs && started + 1 < count && started < THREADS_MAX)
		if (pthread_create(&threads[started], NULL, worker, &parallel) == 0)
			started++;
		else
			jobs = 0;
	worker(&parallel);
	while (started)
		pthread_join(threads[--started], NULL);
	pthread_mutex_destroy(&parallel.lock);
	return parallel.result;
}

unsigned parallel_cores(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	int count = CPU_COUNT(&set);
	return count > 0 ? (unsigned)count : 1;
}
