// SPDX-License-Identifier: GPL-2.0
/*
 * bts_compare - check that a trace has exactly the expected user branches, in order
 *
 *	bts_compare [-cku] [-x RANGES] [-p PID[,PID...]] EXPECTED TRACE
 *	bts_compare [-cku] [-x RANGES] [-p PID[,PID...]] -r TRACEFS EXPECTED
 *
 * EXPECTED has lines "TASK FROM TO COUNT", the output of bts_step or expect.awk. TRACE has lines
 * "PID CPU TIME FROM TO", the format of `trace` and `trace_pipe` with options/raw. With -r, the
 * tool reads the ring buffer's pages from per_cpu/cpu<N>/trace_pipe_raw instead of TRACE.
 *
 * With -p, the first task in EXPECTED has the first given PID, and so on, and the tool ignores
 * other PIDs. Without -p, the first task in EXPECTED has the lowest PID of the trace, the second
 * task has the next higher PID, and so on. It is an error if the trace has more PIDs than EXPECTED
 * has tasks.
 *
 * A record with one kernel address is a crossing. In EXPECTED, the word "kernel" replaces this
 * address. Records with two kernel addresses are only counted. If one crossing leads from an
 * instruction into the kernel, and the next crossing leads back to the same instruction, the pair
 * is an interrupt, or a fault that the kernel resolved. Such a pair need not be in EXPECTED, and is
 * only counted. But the instruction must lie between the destination of the task's previous branch
 * and the source of the task's next branch. Any other crossing that is not in EXPECTED is an error.
 *
 * Use -c for a trace without branches within user space. With -c, EXPECTED must contain only
 * crossings, and the program's position between two crossings is unknown.
 *
 * With -u, the tool skips the branches in EXPECTED and TRACE that begin or end in the kernel.
 *
 * Use -k for a trace of both user space and the kernel. Then each record of a task must begin at
 * the target of the task's previous record, or less than MAX_STRAIGHT bytes after this target. This
 * check finds missing kernel branches, although EXPECTED does not contain them. The check does not
 * notice a missing short forward jump.
 *
 * With -x, no record may begin or end in an address range listed in the file RANGES, which has
 * lines "START END NAME".
 *
 * If a task's list in EXPECTED begins with "kernel -> X", as after exec, the tool skips all earlier
 * branches of the task in TRACE. These are branches of the launcher. With -u, the tool always skips
 * branches before the first expected branch. A line of the trace that shows something other than a
 * branch, such as a loss, is an error.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bts_records.h"

#define KERNEL		(~0UL)
#define MAX_TASKS	64
#define HISTORY		8
#define MAX_RANGES	1024

/*
 * The CPU executes at most this many bytes of kernel code without a taken branch. For example,
 * blake2s_compress() contains 5 KB of such code.
 */
#define MAX_STRAIGHT	8192

struct expected {
	unsigned long from;
	unsigned long to;
	unsigned long count;
};

struct branch {
	unsigned long from;
	unsigned long to;
};

struct task {
	struct expected *list;
	size_t n_list;
	size_t at;		/* the index of the next expected branch */
	unsigned long done;	/* how many times the trace has shown this expected branch */
	int pid;
	bool begun;
	bool failed;
	bool held;		/* "entry" contains a crossing that may be an interrupt */
	struct branch entry;
	unsigned long cursor;	/* the lowest address at which the next user branch can begin */
	unsigned long matched;
	unsigned long interrupts;
	struct branch history[HISTORY];
	unsigned long n_history;
	bool chained;		/* last_to is valid */
	unsigned long last_to;
};

struct range {
	unsigned long start;
	unsigned long end;
	char name[64];
};

static struct task tasks[MAX_TASKS];
static int n_tasks;		/* number of tasks in EXPECTED */
static int n_pids;		/* number of tasks whose PID is known */
static bool pids_given;
static bool check_chain;
static bool partly;		/* with -c or -u, the tool compares only some branches */
static bool user_only;
static struct range ranges[MAX_RANGES];
static int n_ranges;
static unsigned long n_kernel;
static unsigned long n_other;
static int status;

/* ---- the expected list ----------------------------------------------- */

static unsigned long parse_end(const char *text)
{
	return strcmp(text, "kernel") ? strtoul(text, NULL, 16) : KERNEL;
}

static void expect(struct task *task, unsigned long from, unsigned long to,
		   unsigned long count)
{
	struct expected *last = task->list + task->n_list - 1;

	if (task->n_list && last->from == from && last->to == to) {
		last->count += count;
		return;
	}
	if (!(task->n_list & (task->n_list + 1))) {
		task->list = realloc(task->list, (task->n_list + 1) * 2 *
				     sizeof(*task->list));
		if (!task->list)
			die("realloc");
	}
	task->list[task->n_list++] = (struct expected){ from, to, count };
}

static void read_expected(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[128], from[32], to[32];
	unsigned long count;
	int index;

	if (!file)
		die(path);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%d %31s %31s %lu", &index, from, to, &count) != 4 ||
		    index < 0 || index >= MAX_TASKS)
			bad_input(path, line);
		if (user_only && strstr(line, "kernel"))
			continue;
		if (index >= n_tasks)
			n_tasks = index + 1;
		expect(&tasks[index], parse_end(from), parse_end(to), count);
	}
	fclose(file);
	if (!n_tasks)
		bad_input(path, "no expected branches");
}

/* ---- the comparison -------------------------------------------------- */

static const char *end_name(unsigned long end, char *buffer, size_t size)
{
	if (end == KERNEL)
		return "kernel";
	snprintf(buffer, size, "%lx", end);
	return buffer;
}

static void print_branch(const char *what, struct branch branch)
{
	char from[24], to[24];

	printf("  %-9s %s -> %s\n", what,
	       end_name(branch.from, from, sizeof(from)),
	       end_name(branch.to, to, sizeof(to)));
}

static void task_fail(struct task *task, const struct branch *got, const char *why)
{
	unsigned long first = task->n_history > HISTORY ? task->n_history - HISTORY : 0;

	if (task->failed)
		return;
	task->failed = true;
	status = 1;
	printf("task %td pid %d: %s after %lu branches\n", task - tasks, task->pid,
	       why, task->matched);
	for (; first < task->n_history; first++)
		print_branch("had", task->history[first % HISTORY]);
	if (task->at < task->n_list) {
		struct branch next = {
			task->list[task->at].from,
			task->list[task->at].to,
		};

		print_branch("expected", next);
	} else {
		printf("  expected  the end\n");
	}
	if (got)
		print_branch("got", *got);
}

static bool due(const struct task *task, size_t ahead, unsigned long from,
		unsigned long to)
{
	size_t at = task->at + ahead;

	return at < task->n_list && task->list[at].from == from &&
		task->list[at].to == to;
}

static void match(struct task *task, struct branch got)
{
	if (task->failed)
		return;
	if (!due(task, 0, got.from, got.to)) {
		task_fail(task, &got, "wrong branch");
		return;
	}
	if (!partly && got.from != KERNEL && got.from < task->cursor) {
		task_fail(task, &got, "branch begins at a lower address than the last interrupt");
		return;
	}
	if (got.to != KERNEL)
		task->cursor = got.to;
	task->matched++;
	if (++task->done == task->list[task->at].count) {
		task->at++;
		task->done = 0;
	}
}

static void interrupted(struct task *task)
{
	if (!partly && task->entry.from < task->cursor)
		task_fail(task, &task->entry, "interrupt from an address that was not executed");
	task->cursor = task->entry.from;
	task->interrupts++;
}

static void release_entry(struct task *task)
{
	if (task->held)
		match(task, task->entry);
	task->held = false;
}

static void task_branch(struct task *task, struct branch got)
{
	if (!task->begun) {
		if ((user_only || task->list[0].from == KERNEL) &&
		    !due(task, 0, got.from, got.to))
			return;
		task->begun = true;
	}
	if (task->held && got.from == KERNEL && got.to == task->entry.from &&
	    !(due(task, 0, got.to, KERNEL) && due(task, 1, KERNEL, got.to))) {
		task->held = false;
		interrupted(task);
	} else {
		release_entry(task);
		if (got.to == KERNEL) {
			task->held = true;
			task->entry = got;
		} else {
			match(task, got);
		}
	}
	task->history[task->n_history++ % HISTORY] = got;
}

static struct task *find_task(int pid)
{
	int i;

	for (i = 0; i < n_pids; i++)
		if (tasks[i].pid == pid)
			return &tasks[i];
	return NULL;
}

static void chain(struct task *task, const struct record *record)
{
	struct branch got = { record->from, record->to };

	if (task->chained && record->from - task->last_to >= MAX_STRAIGHT) {
		if (!task->failed)
			printf("task %td pid %d: a branch is missing after %lx\n",
			       task - tasks, task->pid, task->last_to);
		task_fail(task, &got, "gap");
	}
	task->chained = true;
	task->last_to = record->to;
}

static void forbid(const struct record *record)
{
	const struct range *range;

	for (range = ranges; range < ranges + n_ranges; range++) {
		if ((record->from < range->start || record->from >= range->end) &&
		    (record->to < range->start || record->to >= range->end))
			continue;
		printf("pid %d: a branch must not begin or end in %s: %lx -> %lx\n", record->pid,
		       range->name, record->from, record->to);
		status = 1;
	}
}

static void compare_record(const struct record *record)
{
	struct branch branch = {
		(long)record->from < 0 ? KERNEL : record->from,
		(long)record->to < 0 ? KERNEL : record->to,
	};
	struct task *task = find_task(record->pid);

	if (!task) {
		if (!pids_given) {
			printf("unexpected pid %d\n", record->pid);
			print_branch("got", branch);
			status = 1;
		}
		n_other++;
		return;
	}
	if (n_ranges)
		forbid(record);
	if (check_chain)
		chain(task, record);
	if (user_only && (branch.from == KERNEL || branch.to == KERNEL))
		return;
	if (branch.from == KERNEL && branch.to == KERNEL) {
		n_kernel++;
		return;
	}
	task_branch(task, branch);
}

static void finish(void)
{
	struct task *task;

	for (task = tasks; task < tasks + n_tasks; task++) {
		if (!task->n_list)
			continue;
		release_entry(task);
		if (task->at < task->n_list)
			task_fail(task, NULL, task->begun ? "ends" : "never begins");
		if (!task->failed)
			printf("task %td pid %d: %lu branches in order, %lu interrupts\n",
			       task - tasks, task->pid, task->matched,
			       task->interrupts);
	}
	printf("%lu kernel branches, %lu branches of other tasks\n", n_kernel, n_other);
}

static void read_ranges(const char *path)
{
	FILE *file = fopen(path, "r");
	struct range *range = ranges;

	if (!file)
		die(path);
	while (range < ranges + MAX_RANGES &&
	       fscanf(file, "%lx %lx %63s", &range->start, &range->end, range->name) == 3)
		range++;
	if (range == ranges || !feof(file))
		bad_input(path, "ranges");
	n_ranges = range - ranges;
	fclose(file);
}

/* ---- PIDs ------------------------------------------------------------ */

static void give_pids(char *list)
{
	char *pid;

	pids_given = true;
	for (pid = strtok(list, ","); pid; pid = strtok(NULL, ",")) {
		if (n_pids == MAX_TASKS)
			bad_input("-p", "too many");
		tasks[n_pids++].pid = atoi(pid);
	}
}

/* Store the PIDs in ascending order, because EXPECTED lists tasks in order of creation. */
static void note_pid(const struct record *record)
{
	int pid = record->pid;
	int i;

	if (pids_given || find_task(pid) || n_pids == MAX_TASKS)
		return;
	for (i = n_pids++; i > 0 && tasks[i - 1].pid > pid; i--)
		tasks[i].pid = tasks[i - 1].pid;
	tasks[i].pid = pid;
}

static void pids_noted(void)
{
	if (n_pids > n_tasks && !pids_given)
		n_pids = n_tasks;
}

int main(int argc, char **argv)
{
	const char *tracefs = NULL;
	int option;

	while ((option = getopt(argc, argv, "ckux:p:r:")) != -1) {
		if (option == 'c')
			partly = true;
		else if (option == 'u')
			user_only = true;
		else if (option == 'k')
			check_chain = true;
		else if (option == 'x')
			read_ranges(optarg);
		else if (option == 'p')
			give_pids(optarg);
		else if (option == 'r')
			tracefs = optarg;
		else
			goto usage;
	}
	if (argc - optind != (tracefs ? 1 : 2))
		goto usage;
	partly |= user_only;
	read_expected(argv[optind]);
	if (tracefs)
		open_pages(tracefs);
	else
		open_text(argv[optind + 1]);
	each_record(note_pid);
	pids_noted();
	each_record(compare_record);
	finish();
	return status;
usage:
	fprintf(stderr, "usage: bts_compare [-cku] [-x RANGES] [-p PID[,PID...]] EXPECTED TRACE\n"
		"       bts_compare [-cku] [-x RANGES] [-p PID[,PID...]] -r TRACEFS EXPECTED\n");
	return 2;
}
