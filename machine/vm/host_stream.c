// SPDX-License-Identifier: GPL-2.0
/*
 * The streams of the command, between this program's standard files and the guest's ports.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

struct stream in = { .end = UINT64_MAX };
struct stream out = { .end = UINT64_MAX, .gone_type = WIRE_OUT_GONE };
struct stream err = { .end = UINT64_MAX, .gone_type = WIRE_ERR_GONE };

/* The reader has gone: the guest's command gets SIGPIPE. */
static void stream_gone(struct stream *s)
{
	if (!s->dst_gone && s->gone_type)
		queue_message(s->gone_type, NULL, 0);
	s->dst_gone = true;
	s->off = s->len;
}

static void stream_ended(struct stream *s)
{
	s->src_ended = true;
	if (s == &in && !opt.tty)
		queue_message(WIRE_STDIN_END, &s->total, sizeof(s->total));
}

static void stream_read(struct stream *s)
{
	ssize_t n = read(s->src, s->buf, sizeof(s->buf));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		stream_ended(s);
		return;
	}
	s->total += n;
	s->off = 0;
	s->len = s->dst_gone ? 0 : n;
}

bool stream_full(const struct stream *s)
{
	return s->off < s->len;
}

/* 4096 = PIPE_BUF: a pipe that polls writable takes that much without blocking. */
static void stream_write(struct stream *s)
{
	size_t len = s->len - s->off;
	ssize_t n;

	n = write(s->dst, s->buf + s->off, len < 4096 ? len : 4096);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		if (errno != EPIPE)
			say("standard %s: %s", s == &in ? "input" : "output", strerror(errno));
		stream_gone(s);
		return;
	}
	s->off += n;
}

/* The command has closed its end, or ended, and all of it is written. */
bool stream_done(const struct stream *s)
{
	return s->dst_gone || (s->total >= s->end && !stream_full(s));
}

/* Two descriptors for each stream: its source and its destination. */
void stream_poll(const struct stream *s, struct pollfd *fds)
{
	bool full = stream_full(s);

	fds[0] = (struct pollfd){ .fd = full || s->src_ended ? -1 : s->src, .events = POLLIN };
	/* Without events it still reports the error of a pipe that lost its reader. */
	fds[1] = (struct pollfd){ .fd = s->dst_gone ? -1 : s->dst, .events = full ? POLLOUT : 0 };
}

void stream_run(struct stream *s, const struct pollfd *fds)
{
	if (fds[1].revents & (POLLERR | POLLNVAL))
		stream_gone(s);
	else if (fds[1].revents && stream_full(s))
		stream_write(s);
	if (fds[0].revents)
		stream_read(s);
}

/* What a lost machine had sent before its end. */
void stream_drain(struct stream *s)
{
	struct pollfd fd = { .fd = s->src, .events = POLLIN };

	for (;;) {
		while (stream_full(s) && !s->dst_gone)
			stream_write(s);
		if (s->src_ended || poll(&fd, 1, 0) <= 0)
			return;
		stream_read(s);
	}
}
