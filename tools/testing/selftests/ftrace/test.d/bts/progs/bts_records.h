/* SPDX-License-Identifier: GPL-2.0 */
/* Read the branches of a trace one by one, for bts_compare. */
#ifndef BTS_RECORDS_H
#define BTS_RECORDS_H

struct record {
	unsigned long long time;
	unsigned long from;
	unsigned long to;
	int pid;
};

typedef void (*record_fn)(const struct record *record);

/* Open a file with lines "PID CPU TIME FROM TO", the format of `trace` with options/raw. */
void open_text(const char *path);

/* Open trace_pipe_raw of all CPUs, and read all pages. */
void open_pages(const char *tracefs);

/* Call @action for each branch, oldest first. each_record() may be called repeatedly. */
void each_record(record_fn action);

/* Print an error, and end the program: die() with status 2, bad_input() with status 1. */
void die(const char *what);
void bad_input(const char *what, const char *detail);

#endif
