// SPDX-License-Identifier: GPL-2.0
/*
 * Process 1 of the guest: run the command that the host sent, then report its exit status.
 *
 * The initramfs contains only this program and the job (see wire.h). This program reads the job,
 * opens the four virtio-serial ports, mounts the file systems (init_root.c), starts the command,
 * and moves the bytes of the command's streams until the command ends:
 *
 *	port -> pipe -> stdin       stdout -> pipe -> port       stderr -> pipe -> port
 *
 * The pipes are necessary because a port can be opened only once. If standard error were a port,
 * a command that opens /dev/stderr would get -EBUSY. With --tty, a pty replaces the three pipes.
 *
 * There is one thread and one poll loop, streams_move() of stream.c. When the command ends, this
 * program sends the remaining contents of the pipes, then a last struct wire_report. Later output
 * of the command's children is lost. This program never exits; the host stops the machine. If
 * this program fails, it prints a message on the console, and resets the machine. The host then
 * reports that the machine has ended, and prints the console's last lines.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/random.h>
#include <net/if.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"
#include "stream.h"
#include "wire.h"

/*
 * After the command has ended, read at most this many bytes from a pipe, because a child of the
 * command may write forever. No pipe holds more, so all output of the command itself is read.
 */
#define REST_MAX	(1024 * 1024)

enum { IN, OUT, ERR, STREAMS };

static struct stream streams[STREAMS];
static struct words job[128];
static int ports[WIRE_PORTS];

static void reset_machine(void)
{
	reboot(RB_AUTOBOOT);
}

/*
 * Open the device vportXpN, where N is the number of the port, and X is the number of the virtio
 * device. Retry until the device exists, because the kernel creates the ports in the background.
 */
static int open_port(enum wire_port port)
{
	char pattern[32];
	int fd, tries;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "/dev/vport*p%d", port);
	for (tries = 0; tries < 5000; tries++) {
		if (!glob(pattern, 0, NULL, &found)) {
			fd = open(found.gl_pathv[0], O_RDWR | O_NONBLOCK | O_CLOEXEC);
			globfree(&found);
			if (fd >= 0)
				return fd;
		}
		usleep(2000);
	}
	errx(1, "no %s", pattern);
}

static void open_ports(void)
{
	struct pollfd fd = {};
	int port;

	for (port = WIRE_STDIN; port < WIRE_PORTS; port++)
		ports[port] = open_port(port);
	/*
	 * Wait only for the control port, because all other ports are connected earlier (see
	 * wire.h).
	 */
	fd.fd = ports[WIRE_CONTROL];
	while (poll(&fd, 1, 0) > 0 && (fd.revents & POLLHUP))
		usleep(2000);
	/*
	 * Make the control port blocking, which is safe because the host never closes this port,
	 * and the messages on this port are few and short.
	 */
	fcntl(fd.fd, F_SETFL, O_RDWR);
}

static void control_read(void *data, size_t len)
{
	char *p = data;
	ssize_t n;

	for (; len; p += n, len -= n) {
		n = read(ports[WIRE_CONTROL], p, len);
		if (n <= 0)
			err(1, "control port");
	}
}

static void send_report(const struct wire_report *report)
{
	if (write(ports[WIRE_CONTROL], report, sizeof(*report)) != sizeof(*report))
		err(1, "control port");
}

static void add_word(struct words *words, char *word)
{
	words->word = realloc(words->word, (words->nr + 2) * sizeof(*words->word));
	if (!words->word)
		err(1, "job");
	words->word[words->nr++] = word;
	words->word[words->nr] = NULL;
}

/* Read the job, which is a sequence of words (see wire.h). The words are never freed. */
static void read_job(void)
{
	int fd = open("/job", O_RDONLY | O_CLOEXEC);
	char *word, *end;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		err(1, "/job");
	word = malloc(st.st_size);
	if (!word || read(fd, word, st.st_size) != st.st_size)
		err(1, "/job");
	close(fd);
	for (end = word + st.st_size; word < end; word += strlen(word) + 1)
		add_word(&job[*word & 127], word + 1);
	if (!job[WIRE_ARG].nr || !job[WIRE_CWD].nr || !job[WIRE_SEED].nr)
		errx(1, "the job is incomplete");
}

/* Seed the random pool, because the first getrandom() would otherwise wait for about a second. */
static void seed_random(const char *digits)
{
	struct {
		struct rand_pool_info	info;
		char			digits[64];
	} seed = { .info = { .entropy_count = 256, .buf_size = 64 } };
	int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);

	memcpy(seed.digits, digits, strnlen(digits, 64));
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &seed))
		err(1, "/dev/urandom");
	close(fd);
}

/* Bring up "lo", because some of the kernel's selftests ping 127.0.0.1. */
static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &ifr))
		warn("lo stays down");
	close(fd);
}

/* Run the command in this child process, whose standard descriptors are already open. */
static void __attribute__((noreturn)) run_command(void)
{
	const char *name = job[WIRE_ARG].word[0];
	const char *dir = job[WIRE_CWD].word[0];
	sigset_t none;
	int error;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (chdir(dir)) {
		dprintf(STDERR_FILENO, "machine/vm/run: %s: %s\n", dir, strerror(errno));
		_exit(126);
	}
	/* Set the environment first, because execvp() searches the PATH of this environment. */
	environ = job[WIRE_ENV].word;
	execvp(name, job[WIRE_ARG].word);
	error = errno;
	dprintf(STDERR_FILENO, "machine/vm/run: %s: %s\n", name, strerror(error));
	_exit(error == ENOENT ? 127 : 126);
}

static pid_t start_on_terminal(void)
{
	struct winsize size = {};
	int terminal;
	pid_t pid;

	if (sscanf(job[WIRE_TTY].word[0], "%hu %hu", &size.ws_row, &size.ws_col) != 2)
		errx(1, "the job is incomplete");
	pid = forkpty(&terminal, NULL, NULL, &size);
	if (pid < 0)
		err(1, "pty");
	if (!pid)
		run_command();
	/*
	 * Make the terminal non-blocking, because a blocking write() waits if the terminal does not
	 * accept all bytes.
	 */
	fcntl(terminal, F_SETFL, O_RDWR | O_NONBLOCK);
	stream_open(&streams[IN], "stdin", ports[WIRE_STDIN], dup(terminal));
	stream_open(&streams[OUT], "stdout", terminal, ports[WIRE_STDOUT]);
	stream_open(&streams[ERR], "stderr", -1, -1);
	return pid;
}

static pid_t start_on_pipes(void)
{
	int pipes[STREAMS][2], i, null = -1;
	pid_t pid;

	for (i = 0; i < STREAMS; i++)
		if (pipe2(pipes[i], O_CLOEXEC))
			err(1, "pipe");
	if (job[WIRE_NULL].nr)
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		setsid();
		dup2(null < 0 ? pipes[IN][0] : null, STDIN_FILENO);
		dup2(pipes[OUT][1], STDOUT_FILENO);
		dup2(pipes[job[WIRE_MERGE].nr ? OUT : ERR][1], STDERR_FILENO);
		run_command();
	}
	close(pipes[IN][0]);
	close(pipes[OUT][1]);
	close(pipes[ERR][1]);
	stream_open(&streams[IN], "stdin", null < 0 ? ports[WIRE_STDIN] : -1, pipes[IN][1]);
	stream_open(&streams[OUT], "stdout", pipes[OUT][0], ports[WIRE_STDOUT]);
	stream_open(&streams[ERR], "stderr", pipes[ERR][0], ports[WIRE_STDERR]);
	return pid;
}

static int watch_children(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		err(1, "signalfd");
	return fd;
}

/* Reap all children, including inherited orphans. Return true if the command has ended. */
static bool reap(int sigfd, pid_t command, int *status)
{
	struct signalfd_siginfo info;
	bool ended = false;
	pid_t pid;
	int st;

	if (read(sigfd, &info, sizeof(info)) != sizeof(info))
		err(1, "signalfd");
	while ((pid = waitpid(-1, &st, WNOHANG)) > 0) {
		ended |= pid == command;
		if (pid == command)
			*status = st;
	}
	return ended;
}

static void take_message(pid_t command)
{
	struct winsize size;

	control_read(&size, sizeof(size));
	if (size.ws_row)
		ioctl(streams[OUT].src, TIOCSWINSZ, &size);
	else
		kill(command, size.ws_col);
}

static void serve(int sigfd, pid_t command, struct wire_report *report)
{
	struct pollfd fds[] = {
		{ .fd = ports[WIRE_CONTROL], .events = POLLIN },
		{ .fd = sigfd, .events = POLLIN },
	};

	for (;;) {
		streams_move(streams, STREAMS, fds, 2, -1);
		if (fds[0].revents)
			take_message(command);
		if (fds[1].revents && reap(sigfd, command, &report->status))
			return;
		if (streams[OUT].src >= 0 || report->out_end != UINT64_MAX)
			continue;
		/* The command has closed its standard output. */
		report->out_end = streams[OUT].total;
		send_report(report);
	}
}

/* When the command has ended, send the rest of its output. */
static void drain(void)
{
	streams[OUT].end = streams[OUT].total + REST_MAX;
	streams[ERR].end = streams[ERR].total + REST_MAX;
	while (streams_move(&streams[OUT], 2, NULL, 0, 0))
		;
}

int main(void)
{
	struct wire_report report = { .out_end = UINT64_MAX, .err_end = UINT64_MAX };
	int sigfd;
	pid_t pid;

	atexit(reset_machine);
	mkdir("/dev", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	read_job();
	open_ports();
	signal(SIGPIPE, SIG_IGN);

	seed_random(job[WIRE_SEED].word[0]);
	root_mount(job);
	loopback_up();
	sethostname("bts", 3);

	sigfd = watch_children();
	pid = job[WIRE_TTY].nr ? start_on_terminal() : start_on_pipes();
	serve(sigfd, pid, &report);
	drain();
	sync();
	report.out_end = streams[OUT].total;
	report.err_end = streams[ERR].total;
	report.ended = true;
	send_report(&report);
	for (;;)
		pause();
}
