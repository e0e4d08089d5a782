// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse the options of bts record.
 */
#include <errno.h>
#include <getopt.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/trace_dat.h"
#include "lib/cpus.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "record.h"

static const char usage[] =
"Usage: bts record [OPTIONS] [--] COMMAND [ARGS...]\n"
"       bts record [OPTIONS] -p PID[,PID...] | -a\n"
"\n"
"Records every branch of COMMAND, of the given processes, or of all tasks.\n"
"Also records their children. The recording ends when the tasks end or you press Ctrl-C.\n"
"\n"
"  -o, --output FILE    the trace (trace.dat)\n"
"  -u, --user           the user side only (default: both sides)\n"
"  -k, --kernel         the kernel side only\n"
"  -p, --pid PID,...    running processes, with all their threads\n"
"  -a, --all            all tasks\n"
"  -C, --cpus CPUS      record only on these CPUs, for example 0-2,5\n"
"  -m, --memory SIZE    the size of each CPU's buffer, for example 512k or 16M\n"
"  -e, --event EVENT    also record a trace event, SYSTEM:NAME[ if FILTER]; may be repeated\n"
"      --as USER        run COMMAND as this user; bts stays root\n"
"      --fork           begin the trace before execve(), not at the first instruction of COMMAND\n"
"      --repeat N       record N runs of COMMAND, into FILE.passed.1, FILE.failed.1, ...\n"
"      --until-fail K   with --repeat: stop after K failed runs\n"
"      --no-block       if the buffer is full, drop branches instead of making tasks wait\n"
"      --backend NAME   how to record (default: the first of tracer, perf and vm that works):\n"
"                         tracer     uses the kernel's tracer bts\n"
"                         perf       records only the user side, may lose branches, refuses -a\n"
"                         intel_bts  records both sides (as root, without page table isolation)\n"
"                         vm         runs COMMAND in an emulated machine, on any x86-64 host\n"
"  -h, --help           this text\n"
"\n"
"The emulated machine (--backend vm):\n"
"      --vm-write DIR   keep the changes that COMMAND makes below DIR (may be repeated).\n"
"                       Changes to other files are lost\n"
"      --vm-smp N       the number of CPUs (1)\n"
"      --vm-mem MIB     the memory (1024)\n"
"      --vm-cpu MODEL   the CPU model, by its name in QEMU (SandyBridge)\n"
"      --icount         take the same branches in each run, if there is one CPU and no input\n"
"\n"
"Flight recorder:\n"
"      --flight[=SIZE]  keep only the latest branches, and write them when the recording ends.\n"
"                       SIZE is the memory per CPU. Without SIZE, bts uses the CPU's DS buffer\n"
"      --on EVENT       write the branches when a task causes this event:\n"
"                         SYSTEM:NAME[ if FILTER]   a trace event\n"
"                         FUNCTION[ if FILTER]      a call of a kernel function\n"
"                         FILE:FUNCTION             a call of FUNCTION in FILE\n"
"                         signal:NAME               the task gets this signal\n"
"                         exit                      the task ends\n"
"      --rearm N        with --on: record N more times, into FILE.1, FILE.2, ...\n";

enum {
	OPTION_NO_BLOCK = 256,
	OPTION_FORK,
	OPTION_FLIGHT,
	OPTION_ON,
	OPTION_REARM,
	OPTION_BACKEND,
	OPTION_REPEAT,
	OPTION_UNTIL_FAIL,
	OPTION_AS,
	OPTION_ICOUNT,
	OPTION_VM_CPU,
	OPTION_VM_JOB,
	OPTION_VM_MEM,
	OPTION_VM_SMP,
	OPTION_VM_WRITE,
};

static const struct option long_options[] = {
	{ "output",	required_argument,	NULL, 'o' },
	{ "user",	no_argument,		NULL, 'u' },
	{ "kernel",	no_argument,		NULL, 'k' },
	{ "pid",	required_argument,	NULL, 'p' },
	{ "all",	no_argument,		NULL, 'a' },
	{ "cpus",	required_argument,	NULL, 'C' },
	{ "memory",	required_argument,	NULL, 'm' },
	{ "event",	required_argument,	NULL, 'e' },
	{ "as",		required_argument,	NULL, OPTION_AS },
	{ "fork",	no_argument,		NULL, OPTION_FORK },
	{ "no-block",	no_argument,		NULL, OPTION_NO_BLOCK },
	{ "flight",	optional_argument,	NULL, OPTION_FLIGHT },
	{ "on",		required_argument,	NULL, OPTION_ON },
	{ "rearm",	required_argument,	NULL, OPTION_REARM },
	{ "backend",	required_argument,	NULL, OPTION_BACKEND },
	{ "repeat",	required_argument,	NULL, OPTION_REPEAT },
	{ "until-fail",	required_argument,	NULL, OPTION_UNTIL_FAIL },
	{ "icount",	no_argument,		NULL, OPTION_ICOUNT },
	{ "vm-cpu",	required_argument,	NULL, OPTION_VM_CPU },
	{ "vm-mem",	required_argument,	NULL, OPTION_VM_MEM },
	{ "vm-smp",	required_argument,	NULL, OPTION_VM_SMP },
	{ "vm-write",	required_argument,	NULL, OPTION_VM_WRITE },
	/* Not in the help: bts on the host passes --vm-job to bts in the emulated machine. */
	{ "vm-job",	required_argument,	NULL, OPTION_VM_JOB },
	{ "help",	no_argument,		NULL, 'h' },
	{}
};

/* Return the size in KiB, or 0 if the text is not a size from 4096 bytes to 1 TiB. */
static uint64_t parse_size(const char *text)
{
	static const char units[] = "kmg";
	unsigned long long size;
	const char *unit;
	int shift = 0;
	char *end;

	errno = 0;
	size = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end | 0x20) : NULL;
	if (unit) {
		shift = 10 * (unit - units + 1);
		end++;
	}
	if (errno || end == text || *end || *text == '-' || size > (1ULL << 40) >> shift)
		return 0;
	size <<= shift;
	return size < 4096 ? 0 : size >> 10;
}

static int parse_pids(struct record_options *options, const char *text)
{
	char *end;

	do {
		long pid = strtol(text, &end, 10);

		if (end == text || (*end && *end != ',') || pid <= 0 || pid > 1 << 22)
			return msg_misuse("record", "-p %s: not a list of PIDs", text);
		options->pids = mem_realloc(options->pids, options->nr_pids + 1, sizeof(pid_t));
		options->pids[options->nr_pids++] = pid;
		text = end + 1;
	} while (*end);
	return STATUS_OK;
}

static int parse_cpus(struct record_options *options, const char *text)
{
	const char *list = text;
	int found = -1;
	long from, to;

	while (*list && (found = cpus_next(&list, &from, &to)) > 0)
		;
	if (found < 0)
		return msg_misuse("record", "-C %s: not a list of CPUs", text);
	options->cpus = text;
	return STATUS_OK;
}

/* Add a word to a list that ends with a NULL. */
static void add_word(const char ***list, const char *word)
{
	size_t nr = 0;

	while (*list && (*list)[nr])
		nr++;
	*list = mem_realloc(*list, nr + 2, sizeof(char *));
	(*list)[nr] = word;
	(*list)[nr + 1] = NULL;
}

static int parse_buffer(struct record_options *options, const char *name, const char *text)
{
	options->buffer_kb = parse_size(text);
	if (!options->buffer_kb)
		return msg_misuse("record", "%s %s: not a size from 4k to 1024G", name, text);
	return STATUS_OK;
}

static int parse_flight(struct record_options *options, const char *text)
{
	options->flight = true;
	options->circular = !text;
	return text ? parse_buffer(options, "--flight", text) : STATUS_OK;
}

static int parse_backend(struct record_options *options, const char *text)
{
	if (!strcmp(text, "tracer"))
		options->backend = BACKEND_TRACER;
	else if (!strcmp(text, "perf"))
		options->backend = BACKEND_PERF;
	else if (!strcmp(text, "intel_bts"))
		options->backend = BACKEND_INTEL_BTS;
	else if (!strcmp(text, "vm"))
		options->backend = BACKEND_VM;
	else
		return msg_misuse("record", "--backend %s: must be tracer, perf, intel_bts or vm",
				  text);
	return STATUS_OK;
}

static int parse_user(struct record_options *options, const char *name)
{
	const struct passwd *user = getpwnam(name);

	if (!user)
		return msg_misuse("record", "--as %s: no such user", name);
	options->as = name;
	options->uid = user->pw_uid;
	options->gid = user->pw_gid;
	return STATUS_OK;
}

/* Report whether the path is "/", or is in /dev, /proc or /sys of the emulated machine. */
static bool is_of_machine(const char *path)
{
	static const char * const own[] = { "/dev", "/proc", "/sys" };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		size_t length = strlen(own[i]);

		if (!strncmp(path, own[i], length) && (!path[length] || path[length] == '/'))
			return true;
	}
	return !strcmp(path, "/");
}

static int parse_writable(struct record_options *options, const char *dir)
{
	char *path = realpath(dir, NULL);
	struct stat st;
	int ret = STATUS_OK;

	if (!path || stat(path, &st))
		ret = msg_misuse("record", "--vm-write %s: %s", dir, strerror(errno));
	else if (!S_ISDIR(st.st_mode))
		ret = msg_misuse("record", "--vm-write %s: not a directory", dir);
	else if (is_of_machine(path))
		ret = msg_misuse("record", "--vm-write %s: must not be /, and must "
				 "not be in /dev, /proc or /sys", dir);
	else
		add_word(&options->vm.writable, dir);
	free(path);
	return ret;
}

static int parse_job(struct record_options *options, const char *path)
{
	options->job = vm_job_read(path);
	if (!options->job)
		return STATUS_FAILURE;
	options->uid = options->job->uid;
	options->gid = options->job->gid;
	return STATUS_OK;
}

/* Set an option whose value needs no check. Return false for any other option. */
static bool set_option(struct record_options *options, int option)
{
	switch (option) {
	case 'o':
		options->output = optarg;
		return true;
	case 'u':
		options->user = true;
		return true;
	case 'k':
		options->kernel = true;
		return true;
	case 'a':
		options->all = true;
		return true;
	case 'e':
		add_word(&options->events, optarg);
		return true;
	case OPTION_FORK:
		options->fork = true;
		return true;
	case OPTION_NO_BLOCK:
		options->no_block = true;
		return true;
	case OPTION_ICOUNT:
		options->vm.icount = true;
		return true;
	case OPTION_VM_CPU:
		options->vm.cpu = optarg;
		return true;
	default:
		return false;
	}
}

static int parse_option(struct record_options *options, int option)
{
	switch (option) {
	case 'p':
		return parse_pids(options, optarg);
	case 'C':
		return parse_cpus(options, optarg);
	case 'm':
		return parse_buffer(options, "-m", optarg);
	case OPTION_FLIGHT:
		return parse_flight(options, optarg);
	case OPTION_ON:
		options->on = optarg;
		return on_parse(optarg);
	case OPTION_REARM:
		return msg_number("record", "--rearm", optarg, 0, &options->rearm);
	case OPTION_BACKEND:
		return parse_backend(options, optarg);
	case OPTION_AS:
		return parse_user(options, optarg);
	case OPTION_REPEAT:
		return msg_number("record", "--repeat", optarg, 1, &options->repeat);
	case OPTION_UNTIL_FAIL:
		return msg_number("record", "--until-fail", optarg, 1, &options->until_fail);
	case OPTION_VM_JOB:
		return parse_job(options, optarg);
	case OPTION_VM_MEM:
		return msg_number("record", "--vm-mem", optarg, 128, &options->vm.mem);
	case OPTION_VM_SMP:
		return msg_number("record", "--vm-smp", optarg, 1, &options->vm.smp);
	case OPTION_VM_WRITE:
		return parse_writable(options, optarg);
	case 'h':
		msg_usage(usage);
		return -1;
	default:
		return STATUS_MISUSE;
	}
}

static int judge_vm(const struct record_options *options)
{
	const struct vm_options *vm = &options->vm;

	if (options->backend != BACKEND_VM)
		return vm->icount || vm->smp || vm->mem || vm->cpu || vm->writable ?
		       msg_misuse("record", "--icount and --vm-* need --backend vm") : STATUS_OK;
	if (options->nr_pids || options->all)
		return msg_misuse("record", "%s: the emulated machine cannot see the tasks of this "
				  "machine", options->all ? "-a" : "-p");
	if (vm->smp > VM_CPUS)
		return msg_misuse("record", "--vm-smp %lu: the emulated machine can have at most "
				  "%d CPUs", vm->smp, VM_CPUS);
	return STATUS_OK;
}

/* Report whether the output exists, but is not a regular file. Follow symbolic links. */
static bool is_device(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

/* Reject options that exclude each other, and options that need another option. */
static int judge(const struct record_options *options)
{
	if (!options->command && !options->nr_pids && !options->all)
		return msg_misuse("record", "a command, -p or -a is needed");
	if (options->nr_pids && (options->command || options->all))
		return msg_misuse("record", "-p cannot be used together with a command or -a");
	if (options->fork && !options->command)
		return msg_misuse("record", "--fork needs a command");
	if (options->as && !options->command)
		return msg_misuse("record", "--as needs a command");
	if (options->on && !options->flight)
		return msg_misuse("record", "--on needs --flight");
	if (options->rearm && !options->on)
		return msg_misuse("record", "--rearm needs --on");
	if (options->repeat && (!options->command || options->flight))
		return msg_misuse("record", "--repeat needs a command, and excludes --flight");
	if (options->until_fail && !options->repeat)
		return msg_misuse("record", "--until-fail needs --repeat");
	if ((options->repeat || options->rearm) && is_device(options->output))
		return msg_misuse("record", "--repeat and --rearm need a file, not a device");
	if (!*options->output)
		return msg_misuse("record", "-o: the file name is empty");
	if (!strcmp(options->output, "-"))
		return msg_misuse("record", "-o -: cannot write a trace to standard output");
	return judge_vm(options);
}

int record_parse(struct record_options *options, int argc, char **argv)
{
	int option;

	*options = (struct record_options){ .output = DAT_NAME, .uid = geteuid() };
	while ((option = getopt_long(argc, argv, "+o:ukp:aC:m:e:h", long_options, NULL)) != -1) {
		int ret = set_option(options, option) ? 0 : parse_option(options, option);

		if (ret)
			return ret;
	}
	if (optind < argc)
		options->command = argv + optind;
	/* By default, record both user space and the kernel. */
	if (!options->user && !options->kernel) {
		options->user = true;
		options->kernel = true;
	}
	/* Of the two perf backends, only intel_bts records branches in the kernel. */
	if (options->backend == BACKEND_PERF && !options->user)
		options->backend = BACKEND_INTEL_BTS;
	return judge(options);
}
