// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread for each CPU copies the pages of the CPU's ring buffer into the trace.
 *
 *	trace_pipe_raw --read()--> 1 MiB of pages --look--> tasks, switches, losses
 *					    `------zstd--> the CPU's part of the file
 *
 * A thread sleeps in poll() until its CPU's buffer is filled to buffer_percent, and then reads at
 * most half of the filled pages. So the thread usually reads whole pages, and seldom disturbs the
 * CPU. But the thread does not wait until the buffer is full, so branches that the kernel holds
 * (bts-block) soon get room. At the end of the recording, the thread reads the remaining pages.
 *
 * poll() waits for at most half a second. After each wait, the thread writes its pages if its last
 * write was at least half a second ago. So each thread writes its pages at least once a second, and
 * little data is lost if bts is killed.
 *
 * If a thread cannot write its file, bts ends the recording. Until then, the thread keeps reading
 * pages but drops them, so that no task waits forever for room in the ring buffer.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "file/trace_dat.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "collector.h"
#include "instance.h"

enum {
	CHUNK		= 1 << 20,
	BUFFER_PERCENT	= 25,
	OFFLINE_MS	= 100,
	FLUSH_MS	= 500,
};

struct collector_cpu {
	struct collector	*all;
	struct collector_cpu	*next;
	struct writer_cpu	*out;
	char			*pages;
	size_t			used;
	struct look		look;		/* the contents of @pages */
	struct look_counts	written;	/* sums of look.counts over all written pages */
	struct timespec		flushed;
	pthread_t		thread;
	int			cpu;
	int			fd;
	bool			maps;		/* the pages are from inst->maps */
	bool			failed;
};

struct collector {
	struct collector_cpu	*list;
	struct look_events	events;
	size_t			page_size;
	unsigned int		burst;		/* maximum number of pages per wake-up */
	bool			waiting;
	int			stop;
	int			trouble;
};

/* --- Events ------------------------------------------------------------------------- */

/* Find @field in a format file, and then the next @key. Return the number after @key, or -1. */
static int number_after(const char *text, const char *field, const char *key)
{
	const char *at = text ? strstr(text, field) : NULL;

	at = at ? strstr(at, key) : NULL;
	return at ? atoi(at + strlen(key)) : -1;
}

/*
 * Return an event's ID. @field is NULL or a part of a field's declaration, such as " comm[". Set
 * @offset to the position of this field in an entry.
 */
static int read_event(const char *event, const char *field, int *offset)
{
	char *path = mem_format("%s/events/%s/format", instance_tracefs(), event);
	char *text = path_read(path, NULL);
	int id = number_after(text, "ID: ", "ID: ");

	if (field)
		*offset = number_after(text, field, "offset:");
	free(text);
	free(path);
	return id;
}

static void read_events(struct look_events *events)
{
	events->branch = read_event("ftrace/bts_branch", NULL, NULL);
	events->pack = read_event("ftrace/bts_pack", " nr;", &events->pack_nr);
	events->departs = read_event("bts/bts_departs", " comm[", &events->departs_comm);
	events->arrives = read_event("bts/bts_arrives", " comm[", &events->arrives_comm);
	events->map = read_event("bts/bts_map", NULL, NULL);
}

/* --- A CPU's thread ----------------------------------------------------------------- */

/* Tell the main thread to end the recording. */
static void fail(struct collector_cpu *c)
{
	uint64_t one = 1;

	if (c->failed)
		return;
	c->failed = true;
	if (write(c->all->trouble, &one, sizeof(one)) < 0)
		msg_errno("report a failure", NULL);
}

/* Add the counts of the pages just written. If a task's name has changed, keep the newer name. */
static void count_written(struct collector_cpu *c)
{
	struct look_counts *new = &c->look.counts;
	struct names older = c->written.names;

	names_add_all(&new->names, &older);
	c->written.names = new->names;
	new->names = (struct names) {};
	names_free(&older);
	c->written.switches += new->switches;
}

static void flush_pages(struct collector_cpu *c)
{
	if (c->used && writer_write_pages(c->out, c->pages, c->used, c->look.branches,
					  c->look.maps))
		fail(c);
	else
		count_written(c);
	/* Overwritten entries were lost before the write, so count them even if it failed. */
	c->written.overwritten += c->look.counts.overwritten;
	look_close(&c->look);
	look_open(&c->look, &c->all->events);
	c->used = 0;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &c->flushed);
}

/* Report whether at least FLUSH_MS have passed since the last flush of the pages. */
static bool is_late(const struct collector_cpu *c)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (now.tv_sec - c->flushed.tv_sec) * 1000 +
	       (now.tv_nsec - c->flushed.tv_nsec) / 1000000 >= FLUSH_MS;
}

static void fail_to_read(struct collector_cpu *c)
{
	char *file;

	if (c->failed)
		return;
	file = mem_format("per_cpu/cpu%d/trace_pipe_raw", c->cpu);
	msg_errno("read", file);
	free(file);
	fail(c);
}

/* Return true if a page was read, or false if the buffer is empty now or cannot be read. */
static bool read_page(struct collector_cpu *c)
{
	size_t size = c->all->page_size;
	char *page = c->pages + c->used;
	ssize_t n = read(c->fd, page, size);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		fail_to_read(c);
	if (n <= 0)
		return false;
	/* After a short read, clear the rest of the page. */
	memset(page + n, 0, size - n);
	look_at_page(&c->look, page, size);
	c->used += size;
	if (c->used + size > CHUNK)
		flush_pages(c);
	return true;
}

static void *run_cpu(void *arg)
{
	struct collector_cpu *c = arg;
	struct pollfd fds[2] = {
		{ .fd = c->all->stop, .events = POLLIN },
		{ .fd = c->fd, .events = POLLIN },
	};
	bool late;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &c->flushed);
	while (c->all->waiting) {
		if (poll(fds, 2, FLUSH_MS) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		/* POLLERR means that the CPU was never online, so its ring buffer has no pages. */
		if (fds[1].revents & POLLERR) {
			poll(fds, 1, OFFLINE_MS);
			continue;
		}
		late = is_late(c);
		for (unsigned int i = 0; i < c->all->burst; i++)
			if (!read_page(c))
				break;
		if (late)
			flush_pages(c);
	}
	while (read_page(c))
		;
	flush_pages(c);
	return NULL;
}

/* --- All threads -------------------------------------------------------------------- */

static int add_cpu(struct collector *all, const struct instance *inst, struct writer *writer,
		   const char *name, int cpu)
{
	char *file = mem_format("%s/per_cpu/cpu%d/trace_pipe_raw", inst->path, cpu);
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct collector_cpu *c;

	if (fd < 0) {
		msg_errno("open", file);
		free(file);
		return -1;
	}
	free(file);
	c = mem_zalloc(1, sizeof(*c));
	c->all = all;
	c->cpu = cpu;
	c->fd = fd;
	c->pages = mem_alloc(CHUNK + all->page_size);
	c->maps = *name;
	c->out = writer_add_cpu(writer, name, cpu);
	c->next = all->list;
	all->list = c;
	look_open(&c->look, &all->events);
	return c->out ? 0 : -1;
}

static int add_all(struct collector *all, const struct instance *inst, struct writer *writer,
		   const char *name)
{
	int nr = sysconf(_SC_NPROCESSORS_CONF);

	/* Include CPUs that are offline now, because they may come online later. */
	for (int cpu = 0; cpu < nr; cpu++) {
		char *file = mem_format("per_cpu/cpu%d", cpu);
		bool there = instance_has(inst, file);

		free(file);
		if (there && add_cpu(all, inst, writer, name, cpu))
			return -1;
	}
	return 0;
}

static void free_cpu(struct collector_cpu *c)
{
	close(c->fd);
	free(c->pages);
	names_free(&c->written.names);
	free(c);
}

static void free_all(struct collector *all)
{
	while (all->list) {
		struct collector_cpu *c = all->list;

		all->list = c->next;
		free_cpu(c);
	}
	close(all->stop);
	close(all->trouble);
	free(all);
}

static int set_percent(struct collector *all, const struct instance *inst)
{
	long long kb = instance_read_number(inst, "per_cpu/cpu0/buffer_size_kb");
	char percent[16];

	all->burst = kb > 0 ? kb * 1024 / all->page_size * BUFFER_PERCENT / 100 / 2 : 0;
	if (!all->burst)
		all->burst = 1;
	snprintf(percent, sizeof(percent), "%d", BUFFER_PERCENT);
	return instance_write(inst, "buffer_percent", percent);
}

struct collector *collector_start(const struct instance *inst, struct writer *writer, bool waiting)
{
	struct collector *all = mem_zalloc(1, sizeof(*all));
	long long page_kb = instance_read_number(inst, "buffer_subbuf_size_kb");
	bool failed;

	all->page_size = page_kb > 0 ? page_kb * 1024 : sysconf(_SC_PAGESIZE);
	all->waiting = waiting;
	all->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	all->trouble = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	read_events(&all->events);
	failed = set_percent(all, inst) || add_all(all, inst, writer, "") ||
		 (inst->maps && add_all(all, inst->maps, writer, DAT_MAPS));
	for (struct collector_cpu *c = all->list; c && !failed; c = c->next) {
		errno = pthread_create(&c->thread, NULL, run_cpu, c);
		if (errno) {
			msg_errno("start a thread", NULL);
			exit(STATUS_FAILURE);
		}
	}
	if (!failed)
		return all;
	free_all(all);
	return NULL;
}

int collector_trouble_fd(const struct collector *collector)
{
	return collector->trouble;
}

int collector_finish(struct collector *collector, struct look_counts *counts)
{
	uint64_t one = 1;
	int ret = 0;

	if (write(collector->stop, &one, sizeof(one)) < 0)
		msg_errno("stop the threads", NULL);
	for (struct collector_cpu *c = collector->list; c; c = c->next) {
		pthread_join(c->thread, NULL);
		counts->switches += c->written.switches;
		if (c->maps)
			counts->maps_overwritten += c->written.overwritten;
		else
			counts->overwritten += c->written.overwritten;
		names_add_all(&counts->names, &c->written.names);
		if (c->failed)
			ret = -1;
	}
	free_all(collector);
	return ret;
}
