// SPDX-License-Identifier: GPL-2.0
/*
 * The part of machine/vm/run that runs on the host: add the job (see wire.h) to the initramfs,
 * start the emulator, move the bytes of the command's streams, and exit with the command's status.
 *
 *	host OPTIONS -- EMULATOR ARGS... -- COMMAND ARGS...
 *
 * The script machine/vm/run starts this program. This file calls host_emulator.c and stream.c,
 * which call neither host.c nor each other.
 *
 * There is one thread and one poll loop, streams_move(). The loop receives signals through a
 * signalfd. This program exits only after the emulator has exited. A run can end in these ways:
 *
 *	the command ended and its output is written	the command's own status
 *	the machine ended or panicked, QEMU died	125 and the console's tail
 *	Ctrl-] three times, with --tty			125
 *	the timeout has passed				124 and the console's tail
 *	SIGINT, SIGTERM, SIGHUP, SIGQUIT		this program dies of the same signal
 *	SIGKILL						the kernel kills the emulator
 *
 * With the option FORWARD, this program sends the first signal to the command, and dies only of a
 * second signal. If a line of the console matches the pattern in the option TROUBLE, the status is
 * 123, unless a signal ends this program.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "stream.h"
#include "wire.h"
#include "host.h"

#define ESCAPE		0x1d	/* Ctrl-] */
#define ESCAPES		3

enum option {
	CONSOLE		= 'c',	/* file for the guest's console and the emulator's messages */
	FORWARD		= 'f',	/* forward the first signal to the command */
	INITRAMFS	= 'I',	/* the initramfs without the job */
	INFO		= 'i',	/* file for the final output of `info bts` */
	WORD		= 'j',	/* a string of the job (a "word" in wire.h) */
	TEMPORARY	= 'l',	/* remove the console's file, unless the machine fails */
	NAME		= 'n',	/* the name of this program in messages */
	TROUBLE		= 'S',	/* regular expression for console lines that report trouble */
	TIMEOUT		= 'T',	/* seconds */
	TTY		= 't',	/* give the command a terminal */
};

enum end { RUNNING, COMMAND_ENDED, MACHINE_LOST, TIMED_OUT, SIGNALLED, LEFT };

enum { IN, OUT, ERR, STREAMS };

static const char *opt[128];
static struct stream streams[STREAMS];
static struct wire_report result;
static struct termios saved_tty;
static bool tty_is_raw;
static bool tty_resized;
static int signal_fd;
static int last_signal;
static bool stdin_is_null;

static void restore_tty(void)
{
	if (tty_is_raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &saved_tty);
	tty_is_raw = false;
}

static void raw_tty(void)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &saved_tty))
		err(STATUS_LOST, "standard input");
	raw = saved_tty;
	cfmakeraw(&raw);
	atexit(restore_tty);
	tty_is_raw = true;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw))
		err(STATUS_LOST, "standard input");
}

static struct winsize tty_size(void)
{
	struct winsize size;

	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	return size;
}

static void send_size(void)
{
	struct winsize size = tty_size();

	send(sockets[WIRE_CONTROL], &size, sizeof(size), MSG_DONTWAIT | MSG_NOSIGNAL);
	tty_resized = false;
}

/* Report whether this program is in the background, where it must not read the terminal. */
static bool in_background(void)
{
	pid_t foreground = tcgetpgrp(STDIN_FILENO);

	return foreground >= 0 && foreground != getpgrp();
}

static bool escape_seen(const struct stream *s)
{
	static uint64_t seen;
	static int count;
	size_t i;

	if (!opt[TTY] || s->total == seen)
		return false;
	seen = s->total;
	for (i = 0; i < s->len; i++) {
		count = s->buf[i] == ESCAPE ? count + 1 : 0;
		if (count == ESCAPES)
			return true;
	}
	return false;
}

static void watch_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_fd < 0)
		err(STATUS_LOST, "signalfd");
}

/*
 * Forward the first signal to the command, so that the command can clean up. Ignore other signals
 * during the next second, because one Ctrl-C may cause two signals: one from the terminal and one
 * from a parent process. Return false if the machine must be stopped instead.
 */
static bool forward(int signal)
{
	struct winsize message = { .ws_col = signal };
	static time_t first;

	if (!opt[FORWARD])
		return false;
	if (last_signal)
		return time(NULL) <= first + 1;
	first = time(NULL);
	last_signal = signal;
	return send(sockets[WIRE_CONTROL], &message, sizeof(message),
		    MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(message);
}

static enum end take_signal(void)
{
	struct signalfd_siginfo info;

	if (read(signal_fd, &info, sizeof(info)) != sizeof(info))
		return RUNNING;
	if (info.ssi_signo == SIGALRM)
		return TIMED_OUT;
	if (info.ssi_signo == SIGWINCH) {
		tty_resized = opt[TTY];
		return RUNNING;
	}
	if (forward(info.ssi_signo))
		return RUNNING;
	last_signal = info.ssi_signo;
	return SIGNALLED;
}

/* recv() does not wait long, because the guest writes each report with one write(). */
static bool take_report(void)
{
	if (recv(sockets[WIRE_CONTROL], &result, sizeof(result), MSG_WAITALL) != sizeof(result))
		return false;
	streams[OUT].end = result.out_end;
	streams[ERR].end = result.err_end;
	return true;
}

static enum end serve_once(void)
{
	struct pollfd fds[] = {
		{ .fd = signal_fd, .events = POLLIN },
		{ .fd = sockets[WIRE_CONTROL], .events = POLLIN },
		{ .fd = sockets[MONITOR], .events = POLLIN },
	};

	/* Send the terminal's size before waiting, because the next event may come much later. */
	if (tty_resized)
		send_size();
	streams[IN].paused = in_background();
	streams_move(streams, STREAMS, fds, 3, streams[IN].paused ? 500 : -1);
	if (escape_seen(&streams[IN]))
		return LEFT;
	if (streams[IN].dst < 0 && !stdin_is_null)
		shutdown(sockets[WIRE_STDIN], SHUT_WR);
	if (fds[1].revents && !take_report())
		return MACHINE_LOST;
	if (fds[2].revents && emulator_lost())
		return MACHINE_LOST;
	return fds[0].revents ? take_signal() : RUNNING;
}

/* Write the rest of the output that arrived before the machine was lost. */
static enum end drain(void)
{
	struct pollfd fd = { .fd = signal_fd, .events = POLLIN };
	enum end end = RUNNING;

	while (end == RUNNING && streams_move(&streams[OUT], 2, &fd, 1, 0))
		if (fd.revents)
			end = take_signal();
	return end == RUNNING ? MACHINE_LOST : end;
}

static enum end serve(void)
{
	enum end end;

	do {
		end = serve_once();
		if (result.ended && stream_done(&streams[OUT]) && stream_done(&streams[ERR]))
			return COMMAND_ENDED;
	} while (end == RUNNING);
	return end == MACHINE_LOST ? drain() : end;
}

static int report(enum end end)
{
	if (end == COMMAND_ENDED)
		return WIFSIGNALED(result.status) ? 128 + WTERMSIG(result.status) :
						    WEXITSTATUS(result.status);
	if (end == LEFT) {
		warnx("ended by Ctrl-]");
		return STATUS_LOST;
	}
	if (end == TIMED_OUT)
		warnx("not finished after %s s", opt[TIMEOUT]);
	else
		warnx("the guest crashed, rebooted or shut down, or the emulator exited");
	console_show_tail(opt[CONSOLE]);
	return end == TIMED_OUT ? STATUS_TIMEOUT : STATUS_LOST;
}

/* After Ctrl-C, the calling shell script stops only if this program dies of SIGINT. */
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

	if (end != SIGNALLED && opt[INFO])
		emulator_info(opt[INFO]);
	emulator_stop();
	restore_tty();
	if (opt[TEMPORARY] && end == SIGNALLED)
		unlink(opt[CONSOLE]);
	if (end == SIGNALLED)
		die_of_signal();
	status = report(end);
	if (opt[TROUBLE] && console_has_trouble(opt[CONSOLE], opt[TROUBLE]))
		return STATUS_TROUBLE;
	if (opt[TEMPORARY] && (end == COMMAND_ENDED || end == LEFT))
		unlink(opt[CONSOLE]);
	return status;
}

static void job_word(FILE *job, enum wire_type type, const char *word)
{
	fprintf(job, "%c%s%c", type, word, '\0');
}

/* Parse the options. End the emulator's arguments with NULL. Return the command's arguments. */
static char **parse(int argc, char **argv, FILE *job)
{
	int c;

	while ((c = getopt(argc, argv, "+c:fI:i:j:ln:S:T:t")) != -1) {
		if (c == '?')
			exit(STATUS_LOST);
		else if (c == WORD)
			job_word(job, optarg[0], optarg + 1);
		else
			opt[c] = optarg ? optarg : "";
	}
	for (argv += optind; *argv && strcmp(*argv, "--"); argv++)
		;
	if (!*argv)
		errx(STATUS_LOST, "no command");
	*argv = NULL;
	return argv + 1;
}

static bool is_null(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

static void complete_job(FILE *job, char **command)
{
	struct winsize tty = tty_size();
	char **word;

	for (word = command; *word; word++)
		job_word(job, WIRE_ARG, *word);
	for (word = environ; *word; word++)
		job_word(job, WIRE_ENV, *word);
	if (opt[TTY])
		fprintf(job, "%c%d %d%c", WIRE_TTY, tty.ws_row, tty.ws_col, '\0');
	if (stdin_is_null)
		job_word(job, WIRE_NULL, "");
}

/* Add a file to a cpio archive. The name and the contents are padded to multiples of 4 bytes. */
static void cpio_add(FILE *out, const char *name, const char *data, size_t size)
{
	static const char zeroes[4];

	fprintf(out, "070701%08x%08x%08x%08x%08x%08x%08zx%08x%08x%08x%08x%08zx%08x%s%c", 0,
		S_IFREG | 0400, 0, 0, 1, 0, size, 0, 0, 0, 0, strlen(name) + 1, 0, name, '\0');
	fwrite(zeroes, 1, -ftell(out) & 3, out);
	fwrite(data, 1, size, out);
	fwrite(zeroes, 1, -ftell(out) & 3, out);
}

/* Return a file that contains the initramfs, followed by a second cpio archive with the job. */
static int initramfs_with(const char *job, size_t size)
{
	FILE *out = fdopen(memfd_create("initramfs", MFD_CLOEXEC), "w");
	FILE *in = fopen(opt[INITRAMFS], "re");
	char buffer[4096];
	size_t n;

	if (!in || !out)
		err(STATUS_LOST, "%s", opt[INITRAMFS]);
	while ((n = fread(buffer, 1, sizeof(buffer), in)))
		fwrite(buffer, 1, n, out);
	cpio_add(out, "job", job, size);
	cpio_add(out, "TRAILER!!!", NULL, 0);
	if (fflush(out) || ferror(out) || ferror(in))
		err(STATUS_LOST, "%s", opt[INITRAMFS]);
	fclose(in);
	return fileno(out);
}

static void open_streams(void)
{
	int null = open("/dev/null", O_WRONLY);

	stream_open(&streams[IN], "standard input", dup(STDIN_FILENO), dup(sockets[WIRE_STDIN]));
	stream_open(&streams[OUT], "standard output", sockets[WIRE_STDOUT], dup(STDOUT_FILENO));
	stream_open(&streams[ERR], "standard error", sockets[WIRE_STDERR], dup(STDERR_FILENO));
	/*
	 * Replace our standard output with /dev/null, so that only the duplicate in streams[OUT]
	 * stays open. The reader sees the end of the output as soon as this duplicate is closed.
	 */
	dup2(null, STDOUT_FILENO);
	close(null);
}

/*
 * Open /dev/null for each standard descriptor that is closed. Otherwise another file would get the
 * number of that descriptor.
 */
static void fill_standard_files(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

int main(int argc, char **argv)
{
	char **command, *text;
	size_t size;
	FILE *job;

	program_invocation_short_name = "machine/vm/run";
	fill_standard_files();
	stdin_is_null = is_null(STDIN_FILENO);
	job = open_memstream(&text, &size);
	if (!job)
		err(STATUS_LOST, "job");
	command = parse(argc, argv, job);
	if (opt[NAME])
		program_invocation_short_name = (char *)opt[NAME];
	complete_job(job, command);
	if (fclose(job))
		err(STATUS_LOST, "job");

	watch_signals();
	emulator_start(argv + optind, opt[CONSOLE], initramfs_with(text, size));
	if (opt[TTY])
		raw_tty();
	open_streams();
	alarm(opt[TIMEOUT] ? atol(opt[TIMEOUT]) : 0);
	return finish(serve());
}
