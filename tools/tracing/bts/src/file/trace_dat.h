/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names and numbers of the format trace.dat, which the reader and the writer share; see
 * trace-cmd.dat.v7(5).
 *
 * Included by: any file.
 */
#ifndef BTS_TRACE_DAT_H
#define BTS_TRACE_DAT_H

/* The trace, if no other one is named. */
#define DAT_NAME	"trace.dat"

/* The version follows, as text. */
#define DAT_MAGIC	"\027\010\104tracing"

/* Each section has a header: its ID, flags, the ID of its name, its size. */
enum {
	DAT_SECTION_HEADER	= 16,	/* bytes */
	DAT_SECTION_COMPRESSED	= 1,	/* a flag */
};

enum {
	DAT_SECTION_OPTIONS	= 0,
	DAT_SECTION_DATA	= 3,
	DAT_SECTION_STRINGS	= 15,
	DAT_SECTION_HEADERS	= 16,	/* the headers of pages and of events */
	DAT_SECTION_FTRACE	= 17,	/* formats of ftrace's own events */
	DAT_SECTION_EVENTS	= 18,	/* formats of other events */
	DAT_SECTION_KALLSYMS	= 19,
	DAT_SECTION_PRINTK	= 20,
	DAT_SECTION_CMDLINES	= 21,
	/*
	 * Our own, "key: value" lines: user, date, machine, the counters. Readers that do not
	 * know it skip it.
	 */
	DAT_SECTION_BTS		= 0x4254,
};

/* A section from DAT_SECTION_HEADERS on has an option of its number, with its offset. */
enum {
	DAT_OPTION_DONE		= 0,
	DAT_OPTION_CPUSTAT	= 2,
	DAT_OPTION_BUFFER	= 3,
	DAT_OPTION_CLOCK	= 4,
	DAT_OPTION_UNAME	= 5,
	DAT_OPTION_CPUCOUNT	= 8,
	DAT_OPTION_VERSION	= 9,
	DAT_OPTION_TRACEID	= 11,
};

#endif
