// SPDX-License-Identifier: GPL-2.0-only
/*
 * The probe records a program whose branches are known, and compares each recorded branch with the
 * expected branch.
 *
 * The program is probe_code.S, which lists the expected branches beside the code. A child runs the
 * program and its signal handlers on one CPU. The probe compares only branches within the program,
 * and branches between the program and the kernel. The trace must contain exactly the expected
 * rows, in the expected order. Interrupts may appear between these rows. An interrupt is a branch
 * from any instruction of the program into the kernel, followed by a branch back to the same
 * instruction.
 *
 * The probe reads the trace as text, with options/raw set. In this text, each branch has its own
 * row, even if one entry of the ring buffer (a pack) contains several branches.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/cpus.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "lib/text.h"
#include "instance.h"
#include "probe.h"

enum {
	SHOWN_ROWS	= 4,		/* rows to print, beginning with the first difference */
	COST_BRANCHES	= 1000000,
};

#define KERNEL	(1ULL << 63)

struct probe_row {
	uint64_t	from, to;
};

struct probe_rows {
	struct probe_row	*list;
	size_t			nr;
	size_t			lost;		/* number of LOST rows */
};

/* A configuration of the tracer. The probe runs with each configuration. */
struct way {
	const char	*name;
	bool		user, kernel, pack;
	bool		filter;		/* the hardware drops unwanted branches */
};

/*
 * With the hardware's filter, a trace of user space lacks either the branches into the kernel or
 * the branches out of the kernel. The SDM does not specify which of them the filter drops.
 */
enum missing { NONE, INTO_KERNEL, OUT_OF_KERNEL };

/* --- The child ---------------------------------------------------------------------- */

/* Call the kernel directly, because the C library's sigaction() would replace the restorer. */
static void set_handler(int sig)
{
	struct {
		const void	*handler;
		unsigned long	flags;
		const void	*restorer;
		uint64_t	mask;
	} action = {
		.handler	= probe_handler,
		.flags		= SA_SIGINFO | 0x04000000,	/* SA_RESTORER */
		.restorer	= probe_restorer,
	};

	if (syscall(SYS_rt_sigaction, sig, &action, NULL, sizeof(action.mask)))
		_exit(1);
}

static void run_on(int cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	size_t size = CPU_ALLOC_SIZE(cpu + 1);

	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(0, size, set))
		_exit(1);
	CPU_FREE(set);
}

static void child_probe(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	set_handler(SIGILL);
	set_handler(SIGTRAP);
	set_handler(SIGUSR1);
	probe_run(page);
}

static void child_cost(void)
{
	unsigned long n = COST_BRANCHES;

	asm volatile("1: dec %0; jnz 1b" : "+r" (n));
}

/* Start a child on a CPU. The child waits for a byte from the pipe @go, and then calls @work. */
static pid_t start_child(int cpu, int *go, void (*work)(void))
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(ends[1]);
		run_on(cpu);
		if (read(ends[0], &byte, 1) == 1)
			work();
		_exit(0);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

/* --- The trace ---------------------------------------------------------------------- */

/* Parse lines "PID CPU NS FROM TO" and "PID CPU NS LOST N CAUSE". */
static struct probe_rows parse_rows(char *text, pid_t pid)
{
	struct probe_rows rows = {};
	char *save = NULL;

	for (char *line; (line = strtok_r(text, "\n", &save)); text = NULL) {
		unsigned int cpu;
		uint64_t from, to;
		int row_pid, at = 0;

		if (sscanf(line, "%d %u %*u %n", &row_pid, &cpu, &at) < 2 || !at ||
		    row_pid != pid)
			continue;
		if (!strncmp(line + at, "LOST", 4))
			rows.lost++;
		if (sscanf(line + at, "%" SCNx64 " %" SCNx64, &from, &to) != 2)
			continue;
		/* Double the list's size when the number of rows is a power of two. */
		if (!(rows.nr & (rows.nr - 1)))
			rows.list = mem_realloc(rows.list, 2 * rows.nr + 1, sizeof(*rows.list));
		rows.list[rows.nr++] = (struct probe_row){ from, to };
	}
	return rows;
}

static int write_option(const struct instance *inst, const char *name, bool value)
{
	char *file = mem_format("options/%s", name);
	int ret = instance_write(inst, file, value ? "1" : "0");

	free(file);
	return ret;
}

/* Run @work in a child on the CPU @cpu, record the child, and measure how long it runs. */
static int record_child(const struct instance *inst, int cpu, void (*work)(void),
			double *seconds, pid_t *child)
{
	struct timespec from, to;
	char number[16];
	int go, status, ended = 0;

	*child = start_child(cpu, &go, work);
	if (*child < 0) {
		msg_errno("start a child", NULL);
		return -1;
	}
	snprintf(number, sizeof(number), "%d", *child);
	if (instance_write(inst, "trace", "") || instance_write(inst, "set_ftrace_pid", number) ||
	    instance_write(inst, "tracing_on", "1"))
		status = -1;
	else
		status = write(go, "", 1) == 1 ? 0 : -1;
	clock_gettime(CLOCK_MONOTONIC, &from);
	close(go);
	if (waitpid(*child, &ended, 0) != *child || ended)
		status = -1;
	clock_gettime(CLOCK_MONOTONIC, &to);
	*seconds = to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
	if (instance_write(inst, "tracing_on", "0"))
		return -1;
	if (status)
		msg_error("run the probe", NULL, "the program ended with wait status %#x", ended);
	return status ? -1 : 0;
}

/* --- The comparison ----------------------------------------------------------------- */

static bool in_probe(uint64_t addr)
{
	return addr >= (uintptr_t)probe_start && addr < (uintptr_t)probe_end;
}

static bool in_kernel(uint64_t addr)
{
	return addr & KERNEL;
}

/* Return the address of a kernel symbol, or 0 if the symbol is unknown. */
static uint64_t kernel_symbol(const char *kallsyms, const char *name)
{
	char *pattern = mem_format(" %s\n", name);
	const char *at = kallsyms ? strstr(kallsyms, pattern) : NULL;

	free(pattern);
	while (at && at > kallsyms && at[-1] != '\n')
		at--;
	return at ? strtoull(at, NULL, 16) : 0;
}

static bool matches(const struct probe_row *row, const struct probe_branch *branch,
		    const char *kallsyms)
{
	uint64_t symbol;

	if (branch->from ? row->from != branch->from : !in_kernel(row->from))
		return false;
	if (branch->to)
		return row->to == branch->to;
	symbol = kernel_symbol(kallsyms, branch->kernel_to);
	return symbol ? row->to == symbol : in_kernel(row->to);
}

/*
 * If @row is the first row of an interrupt, return the number of the interrupt's rows, otherwise 0.
 * An interrupt has two rows: the branch into the kernel, and the branch back. If the hardware drops
 * one of these branches, the interrupt has one row.
 */
static size_t is_interrupt(const struct probe_row *row, size_t left, enum missing missing)
{
	if (left && missing != NONE)
		return in_kernel(row->from) != in_kernel(row->to);
	return left > 1 && in_probe(row[0].from) && in_kernel(row[0].to) &&
	       in_kernel(row[1].from) && row[1].to == row[0].from ? 2 : 0;
}

/* Remove the rows that compare() does not need. */
static void select_rows(struct probe_rows *rows)
{
	size_t used = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct probe_row *row = &rows->list[i];

		if ((in_probe(row->from) && (in_probe(row->to) || in_kernel(row->to))) ||
		    (in_kernel(row->from) && in_probe(row->to)))
			rows->list[used++] = *row;
	}
	rows->nr = used;
}

static void show_end(uint64_t addr)
{
	if (in_probe(addr))
		printf("probe+%#" PRIx64, addr - (uintptr_t)probe_start);
	else if (addr)
		printf("%#" PRIx64, addr);
	else
		fputs("kernel", stdout);
}

static void show_difference(const struct probe_rows *rows, size_t at,
			    const struct probe_branch *branch)
{
	fputs("     expected  ", stdout);
	if (branch < probe_branches_end) {
		show_end(branch->from);
		fputs(" -> ", stdout);
		if (branch->to)
			show_end(branch->to);
		else
			fputs(*branch->kernel_to ? branch->kernel_to : "kernel", stdout);
		printf("  (%s)\n", branch->words);
	} else {
		puts("no more");
	}
	for (size_t i = at; i < at + SHOWN_ROWS && i < rows->nr; i++) {
		fputs("     got       ", stdout);
		show_end(rows->list[i].from);
		fputs(" -> ", stdout);
		show_end(rows->list[i].to);
		putchar('\n');
	}
	if (at >= rows->nr)
		puts("     got       no more");
}

/* Report whether the trace must contain @branch if the tracer is configured as in @way. */
static bool is_wanted(const struct probe_branch *branch, const struct way *way,
		      enum missing missing)
{
	if (branch->from && branch->to)
		return way->user;
	return missing != (branch->from ? INTO_KERNEL : OUT_OF_KERNEL);
}

static const struct probe_branch *next_wanted(const struct probe_branch *branch,
					      const struct way *way, enum missing missing)
{
	while (branch < probe_branches_end && !is_wanted(branch, way, missing))
		branch++;
	return branch;
}

struct result {
	size_t	interrupts, compared;
};

/* Return true if the rows, apart from interrupts, equal the expected rows. */
static bool compare(struct probe_rows *rows, const struct way *way, enum missing missing,
		    const char *kallsyms, struct result *result)
{
	const struct probe_branch *branch = next_wanted(probe_branches, way, missing);
	size_t at = 0, skip;

	select_rows(rows);
	while (at < rows->nr) {
		if (branch < probe_branches_end && matches(&rows->list[at], branch, kallsyms)) {
			branch = next_wanted(branch + 1, way, missing);
			result->compared++;
			at++;
			continue;
		}
		skip = is_interrupt(&rows->list[at], rows->nr - at, missing);
		if (!skip)
			break;
		result->interrupts++;
		at += skip;
	}
	if (at == rows->nr && branch == probe_branches_end)
		return true;
	show_difference(rows, at, branch);
	return false;
}

/* --- All configurations ------------------------------------------------------------- */

/* Read from bts_stats which branches the hardware's filter drops. */
static enum missing missing_side(const struct instance *inst, const struct way *way)
{
	char *stats = way->filter ? instance_read(inst, "bts_stats") : NULL;
	enum missing missing = NONE;

	if (stats && strstr(stats, "hw_cpl_filter: before"))
		missing = OUT_OF_KERNEL;
	else if (stats && strstr(stats, "hw_cpl_filter: after"))
		missing = INTO_KERNEL;
	free(stats);
	return missing;
}

static int choose_way(const struct instance *inst, const struct way *way)
{
	if (instance_has(inst, "options/bts-pack") && write_option(inst, "bts-pack", way->pack))
		return -1;
	return write_option(inst, "bts-user", way->user) ||
	       write_option(inst, "bts-kernel", way->kernel) ||
	       write_option(inst, "bts-cpl-filter", way->filter) ? -1 : 0;
}

static bool probe_way(const struct instance *inst, int cpu, const struct way *way,
		      const char *kallsyms)
{
	struct result result = {};
	struct probe_rows rows;
	double seconds;
	pid_t child;
	char *text;
	bool good;

	if (choose_way(inst, way) || record_child(inst, cpu, child_probe, &seconds, &child))
		return false;
	text = instance_read(inst, "trace");
	if (!text) {
		msg_errno("read", "trace");
		return false;
	}
	rows = parse_rows(text, child);
	free(text);
	good = compare(&rows, way, missing_side(inst, way), kallsyms, &result) && !rows.lost;
	printf("%-5scpu %d, %s: %zu branch%s as expected, %zu interrupt%s, %zu loss%s\n",
	       good ? "ok" : "NO", cpu, way->name, result.compared,
	       text_plural(result.compared, "es"), result.interrupts,
	       text_plural(result.interrupts, "s"), rows.lost, text_plural(rows.lost, "es"));
	free(rows.list);
	return good;
}

/* Measure how long branches take without tracing, with tracing, and with a flight recorder. */
static void probe_cost(const struct instance *inst, int cpu)
{
	double plain, traced, circular;
	pid_t child;

	if (write_option(inst, "overwrite", true) || write_option(inst, "bts-kernel", false) ||
	    write_option(inst, "bts-cpl-filter", false) || write_option(inst, "bts-user", false) ||
	    record_child(inst, cpu, child_cost, &plain, &child) ||
	    write_option(inst, "bts-user", true) ||
	    record_child(inst, cpu, child_cost, &traced, &child) ||
	    write_option(inst, "bts-circular", true) ||
	    record_child(inst, cpu, child_cost, &circular, &child))
		return;
	write_option(inst, "bts-circular", false);
	printf("note cost of a million branches: %.2f ms untraced, %.2f ms traced, %.2f ms with "
	       "a flight recorder\n", plain * 1e3, traced * 1e3, circular * 1e3);
}

static struct instance *set_up(void)
{
	struct instance *inst = instance_create();

	if (!inst)
		return NULL;
	if (instance_write(inst, "tracing_on", "0") ||
	    instance_write(inst, "buffer_size_kb", "8192") ||
	    write_option(inst, "raw", true) || write_option(inst, "context-info", true) ||
	    write_option(inst, "bts-map", false) || write_option(inst, "overwrite", false) ||
	    instance_write(inst, "current_tracer", "bts")) {
		instance_remove(inst);
		return NULL;
	}
	return inst;
}

static void show_stats(const struct instance *inst)
{
	char *stats = instance_read(inst, "bts_stats"), *save = NULL;

	fputs("     bts_stats:", stdout);
	for (char *line = stats ? strtok_r(stats, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		const char *value = strchr(line, ':');

		if (value && strcmp(value, ": 0"))
			printf(" %s;", line);
	}
	putchar('\n');
	free(stats);
}

bool probe_machine(void)
{
	static const struct way ways[] = {
		{ "user and kernel",			true,	true,	false,	false },
		{ "kernel side",			false,	true,	false,	false },
		{ "user side, hardware's filter",	true,	false,	false,	true },
		{ "user side, packed",			true,	false,	true,	false },
		{ "user and kernel, packed",		true,	true,	true,	false },
	};
	static const struct way user = { "user side", true, false, false, false };
	/* sched_getaffinity() fails if the set has fewer bits than there are possible CPUs. */
	cpu_set_t cpus[CPUS_MAX / CPU_SETSIZE] = {};
	struct instance *inst;
	bool good = true;
	char *kallsyms;
	int first = -1;

	if (sched_getaffinity(0, sizeof(cpus), cpus)) {
		msg_errno("list the CPUs", NULL);
		return false;
	}
	kallsyms = path_read("/proc/kallsyms", NULL);
	inst = set_up();
	if (!inst) {
		free(kallsyms);
		return false;
	}
	puts("\nThe probe, a program with one branch of each kind:");
	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (!CPU_ISSET_S(cpu, sizeof(cpus), cpus))
			continue;
		first = first < 0 ? cpu : first;
		good &= probe_way(inst, cpu, &user, kallsyms);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (!ways[i].pack || instance_has(inst, "options/bts-pack"))
			good &= probe_way(inst, first, &ways[i], kallsyms);
	probe_cost(inst, first);
	show_stats(inst);
	printf("\n%s\n", good ? "All branches are as expected. Please send in this report too, "
	       "because few machines have been tested." :
	       "Some branches differ. Please send in this report.");
	instance_remove(inst);
	free(kallsyms);
	return good;
}
