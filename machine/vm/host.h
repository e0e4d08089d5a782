/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the program host, which is the host's end of machine/vm/run:
 *
 *	host.c		options, the poll loop, signals, the exit status
 *	host_queue.c	messages to the guest: the job, and what happens to its streams
 *	host_stream.c	standard input, output and error of the command
 *	host_emulator.c	the emulator's process
 *	host_monitor.c	the emulator's monitor
 *	host_console.c	the file with the guest's console
 */
#ifndef BTS_HOST_H
#define BTS_HOST_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

#define STATUS_TROUBLE	123
#define STATUS_TIMEOUT	124
#define STATUS_LOST	125

#define STREAM_SIZE	(64 * 1024)
#define MAX_DIRS	32

enum port { CONTROL, STDIN, STDOUT, STDERR, MONITOR, NR_PORTS };

/* Bytes in one direction. buf[off..len) is read and not yet written. */
struct stream {
	char		buf[STREAM_SIZE];
	size_t		off;
	size_t		len;
	uint64_t	total;		/* bytes read so far */
	uint64_t	end;		/* bytes in all, UINT64_MAX = not known */
	int		src;
	int		dst;
	bool		src_ended;
	bool		dst_gone;
	uint32_t	gone_type;	/* message to the guest when dst is gone */
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
	bool		temporary;	/* remove the console file if all is well */
	bool		strict;
	bool		tty;
	bool		repeatable;
	char		**emulator;
	char		**command;
};

/* host.c */
extern struct options opt;
extern int ports[NR_PORTS];

void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
bool same_file(int a, int b);

/* host_queue.c */
void queue_job(void);
void queue_message(uint32_t type, const void *data, size_t len);
void queue_size(uint32_t type);
bool queue_waits(void);
void queue_flush(void);

/* host_stream.c */
extern struct stream in, out, err;

bool stream_full(const struct stream *s);
bool stream_done(const struct stream *s);
void stream_poll(const struct stream *s, struct pollfd *fds);
void stream_run(struct stream *s, const struct pollfd *fds);
void stream_drain(struct stream *s);

/* host_emulator.c */
void start_emulator(void);
void stop_emulator(void);
void kill_emulator(void);

/* host_monitor.c */
void monitor_start(void);
bool monitor_lost(void);
void ask_info(void);

/* host_console.c */
void show_console_tail(void);
bool console_has_trouble(void);

#endif
