// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accept connections from gdb on a local port. The port must be local, because everyone who can
 * connect can read the recorded run and its code.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/msg.h"
#include "gdb.h"

int gdb_listen(struct gdb_session *g, unsigned long port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, gdb;
	socklen_t size = sizeof(address);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&address, size) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)&address, &size))
		return msg_errno("listen", "127.0.0.1");
	printf("target remote 127.0.0.1:%d\n", ntohs(address.sin_port));
	if (msg_flush(STATUS_OK, STATUS_FAILURE))
		return STATUS_FAILURE;
	while ((gdb = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0 || errno == ECONNABORTED) {
		if (gdb < 0)
			continue;
		gdb_serve(g, gdb, gdb);
		close(gdb);
	}
	return msg_errno("accept", "127.0.0.1");
}
