// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts restore: complete the trace of a recording that was killed.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/trace_dat.h"
#include "lib/bytes.h"
#include "lib/causes.h"
#include "lib/msg.h"
#include "record/bill.h"
#include "record/restore.h"
#include "cmd.h"
#include "command.h"
#include "recording.h"

static const char usage[] =
"Usage: bts restore [OPTIONS] [FILE]\n"
"\n"
"Completes the trace of a recording that was killed, and prints its summary. bts restore\n"
"makes the trace FILE (trace.dat) from the files FILE.new and FILE.new.cpuN.\n"
"\n"
"  -i, --input FILE   the trace\n"
"  -h, --help         this text\n";

/* Return the text of the BTS section, with the lines that the killed bts record did not write. */
static char *info_text(const struct restore *r)
{
	struct bytes text = {};

	if (r->info)
		bytes_add(&text, r->info, strlen(r->info));
	if (!r->ended)
		bytes_format(&text, "branches: %llu\ntasks: %zu\nswitches: %llu\n"
			     "overwritten: %llu\ndata_bytes: %llu\nrecorder_killed: %u\n"
			     "killed_at: %lld\n",
			     writer_branches(r->writer), r->counts.names.nr, r->counts.switches,
			     r->counts.overwritten, writer_data_size(r->writer), r->nr_cut,
			     r->written);
	bytes_add8(&text, 0);
	return text.data;
}

static int finish(struct restore *r, const char *trace)
{
	char *names = r->ended ? strdup(r->cmdlines) : recording_cmdlines(&r->counts.names);
	char *info = info_text(r);
	struct bill bill;
	int ret = restore_finish(r, names, info);

	if (!ret) {
		recording_leave_archive(writer_kept_old(r->writer), trace);
		bill = bill_of_info(info, writer_size(r->writer));
		bill_print(stderr, trace, &bill);
	}
	free(info);
	free(names);
	return ret;
}

static int restore(const char *trace)
{
	struct restore r;
	int ret = restore_open(&r, trace) || finish(&r, trace) ? STATUS_FAILURE : STATUS_OK;

	restore_close(&r);
	return ret;
}

int cmd_restore(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "input",	required_argument,	NULL, 'i' },
		{ "help",	no_argument,		NULL, 'h' },
		{}
	};
	const char *trace = DAT_NAME;
	int option;

	while ((option = getopt_long(argc, argv, "i:h", longs, NULL)) != -1) {
		switch (option) {
		case 'i':
			trace = optarg;
			break;
		case 'h':
			return msg_usage(usage);
		default:
			return STATUS_MISUSE;
		}
	}
	if (command_trace_name(&trace, "restore", argc, argv))
		return STATUS_MISUSE;
	return restore(trace);
}
