// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread per CPU copies the ring buffer's pages into the file.
 *
 *	trace_pipe_raw --read()--> 1 MiB of pages --look--> tasks, switches, losses
 *					    `------zstd--> the CPU's part of the file
 *
 * A thread sleeps in poll() until buffer_percent of its CPU's buffer is full, and then reads half
 * of that part. So the thread reads whole pages, seldom disturbs its CPU, and soon makes room for
 * entries that the kernel holds back (bts-block). At the end, the thread reads the rest.
 *
 * The kernel counts neither the tasks in the trace nor their switches, so the thread counts both,
 * and remembers the names of the tasks.
 *
 * If a thread cannot write its file, the recording ends. Until then the thread continues to read,
 * so that no task waits forever.
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
#include <unistd.h>

#include <kbuffer.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "collector.h"
#include "instance.h"

enum {
	CHUNK		= 1 << 20,
	BUFFER_PERCENT	= 25,
	OFFLINE_MS	= 100,
};

/* IDs of events and offsets of fields, as read from the format files; -1 if missing. */
struct offsets {
	int	branch, pack, departs, arrives, map;	/* IDs */
	int	pack_nr;				/* the number of branches */
	int	departs_comm, arrives_comm;
};

struct collector_cpu {
	struct collector	*all;
	struct collector_cpu	*next;
	struct writer_cpu	*out;
	struct kbuffer		*kbuf;
	char			*pages;
	size_t			used;
	struct collector_counts	counts;
	unsigned long long	branches;	/* in @pages */
	bool			maps;		/* in @pages */
	struct name		*last;		/* name of the last entry's task */
	pthread_t		thread;
	int			cpu;
	int			fd;
	bool			failed;
};

struct collector {
	struct collector_cpu	*list;
	struct offsets		offsets;
	size_t			page_size;
	unsigned int		burst;		/* pages to read per wake-up */
	bool			waiting;
	int			stop;
	int			trouble;
};

/* --- Looking at pages --------------------------------------------------------------- */

/* Return the number after the first @key that follows @field in a format file, or -1. */
static int number_after(const char *text, const char *field, const char *key)
{
	const char *at = text ? strstr(text, field) : NULL;

	at = at ? strstr(at, key) : NULL;
	return at ? atoi(at + strlen(key)) : -1;
}

/* Return an event's ID and the offset of a field. @field is a part of the field's declaration. */
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

static void read_offsets(struct offsets *offsets)
{
	offsets->branch = read_event("ftrace/bts_branch", NULL, NULL);
	offsets->pack = read_event("ftrace/bts_pack", " nr;", &offsets->pack_nr);
	offsets->departs = read_event("bts/bts_departs", " comm[", &offsets->departs_comm);
	offsets->arrives = read_event("bts/bts_arrives", " comm[", &offsets->arrives_comm);
	offsets->map = read_event("bts/bts_map", NULL, NULL);
}

/* Keep the latest name, because an exec() changes the name. */
static void look_at_name(struct collector_cpu *c, const char *entry, int size, int comm)
{
	if (comm >= 0 && comm + NAME_LENGTH <= size)
		memcpy(c->last->comm, entry + comm, NAME_LENGTH);
}

static void look_at_pack(struct collector_cpu *c, const char *entry, int size)
{
	int at = c->all->offsets.pack_nr;
	uint16_t nr;

	if (at < 0 || at + (int)sizeof(nr) > size)
		return;
	memcpy(&nr, entry + at, sizeof(nr));
	c->branches += nr;
}

static void look_at_entry(struct collector_cpu *c, const char *entry, int size)
{
	const struct offsets *offsets = &c->all->offsets;
	uint16_t type;
	int32_t pid;

	if (size < 8)
		return;
	memcpy(&type, entry, sizeof(type));
	memcpy(&pid, entry + 4, sizeof(pid));
	c->maps |= type == offsets->map;
	/* Skip other trace events and losses, because their task need not be a target. */
	if (type != offsets->branch && type != offsets->pack && type != offsets->departs &&
	    type != offsets->arrives)
		return;
	if (!c->last || c->last->pid != pid)
		c->last = names_get(&c->counts.names, pid);
	if (type == offsets->branch) {
		c->branches++;
	} else if (type == offsets->pack) {
		look_at_pack(c, entry, size);
	} else if (type == offsets->departs) {
		c->counts.switches++;
		look_at_name(c, entry, size, offsets->departs_comm);
	} else if (type == offsets->arrives) {
		look_at_name(c, entry, size, offsets->arrives_comm);
	}
}

static void look_at_page(struct collector_cpu *c, void *page)
{
	unsigned long long ts;
	char *entry;
	int missed;

	if (kbuffer_load_subbuffer(c->kbuf, page))
		return;
	missed = kbuffer_missed_events(c->kbuf);
	if (missed > 0)
		c->counts.overwritten += missed;
	entry = kbuffer_read_event(c->kbuf, &ts);
	while (entry) {
		look_at_entry(c, entry, kbuffer_event_size(c->kbuf));
		entry = kbuffer_next_event(c->kbuf, &ts);
	}
}

/* --- A CPU's thread ----------------------------------------------------------------- */

static void flush_pages(struct collector_cpu *c)
{
	uint64_t one = 1;

	bool failed = c->used && writer_write_pages(c->out, c->pages, c->used, c->branches,
						    c->maps);

	if (failed && !c->failed) {
		c->failed = true;
		if (write(c->all->trouble, &one, sizeof(one)) < 0)
			msg_errno("report a failed write", NULL);
	}
	c->used = 0;
	c->branches = 0;
	c->maps = false;
}

/* Return 1 if a page was read, 0 if the buffer is empty now, or -1 on an error. */
static int read_page(struct collector_cpu *c)
{
	size_t size = c->all->page_size;
	char *page = c->pages + c->used;
	ssize_t n = read(c->fd, page, size);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (!n)
		return 0;
	/* After a short read, clear the rest of the page. */
	memset(page + n, 0, size - n);
	look_at_page(c, page);
	c->used += size;
	if (c->used + size > CHUNK)
		flush_pages(c);
	return 1;
}

static void *run_cpu(void *arg)
{
	struct collector_cpu *c = arg;
	struct pollfd fds[2] = {
		{ .fd = c->all->stop, .events = POLLIN },
		{ .fd = c->fd, .events = POLLIN },
	};

	while (c->all->waiting) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		/* The CPU has not been online yet, so the ring buffer has no pages for it. */
		if (fds[1].revents & POLLERR) {
			poll(fds, 1, OFFLINE_MS);
			continue;
		}
		for (unsigned int i = 0; i < c->all->burst; i++)
			if (read_page(c) <= 0)
				break;
	}
	while (read_page(c) > 0)
		;
	flush_pages(c);
	return NULL;
}

/* --- All threads -------------------------------------------------------------------- */

static int add_cpu(struct collector *all, const struct instance *inst, struct writer *writer,
		   int cpu)
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
	c->kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	c->out = writer_add_cpu(writer, cpu);
	c->next = all->list;
	all->list = c;
	return c->out && c->kbuf ? 0 : -1;
}

static int add_all(struct collector *all, const struct instance *inst, struct writer *writer)
{
	int nr = sysconf(_SC_NPROCESSORS_CONF);

	/* Include CPUs that are offline now, because they may come online later. */
	for (int cpu = 0; cpu < nr; cpu++) {
		char *file = mem_format("per_cpu/cpu%d", cpu);
		bool there = instance_has(inst, file);

		free(file);
		if (there && add_cpu(all, inst, writer, cpu))
			return -1;
	}
	return 0;
}

static void free_cpu(struct collector_cpu *c)
{
	if (c->kbuf)
		kbuffer_free(c->kbuf);
	close(c->fd);
	free(c->pages);
	names_free(&c->counts.names);
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
	read_offsets(&all->offsets);
	failed = set_percent(all, inst) || add_all(all, inst, writer);
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

int collector_finish(struct collector *collector, struct collector_counts *counts)
{
	uint64_t one = 1;
	int ret = 0;

	if (write(collector->stop, &one, sizeof(one)) < 0)
		msg_errno("stop the threads", NULL);
	for (struct collector_cpu *c = collector->list; c; c = c->next) {
		pthread_join(c->thread, NULL);
		counts->switches += c->counts.switches;
		counts->overwritten += c->counts.overwritten;
		names_add_all(&counts->names, &c->counts.names);
		if (c->failed)
			ret = -1;
	}
	free_all(collector);
	return ret;
}
