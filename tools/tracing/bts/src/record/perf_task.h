/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tasks of perf's records: names, processes, mappings.
 *
 * Included by: record/.
 */
#ifndef BTS_PERF_TASK_H
#define BTS_PERF_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf_rows.h"

/* A mapping: the row, with the path after it, @size bytes in all. */
struct perf_map {
	struct perf_map	*next;
	size_t		size;
	struct made_map	row;
};

/**
 * struct perf_task - a task
 * @pid:	its process
 * @goes_on:	where in user space, when it gets a CPU; 0: that is not known
 * @ends_at:	the same, when it ends
 * @told:	a row of the trace has said which process it belongs to
 * @maps:	of a process, whose PID is the task's: oldest first
 */
struct perf_task {
	struct perf_task	*next;
	int			tid, pid;
	char			comm[NAME_LENGTH];
	uint64_t		goes_on;
	uint64_t		ends_at;
	bool			told;
	struct perf_map		*maps;
};

/* NULL if there is none. */
struct perf_task *perf_task_find(const struct perf_rows *rows, int tid);
/* Made if there is none. */
struct perf_task *perf_task_get(struct perf_rows *rows, int pid, int tid);
void perf_task_fork(struct perf_rows *rows, int pid, int tid, int ppid, int ptid);
void perf_task_named(struct perf_rows *rows, int pid, int tid, const char *comm, size_t room,
		     bool exec);
void perf_task_end(struct perf_rows *rows, int tid);
/* Adds it to the process's. */
struct perf_map *perf_task_map(struct perf_rows *rows, const struct made_map *row,
			       const char *path, size_t length);
/* What /proc says of a process. */
void perf_task_read(struct perf_rows *rows, int pid);

#endif
