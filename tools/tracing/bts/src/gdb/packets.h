/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gdb's remote protocol: packets, and the numbers in them.
 *
 * Included by: gdb/.
 */
#ifndef BTS_PACKETS_H
#define BTS_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A packet from gdb, and a reply to it, have at most so many bytes. */
#define PACKET_MAX	0x10000

/**
 * struct packets - a connection
 * @in:		where gdb's packets come from
 * @out:	where replies go to
 * @acks:	each packet is acknowledged, until gdb says that it need not be
 * @input:	bytes that were read, @input_size of them; those from @input_at on are not used
 * @input_old:	those before it were read before the last reply was sent
 * @packet:	the packet, with a 0 after its last byte
 * @reply:	the last reply, $DATA#SUM, @reply_size bytes
 */
struct packets {
	int	in;
	int	out;
	bool	acks;
	size_t	input_at;
	size_t	input_size;
	size_t	input_old;
	char	input[4096];
	char	packet[PACKET_MAX + 1];
	size_t	reply_size;
	char	reply[PACKET_MAX + 4];
};

enum packet_status {
	PACKET_GOOD,
	PACKET_BAD,		/* too long, or with a 0 in it */
	PACKET_END,		/* gdb has gone */
};

/* The next packet, in @packet. */
enum packet_status packet_read(struct packets *p);
/* Send a reply of at most PACKET_MAX bytes; what is longer is cut. False if gdb has gone. */
bool packet_reply(struct packets *p, const char *data, size_t size);

/* A hexadecimal number of at most 64 bits; @text is after it then. */
bool packet_number(const char **text, uint64_t *number);
/* Is the next character this one? @text is after it then. */
bool packet_skip(const char **text, char c);

#endif
