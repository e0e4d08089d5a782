/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keep the name, process and mappings of each task that appears in perf's records.
 *
 * Included by: record/.
 */
#ifndef BTS_PERF_TASK_H
#define BTS_PERF_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf_rows.h"

/* A row that describes a mapping. @size includes the path at the end of the row. */
struct perf_map {
	struct perf_map	*next;
	size_t		size;
	struct made_map	row;
};

/**
 * struct perf_task - a task
 * @goes_on:	the user address at which the task will continue, or 0 if unknown
 * @ends_at:	the task's instruction pointer in user space when the task ends, or 0 if unknown
 * @told:	whether a row of the trace already contains this task's @tid and @pid
 * @maps:	the process's mappings, oldest first, if the task is the leader
 * @others:	the number of other known threads of the process, if the task is the leader
 * @ended:	the leader has ended before other threads of the process
 */
struct perf_task {
	struct perf_task	*next;
	int			tid, pid;
	char			comm[NAME_LENGTH];
	uint64_t		goes_on;
	uint64_t		ends_at;
	bool			told;
	struct perf_map		*maps;
	unsigned int		others;
	bool			ended;
};

/* Return the task, or NULL if the task is unknown. */
struct perf_task *perf_task_find(const struct perf_rows *rows, int tid);
/* Return the task. Add the task if it is unknown. */
struct perf_task *perf_task_get(struct perf_rows *rows, int pid, int tid);
void perf_task_fork(struct perf_rows *rows, int pid, int tid, int ppid, int ptid);
void perf_task_named(struct perf_rows *rows, int pid, int tid, const char *comm, size_t room,
		     bool exec);
/* Forget a task. The mappings of a process stay until all of its threads have ended. */
void perf_task_end(struct perf_rows *rows, int tid);
/* Add the mapping @row, with the path @path, to the process @row->tgid. */
struct perf_map *perf_task_map(struct perf_rows *rows, const struct made_map *row,
			       const char *path, size_t length);
/* Read the mappings of a process and the names of its threads from /proc. */
void perf_task_read(struct perf_rows *rows, int pid);

#endif
