/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol between host.c, on the host, and init.c, process 1 of the guest.
 *
 * Four virtio-serial ports join the two programs. /dev/vportXpN is the guest's end of port N.
 *
 *	stdin		bytes of the command's standard input
 *	stdout, stderr	bytes of the command's standard output and standard error
 *	control		to the guest: a struct winsize whenever the terminal changes its size,
 *			or with ws_row 0 and ws_col N to send signal N to the command
 *			to the host: struct wire_report
 *
 * The three streams carry only the command's bytes, so nothing has to be escaped, and a slow
 * reader on the host slows the command down as a pipe would.
 *
 * How a stream ends: when the host closes its end of a port, the emulator tells the guest's
 * kernel. The guest thus notices the end of standard input, and notices when the reader of
 * standard output is gone. In the other direction the emulator reports nothing. Instead, a
 * report gives the number of bytes after which an output ends. The order of data on different
 * ports is undefined.
 *
 * The control port has the highest number. The guest's kernel connects the ports in the order
 * of their numbers: if the control port is connected and another port is not, the host has
 * closed the other port.
 *
 * The job is the file /job of the initramfs, so with --icount the guest reads the job at the same
 * instruction in each run. A job is a sequence of words. Each word begins with its type and ends
 * with a NUL. Host and guest are x86-64, so reports need no conversion.
 */
#ifndef BTS_WIRE_H
#define BTS_WIRE_H

#include <stdint.h>

enum wire_port {
	WIRE_STDIN	= 1,
	WIRE_STDOUT	= 2,
	WIRE_STDERR	= 3,
	WIRE_CONTROL	= 4,
	WIRE_PORTS
};

enum wire_type {
	WIRE_ARG	= 'a',	/* next word of the command */
	WIRE_CWD	= 'd',	/* the command's working directory */
	WIRE_ENV	= 'e',	/* next NAME=VALUE of the command's environment */
	WIRE_KEEP	= 'k',	/* a directory that no tmpfs of the guest may hide */
	WIRE_MERGE	= 'm',	/* standard output and error are one file on the host */
	WIRE_NULL	= 'n',	/* standard input is /dev/null; its port is not used */
	WIRE_OVERLAY	= 'o',	/* the root is writable; what is written stays in memory */
	WIRE_SEED	= 'r',	/* 64 hexadecimal digits for the random pool */
	WIRE_SHARE	= 's',	/* a directory to mount writable; its 9p tag is shareN */
	WIRE_TTY	= 't',	/* the command has a terminal with these rows and columns */
};

struct wire_report {
	uint64_t	out_end;	/* standard output ends after so many bytes */
	uint64_t	err_end;	/* as for standard error; UINT64_MAX = not known yet */
	int32_t		ended;		/* true: the command has ended */
	int32_t		status;		/* the command's wait(2) status, if ended */
};

#endif
