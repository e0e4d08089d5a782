/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The branches of a trace, one after the other, for bts_compare.
 */
#ifndef BTS_RECORDS_H
#define BTS_RECORDS_H

struct record {
	unsigned long long time;
	unsigned long from;
	unsigned long to;
	int pid;
};

typedef void (*record_fn)(const struct record *record);

/* A file in the format that `trace` has with options/raw: "PID CPU TIME FROM TO". */
void open_text(const char *path);

/* The pages of all CPUs' trace_pipe_raw, which this reads to their end. */
void open_pages(const char *tracefs);

/* Calls a function with each branch in the order of time. May be called several times. */
void each_record(record_fn action);

/* Both end the program; what cannot be read is status 2, what is wrong is 1. */
void die(const char *what);
void bad_input(const char *what, const char *detail);

#endif
