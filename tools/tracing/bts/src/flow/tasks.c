// SPDX-License-Identifier: GPL-2.0-only
/*
 * Derive the names, processes and address spaces of tasks from the rows of the trace.
 *
 * Each bts_departs, bts_arrives and bts_map row contains the PID of the task's process. For a
 * thread without such rows, choose a process whose mappings contain the thread's addresses. A
 * bts_departs or bts_arrives row also contains the name of the task. Until the first such row, the
 * task has the name that it had at the end of the recording.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/cpus.h"
#include "lib/mem.h"
#include "private.h"

/* The maximum number of nested signal handlers. */
#define NESTED_MAX	64

static int compare_comms(const void *left, const void *right)
{
	const struct comm *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* Each line of saved_cmdlines is "PID NAME". */
void comms_read(struct pipe_private *v)
{
	char *copy, *save = NULL;

	if (!v->dat->cmdlines.text)
		return;
	copy = mem_strdup(v->dat->cmdlines.text);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *name = strchr(line, ' ');
		struct comm *c;

		if (!name)
			continue;
		if (!(v->nr_comms & (v->nr_comms - 1)))
			v->comms = mem_realloc(v->comms, v->nr_comms ? 2 * v->nr_comms : 1,
					       sizeof(*c));
		c = &v->comms[v->nr_comms++];
		*c = (struct comm) { .pid = strtol(line, NULL, 10) };
		snprintf(c->name, sizeof(c->name), "%s", name + 1);
	}
	free(copy);
	if (v->nr_comms)
		qsort(v->comms, v->nr_comms, sizeof(*v->comms), compare_comms);
}

static const char *comm_of(const struct pipe_private *v, int pid)
{
	struct comm key = { .pid = pid }, *found = NULL;

	if (v->nr_comms)
		found = bsearch(&key, v->comms, v->nr_comms, sizeof(key), compare_comms);
	return found ? found->name : "<...>";
}

static void first_name(const struct pipe_private *v, struct task *t, int cpu)
{
	if (t->pid)
		snprintf(t->comm, sizeof(t->comm), "%s", comm_of(v, t->pid));
	else
		snprintf(t->comm, sizeof(t->comm), "swapper/%d", cpu);
}

struct task *task_get(struct pipe_private *v, int pid, int cpu)
{
	struct task **bucket = &v->buckets[(unsigned int)pid % TASK_BUCKETS], *t;

	for (t = *bucket; t; t = t->hash_next)
		if (t->pid == pid && (pid || t->idle_cpu == cpu))
			return t;
	t = mem_zalloc(1, sizeof(*t));
	t->pid = pid;
	t->tgid = pid;
	t->cpu = -1;
	t->idle_cpu = pid ? 0 : cpu;
	t->loss_seq = v->loss_seq;
	first_name(v, t, cpu);
	t->chosen = options_want_task(v->pipe->options, t);
	t->hash_next = *bucket;
	*bucket = t;
	t->list_next = v->pipe->tasks;
	v->pipe->tasks = t;
	return t;
}

void tasks_more_cpus(struct pipe_private *v, size_t nr)
{
	if (nr <= v->nr_cpus || nr > CPUS_MAX)
		return;
	v->cpu_lost = mem_realloc(v->cpu_lost, nr, sizeof(*v->cpu_lost));
	v->cpu_pid = mem_realloc(v->cpu_pid, nr, sizeof(*v->cpu_pid));
	for (; v->nr_cpus < nr; v->nr_cpus++) {
		v->cpu_lost[v->nr_cpus] = 0;
		v->cpu_pid[v->nr_cpus] = -1;
	}
}

void task_is_on(struct pipe_private *v, struct task *t, int cpu)
{
	if (cpu < 0 || cpu >= CPUS_MAX)
		return;
	tasks_more_cpus(v, cpu + 1);
	if (v->cpu_pid[cpu] != t->pid) {
		if (v->cpu_pid[cpu] != -1 || t->cpu != -1) {
			v->pipe->bill.switches += t->chosen;
			t->switches++;
		}
		v->cpu_pid[cpu] = t->pid;
	}
	if (t->cpu == -1)
		t->cpu = cpu;
}

void task_named(struct pipe_private *v, struct task *t, const char *comm)
{
	if (!strncmp(t->comm, comm, sizeof(t->comm)))
		return;
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	t->chosen = options_want_task(v->pipe->options, t);
}

void task_of(struct pipe_private *v, struct task *t, int tgid)
{
	struct space *space;

	if (t->tgid_known && t->tgid == tgid)
		return;
	t->tgid = tgid;
	t->tgid_known = true;
	space = space_get(&v->spaces, tgid);
	if (space != t->space) {
		t->space = space;
		t->step = NULL;
	}
}

/* If the task's process is unknown, choose a process that maps the task's addresses. */
void task_find_space(struct pipe_private *v, struct task *t, const struct branch *b)
{
	uint64_t from = is_kernel(b->from) ? b->to : b->from;
	uint64_t to = is_kernel(b->to) ? b->from : b->to;
	struct space *space;

	if (t->tgid_known)
		return;
	if (t->space && space_find(t->space, from) && space_find(t->space, to))
		return;
	space = space_guess(&v->spaces, from, to);
	if (space) {
		t->space = space;
		t->tgid = space->tgid;
	}
}

void task_interrupt(struct task *t, uint64_t at)
{
	if (!t->interrupted)
		t->interrupted = mem_alloc(NESTED_MAX * sizeof(*t->interrupted));
	if (t->nr_interrupted == NESTED_MAX) {
		t->nr_interrupted--;
		memmove(t->interrupted, t->interrupted + 1,
			t->nr_interrupted * sizeof(*t->interrupted));
	}
	t->interrupted[t->nr_interrupted++] = at;
}

void tasks_free(struct pipe_private *v)
{
	struct task *next;

	for (struct task *t = v->pipe->tasks; t; t = next) {
		next = t->list_next;
		free(t->interrupted);
		free(t);
	}
	free(v->comms);
	free(v->cpu_lost);
	free(v->cpu_pid);
}
