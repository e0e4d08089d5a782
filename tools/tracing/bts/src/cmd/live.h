/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Make short recordings, one after the other, for commands that show the running tasks.
 *
 * Included by: cmd/.
 */
#ifndef BTS_LIVE_H
#define BTS_LIVE_H

#include "flow/pipeline.h"

/**
 * struct live - recordings of the tasks in @options, or of all tasks
 * @seconds:	duration of each recording
 * @count:	number of recordings, or 0 to continue until a signal
 * @show:	called with the trace after each recording. Returns the exit status. A failure
 *		ends the loop
 */
struct live {
	const struct options		*options;
	double				seconds;
	unsigned long			count;
	int				(*show)(void *ctx, const char *path);
	void				*ctx;
};

/* Record @count times, but stop after a signal or a failure. Returns the exit status. */
int live_run(struct live *l);

#endif
