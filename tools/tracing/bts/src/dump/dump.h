/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats of bts dump, each in a file of its own.
 *
 * Included by: dump/, cmd/dump.c.
 */
#ifndef BTS_DUMP_H
#define BTS_DUMP_H

#include "flow/pipeline.h"

struct dump;

/**
 * struct dump_format - one of the formats
 * @run:	runs the pipe, and writes. Returns what pipe_run() does
 * @of_file:	it is of one file, or the kernel, and adds several traces
 * @calls:	it shows calls, so that it can show inlined ones
 */
struct dump_format {
	const char	*name;
	int		(*run)(struct dump *d);
	bool		calls;
	const char	*help;
	bool		of_file;
};

/**
 * struct dump - a dump being made
 * @format:	as what
 * @output:	the name of the file, or NULL
 * @pipe:	open; a format sets the consumer and runs it
 * @out:	where it goes
 * @more:	other traces, @nr_more of them
 * @by_branches: count branches, not instructions
 */
struct dump {
	struct pipe	pipe;
	const struct dump_format *format;
	const char	*output;
	FILE		*out;
	char		**more;
	int		nr_more;
	bool		by_branches;
};

int dump_folded(struct dump *d);
int dump_flame(struct dump *d);
int dump_callgrind(struct dump *d);
int dump_chrome(struct dump *d);
int dump_perfetto(struct dump *d);
int dump_bolt(struct dump *d);
int dump_profgen(struct dump *d);
int dump_autofdo(struct dump *d);
int dump_csv(struct dump *d);
int dump_json(struct dump *d);

#endif
