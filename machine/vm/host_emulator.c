// SPDX-License-Identifier: GPL-2.0
/*
 * The emulator's process: its arguments, its start and its end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

static pid_t emulator_pid;

static const char * const port_names[NR_PORTS] = {
	[CONTROL] = "control", [STDIN] = "stdin", [STDOUT] = "stdout", [STDERR] = "stderr",
	[MONITOR] = "monitor",
};

static const int port_numbers[NR_PORTS] = {
	[CONTROL] = WIRE_CONTROL, [STDIN] = WIRE_STDIN, [STDOUT] = WIRE_STDOUT,
	[STDERR] = WIRE_STDERR,
};

struct argv {
	char	**arg;
	int	nr;
};

static void __attribute__((format(printf, 2, 3))) add_arg(struct argv *argv, const char *fmt, ...)
{
	va_list args;
	char *s;

	va_start(args, fmt);
	if (vasprintf(&s, fmt, args) < 0)
		die("arguments");
	va_end(args);
	argv->arg = realloc(argv->arg, (argv->nr + 2) * sizeof(*argv->arg));
	if (!argv->arg)
		die("arguments");
	argv->arg[argv->nr++] = s;
	argv->arg[argv->nr] = NULL;
}

/* A comma in an option's value is written twice. */
static char *double_commas(const char *s)
{
	char *copy = malloc(2 * strlen(s) + 1);
	char *to = copy;

	if (!copy)
		die("%s", s);
	for (; *s; s++) {
		*to++ = *s;
		if (*s == ',')
			*to++ = ',';
	}
	*to = '\0';
	return copy;
}

static char **emulator_args(const int *theirs)
{
	struct argv argv = { 0 };
	char **arg;
	int i;

	for (arg = opt.emulator; *arg; arg++)
		add_arg(&argv, "%s", *arg);
	/* Append, because the emulator's standard error goes to the same file. */
	add_arg(&argv, "-chardev");
	add_arg(&argv, "file,id=console,append=on,path=%s", double_commas(opt.console));
	add_arg(&argv, "-serial");
	add_arg(&argv, "chardev:console");
	add_arg(&argv, "-device");
	add_arg(&argv, "virtio-serial-pci,id=wire");
	for (i = 0; i < NR_PORTS; i++) {
		add_arg(&argv, "-chardev");
		add_arg(&argv, "socket,id=%s,fd=%d", port_names[i], theirs[i]);
		if (i == MONITOR)
			continue;
		add_arg(&argv, "-device");
		add_arg(&argv, "virtserialport,bus=wire.0,nr=%d,chardev=%s", port_numbers[i],
			port_names[i]);
	}
	add_arg(&argv, "-mon");
	add_arg(&argv, "chardev=monitor,mode=control");
	/* A machine that ends by itself stays paused, for `info bts`. */
	add_arg(&argv, "-no-reboot");
	add_arg(&argv, "-no-shutdown");
	add_arg(&argv, "-action");
	add_arg(&argv, "panic=pause");
	return argv.arg;
}

/*
 * In a process group of its own, so that Ctrl-C reaches only this program; it dies with its
 * parent.
 */
static void __attribute__((noreturn)) become_emulator(char **argv, pid_t parent)
{
	int console, null;
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_LOST);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	console = open(opt.console, O_WRONLY | O_APPEND);
	null = open("/dev/null", O_RDWR);
	if (console < 0 || null < 0)
		_exit(STATUS_LOST);
	dup2(null, STDIN_FILENO);
	dup2(console, STDOUT_FILENO);
	dup2(console, STDERR_FILENO);
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(STATUS_LOST);
}

void start_emulator(void)
{
	int theirs[NR_PORTS], pair[2], fd, i;
	pid_t self = getpid();
	char **argv;

	fd = open(opt.console, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		die("%s", opt.console);
	close(fd);
	for (i = 0; i < NR_PORTS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
			die("socketpair");
		ports[i] = pair[0];
		theirs[i] = pair[1];
		if (fcntl(ports[i], F_SETFD, FD_CLOEXEC))
			die("fcntl");
	}
	argv = emulator_args(theirs);
	emulator_pid = fork();
	if (emulator_pid < 0)
		die("fork");
	if (!emulator_pid)
		become_emulator(argv, self);
	for (i = 0; i < NR_PORTS; i++)
		close(theirs[i]);
}

void kill_emulator(void)
{
	if (emulator_pid > 0)
		kill(emulator_pid, SIGKILL);
}

void stop_emulator(void)
{
	int tries;

	/* SIGTERM first: the emulator may have a log to write. */
	kill(emulator_pid, SIGTERM);
	for (tries = 0; tries < 500; tries++) {
		if (waitpid(emulator_pid, NULL, WNOHANG))
			return;
		usleep(10000);
	}
	kill(emulator_pid, SIGKILL);
	waitpid(emulator_pid, NULL, 0);
}
