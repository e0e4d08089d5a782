// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read and send packets of gdb's remote protocol. A packet is $DATA#SUM, where SUM is the sum of
 * DATA's bytes modulo 256, as two hexadecimal digits. Unless gdb has switched acknowledgements off,
 * the receiver acknowledges each packet with + or, if SUM is wrong, with -.
 *
 * The first reply is late, because bts first reads the trace. If gdb waits too long for a reply,
 * gdb sends the packet again, or sends a "-". Therefore, if the buffer contains a packet several
 * times, only the last copy gets a reply. Ignore a "-" that arrived before the reply.
 *
 * The input is not trusted. If a packet is too long, read the whole packet and return PACKET_BAD.
 * Skip bytes between packets.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "packets.h"

static int next_byte(struct packets *p)
{
	ssize_t size;

	if (p->input_at == p->input_size) {
		do {
			size = read(p->in, p->input, sizeof(p->input));
		} while (size < 0 && errno == EINTR);
		if (size <= 0)
			return -1;
		p->input_size = size;
		p->input_at = 0;
		p->input_old = 0;
	}
	return (uint8_t)p->input[p->input_at++];
}

static bool write_all(struct packets *p, const char *data, size_t size)
{
	while (size) {
		ssize_t done = write(p->out, data, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		data += done;
		size -= done;
	}
	return true;
}

static int digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Read DATA#SUM after the $. Return false if gdb has disconnected. */
static bool read_data(struct packets *p, size_t *size, uint8_t *sum, int *sent)
{
	int c, high, low;

	*size = 0;
	*sum = 0;
	while ((c = next_byte(p)) != '#') {
		if (c < 0)
			return false;
		*sum += c;
		if (*size < PACKET_MAX)
			p->packet[*size] = c;
		/* If the packet is too long, return the size PACKET_MAX + 1. */
		*size += *size <= PACKET_MAX;
	}
	high = next_byte(p);
	low = high < 0 ? -1 : next_byte(p);
	*sent = digit(high) < 0 || digit(low) < 0 ? -1 : 16 * digit(high) + digit(low);
	return low >= 0;
}

static bool comes_again(const struct packets *p, size_t size)
{
	const char *rest = memchr(p->input + p->input_at, '$', p->input_size - p->input_at);
	size_t left = rest ? p->input_size - (rest - p->input) : 0;

	return left > size + 1 && rest[size + 1] == '#' && !memcmp(rest + 1, p->packet, size);
}

enum packet_status packet_read(struct packets *p)
{
	uint8_t sum;
	size_t size;
	int c, sent;

	for (;;) {
		do {
			c = next_byte(p);
			if (c < 0)
				return PACKET_END;
			if (c == '-' && p->acks && p->input_at > p->input_old &&
			    !write_all(p, p->reply, p->reply_size))
				return PACKET_END;
		} while (c != '$');
		if (!read_data(p, &size, &sum, &sent))
			return PACKET_END;
		if (!p->acks)
			break;
		if (!write_all(p, sum == sent ? "+" : "-", 1))
			return PACKET_END;
		if (sum == sent && !comes_again(p, size))
			break;
	}
	if (size > PACKET_MAX)
		return PACKET_BAD;
	p->packet[size] = 0;
	return memchr(p->packet, 0, size) ? PACKET_BAD : PACKET_GOOD;
}

bool packet_reply(struct packets *p, const char *data, size_t size)
{
	uint8_t sum = 0;

	if (size > PACKET_MAX)
		size = PACKET_MAX;
	p->reply[0] = '$';
	memcpy(p->reply + 1, data, size);
	for (size_t i = 0; i < size; i++)
		sum += data[i];
	p->reply[1 + size] = '#';
	p->reply[2 + size] = "0123456789abcdef"[sum / 16];
	p->reply[3 + size] = "0123456789abcdef"[sum % 16];
	p->reply_size = size + 4;
	p->input_old = p->input_size;
	return write_all(p, p->reply, p->reply_size);
}

bool packet_number(const char **text, uint64_t *number)
{
	const char *at = *text;

	*number = 0;
	for (; digit(*at) >= 0; at++) {
		if (at - *text == 16)
			return false;
		*number = 16 * *number + digit(*at);
	}
	if (at == *text)
		return false;
	*text = at;
	return true;
}

bool packet_skip(const char **text, char c)
{
	if (**text != c)
		return false;
	(*text)++;
	return true;
}
