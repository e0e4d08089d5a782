// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read a trace with KernelShark's library: kshark FILE. Print the number of branches in the
 * bts_pack and bts_branch rows, the number of bts_pack rows, and the number of all rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libkshark.h>

/* Columns: stream; time; task; CPU; latency; event; info. A pack's info is "N branches: ...". */
static void count(const char *row, unsigned long *packs, unsigned long *branches)
{
	const char *event = strstr(row, "; ftrace/bts_");

	if (event && !strncmp(event, "; ftrace/bts_pack; ", 19)) {
		*packs += 1;
		*branches += strtoul(event + 19, NULL, 10);
	} else if (event && !strncmp(event, "; ftrace/bts_branch; ", 21)) {
		*branches += 1;
	}
}

int main(int argc, char **argv)
{
	unsigned long packs = 0, branches = 0;
	struct kshark_context *context = NULL;
	struct kshark_entry **rows;
	int stream = -1;
	ssize_t nr = 0;

	if (argc == 2 && kshark_instance(&context))
		stream = kshark_open(context, argv[1]);
	if (stream >= 0)
		nr = kshark_load_entries(context, stream, &rows);
	for (ssize_t i = 0; i < nr; i++) {
		char *row = kshark_dump_entry(rows[i]);

		if (row)
			count(row, &packs, &branches);
		free(row);
	}
	printf("%lu branches, %lu packs, %zd rows\n", branches, packs, nr);
	return nr <= 0;
}
