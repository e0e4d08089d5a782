// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a function with a large stack.
 *
 * Comparing two call trees needs a large stack, because the comparison recurses once for each level
 * of nested calls. Unused pages of the stack need no memory. The stack is a shared mapping, because
 * ulimit -d counts even the unused pages of private mappings.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "large_stack.h"
#include "msg.h"

#define STACK_SIZE	(1UL << 30)

struct job {
	void	(*function)(void *ctx);
	void	*ctx;
};

static void *run(void *arg)
{
	struct job *job = arg;

	job->function(job->ctx);
	return NULL;
}

/* Return 0 or an errno value. */
static int run_on(void *stack, struct job *job)
{
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK_SIZE);
	error = pthread_create(&thread, &attr, run, job);
	if (!error)
		error = pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	return error;
}

bool on_large_stack(void (*function)(void *ctx), void *ctx)
{
	struct job job = { .function = function, .ctx = ctx };
	void *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	int error = errno;

	if (stack != MAP_FAILED) {
		error = run_on(stack, &job);
		munmap(stack, STACK_SIZE);
		if (!error)
			return true;
	}
	errno = error;
	msg_errno("start", "a thread with a large stack");
	return false;
}
