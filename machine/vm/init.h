/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of process 1 of the guest, which is the guest's end of machine/vm/run:
 *
 *	init.c		the job, the command, the poll loop
 *	init_root.c	the file system
 *	init_pump.c	standard input, output and error of the command
 */
#ifndef BTS_INIT_H
#define BTS_INIT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

#define MAX_WORDS	4096
#define MAX_DIRS	32
#define PUMP_SIZE	(32 * 1024)

struct words {
	char	*word[MAX_WORDS + 1];
	int	nr;
};

/* The job from the host, complete at WIRE_GO. */
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
	int		dst;		/* -1: nothing reads it any more */
	uint32_t	end_type;	/* message to the host at the end, 0 = none */
};

/* init.c */
extern struct job job;
extern int control;
extern int terminal;

void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void send_message(uint32_t type, const void *data, uint32_t len);
void control_message(void);

/* init_root.c */
void mount_root(void);
void mount_kernel_fs(void);
void enter_root(void);

/* init_pump.c */
extern struct pump in, out, err;

void pump_poll(const struct pump *p, struct pollfd *fd);
void pump_run(struct pump *p, const struct pollfd *fd);
void pump_gone(struct pump *p);
void pump_end_at(struct pump *p, uint64_t end);
void pump_drain(struct pump *p);

#endif
