/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats of bts dump, each in a file of its own.
 */
#ifndef BTS_DUMP_H
#define BTS_DUMP_H

#include "command.h"

/**
 * struct dump - a dump being made
 * @pipe:	open; a format sets the consumer and runs it
 * @out:	where it goes
 * @by_branches: count branches, not instructions
 */
struct dump {
	struct bts_pipe	pipe;
	FILE		*out;
	bool		by_branches;
};

/* Each runs the pipe, and writes. What bts_pipe_run() returns. */
int dump_folded(struct dump *d);
int dump_flame(struct dump *d);
int dump_callgrind(struct dump *d);
int dump_chrome(struct dump *d);
int dump_bolt(struct dump *d);
int dump_csv(struct dump *d);
int dump_json(struct dump *d);

#endif
