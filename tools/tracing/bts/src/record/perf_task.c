// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep the name, process and mappings of each task that appears in perf's records. A child process
 * inherits its parent's mappings. bts copies these mappings, because perf writes no records for
 * them. An exec() removes the process's mappings.
 */
#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "lib/mem.h"
#include "lib/path.h"
#include "perf_task.h"

#define BUCKETS	1024

void perf_rows_init(struct perf_rows *rows)
{
	*rows = (struct perf_rows) {};
	rows->buckets = mem_zalloc(BUCKETS, sizeof(*rows->buckets));
}

static void free_maps(struct perf_task *t)
{
	struct perf_map *next;

	for (struct perf_map *map = t->maps; map; map = next) {
		next = map->next;
		free(map);
	}
	t->maps = NULL;
}

static struct perf_task **bucket(const struct perf_rows *rows, int tid)
{
	return &rows->buckets[(unsigned int)tid % BUCKETS];
}

static void remove_task(struct perf_rows *rows, struct perf_task *t)
{
	struct perf_task **at = bucket(rows, t->tid);

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	free_maps(t);
	free(t);
}

void perf_task_end(struct perf_rows *rows, int tid)
{
	struct perf_task *t = perf_task_find(rows, tid);
	struct perf_task *leader = t ? perf_task_find(rows, t->pid) : NULL;

	rows->last = NULL;
	if (!t)
		return;
	if (t == leader && t->others) {
		t->ended = true;
		t->told = false;
		t->goes_on = 0;
		t->ends_at = 0;
		return;
	}
	if (leader && t != leader && leader->others && !--leader->others && leader->ended)
		remove_task(rows, leader);
	remove_task(rows, t);
}

void perf_rows_free(struct perf_rows *rows)
{
	for (size_t i = 0; rows->buckets && i < BUCKETS; i++)
		while (rows->buckets[i])
			remove_task(rows, rows->buckets[i]);
	free(rows->buckets);
	names_free(&rows->names);
}

struct perf_task *perf_task_find(const struct perf_rows *rows, int tid)
{
	struct perf_task *t = *bucket(rows, tid);

	while (t && t->tid != tid)
		t = t->next;
	return t;
}

struct perf_task *perf_task_get(struct perf_rows *rows, int pid, int tid)
{
	struct perf_task *t = perf_task_find(rows, tid);

	if (t)
		return t;
	t = mem_zalloc(1, sizeof(*t));
	t->tid = tid;
	t->pid = pid;
	t->next = *bucket(rows, tid);
	*bucket(rows, tid) = t;
	if (pid != tid)
		perf_task_get(rows, pid, pid)->others++;
	return t;
}

/* Add a mapping, and remove the older mappings that the new mapping covers. */
static void add_map(struct perf_task *t, struct perf_map *map)
{
	uint64_t end = map->row.addr + map->row.len;
	struct perf_map **at = &t->maps, *old;

	while ((old = *at)) {
		if (old->row.addr < map->row.addr || old->row.addr + old->row.len > end) {
			at = &old->next;
			continue;
		}
		*at = old->next;
		free(old);
	}
	*at = map;
}

void perf_task_fork(struct perf_rows *rows, int pid, int tid, int ppid, int ptid)
{
	struct perf_task *t = perf_task_get(rows, ppid, ptid);
	char comm[sizeof(t->comm)];

	/* Copy the name now. If a damaged record has @ptid == @tid, the parent is removed below. */
	memcpy(comm, t->comm, sizeof(comm));
	perf_task_end(rows, tid);
	t = perf_task_find(rows, tid);
	if (t)
		remove_task(rows, t);
	t = perf_task_get(rows, pid, tid);
	memcpy(t->comm, comm, sizeof(t->comm));
	if (pid == ppid)
		return;
	for (struct perf_map *map = perf_task_get(rows, ppid, ppid)->maps; map; map = map->next) {
		size_t size = offsetof(struct perf_map, row) + map->size;
		struct perf_map *copy = mem_alloc(size);

		memcpy(copy, map, size);
		copy->next = NULL;
		copy->row.pid = tid;
		copy->row.tgid = pid;
		add_map(t, copy);
	}
}

/* Remove the process's other threads, because an exec() has ended all threads but @leader. */
static void end_others(struct perf_rows *rows, struct perf_task *leader)
{
	struct perf_task *next;

	leader->ended = false;
	for (size_t i = 0; leader->others && i < BUCKETS; i++) {
		for (struct perf_task *t = rows->buckets[i]; t; t = next) {
			next = t->next;
			if (t != leader && t->pid == leader->pid)
				remove_task(rows, t);
		}
	}
	leader->others = 0;
	rows->last = NULL;
}

void perf_task_named(struct perf_rows *rows, int pid, int tid, const char *comm, size_t room,
		     bool exec)
{
	struct perf_task *t = perf_task_get(rows, pid, tid);

	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, comm, strnlen(comm, room < NAME_LENGTH ? room : NAME_LENGTH - 1));
	t->comm[NAME_LENGTH - 1] = 0;
	if (t->told)
		memcpy(names_get(&rows->names, tid)->comm, t->comm, sizeof(t->comm));
	if (exec) {
		free_maps(t);
		end_others(rows, t);
	}
}

struct perf_map *perf_task_map(struct perf_rows *rows, const struct made_map *row,
			       const char *path, size_t length)
{
	struct perf_task *t = perf_task_get(rows, row->tgid, row->tgid);
	struct perf_map *map = mem_zalloc(1, offsetof(struct perf_map, row) + sizeof(map->row) +
					     length + 1);
	char *text = (char *)(&map->row + 1);

	map->row = *row;
	map->row.entry = (struct made_entry) { .type = MADE_MAP, .pid = row->pid };
	map->row.path = sizeof(map->row) | (length + 1) << 16;
	memcpy(text, path, length);
	map->size = sizeof(map->row) + length + 1;
	add_map(t, map);
	return map;
}

/* "START-END r-xp OFFSET MAJ:MIN INODE    PATH" */
static void read_map(struct perf_rows *rows, int pid, const char *line)
{
	unsigned long long start, end, offset, inode;
	unsigned int maj, min;
	char rights[5];
	int path = 0;
	struct made_map row = { .pid = pid, .tgid = pid };

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, rights, &offset, &maj,
		   &min, &inode, &path) < 7 || rights[2] != 'x')
		return;
	row.addr = start;
	row.len = end - start;
	row.offset = offset;
	row.inode = inode;
	row.maj = maj;
	row.min = min;
	perf_task_map(rows, &row, line[path] ? line + path : "//anon",
		      line[path] ? strlen(line + path) : strlen("//anon"));
}

static void read_name(struct perf_rows *rows, int pid, int tid)
{
	char *path = mem_format("/proc/%d/task/%d/comm", pid, tid);
	char *text = path_read(path, NULL);

	if (text)
		perf_task_named(rows, pid, tid, text, strcspn(text, "\n"), false);
	free(text);
	free(path);
}

static void read_names(struct perf_rows *rows, int pid)
{
	char *path = mem_format("/proc/%d/task", pid);
	DIR *dir = opendir(path);
	struct dirent *entry;

	free(path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			read_name(rows, pid, atoi(entry->d_name));
	if (dir)
		closedir(dir);
}

void perf_task_read(struct perf_rows *rows, int pid)
{
	char *path = mem_format("/proc/%d/maps", pid);
	char *text = path_read(path, NULL), *save = NULL;

	free(path);
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		read_map(rows, pid, line);
	free(text);
	read_names(rows, pid);
}
