// SPDX-License-Identifier: GPL-2.0-only
/*
 * Log each instruction of a program's own code by single-stepping, to check bts diff.
 *
 *	steps OUT PROGRAM ARGUMENT	write a log for each thread: OUT.0, OUT.1 and so on
 *
 * Each line of a log is an address in the program's file. Libraries and the kernel are not logged.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_MAX	64

static struct thread {
	pid_t	tid;
	FILE	*out;
} threads[THREADS_MAX];
static int nr_threads;
static unsigned long begin, end;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static FILE *log_of(pid_t tid, const char *out)
{
	char name[4096];
	int i = 0;

	while (i < nr_threads && threads[i].tid != tid)
		i++;
	if (i < nr_threads)
		return threads[i].out;
	if (i == THREADS_MAX)
		fail("too many threads");
	snprintf(name, sizeof(name), "%s.%d", out, i);
	threads[nr_threads++] = (struct thread) { tid, fopen(name, "w") };
	if (!threads[i].out)
		fail(name);
	return threads[i].out;
}

/* Find where the segments of the program's file are mapped. */
static void find_program(pid_t pid, const char *program)
{
	char name[64], line[4352], *path = realpath(program, NULL);
	unsigned long from, to;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	maps = fopen(name, "r");
	if (!maps || !path)
		fail(name);
	while (fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strstr(line, path) || sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		begin = begin ? begin : from;
		end = to;
	}
	fclose(maps);
	free(path);
}

/* Run the dynamic linker without single-stepping, up to the program's first instruction. */
static void run_to_entry(pid_t pid)
{
	struct user_regs_struct regs;
	unsigned long entry[2] = {};
	char name[64];
	FILE *auxv;
	int status;
	long code;

	snprintf(name, sizeof(name), "/proc/%d/auxv", pid);
	auxv = fopen(name, "r");
	if (!auxv)
		fail(name);
	while (entry[0] != AT_ENTRY)
		if (fread(entry, sizeof(entry), 1, auxv) != 1)
			fail(name);
	fclose(auxv);
	errno = 0;
	code = ptrace(PTRACE_PEEKTEXT, pid, entry[1], 0);
	if (errno || ptrace(PTRACE_POKETEXT, pid, entry[1], (code & ~0xffL) | 0xcc) ||
	    ptrace(PTRACE_CONT, pid, 0, 0) || waitpid(pid, &status, 0) != pid ||
	    !WIFSTOPPED(status) || ptrace(PTRACE_POKETEXT, pid, entry[1], code) ||
	    ptrace(PTRACE_GETREGS, pid, 0, &regs))
		fail("run to the entry");
	regs.rip = entry[1];
	if (ptrace(PTRACE_SETREGS, pid, 0, &regs))
		fail("run to the entry");
}

static void step(pid_t tid, int signal)
{
	if (ptrace(PTRACE_SINGLESTEP, tid, 0, signal) && errno != ESRCH)
		fail("ptrace");
}

static void stopped(pid_t tid, int status, const char *out)
{
	struct user_regs_struct regs;
	int signal = WSTOPSIG(status);
	unsigned long new;

	/* Number the new thread now, because a thread that is created later may stop first. */
	if (status >> 16 == PTRACE_EVENT_CLONE && !ptrace(PTRACE_GETEVENTMSG, tid, 0, &new))
		log_of(new, out);
	if (!ptrace(PTRACE_GETREGS, tid, 0, &regs) && regs.rip >= begin && regs.rip < end)
		fprintf(log_of(tid, out), "%lx\n", (unsigned long)regs.rip - begin);
	log_of(tid, out);
	step(tid, signal == SIGTRAP || signal == SIGSTOP ? 0 : signal);
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid, tid;

	if (argc != 4)
		return 2;
	pid = fork();
	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execl(argv[2], argv[2], argv[3], NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		fail(argv[2]);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
	find_program(pid, argv[2]);
	log_of(pid, argv[1]);
	run_to_entry(pid);
	step(pid, 0);
	while ((tid = waitpid(-1, &status, __WALL)) > 0)
		if (WIFSTOPPED(status))
			stopped(tid, status, argv[1]);
	for (int i = 0; i < nr_threads; i++)
		if (fclose(threads[i].out))
			fail("write");
	return 0;
}
