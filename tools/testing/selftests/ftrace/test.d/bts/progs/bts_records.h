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

/* Open a file in the format of `trace` with options/raw: "PID CPU TIME FROM TO". */
void open_text(const char *path);

/* Open the pages of all CPUs' trace_pipe_raw, and read them to their end. */
void open_pages(const char *tracefs);

/* Call a function for each branch in order of time. May be called several times. */
void each_record(record_fn action);

/* End the program: with status 2 after a failed call, with status 1 for wrong input. */
void die(const char *what);
void bad_input(const char *what, const char *detail);

#endif
