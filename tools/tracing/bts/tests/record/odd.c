// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a trace with hostile names: odd FILE [ADDRESS]
 *
 * A task calls a function of a JIT compiler twice, or ODD_CALLS times. The names of the task and
 * its functions, and the recorded command, contain a quote, a tag of HTML, UTF-8, an invalid byte,
 * and sequences that set a terminal's title and colour. With ADDRESS, the task also takes branches
 * in /throws, a program without a build ID that begins at 0x400000.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "record/made_formats.h"
#include "record/pages.h"
#include "record/writer.h"
#include "symbols/archive.h"

#define ODD	"q\"\\<i>&\303\274\377\033]0;x\a\302\233"
#define PID	77
#define CODE	0x10000

static void put_map(struct pages *p, const char *path, uint64_t addr, uint64_t length)
{
	struct {
		struct made_map	row;
		char		path[8];
	} __attribute__((packed)) map = {
		.row = {
			.entry = { .type = MADE_MAP, .pid = PID }, .pid = PID, .tgid = PID,
			.addr = addr, .len = length, .path = sizeof(map.row) | 8U << 16,
		},
	};

	snprintf(map.path, sizeof(map.path), "%s", path);
	pages_row(p, 1000, &map, sizeof(map));
}

/* Write a chain of branches through the program "throws". Each branch leads 16 bytes ahead. */
static void put_program(struct pages *p, uint64_t from)
{
	put_map(p, "/throws", 0x400000, 0x100000);
	for (uint64_t at = from; at < from + 0x400; at += 16)
		pages_branch(p, PID, 2500, at, at + 16);
}

static void put_rows(struct pages *p, uint64_t program)
{
	struct made_arrives arrives = {
		.entry = { .type = MADE_ARRIVES, .pid = PID }, .comm = ODD, .pid = PID,
		.tgid = PID, .user_ip = CODE,
	};
	struct made_departs departs = {
		.entry = { .type = MADE_DEPARTS, .pid = PID }, .comm = ODD, .pid = PID,
		.tgid = PID, .user_ip = CODE + 8,
	};
	const char *calls = getenv("ODD_CALLS");

	put_map(p, "//anon", CODE, 0x1000);
	pages_row(p, 1000, &arrives, sizeof(arrives));
	for (int i = 0; i < (calls ? atoi(calls) : 2); i++) {
		pages_branch(p, PID, 2000, CODE + 4, CODE + 0x100);
		pages_branch(p, PID, 2000, CODE + 0x104, CODE + 8);
	}
	if (program)
		put_program(p, program);
	pages_lost(p, 3000, PID, 1);
	pages_row(p, 4000, &departs, sizeof(departs));
}

int main(int argc, char **argv)
{
	static const char map[] = "10000 100 outer" ODD "\n10100 100 inner" ODD "\n";
	char *none[] = { NULL };
	struct writer *w = argc >= 2 ? writer_create(argv[1], MADE_PAGE) : NULL;
	struct pages *p = NULL;
	int failed = 1;

	if (w && !made_formats_write(w, false))
		p = pages_open(w, 0);
	if (p) {
		put_rows(p, argc == 3 ? strtoull(argv[2], NULL, 16) : 0);
		failed = pages_close(p) ||
			 writer_finish(w, "77 " ODD "\n", "[local]", none, 1,
				       "\ncommand: " ODD "\npid: 1\npid: 2\nbranches: 4\ntasks: 1\n"
				       "owner: bts\nbuffer_full: 1\nrows_lost: 3\n") ||
			 archive_put(argv[1], "perf-77.map", map, sizeof(map) - 1);
	}
	if (w)
		writer_free(w);
	return failed;
}
