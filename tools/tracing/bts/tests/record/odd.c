// SPDX-License-Identifier: GPL-2.0-only
/*
 * odd FILE [ADDRESS]: write a trace that contains hostile names
 *
 * A task calls a JIT-compiled function twice, or N times with the environment variable ODD_CALLS=N.
 * The names of the task and its functions, and the recorded command, contain a quote, an HTML tag,
 * UTF-8, an invalid byte, and sequences that set a terminal's title and colour. One mapped file
 * does not exist, and its name also contains such a sequence. With ADDRESS, the task also maps the
 * file /throws (no build ID) at 0x400000, and takes 64 branches there. The first begins at ADDRESS.
 *
 * With ODD_STACKS=N, the functions have ordinary names. Each of two fibers calls climb(). Then
 * climb() calls park(), and the fiber waits in park(). Fiber A waits first, but fiber B resumes
 * first. Fiber B calls leaf() N times before it waits, and calls park() several times afterwards.
 *
 * With ODD_GDB=FILE, the task maps two copies of FILE at the same address, one after the other. The
 * trace ends in an idle task. The trace's archive contains FILE in place of the kernel's code.
 *
 * With ODD_PID=N, the task has PID N, and the trace has no archive. With ODD_DUMP=FILE, the task
 * also maps FILE. The lines in ODD_INFO are added to the lines that bts info prints.
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
#define ODD_FILE	"/\033]0;x\a"
#define PATH_LENGTH	40
#define CODE	0x10000
#define KERNEL	0xffffffff81000000

static int pid = 77;

static void put_map(struct pages *p, const char *path, uint64_t addr, uint64_t length)
{
	struct {
		struct made_map	row;
		char		path[PATH_LENGTH];
	} __attribute__((packed)) map = {
		.row = {
			.entry = { .type = MADE_MAP, .pid = pid }, .pid = pid, .tgid = pid,
			.addr = addr, .len = length,
			.path = sizeof(map.row) | (unsigned int)PATH_LENGTH << 16,
		},
	};

	snprintf(map.path, sizeof(map.path), "%s", path);
	pages_row(p, 1000, &map, sizeof(map));
}

/* Write a chain of branches through the program "throws". Each branch jumps forward by 16 bytes. */
static void put_program(struct pages *p, uint64_t from)
{
	put_map(p, "/throws", 0x400000, 0x100000);
	for (uint64_t at = from; at < from + 0x400; at += 16)
		pages_branch(p, pid, 2500, at, at + 16);
}

#define MORE	5

enum { MAIN, FIBER_A, FIBER_B, CLIMB, PARK, LEAF, SWITCH };

static const char stacks_map[] =
	"10000 100 main\n10100 100 fiber_a\n10200 100 fiber_b\n10300 100 climb\n"
	"10400 100 park\n10500 100 leaf\n10600 100 swapcontext\n";

/* A branch leads from the offset @at in the function @from to the offset @offset in @to. */
static void go(struct pages *p, unsigned int from, unsigned int at, unsigned int to,
	       unsigned int offset)
{
	pages_branch(p, pid, 2000, CODE + 0x100 * from + at, CODE + 0x100 * to + offset);
}

/* Call a function that calls no other function. All call instructions here have four bytes. */
static void call_leaf(struct pages *p, unsigned int from, unsigned int at)
{
	go(p, from, at, LEAF, 0);
	go(p, LEAF, 0x10, from, at + 4);
}

/* main() switches to a fiber, which continues at the offset @at in the function @to. */
static void resume(struct pages *p, unsigned int main_at, unsigned int to, unsigned int at)
{
	go(p, MAIN, main_at, SWITCH, 0);
	go(p, SWITCH, 0x10, to, at);
}

/* A fiber calls climb(). Then climb() calls park(), and park() switches to main(). */
static void wait_for_turn(struct pages *p, unsigned int fiber, unsigned int main_at)
{
	go(p, fiber, 0x10, CLIMB, 0);
	go(p, CLIMB, 0x10, PARK, 0);
	go(p, PARK, 0x10, SWITCH, 0);
	go(p, SWITCH, 0x10, MAIN, main_at);
}

/* main() resumes a fiber that waits in park(). The fiber returns from park() and from climb(). */
static void go_on(struct pages *p, unsigned int fiber, unsigned int main_at)
{
	resume(p, main_at, PARK, 0x14);
	call_leaf(p, PARK, 0x18);
	go(p, PARK, 0x20, CLIMB, 0x14);
	go(p, CLIMB, 0x20, fiber, 0x14);
}

static void put_stacks(struct pages *p, int leaves)
{
	resume(p, 0x10, FIBER_A, 4);
	wait_for_turn(p, FIBER_A, 0x14);
	resume(p, 0x20, FIBER_B, 4);
	for (int i = 0; i < leaves; i++) {
		call_leaf(p, FIBER_B, 8);
		go(p, FIBER_B, 12, FIBER_B, 8);
	}
	wait_for_turn(p, FIBER_B, 0x24);
	go_on(p, FIBER_B, 0x30);
	for (int i = 0; i < MORE; i++) {
		go(p, FIBER_B, 0x20, PARK, 0);
		call_leaf(p, PARK, 0x18);
		go(p, PARK, 0x20, FIBER_B, 0x24);
		go(p, FIBER_B, 0x28, FIBER_B, 0x20);
	}
	go(p, FIBER_B, 0x30, SWITCH, 0);
	go(p, SWITCH, 0x10, MAIN, 0x34);
	go_on(p, FIBER_A, 0x40);
	go(p, FIBER_A, 0x30, SWITCH, 0);
	go(p, SWITCH, 0x10, MAIN, 0x44);
}

static void put_rows(struct pages *p, uint64_t program)
{
	struct made_arrives arrives = {
		.entry = { .type = MADE_ARRIVES, .pid = pid }, .comm = ODD, .pid = pid,
		.tgid = pid, .user_ip = CODE,
	};
	struct made_departs departs = {
		.entry = { .type = MADE_DEPARTS, .pid = pid }, .comm = ODD, .pid = pid,
		.tgid = pid, .user_ip = CODE + 8,
	};
	const char *calls = getenv("ODD_CALLS"), *stacks = getenv("ODD_STACKS");
	const char *gdb = getenv("ODD_GDB");

	put_map(p, "//anon", CODE, 0x1000);
	put_map(p, ODD_FILE, 0x500000, 0x1000);
	if (getenv("ODD_DUMP"))
		put_map(p, getenv("ODD_DUMP"), 0x700000, 0x1000);
	if (gdb) {
		put_map(p, "/a.so", 0x600000, 0x1000);
		put_map(p, "/b.so", 0x600000, 0x1000);
	}
	pages_row(p, 1000, &arrives, sizeof(arrives));
	if (stacks)
		put_stacks(p, atoi(stacks));
	for (int i = 0; !stacks && i < (calls ? atoi(calls) : 2); i++) {
		pages_branch(p, pid, 2000, CODE + 4, CODE + 0x100);
		pages_branch(p, pid, 2000, CODE + 0x104, CODE + 8);
	}
	if (program)
		put_program(p, program);
	if (!stacks)
		pages_lost(p, 3000, pid, 1);
	pages_row(p, 4000, &departs, sizeof(departs));
	if (gdb)
		pages_branch(p, 0, 5000, KERNEL, KERNEL + 0x10);
}

static int put_names(const char *trace)
{
	static const char map[] = "10000 100 outer" ODD "\n10100 100 inner" ODD "\n";
	const char *names = getenv("ODD_STACKS") ? stacks_map : map, *gdb = getenv("ODD_GDB");

	if (gdb && (archive_copy(trace, "kcore", gdb, 0) ||
		    archive_copy(trace, "root/a.so", gdb, 0) ||
		    archive_copy(trace, "root/b.so", gdb, 0)))
		return -1;
	if (getenv("ODD_PID"))
		return 0;
	return archive_put(trace, "perf-77.map", names, strlen(names));
}

int main(int argc, char **argv)
{
	const char *number = getenv("ODD_PID"), *added = getenv("ODD_INFO");
	char *info = mem_format("\ncommand: " ODD "\npid: 1\npid: 2\nbranches: 4\ntasks: 1\n"
				"owner: bts\nbuffer_full: 1\nrows_lost: 3\n%s",
				added ? added : "");
	char *none[] = { NULL };
	struct writer *w = argc >= 2 ? writer_create(argv[1], MADE_PAGE) : NULL;
	struct pages *p = NULL;
	int failed = 1;

	pid = number ? atoi(number) : pid;
	if (w && !made_formats_write(w, false))
		p = pages_open(w, 0);
	if (p) {
		put_rows(p, argc == 3 ? strtoull(argv[2], NULL, 16) : 0);
		failed = pages_close(p) ||
			 writer_finish(w, "77 " ODD "\n", "[local]", none, 1, info) ||
			 put_names(argv[1]);
	}
	if (w)
		writer_free(w);
	free(info);
	return failed;
}
