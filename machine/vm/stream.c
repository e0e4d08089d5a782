// SPDX-License-Identifier: GPL-2.0
/*
 * A stream behaves like a pipe. When the source has ended and all bytes are written, the stream
 * closes the destination. When the destination has lost its reader, the stream drops all bytes and
 * closes the source. A stream owns both descriptors, so a caller that still needs a descriptor
 * must pass a duplicate.
 *
 * A stream reads and writes only when poll() reports that the descriptor is ready, so the
 * descriptors may be blocking. Only virtio-serial ports must be non-blocking, because a blocking
 * write would wait forever if the host closed the port after poll(). A program waits for all its
 * streams and its other descriptors with one call to poll().
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"

#define MAX_STREAMS	4
#define MAX_OTHERS	3

/* PIPE_BUF: a write of this size does not block if poll() has reported that a pipe is writable. */
#define CHUNK		4096

void stream_open(struct stream *s, const char *name, int src, int dst)
{
	s->name = name;
	s->src = src;
	s->dst = dst;
	s->end = UINT64_MAX;
}

static bool stream_full(const struct stream *s)
{
	return s->off < s->len;
}

bool stream_done(const struct stream *s)
{
	return s->dst < 0 || (s->total >= s->end && !stream_full(s));
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void stream_gone(struct stream *s)
{
	s->off = s->len;
	close_end(&s->src);
	close_end(&s->dst);
}

static void stream_read(struct stream *s)
{
	size_t left = s->end - s->total;
	ssize_t n = read(s->src, s->buf, left < STREAM_SIZE ? left : STREAM_SIZE);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* Reading from a pty fails with EIO when all descriptors of the slave are closed. */
	if (n <= 0) {
		close_end(&s->src);
		return;
	}
	s->total += n;
	s->off = 0;
	s->len = n;
}

static void stream_write(struct stream *s)
{
	size_t len = s->len - s->off;
	ssize_t n = write(s->dst, s->buf + s->off, len < CHUNK ? len : CHUNK);

	if (n >= 0) {
		s->off += n;
		return;
	}
	if (errno == EAGAIN || errno == EINTR)
		return;
	if (errno != EPIPE)
		warn("%s", s->name);
	stream_gone(s);
}

static void stream_settle(struct stream *s)
{
	if (s->total >= s->end)
		close_end(&s->src);
	if (s->src < 0 && !stream_full(s))
		close_end(&s->dst);
}

/* Fill in @fds with the stream's two descriptors and the events for which the stream waits. */
static void stream_poll(struct stream *s, struct pollfd *fds)
{
	bool full = stream_full(s);

	stream_settle(s);
	fds[0] = (struct pollfd){ .fd = full || s->paused ? -1 : s->src, .events = POLLIN };
	/* If .events is 0, poll() still reports that the reader of the destination is gone. */
	fds[1] = (struct pollfd){ .fd = s->dst, .events = full ? POLLOUT : 0 };
}

static void stream_run(struct stream *s, const struct pollfd *fds)
{
	if (fds[1].revents & (POLLERR | POLLHUP | POLLNVAL))
		stream_gone(s);
	else if (fds[1].revents)
		stream_write(s);
	else if (fds[0].revents)
		stream_read(s);
	stream_settle(s);
}

/*
 * Wait at most @timeout ms for events of @streams and @others, and then copy the streams' bytes.
 * However, if @timeout is 0 and a stream contains unwritten bytes, wait without a limit. Return the
 * result of poll(), and set .revents in @others.
 */
int streams_move(struct stream *streams, int nr, struct pollfd *others, int nr_others, int timeout)
{
	struct pollfd fds[2 * MAX_STREAMS + MAX_OTHERS];
	int n, i;

	for (i = 0; i < nr; i++) {
		stream_poll(&streams[i], &fds[2 * i]);
		if (!timeout && stream_full(&streams[i]))
			timeout = -1;
	}
	for (i = 0; i < nr_others; i++) {
		others[i].revents = 0;
		fds[2 * nr + i] = others[i];
	}
	n = poll(fds, 2 * nr + nr_others, timeout);
	if (n <= 0)
		return n;
	for (i = 0; i < nr; i++)
		stream_run(&streams[i], &fds[2 * i]);
	for (i = 0; i < nr_others; i++)
		others[i].revents = fds[2 * nr + i].revents;
	return n;
}
