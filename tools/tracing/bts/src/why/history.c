// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the system calls of one or two traces.
 *
 * The event raw_syscalls:sys_exit reports the number and the result of a system call, after the
 * kernel's function for the system call has returned. Therefore, the event belongs to the last
 * complete call tree of the task.
 *
 * If a signal interrupts a system call, the result is an internal error number like ERESTARTSYS.
 * The kernel then decides whether the system call is restarted or fails with EINTR. When the signal
 * handler ends, rt_sigreturn restores the registers and erases the system call's number, so the
 * event of rt_sigreturn reports -1 as the number. If the interrupted system call fails, the event
 * of rt_sigreturn reports EINTR as the result.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "history.h"

/* The kernel's internal error numbers 512 to 516 do not mean failure, but request a restart. */
#define RESTART_MIN	512
#define RESTART_MAX	516
#define ERROR_MAX	4095

static long field(const char *text, const char *name)
{
	const char *found = strstr(text, name);

	return found ? strtol(found + strlen(name), NULL, 0) : -1;
}

static bool is_restart(long result)
{
	return -result >= RESTART_MIN && -result <= RESTART_MAX;
}

/* A signal handler has ended. If @result is -EINTR, store it in the interrupted system call. */
static void end_handler(struct history *h, const struct task *task, unsigned int run, long result)
{
	for (size_t i = h->nr; i && result == -EINTR; i--) {
		struct system_call *call = &h->list[i - 1];

		if (call->pid == task->pid && call->run == run && is_restart(call->result)) {
			call->result = result;
			return;
		}
	}
}

static void add_call(struct grown *g, struct track *t, struct task *task, const char *text)
{
	static const char event[] = "sys_exit:";
	struct history *h = g->ctx;
	struct system_call *call;

	if (strncmp(text, event, strlen(event)))
		return;
	h->events++;
	if (field(text, " id=") < 0) {
		end_handler(h, task, g - h->run, field(text, " ret="));
		t->call = 0;
	}
	if (!t->call)
		return;
	if (h->nr == h->room) {
		h->room = 2 * h->room + 64;
		h->list = mem_realloc(h->list, h->room, sizeof(*h->list));
	}
	call = &h->list[h->nr++];
	*call = (struct system_call) {
		.pid = task->pid, .number = field(text, " id="), .result = field(text, " ret="),
		.node = t->call, .run = g - h->run,
	};
	memcpy(call->comm, task->comm, sizeof(call->comm));
	t->call = 0;
}

int history_read(struct history *h, char *const paths[2], const struct options *options)
{
	int status = STATUS_OK;

	h->forest.kernel = true;
	for (h->nr_runs = 0; h->nr_runs < 2 && paths[h->nr_runs]; h->nr_runs++) {
		struct grown *g = &h->run[h->nr_runs];

		g->path = paths[h->nr_runs];
		g->forest = &h->forest;
		g->event = add_call;
		g->ctx = h;
		status |= grow(g, options);
		if (!g->open)
			return STATUS_FAILURE;
	}
	return status;
}

bool has_failed(const struct system_call *call)
{
	long error = -call->result;

	return error > 0 && error <= ERROR_MAX && !is_restart(call->result);
}

void system_call_name(char *buffer, size_t size, const struct history *h,
		      const struct system_call *call)
{
	const struct node *n = node_of(&h->forest, call->node);
	const char *name = h->forest.functions[n->key].sym->linked;
	const char *begin = strstr(name, "_sys_");

	snprintf(buffer, size, "%s", begin ? begin + strlen("_sys_") : name);
}

static bool is_wanted(const struct history *h, const struct system_call *call, int error,
		      const char *name)
{
	char own[256];

	system_call_name(own, sizeof(own), h, call);
	return !call->run && has_failed(call) && (!error || call->result == -error) &&
	       (!name || !strcmp(own, name));
}

const struct system_call *history_failure(const struct history *h, int error, const char *name)
{
	for (size_t i = h->nr; i; i--)
		if (is_wanted(h, &h->list[i - 1], error, name))
			return &h->list[i - 1];
	return NULL;
}

size_t history_failures(const struct history *h)
{
	size_t nr = 0;

	for (size_t i = 0; i < h->nr; i++)
		nr += is_wanted(h, &h->list[i], 0, NULL);
	return nr;
}

int history_free(struct history *h)
{
	int status = STATUS_OK;

	for (unsigned int i = 0; i < 2; i++)
		status |= grown_free(&h->run[i]);
	free(h->list);
	forest_free(&h->forest);
	return status;
}
