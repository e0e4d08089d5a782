/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write traces in the formats of bts dump. Each format is implemented in its own file.
 *
 * Included by: dump/, cmd/dump.c.
 */
#ifndef BTS_DUMP_H
#define BTS_DUMP_H

#include "flow/pipeline.h"

struct dump;

/**
 * struct dump_format - a format
 * @run:	processes the trace and writes the output. Returns 0, or 1 after a failure
 * @end:	writes and frees d->sums, if there are any. If @end is not NULL, @run only adds to
 *		d->sums, and may be called for several traces
 * @binary:	the output is a profile of one file, so --dso or -k must be given
 * @calls:	the format shows calls, and can therefore show inlined calls
 * @rows:	the output contains a row for each branch, so the option --head is accepted
 */
struct dump_format {
	const char	*name;
	int		(*run)(struct dump *d);
	void		(*end)(struct dump *d);
	bool		binary;
	const char	*help;
	bool		calls;
	bool		rows;
};

struct build;

/**
 * struct dump - the state of bts dump
 * @pipe:	the open trace; each format sets @pipe.consumer
 * @output:	the name of the output file, or NULL
 * @paths:	the names of the @nr_paths traces
 * @nr_traces:	the number of traces that were opened, including the current one
 * @bills:	a stream in memory, to which pipe_bill() writes the summary of each trace
 * @sums:	the sums over all traces; each format defines their type
 * @builds:	for each file with branches in @sums, which build was traced (see builds.c)
 * @by_branches: count branches, not instructions
 */
struct dump {
	struct pipe	pipe;
	const struct dump_format *format;
	const char	*output;
	char		**paths;
	int		nr_paths;
	unsigned int	nr_traces;
	FILE		*bills;
	FILE		*out;
	void		*sums;
	struct build	*builds;
	bool		by_branches;
};

/*
 * builds.c: remember the build of the file @o. Call this before adding branches in @o to the sums.
 * If another build of the file was remembered before, print a message and return false, because the
 * addresses in the two builds differ. Without --dso, two builds in the same trace are no error,
 * because the file may have been rebuilt during the recording. If @o is the kernel, o->debug_path
 * must be the path of the vmlinux.
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
