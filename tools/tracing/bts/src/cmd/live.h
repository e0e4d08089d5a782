/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Short recordings, one after the other, for commands that show what is going on now.
 *
 * Included by: cmd/.
 */
#ifndef BTS_LIVE_H
#define BTS_LIVE_H

#include "flow/pipeline.h"

/**
 * struct live - recordings of the tasks in @options, or of all
 * @seconds:	how long each takes
 * @count:	how many; 0: until a signal
 * @show:	called with the trace's file after each; non-zero ends
 */
struct live {
	const struct options		*options;
	double				seconds;
	unsigned long			count;
	int				(*show)(void *ctx, const char *path);
	void				*ctx;
};

/* Until @count, a signal, or a failure. Status for the shell. */
int live_run(struct live *l);

#endif
