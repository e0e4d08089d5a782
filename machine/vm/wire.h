/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol between host.c, on the host, and init.c, which is process 1 of the guest.
 *
 * Four virtio-serial ports connect the two programs. The guest's end of port N is /dev/vportXpN.
 *
 *	stdin		The host sends the command's standard input.
 *	stdout, stderr	The guest sends the command's standard output and standard error.
 *	control		The host sends a struct winsize if the terminal's size changes. To send
 *			a signal to the command, the host sets ws_row to 0, and ws_col to the
 *			number of the signal. The guest sends a struct wire_report.
 *
 * The three streams contain only the command's bytes, so no bytes need escaping. A slow reader on
 * the host slows the command down, like a slow reader of a pipe.
 *
 * If the host closes a port, the emulator informs the guest's kernel. Therefore the guest notices
 * that standard input has ended, or that the reader of standard output is gone. If the guest closes
 * a port, the emulator does not inform the host. So struct wire_report contains the number
 * of bytes in each output stream. The order of data on different ports is undefined.
 *
 * The guest's kernel connects the ports in the order of their numbers, and the control port has the
 * highest number. If the control port is connected but another port is not, the host has already
 * closed that port.
 *
 * The job is the file /job in the initramfs. It is not sent through a port, because the data could
 * arrive at a different instruction in each run, even with --icount. A job is a sequence of words.
 * Each word begins with its type and ends with a NUL.
 *
 * The host and the guest are x86-64, so a struct wire_report has the same layout on both.
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
	WIRE_ARG	= 'a',	/* the next word of the command */
	WIRE_CWD	= 'd',	/* the command's working directory */
	WIRE_ENV	= 'e',	/* the next NAME=VALUE of the command's environment */
	WIRE_KEEP	= 'k',	/* show this directory even if a tmpfs covers its parent */
	WIRE_MERGE	= 'm',	/* standard output and error are the same file on the host */
	WIRE_NULL	= 'n',	/* standard input is /dev/null, so its port is not used */
	WIRE_OVERLAY	= 'o',	/* the root is writable, but changes are only in memory */
	WIRE_SEED	= 'r',	/* 64 hexadecimal digits for the random pool */
	WIRE_SHARE	= 's',	/* a directory to mount writable, with the 9p tag shareN */
	WIRE_TTY	= 't',	/* the rows and columns of the command's terminal */
};

struct wire_report {
	uint64_t	out_end;	/* total bytes of standard output */
	uint64_t	err_end;	/* total bytes of standard error, UINT64_MAX = unknown */
	int32_t		ended;		/* true if the command has ended */
	int32_t		status;		/* the command's wait(2) status if ended is true */
};

#endif
