// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record branches with perf's events, and read the events' ring buffers.
 *
 * With --backend perf, bts opens the same event as perf record -e branches:u -c 1. BTS stores all
 * branches, but the kernel copies only the branches within user space into the ring buffer. With
 * --backend intel_bts, BTS stores all branches in an AUX area beside the ring buffer. The branches
 * stay there until bts reads them. Each AUX record in the ring buffer announces new branches in the
 * AUX area.
 *
 * Each event is bound to a task, and the task's children inherit the event. Each event is also
 * bound to a CPU, because otherwise perf rejects a ring buffer for an inherited event. All events
 * on a CPU share the ring buffer of the first event on that CPU.
 *
 * The events use CLOCK_MONOTONIC, because this clock is the same on all CPUs.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/cpus.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "pages.h"
#include "perf_aux.h"
#include "perf_events.h"

enum {
	MOST_BYTES	= 8 << 20,	/* a CPU's default buffer size; map_rings() may use less */
	LEAST_BYTES	= 128 << 10,
	AUX_RING_BYTES	= 512 << 10,	/* with intel_bts */
	RECORD_MAX	= 1 << 16,
};

#define INTEL_BTS	"/sys/bus/event_source/devices/intel_bts/type"

/* A CPU's ring buffer, which belongs to the event @fd. The sizes are powers of two. */
struct perf_ring {
	int				cpu, fd;
	size_t				size, aux_size;
	struct perf_event_mmap_page	*head;
	char				*data, *aux;
	bool				stopped;	/* the AUX area was full */
	uint64_t			at, end, time;	/* @time: time of the next record */
	char				*copy;		/* contiguous copy of a record that wraps */
	struct perf_out			out;
};

/* Open an event. If @ring is the descriptor of another event, share that event's ring buffer. */
static int event_open(struct perf_event_attr *attr, pid_t tid, int cpu, int ring)
{
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;

	if (ring >= 0)
		flags |= PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP;
	attr->size = sizeof(*attr);
	return syscall(SYS_perf_event_open, attr, tid, cpu, ring, flags);
}

static struct perf_event_attr branches_attr(enum record_backend backend)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		.sample_period = 1,
		.sample_type = PERF_BRANCH_SAMPLE,
		.disabled = 1, .inherit = 1, .exclude_kernel = 1, .exclude_hv = 1,
		.mmap = 1, .mmap2 = 1, .comm = 1, .comm_exec = 1, .task = 1,
		.context_switch = 1, .sample_id_all = 1, .watermark = 1, .build_id = 1,
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC,
	};

	if (backend == BACKEND_INTEL_BTS) {
		attr.type = path_read_number(INTEL_BTS);
		attr.config = 0;
		attr.exclude_kernel = 0;
	}
	return attr;
}

/* --- What this machine allows --------------------------------------------------------- */

static bool lacks_pmu(enum record_backend backend)
{
	return backend == BACKEND_INTEL_BTS && access(INTEL_BTS, F_OK);
}

int perf_events_try(enum record_backend backend)
{
	struct perf_event_attr attr = branches_attr(backend);
	int fd;

	if (lacks_pmu(backend)) {
		errno = ENXIO;
		return errno;
	}
	fd = event_open(&attr, 0, -1, -1);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

char *perf_events_why(int error)
{
	long long paranoid = path_read_number("/proc/sys/kernel/perf_event_paranoid");

	switch (error) {
	case EACCES:
	case EPERM:
		return mem_format("kernel.perf_event_paranoid is %lld; run bts as root, or let all "
				  "users record: sysctl kernel.perf_event_paranoid=2", paranoid);
	case EBUSY:
		return mem_strdup("BTS or LBR is already in use");
	case ENXIO:
		return mem_strdup("the kernel has no intel_bts: page table isolation is on "
				  "(pti=off turns it off), or the CPU has no BTS");
	case ENOENT:
	case EOPNOTSUPP:
		return mem_strdup("perf does not support BTS on this CPU");
	default:
		return mem_strdup(strerror(error));
	}
}

static int report(const char *what, int error)
{
	char *why = perf_events_why(error);

	msg_error(what, "perf", "%s", why);
	free(why);
	return -1;
}

/* --- Opening -------------------------------------------------------------------------- */

/* Report whether the CPU is in a list like 0-2,5. */
static bool cpu_in_list(const char *list, int cpu)
{
	bool found = false;
	long from, to;

	while (cpus_next(&list, &from, &to) > 0)
		found |= cpu >= from && cpu <= to;
	return found;
}

static void add_fd(struct perf_events *events, int fd)
{
	events->fds = mem_realloc(events->fds, events->nr_fds + 1, sizeof(*events->fds));
	events->fds[events->nr_fds++] = fd;
}

static void unmap_ring(struct perf_ring *ring)
{
	if (ring->aux)
		munmap(ring->aux, ring->aux_size);
	if (ring->head)
		munmap(ring->head, sysconf(_SC_PAGESIZE) + ring->size);
	ring->aux = NULL;
	ring->head = NULL;
}

/* Map a ring buffer and, for intel_bts, the AUX area that contains the branches. */
static bool map_ring(struct perf_ring *ring, size_t size, size_t aux_size)
{
	long page = sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);

	if (at == MAP_FAILED)
		return false;
	ring->head = at;
	ring->data = (char *)at + page;
	ring->size = size;
	if (!aux_size)
		return true;
	ring->head->aux_offset = page + size;
	ring->head->aux_size = aux_size;
	at = mmap(NULL, aux_size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, page + size);
	if (at == MAP_FAILED)
		return false;
	ring->aux = at;
	ring->aux_size = aux_size;
	return true;
}

/*
 * Map the ring with index @first and all later rings, with equal sizes. All rings together must not
 * exceed the user's limit for locked memory. So if a mapping fails, halve the ring-buffer size or
 * the AUX size, whichever is larger, and map these rings again.
 */
static int map_rings(struct perf_events *events, size_t first)
{
	size_t i = first, *size;
	int error;

	while (i < events->nr_rings) {
		if (map_ring(&events->rings[i], events->size, events->aux_size)) {
			i++;
			continue;
		}
		error = errno;
		for (i = first; i < events->nr_rings; i++)
			unmap_ring(&events->rings[i]);
		size = events->aux_size > events->size ? &events->aux_size : &events->size;
		if ((error != EPERM && error != ENOMEM) || *size / 2 < LEAST_BYTES) {
			errno = error;
			return msg_errno("map the ring buffers of", "perf");
		}
		*size /= 2;
		i = first;
	}
	return 0;
}

static void add_ring(struct perf_events *events, int cpu, int fd)
{
	events->rings = mem_realloc(events->rings, events->nr_rings + 1, sizeof(*events->rings));
	events->rings[events->nr_rings++] = (struct perf_ring) {
		.cpu = cpu, .fd = fd, .copy = mem_alloc(RECORD_MAX),
	};
}

static int ring_of(const struct perf_events *events, int cpu)
{
	for (size_t i = 0; i < events->nr_rings; i++)
		if (events->rings[i].cpu == cpu)
			return events->rings[i].fd;
	return -1;
}

static int open_on(struct perf_events *events, struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int ring = ring_of(events, cpu), fd = event_open(attr, tid, cpu, ring);

	/* Linux before 5.12 rejects build_id, so try again without this bit. */
	if (fd < 0 && errno == EINVAL && attr->build_id) {
		attr->build_id = 0;
		fd = event_open(attr, tid, cpu, ring);
	}
	/* Skip a CPU that is offline, and a task that has ended. */
	if (fd < 0 && (errno == ENODEV || (errno == ESRCH && events->nr_rings)))
		return 0;
	if (fd < 0)
		return report("record with", errno);
	add_fd(events, fd);
	if (ring < 0)
		add_ring(events, cpu, fd);
	return 0;
}

/*
 * Raise the limit on open files, because each followed thread needs one descriptor per CPU, and one
 * for the thread's guard. A guard is an event that records nothing (see perf_follow.c).
 */
static void more_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* The option --memory applies to the AUX area or, without an AUX area, to the ring buffer. */
static void choose_sizes(struct perf_events *events, const struct record_options *options)
{
	size_t size = LEAST_BYTES;

	while (options->buffer_kb ? size / 1024 < options->buffer_kb : size < MOST_BYTES)
		size *= 2;
	events->size = size;
	if (options->backend != BACKEND_INTEL_BTS)
		return;
	events->size = AUX_RING_BYTES;
	events->aux_size = size;
}

int perf_events_open(struct perf_events *events, const struct record_options *options, pid_t tid,
		     bool at_exec)
{
	struct perf_event_attr attr = branches_attr(options->backend);
	size_t first_ring = events->nr_rings, first_fd = events->nr_fds;
	int nr = sysconf(_SC_NPROCESSORS_CONF);

	if (lacks_pmu(options->backend))
		return report("record with", ENXIO);
	if (!events->nr_rings) {
		more_descriptors();
		choose_sizes(events, options);
	}
	events->format = (struct perf_format) {
		.sample_type = attr.sample_type, .sample_id_all = true,
		.branches = !events->aux_size,
	};
	if (events->aux_size) {
		attr.exclude_kernel = !options->kernel;
		attr.exclude_user = !options->user;
	}
	attr.enable_on_exec = at_exec;
	/* Each ring buffer has at least LEAST_BYTES, so the data can reach the wakeup watermark. */
	attr.wakeup_watermark = LEAST_BYTES / 2;
	for (int cpu = 0; cpu < nr; cpu++)
		if ((!options->cpus || cpu_in_list(options->cpus, cpu)) &&
		    open_on(events, &attr, tid, cpu))
			return -1;
	if (!events->nr_rings) {
		msg_error("trace on CPUs", options->cpus, "none of these CPUs is online");
		return -1;
	}
	if (map_rings(events, first_ring))
		return -1;
	/* Enable the events last, because an event without a ring buffer loses its records. */
	for (size_t i = first_fd; i < events->nr_fds && !at_exec; i++)
		ioctl(events->fds[i], PERF_EVENT_IOC_ENABLE, 0);
	return 0;
}

int perf_events_write_to(struct perf_events *events, struct writer *w)
{
	for (size_t i = 0; i < events->nr_rings; i++) {
		struct perf_ring *ring = &events->rings[i];

		ring->out.pages = pages_open(w, ring->cpu);
		if (!ring->out.pages)
			return -1;
	}
	return 0;
}

struct perf_out *perf_events_first_out(struct perf_events *events)
{
	return &events->rings[0].out;
}

int perf_events_guard(pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.disabled = 1, .enable_on_exec = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};

	return event_open(&attr, tid, -1, -1);
}

/* --- Reading -------------------------------------------------------------------------- */

int perf_events_fd(const struct perf_events *events, size_t ring)
{
	return events->rings[ring].fd;
}

/* Return the ring's next record as contiguous bytes. */
static const struct perf_event_header *record_at(const struct perf_ring *ring)
{
	size_t begin = ring->at & (ring->size - 1), left = ring->size - begin;
	const struct perf_event_header *h = (const void *)(ring->data + begin);

	/* The size of each record is a multiple of 8 bytes, so the 8-byte header never wraps. */
	if (h->size <= left)
		return h;
	memcpy(ring->copy, h, left);
	memcpy(ring->copy + left, ring->data, h->size - left);
	return (const void *)ring->copy;
}

/* A sample of this tool's events consists of header, IP, TID, time and address, in this order. */
static uint64_t time_of(const struct perf_event_header *h, const struct perf_format *format)
{
	struct perf_id id;

	if (h->type == PERF_RECORD_SAMPLE)
		return ((const uint64_t *)h)[3];
	perf_id_read(h, format, &id);
	return id.time;
}

/* Return the ring's next record, or NULL if the ring is empty or the record is after @limit. */
static const struct perf_event_header *next_record(struct perf_events *events,
						   struct perf_ring *ring, uint64_t limit)
{
	const struct perf_event_header *h;

	if (ring->at >= ring->end)
		return NULL;
	h = record_at(ring);
	if (h->size < sizeof(*h)) {
		ring->at = ring->end;
		return NULL;
	}
	ring->time = time_of(h, &events->format);
	return ring->time <= limit ? h : NULL;
}

/* Return the ring with the oldest record. No other ring has a record before the new *@limit. */
static struct perf_ring *oldest(struct perf_events *events, uint64_t *limit)
{
	uint64_t last = *limit, best_time = UINT64_MAX;
	struct perf_ring *best = NULL;

	for (size_t i = 0; i < events->nr_rings; i++) {
		struct perf_ring *ring = &events->rings[i];

		if (!next_record(events, ring, last))
			continue;
		if (!best || ring->time < best_time) {
			*limit = best ? best_time : last;
			best_time = ring->time;
			best = ring;
		} else if (ring->time < *limit) {
			*limit = ring->time;
		}
	}
	return best;
}

/* Read @r's branches from the AUX area, where they begin at r->offset modulo the area's size. */
static void read_aux(struct perf_events *events, struct perf_ring *ring, struct perf_rows *rows,
		     const struct record_aux *r)
{
	uint64_t begin = r->offset & (ring->aux_size - 1);
	const void *branches = ring->aux + begin;
	struct perf_id id;

	perf_id_read(&r->header, &events->format, &id);
	/* Data does not wrap. Instead, the kernel leaves the end of the area unused. */
	if (r->size <= ring->aux_size - begin)
		perf_aux_branches(rows, &ring->out, &id, branches,
				  r->size / sizeof(struct bts_record));
	if (perf_aux_is_cut(r)) {
		perf_rows_lost(rows, &ring->out, &id);
		ring->stopped = true;
	}
	__atomic_store_n(&ring->head->aux_tail, r->offset + r->size, __ATOMIC_RELEASE);
}

static void read_record(struct perf_events *events, struct perf_ring *ring,
			struct perf_rows *rows, const struct perf_event_header *h)
{
	if (h->type == PERF_RECORD_AUX && events->aux_size)
		read_aux(events, ring, rows, (const void *)h);
	else
		perf_rows_record(rows, &ring->out, h, &events->format);
}

/* A full AUX area stops an event, but perf does not show which event, so restart all events. */
static void go_on(struct perf_events *events)
{
	bool stopped = false;

	for (size_t i = 0; i < events->nr_rings; i++) {
		stopped |= events->rings[i].stopped;
		events->rings[i].stopped = false;
	}
	for (size_t i = 0; stopped && i < events->nr_fds; i++) {
		ioctl(events->fds[i], PERF_EVENT_IOC_DISABLE, 0);
		ioctl(events->fds[i], PERF_EVENT_IOC_ENABLE, 0);
	}
}

/*
 * Read the records of all rings in time order, because a record on any CPU may change a task's
 * state. perf writes all records of a task before the task moves to another CPU. perf never writes
 * a record with a past time. So when @until has passed, no record up to @until is missing.
 */
static void read_until(struct perf_events *events, struct perf_rows *rows, uint64_t until)
{
	struct perf_ring *ring;
	uint64_t limit = until;

	for (size_t i = 0; i < events->nr_rings; i++) {
		ring = &events->rings[i];
		ring->at = ring->head->data_tail;
		ring->end = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
	}
	while ((ring = oldest(events, &limit))) {
		const struct perf_event_header *h;

		while ((h = next_record(events, ring, limit))) {
			read_record(events, ring, rows, h);
			ring->at += h->size;
		}
		__atomic_store_n(&ring->head->data_tail, ring->at, __ATOMIC_RELEASE);
		limit = until;
	}
}

void perf_events_read(struct perf_events *events, struct perf_rows *rows)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	read_until(events, rows, now.tv_sec * 1000000000ULL + now.tv_nsec);
	go_on(events);
}

int perf_events_end(struct perf_events *events, struct perf_rows *rows)
{
	int ret = 0;

	for (size_t i = 0; i < events->nr_fds; i++)
		ioctl(events->fds[i], PERF_EVENT_IOC_DISABLE, 0);
	read_until(events, rows, UINT64_MAX);
	for (size_t i = 0; i < events->nr_rings; i++) {
		struct perf_out *out = &events->rings[i].out;

		if (!out->pages)
			continue;
		perf_rows_end(rows, out);
		ret |= pages_close(out->pages);
		out->pages = NULL;
	}
	return ret;
}

void perf_events_free(struct perf_events *events)
{
	for (size_t i = 0; i < events->nr_rings; i++) {
		unmap_ring(&events->rings[i]);
		free(events->rings[i].copy);
	}
	for (size_t i = 0; i < events->nr_fds; i++)
		close(events->fds[i]);
	free(events->rings);
	free(events->fds);
	*events = (struct perf_events) {};
}
