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
 * @end:	if not NULL, @run only adds up what is in d->sums, and may be called for several
 *		traces; @end then writes and frees the sums, if there are any
 * @binary:	the profile of one file, which the options must name
 * @calls:	it shows calls, so that it can show inlined ones
 */
struct dump_format {
	const char	*name;
	int		(*run)(struct dump *d);
	void		(*end)(struct dump *d);
	bool		binary;
	const char	*help;
	bool		calls;
};

struct build;

/**
 * struct dump - a dump being made
 * @format:	as what
 * @output:	the name of the file, or NULL
 * @paths:	the traces, @nr_paths of them
 * @bills:	of the traces
 * @pipe:	open; a format sets the consumer and runs it
 * @out:	where it goes
 * @sums:	the format's own
 * @builds:	the files whose branches have been added
 * @by_branches: count branches, not instructions
 */
struct dump {
	struct pipe	pipe;
	const struct dump_format *format;
	const char	*output;
	char		**paths;
	int		nr_paths;
	FILE		*bills;
	FILE		*out;
	void		*sums;
	struct build	*builds;
	bool		by_branches;
};

/*
 * builds.c: note that branches of the file are added. False, after a message, if those of another
 * build of it have been added before: addresses of two builds do not add up. The kernel's vmlinux
 * is known.
 */
bool dump_same_build(struct dump *d, const struct object *o);
void dump_free_builds(struct dump *d);

int dump_folded(struct dump *d);
int dump_flame(struct dump *d);
int dump_callgrind(struct dump *d);
int dump_chrome(struct dump *d);
int dump_perfetto(struct dump *d);
int dump_perf(struct dump *d);
int dump_bolt(struct dump *d);
void dump_bolt_end(struct dump *d);
int dump_profile(struct dump *d);
void dump_profgen_end(struct dump *d);
void dump_autofdo_end(struct dump *d);
void dump_bolt_pa_end(struct dump *d);
int dump_csv(struct dump *d);
int dump_json(struct dump *d);

#endif
