// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts check: report which branches this machine can record, and how to correct each problem.
 *
 * Each check is a function that prints its results. The checks of the hardware come first, then
 * those of the kernel and of the user's permissions. The last check selects the tracer, so that the
 * kernel tests BTS on each CPU. With --probe, bts then traces a program whose branches are known
 * (record/probe.c).
 */
#include <cpuid.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "lib/text.h"
#include "record/instance.h"
#include "record/perf_events.h"
#include "record/probe.h"
#include "record/vm.h"
#include "cmd.h"
#include "command.h"

static const char usage[] =
"Usage: bts check [OPTIONS]\n"
"\n"
"Reports whether this machine can record branches and, if it cannot, what to do.\n"
"Exit status: 0 if the machine can record; with --probe, 0 if the probe finds no error.\n"
"\n"
"      --probe   record a program whose branches are known, check the recorded branches,\n"
"                and print a report; please send the report to the developers\n"
"      --json    print one JSON object per line\n"
"  -h, --help    this text\n";

struct check {
	bool	json;
	char	*cpuinfo;
	bool	failed;
	bool	tracer;		/* this user can select the tracer */
	bool	perf;		/* perf can record branches */
	bool	vm;		/* the emulated machine is installed */
};

static void answer(const struct check *check, const char *mark, const char *what,
		   const char *format, va_list args)
{
	char *text = mem_vformat(format, args);

	if (check->json) {
		printf("{\"state\":\"%s\",\"what\":\"%s\",\"text\":", mark, what);
		text_print_json(stdout, text);
		puts("}");
	} else {
		printf("%-5s%-12s%s\n", mark, what, text);
	}
	free(text);
}

static void __attribute__((format(printf, 3, 4)))
good(const struct check *check, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	answer(check, "ok", what, format, args);
	va_end(args);
}

/* Print a note. A note does not make the check fail. */
static void __attribute__((format(printf, 3, 4)))
note(const struct check *check, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	answer(check, "note", what, format, args);
	va_end(args);
}

static void __attribute__((format(printf, 3, 4)))
bad(struct check *check, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	answer(check, "NO", what, format, args);
	va_end(args);
	check->failed = true;
}

/* --- The machine -------------------------------------------------------------------- */

/* Return the first CPU's value of @name in /proc/cpuinfo, or "". The caller frees the value. */
static char *cpu_line(const struct check *check, const char *name)
{
	char *pattern = mem_format("\n%s\t", name);
	const char *at = check->cpuinfo ? strstr(check->cpuinfo, pattern) : NULL;

	free(pattern);
	at = at ? strchr(at, ':') : NULL;
	if (!at || at[1] != ' ')
		return mem_strdup("");
	return mem_format("%.*s", (int)strcspn(at + 2, "\n"), at + 2);
}

static int cpu_number(const struct check *check, const char *name)
{
	char *line = cpu_line(check, name);
	int number = atoi(line);

	free(line);
	return number;
}

static bool has_flag(const struct check *check, const char *flag)
{
	char *flags = cpu_line(check, "flags"), *save = NULL;
	bool found = false;

	for (char *word = strtok_r(flags, " ", &save); word; word = strtok_r(NULL, " ", &save))
		found |= !strcmp(word, flag);
	free(flags);
	return found;
}

static void check_cpu(struct check *check)
{
	char *name = cpu_line(check, "model name"), *vendor = cpu_line(check, "vendor_id");
	char *microcode = cpu_line(check, "microcode");

	if (strcmp(vendor, "GenuineIntel"))
		bad(check, "cpu", "%s: %s CPUs have no Branch Trace Store; use an Intel CPU, or "
		    "bts record --backend vm", name, vendor);
	else
		good(check, "cpu", "%s, family %d, model %d, stepping %d, microcode %s", name,
		     cpu_number(check, "cpu family"), cpu_number(check, "model"),
		     cpu_number(check, "stepping"), microcode);
	free(microcode);
	free(vendor);
	free(name);
}

static void check_hypervisor(struct check *check)
{
	unsigned int eax, id[4] = {};

	if (!has_flag(check, "hypervisor"))
		return;
	__cpuid(0x40000000, eax, id[0], id[1], id[2]);
	note(check, "hypervisor", "a virtual machine (%.12s): most hypervisors hide BTS, or "
	     "advertise BTS but do not implement it; to test it, use --probe", (const char *)id);
}

static void check_flags(struct check *check)
{
	static const struct {
		const char	*flag, *words;
	} wanted[] = {
		{ "dts",	"no Debug Store" },
		{ "bts",	"no Branch Trace Store; the firmware, the hypervisor or the "
				"kernel parameter clearcpuid= may have disabled it" },
		{ "dtes64",	"the Debug Store has only the 32-bit format" },
	};
	bool missing = false;

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (has_flag(check, wanted[i].flag))
			continue;
		bad(check, "flags", "%s is missing from /proc/cpuinfo: %s", wanted[i].flag,
		    wanted[i].words);
		missing = true;
	}
	if (!missing)
		good(check, "flags", "dts bts dtes64%s",
		     has_flag(check, "ds_cpl") ? " ds_cpl" : "");
	if (!missing && !has_flag(check, "ds_cpl"))
		note(check, "flags",
		     "no ds_cpl: the tracer's option bts-cpl-filter has no effect on this CPU");
}

/* Print the known errata of BTS. If the CPU has FRED, ask the user to report whether BTS works. */
static void check_errata(struct check *check)
{
	static const unsigned char models[] = {
		0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f, 0x2a, 0x2d, 0x3a, 0x3e,
	};
	int model = cpu_number(check, "model");

	if (has_flag(check, "fred"))
		note(check, "errata", "BTS is untested with FRED; please report whether it works");
	if (cpu_number(check, "cpu family") != 6)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(models); i++)
		if (models[i] == model)
			note(check, "errata", "AAJ122 and similar errata (Nehalem to Ivy Bridge): "
			     "the first branch after a change of the power state may have a "
			     "wrong origin; processor.max_cstate=1 avoids this");
}

static void check_pti(const struct check *check)
{
	char *text = path_read("/sys/devices/system/cpu/vulnerabilities/meltdown", NULL);

	if (text && strstr(text, "PTI"))
		good(check, "pti", "on; the tracer works with it, but perf's intel_bts does not");
	else if (text)
		good(check, "pti", "off (meltdown: %.*s)", (int)strcspn(text, "\n"), text);
	free(text);
}

/* --- The kernel and the user -------------------------------------------------------- */

/* Return 1 if the kernel's configuration has CONFIG_BTS_TRACER, 0 if not, -1 if unknown. */
static int kernel_config(void)
{
	struct utsname uts;
	char *path, *text;
	int config;

	uname(&uts);
	path = mem_format("/boot/config-%s", uts.release);
	text = path_read(path, NULL);
	free(path);
	if (!text)
		return -1;
	config = !!strstr(text, "\nCONFIG_BTS_TRACER=y");
	free(text);
	return config;
}

static void check_tracer(struct check *check, const char *root)
{
	char *path = mem_format("%s/available_tracers", root);
	char *tracers = path_read(path, NULL);
	struct utsname uts;

	uname(&uts);
	check->tracer = tracers && strstr(tracers, "bts");
	if (check->tracer)
		good(check, "kernel", "%s has the tracer", uts.release);
	else if (!tracers)
		bad(check, "kernel", "%s: %s", path, strerror(errno));
	else if (kernel_config() == 1 || check->failed)
		bad(check, "kernel", "%s does not offer the tracer on this machine; see "
		    "dmesg | grep bts", uts.release);
	else
		bad(check, "kernel", "%s has no bts tracer; boot a kernel with CONFIG_BTS_TRACER=y "
		    "(to build such a kernel, run \"make deb\")", uts.release);
	free(tracers);
	free(path);
}

static void check_options(const struct check *check, const char *root)
{
	static const struct {
		const char	*option, *words;
	} wanted[] = {
		{ "bts-block",	"if the ring buffer is full, branches are lost" },
		{ "bts-sched",	"task switches are not shown" },
		{ "bts-map",	"user addresses cannot be resolved after the recording" },
		{ "bts-pack",	"a branch takes 28 bytes of the ring buffer instead of 2" },
	};
	struct utsname uts;

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		char *path = mem_format("%s/options/%s", root, wanted[i].option);

		if (access(path, F_OK))
			note(check, "kernel",
			     "the option %s is missing, so %s; newer tracers have this option",
			     wanted[i].option, wanted[i].words);
		free(path);
	}
	uname(&uts);
	if (strstr(uts.version, "PREEMPT_RT"))
		note(check, "kernel", "PREEMPT_RT: the trace cannot show which files are mapped "
		     "(bts-map), so user addresses cannot be resolved after the recording");
	if (access("/proc/kcore", F_OK))
		note(check, "kernel", "no /proc/kcore: the kernel's code is not saved with a "
		     "trace; build the kernel with CONFIG_PROC_KCORE=y");
}

static void check_lockdown(struct check *check)
{
	char *text = path_read("/sys/kernel/security/lockdown", NULL);

	if (text && strstr(text, "[confidentiality]"))
		bad(check, "lockdown", "confidentiality: tracefs cannot be opened; boot with "
		    "lockdown=integrity, or without lockdown");
	free(text);
}

/* If this user cannot use the tracer, bts record uses perf. */
static void check_perf(struct check *check)
{
	long long paranoid = path_read_number("/proc/sys/kernel/perf_event_paranoid");
	int error = perf_events_try(BACKEND_PERF);
	char *why = perf_events_why(error);

	check->perf = !error;
	if (error)
		note(check, "perf", "cannot record branches: %s", why);
	else
		good(check, "perf", "records branches in user space (branches:u; "
		     "kernel.perf_event_paranoid is %lld)", paranoid);
	free(why);
	if (!perf_events_try(BACKEND_INTEL_BTS))
		good(check, "perf", "this user can record user space and the kernel "
		     "(--backend intel_bts)");
}

/* If neither the tracer nor perf can record, bts record uses the emulated machine. */
static void check_vm(struct check *check)
{
	char *run = vm_find();

	check->vm = run;
	if (run)
		good(check, "vm", "%s runs a command in the emulated machine, and records "
		     "user space and the kernel (--backend vm)", run);
	else
		note(check, "vm", "the emulated machine is not installed; " VM_ADVICE);
	free(run);
}

/* List the instances that use the tracer. Several instances can use it at the same time. */
static void check_users(const struct check *check, const char *root)
{
	char *dir = mem_format("%s/instances", root);
	DIR *stream = opendir(dir);
	struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		char *path = mem_format("%s/%s/current_tracer", dir, entry->d_name);
		char *tracer = path_read(path, NULL);

		if (tracer && !strcmp(tracer, "bts\n"))
			note(check, "in use",
			     "instance %s uses the tracer; other instances can use it too",
			     entry->d_name);
		free(tracer);
		free(path);
	}
	if (stream)
		closedir(stream);
	free(dir);
}

/* Select the tracer, so that the kernel claims BTS and tests on each CPU whether BTS works. */
static void check_start(struct check *check)
{
	struct instance *inst = instance_create();
	char *path, *why, *stats;
	bool once;

	if (!inst) {
		check->failed = true;
		return;
	}
	path = instance_file(inst, "current_tracer");
	if (instance_write(inst, "tracing_on", "0") || path_write(path, "bts")) {
		int saved = errno;

		why = instance_error(inst);
		bad(check, "hardware", "%s%s", why ? why : strerror(saved), saved != EBUSY ? "" :
		    "; end the perf events that use BTS or LBR (perf record -b, "
		    "branches:u -c 1, intel_bts, a KVM guest's LBR)");
		free(why);
	} else {
		stats = instance_read(inst, "bts_stats");
		once = stats && strstr(stats, "hw_interrupt: once");
		good(check, "hardware", "each CPU recorded a test branch; %s raises an interrupt",
		     once ? "only the record that reaches the threshold" :
		     "each record at or above the threshold");
		free(stats);
	}
	free(path);
	instance_remove(inst);
}

static void check_software(struct check *check)
{
	const char *root;

	check_perf(check);
	check_vm(check);
	check_lockdown(check);
	if (geteuid())
		note(check, "rights", "not root: the tracer needs root, or access to tracefs");
	else
		good(check, "rights", "root");
	root = instance_tracefs();
	if (!root) {
		bad(check, "tracefs", geteuid() ? "this user has no access; run bts check as root" :
		    "cannot be mounted");
		return;
	}
	good(check, "tracefs", "%s", root);
	check_tracer(check, root);
	if (!check->tracer)
		return;
	check_options(check, root);
	check_users(check, root);
	check_start(check);
}

static void ask_all(struct check *check)
{
	check->cpuinfo = path_read("/proc/cpuinfo", NULL);
	check_cpu(check);
	check_hypervisor(check);
	check_flags(check);
	check_errata(check);
	check_pti(check);
	check_software(check);
	free(check->cpuinfo);
}

static void conclude(struct check *check, bool with_probe)
{
	bool no_tracer = check->failed && !check->tracer;
	bool perf_only = no_tracer && check->perf;
	bool vm_only = no_tracer && !check->perf && check->vm;
	const char *with = perf_only ? "\"perf\"" : vm_only ? "\"vm\"" :
			   check->failed ? "null" : "\"tracer\"";

	if (check->json)
		printf("{\"records_with\":%s}\n", with);
	else if (perf_only)
		puts("\nUser-space branches can be recorded here, with perf. Some may be lost.");
	else if (vm_only)
		puts("\nBranches can be recorded here, but only in the emulated machine.");
	else if (check->failed)
		puts("\nBranches cannot be recorded here; the lines with NO say why.");
	else if (with_probe)
		check->failed = !probe_machine();
	else
		puts("\nBranches can be recorded here. To test this, run bts check --probe.");
	if (perf_only || vm_only)
		check->failed = with_probe;
}

int cmd_check(int argc, char **argv)
{
	static const struct option options[] = {
		{ "probe",	no_argument, NULL, 'p' },
		{ "json",	no_argument, NULL, 'J' },
		{ "help",	no_argument, NULL, 'h' },
		{}
	};
	struct check check = {};
	bool with_probe = false;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'h')
			return msg_usage(usage);
		if (option == '?')
			return STATUS_MISUSE;
		with_probe |= option == 'p';
		check.json |= option == 'J';
	}
	if (command_operand(NULL, "check", argc, argv))
		return STATUS_MISUSE;
	if (check.json && with_probe)
		return msg_misuse("check", "--json and --probe cannot be used together");
	ask_all(&check);
	conclude(&check, with_probe);
	return check.failed ? STATUS_FAILURE : STATUS_OK;
}
