// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a trace of two CPUs until the process is killed: killed FILE [N]
 *
 * As in a flight recording, the trace has two parts for each CPU. One part contains branches. The
 * other part shows which files are mapped. The Nth write() writes half of its bytes, and then the
 * process receives SIGKILL. Without N, the trace is completed, and the number of write() calls is
 * printed. Link with --wrap=write.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/ring_page.h"
#include "file/trace_dat.h"
#include "record/made_formats.h"
#include "record/pages.h"
#include "record/writer.h"

#define CPUS		2
#ifndef BRANCHES
#define BRANCHES	300000
#endif

static long writes, last;

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	if (++writes != last)
		return __real_write(fd, data, size);
	__real_write(fd, data, size / 2);
	kill(getpid(), SIGKILL);
	return -1;
}

/* Write a page with one entry, a mapping. The page's header contains the time and the size. */
static int put_mapping(struct writer *w, int cpu, int pid)
{
	static const char path[] = "/usr/bin/killed";
	struct made_map map = {
		.entry = { .type = MADE_MAP, .pid = pid }, .pid = pid, .tgid = pid,
		.addr = 0x400000, .len = 1 << 20, .path = sizeof(map) | sizeof(path) << 16,
	};
	const uint32_t room = (sizeof(map) + sizeof(path) + 3) & ~3U, header[] = { 0, room + 4 };
	struct writer_cpu *part = writer_add_cpu(w, DAT_MAPS, cpu);
	const uint64_t head[] = { 1, sizeof(header) + room };
	uint8_t page[MADE_PAGE] = {}, *entry = page + RING_PAGE_HEADER + sizeof(header);

	memcpy(page, head, sizeof(head));
	memcpy(page + RING_PAGE_HEADER, header, sizeof(header));
	memcpy(entry, &map, sizeof(map));
	memcpy(entry + sizeof(map), path, sizeof(path));
	return part ? writer_write_pages(part, page, sizeof(page), 0, true) : -1;
}

static void put_branches(struct pages **cpus)
{
	uint64_t random = 1, at = 0x401000;

	for (int i = 0; i < BRANCHES; i++) {
		int cpu = i / 100 % CPUS;
		uint64_t to;

		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		to = random >> 17;
		pages_branch(cpus[cpu], 77 + cpu, 1000 + i / 100, at, to);
		at = to;
	}
}

int main(int argc, char **argv)
{
	struct writer *w;
	struct pages *cpus[CPUS];
	char *none[] = { NULL };
	int failed;

	if (argc > 2)
		last = atol(argv[2]);
	w = argc > 1 ? writer_create(argv[1], MADE_PAGE) : NULL;
	if (!w || made_formats_write(w, false) || writer_write_draft(w, "tool: killed\n"))
		return 1;
	for (int cpu = 0; cpu < CPUS; cpu++)
		cpus[cpu] = pages_open(w, 3 * cpu);
	failed = put_mapping(w, 0, 77) | put_mapping(w, 3, 78);
	put_branches(cpus);
	failed |= pages_close(cpus[0]) | pages_close(cpus[1]);
	failed |= writer_finish(w, "77 killed\n78 killed\n", "[local]", none, CPUS,
				"tool: killed\ndata_bytes: 1\nbranches: 300000\ntasks: 2\n");
	writer_free(w);
	printf("%ld\n", writes);
	return failed;
}
