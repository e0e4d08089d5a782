// SPDX-License-Identifier: GPL-2.0
/*
 * lend MIB COMMAND [ARGS...]: run COMMAND while the CPU writes branches to a Debug Store buffer of
 * MIB MiB, without a driver.
 *
 * The guest must have one CPU, and must be booted with pti=off nokaslr. The program allocates four
 * times the memory that the buffer needs, and finds enough consecutive page frames in it. Then the
 * program sets IA32_DS_AREA to the address of these page frames in the kernel's direct mapping. The
 * first page frame is the management area. The other page frames are a circular buffer of MIB MiB.
 * Finally, the program switches BTS on for both privilege levels, prints the following line, and
 * runs COMMAND in an endless loop:
 *
 *     lent PHYSICAL-ADDRESS RECORDS
 *
 * On the host, the script execution-log reads the buffer through the emulator's monitor.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE		4096UL
#define DIRECT_MAP	0xffff888000000000UL	/* with nokaslr and 4-level page tables */
#define PFN_MASK	((1UL << 55) - 1)
#define RECORD_SIZE	24

#define IA32_DEBUGCTL	0x1d9
#define IA32_DS_AREA	0x600
#define TR_BTS		0xc0

struct page {
	uint64_t frame;
	uint64_t *memory;
};

static int by_frame(const void *a, const void *b)
{
	const struct page *p = a, *q = b;

	return (p->frame > q->frame) - (p->frame < q->frame);
}

static struct page *lock_pages(size_t n)
{
	struct page *pages = calloc(n, sizeof(*pages));
	uint64_t entry;
	char *memory;
	size_t i;
	int fd;

	memory = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (!pages || memory == MAP_FAILED || mlock(memory, n * PAGE))
		err(1, "cannot allocate %zu pages", n);
	/* Without MADV_DONTFORK, each fork would copy the page tables of this memory. */
	if (madvise(memory, n * PAGE, MADV_DONTFORK))
		err(1, "madvise");
	fd = open("/proc/self/pagemap", O_RDONLY);
	if (fd < 0)
		err(1, "/proc/self/pagemap");
	for (i = 0; i < n; i++) {
		pages[i].memory = (uint64_t *)(memory + i * PAGE);
		if (pread(fd, &entry, sizeof(entry),
			  (uintptr_t)pages[i].memory / PAGE * sizeof(entry)) !=
		    sizeof(entry))
			err(1, "/proc/self/pagemap");
		pages[i].frame = entry & PFN_MASK;
	}
	close(fd);
	return pages;
}

/* Find @want pages whose page frames are consecutive, and return the first of these pages. */
static const struct page *find_run(const struct page *pages, size_t n, size_t want)
{
	size_t start = 0;
	size_t i;

	for (i = 1; i < n; i++) {
		if (pages[i].frame != pages[i - 1].frame + 1)
			start = i;
		if (i - start + 1 == want)
			return &pages[start];
	}
	errx(1, "no %zu neighbouring page frames", want);
}

static void write_msr(uint32_t msr, uint64_t value)
{
	int fd = open("/dev/cpu/0/msr", O_WRONLY);

	if (fd < 0 || pwrite(fd, &value, sizeof(value), msr) != sizeof(value))
		err(1, "writing MSR %#x", msr);
	close(fd);
}

static void run_forever(char **argv)
{
	pid_t pid;

	for (;;) {
		pid = fork();
		if (!pid) {
			execvp(argv[0], argv);
			err(127, "%s", argv[0]);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			err(1, "running %s", argv[0]);
	}
}

int main(int argc, char **argv)
{
	size_t want, records;
	const struct page *run;
	struct page *pages;
	uint64_t base;

	if (argc < 3)
		errx(2, "usage: lend MIB COMMAND [ARGS...]");
	want = (strtoul(argv[1], NULL, 0) << 20) / PAGE + 1;
	pages = lock_pages(4 * want);
	qsort(pages, 4 * want, sizeof(*pages), by_frame);
	run = find_run(pages, 4 * want, want);

	base = DIRECT_MAP + (run->frame + 1) * PAGE;
	records = (want - 1) * PAGE / RECORD_SIZE;
	run->memory[0] = base;
	run->memory[1] = base;
	run->memory[2] = base + records * RECORD_SIZE;
	run->memory[3] = base + (records + 1) * RECORD_SIZE;
	write_msr(IA32_DS_AREA, base - PAGE);
	write_msr(IA32_DEBUGCTL, TR_BTS);
	printf("lent %#lx %zu\n", run->frame * PAGE, records);
	fflush(stdout);
	run_forever(argv + 2);
}
