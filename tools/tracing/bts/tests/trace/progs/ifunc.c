// SPDX-License-Identifier: GPL-2.0-only
/* Call functions that the C library chooses when the program starts (ifuncs). */
#include <string.h>

int main(int argc, char **argv)
{
	size_t (*volatile length)(const char *) = strlen;

	return length(argv[0]) + strlen(argv[argc - 1]) < 2 || strchr(argv[0], '\n');
}
