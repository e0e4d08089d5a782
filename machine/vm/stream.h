/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Streams of bytes from one descriptor to another, for host.c and init.c.
 */
#ifndef BTS_STREAM_H
#define BTS_STREAM_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_SIZE	(64 * 1024)

/* The bytes buf[off..len) were read from @src, but have not been written to @dst yet. */
struct stream {
	const char	*name;		/* for messages */
	char		buf[STREAM_SIZE];
	size_t		off;
	size_t		len;
	uint64_t	total;		/* bytes read so far */
	uint64_t	end;		/* value of @total when @src ends, UINT64_MAX = not known */
	int		src;		/* -1 = the source has ended */
	int		dst;		/* -1 = all bytes are written, or the reader is gone */
	bool		paused;		/* do not read @src for now */
};

void stream_open(struct stream *s, const char *name, int src, int dst);
bool stream_done(const struct stream *s);
int streams_move(struct stream *streams, int nr, struct pollfd *others, int nr_others, int timeout);

#endif
