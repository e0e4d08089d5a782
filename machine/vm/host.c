// SPDX-License-Identifier: GPL-2.0
/*
 * The host's end of machine/vm/run: starts the emulator, hands the job to the guest's
 * init.c, moves the bytes of its command, and ends as the command did.
 *
 *	host [OPTIONS] -- EMULATOR ARGS... -- COMMAND ARGS...
 *
 * machine/vm/run has put the arguments together; this program adds what concerns the
 * plumbing. The emulator talks through socket pairs that it inherits, so there is no
 * path and no port that two machines could quarrel about, and nothing to remove: four
 * of them are the guest's virtio-serial ports (see wire.h), the fifth is the monitor.
 *
 * There is one thread and one poll loop; signals arrive in it through a signalfd. The
 * machine ends in one of these ways, and the emulator is gone before we are:
 *
 *	WIRE_EXIT, and all the bytes it speaks of are written	the command's own status
 *	the machine shut down, reset or panicked by itself	125 and the console's tail
 *	the emulator died					125 and the console's tail
 *	--timeout						124 and the console's tail
 *	SIGINT, SIGTERM, SIGHUP					we die of the same signal
 *	we are killed outright					PR_SET_PDEATHSIG ends it
 *
 * With --strict a report of trouble on the console turns any of them but a signal into
 * 123. The emulator's own messages go to the console file too: standard error is the
 * command's. A shut down machine is kept paused so that `info bts` can still be asked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "wire.h"

#define STATUS_TROUBLE	123
#define STATUS_TIMEOUT	124
#define STATUS_LOST	125

#define STREAM_SIZE	(64 * 1024)
#define TAIL_SIZE	4096
#define MAX_DIRS	32
#define ESCAPE		0x1d	/* Ctrl-] */
#define ESCAPES		3

enum port { CONTROL, STDIN, STDOUT, STDERR, MONITOR, NR_PORTS };

/* Why the loop was left. */
enum end { RUNNING, COMMAND_ENDED, MACHINE_LOST, TIMED_OUT, SIGNALLED, LEFT };

/* Bytes that go one way. buf[off..len) is read and not yet written. */
struct stream {
	char		buf[STREAM_SIZE];
	size_t		off;
	size_t		len;
	uint64_t	total;		/* bytes read so far */
	uint64_t	end;		/* how many there will be, UINT64_MAX = not known */
	int		src;
	int		dst;
	bool		src_ended;
	bool		dst_gone;
	uint32_t	gone_type;	/* what the guest is told when dst is gone */
};

struct options {
	const char	*console;
	const char	*cwd;
	const char	*info;
	const char	*keep[MAX_DIRS];
	const char	*share[MAX_DIRS];
	int		nr_keep;
	int		nr_share;
	long		timeout;
	bool		temporary;	/* the console file goes if all is well */
	bool		strict;
	bool		tty;
	bool		repeatable;
	char		**emulator;
	char		**command;
};

static struct options opt;
static int ports[NR_PORTS];
static struct stream in = { .end = UINT64_MAX };
static struct stream out = { .end = UINT64_MAX, .gone_type = WIRE_OUT_GONE };
static struct stream err = { .end = UINT64_MAX, .gone_type = WIRE_ERR_GONE };
static struct wire_exit result;
static bool have_result;
static char *queue;		/* for the control port, not yet written */
static size_t queue_len;
static struct termios saved_tty;
static bool tty_is_raw;
static pid_t emulator_pid;
static int signal_fd;
static int last_signal;

static void restore_tty(void)
{
	if (tty_is_raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &saved_tty);
	tty_is_raw = false;
}

static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	va_list args;

	restore_tty();
	va_start(args, fmt);
	fprintf(stderr, "machine/vm/run: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, "\n");
	va_end(args);
}

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *fmt, ...)
{
	int error = errno;
	va_list args;

	restore_tty();
	va_start(args, fmt);
	fprintf(stderr, "machine/vm/run: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, ": %s\n", strerror(error));
	va_end(args);
	if (emulator_pid > 0)
		kill(emulator_pid, SIGKILL);
	exit(STATUS_LOST);
}

/* Queued, because the guest reads its port only after it has booted. */
static void tell(uint32_t type, const void *data, size_t len)
{
	struct wire_head head = { .type = type, .len = len };

	if (len > WIRE_MAX) {
		errno = E2BIG;
		die("the command");
	}
	queue = realloc(queue, queue_len + sizeof(head) + len);
	if (!queue)
		die("the job");
	memcpy(queue + queue_len, &head, sizeof(head));
	if (len)
		memcpy(queue + queue_len + sizeof(head), data, len);
	queue_len += sizeof(head) + len;
}

static void tell_string(uint32_t type, const char *s)
{
	tell(type, s, strlen(s));
}

static void flush_queue(void)
{
	ssize_t n = send(ports[CONTROL], queue, queue_len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n <= 0)
		return;
	queue_len -= n;
	memmove(queue, queue + n, queue_len);
}

static void tell_size(uint32_t type)
{
	struct wire_size size = { .rows = 24, .cols = 80 };
	struct winsize ws;

	if (!ioctl(STDIN_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col) {
		size.rows = ws.ws_row;
		size.cols = ws.ws_col;
	}
	tell(type, &size, sizeof(size));
}

/* The tools that a tracer's user wants are in sbin, which users have not in their PATH. */
static void tell_path(const char *path)
{
	char *entry;

	if (asprintf(&entry, "PATH=%s%s", path,
		     strstr(path, "/usr/sbin") ? "" : ":/usr/local/sbin:/usr/sbin:/sbin") < 0)
		die("PATH");
	tell_string(WIRE_ENV, entry);
	free(entry);
}

/* TMPDIR stays behind: in the guest it may not exist, /tmp does. */
static void tell_environment(void)
{
	const char *path = getenv("PATH");
	char **env;

	for (env = environ; *env; env++)
		if (strncmp(*env, "PATH=", 5) && strncmp(*env, "TMPDIR=", 7))
			tell_string(WIRE_ENV, *env);
	tell_path(path ? path : "/usr/local/bin:/usr/bin:/bin");
}

static bool same_file(int a, int b)
{
	struct stat st_a, st_b;

	return !fstat(a, &st_a) && !fstat(b, &st_b) &&
	       st_a.st_dev == st_b.st_dev && st_a.st_ino == st_b.st_ino;
}

static void tell_seed(void)
{
	char seed[64] = { 0 };

	/* Zeros where two runs have to be alike. */
	if (!opt.repeatable && getrandom(seed, sizeof(seed), 0) != sizeof(seed))
		die("getrandom");
	tell(WIRE_SEED, seed, sizeof(seed));
}

static void tell_job(void)
{
	char **arg;
	int i;

	tell_seed();
	for (arg = opt.command; *arg; arg++)
		tell_string(WIRE_ARG, *arg);
	tell_environment();
	tell_string(WIRE_CWD, opt.cwd);
	for (i = 0; i < opt.nr_keep; i++)
		tell_string(WIRE_KEEP, opt.keep[i]);
	for (i = 0; i < opt.nr_share; i++)
		tell_string(WIRE_SHARE, opt.share[i]);
	if (opt.tty)
		tell_size(WIRE_TTY);
	else if (same_file(STDOUT_FILENO, STDERR_FILENO))
		tell(WIRE_MERGE, NULL, 0);
	tell(WIRE_GO, NULL, 0);
}

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
	/* A machine that ends by itself waits, paused, until we have asked it. */
	add_arg(&argv, "-no-reboot");
	add_arg(&argv, "-no-shutdown");
	add_arg(&argv, "-action");
	add_arg(&argv, "panic=pause");
	return argv.arg;
}

/*
 * In a process group of its own, so that Ctrl-C reaches us alone; dead when we are.
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

static void start_emulator(void)
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

static void stop_emulator(void)
{
	int tries;

	/* Politely first: it may have a log to flush. */
	kill(emulator_pid, SIGTERM);
	for (tries = 0; tries < 500; tries++) {
		if (waitpid(emulator_pid, NULL, WNOHANG))
			return;
		usleep(10000);
	}
	kill(emulator_pid, SIGKILL);
	waitpid(emulator_pid, NULL, 0);
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
			tell_size(WIRE_SIZE);
		return RUNNING;
	}
	/* The control port tells the same, after what was still in it. */
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

/* Somebody who reads nothing more is told to the guest, whose command gets SIGPIPE. */
static void stream_gone(struct stream *s)
{
	if (!s->dst_gone && s->gone_type)
		tell(s->gone_type, NULL, 0);
	s->dst_gone = true;
	s->off = s->len;
}

static void stream_ended(struct stream *s)
{
	s->src_ended = true;
	if (s == &in && !opt.tty)
		tell(WIRE_STDIN_END, &s->total, sizeof(s->total));
}

static void stream_read(struct stream *s)
{
	ssize_t n = read(s->src, s->buf, sizeof(s->buf));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		stream_ended(s);
		return;
	}
	s->total += n;
	s->off = 0;
	s->len = s->dst_gone ? 0 : n;
}

/* 4096 = PIPE_BUF: a pipe that polls writable takes so much without blocking us. */
static void stream_write(struct stream *s)
{
	size_t len = s->len - s->off;
	ssize_t n;

	n = write(s->dst, s->buf + s->off, len < 4096 ? len : 4096);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		if (errno != EPIPE)
			say("standard %s: %s", s == &in ? "input" : "output", strerror(errno));
		stream_gone(s);
		return;
	}
	s->off += n;
}

static bool stream_full(const struct stream *s)
{
	return s->off < s->len;
}

/* The command has closed its end, or ended, and all of it is written. */
static bool stream_done(const struct stream *s)
{
	return s->dst_gone || (s->total >= s->end && !stream_full(s));
}

/* A background job must not read the terminal: it would be stopped. */
static bool may_read_stdin(void)
{
	pid_t foreground = tcgetpgrp(STDIN_FILENO);

	return foreground < 0 || foreground == getpgrp();
}

/* Two descriptors for each: what it reads from and what it writes to. */
static void stream_poll(const struct stream *s, struct pollfd *fds)
{
	bool full = stream_full(s);

	fds[0] = (struct pollfd){ .fd = full || s->src_ended ? -1 : s->src, .events = POLLIN };
	/* Without events it still reports the error of a pipe that lost its reader. */
	fds[1] = (struct pollfd){ .fd = s->dst_gone ? -1 : s->dst, .events = full ? POLLOUT : 0 };
}

static void stream_run(struct stream *s, const struct pollfd *fds)
{
	if (fds[1].revents & (POLLERR | POLLNVAL))
		stream_gone(s);
	else if (fds[1].revents && stream_full(s))
		stream_write(s);
	if (fds[0].revents)
		stream_read(s);
}

/* So that the reader of a pipe sees its end when the command has closed it. */
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

/* The guest's messages are short and written in one piece: no need to wait for parts. */
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
		say("the guest says %u, which means nothing", head.type);
		return MACHINE_LOST;
	}
}

/* Returns a line of the monitor, or NULL where there is none yet. Valid until the next. */
static char *monitor_line(void)
{
	static char buf[256 * 1024];
	static size_t used, taken;
	char *end;
	ssize_t n;

	memmove(buf, buf + taken, used - taken);
	used -= taken;
	taken = 0;
	n = recv(ports[MONITOR], buf + used, sizeof(buf) - used, MSG_DONTWAIT);
	if (n > 0)
		used += n;
	end = memchr(buf, '\n', used);
	if (!end)
		return NULL;
	*end = '\0';
	taken = end + 1 - buf;
	return buf;
}

static void monitor_say(const char *line)
{
	if (send(ports[MONITOR], line, strlen(line), MSG_NOSIGNAL) < 0)
		say("the emulator's monitor: %s", strerror(errno));
}

static enum end monitor_events(void)
{
	char *line;

	while ((line = monitor_line()))
		if (strstr(line, "\"event\": \"SHUTDOWN\"") ||
		    strstr(line, "\"event\": \"GUEST_PANICKED\""))
			return MACHINE_LOST;
	return RUNNING;
}

/* The text of a JSON string, up to its closing quote. */
static void print_json_string(const char *s, FILE *f)
{
	for (; *s && *s != '"'; s++) {
		if (*s != '\\') {
			fputc(*s, f);
			continue;
		}
		s++;
		if (*s == 'n')
			fputc('\n', f);
		else if (*s == 't')
			fputc('\t', f);
		else if (*s != 'r')
			fputc(*s, f);
	}
}

static void write_info(const char *reply)
{
	static const char key[] = "\"return\": \"";
	const char *text = strstr(reply, key);
	FILE *f = fopen(opt.info, "w");

	if (!f)
		die("%s", opt.info);
	if (text)
		print_json_string(text + sizeof(key) - 1, f);
	else
		say("info bts: %s", reply);
	if (fclose(f))
		die("%s", opt.info);
}

static const char info_command[] =
	"{\"execute\": \"human-monitor-command\", \"id\": \"info\", "
	"\"arguments\": {\"command-line\": \"info bts\"}}\n";

static void ask_info(void)
{
	struct pollfd fd = { .fd = ports[MONITOR], .events = POLLIN };
	char *line;

	if (!opt.info)
		return;
	monitor_say(info_command);
	while (poll(&fd, 1, 5000) > 0) {
		while ((line = monitor_line())) {
			if (!strstr(line, "\"id\": \"info\""))
				continue;
			write_info(line);
			return;
		}
		if (fd.revents & POLLHUP)
			break;
	}
	say("%s: no answer from the emulator", opt.info);
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
	if (queue_len)
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
		flush_queue();
	if (end == RUNNING && (fds[7].revents & (POLLIN | POLLHUP)))
		end = control_message();
	if (end == RUNNING && fds[8].revents)
		end = monitor_events();
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

/* What a lost machine had still managed to send. */
static void drain(struct stream *s)
{
	struct pollfd fd = { .fd = s->src, .events = POLLIN };

	for (;;) {
		while (stream_full(s) && !s->dst_gone)
			stream_write(s);
		if (s->src_ended || poll(&fd, 1, 0) <= 0)
			return;
		stream_read(s);
	}
}

static void show_console_tail(void)
{
	char buf[TAIL_SIZE + 1];
	size_t n;
	FILE *f = fopen(opt.console, "r");

	if (!f)
		return;
	if (fseek(f, -TAIL_SIZE, SEEK_END))
		rewind(f);
	n = fread(buf, 1, TAIL_SIZE, f);
	fclose(f);
	fprintf(stderr, "--- the end of its console, %s ---\n", opt.console);
	fwrite(buf, 1, n, stderr);
	fprintf(stderr, "%s--- end ---\n", n && buf[n - 1] == '\n' ? "" : "\n");
}

static const char * const troubles[] = {
	"BUG:", "WARNING:", "Oops", "INFO: task", "INFO: rcu", "INFO: trying to register",
	"general protection fault", "Call Trace:", "kernel BUG at", "LOCKUP", "soft lockup",
	"Kernel panic", "KASAN:", "UBSAN:", "KCSAN:", "ODEBUG:", "kmemleak:", "recursion",
	"unchecked MSR access", "suspicious RCU", "Debug Store: no memory",
	"Debug Store: bad management area",
};

/* Prints the console's complaints; true if there is one. */
static bool console_has_trouble(void)
{
	FILE *f = fopen(opt.console, "r");
	bool found = false;
	char *line = NULL;
	size_t size = 0, i;

	if (!f)
		die("%s", opt.console);
	while (getline(&line, &size, f) > 0) {
		for (i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
			if (!strstr(line, troubles[i]))
				continue;
			if (!found)
				say("trouble on the console, %s:", opt.console);
			found = true;
			fputs(line, stderr);
			break;
		}
	}
	free(line);
	fclose(f);
	return found;
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

/* The way a shell wants to hear that we were interrupted. */
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
		drain(&out);
		drain(&err);
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
	opt.emulator = argv + optind;
	opt.command = split(opt.emulator);
}

/* Whoever started us with one of the three closed must not have it become a socket. */
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
	watch_signals();
	tell_job();
	start_emulator();
	raw_tty();
	monitor_say("{\"execute\": \"qmp_capabilities\"}\n");

	in.src = STDIN_FILENO;
	in.dst = ports[STDIN];
	out.src = ports[STDOUT];
	out.dst = STDOUT_FILENO;
	err.src = ports[STDERR];
	err.dst = STDERR_FILENO;
	return finish(serve());
}
