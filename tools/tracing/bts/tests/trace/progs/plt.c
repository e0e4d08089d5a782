// SPDX-License-Identifier: GPL-2.0-only
/* Call functions of the C library, one of them also through a pointer. */
#include <stdio.h>
#include <stdlib.h>

int (*volatile absolute)(int) = abs;

int main(int argc, char **argv)
{
	int n = atoi(argv[argc > 1]);

	n = abs(n) + absolute(n) + (int)labs(n);
	putchar('0' + n % 10);
	puts("");
	return 0;
}
