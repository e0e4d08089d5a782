/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read and send packets of gdb's remote protocol.
 *
 * Included by: gdb/.
 */
#ifndef BTS_PACKETS_H
#define BTS_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum size of a packet and of a reply. */
#define PACKET_MAX	0x10000

/**
 * struct packets - a connection
 * @in:		descriptor from which gdb's packets are read
 * @out:	descriptor to which replies are written
 * @acks:	packets are acknowledged; gdb can switch this off
 * @input:	a buffer with @input_size bytes from gdb; the unread bytes start at index @input_at
 * @input_old:	index in @input of the first byte that arrived after the last reply
 * @packet:	the last packet from gdb, with a NUL byte at its end
 * @reply:	the last reply, $DATA#SUM, of @reply_size bytes
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
	PACKET_BAD,		/* too long, or contains a NUL byte */
	PACKET_END,		/* gdb has disconnected */
};

/* Read the next packet into p->packet. */
enum packet_status packet_read(struct packets *p);
/* Send at most PACKET_MAX bytes as a reply. Return false if gdb has disconnected. */
bool packet_reply(struct packets *p, const char *data, size_t size);

/* Read a hexadecimal number of at most 64 bits, and advance @text. */
bool packet_number(const char **text, uint64_t *number);
/* If the next character is @c, advance @text and return true. */
bool packet_skip(const char **text, char c);

#endif
