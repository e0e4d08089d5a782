/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Define the constants of the trace.dat format for the reader and the writer. The man page
 * trace-cmd.dat.v7(5) describes the format.
 *
 * Included by: any file.
 */
#ifndef BTS_TRACE_DAT_H
#define BTS_TRACE_DAT_H

/* The default name of a trace file. */
#define DAT_NAME	"trace.dat"

/* The file begins with this magic number. The version follows as text. */
#define DAT_MAGIC	"\027\010\104tracing"

/* A section's header: the section's ID, flags, the ID of its name, and the size of its content. */
enum {
	DAT_SECTION_HEADER	= 16,	/* bytes */
	DAT_SECTION_COMPRESSED	= 1,	/* a flag */
};

enum {
	DAT_SECTION_OPTIONS	= 0,
	DAT_SECTION_DATA	= 3,
	DAT_SECTION_STRINGS	= 15,
	DAT_SECTION_HEADERS	= 16,	/* formats of the page and event headers */
	DAT_SECTION_FTRACE	= 17,	/* formats of ftrace's own events */
	DAT_SECTION_EVENTS	= 18,	/* formats of other events */
	DAT_SECTION_KALLSYMS	= 19,
	DAT_SECTION_PRINTK	= 20,
	DAT_SECTION_CMDLINES	= 21,
	/*
	 * Lines of the form "key: value", about the user, date, machine and counters. Only bts
	 * writes this section, and other programs skip it.
	 */
	DAT_SECTION_BTS		= 0x4254,
	/*
	 * The index, which only bts writes. For each CPU, the index contains the CPU's number (32
	 * bits), the number of the CPU's chunks (32 bits), and a 64-bit number per chunk: the time
	 * of the chunk's first page, combined with the flag DAT_INDEX_MAPS.
	 */
	DAT_SECTION_INDEX	= 0x4255,
};

/* This flag in the index means that the chunk contains mapping rows. */
#define DAT_INDEX_MAPS	(1ULL << 63)

/*
 * The name of a flight recorder's second instance, which records only mappings. This instance keeps
 * recording until the trace is written, so its last rows may be newer than the last branch.
 */
#define DAT_MAPS	"maps"

/* A key in the BTS section: the number of the CPU's branches that could not be written. */
#define DAT_UNWRITTEN_CPU	"unwritten_cpu%d"

/* An option with the same ID as a section (HEADERS to CMDLINES) contains the section's offset. */
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
