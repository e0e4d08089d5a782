// SPDX-License-Identifier: GPL-2.0
/*
 * Process 1 of the emulated machine: runs one command of the host, then tells how it ended.
 *
 * The initramfs holds nothing but this program. It opens the four virtio-serial ports
 * (see wire.h), reads the job from the control port, puts the file system together
 *
 *	/		9p, the host's root, read-only
 *	/proc /sys ..	of the guest's own kernel, with tracefs and debugfs
 *	/tmp /run ..	tmpfs; where that would hide the working directory, it is bound back
 *	--share		9p, writable, at the path that it has on the host
 *
 * starts the command and moves its bytes until it ends:
 *
 *	port 2 -> pipe -> stdin     stdout -> pipe -> port 3     stderr -> pipe -> port 4
 *
 * Pipes, and not the ports themselves, because a port can be opened only once: a command
 * that opens /dev/stderr would get -EBUSY. With a terminal one pty takes the place of the
 * three pipes.
 *
 * There is one thread and one poll loop. Everything that it touches is non-blocking, so
 * no stream waits for another. When the command ends, what it has left in the pipes is
 * sent, then WIRE_EXIT; what its children write after that is lost. The host ends the
 * machine: this program has no way out other than the panic of a kernel without init.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/random.h>
#include <net/if.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
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

#include "wire.h"

#define MAX_WORDS	4096
#define MAX_DIRS	32
#define PUMP_SIZE	(32 * 1024)

/* The options of every 9p mount; access=any because the host checks nothing per user. */
#define OPTS_9P		"trans=virtio,version=9p2000.L,access=any,msize=512000"

struct words {
	char	*word[MAX_WORDS + 1];
	int	nr;
};

/* What the host wants done, complete at WIRE_GO. */
struct job {
	struct words		args;
	struct words		env;
	struct words		keep;
	struct words		share;
	char			*cwd;
	bool			tty;
	bool			merge;
	struct wire_size	size;
};

/* One stream. Bytes buf[off..len) were read from src and are not yet written to dst. */
struct pump {
	char		buf[PUMP_SIZE];
	size_t		off;
	size_t		len;
	uint64_t	total;		/* bytes read so far */
	uint64_t	end;		/* src ends here, UINT64_MAX = not known */
	int		src;		/* -1: nothing more comes */
	int		dst;		/* -1: nobody wants it */
	uint32_t	end_type;	/* message that tells the host of the end, 0 = none */
};

static struct job job;
static struct pump in = { .src = -1, .dst = -1, .end = UINT64_MAX };
static struct pump out = { .src = -1, .dst = -1, .end = UINT64_MAX, .end_type = WIRE_OUT_END };
static struct pump err = { .src = -1, .dst = -1, .end = UINT64_MAX };
static int control = -1;
static int terminal = -1;

/* The console's tail is what the host shows of a lost machine, so say it there and go. */
static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *fmt, ...)
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

/* The control port is small talk: waiting for room on it is no harm. */
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

static void tell(uint32_t type, const void *data, uint32_t len)
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
 * Ports appear when the kernel's virtio-serial driver has talked to the device, which it
 * does in the background. The X of vportXpN is the number of the virtio device.
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

static void mount_or_die(const char *src, const char *dir, const char *type,
			 unsigned long flags, const char *opts)
{
	if (mount(src, dir, type, flags, opts))
		die("mount %s on %s", type ? type : src, dir);
}

/* For what this kernel or this host may lack. */
static void mount_if(const char *src, const char *dir, const char *type)
{
	if (!access(dir, F_OK))
		mount(src, dir, type, 0, NULL);
}

static void make_dirs(const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	for (slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(dir, 0755);
		*slash = '/';
	}
	mkdir(dir, 0755);
}

static const char * const tmpfs_dirs[] = { "/tmp", "/run", "/var/tmp", "/mnt" };

static bool below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && path[len] == '/';
}

static bool hidden(const char *path)
{
	size_t i;

	for (i = 0; i < sizeof(tmpfs_dirs) / sizeof(tmpfs_dirs[0]); i++)
		if (below(path, tmpfs_dirs[i]))
			return true;
	return false;
}

/* A directory that one of our tmpfs has covered comes back, read-only like the rest. */
static void keep_dir(const char *path)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (!path || !hidden(path))
		return;
	snprintf(from, sizeof(from), "/host%s", path);
	snprintf(to, sizeof(to), "/new%s", path);
	if (access(from, F_OK))
		return;
	make_dirs(to);
	mount_or_die(from, to, NULL, MS_BIND, NULL);
}

static void mount_share(int nr, const char *path)
{
	char tag[16], to[PATH_MAX];

	snprintf(tag, sizeof(tag), "share%d", nr);
	snprintf(to, sizeof(to), "/new%s", path);
	if (hidden(path))
		make_dirs(to);
	/* Not cached: what the guest has written is on the host, whatever becomes of it. */
	mount_or_die(tag, to, "9p", 0, OPTS_9P ",cache=none");
}

static void mount_root(void)
{
	size_t i;
	int k;

	mkdir("/host", 0755);
	mkdir("/new", 0755);
	/* The host's files are taken as they are at first use: nothing here lives long. */
	mount_or_die("root", "/host", "9p", MS_RDONLY, OPTS_9P ",cache=loose");
	mount_or_die("/host", "/new", NULL, MS_BIND, NULL);
	for (i = 0; i < sizeof(tmpfs_dirs) / sizeof(tmpfs_dirs[0]); i++) {
		char to[PATH_MAX];

		snprintf(to, sizeof(to), "/new%s", tmpfs_dirs[i]);
		if (!access(to, F_OK))
			mount_or_die("tmpfs", to, "tmpfs", 0, "mode=1777");
	}
	for (k = 0; k < job.keep.nr; k++)
		keep_dir(job.keep.word[k]);
	keep_dir(job.cwd);
	for (k = 0; k < job.share.nr; k++)
		mount_share(k, job.share.word[k]);
}

static void mount_kernel_fs(void)
{
	mount_or_die("proc", "/new/proc", "proc", 0, NULL);
	mount_or_die("sysfs", "/new/sys", "sysfs", 0, NULL);
	mount_or_die("devtmpfs", "/new/dev", "devtmpfs", 0, NULL);
	mkdir("/new/dev/pts", 0755);
	mkdir("/new/dev/shm", 01777);
	mount_or_die("devpts", "/new/dev/pts", "devpts", 0, "ptmxmode=0666,mode=0620,gid=5");
	mount_or_die("tmpfs", "/new/dev/shm", "tmpfs", 0, "mode=1777");
	mount_if("tracefs", "/new/sys/kernel/tracing", "tracefs");
	mount_if("debugfs", "/new/sys/kernel/debug", "debugfs");
	mount_if("cgroup2", "/new/sys/fs/cgroup", "cgroup2");
	symlink("/proc/self/fd", "/new/dev/fd");
	symlink("/proc/self/fd/0", "/new/dev/stdin");
	symlink("/proc/self/fd/1", "/new/dev/stdout");
	symlink("/proc/self/fd/2", "/new/dev/stderr");
}

static void enter_root(void)
{
	if (chdir("/new"))
		die("/new");
	mount_or_die(".", "/", NULL, MS_MOVE, NULL);
	if (chroot("."))
		die("chroot");
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

/* Returns false at WIRE_GO. Words stay allocated: they are the command's. */
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

	switch (head.type) {
	case WIRE_ARG:
		add_word(&job.args, data, MAX_WORDS);
		return true;
	case WIRE_ENV:
		add_word(&job.env, data, MAX_WORDS);
		return true;
	case WIRE_KEEP:
		add_word(&job.keep, data, MAX_DIRS);
		return true;
	case WIRE_SHARE:
		add_word(&job.share, data, MAX_DIRS);
		return true;
	case WIRE_CWD:
		job.cwd = data;
		return true;
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
		free(data);
		return false;
	default:
		die("job: message %u", head.type);
	}
	free(data);
	return true;
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

/* The pty is one descriptor for two pumps; it is closed with the machine. */
static void pump_close(int *fd)
{
	if (*fd >= 0 && *fd != terminal)
		close(*fd);
	*fd = -1;
}

static void pump_ended(struct pump *p)
{
	pump_close(&p->src);
	if (p->end_type)
		tell(p->end_type, &p->total, sizeof(p->total));
	/* The command reads end of file once its last bytes are through. */
	if (p->off == p->len && p == &in && !job.tty)
		pump_close(&p->dst);
}

static void pump_read(struct pump *p)
{
	ssize_t n;

	if (p->total >= p->end) {
		pump_ended(p);
		return;
	}
	n = read(p->src, p->buf, sizeof(p->buf));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* A pty whose slave is closed everywhere reads EIO. */
	if (n <= 0) {
		pump_ended(p);
		return;
	}
	p->off = 0;
	p->len = n;
	p->total += n;
}

static void pump_write(struct pump *p)
{
	ssize_t n;

	n = write(p->dst, p->buf + p->off, p->len - p->off);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		/* The command does not read its input: it may have the rest unread. */
		pump_close(&p->dst);
		pump_close(&p->src);
		p->off = p->len;
		return;
	}
	p->off += n;
	if (p->off == p->len && p->total >= p->end)
		pump_ended(p);
}

/* Fills in what this stream waits for; a full buffer must go before more is read. */
static void pump_poll(const struct pump *p, struct pollfd *fd)
{
	bool full = p->off < p->len;

	fd->fd = full ? p->dst : p->src;
	fd->events = full ? POLLOUT : POLLIN;
	fd->revents = 0;
}

static void pump_run(struct pump *p, const struct pollfd *fd)
{
	if (!fd->revents)
		return;
	if (fd->events == POLLOUT)
		pump_write(p);
	else
		pump_read(p);
}

/* The reader outside is gone: the command gets SIGPIPE for its next write. */
static void pump_gone(struct pump *p)
{
	pump_close(&p->src);
	p->off = p->len;
}

static void control_message(void)
{
	struct wire_head head;
	struct wire_size size;

	control_read(&head, sizeof(head));
	switch (head.type) {
	case WIRE_SIZE:
		control_read(&size, sizeof(size));
		set_size(&size);
		break;
	case WIRE_STDIN_END:
		control_read(&in.end, sizeof(in.end));
		if (in.src >= 0 && in.off == in.len && in.total >= in.end)
			pump_ended(&in);
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

/* Process 1 inherits every orphan. True once the command itself is among the dead. */
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

/* What the command left behind in its pipe, and no more than that. */
static void drain(struct pump *p)
{
	for (;;) {
		struct pollfd fds[2];

		pump_poll(p, &fds[0]);
		if (fds[0].fd < 0)
			return;
		fds[1] = (struct pollfd){ .fd = control, .events = POLLIN };
		if (fds[0].events == POLLIN) {
			if (poll(fds, 1, 0) <= 0)
				return;
		} else if (poll(fds, 2, -1) < 0) {
			continue;
		}
		pump_run(p, &fds[0]);
		if (fds[0].events == POLLOUT && fds[1].revents)
			control_message();
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
	drain(&out);
	drain(&err);
	sync();
	result.out_bytes = out.total;
	result.err_bytes = err.total;
	tell(WIRE_EXIT, &result, sizeof(result));
	for (;;)
		pause();
}
