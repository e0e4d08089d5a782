// SPDX-License-Identifier: GPL-2.0
/*
 * Start and stop the emulator, use its monitor, and read the guest's console output.
 *
 * The sockets have neither a path nor a port number, so several machines can run at the same time,
 * and this program does not have to remove socket files. The monitor speaks QMP: each line is a
 * JSON object. The console's file is read only after the emulator has stopped.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire.h"
#include "host.h"

/*
 * In the emulator, sockets[N] is the descriptor FIRST_FD + N, and the initramfs is the descriptor
 * after the last socket. The script machine/vm/run uses these numbers, too.
 */
#define FIRST_FD	100
#define TAIL_SIZE	4096

int sockets[SOCKETS];

static pid_t emulator;
static char said[256 * 1024];
static size_t said_len;

static void monitor_say(const char *command)
{
	if (send(sockets[MONITOR], command, strlen(command), MSG_NOSIGNAL) < 0)
		warn("the emulator's monitor");
}

static void monitor_read(void)
{
	ssize_t n;

	if (said_len == sizeof(said) - 1)
		said_len = 0;
	n = recv(sockets[MONITOR], said + said_len, sizeof(said) - 1 - said_len, MSG_DONTWAIT);
	if (n > 0)
		said_len += n;
	said[said_len] = '\0';
}

/*
 * Put the emulator into its own process group, so that Ctrl-C reaches only this program. If this
 * program dies, the kernel kills the emulator.
 */
static void __attribute__((noreturn)) become_emulator(char **argv, pid_t parent, int console)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_LOST);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(open("/dev/null", O_RDWR | O_CLOEXEC), STDIN_FILENO);
	dup2(console, STDOUT_FILENO);
	dup2(console, STDERR_FILENO);
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(STATUS_LOST);
}

void emulator_start(char **argv, const char *console, int initramfs)
{
	int log = open(console, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	int theirs[SOCKETS], pair[2], i;
	pid_t self = getpid();

	if (log < 0)
		err(STATUS_LOST, "%s", console);
	for (i = 0; i < SOCKETS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
			err(STATUS_LOST, "socketpair");
		sockets[i] = pair[0];
		/* Take high descriptor numbers, so that the dup2() calls below close no socket. */
		theirs[i] = fcntl(pair[1], F_DUPFD_CLOEXEC, FIRST_FD + SOCKETS + 1);
		if (theirs[i] < 0)
			err(STATUS_LOST, "socketpair");
		close(pair[1]);
	}
	emulator = fork();
	if (emulator < 0)
		err(STATUS_LOST, "fork");
	if (!emulator) {
		for (i = 0; i < SOCKETS; i++)
			dup2(theirs[i], FIRST_FD + i);
		dup2(initramfs, FIRST_FD + SOCKETS);
		become_emulator(argv, self, log);
	}
	for (i = 0; i < SOCKETS; i++)
		close(theirs[i]);
	close(initramfs);
	close(log);
	/* The monitor executes commands and reports events only after qmp_capabilities. */
	monitor_say("{\"execute\": \"qmp_capabilities\"}\n");
}

/* Report whether the machine is paused because it has shut down, reset or panicked. */
bool emulator_lost(void)
{
	monitor_read();
	return strstr(said, "\"event\": \"SHUTDOWN\"");
}

/* Write a JSON string, up to its closing quote, to a file. Convert \r\n to newlines. */
static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f)
		err(STATUS_LOST, "%s", path);
	for (; *text != '"'; text++) {
		if (strncmp(text, "\\r\\n", 4)) {
			fputc(*text, f);
			continue;
		}
		fputc('\n', f);
		text += 3;
	}
	if (fclose(f))
		err(STATUS_LOST, "%s", path);
}

void emulator_info(const char *path)
{
	static const char key[] = "\"return\": \"";
	struct pollfd fd = { .fd = sockets[MONITOR], .events = POLLIN };

	said_len = 0;
	monitor_say("{\"execute\": \"human-monitor-command\", \"id\": \"info\", "
		    "\"arguments\": {\"command-line\": \"info bts\"}}\n");
	while (!(fd.revents & POLLHUP) && poll(&fd, 1, 5000) > 0) {
		monitor_read();
		if (!strstr(said, "\"id\": \"info\"") || !strstr(said, key))
			continue;
		write_text(path, strstr(said, key) + sizeof(key) - 1);
		return;
	}
	warnx("%s: no answer from the emulator", path);
}

void emulator_stop(void)
{
	struct pollfd fd = { .fd = pidfd_open(emulator, 0), .events = POLLIN };

	/* Send SIGTERM first, so that the emulator can still write its log. */
	kill(emulator, SIGTERM);
	poll(&fd, 1, 5000);
	kill(emulator, SIGKILL);
	waitpid(emulator, NULL, 0);
}

void console_show_tail(const char *console)
{
	int fd = open(console, O_RDONLY);
	off_t size = lseek(fd, 0, SEEK_END);
	char buf[TAIL_SIZE];
	ssize_t n = pread(fd, buf, TAIL_SIZE, size > TAIL_SIZE ? size - TAIL_SIZE : 0);

	if (n < 0)
		return;
	fprintf(stderr, "--- the end of the guest's console, %s ---\n", console);
	fwrite(buf, 1, n, stderr);
	fprintf(stderr, "%s--- end ---\n", n && buf[n - 1] == '\n' ? "" : "\n");
}

/* Print the console lines that match the extended regex @trouble. Report whether any match. */
bool console_has_trouble(const char *console, const char *trouble)
{
	FILE *f = fopen(console, "r");
	bool found = false;
	char *line = NULL;
	size_t size = 0;
	regex_t regex;

	if (!f)
		err(STATUS_LOST, "%s", console);
	if (regcomp(&regex, trouble, REG_EXTENDED | REG_NOSUB))
		errx(STATUS_LOST, "%s: not a regular expression", trouble);
	while (getline(&line, &size, f) > 0) {
		if (regexec(&regex, line, 0, NULL, 0))
			continue;
		if (!found)
			warnx("trouble on the console, %s:", console);
		found = true;
		fputs(line, stderr);
	}
	fclose(f);
	return found;
}
