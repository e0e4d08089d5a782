// SPDX-License-Identifier: GPL-2.0-only
/*
 * words WORD... [-WORD...]: add each WORD to a list, and remove each -WORD. The exit status is 0 if
 * a remaining word contains an "o". Print nothing, because the single-stepper uses standard output.
 */
#include "list.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-')
			list_drop(argv[i] + 1);
		else
			list_add(argv[i]);
	}
	return !list_count('o');
}
