// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts import: convert the branches in a perf.data file into a trace.dat file for other commands.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/trace_dat.h"
#include "lib/bytes.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "record/bill.h"
#include "record/made_formats.h"
#include "record/perf_data.h"
#include "record/writer.h"
#include "symbols/archive.h"
#include "cmd.h"
#include "command.h"
#include "recording.h"

static const char usage[] =
"Usage: bts import [OPTIONS] [FILE]\n"
"\n"
"Converts a perf.data file into a trace. Record the file with one of these commands:\n"
"\n"
"  perf record -e branches:u -c 1 -d COMMAND          user space\n"
"  perf record --per-thread -e intel_bts// COMMAND    user space and kernel, as root\n"
"\n"
"  -i, --input FILE    perf's file (perf.data)\n"
"  -o, --output FILE   the trace (trace.dat)\n"
"  -h, --help          this text\n";

#define CANNOT	"branches:u (user side only; task-switch rows lack the task's instruction " \
		"pointer; branches may be lost)"

static char *info_text(struct perf_data *data, const struct perf_rows *rows,
		       const struct writer *w)
{
	char *about = perf_data_describe(data), *text;
	bool kernel_ends = perf_data_has_kernel_side(data);

	text = mem_format("%sbackend: perf, %s\nkernel_ends: %s\nbranches: %llu\ntasks: %zu\n"
			  "switches: %llu\nflight: 0\ndata_bytes: %llu\nperf_lost: %llu\n"
			  "perf_damaged: %d\n", about,
			  perf_data_is_intel_bts(data) ? "intel_bts" : CANNOT,
			  kernel_ends ? "present" : "absent",
			  writer_branches(w), rows->names.nr,
			  (unsigned long long)rows->switches, writer_data_size(w),
			  (unsigned long long)rows->losses, perf_data_is_damaged(data));
	free(about);
	return text;
}

static int finish(struct perf_data *data, struct perf_rows *rows, struct writer *w,
		  const char *output)
{
	static char *no_stats[] = { NULL };
	char *names = recording_cmdlines(&rows->names), *info = info_text(data, rows, w);
	struct bill bill = {
		.branches = writer_branches(w), .unwritten = writer_unwritten(w),
		.tasks = rows->names.nr, .switches = rows->switches, .stats = info,
		.data_bytes = writer_data_size(w),
	};
	int ret = writer_finish(w, names, "[local]", no_stats, sysconf(_SC_NPROCESSORS_CONF), info);

	if (!perf_data_is_intel_bts(data) && rows->names.nr > 1)
		msg_warn("perf record does not separate tasks that share a CPU, so branches of "
			 "the %zu tasks may be attributed to the wrong task; bts record separates "
			 "tasks", rows->names.nr);
	if (!ret) {
		recording_leave_archive(writer_kept_old(w), output);
		bill.file_bytes = writer_size(w);
		bill_print(stderr, output, &bill);
	}
	free(info);
	free(names);
	return ret;
}

static int import(const char *input, const char *output)
{
	struct perf_data *data = perf_data_open(input);
	struct writer *w = data ? writer_create(output, MADE_PAGE) : NULL;
	struct perf_rows rows;
	int ret = STATUS_FAILURE;

	perf_rows_init(&rows);
	/*
	 * If perf did not record the returns from the kernel, skip the branches into the kernel,
	 * because a branch into the kernel without a return would look like a gap.
	 */
	rows.user_only = data && !perf_data_has_kernel_side(data);
	if (w && !made_formats_write(w, perf_data_of_this_kernel(data))) {
		ret = perf_data_read(data, &rows, w) ? STATUS_FAILURE : STATUS_OK;
		/* Finish the file even after a failure, because the existing data is valid. */
		if (finish(data, &rows, w, output))
			ret = STATUS_FAILURE;
	}
	perf_rows_free(&rows);
	if (w)
		writer_free(w);
	if (data)
		perf_data_close(data);
	return ret;
}

int cmd_import(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "input",	required_argument,	NULL, 'i' },
		{ "output",	required_argument,	NULL, 'o' },
		{ "help",	no_argument,		NULL, 'h' },
		{}
	};
	const char *input = "perf.data", *output = DAT_NAME;
	int option;

	while ((option = getopt_long(argc, argv, "i:o:h", longs, NULL)) != -1) {
		switch (option) {
		case 'i':
			input = optarg;
			break;
		case 'o':
			output = optarg;
			break;
		case 'h':
			return msg_usage(usage);
		default:
			return STATUS_MISUSE;
		}
	}
	if (command_operand(&input, "import", argc, argv))
		return STATUS_MISUSE;
	return import(input, output);
}
