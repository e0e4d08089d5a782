/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Define the numbers of the trace.dat format for the reader and the writer: see
 * trace-cmd.dat.v7(5).
 *
 * Included by: any file.
 */
#ifndef BTS_TRACE_DAT_H
#define BTS_TRACE_DAT_H

/* The default name of the trace. */
#define DAT_NAME	"trace.dat"

/* The version follows as text. */
#define DAT_MAGIC	"\027\010\104tracing"

/* Each section begins with a header: ID, flags, ID of the name, and size after the header. */
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
	 * Only in traces of bts: "key: value" lines about user, date, machine and counters. Other
	 * readers skip the section.
	 */
	DAT_SECTION_BTS		= 0x4254,
	/*
	 * Only in traces of bts: the index. For each CPU: its number and the number of its chunks,
	 * 32 bits each; then 64 bits for each chunk: the time of its first page, DAT_INDEX_MAPS.
	 */
	DAT_SECTION_INDEX	= 0x4255,
};

/* A flag in the index: the chunk contains rows of mappings. */
#define DAT_INDEX_MAPS	(1ULL << 63)

/* The key of a line in section BTS: branches of a CPU that could not be written to the file. */
#define DAT_UNWRITTEN_CPU	"unwritten_cpu%d"

/* For sections HEADERS to CMDLINES, the option with the section's ID has the section's offset. */
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
