// SPDX-License-Identifier: GPL-2.0
/*
 * bts_step - print every taken branch of a program in order, for comparison with a trace
 *
 *	bts_step [-o FILE] PROGRAM [ARGUMENT...]
 *
 * The tool single-steps the program, its threads and its children with ptrace, so that the output
 * depends only on the executed instructions. The tool uses neither the Debug Store nor code that
 * reads the Debug Store. The library capstone determines the lengths and classes of instructions.
 * ASLR is off, as in bts_launch, so that the addresses of two runs can be compared.
 *
 * The output has lines "TASK FROM TO COUNT". COUNT is always 1, and tasks are numbered from 0 in
 * order of creation. For a system call, a fault that becomes a signal, the entry to a signal
 * handler, and exec, the word "kernel" replaces the kernel address. The output contains neither
 * interrupts nor faults that the kernel resolves. The tool cannot notice such an event, because the
 * kernel returns to the interrupted instruction.
 *
 * The tool recognizes a branch by these rules:
 *
 *	- The tool prints system calls and entries to signal handlers as described above.
 *	- In all other cases, if the program does not continue at the following instruction, it has
 *	  branched. But a REP string instruction does not branch when it repeats itself.
 *	- A call, a return and an unconditional jump always branch, even if they lead to the
 *	  following instruction. The same is true of a conditional jump if its condition holds.
 *
 * Self-modifying code is not supported, because decoded instructions are cached until exec. If the
 * instruction after a system call is a jump to itself, the tool does not notice this jump. No other
 * debugger may trace the program.
 */
#define _GNU_SOURCE
#include <capstone/capstone.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_TASKS	256
#define CACHE_SLOTS	8192
#define MAX_INSN	15

#define FLAG_CF	0x0001UL
#define FLAG_PF	0x0004UL
#define FLAG_ZF	0x0040UL
#define FLAG_SF	0x0080UL
#define FLAG_OF	0x0800UL

enum insn_class {
	INSN_PLAIN,	/* continues at the next instruction */
	INSN_REP,	/* has a REP prefix: may repeat, but does not branch */
	INSN_SYSCALL,	/* enters the kernel */
	INSN_JCC,	/* depends on the flags */
	INSN_COUNTED,	/* depends on rcx (loop, loope, loopne, jrcxz, jecxz) */
	INSN_ALWAYS,	/* jmp, call, ret, their far forms, and iret */
};

struct insn {
	unsigned long address;
	enum insn_class class;
	unsigned int id;		/* capstone's ID, for INSN_COUNTED */
	unsigned char condition;	/* the low bits of the opcode, for INSN_JCC */
	unsigned char length;		/* 0 if fetching or decoding failed */
	bool valid;
};

struct task {
	pid_t pid;
	bool started;		/* the first stop has been handled */
	bool in_kernel;		/* the entry to the kernel has been printed, but not the return */
	bool enters_handler;	/* the last delivered signal has a handler */
	unsigned long emulated_return;	/* the return address of a vsyscall */
	struct user_regs_struct regs;	/* registers before the instruction at regs.rip */
	struct insn cache[CACHE_SLOTS];
};

static struct task *tasks[MAX_TASKS];
static int n_tasks;
static int n_alive;
static csh decoder;
static cs_insn *decoded;
static FILE *output;

static void die(const char *what)
{
	fprintf(stderr, "bts_step: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int task_index(pid_t pid)
{
	int i;

	for (i = 0; i < n_tasks; i++)
		if (tasks[i] && tasks[i]->pid == pid)
			return i;
	return -1;
}

static int task_add(pid_t pid)
{
	int index = task_index(pid);
	struct task *task;

	if (index >= 0)
		return index;
	if (n_tasks == MAX_TASKS) {
		errno = ENOSPC;
		die("too many tasks");
	}
	task = calloc(1, sizeof(*task));
	if (!task)
		die("calloc");
	task->pid = pid;
	task->in_kernel = true;
	tasks[n_tasks] = task;
	n_alive++;
	return n_tasks++;
}

static void task_remove(int index)
{
	free(tasks[index]);
	tasks[index] = NULL;
	n_alive--;
}

static bool is_kernel(unsigned long address)
{
	return (long)address < 0;
}

static void print_branch(int index, unsigned long from, unsigned long to)
{
	if (is_kernel(to))
		fprintf(output, "%d %lx kernel 1\n", index, from);
	else
		fprintf(output, "%d %lx %lx 1\n", index, from, to);
}

static void print_entry(int index, unsigned long from)
{
	fprintf(output, "%d %lx kernel 1\n", index, from);
}

static void print_return(int index, unsigned long to)
{
	fprintf(output, "%d kernel %lx 1\n", index, to);
}

static enum insn_class classify(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	switch (insn->id) {
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
	case X86_INS_INT:
		return INSN_SYSCALL;
	case X86_INS_LOOP:
	case X86_INS_LOOPE:
	case X86_INS_LOOPNE:
	case X86_INS_JRCXZ:
	case X86_INS_JECXZ:
		return INSN_COUNTED;
	case X86_INS_JMP:
	case X86_INS_LJMP:
	case X86_INS_CALL:
	case X86_INS_LCALL:
	case X86_INS_RET:
	case X86_INS_RETF:
	case X86_INS_RETFQ:
	case X86_INS_IRET:
	case X86_INS_IRETD:
	case X86_INS_IRETQ:
		return INSN_ALWAYS;
	}
	if (cs_insn_group(decoder, insn, X86_GRP_JUMP))
		return INSN_JCC;
	if (x86->prefix[0] == X86_PREFIX_REP || x86->prefix[0] == X86_PREFIX_REPNE)
		return INSN_REP;
	return INSN_PLAIN;
}

static void decode(struct task *task, struct insn *slot, unsigned long address)
{
	unsigned char bytes[MAX_INSN];
	struct iovec local = { bytes, sizeof(bytes) };
	struct iovec remote = { (void *)address, sizeof(bytes) };
	const unsigned char *code = bytes;
	unsigned long at = address;
	ssize_t got;
	size_t left;

	memset(slot, 0, sizeof(*slot));
	slot->address = address;
	slot->valid = true;
	got = process_vm_readv(task->pid, &local, 1, &remote, 1, 0);
	if (got < 0) {
		/* At the end of a mapping, only the bytes up to the end of the page can be read. */
		remote.iov_len = 4096 - (address & 4095);
		if (remote.iov_len < MAX_INSN)
			got = process_vm_readv(task->pid, &local, 1, &remote, 1, 0);
	}
	if (got <= 0)
		return;
	left = got;
	if (!cs_disasm_iter(decoder, &code, &left, &at, decoded))
		return;
	slot->id = decoded->id;
	slot->length = decoded->size;
	slot->class = classify(decoded);
	slot->condition = decoded->detail->x86.opcode[0] == 0x0f ?
		decoded->detail->x86.opcode[1] & 15 : decoded->detail->x86.opcode[0] & 15;
}

static const struct insn *fetch(struct task *task, unsigned long address)
{
	struct insn *slot = &task->cache[address % CACHE_SLOTS];

	if (!slot->valid || slot->address != address)
		decode(task, slot, address);
	return slot;
}

/* @condition is the low four bits of a jcc's opcode. The lowest bit negates the condition. */
static bool condition_holds(unsigned int condition, unsigned long flags)
{
	bool sign_differs = !(flags & FLAG_SF) != !(flags & FLAG_OF);
	bool holds = false;

	switch (condition >> 1) {
	case 0:
		holds = flags & FLAG_OF;
		break;
	case 1:
		holds = flags & FLAG_CF;
		break;
	case 2:
		holds = flags & FLAG_ZF;
		break;
	case 3:
		holds = flags & (FLAG_CF | FLAG_ZF);
		break;
	case 4:
		holds = flags & FLAG_SF;
		break;
	case 5:
		holds = flags & FLAG_PF;
		break;
	case 6:
		holds = sign_differs;
		break;
	case 7:
		holds = sign_differs || (flags & FLAG_ZF);
		break;
	}
	return holds != (condition & 1);
}

static bool counted_holds(const struct insn *insn,
			  const struct user_regs_struct *regs)
{
	bool zero_flag = regs->eflags & FLAG_ZF;

	switch (insn->id) {
	case X86_INS_JRCXZ:
		return regs->rcx == 0;
	case X86_INS_JECXZ:
		return (unsigned int)regs->rcx == 0;
	case X86_INS_LOOPE:
		return regs->rcx != 1 && zero_flag;
	case X86_INS_LOOPNE:
		return regs->rcx != 1 && !zero_flag;
	default:
		return regs->rcx != 1;
	}
}

static bool branch_taken(const struct insn *insn,
			 const struct user_regs_struct *before,
			 unsigned long next)
{
	switch (insn->class) {
	case INSN_REP:
	case INSN_SYSCALL:
		return false;
	case INSN_ALWAYS:
		return true;
	case INSN_PLAIN:
		return next != before->rip + insn->length;
	case INSN_JCC:
		return next != before->rip + insn->length ||
			condition_holds(insn->condition, before->eflags);
	case INSN_COUNTED:
		return next != before->rip + insn->length ||
			counted_holds(insn, before);
	}
	return false;
}

/* The task has executed the instruction at task->regs.rip. Print its branch, if it took one. */
static void instruction_done(int index, unsigned long next)
{
	struct task *task = tasks[index];
	unsigned long at = task->regs.rip;
	const struct insn *insn;

	if (is_kernel(at)) {
		/*
		 * The program called a function in the vsyscall page, and the kernel emulated it.
		 * The CPU did not trap when the function returned, but one instruction later.
		 */
		print_return(index, task->emulated_return);
		task->in_kernel = false;
		return;
	}
	insn = fetch(task, at);
	if (task->in_kernel)
		print_return(index, at);
	task->in_kernel = false;
	if (insn->class == INSN_SYSCALL) {
		print_entry(index, at);
		task->in_kernel = true;
	} else if (branch_taken(insn, &task->regs, next)) {
		print_branch(index, at, next);
		task->in_kernel = is_kernel(next);
		task->emulated_return = at + insn->length;
	}
}

/* The task is in a system call. Print the branch into the kernel. */
static void syscall_entered(int index)
{
	struct task *task = tasks[index];

	if (task->in_kernel)
		print_return(index, task->regs.rip);
	print_entry(index, task->regs.rip);
	task->in_kernel = true;
}

static bool has_handler(pid_t pid, int sig)
{
	unsigned long long caught = 0;
	char path[64], line[256];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "r");
	if (!status)
		die(path);
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "SigCgt: %llx", &caught) == 1)
			break;
	fclose(status);
	return caught >> (sig - 1) & 1;
}

/* Report whether the instruction itself raised this signal. */
static bool is_fault(pid_t pid, int sig)
{
	siginfo_t info;

	if (sig != SIGSEGV && sig != SIGILL && sig != SIGFPE && sig != SIGBUS)
		return false;
	if (ptrace(PTRACE_GETSIGINFO, pid, NULL, &info))
		die("PTRACE_GETSIGINFO");
	return info.si_code > 0;
}

/* Return: the signal to deliver to the task when it continues. */
static int signal_stop(int index, int sig, const struct user_regs_struct *now)
{
	struct task *task = tasks[index];
	bool returned = task->in_kernel;

	if (is_fault(task->pid, sig)) {
		if (returned)
			print_return(index, now->rip);
		print_entry(index, now->rip);
		task->in_kernel = true;
	}
	task->regs = *now;
	task->enters_handler = has_handler(task->pid, sig);
	return sig;
}

static void trap_stop(int index, const struct user_regs_struct *now)
{
	struct task *task = tasks[index];

	if (task->enters_handler) {
		/* The task has stopped before the handler's first instruction. */
		if (!task->in_kernel)
			print_entry(index, task->regs.rip);
		task->in_kernel = true;
		task->enters_handler = false;
	} else if (now->rip != task->regs.rip || !task->in_kernel) {
		instruction_done(index, now->rip);
	}
	task->regs = *now;
}

/* Return: the signal to deliver to the task when it continues. */
static int event_stop(int index, int event)
{
	struct task *task = tasks[index];
	unsigned long child;

	if (event == PTRACE_EVENT_EXIT)
		return 0;
	syscall_entered(index);
	if (event == PTRACE_EVENT_EXEC) {
		memset(task->cache, 0, sizeof(task->cache));
	} else {
		if (ptrace(PTRACE_GETEVENTMSG, task->pid, NULL, &child))
			die("PTRACE_GETEVENTMSG");
		task_add(child);
	}
	if (ptrace(PTRACE_GETREGS, task->pid, NULL, &task->regs))
		die("PTRACE_GETREGS");
	return 0;
}

static void handle_stop(pid_t pid, int status)
{
	int index = task_add(pid);
	struct task *task = tasks[index];
	struct user_regs_struct now;
	int sig = WSTOPSIG(status);
	int event = status >> 16;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &now)) {
		if (errno == ESRCH)
			return;		/* killed meanwhile */
		die("PTRACE_GETREGS");
	}
	if (!task->started) {
		/* The cause of the first stop is SIGSTOP, or the SIGTRAP of the first exec. */
		task->started = true;
		task->regs = now;
		sig = 0;
	} else if (event) {
		sig = event_stop(index, event);
	} else if (sig == SIGTRAP) {
		trap_stop(index, &now);
		sig = 0;
	} else {
		sig = signal_stop(index, sig, &now);
	}
	/* Fetch the instruction now, because the memory of a task that has ended cannot be read. */
	fetch(task, task->regs.rip);
	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, sig) && errno != ESRCH)
		die("PTRACE_SINGLESTEP");
}

static void handle_end(pid_t pid)
{
	int index = task_index(pid);
	struct task *task;

	if (index < 0)
		return;
	task = tasks[index];
	/* If the task ended in a system call, print the branch into the kernel. */
	if (fetch(task, task->regs.rip)->class == INSN_SYSCALL &&
	    !task->enters_handler)
		syscall_entered(index);
	task_remove(index);
}

static void start(char **argv)
{
	const long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
		PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (!pid) {
		if (personality(ADDR_NO_RANDOMIZE) < 0)
			die("personality");
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			die("PTRACE_TRACEME");
		execv(argv[0], argv);
		die(argv[0]);
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (!WIFSTOPPED(status))
		exit(1);
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, options))
		die("PTRACE_SETOPTIONS");
	handle_stop(pid, status);
}

static void open_decoder(void)
{
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder) != CS_ERR_OK ||
	    cs_option(decoder, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK) {
		fprintf(stderr, "bts_step: the library capstone cannot be opened\n");
		exit(1);
	}
	decoded = cs_malloc(decoder);
	if (!decoded)
		die("cs_malloc");
}

int main(int argc, char **argv)
{
	int option, status;
	pid_t pid;

	output = stdout;
	while ((option = getopt(argc, argv, "+o:")) != -1) {
		if (option != 'o')
			goto usage;
		output = fopen(optarg, "w");
		if (!output)
			die(optarg);
	}
	if (optind == argc)
		goto usage;
	open_decoder();
	start(argv + optind);
	while (n_alive) {
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0)
			die("waitpid");
		if (WIFSTOPPED(status))
			handle_stop(pid, status);
		else
			handle_end(pid);
	}
	if (fflush(output) || ferror(output))
		die("output");
	return 0;
usage:
	fprintf(stderr, "usage: bts_step [-o FILE] PROGRAM [ARGUMENT...]\n");
	return 2;
}
