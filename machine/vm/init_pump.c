// SPDX-License-Identifier: GPL-2.0
/*
 * The streams of the command between its pipes, or its terminal, and the ports.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "init.h"

struct pump in = { .src = -1, .dst = -1, .end = UINT64_MAX };
struct pump out = { .src = -1, .dst = -1, .end = UINT64_MAX, .end_type = WIRE_OUT_END };
struct pump err = { .src = -1, .dst = -1, .end = UINT64_MAX };

/* The pty is one descriptor for two pumps; it is closed with the machine. */
static void pump_close(int *fd)
{
	if (*fd >= 0 && *fd != terminal)
		close(*fd);
	*fd = -1;
}

static void pump_ended(struct pump *p)
{
	pump_close(&p->src);
	if (p->end_type)
		send_message(p->end_type, &p->total, sizeof(p->total));
	/* The command reads end of file after the last byte. */
	if (p->off == p->len && p == &in && !job.tty)
		pump_close(&p->dst);
}

static void pump_read(struct pump *p)
{
	ssize_t n;

	if (p->total >= p->end) {
		pump_ended(p);
		return;
	}
	n = read(p->src, p->buf, sizeof(p->buf));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* A pty whose slave is closed everywhere reads EIO. */
	if (n <= 0) {
		pump_ended(p);
		return;
	}
	p->off = 0;
	p->len = n;
	p->total += n;
}

static void pump_write(struct pump *p)
{
	ssize_t n;

	n = write(p->dst, p->buf + p->off, p->len - p->off);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		/* The command does not read its input: it may have the rest unread. */
		pump_close(&p->dst);
		pump_close(&p->src);
		p->off = p->len;
		return;
	}
	p->off += n;
	if (p->off == p->len && p->total >= p->end)
		pump_ended(p);
}

/* What this stream waits for: a buffer must be written before more is read. */
void pump_poll(const struct pump *p, struct pollfd *fd)
{
	bool full = p->off < p->len;

	fd->fd = full ? p->dst : p->src;
	fd->events = full ? POLLOUT : POLLIN;
	fd->revents = 0;
}

void pump_run(struct pump *p, const struct pollfd *fd)
{
	if (!fd->revents)
		return;
	if (fd->events == POLLOUT)
		pump_write(p);
	else
		pump_read(p);
}

/* The host's reader has gone: the command gets SIGPIPE at its next write. */
void pump_gone(struct pump *p)
{
	pump_close(&p->src);
	p->off = p->len;
}

void pump_end_at(struct pump *p, uint64_t end)
{
	p->end = end;
	if (p->src >= 0 && p->off == p->len && p->total >= p->end)
		pump_ended(p);
}

/* The rest of the command's pipe, and no more. */
void pump_drain(struct pump *p)
{
	for (;;) {
		struct pollfd fds[2];

		pump_poll(p, &fds[0]);
		if (fds[0].fd < 0)
			return;
		fds[1] = (struct pollfd){ .fd = control, .events = POLLIN };
		if (fds[0].events == POLLIN) {
			if (poll(fds, 1, 0) <= 0)
				return;
		} else if (poll(fds, 2, -1) < 0) {
			continue;
		}
		pump_run(p, &fds[0]);
		if (fds[0].events == POLLOUT && fds[1].revents)
			control_message();
	}
}
