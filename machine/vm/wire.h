/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages between the two ends of machine/vm/run.
 *
 * Four virtio-serial ports join host.c, on the host, with init.c, process 1 of the guest:
 *
 *	/dev/vportXp1	control, the messages below, both ways
 *	/dev/vportXp2	bytes of the command's standard input, to the guest
 *	/dev/vportXp3	bytes of its standard output, to the host
 *	/dev/vportXp4	bytes of its standard error, to the host
 *
 * The three streams carry nothing but the bytes, so nothing has to be escaped, and a slow
 * reader on the host slows the command down as a pipe would. The ports are not ordered
 * among each other, so a message on the control port says at which number of bytes a
 * stream ends.
 *
 * A message is a struct wire_head and as many bytes of payload. Both ends are x86-64.
 */
#ifndef BTS_WIRE_H
#define BTS_WIRE_H

#include <stdint.h>

enum wire_port {
	WIRE_CONTROL	= 1,
	WIRE_STDIN	= 2,
	WIRE_STDOUT	= 3,
	WIRE_STDERR	= 4,
};

enum wire_type {
	/* To the guest, before the command runs. Strings come without a final NUL. */
	WIRE_ARG	= 'a',	/* next word of the command */
	WIRE_ENV	= 'e',	/* next NAME=VALUE of its environment */
	WIRE_CWD	= 'd',	/* its working directory */
	WIRE_KEEP	= 'k',	/* a directory that no tmpfs of the guest may hide */
	WIRE_SHARE	= 's',	/* a directory to mount writable; its 9p tag is shareN */
	WIRE_TTY	= 't',	/* give it a terminal of this struct wire_size */
	WIRE_MERGE	= 'm',	/* its standard output and error are one file on the host */
	WIRE_SEED	= 'r',	/* bytes for the random pool */
	WIRE_GO		= 'g',	/* the job is complete: run it */

	/* To the guest, while it runs. */
	WIRE_SIZE	= 'w',	/* the terminal is now of this struct wire_size */
	WIRE_STDIN_END	= 'i',	/* uint64_t: standard input ends after so many bytes */
	WIRE_OUT_GONE	= 'o',	/* nothing reads standard output any more */
	WIRE_ERR_GONE	= 'p',	/* nothing reads standard error any more */

	/* To the host. */
	WIRE_OUT_END	= 'O',	/* uint64_t: standard output closed after so many bytes */
	WIRE_EXIT	= 'X',	/* struct wire_exit: the command ended */
};

struct wire_head {
	uint32_t	type;
	uint32_t	len;
};

struct wire_size {
	uint16_t	rows;
	uint16_t	cols;
};

struct wire_exit {
	uint64_t	out_bytes;
	uint64_t	err_bytes;
	int32_t		status;		/* as wait(2) has it */
	int32_t		reserved;
};

/* Linux takes no longer argument than 32 pages. */
#define WIRE_MAX	(32 * 4096)

#endif
