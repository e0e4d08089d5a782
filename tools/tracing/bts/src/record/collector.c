// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that bring the ring buffer's pages into the file, one for each CPU.
 *
 *	trace_pipe_raw --read()--> 1 MiB of pages --look--> tasks, switches, losses
 *					    `------zstd--> the CPU's part of the file
 *
 * A thread sleeps in poll() until a part of its CPU's buffer is full (buffer_percent), and
 * reads half of that: so it gets whole pages, seldom disturbs its CPU, and what the kernel
 * holds back for want of room (bts-block) soon has some. At the end it reads all there is.
 *
 * With a page before it the thread counts what the bill wants and no counter of the kernel
 * has: which tasks there are, by what names, and how often they left a CPU.
 *
 * A thread whose file cannot be written goes on reading, so that no task waits for it for
 * ever, and reports the trouble; the recording ends then.
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
};

/* Where in an entry things are; from the format files. */
struct layout {
	int	branch, pack, departs, arrives;		/* their IDs; -1: there is none */
	int	pack_nr;				/* how many branches it has */
	int	departs_comm, arrives_comm;
};

struct stream {
	struct streams		*all;
	struct stream		*next;
	struct datw_cpu		*out;
	struct kbuffer		*kbuf;
	char			*pages;
	size_t			used;
	struct stream_counts	counts;
	struct name		*last;		/* the name that the last entry had */
	pthread_t		thread;
	int			cpu;
	int			fd;
	bool			failed;
};

struct streams {
	struct stream	*list;
	struct layout	layout;
	size_t		page_size;
	unsigned int	burst;			/* pages that are read in a row */
	bool		waiting;
	int		stop;
	int		trouble;
};

/* --- Looking at pages --------------------------------------------------------------- */

/* The number after KEY, which comes after FIELD, in the text of a format file. */
static int format_number(const char *text, const char *field, const char *key)
{
	const char *at = text ? strstr(text, field) : NULL;

	at = at ? strstr(at, key) : NULL;
	return at ? atoi(at + strlen(key)) : -1;
}

/* An event's ID, and where the field is; "comm[16]" is found as "comm[". */
static int read_format(const char *event, const char *field, int *offset)
{
	char *path = mem_format("%s/events/%s/format", tracefs_root(), event);
	char *text = path_read(path, NULL);
	int id = format_number(text, "ID: ", "ID: ");

	if (field)
		*offset = format_number(text, field, "offset:");
	free(text);
	free(path);
	return id;
}

static void read_layout(struct layout *layout)
{
	layout->branch = read_format("ftrace/bts_branch", NULL, NULL);
	layout->pack = read_format("ftrace/bts_pack", " nr;", &layout->pack_nr);
	layout->departs = read_format("bts/bts_departs", " comm[", &layout->departs_comm);
	layout->arrives = read_format("bts/bts_arrives", " comm[", &layout->arrives_comm);
}

/* The last name counts: an exec() gives a new one. */
static void look_at_name(struct stream *stream, const char *entry, int size, int comm)
{
	if (comm >= 0 && comm + NAME_LENGTH <= size)
		memcpy(stream->last->comm, entry + comm, NAME_LENGTH);
}

static void look_at_pack(struct stream *stream, const char *entry, int size)
{
	int at = stream->all->layout.pack_nr;
	uint16_t nr;

	if (at < 0 || at + (int)sizeof(nr) > size)
		return;
	memcpy(&nr, entry + at, sizeof(nr));
	stream->counts.branches += nr;
}

static void look_at_entry(struct stream *stream, const char *entry, int size)
{
	const struct layout *layout = &stream->all->layout;
	uint16_t type;
	int32_t pid;

	if (size < 8)
		return;
	memcpy(&type, entry, sizeof(type));
	memcpy(&pid, entry + 4, sizeof(pid));
	/* Not a trace event, which may be another task's, nor a row about a CPU. */
	if (type != layout->branch && type != layout->pack && type != layout->departs &&
	    type != layout->arrives)
		return;
	if (!stream->last || stream->last->pid != pid)
		stream->last = names_get(&stream->counts.names, pid);
	if (type == layout->branch) {
		stream->counts.branches++;
	} else if (type == layout->pack) {
		look_at_pack(stream, entry, size);
	} else if (type == layout->departs) {
		stream->counts.switches++;
		look_at_name(stream, entry, size, layout->departs_comm);
	} else if (type == layout->arrives) {
		look_at_name(stream, entry, size, layout->arrives_comm);
	}
}

static void look_at_page(struct stream *stream, void *page)
{
	unsigned long long ts;
	char *entry;
	int missed;

	if (kbuffer_load_subbuffer(stream->kbuf, page))
		return;
	missed = kbuffer_missed_events(stream->kbuf);
	if (missed > 0)
		stream->counts.overwritten += missed;
	entry = kbuffer_read_event(stream->kbuf, &ts);
	while (entry) {
		look_at_entry(stream, entry, kbuffer_event_size(stream->kbuf));
		entry = kbuffer_next_event(stream->kbuf, &ts);
	}
}

/* --- A CPU's thread ----------------------------------------------------------------- */

static void flush_pages(struct stream *stream)
{
	uint64_t one = 1;

	if (stream->used && !stream->failed &&
	    datw_write_pages(stream->out, stream->pages, stream->used)) {
		stream->failed = true;
		if (write(stream->all->trouble, &one, sizeof(one)) < 0)
			msg_errno("report trouble", NULL);
	}
	stream->used = 0;
}

/* 1: a page more, 0: there is none now, -1: there will be none. */
static int read_page(struct stream *stream)
{
	size_t size = stream->all->page_size;
	char *page = stream->pages + stream->used;
	ssize_t n = read(stream->fd, page, size);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (!n)
		return 0;
	/* A short read is a page that ends early. */
	memset(page + n, 0, size - n);
	look_at_page(stream, page);
	stream->used += size;
	if (stream->used + size > CHUNK)
		flush_pages(stream);
	return 1;
}

static void *run_stream(void *arg)
{
	struct stream *stream = arg;
	struct pollfd fds[2] = {
		{ .fd = stream->all->stop, .events = POLLIN },
		{ .fd = stream->fd, .events = POLLIN },
	};

	while (stream->all->waiting) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		for (unsigned int i = 0; i < stream->all->burst; i++)
			if (read_page(stream) <= 0)
				break;
	}
	while (read_page(stream) > 0)
		;
	flush_pages(stream);
	return NULL;
}

/* --- All of them -------------------------------------------------------------------- */

static int add_stream(struct streams *all, const struct instance *inst, struct datw *dat, int cpu)
{
	char *file = mem_format("%s/per_cpu/cpu%d/trace_pipe_raw", inst->path, cpu);
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stream *stream;

	if (fd < 0) {
		msg_errno("open", file);
		free(file);
		return -1;
	}
	free(file);
	stream = mem_zalloc(1, sizeof(*stream));
	stream->all = all;
	stream->cpu = cpu;
	stream->fd = fd;
	stream->pages = mem_alloc(CHUNK + all->page_size);
	stream->kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	stream->out = datw_add_cpu(dat, cpu);
	stream->next = all->list;
	all->list = stream;
	return stream->out && stream->kbuf ? 0 : -1;
}

static int add_all(struct streams *all, const struct instance *inst, struct datw *dat)
{
	int nr = sysconf(_SC_NPROCESSORS_CONF);

	/* A CPU that comes online later is read at the end. */
	for (int cpu = 0; cpu < nr; cpu++) {
		char *file = mem_format("per_cpu/cpu%d", cpu);
		bool there = instance_has(inst, file);

		free(file);
		if (there && add_stream(all, inst, dat, cpu))
			return -1;
	}
	return 0;
}

static void free_stream(struct stream *stream)
{
	if (stream->kbuf)
		kbuffer_free(stream->kbuf);
	close(stream->fd);
	free(stream->pages);
	names_free(&stream->counts.names);
	free(stream);
}

static void free_all(struct streams *all)
{
	while (all->list) {
		struct stream *stream = all->list;

		all->list = stream->next;
		free_stream(stream);
	}
	close(all->stop);
	close(all->trouble);
	free(all);
}

static int set_percent(struct streams *all, const struct instance *inst)
{
	long long kb = instance_read_number(inst, "per_cpu/cpu0/buffer_size_kb");
	char percent[16];

	all->burst = kb > 0 ? kb * 1024 / all->page_size * BUFFER_PERCENT / 100 / 2 : 0;
	if (!all->burst)
		all->burst = 1;
	snprintf(percent, sizeof(percent), "%d", BUFFER_PERCENT);
	return instance_write(inst, "buffer_percent", percent);
}

struct streams *streams_start(const struct instance *inst, struct datw *dat, bool waiting)
{
	struct streams *all = mem_zalloc(1, sizeof(*all));
	long long page_kb = instance_read_number(inst, "buffer_subbuf_size_kb");
	bool failed;

	all->page_size = page_kb > 0 ? page_kb * 1024 : sysconf(_SC_PAGESIZE);
	all->waiting = waiting;
	all->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	all->trouble = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	read_layout(&all->layout);
	failed = set_percent(all, inst) || add_all(all, inst, dat);
	for (struct stream *s = all->list; s && !failed; s = s->next) {
		errno = pthread_create(&s->thread, NULL, run_stream, s);
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

int streams_trouble_fd(const struct streams *streams)
{
	return streams->trouble;
}

int streams_finish(struct streams *streams, struct stream_counts *counts)
{
	uint64_t one = 1;
	int ret = 0;

	if (write(streams->stop, &one, sizeof(one)) < 0)
		msg_errno("stop the threads", NULL);
	for (struct stream *s = streams->list; s; s = s->next) {
		pthread_join(s->thread, NULL);
		counts->branches += s->counts.branches;
		counts->switches += s->counts.switches;
		counts->overwritten += s->counts.overwritten;
		names_add_all(&counts->names, &s->counts.names);
		if (s->failed)
			ret = -1;
	}
	free_all(streams);
	return ret;
}
