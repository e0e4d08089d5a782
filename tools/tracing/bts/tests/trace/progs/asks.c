// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wait for the test, make a few system calls, report that they are done, and wait again. The
 * emulator logs each instruction between the two waits.
 */
#include <fcntl.h>
#include <unistd.h>

int main(void)
{
	char c, text[512];
	int fd;

	if (read(0, &c, 1) != 1)
		return 1;
	fd = open("/proc/self/status", O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text)) <= 0)
		return 1;
	close(fd);
	getppid();
	if (write(1, "+\n", 2) != 2)
		return 1;
	return read(0, &c, 1) == 1;
}
