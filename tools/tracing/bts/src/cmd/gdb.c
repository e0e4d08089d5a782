// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts gdb: step backwards through a recorded run with gdb.
 *
 *	bts gdb FILE --runs--> gdb --runs--> bts gdb --stdio FILE
 *
 * With --stdio or --listen, this command is the remote stub to which gdb connects. Without these
 * options, this command executes gdb, and gdb starts the stub.
 */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "file/trace_dat.h"
#include "gdb/gdb.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/text.h"
#include "cmd.h"
#include "command.h"

static const char usage[] =
	"Usage: bts gdb [OPTIONS] [FILE] [-- GDB-ARGUMENTS...]\n\n"
	"Step backwards through a recorded run, in gdb. The trace contains the control flow of\n"
	"the program, but not its data.\n\n"
	"  -i, --input FILE   the trace (trace.dat)\n"
	"  --at EVENT         show the run up to the last event with this name, not to the end\n"
	"  --at TIME          show the run up to this time, in seconds as in bts report\n"
	"  --window N         show the last N blocks (code between branches) per thread (100000)\n"
	"  --pid PID          show this process, not the process that ran last\n"
	"  -k, --kernel       show the kernel's branches, too\n"
	"  --vmlinux FILE     the recorded kernel's vmlinux, with debug information\n"
	"  --stdio            serve a running gdb: (gdb) target remote | bts gdb --stdio FILE\n"
	"  --listen PORT      wait for gdb to connect to this port of 127.0.0.1; 0: any port\n"
	"  -h, --help         this text\n";

#define WINDOW		100000
#define WINDOW_MIN	2

/**
 * struct gdb_command - the arguments of bts gdb
 * @stdio:	serve gdb on standard input and output
 * @listen:	serve gdb on @port
 * @port:	a TCP port of 127.0.0.1; 0 means any port
 * @args:	the @nr_args arguments for gdb
 */
struct gdb_command {
	struct gdb_session	session;
	bool			stdio;
	bool			listen;
	unsigned long		port;
	char			**args;
	int			nr_args;
};

/* Quote a word for the shell. The caller frees the result. */
static char *quote(const char *word)
{
	char *quoted = mem_alloc(4 * strlen(word) + 3), *at = quoted;

	*at++ = '\'';
	for (; *word; word++) {
		if (*word == '\'')
			at = stpcpy(at, "'\\''");
		else
			*at++ = *word;
	}
	stpcpy(at, "'");
	return quoted;
}

static void add_option(struct bytes *line, const char *name, const char *value)
{
	char *quoted = quote(value);

	bytes_add(line, " ", 1);
	bytes_add(line, name, strlen(name));
	bytes_add(line, quoted, strlen(quoted));
	free(quoted);
}

/* Return gdb's command "target remote | bts gdb --stdio OPTIONS", which the caller frees. */
static char *target_command(const struct gdb_command *c, const char *self, const char *path)
{
	const struct gdb_session *g = &c->session;
	struct bytes line = {};
	char *number;

	bytes_add(&line, "target remote |", 15);
	add_option(&line, "", self);
	bytes_add(&line, " gdb --stdio", 12);
	add_option(&line, "--input=", path);
	if (g->at)
		add_option(&line, "--at=", g->at);
	if (g->options.vmlinux)
		add_option(&line, "--vmlinux=", g->options.vmlinux);
	number = mem_format(" --window=%lu --pid=%d%s", g->window, g->tgid,
			    g->kernel ? " --kernel" : "");
	bytes_add_string(&line, number);
	free(number);
	return line.data;
}

/*
 * Run gdb. The empty sysroot makes gdb search for programs on this machine. gdb searches for debug
 * information in the archive and in /usr/lib/debug. At the end of the history, where gdb starts, it
 * cannot show a stack. Therefore, step back by one instruction. The timeout for replies is long,
 * because bts may read the trace for several minutes before the first reply.
 */
static int run_gdb(const struct gdb_command *c)
{
	char **argv = mem_zalloc(c->nr_args + 12, sizeof(*argv));
	char *path = realpath(c->session.path, NULL);
	char *self = realpath("/proc/self/exe", NULL);
	int n = 0;

	if (!path || !self)
		return msg_errno("read", path ? "/proc/self/exe" : c->session.path);
	argv[n++] = "gdb";
	argv[n++] = "-iex";
	argv[n++] = "set sysroot";
	argv[n++] = "-iex";
	argv[n++] = "set remotetimeout 3600";
	argv[n++] = "-iex";
	argv[n++] = mem_format("set debug-file-directory %s.archive:/usr/lib/debug", path);
	argv[n++] = "-iex";
	argv[n++] = target_command(c, self, path);
	argv[n++] = "-iex";
	argv[n++] = "reverse-stepi";
	memcpy(argv + n, c->args, c->nr_args * sizeof(*argv));
	execvp("gdb", argv);
	return msg_errno("execute", "gdb");
}

static void say_position(const struct gdb_session *g)
{
	unsigned long long usec = (g->ts + 500) / 1000;
	size_t blocks = 0, gaps = 0;

	for (size_t i = 0; i < g->nr_threads; i++) {
		const struct gdb_thread *t = &g->threads[i];

		blocks += gdb_nr_blocks(t);
		for (size_t n = 0; n < gdb_nr_blocks(t); n++)
			gaps += gdb_is_gap(gdb_block_before(t, n));
	}
	msg_warn("process %d (%s) up to %llu.%06llu s: %zu thread%s, %s block%s, %zu gap%s",
		 g->tgid, g->current->comm, usec / 1000000, usec % 1000000, g->nr_threads,
		 text_plural(g->nr_threads, "s"), text_commas(blocks), text_plural(blocks, "s"),
		 gaps, text_plural(gaps, "s"));
	msg_warn("control flow only: data, and all registers except the PC, are unavailable");
}

/*
 * New versions of gdb print the stub's messages only when the connection ends. If the stub ended
 * without reading all packets, gdb would print an error instead of the messages. So discard gdb's
 * packets until gdb closes the connection.
 */
static void end_connection(void)
{
	char packet[256];

	if (!shutdown(STDOUT_FILENO, SHUT_WR))
		while (read(STDIN_FILENO, packet, sizeof(packet)) > 0)
			;
}

static int serve(struct gdb_command *c)
{
	struct gdb_session *g = &c->session;
	int status = STATUS_FAILURE;

	/* Ignore Ctrl-C, which is meant for gdb on the same terminal. */
	if (c->stdio)
		signal(SIGINT, SIG_IGN);
	if (gdb_find_position(g) && gdb_read_run(g)) {
		say_position(g);
		if (c->listen)
			status = gdb_listen(g, c->port);
		else
			gdb_serve(g, STDIN_FILENO, STDOUT_FILENO);
		if (c->stdio)
			status = STATUS_OK;
	} else if (c->stdio) {
		end_connection();
	}
	gdb_free_run(g);
	return status;
}

static int option(struct gdb_command *c, int option)
{
	struct gdb_session *g = &c->session;
	unsigned long number;
	int status = STATUS_OK;

	switch (option) {
	case 'i':
		g->path = optarg;
		break;
	case 'a':
		g->at = optarg;
		break;
	case 'w':
		return msg_number("gdb", "--window", optarg, WINDOW_MIN, &g->window);
	case 'p':
		status = msg_number("gdb", "--pid", optarg, 0, &number);
		if (!status && number > INT32_MAX)
			return msg_misuse("gdb", "--pid %s: not a PID", optarg);
		g->tgid = number;
		break;
	case 'k':
		g->kernel = true;
		break;
	case 'v':
		g->options.vmlinux = optarg;
		break;
	case 's':
		c->stdio = true;
		break;
	case 'l':
		c->listen = true;
		status = msg_number("gdb", "--listen", optarg, 0, &c->port);
		break;
	default:
		return STATUS_MISUSE;
	}
	return status;
}

static int parse(struct gdb_command *c, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "input",	required_argument,	NULL, 'i' },
		{ "at",		required_argument,	NULL, 'a' },
		{ "window",	required_argument,	NULL, 'w' },
		{ "pid",	required_argument,	NULL, 'p' },
		{ "kernel",	no_argument,		NULL, 'k' },
		{ "vmlinux",	required_argument,	NULL, 'v' },
		{ "stdio",	no_argument,		NULL, 's' },
		{ "listen",	required_argument,	NULL, 'l' },
		{ "help",	no_argument,		NULL, 'h' },
		{}
	};
	int found, status = STATUS_OK;

	while (!status && (found = getopt_long(argc, argv, "i:kh", longs, NULL)) != -1) {
		if (found == 'h')
			return -1;
		status = option(c, found);
	}
	if (status)
		return status;
	if (command_operand(&c->session.path, "gdb", argc, argv))
		return STATUS_MISUSE;
	if (c->stdio && c->listen)
		return msg_misuse("gdb", "--stdio and --listen cannot be used together");
	if (c->port > UINT16_MAX)
		return msg_misuse("gdb", "--listen %lu: not a port from 0 to 65535", c->port);
	if ((c->stdio || c->listen) && c->nr_args)
		return msg_misuse("gdb", "--stdio and --listen take no GDB-ARGUMENTS");
	return STATUS_OK;
}

int cmd_gdb(int argc, char **argv)
{
	struct gdb_command c = {
		.session = { .path = DAT_NAME, .window = WINDOW },
	};
	int status;

	for (int i = 1; i < argc && !c.args; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		c.args = argv + i + 1;
		c.nr_args = argc - i - 1;
		argc = i;
	}
	status = parse(&c, argc, argv);
	if (status < 0)
		return msg_usage(usage);
	if (status)
		return status;
	return c.stdio || c.listen ? serve(&c) : run_gdb(&c);
}
