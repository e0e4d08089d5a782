// SPDX-License-Identifier: GPL-2.0
/*
 * The host's end of machine/vm/run: starts the emulator, sends the job to the guest's
 * init.c, moves the bytes of its command, and ends as the command did.
 *
 *	host [OPTIONS] -- EMULATOR ARGS... -- COMMAND ARGS...
 *
 * machine/vm/run has put the arguments together. This program adds those of the
 * connections: socket pairs that the emulator inherits. They have no path and no port
 * number, so machines that run side by side cannot collide, and there is nothing to
 * remove. Four are the guest's virtio-serial ports (see wire.h), the fifth is the monitor.
 *
 * There is one thread and one poll loop; signals arrive in it through a signalfd. The
 * machine ends in one of these ways, and the emulator ends before this program does:
 *
 *	WIRE_EXIT, and the bytes that it counts are written	the command's own status
 *	the machine shut down, reset or panicked by itself	125 and the console's tail
 *	the emulator died					125 and the console's tail
 *	--timeout						124 and the console's tail
 *	SIGINT, SIGTERM, SIGHUP					this program dies of the same signal
 *	SIGKILL							PR_SET_PDEATHSIG ends the emulator
 *
 * With --strict, trouble on the console makes the status 123 in each case but that of a
 * signal. The emulator's own messages go to the console file too, because standard error is
 * the command's. A machine that has shut down stays paused, so that the monitor can still
 * answer `info bts`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

#define ESCAPE		0x1d	/* Ctrl-] */
#define ESCAPES		3

/* Why the loop has ended. */
enum end { RUNNING, COMMAND_ENDED, MACHINE_LOST, TIMED_OUT, SIGNALLED, LEFT };

struct options opt;
int ports[NR_PORTS];
static struct wire_exit result;
static bool have_result;
static struct termios saved_tty;
static bool tty_is_raw;
static int signal_fd;
static int last_signal;

static void restore_tty(void)
{
	if (tty_is_raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &saved_tty);
	tty_is_raw = false;
}

void say(const char *fmt, ...)
{
	va_list args;

	restore_tty();
	va_start(args, fmt);
	fprintf(stderr, "machine/vm/run: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, "\n");
	va_end(args);
}

void die(const char *fmt, ...)
{
	int error = errno;
	va_list args;

	restore_tty();
	va_start(args, fmt);
	fprintf(stderr, "machine/vm/run: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, ": %s\n", strerror(error));
	va_end(args);
	kill_emulator();
	exit(STATUS_LOST);
}

bool same_file(int a, int b)
{
	struct stat st_a, st_b;

	return !fstat(a, &st_a) && !fstat(b, &st_b) &&
	       st_a.st_dev == st_b.st_dev && st_a.st_ino == st_b.st_ino;
}

static void watch_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_fd < 0)
		die("signalfd");
}

static enum end take_signal(void)
{
	struct signalfd_siginfo info;

	if (read(signal_fd, &info, sizeof(info)) != sizeof(info))
		return RUNNING;
	if (info.ssi_signo == SIGWINCH) {
		if (opt.tty)
			queue_size(WIRE_SIZE);
		return RUNNING;
	}
	/* The control port ends as well, after the messages that are still in it. */
	if (info.ssi_signo == SIGCHLD)
		return RUNNING;
	last_signal = info.ssi_signo;
	return SIGNALLED;
}

static void raw_tty(void)
{
	struct termios raw;

	if (!opt.tty)
		return;
	if (tcgetattr(STDIN_FILENO, &saved_tty))
		die("standard input");
	raw = saved_tty;
	cfmakeraw(&raw);
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw))
		die("standard input");
	tty_is_raw = true;
}

/* A background job must not read the terminal: it would be stopped. */
static bool may_read_stdin(void)
{
	pid_t foreground = tcgetpgrp(STDIN_FILENO);

	return foreground < 0 || foreground == getpgrp();
}

/* Lets the reader of a pipe see its end as soon as the command has closed its own. */
static void close_stdout(void)
{
	int null;

	if (out.dst_gone || !stream_done(&out) || have_result || opt.tty ||
	    same_file(STDOUT_FILENO, STDERR_FILENO))
		return;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null < 0)
		die("/dev/null");
	dup2(null, STDOUT_FILENO);
	close(null);
	out.dst_gone = true;
}

static bool control_read(void *data, size_t len)
{
	char *p = data;
	ssize_t n;

	while (len) {
		n = read(ports[CONTROL], p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= n;
	}
	return true;
}

/* The guest writes a message in one piece, so reading it does not wait for long. */
static enum end control_message(void)
{
	struct wire_head head;

	if (!control_read(&head, sizeof(head)))
		return MACHINE_LOST;
	switch (head.type) {
	case WIRE_OUT_END:
		if (!control_read(&out.end, sizeof(out.end)))
			return MACHINE_LOST;
		return RUNNING;
	case WIRE_EXIT:
		if (!control_read(&result, sizeof(result)))
			return MACHINE_LOST;
		out.end = result.out_bytes;
		err.end = result.err_bytes;
		have_result = true;
		return RUNNING;
	default:
		say("unknown message %u from the guest", head.type);
		return MACHINE_LOST;
	}
}

static bool escape_seen(const char *buf, size_t len)
{
	static int count;

	for (; len; len--) {
		count = *buf++ == ESCAPE ? count + 1 : 0;
		if (count == ESCAPES)
			return true;
	}
	return false;
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* How long poll() may sleep; 0 when the time is over. */
static int sleep_ms(long deadline, bool foreground)
{
	long left;

	if (!opt.timeout)
		return foreground ? -1 : 500;
	left = deadline - now_ms();
	if (left < 0)
		return 0;
	if (!foreground && left > 500)
		return 500;
	return left + 1;
}

static enum end serve_once(long deadline)
{
	struct pollfd fds[9];
	enum end end = RUNNING;
	bool foreground = may_read_stdin();
	bool was_full;
	int i;

	if (opt.timeout && now_ms() >= deadline)
		return TIMED_OUT;
	stream_poll(&in, &fds[0]);
	stream_poll(&out, &fds[2]);
	stream_poll(&err, &fds[4]);
	if (!foreground)
		fds[0].fd = -1;
	fds[6] = (struct pollfd){ .fd = signal_fd, .events = POLLIN };
	fds[7] = (struct pollfd){ .fd = ports[CONTROL], .events = POLLIN };
	if (queue_waits())
		fds[7].events |= POLLOUT;
	fds[8] = (struct pollfd){ .fd = ports[MONITOR], .events = POLLIN };
	for (i = 0; i < 9; i++)
		fds[i].revents = 0;
	if (poll(fds, 9, sleep_ms(deadline, foreground)) <= 0)
		return RUNNING;

	was_full = stream_full(&in);
	stream_run(&in, &fds[0]);
	if (opt.tty && !was_full && stream_full(&in) && escape_seen(in.buf, in.len))
		return LEFT;
	stream_run(&out, &fds[2]);
	stream_run(&err, &fds[4]);
	if (fds[6].revents)
		end = take_signal();
	if (end == RUNNING && (fds[7].revents & POLLOUT))
		queue_flush();
	if (end == RUNNING && (fds[7].revents & (POLLIN | POLLHUP)))
		end = control_message();
	if (end == RUNNING && fds[8].revents && monitor_lost())
		end = MACHINE_LOST;
	return end;
}

static enum end serve(void)
{
	long deadline = now_ms() + opt.timeout * 1000;
	enum end end;

	do {
		end = serve_once(deadline);
		close_stdout();
		if (have_result && stream_done(&out) && stream_done(&err))
			return COMMAND_ENDED;
	} while (end == RUNNING);
	return end;
}

static int report(enum end end)
{
	switch (end) {
	case COMMAND_ENDED:
		if (WIFSIGNALED(result.status))
			return 128 + WTERMSIG(result.status);
		return WEXITSTATUS(result.status);
	case TIMED_OUT:
		say("not finished after %ld s", opt.timeout);
		show_console_tail();
		return STATUS_TIMEOUT;
	case LEFT:
		say("left by Ctrl-]");
		return STATUS_LOST;
	default:
		say("the machine is lost");
		show_console_tail();
		return STATUS_LOST;
	}
}

/* A shell sees an interruption only if the program dies of the signal. */
static void die_of_signal(void)
{
	sigset_t none;

	sigemptyset(&none);
	signal(last_signal, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	raise(last_signal);
}

static int finish(enum end end)
{
	int status;

	if (end == MACHINE_LOST) {
		stream_drain(&out);
		stream_drain(&err);
	}
	if (end != SIGNALLED)
		ask_info();
	stop_emulator();
	restore_tty();
	if (end == SIGNALLED) {
		if (opt.temporary)
			unlink(opt.console);
		die_of_signal();
	}
	status = report(end);
	if (opt.strict && console_has_trouble())
		return STATUS_TROUBLE;
	if (opt.temporary && (end == COMMAND_ENDED || end == LEFT))
		unlink(opt.console);
	return status;
}

static char **split(char **argv)
{
	for (; *argv; argv++) {
		if (strcmp(*argv, "--"))
			continue;
		*argv = NULL;
		return argv + 1;
	}
	errno = EINVAL;
	die("no command");
}

static const struct option long_options[] = {
	{ "console",	required_argument, NULL, 'c' },
	{ "log",	required_argument, NULL, 'l' },
	{ "cwd",	required_argument, NULL, 'd' },
	{ "keep",	required_argument, NULL, 'k' },
	{ "share",	required_argument, NULL, 's' },
	{ "info-bts",	required_argument, NULL, 'i' },
	{ "timeout",	required_argument, NULL, 'T' },
	{ "strict",	no_argument,	   NULL, 'S' },
	{ "tty",	no_argument,	   NULL, 't' },
	{ "repeatable",	no_argument,	   NULL, 'r' },
	{ NULL, 0, NULL, 0 },
};

static void add_dir(const char **dirs, int *nr, const char *dir)
{
	errno = E2BIG;
	if (*nr == MAX_DIRS)
		die("%s", dir);
	dirs[(*nr)++] = dir;
}

static void parse_options(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "+", long_options, NULL)) != -1) {
		switch (c) {
		case 'l':
			opt.temporary = true;
			opt.console = optarg;
			break;
		case 'c':
			opt.console = optarg;
			break;
		case 'd':
			opt.cwd = optarg;
			break;
		case 'k':
			add_dir(opt.keep, &opt.nr_keep, optarg);
			break;
		case 's':
			add_dir(opt.share, &opt.nr_share, optarg);
			break;
		case 'i':
			opt.info = optarg;
			break;
		case 'T':
			opt.timeout = atol(optarg);
			break;
		case 'S':
			opt.strict = true;
			break;
		case 't':
			opt.tty = true;
			break;
		case 'r':
			opt.repeatable = true;
			break;
		default:
			exit(STATUS_LOST);
		}
	}
}

/* If one of the three is closed at the start, no socket may get its number. */
static void fill_standard_files(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			die("/dev/null");
	} while (fd <= STDERR_FILENO);
	close(fd);
}

int main(int argc, char **argv)
{
	fill_standard_files();
	parse_options(argc, argv);
	opt.emulator = argv + optind;
	opt.command = split(opt.emulator);
	watch_signals();
	queue_job();
	start_emulator();
	raw_tty();
	monitor_start();

	in.src = STDIN_FILENO;
	in.dst = ports[STDIN];
	out.src = ports[STDOUT];
	out.dst = STDOUT_FILENO;
	err.src = ports[STDERR];
	err.dst = STDERR_FILENO;
	return finish(serve());
}
