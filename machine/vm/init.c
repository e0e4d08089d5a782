// SPDX-License-Identifier: GPL-2.0
/*
 * Process 1 of the emulated machine: runs one command of the host, then reports its end.
 *
 * The initramfs holds nothing but this program. It opens the four virtio-serial ports
 * (see wire.h), reads the job from the control port, puts the file system together
 *
 *	/		9p, the host's root, read-only
 *	/proc /sys ..	of the guest's own kernel, with tracefs and debugfs
 *	/tmp /run ..	tmpfs; where that would hide the working directory, it is bound back
 *	--share		9p, writable, at the path that it has on the host
 *
 * starts the command, and moves the command's bytes until its end:
 *
 *	port 2 -> pipe -> stdin     stdout -> pipe -> port 3     stderr -> pipe -> port 4
 *
 * Pipes are between, because a port can be opened only once: a command that opens
 * /dev/stderr would get -EBUSY. With --tty one pty takes the place of the three pipes.
 *
 * There is one thread and one poll loop. All its files are non-blocking, so no stream
 * waits for another. When the command ends, the rest of the pipes is sent, then WIRE_EXIT;
 * what the command's children write after that is lost. The host ends the machine, so this
 * program never exits.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/random.h>
#include <net/if.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

struct job job;
int control = -1;
int terminal = -1;

/* To the console: of a lost machine the host shows the end of the console. */
void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	dprintf(STDERR_FILENO, "init: ");
	vdprintf(STDERR_FILENO, fmt, args);
	dprintf(STDERR_FILENO, ": %s\n", strerror(errno));
	va_end(args);
	reboot(RB_AUTOBOOT);
	_exit(1);
}

/* Messages are few and short: waiting for room on the control port does no harm. */
static void control_write(const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	while (len) {
		n = write(control, p, len);
		if (n < 0 && errno == EAGAIN) {
			struct pollfd fd = { .fd = control, .events = POLLOUT };

			poll(&fd, 1, -1);
			continue;
		}
		if (n < 0)
			die("control port");
		p += n;
		len -= n;
	}
}

static void control_read(void *data, size_t len)
{
	char *p = data;
	ssize_t n;

	while (len) {
		n = read(control, p, len);
		if (n < 0 && errno == EAGAIN) {
			struct pollfd fd = { .fd = control, .events = POLLIN };

			poll(&fd, 1, -1);
			continue;
		}
		if (n <= 0)
			die("control port");
		p += n;
		len -= n;
	}
}

void send_message(uint32_t type, const void *data, uint32_t len)
{
	struct wire_head head = { .type = type, .len = len };

	control_write(&head, sizeof(head));
	control_write(data, len);
}

static void add_word(struct words *words, char *word, int max)
{
	errno = E2BIG;
	if (words->nr == max)
		die("job");
	words->word[words->nr++] = word;
}

/*
 * The kernel's virtio-serial driver makes the ports in the background, so they may not
 * exist yet. The X of vportXpN is the number of the virtio device.
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
	die("%s", pattern);
}

/* ping to 127.0.0.1 is among upstream's tests. */
static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr))
		dprintf(STDERR_FILENO, "init: lo stays down: %s\n", strerror(errno));
	close(fd);
}

/* Without it the first getrandom() waits about a second for the pool to fill. */
static void seed_random(const void *seed, uint32_t len)
{
	struct rand_pool_info *info;
	int fd;

	info = malloc(sizeof(*info) + len);
	if (!info)
		die("seed");
	info->entropy_count = len * 8;
	info->buf_size = len;
	memcpy(info->buf, seed, len);
	fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, info))
		die("/dev/urandom");
	close(fd);
	free(info);
}

/* Words of the job stay allocated, for the command. Returns false if it is none. */
static bool take_word(uint32_t type, char *data)
{
	switch (type) {
	case WIRE_ARG:
		add_word(&job.args, data, MAX_WORDS);
		break;
	case WIRE_ENV:
		add_word(&job.env, data, MAX_WORDS);
		break;
	case WIRE_KEEP:
		add_word(&job.keep, data, MAX_DIRS);
		break;
	case WIRE_SHARE:
		add_word(&job.share, data, MAX_DIRS);
		break;
	case WIRE_CWD:
		job.cwd = data;
		break;
	default:
		return false;
	}
	return true;
}

/* Returns false at WIRE_GO. */
static bool read_job_message(void)
{
	struct wire_head head;
	char *data;

	control_read(&head, sizeof(head));
	errno = EPROTO;
	if (head.len > WIRE_MAX)
		die("job");
	data = calloc(1, head.len + 1);
	if (!data)
		die("job");
	control_read(data, head.len);
	if (take_word(head.type, data))
		return true;

	switch (head.type) {
	case WIRE_TTY:
		job.tty = true;
		memcpy(&job.size, data, sizeof(job.size));
		break;
	case WIRE_MERGE:
		job.merge = true;
		break;
	case WIRE_SEED:
		seed_random(data, head.len);
		break;
	case WIRE_GO:
		break;
	default:
		die("job: message %u", head.type);
	}
	free(data);
	return head.type != WIRE_GO;
}

static void read_job(void)
{
	while (read_job_message())
		;
	errno = EPROTO;
	if (!job.args.nr || !job.cwd)
		die("job");
}

static void set_size(const struct wire_size *size)
{
	struct winsize ws = { .ws_row = size->rows, .ws_col = size->cols };

	if (terminal >= 0)
		ioctl(terminal, TIOCSWINSZ, &ws);
}

/* In the child, with its three files in place. */
static void __attribute__((noreturn)) run_command(void)
{
	const char *name = job.args.word[0];
	sigset_t none;
	int error;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (chdir(job.cwd)) {
		dprintf(STDERR_FILENO, "machine/vm/run: %s: %s\n", job.cwd, strerror(errno));
		_exit(126);
	}
	/* execvp() looks for the command in the PATH of the new environment, not ours. */
	environ = job.env.word;
	execvp(name, job.args.word);
	error = errno;
	dprintf(STDERR_FILENO, "machine/vm/run: %s: %s\n", name, strerror(error));
	_exit(error == ENOENT ? 127 : 126);
}

static void set_nonblock(int fd)
{
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK))
		die("fcntl");
}

static pid_t start_on_terminal(void)
{
	pid_t pid = forkpty(&terminal, NULL, NULL, NULL);

	if (pid < 0)
		die("pty");
	if (!pid)
		run_command();
	fcntl(terminal, F_SETFD, FD_CLOEXEC);
	set_nonblock(terminal);
	set_size(&job.size);
	in.dst = terminal;
	out.src = terminal;
	return pid;
}

static pid_t start_on_pipes(void)
{
	int in_pipe[2], out_pipe[2], err_pipe[2];
	pid_t pid;

	if (pipe2(in_pipe, O_CLOEXEC) || pipe2(out_pipe, O_CLOEXEC) || pipe2(err_pipe, O_CLOEXEC))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		setsid();
		dup2(in_pipe[0], STDIN_FILENO);
		dup2(out_pipe[1], STDOUT_FILENO);
		dup2(job.merge ? out_pipe[1] : err_pipe[1], STDERR_FILENO);
		run_command();
	}
	close(in_pipe[0]);
	close(out_pipe[1]);
	close(err_pipe[1]);
	in.dst = in_pipe[1];
	out.src = out_pipe[0];
	err.src = err_pipe[0];
	set_nonblock(in.dst);
	set_nonblock(out.src);
	set_nonblock(err.src);
	return pid;
}

void control_message(void)
{
	struct wire_head head;
	struct wire_size size;
	uint64_t end;

	control_read(&head, sizeof(head));
	switch (head.type) {
	case WIRE_SIZE:
		control_read(&size, sizeof(size));
		set_size(&size);
		break;
	case WIRE_STDIN_END:
		control_read(&end, sizeof(end));
		pump_end_at(&in, end);
		break;
	case WIRE_OUT_GONE:
		pump_gone(&out);
		break;
	case WIRE_ERR_GONE:
		pump_gone(&err);
		break;
	default:
		errno = EPROTO;
		die("control port: message %u", head.type);
	}
}

/* Process 1 inherits every orphan. True if the command itself has ended. */
static bool reap(int sigfd, pid_t command, int *status)
{
	struct signalfd_siginfo info;
	bool ended = false;
	pid_t pid;
	int st;

	if (read(sigfd, &info, sizeof(info)) < 0 && errno != EAGAIN)
		die("signalfd");
	while ((pid = waitpid(-1, &st, WNOHANG)) > 0) {
		if (pid != command)
			continue;
		*status = st;
		ended = true;
	}
	return ended;
}

static int watch_children(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		die("signalfd");
	return fd;
}

static int serve(int sigfd, pid_t command)
{
	struct pollfd fds[5];
	int status;

	for (;;) {
		pump_poll(&in, &fds[0]);
		pump_poll(&out, &fds[1]);
		pump_poll(&err, &fds[2]);
		fds[3] = (struct pollfd){ .fd = control, .events = POLLIN };
		fds[4] = (struct pollfd){ .fd = sigfd, .events = POLLIN };
		if (poll(fds, 5, -1) < 0)
			continue;
		pump_run(&in, &fds[0]);
		pump_run(&out, &fds[1]);
		pump_run(&err, &fds[2]);
		if (fds[3].revents)
			control_message();
		if (fds[4].revents && reap(sigfd, command, &status))
			return status;
	}
}

int main(void)
{
	struct wire_exit result = { 0 };
	int sigfd;
	pid_t pid;

	mkdir("/dev", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	control = open_port(WIRE_CONTROL);
	in.src = open_port(WIRE_STDIN);
	out.dst = open_port(WIRE_STDOUT);
	err.dst = open_port(WIRE_STDERR);
	signal(SIGPIPE, SIG_IGN);

	read_job();
	mount_root();
	mount_kernel_fs();
	enter_root();
	loopback_up();
	sethostname("bts", 3);

	sigfd = watch_children();
	pid = job.tty ? start_on_terminal() : start_on_pipes();
	result.status = serve(sigfd, pid);
	pump_drain(&out);
	pump_drain(&err);
	sync();
	result.out_bytes = out.total;
	result.err_bytes = err.total;
	send_message(WIRE_EXIT, &result, sizeof(result));
	for (;;)
		pause();
}
